#![no_main]

fuzz::target!("sdp");

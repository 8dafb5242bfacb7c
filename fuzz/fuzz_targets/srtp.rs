#![no_main]

fuzz::target!("srtp");

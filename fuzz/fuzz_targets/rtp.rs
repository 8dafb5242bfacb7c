#![no_main]

fuzz::target!("rtp");

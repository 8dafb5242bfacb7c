#![no_main]

fuzz::target!("call");

#![no_main]

fuzz::target!("speech");

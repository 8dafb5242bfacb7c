#![no_main]

fuzz::target!("body");

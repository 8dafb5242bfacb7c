#![no_main]

fuzz::target!("phone");

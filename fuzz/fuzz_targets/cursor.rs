#![no_main]

fuzz::target!("cursor");

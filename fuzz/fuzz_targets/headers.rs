#![no_main]

fuzz::target!("headers");

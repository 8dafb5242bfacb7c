#![no_main]

fuzz::target!("records");

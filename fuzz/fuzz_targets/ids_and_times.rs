#![no_main]

fuzz::target!("ids_and_times");

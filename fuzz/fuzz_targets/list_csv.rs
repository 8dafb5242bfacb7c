#![no_main]

fuzz::target!("list_csv");

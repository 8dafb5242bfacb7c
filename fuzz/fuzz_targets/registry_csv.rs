#![no_main]

fuzz::target!("registry_csv");

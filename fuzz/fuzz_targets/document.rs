#![no_main]

fuzz::target!("document");

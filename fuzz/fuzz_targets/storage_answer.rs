#![no_main]

fuzz::target!("storage_answer");

#![no_main]

fuzz::target!("upload");

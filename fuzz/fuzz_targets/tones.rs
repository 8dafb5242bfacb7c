#![no_main]

fuzz::target!("tones");

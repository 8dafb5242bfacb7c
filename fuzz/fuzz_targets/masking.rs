#![no_main]

fuzz::target!("masking");

#![no_main]

fuzz::target!("query");

#![no_main]

fuzz::target!("body_by_schema");

#![no_main]

fuzz::target!("channel_template");

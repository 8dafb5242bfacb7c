#![no_main]

fuzz::target!("flow_play");

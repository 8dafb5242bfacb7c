#![no_main]

fuzz::target!("tool_arguments");

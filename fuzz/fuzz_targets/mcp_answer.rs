#![no_main]

fuzz::target!("mcp_answer");

#![no_main]

fuzz::target!("sip_text");

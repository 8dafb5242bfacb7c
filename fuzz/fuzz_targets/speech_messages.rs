#![no_main]

fuzz::target!("speech_messages");

#![no_main]

fuzz::target!("speech_answer");

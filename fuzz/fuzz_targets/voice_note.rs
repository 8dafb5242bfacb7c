#![no_main]

fuzz::target!("voice_note");

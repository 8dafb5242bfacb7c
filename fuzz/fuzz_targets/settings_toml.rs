#![no_main]

fuzz::target!("settings_toml");

#![no_main]

fuzz::target!("channel_webhook");

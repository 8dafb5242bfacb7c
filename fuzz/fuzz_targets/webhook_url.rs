#![no_main]

fuzz::target!("webhook_url");

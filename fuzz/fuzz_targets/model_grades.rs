#![no_main]

fuzz::target!("model_grades");

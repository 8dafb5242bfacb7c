#![no_main]

fuzz::target!("decision_csv");

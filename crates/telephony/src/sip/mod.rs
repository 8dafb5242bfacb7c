mod auth;
mod message;
pub mod outcome;
mod timers;

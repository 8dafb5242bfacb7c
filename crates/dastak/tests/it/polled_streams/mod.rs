//! Streams that are read from connected systems (docs/contract/integrations.md#checks), against systems that
//! speak their wire, throttle, let tokens expire, repeat, reorder and fail.

mod checks;
mod desk;
mod systems;

pub use desk::Desk;

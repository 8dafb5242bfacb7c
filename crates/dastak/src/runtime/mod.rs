//! What everything else stands on: the clock, new ids, secrets, logs and figures.

pub mod clock;
pub mod crypto;
pub mod ids;
pub mod logs;
pub mod metrics;

//! What everything else stands on: the clock, new ids, secrets, logs and figures.

pub mod clock;
pub mod crypto;
pub mod files;
pub mod ids;
pub mod logs;
pub mod mark_file;
pub mod metrics;

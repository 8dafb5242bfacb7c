//! Shared by the rooms above: the clock, new ids, secrets, logs, metrics, traces, and files of the data folder.

pub mod blocking;
pub mod clock;
pub mod crypto;
pub mod exposition;
pub mod files;
pub mod ids;
pub mod logs;
pub mod mark_file;
pub mod metrics;
pub mod pace;
pub mod shares;
mod steady;
pub mod traces;
pub mod turns;

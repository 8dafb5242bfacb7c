//! What the rooms above share: the clock, new ids, secrets, logs, figures, traces, and files of the data folder.

pub mod blocking;
pub mod clock;
pub mod crypto;
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

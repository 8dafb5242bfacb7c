//! What runs beside requests. Every job is one loop: wake, ignore why, look at the store, work a bounded
//! batch, sleep until the next thing is due.

pub mod after_calls;
pub mod call_hours;
pub mod cleanup;
pub mod dialler;
pub mod holds;
pub mod lines;
pub mod live_calls;
pub mod log_marks;
pub mod scheduled_calls;
pub mod wishes;

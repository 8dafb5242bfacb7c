//! The binary as a process: started, killed, starved of its disk and its database, run twice, asked on its command line. `TEST_ENGINE` chooses
//! the store where both make sense.

// These tests watch processes, which live in real time.
#![allow(clippy::disallowed_methods)]

mod command_line;
mod crash;
mod deliveries;
mod dialler;
mod faults;
mod node;
mod nodes;

//! The compliance decision log: one row for each decision, with the hash of the row before it, so that a later change
//! is detected (docs/contract/decision-log.md). A chain belongs to one workspace and one mode (live, test), and starts
//! at `seq` 1.
//!
//! `integrity_hash` is the lower-case hex SHA-256 of the compact JSON array of ten strings, `prev_hash, seq,
//! timestamp, interaction_id, decision, blocked_by, gate_results, outcome, recording_ref, consent_ref`, each
//! as the text that the CSV shows, with the empty string for absent values. `is_test`, `channel` and
//! `agent_id` are outside the hash.
//!
//! The chain alone cannot show that its newest rows were cut off, or that all of it was rewritten. A head
//! that is kept elsewhere shows both: see [`mark`].

pub mod csv;
pub mod mark;
pub mod pdf;
mod row;
mod statement;
mod strand;
#[cfg(test)]
mod tests;
mod verify;

pub use row::{COLUMNS, Channel, Decision, Entry, GENESIS, Head, Row};
pub use strand::{Chain, Strand};
pub use verify::{Broken, ChainVerifier, Why};

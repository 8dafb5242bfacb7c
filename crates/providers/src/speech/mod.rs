//! Recognisers and synthesisers.

pub mod offline;

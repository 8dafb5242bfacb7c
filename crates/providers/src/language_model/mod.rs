//! Language models.

pub mod offline;

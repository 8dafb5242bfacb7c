//! The decision log as auditors read it (spec 2 «Compliance records»).

use crate::operations::Operation;

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[];

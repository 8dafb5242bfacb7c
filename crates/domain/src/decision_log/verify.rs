//! Checking a chain row by row.

use std::fmt;

use super::row::{GENESIS, Head, Row};
use super::statement::Statement;

/// The first error in a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The position in the chain where it was noticed.
    pub seq: u64,
    /// What is wrong there.
    pub why: Why,
}

/// What is wrong with a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The row has the wrong number: rows are missing, added or out of order.
    Order,
    /// The row does not link to the one before it.
    Link,
    /// The row was changed after it was written.
    Changed,
    /// The number of rows differs from the file's statement.
    Count,
    /// The hash of the last row, or the hash before the first, differs from the file's statement.
    Ends,
    /// The chain does not match a sealed or signed head: it was cut short or rewritten.
    Head,
    /// Witnessed records are missing: the chain was cut short, or an older state was restored.
    Missing,
    /// A witnessed record has been replaced: an older state was restored and has grown since.
    Forked,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            Why::Order => "another record stands there: records are missing, added or out of order",
            Why::Link => "the record does not link to the one before it",
            Why::Changed => "the record was altered",
            Why::Count => "the number of records is not the stated one",
            Why::Ends => "the first or last record is not the stated one",
            Why::Head => "the log is not the one whose head was signed: it was cut short or written anew",
            Why::Missing => {
                "records are missing that this service has witnessed: the log was cut short, or an older state was put back"
            }
            Why::Forked => {
                "another record stands where this service has witnessed one: an older state was put back and has grown since"
            }
        };
        write!(f, "record {}: {why}", self.seq)
    }
}

impl std::error::Error for Broken {}

/// Checks a chain row by row, in constant memory. Both the service and the offline check of an export use it.
#[derive(Debug, Clone)]
pub struct ChainVerifier {
    head: Head,
    records: u64,
    /// Accept the position and the link of the first row.
    slice: bool,
    before: String,
    broken: Option<Broken>,
}

impl ChainVerifier {
    /// A verifier for a whole chain, from its first row.
    pub fn new() -> Self {
        Self { head: Head::default(), records: 0, slice: false, before: GENESIS.to_owned(), broken: None }
    }

    /// A verifier for a part of a chain. Its first row may have any position and link (row 1 must still link
    /// to [`GENESIS`]).
    pub fn slice() -> Self {
        Self { slice: true, ..Self::new() }
    }

    /// Checks the next row.
    ///
    /// # Errors
    /// [`Broken`] for the first invalid row, and the same error for every row after it.
    pub fn push(&mut self, row: &Row) -> Result<(), Broken> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        match self.check(row) {
            Ok(seq) => {
                self.head = Head { seq, hash: row.integrity_hash.clone() };
                self.records += 1;
                Ok(())
            }
            Err(broken) => {
                self.broken = Some(broken.clone());
                Err(broken)
            }
        }
    }

    fn check(&mut self, row: &Row) -> Result<u64, Broken> {
        let seq = row.seq.parse::<u64>().ok().filter(|seq| *seq > 0 && seq.to_string() == row.seq);
        if let (true, 0, Some(first)) = (self.slice, self.records, seq)
            && first > 1
        {
            self.head = Head { seq: first - 1, hash: row.prev_hash.clone() };
            self.before = row.prev_hash.clone();
        }
        let expected = self.head.seq.saturating_add(1);
        let broken = |why| Err(Broken { seq: expected, why });
        if seq != Some(expected) {
            return broken(Why::Order);
        }
        if row.prev_hash != self.head.hash {
            return broken(Why::Link);
        }
        if row.integrity_hash != row.computed_hash() {
            return broken(Why::Changed);
        }
        Ok(expected)
    }

    /// The last valid row.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The hash before the first row.
    pub fn before(&self) -> &str {
        &self.before
    }

    /// Number of valid rows.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The first error.
    pub fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    /// The statement about the rows so far, with which an export ends.
    pub fn statement(&self) -> Statement {
        Statement {
            verified: self.broken.is_none(),
            records: self.records,
            last_seq: self.head.seq,
            before: self.before.clone(),
            head: self.head.hash.clone(),
            signing: None,
        }
    }
}

impl Default for ChainVerifier {
    fn default() -> Self {
        Self::new()
    }
}

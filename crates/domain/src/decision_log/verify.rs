//! Checking a chain row by row.

use std::fmt;

use super::row::{GENESIS, Head, Row};
use super::statement::Statement;

/// The first place where a chain is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Position in the chain at which it was noticed.
    pub seq: u64,
    /// What is wrong there.
    pub why: Why,
}

/// What is wrong with a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The row has another number: rows are missing, added or in another order.
    Order,
    /// The row does not link to the one before it.
    Link,
    /// The row was changed after it was written.
    Changed,
    /// The rows are not those that the statement of the file counts.
    Count,
    /// The last row, or the one before the first, is not the one that the statement of the file names.
    Ends,
    /// The chain is not the one whose head was sealed or signed: it was cut short or written anew.
    Head,
    /// Records are missing that were witnessed: the chain was cut short, or an older state was put back.
    Missing,
    /// Another record stands where one was witnessed: an older state was put back and has grown since.
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

/// Checks a chain row by row, in constant memory. The service and the offline check of an export use the same
/// one.
#[derive(Debug, Clone)]
pub struct ChainVerifier {
    head: Head,
    records: u64,
    /// Take the first row's place and link as they are.
    slice: bool,
    before: String,
    broken: Option<Broken>,
}

impl ChainVerifier {
    /// For a whole chain, from its first row.
    pub fn new() -> Self {
        Self { head: Head::default(), records: 0, slice: false, before: GENESIS.to_owned(), broken: None }
    }

    /// For a part of a chain: its first row may stand anywhere and link to anything (row 1 still links to
    /// [`GENESIS`]).
    pub fn slice() -> Self {
        Self { slice: true, ..Self::new() }
    }

    /// Checks the next row.
    ///
    /// # Errors
    /// [`Broken`] at the first row that is wrong, and the same again for every row after it.
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

    /// The last row that was in order.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The hash before the first row.
    pub fn before(&self) -> &str {
        &self.before
    }

    /// How many rows were in order.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The first row that was not in order.
    pub fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    /// What can be said of the rows so far; an export ends with it.
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

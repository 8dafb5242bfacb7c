//! Marks record, outside the store, the newest record of each chain that was seen. Somebody with access to the store
//! alone could restore an older state of a chain together with its sealed head; the mark then names a record that the
//! chain lacks.

use super::row::Head;
use super::strand::Strand;
use super::verify::{Broken, Why};
use crate::tenant::Tenant;

/// The mark of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The newest record that was seen.
    pub head: Head,
    /// How often the operator has accepted an older state of this chain (a restored backup). An acceptance invalidates
    /// earlier marks.
    pub generation: u64,
}

/// The operator's decision that an older state of a chain is valid from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// Number of the acceptance, from 1.
    pub generation: u64,
    /// The record after which the chain continues.
    pub head: Head,
}

impl Acceptance {
    /// The text that is sealed, so that only a holder of the master key can accept an older state.
    pub fn sealed_text(&self, tenant: Tenant, strand: Strand) -> String {
        format!(
            "log-accepted:{tenant}:{}:{}:{}:{}",
            strand.as_str(),
            self.generation,
            self.head.seq,
            self.head.hash
        )
    }
}

impl Mark {
    /// The mark that applies after an older state was accepted.
    pub fn under(self, accepted: Option<&Acceptance>) -> Mark {
        match accepted {
            Some(accepted) if accepted.generation > self.generation => {
                Mark { head: accepted.head.clone(), generation: accepted.generation }
            }
            _ => self,
        }
    }

    /// The contradiction, if any, with a chain that ends at `last` and has the hash `found` at the position
    /// of the mark.
    pub fn contradiction(&self, last: u64, found: Option<&str>) -> Option<Broken> {
        let at = self.head.seq;
        match found {
            _ if at == 0 => None,
            Some(hash) if hash == self.head.hash => None,
            Some(_) => Some(Broken { seq: at, why: Why::Forked }),
            None => Some(Broken { seq: at.min(last.saturating_add(1)), why: Why::Missing }),
        }
    }

    /// The line of a mark in its file, without its authentication code.
    pub fn line(&self, tenant: Tenant, strand: Strand) -> String {
        format!("{tenant} {} {} {} {}", strand.as_str(), self.generation, self.head.seq, self.head.hash)
    }

    /// Reads such a line.
    pub fn parse(line: &str) -> Option<(Tenant, Strand, Mark)> {
        let mut words = line.split(' ');
        let (tenant, strand) = (words.next()?.parse().ok()?, Strand::parse(words.next()?)?);
        let generation = words.next()?.parse().ok()?;
        let head = Head { seq: words.next()?.parse().ok()?, hash: words.next()?.to_owned() };
        words.next().is_none().then_some((tenant, strand, Mark { head, generation }))
    }

    /// Whether this mark knows more than `other`.
    pub fn is_beyond(&self, other: &Mark) -> bool {
        (self.generation, self.head.seq) > (other.generation, other.head.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(seq: u64, hash: &str, generation: u64) -> Mark {
        Mark { head: Head { seq, hash: hash.to_owned() }, generation }
    }

    #[test]
    fn a_mark_knows_a_chain_that_is_older_or_another() {
        let mark = mark(10, "a", 0);
        assert_eq!(mark.contradiction(12, Some("a")), None);
        assert_eq!(mark.contradiction(12, Some("b")), Some(Broken { seq: 10, why: Why::Forked }));
        assert_eq!(mark.contradiction(7, None), Some(Broken { seq: 8, why: Why::Missing }));
        assert_eq!(mark.contradiction(0, None), Some(Broken { seq: 1, why: Why::Missing }));
        assert_eq!(super::Mark { head: Head::default(), generation: 0 }.contradiction(0, None), None);
    }

    #[test]
    fn an_acceptance_voids_only_what_was_witnessed_before_it() {
        let accepted = Acceptance { generation: 2, head: Head { seq: 4, hash: "x".into() } };
        assert_eq!(mark(10, "a", 1).under(Some(&accepted)), mark(4, "x", 2));
        assert_eq!(mark(10, "a", 2).under(Some(&accepted)), mark(10, "a", 2));
        assert_eq!(
            mark(10, "a", 3).under(Some(&accepted)),
            mark(10, "a", 3),
            "an older acceptance that was put back"
        );
        assert_eq!(mark(10, "a", 1).under(None), mark(10, "a", 1));
    }

    #[test]
    fn lines_are_read_as_written() {
        let tenant: Tenant = "ws_01jdxyz0000000000000000000".parse().unwrap();
        for strand in Strand::all() {
            let mark = mark(7, "abc", 3);
            assert_eq!(Mark::parse(&mark.line(tenant, strand)), Some((tenant, strand, mark)));
        }
        for strange in [
            "",
            "x",
            "ws_1 audit 0 1 a",
            "ws_01jdxyz0000000000000000000 audit 0 1 a b",
            "ws_01jdxyz0000000000000000000 other 0 1 a",
        ] {
            assert_eq!(Mark::parse(strange), None, "{strange}");
        }
    }
}

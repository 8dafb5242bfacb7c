//! The compliance decision log: one row a decision, each holding the hash of the row before it, so that a
//! later change is noticed (docs/contract/decision-log.md). One chain belongs to one workspace and one of its
//! worlds (live, test), and starts at `seq` 1.
//!
//! `integrity_hash` is the lower-case hex SHA-256 of the compact JSON array of ten strings, `prev_hash, seq,
//! timestamp, interaction_id, decision, blocked_by, gate_results, outcome, recording_ref, consent_ref`, each
//! the text that the CSV shows; what is absent is the empty string. `is_test`, `channel` and `agent_id` are
//! outside the hash.
//!
//! What the chain cannot show: that its newest rows were cut off, or that all of it was written anew. A head
//! that is kept elsewhere shows both: see [`mark`].

use std::fmt;

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};

use crate::tenant::Mode;
use crate::time::Timestamp;

pub mod csv;
pub mod mark;
pub mod pdf;

/// `prev_hash` of the first row of a chain.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The columns of the export, in order (docs/contract/decision-log.md#record).
pub const COLUMNS: [&str; 14] = [
    "seq",
    "timestamp",
    "interaction_id",
    "decision",
    "blocked_by",
    "gate_results",
    "outcome",
    "recording_ref",
    "consent_ref",
    "integrity_hash",
    "prev_hash",
    "is_test",
    "channel",
    "agent_id",
];

/// The chains of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chain {
    /// Every allowed and every refused dial or chat, with the verdict of each gate.
    Audit,
    /// What persons asked to be put right: erasures.
    Grievances,
    /// Consent given, withdrawn (every opt-out) and restored (an opt-out lifted by the operator).
    Consent,
}

impl Chain {
    /// Every chain, in the order in which they are shown.
    pub const ALL: [Chain; 3] = [Chain::Audit, Chain::Grievances, Chain::Consent];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Chain::Audit => "audit",
            Chain::Grievances => "grievances",
            Chain::Consent => "consent",
        }
    }

    /// Reads the name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|chain| chain.as_str() == text)
    }
}

/// A chain of one world. Live and test decisions are chained apart, so that a key of either world can be
/// shown all of its own chain and nothing of the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Strand {
    /// Which chain.
    pub chain: Chain,
    /// Of which world.
    pub world: Mode,
}

impl Strand {
    /// Every strand of a workspace.
    pub fn all() -> impl Iterator<Item = Strand> {
        [Mode::Live, Mode::Test].into_iter().flat_map(Self::of)
    }

    /// The strands of one world, in the order in which they are shown.
    pub fn of(world: Mode) -> [Strand; 3] {
        Chain::ALL.map(|chain| Strand { chain, world })
    }

    /// Its name in the store and in what is signed: that of the chain, in the test world followed by `_test`.
    pub fn as_str(self) -> &'static str {
        match (self.chain, self.world) {
            (chain, Mode::Live) => chain.as_str(),
            (Chain::Audit, Mode::Test) => "audit_test",
            (Chain::Grievances, Mode::Test) => "grievances_test",
            (Chain::Consent, Mode::Test) => "consent_test",
        }
    }

    /// Reads the name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::all().find(|strand| strand.as_str() == text)
    }
}

/// What was decided about a dial or a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It went ahead.
    Allowed,
    /// A gate or a check stopped it.
    Blocked,
}

impl Decision {
    /// The word in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Allowed => "allowed",
            Decision::Blocked => "blocked",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "allowed" => Some(Decision::Allowed),
            "blocked" => Some(Decision::Blocked),
            _ => None,
        }
    }
}

/// What the decision was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// A call.
    Voice,
    /// A chat.
    Chat,
}

impl Channel {
    /// The word in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Channel::Voice => "voice",
            Channel::Chat => "chat",
        }
    }
}

/// A decision that is not in the chain yet. It holds ids and hashes only, never a name, a number or what was
/// said: erasing a person must not break the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When it was decided.
    pub timestamp: Timestamp,
    /// The call or chat.
    pub interaction_id: String,
    /// Went ahead or not.
    pub decision: Decision,
    /// The gate or check that stopped it.
    pub blocked_by: Option<String>,
    /// Compact JSON of [`crate::compliance::Judgement::gate_results`].
    pub gate_results: String,
    /// What came of it, when already known.
    pub outcome: Option<String>,
    /// The recording's id.
    pub recording_ref: Option<String>,
    /// The consent record's id.
    pub consent_ref: Option<String>,
    /// Made with a test key.
    pub is_test: bool,
    /// Call or chat.
    pub channel: Channel,
    /// The agent's id.
    pub agent_id: Option<String>,
}

impl Entry {
    /// The row that follows `head` in the chain.
    pub fn after(self, head: &Head) -> Row {
        let mut row = Row {
            seq: head.seq.saturating_add(1).to_string(),
            timestamp: self.timestamp.to_string(),
            interaction_id: self.interaction_id,
            decision: self.decision.as_str().to_owned(),
            blocked_by: self.blocked_by.unwrap_or_default(),
            gate_results: self.gate_results,
            outcome: self.outcome.unwrap_or_default(),
            recording_ref: self.recording_ref.unwrap_or_default(),
            consent_ref: self.consent_ref.unwrap_or_default(),
            integrity_hash: String::new(),
            prev_hash: head.hash.clone(),
            is_test: self.is_test.to_string(),
            channel: self.channel.as_str().to_owned(),
            agent_id: self.agent_id.unwrap_or_default(),
        };
        row.integrity_hash = row.computed_hash();
        row
    }
}

/// The newest row of a chain: what the next one links to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Its number; 0 for an empty chain.
    pub seq: u64,
    /// Its `integrity_hash`; [`GENESIS`] for an empty chain.
    pub hash: String,
}

impl Head {
    /// The text that is signed to witness a head: kept elsewhere, it shows later that the chain was cut short
    /// or written anew.
    pub fn signed_text(&self, workspace: &str, chain: &str, signed_at: &str) -> String {
        format!("decision-log-head/1\n{workspace}\n{chain}\n{}\n{}\n{signed_at}", self.seq, self.hash)
    }
}

impl Default for Head {
    fn default() -> Self {
        Self { seq: 0, hash: GENESIS.to_owned() }
    }
}

/// A row as the CSV shows it; every column is its text, whatever somebody may have written into it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Position in the chain, from 1, without gaps.
    pub seq: String,
    /// ISO 8601, UTC, three fraction digits.
    pub timestamp: String,
    /// Call or chat id.
    pub interaction_id: String,
    /// `allowed` or `blocked`.
    pub decision: String,
    /// Gate or check, or empty.
    pub blocked_by: String,
    /// Compact JSON.
    pub gate_results: String,
    /// Outcome, or empty.
    pub outcome: String,
    /// Recording id, or empty.
    pub recording_ref: String,
    /// Consent id, or empty.
    pub consent_ref: String,
    /// Hash of this row.
    pub integrity_hash: String,
    /// Hash of the row before.
    pub prev_hash: String,
    /// `true` or `false`; outside the hash.
    pub is_test: String,
    /// `voice` or `chat`; outside the hash.
    pub channel: String,
    /// Agent id or empty; outside the hash.
    pub agent_id: String,
}

impl Row {
    /// The texts in the order of [`COLUMNS`].
    pub fn columns(&self) -> [&str; 14] {
        [
            &self.seq,
            &self.timestamp,
            &self.interaction_id,
            &self.decision,
            &self.blocked_by,
            &self.gate_results,
            &self.outcome,
            &self.recording_ref,
            &self.consent_ref,
            &self.integrity_hash,
            &self.prev_hash,
            &self.is_test,
            &self.channel,
            &self.agent_id,
        ]
    }

    /// A row of texts in the order of [`COLUMNS`]; `None` unless there are 14.
    pub fn from_columns(columns: Vec<String>) -> Option<Row> {
        let [
            seq,
            timestamp,
            interaction_id,
            decision,
            blocked_by,
            gate_results,
            outcome,
            recording_ref,
            consent_ref,
            integrity_hash,
            prev_hash,
            is_test,
            channel,
            agent_id,
        ]: [String; 14] = columns.try_into().ok()?;
        Some(Row {
            seq,
            timestamp,
            interaction_id,
            decision,
            blocked_by,
            gate_results,
            outcome,
            recording_ref,
            consent_ref,
            integrity_hash,
            prev_hash,
            is_test,
            channel,
            agent_id,
        })
    }

    /// The hash that the row should have.
    pub fn computed_hash(&self) -> String {
        let covered = [
            &self.prev_hash,
            &self.seq,
            &self.timestamp,
            &self.interaction_id,
            &self.decision,
            &self.blocked_by,
            &self.gate_results,
            &self.outcome,
            &self.recording_ref,
            &self.consent_ref,
        ];
        // Strings always serialize.
        HEXLOWER.encode(digest(&SHA256, &serde_json::to_vec(&covered).unwrap_or_default()).as_ref())
    }
}

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
    pub fn statement(&self) -> csv::Statement {
        csv::Statement {
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn entry(number: u64) -> Entry {
        Entry {
            timestamp: Timestamp(1_763_700_000_000 + number as i64),
            interaction_id: format!("call_{number}"),
            decision: if number.is_multiple_of(3) { Decision::Blocked } else { Decision::Allowed },
            blocked_by: number.is_multiple_of(3).then(|| "dnd".to_owned()),
            gate_results: r#"{"pack":"generic-safe@1","gates":[{"gate":"dnd","verdict":"pass"}]}"#.to_owned(),
            outcome: None,
            recording_ref: None,
            consent_ref: None,
            is_test: false,
            channel: Channel::Voice,
            agent_id: Some("agt_1".to_owned()),
        }
    }

    pub(crate) fn chain(rows: u64) -> Vec<Row> {
        let mut head = Head::default();
        (1..=rows)
            .map(|number| {
                let row = entry(number).after(&head);
                head = Head { seq: number, hash: row.integrity_hash.clone() };
                row
            })
            .collect()
    }

    fn verify(rows: &[Row]) -> Result<(), Broken> {
        let mut verifier = ChainVerifier::new();
        rows.iter().try_for_each(|row| verifier.push(row))
    }

    #[test]
    fn the_hash_is_that_of_the_documented_bytes() {
        let row = entry(1).after(&Head::default());
        let bytes = concat!(
            r#"["0000000000000000000000000000000000000000000000000000000000000000","1","2025-11-21T04:40:00.001Z","call_1","allowed","","#,
            r#""{\"pack\":\"generic-safe@1\",\"gates\":[{\"gate\":\"dnd\",\"verdict\":\"pass\"}]}","","",""]"#
        );
        assert_eq!(row.integrity_hash, HEXLOWER.encode(digest(&SHA256, bytes.as_ref()).as_ref()));
        assert_eq!(
            HEXLOWER.encode(digest(&SHA256, b"abc").as_ref()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn an_untouched_chain_is_whole() {
        let rows = chain(5);
        let mut verifier = ChainVerifier::new();
        rows.iter().try_for_each(|row| verifier.push(row)).unwrap();
        assert_eq!((verifier.records(), verifier.head().seq, verifier.before()), (5, 5, GENESIS));
        assert_eq!(verifier.head().hash, rows[4].integrity_hash);
        assert_eq!(verify(&[]), Ok(()));
    }

    #[test]
    fn every_covered_column_is_covered() {
        for column in 0..9 {
            let mut columns: Vec<String> = chain(3)[1].columns().map(str::to_owned).to_vec();
            columns[column].push('0');
            let mut rows = chain(3);
            rows[1] = Row::from_columns(columns).unwrap();
            assert_eq!(
                verify(&rows),
                Err(Broken { seq: 2, why: if column == 0 { Why::Order } else { Why::Changed } }),
                "{}",
                COLUMNS[column]
            );
        }
        for column in 11..14 {
            let mut columns: Vec<String> = chain(3)[1].columns().map(str::to_owned).to_vec();
            columns[column].push('0');
            let mut rows = chain(3);
            rows[1] = Row::from_columns(columns).unwrap();
            assert_eq!(verify(&rows), Ok(()), "{} is outside the hash", COLUMNS[column]);
        }
    }

    #[test]
    fn a_deleted_row_is_noticed() {
        let mut rows = chain(4);
        rows.remove(1);
        assert_eq!(verify(&rows), Err(Broken { seq: 2, why: Why::Order }));
        let mut rows = chain(4);
        rows.remove(0);
        assert_eq!(verify(&rows), Err(Broken { seq: 1, why: Why::Order }));
    }

    #[test]
    fn an_inserted_row_is_noticed() {
        let mut rows = chain(4);
        let head = Head { seq: 1, hash: rows[0].integrity_hash.clone() };
        rows.insert(1, entry(77).after(&head));
        assert_eq!(verify(&rows), Err(Broken { seq: 3, why: Why::Order }));
    }

    #[test]
    fn swapped_rows_are_noticed() {
        let mut rows = chain(4);
        rows.swap(1, 2);
        assert_eq!(verify(&rows), Err(Broken { seq: 2, why: Why::Order }));
    }

    #[test]
    fn a_row_that_was_changed_and_hashed_anew_breaks_the_next_link() {
        let mut rows = chain(4);
        rows[1].decision = "allowed_by_me".to_owned();
        rows[1].integrity_hash = rows[1].computed_hash();
        assert_eq!(verify(&rows), Err(Broken { seq: 3, why: Why::Link }));
    }

    #[test]
    fn a_cut_tail_shows_only_in_the_count() {
        let rows = chain(4);
        let mut verifier = ChainVerifier::new();
        rows[..3].iter().try_for_each(|row| verifier.push(row)).unwrap();
        assert_eq!(verifier.records(), 3);
    }

    #[test]
    fn the_first_break_is_kept() {
        let mut rows = chain(5);
        rows[1].outcome = "x".to_owned();
        let mut verifier = ChainVerifier::new();
        for row in &rows {
            let _ = verifier.push(row);
        }
        assert_eq!(verifier.broken(), Some(&Broken { seq: 2, why: Why::Changed }));
        assert_eq!(verifier.records(), 1);
    }

    #[test]
    fn a_slice_starts_anywhere_but_row_one_starts_at_genesis() {
        let rows = chain(5);
        let mut verifier = ChainVerifier::slice();
        rows[2..].iter().try_for_each(|row| verifier.push(row)).unwrap();
        assert_eq!((verifier.records(), verifier.before()), (3, rows[1].integrity_hash.as_str()));
        let mut forged = entry(1).after(&Head { seq: 0, hash: "f".repeat(64) });
        forged.integrity_hash = forged.computed_hash();
        assert_eq!(ChainVerifier::slice().push(&forged), Err(Broken { seq: 1, why: Why::Link }));
    }
}

//! A decision, the row that it becomes, and the hash that links it to the row before.

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};

use crate::time::Timestamp;

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

closed_sets::words! {
    /// What was decided about a dial or a chat.
    pub enum Decision {
        /// It went ahead.
        Allowed = "allowed",
        /// A gate or a check stopped it.
        Blocked = "blocked",
    }
}

closed_sets::words! {
    /// What the decision was about.
    pub enum Channel {
        Voice = "voice",
        Chat = "chat",
    }
}

/// A decision that is not in the chain yet. It holds only ids and hashes, never a name, a phone number or
/// spoken words, so that erasing a person does not break the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When it was decided.
    pub timestamp: Timestamp,
    /// The call or chat.
    pub interaction_id: String,
    /// Allowed or blocked.
    pub decision: Decision,
    /// The gate or check that stopped it.
    pub blocked_by: Option<String>,
    /// Compact JSON of [`crate::compliance::Judgement::gate_results`].
    pub gate_results: String,
    /// The outcome, if already known.
    pub outcome: Option<String>,
    pub recording_ref: Option<String>,
    /// The consent record's id.
    pub consent_ref: Option<String>,
    /// Made with a test key.
    pub is_test: bool,
    pub channel: Channel,
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
    /// The text of a signed head. Kept elsewhere, a signed head shows later whether the chain was cut short
    /// or rewritten.
    pub fn signed_text(&self, workspace: &str, chain: &str, signed_at: &str) -> String {
        format!("decision-log-head/1\n{workspace}\n{chain}\n{}\n{}\n{signed_at}", self.seq, self.hash)
    }
}

impl Default for Head {
    fn default() -> Self {
        Self { seq: 0, hash: GENESIS.to_owned() }
    }
}

/// A row as the CSV shows it. Every column is text, because a row that was tampered with may hold anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Position in the chain, from 1, without gaps.
    pub seq: String,
    /// ISO 8601 in UTC with three fraction digits.
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
        // Serializing strings cannot fail.
        HEXLOWER.encode(digest(&SHA256, &serde_json::to_vec(&covered).unwrap_or_default()).as_ref())
    }
}

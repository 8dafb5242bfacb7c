//! Writing the decision log (docs/contract/decision-log.md): a row is appended in the transaction of the decision that
//! it proves, one writer a chain. Reading, verifying and exporting it is in [`super::audit`].

use std::collections::BTreeMap;

use domain::decision_log::{Chain, Entry, Head, Strand};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use store::decision_log::{self, HeadRow, NewRow};
use store::{DbError, TenantTx, Tx};

use super::{Context, Failure};
use runtime::crypto::Keyring;

/// Appends a decision to a chain and gives its number. Its moment is never before that of the row before it,
/// so that a time range is a range of numbers. The chain is held until the transaction ends: call it late in
/// the transaction.
pub fn record(tx: &mut TenantTx, context: &Context, chain: Chain, entry: Entry) -> Result<u64, Failure> {
    let tenant = tx.tenant();
    let mut chains = Chains::default();
    chains.record(tenant, chain, entry);
    chains.write(tx)?;
    let tip = chains.tips.values().next();
    let seq = tip.ok_or_else(|| Failure::internal("a decision was written to no chain"))?.head.seq;
    chains.finish(tx, context)?;
    Ok(seq)
}

/// The chains to which one transaction appends: each head is read once, and sealed and written once at the end; rows
/// are batched.
#[derive(Default)]
pub struct Chains {
    tips: BTreeMap<(Tenant, Strand), Tip>,
    /// Recorded and not written yet.
    entries: Vec<((Tenant, Strand), Entry, String)>,
}

/// The newest row of a chain.
struct Tip {
    head: Head,
    /// When it was decided.
    at: Timestamp,
}

impl Chains {
    /// Records a decision; [`Chains::finish`] must follow in the same transaction. The chain is not locked before it is
    /// written to.
    pub fn record(&mut self, tenant: Tenant, chain: Chain, entry: Entry) {
        self.record_by(tenant, chain, entry, "");
    }

    /// The same for an action of somebody, who is named in the record, too: this is by what it is found.
    pub(crate) fn record_by(&mut self, tenant: Tenant, chain: Chain, entry: Entry, actor: &str) {
        let strand = Strand { chain, mode: if entry.is_test { Mode::Test } else { Mode::Live } };
        self.entries.push(((tenant, strand), entry, actor.to_owned()));
    }

    /// How many decisions are recorded and not written yet.
    pub(crate) fn waiting(&self) -> usize {
        self.entries.len()
    }

    /// Locks the chains of recorded decisions until the transaction ends. Every append to one of them waits: slow work
    /// comes before it.
    fn hold(&mut self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        let mut open = BTreeMap::new();
        for (whose, entry, _) in self.entries.iter().filter(|(whose, ..)| !self.tips.contains_key(whose)) {
            open.entry(*whose).or_insert(entry.timestamp);
        }
        if open.len() > 1 {
            tx.prefetch(|tx| {
                for (tenant, strand) in open.keys() {
                    let _ = decision_log::head_for_update(&mut tx.of(*tenant), *strand);
                }
            })?;
        }
        for ((tenant, strand), first) in open {
            let newest = decision_log::head_for_update(&mut tx.of(tenant), strand)?;
            let (head, at) = newest.map_or_else(|| (Head::default(), first), |row| (row.head, row.at));
            self.tips.insert((tenant, strand), Tip { head, at });
        }
        Ok(())
    }

    /// Writes the rows recorded since the last call.
    pub fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        self.hold(tx)?;
        let mut rows = Vec::with_capacity(self.entries.len());
        for (whose, entry, actor) in self.entries.drain(..) {
            let tip = self.tips.get_mut(&whose);
            let tip =
                tip.ok_or_else(|| DbError::Internal("a chain is written to that is not held".into()))?;
            tip.at = tip.at.max(entry.timestamp);
            let row = Entry { timestamp: tip.at, ..entry }.after(&tip.head);
            tip.head = Head { seq: tip.head.seq.saturating_add(1), hash: row.integrity_hash.clone() };
            rows.push(NewRow { tenant: whose.0, strand: whose.1, seq: tip.head.seq, at: tip.at, row, actor });
        }
        decision_log::append(tx, &rows)
    }

    /// Writes the rest, and moves the heads to the appended rows.
    pub fn finish(mut self, tx: &mut Tx<'_>, context: &Context) -> Result<(), DbError> {
        self.write(tx)?;
        let mut grown = Vec::with_capacity(self.tips.len());
        for ((tenant, strand), Tip { head, at }) in self.tips {
            let seal = seal(&context.keyring, tenant, strand, &head, at);
            let row = HeadRow { head, at, seal };
            decision_log::move_head(&mut tx.of(tenant), strand, &row)?;
            grown.push((tenant, strand, row.head));
        }
        if !grown.is_empty() {
            let marks = context.marks.clone();
            tx.after_commit(move || {
                grown.into_iter().for_each(|(tenant, strand, head)| marks.note(tenant, strand, head))
            });
        }
        Ok(())
    }
}

/// Keyed hash of a head: an attacker who can write the store but lacks the master key cannot rewrite a chain unnoticed,
/// nor truncate it except to a state that it once had; marks are for that ([`super::log_marks`]).
pub(super) fn seal(keyring: &Keyring, tenant: Tenant, strand: Strand, head: &Head, at: Timestamp) -> String {
    keyring.sign(&format!("log-head:{tenant}:{}:{}:{}:{}", strand.as_str(), head.seq, head.hash, at.0))
}

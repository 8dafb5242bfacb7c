//! Writing the decision log (docs/contract/decision-log.md): a row is appended in the transaction of the
//! decision that it proves, one writer a chain. Reading, verifying and exporting it is in [`super::audit`].

use std::collections::BTreeMap;

use domain::decision_log::{Chain, Entry, Head, Strand};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use store::Tx;
use store::decision_log::{self, HeadRow, NewRow};

use super::{Context, Failure};
use runtime::crypto::Keyring;

/// Appends a decision to a chain and gives its number. Its moment is never before that of the row before it,
/// so that a time range is a range of numbers. The chain is held until the transaction ends: call it late in
/// the transaction.
pub fn record(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    chain: Chain,
    entry: Entry,
) -> Result<u64, Failure> {
    let mut chains = Chains::default();
    let seq = chains.record(tx, tenant, chain, entry)?;
    chains.finish(tx, context)?;
    Ok(seq)
}

/// The chains to which one transaction appends: each head is read once, and sealed and written once at the
/// end; rows are written together.
#[derive(Default)]
pub struct Chains {
    tips: BTreeMap<(Tenant, Strand), Tip>,
    rows: Vec<NewRow>,
}

/// The newest row of a chain.
struct Tip {
    head: Head,
    /// When it was decided.
    at: Timestamp,
}

impl Chains {
    /// Like [`record`]; [`Chains::finish`] must follow in the same transaction.
    pub fn record(
        &mut self,
        tx: &mut Tx<'_>,
        tenant: Tenant,
        chain: Chain,
        entry: Entry,
    ) -> Result<u64, Failure> {
        use std::collections::btree_map::Entry as Slot;
        let strand = Strand { chain, world: if entry.is_test { Mode::Test } else { Mode::Live } };
        let tip = match self.tips.entry((tenant, strand)) {
            Slot::Occupied(known) => known.into_mut(),
            Slot::Vacant(empty) => {
                let newest = decision_log::head_for_update(tx, tenant, strand)?;
                let (head, at) = newest
                    .map_or_else(|| (Head::default(), entry.timestamp), |newest| (newest.head, newest.at));
                empty.insert(Tip { head, at })
            }
        };
        tip.at = tip.at.max(entry.timestamp);
        let row = Entry { timestamp: tip.at, ..entry }.after(&tip.head);
        tip.head = Head { seq: tip.head.seq.saturating_add(1), hash: row.integrity_hash.clone() };
        self.rows.push(NewRow { tenant, strand, seq: tip.head.seq, at: tip.at, row });
        Ok(tip.head.seq)
    }

    /// Writes the rows that were recorded since it was asked last.
    pub fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        decision_log::append(tx, &std::mem::take(&mut self.rows))?;
        Ok(())
    }

    /// Writes what is left, and moves the heads to the rows that were appended.
    pub fn finish(mut self, tx: &mut Tx<'_>, context: &Context) -> Result<(), Failure> {
        self.write(tx)?;
        let mut grown = Vec::with_capacity(self.tips.len());
        for ((tenant, strand), Tip { head, at }) in self.tips {
            let seal = seal(&context.keyring, tenant, strand, &head, at);
            let row = HeadRow { head, at, seal };
            decision_log::move_head(tx, tenant, strand, &row)?;
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

/// Keyed hash of a head: who can write the store but lacks the master key cannot write a chain anew
/// unnoticed, nor cut it short but to a state that it once had; that is what marks are for
/// ([`super::log_marks`]).
pub(super) fn seal(keyring: &Keyring, tenant: Tenant, strand: Strand, head: &Head, at: Timestamp) -> String {
    keyring.sign(&format!("log-head:{tenant}:{}:{}:{}:{}", strand.as_str(), head.seq, head.hash, at.0))
}

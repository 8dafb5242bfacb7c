//! Writing the decision log (spec 2 «Compliance log»): a row is appended in the transaction of the decision that it proves, one writer a
//! chain. Reading, verifying and exporting it is in [`super::audit`].

use std::collections::HashMap;

use domain::decision_log::{Chain, Entry, Head};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::Tx;
use store::decision_log::{self, HeadRow};

use super::{Context, Failure};
use crate::runtime::crypto::Keyring;

/// Appends a decision to a chain and gives its number. Its moment is never before that of the row before it, so that a time range is a
/// range of numbers. The chain is held until the transaction ends: call it late in the transaction.
pub fn record(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, chain: Chain, entry: Entry) -> Result<u64, Failure> {
    let mut chains = Chains::default();
    let seq = chains.record(tx, context, tenant, chain, entry)?;
    chains.finish(tx)?;
    Ok(seq)
}

/// The chains to which one transaction appends: each head is read once, and written once at the end.
#[derive(Default)]
pub struct Chains(HashMap<(Tenant, Chain), HeadRow>);

impl Chains {
    /// Like [`record`]; [`Chains::finish`] must follow in the same transaction.
    pub fn record(&mut self, tx: &mut Tx<'_>, context: &Context, tenant: Tenant, chain: Chain, entry: Entry) -> Result<u64, Failure> {
        let newest = match self.0.get(&(tenant, chain)) {
            Some(head) => Some(head.clone()),
            None => decision_log::head_for_update(tx, tenant, chain)?,
        };
        let (seq, head) = append(tx, context, tenant, chain, entry, newest)?;
        self.0.insert((tenant, chain), head);
        Ok(seq)
    }

    /// Moves the heads to the rows that were appended.
    pub fn finish(self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        for ((tenant, chain), head) in self.0 {
            decision_log::move_head(tx, tenant, chain, &head)?;
        }
        Ok(())
    }
}

fn append(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    chain: Chain,
    entry: Entry,
    newest: Option<HeadRow>,
) -> Result<(u64, HeadRow), Failure> {
    let at = newest.as_ref().map_or(entry.timestamp, |newest| newest.at.max(entry.timestamp));
    let entry = Entry { timestamp: at, ..entry };
    let row = entry.clone().after(&newest.map(|newest| newest.head).unwrap_or_default());
    let seq = row.seq.parse().map_err(|_| Failure::internal("a row without a number"))?;
    let head = Head { seq, hash: row.integrity_hash.clone() };
    let seal = seal(&context.keyring, tenant, chain, &head, at);
    let head = HeadRow { head, at, seal };
    decision_log::append(tx, tenant, chain, &entry, &row, &head)?;
    Ok((seq, head))
}

/// Keyed hash of a head: who can write the store but lacks the master key can neither cut a chain short nor write it anew unnoticed.
pub(super) fn seal(keyring: &Keyring, tenant: Tenant, chain: Chain, head: &Head, at: Timestamp) -> String {
    keyring.sign(&format!("log-head:{tenant}:{}:{}:{}:{}", chain.as_str(), head.seq, head.hash, at.0))
}

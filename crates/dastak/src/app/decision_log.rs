//! Writing the decision log (spec 2 «Compliance log»): a row is appended in the transaction of the decision that it proves, one writer a
//! chain. Reading, verifying and exporting it is in [`super::audit`].

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
    let newest = decision_log::head_for_update(tx, tenant, chain)?;
    let at = newest.as_ref().map_or(entry.timestamp, |newest| newest.at.max(entry.timestamp));
    let entry = Entry { timestamp: at, ..entry };
    let row = entry.clone().after(&newest.map(|newest| newest.head).unwrap_or_default());
    let seq = row.seq.parse().map_err(|_| Failure::internal("a row without a number"))?;
    let head = Head { seq, hash: row.integrity_hash.clone() };
    let seal = seal(&context.keyring, tenant, chain, &head, at);
    decision_log::append(tx, tenant, chain, &entry, &row, &HeadRow { head, at, seal })?;
    Ok(seq)
}

/// Keyed hash of a head: who can write the store but lacks the master key can neither cut a chain short nor write it anew unnoticed.
pub(super) fn seal(keyring: &Keyring, tenant: Tenant, chain: Chain, head: &Head, at: Timestamp) -> String {
    keyring.sign(&format!("log-head:{tenant}:{}:{}:{}:{}", chain.as_str(), head.seq, head.hash, at.0))
}

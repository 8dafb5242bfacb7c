//! Verifying a chain from its first record to its head. A check from a later record would miss earlier changes, and
//! someone who can write to the store can change any record.

use std::collections::BTreeMap;

use api::audit::ChainVerification;
use domain::decision_log::mark::Mark;
use domain::decision_log::{Broken, ChainVerifier, Head, Row, Strand, Why};
use domain::tenant::Tenant;
use store::decision_log;

use super::slots::AuditSlot;
use crate::{App, Failure, log_marks};

/// Records in one read.
const PAGE: i64 = 1000;

/// The result for a chain, up to the newest record at the time of the request.
pub(super) struct ChainCheck {
    pub(super) strand: Strand,
    pub(super) records: u64,
    pub(super) head: Head,
    pub(super) broken: Option<Broken>,
}

impl ChainCheck {
    pub(super) fn view(&self) -> ChainVerification {
        ChainVerification {
            name: self.strand.chain.as_str(),
            verified: self.broken.is_none(),
            records: self.records,
            broken_at: self.broken.as_ref().map(|broken| broken.seq),
            problem: self.broken.as_ref().map(Broken::to_string),
        }
    }
}

/// The end of a chain in the store.
struct Ends {
    /// The head is sealed with our key.
    sealed: bool,
    head: Head,
    /// The number of the newest record.
    last: u64,
    /// Marks of this node.
    marks: Vec<Mark>,
}

async fn ends(app: &App, tenant: Tenant, strand: Strand) -> Result<Ends, Failure> {
    // Before the store is read: it must contain everything seen by then.
    let witnessed = app.marks.witnessed(tenant, strand);
    let keyring = app.keyring.clone();
    let read = move |tx: &mut store::Tx<'_>| {
        // All in one snapshot: a record after the head was not written by this service.
        let stored = decision_log::head(&mut tx.of(tenant), strand)?;
        let accepted = log_marks::accepted(&mut tx.of(tenant), &keyring, strand)?;
        let last = decision_log::last_seq(&mut tx.of(tenant), strand)?;
        let seal = |row: &decision_log::HeadRow| {
            crate::decision_log::seal(&keyring, tenant, strand, &row.head, row.at)
        };
        let sealed = stored.as_ref().is_none_or(|row| row.head.seq == 0 || row.seal == seal(row));
        let head = stored.map(|row| row.head).unwrap_or_default();
        Ok::<_, Failure>(Ends { sealed, head, last, marks: witnessed.marks(accepted.as_ref()) })
    };
    app.store.read(read).await
}

/// Verifies a chain from its first record to its head.
pub(super) async fn check(
    app: &App,
    turn: &AuditSlot,
    tenant: Tenant,
    strand: Strand,
) -> Result<ChainCheck, Failure> {
    let Ends { sealed, head, last, marks } = ends(app, tenant, strand).await?;
    // The hashes at the marks.
    let mut found: BTreeMap<u64, Option<String>> = marks.iter().map(|mark| (mark.head.seq, None)).collect();
    let (mut verifier, mut records, mut after) = (ChainVerifier::new(), 0, 0);
    loop {
        let rows = page(app, tenant, strand, after, last).await?;
        let count = rows.len();
        turn.count(count as u64);
        records += count as u64;
        let newest = rows.last().and_then(|row| row.seq.parse().ok());
        for row in &rows {
            if let Some(place) = row.seq.parse().ok().and_then(|seq: u64| found.get_mut(&seq)) {
                *place = Some(row.integrity_hash.clone());
            }
        }
        verifier = hash(verifier, rows).await?;
        match newest {
            Some(seq) if count as i64 == PAGE => after = seq,
            _ => break,
        }
    }
    let end = verifier.head().clone();
    let broken = verifier.broken().cloned().or_else(|| {
        let at = |seq, why| Some(Broken { seq, why });
        let contradiction = || {
            let of = |mark: &Mark| {
                mark.contradiction(end.seq, found.get(&mark.head.seq).and_then(Option::as_deref))
            };
            marks.iter().filter_map(of).min_by_key(|broken| broken.seq)
        };
        if end.seq != head.seq {
            at(end.seq.min(head.seq) + 1, Why::Count)
        } else if end.hash != head.hash || !sealed {
            at(head.seq, Why::Head)
        } else {
            contradiction()
        }
    });
    Ok(ChainCheck { strand, records, head, broken })
}

/// Hashes records on a blocking thread.
async fn hash(mut verifier: ChainVerifier, rows: Vec<Row>) -> Result<ChainVerifier, Failure> {
    let work = move || {
        for row in &rows {
            // The verifier keeps its first break.
            let _ = verifier.push(row);
        }
        verifier
    };
    runtime::blocking::run(work).await.map_err(|why| Failure::internal(why.to_string()))
}

pub(super) async fn page(
    app: &App,
    tenant: Tenant,
    strand: Strand,
    after: u64,
    last: u64,
) -> Result<Vec<Row>, Failure> {
    let read =
        move |tx: &mut store::Tx<'_>| decision_log::page(&mut tx.of(tenant), strand, after, last, PAGE);
    let rows = app.store.read_far(read).await?;
    // Numbers have no gaps. A replica may lack the newest records, which is no break of the chain.
    if rows.len() as u64 == last.saturating_sub(after).min(PAGE.unsigned_abs()) {
        return Ok(rows);
    }
    Ok(app.store.read_long(read).await?)
}

/// The head of a chain, if it contradicts neither its seal nor a mark. Earlier records are not read.
pub(super) async fn head(
    app: &App,
    tenant: Tenant,
    strand: Strand,
) -> Result<(Head, Option<Broken>), Failure> {
    let Ends { sealed, head, last, marks } = ends(app, tenant, strand).await?;
    if !sealed {
        return Ok((head.clone(), Some(Broken { seq: head.seq, why: Why::Head })));
    }
    let read = move |tx: &mut store::Tx<'_>| {
        let mut broken = None;
        for mark in &marks {
            let hash = decision_log::hash_at(&mut tx.of(tenant), strand, mark.head.seq)?;
            broken = broken.or(mark.contradiction(last, hash.as_deref()));
        }
        Ok::<_, Failure>(broken)
    };
    Ok((head, app.store.read(read).await?))
}

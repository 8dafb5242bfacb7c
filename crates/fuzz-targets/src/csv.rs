//! Files from users: an exported decision log.

use domain::decision_log::csv::{ExportVerifier, NotAnExport, Report, Statement, header, write_row};
use domain::decision_log::{Channel, Decision, Entry, Head, Row};
use domain::time::Timestamp;

use crate::draw::Draw;

fn verified(pieces: &[&[u8]], kept: Option<&Head>) -> Result<Report, NotAnExport> {
    let mut verifier =
        kept.map_or_else(ExportVerifier::new, |head| ExportVerifier::expecting([head.clone()]));
    for piece in pieces {
        verifier.push(piece)?;
    }
    verifier.finish()
}

/// A file of any bytes.
///
/// It may be read in pieces cut anywhere. Writing and reading its last line gives the same statement. A file
/// with a broken chain has a position where it breaks.
pub fn decision_log(data: &[u8]) {
    let whole = verified(&[data], None);
    let at = data.len() / 2;
    assert_eq!(verified(&[&data[..at], &data[at..]], None), whole, "cut in the middle");
    let singly: Vec<&[u8]> = data.chunks(1).collect();
    assert_eq!(verified(&singly, None), whole, "cut everywhere");
    let Ok(report) = whole else { return };
    assert!(report.broken.as_ref().is_none_or(|broken| broken.seq > 0));
    if let Some(statement) = report.statement {
        assert_eq!(Statement::parse(&statement.to_string()).as_ref(), Some(&statement));
    }
}

/// A log generated from the bytes, written, and then sometimes changed in one place.
///
/// What the service writes is read as complete and valid, whatever its texts contain. A change of one byte
/// that the hashes cover is noticed.
pub fn written_rows(data: &[u8]) {
    let mut draw = Draw::new(data);
    let mut head = Head::default();
    let mut rows: Vec<Row> = Vec::new();
    while !draw.is_empty() && rows.len() < 20 {
        let optional = |draw: &mut Draw<'_>| draw.one_in(2).then(|| draw.text());
        let entry = Entry {
            timestamp: Timestamp(i64::from(draw.short()) * 1_000_000_007),
            interaction_id: draw.text(),
            decision: draw.of(&[Decision::Allowed, Decision::Blocked]),
            blocked_by: optional(&mut draw),
            gate_results: draw.text(),
            outcome: optional(&mut draw),
            recording_ref: optional(&mut draw),
            consent_ref: optional(&mut draw),
            is_test: draw.one_in(2),
            channel: draw.of(&[Channel::Voice, Channel::Chat]),
            agent_id: optional(&mut draw),
        };
        let row = entry.after(&head);
        head = Head { seq: head.seq + 1, hash: row.integrity_hash.clone() };
        rows.push(row);
    }
    let file = |rows: &[Row]| {
        let mut text = header();
        rows.iter().for_each(|row| write_row(row, &mut text));
        text
    };
    let report = verified(&[file(&rows).as_bytes()], Some(&head)).expect("an export");
    assert_eq!((report.records, report.broken), (rows.len() as u64, None), "an unchanged file is valid");
    if let Some(at) = rows.len().checked_sub(1).map(|last| last.min(data.len() % 20)) {
        let mut changed = rows.clone();
        changed[at].outcome.push('x');
        let report = verified(&[file(&changed).as_bytes()], None).expect("an export");
        assert_eq!(report.broken.map(|broken| broken.seq), Some(at as u64 + 1), "a change is noticed");
        let cut = verified(&[file(&rows[..at]).as_bytes()], Some(&head)).expect("an export");
        assert!(cut.broken.is_some(), "a cut end is noticed with a head that was kept");
    }
}

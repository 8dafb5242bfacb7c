//! What a verification detects and what it cannot.

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};

use super::*;
use crate::time::Timestamp;

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

//! Counters that many transactions change are taken at the end, in one order.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};

use store::{Counter, DbError, Fold, Must, Store, Tx, params};

use crate::{fresh_database, scratch};

fn count(tx: &mut Tx<'_>, n: i64, by: &str) -> Result<(), DbError> {
    let must = Must { rows: 1, otherwise: DbError::Internal("no such counter".into()) };
    let sql = "update scratch set note = note || ?2 where n = ?1";
    tx.count(Counter::Column(n as u128), sql, params![n, by], Some(must))
}

/// Counts in two rows, one after the other, with a read between them that waits until the other transaction is as far.
async fn both(store: Store, rows: [i64; 2], met: Arc<Barrier>, runs: Arc<AtomicU32>) {
    let closure = move |tx: &mut Tx<'_>| {
        let first = runs.fetch_add(1, Ordering::SeqCst) < 2;
        count(tx, rows[0], "a")?;
        assert!(tx.exists("select 1 from scratch where n = 1", &[])?);
        if first {
            met.wait();
        }
        count(tx, rows[1], "b")
    };
    store.tx(closure).await.expect("both are counted");
}

#[tokio::test]
async fn transactions_that_count_the_same_rows_in_another_order_do_not_wait_in_a_circle_on_postgres() {
    let url = fresh_database().await;
    let store = scratch(&url, 4).await;
    store
        .tx(|tx| tx.exec("insert into scratch (n) values (1), (2)", &[]).map(|_| ()))
        .await
        .expect("two rows");
    let (met, runs) = (Arc::new(Barrier::new(2)), Arc::new(AtomicU32::new(0)));
    tokio::join!(
        both(store.clone(), [1, 2], met.clone(), runs.clone()),
        both(store.clone(), [2, 1], met.clone(), runs.clone())
    );
    assert_eq!(runs.load(Ordering::SeqCst), 2, "neither had to run again");
    let sql = "select note from scratch order by n";
    let notes: Vec<String> = store.read(move |tx| tx.all(sql, &[])).await.expect("the counters");
    for mut note in notes.into_iter().map(String::into_bytes) {
        note.sort_unstable();
        assert_eq!(note, b"ab");
    }
}

/// A statement for each would be counted by the trigger.
#[tokio::test]
async fn counters_that_follow_each_other_are_one_statement_on_postgres() {
    let url = fresh_database().await;
    let store = scratch(&url, 2).await;
    let prepare = |tx: &mut Tx<'_>| {
        for sql in [
            "create table statements (n bigint)",
            "create table counters (name text primary key, counted bigint not null)",
            "create function noted() returns trigger language plpgsql as \
             $$ begin insert into statements select count(*) from added; return null; end $$",
            "create trigger noted after insert on counters referencing new table as added for each statement execute function noted()",
        ] {
            tx.exec(sql, &[])?;
        }
        Ok::<_, DbError>(())
    };
    store.tx(prepare).await.expect("tables");
    let closure = |tx: &mut Tx<'_>| {
        let sql = "insert into counters (name, counted) values (?1, ?2) \
            on conflict (name) do update set counted = counters.counted + excluded.counted";
        for (n, name, by) in [(3, "c", 1), (1, "a", 5), (2, "b", -2), (1, "a", 6)] {
            tx.tally(Counter::Column(n), sql, &[Fold::Same, Fold::Sum], params![name, by], None)?;
        }
        // These cannot be folded into one: nor can one statement change a row twice.
        for by in [1, 2] {
            tx.count(Counter::Hour(0, 0, 0), sql, params!["d", by], None)?;
        }
        tx.count(Counter::Hour(0, 0, 1), sql, params!["e", 1], None)
    };
    store.tx(closure).await.expect("all are counted");
    let read = |tx: &mut Tx<'_>| {
        let counters = tx.all("select name, counted from counters order by name", &[])?;
        Ok::<_, DbError>((counters, tx.all("select n from statements order by ctid", &[])?))
    };
    let (counters, statements): (Vec<(String, i64)>, Vec<i64>) =
        store.read(read).await.expect("the counters");
    let expected = [("a", 11), ("b", -2), ("c", 1), ("d", 3), ("e", 1)];
    assert_eq!(counters, expected.map(|(name, counted)| (name.to_owned(), counted)));
    assert_eq!(
        statements,
        [4, 1],
        "one adds four; in the other the second `d` changes a row, and `e` is new"
    );
}

#[tokio::test]
async fn a_counter_that_is_not_there_undoes_its_transaction_on_postgres() {
    let url = fresh_database().await;
    let store = scratch(&url, 2).await;
    let closure = |tx: &mut Tx<'_>| {
        tx.later("insert into scratch (n) values (7)", &[])?;
        count(tx, 9, "a")
    };
    assert_eq!(store.tx(closure).await, Err(DbError::Internal("no such counter".into())));
    assert!(crate::numbers(&url).await.is_empty());
}

//! Statements that travel as one: changes of rows, rows that are added, and counters.

use store::{Counter, DbError, Fold, Must, Store, Tx, params};

use crate::{fresh_database, numbers, raw, scratch};

async fn rows(url: &str) -> Vec<(i64, String)> {
    let found = raw(url).await.query("select n, note from scratch order by n", &[]).await.expect("rows");
    found.iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn filled(url: &str) -> Store {
    let store = scratch(url, 2).await;
    store
        .tx(|tx| {
            (0..4)
                .try_for_each(|n| tx.add("insert into scratch (n, note) values (?1, ?2)", params![n, "old"]))
        })
        .await
        .expect("rows");
    store
}

fn gone() -> DbError {
    DbError::Internal("it is not there".into())
}

/// Changes a row whose number and note are these.
fn change(tx: &mut Tx<'_>, n: i64, old: &str, new: &str) -> Result<(), DbError> {
    let sql = "update scratch set note = ?3 where n = ?1 and note = ?2";
    tx.change(sql, params![n, old, new], gone())
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_many_rows_keep_their_order_on_postgres() {
    let url = fresh_database().await;
    let store = filled(&url).await;
    assert_eq!(numbers(&url).await, [0, 1, 2, 3]);
    store
        .tx(|tx| {
            change(tx, 0, "old", "new")?;
            change(tx, 1, "old", "new")?;
            // What is not a change stays between those before it and those after it.
            tx.later("update scratch set note = note || '!' where n < ?1", params![3])?;
            change(tx, 0, "new!", "newer")?;
            change(tx, 2, "old!", "new")?;
            tx.add("insert into scratch (n, note) values (?1, ?2)", params![4, "added"])?;
            change(tx, 3, "old", "new")?;
            tx.add("insert into scratch (n, note) values (?1, ?2)", params![5, "added"])
        })
        .await
        .expect("all rows are as expected");
    let now = rows(&url).await;
    let notes: Vec<&str> = now.iter().map(|(_, note)| &**note).collect();
    assert_eq!(notes, ["newer", "new!", "new", "new", "added", "added"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_finds_no_row_fails_them_all_on_postgres() {
    let url = fresh_database().await;
    let store = filled(&url).await;
    let failed = store
        .tx(|tx| {
            change(tx, 0, "old", "new")?;
            change(tx, 1, "another", "new")?;
            change(tx, 2, "old", "new")
        })
        .await;
    assert_eq!(failed, Err(gone()));
    assert!(rows(&url).await.iter().all(|(_, note)| note == "old"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_never_comes_before_a_row_of_its_table_that_is_added_on_postgres() {
    let url = fresh_database().await;
    let store = filled(&url).await;
    let add = "insert into scratch (n, note) values (?1, ?2)";
    store
        .tx(|tx| {
            change(tx, 0, "old", "new")?;
            // This one joins a statement that stands before changes; the next change is of it.
            tx.add(add, params![4, "added"])?;
            change(tx, 1, "old", "new")?;
            tx.add(add, params![5, "added"])?;
            change(tx, 5, "added", "changed")?;
            change(tx, 4, "added", "changed")
        })
        .await
        .expect("all rows are there when they are changed");
    let notes: Vec<String> = rows(&url).await.into_iter().map(|(_, note)| note).collect();
    assert_eq!(notes, ["new", "new", "old", "old", "changed", "changed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_rows_are_all_added_or_none_on_postgres() {
    let url = fresh_database().await;
    let store = filled(&url).await;
    let add = |tx: &mut Tx<'_>, n: i64| {
        let sql = "insert into scratch (n, note) values (?1, ?2) on conflict (n) do nothing";
        tx.add_new(sql, params![n, "new"], gone())
    };
    store.tx(move |tx| (4..8).try_for_each(|n| add(tx, n))).await.expect("they are new");
    assert_eq!(numbers(&url).await, [0, 1, 2, 3, 4, 5, 6, 7]);
    let failed = store.tx(move |tx| [8, 7, 9].into_iter().try_for_each(|n| add(tx, n))).await;
    assert_eq!(failed, Err(gone()));
    assert_eq!(numbers(&url).await.len(), 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_a_counter_are_folded_on_postgres() {
    let url = fresh_database().await;
    let store = scratch(&url, 2).await;
    let seen = store
        .tx(|tx| {
            // A statement for each would be refused: the number is a key.
            let folds = [Fold::Same, Fold::Sum, Fold::Least, Fold::Most];
            let must = || Some(Must { rows: 1, otherwise: gone() });
            let sql = "insert into scratch (n, note) values (?1, cast(?2 as bigint) || ' ' || cast(?3 as bigint) || ' ' || cast(?4 as bigint))";
            for (sum, least, most) in [(1, None, Some(4)), (2, Some(9), None), (-5, Some(7), Some(3))] {
                let least = least.map(domain::time::Timestamp);
                let most = most.map(domain::time::Timestamp);
                tx.tally(Counter::Column(1), sql, &folds, params![10, sum, least, most], must())?;
                tx.tally(Counter::Column(2), sql, &folds, params![20, sum, Some(1), Some(1)], must())?;
            }
            tx.one::<i64>("select count(*) from scratch", &[])
        })
        .await
        .expect("one statement for each counter");
    assert_eq!(seen, Some(0), "they travel with the commit");
    let expected = [(10, "-2 7 4".to_owned()), (20, "-2 1 1".to_owned())];
    assert_eq!(rows(&url).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_that_are_prefetched_are_answered_on_postgres() {
    let url = fresh_database().await;
    let store = filled(&url).await;
    const LOCKED: &str = "select n, note from scratch where n = ?1 /*pg for update*/";
    const SEEN: &str = "select note from scratch where n >= ?1 order by n";
    let note = |tx: &mut Tx<'_>, n: i64| tx.one::<(i64, String)>(LOCKED, params![n]);
    store
        .tx(move |tx| {
            tx.prefetch(|tx| {
                for n in [3, 1, 9, 1] {
                    assert_eq!(note(tx, n), Ok(None), "nothing is found yet");
                    assert_eq!(tx.all::<String>(SEEN, params![n]), Ok(vec![]));
                }
                assert!(change(tx, 0, "old", "new").is_err(), "and nothing can be written");
            })?;
            let old = |n| Ok(Some((n, "old".to_owned())));
            assert_eq!(note(tx, 3), old(3));
            change(tx, 1, "old", "new")?;
            change(tx, 3, "old", "new")?;
            // As it was when it was prefetched; the second who asks finds what is there now.
            assert_eq!(note(tx, 1), old(1));
            assert_eq!(note(tx, 1), Ok(Some((1, "new".to_owned()))));
            // What locks nothing stays as it was, except what was not there.
            for _ in 0..2 {
                assert_eq!(tx.all::<String>(SEEN, params![1])?, ["old", "old", "old"]);
            }
            tx.add("insert into scratch (n, note) values (?1, ?2)", params![9, "added"])?;
            assert_eq!(note(tx, 9), Ok(None));
            assert_eq!(note(tx, 9), Ok(Some((9, "added".to_owned()))));
            // Nobody foresaw this one.
            assert_eq!(note(tx, 0), old(0));
            Ok::<_, DbError>(())
        })
        .await
        .expect("what was prefetched");
    assert_eq!(numbers(&url).await, [0, 1, 2, 3, 9]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_must_be_new_are_added_together_on_postgres() {
    let url = fresh_database().await;
    let store = filled(&url).await;
    let add = |numbers: [i64; 3]| {
        store.tx(move |tx| {
            let sql = "insert into scratch (n, note) values (?1, ?2) on conflict (n) do nothing";
            numbers.iter().try_for_each(|n| tx.add_new(sql, params![*n, "new"], gone()))
        })
    };
    assert_eq!(add([4, 5, 6]).await, Ok(()));
    assert_eq!(add([7, 3, 8]).await, Err(gone()), "one is there already");
    assert_eq!(add([7, 8, 7]).await, Err(gone()), "one comes twice");
    assert_eq!(numbers(&url).await, [0, 1, 2, 3, 4, 5, 6]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_counter_that_checks_itself_fails_the_commit_on_postgres() {
    let url = fresh_database().await;
    let store = filled(&url).await;
    let count = |expected: i64| {
        store.tx(move |tx| {
            tx.add("insert into scratch (n, note) values (?1, ?2)", params![10 + expected, "new"])?;
            let sql = "with done as (update scratch set note = 'counted' where n < cast(?1 as bigint) and note = 'old' returning 1) \
                       select 1 / (count(*) = cast(?2 as bigint))::int from done";
            tx.count_checked(Counter::Wallet(1), sql, params![2, expected], gone())
        })
    };
    assert_eq!(count(3).await, Err(gone()));
    assert_eq!(count(2).await, Ok(()));
    let expected = ["counted", "counted", "old", "old", "new"];
    assert!(rows(&url).await.iter().map(|(_, note)| &**note).eq(expected));
}

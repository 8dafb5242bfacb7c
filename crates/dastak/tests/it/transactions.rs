//! Transactions of the store: one that is refused leaves nothing behind, whichever others share its commit.

use store::{DbError, Must, params};

use crate::app::TestApp;

/// Numbers that were written.
async fn written(app: &TestApp) -> Vec<i64> {
    app.stored(|tx| tx.all("select n from scratch order by n", &[])).await
}

#[tokio::test]
async fn each_of_many_at_once_keeps_or_loses_its_own_writes() {
    let app = TestApp::start().await;
    let store = &app.app().store;
    store.tx(|tx| tx.exec("create table scratch (n bigint primary key)", &[]).map(|_| ())).await.unwrap();
    let write = |number: i64| {
        move |tx: &mut store::Tx<'_>| {
            tx.exec("insert into scratch (n) values (?1)", params![number])?;
            // Every third is refused after it wrote, every ninth fails on its own.
            if number % 9 == 1 {
                panic!("a closure that fails on purpose");
            }
            if number % 3 == 0 { Err(DbError::Internal("no".into())) } else { Ok(()) }
        }
    };
    let mut all = Vec::new();
    for number in 0..300 {
        let store = store.clone();
        // Every fourth wants a transaction of its own.
        all.push(tokio::spawn(async move {
            if number % 4 == 0 { store.tx_alone(write(number)).await } else { store.tx(write(number)).await }
        }));
    }
    for (number, one) in all.into_iter().enumerate() {
        let kept = one.await.is_ok_and(|outcome| outcome.is_ok());
        assert_eq!(kept, number % 9 != 1 && number % 3 != 0, "{number}");
    }
    let expected: Vec<i64> = (0..300).filter(|number| number % 9 != 1 && number % 3 != 0).collect();
    assert_eq!(written(&app).await, expected);
}

/// Rows enough for many handfuls of what a transaction puts off.
const MANY: i64 = 3_000;

fn fill(tx: &mut store::Tx<'_>, numbers: std::ops::Range<i64>) -> Result<(), DbError> {
    let note = "a text that takes some room in what is put off".repeat(2);
    numbers.into_iter().try_for_each(|number| {
        tx.later("insert into notes (n, note) values (?1, ?2)", params![number, &note])
    })
}

fn count(tx: &mut store::Tx<'_>) -> Result<i64, DbError> {
    Ok(tx.one::<i64>("select count(*) from notes", &[])?.unwrap_or(-1))
}

#[tokio::test]
async fn what_is_put_off_is_done_before_it_is_read_and_before_the_end() {
    let app = TestApp::start().await;
    let store = &app.app().store;
    store
        .tx(|tx| tx.exec("create table notes (n bigint primary key, note text not null)", &[]).map(|_| ()))
        .await
        .unwrap();
    let read = store
        .tx_alone(|tx| {
            fill(tx, 0..MANY)?;
            let first = count(tx)?;
            fill(tx, MANY..MANY + 1)?;
            let second = count(tx)?;
            let changed = tx.exec("update notes set note = '' where n < 10", &[])?;
            tx.must(
                "update notes set note = ?1 where n < ?2",
                params!["x", 5],
                Must { rows: 5, otherwise: DbError::Internal("no".into()) },
            )?;
            fill(tx, MANY + 1..2 * MANY)?;
            Ok::<_, DbError>((first, second, changed))
        })
        .await;
    assert_eq!(read, Ok((MANY, MANY + 1, 10)));
    let notes = |text: &'static str| {
        store.read(move |tx| tx.one::<i64>("select count(*) from notes where note = ?1", params![text]))
    };
    assert_eq!(
        (store.read(count).await, notes("x").await, notes("").await),
        (Ok(2 * MANY), Ok(Some(5)), Ok(Some(5)))
    );
}

#[tokio::test]
async fn a_large_transaction_of_which_anything_fails_leaves_nothing() {
    let app = TestApp::start().await;
    let store = &app.app().store;
    store
        .tx(|tx| tx.exec("create table notes (n bigint primary key, note text not null)", &[]).map(|_| ()))
        .await
        .unwrap();
    let no = || DbError::Internal("no".into());
    for round in 0..5 {
        let outcome = store
            .tx_alone(move |tx| {
                fill(tx, 0..MANY)?;
                match round {
                    0 => tx.later("insert into notes (n, note) values (7, 'again')", &[])?,
                    1 => tx.must(
                        "update notes set note = '' where n = -1",
                        &[],
                        Must { rows: 1, otherwise: no() },
                    )?,
                    2 => tx.later("insert into notes (n, note) values (-1, null)", &[])?,
                    3 => return Err(no()),
                    _ => panic!("a closure that fails on purpose"),
                }
                fill(tx, MANY..2 * MANY)
            })
            .await;
        match round {
            0 => assert!(matches!(outcome, Err(DbError::Unique(_))), "{outcome:?}"),
            1 | 3 => assert_eq!(outcome, Err(no())),
            _ => assert!(matches!(outcome, Err(DbError::Internal(_))), "{outcome:?}"),
        }
        assert_eq!(store.read(count).await, Ok(0), "round {round}");
    }
    store.tx_alone(|tx| fill(tx, 0..MANY)).await.unwrap();
    assert_eq!(store.read(count).await, Ok(MANY));
}

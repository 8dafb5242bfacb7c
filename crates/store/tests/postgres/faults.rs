//! A server that is silent, gone, or held up by somebody.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use store::{DbError, Store, params};

use crate::wire::{State, Wire};
use crate::{add, fresh_database, numbers, raw, scratch};

/// Ready once the store answers again.
async fn until_well(store: &Store) {
    let mut pace = tokio::time::interval(std::time::Duration::from_millis(50));
    while store.read(|tx| tx.exists("select 1", &[])).await.is_err() {
        pace.tick().await;
    }
}

fn away<T: std::fmt::Debug>(outcome: Result<T, DbError>) {
    assert!(matches!(outcome, Err(DbError::Unavailable(_))), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_a_frozen_server_on_postgres() {
    let url = fresh_database().await;
    let wire = Wire::to(&url).await;
    let store = scratch(&wire.url, 2).await;
    store.read(|tx| tx.exists("select 1", &[])).await.unwrap();
    wire.set(State::Frozen);
    // Far more than there are connections: were each to wait for an answer by itself, they would never end.
    let (outcomes, seen) = wire
        .seen(async {
            let mut all = tokio::task::JoinSet::new();
            for n in 0..2_000 {
                let store = store.clone();
                all.spawn(async move {
                    match n % 2 {
                        0 => store.tx(move |tx| tx.exec("update scratch set n = ?1", params![n])).await,
                        _ => store.read(|tx| tx.exists("select 1", &[]).map(u64::from)).await,
                    }
                });
            }
            all.join_all().await
        })
        .await;
    outcomes.into_iter().for_each(away);
    assert!(seen.connections < 50, "{seen:?}");
    wire.set(State::Open);
    until_well(&store).await;
    store.tx(add(1)).await.unwrap();
    assert_eq!(numbers(&url).await, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_without_an_answer_is_uncertain_on_postgres() {
    for state in [State::Frozen, State::Cut] {
        let url = fresh_database().await;
        let wire = Wire::to(&url).await;
        let store = scratch(&wire.url, 1).await;
        store.tx(add(1)).await.unwrap();
        wire.set_after("commit", state);
        let (runs, effects) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (seen, done) = (runs.clone(), effects.clone());
        let outcome = store
            .tx(move |tx| {
                seen.fetch_add(1, Ordering::SeqCst);
                let (stored, doubted) = (done.clone(), done.clone());
                tx.after_commit(move || stored.store(100, Ordering::SeqCst));
                tx.if_uncertain(move || _ = doubted.fetch_add(1, Ordering::SeqCst));
                add(2)(tx)
            })
            .await;
        assert!(matches!(outcome, Err(DbError::Uncertain(_))), "{state:?}: {outcome:?}");
        assert_eq!(runs.load(Ordering::SeqCst), 1, "it may have been stored: it does not run again");
        assert_eq!(effects.load(Ordering::SeqCst), 1, "who asked for it is told that nobody knows");
        wire.set(State::Open);
        until_well(&store).await;
        store.tx(add(3)).await.unwrap();
        let stored = numbers(&url).await;
        assert!(stored == [1, 3] || stored == [1, 2, 3], "{stored:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_without_an_answer_stores_nothing_on_postgres() {
    let url = fresh_database().await;
    let wire = Wire::to(&url).await;
    let store = scratch(&wire.url, 1).await;
    let write = |store: Store, n: i64| async move {
        store
            .tx(move |tx| {
                tx.exec("insert into scratch (n) values (?1)", params![n])?;
                tx.exec("update scratch set note = 'marked' where n = ?1", params![n])
            })
            .await
    };
    write(store.clone(), 1).await.unwrap();
    let marked = {
        let client = raw(&url).await;
        client.batch_execute("alter table scratch add column later text").await.unwrap();
        client
    };
    drop(marked);
    wire.set_after("marked", State::Frozen);
    // Prepared statements do not carry their words: the next store says them.
    let other = scratch(&wire.url, 1).await;
    away(write(other.clone(), 2).await);
    wire.set(State::Open);
    until_well(&other).await;
    assert_eq!(numbers(&url).await, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_was_closed_at_rest_costs_nobody_an_error_on_postgres() {
    let url = fresh_database().await;
    let wire = Wire::to(&url).await;
    let store = scratch(&wire.url, 1).await;
    for n in 0..3 {
        store.tx(add(n)).await.unwrap();
        wire.set(State::Cut);
        wire.set(State::Open);
        // The rest is what is tested: after it, what became of the connection is looked at before it is used.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    }
    store.tx(add(3)).await.unwrap();
    assert_eq!(numbers(&url).await, [0, 1, 2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_holds_a_lock_for_long_holds_up_nobody_for_long_on_postgres() {
    let url = fresh_database().await;
    let store = scratch(&url, 1).await;
    store.tx(add(1)).await.unwrap();
    let holder = raw(&url).await;
    holder.batch_execute("begin; update scratch set note = 'held'").await.unwrap();
    let write = || store.tx(|tx| tx.exec("update scratch set note = 'ours'", &[]));
    away(write().await);
    holder.batch_execute("rollback").await.unwrap();
    assert_eq!(write().await, Ok(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_works_for_several_gives_way_to_one_that_holds_a_lock_on_postgres() {
    let url = fresh_database().await;
    let store = scratch(&url, 1).await;
    store.tx(add(1)).await.unwrap();
    let holder = raw(&url).await;
    holder.batch_execute("begin; update scratch set note = 'held'").await.unwrap();
    let write = || store.tx_hasty(|tx| tx.exec("update scratch set note = 'ours'", &[]));
    let refused = write().await;
    assert!(matches!(refused, Err(DbError::Retry(_))), "{refused:?}");
    holder.batch_execute("rollback").await.unwrap();
    assert_eq!(write().await, Ok(1));
    // What conflicts for a moment runs again.
    let mut first = true;
    let again = store.tx_hasty(move |tx| {
        let conflicts = std::mem::take(&mut first);
        let changed = tx.exec("update scratch set note = 'again'", &[])?;
        if conflicts { Err(DbError::Retry("a moment ago".into())) } else { Ok(changed) }
    });
    assert_eq!(again.await, Err(DbError::Retry("a moment ago".into())), "an error of the closure is its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stops_in_a_transaction_lets_go_on_postgres() {
    let url = fresh_database().await;
    let store = scratch(&url, 2).await;
    store.tx(add(1)).await.unwrap();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let (holds, held) = tokio::sync::oneshot::channel();
    let (stopped, mut holds) = (std::sync::Mutex::new(stopped), Some(holds));
    let sleeper = tokio::spawn({
        let store = store.clone();
        async move {
            store
                .tx(move |tx| {
                    tx.exec("update scratch set note = 'held'", &[])?;
                    if let Some(holds) = holds.take() {
                        let _ = holds.send(());
                        let _ = stopped.lock().unwrap().recv();
                    }
                    tx.exec("update scratch set note = 'late'", &[])
                })
                .await
        }
    });
    held.await.unwrap();
    // The server ends the session of the one that sleeps; the other gets the row.
    let mut outcome = Err(DbError::Retry(String::new()));
    while outcome.is_err() {
        outcome = store.tx(|tx| tx.exec("update scratch set note = 'ours'", &[])).await;
    }
    assert_eq!(outcome, Ok(1));
    stop.send(()).unwrap();
    // It runs again on a new connection, or hears that the store was away; it never writes half.
    let _ = sleeper.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_long_waits_for_a_server_that_is_there_and_for_no_other_on_postgres() {
    let url = fresh_database().await;
    let wire = Wire::to(&url).await;
    let store = scratch(&wire.url, 1).await;
    // Longer than a server is waited for that is not there.
    let long = |tx: &mut store::Tx<'_>| tx.exists("select 1 from (select pg_sleep(7)) as slept", &[]);
    assert_eq!(store.tx_alone(long).await, Ok(true));
    assert_eq!(store.read_long(long).await, Ok(true));
    assert_eq!(store.read(long).await, Ok(true));
    wire.set(State::Frozen);
    away(store.tx_alone(|tx| tx.exec("update scratch set n = 1", &[])).await);
}

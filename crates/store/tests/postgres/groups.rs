//! Closures that share a transaction. Both connections for those are held up by the wire until all closures of a
//! test wait, so that they share one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use store::{DbError, Store, Tx, params};
use tokio::task::JoinSet;

use crate::wire::{State, Wire};
use crate::{fresh_database, numbers, scratch};

/// One holds up the first connection, and as many as the second one waits for hold up that.
const BLOCKERS: i64 = 33;

type Closure = Box<dyn FnMut(&mut Tx<'_>) -> Result<(), DbError> + Send>;

/// Adds a number, and counts how often it is asked to.
fn adds(n: i64, runs: &Arc<AtomicU32>) -> Closure {
    let runs = runs.clone();
    Box::new(move |tx| {
        runs.fetch_add(1, Ordering::SeqCst);
        add(tx, n)
    })
}

fn add(tx: &mut Tx<'_>, n: i64) -> Result<(), DbError> {
    tx.add("insert into scratch (n, note) values (?1, ?2)", params![n, "added"])
}

async fn until(condition: impl Fn() -> bool) {
    let mut pace = tokio::time::interval(Duration::from_millis(1));
    let wait = async {
        while !condition() {
            pace.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), wait).await.expect("the store gets there");
}

/// Runs these closures in one group; what their callers hear, by their place.
async fn together(
    wire: &Wire,
    store: &Store,
    closures: Vec<Closure>,
) -> BTreeMap<usize, Result<(), DbError>> {
    together_but(wire, store, closures, &[]).await
}

/// The same; these callers hang up while their closures wait.
async fn together_but(
    wire: &Wire,
    store: &Store,
    closures: Vec<Closure>,
    leave: &[usize],
) -> BTreeMap<usize, Result<(), DbError>> {
    let queued = || store.metrics().queued.get();
    until(|| store.metrics().in_use.get() == 0 && queued() == 0).await;
    wire.set(State::Frozen);
    let mut blockers = JoinSet::new();
    for (in_use, numbers) in [(1, -BLOCKERS..1 - BLOCKERS), (2, 1 - BLOCKERS..0)] {
        for n in numbers {
            let held_up = store.clone();
            blockers.spawn(async move { held_up.tx_adding(move |tx| add(tx, n)).await });
        }
        until(|| store.metrics().in_use.get() == in_use && queued() == 0).await;
    }
    let (mut callers, all) = (Vec::new(), closures.len() as i64);
    for closure in closures {
        let store = store.clone();
        callers.push(tokio::spawn(async move { store.tx_adding(closure).await }));
    }
    until(|| queued() == all).await;
    leave.iter().for_each(|place| callers[*place].abort());
    let mut heard = BTreeMap::new();
    for place in leave {
        assert!((&mut callers[*place]).await.is_err(), "it has left");
    }
    wire.set(State::Open);
    for (place, caller) in callers.into_iter().enumerate() {
        if !leave.contains(&place) {
            heard.insert(place, caller.await.expect("a caller that stays"));
        }
    }
    for blocked in blockers.join_all().await {
        // A way that is cut may be cut before their answers have passed, or before what they say has.
        let cut = matches!(blocked, Err(DbError::Uncertain(_) | DbError::Unavailable(_)));
        assert!(blocked.is_ok() || cut, "{blocked:?}");
    }
    heard
}

async fn start() -> (String, Wire, Store) {
    let url = fresh_database().await;
    let wire = Wire::to(&url).await;
    let store = scratch(&wire.url, 1).await;
    (url, wire, store)
}

fn all_well(heard: &BTreeMap<usize, Result<(), DbError>>, but: &[usize]) {
    for (place, heard) in heard {
        assert_eq!(heard.is_ok(), !but.contains(place), "{place}: {heard:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_together_is_stored_with_one_statement_on_postgres() {
    let (url, wire, store) = start().await;
    let runs = Arc::<AtomicU32>::default();
    let (heard, seen) = wire.seen(together(&wire, &store, (0..200).map(|n| adds(n, &runs)).collect())).await;
    all_well(&heard, &[]);
    assert_eq!(runs.load(Ordering::SeqCst), 200, "nobody runs twice");
    assert_eq!(numbers(&url).await, (-BLOCKERS..200).collect::<Vec<i64>>());
    // Three transactions of BEGIN, an insert and COMMIT, and what two new sessions are told.
    assert!(seen.statements <= 3 * 3 + 2, "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_fails_fails_alone_on_postgres() {
    let (url, wire, store) = start().await;
    store.tx(|tx| add(tx, 50)).await.unwrap();
    let runs = Arc::<AtomicU32>::default();
    let heard = together(&wire, &store, (0..100).map(|n| adds(n, &runs)).collect()).await;
    all_well(&heard, &[50]);
    assert!(matches!(heard[&50], Err(DbError::Unique(_))), "{:?}", heard[&50]);
    assert_eq!(numbers(&url).await, (-BLOCKERS..100).collect::<Vec<i64>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_panics_or_is_refused_takes_nobody_along_on_postgres() {
    let (url, wire, store) = start().await;
    let runs = Arc::<AtomicU32>::default();
    let mut closures: Vec<Closure> = (0..20).map(|n| adds(n, &runs)).collect();
    closures[3] = Box::new(|tx| {
        add(tx, 1_000)?;
        panic!("a closure that fails on purpose")
    });
    closures[7] = Box::new(|tx| {
        add(tx, 1_001)?;
        Err(DbError::Internal("no".into()))
    });
    let heard = together(&wire, &store, closures).await;
    all_well(&heard, &[3, 7]);
    assert_eq!(heard[&7], Err(DbError::Internal("no".into())));
    assert_eq!(runs.load(Ordering::SeqCst), 18, "the others run once");
    let expected: Vec<i64> = (-BLOCKERS..20).filter(|n| ![3, 7].contains(n)).collect();
    assert_eq!(numbers(&url).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_wants_more_gets_a_transaction_of_its_own_on_postgres() {
    let (url, wire, store) = start().await;
    let runs = Arc::<AtomicU32>::default();
    let mut closures: Vec<Closure> = (0..20).map(|n| adds(n, &runs)).collect();
    closures[5] = Box::new(|tx| {
        add(tx, 100)?;
        let seen = tx.one::<i64>("select count(*) from scratch where n = 100", &[])?;
        assert_eq!(seen, Some(1), "it sees what it added");
        tx.later("update scratch set note = 'by itself' where n = 100", &[])
    });
    all_well(&together(&wire, &store, closures).await, &[]);
    let expected: Vec<i64> = (-BLOCKERS..20).filter(|n| *n != 5).chain([100]).collect();
    assert_eq!(numbers(&url).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_that_has_changed_is_seen_in_the_transaction_on_postgres() {
    let (url, wire, store) = start().await;
    store.migrate(|_, _, _| ()).await.unwrap();
    let tenant = domain::ids::Id::new(1, 1);
    store.of(tenant).tx(store::generations::endpoints_change).await.unwrap();
    let runs = Arc::<AtomicU32>::default();
    let mut closures: Vec<Closure> = (0..20).map(|n| adds(n, &runs)).collect();
    for (place, remembered) in [(4, 0), (9, 1)] {
        // One remembers what was before the change, the other what is now.
        closures[place] = Box::new(move |tx| {
            let number =
                if tx.again() { store::generations::endpoints(&mut tx.of(tenant))? } else { remembered };
            store::generations::endpoints_unchanged(&mut tx.of(tenant), number)?;
            add(tx, 100 + place as i64 * 10 + i64::try_from(number).unwrap())
        });
    }
    all_well(&together(&wire, &store, closures).await, &[]);
    let expected: Vec<i64> = (-BLOCKERS..20).filter(|n| ![4, 9].contains(n)).chain([141, 191]).collect();
    assert_eq!(numbers(&url).await, expected, "nothing that rests on the old number was stored");
    // The same in a transaction of its own.
    let runs = Arc::<AtomicU32>::default();
    let seen = runs.clone();
    let own = store.of(tenant).tx(move |tx| {
        let remembered = seen.fetch_add(1, Ordering::SeqCst).into();
        store::generations::endpoints_unchanged(tx, remembered)?;
        add(tx, 200 + remembered as i64)
    });
    own.await.unwrap();
    assert_eq!(numbers(&url).await.last(), Some(&201));
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_is_uncertain_for_all_and_nobody_runs_twice_on_postgres() {
    let (url, wire, store) = start().await;
    let runs = Arc::<AtomicU32>::default();
    let mut closures: Vec<Closure> = (0..20).map(|n| adds(n, &runs)).collect();
    closures[0] = Box::new(|tx| {
        tx.add("insert into scratch (n, note) values (?1, ?2)", params![0, "the-way-is-cut-here"])
    });
    wire.set_after("the-way-is-cut-here", State::Cut);
    let heard = together(&wire, &store, closures).await;
    for heard in heard.values() {
        assert!(matches!(heard, Err(DbError::Uncertain(_))), "{heard:?}");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 19);
    wire.set(State::Open);
    let stored = numbers(&url).await.into_iter().filter(|n| *n >= 0).count();
    assert!([0, 20].contains(&stored), "all or none: {stored}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_leaves_hurts_nobody_on_postgres() {
    let (url, wire, store) = start().await;
    let runs = Arc::<AtomicU32>::default();
    let closures = (0..20).map(|n| adds(n, &runs)).collect();
    all_well(&together_but(&wire, &store, closures, &[7]).await, &[]);
    assert_eq!(runs.load(Ordering::SeqCst), 20, "what was asked for is done");
    assert_eq!(numbers(&url).await, (-BLOCKERS..20).collect::<Vec<i64>>());
}

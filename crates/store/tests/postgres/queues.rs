//! Queues of nudges of many workspaces that one transaction changes.

use domain::ids::Id;
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use store::nudges::{self, QueueAddition};
use store::{DbError, Store};

use crate::wire::Wire;
use crate::{fresh_database, open, raw};

fn tenant(n: u128) -> Tenant {
    Id::new(1, n)
}

/// Nudges for the live queue of a workspace, within a limit of 10.
fn live(n: u128, before: Option<i64>, count: i64, look_at: Option<i64>) -> QueueAddition {
    let look_at = look_at.map(Timestamp);
    QueueAddition { workspace: tenant(n), mode: Mode::Live, before, count, look_at, limit: 10 }
}

/// Workspace, mode, nudges that wait, the next look, the version.
type Queue = (Tenant, Mode, i64, Option<i64>, i64);

async fn queues(store: &Store) -> Vec<Queue> {
    let sql =
        "select workspace, mode, pending, next_look, version from nudge_queues order by workspace, mode desc";
    store.read(move |tx| tx.all(sql, &[])).await.expect("queues")
}

async fn admit(store: &Store, added: Vec<QueueAddition>) -> Result<(), DbError> {
    store.tx(move |tx| nudges::admit_all(tx, &added)).await
}

/// A store with a queue of three nudges for each of these, in this order.
async fn filled(url: &str, added: &[(u128, Mode)]) -> Store {
    let (store, _) = open(url, 2);
    store.migrate(|_, _, _| ()).await.expect("a schema");
    for (n, mode) in added {
        let added = QueueAddition { mode: *mode, ..live(*n, None, 3, Some(500)) };
        admit(&store, vec![added]).await.expect("a queue");
    }
    store
}

#[tokio::test]
async fn queues_of_many_workspaces_are_changed_with_one_statement_on_postgres() {
    const OTHERS: u128 = 5;
    let url = fresh_database().await;
    let wire = Wire::to(&url).await;
    let store = filled(&wire.url, &[(1, Mode::Live), (1, Mode::Test)]).await;
    let all = |before: Option<i64>| -> Vec<QueueAddition> {
        let look = |n: u128| Some(if n == 2 { 900 } else { 100 });
        let others = (2..2 + OTHERS).map(|n| live(n, before, 1, look(n)));
        others.chain([live(1, Some(3), 2, Some(700))]).collect()
    };
    // Some are new, and one is not.
    admit(&store, all(None)).await.expect("all have room");
    let (done, seen) = wire.seen(admit(&store, all(Some(1)))).await;
    done.expect("all have room");
    assert_eq!((seen.statements, seen.turns), (3, 1), "BEGIN, the queues, COMMIT");
    let mut expected: Vec<Queue> = vec![
        // The other world of the workspace is not touched.
        (tenant(1), Mode::Test, 3, Some(500), 1),
        (tenant(1), Mode::Live, 7, Some(500), 3),
        (tenant(2), Mode::Live, 2, Some(900), 2),
    ];
    expected.extend((3..2 + OTHERS).map(|n| (tenant(n), Mode::Live, 2, Some(100), 2)));
    assert_eq!(queues(&store).await, expected);
}

#[tokio::test]
async fn a_queue_that_has_filled_up_leaves_all_as_they_were_on_postgres() {
    let url = fresh_database().await;
    let store = filled(&url, &[(1, Mode::Live), (2, Mode::Live)]).await;
    let before = queues(&store).await;
    let full = admit(&store, vec![live(1, Some(3), 7, None), live(2, Some(2), 8, None)]).await;
    // It ran again, to no avail.
    assert_eq!(full, Err(DbError::Unavailable("a queue of nudges has filled up".into())));
    assert_eq!(queues(&store).await, before);
    admit(&store, vec![live(1, Some(3), 7, None), live(2, Some(3), 1, None)]).await.expect("exactly full");
    let pending: Vec<i64> = queues(&store).await.into_iter().map(|queue| queue.2).collect();
    assert_eq!(pending, [10, 4]);
}

#[tokio::test]
async fn queues_are_taken_in_the_order_of_the_counters_on_postgres() {
    let url = fresh_database().await;
    // Neither the order in the table nor the one in the call.
    let places = [(3, Mode::Live), (2, Mode::Live), (2, Mode::Test), (1, Mode::Live)];
    let store = filled(&url, &places).await;
    let held = |n: u128, mode: Mode, how: &str| {
        let which = format!("workspace = '{}' and mode = '{}'", tenant(n), mode.as_str());
        format!("select 1 from nudge_queues where {which} for update {how}")
    };
    let (holder, other) = (raw(&url).await, raw(&url).await);
    holder.batch_execute("begin").await.expect("a transaction");
    holder.batch_execute(&held(2, Mode::Live, "")).await.expect("the queue");
    let added: Vec<QueueAddition> =
        places.iter().map(|(n, mode)| QueueAddition { mode: *mode, ..live(*n, Some(3), 1, None) }).collect();
    let admitting = tokio::spawn({
        let store = store.clone();
        async move { admit(&store, added).await }
    });
    let waits = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    while other.query_one(waits, &[]).await.expect("a count").get::<_, i64>(0) == 0 {}
    for (n, mode, taken) in [(1, Mode::Live, true), (2, Mode::Test, true), (3, Mode::Live, false)] {
        let refused = other.batch_execute(&held(n, mode, "nowait")).await.is_err();
        assert_eq!(refused, taken, "{n} {mode:?}");
    }
    holder.batch_execute("rollback").await.expect("the end");
    admitting.await.expect("a task").expect("all have room");
    assert!(queues(&store).await.iter().all(|queue| queue.2 == 4));
}

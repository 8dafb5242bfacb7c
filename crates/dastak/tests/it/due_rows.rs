//! Rows that are due and that any node may work: on a shared store each is fetched by one node.

use std::sync::mpsc;

use app::due_rows::{self, DueRow};
use domain::time::{SECOND, Timestamp};
use serde_json::{Value, json};
use store::Tx;

use crate::app::{TestApp, needs_postgres};
use crate::scheduled_calls::{MINUTE, MORNING, assert_scheduled};
use crate::world::World;

type ScheduledCall = app::scheduled_calls::Due;

/// What a node takes at this moment.
async fn taken<D: DueRow>(app: &TestApp) -> Vec<D> {
    due_rows::take::<D>(app.app()).await.unwrap()
}

/// Scheduled calls that are due at a node that is out of service, so that nobody tries them.
async fn with_due(count: usize) -> (World, Vec<String>) {
    let world = World::morning().await;
    world.app.operator("POST", "/node/drain", &Value::Null).await.expect(200);
    let mut ids = Vec::new();
    for number in 0..count {
        ids.push(world.schedule(&format!("+91981234567{number}"), MORNING).await);
    }
    world.advance(MINUTE).await;
    (world, ids)
}

#[tokio::test]
async fn what_a_node_has_claimed_others_work_when_its_claim_is_over_on_postgres() {
    needs_postgres();
    let (world, ids) = with_due(3).await;
    let app = &world.app;
    let mut claimed: Vec<String> =
        taken::<ScheduledCall>(app).await.iter().map(|due| due.id.to_string()).collect();
    claimed.sort();
    assert_eq!((claimed, taken::<ScheduledCall>(app).await), (ids.clone(), vec![]));
    let now = app.app().clock.now();
    assert_eq!(due_rows::next_due::<ScheduledCall>(app.app()).await.unwrap(), Some(now.plus(30 * SECOND)));
    // The node that claimed them is gone, and this one looks.
    app.operator("POST", "/node/undrain", &Value::Null).await.expect(200);
    app.advance(29).await;
    for id in &ids {
        assert_scheduled(
            &world.scheduled(id).await,
            "scheduled",
            Value::Null,
            0,
            json!("2027-01-05T04:30:00.000Z"),
        );
    }
    app.advance(1).await;
    for id in &ids {
        assert_scheduled(&world.scheduled(id).await, "placed", Value::Null, 1, Value::Null);
    }
}

#[tokio::test]
async fn a_node_passes_over_what_another_one_is_about_to_claim_on_postgres() {
    needs_postgres();
    let (world, ids) = with_due(3).await;
    let (locked, wait_locked) = tokio::sync::oneshot::channel();
    let (release, released) = mpsc::channel::<()>();
    let (store, now) = (world.app().store.clone(), world.app().clock.now());
    let (mut locked, released) = (Some(locked), std::sync::Mutex::new(released));
    let claim = move |tx: &mut Tx<'_>| {
        let found = ScheduledCall::due(tx, now, &[], 2)?;
        if let Some(locked) = locked.take() {
            let _ = locked.send(());
            let _ = released.lock().unwrap().recv();
        }
        found.iter().try_for_each(|due| due.claim(tx, now.plus(MINUTE * SECOND)))?;
        Ok::<_, store::DbError>(found)
    };
    let other = tokio::spawn(async move { store.tx(claim).await });
    wait_locked.await.unwrap();
    let mine = taken::<ScheduledCall>(&world.app).await;
    release.send(()).unwrap();
    let mut all: Vec<String> =
        mine.iter().chain(&other.await.unwrap().unwrap()).map(|due| due.id.to_string()).collect();
    all.sort();
    assert_eq!((mine.len(), all), (1, ids));
}

#[tokio::test]
async fn a_claim_ends_with_what_is_saved_of_its_row() {
    let chats = crate::chats::Chats::open().await;
    chats.session().await;
    let app = chats.app.app();
    let now = app.clock.now();
    let claims = async || {
        let sql = "select claimed_until from chats";
        app.store.read(move |tx| tx.all::<Option<Timestamp>>(sql, &[])).await.unwrap()
    };
    // Nobody is woken by this.
    let due = "update chats set next_at = ?1";
    app.store.tx(move |tx| tx.exec(due, store::params![now])).await.unwrap();
    let claimed = taken::<::chats::Due>(&chats.app).await;
    assert_eq!(claimed.len(), 1);
    if app.store.shared() {
        assert_eq!(claims().await, [Some(now.plus(30 * SECOND))]);
        assert_eq!(taken::<::chats::Due>(&chats.app).await, []);
    }
    ::chats::look_after(app, claimed[0]).await.unwrap();
    assert_eq!(claims().await, [None]);
    assert_eq!(taken::<::chats::Due>(&chats.app).await, []);
}

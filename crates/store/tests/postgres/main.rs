//! The engine on PostgreSQL: how often it asks the server, and what it does when the server is silent or gone.
//! The tests need a server; runs without one skip them by their names.

// The server is a real one, and lives in real time.
#![allow(clippy::disallowed_methods)]

mod counters;
mod faults;
mod groups;
mod meddler;
mod partitions;
mod probes;
mod queues;
mod replica;
mod schema;
mod statistics;
mod together;
mod trips;
mod wakes;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use store::db::Wake;
use store::{DbError, Settings, Store, WakeSet};

static SERIAL: AtomicU32 = AtomicU32::new(0);

/// An empty database.
pub async fn fresh_database() -> String {
    let server = std::env::var("TEST_POSTGRES_URL")
        .expect("TEST_POSTGRES_URL names the PostgreSQL server of the tests; use `make test`");
    let prefix = std::env::var("TEST_DATABASE_PREFIX").unwrap_or_default();
    let name = format!("{prefix}s{}_{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed));
    raw(&server).await.batch_execute(&format!("create database {name}")).await.expect("a fresh database");
    let (base, _) = server.rsplit_once('/').expect("a URL");
    format!("{base}/{name}")
}

/// A session past the store.
pub async fn raw(url: &str) -> tokio_postgres::Client {
    let (client, connection) =
        tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("the server of the tests answers");
    tokio::spawn(connection);
    client
}

/// What the server's nodes wake each other with: `TEST_DATABASE_WAKE` (`scripts/engine.sh`), notifications without it.
pub fn wake() -> Wake {
    match std::env::var("TEST_DATABASE_WAKE").as_deref() {
        Err(_) | Ok("listen") => Wake::Listen,
        Ok("poll") => Wake::Poll,
        Ok(other) => panic!("TEST_DATABASE_WAKE is listen or poll, not {other}"),
    }
}

/// A store with so many connections for writing, and what wakes its jobs.
pub fn open(url: &str, connections: usize) -> (Store, Arc<AtomicU32>) {
    open_with(url, connections, wake())
}

fn open_with(url: &str, connections: usize, wake: Wake) -> (Store, Arc<AtomicU32>) {
    let woken = Arc::new(AtomicU32::new(0));
    let seen = woken.clone();
    let settings = Settings::Postgres { url: url.into(), connections, ca: None, wake, replica: None };
    let on_wake = Arc::new(move |topics: WakeSet| {
        seen.fetch_or(topics.0, Ordering::SeqCst);
    });
    (Store::open(&settings, on_wake).expect("a store"), woken)
}

/// A store with a table of numbers. It has no session for wake-ups: nothing passes on its way but what a test asks for.
pub async fn scratch(url: &str, connections: usize) -> Store {
    let (store, _) = open_with(url, connections, Wake::Poll);
    store
        .tx(|tx| {
            let sql =
                "create table if not exists scratch (n bigint primary key, note text not null default '')";
            tx.exec(sql, &[]).map(|_| ())
        })
        .await
        .expect("a table");
    store
}

/// The numbers that were stored, as somebody else sees them.
pub async fn numbers(url: &str) -> Vec<i64> {
    let rows = raw(url).await.query("select n from scratch order by n", &[]).await.expect("numbers");
    rows.iter().map(|row| row.get(0)).collect()
}

/// Adds a number.
pub fn add(n: i64) -> impl FnMut(&mut store::Tx<'_>) -> Result<(), DbError> + Send + 'static {
    move |tx| tx.later("insert into scratch (n) values (?1)", store::params![n])
}

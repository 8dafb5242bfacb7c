//! The version of the schema, as nodes of several versions see it.

use store::{DbError, Store, Tx};
use tokio_postgres::Client;

use crate::{fresh_database, open, raw};

/// Takes back what came after the weeks.
pub async fn back_to_weeks(server: &Client) {
    for table in ["campaigns", "channel_messages"] {
        server.batch_execute(&format!("alter table {table} drop column trace")).await.expect("a column");
    }
    let index = "create index nudges_that_wait on nudges (workspace, mode, id) where open = 1";
    server.batch_execute(index).await.expect("an index");
    server.batch_execute("drop table recording_uploads").await.expect("a table");
    for table in TRACED {
        server.batch_execute(&format!("alter table {table} drop column trace")).await.expect("a column");
    }
    let newer = "delete from schema_version where version > (select version from schema_version where name = 'weeks')";
    server.batch_execute(newer).await.expect("the steps");
}

/// Tables that one step changes, in its order.
const TRACED: [&str; 4] = ["events", "nudges", "calls", "scheduled_calls"];

/// A store whose schema lacks what came after the weeks, with a session past it, and somebody who has read this table in a
/// transaction that stays open.
async fn with_a_long_reader(table: &str) -> (Store, Client, Client) {
    let url = fresh_database().await;
    let (store, _) = open(&url, 2);
    store.migrate(|_, _, _| ()).await.expect("the schema");
    let (server, reader) = (raw(&url).await, raw(&url).await);
    back_to_weeks(&server).await;
    reader.batch_execute(&format!("begin; select count(*) from {table}")).await.expect("a long transaction");
    (store, server, reader)
}

async fn until(server: &Client, sql: &str, upgrade: &tokio::task::JoinHandle<()>) {
    while !server.query_one(sql, &[]).await.expect("a look").get::<_, bool>(0) {
        assert!(!upgrade.is_finished(), "it waits for the reader");
        tokio::task::yield_now().await;
    }
}

fn upgrade(store: &Store) -> tokio::task::JoinHandle<()> {
    let store = store.clone();
    tokio::spawn(async move { drop(store.migrate(|_, _, _| ()).await.expect("the upgrade")) })
}

/// Somebody writes while the upgrade waits.
async fn writes(store: &Store, table: &'static str) -> Result<(), DbError> {
    let sql = format!("update {table} set workspace = workspace where workspace = 'nobody'");
    store.tx(move |tx: &mut Tx<'_>| tx.exec(&sql, &[]).map(|_| ())).await
}

/// While others are upgraded, a node of the version before serves on; one of the new version waits for its steps.
#[tokio::test]
async fn a_newer_schema_serves_and_an_older_one_does_not_on_postgres() {
    let url = fresh_database().await;
    let (store, _) = open(&url, 1);
    store.migrate(|_, _, _| ()).await.expect("the schema");
    store.ready().await.expect("the schema of this program");
    let aside = raw(&url).await;
    let step =
        "insert into schema_version (version, name) select max(version) + 1, 'newer' from schema_version";
    aside.batch_execute(step).await.expect("a newer schema");
    store.ready().await.expect("a newer schema serves");
    let back = "delete from schema_version where version > (select max(version) - 2 from schema_version)";
    aside.batch_execute(back).await.expect("an older schema");
    let why = store.ready().await.expect_err("steps are missing").to_string();
    assert!(why.contains("dastak migrate"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_is_added_while_somebody_reads_for_long_and_others_write_on_postgres() {
    for (place, table) in TRACED.into_iter().enumerate() {
        let (store, server, reader) = with_a_long_reader(table).await;
        let upgrade = upgrade(&store);
        let waits = format!(
            "select exists (select 1 from pg_locks where relation = to_regclass('{table}') and mode = 'AccessExclusiveLock' and not granted)"
        );
        until(&server, &waits, &upgrade).await;
        // Nobody waits for longer than it does, however often; and it holds no table while it waits for another.
        for _ in 0..3 {
            until(&server, &waits, &upgrade).await;
            for other in TRACED {
                writes(&store, other).await.expect("others write");
            }
        }
        let done = "select count(*) from pg_attribute \
                    where attrelid = any(array['events', 'nudges', 'calls', 'scheduled_calls']::regclass[]) and attname = 'trace' and not attisdropped";
        assert_eq!(server.query_one(done, &[]).await.expect("a count").get::<_, i64>(0), place as i64);
        reader.batch_execute("commit").await.expect("its end");
        upgrade.await.expect("the upgrade");
        assert_eq!(server.query_one(done, &[]).await.expect("a count").get::<_, i64>(0), 4);
        store.ready().await.expect("the schema of this program");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_is_dropped_while_somebody_reads_for_long_and_others_write_on_postgres() {
    let (store, server, reader) = with_a_long_reader("flows").await;
    // No step after the weeks changes this table; the columns are no matter of this test.
    let upgrade = upgrade(&store);
    until(&server, "select to_regclass('nudges_that_wait') is null", &upgrade).await;
    upgrade.await.expect("it wants nothing of other tables");
    reader.batch_execute("commit").await.expect("its end");
    let back = "delete from schema_version where version >= (select version from schema_version where name = 'nudges_that_wait'); \
                create index nudges_that_wait on nudges (workspace, mode, id) where open = 1";
    server.batch_execute(back).await.expect("the index again");
    reader.batch_execute("begin; select count(*) from nudges").await.expect("a long transaction");
    let upgrade = self::upgrade(&store);
    // From then on no new statement uses it, and it waits for those that may.
    let left = "select not indisvalid from pg_index where indexrelid = to_regclass('nudges_that_wait')";
    until(&server, left, &upgrade).await;
    for _ in 0..3 {
        writes(&store, "nudges").await.expect("others write");
    }
    reader.batch_execute("commit").await.expect("its end");
    upgrade.await.expect("the upgrade");
    let gone = "select to_regclass('nudges_that_wait') is null";
    assert!(server.query_one(gone, &[]).await.expect("a look").get::<_, bool>(0));
}

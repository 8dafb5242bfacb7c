//! Tables that are kept in weeks: where rows land, what is dropped, and how an older table becomes one of these while
//! others write.

use std::collections::BTreeSet;

use domain::ids::{Delivery, Event, Id, WebhookEndpoint};
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, Timestamp};
use store::partitions::{self, AHEAD, PartitionedTable, WEEK, week_of};
use store::{DbError, Store, Tx, deliveries, erasure, events, params};
use tokio_postgres::Client;

use crate::{fresh_database, open, raw};

/// A store with the newest schema, a session past it, and what the server's clock says.
async fn migrated() -> (Store, Client, Timestamp, String) {
    let url = fresh_database().await;
    let (store, _) = open(&url, 2);
    store.migrate(|_, _, _| ()).await.expect("the schema");
    let server = raw(&url).await;
    let now = server
        .query_one("select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)", &[])
        .await
        .expect("the time")
        .get(0);
    (store, server, Timestamp(now), url)
}

fn tenant() -> Tenant {
    Id::new(1, 1)
}

fn endpoint() -> Id<WebhookEndpoint> {
    Id::new(1, 2)
}

/// Adds an event of a moment about a person, with its delivery.
fn add(tx: &mut Tx<'_>, at: Timestamp, random: u128) -> Result<(), DbError> {
    let (id, kind, mode): (Id<Event>, _, _) = (Id::new(at.0, random), "call.started", Mode::Live);
    let row = events::NewEventRow {
        id,
        kind,
        mode,
        agent: None,
        contact: Some("con_one"),
        envelope: "{\"who\":1}",
        transcript: None,
        created_at: at,
    };
    events::insert(&mut tx.of(tenant()), row)?;
    let row =
        deliveries::NewDelivery { endpoint: endpoint(), event: id, kind, mode, created_at: at, lease: None };
    deliveries::insert(&mut tx.of(tenant()), row)
}

async fn add_all(store: &Store, moments: &[Timestamp]) {
    let moments = moments.to_vec();
    let work =
        move |tx: &mut Tx<'_>| moments.iter().enumerate().try_for_each(|(n, at)| add(tx, *at, n as u128));
    store.tx(work).await.expect("rows");
}

/// Rows of each part that has some.
async fn filled(server: &Client, table: &str) -> Vec<(String, i64)> {
    let sql = format!("select cast(tableoid::regclass as text), count(*) from {table} group by 1 order by 1");
    server.query(&sql, &[]).await.expect("rows").iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn names(store: &Store, table: PartitionedTable) -> BTreeSet<String> {
    let parts = store.read(move |tx| partitions::list(tx, table)).await.expect("parts");
    parts.into_iter().map(|part| part.name).collect()
}

async fn warnings(store: &Store, now: Timestamp) -> Vec<String> {
    store.read(move |tx| partitions::warnings(tx, now)).await.expect("a look")
}

fn name(table: &str, week: Timestamp) -> String {
    format!("{table}_{}", week.to_string()[..10].replace('-', ""))
}

/// Events of the tenant, a few at a time.
async fn walk(store: &Store) -> Vec<Id<Event>> {
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let from = after.clone();
        let page =
            store.read(move |tx| events::list_after(&mut tx.of(tenant()), &from, 3)).await.expect("a page");
        let Some(last) = page.last() else { return seen };
        after = last.id.to_string();
        seen.extend(page.iter().map(|row| row.id));
    }
}

#[tokio::test]
async fn rows_land_in_their_weeks_and_lists_cross_them_on_postgres() {
    let (store, server, now, _) = migrated().await;
    assert_eq!(warnings(&store, now).await, Vec::<String>::new());
    let first = week_of(now);
    let moments: Vec<Timestamp> =
        (0..=AHEAD).flat_map(|week| [first.plus(week * WEEK), first.plus((week + 1) * WEEK - 1)]).collect();
    add_all(&store, &moments).await;
    for table in ["events", "deliveries"] {
        let expected: Vec<(String, i64)> =
            (0..=AHEAD).map(|week| (name(table, first.plus(week * WEEK)), 2)).collect();
        assert_eq!(filled(&server, table).await, expected);
    }
    let seen = walk(&store).await;
    assert_eq!(
        seen.iter().map(Id::unix_ms).collect::<Vec<_>>(),
        moments.iter().map(|at| at.0).collect::<Vec<_>>()
    );
    // The log, newest first, in pages of three.
    let (mut log, mut before) = (Vec::new(), "whd_~".to_owned());
    loop {
        let from = before.clone();
        let look = move |tx: &mut Tx<'_>| {
            let wanted = (Mode::Live, &deliveries::Filter::default());
            deliveries::list(&mut tx.of(tenant()), endpoint(), wanted, ("", &from), 3, 100)
        };
        let (page, next) = store.read(look).await.expect("a page");
        log.extend(page.into_iter().map(|row| (row.id.unix_ms(), row.envelope.is_some())));
        match next {
            Some(next) => before = next,
            None => break,
        }
    }
    assert_eq!(log, moments.iter().rev().map(|at| (at.0, true)).collect::<Vec<_>>());
    // What is due is found in all of them, and what is noted in one round is, too.
    let due = store.tx(|tx| deliveries::waiting(tx, endpoint(), 100)).await.expect("due");
    assert_eq!(due.len(), moments.len());
    let noted: Vec<deliveries::RecordedAttempt> = due
        .iter()
        .map(|row| deliveries::RecordedAttempt {
            key: deliveries::Key { tenant: row.tenant, endpoint: row.endpoint, id: row.id },
            round: 0,
            attempt: "{}".into(),
            after: deliveries::AttemptResult::Succeeded(now),
        })
        .collect();
    store.tx(move |tx| deliveries::record_all(tx, &noted)).await.expect("outcomes");
    let left = "select count(*) from deliveries where status <> 'succeeded' or attempts <> '{}'";
    assert_eq!(server.query_one(left, &[]).await.expect("a count").get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_row_of_a_week_that_nobody_made_is_stored_on_postgres() {
    let (store, server, now, _) = migrated().await;
    let first = week_of(now);
    // A clock that was wrong, and an installation in which nobody has made weeks for long.
    let (old, far) = (first.plus(-10 * WEEK), first.plus((AHEAD + 3) * WEEK));
    add_all(&store, &[old, far, now]).await;
    assert_eq!(filled(&server, "events").await, [(name("events", first), 1), ("events_rest".into(), 2)]);
    assert_eq!(walk(&store).await.len(), 3);
    // The week of which the rest holds rows is not made; the others are, and the operator is told.
    let later = far.plus(-WEEK);
    assert_eq!(warnings(&store, later).await.len(), 2, "both tables");
    let kept = partitions::maintain(&store, later, Timestamp(0)).await.expect("weeks");
    assert_eq!(kept, partitions::PartitionChanges { created: 2 * AHEAD as u64, dropped: 0 });
    let told = warnings(&store, later).await;
    assert!(told[0].contains(&far.to_string()[..10]) && told[0].contains("deliveries_rest"), "{told:?}");
    assert_eq!(walk(&store).await.len(), 3);
    // It is cleared row by row; then its week can be made.
    let swept =
        store.read(|tx| partitions::swept_by_row(tx, PartitionedTable::Events)).await.expect("tables");
    assert_eq!(swept, ["events_rest"]);
    let before = PartitionedTable::Events.bound(far.plus(1));
    let gone = store
        .tx(move |tx| events::sweep(&mut tx.of(tenant()), "events_rest", &before, 10))
        .await
        .expect("a sweep");
    assert_eq!(gone, 2);
    let kept = partitions::maintain(&store, later, Timestamp(0)).await.expect("weeks");
    assert_eq!(kept.created, 1, "that of events");
    assert_eq!(warnings(&store, later).await.len(), 1, "that of deliveries is still held");
}

#[tokio::test]
async fn weeks_that_are_over_are_dropped_and_others_stay_on_postgres() {
    let (store, server, now, _) = migrated().await;
    let first = week_of(now);
    let moments: Vec<Timestamp> = (0..4).map(|week| first.plus(week * WEEK + DAY)).collect();
    add_all(&store, &moments).await;
    // The second week ends a millisecond later than that.
    let before = first.plus(2 * WEEK - 1);
    let kept = partitions::maintain(&store, now.plus(6 * WEEK), before).await.expect("weeks");
    assert_eq!(kept.dropped, 2, "the first week of both tables");
    assert_eq!(
        walk(&store).await.iter().map(Id::unix_ms).collect::<Vec<_>>(),
        moments[1..].iter().map(|at| at.0).collect::<Vec<_>>()
    );
    assert_eq!(filled(&server, "deliveries").await.len(), 3);
    let kept = partitions::maintain(&store, now.plus(6 * WEEK), before.plus(1)).await.expect("weeks");
    assert_eq!(kept, partitions::PartitionChanges { created: 0, dropped: 2 });
    // Years later: nothing but the weeks to come and the rest.
    let later = now.plus(3 * 52 * WEEK);
    partitions::maintain(&store, later, later.plus(-30 * DAY)).await.expect("weeks");
    for table in PartitionedTable::ALL {
        let mut expected: BTreeSet<String> =
            (0..=AHEAD).map(|week| name(table.table(), week_of(later).plus(week * WEEK))).collect();
        expected.insert(format!("{}_rest", table.table()));
        assert_eq!(names(&store, table).await, expected);
    }
}

#[tokio::test]
async fn two_nodes_make_each_week_once_on_postgres() {
    let (one, _, now, url) = migrated().await;
    let (two, _) = open(&url, 2);
    for round in 1..=5 {
        let later = now.plus(round * 3 * WEEK);
        let before = later.plus(-30 * DAY);
        let (first, second) = tokio::join!(
            partitions::maintain(&one, later, before),
            partitions::maintain(&two, later, before)
        );
        let created = first.expect("it does not fail").created + second.expect("nor does this").created;
        assert_eq!(created, 2 * 3);
        assert_eq!(warnings(&two, later).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn an_erasure_reaches_every_week_on_postgres() {
    let (store, server, now, _) = migrated().await;
    let first = week_of(now);
    let moments: Vec<Timestamp> = (-12..8).map(|week| first.plus(week * WEEK + DAY)).collect();
    add_all(&store, &moments).await;
    assert!(filled(&server, "events").await.len() > AHEAD as usize);
    let work = |tx: &mut Tx<'_>| {
        let found = erasure::events_of_subject(&mut tx.of(tenant()), "con_one", "", 1_000)?;
        found.iter().try_for_each(|id| erasure::empty_event(&mut tx.of(tenant()), *id))?;
        Ok::<_, DbError>(found.len())
    };
    assert_eq!(store.tx(work).await.expect("an erasure"), moments.len());
    let left = "select count(*) from events where envelope is not null";
    assert_eq!(server.query_one(left, &[]).await.expect("a count").get::<_, i64>(0), 0);
}

/// Makes the tables of the version before, with rows of the last days.
async fn back(server: &Client, now: Timestamp, rows: i64) {
    // What came after the weeks goes first.
    crate::schema::back_to_weeks(server).await;
    let newer = "delete from schema_version where version >= (select version from schema_version where name = 'weeks')";
    server.batch_execute(newer).await.expect("the steps");
    for table in ["events", "deliveries"] {
        server
            .batch_execute(&format!(
                "create table older (like {table} including defaults including indexes); drop table {table};
                 alter table older rename to {table}"
            ))
            .await
            .expect("a plain table");
    }
    let fill = "with made as (
            insert into events (workspace, id, type, mode, envelope, created_at)
            select $1, 'evt_' || lpad(n::text, 26, '0'), 'call.started', 'live', '{}', $2 from generate_series(1, $3::bigint) n returning id
        )
        insert into deliveries (endpoint, id, workspace, event, type, status, attempts, round, round_at, made, leased, created_at)
        select $4, replace(id, 'evt', 'whd'), $1, id, 'call.started', 'pending', '', 0, 0, 0, 0, $2 from made";
    let (workspace, whe) = (tenant().to_string(), endpoint().to_string());
    server.execute(fill, &[&workspace, &now.0, &rows, &whe]).await.expect("rows");
}

/// The files of a table's rows and of its key.
async fn files(server: &Client, table: &str) -> Vec<i64> {
    let sql = "select cast(pg_relation_filenode(c.oid) as bigint) from pg_class c where c.oid = to_regclass($1) \
               union all select cast(pg_relation_filenode(indexrelid) as bigint) from pg_index where indrelid = to_regclass($1) order by 1";
    server.query(sql, &[&table]).await.expect("files").iter().map(|row| row.get(0)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_table_becomes_one_of_weeks_while_others_write_on_postgres() {
    let (store, server, now, url) = migrated().await;
    back(&server, now, 3_000).await;
    let before = [files(&server, "events").await, files(&server, "deliveries").await];
    // A node of the version before: it has prepared its statements.
    let older = raw(&url).await;
    let insert = older
        .prepare("insert into events (workspace, id, type, mode, envelope, created_at) values ($1, $2, 'call.started', 'live', '{}', 0)")
        .await
        .expect("a statement");
    let deliver = older
        .prepare("insert into deliveries (endpoint, id, workspace, event, type, status, attempts, round, round_at, made, leased, created_at) \
                  values ($1, $2, $3, $2, 'call.started', 'pending', '', 0, 0, 0, 0, 0)")
        .await
        .expect("a statement");
    let update = older
        .prepare("update deliveries set attempts = attempts || 'x' where workspace = $1 and endpoint = $2 and id = $3")
        .await
        .expect("a statement");
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    let (begun, mut first) = tokio::sync::watch::channel(0u64);
    let writer = tokio::spawn(async move {
        let (workspace, whe, mut written) = (tenant().to_string(), endpoint().to_string(), 0);
        while !*stopped.borrow_and_update() {
            let event = Id::<Event>::new(now.0 + written as i64, u128::from(written));
            let delivery = Id::<Delivery>::from_bits(event.bits()).to_string();
            older.execute(&insert, &[&workspace, &event.to_string()]).await.expect("an event");
            older.execute(&deliver, &[&whe, &delivery, &workspace]).await.expect("a delivery");
            let changed = older.execute(&update, &[&workspace, &whe, &delivery]).await.expect("an attempt");
            assert_eq!(changed, 1);
            written += 1;
            begun.send_replace(written);
        }
        (written, older)
    });
    first.wait_for(|written| *written > 20).await.expect("a writer");
    let made = store.migrate(|_, _, _| ()).await.expect("the upgrade");
    assert_eq!(made.first().map(|step| step.name), Some("weeks"));
    let then = *first.borrow_and_update();
    first.wait_for(|written| *written > then + 20).await.expect("it goes on");
    stop.send_replace(true);
    let (written, older) = writer.await.expect("a writer");
    for table in ["events", "deliveries"] {
        let count = format!("select count(*) from {table}");
        let rows = server.query_one(&count, &[]).await.expect("a count").get::<_, i64>(0);
        assert_eq!(rows, 3_000 + written as i64, "{table}");
    }
    // Nothing was copied, no index was made again, and no promise is left.
    assert_eq!([files(&server, "events_before").await, files(&server, "deliveries_before").await], before);
    let promises = "select count(*) from pg_constraint where contype = 'c' and conrelid in (to_regclass('events_before'), to_regclass('deliveries_before'))";
    assert_eq!(server.query_one(promises, &[]).await.expect("a count").get::<_, i64>(0), 0);
    assert_eq!(warnings(&store, now).await, Vec::<String>::new());
    // The older node takes what is due, and what it writes weeks later lands in the weeks.
    let due = "select d.id from deliveries d where d.endpoint = $1 and d.due_at is null and d.status = 'pending' \
               order by d.id limit 10 for update of d skip locked";
    assert_eq!(older.query(due, &[&endpoint().to_string()]).await.expect("due").len(), 10);
    add_all(&store, &[now.plus(3 * WEEK)]).await;
    let filled = filled(&server, "events").await;
    assert_eq!(filled.len(), 2, "{filled:?}");
    // All of it is cleared row by row as long as it is there, and dropped when its last week is over.
    let swept =
        store.read(|tx| partitions::swept_by_row(tx, PartitionedTable::Events)).await.expect("tables");
    assert_eq!(swept, ["events_before"]);
    let end = week_of(now).plus(2 * WEEK);
    assert_eq!(partitions::maintain(&store, now, end.plus(-1)).await.expect("weeks").dropped, 0);
    assert_eq!(partitions::maintain(&store, now, end).await.expect("weeks").dropped, 2);
    assert_eq!(walk(&store).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_waits_for_a_long_transaction_without_holding_up_the_others_on_postgres() {
    let (store, server, now, url) = migrated().await;
    back(&server, now, 100).await;
    let dump = raw(&url).await;
    dump.batch_execute("begin; select count(*) from events").await.expect("a long transaction");
    let upgrade = tokio::spawn({
        let store = store.clone();
        async move { store.migrate(|_, _, _| ()).await }
    });
    // It has done the first table, and waits for the second.
    let waits = "select count(*) from pg_locks where mode = 'AccessExclusiveLock' and not granted";
    let done = "select count(*) from pg_class where relname = 'deliveries' and relkind = 'p'";
    for wanted in [done, waits] {
        while server.query_one(wanted, &[]).await.expect("a look").get::<_, i64>(0) == 0 {
            assert!(!upgrade.is_finished(), "it waits for the dump");
        }
    }
    // Behind it others wait for a moment only: it lets them pass and comes again.
    let at = now.plus(1);
    let insert = move |tx: &mut Tx<'_>| {
        tx.exec(
            "insert into events (workspace, id, type, mode, created_at) values (?1, ?2, 'call.started', 'live', 0)",
            params![tenant(), Id::<Event>::new(at.0, 7)],
        )
    };
    store.tx(insert).await.expect("others write");
    dump.batch_execute("commit").await.expect("its end");
    upgrade.await.expect("a task").expect("the upgrade");
    assert_eq!(warnings(&store, now).await, Vec::<String>::new());
    let rows = server.query_one("select count(*) from events", &[]).await.expect("a count").get::<_, i64>(0);
    assert_eq!(rows, 101);
}

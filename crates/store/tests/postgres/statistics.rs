//! What the server knows of a table that has grown.

use domain::campaign::RowState;
use domain::ids::{
    Campaign, ChannelConnection, ChannelMessage, ChannelNotification, ChannelThread, Contact, Id, ListRow,
    Nudge,
};
use domain::tenant::{Mode, Tenant};
use store::campaigns::{list, staged};
use store::{DbError, Store, Tx, channel_inbox, channel_messages, nudges, statistics};
use tokio_postgres::Client;

use crate::{fresh_database, open, raw, scratch};

/// Rows and entries of indexes of a table that were read so far. A session tells the server what it has read from time to
/// time, and everything at once: the rows that it adds last here are told of together with what it did before.
async fn read_of(store: &Store, server: &Client, table: &str) -> i64 {
    let told = format!("told_{table}");
    server.batch_execute(&format!("create table if not exists {told} (n bigint)")).await.expect("a table");
    let added = format!("select n_tup_ins from pg_stat_user_tables where relname = '{told}'");
    let before: i64 = server.query_one(&added, &[]).await.expect("a count").get(0);
    loop {
        let add = format!("insert into {told} values (1)");
        store.tx(move |tx| tx.exec(&add, &[])).await.expect("a row");
        if server.query_one(&added, &[]).await.expect("a count").get::<_, i64>(0) > before {
            break;
        }
    }
    let read = "select (sum(i.idx_tup_read) + max(t.seq_tup_read))::bigint from pg_stat_user_tables t \
                join pg_stat_user_indexes i using (relid) where t.relname = $1::text";
    server.query_one(read, &[&table]).await.expect("counts").get(0)
}

/// Adds a workspace.
pub fn workspace(tenant: Tenant) -> String {
    format!(
        "insert into workspaces (id, name, kyb_verified, suspended, currency, cost_per_minute, cost_per_chat, \
         marketing_opt_in_rule, features, limits, balance, reserved, ledger_seq, low_level, created_at) \
         values ('{tenant}', 'a', 1, 0, 'INR', 0, 0, 0, '[]', '{{}}', 0, 0, 0, 0, 0)"
    )
}

#[tokio::test]
async fn a_table_that_has_grown_is_looked_at_on_postgres() {
    let url = fresh_database().await;
    let (store, server) = (scratch(&url, 2).await, raw(&url).await);
    server
        .batch_execute("insert into scratch select n, '' from generate_series(1, 2000) n")
        .await
        .expect("rows");
    // The server counts what was changed in its own time.
    loop {
        statistics::refresh(&store).await.expect("statistics");
        let known = "select reltuples::bigint from pg_class where relname = 'scratch'";
        if server.query_one(known, &[]).await.expect("the table").get::<_, i64>(0) == 2000 {
            break;
        }
    }
    let seen = "select last_analyze is not null from pg_stat_user_tables where relname = 'scratch'";
    assert!(server.query_one(seen, &[]).await.expect("the table").get::<_, bool>(0));
}

#[tokio::test]
async fn live_nudges_are_looked_up_one_by_one_whatever_is_known_of_their_table_on_postgres() {
    const NUDGES: u128 = 2_000;
    let url = fresh_database().await;
    let (store, server) = (open(&url, 1).0, raw(&url).await);
    store.migrate(|_, _, _| ()).await.expect("a schema");
    // Nobody looks at the table.
    server.batch_execute("alter table nudges set (autovacuum_enabled = off)").await.expect("a setting");
    let tenant: Tenant = Id::new(1, 1);
    let numbers: Vec<String> = (0..8).map(|n| format!("+9198765{n:05}")).collect();
    let look = async |times: usize, found: usize| {
        for _ in 0..times {
            let numbers = numbers.clone();
            let read = store.tx(move |tx| {
                let live = |tx: &mut Tx<'_>, number: &String| {
                    nudges::find_live(&mut tx.of(tenant), Mode::Live, number)
                };
                tx.prefetch(|tx| numbers.iter().for_each(|number| drop(live(tx, number))))?;
                let live: Result<Vec<_>, DbError> = numbers.iter().map(|number| live(tx, number)).collect();
                Ok::<_, DbError>(live?.into_iter().flatten().count())
            });
            assert_eq!(read.await.expect("a look"), found);
        }
    };
    // The plan that is kept is one for an empty table.
    look(20, 0).await;
    server.batch_execute(&workspace(tenant)).await.expect("a workspace");
    let live = format!(
        "insert into nudges (id, workspace, mode, api_key, agent, person, phone_hash, to_number, from_given, variables, metadata, status, flight, attempts, \
         expires_at, outside_window, max_retries, retry_on, retry_delay, opted_out, erased, shows_call, created_at, version, open) \
         select id, '{tenant}', 'live', 'k', 'a', 'p', 'h', '+9198765' || lpad((n - 1)::text, 5, '0'), 0, '{{}}', '{{}}', 'queued', 'none', 0, \
         0, 'queue', 0, '', 0, 0, 0, 0, 0, 0, 1 from unnest($1::text[]) with ordinality as made (id, n)"
    );
    let ids: Vec<String> = (0..NUDGES).map(|n| Id::<Nudge>::new(1, n).to_string()).collect();
    server.execute(&live, &[&ids]).await.expect("nudges");
    look(20, numbers.len()).await;
    let read = read_of(&store, &server, "nudges").await;
    assert!(
        read < i64::try_from(NUDGES).expect("a number"),
        "{read} entries of indexes for {} lookups",
        20 * numbers.len()
    );
}

#[tokio::test]
async fn notifications_are_marked_one_by_one_whatever_is_known_of_their_table_on_postgres() {
    const WAITING: i64 = 4_000;
    const ROUNDS: i64 = 50;
    const EACH: i64 = 8;
    let url = fresh_database().await;
    let (store, server) = (open(&url, 1).0, raw(&url).await);
    store.migrate(|_, _, _| ()).await.expect("a schema");
    let unseen = "alter table channel_notifications set (autovacuum_enabled = off)";
    server.batch_execute(unseen).await.expect("a setting");
    let (tenant, connection): (Tenant, Id<ChannelConnection>) = (Id::new(1, 1), Id::new(1, 2));
    let waiting = format!(
        "insert into channel_notifications (id, workspace, connection, key, lane, payload, attempts, next_at, received_at) \
         select id, '{tenant}', '{connection}', id, id, '{{}}', 0, 0, 0 from unnest($1::text[]) as made (id)"
    );
    let ids: Vec<String> =
        (0..WAITING).map(|n| Id::<ChannelNotification>::new(1, n as u128).to_string()).collect();
    server.execute(&waiting, &[&ids]).await.expect("notifications");
    for round in 0..ROUNDS {
        let worked: Vec<Id<ChannelNotification>> =
            (round * EACH..(round + 1) * EACH).map(|n| Id::new(1, n as u128)).collect();
        let work = move |tx: &mut Tx<'_>| channel_inbox::done_each(&mut tx.of(tenant), &worked);
        assert_eq!(store.tx(work).await.expect("a round").len() as i64, EACH);
    }
    let read = read_of(&store, &server, "channel_notifications").await;
    assert!(read < ROUNDS * WAITING / 10, "{read} entries of indexes for {} items", ROUNDS * EACH);
}

#[tokio::test]
async fn messages_and_threads_of_a_number_are_looked_up_one_by_one_whatever_is_known_of_it_on_postgres() {
    const OTHERS: u128 = 2_000;
    const NUMBERS: u128 = 1_000;
    const OF_NUMBER: u128 = 4_000;
    const ROUNDS: u128 = 20;
    const EACH: u128 = 64;
    const NUMBER: &str = "206000";
    let url = fresh_database().await;
    let (store, server) = (open(&url, 1).0, raw(&url).await);
    store.migrate(|_, _, _| ()).await.expect("a schema");
    let tenant: Tenant = Id::new(1, 1);
    server.batch_execute(&workspace(tenant)).await.expect("a workspace");
    let add = async |made: std::ops::Range<u128>, number_of: fn(u128) -> String| {
        let messages = format!(
            "insert into channel_messages (id, workspace, thread, contact, direction, source, kind, media_attempts, \
             phone_number_id, business, provider_id, status, rank, attempts, created_at, updated_at) \
             select id, '{tenant}', thread, contact, 'outbound', 'api', 'text', 0, number, 918000000001, 'wamid.' || id, 'sent', 0, 1, 0, 0 \
             from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as made (id, thread, contact, number)"
        );
        let threads = format!(
            "insert into channel_threads (id, workspace, phone_number_id, contact, last_at, used, created_at) \
             select id, '{tenant}', number, contact, 0, 0, 0 from unnest($1::text[], $2::text[], $3::text[]) as made (id, contact, number)"
        );
        let list = |value: fn(u128) -> String| made.clone().map(value).collect::<Vec<String>>();
        let ids = list(|n| Id::<ChannelMessage>::new(1, n).to_string());
        let threads_of = list(|n| Id::<ChannelThread>::new(1, n).to_string());
        let contacts = list(|n| Id::<Contact>::new(1, n).to_string());
        let numbers = list(number_of);
        server.execute(&messages, &[&ids, &threads_of, &contacts, &numbers]).await.expect("messages");
        server.execute(&threads, &[&threads_of, &contacts, &numbers]).await.expect("threads");
    };
    // What is known: many numbers, each with few messages. Nobody looks again when one of them has many.
    add(OF_NUMBER..OF_NUMBER + OTHERS, |n| format!("n{}", n % NUMBERS)).await;
    let known = "alter table channel_messages set (autovacuum_enabled = off); alter table channel_threads set (autovacuum_enabled = off); \
                 analyze channel_messages; analyze channel_threads";
    server.batch_execute(known).await.expect("a look");
    add(0..OF_NUMBER, |_| NUMBER.to_owned()).await;
    let before = [
        read_of(&store, &server, "channel_messages").await,
        read_of(&store, &server, "channel_threads").await,
    ];
    for round in 0..ROUNDS {
        let ids = round * EACH..(round + 1) * EACH;
        let contacts: Vec<Id<Contact>> = ids.clone().map(|n| Id::new(1, n)).collect();
        let at_provider: Vec<String> =
            ids.map(|n| format!("wamid.{}", Id::<ChannelMessage>::new(1, n))).collect();
        let held = store.of(tenant).tx(move |tx| {
            channel_messages::lock_threads(tx, &contacts, NUMBER)?;
            channel_messages::lock_each_at_provider(tx, NUMBER, &at_provider)
        });
        assert_eq!(held.await.expect("a round").len() as u128, EACH);
    }
    for (table, before) in ["channel_messages", "channel_threads"].into_iter().zip(before) {
        let read = read_of(&store, &server, table).await - before;
        let looked_up = i64::try_from(ROUNDS * EACH).expect("a number");
        assert!(read < 8 * looked_up, "{read} rows and entries of {table} for {looked_up} of them");
    }
}

/// What is known of calling lists when one begins to grow.
const KNOWN: [(&str, &str); 3] = [
    ("nothing", "select 1"),
    ("that the table is empty", "analyze campaign_rows"),
    ("that the table has another list, a long one", "analyze campaign_rows"),
];

#[tokio::test]
async fn a_list_that_grows_is_read_by_its_numbers_and_places_whatever_is_known_of_it_on_postgres() {
    const ROWS: i64 = 4_096;
    const TOGETHER: i64 = 256;
    let url = fresh_database().await;
    let (store, server) = (open(&url, 1).0, raw(&url).await);
    store.migrate(|_, _, _| ()).await.expect("a schema");
    // Nobody looks at the table.
    server
        .batch_execute("alter table campaign_rows set (autovacuum_enabled = off)")
        .await
        .expect("a setting");
    let tenant: Tenant = Id::new(1, 1);
    server.batch_execute(&workspace(tenant)).await.expect("a workspace");
    let grow = async |campaign: Id<Campaign>, rows: i64| {
        let rows_of = format!(
            "insert into campaign_rows (id, workspace, campaign, list, position, phone, phone_hash, variables, valid, state, attempts, \
             retryable, blocked, look_at, version) select id, '{tenant}', '{campaign}', 1, n, '+91', 'hash' || n, '{{}}', 1, 'queued', 0, 0, 0, 0, 0 \
             from unnest($1::text[]) with ordinality as made (id, n)"
        );
        let ids: Vec<String> =
            (0..rows).map(|n| Id::<ListRow>::new(campaign.unix_ms(), n as u128).to_string()).collect();
        server.execute(&rows_of, &[&ids]).await.expect("rows");
    };
    for (number, (known, look)) in KNOWN.into_iter().enumerate() {
        let campaign: Id<Campaign> = Id::new(2 + number as i64, 1);
        server.batch_execute("truncate campaign_rows").await.expect("an empty table");
        if known.contains("another") {
            grow(Id::new(100, 1), 5 * ROWS).await;
        }
        server.batch_execute(look).await.expect("a look");
        let hashes: Vec<String> = (1..=TOGETHER).map(|n| format!("hash{}", n * 8)).collect();
        // How many of the numbers are on the list, and how many rows it has.
        let read = async || {
            let hashes = hashes.clone();
            let read = store.of(tenant).tx(move |tx| {
                let listed = list::listed(tx, campaign, 1, &hashes)?.len();
                let found = staged::valid_with(tx, campaign, 1, &hashes[0])?.is_some();
                let (mut in_order, mut to_call) = (0, 0);
                for after in (0..ROWS).step_by(TOGETHER as usize) {
                    in_order += staged::rows_after(tx, campaign, 1, after, TOGETHER)?.len();
                    to_call += list::to_call(tx, campaign, 1, RowState::Queued, after, TOGETHER)?.len();
                }
                Ok::<_, DbError>((listed, found, in_order, to_call))
            });
            read.await.expect("a read")
        };
        for _ in 0..8 {
            assert_eq!(read().await, (0, false, 0, 0));
        }
        grow(campaign, ROWS).await;
        let before = read_of(&store, &server, "campaign_rows").await;
        let all = ROWS as usize;
        assert_eq!(read().await, (TOGETHER as usize, true, all, all));
        let read = read_of(&store, &server, "campaign_rows").await - before;
        assert!(read < 5 * ROWS, "known: {known}; {read} entries of indexes and rows for a list of {ROWS}");
    }
}

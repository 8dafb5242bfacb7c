//! The schema and its versions.

use super::online::{self, Part, Step};
use super::{DbError, Tx, Value};
use crate::params;

/// One step of the schema; steps are never changed once released, only added.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// Its number, counted from 1.
    pub version: i64,
    /// Its name: the subject, in a word.
    pub name: &'static str,
    sql: &'static str,
    /// What comes before it on PostgreSQL, each in a transaction of its own. These may run again after a stop.
    steps: &'static [Step],
    /// Whether on PostgreSQL each of its statements is a transaction of its own ([`online::Part`]).
    online: bool,
}

/// Called before each step with its number, how many there are, and what it is.
pub type Progress = fn(usize, usize, &Migration);

macro_rules! migrations {
    (@steps) => { &[] };
    (@steps $steps:path) => { $steps };
    (@online) => { false };
    (@online online) => { true };
    ($($version:literal $name:literal $(after $steps:path)? $(=> $online:ident)?,)*) => {
        const MIGRATIONS: &[Migration] = &[
            $(Migration {
                version: $version,
                name: $name,
                sql: include_str!(concat!("../../migrations/", $version, "_", $name, ".sql")),
                steps: migrations!(@steps $($steps)?),
                online: migrations!(@online $($online)?),
            },)*
        ];
    };
}

migrations! {
    1 "core",
    2 "agents",
    3 "contacts",
    4 "calls",
    5 "webhooks",
    6 "decision_log",
    7 "nudges",
    8 "scheduled_calls",
    9 "recordings",
    10 "lines",
    11 "hot_indexes",
    12 "fewer_rows",
    13 "lines_in_use",
    14 "legs",
    15 "worlds",
    16 "log_marks",
    17 "flows",
    18 "campaigns",
    19 "integrations",
    20 "boards",
    21 "streams",
    22 "campaign_rows",
    23 "knowledge",
    24 "chats",
    25 "documents",
    26 "passage_vectors",
    27 "list_blocks",
    28 "channel",
    29 "channel_messages",
    30 "channel_conversations",
    31 "channel_campaigns",
    32 "call_changes",
    33 "remembered",
    34 "dialled_at",
    35 "given_back",
    36 "trunk_shares",
    37 "weeks" after online::WEEKS,
    38 "traces" => online,
    39 "recording_uploads" => online,
    40 "nudges_that_wait" => online,
    41 "more_traces" => online,
    42 "team_names" => online,
    43 "line_wakes" => online,
    44 "claims" => online,
    45 "identities" => online,
    46 "backfills" => online,
    47 "campaign_refusals" => online,
    48 "bounds" => online,
    49 "failed_replies" => online,
    50 "numbers_anywhere" => online,
    51 "carriers" => online,
    52 "spoken_forms" => online,
    53 "regulation" => online,
    54 "redaction" => online,
    55 "who_answers" => online,
    56 "languages" => online,
}

/// Number of the newest step this program knows.
pub(super) fn newest() -> i64 {
    MIGRATIONS.last().map_or(0, |last| last.version)
}

/// The schema's version; 0 for an empty database.
pub(super) fn version(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    let newest = tx.one::<Option<i64>>("select max(version) from schema_version", &[])?;
    Ok(newest.flatten().unwrap_or(0))
}

/// Whether any step was ever made.
pub(super) fn is_begun(tx: &mut Tx<'_>) -> Result<bool, DbError> {
    if tx.shared() {
        return tx.exists("select 1 from pg_class where oid = to_regclass('schema_version')", &[]);
    }
    tx.exists("select 1 from sqlite_master where name = 'schema_version'", &[])
}

/// The steps that the database lacks. Also makes the version table.
pub(super) fn pending(tx: &mut Tx<'_>) -> Result<Vec<Migration>, DbError> {
    lock(tx)?;
    tx.exec(
        "create table if not exists schema_version (version bigint primary key, name text not null)",
        &[],
    )?;
    let version = version(tx)?;
    if version > newest() {
        return Err(DbError::Unavailable(format!(
            "the schema has version {version}, this program knows only {}: start a newer dastak, or restore a backup made before the upgrade",
            newest()
        )));
    }
    Ok(MIGRATIONS.iter().filter(|migration| migration.version > version).copied().collect())
}

/// The transactions that come before a step on a store that nodes share.
pub(super) fn steps(migration: Migration) -> &'static [Step] {
    migration.steps
}

/// Takes one of these, unless another node has made the whole step.
pub(super) fn take(tx: &mut Tx<'_>, migration: Migration, step: Step) -> Result<(), DbError> {
    lock(tx)?;
    if version(tx)? >= migration.version { Ok(()) } else { step(tx) }
}

/// The statements of a step that is made while others work, each to be run by itself and perhaps again; none otherwise.
///
/// # Errors
/// A statement that may not run again.
pub(super) fn parts(migration: Migration) -> Result<Vec<Part>, DbError> {
    let all = statements(migration.sql).filter(|_| migration.online);
    all.map(|statement| Part::of(&for_postgres(statement))).collect()
}

/// Runs one of these in a transaction, unless another node has made the whole step.
pub(super) fn take_part(tx: &mut Tx<'_>, migration: Migration, sql: &str) -> Result<(), DbError> {
    lock(tx)?;
    if version(tx)? >= migration.version {
        return Ok(());
    }
    tx.exec(online::LOCK, &[])?;
    tx.exec(sql, &[]).map(|_| ())
}

/// Bytewise order, as in SQLite, whatever the database's locale: ids and cursors rely on it.
fn for_postgres(statement: &str) -> String {
    statement.replace(" text", " text collate \"C\"")
}

/// Applies one step, unless another node has done so. Its parts, if it has any, are there.
pub(super) fn apply(tx: &mut Tx<'_>, migration: Migration) -> Result<(), DbError> {
    lock(tx)?;
    if version(tx)? >= migration.version {
        return Ok(());
    }
    if tx.shared() {
        tx.exec(online::LOCK, &[])?;
        for statement in statements(migration.sql).filter(|_| !migration.online) {
            tx.exec(&for_postgres(statement), &[])?;
        }
    } else {
        for statement in statements(migration.sql) {
            tx.exec(statement, &[])?;
        }
    }
    tx.exec(
        "insert into schema_version (version, name) values (?1, ?2)",
        params![migration.version, migration.name],
    )?;
    Ok(())
}

/// On PostgreSQL only one node migrates at a time; SQLite has one writer anyway.
fn lock(tx: &mut Tx<'_>) -> Result<(), DbError> {
    if tx.shared() {
        let sql = "select 1 from (select pg_advisory_xact_lock(?1)) as locked";
        tx.exists(sql, &[Value::Int(0x6461_7374_616b)])?;
    }
    Ok(())
}

/// The statements of a step: they end with `;` at the end of a line; lines that start with `--` are comments.
fn statements(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(";\n").map(str::trim).filter(|statement| {
        statement.lines().any(|line| !line.trim().is_empty() && !line.trim().starts_with("--"))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::db::{Settings, Store};

    #[test]
    fn every_statement_of_a_step_that_is_made_online_may_run_again() {
        for migration in MIGRATIONS {
            parts(*migration).unwrap();
        }
        assert!(MIGRATIONS.iter().filter(|step| step.version > 37).all(|step| step.online));
    }

    /// The step `worlds` gives older deliveries the mode of their event. A test event that was sent to an
    /// endpoint is shown in live mode.
    #[test]
    fn deliveries_of_an_older_store_get_a_mode() {
        let file = std::env::temp_dir().join(format!("dastak-older-{}.db", std::process::id()));
        let store = Store::open(&Settings::Sqlite { file: file.clone() }, Arc::new(|_| ())).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let older = |tx: &mut Tx<'_>| {
            let steps = pending(tx)?;
            steps.into_iter().filter(|step| step.version <= 13).try_for_each(|step| apply(tx, step))?;
            for (event, kind, mode) in
                [("a", "call.started", "live"), ("b", "call.started", "test"), ("c", "webhook.test", "test")]
            {
                tx.exec(
                    "insert into events (workspace, id, type, mode, envelope, created_at) values ('ws', ?1, ?2, ?3, '{}', 0)",
                    params![event, kind, mode],
                )?;
                tx.exec(
                    "insert into deliveries (endpoint, id, workspace, event, type, status, attempts, round, round_at, made, leased, created_at) \
                     values ('whe', ?1, 'ws', ?1, ?2, 'succeeded', '', 0, 0, 1, 0, 0)",
                    params![event, kind],
                )?;
            }
            Ok::<_, DbError>(())
        };
        runtime.block_on(store.tx_alone(older)).unwrap();
        runtime.block_on(store.migrate(|_, _, _| ())).unwrap();
        for table in ["events", "deliveries"] {
            let read = move |tx: &mut Tx<'_>| tx.all(&format!("select mode from {table} order by id"), &[]);
            let worlds: Vec<String> = runtime.block_on(store.read(read)).unwrap();
            assert_eq!(worlds, ["live", "test", "live"], "{table}");
        }
        drop(store);
        for end in ["db", "db-wal", "db-shm", "lock"] {
            let _ = std::fs::remove_file(file.with_extension(end));
        }
    }
}

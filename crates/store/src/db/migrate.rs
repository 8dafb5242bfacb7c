//! Schema migrations.

use std::panic::Location;

use super::error::DbError;
use super::online::{self, Part, Step};
use super::store::Store;
use super::tx::Tx;
use super::value::Value;
use super::work::{self, Kind};
use crate::params;

/// One migration. Released migrations are never changed.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// Its number, from 1.
    pub version: i64,
    /// Its name: the subject in a word.
    pub name: &'static str,
    sql: &'static str,
    /// Steps before it on PostgreSQL, each in a transaction of its own, which may run again after a crash.
    steps: &'static [Step],
    /// Whether it is an online migration: on PostgreSQL each statement is a transaction of its own ([`online::Part`]).
    online: bool,
}

/// Called before each migration with its number, the total, and the migration.
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
    37 "weeks" after online::PARTITION_TABLES,
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
    57 "people" => online,
    58 "invitations" => online,
    59 "actions" => online,
    60 "changes" => online,
    61 "notifications" => online,
    62 "live_calls" => online,
    63 "attention" => online,
    64 "console_calls" => online,
    65 "flow_versions" => online,
    66 "flow_visits" => online,
    67 "test_links" => online,
    68 "staged_lists" => online,
    69 "board_moves" => online,
    70 "key_uses" => online,
    71 "inbox" => online,
    72 "evaluation" => online,
    73 "numbers_of_lists" => online,
}

/// The number of the newest migration of this program.
pub(super) fn newest() -> i64 {
    MIGRATIONS.last().map_or(0, |last| last.version)
}

/// The schema's version; 0 for an empty database.
pub(super) fn version(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    let newest = tx.one::<Option<i64>>("select max(version) from schema_version", &[])?;
    Ok(newest.flatten().unwrap_or(0))
}

/// Whether any migration was ever applied.
pub(super) fn is_begun(tx: &mut Tx<'_>) -> Result<bool, DbError> {
    if tx.shared() {
        return tx.exists("select 1 from pg_class where oid = to_regclass('schema_version')", &[]);
    }
    tx.exists("select 1 from sqlite_master where name = 'schema_version'", &[])
}

/// The pending migrations. Creates the version table if it is missing.
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

/// The steps before a migration on PostgreSQL.
pub(super) fn steps(migration: Migration) -> &'static [Step] {
    migration.steps
}

/// Runs one of these steps, unless another node has applied the whole migration.
pub(super) fn take(tx: &mut Tx<'_>, migration: Migration, step: Step) -> Result<(), DbError> {
    lock(tx)?;
    if version(tx)? >= migration.version { Ok(()) } else { step(tx) }
}

/// The statements of an online migration, each of which runs by itself and perhaps again; empty for any other.
///
/// # Errors
/// A statement that is not idempotent.
pub(super) fn parts(migration: Migration) -> Result<Vec<Part>, DbError> {
    let all = statements(migration.sql).filter(|_| migration.online);
    all.map(|statement| Part::of(&for_postgres(statement))).collect()
}

/// Runs one of these in a transaction, unless another node has applied the whole migration.
pub(super) fn take_part(tx: &mut Tx<'_>, migration: Migration, sql: &str) -> Result<(), DbError> {
    lock(tx)?;
    if version(tx)? >= migration.version {
        return Ok(());
    }
    tx.exec(online::LOCK, &[])?;
    tx.exec(sql, &[]).map(|_| ())
}

/// Bytewise collation, as in SQLite, whatever the locale of the database: ids and cursors depend on it.
fn for_postgres(statement: &str) -> String {
    statement.replace(" text", " text collate \"C\"")
}

/// Applies one migration, unless another node has done so. The statements of an online one have run before.
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

/// On PostgreSQL only one node migrates at a time; SQLite has one writer.
fn lock(tx: &mut Tx<'_>) -> Result<(), DbError> {
    if tx.shared() {
        let sql = "select 1 from (select pg_advisory_xact_lock(?1)) as locked";
        tx.exists(sql, &[Value::Int(0x6461_7374_616b)])?;
    }
    Ok(())
}

/// The statements of a migration: each ends with `;` at the end of a line; lines that start with `--` are comments.
fn statements(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(";\n").map(str::trim).filter(|statement| {
        statement.lines().any(|line| !line.trim().is_empty() && !line.trim().starts_with("--"))
    })
}

impl Store {
    /// Applies all pending migrations. Refuses a schema that is newer than the binary.
    pub async fn migrate(&self, progress: Progress) -> Result<Vec<Migration>, DbError> {
        let pending = self.tx_long(pending).await?;
        for (step, migration) in pending.iter().enumerate() {
            progress(step + 1, pending.len(), migration);
            let migration = *migration;
            if self.shared() {
                for step in steps(migration) {
                    let take = || self.tx_long(move |tx| take(tx, migration, *step));
                    retried(migration, take).await?;
                }
                for part in parts(migration)? {
                    retried(migration, || self.take_part(migration, part.clone())).await?;
                }
            }
            retried(migration, || self.tx_long(move |tx| apply(tx, migration))).await?;
        }
        Ok(pending)
    }

    /// Runs one statement of an online migration.
    async fn take_part(&self, migration: Migration, part: Part) -> Result<(), DbError> {
        let (sql, before) = match part {
            Part::Usual(sql) => {
                return self.tx_long(move |tx| take_part(tx, migration, &sql)).await;
            }
            Part::Concurrent { sql, before } => (sql, before),
        };
        if self.read(version).await? >= migration.version {
            return Ok(());
        }
        let alone = async |sql: String| {
            let (work, slot) = work::erase(move |tx| tx.exec(&sql, &[]).map(|_| ()));
            slot.answer(self.write(work, Kind::LongSingle, Location::caller()).await)
        };
        if let Some(index) = before {
            let name = index.clone();
            if self.read(move |tx| online::is_broken(tx, &name)).await? {
                alone(online::drop_index(&index)).await?;
            }
        }
        alone(sql).await
    }

    /// Checks that the store answers and has the schema that this binary needs, or a newer one: migrations keep what the
    /// previous version needs, so that its nodes go on during a rolling upgrade.
    ///
    /// # Errors
    /// Those of the store; `Unavailable` if migrations are pending.
    pub async fn ready(&self) -> Result<(), DbError> {
        let version = self.read(version).await?;
        let newest = newest();
        if version < newest {
            return Err(DbError::Unavailable(format!(
                "schema version {version}, this program needs {newest}: run `dastak migrate`"
            )));
        }
        Ok(())
    }

    /// Whether any migration was ever applied here.
    pub async fn has_schema(&self) -> Result<bool, DbError> {
        self.read(is_begun).await
    }
}

/// Retries a part of a migration that needs an exclusive lock, which a long transaction (a dump, for example) may block:
/// for about two minutes, with pauses in which other transactions proceed. A part may run again after success.
async fn retried<F>(migration: Migration, mut part: impl FnMut() -> F) -> Result<(), DbError>
where
    F: Future<Output = Result<(), DbError>>,
{
    const TRIES: u32 = 30;
    for left in (0..TRIES).rev() {
        match part().await {
            Err(DbError::Unavailable(why) | DbError::Uncertain(why)) if left > 0 => {
                tracing::warn!(%why, step = migration.name, "a step of a migration is retried");
            }
            outcome => return outcome,
        }
        // Migrations run before the clock is set up.
        #[allow(clippy::disallowed_methods, reason = "the wait is for a real server")]
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::db::Settings;

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

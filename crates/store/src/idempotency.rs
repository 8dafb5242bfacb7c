//! Idempotency keys: who runs a request, and what was answered (docs/contract/README.md#idempotency).

use domain::tenant::Mode;
use domain::time::{HOUR, Timestamp};

use crate::db::{DbError, TenantTx, Tx, Value, column_of};
use crate::params;

/// Retention of an answer.
pub const KEPT: i64 = 24 * HOUR;

/// One key of one caller for one operation. The workspace is empty for the operator's requests.
#[derive(Debug, Clone)]
pub struct Slot {
    /// Workspace id, or empty for the operator.
    pub workspace: String,
    /// Test and live keys have idempotency keys of their own.
    pub mode: Mode,
    pub operation: &'static str,
    pub key: String,
    /// Hash of the request.
    pub fingerprint: String,
    /// The fingerprint that the previous version stored for the same bytes.
    pub former: Option<String>,
    /// Unique to the request that runs.
    pub holder: String,
}

/// The state of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyState {
    /// This request has reserved it.
    Fresh,
    /// The stored answer, to be replayed.
    Replay {
        /// HTTP status of the first answer.
        status: u16,
        /// Body of the first answer.
        body: String,
    },
    /// Another request has reserved it, or it ended in a way that may have had an effect.
    InProgress,
    /// The key belongs to another request.
    Reused,
}

/// Reserves the key for this request until `lease_until`, unless it is reserved. A reservation whose lease expired is
/// free.
pub fn reserve(
    tx: &mut Tx<'_>,
    slot: &Slot,
    now: Timestamp,
    lease_until: Timestamp,
) -> Result<KeyState, DbError> {
    let taken = tx.exec(
        "insert into idempotency_keys (workspace, mode, operation, key, fingerprint, state, holder, lease_until, created_at) \
         values (?1, ?2, ?3, ?4, ?5, 'running', ?6, ?7, ?8) \
         on conflict (workspace, mode, operation, key) do update set \
         fingerprint = excluded.fingerprint, state = 'running', holder = excluded.holder, lease_until = excluded.lease_until, \
         status = null, body = null, contact = null, created_at = excluded.created_at \
         where idempotency_keys.created_at <= cast(?9 as bigint) or (idempotency_keys.state = 'running' and idempotency_keys.lease_until <= cast(?8 as bigint))",
        params![
            &slot.workspace,
            slot.mode,
            slot.operation,
            &slot.key,
            &slot.fingerprint,
            &slot.holder,
            lease_until,
            now,
            now.plus(-KEPT)
        ],
    )?;
    if taken > 0 {
        return Ok(KeyState::Fresh);
    }
    let found: Option<(String, String, Timestamp, Option<i64>, Option<String>)> = tx.one(
        "select fingerprint, state, lease_until, status, body from idempotency_keys where workspace = ?1 and mode = ?2 and operation = ?3 and key = ?4",
        params![&slot.workspace, slot.mode, slot.operation, &slot.key])?;
    Ok(match found {
        // Freed between the two statements: the client may retry.
        None => KeyState::InProgress,
        Some((fingerprint, ..))
            if fingerprint != slot.fingerprint && Some(&fingerprint) != slot.former.as_ref() =>
        {
            KeyState::Reused
        }
        Some((_, state, until, Some(status), Some(body)))
            if state == "done" || state == "held" && until <= now =>
        {
            KeyState::Replay { status: status as u16, body }
        }
        Some(_) => KeyState::InProgress,
    })
}

/// Those of these keys that exist, in any state. All are of one workspace, mode and operation. Each is looked up by
/// itself: a plan from when the table was small would scan all keys of the workspace.
pub fn used(tx: &mut Tx<'_>, slots: &[&Slot]) -> Result<Vec<String>, DbError> {
    let Some(first) = slots.first() else { return Ok(Vec::new()) };
    let mut params = params![&first.workspace, first.mode, first.operation].to_vec();
    let wanted = column_of(&mut params, slots.iter().map(|slot| Value::from(&slot.key)));
    // A statement that begins with `select` can be pipelined and prefetched (`Tx::pipeline_reads`, `Tx::prefetch`).
    // Both engines name the only column of a list of values `column1`.
    let sql = format!(
        "select (select key from idempotency_keys as known where workspace = ?1 and mode = ?2 and operation = ?3 \
         and known.key = wanted.column1) from (values {wanted}) as wanted"
    );
    let found: Vec<Option<String>> = tx.all(&sql, &params)?;
    Ok(found.into_iter().flatten().collect())
}

/// A key with the answer to its request.
#[derive(Debug, Clone)]
pub struct TakenKey {
    pub slot: Slot,
    /// Whether the request is done. Otherwise it has an effect that cannot be undone.
    pub done: bool,
    /// The end of the lease of the request.
    pub until: Timestamp,
    /// HTTP status and body. For a request that is not done: the answer if no other is stored by `until`.
    pub answer: Option<(u16, String)>,
    /// The contact whom the answer concerns, for erasure.
    pub contact: Option<String>,
}

const INSERT_NEW: &str = "insert into idempotency_keys (workspace, mode, operation, key, fingerprint, state, holder, \
     lease_until, created_at, status, body, contact) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) on conflict do nothing";

/// Across workspaces: inserts keys that this transaction has seen free, each in the workspace of its slot. If one was
/// taken concurrently, the transaction is retried on PostgreSQL.
pub fn insert_taken<'a>(
    tx: &mut Tx<'_>,
    now: Timestamp,
    rows: impl IntoIterator<Item = &'a TakenKey>,
) -> Result<(), DbError> {
    let values = |TakenKey { slot, done, until, answer, contact }: &'a TakenKey| {
        [
            Value::from(&slot.workspace),
            slot.mode.into(),
            slot.operation.into(),
            Value::from(&slot.key),
            Value::from(&slot.fingerprint),
            if *done { "done" } else { "held" }.into(),
            Value::from(&slot.holder),
            (*until).into(),
            now.into(),
            answer.as_ref().map(|(status, _)| i64::from(*status)).into(),
            answer.as_ref().map(|(_, body)| body).into(),
            contact.as_ref().into(),
        ]
    };
    let otherwise = || DbError::Retry("an idempotency key was taken meanwhile".into());
    rows.into_iter().try_for_each(|row| tx.add_new(INSERT_NEW, &values(row), otherwise()))
}

/// Keeps the answer. `contact` is the person it speaks about, for erasure.
pub fn finish(
    tx: &mut Tx<'_>,
    slot: &Slot,
    status: u16,
    body: &str,
    contact: Option<&str>,
) -> Result<(), DbError> {
    tx.later(
        "update idempotency_keys set state = 'done', status = ?6, body = ?7, contact = ?8 \
         where workspace = ?1 and mode = ?2 and operation = ?3 and key = ?4 and holder = ?5",
        params![
            &slot.workspace,
            slot.mode,
            slot.operation,
            &slot.key,
            &slot.holder,
            i64::from(status),
            body,
            contact
        ],
    )
}

/// Releases the key: the request was refused without an effect.
pub fn free(tx: &mut Tx<'_>, slot: &Slot) -> Result<(), DbError> {
    tx.later(
        "delete from idempotency_keys where workspace = ?1 and mode = ?2 and operation = ?3 and key = ?4 and holder = ?5 and state in ('running', 'held')",
        params![&slot.workspace, slot.mode, slot.operation, &slot.key, &slot.holder],
    )
}

/// Blocks the key for its 24 hours: the request may have had an effect that cannot be undone.
pub fn keep_held(tx: &mut Tx<'_>, slot: &Slot) -> Result<(), DbError> {
    tx.later(
        "update idempotency_keys set state = 'held' where workspace = ?1 and mode = ?2 and operation = ?3 and key = ?4 and holder = ?5",
        params![&slot.workspace, slot.mode, slot.operation, &slot.key, &slot.holder],
    )
}

/// Like [`keep_held`], with the answer to replay if none is stored by `until`.
pub fn keep_held_until(
    tx: &mut Tx<'_>,
    slot: &Slot,
    until: Timestamp,
    (status, body): (u16, &str),
    contact: Option<&str>,
) -> Result<(), DbError> {
    tx.later(
        "update idempotency_keys set state = 'held', lease_until = ?6, status = ?7, body = ?8, contact = ?9 \
         where workspace = ?1 and mode = ?2 and operation = ?3 and key = ?4 and holder = ?5",
        params![
            &slot.workspace,
            slot.mode,
            slot.operation,
            &slot.key,
            &slot.holder,
            until,
            i64::from(status),
            body,
            contact
        ],
    )
}

/// Across workspaces: when the oldest key was created.
pub fn oldest(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx.one("select min(created_at) from idempotency_keys", &[])?.flatten())
}

/// Across workspaces: drops up to `limit` keys older than their 24 hours, and returns how many.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from idempotency_keys where (workspace, mode, operation, key) in \
         (select workspace, mode, operation, key from idempotency_keys where created_at <= ?1 order by created_at limit ?2)",
        params![now.plus(-KEPT), limit],
    )
}

/// Replaces stored answers about a person: a repeated request gets this answer, and does not run again.
pub fn redact_contact(tx: &mut TenantTx, contact: &str, status: u16, body: &str) -> Result<u64, DbError> {
    tx.exec(
        "update idempotency_keys set status = ?3, body = ?4 where workspace = ?1 and contact = ?2 and body is not null",
        params![contact, i64::from(status), body],
    )
}

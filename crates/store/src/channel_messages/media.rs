//! Received media that is to be fetched, and objects that are to be dropped.

use const_format::formatcp;
use domain::tenant::Tenant;
use domain::time::Timestamp;

use super::{CACHED_MESSAGE, MESSAGE, MessageRow};
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

/// Across workspaces: takes messages whose media is to be fetched, and reschedules them to `again`.
pub fn take_media(
    tx: &mut Tx<'_>,
    now: Timestamp,
    again: Timestamp,
    most: i64,
) -> Result<Vec<MessageRow>, DbError> {
    tx.uncache_all(CACHED_MESSAGE);
    let sql = formatcp!(
        "update channel_messages set media_at = ?2, media_attempts = media_attempts + 1 where id in (
            select id from channel_messages where media_at <= ?1 order by media_at limit ?3 /*pg for update skip locked*/
        ) returning {MESSAGE}"
    );
    tx.all(sql, params![now, again, most])
}

/// Across workspaces: when the next media is to be fetched.
pub fn next_media(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let next: Option<Option<Timestamp>> =
        tx.one("select min(media_at) from channel_messages where media_at is not null", params![])?;
    Ok(next.flatten())
}

/// Notes that an object has to go.
pub fn owe_drop(tx: &mut TenantTx, object: &str, now: Timestamp) -> Result<(), DbError> {
    let sql = "insert into channel_media_drops (object, workspace, attempts, next_at) values (?2, ?1, 0, ?3)
        on conflict (object) do update set next_at = excluded.next_at
        where channel_media_drops.workspace = excluded.workspace and channel_media_drops.next_at > excluded.next_at";
    tx.later(sql, params![object, now])
}

/// Across workspaces: takes objects that are due for deletion, and reschedules them to `again`.
pub fn take_drops(
    tx: &mut Tx<'_>,
    now: Timestamp,
    again: Timestamp,
    most: i64,
) -> Result<Vec<(Tenant, String)>, DbError> {
    let sql = "update channel_media_drops set next_at = ?2, attempts = attempts + 1 where object in (
            select object from channel_media_drops where next_at <= ?1 order by next_at limit ?3 /*pg for update skip locked*/
        ) returning workspace, object";
    tx.all(sql, params![now, again, most])
}

/// Removes a deleted object from the queue.
pub fn settle_drop(tx: &mut TenantTx, object: &str) -> Result<(), DbError> {
    tx.later("delete from channel_media_drops where workspace = ?1 and object = ?2", params![object])
}

/// Across workspaces: when the next object is dropped.
pub fn next_drop(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let next: Option<Option<Timestamp>> =
        tx.one("select min(next_at) from channel_media_drops", params![])?;
    Ok(next.flatten())
}

//! The number of people to whom an account writes unsolicited, which the provider limits.

use domain::time::Timestamp;

use crate::db::{DbError, TenantTx, Tx};
use crate::params;

/// The number of people whom an account has reached since `after`; older entries are deleted. The counter is locked
/// until the transaction ends.
pub fn reached(tx: &mut TenantTx, account: &str, after: Timestamp) -> Result<i64, DbError> {
    tx.later(
        "insert into channel_reach (workspace, account, people) values (?1, ?2, -1) on conflict do nothing",
        params![account],
    )?;
    let sql = "select people from channel_reach where workspace = ?1 and account = ?2 /*pg for update*/";
    let people: i64 = tx.one(sql, params![account])?.unwrap_or(-1);
    let forget = "delete from channel_reached where workspace = ?1 and account = ?2 and at <= ?3";
    let gone = i64::try_from(tx.exec(forget, params![account, after])?).unwrap_or(0);
    // Nobody counted while the account had no limit.
    let now = if people < 0 {
        let sql = "select count(*) from channel_reached where workspace = ?1 and account = ?2";
        tx.one(sql, params![account])?.unwrap_or(0)
    } else {
        people - gone
    };
    if now != people {
        let sql = "update channel_reach set people = ?3 where workspace = ?1 and account = ?2";
        tx.later(sql, params![account, now])?;
    }
    Ok(now)
}

/// Whether an account has reached a person; [`reached`] comes before it.
pub fn is_reached(tx: &mut TenantTx, account: &str, person: &str) -> Result<bool, DbError> {
    let sql = "select 1 from channel_reached where workspace = ?1 and account = ?2 and person = ?3";
    tx.exists(sql, params![account, person])
}

const REACH: &str = "insert into channel_reached (workspace, account, person, at) values (?1, ?2, ?3, ?4)
        on conflict (workspace, account, person) do update set at = excluded.at";

/// Notes that an account reaches a person now; [`reached`] comes before it.
pub fn reach(
    tx: &mut TenantTx,
    account: &str,
    person: &str,
    is_new: bool,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.later(REACH, params![account, person, now])?;
    if is_new {
        let sql = "update channel_reach set people = people + 1 where workspace = ?1 and account = ?2";
        tx.later(sql, params![account])?;
    }
    Ok(())
}

/// Like [`reach`] for an account without a limit, whose messages need not wait for each other: nothing is counted; the
/// people are counted once there is a limit.
pub fn reach_uncounted(
    tx: &mut TenantTx,
    account: &str,
    person: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    let tenant = tx.tenant();
    if tx.shared() {
        // One statement notes many people, none of them twice.
        let noted = format!("reached {tenant} {account} {person}");
        if tx.cached::<()>(&noted).is_some() {
            return Ok(());
        }
        tx.cache_row(noted, ());
        tx.add(REACH, params![account, person, now])?;
        let uncounted = format!("uncounted {tenant} {account}");
        if tx.cached::<()>(&uncounted).is_some() {
            return Ok(());
        }
        tx.cache_row(uncounted, ());
    } else {
        tx.later(REACH, params![account, person, now])?;
    }
    let sql = "update channel_reach set people = -1 where workspace = ?1 and account = ?2 and people >= 0";
    tx.later(sql, params![account])
}

/// Across workspaces: deletes entries of accounts without a limit that are older than a timestamp. Returns how many.
pub fn forget_reached(tx: &mut Tx<'_>, before: Timestamp, most: i64) -> Result<u64, DbError> {
    let sql = "delete from channel_reached where (workspace, account, person) in (
            select d.workspace, d.account, d.person from channel_connections c
            join channel_reached d on d.workspace = c.workspace and d.account = c.id
            where d.at <= ?1 and not exists (
                select 1 from channel_reach r
                where r.workspace = c.workspace and r.account = c.id and r.people >= 0
            ) limit ?2)";
    tx.exec(sql, params![before, most])
}

/// When the oldest entry of an account was made.
pub fn first_reached(tx: &mut TenantTx, account: &str) -> Result<Option<Timestamp>, DbError> {
    let sql = "select min(at) from channel_reached where workspace = ?1 and account = ?2";
    let first: Option<Option<Timestamp>> = tx.one(sql, params![account])?;
    Ok(first.flatten())
}

/// The number of people whom an account has reached since `after`; older entries are deleted. The counter is locked
/// until the transaction ends.
pub fn count_reached(tx: &mut TenantTx, account: &str, after: Timestamp) -> Result<i64, DbError> {
    let sql = "select people - (select count(*) from channel_reached where workspace = ?1 and account = ?2 and at <= ?3)
        from channel_reach where workspace = ?1 and account = ?2 and people >= 0";
    if let Some(people) = tx.one(sql, params![account, after])? {
        return Ok(people);
    }
    let sql = "select count(*) from channel_reached where workspace = ?1 and account = ?2 and at > ?3";
    Ok(tx.one(sql, params![account, after])?.unwrap_or(0))
}

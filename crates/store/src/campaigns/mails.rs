//! Queued e-mail of campaigns. Sent mails are kept for some days without the address, for the daily limit.

use const_format::formatcp;
use domain::ids::{Campaign, CampaignRun, Id, Mail};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct MailRow in "mails" {
        id: Id<Mail>,
        workspace: Tenant,
        /// The campaign that it is about.
        campaign: Id<Campaign>,
        /// The run that records a failed mail.
        run: Option<Id<CampaignRun>>,
        /// The recipient; `None` once it is sent or has failed.
        recipient: Option<String>,
        /// What it is about, a line.
        subject: String,
        body: String,
        tries: i64,
        /// When it is tried next; `None` once it is sent or has failed.
        next_try_at: Option<Timestamp>,
        created_at: Timestamp,
    }
}

pub fn insert(tx: &mut Tx<'_>, rows: &[MailRow]) -> Result<(), DbError> {
    tx.insert_all(MailRow::INTO, rows.iter().map(MailRow::values))
}

/// The number of mails that a workspace has queued since a timestamp.
pub fn written_since(tx: &mut TenantTx, since: Timestamp) -> Result<i64, DbError> {
    Ok(tx
        .one("select count(*) from mails where workspace = ?1 and created_at > ?2", params![since])?
        .unwrap_or(0))
}

/// Across workspaces: leases due mails until `lease`, and counts the attempt.
pub fn take_due(
    tx: &mut Tx<'_>,
    now: Timestamp,
    lease: Timestamp,
    limit: i64,
) -> Result<Vec<MailRow>, DbError> {
    let mut rows: Vec<MailRow> = tx.all(
        formatcp!(
            "select {} from mails where next_try_at is not null and next_try_at <= ?1 order by next_try_at, id limit ?2 /*pg for update skip locked*/",
            MailRow::COLUMNS
        ),
        params![now, limit],
    )?;
    for row in &mut rows {
        row.tries += 1;
        row.next_try_at = Some(lease);
        tx.later(
            "update mails set tries = ?3, next_try_at = ?4 where workspace = ?1 and id = ?2",
            params![row.workspace, row.id, row.tries, lease],
        )?;
    }
    Ok(rows)
}

/// Across workspaces: when the next mail is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx.one("select min(next_try_at) from mails where next_try_at is not null", &[])?.flatten())
}

/// A mail could not be sent yet.
pub fn again(tx: &mut TenantTx, id: Id<Mail>, at: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update mails set next_try_at = ?3 where workspace = ?1 and id = ?2 and next_try_at is not null",
        params![id, at],
    )
}

/// Marks a mail as done, and deletes its address.
pub fn done(tx: &mut TenantTx, id: Id<Mail>) -> Result<(), DbError> {
    tx.later(
        "update mails set next_try_at = null, recipient = null where workspace = ?1 and id = ?2",
        params![id],
    )
}

/// Across workspaces: deletes done mails that are older than a timestamp. Returns how many.
pub fn remove_old(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from mails where id in (select id from mails where created_at < ?1 and next_try_at is null order by created_at limit ?2)",
        params![before, limit],
    )
}

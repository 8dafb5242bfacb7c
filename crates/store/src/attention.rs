//! States that need a person, as they are now. Every query is bounded, and none is stored but what the last verification of
//! the decision log has found.

use domain::ids::{
    Board, Campaign, ChannelNumber, ChannelTemplate, Chat, DataStream, Id, Integration, WebhookEndpoint,
};
use domain::tenant::Mode;
use domain::time::Timestamp;

use crate::db::{DbError, TenantTx};
use crate::params;

/// Objects of one kind that are looked for.
pub const MOST: i64 = 20;
/// Objects that are counted.
const COUNTED: i64 = 1_000;
/// The newest deliveries of an endpoint that say whether it fails.
const DELIVERIES: i64 = 20;

/// Chats that wait for a person, at most 1,000, and the one that has waited longest, by `chats_in_state`.
pub fn waiting_chats(tx: &mut TenantTx) -> Result<Option<(i64, Id<Chat>, Timestamp)>, DbError> {
    let waiting = "(select id, coalesce(handoff_at, last_at) as since from chats where workspace = ?1 and state = 'awaiting_human' limit ?2)";
    let count: i64 =
        tx.one(&format!("select count(*) from {waiting} waiting"), params![COUNTED])?.unwrap_or(0);
    let oldest = tx.one::<(Id<Chat>, Timestamp)>(
        &format!("select id, since from {waiting} waiting order by since, id limit 1"),
        params![COUNTED],
    )?;
    Ok(oldest.map(|(id, since)| (count, id, since)))
}

/// Cards that a person has to judge, at most 1,000, the board of the oldest and its time, by `board_cards_to_review`.
pub fn cards_to_review(tx: &mut TenantTx) -> Result<Option<(i64, Id<Board>, Timestamp)>, DbError> {
    let count: i64 = tx
        .one(
            "select count(*) from (select id from board_cards where workspace = ?1 and status = 'needs_review' limit ?2) cards",
            params![COUNTED],
        )?
        .unwrap_or(0);
    let oldest = tx.one::<(Id<Board>, Timestamp)>(
        "select board, entered_at from board_cards where workspace = ?1 and status = 'needs_review' order by entered_at limit 1",
        &[],
    )?;
    Ok(oldest.map(|(board, since)| (count, board, since)))
}

/// Active endpoints of a mode whose newest attempts all failed: their address, the failures in a row among the newest 20
/// deliveries, and the time of the first of them. By the primary key of `deliveries`, for each of at most 20 endpoints.
pub fn failing_endpoints(
    tx: &mut TenantTx,
    mode: Mode,
) -> Result<Vec<(Id<WebhookEndpoint>, String, i64, Timestamp)>, DbError> {
    let endpoints: Vec<(Id<WebhookEndpoint>, String)> = tx.all(
        "select id, url from webhook_endpoints where workspace = ?1 and status = 'active' order by id limit ?2",
        params![MOST],
    )?;
    let mut failing = Vec::new();
    for (id, url) in endpoints {
        let newest: Vec<(String, i64, Timestamp)> = tx.all(
            "select status, made, created_at from deliveries where workspace = ?1 and endpoint = ?2 and mode = ?3 order by id desc limit ?4",
            params![id, mode, DELIVERIES],
        )?;
        let attempted = newest.into_iter().filter(|(status, made, _)| status != "pending" || *made > 0);
        let failed: Vec<Timestamp> =
            attempted.take_while(|(status, ..)| status != "succeeded").map(|(.., at)| at).collect();
        if let Some(since) = failed.last() {
            failing.push((id, url, failed.len() as i64, *since));
        }
    }
    Ok(failing)
}

/// Campaigns that the service has paused, with their names and the cause, by `channel_campaigns_of_workspace`.
pub fn paused_campaigns(
    tx: &mut TenantTx,
) -> Result<Vec<(Id<Campaign>, String, String, Timestamp)>, DbError> {
    tx.all(
        "select c.id, c.name, p.paused_reason, c.updated_at from channel_campaigns p join campaigns c on c.id = p.campaign \
         where p.workspace = ?1 and c.workspace = ?1 and p.paused_reason is not null and c.status = 'paused' and c.deleted_at is null \
         order by c.id desc limit ?2",
        params![MOST],
    )
}

/// Accounts of outside systems that refuse us, with the name of the system, by `integrations_of_workspace`.
pub fn broken_integrations(tx: &mut TenantTx) -> Result<Vec<(Id<Integration>, String, Timestamp)>, DbError> {
    tx.all(
        "select id, provider, updated_at from integrations where workspace = ?1 and status = 'broken' order by id limit ?2",
        params![MOST],
    )
}

/// Data streams that failures have stopped, with their names, by `data_streams_of_workspace`.
pub fn stopped_streams(tx: &mut TenantTx) -> Result<Vec<(Id<DataStream>, String, Timestamp)>, DbError> {
    tx.all(
        "select id, name, updated_at from data_streams where workspace = ?1 and deleted_at is null and status = 'error' order by id limit ?2",
        params![MOST],
    )
}

/// Business numbers that cannot send, with the name that customers see, by `channel_numbers_workspace`; all when the
/// provider rejects the token of the account.
pub fn disconnected_numbers(
    tx: &mut TenantTx,
) -> Result<Vec<(Id<ChannelNumber>, String, Timestamp)>, DbError> {
    tx.all(
        "select n.id, n.display_name, case when a.status = 'connected' then n.updated_at else a.updated_at end \
         from channel_numbers n join channel_connections a on a.id = n.connection and a.workspace = ?1 \
         where n.workspace = ?1 and (n.status in ('DISCONNECTED', 'BANNED', 'DELETED', 'MIGRATED') or a.status <> 'connected') \
         order by n.id limit ?2",
        params![MOST],
    )
}

/// Templates that the provider has rejected, with their names, by `channel_templates_name`.
pub fn rejected_templates(
    tx: &mut TenantTx,
) -> Result<Vec<(Id<ChannelTemplate>, String, Timestamp)>, DbError> {
    tx.all(
        "select id, name, updated_at from channel_templates where workspace = ?1 and status = 'REJECTED' order by name, language limit ?2",
        params![MOST],
    )
}

/// When the last verification of the decision log of a mode found it broken.
pub fn broken_log(tx: &mut TenantTx, mode: Mode) -> Result<Option<Timestamp>, DbError> {
    tx.one("select found_at from broken_logs where workspace = ?1 and mode = ?2", params![mode])
}

/// Notes what a verification of the decision log of a mode has found.
pub fn log_verified(tx: &mut TenantTx, mode: Mode, whole: bool, now: Timestamp) -> Result<(), DbError> {
    if whole {
        return tx.later("delete from broken_logs where workspace = ?1 and mode = ?2", params![mode]);
    }
    tx.later(
        "insert into broken_logs (workspace, mode, found_at) values (?1, ?2, ?3) on conflict (workspace, mode) do nothing",
        params![mode, now],
    )
}

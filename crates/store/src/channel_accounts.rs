//! Connections with the messaging channel, and business numbers. Credentials are sealed.

use std::sync::Arc;

use const_format::formatcp;
use domain::channel::ProviderKind;
use domain::channel::provider::ConnectionStatus;
use domain::ids::{Agent, ChannelConnection, ChannelNumber, Id};
use domain::phone::E164;
use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::topic::Topic;

use crate::changes;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx, any_of};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct ConnectionRow in "channel_connections" {
        id: Id<ChannelConnection>,
        workspace: Tenant,
        /// Who carries its messages.
        provider: ProviderKind,
        /// Its id at the provider.
        business_account: String,
        /// The provider's id of the app.
        app: Option<String>,
        credentials: String,
        /// Whether the token is accepted.
        status: ConnectionStatus,
        /// Why it is not.
        last_error: Option<String>,
        /// The provider's word for the messaging limit.
        tier: Option<String>,
        /// What the provider last said, while the account is restricted.
        restriction: Option<String>,
        /// When it is checked again.
        check_at: Timestamp,
        /// Until when a node works its notifications.
        inbox_until: Timestamp,
        created_at: Timestamp,
        updated_at: Timestamp,
        /// Grows with every change of credentials.
        version: i64,
    }
}

row! {
    /// A business number as stored.
    #[derive(Debug, Clone)]
    pub struct NumberRow in "channel_numbers" {
        id: Id<ChannelNumber>,
        connection: Id<ChannelConnection>,
        /// The provider's id of it.
        phone_number_id: String,
        number: E164,
        /// What customers see.
        display_name: String,
        /// `GREEN`, `YELLOW` or `RED`; none while unknown.
        quality: Option<String>,
        /// The provider's word for the messaging limit.
        tier: Option<String>,
        /// The provider's word for its state.
        status: String,
        /// Whether it may send as fast as numbers of the high class.
        high_rate: bool,
        /// Whether it sends what names no number.
        is_default: bool,
        /// The agent that answers on it.
        agent: Option<Id<Agent>>,
        /// Until when agents do not reply on it.
        ai_paused_until: Option<Timestamp>,
        /// The end of the pause that was last announced.
        ai_pause_announced: Option<Timestamp>,
        /// When it was bound.
        created_at: Timestamp,
        updated_at: Timestamp,
    }
    insert with { workspace: Tenant }
}

const CONNECTION: &str = ConnectionRow::COLUMNS;
const NUMBER: &str = NumberRow::COLUMNS;

/// Key prefix of the cached connection of a workspace and its numbers.
const CACHED: &str = "channel account ";

fn connection_key(tenant: Tenant) -> String {
    format!("{CACHED}{tenant}")
}

fn numbers_key(tenant: Tenant) -> String {
    format!("{CACHED}{tenant} numbers")
}

/// Reads and caches the connection of a workspace and its numbers.
pub fn prefetch(tx: &mut TenantTx) -> Result<(), DbError> {
    let tenant = tx.tenant();
    let connection = get(tx);
    let numbers = numbers(tx);
    tx.cache_row(connection_key(tenant), connection?);
    tx.cache_row(numbers_key(tenant), Arc::new(numbers?));
    Ok(())
}

/// One of the cached numbers.
fn among_known(tx: &TenantTx, which: impl Fn(&NumberRow) -> bool) -> Option<Option<NumberRow>> {
    if !tx.has_cached_rows() {
        return None;
    }
    let numbers: Arc<Vec<NumberRow>> = tx.cached(&numbers_key(tx.tenant()))?;
    Some(numbers.iter().find(|row| which(row)).cloned())
}

pub fn insert(tx: &mut Tx<'_>, row: &ConnectionRow) -> Result<(), DbError> {
    changes::note(
        &mut tx.of(row.workspace),
        row.created_at,
        None,
        Topic::Numbers,
        Some(&row.id.to_string()),
    )?;
    tx.uncache_all(CACHED);
    tx.later(ConnectionRow::INSERT, &row.values())
}

/// The connection of a workspace.
pub fn get(tx: &mut TenantTx) -> Result<Option<ConnectionRow>, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached(&connection_key(tx.tenant()))
    {
        return Ok(known);
    }
    let sql = formatcp!("select {CONNECTION} from channel_connections where workspace = ?1");
    tx.one(sql, &[])
}

/// Like [`get`], locked until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx) -> Result<Option<ConnectionRow>, DbError> {
    let sql =
        formatcp!("select {CONNECTION} from channel_connections where workspace = ?1 /*pg for update*/");
    tx.one(sql, &[])
}

/// Across workspaces: the connection whose notifications come in under this id.
pub fn by_id(tx: &mut Tx<'_>, id: Id<ChannelConnection>) -> Result<Option<ConnectionRow>, DbError> {
    let sql = formatcp!("select {CONNECTION} from channel_connections where id = ?1");
    tx.one(sql, params![id])
}

/// Across workspaces: the connections whose notifications come in under these ids.
pub fn by_ids(tx: &mut Tx<'_>, ids: &[Id<ChannelConnection>]) -> Result<Vec<ConnectionRow>, DbError> {
    let mut params = Vec::new();
    let list = any_of(&mut params, ids.iter().map(|id| (*id).into()));
    tx.all(&format!("select {CONNECTION} from channel_connections where id in {list}"), &params)
}

/// Across workspaces: connections with the sandbox that have a number with this id.
pub fn sandbox_connections(tx: &mut Tx<'_>, phone_number_id: &str) -> Result<Vec<ConnectionRow>, DbError> {
    let sql = formatcp!(
        "select {CONNECTION} from channel_connections where provider = 'sandbox' and id in (
            select connection from channel_numbers where phone_number_id = ?1
        ) limit 2"
    );
    tx.all(sql, params![phone_number_id])
}

/// Saves a connection that the caller has locked.
pub fn save(tx: &mut Tx<'_>, row: &ConnectionRow) -> Result<(), DbError> {
    changes::note(
        &mut tx.of(row.workspace),
        row.updated_at,
        None,
        Topic::Numbers,
        Some(&row.id.to_string()),
    )?;
    tx.uncache_all(CACHED);
    let (sql, values) = update!(
        "channel_connections" set {
            provider: row.provider,
            business_account: &row.business_account,
            app: row.app.as_deref(),
            credentials: &row.credentials,
            status: row.status,
            last_error: row.last_error.as_deref(),
            tier: row.tier.as_deref(),
            restriction: row.restriction.as_deref(),
            check_at: row.check_at,
            updated_at: row.updated_at,
            version: row.version,
        }
        where "workspace = ?1 and id = ?2", row.workspace, row.id
    );
    tx.later(sql, &values)
}

/// Says whether the token is accepted, unless the credentials were changed since; `false` when nothing changed.
pub fn set_status(
    tx: &mut TenantTx,
    version: i64,
    status: ConnectionStatus,
    error: Option<&str>,
    now: Timestamp,
) -> Result<bool, DbError> {
    changes::note(tx, now, None, Topic::Numbers, None)?;
    tx.uncache_all(CACHED);
    let sql = "update channel_connections set status = ?3, last_error = ?4, updated_at = ?5
        where workspace = ?1 and version = ?2 and status <> ?3";
    Ok(tx.exec(sql, params![version, status, error, now])? > 0)
}

/// The messaging limit of an account, in the provider's word.
pub fn set_tier(tx: &mut TenantTx, tier: &str, now: Timestamp) -> Result<(), DbError> {
    tx.uncache_all(CACHED);
    let sql = "update channel_connections set tier = ?2, updated_at = ?3 where workspace = ?1";
    tx.later(sql, params![tier, now])
}

/// Sets the provider's restriction of the account; none once it is lifted.
pub fn set_restriction(tx: &mut TenantTx, restriction: Option<&str>, now: Timestamp) -> Result<(), DbError> {
    changes::note(tx, now, None, Topic::Numbers, None)?;
    tx.uncache_all(CACHED);
    let sql = "update channel_connections set restriction = ?2, updated_at = ?3 where workspace = ?1";
    tx.later(sql, params![restriction, now])
}

/// Removes a connection with its numbers, templates and notifications.
pub fn delete(tx: &mut TenantTx, id: Id<ChannelConnection>) -> Result<(), DbError> {
    tx.uncache_all(CACHED);
    tx.exec("delete from channel_notifications where workspace = ?1 and connection = ?2", params![id])?;
    tx.exec("delete from channel_templates where workspace = ?1 and connection = ?2", params![id])?;
    tx.exec("delete from channel_numbers where workspace = ?1 and connection = ?2", params![id])?;
    tx.exec("delete from channel_connections where workspace = ?1 and id = ?2", params![id])?;
    Ok(())
}

/// Across workspaces: leases connections whose check is due, until `again`.
pub fn take_checks(
    tx: &mut Tx<'_>,
    now: Timestamp,
    again: Timestamp,
    most: i64,
) -> Result<Vec<ConnectionRow>, DbError> {
    tx.uncache_all(CACHED);
    let sql = formatcp!(
        "update channel_connections set check_at = ?2 where id in (
            select id from channel_connections where check_at <= ?1 order by check_at limit ?3
            /*pg for update skip locked*/
        ) returning {CONNECTION}"
    );
    tx.all(sql, params![now, again, most])
}

/// Sets when a connection is checked again.
pub fn check_at(tx: &mut TenantTx, at: Timestamp) -> Result<(), DbError> {
    tx.uncache_all(CACHED);
    tx.later("update channel_connections set check_at = ?2 where workspace = ?1", params![at])
}

/// Across workspaces: when the next connection is looked at.
pub fn next_check(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let next: Option<Option<Timestamp>> =
        tx.one("select min(check_at) from channel_connections", params![])?;
    Ok(next.flatten())
}

pub fn insert_number(tx: &mut TenantTx, row: &NumberRow) -> Result<(), DbError> {
    changes::note(tx, row.created_at, None, Topic::Numbers, Some(&row.id.to_string()))?;
    tx.uncache_all(CACHED);
    tx.later(NumberRow::INSERT, &row.values())
}

/// The numbers of a workspace, the first one first.
pub fn numbers(tx: &mut TenantTx) -> Result<Vec<NumberRow>, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached::<Arc<Vec<NumberRow>>>(&numbers_key(tx.tenant()))
    {
        return Ok(known.to_vec());
    }
    let sql = formatcp!("select {NUMBER} from channel_numbers where workspace = ?1 order by id");
    tx.all(sql, &[])
}

/// A number by its id.
pub fn number(tx: &mut TenantTx, id: Id<ChannelNumber>) -> Result<Option<NumberRow>, DbError> {
    if let Some(known) = among_known(tx, |row| row.id == id) {
        return Ok(known);
    }
    let sql = formatcp!("select {NUMBER} from channel_numbers where workspace = ?1 and id = ?2");
    tx.one(sql, params![id])
}

/// A number by the provider's id of it.
pub fn number_at_provider(tx: &mut TenantTx, phone_number_id: &str) -> Result<Option<NumberRow>, DbError> {
    if let Some(known) = among_known(tx, |row| row.phone_number_id == phone_number_id) {
        return Ok(known);
    }
    let sql = formatcp!("select {NUMBER} from channel_numbers where workspace = ?1 and phone_number_id = ?2");
    tx.one(sql, params![phone_number_id])
}

/// Across workspaces: the workspaces that have bound a number of the Cloud API. On PostgreSQL the answer is stable
/// until the transaction ends: a lock serializes all calls for the same number.
pub fn holders(tx: &mut Tx<'_>, phone_number_id: &str) -> Result<Vec<Tenant>, DbError> {
    if tx.shared() {
        let lock = "select 1 from (select pg_advisory_xact_lock(hashtextextended('channel number ' || ?1, 0))) as locked";
        tx.exists(lock, params![phone_number_id])?;
    }
    let sql = "select n.workspace from channel_numbers n join channel_connections c on c.id = n.connection
        where n.phone_number_id = ?1 and c.provider = 'cloud'";
    tx.all(sql, params![phone_number_id])
}

/// The number that an agent answers on.
pub fn number_of_agent(tx: &mut TenantTx, agent: Id<Agent>) -> Result<Option<NumberRow>, DbError> {
    if let Some(known) = among_known(tx, |row| row.agent == Some(agent)) {
        return Ok(known);
    }
    let sql = formatcp!("select {NUMBER} from channel_numbers where workspace = ?1 and agent = ?2");
    tx.one(sql, params![agent])
}

/// The number that sends what names none.
pub fn default_number(tx: &mut TenantTx) -> Result<Option<NumberRow>, DbError> {
    // They are cached in the order of their ids.
    match among_known(tx, |row| row.is_default) {
        Some(Some(known)) => return Ok(Some(known)),
        Some(None) => return Ok(among_known(tx, |_| true).flatten()),
        None => {}
    }
    let sql = formatcp!(
        "select {NUMBER} from channel_numbers where workspace = ?1 order by is_default desc, id limit 1"
    );
    tx.one(sql, &[])
}

/// Makes no number of a workspace the default.
pub fn clear_default(tx: &mut TenantTx) -> Result<(), DbError> {
    tx.uncache_all(CACHED);
    let sql = "update channel_numbers set is_default = 0 where workspace = ?1 and is_default = 1";
    tx.exec(sql, &[]).map(|_| ())
}

/// Writes what changes of a number.
pub fn save_number(tx: &mut TenantTx, row: &NumberRow) -> Result<(), DbError> {
    changes::note(tx, row.updated_at, None, Topic::Numbers, Some(&row.id.to_string()))?;
    tx.uncache_all(CACHED);
    let (sql, values) = update!(
        "channel_numbers" of tenant set {
            display_name: &row.display_name,
            quality: row.quality.as_deref(),
            tier: row.tier.as_deref(),
            status: &row.status,
            high_rate: row.high_rate,
            is_default: row.is_default,
            agent: row.agent,
            updated_at: row.updated_at,
        }
        where "id = ?2", row.id
    );
    tx.later(sql, &values)
}

/// A number, locked until the transaction ends.
pub fn number_for_update(tx: &mut TenantTx, id: Id<ChannelNumber>) -> Result<Option<NumberRow>, DbError> {
    let sql =
        formatcp!("select {NUMBER} from channel_numbers where workspace = ?1 and id = ?2 /*pg for update*/");
    tx.one(sql, params![id])
}

/// Says until when agents do not reply on a number, and what was announced of it.
pub fn pause_agents(
    tx: &mut TenantTx,
    id: Id<ChannelNumber>,
    until: Timestamp,
    announced: Option<Timestamp>,
) -> Result<(), DbError> {
    tx.uncache_all(CACHED);
    let sql = "update channel_numbers set ai_paused_until = ?3, ai_pause_announced = ?4
        where workspace = ?1 and id = ?2";
    tx.later(sql, params![id, until, announced])
}

/// Across workspaces: numbers whose pause continues after its announced end.
pub fn unannounced_pauses(
    tx: &mut Tx<'_>,
    now: Timestamp,
) -> Result<Vec<(Tenant, Id<ChannelNumber>)>, DbError> {
    let sql = "select workspace, id from channel_numbers
        where ai_paused_until > ?1 and ai_pause_announced <= ?1 order by id limit 100";
    tx.all(sql, params![now])
}

/// Across workspaces: when the next announced end passes of a pause that continues.
pub fn next_unannounced_pause(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
    let sql = "select min(ai_pause_announced) from channel_numbers
        where ai_paused_until > ai_pause_announced and ai_paused_until > ?1";
    let next: Option<Option<Timestamp>> = tx.one(sql, params![now])?;
    Ok(next.flatten())
}

/// Releases a number; false when there is none.
pub fn delete_number(tx: &mut TenantTx, id: Id<ChannelNumber>) -> Result<bool, DbError> {
    tx.uncache_all(CACHED);
    let sql = "delete from channel_numbers where workspace = ?1 and id = ?2";
    Ok(tx.exec(sql, params![id])? > 0)
}

/// How many numbers a workspace has.
pub fn count_numbers(tx: &mut TenantTx) -> Result<i64, DbError> {
    let sql = "select count(*) from channel_numbers where workspace = ?1";
    Ok(tx.one(sql, &[])?.unwrap_or(0))
}

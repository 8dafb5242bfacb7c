//! Campaigns: their settings and status. What changes with every dial is in [`progress`], the people to call are in
//! [`list`], the dialling sessions in [`runs`].

pub mod blocks;
pub mod due;
pub mod list;
pub mod mails;
pub mod progress;
mod read;
pub mod runs;
pub mod staged;

pub use read::{Page, RowFilter, Search, count_found, count_listed, page};

use const_format::formatcp;
use domain::campaign::{CallerId, DayTime, Settings, Status};
use domain::ids::{Agent, Campaign, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::topic::Topic;
use domain::trace::TraceContext;
use serde_json::{Value as Json, json};

use crate::changes;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct CampaignRow in "campaigns" {
        id: Id<Campaign>,
        workspace: Tenant,
        name: String,
        /// `voice` or `chatapp`.
        channel: String,
        /// `collections` or `onboarding`.
        workflow_type: String,
        /// The client's reference of a registered template.
        dlt_template_ref: Option<String>,
        agent: Option<Id<Agent>>,
        status: Status,
        /// When and how it calls.
        settings: Settings = |settings| {
            from_number: Option<String> = settings.from_number.as_deref(),
            timezone: Option<String> = settings.timezone.as_deref(),
            start_at: Option<Timestamp> = settings.start_at,
            end_at: Option<Timestamp> = settings.end_at,
            daily_from: Option<String> = settings.daily_from.map(|at| at.to_string()),
            daily_to: Option<String> = settings.daily_to.map(|at| at.to_string()),
            retry_count: u8 = i64::from(settings.retry_count),
            cooldown_minutes: i64 = settings.cooldown_minutes,
            email_notifications: Json = json!(settings.email_notifications),
            caller_ids: Json = json!(settings.caller_ids),
            max_concurrent_calls: Option<i64> = settings.max_concurrent_calls,
        } => Settings {
            from_number,
            timezone,
            start_at,
            end_at,
            daily_from: daily_from.as_deref().and_then(DayTime::parse),
            daily_to: daily_to.as_deref().and_then(DayTime::parse),
            retry_count,
            cooldown_minutes,
            email_notifications: parsed(email_notifications)?,
            caller_ids: parsed::<Vec<CallerId>>(caller_ids)?,
            max_concurrent_calls,
        },
        /// The list in force; 0 before the first one.
        list: i64,
        /// The number of the newest list: active, staged or deleted.
        newest_list: i64,
        /// Streams that feed it.
        streams: i64,
        created_at: Timestamp,
        updated_at: Timestamp,
        /// When it was published first.
        started_at: Option<Timestamp>,
        completed_at: Option<Timestamp>,
        /// The trace of the request that published it last.
        trace: Option<TraceContext>,
        /// Grows with every save.
        version: i64,
    }
}

const COLUMNS: &str = CampaignRow::COLUMNS;

fn parsed<T: serde::de::DeserializeOwned>(json: Json) -> Result<T, DbError> {
    serde_json::from_value(json).map_err(|why| DbError::Internal(format!("settings of a campaign: {why}")))
}

/// Adds a campaign with its empty progress.
pub fn insert(tx: &mut Tx<'_>, row: &CampaignRow) -> Result<(), DbError> {
    changes::note(
        &mut tx.of(row.workspace),
        row.created_at,
        None,
        Topic::Campaigns,
        Some(&row.id.to_string()),
    )?;
    tx.later(CampaignRow::INSERT, &row.values())?;
    progress::insert(&mut tx.of(row.workspace), row.id)
}

pub fn get(tx: &mut TenantTx, id: Id<Campaign>) -> Result<Option<CampaignRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from campaigns where workspace = ?1 and id = ?2 and deleted_at is null"),
        params![id],
    )
}

/// Across workspaces: the campaign of this id, for the operator.
pub fn find(tx: &mut Tx<'_>, id: Id<Campaign>) -> Result<Option<CampaignRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from campaigns where id = ?1 and deleted_at is null"), params![id])
}

/// One campaign, locked against other writers until the transaction ends. Its progress is locked after it,
/// never before.
pub fn get_for_update(tx: &mut TenantTx, id: Id<Campaign>) -> Result<Option<CampaignRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from campaigns where workspace = ?1 and id = ?2 and deleted_at is null /*pg for update*/"
        ),
        params![id],
    )
}

/// All campaigns of a workspace, newest first.
pub fn list_all(tx: &mut TenantTx) -> Result<Vec<CampaignRow>, DbError> {
    tx.all(
        formatcp!(
            "select {COLUMNS} from campaigns where workspace = ?1 and deleted_at is null order by id desc"
        ),
        &[],
    )
}

/// Whether a workspace has at least so many campaigns.
pub fn at_least(tx: &mut TenantTx, count: i64) -> Result<bool, DbError> {
    tx.exists(
        "select 1 from campaigns where workspace = ?1 and deleted_at is null order by id limit 1 offset ?2",
        params![count - 1],
    )
}

/// Saves everything but the id and the list, unless it was changed since the row was read. Returns whether it
/// was saved.
pub fn save(tx: &mut Tx<'_>, row: &CampaignRow) -> Result<bool, DbError> {
    changes::note(
        &mut tx.of(row.workspace),
        row.updated_at,
        None,
        Topic::Campaigns,
        Some(&row.id.to_string()),
    )?;
    let settings = &row.settings;
    let (sql, values) = update!(
        "campaigns" set {
            name: &row.name,
            agent: row.agent,
            dlt_template_ref: row.dlt_template_ref.as_deref(),
            status: row.status,
            from_number: settings.from_number.as_deref(),
            timezone: settings.timezone.as_deref(),
            start_at: settings.start_at,
            end_at: settings.end_at,
            daily_from: settings.daily_from.map(|at| at.to_string()),
            daily_to: settings.daily_to.map(|at| at.to_string()),
            retry_count: i64::from(settings.retry_count),
            cooldown_minutes: settings.cooldown_minutes,
            email_notifications: json!(settings.email_notifications),
            caller_ids: json!(settings.caller_ids),
            max_concurrent_calls: settings.max_concurrent_calls,
            updated_at: row.updated_at,
            started_at: row.started_at,
            completed_at: row.completed_at,
            trace: row.trace,
        } and "version = version + 1"
        where "workspace = ?1 and id = ?2 and version = ?3 and deleted_at is null", row.workspace, row.id, row.version
    );
    Ok(tx.exec(sql, &values)? > 0)
}

/// Activates a list. `newest` is the number of the newest list.
pub fn set_list(
    tx: &mut TenantTx,
    id: Id<Campaign>,
    list: i64,
    newest: i64,
    now: Timestamp,
) -> Result<(), DbError> {
    changes::note(tx, now, None, Topic::Campaigns, Some(&id.to_string()))?;
    tx.later(
        "update campaigns set list = ?3, newest_list = ?4, updated_at = ?5 where workspace = ?1 and id = ?2",
        params![id, list, newest, now],
    )
}

/// Counts the streams that feed it: 1 more, or 1 fewer with `-1`.
pub fn count_stream(tx: &mut TenantTx, id: Id<Campaign>, by: i64) -> Result<(), DbError> {
    tx.later(
        "update campaigns set streams = streams + cast(?3 as bigint) where workspace = ?1 and id = ?2",
        params![id, by],
    )
}

/// Deletes a campaign; its lists are to be retired, too.
pub fn delete(tx: &mut TenantTx, id: Id<Campaign>, now: Timestamp) -> Result<(), DbError> {
    changes::note(tx, now, None, Topic::Campaigns, Some(&id.to_string()))?;
    tx.later(
        "update campaigns set deleted_at = ?3 where workspace = ?1 and id = ?2 and deleted_at is null",
        params![id, now],
    )?;
    tx.later(
        "update campaign_progress set next_look = null where workspace = ?1 and campaign = ?2",
        params![id],
    )
}

row! {
    /// Id and name of a campaign that uses something.
    #[derive(Debug, Clone)]
    pub struct CampaignName {
        id: Id<Campaign>,
        name: String,
    }
}

/// Campaigns that use an agent and are not over, oldest first; up to `limit`.
pub fn of_agent(tx: &mut TenantTx, agent: Id<Agent>, limit: i64) -> Result<Vec<CampaignName>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from campaigns where workspace = ?1 and agent = ?2 and agent is not null and deleted_at is null \
         and status in ('draft', 'active', 'paused') order by id limit ?3",
        CampaignName::COLUMNS
    );
    tx.all(SQL, params![agent, limit])
}

/// Campaigns that call from a number and are not over, oldest first; up to `limit`. Rotating numbers are in a JSON
/// list, in which a quoted E.164 text is found as it is.
pub fn calling_from(tx: &mut TenantTx, number: &str, limit: i64) -> Result<Vec<CampaignName>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from campaigns where workspace = ?1 and deleted_at is null and status in ('draft', 'active', 'paused') \
         and (from_number = ?2 or caller_ids like ?3) order by id limit ?4",
        CampaignName::COLUMNS
    );
    tx.all(SQL, params![number, format!("%\"{number}\"%"), limit])
}

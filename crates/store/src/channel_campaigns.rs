//! Campaigns on the messaging channel: what they have beside the settings of every campaign, and what became of each
//! person of their lists.

use const_format::formatcp;
use domain::ids::{Campaign, ChannelMessage, ChannelTemplate, Contact, Id, ListRow};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::{Map, Value as Json};

use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx};
use crate::{contacts, params};

row! {
    /// The block of a campaign as stored.
    #[derive(Debug, Clone)]
    pub struct BlockRow in "channel_campaigns" {
        campaign: Id<Campaign>,
        workspace: Tenant,
        template: Id<ChannelTemplate>,
        /// Where each value of the template comes from, a JSON object.
        param_mapping: Json,
        /// `require` or `skip_check`.
        opt_in_policy: String,
        /// The provider's id of the requested number.
        phone_number_id: Option<String>,
        /// The same of the number that it sends from.
        sends_from: Option<String>,
        /// Messages a minute.
        rate: i64,
        /// Why it was paused by itself.
        paused_reason: Option<String>,
        /// The category of the template when it was published last.
        category: Option<String>,
        /// Whether it sends although the quality of its number is `RED`.
        quality_accepted: bool,
        /// Whether it continues although its template became marketing.
        marketing_accepted: bool,
        /// When it was published first.
        launched_at: Option<Timestamp>,
        /// When it was over.
        finished_at: Option<Timestamp>,
        /// How far its pace is used up, microseconds.
        used: i64,
        /// When it hands over the next messages.
        next_at: Option<Timestamp>,
        /// Outcomes before this do not count for its failure rate.
        counted_from: Timestamp,
        /// When its list was set.
        list_at: Timestamp,
    }
}

row! {
    /// What became of a person of a list.
    #[derive(Debug, Clone)]
    pub struct CampaignPersonRow in "channel_campaign_people" {
        /// The row of the list.
        list_row: Id<ListRow>,
        workspace: Tenant,
        campaign: Id<Campaign>,
        contact: Option<Id<Contact>>,
        message: Option<Id<ChannelMessage>>,
        /// What became of them: a word of `domain::channel::campaign::Outcome`.
        standing: String,
        /// The delivery step of a sent message.
        step: i64,
        /// Why the person was passed over.
        reason: Option<String>,
        /// The code of a failure.
        code: Option<i64>,
        /// Whether the person said STOP afterwards.
        opted_out: bool,
        /// When the person was written to or passed over.
        at: Timestamp,
    }
}

const BLOCK: &str = BlockRow::COLUMNS;
const PERSON: &str = CampaignPersonRow::COLUMNS;

/// Key prefixes of cached rows.
const CACHED_BLOCK: &str = "campaign block ";
const CACHED_PERSON: &str = "campaign person ";

fn block_of(tenant: Tenant, campaign: Id<Campaign>) -> String {
    format!("{CACHED_BLOCK}{tenant} {campaign}")
}

fn person_of(tenant: Tenant, message: Id<ChannelMessage>) -> String {
    format!("{CACHED_PERSON}{tenant} {message}")
}

fn unwritten(tenant: Tenant, contact: Id<Contact>) -> String {
    format!("{CACHED_PERSON}{tenant} none for {contact}")
}

/// Reads and caches these campaigns' settings of the channel, with one statement.
pub fn prefetch(tx: &mut TenantTx, campaigns: &[Id<Campaign>]) -> Result<(), DbError> {
    if campaigns.is_empty() {
        return Ok(());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, campaigns.iter().map(|id| (*id).into()));
    let sql = format!("select {BLOCK} from channel_campaigns where workspace = ?1 and campaign in {list}");
    for row in tx.all::<BlockRow>(&sql, &params)? {
        tx.cache_row(block_of(tx.tenant(), row.campaign), Some(row));
    }
    Ok(())
}

/// Reads, locks and caches the rows of the people to whom these messages were sent, with one statement, for
/// [`of_message`].
pub fn lock_each(
    tx: &mut TenantTx,
    messages: &[Id<ChannelMessage>],
) -> Result<Vec<CampaignPersonRow>, DbError> {
    let tenant = tx.tenant();
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, messages.iter().map(|id| (*id).into()));
    let sql = format!(
        "select {PERSON} from channel_campaign_people where workspace = ?1 and message in {list} order by list_row /*pg for update*/"
    );
    let rows: Vec<CampaignPersonRow> = tx.all(&sql, &params)?;
    for message in messages {
        tx.cache_row(person_of(tenant, *message), None::<CampaignPersonRow>);
    }
    for row in &rows {
        if let Some(message) = row.message {
            tx.cache_row(person_of(tenant, message), Some(row.clone()));
        }
    }
    Ok(rows)
}

/// Reads with one statement which of these people had a campaign message since `since`, and caches that for
/// [`newest_to`].
pub fn prefetch_written(
    tx: &mut TenantTx,
    contacts: &[Id<Contact>],
    since: Timestamp,
) -> Result<(), DbError> {
    if contacts.is_empty() {
        return Ok(());
    }
    let mut params = params![since].to_vec();
    let list = tx.any_of(&mut params, contacts.iter().map(|id| (*id).into()));
    let sql = format!(
        "select distinct contact from channel_campaign_people where workspace = ?1 and at >= ?2 and contact in {list}"
    );
    let written: Vec<Id<Contact>> = tx.all(&sql, &params)?;
    for contact in contacts.iter().filter(|contact| !written.contains(contact)) {
        tx.cache_row(unwritten(tx.tenant(), *contact), ());
    }
    Ok(())
}

/// Adds the block of a new campaign.
pub fn insert(tx: &mut Tx<'_>, row: &BlockRow) -> Result<(), DbError> {
    tx.later(BlockRow::INSERT, &row.values())
}

/// The block of a campaign.
pub fn get(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Option<BlockRow>, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached(&block_of(tx.tenant(), campaign))
    {
        return Ok(known);
    }
    let sql = formatcp!("select {BLOCK} from channel_campaigns where workspace = ?1 and campaign = ?2");
    tx.one(sql, params![campaign])
}

/// Like [`get`], locked until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Option<BlockRow>, DbError> {
    let sql = formatcp!(
        "select {BLOCK} from channel_campaigns where workspace = ?1 and campaign = ?2 /*pg for update*/"
    );
    tx.one(sql, params![campaign])
}

/// The blocks of all campaigns of a workspace.
pub fn all(tx: &mut TenantTx) -> Result<Vec<BlockRow>, DbError> {
    let sql = formatcp!("select {BLOCK} from channel_campaigns where workspace = ?1 order by campaign");
    tx.all(sql, &[])
}

/// The blocks of those campaigns of a workspace that are sending.
pub fn active(tx: &mut TenantTx) -> Result<Vec<BlockRow>, DbError> {
    let sql = formatcp!(
        "select {BLOCK} from channel_campaigns where workspace = ?1 and campaign in (
            select id from campaigns where workspace = ?1 and status = 'active' and deleted_at is null
        ) order by campaign"
    );
    tx.all(sql, &[])
}

/// Saves a row that the caller has locked.
pub fn save(tx: &mut Tx<'_>, row: &BlockRow) -> Result<(), DbError> {
    tx.uncache_all(CACHED_BLOCK);
    let (sql, values) = update!(
        "channel_campaigns" set {
            template: row.template,
            param_mapping: row.param_mapping.clone(),
            opt_in_policy: &row.opt_in_policy,
            phone_number_id: row.phone_number_id.as_deref(),
            sends_from: row.sends_from.as_deref(),
            rate: row.rate,
            paused_reason: row.paused_reason.as_deref(),
            category: row.category.as_deref(),
            quality_accepted: row.quality_accepted,
            marketing_accepted: row.marketing_accepted,
            launched_at: row.launched_at,
            finished_at: row.finished_at,
            used: row.used,
            next_at: row.next_at,
            counted_from: row.counted_from,
            list_at: row.list_at,
        }
        where "workspace = ?1 and campaign = ?2", row.workspace, row.campaign
    );
    tx.later(sql, &values)
}

/// Says when the list of a campaign was set; nothing for a campaign that calls.
pub fn list_set(tx: &mut TenantTx, campaign: Id<Campaign>, at: Timestamp) -> Result<(), DbError> {
    tx.uncache_all(CACHED_BLOCK);
    let sql = "update channel_campaigns set list_at = ?3 where workspace = ?1 and campaign = ?2";
    tx.later(sql, params![campaign, at])
}

/// A campaign hands nothing over any more.
pub fn rest(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<(), DbError> {
    tx.uncache_all(CACHED_BLOCK);
    let sql = "update channel_campaigns set next_at = null where workspace = ?1 and campaign = ?2";
    tx.later(sql, params![campaign])
}

/// Across workspaces: campaigns whose time has come, those that waited longest first.
pub fn due(tx: &mut Tx<'_>, now: Timestamp, most: i64) -> Result<Vec<(Tenant, Id<Campaign>)>, DbError> {
    let sql =
        "select workspace, campaign from channel_campaigns where next_at <= ?1 order by next_at limit ?2";
    tx.all(sql, params![now, most])
}

/// Across workspaces: when the next campaign is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let sql = "select min(next_at) from channel_campaigns where next_at is not null";
    let next: Option<Option<Timestamp>> = tx.one(sql, params![])?;
    Ok(next.flatten())
}

/// Notes what became of a person. A person is noted once: a second note is an error of the store.
pub fn note(tx: &mut Tx<'_>, row: &CampaignPersonRow) -> Result<(), DbError> {
    tx.uncache_all(CACHED_PERSON);
    tx.add(CampaignPersonRow::INSERT, &row.values())
}

/// The row of a message's recipient, locked until the transaction ends.
pub fn of_message(
    tx: &mut TenantTx,
    message: Id<ChannelMessage>,
) -> Result<Option<CampaignPersonRow>, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached(&person_of(tx.tenant(), message))
    {
        return Ok(known);
    }
    let sql = formatcp!(
        "select {PERSON} from channel_campaign_people where workspace = ?1 and message = ?2 /*pg for update*/"
    );
    tx.one(sql, params![message])
}

row! {
    /// The list row of an answered message.
    #[derive(Debug, Clone)]
    pub struct AnsweredRow {
        list_row: Id<ListRow> as "r.id",
        variables: Map<String, Json> as "r.variables",
    }
}

/// The row of a list for which a message was sent.
pub fn answered(tx: &mut TenantTx, message: Id<ChannelMessage>) -> Result<Option<AnsweredRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from channel_campaign_people p join campaign_rows r on r.id = p.list_row \
         where p.workspace = ?1 and p.message = ?2",
        AnsweredRow::COLUMNS
    );
    tx.one(SQL, params![message])
}

/// The newest campaign message to a contact since a timestamp, locked until the transaction ends.
pub fn newest_to(
    tx: &mut TenantTx,
    contact: Id<Contact>,
    since: Timestamp,
) -> Result<Option<CampaignPersonRow>, DbError> {
    let tenant = tx.tenant();
    if tx.has_cached_rows()
        && (tx.cached::<()>(&unwritten(tenant, contact)).is_some() || contacts::is_fresh(tx, contact))
    {
        return Ok(None);
    }
    let sql = formatcp!(
        "select {PERSON} from channel_campaign_people where workspace = ?1 and contact = ?2 and at >= ?3
            and standing in ('sending', 'sent', 'delivery_unknown') order by at desc limit 1 /*pg for update*/"
    );
    tx.one(sql, params![contact, since])
}

/// Writes what changes of a person.
pub fn save_person(tx: &mut Tx<'_>, row: &CampaignPersonRow) -> Result<(), DbError> {
    let (sql, values) = update!(
        "channel_campaign_people" set {
            standing: &row.standing,
            step: row.step,
            reason: row.reason.as_deref(),
            code: row.code,
            opted_out: row.opted_out,
        }
        where "workspace = ?1 and list_row = ?2", row.workspace, row.list_row
    );
    let otherwise = DbError::Retry("a person of a campaign went a moment ago".into());
    tx.change(sql, &values, otherwise)?;
    if tx.has_cached_rows()
        && let Some(message) = row.message
    {
        tx.cache_row(person_of(row.workspace, message), Some(row.clone()));
    }
    Ok(())
}

/// Deletes the row of a person, who is due again.
pub fn forget_person(tx: &mut TenantTx, list_row: Id<ListRow>) -> Result<(), DbError> {
    tx.uncache_all(CACHED_PERSON);
    tx.later("delete from channel_campaign_people where workspace = ?1 and list_row = ?2", params![list_row])
}

/// How many messages of a campaign are handed over and not sent yet.
pub fn on_their_way(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<i64, DbError> {
    let sql = "select count(*) from channel_campaign_people where workspace = ?1 and campaign = ?2 and standing = 'sending'";
    Ok(tx.one(sql, params![campaign])?.unwrap_or(0))
}

/// Outcome, delivery step, reason and code of people, with their number, and how many of them opted out afterwards.
pub type OutcomeCount = (String, i64, Option<String>, Option<i64>, i64, i64);

/// How many people of a campaign are where.
pub fn counts(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Vec<OutcomeCount>, DbError> {
    let sql = "select standing, step, reason, code, count(*), cast(sum(opted_out) as bigint) from channel_campaign_people
        where workspace = ?1 and campaign = ?2 group by standing, step, reason, code order by standing, step";
    tx.all(sql, params![campaign])
}

/// The number of the last `most` messages since a timestamp whose outcome counts, and how many of them failed.
pub fn recent_failures(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    since: Timestamp,
    most: i64,
) -> Result<(i64, i64), DbError> {
    let sql = "select count(*), cast(coalesce(sum(case when standing = 'failed' then 1 else 0 end), 0) as bigint) from (
            select standing from channel_campaign_people where workspace = ?1 and campaign = ?2 and at >= ?3
            and standing in ('sent', 'failed', 'delivery_unknown') order by at desc limit ?4
        ) as recent";
    Ok(tx.one(sql, params![campaign, since, most])?.unwrap_or((0, 0)))
}

/// The campaigns of these people of lists, of those who were handed over.
pub fn campaigns_of(
    tx: &mut TenantTx,
    list_rows: &[Id<ListRow>],
) -> Result<Vec<(Id<ListRow>, Id<Campaign>)>, DbError> {
    if list_rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = Vec::new();
    let rows = tx.any_of(&mut values, list_rows.iter().map(|id| (*id).into()));
    let sql = format!(
        "select list_row, campaign from channel_campaign_people where workspace = ?1 and list_row in {rows}"
    );
    tx.all(&sql, &values)
}

/// What people said on the channel: for each hash, whether messages are barred, marketing is barred, and it is allowed.
pub fn said(tx: &mut TenantTx, people: &[String]) -> Result<Vec<(String, bool, bool, bool, bool)>, DbError> {
    if people.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = Vec::new();
    let list = tx.any_of(&mut values, people.iter().map(|person| person.as_str().into()));
    tx.all(
        &format!(
            "select person, cast(case when stopped_at is null then 0 else 1 end as bigint), cast(case when marketing_stopped_at is null then 0 else 1 end as bigint), \
             cast(case when opted_in_at is null then 0 else 1 end as bigint), cast(case when erased_at is null then 0 else 1 end as bigint) \
             from channel_consents where workspace = ?1 and person in {list}"
        ),
        &values,
    )
}

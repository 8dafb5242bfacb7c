//! Calling lists. Each list of a campaign is a generation of rows: one is active, a staged one grows beside it until it
//! is activated atomically, and old ones are deleted in batches.

use const_format::formatcp;
use domain::campaign::{CountedState, HeldReason, InvalidReason, RowFailure, RowState};
use domain::ids::{Call, Campaign, Contact, DataStream, Id, ListRow};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::{Map, Value as Json};

use super::blocks::{self, Moves};
use crate::db::row::row;
use crate::db::{DbError, PLANNED_ANEW, TenantTx, Tx, Value};
use crate::params;

row! {
    /// A row of a calling list as stored.
    #[derive(Debug, Clone)]
    pub struct EntryRow in "campaign_rows" {
        id: Id<ListRow>,
        workspace: Tenant,
        campaign: Id<Campaign>,
        list: i64,
        /// Its place in the list, from 1.
        position: i64,
        /// E.164 if valid, else the raw input; `None` once the person is erased.
        phone: Option<String>,
        /// Keyed hash of a number that can be dialled.
        phone_hash: Option<String>,
        name: Option<String>,
        /// Values of the conversation, texts.
        variables: Map<String, Json>,
        /// Whether it is ever dialled.
        valid: bool,
        /// Why it is not.
        invalid_reason: Option<InvalidReason>,
        standing: CountedState = |standing| {
            state: RowState = standing.state,
            retryable: bool = standing.retryable,
            blocked: bool = standing.blocked,
        } => CountedState { state, retryable, blocked },
        /// Status of the last call, in its words.
        dial_status: Option<String>,
        /// Why it waits.
        held_reason: Option<HeldReason>,
        /// Dials so far.
        attempts: i64,
        /// Dials in a row that the carrier refused before any ring.
        refusals: i64,
        /// Why it failed without a call.
        failure: Option<RowFailure>,
        last_attempt_at: Option<Timestamp>,
        /// When it is due for the dialler.
        look_at: Option<Timestamp>,
        contact: Option<Id<Contact>>,
        /// The current or last call.
        call: Option<Id<Call>>,
        /// The own number that this person is called from.
        from_number: Option<String>,
        /// Its source stream.
        stream: Option<Id<DataStream>>,
        /// Grows with every save.
        version: i64,
    }
}

const COLUMNS: &str = EntryRow::COLUMNS;

row! {
    /// A new row: its fixed fields. List and position are set by the insert.
    #[derive(Debug, Clone)]
    pub struct FreshRow in "campaign_rows" {
        id: Id<ListRow>,
        /// E.164 if valid, else the raw input.
        phone: Option<String>,
        /// Keyed hash of a number that can be dialled.
        phone_hash: Option<String>,
        name: Option<String>,
        search: Option<String>,
        /// Values of the conversation, a JSON object.
        variables: String,
        /// Whether it is ever dialled.
        valid: bool,
        /// Why it is not.
        invalid_reason: Option<InvalidReason>,
        state: RowState,
        /// When it is due for the dialler.
        look_at: Option<Timestamp>,
        /// Its source stream.
        stream: Option<Id<DataStream>>,
    }
    insert with {
        workspace: Tenant, campaign: Id<Campaign>, list: i64, position: i64, attempts: i64, retryable: i64, blocked: i64, version: i64,
    }
}

impl FreshRow {
    /// An earlier row has its number.
    pub fn repeats(&mut self) {
        self.valid = false;
        self.invalid_reason = Some(InvalidReason::Duplicate);
        self.state = RowState::Invalid;
        self.look_at = None;
    }
}

/// Adds rows to a list, the first one at `position`. The caller has locked the campaign.
pub fn insert_all(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    position: i64,
    rows: &[FreshRow],
) -> Result<(), DbError> {
    let mut moves = Moves::default();
    (position..).zip(rows).for_each(|(position, row)| moves.entered(position, row.state));
    blocks::count(tx, campaign, list, &moves)?;
    let rows = (position..).zip(rows).map(|(position, row)| row.values(campaign, list, position, 0, 0, 0, 0));
    tx.insert_all(FreshRow::INTO, rows)
}

/// Key prefix of cached rows.
pub(super) const CACHED: &str = "list row ";

pub(super) fn name(tenant: Tenant, id: Id<ListRow>) -> String {
    format!("{CACHED}{tenant} {id}")
}

/// Reads and caches these rows, of any lists, with one statement.
pub fn prefetch(tx: &mut TenantTx, ids: &[Id<ListRow>]) -> Result<(), DbError> {
    if ids.is_empty() {
        return Ok(());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, ids.iter().map(|id| (*id).into()));
    let sql = format!("select {COLUMNS} from campaign_rows where workspace = ?1 and id in {list}");
    for row in tx.all::<EntryRow>(&sql, &params)? {
        tx.cache_row(name(tx.tenant(), row.id), row);
    }
    Ok(())
}

/// One row of the list in force.
pub fn get(tx: &mut TenantTx, campaign: Id<Campaign>, id: Id<ListRow>) -> Result<Option<EntryRow>, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached::<EntryRow>(&name(tx.tenant(), id))
    {
        return Ok(Some(known).filter(|row| row.campaign == campaign));
    }
    tx.one(
        formatcp!("select {COLUMNS} from campaign_rows where workspace = ?1 and campaign = ?2 and id = ?3"),
        params![campaign, id],
    )
}

/// The condition that finds a number in a list, by the indexes `campaign_row_by_number` (for valid rows) and
/// `campaign_rows_flagged_by_number`. Only they have the expression, so PostgreSQL has no choice of indexes: while its
/// statistics do not tell that a list is long, it takes any that begins with campaign and list, and reads the whole list.
pub(super) const NUMBER_IN_LIST: &str = "campaign || '' = ?2 and list = ?3 and phone_hash is not null";

/// Which of these numbers (keyed hashes) a list has already: one look-up for each.
pub fn listed(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    hashes: &[impl AsRef<str>],
) -> Result<Vec<String>, DbError> {
    let mut found = Vec::new();
    for hashes in hashes.chunks(LOOKED_UP) {
        let mut values = vec![campaign.into(), list.into()];
        let wanted = tx.column_of(&mut values, hashes.iter().map(|hash| hash.as_ref().into()));
        found.extend(tx.all::<String>(
            &format!(
                "with wanted(hash) as (values {wanted}) select hash from wanted where \
                 (select 1 from campaign_rows where workspace = ?1 and {NUMBER_IN_LIST} and valid = 1 \
                 and phone_hash = wanted.hash limit 1) = 1 {PLANNED_ANEW}"
            ),
            &values,
        )?);
    }
    Ok(found)
}

/// Most numbers of one statement.
const LOOKED_UP: usize = 512;

/// Rows of a list after a place in it, in order.
pub fn after(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    position: i64,
    limit: i64,
) -> Result<Vec<EntryRow>, DbError> {
    tx.all(
        formatcp!(
            "select {COLUMNS} from campaign_rows where workspace = ?1 and campaign = ?2 and list = ?3 and position > ?4 \
             order by position limit ?5"
        ),
        params![campaign, list, position, limit],
    )
}

/// Rows of a list in one state that are still to be called, after a place in it, in order.
pub fn to_call(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    state: RowState,
    position: i64,
    limit: i64,
) -> Result<Vec<EntryRow>, DbError> {
    tx.all(
        formatcp!(
            "select {COLUMNS} from campaign_rows where workspace = ?1 and campaign = ?2 and list = ?3 and state = ?4 and position > ?5 \
             and (state <> 'unreached' or retryable = 1) order by position limit ?6 {PLANNED_ANEW}"
        ),
        params![campaign, list, state, position, limit],
    )
}

/// How many rows of a list are never dialled, by reason.
pub fn count_invalid(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
) -> Result<Vec<(InvalidReason, i64)>, DbError> {
    tx.all(
        "select invalid_reason, count(*) from campaign_rows where workspace = ?1 and campaign = ?2 and list = ?3 and state = 'invalid' \
         group by invalid_reason order by invalid_reason",
        params![campaign, list],
    )
}

/// The first rows of a list that are never dialled for this reason.
pub fn first_invalid(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    reason: InvalidReason,
    limit: i64,
) -> Result<Vec<Id<ListRow>>, DbError> {
    tx.all(
        "select id from campaign_rows where workspace = ?1 and campaign = ?2 and list = ?3 and state = 'invalid' and invalid_reason = ?4 \
         order by position limit ?5",
        params![campaign, list, reason, limit],
    )
}

row! {
    /// A list that is not in force: staged, or about to be removed.
    #[derive(Debug, Clone)]
    pub struct ListState in "campaign_lists" {
        campaign: Id<Campaign>,
        list: i64,
        workspace: Tenant,
        /// Whether it is staged; an old one otherwise.
        staged: bool,
        length: i64,
        /// Those that can be dialled.
        valid: i64,
        /// Bytes of its variables.
        bytes: i64,
        /// The published flow against which its variables were checked.
        flow: Option<String>,
        /// When it grew last.
        touched_at: Timestamp,
    }
}

/// Adds a list that is not in force.
pub fn add_list(tx: &mut Tx<'_>, row: &ListState) -> Result<(), DbError> {
    tx.later(ListState::INSERT, &row.values())
}

/// The staged list of a campaign, which the caller has locked.
pub fn staged(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Option<ListState>, DbError> {
    tx.one(
        formatcp!(
            "select {} from campaign_lists where workspace = ?1 and campaign = ?2 and staged = 1",
            ListState::COLUMNS
        ),
        params![campaign],
    )
}

/// Saves what grew of a staged list.
pub fn grow(tx: &mut Tx<'_>, row: &ListState) -> Result<(), DbError> {
    tx.later(
        "update campaign_lists set length = ?4, valid = ?5, bytes = ?6, touched_at = ?7 where workspace = ?1 and campaign = ?2 and list = ?3",
        params![row.workspace, row.campaign, row.list, row.length, row.valid, row.bytes, row.touched_at],
    )
}

/// So many rows of a list that is staged or filled cannot be dialled any more.
pub fn lose_valid(tx: &mut TenantTx, campaign: Id<Campaign>, list: i64, by: i64) -> Result<(), DbError> {
    tx.later(
        "update campaign_lists set valid = valid - cast(?4 as bigint) where workspace = ?1 and campaign = ?2 and list = ?3 and staged > 0",
        params![campaign, list, by],
    )
}

/// Begins a list for one upload request, beside the active and the staged one. The caller has locked the campaign.
pub fn begin_filling(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.later(
        "insert into campaign_lists (campaign, list, workspace, staged, length, valid, bytes, touched_at) values (?2, ?3, ?1, 2, 0, 0, 0, ?4)",
        params![campaign, list, now],
    )
}

/// Adds to the size of an uploaded list: rows, dialable rows, and bytes; `false` if it was discarded.
pub fn fill(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    (rows, valid, bytes): (i64, i64, i64),
    now: Timestamp,
) -> Result<bool, DbError> {
    let changed = tx.exec(
        "update campaign_lists set length = length + cast(?4 as bigint), valid = valid + cast(?5 as bigint), bytes = bytes + cast(?6 as bigint), \
         touched_at = ?7 where workspace = ?1 and campaign = ?2 and list = ?3 and staged = 2",
        params![campaign, list, rows, valid, bytes, now],
    )?;
    Ok(changed > 0)
}

/// Rows of an uploaded list, and those that can be dialled; none if it was discarded.
pub fn filled(tx: &mut TenantTx, campaign: Id<Campaign>, list: i64) -> Result<Option<(i64, i64)>, DbError> {
    tx.one(
        "select length, valid from campaign_lists where workspace = ?1 and campaign = ?2 and list = ?3 and staged = 2 /*pg for update*/",
        params![campaign, list],
    )
}

/// Discards an uploaded list, whose rows are then deleted.
pub fn give_up_filling(tx: &mut TenantTx, campaign: Id<Campaign>, list: i64) -> Result<(), DbError> {
    tx.later(
        "update campaign_lists set staged = 0 where workspace = ?1 and campaign = ?2 and list = ?3 and staged = 2",
        params![campaign, list],
    )
}

/// Discards a staged list, whose rows are then deleted.
pub fn give_up(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<bool, DbError> {
    Ok(tx.exec(
        "update campaign_lists set staged = 0 where workspace = ?1 and campaign = ?2 and staged = 1",
        params![campaign],
    )? > 0)
}

/// Marks a staged list as activated.
pub fn unstage(tx: &mut TenantTx, campaign: Id<Campaign>, list: i64) -> Result<(), DbError> {
    tx.later(
        "delete from campaign_lists where workspace = ?1 and campaign = ?2 and list = ?3",
        params![campaign, list],
    )
}

/// Across workspaces: discards staged lists that have not grown since `stale`, and deletes up to `limit` rows of old
/// lists. Returns whether more may be left.
pub fn sweep(tx: &mut Tx<'_>, stale: Timestamp, limit: i64) -> Result<bool, DbError> {
    tx.later("update campaign_lists set staged = 0 where staged > 0 and touched_at < ?1", params![stale])?;
    let old: Option<(Id<Campaign>, i64)> = tx.one(
        "select campaign, list from campaign_lists where staged = 0 order by touched_at limit 1 /*pg for update skip locked*/",
        &[],
    )?;
    let Some((campaign, list)) = old else { return Ok(false) };
    let removed = tx.exec(
        "delete from campaign_rows where id in (select id from campaign_rows where campaign = ?1 and list = ?2 order by position limit ?3)",
        params![campaign, list, limit],
    )?;
    if (removed as i64) < limit {
        tx.later("delete from campaign_lists where campaign = ?1 and list = ?2", params![campaign, list])?;
        tx.later("delete from campaign_holds where campaign = ?1 and list = ?2", params![campaign, list])?;
        tx.later("delete from campaign_blocks where campaign = ?1 and list = ?2", params![campaign, list])?;
    }
    Ok(true)
}

/// Across workspaces: when the staged list that has rested longest grew last.
pub fn oldest_staged(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx.one("select min(touched_at) from campaign_lists where staged > 0", &[])?.flatten())
}

/// Rows of a person in any list of the workspace, locked until the transaction ends. It searches each list: an index
/// over the numbers of all lists would slow down each import for a rare query.
pub fn of_person(tx: &mut TenantTx, hashes: &[String]) -> Result<Vec<EntryRow>, DbError> {
    let mut found = Vec::new();
    for hash in hashes {
        for valid in [1, 0] {
            found.extend(tx.all::<EntryRow>(
                &format!(
                    "select {COLUMNS} from campaign_rows where workspace = ?1 and id in (select r.id from \
                     (select id as campaign, list from campaigns where workspace = ?1 union all \
                     select campaign, list from campaign_lists where workspace = ?1) as lists cross join campaign_rows r \
                     where r.campaign || '' = lists.campaign || '' and r.list = lists.list and r.valid = {valid} \
                     and r.phone_hash is not null and r.phone_hash = ?2) order by campaign, list, position /*pg for update*/"
                ),
                params![hash],
            )?);
        }
    }
    Ok(found)
}

/// Takes everything personal out of a row. It is never dialled any more. While its call goes on it keeps the moment at which
/// the call is looked at, so that its campaign is looked at, too.
pub fn erase(tx: &mut TenantTx, row: &EntryRow, standing: CountedState) -> Result<(), DbError> {
    tx.later(
        "update campaign_rows set phone = null, phone_hash = null, name = null, search = null, variables = '{}', contact = null, \
         valid = 0, invalid_reason = 'erased', state = ?3, retryable = ?4, blocked = ?5, held_reason = null, \
         look_at = case when cast(?3 as text) = 'in_progress' then look_at end, version = version + 1 where workspace = ?1 and id = ?2",
        params![row.id, standing.state, standing.retryable, standing.blocked],
    )
}

/// Values of a query about one list, from `?2` on.
pub(super) fn of_list(campaign: Id<Campaign>, list: i64) -> Vec<Value<'static>> {
    vec![campaign.into(), list.into()]
}

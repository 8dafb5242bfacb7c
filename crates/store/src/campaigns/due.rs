//! The dialler's view of campaigns: due campaigns, their due rows, and the updates of a round.
//!
//! A campaign's `next_look` is never later than the earliest `look_at` of its list. Code that writes a `look_at`
//! outside of the dialler's round touches the progress after it, in the same transaction; the dialler moves `next_look`
//! forward only if the version that it has read is unchanged.

use const_format::formatcp;
use domain::campaign::{HeldReason, RowState};
use domain::ids::{Call, Campaign, CampaignRun, Id, ListRow};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use super::CampaignRow;
use super::blocks::Moves;
use super::list::{self, EntryRow};
use super::progress::ProgressRow;
use crate::calls::LONGEST_CALL;
use crate::db::row::update;
use crate::db::{CampaignCounter, Counter, DbError, Fold, FromRow, Row, TenantTx, Tx, any_of};
use crate::params;

/// Across workspaces: campaigns to serve now, those of the workspace that was served longest ago first, and of
/// each workspace at most `share`, the one that was served longest ago first. With `lines`, also those with rows
/// that wait for a line.
pub fn due_campaigns(
    tx: &mut Tx<'_>,
    now: Timestamp,
    lines: bool,
    share: i64,
    limit: i64,
) -> Result<Vec<(Tenant, Id<Campaign>)>, DbError> {
    const OPENING: &str = "select workspace, campaign from (select p.workspace, p.campaign, \
         (select max(q.served) from campaign_progress q where q.workspace = p.workspace) as turn, \
         row_number() over (partition by p.workspace order by p.served, p.campaign) as place from campaign_progress p \
         join (select campaign from campaign_progress where next_look is not null and next_look <= ?1";
    const END: &str = ") due on due.campaign = p.campaign) turns where place <= ?2 order by turn, workspace, place limit ?3";
    const DUE: &str = formatcp!("{OPENING}{END}");
    const DUE_OR_WITHOUT_LINE: &str =
        formatcp!("{OPENING} union select campaign from campaign_progress where without_line = 1{END}");
    tx.all(if lines { DUE_OR_WITHOUT_LINE } else { DUE }, params![now, share, limit])
}

/// Across workspaces: how many campaigns wait for a line.
pub(crate) const WAITING: &str = "select count(*) from campaign_progress where without_line = 1";
/// Across workspaces: when the next campaign is due.
pub(crate) const NEXT_LOOK: &str = "select min(next_look) from campaign_progress where next_look is not null";

/// Across workspaces: these campaigns, locked until the transaction ends; locked and deleted ones are skipped.
pub fn lock_each(tx: &mut Tx<'_>, campaigns: &[Id<Campaign>]) -> Result<Vec<CampaignRow>, DbError> {
    if campaigns.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = Vec::new();
    let any = any_of(&mut values, campaigns.iter().map(|id| (*id).into()));
    let sql = format!(
        "select {} from campaigns where id in {any} and deleted_at is null order by id /*pg for update skip locked*/",
        CampaignRow::COLUMNS
    );
    tx.all(&sql, &values)
}

/// Across workspaces: the progress of these campaigns.
pub fn progress_of(tx: &mut Tx<'_>, campaigns: &[Id<Campaign>]) -> Result<Vec<ProgressRow>, DbError> {
    if campaigns.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = Vec::new();
    let any = any_of(&mut values, campaigns.iter().map(|id| (*id).into()));
    tx.all(
        &format!("select {} from campaign_progress where campaign in {any}", ProgressRow::COLUMNS),
        &values,
    )
}

/// Lines for which nudges and scheduled calls of the workspace wait, which precede campaigns. `None`: so many nudges
/// are due that they are not counted yet.
pub fn lines_wanted(tx: &mut TenantTx, now: Timestamp) -> Result<Option<i64>, DbError> {
    let found: Option<(i64, i64)> = tx.one(
        "select coalesce((select without_line + case when next_look <= ?2 then cast(1000000000 as bigint) else 0 end from nudge_queues \
         where workspace = ?1 and mode = 'live'), 0), (select count(*) from scheduled_calls s where workspace = ?1 and mode = 'live' \
         and status = 'scheduled' and call is null and (next_attempt_at <= ?2 or reason = 'concurrency_full') \
         and not exists (select 1 from calls c where c.workspace = ?1 and c.to_number = s.to_number and c.mode = 'live' \
         and c.block_reason is null and c.started_at > ?3 and c.phase is null))",
        params![now, now.plus(-LONGEST_CALL)],
    )?;
    let (nudges, calls) = found.unwrap_or_default();
    Ok((nudges < 1_000_000_000).then_some(nudges + calls))
}

/// Many rows are boxed: a list of whole rows would be one large block of memory, allocated anew each time.
impl FromRow for Box<EntryRow> {
    fn from_row(row: &mut Row<'_>) -> Result<Self, DbError> {
        row.read().map(Box::new)
    }
}

/// Rows of a list whose time has come, those that wait longest first, locked against other nodes until the
/// transaction ends.
pub fn to_look_at(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Box<EntryRow>>, DbError> {
    tx.all(
        formatcp!(
            "select {} from campaign_rows where workspace = ?1 and campaign = ?2 and list = ?3 and look_at is not null and look_at <= ?4 \
             order by look_at, position limit ?5 /*pg for update skip locked*/",
            EntryRow::COLUMNS
        ),
        params![campaign, list, now, limit],
    )
}

/// Rows of a list that were tried and that are not reached, of the places after `after` up to `last`, locked until the
/// transaction ends: those whose calls go on are waited for.
pub fn tried(
    tx: &mut TenantTx,
    (campaign, list): (Id<Campaign>, i64),
    after: i64,
    last: i64,
) -> Result<Vec<Box<EntryRow>>, DbError> {
    tx.all(
        formatcp!(
            "select {} from campaign_rows where workspace = ?1 and campaign = ?2 and list = ?3 and position > ?4 and position <= ?5 \
             and attempts > 0 and state in ('unreached', 'held', 'in_progress') order by position /*pg for update*/",
            EntryRow::COLUMNS
        ),
        params![campaign, list, after, last],
    )
}

/// Whether a row of a list is due.
pub fn any_due(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    now: Timestamp,
) -> Result<bool, DbError> {
    tx.exists(
        "select 1 from campaign_rows where workspace = ?1 and campaign = ?2 and list = ?3 and look_at is not null and look_at <= ?4",
        params![campaign, list, now],
    )
}

fn row_key(call: Id<Call>) -> String {
    format!("row of {call}")
}

/// Caches a row that was just saved, by its call.
pub fn cache_row(tx: &mut Tx<'_>, row: EntryRow) {
    if let Some(call) = row.call {
        tx.cache_row(row_key(call), row);
    }
}

/// The cached row of a call.
pub(crate) fn cached_row<'t>(tx: &'t TenantTx<'_, '_>, call: Id<Call>) -> Option<&'t EntryRow> {
    let tenant = tx.tenant();
    tx.cached_ref::<EntryRow>(&row_key(call)).filter(|row| row.workspace == tenant)
}

/// The row whose current or last call this is, locked until the transaction ends.
pub fn row_of_call(tx: &mut TenantTx, call: Id<Call>) -> Result<Option<EntryRow>, DbError> {
    let tenant = tx.tenant();
    if let Some(held) = tx.take_cached::<EntryRow>(&row_key(call)) {
        return Ok(Some(held).filter(|row| row.workspace == tenant));
    }
    tx.one(
        formatcp!(
            "select {} from campaign_rows where workspace = ?1 and call = ?2 and call is not null /*pg for update*/",
            EntryRow::COLUMNS
        ),
        params![call],
    )
}

/// Saves a row; the transaction fails if it changed since it was read. `before` is its old state: the caller counts
/// `moves` with the counters of the list ([`super::blocks::count`]).
pub fn save_row(tx: &mut Tx<'_>, row: &EntryRow, before: RowState, moves: &mut Moves) -> Result<(), DbError> {
    moves.moved(row.position, before, row.standing.state);
    if tx.has_cached_rows() {
        tx.uncache(&list::name(row.workspace, row.id));
    }
    let (sql, values) = update!(
        "campaign_rows" set {
            state: row.standing.state,
            retryable: row.standing.retryable,
            blocked: row.standing.blocked,
            dial_status: row.dial_status.as_deref(),
            held_reason: row.held_reason,
            attempts: row.attempts,
            refusals: row.refusals,
            failure: row.failure,
            last_attempt_at: row.last_attempt_at,
            look_at: row.look_at,
            contact: row.contact,
            call: row.call,
            from_number: row.from_number.as_deref(),
        } and "version = version + 1"
        where "workspace = ?1 and id = ?2 and version = ?3", row.workspace, row.id, row.version
    );
    let otherwise = DbError::Internal("a row of a list was changed by somebody who did not hold it".into());
    tx.change(sql, &values, otherwise)
}

/// Sets many rows, which the caller has locked, to held for one reason.
pub fn hold_each(
    tx: &mut TenantTx,
    rows: &[Id<ListRow>],
    reason: HeldReason,
    until: Timestamp,
) -> Result<(), DbError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut values = params![reason, until].to_vec();
    let any = tx.any_of(&mut values, rows.iter().map(|id| (*id).into()));
    tx.later(
        &format!(
            "update campaign_rows set state = 'held', retryable = 0, blocked = 0, held_reason = ?2, look_at = ?3, version = version + 1 \
             where workspace = ?1 and id in {any}"
        ),
        &values,
    )
}

/// A row is due at a timestamp. A campaign without a due time keeps none. Without live calls of the list the campaign
/// is due now, since its run may be over. Sent with the campaign's counters, after those that were changed before
/// ([`Tx::count`]).
pub fn touch(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    look_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.tally(
        Counter::Campaign(CampaignCounter::Progress(campaign.bits())),
        "update campaign_progress set version = version + 1, next_look = case when next_look is null then null \
         when in_progress <= 0 and next_look > ?4 then cast(?4 as bigint) \
         when cast(?3 as bigint) is not null and next_look > cast(?3 as bigint) then cast(?3 as bigint) else next_look end \
         where workspace = ?1 and campaign = ?2",
        &[Fold::Same, Fold::Same, Fold::Least, Fold::Same],
        params![campaign, look_at, now],
        None,
    )
}

/// When a campaign is due next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextLook {
    /// At this timestamp, whatever its rows say; `None`: not until [`progress::look_at`](super::progress::look_at) sets
    /// one.
    At(Option<Timestamp>),
    /// When the next row is due, at the latest at this timestamp.
    NextRow(Option<Timestamp>),
}

/// Ends the dialler's round for a campaign: puts it last in the round-robin, and sets when it is due next.
pub fn serve(
    tx: &mut Tx<'_>,
    progress: &ProgressRow,
    run: Option<Id<CampaignRun>>,
    without_line: bool,
    next: NextLook,
) -> Result<(), DbError> {
    const SERVED: &str = "update campaign_progress set run = ?3, without_line = ?4, version = version + 1, \
         served = (select max(served) from campaign_progress) + 1, next_look = ";
    const AT: &str = formatcp!("{SERVED}?5 where workspace = ?1 and campaign = ?2");
    // The statement reads the rows when it runs, after all writes of this round.
    const NEXT_ROW: &str = formatcp!(
        "{SERVED}case when version = cast(?6 as bigint) then (select min(look_at) from (select min(look_at) as look_at from campaign_rows \
         where campaign = ?2 and list = ?7 and look_at is not null union all select cast(?5 as bigint)) looks) else next_look end \
         where workspace = ?1 and campaign = ?2"
    );
    let (tenant, campaign, waits) = (progress.workspace, progress.campaign, i64::from(without_line));
    match next {
        NextLook::At(at) => tx.later(AT, params![tenant, campaign, run, waits, at]),
        NextLook::NextRow(latest) => {
            tx.later(NEXT_ROW, params![tenant, campaign, run, waits, latest, progress.version, progress.list])
        }
    }
}

/// Dials of a day from each of its own numbers.
pub fn dials_of_day(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    day: i64,
) -> Result<Vec<(String, i64)>, DbError> {
    tx.all(
        "select number, dials from campaign_senders where workspace = ?1 and campaign = ?2 and day = ?3",
        params![campaign, day],
    )
}

/// Counts dials from an own number, and forgets those of earlier days.
pub fn count_dials(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    number: &str,
    day: i64,
    dials: i64,
) -> Result<(), DbError> {
    tx.later(
        "insert into campaign_senders (campaign, number, day, workspace, dials) values (?2, ?3, ?4, ?1, ?5) \
         on conflict (campaign, number, day) do update set dials = campaign_senders.dials + excluded.dials",
        params![campaign, number, day, dials],
    )?;
    tx.later(
        "delete from campaign_senders where workspace = ?1 and campaign = ?2 and number = ?3 and day < ?4",
        params![campaign, number, day],
    )
}

/// Adds what a call of a campaign was charged. It is a counter of the transaction ([`Tx::tally`]).
pub fn charge(tx: &mut TenantTx, campaign: Id<Campaign>, amount: i64) -> Result<(), DbError> {
    tx.tally(
        Counter::Campaign(CampaignCounter::Progress(campaign.bits())),
        "update campaign_progress set spent_minor = spent_minor + cast(?3 as bigint) where workspace = ?1 and campaign = ?2",
        &[Fold::Same, Fold::Same, Fold::Sum],
        params![campaign, amount],
        None,
    )
}

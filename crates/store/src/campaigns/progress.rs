//! What changes with every dial of a campaign: its counters, and when it is looked at. One row for each campaign,
//! locked after the campaign itself.

use const_format::formatcp;
use domain::campaign::{HeldReason, Tally};
use domain::ids::{Campaign, CampaignRun, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{CampaignCounter, Counter, DbError, Fold, TenantTx, Value};
use crate::params;

row! {
    /// The progress of a campaign.
    #[derive(Debug, Clone)]
    pub struct ProgressRow in "campaign_progress" {
        campaign: Id<Campaign>,
        workspace: Tenant,
        /// The list that is counted: the one in force.
        list: i64,
        /// How many rows are where.
        rows: Tally = |rows| {
            total: i64 = rows.total,
            reached: i64 = rows.reached,
            in_progress: i64 = rows.in_progress,
            unreached: i64 = rows.unreached,
            held: i64 = rows.held,
            queued: i64 = rows.queued,
            invalid: i64 = rows.invalid,
            retryable: i64 = rows.retryable,
            blocked: i64 = rows.blocked,
        } => Tally { total, reached, in_progress, unreached, held, queued, invalid, retryable, blocked },
        /// Totals of its calls, with those of earlier lists.
        calls: Calls = |calls| {
            dialled: i64 = calls.dialled,
            answered: i64 = calls.answered,
            talk_ms: i64 = calls.talk_ms,
            spent_minor: i64 = calls.spent_minor,
        } => Calls { dialled, answered, talk_ms, spent_minor },
        last_call_at: Option<Timestamp>,
        /// When it is due for the dialler; `None` while there is nothing to do.
        next_look: Option<Timestamp>,
        /// Grows each time the dialler serves it.
        served: i64,
        /// The run under way.
        run: Option<Id<CampaignRun>>,
        /// The position up to which tried rows were checked against changed retry settings; `None` when all are.
        retune_after: Option<i64>,
        /// Grows with every save.
        version: i64,
    }
}

const COLUMNS: &str = ProgressRow::COLUMNS;

/// Totals of calls, or their change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Calls {
    pub dialled: i64,
    pub answered: i64,
    /// Talk time of these, milliseconds.
    pub talk_ms: i64,
    /// What they cost, minor units.
    pub spent_minor: i64,
}

/// A change of the counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delta {
    /// The list that the rows are of: rows of a list that is not in force any more change nothing.
    pub list: i64,
    pub rows: Tally,
    /// Totals of calls.
    pub calls: Calls,
    /// The timestamp of a dial.
    pub last_call_at: Option<Timestamp>,
}

/// Adds the progress of a new campaign.
pub fn insert(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<(), DbError> {
    let tenant = tx.tenant();
    let row = ProgressRow {
        campaign,
        workspace: tenant,
        list: 0,
        rows: Tally::default(),
        calls: Calls::default(),
        last_call_at: None,
        next_look: None,
        served: 0,
        run: None,
        retune_after: None,
        version: 0,
    };
    tx.unbound().later(ProgressRow::INSERT, &row.values())
}

/// The progress of a campaign.
pub fn get(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Option<ProgressRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from campaign_progress where workspace = ?1 and campaign = ?2"),
        params![campaign],
    )
}

/// The progress of a campaign, locked against other writers until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Option<ProgressRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from campaign_progress where workspace = ?1 and campaign = ?2 /*pg for update*/"
        ),
        params![campaign],
    )
}

/// The progress of all campaigns of a workspace that are not deleted, newest first.
pub fn list_all(tx: &mut TenantTx) -> Result<Vec<ProgressRow>, DbError> {
    tx.all(
        formatcp!(
            "select {COLUMNS} from campaign_progress where workspace = ?1 \
             and campaign in (select id from campaigns where workspace = ?1 and deleted_at is null) order by campaign desc"
        ),
        &[],
    )
}

/// A term that grows a counter of the list, if the list is the one in force.
macro_rules! counted {
    ($name:literal, $place:literal) => {
        concat!($name, " = ", $name, " + case when list = ?3 then cast(", $place, " as bigint) else 0 end, ")
    };
}

const ADD: &str = concat!(
    "update campaign_progress set ",
    counted!("total", "?4"),
    counted!("reached", "?5"),
    counted!("in_progress", "?6"),
    counted!("unreached", "?7"),
    counted!("held", "?8"),
    counted!("queued", "?9"),
    counted!("invalid", "?10"),
    counted!("retryable", "?11"),
    counted!("blocked", "?12"),
    "dialled = dialled + cast(?13 as bigint), answered = answered + cast(?14 as bigint), \
     talk_ms = talk_ms + cast(?15 as bigint), spent_minor = spent_minor + cast(?16 as bigint), \
     last_call_at = case when cast(?17 as bigint) is null or last_call_at > cast(?17 as bigint) then last_call_at else cast(?17 as bigint) end \
     where workspace = ?1 and campaign = ?2"
);

/// Changes of the same list are one.
const ADDED: [Fold; 17] = {
    let mut folds = [Fold::Sum; 17];
    (folds[0], folds[1], folds[2], folds[16]) = (Fold::Same, Fold::Same, Fold::Same, Fold::Most);
    folds
};

fn added(campaign: Id<Campaign>, delta: &Delta) -> [Value<'static>; 16] {
    let Delta { list, rows, calls, last_call_at } = delta;
    [
        campaign.into(),
        (*list).into(),
        rows.total.into(),
        rows.reached.into(),
        rows.in_progress.into(),
        rows.unreached.into(),
        rows.held.into(),
        rows.queued.into(),
        rows.invalid.into(),
        rows.retryable.into(),
        rows.blocked.into(),
        calls.dialled.into(),
        calls.answered.into(),
        calls.talk_ms.into(),
        calls.spent_minor.into(),
        (*last_call_at).into(),
    ]
}

/// Updates the counters of a campaign with one statement, for a transaction that reads them again.
pub fn add(tx: &mut TenantTx, campaign: Id<Campaign>, delta: &Delta) -> Result<(), DbError> {
    tx.later(ADD, &added(campaign, delta))
}

/// The same for a transaction that does not read them again ([`Tx::count`]).
pub fn count(tx: &mut TenantTx, campaign: Id<Campaign>, delta: &Delta) -> Result<(), DbError> {
    let counter = Counter::Campaign(CampaignCounter::Progress(campaign.bits()));
    tx.tally(counter, ADD, &ADDED, &added(campaign, delta), None)
}

/// Counts rows of a list in: the first time, or in place of those of an older list.
pub fn start_list(tx: &mut TenantTx, campaign: Id<Campaign>, list: i64, rows: &Tally) -> Result<(), DbError> {
    tx.later(
        "update campaign_progress set list = ?3, total = ?4, reached = ?5, in_progress = ?6, unreached = ?7, held = ?8, queued = ?9, \
         invalid = ?10, retryable = ?11, blocked = ?12, retune_after = null where workspace = ?1 and campaign = ?2",
        params![
            campaign,
            list,
            rows.total,
            rows.reached,
            rows.in_progress,
            rows.unreached,
            rows.held,
            rows.queued,
            rows.invalid,
            rows.retryable,
            rows.blocked
        ],
    )
}

/// Makes a campaign due at a timestamp, unless it is due earlier.
pub fn look_at(tx: &mut TenantTx, campaign: Id<Campaign>, at: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update campaign_progress set next_look = ?3 where workspace = ?1 and campaign = ?2 and (next_look is null or next_look > ?3)",
        params![campaign, at],
    )
}

/// The same for a campaign that is looked at later; one that rests goes on resting.
pub fn look_earlier(tx: &mut TenantTx, campaign: Id<Campaign>, at: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update campaign_progress set next_look = ?3 where workspace = ?1 and campaign = ?2 and next_look > ?3",
        params![campaign, at],
    )
}

/// Makes all campaigns of a workspace due at a timestamp that are due later.
pub fn look_at_all(tx: &mut TenantTx, at: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update campaign_progress set next_look = ?2, version = version + 1 where workspace = ?1 and next_look is not null and next_look > ?2",
        params![at],
    )
}

/// Sets the position up to which tried rows of the active list were checked against changed retry settings; `None`:
/// all.
pub fn retune(tx: &mut TenantTx, campaign: Id<Campaign>, after: Option<i64>) -> Result<(), DbError> {
    tx.later(
        "update campaign_progress set retune_after = ?3 where workspace = ?1 and campaign = ?2",
        params![campaign, after],
    )
}

/// The dialler has nothing to do for a campaign.
pub fn rest(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<(), DbError> {
    tx.later(
        "update campaign_progress set next_look = null, run = null, without_line = 0 where workspace = ?1 and campaign = ?2",
        params![campaign],
    )
}

/// Adds to the number of rows of a list that are held for a reason. It is a counter ([`Tx::count`]).
pub fn count_held(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    reason: HeldReason,
    by: i64,
) -> Result<(), DbError> {
    tx.tally(
        Counter::Campaign(CampaignCounter::Held(campaign.bits(), list, reason.as_str())),
        "insert into campaign_holds (workspace, campaign, list, reason, held) values (?1, ?2, ?3, ?4, ?5) \
         on conflict (campaign, list, reason) do update set held = campaign_holds.held + excluded.held",
        &[Fold::Same, Fold::Same, Fold::Same, Fold::Same, Fold::Sum],
        params![campaign, list, reason, by],
        None,
    )
}

/// The number of held rows of a list by reason.
pub fn held(tx: &mut TenantTx, campaign: Id<Campaign>, list: i64) -> Result<Vec<(HeldReason, i64)>, DbError> {
    tx.all(
        "select reason, held from campaign_holds where workspace = ?1 and campaign = ?2 and list = ?3 and held > 0 order by reason",
        params![campaign, list],
    )
}

/// Deletes the counts of held rows of older lists.
pub fn forget_held(tx: &mut TenantTx, campaign: Id<Campaign>, list: i64) -> Result<(), DbError> {
    tx.later(
        "delete from campaign_holds where workspace = ?1 and campaign = ?2 and list < ?3",
        params![campaign, list],
    )
}

/// The progress of these campaigns.
pub fn of(tx: &mut TenantTx, campaigns: &[Id<Campaign>]) -> Result<Vec<ProgressRow>, DbError> {
    if campaigns.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = Vec::new();
    let list = tx.any_of(&mut values, campaigns.iter().map(|id| (*id).into()));
    tx.all(
        &format!("select {COLUMNS} from campaign_progress where workspace = ?1 and campaign in {list}"),
        &values,
    )
}

//! Pages and counts of a calling list. Without a search a page is a range of an index and the counts stand in the
//! progress of the campaign, so both cost the same however long the list is. A search reads the list.

use const_format::formatcp;
use domain::campaign::{RowState, Tally};
use domain::ids::{Campaign, Id};
use domain::tenant::Tenant;

use super::list::{EntryRow, of_list};
use crate::db::{DbError, Tx};

/// Which rows of a list are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All.
    All,
    /// Those in a state.
    In(RowState),
    /// Those that could be dialled but for the do-not-call list of the workspace.
    DoNotCall,
}

/// A part of a list.
#[derive(Debug, Clone)]
pub struct Page {
    /// The list.
    pub list: i64,
    /// Which rows.
    pub wanted: Wanted,
    /// What their names or numbers contain.
    pub search: Option<String>,
    /// How many.
    pub limit: i64,
    /// How many come before them.
    pub offset: i64,
}

const COLUMNS: &str = EntryRow::COLUMNS;
const IN_LIST: &str = "workspace = ?1 and campaign = ?2 and list = ?3";
/// Holds for a row that contains the text in the given place.
macro_rules! contains {
    ($place:literal) => {
        concat!(
            "/*sqlite*/instr(search, ", $place, ") > 0/*end*/ /*pg strpos(search, ", $place, ") > 0*/"
        )
    };
}
/// Rows on the do-not-call list: as many look-ups as one of the two has entries. SQLite begins with the one that
/// is named first.
const LISTED: &str = "d.workspace = ?1 and r.workspace = ?1 and r.campaign = ?2 and r.list = ?3 and r.valid = 1 \
     and r.phone_hash is not null and r.phone_hash = d.phone_hash";
const LIST_FIRST: &str = "campaign_rows r cross join do_not_call d";
const ENTRIES_FIRST: &str = "do_not_call d cross join campaign_rows r";

/// Whether the calling list has fewer rows than the do-not-call list has entries.
fn is_shorter(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    campaign: Id<Campaign>,
) -> Result<bool, DbError> {
    tx.exists(
        "select 1 from campaign_progress p join do_not_call_heads h on h.workspace = p.workspace \
         where p.workspace = ?1 and p.campaign = ?2 and p.total < h.total",
        crate::params![tenant, campaign],
    )
}

/// A page of a list, in its order.
pub fn page(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    campaign: Id<Campaign>,
    page: &Page,
) -> Result<Vec<EntryRow>, DbError> {
    let mut values = of_list(tenant, campaign, page.list);
    let mut bounds = |limit: i64, offset: i64| values.extend([limit.into(), offset.into()]);
    let Some(search) = &page.search else {
        return match page.wanted {
            // Positions have no gaps.
            Wanted::All => {
                bounds(page.offset.saturating_add(page.limit), page.offset);
                tx.all(
                    formatcp!(
                        "select {COLUMNS} from campaign_rows where {IN_LIST} and position <= ?4 and position > ?5 order by position"
                    ),
                    &values,
                )
            }
            // The rows before the page are skipped in the index alone.
            Wanted::In(state) => {
                bounds(page.limit, page.offset);
                values.push(state.into());
                tx.all(
                    formatcp!(
                        "select {COLUMNS} from campaign_rows where workspace = ?1 and id in (select id from (select id from campaign_rows \
                         where campaign = ?2 and list = ?3 and state = ?6 order by position limit ?4 offset ?5) as page) order by position"
                    ),
                    &values,
                )
            }
            Wanted::DoNotCall => {
                bounds(page.limit, page.offset);
                let from = if is_shorter(tx, tenant, campaign)? { LIST_FIRST } else { ENTRIES_FIRST };
                tx.all(
                    &format!(
                        "select {COLUMNS} from campaign_rows where workspace = ?1 and id in (select id from (select r.id as id from {from} \
                         where {LISTED} order by r.position limit ?4 offset ?5) as page) order by position"
                    ),
                    &values,
                )
            }
        };
    };
    bounds(page.limit, page.offset);
    values.push(search.as_str().into());
    match page.wanted {
        Wanted::All => tx.all(
            formatcp!(
                "select {COLUMNS} from campaign_rows where {IN_LIST} and {} order by position limit ?4 offset ?5",
                contains!("?6")
            ),
            &values,
        ),
        Wanted::In(state) => {
            values.push(state.into());
            tx.all(
                formatcp!(
                    "select {COLUMNS} from campaign_rows where {IN_LIST} and state = ?7 and {} order by position limit ?4 offset ?5",
                    contains!("?6")
                ),
                &values,
            )
        }
        Wanted::DoNotCall => {
            let from = if is_shorter(tx, tenant, campaign)? { LIST_FIRST } else { ENTRIES_FIRST };
            tx.all(
                &format!(
                    "select {COLUMNS} from campaign_rows where workspace = ?1 and id in (select id from (select r.id as id from {from} \
                     where {LISTED} and {} order by r.position limit ?4 offset ?5) as page) order by position",
                    contains!("?6")
                ),
                &values,
            )
        }
    }
}

/// How many rows of a list that contain a text are in which state.
pub fn count_found(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    campaign: Id<Campaign>,
    list: i64,
    search: &str,
) -> Result<Tally, DbError> {
    let mut values = of_list(tenant, campaign, list);
    values.push(search.into());
    let found: Vec<(RowState, i64)> = tx.all(
        formatcp!(
            "select state, count(*) from campaign_rows where {IN_LIST} and {} group by state",
            contains!("?4")
        ),
        &values,
    )?;
    let mut tally = Tally::default();
    for (state, count) in found {
        let slot = match state {
            RowState::Reached => &mut tally.reached,
            RowState::InProgress => &mut tally.in_progress,
            RowState::Unreached => &mut tally.unreached,
            RowState::Held => &mut tally.held,
            RowState::Queued => &mut tally.queued,
            RowState::Invalid => &mut tally.invalid,
        };
        *slot += count;
        tally.total += count;
    }
    Ok(tally)
}

/// How many rows of a list could be dialled but for the do-not-call list; with a search, of those that contain
/// it.
pub fn count_listed(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    campaign: Id<Campaign>,
    list: i64,
    search: Option<&str>,
) -> Result<i64, DbError> {
    let mut values = of_list(tenant, campaign, list);
    let from = if is_shorter(tx, tenant, campaign)? { LIST_FIRST } else { ENTRIES_FIRST };
    let mut sql = format!("select count(*) from {from} where {LISTED}");
    if let Some(search) = search {
        values.push(search.into());
        sql.push_str(" and ");
        sql.push_str(contains!("?4"));
    }
    Ok(tx.one(&sql, &values)?.unwrap_or(0))
}

//! Pages and counts of a calling list. Without a search a page is a range of an index, which the blocks of the list
//! locate for a state, and the counts are stored in the progress of the campaign, so both cost the same for any length.
//! A search for a whole number is an index lookup; one for a part of a name or number scans the list.

use const_format::formatcp;
use domain::campaign::{RowState, Tally};
use domain::ids::{Campaign, Id};

use super::blocks;
use super::list::{EntryRow, of_list};
use crate::db::{DbError, TenantTx, Value};

/// Which rows of a list to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFilter {
    All,
    In(RowState),
    /// Those on the workspace's do-not-call list that could otherwise be dialled.
    DoNotCall,
}

/// A search in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    /// A whole number, as its keyed hash.
    Number(String),
    /// A part of a name or number, in the form of `campaign_rows.search`.
    Text(String),
}

impl Search {
    /// The condition on rows of a list; `place` is the number of the value's parameter. The list is that of
    /// [`IN_LIST`].
    fn rows(&self, place: usize) -> String {
        match self {
            // One lookup in each of two partial indexes, as for [`NUMBER_IN_LIST`](super::list::NUMBER_IN_LIST). Only the
            // inner queries name the list, so that SQLite does not scan it.
            Self::Number(_) => {
                let with = |valid: u8| {
                    format!(
                        "select n.id from campaign_rows n where n.campaign || '' = ?2 and n.list = ?3 and n.valid = {valid} \
                         and n.phone_hash is not null and n.phone_hash = ?{place}"
                    )
                };
                format!("workspace = ?1 and id in ({} union all {})", with(1), with(0))
            }
            Self::Text(_) => format!(
                "{IN_LIST} and /*sqlite*/instr(search, ?{place}) > 0/*end*/ /*pg strpos(search, ?{place}) > 0*/"
            ),
        }
    }

    /// The ids of rows on the do-not-call list that could otherwise be dialled.
    fn listed(&self, place: usize, list_is_shorter: bool) -> String {
        match self {
            Self::Number(_) => format!(
                "select r.id as id, r.position as position from campaign_rows r where {} and r.valid = 1 and exists \
                 (select 1 from do_not_call d where d.workspace = ?1 and d.phone_hash = r.phone_hash)",
                self.rows(place)
            ),
            Self::Text(_) => format!(
                "select r.id as id, r.position as position from {} \
                 and /*sqlite*/instr(search, ?{place}) > 0/*end*/ /*pg strpos(search, ?{place}) > 0*/",
                listed_rows(list_is_shorter)
            ),
        }
    }

    fn value(&self) -> Value<'_> {
        match self {
            Self::Number(value) | Self::Text(value) => value.as_str().into(),
        }
    }
}

/// A part of a list.
#[derive(Debug, Clone)]
pub struct Page {
    pub list: i64,
    pub filter: RowFilter,
    /// What their names or numbers contain.
    pub search: Option<Search>,
    pub limit: i64,
    /// How many come before them.
    pub offset: i64,
}

const COLUMNS: &str = EntryRow::COLUMNS;
const IN_LIST: &str = "workspace = ?1 and campaign = ?2 and list = ?3";
const LISTED: &str = "d.workspace = ?1 and r.workspace = ?1 and r.list = ?3 and r.valid = 1 \
     and r.phone_hash is not null and r.phone_hash = d.phone_hash";
const LIST_FIRST: &str =
    formatcp!("campaign_rows r cross join do_not_call d where r.campaign = ?2 and {LISTED}");
const ENTRIES_FIRST: &str =
    formatcp!("do_not_call d cross join campaign_rows r where r.campaign || '' = ?2 and {LISTED}");

/// Rows on the do-not-call list: one lookup for each entry of the shorter list. SQLite drives from the table that is
/// named first.
fn listed_rows(list_is_shorter: bool) -> &'static str {
    if list_is_shorter { LIST_FIRST } else { ENTRIES_FIRST }
}

/// Whether the calling list has fewer rows than the do-not-call list has entries.
fn is_shorter(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<bool, DbError> {
    tx.exists(
        "select 1 from campaign_progress p join do_not_call_heads h on h.workspace = p.workspace \
         where p.workspace = ?1 and p.campaign = ?2 and p.total < h.total",
        crate::params![campaign],
    )
}

/// A page of a list, in its order.
pub fn page(tx: &mut TenantTx, campaign: Id<Campaign>, page: &Page) -> Result<Vec<EntryRow>, DbError> {
    let mut values = of_list(campaign, page.list);
    let mut bounds = |limit: i64, offset: i64| values.extend([limit.into(), offset.into()]);
    let Some(search) = &page.search else {
        return match page.filter {
            // Positions have no gaps.
            RowFilter::All => {
                bounds(page.offset.saturating_add(page.limit), page.offset);
                tx.all(
                    formatcp!(
                        "select {COLUMNS} from campaign_rows where {IN_LIST} and position <= ?4 and position > ?5 order by position"
                    ),
                    &values,
                )
            }
            // The blocks say where the page begins, to a few thousand rows; these are skipped in the index alone.
            RowFilter::In(state) => {
                let place = blocks::place(tx, campaign, page.list, state, page.offset)?;
                let Some((after, skipped)) = place else { return Ok(Vec::new()) };
                bounds(page.limit, skipped);
                values.extend([state.into(), after.into()]);
                tx.all(
                    formatcp!(
                        "select {COLUMNS} from campaign_rows where workspace = ?1 and id in (select id from (select id from campaign_rows \
                         where campaign = ?2 and list = ?3 and state = ?6 and position > ?7 order by position limit ?4 offset ?5) as page) order by position"
                    ),
                    &values,
                )
            }
            RowFilter::DoNotCall => {
                bounds(page.limit, page.offset);
                let from = listed_rows(is_shorter(tx, campaign)?);
                tx.all(
                    &format!(
                        "select {COLUMNS} from campaign_rows where workspace = ?1 and id in (select id from (select r.id as id from {from} \
                         order by r.position limit ?4 offset ?5) as page) order by position"
                    ),
                    &values,
                )
            }
        };
    };
    bounds(page.limit, page.offset);
    values.push(search.value());
    let found = search.rows(6);
    match page.filter {
        RowFilter::All => tx.all(
            &format!(
                "select {COLUMNS} from campaign_rows where {found} order by position limit ?4 offset ?5"
            ),
            &values,
        ),
        RowFilter::In(state) => {
            values.push(state.into());
            tx.all(
                &format!(
                    "select {COLUMNS} from campaign_rows where {found} and state = ?7 order by position limit ?4 offset ?5"
                ),
                &values,
            )
        }
        RowFilter::DoNotCall => {
            let listed = search.listed(6, is_shorter(tx, campaign)?);
            tx.all(
                &format!(
                    "select {COLUMNS} from campaign_rows where workspace = ?1 and id in (select id from \
                     ({listed} order by position limit ?4 offset ?5) as page) order by position"
                ),
                &values,
            )
        }
    }
}

/// How many of the rows that a search finds in a list are in which state.
pub fn count_found(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    search: &Search,
) -> Result<Tally, DbError> {
    let mut values = of_list(campaign, list);
    values.push(search.value());
    let found: Vec<(RowState, i64)> = tx.all(
        &format!("select state, count(*) from campaign_rows where {} group by state", search.rows(4)),
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

/// How many rows of a list could be dialled but for the do-not-call list; with a search, of those that it
/// finds.
pub fn count_listed(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    search: Option<&Search>,
) -> Result<i64, DbError> {
    let mut values = of_list(campaign, list);
    let shorter = is_shorter(tx, campaign)?;
    let sql = match search {
        None => format!("select count(*) from {}", listed_rows(shorter)),
        Some(search) => {
            values.push(search.value());
            format!("select count(*) from ({}) as found", search.listed(4, shorter))
        }
    };
    Ok(tx.one(&sql, &values)?.unwrap_or(0))
}

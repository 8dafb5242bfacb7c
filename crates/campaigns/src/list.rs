//! Calling lists (docs/contract/campaigns.md#calling-list).

use std::collections::HashSet;

use app::{Context, Failure, topics};
use domain::campaign::list::{self as rules, check_variables, read_phone, search_text};
use domain::campaign::{InvalidReason, RowState, Standing, Status, Tally};
use domain::ids::{Campaign, DataStream, Id, ListRow};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::{Map, Value};
use store::Tx;
use store::campaigns::list::FreshRow;
use store::campaigns::progress::{self, Delta};
use store::campaigns::{self, CampaignRow, list as lists};

/// A person to be put on a list.
#[derive(Debug, Clone)]
pub struct NewRow {
    /// The number, in any notation.
    pub phone: String,
    /// Name.
    pub name: Option<String>,
    /// Values of the conversation.
    pub variables: Map<String, Value>,
    /// The stream that it comes from.
    pub stream: Option<Id<DataStream>>,
}

/// What became of the people that were to be put on a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The row of each, in the order in which they came. `None`: the number is on the list already or is none
    /// that can be dialled, or the campaign takes nothing more.
    pub rows: Vec<Option<Id<ListRow>>>,
}

/// Whether people can be put on its list: it is not over, and its list is not full.
fn takes_more(row: &CampaignRow, now: Timestamp) -> bool {
    match row.status {
        Status::Draft | Status::Active | Status::Paused => !row.settings.is_past(now),
        Status::Completed | Status::Archived => false,
    }
}

/// A row as it enters a list.
pub(crate) fn fresh(
    context: &Context,
    row: &NewRow,
    seen: &mut HashSet<String>,
) -> Result<FreshRow, Failure> {
    let read = read_phone(&row.phone);
    let hash = read.ok().map(|phone| context.keyring.hash_phone(&phone));
    let invalid_reason = match (&read, &hash) {
        (Err(why), _) => Some(*why),
        (Ok(_), Some(hash)) if !seen.insert(hash.clone()) => Some(InvalidReason::Duplicate),
        (Ok(_), _) => None,
    };
    let valid = invalid_reason.is_none();
    let phone = read.map_or_else(|_| row.phone.trim().to_owned(), |phone| phone.to_string());
    let name = row.name.as_deref().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
    Ok(FreshRow {
        id: context.ids.make(),
        search: search_text(name.as_deref(), Some(&phone)),
        phone: Some(phone),
        phone_hash: hash,
        name,
        variables: serde_json::to_string(&row.variables).map_err(|why| Failure::internal(why.to_string()))?,
        valid,
        invalid_reason,
        state: if valid { RowState::Queued } else { RowState::Invalid },
        // 0: as soon as the campaign dials.
        look_at: valid.then_some(Timestamp(0)),
        stream: row.stream,
    })
}

/// What these rows add to the counters of their list.
pub(crate) fn tally(rows: &[FreshRow]) -> Tally {
    let mut tally = Tally::default();
    for row in rows {
        tally.enter(Standing::fresh(row.valid));
    }
    tally
}

/// Puts people on the list of a campaign, behind those who are there, in the transaction of the caller: for
/// streams and boards. A number is on a list once. A name that is too long is cut; values beyond the ceilings
/// are left out.
///
/// # Errors
/// 404 without the campaign, and those of the store.
pub fn add(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    campaign: Id<Campaign>,
    rows: Vec<NewRow>,
) -> Result<Added, Failure> {
    let nothing = Added { rows: vec![None; rows.len()] };
    let row = campaigns::get_for_update(tx, tenant, campaign)?
        .ok_or_else(|| Failure::not_found("campaign"))?;
    if rows.is_empty() || !takes_more(&row, context.now) {
        return Ok(nothing);
    }
    // Held: the place of the last row, and with it who comes next.
    let known = progress::get_for_update(tx, tenant, campaign)?
        .ok_or_else(|| Failure::internal(format!("{campaign} has no progress")))?;
    let list = row.list.max(1);
    if row.list == 0 {
        campaigns::set_list(tx, tenant, campaign, list, row.newest_list.max(list), context.now)?;
        progress::start_list(tx, tenant, campaign, list, &Tally::default())?;
    }
    let (fresh, places) = new_people(tx, context, tenant, &row, list, rows, rules::MAX_LIST - known.rows.total)?;
    if fresh.is_empty() {
        return Ok(nothing);
    }
    lists::insert_all(tx, tenant, campaign, list, known.rows.total + 1, &fresh)?;
    let delta = Delta { list, rows: tally(&fresh), ..Delta::default() };
    progress::add(tx, tenant, campaign, &delta)?;
    if row.status == Status::Active {
        progress::look_at(tx, tenant, campaign, context.now)?;
        tx.wake(topics::DIALLER);
    }
    let mut added = nothing;
    for (place, row) in places.into_iter().zip(&fresh) {
        added.rows[place] = Some(row.id);
    }
    Ok(added)
}

/// Those of `rows` whose numbers can be dialled and are not on the list, and their places in `rows`.
fn new_people(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    campaign: &CampaignRow,
    list: i64,
    rows: Vec<NewRow>,
    room: i64,
) -> Result<(Vec<FreshRow>, Vec<usize>), Failure> {
    let (mut seen, mut made) = (HashSet::new(), Vec::new());
    for (place, mut row) in rows.into_iter().enumerate() {
        row.name = row.name.map(|name| name.chars().take(rules::MAX_NAME).collect());
        within_ceilings(&mut row.variables);
        let row = fresh(context, &row, &mut seen)?;
        if row.valid {
            made.push((place, row));
        }
    }
    let hashes: Vec<&str> = made.iter().filter_map(|(_, row)| row.phone_hash.as_deref()).collect();
    let listed: HashSet<String> =
        lists::listed(tx, tenant, campaign.id, list, &hashes)?.into_iter().collect();
    made.retain(|(_, row)| row.phone_hash.as_ref().is_none_or(|hash| !listed.contains(hash)));
    made.truncate(usize::try_from(room).unwrap_or(0));
    Ok(made.into_iter().map(|(place, row)| (row, place)).unzip())
}

/// Leaves out the last values of a row until it is within its ceilings.
fn within_ceilings(variables: &mut Map<String, Value>) {
    while check_variables(variables).is_err() {
        let Some(last) = variables.keys().next_back().cloned() else { return };
        variables.shift_remove(&last);
    }
}

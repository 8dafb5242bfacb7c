//! Calling lists: replacing one atomically, adding to it, reading it (docs/contract/campaigns.md#calling-list).

use std::collections::{HashMap, HashSet};

use api::campaigns::{CallingList, CallingListCounts, CallingListPage, CallingListRow, NewCallingListRow};
use api::error_codes as codes;
use app::agents::required_variables;
use app::limits::pages;
use app::{App, Context, Failure, topics};
use domain::call::variables::has_value;
use domain::campaign::list::{self as rules, check_variables, read_phone, search_for, search_text};
use domain::campaign::{CountedState, InvalidReason, RowState, Status, Tally};
use domain::ids::{Campaign, Contact, DataStream, Id, ListRow};
use domain::phone::E164;
use domain::tenant::{Mode, Tenant};
use domain::time::{HOUR, Timestamp};
use serde_json::{Map, Value, json};
use store::campaigns::list::{self as lists, EntryRow, FreshRow};
use store::campaigns::progress::{self as counters, Delta};
use store::campaigns::{self, CampaignRow, Page, RowFilter, Search};
use store::{DbError, TenantTx, Tx, contacts, do_not_call};

use super::campaign::retire;
use super::filling::Filling;
use super::{board, find, progress, sends_messages};

/// A person to add to a list.
#[derive(Debug, Clone)]
pub struct NewRow {
    /// The number, in any notation.
    pub phone: String,
    pub name: Option<String>,
    /// Values of the conversation.
    pub variables: Map<String, Value>,
    /// The stream of the record.
    pub stream: Option<Id<DataStream>>,
}

impl From<NewCallingListRow> for NewRow {
    fn from(row: NewCallingListRow) -> Self {
        Self { phone: row.phone, name: row.name, variables: row.variables.unwrap_or_default(), stream: None }
    }
}

/// The result of adding people to a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The row of each, in the order of the input. `None`: the number is on the list already or cannot be dialled, or
    /// the campaign accepts nobody.
    pub rows: Vec<Option<Id<ListRow>>>,
}

/// Whether people can be added to its list: it is not over.
fn takes_more(row: &CampaignRow, now: Timestamp) -> bool {
    // The list of a campaign that sends messages is set by its owner alone.
    if sends_messages(row) {
        return false;
    }
    match row.status {
        Status::Draft | Status::Active | Status::Paused => !row.settings.is_past(now),
        Status::Completed | Status::Archived => false,
    }
}

/// A row for a list, validated: with a number of India, or of `anywhere`. `seen` are the numbers before it.
pub(crate) fn fresh(
    context: &Context,
    row: NewRow,
    anywhere: bool,
    seen: &mut HashSet<E164>,
) -> Result<FreshRow, Failure> {
    let read =
        if anywhere { rules::read_any_phone(&row.phone) } else { read_phone(&row.phone).map(E164::from) };
    let hash = match read {
        Ok(number) => Some(context.keyring.hash_number(number)),
        // So that an erasure finds it.
        Err(_) => context.keyring.hash_written(&row.phone),
    };
    let invalid_reason = match &read {
        Err(why) => Some(*why),
        Ok(number) if !seen.insert(*number) => Some(InvalidReason::Duplicate),
        Ok(_) => None,
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

/// The change of these rows to the counters of their list.
pub(crate) fn tally(rows: &[FreshRow]) -> Tally {
    let mut tally = Tally::default();
    for row in rows {
        tally.enter(CountedState::fresh(row.valid));
    }
    tally
}

/// Appends people to the list of a campaign, in the transaction of the caller: for streams and boards. A number is on a
/// list once. A name that is too long is truncated, and values beyond the limits are dropped. The caller names an
/// existing campaign, or a deleted one, which accepts nobody.
pub fn add(
    tx: &mut TenantTx,
    context: &Context,
    campaign: Id<Campaign>,
    rows: Vec<NewRow>,
) -> Result<Added, Failure> {
    let mut added = Added { rows: vec![None; rows.len()] };
    let Some(row) = campaigns::get_for_update(tx, campaign)? else { return Ok(added) };
    if rows.is_empty() || !takes_more(&row, context.now) {
        return Ok(added);
    }
    // Held: the place of the last row, and with it whose turn is next.
    let known = counters::get_for_update(tx, campaign)?
        .ok_or_else(|| Failure::internal(format!("{campaign} has no progress")))?;
    let list = match row.list {
        0 => first_list(tx, &row, context.now)?,
        list => list,
    };
    let room = rules::MAX_LIST - known.rows.total;
    let (fresh, places) = new_people(tx, context, (campaign, list), rows, room)?;
    if fresh.is_empty() {
        return Ok(added);
    }
    lists::insert_all(tx, campaign, list, known.rows.total + 1, &fresh)?;
    counters::add(tx, campaign, &Delta { list, rows: tally(&fresh), ..Delta::default() })?;
    if row.status == Status::Active {
        counters::look_at(tx, campaign, context.now)?;
        tx.wake(topics::DIALLER);
    }
    for (place, row) in places.into_iter().zip(&fresh) {
        added.rows[place] = Some(row.id);
    }
    Ok(added)
}

/// An empty list for a campaign that has none.
fn first_list(tx: &mut Tx<'_>, row: &CampaignRow, now: Timestamp) -> Result<i64, Failure> {
    let list = row.newest_list + 1;
    put_in_force(tx, row, list, list, &Tally::default(), now)?;
    Ok(list)
}

/// Those of `rows` whose numbers can be dialled and are not on the list, and their indexes in `rows`.
fn new_people(
    tx: &mut TenantTx,
    context: &Context,
    (campaign, list): (Id<Campaign>, i64),
    rows: Vec<NewRow>,
    room: i64,
) -> Result<(Vec<FreshRow>, Vec<usize>), Failure> {
    let (mut seen, mut made) = (HashSet::new(), Vec::new());
    for (place, mut row) in rows.into_iter().enumerate() {
        row.name = row.name.map(|name| name.chars().take(rules::MAX_NAME).collect());
        within_ceilings(&mut row.variables);
        let row = fresh(context, row, false, &mut seen)?;
        if row.valid {
            made.push((row, place));
        }
    }
    let hashes: Vec<&str> = made.iter().filter_map(|(row, _)| row.phone_hash.as_deref()).collect();
    let listed: HashSet<String> = lists::listed(tx, campaign, list, &hashes)?.into_iter().collect();
    made.retain(|(row, _)| row.phone_hash.as_ref().is_none_or(|hash| !listed.contains(hash)));
    made.truncate(usize::try_from(room).unwrap_or(0));
    Ok(made.into_iter().unzip())
}

/// Drops the last values of a row until it is within its limits.
fn within_ceilings(variables: &mut Map<String, Value>) {
    while check_variables(variables).is_err() {
        let Some(last) = variables.keys().next_back().cloned() else { return };
        variables.shift_remove(&last);
    }
}

/// The variables that the agent of a campaign needs of every row, and the flow that requires them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Needed {
    pub flow: Option<String>,
    /// Names that every row must have a value for.
    pub names: Vec<String>,
    /// Whether numbers of any country can be reached.
    pub anywhere: bool,
}

/// What every row of the list of a campaign needs.
pub(crate) fn needed(tx: &mut TenantTx, row: &CampaignRow) -> Result<Needed, Failure> {
    let agent = match row.agent {
        Some(agent) => store::agents::get(tx, agent)?,
        None => None,
    };
    let anywhere = sends_messages(row);
    let Some(agent) = agent else { return Ok(Needed { anywhere, ..Needed::default() }) };
    Ok(Needed { names: required_variables(tx, &agent)?, flow: Some(agent.published_flow), anywhere })
}

/// The variables that rows lack.
#[derive(Debug, Default)]
pub(crate) struct Lacking {
    names: Vec<String>,
    /// The first such row.
    first: Option<usize>,
}

impl Lacking {
    /// Whether a row lacks a variable.
    pub(crate) fn any(&self) -> bool {
        self.first.is_some()
    }

    /// Refuses rows that lack a variable.
    ///
    /// # Errors
    /// 400 `missing_required_variables`, with all names and the first row.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let Some(row) = self.first else { return Ok(()) };
        let names = self.names.join(", ");
        let message =
            format!("contacts[{row}].variables must have values that the agent's flow requires: {names}");
        let meta = json!({"missing": self.names, "row": row});
        Err(Failure::new(codes::LIST_MISSES_VARIABLES, message).with_meta(meta))
    }

    /// Notes the variables that a row lacks.
    pub(crate) fn note(&mut self, row: usize, variables: &Map<String, Value>, needed: &[String]) {
        for name in needed.iter().filter(|name| !has_value(variables.get(*name))) {
            self.first.get_or_insert(row);
            if !self.names.contains(name) {
                self.names.push(name.clone());
            }
        }
    }
}

/// Validates rows of a request for a list, behind `before` others whose numbers are `seen`: each is checked against its
/// limits, and missing variables of those that can be dialled are collected. Returns their bytes of variables, too.
///
/// # Errors
/// 400 `invalid_variables` names the row.
pub(crate) fn read_rows(
    context: &Context,
    needed: &Needed,
    rows: Vec<NewCallingListRow>,
    before: usize,
    seen: &mut HashSet<E164>,
    lacking: &mut Lacking,
) -> Result<(Vec<FreshRow>, i64), Failure> {
    let mut bytes = 0;
    let mut made = Vec::with_capacity(rows.len());
    for (place, row) in (before..).zip(rows) {
        let row = NewRow::from(row);
        let size = check_variables(&row.variables).map_err(|why| {
            let field = format!("contacts[{place}].variables");
            Failure::new(codes::INVALID_VARIABLES, format!("{field} {why}"))
                .with_meta(json!({"field": field}))
        })?;
        bytes += size as i64;
        let mut lacks = Lacking::default();
        lacks.note(place, &row.variables, &needed.names);
        let row = fresh(context, row, needed.anywhere, seen)?;
        if row.valid && lacks.any() {
            lacking.first.get_or_insert(place);
            lacks.names.retain(|name| !lacking.names.contains(name));
            lacking.names.append(&mut lacks.names);
        }
        made.push(row);
    }
    Ok((made, bytes))
}

/// Whether calls to people of the current list are placed or in progress. The campaign is locked: no new ones begin.
///
/// # Errors
/// 409 `conflict`.
pub(crate) fn check_quiet(tx: &mut Tx<'_>, row: &CampaignRow) -> Result<(), Failure> {
    if sends_messages(row)
        || row.list == 0
        || progress(&mut tx.of(row.workspace), row.id)?.rows.in_progress <= 0
    {
        return Ok(());
    }
    let message = "contacts of the list are being called; replace the list when their calls are over";
    Err(Failure::conflict(message))
}

/// Whether the list of a campaign can be replaced now.
///
/// # Errors
/// 409 while it dials, when it is over, `campaign_launched` and `stream_attached`.
pub(crate) fn check_replaceable(row: &CampaignRow) -> Result<(), Failure> {
    if sends_messages(row) && row.started_at.is_some() {
        return Err(Failure::plain(codes::CAMPAIGN_LAUNCHED));
    }
    match row.status {
        Status::Draft | Status::Paused => {}
        Status::Active => {
            return Err(Failure::conflict("the campaign is active; pause it before replacing its list"));
        }
        Status::Completed | Status::Archived => {
            return Err(Failure::conflict("the campaign is over; create another one"));
        }
    }
    if row.streams > 0 {
        return Err(Failure::plain(codes::STREAM_ATTACHED));
    }
    Ok(())
}

/// The flow of the agent changed between the check of a list and its transaction.
pub(crate) fn check_needed(tx: &mut Tx<'_>, row: &CampaignRow, checked: &Needed) -> Result<(), Failure> {
    if needed(&mut tx.of(row.workspace), row)? == *checked {
        return Ok(());
    }
    Err(Failure::conflict("the agent's flow was published while the list was sent; send the list again"))
}

/// CPU-bound work: not on a thread that serves others.
///
/// # Errors
/// Those of the work.
pub async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    runtime::blocking::run(work).await.unwrap_or_else(|_| Err(Failure::internal("reading a list panicked")))
}

/// Replaces the whole list of a campaign atomically. The old one is deleted later, in batches; nothing of it is dialled
/// any more.
///
/// # Errors
/// Those of [`Filling`].
pub async fn replace(
    app: &App,
    tenant: Tenant,
    id: Id<Campaign>,
    rows: Vec<NewCallingListRow>,
) -> Result<CallingList, Failure> {
    let mut filling = Filling::begin(app, tenant, id).await?;
    let filled = match filling.add(app, rows).await {
        Ok(()) => filling.finish(app).await,
        Err(failure) => Err(failure),
    };
    if filled.is_err() {
        filling.give_up(app).await;
    }
    filled
}

/// Makes a list the current one.
pub(crate) fn put_in_force(
    tx: &mut Tx<'_>,
    row: &CampaignRow,
    list: i64,
    newest: i64,
    counts: &Tally,
    now: Timestamp,
) -> Result<(), Failure> {
    retire(tx, row, now)?;
    tx.wake(topics::LISTS);
    campaigns::set_list(&mut tx.of(row.workspace), row.id, list, newest, now)?;
    if sends_messages(row) {
        store::channel_campaigns::list_set(&mut tx.of(row.workspace), row.id, now)?;
    }
    counters::start_list(&mut tx.of(row.workspace), row.id, list, counts)?;
    Ok(())
}

/// Time after which staged lists that do not grow are abandoned.
pub(crate) const STALE: i64 = HOUR;
/// Rows deleted in one transaction.
const SWEEP: i64 = 2_000;

/// Deletes rows of old lists, in batches. Returns when the next staged list expires.
pub async fn sweep(app: &App) -> Result<Option<Timestamp>, DbError> {
    let stale = app.clock.now().plus(-STALE);
    while app.store.tx_alone(move |tx| lists::sweep(tx, stale, SWEEP)).await? {}
    // A moment more, since one that grew exactly so long ago is kept.
    Ok(app.store.read(lists::oldest_staged).await?.map(|touched| touched.plus(STALE + 1)))
}

/// The filter of a list.
#[derive(Debug, Clone)]
pub struct Query {
    /// `all`, a state, or `dnc`.
    pub state: String,
    /// Part of the name or the number.
    pub q: Option<String>,
    pub limit: i64,
    /// The offset.
    pub offset: i64,
}

/// The search of a client; `None` if nothing is left of the text.
fn wanted_search(app: &App, text: &str) -> Option<Search> {
    let wanted = search_for(text);
    if wanted.is_empty() {
        return None;
    }
    Some(match read_phone(text) {
        Ok(phone) => Search::Number(app.keyring.hash_phone(&phone)),
        Err(_) => Search::Text(wanted),
    })
}

/// `GET /v1/campaigns/{id}/contacts`.
pub async fn read(
    app: &App,
    tenant: Tenant,
    id: Id<Campaign>,
    query: Query,
) -> Result<CallingListPage, Failure> {
    let filter = match query.state.as_str() {
        "all" => RowFilter::All,
        "dnc" => RowFilter::DoNotCall,
        word => RowState::parse(word).map(RowFilter::In).ok_or_else(|| {
            Failure::internal(format!("{word} passed the check of the query and is no state"))
        })?,
    };
    let search = query.q.as_deref().and_then(|text| wanted_search(app, text));
    app.store
        .read_long(move |tx| {
            find(&mut tx.of(tenant), id)?;
            let known = progress(&mut tx.of(tenant), id)?;
            let list = known.list;
            if matches!(search, Some(Search::Text(_))) && !rules::is_searched(known.rows.total) {
                let must = format!(
                    "must be a whole number: a list of more than {} rows is not searched for a part of a name or number",
                    rules::MAX_SEARCHED
                );
                return Err(Failure::field("q", must));
            }
            let found = match &search {
                None => known.rows,
                Some(text) => campaigns::count_found(&mut tx.of(tenant), id, list, text)?,
            };
            let dnc = campaigns::count_listed(&mut tx.of(tenant), id, list, search.as_ref())?;
            let total = match filter {
                RowFilter::All => found.total,
                RowFilter::In(state) => found.of(state),
                RowFilter::DoNotCall => dnc,
            };
            let piece = |tx: &mut Tx<'_>, limit: i64, after: Option<&str>| {
                let offset = after.and_then(|after| after.parse().ok()).unwrap_or(query.offset);
                let page = Page { list, filter, search: search.clone(), limit, offset };
                let rows = if offset < total { campaigns::page(&mut tx.of(tenant), id, &page)? } else { Vec::new() };
                let next = (rows.len() as i64 >= limit).then(|| (offset + limit).to_string());
                Ok::<_, Failure>((views(&mut tx.of(tenant), id, rows)?, next))
            };
            let (data, _) = pages::views(tx, query.limit, None, piece, |_: &CallingListRow| String::new())?;
            // A page of large rows ends before its limit.
            let next = query.offset + (data.len() as i64).max(1);
            Ok(CallingListPage {
                data,
                counts: CallingListCounts {
                    all: found.total,
                    reached: found.reached,
                    in_progress: found.in_progress,
                    unreached: found.unreached,
                    held: found.held,
                    queued: found.queued,
                    invalid: found.invalid,
                    dnc,
                },
                total,
                next_offset: (next < total).then_some(next),
            })
        })
        .await
}

/// Rows in the form of the API: do-not-call status and board columns are looked up now.
fn views(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    rows: Vec<EntryRow>,
) -> Result<Vec<CallingListRow>, Failure> {
    let blocked = must_not_call(tx, &rows)?;
    let people: Vec<Id<Contact>> = rows.iter().filter_map(|row| row.contact).collect();
    let columns = board::columns(tx, campaign, &people)?;
    Ok(rows.into_iter().map(|row| view(row, &blocked, &columns)).collect())
}

/// Keyed hashes of those numbers that are on the do-not-call list or belong to a contact that opted out.
fn must_not_call(tx: &mut TenantTx, rows: &[EntryRow]) -> Result<HashSet<String>, Failure> {
    let people: HashMap<&str, &str> =
        rows.iter().filter_map(|row| Some((row.phone.as_deref()?, row.phone_hash.as_deref()?))).collect();
    if people.is_empty() {
        return Ok(HashSet::new());
    }
    let hashes: Vec<&str> = people.values().copied().collect();
    let mut blocked: HashSet<String> = do_not_call::among(tx, &hashes)?.into_iter().collect();
    let phones: Vec<String> = people.keys().map(|phone| (*phone).to_owned()).collect();
    for contact in contacts::find_by_phones(tx, Mode::Live, &phones)? {
        let hash = contact.phone.as_deref().and_then(|phone| people.get(phone));
        if contact.opt_out {
            blocked.extend(hash.map(|hash| (*hash).to_owned()));
        }
    }
    Ok(blocked)
}

fn view(row: EntryRow, blocked: &HashSet<String>, columns: &HashMap<Id<Contact>, String>) -> CallingListRow {
    CallingListRow {
        id: row.id,
        contact_id: row.contact,
        do_not_call: row.phone_hash.is_some_and(|hash| blocked.contains(&hash)),
        board_column: row.contact.and_then(|contact| columns.get(&contact)).cloned(),
        phone: row.phone,
        name: row.name,
        variables: row.variables,
        state: row.standing.state,
        dial_status: row.dial_status,
        attempts: row.attempts,
        last_attempt_at: row.last_attempt_at,
        held_reason: row.held_reason,
        failure_reason: row.failure,
        valid: row.valid,
        invalid_reason: row.invalid_reason,
        // 0: as soon as the campaign dials.
        next_attempt_at: row.look_at.filter(|at| at.0 > 0 && row.standing.state != RowState::InProgress),
        last_call_id: row.call,
    }
}

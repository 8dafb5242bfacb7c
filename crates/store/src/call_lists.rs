//! Lists of calls, newest first, and what a list shows beside the calls.

use std::collections::HashMap;

use const_format::formatcp;
use domain::call::{Direction, Stage, Status};
use domain::ids::{Agent, Call, Campaign, Contact, Id};
use domain::names;
use domain::tenant::Mode;
use domain::time::Timestamp;

use crate::calls::{CallRow, phase};
use crate::db::row::row;
use crate::db::{DbError, TenantTx, Value};
use crate::params;

const COLUMNS: &str = CallRow::COLUMNS;

/// Calls that are examined for one page of a filter which has no index of its own.
const EXAMINED: i64 = 5_000;
/// The same where a name is asked for that very many people have.
const EXAMINED_FOR_NAMES: i64 = 20_000;
/// Calls in the range of a search for people, and calls of test keys that are counted; more must be narrowed by time.
pub const MOST_IN_RANGE: i64 = 200_000;
/// People whose calls are found by their ids. If more match, the calls of the range are examined.
const MOST_PEOPLE: i64 = 500;

/// The filter of a list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only this agent's.
    pub agent: Option<Id<Agent>>,
    /// Only this campaign's.
    pub campaign: Option<Id<Campaign>>,
    /// Only this person's.
    pub contact: Option<Id<Contact>>,
    /// Only with these people, or from and to this number.
    pub people: Option<People>,
    /// `outbound` or `inbound`.
    pub direction: Option<Direction>,
    /// Only of this stage.
    pub stage: Option<Stage>,
    /// Only of this status.
    pub status: Option<Status>,
    /// Only with this disposition.
    pub outcome: Option<String>,
    /// Only with this end.
    pub end_cause: Option<String>,
    /// Started at or after.
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// The last id of the page before.
    pub before: Option<String>,
}

/// People that a text or a number names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum People {
    /// These, and calls with this number (E.164).
    Known {
        /// At most [`MOST_PEOPLE`].
        contacts: Vec<Id<Contact>>,
        number: Option<String>,
    },
    /// All whose names have words that begin so.
    Named(Vec<String>),
}

impl Filter {
    fn statuses(&self) -> Vec<Status> {
        let wanted = |status: &Status| {
            *status != Status::Queued
                && self.stage.is_none_or(|stage| status.stage() == stage)
                && self.status.is_none_or(|wanted| wanted == *status)
        };
        Status::ALL.iter().copied().filter(wanted).collect()
    }

    /// The range of ids of the list, without the upper bound.
    fn bounds(&self) -> (String, String) {
        let at = |moment: Timestamp| Id::<Call>::new(moment.0, 0).to_string();
        let top = self.to.map_or_else(|| "call_~".to_owned(), at);
        (
            self.from.map_or_else(String::new, at),
            self.before.clone().map_or(top.clone(), |before| before.min(top)),
        )
    }
}

/// A statement in the making, for a transaction that is bound to its workspace.
struct Query {
    params: Vec<Value<'static>>,
}

impl Query {
    fn add(&mut self, value: impl Into<Value<'static>>) -> String {
        self.params.push(value.into());
        format!("?{}", self.params.len() + 1)
    }

    /// `column in (…)`, or nothing that is true for an empty list.
    fn any(&mut self, column: &str, values: impl IntoIterator<Item = Value<'static>>) -> String {
        let places: Vec<String> = values.into_iter().map(|value| self.add(value)).collect();
        if places.is_empty() { "1 = 0".into() } else { format!("{column} in ({})", places.join(", ")) }
    }
}

/// A page of the calls of one mode that a carrier has taken, or may have ([`get_taken`](crate::calls::get_taken)), newest
/// first, and the id after which the next one begins, if there may be more.
///
/// State, direction, agent and campaign walk an index that ends in the id, one walk a status; an outcome or an end walks
/// `calls_by_outcome` or `calls_by_end_cause`, people walk `calls_of_contact`, and numbers the indexes of numbers. Beside an
/// outcome, an end or a name other filters are tried on [`EXAMINED`] calls of the walk, so that the cost of a page does not
/// grow with the table: such a page may be short although more follows.
pub fn list(
    tx: &mut TenantTx,
    mode: Mode,
    filter: &Filter,
    limit: i64,
) -> Result<(Vec<CallRow>, Option<String>), DbError> {
    let (low, high) = filter.bounds();
    let mut query = Query { params: vec![mode.into(), low.into(), high.into()] };
    let walk = examined(filter, &mut query);
    let of_walk = query.params.len();
    let most = query.add(limit + 1);
    let pages: Vec<String> = match &walk {
        Some((walk, _)) => {
            vec![format!("select id from ({walk}) as walk{} order by id desc limit {most}", rest(filter, &mut query))]
        }
        None => branches(filter, &mut query)
            .into_iter()
            .map(|wanted| {
                format!(
                    "select id from (select id from calls where workspace = ?1 and mode = ?2 and id >= ?3 and id < ?4 \
                     and status <> 'queued'{wanted} order by id desc limit {most}) as walk"
                )
            })
            .collect(),
    };
    if pages.is_empty() {
        return Ok((Vec::new(), None));
    }
    let sql = format!(
        "select {COLUMNS} from calls where id in (select id from ({}) as page order by id desc limit {most}) order by id desc",
        pages.join(" union all ")
    );
    let mut rows: Vec<CallRow> = tx.all(&sql, &query.params)?;
    if rows.len() as i64 > limit {
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let next = rows.last().map(|row| row.id.to_string());
        return Ok((rows, next));
    }
    let Some((walk, examined)) = walk else { return Ok((rows, None)) };
    let sql = format!("select case when count(*) = {examined} then min(id) end from ({walk}) as walk");
    let last = tx.one::<Option<String>>(&sql, &query.params[..of_walk])?;
    Ok((rows, last.flatten()))
}

/// The walk over an index that other filters are tried on, and its length; `None` where each filter is part of an index.
fn examined(filter: &Filter, query: &mut Query) -> Option<(String, i64)> {
    let (wanted, most) = match filter {
        Filter { contact: Some(_), .. } | Filter { people: Some(People::Known { .. }), .. } => return None,
        Filter { outcome: Some(outcome), .. } => {
            (format!("outcome = {}", query.add(outcome.clone())), EXAMINED)
        }
        Filter { end_cause: Some(cause), .. } => {
            (format!("end_cause = {}", query.add(cause.clone())), EXAMINED)
        }
        Filter { people: Some(People::Named(_)), .. } => ("1 = 1".to_owned(), EXAMINED_FOR_NAMES),
        _ => return None,
    };
    let walk = format!(
        "select id, status, direction, agent, campaign, contact, outcome, end_cause from calls \
         where workspace = ?1 and mode = ?2 and {wanted} and id >= ?3 and id < ?4 order by id desc limit {most}"
    );
    Some((walk, most))
}

/// The conditions of a filter on the calls of a walk.
fn rest(filter: &Filter, query: &mut Query) -> String {
    let mut all = format!(" where {}", query.any("status", filter.statuses().into_iter().map(Value::from)));
    for (column, value) in [
        ("agent", filter.agent.map(|id| id.to_string())),
        ("campaign", filter.campaign.map(|id| id.to_string())),
        ("direction", filter.direction.map(|direction| direction.as_str().to_owned())),
        ("outcome", filter.outcome.clone()),
        ("end_cause", filter.end_cause.clone()),
    ] {
        if let Some(value) = value {
            all.push_str(&format!(" and {column} = {}", query.add(value)));
        }
    }
    if let Some(People::Named(words)) = &filter.people {
        all.push_str(&named("walk.contact", words, query));
    }
    all
}

/// That a person has words in the name that begin so (the index `contact_words_of_contact`).
fn named(contact: &str, words: &[String], query: &mut Query) -> String {
    let each = words.iter().map(|word| {
        let (from, to) = (query.add(word.clone()), query.add(names::after(word)));
        format!(
            " and exists (select 1 from contact_words w where w.workspace = ?1 and w.contact = {contact} \
             and w.word >= {from} and w.word < {to})"
        )
    });
    each.collect()
}

/// The conditions of the walks that a filter needs, each over an index that ends in the id.
fn branches(filter: &Filter, query: &mut Query) -> Vec<String> {
    let mut narrow = String::new();
    for (column, value) in [
        ("campaign", filter.campaign.map(|id| id.to_string())),
        ("agent", filter.agent.map(|id| id.to_string())),
    ] {
        if let Some(value) = value {
            let place = query.add(value);
            narrow.push_str(&format!(" and {column} = {place}"));
        }
    }
    let sorted = filter.direction.is_some() || filter.stage.is_some() || filter.status.is_some();
    let of_people = of_people(filter, query);
    if of_people.is_empty() && filter.people.is_none() && filter.contact.is_none() {
        return if !sorted && narrow.is_empty() {
            vec![String::new()]
        } else {
            walks(filter, query, &narrow)
        };
    }
    if sorted {
        let statuses = query.any("status", filter.statuses().into_iter().map(Value::from));
        narrow.push_str(&format!(" and {statuses}"));
    }
    for (column, value) in [
        ("direction", filter.direction.map(|direction| direction.as_str().to_owned())),
        ("outcome", filter.outcome.clone()),
        ("end_cause", filter.end_cause.clone()),
    ] {
        if let Some(value) = value {
            let place = query.add(value);
            narrow.push_str(&format!(" and {column} = {place}"));
        }
    }
    if let (Some(contact), true) = (filter.contact, filter.people.is_some()) {
        let place = query.add(contact.to_string());
        narrow.push_str(&format!(" and contact = {place}"));
        if let Some(People::Named(words)) = &filter.people {
            narrow.push_str(&named("calls.contact", words, query));
            return vec![narrow];
        }
    }
    of_people.into_iter().map(|wanted| format!("{narrow}{wanted}")).collect()
}

/// The conditions that find the calls of people, each by an index.
fn of_people(filter: &Filter, query: &mut Query) -> Vec<String> {
    match (&filter.people, filter.contact) {
        (Some(People::Known { contacts, number }), _) => {
            let mut found = Vec::new();
            if !contacts.is_empty() {
                let contacts = contacts.iter().map(|id| Value::from(*id));
                found.push(format!(" and {}", query.any("contact", contacts)));
            }
            if let Some(number) = number {
                let place = query.add(number.clone());
                // Calls of nobody that is known; an index each.
                let nobody = "and contact is null";
                found.push(format!(" and from_number = {place} and direction = 'inbound' {nobody}"));
                found.push(format!(
                    " and to_number = {place} and mode = 'live' and block_reason is null and direction = 'outbound' {nobody}"
                ));
            }
            found
        }
        (Some(People::Named(_)), _) => Vec::new(),
        (None, Some(contact)) => vec![format!(" and contact = {}", query.add(contact.to_string()))],
        (None, None) => Vec::new(),
    }
}

/// One index scan over the live calls, and one over each requested phase.
fn walks(filter: &Filter, query: &mut Query, narrow: &str) -> Vec<String> {
    let (live, over): (Vec<Status>, Vec<Status>) =
        filter.statuses().into_iter().partition(|status| status.is_live());
    let mut walks = Vec::new();
    let directions: Vec<Direction> = Direction::ALL
        .iter()
        .copied()
        .filter(|known| filter.direction.is_none_or(|asked| asked == *known))
        .collect();
    if !live.is_empty() {
        let words: Vec<String> = live.into_iter().map(|status| query.add(status)).collect();
        let mut wanted = format!(" and phase is null{narrow} and status in ({})", words.join(", "));
        if let [direction] = directions[..] {
            let place = query.add(direction);
            wanted.push_str(&format!(" and direction = {place}"));
        }
        walks.push(wanted);
    }
    for direction in directions {
        for status in &over {
            let place = query.add(phase(direction, *status));
            walks.push(format!(" and phase = {place}{narrow}"));
        }
    }
    walks
}

/// How many calls of a mode began in a range of time, at most one more than [`MOST_IN_RANGE`]. The index `calls_newest`
/// serves it.
pub fn in_range(tx: &mut TenantTx, mode: Mode, filter: &Filter) -> Result<i64, DbError> {
    const SQL: &str = formatcp!(
        "select count(*) from (select 1 from calls where workspace = ?1 and mode = ?2 and id >= ?3 and id < ?4 limit {}) as calls",
        MOST_IN_RANGE + 1
    );
    let (low, high) = filter.bounds();
    Ok(tx.one(SQL, params![mode, low, high])?.unwrap_or(0))
}

row! {
    /// Calls that are alike.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct AlikeCalls {
        status: Status,
        direction: Direction,
        agent: Option<String>,
        campaign: Option<String>,
        outcome: Option<String>,
        end_cause: Option<String>,
        /// The day of India, counted from 1970.
        day: i64,
        /// How many.
        calls: i64 as "count(*)",
    }
}

/// The calls of a range of time, of a person or of people, by their properties; the caller has made sure that they are not
/// many ([`in_range`]).
pub fn alike(tx: &mut TenantTx, mode: Mode, filter: &Filter) -> Result<Vec<AlikeCalls>, DbError> {
    let (low, high) = filter.bounds();
    let mut query = Query { params: vec![mode.into(), low.into(), high.into()] };
    let person = filter.contact.map(|contact| format!(" and contact = {}", query.add(contact.to_string())));
    let person = person.unwrap_or_default();
    let wanted: Vec<String> = match &filter.people {
        Some(People::Named(words)) => vec![named("calls.contact", words, &mut query)],
        Some(People::Known { .. }) => of_people(filter, &mut query),
        None => vec![String::new()],
    };
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let each: Vec<String> = wanted
        .iter()
        .map(|wanted| {
            format!(
                "select status, direction, agent, campaign, outcome, end_cause, (started_at + 19800000) / 86400000 as day from calls \
                 where workspace = ?1 and mode = ?2 and id >= ?3 and id < ?4 and status <> 'queued'{person}{wanted}"
            )
        })
        .collect();
    let sql = format!(
        "select {} from ({}) as calls group by 1, 2, 3, 4, 5, 6, 7",
        AlikeCalls::COLUMNS,
        each.join(" union all ")
    );
    tx.all(&sql, &query.params)
}

/// What these calls were charged, minor units, second legs included; calls without a charge are left out. One look-up a
/// call in the index `one_charge_per_reference`, whose predicate SQLite has to find word for word.
pub fn charged(tx: &mut TenantTx, calls: &[Id<Call>]) -> Result<HashMap<Id<Call>, i64>, DbError> {
    if calls.is_empty() {
        return Ok(HashMap::new());
    }
    let mut params = Vec::new();
    let asked = tx.column_of(&mut params, calls.iter().map(|id| (*id).into()));
    let sql = format!(
        "with asked (id) as (values {asked}) select asked.id, (select cast(sum(-w.amount) as bigint) from wallet_entries w \
         where w.workspace = ?1 and w.kind = 'call_charge' and w.kind in ('call_charge', 'chat_charge') and w.reference >= asked.id and w.reference < asked.id || '~') from asked"
    );
    let found: Vec<(Id<Call>, Option<i64>)> = tx.all(&sql, &params)?;
    Ok(found.into_iter().filter_map(|(call, amount)| Some((call, amount?))).collect())
}

/// People that a text names: those with this reference, or with names whose words begin so; `None` stands for more than
/// [`MOST_PEOPLE`] names. The indexes `contact_of_reference` and `contact_words` serve it.
pub fn people_named(
    tx: &mut TenantTx,
    modes: &[Mode],
    reference: &str,
    words: &[String],
) -> Result<Option<Vec<Id<Contact>>>, DbError> {
    let mut found: Vec<Id<Contact>> = Vec::new();
    for mode in modes {
        found.extend(crate::search::by_reference(tx, *mode, reference, MOST_PEOPLE)?);
        let named = crate::search::by_name(tx, *mode, words, MOST_PEOPLE + 1)?;
        found.extend(named);
        if found.len() as i64 > MOST_PEOPLE {
            return Ok(None);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(Some(found))
}

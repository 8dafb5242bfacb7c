//! Records of the decision log and of actions in pages, newest first (docs/contract/audit.md).

use api::audit::{Action, ActionChange, LogRecord};
use domain::action::{self, Details};
use domain::decision_log::{Chain, Decision, Row, Strand};
use domain::phone::E164;
use domain::tenant::{Mode, Tenant};
use serde_json::{Map, Value};
use store::decision_log::{self, Filter};
use store::{TenantTx, calls, chats, contacts};

use super::Range;
use crate::{App, Failure};

/// Records that one request examines when no index serves all its filters together.
const EXAMINED: u64 = 50_000;
/// Calls and chats of a person whose records are found by the number, newest first.
const INTERACTIONS: i64 = 1_000;

/// Which records are wanted.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub range: Range,
    /// Of the person with this number.
    pub number: Option<String>,
    /// About this call, chat, contact or other object.
    pub about: Option<String>,
    pub gate: Option<String>,
    pub verdict: Option<Decision>,
    pub actor: Option<String>,
    pub operation: Option<String>,
}

impl Wanted {
    /// How many filters are given that need an index of their own. Allowed dials are the usual ones: they need none where
    /// they are frequent, and must be bounded where they are not.
    fn filters(&self) -> usize {
        let given = [
            self.number.is_some() || self.about.is_some(),
            self.gate.is_some(),
            self.actor.is_some(),
            self.operation.is_some(),
        ];
        let allowed = if self.verdict == Some(Decision::Allowed) { 2 } else { 0 };
        given.into_iter().filter(|given| *given).count() + allowed
    }
}

/// Rows of a chain, with the number after which the next page begins.
type Page = (Vec<Row>, Option<u64>);

async fn page(
    app: &App,
    tenant: Tenant,
    strand: Strand,
    wanted: Wanted,
    before: Option<u64>,
    limit: i64,
) -> Result<Page, Failure> {
    let number = wanted.number.as_deref().map(number).transpose()?;
    let read = move |tx: &mut TenantTx| {
        let Range { from, to } = wanted.range;
        let Some((first, last)) = decision_log::range(tx, strand, from, to)? else {
            return Ok((Vec::new(), None));
        };
        let last = before.map_or(last, |before| last.min(before.saturating_sub(1)));
        let about = match &number {
            Some(number) => Some(of_person(tx, strand.mode, &number.to_string())?),
            None => wanted.about.clone().map(|one| vec![one]),
        };
        if about.as_ref().is_some_and(Vec::is_empty) || first > last {
            return Ok((Vec::new(), None));
        }
        let examined =
            if wanted.filters() > 1 { first.max(last.saturating_sub(EXAMINED - 1)) } else { first };
        let filter = Filter {
            about,
            decision: wanted.verdict,
            gate: wanted.gate.clone(),
            actor: wanted.actor.clone(),
            operation: wanted.operation.clone(),
        };
        let rows = decision_log::search(tx, strand, &filter, (examined, last), limit)?;
        let next = match rows.last().and_then(|row| row.seq.parse().ok()) {
            Some(seq) if rows.len() as i64 >= limit => Some(seq),
            _ => Some(examined),
        };
        Ok::<_, Failure>((rows, next.filter(|next| *next > first)))
    };
    app.of(tenant).read_long(read).await
}

fn number(text: &str) -> Result<E164, Failure> {
    let number = domain::phone::Phone::normalize(text).map(E164::from).or_else(|_| E164::written(text));
    number.map_err(|_| Failure::field("number", "must be a whole phone number, such as +919812345678"))
}

/// The ids by which records name a person: of the contact, and of its newest calls and chats.
fn of_person(tx: &mut TenantTx, mode: Mode, number: &str) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    if let Some(contact) = contacts::find_by_phone(tx, mode, number)? {
        ids.push(contact.id.to_string());
        ids.extend(calls::ids_of_contact(tx, mode, contact.id, INTERACTIONS)?);
        ids.extend(chats::ids_of_contact(tx, contact.id, INTERACTIONS)?);
    }
    Ok(ids)
}

/// A page of a chain of decisions.
///
/// # Errors
/// An invalid number, and those of the store.
pub async fn records(
    app: &App,
    tenant: Tenant,
    strand: Strand,
    wanted: Wanted,
    before: Option<u64>,
    limit: i64,
) -> Result<(Vec<LogRecord>, Option<u64>), Failure> {
    let (rows, next) = page(app, tenant, strand, wanted, before, limit).await?;
    Ok((rows.into_iter().map(|row| record_view(strand.chain, row)).collect(), next))
}

/// One record of a chain of decisions, by its id.
///
/// # Errors
/// 404 when there is none.
pub async fn record(app: &App, tenant: Tenant, mode: Mode, id: &str) -> Result<LogRecord, Failure> {
    let missing = || Failure::not_found("record");
    let (chain, seq) = id.rsplit_once('-').ok_or_else(missing)?;
    let chain = Chain::parse(chain).filter(|chain| *chain != Chain::Actions).ok_or_else(missing)?;
    let seq: u64 = seq.parse().ok().filter(|seq| (1..=i64::MAX as u64).contains(seq)).ok_or_else(missing)?;
    let strand = Strand { chain, mode };
    let rows = app.of(tenant).read(move |tx| decision_log::page(tx, strand, seq - 1, seq, 1)).await?;
    rows.into_iter().next().map(|row| record_view(chain, row)).ok_or_else(missing)
}

/// A page of the actions in a workspace.
pub async fn actions(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    wanted: Wanted,
    before: Option<u64>,
    limit: i64,
) -> Result<(Vec<Action>, Option<u64>), Failure> {
    let strand = Strand { chain: Chain::Actions, mode };
    let (rows, next) = page(app, tenant, strand, wanted, before, limit).await?;
    Ok((rows.into_iter().map(action_view).collect(), next))
}

fn given(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn record_view(chain: Chain, row: Row) -> LogRecord {
    // A record that was tampered with may hold anything.
    let evidence = serde_json::from_str::<Map<String, Value>>(&row.gate_results).unwrap_or_default();
    LogRecord {
        id: format!("{}-{}", chain.as_str(), row.seq),
        chain: chain.as_str(),
        seq: row.seq.parse().unwrap_or_default(),
        at: row.timestamp,
        interaction_id: row.interaction_id,
        verdict: row.decision,
        blocked_by: given(row.blocked_by),
        evidence,
        outcome: given(row.outcome),
        recording_id: given(row.recording_ref),
        consent_id: given(row.consent_ref),
        channel: row.channel,
        agent_id: given(row.agent_id),
        hash: row.integrity_hash,
        prev_hash: row.prev_hash,
    }
}

fn action_view(row: Row) -> Action {
    let unreadable = Details {
        actor: String::new(),
        address: String::new(),
        session: None,
        user_agent: String::new(),
        path: Vec::new(),
        changes: Vec::new(),
        request_id: String::new(),
    };
    // A record that was tampered with may hold anything.
    let details: Details = serde_json::from_str(&row.gate_results).unwrap_or(unreadable);
    let change = |change: action::Change| ActionChange {
        field: change.field,
        before: change.before,
        after: change.after,
    };
    Action {
        id: format!("{}-{}", Chain::Actions.as_str(), row.seq),
        seq: row.seq.parse().unwrap_or_default(),
        at: row.timestamp,
        actor: details.actor,
        operation: row.outcome,
        object_type: action::kind(&row.interaction_id).to_owned(),
        object_id: row.interaction_id,
        address: details.address,
        session_id: details.session,
        user_agent: details.user_agent,
        path: details.path,
        changes: details.changes.into_iter().map(change).collect(),
        request_id: details.request_id,
        hash: row.integrity_hash,
        prev_hash: row.prev_hash,
    }
}

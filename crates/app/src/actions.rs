//! The log of actions (docs/contract/audit.md): who changed what, from where. The router runs the handler of a change
//! with a [`Recorder`], which appends a record to the chain `actions` of the workspace in the first transaction of the
//! request that succeeds, and in each later one that says what it changed. So no change is stored without its record,
//! wherever the process dies.

use std::fmt::Display;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::action::{self, Change, Details};
use domain::decision_log::{Chain, Channel, Decision, Entry};
use domain::ids::{Id, User};
use domain::tenant::{Mode, Tenant};
use runtime::crypto::Keyring;
use serde::Serialize;
use serde_json::Value;
use store::db::Companion;
use store::{DbError, Tx, workspaces};

use super::App;
use super::decision_log::Chains;

/// Who is behind a request.
#[derive(Debug, Clone)]
pub struct Origin {
    /// `key_…`, `usr_…` or `operator`.
    pub actor: String,
    /// The actor is the operator, whose changes also stand in the operator log.
    pub is_operator: bool,
    pub address: IpAddr,
    /// Of a member.
    pub session: Option<String>,
    pub user_agent: String,
    pub request_id: String,
}

/// Records what one request changes.
pub struct Recorder {
    app: Arc<App>,
    origin: Origin,
    tenant: Option<Tenant>,
    mode: Mode,
    operation: &'static str,
    /// The ids in its path, the workspace left out.
    path: Vec<String>,
    written: Arc<AtomicBool>,
}

/// What is known of an action while its transaction runs.
struct Draft {
    keyring: Arc<Keyring>,
    is_operator: bool,
    tenant: Option<Tenant>,
    object: Option<String>,
    /// Further objects, of a batch.
    others: Vec<String>,
    changes: Vec<Change>,
}

/// Most further objects of one action that are named, and most changes.
const MOST: usize = 100;

impl Recorder {
    /// A recorder of one request. `tenant` is the workspace whose chain it appends to; without one it is the workspace
    /// that the use case names ([`super::operator_log::append`]). `path` are its parameters.
    pub fn new(
        app: Arc<App>,
        origin: Origin,
        (tenant, mode): (Option<Tenant>, Mode),
        operation: &'static str,
        path: &[String],
    ) -> Self {
        let ids = path.iter().filter_map(|part| action::id(part).map(str::to_owned)).collect();
        Self { app, origin, tenant, mode, operation, path: ids, written: Arc::default() }
    }

    fn entry(&self, draft: Draft) -> Entry {
        let details = Details {
            actor: self.origin.actor.clone(),
            address: self.origin.address.to_string(),
            session: self.origin.session.clone(),
            user_agent: action::client_text(&self.origin.user_agent),
            path: self.path.iter().cloned().chain(draft.others).collect(),
            changes: draft.changes,
            request_id: action::client_text(&self.origin.request_id),
        };
        Entry {
            timestamp: self.app.clock.now(),
            interaction_id: draft.object.or_else(|| self.path.last().cloned()).unwrap_or_default(),
            decision: Decision::Allowed,
            blocked_by: None,
            // Texts and numbers always become JSON.
            gate_results: serde_json::to_string(&details).unwrap_or_default(),
            outcome: Some(self.operation.to_owned()),
            recording_ref: None,
            consent_ref: None,
            is_test: self.mode == Mode::Test,
            channel: Channel::Voice,
            agent_id: None,
        }
    }
}

impl Companion for Recorder {
    fn begin(&self, tx: &mut Tx<'_>) {
        tx.set_note(Draft {
            keyring: self.app.keyring.clone(),
            is_operator: self.origin.is_operator,
            tenant: self.tenant,
            object: None,
            others: Vec::new(),
            changes: Vec::new(),
        });
    }

    fn end(&self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        let Some(draft) = tx.take_note::<Draft>() else { return Ok(()) };
        if self.written.load(Ordering::Acquire) && draft.changes.is_empty() {
            return Ok(());
        }
        let Some(tenant) = draft.tenant else { return Ok(()) };
        // The path of the operator may name a workspace that does not exist.
        if self.origin.is_operator && workspaces::get(&mut tx.of(tenant))?.is_none() {
            return Ok(());
        }
        let mut chains = Chains::default();
        chains.record_by(tenant, Chain::Actions, self.entry(draft), &self.origin.actor);
        chains.finish(tx, &self.app.context())?;
        let written = self.written.clone();
        tx.after_commit(move || written.store(true, Ordering::Release));
        Ok(())
    }
}

/// Records what a signed-in person has changed of itself, in each workspace that shows it, as that member's action.
/// `origin` is where the request came from; `field` is changed, and its value is personal.
pub fn of_person(
    app: &Arc<App>,
    tx: &mut Tx<'_>,
    origin: &Origin,
    (operation, field): (&'static str, &str),
    memberships: &[(Tenant, Id<User>)],
) -> Result<(), DbError> {
    let mut chains = Chains::default();
    for (tenant, member) in memberships {
        let origin = Origin { actor: member.to_string(), ..origin.clone() };
        let recorder = Recorder::new(app.clone(), origin, (Some(*tenant), Mode::Live), operation, &[]);
        let entry = recorder.entry(Draft {
            keyring: app.keyring.clone(),
            is_operator: false,
            tenant: Some(*tenant),
            object: Some(member.to_string()),
            others: Vec::new(),
            changes: vec![Change::withheld(field)],
        });
        chains.record_by(*tenant, Chain::Actions, entry, &member.to_string());
    }
    chains.finish(tx, &app.context())
}

/// Names the object of the action, where the path of the request does not: something new. Further objects of a batch
/// are listed, up to a bound.
pub fn about(tx: &mut Tx<'_>, id: impl Display) {
    if let Some(draft) = tx.note::<Draft>() {
        match &draft.object {
            None => draft.object = Some(id.to_string()),
            Some(_) if draft.others.len() < MOST => draft.others.push(id.to_string()),
            Some(_) => {}
        }
    }
}

/// Nothing is changed by this transaction, such as when a stored answer is given again: it is not recorded.
pub(crate) fn unchanged(tx: &mut Tx<'_>) {
    let _ = tx.take_note::<Draft>();
}

/// Says in which fields an object was changed, from its views. `()` stands for an object that is not there.
pub fn changed(tx: &mut Tx<'_>, before: &impl Serialize, after: &impl Serialize) {
    if let Some(draft) = tx.note::<Draft>() {
        let json = |view: Result<Value, serde_json::Error>| view.unwrap_or_default();
        let (before, after) = (json(serde_json::to_value(before)), json(serde_json::to_value(after)));
        let keyring = draft.keyring.clone();
        let all = action::changes(&before, &after, &|text| keyring.hash(&format!("action:{text}")));
        draft.changes.extend(all.into_iter().take(MOST.saturating_sub(draft.changes.len())));
    }
}

/// Names changed fields whose values are personal data.
pub fn changed_fields(tx: &mut Tx<'_>, fields: &[&str]) {
    if let Some(draft) = tx.note::<Draft>() {
        for change in fields.iter().map(|field| Change::withheld(field)) {
            if !draft.changes.contains(&change) && draft.changes.len() < MOST {
                draft.changes.push(change);
            }
        }
    }
}

/// What the operator log says of a change: its workspace, and its object, if the text begins with an id. Returns whether
/// the operator made it; without a request that is recorded, the operator did.
pub(super) fn of_operator(tx: &mut Tx<'_>, workspace: Option<Tenant>, subject: &str) -> bool {
    let Some(draft) = tx.note::<Draft>() else { return true };
    draft.tenant = draft.tenant.or(workspace);
    let first = subject.split(' ').next().unwrap_or_default();
    if draft.object.is_none() {
        draft.object = action::id(first).map(str::to_owned);
    }
    draft.is_operator
}

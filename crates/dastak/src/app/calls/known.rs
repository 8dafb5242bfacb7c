//! What one transaction has learned while it places call after call: read once, then kept in step with what it placed itself. It must not outlive the
//! transaction. Workspaces whose calls are live are held in it, so that their money and their own lines stand still; what others may change meanwhile
//! (an agent unpublished, a key revoked) counts for the next transaction, as it would have for one that began a moment earlier.

use std::collections::HashMap;
use std::sync::Arc;

use domain::compliance::Pack;
use domain::ids::{Agent, ApiKey, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::{Map, Value};
use store::agents::{self, AgentRow};
use store::workspaces::{self, WorkspaceRow};
use store::{Tx, api_keys, calls, numbers};

use super::prepare::Refused;
use super::{Env, agent};
use crate::app::decision_log::Chains;
use crate::app::{Failure, access};

/// When this few lines of the platform are left, placements wait for each other, so that the last one is taken once.
const LAST_LINES: i64 = 256;

/// An agent as far as every call of it needs the same.
struct KnownAgent {
    row: Arc<AgentRow>,
    pack: Arc<Pack>,
    /// What stands in its way whatever the call brings, and the variables that a call must bring; read with the first call that needs them.
    needs: Option<(Vec<String>, Option<Refused>)>,
}

/// See the module.
#[derive(Default)]
pub struct Known {
    workspaces: HashMap<(Tenant, Mode), WorkspaceRow>,
    agents: HashMap<(Tenant, Id<Agent>), Option<KnownAgent>>,
    numbers: HashMap<Tenant, Vec<String>>,
    keys: HashMap<(Tenant, Id<ApiKey>), bool>,
    /// Lines in use by each workspace.
    lines: HashMap<Tenant, i64>,
    /// Lines in use on the platform, and whether placements of other workspaces wait for this transaction.
    platform: Option<(i64, bool)>,
    pub(super) chains: Chains,
}

impl Known {
    /// The workspace, held against other writers when the call is live.
    pub(in crate::app) fn workspace(&mut self, tx: &mut Tx<'_>, tenant: Tenant, mode: Mode) -> Result<WorkspaceRow, Failure> {
        if let Some(known) = self.workspaces.get(&(tenant, mode)) {
            return Ok(known.clone());
        }
        let row = match mode {
            Mode::Live => workspaces::get_for_update(tx, tenant)?,
            Mode::Test => workspaces::get(tx, tenant)?,
        };
        let row = row.ok_or_else(|| Failure::not_found("workspace"))?;
        self.workspaces.insert((tenant, mode), row.clone());
        Ok(row)
    }

    fn known_agent(&mut self, tx: &mut Tx<'_>, tenant: Tenant, id: Id<Agent>) -> Result<Option<&mut KnownAgent>, Failure> {
        use std::collections::hash_map::Entry;
        let slot = match self.agents.entry((tenant, id)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(empty) => {
                let found = match agents::get(tx, tenant, id)? {
                    Some(row) => Some(KnownAgent { pack: Arc::new(agent::pack(tx, tenant, &row)?), row: Arc::new(row), needs: None }),
                    None => None,
                };
                empty.insert(found)
            }
        };
        Ok(slot.as_mut())
    }

    /// The agent and the pack that it names, if there is one of this id.
    pub(super) fn agent(&mut self, tx: &mut Tx<'_>, tenant: Tenant, id: Id<Agent>) -> Result<Option<(Arc<AgentRow>, Arc<Pack>)>, Failure> {
        Ok(self.known_agent(tx, tenant, id)?.map(|known| (known.row.clone(), known.pack.clone())))
    }

    /// What the agent's flow needs and does not have, as [`agent::flow_refusal`] says it.
    pub(super) fn flow_refusal(
        &mut self,
        tx: &mut Tx<'_>,
        tenant: Tenant,
        id: Id<Agent>,
        given: &Map<String, Value>,
        saved: &Map<String, Value>,
    ) -> Result<Option<Refused>, Failure> {
        let Some(known) = self.known_agent(tx, tenant, id)? else { return Ok(Some(Refused::AgentNotFound)) };
        if known.needs.is_none() {
            known.needs = Some((agent::required(&known.row)?, agent::unready(tx, tenant, &known.row)?));
        }
        let Some((required, unready)) = &known.needs else { return Ok(None) };
        let missing = agent::missing(required, given, saved);
        Ok(if missing.is_empty() { unready.clone() } else { Some(Refused::MissingVariables(missing)) })
    }

    /// The workspace's active own numbers, E.164, oldest first.
    pub(in crate::app) fn numbers(&mut self, tx: &mut Tx<'_>, tenant: Tenant) -> Result<&[String], Failure> {
        use std::collections::hash_map::Entry;
        Ok(match self.numbers.entry(tenant) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(empty) => empty.insert(numbers::list(tx, tenant)?.into_iter().map(|row| row.number).collect()),
        })
    }

    /// Whether a key is neither revoked nor expired.
    pub(in crate::app) fn key_is_valid(&mut self, tx: &mut Tx<'_>, tenant: Tenant, key: Id<ApiKey>, now: Timestamp) -> Result<bool, Failure> {
        if let Some(valid) = self.keys.get(&(tenant, key)) {
            return Ok(*valid);
        }
        let valid = api_keys::is_valid(tx, tenant, key, now)?;
        self.keys.insert((tenant, key), valid);
        Ok(valid)
    }

    /// Lines in use: of the workspace, and of the whole platform.
    pub(in crate::app) fn lines_in_use(&mut self, tx: &mut Tx<'_>, tenant: Tenant) -> Result<(i64, i64), Failure> {
        if let (Some(mine), Some((all, _))) = (self.lines.get(&tenant), self.platform) {
            return Ok((*mine, all));
        }
        let (mine, all) = calls::lines(tx, tenant)?;
        self.lines.insert(tenant, mine);
        // What is known of the platform includes what was placed here.
        let known = self.platform.get_or_insert((all, false));
        known.0 = known.0.max(all);
        Ok((mine, known.0))
    }

    /// Lines in use by the workspace, and whose cap leaves none free. The caller holds the workspace, so its own count stands still.
    pub(super) fn lines(&mut self, tx: &mut Tx<'_>, env: &Env, workspace: &WorkspaceRow, mode: Mode) -> Result<(i64, Option<Refused>), Failure> {
        if mode == Mode::Test {
            return Ok((0, None));
        }
        let (mine, mut all) = self.lines_in_use(tx, workspace.id)?;
        if mine >= access::limit(workspace, "concurrentCalls") {
            return Ok((mine, Some(Refused::LinesFull { platform: false })));
        }
        let locked = self.platform.is_some_and(|(_, locked)| locked);
        if !locked && all.saturating_add(LAST_LINES) >= env.platform_lines {
            calls::lock_lines(tx)?;
            all = calls::lines(tx, workspace.id)?.1;
            self.platform = Some((all, true));
        }
        Ok((mine, (all >= env.platform_lines).then_some(Refused::LinesFull { platform: true })))
    }

    /// A live call was placed in this transaction: it has a line and a hold of this much.
    pub(super) fn placed(&mut self, tenant: Tenant, hold: i64) {
        if let Some(workspace) = self.workspaces.get_mut(&(tenant, Mode::Live)) {
            workspace.reserved += hold;
        }
        if let Some(mine) = self.lines.get_mut(&tenant) {
            *mine += 1;
        }
        if let Some((all, _)) = &mut self.platform {
            *all += 1;
        }
    }

    /// Writes what was put off. The last thing that the transaction does with calls.
    pub fn finish(self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        self.chains.finish(tx)
    }
}

//! The cache of one transaction that places call after call: read once, then updated with its own placements. It must
//! not outlive the transaction. Workspaces of live calls are locked by it, so that their money and their own lines do
//! not change; what others may change meanwhile (an agent unpublished, a key revoked) takes effect for the next
//! transaction, as if this one had begun a moment earlier.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use domain::analytics::hour_of;
use domain::compliance::{Facts, Pack};
use domain::ids::{Agent, ApiKey, Id};
use domain::phone::Phone;
use domain::ports::Carrier;
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::{Map, Value};
use store::agents::{self, AgentRow};
use store::calls::CallRow;
use store::contacts::ContactRow;
use store::workspaces::{self, WorkspaceRow};
use store::{ROWS, TenantTx, Tx, calls, contacts, keys, numbers, wallet};

use super::gates::{self, Judged, Number, Person};
use super::{Env, Refused, agent};
use crate::decision_log::Chains;
use crate::published_flows::{self, Needs};
use crate::{Context, Failure, access};

/// When this few lines of the platform are left, placements are serialised, so that the last one is taken once.
pub(super) const LAST_LINES: i64 = 256;

/// The data of an agent that every call of it needs.
struct KnownAgent {
    row: Arc<AgentRow>,
    pack: Arc<Pack>,
    /// What blocks it whatever the call brings, and the variables that a call must bring; read with the first call that
    /// needs them.
    needs: Option<(Arc<Needs>, Option<Refused>)>,
}

/// A workspace with the lines and holds of this transaction's calls, which are stored at the end ([`Known::finish`]).
struct KnownWorkspace {
    row: Arc<WorkspaceRow>,
    held: i64,
    placed: i64,
}

/// Most rows of the decision log that are buffered until the end of the transaction.
const ENTRIES: usize = 1_024;
/// Cached verdicts of gates: the dials of one transaction have much the same input.
const JUDGED: usize = 64;

/// The cache of one transaction; see the module.
#[derive(Default)]
pub struct CallCache {
    workspaces: BTreeMap<(Tenant, Mode), KnownWorkspace>,
    agents: HashMap<(Tenant, Id<Agent>), Option<KnownAgent>>,
    numbers: HashMap<Tenant, Vec<String>>,
    /// Carriers of own numbers that name one.
    carriers: HashMap<(Tenant, String), String>,
    keys: HashMap<(Tenant, Id<ApiKey>), bool>,
    /// Lines that calls of this transaction have asked for.
    lines_asked: usize,
    /// Lines in use by each workspace.
    lines: HashMap<Tenant, i64>,
    /// Lines in use on the platform, and whether placements of other workspaces wait for this transaction.
    platform: Option<(i64, bool)>,
    /// People whose numbers were looked up in a batch. Each is used once: after that the transaction may have called
    /// them.
    people: HashMap<(Tenant, Phone), Person>,
    /// Whether numbers that were looked up are in a live call, and those that this transaction calls.
    on_call: HashMap<(Tenant, Phone), bool>,
    called: HashSet<(Tenant, String)>,
    judged: Vec<(Arc<Pack>, Facts, Arc<Judged>)>,
    /// Whether no two calls are for one person.
    different_people: bool,
    /// One call of each hour whose analytics have changed.
    hours: BTreeMap<(Tenant, i64), Arc<CallRow>>,
    /// Buffered writes ([`Known::write`]); of the calls, those before `stored` are stored.
    contacts: Vec<(Tenant, ContactRow)>,
    calls: Vec<Arc<CallRow>>,
    stored: usize,
    pub(super) chains: Chains,
}

impl CallCache {
    /// For a transaction that calls no number and no reference twice.
    pub(super) fn of_different_people() -> Self {
        Self { different_people: true, ..Self::default() }
    }

    /// Makes sure that the store can be queried about a person: pending writes about the same one are flushed.
    pub(super) fn before_person(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        if self.different_people { Ok(()) } else { self.write(tx) }
    }

    /// The workspace, held against other writers when the call is live.
    pub fn workspace(&mut self, tx: &mut TenantTx, mode: Mode) -> Result<Arc<WorkspaceRow>, Failure> {
        Ok(self.wallet(tx, mode)?.0)
    }

    /// The workspace, and the part of its balance that no call holds, minor units.
    pub(super) fn wallet(
        &mut self,
        tx: &mut TenantTx,
        mode: Mode,
    ) -> Result<(Arc<WorkspaceRow>, i64), Failure> {
        let tenant = tx.tenant();
        use std::collections::btree_map::Entry;
        let known = match self.workspaces.entry((tenant, mode)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(empty) => {
                let row = match mode {
                    Mode::Live => workspaces::get_for_update(tx)?,
                    Mode::Test => workspaces::get(tx)?,
                };
                let row = row.ok_or_else(|| Failure::not_found("workspace"))?;
                empty.insert(KnownWorkspace { row: Arc::new(row), held: 0, placed: 0 })
            }
        };
        Ok((known.row.clone(), known.row.balance - known.row.reserved - known.held))
    }

    /// Looks up these people, who are called next, live and without a reference.
    pub fn meet(&mut self, tx: &mut TenantTx, numbers: Vec<Number>, now: Timestamp) -> Result<(), Failure> {
        let tenant = tx.tenant();
        let people = gates::read_people(tx, numbers, now)?;
        self.people.extend(people.into_iter().map(|(phone, person)| ((tenant, phone), person)));
        Ok(())
    }

    /// Looks up which of these numbers are in a live call. The workspace is held, so that nobody else calls them before
    /// this transaction ends but who does not ask ([`Known::is_on_call`]).
    pub fn listen(&mut self, tx: &mut TenantTx, numbers: &[Number], now: Timestamp) -> Result<(), Failure> {
        let tenant = tx.tenant();
        if numbers.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = numbers.iter().map(|(phone, _)| phone.to_string()).collect();
        let hashes: Vec<&str> = numbers.iter().map(|(_, hash)| hash.as_str()).collect();
        let found: HashSet<String> = calls::on_the_line(tx, &texts, &hashes, now)?.into_iter().collect();
        for ((phone, hash), text) in numbers.iter().zip(&texts) {
            self.on_call.insert((tenant, *phone), found.contains(text) || found.contains(hash));
        }
        Ok(())
    }

    /// Whether a number is in a live call of the workspace, one that this transaction places included.
    pub(super) fn is_on_call(&mut self, tx: &mut TenantTx, env: &Env, phone: Phone) -> Result<bool, Failure> {
        let tenant = tx.tenant();
        if self.called.contains(&(tenant, phone.to_string())) {
            return Ok(true);
        }
        if !self.on_call.contains_key(&(tenant, phone)) {
            let number = (phone, env.context.keyring.hash_phone(&phone));
            self.listen(tx, &[number], env.context.now)?;
        }
        Ok(self.on_call.get(&(tenant, phone)).copied().unwrap_or(false))
    }

    /// A contact that [`Known::meet`] looked up.
    pub(super) fn take_person(&mut self, tenant: Tenant, phone: Phone) -> Option<Person> {
        self.people.remove(&(tenant, phone))
    }

    /// The verdicts of a pack's gates on these facts.
    pub(super) fn judged(&mut self, pack: &Arc<Pack>, facts: Facts, now: Timestamp) -> Arc<Judged> {
        if let Some((.., judged)) =
            self.judged.iter().find(|(of, told, _)| Arc::ptr_eq(of, pack) && *told == facts)
        {
            return judged.clone();
        }
        if self.judged.len() >= JUDGED {
            self.judged.clear();
        }
        let judged = Arc::new(Judged::new(pack, &facts, now));
        self.judged.push((pack.clone(), facts, judged.clone()));
        judged
    }

    fn known_agent(&mut self, tx: &mut TenantTx, id: Id<Agent>) -> Result<Option<&mut KnownAgent>, Failure> {
        let tenant = tx.tenant();
        use std::collections::hash_map::Entry;
        let slot = match self.agents.entry((tenant, id)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(empty) => {
                let found = match agents::get(tx, id)? {
                    Some(row) => Some(KnownAgent {
                        pack: Arc::new(agent::pack(tx, &row)?),
                        row: Arc::new(row),
                        needs: None,
                    }),
                    None => None,
                };
                empty.insert(found)
            }
        };
        Ok(slot.as_mut())
    }

    /// The agent and its pack, if there is one with this id.
    pub(super) fn agent(
        &mut self,
        tx: &mut TenantTx,
        id: Id<Agent>,
    ) -> Result<Option<(Arc<AgentRow>, Arc<Pack>)>, Failure> {
        Ok(self.known_agent(tx, id)?.map(|known| (known.row.clone(), known.pack.clone())))
    }

    /// What the agent's flow lacks, as in [`agent::flow_refusal`].
    pub(super) fn flow_refusal(
        &mut self,
        tx: &mut TenantTx,
        id: Id<Agent>,
        given: &Map<String, Value>,
        saved: &Map<String, Value>,
    ) -> Result<Option<Refused>, Failure> {
        let Some(known) = self.known_agent(tx, id)? else { return Ok(Some(Refused::AgentNotFound)) };
        if known.needs.is_none() {
            known.needs = Some((published_flows::needs(tx, &known.row)?, agent::unready(tx, &known.row)?));
        }
        let Some((needs, unready)) = &known.needs else { return Ok(None) };
        let missing = agent::missing(&needs.required, given, saved);
        Ok(if missing.is_empty() { unready.clone() } else { Some(Refused::MissingVariables(missing)) })
    }

    /// The workspace's active own numbers, E.164, oldest first.
    pub fn numbers(&mut self, tx: &mut TenantTx) -> Result<&[String], Failure> {
        let tenant = tx.tenant();
        use std::collections::hash_map::Entry;
        Ok(match self.numbers.entry(tenant) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(empty) => {
                let rows = numbers::list(tx)?;
                let named = rows.iter().filter_map(|row| Some((row.number.clone(), row.carrier.clone()?)));
                self.carriers.extend(named.map(|(number, carrier)| ((tenant, number), carrier)));
                empty.insert(rows.into_iter().map(|row| row.number).collect())
            }
        })
    }

    /// The carrier that calls from one of [`Known::numbers`] go out on; `None` for the first one of the settings.
    pub fn carrier_of(&self, tenant: Tenant, number: &str) -> Option<String> {
        self.carriers.get(&(tenant, number.to_owned())).cloned()
    }

    /// Whether a key is neither revoked nor expired.
    pub(crate) fn key_is_valid(
        &mut self,
        tx: &mut TenantTx,
        key: Id<ApiKey>,
        now: Timestamp,
    ) -> Result<bool, Failure> {
        let tenant = tx.tenant();
        if let Some(valid) = self.keys.get(&(tenant, key)) {
            return Ok(*valid);
        }
        let valid = keys::is_valid(tx, key, now)?;
        self.keys.insert((tenant, key), valid);
        Ok(valid)
    }

    /// Lines in use: of the workspace, and of the whole platform.
    pub fn lines_in_use(&mut self, tx: &mut TenantTx) -> Result<(i64, i64), Failure> {
        let tenant = tx.tenant();
        if let (Some(mine), Some((all, _))) = (self.lines.get(&tenant), self.platform) {
            return Ok((*mine, all));
        }
        let (mine, all) = calls::lines(tx)?;
        self.lines.insert(tenant, mine);
        // What is known of the platform includes what was placed here.
        let known = self.platform.get_or_insert((all, false));
        known.0 = known.0.max(all);
        Ok((mine, known.0))
    }

    /// Lines in use by the workspace, and whose cap leaves none free. The caller has locked the workspace, so its own
    /// count does not change.
    pub(super) fn lines(
        &mut self,
        tx: &mut Tx<'_>,
        env: &Env,
        workspace: &WorkspaceRow,
        mode: Mode,
    ) -> Result<(i64, Option<Refused>), Failure> {
        if mode == Mode::Test {
            return Ok((0, None));
        }
        let (mine, mut all) = self.lines_in_use(&mut tx.of(workspace.id))?;
        if mine >= access::limit(workspace, "concurrentCalls") {
            return Ok((mine, Some(Refused::LinesFull { platform: false })));
        }
        let locked = self.platform.is_some_and(|(_, locked)| locked);
        if !locked && all.saturating_add(LAST_LINES) >= env.platform_lines {
            calls::lock_lines(tx)?;
            all = calls::lines(&mut tx.of(workspace.id))?.1;
            self.platform = Some((all, true));
        }
        Ok((mine, (all >= env.platform_lines).then_some(Refused::LinesFull { platform: true })))
    }

    /// A live call was placed in this transaction: it has a line and holds its price.
    pub(super) fn placed(&mut self, call: &CallRow) {
        let tenant = call.workspace;
        self.called.insert((tenant, call.to_number.clone()));
        if let Some(workspace) = self.workspaces.get_mut(&(tenant, Mode::Live)) {
            workspace.held += call.price;
            workspace.placed += 1;
        }
        if let Some(mine) = self.lines.get_mut(&tenant) {
            *mine += 1;
        }
        if let Some((all, _)) = &mut self.platform {
            *all += 1;
        }
    }

    /// A contact that is called for the first time.
    pub(super) fn add_contact(&mut self, tenant: Tenant, row: ContactRow) {
        self.contacts.push((tenant, row));
    }

    /// A call that this transaction stores.
    pub(super) fn add_call(&mut self, tx: &mut Tx<'_>, call: CallRow) -> Result<Arc<CallRow>, Failure> {
        let call = Arc::new(call);
        self.hours.entry((call.workspace, hour_of(call.started_at))).or_insert_with(|| call.clone());
        self.calls.push(call.clone());
        if self.calls.len() - self.stored >= ROWS {
            self.write(tx)?;
        }
        Ok(call)
    }

    /// Reserves a line of the carrier's network for the next call. Returns whether one was free.
    pub(super) fn reserve_line(&mut self, env: &Env, carrier: &dyn Carrier) -> bool {
        let n = self.lines_asked;
        self.lines_asked += 1;
        env.lines.reserve(n, carrier)
    }

    /// Flushes the buffered writes, so that they can be read.
    pub(crate) fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        let contacts = std::mem::take(&mut self.contacts);
        contacts::insert_all(tx, contacts.iter().map(|(tenant, row)| (*tenant, row)))?;
        calls::insert(tx, &self.calls[self.stored..])?;
        self.stored = self.calls.len();
        // Every decision of the workspace waits for the heads: they are locked after everything else is written.
        if self.chains.waiting() >= ENTRIES { Ok(self.chains.write(tx)?) } else { Ok(()) }
    }

    /// Flushes everything. The last thing that the transaction does with calls.
    ///
    /// # Errors
    /// When the wallet does not cover the calls' holds, although the workspace was locked: nothing may be stored.
    pub fn finish(mut self, tx: &mut Tx<'_>, context: &Context) -> Result<(), Failure> {
        self.write(tx)?;
        for call in self.hours.values() {
            calls::touch_hour(tx, call)?;
        }
        for ((tenant, _), workspace) in
            self.workspaces.into_iter().filter(|(_, workspace)| workspace.placed > 0)
        {
            wallet::reserve_covered(&mut tx.of(tenant), workspace.held, workspace.placed)?;
        }
        Ok(self.chains.finish(tx, context)?)
    }
}

//! The use cases, one file a noun. Handlers, the operator's command line and jobs all call these, so that they cannot
//! drift. Transactions are opened here, and by the webhook engine for its deliveries.

pub mod access;
pub mod account;
pub mod actions;
pub mod after_call;
pub mod agents;
pub mod analytics;
pub mod api_documents;
pub mod attention;
pub mod audit;
pub mod batcher;
pub mod bell;
pub mod board_messages;
pub mod call_env;
pub mod call_retention;
pub mod calls;
pub mod changes;
pub mod chat_words;
pub mod compliance_packs;
pub mod contact_policy;
pub mod contact_view;
pub mod contacts;
pub mod decision_log;
pub mod deliveries;
mod device_marks;
#[cfg(test)]
mod directions;
pub mod disk;
pub mod dnd;
pub mod do_not_call;
pub mod due_dials;
pub mod due_rows;
pub mod erasure;
pub mod evaluation_view;
pub mod event_stream;
pub mod events;
pub mod failure;
pub mod flow_versions;
pub mod flows;
mod held_up;
pub mod idempotency;
pub mod installation;
pub mod invitations;
pub mod keys;
pub mod limits;
pub mod lines;
pub mod log_marks;
pub mod masked_numbers;
pub mod master_key;
pub mod member_streams;
pub mod members;
pub mod node;
pub mod nudges;
pub mod numbers;
pub mod openid;
pub mod operator_log;
pub mod outgoing;
pub mod owed_steps;
pub mod passwords;
pub mod people;
pub mod presence;
pub mod published_flows;
pub mod readiness;
pub mod recording_uploads;
pub mod recordings;
pub mod restored;
pub mod room_state;
pub mod scheduled_calls;
pub mod search;
pub mod sessions;
pub mod sign_in;
pub mod sign_in_attempts;
pub mod sign_in_links;
pub mod timelines;
pub mod tool_calls;
pub mod tools;
pub mod transfer_numbers;
pub mod trunk_shares;
pub mod undialled;
pub mod voices;
pub mod wallet;
pub mod webhooks;
pub mod workspaces;

use std::sync::Arc;

use api::contacts::Erased;
use domain::call::{Fact, Progress};
use domain::ids::{Call, Campaign, Id};
use domain::ports::{Choice, Chosen};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::calls::CallRow;
use store::chats::ChatRow;
use store::{OfTenant, Store, TenantTx, Tx, WakeSet};

use config::Config;
use runtime::clock::{Clock, Signal};
use runtime::crypto::Keyring;
use runtime::ids::Ids;
use runtime::metrics::Metrics;
use runtime::traces::Traces;

use board_messages::{BoardMessage, Sent};
use call_env::Env;
use chat_words::{Carried, ChatWords};
use erasure::ErasedPerson;

pub use failure::Failure;

/// Jobs that a commit can wake, as bits of a [`WakeSet`].
pub mod topics {
    use store::WakeSet;

    /// A key, a workspace's settings or its endpoints changed: this node's caches of them are invalid.
    pub const ACCESS: WakeSet = WakeSet(1);
    /// A call was placed, or its next check is earlier than before.
    pub const CALLS: WakeSet = WakeSet(1 << 3);
    /// A scheduled call is due earlier than before.
    pub const SCHEDULED_CALLS: WakeSet = WakeSet(1 << 6);
    /// A call has pending steps after its end.
    pub const AFTER_CALLS: WakeSet = WakeSet(1 << 9);
    /// A nudge must be checked, a line is free, or a key was revoked.
    pub const DIALLER: WakeSet = WakeSet(1 << 4);
    /// A call on a real line has a hang-up request.
    pub const HANGUP_REQUESTS: WakeSet = WakeSet(1 << 10);
    /// A call was answered: its hold must grow earlier than before.
    pub const HOLDS: WakeSet = WakeSet(1 << 11);
    /// A board has a pending automation.
    pub const BOARDS: WakeSet = WakeSet(1 << 12);
    /// A stream must be polled, or its records passed to campaigns, earlier than before.
    pub const STREAMS: WakeSet = WakeSet(1 << 13);
    /// An outcome is to be written back to a connected system.
    pub const PUSHES: WakeSet = WakeSet(1 << 14);
    /// E-mail is to be sent.
    pub const MAILS: WakeSet = WakeSet(1 << 15);
    /// A calling list was replaced.
    pub const LISTS: WakeSet = WakeSet(1 << 16);
    /// A base has text without vectors, or accepts fewer documents than before.
    pub const KNOWLEDGE: WakeSet = WakeSet(1 << 17);
    /// A chat waits for its agent, or for its end.
    pub const CHATS: WakeSet = WakeSet(1 << 18);
    /// A message on the messaging channel is to be sent.
    pub const CHANNEL_SENDS: WakeSet = WakeSet(1 << 19);
    /// The messaging channel has sent a notification.
    pub const CHANNEL_NOTIFICATIONS: WakeSet = WakeSet(1 << 20);
    /// A campaign on the messaging channel must be checked.
    pub const CHANNEL_CAMPAIGNS: WakeSet = WakeSet(1 << 21);
    /// Woken only when a lost connection to the database is back.
    pub const NODE: WakeSet = WakeSet(1 << 22);
    /// The live carrier has refused a call, or accepts calls again.
    pub const CARRIER: WakeSet = WakeSet(1 << 23);
    /// A node needs channels of a trunk, or has released some.
    pub const TRUNKS: WakeSet = WakeSet(1 << 24);
    /// Something changed without an event, for those who watch.
    pub const CHANGES: WakeSet = store::changes::NOTED;
    /// A chat waits for a member, or a member came or has room for another chat.
    pub const INBOX: WakeSet = WakeSet(1 << 26);
    /// A conversation is to be graded, or a sweep goes on.
    pub const EVALUATIONS: WakeSet = WakeSet(1 << 29);
}

/// What the rooms above this one do when something happens here; the binary implements it (`dastak/src/hooks.rs`). By
/// default nothing happens. A hook runs in the transaction of what happened: its failure fails that transaction.
#[expect(unused_variables, reason = "the defaults do nothing")]
pub trait Hooks: Send + Sync {
    /// A fact was applied to a call. It is called once for every fact, after the call is saved and its own events are
    /// written. The row is the call afterwards; after [`Fact::NotPlaced`] it is gone from the store.
    fn call_fact(&self, tx: &mut Tx<'_>, env: &Env, call: &CallRow, fact: Fact) -> Result<(), Failure> {
        Ok(())
    }

    /// Issues the reads that [`Hooks::call_fact`] will make for this fact; `after` is the progress of the call afterwards. It
    /// runs before many facts are applied together (`Tx::prefetch`). Results are discarded and errors ignored. It writes
    /// nothing.
    fn prefetch(&self, tx: &mut Tx<'_>, env: &Env, call: &CallRow, after: &Progress, fact: Fact) {}

    /// A call of a campaign was charged, for its first or a second leg; `amount` is in minor units.
    fn charged(&self, tx: &mut TenantTx, campaign: Id<Campaign>, amount: i64) -> Result<(), Failure> {
        Ok(())
    }

    /// A person on a calling list is called no more although no call said so: fewer attempts are asked for, or the campaign
    /// is over. `call` is the last call to the person; the transaction settles the row.
    fn given_up(&self, tx: &mut TenantTx, env: &Env, call: Id<Call>) -> Result<(), Failure> {
        Ok(())
    }

    /// Empties what the rooms above hold of the words of calls that have expired.
    fn calls_expired(&self, tx: &mut TenantTx, calls: &[Id<Call>]) -> Result<(), Failure> {
        Ok(())
    }

    /// Erases what the rooms above hold about a person, and adds to the counts what was erased.
    fn erase(
        &self,
        tx: &mut TenantTx,
        context: &Context,
        person: &ErasedPerson,
        erased: &mut Erased,
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// The columns from which the language model chooses after this call.
    fn choices(&self, tx: &mut Tx<'_>, call: &CallRow) -> Result<Vec<Choice>, Failure> {
        Ok(Vec::new())
    }

    /// A call has its summary, its outcome and its extracted values, or will have none. It is called once, after the call is
    /// saved and `outcome.captured` is written, and not for a person who was erased.
    fn analysed(
        &self,
        tx: &mut Tx<'_>,
        env: &Env,
        call: &CallRow,
        chosen: Option<&Chosen>,
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// Queues a message of a chat to its customer.
    fn send_chat_words(
        &self,
        app: &Arc<App>,
        tx: &mut Tx<'_>,
        words: &ChatWords<'_>,
    ) -> Result<Carried, Failure> {
        Ok(Carried::Refused("number_unavailable".into()))
    }

    /// A chat has ended, and its analysis, if it gets one, is done. A chat that ended with an opt-out comes twice: at its end,
    /// and after its analysis.
    fn chat_ended(&self, tx: &mut TenantTx, context: &Context, chat: &ChatRow) -> Result<(), Failure> {
        Ok(())
    }

    /// Queues a message that a column of a board sends.
    fn send_board_message(
        &self,
        app: &App,
        tx: &mut Tx<'_>,
        message: &BoardMessage<'_>,
    ) -> Result<Sent, Failure> {
        Ok(Sent::Refused("chatapp_not_connected"))
    }

    /// Ends what the rooms above have under way for a workspace that is suspended.
    fn suspend(&self, tx: &mut TenantTx, now: Timestamp) -> Result<(), Failure> {
        Ok(())
    }
}

/// Hooks that do nothing.
pub struct NoHooks;

impl Hooks for NoHooks {}

/// Dependencies of use cases; shared by all requests and jobs of a node.
pub struct App {
    /// Where data lives.
    pub store: Store,
    pub clock: Clock,
    pub ids: Arc<Ids>,
    /// Secrets.
    pub keyring: Arc<Keyring>,
    pub config: Config,
    pub metrics: Arc<Metrics>,
    pub traces: Traces,
    /// This node's cache of keys.
    pub access: access::Cache,
    /// This node's cache of sessions.
    pub sessions: sessions::Cache,
    /// Invalid keys by address.
    pub throttle: access::Throttle,
    /// Hooks of the rooms above this one.
    pub hooks: &'static dyn Hooks,
    /// Per-node state of those rooms.
    pub state: room_state::RoomState,
    pub carriers: calls::Carriers,
    /// The circuit breaker of the live carrier.
    pub breaker: due_dials::Breaker,
    /// Priority of a burst of due dials over facts of other calls.
    pub burst: calls::Burst,
    /// Telephone lines of this node.
    pub lines: Option<Arc<dyn lines::Lines>>,
    /// Speech and language models.
    pub speech: providers::chain::Set,
    /// The client of webhook tools.
    pub tools: Arc<tool_calls::Client>,
    /// Analysis and object storage.
    pub ports: after_call::Ports,
    /// Extraction of untrusted files and pages.
    pub reader: Arc<dyn domain::ports::DocumentReader>,
    /// Fetches pages for knowledge bases.
    pub pages: providers::GuardedClient,
    /// The mail server, if there is one.
    pub mailer: Option<Arc<providers::mail::Mailer>>,
    /// The identity provider, if there is one.
    pub openid: Option<Arc<providers::openid::IdentityProvider>>,
    /// Deliveries in progress.
    pub webhooks: Arc<::webhooks::Engine>,
    /// Marks of the decision log.
    pub marks: Arc<log_marks::Marks>,
    /// Running checks and exports of the decision log.
    pub audits: Arc<audit::AuditSlots>,
    /// Rate-limit windows, on an embedded store.
    pub rates: limits::rates::Windows,
    /// Resources in use by clients.
    pub shares: limits::shares::InWork,
    /// Calls that a request has just ended.
    pub hung_up: calls::HungUp,
    /// Recordings of this node that are uploaded while they grow.
    pub uploads: recording_uploads::Uploads,
    /// Whether this node is in service, and the state of its database server.
    pub node: node::Node,
    /// Whether the store answers.
    pub readiness: readiness::Readiness,
    /// The description of the API as it is sent.
    pub documents: api_documents::Documents,
}

/// Dependencies of a transaction closure besides the store: it may run again, so it is cheap to copy.
#[derive(Clone)]
pub struct Context {
    /// The time of the request.
    pub now: Timestamp,
    pub ids: Arc<Ids>,
    /// Where events go after the commit.
    pub webhooks: Arc<::webhooks::Engine>,
    /// Keyed hashes and seals.
    pub keyring: Arc<Keyring>,
    /// The marks of the decision log.
    pub marks: Arc<log_marks::Marks>,
}

impl App {
    /// The ways into the store for what works for one workspace.
    pub fn of(&self, tenant: Tenant) -> OfTenant<'_> {
        self.store.of(tenant)
    }

    /// The present moment, new ids and the keys, to be moved into a transaction.
    pub fn context(&self) -> Context {
        Context {
            now: self.clock.now(),
            ids: self.ids.clone(),
            keyring: self.keyring.clone(),
            webhooks: self.webhooks.clone(),
            marks: self.marks.clone(),
        }
    }

    /// Whether calls over real carriers are refused, because the database may lose them.
    pub fn carriers_rest(&self) -> bool {
        self.store.shared() && !self.config.telephony.may_dial_twice && !self.node.database().remembers()
    }

    /// What one transaction of calls needs, as of now.
    pub fn call_env(&self) -> call_env::Env {
        call_env::Env {
            context: self.context(),
            carriers: self.carriers.clone(),
            carriers_rest: self.carriers_rest(),
            platform_lines: self.config.telephony.concurrent_calls,
            node: self.ports.node.clone(),
            hooks: self.hooks,
            lines: Arc::default(),
            undialled: self.state.of(undialled::Undialled::default),
        }
    }

    /// Whether this token, or this address without one, gives access to the metrics.
    pub fn may_see_metrics(&self, token: Option<&str>, address: Option<std::net::IpAddr>) -> bool {
        let figures = &self.config.figures;
        let same = |known: &str, token: &str| runtime::crypto::same(known.as_bytes(), token.as_bytes());
        address.is_some_and(|address| figures.networks.trusts(address))
            || token.is_some_and(|token| {
                self.is_operator(token) || figures.token.as_deref().is_some_and(|known| same(known, token))
            })
    }

    /// The operator's bearer token gives access to `/operator/v1`.
    pub fn is_operator(&self, token: &str) -> bool {
        runtime::crypto::same(self.config.operator_token.as_bytes(), token.as_bytes())
    }
}

/// Where wake-ups after commits go; filled in as the jobs start.
#[derive(Clone, Default)]
pub struct Wakes(Arc<std::sync::RwLock<Vec<(u32, Signal)>>>);

impl Wakes {
    /// Raises `signal` whenever one of `topics` is woken.
    pub fn connect(&self, topics: WakeSet, signal: Signal) {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner).push((topics.0, signal));
    }

    /// Called after a commit, here or on another node.
    pub fn raise(&self, woken: WakeSet) {
        for (topics, signal) in self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner).iter() {
            if topics & woken.0 != 0 {
                signal.raise();
            }
        }
    }
}

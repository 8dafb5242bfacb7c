//! The use cases, one file a noun. A handler, the operator's command line and a job all come through here, so
//! that they cannot drift. Transactions are opened here, and by the webhook engine for its deliveries.

pub mod access;
pub mod account;
pub mod after_call;
pub mod agents;
pub mod analytics;
pub mod api_documents;
pub mod audit;
pub mod board_messages;
pub mod call_env;
pub mod calls;
pub mod chat_ends;
pub mod chat_words;
pub mod compliance_packs;
pub mod contact_policy;
pub mod contact_view;
pub mod contacts;
pub mod decision_log;
pub mod deliveries;
#[cfg(test)]
mod directions;
pub mod disk;
pub mod dnd;
pub mod do_not_call;
pub mod due_rows;
pub mod erasure;
pub mod event_stream;
pub mod events;
pub mod failure;
pub mod flows;
pub mod gather;
mod held_up;
pub mod idempotency;
pub mod installation;
pub mod kept;
pub mod keys;
pub mod limits;
pub mod lines;
pub mod log_marks;
pub mod master_key;
pub mod members;
pub mod node;
pub mod nudges;
pub mod numbers;
pub mod operator_log;
mod owed_steps;
pub mod published_flows;
pub mod readiness;
pub mod recording_uploads;
pub mod recordings;
pub mod restored;
pub mod scheduled_calls;
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

use domain::time::Timestamp;
use store::{Store, WakeSet};

use config::Config;
use runtime::clock::{Clock, Signal};
use runtime::crypto::Keyring;
use runtime::ids::Ids;
use runtime::metrics::Metrics;
use runtime::traces::Traces;

pub use failure::Failure;

/// Jobs that a commit can wake, as bits of a [`WakeSet`].
pub mod topics {
    use store::WakeSet;

    /// A key, a workspace's settings or its endpoints changed: what this node remembers of them is void.
    pub const ACCESS: WakeSet = WakeSet(1);
    /// A call was placed, or has to be looked at earlier than it was.
    pub const CALLS: WakeSet = WakeSet(1 << 3);
    /// A scheduled call is due earlier than was known.
    pub const SCHEDULED_CALLS: WakeSet = WakeSet(1 << 6);
    /// A call has left something to be done after it.
    pub const AFTER_CALLS: WakeSet = WakeSet(1 << 9);
    /// A nudge has to be looked at, a line got free, or a key was revoked.
    pub const DIALLER: WakeSet = WakeSet(1 << 4);
    /// A call on a real line is to end.
    pub const WISHES: WakeSet = WakeSet(1 << 10);
    /// A call was answered: its hold has to grow earlier than was known.
    pub const HOLDS: WakeSet = WakeSet(1 << 11);
    /// A board owes an automation.
    pub const BOARDS: WakeSet = WakeSet(1 << 12);
    /// A stream has to be polled, or its records handed to campaigns, earlier than was known.
    pub const STREAMS: WakeSet = WakeSet(1 << 13);
    /// An outcome is to be written back to a connected system.
    pub const PUSHES: WakeSet = WakeSet(1 << 14);
    /// E-mail is to be sent.
    pub const MAILS: WakeSet = WakeSet(1 << 15);
    /// A calling list is not in force any more.
    pub const LISTS: WakeSet = WakeSet(1 << 16);
    /// A base has text without vectors, or takes fewer documents than before.
    pub const KNOWLEDGE: WakeSet = WakeSet(1 << 17);
    /// A chat waits for its agent, or for its end.
    pub const CHATS: WakeSet = WakeSet(1 << 18);
    /// A message on the messaging channel is to be sent.
    pub const CHANNEL_SENDS: WakeSet = WakeSet(1 << 19);
    /// The messaging channel has sent a notification.
    pub const CHANNEL_NOTIFICATIONS: WakeSet = WakeSet(1 << 20);
    /// A campaign on the messaging channel has to be looked at.
    pub const CHANNEL_CAMPAIGNS: WakeSet = WakeSet(1 << 21);
    /// Nothing wakes it but a connection to the database that is back after it was lost.
    pub const NODE: WakeSet = WakeSet(1 << 22);
    /// The carrier of live calls has refused one, or takes them again.
    pub const CARRIER: WakeSet = WakeSet(1 << 23);
    /// A node wants channels of a trunk, or has given some back.
    pub const TRUNKS: WakeSet = WakeSet(1 << 24);
}

/// What rooms above this one take part in; the binary fills it in.
#[derive(Clone, Copy)]
pub struct Hooks {
    /// What goes on from the facts of calls, in this order.
    pub call_facts: &'static [call_env::Follower],
    /// What these will read, asked for beforehand when many facts are applied together.
    pub foresees: &'static [call_env::Foreseer],
    /// What keeps account of what calls cost.
    pub charges: &'static [call_env::ChargeHook],
    /// What hears of people on calling lists who are given up without a call.
    pub given_up: &'static [call_env::GivenUpHook],
    /// What rooms above hold about a person, erased in this order.
    pub erasures: &'static [erasure::ErasureHook],
    /// Where a person may stand after a conversation, for the language model.
    pub choices: &'static [after_call::ChoicesHook],
    /// What goes on from an analysis, in this order.
    pub analysed: &'static [after_call::AnalysedHook],
    /// What carries the words of chats on the messaging channel.
    pub chat_words: Option<chat_words::ChatWordsHook>,
    /// What goes on from conversations on the messaging channel that are over, in this order.
    pub chat_ends: &'static [chat_ends::ChatEndHook],
    /// What sends the messages of boards.
    pub board_messages: Option<board_messages::BoardMessageHook>,
    /// What rooms above end when a workspace is suspended.
    pub suspensions: &'static [workspaces::SuspensionHook],
}

/// Everything a use case needs; shared by all requests and jobs of a node.
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
    /// What this node remembers of keys.
    pub access: access::Cache,
    /// Invalid keys by address.
    pub throttle: access::Throttle,
    /// What rooms above this one take part in.
    pub hooks: Hooks,
    /// What those rooms keep on this node.
    pub kept: kept::Kept,
    pub carriers: calls::Carriers,
    /// Whether the carrier of live calls is left alone for a while.
    pub breaker: nudges::Breaker,
    /// Gives a burst of due dials precedence over facts of other calls.
    pub burst: calls::Burst,
    /// Telephone lines of this node.
    pub lines: Option<Arc<dyn lines::Lines>>,
    /// Speech and language models.
    pub speech: providers::chain::Set,
    /// What reaches webhook tools.
    pub tools: Arc<providers::GuardedClient>,
    /// Who reads conversations, and where recordings are kept.
    pub ports: after_call::Ports,
    /// Who reads files and pages of strangers.
    pub reader: Arc<dyn domain::ports::DocumentReader>,
    /// Fetches pages for knowledge bases.
    pub pages: providers::GuardedClient,
    /// The mail server, if there is one.
    pub mailer: Option<Arc<providers::mail::Mailer>>,
    /// Deliveries on their way.
    pub webhooks: Arc<::webhooks::Engine>,
    /// How far this node has seen each chain of the decision log come.
    pub marks: Arc<log_marks::Marks>,
    /// Checks and exports of the decision log that run.
    pub audits: Arc<audit::AuditSlots>,
    /// Requests by workspace, on an embedded store.
    pub rates: limits::rates::Windows,
    /// What those who are connected have in work.
    pub shares: limits::shares::InWork,
    /// Calls that a request has just ended.
    pub hung_up: calls::HungUp,
    /// Recordings of this node that are sent while they grow.
    pub uploads: recording_uploads::Uploads,
    /// What this node is there for now, and what it has seen of its database server.
    pub node: node::Node,
    /// Whether the store answers.
    pub readiness: readiness::Readiness,
    /// The description of the API as it is sent.
    pub documents: api_documents::Documents,
}

/// What a transaction closure needs beside the store: it may run again, so it is cheap to copy.
#[derive(Clone)]
pub struct Context {
    /// The moment of the request.
    pub now: Timestamp,
    pub ids: Arc<Ids>,
    /// Where events go after the commit.
    pub webhooks: Arc<::webhooks::Engine>,
    /// Keyed hashes and seals.
    pub keyring: Arc<Keyring>,
    /// Who witnesses how the decision log grows.
    pub marks: Arc<log_marks::Marks>,
}

impl App {
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

    /// Whether calls over real carriers are refused, because the database may forget that they were placed.
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
            followers: self.hooks.call_facts,
            foresees: self.hooks.foresees,
            charges: self.hooks.charges,
            given_up: self.hooks.given_up,
            lines: Arc::default(),
            undialled: self.kept.of(undialled::Undialled::default),
        }
    }

    /// Whether somebody with this token, or without one from this address, may see the figures of the
    /// service.
    pub fn may_see_figures(&self, token: Option<&str>, address: Option<std::net::IpAddr>) -> bool {
        let figures = &self.config.figures;
        let same = |known: &str, token: &str| runtime::crypto::same(known.as_bytes(), token.as_bytes());
        address.is_some_and(|address| figures.networks.trusts(address))
            || token.is_some_and(|token| {
                self.is_operator(token) || figures.token.as_deref().is_some_and(|known| same(known, token))
            })
    }

    /// The operator's bearer token opens `/operator/v1`.
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

//! Calls on lines of the node that dialled them, as those of trunks are: in some runs on PostgreSQL. What happens on the
//! line is reported by that node only. It renews the call's lease as `jobs/lines.rs` does; when it dies, the line dies
//! with it, and the person on it hears nothing any more.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dastak::app::calls::keep_holding;
use dastak::app::{App, Failure};
use dastak::lines::LEASE;
use dastak::runtime::clock::{Job, Signal, Woken};
use domain::call::{Fact, HangupRequest};
use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use domain::time::{MINUTE, SECOND, Timestamp};

use crate::carrier::{News, World};

/// Time between two renewals, and after one that failed.
const SAY: i64 = 15 * SECOND;
const SAY_AGAIN: i64 = 3 * SECOND;
/// For so long a node that could not reach the store, while others could, may lose its calls.
const EXCUSED: i64 = 3 * MINUTE;
/// A stand-still of less than this ends no lease, whenever the lease was renewed last.
const LONG: i64 = 25 * SECOND;
/// So long after a longer stand-still every node has renewed its leases.
const AWAKE: i64 = 20 * SECOND;

/// A call on a line.
#[derive(Debug, Clone, Copy)]
struct Held {
    node: usize,
    tenant: Tenant,
    /// The carrier has taken it, and it goes on.
    on: bool,
}

/// What is known of the calls on lines.
#[derive(Default)]
pub struct Leases {
    /// Whether lines belong to nodes in this run.
    pub on: bool,
    held: HashMap<Id<Call>, Held>,
    /// The job that renews the leases of each node.
    signals: HashMap<usize, Signal>,
    /// Since when a node may be taken for dead: it stood still, or it alone could not reach the store.
    trouble: HashMap<usize, Timestamp>,
    /// Calls that were over in the store while their nodes held them, without anything to excuse it.
    pub ended: HashSet<Id<Call>>,
}

impl World {
    /// Whether lines belong to nodes in this run.
    pub fn has_leases(&self) -> bool {
        self.leases().on
    }

    /// A node dials a call; whether or not the carrier takes it, only this node hears of it.
    pub fn dials_on_a_line(&self, node: usize, tenant: Tenant, call: Id<Call>) {
        let mut leases = self.leases();
        if leases.on {
            leases.held.insert(call, Held { node, tenant, on: false });
        }
    }

    /// The carrier has told a node that it takes a call.
    pub fn holds(&self, call: Id<Call>) {
        let mut leases = self.leases();
        let Some(held) = leases.held.get_mut(&call) else { return };
        held.on = true;
        let node = held.node;
        if let Some(signal) = leases.signals.get(&node).cloned() {
            drop(leases);
            signal.raise();
        }
    }

    /// Who reports what happens to a call; `None` when anybody does.
    pub fn holder(&self, call: Id<Call>) -> Option<usize> {
        self.leases().held.get(&call).map(|held| held.node)
    }

    /// A fact of a call is reported by its node.
    pub fn reports(&self, call: Id<Call>, fact: Fact) {
        let goes_on = matches!(
            fact,
            Fact::Answered | Fact::AgentConnected | Fact::PickedUpBy(_) | Fact::OptOutSaid | Fact::Ringing
        );
        if !goes_on && let Some(held) = self.leases().held.get_mut(&call) {
            held.on = false;
        }
    }

    /// The lines of these calls are dropped.
    fn drop_lines(&self, calls: &[Id<Call>]) {
        {
            let mut leases = self.leases();
            for call in calls {
                if let Some(held) = leases.held.get_mut(call) {
                    held.on = false;
                }
            }
        }
        self.forget_news(|news| match news {
            News::Fact(call, _) | News::Transfer(call, _) | News::Leg(call, ..) => calls.contains(call),
            _ => false,
        });
    }

    /// A call was ended before the outcome of its dial was stored.
    pub fn gives_up(&self, call: Id<Call>) {
        if self.has_leases() {
            self.drop_lines(&[call]);
        }
    }

    /// A node has died, and its lines with it.
    pub fn loses_lines(&self, node: usize) {
        let calls: Vec<Id<Call>> = {
            let mut leases = self.leases();
            leases.signals.remove(&node);
            leases.held.iter().filter(|(_, held)| held.node == node).map(|(call, _)| *call).collect()
        };
        if !calls.is_empty() {
            self.drop_lines(&calls);
        }
    }

    /// Others may take this node for dead from now on.
    pub fn is_in_trouble(&self, node: usize, until: Timestamp) {
        self.leases().trouble.insert(node, until.plus(EXCUSED));
    }

    /// All nodes stood still for so long, in milliseconds. No node could renew its leases, and the first node that looks
    /// afterwards takes the others for dead. This happens in the simulation only: real nodes do not stop together.
    pub fn all_stood_still(&self, ms: i64) {
        if ms < LONG || !self.has_leases() {
            return;
        }
        let until = self.now().plus(AWAKE);
        let mut leases = self.leases();
        let nodes: Vec<usize> = leases.held.values().map(|held| held.node).collect();
        for node in nodes {
            let trouble = leases.trouble.entry(node).or_insert(until);
            *trouble = (*trouble).max(until);
        }
    }

    fn held_by(&self, node: usize) -> Vec<(Tenant, Id<Call>)> {
        let leases = self.leases();
        let mut held: Vec<(Tenant, Id<Call>)> = leases
            .held
            .iter()
            .filter(|(_, held)| held.node == node && held.on)
            .map(|(call, held)| (held.tenant, *call))
            .collect();
        held.sort_unstable_by_key(|(_, call)| *call);
        held
    }

    /// A call that a node holds is over in the store.
    fn is_over(&self, node: usize, call: Id<Call>) {
        let now = self.now();
        {
            let mut leases = self.leases();
            let on = leases.held.get(&call).is_some_and(|held| held.on);
            let excused = leases.trouble.get(&node).is_some_and(|until| now < *until);
            if on && !excused {
                leases.ended.insert(call);
            }
        }
        self.tell(format!("{call} is over although node {node} holds it"));
        self.drop_lines(&[call]);
    }
}

/// Starts the renewal of the leases of a node's calls.
pub fn start(app: &Arc<App>, world: &Arc<World>, node: usize) {
    if !world.has_leases() {
        return;
    }
    let signal = app.clock.signal();
    world.leases().signals.insert(node, signal.clone());
    let (app_, world) = (app.clone(), world.clone());
    app.clock.start_job(signal, move |job| renew(app_, world, node, job));
}

async fn renew(app: Arc<App>, world: Arc<World>, node: usize, mut job: Job) {
    loop {
        let held = world.held_by(node);
        let now = app.clock.now();
        let due = if held.is_empty() {
            None
        } else {
            match say(&app, &world, node, held).await {
                Ok(()) => Some(now.plus(SAY)),
                Err(_) => Some(app.clock.now().plus(SAY_AGAIN)),
            }
        };
        if job.wait(due).await == Woken::Stop {
            return;
        }
    }
}

async fn say(app: &App, world: &World, node: usize, held: Vec<(Tenant, Id<Call>)>) -> Result<(), Failure> {
    let looked = keep_holding(app, held, app.clock.now().plus(LEASE)).await?;
    for (call, wish) in looked.hangup_requests {
        let wish: HangupRequest = wish;
        world.is_to_end(call, wish);
    }
    for call in looked.over {
        world.is_over(node, call);
    }
    Ok(())
}

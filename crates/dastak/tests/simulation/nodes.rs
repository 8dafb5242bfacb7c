//! Several nodes on one database: whose clock is whose, who is woken, who stands still, from whom the database is cut
//! off, and how time passes for all of them together.
//!
//! Each node has a manual clock of its own and a thread that runs its tasks. The time of the world goes from one timer of
//! any node to the next; before it moves on, the work of every node that runs has to settle. A node that stands still is
//! not waited for: when it goes on, its clock is set, as on a machine that slept.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dastak::app::Wakes;
use dastak::runtime::clock::Clock;
use domain::time::{SECOND, Timestamp};
use futures_util::future::join_all;
use store::WakeSet;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::carrier::{News, World};
use crate::random::Random;

/// Time after which a node looks by itself at what a lost wake-up was to tell, as its jobs do on a clock that runs.
const LOOKS_BY_ITSELF: i64 = 5 * SECOND;

/// The most that a thread of a store waits in real time for a node that stands still.
const STAND_STILL: Duration = Duration::from_secs(60);

/// Real time after which a run ends whose work does not settle: somebody waits for a timer, and the time for them. The
/// longest moment of a run takes a few seconds.
const NEVER_SETTLES: Duration = Duration::from_secs(180);

/// What is known of one node.
#[derive(Default)]
pub struct Node {
    /// Its clock, while it lives.
    clock: Option<Clock>,
    /// Where its tasks run.
    handle: Option<Handle>,
    /// What its thread waits for: to die.
    dies: Arc<Notify>,
    wakes: Option<Wakes>,
    frozen: bool,
    /// The database cannot be reached from it until then.
    away: Option<Timestamp>,
    dead: bool,
    /// How often it heard what it had said itself.
    echoes: u64,
}

impl Node {
    fn runs(&self) -> bool {
        !self.frozen && !self.dead
    }
}

/// All nodes.
pub struct Nodes {
    all: Mutex<Vec<Node>>,
    random: Mutex<Random>,
    /// Chance in a hundred that a wake-up of another node is lost.
    lossy: i64,
    thawed: Condvar,
    /// Who runs has changed.
    changed: Notify,
}

impl Nodes {
    pub fn new(seed: u64, count: usize) -> Self {
        let mut random = Random::named(seed, "nodes");
        let lossy = if random.percent(50) { random.range(1, 30) } else { 0 };
        Self {
            all: Mutex::new((0..count).map(|_| Node::default()).collect()),
            random: Mutex::new(random),
            lossy,
            thawed: Condvar::new(),
            changed: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Node>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The clock of a node that lives.
    pub fn clock(&self, node: usize) -> Option<Clock> {
        self.lock()[node].clock.clone()
    }

    /// The clocks of all nodes that run.
    pub fn running(&self) -> Vec<Clock> {
        self.lock().iter().filter(|node| node.runs()).filter_map(|node| node.clock.clone()).collect()
    }

    /// Waits until every thread has gone on to what its task waits for: work that goes outside is no longer counted a
    /// moment before it is there.
    async fn come_to_rest(&self) {
        let handles: Vec<Handle> =
            self.lock().iter().filter(|node| node.runs()).filter_map(|node| node.handle.clone()).collect();
        let turns = handles.iter().map(|handle| {
            handle.spawn(async {
                tokio::task::yield_now().await;
                tokio::task::yield_now().await;
            })
        });
        join_all(turns).await;
    }

    pub fn is_frozen(&self, node: usize) -> bool {
        self.lock()[node].frozen
    }

    /// Whether the database cannot be reached from a node at this moment.
    pub fn is_away(&self, node: usize, now: Timestamp) -> bool {
        self.lock()[node].away.is_some_and(|until| now < until)
    }

    /// A node dies; whether it was alive.
    pub fn kill(&self, node: usize) -> bool {
        let mut nodes = self.lock();
        let died = !std::mem::replace(&mut nodes[node].dead, true);
        if died {
            nodes[node].dies.notify_one();
            self.changed.notify_one();
        }
        died
    }

    /// Those that have died and whose lives are to be ended.
    pub fn dead(&self) -> Vec<usize> {
        let nodes = self.lock();
        (0..nodes.len()).filter(|node| nodes[*node].dead && nodes[*node].clock.is_some()).collect()
    }
}

impl World {
    /// A node begins to live by this clock. What its thread waits for: to die.
    pub fn begins(&self, node: usize, clock: Clock, now: Timestamp) -> Arc<Notify> {
        self.start_time(now);
        let mut nodes = self.nodes.lock();
        let Node { away, echoes, .. } = nodes[node];
        nodes[node] = Node { clock: Some(clock), away, echoes, ..Node::default() };
        nodes[node].dies.clone()
    }

    /// Its tasks run here.
    pub fn runs_on(&self, node: usize, handle: Handle) {
        self.nodes.lock()[node].handle = Some(handle);
    }

    /// Whether nodes run on threads of their own, so that a clock may be set between any two steps of another.
    pub fn is_threaded(&self) -> bool {
        self.nodes.lock().iter().any(|node| node.clock.is_some())
    }

    /// What wakes the jobs of a node.
    pub fn connect(&self, node: usize, wakes: Wakes) {
        self.nodes.lock()[node].wakes = Some(wakes);
    }

    /// A node's life is over.
    pub fn ends(&self, node: usize) {
        let mut nodes = self.nodes.lock();
        nodes[node].clock = None;
        nodes[node].handle = None;
        nodes[node].wakes = None;
    }

    /// Stops this thread as long as its node stands still.
    pub fn stand_by(&self, node: usize) {
        let nodes = self.nodes.lock();
        let waited = self.nodes.thawed.wait_timeout_while(nodes, STAND_STILL, |nodes| nodes[node].frozen);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// From now on nothing of a node runs, not even what its store was about to say; its sessions stay open. A task of
    /// that node says it, whose thread stops here until the node goes on: a task that still ran while the time of the
    /// world moves on would act by a clock that is late.
    pub fn freeze(&self, node: usize) {
        let mut nodes = self.nodes.lock();
        if nodes[node].clock.is_none() || nodes[node].dead {
            return;
        }
        nodes[node].frozen = true;
        drop(nodes);
        self.tell(format!("node {node} stands still"));
        self.nodes.changed.notify_one();
        self.stand_by(node);
    }

    /// It goes on; what happened meanwhile it has to find out.
    pub fn thaw(&self, node: usize) {
        let now = self.now();
        if !self.nodes.is_frozen(node) {
            return;
        }
        self.clock_is_set(now);
        let mut nodes = self.nodes.lock();
        nodes[node].frozen = false;
        if let Some(clock) = &nodes[node].clock {
            clock.step_to(now.max(clock.now()));
        }
        if let Some(wakes) = &nodes[node].wakes {
            wakes.raise(WakeSet(u32::MAX));
        }
        drop(nodes);
        self.nodes.thawed.notify_all();
        self.tell(format!("node {node} goes on"));
    }

    /// The database cannot be reached from a node until then.
    pub fn be_away(&self, node: usize, until: Timestamp) {
        self.nodes.lock()[node].away = Some(until);
        self.tell(format!("the database is away from node {node} until {until}"));
    }

    /// The database is there again: all jobs look, since nobody knows what was said meanwhile.
    pub fn be_back(&self, node: usize) {
        let mut nodes = self.nodes.lock();
        nodes[node].away = None;
        if let (Some(wakes), false) = (&nodes[node].wakes, nodes[node].frozen) {
            wakes.raise(WakeSet(u32::MAX));
        }
    }

    /// Whether this is said by another node, over the connection that each node has for that. It comes when real time
    /// has passed, so here it tells nothing new, unless that connection was lost: then everybody looks.
    pub fn is_said_by_another(woken: WakeSet) -> bool {
        std::thread::current().name() == Some("store-wakes") && woken.0 != u32::MAX
    }

    /// A node hears what another one said. One that is alone hears nothing: what it said itself it knows.
    pub fn hears_another(&self, node: usize) {
        let mut nodes = self.nodes.lock();
        if nodes.len() == 1 {
            nodes[node].echoes += 1;
        }
    }

    /// How often nodes heard themselves.
    pub fn echoes(&self) -> u64 {
        self.nodes.lock().iter().map(|node| node.echoes).sum()
    }

    /// A commit of this node wakes the others, unless the wake-up is lost.
    pub fn wake_others(&self, node: usize, woken: WakeSet) {
        let now = self.now();
        let nodes = self.nodes.lock();
        let mut late = Vec::new();
        for (other, whose) in nodes.iter().enumerate().filter(|(other, _)| *other != node) {
            let Some(wakes) = &whose.wakes else { continue };
            let lost = {
                let mut random = self.nodes.random.lock().unwrap_or_else(PoisonError::into_inner);
                random.percent(self.nodes.lossy)
            };
            if whose.frozen || whose.away.is_some_and(|until| now < until) {
                // It looks when it is back.
            } else if lost {
                late.push(other);
            } else {
                wakes.raise(woken);
            }
        }
        drop(nodes);
        for other in late {
            self.send(now.plus(LOOKS_BY_ITSELF), News::Look(other, woken));
        }
    }

    /// A node looks by itself.
    pub fn look_by_itself(&self, node: usize, woken: WakeSet) {
        let nodes = self.nodes.lock();
        if let (Some(wakes), false) = (&nodes[node].wakes, nodes[node].frozen) {
            wakes.raise(woken);
        }
    }

    /// Lets the time pass up to `to` for all nodes that run: from one timer to the next, and not before everybody's work
    /// has settled.
    pub async fn advance_all(&self, to: Timestamp) {
        let mut began = Instant::now();
        loop {
            let (clocks, now) = (self.nodes.running(), self.now());
            let settling = async {
                join_all(clocks.iter().map(|clock| clock.advance_to(now.max(clock.now())))).await;
                self.nodes.come_to_rest().await;
            };
            tokio::select! {
                () = settling => {}
                () = self.nodes.changed.notified() => continue,
            }
            if !self.nodes.dead().is_empty() {
                // Time waits until the dead node's thread has ended. `World::died` ends this wait.
                return std::future::pending().await;
            }
            if !clocks.iter().all(Clock::is_idle) {
                assert!(
                    began.elapsed() < NEVER_SETTLES,
                    "the work of this moment does not settle: {}",
                    self.now()
                );
                continue;
            }
            began = Instant::now();
            let next = clocks.iter().filter_map(Clock::next_timer).min().filter(|next| *next <= to);
            let moment = next.unwrap_or(to);
            if next.is_none() && moment <= self.now() {
                return;
            }
            self.move_to(moment);
            for clock in &clocks {
                if clock.now() < moment {
                    clock.step_to(moment);
                }
            }
        }
    }
}

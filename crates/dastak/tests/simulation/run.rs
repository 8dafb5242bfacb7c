//! One run: lives of the service one after the other, the world around them, and the end.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dastak::app::node;
use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use domain::time::{DAY, HOUR, MINUTE, SECOND, Timestamp};

use crate::carrier::{News, World};
use crate::channel::ChannelAct;
use crate::check;
use crate::clients::{self, AFTERMATH, Act, Customer, Log, Outcome, Shared};
use crate::cloud;
use crate::faults::Counts;
use crate::life::{self, Life, Passed};
use crate::random::Random;
use crate::sight::Sight;
use crate::stage::{Engine, Stage};
use crate::streams::StreamAct;

/// A Monday, 10:00 in India.
const START: Timestamp = Timestamp(1_798_432_200_000);

/// Words of the store's faults, as they stand in log lines.
const FAULTS: [&str; 2] = ["simulated: the store is down", "the answer to the commit was lost"];
/// What PostgreSQL and the way to it say when sessions are ended, as log lines have it.
const ENDED: [&str; 4] = [
    "connection closed",
    "terminating connection",
    "error communicating with the server",
    "idle-in-transaction timeout",
];
/// Real time after which the store's nodes try a server again that they found away.
const TRIED_AGAIN: std::time::Duration = std::time::Duration::from_millis(600);

/// The states of what is open.
const RUNNING: u8 = 0;
const DONE: u8 = 1;
const AGAIN: u8 = 2;

/// What a run came to.
pub struct Report {
    pub broken: Vec<String>,
    pub figures: Figures,
}

/// What happened, added up.
#[derive(Debug, Default)]
pub struct Figures {
    pub runs: u64,
    /// Sessions that were ended, nodes that stood still, and times that the database was away or a node was drained.
    pub troubles: [u64; 4],
    pub acts: u64,
    pub dials: u64,
    pub legs: u64,
    /// Calls that took their leave because of an empty wallet.
    pub exhausted: u64,
    pub crashes: u64,
    pub nudges: u64,
    pub scheduled: u64,
    /// Records that were taken in, and calls that were written back.
    pub records: u64,
    pub notes: u64,
    /// Messages that the channel was handed, and notifications that it was relieved of.
    pub messages: u64,
    pub told: u64,
    pub steps: u64,
    pub boundaries: Counts,
}

impl Figures {
    pub fn add(&mut self, other: &Figures) {
        self.runs += other.runs;
        self.troubles.iter_mut().zip(other.troubles).for_each(|(sum, more)| *sum += more);
        self.acts += other.acts;
        self.dials += other.dials;
        self.legs += other.legs;
        self.exhausted += other.exhausted;
        self.crashes += other.crashes;
        self.nudges += other.nudges;
        self.scheduled += other.scheduled;
        self.records += other.records;
        self.notes += other.notes;
        self.messages += other.messages;
        self.told += other.told;
        self.steps += other.steps;
        for (boundary, count) in &other.boundaries {
            let sum = self.boundaries.entry(boundary.clone()).or_default();
            sum.crossed += count.crossed;
            sum.crashed += count.crashed;
            sum.refused += count.refused;
            sum.unheard += count.unheard;
            sum.slow += count.slow;
        }
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            acts,
            dials,
            legs,
            exhausted,
            crashes,
            nudges,
            scheduled,
            records,
            notes,
            messages,
            told,
            steps,
            boundaries,
            ..
        } = self;
        let [killed, frozen, away, drained] = self.troubles;
        if killed + frozen + away + drained > 0 {
            write!(
                f,
                "{killed} sessions ended, nodes stood still {frozen} times, the database was away {away} times, nodes were drained {drained} times, "
            )?;
        }
        let lethal = boundaries.values().filter(|count| count.crashed > 0).count();
        write!(
            f,
            "{acts} acts, {dials} dials, {legs} second legs, {exhausted} calls that ran out of money, {crashes} crashes (at {lethal} of {} boundaries, and between them), {steps} steps of the clock, {nudges} nudges, {scheduled} scheduled calls, {records} records of streams, {notes} calls written back, {messages} messages handed over, {told} notifications",
            boundaries.keys().filter(|(name, _)| !name.starts_with("read ")).count(),
        )
    }
}

/// Collects what the service logs as an error: that is a defect here, whatever came of it.
#[derive(Clone, Default)]
struct Errors(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Errors {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What is to happen at a moment, or under way.
enum Due {
    Act(Act),
    News(News),
}

/// What befalls the nodes of a run on PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// A node that is down comes back.
    Back(usize),
    /// A node stands still for so long, and goes on.
    Freeze(usize, i64),
    Thaw(usize),
    /// A node is drained for so long, and is in service again.
    Drain(usize, i64),
    Undrain(usize),
    /// The database cannot be reached for so long, from one node or from all.
    Away(Option<usize>, i64),
    Return(Option<usize>),
    /// Sessions are ended, each by this chance in a hundred.
    Kill(i64),
}

/// A request that was not answered yet: what it is, how it stands, and at which node.
type Open = (Due, Arc<AtomicU8>, usize);

/// Time after which a client asks another node, when the one that it asked says nothing.
const PATIENCE: i64 = 10 * SECOND;

struct Play {
    seed: u64,
    stage: Stage,
    world: Arc<World>,
    log: Shared,
    customers: Arc<Vec<Customer>>,
    acts: std::collections::VecDeque<(Timestamp, Act)>,
    /// The nodes that live.
    nodes: Vec<Option<Life>>,
    lives: u64,
    troubles: BTreeMap<(i64, u64), Trouble>,
    /// Sessions are ended while the work of this moment is under way.
    kills: Option<i64>,
    killed: u64,
    /// How often nodes stood still, the database was away, and nodes were drained.
    met: [u64; 3],
    /// When nodes were drained, from and to.
    drained: Vec<(usize, Timestamp, Option<Timestamp>)>,
    /// Moves the time of several nodes.
    driver: tokio::runtime::Runtime,
    sight: Sight,
    random: Random,
    /// When the service dies by itself.
    deaths: Vec<Timestamp>,
    /// When the clock is set, and by how much.
    steps: Vec<(Timestamp, i64)>,
    stepped: u64,
    /// Whether the clock was ever set back.
    went_back: bool,
    /// When the service was down, from and to.
    down: Vec<(Timestamp, Timestamp)>,
    /// What was not answered yet.
    open: Vec<Open>,
    /// Whether the store is well for good.
    calm: bool,
}

/// Runs one seed.
pub fn run(seed: u64, tell: bool, engine: Engine) -> Report {
    let errors = Errors::default();
    let writer = errors.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::ERROR)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _quiet = tracing::subscriber::set_default(subscriber);
    let mut play = Play::begin(seed, engine, tell);
    play.go_on();
    let end = play.settle();
    for life in play.nodes.iter_mut().filter_map(Option::take) {
        life::end(life);
    }
    play.sight.look();
    let Play { stage, world, log, customers, lives, sight, stepped, went_back, down, drained, .. } = play;
    let (killed, met) = (play.killed, play.met);
    let log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    let mut broken = log.defects.clone();
    let logged =
        String::from_utf8_lossy(&errors.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
    // What the store's faults led to may be said; everything else is a defect.
    broken.extend(
        logged
            .lines()
            .filter(|line| !FAULTS.iter().any(|fault| line.contains(fault)))
            .filter(|line| {
                engine == Engine::Sqlite
                    || killed + met[0] == 0
                    || !ENDED.iter().any(|words| line.contains(words))
            })
            .map(|line| format!("logged: {line}")),
    );
    let past = check::Past { end, went_back, stepped: stepped > 0, down, drained };
    let file = stage.file();
    broken.extend(check::promises(&file, &world, &log, &customers, &sight, past));
    if tell {
        for kept in &log.promises {
            println!("{} promised {:?}", kept.at, kept.promise);
        }
    }
    let (messages, told) = world.cloud().accounts.iter().fold((0, 0), |(messages, told), account| {
        let news = account.heard.len() + account.told.len();
        (messages + account.handed.len() as u64, told + news as u64)
    });
    let figures = Figures {
        runs: 1,
        troubles: [killed, met[0], met[1], met[2]],
        acts: log.acts,
        dials: world.dials().len() as u64,
        legs: world.leg_dials().len() as u64,
        exhausted: check::exhausted(&file),
        crashes: lives - engine.nodes() as u64,
        nudges: log.nudges.len() as u64,
        scheduled: log.scheduled.len() as u64,
        records: check::records(&file),
        notes: world.sources().accounts.iter().map(|account| account.notes.len() as u64).sum(),
        messages,
        told,
        steps: stepped,
        boundaries: std::mem::take(&mut world.lock().counts),
    };
    stage.strike();
    Report { broken, figures }
}

impl Play {
    fn begin(seed: u64, engine: Engine, tell: bool) -> Self {
        let world = World::new(seed, engine.nodes());
        let stage = Stage::new(seed, engine);
        world.lock().loud = tell;
        let mut random = Random::named(seed, "play");
        let from = START.plus(random.range(-5, 12) * HOUR);
        world.leases().on = engine != Engine::Sqlite && Random::named(seed, "leases").percent(60);
        let life = Life::begin(&stage, &world, seed, (0, 1), from);
        let customers = life.wait(async {
            let mut customers = Vec::new();
            for number in 0..2 {
                customers.push(clients::set_up(&life.app, number, &mut random).await.expect("a workspace"));
            }
            customers
        });
        for endpoint in customers.iter().flat_map(|customer| &customer.endpoints) {
            world.post().add(endpoint.clone());
        }
        let mut nodes = vec![Some(life)];
        for node in 1..engine.nodes() {
            nodes.push(Some(Life::begin(&stage, &world, seed, (node, 1), from)));
        }
        world.set_faulty(true);
        let deaths = (0..random.range(0, 3))
            .map(|_| from.plus(random.range(0, 48 * 60) * MINUTE + random.range(0, 20) * SECOND))
            .collect();
        let mut steps = Vec::new();
        if random.percent(40) {
            for _ in 0..random.range(1, 3) {
                let by = match random.range(0, 3) {
                    0 => random.range(1, 9 * 60) * MINUTE,
                    1 => random.range(1, 120) * SECOND,
                    2 => -random.range(1, 120) * SECOND,
                    _ => -random.range(1, 180) * MINUTE,
                };
                steps.push((from.plus(random.range(0, 48 * 60) * MINUTE), by));
            }
            // What is found late is found in time by a clock that goes evenly.
            world.sources().lags = false;
        }
        let acts = clients::plan(seed, from.plus(MINUTE));
        let mut troubles = BTreeMap::new();
        if engine != Engine::Sqlite {
            for (number, (at, trouble)) in
                troubles_of(seed, engine.nodes(), from, &acts).into_iter().enumerate()
            {
                troubles.insert((at.0, number as u64), trouble);
            }
        }
        let driver = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        Self {
            seed,
            world,
            log: Shared::new(Mutex::new(Log::default())),
            customers: Arc::new(customers),
            acts: acts.into(),
            lives: nodes.len() as u64,
            nodes,
            troubles,
            kills: None,
            killed: 0,
            met: [0; 3],
            drained: Vec::new(),
            driver,
            sight: Sight::new(&stage),
            stage,
            random,
            deaths,
            steps,
            stepped: 0,
            went_back: false,
            down: Vec::new(),
            open: Vec::new(),
            calm: false,
        }
    }

    fn now(&self) -> Timestamp {
        self.world.now()
    }

    /// The nodes that run.
    fn running(&self) -> Vec<usize> {
        let runs = |node: &usize| self.nodes[*node].is_some() && !self.world.nodes.is_frozen(*node);
        (0..self.nodes.len()).filter(runs).collect()
    }

    /// One of the nodes that run: clients are balanced over them.
    fn pick(&mut self) -> usize {
        match self.running()[..] {
            [node] => node,
            ref several => *self.random.pick(several),
        }
    }

    fn life(&self, node: usize) -> &Life {
        self.nodes[node].as_ref().expect("alive")
    }

    /// Lets the time pass; a crash on the way is followed by the next life.
    fn pass(&mut self, to: Timestamp) -> Passed {
        let passed = match self.stage.engine {
            Engine::Sqlite => self.life(0).pass(to),
            Engine::Postgres { .. } => {
                let world = self.world.clone();
                self.driver.block_on(async {
                    tokio::select! {
                        biased;
                        () = world.died() => Passed::Crashed,
                        () = world.has_news() => Passed::Alive,
                        () = world.advance_all(to) => Passed::Alive,
                    }
                })
            }
        };
        self.after(passed)
    }

    /// Lets everything of this moment end.
    fn settle_moment(&mut self) -> Passed {
        let passed = match self.stage.engine {
            Engine::Sqlite => self.life(0).settle(),
            Engine::Postgres { .. } => {
                let world = self.world.clone();
                self.driver.block_on(async {
                    tokio::select! {
                        biased;
                        () = world.died() => Passed::Crashed,
                        () = world.advance_all(world.now()) => Passed::Alive,
                    }
                })
            }
        };
        self.after(passed)
    }

    fn after(&mut self, passed: Passed) -> Passed {
        if self.stage.engine == Engine::Sqlite || self.world.has_changed() {
            self.sight.look();
        }
        let mut dead = self.world.nodes.dead();
        if passed == Passed::Crashed && self.stage.engine == Engine::Sqlite {
            dead.push(0);
        }
        for node in &dead {
            self.be_reborn(*node);
        }
        self.ask_again(&dead);
        passed
    }

    /// Clients without an answer ask again: at once if their node crashed, a second later if the store refused, and
    /// after a while if nothing is heard of the node.
    fn ask_again(&mut self, dead: &[usize]) {
        let (again, later) = (self.now().plus(SECOND), self.now().plus(PATIENCE));
        let mut acts = Vec::new();
        for (due, state, node) in std::mem::take(&mut self.open) {
            let at = match state.load(Ordering::SeqCst) {
                DONE => continue,
                AGAIN => again,
                _ if dead.contains(&node) => again,
                _ if self.world.nodes.is_frozen(node) => later,
                _ => {
                    self.open.push((due, state, node));
                    continue;
                }
            };
            match due {
                // The conversation that wanted it died with the service.
                Due::News(News::Transfer(..)) => {}
                // And so did the line.
                Due::News(News::Fact(call, _) | News::Leg(call, ..))
                    if dead.contains(&node) && self.world.holder(call) == Some(node) => {}
                // A node that stands still has not forgotten what it is about to report.
                Due::News(News::Fact(call, _) | News::Leg(call, ..))
                    if at == later && self.world.holder(call) == Some(node) =>
                {
                    self.open.push((due, state, node));
                }
                Due::Act(act) => acts.push((at, act)),
                Due::News(news) => self.world.send(at, news),
            }
        }
        if !acts.is_empty() {
            self.acts.extend(acts);
            self.acts.make_contiguous().sort_by_key(|(at, _)| *at);
        }
    }

    fn be_reborn(&mut self, node: usize) {
        let Some(life) = self.nodes[node].take() else { return };
        let died = self.now();
        life::end(life);
        self.world.loses_lines(node);
        self.sight.look();
        self.end_drain(node);
        let down = if self.random.percent(70) {
            self.random.range(0, 40) * SECOND
        } else {
            self.random.range(1, 600) * MINUTE
        };
        self.world.tell(format!("node {node} died and is back {} s later", down / SECOND));
        let back = died.plus(down);
        self.plan(back, Trouble::Back(node));
        if !self.running().is_empty() {
            return;
        }
        // Nobody is left: one that stands still goes on, or the first that is back begins.
        if let Some(frozen) = (0..self.nodes.len()).find(|node| self.nodes[*node].is_some()) {
            self.troubles.retain(|_, trouble| *trouble != Trouble::Thaw(frozen));
            return self.world.thaw(frozen);
        }
        let first = self.troubles.iter().find(|(_, trouble)| matches!(trouble, Trouble::Back(_)));
        let Some((key, Trouble::Back(node))) = first.map(|(key, trouble)| (*key, *trouble)) else { return };
        self.troubles.remove(&key);
        let at = Timestamp(key.0);
        self.down.push((died, at));
        self.world.move_to(at);
        self.come_back(node, at);
    }

    fn come_back(&mut self, node: usize, at: Timestamp) {
        self.lives += 1;
        self.world.set_faulty(false);
        self.nodes[node] = Some(Life::begin(&self.stage, &self.world, self.seed, (node, self.lives), at));
        self.world.set_faulty(!self.calm);
    }

    fn plan(&mut self, at: Timestamp, trouble: Trouble) {
        let number = 1_000 + self.troubles.keys().map(|(_, number)| *number).max().unwrap_or(0);
        self.troubles.insert((at.0, number), trouble);
    }

    fn end_drain(&mut self, node: usize) {
        let now = self.now();
        for (_, _, to) in self.drained.iter_mut().filter(|(of, _, to)| *of == node && to.is_none()) {
            *to = Some(now);
        }
    }

    /// What befalls the nodes now.
    fn meet(&mut self, trouble: Trouble) {
        let (now, running) = (self.now(), self.running());
        let all = |node: Option<usize>| node.map_or((0..self.nodes.len()).collect(), |node| vec![node]);
        match trouble {
            Trouble::Back(node) if self.nodes[node].is_none() => self.come_back(node, now),
            Trouble::Freeze(node, ms) if running.len() > 1 && running.contains(&node) => {
                self.met[0] += 1;
                self.plan(now.plus(ms), Trouble::Thaw(node));
                self.world.is_in_trouble(node, now.plus(ms));
                let (ticks, world) = (self.random.range(0, 12), self.world.clone());
                self.life(node).spawn(async move {
                    for _ in 0..ticks {
                        tokio::task::yield_now().await;
                    }
                    world.freeze(node);
                });
            }
            Trouble::Thaw(node) => self.world.thaw(node),
            Trouble::Drain(node, ms) if running.len() > 1 && running.contains(&node) => {
                self.met[2] += 1;
                self.plan(now.plus(ms), Trouble::Undrain(node));
                self.drained.push((node, now, None));
                let app = self.life(node).app.clone();
                self.world.tell(format!("node {node} is drained"));
                // It is drained all the same when the store refuses the line in the log.
                self.life(node).spawn(async move { drop(node::drain(&app, clients::trace()).await) });
            }
            Trouble::Undrain(node) => {
                self.end_drain(node);
                if running.contains(&node) {
                    let app = self.life(node).app.clone();
                    self.world.tell(format!("node {node} is in service"));
                    self.life(node).spawn(async move { drop(node::undrain(&app, clients::trace()).await) });
                } else if self.nodes[node].is_some() {
                    self.plan(now.plus(MINUTE), Trouble::Undrain(node));
                }
            }
            Trouble::Away(node, ms) => {
                self.met[1] += 1;
                let until = now.plus(ms);
                all(node).into_iter().for_each(|node| self.world.be_away(node, until));
                if let Some(alone) = node.filter(|_| self.nodes.len() > 1) {
                    self.world.is_in_trouble(alone, until);
                }
                self.plan(until, Trouble::Return(node));
            }
            Trouble::Return(node) => all(node).into_iter().for_each(|node| self.world.be_back(node)),
            Trouble::Kill(chance) => self.kills = Some(chance),
            Trouble::Back(_) | Trouble::Freeze(..) | Trouble::Drain(..) => {}
        }
    }

    /// Plays until nothing is left of the plan.
    fn go_on(&mut self) {
        loop {
            let now = self.now();
            if let Some(at) = self.steps.iter().position(|(at, _)| *at <= now) {
                let (_, by) = self.steps.swap_remove(at);
                self.step_clock(by);
            }
            while let Some(((at, _), trouble)) =
                self.troubles.first_key_value().map(|(key, what)| (*key, *what))
                && at <= self.now().0
            {
                self.troubles.pop_first();
                self.meet(trouble);
                self.play_due();
            }
            let trouble = self.troubles.keys().next().map(|(at, _)| Timestamp(*at));
            let act = self.acts.front().map(|(at, _)| *at);
            let death = self.deaths.iter().min().copied();
            let step = self.steps.iter().map(|(at, _)| *at).min();
            let Some(next) = [act, self.world.next_news(), step, trouble].into_iter().flatten().min() else {
                return;
            };
            if let Some(death) = death.filter(|death| *death <= next) {
                self.deaths.retain(|at| *at != death);
                self.die_during(death);
                continue;
            }
            if self.pass(next.max(self.now())) == Passed::Alive {
                self.play_due();
            }
        }
    }

    /// Dies while the work of that moment is under way.
    fn die_during(&mut self, at: Timestamp) {
        let ticks = self.random.range(0, 12);
        let node = self.pick();
        let (sleeper, world) = (self.life(node).clock.clone(), self.world.clone());
        self.life(node).spawn(async move {
            sleeper.sleep_until(at).await;
            for _ in 0..ticks {
                tokio::task::yield_now().await;
            }
            world.die();
        });
        let now = self.now();
        self.pass(at.max(now));
    }

    /// Sets the clock while the work of this moment is under way.
    fn step_clock(&mut self, by: i64) {
        let ticks = self.random.range(0, 12);
        let world = self.world.clone();
        self.stepped += 1;
        self.went_back |= by < 0;
        let node = self.pick();
        self.life(node).spawn(async move {
            for _ in 0..ticks {
                tokio::task::yield_now().await;
            }
            world.step_clock(by);
        });
        self.play_due();
    }

    /// Everything due at this moment happens at once.
    fn play_due(&mut self) {
        let now = self.now();
        let mut due = Vec::new();
        while self.acts.front().is_some_and(|(at, _)| *at <= now) {
            due.extend(self.acts.pop_front().map(|(_, act)| Due::Act(act)));
        }
        while let Some(news) = self.world.take_news(now) {
            due.push(Due::News(news));
        }
        let mut owners = HashMap::new();
        for due in due {
            let state = Arc::new(AtomicU8::new(RUNNING));
            let mut node = self.pick();
            if let Due::News(News::Fact(call, _) | News::Transfer(call, _) | News::Leg(call, ..)) = &due
                && let Some(holder) = self.world.holder(*call)
            {
                if self.nodes[holder].is_none() {
                    continue;
                }
                if self.world.nodes.is_frozen(holder) {
                    // It hears of it when it goes on.
                    if let Due::News(news) = due {
                        self.world.send(now.plus(PATIENCE), news);
                    }
                    continue;
                }
                node = holder;
                if let Due::News(News::Fact(call, fact)) = &due {
                    self.world.reports(*call, *fact);
                }
            }
            let (app, world, customers, log, flag) = (
                self.life(node).app.clone(),
                self.world.clone(),
                self.customers.clone(),
                self.log.clone(),
                state.clone(),
            );
            let answered = move |outcome| {
                flag.store(if outcome == Outcome::Done { DONE } else { AGAIN }, Ordering::SeqCst)
            };
            match due {
                Due::Act(act) => {
                    self.world.tell(format!("{act:?}"));
                    self.open.push((Due::Act(act.clone()), state, node));
                    self.life(node).spawn(async move {
                        answered(clients::perform(app, world, customers, log, act).await)
                    });
                }
                Due::News(News::Transfer(call, to)) => {
                    let Some(tenant) = self.owner(&mut owners, call) else { continue };
                    self.open.push((Due::News(News::Transfer(call, to)), state, node));
                    self.life(node).spawn(async move {
                        answered(clients::transfer(app, world, log, call, tenant, to).await)
                    });
                }
                Due::News(News::Leg(call, leg, fact)) => {
                    self.world.tell(format!("{fact:?} of leg {leg} of {call}"));
                    let Some(tenant) = self.owner(&mut owners, call) else { continue };
                    self.open.push((Due::News(News::Leg(call, leg, fact)), state, node));
                    self.life(node).spawn(async move {
                        answered(clients::report_leg(app, log, call, tenant, leg, fact).await)
                    });
                }
                Due::News(News::Answer(answer)) => drop(answer.send(())),
                Due::News(News::Look(other, woken)) => self.world.look_by_itself(other, woken),
                Due::News(News::Told(notification)) => {
                    self.open.push((Due::News(News::Told(notification.clone())), state, node));
                    self.life(node).spawn(async move {
                        answered(cloud::report(app, world, customers, log, notification).await)
                    });
                }
                Due::News(News::Fact(call, fact)) => {
                    self.world.tell(format!("{fact:?} of {call}"));
                    let Some(tenant) = self.owner(&mut owners, call) else { continue };
                    self.open.push((Due::News(News::Fact(call, fact)), state, node));
                    self.life(node).spawn(async move {
                        answered(clients::report(app, world, log, call, tenant, fact).await)
                    });
                }
            }
        }
        let kills = self.kills.take();
        if let Some(chance) = kills {
            std::thread::sleep(std::time::Duration::from_micros(self.random.range(0, 3_000).unsigned_abs()));
            let killed = self.stage.kill_sessions(chance) as u64;
            self.killed += killed;
            self.world.tell(format!("{killed} sessions are ended"));
        }
        self.settle_moment();
        if kills.is_some() {
            // Otherwise much virtual time would pass while the server counts as away.
            std::thread::sleep(TRIED_AGAIN);
        }
    }

    fn owner(&self, known: &mut HashMap<Id<Call>, Option<Tenant>>, call: Id<Call>) -> Option<Tenant> {
        *known.entry(call).or_insert_with(|| self.sight.owner(call))
    }

    /// The end: nothing fails any more, everybody has money and lines, and all that waits comes to its end.
    fn settle(&mut self) -> Timestamp {
        self.world.no_more_crashes();
        let now = self.now();
        for customer in 0..2 {
            for act in [
                Act::Stream { customer, act: StreamAct::Mend },
                Act::Channel { customer, act: ChannelAct::Mend },
                Act::Wallet { customer, amount: 1_000_000 },
                Act::Lines { customer, lines: 3 },
                Act::Suspend { customer, suspended: false },
                Act::Publish { customer, active: true },
            ] {
                self.acts.push_back((now, act));
            }
        }
        let end = now.plus(AFTERMATH);
        loop {
            self.go_on();
            let now = self.now();
            if !self.calm && now >= end.plus(-DAY) {
                // The store is well for good.
                self.calm = true;
                self.world.set_faulty(false);
                // Streams that stopped go on.
                for customer in 0..2 {
                    self.acts.push_back((now, Act::Stream { customer, act: StreamAct::Mend }));
                    self.acts.push_back((now, Act::Channel { customer, act: ChannelAct::Mend }));
                }
            }
            if now >= end {
                return now;
            }
            // A minute without planned acts: the service's own work may bring news.
            let to = self.now().plus(5 * MINUTE).min(end);
            self.pass(to);
        }
    }
}

/// What befalls the nodes of a run, mostly in moments in which much happens.
fn troubles_of(
    seed: u64,
    nodes: usize,
    from: Timestamp,
    acts: &[(Timestamp, Act)],
) -> Vec<(Timestamp, Trouble)> {
    let mut random = Random::named(seed, "troubles");
    let mut all = Vec::new();
    let moment = |random: &mut Random| {
        if random.percent(70) && !acts.is_empty() {
            random.pick(acts).0.plus(random.range(0, 40) * SECOND)
        } else {
            from.plus(random.range(0, 48 * 60) * MINUTE)
        }
    };
    for _ in 0..random.range(0, 5) {
        let ms = random.range(1, 120) * SECOND;
        let node = if random.percent(50) { None } else { Some(random.range(0, nodes as i64 - 1) as usize) };
        all.push((moment(&mut random), Trouble::Away(node, ms)));
    }
    for _ in 0..random.range(0, 8) {
        let chance = *random.pick(&[10, 30, 100]);
        all.push((moment(&mut random), Trouble::Kill(chance)));
    }
    if nodes > 1 {
        for _ in 0..random.range(0, 4) {
            let ms =
                if random.percent(60) { random.range(1, 60) * SECOND } else { random.range(1, 20) * MINUTE };
            all.push((moment(&mut random), Trouble::Freeze(random.range(0, 1) as usize, ms)));
        }
        for _ in 0..random.range(0, 2) {
            let ms = random.range(1, 120) * MINUTE;
            all.push((moment(&mut random), Trouble::Drain(random.range(0, 1) as usize, ms)));
        }
    }
    all
}

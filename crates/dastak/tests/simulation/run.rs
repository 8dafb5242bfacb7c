//! One run: lives of the service one after the other, the world around them, and the end.

mod figures;
mod requests;
mod restores;
mod troubles;

pub use figures::Figures;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::time::{DAY, HOUR, MINUTE, SECOND, Timestamp};

use self::requests::Open;
use self::restores::Restore;
use self::troubles::{Trouble, troubles_of};
use crate::carrier::World;
use crate::channel::ChannelAct;
use crate::check;
use crate::clients::{self, AFTERMATH, Act, Customer, Log, Shared};
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

/// What a run came to.
pub struct Report {
    pub broken: Vec<String>,
    pub figures: Figures,
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
    /// The backup of a run that is put back.
    restore: Option<Restore>,
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
    let gap = play.restore.and_then(|restore| restore.gap);
    let past = check::Past { end, went_back, stepped: stepped > 0, down, drained, gap };
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
        crashes: lives - engine.nodes() as u64 - u64::from(gap.is_some()),
        restores: u64::from(gap.is_some()),
        takeovers: log.chats.taken.len() as u64,
        assigned: check::assignments(&file),
        tools: world.workshop().asked.len() as u64,
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
                customers
                    .push(clients::set_up(&life.app, seed, number, &mut random).await.expect("a workspace"));
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
        let restore = restores::planned(seed, engine, from, &acts);
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
            restore,
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

    /// Plays until nothing is left of the plan.
    fn go_on(&mut self) {
        loop {
            self.restore_if_due();
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
            let Some(next) =
                [act, self.world.next_news(), step, trouble, self.next_restore()].into_iter().flatten().min()
            else {
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

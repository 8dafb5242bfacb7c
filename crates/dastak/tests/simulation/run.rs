//! One run: lives of the service one after the other, the world around them, and the end.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
use crate::streams::StreamAct;

/// A Monday, 10:00 in India.
const START: Timestamp = Timestamp(1_798_432_200_000);

/// Words of the store's faults, as they stand in log lines.
const FAULTS: [&str; 2] = ["simulated: the store is down", "the answer to the commit was lost"];

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

struct Play {
    seed: u64,
    folder: std::path::PathBuf,
    world: Arc<World>,
    log: Shared,
    customers: Arc<Vec<Customer>>,
    acts: std::collections::VecDeque<(Timestamp, Act)>,
    life: Option<Life>,
    lives: u64,
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
    open: Vec<(Due, Arc<AtomicU8>)>,
    /// Whether the store is well for good.
    calm: bool,
}

/// Runs one seed.
pub fn run(seed: u64, tell: bool) -> Report {
    let errors = Errors::default();
    let writer = errors.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::ERROR)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _quiet = tracing::subscriber::set_default(subscriber);
    let folder = life::folder(seed);
    let mut play = Play::begin(seed, &folder, tell);
    play.go_on();
    let end = play.settle();
    let Play { world, log, customers, life, lives, sight, stepped, went_back, down, .. } = play;
    if let Some(life) = life {
        life::end(life);
    }
    let log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    let mut broken = log.defects.clone();
    let logged =
        String::from_utf8_lossy(&errors.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
    // What the store's faults led to may be said; everything else is a defect.
    broken.extend(
        logged
            .lines()
            .filter(|line| !FAULTS.iter().any(|fault| line.contains(fault)))
            .map(|line| format!("logged: {line}")),
    );
    let past = check::Past { end, went_back, stepped: stepped > 0, down };
    broken.extend(check::promises(&folder.join("dastak.db"), &world, &log, &customers, &sight, past));
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
        acts: log.acts,
        dials: world.dials().len() as u64,
        legs: world.leg_dials().len() as u64,
        exhausted: check::exhausted(&folder.join("dastak.db")),
        crashes: lives - 1,
        nudges: log.nudges.len() as u64,
        scheduled: log.scheduled.len() as u64,
        records: check::records(&folder.join("dastak.db")),
        notes: world.sources().accounts.iter().map(|account| account.notes.len() as u64).sum(),
        messages,
        told,
        steps: stepped,
        boundaries: std::mem::take(&mut world.lock().counts),
    };
    let _ = std::fs::remove_dir_all(&folder);
    Report { broken, figures }
}

impl Play {
    fn begin(seed: u64, folder: &Path, tell: bool) -> Self {
        let world = World::new(seed);
        world.lock().loud = tell;
        let mut random = Random::named(seed, "play");
        let from = START.plus(random.range(-5, 12) * HOUR);
        let life = Life::begin(folder, &world, seed, 1, from);
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
        Self {
            seed,
            folder: folder.to_owned(),
            world,
            log: Shared::new(Mutex::new(Log::default())),
            customers: Arc::new(customers),
            acts: clients::plan(seed, from.plus(MINUTE)).into(),
            life: Some(life),
            lives: 1,
            sight: Sight::new(&folder.join("dastak.db")),
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

    fn life(&self) -> &Life {
        self.life.as_ref().expect("alive")
    }

    /// Lets the time pass; a crash on the way is followed by the next life.
    fn pass(&mut self, to: Timestamp) -> Passed {
        let passed = self.life().pass(to);
        self.after(passed)
    }

    /// Lets everything of this moment end.
    fn settle_moment(&mut self) -> Passed {
        let passed = self.life().settle();
        self.after(passed)
    }

    fn after(&mut self, passed: Passed) -> Passed {
        self.sight.look();
        if passed == Passed::Crashed {
            self.be_reborn();
        }
        self.ask_again(passed == Passed::Crashed);
        passed
    }

    /// Clients without an answer ask again: at once if the service crashed, a second later if the store refused.
    fn ask_again(&mut self, crashed: bool) {
        let again = self.life().clock.now().plus(SECOND);
        let mut acts = Vec::new();
        for (due, state) in std::mem::take(&mut self.open) {
            match state.load(Ordering::SeqCst) {
                DONE => {}
                RUNNING if !crashed => self.open.push((due, state)),
                _ => match due {
                    // The conversation that wanted it died with the service.
                    Due::News(News::Transfer(..)) => {}
                    Due::Act(act) => acts.push((again, act)),
                    Due::News(news) => self.world.send(again, news),
                },
            }
        }
        if !acts.is_empty() {
            self.acts.extend(acts);
            self.acts.make_contiguous().sort_by_key(|(at, _)| *at);
        }
    }

    fn be_reborn(&mut self) {
        let Some(life) = self.life.take() else { return };
        let died = life.clock.now();
        life::end(life);
        self.sight.look();
        let down = if self.random.percent(70) {
            self.random.range(0, 40) * SECOND
        } else {
            self.random.range(1, 600) * MINUTE
        };
        self.lives += 1;
        self.down.push((died, died.plus(down)));
        self.world.tell(format!("the service died and is back {} s later", down / SECOND));
        self.world.set_faulty(false);
        self.life = Some(Life::begin(&self.folder, &self.world, self.seed, self.lives, died.plus(down)));
        self.world.set_faulty(!self.calm);
    }

    /// Plays until nothing is left of the plan.
    fn go_on(&mut self) {
        loop {
            if let Some(at) = self.steps.iter().position(|(at, _)| *at <= self.life().clock.now()) {
                let (_, by) = self.steps.swap_remove(at);
                self.step_clock(by);
            }
            let act = self.acts.front().map(|(at, _)| *at);
            let death = self.deaths.iter().min().copied();
            let step = self.steps.iter().map(|(at, _)| *at).min();
            let Some(next) = [act, self.world.next_news(), step].into_iter().flatten().min() else { return };
            if let Some(death) = death.filter(|death| *death <= next) {
                self.deaths.retain(|at| *at != death);
                self.die_during(death);
                continue;
            }
            if self.pass(next.max(self.life().clock.now())) == Passed::Alive {
                self.play_due();
            }
        }
    }

    /// Dies while the work of that moment is under way.
    fn die_during(&mut self, at: Timestamp) {
        let ticks = self.random.range(0, 12);
        let (clock, world) = (self.life().clock.clone(), self.world.clone());
        let sleeper = clock.clone();
        self.life().spawn(async move {
            sleeper.sleep_until(at).await;
            for _ in 0..ticks {
                tokio::task::yield_now().await;
            }
            world.die();
        });
        let now = clock.now();
        self.pass(at.max(now));
    }

    /// Sets the clock while the work of this moment is under way.
    fn step_clock(&mut self, by: i64) {
        let ticks = self.random.range(0, 12);
        let world = self.world.clone();
        self.stepped += 1;
        self.went_back |= by < 0;
        self.life().spawn(async move {
            for _ in 0..ticks {
                tokio::task::yield_now().await;
            }
            world.step_clock(by);
        });
        self.play_due();
    }

    /// Everything due at this moment happens at once.
    fn play_due(&mut self) {
        let now = self.life().clock.now();
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
            let (app, world, customers, log, flag) = (
                self.life().app.clone(),
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
                    self.open.push((Due::Act(act.clone()), state));
                    self.life().spawn(async move {
                        answered(clients::perform(app, world, customers, log, act).await)
                    });
                }
                Due::News(News::Transfer(call, to)) => {
                    let Some(tenant) = self.owner(&mut owners, call) else { continue };
                    self.open.push((Due::News(News::Transfer(call, to)), state));
                    self.life().spawn(async move {
                        answered(clients::transfer(app, world, log, call, tenant, to).await)
                    });
                }
                Due::News(News::Leg(call, leg, fact)) => {
                    self.world.tell(format!("{fact:?} of leg {leg} of {call}"));
                    let Some(tenant) = self.owner(&mut owners, call) else { continue };
                    self.open.push((Due::News(News::Leg(call, leg, fact)), state));
                    self.life().spawn(async move {
                        answered(clients::report_leg(app, log, call, tenant, leg, fact).await)
                    });
                }
                Due::News(News::Answer(answer)) => drop(answer.send(())),
                Due::News(News::Told(notification)) => {
                    self.open.push((Due::News(News::Told(notification.clone())), state));
                    self.life().spawn(async move {
                        answered(cloud::report(app, world, customers, log, notification).await)
                    });
                }
                Due::News(News::Fact(call, fact)) => {
                    self.world.tell(format!("{fact:?} of {call}"));
                    let Some(tenant) = self.owner(&mut owners, call) else { continue };
                    self.open.push((Due::News(News::Fact(call, fact)), state));
                    self.life().spawn(async move {
                        answered(clients::report(app, world, log, call, tenant, fact).await)
                    });
                }
            }
        }
        self.settle_moment();
    }

    fn owner(&self, known: &mut HashMap<Id<Call>, Option<Tenant>>, call: Id<Call>) -> Option<Tenant> {
        *known.entry(call).or_insert_with(|| self.sight.owner(call))
    }

    /// The end: nothing fails any more, everybody has money and lines, and all that waits comes to its end.
    fn settle(&mut self) -> Timestamp {
        self.world.no_more_crashes();
        let now = self.life().clock.now();
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
            let now = self.life().clock.now();
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
            let to = self.life().clock.now().plus(5 * MINUTE).min(end);
            self.pass(to);
        }
    }
}

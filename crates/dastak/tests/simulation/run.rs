//! One run: lives of the service one after the other, the world around them, and the end.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use domain::time::{HOUR, MINUTE, SECOND, Timestamp};

use crate::carrier::{News, World};
use crate::check::{self, Sight};
use crate::clients::{self, AFTERMATH, Act, Customer, Log, Shared};
use crate::life::{self, Life, Passed};
use crate::random::Random;

/// A Monday, 10:00 in India.
const START: Timestamp = Timestamp(1_798_432_200_000);

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
    pub crashes: u64,
    pub nudges: u64,
    pub scheduled: u64,
}

impl Figures {
    pub fn add(&mut self, other: &Figures) {
        self.runs += other.runs;
        self.acts += other.acts;
        self.dials += other.dials;
        self.crashes += other.crashes;
        self.nudges += other.nudges;
        self.scheduled += other.scheduled;
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} acts, {} dials, {} crashes, {} nudges, {} scheduled calls", self.acts, self.dials, self.crashes, self.nudges, self.scheduled)
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

/// What is to happen at a moment.
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
}

/// Runs one seed.
pub fn run(seed: u64, tell: bool) -> Report {
    let errors = Errors::default();
    let writer = errors.clone();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::ERROR).with_ansi(false).with_writer(move || writer.clone()).finish();
    let _quiet = tracing::subscriber::set_default(subscriber);
    let folder = life::folder(seed);
    let mut play = Play::begin(seed, &folder);
    play.go_on();
    let end = play.settle();
    let Play { world, log, customers, life, lives, sight, .. } = play;
    if let Some(life) = life {
        life::end(life);
    }
    let log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    let mut broken = log.defects.clone();
    let logged = String::from_utf8_lossy(&errors.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
    broken.extend(logged.lines().map(|line| format!("logged: {line}")));
    broken.extend(check::promises(&folder.join("dastak.db"), &world.dials(), &log, &customers, &sight, end));
    if tell {
        for line in world.story() {
            println!("{line}");
        }
        for (at, promise) in &log.promises {
            println!("{at} promised {promise:?}");
        }
    }
    let figures = Figures {
        runs: 1,
        acts: log.acts,
        dials: world.dials().len() as u64,
        crashes: lives - 1,
        nudges: log.nudges.len() as u64,
        scheduled: log.scheduled.len() as u64,
    };
    let _ = std::fs::remove_dir_all(&folder);
    Report { broken, figures }
}

impl Play {
    fn begin(seed: u64, folder: &Path) -> Self {
        let world = World::new(seed);
        let mut random = Random::named(seed, "play");
        let from = START.plus(random.range(-5, 12) * HOUR);
        let life = Life::begin(folder, &world, seed, 1, from);
        let customers = life.wait(async {
            let mut customers = Vec::new();
            for number in 0..2 {
                customers.push(clients::set_up(&life.app, number).await.expect("a workspace"));
            }
            customers
        });
        let deaths = (0..random.range(0, 3)).map(|_| from.plus(random.range(0, 48 * 60) * MINUTE + random.range(0, 20) * SECOND)).collect();
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
        passed
    }

    fn be_reborn(&mut self) {
        let Some(life) = self.life.take() else { return };
        let died = life.clock.now();
        life::end(life);
        self.sight.look();
        let down = if self.random.percent(70) { self.random.range(0, 40) * SECOND } else { self.random.range(1, 600) * MINUTE };
        self.lives += 1;
        self.world.tell(format!("the service died and is back {} s later", down / SECOND));
        self.life = Some(Life::begin(&self.folder, &self.world, self.seed, self.lives, died.plus(down)));
    }

    /// Plays until nothing is planned any more.
    fn go_on(&mut self) {
        loop {
            let act = self.acts.front().map(|(at, _)| *at);
            let death = self.deaths.iter().min().copied();
            let Some(next) = [act, self.world.next_news()].into_iter().flatten().min() else { return };
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
        let mut open = Vec::new();
        let mut owners = HashMap::new();
        for due in due {
            let done = Arc::new(AtomicBool::new(false));
            let (app, world, customers, log, flag) =
                (self.life().app.clone(), self.world.clone(), self.customers.clone(), self.log.clone(), done.clone());
            match due {
                Due::Act(act) => {
                    self.world.tell(format!("{act:?}"));
                    open.push((Due::Act(act.clone()), done));
                    self.life().spawn(async move {
                        clients::perform(app, world, customers, log, act).await;
                        flag.store(true, Ordering::SeqCst);
                    });
                }
                Due::News(News::Answer(answer)) => drop(answer.send(())),
                Due::News(News::Fact(call, fact)) => {
                    self.world.tell(format!("{fact:?} of {call}"));
                    let Some(tenant) = self.owner(&mut owners, call) else { continue };
                    open.push((Due::News(News::Fact(call, fact)), done));
                    self.life().spawn(async move {
                        clients::report(app, log, call, tenant, fact).await;
                        flag.store(true, Ordering::SeqCst);
                    });
                }
            }
        }
        if self.settle_moment() == Passed::Crashed {
            // Whoever got no answer asks again.
            let again = self.life().clock.now().plus(SECOND);
            for (due, _) in open.into_iter().filter(|(_, done)| !done.load(Ordering::SeqCst)) {
                match due {
                    Due::Act(act) => self.acts.push_front((again, act)),
                    Due::News(news) => self.world.send(again, news),
                }
            }
            self.acts.make_contiguous().sort_by_key(|(at, _)| *at);
        }
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
            if self.life().clock.now() >= end {
                return self.life().clock.now();
            }
            // A minute in which nothing is planned: what the service does by itself may bring news.
            let to = self.life().clock.now().plus(5 * MINUTE).min(end);
            self.pass(to);
        }
    }
}

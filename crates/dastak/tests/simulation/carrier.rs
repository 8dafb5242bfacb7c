//! The carrier and the phones behind it. It outlives the service's crashes and remembers every dial that went
//! out: what it saw is the truth that the service's records are held against.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dastak::app::calls::LegFact;
use dastak::runtime::clock::Clock;
use domain::call::{AnsweredBy, EndCause, Fact, HangupRequest};
use domain::ids::{Call, Id};
use domain::phone::Phone;
use domain::ports::{Answer, Carrier, DialError, DialOrder, DialStatus, HangUpFailed};
use domain::tenant::Tenant;
use domain::time::{HOUR, MINUTE, SECOND, Timestamp};
use store::WakeSet;
use tokio::sync::{Notify, oneshot};

use crate::cloud::{Cloud, Notification};
use crate::faults::{Counts, Mood, Side};
use crate::leases::Leases;
use crate::life::here;
use crate::nodes::Nodes;
use crate::random::Random;
use crate::receivers::Post;
use crate::sources::Sources;
use crate::tools::Workshop;

/// A dial that went out.
#[derive(Debug, Clone)]
pub struct Dial {
    /// The node that dialled.
    pub node: usize,
    pub call: Id<Call>,
    pub to: Phone,
    pub at: Timestamp,
    /// The same moment by time that passed, whatever happened to the clock.
    pub passed: Timestamp,
}

/// A second leg that was rung.
#[derive(Debug, Clone)]
pub struct LegDial {
    pub call: Id<Call>,
    pub leg: i64,
    pub to: Phone,
    pub at: Timestamp,
    pub passed: Timestamp,
}

/// Something that comes from the carrier at its time.
pub enum News {
    /// A fact about a call.
    Fact(Id<Call>, Fact),
    /// The conversation of a call reaches a transfer to this number.
    Transfer(Id<Call>, Phone),
    /// Something about a second leg.
    Leg(Id<Call>, i64, LegFact),
    /// The messaging channel tells something.
    Told(Notification),
    /// The answer to a slow dial.
    Answer(oneshot::Sender<()>),
    /// A node looks at what a lost wake-up was to tell.
    Look(usize, WakeSet),
}

/// What the world knows.
pub struct State {
    clock: Option<Clock>,
    dials: Vec<Dial>,
    leg_dials: Vec<LegDial>,
    /// When the carrier was last asked what had become of a dial.
    questions: HashMap<Id<Call>, (Tenant, Timestamp)>,
    /// What the carrier was told of calls that are to end.
    wishes: HashSet<(Id<Call>, HangupRequest)>,
    asked: HashMap<Phone, u64>,
    news: BTreeMap<(i64, u64), News>,
    sent: u64,
    /// Whether the story is told while it happens.
    pub loud: bool,
    /// By how much the clock is ahead of the time that passed.
    ahead: i64,
    /// Moments that the clock was set forward to, and by how much.
    jumps: Vec<(Timestamp, i64)>,
    pub crashes_left: u32,
    /// Whether the service may meet with faults now.
    pub faulty: bool,
    pub mood: Mood,
    pub counts: Counts,
    /// The next transaction of this place takes so long, in milliseconds, to be committed.
    pub late: Option<(&'static str, i64)>,
}

/// The world outside the service.
pub struct World {
    seed: u64,
    state: Mutex<State>,
    post: Mutex<Post>,
    sources: Mutex<Sources>,
    cloud: Mutex<Cloud>,
    workshop: Mutex<Workshop>,
    pub nodes: Nodes,
    leases: Mutex<Leases>,
    /// Whether something may have been committed since somebody looked.
    changed: AtomicBool,
    /// The moment to which a clock was set last, also that of a node that stood still.
    set: AtomicI64,
    crash: Notify,
    fresh: Notify,
    slow: Notify,
}

/// What the carrier does with a dial.
enum Fate {
    Take,
    Refuse,
    /// It goes out, its answer is lost.
    Lost,
    /// It does not go out, and the answer is lost.
    Nowhere,
    Slow(oneshot::Receiver<()>),
    /// The service dies before the carrier hears of it.
    DieBefore,
    /// The service dies while it waits for the answer.
    DieWaiting,
    /// The service dies with the answer in its hands.
    DieAnswered,
}

impl World {
    pub fn new(seed: u64, nodes: usize) -> Arc<Self> {
        let state = State {
            clock: None,
            dials: Vec::new(),
            leg_dials: Vec::new(),
            questions: HashMap::new(),
            wishes: HashSet::new(),
            asked: HashMap::new(),
            news: BTreeMap::new(),
            sent: 0,
            loud: false,
            ahead: 0,
            jumps: Vec::new(),
            crashes_left: 6,
            faulty: false,
            mood: Mood::of(seed),
            counts: Counts::new(),
            late: None,
        };
        let (crash, fresh, slow) = (Notify::new(), Notify::new(), Notify::new());
        Arc::new(Self {
            seed,
            state: Mutex::new(state),
            post: Mutex::default(),
            sources: Mutex::default(),
            cloud: Mutex::default(),
            workshop: Mutex::default(),
            nodes: Nodes::new(seed, nodes),
            leases: Mutex::default(),
            changed: AtomicBool::new(true),
            set: AtomicI64::new(i64::MIN),
            crash,
            fresh,
            slow,
        })
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The receivers' side.
    pub fn post(&self) -> MutexGuard<'_, Post> {
        self.post.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The side of the systems that streams are read from.
    pub fn sources(&self) -> MutexGuard<'_, Sources> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The side of the messaging channel.
    pub fn cloud(&self) -> MutexGuard<'_, Cloud> {
        self.cloud.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The side of the tools.
    pub fn workshop(&self) -> MutexGuard<'_, Workshop> {
        self.workshop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls on lines of nodes.
    pub fn leases(&self) -> MutexGuard<'_, Leases> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is on its way never arrives.
    pub fn forget_news(&self, which: impl Fn(&News) -> bool) {
        self.lock().news.retain(|_, news| !which(news));
    }

    /// Nobody remembers which calls were to end.
    pub fn forgets_wishes(&self) {
        self.lock().wishes.clear();
    }

    /// A call is to end, for this reason.
    pub fn is_to_end(&self, call: Id<Call>, wish: HangupRequest) {
        if self.lock().wishes.insert((call, wish)) {
            let after = Random::named(self.seed, &format!("{wish:?} {call}")).range(1, 9) * SECOND;
            self.tell(format!("{call} is to end: {wish:?}"));
            self.send(self.now().plus(after), News::Fact(call, Fact::Ended(wish.cause())));
        }
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the service may meet with faults now.
    pub fn is_faulty(&self) -> bool {
        self.lock().faulty
    }

    /// Whether the service may meet with faults from now on.
    pub fn set_faulty(&self, faulty: bool) {
        self.lock().faulty = faulty;
    }

    /// The clock of the service is set to another time; what is on its way arrives after the same while as
    /// before a step back.
    pub fn step_clock(&self, by: i64) {
        let mut state = self.lock();
        let Some(clock) = state.clock.clone() else { return };
        state.ahead += by;
        if by < 0 {
            let news = std::mem::take(&mut state.news);
            state.news = news.into_iter().map(|((at, number), news)| ((at + by, number), news)).collect();
        }
        drop(state);
        let to = clock.now().plus(by);
        self.clock_is_set(to);
        clock.step_to(to);
        for own in self.nodes.running() {
            own.step_to(own.now().plus(by));
        }
        if by > 0 {
            self.lock().jumps.push((to, by));
        }
        self.tell(format!("the clock is set by {} s", by / SECOND));
    }

    /// By how much the clock was set forward since a moment, in milliseconds.
    pub fn jumped_since(&self, moment: Timestamp) -> i64 {
        self.lock().jumps.iter().filter(|(to, _)| *to >= moment).map(|(_, by)| by).sum()
    }

    /// So much time passes, in milliseconds, in which nothing of the service runs.
    pub fn stand_still(&self, ms: i64) {
        let to = self.now().plus(ms);
        self.clock_is_set(to);
        let clock = self.lock().clock.clone();
        if let Some(clock) = clock {
            clock.step_to(to);
        }
        for own in self.nodes.running() {
            own.step_to(own.now().plus(ms));
        }
    }

    /// The next transaction of this place is committed so much later, in milliseconds.
    pub fn be_late(&self, place: &'static str, ms: i64) {
        self.lock().late = Some((place, ms));
    }

    /// The time that passed, as a moment: it never goes back.
    pub fn passed(&self) -> Timestamp {
        let state = self.lock();
        state.clock.as_ref().map_or(Timestamp(0), Clock::now).plus(-state.ahead)
    }

    /// Lets the virtual time pass, on a task that is waiting outside already.
    pub async fn wait(&self, ms: i64) {
        let (send, receive) = oneshot::channel();
        self.send(self.now().plus(ms), News::Answer(send));
        drop(receive.await);
    }

    /// The same on a task that the clock counts.
    pub async fn pause(&self, ms: i64) {
        // A client that waits for this is no work of the service.
        self.slow.notify_waiters();
        let clock = self.nodes.clock(here()).or_else(|| self.lock().clock.clone());
        match clock {
            Some(clock) => clock.outside(self.wait(ms)).await,
            None => self.wait(ms).await,
        }
    }

    /// The same for somebody whom the service waits for outside: who waits for the service is no work of it.
    pub async fn think(&self, ms: i64) {
        self.slow.notify_waiters();
        self.wait(ms).await;
    }

    /// The clock of the service's present life.
    pub fn set_clock(&self, clock: Clock) {
        self.lock().clock = Some(clock);
    }

    /// Some clock is about to be set to this moment. Said before, since other nodes run meanwhile.
    pub fn clock_is_set(&self, to: Timestamp) {
        self.set.store(to.max(self.now()).0, Ordering::SeqCst);
    }

    /// Whether a clock was set at this moment or since. After a step back it is so until the time has come again.
    pub fn was_set_since(&self, moment: Timestamp) -> bool {
        self.set.load(Ordering::SeqCst) >= moment.0
    }

    /// Something may have been committed.
    pub fn change(&self) {
        self.changed.store(true, Ordering::SeqCst);
    }

    /// Whether something may have been committed since this was asked.
    pub fn has_changed(&self) -> bool {
        self.changed.swap(false, Ordering::SeqCst)
    }

    /// With several nodes the time of the world is apart from their clocks.
    pub fn start_time(&self, now: Timestamp) {
        self.lock().clock.get_or_insert_with(|| Clock::manual_with(now, std::time::Duration::ZERO));
    }

    /// The time of the world moves on; never back.
    pub fn move_to(&self, moment: Timestamp) {
        let state = self.lock();
        if let Some(clock) = state.clock.as_ref().filter(|clock| clock.now() < moment) {
            clock.step_to(moment);
        }
    }

    pub fn dials(&self) -> Vec<Dial> {
        self.lock().dials.clone()
    }

    pub fn leg_dials(&self) -> Vec<LegDial> {
        self.lock().leg_dials.clone()
    }

    /// Calls whose fate the carrier was asked for, with their workspace and the last time.
    pub fn questions(&self) -> HashMap<Id<Call>, (Tenant, Timestamp)> {
        self.lock().questions.clone()
    }

    /// Rings a second leg; what becomes of it follows, now and then twice, or never.
    pub fn ring_leg(&self, call: Id<Call>, leg: i64, to: Phone) {
        let mut random = Random::named(self.seed, &format!("leg {call} {leg}"));
        let (at, passed) = (self.now(), self.passed());
        let roll = random.range(0, 99);
        self.tell(format!("carrier rings leg {leg} of {call} at {to}"));
        if roll < 12 {
            return self.send(at, News::Leg(call, leg, LegFact::NotDialled));
        }
        self.lock().leg_dials.push(LegDial { call, leg, to, at, passed });
        let mut facts = vec![(25 * SECOND, LegFact::Ended("no_answer"))];
        if roll < 75 {
            let answer = random.range(1, 20) * SECOND;
            facts = vec![
                (answer, LegFact::Answered),
                (answer + random.range(5, 400) * SECOND, LegFact::Ended("hangup")),
            ];
        }
        for (after, fact) in facts {
            if random.percent(10) {
                continue;
            }
            self.send(at.plus(after), News::Leg(call, leg, fact));
            if random.percent(15) {
                self.send(at.plus(after + random.range(0, 60) * SECOND), News::Leg(call, leg, fact));
            }
        }
    }

    pub fn tell(&self, line: String) {
        let state = self.lock();
        let at = state.clock.as_ref().map_or(Timestamp(0), Clock::now);
        if state.loud {
            eprintln!("{at} {line}");
        }
    }

    /// Ends the service's life here and now, if it may still die.
    pub fn die(&self) -> bool {
        let mut state = self.lock();
        if state.crashes_left == 0 {
            return false;
        }
        state.crashes_left -= 1;
        drop(state);
        if self.nodes.clock(here()).is_some() && !self.nodes.kill(here()) {
            return false;
        }
        self.crash.notify_one();
        true
    }

    pub fn no_more_crashes(&self) {
        self.lock().crashes_left = 0;
    }

    pub async fn died(&self) {
        self.crash.notified().await;
    }

    pub fn next_news(&self) -> Option<Timestamp> {
        self.lock().news.keys().next().map(|(at, _)| Timestamp(*at))
    }

    pub fn take_news(&self, now: Timestamp) -> Option<News> {
        let mut state = self.lock();
        let key = *state.news.keys().next().filter(|(at, _)| *at <= now.0)?;
        state.news.remove(&key)
    }

    pub fn send(&self, at: Timestamp, news: News) {
        let mut state = self.lock();
        state.sent += 1;
        let key = (at.0, state.sent);
        state.news.insert(key, news);
        drop(state);
        self.fresh.notify_one();
    }

    /// Something new is to come from the carrier.
    pub async fn has_news(&self) {
        self.fresh.notified().await;
    }

    /// A client does not wait for a slow dial, but goes on with something else.
    pub async fn is_slow(&self) {
        self.slow.notified().await;
    }

    pub fn now(&self) -> Timestamp {
        self.lock().clock.as_ref().map_or(Timestamp(0), Clock::now)
    }

    /// Decides what becomes of a dial; if it goes out, the phone's life follows.
    fn begin(&self, order: &DialOrder) -> Fate {
        let asked = {
            let mut state = self.lock();
            let asked = state.asked.entry(order.to).or_default();
            *asked += 1;
            *asked
        };
        let mut random = Random::named(self.seed, &format!("dial {} {asked}", order.to));
        let roll = random.range(0, 99);
        let fate = match roll {
            0..=9 => Fate::Refuse,
            10..=13 => Fate::Lost,
            14..=16 => Fate::Nowhere,
            // On a line of a node, what happens is told once the dial is answered.
            17..=20 if !self.has_leases() => {
                let (send, receive) = oneshot::channel();
                self.send(self.now().plus(random.range(1, 90) * SECOND), News::Answer(send));
                Fate::Slow(receive)
            }
            21..=23 if self.die() => Fate::DieBefore,
            24..=26 if self.die() => Fate::DieWaiting,
            27..=29 if self.die() => Fate::DieAnswered,
            _ => Fate::Take,
        };
        let word = match &fate {
            Fate::Take => "takes",
            Fate::Refuse => "refuses",
            Fate::Lost => "takes, answer lost:",
            Fate::Nowhere => "loses",
            Fate::Slow(_) => "takes, answers late:",
            Fate::DieBefore => "never hears of (crash)",
            Fate::DieWaiting => "takes (crash before the answer)",
            Fate::DieAnswered => "takes (crash with the answer)",
        };
        self.tell(format!("carrier {word} {} to {}", order.call, order.to));
        if matches!(fate, Fate::Take | Fate::Lost | Fate::Slow(_) | Fate::DieWaiting | Fate::DieAnswered) {
            let (at, passed) = (self.now(), self.passed());
            self.lock().dials.push(Dial { node: here(), call: order.call, to: order.to, at, passed });
            self.ring(order.call, at, &mut random);
        }
        fate
    }

    /// What the phone does, with facts that come twice, in the wrong order, or not at all.
    fn ring(&self, call: Id<Call>, now: Timestamp, random: &mut Random) {
        let pick_up = random.range(1, 25) * SECOND;
        let talk =
            if random.percent(70) { random.range(5, 240) * SECOND } else { random.range(5, 30) * MINUTE };
        let mut facts: Vec<(i64, Fact)> = match random.range(0, 99) {
            0..=44 => {
                let cause = *random.pick(&[
                    EndCause::AgentEnded,
                    EndCause::CallerHangup,
                    EndCause::SilenceTimeout,
                    EndCause::MaxDuration,
                    EndCause::Error,
                ]);
                let mut facts = vec![
                    (pick_up, Fact::Answered),
                    (pick_up + 500, Fact::AgentConnected),
                    (pick_up + talk, Fact::Ended(cause)),
                ];
                if random.percent(20) {
                    // Some are heard only when the call is over.
                    let heard =
                        if random.percent(50) { talk / 2 } else { talk + random.range(1, 20) * MINUTE };
                    facts.insert(2, (pick_up + heard, Fact::OptOutSaid));
                }
                facts
            }
            45..=64 => vec![(random.range(15, 45) * SECOND, Fact::NoAnswer)],
            65..=74 => vec![(3 * SECOND, Fact::Busy)],
            75..=78 => vec![(3 * SECOND, Fact::Rejected)],
            79..=81 => vec![(SECOND, Fact::InvalidNumber)],
            82..=84 => vec![(SECOND, Fact::Sip(503))],
            85..=86 => vec![(pick_up, Fact::Answered), (pick_up + 2 * SECOND, Fact::Voicemail)],
            place @ 87..=88 => {
                let (by, cause) = match place {
                    87 => (AnsweredBy::Screener, EndCause::NoAnswer),
                    _ => (AnsweredBy::Announcement, EndCause::Busy),
                };
                vec![
                    (pick_up, Fact::Answered),
                    (pick_up + 3 * SECOND, Fact::PickedUpBy(by)),
                    (pick_up + 30 * SECOND, Fact::Ended(cause)),
                ]
            }
            89..=94 => vec![(pick_up, Fact::Answered), (pick_up + SECOND, Fact::AgentFailed)],
            _ => vec![(random.range(20, 120) * MINUTE, Fact::Lost)],
        };
        if facts.len() > 2 && random.percent(45) {
            for _ in 0..random.range(1, 3) {
                let to = *random.pick(&crate::clients::transfer_numbers());
                self.send(
                    now.plus(pick_up + random.range(1, talk / SECOND) * SECOND),
                    News::Transfer(call, to),
                );
            }
        }
        if facts.len() > 1 && random.percent(8) {
            let first = facts[0].0;
            facts[0].0 = facts[1].0;
            facts[1].0 = first;
        }
        let last = facts.len() - 1;
        for (place, (after, fact)) in facts.into_iter().enumerate() {
            if place != last && random.percent(5) {
                continue;
            }
            if place == last && random.percent(4) {
                self.send(now.plus(after + HOUR), News::Fact(call, Fact::Lost));
                continue;
            }
            self.send(now.plus(after), News::Fact(call, fact));
            if random.percent(15) {
                let again = after + random.range(0, 120) * SECOND;
                self.send(now.plus(again), News::Fact(call, fact));
            }
        }
    }
}

fn provider_call(call: Id<Call>) -> String {
    format!("sim-{call}")
}

impl World {
    /// An answer of the carrier, unless the service dies before or after it.
    fn answer<T: Send + 'static>(&self, what: &'static str, answer: T) -> Answer<'_, T> {
        Box::pin(async move {
            if self.dies_at(what, Side::Before) || self.dies_at(what, Side::After) {
                std::future::pending::<()>().await;
            }
            answer
        })
    }
}

/// The carrier as the service knows it.
pub struct Line(pub Arc<World>);

impl Carrier for Line {
    fn dial(&self, order: DialOrder) -> Answer<'_, Result<String, DialError>> {
        Box::pin(async move {
            if self.0.dies_at("carrier dial", Side::Before) {
                std::future::pending::<()>().await;
            }
            self.0.dials_on_a_line(here(), order.workspace, order.call);
            match self.0.begin(&order) {
                Fate::Take | Fate::DieAnswered => {}
                Fate::Refuse => return Err(DialError::ProviderErrorBeforeRing),
                Fate::Lost | Fate::Nowhere => return Err(DialError::Uncertain),
                Fate::Slow(answer) => {
                    self.0.slow.notify_waiters();
                    drop(answer.await);
                }
                Fate::DieBefore | Fate::DieWaiting => std::future::pending().await,
            }
            if self.0.dies_at("carrier dial", Side::After) {
                std::future::pending::<()>().await;
            }
            self.0.holds(order.call);
            Ok(provider_call(order.call))
        })
    }

    fn ask(&self, order: DialOrder) -> Answer<'_, DialStatus> {
        let went_out = self.0.lock().dials.iter().any(|dial| dial.call == order.call);
        let knows = Random::named(self.0.seed, &format!("ask {}", order.call)).percent(65);
        let standing = match (knows, went_out) {
            (true, true) => DialStatus::Taken(provider_call(order.call)),
            (true, false) => DialStatus::Unheard,
            (false, _) => DialStatus::Unknown,
        };
        self.0.tell(format!("asked about {}: {standing:?}", order.call));
        let now = self.0.now();
        self.0.lock().questions.insert(order.call, (order.workspace, now));
        self.0.answer("carrier ask", standing)
    }

    fn hang_up(&self, provider: &str) -> Answer<'_, Result<(), HangUpFailed>> {
        let call = provider.strip_prefix("sim-").and_then(|id| id.parse().ok());
        let answer = match call {
            Some(call) => {
                self.0.send(self.0.now().plus(SECOND), News::Fact(call, Fact::Ended(EndCause::ApiHangup)));
                Ok(())
            }
            None => Err(HangUpFailed),
        };
        self.0.answer("carrier hang-up", answer)
    }

    /// The line is dropped after a while, the agent's goodbye included.
    fn carry_out(&self, call: Id<Call>, wish: HangupRequest) {
        self.0.is_to_end(call, wish);
    }

    fn lease(&self) -> Option<i64> {
        self.0.has_leases().then_some(dastak::lines::LEASE)
    }

    fn settled(&self, call: Id<Call>, kept: bool) {
        if !kept {
            self.0.gives_up(call);
        }
    }
}

//! Where the service may break: before and after each of its transactions, calls to the carrier and attempts
//! at a receiver. Every such boundary is counted by the line of the service that it belongs to, and every one
//! of them may be the last thing that a life of the service does.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use domain::time::SECOND;
use store::DbError;
use store::db::{CallSite, Fate, Faults, Pause};

use crate::carrier::World;
use crate::random::Random;

tokio::task_local! {
    /// Set in tasks that the clock does not count: they must not wait for it.
    pub static UNCOUNTED: ();
}

/// A side of something that the service does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Before,
    After,
}

/// What happened at a boundary.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    pub crossed: u64,
    pub crashed: u64,
    pub refused: u64,
    pub unheard: u64,
    pub slow: u64,
}

/// Boundaries by name and side.
pub type Counts = BTreeMap<(String, Side), Count>;

/// How bad a run is: chances in a thousand.
pub struct Mood {
    pub refuse: i64,
    pub unheard: i64,
    pub slow: i64,
    pub crash: i64,
    random: Random,
    /// Which task goes first.
    order: Random,
}

impl Mood {
    pub fn of(seed: u64) -> Self {
        let mut random = Random::named(seed, "mood");
        let mut some =
            |chance: i64, most: i64| if random.percent(chance) { random.range(1, most) } else { 0 };
        let (refuse, unheard, slow, crash) = (some(60, 30), some(60, 30), some(50, 40), some(70, 80));
        Self {
            refuse,
            unheard,
            slow,
            crash,
            random: Random::named(seed, "faults"),
            order: Random::named(seed, "order"),
        }
    }

    fn hits(&mut self, permille: i64) -> bool {
        self.random.range(0, 999) < permille
    }
}

/// Where tasks are that their job waits for, and that the clock counts as the job, by the file of the job: the
/// tries of scheduled calls, the automations of boards, what chats owe, and the next conversations of sweeps. They cannot let others go on meanwhile.
const TASKS_OF_A_JOB: [(&str, &str); 4] = [
    ("scheduled_calls.rs", "app/scheduled_calls.rs"),
    ("boards.rs", "boards/actions.rs"),
    ("chats.rs", "chats/"),
    ("evaluations.rs", "evaluation/sweeps.rs"),
];

/// The same of tasks that others wait for, outside of the jobs: what is worked together for all who wait at one moment,
/// what customers write, what is due on a number, people of campaigns on the channel, and what is asked of the channel's
/// accounts, which waits outside already.
const TASKS_ELSEWHERE: [&str; 17] = [
    "app/calls/heard.rs",
    "app/calls/intents.rs",
    "app/calls/outcome_batches.rs",
    "app/do_not_call/batches.rs",
    "app/nudges/batches.rs",
    "app/limits/rates.rs",
    "channel/accounts.rs",
    "channel/inbox.rs",
    "channel/send_queue.rs",
    "channel/outcome_batches.rs",
    "channel/request_batches.rs",
    "channel/campaigns/sending.rs",
    "channel/upkeep.rs",
    "channel/connections.rs",
    "channel/numbers.rs",
    "channel/templates/mod.rs",
    "channel/templates/news.rs",
];

/// Where the outcome of a dial is stored. While the database is away it is tried again after pauses in real time, which
/// the clock counts as work (`calls::place`), so no virtual time would pass and the database would stay away.
const TRIED_IN_REAL_TIME: [&str; 2] = ["app/calls/place.rs", "app/calls/outcome_batches.rs"];

/// The virtual time that passes before such a try, in milliseconds.
const TRIED_AFTER: i64 = 15 * SECOND;

/// Where leases of calls are renewed.
const RENEWALS: &str = "app/calls/report.rs";

/// What a store says that is down.
const DOWN: &str = "simulated: the store is down";

/// What a transaction is in for.
enum Weather {
    Crash,
    Slow(i64),
    Fate(Fate),
}

/// Whether `SIM_TRACE` asks for every boundary in the story of a seed: to find where two runs of it part.
fn traced() -> bool {
    static TRACED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *TRACED.get_or_init(|| std::env::var_os("SIM_TRACE").is_some())
}

/// Whether transactions of the embedded store come in the order that the seed says. With `SIM_THREADS` its own thread
/// takes them, several at a time, as in the service.
fn ordered() -> bool {
    static ORDERED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *ORDERED.get_or_init(|| std::env::var_os("SIM_THREADS").is_none())
}

impl World {
    /// Counts a boundary; whether the service dies here. What is crossed seldom is as likely to be the end of
    /// a life as what is crossed often.
    pub fn dies_at(&self, name: &str, side: Side) -> bool {
        let mut state = self.lock();
        if !state.faulty {
            return false;
        }
        if state.loud && traced() {
            println!("{side:?} {name}");
        }
        let crossed = {
            let count = state.counts.entry((name.to_owned(), side)).or_default();
            count.crossed += 1;
            count.crossed as i64
        };
        let mortal = state.crashes_left > 0;
        let chance = state.mood.crash * 1_000 / crossed;
        let dies = mortal && state.mood.random.range(0, 999_999) < chance;
        drop(state);
        if dies && self.die() {
            self.lock().counts.entry((name.to_owned(), side)).or_default().crashed += 1;
            self.tell(format!("dies {side:?} {name}"));
            return true;
        }
        false
    }

    fn weather(&self, name: &str) -> Weather {
        if self.dies_at(name, Side::Before) {
            return Weather::Crash;
        }
        let mut state = self.lock();
        if !state.faulty {
            return Weather::Fate(Fate::Untouched);
        }
        // A renewal that is slow stores a lease that is over.
        let counted = UNCOUNTED.try_with(|()| ()).is_err() && !name.starts_with(RENEWALS);
        let mood = &mut state.mood;
        let (refuse, unheard, slow) = (mood.refuse, mood.unheard, mood.slow);
        let weather = if mood.hits(refuse) {
            let why = DOWN.to_owned();
            Weather::Fate(Fate::Refused(if mood.random.percent(50) {
                DbError::Unavailable(why)
            } else {
                DbError::Retry(why)
            }))
        } else if mood.hits(unheard) {
            Weather::Fate(Fate::Unheard)
        } else if counted && mood.hits(slow) {
            let most = if mood.random.percent(80) { 2_000 } else { 50 * SECOND };
            Weather::Slow(mood.random.range(1, most))
        } else {
            Weather::Fate(Fate::Untouched)
        };
        let count = state.counts.entry((name.to_owned(), Side::Before)).or_default();
        match &weather {
            Weather::Slow(_) => count.slow += 1,
            Weather::Fate(Fate::Refused(_)) => count.refused += 1,
            Weather::Fate(Fate::Unheard) => count.unheard += 1,
            Weather::Fate(Fate::Untouched) | Weather::Crash => {}
        }
        drop(state);
        match &weather {
            Weather::Slow(ms) => self.tell(format!("the store takes {ms} ms at {name}")),
            Weather::Fate(Fate::Untouched) | Weather::Crash => {}
            Weather::Fate(fate) => self.tell(format!("the store: {fate:?} at {name}")),
        }
        weather
    }

    fn answers_late(&self, name: &str) -> Option<i64> {
        let counted = UNCOUNTED.try_with(|()| ()).is_err() && !name.starts_with(RENEWALS);
        let mut state = self.lock();
        let slow = state.mood.slow;
        let late = state.faulty && counted && state.mood.hits(slow);
        late.then(|| state.mood.random.range(1, 50 * SECOND))
    }

    /// Lets others go first, as often as the seed says: the writer of the store takes transactions in any order.
    async fn give_way(&self, place: CallSite) {
        let others = {
            let mut state = self.lock();
            if state.loud && traced() {
                println!("way {}", name(place));
            }
            if state.faulty && ordered() { state.mood.order.range(0, 3) } else { 0 }
        };
        for _ in 0..others {
            tokio::task::yield_now().await;
        }
    }

    /// Keeps a transaction waiting: with its task, or with all that runs.
    async fn hold_up(&self, name: &str, ms: i64) {
        let places = TASKS_OF_A_JOB.iter().map(|(_, place)| place).chain(&TASKS_ELSEWHERE);
        let one_job = places.into_iter().any(|place| name.starts_with(place));
        if one_job {
            self.stand_still(ms);
            self.all_stood_still(ms);
        } else {
            self.pause(ms).await;
        }
    }

    fn read_fails(&self, name: &str) -> bool {
        let mut state = self.lock();
        let refuse = state.mood.refuse;
        let fails = state.faulty && state.mood.hits(refuse / 2);
        if state.loud && traced() {
            println!("read {name}");
        }
        if state.faulty {
            let count = state.counts.entry((format!("read {name}"), Side::Before)).or_default();
            count.crossed += 1;
            count.refused += u64::from(fails);
        }
        fails
    }
}

/// A defect of the service that is planted on purpose, to see that runs notice it.
#[derive(Debug, Clone, Copy)]
pub enum Plant {
    /// What one node claims, another one may claim at the same moment.
    Claims,
    /// The lease of a call counts as over thirty seconds before it is.
    Leases,
    /// Nobody is ever found in a call.
    Phones,
    /// How far a reply has got is not stored.
    Tools,
    /// A reply goes on although a person takes the chat.
    People,
    /// A backup lacks the scheduled calls.
    Restores,
}

/// The statement that stores a chat, but that leaves the reply under way when a person takes it.
fn reply_goes_on(sql: &str) -> Option<String> {
    let (names, rest) = sql.strip_prefix("update chats set (")?.split_once(") = (")?;
    let (places, rest) = rest.split_once(')')?;
    let mut places: Vec<String> = places.split(',').map(|place| place.trim().to_owned()).collect();
    let place_of = |column: &str| names.split(',').position(|name| name.trim() == column);
    let (state, kind) = (place_of("state")?, place_of("turn_kind")?);
    places[kind] = format!("case when {} = 'human' then turn_kind else {} end", places[state], places[kind]);
    Some(format!("update chats set ({names}) = ({}){rest}", places.join(", ")))
}

impl Plant {
    /// What `SIM_PLANT` says.
    pub fn chosen() -> Option<Self> {
        match std::env::var("SIM_PLANT").as_deref() {
            Err(_) => None,
            Ok("claims") => Some(Self::Claims),
            Ok("leases") => Some(Self::Leases),
            Ok("phones") => Some(Self::Phones),
            Ok("tools") => Some(Self::Tools),
            Ok("people") => Some(Self::People),
            Ok("restores") => Some(Self::Restores),
            Ok(other) => {
                panic!("SIM_PLANT is claims, leases, phones, tools, people or restores, not {other}")
            }
        }
    }
}

/// The store's misfortunes.
pub struct Misfortune {
    pub world: Arc<World>,
    /// The node whose store it is.
    pub node: usize,
    pub plant: Option<Plant>,
}

/// Its crate, the file and the line: `app/nudges/due.rs:120`.
fn name(place: CallSite) -> String {
    let file = place.file().rsplit_once("crates/").map_or(place.file(), |(_, file)| file);
    format!("{}:{}", file.replacen("/src/", "/", 1), place.line())
}

impl Faults for Misfortune {
    fn before(&self, place: CallSite) -> Pause<'_, Fate> {
        Box::pin(async move {
            if self.world.nodes.is_away(self.node, self.world.now()) {
                if TRIED_IN_REAL_TIME.iter().any(|file| name(place).starts_with(file)) {
                    self.world.stand_still(TRIED_AFTER);
                    self.world.all_stood_still(TRIED_AFTER);
                }
                return Fate::Refused(away());
            }
            self.world.give_way(place).await;
            match self.world.weather(&name(place)) {
                Weather::Crash => std::future::pending().await,
                Weather::Slow(ms) => {
                    self.world.hold_up(&name(place), ms).await;
                    Fate::Untouched
                }
                Weather::Fate(fate) => fate,
            }
        })
    }

    fn after(&self, place: CallSite, _: bool) -> Pause<'_, ()> {
        self.world.change();
        Box::pin(async move {
            self.world.give_way(place).await;
            let late = self.world.lock().late.take_if(|(wanted, _)| name(place).contains(*wanted));
            if let Some((_, ms)) = late {
                self.world.stand_still(ms);
            }
            if self.world.dies_at(&name(place), Side::After) {
                std::future::pending::<()>().await;
            }
            if let Some(ms) = self.world.answers_late(&name(place)) {
                self.world.tell(format!("the store's answer comes {ms} ms late at {}", name(place)));
                self.world.hold_up(&name(place), ms).await;
            }
        })
    }

    fn statement<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        // In the middle of a transaction, whose locks the server keeps for a while.
        if self.world.nodes.is_frozen(self.node) {
            self.world.stand_by(self.node);
        }
        match self.plant {
            Some(Plant::Claims) if sql.contains("skip locked") => sql.replace("/*pg for update", "/*").into(),
            Some(Plant::Leases) => sql.replace("next_step_at <= ?1", "next_step_at - 30000 <= ?1").into(),
            Some(Plant::Phones) => {
                sql.replace("started_at > ?2 and phase is null", "started_at > ?2 and 1 = 0").into()
            }
            Some(Plant::Tools) => {
                sql.replace("set progress = ?3 where", "set progress = progress where ?3 = ?3 and").into()
            }
            Some(Plant::People) => reply_goes_on(sql).map_or(sql.into(), Into::into),
            Some(Plant::Claims | Plant::Restores) | None => sql.into(),
        }
    }

    fn in_order(&self) -> bool {
        ordered()
    }

    fn read(&self, place: CallSite) -> Option<DbError> {
        if self.world.nodes.is_away(self.node, self.world.now()) {
            return Some(away());
        }
        self.world.read_fails(&name(place)).then(away)
    }
}

fn away() -> DbError {
    DbError::Unavailable(DOWN.into())
}

/// A table of all boundaries of a run over many seeds.
pub fn table(counts: &Counts) -> String {
    let mut lines = vec![format!(
        "{:<52} {:>9} {:>8} {:>8} {:>8} {:>8}",
        "boundary", "crossed", "crashes", "refused", "unheard", "slow"
    )];
    for ((name, side), count) in counts {
        let side = if *side == Side::Before { "before" } else { "after" };
        lines.push(format!(
            "{:<52} {:>9} {:>8} {:>8} {:>8} {:>8}",
            format!("{side} {name}"),
            count.crossed,
            count.crashed,
            count.refused,
            count.unheard,
            count.slow
        ));
    }
    lines.join("\n")
}

/// A job that waits for tasks of its own holds the clock; one that is not known here would stop the simulation. Tasks that
/// the clock counts by themselves are work of their own.
#[test]
fn every_job_with_tasks_of_its_own_is_known() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/jobs");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .expect("the jobs")
        .map(|file| file.expect("a file").path())
        .filter(|file| {
            let text = std::fs::read_to_string(file).expect("a job");
            text.contains("super::work_due") || (text.contains("JoinSet") && !text.contains("clock.counted("))
        })
        .filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()))
        // What these jobs share.
        .filter(|name| name != "mod.rs")
        .collect();
    found.sort();
    let mut known: Vec<&str> = TASKS_OF_A_JOB.iter().map(|(job, _)| *job).collect();
    known.sort_unstable();
    assert_eq!(found, known);
}

/// So would work that is batched: those who wait for it are counted while one of them does it.
#[test]
fn everything_that_is_batched_is_known() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut folders, mut found) = (vec![crates.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read_to_string(&path).is_ok_and(|text| text.contains("::batcher::")) {
                let place = path.strip_prefix(&crates).expect("a path below").display().to_string();
                found.push(place.replacen("/src/", "/", 1));
            }
        }
    }
    assert!(!found.is_empty());
    for place in found.iter().filter(|place| !place.contains("/tests/")) {
        assert!(TASKS_ELSEWHERE.contains(&place.as_str()), "{place} is not known to the simulation");
    }
    for place in TASKS_ELSEWHERE {
        let (room, file) = place.split_once('/').expect("a room and a file");
        assert!(crates.join(room).join("src").join(file).is_file(), "{place} does not exist");
    }
}

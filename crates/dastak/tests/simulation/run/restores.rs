//! A backup that is taken amid work, and put back minutes or hours later. The world and the clients' repeats go on; what
//! clients were answered since the backup is forgotten with it.

use api::knowledge_bases::NewText;
use domain::call::Fact;
use domain::ids::{Call, Id, KnowledgeBase};
use domain::tenant::Tenant;
use domain::time::{HOUR, MINUTE, SECOND, Timestamp};
use serde_json::json;

use super::Play;
use super::requests::Due;
use crate::carrier::News;
use crate::clients::{Act, Log, checked};
use crate::life;
use crate::random::Random;
use crate::sight::Seen;
use crate::stage::Engine;

/// When a run is backed up and put back.
pub(super) struct Restore {
    backup_at: Timestamp,
    back_at: Timestamp,
    kept: Option<Kept>,
    /// From when to when the service had what its store does not know, by the time that passed.
    pub gap: Option<(Timestamp, Timestamp)>,
}

/// What was known when the backup was taken.
struct Kept {
    passed: Timestamp,
    log: Log,
    seen: Seen,
    /// What was under way.
    open: Vec<Act>,
    live: Vec<Id<Call>>,
    shelf: (Tenant, Id<KnowledgeBase>),
}

/// Texts of a base of knowledge: one of before the backup, one that the restored store does not know, and one that takes
/// its place.
const TEXTS: [(&str, &str); 3] = [
    ("Mangoes", "Mangoes ripen in May."),
    ("Kites", "Kites fly in January."),
    ("Lamps", "Lamps are lit in November."),
];

/// When a run is put back, if it is: in the middle of something, most of the time.
pub(super) fn planned(
    seed: u64,
    engine: Engine,
    from: Timestamp,
    acts: &[(Timestamp, Act)],
) -> Option<Restore> {
    let mut random = Random::named(seed, "restores");
    if engine != Engine::Sqlite || !random.percent(15) {
        return None;
    }
    let backup_at = if random.percent(80) && !acts.is_empty() {
        random.pick(acts).0.plus(random.range(0, 60_000))
    } else {
        from.plus(random.range(1, 40 * 60) * MINUTE)
    };
    let after = if random.percent(60) { random.range(1, 30) * MINUTE } else { random.range(1, 12) * HOUR };
    Some(Restore { backup_at, back_at: backup_at.plus(after), kept: None, gap: None })
}

impl Play {
    /// When the next thing happens to the backup.
    pub(super) fn next_restore(&self) -> Option<Timestamp> {
        let restore = self.restore.as_ref().filter(|restore| restore.gap.is_none())?;
        Some(if restore.kept.is_none() { restore.backup_at } else { restore.back_at })
    }

    /// Takes the backup, or puts it back, when it is time.
    pub(super) fn restore_if_due(&mut self) {
        if self.next_restore().is_none_or(|at| at > self.now()) {
            return;
        }
        let mut restore = self.restore.take().expect("it is planned");
        match restore.kept.take() {
            None => restore.kept = Some(self.back_up()),
            Some(kept) => restore.gap = Some((kept.passed, self.put_back(kept))),
        }
        self.restore = Some(restore);
    }

    fn back_up(&mut self) -> Kept {
        let tenant = self.customers[0].tenant;
        let base = self.undisturbed(async |app| {
            let body = checked("createKnowledgeBase", json!({"name": "Shop"}));
            knowledge::create(app, tenant, body).await.expect("a base").id
        });
        self.add_text(tenant, base, TEXTS[0]);
        self.find(tenant, base, [true, false, false]);
        let settings = life::settings(&self.stage, 0);
        self.stage.back_up(&settings);
        self.sight.look();
        self.world.tell("a backup is taken".into());
        let kept = Kept {
            passed: self.world.passed(),
            log: self.log.lock().expect("no panic").clone(),
            seen: self.sight.past.clone(),
            open: self
                .open
                .iter()
                .filter_map(|(due, ..)| if let Due::Act(act) = due { Some(act.clone()) } else { None })
                .collect(),
            live: self.sight.live_calls(),
            shelf: (tenant, base),
        };
        self.add_text(tenant, base, TEXTS[1]);
        self.find(tenant, base, [true, true, false]);
        kept
    }

    /// Stops the service, puts the backup back and starts it again. Returns when, by the time that passed.
    fn put_back(&mut self, kept: Kept) -> Timestamp {
        let stopped = self.now();
        life::end(self.nodes[0].take().expect("alive"));
        self.sight.look();
        let settings = life::settings(&self.stage, 0);
        self.stage.put_back(&settings);
        let down = self.random.range(10, 1_800) * SECOND;
        self.world.tell(format!("the backup is put back, {} s later", down / SECOND));
        let back = stopped.plus(down);
        self.down.push((stopped, back));
        self.ask_again(&[0]);
        {
            let mut log = self.log.lock().expect("no panic");
            let (defects, acts) = (std::mem::take(&mut log.defects), log.acts);
            *log = kept.log;
            (log.defects, log.acts) = (defects, acts);
        }
        self.sight.go_back(&self.stage, kept.seen);
        // What had no answer then is asked for again.
        self.acts.extend(kept.open.into_iter().map(|act| (back.plus(SECOND), act)));
        self.acts.make_contiguous().sort_by_key(|(at, _)| *at);
        // The lines of that time are gone, and what was told of them went to a store that is no more.
        self.world.forgets_wishes();
        for call in kept.live {
            self.world.send(back.plus(HOUR), News::Fact(call, Fact::Lost));
        }
        let (tenant, base) = kept.shelf;
        self.come_back(0, back);
        let passed = self.world.passed();
        self.find(tenant, base, [true, false, false]);
        self.add_text(tenant, base, TEXTS[2]);
        self.find(tenant, base, [true, false, true]);
        passed
    }

    fn undisturbed<T>(&self, work: impl AsyncFnOnce(&dastak::app::App) -> T) -> T {
        self.world.set_faulty(false);
        let app = self.life(0).app.clone();
        let came = self.life(0).wait(work(app.as_ref()));
        self.world.set_faulty(!self.calm);
        came
    }

    fn add_text(&self, tenant: Tenant, base: Id<KnowledgeBase>, (title, text): (&str, &str)) {
        let body: NewText = checked("addKnowledgeText", json!({"title": title, "text": text}));
        self.undisturbed(async |app| {
            knowledge::add_text(app, tenant, base, body).await.expect("a text");
        });
    }

    /// Which of the texts a search finds.
    fn find(&self, tenant: Tenant, base: Id<KnowledgeBase>, there: [bool; 3]) {
        for ((title, text), there) in TEXTS.iter().zip(there) {
            let question = text.split(' ').next().expect("a word");
            let hits = self.undisturbed(async |app| knowledge::search(app, tenant, base, question, 3).await);
            let found: Vec<String> = hits.expect("a search").into_iter().map(|hit| hit.source).collect();
            let fits =
                if there { found.first().is_some_and(|first| first == title) } else { found.is_empty() };
            if !fits {
                let mut log = self.log.lock().expect("no panic");
                log.defects.push(format!(
                    "«{question}» finds {found:?}, and the text is {}",
                    if there { "there" } else { "not there" }
                ));
            }
        }
    }
}

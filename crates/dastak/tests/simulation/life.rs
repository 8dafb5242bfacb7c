//! One life of the service: from the opening of the store to a crash. A crash drops every task where it
//! stands; what the writer has committed stays.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use dastak::app::after_call::Ports;
use dastak::app::calls::Carriers;
use dastak::app::{App, Wakes};
use dastak::config::Values;
use dastak::runtime::clock::Clock;
use dastak::runtime::crypto::Keyring;
use dastak::runtime::ids::Ids;
use dastak::service::{Outside, Parts, assemble, start_jobs, store_settings};
use domain::call::Network;
use domain::ports::Scripted;
use domain::time::Timestamp;
use store::Store;

use crate::carrier::{Line, World};
use crate::chats::Writer;
use crate::cloud::Api;
use crate::faults::Misfortune;
use crate::random::Random;
use crate::receivers::Mail;
use crate::sources::Systems;

/// Time between two checks of a stream.
const POLL: Duration = Duration::from_secs(3_600);

/// Calls at once on the whole platform.
pub const PLATFORM_LINES: i64 = 3;

/// A running service without a listener.
pub struct Life {
    pub app: Arc<App>,
    pub clock: Clock,
    runtime: Option<tokio::runtime::Runtime>,
    world: Arc<World>,
    writer: Weak<()>,
}

/// How a stretch of time ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    Alive,
    Crashed,
}

impl Life {
    /// Opens the store in `folder` at the moment `now`.
    pub fn begin(folder: &Path, world: &Arc<World>, seed: u64, number: u64, now: Timestamp) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let clock = Clock::manual_with(now, Duration::ZERO);
        world.set_clock(clock.clone());
        let (app, writer) = runtime.block_on(start(folder, world, &clock, seed, number));
        Self { app, clock, runtime: Some(runtime), world: world.clone(), writer }
    }

    /// Lets the time pass up to `to`, or until the carrier has news to plan for, unless the service dies
    /// first.
    pub fn pass(&self, to: Timestamp) -> Passed {
        self.wait(async {
            tokio::select! {
                biased;
                () = self.world.died() => Passed::Crashed,
                () = self.world.has_news() => Passed::Alive,
                _ = self.clock.advance_to(to) => Passed::Alive,
            }
        })
    }

    /// Lets all work of this moment end, unless the service dies first.
    pub fn settle(&self) -> Passed {
        self.wait(async {
            tokio::select! {
                biased;
                () = self.world.died() => Passed::Crashed,
                _ = self.clock.advance_to(self.clock.now()) => Passed::Alive,
            }
        })
    }

    /// Runs work that starts tasks of the service.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let _inside = self.runtime.as_ref().expect("alive").enter();
        self.clock.spawn(task);
    }

    /// Waits for an answer that no crash may prevent; for the stage before the play.
    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.as_ref().expect("alive").block_on(work)
    }
}

/// Ends a life: every task is dropped where it stands, and the database file is free when this returns.
impl Drop for Life {
    fn drop(&mut self) {
        drop(self.runtime.take());
    }
}

/// Drops a life and waits until its writer is done.
pub fn end(life: Life) {
    let writer = life.writer.clone();
    drop(life);
    let patience = Instant::now() + Duration::from_secs(20);
    while writer.upgrade().is_some() {
        assert!(Instant::now() < patience, "something still holds the store of a life that is over");
        std::thread::yield_now();
    }
}

async fn start(
    folder: &Path,
    world: &Arc<World>,
    clock: &Clock,
    seed: u64,
    number: u64,
) -> (Arc<App>, Weak<()>) {
    let mut values = Values::default();
    for (name, text) in [
        ("data", folder.display().to_string()),
        ("clock", "manual".into()),
        ("telephony.carrier", "sandbox".into()),
    ] {
        values.add_text(name, text, "the simulation").expect("a setting");
    }
    let mut config = values.config(false).expect("settings");
    config.telephony.concurrent_calls = PLATFORM_LINES;
    config.integrations.poll = POLL;
    let wakes = Wakes::default();
    let held = Arc::new(());
    let writer = Arc::downgrade(&held);
    let raise = wakes.clone();
    let on_wake = Arc::new(move |woken| {
        let _held = &held;
        raise.raise(woken);
    });
    let store = Store::open(&store_settings(&config), on_wake).expect("the store opens");
    store.migrate(|_, _, _| ()).await.expect("the schema");
    store.fail_as(Arc::new(Misfortune(world.clone())));
    let random = Mutex::new(Random::named(seed, &format!("ids {number}")));
    let ids = Ids::with(clock.clone(), move |bytes| {
        random.lock().unwrap_or_else(PoisonError::into_inner).fill(bytes)
    });
    let carriers =
        Carriers { test: Arc::new(Scripted(Network::Test)), live: Some(Arc::new(Line(world.clone()))) };
    let outside = Outside::without_lines(&config, carriers).expect("settings");
    let mut ports = Ports::of(&config, &ids).expect("a folder");
    ports.language_model = Some(Arc::new(Writer::new(world.clone(), number)));
    let parts = Parts {
        config,
        clock: clock.clone(),
        ids: Arc::new(ids),
        keyring: Arc::new(Keyring::parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").expect("a key")),
        store,
        outside,
        ports,
        receivers: Some(Arc::new(Mail(world.clone()))),
    };
    let app = assemble(parts).expect("the service");
    let cloud = cloud_api::Cloud::new(&app.config.cloud_api).with_transport(Arc::new(Api(world.clone())));
    channel::providers::use_cloud(&app, cloud);
    let systems = providers::connectors::Systems::new(&app.config.integrations).expect("settings");
    let systems = systems.with_transport(Arc::new(Systems(world.clone())));
    start_jobs(&app, &wakes, None, Ok(integrations::Desk::with(&app, systems)));
    (app, writer)
}

/// A folder of its own for every run, in memory where there is such a place.
pub fn folder(seed: u64) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let folder = base.join(format!("dastak-simulation-{}-{seed}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

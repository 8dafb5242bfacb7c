//! One life of the service: from the opening of the store to a crash. A crash drops every task where it
//! stands; what the writer has committed stays.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dastak::app::after_call::Ports;
use dastak::app::calls::Carriers;
use dastak::app::{App, Wakes};
use dastak::config::{Config, Values};
use dastak::runtime::clock::Clock;
use dastak::runtime::crypto::Keyring;
use dastak::runtime::ids::Ids;
use dastak::service::{Outside, Parts, assemble, start_jobs, store_settings};
use domain::call::Network;
use domain::ports::Scripted;
use domain::time::Timestamp;
use store::Store;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::carrier::{Line, World};
use crate::chats::Writer;
use crate::cloud::Api;
use crate::faults::{Misfortune, Plant};
use crate::random::Random;
use crate::receivers::Mail;
use crate::sources::Systems;
use crate::stage::{Engine, Stage};
use crate::tools::Tools;

/// Time between two checks of a stream.
const POLL: Duration = Duration::from_secs(3_600);

/// Calls at once on the whole platform.
pub const PLATFORM_LINES: i64 = 3;

thread_local! {
    /// The node whose work runs on this thread.
    static HERE: Cell<usize> = const { Cell::new(0) };
}

/// The node whose work runs on this thread.
pub fn here() -> usize {
    HERE.get()
}

/// A running service without a listener: one node.
pub struct Life {
    pub app: Arc<App>,
    pub clock: Clock,
    pub node: usize,
    driver: Option<Driver>,
    world: Arc<World>,
    writer: Weak<()>,
}

/// What runs the tasks of a node.
enum Driver {
    /// They run while somebody waits for them: all of one node, in an order that a seed repeats.
    Inline(tokio::runtime::Runtime),
    /// They run on a thread of their own, beside those of other nodes.
    Thread { handle: Handle, end: Arc<Notify>, thread: Option<JoinHandle<()>> },
}

impl Driver {
    fn handle(&self) -> &Handle {
        match self {
            Self::Inline(runtime) => runtime.handle(),
            Self::Thread { handle, .. } => handle,
        }
    }

    fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        match self {
            Self::Inline(runtime) => runtime.block_on(work),
            Self::Thread { handle, .. } => handle.block_on(work),
        }
    }
}

impl Drop for Driver {
    /// Drops every task where it stands.
    fn drop(&mut self) {
        if let Self::Thread { end, thread, .. } = self {
            end.notify_one();
            if let Some(thread) = thread.take() {
                thread.join().expect("no panic of a node");
            }
        }
    }
}

/// A thread that runs the tasks of a node until it is ended or dies.
fn thread(node: usize, dies: Arc<Notify>) -> Driver {
    let (send, receive) = std::sync::mpsc::channel();
    let end = Arc::new(Notify::new());
    let ended = end.clone();
    let errors = tracing::dispatcher::get_default(Clone::clone);
    let thread = std::thread::spawn(move || {
        HERE.set(node);
        let _quiet = tracing::dispatcher::set_default(&errors);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        send.send(runtime.handle().clone()).expect("somebody waits");
        runtime.block_on(async {
            tokio::select! {
                () = ended.notified() => {}
                () = dies.notified() => {}
            }
        });
    });
    let handle = receive.recv().expect("a runtime");
    Driver::Thread { handle, end, thread: Some(thread) }
}

/// How a stretch of time ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    Alive,
    Crashed,
}

impl Life {
    /// Starts a node of this stage at the moment `now`; it is the life of this number of that node.
    pub fn begin(
        stage: &Stage,
        world: &Arc<World>,
        seed: u64,
        (node, number): (usize, u64),
        now: Timestamp,
    ) -> Self {
        let clock = Clock::manual_with(now, Duration::ZERO);
        let driver = match stage.engine {
            Engine::Sqlite => {
                // What the writer's thread wakes comes first, however often the runtime has turned before. The waits of
                // the service that are by real time (a store that is away) end when nothing else is left to do.
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .global_queue_interval(1)
                    .start_paused(true)
                    .enable_all()
                    .build()
                    .expect("a runtime");
                world.set_clock(clock.clone());
                Driver::Inline(runtime)
            }
            Engine::Postgres { .. } => {
                let dies = world.begins(node, clock.clone(), now);
                let driver = thread(node, dies);
                world.runs_on(node, driver.handle().clone());
                driver
            }
        };
        let (app, writer) = driver.block_on(start(stage, world, &clock, seed, (node, number)));
        Self { app, clock, node, driver: Some(driver), world: world.clone(), writer }
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
        let _inside = self.driver.as_ref().expect("alive").handle().enter();
        self.clock.spawn(task);
    }

    /// Waits for an answer that no crash may prevent; for the stage before the play.
    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.driver.as_ref().expect("alive").block_on(work)
    }
}

/// Ends a life: every task is dropped where it stands, and the database file is free when this returns.
impl Drop for Life {
    fn drop(&mut self) {
        drop(self.driver.take());
    }
}

/// Drops a life and waits until its writer is done.
pub fn end(life: Life) {
    let (writer, world, node) = (life.writer.clone(), life.world.clone(), life.node);
    // A thread of the store that stands still holds it.
    world.thaw(node);
    drop(life);
    world.ends(node);
    let patience = Instant::now() + Duration::from_secs(20);
    while writer.upgrade().is_some() {
        assert!(Instant::now() < patience, "something still holds the store of a life that is over");
        std::thread::yield_now();
    }
}

/// What protects the secrets of a stage.
const MASTER_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// The settings of a node.
pub fn settings(stage: &Stage, node: usize) -> Config {
    let mut values = Values::default();
    let own = [
        ("data", stage.data(node).display().to_string()),
        ("clock", "manual".into()),
        ("telephony.carrier", "sandbox".into()),
        ("master_key", MASTER_KEY.into()),
        ("operator_token", "of the simulation".into()),
    ];
    let shared =
        stage.url().map(|url| [("database_url", url.to_owned()), ("database_connections", "4".into())]);
    for (name, text) in own.into_iter().chain(shared.into_iter().flatten()) {
        values.add_text(name, text, "the simulation").expect("a setting");
    }
    let mut config = values.config(false).expect("settings");
    config.telephony.concurrent_calls = PLATFORM_LINES;
    // The PostgreSQL of the tests acknowledges before it has written.
    config.telephony.may_dial_twice = true;
    config.integrations.poll = POLL;
    config
}

async fn start(
    stage: &Stage,
    world: &Arc<World>,
    clock: &Clock,
    seed: u64,
    (node, number): (usize, u64),
) -> (Arc<App>, Weak<()>) {
    let config = settings(stage, node);
    let wakes = Wakes::default();
    let held = Arc::new(());
    let writer = Arc::downgrade(&held);
    let raise = wakes.clone();
    let others = world.clone();
    let on_wake = Arc::new(move |woken| {
        let _held = &held;
        if World::is_said_by_another(woken) {
            others.hears_another(node);
            return;
        }
        raise.raise(woken);
        others.wake_others(node, woken);
    });
    world.connect(node, wakes.clone());
    let store = Store::open(&store_settings(&config), on_wake).expect("the store opens");
    store.migrate(|_, _, _| ()).await.expect("the schema");
    store.fail_as(Arc::new(Misfortune { world: world.clone(), node, plant: Plant::chosen() }));
    // The first node's lives have the names that they have without a second one.
    let number = number + 1_000 * node as u64;
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
        keyring: Arc::new(Keyring::parse(MASTER_KEY).expect("a key")),
        store,
        outside,
        ports,
        receivers: Some(Arc::new(Mail(world.clone()))),
        tools: Some(Arc::new(Tools(world.clone()))),
    };
    let app = assemble(parts).expect("the service");
    let cloud = cloud_api::Cloud::new(&app.config.cloud_api).with_transport(Arc::new(Api(world.clone())));
    channel::providers::use_cloud(&app, cloud);
    let systems = providers::connectors::Systems::new(&app.config.integrations).expect("settings");
    let systems = systems.with_transport(Arc::new(Systems(world.clone())));
    crate::leases::start(&app, world, node);
    start_jobs(&app, &wakes, None, Ok(integrations::ConnectedSystems::with(&app, systems)));
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

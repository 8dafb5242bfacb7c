//! The media engine: RTP port pool and media threads.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::figures::Figures;
use super::flow::Flow;
use super::latch::Sources;
use super::line::{Line, Shared};
use super::ports::{OpenError, Pool, Socket};
use super::sdp::Agreed;
use super::thread::{Desk, run};
use domain::ports::Ear;

/// What the engine is started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// First and last RTP port, both included; the even ones are used.
    pub ports: (u16, u16),
    /// Threads that carry sound; 0 counts as 1.
    pub threads: usize,
}

struct Thread {
    desk: Arc<Desk>,
    // None once joined.
    handle: Option<JoinHandle<()>>,
}

/// The threads. They end when the engine and every line are dropped.
pub(super) struct Running {
    threads: Mutex<Vec<Thread>>,
}

impl Running {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Thread>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut threads = std::mem::take(&mut *self.lock());
        for thread in &threads {
            thread.desk.stop();
            if let Some(handle) = &thread.handle {
                handle.thread().unpark();
            }
        }
        for handle in threads.iter_mut().filter_map(|thread| thread.handle.take()) {
            // The last line may be dropped by an ear, on one of these threads: it ends by itself.
            if handle.thread().id() != thread::current().id() {
                let _ = handle.join();
            }
        }
    }
}

/// Carries the sound of all calls. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pool: Arc<Pool>,
    running: Arc<Running>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Engine {
    /// Starts the sound threads.
    ///
    /// # Errors
    /// When the range holds no even port, or the system starts no thread.
    pub fn start(settings: Settings) -> io::Result<Engine> {
        let pool = Pool::new(settings.ports)?;
        // What was started ends with `running` when a later one fails.
        let running = Arc::new(Running { threads: Mutex::default() });
        for number in 0..settings.threads.max(1) {
            let desk = Arc::new(Desk::default());
            let theirs = desk.clone();
            let handle =
                thread::Builder::new().name(format!("sound-{number}")).spawn(move || run(&theirs))?;
            running.lock().push(Thread { desk, handle: Some(handle) });
        }
        Ok(Engine { pool, running })
    }

    /// Binds the next free RTP port of `ip`. It is free again when the socket, or the line that it is
    /// connected to, is gone.
    ///
    /// # Errors
    /// When every port is taken, or `ip` is no address of this machine.
    pub fn open(&self, ip: IpAddr) -> Result<Socket, OpenError> {
        self.pool.open(ip)
    }

    /// Starts a call's sound on the thread that has the fewest lines. Packets are taken from the address that
    /// is agreed on and from `sources`; what came before now is thrown away.
    pub fn connect(&self, socket: Socket, agreed: Agreed, sources: Sources, ear: Box<dyn Ear>) -> Line {
        let shared = Arc::new(Shared::default());
        let flow = Flow::new(socket, agreed, sources, ear, shared.clone());
        let threads = self.running.lock();
        let least = threads.iter().min_by_key(|thread| thread.desk.lines.load(Ordering::Relaxed));
        if let Some(thread) = least {
            thread.desk.hand(flow);
            if let Some(handle) = &thread.handle {
                handle.thread().unpark();
            }
        }
        drop(threads);
        Line::new(shared, self.running.clone())
    }

    /// What all lines did since the start.
    pub fn figures(&self) -> Figures {
        let (used, ports) = self.pool.used();
        let mut figures = Figures { ports_in_use: used as u64, ports: ports as u64, ..Figures::default() };
        for thread in self.running.lock().iter() {
            figures.lines += thread.desk.lines.load(Ordering::Relaxed) as u64;
            thread.desk.totals.sum(&mut figures);
        }
        figures
    }
}

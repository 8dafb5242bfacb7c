//! From a host name to addresses.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, watch};

/// What [`Resolver::resolve`] returns.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// DNS look-up. A trait, so that tests can answer as a hostile name server would.
pub trait Resolver: Send + Sync + 'static {
    /// All addresses of a lower-case host name, best first. An error or an empty list means that the name has
    /// none.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// Concurrent look-ups of the system; each occupies a thread for as long as the name server takes.
const LOOKUPS_AT_ONCE: usize = 128;

type Answer = Result<Vec<IpAddr>, io::ErrorKind>;
type Running = Arc<Mutex<HashMap<String, watch::Receiver<Option<Answer>>>>>;

/// The operating system's resolver.
///
/// A system look-up cannot be cancelled, so concurrent requests for a name share one look-up: a name server that never
/// answers occupies one thread per name, not one per request. Answers are not cached.
pub struct SystemResolver {
    running: Running,
    slots: Arc<Semaphore>,
}

impl SystemResolver {
    /// A resolver without a running look-up.
    pub fn new() -> SystemResolver {
        SystemResolver { running: Running::default(), slots: Arc::new(Semaphore::new(LOOKUPS_AT_ONCE)) }
    }

    /// Joins the look-up of `host` that is running, or starts one.
    fn join(&self, host: &str) -> watch::Receiver<Option<Answer>> {
        let mut running = lock(&self.running);
        if let Some(answer) = running.get(host) {
            return answer.clone();
        }
        let (sender, receiver) = watch::channel(None);
        running.insert(host.to_owned(), receiver.clone());
        let entry = Entry { host: host.to_owned(), running: self.running.clone() };
        let slots = self.slots.clone();
        tokio::spawn(async move {
            let _slot = slots.acquire_owned().await;
            let answer = tokio::net::lookup_host((entry.host.as_str(), 0)).await;
            let answer =
                answer.map(|found| found.map(|address| address.ip()).collect()).map_err(|error| error.kind());
            drop(entry);
            sender.send_replace(Some(answer));
        });
        receiver
    }
}

impl Default for SystemResolver {
    fn default() -> SystemResolver {
        SystemResolver::new()
    }
}

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        let mut answer = self.join(host);
        Box::pin(async move {
            let ended = answer.wait_for(Option::is_some).await.map_err(|_| io::ErrorKind::Interrupted)?;
            match ended.as_ref() {
                Some(Ok(addresses)) => Ok(addresses.clone()),
                Some(Err(kind)) => Err((*kind).into()),
                None => Err(io::ErrorKind::Interrupted.into()),
            }
        })
    }
}

/// Removes its look-up from the table when dropped.
struct Entry {
    host: String,
    running: Running,
}

impl Drop for Entry {
    fn drop(&mut self) {
        lock(&self.running).remove(&self.host);
    }
}

fn lock(running: &Running) -> MutexGuard<'_, HashMap<String, watch::Receiver<Option<Answer>>>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

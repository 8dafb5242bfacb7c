//! Wake-ups between nodes. Each node has one connection that listens for those of others and sends its own. They are sent
//! outside of the transactions that cause them, because NOTIFY holds a lock of the whole database until its commit. A
//! lost wake-up does no harm: every job also polls.

use std::cell::Cell;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_postgres::{AsyncMessage, Error, SimpleQueryMessage};

use super::super::commit_effects::{OnWake, WakeSet};
use super::server::{Purpose, Server};

/// Time between two wake-ups of a node; those that are queued meanwhile go with the next.
const PACE: Duration = Duration::from_millis(5);
/// Idle time after which the connection is checked.
const QUIET: Duration = Duration::from_secs(2);
/// Timeout of that check.
const ANSWER: Duration = Duration::from_secs(3);
/// Backoff before a reconnect.
const AGAIN: Duration = Duration::from_millis(500);

/// Polling interval of all jobs without wake-ups.
const POLL: Duration = Duration::from_millis(500);

/// Subscribes to the wake-ups of all nodes. This session needs no durability.
const LISTEN: &str = "set application_name = 'dastak wake-ups'; set synchronous_commit = off; listen dastak_wake; \
     select pg_backend_pid()";

/// Wake-ups that this node has to send.
#[derive(Default)]
pub(super) struct PendingWakes {
    topics: AtomicU32,
    more: Notify,
    closing: AtomicBool,
}

impl PendingWakes {
    /// Queues a wake-up for the other nodes.
    pub(super) fn add(&self, topics: u32) {
        if self.topics.fetch_or(topics, Ordering::AcqRel) == 0 {
            self.more.notify_one();
        }
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.more.notify_one();
    }

    fn closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }
}

/// Passes the wake-ups of other nodes to `on_wake`, and sends those of this one, until the store closes.
/// Reconnects after a loss, and then wakes all jobs, since wake-ups may have been missed.
pub(super) fn run(server: &Server, on_wake: &OnWake, pending: &PendingWakes) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let missed = Cell::new(false);
    while !pending.closing() {
        let ended = runtime.block_on(exchange(server, on_wake, pending, &missed));
        if pending.closing() {
            return;
        }
        if let Err(why) = ended {
            tracing::debug!(%why, "the connection for wake-ups was lost");
        }
        std::thread::sleep(AGAIN);
    }
}

/// For an engine without NOTIFY: wakes all jobs at short intervals until the store closes.
pub(super) fn poll(on_wake: &OnWake, pending: &PendingWakes) {
    loop {
        std::thread::sleep(POLL);
        if pending.closing() {
            return;
        }
        on_wake(WakeSet(u32::MAX));
    }
}

/// Why the connection ended.
fn late<T>(_: T) -> String {
    "the server does not answer".to_owned()
}

async fn exchange(
    server: &Server,
    on_wake: &OnWake,
    pending: &PendingWakes,
    missed: &Cell<bool>,
) -> Result<(), String> {
    let (client, mut connection, _) = server.connect(Purpose::Wake).await.map_err(|why| why.to_string())?;
    // The process id of our own session, whose notifications are ignored.
    let own = Cell::new(0);
    let listen = poll_fn(|context| {
        loop {
            match connection.poll_message(context) {
                Poll::Ready(Some(Ok(AsyncMessage::Notification(note)))) => {
                    if note.process_id() != own.get()
                        && let Ok(bits) = note.payload().parse()
                    {
                        on_wake(WakeSet(bits));
                    }
                }
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(why))) => return Poll::Ready(why.to_string()),
                Poll::Ready(None) => return Poll::Ready("the server closed the connection".to_owned()),
                Poll::Pending => return Poll::Pending,
            }
        }
    });
    let send = async {
        let listening = tokio::time::timeout(ANSWER, client.simple_query(LISTEN)).await.map_err(late)?;
        own.set(session_of(listening).map_err(|why| why.to_string())?);
        if missed.replace(true) {
            on_wake(WakeSet(u32::MAX));
        }
        loop {
            let _ = tokio::time::timeout(QUIET, pending.more.notified()).await;
            if pending.closing() {
                return Ok(());
            }
            let topics = pending.topics.swap(0, Ordering::AcqRel);
            // An empty statement checks whether the server is alive.
            let sql = if topics == 0 { String::new() } else { format!("notify dastak_wake, '{topics}'") };
            let sent = tokio::time::timeout(ANSWER, client.batch_execute(&sql)).await;
            if let Err(why) = sent.map_err(late).and_then(|sent| sent.map_err(|why| why.to_string())) {
                pending.topics.fetch_or(topics, Ordering::AcqRel);
                return Err(why);
            }
            tokio::time::sleep_until(tokio::time::Instant::now() + PACE).await;
        }
    };
    tokio::select! {
        why = listen => Err(why),
        ended = send => ended,
    }
}

/// The process id of the listening session.
fn session_of(answer: Result<Vec<SimpleQueryMessage>, Error>) -> Result<i32, Error> {
    let rows = answer?;
    let number = rows.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
        _ => None,
    });
    Ok(number.unwrap_or(0))
}

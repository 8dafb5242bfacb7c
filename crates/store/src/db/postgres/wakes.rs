//! Wake-ups between nodes. Each node has one connection for them: it hears what others say, and says what this
//! node's commits owe, outside their transactions, because NOTIFY in a transaction holds a lock of the whole
//! installation until that has committed. A wake-up that is lost is no harm: every job looks by itself from time
//! to time.

use std::cell::Cell;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_postgres::{AsyncMessage, Error, SimpleQueryMessage};

use super::super::{OnWake, WakeSet};
use super::server::{Purpose, Server};

/// Time between two wake-ups that a node sends. What is owed meanwhile goes with the next.
const PACE: Duration = Duration::from_millis(5);
/// Time after which a connection on which nothing is said is tried.
const QUIET: Duration = Duration::from_secs(2);
/// Longest wait for an answer on it.
const ANSWER: Duration = Duration::from_secs(3);
/// Pause before it is connected again.
const AGAIN: Duration = Duration::from_millis(500);

/// Time between two looks of all jobs without wake-ups.
const POLL: Duration = Duration::from_millis(500);

/// Hears the wake-ups of all nodes. Nothing of this session is worth a wait for the disk.
const LISTEN: &str = "set application_name = 'dastak wake-ups'; set synchronous_commit = off; listen dastak_wake; \
     select pg_backend_pid()";

/// What this node has to say to the others.
#[derive(Default)]
pub(super) struct Owed {
    topics: AtomicU32,
    more: Notify,
    closing: AtomicBool,
}

impl Owed {
    /// Says this to the other nodes soon.
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

/// Hands the wake-ups of other nodes to `on_wake`, and sends what is owed to them, until the store closes.
/// Connects again after a loss, and then wakes everything: nobody knows what was said meanwhile.
pub(super) fn run(server: &Server, on_wake: &OnWake, owed: &Owed) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let missed = Cell::new(false);
    while !owed.closing() {
        let ended = runtime.block_on(converse(server, on_wake, owed, &missed));
        if owed.closing() {
            return;
        }
        if let Err(why) = ended {
            tracing::debug!(%why, "the connection for wake-ups was lost");
        }
        std::thread::sleep(AGAIN);
    }
}

/// Instead of all that, for an engine without NOTIFY: every job looks by itself at short intervals, until the store
/// closes.
pub(super) fn poll(on_wake: &OnWake, owed: &Owed) {
    loop {
        std::thread::sleep(POLL);
        if owed.closing() {
            return;
        }
        on_wake(WakeSet(u32::MAX));
    }
}

/// Why the connection ended.
fn late<T>(_: T) -> String {
    "the server does not answer".to_owned()
}

async fn converse(server: &Server, on_wake: &OnWake, owed: &Owed, missed: &Cell<bool>) -> Result<(), String> {
    let (client, mut connection, _) = server.connect(Purpose::Wake).await.map_err(|why| why.to_string())?;
    // The number of our own session: what it said is known here.
    let own = Cell::new(0);
    let hear = poll_fn(|context| {
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
    let say = async {
        let listening = tokio::time::timeout(ANSWER, client.simple_query(LISTEN)).await.map_err(late)?;
        own.set(session_of(listening).map_err(|why| why.to_string())?);
        if missed.replace(true) {
            on_wake(WakeSet(u32::MAX));
        }
        loop {
            let _ = tokio::time::timeout(QUIET, owed.more.notified()).await;
            if owed.closing() {
                return Ok(());
            }
            let topics = owed.topics.swap(0, Ordering::AcqRel);
            // An empty statement finds out whether the server is still there.
            let words = if topics == 0 { String::new() } else { format!("notify dastak_wake, '{topics}'") };
            let said = tokio::time::timeout(ANSWER, client.batch_execute(&words)).await;
            if let Err(why) = said.map_err(late).and_then(|said| said.map_err(|why| why.to_string())) {
                owed.topics.fetch_or(topics, Ordering::AcqRel);
                return Err(why);
            }
            tokio::time::sleep_until(tokio::time::Instant::now() + PACE).await;
        }
    };
    tokio::select! {
        why = hear => Err(why),
        ended = say => ended,
    }
}

/// The number of the session that listens.
fn session_of(answer: Result<Vec<SimpleQueryMessage>, Error>) -> Result<i32, Error> {
    let rows = answer?;
    let number = rows.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
        _ => None,
    });
    Ok(number.unwrap_or(0))
}

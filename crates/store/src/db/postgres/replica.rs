//! A standby that only reads, for reads that may take long and need not see what was written a moment ago. While it
//! is away or too far behind, and when it cancels a read, the primary does the work.
//!
//! How far it is behind is measured, not believed: a thread notes each second how far the log of the primary has
//! come, and looks which of these points the standby has reached. So a standby that is cut off from a primary shows
//! it, and one whose primary rests is not behind.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::{Client, SimpleQueryMessage};

use super::server::{Purpose, Server};
use super::{DbError, Job, StoreMetrics, pool};

/// How far it may be behind.
pub const BEHIND: Duration = Duration::from_secs(10);
/// Time between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// Longest wait for an answer to one.
const ANSWER: Duration = Duration::from_secs(3);
/// Points that are remembered: a standby that has reached none of them is further behind than anybody waits for.
const POINTS: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It reads; how far it was behind.
    Reads(Duration),
    /// It does not, and the primary reads instead; why.
    Rests(String),
}

pub(super) struct Replica {
    pub(super) readers: SyncSender<Job>,
    state: Arc<State>,
}

struct State {
    standing: Mutex<Standing>,
    closing: AtomicBool,
    metrics: StoreMetrics,
}

impl State {
    fn set(&self, standing: Standing) {
        let mut known = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*known, &standing) {
            (Standing::Reads(_), Standing::Rests(why)) => {
                tracing::warn!(%why, "the replica is not read from; long reads go to the primary");
            }
            (Standing::Rests(_), Standing::Reads(_)) => tracing::info!("long reads go to the replica"),
            _ => {}
        }
        self.metrics.replica_reads.set(i64::from(matches!(standing, Standing::Reads(_))));
        if let Standing::Reads(behind) = &standing {
            self.metrics.replica_behind.set(behind.as_secs_f64());
        }
        *known = standing;
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.state.closing.store(true, Ordering::Release);
    }
}

impl Replica {
    pub(super) fn open(
        primary: &Server,
        standby: &Server,
        connections: usize,
        metrics: &StoreMetrics,
    ) -> Result<Self, DbError> {
        let readers = pool("store-replica", connections, standby, Purpose::Read, metrics)?;
        let state = Arc::new(State {
            standing: Mutex::new(Standing::Rests("it was not asked yet".into())),
            closing: AtomicBool::new(false),
            metrics: metrics.clone(),
        });
        let (watched, primary, standby) = (state.clone(), primary.clone(), standby.clone());
        std::thread::Builder::new()
            .name("store-replica-watch".into())
            .spawn(move || watch(&primary, &standby, &watched))
            .map_err(|why| DbError::Unavailable(why.to_string()))?;
        Ok(Self { readers, state })
    }

    pub(super) fn standing(&self) -> Standing {
        self.state.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn usable(&self) -> bool {
        matches!(&*self.state.standing.lock().unwrap_or_else(PoisonError::into_inner), Standing::Reads(_))
    }

    /// A read failed there: none goes there until the next look.
    pub(super) fn failed(&self, why: &DbError) {
        self.state.metrics.replica_failures.inc();
        // It is well, but for this read.
        if !matches!(why, DbError::Retry(_)) {
            self.state.set(Standing::Rests(why.to_string()));
        }
    }
}

/// Points of the primary's log, and when it was there.
#[derive(Default)]
struct Points(VecDeque<(Instant, u64)>);

impl Points {
    fn note(&mut self, at: Instant, position: u64) {
        // One that rests is where it was: the standby that is there, too, is not behind.
        if let Some(last) = self.0.back_mut()
            && last.1 == position
        {
            last.0 = at;
            return;
        }
        self.0.push_back((at, position));
        if self.0.len() > POINTS {
            self.0.pop_front();
        }
    }

    /// How long ago the primary was where a standby is that has come so far.
    fn behind(&self, now: Instant, position: u64) -> Option<Duration> {
        let (at, _) = self.0.iter().rev().find(|(_, point)| *point <= position)?;
        Some(now.saturating_duration_since(*at))
    }
}

/// A look every second, until the store closes.
fn watch(primary: &Server, standby: &Server, state: &State) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let mut points = Points::default();
    let (mut there, mut here) = (None, None);
    while !state.closing.load(Ordering::Acquire) {
        let standing = runtime.block_on(async {
            let ask = "select pg_is_in_recovery(), pg_current_wal_lsn() - '0/0'::pg_lsn";
            let came = look(primary, &mut here, ask).await.map_err(|why| format!("the primary: {why}"))?;
            let Some(position) = came.1 else {
                return Err("the primary: does not say how far its log has come".to_owned());
            };
            points.note(Instant::now(), position);
            let ask = "select pg_is_in_recovery(), pg_last_wal_replay_lsn() - '0/0'::pg_lsn";
            match look(standby, &mut there, ask).await? {
                (true, Some(position)) => Ok(points.behind(Instant::now(), position)),
                _ => Err("the server that database_replica_url names is no standby".to_owned()),
            }
        });
        state.set(match standing {
            Ok(Some(behind)) if behind <= BEHIND => Standing::Reads(behind),
            Ok(behind) => Standing::Rests(behind.map_or_else(
                || "it is far behind".to_owned(),
                |behind| format!("it is {} s behind; {} s are allowed", behind.as_secs(), BEHIND.as_secs()),
            )),
            Err(why) => Standing::Rests(why),
        });
        std::thread::sleep(LOOK);
    }
}

/// A session of its own, and the task that serves it.
type Line = Option<(Client, tokio::task::JoinHandle<()>)>;

async fn look(server: &Server, line: &mut Line, ask: &str) -> Result<(bool, Option<u64>), String> {
    let outcome = tokio::time::timeout(ANSWER, async {
        if line.is_none() {
            let (client, connection, _) =
                server.connect(Purpose::Read).await.map_err(|why| why.to_string())?;
            *line = Some((client, tokio::spawn(async move { drop(connection.await) })));
        }
        let Some((client, _)) = line else { return Err("no session".to_owned()) };
        let answer = client.simple_query(ask).await.map_err(|why| {
            why.as_db_error().map_or_else(|| why.to_string(), |why| why.message().to_owned())
        })?;
        let row = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((row.get(0) == Some("t"), row.get(1).and_then(|text| text.parse().ok())))
            }
            _ => None,
        });
        row.ok_or_else(|| "no answer".to_owned())
    })
    .await
    .unwrap_or_else(|_| Err("the server does not answer".to_owned()));
    if outcome.is_err()
        && let Some((_, pump)) = line.take()
    {
        pump.abort();
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standby_is_as_far_behind_as_the_primary_has_gone_since() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let behind = |points: &Points, seconds, position| {
            points.behind(at(seconds), position).map(|behind| behind.as_secs())
        };
        let mut points = Points::default();
        assert_eq!(behind(&points, 0, 5), None, "nothing is known");
        for (seconds, position) in [(0, 10), (1, 20), (2, 30)] {
            points.note(at(seconds), position);
        }
        assert_eq!(behind(&points, 2, 30), Some(0));
        assert_eq!(behind(&points, 2, 40), Some(0), "it may be further than the last look");
        assert_eq!(behind(&points, 5, 29), Some(4));
        assert_eq!(behind(&points, 5, 9), None, "further than any point");
        points.note(at(60), 30);
        assert_eq!(behind(&points, 60, 30), Some(0), "the primary rests");
        assert_eq!(behind(&points, 60, 25), Some(59), "and the standby is cut off");
        for seconds in 0..1_000 {
            points.note(at(100 + seconds), 100 + seconds);
        }
        assert_eq!(points.0.len(), POINTS);
    }
}

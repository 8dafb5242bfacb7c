//! A read replica (hot standby) for long reads that tolerate replication lag. While it is unreachable or lags too far, and
//! when it cancels a read, the primary runs the read.
//!
//! The lag is measured: a thread records the WAL position of the primary each second, and checks which of these
//! positions the standby has replayed. So a standby that is cut off from its primary is seen to lag, and one whose
//! primary is idle is not.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::{Client, SimpleQueryMessage};

use super::super::error::DbError;
use super::super::metrics::StoreMetrics;
use super::server::{Purpose, Server};
use super::session::{Job, pool};

/// Most replication lag.
pub const MAX_LAG: Duration = Duration::from_secs(10);
/// Time between two measurements.
const INTERVAL: Duration = Duration::from_secs(1);
/// Timeout of one query of a measurement.
const ANSWER: Duration = Duration::from_secs(3);
/// WAL positions that are kept: a standby that has replayed none of them lags too far.
const MAX_POSITIONS: usize = 60;

/// Whether long reads go to the replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplicaStatus {
    /// It serves reads; its lag.
    Serving(Duration),
    /// The primary serves the reads; why.
    Bypassed(String),
}

pub(super) struct Replica {
    pub(super) readers: SyncSender<Job>,
    state: Arc<State>,
}

struct State {
    status: Mutex<ReplicaStatus>,
    closing: AtomicBool,
    metrics: StoreMetrics,
}

impl State {
    fn set(&self, status: ReplicaStatus) {
        let mut known = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*known, &status) {
            (ReplicaStatus::Serving(_), ReplicaStatus::Bypassed(why)) => {
                tracing::warn!(%why, "the replica is not read from; long reads go to the primary");
            }
            (ReplicaStatus::Bypassed(_), ReplicaStatus::Serving(_)) => {
                tracing::info!("long reads go to the replica")
            }
            _ => {}
        }
        self.metrics.replica_reads.set(i64::from(matches!(status, ReplicaStatus::Serving(_))));
        if let ReplicaStatus::Serving(behind) = &status {
            self.metrics.replica_behind.set(behind.as_secs_f64());
        }
        *known = status;
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
            status: Mutex::new(ReplicaStatus::Bypassed("it was not checked yet".into())),
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

    pub(super) fn status(&self) -> ReplicaStatus {
        self.state.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn usable(&self) -> bool {
        matches!(
            &*self.state.status.lock().unwrap_or_else(PoisonError::into_inner),
            ReplicaStatus::Serving(_)
        )
    }

    /// A read failed on the replica: it is bypassed until the next measurement.
    pub(super) fn failed(&self, why: &DbError) {
        self.state.metrics.replica_failures.inc();
        // A recovery conflict concerns this read only.
        if !matches!(why, DbError::Retry(_)) {
            self.state.set(ReplicaStatus::Bypassed(why.to_string()));
        }
    }
}

/// WAL positions of the primary, with the time of each.
#[derive(Default)]
struct WalPositions(VecDeque<(Instant, u64)>);

impl WalPositions {
    fn record(&mut self, at: Instant, position: u64) {
        // An idle primary: a standby at the same position does not lag.
        if let Some(last) = self.0.back_mut()
            && last.1 == position
        {
            last.0 = at;
            return;
        }
        self.0.push_back((at, position));
        if self.0.len() > MAX_POSITIONS {
            self.0.pop_front();
        }
    }

    /// The lag of a standby that has replayed up to `position`.
    fn behind(&self, now: Instant, position: u64) -> Option<Duration> {
        let (at, _) = self.0.iter().rev().find(|(_, point)| *point <= position)?;
        Some(now.saturating_duration_since(*at))
    }
}

/// Measures the lag every second until the store closes.
fn watch(primary: &Server, standby: &Server, state: &State) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let mut positions = WalPositions::default();
    let (mut there, mut here) = (None, None);
    while !state.closing.load(Ordering::Acquire) {
        let status = runtime.block_on(async {
            let ask = "select pg_is_in_recovery(), pg_current_wal_lsn() - '0/0'::pg_lsn";
            let came = query(primary, &mut here, ask).await.map_err(|why| format!("the primary: {why}"))?;
            let Some(position) = came.1 else {
                return Err("the primary: does not say how far its log has come".to_owned());
            };
            positions.record(Instant::now(), position);
            let ask = "select pg_is_in_recovery(), pg_last_wal_replay_lsn() - '0/0'::pg_lsn";
            match query(standby, &mut there, ask).await? {
                (true, Some(position)) => Ok(positions.behind(Instant::now(), position)),
                _ => Err("the server that database_replica_url names is no standby".to_owned()),
            }
        });
        state.set(match status {
            Ok(Some(behind)) if behind <= MAX_LAG => ReplicaStatus::Serving(behind),
            Ok(behind) => ReplicaStatus::Bypassed(behind.map_or_else(
                || "it is far behind".to_owned(),
                |behind| format!("it is {} s behind; {} s are allowed", behind.as_secs(), MAX_LAG.as_secs()),
            )),
            Err(why) => ReplicaStatus::Bypassed(why),
        });
        std::thread::sleep(INTERVAL);
    }
}

/// A session, with the task that drives it.
type WatchSession = Option<(Client, tokio::task::JoinHandle<()>)>;

async fn query(server: &Server, line: &mut WatchSession, ask: &str) -> Result<(bool, Option<u64>), String> {
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
        && let Some((_, driver)) = line.take()
    {
        driver.abort();
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
        let behind = |positions: &WalPositions, seconds, position| {
            positions.behind(at(seconds), position).map(|behind| behind.as_secs())
        };
        let mut positions = WalPositions::default();
        assert_eq!(behind(&positions, 0, 5), None, "nothing is known");
        for (seconds, position) in [(0, 10), (1, 20), (2, 30)] {
            positions.record(at(seconds), position);
        }
        assert_eq!(behind(&positions, 2, 30), Some(0));
        assert_eq!(behind(&positions, 2, 40), Some(0), "it may be further than the last look");
        assert_eq!(behind(&positions, 5, 29), Some(4));
        assert_eq!(behind(&positions, 5, 9), None, "further than any point");
        positions.record(at(60), 30);
        assert_eq!(behind(&positions, 60, 30), Some(0), "the primary rests");
        assert_eq!(behind(&positions, 60, 25), Some(59), "and the standby is cut off");
        for seconds in 0..1_000 {
            positions.record(at(100 + seconds), 100 + seconds);
        }
        assert_eq!(positions.0.len(), MAX_POSITIONS);
    }
}

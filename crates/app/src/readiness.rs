//! Readiness: whether the store can be read and written, checked at most once in a while, however many requests there
//! are.

use std::sync::PoisonError;
use std::time::Duration;

use store::{DbError, Store};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// How long a result is cached. A failure is checked again sooner.
const READY_FOR: Duration = Duration::from_secs(2);
const UNREADY_FOR: Duration = Duration::from_millis(500);
/// Longest wait for the store before it counts as not answering.
const READY_WITHIN: Duration = Duration::from_secs(5);

/// What this node knows of its store.
#[derive(Default)]
pub struct Readiness {
    /// The last answer, and when it was asked for.
    last: Mutex<Option<(Instant, Result<(), DbError>)>>,
    /// When the store last failed a request.
    failed: std::sync::Mutex<Option<Instant>>,
}

impl Readiness {
    /// The store has failed a request: for a while it counts as not ready, whatever the last check was.
    pub fn store_failed(&self) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn failed_lately(&self) -> bool {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|at| at.elapsed() < READY_FOR)
    }

    /// Whether the store can be read and written.
    ///
    /// # Errors
    /// Why not.
    pub async fn of(&self, store: &Store) -> Result<(), DbError> {
        if self.failed_lately() {
            return Err(DbError::Unavailable("requests fail".into()));
        }
        let mut last = self.last.lock().await;
        if let Some((asked, answer)) = &*last {
            let holds_for = if answer.is_ok() { READY_FOR } else { UNREADY_FOR };
            if asked.elapsed() < holds_for {
                return answer.clone();
            }
        }
        let asking = async {
            store.ready().await?;
            store.writable().await
        };
        let answer = timeout(READY_WITHIN, asking)
            .await
            .unwrap_or_else(|_| Err(DbError::Unavailable("the store does not answer".into())));
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}

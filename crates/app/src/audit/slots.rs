//! Limits of full reads of the decision log. A check hashes every record of a chain: so one runs at a time for a
//! workspace and two for a node, requests meanwhile share the next one, and the hashed records of a workspace in a
//! minute are counted. An export lasts as long as its reader takes: one at a time for a workspace, sixteen for a node.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use api::audit::Verification;
use api::error_codes;
use domain::tenant::{Mode, Tenant};
use domain::time::{MINUTE, SECOND};
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore, watch};

use crate::Failure;
use runtime::clock::Clock;

/// Concurrent checks of this node.
const CHECKS: usize = 2;
/// Concurrent exports of this node.
const EXPORTS: usize = 16;
/// Records of a workspace hashed within a minute above which another check waits.
const RECORDS_A_MINUTE: u64 = 1_000_000;
/// `Retry-After` of an export, seconds.
const EXPORT_AGAIN: i64 = 5;
/// Remembered workspaces before idle ones are dropped.
const REMEMBERED: usize = 10_000;

/// Checks and exports of this node.
pub struct AuditSlots {
    checks: Arc<Semaphore>,
    exports: Arc<Semaphore>,
    workspaces: Mutex<HashMap<Tenant, Arc<Workspace>>>,
}

impl Default for AuditSlots {
    fn default() -> Self {
        Self {
            checks: Arc::new(Semaphore::new(CHECKS)),
            exports: Arc::new(Semaphore::new(EXPORTS)),
            workspaces: Mutex::default(),
        }
    }
}

/// A result for which several wait.
type Outcome = Option<Result<Verification, Failure>>;

struct Workspace {
    /// Held while its records are hashed.
    checking: Arc<tokio::sync::Mutex<()>>,
    /// Held while a file is sent.
    exporting: Arc<Semaphore>,
    /// Checks that have not begun, by workspace and mode.
    waiting: Mutex<HashMap<Mode, watch::Receiver<Outcome>>>,
    /// Start of a minute, and records hashed in it.
    hashed: Mutex<(i64, u64)>,
}

impl Default for Workspace {
    fn default() -> Self {
        Self {
            checking: Arc::default(),
            exporting: Arc::new(Semaphore::new(1)),
            waiting: Mutex::default(),
            hashed: Mutex::default(),
        }
    }
}

/// A permit to hash the records of a workspace.
pub(super) struct AuditSlot {
    workspace: Arc<Workspace>,
    minute: i64,
    _alone: OwnedMutexGuard<()>,
    _few: OwnedSemaphorePermit,
}

/// A permit to export.
pub(super) struct Leave {
    _alone: OwnedSemaphorePermit,
    _few: OwnedSemaphorePermit,
}

impl AuditSlot {
    /// Counts hashed records.
    pub(super) fn count(&self, records: u64) {
        let mut hashed = lock(&self.workspace.hashed);
        if hashed.0 != self.minute {
            *hashed = (self.minute, 0);
        }
        hashed.1 = hashed.1.saturating_add(records);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn later(message: String, seconds: i64) -> Failure {
    Failure { retry_after: Some(seconds), ..Failure::new(error_codes::RATE_LIMITED, message) }
}

fn stopping() -> Failure {
    later("the service stops".into(), EXPORT_AGAIN)
}

impl AuditSlots {
    fn of(&self, tenant: Tenant) -> Arc<Workspace> {
        let mut workspaces = lock(&self.workspaces);
        if workspaces.len() > REMEMBERED {
            // Keep only workspaces with a check in progress, or with more records hashed than a minute allows.
            workspaces.retain(|_, workspace| {
                Arc::strong_count(workspace) > 1 || lock(&workspace.hashed).1 > RECORDS_A_MINUTE
            });
        }
        workspaces.entry(tenant).or_default().clone()
    }

    /// Records of a workspace that were hashed in its last minute with a check.
    pub fn hashed(&self, tenant: Tenant) -> u64 {
        lock(&self.of(tenant).hashed).1
    }

    /// Waits for the permit to hash the records of a workspace.
    pub(super) async fn check(&self, tenant: Tenant, clock: &Clock) -> Result<AuditSlot, Failure> {
        let workspace = self.of(tenant);
        let alone = workspace.checking.clone().lock_owned().await;
        let few = self.checks.clone().acquire_owned().await.map_err(|_| stopping())?;
        let now = clock.now();
        let minute = now.0.div_euclid(MINUTE) * MINUTE;
        let (counted, hashed) = *lock(&workspace.hashed);
        if counted == minute && hashed >= RECORDS_A_MINUTE {
            let wait = ((minute + MINUTE - now.0 + SECOND - 1) / SECOND).max(1);
            let message =
                format!("{hashed} records of the log were verified in this minute; try again in {wait} s");
            return Err(later(message, wait));
        }
        Ok(AuditSlot { workspace, minute, _alone: alone, _few: few })
    }

    /// The permit to export, unless it is taken.
    pub(super) fn export(&self, tenant: Tenant) -> Result<Leave, Failure> {
        let alone = self.of(tenant).exporting.clone().try_acquire_owned();
        let alone = alone.map_err(|_| {
            later("another export of this workspace is under way; one leaves at a time".into(), EXPORT_AGAIN)
        })?;
        let few = self.exports.clone().try_acquire_owned();
        let few = few.map_err(|_| later(format!("{EXPORTS} exports are under way"), EXPORT_AGAIN))?;
        Ok(Leave { _alone: alone, _few: few })
    }

    /// The result of a check that begins after this call: of one that waits for its permit already, or of one that
    /// `start` starts. `start` must begin its argument with [`RequestedCheck::begin`] once it has the permit.
    pub(super) async fn shared(
        self: &Arc<Self>,
        tenant: Tenant,
        mode: Mode,
        start: impl FnOnce(RequestedCheck),
    ) -> Result<Verification, Failure> {
        let mut outcome = {
            let workspace = self.of(tenant);
            let mut waiting = lock(&workspace.waiting);
            match waiting.get(&mode) {
                Some(outcome) => outcome.clone(),
                None => {
                    let (tell, outcome) = watch::channel(None);
                    waiting.insert(mode, outcome.clone());
                    drop(waiting);
                    start(RequestedCheck { workspace, mode, tell });
                    outcome
                }
            }
        };
        match outcome.wait_for(Option::is_some).await {
            Ok(told) => told.clone().unwrap_or_else(|| Err(stopping())),
            Err(_) => Err(stopping()),
        }
    }
}

/// A requested check; others may join it until it begins.
pub(super) struct RequestedCheck {
    workspace: Arc<Workspace>,
    mode: Mode,
    tell: watch::Sender<Outcome>,
}

impl RequestedCheck {
    /// From now on requests get a later check: this one may have read already what is changed now.
    pub(super) fn begin(&self) {
        lock(&self.workspace.waiting).remove(&self.mode);
    }

    pub(super) fn tell(self, outcome: Result<Verification, Failure>) {
        self.tell.send_replace(Some(outcome));
    }
}

/// However a check ends, no request joins it afterwards.
impl Drop for RequestedCheck {
    fn drop(&mut self) {
        let mut waiting = lock(&self.workspace.waiting);
        if waiting.get(&self.mode).is_some_and(|ours| ours.same_channel(&self.tell.subscribe())) {
            waiting.remove(&self.mode);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    fn tenant(number: u32) -> Tenant {
        format!("ws_{number:026}").parse().unwrap()
    }

    #[tokio::test]
    async fn records_of_a_minute_are_counted() {
        let slots = AuditSlots::default();
        let now = Clock::manual_at(Timestamp(90_000));
        for _ in 0..3 {
            slots.check(tenant(1), &now).await.unwrap().count(400_000);
        }
        let refused = slots.check(tenant(1), &now).await.err().unwrap();
        assert_eq!((refused.error.status, refused.retry_after), (429, Some(30)));
        slots.check(tenant(2), &now).await.unwrap();
        slots.check(tenant(1), &Clock::manual_at(Timestamp(120_000))).await.unwrap();
    }

    #[tokio::test]
    async fn one_export_leaves_at_a_time_and_few_in_all() {
        let slots = AuditSlots::default();
        let first = slots.export(tenant(1)).ok().unwrap();
        assert_eq!(slots.export(tenant(1)).err().unwrap().error.status, 429);
        let others: Vec<_> = (2..=16).map(|number| slots.export(tenant(number)).ok().unwrap()).collect();
        assert_eq!(slots.export(tenant(17)).err().unwrap().error.status, 429);
        drop((first, others));
        slots.export(tenant(1)).ok().unwrap();
    }

    #[tokio::test]
    async fn who_asks_while_a_check_runs_gets_a_later_one() {
        let slots = Arc::new(AuditSlots::default());
        let (send, mut asked) = tokio::sync::mpsc::unbounded_channel();
        let ask = || {
            let (slots, send) = (slots.clone(), send.clone());
            tokio::spawn(async move {
                slots
                    .shared(tenant(1), Mode::Live, |asked| drop(send.send(asked)))
                    .await
                    .map(|found| found.records)
            })
        };
        let verification = |records| Ok(Verification { verified: true, records, chains: Vec::new() });
        let first = ask();
        let running: RequestedCheck = asked.recv().await.unwrap();
        running.begin();
        let (second, third) = (ask(), ask());
        let next: RequestedCheck = asked.recv().await.unwrap();
        running.tell(verification(1));
        assert_eq!(first.await.unwrap().ok(), Some(1));
        // Both wait for the same one, which begins after their calls.
        while next.tell.receiver_count() < 3 {
            tokio::task::yield_now().await;
        }
        next.begin();
        next.tell(verification(2));
        assert_eq!((second.await.unwrap().ok(), third.await.unwrap().ok()), (Some(2), Some(2)));
        assert!(asked.try_recv().is_err());
        // One that ends without a result does not keep others waiting.
        let lost = ask();
        drop(asked.recv().await.unwrap());
        assert!(lost.await.unwrap().is_err());
    }
}

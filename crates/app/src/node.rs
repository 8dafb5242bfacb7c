//! This node among those that share a database: whether it accepts new work, and the state of the database server
//! (docs/contract/operator.md#nodes).

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::error_codes;
use api::node::{Node as NodeView, NodeStatus};
use domain::time::{SECOND, Timestamp};
use runtime::clock::{Clock, Signal};
use store::DbError;
use store::server::Server;
use tokio::sync::watch;

use super::operator_log::{self, Trace};
use super::{App, Failure};

/// A query of the server that takes longer says nothing about its clock, milliseconds.
const PROMPT: i64 = SECOND;

/// The status of a node, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duty {
    pub status: NodeStatus,
    pub since: Timestamp,
}

/// The durability of the database server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Memory {
    /// Not checked yet.
    #[default]
    Unknown,
    /// Acknowledged commits survive its loss, as far as can be seen.
    Remembers,
    /// It does not; why.
    Forgets(String),
}

impl Memory {
    /// Evaluates a server's own settings (docs/contract/operator.md#health).
    pub fn of(server: &Server) -> Self {
        let commit = server.synchronous_commit.as_str();
        if commit == "off" || commit == "local" {
            return Self::Forgets(format!(
                "synchronous_commit is {commit}: what is acknowledged may be gone after a failure"
            ));
        }
        // Of a standby whose state is hidden it is known only whether any is named.
        let waited_for = server.synchronous > 0 || (server.shown == 0 && !server.named.trim().is_empty());
        if server.standbys > 0 && !waited_for {
            return Self::Forgets(format!(
                "{} standbys are connected and none is synchronous: one that takes over may not know what was acknowledged",
                server.standbys
            ));
        }
        Self::Remembers
    }

    /// Whether it is known that acknowledged commits survive the server's loss.
    pub fn remembers(&self) -> bool {
        *self == Self::Remembers
    }
}

/// How far our clock is ahead of the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skew {
    /// Milliseconds; negative if it is behind.
    pub ahead: i64,
    /// Uncertainty of that, milliseconds: half of the round trip.
    pub unsure: i64,
}

impl Skew {
    /// The skew from a query that began and ended at these times; `None` if it took too long.
    pub fn of(server: Timestamp, began: Timestamp, ended: Timestamp) -> Option<Self> {
        let took = ended.0 - began.0;
        if !(0..=PROMPT).contains(&took) {
            return None;
        }
        let unsure = (took + 1) / 2;
        Some(Self { ahead: began.0 + took / 2 - server.0, unsure })
    }

    /// Whether the clocks certainly differ by more than this.
    pub fn beyond(self, most: Duration) -> bool {
        self.ahead.abs() - self.unsure > i64::try_from(most.as_millis()).unwrap_or(i64::MAX)
    }

    pub fn words(self, most: Duration) -> String {
        let side = if self.ahead < 0 { "behind" } else { "ahead of" };
        #[allow(clippy::cast_precision_loss, reason = "seconds for people")]
        let seconds = self.ahead.abs() as f64 / 1000.0;
        format!(
            "the clock of this machine is {seconds:.1} s {side} that of the database; max_clock_skew is {} s",
            most.as_secs()
        )
    }
}

#[derive(Default)]
struct Seen {
    memory: Memory,
    skew: Option<Skew>,
    skewed: bool,
    /// Problems of weekly partitions.
    weeks: Vec<String>,
}

pub struct Node {
    name: Arc<str>,
    duty: watch::Sender<Duty>,
    /// Jobs that poll when the node is in service again.
    back: Mutex<Vec<Signal>>,
    seen: Mutex<Seen>,
}

impl Node {
    /// A node in service.
    pub fn new(name: &Arc<str>, clock: &Clock) -> Self {
        Self {
            name: name.clone(),
            duty: watch::Sender::new(Duty { status: NodeStatus::InService, since: clock.now() }),
            back: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// Its status.
    pub fn duty(&self) -> Duty {
        *self.duty.borrow()
    }

    /// Whether it accepts new calls and polls for due dials.
    pub fn in_service(&self) -> bool {
        self.duty().status == NodeStatus::InService
    }

    /// A receiver of `true` from the moment when it stops.
    pub fn stopped(&self) -> Stopping {
        Stopping(self.duty.subscribe())
    }

    /// Wakes the dialler when the node is in service again.
    pub fn wakes(&self, signal: Signal) {
        self.back.lock().unwrap_or_else(PoisonError::into_inner).push(signal);
    }

    /// Changes its status. A node that stops goes on stopping.
    fn set(&self, status: NodeStatus, now: Timestamp) -> Duty {
        self.duty.send_if_modified(|duty| {
            let changes = duty.status != status && duty.status != NodeStatus::Stopping;
            if changes {
                *duty = Duty { status, since: now };
            }
            changes
        });
        self.duty()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The durability of the database.
    pub fn database(&self) -> Memory {
        self.seen().memory.clone()
    }

    /// How far the clock of this machine is ahead of that of the database.
    pub fn skew(&self) -> Option<Skew> {
        self.seen().skew
    }
}

/// See [`Node::stopped`].
pub struct Stopping(watch::Receiver<Duty>);

impl Stopping {
    /// Whether the node stops.
    pub fn now(&self) -> bool {
        self.0.borrow().status == NodeStatus::Stopping
    }

    /// Waits until it does.
    pub async fn wait(&mut self) {
        if self.0.wait_for(|duty| duty.status == NodeStatus::Stopping).await.is_err() {
            // Who could say so is gone with the service.
            std::future::pending::<()>().await;
        }
    }
}

fn view(app: &App) -> NodeView {
    let duty = app.node.duty();
    NodeView {
        name: app.node.name.to_string(),
        status: duty.status,
        since: duty.since,
        calls_held: app.lines.as_ref().map_or(0, |lines| lines.held()),
    }
}

fn change(app: &App, status: NodeStatus) -> Duty {
    let duty = app.node.set(status, app.clock.now());
    app.metrics.node_draining.set(i64::from(duty.status != NodeStatus::InService));
    if let Some(lines) = &app.lines {
        lines.drain(duty.status != NodeStatus::InService);
    }
    duty
}

/// `GET /operator/v1/node`.
pub fn get(app: &App) -> NodeView {
    view(app)
}

/// `POST /operator/v1/node/drain`: from now on the node accepts no new calls. Earlier decisions are still dialled.
///
/// # Errors
/// Those of the store, when the operator log cannot be written; the node drains all the same.
pub async fn drain(app: &App, trace: Trace) -> Result<NodeView, Failure> {
    // Before any query: a node is drained also when its database is away.
    change(app, NodeStatus::Draining);
    tracing::info!("the node is drained: it takes no new calls");
    log(app, trace).await?;
    Ok(view(app))
}

/// `POST /operator/v1/node/undrain`: the node is in service again.
///
/// # Errors
/// `conflict` when it stops; those of the store, when the operator log cannot be written.
pub async fn undrain(app: &App, trace: Trace) -> Result<NodeView, Failure> {
    if change(app, NodeStatus::InService).status == NodeStatus::Stopping {
        return Err(Failure::new(
            error_codes::CONFLICT,
            "the node is stopping, so it cannot be put back in service",
        ));
    }
    tracing::info!("the node is in service");
    for signal in app.node.back.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        signal.raise();
    }
    log(app, trace).await?;
    Ok(view(app))
}

async fn log(app: &App, trace: Trace) -> Result<(), Failure> {
    let (context, name) = (app.context(), app.node.name.clone());
    Ok(app.store.tx(move |tx| operator_log::append(tx, &context, &trace, None, &name)).await?)
}

/// The first step of a stop: the node accepts nothing new, and requests that wait for events end.
pub fn stop(app: &App) {
    change(app, NodeStatus::Stopping);
}

/// Checks the database server, and logs changes. Nothing on the embedded store.
///
/// # Errors
/// Those of the store; the earlier state stays.
pub async fn look(app: &App) -> Result<(), DbError> {
    if !app.store.shared() {
        return Ok(());
    }
    let began = app.clock.now();
    let server = app.store.read(store::server::look).await?;
    let skew = Skew::of(server.now, began, app.clock.now()).filter(|_| !app.clock.is_manual());
    take(app, Memory::of(&server), skew);
    Ok(())
}

/// Checks whether the coming weeks have their partitions ([`store::partitions`]), and reports missing ones in the log and
/// `/readyz`. Returns whether all exist.
///
/// # Errors
/// Those of the store; the earlier state stays.
pub async fn check_partitions(app: &App) -> Result<bool, DbError> {
    let now = app.clock.now();
    let found = app.store.read(move |tx| store::partitions::warnings(tx, now)).await?;
    let mut seen = app.node.seen();
    for new in found.iter().filter(|one| !seen.weeks.contains(one)) {
        tracing::warn!("{new}");
    }
    let complete = found.is_empty();
    seen.weeks = found;
    Ok(complete)
}

fn take(app: &App, memory: Memory, skew: Option<Skew>) {
    let node = &app.node;
    let mut seen = node.seen();
    if seen.memory != memory {
        match &memory {
            Memory::Forgets(why) if app.config.telephony.may_dial_twice => tracing::warn!(
                "the database may forget: {why}; telephony.may_dial_twice_after_failover lets trunks dial all the same"
            ),
            Memory::Forgets(why) => {
                tracing::error!("trunks do not dial, because the database may forget: {why}")
            }
            Memory::Remembers if seen.memory != Memory::Unknown => {
                tracing::info!("what the database acknowledges survives its loss again");
            }
            Memory::Remembers | Memory::Unknown => {}
        }
        app.metrics.database_may_forget.set(i64::from(!memory.remembers()));
        seen.memory = memory;
    }
    let Some(skew) = skew else { return };
    #[allow(clippy::cast_precision_loss, reason = "a figure")]
    app.metrics.clock_skew.set(skew.ahead as f64 / 1000.0);
    let skewed = skew.beyond(app.config.max_clock_skew);
    if skewed && !seen.skewed {
        tracing::warn!(
            "{}: leases of other nodes may be judged wrongly",
            skew.words(app.config.max_clock_skew)
        );
    }
    (seen.skew, seen.skewed) = (Some(skew), skewed);
}

/// Warnings for the operator; empty when all is well.
pub fn warnings(app: &App) -> Vec<String> {
    let (memory, skew) = (app.node.database(), app.node.skew());
    let mut found =
        warnings_of(&memory, skew, app.config.telephony.may_dial_twice, app.config.max_clock_skew);
    found.extend(app.node.seen().weeks.iter().cloned());
    if let Some(store::db::ReplicaStatus::Bypassed(why)) = app.store.replica() {
        found.push(format!("the replica is not read from: {why}"));
    }
    found
}

/// The same from a fresh check, for `dastak doctor`.
pub fn warnings_of(memory: &Memory, skew: Option<Skew>, may_dial_twice: bool, most: Duration) -> Vec<String> {
    let mut found = Vec::new();
    if let Memory::Forgets(why) = memory {
        let mut text = format!("the database may forget: {why}");
        // Writing to a text does not fail.
        let _ = match may_dial_twice {
            true => write!(text, "; trunks dial all the same (telephony.may_dial_twice_after_failover)"),
            false => write!(text, "; trunks do not dial (telephony.may_dial_twice_after_failover)"),
        };
        found.push(text);
    }
    found.extend(skew.filter(|skew| skew.beyond(most)).map(|skew| skew.words(most)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(synchronous_commit: &str, named: &str, counts: (i64, i64, i64)) -> Server {
        let (standbys, shown, synchronous) = counts;
        Server {
            now: Timestamp(0),
            synchronous_commit: synchronous_commit.into(),
            named: named.into(),
            standbys,
            shown,
            synchronous,
        }
    }

    #[test]
    fn a_server_remembers_when_a_commit_waits_for_whoever_takes_over() {
        for (commit, named, counts, remembers) in [
            ("on", "", (0, 0, 0), true),
            ("remote_apply", "", (0, 0, 0), true),
            ("off", "", (0, 0, 0), false),
            ("local", "standby", (1, 1, 1), false),
            ("on", "standby", (1, 1, 1), true),
            ("remote_write", "any 1 (a, b)", (2, 2, 2), true),
            ("on", "standby", (2, 2, 1), true),
            // Another one is named than the one that is there.
            ("on", "standby", (1, 1, 0), false),
            ("on", "", (1, 1, 0), false),
            // Its state is hidden from us.
            ("on", "standby", (1, 0, 0), true),
            ("on", " ", (1, 0, 0), false),
            // Commits wait for it.
            ("on", "standby", (0, 0, 0), true),
        ] {
            let said = Memory::of(&server(commit, named, counts));
            assert_eq!(said.remembers(), remembers, "{commit} «{named}» {counts:?}: {said:?}");
        }
    }

    #[test]
    fn a_skew_is_told_when_the_look_leaves_no_doubt() {
        let most = Duration::from_secs(5);
        for (server, began, ended, told) in [
            (100_000, 100_000, 100_010, false),
            (100_000, 105_000, 105_010, false),
            (100_000, 105_100, 105_110, true),
            (100_000, 94_800, 94_810, true),
            // It may be less.
            (100_000, 105_000, 105_900, false),
            // Too slow to say anything, or the clock was set meanwhile.
            (100_000, 150_000, 151_500, false),
            (100_000, 150_000, 149_000, false),
        ] {
            let skew = Skew::of(Timestamp(server), Timestamp(began), Timestamp(ended));
            assert_eq!(
                skew.is_some_and(|skew| skew.beyond(most)),
                told,
                "{server} {began} {ended}: {skew:?}"
            );
        }
        let behind = Skew { ahead: -7_250, unsure: 1 }.words(most);
        assert!(behind.contains("7.2 s behind") || behind.contains("7.3 s behind"), "{behind}");
    }
}

//! An attempt to be made, and one that has ended: the messages between lanes, workers and the store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use domain::time::{SECOND, Timestamp};
use domain::trace::TraceContext;
use runtime::shares::Bounds;
use store::deliveries::Key;
use store::events::TranscriptRef;

/// Lease of a node on a delivery. An attempt takes 10 s at most; a delivery that was queued in memory for nearly as
/// long as this is left to the store.
pub(super) const LEASE: i64 = 60 * SECOND;

/// Why a delivery of a disabled endpoint is given up.
pub(super) const DISABLED: &str = "not attempted: the endpoint is disabled";
/// Why a delivery of a deleted endpoint is given up.
pub(super) const DELETED: &str = "not attempted: the endpoint was deleted";
/// Why a delivery without payload is given up.
pub(super) const REDACTED: &str = "not attempted: the payload was emptied because the person was erased";
/// Why a delivery that was queued for a dead endpoint is given up.
pub(super) const TOO_OLD: &str = "not attempted: the endpoint failed for 24 hours";

/// Bytes of large bodies that are being sent by this node.
pub(super) const SENDING: Bounds = Bounds { all: 64 * 1024 * 1024, kept: 0 };

/// One attempt to be made.
#[derive(Debug, Clone)]
pub(super) struct PendingAttempt {
    pub(super) key: Key,
    /// Type of the event.
    pub(super) kind: std::borrow::Cow<'static, str>,
    /// The envelope as it is stored.
    pub(super) body: Bytes,
    /// Reference to the transcript, inserted when it is sent.
    pub(super) transcript: Option<Arc<TranscriptRef>>,
    /// Replays so far.
    pub(super) round: i64,
    pub(super) round_at: Timestamp,
    /// Attempts of this round so far.
    pub(super) made: u32,
    /// When the delivery was made.
    pub(super) created_at: Timestamp,
    /// When this node's lease expires.
    pub(super) lease: Timestamp,
    /// The trace in which its event was written.
    pub(super) trace: Option<TraceContext>,
}

/// The end of an attempt.
#[derive(Debug, Clone)]
pub(super) struct FinishedAttempt {
    pub(super) key: Key,
    pub(super) round: i64,
    pub(super) round_at: Timestamp,
    /// Attempts of the round before this one.
    pub(super) made: u32,
    pub(super) at: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) duration_ms: u64,
    pub(super) what: Ending,
}

#[derive(Debug, Clone)]
pub(super) enum Ending {
    /// The endpoint answered with this status.
    Answered(u16),
    /// It did not, for this reason; the status had arrived in some cases.
    Broken(Option<u16>, String),
    /// Nothing was sent for a reason on our side: it does not count as an attempt.
    Put,
    /// The endpoint accepts nothing, for this reason: given up.
    Unwanted(&'static str),
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

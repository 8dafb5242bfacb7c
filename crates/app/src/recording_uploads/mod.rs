//! Recordings that are uploaded to a bucket during their calls, so that a node that dies loses seconds of them and not
//! all (docs/recordings.md#in-parts).
//!
//! | file | does |
//! |---|---|
//! | `live` | uploads the recordings of live calls |
//! | `finish` | makes the object, from the file or from the bucket |
//! | `settle` | ends an upload whose call is over or whose person was erased |
//!
//! Sound is uploaded twice. Every 16 seconds a **piece** is an object of its own, which any node can read. From the
//! second one on, every tenth piece completes a **part** of a multipart upload, which nobody can read before the upload
//! is complete. The first part is sent last: its header has the length of the whole. A store without multipart uploads
//! (a folder) does nothing of this.
//!
//! Only the holder of the lease in a row of `recording_uploads` writes to the bucket. Every step is idempotent: a piece
//! and a part have their numbers, and the object is compared by its size.

mod finish;
mod live;
mod settle;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use api::error_codes;
use domain::ids::{Call, Id, Recording};
use domain::ports::{ObjectParts, ProviderError, SMALLEST_PART};
use domain::tenant::Tenant;
use domain::time::{MINUTE, SECOND, Timestamp};
use runtime::clock::Signal;
use store::recording_uploads::UploadRow;
use tokio::sync::OwnedMutexGuard;

use super::{App, Failure};

pub use finish::{Sent, send_file};
pub use live::{Turns, advance, turns};
pub use settle::{held, settle, take_over};

/// Bytes of a piece: 16.4 seconds of sound.
pub const PIECE: u64 = 512 * 1024;
/// Bytes of a part: 164 seconds of sound, the smallest that S3 takes.
pub const PART: u64 = SMALLEST_PART;
const PER_PART: u64 = PART / PIECE;
const _: () = assert!(PART.is_multiple_of(PIECE));

/// Lease of a node on an upload, milliseconds.
pub const HOLD: i64 = 3 * MINUTE;
/// The part of a lease that must be left before a request to the bucket begins: longer than the request may take.
const SURE: i64 = 75 * SECOND;
/// How long an upload waits for the node that has its file after that node's lease has expired. What the file has
/// beyond the bucket is worth a restart.
pub const PATIENCE: i64 = 10 * MINUTE;
/// Most of a conversation that may be missing in the bucket, milliseconds. If more is, the bucket was away, and the
/// upload waits for the node that has the file as long as that node may take.
const MISSED: i64 = 2 * MINUTE;

/// Poll interval for recordings that have grown, and for uploads of this node that must be settled.
pub const GROWN: i64 = 5 * SECOND;
/// See [`GROWN`].
pub const LEFT: i64 = 30 * SECOND;

/// Calls of this node for which something is sent at once, each with a piece or a part in memory.
pub const LIVE_AT_ONCE: usize = 8;
/// Uploads that are settled at once, each with a part in memory.
pub const SETTLED_AT_ONCE: usize = 4;

/// The content type of recordings.
const WAV: &str = "audio/wav";

fn piece_key(id: Id<Recording>, number: u64) -> String {
    format!("recording-pieces/{id}/{number}")
}

type Resting = HashMap<Id<Call>, (Timestamp, bool)>;

/// Recordings of this node that grow.
#[derive(Default)]
pub struct Uploads {
    live: Mutex<HashMap<Id<Call>, Arc<Live>>>,
    /// Uploads that are not due before a time, and whether nothing of them should be left then.
    resting: Mutex<Resting>,
    /// Who has had a turn is behind those who have not.
    turns: AtomicU64,
    grown: OnceLock<Signal>,
    left: OnceLock<Signal>,
}

/// A recording that grows.
pub struct Live {
    tenant: Tenant,
    call: Id<Call>,
    path: PathBuf,
    /// Nothing more is to be sent: the conversation is over, or nothing of it may be kept.
    over: AtomicBool,
    busy: AtomicBool,
    /// Number of its last turn.
    last: AtomicU64,
    /// When it may have its next one, in milliseconds.
    not_before: AtomicI64,
    progress: Arc<tokio::sync::Mutex<Progress>>,
}

/// The progress of a recording's upload.
#[derive(Default)]
struct Progress {
    /// The row as this node wrote it last.
    row: Option<UploadRow>,
    /// Pieces that are in the bucket.
    sent: u64,
    failures: u32,
}

/// As long as it is kept, the recording of a call is sent as it grows.
pub struct Uploading {
    live: Arc<Live>,
}

impl Drop for Uploading {
    fn drop(&mut self) {
        self.live.over.store(true, Ordering::SeqCst);
    }
}

impl Uploads {
    fn live(&self) -> MutexGuard<'_, HashMap<Id<Call>, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn resting(&self) -> MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes this job when a recording begins to grow.
    pub fn connect_grown(&self, job: Signal) {
        let _ = self.grown.set(job);
    }

    /// Wakes this job when uploads must be settled.
    pub fn connect_left(&self, job: Signal) {
        let _ = self.left.set(job);
    }

    /// There may be an upload to settle.
    pub(super) fn settle_soon(&self, call: Id<Call>) {
        self.resting().remove(&call);
        self.look_again();
    }

    /// This node has a lease that it did not have before, or may settle an upload.
    fn look_again(&self) {
        if let Some(left) = self.left.get() {
            left.raise();
        }
    }
}

/// Begins to upload the recording of a call from its file while that grows. `None` with a store without multipart
/// uploads.
pub fn begin(app: &App, tenant: Tenant, call: Id<Call>, path: PathBuf) -> Option<Uploading> {
    app.ports.objects.parts()?;
    let live = Arc::new(Live {
        tenant,
        call,
        path,
        over: AtomicBool::new(false),
        busy: AtomicBool::new(false),
        last: AtomicU64::new(0),
        not_before: AtomicI64::new(0),
        progress: Arc::default(),
    });
    app.uploads.live().insert(call, live.clone());
    if let Some(grown) = app.uploads.grown.get() {
        grown.raise();
    }
    Some(Uploading { live })
}

/// Nothing of a call is being sent while this is held.
pub struct Quiet {
    _progress: Option<OwnedMutexGuard<Progress>>,
}

/// Stops the upload of a live call, and waits for requests in flight.
pub async fn stop(app: &App, call: Id<Call>) -> Quiet {
    let live = app.uploads.live().get(&call).cloned();
    let Some(live) = live else { return Quiet { _progress: None } };
    live.over.store(true, Ordering::SeqCst);
    let progress = app.clock.outside(live.progress.clone().lock_owned()).await;
    app.uploads.live().remove(&call);
    Quiet { _progress: Some(progress) }
}

fn parts(app: &App) -> Result<&dyn ObjectParts, Failure> {
    app.ports.objects.parts().ok_or_else(|| Failure::internal("a store that knows no parts"))
}

/// A failure of the bucket.
fn away(why: ProviderError) -> Failure {
    Failure { cause: Some(why.to_string()), ..Failure::plain(error_codes::UNAVAILABLE) }
}

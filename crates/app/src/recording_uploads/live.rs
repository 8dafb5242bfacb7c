//! Uploading the recordings of this node's live calls.

use std::io::SeekFrom;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::time::SECOND;
use serde_json::json;
use store::erasure::ERASED;
use store::recording_uploads::{self as uploads, UploadRow};
use store::{calls, workspaces};
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::finish::{self, Part};
use super::{GROWN, HOLD, Live, PART, PER_PART, PIECE, Progress, SURE, WAV, away, piece_key};
use crate::{App, Failure, access};

/// Pieces that are announced in the store in advance.
const ANNOUNCED: i64 = 4;
/// Interval to the next round of a recording that is up to date: less than the poll interval.
const REST: i64 = GROWN - SECOND;
/// The first backoff after a failure; it doubles up to sixteen times as long.
const PAUSE: i64 = 5 * SECOND;

/// Recordings of this node that are due.
pub struct Turns {
    /// The longest waiting, each reserved for the caller until [`advance`] has ended.
    pub now: Vec<Arc<Live>>,
    /// Whether there was no room for others.
    pub more: bool,
    /// Whether any recording of this node grows.
    pub any: bool,
}

/// Runs a round of this node's recordings.
pub fn turns(app: &App, room: usize) -> Turns {
    let now = app.clock.now().0;
    let mut live = app.uploads.live();
    live.retain(|_, one| !one.over.load(Ordering::SeqCst) || one.busy.load(Ordering::SeqCst));
    let due =
        |one: &&Arc<Live>| !one.busy.load(Ordering::SeqCst) && one.not_before.load(Ordering::SeqCst) <= now;
    let mut found: Vec<Arc<Live>> = live.values().filter(due).cloned().collect();
    found.sort_by_key(|one| one.last.load(Ordering::SeqCst));
    let more = found.len() > room;
    found.truncate(room);
    for one in &found {
        one.busy.store(true, Ordering::SeqCst);
    }
    Turns { now: found, more, any: !live.is_empty() }
}

/// Sends everything that is due of one recording.
pub async fn advance(app: &App, live: Arc<Live>) {
    let _reserved = Reserved(&live);
    live.last.store(app.uploads.turns.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    // Held by the task that ends the upload.
    let Ok(mut progress) = live.progress.clone().try_lock_owned() else { return };
    while !live.over.load(Ordering::SeqCst) && !app.clock.stopping() {
        match one(app, &live, &mut progress).await {
            Ok(true) => progress.failures = 0,
            Ok(false) => return live.rest(app, REST),
            Err(failure) => {
                live.rest(app, PAUSE << progress.failures.min(4));
                progress.failures += 1;
                failure
                    .warn_about(live.call, "a recording could not be sent while it grows; it is tried again");
                return;
            }
        }
    }
}

struct Reserved<'a>(&'a Live);

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::SeqCst);
    }
}

/// Sends one piece or one part, if one is due.
async fn one(app: &App, live: &Live, progress: &mut Progress) -> Result<bool, Failure> {
    let size = match app.clock.outside(tokio::fs::metadata(&live.path)).await {
        Ok(found) => found.len(),
        Err(why) => return Err(Failure::internal(format!("the file of a recording: {why}"))),
    };
    let part = progress.row.as_ref().map_or(0, |row| finish::tags(row).len() as u64) + 2;
    let (piece, whole) = (progress.sent < size / PIECE, part * PER_PART <= progress.sent);
    if !piece && !whole {
        return Ok(false);
    }
    if !hold(app, live, progress).await? {
        return Ok(live.end());
    }
    let Some(row) = &mut progress.row else { return Ok(false) };
    if piece {
        let sound = read(app, &live.path, progress.sent * PIECE, PIECE).await?;
        let key = piece_key(row.recording, progress.sent);
        app.clock.outside(app.ports.objects.put(&key, WAV, sound)).await.map_err(away)?;
        progress.sent += 1;
        return Ok(true);
    }
    let Some(upload) = finish::open(app, row).await? else { return Ok(live.end()) };
    let number = u16::try_from(part).map_err(|_| Failure::internal("a recording of too many parts"))?;
    let sound = read(app, &live.path, (part - 1) * PART, PART).await?;
    match finish::add(app, row, &upload, number, sound).await? {
        Part::Added => Ok(true),
        // The next turn begins another one.
        Part::Gone => finish::forget(app, row).await,
        Part::NotOurs => Ok(live.end()),
    }
}

impl Live {
    fn rest(&self, app: &App, time: i64) {
        self.not_before.store(app.clock.now().plus(time).0, Ordering::SeqCst);
    }

    /// Nothing more is sent.
    fn end(&self) -> bool {
        self.over.store(true, Ordering::SeqCst);
        false
    }
}

/// Renews the lease of this node for this recording, and stores in advance how many pieces there may be. `false`:
/// nothing more may be sent.
async fn hold(app: &App, live: &Live, progress: &mut Progress) -> Result<bool, Failure> {
    let (now, wanted) = (app.clock.now(), progress.sent as i64 + 1);
    let known = progress.row.as_ref();
    if known.is_some_and(|row| row.pieces >= wanted && row.held_until >= now.plus(SURE)) {
        return Ok(true);
    }
    let begun = known.is_some();
    let (env, node) = (app.call_env(), app.ports.node.to_string());
    let (tenant, call) = (live.tenant, live.call);
    let (until, pieces) = (now.plus(HOLD), wanted + ANNOUNCED - 1);
    let held = app
        .store
        .tx(move |tx| {
            let row = match uploads::get_for_update(&mut tx.of(tenant), call)? {
                Some(row) if row.discarded || row.holder != node => return Ok(None),
                Some(row) => {
                    uploads::extend_lease(&mut tx.of(tenant), call, now, until, pieces)?;
                    UploadRow { seen_at: now, held_until: until, pieces, ..row }
                }
                // It was there, and everything of it has been removed.
                None if begun => return Ok(None),
                None => {
                    let workspace = workspaces::get(&mut tx.of(tenant))?;
                    let wanted = calls::find(&mut tx.of(tenant), call)?.is_some_and(|row| {
                        let erased = [&row.to_number, &row.from_number].into_iter().any(|n| n == ERASED);
                        row.progress.ended_at.is_none() && !erased
                    });
                    if !wanted || !workspace.is_some_and(|found| access::feature_on(&found, "recording")) {
                        return Ok(None);
                    }
                    let row = UploadRow {
                        call,
                        workspace: tenant,
                        recording: env.context.ids.make(),
                        node: node.clone(),
                        holder: node.clone(),
                        held_until: until,
                        seen_at: now,
                        discarded: false,
                        upload: None,
                        tags: json!([]),
                        pieces,
                        created_at: env.context.now,
                    };
                    uploads::insert(tx, &row)?;
                    row
                }
            };
            Ok::<_, Failure>(Some(row))
        })
        .await?;
    progress.row = held;
    if !begun && progress.row.is_some() {
        // From now on this node has a lease to renew.
        app.uploads.look_again();
    }
    Ok(progress.row.is_some())
}

/// Bytes of a file, all of which are there.
pub(super) async fn read(app: &App, path: &Path, from: u64, length: u64) -> Result<Vec<u8>, Failure> {
    let reading = async {
        let mut file = tokio::fs::File::open(path).await?;
        file.seek(SeekFrom::Start(from)).await?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact(&mut bytes).await?;
        Ok::<_, std::io::Error>(bytes)
    };
    let read = app.clock.outside(reading).await;
    read.map_err(|why| Failure::internal(format!("the file of a recording: {why}")))
}

//! Ends an upload whose call is over, whose person was erased, or whose node is gone.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::call::RecordedFile;
use domain::call::after::{AfterCallStep, NODE_PATIENCE};
use domain::time::Timestamp;
use store::calls::{self, CallRow};
use store::recording_uploads::{self as uploads, UploadRow};
use store::recordings::{self as rows, RecordingRow};
use store::{Tx, after_calls, workspaces};

use super::finish::{self, Source, spooled};
use super::{HOLD, LEFT, MISSED, PATIENCE, PIECE, WAV, away, parts, piece_key};
use crate::owed_steps::person_is_erased;
use crate::recordings::{self, key_of};
use crate::{App, Failure, access};

/// The action for an upload.
enum Verdict {
    /// Somebody else handles it, or the call goes on.
    Later,
    /// Nothing of it may be left.
    Discard,
    /// The recording is an object; the rest of the upload is deleted.
    Clean,
    /// The file is here.
    Adopt,
    /// The bucket has what there is.
    Complete(Box<CallRow>),
}

/// Takes over uploads whose lease has expired, and returns when the next one may be due.
pub async fn take_over(app: &App, limit: usize) -> Result<Option<Timestamp>, Failure> {
    let (now, node) = (app.clock.now(), app.ports.node.clone());
    let limit = i64::try_from(limit).unwrap_or(1);
    let name = node.clone();
    let due = app.store.read(move |tx| uploads::next_due(tx, &name, PATIENCE)).await?;
    if due.is_none_or(|due| due > now) || limit == 0 {
        return Ok(due);
    }
    let taken =
        app.store.tx(move |tx| uploads::take(tx, &node, now, now.plus(-PATIENCE), now.plus(HOLD), limit));
    if taken.await? > 0 {
        tracing::info!("uploads of recordings were taken over from a node that is gone");
    }
    Ok(Some(now.plus(LEFT)))
}

/// Uploads of this node that are due now; the node goes on renewing all of its leases. And whether there are any.
pub async fn held(app: &App) -> Result<(Vec<UploadRow>, bool), Failure> {
    let (now, node) = (app.clock.now(), app.ports.node.clone());
    let name = node.clone();
    let mut found = app.store.read(move |tx| uploads::held_by(tx, &name)).await?;
    let (any, half) = (!found.is_empty(), now.plus(HOLD / 2));
    if found.iter().any(|row| !row.discarded && row.held_until < half) {
        app.store.tx(move |tx| uploads::renew(tx, &node, now, now.plus(HOLD))).await?;
    }
    let live = app.uploads.live();
    let mut resting = app.uploads.resting();
    // What was marked meanwhile does not wait.
    resting.retain(|call, (until, discarded)| {
        *until > now && found.iter().any(|row| row.call == *call && row.discarded == *discarded)
    });
    found.retain(|row| {
        if let Some(growing) = live.get(&row.call) {
            if row.discarded {
                growing.over.store(true, Ordering::SeqCst);
            }
            // Requests in flight are waited for when the upload is settled.
            return row.discarded || growing.over.load(Ordering::SeqCst);
        }
        !resting.contains_key(&row.call)
    });
    Ok((found, any))
}

/// Settles one upload of this node. A failure is retried after a pause.
pub async fn settle(app: &Arc<App>, row: UploadRow) {
    let (call, discarded) = (row.call, row.discarded);
    let rest = match settled(app, row).await {
        Ok(rest) => rest,
        Err(failure) => {
            failure.warn_about(call, "the upload of a recording could not be settled; it is tried again");
            Some(LEFT)
        }
    };
    if let Some(rest) = rest {
        app.uploads.resting().insert(call, (app.clock.now().plus(rest), discarded));
    }
}

/// The pause, if it is not settled.
async fn settled(app: &App, row: UploadRow) -> Result<Option<i64>, Failure> {
    let file = spooled(app, row.call);
    let size = app.clock.outside(tokio::fs::metadata(&file)).await.map(|found| found.len()).ok();
    let here = size.is_some();
    let verdict = judge(app, row.clone(), here).await?;
    if matches!(verdict, Verdict::Later) {
        return Ok(Some(LEFT));
    }
    // What was on its way is in the row now.
    let _quiet = super::stop(app, row.call).await;
    let (tenant, call) = (row.workspace, row.call);
    let found = app.of(tenant).tx(move |tx| uploads::get_for_update(tx, call)).await?;
    let Some(row) = found.filter(|row| row.holder == *app.ports.node) else { return Ok(None) };
    match verdict {
        Verdict::Later => Ok(Some(LEFT)),
        Verdict::Discard => clean(app, row, true).await,
        Verdict::Clean => clean(app, row, false).await,
        Verdict::Adopt => {
            let duration_ms = recordings::length(size.unwrap_or(0));
            let file = RecordedFile { path: file.display().to_string(), duration_ms };
            recordings::adopt(app, row.call, file, 0).await?;
            Ok(Some(LEFT))
        }
        Verdict::Complete(call) => complete(app, row, &call).await,
    }
}

/// Decides what to do. `here`: the file is on this node.
async fn judge(app: &App, row: UploadRow, here: bool) -> Result<Verdict, Failure> {
    let node = app.ports.node.clone();
    app.store
        .tx(move |tx| {
            let (tenant, id) = (row.workspace, row.call);
            let call = calls::get_for_update(&mut tx.of(tenant), id)?;
            let kept = rows::of_call(&mut tx.of(tenant), id)?;
            let done = kept.as_ref().is_some_and(|found| found.kept_at.is_some());
            let doer = after_calls::doer(&mut tx.of(tenant), id, AfterCallStep::Recording)?;
            let Some(row) = uploads::get_for_update(&mut tx.of(tenant), id)? else {
                return Ok(Verdict::Later);
            };
            if row.holder != *node {
                return Ok(Verdict::Later);
            }
            if row.discarded {
                return Ok(Verdict::Discard);
            }
            let Some(call) = call else { return discard(tx, &row) };
            if call.progress.ended_at.is_none() {
                return Ok(Verdict::Later);
            }
            if done {
                return Ok(Verdict::Clean);
            }
            if doer.flatten().as_deref() == Some(&*node) {
                // The step makes the object of the file, or finds that it is not there.
                return Ok(Verdict::Later);
            }
            if !may_keep(tx, &call)? {
                return discard(tx, &row);
            }
            Ok::<_, Failure>(if here { Verdict::Adopt } else { Verdict::Complete(Box::new(call)) })
        })
        .await
}

fn discard(tx: &mut Tx<'_>, row: &UploadRow) -> Result<Verdict, Failure> {
    uploads::discard(&mut tx.of(row.workspace), &[row.call])?;
    Ok(Verdict::Discard)
}

/// Whether the recording of a call that is over may be kept.
fn may_keep(tx: &mut Tx<'_>, call: &CallRow) -> Result<bool, Failure> {
    let workspace = workspaces::get(&mut tx.of(call.workspace))?;
    Ok(call.progress.answered_at.is_some()
        && workspace.is_some_and(|workspace| access::feature_on(&workspace, "recording"))
        && !person_is_erased(tx, call)?)
}

/// Makes the recording from the bucket: the node with the file is gone, or the file is.
async fn complete(app: &App, mut row: UploadRow, call: &CallRow) -> Result<Option<i64>, Failure> {
    let pieces = secured(app, &row).await?;
    let (total, length) = (pieces * PIECE, recordings::length(pieces * PIECE));
    let ended = call.progress.ended_at.unwrap_or(row.created_at);
    // The call may have been over for longer than anybody noticed.
    let talked = call.progress.answered_at.map_or(0, |answered| ended.min(row.seen_at).0 - answered.0);
    let much = pieces == 0 || talked - length > MISSED;
    if much && row.node != *app.ports.node && app.clock.now() < ended.plus(NODE_PATIENCE) {
        return give_back(app, row).await;
    }
    if pieces == 0 {
        tracing::error!(call = %row.call, "a recording is lost: nothing of it reached the bucket");
        let (tenant, call, id) = (row.workspace, row.call, row.recording);
        app.of(tenant)
            .tx(move |tx| {
                rows::remove(tx, id)?;
                uploads::discard(tx, &[call])
            })
            .await?;
        return Ok(Some(0));
    }
    let Some(recording) = announced(app, row.clone(), length).await? else { return Ok(Some(0)) };
    if !finish::finish(app, &mut row, &Source::Pieces, total).await? {
        return Ok(Some(0));
    }
    let bytes = i64::try_from(total).unwrap_or(i64::MAX);
    if !recordings::kept(app, &recording, bytes, None).await? {
        // The person was erased meanwhile; who did so has marked the upload.
        return Ok(Some(0));
    }
    tracing::info!(call = %row.call, seconds = length / 1000, "a recording was made of what the bucket has");
    clean(app, row, false).await
}

/// How many pieces lie in the bucket, one after the other.
async fn secured(app: &App, row: &UploadRow) -> Result<u64, Failure> {
    let mut count = u64::try_from(row.pieces).unwrap_or(0);
    // They were sent in order, and each was there before the next one began.
    while count > 0 {
        let key = piece_key(row.recording, count - 1);
        if app.clock.outside(parts(app)?.size(&key)).await.map_err(away)? == Some(PIECE) {
            break;
        }
        count -= 1;
    }
    Ok(count)
}

/// Leaves the upload to the node that has the file; another one checks again after [`PATIENCE`].
async fn give_back(app: &App, row: UploadRow) -> Result<Option<i64>, Failure> {
    let (now, node) = (app.clock.now(), app.ports.node.clone());
    app.of(row.workspace).tx(move |tx| uploads::give_back(tx, row.call, &node, now)).await?;
    Ok(None)
}

/// Stores the recording before its object is made, so that an erasure finds it. `None` when it may not be kept, or
/// another node has it.
async fn announced(app: &App, row: UploadRow, length: i64) -> Result<Option<RecordingRow>, Failure> {
    let (node, now) = (app.ports.node.clone(), app.clock.now());
    app.store
        .tx(move |tx| {
            let (tenant, id) = (row.workspace, row.call);
            let Some(call) = calls::get_for_update(&mut tx.of(tenant), id)? else { return Ok(None) };
            if !may_keep(tx, &call)? {
                discard(tx, &row)?;
                return Ok(None);
            }
            let found = rows::of_call(&mut tx.of(tenant), id)?;
            let ours = uploads::get_for_update(&mut tx.of(tenant), id)?;
            if !ours.is_some_and(|row| row.holder == *node && !row.discarded) {
                return Ok(None);
            }
            if let Some(found) = found {
                rows::set_duration(&mut tx.of(tenant), found.id, length)?;
                return Ok(Some(found));
            }
            let recording = RecordingRow {
                id: row.recording,
                workspace: tenant,
                call: id,
                content_type: WAV.to_owned(),
                bytes: None,
                duration_ms: length,
                created_at: call.progress.ended_at.unwrap_or(now),
                kept_at: None,
            };
            rows::insert(tx, &recording)?;
            Ok::<_, Failure>(Some(recording))
        })
        .await
}

/// Deletes what the bucket has of an upload beside the object, or with it, and then the row.
async fn clean(app: &App, row: UploadRow, with_object: bool) -> Result<Option<i64>, Failure> {
    let objects = &app.ports.objects;
    match row.upload.as_deref() {
        Some("") => finish::abort_unknown(app, &row).await?,
        Some(id) => {
            let key = key_of(row.recording);
            app.clock.outside(parts(app)?.abort(&key, id)).await.map_err(away)?;
        }
        None => {}
    }
    for number in 0..u64::try_from(row.pieces).unwrap_or(0) {
        let key = piece_key(row.recording, number);
        app.clock.outside(objects.delete(&key)).await.map_err(away)?;
    }
    if with_object {
        app.clock.outside(objects.delete(&key_of(row.recording))).await.map_err(away)?;
    }
    let node = app.ports.node.clone();
    app.of(row.workspace).tx(move |tx| uploads::remove(tx, row.call, &node)).await?;
    Ok(None)
}

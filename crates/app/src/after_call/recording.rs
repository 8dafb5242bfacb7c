//! The steps `recording` and `discard`.

use std::path::Path;
use std::sync::Arc;

use store::after_calls::{self, StepRow};
use store::recordings::RecordingRow;

use super::step::StepEnd;
use crate::recording_uploads::Sent;
use crate::{App, Failure, recording_uploads, recordings};

/// Uploads the file as an object and deletes the file. Parts that were sent during the call are used
/// (`recording_uploads`); otherwise it is sent whole. After a crash the next run continues from the state: file without
/// the record → put again; record and file → delete the file; neither → end the step.
pub(super) async fn keep(app: &Arc<App>, row: &StepRow) -> Result<StepEnd, Failure> {
    let Some(id) = row.recording else { return Ok(StepEnd::Never) };
    let (tenant, known) = (row.workspace, row.recording);
    let found = app.of(tenant).read(move |tx| store::recordings::get(tx, id)).await?;
    match found {
        Some(recording) if recording.kept_at.is_none() => {
            // Nothing is being sent any more, and nothing begins.
            let _quiet = recording_uploads::stop(app, row.call).await;
            let key = recordings::key(&recording);
            let bytes = match send(app, row, &recording, &key).await? {
                Way::Sent(bytes) => bytes,
                Way::Again => return Ok(StepEnd::Again),
                Way::NoFile => return Ok(StepEnd::Never),
                Way::LeftToBucket => {
                    let ended = finish(app, row).await;
                    app.uploads.settle_soon(row.call);
                    return ended;
                }
            };
            let peaks = match &row.file {
                Some(file) => recordings::measure_file(app, file).await?,
                None => None,
            };
            if !recordings::kept(app, &recording, bytes, peaks).await? {
                // The person was erased meanwhile.
                drop_object(app, &key).await?;
            }
            app.uploads.settle_soon(row.call);
        }
        Some(_) => {}
        None => {
            let Some(id) = known else { return Ok(StepEnd::Never) };
            drop_object(app, &recordings::key_of(id)).await?;
        }
    }
    remove_file(app, row).await?;
    finish(app, row).await
}

/// The state of the file.
enum Way {
    /// It is an object of this many bytes.
    Sent(i64),
    /// It may be one later.
    Again,
    NoFile,
    /// It is lost. The object is made of what the bucket has.
    LeftToBucket,
}

/// Uploads the file as an object.
async fn send(app: &App, row: &StepRow, recording: &RecordingRow, key: &str) -> Result<Way, Failure> {
    let Some(file) = &row.file else { return Ok(Way::NoFile) };
    match recording_uploads::send_file(app, row.workspace, row.call, Path::new(file)).await? {
        Sent::Whole(bytes) => return Ok(Way::Sent(i64::try_from(bytes).unwrap_or(i64::MAX))),
        Sent::NotOurs => return Ok(Way::Again),
        Sent::NoFile => return Ok(Way::LeftToBucket),
        Sent::Nothing => {}
    }
    let Some(sound) = read_file(app, row).await? else {
        tracing::error!(call = %row.call, "the file of a recording is not there");
        return Ok(Way::NoFile);
    };
    let bytes = i64::try_from(sound.len()).unwrap_or(i64::MAX);
    if let Err(why) = app.clock.outside(app.ports.objects.put(key, &recording.content_type, sound)).await {
        tracing::warn!(call = %row.call, %why, "a recording could not be kept yet");
        return Ok(Way::Again);
    }
    Ok(Way::Sent(bytes))
}

/// Deletes an object.
pub(super) async fn discard(app: &Arc<App>, row: &StepRow) -> Result<StepEnd, Failure> {
    if let Some(key) = &row.file {
        drop_object(app, key).await?;
    }
    finish(app, row).await
}

/// The recording is lost: no event is sent and it is not shown, and its file is deleted if it is here. Pieces in the
/// bucket of a file of another node stay, and become the recording.
pub(super) async fn give_up(app: &App, row: &StepRow) -> Result<(), Failure> {
    if let Some(id) = row.recording {
        let (tenant, call) = (row.workspace, row.call);
        let ours = row.node.as_deref() == Some(&*app.ports.node);
        let lost = app.of(tenant).tx(move |tx| {
            let upload = store::recording_uploads::get_for_update(tx, call)?;
            if !ours && upload.is_some_and(|upload| !upload.discarded) {
                return Ok(false);
            }
            store::recordings::remove(tx, id)?;
            store::recording_uploads::discard(tx, &[call])?;
            Ok::<_, Failure>(true)
        });
        if lost.await? {
            drop_object(app, &recordings::key_of(id)).await?;
        }
        app.uploads.settle_soon(call);
    }
    remove_file(app, row).await?;
    finish(app, row).await.map(|_| ())
}

async fn finish(app: &App, row: &StepRow) -> Result<StepEnd, Failure> {
    let row = row.clone();
    app.of(row.workspace).tx(move |tx| after_calls::finish(tx, &row)).await?;
    Ok(StepEnd::Yes)
}

async fn drop_object(app: &App, key: &str) -> Result<(), Failure> {
    let dropped = app.clock.outside(app.ports.objects.delete(key)).await;
    dropped.map_err(|why| Failure {
        cause: Some(why.to_string()),
        ..Failure::plain(api::error_codes::UNAVAILABLE)
    })
}

/// The sound; `None` when the file is not here.
async fn read_file(app: &App, row: &StepRow) -> Result<Option<Vec<u8>>, Failure> {
    let Some(file) = &row.file else { return Ok(None) };
    match app.clock.outside(tokio::fs::read(file)).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(Failure::internal(format!("the file of a recording: {why}"))),
    }
}

/// Deletes the file, if this is its node.
async fn remove_file(app: &App, row: &StepRow) -> Result<(), Failure> {
    let Some(file) = row.file.as_ref().filter(|_| row.node.as_deref() == Some(&*app.ports.node)) else {
        return Ok(());
    };
    match app.clock.outside(tokio::fs::remove_file(file)).await {
        Ok(()) => Ok(()),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(why) => Err(Failure::internal(format!("the file of a recording cannot be removed: {why}"))),
    }
}

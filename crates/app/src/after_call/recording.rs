//! The steps `recording` and `discard`.

use std::sync::Arc;

use store::after_calls::{self, StepRow};

use super::step::StepEnd;
use crate::{App, Failure, recordings};

/// Makes an object of the file and removes the file. Wherever a crash falls, the next run goes on from what
/// is there: the file without the note → put again; the note and the file → the file goes; neither → the step
/// goes.
pub(super) async fn keep(app: &Arc<App>, row: &StepRow) -> Result<StepEnd, Failure> {
    let Some(id) = row.recording else { return Ok(StepEnd::Never) };
    let (tenant, known) = (row.workspace, row.recording);
    let found = app.store.read(move |tx| store::recordings::get(tx, tenant, id)).await?;
    match found {
        Some(recording) if recording.kept_at.is_none() => {
            let Some(sound) = read_file(app, row).await? else {
                tracing::error!(call = %row.call, "the file of a recording is not there");
                return Ok(StepEnd::Never);
            };
            let key = recordings::key(&recording);
            let bytes = i64::try_from(sound.len()).unwrap_or(i64::MAX);
            if let Err(why) =
                app.clock.outside(app.ports.objects.put(&key, &recording.content_type, sound)).await
            {
                tracing::warn!(call = %row.call, %why, "a recording could not be kept yet");
                return Ok(StepEnd::Again);
            }
            if !recordings::kept(app, &recording, bytes).await? {
                // The person was erased while it travelled.
                drop_object(app, &key).await?;
            }
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

/// Drops an object.
pub(super) async fn discard(app: &Arc<App>, row: &StepRow) -> Result<StepEnd, Failure> {
    if let Some(key) = &row.file {
        drop_object(app, key).await?;
    }
    finish(app, row).await
}

/// The recording is lost: it is not announced and not shown, and its file goes if it is here.
pub(super) async fn give_up(app: &App, row: &StepRow) -> Result<(), Failure> {
    let (tenant, id) = (row.workspace, row.recording);
    if let Some(id) = id {
        app.store.tx(move |tx| store::recordings::remove(tx, tenant, id)).await?;
        drop_object(app, &recordings::key_of(id)).await?;
    }
    remove_file(app, row).await?;
    finish(app, row).await.map(|_| ())
}

async fn finish(app: &App, row: &StepRow) -> Result<StepEnd, Failure> {
    let row = row.clone();
    app.store.tx(move |tx| after_calls::finish(tx, row.workspace, &row)).await?;
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

/// Removes the file, if this is its node.
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

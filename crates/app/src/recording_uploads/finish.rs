//! Making the object of a recording, from its file or from the pieces in the bucket.

use std::path::{Path, PathBuf};

use domain::ids::{Call, Id};
use domain::ports::{Completed, ProviderFault};
use domain::tenant::Tenant;
use serde_json::json;
use store::recording_uploads::{self as uploads, UploadRow};

use super::{PART, PIECE, WAV, away, live, parts, piece_key};
use crate::recordings::key_of;
use crate::{App, Failure};

/// The source of an object's sound.
pub(super) enum Source<'a> {
    /// The file of this node.
    File(&'a Path),
    /// The pieces in the bucket.
    Pieces,
}

/// The result of a part.
pub(super) enum Part {
    /// It is in the bucket, and its tag is stored.
    Added,
    /// The bucket does not know this upload.
    Gone,
    /// This node has lost the lease.
    NotOurs,
}

/// The result for a file that should become an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It is one, of this many bytes.
    Whole(u64),
    /// Nothing of it was sent before the end: it is sent as any other object.
    Nothing,
    /// Another node makes the object from the bucket, or nothing of it may be kept.
    NotOurs,
    /// The file is not there; the object is made from the bucket.
    NoFile,
}

enum Attempt {
    Done,
    NotOurs,
    /// The upload is lost or invalid; another one may succeed.
    Anew,
}

/// The tags of the parts from the second on.
pub(super) fn tags(row: &UploadRow) -> Vec<String> {
    let list = row.tags.as_array().into_iter().flatten();
    list.filter_map(|tag| tag.as_str().map(str::to_owned)).collect()
}

/// Makes an object of the file of a call that is over, if parts of it were sent before.
///
/// # Errors
/// Those of the store and of the bucket: it may be retried.
pub async fn send_file(app: &App, tenant: Tenant, call: Id<Call>, path: &Path) -> Result<Sent, Failure> {
    if app.ports.objects.parts().is_none() {
        return Ok(Sent::Nothing);
    }
    let found = app.of(tenant).tx(move |tx| uploads::get_for_update(tx, call)).await?;
    let Some(mut row) = found else { return Ok(Sent::Nothing) };
    if row.discarded || row.holder != *app.ports.node {
        return Ok(Sent::NotOurs);
    }
    let total = match app.clock.outside(tokio::fs::metadata(path)).await {
        Ok(found) => found.len(),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Sent::NoFile),
        Err(why) => return Err(Failure::internal(format!("the file of a recording: {why}"))),
    };
    let done = finish(app, &mut row, &Source::File(path), total).await?;
    Ok(if done { Sent::Whole(total) } else { Sent::NotOurs })
}

/// Makes the object. Returns whether it did: not after this node has lost the lease.
pub(super) async fn finish(
    app: &App,
    row: &mut UploadRow,
    source: &Source<'_>,
    total: u64,
) -> Result<bool, Failure> {
    // No second part was completed while the call lasted: one request is cheaper than four.
    let small = row.upload.is_none() && total <= 2 * PART && matches!(source, Source::File(_));
    if total > PART && !small {
        for _ in 0..2 {
            match attempt(app, row, source, total).await? {
                Attempt::Done => return Ok(true),
                Attempt::NotOurs => return Ok(false),
                Attempt::Anew => tracing::warn!(call = %row.call, "the parts of a recording are sent again"),
            }
        }
        if matches!(source, Source::Pieces) {
            return Err(Failure::internal("the bucket does not make an object of the parts of a recording"));
        }
        // The content of the file can still be sent at once.
    }
    let sound = read(app, row, source, 0, total, total).await?;
    let key = key_of(row.recording);
    app.clock.outside(app.ports.objects.put(&key, WAV, sound)).await.map_err(away)?;
    Ok(true)
}

async fn attempt(
    app: &App,
    row: &mut UploadRow,
    source: &Source<'_>,
    total: u64,
) -> Result<Attempt, Failure> {
    let Some(upload) = open(app, row).await? else { return Ok(Attempt::NotOurs) };
    // A last part that was smaller, from an attempt that came to nothing, may not fit any more.
    let mut known = tags(row);
    known.truncate(usize::try_from(total / PART - 1).unwrap_or(usize::MAX));
    row.tags = json!(known);
    let count = u16::try_from(total.div_ceil(PART))
        .map_err(|_| Failure::internal("a recording of too many parts"))?;
    for number in tags(row).len() as u16 + 2..=count {
        let from = u64::from(number - 1) * PART;
        let sound = read(app, row, source, from, PART.min(total - from), total).await?;
        match add(app, row, &upload, number, sound).await? {
            Part::Added => {}
            Part::Gone => return settled(app, row, total).await,
            Part::NotOurs => return Ok(Attempt::NotOurs),
        }
    }
    // The first part has the length of the whole at its beginning.
    let (key, sound) = (key_of(row.recording), read(app, row, source, 0, PART, total).await?);
    let added = app.clock.outside(parts(app)?.add(&key, &upload, 1, sound)).await.map_err(away)?;
    let Some(first) = added else { return settled(app, row, total).await };
    let all: Vec<String> = std::iter::once(first).chain(tags(row)).collect();
    match app.clock.outside(parts(app)?.complete(&key, &upload, &all)).await.map_err(away)? {
        Completed::Done => Ok(Attempt::Done),
        Completed::Gone => settled(app, row, total).await,
        Completed::Unlike => {
            app.clock.outside(parts(app)?.abort(&key, &upload)).await.map_err(away)?;
            lost(app, row).await
        }
    }
}

/// An upload is gone: it was completed, and the answer got lost, if the object is there.
async fn settled(app: &App, row: &mut UploadRow, total: u64) -> Result<Attempt, Failure> {
    let key = key_of(row.recording);
    let size = app.clock.outside(parts(app)?.size(&key)).await.map_err(away)?;
    if size == Some(total) { Ok(Attempt::Done) } else { lost(app, row).await }
}

async fn lost(app: &App, row: &mut UploadRow) -> Result<Attempt, Failure> {
    Ok(if forget(app, row).await? { Attempt::Anew } else { Attempt::NotOurs })
}

/// The id of the multipart upload, which is created if necessary; `None` when this node has lost the lease. The store
/// has a marker before it is created: a lost answer leaves an upload that can be found.
pub(super) async fn open(app: &App, row: &mut UploadRow) -> Result<Option<String>, Failure> {
    match row.upload.as_deref() {
        Some("") => abort_unknown(app, row).await?,
        Some(known) => return Ok(Some(known.to_owned())),
        None => {}
    }
    row.upload = Some(String::new());
    row.tags = json!([]);
    if !note(app, row).await? {
        return Ok(None);
    }
    let key = key_of(row.recording);
    let id = app.clock.outside(parts(app)?.begin(&key, WAV)).await.map_err(away)?;
    row.upload = Some(id.clone());
    Ok(note(app, row).await?.then_some(id))
}

/// Aborts uploads of this recording whose ids were lost. Nothing was sent into them. Credentials without the right to
/// list lose nothing by leaving them.
pub(super) async fn abort_unknown(app: &App, row: &UploadRow) -> Result<(), Failure> {
    let key = key_of(row.recording);
    let begun = match app.clock.outside(parts(app)?.begun(&key)).await {
        Err(why) if why.fault == ProviderFault::Forbidden => {
            tracing::warn!(call = %row.call, %why, "an upload without parts may be left in the bucket");
            return Ok(());
        }
        listed => listed.map_err(away)?,
    };
    for id in begun {
        app.clock.outside(parts(app)?.abort(&key, &id)).await.map_err(away)?;
    }
    Ok(())
}

/// Sends a part from the second on and stores its tag.
pub(super) async fn add(
    app: &App,
    row: &mut UploadRow,
    upload: &str,
    number: u16,
    sound: Vec<u8>,
) -> Result<Part, Failure> {
    let key = key_of(row.recording);
    let added = app.clock.outside(parts(app)?.add(&key, upload, number, sound)).await.map_err(away)?;
    let Some(tag) = added else { return Ok(Part::Gone) };
    let mut known = tags(row);
    known.push(tag);
    row.tags = json!(known);
    Ok(if note(app, row).await? { Part::Added } else { Part::NotOurs })
}

/// Drops a multipart upload that the bucket does not know any more. Returns whether this node still has the lease.
pub(super) async fn forget(app: &App, row: &mut UploadRow) -> Result<bool, Failure> {
    row.upload = None;
    row.tags = json!([]);
    note(app, row).await
}

/// Stores the progress of the multipart upload. Returns whether this node still has the lease.
async fn note(app: &App, row: &UploadRow) -> Result<bool, Failure> {
    let (row, node) = (row.clone(), app.ports.node.clone());
    let noted = app
        .of(row.workspace)
        .tx(move |tx| uploads::note_parts(tx, row.call, &node, row.upload.as_deref(), &row.tags));
    Ok(noted.await?)
}

/// Sound of a recording of so many bytes in all.
async fn read(
    app: &App,
    row: &UploadRow,
    source: &Source<'_>,
    from: u64,
    length: u64,
    total: u64,
) -> Result<Vec<u8>, Failure> {
    let mut sound = match source {
        Source::File(path) => live::read(app, path, from, length).await?,
        Source::Pieces => {
            let mut sound = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
            for number in from / PIECE..(from + length).div_ceil(PIECE) {
                let key = piece_key(row.recording, number);
                let piece = app.clock.outside(app.ports.objects.get(&key)).await.map_err(away)?;
                sound.extend(piece.ok_or_else(|| Failure::internal("a piece of a recording is not there"))?);
            }
            sound
        }
    };
    if from == 0 {
        tell_length(&mut sound, total);
    }
    Ok(sound)
}

/// Writes the length of the whole into the beginning of a WAV file; anything else stays as it is.
fn tell_length(sound: &mut [u8], total: u64) {
    const HEAD: usize = 44;
    let Some(head) = sound.get_mut(..HEAD) else { return };
    if &head[..4] != b"RIFF" || &head[8..12] != b"WAVE" || &head[36..40] != b"data" {
        return;
    }
    let (Ok(riff), Ok(data)) = (u32::try_from(total - 8), u32::try_from(total - HEAD as u64)) else { return };
    head[4..8].copy_from_slice(&riff.to_le_bytes());
    head[40..44].copy_from_slice(&data.to_le_bytes());
}

/// The file of a call, where calls of this node are recorded.
pub(super) fn spooled(app: &App, call: Id<Call>) -> PathBuf {
    crate::recordings::spool(&app.config).join(format!("{call}.wav"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_tells_the_length_of_the_whole() {
        let mut head = [&b"RIFF____WAVE"[..], &[7; 24], b"data____", &[1, 2, 3, 4]].concat();
        let before = head.clone();
        tell_length(&mut head, 1_044);
        assert_eq!(
            (&head[4..8], &head[40..44]),
            (&1_036_u32.to_le_bytes()[..], &1_000_u32.to_le_bytes()[..])
        );
        assert_eq!((&head[8..40], &head[44..]), (&before[8..40], &before[44..]), "and nothing else changes");
        for mut other in [b"RIFF".to_vec(), vec![0; 100]] {
            let kept = other.clone();
            tell_length(&mut other, 1_000);
            assert_eq!(other, kept);
        }
    }
}

//! Recordings of calls: storage, signed links, retention (`docs/recordings.md`).
//!
//! A link is signed for five minutes and needs no key. The bytes go through the service and not through a presigned URL
//! of the object store: an erasure then takes effect at once for existing links, and a player needs to reach nothing
//! but the service.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use api::calls::{Peaks, PeaksOfCall};
use api::error_codes;
use api::events::Event;
use config::Config;
use domain::call::RecordedFile;
use domain::call::after::AfterCallStep;
use domain::call::peaks::{PeakMeter, WAV_HEAD, WAV_MILLISECOND};
use domain::decision_log::{Chain, Channel, Decision, Entry};
use domain::ids::{Call, Id, Recording};
use domain::ports::ProviderError;
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, MINUTE, SECOND};
use serde_json::json;
use store::after_calls::{self, StepRow};
use store::calls::{self, CallRow};
use store::recordings::{self, RecordingRow};
use store::{TenantTx, Tx, recording_uploads, workspaces};
use tokio::sync::Semaphore;

use super::call_env::{Env, emit};
use super::{App, Context, Failure, access, decision_log, owed_steps, topics};
use crate::outgoing::{Name, Range, Sending};

/// A recording that is being sent to a client.
pub type Sound = Sending<Recording>;

/// Lifetime of a link.
const LINK_LIVES: i64 = 5 * MINUTE;
/// How long a call has been over before an unreported file of it is handled: its node may still be closing it.
const SPOOL_REST: i64 = 10 * MINUTE;
/// Recordings deleted in one transaction.
const BATCH: i64 = 200;

/// The key of a recording's object.
pub fn key_of(id: Id<Recording>) -> String {
    format!("recordings/{id}.wav")
}

/// The key of a stored recording's object.
pub fn key(row: &RecordingRow) -> String {
    key_of(row.id)
}

/// Stores the file of a call on this node. With `keep` it becomes a recording; without, the file is only deleted.
pub(super) fn arrived(
    tx: &mut Tx<'_>,
    env: &Env,
    call: &CallRow,
    file: &RecordedFile,
    keep: bool,
) -> Result<(), Failure> {
    // What was sent while the call lasted is under its id already.
    let upload = recording_uploads::get_for_update(&mut tx.of(call.workspace), call.id)?;
    let keep = keep && !upload.as_ref().is_some_and(|upload| upload.discarded);
    if !keep && upload.is_some() {
        recording_uploads::discard(&mut tx.of(call.workspace), &[call.id])?;
    }
    let row = RecordingRow {
        id: upload.map_or_else(|| env.context.ids.make(), |upload| upload.recording),
        workspace: call.workspace,
        call: call.id,
        content_type: "audio/wav".to_owned(),
        bytes: None,
        duration_ms: file.duration_ms,
        created_at: env.context.now,
        kept_at: None,
    };
    if keep && recordings::of_call(&mut tx.of(call.workspace), call.id)?.is_none() {
        recordings::insert(tx, &row)?;
    }
    owed_steps::owe_recording(tx, env, call, row.id, &file.path)
}

/// Records that a recording is an object now, sends its event, and adds it to the decision log. `false` when it is
/// gone.
pub(super) async fn kept(
    app: &App,
    recording: &RecordingRow,
    bytes: i64,
    peaks: Option<(i64, Vec<u8>)>,
) -> Result<bool, Failure> {
    let (env, recording) = (app.call_env(), recording.clone());
    app.store
        .tx(move |tx| {
            let (tenant, id) = (recording.workspace, recording.id);
            if !recordings::keep(&mut tx.of(tenant), id, bytes, env.context.now)? {
                // Another node noted it, or it is gone.
                return Ok(recordings::get(&mut tx.of(tenant), id)?.is_some());
            }
            if let Some((step_ms, peaks)) = &peaks {
                recordings::keep_peaks(&mut tx.of(tenant), id, *step_ms, peaks)?;
            }
            let call = calls::get_for_update(&mut tx.of(tenant), recording.call)?
                .ok_or_else(|| Failure::internal("a recording without a call"))?;
            after_calls::set_recording(&mut tx.of(tenant), call.id, Some(id))?;
            emit(tx, &env, &call, Event::RecordingReady)?;
            prove(tx, &env.context, &call, id)?;
            Ok::<_, Failure>(true)
        })
        .await
}

/// The record that a call was recorded, in the chain of its dial.
fn prove(tx: &mut Tx<'_>, context: &Context, call: &CallRow, id: Id<Recording>) -> Result<(), Failure> {
    let entry = Entry {
        timestamp: context.now,
        interaction_id: call.id.to_string(),
        decision: Decision::Allowed,
        blocked_by: None,
        gate_results: json!({"request": "recording"}).to_string(),
        outcome: Some("recorded".into()),
        recording_ref: Some(id.to_string()),
        consent_ref: None,
        is_test: call.mode == Mode::Test,
        channel: Channel::Voice,
        agent_id: call.agent.map(|agent| agent.to_string()),
    };
    decision_log::record(&mut tx.of(call.workspace), context, Chain::Audit, entry)?;
    Ok(())
}

fn signed_text(id: Id<Recording>, expires: i64) -> String {
    format!("recording:{id}:{expires}")
}

/// A link to a recording that works for five minutes from now.
pub fn link(app: &App, id: Id<Recording>) -> String {
    let expires = app.clock.now().plus(LINK_LIVES + SECOND - 1).unix_seconds();
    let signature = app.keyring.sign(&signed_text(id, expires));
    format!("{}/v1/recordings/{id}?expires={expires}&signature={signature}", app.config.public_url)
}

/// The recording behind a link, and its size in bytes.
///
/// # Errors
/// `link_invalid` when the link is over or is not ours; `workspace_suspended`; `not_found` when the recording
/// is gone.
pub async fn behind(
    app: &App,
    id: Option<Id<Recording>>,
    expires: i64,
    signature: &str,
) -> Result<(RecordingRow, u64), Failure> {
    let invalid = || Failure::plain(error_codes::LINK_INVALID);
    let id = id.ok_or_else(invalid)?;
    let ours = app.keyring.verify(&signed_text(id, expires), signature);
    if !ours || app.clock.now().unix_seconds() >= expires {
        return Err(invalid());
    }
    let found = app
        .store
        .read(move |tx| {
            let Some(row) = recordings::find(tx, id)?.filter(|row| row.kept_at.is_some()) else {
                return Ok(None);
            };
            let suspended =
                workspaces::get(&mut tx.of(row.workspace))?.is_none_or(|workspace| workspace.suspended);
            Ok::<_, Failure>(Some((row, suspended)))
        })
        .await?;
    let (row, suspended) = found.ok_or_else(|| Failure::not_found("recording"))?;
    if suspended {
        return Err(Failure::new(
            error_codes::WORKSPACE_SUSPENDED,
            "the workspace is suspended; ask the operator to lift the suspension",
        ));
    }
    let bytes = row
        .bytes
        .and_then(|bytes| u64::try_from(bytes).ok())
        .ok_or_else(|| Failure::internal(format!("{}: kept without a size", row.id)))?;
    Ok((row, bytes))
}

/// How recordings are called on their way to clients.
pub(crate) const NAME: Name = Name { one: "recording", many: "recordings" };

/// So many bytes of a recording, read as the client takes them.
///
/// # Errors
/// Those of [`Outgoing::open`](crate::outgoing::Outgoing::open).
pub async fn sound(app: &App, row: &RecordingRow, first: u64, length: u64) -> Result<Sound, Failure> {
    app.shares.recordings.open(app, (row.workspace, row.id), Range { key: key(row), first, length }).await
}

/// Bytes of a file that are read at once.
const PIECE: usize = 64 * 1024;
/// Recordings that a node reads at once for their peaks.
const MEASURED: usize = 2;

/// `GET /v1/calls/{id}/peaks`. Peaks that were not stored with the recording, which another node completed or an earlier
/// version stored, are made of its object once.
pub async fn peaks_of_call(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    call: Id<Call>,
) -> Result<PeaksOfCall, Failure> {
    let found = app.of(tenant).read(move |tx| {
        calls::get_taken(tx, mode, call)?.ok_or_else(|| Failure::not_found("call"))?;
        let recording = recordings::of_call(tx, call)?.filter(|row| row.kept_at.is_some());
        let known = recording.as_ref().map(|row| recordings::peaks(tx, row.id)).transpose()?.flatten();
        Ok::<_, Failure>((recording, known))
    });
    let measured = match found.await? {
        (_, Some(known)) => Some(known),
        (Some(row), None) => measure_object(app, &row).await?,
        (None, None) => None,
    };
    let peaks = measured.map(|(step_ms, peaks)| Peaks {
        step_ms,
        customer: peaks.iter().step_by(2).copied().collect(),
        agent: peaks.iter().skip(1).step_by(2).copied().collect(),
    });
    Ok(PeaksOfCall { call_id: call, peaks })
}

/// Measures and stores the peaks of a recording's object; `None` when it is gone.
async fn measure_object(app: &App, row: &RecordingRow) -> Result<Option<(i64, Vec<u8>)>, Failure> {
    static MEASURING: Semaphore = Semaphore::const_new(MEASURED);
    let Ok(_turn) = MEASURING.try_acquire() else {
        let message = "this node measures other recordings; try again in a moment";
        return Err(Failure { retry_after: Some(1), ..Failure::new(error_codes::RATE_LIMITED, message) });
    };
    let bytes = row.bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
    let unread = |why: ProviderError| Failure {
        cause: Some(why.to_string()),
        retry_after: Some(2),
        ..Failure::plain(error_codes::UNAVAILABLE)
    };
    let (key, mut meter) = (key(row), PeakMeter::new(bytes));
    let opened = app.ports.objects.open(&key, 0, bytes).await.map_err(unread)?;
    let Some(mut pieces) = opened else { return Ok(None) };
    while let Some(piece) = pieces.next().await.map_err(unread)? {
        // A piece takes microseconds.
        meter.read(&piece);
    }
    let (step_ms, peaks) = meter.finish();
    let (id, kept) = (row.id, peaks.clone());
    app.of(row.workspace).tx(move |tx| recordings::keep_peaks(tx, id, step_ms, &kept)).await?;
    Ok(Some((step_ms, peaks)))
}

/// The peaks of a file of this node; `None` without the file. It is read on a thread for blocking work.
pub(super) async fn measure_file(app: &App, path: &str) -> Result<Option<(i64, Vec<u8>)>, Failure> {
    let path = PathBuf::from(path);
    let work = move || -> std::io::Result<Option<(i64, Vec<u8>)>> {
        let mut file = match std::fs::File::open(&path) {
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let (mut meter, mut piece) = (PeakMeter::new(file.metadata()?.len()), vec![0; PIECE]);
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(Some(meter.finish())),
                length => meter.read(&piece[..length]),
            }
        }
    };
    let measured = app.clock.outside(runtime::blocking::run(work)).await;
    let measured = measured.map_err(|why| Failure::internal(why.to_string()))?;
    measured.map_err(|why| Failure::internal(format!("the peaks of a recording: {why}")))
}

/// Forgets a recording; its object is dropped by a step of its call, which is tried until it succeeds.
fn forget(tx: &mut Tx<'_>, context: &Context, row: &RecordingRow) -> Result<(), Failure> {
    recordings::remove(&mut tx.of(row.workspace), row.id)?;
    after_calls::set_recording(&mut tx.of(row.workspace), row.call, None)?;
    let step = StepRow {
        call: row.call,
        step: AfterCallStep::Discard,
        workspace: row.workspace,
        node: None,
        recording: Some(row.id),
        file: Some(key(row)),
        attempts: 0,
        next_at: context.now,
        created_at: context.now,
    };
    after_calls::insert(tx, &step)?;
    tx.wake(topics::AFTER_CALLS);
    Ok(())
}

/// Forgets the recordings of these calls, because a person is erased, and returns how many. One that is still
/// a file loses its file when its step finds it forgotten. What was sent of a call that lasts, or of one whose
/// recording is not complete yet, goes as well.
pub(super) fn erase(tx: &mut TenantTx, context: &Context, calls: &[Id<Call>]) -> Result<u64, Failure> {
    let rows = recordings::of_calls(tx, calls)?;
    for row in &rows {
        forget(tx, context, row)?;
    }
    recording_uploads::discard(tx, calls)?;
    tx.wake(topics::AFTER_CALLS);
    Ok(rows.len() as u64)
}

/// Deletes a batch of recordings older than `recordings.keep_days`. Returns whether there may be more.
pub async fn sweep(app: &App) -> Result<bool, Failure> {
    let days = app.config.recording_days;
    if days == 0 {
        return Ok(false);
    }
    let context = app.context();
    let before = context.now.plus(-days.saturating_mul(DAY));
    app.store
        .tx(move |tx| {
            let old = recordings::kept_before(tx, before, BATCH)?;
            for row in &old {
                forget(tx, &context, row)?;
            }
            Ok::<_, Failure>(old.len() as i64 >= BATCH)
        })
        .await
}

/// The folder of this node's live recordings, each in `<call id>.wav`.
pub fn spool(config: &Config) -> PathBuf {
    config.data.join("spool")
}

/// The folder of this node's live recordings of which parts must not be kept. A file leaves it when those parts are
/// silence; no backup has it, and nothing in it outlives the process ([`drop_unredacted`]).
pub fn unredacted(config: &Config) -> PathBuf {
    config.data.join("unredacted")
}

/// Deletes the recordings that the process before left without making silence of what must not be kept. Call before
/// the node takes calls.
///
/// # Errors
/// The folder cannot be removed.
pub fn drop_unredacted(config: &Config) -> std::io::Result<()> {
    match std::fs::remove_dir_all(unredacted(config)) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(why),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Handles the files on this node without a step: left by a crash, or by the end of a call without its report. The file
/// of a call that is over becomes its recording, or is deleted. Returns whether any has to be checked again.
///
/// # Errors
/// Those of the store, and a folder that cannot be read.
pub async fn sweep_spool(app: &App) -> Result<bool, Failure> {
    let (folder, clock) = (spool(&app.config), &app.clock);
    let unreadable = |why: std::io::Error| Failure::internal(format!("the folder of recordings: {why}"));
    let found = clock.outside(runtime::blocking::run(move || files_of_calls(&folder))).await;
    let found = found.map_err(|why| Failure::internal(why.to_string()))?.map_err(unreadable)?;
    let mut left = false;
    for (call, path, bytes) in found {
        let file = RecordedFile { path: path.display().to_string(), duration_ms: length(bytes) };
        match adopt(app, call, file, SPOOL_REST).await? {
            Adopted::Waits => left = true,
            Adopted::Known => {}
            // The call is unknown: it was never dialled.
            Adopted::Nobodys => clock.outside(tokio::fs::remove_file(&path)).await.map_err(unreadable)?,
        }
    }
    Ok(left)
}

/// The files of a folder that are named after calls, with their bytes; none without the folder.
fn files_of_calls(folder: &Path) -> std::io::Result<Vec<(Id<Call>, PathBuf, u64)>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(why),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let call = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        if let Some(call) = call {
            found.push((call, path, entry.metadata()?.len()));
        }
    }
    Ok(found)
}

/// Milliseconds of sound in a WAV file of so many bytes.
pub(super) fn length(bytes: u64) -> i64 {
    i64::try_from(bytes.saturating_sub(WAV_HEAD) / WAV_MILLISECOND).unwrap_or(0)
}

/// The action for a file of a call on this node.
pub(super) enum Adopted {
    /// It is too early to say.
    Waits,
    /// A step handles it.
    Known,
    /// There is no such call.
    Nobodys,
}

/// Makes a recording of the file of a call that has been over for `rest` milliseconds, or deletes the file.
pub(super) async fn adopt(
    app: &App,
    id: Id<Call>,
    file: RecordedFile,
    rest: i64,
) -> Result<Adopted, Failure> {
    let env = app.call_env();
    app.store
        .tx(move |tx| {
            let Some(tenant) = calls::whose(tx, id)? else { return Ok(Adopted::Nobodys) };
            let Some(call) = calls::get_for_update(&mut tx.of(tenant), id)? else {
                return Ok(Adopted::Nobodys);
            };
            if after_calls::waits(&mut tx.of(tenant), id, AfterCallStep::Recording)? {
                return Ok(Adopted::Known);
            }
            let over = call.progress.ended_at.is_some_and(|ended| ended.plus(rest) <= env.context.now);
            if !over {
                return Ok(Adopted::Waits);
            }
            let upload = recording_uploads::get_for_update(&mut tx.of(tenant), id)?;
            if upload.as_ref().is_some_and(|upload| upload.holder != *env.node) {
                // Another node makes the recording of what was sent.
                return Ok(Adopted::Waits);
            }
            let known = recordings::of_call(&mut tx.of(tenant), id)?;
            let unfinished = known.is_none_or(|known| known.kept_at.is_none() && upload.is_some());
            let workspace = workspaces::get(&mut tx.of(tenant))?;
            let keep = file.duration_ms > 0
                && call.progress.answered_at.is_some()
                && workspace.is_some_and(|workspace| access::feature_on(&workspace, "recording"))
                && unfinished
                && !owed_steps::person_is_erased(tx, &call)?;
            arrived(tx, &env, &call, &file, keep)?;
            tx.wake(topics::AFTER_CALLS);
            Ok::<_, Failure>(Adopted::Known)
        })
        .await
}

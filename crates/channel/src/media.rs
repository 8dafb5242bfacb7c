//! Received files: fetched at once, kept, served, dropped (docs/contract/channel-messages.md#media).

use std::sync::Arc;

use api::error_codes::{RATE_LIMITED, UNAVAILABLE};
use app::limits::shares::{Share, Shares};
use app::{App, Failure, topics};
use domain::channel::MediaKind;
use domain::channel::provider::Fault;
use domain::ids::{ChannelMessage, Id};
use domain::ports::{Pieces, ProviderError};
use domain::tenant::Tenant;
use domain::time::{DAY, HOUR, MINUTE, Timestamp};
use serde_json::Value;
use store::channel_messages::{self, MessageRow};
use store::{DbError, Tx};

use crate::connections;
use crate::providers::provider;
use crate::{send, voice_notes};

/// Objects that are dropped in one go.
const DROPS: i64 = 100;
/// Time after which a file that could not be fetched is tried again, and how often it is tried: for two days, in
/// which the provider keeps it.
const AGAIN: i64 = 5 * MINUTE;
const MAX_ATTEMPTS: i64 = 40;
/// Files that a node sends to clients at once: of one message, and of one workspace.
const PER_FILE: usize = 8;
const PER_WORKSPACE: usize = 32;

/// Whether a message's file can be a document that an agent asks for.
pub(crate) fn may_be_document(message: &MessageRow) -> bool {
    ["image", "document"].contains(&message.kind.as_str())
}

/// The key of a message's object.
fn key_of(id: Id<ChannelMessage>) -> String {
    format!("channel/{id}")
}

/// Takes a message's file away; the object is dropped by a job, also one that is just being fetched.
pub(crate) fn forget(tx: &mut Tx<'_>, row: &mut MessageRow, now: Timestamp) -> Result<(), DbError> {
    if row.media.is_none() {
        return Ok(());
    }
    // A fetch that runs now may still store its object.
    let rest = if row.media_object.is_some() { now } else { now.plus(HOUR) };
    channel_messages::owe_drop(tx, row.workspace, &key_of(row.id), rest)?;
    row.media = None;
    row.media_object = None;
    row.media_bytes = None;
    row.media_at = None;
    tx.wake(topics::CHANNEL_SENDS);
    Ok(())
}

/// Owes the drop of a message's object, for one whose row goes.
pub(crate) fn owe(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<ChannelMessage>,
    now: Timestamp,
) -> Result<(), DbError> {
    channel_messages::owe_drop(tx, tenant, &key_of(id), now)
}

/// Files that are due, at most so many: until their next moment they belong to the caller, who fetches each.
pub async fn take(app: &App, most: usize) -> Result<Vec<MessageRow>, Failure> {
    let (now, most) = (app.clock.now(), i64::try_from(most).unwrap_or(i64::MAX));
    Ok(app.store.tx(move |tx| channel_messages::take_media(tx, now, now.plus(AGAIN), most)).await?)
}

/// When the next file is to be fetched, or the next object is to go.
pub async fn next(app: &App) -> Result<Option<Timestamp>, Failure> {
    let due = |tx: &mut Tx<'_>| {
        Ok::<_, DbError>((channel_messages::next_media(tx)?, channel_messages::next_drop(tx)?))
    };
    Ok(match app.store.read(due).await? {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    })
}

/// Fetches a file and keeps it. What cannot be had now is tried again at its next moment.
///
/// # Errors
/// Those of the store; the file is then tried again, too.
pub async fn fetch(app: &Arc<App>, row: MessageRow) -> Result<(), Failure> {
    let (tenant, id) = (row.workspace, row.id);
    let number = row.phone_number_id.clone();
    let known = app.store.read(move |tx| send::number_of(tx, tenant, &number)).await?;
    let media = row.media.clone().unwrap_or_default();
    let text = |name: &str| media.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (Some(_), Some(kind)) = (known, MediaKind::parse(&text("type"))) else {
        return give_up(app, tenant, id).await;
    };
    let account = connections::account(app, tenant).await?;
    let provider = provider(app, &account);
    let most = usize::try_from(kind.max_bytes()).unwrap_or(usize::MAX);
    let media_id = text("id");
    let fetched =
        app.clock.outside(provider.fetch_media(&account, &row.phone_number_id, &media_id, most)).await;
    let fetched = match fetched {
        Ok(fetched) => fetched,
        Err(Fault::Refused(_)) => return give_up(app, tenant, id).await,
        Err(Fault::Later(_) | Fault::Unclear(_)) if row.media_attempts >= MAX_ATTEMPTS => {
            return give_up(app, tenant, id).await;
        }
        // Its next moment stands already.
        Err(Fault::Later(_) | Fault::Unclear(_)) => return Ok(()),
    };
    let words = voice_notes::words(app, &row, &fetched.bytes).await?;
    let (key, bytes) = (key_of(id), i64::try_from(fetched.bytes.len()).unwrap_or(i64::MAX));
    let put = app.clock.outside(app.ports.objects.put(&key, &fetched.mime_type, fetched.bytes)).await;
    if let Err(why) = put {
        tracing::warn!(%why, about = %id, "a received file could not be kept yet");
        return Ok(());
    }
    let (now, teller) = (app.clock.now(), app.clone());
    let awaited = voice_notes::is_note(&row) || may_be_document(&row);
    app.store
        .tx(move |tx| {
            let row = channel_messages::get_for_update(tx, tenant, id)?;
            match row.filter(|row| row.media_at.is_some()) {
                Some(mut row) => {
                    row.words = row.words.take().or_else(|| words.clone());
                    row.media_object = Some(key.clone());
                    row.media_bytes = Some(bytes);
                    row.media_at = None;
                    row.updated_at = now;
                    channel_messages::save(tx, &row)?;
                    if awaited {
                        voice_notes::tell(&teller, tx, tenant, id, words.as_deref())?;
                    }
                }
                // It was erased meanwhile.
                None => {
                    tx.wake(topics::CHANNEL_SENDS);
                    channel_messages::owe_drop(tx, tenant, &key, now)?;
                }
            }
            Ok::<_, Failure>(())
        })
        .await?;
    Ok(())
}

/// A file that cannot be had any more.
async fn give_up(app: &Arc<App>, tenant: Tenant, id: Id<ChannelMessage>) -> Result<(), Failure> {
    let (now, teller) = (app.clock.now(), app.clone());
    app.store
        .tx(move |tx| {
            if let Some(mut row) = channel_messages::get_for_update(tx, tenant, id)? {
                row.media_at = None;
                row.updated_at = now;
                channel_messages::save(tx, &row)?;
            }
            // Its conversation waits no longer.
            voice_notes::tell(&teller, tx, tenant, id, None)
        })
        .await?;
    Ok(())
}

/// Drops the objects that are to go.
pub async fn drop_due(app: &App) -> Result<(), DbError> {
    loop {
        let now = app.clock.now();
        let rows =
            app.store.tx(move |tx| channel_messages::take_drops(tx, now, now.plus(AGAIN), DROPS)).await?;
        let whole = rows.len() as i64 >= DROPS;
        for (tenant, object) in rows {
            match app.clock.outside(app.ports.objects.delete(&object)).await {
                Ok(()) => app.store.tx(move |tx| channel_messages::settle_drop(tx, tenant, &object)).await?,
                Err(why) => tracing::warn!(%why, "a received file could not be dropped yet"),
            }
        }
        if !whole {
            return Ok(());
        }
    }
}

/// A received file that is kept.
#[derive(Debug)]
pub struct KeptFile {
    /// Its content type, as the provider named it.
    pub content_type: String,
    pub bytes: u64,
    tenant: Tenant,
    message: Id<ChannelMessage>,
    object: String,
}

/// The file of a message. Its bytes are not read.
///
/// # Errors
/// 404 when it has none, or none that is there.
pub async fn kept(app: &App, tenant: Tenant, id: Id<ChannelMessage>) -> Result<KeptFile, Failure> {
    let row = app.store.read(move |tx| channel_messages::get(tx, tenant, id)).await?;
    let row = row.ok_or_else(|| Failure::not_found("message"))?;
    let (Some(object), Some(bytes)) = (row.media_object, row.media_bytes) else {
        return Err(Failure::not_found("media"));
    };
    let kind = row.media.as_ref().and_then(|media| media.get("mimeType")).and_then(Value::as_str);
    Ok(KeptFile {
        content_type: kind.unwrap_or("application/octet-stream").to_owned(),
        bytes: u64::try_from(bytes).unwrap_or_default(),
        tenant,
        message: id,
        object,
    })
}

/// Files that this node is sending to clients.
#[derive(Default)]
struct InTransfer {
    of_messages: Shares<Id<ChannelMessage>>,
    of_workspaces: Shares<Tenant>,
}

/// A file on its way to a client, and its places among all that are sent.
pub struct Transfer {
    next: Option<Vec<u8>>,
    rest: Box<dyn Pieces>,
    message: Id<ChannelMessage>,
    _of_message: Share<Id<ChannelMessage>>,
    _of_workspace: Share<Tenant>,
}

impl Transfer {
    /// The next bytes. None at the end, and when the object store fails half-way: the client then sees that bytes
    /// are missing.
    pub async fn next(mut self) -> Option<(Vec<u8>, Self)> {
        let piece = match self.next.take() {
            Some(piece) => piece,
            None => match self.rest.next().await {
                Ok(piece) => piece?,
                Err(why) => {
                    tracing::warn!(message = %self.message, %why, "a received file broke off");
                    return None;
                }
            },
        };
        Some((piece, self))
    }
}

/// Opens a file, which is read as the client takes it.
///
/// # Errors
/// `rate_limited` while too many are sent; 404 when the object is gone; `unavailable` when the object store does not
/// answer.
pub async fn open(app: &App, file: &KeptFile) -> Result<Transfer, Failure> {
    let full = || Failure {
        retry_after: Some(1),
        ..Failure::new(RATE_LIMITED, "too many requests for received files at once; wait for some of them")
    };
    let sent = app.kept.of(InTransfer::default);
    let of_message = sent.of_messages.take(file.message, 1, PER_FILE).ok_or_else(full)?;
    let of_workspace = sent.of_workspaces.take(file.tenant, 1, PER_WORKSPACE).ok_or_else(full)?;
    let away = |why: ProviderError| Failure {
        cause: Some(why.to_string()),
        retry_after: Some(2),
        ..Failure::new(UNAVAILABLE, "the file cannot be fetched right now; try again")
    };
    let opened = app.ports.objects.open(&file.object, 0, file.bytes).await.map_err(away)?;
    let mut rest = opened.ok_or_else(|| Failure::not_found("media"))?;
    // The first bytes are read before the answer begins, so that it can still say that there are none.
    let next = rest.next().await.map_err(away)?;
    Ok(Transfer { next, rest, message: file.message, _of_message: of_message, _of_workspace: of_workspace })
}

/// Removes messages that are over and older than the days that are kept, with their files.
pub async fn sweep(app: &App) -> Result<(), DbError> {
    const SWEEP: i64 = 200;
    let days = app.config.chats.keep_days;
    if days == 0 {
        return Ok(());
    }
    loop {
        let now = app.clock.now();
        let before = now.plus(-days.saturating_mul(DAY));
        let removed = app
            .store
            .tx(move |tx| {
                let old = channel_messages::made_before(tx, before, SWEEP)?;
                for (tenant, id, object) in &old {
                    if object.is_some() {
                        owe(tx, *tenant, *id, now)?;
                        tx.wake(topics::CHANNEL_SENDS);
                    }
                    channel_messages::remove(tx, *tenant, *id)?;
                }
                Ok::<_, DbError>(old.len() as i64)
            })
            .await?;
        if removed < SWEEP {
            return Ok(());
        }
    }
}

//! Received files: fetched from the provider, stored, served, deleted (docs/contract/channel-messages.md#media).

use std::sync::Arc;

use api::error_codes;
use app::outgoing::{Name, Outgoing, Range, Sending};
use app::{App, Failure, topics};
use domain::channel::MediaKind;
use domain::channel::provider::Fault;
use domain::ids::{ChannelMessage, Id};
use domain::tenant::Tenant;
use domain::time::{DAY, HOUR, MINUTE, Timestamp};
use serde_json::Value;
use store::channel_messages::{self, MessageRow};
use store::{DbError, TenantTx, Tx};

use crate::accounts;
use crate::providers::provider;
use crate::{numbers, voice_notes};

/// Objects deleted in one go.
const DROPS: i64 = 100;
/// Retry delay of a file that could not be fetched, and most attempts: two days, as long as the provider keeps it.
const AGAIN: i64 = 5 * MINUTE;
const MAX_ATTEMPTS: i64 = 40;

/// Whether a message's file can be a document that an agent asks for.
pub(crate) fn may_be_document(message: &MessageRow) -> bool {
    ["image", "document"].contains(&message.kind.as_str())
}

/// The key of a message's object.
fn key_of(id: Id<ChannelMessage>) -> String {
    format!("channel/{id}")
}

/// Removes the file from a message. A job deletes the object, even one that is just being fetched.
pub(crate) fn forget(tx: &mut Tx<'_>, row: &mut MessageRow, now: Timestamp) -> Result<(), DbError> {
    if row.media.is_none() {
        return Ok(());
    }
    // A fetch that runs now may still store its object.
    let rest = if row.media_object.is_some() { now } else { now.plus(HOUR) };
    channel_messages::owe_drop(&mut tx.of(row.workspace), &key_of(row.id), rest)?;
    row.media = None;
    row.media_object = None;
    row.media_bytes = None;
    row.media_at = None;
    tx.wake(topics::CHANNEL_SENDS);
    Ok(())
}

/// Schedules the deletion of a message's object, when its row is deleted.
pub(crate) fn owe(tx: &mut TenantTx, id: Id<ChannelMessage>, now: Timestamp) -> Result<(), DbError> {
    channel_messages::owe_drop(tx, &key_of(id), now)
}

/// Leases due files, at most `most`, for the caller to fetch.
pub async fn take(app: &App, most: usize) -> Result<Vec<MessageRow>, Failure> {
    let (now, most) = (app.clock.now(), i64::try_from(most).unwrap_or(i64::MAX));
    Ok(app.store.tx(move |tx| channel_messages::take_media(tx, now, now.plus(AGAIN), most)).await?)
}

/// When the next file is to be fetched, or the next object to be deleted.
pub async fn next(app: &App) -> Result<Option<Timestamp>, Failure> {
    let due = |tx: &mut Tx<'_>| {
        Ok::<_, DbError>((channel_messages::next_media(tx)?, channel_messages::next_drop(tx)?))
    };
    Ok(match app.store.read(due).await? {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    })
}

/// Fetches a file and stores it. A temporary failure is retried later.
///
/// # Errors
/// The result could not be stored; the file is fetched again later.
pub async fn fetch(app: &Arc<App>, row: MessageRow) -> Result<(), Failure> {
    let (tenant, id) = (row.workspace, row.id);
    let number = row.phone_number_id.clone();
    let known = app.of(tenant).read(move |tx| numbers::number_of(tx, &number)).await?;
    let media = row.media.clone().unwrap_or_default();
    let text = |name: &str| media.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (Some(_), Some(kind)) = (known, MediaKind::parse(&text("type"))) else {
        return give_up(app, tenant, id).await;
    };
    let account = accounts::account(app, tenant).await?;
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
    app.of(tenant)
        .tx(move |tx| {
            let row = channel_messages::get_for_update(tx, id)?;
            match row.filter(|row| row.media_at.is_some()) {
                Some(mut row) => {
                    row.words = row.words.take().or_else(|| words.clone());
                    row.media_object = Some(key.clone());
                    row.media_bytes = Some(bytes);
                    row.media_at = None;
                    row.updated_at = now;
                    channel_messages::save(tx, &row)?;
                    if awaited {
                        voice_notes::notify(&teller, tx, id, words.as_deref())?;
                    }
                }
                // It was erased meanwhile.
                None => {
                    tx.wake(topics::CHANNEL_SENDS);
                    channel_messages::owe_drop(tx, &key, now)?;
                }
            }
            Ok::<_, Failure>(())
        })
        .await?;
    Ok(())
}

/// Gives up a file that cannot be fetched.
async fn give_up(app: &Arc<App>, tenant: Tenant, id: Id<ChannelMessage>) -> Result<(), Failure> {
    let (now, teller) = (app.clock.now(), app.clone());
    app.of(tenant)
        .tx(move |tx| {
            if let Some(mut row) = channel_messages::get_for_update(tx, id)? {
                row.media_at = None;
                row.updated_at = now;
                channel_messages::save(tx, &row)?;
            }
            // Its conversation waits no longer.
            voice_notes::notify(&teller, tx, id, None)
        })
        .await?;
    Ok(())
}

/// Deletes objects that are due for deletion.
pub async fn drop_due(app: &App) -> Result<(), DbError> {
    loop {
        let now = app.clock.now();
        let rows =
            app.store.tx(move |tx| channel_messages::take_drops(tx, now, now.plus(AGAIN), DROPS)).await?;
        let whole = rows.len() as i64 >= DROPS;
        for (tenant, object) in rows {
            match app.clock.outside(app.ports.objects.delete(&object)).await {
                Ok(()) => app.of(tenant).tx(move |tx| channel_messages::settle_drop(tx, &object)).await?,
                Err(why) => tracing::warn!(%why, "a received file could not be dropped yet"),
            }
        }
        if !whole {
            return Ok(());
        }
    }
}

/// A stored file of a received message.
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
/// 404 when it has none, or it was not fetched.
pub async fn kept(app: &App, tenant: Tenant, id: Id<ChannelMessage>) -> Result<KeptFile, Failure> {
    let row = app.of(tenant).read(move |tx| channel_messages::get(tx, id)).await?;
    let row = row.ok_or_else(|| Failure::not_found("message"))?;
    let (Some(object), Some(bytes)) = (row.media_object, row.media_bytes) else {
        let why = "the message has no file, or its file was not fetched yet; see media.available";
        return Err(Failure::new(error_codes::NOT_FOUND, why));
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

/// Opens a file, which is read as the client takes it.
///
/// # Errors
/// Those of [`Outgoing::open`].
pub async fn open(app: &App, file: &KeptFile) -> Result<Sending<ChannelMessage>, Failure> {
    const NAME: Name = Name { one: "media", many: "received files" };
    let sent = app.state.of(|| Outgoing::<ChannelMessage>::new(NAME));
    let range = Range { key: file.object.clone(), first: 0, length: file.bytes };
    sent.open(app, (file.tenant, file.message), range).await
}

/// Deletes messages beyond the retention period, with their files.
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
                        owe(&mut tx.of(*tenant), *id, now)?;
                        tx.wake(topics::CHANNEL_SENDS);
                    }
                    channel_messages::remove(&mut tx.of(*tenant), *id)?;
                }
                Ok::<_, DbError>(old.len() as i64)
            })
            .await?;
        if removed < SWEEP {
            return Ok(());
        }
    }
}

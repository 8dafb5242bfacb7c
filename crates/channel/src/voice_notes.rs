//! Transcripts of voice notes: decoded in a separate process, transcribed by the recogniser of calls, and added to the
//! conversation, whose reply waits for them (docs/contract/channel-conversations.md#voice-notes).

use std::time::Duration;

use app::agents::languages_of;
use app::{App, Failure};
use chats::session::Env;
use domain::ids::{ChannelMessage, Id};
use domain::ports::{Heard, ListenOrder, ProviderError, Recogniser as _, SAMPLE_RATE};
use domain::tenant::Tenant;
use serde_json::Value;
use store::channel_messages::MessageRow;
use store::{DbError, TenantTx, agents, channel_conversations, chats as store_chats};

/// Timeout of a transcription.
const LONGEST: Duration = Duration::from_secs(40);
/// Samples of a part that a recogniser hears as one turn; it keeps no more than half a minute of a turn.
const PART: usize = 25 * SAMPLE_RATE as usize;
/// Samples that a recogniser is given at once.
const PIECE: usize = SAMPLE_RATE as usize / 5;
/// Longest transcript, characters.
const MAX_WORDS: usize = 10_000;

/// Whether voice notes in this language can be transcribed.
pub(crate) fn understood(app: &App, language: &str) -> bool {
    !app.speech.to_text.is_empty() && app.speech.to_text.speaks(language)
}

/// Whether a message is a voice note.
pub(crate) fn is_note(message: &MessageRow) -> bool {
    let voice = message.media.as_ref().and_then(|media| media.get("voice"));
    voice.and_then(Value::as_bool).unwrap_or(false)
}

/// The transcript of a voice note; `None` when it belongs to no conversation, or cannot be transcribed.
pub(crate) async fn words(app: &App, message: &MessageRow, bytes: &[u8]) -> Result<Option<String>, Failure> {
    let (tenant, id) = (message.workspace, message.id);
    if !is_note(message) {
        return Ok(None);
    }
    let chat = app
        .of(tenant)
        .read(move |tx| match channel_conversations::place_of(tx, id)? {
            Some((chat, _)) => {
                let Some(chat) = store_chats::get(tx, chat)? else { return Ok(None) };
                let agent = agents::get(tx, chat.agent)?;
                Ok(Some((chat.language, agent.as_ref().map(languages_of).unwrap_or_default())))
            }
            None => Ok::<_, DbError>(None),
        })
        .await?;
    let Some((language, listed)) = chat.filter(|(language, _)| understood(app, language)) else {
        return Ok(None);
    };
    let others = listed.into_iter().filter(|other| *other != language).collect();
    let order = ListenOrder { language, others, terms: Vec::new() };
    let made_out =
        app.clock.outside(tokio::time::timeout(LONGEST, make_out(app, tenant, order, bytes))).await;
    Ok(match made_out {
        Ok(Ok(words)) => words,
        Ok(Err(why)) => {
            tracing::warn!(about = %id, why, "the words of a voice note could not be made out");
            None
        }
        Err(_) => {
            tracing::warn!(about = %id, "making out the words of a voice note took too long");
            None
        }
    })
}

async fn make_out(
    app: &App,
    tenant: Tenant,
    order: ListenOrder,
    bytes: &[u8],
) -> Result<Option<String>, String> {
    let samples = app.reader.sound(tenant, bytes.to_vec()).await.map_err(|why| why.to_string())?;
    let failed = |why: ProviderError| format!("{}: {:?}", why.provider, why.fault);
    let listening = app.speech.to_text.listen(order).await.map_err(failed)?;
    let mut said: Vec<String> = Vec::new();
    for part in samples.chunks(PART) {
        for piece in part.chunks(PIECE) {
            listening.feed(piece);
            // The recogniser takes it from a queue of its own: let it.
            tokio::task::yield_now().await;
        }
        listening.turn_ended();
        let words = loop {
            if let Heard::Turn(words) = listening.next().await.map_err(failed)? {
                break words;
            }
        };
        let words: String = words.trim().chars().filter(|sign| *sign != '\0').collect();
        said.extend(Some(words).filter(|words| !words.is_empty()));
    }
    let words: String = said.join(" ").chars().take(MAX_WORDS).collect();
    Ok(Some(words).filter(|words| !words.is_empty()))
}

/// Notifies the conversation that a file was stored or given up, with the transcript of a voice note. Its reply waits no
/// longer. Call in the transaction that stores the file.
pub(crate) fn notify(
    app: &App,
    tx: &mut TenantTx,
    message: Id<ChannelMessage>,
    words: Option<&str>,
) -> Result<(), Failure> {
    let Some((chat, seq)) = channel_conversations::place_of(tx, message)? else { return Ok(()) };
    channel_conversations::lock_thread(tx, chat)?;
    let Some(mut row) = store_chats::get_for_update(tx, chat)? else { return Ok(()) };
    let others = channel_conversations::fetches_other(tx, chat, message)?;
    let text = words.map(|words| format!("[voice note] {words}"));
    chats::transcribed(tx, &Env::within(app), &mut row, seq, text.as_deref(), others)
}

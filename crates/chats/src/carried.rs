//! Chats on the messaging channel (docs/contract/channel-conversations.md): an inbound message is stored, and a debounced
//! reply begins; a reply is sent in the transaction that stores it.

use api::chats::ChatReply;
use app::chat_words::{Carried, ChatWords, Words, Writer};
use app::{Failure, access, topics};
use domain::channel::provider::can_send;
use domain::chat::{EndCause, MAX_CHARACTERS, MAX_MESSAGES, Role, State, reply_after};
use domain::ids::{ChannelMessage, Id};
use domain::time::MINUTE;
use store::Tx;
use store::channel_accounts::{self, NumberRow};
use store::channel_conversations;
use store::chats::{self, ChatRow};

use crate::progress;
use crate::session::{Env, close_turn, end, hand_off, save, unanswered, write};
use crate::unkept;
use crate::written::Line;

/// Longest text of one message on the channel, in characters.
const LONGEST: usize = 4_096;

/// A message of the customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboundMessage {
    /// The message on the channel.
    pub message: Id<ChannelMessage>,
    pub text: String,
    /// Whether a transcript is still to come: the reply waits for it, for [`TRANSCRIPTION`] at most.
    pub pending: bool,
}

/// Longest wait of a reply for the transcript of a voice note.
const TRANSCRIPTION: i64 = MINUTE;

/// Adds a customer's message. Returns `false` when the chat is full: it has ended, and the message is not part of it.
/// Saves the row.
pub fn receive(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    message: &InboundMessage,
) -> Result<bool, Failure> {
    let characters = row.characters + message.text.chars().count() as i64;
    if row.messages >= MAX_MESSAGES || characters > MAX_CHARACTERS {
        end(tx, env, row, EndCause::MaxDuration)?;
        return Ok(false);
    }
    write(tx, env, row, Role::User, &message.text, None)?;
    channel_conversations::note_message(&mut tx.of(row.workspace), message.message, row.id, row.messages)?;
    if row.state == State::Ai {
        let now = env.context.now;
        let first = *row.unanswered_at.get_or_insert(now);
        let due = if message.pending { now.plus(TRANSCRIPTION) } else { reply_after(first, now) };
        // One that waits for a voice note goes on waiting.
        row.reply_at = row.reply_at.max(Some(due));
    }
    save(tx, env, row)?;
    tx.wake(topics::CHATS);
    Ok(true)
}

/// Adds the transcript of a message; `None` when transcription failed. The reply waits no longer, unless for `others`,
/// too.
pub fn transcribed(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    seq: i64,
    text: Option<&str>,
    others: bool,
) -> Result<(), Failure> {
    if let Some(text) = text {
        let text = &unkept::of_customer(row, text).unwrap_or_else(|| text.to_owned());
        let before = chats::messages(&mut tx.of(row.workspace), row.id, seq - 1)?.into_iter().next();
        let Some(before) = before.filter(|message| message.seq == seq) else { return Ok(()) };
        row.characters += text.chars().count() as i64 - before.text.chars().count() as i64;
        chats::set_text(&mut tx.of(row.workspace), row.id, seq, text)?;
    }
    if !others && row.state == State::Ai && row.reply_at.is_some() {
        let now = env.context.now;
        row.reply_at = Some(reply_after(row.unanswered_at.unwrap_or(now), now));
        tx.wake(topics::CHATS);
    }
    save(tx, env, row)
}

/// Adds a message that the service or a client has sent. Saves the row.
pub fn started(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    role: Role,
    message: Id<ChannelMessage>,
    text: &str,
) -> Result<(), Failure> {
    write(tx, env, row, role, text, None)?;
    channel_conversations::note_message(&mut tx.of(row.workspace), message, row.id, row.messages)?;
    save(tx, env, row)
}

/// The text of a reply.
pub(crate) fn in_one(lines: &[Line]) -> Option<String> {
    let texts = lines.iter().filter_map(|line| match line {
        Line::Words(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        Line::Template { .. } => None,
    });
    Some(texts.collect::<Vec<_>>().join("\n\n")).filter(|reply| !reply.is_empty())
}

/// Splits a text into messages of the channel's length, at line breaks and blanks where possible.
fn pieces(text: &str) -> Vec<&str> {
    let mut rest = text.trim();
    let mut found = Vec::new();
    while let Some((most, _)) = rest.char_indices().nth(LONGEST) {
        let head = &rest[..most];
        let late = |at: &usize| head[..*at].chars().count() > LONGEST / 2;
        let cut = ["\n\n", "\n", " "].iter().find_map(|mark| head.rfind(mark).filter(late));
        let (piece, after) = rest.split_at(cut.unwrap_or(most));
        found.push(piece.trim());
        rest = after.trim();
    }
    if !rest.is_empty() {
        found.push(rest);
    }
    found
}

/// Sends text to the customer and adds it to the transcript. The inner error is why the channel refuses a part; nothing
/// after that part was sent.
pub(crate) fn carry(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    lines: &[Line],
    writer: Writer,
) -> Result<Result<Option<String>, Carried>, Failure> {
    let (role, author) = match writer {
        Writer::Agent => (Role::Agent, None),
        Writer::Teammate(author) => (Role::Human, author),
    };
    let Some(app) = &env.app else {
        return Ok(Err(Carried::Refused("number_unavailable".into())));
    };
    let (tenant, chat) = (row.workspace, row.id);
    let mut said: Vec<String> = Vec::new();
    for group in lines.chunk_by(|a, b| matches!((a, b), (Line::Words(_), Line::Words(_)))) {
        let text = in_one(group);
        let words: Vec<Words<'_>> = match &group[0] {
            Line::Template { template } => vec![Words::Template(template)],
            Line::Words(_) => {
                text.as_deref().map(pieces).unwrap_or_default().into_iter().map(Words::Text).collect()
            }
        };
        for words in words {
            match env.hooks.send_chat_words(app, tx, &ChatWords { tenant, chat, writer, words })? {
                Carried::Taken(message, text) => {
                    write(tx, env, row, role, &text, author)?;
                    channel_conversations::note_message(&mut tx.of(tenant), message, chat, row.messages)?;
                    said.push(text);
                }
                refused => return Ok(Err(refused)),
            }
        }
    }
    Ok(Ok(Some(said.join("\n\n")).filter(|said| !said.is_empty())))
}

/// Retry delay of a reply whose workspace may not send now.
pub(crate) const OFF: i64 = MINUTE;

/// Whether a reply can be sent in a chat, checked before the model is called.
pub(crate) enum Sendable {
    /// It is sent from this number.
    From(Box<NumberRow>),
    /// Not now: the workspace is suspended, or the channel or its agents are off.
    NotNow,
    /// There is no such number, or the provider does not let it send.
    NoNumber,
}

/// Checks the workspace and the number of a chat. The customer's opt-out is checked when the text is there, so that it is
/// stored.
pub(crate) fn sendable(tx: &mut Tx<'_>, row: &ChatRow) -> Result<Sendable, Failure> {
    let tenant = row.workspace;
    let workspace = access::workspace(&mut tx.of(tenant))?;
    let on = |feature| access::feature_on(&workspace, feature);
    if workspace.suspended || !on("chatappChannel") || !on("chatappAgents") {
        return Ok(Sendable::NotNow);
    }
    let Some(carried) = channel_conversations::get(&mut tx.of(tenant), row.id)? else {
        return Ok(Sendable::NoNumber);
    };
    let number = channel_accounts::number(&mut tx.of(tenant), carried.number)?;
    let number = number.filter(|number| can_send(&number.status));
    Ok(number.map_or(Sendable::NoNumber, |number| Sendable::From(Box::new(number))))
}

/// Hands off a chat in which nothing can be sent, without calling the model. The customer's messages stay unanswered, so
/// the agent replies to them after a handback.
pub(crate) fn leave_to_person(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow) -> Result<(), Failure> {
    hand_off(tx, env, row, Some("number_unavailable"))?;
    let answer = unanswered(row.state);
    close_turn(tx, row, &answer)?;
    save(tx, env, row)
}

/// The channel refused the agent's message: the chat is handed off, or ends.
pub(crate) fn not_carried(
    tx: &mut Tx<'_>,
    env: &Env,
    mut row: ChatRow,
    refused: &Carried,
) -> Result<ChatReply, Failure> {
    row.heard = row.messages;
    progress::drop_words(tx, &row)?;
    let reason = match refused {
        Carried::OptedOut => {
            end(tx, env, &mut row, EndCause::OptedOut)?;
            return Ok(unanswered(row.state));
        }
        Carried::WindowClosed => "window_closed",
        Carried::Refused(reason) => reason,
        Carried::Taken(..) => "ai_error",
    };
    hand_off(tx, env, &mut row, Some(reason))?;
    let answer = unanswered(row.state);
    close_turn(tx, &mut row, &answer)?;
    save(tx, env, &mut row)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reply_goes_in_pieces() {
        assert_eq!(pieces("  short "), ["short"]);
        assert!(pieces("   ").is_empty());
        let long = format!("{}\n\n{}", "a".repeat(3_000), "ब".repeat(3_000));
        assert_eq!(pieces(&long), ["a".repeat(3_000), "ब".repeat(3_000)]);
        let solid = "क".repeat(9_000);
        let parts = pieces(&solid);
        assert_eq!(parts.iter().map(|part| part.chars().count()).collect::<Vec<_>>(), [4_096, 4_096, 808]);
    }
}

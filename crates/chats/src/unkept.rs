//! What customers write and nobody may keep: answers to secret questions, card numbers, OTPs and their like
//! (docs/chats.md#what-is-not-kept). A message is stored with a mark in its place. What was written stays in the memory of
//! this node for the reply to it; if the process ends before that, or another node replies, it is gone.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use app::{App, Failure};
use domain::chat::{Channel, Role as ChatRole, State};
use domain::conversation::Role;
use domain::conversation::redaction::{self, LOOKED_BACK, SECRET};
use domain::ids::{Chat, Id};
use domain::time::{MINUTE, Timestamp};
use store::chats::{self, ChatRow, MessageRow};
use store::{TenantTx, Tx, channel_conversations};

use crate::written::joined;

/// How long the words are remembered.
const REMEMBERED: i64 = 10 * MINUTE;
/// Most chats of a node of which words are remembered; those of another chat are gone at once.
const MOST_CHATS: usize = 2_000;
/// Most messages of a chat.
const MOST_MESSAGES: usize = 4;
/// Longest message, in characters.
const LONGEST: usize = 1_000;

/// Words that are not stored, by chat.
#[derive(Default)]
pub struct UnkeptWords(Mutex<HashMap<Id<Chat>, Remembered>>);

struct Remembered {
    until: Timestamp,
    messages: Vec<Unkept>,
}

/// A message as it was written, and as it is stored.
struct Unkept {
    stored: String,
    written: String,
}

impl UnkeptWords {
    fn lock(&self) -> MutexGuard<'_, HashMap<Id<Chat>, Remembered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what was written, for the next reply.
    pub(crate) fn remember(&self, chat: Id<Chat>, stored: String, written: String, now: Timestamp) {
        if written.chars().nth(LONGEST).is_some() {
            return;
        }
        let mut chats = self.lock();
        if chats.len() >= MOST_CHATS {
            chats.retain(|_, one| one.until > now);
        }
        if chats.len() >= MOST_CHATS && !chats.contains_key(&chat) {
            return;
        }
        let until = now.plus(REMEMBERED);
        let one = chats.entry(chat).or_insert_with(|| Remembered { until, messages: Vec::new() });
        one.until = until;
        if one.messages.len() >= MOST_MESSAGES {
            one.messages.remove(0);
        }
        one.messages.push(Unkept { stored, written });
    }

    /// The words of these messages, as they were written where that is remembered. An answer to a secret question is
    /// given only while it is `awaited`.
    pub(crate) fn said(
        &self,
        chat: Id<Chat>,
        awaited: bool,
        messages: &[&MessageRow],
        now: Timestamp,
    ) -> String {
        let chats = self.lock();
        let Some(known) = chats.get(&chat).filter(|one| one.until > now) else { return joined(messages) };
        let mut known = known.messages.iter();
        let mut word = |message: &&MessageRow| {
            if message.text == SECRET && !awaited {
                return message.text.clone();
            }
            let found = known.clone().position(|one| one.stored == message.text);
            let unkept = found.and_then(|at| known.nth(at));
            unkept.map_or_else(|| message.text.clone(), |one| one.written.clone())
        };
        messages.iter().map(&mut word).collect::<Vec<_>>().join("\n")
    }

    /// The reply is given.
    pub(crate) fn forget(&self, chat: Id<Chat>) {
        self.lock().remove(&chat);
    }
}

/// What stands in the place of a message of the customer, if it must not be stored as it is. `chat` is the one that it
/// belongs to; `text` may have come over the messaging channel.
pub fn of_customer(chat: &ChatRow, text: &str) -> Option<String> {
    if awaits_secret(chat) {
        return Some(SECRET.to_owned());
    }
    let redacted = if chat.redact { redaction::text(text, &chat.language) } else { return None };
    (redacted != text).then_some(redacted)
}

/// Whether the agent waits for the answer to a secret question.
fn awaits_secret(chat: &ChatRow) -> bool {
    chat.awaits_secret && chat.state == State::Ai
}

/// Remembers what a customer wrote on the messaging channel, once the transaction is committed: `stored` is in its
/// place.
pub fn remember(app: &App, tx: &mut TenantTx, chat: Id<Chat>, stored: &str, written: &str) {
    let (unkept, now) = (app.state.of(UnkeptWords::default), app.clock.now());
    let (stored, written) = (stored.to_owned(), written.to_owned());
    tx.after_commit(move || unkept.remember(chat, stored, written, now));
}

/// The text of a new message as it may be stored. Earlier ones that it continues are changed with it.
pub(crate) fn storable(
    tx: &mut Tx<'_>,
    row: &mut ChatRow,
    role: ChatRole,
    text: &str,
) -> Result<String, Failure> {
    if role == ChatRole::User && awaits_secret(row) {
        return Ok(SECRET.to_owned());
    }
    if !row.redact {
        return Ok(text.to_owned());
    }
    let tenant = row.workspace;
    let from = (row.messages - LOOKED_BACK as i64).max(0);
    let before = chats::messages(&mut tx.of(tenant), row.id, from)?;
    let who = |role| if role == ChatRole::User { Role::Customer } else { Role::Agent };
    let mut turns: Vec<(Role, &str)> =
        before.iter().map(|message| (who(message.role), message.text.as_str())).collect();
    turns.push((who(role), text));
    let mut stored = text.to_owned();
    for (at, redacted) in redaction::turns(&turns, &row.language) {
        match before.get(at) {
            Some(earlier) => {
                row.characters += redacted.chars().count() as i64 - earlier.text.chars().count() as i64;
                chats::set_text(&mut tx.of(tenant), row.id, earlier.seq, &redacted)?;
                if row.channel == Channel::Chatapp && earlier.role == ChatRole::User {
                    channel_conversations::rewrite(&mut tx.of(tenant), row.id, earlier.seq, &redacted)?;
                }
            }
            None => stored = redacted,
        }
    }
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> MessageRow {
        MessageRow {
            seq: 1,
            role: ChatRole::User,
            text: text.to_owned(),
            author: None,
            agent_name: None,
            at: Timestamp(0),
            language: None,
        }
    }

    #[test]
    fn what_was_written_is_known_to_the_reply_and_no_longer() {
        let words = UnkeptWords::default();
        let (chat, now) = (Id::<Chat>::new(1, 1), Timestamp(0));
        let asked = [message("hello"), message(SECRET), message("[otp]")];
        let asked: Vec<&MessageRow> = asked.iter().collect();
        assert_eq!(words.said(chat, true, &asked, now), "hello\n[secret]\n[otp]");
        words.remember(chat, SECRET.into(), "4321".into(), now);
        words.remember(chat, "[otp]".into(), "482913".into(), now);
        assert_eq!(words.said(chat, true, &asked, now), "hello\n4321\n482913");
        assert_eq!(words.said(chat, false, &asked, now), "hello\n[secret]\n482913");
        assert_eq!(words.said(chat, true, &asked, now.plus(REMEMBERED)), "hello\n[secret]\n[otp]");
        words.forget(chat);
        assert_eq!(words.said(chat, true, &asked, now), "hello\n[secret]\n[otp]");
    }

    #[test]
    fn what_is_remembered_has_bounds() {
        let words = UnkeptWords::default();
        let now = Timestamp(0);
        for chat in 0..=MOST_CHATS as u64 {
            words.remember(Id::<Chat>::new(1, u128::from(chat)), "a".into(), "b".into(), now);
        }
        assert_eq!(words.lock().len(), MOST_CHATS);
        words.remember(Id::<Chat>::new(2, 0), "a".into(), "b".into(), now.plus(REMEMBERED));
        assert_eq!(words.lock().len(), 1);
        for _ in 0..9 {
            words.remember(Id::<Chat>::new(2, 0), "a".into(), "b".into(), now);
        }
        words.remember(Id::<Chat>::new(2, 0), "a".into(), "b".repeat(LONGEST + 1), now);
        assert_eq!(words.lock()[&Id::<Chat>::new(2, 0)].messages.len(), MOST_MESSAGES);
    }
}

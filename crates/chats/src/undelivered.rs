//! Messages that the messaging channel did not deliver: such a message keeps its place in the transcript, marked, since
//! its place may have been shown, and others follow it. No model reads it
//! (docs/contract/channel-conversations.md#replies).

use std::collections::{BTreeMap, BTreeSet};

use domain::chat::{Channel, Role};
use domain::conversation::Conversation;
use store::chats::{self, ChatRow, MessageRow};
use store::{DbError, Tx, channel_conversations};

/// The indexes of a chat's messages that were not delivered.
pub fn undelivered(tx: &mut Tx<'_>, row: &ChatRow) -> Result<BTreeSet<i64>, DbError> {
    match row.channel {
        Channel::Chatapp => {
            Ok(channel_conversations::failed_in(&mut tx.of(row.workspace), row.id)?.into_iter().collect())
        }
        Channel::Api | Channel::Web => Ok(BTreeSet::new()),
    }
}

/// The text of a message that failed after it had entered the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unsaid {
    text: String,
    /// The indexes of the delivered messages with this text.
    delivered: Vec<i64>,
}

/// Undelivered texts that the conversation of a chat may contain.
pub(crate) fn unsaid(tx: &mut Tx<'_>, row: &ChatRow, failed: &BTreeSet<i64>) -> Result<Vec<Unsaid>, DbError> {
    if failed.is_empty() {
        return Ok(Vec::new());
    }
    Ok(among(chats::messages(&mut tx.of(row.workspace), row.id, 0)?, failed))
}

fn among(messages: Vec<MessageRow>, failed: &BTreeSet<i64>) -> Vec<Unsaid> {
    let mut words: BTreeMap<String, (bool, Vec<i64>)> = BTreeMap::new();
    for message in messages.into_iter().filter(|message| message.role != Role::User) {
        let (lost, delivered) = words.entry(message.text).or_default();
        match failed.contains(&message.seq) {
            true => *lost = true,
            false => delivered.push(message.seq),
        }
    }
    let lost = words.into_iter().filter(|(_, (lost, _))| *lost);
    lost.map(|(text, (_, delivered))| Unsaid { text, delivered }).collect()
}

/// Removes them from a conversation that contains the messages up to `heard`. Where the same text was sent again and
/// delivered, that one stays.
pub(crate) fn forget(conversation: &mut Conversation, unsaid: &[Unsaid], heard: i64) {
    for words in unsaid {
        let keep = words.delivered.iter().filter(|seq| **seq <= heard).count();
        conversation.unsay(&words.text, keep);
    }
}

//! Checkpoints of a reply, stored before and after each tool call: the request and the result of a tool outlive the
//! try, the turn, and the process (docs/chats.md#the-life-of-a-message).

use std::collections::VecDeque;

use app::Failure;
use domain::chat::{Role as ChatRole, TurnKind};
use domain::conversation::{Conversation, Input, Output, Role, State};
use serde::{Deserialize, Serialize};
use store::Tx;
use store::chats::{self, ChatRow, MessageRow};

use crate::written::{Line, joined, noted, parted};

/// The checkpoint of an unfinished reply that has called a tool.
#[derive(Serialize, Deserialize)]
pub(crate) struct Progress {
    pub conversation: State,
    pub words: Vec<Line>,
    pub queue: VecDeque<Output>,
    /// The newest message that the conversation contains; `None` in checkpoints of an earlier version.
    #[serde(default)]
    pub heard: Option<i64>,
    /// The turn that stored it; `None` in checkpoints of an earlier version, which were valid for the same turn only.
    #[serde(default)]
    pub stored_by: Option<i64>,
    /// The turn in the idempotency keys of its tool calls: the first one.
    #[serde(default)]
    pub keyed: Option<i64>,
    /// The tool call that was begun and has no stored result.
    #[serde(default)]
    pub begun: Option<u64>,
    /// A message that the conversation contains and that was withdrawn.
    #[serde(default)]
    pub taken_back: Option<String>,
}

impl Progress {
    /// What was stored.
    ///
    /// # Errors
    /// Internal only: what was stored can be read.
    pub fn read(text: &str) -> Result<Self, Failure> {
        serde_json::from_str(text).map_err(|why| Failure::internal(format!("a stored reply: {why}")))
    }

    /// As it is stored.
    ///
    /// # Errors
    /// Internal only.
    pub fn write(&self) -> Result<String, Failure> {
        serde_json::to_string(self).map_err(|why| Failure::internal(why.to_string()))
    }

    /// Whether a turn that is over left it, and not an earlier try of this one. An earlier version says nothing of the
    /// turn; then a first try cannot have stored it.
    pub fn left_over(&self, turn: i64, attempt: i64) -> bool {
        self.stored_by.map_or(attempt == 1, |stored_by| stored_by != turn)
    }
}

/// The stored progress of a chat's unfinished reply.
fn stored(tx: &mut Tx<'_>, row: &ChatRow) -> Result<Option<Progress>, Failure> {
    let kept = chats::state(&mut tx.of(row.workspace), row.id)?.progress;
    kept.as_deref().map(Progress::read).transpose()
}

fn store(tx: &mut Tx<'_>, row: &ChatRow, progress: &Progress) -> Result<(), Failure> {
    Ok(chats::save_progress(&mut tx.of(row.workspace), row.id, Some(&progress.write()?))?)
}

/// A message is withdrawn that the unfinished reply may contain: it is recognised when it comes again. `row` does not
/// count it any more.
pub(crate) fn take_back(tx: &mut Tx<'_>, row: &ChatRow, text: &str) -> Result<(), Failure> {
    let Some(mut progress) = stored(tx, row)? else { return Ok(()) };
    if progress.heard.is_none_or(|heard| heard <= row.messages) {
        return Ok(());
    }
    progress.heard = Some(row.messages);
    progress.taken_back = Some(text.to_owned());
    store(tx, row, &progress)
}

/// The text of the unfinished reply was sent, or refused: it is not sent again.
pub(crate) fn drop_words(tx: &mut Tx<'_>, row: &ChatRow) -> Result<(), Failure> {
    let Some(mut progress) = stored(tx, row)? else { return Ok(()) };
    progress.words.clear();
    store(tx, row, &progress)
}

/// Stores the answer of a tool although the try has lost its lease: a person took the chat meanwhile, or another try
/// goes on. Only if the call is still marked as begun.
pub(crate) fn answered_late(
    tx: &mut Tx<'_>,
    row: &ChatRow,
    request: u64,
    mut answered: Progress,
) -> Result<(), Failure> {
    let Some(kept) = stored(tx, row)? else { return Ok(()) };
    if kept.begun != Some(request) || kept.keyed != answered.keyed {
        return Ok(());
    }
    answered.heard = kept.heard;
    answered.taken_back = kept.taken_back;
    store(tx, row, &answered)
}

/// Resumes from the checkpoint of an earlier turn: passes later messages to the conversation, and queues the outputs in
/// `queue`. A withdrawn message that comes again is in the conversation already.
pub(crate) fn go_on(
    conversation: &mut Conversation,
    queue: &mut VecDeque<Output>,
    left: &Left<'_>,
    mut unheard: Vec<MessageRow>,
) {
    unheard.retain(|message| message.seq > left.heard);
    let again = |message: &&MessageRow| {
        message.seq == left.heard + 1
            && message.role == ChatRole::User
            && Some(&*message.text) == left.taken_back
    };
    if unheard.first().as_ref().is_some_and(again) {
        unheard.remove(0);
    }
    let answers = left.kind == TurnKind::Message || left.on_channel && left.kind == TurnKind::Opening;
    let (before, last) = match answers {
        true => parted(&unheard, left.on_channel, left.given_back),
        false => (unheard.iter().collect(), Vec::new()),
    };
    for message in &before {
        conversation.step(noted(message));
    }
    let words = joined(&last);
    let goes_on =
        queue.iter().any(|output| matches!(output, Output::AskModel { .. } | Output::CallTool { .. }));
    if !words.is_empty() && goes_on {
        let outputs = conversation.step(Input::Heard { text: words });
        if outputs.iter().any(|output| matches!(output, Output::AskModel { .. })) {
            queue.retain(|output| !matches!(output, Output::AskModel { .. }));
        }
        queue.extend(outputs);
    } else if !words.is_empty() {
        // The flow's next text was not seen yet: these messages do not answer it.
        conversation.step(Input::Noted { role: Role::Customer, text: words });
    }
    queue.iter_mut().for_each(|output| conversation.show_history(output));
}

/// The checkpoint of an earlier turn, beside its conversation.
pub(crate) struct Left<'a> {
    /// The message that the new turn answers.
    pub kind: TurnKind,
    /// Whether the messaging channel carries the chat.
    pub on_channel: bool,
    /// The newest message when a person gave the chat back.
    pub given_back: i64,
    /// The newest message that the conversation contains.
    pub heard: i64,
    /// A message that it contains and that was withdrawn.
    pub taken_back: Option<&'a str>,
}

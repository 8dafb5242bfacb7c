//! The agent's reply: leases, retries, and storing it exactly once (docs/contract/chats.md#replies).

use std::sync::Arc;

use api::chats::ChatReply;
use api::error_codes as codes;
use app::chat_words::Writer;
use app::{App, Failure};
use domain::chat::{Channel, EndCause, MAX_ATTEMPTS, MAX_FAILED_REPLIES, MAX_FAILURES, Role, TurnKind};
use domain::conversation::EndCause as TalkEnd;
use domain::tenant::Tenant;
use domain::time::SECOND;
use serde_json::Value;
use store::Tx;
use store::channel_conversations;
use store::chats::{self, ChatRow};
use tokio::sync::oneshot;

use crate::carried::{OFF, Sendable, carry, in_one, leave_to_person, not_carried, sendable};
use crate::channel_documents;
use crate::feed::Feed;
use crate::progress;
use crate::session::{
    Claim, Env, Legacy, close_turn, drop_turn, end_with, hand_off, next_attempt, save, unanswered, write,
};
use crate::turn::play;
use crate::written::{Then, Trouble, Written};

/// A permit for one reply, of this node and of its workspace.
pub(crate) struct Room {
    _node: app::limits::shares::Share<()>,
    _workspace: app::limits::shares::Share<Tenant>,
}

/// Takes a permit for a reply.
///
/// # Errors
/// 429 at the ceiling of the workspace, 503 at that of the node.
pub(crate) fn take_room(app: &App, tenant: Tenant) -> Result<Room, Failure> {
    let soon = |failure: Failure| Failure { retry_after: Some(1), ..failure };
    let settings = &app.config.chats;
    let workspace =
        app.shares.replies_of.take(tenant, 1, settings.replies_per_workspace).ok_or_else(|| {
            soon(Failure::new(
                codes::RATE_LIMITED,
                "too many replies are being written for this workspace; try again later",
            ))
        })?;
    let node = app.shares.replies.take((), 1, settings.replies).ok_or_else(|| {
        soon(Failure::new(
            codes::UNAVAILABLE,
            "too many replies are being written; nothing was changed, try again",
        ))
    })?;
    Ok(Room { _node: node, _workspace: workspace })
}

/// Writes a reply in a task of its own: a disconnected client does not stop it, a shutdown waits for it, and the manual
/// clock counts it. Returns the receiver of the result.
pub(crate) fn start(
    app: &Arc<App>,
    claim: Claim,
    feed: Feed,
    room: Room,
) -> oneshot::Receiver<Result<ChatReply, Failure>> {
    let (done, written) = oneshot::channel();
    let writer = app.clone();
    app.clock.spawn(async move {
        let outcome = Box::pin(write_reply(&writer, claim, &feed)).await;
        drop((feed, room));
        let _ = done.send(outcome);
    });
    written
}

/// Waits for the result of a reply.
///
/// # Errors
/// Those of the reply.
pub(crate) async fn wait(
    written: oneshot::Receiver<Result<ChatReply, Failure>>,
) -> Result<ChatReply, Failure> {
    written.await.unwrap_or_else(|_| Err(Failure::internal("a reply ended without an outcome")))
}

/// What follows a failed try.
enum Next {
    Try(Claim),
    Over(Result<ChatReply, Failure>),
}

async fn write_reply(app: &Arc<App>, mut claim: Claim, feed: &Feed) -> Result<ChatReply, Failure> {
    loop {
        // An opening, a document and a handback do not fail: in the end the interpreter uses its own texts.
        let alone = claim.kind != TurnKind::Message && claim.attempt > MAX_ATTEMPTS;
        let played = match claim.carried && claim.kind == TurnKind::Message {
            true => match channel_documents::take(app, claim).await {
                Ok(taken) => {
                    claim = taken;
                    play(app, &claim, feed, alone).await
                }
                Err(trouble) => Err(trouble),
            },
            false => play(app, &claim, feed, alone).await,
        };
        let next = match played {
            Ok(written) => {
                let (env, written) = (Env::of(app), Arc::new(written));
                return app.store.tx(move |tx| store_reply(tx, &env, &claim, &written)).await;
            }
            Err(trouble) => {
                let env = Env::of(app);
                let again = match trouble {
                    Trouble::Model { again } => again,
                    Trouble::Late | Trouble::Unavailable => true,
                    Trouble::Gone => return gone(app, claim).await,
                    Trouble::Store(failure) => {
                        // Its lease expires, and it is retried.
                        failure.warn_about(claim.chat, "a reply in a chat waits for its lease");
                        return Err(failure);
                    }
                };
                app.store.tx(move |tx| after_trouble(tx, &env, &claim, again)).await?
            }
        };
        match next {
            Next::Try(next) => claim = next,
            Next::Over(outcome) => return outcome,
        }
    }
}

/// Another task ended the reply: its result is the answer.
async fn gone(app: &App, claim: Claim) -> Result<ChatReply, Failure> {
    app.store.read(move |tx| what_became(tx, &claim)).await
}

/// The result of a reply whose try lost the lease: another try was faster, or a person took the chat over.
fn what_became(tx: &mut Tx<'_>, claim: &Claim) -> Result<ChatReply, Failure> {
    let Some(row) = chats::get(&mut tx.of(claim.tenant), claim.chat)? else {
        return Ok(ChatReply { reply: None, ended: true, handed_off: false });
    };
    if row.turn == claim.turn && row.turn_kind.is_some() {
        return Err(Failure::plain(codes::REPLY_IN_PROGRESS));
    }
    let messages = chats::messages(&mut tx.of(claim.tenant), claim.chat, claim.messages - 1)?;
    let find = |seq| messages.iter().find(|message| message.seq == seq);
    let stayed = find(claim.messages).is_some_and(|message| message.at == claim.at);
    if claim.kind == TurnKind::Message && !stayed {
        return Err(Failure::plain(codes::REPLY_FAILED));
    }
    let mut now = unanswered(row.state);
    if row.heard >= claim.messages && !now.handed_off {
        let next = find(claim.messages + 1).filter(|next| next.role == Role::Agent);
        now.reply = next.map(|next| next.text.clone());
    }
    Ok(now)
}

/// Stores the reply, the new state of the conversation and its events, if the try still holds the lease.
fn store_reply(tx: &mut Tx<'_>, env: &Env, claim: &Claim, written: &Written) -> Result<ChatReply, Failure> {
    if claim.carried {
        channel_conversations::lock_thread(&mut tx.of(claim.tenant), claim.chat)?;
    }
    let row = chats::get_for_update(&mut tx.of(claim.tenant), claim.chat)?;
    let Some(mut row) = row.filter(|row| claim.holds(row)) else {
        return what_became(tx, claim);
    };
    // On the messaging channel more may have arrived while the reply was written; it is for the next one.
    let more = row.messages > written.heard;
    let reply = match row.channel {
        Channel::Chatapp => match carry(tx, env, &mut row, &written.words, Writer::Agent)? {
            Ok(reply) => reply,
            Err(refused) => return not_carried(tx, env, row, &refused),
        },
        Channel::Api | Channel::Web => {
            let reply = in_one(&written.words);
            if let Some(text) = &reply {
                write(tx, env, &mut row, Role::Agent, text, None)?;
            }
            reply
        }
    };
    if row.language != written.language {
        chats::set_language(&mut tx.of(claim.tenant), claim.chat, written.heard, &written.language)?;
        row.language.clone_from(&written.language);
    }
    row.heard = if more { written.heard } else { row.messages };
    if !more {
        row.reply_at = None;
        row.unanswered_at = None;
    }
    row.failures = 0;
    row.awaits_secret = written.awaits_secret && matches!(written.then, Then::Wait);
    let (unkept, chat) = (env.unkept.clone(), row.id);
    tx.after_commit(move || unkept.forget(chat));
    chats::save_state(&mut tx.of(claim.tenant), claim.chat, &written.state)?;
    match &written.then {
        Then::Wait => {
            let answer = ChatReply { reply, ended: false, handed_off: false };
            close_turn(tx, &mut row, &answer)?;
            save(tx, env, &mut row)?;
            Ok(answer)
        }
        Then::Person => {
            hand_off(tx, env, &mut row, None)?;
            // The text before it is in the transcript; from here on the new owner answers.
            let answer = unanswered(row.state);
            close_turn(tx, &mut row, &answer)?;
            save(tx, env, &mut row)?;
            Ok(answer)
        }
        Then::End { outcome, cause } => {
            let answer = ChatReply { reply, ended: true, handed_off: false };
            close_turn(tx, &mut row, &answer)?;
            let extracted = Some(Value::Object(written.extracted.clone()));
            let legacy = Legacy { outcome: outcome.clone(), extracted, path: written.path.clone() };
            end_with(tx, env, &mut row, end_cause(*cause), legacy)?;
            Ok(answer)
        }
    }
}

/// The end cause of a chat whose conversation ended.
fn end_cause(cause: TalkEnd) -> EndCause {
    match cause {
        TalkEnd::AgentEnded | TalkEnd::CallerHangup | TalkEnd::SilenceTimeout | TalkEnd::TransferHandoff => {
            EndCause::AgentEnded
        }
        TalkEnd::ModelUnavailable | TalkEnd::Error => EndCause::AiUnavailable,
    }
}

fn after_trouble(tx: &mut Tx<'_>, env: &Env, claim: &Claim, again: bool) -> Result<Next, Failure> {
    let row = chats::get_for_update(&mut tx.of(claim.tenant), claim.chat)?;
    let Some(mut row) = row.filter(|row| claim.holds(row)) else {
        return Ok(Next::Over(what_became(tx, claim)));
    };
    match try_again(tx, env, &mut row, claim.kind, again)? {
        Some(claim) => Ok(Next::Try(claim)),
        None if row.state.with_person() => Ok(Next::Over(Ok(unanswered(row.state)))),
        None => Ok(Next::Over(Err(Failure::plain(codes::REPLY_FAILED)))),
    }
}

/// Begins the next try of a reply, or gives it up. Saves the row.
pub(crate) fn try_again(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    kind: TurnKind,
    again: bool,
) -> Result<Option<Claim>, Failure> {
    // The number may have stopped sending since the try before, or the agents are off now.
    if row.channel == Channel::Chatapp {
        match sendable(tx, row)? {
            Sendable::From(_) => {}
            Sendable::NotNow => {
                row.turn_until = Some(env.context.now.plus(OFF));
                save(tx, env, row)?;
                return Ok(None);
            }
            Sendable::NoNumber => {
                leave_to_person(tx, env, row)?;
                return Ok(None);
            }
        }
    }
    let over = !again || row.turn_attempt >= MAX_ATTEMPTS;
    if over && (kind == TurnKind::Message || row.channel == Channel::Chatapp) {
        give_up(tx, env, row)?;
        return Ok(None);
    }
    if over {
        // The last try does without the model.
        row.turn_attempt = row.turn_attempt.max(MAX_ATTEMPTS);
    }
    let claim = next_attempt(env, row, kind);
    save(tx, env, row)?;
    Ok(Some(claim))
}

/// The agent could not reply. The message is withdrawn, so that the client can send it again; after several failures in a
/// row, or many in all, it stays and the chat is handed off. Results of tools are kept.
fn give_up(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow) -> Result<(), Failure> {
    row.failures += 1;
    row.failed_replies += 1;
    tracing::error!(chat = %row.id, failures = row.failures, "a reply in a chat was given up");
    // On the messaging channel nothing is withdrawn: the customer has sent it.
    let too_many = row.failures >= MAX_FAILURES || row.failed_replies > MAX_FAILED_REPLIES;
    if too_many || row.channel == Channel::Chatapp {
        hand_off(tx, env, row, Some("ai_error"))?;
        let answer = unanswered(row.state);
        close_turn(tx, row, &answer)?;
    } else {
        let newest = chats::messages(&mut tx.of(row.workspace), row.id, row.messages - 1)?;
        for message in newest.into_iter().filter(|message| message.role == Role::User) {
            chats::remove_message(&mut tx.of(row.workspace), row.id, message.seq)?;
            row.messages -= 1;
            row.customer_messages -= 1;
            row.characters -= message.text.chars().count() as i64;
            progress::take_back(tx, row, &message.text)?;
        }
        drop_turn(tx, row)?;
    }
    save(tx, env, row)
}

/// Retry delay of a reply without a permit, milliseconds.
pub(crate) const NO_ROOM: i64 = SECOND;

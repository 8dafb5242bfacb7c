//! Messages of customers over the API, and the end of a session by the client.

use std::sync::Arc;

use api::chats::{ChatReply, ChatSession};
use api::error_codes as codes;
use app::idempotency::{Answer, Claim as Key, Once};
use app::{App, Failure, access};
use domain::chat::{EndCause, MAX_CHARACTERS, MAX_MESSAGES, Role, State, TurnKind, times_out};
use domain::ids::{Chat, Id, TestLink};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::json;
use store::TenantTx;
use store::chats::{self, ChatRow};
use tokio::sync::oneshot;

use crate::feed::Feed;
use crate::session::{
    Claim, Env, begin_turn, end as end_chat, find_session, save, standing, unanswered, write,
};
use crate::{read, reply};

pub enum Accepted {
    /// The answer is final: a repeated request, or a person has the session.
    Given(Answer),
    /// The agent writes its reply.
    Writing(Writing),
}

/// A reply that is being written.
pub struct Writing(oneshot::Receiver<Result<ChatReply, Failure>>);

impl Writing {
    /// Waits for its result.
    ///
    /// # Errors
    /// 502 `reply_failed`.
    pub async fn reply(self) -> Result<ChatReply, Failure> {
        reply::wait(self.0).await
    }
}

/// The result of a message's first transaction.
enum Intent {
    Given(Answer),
    /// The session has just ended, because it lasted too long or is full.
    Over,
    Write(Claim),
}

/// Accepts a message of the customer. The agent's reply is streamed to `feed`.
///
/// # Errors
/// docs/contract/chats.md#errors
pub async fn send(
    app: &Arc<App>,
    tenant: Tenant,
    id: Id<Chat>,
    once: Once,
    text: String,
    feed: Feed,
) -> Result<Accepted, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::field("text", "must not be blank"));
    }
    let room = reply::take_room(app, tenant)?;
    let env = Env::of(app);
    let accepted = move |tx: &mut TenantTx| {
        let find = |tx: &mut TenantTx| find_session(tx, id);
        accept(tx, &env, find, &once, &text)
    };
    let intent = app.of(tenant).tx(accepted).await?;
    match intent {
        Intent::Given(answer) => Ok(Accepted::Given(answer)),
        Intent::Over => Err(Failure::plain(codes::SESSION_ENDED)),
        Intent::Write(claim) => Ok(Accepted::Writing(Writing(reply::start(app, claim, feed, room)))),
    }
}

/// The same for a message in a test chat of this link, which `counted` counts; waits for the reply.
pub(crate) async fn send_in_test(
    app: &Arc<App>,
    tenant: Tenant,
    id: Id<Chat>,
    link: Id<TestLink>,
    counted: impl Fn(&mut TenantTx, Timestamp) -> Result<(), Failure> + Send + 'static,
    text: String,
) -> Result<ChatReply, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::field("text", "must not be blank"));
    }
    let room = reply::take_room(app, tenant)?;
    let env = Env::of(app);
    let accepted = move |tx: &mut TenantTx| {
        counted(tx, env.context.now)?;
        let find = |tx: &mut TenantTx| {
            let row = chats::get_for_update(tx, id)?.filter(|row| row.test_link == Some(link));
            row.ok_or_else(|| Failure::not_found("test chat"))
        };
        accept(tx, &env, find, &Once::unkeyed(), &text)
    };
    match app.of(tenant).tx(accepted).await? {
        Intent::Given(answer) => {
            let body: ReplyBody = serde_json::from_str(&answer.body)
                .map_err(|why| Failure::internal(format!("the answer of a test chat: {why}")))?;
            Ok(body.data)
        }
        Intent::Over => Err(Failure::plain(codes::SESSION_ENDED)),
        Intent::Write(claim) => reply::wait(reply::start(app, claim, Feed::silent(), room)).await,
    }
}

/// An answer as it is sent.
#[derive(serde::Deserialize)]
struct ReplyBody {
    data: ChatReply,
}

fn accept(
    tx: &mut TenantTx,
    env: &Env,
    find: impl Fn(&mut TenantTx) -> Result<ChatRow, Failure>,
    once: &Once,
    text: &str,
) -> Result<Intent, Failure> {
    if let Key::Given(answer) = once.reserve(tx, env.context.now)? {
        return Ok(Intent::Given(answer));
    }
    let mut row = find(tx)?;
    if row.state == State::Ended || row.wish.is_some() {
        return Err(Failure::plain(codes::SESSION_ENDED));
    }
    if row.turn_kind.is_some() {
        return Err(Failure::plain(codes::REPLY_IN_PROGRESS));
    }
    let full = row.messages >= MAX_MESSAGES || row.characters + text.chars().count() as i64 > MAX_CHARACTERS;
    let over = times_out(&standing(&row), env.limits, env.context.now);
    if let Some(cause) = over.or(full.then_some(EndCause::MaxDuration)) {
        end_chat(tx, env, &mut row, cause)?;
        once.free(tx)?;
        return Ok(Intent::Over);
    }
    write(tx, env, &mut row, Role::User, text, None)?;
    if row.state.with_person() {
        let answer = json!({"data": unanswered(row.state)});
        save(tx, env, &mut row)?;
        let contact = row.contact.map(|contact| contact.to_string());
        return Ok(Intent::Given(once.finish(tx, 200, &answer, contact.as_deref())?));
    }
    let claim = begin_turn(env, &mut row, TurnKind::Message);
    row.once = once.key_and_holder();
    once.hold(tx)?;
    save(tx, env, &mut row)?;
    Ok(Intent::Write(claim))
}

/// `POST /v1/chat/sessions/{id}/end`. Idempotent.
///
/// # Errors
/// 404.
pub async fn end(app: &Arc<App>, tenant: Tenant, id: Id<Chat>) -> Result<ChatSession, Failure> {
    let env = Env::of(app);
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            let mut row = find_session(tx, id)?;
            end_chat(tx, &env, &mut row, EndCause::Completed)?;
            Ok::<_, Failure>(())
        })
        .await?;
    read::session(app, tenant, Mode::Live, id).await
}

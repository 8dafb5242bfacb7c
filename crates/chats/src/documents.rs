//! A document that a customer uploads through the API (docs/contract/documents.md): checked, stored, and reacted to by
//! the agent.
//!
//! Two transactions with the slow work between them. The first checks that a document is wanted, and records its objects
//! as to be deleted. The second keeps them, if the document is accepted and still wanted, and begins the agent's reply. So
//! no crash leaves an object that no row names, and the document is still wanted after one.

use std::sync::Arc;

use api::documents::UploadedDocument;
use api::error_codes as codes;
use app::{App, Failure};
use domain::chat::{EndCause, Role, State, TurnKind, times_out};
use domain::conversation::AskedDocument;
use domain::document::Verdict;
use domain::ids::{Chat, Id};
use domain::tenant::Tenant;
use store::chats::ChatRow;
use store::documents::DocumentRow;
use store::{TenantTx, Tx};
use tokio::sync::oneshot;

use crate::document_checks::{Part, SentFile, drop_now, keep, owe, put_and_judge, reasons, taken, wanted};
use crate::feed::Feed;
use crate::reply;
use crate::session::{Claim, Env, begin_turn, end as end_chat, find_session, save, standing, write};

/// Submits the document that the agent asked for. Returns after the agent's reaction.
///
/// # Errors
/// docs/contract/documents.md#errors
pub async fn hand_in(
    app: &Arc<App>,
    tenant: Tenant,
    id: Id<Chat>,
    files: Vec<SentFile>,
) -> Result<UploadedDocument, Failure> {
    let parts = taken(app, files)?;
    let room = reply::take_room(app, tenant)?;
    let (done, checked) = oneshot::channel();
    let checker = app.clone();
    // The manual clock counts it, and a shutdown waits for it.
    app.clock.spawn(async move {
        let _ = done.send(Box::pin(check(&checker, tenant, id, parts)).await);
    });
    let gone = |_| Err(Failure::internal("a document ended without an outcome"));
    let (claim, row) = checked.await.unwrap_or_else(gone)?;
    let answer = reply::wait(reply::start(app, claim, Feed::silent(), room)).await?;
    Ok(UploadedDocument {
        document_id: row.id,
        status: row.status,
        reasons: reasons(&row),
        attempts: row.attempts,
        reply: answer.reply,
        ended: answer.ended,
        handed_off: answer.handed_off,
    })
}

/// Stores and judges the files, and stores the result. Returns the claim of the agent's reply.
async fn check(
    app: &Arc<App>,
    tenant: Tenant,
    id: Id<Chat>,
    parts: Vec<Part>,
) -> Result<(Claim, DocumentRow), Failure> {
    let (env, owed) = (Env::of(app), parts.clone());
    let begun = app.of(tenant).tx(move |tx| begin(tx, &env, id, &owed)).await?;
    let Begun::Wanted(asked) = begun else { return Err(Failure::plain(codes::SESSION_ENDED)) };
    let verdict = put_and_judge(app, tenant, id, &asked, &parts).await?;
    let (env, put) = (Env::of(app), parts.clone());
    let told = app.of(tenant).tx(move |tx| finish(tx, &env, id, &asked, &verdict, &parts)).await;
    if !matches!(told, Ok(Finished::Taken(..))) {
        drop_now(app, tenant, put).await;
    }
    match told? {
        Finished::Taken(claim, row) => Ok((claim, *row)),
        Finished::Over => Err(Failure::plain(codes::SESSION_ENDED)),
    }
}

/// The result of the first transaction.
enum Begun {
    Wanted(AskedDocument),
    /// The session has just ended, because it lasted too long.
    Over,
}

/// The chat, if it is open and no reply is being written; `None` when it has just timed out.
fn open_chat(tx: &mut TenantTx, env: &Env, id: Id<Chat>) -> Result<Option<ChatRow>, Failure> {
    let mut row = find_session(tx, id)?;
    if row.state == State::Ended || row.wish.is_some() {
        return Err(Failure::plain(codes::SESSION_ENDED));
    }
    if row.turn_kind.is_some() {
        return Err(Failure::plain(codes::REPLY_IN_PROGRESS));
    }
    if let Some(cause) = times_out(&standing(&row), env.limits, env.context.now) {
        end_chat(tx, env, &mut row, cause)?;
        return Ok(None);
    }
    if row.messages >= domain::chat::MAX_MESSAGES {
        end_chat(tx, env, &mut row, EndCause::MaxDuration)?;
        return Ok(None);
    }
    Ok(Some(row))
}

fn asked(tx: &mut Tx<'_>, row: &ChatRow) -> Result<AskedDocument, Failure> {
    wanted(tx, row)?.ok_or_else(|| Failure::plain(codes::DOCUMENT_NOT_REQUESTED))
}

fn begin(tx: &mut TenantTx, env: &Env, id: Id<Chat>, parts: &[Part]) -> Result<Begun, Failure> {
    let Some(row) = open_chat(tx, env, id)? else { return Ok(Begun::Over) };
    let asked = asked(tx, &row)?;
    owe(tx, env, parts)?;
    Ok(Begun::Wanted(asked))
}

/// The result of the second transaction.
enum Finished {
    Taken(Claim, Box<DocumentRow>),
    Over,
}

fn finish(
    tx: &mut TenantTx,
    env: &Env,
    id: Id<Chat>,
    was_asked: &AskedDocument,
    verdict: &Verdict,
    parts: &[Part],
) -> Result<Finished, Failure> {
    let Some(mut chat) = open_chat(tx, env, id)? else { return Ok(Finished::Over) };
    // Another upload may have been taken meanwhile.
    if asked(tx, &chat)? != *was_asked {
        return Err(Failure::plain(codes::DOCUMENT_NOT_REQUESTED));
    }
    let row = keep(tx, env, &chat, was_asked, verdict, parts)?;
    write(tx, env, &mut chat, Role::User, &format!("[{}]", was_asked.label), None)?;
    let claim = begin_turn(env, &mut chat, TurnKind::Document);
    save(tx, env, &mut chat)?;
    Ok(Finished::Taken(claim, Box::new(row)))
}

//! A document that a customer sends on the messaging channel (docs/contract/documents.md#on-the-messaging-channel): when
//! the reply to what came begins, and the agent waits for a document, the files that came are handed in.
//!
//! As over the API, the first transaction writes the objects down as ones to be dropped, and the second keeps them. The
//! second also turns the reply into one to a document, so whoever takes it up after a crash does not hand them in again.

use std::sync::Arc;

use app::{App, Failure};
use domain::chat::{LEASE, TurnKind};
use domain::conversation::AskedDocument;
use domain::document::{FileType, MAX_FILE, MAX_PARTS, MAX_UPLOAD, Verdict};
use store::chats::ChatRow;
use store::{Tx, channel_conversations, chats};

use crate::documents::{Part, SentFile, drop_now, keep, owe, put_and_judge, taken, wanted};
use crate::session::{Claim, Env, save};
use crate::turn::Trouble;

/// The files that have come since the agent's last reply, and what it waits for; `None` when it waits for no document,
/// or no file has come.
fn sent(tx: &mut Tx<'_>, claim: &Claim) -> Result<Option<(AskedDocument, Vec<String>)>, Failure> {
    let row = chats::get(tx, claim.tenant, claim.chat)?.filter(|row| claim.holds(row));
    let Some(row) = row else { return Ok(None) };
    let most = MAX_FILE as i64;
    let files = channel_conversations::files_since(tx, claim.tenant, claim.chat, row.heard, most)?;
    let mut room = MAX_UPLOAD as i64;
    let files: Vec<String> = files
        .into_iter()
        .take_while(|(_, bytes)| {
            room -= bytes;
            room >= 0
        })
        .map(|(object, _)| object)
        .collect();
    // A reply that got as far as a tool has its first step behind it.
    if files.is_empty() || chats::state(tx, claim.tenant, claim.chat)?.progress.is_some() {
        return Ok(None);
    }
    Ok(wanted(tx, &row)?.map(|asked| (asked, files)))
}

/// Hands in what the customer has sent, if the agent waits for a document: the claim with which the reply goes on.
pub(crate) async fn take(app: &Arc<App>, claim: Claim) -> Result<Claim, Trouble> {
    let found = app.store.read(move |tx| sent(tx, &claim)).await?;
    let Some((asked, objects)) = found else { return Ok(claim) };
    let mut files = Vec::new();
    for object in objects {
        let bytes = app.clock.outside(app.ports.objects.get(&object)).await.map_err(|why| {
            tracing::warn!(chat = %claim.chat, %why, "a file that a customer sent cannot be fetched right now");
            Trouble::Unavailable
        })?;
        // One that is gone was erased or deleted meanwhile. One of another type is no document.
        let bytes = bytes.filter(|bytes| FileType::of(bytes).is_some());
        files.extend(bytes.map(|bytes| SentFile { part: String::new(), bytes: bytes.into() }));
    }
    files.truncate(MAX_PARTS);
    if files.is_empty() {
        return Ok(claim);
    }
    let parts = taken(app, files)?;
    let (env, owed) = (Env::of(app), parts.clone());
    let held = app.store.tx(move |tx| begin(tx, &env, &claim, &owed)).await?;
    if !held {
        return Err(Trouble::Gone);
    }
    let verdict = put_and_judge(app, claim.tenant, claim.chat, &asked, &parts).await.map_err(|failure| {
        failure.warn_about(claim.chat, "a document that a customer sent cannot be stored right now");
        Trouble::Unavailable
    })?;
    let (env, put) = (Env::of(app), parts.clone());
    let next = app.store.tx(move |tx| finish(tx, &env, claim, &asked, &verdict, &parts)).await?;
    if next.is_none() {
        drop_now(app, claim.tenant, put).await;
    }
    next.ok_or(Trouble::Gone)
}

/// The chat, if the reply is still this one's; its lease begins anew.
fn held(tx: &mut Tx<'_>, env: &Env, claim: &Claim) -> Result<Option<ChatRow>, Failure> {
    let row = chats::get_for_update(tx, claim.tenant, claim.chat)?.filter(|row| claim.holds(row));
    Ok(row.map(|mut row| {
        row.turn_until = Some(env.context.now.plus(LEASE));
        row
    }))
}

fn begin(tx: &mut Tx<'_>, env: &Env, claim: &Claim, parts: &[Part]) -> Result<bool, Failure> {
    let Some(mut row) = held(tx, env, claim)? else { return Ok(false) };
    owe(tx, env, claim.tenant, parts)?;
    save(tx, env, &mut row)?;
    Ok(true)
}

fn finish(
    tx: &mut Tx<'_>,
    env: &Env,
    claim: Claim,
    was_asked: &AskedDocument,
    verdict: &Verdict,
    parts: &[Part],
) -> Result<Option<Claim>, Failure> {
    let Some(mut row) = held(tx, env, &claim)? else { return Ok(None) };
    if wanted(tx, &row)?.as_ref() != Some(was_asked) {
        return Ok(None);
    }
    keep(tx, env, &row, was_asked, verdict, parts)?;
    row.turn_kind = Some(TurnKind::Document);
    save(tx, env, &mut row)?;
    Ok(Some(Claim { kind: TurnKind::Document, ..claim }))
}

/// Whether the reply to a file that comes now waits until the file is there: the agent waits for a document.
pub fn waits_for_file(tx: &mut Tx<'_>, row: &ChatRow) -> Result<bool, Failure> {
    Ok(wanted(tx, row)?.is_some())
}

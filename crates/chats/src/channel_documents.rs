//! Documents that customers send on the messaging channel (docs/contract/documents.md#on-the-messaging-channel): when a
//! reply begins while the agent waits for a document, the files received since are submitted.
//!
//! As over the API, the first transaction schedules the deletion of the objects, and the second keeps them. The second
//! also marks the reply as one to a document, so that a retry after a crash does not submit them again.

use std::sync::Arc;

use app::{App, Failure};
use domain::chat::{LEASE, TurnKind};
use domain::conversation::AskedDocument;
use domain::document::{FileType, MAX_FILE, MAX_PARTS, MAX_UPLOAD, Verdict};
use store::chats::ChatRow;
use store::{Tx, channel_conversations, chats};

use crate::document_checks::{Part, SentFile, drop_now, keep, owe, put_and_judge, taken, wanted};
use crate::session::{Claim, Env, save};
use crate::written::Trouble;

/// The files received since the agent's last reply, and the requested document; `None` without either.
fn sent(tx: &mut Tx<'_>, claim: &Claim) -> Result<Option<(AskedDocument, Vec<String>)>, Failure> {
    let row = chats::get(&mut tx.of(claim.tenant), claim.chat)?.filter(|row| claim.holds(row));
    let Some(row) = row else { return Ok(None) };
    let most = MAX_FILE as i64;
    let files = channel_conversations::files_since(&mut tx.of(claim.tenant), claim.chat, row.heard, most)?;
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
    if files.is_empty() || chats::state(&mut tx.of(claim.tenant), claim.chat)?.progress.is_some() {
        return Ok(None);
    }
    Ok(wanted(tx, &row)?.map(|asked| (asked, files)))
}

/// Submits the customer's files, if the agent waits for a document. Returns the claim of the reply.
pub(crate) async fn take(app: &Arc<App>, claim: Claim) -> Result<Claim, Trouble> {
    let found = app.store.read(move |tx| sent(tx, &claim)).await?;
    let Some((asked, objects)) = found else { return Ok(claim) };
    let mut files = Vec::new();
    for object in objects {
        let bytes = app.clock.outside(app.ports.objects.get(&object)).await.map_err(|why| {
            tracing::warn!(chat = %claim.chat, %why, "a file that a customer sent cannot be fetched right now");
            Trouble::Unavailable
        })?;
        // A deleted one was erased meanwhile. One of another type is no document.
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

/// Renews the lease of a reply; `None` when another try holds it.
fn held(tx: &mut Tx<'_>, env: &Env, claim: &Claim) -> Result<Option<ChatRow>, Failure> {
    let row = chats::get_for_update(&mut tx.of(claim.tenant), claim.chat)?.filter(|row| claim.holds(row));
    Ok(row.map(|mut row| {
        row.turn_until = Some(env.context.now.plus(LEASE));
        row
    }))
}

fn begin(tx: &mut Tx<'_>, env: &Env, claim: &Claim, parts: &[Part]) -> Result<bool, Failure> {
    let Some(mut row) = held(tx, env, claim)? else { return Ok(false) };
    owe(&mut tx.of(claim.tenant), env, parts)?;
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

/// Whether the reply to a file waits until it is fetched, because the agent waits for a document.
pub fn waits_for_file(tx: &mut Tx<'_>, row: &ChatRow) -> Result<bool, Failure> {
    Ok(wanted(tx, row)?.is_some())
}

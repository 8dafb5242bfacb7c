//! A document that a customer hands in (docs/contract/documents.md): checked, stored, and told to the conversation.
//!
//! Two transactions with the slow work between them. The first makes sure that a document is wanted, and writes down
//! the objects as ones to be dropped; the second keeps them, if the document is accepted and still wanted, and begins
//! the agent's reply. Wherever a crash falls, no object is left that nobody knows of, and the document is still wanted.

use std::sync::Arc;

use api::documents::{DocumentPart, ReceivedDocument, UploadedDocument};
use api::error_codes as codes;
use app::events::{self, NewEvent};
use app::{App, Context, Failure};
use domain::chat::{EndCause, Role, State, TurnKind, times_out};
use domain::conversation::{AskedDocument, Conversation, Input};
use domain::document::{
    FileType, MAX_FILE, MAX_PART_NAME, MAX_PARTS, MAX_UPLOAD, Reading, Status, Verdict, judge,
};
use domain::ids::{Chat, Document, Id};
use domain::ports::{DetailFile, DetailOrder, Haste, ReadOrder};
use domain::tenant::{Mode, Tenant};
use domain::time::HOUR;
use serde_json::{Map, Value};
use store::Tx;
use store::chats::{self, ChatRow};
use store::documents::{self, DocumentRow, PartRow};
use tokio::sync::oneshot;

use crate::feed::Feed;
use crate::reply;
use crate::session::{
    Claim, Env, begin_turn, end as end_chat, find_session, read_state, save, standing, write,
};

/// Characters of a PDF that a reader is given.
const MAX_WORDS: usize = 20_000;
/// How long an object that is being put is left alone: longer than any request takes.
const GRACE: i64 = HOUR;

/// A file as it was sent.
#[derive(Debug, Clone)]
pub struct SentFile {
    /// The name of the part; by its place when empty.
    pub part: String,
    pub bytes: Arc<[u8]>,
}

/// A file that is taken.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    name: String,
    kind: FileType,
    bytes: Arc<[u8]>,
    object: String,
}

/// Hands in what the agent asked for. It is answered when the agent has reacted to it.
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

/// Stores the files, has them read, and writes down what that means; the right to write the agent's reply to it.
async fn check(
    app: &Arc<App>,
    tenant: Tenant,
    id: Id<Chat>,
    parts: Vec<Part>,
) -> Result<(Claim, DocumentRow), Failure> {
    let (env, owed) = (Env::of(app), parts.clone());
    let begun = app.store.tx(move |tx| begin(tx, &env, tenant, id, &owed)).await?;
    let Begun::Wanted(asked) = begun else { return Err(Failure::plain(codes::SESSION_ENDED)) };
    let verdict = put_and_judge(app, tenant, id, &asked, &parts).await?;
    let (env, put) = (Env::of(app), parts.clone());
    let told = app.store.tx(move |tx| finish(tx, &env, tenant, id, &asked, &verdict, &parts)).await;
    if !matches!(told, Ok(Finished::Taken(..))) {
        drop_now(app, tenant, put).await;
    }
    match told? {
        Finished::Taken(claim, row) => Ok((claim, *row)),
        Finished::Over => Err(Failure::plain(codes::SESSION_ENDED)),
    }
}

/// Puts the files into the object store, and has them read.
///
/// # Errors
/// 503 when they cannot be stored now.
pub(crate) async fn put_and_judge(
    app: &App,
    tenant: Tenant,
    chat: Id<Chat>,
    asked: &AskedDocument,
    parts: &[Part],
) -> Result<Verdict, Failure> {
    for part in parts {
        let put = app.ports.objects.put(&part.object, part.kind.as_str(), part.bytes.to_vec());
        app.clock.outside(put).await.map_err(|why| Failure {
            cause: Some(why.to_string()),
            retry_after: Some(2),
            ..Failure::new(
                codes::UNAVAILABLE,
                "the document cannot be stored right now; nothing was changed, try again",
            )
        })?;
    }
    let reading = read(app, tenant, chat, asked, parts).await;
    Ok(judge(reading, &asked.fields, asked.attempt, asked.attempts))
}

/// The files as they are stored, each with an object of its own.
///
/// # Errors
/// 400 and 413 (docs/contract/documents.md#errors).
pub(crate) fn taken(app: &App, files: Vec<SentFile>) -> Result<Vec<Part>, Failure> {
    if files.is_empty() || files.len() > MAX_PARTS {
        return Err(Failure::field("file", format!("must be there 1 to {MAX_PARTS} times")));
    }
    let too_large = |what: &str, most: usize| {
        Failure::new(codes::PAYLOAD_TOO_LARGE, format!("{what} larger than {} MB", most >> 20))
    };
    let mut parts: Vec<Part> = Vec::new();
    for (at, file) in files.into_iter().enumerate() {
        if file.bytes.len() > MAX_FILE {
            return Err(too_large("the file is", MAX_FILE));
        }
        let kind = FileType::of(&file.bytes)
            .ok_or_else(|| Failure::field("file", "must be a PDF, a JPEG, a PNG or a WebP picture"))?;
        let name = match file.part.trim() {
            "" => format!("part{}", at + 1),
            name => name.to_owned(),
        };
        let plain = name.chars().count() <= MAX_PART_NAME && !name.chars().any(char::is_control);
        if !plain || parts.iter().any(|part| part.name == name) {
            let must = format!("must be a name of at most {MAX_PART_NAME} characters, each name once");
            return Err(Failure::field("part", must));
        }
        let object = format!("documents/{}.{}", app.ids.make::<Document>(), kind.extension());
        parts.push(Part { name, kind, bytes: file.bytes, object });
    }
    if parts.iter().map(|part| part.bytes.len()).sum::<usize>() > MAX_UPLOAD {
        return Err(too_large("the files together are", MAX_UPLOAD));
    }
    Ok(parts)
}

/// What the first transaction came to.
enum Begun {
    Wanted(AskedDocument),
    /// The session ended just now, because it has lasted too long.
    Over,
}

/// The chat, if it is open and no reply is being written; `None` when its time is up, and it has ended now.
fn open_chat(tx: &mut Tx<'_>, env: &Env, tenant: Tenant, id: Id<Chat>) -> Result<Option<ChatRow>, Failure> {
    let mut row = find_session(tx, tenant, id)?;
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

/// The document that a chat with the agent waits for, if it does.
pub(crate) fn wanted(tx: &mut Tx<'_>, row: &ChatRow) -> Result<Option<AskedDocument>, Failure> {
    if row.state != State::Ai {
        return Ok(None);
    }
    let Some(kept) = chats::state(tx, row.workspace, row.id)?.conversation else { return Ok(None) };
    let flow = app::published_flows::flow_of_id(tx, row.workspace, &row.flow)?;
    Ok(Conversation::resume(flow, read_state(&kept)?).asked_document())
}

fn asked(tx: &mut Tx<'_>, row: &ChatRow) -> Result<AskedDocument, Failure> {
    wanted(tx, row)?.ok_or_else(|| Failure::plain(codes::DOCUMENT_NOT_REQUESTED))
}

/// Writes the objects down as ones to be dropped, so that none is left that nobody knows of.
pub(crate) fn owe(tx: &mut Tx<'_>, env: &Env, tenant: Tenant, parts: &[Part]) -> Result<(), Failure> {
    for part in parts {
        documents::owe_drop(tx, tenant, &part.object, env.context.now.plus(GRACE))?;
    }
    Ok(())
}

/// Has objects that were put for nothing go at once: the person may have been erased meanwhile. Those that were kept
/// after all are not owed any more, and stay.
pub(crate) async fn drop_now(app: &App, tenant: Tenant, parts: Vec<Part>) {
    let now = app.clock.now();
    let sooner = app.store.tx(move |tx| {
        for part in &parts {
            documents::drop_sooner(tx, tenant, &part.object, now)?;
        }
        tx.wake(app::topics::CHATS);
        Ok::<_, Failure>(())
    });
    if let Err(failure) = sooner.await {
        failure.warn_about(tenant, "files of an upload that was not taken are dropped later");
    }
}

fn begin(tx: &mut Tx<'_>, env: &Env, tenant: Tenant, id: Id<Chat>, parts: &[Part]) -> Result<Begun, Failure> {
    let Some(row) = open_chat(tx, env, tenant, id)? else { return Ok(Begun::Over) };
    let asked = asked(tx, &row)?;
    owe(tx, env, tenant, parts)?;
    Ok(Begun::Wanted(asked))
}

/// What a reader sees on it; none where nobody can read it.
async fn read(
    app: &App,
    tenant: Tenant,
    chat: Id<Chat>,
    asked: &AskedDocument,
    parts: &[Part],
) -> Option<Reading> {
    if app.speech.readers.is_empty() {
        return None;
    }
    let mut files = Vec::new();
    for part in parts {
        files.push(match part.kind.is_image() {
            true => DetailFile::Picture(part.kind, part.bytes.clone()),
            false => DetailFile::Text(words_of(app, tenant, chat, part).await?),
        });
    }
    let order = DetailOrder { label: asked.label.clone(), fields: asked.fields.clone(), files };
    for reader in &app.speech.readers {
        match app.clock.outside(reader.read(order.clone())).await {
            Ok(Some(reading)) => return Some(reading),
            Ok(None) => {}
            Err(why) => {
                tracing::warn!(%chat, provider = why.provider, fault = ?why.fault, "a document could not be read");
            }
        }
    }
    None
}

/// What a PDF says, read as those of knowledge bases are; none when it cannot be read, or holds pictures only.
async fn words_of(app: &App, tenant: Tenant, chat: Id<Chat>, part: &Part) -> Option<String> {
    let name = format!("document.{}", part.kind.extension());
    let order = ReadOrder { bytes: part.bytes.to_vec(), name, content_type: None, charset: None };
    match app.clock.outside(app.reader.read(tenant, Haste::Short, order)).await {
        Ok(read) => {
            let lines: Vec<String> = read.document.blocks.into_iter().map(|block| block.text).collect();
            let words: String = lines.join("\n").chars().take(MAX_WORDS).collect();
            Some(words).filter(|words| !words.is_empty())
        }
        Err(why) => {
            tracing::info!(%chat, %why, "the words of a document could not be read");
            None
        }
    }
}

/// What the second transaction came to.
enum Finished {
    Taken(Claim, Box<DocumentRow>),
    Over,
}

fn finish(
    tx: &mut Tx<'_>,
    env: &Env,
    tenant: Tenant,
    id: Id<Chat>,
    was_asked: &AskedDocument,
    verdict: &Verdict,
    parts: &[Part],
) -> Result<Finished, Failure> {
    let Some(mut chat) = open_chat(tx, env, tenant, id)? else { return Ok(Finished::Over) };
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

/// Writes down what an upload means: the document, the files that it is made of, and its event.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    env: &Env,
    chat: &ChatRow,
    asked: &AskedDocument,
    verdict: &Verdict,
    parts: &[Part],
) -> Result<DocumentRow, Failure> {
    let tenant = chat.workspace;
    let row = note(tx, env, chat, asked, verdict)?;
    for (seq, part) in (1..).zip(parts) {
        if !verdict.accepted() {
            documents::owe_drop(tx, tenant, &part.object, env.context.now)?;
            continue;
        }
        if !documents::settle_drop(tx, tenant, &part.object)? {
            return Err(Failure::internal("the object of a document was dropped before it was accepted"));
        }
        let part = PartRow {
            document: row.id,
            seq,
            name: part.name.clone(),
            content_type: part.kind,
            bytes: part.bytes.len() as i64,
            object: part.object.clone(),
        };
        documents::insert_part(tx, tenant, &part)?;
    }
    if row.status != Status::Open {
        let parts: Vec<DocumentPart> = match verdict.accepted() {
            true => parts
                .iter()
                .map(|part| DocumentPart { part: part.name.clone(), content_type: part.kind })
                .collect(),
            false => Vec::new(),
        };
        emit(tx, &env.context, tenant, "document.received", &row, parts)?;
    }
    tx.wake(app::topics::CHATS);
    Ok(row)
}

/// The row of the document as it is after this upload.
fn note(
    tx: &mut Tx<'_>,
    env: &Env,
    chat: &ChatRow,
    asked: &AskedDocument,
    verdict: &Verdict,
) -> Result<DocumentRow, Failure> {
    let (tenant, now) = (chat.workspace, env.context.now);
    let open = documents::open_of_chat(tx, tenant, chat.id)?;
    let fresh = open.is_none();
    let mut row = open.unwrap_or_else(|| DocumentRow {
        id: env.context.ids.make(),
        chat: chat.id,
        agent: chat.agent,
        contact: chat.contact,
        node: asked.node_id.clone(),
        label: asked.label.clone(),
        status: Status::Open,
        fields: Map::new(),
        reasons: Value::Null,
        attempts: 0,
        reviewed_at: None,
        created_at: now,
        updated_at: now,
        version: 1,
    });
    // A step that was left half-way, by a teammate who took the chat over, leaves its row behind.
    row.node.clone_from(&asked.node_id);
    row.label.clone_from(&asked.label);
    row.attempts = i64::from(asked.attempt);
    row.status = verdict.status;
    row.fields = verdict.fields.clone();
    row.reasons = verdict.reasons.iter().cloned().collect();
    row.updated_at = now;
    if fresh {
        documents::insert(tx, tenant, &row)?;
    } else if !documents::save(tx, tenant, &mut row)? {
        return Err(Failure::internal("a document was changed by somebody who did not hold its chat"));
    }
    Ok(row)
}

fn reasons(row: &DocumentRow) -> Vec<String> {
    let list = row.reasons.as_array().into_iter().flatten();
    list.filter_map(|reason| reason.as_str().map(str::to_owned)).collect()
}

/// A document as it is shown.
pub(crate) fn view(row: &DocumentRow, parts: Vec<DocumentPart>) -> ReceivedDocument {
    ReceivedDocument {
        document_id: row.id,
        interaction_id: row.chat,
        chat_session_id: row.chat,
        agent_id: row.agent,
        node_id: row.node.clone(),
        label: row.label.clone(),
        status: row.status,
        fields: row.fields.clone(),
        reasons: reasons(row),
        attempts: row.attempts,
        parts,
        reviewed_at: row.reviewed_at,
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

/// Writes an event of a document.
pub(crate) fn emit(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    kind: &'static str,
    row: &DocumentRow,
    parts: Vec<DocumentPart>,
) -> Result<(), Failure> {
    let data = serde_json::to_value(view(row, parts)).map_err(|why| Failure::internal(why.to_string()))?;
    let (agent, contact) = (row.agent.to_string(), row.contact.map(|id| id.to_string()));
    let event = NewEvent { kind, mode: Mode::Live, agent: Some(&agent), contact: contact.as_deref(), data };
    events::emit(tx, context, tenant, event)?;
    Ok(())
}

/// What the newest document of a chat is for its conversation.
pub(crate) fn outcome(tx: &mut Tx<'_>, tenant: Tenant, chat: Id<Chat>) -> Result<Option<Input>, Failure> {
    let row = documents::latest_of_chat(tx, tenant, chat)?;
    Ok(row.map(|row| Input::DocumentChecked {
        accepted: match row.status {
            // A teammate may have said so before the agent has reacted; the conversation goes on all the same.
            Status::Verified | Status::Unverified | Status::Rejected => true,
            Status::Open | Status::Failed => false,
        },
        fields: row.fields,
    }))
}

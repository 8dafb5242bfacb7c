//! Documents that customers send: checked, stored in the object store, and judged (docs/contract/documents.md).

use std::sync::Arc;

use api::documents::{DocumentPart, ReceivedDocument};
use api::error_codes as codes;
use app::events::{self, Event, NewEvent};
use app::{App, Context, Failure};
use domain::chat::State;
use domain::conversation::{AskedDocument, Conversation, Input};
use domain::document::{
    FileType, MAX_FILE, MAX_PART_NAME, MAX_PARTS, MAX_UPLOAD, Reading, Status, Verdict, judge,
};
use domain::ids::{Chat, Document, Id};
use domain::ports::{DetailFile, DetailOrder, Haste, ReadOrder};
use domain::tenant::{Mode, Tenant};
use domain::time::HOUR;
use serde_json::{Map, Value};
use store::chats::{self, ChatRow};
use store::documents::{self, DocumentRow, PartRow};
use store::{TenantTx, Tx};

use crate::session::{Env, read_state};

/// Most characters of a PDF that a reader gets.
const MAX_WORDS: usize = 20_000;
/// How long an object that is being stored is not deleted: longer than any request takes.
const GRACE: i64 = HOUR;

#[derive(Debug, Clone)]
pub struct SentFile {
    /// The name of the part; by its place when empty.
    pub part: String,
    pub bytes: Arc<[u8]>,
}

/// An accepted file.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    name: String,
    kind: FileType,
    bytes: Arc<[u8]>,
    object: String,
}

/// Stores the files in the object store, extracts their details, and judges them.
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
                "the document cannot be stored now; nothing was changed, try again",
            )
        })?;
    }
    let reading = read(app, tenant, chat, asked, parts).await;
    Ok(judge(reading, &asked.fields, asked.attempt, asked.attempts))
}

/// Validates the files. Each gets an object of its own.
///
/// # Errors
/// 400 and 413 (docs/contract/documents.md#errors).
pub(crate) fn taken(app: &App, files: Vec<SentFile>) -> Result<Vec<Part>, Failure> {
    if files.is_empty() || files.len() > MAX_PARTS {
        return Err(Failure::field("file", format!("must be sent 1 to {MAX_PARTS} times")));
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

/// The document that the agent of a chat waits for, if any.
pub(crate) fn wanted(tx: &mut Tx<'_>, row: &ChatRow) -> Result<Option<AskedDocument>, Failure> {
    if row.state != State::Ai {
        return Ok(None);
    }
    let Some(kept) = chats::state(&mut tx.of(row.workspace), row.id)?.conversation else { return Ok(None) };
    let flow = app::published_flows::flow_of_id(&mut tx.of(row.workspace), &row.flow)?;
    Ok(Conversation::resume(flow, read_state(&kept)?).asked_document())
}

/// Schedules the deletion of the objects, so that a crash leaves none behind.
pub(crate) fn owe(tx: &mut TenantTx, env: &Env, parts: &[Part]) -> Result<(), Failure> {
    for part in parts {
        documents::owe_drop(tx, &part.object, env.context.now.plus(GRACE))?;
    }
    Ok(())
}

/// Deletes unused objects at once, since the person may have been erased meanwhile. Objects that were kept after all
/// are no longer scheduled for deletion, and stay.
pub(crate) async fn drop_now(app: &App, tenant: Tenant, parts: Vec<Part>) {
    let now = app.clock.now();
    let sooner = app.store.tx(move |tx| {
        for part in &parts {
            documents::drop_sooner(&mut tx.of(tenant), &part.object, now)?;
        }
        tx.wake(app::topics::CHATS);
        Ok::<_, Failure>(())
    });
    if let Err(failure) = sooner.await {
        failure.warn_about(tenant, "files of an upload that was not taken are dropped later");
    }
}

/// The extracted details; `None` when no reader is set up or none succeeds.
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

/// The text of a PDF, extracted like those of knowledge bases; `None` when it cannot be read, or is scanned.
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

/// Stores the result of an upload: the document, its files, and its event.
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
            documents::owe_drop(&mut tx.of(tenant), &part.object, env.context.now)?;
            continue;
        }
        if !documents::settle_drop(&mut tx.of(tenant), &part.object)? {
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
        documents::insert_part(&mut tx.of(tenant), &part)?;
    }
    if row.status != Status::Open {
        let parts: Vec<DocumentPart> = match verdict.accepted() {
            true => parts
                .iter()
                .map(|part| DocumentPart { part: part.name.clone(), content_type: part.kind })
                .collect(),
            false => Vec::new(),
        };
        emit(&mut tx.of(tenant), &env.context, &row, Event::DocumentReceived(view(&row, parts)))?;
    }
    tx.wake(app::topics::CHATS);
    Ok(row)
}

/// The row of the document after this upload.
fn note(
    tx: &mut Tx<'_>,
    env: &Env,
    chat: &ChatRow,
    asked: &AskedDocument,
    verdict: &Verdict,
) -> Result<DocumentRow, Failure> {
    let (tenant, now) = (chat.workspace, env.context.now);
    let open = documents::open_of_chat(&mut tx.of(tenant), chat.id)?;
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
    // A step that a takeover interrupted leaves its row behind.
    row.node.clone_from(&asked.node_id);
    row.label.clone_from(&asked.label);
    row.attempts = i64::from(asked.attempt);
    row.status = verdict.status;
    row.fields = verdict.fields.clone();
    row.reasons = verdict.reasons.iter().cloned().collect();
    row.updated_at = now;
    if fresh {
        documents::insert(&mut tx.of(tenant), &row)?;
    } else if !documents::save(&mut tx.of(tenant), &mut row)? {
        return Err(Failure::internal("a document was changed by somebody who did not hold its chat"));
    }
    Ok(row)
}

pub(crate) fn reasons(row: &DocumentRow) -> Vec<String> {
    let list = row.reasons.as_array().into_iter().flatten();
    list.filter_map(|reason| reason.as_str().map(str::to_owned)).collect()
}

/// A document in the form of the API.
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
    tx: &mut TenantTx,
    context: &Context,
    row: &DocumentRow,
    event: Event,
) -> Result<(), Failure> {
    let (agent, contact) = (row.agent.to_string(), row.contact.map(|id| id.to_string()));
    let event = NewEvent { event, mode: Mode::Live, agent: Some(&agent), contact: contact.as_deref() };
    events::emit(tx, context, event)?;
    Ok(())
}

/// The result of the newest document as input of the conversation.
pub(crate) fn outcome(tx: &mut TenantTx, chat: Id<Chat>) -> Result<Option<Input>, Failure> {
    let row = documents::latest_of_chat(tx, chat)?;
    Ok(row.map(|row| Input::DocumentChecked {
        accepted: match row.status {
            // A teammate may have decided before the agent has reacted; the conversation goes on anyway.
            Status::Verified | Status::Unverified | Status::Rejected => true,
            Status::Open | Status::Failed => false,
        },
        fields: row.fields,
    }))
}

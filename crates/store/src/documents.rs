//! Documents that customers hand in during a chat, their files, and objects that are to be dropped.

use const_format::formatcp;
use domain::document::{FileType, Status};
use domain::ids::{Agent, Chat, Contact, Document, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::{Map, Value as Json};

use crate::db::row::{row, update};
use crate::db::{DbError, ROWS, TenantTx, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct DocumentRow in "documents" {
        id: Id<Document>,
        /// The chat in which it was handed in.
        chat: Id<Chat>,
        /// The agent that requested it.
        agent: Id<Agent>,
        /// The contact who submitted it, if known.
        contact: Option<Id<Contact>>,
        /// The step of the flow.
        node: String,
        label: String,
        status: Status,
        /// Details that were read off it.
        fields: Map<String, Json>,
        /// Why it is not verified: a JSON list of texts.
        reasons: Json,
        /// Uploads that were checked.
        attempts: i64,
        /// When a teammate looked at it.
        reviewed_at: Option<Timestamp>,
        /// When the first upload was checked.
        created_at: Timestamp,
        updated_at: Timestamp,
        /// Grows with every change.
        version: i64,
    }
    insert with { workspace: Tenant }
}

row! {
    /// A file of an accepted document.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PartRow in "document_parts" {
        document: Id<Document>,
        /// Its place, from 1.
        seq: i64,
        name: String,
        content_type: FileType,
        bytes: i64,
        object: String,
    }
    insert with { workspace: Tenant }
}

row! {
    /// An object that is to be dropped.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DropRow in "document_drops" {
        object: String,
        workspace: Tenant,
        /// Tries so far.
        attempts: i64,
        /// When it is tried next.
        next_at: Timestamp,
    }
}

const COLUMNS: &str = DocumentRow::COLUMNS;

pub fn insert(tx: &mut TenantTx, row: &DocumentRow) -> Result<(), DbError> {
    tx.exec(DocumentRow::INSERT, &row.values()).map(|_| ())
}

/// Saves a document; `false` if it changed since it was read.
pub fn save(tx: &mut TenantTx, row: &mut DocumentRow) -> Result<bool, DbError> {
    let read = row.version;
    row.version += 1;
    let (sql, values) = update!(
        "documents" of tenant set {
            status: row.status,
            fields: &row.fields,
            reasons: &row.reasons,
            attempts: row.attempts,
            reviewed_at: row.reviewed_at,
            updated_at: row.updated_at,
            version: row.version,
        }
        where "id = ?2 and version = ?3", row.id, read
    );
    Ok(tx.exec(sql, &values)? > 0)
}

pub fn get(tx: &mut TenantTx, id: Id<Document>) -> Result<Option<DocumentRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from documents where workspace = ?1 and id = ?2"), params![id])
}

/// One document, locked against other writers until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<Document>) -> Result<Option<DocumentRow>, DbError> {
    let sql = formatcp!("select {COLUMNS} from documents where workspace = ?1 and id = ?2 /*pg for update*/");
    tx.one(sql, params![id])
}

/// The document that a chat is handing in.
pub fn open_of_chat(tx: &mut TenantTx, chat: Id<Chat>) -> Result<Option<DocumentRow>, DbError> {
    let sql =
        formatcp!("select {COLUMNS} from documents where workspace = ?1 and chat = ?2 and status = 'open'");
    tx.one(sql, params![chat])
}

/// The newest document of a chat: that of its last upload, since another one begins only when it is not open any more.
pub fn latest_of_chat(tx: &mut TenantTx, chat: Id<Chat>) -> Result<Option<DocumentRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from documents where workspace = ?1 and chat = ?2 order by id desc limit 1"
    );
    tx.one(sql, params![chat])
}

/// Documents of a workspace, or of one of its chats, newest first: those before the id `before`, or all.
pub fn list(
    tx: &mut TenantTx,
    chat: Option<Id<Chat>>,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<DocumentRow>, DbError> {
    const OF_CHAT: &str = formatcp!(
        "select {COLUMNS} from documents where workspace = ?1 and chat = ?2 and id < ?3 order by id desc limit ?4"
    );
    const ALL: &str = formatcp!(
        "select {COLUMNS} from documents where workspace = ?1 and id < ?2 order by id desc limit ?3"
    );
    // After every id.
    let before = before.unwrap_or("~");
    match chat {
        Some(chat) => tx.all(OF_CHAT, params![chat, before, limit]),
        None => tx.all(ALL, params![before, limit]),
    }
}

/// Documents that these people handed in, locked against other writers until the transaction ends.
pub fn of_contacts(tx: &mut TenantTx, contacts: &[Id<Contact>]) -> Result<Vec<DocumentRow>, DbError> {
    let mut found = Vec::new();
    for some in contacts.chunks(ROWS) {
        let mut values = Vec::new();
        let ids = tx.any_of(&mut values, some.iter().map(|id| (*id).into()));
        let sql = format!(
            "select {COLUMNS} from documents where workspace = ?1 and contact in {ids} order by id /*pg for update*/"
        );
        found.extend(tx.all::<DocumentRow>(&sql, &values)?);
    }
    Ok(found)
}

/// Across workspaces: documents that are older than a timestamp, oldest first, with their workspaces, locked until the
/// transaction ends.
pub fn made_before(
    tx: &mut Tx<'_>,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<(Id<Document>, Tenant)>, DbError> {
    let sql = "select id, workspace from documents where created_at < ?1 order by created_at limit ?2 /*pg for update skip locked*/";
    tx.all(sql, params![before, limit])
}

/// Deletes a document with its details and its list of files.
pub fn remove(tx: &mut TenantTx, id: Id<Document>) -> Result<(), DbError> {
    tx.later("delete from document_parts where workspace = ?1 and document = ?2", params![id])?;
    tx.later("delete from documents where workspace = ?1 and id = ?2", params![id])
}

/// Adds a file of a document.
pub fn insert_part(tx: &mut TenantTx, row: &PartRow) -> Result<(), DbError> {
    tx.later(PartRow::INSERT, &row.values())
}

/// The files of a document, in order.
pub fn parts(tx: &mut TenantTx, id: Id<Document>) -> Result<Vec<PartRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from document_parts where workspace = ?1 and document = ?2 order by seq",
        PartRow::COLUMNS
    );
    tx.all(SQL, params![id])
}

/// Schedules the deletion of an object at `at`, unless it is stored for good before; an earlier time wins.
pub fn owe_drop(tx: &mut TenantTx, object: &str, at: Timestamp) -> Result<(), DbError> {
    tx.later(
        "insert into document_drops (object, workspace, attempts, next_at) values (?2, ?1, 0, ?3)
         on conflict (object) do update set next_at = excluded.next_at where document_drops.next_at > excluded.next_at",
        params![object, at],
    )
}

/// Moves the scheduled deletion of an object to `at` at the latest. Does nothing without a schedule.
pub fn drop_sooner(tx: &mut TenantTx, object: &str, at: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update document_drops set next_at = ?3 where workspace = ?1 and object = ?2 and next_at > ?3",
        params![object, at],
    )
}

/// Removes the scheduled deletion of an object, which is deleted or stored for good. Returns whether there was one.
pub fn settle_drop(tx: &mut TenantTx, object: &str) -> Result<bool, DbError> {
    let sql = "delete from document_drops where workspace = ?1 and object = ?2";
    Ok(tx.exec(sql, params![object])? > 0)
}

/// Moves the time at which an object is dropped.
pub fn delay_drop(tx: &mut TenantTx, object: &str, at: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update document_drops set next_at = ?3 where workspace = ?1 and object = ?2",
        params![object, at],
    )
}

/// Across workspaces: takes objects that are due for deletion, longest due first, and leases them until `until`.
pub fn take_drops(
    tx: &mut Tx<'_>,
    now: Timestamp,
    until: Timestamp,
    limit: i64,
) -> Result<Vec<DropRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from document_drops where next_at <= ?1 order by next_at, object limit ?2 /*pg for update skip locked*/",
        DropRow::COLUMNS
    );
    let rows: Vec<DropRow> = tx.all(SQL, params![now, limit])?;
    for row in &rows {
        tx.later(
            "update document_drops set attempts = attempts + 1, next_at = ?2 where object = ?1",
            params![&row.object, until],
        )?;
    }
    Ok(rows)
}

/// Across workspaces: when the next object is to be dropped.
pub fn next_drop(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx.one::<Option<Timestamp>>("select min(next_at) from document_drops", &[])?.flatten())
}

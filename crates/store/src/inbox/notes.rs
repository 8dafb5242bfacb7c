//! Private notes on chats, and what is deleted with a chat.

use const_format::formatcp;
use domain::ids::{Chat, ChatNote, Id, User};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct NoteRow in "chat_notes" {
        id: Id<ChatNote>,
        chat: Id<Chat>,
        /// The member who wrote it.
        author: Id<User>,
        text: String as "words",
        created_at: Timestamp,
    }
    insert with { workspace: Tenant }
}

/// Adds a note.
pub fn add_note(tx: &mut TenantTx, row: &NoteRow) -> Result<(), DbError> {
    tx.later(NoteRow::INSERT, &row.values())
}

/// How many notes a chat has; counted in the index `chat_notes_of_chat`.
pub fn count_notes(tx: &mut TenantTx, chat: Id<Chat>) -> Result<i64, DbError> {
    let sql = "select count(*) from chat_notes where workspace = ?1 and chat = ?2";
    Ok(tx.one(sql, params![chat])?.unwrap_or(0))
}

/// Notes of a chat after `after`, oldest first, from the index `chat_notes_of_chat`.
pub fn notes(
    tx: &mut TenantTx,
    chat: Id<Chat>,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<NoteRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from chat_notes where workspace = ?1 and chat = ?2 and id > ?3 order by id limit ?4",
        NoteRow::COLUMNS
    );
    tx.all(SQL, params![chat, after.unwrap_or_default(), limit])
}

/// Deletes the notes of a chat whose customer is erased.
pub fn erase(tx: &mut TenantTx, chat: Id<Chat>) -> Result<(), DbError> {
    tx.later("delete from chat_notes where workspace = ?1 and chat = ?2", params![chat])
}

/// Deletes the notes and read marks of a chat that is deleted.
pub fn sweep(tx: &mut TenantTx, chat: Id<Chat>) -> Result<(), DbError> {
    erase(tx, chat)?;
    tx.later("delete from chat_marks where workspace = ?1 and chat = ?2", params![chat])
}

//! Links with which anybody who has one tests an agent in a chat, with what they have used of a day.

use const_format::formatcp;
use domain::ids::{Agent, Id, TestLink};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct TestLinkRow in "test_links" {
        id: Id<TestLink>,
        agent: Id<Agent>,
        /// For people.
        name: String,
        /// Whether its chats run the draft.
        draft: bool,
        /// Who made it.
        author: String,
        created_at: Timestamp,
        expires_at: Timestamp,
        /// The day of India that the next two count.
        day: i64,
        chats: i64,
        messages: i64,
    }
    insert with { workspace: Tenant, token_hash: &'v str }
}

row! {
    /// The link of a token.
    #[derive(Debug, Clone)]
    pub struct TestLinkAuth {
        workspace: Tenant as "l.workspace",
        id: Id<TestLink> as "l.id",
        agent: Id<Agent> as "l.agent",
        draft: bool as "l.draft",
        suspended: bool as "w.suspended",
    }
}

/// What a day of a link is counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Chat,
    Message,
}

pub fn insert(tx: &mut TenantTx, row: &TestLinkRow, token_hash: &str) -> Result<(), DbError> {
    tx.later(TestLinkRow::INSERT, &row.values(token_hash))
}

/// The links of an agent that are not over, newest first. The index by agent serves it.
pub fn list(tx: &mut TenantTx, agent: Id<Agent>, now: Timestamp) -> Result<Vec<TestLinkRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from test_links where workspace = ?1 and agent = ?2 and expires_at > ?3 order by id desc",
        TestLinkRow::COLUMNS
    );
    tx.all(SQL, params![agent, now])
}

/// Revokes a link; whether there was one.
pub fn remove(tx: &mut TenantTx, agent: Id<Agent>, id: Id<TestLink>) -> Result<bool, DbError> {
    let sql = "delete from test_links where workspace = ?1 and agent = ?2 and id = ?3";
    Ok(tx.exec(sql, params![agent, id])? > 0)
}

/// Forgets the links of an agent: those that are over, or all.
pub fn forget(tx: &mut TenantTx, agent: Id<Agent>, over_at: Option<Timestamp>) -> Result<(), DbError> {
    tx.later(
        "delete from test_links where workspace = ?1 and agent = ?2 and expires_at <= cast(?3 as bigint)",
        params![agent, over_at.unwrap_or(Timestamp(i64::MAX))],
    )
}

/// Across workspaces: the link of a token by its hash, if it is not over. The index by hash serves it.
pub fn by_token(tx: &mut Tx<'_>, hash: &str, now: Timestamp) -> Result<Option<TestLinkAuth>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from test_links l join workspaces w on w.id = l.workspace where l.token_hash = ?1 and l.expires_at > ?2",
        TestLinkAuth::COLUMNS
    );
    tx.one(SQL, params![hash, now])
}

/// Counts a chat or a message of a link on a day of India; `false` when the day has as many as `most`, or the link is
/// gone.
pub fn count(tx: &mut TenantTx, id: Id<TestLink>, what: Use, day: i64, most: i64) -> Result<bool, DbError> {
    let sql = match what {
        Use::Chat => {
            "update test_links set chats = case when day = ?3 then chats + 1 else 1 end, \
             messages = case when day = ?3 then messages else 0 end, day = ?3 \
             where workspace = ?1 and id = ?2 and (day <> ?3 or chats < ?4)"
        }
        Use::Message => {
            "update test_links set messages = case when day = ?3 then messages + 1 else 1 end, \
             chats = case when day = ?3 then chats else 0 end, day = ?3 \
             where workspace = ?1 and id = ?2 and (day <> ?3 or messages < ?4)"
        }
    };
    Ok(tx.exec(sql, params![id, day, most])? > 0)
}

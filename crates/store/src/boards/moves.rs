//! Moves of cards, the history of each card.

use const_format::formatcp;
use domain::actor::Actor;
use domain::board::{Attention, CardStatus, MovedBy};
use domain::ids::{Board, BoardColumn, BoardMove, Call, Card, Id};
use domain::time::Timestamp;
use serde_json::Value as Json;

use super::CardRow;
use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// A move of a card as stored.
    #[derive(Debug, Clone)]
    pub struct MoveRow in "board_moves" {
        id: Id<BoardMove>,
        board: Id<Board>,
        card: Id<Card>,
        from: Option<Id<BoardColumn>> as "from_column",
        /// Its name at the move.
        from_name: Option<String>,
        to: Id<BoardColumn> as "to_column",
        to_name: String,
        moved_by: MovedBy,
        /// Who moved it by hand.
        actor: Option<Actor>,
        /// Of the sorting, in thousandths.
        confidence: Option<i64>,
        /// The call that caused the move, or else the last one.
        call: Option<Id<Call>>,
        moved_at: Timestamp,
        /// Until when it can be undone.
        undo_until: Option<Timestamp>,
        /// The card before a move that can be undone.
        before: Option<Json> as "card_before",
        undone_at: Option<Timestamp>,
    }
    insert with { workspace: Tenant }
}

/// Adds the move of a card that the caller has locked.
pub fn insert(tx: &mut TenantTx, row: &MoveRow) -> Result<(), DbError> {
    tx.add(MoveRow::INSERT, &row.values())
}

/// Moves of a card before a move, newest first: a range of the index `board_moves_of_card`.
pub fn of_card(
    tx: &mut TenantTx,
    card: Id<Card>,
    before: Option<Id<BoardMove>>,
    limit: i64,
) -> Result<Vec<MoveRow>, DbError> {
    const NEWEST: &str = formatcp!(
        "select {} from board_moves where workspace = ?1 and card = ?2 order by id desc limit ?3",
        MoveRow::COLUMNS
    );
    const BEFORE: &str = formatcp!(
        "select {} from board_moves where workspace = ?1 and card = ?2 and id < ?4 order by id desc limit ?3",
        MoveRow::COLUMNS
    );
    match before {
        None => tx.all(NEWEST, params![card, limit]),
        Some(id) => tx.all(BEFORE, params![card, limit, id]),
    }
}

/// One move of a card, by the primary key. The caller has locked the card.
pub fn get(tx: &mut TenantTx, card: Id<Card>, id: Id<BoardMove>) -> Result<Option<MoveRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from board_moves where workspace = ?1 and card = ?2 and id = ?3",
        MoveRow::COLUMNS
    );
    tx.one(SQL, params![card, id])
}

/// Marks a move as undone.
pub fn undo(tx: &mut TenantTx, id: Id<BoardMove>, now: Timestamp) -> Result<(), DbError> {
    tx.later("update board_moves set undone_at = ?3 where workspace = ?1 and id = ?2", params![id, now])
}

/// Across workspaces: deletes up to `limit` moves before a time, by the index `board_moves_by_age`. Returns how many.
pub fn drop_old(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from board_moves where id in (select id from board_moves where moved_at < ?1 order by moved_at limit ?2)",
        params![before, limit],
    )
}

/// The part of a card that a move changes, which undoing it restores.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CardBefore {
    pub status: CardStatus,
    pub confidence: Option<i64>,
    pub suggested: Option<Id<BoardColumn>>,
    pub attention: Option<Attention>,
    pub entered_at: Timestamp,
    pub moved_at: Option<Timestamp>,
    pub last_move: Option<Id<BoardMove>>,
    /// A later sorting makes the rest outdated.
    pub sorted_at: Option<Timestamp>,
}

impl From<&CardRow> for CardBefore {
    fn from(row: &CardRow) -> Self {
        Self {
            status: row.status,
            confidence: row.confidence,
            suggested: row.suggested,
            attention: row.attention,
            entered_at: row.entered_at,
            moved_at: row.moved_at,
            last_move: row.last_move,
            sorted_at: row.sorted_at,
        }
    }
}

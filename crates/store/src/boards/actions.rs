//! Pending actions of columns on cards that entered them.

use const_format::formatcp;
use domain::board::{ActionKind, ActionState, Attention};
use domain::ids::{Board, BoardColumn, BoardMove, Card, Contact, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::claims::Claimed;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// An action as stored: one automation of one move.
    #[derive(Debug, Clone)]
    pub struct ActionRow in "board_actions" {
        movement: Id<BoardMove> as "move_id",
        /// Place of the automation in its column.
        position: i64,
        workspace: Tenant,
        board: Id<Board>,
        card: Id<Card>,
        contact: Id<Contact>,
        /// The column that the card entered.
        column: Id<BoardColumn> as "column_id",
        /// What is to be done.
        kind: ActionKind,
        /// The automation as it was defined at the move.
        body: Json,
        /// The payload of the move's event.
        told: Json,
        /// How many automations led to the move.
        depth: i64,
        /// How far it has got.
        state: ActionState,
        /// Why it failed or was skipped, a code.
        error: Option<String>,
        /// How often it was tried.
        attempts: i64,
        /// When it is due.
        next_at: Option<Timestamp>,
        /// When the card was moved.
        created_at: Timestamp,
        /// When it was over.
        finished_at: Option<Timestamp>,
    }
}

/// Adds the actions of a move.
pub fn insert_actions(tx: &mut TenantTx, rows: &[ActionRow]) -> Result<(), DbError> {
    let tenant = tx.tenant();
    debug_assert!(rows.iter().all(|row| row.workspace == tenant));
    if tx.shared() {
        // Batched with those of other cards.
        return rows.iter().try_for_each(|row| tx.unbound().add(ActionRow::INSERT, &row.values()));
    }
    tx.unbound().insert_all(ActionRow::INTO, rows.iter().map(ActionRow::values))
}

/// Those that are due are claimed.
const CLAIMED: Claimed =
    Claimed { table: "board_actions", due: "next_at", key: "workspace, move_id, position" };

/// Across workspaces: up to `limit` due actions without a claim, longest due first, except those of the workspaces in
/// `without`. For a transaction that claims them ([`claim`]).
pub fn due(
    tx: &mut Tx<'_>,
    now: Timestamp,
    without: &[Tenant],
    limit: i64,
) -> Result<Vec<(Tenant, Id<BoardMove>, i64)>, DbError> {
    CLAIMED.due(tx, now, without, limit)
}

/// Has other nodes leave a due action alone until `until`.
pub fn claim(
    tx: &mut TenantTx,
    movement: Id<BoardMove>,
    position: i64,
    until: Timestamp,
) -> Result<(), DbError> {
    CLAIMED.claim(tx, params![movement, position], until)
}

/// Across workspaces: when the next action without a claim is due.
pub fn next_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
    CLAIMED.next_due(tx, now)
}

/// An action that is due, locked until the transaction ends; `None` when it is over, or another node has it.
pub fn take_due(
    tx: &mut TenantTx,
    movement: Id<BoardMove>,
    position: i64,
    now: Timestamp,
) -> Result<Option<ActionRow>, DbError> {
    const SQL: &str = formatcp!("{DUE} /*pg for update skip locked*/");
    tx.one(SQL, params![movement, position, now])
}

/// Locks it as [`take_due`] does, but waits for a transaction that has it, such as the one of a try that is being rolled back.
pub fn lock_due(
    tx: &mut TenantTx,
    movement: Id<BoardMove>,
    position: i64,
    now: Timestamp,
) -> Result<Option<ActionRow>, DbError> {
    const SQL: &str = formatcp!("{DUE} /*pg for update*/");
    tx.one(SQL, params![movement, position, now])
}

/// An action that is due.
const DUE: &str = formatcp!(
    "select {} from board_actions where workspace = ?1 and move_id = ?2 and position = ?3 and next_at is not null and next_at <= ?4",
    ActionRow::COLUMNS
);

/// Ends an action, or puts it off when `next_at` is set.
pub fn save_action(tx: &mut Tx<'_>, row: &ActionRow) -> Result<(), DbError> {
    let (sql, values) = update!(
        "board_actions" set {
            state: row.state,
            error: row.error.as_deref(),
            attempts: row.attempts,
            next_at: row.next_at,
            finished_at: row.finished_at,
        }
        and "claimed_until = null"
        where "workspace = ?1 and move_id = ?2 and position = ?3", row.workspace, row.movement, row.position
    );
    tx.later(sql, &values)
}

/// The actions of a card, newest first.
pub fn actions_of(tx: &mut TenantTx, card: Id<Card>, limit: i64) -> Result<Vec<ActionRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from board_actions where workspace = ?1 and card = ?2 order by move_id desc, position limit ?3",
        ActionRow::COLUMNS
    );
    tx.all(SQL, params![card, limit])
}

/// The actions of a move, locked until the transaction ends.
pub fn of_move_for_update(tx: &mut TenantTx, movement: Id<BoardMove>) -> Result<Vec<ActionRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from board_actions where workspace = ?1 and move_id = ?2 order by position /*pg for update*/",
        ActionRow::COLUMNS
    );
    tx.all(SQL, params![movement])
}

/// Skips the actions of a move that is undone. The caller has locked them.
pub fn skip_undone(tx: &mut TenantTx, movement: Id<BoardMove>, now: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update board_actions set state = 'skipped', error = 'undone', next_at = null, finished_at = ?3 \
         where workspace = ?1 and move_id = ?2 and state = 'pending'",
        params![movement, now],
    )
}

/// Notes on a card that an automation failed, unless it left the column since.
pub fn note_failure(tx: &mut TenantTx, card: Id<Card>, movement: Id<BoardMove>) -> Result<(), DbError> {
    tx.later(
        "update board_cards set attention = ?4, version = version + 1 where workspace = ?1 and id = ?2 and last_move = ?3",
        params![card, movement, Attention::AutomationFailed],
    )
}

/// Across workspaces: drops up to `limit` actions that were over before `before`. Returns how many.
pub fn drop_old_actions(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64, DbError> {
    let old: Vec<(Id<BoardMove>, i64)> = tx.all(
        "select move_id, position from board_actions where finished_at is not null and finished_at < ?1 order by finished_at limit ?2",
        params![before, limit],
    )?;
    for (movement, position) in &old {
        tx.later(
            "delete from board_actions where move_id = ?1 and position = ?2 and finished_at is not null",
            params![*movement, *position],
        )?;
    }
    Ok(old.len() as u64)
}

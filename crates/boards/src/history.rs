//! The moves of a card, and undoing the move of a member.

use api::boards::{Card, CardMoved, CardMovedColumn};
use api::error_codes::INVALID_CURSOR;
use app::access::Caller;
use app::limits::pages;
use app::{App, Failure};
use domain::board::ActionState;
use domain::ids::{self, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::boards::moves::{self, CardBefore, MoveRow};
use store::boards::{self, ActionRow};
use store::{TenantTx, Tx};

use crate::board::{Owner, part_of_one};
use crate::cards::card_view;

fn view(row: MoveRow) -> CardMoved {
    CardMoved {
        move_id: row.id,
        from: row.from.map(|id| CardMovedColumn { id, name: row.from_name.unwrap_or_default() }),
        to: CardMovedColumn { id: row.to, name: row.to_name },
        moved_by: row.moved_by,
        actor: row.actor,
        confidence: row.confidence.map(part_of_one),
        call_id: row.call,
        moved_at: row.moved_at,
        undone_at: row.undone_at,
    }
}

fn not_found() -> Failure {
    Failure::not_found("card")
}

/// `GET …/board/cards/{cardId}/history`: a page of moves, with the cursor of the next.
///
/// # Errors
/// 404.
pub async fn history(
    app: &App,
    tenant: Tenant,
    owner: Owner,
    card: Id<ids::Card>,
    after: Option<&str>,
    limit: i64,
) -> Result<(Vec<CardMoved>, Option<String>), Failure> {
    let parse = |text: &str| text.parse::<Id<ids::BoardMove>>().ok();
    let before = match after {
        Some(text) => Some(parse(text).ok_or_else(|| Failure::plain(INVALID_CURSOR))?),
        None => None,
    };
    let page = app.store.read(move |tx| {
        let bound = &mut tx.of(tenant);
        if !owner.exists(bound)? {
            return Err(owner.not_found());
        }
        let board = boards::of_owner(bound, &owner.text())?.ok_or_else(not_found)?;
        boards::shown(bound, board.board.id, card)?.ok_or_else(not_found)?;
        let read = |tx: &mut Tx<'_>, limit: i64, below: Option<&str>| {
            let before = below.map_or(before, parse);
            let rows = moves::of_card(&mut tx.of(tenant), card, before, limit)?;
            let next = pages::last(&rows, limit, |row| row.id.to_string());
            Ok::<_, Failure>((rows.into_iter().map(view).collect(), next))
        };
        pages::views(tx, limit, None, read, |moved: &CardMoved| moved.move_id.to_string())
    });
    page.await
}

/// `POST …/board/cards/{cardId}/undo`: moves a card back and skips the automations of the move, which have not begun.
///
/// # Errors
/// 404; 409 when the caller did not make the move, when its time is over, and when the card was changed since.
pub async fn undo(
    app: &App,
    caller: &Caller,
    owner: Owner,
    card: Id<ids::Card>,
    movement: String,
) -> Result<Card, Failure> {
    let (now, actor) = (app.clock.now(), caller.actor());
    app.of(caller.tenant())
        .tx(move |tx| {
            if !owner.exists(tx)? {
                return Err(owner.not_found());
            }
            let board = boards::of_owner(tx, &owner.text())?.ok_or_else(not_found)?;
            let other = || Failure::conflict("the card was moved again, or this is not a move of it");
            let movement = movement.parse::<Id<ids::BoardMove>>().map_err(|_| other())?;
            // Before the card: who carries one out locks the card after it.
            let actions = boards::of_move_for_update(tx, movement)?;
            let mut row = boards::card_for_update(tx, board.board.id, card)?.ok_or_else(not_found)?;
            let made = moves::get(tx, card, movement)?.filter(|_| row.last_move == Some(movement));
            let made = made.ok_or_else(other)?;
            if made.actor != Some(actor) {
                return Err(Failure::conflict("the card was moved by somebody else"));
            }
            check_time(&made, &actions, now)?;
            let before: CardBefore = made
                .before
                .ok_or_else(|| Failure::internal(format!("{movement} has no card before it")))
                .and_then(|json| {
                    serde_json::from_value(json).map_err(|why| Failure::internal(why.to_string()))
                })?;
            let from = made.from.and_then(|from| board.column(from));
            let Some(from) = from.filter(|_| row.sorted_at == before.sorted_at) else {
                return Err(Failure::conflict(
                    "a call has sorted the card since, or its former column is deleted",
                ));
            };
            let was = (row.column, row.reached);
            row.column = from.id;
            (row.status, row.confidence, row.attention) =
                (before.status, before.confidence, before.attention);
            row.suggested = before.suggested.filter(|id| board.column(*id).is_some());
            (row.entered_at, row.moved_at, row.last_move) =
                (before.entered_at, before.moved_at, before.last_move);
            boards::save_card(tx, &row, was)?;
            boards::skip_undone(tx, movement, now)?;
            moves::undo(tx, movement, now)?;
            shown(tx, board.board.id, card)
        })
        .await
}

/// A move can be undone until its automations start. A node whose clock is ahead may have begun with them.
fn check_time(made: &MoveRow, actions: &[ActionRow], now: Timestamp) -> Result<(), Failure> {
    let begun = |action: &ActionRow| match action.state {
        ActionState::Pending => action.attempts > 0,
        ActionState::Done | ActionState::Failed => true,
        // For the length of the chain.
        ActionState::Skipped => action.finished_at.is_some_and(|at| at > made.moved_at),
    };
    if made.undo_until.is_none_or(|until| now >= until) || actions.iter().any(begun) {
        return Err(Failure::conflict("the move cannot be undone any more: its automations have started"));
    }
    Ok(())
}

fn shown(tx: &mut TenantTx, board: Id<ids::Board>, card: Id<ids::Card>) -> Result<Card, Failure> {
    boards::shown(tx, board, card)?.map(card_view).ok_or_else(not_found)
}

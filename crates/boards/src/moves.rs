//! Moves of cards. The automations of the new column are scheduled in the transaction of the move.

use api::events::boards::{MovedCard, MovedColumn};
use app::{Context, Failure, topics};
use domain::actor::Actor;
use domain::board::{ActionState, Automation, MovedBy, UNDO, keeps_to_depth, read_automations};
use domain::ids::{BoardMove, Call, Id};
use domain::time::{MINUTE, Timestamp};
use serde_json::Value;
use store::Tx;
use store::boards::moves::{self, CardBefore, MoveRow};
use store::boards::{self, ActionRow, CardRow, ColumnRow, WholeBoard};

use crate::board::Owner;

/// Why a card moves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reason {
    pub by: MovedBy,
    /// The call that caused the move, or else the last one.
    pub call: Option<Id<Call>>,
    /// The length of the chain of automations that led to the move.
    pub depth: i64,
    /// Who moves it by hand. Automations of a member's move wait until it cannot be undone any more.
    pub actor: Option<Actor>,
}

impl Reason {
    /// A sorting.
    pub(crate) fn sorting(call: Option<Id<Call>>, depth: i64) -> Self {
        Self { by: MovedBy::Sorting, call, depth, actor: None }
    }

    /// A move by hand.
    pub(crate) fn by_hand(actor: Actor, call: Option<Id<Call>>) -> Self {
        Self { by: MovedBy::Api, call, depth: 0, actor: Some(actor) }
    }
}

/// Moves a card into another column of its board, notes the move in its history, and schedules the column's automations.
/// The caller has locked the card, and saves it. `before` is the card before a move by hand: with it a member's move can be
/// undone until the returned time.
pub(crate) fn relocate(
    tx: &mut Tx<'_>,
    context: &Context,
    board: &WholeBoard,
    card: &mut CardRow,
    to: &ColumnRow,
    (reason, before): (Reason, Option<CardBefore>),
) -> Result<Option<Timestamp>, Failure> {
    let before = before.filter(|_| reason.actor.and_then(Actor::member).is_some());
    let undo_until = before.is_some().then(|| context.now.plus(UNDO));
    let movement = context.ids.make::<BoardMove>();
    let from = board.column(card.column);
    let told = payload(context, board, card, (from, to), movement, reason)?;
    let noted = MoveRow {
        id: movement,
        board: card.board,
        card: card.id,
        from: from.map(|from| from.id),
        from_name: from.map(|from| from.name.clone()),
        to: to.id,
        to_name: to.name.clone(),
        moved_by: reason.by,
        actor: reason.actor,
        confidence: card.confidence,
        call: reason.call,
        moved_at: context.now,
        undo_until,
        before: before
            .map(serde_json::to_value)
            .transpose()
            .map_err(|why| Failure::internal(why.to_string()))?,
        undone_at: None,
    };
    moves::insert(&mut tx.of(card.workspace), &noted)?;
    (card.column, card.entered_at, card.last_move) = (to.id, context.now, Some(movement));
    let automations = read_automations(&to.automations, "automations")
        .map_err(|wrong| Failure::internal(format!("{}: {} {}", to.id, wrong.field, wrong.problem)))?;
    let bodies = to.automations.as_array().map_or(&[][..], Vec::as_slice);
    let actions: Vec<ActionRow> = (0..)
        .zip(automations.iter().zip(bodies))
        .map(|(position, (automation, body))| {
            let due = keeps_to_depth(automation.kind(), reason.depth);
            ActionRow {
                movement,
                position,
                workspace: card.workspace,
                board: card.board,
                card: card.id,
                contact: card.contact,
                column: to.id,
                kind: automation.kind(),
                body: body.clone(),
                told: told.clone(),
                depth: reason.depth,
                state: if due { ActionState::Pending } else { ActionState::Skipped },
                error: (!due).then(|| "depth".to_owned()),
                attempts: 0,
                next_at: due.then(|| due_at(automation, context.now).max(undo_until.unwrap_or(context.now))),
                created_at: context.now,
                finished_at: (!due).then_some(context.now),
            }
        })
        .collect();
    if actions.iter().any(|action| action.next_at.is_some()) {
        tx.wake(topics::BOARDS);
    }
    boards::insert_actions(&mut tx.of(card.workspace), &actions)?;
    Ok(undo_until)
}

fn due_at(automation: &Automation, now: Timestamp) -> Timestamp {
    match automation {
        Automation::Nudge { delay_minutes, .. } => now.plus(delay_minutes * MINUTE),
        Automation::OptOut
        | Automation::DoNotCall { .. }
        | Automation::AddToCampaign { .. }
        | Automation::Message { .. }
        | Automation::Event => now,
    }
}

/// The payload of `board.card_moved`. The contact's external reference is added when it is sent.
fn payload(
    context: &Context,
    board: &WholeBoard,
    card: &CardRow,
    (from, to): (Option<&ColumnRow>, &ColumnRow),
    movement: Id<BoardMove>,
    reason: Reason,
) -> Result<Value, Failure> {
    let (campaign, agent) = match Owner::read(&board.board.owner)? {
        Owner::Campaign(id) => (Some(id), None),
        Owner::Agent(id) => (None, Some(id)),
    };
    let moved = MovedCard {
        board_id: card.board,
        campaign_id: campaign,
        agent_id: agent,
        card_id: card.id,
        move_id: movement,
        contact_id: card.contact,
        call_id: reason.call,
        moved_by: reason.by.as_str().to_owned(),
        from: from.map(moved_column),
        to: moved_column(to),
        moved_at: context.now,
        external_ref: None,
    };
    serde_json::to_value(moved).map_err(|why| Failure::internal(why.to_string()))
}

fn moved_column(column: &ColumnRow) -> MovedColumn {
    MovedColumn { id: column.id, key: column.key.clone(), r#type: column.kind }
}

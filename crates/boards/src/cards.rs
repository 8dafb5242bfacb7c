//! Reading boards and cards, and moving a card by hand.

use api::boards::{Board, BoardColumn, Card};
use api::error_codes::{COLUMN_NOT_ON_BOARD, INVALID_CURSOR};
use app::access::Caller;
use app::limits::pages;
use app::{App, Failure, changes};
use domain::board::CardStatus;
use domain::ids::{self, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::topic::Topic;
use serde_json::json;
use store::Tx;
use store::boards::moves::CardBefore;
use store::boards::{self, CardRow, ColumnRow, ShownCard, WholeBoard};

use crate::board::{Owner, ensure, part_of_one};
use crate::moves::{Reason, relocate};

pub(crate) fn column_view(row: &ColumnRow) -> BoardColumn {
    BoardColumn {
        id: row.id,
        name: row.name.clone(),
        key: row.key.clone(),
        r#type: row.kind,
        color: row.color,
        count: row.cards,
    }
}

pub(crate) fn card_view((row, contact): (CardRow, ShownCard)) -> Card {
    Card {
        id: row.id,
        contact_id: row.contact,
        contact_name: contact.contact_name.or(row.name),
        contact_phone: contact.contact_phone,
        column_id: row.column,
        status: row.status,
        confidence: row.confidence.map(part_of_one),
        suggested_column_id: row.suggested,
        last_call_id: row.last_call,
        last_call_at: row.last_call_at,
        last_summary: row.summary,
        attention_reason: row.attention,
        entered_column_at: row.entered_at,
        last_move_id: row.last_move,
        undo_until: None,
    }
}

/// The board of an existing campaign or agent, created if needed.
async fn whole(app: &App, tenant: Tenant, owner: Owner) -> Result<WholeBoard, Failure> {
    let read = move |tx: &mut Tx<'_>| {
        if !owner.exists(&mut tx.of(tenant))? {
            return Err(owner.not_found());
        }
        Ok(boards::of_owner(&mut tx.of(tenant), &owner.text())?)
    };
    if let Some(board) = app.store.read(read).await? {
        return Ok(board);
    }
    let context = app.context();
    app.of(tenant).tx(move |tx| ensure(tx, &context, owner)?.ok_or_else(|| owner.not_found())).await
}

/// `GET …/board`.
///
/// # Errors
/// 404.
pub async fn board(app: &App, tenant: Tenant, owner: Owner) -> Result<Board, Failure> {
    let found = whole(app, tenant, owner).await?;
    Ok(Board { board_id: found.board.id, columns: found.columns.iter().map(column_view).collect() })
}

/// A column of this board by the id that a client gives.
pub(crate) fn column_of<'b>(
    board: &'b WholeBoard,
    field: &str,
    text: &str,
) -> Result<&'b ColumnRow, Failure> {
    text.parse().ok().and_then(|id| board.column(id)).ok_or_else(|| {
        Failure::new(COLUMN_NOT_ON_BOARD, format!("{field} must be the id of a column of this board"))
            .with_meta(json!({"field": field}))
    })
}

/// The cursor of a list of cards: when the last card arrived, and its id.
fn place(entered_at: Timestamp, id: Id<ids::Card>) -> String {
    format!("{} {id}", entered_at.0)
}

/// Parses such a cursor.
fn read_place(text: &str) -> Option<(Timestamp, Id<ids::Card>)> {
    let (at, id) = text.split_once(' ')?;
    Some((Timestamp(at.parse().ok()?), id.parse().ok()?))
}

/// `GET …/board/cards`: a page of cards, with the cursor of the next.
///
/// # Errors
/// 404, 400 `column_not_on_board`.
pub async fn list(
    app: &App,
    tenant: Tenant,
    owner: Owner,
    column: Option<&str>,
    after: Option<&str>,
    limit: i64,
) -> Result<(Vec<Card>, Option<String>), Failure> {
    let found = whole(app, tenant, owner).await?;
    let column = column.map(|text| column_of(&found, "column", text).map(|row| row.id)).transpose()?;
    let before = match after {
        Some(text) => Some(read_place(text).ok_or_else(|| Failure::plain(INVALID_CURSOR))?),
        None => None,
    };
    let id = found.board.id;
    let page = app.store.read(move |tx| {
        let read = |tx: &mut Tx<'_>, limit: i64, below: Option<&str>| {
            let before = below.map_or(before, read_place);
            let rows = boards::cards(&mut tx.of(tenant), id, column, before, limit)?;
            let next = pages::last(&rows, limit, |(row, _)| place(row.entered_at, row.id));
            Ok::<_, Failure>((rows.into_iter().map(card_view).collect(), next))
        };
        pages::views(tx, limit, None, read, |card: &Card| place(card.entered_column_at, card.id))
    });
    page.await
}

/// `PATCH …/board/cards/{cardId}`: moves a card by hand. In its present column it is only confirmed. The automations of a
/// member's move start when it cannot be undone any more.
///
/// # Errors
/// 404, 400 `column_not_on_board`.
pub async fn move_card(
    app: &App,
    caller: &Caller,
    owner: Owner,
    card: Id<ids::Card>,
    column: String,
) -> Result<Card, Failure> {
    let (context, actor) = (app.context(), caller.actor());
    app.of(caller.tenant())
        .tx(move |tx| {
            if !owner.exists(tx)? {
                return Err(owner.not_found());
            }
            let not_found = || Failure::not_found("card");
            let board = boards::of_owner(tx, &owner.text())?.ok_or_else(not_found)?;
            let mut row = boards::card_for_update(tx, board.board.id, card)?.ok_or_else(not_found)?;
            let to = column_of(&board, "columnId", &column)?;
            let before = (row.column, row.reached);
            let (known, mut undo_until) = (CardBefore::from(&row), None);
            (row.status, row.confidence, row.suggested) = (CardStatus::Placed, None, None);
            (row.attention, row.moved_at) = (None, Some(context.now));
            if row.column != to.id {
                let reason = Reason::by_hand(actor, row.last_call);
                undo_until = relocate(tx, &context, &board, &mut row, to, (reason, Some(known)))?;
            }
            boards::save_card(tx, &row, before)?;
            changes::note(tx, context.now, Topic::Cards, row.id)?;
            let shown = boards::shown(tx, board.board.id, card)?.map(card_view).ok_or_else(not_found)?;
            Ok(Card { undo_until, ..shown })
        })
        .await
}

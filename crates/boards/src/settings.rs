//! The operator API of boards: columns, rules, automations, and their results (docs/contract/boards.md#editing).

use api::boards::{BoardChange, BoardSettings, CardAction, CardDetail, ColumnChange, ColumnSettings};
use app::operator_log::{self, Trace};
use app::{App, Context, Failure, access, actions, changes};
use domain::agent::Channel;
use domain::board::{Automation, ColumnType, Wrong, check, read_automations, read_rules};
use domain::call::Direction;
use domain::ids::{Board, BoardColumn, Card, ChannelTemplate, Id};
use domain::tenant::Tenant;
use domain::topic::Topic;
use serde_json::{Map, Value, json};
use store::boards::{self, ActionRow, ColumnRow, WholeBoard};
use store::{TenantTx, agents};

use crate::board::{Owner, part_of_one, thousandths};
use crate::cards::{card_view, column_of, column_view};

/// Actions that a card shows.
const ACTIONS_SHOWN: i64 = 50;

fn view(board: WholeBoard) -> Result<BoardSettings, Failure> {
    let (campaign_id, agent_id) = match Owner::read(&board.board.owner)? {
        Owner::Campaign(id) => (Some(id.to_string()), None),
        Owner::Agent(id) => (None, Some(id.to_string())),
    };
    let column = |row: ColumnRow| ColumnSettings {
        column: column_view(&row),
        rules: row.rules,
        automations: with_templates(row.automations, |id| id.to_string()),
    };
    Ok(BoardSettings {
        id: board.board.id,
        campaign_id,
        agent_id,
        review_below: part_of_one(board.board.review_below),
        version: board.board.version,
        columns: board.columns.into_iter().map(column).collect(),
        created_at: board.board.created_at,
    })
}

/// Automations whose ids of templates are written by `text`: stored they have another prefix than clients see.
fn with_templates(mut automations: Value, text: fn(&Id<ChannelTemplate>) -> String) -> Value {
    for one in automations.as_array_mut().into_iter().flatten() {
        if let Some(id) = one["templateId"].as_str().and_then(|id| id.parse().ok()) {
            one["templateId"] = Value::String(text(&id));
        }
    }
    automations
}

/// A board whose campaign or agent is not deleted.
fn find(tx: &mut TenantTx, id: Id<Board>) -> Result<WholeBoard, Failure> {
    access::workspace(tx)?;
    let not_found = || Failure::not_found("board");
    let board = boards::get(tx, id)?.ok_or_else(not_found)?;
    let owner = Owner::read(&board.board.owner)?;
    if owner.exists(tx)? { Ok(board) } else { Err(not_found()) }
}

/// `GET /operator/v1/workspaces/{ws}/boards/{id}`.
///
/// # Errors
/// 404.
pub async fn get(app: &App, tenant: Tenant, id: Id<Board>) -> Result<BoardSettings, Failure> {
    app.of(tenant).read(move |tx| view(find(tx, id)?)).await
}

/// `GET /operator/v1/workspaces/{ws}/boards/{id}/cards/{cardId}`.
///
/// # Errors
/// 404.
pub async fn card(app: &App, tenant: Tenant, id: Id<Board>, card: Id<Card>) -> Result<CardDetail, Failure> {
    let action = |row: ActionRow| CardAction {
        move_id: row.movement,
        column_id: row.column,
        r#type: row.kind,
        status: row.state,
        error: row.error,
        attempts: row.attempts,
        due_at: row.next_at,
        moved_at: row.created_at,
        finished_at: row.finished_at,
    };
    app.of(tenant)
        .read(move |tx| {
            find(tx, id)?;
            let shown = boards::shown(tx, id, card)?.ok_or_else(|| Failure::not_found("card"))?;
            let actions = boards::actions_of(tx, card, ACTIONS_SHOWN)?;
            Ok(CardDetail { card: card_view(shown), automations: actions.into_iter().map(action).collect() })
        })
        .await
}

fn refuse(wrong: Wrong) -> Failure {
    Failure::field(&wrong.field, wrong.problem)
}

/// `PUT /operator/v1/workspaces/{ws}/boards/{id}`: replaces the columns of a board.
///
/// # Errors
/// 404; 400 for an invalid definition; 409 for a deleted column whose cards have no target, or a version conflict.
pub async fn update(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    id: Id<Board>,
    change: BoardChange,
) -> Result<BoardSettings, Failure> {
    if change.review_below.is_some_and(|part| !(0.0..=1.0).contains(&part)) {
        return Err(Failure::field("reviewBelow", "must be from 0 to 1"));
    }
    let context = app.context();
    app.of(tenant)
        .tx_long(move |tx| {
            access::workspace(tx)?;
            if !boards::lock(tx, id)? {
                return Err(Failure::not_found("board"));
            }
            // Read after it is held: nobody else changes its columns now.
            let board = find(tx, id)?;
            if change.version.is_some_and(|version| version != board.board.version) {
                return Err(Failure::conflict(
                    "version is not the current one: the board was changed; read it again",
                )
                .with_meta(json!({"version": board.board.version})));
            }
            let before = columns_of(&view(board.clone())?);
            let wanted = read_columns(&context, &board, &change.columns)?;
            check_automations(tx, &board, &wanted)?;
            remove_columns(tx, &context, &board, &wanted, &change)?;
            for row in &wanted {
                match board.column(row.id) {
                    Some(_) => boards::save_column(tx, row)?,
                    None => boards::add_column(tx, row)?,
                }
            }
            let mut row = board.board.clone();
            row.review_below = change.review_below.map_or(row.review_below, thousandths);
            boards::save(tx, &row)?;
            changes::note(tx, context.now, Topic::Boards, id)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            let changed = view(find(tx, id)?)?;
            actions::changed(tx, &before, &columns_of(&changed));
            Ok(changed)
        })
        .await
}

/// A board as the log of actions compares it: each column is a field.
fn columns_of(board: &BoardSettings) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("reviewBelow".into(), json!(board.review_below));
    fields.extend(board.columns.iter().map(|column| (column.column.id.to_string(), json!(column))));
    fields
}

/// The new columns, from left to right.
fn read_columns(
    context: &Context,
    board: &WholeBoard,
    columns: &[ColumnChange],
) -> Result<Vec<ColumnRow>, Failure> {
    let mut wanted: Vec<ColumnRow> = Vec::with_capacity(columns.len());
    for (index, column) in columns.iter().enumerate() {
        let at = format!("columns[{index}]");
        let kind = ColumnType::parse(&column.r#type)
            .ok_or_else(|| Failure::field(&format!("{at}.type"), "must be a type of column"))?;
        let known = column.id.as_ref().map(|id| column_of(board, &format!("{at}.id"), id)).transpose()?;
        if known.is_some_and(|known| wanted.iter().any(|other| other.id == known.id)) {
            return Err(Failure::field(&format!("{at}.id"), "is used twice"));
        }
        read_rules(&column.rules, &format!("{at}.rules")).map_err(refuse)?;
        wanted.push(ColumnRow {
            id: known.map_or_else(|| context.ids.make::<BoardColumn>(), |known| known.id),
            board: board.board.id,
            position: i64::try_from(index).unwrap_or(i64::MAX),
            name: column.name.clone(),
            key: column.key.clone(),
            kind,
            rules: column.rules.clone(),
            automations: with_templates(column.automations.clone(), |id| id.stored()),
            color: match column.color {
                Some(color) => color,
                None => known.and_then(|known| known.color),
            },
            cards: 0,
            reached: 0,
        });
    }
    let keys: Vec<(&str, ColumnType)> = wanted.iter().map(|row| (row.key.as_str(), row.kind)).collect();
    check(&keys).map_err(refuse)?;
    Ok(wanted)
}

/// Validates that what automations refer to exists and can run.
fn check_automations(tx: &mut TenantTx, board: &WholeBoard, wanted: &[ColumnRow]) -> Result<(), Failure> {
    for (index, row) in wanted.iter().enumerate() {
        let at = format!("columns[{index}].automations");
        for (index, one) in read_automations(&row.automations, &at).map_err(refuse)?.iter().enumerate() {
            let field = |name: &str| format!("{at}[{index}].{name}");
            match one {
                Automation::Nudge { agent, .. } => {
                    let found = agents::get(tx, *agent)?.filter(|agent| {
                        agent.channel == Channel::Call && agent.direction == Direction::Outbound
                    });
                    if found.is_none() {
                        return Err(Failure::field(
                            &field("agentId"),
                            "must be an agent that can place calls",
                        ));
                    }
                }
                Automation::AddToCampaign { campaign } => {
                    if board.board.owner == campaign.to_string() {
                        return Err(Failure::field(
                            &field("campaignId"),
                            "must be another campaign than that of the board",
                        ));
                    }
                    if boards::workflow_of_campaign(tx, *campaign)?.is_none() {
                        return Err(Failure::field(
                            &field("campaignId"),
                            "must be a campaign of the workspace",
                        ));
                    }
                }
                Automation::Message { template, .. } => {
                    if store::channel_templates::get(tx, *template)?.is_none() {
                        return Err(Failure::field(
                            &field("templateId"),
                            "must be a template of the messaging channel",
                        ));
                    }
                }
                Automation::OptOut | Automation::DoNotCall { .. } | Automation::Event => {}
            }
        }
    }
    Ok(())
}

/// Deletes columns, after moving their cards to the given targets.
fn remove_columns(
    tx: &mut TenantTx,
    context: &Context,
    board: &WholeBoard,
    wanted: &[ColumnRow],
    change: &BoardChange,
) -> Result<(), Failure> {
    let stays = |id: Id<BoardColumn>| wanted.iter().any(|row| row.id == id);
    let mut targets: Vec<(Id<BoardColumn>, Id<BoardColumn>)> = Vec::new();
    for (index, moved) in change.move_cards.iter().enumerate() {
        let at = |name: &str| format!("moveCards[{index}].{name}");
        let from = column_of(board, &at("from"), &moved.from)?.id;
        if stays(from) || targets.iter().any(|(known, _)| *known == from) {
            return Err(Failure::field(&at("from"), "must be a deleted column, each at most once"));
        }
        let to = column_of(board, &at("to"), &moved.to)?.id;
        if !stays(to) {
            return Err(Failure::field(&at("to"), "must be a column that is kept"));
        }
        targets.push((from, to));
    }
    for column in board.columns.iter().filter(|column| !stays(column.id)) {
        match targets.iter().find(|(from, _)| *from == column.id) {
            Some((from, to)) => boards::empty_column(tx, board.board.id, *from, *to, context.now)?,
            None if column.cards > 0 => {
                let message = format!(
                    "the column {} has {} cards; moveCards must say where they go",
                    column.key, column.cards
                );
                return Err(Failure::conflict(message)
                    .with_meta(json!({"columnId": column.id, "count": column.cards})));
            }
            None => {}
        }
        boards::remove_column(tx, board.board.id, column.id)?;
    }
    Ok(())
}

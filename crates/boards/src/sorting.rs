//! Sorts the card of a call by the call's facts and analysis, in the transactions that store these, so that a crash loses
//! nothing. While a conversation is still to be analysed, its card waits (docs/contract/boards.md#sorting).

use app::call_env::Env;
use app::{Context, Failure, changes};
use domain::board::{Attention, CardStatus, Column, ColumnType, Heard, Verdict, read_rules, sort};
use domain::call::{Direction, Fact, Progress, Stage};
use domain::chat::EndCause;
use domain::ids::{BoardColumn, Call, Card, Contact, Id};
use domain::ports::{Choice, Chosen};
use domain::tenant::{Mode, Tenant};
use domain::topic::Topic;
use domain::wallet::talk_seconds;
use serde_json::{Map, Value, json};
use store::boards::{self, BoardEntry, CardRow, ColumnRow, ListRowOfCall, WholeBoard};
use store::calls::{self, CallFindings, CallRow};
use store::channel_conversations;
use store::chats::ChatRow;
use store::{TenantTx, Tx};

use crate::board::{Owner, ensure, part_of_one, thousandths};
use crate::moves::{Reason, relocate};

/// Observes every fact of a call. The first ring, or the answer of an incoming call, adds the card; the end sorts it.
/// Simulated calls have no cards.
pub fn call_fact(tx: &mut Tx<'_>, env: &Env, call: &CallRow, fact: Fact) -> Result<(), Failure> {
    let Some((owner, contact)) = on_board(call) else { return Ok(()) };
    let inbound = call.direction == Direction::Inbound;
    match call.progress.status.stage() {
        Stage::Ringing if fact == Fact::Ringing && call.campaign.is_some() => {
            enter(tx, env, call, owner, contact)
        }
        Stage::InProgress if fact == Fact::Answered && inbound => enter(tx, env, call, owner, contact),
        // Nobody was called, or nobody was there to be talked to.
        Stage::Ended if fact == Fact::NotPlaced || (inbound && call.progress.answered_at.is_none()) => Ok(()),
        // A nudge adds the people whom it reached to the board.
        Stage::Ended if call.nudge.is_some() && !reached(call) => Ok(()),
        Stage::Ended => after_call(tx, env, call, owner, contact, Step::Ended),
        Stage::Ringing | Stage::InProgress | Stage::Blocked => Ok(()),
    }
}

/// Prefetches what [`call_fact`] will read.
pub fn prefetch(tx: &mut Tx<'_>, _: &Env, call: &CallRow, after: &Progress, fact: Fact) {
    let Some((owner, contact)) = on_board(call) else { return };
    let (tenant, name) = (call.workspace, owner.text());
    match after.status.stage() {
        Stage::Ringing if fact == Fact::Ringing && call.campaign.is_some() => {
            let _ = boards::board_entry(&mut tx.of(tenant), &name, contact, call.id);
        }
        Stage::Ended if fact != Fact::NotPlaced && (call.nudge.is_none() || was_reached(after)) => {
            let _ = boards::of_owner(&mut tx.of(tenant), &name);
            let _ = boards::card_on(&mut tx.of(tenant), &name, contact);
            match owner {
                Owner::Campaign(_) => {
                    let _ = boards::depth_of_row(&mut tx.of(tenant), call.id);
                }
                Owner::Agent(_) => {
                    let _ = boards::board_entry(&mut tx.of(tenant), &name, contact, call.id);
                }
            }
            let _ = call.nudge.map(|nudge| boards::is_own_nudge(&mut tx.of(tenant), nudge));
        }
        Stage::Ringing | Stage::InProgress | Stage::Ended | Stage::Blocked => {}
    }
}

/// Called when a person of a campaign will not be called again, although the last call did not decide so: the card is
/// sorted as after that call.
pub fn given_up(tx: &mut TenantTx, env: &Env, call: Id<Call>) -> Result<(), Failure> {
    let Some(call) = calls::find(tx, call)? else { return Ok(()) };
    let Some((owner, contact)) = on_board(&call) else { return Ok(()) };
    after_call(tx, env, &call, owner, contact, Step::Ended)
}

/// Called when the analysis of a call is over, with or without a result.
pub fn analysed(tx: &mut Tx<'_>, env: &Env, call: &CallRow, chosen: Option<&Chosen>) -> Result<(), Failure> {
    let Some((owner, contact)) = on_board(call) else { return Ok(()) };
    after_call(tx, env, call, owner, contact, Step::Analysed(chosen))
}

/// The columns that the language model may choose from.
pub fn choices(tx: &mut Tx<'_>, call: &CallRow) -> Result<Vec<Choice>, Failure> {
    let Some((owner, _)) = on_board(call) else { return Ok(Vec::new()) };
    let Some(board) = boards::of_owner(&mut tx.of(call.workspace), &owner.text())? else {
        return Ok(Vec::new());
    };
    let choice = |column: store::boards::ColumnRow| {
        let meaning = meaning(column.kind)?;
        Some(Choice { key: column.key, name: column.name, meaning })
    };
    Ok(board.columns.into_iter().filter_map(choice).collect())
}

/// The description of a column type for the model; `None` for those that it cannot choose.
fn meaning(kind: ColumnType) -> Option<&'static str> {
    match kind {
        ColumnType::Open => Some("talked to, nothing decided"),
        ColumnType::Advancing => Some("on the way to the goal of the call"),
        ColumnType::Won => Some("the goal of the call is reached"),
        ColumnType::Lost => Some("the goal will not be reached"),
        ColumnType::New | ColumnType::Dnc | ColumnType::NoContact => None,
    }
}

/// The board and the person of a call, if it is about one.
fn on_board(call: &CallRow) -> Option<(Owner, Id<Contact>)> {
    let contact = call.contact.filter(|_| call.mode == Mode::Live)?;
    Some((Owner::of_call(call)?, contact))
}

/// Adds the person of a call to the board, unless they are on it or were erased.
fn enter(
    tx: &mut Tx<'_>,
    env: &Env,
    call: &CallRow,
    owner: Owner,
    contact: Id<Contact>,
) -> Result<(), Failure> {
    if let Some(card) = newcomer(tx, env, call, owner, contact)? {
        boards::insert_card(tx, &card)?;
        noted(&mut tx.of(card.workspace), &env.context, card.id)?;
    }
    Ok(())
}

/// Tells those who watch that a card has changed.
fn noted(tx: &mut TenantTx, context: &Context, card: Id<Card>) -> Result<(), Failure> {
    Ok(changes::note(tx, context.now, Topic::Cards, card)?)
}

/// The new card of the person of a call; `None` when they are on the board or were erased. The caller stores it.
fn newcomer(
    tx: &mut Tx<'_>,
    env: &Env,
    call: &CallRow,
    owner: Owner,
    contact: Id<Contact>,
) -> Result<Option<CardRow>, Failure> {
    let (tenant, name) = (call.workspace, owner.text());
    let mut board_entry = boards::board_entry(&mut tx.of(tenant), &name, contact, call.id)?;
    if board_entry.is_none() && ensure(&mut tx.of(tenant), &env.context, owner)?.is_some() {
        board_entry = boards::board_entry(&mut tx.of(tenant), &name, contact, call.id)?;
    }
    let board_entry = board_entry.filter(|found| found.card.is_none() && found.erased_at.is_none());
    Ok(board_entry.map(|board_entry| CardRow {
        last_call: Some(call.id),
        last_call_at: Some(call.started_at),
        ..fresh(&env.context, tenant, contact, board_entry)
    }))
}

fn fresh(context: &Context, tenant: Tenant, contact: Id<Contact>, board_entry: BoardEntry) -> CardRow {
    CardRow {
        id: context.ids.make(),
        workspace: tenant,
        board: board_entry.board,
        contact,
        column: board_entry.column,
        status: CardStatus::Placed,
        confidence: None,
        suggested: None,
        attention: None,
        entered_at: context.now,
        name: board_entry.name,
        reached: false,
        last_call: None,
        last_call_at: None,
        summary: None,
        sorted_at: None,
        moved_at: None,
        last_move: None,
        created_at: context.now,
        version: 0,
    }
}

/// Called when a conversation on the messaging channel is over and read. Who answered a campaign comes onto its board,
/// everybody else onto that of the agent, and is sorted as after a call.
pub fn chat_over(tx: &mut TenantTx, context: &Context, chat: &ChatRow) -> Result<(), Failure> {
    let tenant = tx.tenant();
    if chat.customer_messages == 0 {
        return Ok(());
    }
    let row = boards::row_of_chat(tx, chat.id)?;
    let (owner, contact, list_row, variables) = match row {
        Some(row) => (Owner::Campaign(row.campaign), row.contact, Some(row.list_row), row.variables),
        None => {
            let Some(carried) = channel_conversations::get(tx, chat.id)? else { return Ok(()) };
            (Owner::Agent(chat.agent), carried.contact, None, carried.variables)
        }
    };
    let Some(board) = ensure(tx, context, owner)? else { return Ok(()) };
    let mut found = boards::card_of(tx, board.board.id, contact)?;
    if found.is_none() {
        let board_entry = boards::board_entry_of_row(tx, &owner.text(), contact, list_row)?;
        let Some(board_entry) = board_entry.filter(|found| found.erased_at.is_none()) else { return Ok(()) };
        boards::insert_card(tx, &fresh(context, tenant, contact, board_entry))?;
        found = boards::card_of(tx, board.board.id, contact)?;
    }
    let Some(mut card) = found else { return Ok(()) };
    let before = (card.column, card.reached);
    card.reached = true;
    // Neither the sorting of a later one nor a person's change meanwhile is undone.
    if card.sorted_at.is_none_or(|at| at <= chat.created_at) {
        if chat.summary.is_some() {
            card.summary.clone_from(&chat.summary);
        }
        if card.moved_at.is_none_or(|at| at < chat.created_at) {
            let columns = rules_of(&board)?;
            let values = values_of_chat(chat, &variables);
            let heard = Heard {
                opted_out: chat.end_cause == Some(EndCause::OptedOut),
                reached: true,
                ever_reached: true,
                exhausted: false,
                outcome: chat.outcome.as_deref(),
                values: &values,
                advice: None,
            };
            let reason = Reason::sorting(card.last_call, 0);
            if put(tx, context, &board, &mut card, (&columns, &heard), reason)? {
                card.sorted_at = Some(chat.created_at);
            }
        }
    }
    boards::save_card(tx, &card, before)?;
    noted(tx, context, card.id)
}

/// The values that rules compare after a conversation (docs/contract/boards.md#rules).
fn values_of_chat(chat: &ChatRow, variables: &Map<String, Value>) -> Map<String, Value> {
    let mut values = Map::new();
    values.insert("outcome".into(), json!(chat.outcome));
    values.insert("endCause".into(), json!(chat.end_cause));
    values.insert("sentiment".into(), json!(chat.sentiment));
    values.insert("answered".into(), json!(true));
    values.insert("direction".into(), json!(Direction::Inbound));
    with_words(&mut values, variables, chat.extracted.as_ref());
    values
}

/// The values of a conversation's variables, and the results of its analysis.
fn with_words(values: &mut Map<String, Value>, variables: &Map<String, Value>, extracted: Option<&Value>) {
    for (name, value) in variables {
        values.insert(format!("variables.{name}"), value.clone());
    }
    if let Some(Value::Object(extracted)) = extracted {
        for (key, value) in extracted {
            values.insert(format!("extracted.{key}"), value.clone());
        }
    }
}

/// The progress of a call.
#[derive(Clone, Copy)]
enum Step<'a> {
    /// It is over; its conversation may still be analysed.
    Ended,
    /// The analysis is over.
    Analysed(Option<&'a Chosen>),
}

/// Whether a person answered: not a machine, and not a call that was cut before the agent was there.
fn reached(call: &CallRow) -> bool {
    was_reached(&call.progress)
}

fn was_reached(progress: &Progress) -> bool {
    let connected = progress.end_cause.as_deref() != Some("not_connected");
    progress.answered_at.is_some() && connected && !progress.met_no_person()
}

/// Updates a card after an ended call.
fn after_call(
    tx: &mut Tx<'_>,
    env: &Env,
    call: &CallRow,
    owner: Owner,
    contact: Id<Contact>,
    step: Step<'_>,
) -> Result<(), Failure> {
    let tenant = call.workspace;
    let Some(board) = ensure(&mut tx.of(tenant), &env.context, owner)? else { return Ok(()) };
    let name = owner.text();
    let found = match boards::card_on(&mut tx.of(tenant), &name, contact)? {
        Some(card) => Some((card, false)),
        // It never rang.
        None => match newcomer(tx, env, call, owner, contact)? {
            Some(card) => Some((card, true)),
            // It came onto the board a moment ago, or its person was erased.
            None => boards::card_on(&mut tx.of(tenant), &name, contact)?.map(|card| (card, false)),
        },
    };
    let Some((mut card, new)) = found else { return Ok(()) };
    let row = match owner {
        Owner::Campaign(_) => boards::row_of_call(&mut tx.of(tenant), call.id)?,
        Owner::Agent(_) => None,
    };
    let words = if reached(call) { calls::findings(&mut tx.of(tenant), call.id)? } else { None };
    let before = (card.column, card.reached);
    card.reached |= reached(call);
    if card.last_call_at.is_none_or(|at| at <= call.started_at) {
        (card.last_call, card.last_call_at) = (Some(call.id), Some(call.started_at));
    }
    // The sorting of a later call is not undone by an earlier one whose analysis took longer.
    if card.sorted_at.is_none_or(|at| at <= call.started_at) {
        if let Some(summary) = words.as_ref().and_then(|words| words.summary.clone()) {
            card.summary = Some(summary);
        }
        // Neither is a person's change since the call began.
        let by_hand = card.moved_at.is_some_and(|at| at >= call.started_at);
        if !by_hand && !waits(step, call, words.as_ref()) {
            place(tx, env, &board, &mut card, call, row.as_ref(), words.as_ref(), step)?;
        }
    }
    let stored = if new { boards::insert_card(tx, &card) } else { boards::save_card(tx, &card, before) };
    stored?;
    noted(&mut tx.of(card.workspace), &env.context, card.id)
}

/// Whether the sorting waits for the analysis. An opt-out does not.
fn waits(step: Step<'_>, call: &CallRow, words: Option<&CallFindings>) -> bool {
    matches!(step, Step::Ended)
        && !call.progress.opted_out
        && words.is_some_and(|words| words.analysis.as_deref() == Some("pending"))
}

/// Sorts a card after a call.
#[allow(clippy::too_many_arguments, reason = "each is something else that is known of the call")]
fn place(
    tx: &mut Tx<'_>,
    env: &Env,
    board: &WholeBoard,
    card: &mut CardRow,
    call: &CallRow,
    row: Option<&ListRowOfCall>,
    words: Option<&CallFindings>,
    step: Step<'_>,
) -> Result<(), Failure> {
    let columns = rules_of(board)?;
    let ruled = columns.iter().any(|column| !column.rules.is_empty());
    let values = if ruled { values(call, words) } else { Map::new() };
    let heard = Heard {
        opted_out: call.progress.opted_out,
        reached: reached(call),
        ever_reached: card.reached,
        exhausted: row.is_some_and(ListRowOfCall::exhausted),
        outcome: call.outcome.as_deref(),
        values: &values,
        advice: match step {
            Step::Ended => None,
            Step::Analysed(chosen) => chosen,
        },
    };
    let reason = Reason::sorting(Some(call.id), depth(tx, call, row)?);
    if put(tx, &env.context, board, card, (&columns, &heard), reason)? {
        card.sorted_at = Some(call.started_at);
    }
    Ok(())
}

/// The length of the chain of automations that led to a call, through the list row or the nudge that one created
/// (docs/contract/boards.md#no-loops).
fn depth(tx: &mut Tx<'_>, call: &CallRow, row: Option<&ListRowOfCall>) -> Result<i64, Failure> {
    let by_nudge = match call.nudge {
        Some(nudge) => boards::is_own_nudge(&mut tx.of(call.workspace), nudge)?,
        None => false,
    };
    Ok(row.and_then(|row| row.depth).unwrap_or(0).max(i64::from(by_nudge)))
}

/// Moves a card by the rules. Returns whether any rule matched.
fn put(
    tx: &mut Tx<'_>,
    context: &Context,
    board: &WholeBoard,
    card: &mut CardRow,
    (columns, heard): (&[Column], &Heard<'_>),
    reason: Reason,
) -> Result<bool, Failure> {
    match sort(columns, card.column, heard, part_of_one(board.board.review_below)) {
        Verdict::Stay => return Ok(false),
        Verdict::Place { column, confidence } => {
            (card.status, card.suggested) = (CardStatus::Placed, None);
            card.confidence = Some(thousandths(confidence));
            card.attention = None;
            if column != card.column {
                let to = column_of(board, column)?;
                relocate(tx, context, board, card, to, (reason, None))?;
            }
        }
        Verdict::Undecided { column } => {
            (card.status, card.suggested) = (CardStatus::NeedsReview, None);
            card.confidence = None;
            card.attention = Some(Attention::LowConfidence);
            if column != card.column {
                let to = column_of(board, column)?;
                relocate(tx, context, board, card, to, (reason, None))?;
            }
        }
        Verdict::Review { column, confidence } => {
            (card.status, card.suggested) = (CardStatus::NeedsReview, Some(column));
            card.confidence = Some(thousandths(confidence));
            card.attention = Some(Attention::LowConfidence);
        }
    }
    Ok(true)
}

fn column_of(board: &WholeBoard, id: Id<BoardColumn>) -> Result<&ColumnRow, Failure> {
    board.column(id).ok_or_else(|| Failure::internal("a card was sorted into another board"))
}

fn rules_of(board: &WholeBoard) -> Result<Vec<Column>, Failure> {
    board
        .columns
        .iter()
        .map(|row| {
            let rules = read_rules(&row.rules, "rules").map_err(|wrong| {
                Failure::internal(format!("{}: {} {}", row.id, wrong.field, wrong.problem))
            })?;
            Ok(Column { id: row.id, key: row.key.clone(), kind: row.kind, rules })
        })
        .collect()
}

/// The values that rules compare (docs/contract/boards.md#rules).
fn values(call: &CallRow, words: Option<&CallFindings>) -> Map<String, Value> {
    let mut values = Map::new();
    values.insert("outcome".into(), json!(call.outcome));
    values.insert("endCause".into(), json!(call.progress.end_cause));
    values.insert("sentiment".into(), json!(call.sentiment));
    values.insert("answered".into(), json!(reached(call)));
    values.insert("talkSeconds".into(), json!(call.progress.talk_ms.map(talk_seconds)));
    values.insert("direction".into(), json!(call.direction));
    with_words(&mut values, &call.variables, words.and_then(|words| words.extracted.as_ref()));
    values
}

//! Outcome boards of campaigns and of agents that answer calls (docs/contract/boards.md).

use std::collections::BTreeMap;

use domain::actor::Actor;
use domain::board::{ActionKind, ActionState, Attention, CardStatus, ColumnColor, ColumnType, MovedBy};
use domain::channel::campaign::{MAX_MAPPED, MAX_MAPPING_BYTES};
use domain::ids::{self, Id};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::campaigns::MappedParam;
use crate::error_codes::{COLUMN_NOT_ON_BOARD, CONFLICT, PLAN_FEATURE_LOCKED};
use crate::operation::Method::{GET, PATCH, POST, PUT};
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, cursor, data, given, limit, may, page, request, text_of};
use crate::scopes::{AGENTS_READ, AGENTS_WRITE, CAMPAIGNS_READ, CAMPAIGNS_WRITE};

/// An outcome board with its columns.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Board {
    /// Id of the board; created when the board is first needed.
    pub board_id: Id<ids::Board>,
    /// The columns from left to right.
    pub columns: Vec<BoardColumn>,
}

/// A column of an outcome board.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardColumn {
    /// Id of the column; a card has it in `columnId`.
    pub id: Id<ids::BoardColumn>,
    /// The name of the column, for people.
    pub name: String,
    /// Key of the column, unique on the board; calling lists and events name the column by it.
    pub key: String,
    /// What the column means, whatever its name.
    pub r#type: ColumnType,
    /// The colour of the column; null for none.
    pub color: Option<ColumnColor>,
    /// Number of cards in the column.
    pub count: i64,
}

/// A contact on an outcome board.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Card {
    /// Id of the card.
    pub id: Id<ids::Card>,
    /// Id of the contact, `con_…`.
    pub contact_id: Id<ids::Contact>,
    /// The contact's name, or the one on the calling list if the contact has none; null without a name and
    /// once the contact is erased.
    pub contact_name: Option<String>,
    /// The contact's number, E.164; null once the contact is erased.
    pub contact_phone: Option<String>,
    /// Id of the column that the card is in.
    pub column_id: Id<ids::BoardColumn>,
    /// `placed`, or `needs_review` when a person should choose the column.
    pub status: CardStatus,
    /// Confidence of the card's column, or of `suggestedColumnId` while it needs a review, from 0 to 1. Null
    /// before the first sorting and after a move by hand.
    pub confidence: Option<f64>,
    /// The column that the language model suggests while the card needs a review; null without a suggestion.
    pub suggested_column_id: Option<Id<ids::BoardColumn>>,
    /// Id of the contact's last call on this board; null if there was none.
    pub last_call_id: Option<Id<ids::Call>>,
    /// When the last call was placed; null if there was none.
    pub last_call_at: Option<Timestamp>,
    /// Summary of the last analysed call; null without one and once the contact is erased.
    pub last_summary: Option<String>,
    /// Why the card needs attention; null if it does not.
    pub attention_reason: Option<Attention>,
    /// When the card was moved into its column.
    pub entered_column_at: Timestamp,
    /// Id of the move by which the card came into its column; null if it was made there.
    pub last_move_id: Option<Id<ids::BoardMove>>,
    /// Until when the move can be undone; only in the answer to a member who moved the card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_until: Option<Timestamp>,
}

/// The column that a card is moved to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardMove {
    /// Id of a column of the same board; another one is 400 `column_not_on_board`.
    #[schemars(length(min = 1, max = 200))]
    pub column_id: String,
}

/// The move of a card that is undone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoCardMove {
    /// Id of the move, the card's `lastMoveId`; another one is 409 `conflict`.
    #[schemars(length(min = 1, max = 200))]
    pub move_id: String,
}

/// A move of a card from one column to another.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardMoved {
    /// Id of this move, which is named when it is undone.
    pub move_id: Id<ids::BoardMove>,
    /// The column that the card left; null if the card came from none.
    pub from: Option<CardMovedColumn>,
    /// The column that the card was moved into.
    pub to: CardMovedColumn,
    /// `sorting` after a call or a conversation, `api` by hand.
    pub moved_by: MovedBy,
    /// Who moved the card by hand: a key, a member or the operator, by id. Null after a sorting.
    pub actor: Option<Actor>,
    /// Confidence of a sorting, from 0 to 1; null if it had none, and by hand.
    pub confidence: Option<f64>,
    /// Id of the call that caused the move, or of the last one before it; null if there was none.
    pub call_id: Option<Id<ids::Call>>,
    /// When the card was moved.
    pub moved_at: Timestamp,
    /// When the move was undone; null if it was not.
    pub undone_at: Option<Timestamp>,
}

/// A column as it was called when a card was moved.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CardMovedColumn {
    /// Id of the column; it may be deleted by now.
    pub id: Id<ids::BoardColumn>,
    /// Name of the column at the time of the move.
    pub name: String,
}

/// An outcome board with the rules and automations of its columns.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardSettings {
    /// Id of the board.
    pub id: Id<ids::Board>,
    /// Id of the campaign that the board belongs to; null for the board of an agent.
    pub campaign_id: Option<String>,
    /// Id of the agent that the board belongs to; null for the board of a campaign.
    pub agent_id: Option<String>,
    /// Confidence from 0 to 1 below which the language model does not move a card: the card then needs a
    /// review.
    pub review_below: f64,
    /// Version of the settings; each edit increments it. Send it back with a change.
    pub version: i64,
    /// The columns from left to right.
    pub columns: Vec<ColumnSettings>,
    /// When the board was created.
    pub created_at: Timestamp,
}

/// A column with its rules and automations.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ColumnSettings {
    /// The fields that customers see.
    #[serde(flatten)]
    pub column: BoardColumn,
    /// A call moves its card to this column when one of these rules holds; columns are tried from left to
    /// right.
    #[schemars(with = "Vec<BoardRule>")]
    pub rules: Value,
    /// What is done for each card that is moved into the column.
    #[schemars(with = "Vec<BoardAutomation>")]
    pub automations: Value,
}

/// The columns that replace those of a board.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardChange {
    /// All columns from left to right. One with the `id` of a column changes it, one without `id` is new; a
    /// column that is not named is deleted.
    #[schemars(length(min = 1, max = 30))]
    pub columns: Vec<ColumnChange>,
    /// Where the cards of deleted columns go; a column with cards and without an entry is 409 `conflict`.
    #[schemars(length(max = 30), extend("default" = []))]
    pub move_cards: Vec<CardsMove>,
    /// Confidence from 0 to 1 below which the language model does not move a card. Absent: unchanged.
    pub review_below: Option<f64>,
    /// The `version` on which the edit is based; another one than the current is 409 `conflict`. Absent: not
    /// checked.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub version: Option<i64>,
}

/// A column of the changed board.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ColumnChange {
    /// Id of the column that is changed; absent for a new column.
    #[schemars(with = "Option<Id<ids::BoardColumn>>")]
    pub id: Option<String>,
    /// The name of the column, for people.
    #[schemars(length(min = 1, max = 60))]
    pub name: String,
    /// Key of the column: a-z, 0-9 and `_`, beginning with a letter, unique on the board.
    #[schemars(length(min = 1, max = 40))]
    pub key: String,
    /// What the column means; exactly one column of a board has the type `new`.
    #[schemars(with = "ColumnType")]
    pub r#type: String,
    /// The colour of the column; null for none. Absent: unchanged, and none for a new column.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, with = "Option<ColumnColor>", extend("x-nullable" = true))]
    pub color: Option<Option<ColumnColor>>,
    /// A call moves its card to this column when one of these rules holds.
    #[schemars(with = "Vec<BoardRule>", length(max = 20), extend("default" = []))]
    pub rules: Value,
    /// What is done for each card that is moved into the column.
    #[schemars(with = "Vec<BoardAutomation>", length(max = 10), extend("default" = []))]
    pub automations: Value,
}

/// Where the cards of a deleted column go.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct CardsMove {
    /// Id of the column that is deleted.
    #[schemars(with = "Id<ids::BoardColumn>")]
    pub from: String,
    /// Id of a column that is kept.
    #[schemars(with = "Id<ids::BoardColumn>")]
    pub to: String,
}

/// A rule; it holds when all its conditions do.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoardRule {
    /// The conditions, all of which must hold.
    #[schemars(length(min = 1, max = 10))]
    pub all: Vec<BoardCondition>,
}

/// A comparison, as in a `branch` node of a flow.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoardCondition {
    /// What is compared: `outcome`, `endCause`, `sentiment`, `answered`, `talkSeconds`, `direction`,
    /// `extracted.<key>` or `variables.<name>`.
    #[schemars(length(min = 1, max = 140))]
    pub variable: String,
    /// How it is compared, as in a `branch` node; `exists` checks whether there is a value.
    #[schemars(extend("enum" = ["eq", "ne", "lt", "gt", "in", "exists"], "default" = "eq"))]
    pub op: String,
    /// The value to compare with: text, number or boolean; for `in` a list of these. At most 4,096 bytes.
    #[schemars(with = "Option<ConditionValue>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("x-maxBytes" = 4096))]
#[allow(dead_code, reason = "only its schema is used")]
struct ConditionValue(Value);

/// An action for a card that is moved into a column.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardAutomation {
    /// The action; it decides which of the other fields are used.
    pub r#type: ActionKind,
    /// For `nudge`: id of the agent that calls; it must be able to place calls.
    #[schemars(with = "Option<Id<ids::Agent>>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// For `nudge`: delay in minutes after the move; 0 when absent.
    #[schemars(range(min = 0, max = 43_200))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_minutes: Option<i64>,
    /// For `add_to_campaign`: id of another campaign, whose calling list the contact is added to.
    #[schemars(with = "Option<Id<ids::Campaign>>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub campaign_id: Option<String>,
    /// For `do_not_call`: the reason that the do-not-call list shows.
    #[schemars(length(min = 1, max = 200))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For `message`: id of an approved template of the messaging channel.
    #[schemars(with = "Option<Id<ids::ChannelTemplate>>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_id: Option<String>,
    /// For `message`: sources of the template's values, as in a campaign; `column` takes a variable of the
    /// contact.
    #[schemars(with = "Option<BTreeMap<String, MappedParam>>", extend("maxProperties" = MAX_MAPPED, "x-maxBytes" = MAX_MAPPING_BYTES))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param_mapping: Option<Value>,
}

/// A card with the automations of its moves.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardDetail {
    /// The fields that customers see.
    #[serde(flatten)]
    pub card: Card,
    /// Automations of the card's moves in the last 30 days, newest move first; at most 50.
    pub automations: Vec<CardAction>,
}

/// An automation that ran, or will run, for one move of a card.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardAction {
    /// Id of the move that triggered the automation.
    pub move_id: Id<ids::BoardMove>,
    /// Id of the column that the card was moved into.
    pub column_id: Id<ids::BoardColumn>,
    /// The action of the automation.
    pub r#type: ActionKind,
    /// `pending`, `done`, `failed` or `skipped`.
    pub status: ActionState,
    /// Code of the reason why it failed, was skipped or is retried; null otherwise.
    pub error: Option<String>,
    /// How often it was attempted.
    pub attempts: i64,
    /// When it runs next; null once it is over.
    pub due_at: Option<Timestamp>,
    /// When the card was moved.
    pub moved_at: Timestamp,
    /// When it was over; null while it is pending.
    pub finished_at: Option<Timestamp>,
}

fn cards_query() -> Vec<Field> {
    vec![
        may(
            "column",
            text_of(1, 64).doc("Id of a column: only its cards. Absent: the cards of all columns."),
        ),
        limit(200),
        cursor(),
    ]
}

const fn read(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(GET, path, id, "Boards", summary).errors(&[PLAN_FEATURE_LOCKED])
}

const fn cards(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(GET, path, id, "Boards", summary)
        .query(cards_query)
        .answers(&[(200, Some(page::<Card>))])
        .errors(&[COLUMN_NOT_ON_BOARD, PLAN_FEATURE_LOCKED])
}

fn history_query() -> Vec<Field> {
    vec![limit(200), cursor()]
}

const fn history(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(GET, path, id, "Boards", summary)
        .about("Moves are kept for 400 days. Cards that are moved because their column is deleted are not part of it.")
        .query(history_query)
        .answers(&[(200, Some(page::<CardMoved>))])
        .errors(&[PLAN_FEATURE_LOCKED])
}

const fn undo(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(POST, path, id, "Boards", summary)
        .about(
            "Only the member who moved the card, within 5 s: until then the automations of the column wait, and \
             they are skipped with the move. 409 `conflict` afterwards, and when the card was moved or sorted again.",
        )
        .access(Access::Member)
        .role(Role::Editor)
        .live_only()
        .body(request::<UndoCardMove>)
        .answers(&[(200, Some(data::<Card>))])
        .errors(&[CONFLICT, PLAN_FEATURE_LOCKED])
}

const fn move_card(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(PATCH, path, id, "Boards", summary)
        .live_only()
        .body(request::<CardMove>)
        .answers(&[(200, Some(data::<Card>))])
        .errors(&[COLUMN_NOT_ON_BOARD, PLAN_FEATURE_LOCKED])
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    read("/v1/campaigns/{id}/board", "getCampaignBoard", "The outcome board of a campaign")
        .about("Created when it is first needed.")
        .scope(CAMPAIGNS_READ)
        .answers(&[(200, Some(data::<Board>))]),
    read(
        "/v1/agents/{id}/board",
        "getAgentBoard",
        "The outcome board of an agent that answers calls or chats",
    )
    .about("An outbound agent has one only after a nudge reached its contact; until then it is 404.")
    .scope(AGENTS_READ)
    .answers(&[(200, Some(data::<Board>))]),
    cards(
        "/v1/campaigns/{id}/board/cards",
        "listCampaignCards",
        "Cards of a campaign's board, newest arrivals first",
    )
    .scope(CAMPAIGNS_READ),
    cards(
        "/v1/agents/{id}/board/cards",
        "listAgentCards",
        "Cards of an agent's board, newest arrivals first",
    )
    .scope(AGENTS_READ),
    move_card(
        "/v1/campaigns/{id}/board/cards/{cardId}",
        "moveCampaignCard",
        "Move a card to another column of a campaign's board",
    )
    .about(
        "The automations of the column run once; those of a move by a member start after 5 s. A move to the current column only clears the \
         review. A column of another board is 400 `column_not_on_board`.",
    )
    .scope(CAMPAIGNS_WRITE),
    move_card(
        "/v1/agents/{id}/board/cards/{cardId}",
        "moveAgentCard",
        "Move a card to another column of an agent's board",
    )
    .about(
        "The automations of the column run once; those of a move by a member start after 5 s. A move to the current column only clears the \
         review. A column of another board is 400 `column_not_on_board`.",
    )
    .scope(AGENTS_WRITE),
    history(
        "/v1/campaigns/{id}/board/cards/{cardId}/history",
        "getCampaignCardHistory",
        "Moves of a card of a campaign's board, newest first",
    )
    .scope(CAMPAIGNS_READ),
    history(
        "/v1/agents/{id}/board/cards/{cardId}/history",
        "getAgentCardHistory",
        "Moves of a card of an agent's board, newest first",
    )
    .scope(AGENTS_READ),
    undo(
        "/v1/campaigns/{id}/board/cards/{cardId}/undo",
        "undoCampaignCardMove",
        "Undo a move of a card of a campaign's board",
    ),
    undo(
        "/v1/agents/{id}/board/cards/{cardId}/undo",
        "undoAgentCardMove",
        "Undo a move of a card of an agent's board",
    ),
    operation(
        GET,
        "/operator/v1/workspaces/{ws}/boards/{id}",
        "getBoard",
        "Operator",
        "A board with the rules and automations of its columns",
    )
.role(Role::Viewer)
    .access(Access::Operator)
    .answers(&[(200, Some(data::<BoardSettings>))]),
    operation(
        PUT,
        "/operator/v1/workspaces/{ws}/boards/{id}",
        "updateBoard",
        "Operator",
        "Replace the columns of a board with their rules and automations",
    )
.role(Role::Editor)
    .about(
        "An error names the field and changes nothing. 409 `conflict` if `version` is not the \
         current one, or a deleted column has cards that `moveCards` does not name.",
    )
    .access(Access::Operator)
    .body(request::<BoardChange>)
    .answers(&[(200, Some(data::<BoardSettings>))])
    .errors(&[COLUMN_NOT_ON_BOARD, CONFLICT]),
    operation(
        GET,
        "/operator/v1/workspaces/{ws}/boards/{id}/cards/{cardId}",
        "getBoardCard",
        "Operator",
        "A card with the automations of its moves",
    )
.role(Role::Viewer)
    .access(Access::Operator)
    .answers(&[(200, Some(data::<CardDetail>))]),
];

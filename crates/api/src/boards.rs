//! Outcome boards of campaigns and of agents that answer calls (docs/contract/boards.md).

use std::collections::BTreeMap;

use domain::board::{ActionKind, ActionState, Attention, CardStatus, ColumnType};
use domain::channel::campaign::{MAX_MAPPED, MAX_MAPPING_BYTES};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::campaigns::MappedParam;
use crate::error_codes::{COLUMN_NOT_ON_BOARD, CONFLICT, PLAN_FEATURE_LOCKED};
use crate::operation::Method::{GET, PATCH, PUT};
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, cursor, data, limit, may, page, request, text_of};
use crate::scopes::{AGENTS_READ, AGENTS_WRITE, CAMPAIGNS_READ, CAMPAIGNS_WRITE};

/// A board with its columns from left to right.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Board {
    /// The board.
    pub board_id: Id<ids::Board>,
    /// Its columns.
    pub columns: Vec<BoardColumn>,
}

/// A column of a board.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardColumn {
    /// Its id.
    pub id: Id<ids::BoardColumn>,
    /// Its name.
    pub name: String,
    /// Its key, unique on the board.
    pub key: String,
    /// What it means, whatever its name.
    pub r#type: ColumnType,
    /// How many cards it has.
    pub count: i64,
}

/// A person on a board.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Card {
    /// Its id.
    pub id: Id<ids::Card>,
    /// The person.
    pub contact_id: Id<ids::Contact>,
    /// The contact's name, else the one on the calling list; null once the person is erased.
    pub contact_name: Option<String>,
    /// The contact's number; null once the person is erased.
    pub contact_phone: Option<String>,
    /// Where it is.
    pub column_id: Id<ids::BoardColumn>,
    /// `needs_review`: the model was not sure enough to move it.
    pub status: CardStatus,
    /// How sure its place is, from 0 to 1, or, while it needs a review, the suggestion. Null before its first
    /// sorting and after a move by hand.
    pub confidence: Option<f64>,
    /// Where the model would move it, while it needs a review.
    pub suggested_column_id: Option<Id<ids::BoardColumn>>,
    /// The last call with the person for this board.
    pub last_call_id: Option<Id<ids::Call>>,
    /// When that began.
    pub last_call_at: Option<Timestamp>,
    /// What the last analysed call was about.
    pub last_summary: Option<String>,
    /// Why it wants attention.
    pub attention_reason: Option<Attention>,
    /// When it came into its column.
    pub entered_column_at: Timestamp,
}

/// Where a card is to be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardMove {
    /// The id of a column of the same board.
    #[schemars(length(min = 1, max = 200))]
    pub column_id: String,
}

/// A board as the operator sees it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardSettings {
    /// The board.
    pub id: Id<ids::Board>,
    /// The campaign that it belongs to.
    pub campaign_id: Option<String>,
    /// The agent that it belongs to.
    pub agent_id: Option<String>,
    /// Confidence from which the model moves a card by itself, from 0 to 1.
    pub review_below: f64,
    /// Counts changes.
    pub version: i64,
    /// Its columns from left to right.
    pub columns: Vec<ColumnSettings>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A column as the operator sees it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ColumnSettings {
    /// The column.
    #[serde(flatten)]
    pub column: BoardColumn,
    /// A call moves its card here when one of them holds.
    #[schemars(with = "Vec<BoardRule>")]
    pub rules: Value,
    /// What happens with a card that comes in.
    #[schemars(with = "Vec<BoardAutomation>")]
    pub automations: Value,
}

/// The columns that a board is to have.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardChange {
    /// From left to right. One with the `id` of a column changes it, one without is new; a column that is not
    /// named is deleted.
    #[schemars(length(min = 1, max = 30))]
    pub columns: Vec<ColumnChange>,
    /// Where the cards of deleted columns go.
    #[schemars(length(max = 30), extend("default" = []))]
    pub move_cards: Vec<CardsMove>,
    /// Confidence from which the model moves a card by itself, from 0 to 1.
    pub review_below: Option<f64>,
    /// The `version` that the change was made from; another one is 409.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub version: Option<i64>,
}

/// A column that a board is to have.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ColumnChange {
    /// The column that is changed.
    #[schemars(with = "Option<Id<ids::BoardColumn>>")]
    pub id: Option<String>,
    /// Its name.
    #[schemars(length(min = 1, max = 60))]
    pub name: String,
    /// Its key: a-z, 0-9 and `_`, unique on the board.
    #[schemars(length(min = 1, max = 40))]
    pub key: String,
    /// What it means.
    #[schemars(with = "ColumnType")]
    pub r#type: String,
    /// A call moves its card here when one of them holds.
    #[schemars(with = "Vec<BoardRule>", length(max = 20), extend("default" = []))]
    pub rules: Value,
    /// What happens with a card that comes in.
    #[schemars(with = "Vec<BoardAutomation>", length(max = 10), extend("default" = []))]
    pub automations: Value,
}

/// Where the cards of a deleted column go.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct CardsMove {
    /// The deleted column.
    #[schemars(with = "Id<ids::BoardColumn>")]
    pub from: String,
    /// A column that stays.
    #[schemars(with = "Id<ids::BoardColumn>")]
    pub to: String,
}

/// It holds when all its conditions do.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoardRule {
    /// At least one.
    #[schemars(length(min = 1, max = 10))]
    pub all: Vec<BoardCondition>,
}

/// A comparison, as in a `branch` node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoardCondition {
    /// `outcome`, `endCause`, `sentiment`, `answered`, `talkSeconds`, `direction`, `extracted.<key>` or
    /// `variables.<name>`.
    #[schemars(length(min = 1, max = 140))]
    pub variable: String,
    /// How it is compared.
    #[schemars(extend("enum" = ["eq", "ne", "lt", "gt", "in", "exists"], "default" = "eq"))]
    pub op: String,
    /// What it is compared with: a text, a number, true or false, or for `in` a list of these.
    #[schemars(with = "Option<ConditionValue>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("x-maxBytes" = 4096))]
#[allow(dead_code, reason = "only its schema is used")]
struct ConditionValue(Value);

/// What a column does with a card that comes into it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardAutomation {
    /// What is done.
    pub r#type: ActionKind,
    /// `nudge`: who talks, an agent that can place calls.
    #[schemars(with = "Option<Id<ids::Agent>>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// `nudge`: after how many minutes; 0 when it is not given.
    #[schemars(range(min = 0, max = 43_200))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_minutes: Option<i64>,
    /// `add_to_campaign`: another campaign.
    #[schemars(with = "Option<Id<ids::Campaign>>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub campaign_id: Option<String>,
    /// `do_not_call`: the reason that the list shows.
    #[schemars(length(min = 1, max = 200))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `message`: an approved template of the messaging channel.
    #[schemars(with = "Option<Id<ids::ChannelTemplate>>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_id: Option<String>,
    /// `message`: where its values come from, as in a campaign; a column is a variable of the contact.
    #[schemars(with = "Option<BTreeMap<String, MappedParam>>", extend("maxProperties" = MAX_MAPPED, "x-maxBytes" = MAX_MAPPING_BYTES))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param_mapping: Option<Value>,
}

/// A card with what became of the automations of its moves.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardDetail {
    /// The card.
    #[serde(flatten)]
    pub card: Card,
    /// Automations of its moves in the last 30 days, newest move first, at most 50.
    pub automations: Vec<CardAction>,
}

/// One automation of one move of a card.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardAction {
    /// The move.
    pub move_id: Id<ids::BoardMove>,
    /// The column that the card came into.
    pub column_id: Id<ids::BoardColumn>,
    /// What is done.
    pub r#type: ActionKind,
    /// How far it has got.
    pub status: ActionState,
    /// Why it failed or was skipped, a code.
    pub error: Option<String>,
    /// How often it was tried.
    pub attempts: i64,
    /// When it is due, while it is pending.
    pub due_at: Option<Timestamp>,
    /// When the card was moved.
    pub moved_at: Timestamp,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
}

fn cards_query() -> Vec<Field> {
    vec![
        may(
            "column",
            text_of(1, 64).doc("Only cards of this column; those of all columns when it is absent"),
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

const fn move_card(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(PATCH, path, id, "Boards", summary)
        .live_only()
        .body(request::<CardMove>)
        .answers(&[(200, Some(data::<Card>))])
        .errors(&[COLUMN_NOT_ON_BOARD, PLAN_FEATURE_LOCKED])
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    read("/v1/campaigns/{id}/board", "getCampaignBoard", "The board of a campaign")
        .scope(CAMPAIGNS_READ)
        .answers(&[(200, Some(data::<Board>))]),
    read("/v1/agents/{id}/board", "getAgentBoard", "The board of an agent that answers calls or chats")
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
        "Move a card; the automations of its new column run",
    )
    .scope(CAMPAIGNS_WRITE),
    move_card(
        "/v1/agents/{id}/board/cards/{cardId}",
        "moveAgentCard",
        "Move a card; the automations of its new column run",
    )
    .scope(AGENTS_WRITE),
    operation(
        GET,
        "/operator/v1/workspaces/{ws}/boards/{id}",
        "getBoard",
        "Operator",
        "A board with the rules and automations of its columns",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(data::<BoardSettings>))]),
    operation(
        PUT,
        "/operator/v1/workspaces/{ws}/boards/{id}",
        "updateBoard",
        "Operator",
        "Set the columns of a board, their order, rules and automations",
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
        "A card with what became of the automations of its moves",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(data::<CardDetail>))]),
];

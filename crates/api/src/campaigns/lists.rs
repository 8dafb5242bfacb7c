//! Calling lists (docs/contract/campaigns.md#calling-list).

use std::collections::BTreeMap;

use domain::call::variables;
use domain::campaign::list::{MAX_NAME as MAX_ROW_NAME, MAX_PHONE, MAX_ROWS};
use domain::campaign::{HeldReason, InvalidReason, RowFailure, RowState};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schema::{Field, choice, limit, may, offset, or, text_of};

/// Values of a calling list that are read at once: a piece of an import, or of the body of a list.
const LIST_VALUES: usize = 500_000;

/// The calling list in a few figures.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct CallingList {
    /// All rows.
    pub total: i64,
    /// Those that can be dialled.
    pub valid: i64,
    /// Those that are never dialled: no number, a number outside India, a duplicate, an erased person.
    pub invalid: i64,
}

/// A person to be called.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewCallingListRow {
    /// An Indian number of 8 to 20 characters in any usual writing; anything else is kept and flagged.
    #[schemars(length(max = MAX_PHONE))]
    pub phone: String,
    /// Name.
    #[schemars(length(max = MAX_ROW_NAME), extend("x-nullable" = true))]
    pub name: Option<String>,
    /// Values of the conversation, texts.
    #[schemars(with = "Option<BTreeMap<String, RowValue>>")]
    #[schemars(extend("maxProperties" = variables::CEILING_COUNT, "x-maxBytes" = variables::CEILING_BYTES))]
    #[schemars(extend("x-refusedAs" = "invalid_variables", "x-nullable" = true))]
    pub variables: Option<Map<String, Value>>,
}

/// A value of a row.
#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code, reason = "only its schema is used")]
struct RowValue(#[schemars(length(max = variables::CEILING_BYTES))] String);

/// A calling list, of up to 64 MB.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(extend("x-maxValues" = LIST_VALUES))]
pub struct NewCallingList {
    /// Its rows; of rows with the same number the first one counts.
    #[schemars(length(min = 1, max = MAX_ROWS))]
    pub contacts: Vec<NewCallingListRow>,
}

/// A row of a calling list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallingListRow {
    /// Its id.
    pub id: Id<ids::ListRow>,
    /// The person; null until the first call.
    pub contact_id: Option<Id<ids::Contact>>,
    /// E.164 of a number that can be dialled, else as it was sent; null once the person is erased.
    pub phone: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// Values of the conversation.
    #[schemars(with = "BTreeMap<String, String>")]
    pub variables: Map<String, Value>,
    /// Where it is.
    pub state: RowState,
    /// Status of the last call; `blocked` when compliance refused it.
    pub dial_status: Option<String>,
    /// Dials so far.
    pub attempts: i64,
    /// The last dial.
    pub last_attempt_at: Option<Timestamp>,
    /// Why it waits.
    pub held_reason: Option<HeldReason>,
    /// Why it was given up without a call.
    pub failure_reason: Option<RowFailure>,
    /// Whether it can be dialled at all.
    pub valid: bool,
    /// Why it cannot.
    pub invalid_reason: Option<InvalidReason>,
    /// The number is on the workspace's do-not-call list, or its contact opted out.
    pub do_not_call: bool,
    /// The key of the column of the campaign's board in which the person is.
    pub board_column: Option<String>,
}

/// How many rows are where. The six states never overlap and add up to `all`.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct CallingListCounts {
    /// All rows.
    pub all: i64,
    /// Answered by the person.
    pub reached: i64,
    /// Being called.
    pub in_progress: i64,
    /// Not reached.
    pub unreached: i64,
    /// Waiting for something.
    pub held: i64,
    /// Not dialled yet.
    pub queued: i64,
    /// Never dialled.
    pub invalid: i64,
    /// Rows of any state but `invalid` whose number is on the do-not-call list.
    pub dnc: i64,
}

/// A page of a calling list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallingListPage {
    /// Rows, in the order of the list.
    pub data: Vec<CallingListRow>,
    /// How many rows are where; with `q`, of those that match it.
    pub counts: CallingListCounts,
    /// How many there are of the chosen state.
    pub total: i64,
    /// The `offset` of the next page; null on the last one.
    pub next_offset: Option<i64>,
}

/// A staged calling list: it grows piece by piece and takes effect in one moment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListImport {
    /// Its number.
    pub import_id: i64,
    /// The campaign.
    pub campaign_id: Id<ids::Campaign>,
    /// Rows that it has.
    pub total: i64,
    /// Those that can be dialled.
    pub valid: i64,
    /// Those that are never dialled.
    pub invalid: i64,
}

/// The next rows of a staged calling list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(extend("x-maxValues" = LIST_VALUES))]
pub struct ListImportPiece {
    /// How many rows were sent before: a piece that was taken is not taken again.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub after: i64,
    /// The rows.
    #[schemars(length(min = 1, max = MAX_ROWS))]
    pub contacts: Vec<NewCallingListRow>,
}

pub(super) fn contacts_query() -> Vec<Field> {
    vec![
        or(
            "state",
            choice(&["all", "reached", "in_progress", "unreached", "held", "queued", "invalid", "dnc"]),
            "all".into(),
        ),
        may("q", text_of(1, 200).doc("What the name or the number contains; of a list with more than 200,000 rows, a whole number.")),
        limit(200),
        offset(),
    ]
}

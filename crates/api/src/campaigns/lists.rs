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
pub(super) const LIST_VALUES: usize = 500_000;

/// Number of rows of a calling list.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct CallingList {
    /// Number of rows of the calling list.
    pub total: i64,
    /// Number of rows whose number can be dialled.
    pub valid: i64,
    /// Rows that are never dialled: an invalid number, one outside India, a duplicate, or an erased contact.
    pub invalid: i64,
}

/// A row of a calling list that is sent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewCallingListRow {
    /// An Indian number of 8 to 20 characters in any usual notation. Any other text is stored, flagged as
    /// invalid and never dialled.
    #[schemars(length(max = MAX_PHONE))]
    pub phone: String,
    /// The contact's name; null or absent for none.
    #[schemars(length(max = MAX_ROW_NAME), extend("x-nullable" = true))]
    pub name: Option<String>,
    /// Values for the agent's flow, name to text; at most 500 names and 64 KB.
    #[schemars(with = "Option<BTreeMap<String, RowValue>>")]
    #[schemars(extend("maxProperties" = variables::CEILING_COUNT, "x-maxBytes" = variables::CEILING_BYTES))]
    #[schemars(extend("x-refusedAs" = "invalid_variables", "x-nullable" = true))]
    pub variables: Option<Map<String, Value>>,
}

/// Value of a variable, as text.
#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code, reason = "only its schema is used")]
struct RowValue(#[schemars(length(max = variables::CEILING_BYTES))] String);

/// A calling list that replaces the current one; at most 64 MB.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(extend("x-maxValues" = LIST_VALUES))]
pub struct NewCallingList {
    /// The rows, in the order in which they are dialled; of rows with the same number the first one counts.
    #[schemars(length(min = 1, max = MAX_ROWS))]
    pub contacts: Vec<NewCallingListRow>,
}

/// A row of a calling list: a contact, its state and its attempts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallingListRow {
    /// Id of the row.
    pub id: Id<ids::ListRow>,
    /// Id of the contact; null until the first call.
    pub contact_id: Option<Id<ids::Contact>>,
    /// The number: E.164 if it can be dialled, otherwise as it was sent; null once the contact is erased.
    pub phone: Option<String>,
    /// The name that was sent with the row; null without one and once the contact is erased.
    pub name: Option<String>,
    /// Values for the agent's flow that were sent with the row.
    #[schemars(with = "BTreeMap<String, String>")]
    pub variables: Map<String, Value>,
    /// State of the row: `queued`, `held`, `in_progress`, `reached`, `unreached` or `invalid`.
    pub state: RowState,
    /// `status` of the row's last call, `blocked` if a compliance gate refused it; null before the first
    /// dial.
    pub dial_status: Option<String>,
    /// Number of dials to this row so far.
    pub attempts: i64,
    /// When the row was last dialled; null before the first dial.
    pub last_attempt_at: Option<Timestamp>,
    /// What the row waits for while its state is `held`; null otherwise.
    pub held_reason: Option<HeldReason>,
    /// Why the row was given up without a call; null otherwise.
    pub failure_reason: Option<RowFailure>,
    /// Whether the row can be dialled at all.
    pub valid: bool,
    /// Why the row is never dialled; null if it is valid.
    pub invalid_reason: Option<InvalidReason>,
    /// Whether the number is on the workspace's do-not-call list or its contact opted out, at the time of the
    /// request.
    pub do_not_call: bool,
    /// Key of the board's column that the contact's card is in; null without a card.
    pub board_column: Option<String>,
    /// When the row is next dialled at the earliest; null if it is dialled as soon as the campaign dials, or not again.
    pub next_attempt_at: Option<Timestamp>,
    /// Id of the row's current or last call; null before the first dial.
    pub last_call_id: Option<Id<ids::Call>>,
}

/// Number of rows by state. The six states never overlap and add up to `all`.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct CallingListCounts {
    /// Number of rows of the calling list.
    pub all: i64,
    /// Rows that a person answered; they are not dialled again.
    pub reached: i64,
    /// Rows to which a call is being placed or in progress.
    pub in_progress: i64,
    /// Rows that were not reached; another attempt may follow.
    pub unreached: i64,
    /// Rows that wait for the reason in their `heldReason`.
    pub held: i64,
    /// Number of rows that were not dialled yet.
    pub queued: i64,
    /// Rows that are never dialled, because the number is invalid, a duplicate or erased.
    pub invalid: i64,
    /// Rows of any state but `invalid` whose number is on the workspace's do-not-call list.
    pub dnc: i64,
}

/// One page of a calling list, with the number of rows by state.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallingListPage {
    /// The rows, in the order of the list.
    pub data: Vec<CallingListRow>,
    /// Number of rows by state; with `q`, of the rows that match it.
    pub counts: CallingListCounts,
    /// Number of rows of the chosen `state`.
    pub total: i64,
    /// `offset` of the next page; null on the last page.
    pub next_offset: Option<i64>,
}

/// A staged calling list: it is uploaded in pieces, is never dialled, and takes effect atomically when the
/// import is finished.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListImport {
    /// Number of the import; it is in the path of its other requests.
    pub import_id: i64,
    /// Id of the campaign, `cmp_…`.
    pub campaign_id: Id<ids::Campaign>,
    /// Number of rows that were uploaded so far.
    pub total: i64,
    /// Uploaded rows that can be dialled.
    pub valid: i64,
    /// Uploaded rows that are never dialled.
    pub invalid: i64,
}

/// The next rows of a staged calling list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(extend("x-maxValues" = LIST_VALUES))]
pub struct ListImportPiece {
    /// Number of rows that were uploaded before this piece. Another number is 409 with `meta.rows`, so a
    /// piece can be repeated safely.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub after: i64,
    /// The rows of this piece, in order.
    #[schemars(length(min = 1, max = MAX_ROWS))]
    pub contacts: Vec<NewCallingListRow>,
}

pub(super) fn contacts_query() -> Vec<Field> {
    vec![
        or(
            "state",
            choice(&["all", "reached", "in_progress", "unreached", "held", "queued", "invalid", "dnc"])
                .doc("Only rows in this state; `dnc`: rows whose number is on the do-not-call list."),
            "all".into(),
        ),
        may(
            "q",
            text_of(1, 200).doc(
                "Only rows whose name contains this text or whose number contains these digits. For a list of more \
                 than 200,000 rows it must be a whole number.",
            ),
        ),
        limit(200),
        offset(),
    ]
}

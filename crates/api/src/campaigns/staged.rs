//! Staged lists: uploaded in pieces, judged and edited before they take effect
//! (docs/contract/campaigns.md#staged-lists).

use std::collections::BTreeMap;

use domain::actor::Actor;
use domain::call::variables;
use domain::campaign::InvalidReason;
use domain::campaign::list::{MAX_NAME as MAX_ROW_NAME, MAX_PHONE, MAX_ROWS};
use domain::campaign::staged::{FindingCode, Harm};
use domain::ids::{self, Id};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::lists::{CallingList, LIST_VALUES, NewCallingListRow};
use super::preflight::{PreflightCost, PreflightSchedule, Problem};
use crate::envelope::Removed;
use crate::error_codes as codes;
use crate::operation::Method::{DELETE, GET, PATCH, POST};
use crate::operation::{Operation, RateClass, operation};
use crate::schema::{Field, choice, cursor, data, given, limit, list, may, page, request, text_of};
use crate::scopes::{CAMPAIGNS_READ, CAMPAIGNS_WRITE};

/// A staged list. None of its rows is dialled; it takes effect when it is applied.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StagedList {
    /// Number of the staged list; it is in the path of its other requests.
    pub staged_list_id: i64,
    /// Id of the campaign, `cmp_…`.
    pub campaign_id: Id<ids::Campaign>,
    /// Number of rows that were sent so far.
    pub total: i64,
    /// Rows with a number that can be dialled.
    pub valid: i64,
    /// Rows that are never dialled: an invalid number, one outside India, a duplicate, or an erased contact.
    pub invalid: i64,
    /// Number of pieces that came; the next piece has the number after it.
    pub pieces: i64,
    /// Who opened it: a key, a member or the operator, by id; null if that is unknown.
    pub opened_by: Option<Actor>,
    /// When it was opened.
    pub opened_at: Option<Timestamp>,
    /// When it is deleted, an hour after the last piece or edit.
    pub expires_at: Timestamp,
}

/// The next rows of a staged list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(extend("x-maxValues" = LIST_VALUES))]
pub struct StagedListPiece {
    /// Number of this piece, from 1. One that came before changes nothing; one that is not the next is 409
    /// `conflict` with `meta.pieces`.
    #[schemars(range(min = 1, max = MAX_ROWS))]
    pub piece: i64,
    /// The rows of this piece, in order.
    #[schemars(length(min = 1, max = MAX_ROWS))]
    pub contacts: Vec<NewCallingListRow>,
}

/// What would become of a staged list if it took effect and the campaign dialled now. It is judged at each request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StagedListPreflight {
    /// The staged list that was checked.
    pub staged_list: StagedList,
    /// Whether it can take effect: it has rows and no finding with the harm `stops`.
    pub can_apply: bool,
    /// Number of rows that would be called.
    pub will_call: i64,
    /// Rows of `willCall` that are called later, because their number was dialled too often recently.
    pub will_wait: i64,
    /// Number of rows that would not be called.
    pub will_not_call: i64,
    /// What was found, by harm and then in the order of the codes. A row has one finding that says why it is not
    /// called; beside it, findings of the harm `read_as` for its values.
    pub findings: Vec<StagedFinding>,
    /// Dials of the first minute, once the campaign dials.
    pub first_minute_dials: i64,
    /// Problems of the campaign that block every call.
    pub problems: Vec<Problem>,
    /// Conditions of the campaign that block no call.
    pub warnings: Vec<Problem>,
    /// When calls could start, and when all would be done.
    pub schedule: PreflightSchedule,
    /// Expected and highest cost of the calls.
    pub cost: PreflightCost,
}

/// What was found about rows of a staged list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StagedFinding {
    /// What it does: `stops`, `never_dialled`, `skipped`, `waits` or `read_as`.
    pub harm: Harm,
    /// What was found about the rows, as a word.
    pub code: FindingCode,
    /// The column that it concerns: `phone`, or `variables.` and a name. Null if it concerns the row, or columns beyond the
    /// first 50 with this code.
    pub column: Option<String>,
    /// Number of rows with this finding.
    pub count: i64,
    /// The first five of these rows; none for a finding that concerns how many rows there are.
    pub rows: Vec<StagedFindingRow>,
    /// When such rows can be dialled; only with the code `calling_window`, null otherwise.
    pub until: Option<Timestamp>,
}

/// A row of a finding, with the cell that it concerns.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StagedFindingRow {
    /// Number of the row, from 1.
    pub row: i64,
    /// The number as it would be dialled, or as it was sent if it is invalid; null once the contact is erased.
    pub phone: Option<String>,
    /// The name of the row; null if there is none.
    pub name: Option<String>,
    /// Value of the cell, at most 200 characters; null if it is missing, and for the column `phone`.
    pub value: Option<String>,
    /// How the value is read: a date as `YYYY-MM-DD`, a number without its exponent; null for other findings.
    pub read_as: Option<String>,
}

/// A row of a staged list, as judged at the time of the request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StagedListRow {
    /// Number of the row, from 1.
    pub row: i64,
    /// The number as it would be dialled, or as it was sent if it is invalid; null once the contact is erased.
    pub phone: Option<String>,
    /// The name of the row; null if there is none.
    pub name: Option<String>,
    /// Values for the agent's flow.
    #[schemars(with = "BTreeMap<String, String>")]
    pub variables: Map<String, Value>,
    /// Whether the row can be dialled at all.
    pub valid: bool,
    /// Why the row is never dialled; null if it is valid.
    pub invalid_reason: Option<InvalidReason>,
    /// What was found about the row; at most 20.
    pub findings: Vec<StagedRowFinding>,
}

/// What was found about one row of a staged list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StagedRowFinding {
    /// What it does: `stops`, `never_dialled`, `skipped`, `waits` or `read_as`.
    pub harm: Harm,
    /// What was found about the rows, as a word.
    pub code: FindingCode,
    /// The column of the cell: `phone`, or `variables.` and a name; null if the finding concerns the row.
    pub column: Option<String>,
    /// How the value of the cell is read; null for other findings.
    pub read_as: Option<String>,
}

/// An edit of a row of a staged list; absent fields are not changed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct StagedListEdit {
    /// The number, in any usual notation.
    #[schemars(length(max = MAX_PHONE))]
    pub phone: Option<String>,
    /// The contact's name; null for none.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = MAX_ROW_NAME), extend("x-nullable" = true))]
    pub name: Option<Option<String>>,
    /// Values by name; null removes one, and names that are absent keep their value.
    #[schemars(with = "Option<BTreeMap<String, EditedValue>>")]
    #[schemars(extend("maxProperties" = variables::CEILING_COUNT, "x-maxBytes" = variables::CEILING_BYTES))]
    #[schemars(extend("x-refusedAs" = "invalid_variables"))]
    pub variables: Option<Map<String, Value>>,
}

/// The new value of a variable; null removes it.
#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code, reason = "only its schema is used")]
struct EditedValue(
    #[schemars(length(max = variables::CEILING_BYTES), extend("x-nullable" = true))] Option<String>,
);

/// The request that puts a staged list in force.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplyStagedList {
    /// Number of rows that the list is expected to have; another number is 409 `conflict`.
    #[schemars(range(min = 1, max = MAX_ROWS))]
    pub expected_rows: i64,
}

fn rows_query() -> Vec<Field> {
    let words: Vec<&'static str> = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
    vec![
        may(
            "finding",
            choice(&words).doc(
                "Only rows with this finding. A page may then have fewer rows than `limit`, or none, although more \
                 follow: go on while `nextCursor` is not null.",
            ),
        ),
        may(
            "column",
            text_of(1, 300).doc("With `finding`: only rows with the finding in this column, such as `variables.due`."),
        ),
        limit(200),
        cursor(),
    ]
}

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Campaigns", summary)
}

/// The rows of staged lists.
pub const OPERATIONS: &[Operation] = &[
    row(POST, "/v1/campaigns/{id}/staged-lists", "openStagedList", "Open a staged calling list")
        .about(
            "It is deleted an hour after its last piece or edit. 409 `conflict` with 3 staged lists of the \
             campaign or 10 of the workspace, and when the campaign is over.",
        )
        .scope(CAMPAIGNS_WRITE)
        .live_only()
        .rate(RateClass::CampaignWrites)
        .answers(&[(201, Some(data::<StagedList>))])
        .errors(&[codes::CONFLICT, codes::STREAM_ATTACHED, codes::CHATAPP_CAMPAIGN]),
    row(GET, "/v1/campaigns/{id}/staged-lists", "listStagedLists", "Staged calling lists, oldest first")
        .about("At most 3; those that took effect or expired are not shown.")
        .scope(CAMPAIGNS_READ)
        .answers(&[(200, Some(list::<StagedList>))]),
    row(
        POST,
        "/v1/campaigns/{id}/staged-lists/{list}/rows",
        "addStagedRows",
        "Add a piece of rows to a staged calling list",
    )
    .about("Pieces are numbered from 1. A piece that came before changes nothing, so a request can be repeated.")
    .scope(CAMPAIGNS_WRITE)
    .live_only()
    .body(request::<StagedListPiece>)
    .answers(&[(200, Some(data::<StagedList>))])
    .errors(&[codes::CONFLICT, codes::INVALID_VARIABLES]),
    row(
        GET,
        "/v1/campaigns/{id}/staged-lists/{list}/preflight",
        "preflightStagedList",
        "Check what would become of a staged calling list",
    )
    .about("Nothing is stored or dialled. The rows are judged by the state of this moment.")
    .scope(CAMPAIGNS_READ)
    .answers(&[(200, Some(data::<StagedListPreflight>))]),
    row(
        GET,
        "/v1/campaigns/{id}/staged-lists/{list}/rows",
        "listStagedRows",
        "Rows of a staged calling list with their findings",
    )
    .scope(CAMPAIGNS_READ)
    .query(rows_query)
    .answers(&[(200, Some(page::<StagedListRow>))]),
    row(
        PATCH,
        "/v1/campaigns/{id}/staged-lists/{list}/rows/{row}",
        "editStagedRow",
        "Edit a row of a staged calling list",
    )
    .about("Another number is checked again, also against the other rows. 409 `conflict` for a row of an erased contact.")
    .scope(CAMPAIGNS_WRITE)
    .live_only()
    .body(request::<StagedListEdit>)
    .answers(&[(200, Some(data::<StagedListRow>))])
    .errors(&[codes::CONFLICT, codes::INVALID_VARIABLES]),
    row(
        GET,
        "/v1/campaigns/{id}/staged-lists/{list}/findings",
        "exportStagedFindings",
        "Findings of a staged calling list as CSV",
    )
    .about(
        "Columns: `row`, `harm`, `finding`, `column`, `value`, `read_as`. A cell that a spreadsheet would take for a \
         formula begins with an apostrophe.",
    )
    .scope(CAMPAIGNS_READ)
    .role(Role::Admin)
    .content_type("text/csv")
    .answers(&[(200, None)]),
    row(
        POST,
        "/v1/campaigns/{id}/staged-lists/{list}/apply",
        "applyStagedList",
        "Replace the calling list with a staged one",
    )
    .about(
        "Atomic. Every row is checked again. 409 `conflict` while the campaign is active or its list is being called, \
         when the list has another number of rows than `expectedRows`, and when it changed meanwhile.",
    )
    .scope(CAMPAIGNS_WRITE)
    .live_only()
    .rate(RateClass::CampaignWrites)
    .body(request::<ApplyStagedList>)
    .answers(&[(200, Some(data::<CallingList>))])
    .errors(&[codes::CONFLICT, codes::STREAM_ATTACHED, codes::LIST_MISSES_VARIABLES]),
    row(
        DELETE,
        "/v1/campaigns/{id}/staged-lists/{list}",
        "deleteStagedList",
        "Delete a staged calling list",
    )
    .about("The current calling list is not affected.")
    .scope(CAMPAIGNS_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<Removed>))]),
];

//! Data streams: live sources of people for campaigns (docs/contract/streams.md).

use std::borrow::Cow;

use domain::campaign::Status as CampaignStatus;
use domain::ids::{self, Id};
use domain::stream::{
    self, Kind, MAX_BACKFILL_DAYS, MAX_FIELD_NAME, MAX_RECORDS, Outcome, Reason, RecordStatus, Status,
};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::envelope::Deleted;
use crate::error_codes::{
    CHATAPP_CAMPAIGN, CONFLICT, INVALID_CURSOR, MALFORMED_JSON, MAPPING_INCOMPLETE, PLAN_FEATURE_LOCKED,
    RATE_LIMITED, STREAM_LIMIT, STREAM_PAUSED, UNAUTHORIZED, WORKSPACE_SUSPENDED,
};
use crate::operation::Method::{DELETE, GET, PATCH, POST, PUT};
use crate::operation::{Access, Operation, RateClass, operation};
use crate::schema::{Field, answer, data, given, limit, list, may, request, text_of};
use crate::scopes::{CAMPAIGNS_WRITE, STREAMS_READ, STREAMS_WRITE};

/// Streams of one workspace (docs/contract/streams.md#limits).
pub const MAX_STREAMS: i64 = 100;
/// Most variables in a mapping.
pub const MAX_MAPPED: usize = 100;
/// Most keys of a configuration; those that the kind does not know are dropped.
const MAX_CONFIG: usize = 50;
const MAX_CONFIG_BYTES: usize = 16 * 1024;

/// The fields of a record that identify the contact. What is not set is found by the usual field names.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldMap {
    /// Name of the field with the number; absent if it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Name of the field with the contact's name; absent if it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of the field with the record's own id; absent if it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
}

impl From<stream::FieldMap> for FieldMap {
    fn from(map: stream::FieldMap) -> Self {
        Self { phone: map.phone, name: map.name, external_id: map.external_id }
    }
}

/// The fields of a record that identify the contact. An absent key is not changed, null removes it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldMapChange {
    /// Name of the field with the number; a field inside another one is written with a dot, as in
    /// `lead.phone`.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = MAX_FIELD_NAME), extend("x-nullable" = true))]
    pub phone: Option<Option<String>>,
    /// Name of the field with the contact's name; a field inside another one is written with a dot.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = MAX_FIELD_NAME), extend("x-nullable" = true))]
    pub name: Option<Option<String>>,
    /// Name of the field with the record's own id, by which duplicates are recognised.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = MAX_FIELD_NAME), extend("x-nullable" = true))]
    pub external_id: Option<Option<String>>,
}

impl FieldMapChange {
    /// The map with this change.
    pub fn apply(self, map: stream::FieldMap) -> stream::FieldMap {
        stream::FieldMap {
            phone: self.phone.unwrap_or(map.phone),
            name: self.name.unwrap_or(map.name),
            external_id: self.external_id.unwrap_or(map.external_id),
        }
    }
}

/// The request to create a data stream.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewDataStream {
    /// The name of the stream, for people.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    /// How records arrive; fixed once the stream is created.
    pub kind: Kind,
    /// The fields of a record that identify the contact; absent or null: found by the usual field names.
    #[schemars(extend("x-nullable" = true))]
    pub field_map: Option<FieldMapChange>,
    /// Settings of the kind: for `spreadsheet` `spreadsheetId` (required), `sheetName`, `includeExisting`;
    /// for `crm_1` `lifecycleStage`; for `crm_2` `object`; for `crm_3` `module`; for every kind
    /// `countryCode`. Other keys are dropped.
    #[schemars(extend("x-nullable" = true, "maxProperties" = MAX_CONFIG, "x-maxBytes" = MAX_CONFIG_BYTES))]
    pub config: Option<Map<String, Value>>,
    /// Id of the integration that the stream reads with; required for every kind but `webhook` and `api`.
    #[schemars(length(min = 1, max = 64), extend("x-nullable" = true))]
    pub integration_id: Option<String>,
}

/// A change of a data stream; absent fields are not changed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataStreamChange {
    /// The name of the stream, for people.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// The fields of a record that identify the contact; absent keys are not changed.
    pub field_map: Option<FieldMapChange>,
    /// Keys that change; null removes a key. A stream with another source starts at the current end of that
    /// source.
    #[schemars(extend("maxProperties" = MAX_CONFIG, "x-maxBytes" = MAX_CONFIG_BYTES))]
    pub config: Option<Map<String, Value>>,
    /// Id of another integration; the stream then starts at the current end of its source.
    #[schemars(length(min = 1, max = 64))]
    pub integration_id: Option<String>,
    /// `active` resumes the stream, `paused` stops it.
    pub status: Option<WantedStatus>,
}

/// `active`: the stream accepts records, and one that stopped with an error is checked at once; `paused`: it
/// accepts none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WantedStatus {
    /// It takes records; a stream that stopped with an error is checked again at once.
    Active,
    /// It takes none.
    Paused,
}

/// A data stream: a live source of contacts for campaigns.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataStream {
    /// Id of the stream.
    pub id: Id<ids::DataStream>,
    /// The name of the stream, for people.
    pub name: String,
    /// How records arrive at the stream.
    pub kind: Kind,
    /// The fields of a record that identify the contact.
    pub field_map: FieldMap,
    /// Settings of the stream's kind.
    #[schemars(with = "Map<String, Value>")]
    pub config: Map<String, Value>,
    /// Id of the integration that the stream reads with; null for `webhook` and `api`.
    pub integration_id: Option<Id<ids::Integration>>,
    /// `active`, `paused`, or `error` after five failed checks in a row.
    pub status: Status,
    /// Why the stream stopped; null unless `status` is `error`.
    pub last_error: Option<String>,
    /// The address to which records are sent with the stream's token; null for kinds without a token.
    pub ingest_url: Option<String>,
    /// When the stream was created.
    pub created_at: Timestamp,
    /// When the stream last changed.
    pub updated_at: Timestamp,
}

/// A data stream that was created.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedDataStream {
    /// The fields of the stream.
    #[serde(flatten)]
    pub stream: DataStream,
    /// The token with which records are sent to `ingestUrl`, shown only here; absent for kinds without a
    /// token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// A data stream with the campaigns that it feeds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataStreamDetail {
    /// The fields that a list shows.
    #[serde(flatten)]
    pub stream: DataStream,
    /// The campaigns that the stream is attached to.
    pub campaigns: Vec<FedCampaign>,
}

/// A campaign that a stream feeds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FedCampaign {
    /// Id of the campaign, `cmp_…`.
    pub campaign_id: Id<ids::Campaign>,
    /// The name of the campaign.
    pub name: String,
    /// Status of the campaign; only draft, active and paused ones get new rows.
    pub status: CampaignStatus,
    /// How the stream is attached.
    #[serde(flatten)]
    pub how: AttachedHow,
}

/// How a stream is attached to a campaign.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachedHow {
    /// Variable of the agent to field of the stream.
    #[schemars(with = "Map<String, Value>")]
    pub variable_mapping: Map<String, Value>,
    /// How many days of earlier records were added when it was attached.
    pub backfill_days: i64,
    /// Whether names are written in the script of the agent's language.
    pub transliterate: bool,
    /// When the stream was attached.
    pub attached_at: Timestamp,
}

/// A stream that is attached to a campaign.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachedStream {
    /// Id of the data stream.
    pub stream_id: Id<ids::DataStream>,
    /// The name of the stream.
    pub name: String,
    /// How the stream's records arrive.
    pub kind: Kind,
    /// `active`, `paused` or `error`; only an active stream accepts records.
    pub status: Status,
    /// How the stream is attached.
    #[serde(flatten)]
    pub how: AttachedHow,
}

/// The result of attaching a stream.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamAttachment {
    /// Id of the campaign, `cmp_…`.
    pub campaign_id: Id<ids::Campaign>,
    /// The stream as it is attached.
    #[serde(flatten)]
    pub stream: AttachedStream,
    /// Number of earlier records that were added to the calling list.
    pub backfilled: i64,
}

/// How a stream feeds a campaign. A repeat changes these settings.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewAttachment {
    /// Variable of the agent to field of the stream; a field inside another one is written with a dot. `name`
    /// and `phone` always exist: what was read as the record's name and number.
    #[serde(default)]
    #[schemars(extend("maxProperties" = MAX_MAPPED, "x-maxBytes" = 32 * 1024))]
    pub variable_mapping: Map<String, Value>,
    /// Adds the records of so many days before now to the calling list, the newest 50,000 at most.
    #[schemars(range(min = 0, max = MAX_BACKFILL_DAYS), extend("default" = 0))]
    pub backfill_days: i64,
    /// Whether names are written in the script of the agent's language.
    #[schemars(extend("default" = false))]
    pub transliterate: bool,
}

/// A new token of a data stream.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataStreamToken {
    /// Id of the data stream.
    pub id: Id<ids::DataStream>,
    /// The new token, shown only here; the previous one is invalid from now on.
    pub token: String,
    /// The address to which records are sent with the token.
    pub ingest_url: String,
}

/// Records: one object, a list of up to 500 objects, or `{"records": […]}`.
pub enum PushedRecords {}

impl JsonSchema for PushedRecords {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("PushedRecords")
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        // What is sent may be longer than what is kept of it; the body's own limit is the ceiling.
        const FIELDS: usize = 1_000_000;
        const BYTES: usize = 5 << 20;
        let record =
            || serde_json::json!({"type": "object", "additionalProperties": {}, "maxProperties": FIELDS});
        json_schema!({
            "anyOf": [record(), {"type": "array", "items": record(), "maxItems": MAX_RECORDS}],
            "x-maxBytes": BYTES,
            "description": "Records: one object, a list of up to 500 objects, or `{\"records\": [...]}`."
        })
    }
}

/// The result of sending records.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ingested {
    /// Number of records in the request.
    pub received: usize,
    /// Number of new records that can be called.
    pub accepted: usize,
    /// Number of new records that cannot be called.
    pub invalid: usize,
    /// Number of records that were stored before; they change nothing.
    pub duplicate: usize,
    /// Number of records that were added to the calling list of at least one campaign.
    pub queued: usize,
    /// The result of each record, in the order of the request.
    pub results: Vec<IngestedRecord>,
}

/// The result of one record.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngestedRecord {
    /// Index of the record in the request, from 0.
    pub index: usize,
    /// `accepted`, `invalid` or `duplicate`.
    pub status: Outcome,
    /// Id of the record; for a duplicate, that of the first one.
    pub record_id: Id<ids::StreamRecord>,
    /// Why the record cannot be called; only if `status` is `invalid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// A record that a stream has received.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamRecord {
    /// Id of the record, `dsr_…`.
    pub id: Id<ids::StreamRecord>,
    /// `accepted` if the record can be called, otherwise `invalid`.
    pub status: RecordStatus,
    /// Why the record cannot be called; null if it can.
    pub reason: Option<Reason>,
    /// The record's own id; null without one, once the contact is erased, and after 90 days.
    pub external_id: Option<String>,
    /// The number: E.164 if it can be called, otherwise as it arrived; null once the contact is erased, and
    /// after 90 days.
    pub phone: Option<String>,
    /// The name in the record; null without one, once the contact is erased, and after 90 days.
    pub name: Option<String>,
    /// The fields of the record; null once the contact is erased, and after 90 days.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub payload: Option<Map<String, Value>>,
    /// The campaigns on whose calling list the contact is.
    pub campaigns: Vec<RecordCampaign>,
    /// When the record arrived.
    pub received_at: Timestamp,
}

/// A campaign on whose calling list the contact of a record is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordCampaign {
    /// Id of the campaign, `cmp_…`.
    pub campaign_id: Id<ids::Campaign>,
    /// State of the row of the calling list.
    pub status: domain::campaign::RowState,
}

/// A page of records, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamRecordPage {
    /// The records of this page, newest first.
    pub data: Vec<StreamRecord>,
    /// `before` of the next page; null on the last page.
    pub next_before: Option<String>,
}

fn records_query() -> Vec<Field> {
    vec![
        limit(200),
        may("before", text_of(1, 512).doc("`nextBefore` of the previous page; absent for the first page.")),
    ]
}

fn token_query() -> Vec<Field> {
    vec![may(
        "token",
        text_of(1, 200).doc("The stream's token, for senders that cannot set a header. Proxies may log it."),
    )]
}

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Data streams", summary)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(POST, "/ingest/streams/{id}", "ingestRecords", "Send records to a data stream with its token")
        .about(
            "All records of a request are stored, or none. Records that were sent before are recognised \
             as duplicates, so a request can be repeated.",
        )
        .access(Access::StreamToken)
        .query(token_query)
        .raw_body(request::<PushedRecords>)
        .answers(&[(202, Some(data::<Ingested>))])
        .errors(&[UNAUTHORIZED, WORKSPACE_SUSPENDED, RATE_LIMITED, STREAM_PAUSED, MALFORMED_JSON]),
    row(GET, "/v1/data-streams", "listDataStreams", "All data streams, newest first")
        .scope(STREAMS_READ)
        .answers(&[(200, Some(list::<DataStream>))]),
    row(POST, "/v1/data-streams", "createDataStream", "Create a data stream")
        .about(
            "The token of a `webhook` stream is shown only in this answer. 409 `stream_limit` at 100 \
             streams.",
        )
        .scope(STREAMS_WRITE)
        .live_only()
        .body(request::<NewDataStream>)
        .answers(&[(201, Some(data::<CreatedDataStream>))])
        .errors(&[PLAN_FEATURE_LOCKED, STREAM_LIMIT]),
    row(GET, "/v1/data-streams/{id}", "getDataStream", "One data stream with the campaigns that it feeds")
        .scope(STREAMS_READ)
        .answers(&[(200, Some(data::<DataStreamDetail>))]),
    row(PATCH, "/v1/data-streams/{id}", "updateDataStream", "Change, pause or resume a data stream")
        .about(
            "Only fields in the body change. A stream with another source starts at the current end of \
             that source.",
        )
        .scope(STREAMS_WRITE)
        .live_only()
        .body(request::<DataStreamChange>)
        .answers(&[(200, Some(data::<DataStreamDetail>))])
        .errors(&[PLAN_FEATURE_LOCKED]),
    row(DELETE, "/v1/data-streams/{id}", "deleteDataStream", "Delete a data stream")
        .role(Role::Admin)
        .about("It is detached from every campaign. Contacts that it added stay on the calling lists.")
        .scope(STREAMS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))]),
    row(
        POST,
        "/v1/data-streams/{id}/rotate-token",
        "rotateDataStreamToken",
        "Replace the token of a data stream",
    )
    .role(Role::Admin)
    .about("The previous token is invalid at once. 409 `conflict` for a kind without a token.")
    .scope(STREAMS_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<DataStreamToken>))])
    .errors(&[CONFLICT]),
    row(POST, "/v1/data-streams/{id}/records", "pushRecords", "Send records to a data stream with a key")
        .traffic()
        .about(
            "For the kinds `api` and `webhook`. All records of a request are stored, or none. Records \
             that were sent before are recognised as duplicates, so a request can be repeated.",
        )
        .scope(STREAMS_WRITE)
        .live_only()
        .raw_body(request::<PushedRecords>)
        .answers(&[(202, Some(data::<Ingested>))])
        .errors(&[STREAM_PAUSED, CONFLICT]),
    row(GET, "/v1/data-streams/{id}/records", "listStreamRecords", "Records of a data stream, newest first")
        .scope(STREAMS_READ)
        .query(records_query)
        .answers(&[(200, Some(answer::<StreamRecordPage>))])
        .errors(&[INVALID_CURSOR]),
    row(GET, "/v1/campaigns/{id}/streams", "listCampaignStreams", "Data streams that feed a campaign")
        .scope(STREAMS_READ)
        .answers(&[(200, Some(list::<AttachedStream>))]),
    row(PUT, "/v1/campaigns/{id}/streams/{streamId}", "attachStream", "Attach a data stream to a campaign")
        .about(
            "Each new record becomes a row of the calling list. A repeat changes the settings. 400 \
             `missing_required_variables` if the mapping lacks variables of the agent's flow.",
        )
        .scopes(STREAMS_WRITE, CAMPAIGNS_WRITE)
        .live_only()
        .rate(RateClass::CampaignWrites)
        .body(request::<NewAttachment>)
        .answers(&[(200, Some(data::<StreamAttachment>))])
        .errors(&[MAPPING_INCOMPLETE, CHATAPP_CAMPAIGN, CONFLICT]),
    row(
        DELETE,
        "/v1/campaigns/{id}/streams/{streamId}",
        "detachStream",
        "Detach a data stream from a campaign",
    )
    .about("Contacts that it added stay on the calling list.")
    .scopes(STREAMS_WRITE, CAMPAIGNS_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<Deleted>))]),
];

//! Data streams: live sources of people for campaigns (docs/contract/streams.md).

use std::borrow::Cow;

use domain::campaign::Status as CampaignStatus;
use domain::ids::{self, Id};
use domain::stream::{
    self, Kind, MAX_BACKFILL_DAYS, MAX_FIELD_NAME, MAX_RECORDS, Outcome, Reason, RecordStatus, Status,
};
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

/// Which fields of a record say who it is. What is absent is found by the usual names.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldMap {
    /// The field with the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// The field with the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The field with the record's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
}

impl From<stream::FieldMap> for FieldMap {
    fn from(map: stream::FieldMap) -> Self {
        Self { phone: map.phone, name: map.name, external_id: map.external_id }
    }
}

/// Which fields of a record say who it is; what is absent stays, null takes a name away.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldMapChange {
    /// The field with the number; a field inside another one is named with a dot, as in `lead.phone`.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = MAX_FIELD_NAME), extend("x-nullable" = true))]
    pub phone: Option<Option<String>>,
    /// The field with the name.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = MAX_FIELD_NAME), extend("x-nullable" = true))]
    pub name: Option<Option<String>>,
    /// The field with the record's own id, by which a record that comes again is known.
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

/// A data stream to be made.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewDataStream {
    /// Its name.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    /// How its records arrive; fixed once it is made.
    pub kind: Kind,
    /// Which fields of a record say who it is.
    #[schemars(extend("x-nullable" = true))]
    pub field_map: Option<FieldMapChange>,
    /// What its kind takes: `spreadsheet` takes `spreadsheetId` (required), `sheetName`, `includeExisting`; `crm_1`
    /// `lifecycleStage`; `crm_2` `object`; `crm_3` `module`; every kind `countryCode`. Other keys are dropped.
    #[schemars(extend("x-nullable" = true, "maxProperties" = MAX_CONFIG, "x-maxBytes" = MAX_CONFIG_BYTES))]
    pub config: Option<Map<String, Value>>,
    /// The connected account that it reads with: for spreadsheets, CRMs and stores.
    #[schemars(length(min = 1, max = 64), extend("x-nullable" = true))]
    pub integration_id: Option<String>,
}

/// A change of a data stream; what is absent stays.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataStreamChange {
    /// Its name.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// Which fields of a record say who it is.
    pub field_map: Option<FieldMapChange>,
    /// Keys that change; null takes one away. Another source is read from its present end on.
    #[schemars(extend("maxProperties" = MAX_CONFIG, "x-maxBytes" = MAX_CONFIG_BYTES))]
    pub config: Option<Map<String, Value>>,
    /// Another connected account.
    #[schemars(length(min = 1, max = 64))]
    pub integration_id: Option<String>,
    /// Whether it takes records.
    pub status: Option<WantedStatus>,
}

/// What a stream can be told to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WantedStatus {
    /// It takes records; a stream that stopped with an error is checked again at once.
    Active,
    /// It takes none.
    Paused,
}

/// A data stream.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataStream {
    /// Its id.
    pub id: Id<ids::DataStream>,
    /// Its name.
    pub name: String,
    /// How its records arrive.
    pub kind: Kind,
    /// Which fields of a record say who it is.
    pub field_map: FieldMap,
    /// What its kind is told.
    #[schemars(with = "Map<String, Value>")]
    pub config: Map<String, Value>,
    /// The connected account that it reads with.
    pub integration_id: Option<Id<ids::Integration>>,
    /// Where it is.
    pub status: Status,
    /// Why it stopped.
    pub last_error: Option<String>,
    /// Where records are sent with the stream's token; null for kinds without one.
    pub ingest_url: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A data stream that was made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedDataStream {
    /// The stream.
    #[serde(flatten)]
    pub stream: DataStream,
    /// The token with which records are sent to `ingestUrl`; shown only here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// A data stream with the campaigns that it feeds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataStreamDetail {
    /// The stream.
    #[serde(flatten)]
    pub stream: DataStream,
    /// The campaigns.
    pub campaigns: Vec<FedCampaign>,
}

/// A campaign that a stream feeds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FedCampaign {
    /// Its id.
    pub campaign_id: Id<ids::Campaign>,
    /// Its name.
    pub name: String,
    /// Where it is.
    pub status: CampaignStatus,
    /// How it is attached.
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
    /// How many days back it was asked to look when it was attached.
    pub backfill_days: i64,
    /// Whether names are written in the script of the agent's language.
    pub transliterate: bool,
    /// When it was attached.
    pub attached_at: Timestamp,
}

/// A stream that is attached to a campaign.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachedStream {
    /// The stream.
    pub stream_id: Id<ids::DataStream>,
    /// Its name.
    pub name: String,
    /// How its records arrive.
    pub kind: Kind,
    /// Where it is.
    pub status: Status,
    /// How it is attached.
    #[serde(flatten)]
    pub how: AttachedHow,
}

/// What attaching a stream did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamAttachment {
    /// The campaign.
    pub campaign_id: Id<ids::Campaign>,
    /// The stream, as it is attached.
    #[serde(flatten)]
    pub stream: AttachedStream,
    /// Earlier records that were put on the list.
    pub backfilled: i64,
}

/// How a stream is to feed a campaign.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewAttachment {
    /// Variable of the agent to field of the stream; a field inside another one is named with a dot. `name` and
    /// `phone` are there even where a record has other names for them.
    #[serde(default)]
    #[schemars(extend("maxProperties" = MAX_MAPPED, "x-maxBytes" = 32 * 1024))]
    pub variable_mapping: Map<String, Value>,
    /// Records of so many days before now are put on the list, too.
    #[schemars(range(min = 0, max = MAX_BACKFILL_DAYS), extend("default" = 0))]
    pub backfill_days: i64,
    /// Writes names in the script of the agent's language.
    #[schemars(extend("default" = false))]
    pub transliterate: bool,
}

/// The token of a stream.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataStreamToken {
    /// The stream.
    pub id: Id<ids::DataStream>,
    /// The new token; the old one does not work any more. It is shown only here.
    pub token: String,
    /// Where records are sent with it.
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
            "description": "One object, a list of up to 500 objects, or an object whose field `records` is such a list."
        })
    }
}

/// What became of records that were sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ingested {
    /// Records that were sent.
    pub received: usize,
    /// New ones that can be called.
    pub accepted: usize,
    /// New ones that cannot be called.
    pub invalid: usize,
    /// Those that were there already.
    pub duplicate: usize,
    /// Those that were put on the list of at least one campaign.
    pub queued: usize,
    /// Each record, in the order of the request.
    pub results: Vec<IngestedRecord>,
}

/// What became of one record.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngestedRecord {
    /// Its place in the request, from 0.
    pub index: usize,
    /// What became of it.
    pub status: Outcome,
    /// The record; of a duplicate, the one that was there.
    pub record_id: Id<ids::StreamRecord>,
    /// Why it cannot be called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// A record of a stream.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamRecord {
    /// Its id.
    pub id: Id<ids::StreamRecord>,
    /// Whether it can be called.
    pub status: RecordStatus,
    /// Why not.
    pub reason: Option<Reason>,
    /// Its own id.
    pub external_id: Option<String>,
    /// Number: E.164 of one that can be called, else as it was written.
    pub phone: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// Its fields; null once the person is erased, or after 90 days.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub payload: Option<Map<String, Value>>,
    /// Where the person stands on the lists of the campaigns that the stream feeds.
    pub campaigns: Vec<RecordCampaign>,
    /// When it arrived.
    pub received_at: Timestamp,
}

/// Where the person of a record stands on the list of a campaign.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordCampaign {
    /// The campaign.
    pub campaign_id: Id<ids::Campaign>,
    /// The state of the row of its calling list.
    pub status: domain::campaign::RowState,
}

/// Records, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamRecordPage {
    /// The records.
    pub data: Vec<StreamRecord>,
    /// `before` of the next page; null on the last one.
    pub next_before: Option<String>,
}

fn records_query() -> Vec<Field> {
    vec![limit(200), may("before", text_of(1, 512).doc("`nextBefore` of the page before this one."))]
}

fn token_query() -> Vec<Field> {
    vec![may(
        "token",
        text_of(1, 200).doc("The stream's token, for senders that cannot set a header; a header is kept out of logs more often."),
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
    row(POST, "/ingest/streams/{id}", "ingestRecords", "Send records to a stream with its token")
        .access(Access::StreamToken)
        .query(token_query)
        .raw_body(request::<PushedRecords>)
        .answers(&[(202, Some(data::<Ingested>))])
        .errors(&[UNAUTHORIZED, WORKSPACE_SUSPENDED, RATE_LIMITED, STREAM_PAUSED, MALFORMED_JSON]),
    row(GET, "/v1/data-streams", "listDataStreams", "Data streams, newest first")
        .scope(STREAMS_READ)
        .answers(&[(200, Some(list::<DataStream>))]),
    row(POST, "/v1/data-streams", "createDataStream", "Make a data stream")
        .scope(STREAMS_WRITE)
        .live_only()
        .body(request::<NewDataStream>)
        .answers(&[(201, Some(data::<CreatedDataStream>))])
        .errors(&[PLAN_FEATURE_LOCKED, STREAM_LIMIT]),
    row(GET, "/v1/data-streams/{id}", "getDataStream", "One data stream with the campaigns that it feeds")
        .scope(STREAMS_READ)
        .answers(&[(200, Some(data::<DataStreamDetail>))]),
    row(PATCH, "/v1/data-streams/{id}", "updateDataStream", "Change, pause or resume a data stream")
        .scope(STREAMS_WRITE)
        .live_only()
        .body(request::<DataStreamChange>)
        .answers(&[(200, Some(data::<DataStreamDetail>))])
        .errors(&[PLAN_FEATURE_LOCKED]),
    row(
        DELETE,
        "/v1/data-streams/{id}",
        "deleteDataStream",
        "Delete a data stream; people that it put on lists stay there",
    )
    .scope(STREAMS_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<Deleted>))]),
    row(
        POST,
        "/v1/data-streams/{id}/rotate-token",
        "rotateDataStreamToken",
        "Replace the token of a webhook stream, at once",
    )
    .scope(STREAMS_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<DataStreamToken>))])
    .errors(&[CONFLICT]),
    row(
        POST,
        "/v1/data-streams/{id}/records",
        "pushRecords",
        "Send records to a stream of the kind `api` or `webhook`",
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
    row(PUT, "/v1/campaigns/{id}/streams/{streamId}", "attachStream", "Let a data stream feed a campaign")
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
        "Stop a data stream from feeding a campaign; people on the list stay there",
    )
    .scopes(STREAMS_WRITE, CAMPAIGNS_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<Deleted>))]),
];

//! Events of data streams.

use domain::ids::{self, Id};
use domain::stream::Reason;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::samples::{at, id};

/// The name of the event of a record that cannot be called.
pub const REJECTED: &str = "stream.record_rejected";

/// A record of a data stream that cannot be called.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RejectedRecord {
    /// Id of the data stream.
    pub stream_id: Id<ids::DataStream>,
    /// The name of the data stream.
    pub stream_name: String,
    /// Id of the record, `dsr_…`.
    pub record_id: Id<ids::StreamRecord>,
    /// Why the record cannot be called.
    pub reason: Reason,
    /// The fields of the record.
    pub payload: Map<String, Value>,
    /// When the record arrived.
    pub received_at: Timestamp,
}

impl RejectedRecord {
    pub(super) fn sample() -> Self {
        Self {
            stream_id: id("dst_01k9v5x2m8e6fs4v0q3n7w1y35"),
            stream_name: "Website leads".into(),
            record_id: id("dsr_01k9v5x2m8e6fs4v0q3n7w1y36"),
            reason: Reason::NoPhone,
            payload: Map::from_iter([("name".to_owned(), json!("Asha"))]),
            received_at: at("2026-01-15T10:00:00.000Z"),
        }
    }
}

//! What a conversation that was really held leaves behind.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::conversation::Role;

/// A turn with its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimedTurn {
    /// Who said it.
    pub role: Role,
    /// What was said; of a turn that was interrupted, only what was heard.
    pub text: String,
    /// When it began, milliseconds after the answer.
    pub start_ms: i64,
    /// When it ended.
    pub end_ms: i64,
}

/// Where the time between the end of the customer's speech and the agent's first sound went, milliseconds
/// after that end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnLatency {
    /// Which turn of the agent it was, counted from 0 among all turns.
    pub turn: usize,
    /// The turn was judged to be over.
    pub endpoint_ms: i64,
    /// The words were there.
    pub transcript_ms: Option<i64>,
    /// The model's first word; none when no model was asked.
    pub first_token_ms: Option<i64>,
    /// The synthesiser's first sound.
    pub first_audio_ms: Option<i64>,
    /// The first packet left.
    pub first_packet_ms: Option<i64>,
}

/// A recording that lies in a file of this node and is not yet where recordings are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedFile {
    /// Path of a WAV file of two channels: the customer left, the agent right.
    pub path: String,
    /// Length, milliseconds.
    pub duration_ms: i64,
}

/// What a conversation leaves behind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// What was said, in order.
    pub turns: Vec<TimedTurn>,
    /// What the flow captured.
    pub extracted: Map<String, Value>,
    /// The disposition of the flow or the model.
    pub outcome: Option<String>,
    /// Latency of every answer.
    pub latency: Vec<TurnLatency>,
    /// The recording, where recording is on and there was sound.
    pub recording: Option<RecordedFile>,
    /// Whether a language model took part; the analysis is then the model's as well.
    pub model_talked: bool,
}

//! The results of a conversation.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::conversation::{EdgeVisits, Role};

/// A turn and when it was spoken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimedTurn {
    pub role: Role,
    /// What was said. If the turn was interrupted, only the part that was heard.
    pub text: String,
    /// When it began, milliseconds after the answer.
    pub start_ms: i64,
    pub end_ms: i64,
    /// The language in which the conversation goes on because of this turn, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// Latencies between the end of the customer's speech and the agent's first sound. Each value is in milliseconds after
/// the end of speech.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnLatency {
    /// Index of the agent's turn among all turns, from 0.
    pub turn: usize,
    /// The turn was judged to be over.
    pub endpoint_ms: i64,
    /// The recognised words were available.
    pub transcript_ms: Option<i64>,
    /// The model's first word; none when no model was asked.
    pub first_token_ms: Option<i64>,
    /// The synthesiser's first sound.
    pub first_audio_ms: Option<i64>,
    /// The first packet left.
    pub first_packet_ms: Option<i64>,
}

/// Most entries of each list in [`TurnDetails`].
pub const MAX_MARKS: usize = 200;

/// The providers that took part in a conversation, by the names of the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallProviders {
    pub recognition: Option<String>,
    /// None when no model was asked.
    pub model: Option<String>,
    pub synthesis: Option<String>,
}

/// A tool that the agent called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolMark {
    /// When it was called, milliseconds after the answer.
    pub at_ms: i64,
    pub tool: String,
    /// How long it took; none when the call was over first.
    pub took_ms: Option<i64>,
    /// Whether it answered.
    pub ok: Option<bool>,
}

/// A field that was captured, or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptureMark {
    /// When it was captured, milliseconds after the answer.
    pub at_ms: i64,
    pub field: String,
}

/// What happened in the turns of a conversation, besides their words. It has no words of the person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnDetails {
    pub providers: CallProviders,
    /// Turns of the agent that were cut off, by their index among all turns: they were heard until their end.
    pub cut_off: Vec<usize>,
    /// The first [`MAX_MARKS`] calls of tools.
    pub tools: Vec<ToolMark>,
    /// The first [`MAX_MARKS`] captured fields.
    pub captures: Vec<CaptureMark>,
}

/// A recording in a file of this node that has not been uploaded to the object store yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedFile {
    /// Path of a stereo WAV file: the customer is left, the agent right.
    pub path: String,
    /// Length in milliseconds.
    pub duration_ms: i64,
}

/// The results of a conversation.
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
    /// What happened in the turns.
    #[serde(default)]
    pub details: TurnDetails,
    /// The recording, if recording is on and there was sound.
    pub recording: Option<RecordedFile>,
    /// The language at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Whether a language model took part. Then a model also makes the analysis.
    pub model_talked: bool,
    /// The version of the flow that it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_version: Option<i64>,
    /// The edges of the flow that it took, each with how often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<EdgeVisits>,
}

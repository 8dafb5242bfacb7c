//! What the fuzzers call. For everything that reads untrusted bytes there is one function that takes any
//! bytes, reads them as the service does, and asserts properties of the result beyond "it did not panic".
//!
//! `fuzz/` runs these functions under libFuzzer; `tests/replay.rs` runs them over the kept corpora on the
//! stable toolchain. `docs/fuzzing.md` lists them and says how to add one.

mod draw;

pub mod bodies;
pub mod channel;
pub mod csv;
pub mod documents;
pub mod files;
pub mod flow;
pub mod providers_answers;
pub mod queries;
pub mod records;
pub mod redaction;
pub mod sip;
pub mod sound;
pub mod speech;
pub mod text;
pub mod tools;

/// A target: its name, which is also that of its corpus and its binary, and its function.
pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: &[Target] = &[
    ("phone", text::phone),
    ("ids_and_times", text::ids_and_times),
    ("webhook_url", text::webhook_url),
    ("speech", speech::words),
    ("redaction", redaction::conversation),
    ("body", bodies::text),
    ("body_by_schema", bodies::by_schema),
    ("records", records::body),
    ("voice_note", documents::voice_note),
    ("query", queries::query),
    ("cursor", queries::cursor),
    ("headers", queries::headers),
    ("tool_address", queries::tool_address),
    ("registry_csv", files::registry_csv),
    ("list_csv", files::list_csv),
    ("settings_toml", files::settings_toml),
    ("document", documents::document),
    ("upload", documents::upload),
    ("masking", documents::masking),
    ("tool_arguments", tools::arguments),
    ("mcp_answer", tools::mcp_answer),
    ("flow_json", flow::json),
    ("flow_play", flow::play),
    ("decision_csv", csv::decision_log),
    ("decision_csv_rows", csv::written_rows),
    ("sdp", sound::sdp),
    ("rtp", sound::rtp),
    ("srtp", sound::srtp),
    ("call", sound::call),
    ("sip_message", sip::message),
    ("sip_stream", sip::stream),
    ("sip_text", sip::text),
    ("model_stream", providers_answers::model_stream),
    ("model_answer", providers_answers::model_answer),
    ("model_grades", providers_answers::model_grades),
    ("model_request", providers_answers::model_request),
    ("speech_messages", providers_answers::speech_messages),
    ("speech_answer", providers_answers::speech_answer),
    ("storage_answer", providers_answers::storage_answer),
    ("channel_webhook", channel::webhook),
    ("channel_template", channel::template),
];

/// The function of a target.
pub fn find(name: &str) -> Option<fn(&[u8])> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

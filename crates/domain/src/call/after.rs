//! The work after a conversation (docs/contract/recordings.md): the steps, their retries, and which parts of an
//! analysis are accepted.

use serde_json::{Map, Value, json};

use super::{Progress, Report, TimedTurn};
use crate::conversation::Role;
use crate::ports::{Analysis, ProviderFault};
use crate::storable;
use crate::time::{DAY, HOUR, MINUTE, SECOND};

closed_sets::words! {
    /// A step after a call.
    pub enum AfterCallStep {
        /// The recording is uploaded to the object store, and the file on the node is deleted.
        Recording = "recording",
        /// The stored object of a recording that must no longer be available is deleted.
        Discard = "discard",
        /// The conversation is analysed: summary, captured fields, outcome, sentiment.
        Analysis = "analysis",
        /// The transcript with times is made.
        FullTranscript = "full_transcript",
        /// Whether the disclosure was said goes to the decision log.
        Disclosure = "disclosure",
    }
}

/// Longest backoff.
const LONGEST_WAIT: i64 = HOUR;
/// Tries of an analysis or a transcript; together they take about an hour.
const MOST_TRIES: i64 = 7;
/// How long the upload of a recording is retried.
const RECORDING_TRIED: i64 = 7 * DAY;

/// When a step with `attempts` tries (at least one) is retried, in milliseconds from now; `None` when it has failed
/// permanently. `age` is the time since the step was stored. Deleting an object and writing to the decision log are
/// retried for ever.
pub fn retry_in(step: AfterCallStep, attempts: i64, age: i64) -> Option<i64> {
    let doublings = u32::try_from((attempts - 1).clamp(0, 16)).unwrap_or(16);
    let wait = ((30 * SECOND) << doublings).min(LONGEST_WAIT);
    match step {
        AfterCallStep::Discard | AfterCallStep::Disclosure => Some(wait),
        AfterCallStep::Recording => (age + wait <= RECORDING_TRIED).then_some(wait),
        AfterCallStep::Analysis | AfterCallStep::FullTranscript => (attempts < MOST_TRIES).then_some(wait),
    }
}

/// Whether a retry of the same request to a provider may succeed.
pub fn may_go_better(fault: ProviderFault) -> bool {
    match fault {
        ProviderFault::TimedOut
        | ProviderFault::Unreachable
        | ProviderFault::Limited
        | ProviderFault::Broken
        | ProviderFault::Silent => true,
        // An operator puts these right.
        ProviderFault::Forbidden | ProviderFault::NotInstalled => true,
        ProviderFault::Refused => false,
    }
}

/// How long other nodes wait for the node that holds a file before one of them gives the file up.
pub const NODE_PATIENCE: i64 = RECORDING_TRIED;
/// Lease of a worker on a step.
pub const LEASE: i64 = 5 * MINUTE;

/// The transcript with times as clients see it: `{speaker, text, start}`, `start` in seconds after the answer
/// with two decimals.
pub fn spoken(turns: &[TimedTurn]) -> Value {
    let turn = |turn: &TimedTurn| json!({"speaker": turn.role, "text": turn.text, "start": (turn.start_ms as f64 / 10.0).round() / 100.0});
    turns.iter().map(turn).collect()
}

/// Whether the person said anything: without that there is nothing to analyse.
pub fn talked(report: &Report) -> bool {
    report.turns.iter().any(|turn| turn.role == Role::Customer && !turn.text.trim().is_empty())
}

/// The outcome of a call when it ends: the one its flow set, unless the person asked not to be called again.
/// A call in which no person was met, or that never became a conversation, has none.
pub fn outcome_at_end(progress: &Progress, report: &Report) -> Option<String> {
    if progress.met_no_person() || progress.answered_at.is_none() {
        return None;
    }
    if progress.opted_out {
        return Some("opted_out".to_owned());
    }
    report.outcome.clone().filter(|outcome| !outcome.trim().is_empty())
}

/// Longest outcome key.
const LONGEST_OUTCOME: usize = 64;
/// Longest summary, in characters.
const LONGEST_SUMMARY: usize = 4_000;
/// Words of `sentiment`.
const SENTIMENTS: [&str; 3] = ["positive", "neutral", "negative"];

/// The parts of an analysis that are accepted: a model may answer anything.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    /// A few sentences, if there are any.
    pub summary: Option<String>,
    /// What the flow captured, and what the model found for other keys of the schema.
    pub extracted: Map<String, Value>,
    /// The outcome: the one known at the end of the call, otherwise the one that the model found.
    pub outcome: Option<String>,
    /// `positive`, `neutral` or `negative`.
    pub sentiment: Option<String>,
}

/// Validates an analysis. `schema` is the agent's extraction schema, a list of `{key, …}`; `captured` is what the flow
/// captured, which the model cannot overrule; `known` is the outcome that the call already has.
pub fn judge(
    analysis: Analysis,
    schema: &Value,
    captured: Map<String, Value>,
    known: Option<String>,
) -> Findings {
    let keys: Vec<&str> =
        schema.as_array().into_iter().flatten().filter_map(|field| field["key"].as_str()).collect();
    let mut extracted = captured;
    for (key, value) in analysis.extracted {
        if !value.is_null() && keys.contains(&key.as_str()) && !extracted.contains_key(&key) {
            extracted.insert(key, storable::value(value));
        }
    }
    let summary: String =
        analysis.summary.trim().chars().filter(|sign| *sign != '\0').take(LONGEST_SUMMARY).collect();
    Findings {
        summary: Some(summary).filter(|summary| !summary.is_empty()),
        extracted,
        outcome: known.or_else(|| analysis.outcome.as_deref().and_then(outcome_key)),
        sentiment: analysis
            .sentiment
            .map(|word| word.trim().to_lowercase())
            .filter(|word| SENTIMENTS.contains(&word.as_str())),
    }
}

/// Whether a character is a vowel sign or another mark that belongs to the letter before it, as in Indian
/// scripts.
fn is_mark(sign: char) -> bool {
    unicode_normalization::char::is_combining_mark(sign)
}

/// The stable key of a disposition in free text: `Callback requested!` becomes `callback_requested`; `None`
/// when nothing is left.
pub fn outcome_key(words: &str) -> Option<String> {
    let mut key = String::new();
    for sign in words.trim().chars() {
        if sign.is_alphanumeric() || (!sign.is_ascii() && is_mark(sign)) {
            key.extend(sign.to_lowercase());
        } else if !key.is_empty() && !key.ends_with('_') {
            key.push('_');
        }
        if key.chars().count() >= LONGEST_OUTCOME {
            break;
        }
    }
    let key = key.trim_matches('_');
    (!key.is_empty()).then(|| key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn waits_double_and_end() {
        let analysis: Vec<_> = (1..=7).map(|attempt| retry_in(AfterCallStep::Analysis, attempt, 0)).collect();
        let minutes = |halves: i64| Some(halves * 30 * SECOND);
        assert_eq!(
            analysis,
            [minutes(1), minutes(2), minutes(4), minutes(8), minutes(16), minutes(32), None]
        );
        assert_eq!(retry_in(AfterCallStep::Recording, 40, 6 * DAY), Some(HOUR));
        assert_eq!(retry_in(AfterCallStep::Recording, 400, 7 * DAY), None);
        assert_eq!(retry_in(AfterCallStep::Discard, i64::MAX, 400 * DAY), Some(HOUR));
    }

    #[test]
    fn the_flow_and_the_person_overrule_the_model() {
        let schema = json!([{"key": "amount"}, {"key": "when"}]);
        let found = json!({"amount": 1, "when": "to\u{0}day", "made_up": true, "name": null});
        let analysis = Analysis {
            summary: "  Asked for a call. ".into(),
            extracted: found.as_object().unwrap().clone(),
            outcome: Some("Callback requested!".into()),
            sentiment: Some("Positive ".into()),
            chosen: None,
        };
        let captured = json!({"amount": 500}).as_object().unwrap().clone();
        let findings = judge(analysis.clone(), &schema, captured.clone(), None);
        assert_eq!(Value::Object(findings.extracted), json!({"amount": 500, "when": "today"}));
        assert_eq!(
            (findings.summary.as_deref(), findings.sentiment.as_deref()),
            (Some("Asked for a call."), Some("positive"))
        );
        assert_eq!(findings.outcome.as_deref(), Some("callback_requested"));
        let known = judge(analysis, &Value::Null, captured, Some("paid".into()));
        assert_eq!(
            (known.outcome.as_deref(), Value::Object(known.extracted)),
            (Some("paid"), json!({"amount": 500}))
        );
        let rubbish = Analysis {
            summary: " ".into(),
            outcome: Some("?!".into()),
            sentiment: Some("angry".into()),
            ..Analysis::default()
        };
        assert_eq!(judge(rubbish, &Value::Null, Map::new(), None), Findings::default());
    }

    #[test]
    fn outcomes_are_keys() {
        assert_eq!(outcome_key("Promise to pay").as_deref(), Some("promise_to_pay"));
        assert_eq!(outcome_key("--रुचि है--").as_deref(), Some("रुचि_है"));
        assert_eq!(outcome_key(&"a".repeat(200)).map(|key| key.len()), Some(64));
        assert_eq!(outcome_key(" _ "), None);
    }

    #[test]
    fn machines_and_silence_have_no_outcome() {
        let report = Report { outcome: Some("paid".into()), ..Report::default() };
        let answered = Progress {
            answered_at: Some(Timestamp(1)),
            end_cause: Some("agent_ended".into()),
            ..Progress::placing()
        };
        assert_eq!(outcome_at_end(&answered, &report).as_deref(), Some("paid"));
        assert_eq!(
            outcome_at_end(&Progress { opted_out: true, ..answered.clone() }, &report).as_deref(),
            Some("opted_out")
        );
        assert_eq!(
            outcome_at_end(&Progress { end_cause: Some("voicemail".into()), ..answered.clone() }, &report),
            None
        );
        assert_eq!(outcome_at_end(&Progress { answered_at: None, ..answered }, &report), None);
    }
}

//! Answers of providers: language models, recognisers, voices.

use std::sync::LazyLock;

use domain::conversation::{Exchange, Role};
use domain::evaluation::{Criterion, CriterionKind, Line, MAX_REASONING, Speaker, Verdict, judge};
use domain::ports::{AnalysisOrder, Said, TalkOrder, ToolOffer};
use providers::fuzzing::{model, speech, storage};
use providers::http::Net;
use serde_json::{Map, Value, json};

use crate::draw::Draw;

static NET: LazyLock<Net> = LazyLock::new(|| Net::new(Vec::new()).expect("a net without connections"));

/// Most bytes of text in a turn.
const MOST_TURN: usize = 64 * 1024;

fn order(spoken: bool) -> TalkOrder {
    let tool = |id: &str, name: &str| ToolOffer {
        id: id.into(),
        name: name.into(),
        description: String::new(),
        parameters: json!({"type": "object"}),
    };
    TalkOrder {
        workspace: None,
        prompt: "Be kind.".into(),
        history: vec![
            Exchange::Said { role: Role::Agent, text: "Hello".into() },
            Exchange::Said { role: Role::Customer, text: "Yes".into() },
        ],
        exits: vec!["The customer agrees".into(), "The customer is angry".into()],
        tools: vec![tool("tool_1", "look_up"), tool("tool_2", "look up"), tool("tool_3", "take_exit")],
        knowledge: vec!["Open from nine to five.".into()],
        opening: false,
        language: "en".into(),
        spoken,
    }
}

fn sensible(said: &[Said], order: &TalkOrder) {
    let mut text = 0;
    let mut after_text = false;
    for one in said {
        match one {
            Said::Text(words) => {
                assert!(!after_text, "text after an exit, a tool or the end");
                assert!(!words.is_empty());
                text += words.len();
            }
            Said::Exit(index) => {
                after_text = true;
                assert!(*index < order.exits.len(), "exit {index}");
            }
            Said::Tool(call) => {
                after_text = true;
                assert!(order.tools.iter().any(|tool| tool.id == call.tool_id), "{}", call.tool_id);
            }
            Said::End(outcome) => {
                after_text = true;
                assert!(
                    outcome
                        .as_ref()
                        .is_none_or(|outcome| !outcome.is_empty() && outcome.chars().count() <= 64),
                    "{outcome:?}"
                );
            }
        }
    }
    assert!(text <= MOST_TURN, "{text} bytes of text in a turn");
}

fn texts(said: &[Said]) -> String {
    said.iter().map(|one| if let Said::Text(words) = one { words.as_str() } else { "" }).collect()
}

fn signs(said: &[Said]) -> Vec<&Said> {
    said.iter().filter(|one| !matches!(one, Said::Text(_))).collect()
}

/// Server-sent events of a chat completion.
///
/// Only offered exits and tools are reported, text comes first and has a bounded length, and the stream may
/// be cut anywhere.
pub fn model_stream(data: &[u8]) {
    let order = order(data.first().is_some_and(|byte| byte & 1 == 1));
    let (whole, error) = model::stream(&NET, &order, &[data]);
    sensible(&whole, &order);
    let pieces: Vec<&[u8]> = data.chunks(7).collect();
    let (cut, cut_error) = model::stream(&NET, &order, &pieces);
    sensible(&cut, &order);
    if error.is_none() {
        assert_eq!(cut_error, None, "cut");
        assert_eq!((texts(&cut), signs(&cut)), (texts(&whole), signs(&whole)), "cut");
    }
    drop(format!("{error:?}"));
}

/// A chat completion as one JSON value, and its text as the analysis of a conversation.
///
/// As [`model_stream`]. An analysis holds only what its schema names, with a bounded length.
pub fn model_answer(data: &[u8]) {
    if let Ok(answer) = serde_json::from_slice::<Value>(data) {
        let order = order(true);
        let (said, _) = model::whole(&NET, &order, &answer);
        sensible(&said, &order);
    }
    let schema = json!([
        {"key": "budget", "label": "Budget", "type": "number"},
        {"key": "owner", "label": "Owner", "type": "boolean"},
        {"key": "plan", "label": "Plan", "type": "text", "choices": ["Gold", "Silver"]},
        {"key": "note", "label": "Note", "type": "text"}
    ]);
    let captured = json!({"plan": "Gold"}).as_object().cloned().unwrap_or_default();
    let order = AnalysisOrder {
        workspace: None,
        transcript: Vec::new(),
        schema,
        extracted: captured,
        prompt: String::new(),
        language: "en".into(),
        choices: vec![],
    };
    let Some(analysis) = model::analysis(&String::from_utf8_lossy(data), &order) else { return };
    assert!(analysis.summary.chars().count() <= 2000);
    assert_eq!(analysis.extracted["plan"], "Gold", "what the flow captured is kept");
    for (key, value) in &analysis.extracted {
        match key.as_str() {
            "budget" => assert!(value.is_number(), "{value}"),
            "owner" => assert!(value.is_boolean(), "{value}"),
            "plan" => {}
            "note" => assert!(
                value.as_str().is_some_and(|text| !text.is_empty() && text.chars().count() <= 2000),
                "{value}"
            ),
            other => panic!("{other} is not in the schema"),
        }
    }
    assert!(
        analysis.sentiment.is_none_or(|word| ["positive", "neutral", "negative"].contains(&word.as_str()))
    );
    assert!(analysis.outcome.is_none_or(|outcome| !outcome.is_empty() && outcome.chars().count() <= 64));
}

/// The grades of a conversation, whatever a model answers.
///
/// Each criterion has one result, a score decides by its threshold, and a quote is in the transcript.
pub fn model_grades(data: &[u8]) {
    let criterion = |key: &str, kind, pass_threshold| Criterion {
        key: key.to_owned(),
        name: key.to_owned(),
        kind,
        pass_threshold,
        prompt: "Polite?".to_owned(),
    };
    let criteria = [
        criterion("polite", CriterionKind::PassFail, None),
        criterion("clear", CriterionKind::Score, Some(60)),
    ];
    let transcript = [Line { speaker: Speaker::Agent, text: "Good morning, how can I help?".to_owned() }];
    let Some(grades) = model::grades(&String::from_utf8_lossy(data), &criteria) else { return };
    let results = judge(&criteria, &grades, &transcript);
    assert_eq!(results.len(), criteria.len());
    for result in &results {
        assert!(result.reasoning.chars().count() <= MAX_REASONING && !result.reasoning.contains('\0'));
        assert!(result.quotes.iter().all(|quote| quote.line == 0));
        if let (Some(score), Some(threshold)) = (result.score, result.pass_threshold) {
            assert_eq!(result.verdict == Verdict::Pass, score >= threshold);
        }
    }
}

/// The request to a model about a conversation with untrusted content.
///
/// Roles alternate, every tool call is followed by its answer, and the first message is the service's own.
pub fn model_request(data: &[u8]) {
    let mut draw = Draw::new(data);
    let mut order = order(draw.one_in(2));
    order.opening = draw.one_in(2);
    order.tools[0].name = draw.text();
    order.tools[1].name = draw.text();
    order.history.clear();
    while !draw.is_empty() {
        let request = u64::from(draw.byte() % 8);
        order.history.push(match draw.below(4) {
            0 => Exchange::Said { role: Role::Agent, text: draw.text() },
            1 => Exchange::Said { role: Role::Customer, text: draw.text() },
            2 => Exchange::ToolCalled {
                request,
                tool_id: draw.of(&["tool_1", "tool_2", "tool_9"]).to_owned(),
                arguments: Map::new(),
            },
            _ => Exchange::ToolAnswered { request, ok: draw.one_in(2), value: json!(draw.text()) },
        });
    }
    let request = model::request(&order);
    let messages = request["messages"].as_array().expect("messages");
    assert_eq!(messages[0]["role"], "system");
    assert!(messages.iter().skip(1).all(|message| message["role"] != "system"));
    for pair in messages.windows(2) {
        assert!(
            pair[0]["role"] != pair[1]["role"]
                || pair[0]["role"] == "tool"
                || pair[0].get("tool_calls").is_some(),
            "{pair:?}"
        );
    }
    for (at, message) in messages.iter().enumerate() {
        for (of, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
            assert_eq!(
                messages.get(at + 1 + of).map(|answer| &answer["tool_call_id"]),
                Some(&call["id"]),
                "a call without its answer"
            );
        }
    }
    let names: Vec<&str> = request["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    for (at, name) in names.iter().enumerate() {
        assert!(
            (1..=64).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)),
            "{name}"
        );
        assert!(!names[..at].contains(name), "{name} twice");
    }
}

/// Messages of recognisers and voices: one byte for the service, then messages, each with one byte for its
/// kind and one for its length.
///
/// Words and sound are no larger than the input. An error contains nothing of what the service said except a
/// short code.
pub fn speech_messages(data: &[u8]) {
    let mut draw = Draw::new(data);
    let way = usize::from(draw.byte());
    let mut messages = Vec::new();
    while !draw.is_empty() {
        let text = draw.byte() != b'b';
        let bytes = match draw.byte() {
            // A long message: the rest of the bytes.
            b'\n' => draw.rest(),
            length => draw.take(usize::from(length)),
        };
        messages.push((text, bytes));
    }
    let size = |told: &[speech::Told]| -> usize {
        told.iter()
            .map(|told| match told {
                speech::Told::Words(words) => words.len(),
                speech::Told::Sound(bytes) => bytes.len(),
                speech::Told::Sign => 0,
            })
            .sum()
    };
    for outcome in [speech::hear(&NET, way, &messages), speech::speak(&NET, way, &messages)] {
        match outcome {
            Ok(told) => assert!(size(&told) <= 3 * data.len(), "{} bytes out of {}", size(&told), data.len()),
            Err(error) => assert!(error.to_string().len() < 300, "{error}"),
        }
    }
}

/// The answer of a transcription service, an error of any service, or sound.
///
/// Sound may be cut anywhere, its length matches the bytes at the line's sample rate, and a file that the
/// service wrote is read unchanged.
pub fn speech_answer(data: &[u8]) {
    if let Ok(words) = speech::transcription(&NET, data) {
        assert!(words.trim() == words && words.len() <= data.len());
    }
    let status = 400 + u16::from(data.first().copied().unwrap_or_default());
    if let Some(error) = providers::fuzzing::failure(status, data) {
        assert!(error.to_string().len() < 200, "{error}");
    }
    let rate = [8000, 16_000, 24_000, 22_050][data.len() % 4];
    let whole = speech::sound(rate, &[data]);
    let pieces: Vec<&[u8]> = data.chunks(5).collect();
    assert_eq!(speech::sound(rate, &pieces), whole, "cut");
    // A header may give 4000 Hz, which doubles the samples; the filter adds its tail.
    assert!(whole.len() <= data.len() + 128, "{} samples out of {} bytes", whole.len(), data.len());
    assert!(speech::spoken_part(&whole).len() <= whole.len());
    let samples: Vec<i16> = data.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
    let file = speech::wav(&samples, 8000).expect("a short file");
    assert_eq!(speech::sound(24_000, &[&file]), samples, "a file that the service wrote");
}

/// An answer of a bucket. A code of an error is a word; an id of an upload and a tag of a part have no space and no line
/// break, are bounded, and travel back as they came.
pub fn storage_answer(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(code) = storage::code(&text) {
        assert!(code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{code}");
    }
    let is_word =
        |word: &str| (1..=1024).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_graphic());
    let uploads = storage::uploads_to(&text, "recordings/1.wav");
    assert!(uploads.len() <= 100 && uploads.iter().all(|upload| is_word(upload)), "{uploads:?}");
    for name in ["UploadId", "ETag"] {
        if let Some((came, again)) = storage::sent_back(&text, name) {
            assert!(is_word(&came), "{came}");
            assert_eq!(again.as_ref(), Some(&came));
        }
    }
}

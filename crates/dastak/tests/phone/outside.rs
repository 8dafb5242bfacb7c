//! Speech and language of others, over the whole stack: a voice that dies in mid-call, a model that talks and
//! calls a tool.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::baresip::{Baresip, free_port};
use super::kit::{Kit, beside, folder, question, text, until};
use super::receiver::{Behaviour, Receiver};
use super::server::{Asked, Server, turn, whole, words};
use super::sounds::{level, samples, speech};

use crate::shows::Shows;

/// A second of a tone, as samples of 24 kHz.
fn tone() -> Vec<u8> {
    let sample = |at: i32| (f64::from(at) * 440.0 * std::f64::consts::TAU / 24_000.0).sin() * 8000.0;
    (0..24_000).flat_map(|at| (sample(at) as i16).to_le_bytes()).collect()
}

/// Ticks of 20 ms that are the tone, and those that are other sound.
fn tones_and_others(samples: &[i16]) -> (usize, usize) {
    let (mut tone, mut other) = (0, 0);
    for tick in samples.chunks_exact(160).filter(|tick| level(tick) > 200) {
        let part = |shift: f64| {
            let wave = |at: usize| (at as f64 * 440.0 * std::f64::consts::TAU / 8000.0 + shift).sin();
            tick.iter().enumerate().map(|(at, sample)| f64::from(*sample) * wave(at)).sum::<f64>().powi(2)
        };
        let energy = tick.iter().map(|sample| f64::from(*sample).powi(2)).sum::<f64>();
        // Of a pure tone, all of the energy is at its pitch.
        let at_pitch = (part(0.0) + part(std::f64::consts::FRAC_PI_2)) / (energy * 80.0);
        if at_pitch > 0.8 {
            tone += 1;
        } else if at_pitch < 0.4 {
            other += 1;
        }
    }
    (tone, other)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_voice_that_dies_after_its_first_sentence_is_followed_by_the_next() {
    let _place = beside().await;
    let said = AtomicUsize::new(0);
    let server = Server::start(move |asked: Asked| {
        let hears = asked.path.ends_with("/transcriptions");
        let first = !hears && said.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            match (hears, first) {
                (true, _) => words("call me later"),
                (false, true) => Some(("audio/pcm", tone())),
                (false, false) => None,
            }
        }
    })
    .await;
    let phone = Baresip::silent(&["+919812301234"], true);
    let answer = speech(&folder("speech"), "call me later", 0.2, 120.0);
    let more = [
        ("speech.to_text", "openai, offline"),
        ("speech.from_text", "openai, offline"),
        ("speech.openai.base_url", server.url.as_str()),
        ("speech.openai.resident", "true"),
    ];
    let kit = Kit::at_trunk(phone.port, &more).await;
    let agent = kit.agent("outbound", question()).await;
    let id = kit.place(&agent, "1234").await;
    let call = phone.answering(&answer, true, kit.ended(&id)).await;
    call.shows(json!({"endCause": "agent_ended", "outcome": "callback_requested"}));
    let asked = server.asked("/audio/speech");
    assert!(
        asked
            .first()
            .is_some_and(|first| first.body["input"].as_str().is_some_and(|text| text.starts_with("Hello"))),
        "{asked:?}"
    );
    until("the callee's file is written", || !phone.heard().is_empty()).await;
    // A second of the tone of the first voice, then the second voice, which is no tone.
    let (tone, voice) = tones_and_others(&samples(&phone.heard()[0], 0));
    assert!(tone > 25 && voice > 50, "ticks of the tone {tone}, of another voice {voice}");
    kit.is_clean().await;
}

/// A model that greets, asks the tool once somebody has spoken, tells what it said and takes the exit; and
/// reads the conversation afterwards.
fn clerk(asked: &Asked) -> super::server::Answer {
    if asked.path.ends_with("/transcriptions") {
        return words("Yes please, where is my parcel?");
    }
    if asked.body["stream"] != json!(true) {
        let found = json!({"parcel": "P-17", "urgent": false});
        return whole(
            &json!({"summary": "Asha told where the parcel is.", "sentiment": "positive", "outcome": "informed", "extracted": found}),
        );
    }
    let messages = asked.body["messages"].as_array().cloned().unwrap_or_default();
    let has = |role: &str, words: &str| {
        messages.iter().any(|one| {
            one["role"] == role && one["content"].as_str().is_some_and(|text| text.contains(words))
        })
    };
    if has("tool", "tomorrow") {
        turn("Your parcel comes tomorrow.", &[("take_exit", json!({"exit": 0}))])
    } else if has("user", "parcel") {
        turn("", &[("track_parcel", json!({"number": "P-17"}))])
    } else {
        turn("Hello, this is Asha. Shall I look for your parcel?", &[])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_talks_calls_a_tool_and_reads_the_conversation() {
    let _place = beside().await;
    let server = Server::start(|asked: Asked| async move { clerk(&asked) }).await;
    let answer = "{\"arrives\": \"tomorrow\"}";
    let shelf = Receiver::start(Behaviour::Answer(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{answer}",
        answer.len()
    )))
    .await;
    let phone = Baresip::silent(&["+919812301234"], true);
    let answer = speech(&folder("speech"), "yes please where is my parcel", 0.2, 120.0);
    let more = [
        ("speech.to_text", "openai, offline"),
        ("speech.openai.base_url", server.url.as_str()),
        ("speech.openai.resident", "true"),
        ("language_model.providers", "mine, offline"),
        ("language_model.mine.base_url", server.url.as_str()),
        ("language_model.mine.model", "clerk"),
        ("language_model.mine.resident", "true"),
    ];
    let kit = Kit::at_trunk(phone.port, &more).await;
    let tool = json!({"type": "webhook", "name": "track_parcel", "description": "Finds a parcel.", "config": {"url": shelf.url,
        "parameters": {"type": "object", "properties": {"number": {"type": "string"}}}}});
    let tool = text(
        &kit.operator("POST", &format!("/workspaces/{}/tools", kit.workspace), &tool).await["data"]["id"],
    );
    let agent = kit
        .agent(
            "outbound",
            json!([
                {"id": "talk", "type": "converse", "prompt": "Tell where the parcel is.", "toolIds": [tool],
                 "exits": [{"when": "the customer knows where the parcel is", "next": "bye"}]},
                {"id": "bye", "type": "end", "text": "Goodbye.", "outcome": "informed"},
            ]),
        )
        .await;
    let schema = json!([{"key": "parcel", "label": "Number of the parcel", "type": "text"}, {"key": "urgent", "label": "Is it urgent", "type": "boolean"}]);
    kit.api("PUT", &format!("/v1/agents/{agent}"), &json!({"extractionSchema": schema})).await;
    let id = kit.place(&agent, "1234").await;
    let call = phone.answering(&answer, true, kit.ended(&id)).await;
    assert_eq!((&call["endCause"], &call["outcome"]), (&json!("agent_ended"), &json!("informed")), "{call}");
    let asked = shelf.got();
    assert_eq!(
        (asked.len(), asked[0].json(), asked[0].header("x-call-id")),
        (1, json!({"number": "P-17"}), id.as_str())
    );
    let said = |role: &str, words: &str| {
        call["transcript"].as_array().unwrap().iter().any(|turn| {
            turn["role"] == role && turn["text"].as_str().is_some_and(|text| text.contains(words))
        })
    };
    assert!(said("agent", "Your parcel comes tomorrow") && said("customer", "where is my parcel"), "{call}");
    let call = kit.when(&id, "the conversation is read", |call| call["summary"].is_string()).await;
    assert_eq!(call["summary"], "Asha told where the parcel is.", "{call}");
    assert_eq!(call["extracted"], json!({"parcel": "P-17", "urgent": false}), "{call}");
    kit.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_resident_provider_nobody_is_called_unless_the_settings_allow_it() {
    let _place = beside().await;
    let outside = format!("http://127.0.0.1:{}/v1", free_port());
    let own = [
        ("speech.to_text", "openai"),
        ("speech.openai.base_url", outside.as_str()),
        ("speech.openai.resident", "false"),
    ];
    let phone = Baresip::start(&["+919812301234"], &speech(&folder("speech"), "hello", 1.0, 2.0), true);
    let strict = Kit::at_trunk(phone.port, &own).await;
    let agent = strict.agent("outbound", question()).await;
    let (status, answer) = strict.try_place(&agent, "1234").await;
    assert_eq!((status, &answer["code"]), (503, &json!("voice_unavailable")), "{answer}");
    assert_eq!(strict.api("GET", "/v1/calls", &Value::Null).await["data"], json!([]), "nobody was called");
    let lenient =
        Kit::at_trunk(phone.port, &[own.as_slice(), &[("speech.india_resident_only", "false")]].concat())
            .await;
    let agent = lenient.agent("outbound", question()).await;
    let id = lenient.place(&agent, "1234").await;
    assert_eq!(lenient.ended(&id).await["answered"], true);
}

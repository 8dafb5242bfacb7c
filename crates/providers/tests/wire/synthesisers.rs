//! Synthesisers over WebSockets.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::ports::{ProviderError, ProviderFault, SpeakOrder, Speaking, Synthesiser};
use providers::settings::Speech;
use serde_json::{Value, json};

use crate::fakes::{Fake, KEY, net};
use crate::server::{Conn, Log, Server, answer, soon};

const ALL: [Fake; 4] = [Fake::Sarvam, Fake::Deepgram, Fake::ElevenLabs, Fake::Cartesia];

fn path(fake: Fake) -> &'static str {
    match fake {
        Fake::Deepgram => "/v1/speak?model=aura-2-thalia-en&encoding=linear16&sample_rate=8000",
        Fake::ElevenLabs => {
            "/v1/text-to-speech/v%201/multi-stream-input?model_id=eleven_flash_v2_5&output_format=pcm_8000&language_code=en&auto_mode=true&inactivity_timeout=180&apply_text_normalization=auto"
        }
        Fake::Cartesia => "/tts/websocket",
        Fake::Sarvam | Fake::Legacy => "/text-to-speech/ws?model=bulbul%3Av3&send_completion_event=true",
    }
}

pub fn section(fake: Fake, url: &str) -> Speech {
    let voice = matches!(fake, Fake::ElevenLabs | Fake::Cartesia).then(|| "v 1".to_owned());
    Speech { voice, stt_model: None, ..fake.section(url) }
}

pub fn synthesiser(section: &Speech) -> Arc<dyn Synthesiser> {
    providers::speech::synthesiser(section, &net()).unwrap()
}

pub fn order(text: &str) -> SpeakOrder {
    SpeakOrder { text: text.into(), voice: String::new(), language: "en".into() }
}

pub async fn speak(synthesiser: &dyn Synthesiser, text: &str) -> Result<Box<dyn Speaking>, ProviderError> {
    soon(synthesiser.speak(order(text))).await
}

/// Everything that is said.
pub async fn hear(speaking: &mut dyn Speaking) -> Result<Vec<i16>, ProviderError> {
    let mut all = Vec::new();
    while let Some(piece) = soon(speaking.next()).await {
        all.extend(piece?);
    }
    Ok(all)
}

/// What a server says for a text: the letters as samples.
pub fn sound(text: &str) -> Vec<i16> {
    text.chars().map(|letter| letter as i16).collect()
}

fn bytes(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}

/// One utterance as it was asked for: its id, where there is one, and its text.
struct Asked {
    id: String,
    text: String,
}

/// Reads an utterance and checks every message of it; none when the client has gone. Whatever ends an earlier
/// one is written to the log.
async fn asked(fake: Fake, conn: &mut Conn, first: bool, log: &Log) -> Option<Asked> {
    let mut asked = Asked { id: String::new(), text: String::new() };
    if fake == Fake::Sarvam && first {
        let config = conn.json().await?;
        assert_eq!(config["type"], "config");
        let data = &config["data"];
        assert_eq!((&data["target_language_code"], &data["speaker"]), (&json!("en-IN"), &json!("shubh")));
        assert_eq!(
            (&data["output_audio_codec"], &data["speech_sample_rate"]),
            (&json!("linear16"), &json!(8000))
        );
    }
    loop {
        let message = conn.json().await?;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        match fake {
            Fake::Sarvam => match message["type"].as_str().unwrap() {
                "text" => asked.text += &text(&message["data"]["text"]),
                "flush" => break,
                other => panic!("{other}"),
            },
            Fake::Deepgram => match message["type"].as_str().unwrap() {
                "Speak" => asked.text += &text(&message["text"]),
                "Flush" => break,
                "Clear" => {
                    log.add("cancelled");
                    conn.send_bytes(&bytes(&sound("left over"))).await;
                    conn.send(json!({"type": "Cleared", "sequence_id": 0})).await;
                }
                other => panic!("{other}"),
            },
            Fake::ElevenLabs => {
                let id = text(&message["context_id"]);
                if message["close_context"] == true {
                    if id == asked.id {
                        break;
                    }
                    log.add("cancelled");
                    continue;
                }
                if asked.id.is_empty() {
                    assert!(
                        message["voice_settings"].is_object() && message["text"] == " ",
                        "the first of a context: {message}"
                    );
                    asked.id = id;
                } else {
                    assert_eq!(id, asked.id);
                    if message["flush"] != true {
                        asked.text += &text(&message["text"]);
                    }
                }
            }
            _ => {
                if message["cancel"] == true {
                    log.add("cancelled");
                    continue;
                }
                assert_eq!(message["voice"], json!({"mode": "id", "id": "v 1"}));
                assert_eq!(
                    message["output_format"],
                    json!({"container": "raw", "encoding": "pcm_s16le", "sample_rate": 8000})
                );
                assert_eq!((&message["continue"], &message["language"]), (&json!(false), &json!("en")));
                asked = Asked { id: text(&message["context_id"]), text: text(&message["transcript"]) };
                break;
            }
        }
    }
    asked.text = asked.text.trim().to_owned();
    Some(asked)
}

/// Sends a piece of sound.
async fn say(fake: Fake, conn: &mut Conn, id: &str, samples: &[u8]) {
    let base64 = STANDARD.encode(samples);
    match fake {
        Fake::Sarvam => conn.send(json!({"type": "audio", "data": {"audio": base64, "content_type": "audio/l16", "request_id": "r"}})).await,
        Fake::Deepgram => conn.send_bytes(samples).await,
        Fake::ElevenLabs => conn.send(json!({"audio": base64, "contextId": id, "alignment": null})).await,
        _ => conn.send(json!({"type": "chunk", "data": base64, "done": false, "status_code": 206, "context_id": id})).await,
    }
}

async fn done(fake: Fake, conn: &mut Conn, id: &str) {
    match fake {
        Fake::Sarvam => conn.send(json!({"type": "event", "data": {"event_type": "final"}})).await,
        Fake::Deepgram => conn.send(json!({"type": "Flushed", "sequence_id": 0})).await,
        Fake::ElevenLabs => conn.send(json!({"isFinal": true, "context_id": id})).await,
        _ => conn.send(json!({"type": "done", "done": true, "context_id": id})).await,
    }
}

/// A server that says every text, in pieces cut through samples; a text with `…` is never finished, and one
/// that begins with `!` is answered by hanging up.
pub async fn start(fake: Fake, log: Log) -> Server {
    let (header, value) = fake.credentials();
    Server::ws(header, value, move |mut conn| {
        let log = log.clone();
        async move {
            assert_eq!(conn.path, path(fake));
            log.add(format!("connected {}", conn.number));
            let mut first = true;
            let mut before = String::new();
            while let Some(asked) = asked(fake, &mut conn, first, &log).await {
                first = false;
                if asked.text.starts_with('!') {
                    return;
                }
                log.add(format!("{} asked: {}", conn.number, asked.text));
                // What is left of another utterance must not be heard.
                if matches!(fake, Fake::ElevenLabs | Fake::Cartesia) && !before.is_empty() {
                    say(fake, &mut conn, &before, &bytes(&sound("left over"))).await;
                }
                for piece in bytes(&sound(&asked.text)).chunks(7) {
                    say(fake, &mut conn, &asked.id, piece).await;
                }
                if !asked.text.contains('…') {
                    done(fake, &mut conn, &asked.id).await;
                }
                before = asked.id;
            }
            log.add(format!("gone {}", conn.number));
        }
    })
    .await
}

#[tokio::test]
async fn texts_are_said_one_after_the_other_over_one_warm_connection() {
    for fake in ALL {
        let log = Log::new();
        let server = start(fake, log.clone()).await;
        let synthesiser = synthesiser(&section(fake, &server.url));
        for text in ["Hello there.", "How are you?", "Good."] {
            let mut speaking = speak(&*synthesiser, text).await.unwrap();
            assert_eq!(hear(&mut *speaking).await, Ok(sound(text)), "{fake:?}");
            assert!(soon(speaking.next()).await.is_none());
        }
        assert_eq!(server.accepted(), 1, "{fake:?}");
        // Two at once need two.
        let mut one = speak(&*synthesiser, "One.").await.unwrap();
        let mut two = speak(&*synthesiser, "Two.").await.unwrap();
        assert_eq!(
            (hear(&mut *two).await, hear(&mut *one).await),
            (Ok(sound("Two.")), Ok(sound("One."))),
            "{fake:?}"
        );
        assert_eq!(server.accepted(), 2, "{fake:?}");
    }
}

#[tokio::test]
async fn dropping_speech_stops_the_provider() {
    for fake in ALL {
        let log = Log::new();
        let server = start(fake, log.clone()).await;
        let synthesiser = synthesiser(&section(fake, &server.url));
        let mut speaking = speak(&*synthesiser, "A long story…").await.unwrap();
        assert!(matches!(soon(speaking.next()).await, Some(Ok(samples)) if !samples.is_empty()));
        drop(speaking);
        if fake == Fake::Sarvam {
            // It has no message for it: the connection ends, and the next one is opened before it is needed.
            log.seen(|line| line == "gone 0").await;
            log.seen(|line| line == "connected 1").await;
        } else {
            log.seen(|line| line == "cancelled").await;
        }
        let mut speaking = speak(&*synthesiser, "Short.").await.unwrap();
        assert_eq!(hear(&mut *speaking).await, Ok(sound("Short.")), "{fake:?}: nothing is left of the story");
    }
}

#[tokio::test]
async fn a_warm_connection_that_has_died_is_replaced() {
    for fake in ALL {
        let (header, value) = fake.credentials();
        let log = Log::new();
        let told = log.clone();
        let server = Server::ws(header, value, move |mut conn| {
            let log = told.clone();
            async move {
                let number = conn.number;
                let Some(first) = asked(fake, &mut conn, true, &log).await else { return };
                say(fake, &mut conn, &first.id, &bytes(&sound(&first.text))).await;
                done(fake, &mut conn, &first.id).await;
                if number == 0 {
                    // It dies only when it is used again: nothing tells the client earlier.
                    asked(fake, &mut conn, false, &log).await;
                    log.add("died");
                } else {
                    while conn.next().await.is_some() {}
                }
            }
        })
        .await;
        let synthesiser = synthesiser(&section(fake, &server.url));
        for text in ["First.", "Second."] {
            let mut speaking = speak(&*synthesiser, text).await.unwrap();
            assert_eq!(hear(&mut *speaking).await, Ok(sound(text)), "{fake:?}");
        }
        assert_eq!((log.lines(), server.accepted()), (vec!["died".to_owned()], 2), "{fake:?}");
    }
}

#[tokio::test]
async fn refusals_errors_silence_and_hanging_up_are_failures() {
    for fake in ALL {
        for (status, fault) in
            [(401, ProviderFault::Forbidden), (429, ProviderFault::Limited), (500, ProviderFault::Broken)]
        {
            let server = Server::answering(answer(status, "{}")).await;
            assert_eq!(
                speak(&*synthesiser(&section(fake, &server.url)), "Hi.").await.err().unwrap().fault,
                fault
            );
        }
        let server = start(fake, Log::new()).await;
        let mut wrong = section(fake, &server.url);
        wrong.api_key = "wrong-key".into();
        let refused = speak(&*synthesiser(&wrong), "Hi.").await.err().unwrap();
        assert!(refused.fault == ProviderFault::Forbidden && !refused.to_string().contains("wrong-key"));

        let mut speaking = speak(&*synthesiser(&section(fake, &server.url)), "! hang up").await.unwrap();
        assert_eq!(hear(&mut *speaking).await.unwrap_err().fault, ProviderFault::Unreachable, "{fake:?}");

        let mut impatient = section(fake, &server.url);
        impatient.timeout = Duration::from_millis(300);
        let mut speaking = speak(&*synthesiser(&impatient), "Never ends…").await.unwrap();
        assert_eq!(hear(&mut *speaking).await.unwrap_err().fault, ProviderFault::TimedOut, "{fake:?}");
        assert!(soon(speaking.next()).await.is_none(), "it has ended");

        let (header, value) = fake.credentials();
        let error = match fake {
            Fake::Sarvam => json!({"type": "error", "data": {"message": "you said my secret", "code": 429}}),
            Fake::Deepgram => {
                json!({"type": "Error", "code": "RATE_LIMIT", "description": "you said my secret"})
            }
            Fake::ElevenLabs => {
                json!({"error": "quota_exceeded", "message": "you said my secret", "code": 1008})
            }
            _ => json!({"type": "error", "status_code": 429, "error": "you said my secret"}),
        };
        let server = Server::ws(header, value, move |mut conn| {
            let error = error.clone();
            async move {
                conn.next().await;
                conn.send(error).await;
                while conn.next().await.is_some() {}
            }
        })
        .await;
        let mut speaking = speak(&*synthesiser(&section(fake, &server.url)), "Hi.").await.unwrap();
        let error = hear(&mut *speaking).await.unwrap_err();
        assert_eq!(error.fault, ProviderFault::Limited, "{fake:?}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn voices_are_the_providers_own_or_the_sections() {
    let log = Log::new();
    let told = log.clone();
    let server = Server::ws("api-subscription-key", KEY, move |mut conn| {
        let log = told.clone();
        async move {
            let config = conn.json().await.unwrap();
            log.add(format!(
                "{} {}",
                config["data"]["speaker"].as_str().unwrap(),
                config["data"]["target_language_code"].as_str().unwrap()
            ));
            while conn.next().await.is_some() {}
        }
    })
    .await;
    let mut section = section(Fake::Sarvam, &server.url);
    section.voice = Some("kavya".into());
    let synthesiser = synthesiser(&section);
    assert!(synthesiser.voices().contains(&("sarvam-ritu".into(), "Ritu".into(), "female".into())));
    let mut kept = Vec::new();
    for (voice, language, expected) in [
        ("", "hi", "kavya hi-IN"),
        ("sarvam-ritu", "or", "ritu od-IN"),
        ("offline-male", "ta", "kavya ta-IN"),
    ] {
        let order = SpeakOrder { text: "x".into(), voice: voice.into(), language: language.into() };
        kept.push(soon(synthesiser.speak(order)).await.unwrap());
        log.seen(|line| line == expected).await;
    }
    let missing =
        providers::speech::synthesiser(&Speech { name: "cartesia".into(), ..Speech::default() }, &net())
            .err()
            .unwrap();
    assert!(missing.contains("cartesia: voice"), "{missing}");
}

//! The providers' recognisers as servers that count: a turn is answered with «heard» and the number of
//! samples that arrived. A message that the protocol does not know, or one out of order, ends the connection.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::ports::{Heard, ListenOrder, Listening, ProviderError, Recogniser};
use providers::http::Net;
use providers::settings::Speech;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_tungstenite::tungstenite::Message;

use crate::server::{Conn, Log, Server, soon};

pub const KEY: &str = "hush-hush";

/// A provider's way to be a recogniser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fake {
    Sarvam,
    Legacy,
    Deepgram,
    ElevenLabs,
    Cartesia,
}

pub const ALL: [Fake; 5] = [Fake::Sarvam, Fake::Legacy, Fake::Deepgram, Fake::ElevenLabs, Fake::Cartesia];

impl Fake {
    pub fn name(self) -> &'static str {
        match self {
            Fake::Sarvam | Fake::Legacy => "sarvam",
            Fake::Deepgram => "deepgram",
            Fake::ElevenLabs => "elevenlabs",
            Fake::Cartesia => "cartesia",
        }
    }

    /// The header that carries the credentials.
    pub fn credentials(self) -> (&'static str, &'static str) {
        match self {
            Fake::Sarvam | Fake::Legacy => ("api-subscription-key", KEY),
            Fake::Deepgram => ("authorization", "Token hush-hush"),
            Fake::ElevenLabs => ("xi-api-key", KEY),
            Fake::Cartesia => ("x-api-key", KEY),
        }
    }

    /// Where a conversation in Hindi (English for Cartesia) is asked for.
    pub fn path(self) -> &'static str {
        match self {
            Fake::Sarvam => {
                "/speech-to-text-realtime/ws?model=saaras%3Av3-realtime&language_code=hi-IN&mode=transcribe&stream_type=fast&endpointing=manual&encoding=linear16&sample_rate=8000"
            }
            Fake::Legacy => {
                "/speech-to-text/ws?language-code=hi-IN&model=saaras%3Av3&mode=transcribe&sample_rate=8000&input_audio_codec=pcm_s16le&vad_signals=true&high_vad_sensitivity=true&flush_signal=true"
            }
            Fake::Deepgram => {
                "/v1/listen?model=nova-3&encoding=linear16&sample_rate=8000&language=hi&channels=1&interim_results=true&endpointing=false&smart_format=true&punctuate=true"
            }
            Fake::ElevenLabs => {
                "/v1/speech-to-text/realtime?model_id=scribe_v2_realtime&audio_format=pcm_8000&commit_strategy=manual&language_code=hi"
            }
            Fake::Cartesia => {
                "/stt/websocket?model=ink-whisper&language=hi&encoding=pcm_s16le&sample_rate=8000"
            }
        }
    }

    pub fn section(self, url: &str) -> Speech {
        Speech {
            name: self.name().into(),
            base_url: Some(url.into()),
            api_key: KEY.into(),
            stt_model: match self {
                Fake::Legacy => Some("legacy:saaras:v3".into()),
                Fake::Cartesia => Some("ink-whisper".into()),
                _ => None,
            },
            timeout: Duration::from_secs(10),
            ..Speech::default()
        }
    }

    /// A server that answers for as long as `lives` allows: it hangs up in the midst of that turn (counted
    /// from 0). The log tells every sample count.
    pub async fn start(self, lives: usize, log: Log) -> Server {
        let (header, value) = self.credentials();
        Server::ws(header, value, move |conn| {
            let log = log.clone();
            async move { self.serve(conn, lives, log).await }
        })
        .await
    }

    async fn serve(self, mut conn: Conn, lives: usize, log: Log) {
        assert_eq!(conn.path, self.path());
        if self == Fake::Cartesia {
            assert_eq!(conn.headers["cartesia-version"], "2026-03-01");
        }
        if self == Fake::Sarvam {
            conn.send(json!({"event": "session.begin", "request_id": "r"})).await;
        }
        let mut ear = Ear::default();
        while let Some(message) = conn.next().await {
            let before = ear.samples;
            let turn = self.hear(&mut ear, &message);
            if ear.turns >= lives && ear.samples > 0 {
                log.add(format!("{}: hung up after {}", self.name(), ear.samples));
                return;
            }
            if ear.over {
                log.add(format!("{}: bye", self.name()));
                return;
            }
            if turn {
                log.add(format!("{}: {}", self.name(), ear.samples));
                self.say(&mut conn, &format!("heard {}", ear.samples)).await;
                ear = Ear { turns: ear.turns + 1, ..Ear::default() };
            } else if before == 0 && ear.samples > 0 {
                self.hint(&mut conn).await;
            }
        }
        log.add(format!("{}: gone", self.name()));
    }

    /// Takes a message; true when it ends a turn.
    fn hear(self, ear: &mut Ear, message: &Message) -> bool {
        if let Message::Binary(bytes) = message {
            assert!(matches!(self, Fake::Deepgram | Fake::Cartesia), "binary to {self:?}");
            ear.samples += bytes.len() / 2;
            return false;
        }
        let text = message.to_text().unwrap();
        if self == Fake::Cartesia {
            ear.over = text == "done";
            assert!(matches!(text, "done" | "finalize"), "{text}");
            return text == "finalize";
        }
        let json: Value = serde_json::from_str(text).unwrap();
        let count = |audio: &Value| STANDARD.decode(audio.as_str().unwrap()).unwrap().len() / 2;
        match self {
            Fake::Sarvam => match json["event"].as_str().unwrap() {
                "speech_start" => assert!(!std::mem::replace(&mut ear.speaking, true), "two starts"),
                "audio_input" => {
                    assert!(ear.speaking, "sound before speech_start");
                    ear.samples += count(&json["audio"]);
                }
                "speech_end" => return std::mem::take(&mut ear.speaking),
                "end" => ear.over = true,
                "ping" => {}
                other => panic!("{other}"),
            },
            Fake::Legacy => {
                if json["type"] == "flush" {
                    return true;
                }
                assert_eq!(
                    (&json["audio"]["encoding"], &json["audio"]["sample_rate"]),
                    (&json!("audio/wav"), &json!("8000"))
                );
                ear.samples += count(&json["audio"]["data"]);
            }
            Fake::Deepgram => match json["type"].as_str().unwrap() {
                "Finalize" => return true,
                "KeepAlive" => {}
                "CloseStream" => ear.over = true,
                other => panic!("{other}"),
            },
            Fake::ElevenLabs => {
                assert_eq!(
                    (&json["message_type"], &json["sample_rate"]),
                    (&json!("input_audio_chunk"), &json!(8000))
                );
                ear.samples += count(&json["audio_base_64"]);
                return json["commit"] == true;
            }
            Fake::Cartesia => unreachable!(),
        }
        false
    }

    /// The words of a turn.
    async fn say(self, conn: &mut Conn, words: &str) {
        let deepgram = |words: &str, last: bool| json!({"type": "Results", "is_final": true, "speech_final": false, "from_finalize": last, "channel": {"alternatives": [{"transcript": words, "confidence": 0.9}]}});
        let (first, rest) = words.split_once(' ').unwrap();
        match self {
            Fake::Sarvam => conn.send(json!({"event": "transcript.final", "text": words, "language": "hi-IN"})).await,
            Fake::Legacy => conn.send(json!({"type": "data", "data": {"request_id": "r", "transcript": words, "language_code": "hi-IN"}})).await,
            // In two pieces, as long turns come.
            Fake::Deepgram => {
                conn.send(deepgram(first, false)).await;
                conn.send(deepgram(rest, true)).await;
            }
            Fake::ElevenLabs => conn.send(json!({"message_type": "committed_transcript", "text": words})).await,
            Fake::Cartesia => {
                conn.send(json!({"type": "transcript", "text": first, "is_final": true})).await;
                conn.send(json!({"type": "transcript", "text": rest, "is_final": true})).await;
                conn.send(json!({"type": "flush_done"})).await;
            }
        }
    }

    /// What is sent when the first sound has come.
    pub async fn hint(self, conn: &mut Conn) {
        match self {
            Fake::Sarvam => conn.send(json!({"event": "transcript.partial", "text": "hea", "language": "hi-IN"})).await,
            Fake::Legacy => conn.send(json!({"type": "events", "data": {"signal_type": "START_SPEECH", "occured_at": 1.0}})).await,
            Fake::Deepgram => conn.send(json!({"type": "Results", "is_final": false, "channel": {"alternatives": [{"transcript": "hea"}]}})).await,
            Fake::ElevenLabs => conn.send(json!({"message_type": "partial_transcript", "text": "hea"})).await,
            Fake::Cartesia => conn.send(json!({"type": "transcript", "text": "hea", "is_final": false})).await,
        }
    }

    /// An error message of this provider.
    pub fn error(self) -> Value {
        match self {
            Fake::Sarvam => {
                json!({"event": "error", "code": "rate_limit_exceeded_error", "message": "you said my secret", "is_fatal": true})
            }
            Fake::Legacy => {
                json!({"type": "error", "data": {"error": "you said my secret", "code": "rate_limit_exceeded_error"}})
            }
            Fake::Deepgram => {
                json!({"type": "Error", "code": "RATE_LIMIT", "description": "you said my secret"})
            }
            Fake::ElevenLabs => json!({"message_type": "rate_limited", "error": "you said my secret"}),
            Fake::Cartesia => json!({"type": "error", "status_code": 429, "error": "you said my secret"}),
        }
    }
}

#[derive(Default)]
struct Ear {
    samples: usize,
    turns: usize,
    speaking: bool,
    over: bool,
}

pub fn net() -> Net {
    Net::new(Vec::new()).unwrap()
}

pub fn recogniser(section: &Speech) -> Arc<dyn Recogniser> {
    providers::speech::recogniser(section, &net()).unwrap()
}

pub async fn listen(recogniser: &dyn Recogniser) -> Result<Box<dyn Listening>, ProviderError> {
    soon(recogniser.listen(ListenOrder::of("hi"))).await
}

/// Feeds sound as a line does: 20 ms at a time.
pub fn feed(listening: &dyn Listening, samples: usize) {
    let sound: Vec<i16> = (0..samples).map(|at| (at % 1000) as i16 * 10).collect();
    sound.chunks(160).for_each(|piece| listening.feed(piece));
}

/// The next answered turn.
pub async fn turn(listening: &dyn Listening) -> Result<String, ProviderError> {
    loop {
        match soon(listening.next()).await? {
            Heard::Partial(_) | Heard::Language(_) => {}
            Heard::Turn(words) => return Ok(words),
        }
    }
}

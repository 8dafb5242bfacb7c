//! Sarvam AI (docs/providers.md): the realtime recogniser, the older one when the model is written
//! `legacy:<model>`, and the voices.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::ports::{ListenOrder, ProviderError, ProviderFault, SpeakOrder};
use serde_json::{Value, json};

use super::listening::{self, Flush, Report};
use super::section::{address, resident};
use super::speaking::{self, Cancel, Pool, Said, pieces};
use super::wire::{Begun, Boxed, WireRecogniser, WireSynthesiser, voice};
use super::{languages, pcm, terms};
use crate::http::{Net, Peer, error_code};
use crate::settings;
use crate::websocket::{self, Frame, Send};

const HOST: &str = "https://api.sarvam.ai";
const USUAL_STT: &str = "saaras:v3-realtime";
const USUAL_TTS: &str = "bulbul:v3";
const USUAL_VOICE: &str = "shubh";
/// Letters of one text message.
const MOST_TEXT: usize = 2000;
/// The socket is closed after 60 s without a message.
const IDLE: Duration = Duration::from_secs(50);
/// When nothing comes after the end of a turn for this long, there were no words: well over the 1.2 s that an
/// answer takes at P99.
const SETTLED: Duration = Duration::from_millis(2500);

/// Voices of the third generation: id, name, gender.
const VOICES: &[(&str, &str, &str)] = &[
    ("shubh", "Shubh", "male"),
    ("aditya", "Aditya", "male"),
    ("ritu", "Ritu", "female"),
    ("priya", "Priya", "female"),
    ("neha", "Neha", "female"),
    ("rahul", "Rahul", "male"),
    ("pooja", "Pooja", "female"),
    ("rohan", "Rohan", "male"),
    ("simran", "Simran", "female"),
    ("kavya", "Kavya", "female"),
    ("amit", "Amit", "male"),
    ("ishita", "Ishita", "female"),
    ("shreya", "Shreya", "female"),
    ("varun", "Varun", "male"),
    ("kabir", "Kabir", "male"),
];

fn peer(section: &settings::Speech, net: &Net) -> Result<Peer, String> {
    Peer::new(
        net,
        &section.name,
        address(section, HOST),
        section.timeout,
        &[("api-subscription-key", section.api_key.clone())],
    )
}

/// Language code of the provider. The realtime recogniser alone writes Odia `or`.
fn code(language: &str, realtime: bool) -> String {
    match language {
        "or" if !realtime => "od-IN".to_owned(),
        _ => format!("{language}-IN"),
    }
}

pub(super) fn recogniser(section: &settings::Speech, net: &Net) -> Result<WireRecogniser, String> {
    let peer = peer(section, net)?;
    let resident = resident(section, &peer.base);
    let model = section.stt_model.clone().unwrap_or_else(|| USUAL_STT.to_owned());
    let of = peer.clone();
    let languages = languages::listed(&section.stt_languages, languages::ALL);
    let begin = move |order: &ListenOrder| {
        let (path, dialect) = match model.strip_prefix("legacy:") {
            Some(model) => {
                (legacy_path(&of, model, order), Box::new(Legacy { peer: of.clone() }) as Box<dyn Boxed>)
            }
            None => (
                realtime_path(&of, &model, order),
                Box::new(Realtime { peer: of.clone(), speaking: false }) as Box<dyn Boxed>,
            ),
        };
        let hears = [std::slice::from_ref(&order.language), &order.others].concat();
        Begun { path, dialect, hears }
    };
    Ok(WireRecogniser { peer, resident, languages, begin: Box::new(begin) })
}

/// The key terms, which only the fourth generation takes.
fn key_terms(model: &str, order: &ListenOrder) -> Option<String> {
    let told = terms::fitting(&order.terms, &terms::SARVAM);
    (model.starts_with("saaras:v4") && !told.is_empty()).then(|| json!(told).to_string())
}

fn realtime_path(peer: &Peer, model: &str, order: &ListenOrder) -> String {
    let language = if order.others.is_empty() { code(&order.language, true) } else { "auto".to_owned() };
    let told = key_terms(model, order);
    let mut query = vec![
        ("model", model),
        ("language_code", &language),
        ("mode", "transcribe"),
        ("stream_type", "fast"),
        ("endpointing", "manual"),
        ("encoding", "linear16"),
        ("sample_rate", "8000"),
    ];
    query.extend(told.as_deref().map(|told| ("keyterms", told)));
    peer.base.path_and_query("/speech-to-text-realtime/ws", &query)
}

fn legacy_path(peer: &Peer, model: &str, order: &ListenOrder) -> String {
    let language = if order.others.is_empty() { code(&order.language, false) } else { "unknown".to_owned() };
    let told = key_terms(model, order);
    let mut query = vec![
        ("language-code", language.as_str()),
        ("model", model),
        ("mode", "transcribe"),
        ("sample_rate", "8000"),
        ("input_audio_codec", "pcm_s16le"),
        ("vad_signals", "true"),
        ("high_vad_sensitivity", "true"),
        ("flush_signal", "true"),
    ];
    query.extend(told.as_deref().map(|told| ("keyterms", told)));
    peer.base.path_and_query("/speech-to-text/ws", &query)
}

/// A text message as JSON; none for what is not text.
fn read_json(peer: &Peer, frame: &Frame) -> Result<Option<Value>, ProviderError> {
    match frame {
        Frame::Text(text) => websocket::json(peer, text).map(Some),
        Frame::Binary(_) => Ok(None),
    }
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// The failure of an error message; its text is not repeated.
fn refused(peer: &Peer, error: &Value) -> ProviderError {
    let code = error_code(error).unwrap_or_else(|| "no code".to_owned());
    let fault = match code.as_str() {
        "invalid_api_key_error" | "401" | "403" => ProviderFault::Forbidden,
        "rate_limit_exceeded_error" | "insufficient_quota_error" | "429" => ProviderFault::Limited,
        "invalid_request_error"
        | "unprocessable_entity_error"
        | "not_found_error"
        | "400"
        | "404"
        | "413"
        | "422" => ProviderFault::Refused,
        _ => ProviderFault::Broken,
    };
    peer.error(fault, format!("error message: {code}"))
}

/// The realtime recogniser with manual ends of utterances.
struct Realtime {
    peer: Peer,
    /// `speech_start` was said, `speech_end` not yet.
    speaking: bool,
}

impl listening::Dialect for Realtime {
    fn piece(&self) -> usize {
        480
    }

    fn sound(&mut self, samples: &[i16], out: &mut Vec<Send>) {
        if !std::mem::replace(&mut self.speaking, true) {
            out.push(Send::json(&json!({"event": "speech_start"})));
        }
        out.push(Send::json(&json!({"event": "audio_input", "audio": STANDARD.encode(pcm::bytes(samples))})));
    }

    fn turn_ended(&mut self, out: &mut Vec<Send>) -> bool {
        self.speaking = false;
        out.push(Send::json(&json!({"event": "speech_end"})));
        false
    }

    fn keep_alive(&self) -> Option<(Duration, Send)> {
        Some((Duration::from_secs(20), Send::json(&json!({"event": "ping"}))))
    }

    fn bye(&self) -> Option<Send> {
        Some(Send::json(&json!({"event": "end"})))
    }

    fn flush(&self) -> Flush {
        Flush::Mostly(SETTLED)
    }

    fn read(&mut self, frame: Frame, out: &mut Vec<Report>) -> Result<(), ProviderError> {
        let Some(message) = read_json(&self.peer, &frame)? else { return Ok(()) };
        match message["event"].as_str() {
            Some("transcript.partial") => out.push(Report::Partial(text(&message, "text"))),
            Some("transcript.final") => {
                out.push(Report::Final(text(&message, "text")));
                out.push(Report::Language(text(&message, "language")));
                // One final follows each `speech_end`; none comes before it with manual end-pointing.
                out.push(Report::Flushed);
            }
            Some("error") if message["is_fatal"] != Value::Bool(false) => {
                return Err(refused(&self.peer, &message));
            }
            Some("session.end") => {
                return Err(self.peer.error(ProviderFault::Unreachable, "the session was ended"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// The older recogniser: no partial words, a transcript for each utterance and one for a flush.
struct Legacy {
    peer: Peer,
}

impl listening::Dialect for Legacy {
    fn piece(&self) -> usize {
        800
    }

    fn sound(&mut self, samples: &[i16], out: &mut Vec<Send>) {
        let audio = json!({"data": STANDARD.encode(pcm::bytes(samples)), "encoding": "audio/wav", "sample_rate": "8000"});
        out.push(Send::json(&json!({"audio": audio})));
    }

    fn turn_ended(&mut self, out: &mut Vec<Send>) -> bool {
        out.push(Send::json(&json!({"type": "flush"})));
        false
    }

    fn flush(&self) -> Flush {
        Flush::Noticed(SETTLED)
    }

    fn read(&mut self, frame: Frame, out: &mut Vec<Report>) -> Result<(), ProviderError> {
        let Some(message) = read_json(&self.peer, &frame)? else { return Ok(()) };
        match message["type"].as_str() {
            Some("data") => {
                out.push(Report::Final(text(&message["data"], "transcript")));
                out.push(Report::Language(text(&message["data"], "language_code")));
                out.push(Report::Flushed);
            }
            // Its own voice detector heard speech: a transcript is due.
            Some("events") if message["data"]["signal_type"] == "START_SPEECH" => out.push(Report::Due),
            Some("error") => return Err(refused(&self.peer, &message["data"])),
            _ => {}
        }
        Ok(())
    }
}

pub(super) fn synthesiser(section: &settings::Speech, net: &Net) -> Result<WireSynthesiser<Voices>, String> {
    let peer = peer(section, net)?;
    let resident = resident(section, &peer.base);
    let model = section.tts_model.clone().unwrap_or_else(|| USUAL_TTS.to_owned());
    let voices = if model == USUAL_TTS { VOICES } else { &[] };
    let dialect = Voices { peer, model, voice: section.voice.clone() };
    let languages = languages::listed(&section.tts_languages, languages::ALL);
    Ok(WireSynthesiser { pool: Pool::new(dialect), resident, languages, voices })
}

pub struct Voices {
    peer: Peer,
    model: String,
    voice: Option<String>,
}

impl Voices {
    fn speaker<'a>(&'a self, order: &'a SpeakOrder) -> &'a str {
        voice(order, &self.peer.name, self.voice.as_deref(), USUAL_VOICE)
    }
}

impl speaking::Dialect for Voices {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn path(&self, _: &SpeakOrder) -> String {
        self.peer.base.path_and_query(
            "/text-to-speech/ws",
            &[("model", &self.model), ("send_completion_event", "true")],
        )
    }

    fn key(&self, order: &SpeakOrder) -> String {
        format!("{} {}", order.language, self.speaker(order))
    }

    fn begin(&self, order: &SpeakOrder, _: u64, fresh: bool) -> Vec<Send> {
        let mut messages = Vec::new();
        if fresh {
            let config = json!({
                "target_language_code": code(&order.language, false),
                "speaker": self.speaker(order),
                "model": self.model,
                "speech_sample_rate": 8000,
                "output_audio_codec": "linear16",
                "min_buffer_size": 30,
                "max_chunk_length": 150,
            });
            messages.push(Send::json(&json!({"type": "config", "data": config})));
        }
        for piece in pieces(&order.text, MOST_TEXT) {
            messages.push(Send::json(&json!({"type": "text", "data": {"text": format!("{piece} ")}})));
        }
        messages.push(Send::json(&json!({"type": "flush"})));
        messages
    }

    fn read(&self, frame: Frame, _: u64) -> Result<Said, ProviderError> {
        let Some(message) = read_json(&self.peer, &frame)? else { return Ok(Said::Other) };
        Ok(match message["type"].as_str() {
            Some("audio") => {
                let audio = message["data"]["audio"].as_str().unwrap_or_default();
                Said::Sound(STANDARD.decode(audio).map_err(|_| self.peer.broken("sound that is not base64"))?)
            }
            Some("event") if message["data"]["event_type"] == "final" => Said::Done,
            Some("error") => return Err(refused(&self.peer, &message["data"])),
            _ => Said::Other,
        })
    }

    fn cancel(&self, _: u64) -> Cancel {
        Cancel::HangUp
    }

    fn idle(&self) -> Duration {
        IDLE
    }
}

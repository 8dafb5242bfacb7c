//! ElevenLabs (docs/providers.md): Scribe realtime with manual commits, and the multi-context voices.

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
use crate::http::{Net, Peer, encoded};
use crate::settings;
use crate::websocket::{self, Frame, Send};

const HOST: &str = "https://api.elevenlabs.io";
const USUAL_STT: &str = "scribe_v2_realtime";
const USUAL_TTS: &str = "eleven_flash_v2_5";
/// Letters of one text message.
const MOST_TEXT: usize = 1000;
/// Contexts are closed after 180 s; a connection is not kept as long.
const IDLE: Duration = Duration::from_secs(120);

fn peer(section: &settings::Speech, net: &Net) -> Result<Peer, String> {
    Peer::new(
        net,
        &section.name,
        address(section, HOST),
        section.timeout,
        &[("xi-api-key", section.api_key.clone())],
    )
}

pub(super) fn recogniser(section: &settings::Speech, net: &Net) -> Result<WireRecogniser, String> {
    let peer = peer(section, net)?;
    let resident = resident(section, &peer.base);
    let model = section.stt_model.clone().unwrap_or_else(|| USUAL_STT.to_owned());
    let of = peer.clone();
    let languages = languages::listed(&section.stt_languages, languages::ALL);
    let begin = move |order: &ListenOrder| {
        let mut query =
            vec![("model_id", model.as_str()), ("audio_format", "pcm_8000"), ("commit_strategy", "manual")];
        let detects = !order.others.is_empty();
        if detects {
            query.extend([("include_language_detection", "true"), ("include_timestamps", "true")]);
        } else {
            query.push(("language_code", &order.language));
        }
        let told = terms::fitting(&order.terms, &terms::ELEVENLABS);
        query.extend(told.into_iter().map(|term| ("keyterms", term)));
        Begun {
            path: of.base.path_and_query("/v1/speech-to-text/realtime", &query),
            dialect: Box::new(Scribe { peer: of.clone(), detects }) as Box<dyn Boxed>,
            hears: [std::slice::from_ref(&order.language), &order.others].concat(),
        }
    };
    Ok(WireRecogniser { peer, resident, languages, begin: Box::new(begin) })
}

struct Scribe {
    peer: Peer,
    /// Language detection is on: then each commit comes twice, and the one with times has the language.
    detects: bool,
}

impl Scribe {
    /// The failure of a kind of message.
    fn fault(kind: &str) -> Option<ProviderFault> {
        Some(match kind {
            "auth_error" | "unaccepted_terms" | "unaccepted_terms_error" => ProviderFault::Forbidden,
            "quota_exceeded"
            | "quota_exceeded_error"
            | "rate_limited"
            | "queue_overflow"
            | "resource_exhausted" => ProviderFault::Limited,
            "session_time_limit_exceeded" => ProviderFault::Unreachable,
            "chunk_size_exceeded" | "input_error" => ProviderFault::Refused,
            "transcriber_error" | "error" => ProviderFault::Broken,
            _ => return None,
        })
    }
}

impl listening::Dialect for Scribe {
    fn piece(&self) -> usize {
        800
    }

    fn sound(&mut self, samples: &[i16], out: &mut Vec<Send>) {
        let audio = STANDARD.encode(pcm::bytes(samples));
        out.push(Send::json(&json!({"message_type": "input_audio_chunk", "audio_base_64": audio, "commit": false, "sample_rate": 8000})));
    }

    fn turn_ended(&mut self, out: &mut Vec<Send>) -> bool {
        out.push(Send::json(&json!({"message_type": "input_audio_chunk", "audio_base_64": "", "commit": true, "sample_rate": 8000})));
        false
    }

    fn flush(&self) -> Flush {
        Flush::Always
    }

    fn read(&mut self, frame: Frame, out: &mut Vec<Report>) -> Result<(), ProviderError> {
        let Frame::Text(text) = frame else { return Ok(()) };
        let message = websocket::json(&self.peer, &text)?;
        let words = || message["text"].as_str().unwrap_or_default().to_owned();
        match message["message_type"].as_str().unwrap_or_default() {
            "partial_transcript" => out.push(Report::Partial(words())),
            "committed_transcript" if !self.detects => {
                out.push(Report::Final(words()));
                out.push(Report::Flushed);
            }
            "committed_transcript_with_timestamps" if self.detects => {
                out.push(Report::Final(words()));
                out.extend(message["language_code"].as_str().map(|it| Report::Language(it.to_owned())));
                out.push(Report::Flushed);
            }
            // Too little sound for a commit: there were no words.
            "insufficient_audio_activity" | "commit_throttled" => out.push(Report::Flushed),
            kind => {
                if let Some(fault) = Self::fault(kind) {
                    return Err(self.peer.error(fault, format!("error message: {kind}")));
                }
            }
        }
        Ok(())
    }
}

pub(super) fn synthesiser(section: &settings::Speech, net: &Net) -> Result<WireSynthesiser<Voices>, String> {
    let peer = peer(section, net)?;
    let resident = resident(section, &peer.base);
    let model = section.tts_model.clone().unwrap_or_else(|| USUAL_TTS.to_owned());
    let voice = section
        .voice
        .clone()
        .ok_or_else(|| format!("{}: voice: must be the id of one of the account's voices", section.name))?;
    let usual = if model.starts_with("eleven_v3") { languages::ALL } else { languages::ENGLISH_HINDI_TAMIL };
    let languages = languages::listed(&section.tts_languages, usual);
    Ok(WireSynthesiser { pool: Pool::new(Voices { peer, model, voice }), resident, languages, voices: &[] })
}

pub struct Voices {
    peer: Peer,
    model: String,
    voice: String,
}

fn context(id: u64) -> String {
    format!("c{id}")
}

impl speaking::Dialect for Voices {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn path(&self, order: &SpeakOrder) -> String {
        let voice = encoded(voice(order, &self.peer.name, Some(&self.voice), ""));
        let path = format!("/v1/text-to-speech/{voice}/multi-stream-input");
        let query = [
            ("model_id", self.model.as_str()),
            ("output_format", "pcm_8000"),
            ("language_code", &order.language),
            ("auto_mode", "true"),
            ("inactivity_timeout", "180"),
            ("apply_text_normalization", "auto"),
        ];
        self.peer.base.path_and_query(&path, &query)
    }

    fn key(&self, order: &SpeakOrder) -> String {
        self.path(order)
    }

    fn begin(&self, order: &SpeakOrder, id: u64, _: bool) -> Vec<Send> {
        let context = context(id);
        let settings = json!({"stability": 0.5, "similarity_boost": 0.8, "speed": 1.0});
        let mut messages =
            vec![Send::json(&json!({"text": " ", "context_id": context, "voice_settings": settings}))];
        for piece in pieces(&order.text, MOST_TEXT) {
            messages.push(Send::json(&json!({"text": format!("{piece} "), "context_id": context})));
        }
        messages.push(Send::json(&json!({"context_id": context, "flush": true})));
        messages.push(Send::json(&json!({"context_id": context, "close_context": true})));
        messages
    }

    fn read(&self, frame: Frame, id: u64) -> Result<Said, ProviderError> {
        let Frame::Text(text) = frame else { return Ok(Said::Other) };
        let message = websocket::json(&self.peer, &text)?;
        if let Some(error) = message["error"].as_str() {
            let fault = if error.contains("quota") || error.contains("limit") {
                ProviderFault::Limited
            } else {
                ProviderFault::Broken
            };
            let code = message["code"].as_i64().map_or(String::new(), |code| format!(": {code}"));
            return Err(self.peer.error(fault, format!("error message{code}")));
        }
        let of = message["contextId"].as_str().or_else(|| message["context_id"].as_str());
        // The rest of a cancelled utterance.
        if of.is_some_and(|of| of != context(id)) {
            return Ok(Said::Other);
        }
        if let Some(audio) = message["audio"].as_str().filter(|audio| !audio.is_empty()) {
            return STANDARD
                .decode(audio)
                .map(Said::Sound)
                .map_err(|_| self.peer.broken("sound that is not base64"));
        }
        let last = message["isFinal"] == Value::Bool(true) || message["is_final"] == Value::Bool(true);
        Ok(if last { Said::Done } else { Said::Other })
    }

    fn cancel(&self, id: u64) -> Cancel {
        Cancel::Say(Send::json(&json!({"context_id": context(id), "close_context": true})))
    }

    fn idle(&self) -> Duration {
        IDLE
    }
}

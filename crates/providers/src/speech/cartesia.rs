//! Cartesia (docs/providers.md): the recogniser with manual finalisation, and the voices by context.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::ports::{ListenOrder, ProviderError, ProviderFault, SpeakOrder};
use serde_json::{Value, json};

use super::listening::{self, Flush, Report};
use super::section::{address, resident};
use super::speaking::{self, Cancel, Pool, Said};
use super::wire::{Begun, Boxed, WireRecogniser, WireSynthesiser, voice};
use super::{languages, pcm, terms};
use crate::http::{Net, Peer};
use crate::settings;
use crate::websocket::{self, Frame, Send};

const HOST: &str = "https://api.cartesia.ai";
const VERSION: &str = "2026-03-01";
const USUAL_STT: &str = "ink-2";
const USUAL_TTS: &str = "sonic-3.5";
/// Idle connections are closed after five minutes.
const IDLE: Duration = Duration::from_secs(240);

fn peer(section: &settings::Speech, net: &Net) -> Result<Peer, String> {
    let headers = [("x-api-key", section.api_key.clone()), ("cartesia-version", VERSION.to_owned())];
    Peer::new(net, &section.name, address(section, HOST), section.timeout, &headers)
}

/// The meaning of an error message; its text is not repeated.
fn refused(peer: &Peer, message: &Value) -> ProviderError {
    let code = message["status_code"].as_u64().or_else(|| message["error_code"].as_u64()).unwrap_or_default();
    let fault = match code {
        401..=403 => ProviderFault::Forbidden,
        429 => ProviderFault::Limited,
        400..=499 => ProviderFault::Refused,
        _ => ProviderFault::Broken,
    };
    peer.error(fault, format!("error message: {code}"))
}

pub(super) fn recogniser(section: &settings::Speech, net: &Net) -> Result<WireRecogniser, String> {
    let peer = peer(section, net)?;
    let resident = resident(section, &peer.base);
    let model = section.stt_model.clone().unwrap_or_else(|| USUAL_STT.to_owned());
    let usual = if model.contains("whisper") { languages::WHISPER } else { languages::ENGLISH };
    let languages = languages::listed(&section.stt_languages, usual);
    let of = peer.clone();
    let begin = move |order: &ListenOrder| {
        let mut query = vec![
            ("model", model.as_str()),
            ("language", order.language.as_str()),
            ("encoding", "pcm_s16le"),
            ("sample_rate", "8000"),
        ];
        let told = terms::fitting(&order.terms, &terms::CARTESIA);
        query.extend(told.into_iter().map(|term| ("keyterm", term)));
        Begun {
            path: of.base.path_and_query("/stt/websocket", &query),
            dialect: Box::new(Ink { peer: of.clone() }) as Box<dyn Boxed>,
            hears: vec![order.language.clone()],
        }
    };
    Ok(WireRecogniser { peer, resident, languages, begin: Box::new(begin) })
}

struct Ink {
    peer: Peer,
}

impl listening::Dialect for Ink {
    fn piece(&self) -> usize {
        480
    }

    fn sound(&mut self, samples: &[i16], out: &mut Vec<Send>) {
        out.push(Send::Binary(pcm::bytes(samples)));
    }

    fn turn_ended(&mut self, out: &mut Vec<Send>) -> bool {
        out.push(Send::Text("finalize".to_owned()));
        false
    }

    fn bye(&self) -> Option<Send> {
        Some(Send::Text("done".to_owned()))
    }

    fn flush(&self) -> Flush {
        Flush::Always
    }

    fn read(&mut self, frame: Frame, out: &mut Vec<Report>) -> Result<(), ProviderError> {
        let Frame::Text(text) = frame else { return Ok(()) };
        let message = websocket::json(&self.peer, &text)?;
        match message["type"].as_str() {
            Some("transcript") => {
                let words = message["text"].as_str().unwrap_or_default().to_owned();
                out.push(if message["is_final"] == Value::Bool(true) {
                    Report::Final(words)
                } else {
                    Report::Partial(words)
                });
            }
            Some("flush_done") => out.push(Report::Flushed),
            Some("done") => return Err(self.peer.error(ProviderFault::Unreachable, "the session was ended")),
            Some("error") => return Err(refused(&self.peer, &message)),
            _ => {}
        }
        Ok(())
    }
}

pub(super) fn synthesiser(section: &settings::Speech, net: &Net) -> Result<WireSynthesiser<Voices>, String> {
    let peer = peer(section, net)?;
    let resident = resident(section, &peer.base);
    let model = section.tts_model.clone().unwrap_or_else(|| USUAL_TTS.to_owned());
    let voice =
        section.voice.clone().ok_or_else(|| format!("{}: voice: must be the id of a voice", section.name))?;
    Ok(WireSynthesiser {
        pool: Pool::new(Voices { peer, model, voice }),
        resident,
        languages: languages::listed(&section.tts_languages, languages::ALL),
        voices: &[],
    })
}

pub struct Voices {
    peer: Peer,
    model: String,
    voice: String,
}

fn context(id: u64) -> String {
    format!("turn-{id}")
}

impl speaking::Dialect for Voices {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn path(&self, _: &SpeakOrder) -> String {
        self.peer.base.path_and_query("/tts/websocket", &[])
    }

    fn key(&self, _: &SpeakOrder) -> String {
        String::new()
    }

    fn begin(&self, order: &SpeakOrder, id: u64, _: bool) -> Vec<Send> {
        vec![Send::json(&json!({
            "context_id": context(id),
            "model_id": self.model,
            "transcript": order.text,
            "voice": {"mode": "id", "id": voice(order, &self.peer.name, Some(&self.voice), "")},
            "language": order.language,
            "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 8000},
            "continue": false,
            "max_buffer_delay_ms": 0,
        }))]
    }

    fn read(&self, frame: Frame, id: u64) -> Result<Said, ProviderError> {
        let Frame::Text(text) = frame else { return Ok(Said::Other) };
        let message = websocket::json(&self.peer, &text)?;
        // The rest of a cancelled utterance.
        if message["context_id"].as_str().is_some_and(|of| of != context(id)) {
            return Ok(Said::Other);
        }
        Ok(match message["type"].as_str() {
            Some("chunk") => {
                let audio = message["data"].as_str().unwrap_or_default();
                Said::Sound(STANDARD.decode(audio).map_err(|_| self.peer.broken("sound that is not base64"))?)
            }
            Some("done") => Said::Done,
            Some("error") => return Err(refused(&self.peer, &message)),
            _ => Said::Other,
        })
    }

    fn cancel(&self, id: u64) -> Cancel {
        Cancel::Say(Send::json(&json!({"context_id": context(id), "cancel": true})))
    }

    fn idle(&self) -> Duration {
        IDLE
    }
}

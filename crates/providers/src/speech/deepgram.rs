//! Deepgram (docs/providers.md): `v1/listen`, Flux (`v2/listen`) when the model's name begins with `flux`,
//! and `v1/speak`.

use std::time::Duration;

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

const HOST: &str = "https://api.deepgram.com";
const USUAL_STT: &str = "nova-3";
const USUAL_VOICE: &str = "aura-2-thalia-en";
/// Languages of agents that `language=multi` understands.
const MULTI: [&str; 2] = ["en", "hi"];
/// Letters of one text message; 2000 are said to be allowed.
const MOST_TEXT: usize = 1800;
/// A flush without anything to flush is not answered.
const SETTLED: Duration = Duration::from_millis(1000);
/// Flux decides by itself when a turn ends. When ours has ended and Flux has not ended its own within this
/// time, its newest words are taken.
const FLUX_SETTLED: Duration = Duration::from_millis(700);
/// Warm connections are used again within this time.
const IDLE: Duration = Duration::from_secs(45);

fn peer(section: &settings::Speech, net: &Net) -> Result<Peer, String> {
    Peer::new(
        net,
        &section.name,
        address(section, HOST),
        section.timeout,
        &[("authorization", format!("Token {}", section.api_key))],
    )
}

pub(super) fn recogniser(section: &settings::Speech, net: &Net) -> Result<WireRecogniser, String> {
    let peer = peer(section, net)?;
    let resident = resident(section, &peer.base);
    let model = section.stt_model.clone().unwrap_or_else(|| USUAL_STT.to_owned());
    let of = peer.clone();
    let (flux, nova_3) = (model.starts_with("flux"), model.starts_with("nova-3"));
    let usual = match model.as_str() {
        "flux-general-en" => languages::ENGLISH,
        model if model.starts_with("nova-3") => languages::NOVA_3,
        _ => languages::ENGLISH_HINDI,
    };
    let languages = languages::listed(&section.stt_languages, usual);
    let begin = move |order: &ListenOrder| {
        let told = terms::fitting(&order.terms, &terms::DEEPGRAM);
        let told = told.into_iter().map(|term| ("keyterm", term));
        let all = [std::slice::from_ref(&order.language), &order.others].concat();
        let common = [("model", model.as_str()), ("encoding", "linear16"), ("sample_rate", "8000")];
        if flux {
            let mut query = common.to_vec();
            if model.contains("multi") {
                query.extend(all.iter().map(|language| ("language_hint", language.as_str())));
            }
            query.extend(told);
            Begun {
                path: of.base.path_and_query("/v2/listen", &query),
                dialect: Box::new(Flux { peer: of.clone(), in_turn: false, ended: false, taken: None })
                    as Box<dyn Boxed>,
                hears: all,
            }
        } else {
            // Several languages at once are understood of these two only.
            let multi = all.len() > 1 && all.iter().all(|language| MULTI.contains(&language.as_str()));
            let language = if multi { "multi" } else { order.language.as_str() };
            let mut query = common.to_vec();
            query.extend([
                ("language", language),
                ("channels", "1"),
                ("interim_results", "true"),
                ("endpointing", "false"),
            ]);
            query.extend([("smart_format", "true"), ("punctuate", "true")]);
            if nova_3 {
                query.extend(told);
            }
            Begun {
                path: of.base.path_and_query("/v1/listen", &query),
                dialect: Box::new(Nova { peer: of.clone() }) as Box<dyn Boxed>,
                hears: if multi { all } else { vec![order.language.clone()] },
            }
        }
    };
    Ok(WireRecogniser { peer, resident, languages, begin: Box::new(begin) })
}

fn read_json(peer: &Peer, frame: &Frame) -> Result<Option<Value>, ProviderError> {
    match frame {
        Frame::Text(text) => websocket::json(peer, text).map(Some),
        Frame::Binary(_) => Ok(None),
    }
}

/// The languages of the words; only a multilingual model reports them.
fn languages_of(message: &Value) -> impl Iterator<Item = Report> + '_ {
    let languages = message["languages"].as_array().into_iter().flatten();
    languages.filter_map(Value::as_str).map(|language| Report::Language(language.to_owned()))
}

/// The meaning of an error message; its text is not repeated.
fn refused(peer: &Peer, message: &Value) -> ProviderError {
    let code = message["code"]
        .as_str()
        .map(str::to_owned)
        .or_else(|| error_code(message))
        .unwrap_or_else(|| "no code".to_owned());
    let fault = match code.as_str() {
        "INVALID_AUTH" | "INSUFFICIENT_PERMISSIONS" => ProviderFault::Forbidden,
        "TOO_MANY_REQUESTS" | "RATE_LIMIT" => ProviderFault::Limited,
        _ => ProviderFault::Broken,
    };
    let shown = if code.len() <= 64
        && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    {
        code
    } else {
        "no code".to_owned()
    };
    peer.error(fault, format!("error message: {shown}"))
}

/// `v1/listen` without its own end-pointing: `Finalize` ends a turn.
struct Nova {
    peer: Peer,
}

impl listening::Dialect for Nova {
    fn piece(&self) -> usize {
        320
    }

    fn sound(&mut self, samples: &[i16], out: &mut Vec<Send>) {
        out.push(Send::Binary(pcm::bytes(samples)));
    }

    fn turn_ended(&mut self, out: &mut Vec<Send>) -> bool {
        out.push(Send::json(&json!({"type": "Finalize"})));
        false
    }

    fn keep_alive(&self) -> Option<(Duration, Send)> {
        Some((Duration::from_secs(4), Send::json(&json!({"type": "KeepAlive"}))))
    }

    fn bye(&self) -> Option<Send> {
        Some(Send::json(&json!({"type": "CloseStream"})))
    }

    fn flush(&self) -> Flush {
        Flush::Mostly(SETTLED)
    }

    fn read(&mut self, frame: Frame, out: &mut Vec<Report>) -> Result<(), ProviderError> {
        let Some(message) = read_json(&self.peer, &frame)? else { return Ok(()) };
        match message["type"].as_str() {
            Some("Results") => {
                let words = message["channel"]["alternatives"][0]["transcript"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                if message["is_final"] == Value::Bool(true) {
                    out.push(Report::Final(words));
                    out.extend(languages_of(&message["channel"]["alternatives"][0]));
                    if message["from_finalize"] == Value::Bool(true) {
                        out.push(Report::Flushed);
                    }
                } else {
                    out.push(Report::Partial(words));
                }
            }
            Some("Error") => return Err(refused(&self.peer, &message)),
            _ => {}
        }
        Ok(())
    }
}

/// Flux: it ends turns by itself and has no manual end; our end is answered by its own, or by its newest words.
struct Flux {
    peer: Peer,
    in_turn: bool,
    /// A turn of its own has ended since the last of ours.
    ended: bool,
    /// Its turn whose words were taken before it ended, and how much of them (bytes).
    taken: Option<Taken>,
}

struct Taken {
    turn: i64,
    words: String,
    /// The words have been used.
    used: bool,
}

impl Flux {
    /// The words of a turn without those that were taken before.
    fn new_words(&mut self, turn: i64, words: &str) -> String {
        match &self.taken {
            Some(taken) if taken.turn == turn && taken.used => {
                words.strip_prefix(taken.words.as_str()).unwrap_or_default().trim().to_owned()
            }
            _ => words.to_owned(),
        }
    }
}

impl listening::Dialect for Flux {
    fn piece(&self) -> usize {
        640
    }

    fn sound(&mut self, samples: &[i16], out: &mut Vec<Send>) {
        out.push(Send::Binary(pcm::bytes(samples)));
    }

    fn turn_ended(&mut self, _: &mut Vec<Send>) -> bool {
        std::mem::take(&mut self.ended) && !self.in_turn
    }

    fn bye(&self) -> Option<Send> {
        Some(Send::json(&json!({"type": "CloseStream"})))
    }

    fn flush(&self) -> Flush {
        Flush::Never(FLUX_SETTLED)
    }

    fn partial_taken(&mut self) {
        if let Some(taken) = &mut self.taken {
            taken.used = true;
        }
    }

    fn read(&mut self, frame: Frame, out: &mut Vec<Report>) -> Result<(), ProviderError> {
        let Some(message) = read_json(&self.peer, &frame)? else { return Ok(()) };
        match message["type"].as_str() {
            Some("TurnInfo") => {}
            Some("Error") => return Err(refused(&self.peer, &message)),
            _ => return Ok(()),
        }
        let turn = message["turn_index"].as_i64().unwrap_or_default();
        let whole = message["transcript"].as_str().unwrap_or_default();
        let words = self.new_words(turn, whole);
        if message["event"] == "EndOfTurn" {
            (self.in_turn, self.ended) = (false, true);
            self.taken = None;
            out.push(Report::Final(words.clone()));
            out.extend(languages_of(&message));
            if !words.is_empty() {
                out.push(Report::Flushed);
            }
        } else {
            self.in_turn = true;
            let used = self.taken.as_ref().is_some_and(|taken| taken.turn == turn && taken.used);
            if !used {
                self.taken = Some(Taken { turn, words: whole.to_owned(), used: false });
            }
            out.push(Report::Partial(words));
        }
        Ok(())
    }
}

pub(super) fn synthesiser(section: &settings::Speech, net: &Net) -> Result<WireSynthesiser<Voices>, String> {
    let peer = peer(section, net)?;
    let resident = resident(section, &peer.base);
    // A voice is a model here.
    let voice = section.voice.clone().or_else(|| section.tts_model.clone());
    let dialect = Voices { peer, voice };
    Ok(WireSynthesiser {
        pool: Pool::new(dialect),
        resident,
        languages: languages::listed(&section.tts_languages, languages::ENGLISH),
        voices: &[("aura-2-thalia-en", "Thalia", "female")],
    })
}

pub struct Voices {
    peer: Peer,
    voice: Option<String>,
}

impl speaking::Dialect for Voices {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn path(&self, order: &SpeakOrder) -> String {
        let model = voice(order, &self.peer.name, self.voice.as_deref(), USUAL_VOICE);
        self.peer.base.path_and_query(
            "/v1/speak",
            &[("model", model), ("encoding", "linear16"), ("sample_rate", "8000")],
        )
    }

    fn key(&self, order: &SpeakOrder) -> String {
        self.path(order)
    }

    fn begin(&self, order: &SpeakOrder, _: u64, _: bool) -> Vec<Send> {
        let speak = |piece: &str| Send::json(&json!({"type": "Speak", "text": piece}));
        let mut messages: Vec<Send> = pieces(&order.text, MOST_TEXT).into_iter().map(speak).collect();
        messages.push(Send::json(&json!({"type": "Flush"})));
        messages
    }

    fn read(&self, frame: Frame, _: u64) -> Result<Said, ProviderError> {
        let text = match frame {
            Frame::Binary(bytes) => return Ok(Said::Sound(bytes.to_vec())),
            Frame::Text(text) => text,
        };
        let message = websocket::json(&self.peer, &text)?;
        Ok(match message["type"].as_str() {
            Some("Flushed") => Said::Done,
            Some("Cleared") => Said::Cleared,
            Some("Error") => return Err(refused(&self.peer, &message)),
            _ => Said::Other,
        })
    }

    fn cancel(&self, _: u64) -> Cancel {
        Cancel::SayAndWait(Send::json(&json!({"type": "Clear"})))
    }

    fn idle(&self) -> Duration {
        IDLE
    }
}

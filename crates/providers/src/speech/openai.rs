//! OpenAI-compatible servers (docs/providers.md): transcription of one turn at a time, and speech as a
//! stream.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use domain::ports::{
    Answer, Heard, Hints, ListenOrder, Listening, ProviderError, ProviderFault, Recogniser, SAMPLE_RATE,
    SpeakOrder, Speaking, Synthesiser,
};
use domain::speech::language_of;
use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, mpsc};
use tokio::task::JoinHandle;

use super::languages;
use super::pcm::{self, Reader};
use super::resample::{is_usual, resampled};
use super::section::{address, resident};
use super::speaking::pieces;
use super::wire::voice;
use crate::http::{Body, Net, Peer, status_error};
use crate::settings;

const HOST: &str = "https://api.openai.com/v1";
const USUAL_STT: &str = "whisper-1";
const USUAL_TTS: &str = "tts-1";
const USUAL_VOICE: &str = "alloy";
/// Samples a second of `pcm` answers, unless the answer says otherwise.
const PCM_RATE: u32 = 24_000;
/// Samples a second of what is transcribed.
const STT_RATE: u32 = 16_000;
/// Longest turn that is kept, samples: a minute. The oldest is dropped beyond it, and counted.
const KEPT: usize = 60 * SAMPLE_RATE as usize;
/// Letters of one request; 4096 are allowed.
const MOST_TEXT: usize = 3000;
/// Largest answer of a transcription, bytes.
const MOST_ANSWER: usize = 1 << 20;
/// Above this a piece is probably silence, if its words are also improbable.
const NO_SPEECH: f64 = 0.6;
const IMPROBABLE: f64 = -1.0;

fn peer(section: &settings::Speech, net: &Net) -> Result<Peer, String> {
    let key = section.api_key.as_str();
    let credentials = (!key.is_empty()).then(|| ("authorization", format!("Bearer {key}")));
    Peer::new(net, &section.name, address(section, HOST), section.timeout, credentials.as_slice())
}

/// Lists the models: checks the connection and the credentials.
pub(crate) async fn list_models(peer: &Peer) -> Result<String, ProviderError> {
    let answer = peer.ask(Method::GET, &peer.base.path_and_query("/models", &[]), &[], Bytes::new()).await?;
    if matches!(answer.status(), StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) {
        return Ok("reached; it has no list of models".to_owned());
    }
    let body = answer.accepted().await?.whole(MOST_ANSWER).await?;
    let count =
        serde_json::from_slice::<Value>(&body).ok().and_then(|body| body["data"].as_array().map(Vec::len));
    Ok(count.map_or("reached".to_owned(), |count| format!("reached; {count} models")))
}

/// `/audio/transcriptions`: a turn is posted when it has ended. There are no partial words.
pub struct Transcriptions(Arc<Transcriber>);

/// Words, and their language as the service names it.
type Transcript = (String, Option<&'static str>);

struct Transcriber {
    peer: Peer,
    model: String,
    resident: bool,
    languages: Vec<String>,
    /// The server refused `verbose_json`; plain JSON is asked for.
    plain: AtomicBool,
}

impl fmt::Debug for Transcriptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Transcriptions").field(&self.0.peer).finish()
    }
}

impl Transcriptions {
    /// # Errors
    /// The setting that is wrong and why; never a secret.
    pub fn new(section: &settings::Speech, net: &Net) -> Result<Self, String> {
        let peer = peer(section, net)?;
        let model = section.stt_model.clone().unwrap_or_else(|| USUAL_STT.to_owned());
        Ok(Self(Arc::new(Transcriber {
            resident: resident(section, &peer.base),
            languages: languages::listed(&section.stt_languages, languages::WHISPER),
            peer,
            model,
            plain: AtomicBool::new(false),
        })))
    }
}

impl Recogniser for Transcriptions {
    fn name(&self) -> &str {
        &self.0.peer.name
    }

    fn resident(&self) -> bool {
        self.0.resident
    }

    fn speaks(&self, language: &str) -> bool {
        self.0.languages.iter().any(|known| known == language)
    }

    fn listen(&self, order: ListenOrder) -> Answer<'_, Result<Box<dyn Listening>, ProviderError>> {
        let (turns, waiting) = mpsc::unbounded_channel();
        let (reports, answers) = mpsc::channel(8);
        let mut hears = order.others;
        hears.retain(|other| *other != order.language && self.speaks(other));
        // One that may be of several languages is not named.
        let language = hears.is_empty().then(|| order.language.clone());
        hears.push(order.language);
        let worker = tokio::spawn(transcribe(self.0.clone(), language, waiting, reports));
        let listening = Turnwise {
            hears,
            sound: Mutex::default(),
            turns,
            answers: AsyncMutex::new(answers),
            worker,
            peer: self.0.peer.clone(),
        };
        Box::pin(std::future::ready(Ok(Box::new(listening) as Box<dyn Listening>)))
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(list_models(&self.0.peer))
    }
}

struct Turnwise {
    /// Since the newest end of a turn.
    sound: Mutex<Vec<i16>>,
    turns: mpsc::UnboundedSender<Vec<i16>>,
    answers: AsyncMutex<mpsc::Receiver<Result<Heard, ProviderError>>>,
    worker: JoinHandle<()>,
    peer: Peer,
    /// The languages that are understood.
    hears: Vec<String>,
}

impl Drop for Turnwise {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

impl Listening for Turnwise {
    fn feed(&self, samples: &[i16]) {
        let mut sound = self.sound.lock().unwrap_or_else(PoisonError::into_inner);
        sound.extend_from_slice(samples);
        // A second at once, so that moving the rest is rare.
        if sound.len() > KEPT + SAMPLE_RATE as usize {
            let excess = sound.len() - KEPT;
            sound.drain(..excess);
            self.peer.net.count_dropped(excess);
        }
    }

    fn expect(&self, _: Hints) {}

    fn follow(&self, language: &str) -> bool {
        self.hears.iter().any(|known| known == language)
    }

    fn turn_ended(&self) {
        let sound = std::mem::take(&mut *self.sound.lock().unwrap_or_else(PoisonError::into_inner));
        // The worker is gone only after a failure that `next` has returned.
        let _ = self.turns.send(sound);
    }

    fn next(&self) -> Answer<'_, Result<Heard, ProviderError>> {
        Box::pin(async move {
            let ended = || self.peer.error(ProviderFault::Unreachable, "the listening has ended");
            self.answers.lock().await.recv().await.unwrap_or_else(|| Err(ended()))
        })
    }
}

/// Answers turns in their order until one fails.
async fn transcribe(
    service: Arc<Transcriber>,
    language: Option<String>,
    mut turns: mpsc::UnboundedReceiver<Vec<i16>>,
    reports: mpsc::Sender<Result<Heard, ProviderError>>,
) {
    while let Some(sound) = turns.recv().await {
        let heard = match pcm::spoken_part(&sound) {
            [] => Ok((String::new(), None)),
            spoken => service.ask(spoken, language.as_deref()).await,
        };
        let failed = heard.is_err();
        let (heard, told) = match heard {
            Ok((words, told)) => (Ok(words), told.filter(|_| language.is_none())),
            Err(error) => (Err(error), None),
        };
        if let Some(told) = told
            && reports.send(Ok(Heard::Language(told.to_owned()))).await.is_err()
        {
            return;
        }
        if reports.send(heard.map(Heard::Turn)).await.is_err() || failed {
            return;
        }
    }
}

impl Transcriber {
    /// The words, and the language that the service names.
    async fn ask(&self, sound: &[i16], language: Option<&str>) -> Result<Transcript, ProviderError> {
        let file = pcm::wav(&resampled(sound, SAMPLE_RATE, STT_RATE), STT_RATE)
            .map_err(|error| self.peer.error(ProviderFault::Refused, error.to_string()))?;
        let plain = self.plain.load(Ordering::Relaxed);
        let answer = self.post(&file, language, plain).await?;
        if !plain && matches!(answer.status(), StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY) {
            let answer = self.post(&file, language, true).await?.accepted().await?;
            self.plain.store(true, Ordering::Relaxed);
            return self.words(answer).await;
        }
        self.words(answer.accepted().await?).await
    }

    async fn post(&self, file: &[u8], language: Option<&str>, plain: bool) -> Result<Body, ProviderError> {
        const BOUNDARY: &str = "dastak-form-7d0f2c1b9a";
        let format = if plain { "json" } else { "verbose_json" };
        let mut body = Vec::with_capacity(file.len() + 1024);
        let fields = [
            Some(("model", self.model.as_str())),
            language.map(|language| ("language", language)),
            Some(("response_format", format)),
            Some(("temperature", "0")),
        ];
        for (name, value) in fields.into_iter().flatten() {
            body.extend_from_slice(
                format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
                    .as_bytes(),
            );
        }
        let head = format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"turn.wav\"\r\ncontent-type: audio/wav\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(file);
        body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        let headers = [(CONTENT_TYPE, format!("multipart/form-data; boundary={BOUNDARY}"))];
        let path = self.peer.base.path_and_query("/audio/transcriptions", &[]);
        self.peer.ask(Method::POST, &path, &headers, Bytes::from(body)).await
    }

    async fn words(&self, answer: Body) -> Result<Transcript, ProviderError> {
        let answer = answer.whole(MOST_ANSWER).await?;
        let words = words_in(&self.peer, &answer)?;
        let told = serde_json::from_slice::<Value>(&answer).ok();
        let told =
            told.and_then(|told| language_of(told["language"].as_str()?)).filter(|_| !words.is_empty());
        Ok((words, told))
    }
}

/// The words in an answer, without those that the service invented for silence.
pub(super) fn words_in(peer: &Peer, answer: &[u8]) -> Result<String, ProviderError> {
    let body: Value =
        serde_json::from_slice(answer).map_err(|_| peer.broken("an answer that is not JSON"))?;
    let Some(segments) = body["segments"].as_array().filter(|segments| !segments.is_empty()) else {
        let text = body["text"].as_str().ok_or_else(|| peer.broken("an answer without text"))?;
        return Ok(text.trim().to_owned());
    };
    let invented = |segment: &&Value| {
        let number = |key: &str| segment[key].as_f64();
        number("no_speech_prob").is_some_and(|probability| probability > NO_SPEECH)
            && number("avg_logprob").is_some_and(|sure| sure < IMPROBABLE)
    };
    let words: Vec<&str> = segments
        .iter()
        .filter(|segment| !invented(segment))
        .filter_map(|segment| segment["text"].as_str())
        .map(str::trim)
        .collect();
    Ok(words.join(" ").trim().to_owned())
}

/// `/audio/speech`: raw samples as they are made.
#[derive(Clone)]
pub struct Speech {
    peer: Peer,
    model: String,
    voice: Option<String>,
    resident: bool,
    languages: Vec<String>,
}

impl fmt::Debug for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Speech")
            .field("peer", &self.peer)
            .field("resident", &self.resident)
            .finish_non_exhaustive()
    }
}

impl Speech {
    /// # Errors
    /// The setting that is wrong and why; never a secret.
    pub fn new(section: &settings::Speech, net: &Net) -> Result<Self, String> {
        let peer = peer(section, net)?;
        let model = section.tts_model.clone().unwrap_or_else(|| USUAL_TTS.to_owned());
        Ok(Self {
            resident: resident(section, &peer.base),
            languages: languages::listed(&section.tts_languages, languages::ALL),
            peer,
            model,
            voice: section.voice.clone(),
        })
    }

    async fn ask(&self, text: &str, voice: &str) -> Result<Body, ProviderError> {
        let body = json!({"model": self.model, "input": text, "voice": voice, "response_format": "pcm"});
        let answer = self.peer.post_json(&self.peer.base.path_and_query("/audio/speech", &[]), &body).await?;
        if answer.status().is_success() && answer.content_type().contains("json") {
            return Err(status_error(&self.peer.name, StatusCode::BAD_GATEWAY, &[]));
        }
        answer.accepted().await
    }
}

impl Synthesiser for Speech {
    fn name(&self) -> &str {
        &self.peer.name
    }

    fn resident(&self) -> bool {
        self.resident
    }

    fn speaks(&self, language: &str) -> bool {
        self.languages.iter().any(|known| known == language)
    }

    fn voices(&self) -> Vec<(String, String, String)> {
        Vec::new()
    }

    fn speak(&self, order: SpeakOrder) -> Answer<'_, Result<Box<dyn Speaking>, ProviderError>> {
        Box::pin(async move {
            let voice = voice(&order, &self.peer.name, self.voice.as_deref(), USUAL_VOICE).to_owned();
            let mut texts: Vec<String> =
                pieces(&order.text, MOST_TEXT).into_iter().map(str::to_owned).collect();
            texts.reverse();
            let Some(first) = texts.pop() else {
                return Ok(Box::new(Reading {
                    of: self.clone(),
                    voice,
                    texts,
                    body: None,
                    sound: Reader::new(PCM_RATE),
                }) as Box<dyn Speaking>);
            };
            let body = self.ask(&first, &voice).await?;
            let sound = Reader::new(rate(&body));
            Ok(Box::new(Reading { of: self.clone(), voice, texts, body: Some(body), sound })
                as Box<dyn Speaking>)
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(list_models(&self.peer))
    }
}

/// The rate that the content type names, such as `audio/pcm;rate=24000`.
fn rate(body: &Body) -> u32 {
    let kind = body.content_type();
    let named = kind
        .split(';')
        .filter_map(|part| part.trim().strip_prefix("rate="))
        .find_map(|rate| rate.trim().parse().ok());
    named.filter(|rate| is_usual(*rate)).unwrap_or(PCM_RATE)
}

struct Reading {
    of: Speech,
    voice: String,
    /// The remaining requests, the last first.
    texts: Vec<String>,
    body: Option<Body>,
    sound: Reader,
}

impl Reading {
    async fn read(&mut self) -> Result<Option<Vec<i16>>, ProviderError> {
        loop {
            let Some(body) = &mut self.body else { return Ok(None) };
            let samples = match body.next().await? {
                Some(bytes) => self.sound.push(&bytes),
                None => {
                    let last = self.sound.finish();
                    self.body = None;
                    if let Some(text) = self.texts.pop() {
                        let body = self.of.ask(&text, &self.voice).await?;
                        self.sound = Reader::new(rate(&body));
                        self.body = Some(body);
                    }
                    last
                }
            };
            if !samples.is_empty() {
                return Ok(Some(samples));
            }
        }
    }
}

impl Speaking for Reading {
    fn next(&mut self) -> Answer<'_, Option<Result<Vec<i16>, ProviderError>>> {
        Box::pin(async move {
            let piece = self.read().await;
            if piece.is_err() {
                self.body = None;
            }
            piece.transpose()
        })
    }
}

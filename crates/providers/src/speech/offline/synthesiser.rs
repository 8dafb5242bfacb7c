//! Text to speech by `espeak-ng`: one process per sentence. It gets the text on its standard input, not on the command
//! line, where other users could read it, and its sound is streamed.

use std::sync::Arc;

use domain::ports::{Answer, ProviderError, ProviderFault, SpeakOrder, Speaking, Synthesiser};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::AbortHandle;

use super::cache::{Cache, Sentence};
use super::program::{command, failed, judge, start, within};
use super::sound::Converter;
use super::{NAME, Settings};

const PACKAGE: &str = "espeak-ng";
/// Words a minute: a little slower than the program's own 175, for a telephone.
const PACE: &str = "155";
/// Most characters that are spoken at once; the rest is truncated. About five minutes of speech.
const LONGEST: usize = 4000;
/// Samples of a piece that comes out of the cache: 200 ms.
const PIECE: usize = 1600;
const READ: usize = 16 * 1024;

/// The languages of agents and their voices: `en`, because `en-gb` takes no variants.
const LANGUAGES: [(&str, &str); 11] = [
    ("en", "en"),
    ("hi", "hi"),
    ("bn", "bn"),
    ("gu", "gu"),
    ("kn", "kn"),
    ("ml", "ml"),
    ("mr", "mr"),
    ("or", "or"),
    ("pa", "pa"),
    ("ta", "ta"),
    ("te", "te"),
];
const FEMALE: &str = "+f3";
const MALE: &str = "+m3";

/// The synthesiser. Cheap to clone; clones share the limit and the cache.
#[derive(Clone)]
pub struct OfflineSynthesiser(Arc<Shared>);

struct Shared {
    settings: Settings,
    places: Arc<Semaphore>,
    cache: Cache,
}

impl OfflineSynthesiser {
    /// Nothing is started before the first sentence.
    pub fn new(settings: Settings) -> Self {
        let places = Arc::new(Semaphore::new(settings.voices_at_once.max(1)));
        let cache = Cache::new(settings.cache_bytes);
        Self(Arc::new(Shared { settings, places, cache }))
    }

    async fn begin(&self, order: SpeakOrder) -> Result<Box<dyn Speaking>, ProviderError> {
        let shared = &self.0;
        let Some((code, voice)) = LANGUAGES.iter().find(|(code, _)| *code == order.language) else {
            return Err(failed(
                ProviderFault::Refused,
                format!("no voice speaks the language `{}`", order.language),
            ));
        };
        let variant = if order.voice == "offline-male" { MALE } else { FEMALE };
        let text = speakable(&order.text);
        if !text.chars().any(char::is_alphanumeric) {
            return Ok(Box::new(Ready { samples: Arc::default(), at: 0 }));
        }
        let sentence: Sentence = (code, variant, text);
        if let Some(samples) = shared.cache.get(&sentence) {
            return Ok(Box::new(Ready { samples, at: 0 }));
        }
        let place = within(
            shared.settings.timeout,
            "waiting for a free voice",
            shared.places.clone().acquire_owned(),
        )
        .await?;
        let place = place.map_err(|_| failed(ProviderFault::Broken, "the voices are shut down"))?;
        let mut command = command(&shared.settings.espeak);
        command.args(["--stdout", "--stdin", "-b", "1", "-s", PACE, "-v", &format!("{voice}{variant}")]);
        let child = start(command, PACKAGE)?;
        let (pieces, ready) = mpsc::unbounded_channel();
        let work = Work { synthesiser: self.clone(), child, sentence, pieces, _place: place };
        let task = tokio::spawn(work.run()).abort_handle();
        Ok(Box::new(Coming { ready, task }))
    }
}

/// The text without what the program would take as a command, and of bounded length.
fn speakable(text: &str) -> String {
    text.replace("[[", "[ [").replace(['\0', '<', '>'], " ").trim().chars().take(LONGEST).collect()
}

/// A sentence being made. It runs on a task of its own, so that the program ends soon, however slowly the
/// sound is taken; its output is bounded by the text.
struct Work {
    synthesiser: OfflineSynthesiser,
    child: Child,
    sentence: Sentence,
    pieces: mpsc::UnboundedSender<Result<Vec<i16>, ProviderError>>,
    _place: OwnedSemaphorePermit,
}

impl Work {
    async fn run(mut self) {
        match self.speak().await {
            Ok(samples) => self.synthesiser.0.cache.put(self.sentence, samples),
            Err(error) => _ = self.pieces.send(Err(error)),
        }
    }

    async fn speak(&mut self) -> Result<Vec<i16>, ProviderError> {
        let limit = self.synthesiser.0.settings.timeout;
        let broken = |what: &str| failed(ProviderFault::Broken, format!("espeak-ng {what}"));
        let (Some(mut input), Some(mut output)) = (self.child.stdin.take(), self.child.stdout.take()) else {
            return Err(broken("has no pipes"));
        };
        let text = self.sentence.2.clone();
        let write = async move {
            // A program that does not read its input shows it by its exit status.
            _ = input.write_all(text.as_bytes()).await;
            _ = input.shutdown().await;
        };
        within(limit, "espeak-ng taking its text", write).await?;
        let mut converter = Converter::new();
        let mut all = Vec::new();
        let mut bytes = vec![0; READ];
        loop {
            let read = within(limit, "espeak-ng", output.read(&mut bytes))
                .await?
                .map_err(|_| broken("broke its pipe"))?;
            let samples = if read == 0 {
                converter.finish()
            } else {
                converter.push(&bytes[..read]).map_err(|_| broken("wrote something that is no 16-bit WAV"))?
            };
            all.extend_from_slice(&samples);
            if !samples.is_empty() && self.pieces.send(Ok(samples)).is_err() {
                // The caller has gone: the child is killed with this task.
                return Ok(Vec::new());
            }
            if read == 0 {
                break;
            }
        }
        let status = within(limit, "the end of espeak-ng", self.child.wait())
            .await?
            .map_err(|_| broken("was lost"))?;
        judge("espeak-ng", status)?;
        if all.is_empty() { Err(broken("made no sound")) } else { Ok(all) }
    }
}

/// Sound that is being made.
struct Coming {
    ready: mpsc::UnboundedReceiver<Result<Vec<i16>, ProviderError>>,
    task: AbortHandle,
}

impl Speaking for Coming {
    fn next(&mut self) -> Answer<'_, Option<Result<Vec<i16>, ProviderError>>> {
        Box::pin(self.ready.recv())
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sound that was made before.
struct Ready {
    samples: Arc<[i16]>,
    at: usize,
}

impl Speaking for Ready {
    fn next(&mut self) -> Answer<'_, Option<Result<Vec<i16>, ProviderError>>> {
        let rest = self.samples.get(self.at..).unwrap_or_default();
        let piece = &rest[..rest.len().min(PIECE)];
        self.at += piece.len();
        Box::pin(std::future::ready((!piece.is_empty()).then(|| Ok(piece.to_vec()))))
    }
}

impl Synthesiser for OfflineSynthesiser {
    fn name(&self) -> &str {
        NAME
    }

    fn resident(&self) -> bool {
        true
    }

    fn speaks(&self, language: &str) -> bool {
        LANGUAGES.iter().any(|(code, _)| *code == language)
    }

    fn voices(&self) -> Vec<(String, String, String)> {
        Vec::new()
    }

    fn speak(&self, order: SpeakOrder) -> Answer<'_, Result<Box<dyn Speaking>, ProviderError>> {
        Box::pin(self.begin(order))
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(async {
            let mut command = command(&self.0.settings.espeak);
            command.arg("--version");
            let child = start(command, PACKAGE)?;
            let output = within(self.0.settings.timeout, "espeak-ng", child.wait_with_output()).await?;
            let output = output.map_err(|_| failed(ProviderFault::Broken, "espeak-ng broke its pipe"))?;
            judge("espeak-ng", output.status)?;
            let version = String::from_utf8_lossy(&output.stdout);
            let version = version
                .split(['\n', '\r'])
                .next()
                .unwrap_or_default()
                .split("Data")
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned();
            Ok(format!(
                "{version}; {} languages, {} voices at once",
                LANGUAGES.len(),
                self.0.settings.voices_at_once.max(1)
            ))
        })
    }
}

//! Speech to text by `pocketsphinx`: English, and only expected phrases. A turn is buffered while it is spoken; when it
//! ends, its pieces of speech go through one process with the current grammar. The program cannot stream (its
//! normalisation needs the whole sound), so there are no partial results.

use std::collections::VecDeque;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::ports::{
    Answer, Heard, Hints, ListenOrder, Listening, ProviderError, ProviderFault, Recogniser, SAMPLE_RATE,
};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;

use super::dictionary::{self, is_noise_word};
use super::grammar::Grammar;
use super::program::{command, failed, judge, missing, start, within};
use super::segment::pieces;
use super::{NAME, Settings};

const PACKAGE: &str = "pocketsphinx pocketsphinx-en-us";
/// Samples of a turn that are kept: the last 30 s. Earlier sound is too old to be an answer.
const KEPT: usize = 30 * SAMPLE_RATE as usize;
/// Turns that may be queued in one conversation. More means that the machine is far too slow, and the oldest sound is
/// not worth recognising.
const TURNS_WAITING: usize = 8;

/// The recogniser. Cheap to clone; clones share the limit and the dictionary.
#[derive(Clone)]
pub struct OfflineRecogniser(Arc<Shared>);

struct Shared {
    settings: Settings,
    places: Semaphore,
    /// The model's dictionary, read when it is first needed.
    dictionary: Mutex<Option<Arc<str>>>,
}

impl OfflineRecogniser {
    /// Nothing is read or started before the first turn.
    pub fn new(settings: Settings) -> Self {
        let places = Semaphore::new(settings.segments_at_once.max(1));
        Self(Arc::new(Shared { settings, places, dictionary: Mutex::new(None) }))
    }
}

impl Shared {
    fn dictionary(&self) -> Result<Arc<str>, ProviderError> {
        let mut kept = self.dictionary.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = &*kept {
            return Ok(text.clone());
        }
        let path = self.settings.model.join("cmudict-en-us.dict");
        let text: Arc<str> =
            std::fs::read_to_string(&path).map_err(|_| missing(&path.display().to_string(), PACKAGE))?.into();
        *kept = Some(text.clone());
        Ok(text)
    }
}

/// A turn to be recognised.
struct Turn {
    sound: Vec<i16>,
    hints: Arc<Hints>,
}

/// What is being heard: the sound of the turn so far, and what is expected.
#[derive(Default)]
struct Ear {
    sound: VecDeque<i16>,
    hints: Arc<Hints>,
}

struct Conversation {
    ear: Mutex<Ear>,
    turns: mpsc::Sender<Turn>,
    heard: tokio::sync::Mutex<mpsc::UnboundedReceiver<Result<Heard, ProviderError>>>,
    /// Answers of turns that did not fit into the queue.
    skipped: mpsc::UnboundedSender<Result<Heard, ProviderError>>,
    worker: AbortHandle,
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

impl Listening for Conversation {
    fn feed(&self, samples: &[i16]) {
        let mut ear = self.ear.lock().unwrap_or_else(PoisonError::into_inner);
        ear.sound.extend(samples);
        let surplus = ear.sound.len().saturating_sub(KEPT);
        ear.sound.drain(..surplus);
    }

    fn expect(&self, hints: Hints) {
        self.ear.lock().unwrap_or_else(PoisonError::into_inner).hints = Arc::new(hints);
    }

    fn turn_ended(&self) {
        let (sound, hints) = {
            let mut ear = self.ear.lock().unwrap_or_else(PoisonError::into_inner);
            (std::mem::take(&mut ear.sound), ear.hints.clone())
        };
        let answer = match self.turns.try_send(Turn { sound: sound.into(), hints }) {
            Ok(()) => return,
            // Every turn is answered once. A turn for which there is no room is answered without words.
            Err(TrySendError::Full(_)) => Ok(Heard::Turn(String::new())),
            Err(TrySendError::Closed(_)) => Err(failed(ProviderFault::Broken, "the listening has ended")),
        };
        _ = self.skipped.send(answer);
    }

    fn next(&self) -> Answer<'_, Result<Heard, ProviderError>> {
        Box::pin(async {
            let mut heard = self.heard.lock().await;
            heard
                .recv()
                .await
                .unwrap_or_else(|| Err(failed(ProviderFault::Broken, "the listening has ended")))
        })
    }
}

/// Recognises the turns of one conversation, one after the other.
struct Worker {
    shared: Arc<Shared>,
    folder: Arc<Folder>,
    /// The grammar whose files are in the folder, and what it was made of.
    grammar: Option<(Arc<Hints>, Arc<Grammar>)>,
}

impl Worker {
    async fn run(
        mut self,
        mut turns: mpsc::Receiver<Turn>,
        heard: mpsc::UnboundedSender<Result<Heard, ProviderError>>,
    ) {
        while let Some(turn) = turns.recv().await {
            let words = self.recognise(turn).await;
            let failed = words.is_err();
            if heard.send(words.map(Heard::Turn)).is_err() || failed {
                return;
            }
        }
    }

    async fn recognise(&mut self, turn: Turn) -> Result<String, ProviderError> {
        let limit = self.shared.settings.timeout;
        let (shared, folder) = (self.shared.clone(), self.folder.clone());
        let known = self.grammar.take().filter(|(hints, _)| *hints == turn.hints);
        let prepare = tokio::task::spawn_blocking(move || prepare(&shared, &folder, known, turn));
        let (grammar, spoken) = within(limit, "preparing a turn", prepare)
            .await?
            .map_err(|_| failed(ProviderFault::Broken, "a turn was lost"))??;
        let words = grammar.1.clone();
        self.grammar = Some(grammar);
        if spoken == 0 {
            return Ok(String::new());
        }
        let _place = within(limit, "waiting for a free recogniser", self.shared.places.acquire()).await?;
        let answer = self.decode(spoken).await;
        self.folder.forget(spoken);
        Ok(read(&answer?, &words))
    }

    async fn decode(&self, spoken: usize) -> Result<String, ProviderError> {
        let (settings, folder) = (&self.shared.settings, &self.folder.0);
        let mut command = command(&settings.pocketsphinx);
        command.arg("-hmm").arg(settings.model.join("en-us"));
        command.arg("-dict").arg(folder.join("words")).arg("-fsg").arg(folder.join("graph"));
        command.arg("-cepdir").arg(folder).args([
            "-cepext",
            ".raw",
            "-adcin",
            "yes",
            "-ctl",
            "/dev/stdin",
            "-hyp",
            "/dev/stdout",
            "-logfn",
            "/dev/null",
        ]);
        command.args(["-remove_noise", "no", "-remove_silence", "no", "-cmn", "batch"]);
        let mut child = start(command, PACKAGE)?;
        let list: String = (0..spoken).map(|piece| format!("{piece}\n")).collect();
        if let Some(mut input) = child.stdin.take() {
            // A program that does not read its input shows it by its exit status.
            _ = input.write_all(list.as_bytes()).await;
        }
        let output = within(settings.timeout, "pocketsphinx", child.wait_with_output()).await?;
        let output = output.map_err(|_| failed(ProviderFault::Broken, "pocketsphinx broke its pipe"))?;
        judge("pocketsphinx", output.status)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Writes what the program reads: the grammar unless it is there already, and the pieces of speech. Gives the
/// number of pieces.
fn prepare(
    shared: &Shared,
    folder: &Folder,
    known: Option<(Arc<Hints>, Arc<Grammar>)>,
    turn: Turn,
) -> Result<((Arc<Hints>, Arc<Grammar>), usize), ProviderError> {
    let unwritable =
        |error: io::Error| failed(ProviderFault::Broken, format!("the temporary folder: {error}"));
    let grammar = match known {
        Some(known) => known,
        None => {
            let grammar = Grammar::of(&turn.hints);
            std::fs::write(folder.0.join("words"), dictionary::of(&grammar.words, &shared.dictionary()?))
                .map_err(unwritable)?;
            std::fs::write(folder.0.join("graph"), &grammar.graph).map_err(unwritable)?;
            (turn.hints, Arc::new(grammar))
        }
    };
    let pieces = pieces(&turn.sound);
    for (at, piece) in pieces.iter().enumerate() {
        std::fs::write(folder.piece(at), piece).map_err(unwritable)?;
    }
    Ok((grammar, pieces.len()))
}

/// The words in the program's answer, one line `words (piece score)` per piece. A piece that matched only the
/// path for any sound has none.
fn read(answer: &str, grammar: &Grammar) -> String {
    let mut all: Vec<String> = Vec::new();
    for line in answer.lines() {
        let said = line.rsplit_once('(').map_or("", |(said, _)| said).trim();
        let words: Vec<&str> =
            said.split_whitespace().map(|word| word.split('(').next().unwrap_or(word)).collect();
        if !words.is_empty() && !words.iter().any(|word| is_noise_word(word)) {
            all.push(grammar.written(&words.join(" ")));
        }
    }
    all.join(" ")
}

/// A folder of one conversation, readable only by this user and removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let path = std::env::temp_dir().join(format!(
                "dastak-ear-{}-{}",
                std::process::id(),
                NEXT.fetch_add(1, Ordering::Relaxed)
            ));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                // Left by a killed process that had our process id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn piece(&self, at: usize) -> PathBuf {
        self.0.join(format!("{at}.raw"))
    }

    /// Deletes what a person said as soon as it is not needed.
    fn forget(&self, pieces: usize) {
        for at in 0..pieces {
            _ = std::fs::remove_file(self.piece(at));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

fn readable(path: &Path) -> Result<(), ProviderError> {
    std::fs::File::open(path).map(|_| ()).map_err(|_| missing(&path.display().to_string(), PACKAGE))
}

impl Recogniser for OfflineRecogniser {
    fn name(&self) -> &str {
        NAME
    }

    fn resident(&self) -> bool {
        true
    }

    fn speaks(&self, language: &str) -> bool {
        language == "en"
    }

    fn listen(&self, order: ListenOrder) -> Answer<'_, Result<Box<dyn Listening>, ProviderError>> {
        Box::pin(async move {
            if !self.speaks(&order.language) {
                return Err(failed(
                    ProviderFault::Refused,
                    format!("only English is understood, not `{}`", order.language),
                ));
            }
            let folder = Folder::new()
                .map_err(|error| failed(ProviderFault::Broken, format!("the temporary folder: {error}")))?;
            let (turns, waiting) = mpsc::channel(TURNS_WAITING);
            let (answers, heard) = mpsc::unbounded_channel();
            let worker = Worker { shared: self.0.clone(), folder: Arc::new(folder), grammar: None };
            let worker = tokio::spawn(worker.run(waiting, answers.clone())).abort_handle();
            let ear = Mutex::new(Ear::default());
            Ok(Box::new(Conversation {
                ear,
                turns,
                heard: tokio::sync::Mutex::new(heard),
                skipped: answers,
                worker,
            }) as Box<dyn Listening>)
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(async {
            let settings = &self.0.settings;
            readable(&settings.model.join("en-us/mdef"))?;
            readable(&settings.model.join("cmudict-en-us.dict"))?;
            // Without arguments it prints its usage and ends, which shows that it can be started.
            let mut child = start(command(&settings.pocketsphinx), PACKAGE)?;
            drop(child.stdin.take());
            let ended = within(settings.timeout, "pocketsphinx", child.wait_with_output()).await?;
            ended.map_err(|_| failed(ProviderFault::Broken, "pocketsphinx broke its pipe"))?;
            Ok(format!(
                "pocketsphinx, English by grammar, {} segments at once",
                settings.segments_at_once.max(1)
            ))
        })
    }
}

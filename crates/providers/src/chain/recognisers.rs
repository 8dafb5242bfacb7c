//! Recognisers in order. One that fails during a call is replaced, and the next gets the sound since the last answered
//! turn.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ports::{
    Answer, Heard, Hints, ListenOrder, Listening, ProviderError, ProviderFault, Recogniser, SAMPLE_RATE,
};
use tokio::sync::{Mutex as AsyncMutex, mpsc};
use tokio::task::JoinHandle;

use super::figures::Role;
use super::members::{Asked, Chain, Tries};

/// Most sound kept for the next provider, samples: 30 s. The oldest is dropped beyond it.
const KEPT: usize = 30 * SAMPLE_RATE as usize;
/// Capacity of the queue of reports.
const REPORTS: usize = 64;

/// Recognisers in order of preference, as one.
pub type Recognisers = Chain<dyn Recogniser>;

impl Recogniser for Recognisers {
    fn name(&self) -> &str {
        self.names()
    }

    fn resident(&self) -> bool {
        self.all_resident()
    }

    fn speaks(&self, language: &str) -> bool {
        self.iter().any(|provider| provider.speaks(language))
    }

    fn listen(&self, order: ListenOrder) -> Answer<'_, Result<Box<dyn Listening>, ProviderError>> {
        let chain = self.clone();
        Box::pin(async move {
            let line = Arc::new(Line::default());
            let tries = chain.tries(|provider| provider.speaks(&order.language));
            let (to, asked) =
                first(tries, &order).await.map_err(|error| error.unwrap_or_else(|| chain.none()))?;
            line.install(to.clone());
            let (reports, answers) = mpsc::channel(REPORTS);
            let pump = tokio::spawn(Pump { chain, order, line: line.clone(), reports }.run(to, asked));
            Ok(Box::new(ChainListening { line, answers: AsyncMutex::new(answers), pump })
                as Box<dyn Listening>)
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(self.check_in_order())
    }
}

type Opened = (Arc<dyn Listening>, Asked<dyn Recogniser>);

/// The first that accepts; otherwise the last failure, if there was a provider to try.
async fn first(
    mut tries: Tries<dyn Recogniser>,
    order: &ListenOrder,
) -> Result<Opened, Option<ProviderError>> {
    let Some((listening, asked)) = tries.begin(|provider| provider.listen(order.clone())).await else {
        return Err(tries.take_failure());
    };
    Ok((Arc::from(listening), asked))
}

/// The sound since the last answered turn.
enum Item {
    Sound(Vec<i16>),
    TurnEnded,
}

/// The customer's side of the conversation: the sound for the next provider to replay, and the current listener. Sound
/// is kept and passed on under one lock, so a new listener gets every sample once and in order.
#[derive(Default)]
struct Line(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    items: VecDeque<Item>,
    samples: usize,
    hints: Option<Hints>,
    /// The language that was followed into, for the next provider.
    language: Option<String>,
    to: Option<Arc<dyn Listening>>,
}

impl Line {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn feed(&self, samples: &[i16]) {
        let mut kept = self.kept();
        match kept.items.back_mut() {
            Some(Item::Sound(sound)) => sound.extend_from_slice(samples),
            _ => kept.items.push_back(Item::Sound(samples.to_vec())),
        }
        kept.samples += samples.len();
        kept.trim();
        if let Some(to) = &kept.to {
            to.feed(samples);
        }
    }

    fn turn_ended(&self) {
        let mut kept = self.kept();
        kept.items.push_back(Item::TurnEnded);
        if let Some(to) = &kept.to {
            to.turn_ended();
        }
    }

    fn expect(&self, hints: Hints) {
        let mut kept = self.kept();
        if let Some(to) = &kept.to {
            to.expect(hints.clone());
        }
        kept.hints = Some(hints);
    }

    fn follow(&self, language: &str) -> bool {
        let mut kept = self.kept();
        kept.language = Some(language.to_owned());
        kept.to.as_ref().is_none_or(|to| to.follow(language))
    }

    /// A turn was answered: its sound is dropped. False when no answer was due.
    fn answered(&self) -> bool {
        let mut kept = self.kept();
        let Some(mark) = kept.items.iter().position(|item| matches!(item, Item::TurnEnded)) else {
            return false;
        };
        let gone: usize = kept
            .items
            .drain(..=mark)
            .map(|item| if let Item::Sound(sound) = item { sound.len() } else { 0 })
            .sum();
        kept.samples -= gone;
        true
    }

    fn disconnect(&self) {
        self.kept().to = None;
    }

    /// Replays the missed sound to this listener, and passes on all sound from now on.
    fn install(&self, to: Arc<dyn Listening>) {
        let mut kept = self.kept();
        if let Some(hints) = &kept.hints {
            to.expect(hints.clone());
        }
        for item in &kept.items {
            match item {
                Item::Sound(sound) => to.feed(sound),
                Item::TurnEnded => to.turn_ended(),
            }
        }
        kept.to = Some(to);
    }
}

impl Kept {
    /// Drops the oldest sound beyond [`KEPT`], but no end of a turn. It drops a second at a time, so it runs
    /// rarely.
    fn trim(&mut self) {
        if self.samples <= KEPT + SAMPLE_RATE as usize {
            return;
        }
        let mut excess = self.samples - KEPT;
        for item in &mut self.items {
            let Item::Sound(sound) = item else { continue };
            let gone = excess.min(sound.len());
            sound.drain(..gone);
            self.samples -= gone;
            excess -= gone;
            if excess == 0 {
                break;
            }
        }
        self.items.retain(|item| !matches!(item, Item::Sound(sound) if sound.is_empty()));
    }
}

/// Passes reports on and replaces listeners that fail.
struct Pump {
    chain: Recognisers,
    order: ListenOrder,
    line: Arc<Line>,
    reports: mpsc::Sender<Result<Heard, ProviderError>>,
}

impl Pump {
    async fn run(self, mut to: Arc<dyn Listening>, mut asked: Asked<dyn Recogniser>) {
        // A provider that keeps connecting and failing is given up within one turn.
        let most = self.chain.len() * 2;
        let mut left = most;
        loop {
            let error = match to.next().await {
                Ok(heard) => {
                    asked.succeeded();
                    if let Heard::Turn(_) = heard {
                        left = most;
                        if !self.line.answered() {
                            continue;
                        }
                    }
                    if self.reports.send(Ok(heard)).await.is_err() {
                        return;
                    }
                    continue;
                }
                Err(error) => error,
            };
            asked.failed(&error);
            self.line.disconnect();
            drop(to);
            match self.replace(&asked, error, &mut left).await {
                Ok(opened) => (to, asked) = opened,
                Err(error) => {
                    let _ = self.reports.send(Err(error)).await;
                    return;
                }
            }
        }
    }

    async fn replace(
        &self,
        broken: &Asked<dyn Recogniser>,
        error: ProviderError,
        left: &mut usize,
    ) -> Result<Opened, ProviderError> {
        if *left == 0 {
            return Err(error);
        }
        *left -= 1;
        let mut order = self.order.clone();
        if let Some(language) = self.line.kept().language.clone() {
            let before = std::mem::replace(&mut order.language, language);
            order.others.push(before);
        }
        let tries = self.chain.tries_after(Some(&broken.member), |provider| provider.speaks(&order.language));
        let opened = first(tries, &order).await.map_err(|newer| newer.unwrap_or(error))?;
        self.line.install(opened.0.clone());
        Ok(opened)
    }
}

struct ChainListening {
    line: Arc<Line>,
    answers: AsyncMutex<mpsc::Receiver<Result<Heard, ProviderError>>>,
    pump: JoinHandle<()>,
}

impl Drop for ChainListening {
    fn drop(&mut self) {
        self.pump.abort();
        self.line.disconnect();
    }
}

impl Listening for ChainListening {
    fn feed(&self, samples: &[i16]) {
        self.line.feed(samples);
    }

    fn expect(&self, hints: Hints) {
        self.line.expect(hints);
    }

    fn follow(&self, language: &str) -> bool {
        self.line.follow(language)
    }

    fn turn_ended(&self) {
        self.line.turn_ended();
    }

    fn next(&self) -> Answer<'_, Result<Heard, ProviderError>> {
        Box::pin(async move {
            let ended = || {
                ProviderError::new(
                    Role::ToText.setting(),
                    ProviderFault::Unreachable,
                    "the listening has ended",
                )
            };
            self.answers.lock().await.recv().await.unwrap_or_else(|| Err(ended()))
        })
    }
}

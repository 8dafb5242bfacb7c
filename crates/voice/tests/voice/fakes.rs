//! Scripted providers and a scripted service. Their delays are in tokio's paused time, which moves with the
//! line's ticks.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use domain::call::{Fact, TurnLatency};
use domain::evaluation::Grades;
use domain::ports::{
    Analysis, AnalysisOrder, Answer, GradeOrder, Heard, Hints, LanguageModel, ListenOrder, Listening,
    ProviderError, ProviderFault, Recogniser, Said, SpeakOrder, Speaking, Synthesiser, TalkOrder, Talking,
    ToolOffer,
};
use domain::time::Timestamp;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use voice::{CallServices, TransferFailure, TransferOrder};

/// Paused time: it moves with the line's ticks only.
#[allow(clippy::disallowed_methods)]
async fn after(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("a lock")
}

pub fn fault(detail: &str) -> ProviderError {
    ProviderError::new("scripted", ProviderFault::Unreachable, detail)
}

/// Hears what the script says: one entry a turn that ended.
#[derive(Default)]
pub struct Ears {
    /// What is heard next; an error breaks the connection. When nothing is left, no words are heard.
    pub script: Mutex<VecDeque<Result<String, ()>>>,
    /// Told as soon as this many samples of a turn were fed.
    pub partial: Mutex<Option<(usize, String)>>,
    /// Connections that are refused before one is accepted.
    pub refuses: AtomicUsize,
    /// How long the words take, milliseconds.
    pub takes_ms: AtomicUsize,
    /// Samples that were fed, by turn.
    pub fed: Mutex<Vec<Vec<i16>>>,
    /// What was expected last.
    pub hints: Mutex<Hints>,
    /// What the recogniser was asked to listen to, by connection.
    pub orders: Mutex<Vec<ListenOrder>>,
    /// It listens for every language at once, and tells which the words are in: one entry a turn.
    pub languages: Mutex<Option<VecDeque<&'static str>>>,
    pub opened: AtomicUsize,
}

struct Connection {
    ears: Arc<Ears>,
    owed: Mutex<VecDeque<Result<Heard, ()>>>,
    partial_told: Mutex<bool>,
    news: Notify,
}

pub struct Recognises(pub Arc<Ears>);

impl Recogniser for Recognises {
    fn name(&self) -> &str {
        "scripted"
    }
    fn resident(&self) -> bool {
        true
    }
    fn speaks(&self, _: &str) -> bool {
        true
    }
    fn listen(&self, order: ListenOrder) -> Answer<'_, Result<Box<dyn Listening>, ProviderError>> {
        let ears = Arc::clone(&self.0);
        Box::pin(async move {
            ears.opened.fetch_add(1, Ordering::SeqCst);
            lock(&ears.orders).push(order);
            if ears.refuses.load(Ordering::SeqCst) > 0 {
                ears.refuses.fetch_sub(1, Ordering::SeqCst);
                return Err(fault("no connection"));
            }
            lock(&ears.fed).push(Vec::new());
            let connection = Connection {
                ears,
                owed: Mutex::default(),
                partial_told: Mutex::default(),
                news: Notify::new(),
            };
            Ok(Box::new(connection) as Box<dyn Listening>)
        })
    }
    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(async { Ok("scripted".to_owned()) })
    }
}

impl Listening for Connection {
    fn feed(&self, samples: &[i16]) {
        let mut fed = lock(&self.ears.fed);
        let Some(turn) = fed.last_mut() else { return };
        turn.extend(samples);
        let due = lock(&self.ears.partial)
            .as_ref()
            .filter(|(at, _)| turn.len() >= *at)
            .map(|(_, text)| text.clone());
        let mut told = lock(&self.partial_told);
        if let (Some(text), false) = (due, *told) {
            *told = true;
            lock(&self.owed).push_back(Ok(Heard::Partial(text)));
            self.news.notify_one();
        }
    }
    fn follow(&self, _: &str) -> bool {
        lock(&self.ears.languages).is_some()
    }
    fn expect(&self, hints: Hints) {
        *lock(&self.ears.hints) = hints;
    }
    fn turn_ended(&self) {
        lock(&self.ears.fed).push(Vec::new());
        *lock(&self.partial_told) = false;
        let next = lock(&self.ears.script).pop_front().unwrap_or_else(|| Ok(String::new()));
        let language = lock(&self.ears.languages).as_mut().and_then(VecDeque::pop_front);
        let told = language.map(|language| Ok(Heard::Language(language.to_owned())));
        lock(&self.owed).extend(told.into_iter().chain([next.map(Heard::Turn)]));
        self.news.notify_one();
    }
    fn next(&self) -> Answer<'_, Result<Heard, ProviderError>> {
        Box::pin(async move {
            loop {
                let waiting = lock(&self.owed).front().cloned();
                match waiting {
                    Some(heard) => {
                        if matches!(heard, Ok(Heard::Turn(_))) {
                            after(self.ears.takes_ms.load(Ordering::SeqCst) as u64).await;
                        }
                        lock(&self.owed).pop_front();
                        return heard.map_err(|()| fault("the connection broke"));
                    }
                    None => self.news.notified().await,
                }
            }
        })
    }
}

/// Makes 60 ms of sound a character, and remembers what it was asked to say.
#[derive(Default)]
pub struct Speaks {
    pub said: Mutex<Vec<String>>,
    /// In which language and with which voice, likewise.
    pub ways: Mutex<Vec<(String, String)>>,
    /// Languages that are not spoken.
    pub dumb_in: Mutex<Vec<&'static str>>,
    /// Until the first sound, milliseconds.
    pub takes_ms: AtomicUsize,
    /// Sentences that fail before their first sound.
    pub fails: AtomicUsize,
    /// The voice broke for good.
    pub broken: std::sync::atomic::AtomicBool,
}

struct Sound {
    rest: Vec<i16>,
    takes_ms: u64,
    fails: bool,
}

/// The sound of a text: what `Speaks` makes of it.
pub fn sound_of(text: &str) -> Vec<i16> {
    let seed = text.bytes().fold(17u32, |seed, byte| seed.wrapping_mul(31).wrapping_add(u32::from(byte)));
    super::sounds::noise(seed, 60 * text.chars().count(), 6000.0)
}

pub struct Synthesises(pub Arc<Speaks>);

impl Synthesiser for Synthesises {
    fn name(&self) -> &str {
        "scripted"
    }
    fn resident(&self) -> bool {
        true
    }
    fn speaks(&self, language: &str) -> bool {
        !lock(&self.0.dumb_in).contains(&language)
    }
    fn voices(&self) -> Vec<(String, String, String)> {
        Vec::new()
    }
    fn speak(&self, order: SpeakOrder) -> Answer<'_, Result<Box<dyn Speaking>, ProviderError>> {
        let speaks = Arc::clone(&self.0);
        Box::pin(async move {
            lock(&speaks.said).push(order.text.clone());
            lock(&speaks.ways).push((order.language.clone(), order.voice.clone()));
            let fails = speaks.broken.load(Ordering::SeqCst)
                || speaks
                    .fails
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                    .is_ok();
            let takes_ms = speaks.takes_ms.load(Ordering::SeqCst) as u64;
            Ok(Box::new(Sound { rest: sound_of(&order.text), takes_ms, fails }) as Box<dyn Speaking>)
        })
    }
    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(async { Ok("scripted".to_owned()) })
    }
}

impl Speaking for Sound {
    fn next(&mut self) -> Answer<'_, Option<Result<Vec<i16>, ProviderError>>> {
        Box::pin(async move {
            after(std::mem::take(&mut self.takes_ms)).await;
            if self.fails {
                return Some(Err(fault("no sound")));
            }
            if self.rest.is_empty() {
                return None;
            }
            let chunk = self.rest.drain(..self.rest.len().min(1600)).collect();
            Some(Ok(chunk))
        })
    }
}

/// One thing that a scripted model does, after this many milliseconds.
pub type Act = (u64, Result<Said, ()>);

/// Says what the script says: one entry a request. When nothing is left it never answers.
#[derive(Default)]
pub struct Thinks {
    pub script: Mutex<VecDeque<Vec<Act>>>,
    pub asked: Mutex<Vec<TalkOrder>>,
}

/// A turn of words and nothing else.
pub fn words(text: &str) -> Vec<Act> {
    vec![(100, Ok(Said::Text(text.to_owned())))]
}

struct Turn(VecDeque<Act>);

pub struct Models(pub Arc<Thinks>);

impl LanguageModel for Models {
    fn name(&self) -> &str {
        "scripted"
    }
    fn resident(&self) -> bool {
        true
    }
    fn talk(&self, order: TalkOrder) -> Answer<'_, Result<Box<dyn Talking>, ProviderError>> {
        let thinks = Arc::clone(&self.0);
        Box::pin(async move {
            let offered: Vec<String> = order.tools.iter().map(|tool| tool.id.clone()).collect();
            lock(&thinks.asked).push(order);
            let next = lock(&thinks.script).pop_front();
            let acts = match next {
                Some(acts) => acts,
                None => std::future::pending().await,
            };
            for (_, act) in &acts {
                if let Ok(Said::Tool(call)) = act {
                    assert!(offered.contains(&call.tool_id), "{} was not offered: {offered:?}", call.tool_id);
                }
            }
            Ok(Box::new(Turn(acts.into())) as Box<dyn Talking>)
        })
    }
    fn analyse(&self, _: AnalysisOrder) -> Answer<'_, Result<Analysis, ProviderError>> {
        Box::pin(async { Ok(Analysis::default()) })
    }
    fn grade(&self, _: GradeOrder) -> Answer<'_, Result<Grades, ProviderError>> {
        Box::pin(std::future::ready(Err(ProviderError::new(
            "scripted",
            ProviderFault::Refused,
            "it grades nothing",
        ))))
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(async { Ok("scripted".to_owned()) })
    }
}

impl Talking for Turn {
    fn next(&mut self) -> Answer<'_, Option<Result<Said, ProviderError>>> {
        Box::pin(async move {
            let (wait, act) = self.0.pop_front()?;
            after(wait).await;
            Some(act.map_err(|()| fault("the model broke")))
        })
    }
}

/// The service: tools answer what they are told to, and everything is recorded.
#[derive(Default)]
pub struct Office {
    pub facts: Mutex<Vec<Fact>>,
    pub answered: Mutex<Vec<TurnLatency>>,
    pub tools: Mutex<Vec<(String, Map<String, Value>)>>,
    /// How long a tool takes, milliseconds, and what it answers.
    pub tool: Mutex<(u64, Option<Result<Value, String>>)>,
    pub transfers: Mutex<Vec<TransferOrder>>,
    /// How long a transfer takes, milliseconds, and what comes of it.
    pub transfer: Mutex<(u64, Option<Result<(), TransferFailure>>)>,
    pub messages: Mutex<Vec<String>>,
    pub questions: Mutex<Vec<String>>,
    pub said_so_far: Mutex<Vec<String>>,
}

impl CallServices for Office {
    /// Friday, 27 November 2026, 10:15 in India.
    fn now(&self) -> Timestamp {
        Timestamp(1_795_754_700_000)
    }

    fn call_tool(
        &self,
        _: u64,
        tool_id: &str,
        arguments: Map<String, Value>,
    ) -> Answer<'_, Result<Value, String>> {
        lock(&self.tools).push((tool_id.to_owned(), arguments));
        let (wait, answer) = lock(&self.tool).clone();
        Box::pin(async move {
            after(wait).await;
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
    fn tool_offers(&self, ids: &[String]) -> Answer<'_, Vec<ToolOffer>> {
        let offer = |id: &String| ToolOffer {
            id: id.clone(),
            name: id.clone(),
            description: String::new(),
            parameters: json!({"type": "object"}),
        };
        // As the service does: the end of a call is offered by the model itself.
        let offers = ids.iter().filter(|id| *id != "end_call").map(offer).collect();
        Box::pin(async move { offers })
    }
    fn said_so_far(&self, text: &str) {
        lock(&self.said_so_far).push(text.to_owned());
    }
    fn knowledge(&self, question: &str) -> Answer<'_, Vec<String>> {
        lock(&self.questions).push(question.to_owned());
        Box::pin(async { vec!["We are open from nine to six.".to_owned()] })
    }
    fn send_message(&self, _: Option<Value>, text: String) -> Answer<'_, ()> {
        lock(&self.messages).push(text);
        Box::pin(async {})
    }
    fn transfer(&self, order: TransferOrder) -> Answer<'_, Result<(), TransferFailure>> {
        lock(&self.transfers).push(order);
        let (wait, outcome) = *lock(&self.transfer);
        Box::pin(async move {
            after(wait).await;
            match outcome {
                Some(outcome) => outcome,
                None => std::future::pending().await,
            }
        })
    }
    fn fact(&self, fact: Fact) {
        lock(&self.facts).push(fact);
    }
    fn answered(&self, latency: &TurnLatency) {
        lock(&self.answered).push(latency.clone());
    }
}

//! The phones of the sandbox network: callees in this process that ring, answer, talk and listen as the table of the
//! sandbox says (docs/contract/sandbox.md#sandbox-phone-network, [`domain::call::script`]). A call to them runs
//! through the port of legs as a live call does: dial, answer, audio, voice activity detection, recognition.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::call::{Callee, Fact, Network, ScriptedFact, callee, refusal, script};
use domain::phone::Phone as Number;
use domain::ports::{
    DialError, Ear, IncomingLeg, IncomingLegs, Leg, LegEvent, LegMedia, SpeakOrder, Synthesiser, Tick,
};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Talk after which a call with the sandbox is over, whatever is being said: answered at 2 s, ended at 10 s.
pub(super) const TALK: Duration = Duration::from_secs(8);
/// Talk after which the agent begins to take its leave.
const GOODBYE_AFTER: Duration = Duration::from_millis(7000);
/// The same for a person who asks something, which has to be understood and answered, and where a machine picks up that
/// is talked to, or waited for.
const QUESTION_TALK: Duration = Duration::from_secs(28);
const QUESTION_GOODBYE_AFTER: Duration = Duration::from_secs(24);
/// A phone that never answers is given up after this.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);
/// What people say when they pick up.
const HELLO: &str = "Hello.";
/// What they say when the agent has fallen silent, one after the other.
const REPLIES: [&str; 3] = ["Yes.", "Okay.", "Thank you."];
/// From the first word of a short sentence until it is understood.
const UNDERSTANDING: Duration = Duration::from_secs(2);
const OPT_OUT: &str = "Please do not call me again.";
const GREETING: &str = "Please leave a message after the tone.";
/// What a call screener says, and what it says once the caller was announced.
const WHO_CALLS: &str = "Please say your name and why you are calling.";
const CONNECTING: &str = "Please stay on the line.";
/// An announcement before a person comes.
const ON_HOLD: &str = "The person you are calling is busy. Please stay on the line.";
/// An announcement that nobody follows.
const SWITCHED_OFF: &str = "The number you are calling is switched off.";
const MENU: &str = "Press one for orders or two for returns.";
/// From an announcement, or the assistant's last word, until somebody takes the call or hangs up.
const UNTIL_TAKEN: Duration = Duration::from_secs(3);
/// Silence after a key after which a menu says what was pressed.
const AFTER_KEYS: Duration = Duration::from_millis(1500);
/// Keys that a menu takes at once; more are dropped.
const MOST_KEYS: usize = 64;
/// Tone of answering machines, hertz and milliseconds.
const BEEP: (f32, u32) = (1000.0, 500);
/// Samples of silence between the words of a machine and its tone: 600 ms, as real ones pause for 300 to 1000.
const BEFORE_BEEP: usize = 600 * 8;
/// Level above which sound is speech, of 32767.
const LOUD: i64 = 500;
/// Ticks of silence after which the agent has finished.
const PAUSE_TICKS: u32 = 20;
/// Ticks of sound that are speech and no click.
const SPEECH_TICKS: u32 = 10;

/// How long a conversation with the sandbox lasts.
pub(super) struct Times {
    /// Talk after which it is over, whatever is being said.
    pub(super) talk: Duration,
    /// Talk after which the agent begins to take its leave.
    pub(super) goodbye_after: Duration,
}

/// How long a conversation lasts with the phone of this number, whose owner asks a question or does not.
pub(super) fn times(asks: bool, called: Option<Number>) -> Times {
    let takes_time = match called.map(callee) {
        Some(Callee::Screener | Callee::OnHold | Callee::Menu) => true,
        Some(Callee::Person | Callee::Machine | Callee::SwitchedOff) | None => asks,
    };
    match takes_time {
        true => Times { talk: QUESTION_TALK, goodbye_after: QUESTION_GOODBYE_AFTER },
        false => Times { talk: TALK, goodbye_after: GOODBYE_AFTER },
    }
}

/// What the people called are to ask, by Call-ID.
type Questions = Arc<Mutex<HashMap<String, String>>>;

/// A question that somebody is to ask, for as long as the call goes on.
pub(super) struct Asked {
    questions: Questions,
    call_id: String,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.call_id);
    }
}

pub(super) struct Phones {
    voice: Arc<dyn Synthesiser>,
    questions: Questions,
}

impl Phones {
    pub(super) fn new(voice: Arc<dyn Synthesiser>) -> Self {
        Self { voice, questions: Questions::default() }
    }

    /// Where their calls arrive.
    pub(super) fn exchange(&self) -> Arc<dyn IncomingLegs> {
        Arc::new(Exchange { voice: self.voice.clone(), questions: self.questions.clone() })
    }

    /// Who was called will ask this, until the value is dropped (docs/contract/sandbox.md#questions).
    pub(super) fn will_ask(&self, call_id: &str, question: String) -> Asked {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        questions.insert(call_id.to_owned(), question);
        Asked { questions: self.questions.clone(), call_id: call_id.to_owned() }
    }
}

struct Exchange {
    voice: Arc<dyn Synthesiser>,
    questions: Questions,
}

impl IncomingLegs for Exchange {
    fn incoming(&self, call: Box<dyn IncomingLeg>) {
        let person = Person {
            voice: self.voice.clone(),
            questions: self.questions.clone(),
            call_id: call.provider_call().to_owned(),
        };
        tokio::spawn(async move { play(call, person).await });
    }
}

/// Who has a phone.
struct Person {
    voice: Arc<dyn Synthesiser>,
    questions: Questions,
    call_id: String,
}

impl Person {
    /// What they are to ask; it is known from the moment at which the agent begins to speak.
    fn question(&self) -> Option<String> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner).get(&self.call_id).cloned()
    }

    /// What they say when the agent has fallen silent for this many times.
    fn reply(&self, pauses: usize) -> Option<String> {
        match self.question() {
            Some(question) => (pauses == 0).then_some(question),
            None => REPLIES.get(pauses).map(|reply| (*reply).to_owned()),
        }
    }
}

/// Plays one phone.
async fn play(mut call: Box<dyn IncomingLeg>, person: Person) {
    let Ok(number) = Number::normalize(call.to()) else { return call.reject(404) };
    match refusal(Network::Sandbox, number) {
        Some(DialError::ProviderErrorBeforeRing) => return call.reject(503),
        Some(DialError::Uncertain) => return call.ignore(),
        None => {}
    }
    let started = Instant::now();
    let at = |step: &ScriptedFact| started + Duration::from_millis(step.after_ms.unsigned_abs());
    let steps = script(Network::Sandbox, number);
    let Some(first) = steps.first() else { return call.reject(404) };
    call.ring();
    tokio::select! {
        () = sleep_until(at(first)) => {}
        () = call.cancelled() => return,
    }
    match first.fact {
        Fact::Answered => {}
        Fact::Busy => return call.reject(486),
        Fact::NoAnswer => return call.reject(480),
        Fact::Rejected => return call.reject(603),
        _ => return call.reject(404),
    }
    let (noticed, pauses) = mpsc::channel(1);
    let (pressed, keys) = mpsc::channel(MOST_KEYS);
    let attention = Attention { spoken: 0, silent: 0, noticed, pressed };
    let Ok(leg) = call.answer(Box::new(attention)).await else { return };
    // The step is when the wish is known; saying and understanding it takes a while.
    let opts_out =
        steps.iter().find(|step| step.fact == Fact::OptOutSaid).map(|step| at(step) - UNDERSTANDING);
    talk(leg, person, Caller { pauses, keys }, callee(number), opts_out).await;
}

/// What a phone's owner notices of the caller.
struct Caller {
    pauses: mpsc::Receiver<Noticed>,
    keys: mpsc::Receiver<char>,
}

/// What is played to the owner of a phone about the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noticed {
    /// The caller has spoken and stopped.
    Pause,
}

/// Notices when the caller has finished.
struct Attention {
    spoken: u32,
    silent: u32,
    noticed: mpsc::Sender<Noticed>,
    pressed: mpsc::Sender<char>,
}

impl Ear for Attention {
    fn tick(&mut self, tick: Tick<'_>) {
        let level = tick.heard.map_or(0, |frame| {
            frame.iter().map(|sample| i64::from(*sample).abs()).sum::<i64>() / frame.len() as i64
        });
        if level > LOUD {
            (self.spoken, self.silent) = (self.spoken + 1, 0);
            return;
        }
        self.silent += 1;
        if self.silent == PAUSE_TICKS && self.spoken >= SPEECH_TICKS {
            self.spoken = 0;
            // An owner who has not caught up replies to the last pause only.
            let _ = self.noticed.try_send(Noticed::Pause);
        }
    }

    fn digit(&mut self, key: char) {
        // A menu that has not caught up misses keys, as real ones do.
        let _ = self.pressed.try_send(key);
    }

    fn starved(&mut self, _: u32) {}
}

async fn talk(leg: Leg, person: Person, caller: Caller, callee: Callee, opts_out: Option<Instant>) {
    let Leg { control, mut events } = leg;
    let Some(line) = control.media() else { return control.hang_up().await };
    let voice = &person.voice;
    // The script runs beside the events: whatever it waits for, a hang-up ends it.
    let script = async {
        match callee {
            Callee::Person => meet(&person, &line, caller, opts_out).await,
            Callee::Machine => {
                say(voice, &line, GREETING).await;
                line.play(&[0; BEFORE_BEEP]);
                line.play(&telephony::tones::tone(BEEP.0, BEEP.1));
                std::future::pending().await
            }
            Callee::Screener => {
                let mut caller = caller;
                say(voice, &line, WHO_CALLS).await;
                if caller.pauses.recv().await.is_some() {
                    say(voice, &line, CONNECTING).await;
                    sleep_until(Instant::now() + UNTIL_TAKEN).await;
                    meet(&person, &line, caller, None).await;
                }
            }
            Callee::OnHold => {
                say(voice, &line, ON_HOLD).await;
                said(&line).await;
                sleep_until(Instant::now() + UNTIL_TAKEN).await;
                meet(&person, &line, caller, None).await;
            }
            Callee::SwitchedOff => {
                say(voice, &line, SWITCHED_OFF).await;
                said(&line).await;
                sleep_until(Instant::now() + UNTIL_TAKEN).await;
            }
            Callee::Menu => menu(voice, &line, caller).await,
        }
    };
    tokio::pin!(script);
    loop {
        tokio::select! {
            biased;
            event = events.next() => if matches!(event, None | Some(LegEvent::Ended(_))) { return },
            () = &mut script => break,
        }
    }
    control.hang_up().await;
}

/// A person: greets, replies when the caller pauses, and asks for no more calls at that moment. Never hangs up.
async fn meet(person: &Person, line: &Arc<dyn LegMedia>, mut caller: Caller, opts_out: Option<Instant>) {
    let voice = &person.voice;
    if let Some(at) = opts_out {
        // A person who says only one thing makes no replies, which would talk over it.
        sleep_until(at).await;
        say(voice, line, OPT_OUT).await;
        return std::future::pending().await;
    }
    say(voice, line, HELLO).await;
    let mut replied = 0;
    while let Some(Noticed::Pause) = caller.pauses.recv().await {
        if let Some(reply) = person.reply(replied) {
            replied += 1;
            say(voice, line, &reply).await;
        }
    }
    std::future::pending().await
}

/// A menu: says what may be pressed, and what was.
async fn menu(voice: &Arc<dyn Synthesiser>, line: &Arc<dyn LegMedia>, mut caller: Caller) {
    say(voice, line, MENU).await;
    while let Some(first) = caller.keys.recv().await {
        let mut keys = vec![key_name(first)];
        while let Ok(Some(key)) = tokio::time::timeout(AFTER_KEYS, caller.keys.recv()).await {
            if keys.len() < MOST_KEYS {
                keys.push(key_name(key));
            }
        }
        say(voice, line, &format!("You pressed {}.", keys.join(" "))).await;
    }
}

/// A key as it is said.
fn key_name(key: char) -> String {
    match key {
        '*' => "star".to_owned(),
        '#' => "hash".to_owned(),
        key => key.to_string(),
    }
}

/// Waits until what was said has sounded.
async fn said(line: &Arc<dyn LegMedia>) {
    let left = Duration::from_millis(u64::from(line.queued_ms()));
    sleep_until(Instant::now() + left).await;
}

/// Says something; a voice that fails is silent.
async fn say(voice: &Arc<dyn Synthesiser>, line: &Arc<dyn LegMedia>, text: &str) {
    let order = SpeakOrder { text: text.to_owned(), voice: String::new(), language: "en".into() };
    let spoken = async {
        let mut speaking = voice.speak(order).await?;
        // A sentence is said in one breath, however busy the machine is: a gap within it is not understood.
        let mut sentence = Vec::new();
        while let Some(samples) = speaking.next().await {
            sentence.extend(samples?);
        }
        line.play(&sentence);
        Ok::<_, domain::ports::ProviderError>(())
    };
    if let Err(why) = spoken.await {
        tracing::warn!(%why, "a phone of the sandbox has lost its voice");
    }
}

//! Bringing a person in: by referral (the carrier connects them), or beside the call (this node rings them,
//! tells them who is calling, and joins the two).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::call::Fact;
use domain::conversation::TransferMode;
use domain::phone::Phone;
use domain::ports::{
    self, DialFailed, Ear, LegControl, LegEvent, LegEvents, LegMedia, LegOrder, SpeakOrder, Tick,
};
use tokio::sync::mpsc;

use super::facts::Facts;
use super::services::LineServices;
use crate::app::calls::{self, Leg, LegFact, LegKind, LegRefused};
use crate::runtime::traces::{self, Span, SpanKind};
use voice::{self, TransferFailure, TransferOrder};

// Every person who is rung is a leg of the call in the store: decided on before the dial (gates, decision
// log, line, money), told of when it is answered and when it is over.

/// How long a person's phone rings.
const RING: Duration = Duration::from_secs(25);
/// Longest wait for the outcome of a referral.
const REFERRAL: Duration = Duration::from_secs(40);

/// What the customer says goes to the person as well, once they are joined.
#[derive(Clone, Default)]
pub(super) struct Fork(Arc<Mutex<Option<Arc<dyn LegMedia>>>>);

impl Fork {
    /// An ear that hears as `inner` does and passes on what the customer says.
    pub(super) fn ear(&self, inner: Box<dyn Ear>) -> ForkedEar {
        ForkedEar { inner, to: self.0.clone() }
    }

    fn join(&self, person: Arc<dyn LegMedia>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(person);
    }

    fn part(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// See [`Fork::ear`].
pub(super) struct ForkedEar {
    inner: Box<dyn Ear>,
    to: Arc<Mutex<Option<Arc<dyn LegMedia>>>>,
}

impl Ear for ForkedEar {
    fn tick(&mut self, tick: Tick<'_>) {
        self.inner.tick(tick);
        // Held for a moment only, at the join and the parting.
        if let (Some(heard), Ok(to)) = (tick.heard, self.to.try_lock())
            && let Some(line) = to.as_ref()
        {
            line.play(heard);
        }
    }

    fn digit(&mut self, key: char) {
        self.inner.digit(key);
    }

    fn starved(&mut self, ms: u32) {
        self.inner.starved(ms);
    }

    fn closed(&mut self) {
        self.inner.closed();
    }
}

/// Hears the person who was brought in, and passes it to the customer once they are joined.
struct PersonEar {
    customer: Arc<dyn LegMedia>,
    joined: Arc<AtomicBool>,
}

impl Ear for PersonEar {
    fn tick(&mut self, tick: Tick<'_>) {
        if let Some(heard) = tick.heard.filter(|_| self.joined.load(Ordering::Acquire)) {
            self.customer.play(heard);
        }
    }

    fn digit(&mut self, _: char) {}

    fn starved(&mut self, _: u32) {}
}

/// Where the outcome of a referral comes out.
pub(super) type Referred = mpsc::UnboundedReceiver<Result<(), u16>>;

/// Where the signalling says how a referral went.
pub(super) struct Referral(mpsc::UnboundedSender<Result<(), u16>>);

impl Referral {
    pub(super) fn new() -> (Self, Referred) {
        let (outcome, referred) = mpsc::unbounded_channel();
        (Self(outcome), referred)
    }

    pub(super) fn done(&self, outcome: Result<(), u16>) {
        // A conversation that is over waits for none.
        let _ = self.0.send(outcome);
    }
}

/// Customer and person, joined.
pub(super) struct Bridge {
    person: Person,
    line: Arc<dyn LegMedia>,
    joined: Arc<AtomicBool>,
    events: Box<dyn LegEvents>,
    fork: Fork,
}

impl Bridge {
    /// Waits until the person is gone.
    pub(super) async fn person_left(&mut self) {
        while !matches!(self.events.next().await, None | Some(LegEvent::Ended(_))) {}
    }

    /// From now on neither hears the other.
    pub(super) fn interrupt(&self) {
        self.fork.part();
        self.joined.store(false, Ordering::Release);
    }

    /// Says to both that the time is up.
    pub(super) async fn take_leave(&self, services: &LineServices) {
        let words = voice::CallPhrases::of(&services.talk.language).time_is_up;
        for line in [&services.line, &self.line] {
            line.clear();
        }
        say(services, words, &[&services.line, &self.line]).await;
    }

    /// Parts them and hangs up on the person.
    pub(super) async fn end(mut self, cause: &'static str) {
        self.interrupt();
        self.person.leave(cause).await;
    }
}

/// Brings in the first person of the order who answers. `None` after a referral: the carrier has connected
/// them.
pub(super) async fn bring(
    services: &LineServices,
    order: &TransferOrder,
) -> Result<Option<Bridge>, TransferFailure> {
    if order.numbers.is_empty() {
        return Err(TransferFailure::NotAllowed);
    }
    let mut failure = TransferFailure::NoAnswer;
    let mut refused = None;
    if order.mode == TransferMode::Cold
        && let Some(number) = order.numbers.first()
    {
        match refer(services, number).await {
            Ok(true) => {
                services.facts.tell_transferred(number.clone());
                return Ok(None);
            }
            // A carrier that does not refer leaves the way beside the call.
            Ok(false) => {}
            Err(why) => (failure, refused) = (why, Some(number)),
        }
    }
    for number in order.numbers.iter().filter(|number| Some(*number) != refused) {
        match beside(services, order, number).await {
            Ok(bridge) => {
                services.facts.tell_transferred(number.clone());
                return Ok(Some(bridge));
            }
            Err(why) => failure = why,
        }
    }
    Err(failure)
}

/// Asks whether a person may be rung, once, and writes the answer down.
async fn may_ring(services: &LineServices, to: Phone, kind: LegKind) -> Result<Leg, TransferFailure> {
    let decided = calls::begin_leg(&services.app, services.tenant, services.id, to, kind);
    let decided = traces::within(services.talk.trace, decided).await;
    let leg = match decided {
        Ok(Ok(leg)) => leg,
        Ok(Err(refused)) => {
            tracing::info!(call = %services.id, ?refused, "nobody is brought in");
            return Err(match refused {
                LegRefused::Blocked(_) | LegRefused::TooMany => TransferFailure::NotAllowed,
                LegRefused::CallOver | LegRefused::NoLine | LegRefused::NoMoney => TransferFailure::Carrier,
            });
        }
        Err(failure) => {
            // Whether it was written down or not: it is not dialled, and ends with the call.
            failure.log_about(services.id, "a second leg could not be written down");
            return Err(TransferFailure::Carrier);
        }
    };
    if !leg.may_dial(services.app.clock.now()) {
        services.facts.tell_leg(leg.number, LegFact::NotDialled);
        return Err(TransferFailure::Carrier);
    }
    Ok(leg)
}

/// Whether the carrier connected the customer to the number.
async fn refer(services: &LineServices, number: &str) -> Result<bool, TransferFailure> {
    let to = Phone::normalize(number).map_err(|_| TransferFailure::NotAllowed)?;
    let leg = may_ring(services, to, LegKind::Referral).await?;
    let mut referral = Referring { facts: services.facts.clone(), leg: leg.number, connected: None };
    let mut referred = services.referred.lock().await;
    while referred.try_recv().is_ok() {}
    let mut span = dial_of_leg(services, "referral");
    services.control.refer(number).await;
    let connected = matches!(tokio::time::timeout(REFERRAL, referred.recv()).await, Ok(Some(Ok(()))));
    ended(&mut span, if connected { "taken" } else { "refused" });
    referral.connected = Some(connected);
    Ok(connected)
}

/// The span of a leg's dial, in the trace of what placed the call.
fn dial_of_leg(services: &LineServices, kind: &'static str) -> Span {
    let mut span = services.app.traces.begin(SpanKind::Client, "dial leg", services.talk.trace);
    span.set("dastak.leg.kind", kind);
    span
}

fn ended(span: &mut Span, result: &'static str) {
    span.set("dastak.dial.result", result);
    if result != "taken" {
        span.failed(result);
    }
}

/// Tells what became of a referral, even when the conversation no longer waits for it.
struct Referring {
    facts: Facts,
    leg: i64,
    connected: Option<bool>,
}

impl Drop for Referring {
    fn drop(&mut self) {
        let fact = match self.connected {
            Some(true) => LegFact::Ended("referred"),
            Some(false) => LegFact::NotDialled,
            // The carrier may connect them yet.
            None => LegFact::Ended("unknown"),
        };
        self.facts.tell_leg(self.leg, fact);
    }
}

/// A person whose phone rings or who has answered. If the transfer is dropped, the call to a person who is
/// not needed is ended.
struct Person {
    control: Option<Arc<dyn LegControl>>,
    facts: Facts,
    leg: i64,
}

impl Person {
    /// Hangs up, and tells why the leg is over.
    async fn leave(&mut self, cause: &'static str) {
        let Some(control) = self.control.take() else { return };
        control.hang_up().await;
        self.facts.tell_leg(self.leg, LegFact::Ended(cause));
    }

    /// The leg is over by itself.
    fn left(&mut self, cause: &'static str) {
        self.control = None;
        self.facts.tell_leg(self.leg, LegFact::Ended(cause));
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        if let Some(control) = self.control.take() {
            tokio::spawn(async move { control.hang_up().await });
            self.facts.tell_leg(self.leg, LegFact::Ended("cancelled"));
        }
    }
}

/// Dials a leg that may be dialled. It runs on a task of its own, so that a transfer that is dropped meanwhile
/// still ends the ringing call.
async fn ring(
    services: &LineServices,
    leg: Leg,
    to: Phone,
) -> Result<(Person, Box<dyn LegEvents>), TransferFailure> {
    let dial = LegOrder {
        id: format!("{}-transfer{}", services.id, leg.number),
        to,
        from: services.talk.own_number.clone(),
        carrier: services.talk.carrier.clone(),
        ring_timeout: Some(RING),
    };
    let (lines, facts, number) = (services.lines.clone(), services.facts.clone(), leg.number);
    let mut span = dial_of_leg(services, "beside");
    let dialled = tokio::spawn(async move {
        match lines.dial_leg(dial).await {
            Ok(ports::Leg { control, events }) => {
                ended(&mut span, "taken");
                Ok((Person { control: Some(control), facts, leg: number }, events))
            }
            Err(failed) => {
                let unheard = matches!(failed, DialFailed::ProviderErrorBeforeRing { .. });
                ended(&mut span, if unheard { "provider_error" } else { "possibly_placed" });
                facts.tell_leg(
                    number,
                    if unheard { LegFact::NotDialled } else { LegFact::Ended("possibly_placed") },
                );
                Err(TransferFailure::Carrier)
            }
        }
    });
    dialled.await.map_err(|_| TransferFailure::Carrier)?
}

async fn beside(
    services: &LineServices,
    order: &TransferOrder,
    number: &str,
) -> Result<Bridge, TransferFailure> {
    let to = Phone::normalize(number).map_err(|_| TransferFailure::NotAllowed)?;
    let leg = may_ring(services, to, LegKind::Beside).await?;
    let (mut person, mut events) = ring(services, leg, to).await?;
    loop {
        match events.next().await {
            Some(LegEvent::Answered) => break,
            Some(LegEvent::Ended(end)) => {
                let no_answer = end.fact == Fact::NoAnswer;
                person.left(if no_answer { "no_answer" } else { "refused" });
                return Err(if no_answer { TransferFailure::NoAnswer } else { TransferFailure::Busy });
            }
            Some(_) => {}
            None => {
                person.left("error");
                return Err(TransferFailure::Carrier);
            }
        }
    }
    services.facts.tell_leg(leg.number, LegFact::Answered);
    let joined = Arc::new(AtomicBool::new(false));
    let ear = PersonEar { customer: services.line.clone(), joined: joined.clone() };
    let connected = person.control.as_ref().and_then(|control| control.connect(Box::new(ear)));
    let Some(line) = connected else {
        person.leave("error").await;
        return Err(TransferFailure::Carrier);
    };
    if order.mode == TransferMode::Warm {
        say(services, &order.briefing, &[&line]).await;
    }
    if line.is_closed() {
        person.leave("hangup").await;
        return Err(TransferFailure::NoAnswer);
    }
    joined.store(true, Ordering::Release);
    services.fork.join(line.clone());
    Ok(Bridge { person, line, joined, events, fork: services.fork.clone() })
}

/// Says something to these lines and waits until it was heard: who is calling, before a person is joined, or
/// that the time is up. Who cannot be told is joined, or hung up on, all the same.
async fn say(services: &LineServices, text: &str, lines: &[&Arc<dyn LegMedia>]) {
    let speak = SpeakOrder {
        text: services.talk.speakable.prepare(text).said().to_owned(),
        voice: services.talk.voice.clone(),
        language: services.talk.language.clone(),
    };
    let told = async {
        let mut speaking = services.lines.speech.from_text.speak(speak).await?;
        while let Some(samples) = speaking.next().await {
            let samples = samples?;
            for line in lines {
                line.play(&samples);
            }
        }
        Ok::<_, domain::ports::ProviderError>(())
    };
    if let Err(why) = told.await {
        tracing::warn!(call = %services.id, %why, "something was not said to a person who was brought in");
    }
    let left =
        || lines.iter().filter(|line| !line.is_closed()).map(|line| line.queued_ms()).max().unwrap_or(0);
    while left() > 0 {
        tokio::time::sleep(Duration::from_millis(u64::from(left().clamp(20, 200)))).await;
    }
}

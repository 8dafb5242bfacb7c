//! Bringing a person in: by referral (the carrier connects them), or beside the call (this node rings them, tells them who is calling, and
//! joins the two).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::conversation::TransferMode;
use domain::phone::Phone;
use domain::ports::SpeakOrder;
use telephony::media::{Ear, Line, Tick};
use telephony::sip::{Dial, Leg, LegControl, LegEvent};
use tokio::sync::mpsc;

use super::desk::Desk;
use crate::voice::{TransferFailure, TransferOrder};

/// How long a person's phone rings.
const RING: Duration = Duration::from_secs(25);
/// Longest wait for the outcome of a referral.
const REFERRAL: Duration = Duration::from_secs(40);

/// What the customer says goes to the person as well, once they are joined.
#[derive(Clone, Default)]
pub(super) struct Fork(Arc<Mutex<Option<Line>>>);

impl Fork {
    /// An ear that hears as `inner` does and passes on what the customer says.
    pub(super) fn ear(&self, inner: Box<dyn Ear>) -> ForkedEar {
        ForkedEar { inner, to: self.0.clone() }
    }

    fn join(&self, person: Line) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(person);
    }

    fn part(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// See [`Fork::ear`].
pub(super) struct ForkedEar {
    inner: Box<dyn Ear>,
    to: Arc<Mutex<Option<Line>>>,
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
    customer: Line,
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
    person: LegControl,
    events: mpsc::UnboundedReceiver<LegEvent>,
    fork: Fork,
}

impl Bridge {
    /// Waits until the person is gone.
    pub(super) async fn person_left(&mut self) {
        while !matches!(self.events.recv().await, None | Some(LegEvent::Ended(_))) {}
    }

    /// Parts them and hangs up on the person.
    pub(super) async fn end(self) {
        self.fork.part();
        self.person.hang_up().await;
    }
}

/// Brings in the first person of the order who answers. `None` after a referral: the carrier has connected them.
pub(super) async fn bring(desk: &Desk, order: &TransferOrder) -> Result<Option<Bridge>, TransferFailure> {
    if order.numbers.is_empty() {
        return Err(TransferFailure::NotAllowed);
    }
    if order.mode == TransferMode::Cold
        && let Some(number) = order.numbers.first()
        && refer(desk, number).await
    {
        desk.facts.tell_transferred(number.clone());
        return Ok(None);
    }
    // A carrier that does not refer leaves the way beside the call.
    let mut failure = TransferFailure::NoAnswer;
    for (index, number) in order.numbers.iter().enumerate() {
        match beside(desk, order, index, number).await {
            Ok(bridge) => {
                desk.facts.tell_transferred(number.clone());
                return Ok(Some(bridge));
            }
            Err(why) => failure = why,
        }
    }
    Err(failure)
}

/// Whether the carrier connected the customer to the number.
async fn refer(desk: &Desk, number: &str) -> bool {
    let mut referred = desk.referred.lock().await;
    while referred.try_recv().is_ok() {}
    desk.control.refer(number).await;
    matches!(tokio::time::timeout(REFERRAL, referred.recv()).await, Ok(Some(Ok(()))))
}

/// Hangs up on a person who is not needed after all, whenever the transfer is dropped.
struct Ringing(Option<LegControl>);

impl Drop for Ringing {
    fn drop(&mut self) {
        if let Some(control) = self.0.take() {
            tokio::spawn(async move { control.hang_up().await });
        }
    }
}

async fn beside(desk: &Desk, order: &TransferOrder, index: usize, number: &str) -> Result<Bridge, TransferFailure> {
    let to = Phone::normalize(number).map_err(|_| TransferFailure::NotAllowed)?;
    let id = format!("{}-transfer{}", desk.id, index + 1);
    let dial = Dial { id, to, from: desk.talk.own_number.clone(), trunk: None, ring_timeout: Some(RING) };
    let leg = desk.lines.phone.dial(dial).await.map_err(|_| TransferFailure::Carrier)?;
    let Leg { control, mut events } = leg;
    let mut ringing = Ringing(Some(control.clone()));
    loop {
        match events.recv().await {
            Some(LegEvent::Answered(_)) => break,
            Some(LegEvent::Ended(end)) if end.fact == domain::call::Fact::NoAnswer => return Err(TransferFailure::NoAnswer),
            Some(LegEvent::Ended(_)) => return Err(TransferFailure::Busy),
            Some(_) => {}
            None => return Err(TransferFailure::Carrier),
        }
    }
    let joined = Arc::new(AtomicBool::new(false));
    let ear = PersonEar { customer: desk.line.clone(), joined: joined.clone() };
    let line = control.connect(Box::new(ear)).ok_or(TransferFailure::Carrier)?;
    if order.mode == TransferMode::Warm {
        brief(desk, order, &line).await;
    }
    if line.is_closed() {
        return Err(TransferFailure::NoAnswer);
    }
    ringing.0 = None;
    joined.store(true, Ordering::Release);
    desk.fork.join(line);
    Ok(Bridge { person: control, events, fork: desk.fork.clone() })
}

/// Tells the person who is calling, before they are joined. A person who cannot be told is joined all the same.
async fn brief(desk: &Desk, order: &TransferOrder, line: &Line) {
    let speak = SpeakOrder { text: order.briefing.clone(), voice: desk.talk.voice.clone(), language: desk.talk.language.clone() };
    let told = async {
        let mut speaking = desk.lines.speech.from_text.speak(speak).await?;
        while let Some(samples) = speaking.next().await {
            line.play(&samples?);
        }
        Ok::<_, domain::ports::ProviderError>(())
    };
    if let Err(why) = told.await {
        tracing::warn!(call = %desk.id, %why, "a person was joined without a briefing");
    }
    while line.queued_ms() > 0 && !line.is_closed() {
        tokio::time::sleep(Duration::from_millis(u64::from(line.queued_ms().clamp(20, 200)))).await;
    }
}

//! Legs between two parties of this process, without signalling and RTP: the phones of the sandbox are dialled so.
//!
//! A dial rings at an [`IncomingLegs`] of the same process. Statuses mean what they mean on a SIP trunk
//! ([`crate::sip::outcome`]), and so do the events and their order; the tests of the port run over both.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use domain::call::{EndCause, Fact};
use domain::ports::{
    Answer, AnswerFailed, DialFailed, Ear, EndedBy, IncomingLeg, IncomingLegs, Leg, LegControl, LegEnd,
    LegEvent, LegEvents, LegGateway, LegMedia, LegOrder,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::media::loopback::{Patch, Side};
use crate::sip::outcome;

/// How dials are limited.
#[derive(Debug, Clone)]
pub struct Settings {
    pub carrier: String,
    /// An unanswered dial is cancelled after this, unless the order has a limit of its own.
    pub ring_timeout: Duration,
    /// A dial without any response is uncertain after this.
    pub response_timeout: Duration,
}

/// Dials the parties of one [`IncomingLegs`].
pub struct Loopback {
    settings: Settings,
    callees: Arc<dyn IncomingLegs>,
    calls: Mutex<Vec<Weak<Call>>>,
    stopping: AtomicBool,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No response yet.
    Dialled,
    Ringing,
    Answered,
    /// Over before a ring: the final status of a carrier that refused.
    Refused(u16),
    Over,
}

struct Call {
    id: String,
    carrier: String,
    from: String,
    to: String,
    stage: watch::Sender<Stage>,
    /// Where the events of caller and callee go, until the call is over. Held while the stage changes, so that events come
    /// in the order of the stages.
    parties: Mutex<Vec<UnboundedSender<LegEvent>>>,
    patch: Arc<Patch>,
}

impl Loopback {
    /// A network whose calls ring at `callees`.
    pub fn new(settings: Settings, callees: Arc<dyn IncomingLegs>) -> Self {
        Self { settings, callees, calls: Mutex::default(), stopping: AtomicBool::new(false) }
    }

    fn remember(&self, call: &Arc<Call>) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|call| call.strong_count() > 0);
        calls.push(Arc::downgrade(call));
    }

    async fn dial_now(&self, order: LegOrder) -> Result<Leg, DialFailed> {
        let refused =
            |status, reason: &str| DialFailed::ProviderErrorBeforeRing { status, reason: reason.into() };
        if self.stopping.load(Ordering::SeqCst) {
            return Err(refused(None, "shutting down"));
        }
        if order.carrier.as_ref().is_some_and(|carrier| *carrier != self.settings.carrier) {
            return Err(refused(None, "no such carrier"));
        }
        let (to_caller, caller) = unbounded_channel();
        let (to_callee, callee) = unbounded_channel();
        let call = Arc::new(Call {
            id: format!("{}@loopback", order.id),
            carrier: self.settings.carrier.clone(),
            from: order.from,
            to: order.to.to_string(),
            stage: watch::Sender::new(Stage::Dialled),
            parties: Mutex::new(vec![to_caller, to_callee]),
            patch: Arc::default(),
        });
        self.remember(&call);
        let mut stage = call.stage.subscribe();
        // From here on a dropped future hangs up.
        let leg = Leg {
            control: Arc::new(Control { call: call.clone(), side: Side::Caller }),
            events: Box::new(Events(caller)),
        };
        let ring = order.ring_timeout.unwrap_or(self.settings.ring_timeout);
        tokio::spawn(give_up(Arc::downgrade(&call), Instant::now() + ring));
        self.callees.incoming(Box::new(Incoming { call: Some(call), events: Some(callee) }));
        let response = stage.wait_for(|stage| *stage != Stage::Dialled);
        match tokio::time::timeout(self.settings.response_timeout, response).await {
            Ok(Ok(stage)) => match *stage {
                Stage::Refused(status) => Err(refused(Some(status), &format!("refused with {status}"))),
                _ => Ok(leg),
            },
            Ok(Err(_)) | Err(_) => Err(DialFailed::Uncertain { reason: "no response".into() }),
        }
    }
}

/// Cancels a dial that nobody answers.
async fn give_up(call: Weak<Call>, at: Instant) {
    sleep_until(at).await;
    if let Some(call) = call.upgrade() {
        call.end(|stage| {
            (stage != Stage::Answered).then(|| {
                let fact = if stage == Stage::Ringing {
                    Fact::NoAnswer
                } else {
                    outcome::of_final(487, None, false)
                };
                (
                    end(487, EndedBy::Timeout, fact),
                    end(487, EndedBy::Them, Fact::Ended(EndCause::CallerHangup)),
                )
            })
        });
    }
}

fn end(status: u16, by: EndedBy, fact: Fact) -> LegEnd {
    LegEnd { status: Some(status), q850: None, by, fact }
}

/// A party that is gone hears nothing.
fn tell(parties: &[UnboundedSender<LegEvent>], side: Side, event: LegEvent) {
    if let Some(party) = parties.get(side as usize) {
        let _ = party.send(event);
    }
}

impl Call {
    fn parties(&self) -> MutexGuard<'_, Vec<UnboundedSender<LegEvent>>> {
        self.parties.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stage(&self) -> Stage {
        *self.stage.borrow()
    }

    /// Ends the call unless it is over, with what `decide` makes of its stage: the ends of caller and callee.
    fn end(&self, decide: impl FnOnce(Stage) -> Option<(LegEnd, LegEnd)>) {
        let mut parties = self.parties();
        let stage = self.stage();
        if matches!(stage, Stage::Over | Stage::Refused(_)) {
            return;
        }
        let Some((caller, callee)) = decide(stage) else { return };
        let next = match (stage, &caller) {
            (Stage::Dialled, LegEnd { fact: Fact::NotPlaced, status: Some(status), .. }) => {
                Stage::Refused(*status)
            }
            _ => Stage::Over,
        };
        for (party, end) in parties.drain(..).zip([caller, callee]) {
            // A party that is gone hears nothing.
            let _ = party.send(LegEvent::Ended(end));
        }
        self.stage.send_replace(next);
        drop(parties);
        self.patch.close();
    }

    fn hang_up(&self, side: Side) {
        self.end(|stage| {
            let ours = Fact::Ended(EndCause::ApiHangup);
            let theirs = Fact::Ended(EndCause::CallerHangup);
            let status = match (stage, side) {
                (Stage::Answered, _) => 200,
                (_, Side::Caller) => 487,
                (_, Side::Callee) => 480,
            };
            let (by_us, by_them) = (end(status, EndedBy::Us, ours), end(status, EndedBy::Them, theirs));
            Some(match side {
                Side::Caller => (by_us, by_them),
                Side::Callee if stage == Stage::Answered => (by_them, by_us),
                Side::Callee => (LegEnd { fact: Fact::NoAnswer, ..by_them }, by_us),
            })
        });
    }

    fn ring(&self) {
        let parties = self.parties();
        if self.stage() == Stage::Dialled {
            tell(&parties, Side::Caller, LegEvent::Ringing);
            self.stage.send_replace(Stage::Ringing);
        }
    }

    fn reject(&self, status: u16) {
        let status = if (300..700).contains(&status) { status } else { 480 };
        self.end(|stage| {
            let fact = outcome::of_final(status, None, stage == Stage::Ringing);
            Some((
                end(status, EndedBy::Them, fact),
                end(status, EndedBy::Us, Fact::Ended(EndCause::ApiHangup)),
            ))
        });
    }

    /// Answers; `false` when the call is over.
    fn answer(&self, ear: Box<dyn Ear>) -> bool {
        let parties = self.parties();
        if !matches!(self.stage(), Stage::Dialled | Stage::Ringing) {
            return false;
        }
        drop(self.patch.connect(Side::Callee, ear));
        tokio::spawn(self.patch.clone().run());
        for party in parties.iter() {
            let _ = party.send(LegEvent::Answered);
        }
        self.stage.send_replace(Stage::Answered);
        true
    }
}

/// One side of a call. Hangs up when it is dropped.
struct Control {
    call: Arc<Call>,
    side: Side,
}

impl Drop for Control {
    fn drop(&mut self) {
        self.call.hang_up(self.side);
    }
}

impl LegControl for Control {
    fn provider_call(&self) -> &str {
        &self.call.id
    }

    fn hang_up(&self) -> Answer<'_, ()> {
        Box::pin(async move { self.call.hang_up(self.side) })
    }

    /// No party of the sandbox takes a referral: refused with 603, as our SIP user agent does.
    fn refer<'a>(&'a self, _: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let parties = self.call.parties();
            if self.call.stage() == Stage::Answered {
                tell(&parties, self.side, LegEvent::TransferDone(Err(603)));
            }
        })
    }

    fn connect(&self, ear: Box<dyn Ear>) -> Option<Arc<dyn LegMedia>> {
        if self.call.stage() != Stage::Answered {
            return None;
        }
        self.call.patch.connect(self.side, ear).map(|line| Arc::new(line) as Arc<dyn LegMedia>)
    }

    fn media(&self) -> Option<Arc<dyn LegMedia>> {
        self.call.patch.line(self.side).map(|line| Arc::new(line) as Arc<dyn LegMedia>)
    }
}

struct Events(UnboundedReceiver<LegEvent>);

impl LegEvents for Events {
    fn next(&mut self) -> Answer<'_, Option<LegEvent>> {
        Box::pin(self.0.recv())
    }
}

/// A dial as its callee sees it. Dropped without a decision, it is declined with 480.
struct Incoming {
    call: Option<Arc<Call>>,
    events: Option<UnboundedReceiver<LegEvent>>,
}

impl Incoming {
    fn call(&self) -> Option<&Call> {
        self.call.as_deref()
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            call.reject(480);
        }
    }
}

impl IncomingLeg for Incoming {
    fn from(&self) -> &str {
        self.call().map_or("", |call| &call.from)
    }

    fn to(&self) -> &str {
        self.call().map_or("", |call| &call.to)
    }

    fn provider_call(&self) -> &str {
        self.call().map_or("", |call| &call.id)
    }

    fn carrier(&self) -> &str {
        self.call().map_or("", |call| &call.carrier)
    }

    fn ring(&self) {
        if let Some(call) = self.call() {
            call.ring();
        }
    }

    fn cancelled(&mut self) -> Answer<'_, ()> {
        Box::pin(async move {
            if let Some(events) = &mut self.events {
                while !matches!(events.recv().await, None | Some(LegEvent::Ended(_))) {}
            }
        })
    }

    fn reject(mut self: Box<Self>, status: u16) {
        if let Some(call) = self.call.take() {
            call.reject(status);
        }
    }

    fn answer(mut self: Box<Self>, ear: Box<dyn Ear>) -> Answer<'static, Result<Leg, AnswerFailed>> {
        Box::pin(async move {
            let (Some(call), Some(events)) = (self.call.take(), self.events.take()) else {
                return Err(AnswerFailed::Gone);
            };
            if !call.answer(ear) {
                return Err(AnswerFailed::Gone);
            }
            let control = Arc::new(Control { call, side: Side::Callee });
            Ok(Leg { control, events: Box::new(Events(events)) })
        })
    }

    /// The caller's dial becomes uncertain.
    fn ignore(mut self: Box<Self>) {
        self.call = None;
    }
}

impl LegGateway for Loopback {
    fn carriers(&self) -> Vec<String> {
        vec![self.settings.carrier.clone()]
    }

    fn dial(&self, order: LegOrder) -> Answer<'_, Result<Leg, DialFailed>> {
        Box::pin(self.dial_now(order))
    }

    /// Nobody calls in here.
    fn drain(&self, _: bool) {}

    fn stop(&self) -> Answer<'_, ()> {
        self.stopping.store(true, Ordering::SeqCst);
        let calls = std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner));
        for call in calls.iter().filter_map(Weak::upgrade) {
            call.hang_up(Side::Caller);
        }
        Box::pin(std::future::ready(()))
    }
}

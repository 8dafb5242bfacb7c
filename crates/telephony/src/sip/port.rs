//! The port of legs ([`domain::ports::LegGateway`]) over SIP: thin adapters, no decisions.

use std::sync::Arc;

use domain::ports::{self, Answer, AnswerFailed, DialFailed, Ear, LegMedia, LegOrder};
use tokio::sync::mpsc;

use super::incoming::{Inbound, IncomingCall};
use super::leg::{Decision, Leg, LegControl, LegEvent};
use super::outbound::Dial;
use super::user_agent::UserAgent;
use crate::media::Line;

impl ports::Mouth for Line {
    fn play(&self, samples: &[i16]) {
        let taken = Line::play(self, samples);
        debug_assert!(taken == samples.len(), "the playout queue is full");
    }

    fn clear(&self) -> usize {
        Line::clear(self)
    }

    fn queued_ms(&self) -> u32 {
        Line::queued_ms(self)
    }

    fn send_digits(&self, keys: &str) -> bool {
        Line::send_digits(self, keys)
    }
}

impl LegMedia for Line {
    fn is_closed(&self) -> bool {
        Line::is_closed(self)
    }
}

impl ports::LegGateway for UserAgent {
    fn carriers(&self) -> Vec<String> {
        UserAgent::carriers(self)
    }

    fn dial(&self, order: LegOrder) -> Answer<'_, Result<ports::Leg, DialFailed>> {
        let LegOrder { id, to, from, carrier, ring_timeout } = order;
        let dial = Dial { id, to, from, carrier, trunk: None, ring_timeout };
        Box::pin(async move { UserAgent::dial(self, dial).await.map(leg) })
    }

    fn drain(&self, draining: bool) {
        UserAgent::drain(self, draining);
    }

    fn stop(&self) -> Answer<'_, ()> {
        Box::pin(UserAgent::stop(self))
    }
}

fn leg(leg: Leg) -> ports::Leg {
    ports::Leg { control: Arc::new(leg.control), events: Box::new(Events(leg.events)) }
}

impl ports::LegControl for LegControl {
    fn provider_call(&self) -> &str {
        LegControl::provider_call(self)
    }

    fn hang_up(&self) -> Answer<'_, ()> {
        Box::pin(LegControl::hang_up(self))
    }

    fn refer<'a>(&'a self, to: &'a str) -> Answer<'a, ()> {
        Box::pin(LegControl::refer(self, to))
    }

    fn connect(&self, ear: Box<dyn Ear>) -> Option<Arc<dyn LegMedia>> {
        LegControl::connect(self, ear).map(|line| Arc::new(line) as Arc<dyn LegMedia>)
    }

    fn media(&self) -> Option<Arc<dyn LegMedia>> {
        self.line().map(|line| Arc::new(line) as Arc<dyn LegMedia>)
    }
}

struct Events(mpsc::UnboundedReceiver<LegEvent>);

impl ports::LegEvents for Events {
    fn next(&mut self) -> Answer<'_, Option<ports::LegEvent>> {
        Box::pin(async move {
            loop {
                if let Some(event) = event(self.0.recv().await?) {
                    return Some(event);
                }
            }
        })
    }
}

/// The event of the port; `None` for what SIP alone reports.
fn event(event: LegEvent) -> Option<ports::LegEvent> {
    Some(match event {
        LegEvent::Ringing => ports::LegEvent::Ringing,
        LegEvent::Answered(_) => ports::LegEvent::Answered,
        LegEvent::Held(hold) => ports::LegEvent::Held(hold),
        LegEvent::TransferDone(outcome) => ports::LegEvent::TransferDone(outcome),
        LegEvent::Ended(end) => ports::LegEvent::Ended(end),
        LegEvent::EarlyMedia(_) | LegEvent::Digit(_) | LegEvent::TransferProgress(_) => return None,
    })
}

/// Hands incoming INVITEs to the port.
pub struct ToPort(pub Arc<dyn ports::IncomingLegs>);

impl Inbound for ToPort {
    fn invite(&self, call: IncomingCall) {
        self.0.incoming(Box::new(call));
    }
}

impl ports::IncomingLeg for IncomingCall {
    fn from(&self) -> &str {
        IncomingCall::from(self)
    }

    fn to(&self) -> &str {
        IncomingCall::to(self)
    }

    fn provider_call(&self) -> &str {
        self.id()
    }

    fn carrier(&self) -> &str {
        self.control.carrier()
    }

    fn ring(&self) {
        self.control.decide(Decision::Ring);
    }

    fn cancelled(&mut self) -> Answer<'_, ()> {
        Box::pin(IncomingCall::cancelled(self))
    }

    fn reject(self: Box<Self>, status: u16) {
        self.control.decide(Decision::Reject(status));
    }

    fn answer(self: Box<Self>, ear: Box<dyn Ear>) -> Answer<'static, Result<ports::Leg, AnswerFailed>> {
        Box::pin(async move { IncomingCall::answer(*self, ear).await.map(leg) })
    }

    fn ignore(self: Box<Self>) {
        IncomingCall::ignore(*self);
    }
}

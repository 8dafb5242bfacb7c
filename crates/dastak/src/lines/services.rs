//! What a conversation asks of the service: tools, people, and taking down what became known.

use std::sync::Arc;

use api::live_calls::CallFlag;
use domain::call::{EndCause, Fact, TurnLatency};
use domain::ids::{Call, Id};
use domain::ports::{Answer, LegControl, LegEvent, LegEvents, LegMedia, ToolOffer};
use domain::tenant::Tenant;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::sync::mpsc::Receiver;
use tokio::time::Instant;

use super::facts::Facts;
use super::live::Lines;
use super::passages::Passages;
use super::session::Session;
use super::transfer::{Bridge, Fork, Referred, bring};
use crate::app::calls::live::{LiveCalls, Said};
use crate::app::{App, calls, tool_calls};
use voice::{self, CallProgress, Command, TransferFailure, TransferOrder};

/// A reaction that takes longer is flagged, milliseconds.
const SLOW_MS: i64 = 2_000;

/// What the conversation of one call asks for, done with the app and the lines.
pub(super) struct LineServices {
    pub(super) lines: Arc<Lines>,
    pub(super) app: Arc<App>,
    pub(super) tenant: Tenant,
    pub(super) id: Id<Call>,
    pub(super) control: Arc<dyn LegControl>,
    pub(super) facts: Facts,
    pub(super) line: Arc<dyn LegMedia>,
    pub(super) fork: Fork,
    pub(super) referred: Mutex<Referred>,
    pub(super) talk: calls::Talk,
    passages: Passages,
    bridge: std::sync::Mutex<Option<Bridge>>,
    live: Arc<LiveCalls>,
}

/// The call is not shown as live any more.
impl Drop for LineServices {
    fn drop(&mut self) {
        self.live.end(self.id);
    }
}

impl LineServices {
    pub(super) fn new(
        session: &Session,
        talk: &calls::Talk,
        line: Arc<dyn LegMedia>,
        fork: Fork,
        referred: Referred,
    ) -> Self {
        let live = LiveCalls::of(&session.app);
        live.begin(session.tenant, session.id);
        Self {
            live,
            lines: session.lines.clone(),
            app: session.app.clone(),
            tenant: session.tenant,
            id: session.id,
            control: session.control.clone(),
            facts: session.facts.clone(),
            line,
            fork,
            referred: Mutex::new(referred),
            talk: talk.clone(),
            passages: Passages::new(&session.app, session.tenant, talk.agent, talk.uses_knowledge()),
            bridge: std::sync::Mutex::new(None),
        }
    }

    /// After a transfer beside the call: keeps customer and person together until one of them leaves, a
    /// hang-up is asked for, or the call has lasted as long as it may. How it ended, unless one of the two
    /// left.
    pub(super) async fn stay_bridged(
        &self,
        events: &mut dyn LegEvents,
        orders: &mut Receiver<Command>,
        longest: Instant,
    ) -> Option<EndCause> {
        let mut bridge = self.take_bridge()?;
        // People of the sandbox do not hang up by themselves.
        let curtain = self
            .lines
            .phones
            .as_ref()
            .map_or(longest, |_| longest.min(Instant::now() + super::sandbox::TALK));
        let (stopped, politely) = loop {
            tokio::select! {
                event = events.next() => if matches!(event, None | Some(LegEvent::Ended(_))) { break (None, false) },
                () = bridge.person_left() => break (None, false),
                order = orders.recv() => match order {
                    None => break (None, false),
                    Some(Command::HangUp(cause)) => break (Some(cause), false),
                    Some(Command::TakeLeave(cause)) => break (Some(cause), true),
                    Some(Command::PeerGone | Command::Hold(_)) => {}
                },
                () = tokio::time::sleep_until(curtain) => break if curtain < longest { (None, false) } else { (Some(EndCause::MaxDuration), true) },
            }
        };
        if politely {
            bridge.interrupt();
            tokio::select! {
                () = bridge.take_leave(self) => {}
                () = tokio::time::sleep(super::session::LEAVE) => {}
                () = gone(events) => {}
                () = hung_up(orders) => {}
            }
        }
        bridge.end(if stopped.is_some() { "call_ended" } else { "hangup" }).await;
        stopped
    }

    /// Lets go of a person who was brought in and is still there.
    pub(super) async fn part(&self) {
        if let Some(bridge) = self.take_bridge() {
            bridge.end("call_over").await;
        }
    }

    fn take_bridge(&self) -> Option<Bridge> {
        self.bridge.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }

    /// For those who watch the call.
    fn watched(&self, said: Said) {
        self.live.tell(self.id, said, self.app.clock.now());
    }

    async fn transfer_now(&self, order: TransferOrder) -> Result<(), TransferFailure> {
        let bridge = bring(self, &order).await?;
        *self.bridge.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = bridge;
        Ok(())
    }
}

/// Waits until the customer is gone.
async fn gone(events: &mut dyn LegEvents) {
    while !matches!(events.next().await, None | Some(LegEvent::Ended(_))) {}
}

/// Waits until the call is to end without a goodbye.
async fn hung_up(orders: &mut Receiver<Command>) {
    while !matches!(orders.recv().await, None | Some(Command::HangUp(_))) {}
}

impl voice::CallServices for LineServices {
    fn now(&self) -> domain::time::Timestamp {
        self.app.clock.now()
    }

    fn call_tool(
        &self,
        request: u64,
        tool_id: &str,
        arguments: Map<String, Value>,
    ) -> Answer<'_, Result<Value, String>> {
        let call = tool_calls::Call {
            tool: tool_id.to_owned(),
            interaction: self.id.to_string(),
            key: format!("{}-{request}", self.id),
            arguments,
        };
        Box::pin(async move { tool_calls::call(&self.app, &self.app.tools, self.tenant, call).await })
    }

    fn tool_offers(&self, ids: &[String]) -> Answer<'_, Vec<ToolOffer>> {
        let ids = ids.to_vec();
        Box::pin(async move {
            match tool_calls::offers(&self.app, self.tenant, &ids).await {
                Ok(offers) => offers,
                Err(failure) => {
                    failure.log_about(self.id, "the tools of a call could not be read");
                    Vec::new()
                }
            }
        })
    }

    fn said_so_far(&self, text: &str) {
        self.passages.said_so_far(text);
    }

    fn knowledge(&self, question: &str) -> Answer<'_, Vec<String>> {
        Box::pin(self.passages.find(question.to_owned()))
    }

    fn send_message(&self, template: Option<Value>, text: String) -> Answer<'_, ()> {
        Box::pin(async move {
            let sent = channel::speaking::during_call(&self.app, self.tenant, self.id, template, text).await;
            if let Err(failure) = sent {
                failure.warn_about(self.id, "a message was not sent during a call");
            }
        })
    }

    fn transfer(&self, order: TransferOrder) -> Answer<'_, Result<(), TransferFailure>> {
        Box::pin(self.transfer_now(order))
    }

    fn fact(&self, fact: Fact) {
        if fact == Fact::OptOutSaid {
            self.watched(Said::Flag(CallFlag::AskedNotToBeCalled));
        }
        self.facts.tell(fact);
    }

    fn answered(&self, latency: &TurnLatency) {
        self.app.metrics.turn_answered(latency);
        if latency.first_packet_ms.is_some_and(|ms| ms > SLOW_MS) {
            self.watched(Said::Flag(CallFlag::SlowReaction));
        }
    }

    fn progressed(&self, progress: CallProgress) {
        self.watched(match progress {
            CallProgress::Words { turn, role, text, complete } => Said::Words { turn, role, text, complete },
            CallProgress::Step { node, name } => Said::Step { id: node, name },
            CallProgress::Captured { field, value } => Said::Captured { field, value },
            CallProgress::PersonWanted => Said::Flag(CallFlag::AsksForPerson),
        });
    }
}

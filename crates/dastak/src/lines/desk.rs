//! What a conversation asks of the service: tools, people, and taking down what became known.

use std::sync::Arc;

use domain::call::{EndCause, Fact, TurnLatency};
use domain::conversation::TransferMode;
use domain::ids::{Call, Id};
use domain::ports::{Answer, ToolOffer};
use domain::tenant::Tenant;
use serde_json::{Map, Value, json};
use telephony::media::Line;
use telephony::sip::{LegControl, LegEvent};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver};

use super::Lines;
use super::facts::Facts;
use super::session::Session;
use super::transfer::{Bridge, Fork, Referred, bring};
use crate::app::{App, calls, tool_calls};
use crate::voice::{self, Command, TransferFailure, TransferOrder};

/// The desk of one call.
pub(super) struct Desk {
    pub(super) lines: Arc<Lines>,
    pub(super) app: Arc<App>,
    pub(super) tenant: Tenant,
    pub(super) id: Id<Call>,
    pub(super) control: LegControl,
    pub(super) facts: Facts,
    /// The customer's line.
    pub(super) line: Line,
    pub(super) fork: Fork,
    pub(super) referred: Mutex<Referred>,
    pub(super) talk: calls::Talk,
    commands: Sender<Command>,
    bridge: std::sync::Mutex<Option<Bridge>>,
}

impl Desk {
    pub(super) fn new(session: &Session, talk: &calls::Talk, line: Line, fork: Fork, referred: Referred, commands: Sender<Command>) -> Self {
        Self {
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
            commands,
            bridge: std::sync::Mutex::new(None),
        }
    }

    /// After a transfer beside the call: keeps customer and person together until one of them leaves or a hang-up is asked for.
    pub(super) async fn stay_bridged(&self, events: &mut UnboundedReceiver<LegEvent>, orders: &mut Receiver<Command>) {
        let bridge = self.bridge.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let Some(mut bridge) = bridge else { return };
        loop {
            tokio::select! {
                event = events.recv() => if matches!(event, None | Some(LegEvent::Ended(_))) { break },
                () = bridge.person_left() => break,
                order = orders.recv() => if matches!(order, None | Some(Command::HangUp(_))) { break },
            }
        }
        bridge.end().await;
    }

    async fn transfer_now(&self, order: TransferOrder) -> Result<(), TransferFailure> {
        let bridge = bring(self, &order).await?;
        *self.bridge.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = bridge;
        Ok(())
    }
}

/// The built-in tool that brings in a person.
const TO_HUMAN: &str = "transfer_to_human";

impl voice::Desk for Desk {
    fn call_tool(&self, tool_id: &str, arguments: Map<String, Value>) -> Answer<'_, Result<Value, String>> {
        let tool_id = tool_id.to_owned();
        Box::pin(async move {
            if tool_id == TO_HUMAN {
                let briefing = arguments.get("reason").and_then(Value::as_str).unwrap_or("A customer wants to speak to a person.").to_owned();
                let order = TransferOrder { numbers: self.talk.allowed_numbers.clone(), mode: TransferMode::Warm, briefing };
                return match self.transfer_now(order).await {
                    Ok(()) => {
                        let _ = self.commands.send(Command::HangUp(EndCause::TransferHandoff)).await;
                        Ok(json!({"transferred": true}))
                    }
                    Err(failure) => Err(failure.reason().to_owned()),
                };
            }
            tool_calls::call(&self.app, &self.lines.tools, self.tenant, &tool_id, self.id, arguments).await
        })
    }

    fn tool_offers(&self, ids: &[String]) -> Answer<'_, Vec<ToolOffer>> {
        let ids = ids.to_vec();
        Box::pin(async move {
            let mut offers = match tool_calls::offers(&self.app, self.tenant, &ids).await {
                Ok(offers) => offers,
                Err(failure) => {
                    tracing::error!(call = %self.id, code = failure.error.code, cause = failure.cause, "the tools of a call could not be read");
                    Vec::new()
                }
            };
            if ids.iter().any(|id| id == TO_HUMAN) && !self.talk.allowed_numbers.is_empty() {
                offers.push(ToolOffer {
                    id: TO_HUMAN.into(),
                    name: TO_HUMAN.into(),
                    description: "Hands the call to a person.".into(),
                    parameters: json!({"type": "object", "properties": {"reason": {"type": "string", "description": "What the person should know before joining."}}}),
                });
            }
            offers
        })
    }

    /// There are no knowledge bases yet.
    fn knowledge(&self, _: &str) -> Answer<'_, Vec<String>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    fn send_message(&self, template: Option<Value>, _: String) -> Answer<'_, ()> {
        tracing::warn!(call = %self.id, template = template.is_some(), "a message was not sent: the chat-app channel is not connected");
        Box::pin(std::future::ready(()))
    }

    fn transfer(&self, order: TransferOrder) -> Answer<'_, Result<(), TransferFailure>> {
        Box::pin(self.transfer_now(order))
    }

    fn fact(&self, fact: Fact) {
        self.facts.tell(fact);
    }

    fn answered(&self, latency: &TurnLatency) {
        self.app.metrics.turn_answered(latency);
    }
}

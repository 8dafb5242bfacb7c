//! What a conversation requests of the service: tools, knowledge, messages, transfers.

use domain::call::{Fact, TurnLatency};
use domain::conversation::{Role, TransferMode};
use domain::ports::{Answer, ToolOffer};
use domain::time::Timestamp;
use serde_json::{Map, Value};

/// Whom to bring in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferOrder {
    /// Numbers to ring, in order, `+91…`. The agent may ring all of them.
    pub numbers: Vec<String>,
    /// Warm: the person is rung beside the call, hears the briefing, and joins. Cold: the call is referred to
    /// the number.
    pub mode: TransferMode,
    /// What the person hears before they join: in the agent's language, with the customer's own words.
    pub briefing: String,
}

/// Why nobody was brought in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferFailure {
    NoAnswer,
    /// The line was busy, or the person declined.
    Busy,
    /// There is no number that the agent may ring.
    NotAllowed,
    /// The carrier cannot do it.
    Carrier,
}

impl TransferFailure {
    /// The message for the model.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoAnswer => "nobody answered",
            Self::Busy => "the line was busy",
            Self::NotAllowed => "there is no number that may be rung",
            Self::Carrier => "the call could not be handed over",
        }
    }
}

/// What those who watch a call are shown. Words that must not be kept are not in it.
#[derive(Debug, Clone, PartialEq)]
pub enum CallProgress {
    /// Words of a turn. Of one that is not complete they are a guess, and each replaces the one before. A complete one may
    /// come again: something in it must not be kept after all.
    Words {
        /// Number of the turn, from 0.
        turn: usize,
        role: Role,
        text: String,
        complete: bool,
    },
    /// The conversation is in this node of its flow.
    Step { node: String, name: Option<String> },
    /// A value was captured.
    Captured { field: String, value: Value },
    /// The customer is to be connected with a person.
    PersonWanted,
}

/// The services that a conversation needs besides speech. The futures may take their time; dropping one cancels it.
pub trait CallServices: Send + Sync {
    /// What it is now, for the days and times that the customer says.
    fn now(&self) -> Timestamp;

    /// Calls a tool; the text of an error is passed on to the model. No two requests of a conversation have the
    /// same number.
    fn call_tool(
        &self,
        request: u64,
        tool_id: &str,
        arguments: Map<String, Value>,
    ) -> Answer<'_, Result<Value, String>>;

    /// The definitions of these tools for the model; deleted ones are left out.
    fn tool_offers(&self, ids: &[String]) -> Answer<'_, Vec<ToolOffer>>;

    /// Prefetch hook: the customer has said this so far, and may go on. Must not block.
    fn said_so_far(&self, text: &str) {
        let _ = text;
    }

    /// Passages of the knowledge base for a question; none where there is no knowledge base.
    fn knowledge(&self, question: &str) -> Answer<'_, Vec<String>>;

    /// Sends a message on the chat-app channel. Nothing waits for it.
    fn send_message(&self, template: Option<Value>, text: String) -> Answer<'_, ()>;

    /// Brings in a person. After `Ok` the customer hears the person and no longer this conversation.
    fn transfer(&self, order: TransferOrder) -> Answer<'_, Result<(), TransferFailure>>;

    /// Stores a fact: [`Fact::AgentConnected`], [`Fact::PickedUpBy`], [`Fact::OptOutSaid`]. Must not block.
    fn fact(&self, fact: Fact);

    /// The agent has reacted to a turn of the customer; for the metrics. Must not block.
    fn answered(&self, latency: &TurnLatency) {
        let _ = latency;
    }

    /// The conversation has progressed; for those who watch. Must not block.
    fn progressed(&self, progress: CallProgress) {
        let _ = progress;
    }
}

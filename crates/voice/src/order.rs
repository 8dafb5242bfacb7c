//! Parameters, commands and result of a conversation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use domain::call::{EndCause, Fact, Report};
use domain::conversation::Flow;
use domain::conversation::speakable::{Pronunciations, Speakable};
use domain::ports::{LanguageModel, Recogniser, Synthesiser};
use domain::tenant::Tenant;
use serde_json::{Map, Value};

/// Action on answering machines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Amd {
    /// Nothing: the agent speaks at once (incoming calls).
    Off,
    /// The call is ended as `voicemail`.
    #[default]
    HangUp,
    /// The order's message is spoken after the beep, then the call is ended as `voicemail`.
    LeaveMessage(String),
}

/// The order of a conversation.
#[derive(Debug, Clone)]
pub struct Order {
    /// The workspace of the call, if it has one.
    pub workspace: Option<Tenant>,
    pub flow: Arc<Flow>,
    pub variables: Map<String, Value>,
    /// Language code (docs/contract/agents.md#fields).
    pub language: String,
    /// The languages that the customer is followed into, with the own one; empty for none.
    pub languages: Vec<String>,
    /// An id of `GET /v1/voices`; empty for the default one.
    pub voice: String,
    /// Whether card numbers, OTPs and their like are taken out of the transcript, of what the model is shown, and of
    /// the recording.
    pub redact: bool,
    /// Voices for some of the languages.
    pub voices: BTreeMap<String, String>,
    /// How texts are prepared for the voice.
    pub speakable: Speakable,
    /// The agent's `allowedTransferNumbers` (`+91…`): no other number is rung. If empty, the numbers that its
    /// own flow names.
    pub allowed_numbers: Vec<String>,
    /// Names of the contact and the company: with the flow's choices and values, they are key terms of recognisers
    /// that take some.
    pub names: Vec<String>,
    /// Words that are likely to be said, besides what the flow expects: names, products.
    pub phrases: Vec<String>,
    pub amd: Amd,
    /// Who calls and why, in the agent's language: said to an assistant that screens calls.
    pub introduction: String,
    /// Longest wait for a person after such an assistant, or an announcement, has picked up.
    pub person_wait: Duration,
    /// The agent may press keys: a long greeting may be a menu, and is no machine by itself.
    pub menus: bool,
    /// Whether the customer may interrupt the agent. Off for texts that by law must be heard to their end.
    pub interruptible: bool,
    /// Longest conversation, from the answer; then a short goodbye and `max_duration`.
    pub max_duration: Duration,
    /// Silence before the customer is asked whether they are there.
    pub silence: Duration,
    /// Time of a tool or the model after which the customer hears a filler (`one moment`).
    pub filler_after: Duration,
    /// Ends the call politely as `agent_ended` after this long (the sandbox phone network).
    pub end_after: Option<Duration>,
}

impl Order {
    /// The default conversation: machines are hung up on, ten minutes at most, seven seconds of silence, a filler after
    /// 1.5 s.
    pub fn new(
        flow: Arc<Flow>,
        variables: Map<String, Value>,
        language: impl Into<String>,
        voice: impl Into<String>,
    ) -> Self {
        let language = language.into();
        Self {
            workspace: None,
            flow,
            variables,
            redact: false,
            speakable: Speakable::new(&language, true, Pronunciations::default()),
            language,
            languages: Vec::new(),
            voice: voice.into(),
            voices: BTreeMap::new(),
            allowed_numbers: Vec::new(),
            names: Vec::new(),
            phrases: Vec::new(),
            amd: Amd::default(),
            introduction: String::new(),
            person_wait: Duration::from_secs(30),
            menus: false,
            interruptible: true,
            max_duration: Duration::from_secs(600),
            silence: Duration::from_secs(7),
            filler_after: Duration::from_millis(1500),
            end_after: None,
        }
    }
}

impl Order {
    /// The voice that speaks this language.
    pub(crate) fn voice_of(&self, language: &str) -> &str {
        self.voices.get(language).filter(|voice| !voice.is_empty()).unwrap_or(&self.voice)
    }
}

/// The providers that hear, speak and think. Each may be a chain of several.
#[derive(Clone)]
pub struct Speech {
    pub to_text: Arc<dyn Recogniser>,
    pub from_text: Arc<dyn Synthesiser>,
    /// The language model that talks in a `converse` node.
    pub model: Arc<dyn LanguageModel>,
}

/// Commands of the service to a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// End it now, without a word; the reason becomes the call's end.
    HangUp(EndCause),
    /// End it politely: cut short the current words, say that the time is up, and end; the reason becomes the call's
    /// end.
    TakeLeave(EndCause),
    /// The customer hung up.
    PeerGone,
    /// The customer put the call on hold (true), or took it back.
    Hold(bool),
}

/// A finished conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Its results.
    pub report: Report,
    /// How the call ended: [`Fact::Ended`], [`Fact::Voicemail`] or [`Fact::AgentFailed`]. The line
    /// is still open.
    pub end: Fact,
}

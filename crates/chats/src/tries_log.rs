//! What is stored of a run of a flow: the inputs of its conversation by turn. The interpreter is pure, so the conversation
//! is made again from them, up to any turn.

use std::sync::Arc;

use app::Failure;
use domain::agent::Channel as AgentChannel;
use domain::conversation::{
    Channel, Conversation, ConversationSettings, Ended, Flow, Input, Output, Stopped, TakenEdge,
};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Log {
    pub channel: AgentChannel,
    /// The languages of the agent, its own first.
    pub languages: Vec<String>,
    pub redact: bool,
    pub variables: Map<String, Value>,
    /// Names of variables that have their own names as values.
    pub samples: Vec<String>,
    pub turns: Vec<LoggedTurn>,
}

/// A turn: what the customer did, and what the model, tools and people answered.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LoggedTurn {
    /// When it was, milliseconds since 1970.
    pub at: i64,
    pub heard: Option<String>,
    pub inputs: Vec<Input>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<LoggedTool>,
    /// Texts that a built-in tool wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<(String, String)>,
    /// The step at which it waits afterwards.
    pub step: Option<String>,
    /// How the conversation ended without the interpreter: by a built-in tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// A tool that would have been called.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LoggedTool {
    pub step: String,
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub result: Value,
    pub failed: bool,
    pub sample: bool,
}

/// What a turn said and where it went.
#[derive(Debug, Default)]
pub(crate) struct Played {
    pub said: Vec<(Option<String>, String)>,
    pub edges: Vec<TakenEdge>,
    /// Bytes of what was said.
    pub bytes: usize,
}

impl Played {
    /// Takes the outputs of one input.
    pub fn take(&mut self, conversation: &Conversation, outputs: &[Output]) {
        self.edges.extend_from_slice(conversation.taken());
        for output in outputs {
            match output {
                Output::Say { node_id, text, .. } => self.say(node_id.clone(), text),
                Output::SendMessage { node_id, text, template: None } => {
                    self.say(Some(node_id.clone()), text)
                }
                Output::SendMessage { node_id, template: Some(template), .. } => {
                    self.say(Some(node_id.clone()), &template.to_string());
                }
                _ => {}
            }
        }
    }

    pub fn say(&mut self, step: Option<String>, text: &str) {
        self.bytes += text.len();
        self.said.push((step, text.to_owned()));
    }
}

/// A conversation that was made again.
pub(crate) struct Replayed {
    pub conversation: Conversation,
    /// The newest turn.
    pub last: Played,
    /// Bytes of everything that was said.
    pub bytes: usize,
}

/// Has the interpreter take an input; on a call every word counts as spoken at once.
pub(crate) fn step(conversation: &mut Conversation, played: &mut Played, input: Input) -> Vec<Output> {
    let mut outputs = conversation.step(input);
    played.take(conversation, &outputs);
    let more = conversation.step(Input::Sounded { said: u64::MAX });
    played.take(conversation, &more);
    outputs.extend(more);
    outputs
}

impl Log {
    /// Reads a stored run.
    ///
    /// # Errors
    /// Internal only.
    pub fn read(text: &str) -> Result<Self, Failure> {
        serde_json::from_str(text).map_err(|why| Failure::internal(format!("a stored run of a flow: {why}")))
    }

    /// Its stored form.
    ///
    /// # Errors
    /// Internal only.
    pub fn write(&self) -> Result<String, Failure> {
        serde_json::to_string(self).map_err(|why| Failure::internal(why.to_string()))
    }

    fn conversation(&self, flow: Arc<Flow>) -> Conversation {
        let channel = match self.channel {
            AgentChannel::Call => Channel::Call,
            AgentChannel::Chat => Channel::Chat,
        };
        let language = self.languages.first().map_or("en", String::as_str);
        let settings = ConversationSettings {
            redact: self.redact,
            ..ConversationSettings::of(channel, language).following(&self.languages)
        };
        Conversation::new(flow, self.variables.clone(), settings)
    }

    /// Makes the conversation again.
    pub fn replay(&self, flow: Arc<Flow>) -> Replayed {
        let mut conversation = self.conversation(flow);
        let (mut last, mut bytes) = (Played::default(), 0);
        for turn in &self.turns {
            last = Played::default();
            conversation.set_now(turn.at);
            for input in &turn.inputs {
                step(&mut conversation, &mut last, input.clone());
            }
            for (at, text) in &turn.written {
                last.say(Some(at.clone()), text);
            }
            bytes += last.bytes;
        }
        Replayed { conversation, last, bytes }
    }

    /// How it ended, if it has.
    pub fn ended(&self, conversation: &Conversation) -> Option<Ended> {
        conversation.ended().cloned().or_else(|| self.turns.last()?.ended.clone())
    }
}

/// The name of a step for people.
fn name_of(flow: &Flow, id: &str) -> String {
    let name = flow.node(id).and_then(|node| node.name.clone());
    name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| id.to_owned())
}

/// A sentence about where a flow stopped, with the code.
pub(crate) fn sentence(flow: &Flow, stopped: &Stopped) -> (api::flow_tries::TryStopCode, String) {
    use api::flow_tries::TryStopCode as Code;
    use domain::conversation::StopReason;
    let step = stopped.node_id.as_deref().map_or_else(
        || "the beginning of the flow".to_owned(),
        |id| format!("the step «{}»", name_of(flow, id)),
    );
    let edge = &stopped.edge;
    match stopped.why {
        StopReason::NoStart => (Code::NoStart, "The flow does not say with which step it starts.".to_owned()),
        StopReason::MissingEdge => {
            (Code::MissingEdge, format!("After {step} nothing follows: its field {edge} is not set."))
        }
        StopReason::UnknownStep => {
            (Code::UnknownStep, format!("The field {edge} of {step} names a step that does not exist."))
        }
        StopReason::EndlessLoop => (
            Code::EndlessLoop,
            format!(
                "After {step} the flow comes back to a step that it has just entered, without a question between."
            ),
        ),
        StopReason::TooManyRequests => (
            Code::TooManyRequests,
            "The flow asked models and tools 50 times without a word of the customer.".to_owned(),
        ),
        StopReason::StepGone => (Code::StepGone, "The step at which the flow waited is gone.".to_owned()),
    }
}

/// The time of a new turn.
pub(crate) fn turn_at(now: Timestamp, heard: Option<String>) -> LoggedTurn {
    LoggedTurn { at: now.0, heard, ..LoggedTurn::default() }
}

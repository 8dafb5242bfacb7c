//! The `converse` node: turns of the language model, the tools it calls, and its exits.

use serde_json::Value;

use super::effects::Interpreter;
use super::graph::{Converse, Exit, NodeKind};
use super::state::{EndCause, Exchange, ModelToolCall, Output, Phase, Talk, Waiting};

/// Tool rounds in one reply; after these the model is offered no tools.
const MAX_ROUNDS: u32 = 5;
/// Tool calls in one round; more are dropped.
const MAX_CALLS: usize = 10;

/// What the model answered.
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) exit: Option<usize>,
    pub(super) tool_calls: Vec<ModelToolCall>,
    pub(super) end: bool,
    pub(super) outcome: Option<String>,
}

impl<'f> Interpreter<'f, '_> {
    /// Enters a `converse` node: the model speaks first.
    pub(super) fn start_talk(&mut self, node_id: &str) {
        let talk = Talk {
            node: node_id.to_owned(),
            replies: 0,
            failures: 0,
            rounds: 0,
            heard: false,
            waiting: Waiting::Customer,
        };
        self.state.phase = Phase::Talk(talk);
        self.ask_model();
    }

    /// The customer said something, so the model is asked, again if it was already asked. While tools are
    /// running, their answers are awaited first, and the model sees both.
    pub(super) fn customer_spoke(&mut self) {
        let Some(talk) = self.talk() else { return };
        talk.heard = true;
        if !matches!(talk.waiting, Waiting::Tools(_)) {
            self.ask_model();
        }
    }

    fn talk(&mut self) -> Option<&mut Talk> {
        match &mut self.state.phase {
            Phase::Talk(talk) => Some(talk),
            Phase::New
            | Phase::Collect { .. }
            | Phase::Tool { .. }
            | Phase::Transfer { .. }
            | Phase::Document { .. } => None,
            Phase::Closing | Phase::Over => None,
        }
    }

    fn conversing(&self, node: &str) -> Option<&'f Converse> {
        match self.flow.node(node).map(|node| &node.kind) {
            Some(NodeKind::Converse(converse)) => Some(converse),
            _ => None,
        }
    }

    fn ask_model(&mut self) {
        let Some(talk) = self.talk() else { return };
        let (node_id, opening, tools_left) = (talk.node.clone(), !talk.heard, talk.rounds < MAX_ROUNDS);
        let Some(converse) = self.conversing(&node_id) else { return self.fail() };
        let Some(request) = self.request() else { return };
        if let Some(talk) = self.talk() {
            talk.waiting = Waiting::Model(request);
        }
        self.out.push(Output::AskModel {
            request,
            prompt: self.filled(&converse.prompt),
            history: self.state.shown(),
            exits: converse.exits.iter().map(|exit| self.filled(&exit.when)).collect(),
            tool_ids: if tools_left { converse.tool_ids.clone() } else { Vec::new() },
            use_knowledge: converse.use_knowledge,
            opening,
            node_id,
        });
    }

    /// The node, if this is the request whose answer is awaited.
    fn awaited(&mut self, request: u64) -> Option<String> {
        self.talk().filter(|talk| talk.waiting == Waiting::Model(request)).map(|talk| talk.node.clone())
    }

    /// The model has answered. Returns the exit that the flow takes, with its node and its index, if it leaves by one.
    pub(super) fn model_said(&mut self, request: u64, reply: Reply) -> Option<(String, usize, &'f Exit)> {
        let node = self.awaited(request)?;
        let Some(converse) = self.conversing(&node) else {
            self.fail();
            return None;
        };
        let exit = reply.exit.and_then(|index| Some((index, converse.exits.get(index)?)));
        let blank = reply.text.trim().is_empty();
        if blank && exit.is_none() && !reply.end && reply.tool_calls.is_empty() {
            self.model_failed(request);
            return None;
        }
        self.say_plain(&node, reply.text);
        let talk = self.talk()?;
        talk.failures = 0;
        if !reply.tool_calls.is_empty() && talk.rounds < MAX_ROUNDS {
            talk.rounds += 1;
            self.call_tools(&node, converse, reply.tool_calls);
            return None;
        }
        talk.rounds = 0;
        talk.replies += u32::from(talk.heard);
        let spent = talk.replies >= converse.max_turns;
        if reply.end {
            self.finish(reply.outcome, EndCause::AgentEnded);
            return None;
        }
        let exit = exit.or(converse.exits.first().filter(|_| spent).map(|first| (0, first)));
        match exit {
            Some(_) => {}
            None if spent => self.close(&node, None),
            None => {
                if let Some(talk) = self.talk() {
                    talk.waiting = Waiting::Customer;
                }
                self.listen_freely(&node);
            }
        }
        exit.map(|(index, exit)| (node, index, exit))
    }

    /// The model failed or said nothing. The customer is asked to repeat, or the conversation ends after too
    /// many failures.
    pub(super) fn model_failed(&mut self, request: u64) {
        let Some(node) = self.awaited(request) else { return };
        let most = self.state.settings.max_model_failures.max(1);
        let Some(talk) = self.talk() else { return };
        talk.failures += 1;
        talk.rounds = 0;
        talk.waiting = Waiting::Customer;
        let (failures, heard) = (talk.failures, talk.heard);
        let phrases = &self.state.settings.phrases;
        if failures >= most {
            let trouble = phrases.trouble.clone();
            self.say_plain(&node, trouble);
            return self.finish(Some("error".into()), EndCause::ModelUnavailable);
        }
        let phrase = if heard { phrases.say_again.clone() } else { phrases.greeting.clone() };
        self.say_plain(&node, phrase);
        self.listen_freely(&node);
    }

    fn call_tools(&mut self, node: &str, converse: &Converse, calls: Vec<ModelToolCall>) {
        let mut waiting = Vec::new();
        for call in calls.into_iter().take(MAX_CALLS) {
            let Some(request) = self.request() else { return };
            let (tool_id, arguments) = (call.tool_id, call.arguments);
            self.state.history.push(Exchange::ToolCalled {
                request,
                tool_id: tool_id.clone(),
                arguments: arguments.clone(),
            });
            if converse.tool_ids.contains(&tool_id) {
                waiting.push(request);
                self.after_words(Output::CallTool { request, node_id: node.to_owned(), tool_id, arguments });
            } else {
                self.state.history.push(Exchange::ToolAnswered {
                    request,
                    ok: false,
                    value: "no such tool".into(),
                });
            }
        }
        let none = waiting.is_empty();
        if let Some(talk) = self.talk() {
            talk.waiting = Waiting::Tools(waiting);
        }
        if none {
            self.ask_model();
        }
    }

    /// A tool that the model called has answered. After the last answer, the model continues.
    pub(super) fn model_tool_answered(&mut self, request: u64, answer: Result<Value, String>) {
        let Some(Talk { waiting: Waiting::Tools(waiting), .. }) = self.talk() else { return };
        let Some(at) = waiting.iter().position(|awaited| *awaited == request) else { return };
        waiting.remove(at);
        let done = waiting.is_empty();
        let (ok, value) = match answer {
            Ok(value) => (true, value),
            Err(reason) => (false, Value::String(reason)),
        };
        self.state.history.push(Exchange::ToolAnswered { request, ok, value });
        if done {
            self.ask_model();
        }
    }
}

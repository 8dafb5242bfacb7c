//! The interpreter: it takes what happened and returns what to do, and never waits itself. A phone call, an
//! API chat and a chat-app conversation differ only in what carries the words.
//!
//! It cannot run away, even with a flow that nobody checked. Within one input no variable changes, so a node
//! entered twice would be entered for ever: the conversation ends with outcome and cause `error`. Between two
//! inputs of the customer at most [`MAX_REQUESTS`] requests go to models, tools and people, and at most
//! [`MAX_SILENCES`] silences are sat through.
//!
//! It runs ahead of the voice in words only: what a node does waits until the words before it have sounded
//! (`held`).

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::answers;
use super::branch;
use super::check::Channel;
use super::graph::{
    Collect, Document, Field, FieldKind, Flow, Message, Node, NodeKind, Transfer, TransferMode,
};
use super::parse::MAX_VARIABLES;
use super::state::{
    EndCause, Ended, Exchange, Expected, Input, Output, Phase, Role, Settings, State, Turn, Waiting,
};
use super::talk::Reply;
use super::template;

/// Most requests to models, tools and people between two inputs of the customer.
pub const MAX_REQUESTS: u32 = 50;
/// Most silences in a row, whatever the flow does about them.
pub const MAX_SILENCES: u32 = 12;
/// Longest text taken in at once, in characters; the rest is cut off (docs/contract/voice.md#taking-turns).
pub const MAX_HEARD: usize = 4000;
const MAX_DIGITS: usize = 64;

/// A conversation under way.
#[derive(Debug, Clone)]
pub struct Conversation {
    flow: Arc<Flow>,
    state: State,
}

impl Conversation {
    /// A conversation that waits for [`Input::Started`]. `variables` are the call's; the flow's defaults fill
    /// the gaps.
    pub fn new(flow: Arc<Flow>, mut variables: Map<String, Value>, settings: Settings) -> Self {
        for variable in &flow.variables {
            let absent = variables.get(&variable.name).is_none_or(Value::is_null);
            if let Some(default) = variable.default.as_ref().filter(|_| absent) {
                variables.insert(variable.name.clone(), default.clone());
            }
        }
        let state = State {
            settings,
            variables,
            extracted: Map::new(),
            history: Vec::new(),
            phase: Phase::New,
            digits: String::new(),
            requests: 0,
            requests_unheard: 0,
            silences: 0,
            said: 0,
            sounded: 0,
            held: Vec::new(),
            ended: None,
        };
        Self { flow, state }
    }

    /// Goes on where a stored conversation was. When the flow has lost the node it was at, the next input
    /// ends it with an error.
    pub fn resume(flow: Arc<Flow>, state: State) -> Self {
        Self { flow, state }
    }

    /// The flow it plays.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// What to store.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What was said so far, in order.
    pub fn transcript(&self) -> Vec<Turn> {
        let turn = |exchange: &Exchange| match exchange {
            Exchange::Said { role, text } => Some(Turn { role: *role, text: text.clone() }),
            Exchange::ToolCalled { .. } | Exchange::ToolAnswered { .. } => None,
        };
        self.state.history.iter().filter_map(turn).collect()
    }

    /// The captured fields so far, in the order they were captured.
    pub fn extracted(&self) -> &Map<String, Value> {
        &self.state.extracted
    }

    /// Whether the last words are being said: nothing but the end comes after them.
    pub fn closing(&self) -> bool {
        self.state.phase == Phase::Closing
    }

    /// How it ended, once it has.
    pub fn ended(&self) -> Option<&Ended> {
        self.state.ended.as_ref()
    }

    /// The disposition, once the conversation has ended with one.
    pub fn outcome(&self) -> Option<&str> {
        self.state.ended.as_ref()?.outcome.as_deref()
    }

    /// Takes one input and returns what to do about it, in order. An input that does not fit where the
    /// conversation is (an answer to an older request, anything after the end) changes nothing.
    pub fn step(&mut self, input: Input) -> Vec<Output> {
        if self.state.ended.is_some() {
            return Vec::new();
        }
        let flow = Arc::clone(&self.flow);
        let mut step = Step { flow: &flow, state: &mut self.state, out: Vec::new(), entered: HashSet::new() };
        step.take(input);
        step.out
    }
}

/// One input being worked through.
pub(super) struct Step<'f, 's> {
    pub(super) flow: &'f Flow,
    pub(super) state: &'s mut State,
    pub(super) out: Vec<Output>,
    /// Nodes entered since the input.
    entered: HashSet<&'f str>,
}

/// What entering a node comes to.
enum Entered<'f> {
    /// Go on at once.
    On(Option<&'f str>),
    /// Wait for an input, or the conversation is over.
    Wait,
}

impl<'f> Step<'f, '_> {
    fn take(&mut self, input: Input) {
        match input {
            Input::Started => {
                if self.state.phase == Phase::New {
                    self.go(self.flow.start_node_id.as_deref());
                }
            }
            Input::SpeechBegan => {
                if matches!(self.state.phase, Phase::Collect { .. } | Phase::Talk(_)) {
                    self.out.push(Output::StopSaying);
                }
            }
            Input::Sounded { said } => self.sounded(said),
            Input::Heard { text } => self.heard(&text),
            Input::Digit { key } => self.digit(key),
            Input::DigitsPaused => self.digits_ended(),
            Input::Silence => self.silence(),
            Input::ModelSaid { request, text, exit, tool_calls, end, outcome } => {
                self.model_said(request, Reply { text, exit, tool_calls, end, outcome });
            }
            Input::ModelFailed { request } => self.model_failed(request),
            Input::ToolAnswered { request, value } => self.tool_answered(request, Ok(value)),
            Input::ToolFailed { request, reason } => self.tool_answered(request, Err(reason)),
            Input::TransferDone { request } => {
                if self.transferring(request).is_some() {
                    self.finish(Some("transferred".into()), EndCause::TransferHandoff);
                }
            }
            Input::TransferFailed { request } => self.transfer_failed(request),
            Input::DocumentChecked { accepted, fields } => self.document_checked(accepted, fields),
            Input::Noted { role, text } => self.note(role, &text),
            Input::CutOff { turns, heard } => self.cut_off(turns, &heard),
            Input::HungUp => self.finish(None, EndCause::CallerHangup),
        }
    }

    // --- moving through the graph

    /// Enters a node, and those that follow it at once, until one waits or the conversation is over.
    pub(super) fn go(&mut self, to: Option<&'f str>) {
        let mut to = to;
        loop {
            let Some(node) = to.and_then(|id| self.flow.node(id)) else { return self.fail() };
            if !self.entered.insert(&node.id) {
                return self.fail();
            }
            self.state.digits.clear();
            match self.enter(node) {
                Entered::On(next) => to = next,
                Entered::Wait => return,
            }
        }
    }

    fn enter(&mut self, node: &'f Node) -> Entered<'f> {
        match &node.kind {
            NodeKind::Say(say) => {
                self.say(&node.id, &say.text);
                return Entered::On(say.next.as_deref());
            }
            NodeKind::Collect(collect) => {
                self.state.phase = Phase::Collect { node: node.id.clone(), failures: 0 };
                self.say(&node.id, &collect.text);
                self.listen(&node.id, &collect.field);
            }
            NodeKind::Converse(_) => self.start_talk(&node.id),
            NodeKind::Branch(branch) => match branch::decide(branch, &self.state.variables) {
                Some(next) => return Entered::On(next),
                None => self.close(&node.id, None),
            },
            NodeKind::Tool(tool) => {
                let lookup = |name: &str| self.state.variables.get(name).cloned();
                let arguments = template::fill_object(&tool.arguments, &lookup);
                if let Some(request) = self.request() {
                    self.state.phase = Phase::Tool { node: node.id.clone(), request };
                    self.after_words(Output::CallTool {
                        request,
                        node_id: node.id.clone(),
                        tool_id: tool.tool_id.clone(),
                        arguments,
                    });
                }
            }
            NodeKind::Transfer(transfer) => self.transfer(&node.id, transfer),
            NodeKind::Message(message) => {
                self.message(&node.id, message);
                return Entered::On(message.next.as_deref());
            }
            NodeKind::Document(document) => return self.document(&node.id, document),
            NodeKind::End(end) => {
                self.say(&node.id, &end.text);
                self.finish(end.outcome.clone(), EndCause::AgentEnded);
            }
        }
        Entered::Wait
    }

    /// Says goodbye and ends.
    pub(super) fn close(&mut self, node_id: &str, outcome: Option<&str>) {
        let goodbye = self.state.settings.phrases.goodbye.clone();
        self.say_plain(node_id, goodbye);
        self.finish(outcome.map(str::to_owned), EndCause::AgentEnded);
    }

    /// Apologises and ends: the flow leads nowhere or in circles.
    pub(super) fn fail(&mut self) {
        let trouble = self.state.settings.phrases.trouble.clone();
        self.speak(None, trouble);
        self.finish(Some("error".into()), EndCause::Error);
    }

    /// Number of a new request, or none when there have been too many without the customer: the conversation
    /// is over then.
    pub(super) fn request(&mut self) -> Option<u64> {
        if self.state.requests_unheard >= MAX_REQUESTS {
            self.fail();
            return None;
        }
        self.state.requests_unheard += 1;
        self.state.requests += 1;
        Some(self.state.requests)
    }

    // --- saying and listening

    /// The text with the variables filled in.
    pub(super) fn filled(&self, text: &str) -> String {
        template::fill(text, |name| self.state.variables.get(name).map(template::text_of))
    }

    fn say(&mut self, node_id: &str, text: &str) {
        let text = self.filled(text);
        self.say_plain(node_id, text);
    }

    /// Says a text as it is, unless it is blank.
    pub(super) fn say_plain(&mut self, node_id: &str, text: String) {
        self.speak(Some(node_id.to_owned()), text);
    }

    fn speak(&mut self, node_id: Option<String>, text: String) {
        if !text.trim().is_empty() {
            self.state.history.push(Exchange::Said { role: Role::Agent, text: text.clone() });
            let said = self.number();
            self.out.push(Output::Say { node_id, text, said });
        }
    }

    fn listen(&mut self, node_id: &str, field: &Field) {
        let choices = if field.kind == FieldKind::Choice { field.choices.clone() } else { Vec::new() };
        let expected = Expected { kind: field.kind, choices, digits_begun: !self.state.digits.is_empty() };
        self.out.push(Output::Listen { node_id: node_id.to_owned(), expected });
    }

    /// Listens for anything, in a `converse` node.
    pub(super) fn listen_freely(&mut self, node_id: &str) {
        self.listen(node_id, &Field::default());
    }

    /// Keeps a turn in the transcript; blank ones are dropped.
    fn note(&mut self, role: Role, text: &str) {
        let text: String = text.trim().chars().take(MAX_HEARD).collect();
        if !text.is_empty() {
            self.state.history.push(Exchange::Said { role, text });
        }
    }

    // --- the customer

    fn heard(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.note(Role::Customer, text);
        self.customer_acted();
        self.state.digits.clear();
        match &self.state.phase {
            Phase::Collect { node, .. } => {
                let node = node.clone();
                let Some(collect) = self.collecting(&node) else { return self.fail() };
                let text: String = text.chars().take(MAX_HEARD).collect();
                self.answered(&node, collect, answers::capture(&collect.field, &text));
            }
            Phase::Talk(_) => self.customer_spoke(),
            Phase::Document { node, failures } => {
                let (node, failures) = (node.clone(), *failures);
                match self.flow.node(&node).map(|node| &node.kind) {
                    Some(NodeKind::Document(document)) => self.ask_document(&node, document, failures),
                    _ => self.fail(),
                }
            }
            Phase::New | Phase::Tool { .. } | Phase::Transfer { .. } | Phase::Closing | Phase::Over => {}
        }
    }

    fn customer_acted(&mut self) {
        self.state.requests_unheard = 0;
        self.state.silences = 0;
    }

    fn digit(&mut self, key: char) {
        if !matches!(self.state.phase, Phase::Collect { .. } | Phase::Talk(_)) {
            return;
        }
        if key == '#' {
            return self.digits_ended();
        }
        if !(key.is_ascii_digit() || key == '*') || self.state.digits.len() >= MAX_DIGITS {
            return;
        }
        self.state.digits.push(key);
        match &self.state.phase {
            Phase::Collect { node, .. } => {
                let node = node.clone();
                match self.collecting(&node) {
                    Some(collect) => self.listen(&node, &collect.field),
                    None => self.fail(),
                }
            }
            Phase::Talk(talk) => {
                let node = talk.node.clone();
                self.listen_freely(&node);
            }
            Phase::New
            | Phase::Tool { .. }
            | Phase::Transfer { .. }
            | Phase::Document { .. }
            | Phase::Closing
            | Phase::Over => {}
        }
    }

    fn digits_ended(&mut self) {
        let digits = std::mem::take(&mut self.state.digits);
        if digits.is_empty() {
            return;
        }
        let Phase::Collect { node, .. } = &self.state.phase else { return self.heard(&digits) };
        let node = node.clone();
        let Some(collect) = self.collecting(&node) else { return self.fail() };
        self.note(Role::Customer, &digits);
        self.customer_acted();
        self.answered(&node, collect, answers::capture_digits(&collect.field, &digits));
    }

    fn silence(&mut self) {
        if !self.state.digits.is_empty() {
            return self.digits_ended();
        }
        match &self.state.phase {
            Phase::Collect { node, .. } => {
                let node = node.clone();
                if self.too_silent(&node, MAX_SILENCES) {
                    return;
                }
                let Some(collect) = self.collecting(&node) else { return self.fail() };
                self.answered(&node, collect, None);
            }
            Phase::Talk(talk) if talk.waiting == Waiting::Customer => {
                let node = talk.node.clone();
                if self.too_silent(&node, self.state.settings.max_silences.clamp(1, MAX_SILENCES)) {
                    return;
                }
                let still_there = self.state.settings.phrases.still_there.clone();
                self.say_plain(&node, still_there);
                self.listen_freely(&node);
            }
            Phase::New | Phase::Talk(_) | Phase::Tool { .. } | Phase::Transfer { .. } => {}
            Phase::Document { .. } | Phase::Closing | Phase::Over => {}
        }
    }

    /// Counts a silence; ends the conversation when it is one too many.
    fn too_silent(&mut self, node_id: &str, most: u32) -> bool {
        self.state.silences += 1;
        let too_many = self.state.silences >= most;
        if too_many {
            let goodbye = self.state.settings.phrases.goodbye.clone();
            self.say_plain(node_id, goodbye);
            self.finish(None, EndCause::SilenceTimeout);
        }
        too_many
    }

    // --- collect

    fn collecting(&self, node: &str) -> Option<&'f Collect> {
        match self.flow.node(node).map(|node| &node.kind) {
            Some(NodeKind::Collect(collect)) => Some(collect),
            _ => None,
        }
    }

    /// A question was answered, or not: captures the value, asks again, or gives up.
    fn answered(&mut self, node: &str, collect: &'f Collect, value: Option<Value>) {
        if let Some(value) = value {
            self.capture(&collect.field.key, value);
            return self.go(collect.next.as_deref());
        }
        let Phase::Collect { failures, .. } = &mut self.state.phase else { return };
        *failures += 1;
        if *failures >= collect.attempts {
            return match &collect.on_fail {
                Some(on_fail) => self.go(Some(on_fail)),
                None => self.close(node, Some("failed_collect")),
            };
        }
        let phrases = &self.state.settings.phrases;
        let mut again = vec![phrases.not_understood.clone(), self.filled(&collect.text)];
        match collect.field.kind {
            FieldKind::Boolean => again.push(phrases.yes_or_no.clone()),
            FieldKind::Choice => {
                again.push(format!("{} {}.", phrases.one_of, collect.field.choices.join(", ")))
            }
            FieldKind::Text | FieldKind::Number => {}
        }
        again.retain(|sentence| !sentence.trim().is_empty());
        self.say_plain(node, again.join(" "));
        self.listen(node, &collect.field);
    }

    fn capture(&mut self, key: &str, value: Value) {
        if !key.is_empty() {
            self.state.variables.insert(key.to_owned(), value.clone());
            self.state.extracted.insert(key.to_owned(), value);
        }
    }

    // --- tools, people, messages, documents

    fn tool_answered(&mut self, request: u64, answer: Result<Value, String>) {
        if self.holds(request) {
            return;
        }
        let Phase::Tool { node, request: awaited } = &self.state.phase else {
            return self.model_tool_answered(request, answer);
        };
        if *awaited != request {
            return;
        }
        let Some(NodeKind::Tool(tool)) = self.flow.node(node).map(|node| &node.kind) else {
            return self.fail();
        };
        match answer {
            Ok(value) => {
                if let Some(save_as) = &tool.save_as {
                    self.save(save_as, value);
                }
                self.go(tool.next.as_deref());
            }
            Err(_) => self.go(tool.on_error.as_deref().or(tool.next.as_deref())),
        }
    }

    /// Keeps a tool's answer under its name, and each entry of an object under `<name>_<key>` as well.
    fn save(&mut self, save_as: &str, value: Value) {
        for (key, entry) in value.as_object().into_iter().flatten() {
            let name = format!("{save_as}_{key}");
            if self.state.variables.len() < MAX_VARIABLES || self.state.variables.contains_key(&name) {
                self.state.variables.insert(name, entry.clone());
            }
        }
        self.state.variables.insert(save_as.to_owned(), value);
    }

    /// A warm transfer rings while its own text sounds: the agent stays until the person has answered. A cold
    /// one takes the customer away.
    fn transfer(&mut self, node_id: &str, transfer: &Transfer) {
        let before = self.state.said;
        self.say(node_id, &transfer.text);
        if let Some(request) = self.request() {
            self.state.phase = Phase::Transfer { node: node_id.to_owned(), request };
            let numbers = transfer.transfer_numbers.clone();
            let after = match transfer.mode {
                TransferMode::Warm => before,
                TransferMode::Cold => self.state.said,
            };
            self.after(
                after,
                Output::Transfer { request, node_id: node_id.to_owned(), numbers, mode: transfer.mode },
            );
        }
    }

    /// The node whose transfer is under way, if this is its request.
    fn transferring(&self, request: u64) -> Option<String> {
        match &self.state.phase {
            Phase::Transfer { node, request: awaited } if *awaited == request && !self.holds(request) => {
                Some(node.clone())
            }
            _ => None,
        }
    }

    fn transfer_failed(&mut self, request: u64) {
        let Some(node) = self.transferring(request) else { return };
        match self.flow.node(&node).map(|node| &node.kind) {
            Some(NodeKind::Transfer(Transfer { on_fail: Some(on_fail), .. })) => self.go(Some(on_fail)),
            Some(_) => {
                let nobody_free = self.state.settings.phrases.nobody_free.clone();
                self.say_plain(&node, nobody_free);
                self.finish(Some("transfer_failed".into()), EndCause::AgentEnded);
            }
            None => self.fail(),
        }
    }

    /// In a chat a text is written into the chat itself, so it is a turn of the agent; on a call it goes
    /// beside it.
    fn message(&mut self, node_id: &str, message: &Message) {
        let lookup = |name: &str| self.state.variables.get(name).cloned();
        let template = message.template.as_ref().map(|template| template::fill_value(template, &lookup));
        let text = if template.is_some() { String::new() } else { self.filled(&message.text) };
        if template.is_none() && text.trim().is_empty() {
            return;
        }
        if self.state.settings.channel == Channel::Chat {
            self.note(Role::Agent, &text);
        }
        self.after_words(Output::SendMessage { node_id: node_id.to_owned(), template, text });
    }

    fn document(&mut self, node_id: &str, document: &'f Document) -> Entered<'f> {
        match (self.state.settings.channel, &document.on_fail) {
            (Channel::Chat, _) => self.ask_document(node_id, document, 0),
            (Channel::Call, Some(on_fail)) => return Entered::On(Some(on_fail)),
            (Channel::Call, None) => self.close(node_id, Some("failed_document")),
        }
        Entered::Wait
    }

    fn ask_document(&mut self, node_id: &str, document: &Document, failures: u32) {
        let label = self.filled(&document.label);
        self.state.phase = Phase::Document { node: node_id.to_owned(), failures };
        let ask = format!("{} {label}", self.state.settings.phrases.send_document);
        self.say_plain(node_id, ask);
        let fields = document.fields.clone();
        self.out.push(Output::AskDocument {
            node_id: node_id.to_owned(),
            label,
            fields,
            attempt: failures + 1,
        });
    }

    fn document_checked(&mut self, accepted: bool, fields: Map<String, Value>) {
        let Phase::Document { node, failures } = &self.state.phase else { return };
        let (node, failures) = (node.clone(), failures + 1);
        let Some(NodeKind::Document(document)) = self.flow.node(&node).map(|node| &node.kind) else {
            return self.fail();
        };
        self.customer_acted();
        if accepted {
            fields.into_iter().for_each(|(key, value)| self.capture(&key, value));
            return self.go(document.next.as_deref());
        }
        match &document.on_fail {
            _ if failures < document.attempts => self.ask_document(&node, document, failures),
            Some(on_fail) => self.go(Some(on_fail)),
            None => self.close(&node, Some("failed_document")),
        }
    }
}

//! The interpreter: it takes what happened, returns what to do, and never waits. A phone call, an API chat
//! and a chat-app conversation differ only in how the words are transported.
//!
//! It always stops, even with an unchecked flow. No variable changes while it works through one input, so a
//! node that is entered twice would be entered for ever: the conversation then ends with outcome and cause
//! `error`. Between two inputs of the customer there are at most [`MAX_REQUESTS`](super::MAX_REQUESTS)
//! requests to models, tools and people, and at most [`MAX_SILENCES`] silences.
//!
//! It runs ahead of the voice with words only: what a node does waits until the words before it have been
//! spoken (`effects`). What a `collect` node does with an answer is in `collect`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::branch;
use super::channel::Channel;
use super::effects::{Interpreter, MAX_HEARD, entered};
use super::graph::{Document, Flow, Message, Node, NodeKind, Transfer, TransferMode};
use super::language::calendar::Moment;
use super::language::spoken;
use super::parse::MAX_VARIABLES;
use super::path::{EdgeVisits, Path, START, StopReason, Stopped, TakenEdge};
use super::secrets::{self, Secrets};
use super::state::{
    ConversationSettings, EndCause, Ended, Exchange, Input, Output, Phase, Role, State, Turn, Waiting,
};
use super::talk::Reply;
use super::template;

/// This many silences in a row end the conversation, whatever the flow does about them.
pub const MAX_SILENCES: u32 = 12;
const MAX_DIGITS: usize = 64;

/// A document that a conversation waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedDocument {
    /// The `document` node.
    pub node_id: String,
    /// What is asked for, with the variables filled in.
    pub label: String,
    /// Keys of the details to read off it.
    pub fields: Vec<String>,
    /// The attempt that comes next, from 1.
    pub attempt: u32,
    /// How many there may be.
    pub attempts: u32,
}

/// A conversation in progress.
#[derive(Debug, Clone)]
pub struct Conversation {
    flow: Arc<Flow>,
    state: State,
    secrets: Secrets,
    now: Option<Moment>,
    told: Option<String>,
    taken: Vec<TakenEdge>,
    stopped: Option<Stopped>,
}

impl Conversation {
    /// A conversation that waits for [`Input::Started`]. `variables` are those of the call; the flow's
    /// defaults fill the gaps.
    pub fn new(flow: Arc<Flow>, mut variables: Map<String, Value>, settings: ConversationSettings) -> Self {
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
            path: Path::default(),
            ended: None,
        };
        Self {
            flow,
            state,
            secrets: Secrets::default(),
            now: None,
            told: None,
            taken: Vec::new(),
            stopped: None,
        }
    }

    /// Resumes a stored conversation. Its secret answers are gone. If the flow no longer has its current node, the next input ends it with
    /// an error.
    pub fn resume(flow: Arc<Flow>, state: State) -> Self {
        Self {
            flow,
            state,
            secrets: Secrets::default(),
            now: None,
            told: None,
            taken: Vec::new(),
            stopped: None,
        }
    }

    /// Says what it is now, in milliseconds since 1970, for the inputs that follow. Until then no date and no time
    /// is understood. It is no part of the state.
    pub fn set_now(&mut self, unix_millis: i64) {
        self.now = Moment::in_india(unix_millis);
    }

    /// Which language the recogniser says the customer's next words are in. It is no part of the state.
    pub fn set_heard_language(&mut self, language: Option<String>) {
        self.told = language;
    }

    /// The language of the conversation now.
    pub fn language(&self) -> &str {
        &self.state.settings.language
    }

    /// The flow it plays.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// The transcript so far.
    pub fn transcript(&self) -> Vec<Turn> {
        let turn = |exchange: &Exchange| match exchange {
            Exchange::Said { role, text } => Some(Turn { role: *role, text: text.clone() }),
            Exchange::ToolCalled { .. } | Exchange::ToolAnswered { .. } => None,
        };
        self.state.history.iter().filter_map(turn).collect()
    }

    /// Shows a request to the model that was kept the conversation as it is now.
    pub fn show_history(&self, output: &mut Output) {
        if let Output::AskModel { history, .. } = output {
            *history = self.state.shown();
        }
    }

    /// Takes words of the business that nobody got out of what the model is shown: the oldest ones, until `keep` of the
    /// same are left.
    pub fn unsay(&mut self, text: &str, keep: usize) {
        let text = entered(text);
        let is_it = |exchange: &Exchange| matches!(exchange, Exchange::Said { role: Role::Agent, text: said } if *said == text);
        let known = self.state.history.iter().filter(|exchange| is_it(exchange)).count();
        let mut excess = known.saturating_sub(keep);
        self.state.history.retain(|exchange| {
            let goes = excess > 0 && is_it(exchange);
            excess -= usize::from(goes);
            !goes
        });
    }

    /// The arguments of an [`Output::CallTool`] with the secret answers in them, which are forgotten with that. `None`
    /// when one is gone: answer with [`Input::SecretsGone`].
    pub fn revealed(&mut self, node_id: &str, arguments: Map<String, Value>) -> Option<Map<String, Value>> {
        let Some(NodeKind::Tool(tool)) = self.flow.node(node_id).map(|node| &node.kind) else {
            return Some(arguments);
        };
        self.secrets.revealed(tool, arguments, &self.state.variables)
    }

    /// What may be kept of words that the customer says or writes now, if it is not all of them.
    pub fn keepable(&self, text: &str) -> Option<String> {
        secrets::keepable(&self.state, &self.flow, text)
    }

    /// Whether what the customer says or writes now is a secret answer.
    pub fn awaits_secret(&self) -> bool {
        self.state.awaits_secret(&self.flow)
    }

    /// The edges that it took so far, each with how often. On a call those count whose words before them were spoken.
    pub fn path(&self) -> Vec<EdgeVisits> {
        self.state.path()
    }

    /// The edges that the last input took, in order.
    pub fn taken(&self) -> &[TakenEdge] {
        &self.taken
    }

    /// Where the flow could not go on, if the conversation ended with cause `error` because of that. It is no part of
    /// the state.
    pub fn stopped(&self) -> Option<&Stopped> {
        self.stopped.as_ref()
    }

    /// The node at which it waits; `None` before it began, while the last words are said, and after its end.
    pub fn at(&self) -> Option<&str> {
        match &self.state.phase {
            Phase::Collect { node, .. }
            | Phase::Tool { node, .. }
            | Phase::Transfer { node, .. }
            | Phase::Document { node, .. } => Some(node),
            Phase::Talk(talk) => Some(&talk.node),
            Phase::New | Phase::Closing | Phase::Over => None,
        }
    }

    /// The captured fields so far, in the order they were captured.
    pub fn extracted(&self) -> &Map<String, Value> {
        &self.state.extracted
    }

    /// The document that is waited for, if one is.
    pub fn asked_document(&self) -> Option<AskedDocument> {
        let Phase::Document { node, failures } = &self.state.phase else { return None };
        let Some(NodeKind::Document(document)) = self.flow.node(node).map(|node| &node.kind) else {
            return None;
        };
        let variable = |name: &str| self.state.variables.get(name).map(template::text_of);
        Some(AskedDocument {
            node_id: node.clone(),
            label: template::fill(&document.label, variable),
            fields: document.fields.clone(),
            attempt: failures + 1,
            attempts: document.attempts,
        })
    }

    /// Whether the last words are being said; only the end comes after them.
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
        let mut interpreter = Interpreter {
            flow: &flow,
            state: &mut self.state,
            secrets: &mut self.secrets,
            out: Vec::new(),
            entered: HashSet::new(),
            now: self.now,
            told: self.told.take(),
            taken: Vec::new(),
            stopped: None,
        };
        interpreter.take(input);
        let Interpreter { out, taken, stopped, .. } = interpreter;
        self.taken = taken;
        self.stopped = stopped.or(self.stopped.take());
        out
    }
}

/// What to do after entering a node.
enum Entered<'f> {
    /// Go on at once by this edge of the node; an empty one is a jump that the flow does not draw.
    On(Cow<'static, str>, Option<&'f str>),
    /// Wait for an input, or the conversation is over.
    Wait,
}

impl<'f> Interpreter<'f, '_> {
    fn take(&mut self, input: Input) {
        match input {
            Input::Started => {
                if self.state.phase == Phase::New {
                    self.go("", START, self.flow.start_node_id.as_deref());
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
                let reply = Reply { text, exit, tool_calls, end, outcome };
                if let Some((node, index, exit)) = self.model_said(request, reply) {
                    self.go(&node, &format!("exits[{index}].next"), exit.next.as_deref());
                }
            }
            Input::ModelFailed { request } => self.model_failed(request),
            Input::ToolAnswered { request, value } => self.tool_answered(request, Ok(value)),
            Input::ToolFailed { request, reason } => self.tool_answered(request, Err(reason)),
            Input::SecretsGone { request } => self.secrets_gone(request),
            Input::TransferDone { request } => {
                if self.transferring(request).is_some() {
                    self.finish(Some("transferred".into()), EndCause::TransferHandoff);
                }
            }
            Input::TransferFailed { request } => self.transfer_failed(request),
            Input::HandedBack { request } => self.handed_back(request),
            Input::DocumentChecked { accepted, fields } => self.document_checked(accepted, fields),
            Input::Noted { role, text } => {
                if role == Role::Customer {
                    self.follow(&text);
                }
                self.note(role, &text);
            }
            Input::CutOff { turns, heard } => self.cut_off(turns, &heard),
            Input::HungUp => self.finish(None, EndCause::CallerHangup),
        }
    }

    // --- moving through the graph

    /// Leaves a node by an edge, and enters nodes until one waits for an input or the conversation is over. An empty edge
    /// is a jump that the flow does not draw.
    pub(super) fn go(&mut self, from: &str, edge: &str, to: Option<&'f str>) {
        let (mut from, mut edge, mut to) = (Cow::Borrowed(from), Cow::Borrowed(edge), to);
        loop {
            let Some(node) = to.and_then(|id| self.flow.node(id)) else {
                let why = match to {
                    None if from.is_empty() => StopReason::NoStart,
                    None => StopReason::MissingEdge,
                    Some(_) => StopReason::UnknownStep,
                };
                return self.stop(&from, &edge, why);
            };
            if !self.entered.insert(&node.id) {
                return self.stop(&from, &edge, StopReason::EndlessLoop);
            }
            self.pass(&from, &edge, &node.id);
            self.state.digits.clear();
            match self.enter(node) {
                Entered::On(by, next) => (from, edge, to) = (Cow::Borrowed(node.id.as_str()), by, next),
                Entered::Wait => return,
            }
        }
    }

    /// Notes an edge that is taken. On a call it counts once the words before it have been spoken.
    fn pass(&mut self, from: &str, edge: &str, to: &str) {
        if edge.is_empty() {
            return;
        }
        self.taken.push(TakenEdge { from: from.to_owned(), edge: edge.to_owned(), to: to.to_owned() });
        self.state.path.take(self.state.said, self.state.sounded, from, edge);
    }

    fn enter(&mut self, node: &'f Node) -> Entered<'f> {
        match &node.kind {
            NodeKind::Say(say) => {
                self.say(&node.id, &say.text);
                return Entered::On(Cow::Borrowed("next"), say.next.as_deref());
            }
            NodeKind::Collect(collect) => {
                self.state.phase = Phase::Collect { node: node.id.clone(), failures: 0, pending: None };
                self.say(&node.id, &collect.text);
                self.listen(&node.id, &collect.field);
            }
            NodeKind::Converse(_) => self.start_talk(&node.id),
            NodeKind::Branch(branch) => match branch::decide(branch, &self.state.variables) {
                Some((edge, next)) => return Entered::On(edge, next),
                None => self.close(&node.id, None),
            },
            NodeKind::Tool(tool) => {
                if let Some(asks) = self.asks_again_for(tool) {
                    return Entered::On(Cow::Borrowed(""), Some(asks));
                }
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
                return Entered::On(Cow::Borrowed("next"), message.next.as_deref());
            }
            NodeKind::Document(document) => return self.document(&node.id, document),
            NodeKind::End(end) => {
                self.say(&node.id, &end.text);
                self.finish(end.outcome.clone(), EndCause::AgentEnded);
            }
        }
        Entered::Wait
    }

    // --- the customer

    fn heard(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.note_answer(text);
        self.follow(text);
        self.customer_acted();
        self.state.digits.clear();
        match &self.state.phase {
            Phase::Collect { node, .. } => {
                let node = node.clone();
                let Some(collect) = self.collecting(&node) else { return self.fail() };
                let text: String = text.chars().take(MAX_HEARD).collect();
                self.replied(&node, collect, &text);
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

    /// Goes on in the language that the customer surely speaks, if the agent speaks it.
    fn follow(&mut self, text: &str) {
        let settings = &self.state.settings;
        if let Some(language) =
            spoken::spoken(text, self.told.as_deref(), &settings.language, &settings.languages)
        {
            self.state.settings.speak(language);
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
                    Some(collect) => self.listen_for(&node, &collect.field),
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
        self.note_answer(&digits);
        self.customer_acted();
        self.keyed(&node, collect, &digits);
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
                self.not_answered(&node, collect);
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

    /// Counts a silence. Returns whether it was one too many, in which case the conversation has ended.
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
        let node = node.clone();
        let Some(NodeKind::Tool(tool)) = self.flow.node(&node).map(|node| &node.kind) else {
            return self.fail();
        };
        match answer {
            Ok(value) => {
                if let Some(save_as) = &tool.save_as {
                    self.save(save_as, value);
                }
                self.go(&node, "next", tool.next.as_deref());
            }
            Err(_) => match &tool.on_error {
                Some(on_error) => self.go(&node, "onError", Some(on_error)),
                None => self.go(&node, "next", tool.next.as_deref()),
            },
        }
    }

    /// Saves a tool's answer under its name, and each entry of an object also under `<name>_<key>`.
    fn save(&mut self, save_as: &str, value: Value) {
        for (key, entry) in value.as_object().into_iter().flatten() {
            let name = format!("{save_as}_{key}");
            if self.state.variables.len() < MAX_VARIABLES || self.state.variables.contains_key(&name) {
                self.state.variables.insert(name, entry.clone());
            }
        }
        self.state.variables.insert(save_as.to_owned(), value);
    }

    /// A warm transfer starts to ring while its text is being spoken, because the agent stays until the
    /// person has answered. A cold one waits for the text, because it takes the customer away.
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

    /// The node whose transfer is in progress, if this is its request.
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
            Some(NodeKind::Transfer(Transfer { on_fail: Some(on_fail), .. })) => {
                self.go(&node, "onFail", Some(on_fail));
            }
            Some(_) => {
                let nobody_free = self.state.settings.phrases.nobody_free.clone();
                self.say_plain(&node, nobody_free);
                self.finish(Some("transfer_failed".into()), EndCause::AgentEnded);
            }
            None => self.fail(),
        }
    }

    /// The person did what the flow wanted of them, so a flow without a way on ends as it does when a person
    /// stays.
    fn handed_back(&mut self, request: u64) {
        let Some(node) = self.transferring(request) else { return };
        match self.flow.node(&node).map(|node| &node.kind) {
            Some(NodeKind::Transfer(Transfer { on_fail: Some(on_fail), .. })) => {
                self.go(&node, "onFail", Some(on_fail));
            }
            Some(_) => self.close(&node, Some("transferred")),
            None => self.fail(),
        }
    }

    /// In a chat, the text appears in the chat itself, so it is a turn of the agent. On a call, it is sent
    /// separately.
    fn message(&mut self, node_id: &str, message: &Message) {
        let lookup = |name: &str| self.state.variables.get(name).cloned();
        let template = message.template.as_ref().map(|template| template::fill_value(template, &lookup));
        let text = if template.is_some() {
            String::new()
        } else {
            self.filled(self.text_of(node_id, &message.text))
        };
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
            (Channel::Call, Some(on_fail)) => {
                return Entered::On(Cow::Borrowed("onFail"), Some(on_fail));
            }
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
            return self.go(&node, "next", document.next.as_deref());
        }
        match &document.on_fail {
            _ if failures < document.attempts => self.ask_document(&node, document, failures),
            Some(on_fail) => self.go(&node, "onFail", Some(on_fail)),
            None => self.close(&node, Some("failed_document")),
        }
    }
}

//! Answers that are kept in memory only: those of a `collect` with `secret: true`, and those that redaction takes out.
//! A tool that names one is given it once; everything else sees a mark in its place. What is stored of a conversation
//! has none of them, so a conversation that is resumed asks for them again.

use serde_json::{Map, Value};

use super::effects::Interpreter;
use super::graph::{Field, FieldKind, Flow, NodeKind, Tool};
use super::redaction::{self, SECRET, Sensitive};
use super::state::{Exchange, Phase, Role, State};
use super::template;

/// Secret answers by their keys.
#[derive(Clone, Default)]
pub(super) struct Secrets(Map<String, Value>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

/// Whether a variable has a mark in place of its value.
fn is_mark(value: Option<&Value>) -> bool {
    let Some(Value::String(text)) = value else { return false };
    text == SECRET || Sensitive::ALL.iter().any(|kind| text == kind.mark())
}

/// The secrets that a tool is given.
fn named<'f>(tool: &'f Tool, variables: &Map<String, Value>) -> Vec<&'f str> {
    let mut texts = Vec::new();
    tool.arguments.values().for_each(|value| template::texts_in(value, &mut texts));
    let names = texts.into_iter().flat_map(template::names);
    names.filter(|name| is_mark(variables.get(*name))).collect()
}

impl Secrets {
    /// The arguments of a tool with the secrets that it names, which are forgotten; `None` when one is gone.
    pub fn revealed(
        &mut self,
        tool: &Tool,
        arguments: Map<String, Value>,
        variables: &Map<String, Value>,
    ) -> Option<Map<String, Value>> {
        let names = named(tool, variables);
        if names.is_empty() {
            return Some(arguments);
        }
        if !names.iter().all(|name| self.0.contains_key(*name)) {
            return None;
        }
        let lookup = |name: &str| match names.contains(&name) {
            true => self.0.get(name).cloned(),
            false => variables.get(name).cloned(),
        };
        let filled = template::fill_object(&tool.arguments, &lookup);
        for name in names {
            self.0.remove(name);
        }
        Some(filled)
    }
}

/// An answer without what must not be kept, as the field's label and the question tell it; `None` if all of it may be.
fn redacted(state: &State, field: &Field, answer: &str) -> Option<String> {
    let asked = state.history.iter().rev().find_map(|exchange| match exchange {
        Exchange::Said { role: Role::Agent, text } => Some(text.as_str()),
        _ => None,
    });
    let label = field.label.as_str();
    let turns = [(Role::Agent, label), (Role::Agent, asked.unwrap_or("")), (Role::Customer, answer)];
    let found = redaction::turns(&turns, &state.settings.language).into_iter();
    found.filter(|(turn, _)| *turn == 2).map(|(_, text)| text).next()
}

/// What may be kept of words that the customer says now, if it is not all of them: a mark, if they answer a secret
/// question.
pub(super) fn keepable(state: &State, flow: &Flow, text: &str) -> Option<String> {
    if state.awaits_secret(flow) {
        return Some(SECRET.to_owned());
    }
    let Phase::Collect { node, .. } = &state.phase else { return None };
    let Some(NodeKind::Collect(collect)) = flow.node(node).map(|node| &node.kind) else { return None };
    if state.settings.redact { redacted(state, &collect.field, text) } else { None }
}

impl<'f> Interpreter<'f, '_> {
    /// Adds what the customer answered to the transcript, as far as it may be kept.
    pub(super) fn note_answer(&mut self, text: &str) {
        let kept = keepable(self.state, self.flow, text);
        self.note(Role::Customer, kept.as_deref().unwrap_or(text));
    }

    /// The value that is captured: a mark, if the answer must not be kept. The answer itself stays in memory.
    pub(super) fn kept_back(&mut self, field: &Field, value: Value) -> Value {
        if field.secret {
            self.secrets.0.insert(field.key.clone(), value);
            return SECRET.into();
        }
        let Value::String(text) = &value else { return value };
        if !self.state.settings.redact || !matches!(field.kind, FieldKind::Text | FieldKind::Number) {
            return value;
        }
        let Some(redacted) = redacted(self.state, field, text) else { return value };
        if is_mark(Some(&Value::String(redacted.clone()))) {
            self.secrets.0.insert(field.key.clone(), value);
        }
        redacted.into()
    }

    /// The `collect` node that asks again for what a tool needs and nobody knows any more.
    pub(super) fn asks_again_for(&self, tool: &Tool) -> Option<&'f str> {
        let names = named(tool, &self.state.variables);
        let gone = names.into_iter().find(|name| !self.secrets.0.contains_key(*name))?;
        let asks = |kind: &NodeKind| matches!(kind, NodeKind::Collect(collect) if collect.field.key == gone);
        self.flow.nodes.iter().find(|node| asks(&node.kind)).map(|node| node.id.as_str())
    }

    /// The tool that is waited for cannot be called: what it needs is asked for again.
    pub(super) fn secrets_gone(&mut self, request: u64) {
        let Phase::Tool { node, request: awaited } = &self.state.phase else { return };
        if *awaited != request || self.holds(request) {
            return;
        }
        let Some(NodeKind::Tool(tool)) = self.flow.node(node).map(|node| &node.kind) else {
            return self.fail();
        };
        match self.asks_again_for(tool) {
            Some(asks) => self.go("", "", Some(asks)),
            None => self.fail(),
        }
    }
}

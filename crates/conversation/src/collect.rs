//! The `collect` node: it asks, reads the answer, reads it back where that is needed, and asks again.

use serde_json::Value;

use super::answers;
use super::channel::Channel;
use super::effects::Interpreter;
use super::graph::{Collect, Field, FieldKind, NodeKind};
use super::language::readings::Reading;
use super::language::spoken;
use super::read_back;
use super::redaction::SECRET;
use super::state::Phase;
use super::yes_no;

/// What a confirmation is asked for, as a field of its own.
const CONFIRMATION: Field = Field {
    key: String::new(),
    label: String::new(),
    kind: FieldKind::Boolean,
    choices: Vec::new(),
    confirm: false,
    secret: false,
};

impl<'f> Interpreter<'f, '_> {
    pub(super) fn collecting(&self, node: &str) -> Option<&'f Collect> {
        match self.flow.node(node).map(|node| &node.kind) {
            Some(NodeKind::Collect(collect)) => Some(collect),
            _ => None,
        }
    }

    /// Listens for an answer, or for a yes or no to the value that was read back.
    pub(super) fn listen_for(&mut self, node: &str, field: &Field) {
        match self.pending() {
            Some(_) => self.listen(node, &CONFIRMATION),
            None => self.listen(node, field),
        }
    }

    fn pending(&self) -> Option<&Value> {
        match &self.state.phase {
            Phase::Collect { pending, .. } => pending.as_ref(),
            _ => None,
        }
    }

    /// Words that answer the question, or confirm, deny or correct what was read back.
    pub(super) fn replied(&mut self, node: &str, collect: &'f Collect, text: &str) {
        let language = &self.state.settings.language;
        // A secret is keyed on a call: nobody beside the phone hears it, and no recogniser. What was written in a chat may
        // be gone.
        let gone = text.contains(SECRET);
        if collect.field.secret && (gone || self.state.settings.channel == Channel::Call) {
            return self.not_answered(node, collect);
        }
        let read = |language: &str| answers::read(&collect.field, text, language, self.now);
        // A short answer may be in another of the agent's languages without being a change to it.
        let others = spoken::written_in(text, language, &self.state.settings.languages);
        let found = read(language).or_else(|| others.iter().find_map(|other| read(other)));
        let Some(pending) = self.pending().cloned() else { return self.answered(node, collect, found) };
        let agreed = yes_no::boolean(text, language)
            .or_else(|| others.iter().find_map(|other| yes_no::boolean(text, other)));
        let read = found;
        self.confirmed(node, collect, pending, agreed, read);
    }

    /// Keys that answer the question, or confirm (1) or deny (2 or 0) what was read back.
    pub(super) fn keyed(&mut self, node: &str, collect: &'f Collect, digits: &str) {
        let read = answers::read_digits(&collect.field, digits);
        let Some(pending) = self.pending().cloned() else { return self.answered(node, collect, read) };
        match answers::capture_digits(&CONFIRMATION, digits).and_then(|answer| answer.as_bool()) {
            Some(agreed) => self.confirmed(node, collect, pending, Some(agreed), None),
            None => self.confirmed(node, collect, pending, None, read),
        }
    }

    fn confirmed(
        &mut self,
        node: &str,
        collect: &'f Collect,
        pending: Value,
        agreed: Option<bool>,
        read: Option<Reading<Value>>,
    ) {
        let said = read.clone().map(|(Reading::Sure(value) | Reading::Unsure(value))| value);
        match (said, agreed) {
            (Some(other), _) if other != pending => {
                // A yes beside another value: which one is meant must be asked.
                let read = if agreed == Some(true) { Some(Reading::Unsure(other)) } else { read };
                if self.failed(node, collect) {
                    return;
                }
                self.answered(node, collect, read);
            }
            (_, Some(true)) | (Some(_), None) => self.accept(node, collect, pending),
            (_, Some(false)) => {
                self.set_pending(None);
                if !self.failed(node, collect) {
                    self.ask_again(node, collect, false);
                }
            }
            (None, None) => self.not_answered(node, collect),
        }
    }

    /// Captures a value, reads it back, or asks again.
    fn answered(&mut self, node: &str, collect: &'f Collect, read: Option<Reading<Value>>) {
        match read {
            Some(Reading::Sure(value)) if !collect.field.confirm => self.accept(node, collect, value),
            Some(Reading::Sure(value) | Reading::Unsure(value)) => {
                let question = self.read_back(collect, &value);
                self.set_pending(Some(value));
                self.say_plain(node, question);
                self.listen_for(node, &collect.field);
            }
            None => self.not_answered(node, collect),
        }
    }

    fn accept(&mut self, node: &str, collect: &'f Collect, value: Value) {
        let value = self.kept_back(&collect.field, value);
        self.capture(&collect.field.key, value);
        self.go(node, "next", collect.next.as_deref());
    }

    fn read_back(&self, collect: &Collect, value: &Value) -> String {
        let settings = &self.state.settings;
        read_back::question(collect.field.kind, value, &settings.language, settings.channel)
    }

    fn set_pending(&mut self, value: Option<Value>) {
        if let Phase::Collect { pending, .. } = &mut self.state.phase {
            *pending = value;
        }
    }

    /// Silence, or words that are no answer: asks again or gives up.
    pub(super) fn not_answered(&mut self, node: &str, collect: &'f Collect) {
        if !self.failed(node, collect) {
            self.ask_again(node, collect, true);
        }
    }

    /// Counts an attempt that failed. Returns whether it was the last one, in which case the node has been left.
    fn failed(&mut self, node: &str, collect: &'f Collect) -> bool {
        let Phase::Collect { failures, .. } = &mut self.state.phase else { return true };
        *failures += 1;
        if *failures < collect.attempts {
            return false;
        }
        match &collect.on_fail {
            Some(on_fail) => self.go(node, "onFail", Some(on_fail)),
            None => self.close(node, Some("failed_collect")),
        }
        true
    }

    fn ask_again(&mut self, node: &str, collect: &'f Collect, not_understood: bool) {
        let phrases = &self.state.settings.phrases;
        let mut again = Vec::new();
        if not_understood {
            again.push(phrases.not_understood.clone());
        }
        match self.pending() {
            Some(value) => {
                again.push(self.read_back(collect, value));
                again.push(phrases.yes_or_no.clone());
            }
            None => again.push(self.filled(self.text_of(node, &collect.text))),
        }
        match collect.field.kind {
            FieldKind::Boolean => again.push(phrases.yes_or_no.clone()),
            FieldKind::Choice => {
                again.push(format!("{} {}.", phrases.one_of, collect.field.choices.join(", ")))
            }
            FieldKind::Text | FieldKind::Number | FieldKind::Date | FieldKind::Time => {}
            FieldKind::Amount | FieldKind::Phone | FieldKind::Email | FieldKind::Pincode => {}
        }
        again.retain(|sentence| !sentence.trim().is_empty());
        self.say_plain(node, again.join(" "));
        self.listen_for(node, &collect.field);
    }

    pub(super) fn capture(&mut self, key: &str, value: Value) {
        if !key.is_empty() {
            self.state.variables.insert(key.to_owned(), value.clone());
            self.state.extracted.insert(key.to_owned(), value);
        }
    }
}

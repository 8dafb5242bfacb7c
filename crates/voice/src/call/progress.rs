//! What those who watch the call are shown: words as they are spoken, the step of the flow, captured values.

use domain::conversation::Role;
use serde_json::{Map, Value};

use super::Call;
use crate::services::CallProgress;

/// What was shown last.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// What the customer is saying, as it may be shown.
    partial: Option<String>,
    step: Option<String>,
    captured: Map<String, Value>,
}

impl Progress {
    /// The customer is saying this.
    pub fn hears(&mut self, text: String) {
        self.partial = Some(text);
    }
}

impl Call {
    /// Shows what is new since the last time.
    pub(super) fn show_progress(&mut self) {
        for (turn, of) in self.transcript.take_changed() {
            self.progress.partial = self.progress.partial.take().filter(|_| of.role == Role::Agent);
            let (role, text) = (of.role, of.text.clone());
            self.services.progressed(CallProgress::Words { turn, role, text, complete: true });
        }
        if let Some(text) = self.progress.partial.take().filter(|text| !text.is_empty()) {
            let (turn, role) = (self.transcript.len(), Role::Customer);
            self.services.progressed(CallProgress::Words { turn, role, text, complete: false });
        }
        let node = self.conversation.state().node();
        if let Some(node) = node.filter(|node| self.progress.step.as_deref() != Some(*node)) {
            let name = self.conversation.flow().node(node).and_then(|node| node.name.clone());
            self.progress.step = Some(node.to_owned());
            self.services.progressed(CallProgress::Step { node: node.to_owned(), name });
        }
        for (field, value) in self.conversation.extracted() {
            if self.progress.captured.get(field) != Some(value) {
                self.progress.captured.insert(field.clone(), value.clone());
                let (field, value) = (field.clone(), value.clone());
                self.services.progressed(CallProgress::Captured { field, value });
            }
        }
    }
}

//! What the interpreter outputs: words, requests and the end. The interpreter walks on while the agent still
//! speaks, so that the next words are ready in time; what a node *does* (a tool, a transfer, a message, the
//! end) is held back until the words before it have been spoken. If the customer hangs up before that, it
//! never happens.

use std::collections::HashSet;

use super::channel::Channel;
use super::graph::{Field, FieldKind, Flow};
use super::language::calendar::Moment;
use super::path::{StopReason, Stopped, TakenEdge};
use super::redaction;
use super::secrets::Secrets;
use super::state::{EndCause, Ended, Exchange, Expected, Held, Output, Phase, Role, State, Waiting};
use super::template;

/// Most requests to models, tools and people between two inputs of the customer.
pub const MAX_REQUESTS: u32 = 50;
/// Longest text accepted at once, in characters; the rest is cut off (docs/contract/voice.md#taking-turns).
pub const MAX_HEARD: usize = 4000;

/// A turn as it is entered into the history.
pub(super) fn entered(text: &str) -> String {
    text.trim().chars().take(MAX_HEARD).collect()
}

/// The interpreter while it works through one input.
pub(super) struct Interpreter<'f, 's> {
    pub(super) flow: &'f Flow,
    pub(super) state: &'s mut State,
    pub(super) secrets: &'s mut Secrets,
    pub(super) out: Vec<Output>,
    /// Nodes entered since the input.
    pub(super) entered: HashSet<&'f str>,
    /// What it is now, if the caller said so.
    pub(super) now: Option<Moment>,
    /// The language that the recogniser heard, if it said so.
    pub(super) told: Option<String>,
    /// Edges taken since the input.
    pub(super) taken: Vec<TakenEdge>,
    /// Where the flow could not go on, if it could not.
    pub(super) stopped: Option<Stopped>,
}

impl<'f> Interpreter<'f, '_> {
    // --- words

    /// The text, with its variables filled in.
    pub(super) fn filled(&self, text: &str) -> String {
        template::fill(text, |name| self.state.variables.get(name).map(template::text_of))
    }

    /// The text of a node in the language of the conversation; `text`, which is in the agent's own, where it has none.
    pub(super) fn text_of<'t>(&self, node_id: &str, text: &'t str) -> &'t str
    where
        'f: 't,
    {
        let node = self.flow.node(node_id).filter(|node| !node.texts.is_empty());
        let own = node.and_then(|node| node.texts.get(&self.state.settings.language));
        own.filter(|own| !own.trim().is_empty()).map_or(text, String::as_str)
    }

    pub(super) fn say(&mut self, node_id: &str, text: &str) {
        let text = self.filled(self.text_of(node_id, text));
        self.say_plain(node_id, text);
    }

    /// Says a text without filling in variables, unless it is blank.
    pub(super) fn say_plain(&mut self, node_id: &str, text: String) {
        self.speak(Some(node_id.to_owned()), text);
    }

    fn speak(&mut self, node_id: Option<String>, text: String) {
        if !text.trim().is_empty() {
            self.state.history.push(Exchange::Said { role: Role::Agent, text: text.clone() });
            self.redact();
            let said = self.number();
            self.out.push(Output::Say { node_id, text, said });
        }
    }

    pub(super) fn listen(&mut self, node_id: &str, field: &Field) {
        let choices = if field.kind == FieldKind::Choice { field.choices.clone() } else { Vec::new() };
        let expected = Expected { kind: field.kind, choices, digits_begun: !self.state.digits.is_empty() };
        self.out.push(Output::Listen { node_id: node_id.to_owned(), expected });
    }

    /// Listens for anything, in a `converse` node.
    pub(super) fn listen_freely(&mut self, node_id: &str) {
        self.listen(node_id, &Field::default());
    }

    /// Adds a turn to the transcript, unless it is blank.
    pub(super) fn note(&mut self, role: Role, text: &str) {
        let text = entered(text);
        if !text.is_empty() {
            self.state.history.push(Exchange::Said { role, text });
            self.redact();
        }
    }

    /// Takes out of the newest turns what must not be kept.
    fn redact(&mut self) {
        if self.state.settings.redact {
            redaction::newest(&mut self.state.history, &self.state.settings.language);
        }
    }

    // --- requests and the end

    /// Says goodbye and ends.
    pub(super) fn close(&mut self, node_id: &str, outcome: Option<&str>) {
        let goodbye = self.state.settings.phrases.goodbye.clone();
        self.say_plain(node_id, goodbye);
        self.finish(outcome.map(str::to_owned), EndCause::AgentEnded);
    }

    /// Apologises and ends at a step that the flow does not have any more.
    pub(super) fn fail(&mut self) {
        self.stop("", "", StopReason::StepGone);
    }

    /// Apologises and ends, because the flow cannot go on from this node.
    pub(super) fn stop(&mut self, from: &str, edge: &str, why: StopReason) {
        let node_id = (!from.is_empty()).then(|| from.to_owned());
        self.stopped = Some(Stopped { node_id, edge: edge.to_owned(), why });
        let trouble = self.state.settings.phrases.trouble.clone();
        self.speak(None, trouble);
        self.finish(Some("error".into()), EndCause::Error);
    }

    /// The number of a new request. `None` when there have been too many since the customer's last input; the
    /// conversation has then ended.
    pub(super) fn request(&mut self) -> Option<u64> {
        if self.state.requests_unheard >= MAX_REQUESTS {
            self.stop("", "", StopReason::TooManyRequests);
            return None;
        }
        self.state.requests_unheard += 1;
        self.state.requests += 1;
        Some(self.state.requests)
    }

    /// Ends the conversation: at once when the customer has left or a person has taken over, otherwise after
    /// the last words.
    pub(super) fn finish(&mut self, outcome: Option<String>, cause: EndCause) {
        let end = Output::End { outcome, cause };
        match cause {
            EndCause::CallerHangup => {
                self.state.held.clear();
                self.state.path.forget_unheard();
                let unheard = usize::try_from(self.state.said - self.state.sounded).unwrap_or(usize::MAX);
                self.take_back(unheard, "", false);
                self.act(end);
            }
            EndCause::TransferHandoff => {
                self.state.path.heard(u64::MAX);
                self.state.held.clear();
                self.act(end);
            }
            EndCause::AgentEnded
            | EndCause::SilenceTimeout
            | EndCause::ModelUnavailable
            | EndCause::Error => {
                self.state.phase = Phase::Closing;
                self.after_words(end);
            }
        }
    }

    // --- what waits for words

    /// Numbers a text that is being said. In a chat, a text counts as delivered as soon as it is sent.
    fn number(&mut self) -> u64 {
        self.state.said += 1;
        if self.state.settings.channel == Channel::Chat {
            self.state.sounded = self.state.said;
        }
        self.state.said
    }

    /// Gives the output when every word so far has been spoken.
    pub(super) fn after_words(&mut self, output: Output) {
        self.after(self.state.said, output);
    }

    /// Gives the output when the text with this number, and those before it, have been spoken.
    pub(super) fn after(&mut self, said: u64, output: Output) {
        if said <= self.state.sounded {
            self.act(output);
        } else {
            self.state.held.push(Held { after: said, output });
        }
    }

    fn act(&mut self, output: Output) {
        if let Output::End { outcome, cause } = &output {
            self.state.phase = Phase::Over;
            self.state.ended = Some(Ended { outcome: outcome.clone(), cause: *cause });
        }
        self.out.push(output);
    }

    /// The text with this number, and all before it, have been spoken.
    pub(super) fn sounded(&mut self, said: u64) {
        self.state.sounded = said.min(self.state.said).max(self.state.sounded);
        self.release();
    }

    fn release(&mut self) {
        self.state.path.heard(self.state.sounded);
        let ready = self.state.held.iter().take_while(|held| held.after <= self.state.sounded).count();
        let ready: Vec<Held> = self.state.held.drain(..ready).collect();
        ready.into_iter().for_each(|held| self.act(held.output));
    }

    /// Whether a request is still held back, so that there can be no answer to it.
    pub(super) fn holds(&self, asked: u64) -> bool {
        let of = |output: &Output| match output {
            Output::CallTool { request, .. } | Output::Transfer { request, .. } => Some(*request),
            _ => None,
        };
        self.state.held.iter().any(|held| of(&held.output) == Some(asked))
    }

    // --- interruptions

    /// The agent was interrupted. The words that were not heard are removed, so that neither the transcript
    /// nor the model contains them. Nothing is being spoken any more, so held outputs are released. Tool
    /// calls that the interrupted words announced are dropped, because the customer may not want them; the
    /// model is asked again after the customer's next words.
    pub(super) fn cut_off(&mut self, turns: usize, heard: &str) {
        self.take_back(turns, heard, true);
        self.state.sounded = self.state.said;
        self.drop_announced_calls();
        self.release();
    }

    /// Replaces the agent's last turns in the history with the part of them that was heard.
    fn take_back(&mut self, turns: usize, heard: &str, stop_at_customer: bool) {
        let history = &mut self.state.history;
        let mut at = history.len();
        let mut first = None;
        let mut left = turns;
        while left > 0 && at > 0 {
            at -= 1;
            match history.get(at) {
                Some(Exchange::Said { role: Role::Agent, .. }) => {
                    history.remove(at);
                    first = Some(at);
                    left -= 1;
                }
                Some(Exchange::ToolCalled { .. } | Exchange::ToolAnswered { .. }) => {}
                Some(Exchange::Said { role: Role::Customer, .. }) if !stop_at_customer => {}
                Some(Exchange::Said { role: Role::Customer, .. }) | None => break,
            }
        }
        let heard = entered(heard);
        if let Some(first) = first.filter(|_| !heard.is_empty()) {
            history.insert(first, Exchange::Said { role: Role::Agent, text: heard });
            self.redact();
        }
    }

    fn drop_announced_calls(&mut self) {
        let Phase::Talk(talk) = &self.state.phase else { return };
        let Waiting::Tools(waiting) = &talk.waiting else { return };
        let (node, waiting) = (talk.node.clone(), waiting.clone());
        let announced =
            |output: &Output| matches!(output, Output::CallTool { request, .. } if waiting.contains(request));
        let before = self.state.held.len();
        self.state.held.retain(|held| !announced(&held.output));
        if self.state.held.len() == before {
            return;
        }
        self.state.history.retain(
            |exchange| !matches!(exchange, Exchange::ToolCalled { request, .. } if waiting.contains(request)),
        );
        if let Phase::Talk(talk) = &mut self.state.phase {
            talk.waiting = Waiting::Customer;
            talk.rounds = talk.rounds.saturating_sub(1);
        }
        self.listen_freely(&node);
    }
}

//! What waits for words. The interpreter walks on while the agent still speaks, so that the next words are
//! there when they are due; what a node *does* (a tool, a transfer, a message, the end) is held back until
//! the words before it have sounded. Who hangs up before that has heard of none of it, and none of it has
//! happened.

use serde::{Deserialize, Serialize};

use super::check::Channel;
use super::interpreter::Step;
use super::state::{EndCause, Ended, Exchange, Output, Phase, Role, Waiting};

/// Something to do once these words have sounded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    /// Number of the last text that comes before it.
    pub(super) after: u64,
    pub(super) output: Output,
}

impl Step<'_, '_> {
    /// Numbers a text that is being said. A text that is written has been delivered as soon as it is sent.
    pub(super) fn number(&mut self) -> u64 {
        self.state.said += 1;
        if self.state.settings.channel == Channel::Chat {
            self.state.sounded = self.state.said;
        }
        self.state.said
    }

    /// Does something when every word so far has sounded.
    pub(super) fn after_words(&mut self, output: Output) {
        self.after(self.state.said, output);
    }

    /// Does something when the text with this number, and those before it, have sounded.
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

    /// The text with this number has sounded, and all before it.
    pub(super) fn sounded(&mut self, said: u64) {
        self.state.sounded = said.min(self.state.said).max(self.state.sounded);
        self.release();
    }

    fn release(&mut self) {
        let ready = self.state.held.iter().take_while(|held| held.after <= self.state.sounded).count();
        let ready: Vec<Held> = self.state.held.drain(..ready).collect();
        ready.into_iter().for_each(|held| self.act(held.output));
    }

    /// Whether a request has not been made yet: there can be no answer to it.
    pub(super) fn holds(&self, asked: u64) -> bool {
        let of = |output: &Output| match output {
            Output::CallTool { request, .. } | Output::Transfer { request, .. } => Some(*request),
            _ => None,
        };
        self.state.held.iter().any(|held| of(&held.output) == Some(asked))
    }

    /// Ends the conversation: when the last words have sounded, or at once where somebody has left or taken
    /// over.
    pub(super) fn finish(&mut self, outcome: Option<String>, cause: EndCause) {
        let end = Output::End { outcome, cause };
        match cause {
            EndCause::CallerHangup => {
                self.state.held.clear();
                let unheard = usize::try_from(self.state.said - self.state.sounded).unwrap_or(usize::MAX);
                self.take_back(unheard, "", false);
                self.act(end);
            }
            EndCause::TransferHandoff => {
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

    // --- interruptions

    /// Words were cut off: what was not heard is taken back, so that neither the transcript nor the model
    /// claims it. There is nothing left to wait for, so the flow goes on with what it held back. Tools that
    /// the model wanted to call after those very words are not called: whoever interrupts an announcement may
    /// not want what it announces, and the model is asked again.
    pub(super) fn cut_off(&mut self, turns: usize, heard: &str) {
        self.take_back(turns, heard, true);
        self.state.sounded = self.state.said;
        self.drop_announced_calls();
        self.release();
    }

    /// Takes the agent's last turns out of the history and puts what was heard of them in their place.
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
        let heard: String = heard.trim().chars().take(super::MAX_HEARD).collect();
        if let Some(first) = first.filter(|_| !heard.is_empty()) {
            history.insert(first, Exchange::Said { role: Role::Agent, text: heard });
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

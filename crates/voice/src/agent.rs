//! The agent's side: doing what the interpreter says, speaking, asking the model, calling tools, bringing
//! people in.

use domain::call::{EndCause, Fact};
use domain::conversation::{EndCause as TalkEnd, Input, NodeKind, Output, Role, TransferMode};
use domain::ports::{Hints, ProviderError, Said};
use domain::speech::{SentenceSplitter, sentences};
use serde_json::{Map, Value};

use crate::desk::{TransferFailure, TransferOrder};
use crate::hold::{Call, ModelTurn, Phase, ToolRun, TransferRun};
use crate::playout::Kind;
use crate::speaker::Failure;
use crate::work::{self, Question};

/// Pieces in a row that no synthesiser could speak, after which the call ends.
const MOST_LOST: u32 = 2;
/// Longest last words of the customer that a briefing quotes, in characters.
const QUOTED: usize = 200;

impl Call {
    /// Does what the interpreter says, in order.
    pub fn perform(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Say { text, said, .. } => self.say_numbered(&text, said),
                Output::StopSaying | Output::AskDocument { .. } => {}
                Output::Listen { expected, .. } => {
                    self.keyed_at = expected.digits_begun.then(|| self.now());
                    self.hint(&expected);
                    self.expected = Some(expected);
                }
                Output::AskModel {
                    request,
                    prompt,
                    history,
                    exits,
                    tool_ids,
                    use_knowledge,
                    opening,
                    ..
                } => {
                    let asked = history.iter().rev().find_map(|exchange| match exchange {
                        domain::conversation::Exchange::Said { role: Role::Customer, text } => {
                            Some(text.clone())
                        }
                        _ => None,
                    });
                    let knowledge_for = asked.filter(|_| use_knowledge);
                    let language = self.order.language.clone();
                    self.ask_model(
                        request,
                        Question { prompt, history, exits, tool_ids, knowledge_for, opening, language },
                    );
                }
                Output::CallTool { request, tool_id, arguments, .. } => {
                    self.call_tool(request, tool_id, arguments)
                }
                Output::Transfer { request, numbers, mode, .. } => {
                    self.bring_in(request, numbers, mode, false)
                }
                Output::SendMessage { template, text, .. } => work::send_message(&self.desk, template, text),
                Output::End { outcome, cause } => {
                    if self.outcome.is_none() {
                        self.outcome = outcome;
                    }
                    self.end_with(Fact::Ended(cause_of(cause)));
                }
            }
        }
    }

    fn hint(&self, expected: &domain::conversation::Expected) {
        if let Some(listening) = &self.listening {
            listening.expect(Hints { expected: Some(expected.clone()), phrases: self.order.phrases.clone() });
        }
    }

    // --- speaking

    /// Says a text of the interpreter after what is being said; it learns when the text has sounded.
    fn say_numbered(&mut self, text: &str, said: u64) {
        let utterance = self.say(Kind::Written, text);
        if let Some(utterance) = self.playout.utterance(utterance) {
            utterance.said = Some(said);
        }
    }

    /// Says a text after what is being said.
    pub fn say(&mut self, kind: Kind, text: &str) -> u64 {
        let utterance = self.id();
        self.playout.begin(utterance, kind);
        for sentence in sentences(text) {
            self.push_piece(utterance, sentence);
        }
        if let Some(utterance) = self.playout.utterance(utterance) {
            utterance.whole = true;
        }
        self.reacts(utterance, kind);
        utterance
    }

    fn push_piece(&mut self, utterance: u64, text: String) {
        let piece = self.id();
        self.playout.add_piece(utterance, piece, text.clone());
        self.speaker.push(piece, text);
    }

    /// The first thing that is said after the customer's turn is the reaction to it.
    fn reacts(&mut self, utterance: u64, kind: Kind) {
        if let Some(reaction) =
            self.reaction.as_mut().filter(|reaction| reaction.utterance.is_none() && kind != Kind::Beside)
        {
            reaction.utterance = Some(utterance);
        }
    }

    pub(crate) fn sound(&mut self, piece: u64, samples: &[i16]) {
        let now = self.now();
        if !self.speaker.sounded(piece, now) || samples.is_empty() {
            return;
        }
        self.lost_pieces = 0;
        if !self.connected {
            self.connected = true;
            // Nobody is connected with a machine.
            if !matches!(&self.phase, Phase::Ending(ending) if ending.fact == Fact::Voicemail) {
                self.desk.fact(Fact::AgentConnected);
            }
        }
        if let Some(reaction) = self
            .reaction
            .as_mut()
            .filter(|reaction| reaction.utterance.is_some() && reaction.latency.first_audio_ms.is_none())
        {
            reaction.latency.first_audio_ms = Some(since(now, reaction.speech_end));
        }
        self.playout.append(piece, samples);
    }

    pub(crate) fn sound_ended(&mut self, piece: u64, failed: Option<ProviderError>) {
        let Some(error) = failed else {
            if self.speaker.ended(piece) {
                self.playout.end_piece(piece);
            }
            return;
        };
        let now = self.now();
        match self.speaker.failed(&self.reports, piece, now) {
            None | Some(Failure::Again) => return,
            Some(Failure::Lost) => self.playout.end_piece(piece),
        }
        tracing::warn!(%error, "a sentence could not be spoken");
        self.lost_pieces += 1;
        if !self.connected {
            self.over = Some(Fact::AgentFailed);
        } else if self.lost_pieces >= MOST_LOST {
            self.over = Some(Fact::Ended(EndCause::Error));
        }
    }

    // --- the model

    fn ask_model(&mut self, request: u64, question: Question) {
        self.model_talked = true;
        self.filled = false;
        self.expected = None;
        let task = work::talk(&self.reports, &self.speech, &self.desk, request, question);
        self.model = Some(ModelTurn {
            request,
            utterance: None,
            splitter: SentenceSplitter::new(),
            text: String::new(),
            exit: None,
            tool_calls: Vec::new(),
            end: false,
            outcome: None,
            active_at: self.now(),
            _task: task,
        });
    }

    pub(crate) fn model_said(&mut self, request: u64, said: Option<Result<Said, ProviderError>>) {
        let now = self.now();
        let Some(model) = self.model.as_mut().filter(|model| model.request == request) else { return };
        model.active_at = now;
        match said {
            Some(Ok(Said::Text(text))) => self.model_text(&text),
            Some(Ok(Said::Exit(exit))) => model.exit = Some(exit),
            Some(Ok(Said::Tool(call))) => model.tool_calls.push(call),
            Some(Ok(Said::End(outcome))) => {
                model.end = true;
                model.outcome = outcome;
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "the language model failed");
                self.model_done(true);
            }
            None => self.model_done(false),
        }
    }

    fn model_text(&mut self, text: &str) {
        let now = self.now();
        let Some(model) = &mut self.model else { return };
        model.text.push_str(text);
        let pieces = model.splitter.push(text);
        let opened = model.utterance;
        if let Some(reaction) = self
            .reaction
            .as_mut()
            .filter(|reaction| reaction.utterance.is_none() && reaction.latency.first_token_ms.is_none())
        {
            reaction.latency.first_token_ms = Some(since(now, reaction.speech_end));
        }
        let utterance = opened.unwrap_or_else(|| {
            let utterance = self.id();
            self.playout.begin(utterance, Kind::Forming);
            self.reacts(utterance, Kind::Forming);
            utterance
        });
        if let Some(model) = &mut self.model {
            model.utterance = Some(utterance);
        }
        for piece in pieces {
            self.push_piece(utterance, piece);
        }
    }

    /// The model's turn is over: what it said becomes the interpreter's, what it wants is done.
    pub(crate) fn model_done(&mut self, failed: bool) {
        let Some(mut model) = self.model.take() else { return };
        let request = model.request;
        if let Some(utterance) = model.utterance {
            if let Some(rest) = model.splitter.finish() {
                self.push_piece(utterance, rest);
            }
            if let Some(utterance) = self.playout.utterance(utterance) {
                utterance.whole = true;
                utterance.kind = Kind::Written;
            }
        }
        let wants_nothing = model.exit.is_none() && !model.end && model.tool_calls.is_empty();
        if failed && wants_nothing && model.text.trim().is_empty() {
            return self.step(Input::ModelFailed { request });
        }
        if self.ending() {
            return;
        }
        let text = model.text;
        let said = Input::ModelSaid {
            request,
            text: text.clone(),
            exit: model.exit,
            tool_calls: model.tool_calls,
            end: model.end,
            outcome: model.outcome,
        };
        let mut outputs = self.conversation.step(said);
        // It has been spoken while it was written.
        let spoken = match outputs.first() {
            Some(Output::Say { text: spoken, said, .. }) if *spoken == text && !text.trim().is_empty() => {
                Some(*said)
            }
            _ => None,
        };
        if spoken.is_some() {
            outputs.remove(0);
            if let Some(utterance) = model.utterance.and_then(|utterance| self.playout.utterance(utterance)) {
                utterance.said = spoken;
            }
        }
        self.perform(outputs);
    }

    // --- tools

    fn call_tool(&mut self, request: u64, tool_id: String, arguments: Map<String, Value>) {
        self.filled = false;
        self.expected = None;
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).map(str::to_owned);
        match tool_id.as_str() {
            "end_call" => {
                self.outcome = self.outcome.take().or_else(|| text("outcome"));
                self.end_with(Fact::Ended(EndCause::AgentEnded));
            }
            "transfer_to_human" => {
                let asked = text("number").filter(|number| self.order.allowed_numbers.contains(number));
                let numbers = asked.map_or_else(|| self.own_numbers(), |number| vec![number]);
                self.bring_in(request, numbers, TransferMode::Warm, true);
            }
            "chatapp_message" => {
                let template = arguments.get("template").filter(|template| !template.is_null()).cloned();
                work::send_message(&self.desk, template, text("text").unwrap_or_default());
                self.step(Input::ToolAnswered { request, value: Value::from("sent") });
            }
            _ => {
                let task = work::call_tool(&self.reports, &self.desk, request, tool_id, arguments);
                let asked_at = self.now();
                self.tools.insert(request, ToolRun { asked_at, _task: task });
            }
        }
    }

    pub(crate) fn tool_answered(&mut self, request: u64, answer: Result<Value, String>) {
        if self.tools.remove(&request).is_some() {
            self.step(match answer {
                Ok(value) => Input::ToolAnswered { request, value },
                Err(reason) => Input::ToolFailed { request, reason },
            });
        }
    }

    // --- people

    /// Numbers that the agent rings when it is asked for a person: its list, or those of its flow.
    fn own_numbers(&self) -> Vec<String> {
        if !self.order.allowed_numbers.is_empty() {
            return self.order.allowed_numbers.clone();
        }
        let of_node = |kind: &NodeKind| match kind {
            NodeKind::Transfer(transfer) => transfer.transfer_numbers.clone(),
            _ => Vec::new(),
        };
        self.order.flow.nodes.iter().flat_map(|node| of_node(&node.kind)).collect()
    }

    fn bring_in(&mut self, request: u64, mut numbers: Vec<String>, mode: TransferMode, by_tool: bool) {
        let allowed = &self.order.allowed_numbers;
        numbers.retain(|number| allowed.is_empty() || allowed.contains(number));
        self.expected = None;
        let asked_at = self.now();
        let mut run = TransferRun { request, by_tool, waits: None, asked_at, _task: None };
        if numbers.is_empty() {
            self.transfer = Some(run);
            return self.transferred(request, Err(TransferFailure::NotAllowed));
        }
        let order = TransferOrder { numbers, mode, briefing: self.briefing() };
        if !self.announced && self.playout.idle() && self.speaker.idle() {
            self.say(Kind::Beside, self.lines.connecting);
        }
        match mode {
            TransferMode::Warm => run._task = Some(work::transfer(&self.reports, &self.desk, request, order)),
            TransferMode::Cold => run.waits = Some(order),
        }
        self.transfer = Some(run);
    }

    /// A cold transfer takes the line away: it begins when all was said.
    pub(crate) fn begin_transfer(&mut self) {
        if !(self.playout.idle() && self.speaker.idle()) {
            return;
        }
        let now = self.now();
        if let Some(run) = &mut self.transfer
            && let Some(order) = run.waits.take()
        {
            run.asked_at = now;
            run._task = Some(work::transfer(&self.reports, &self.desk, run.request, order));
        }
    }

    /// What a person is told before they join: what is known of the customer and what they said last.
    fn briefing(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let known = self
            .order
            .variables
            .iter()
            .filter(|(key, _)| key.contains("name"))
            .chain(self.conversation.extracted());
        for (key, value) in known.take(8) {
            let value = domain::conversation::text_of(value);
            if !value.trim().is_empty() {
                parts.push(format!("{}: {value}.", key.replace('_', " ")));
            }
        }
        let last = self.turns.iter().rev().find(|said| said.turn.role == Role::Customer);
        if let Some(last) = last {
            parts.push(format!("\"{}\"", last.turn.text.chars().take(QUOTED).collect::<String>()));
        }
        parts.join(" ")
    }

    pub(crate) fn transferred(&mut self, request: u64, outcome: Result<(), TransferFailure>) {
        let Some(run) = self.transfer.take_if(|run| run.request == request) else { return };
        // The ringing tone ends; what is being said is heard to its end unless a person takes over.
        if outcome.is_ok() || self.playout.silent() {
            self.cut_short();
        }
        match (outcome, run.by_tool) {
            (Ok(()), true) => {
                self.outcome = Some("transferred".into());
                self.end_with(Fact::Ended(EndCause::TransferHandoff));
            }
            (Ok(()), false) => self.step(Input::TransferDone { request }),
            (Err(failure), true) => self.step(Input::ToolFailed { request, reason: failure.reason().into() }),
            (Err(_), false) => self.step(Input::TransferFailed { request }),
        }
    }

    /// Whether somebody other than the customer is waited for, and since when.
    pub(crate) fn waits_since(&self) -> Option<u64> {
        let model =
            self.model.as_ref().filter(|model| model.utterance.is_none()).map(|model| model.active_at);
        let tool = self.tools.values().map(|tool| tool.asked_at).min();
        model.into_iter().chain(tool).min()
    }
}

/// Milliseconds between two times of the line.
pub(crate) fn since(now: u64, then: u64) -> i64 {
    i64::try_from(now.saturating_sub(then)).unwrap_or(i64::MAX)
}

fn cause_of(cause: TalkEnd) -> EndCause {
    match cause {
        TalkEnd::AgentEnded => EndCause::AgentEnded,
        TalkEnd::CallerHangup => EndCause::CallerHangup,
        TalkEnd::SilenceTimeout => EndCause::SilenceTimeout,
        TalkEnd::TransferHandoff => EndCause::TransferHandoff,
        TalkEnd::ModelUnavailable | TalkEnd::Error => EndCause::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_have_the_words_of_the_contract() {
        for cause in [
            TalkEnd::AgentEnded,
            TalkEnd::CallerHangup,
            TalkEnd::SilenceTimeout,
            TalkEnd::TransferHandoff,
            TalkEnd::ModelUnavailable,
            TalkEnd::Error,
        ] {
            assert_eq!(cause_of(cause).as_str(), cause.of_call());
        }
    }
}

//! The agent's side: carries out the interpreter's outputs (speech, language model, tool calls, transfers).

use domain::call::{EndCause, Fact};
use domain::conversation::{
    EndCause as TalkEnd, Exchange, Expected, Input, NodeKind, Output, Role, TransferMode, text_of,
};
use domain::ports::{ProviderError, Said};
use serde_json::{Map, Value};

use super::Call;
use super::key_presses::{self, PRESS_KEYS};
use super::model_turn::ModelTurn;
use super::phase::Phase;
use super::waits::Transfer;
use crate::services::{CallProgress, TransferFailure, TransferOrder};
use crate::speaking::{Kind, Lost};
use crate::work::{self, Question};

/// Longest last words of the customer that a briefing quotes, in characters.
const QUOTED: usize = 200;
/// Most facts about the customer in a briefing.
const BRIEFED: usize = 8;

impl Call {
    /// Executes the interpreter's outputs, in order.
    pub(super) fn perform(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Say { text, said, .. } => {
                    let utterance = self.say(Kind::Written, &text);
                    self.voice.number(utterance, said);
                }
                Output::StopSaying | Output::AskDocument { .. } => {}
                Output::Listen { expected, .. } => self.await_answer(expected),
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
                        Exchange::Said { role: Role::Customer, text } => Some(text.clone()),
                        _ => None,
                    });
                    let knowledge_for = asked.filter(|_| use_knowledge);
                    let language = self.order.language.clone();
                    self.ask_model(
                        request,
                        Question {
                            workspace: self.order.workspace,
                            prompt,
                            history,
                            exits,
                            tool_ids,
                            knowledge_for,
                            opening,
                            language,
                        },
                    );
                }
                Output::CallTool { request, node_id, tool_id, arguments } => {
                    match self.conversation.revealed(&node_id, arguments) {
                        Some(arguments) => self.call_tool(request, tool_id, arguments),
                        None => self.step(Input::SecretsGone { request }),
                    }
                }
                Output::Transfer { request, numbers, mode, .. } => {
                    self.bring_in(request, numbers, mode, false)
                }
                Output::SendMessage { template, text, .. } => {
                    self.committed = true;
                    work::send_message(&self.services, template, text)
                }
                Output::End { outcome, cause } => {
                    self.outcome = self.outcome.take().or(outcome);
                    self.end_with(Fact::Ended(cause_of(cause)));
                }
            }
        }
    }

    fn await_answer(&mut self, expected: Expected) {
        if expected.digits_begun {
            self.keys.wait(self.now());
        } else {
            self.keys.stop_waiting();
        }
        self.recognition.hint(Some(&expected));
        self.floor.give(expected);
    }

    // --- speaking

    /// Queues a text after what is being said.
    pub(super) fn say(&mut self, kind: Kind, text: &str) -> u64 {
        let utterance = self.voice.say(kind, text);
        if kind != Kind::Beside {
            self.reactions.utterance(utterance);
        }
        utterance
    }

    /// Takes sound of a sentence.
    pub(super) fn sound(&mut self, piece: u64, samples: &[i16]) {
        let now = self.now();
        if !self.voice.sound(piece, samples, now) {
            return;
        }
        // What is said to a machine does not connect anybody.
        let to_machine = match &self.phase {
            Phase::Waiting(_) => true,
            Phase::Ending(ending) => ending.fact() == Fact::Voicemail,
            Phase::Greeting(_) | Phase::Talking | Phase::Machine(_) => false,
        };
        if !to_machine && !std::mem::replace(&mut self.connected, true) {
            self.services.fact(Fact::AgentConnected);
        }
        self.reactions.audio(now);
    }

    /// The sound of a sentence is complete, or could not be made.
    pub(super) fn sound_ended(&mut self, piece: u64, failed: Option<ProviderError>) {
        let Some(error) = failed else { return self.voice.sound_ended(piece) };
        let Some(lost) = self.voice.sound_failed(piece, self.now()) else { return };
        tracing::warn!(%error, "a sentence could not be spoken");
        match lost {
            Lost::Sentence => {}
            Lost::Voice => self.over = Some(Fact::Ended(EndCause::Error)),
            Lost::NeverHeard => self.over = Some(Fact::AgentFailed),
        }
    }

    // --- the model

    fn ask_model(&mut self, request: u64, question: Question) {
        self.floor.take();
        let task = work::talk(&self.reports, &self.model, &self.services, request, question);
        self.waits.ask_model(ModelTurn::begin(request, self.now(), task));
    }

    /// Handles output of the model; `None` at the end of its turn.
    pub(super) fn model_said(&mut self, request: u64, said: Option<Result<Said, ProviderError>>) {
        let now = self.now();
        let Some(model) = self.waits.model().filter(|model| model.request() == request) else { return };
        model.heard_at(now);
        match said {
            Some(Ok(said)) => {
                let speaks = matches!(said, Said::Text(_));
                let sentences = model.take(said);
                if speaks {
                    self.model_speaks(sentences);
                }
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "the language model failed");
                self.model_done(true);
            }
            None => self.model_done(false),
        }
    }

    fn model_speaks(&mut self, sentences: Vec<String>) {
        self.reactions.token(self.now());
        let Some(model) = self.waits.model() else { return };
        let utterance = model.utterance().unwrap_or_else(|| {
            let utterance = self.voice.begin(Kind::Forming);
            model.spoken_in(utterance);
            self.reactions.utterance(utterance);
            utterance
        });
        for sentence in sentences {
            self.voice.push(utterance, &sentence);
        }
    }

    /// The model's turn is over: its words go to the interpreter, its calls are executed.
    pub(super) fn model_done(&mut self, failed: bool) {
        let Some(mut model) = self.waits.take_model() else { return };
        let utterance = model.utterance();
        if let Some(utterance) = utterance {
            if let Some(rest) = model.finish() {
                self.voice.push(utterance, &rest);
            }
            self.voice.finish(utterance);
            self.voice.written(utterance);
        }
        if failed && model.empty() {
            return self.step(Input::ModelFailed { request: model.request() });
        }
        if self.ending() {
            return;
        }
        let text = model.text().to_owned();
        let mut outputs = self.conversation.step(model.into_input());
        self.marks.captured(self.conversation.extracted(), self.clock.now());
        // The words were spoken while they were written.
        if let Some(Output::Say { text: spoken, said, .. }) = outputs.first()
            && *spoken == text
            && !text.trim().is_empty()
        {
            let said = *said;
            outputs.remove(0);
            if let Some(utterance) = utterance {
                self.voice.number(utterance, said);
            }
        }
        self.perform(outputs);
    }

    // --- tools

    fn call_tool(&mut self, request: u64, tool_id: String, arguments: Map<String, Value>) {
        self.waits.refill();
        self.floor.take();
        self.marks.called(request, &tool_id, self.now());
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
                let words = text("text").filter(|words| !words.trim().is_empty());
                if template.is_none() && words.is_none() {
                    let reason = "not sent: it has neither a text nor a template".to_owned();
                    return self.step(Input::ToolFailed { request, reason });
                }
                self.committed = true;
                work::send_message(&self.services, template, words.unwrap_or_default());
                self.step(Input::ToolAnswered { request, value: Value::from("sent") });
            }
            PRESS_KEYS => self.press_keys(request, text("keys").unwrap_or_default()),
            _ => {
                let task = work::call_tool(&self.reports, &self.services, request, tool_id, arguments);
                self.waits.call_tool(request, self.now(), task);
            }
        }
    }

    /// Passes a tool's answer, or its error, to the interpreter.
    pub(super) fn tool_answered(&mut self, request: u64, answer: Result<Value, String>) {
        if self.waits.tool_answered(request) {
            self.step(match answer {
                Ok(value) => Input::ToolAnswered { request, value },
                Err(reason) => Input::ToolFailed { request, reason },
            });
        }
    }

    /// Presses keys for the model or the flow. The answer comes when the last one was pressed.
    fn press_keys(&mut self, request: u64, keys: String) {
        let now = self.now();
        let pressed = key_presses::read(&keys)
            .and_then(|keys| self.key_presses.admit(now).map(|()| keys))
            .and_then(|keys| {
                let taken = self.voice.press_keys(&keys);
                if taken { Ok(key_presses::duration_ms(&keys)) } else { Err("this line takes no keys") }
            });
        match pressed {
            Ok(duration_ms) => self.waits.press_keys(request, now + duration_ms, now),
            Err(why) => {
                let reason = format!("no key was pressed: {why}");
                self.step(Input::ToolFailed { request, reason });
            }
        }
    }

    /// The keys were pressed: their tool answers.
    pub(super) fn keys_pressed(&mut self, request: u64) {
        self.step(Input::ToolAnswered { request, value: Value::from("pressed") });
    }

    // --- people

    /// Numbers that the agent may ring for a transfer: its list, or those of its flow.
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
        self.services.progressed(CallProgress::PersonWanted);
        let allowed = &self.order.allowed_numbers;
        self.committed = true;
        numbers.retain(|number| allowed.is_empty() || allowed.contains(number));
        self.floor.take();
        let transfer = Transfer::new(request, by_tool, self.now());
        if numbers.is_empty() {
            self.waits.transfer(transfer);
            return self.transferred(request, Err(TransferFailure::NotAllowed));
        }
        let order = TransferOrder { numbers, mode, briefing: self.briefing() };
        if !self.announced && self.voice.idle() {
            self.say(Kind::Beside, self.phrases.connecting);
        }
        self.waits.transfer(match mode {
            TransferMode::Warm => {
                transfer.under_way(work::transfer(&self.reports, &self.services, request, order))
            }
            TransferMode::Cold => transfer.after_words(order),
        });
    }

    /// A cold transfer takes the line away: it begins when everything was said.
    pub(super) fn begin_transfer(&mut self) {
        if self.voice.idle() {
            let now = self.now();
            let (reports, services) = (&self.reports, &self.services);
            self.waits
                .begin_transfer(now, |request, order| work::transfer(reports, services, request, order));
        }
    }

    /// The briefing of a person before they join: known facts about the customer, and the customer's last words.
    fn briefing(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let names = self.order.variables.iter().filter(|(key, _)| key.contains("name"));
        for (key, value) in names.chain(self.conversation.extracted()).take(BRIEFED) {
            let value = text_of(value);
            if !value.trim().is_empty() {
                parts.push(format!("{}: {value}.", key.replace('_', " ")));
            }
        }
        if let Some(last) = self.transcript.last_of_customer() {
            parts.push(format!("\"{}\"", last.chars().take(QUOTED).collect::<String>()));
        }
        parts.join(" ")
    }

    /// A person was brought in, or not.
    pub(super) fn transferred(&mut self, request: u64, outcome: Result<(), TransferFailure>) {
        let Some(transfer) = self.waits.transferred(request) else { return };
        // The ringing tone ends; the current words are spoken to their end unless a person takes over.
        if outcome.is_ok() || self.voice.silent() {
            self.cut_short();
        }
        match (outcome, transfer.by_tool()) {
            (Ok(()), true) => {
                self.outcome = Some("transferred".into());
                self.end_with(Fact::Ended(EndCause::TransferHandoff));
            }
            (Ok(()), false) => self.step(Input::TransferDone { request }),
            (Err(failure), true) => self.step(Input::ToolFailed { request, reason: failure.reason().into() }),
            (Err(_), false) => self.step(Input::TransferFailed { request }),
        }
    }
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

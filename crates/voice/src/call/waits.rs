//! Pending requests of the conversation (language model, tools, transfer) and their timeouts.

use std::collections::BTreeMap;
use std::time::Duration;

use super::clock::millis;
use super::model_turn::ModelTurn;
use crate::services::TransferOrder;
use crate::work::Guard;

/// Time-out of a model that sends nothing, milliseconds.
const MODEL_MS: u64 = 20_000;
const TOOL_MS: u64 = 30_000;
const TRANSFER_MS: u64 = 120_000;

struct ToolCall {
    asked_at: u64,
    _task: Guard,
}

/// A person who is brought in.
pub(crate) struct Transfer {
    request: u64,
    by_tool: bool,
    /// Not begun yet: what is being said comes first.
    order: Option<TransferOrder>,
    asked_at: u64,
    task: Option<Guard>,
}

impl Transfer {
    /// Answers this request, of the model's tool or of a node.
    pub fn new(request: u64, by_tool: bool, now: u64) -> Self {
        Self { request, by_tool, order: None, asked_at: now, task: None }
    }

    /// The person is being rung.
    pub fn under_way(self, task: Guard) -> Self {
        Self { task: Some(task), ..self }
    }

    /// Begins when everything was said.
    pub fn after_words(self, order: TransferOrder) -> Self {
        Self { order: Some(order), ..self }
    }

    /// Whether the model's tool asked for it, not a node.
    pub fn by_tool(&self) -> bool {
        self.by_tool
    }
}

/// Everything that is waited for. Times are of the line.
pub(crate) struct Waits {
    filler_after_ms: u64,
    model: Option<ModelTurn>,
    /// A model request whose turn was cut off.
    abandoned: Option<u64>,
    model_talked: bool,
    tools: BTreeMap<u64, ToolCall>,
    transfer: Option<Transfer>,
    /// Requests whose keys are being pressed, and when each is done.
    pressing: BTreeMap<u64, u64>,
    /// The customer heard the filler.
    filled: bool,
}

impl Waits {
    /// Waits for nothing. The customer hears a filler when something takes longer than this.
    pub fn new(filler_after: Duration) -> Self {
        Self {
            filler_after_ms: millis(filler_after),
            model: None,
            abandoned: None,
            model_talked: false,
            tools: BTreeMap::new(),
            transfer: None,
            pressing: BTreeMap::new(),
            filled: false,
        }
    }

    /// Whether nothing is waited for.
    pub fn idle(&self) -> bool {
        self.model.is_none() && self.tools.is_empty() && self.transfer.is_none() && self.pressing.is_empty()
    }

    pub fn give_up(&mut self) {
        self.model = None;
        self.tools.clear();
        self.pressing.clear();
        self.transfer = None;
    }

    // --- the model

    /// The model takes a turn.
    pub fn ask_model(&mut self, turn: ModelTurn) {
        self.model_talked = true;
        self.filled = false;
        self.model = Some(turn);
    }

    /// Whether a model was asked in this call.
    pub fn model_talked(&self) -> bool {
        self.model_talked
    }

    /// The model's turn under way.
    pub fn model(&mut self) -> Option<&mut ModelTurn> {
        self.model.as_mut()
    }

    /// Whether the model has a turn under way.
    pub fn model_talks(&self) -> bool {
        self.model.is_some()
    }

    /// The model's turn is over.
    pub fn take_model(&mut self) -> Option<ModelTurn> {
        self.model.take()
    }

    /// The model's turn was cut off; true if it had one.
    pub fn cut_off_model(&mut self) -> bool {
        let cut_off = self.model.take();
        self.abandoned = cut_off.as_ref().map(ModelTurn::request).or(self.abandoned);
        cut_off.is_some()
    }

    /// The request whose turn was cut off, if nothing has come in its place.
    pub fn take_abandoned(&mut self) -> Option<u64> {
        self.abandoned.take()
    }

    // --- tools

    /// A tool is running.
    pub fn call_tool(&mut self, request: u64, now: u64, task: Guard) {
        self.tools.insert(request, ToolCall { asked_at: now, _task: task });
    }

    /// A tool has answered; false if its answer is not waited for any more.
    pub fn tool_answered(&mut self, request: u64) -> bool {
        self.tools.remove(&request).is_some()
    }

    // --- keys

    /// Keys are being pressed for this request until then, after those before it.
    pub fn press_keys(&mut self, request: u64, until: u64, now: u64) {
        let before = self.pressing.values().max().copied().unwrap_or(now);
        self.pressing.insert(request, until + before.saturating_sub(now));
    }

    /// Takes a request whose keys have been pressed.
    pub fn take_pressed(&mut self, now: u64) -> Option<u64> {
        let (request, _) = self.pressing.iter().find(|(_, until)| now >= **until)?;
        let request = *request;
        self.pressing.remove(&request);
        Some(request)
    }

    // --- people

    /// A person is brought in.
    pub fn transfer(&mut self, transfer: Transfer) {
        self.transfer = Some(transfer);
    }

    /// Whether a person is being rung.
    pub fn ringing(&self) -> bool {
        self.transfer.as_ref().is_some_and(|transfer| transfer.task.is_some())
    }

    /// Begins the transfer that waited for what was being said.
    pub fn begin_transfer(&mut self, now: u64, ring: impl FnOnce(u64, TransferOrder) -> Guard) {
        if let Some(transfer) = &mut self.transfer
            && let Some(order) = transfer.order.take()
        {
            transfer.asked_at = now;
            transfer.task = Some(ring(transfer.request, order));
        }
    }

    /// The transfer is over; none if it is not waited for any more.
    pub fn transferred(&mut self, request: u64) -> Option<Transfer> {
        self.transfer.take_if(|transfer| transfer.request == request)
    }

    // --- time

    /// A new wait begins: the customer may hear a filler again.
    pub fn refill(&mut self) {
        self.filled = false;
    }

    /// Whether a filler is due, for which nothing must sound.
    pub fn filler_is_due(&self, now: u64) -> bool {
        self.transfer.is_none() && self.filler_at().is_some_and(|at| now >= at)
    }

    /// The customer hears a filler.
    pub fn fill(&mut self) {
        self.filled = true;
    }

    fn filler_at(&self) -> Option<u64> {
        let model = self.model.as_ref().filter(|model| model.utterance().is_none()).map(ModelTurn::active_at);
        let tool = self.tools.values().map(|tool| tool.asked_at).min();
        let since = model.into_iter().chain(tool).min().filter(|_| !self.filled)?;
        Some(since + self.filler_after_ms)
    }

    /// How long the model has sent nothing, if that is its time-out, milliseconds.
    pub fn silent_model(&self, now: u64) -> Option<u64> {
        let silent = now.saturating_sub(self.model.as_ref()?.active_at());
        (silent >= MODEL_MS).then_some(silent)
    }

    /// Tools that have not answered in time.
    pub fn late_tools(&self, now: u64) -> Vec<u64> {
        let late = self.tools.iter().filter(|(_, tool)| now >= tool.asked_at + TOOL_MS);
        late.map(|(request, _)| *request).collect()
    }

    /// The transfer that has taken too long.
    pub fn late_transfer(&self, now: u64) -> Option<u64> {
        let late = self.transfer.as_ref().filter(|transfer| now >= transfer.asked_at + TRANSFER_MS);
        late.map(|transfer| transfer.request)
    }

    /// Times of time-outs and fillers.
    pub fn due(&self) -> impl Iterator<Item = u64> {
        let model = self.model.as_ref().map(|model| model.active_at() + MODEL_MS);
        let tools = self.tools.values().map(|tool| tool.asked_at + TOOL_MS);
        let transfer = self.transfer.as_ref().map(|transfer| transfer.asked_at + TRANSFER_MS);
        let pressing = self.pressing.values().copied();
        self.filler_at().into_iter().chain(model).chain(tools).chain(transfer).chain(pressing)
    }

    /// Moves every deadline by the length of a hold.
    pub fn shift(&mut self, by: u64) {
        if let Some(model) = &mut self.model {
            model.shift(by);
        }
        self.tools.values_mut().for_each(|tool| tool.asked_at += by);
        self.pressing.values_mut().for_each(|until| *until += by);
        if let Some(transfer) = &mut self.transfer {
            transfer.asked_at += by;
        }
    }
}

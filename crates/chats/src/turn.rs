//! Runs the conversation for one reply: the interpreter's outputs are executed until it waits for the customer,
//! requests a person, or ends. The model is called as on a call, in writing.
//!
//! A checkpoint is stored before and after every tool call; the next try, or the next turn when this one is given up,
//! resumes there. So a tool that has answered is not called again. One that was being called is retried under the same
//! idempotency key, or not at all where it may be called only once.

use std::collections::VecDeque;
use std::sync::Arc;

use api::agents::AgentModels;
use app::agents::languages_of;
use app::calls::setting;
use app::{App, Failure, published_flows, tool_calls};
use domain::chat::{Channel as ChatChannel, LEASE, PATIENCE, Role as ChatRole, TurnKind};
use domain::conversation::{
    Channel, Conversation, ConversationSettings, EndCause, Flow, Input, Output, Role,
};
use domain::tenant::Tenant;
use domain::time::{HOUR, Timestamp};
use serde_json::Value;
use store::channel_conversations::{self, ChannelChatRow};
use store::chats::{self, ChatRow, MessageRow};
use store::{DbError, TenantTx, Tx, agents};

use crate::document_checks::outcome;
use crate::feed::Feed;
use crate::model::{Asking, Listener};
use crate::progress::{Left, Progress, answered_late, go_on};
use crate::session::{Claim, Env, read_state, save};
use crate::undelivered::{Unsaid, forget, undelivered, unsaid};
use crate::unkept::UnkeptWords;
use crate::written::{Line, Then, Trouble, Written, joined, noted, parted};

/// What a try reads before it begins.
struct Scene {
    row: ChatRow,
    flow: Arc<Flow>,
    /// What is read of the agent, or nothing when it is gone: knowledge base, languages, model.
    base: Option<String>,
    languages: Vec<String>,
    models: AgentModels,
    conversation: Option<String>,
    progress: Option<String>,
    /// Messages that the conversation does not contain yet.
    unheard: Vec<MessageRow>,
    /// The document that was checked, when that is what the agent reacts to.
    checked: Option<Input>,
    /// What the messaging channel adds.
    carried: Option<ChannelChatRow>,
    /// Messages of the business that were not delivered, and that the conversation may contain.
    unsaid: Vec<Unsaid>,
}

fn scene(tx: &mut Tx<'_>, claim: &Claim) -> Result<Option<Scene>, Failure> {
    let (tenant, id) = (claim.tenant, claim.chat);
    let Some(row) = chats::get(&mut tx.of(tenant), id)?.filter(|row| claim.holds(row)) else {
        return Ok(None);
    };
    let kept = chats::state(&mut tx.of(tenant), id)?;
    let carried = match row.channel {
        ChatChannel::Chatapp => channel_conversations::get(&mut tx.of(tenant), id)?,
        ChatChannel::Api | ChatChannel::Web => None,
    };
    let mut unheard = chats::messages(&mut tx.of(tenant), id, row.heard)?;
    if carried.is_some() && kept.conversation.is_some() {
        // Its own text is in the conversation; messages may have come between the two.
        unheard.retain(|message| message.role != ChatRole::Agent);
    }
    let failed = undelivered(tx, &row)?;
    unheard.retain(|message| !failed.contains(&message.seq));
    // An agent that is gone finishes the chats that it has.
    let agent = agents::get(&mut tx.of(tenant), row.agent)?;
    Ok(Some(Scene {
        carried,
        flow: published_flows::flow_of_id(&mut tx.of(tenant), &row.flow)?,
        languages: agent.as_ref().map(languages_of).unwrap_or_default(),
        models: agent.as_ref().map(|agent| setting(&agent.models)).unwrap_or_default(),
        base: agent.and_then(|agent| agent.knowledge_base),
        unheard,
        unsaid: unsaid(tx, &row, &failed)?,
        checked: if claim.kind == TurnKind::Document { outcome(&mut tx.of(tenant), id)? } else { None },
        conversation: kept.conversation,
        progress: kept.progress,
        row,
    }))
}

/// Sessions of the last hour that are counted, and by how many those without a message of the customer may outnumber
/// the others before openings come without the model: a chat in which nobody writes is free, and the model is not.
const LOOKED_AT: i64 = 100;
const MAX_SILENT: i64 = 30;

/// Whether a workspace opens sessions in which nobody writes.
fn is_left_silent(tx: &mut TenantTx, now: Timestamp) -> Result<bool, DbError> {
    let (silent, spoken) = chats::silent_and_spoken(tx, now.plus(-HOUR), LOOKED_AT)?;
    // The session that is opened is one of the silent.
    Ok(silent - spoken > MAX_SILENT + 1)
}

/// Runs the conversation for one try of a reply. With `alone`, and at the opening of one more session that may stay
/// silent, there is no model: the interpreter uses its own texts.
pub(crate) async fn play(
    app: &Arc<App>,
    claim: &Claim,
    feed: &Feed,
    alone: bool,
) -> Result<Written, Trouble> {
    let (wanted, now) = (*claim, app.clock.now());
    let found = app.store.read(move |tx| {
        let Some(scene) = scene(tx, &wanted)? else { return Ok::<_, Failure>(None) };
        let opens = wanted.kind == TurnKind::Opening && scene.row.channel == ChatChannel::Api;
        let silent = opens && is_left_silent(&mut tx.of(scene.row.workspace), now)?;
        Ok(Some((scene, silent)))
    });
    let (scene, silent) = found.await?.ok_or(Trouble::Gone)?;
    let mut turn = ReplyTurn::begin(app, claim, feed, alone || silent, scene)?;
    turn.run().await
}

struct ReplyTurn<'a> {
    app: &'a Arc<App>,
    claim: &'a Claim,
    feed: &'a Feed,
    alone: bool,
    tenant: Tenant,
    models: AgentModels,
    base: Option<String>,
    conversation: Conversation,
    queue: VecDeque<Output>,
    words: Vec<Line>,
    /// The newest message that the conversation contains.
    heard: i64,
    /// The turn in the idempotency keys of tool calls.
    keyed: i64,
    /// A tool call that an earlier try had begun when it ended.
    begun: Option<u64>,
    /// The model's record of messages outside of the conversation.
    background: Option<String>,
    /// Whether the messaging channel carries it.
    carried: bool,
    /// Whether it is a test chat: no tool is called.
    is_test: bool,
    /// The time-out of this try.
    until: Timestamp,
}

impl<'a> ReplyTurn<'a> {
    fn begin(
        app: &'a Arc<App>,
        claim: &'a Claim,
        feed: &'a Feed,
        alone: bool,
        scene: Scene,
    ) -> Result<Self, Failure> {
        let Scene {
            row,
            flow,
            base,
            languages,
            models,
            conversation,
            progress,
            unheard,
            checked,
            carried,
            unsaid,
        } = scene;
        let (on_channel, mut carried) = (carried.is_some(), carried);
        let (mut keyed, mut begun) = (claim.turn, None);
        let (conversation, words, queue, heard) = match progress {
            Some(text) => {
                let progress = Progress::read(&text)?;
                let left_over = progress.left_over(claim.turn, claim.attempt);
                (keyed, begun) = (progress.keyed.unwrap_or(claim.turn), progress.begun);
                // Messages stored later are for the next reply.
                let mut heard = progress.heard.unwrap_or(row.messages);
                let mut conversation = Conversation::resume(flow, progress.conversation);
                conversation.set_now(app.clock.now().0);
                let mut queue = progress.queue;
                forget(&mut conversation, &unsaid, heard);
                if left_over {
                    let taken_back = progress.taken_back.as_deref();
                    let (kind, given_back) = (claim.kind, row.given_back);
                    let left = Left { kind, on_channel, given_back, heard, taken_back };
                    go_on(&mut conversation, &mut queue, &left, unheard);
                    queue.extend(checked.into_iter().flat_map(|checked| conversation.step(checked)));
                    heard = row.messages;
                }
                (conversation, progress.words, queue, heard)
            }
            None => {
                let mut conversation = match &conversation {
                    Some(text) => {
                        let mut conversation = Conversation::resume(flow, read_state(text)?);
                        forget(&mut conversation, &unsaid, row.heard);
                        conversation
                    }
                    None => Conversation::new(
                        flow,
                        carried
                            .as_mut()
                            .map(|carried| std::mem::take(&mut carried.variables))
                            .unwrap_or_default(),
                        ConversationSettings {
                            redact: row.redact,
                            ..ConversationSettings::of(Channel::Chat, &row.language).following(&languages)
                        },
                    ),
                };
                conversation.set_now(app.clock.now().0);
                let queue = if on_channel && claim.kind == TurnKind::Opening {
                    answer_first(&mut conversation, &unheard, row.given_back)
                } else {
                    let unkept = app.state.of(UnkeptWords::default);
                    let awaited = conversation.awaits_secret();
                    let said = |last: &[&MessageRow]| unkept.said(row.id, awaited, last, app.clock.now());
                    let given_back = row.given_back;
                    first_step(
                        &mut conversation,
                        claim.kind,
                        on_channel,
                        &unheard,
                        given_back,
                        checked,
                        &said,
                    )
                };
                (conversation, Vec::new(), queue.into(), row.messages)
            }
        };
        Ok(Self {
            app,
            claim,
            feed,
            alone,
            tenant: row.workspace,
            models,
            base,
            conversation,
            queue,
            words,
            heard,
            keyed,
            begun,
            background: carried.and_then(|carried| carried.background),
            carried: on_channel,
            is_test: row.test_link.is_some(),
            until: app.clock.now().plus(PATIENCE),
        })
    }

    async fn run(&mut self) -> Result<Written, Trouble> {
        while let Some(output) = self.queue.pop_front() {
            match output {
                Output::Say { text, .. } => self.say(text),
                // A document is awaited like a text; a text that comes instead is asked for it again.
                Output::StopSaying | Output::Listen { .. } | Output::AskDocument { .. } => {}
                Output::AskModel { .. } => self.ask_model(output).await?,
                Output::CallTool { .. } => {
                    if let Some(then) = self.call_tool(output).await? {
                        return self.finish(then);
                    }
                }
                // The node waits for the person; its next step follows when they give the chat back.
                Output::Transfer { .. } => return self.finish(Then::Person),
                Output::SendMessage { template: Some(template), .. } if self.carried => {
                    self.words.push(Line::Template { template });
                }
                Output::SendMessage { template: Some(_), .. } => {
                    tracing::warn!(chat = %self.claim.chat, "a template was not sent: the chat-app channel is not connected");
                }
                Output::SendMessage { text, .. } => self.say(text),
                Output::End { outcome, cause } => return self.finish(Then::End { outcome, cause }),
            }
        }
        self.finish(Then::Wait)
    }

    fn say(&mut self, text: String) {
        self.feed.part();
        self.feed.push(&text);
        self.words.push(Line::Words(text));
    }

    fn finish(&mut self, then: Then) -> Result<Written, Trouble> {
        Ok(Written {
            state: serde_json::to_string(self.conversation.state())
                .map_err(|why| Failure::internal(why.to_string()))?,
            extracted: self.conversation.extracted().clone(),
            path: self.conversation.path(),
            awaits_secret: self.conversation.awaits_secret(),
            language: self.conversation.language().to_owned(),
            words: std::mem::take(&mut self.words),
            heard: self.heard,
            then,
        })
    }

    // --- the model

    async fn ask_model(&mut self, asked: Output) -> Result<(), Trouble> {
        let Output::AskModel { request, .. } = asked else { return Ok(()) };
        if self.alone {
            self.queue.extend(self.conversation.step(Input::ModelFailed { request }));
            return Ok(());
        }
        let asking = Asking {
            app: self.app,
            tenant: self.tenant,
            models: &self.models,
            base: self.base.as_deref(),
            background: self.background.as_deref(),
            language: self.conversation.language().to_owned(),
        };
        let listener = Listener { about: &self.claim.chat, feed: self.feed, until: self.until };
        let reply = asking.reply(asked, &listener).await?;
        let text = reply.text().to_owned();
        let mut outputs: VecDeque<Output> = self.conversation.step(reply.into_input(request)).into();
        // The text was streamed while it was written.
        if let Some(Output::Say { text: said, .. }) = outputs.front()
            && *said == text
        {
            self.words.push(Line::Words(text));
            outputs.pop_front();
        }
        self.queue.extend(outputs);
        Ok(())
    }

    // --- tools

    /// Calls a tool; returns the next output if the conversation does not go on by itself.
    async fn call_tool(&mut self, call: Output) -> Result<Option<Then>, Trouble> {
        let Output::CallTool { request, node_id, tool_id, arguments } = &call else { return Ok(None) };
        let request = *request;
        let Some(arguments) = self.conversation.revealed(node_id, arguments.clone()) else {
            self.begun = None;
            self.queue.extend(self.conversation.step(Input::SecretsGone { request }));
            return Ok(None);
        };
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).map(str::to_owned);
        match tool_id.as_str() {
            "end_call" => {
                return Ok(Some(Then::End { outcome: text("outcome"), cause: EndCause::AgentEnded }));
            }
            "transfer_to_human" => {
                self.leave_to_a_person(request);
                return Ok(Some(Then::Person));
            }
            "chatapp_message" => {
                // Messages of a chat appear in the chat.
                let words = text("text").filter(|words| !words.trim().is_empty());
                let template =
                    arguments.get("template").filter(|given| self.carried && !given.is_null()).cloned();
                let outcome = match words {
                    _ if template.is_some() => {
                        self.words.extend(template.map(|template| Line::Template { template }));
                        Input::ToolAnswered { request, value: Value::from("sent") }
                    }
                    Some(words) => {
                        self.say(words);
                        Input::ToolAnswered { request, value: Value::from("sent") }
                    }
                    None => {
                        Input::ToolFailed { request, reason: "templates cannot be sent in this chat".into() }
                    }
                };
                self.queue.extend(self.conversation.step(outcome));
                return Ok(None);
            }
            tool_calls::PRESS_KEYS => {
                let reason = "keys can be pressed on a telephone call only; this is a chat".to_owned();
                self.queue.extend(self.conversation.step(Input::ToolFailed { request, reason }));
                return Ok(None);
            }
            _ => {}
        }
        if self.is_test {
            // Strangers write in test chats: nothing of what a tool does must happen.
            let value = serde_json::json!({"sample": true});
            self.queue.extend(self.conversation.step(Input::ToolAnswered { request, value }));
            return Ok(None);
        }
        let tool = tool_id.clone();
        let was_begun = self.begun.take() == Some(request);
        let answer = if was_begun && !tool_calls::repeatable(self.app, self.tenant, &tool).await? {
            Err(tool_calls::INTERRUPTED.to_owned())
        } else {
            self.queue.push_front(call);
            self.store_progress(Around::Before(request)).await?;
            self.queue.pop_front();
            let call = tool_calls::Call {
                tool,
                interaction: self.claim.chat.to_string(),
                key: self.claim.tool_key(self.keyed, request),
                arguments,
            };
            self.app.clock.outside(tool_calls::call(self.app, &self.app.tools, self.tenant, call)).await
        };
        self.queue.extend(self.conversation.step(match answer {
            Ok(value) => Input::ToolAnswered { request, value },
            Err(reason) => Input::ToolFailed { request, reason },
        }));
        self.store_progress(Around::After(request)).await?;
        Ok(None)
    }

    /// The model requested a person. Its request is answered, so that it can continue when the chat comes back: with
    /// the customer's next message, not now. A `tool` node waits until then.
    fn leave_to_a_person(&mut self, request: u64) {
        if self.conversation.state().open_tool() == Some(request) {
            return;
        }
        let answer = Value::from("The chat is handed to a person.");
        self.conversation.step(Input::ToolAnswered { request, value: answer });
        for output in std::mem::take(&mut self.queue) {
            if let Output::CallTool { request, .. } = output {
                let reason = "not called: the chat was handed to a person".to_owned();
                self.conversation.step(Input::ToolFailed { request, reason });
            }
        }
    }

    /// Stores the progress of the reply, and renews its lease. The answer of a tool is stored also after the lease was
    /// lost.
    async fn store_progress(&mut self, around: Around) -> Result<(), Trouble> {
        let mut outcome = self.try_to_store(around).await;
        for _ in 1..STORE_TRIES {
            match (&around, &outcome) {
                (Around::After(_), Err(_)) => outcome = self.try_to_store(around).await,
                _ => break,
            }
        }
        self.until = self.app.clock.now().plus(PATIENCE);
        if outcome? { Ok(()) } else { Err(Trouble::Gone) }
    }

    /// Whether the try still holds.
    async fn try_to_store(&self, around: Around) -> Result<bool, Failure> {
        let progress = Progress {
            conversation: self.conversation.state().clone(),
            words: self.words.clone(),
            queue: self.queue.clone(),
            heard: Some(self.heard),
            stored_by: Some(self.claim.turn),
            keyed: Some(self.keyed),
            begun: match around {
                Around::Before(request) => Some(request),
                Around::After(_) => None,
            },
            taken_back: None,
        };
        let (env, claim, text) = (Env::of(self.app), *self.claim, progress.write()?);
        self.app
            .of(claim.tenant)
            .tx(move |tx| {
                let Some(mut row) = chats::get_for_update(tx, claim.chat)? else {
                    return Ok(false);
                };
                if !claim.holds(&row) {
                    if let Around::After(request) = around {
                        answered_late(tx, &row, request, Progress::read(&text)?)?;
                    }
                    return Ok(false);
                }
                chats::save_progress(tx, claim.chat, Some(&text))?;
                row.turn_until = Some(env.context.now.plus(LEASE));
                save(tx, &env, &mut row)?;
                Ok::<_, Failure>(true)
            })
            .await
    }
}

/// When progress is stored: before a request to a tool, or after it.
#[derive(Debug, Clone, Copy)]
enum Around {
    Before(u64),
    After(u64),
}

/// Retries of storing a tool's answer.
const STORE_TRIES: usize = 3;

/// Begins a conversation with the customer's messages. A flow that begins with the model answers them; one that begins
/// with texts of its own sends these first.
fn answer_first(conversation: &mut Conversation, unheard: &[MessageRow], given_back: i64) -> Vec<Output> {
    let (before, last) = parted(unheard, true, given_back);
    for message in before {
        conversation.step(noted(message));
    }
    let words = joined(&last);
    // The flow's first question is not answered by earlier messages.
    let mut trial = conversation.clone();
    let opens = trial.step(Input::Started);
    if words.is_empty()
        || !opens.iter().any(|output| matches!(output, Output::AskModel { opening: true, .. }))
    {
        if !words.is_empty() {
            conversation.step(Input::Noted { role: Role::Customer, text: words });
        }
        return conversation.step(Input::Started);
    }
    let mut outputs = conversation.step(Input::Started);
    outputs.retain(|output| !matches!(output, Output::AskModel { .. }));
    outputs.extend(conversation.step(Input::Heard { text: words }));
    outputs
}

/// The events since the last reply, as input of the interpreter.
fn first_step(
    conversation: &mut Conversation,
    kind: TurnKind,
    on_channel: bool,
    unheard: &[MessageRow],
    given_back: i64,
    checked: Option<Input>,
    said: &dyn Fn(&[&MessageRow]) -> String,
) -> Vec<Output> {
    let (before, last) = match kind {
        TurnKind::Message => parted(unheard, on_channel, given_back),
        TurnKind::Opening | TurnKind::Document | TurnKind::Handback => (unheard.iter().collect(), Vec::new()),
    };
    for message in before {
        conversation.step(noted(message));
    }
    match kind {
        TurnKind::Opening => conversation.step(Input::Started),
        TurnKind::Message => {
            if last.is_empty() {
                return Vec::new();
            }
            conversation.step(Input::Heard { text: said(&last) })
        }
        TurnKind::Document => checked.map_or_else(Vec::new, |checked| conversation.step(checked)),
        TurnKind::Handback => match handed_back(conversation.state()) {
            Some(input) => conversation.step(input),
            None => Vec::new(),
        },
    }
}

/// The input of a conversation after a handback: the node that waits for that goes on. None waits if the model had
/// requested the person, or a teammate took the chat unasked.
pub(crate) fn handed_back(state: &domain::conversation::State) -> Option<Input> {
    if let Some(request) = state.open_transfer() {
        return Some(Input::HandedBack { request });
    }
    let request = state.open_tool()?;
    Some(Input::ToolAnswered { request, value: Value::from("The person has handed the chat back.") })
}

/// Whether the conversation goes on by itself after a handback.
pub fn waits_for_return(state: &domain::conversation::State) -> bool {
    handed_back(state).is_some()
}

//! Chats beside everything else: customers who write, teammates who take chats over and give them back, a model that has
//! tools called, fails, thinks for long, breaks off or ends the conversation. They are planned apart from the rest, so
//! that a seed stays as it is.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use api::error_codes as codes;
use dastak::app::idempotency::Once;
use dastak::app::{App, Failure, agents, members};
use domain::actor::Actor;
use domain::conversation::{Exchange, ModelToolCall, Role};
use domain::evaluation::{Graded, Grades};
use domain::ids::{Agent, Chat, Id, User};
use domain::ports::{
    Analysis, AnalysisOrder, Answer, GradeOrder, LanguageModel, ProviderError, ProviderFault, Said,
    TalkOrder, Talking,
};
use domain::tenant::{Mode, Tenant};
use domain::time::{HOUR, MINUTE, SECOND, Timestamp};
use serde_json::{Map, Value, json};

use crate::carrier::World;
use crate::clients::{Act, Customer, Log, checked, trace};
use crate::evaluations;
use crate::faults::{Side, UNCOUNTED};
use crate::random::Random;
use crate::tools::{self, wanted};

/// Something done with a chat. Those that open none pick one that is known.
#[derive(Debug, Clone)]
pub enum ChatAct {
    Open,
    /// These words, each said once in a run; their name is the request's key.
    Say(u64, String),
    End(u64),
    /// A teammate takes it over.
    TakeOver(u64),
    /// A teammate writes these words.
    Write(u64, String),
    /// A teammate gives it back to the agent.
    HandBack(u64),
    /// It is graded by hand.
    Evaluate(u64),
    /// Everything that is over is graded again.
    Sweep,
}

/// What clients know of chats.
#[derive(Clone, Default)]
pub struct Known {
    pub opened: Vec<(usize, Id<Chat>)>,
    /// The chat that words were first sent to. They are sent there again, though others were opened since.
    pub aims: HashMap<String, Id<Chat>>,
    /// What was said, and the reply that was answered; none where a person has the chat.
    pub said: Vec<(Id<Chat>, String, Option<String>)>,
    /// Chats that a teammate was answered to have, and those that were answered to be the agent's again.
    pub taken: Vec<Id<Chat>>,
    pub given_back: Vec<Id<Chat>>,
    /// What teammates were answered to have written.
    pub written: Vec<(Id<Chat>, String)>,
    /// How often the reply to words failed.
    pub repeated: HashMap<String, usize>,
    /// Words whose reply failed and that were not sent again: they were taken back.
    pub failed: Vec<(Id<Chat>, String)>,
    /// Sessions whose end was answered.
    pub ended: Vec<Id<Chat>>,
}

/// What happens with chats in a run.
pub fn plan(seed: u64, from: Timestamp) -> Vec<(Timestamp, Act)> {
    let mut random = Random::named(seed, "chats");
    let mut acts = Vec::new();
    let mut number = 0;
    for _ in 0..random.range(1, 4) {
        let customer = random.range(0, 1) as usize;
        let mut at = from.plus(random.range(0, 40 * 60) * MINUTE);
        acts.push((at, Act::Chat { customer, act: ChatAct::Open }));
        for _ in 0..random.range(1, 7) {
            at = at.plus(match random.range(0, 9) {
                // At one moment with the message before.
                0..=1 => 0,
                2..=7 => random.range(1, 90_000),
                8 => random.range(5, 40) * MINUTE,
                _ => random.range(1, 3) * HOUR,
            });
            number += 1;
            let act = match random.percent(90) {
                true => ChatAct::Say(random.next(), format!("say-{number}")),
                false => ChatAct::End(random.next()),
            };
            acts.push((at, Act::Chat { customer, act }));
        }
    }
    acts.extend(people(seed, &acts));
    acts.extend(evaluations::plan(seed, &acts));
    acts
}

/// Teammates who take chats over while something happens in them, write, and give them back; the customer goes on.
fn people(seed: u64, acts: &[(Timestamp, Act)]) -> Vec<(Timestamp, Act)> {
    let mut random = Random::named(seed, "people of chats");
    let mut more = Vec::new();
    for round in 0..random.range(0, 5) {
        let (at, Act::Chat { customer, .. }) = random.pick(acts) else { continue };
        let (customer, pick) = (*customer, random.next());
        let act = |act: ChatAct| Act::Chat { customer, act };
        let mut at = at.plus(if random.percent(40) { 0 } else { random.range(1, 30_000) });
        more.push((at, act(ChatAct::TakeOver(pick))));
        if random.percent(30) {
            // Somebody takes it twice.
            more.push((at, act(ChatAct::TakeOver(pick))));
        }
        for line in 0..random.range(0, 2) {
            at = at.plus(random.range(0, 60) * SECOND);
            more.push((at, act(ChatAct::Write(pick, format!("team-{round}-{line}")))));
        }
        if random.percent(50) {
            at = at.plus(random.range(0, 30) * SECOND);
            more.push((at, act(ChatAct::Say(pick, format!("say-team-{round}")))));
        }
        if random.percent(85) {
            at = at.plus(random.range(0, 300) * SECOND);
            more.push((at, act(ChatAct::HandBack(pick))));
            if random.percent(70) {
                at = at.plus(if random.percent(30) { 0 } else { random.range(1, 60_000) });
                more.push((at, act(ChatAct::Say(pick, format!("say-back-{round}")))));
            }
        }
    }
    more
}

/// A chat agent of a workspace.
pub async fn set_up(app: &App, tenant: Tenant) -> Result<Id<Agent>, Failure> {
    let mut tools: Vec<String> = tools::set_up(app, tenant).await?.iter().map(ToString::to_string).collect();
    tools.push(PERSON.to_owned());
    let body = json!({"name": "Mira", "channel": "chat", "systemPrompt": "You are Mira.", "toolIds": tools});
    let made =
        agents::create(app, tenant, domain::actor::Actor::Operator, checked("createAgent", body)).await?;
    agents::set_status(app, tenant, made.summary.id, domain::agent::Status::Active).await?;
    evaluations::set_up(app, tenant, made.summary.id).await?;
    Ok(made.summary.id)
}

/// A person of the team of a workspace.
pub async fn teammate(app: &App, tenant: Tenant) -> Result<Id<User>, Failure> {
    let body = json!({"email": "ravi@example.in", "name": "Ravi", "role": "editor"});
    Ok(members::create(app, trace(), tenant, checked("createMember", body)).await?.id)
}

/// The tool with which the agent asks for a person, and how the words of customers begin who want one.
const PERSON: &str = "transfer_to_human";
const WANTS_PERSON: &str = "person-";

/// The reply to words.
pub fn reply_to(words: &str) -> String {
    format!("re: {words}")
}

fn once(tenant: Tenant, words: &str) -> Once {
    let text = || words.to_owned();
    Once::keyed(tenant.to_string(), Mode::Live, "sendChatMessage", text(), text(), format!("holder-{words}"))
}

/// How often a client sends a message whose reply failed.
const REPEATS: usize = 4;

/// A client asks again.
fn failed() -> Failure {
    Failure::plain(codes::UNAVAILABLE)
}

/// What a client does about a refusal that passes: it asks again.
fn again(failure: Failure) -> Failure {
    let passes = [codes::REPLY_IN_PROGRESS, codes::IDEMPOTENCY_IN_PROGRESS];
    if passes.contains(&failure.error) { failed() } else { failure }
}

/// Does one thing.
pub async fn attempt(
    app: &Arc<App>,
    world: &World,
    whose: (usize, &Customer),
    act: &ChatAct,
    known: &(dyn Fn(&mut dyn FnMut(&mut Log)) + Sync),
) -> Result<(), Failure> {
    let (customer, whose) = whose;
    let chosen = |pick: u64| {
        let mut found = None;
        known(&mut |log| {
            let own: Vec<Id<Chat>> =
                log.chats.opened.iter().filter(|(of, _)| *of == customer).map(|(_, id)| *id).collect();
            found = own.get((pick % (own.len().max(1) as u64)) as usize).copied();
        });
        found
    };
    match act {
        ChatAct::Open => {
            let (caller, tenant, agent) = (app.clone(), whose.tenant, whose.writer.to_string());
            let opening =
                tokio::spawn(UNCOUNTED.scope((), async move { chats::open(&caller, tenant, &agent).await }));
            // A client that waits for a slow model is no work of the service; this one goes away.
            let opened = tokio::select! {
                biased;
                opened = opening => opened.expect("no panic")?,
                () = world.is_slow() => return Ok(()),
            };
            known(&mut |log| log.chats.opened.push((customer, opened.session_id)));
        }
        ChatAct::Say(pick, words) => {
            let Some(picked) = chosen(*pick) else { return Ok(()) };
            let mut id = picked;
            known(&mut |log| id = *log.chats.aims.entry(words.clone()).or_insert(picked));
            let (tenant, feed) = (whose.tenant, chats::Feed::silent());
            let sent = chats::send(app, tenant, id, once(tenant, words), words.clone(), feed).await;
            let reply = match sent.map_err(again)? {
                chats::Accepted::Given(answer) => {
                    let answer: Value = serde_json::from_str(&answer.body).unwrap_or_default();
                    answer["data"]["reply"].as_str().map(str::to_owned)
                }
                chats::Accepted::Writing(writing) => match app.clock.outside(writing.reply()).await {
                    Ok(reply) => reply.reply,
                    Err(failure) if failure.error == codes::REPLY_FAILED => {
                        // Many clients send it again under the same key; what becomes of that they may never hear.
                        let repeats = Random::named(world.seed(), &format!("repeat {words}")).percent(70);
                        let mut tries = 0;
                        known(&mut |log| {
                            let made = log.chats.repeated.entry(words.clone()).or_default();
                            *made += 1;
                            tries = *made;
                        });
                        if repeats && tries < REPEATS {
                            return Err(failed());
                        }
                        known(&mut |log| log.chats.failed.push((id, words.clone())));
                        return Ok(());
                    }
                    Err(failure) => return Err(again(failure)),
                },
            };
            known(&mut |log| log.chats.said.push((id, words.clone(), reply.clone())));
        }
        ChatAct::End(pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            chats::end(app, whose.tenant, id).await?;
            known(&mut |log| log.chats.ended.push(id));
        }
        ChatAct::TakeOver(pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            let user = whose.teammate.to_string();
            chats::take_over(app, trace(), whose.tenant, id, user).await?;
            known(&mut |log| log.chats.taken.push(id));
        }
        ChatAct::Write(pick, words) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            chats::write(app, trace(), whose.tenant, id, words.clone()).await?;
            known(&mut |log| log.chats.written.push((id, words.clone())));
        }
        ChatAct::HandBack(pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            chats::hand_back(app, trace(), whose.tenant, id).await?;
            known(&mut |log| log.chats.given_back.push(id));
        }
        ChatAct::Evaluate(pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            evaluation::evaluate(app, whose.tenant, Actor::Operator, Graded::Chat, id.to_string()).await?;
        }
        ChatAct::Sweep => evaluations::sweep(app, whose.tenant, whose.writer).await?,
    }
    Ok(())
}

/// The model: it answers what the customer said last, unless it does not.
pub struct Writer {
    world: Arc<World>,
    random: Mutex<Random>,
    /// What happens while it grades is drawn apart, so that a seed stays as it is.
    grading: Mutex<Random>,
}

/// What the model makes of a turn.
enum Turn {
    Pieces(Vec<Result<Said, ProviderFault>>),
    Fails(ProviderFault),
}

impl Writer {
    pub fn new(world: Arc<World>, life: u64) -> Self {
        let random = Random::named(world.seed(), &format!("writer {life}"));
        let grading = Random::named(world.seed(), &format!("examiner {life}"));
        Self { world, random: Mutex::new(random), grading: Mutex::new(grading) }
    }

    /// How long it thinks, and what it then says.
    fn turn(&self, order: &TalkOrder) -> (i64, Turn) {
        let words = order.history.iter().rev().find_map(|exchange| match exchange {
            Exchange::Said { role: Role::Customer, text } => Some(reply_to(text)),
            _ => None,
        });
        let words = if order.opening { None } else { words }.unwrap_or_else(|| "Hello.".to_owned());
        let tool = self.tool(order, &words);
        let told = tool.is_none() && was_told(order);
        let text = Said::Text(words);
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.world.is_faulty() {
            return (0, Turn::Pieces(vec![Ok(tool.unwrap_or(text))]));
        }
        let thinks = match random.range(0, 99) {
            0..=69 => 0,
            70..=91 => random.range(1, 20 * SECOND),
            // Longer than a try may take, and than a lease lasts.
            92..=96 => random.range(61, 80) * SECOND,
            _ => random.range(91, 200) * SECOND,
        };
        let turn = match random.range(0, 99) {
            // After a tool has answered above all.
            12..=40 if told => {
                Turn::Fails(*random.pick(&[ProviderFault::Unreachable, ProviderFault::Refused]))
            }
            0..=11 => Turn::Fails(*random.pick(&[
                ProviderFault::Unreachable,
                ProviderFault::TimedOut,
                ProviderFault::Refused,
            ])),
            12..=15 => Turn::Pieces(vec![Ok(text), Err(ProviderFault::Unreachable)]),
            16..=18 => Turn::Pieces(Vec::new()),
            _ if tool.is_some() => Turn::Pieces(tool.map(Ok).into_iter().collect()),
            19..=22 if !order.opening => Turn::Pieces(vec![Ok(text), Ok(Said::End(None))]),
            _ => Turn::Pieces(vec![Ok(text)]),
        };
        (thinks, turn)
    }
}

impl Writer {
    /// The tool that it wants called for what the customer said last, unless it did that already.
    fn tool(&self, order: &TalkOrder, reply: &str) -> Option<Said> {
        let words = reply.strip_prefix("re: ")?;
        if words.starts_with(WANTS_PERSON) {
            return Some(Said::Tool(ModelToolCall { tool_id: PERSON.to_owned(), arguments: Map::new() }));
        }
        let offered =
            order.tools.iter().find(|tool| Some(tool.name.as_str()) == wanted(self.world.seed(), words))?;
        let decided = order.history.iter().any(|exchange| {
            matches!(exchange, Exchange::ToolCalled { arguments, .. } if arguments.get("words").and_then(Value::as_str) == Some(words))
        });
        let arguments = [("words".to_owned(), json!(words))].into_iter().collect();
        (!decided).then(|| Said::Tool(ModelToolCall { tool_id: offered.id.clone(), arguments }))
    }
}

/// Whether a tool has just answered.
fn was_told(order: &TalkOrder) -> bool {
    matches!(order.history.last(), Some(Exchange::ToolAnswered { .. }))
}

/// What is left of a turn.
struct Pieces(VecDeque<Result<Said, ProviderFault>>);

fn error(fault: ProviderFault) -> ProviderError {
    ProviderError::new("writer", fault, "simulated")
}

impl Talking for Pieces {
    fn next(&mut self) -> Answer<'_, Option<Result<Said, ProviderError>>> {
        let next = self.0.pop_front().map(|piece| piece.map_err(error));
        Box::pin(std::future::ready(next))
    }
}

impl LanguageModel for Writer {
    fn name(&self) -> &str {
        "writer"
    }

    fn resident(&self) -> bool {
        true
    }

    fn talk(&self, order: TalkOrder) -> Answer<'_, Result<Box<dyn Talking>, ProviderError>> {
        Box::pin(async move {
            if self.world.dies_at("the model", Side::Before) {
                std::future::pending::<()>().await;
            }
            let (thinks, turn) = self.turn(&order);
            if thinks > 0 {
                self.world.think(thinks).await;
            }
            if self.world.dies_at("the model", Side::After) {
                std::future::pending::<()>().await;
            }
            match turn {
                Turn::Fails(fault) => Err(error(fault)),
                Turn::Pieces(pieces) => Ok(Box::new(Pieces(pieces.into())) as Box<dyn Talking>),
            }
        })
    }

    fn analyse(&self, _: AnalysisOrder) -> Answer<'_, Result<Analysis, ProviderError>> {
        let fails =
            self.world.is_faulty() && self.random.lock().unwrap_or_else(PoisonError::into_inner).percent(30);
        let answer = if fails { Err(error(ProviderFault::TimedOut)) } else { Ok(Analysis::default()) };
        Box::pin(std::future::ready(answer))
    }

    fn grade(&self, order: GradeOrder) -> Answer<'_, Result<Grades, ProviderError>> {
        Box::pin(async move {
            if self.world.dies_at("the examiner", Side::Before) {
                std::future::pending::<()>().await;
            }
            let faulty = self.world.is_faulty();
            let (thinks, grades) = {
                let mut random = self.grading.lock().unwrap_or_else(PoisonError::into_inner);
                (evaluations::thinks(&mut random, faulty), evaluations::grades(&mut random, faulty, &order))
            };
            if thinks > 0 {
                self.world.think(thinks).await;
            }
            if self.world.dies_at("the examiner", Side::After) {
                std::future::pending::<()>().await;
            }
            grades.map_err(error)
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(std::future::ready(Ok("here".into())))
    }
}

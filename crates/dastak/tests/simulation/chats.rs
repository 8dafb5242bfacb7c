//! Chats beside everything else: customers who write, a model that fails, thinks for long, breaks off or ends the
//! conversation. They are planned apart from the rest, so that a seed stays as it is.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use api::error_codes as codes;
use dastak::app::idempotency::Once;
use dastak::app::{App, Failure, agents};
use domain::conversation::{Exchange, Role};
use domain::ids::{Agent, Chat, Id};
use domain::ports::{
    Analysis, AnalysisOrder, Answer, LanguageModel, ProviderError, ProviderFault, Said, TalkOrder, Talking,
};
use domain::tenant::{Mode, Tenant};
use domain::time::{HOUR, MINUTE, SECOND, Timestamp};
use serde_json::{Value, json};

use crate::carrier::World;
use crate::clients::{Act, Customer, Log, checked};
use crate::faults::{Side, UNCOUNTED};
use crate::random::Random;

/// Something done with a chat. Those that open none pick one that is known.
#[derive(Debug, Clone)]
pub enum ChatAct {
    Open,
    /// These words, each said once in a run; their name is the request's key.
    Say(u64, String),
    End(u64),
}

/// What clients know of chats.
#[derive(Default)]
pub struct Known {
    pub opened: Vec<(usize, Id<Chat>)>,
    /// The chat that words were first sent to. They are sent there again, though others were opened since.
    pub aims: HashMap<String, Id<Chat>>,
    /// What was said, and the reply that was answered; none where a person has the chat.
    pub said: Vec<(Id<Chat>, String, Option<String>)>,
    /// Words whose reply failed: they were taken back.
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
    acts
}

/// A chat agent of a workspace.
pub async fn set_up(app: &App, tenant: Tenant) -> Result<Id<Agent>, Failure> {
    let body = json!({"name": "Mira", "channel": "chat", "systemPrompt": "You are Mira."});
    let made = agents::create(app, tenant, checked("createAgent", body)).await?;
    agents::set_status(app, tenant, made.summary.id, domain::agent::Status::Active).await?;
    Ok(made.summary.id)
}

/// The reply to words.
pub fn reply_to(words: &str) -> String {
    format!("re: {words}")
}

fn once(tenant: Tenant, words: &str) -> Once {
    let text = || words.to_owned();
    Once::keyed(tenant.to_string(), Mode::Live, "sendChatMessage", text(), text(), format!("holder-{words}"))
}

/// What a client does about a refusal that passes: it asks again.
fn again(failure: Failure) -> Failure {
    let passes = [codes::REPLY_IN_PROGRESS, codes::IDEMPOTENCY_IN_PROGRESS];
    if passes.contains(&failure.error) { Failure::plain(codes::UNAVAILABLE) } else { failure }
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
    }
    Ok(())
}

/// The model: it answers what the customer said last, unless it does not.
pub struct Writer {
    world: Arc<World>,
    random: Mutex<Random>,
}

/// What the model makes of a turn.
enum Turn {
    Pieces(Vec<Result<Said, ProviderFault>>),
    Fails(ProviderFault),
}

impl Writer {
    pub fn new(world: Arc<World>, life: u64) -> Self {
        let random = Random::named(world.seed(), &format!("writer {life}"));
        Self { world, random: Mutex::new(random) }
    }

    /// How long it thinks, and what it then says.
    fn turn(&self, order: &TalkOrder) -> (i64, Turn) {
        let words = order.history.iter().rev().find_map(|exchange| match exchange {
            Exchange::Said { role: Role::Customer, text } => Some(reply_to(text)),
            _ => None,
        });
        let words = if order.opening { None } else { words }.unwrap_or_else(|| "Hello.".to_owned());
        let text = Said::Text(words);
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.world.is_faulty() {
            return (0, Turn::Pieces(vec![Ok(text)]));
        }
        let thinks = match random.range(0, 99) {
            0..=69 => 0,
            70..=91 => random.range(1, 20 * SECOND),
            // Longer than a try may take, and than a lease lasts.
            92..=96 => random.range(61, 80) * SECOND,
            _ => random.range(91, 200) * SECOND,
        };
        let turn = match random.range(0, 99) {
            0..=11 => Turn::Fails(*random.pick(&[
                ProviderFault::Unreachable,
                ProviderFault::TimedOut,
                ProviderFault::Refused,
            ])),
            12..=15 => Turn::Pieces(vec![Ok(text), Err(ProviderFault::Unreachable)]),
            16..=18 => Turn::Pieces(Vec::new()),
            19..=22 if !order.opening => Turn::Pieces(vec![Ok(text), Ok(Said::End(None))]),
            _ => Turn::Pieces(vec![Ok(text)]),
        };
        (thinks, turn)
    }
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

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(std::future::ready(Ok("here".into())))
    }
}

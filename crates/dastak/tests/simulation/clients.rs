//! What clients, people and the operator do, and when. Every act is repeated until it is answered, as a
//! client would.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dastak::app::idempotency::Once;
use dastak::app::operator_log::Trace;
use dastak::app::{
    App, Failure, agents, calls, dnd, do_not_call, erasure, keys, nudges, numbers, scheduled_calls, wallet,
    webhooks, workspaces,
};
use domain::call::Fact;
use domain::ids::{Agent, ApiKey, Call, Campaign, DataStream, Id, Nudge, ScheduledCall, User};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, HOUR, MINUTE, SECOND, Timestamp};
use serde_json::{Value, json};

use crate::campaigns::{self, CampaignAct};
use crate::carrier::{News, World};
use crate::channel::{self as messaging, ChannelAct};
use crate::chats::{self as talks, ChatAct};
use crate::faults::{Side, UNCOUNTED};
use crate::inbox::{self as desks, InboxAct, Told};
use crate::random::Random;
use crate::receivers::{self, Endpoint};
use crate::streams::{self, StreamAct, StreamKnown, Taken};

/// A workspace on the stage.
#[derive(Debug, Clone)]
pub struct Customer {
    pub tenant: Tenant,
    pub agent: Id<Agent>,
    /// Who answers chats.
    pub writer: Id<Agent>,
    /// Who takes chats over.
    pub teammate: Id<User>,
    /// Who answers in the inbox; the first one is `teammate`.
    pub team: Vec<Id<User>>,
    /// Live keys with their ids.
    pub keys: Vec<(String, Id<ApiKey>)>,
    pub test_key: String,
    pub endpoints: Vec<Endpoint>,
    /// Where the messaging channel's notifications go.
    pub hook: String,
}

/// Something done to the service.
#[derive(Debug, Clone)]
pub enum Act {
    Nudge { customer: usize, key: usize, test: bool, to: Phone, body: Value, name: String },
    Schedule { customer: usize, to: Phone, at: Timestamp, name: String },
    Call { customer: usize, to: Phone, name: String },
    CancelNudge { customer: usize, pick: u64 },
    CancelAll { customer: usize },
    CancelScheduled { customer: usize, pick: u64 },
    HangUp { customer: usize, pick: u64 },
    Revoke { customer: usize, key: usize },
    OptOut { customer: usize, to: Phone },
    Register { to: Phone },
    Erase { customer: usize, to: Phone },
    Wallet { customer: usize, amount: i64 },
    Lines { customer: usize, lines: i64 },
    Suspend { customer: usize, suspended: bool },
    Publish { customer: usize, active: bool },
    Campaign { customer: usize, act: CampaignAct },
    Chat { customer: usize, act: ChatAct },
    Inbox { customer: usize, act: InboxAct },
    Stream { customer: usize, act: StreamAct },
    Channel { customer: usize, act: ChannelAct },
}

/// What was answered, at its moment: a promise from then on.
#[derive(Debug, Clone, PartialEq)]
pub enum Promise {
    NudgeCancelled(Id<Nudge>),
    ScheduledCancelled(Id<ScheduledCall>),
    Revoked(Id<ApiKey>),
    OptedOut(Tenant, Phone),
    Registered(Phone),
    Erased(Tenant, Phone),
    Suspended(Tenant, bool),
    Published(Tenant, bool),
    Paused(Id<Campaign>, bool),
    Completed(Id<Campaign>),
    StreamPaused(Id<DataStream>, bool),
}

/// A promise with its moment, by the clock and by the time that passed.
#[derive(Clone)]
pub struct Kept {
    pub at: Timestamp,
    pub passed: Timestamp,
    /// When it was asked for, by both: what was asked for meanwhile may have come first or last.
    pub asked: (Timestamp, Timestamp),
    pub promise: Promise,
}

/// How an act came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was answered.
    Done,
    /// The store failed: the caller asks again.
    Again,
}

/// What is known of the past of a run; it outlives crashes.
#[derive(Clone, Default)]
pub struct Log {
    pub promises: Vec<Kept>,
    pub nudges: Vec<(usize, Id<Nudge>)>,
    /// Which key each was asked for with, and when, by the time that passed.
    pub asked: Vec<(Id<Nudge>, Id<ApiKey>, Timestamp)>,
    pub scheduled: Vec<(usize, Id<ScheduledCall>)>,
    pub calls: Vec<(usize, Id<Call>)>,
    /// With the name that each was made under.
    pub campaigns: Vec<(usize, Id<Campaign>, String)>,
    pub chats: talks::Known,
    /// Changes of the presence of members, in the order in which they were asked for.
    pub presence: Vec<Told>,
    pub channel: messaging::Known,
    pub streams: Vec<StreamKnown>,
    /// How many rows the spreadsheet had when a stream was first asked for, by customer and name.
    pub first_rows: HashMap<(usize, String), u64>,
    /// Records that were answered with `accepted`.
    pub taken: Vec<Taken>,
    /// Who was to be erased, whether or not the answer came.
    pub erasing: HashMap<(Tenant, Phone), Timestamp>,
    /// By the time that passed, when the answer to each nudge came.
    pub answered: HashMap<String, Timestamp>,
    pub defects: Vec<String>,
    pub acts: u64,
}

pub type Shared = Arc<Mutex<Log>>;

/// The people that can be called: few, so that everything meets.
pub fn people() -> Vec<Phone> {
    (0..10)
        .map(|number| Phone::normalize(&format!("+9198123{:05}", 40_013 + number * 7)).expect("a number"))
        .collect()
}

/// A person of staff who is a customer as well, and one who is nothing else: both are on the agents' list of
/// transfer numbers.
pub fn staff() -> Vec<Phone> {
    vec![people()[9], Phone::normalize("+918045670002").expect("a number")]
}

/// The people whom agents bring in: mostly staff, sometimes others.
pub fn transfer_numbers() -> Vec<Phone> {
    [staff(), staff(), people()[..4].to_vec()].concat()
}

pub fn trace() -> Trace {
    Trace { operation: "simulation", request_id: "simulation".into() }
}

fn read<T: serde::de::DeserializeOwned>(body: Value) -> T {
    serde_json::from_value(body).expect("a body")
}

/// A body as the router hands it on: checked, with its defaults.
pub fn checked<T: serde::de::DeserializeOwned>(operation: &str, mut body: Value) -> T {
    let operation = api::operations::all().find(|known| known.id == operation).expect("an operation");
    operation.body.expect("it has a body")().check(&mut body).expect("a fitting body");
    read(body)
}

/// Makes a verified workspace with money, a number, keys and a published agent.
pub async fn set_up(
    app: &Arc<App>,
    seed: u64,
    number: usize,
    random: &mut Random,
) -> Result<Customer, Failure> {
    let body = read(
        json!({"name": "Acme", "kybVerified": true, "balanceMinor": 40_000, "currency": "INR", "costPerMinuteMinor": 600}),
    );
    let made = workspaces::create(app, trace(), Once::unkeyed(), body).await?;
    let made: Value = serde_json::from_str(&made.body).expect("JSON");
    let tenant: Tenant = made["data"]["id"].as_str().expect("an id").parse().expect("an id");
    let limits = json!({"limits": {"requestsPerMinute": 1_000_000, "nudgesPerMinute": 1_000_000, "callsPerMinute": 1_000_000, "concurrentCalls": 3}});
    workspaces::update(app, trace(), tenant, read(limits)).await?;
    numbers::create(app, trace(), tenant, format!("+9180200000{number:02}"), None).await?;
    let mut live = Vec::new();
    for _ in 0..3 {
        live.push(key(app, tenant, "live").await?);
    }
    let (test_key, _) = key(app, tenant, "test").await?;
    let staff: Vec<String> = staff().iter().map(Phone::to_string).collect();
    let body = json!({"name": "Asha", "systemPrompt": "Say hello.", "allowedTransferNumbers": staff});
    let made =
        agents::create(app, tenant, domain::actor::Actor::Operator, checked("createAgent", body)).await?;
    agents::set_status(app, tenant, made.summary.id, domain::agent::Status::Active).await?;
    let writer = talks::set_up(app, tenant).await?;
    let teammate = talks::teammate(app, tenant).await?;
    let hook = messaging::set_up(app, number, tenant, &live[2].0, writer).await?;
    let mut endpoints = Vec::new();
    for place in 0..3 {
        let host = format!("r{number}{place}.example.com");
        // The first one wants to know everything.
        let picked: &[&str] = match place {
            0 => &[],
            1 => &[
                "nudge.finished",
                "nudge.attempt_ended",
                "call.completed",
                "message.received",
                "message.read",
                "message.failed",
                "chat.evaluated",
            ],
            _ => &["nudge.finished"],
        };
        let picked: Vec<String> = picked.iter().map(|kind| (*kind).to_owned()).collect();
        let body = checked("createWebhook", json!({"url": format!("https://{host}/hook"), "events": picked}));
        let made = webhooks::create(app, tenant, body).await?;
        let secret = made.secret;
        let health = receivers::health(random, place, app.clock.now());
        endpoints.push(Endpoint { tenant, id: made.endpoint.id.to_string(), host, secret, picked, health });
    }
    let team = desks::set_up(app, seed, number, tenant, teammate).await?;
    let agent = made.summary.id;
    Ok(Customer { tenant, agent, writer, teammate, team, keys: live, test_key, endpoints, hook })
}

async fn key(app: &App, tenant: Tenant, mode: &str) -> Result<(String, Id<ApiKey>), Failure> {
    let made =
        keys::create(app, trace(), tenant, None, read(json!({"name": "sim", "mode": mode, "scopes": "all"})))
            .await?;
    Ok((made.key.expect("a key"), made.id))
}

/// What happens in a run, in order of its time.
pub fn plan(seed: u64, from: Timestamp) -> Vec<(Timestamp, Act)> {
    let mut random = Random::named(seed, "plan");
    let people = people();
    let mut acts = Vec::new();
    let count = random.range(25, 60);
    for number in 0..count {
        let mut at = from.plus(random.range(0, 48 * 60) * MINUTE);
        if random.percent(50) {
            // Many at one moment, and most in working hours.
            at = from.plus(random.range(0, 1) * DAY + *random.pick(&[0, HOUR, 3 * HOUR, 6 * HOUR]));
        } else if random.percent(30) {
            at = evening(&mut random, at);
        }
        let act = act(&mut random, &people, number, at);
        acts.push((at, act));
    }
    for burst in 0..random.range(0, 2) {
        let at = from.plus(random.range(0, 47) * HOUR);
        for (number, to) in people.iter().enumerate().skip(2) {
            let body = json!({"outsideWindow": "queue", "retry": {"maxRetries": 1, "on": ["no_answer", "busy"], "delayMinutes": 30}});
            let name = format!("burst-{burst}-{number}");
            acts.push((at, Act::Nudge { customer: number % 2, key: 2, test: false, to: *to, body, name }));
        }
    }
    for (at, act) in acts.clone() {
        // In the middle of the call that this may become.
        let (customer, soon) = match act {
            Act::Nudge { customer, .. } | Act::Call { customer, .. } => {
                (customer, at.plus(random.range(20, 200) * SECOND))
            }
            _ => continue,
        };
        match random.range(0, 99) {
            0..=13 => acts.push((soon, Act::Wallet { customer, amount: -100_000 })),
            14..=16 => acts.push((soon, Act::Suspend { customer, suspended: true })),
            _ => {}
        }
    }
    for (at, act) in acts.clone() {
        // What was taken away comes back, so that the run goes on.
        let later = at.plus(random.range(5, 600) * MINUTE);
        match act {
            Act::Suspend { customer, .. } => acts.push((later, Act::Suspend { customer, suspended: false })),
            Act::Publish { customer, .. } => acts.push((later, Act::Publish { customer, active: true })),
            Act::Lines { customer, .. } => acts.push((later, Act::Lines { customer, lines: 3 })),
            Act::Wallet { customer, amount } if amount < 0 => {
                acts.push((later, Act::Wallet { customer, amount: 20_000 }))
            }
            _ => {}
        }
    }
    acts.extend(campaigns::plan(seed, from));
    acts.extend(talks::plan(seed, from));
    acts.extend(streams::plan(seed, from));
    acts.extend(messaging::plan(seed, from));
    acts.extend(desks::plan(seed, from));
    acts.sort_by_key(|(at, _)| *at);
    acts
}

/// A moment around the evening's cutoff and the end of the hours, 20:50 to 21:04 in India.
fn evening(random: &mut Random, at: Timestamp) -> Timestamp {
    const INDIA: i64 = 330 * MINUTE;
    let midnight = (at.0 + INDIA).div_euclid(DAY) * DAY - INDIA;
    Timestamp(midnight).plus(20 * HOUR + random.range(50, 64) * MINUTE)
}

fn act(random: &mut Random, people: &[Phone], number: i64, at: Timestamp) -> Act {
    let customer = random.range(0, 1) as usize;
    let to = *random.pick(people);
    let pick = random.next();
    let name = format!("act-{number}");
    match random.range(0, 99) {
        0..=44 => {
            let key = random.range(0, 2) as usize;
            Act::Nudge { customer, key, test: random.percent(10), to, body: nudge_body(random, at), name }
        }
        45..=59 => Act::Schedule { customer, to, at: at.plus(random.range(0, 24 * 60) * MINUTE), name },
        60..=65 => Act::Call { customer, to, name },
        66..=71 => Act::CancelNudge { customer, pick },
        72..=72 => Act::CancelAll { customer },
        73..=75 => Act::CancelScheduled { customer, pick },
        76..=78 => Act::HangUp { customer, pick },
        79..=82 => Act::Revoke { customer, key: random.range(0, 1) as usize },
        83..=85 => Act::OptOut { customer, to },
        86..=86 => Act::Register { to },
        87..=90 => Act::Erase { customer, to },
        91..=94 => Act::Wallet { customer, amount: -100_000 },
        95..=96 => Act::Lines { customer, lines: random.range(0, 1) },
        97..=98 => Act::Suspend { customer, suspended: true },
        _ => Act::Publish { customer, active: false },
    }
}

fn nudge_body(random: &mut Random, at: Timestamp) -> Value {
    let mut body = json!({
        "outsideWindow": if random.percent(80) { "queue" } else { "reject" },
        "retry": {"maxRetries": random.range(0, 2), "on": ["no_answer", "busy"], "delayMinutes": random.range(10, 240)},
    });
    let mut starts = random.percent(40).then(|| at.plus(random.range(1, 20 * 60) * MINUTE));
    if random.percent(15) {
        starts = Some(evening(random, at)).filter(|evening| *evening > at);
    }
    if let Some(starts) = starts {
        body["scheduledAt"] = json!(starts);
    }
    if random.percent(40) {
        body["expiresAt"] = json!(starts.unwrap_or(at).plus(random.range(20, 40 * 60) * MINUTE));
    }
    body
}

/// Whether it failed because of the store's faults.
fn store_failed(failure: &Failure) -> bool {
    failure.error.code == "unavailable"
}

/// Whether a refusal is one that a client can meet; the service's own failures are not.
fn defect(act: &Act, failure: &Failure) -> Option<String> {
    (failure.error.status == 500)
        .then(|| format!("{act:?}: {} {} {:?}", failure.error.status, failure.message, failure.cause))
}

impl Log {
    fn promise(&mut self, now: (Timestamp, Timestamp), promise: Promise) {
        self.promise_since(now, now, promise);
    }

    fn promise_since(
        &mut self,
        asked: (Timestamp, Timestamp),
        (at, passed): (Timestamp, Timestamp),
        promise: Promise,
    ) {
        self.promises.push(Kept { at, passed, asked, promise });
    }
}

/// Does one thing, and keeps what was promised.
pub async fn perform(
    app: Arc<App>,
    world: Arc<World>,
    customers: Arc<Vec<Customer>>,
    log: Shared,
    act: Act,
) -> Outcome {
    let outcome = attempt(&app, &world, &customers, &log, &act).await;
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    log.acts += 1;
    match outcome {
        Err(failure) if store_failed(&failure) => return Outcome::Again,
        Err(failure) => log.defects.extend(defect(&act, &failure)),
        Ok(()) => {}
    }
    Outcome::Done
}

fn chosen<T: Copy>(known: &[(usize, T)], customer: usize, pick: u64) -> Option<T> {
    let own: Vec<T> = known.iter().filter(|(whose, _)| *whose == customer).map(|(_, id)| *id).collect();
    if own.is_empty() { None } else { Some(own[(pick % own.len() as u64) as usize]) }
}

fn made(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or(Value::Null)
}

async fn attempt(
    app: &Arc<App>,
    world: &World,
    customers: &[Customer],
    log: &Shared,
    act: &Act,
) -> Result<(), Failure> {
    let with = |customer: &usize| &customers[*customer];
    let now = || (app.clock.now(), world.passed());
    let keep = |change: &dyn Fn(&mut Log, (Timestamp, Timestamp))| {
        change(&mut log.lock().unwrap_or_else(PoisonError::into_inner), now())
    };
    let asked = now();
    let known = || log.lock().unwrap_or_else(PoisonError::into_inner);
    match act {
        Act::Nudge { customer, key, test, to, body, name } => {
            let whose = with(customer);
            let key_id = whose.keys[*key].1;
            let key = if *test { &whose.test_key } else { &whose.keys[*key].0 };
            // A revoked key makes nothing.
            let Some(caller) = app.authenticate(key).await? else { return Ok(()) };
            let mut body = body.clone();
            body["agentId"] = json!(whose.agent);
            body["toNumber"] = json!(to.to_string());
            let answer = nudges::create(
                app,
                &caller,
                once(whose.tenant, caller.mode(), "createNudge", name),
                checked("createNudge", body),
            )
            .await?;
            let id: Option<Id<Nudge>> =
                made(&answer.body)["data"]["id"].as_str().and_then(|id| id.parse().ok());
            if let Some(id) = id {
                keep(&|log, now| {
                    log.answered.entry(id.to_string()).or_insert(now.1);
                    log.nudges.push((*customer, id));
                    if !*test {
                        log.asked.push((id, key_id, asked.1));
                    }
                });
            }
        }
        Act::Schedule { customer, to, at, name } => {
            let whose = with(customer);
            let body = checked(
                "scheduleCall",
                json!({"agentId": whose.agent, "toNumber": to.to_string(), "scheduledAt": at}),
            );
            let once = once(whose.tenant, Mode::Live, "scheduleCall", name);
            // A revoked key makes nothing.
            let Some(caller) = app.authenticate(&whose.keys[0].0).await? else { return Ok(()) };
            let answer = scheduled_calls::create(app, &caller, once, body).await?;
            if let Some(id) = made(&answer.body)["data"]["id"].as_str().and_then(|id| id.parse().ok()) {
                keep(&|log, _| log.scheduled.push((*customer, id)));
            }
        }
        Act::Call { customer, to, name } => {
            let whose = with(customer);
            let body = checked("placeCall", json!({"agentId": whose.agent, "toNumber": to.to_string()}));
            let once = once(whose.tenant, Mode::Live, "placeCall", name);
            let (caller, tenant) = (app.clone(), whose.tenant);
            let placed = tokio::spawn(
                UNCOUNTED
                    .scope((), async move { calls::place(&caller, tenant, Mode::Live, once, body).await }),
            );
            // A client that waits for a slow carrier is no work of the service.
            let answer = tokio::select! {
                biased;
                placed = placed => placed.expect("no panic")?,
                () = world.is_slow() => return Ok(()),
            };
            if let Some(id) = made(&answer.body)["interactionId"].as_str().and_then(|id| id.parse().ok()) {
                keep(&|log, _| log.calls.push((*customer, id)));
            }
        }
        Act::CancelNudge { customer, pick } => {
            let Some(id) = chosen(&known().nudges, *customer, *pick) else { return Ok(()) };
            nudges::cancel(app, with(customer).tenant, Mode::Live, id).await?;
            keep(&|log, now| log.promise(now, Promise::NudgeCancelled(id)));
        }
        Act::CancelAll { customer } => {
            let body = read(json!({"all": true}));
            let cancelled = serde_json::to_value(
                nudges::cancel_many(app, with(customer).tenant, Mode::Live, body).await?,
            )
            .unwrap_or_default();
            for id in
                cancelled["ids"].as_array().into_iter().flatten().filter_map(|id| id.as_str()?.parse().ok())
            {
                keep(&|log, now| log.promise(now, Promise::NudgeCancelled(id)));
            }
        }
        Act::CancelScheduled { customer, pick } => {
            let Some(id) = chosen(&known().scheduled, *customer, *pick) else { return Ok(()) };
            scheduled_calls::cancel(app, with(customer).tenant, Mode::Live, id).await?;
            keep(&|log, now| log.promise(now, Promise::ScheduledCancelled(id)));
        }
        Act::HangUp { customer, pick } => {
            let Some(id) = chosen(&known().calls, *customer, *pick) else { return Ok(()) };
            calls::hang_up(app, with(customer).tenant, Mode::Live, id).await?;
        }
        Act::Revoke { customer, key } => {
            let whose = with(customer);
            keys::revoke(app, trace(), whose.tenant, whose.keys[*key].1).await?;
            keep(&|log, now| log.promise(now, Promise::Revoked(whose.keys[*key].1)));
        }
        Act::OptOut { customer, to } => {
            do_not_call::add(app, with(customer).tenant, vec![to.to_string()], None).await?;
            keep(&|log, now| log.promise(now, Promise::OptedOut(with(customer).tenant, *to)));
        }
        Act::Register { to } => {
            dnd::add(app, trace(), vec![to.to_string()]).await?;
            keep(&|log, now| log.promise(now, Promise::Registered(*to)));
        }
        Act::Erase { customer, to } => {
            let (tenant, phone) = (with(customer).tenant, to.to_string());
            let found =
                app.of(tenant).read(move |tx| store::contacts::find_by_phone(tx, Mode::Live, &phone)).await?;
            let Some(contact) = found else { return Ok(()) };
            known().erasing.entry((tenant, *to)).or_insert(asked.1);
            let erased = erasure::erase(app, tenant, contact.id).await?;
            let since = (erased.erased_at, asked.1);
            keep(&|log, now| log.promise_since(since, now, Promise::Erased(tenant, *to)));
        }
        Act::Wallet { customer, amount } => top_up(app, with(customer).tenant, *amount).await?,
        Act::Lines { customer, lines } => {
            workspaces::update(
                app,
                trace(),
                with(customer).tenant,
                read(json!({"limits": {"concurrentCalls": lines}})),
            )
            .await?;
        }
        Act::Suspend { customer, suspended } => {
            let tenant = with(customer).tenant;
            if !suspended {
                // It may be lifted from here on, whenever the answer comes.
                keep(&|log, now| log.promise(now, Promise::Suspended(tenant, false)));
            }
            workspaces::update(app, trace(), tenant, read(json!({"suspended": suspended}))).await?;
            keep(&|log, now| log.promise_since(asked, now, Promise::Suspended(tenant, *suspended)));
        }
        Act::Campaign { customer, act } => {
            let known = |change: &mut dyn FnMut(&mut Log)| {
                change(&mut log.lock().unwrap_or_else(PoisonError::into_inner));
            };
            let promise = |promise: Promise, answered: bool| {
                let since = if answered { asked } else { now() };
                keep(&|log, now| log.promise_since(since, now, promise.clone()));
            };
            campaigns::attempt(app, (*customer, with(customer)), act, &known, &promise).await?;
        }
        Act::Chat { customer, act } => {
            let known = |change: &mut dyn FnMut(&mut Log)| {
                change(&mut log.lock().unwrap_or_else(PoisonError::into_inner));
            };
            talks::attempt(app, world, (*customer, with(customer)), act, &known).await?;
        }
        Act::Inbox { customer, act } => {
            let known = |change: &mut dyn FnMut(&mut Log)| {
                change(&mut log.lock().unwrap_or_else(PoisonError::into_inner));
            };
            desks::attempt(app, (*customer, with(customer)), act, &known).await?;
        }
        Act::Stream { customer, act } => {
            let known = |change: &mut dyn FnMut(&mut Log)| {
                change(&mut log.lock().unwrap_or_else(PoisonError::into_inner));
            };
            let promise = |promise: Promise, answered: bool| {
                let since = if answered { asked } else { now() };
                keep(&|log, now| log.promise_since(since, now, promise.clone()));
            };
            streams::attempt(app, world, (*customer, with(customer)), act, &known, &promise).await?;
        }
        Act::Channel { customer, act } => {
            let known = |change: &mut dyn FnMut(&mut Log)| {
                change(&mut log.lock().unwrap_or_else(PoisonError::into_inner));
            };
            messaging::attempt(app, world, (*customer, with(customer)), act, &known).await?;
        }
        Act::Publish { customer, active } => {
            let whose = with(customer);
            if *active {
                keep(&|log, now| log.promise(now, Promise::Published(whose.tenant, true)));
            }
            agents::set_status(
                app,
                whose.tenant,
                whose.agent,
                if *active { domain::agent::Status::Active } else { domain::agent::Status::Draft },
            )
            .await?;
            keep(&|log, now| log.promise_since(asked, now, Promise::Published(whose.tenant, *active)));
        }
    }
    Ok(())
}

/// A top-up, or taking away all but what calls in flight hold.
async fn top_up(app: &App, tenant: Tenant, amount: i64) -> Result<(), Failure> {
    let state = app.of(tenant).read(store::wallet::state).await?;
    let free = state.map_or(0, |state| state.balance - state.reserved);
    let (kind, amount) = if amount > 0 { ("topup", amount) } else { ("adjustment", -free.max(0)) };
    if amount != 0 {
        let entry = read(json!({"kind": kind, "amountMinor": amount, "reference": "sim"}));
        wallet::create_entry(app, trace(), Once::unkeyed(), tenant, entry).await?;
    }
    Ok(())
}

fn once(tenant: Tenant, mode: Mode, operation: &'static str, name: &str) -> Once {
    Once::keyed(
        tenant.to_string(),
        mode,
        operation,
        name.to_owned(),
        name.to_owned(),
        format!("holder-{name}"),
    )
}

/// A fact of the carrier reaches the service.
pub async fn report(
    app: Arc<App>,
    world: Arc<World>,
    log: Shared,
    call: Id<Call>,
    tenant: Tenant,
    fact: Fact,
) -> Outcome {
    let env = app.call_env();
    let outcome = app
        .of(tenant)
        .tx(move |tx| {
            let Some(row) = store::calls::get_for_update(tx, call)? else { return Ok(None) };
            let at = env.context.now;
            let to = Phone::normalize(&row.to_number).ok();
            calls::apply(tx, &env, row, fact, at).map(|_| to)
        })
        .await;
    if let (Fact::OptOutSaid, Ok(Some(to))) = (fact, &outcome) {
        let now = (app.clock.now(), world.passed());
        log.lock().unwrap_or_else(PoisonError::into_inner).promise(now, Promise::OptedOut(tenant, *to));
    }
    if let Err(failure) = outcome {
        let failure: Failure = failure;
        if store_failed(&failure) {
            return Outcome::Again;
        }
        let defect = format!("{fact:?} of {call}: {} {:?}", failure.message, failure.cause);
        log.lock().unwrap_or_else(PoisonError::into_inner).defects.push(defect);
    }
    Outcome::Done
}

/// The conversation of a call reaches a transfer: what the node that holds the call does of it. Nobody asks
/// again for one that the store failed.
pub async fn transfer(
    app: Arc<App>,
    world: Arc<World>,
    log: Shared,
    call: Id<Call>,
    tenant: Tenant,
    to: Phone,
) -> Outcome {
    match calls::begin_leg(&app, tenant, call, to, calls::LegKind::Beside).await {
        Ok(Ok(leg)) if leg.may_dial(app.clock.now()) => {
            if world.dies_at("leg dial", Side::Before) {
                std::future::pending::<()>().await;
            }
            world.ring_leg(call, leg.number, to);
            if world.dies_at("leg dial", Side::After) {
                std::future::pending::<()>().await;
            }
        }
        Ok(Ok(leg)) => world.send(app.clock.now(), News::Leg(call, leg.number, calls::LegFact::NotDialled)),
        Ok(Err(refused)) => world.tell(format!("nobody is brought into {call}: {refused:?}")),
        Err(failure) if store_failed(&failure) => {}
        Err(failure) => {
            defective(&log, format!("transfer of {call}: {} {:?}", failure.message, failure.cause))
        }
    }
    Outcome::Done
}

/// What became of a second leg reaches the service.
pub async fn report_leg(
    app: Arc<App>,
    log: Shared,
    call: Id<Call>,
    tenant: Tenant,
    leg: i64,
    fact: calls::LegFact,
) -> Outcome {
    match calls::report_leg(&app, tenant, call, leg, fact, app.clock.now()).await {
        Err(failure) if store_failed(&failure) => return Outcome::Again,
        Err(failure) => defective(
            &log,
            format!("{fact:?} of leg {leg} of {call}: {} {:?}", failure.message, failure.cause),
        ),
        Ok(()) => {}
    }
    Outcome::Done
}

pub fn defective(log: &Shared, defect: String) {
    log.lock().unwrap_or_else(PoisonError::into_inner).defects.push(defect);
}

/// The latest a run's own events can be due: nudges live three days, scheduled calls are made for the next
/// day.
pub const AFTERMATH: i64 = 5 * DAY + SECOND;

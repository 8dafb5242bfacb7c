//! Opening a session over the API (docs/contract/chats.md#opening).

use std::sync::Arc;

use api::chats::OpenedChatSession;
use api::error_codes as codes;
use api::events::Event;
use api::events::chats::{Handback, HandedBackChat};
use app::decision_log;
use app::{App, Failure, access, published_flows};
use domain::agent::{Channel as AgentChannel, Status};
use domain::call::variables::has_value;
use domain::chat::{Channel, State, Transition, TurnKind};
use domain::conversation::{Flow, NodeKind};
use domain::decision_log::{Chain, Channel as LogChannel, Decision, Entry};
use domain::ids::{Agent, Chat, Id};
use domain::tenant::Tenant;
use serde_json::{Map, Value, json};
use store::agents::{self, AgentRow};
use store::chats::{self, ChatRow};
use store::{TenantTx, Tx, channel_conversations, wallet};

use crate::feed::Feed;
use crate::session::{Claim, Env, begin_turn, emit, leaves, pass, refusal, standing};
use crate::{hours, reply};

/// `POST /v1/chat/sessions`: the agent's first message is the answer.
///
/// # Errors
/// docs/contract/chats.md#errors
pub async fn open(app: &Arc<App>, tenant: Tenant, agent: &str) -> Result<OpenedChatSession, Failure> {
    let agent: Id<Agent> = agent.parse().map_err(|_| Failure::plain(codes::AGENT_UNAVAILABLE))?;
    let room = reply::take_room(app, tenant)?;
    // A large graph is read before the transaction, which then finds it read.
    app.of(tenant)
        .read(move |tx| match agents::get(tx, agent)? {
            Some(row) => published_flows::published_flow(tx, &row).map(drop),
            None => Ok(()),
        })
        .await?;
    let env = Env::of(app);
    let id = env.context.ids.make::<Chat>();
    let claim = app.of(tenant).tx(move |tx| begin(tx, &env, agent, id)).await?;
    let reply = reply::wait(reply::start(app, claim, Feed::silent(), room)).await?;
    Ok(OpenedChatSession { session_id: id, agent_id: agent, reply: reply.reply })
}

fn begin(tx: &mut TenantTx, env: &Env, agent: Id<Agent>, id: Id<Chat>) -> Result<Claim, Failure> {
    let tenant = tx.tenant();
    let now = env.context.now;
    let workspace = access::workspace(tx)?;
    if !access::feature_on(&workspace, "chat") {
        return Err(Failure::new(
            codes::FEATURE_DISABLED,
            "chats are off for this workspace; ask the operator to switch them on",
        ));
    }
    // Kept from changing, so that the flow is still there when the chat is stored.
    let agent = agents::get_shared(tx, agent)?
        .filter(|row| row.status == Status::Active)
        .ok_or_else(|| Failure::plain(codes::AGENT_UNAVAILABLE))?;
    if agent.channel != AgentChannel::Chat {
        return Err(Failure::plain(codes::CHAT_NOT_ENABLED));
    }
    check_flow(tx, env, &agent)?;
    if !hours::are_open(tx, agent.id, now)? {
        return Err(Failure::plain(codes::AGENT_OFFLINE));
    }
    let price = workspace.cost_per_chat;
    if !wallet::reserve(tx, price, 0)? {
        return Err(Failure::new(
            codes::INSUFFICIENT_BALANCE,
            "the wallet does not cover a chat, holds of live calls and chats included; ask the \
             operator to top it up",
        ));
    }
    let mut row = fresh(env, tenant, id, &agent, Channel::Api, price);
    let claim = begin_turn(env, &mut row, TurnKind::Opening);
    row.next_at = domain::chat::look_at(&standing(&row), env.limits);
    chats::insert(tx, &row)?;
    tx.wake(app::topics::CHATS);
    emit(tx, env, &row, Event::ChatStarted)?;
    // The newest rows of the log are held from here on.
    prove(tx, env, &row)?;
    Ok(claim)
}

/// The row of a new chat with an agent.
pub fn fresh(
    env: &Env,
    tenant: Tenant,
    id: Id<Chat>,
    agent: &AgentRow,
    channel: Channel,
    price: i64,
) -> ChatRow {
    ChatRow {
        id,
        workspace: tenant,
        agent: agent.id,
        channel,
        contact: None,
        external_ref: None,
        metadata: Map::new(),
        state: State::Ai,
        end_cause: None,
        outcome: None,
        extracted: None,
        flow: agent.published_flow.clone(),
        flow_version: Some(agent.published_version),
        test_link: None,
        language: agent.language.clone(),
        redact: app::agents::redacts(agent),
        awaits_secret: false,
        messages: 0,
        customer_messages: 0,
        characters: 0,
        heard: 0,
        price,
        turn: 0,
        turn_kind: None,
        turn_attempt: 0,
        turn_node: None,
        turn_until: None,
        failures: 0,
        failed_replies: 0,
        once: None,
        teammate: None,
        taken_from: None,
        taken_at: None,
        unattended: false,
        human_at: None,
        given_back: 0,
        handoff_reason: None,
        handoff_at: None,
        created_at: env.context.now,
        last_at: env.context.now,
        ended_at: None,
        next_at: None,
        wish: None,
        analysis: None,
        analysis_attempts: 0,
        analysis_at: None,
        summary: None,
        sentiment: None,
        reply_at: None,
        unanswered_at: None,
        version: 0,
    }
}

/// Whether the agent's flow can run in a chat that brings no variables.
///
/// # Errors
/// 422 `brain_unavailable`; `meta` says what is missing.
fn check_flow(tx: &mut TenantTx, env: &Env, agent: &AgentRow) -> Result<(), Failure> {
    check_runs(tx, env, agent, &Map::new())
}

/// Whether the agent's flow can run in a chat that brings these variables.
///
/// # Errors
/// 422 `brain_unavailable`; `meta` says what is missing.
pub fn check_runs(
    tx: &mut TenantTx,
    env: &Env,
    agent: &AgentRow,
    variables: &Map<String, Value>,
) -> Result<(), Failure> {
    let cannot = |message: &str, meta: Value| Failure::new(codes::BRAIN_UNAVAILABLE, message).with_meta(meta);
    let mut missing = published_flows::required_variables(tx, agent)?;
    missing.retain(|name| !has_value(variables.get(name)));
    if !missing.is_empty() {
        return Err(cannot(
            "the agent's flow needs variables that the chat does not bring",
            json!({"missing": missing}),
        ));
    }
    match published_flows::flow_readiness(tx, agent) {
        Ok(()) => {}
        Err(failure) if failure.error == codes::FLOW_NOT_READY => {
            return Err(cannot(&failure.message, failure.meta.unwrap_or_default()));
        }
        Err(failure) => return Err(failure),
    }
    check_model(env, &*published_flows::published_flow(tx, agent)?)
}

fn check_model(env: &Env, flow: &Flow) -> Result<(), Failure> {
    let needs_model = flow.nodes.iter().find(|node| matches!(node.kind, NodeKind::Converse(_)));
    match needs_model.filter(|_| !env.model) {
        Some(node) => Err(Failure::new(
            codes::BRAIN_UNAVAILABLE,
            "the agent's flow needs a language model, and none is set up",
        )
        .with_meta(json!({"nodeId": node.id}))),
        None => Ok(()),
    }
}

/// Whether a flow, which may be a draft, can run in a chat that brings no variables and calls no tools.
///
/// # Errors
/// 422 `brain_unavailable`; `meta` says what is missing.
pub(crate) fn check_flow_of(env: &Env, flow: &Flow) -> Result<(), Failure> {
    let missing = flow.required_variables();
    if !missing.is_empty() {
        return Err(Failure::new(
            codes::BRAIN_UNAVAILABLE,
            "the agent's flow needs variables that the chat does not bring",
        )
        .with_meta(json!({"missing": missing})));
    }
    check_model(env, flow)
}

/// Hands a chat back to its agent, if a chat with that agent could be opened now, and publishes `chat.handed_back` with
/// `handback`. The caller saves the row.
///
/// # Errors
/// 409: the agent has it, it is over, or the code of the opening that says why it stays with people.
pub fn give_back(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow, handback: Handback) -> Result<(), Failure> {
    let handoff = (row.handoff_reason.clone(), row.handoff_at);
    leaves(tx, row);
    pass(env, row, Transition::HandBack).map_err(refusal)?;
    admit_again(tx, env, row).map_err(stays_with_people)?;
    row.last_at = env.context.now;
    // The event still says why people had it.
    let mut shown = row.clone();
    (shown.handoff_reason, shown.handoff_at) = handoff;
    emit(tx, env, &shown, |chat| Event::ChatHandedBack(HandedBackChat { chat, handback, transcript: None }))
}

/// Repeats the checks of an opening. A chat that no agent has had yet, because its opening was refused, is charged from
/// here on, and runs the flow that is published now.
fn admit_again(tx: &mut Tx<'_>, env: &Env, row: &mut ChatRow) -> Result<(), Failure> {
    let tenant = row.workspace;
    let workspace = access::workspace(&mut tx.of(tenant))?;
    let needed = match row.channel {
        Channel::Api | Channel::Web => [Some(("chat", codes::FEATURE_DISABLED)), None],
        Channel::Chatapp => [
            Some(("chatappChannel", codes::CHATAPP_DISABLED)),
            Some(("chatappAgents", codes::CHATAPP_AGENTS_OFF)),
        ],
    };
    for (feature, off) in needed.into_iter().flatten() {
        if !access::feature_on(&workspace, feature) {
            return Err(Failure::plain(off));
        }
    }
    let agent = agents::get_shared(&mut tx.of(tenant), row.agent)?
        .filter(|agent| agent.status == Status::Active && agent.channel == AgentChannel::Chat)
        .ok_or_else(|| Failure::plain(codes::AGENT_UNAVAILABLE))?;
    if !hours::are_open(&mut tx.of(tenant), agent.id, env.context.now)? {
        return Err(Failure::plain(codes::AGENT_OFFLINE));
    }
    if chats::state(&mut tx.of(tenant), row.id)?.conversation.is_some() {
        return Ok(());
    }
    let variables = match row.channel {
        Channel::Chatapp => {
            channel_conversations::get(&mut tx.of(tenant), row.id)?.map(|carried| carried.variables)
        }
        Channel::Api | Channel::Web => None,
    };
    check_runs(&mut tx.of(tenant), env, &agent, &variables.unwrap_or_default())?;
    if row.price == 0 {
        if !wallet::reserve(&mut tx.of(tenant), workspace.cost_per_chat, 0)? {
            return Err(Failure::plain(codes::INSUFFICIENT_BALANCE));
        }
        row.price = workspace.cost_per_chat;
    }
    if row.flow != agent.published_flow {
        row.redact = app::agents::redacts(&agent);
        let before = std::mem::replace(&mut row.flow, agent.published_flow);
        row.flow_version = Some(agent.published_version);
        row.language = agent.language;
        chats::admit(tx, row)?;
        return Ok(chats::drop_flow(&mut tx.of(tenant), &before)?);
    }
    Ok(chats::admit(tx, row)?)
}

/// Translates the refusal of an opening into that of a handback: the same reason, 409.
fn stays_with_people(refused: Failure) -> Failure {
    let twins = [
        (codes::INSUFFICIENT_BALANCE, codes::HANDBACK_UNPAID),
        (codes::AGENT_OFFLINE, codes::HANDBACK_OFFLINE),
        (codes::AGENT_UNAVAILABLE, codes::HANDBACK_AGENT),
        (codes::BRAIN_UNAVAILABLE, codes::HANDBACK_BRAIN),
        (codes::FEATURE_DISABLED, codes::HANDBACK_FEATURE),
        (codes::CHATAPP_DISABLED, codes::HANDBACK_CHANNEL),
        (codes::CHATAPP_AGENTS_OFF, codes::HANDBACK_AGENTS),
    ];
    match twins.iter().find(|(opening, _)| *opening == refused.error) {
        Some(&(_, handback)) => Failure { error: handback, message: handback.meaning.to_owned(), ..refused },
        None => refused,
    }
}

/// Writes an accepted chat to the decision log, like a call.
pub fn prove(tx: &mut Tx<'_>, env: &Env, row: &ChatRow) -> Result<(), Failure> {
    let entry = Entry {
        timestamp: env.context.now,
        interaction_id: row.id.to_string(),
        decision: Decision::Allowed,
        blocked_by: None,
        gate_results: json!({"request": "chat"}).to_string(),
        outcome: None,
        recording_ref: None,
        consent_ref: None,
        is_test: false,
        channel: LogChannel::Chat,
        agent_id: Some(row.agent.to_string()),
    };
    decision_log::record(&mut tx.of(row.workspace), &env.context, Chain::Audit, entry)?;
    Ok(())
}

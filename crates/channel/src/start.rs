//! Starts a conversation with a template (docs/contract/channel-conversations.md#start). One transaction checks
//! everything, stores chat and message, and claims the message; then the provider is called; then the outcome is
//! stored. Whatever crashes in between, the template is sent at most once.

use std::sync::Arc;

use api::channel_conversations::{
    MAX_METADATA_BYTES, MAX_PRIOR_BYTES, NewConversation, PriorRole, StartedConversation, StartedMessage,
};
use api::error_codes as codes;
use app::idempotency::{Answer, Claim as Key, Once};
use app::{App, Failure, access};
use chats::session::Env;
use domain::agent::{Channel as AgentChannel, Status};
use domain::call::variables;
use domain::channel::provider::can_send;
use domain::channel::template::{self, TemplateRef};
use domain::channel::{Content, MessageStatus, Params, Recipient, Source, Template, TemplateStatus};
use domain::chat::{Channel, Origin, Role, State, background};
use domain::conversation::{NodeKind, fill_value};
use domain::ids::{Agent, Chat, Id};
use domain::tenant::{Mode, Tenant};
use serde_json::{Map, Value, json};
use store::agents::{self, AgentRow};
use store::channel_accounts::{self, NumberRow};
use store::channel_conversations::{self, ChannelChatRow};
use store::channel_messages::MessageRow;
use store::contacts::{self, ContactRow};
use store::{TenantTx, Tx, chats as store_chats, wallet};

use crate::deliver::deliver;
use crate::messages::{self, Claim, Decisions, New, OptIn, Placed, Refusal};
use crate::numbers::{Which, sending_number};
use crate::requests::{recipient, template_ref};
use crate::slots::Slot;
use crate::{conversations, people, slots, templates};

/// A request body whose fields are valid by themselves.
#[derive(Debug, Clone)]
struct StartRequest {
    agent: Id<Agent>,
    to: Recipient,
    from: Option<String>,
    which: TemplateRef,
    params: Option<Params>,
    variables: Map<String, Value>,
    name: Option<String>,
    reference: Option<String>,
    metadata: Map<String, Value>,
    opt_in: Option<OptIn>,
    in_session: bool,
    background: Option<String>,
}

/// Validates the body, without the store.
fn read(app: &App, body: NewConversation) -> Result<StartRequest, Failure> {
    let metadata = variables::check_metadata(&body.metadata);
    metadata.map_err(|(field, must)| Failure::field(&field, must))?;
    if Value::Object(body.metadata.clone()).to_string().len() > MAX_METADATA_BYTES {
        return Err(Failure::field(
            "metadata",
            format!("must have at most {MAX_METADATA_BYTES} bytes as JSON"),
        ));
    }
    let bytes: usize = body.prior_messages.iter().map(|message| message.text.len()).sum();
    if bytes > MAX_PRIOR_BYTES {
        return Err(Failure::field(
            "priorMessages",
            format!("must have at most {} KB", MAX_PRIOR_BYTES / 1024),
        ));
    }
    let in_session = body.on_active_session == "send_in_session";
    for (field, given) in
        [("priorMessages", !body.prior_messages.is_empty()), ("handoverNote", body.handover_note.is_some())]
    {
        if in_session && given {
            return Err(Failure::field(field, "cannot be combined with onActiveSession send_in_session"));
        }
    }
    let (given, _) = variables::accept(body.variables).map_err(|wrong| {
        let message = format!("variables.{} must be a string, a number or a boolean", wrong.key);
        Failure::new(codes::INVALID_VARIABLES, message).with_meta(json!({"key": wrong.key}))
    })?;
    let which = template_ref(&body.template)?;
    let agent = body.agent_id.parse().map_err(|_| Failure::plain(codes::AGENT_NOT_FOUND))?;
    let to = recipient(&body.to)?;
    let now = app.clock.now();
    if body.opt_in.as_ref().is_some_and(|opt_in| opt_in.captured_at > now) {
        return Err(Failure::plain(codes::INVALID_OPT_IN).with_meta(json!({"field": "optIn.capturedAt"})));
    }
    let prior: Vec<background::Prior<'_>> = body
        .prior_messages
        .iter()
        .map(|message| background::Prior {
            who: match message.role {
                PriorRole::Customer => "Customer",
                PriorRole::Agent => message.agent_name.as_deref().unwrap_or("Team"),
                PriorRole::Bot => "Bot",
            },
            text: &message.text,
            id: message.provider_message_id.as_deref(),
        })
        .collect();
    let background = background::record(&prior, body.handover_note.as_deref());
    let contact = body.contact;
    Ok(StartRequest {
        agent,
        to,
        from: body.from,
        which,
        params: body.template.params.map(Params::from),
        variables: given,
        name: contact.as_ref().and_then(|contact| contact.name.clone()),
        reference: contact.and_then(|contact| contact.external_ref),
        metadata: body.metadata,
        opt_in: body.opt_in.map(|opt_in| OptIn { source: opt_in.source, captured_at: opt_in.captured_at }),
        in_session,
        background,
    })
}

/// The result of the first transaction.
enum Begun {
    /// The answer is final: a repeated request, a test key, or a queued message.
    Given(Answer),
    /// Refused; only the decision is logged.
    Refused(Failure),
    /// The template is to be sent.
    Send(Box<Claim>, Box<StartedConversation>),
}

/// `POST /v1/chatapp/conversations`.
///
/// # Errors
/// docs/contract/channel-conversations.md#start-errors
pub async fn start(
    app: &Arc<App>,
    tenant: Tenant,
    mode: Mode,
    once: Once,
    body: NewConversation,
) -> Result<Answer, Failure> {
    let wanted = Arc::new(read(app, body)?);
    let agent = wanted.agent;
    // A large graph is read before the transaction, which then finds it read.
    app.of(tenant)
        .read(move |tx| match agents::get(tx, agent)? {
            Some(row) if row.channel == AgentChannel::Chat && row.status == Status::Active => {
                app::published_flows::published_flow(tx, &row).map(drop)
            }
            _ => Ok(()),
        })
        .await?;
    let (env, key) = (Env::of(app), once.clone());
    let begun = match mode {
        Mode::Test => {
            let simulator = app.clone();
            app.of(tenant).tx(move |tx| simulate(tx, &simulator, &env, &key, &wanted)).await?
        }
        Mode::Live => {
            // The number is that of the agent.
            let named = agent.to_string();
            let slot = slots::take(app, tenant, &named, messages::latest_slot(app)).await;
            let (sender, taken) = (app.clone(), slot.clone());
            let begun =
                app.of(tenant).tx(move |tx| begin(tx, &sender, &env, &key, &wanted, taken.as_ref())).await;
            if let Ok(Begun::Send(claim, _)) = &begun {
                slots::learn(app, tenant, &named, &claim.number);
            } else if let Some(slot) = &slot {
                slots::give_back(app, tenant, &named, slot);
            }
            begun?
        }
    };
    match begun {
        Begun::Given(answer) => Ok(answer),
        Begun::Refused(failure) => Err(failure),
        Begun::Send(claim, started) => send_template(app, *claim, once, *started).await,
    }
}

/// Sends in a task of its own: a disconnected client does not stop it, and the manual clock counts it.
async fn send_template(
    app: &Arc<App>,
    claim: Claim,
    once: Once,
    started: StartedConversation,
) -> Result<Answer, Failure> {
    let (done, sent) = tokio::sync::oneshot::channel();
    let sender = app.clone();
    app.clock.spawn(async move {
        // The answer is kept with the outcome: a repeat finds both or neither.
        let outcome = deliver(&sender, claim, move |tx, delivered| {
            finish(tx, &once, started.clone(), delivered.message())
        });
        let _ = done.send(outcome.await.map(|(_, answer)| answer));
    });
    sent.await.unwrap_or_else(|_| Err(Failure::internal("a message ended without an outcome")))
}

/// Stores the outcome, and the answer for this request and its retries.
fn finish(
    tx: &mut Tx<'_>,
    once: &Once,
    mut started: StartedConversation,
    message: &MessageRow,
) -> Result<Answer, Failure> {
    started.message.status = message.status;
    started.message.provider_message_id.clone_from(&message.provider_id);
    let (status, body) = match message.status {
        MessageStatus::Failed => {
            let (code, title, detail) = message.error.clone().unwrap_or_default();
            let unsupported = title == codes::RECIPIENT_UNSUPPORTED.code;
            let error = if unsupported { codes::RECIPIENT_UNSUPPORTED } else { codes::DELIVERY_FAILED };
            let told = json!({"code": code, "title": title, "detail": detail});
            refused(error, &json!({"chatId": started.chat_id, "error": told}))
        }
        MessageStatus::DeliveryUnknown => {
            refused(codes::PROVIDER_UNAVAILABLE, &json!({"chatId": started.chat_id}))
        }
        _ => (if started.sent_in_session { 200 } else { 201 }, json!({"data": started})),
    };
    once.finish(tx, status, &body, Some(&started.contact_id.to_string()))
}

fn refused(error: &'static codes::ErrorCode, meta: &Value) -> (u16, Value) {
    (error.status, error.body(error.meaning, Some(meta)))
}

/// Agent, number, template and price, all of which are fit.
struct Ready {
    agent: AgentRow,
    number: NumberRow,
    template: Template,
    content: Content,
    price: i64,
    contact: Option<ContactRow>,
    open: Option<Id<Chat>>,
}

/// Every read-only check.
fn ready(tx: &mut TenantTx, env: &Env, mode: Mode, wanted: &StartRequest) -> Result<Ready, Failure> {
    let workspace = access::workspace(tx)?;
    if !access::feature_on(&workspace, "chatappChannel") {
        return Err(Failure::plain(codes::CHATAPP_DISABLED));
    }
    if !access::feature_on(&workspace, "chatappAgents") {
        return Err(Failure::plain(codes::CHATAPP_AGENTS_OFF));
    }
    let agent = match mode {
        // Kept from changing, so that the flow is still there when the chat is stored.
        Mode::Live => agents::get_shared(tx, wanted.agent)?,
        // What only reads holds nothing.
        Mode::Test => agents::get(tx, wanted.agent)?,
    };
    let agent = agent.ok_or_else(|| Failure::plain(codes::AGENT_NOT_FOUND))?;
    if agent.channel != AgentChannel::Chat {
        return Err(Failure::plain(codes::AGENT_NOT_CHATAPP));
    }
    if agent.status != Status::Active {
        return Err(Failure::plain(codes::AGENT_NOT_ACTIVE));
    }
    channel_accounts::get(tx)?.ok_or_else(|| Failure::plain(codes::CHATAPP_NOT_CONNECTED))?;
    let number = channel_accounts::number_of_agent(tx, agent.id)?
        .ok_or_else(|| Failure::plain(codes::AGENT_NUMBER_MISSING))?;
    if !can_send(&number.status) {
        return Err(Refusal::NotConnected.into());
    }
    if let Some(from) = wanted.from.as_deref().map(str::trim) {
        let same = from == number.phone_number_id || same_number(from, &number);
        if !same {
            let meta = json!({"phoneNumberId": number.phone_number_id});
            return Err(Failure::plain(codes::AGENT_NUMBER_MISMATCH).with_meta(meta));
        }
    }
    let template = templates::find(tx, &wanted.which)?;
    if template.status != TemplateStatus::Approved {
        return Err(Failure::plain(codes::TEMPLATE_UNAVAILABLE));
    }
    let contact = people::find(tx, &wanted.to)?;
    let name = contact.as_ref().and_then(|contact| contact.name.clone()).or_else(|| wanted.name.clone());
    let params = match &wanted.params {
        Some(params) => params.clone(),
        None => mapped(tx, &agent, &template, &wanted.variables, name.as_deref())?,
    };
    let content = template::fill(&template, &params).map_err(|issues| {
        let issues: Vec<Value> = issues
            .iter()
            .map(|issue| json!({"field": issue.field, "code": issue.code, "message": issue.message}))
            .collect();
        Failure::plain(codes::TEMPLATE_PARAMS_INVALID).with_meta(json!({"issues": issues}))
    })?;
    chats::check_runs(tx, env, &agent, &wanted.variables)?;
    let open = match &contact {
        Some(contact) => channel_conversations::open_chat(tx, number.id, contact.id)?,
        None => None,
    };
    if let Some(chat) = open.filter(|_| !wanted.in_session) {
        return Err(Failure::plain(codes::ACTIVE_SESSION_EXISTS).with_meta(json!({"chatId": chat})));
    }
    Ok(Ready { agent, number, template, content, price: workspace.cost_per_chat, contact, open })
}

fn same_number(from: &str, number: &NumberRow) -> bool {
    matches!(Recipient::parse(from), Some(Recipient::Phone(given)) if given == number.number)
}

/// The values of a template as the agent's flow maps them: those of its `message` node that sends the template.
fn mapped(
    tx: &mut TenantTx,
    agent: &AgentRow,
    template: &Template,
    given: &Map<String, Value>,
    name: Option<&str>,
) -> Result<Params, Failure> {
    let flow = app::published_flows::published_flow(tx, agent)?;
    let sends = |value: &&Value| {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        text("id").is_some_and(|id| id.parse() == Ok(template.id))
            || (text("name") == Some(template.name.as_str())
                && text("language").is_none_or(|language| language == template.language))
    };
    let mapping = flow.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Message(message) => message.template.as_ref().filter(sends),
        _ => None,
    });
    let Some(params) = mapping.and_then(|mapping| mapping.get("params")) else {
        return Ok(Params::default());
    };
    let value = |key: &str| {
        let own = given.get(key).filter(|value| !value.is_null()).cloned();
        let declared = || flow.variables.iter().find(|variable| variable.name == key)?.default.clone();
        own.or_else(declared).or_else(|| (key == "name").then(|| name.map(Value::from)).flatten())
    };
    let filled = fill_value(params, &value);
    Ok(serde_json::from_value::<api::channel_templates::TemplateParams>(filled)
        .map_or_else(|_| Params::default(), Params::from))
}

fn message(tx: &mut TenantTx, wanted: &StartRequest, ready: &Ready, chat: Id<Chat>) -> Result<New, Failure> {
    Ok(New {
        source: Source::Api,
        number: sending_number(tx, Which::Number(ready.number.id))?,
        contact: ready.contact.clone(),
        to: wanted.to.clone(),
        content: ready.content.clone(),
        template: Some(ready.template.clone()),
        reply_to: None,
        chat: Some(chat),
        agent: Some(ready.agent.id),
        campaign: None,
        opt_in: wanted.opt_in.clone(),
        at_once: true,
        keep_refused: false,
    })
}

fn started(
    row: &MessageRow,
    chat: Id<Chat>,
    metadata: &Map<String, Value>,
    in_session: bool,
    mode: Mode,
) -> StartedConversation {
    StartedConversation {
        livemode: mode.livemode(),
        chat_id: chat,
        thread_id: row.thread,
        contact_id: row.contact,
        sent_in_session: in_session,
        metadata: metadata.clone(),
        message: StartedMessage {
            id: row.id.to_string(),
            provider_message_id: row.provider_id.clone(),
            status: row.status,
        },
    }
}

/// Dry run for a test key: the answer that a live key would get. Only the idempotency key is stored.
fn simulate(
    tx: &mut TenantTx,
    app: &App,
    env: &Env,
    once: &Once,
    wanted: &StartRequest,
) -> Result<Begun, Failure> {
    let tenant = tx.tenant();
    if let Key::Given(answer) = once.reserve(tx, env.context.now)? {
        return Ok(Begun::Given(answer));
    }
    let ready = ready(tx, env, Mode::Test, wanted)?;
    let chat = ready.open.unwrap_or_else(|| env.context.ids.make());
    let new = message(tx, wanted, &ready, chat)?;
    if ready.open.is_none() {
        let money = wallet::state(tx)?.ok_or_else(|| Failure::not_found("workspace"))?;
        if money.balance - money.reserved < ready.price {
            return Err(Failure::plain(codes::INSUFFICIENT_BALANCE));
        }
    }
    if let Some(refusal) = messages::check(app, tx, &new)? {
        return Err(refusal.into());
    }
    let metadata = match ready.open {
        Some(chat) => store_chats::get(tx, chat)?.map(|row| row.metadata).unwrap_or_default(),
        None => wanted.metadata.clone(),
    };
    let row = messages::simulated(app, tenant, &new);
    let told = started(&row, chat, &metadata, ready.open.is_some(), Mode::Test);
    let status = if ready.open.is_some() { 200 } else { 201 };
    let contact = ready.contact.as_ref().map(|contact| contact.id.to_string());
    Ok(Begun::Given(once.finish(tx, status, &json!({"data": told}), contact.as_deref())?))
}

fn begin(
    tx: &mut TenantTx,
    app: &Arc<App>,
    env: &Env,
    once: &Once,
    wanted: &StartRequest,
    slot: Option<&Slot>,
) -> Result<Begun, Failure> {
    let tenant = tx.tenant();
    if let Key::Given(answer) = once.reserve(tx, env.context.now)? {
        return Ok(Begun::Given(answer));
    }
    let ready = ready(tx, env, Mode::Live, wanted)?;
    let held = match ready.open {
        Some(chat) => {
            channel_conversations::lock_thread(tx, chat)?;
            store_chats::get_for_update(tx, chat)?
                .filter(|row| row.state != State::Ended && row.wish.is_none())
        }
        None => None,
    };
    let chat = held.as_ref().map_or_else(|| env.context.ids.make(), |row| row.id);
    if held.is_none() {
        let money = wallet::state(tx)?.ok_or_else(|| Failure::not_found("workspace"))?;
        if money.balance - money.reserved < ready.price {
            return Err(Failure::plain(codes::INSUFFICIENT_BALANCE));
        }
    }
    // Nobody is made a contact before the message is taken: a refusal changes nothing.
    let new = message(tx, wanted, &ready, chat)?;
    let mut decisions = Decisions::default();
    let placed = messages::put_into(app, tx, &new, slot, &mut decisions)?;
    let row = match &placed {
        Placed::Refused(refusal) => {
            decisions.write(tx, &env.context)?;
            once.free(tx)?;
            return Ok(Begun::Refused(refusal.clone().into()));
        }
        placed => placed.message().cloned().ok_or_else(|| Failure::internal("a message without a row"))?,
    };
    let contact = named(tx, env, wanted, &row)?;
    let words = row.words.clone().unwrap_or_else(|| format!("[{}]", row.kind));
    let told = match held {
        Some(mut open) => {
            chats::started(tx, env, &mut open, Role::Human, row.id, &words)?;
            started(&row, chat, &open.metadata, true, Mode::Live)
        }
        None => {
            let mut fresh = chats::fresh(env, tenant, chat, &ready.agent, Channel::Chatapp, ready.price);
            fresh.metadata.clone_from(&wanted.metadata);
            let carried = ChannelChatRow {
                thread: Some(row.thread),
                origin: Origin::TemplateStart,
                background: wanted.background.clone(),
                variables: wanted.variables.clone(),
                opening: Some(row.id),
                phone: contact.phone.clone().or_else(|| row.customer.clone()),
                user_id: row.customer_user_id.clone(),
                ..conversations::carried(&fresh, &contact, &ready.number)
            };
            // Locks in the order of all chats: the chat, the wallet, the decision log.
            if !wallet::reserve(tx, ready.price, 0)? {
                return Err(Failure::plain(codes::INSUFFICIENT_BALANCE));
            }
            conversations::insert(tx, env, &mut fresh, &carried, &contact)?;
            chats::started(tx, env, &mut fresh, Role::Agent, row.id, &words)?;
            started(&row, chat, &fresh.metadata, false, Mode::Live)
        }
    };
    decisions.write(tx, &env.context)?;
    match placed {
        Placed::Claimed(claim) => {
            // If nobody stores what the channel said, nobody knows by the end of the lease.
            let until =
                claim.message.lease_until.ok_or_else(|| Failure::internal("a claim without a lease"))?;
            let (status, body) = refused(codes::PROVIDER_UNAVAILABLE, &json!({"chatId": told.chat_id}));
            once.hold_until(tx, until, (status, &body), &told.contact_id.to_string())?;
            Ok(Begun::Send(claim, Box::new(told)))
        }
        _ => {
            let status = if told.sent_in_session { 200 } else { 201 };
            let contact = told.contact_id.to_string();
            Ok(Begun::Given(once.finish(tx, status, &json!({"data": told}), Some(&contact))?))
        }
    }
}

/// The person with the name and the reference that the request brings, where there were none.
fn named(
    tx: &mut TenantTx,
    env: &Env,
    wanted: &StartRequest,
    row: &MessageRow,
) -> Result<ContactRow, Failure> {
    let missing = || Failure::internal("a message without its contact");
    let mut contact = contacts::get(tx, row.contact)?.ok_or_else(missing)?;
    if contact.name.is_none() && wanted.name.is_some() {
        contact.name.clone_from(&wanted.name);
        contacts::update(tx, &contact, env.context.now)?;
    }
    if let Some(reference) = wanted.reference.as_deref().filter(|_| contact.external_ref.is_none()) {
        // One that another contact has is passed over: the conversation begins either way.
        if contacts::adopt_reference(tx, Mode::Live, contact.id, reference, env.context.now)? {
            contact.external_ref = Some(reference.to_owned());
        }
    }
    Ok(contact)
}

//! Conversations with agents on the channel. An observer of messages: a customer's message opens or continues one, a
//! failed delivery may end it (docs/contract/channel-conversations.md).

use api::events::Event;
use app::{App, Failure, access, topics};
use chats::session::{self, Env};
use domain::agent::{Channel as AgentChannel, Status};
use domain::channel::notification::{Received, ReceivedContent};
use domain::channel::{Direction, LocalError, MessageStatus, Source};
use domain::chat::{Channel, EndCause, Origin, Role, State, background};
use domain::ids::{Call, ChannelMessage, Id};

use domain::time::HOUR;
use serde_json::{Map, Value};
use store::agents::{self, AgentRow};
use store::channel_accounts::{self, NumberRow};
use store::channel_campaigns;
use store::channel_conversations::{self, ChannelChatRow};
use store::channel_messages::{self, MessageRow};
use store::chats::{self as store_chats, ChatRow};
use store::contacts::{self, ContactRow};
use store::workspaces::WorkspaceRow;
use store::{TenantTx, Tx, calls, wallet};

use crate::events::MessageEvent;
use crate::{media, voice_notes};

/// How long after a message of the business a customer's message counts as an answer to it.
const ANSWERS: i64 = 72 * HOUR;

/// Observes a message that was stored or whose status changed.
pub fn on_message(app: &App, tx: &mut Tx<'_>, event: &MessageEvent<'_>) -> Result<(), Failure> {
    let env = Env::within(app);
    match (event.before, event.message.direction) {
        (None, Direction::Inbound) => inbound(app, tx, &env, event),
        // What a campaign hands over can be taken back until the provider has it, and is sent again later.
        (None, Direction::Outbound) if event.message.campaign.is_some() => Ok(()),
        (None, Direction::Outbound) => outbound(tx, &env, event.message),
        (Some(_), Direction::Outbound) if event.message.status == MessageStatus::Failed => {
            failed(tx, &env, event.message)
        }
        (Some(before), Direction::Outbound) if left_its_campaign(event.message, before) => {
            outbound(tx, &env, event.message)
        }
        (Some(_), _) => Ok(()),
    }
}

/// Whether a campaign's message has reached the provider, or may have, so that it can no longer be taken back.
pub(crate) fn left_its_campaign(message: &MessageRow, before: MessageStatus) -> bool {
    message.campaign.is_some()
        && before == MessageStatus::Queued
        && !matches!(message.status, MessageStatus::Failed | MessageStatus::Deleted)
}

/// The number of a message.
fn number_of(tx: &mut Tx<'_>, message: &MessageRow) -> Result<Option<NumberRow>, Failure> {
    Ok(channel_accounts::number_at_provider(&mut tx.of(message.workspace), &message.phone_number_id)?)
}

/// The open chat with the person of a message on its number, locked until the transaction ends.
fn open_chat(
    tx: &mut Tx<'_>,
    message: &MessageRow,
    number: &NumberRow,
) -> Result<Option<(ChatRow, ChannelChatRow)>, Failure> {
    let tenant = message.workspace;
    let Some(id) = channel_conversations::open_chat(&mut tx.of(tenant), number.id, message.contact)? else {
        return Ok(None);
    };
    let row = store_chats::get_for_update(&mut tx.of(tenant), id)?.filter(|row| row.state != State::Ended);
    let Some(row) = row else { return Ok(None) };
    Ok(channel_conversations::get(&mut tx.of(tenant), id)?.map(|carried| (row, carried)))
}

// --- what customers send

/// What a customer's message says in words; `None` when it is nothing to reply to.
fn words(message: &MessageRow, received: Option<&Received>) -> Option<String> {
    let own = message.words.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let Some(received) = received else { return own.map(str::to_owned) };
    let with = |what: String| match own {
        Some(words) => format!("{what} {words}"),
        None => what,
    };
    match &received.what {
        ReceivedContent::Text { body } => Some(body.trim().to_owned()).filter(|body| !body.is_empty()),
        ReceivedContent::Media(media) => {
            let name = media.filename.as_deref().map(|name| format!(": {name}")).unwrap_or_default();
            let kind = if media.voice { "voice note" } else { media.kind.as_str() };
            Some(with(format!("[{kind}{name}]")))
        }
        ReceivedContent::Location { place, .. } => {
            let named = [&place.name, &place.address].into_iter().flatten().map(String::as_str);
            let named = named.collect::<Vec<_>>().join(", ");
            Some(format!("[location: {named} ({}, {})]", place.latitude, place.longitude))
        }
        ReceivedContent::Contacts { cards } => Some(format!("[{} contact card(s)]", cards.len())),
        ReceivedContent::Button { text, .. } => Some(text.clone()),
        ReceivedContent::Reply { title, .. } => Some(title.clone()),
        ReceivedContent::Form { response, .. } => Some(format!("[form: {response}]")),
        ReceivedContent::Order { order } => Some(format!("[order: {order}]")),
        ReceivedContent::Reaction { .. }
        | ReceivedContent::System { .. }
        | ReceivedContent::Edit { .. }
        | ReceivedContent::Revoke { .. }
        | ReceivedContent::Unsupported { .. } => None,
    }
}

fn inbound(app: &App, tx: &mut Tx<'_>, env: &Env, event: &MessageEvent<'_>) -> Result<(), Failure> {
    let message = event.message;
    let Some(text) = words(message, event.received) else { return Ok(()) };
    let Some(number) = number_of(tx, message)? else { return Ok(()) };
    let text = text.chars().filter(|sign| *sign != '\0').collect();
    let mut inbound = chats::InboundMessage { message: message.id, text, pending: false };
    if let Some((mut row, mut carried)) = open_chat(tx, message, &number)? {
        refresh(tx, message, event.received, &mut carried)?;
        channel_messages::set_chat(&mut tx.of(row.workspace), message.id, row.id, row.agent)?;
        if event.barred {
            chats::started(tx, env, &mut row, Role::User, message.id, &inbound.text)?;
            return session::end(tx, env, &mut row, EndCause::OptedOut);
        }
        inbound.pending = pending(app, tx, message, &row)?;
        if chats::receive(tx, env, &mut row, &inbound)? {
            return Ok(());
        }
        // It had as much as it may: another one begins.
    }
    // Nobody could answer them: the message stands for itself, until they allow messages again.
    if event.barred {
        return Ok(());
    }
    let Some(mut row) = open_for(tx, env, message, event.received, &number)? else { return Ok(()) };
    channel_messages::set_chat(&mut tx.of(row.workspace), message.id, row.id, row.agent)?;
    inbound.pending = pending(app, tx, message, &row)?;
    chats::receive(tx, env, &mut row, &inbound)?;
    Ok(())
}

/// Whether the reply waits until the file of a message is there: a voice note that can be made out, or a file where the
/// agent waits for a document.
fn pending(app: &App, tx: &mut Tx<'_>, message: &MessageRow, row: &ChatRow) -> Result<bool, Failure> {
    if message.media_at.is_none() {
        return Ok(false);
    }
    if voice_notes::is_note(message) {
        return Ok(voice_notes::understood(app, &row.language));
    }
    match media::may_be_document(message) {
        true => chats::waits_for_file(tx, row),
        false => Ok(false),
    }
}

/// Stores what the channel has since said about the customer.
fn refresh(
    tx: &mut Tx<'_>,
    message: &MessageRow,
    received: Option<&Received>,
    carried: &mut ChannelChatRow,
) -> Result<(), Failure> {
    let name = received.and_then(|received| received.from.name.clone());
    let told =
        (message.customer.clone(), message.customer_user_id.clone(), message.customer_username.clone());
    let known = (carried.phone.clone(), carried.user_id.clone(), carried.username.clone());
    if told == known && (carried.name.is_some() || name.is_none()) {
        return Ok(());
    }
    carried.phone = told.0.or(known.0);
    carried.user_id = told.1.or(known.1);
    carried.username = told.2.or(known.2);
    carried.name = carried.name.take().or(name);
    Ok(channel_conversations::save(tx, carried)?)
}

/// Whether the agent of a number accepts a new chat; otherwise the reason.
enum Taker {
    Agent { price: i64 },
    Nobody(&'static str),
}

/// Opens a chat with the agent of a number for a customer who has written first; `None` where no agent answers.
fn open_for(
    tx: &mut Tx<'_>,
    env: &Env,
    message: &MessageRow,
    received: Option<&Received>,
    number: &NumberRow,
) -> Result<Option<ChatRow>, Failure> {
    let tenant = message.workspace;
    let Some(agent) = number.agent else { return Ok(None) };
    let workspace = access::workspace(&mut tx.of(tenant))?;
    if workspace.suspended
        || !access::feature_on(&workspace, "chatappChannel")
        || !access::feature_on(&workspace, "chatappAgents")
    {
        return Ok(None);
    }
    let Some(agent) = agents::get_shared(&mut tx.of(tenant), agent)? else { return Ok(None) };
    if agent.channel != AgentChannel::Chat {
        return Ok(None);
    }
    let Some(contact) = contacts::get(&mut tx.of(tenant), message.contact)? else { return Ok(None) };
    let last = last_sent(tx, env, message)?;
    // Who answers a campaign brings the values of their row of its list.
    let brought = match &last {
        Some((id, Source::Campaign, _)) => channel_campaigns::answered(&mut tx.of(tenant), *id)?,
        _ => None,
    };
    let (list_row, variables) =
        brought.map_or_else(Default::default, |brought| (Some(brought.list_row), brought.variables));
    let taker = taker(&mut tx.of(tenant), env, &workspace, &agent, &variables)?;
    let price = match taker {
        Taker::Agent { price } => price,
        Taker::Nobody(_) => 0,
    };
    let (origin, linked_call, before) = origin(&mut tx.of(tenant), last, &taker)?;
    let mut row = chats::fresh(env, tenant, env.context.ids.make(), &agent, Channel::Chatapp, price);
    let carried = ChannelChatRow {
        thread: Some(message.thread),
        phone: message.customer.clone(),
        user_id: message.customer_user_id.clone(),
        username: message.customer_username.clone(),
        name: contact.name.clone().or_else(|| received.and_then(|received| received.from.name.clone())),
        origin,
        linked_call,
        ad_referral: received
            .and_then(|received| received.referral.as_ref())
            .and_then(|referral| serde_json::to_value(referral).ok()),
        background: background_of(&mut tx.of(tenant), linked_call, before)?,
        variables,
        list_row,
        ..carried(&row, &contact, number)
    };
    insert(tx, env, &mut row, &carried, &contact)?;
    if let Taker::Nobody(reason) = taker {
        session::hand_off(tx, env, &mut row, Some(reason))?;
        session::save(tx, env, &mut row)?;
    }
    Ok(Some(row))
}

fn taker(
    tx: &mut TenantTx,
    env: &Env,
    workspace: &WorkspaceRow,
    agent: &AgentRow,
    variables: &Map<String, Value>,
) -> Result<Taker, Failure> {
    if agent.status != Status::Active {
        return Ok(Taker::Nobody("agent_unavailable"));
    }
    match chats::check_runs(tx, env, agent, variables) {
        Ok(()) => {}
        Err(failure) if failure.error.status >= 500 => return Err(failure),
        Err(_) => return Ok(Taker::Nobody("agent_unavailable")),
    }
    if !chats::are_open(tx, agent.id, env.context.now)? {
        return Ok(Taker::Nobody("outside_business_hours"));
    }
    let price = workspace.cost_per_chat;
    if !wallet::reserve(tx, price, 0)? {
        return Ok(Taker::Nobody("insufficient_balance"));
    }
    Ok(Taker::Agent { price })
}

/// The last message that the customer got and may answer: its id, who sent it, its words.
type LastSent = Option<(Id<ChannelMessage>, Source, Option<String>)>;

fn last_sent(tx: &mut Tx<'_>, env: &Env, message: &MessageRow) -> Result<LastSent, Failure> {
    let since = env.context.now.plus(-ANSWERS);
    let number = &message.phone_number_id;
    Ok(channel_conversations::last_sent(&mut tx.of(message.workspace), message.contact, number, since)?)
}

/// How a chat began that a customer's message opens: the call and the words that it answers, if it does.
fn origin(
    tx: &mut TenantTx,
    last: LastSent,
    taker: &Taker,
) -> Result<(Origin, Option<Id<Call>>, Option<String>), Failure> {
    let (origin, call, words) = match last {
        Some((id, Source::VoiceTool, words)) => match channel_conversations::call_of(tx, id)? {
            Some(call) => (Origin::CallFollowup, Some(call), words),
            None => (Origin::Inbound, None, None),
        },
        Some((_, Source::Campaign, words)) => (Origin::Campaign, None, words),
        _ => (Origin::Inbound, None, None),
    };
    let words = words.map(|words| background::clean(&words)).filter(|words| !words.is_empty());
    match taker {
        Taker::Nobody(_) if origin == Origin::Inbound => Ok((Origin::AiUnavailable, call, words)),
        _ => Ok((origin, call, words)),
    }
}

/// Context for the agent about what the customer answers: the message, and the summary of the call during which it was
/// sent, if the call has one by then.
fn background_of(
    tx: &mut TenantTx,
    call: Option<Id<Call>>,
    message: Option<String>,
) -> Result<Option<String>, Failure> {
    let summary = match call {
        Some(call) => calls::content(tx, call)?.summary,
        None => None,
    };
    let summary = summary.map(|summary| background::clean(&summary)).filter(|summary| !summary.is_empty());
    let lines = [
        message.map(|words| format!("The customer answers this message of the business: {words}")),
        summary.map(|summary| format!("Summary of the call during which it was sent: {summary}")),
    ];
    Ok(Some(lines.into_iter().flatten().collect::<Vec<_>>().join("\n")).filter(|told| !told.is_empty()))
}

/// The row of a new chat that only chats on the channel have.
pub(crate) fn carried(row: &ChatRow, contact: &ContactRow, number: &NumberRow) -> ChannelChatRow {
    ChannelChatRow {
        chat: row.id,
        workspace: row.workspace,
        number: number.id,
        phone_number_id: number.phone_number_id.clone(),
        business: number.number.to_string(),
        thread: None,
        contact: contact.id,
        phone: contact.phone.clone(),
        user_id: contact.chatapp_user_id.clone(),
        username: contact.chatapp_username.clone(),
        name: contact.name.clone(),
        origin: Origin::Inbound,
        linked_call: None,
        ad_referral: None,
        helpdesk: false,
        helpdesk_name: None,
        background: None,
        variables: Map::new(),
        opening: None,
        list_row: None,
        open: true,
    }
}

/// Stores a new chat with the channel's part of it, its event and its row of the decision log.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut ChatRow,
    carried: &ChannelChatRow,
    contact: &ContactRow,
) -> Result<(), Failure> {
    row.contact = Some(contact.id);
    row.external_ref.clone_from(&contact.external_ref);
    session::look_again(env, row);
    channel_conversations::insert(tx, carried)?;
    store_chats::insert(tx, row)?;
    tx.wake(topics::CHATS);
    session::emit(tx, env, row, Event::ChatStarted)?;
    chats::prove(tx, env, row)
}

// --- what goes out

/// A message that was sent past the agent of an open chat stands in its transcript, so that the agent knows of it.
fn outbound(tx: &mut Tx<'_>, env: &Env, message: &MessageRow) -> Result<(), Failure> {
    if message.chat.is_some() || message.status == MessageStatus::Failed || message.source == Source::System {
        return Ok(());
    }
    let Some(number) = number_of(tx, message)? else { return Ok(()) };
    let Some((mut row, _)) = open_chat(tx, message, &number)? else { return Ok(()) };
    channel_messages::set_chat(&mut tx.of(row.workspace), message.id, row.id, row.agent)?;
    let text = message.words.clone().unwrap_or_else(|| format!("[{}]", message.kind));
    chats::started(tx, env, &mut row, Role::Human, message.id, &text)
}

/// A message was not delivered: a chat that it was to begin is over, and one whose agent cannot write any more waits
/// for a person.
fn failed(tx: &mut Tx<'_>, env: &Env, message: &MessageRow) -> Result<(), Failure> {
    let code = message.error.as_ref().map(|(code, ..)| *code);
    let opted_out = code == Some(LocalError::ContactOptedOut.code());
    let chat = match (message.chat, message.campaign) {
        (Some(chat), _) => chat,
        // One of a campaign that was not sent stands in no chat, but what it says of the person holds for theirs.
        (None, Some(_)) if opted_out => {
            let Some(number) = number_of(tx, message)? else { return Ok(()) };
            let Some((row, _)) = open_chat(tx, message, &number)? else { return Ok(()) };
            row.id
        }
        (None, _) => return Ok(()),
    };
    let Some(mut row) = store_chats::get_for_update(&mut tx.of(message.workspace), chat)? else {
        return Ok(());
    };
    if row.state == State::Ended {
        return Ok(());
    }
    let carried = channel_conversations::get(&mut tx.of(message.workspace), chat)?;
    let opens = carried.is_some_and(|carried| carried.opening == Some(message.id));
    if opens && row.customer_messages == 0 {
        return session::end(tx, env, &mut row, EndCause::TemplateFailed);
    }
    if opted_out {
        return session::end(tx, env, &mut row, EndCause::OptedOut);
    }
    if message.source != Source::Agent || row.state != State::Ai {
        return Ok(());
    }
    let closed = [Some(LocalError::WindowClosed.code()), Some(RE_ENGAGEMENT)].contains(&code);
    let reason = if closed { "window_closed" } else { "number_unavailable" };
    let answer = session::unanswered(State::AwaitingHuman);
    session::close_turn(tx, &mut row, &answer)?;
    session::hand_off(tx, env, &mut row, Some(reason))?;
    session::save(tx, env, &mut row)
}

/// The provider's code for a message outside of the customer's 24 hours.
const RE_ENGAGEMENT: i64 = 131_047;

//! Business numbers (docs/contract/channel.md#numbers).

use std::sync::Arc;

use api::channel_accounts::{BoundChannelNumber, ChannelNumber as View, MAX_NUMBERS, NewChannelNumber};
use api::error_codes::CHATAPP_NOT_CONNECTED;
use api::events::channel::{NumberPause, NumberQuality};
use app::events::{self, Event, NewEvent};
use app::operator_log::{self, Trace};
use app::{App, Context, Failure, access, topics};
use domain::agent::Channel;
use domain::channel::ProviderKind;
use domain::channel::errors::SPAM_PAUSE;
use domain::channel::limits::{HIGH_RATE, STANDARD_RATE};
use domain::channel::provider::{ConnectionStatus, NumberState, can_send};
use domain::ids::{Agent, ChannelConnection, ChannelNumber, Id};
use domain::phone::E164;
use domain::tenant::{Mode, Tenant};
use domain::time::{MINUTE, Timestamp};
use store::channel_accounts::{self, ConnectionRow, NumberRow};
use store::{TenantTx, agents};

use crate::accounts::{account_of, brought, not_connected};
use crate::campaigns::outcomes::on_account_event;
use crate::events::AccountEvent;
use crate::providers::provider;

/// A business number, with what its account says about it.
#[derive(Debug, Clone)]
pub struct Number {
    pub id: Id<ChannelNumber>,
    /// The provider's id of it.
    pub phone_number_id: String,
    pub e164: E164,
    /// The connection of its account.
    pub account: Id<ChannelConnection>,
    /// Who carries its messages.
    pub provider: ProviderKind,
    /// Whether the account's token is accepted.
    pub connection: ConnectionStatus,
    /// Whether the provider has restricted the account: its event.
    pub restriction: Option<String>,
    /// The provider's word for how it stands.
    pub status: String,
    /// `GREEN`, `YELLOW` or `RED`.
    pub quality: Option<String>,
    /// The provider's word for the messaging limit: that of the account, else that of the number.
    pub tier: Option<String>,
    /// Messages a second.
    pub rate: i64,
    /// The agent that answers on it.
    pub agent: Option<Id<Agent>>,
    /// Until when agents do not reply on it.
    pub paused_until: Option<Timestamp>,
}

impl Number {
    /// Whether the provider lets it send at all.
    pub fn is_connected(&self) -> bool {
        can_send(&self.status)
    }
}

/// Selects the sending number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'a> {
    Default,
    /// The one that an agent answers on.
    Agent(Id<Agent>),
    Number(Id<ChannelNumber>),
    /// The one with this id at the provider.
    Provider(&'a str),
}

/// The number that sends.
///
/// # Errors
/// 409 `chatapp_not_connected` without a connection or without such a number.
pub fn sending_number(tx: &mut TenantTx, which: Which<'_>) -> Result<Number, Failure> {
    let connection = channel_accounts::get(tx)?.ok_or_else(not_connected)?;
    let row = match which {
        Which::Default => channel_accounts::default_number(tx)?,
        Which::Agent(agent) => channel_accounts::number_of_agent(tx, agent)?,
        Which::Number(id) => channel_accounts::number(tx, id)?,
        Which::Provider(id) => channel_accounts::number_at_provider(tx, id)?,
    };
    row.map(|row| number(&connection, row)).ok_or_else(not_connected)
}

/// A number by the provider's id of it; `None` when it is not connected any more.
pub(crate) fn number_of(tx: &mut TenantTx, id: &str) -> Result<Option<Number>, Failure> {
    match sending_number(tx, Which::Provider(id)) {
        Ok(number) => Ok(Some(number)),
        Err(failure) if failure.error == CHATAPP_NOT_CONNECTED => Ok(None),
        Err(failure) => Err(failure),
    }
}

pub(crate) fn number(connection: &ConnectionRow, row: NumberRow) -> Number {
    let sandbox = connection.provider == ProviderKind::Sandbox;
    Number {
        id: row.id,
        phone_number_id: row.phone_number_id,
        e164: row.number,
        account: row.connection,
        provider: connection.provider,
        connection: connection.status,
        restriction: connection.restriction.clone(),
        status: row.status,
        quality: row.quality,
        tier: connection.tier.clone().or(row.tier),
        rate: if row.high_rate || sandbox { HIGH_RATE } else { STANDARD_RATE },
        agent: row.agent,
        paused_until: row.ai_paused_until,
    }
}

fn view(tier: Option<&String>, row: &NumberRow) -> View {
    View {
        phone_number_id: row.phone_number_id.clone(),
        number: row.number.to_string(),
        display_name: row.display_name.clone(),
        quality: row.quality.clone(),
        messaging_tier: tier.or(row.tier.as_ref()).cloned(),
        status: row.status.clone(),
        is_default: row.is_default,
        agent_id: row.agent,
    }
}

fn rows(tx: &mut TenantTx) -> Result<Vec<(Id<ChannelNumber>, View)>, Failure> {
    let tier = channel_accounts::get(tx)?.and_then(|connection| connection.tier);
    let rows = channel_accounts::numbers(tx)?;
    Ok(rows.iter().map(|row| (row.id, view(tier.as_ref(), row))).collect())
}

/// The numbers of a workspace.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<View>, Failure> {
    let rows = app.of(tenant).read(rows).await?;
    Ok(rows.into_iter().map(|(_, view)| view).collect())
}

/// [`list`] for the operator, with ids.
///
/// # Errors
/// There is no such workspace.
pub async fn bound(app: &App, tenant: Tenant) -> Result<Vec<BoundChannelNumber>, Failure> {
    let rows = app
        .of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            rows(tx)
        })
        .await?;
    Ok(rows.into_iter().map(|(id, number)| BoundChannelNumber { id, number }).collect())
}

/// The requested number, as its provider describes it.
async fn described(
    app: &Arc<App>,
    connection: &ConnectionRow,
    bound: &[NumberRow],
    body: &NewChannelNumber,
) -> Result<(NumberState, E164), Failure> {
    let wrong = |_| Failure::field("number", "must be an international number");
    let given = body.number.as_deref().map(E164::written).transpose().map_err(wrong)?;
    if connection.provider == ProviderKind::Sandbox {
        let number = given.ok_or_else(|| Failure::field("number", "is required"))?;
        let made_up = app.ids.make::<ChannelNumber>().bits() % 1_000_000_000_000_000;
        let known = bound.iter().find(|row| row.number == number).map(|row| row.phone_number_id.clone());
        let given = body.phone_number_id.clone().or(known);
        let state = NumberState {
            phone_number_id: given.unwrap_or_else(|| format!("{made_up:015}")),
            display_number: number.to_string(),
            verified_name: None,
            quality: Some("GREEN".into()),
            tier: Some("TIER_100K".into()),
            status: Some("CONNECTED".into()),
            high_rate: false,
        };
        return Ok((state, number));
    }
    if body.phone_number_id.is_none() && given.is_none() {
        return Err(Failure::field("phoneNumberId", "is required"));
    }
    let account = account_of(&app.keyring, connection)?;
    let answer = provider(app, &account).numbers(&account).await;
    for state in brought(app, &account, answer).await? {
        let number = E164::parse(&state.display_number).ok();
        let same = match &body.phone_number_id {
            Some(id) => *id == state.phone_number_id,
            None => number.is_some() && number == given,
        };
        if !same {
            continue;
        }
        let number = number.or(given).ok_or_else(|| Failure::field("number", "is required"))?;
        if given.is_some_and(|given| given != number) {
            return Err(Failure::field("number", "must be the number of phoneNumberId, or be left out"));
        }
        return Ok((state, number));
    }
    let field = if body.phone_number_id.is_some() { "phoneNumberId" } else { "number" };
    Err(Failure::field(field, "must be a number of the business account"))
}

/// Whether nobody else has a number: this workspace with another id, or another workspace where it is new in this one.
fn check_free(
    tx: &mut TenantTx,
    provider: ProviderKind,
    (phone_number_id, number): (&str, E164),
    is_new: bool,
) -> Result<(), Failure> {
    let tenant = tx.tenant();
    let twin = |row: &NumberRow| row.number == number && row.phone_number_id != phone_number_id;
    if channel_accounts::numbers(tx)?.iter().any(twin) {
        return Err(Failure::conflict(
            "the number is bound with another phoneNumberId; release that one first",
        ));
    }
    // Otherwise anybody with the account's token could bind the number in a second workspace, and both would answer its
    // customers. The sandbox's numbers belong to nobody.
    let counts = is_new && provider == ProviderKind::Cloud;
    if counts && channel_accounts::holders(tx, phone_number_id)?.iter().any(|holder| *holder != tenant) {
        return Err(Failure::conflict("the number is bound already; release it first"));
    }
    Ok(())
}

/// Binds a number, or changes what a bound one does.
///
/// # Errors
/// What is wrong with the body; 409 without a connection, with too many numbers, or when the number is bound with
/// another id or the agent has another number; what the provider says.
pub async fn bind(
    app: &Arc<App>,
    trace: Trace,
    tenant: Tenant,
    body: NewChannelNumber,
) -> Result<BoundChannelNumber, Failure> {
    let wrong_agent = || Failure::field("agentId", "must be a chat agent of this workspace");
    // Absent, none, or one.
    let agent: Option<Option<Id<Agent>>> = match &body.agent_id {
        Some(Some(id)) => Some(Some(id.parse().map_err(|_| wrong_agent())?)),
        Some(None) => Some(None),
        None => None,
    };
    let (connection, bound) = app
        .of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            let connection = channel_accounts::get(tx)?.ok_or_else(not_connected)?;
            Ok::<_, Failure>((connection, channel_accounts::numbers(tx)?))
        })
        .await?;
    let (state, number) = described(app, &connection, &bound, &body).await?;
    let context = app.context();
    app.store
        .tx(move |tx| {
            access::workspace_for_update(&mut tx.of(tenant))?;
            let connection = channel_accounts::get_for_update(&mut tx.of(tenant))?
                .filter(|current| {
                    current.id == connection.id && current.business_account == connection.business_account
                })
                .ok_or_else(not_connected)?;
            if let Some(Some(agent)) = agent {
                let row = agents::get_shared(&mut tx.of(tenant), agent)?.ok_or_else(wrong_agent)?;
                if row.channel != Channel::Chat {
                    return Err(wrong_agent());
                }
                let other = channel_accounts::number_of_agent(&mut tx.of(tenant), agent)?;
                if other.is_some_and(|other| other.phone_number_id != state.phone_number_id) {
                    return Err(Failure::conflict(
                        "the agent answers on another number; release that number or change its agent first",
                    ));
                }
            }
            let known = channel_accounts::number_at_provider(&mut tx.of(tenant), &state.phone_number_id)?;
            let count = channel_accounts::count_numbers(&mut tx.of(tenant))?;
            check_free(
                &mut tx.of(tenant),
                connection.provider,
                (state.phone_number_id.as_str(), number),
                known.is_none(),
            )?;
            if known.is_none() && count >= MAX_NUMBERS {
                return Err(Failure::conflict(format!(
                    "the workspace has {MAX_NUMBERS} business numbers, which is the limit; release one first"
                )));
            }
            let first = count == 0;
            let was_default = known.as_ref().is_some_and(|row| row.is_default);
            let is_default = first || body.is_default.unwrap_or(was_default);
            let name = body.display_name.clone().or_else(|| state.verified_name.clone());
            let row = NumberRow {
                id: known.as_ref().map_or_else(|| context.ids.make(), |row| row.id),
                connection: connection.id,
                phone_number_id: state.phone_number_id.clone(),
                number,
                display_name: name
                    .or_else(|| known.as_ref().map(|row| row.display_name.clone()))
                    .unwrap_or_else(|| number.to_string()),
                quality: rated(state.quality.as_deref()),
                tier: state.tier.clone(),
                status: state.status.clone().unwrap_or_else(|| "CONNECTED".into()),
                high_rate: state.high_rate,
                is_default,
                agent: agent.unwrap_or_else(|| known.as_ref().and_then(|row| row.agent)),
                ai_paused_until: known.as_ref().and_then(|row| row.ai_paused_until),
                ai_pause_announced: known.as_ref().and_then(|row| row.ai_pause_announced),
                created_at: known.as_ref().map_or(context.now, |row| row.created_at),
                updated_at: context.now,
            };
            if is_default && !was_default {
                channel_accounts::clear_default(&mut tx.of(tenant))?;
            }
            if known.is_some() {
                channel_accounts::save_number(&mut tx.of(tenant), &row)?;
            } else {
                channel_accounts::insert_number(&mut tx.of(tenant), &row)?;
            }
            if let (None, Some(tier)) = (&connection.tier, &state.tier) {
                channel_accounts::set_tier(&mut tx.of(tenant), tier, context.now)?;
            }
            tx.wake(topics::CHANNEL_SENDS);
            operator_log::append(tx, &context, &trace, Some(tenant), &row.id.to_string())?;
            let tier = connection.tier.as_ref();
            Ok(BoundChannelNumber { id: row.id, number: view(tier, &row) })
        })
        .await
}

/// Releases a number, by its id or by the provider's.
///
/// # Errors
/// There is no such number.
pub async fn release(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    id: &str,
) -> Result<Id<ChannelNumber>, Failure> {
    let (context, id) = (app.context(), id.to_owned());
    app.of(tenant)
        .tx(move |tx| {
            let row = match id.parse::<Id<ChannelNumber>>() {
                Ok(id) => channel_accounts::number(tx, id)?,
                Err(_) => channel_accounts::number_at_provider(tx, &id)?,
            };
            let row = row.ok_or_else(|| Failure::not_found("number"))?;
            channel_accounts::delete_number(tx, row.id)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &row.id.to_string())?;
            Ok(row.id)
        })
        .await
}

/// Deletes the numbers of a workspace, which belong to an account that is no longer connected.
pub(crate) fn forget(tx: &mut TenantTx) -> Result<(), Failure> {
    for row in channel_accounts::numbers(tx)? {
        channel_accounts::delete_number(tx, row.id)?;
    }
    Ok(())
}

/// A quality rating; the provider has other words for none.
pub(crate) fn rated(quality: Option<&str>) -> Option<String> {
    quality.filter(|quality| matches!(*quality, "GREEN" | "YELLOW" | "RED")).map(str::to_owned)
}

/// Stores the state of a number at the provider. Publishes a change of quality, and that it cannot send any more.
pub(crate) fn observe(
    app: &App,
    tx: &mut TenantTx,
    context: &Context,
    mut row: NumberRow,
    state: &NumberState,
) -> Result<(), Failure> {
    let quality = rated(state.quality.as_deref()).or_else(|| row.quality.clone());
    let changed = quality != row.quality;
    let previous = std::mem::replace(&mut row.quality, quality);
    row.tier = state.tier.clone().or(row.tier);
    row.status = state.status.clone().unwrap_or(row.status);
    row.high_rate = state.high_rate;
    row.updated_at = context.now;
    channel_accounts::save_number(tx, &row)?;
    if !can_send(&row.status) {
        on_account_event(app, tx, &AccountEvent::NumberGone(row.id))?;
    }
    let (true, Some(quality)) = (changed, &row.quality) else { return Ok(()) };
    if let Some(previous) = previous {
        let changed = NumberQuality {
            phone_number_id: row.phone_number_id.clone(),
            business_number: row.number.to_string(),
            previous_quality: previous,
            quality: quality.clone(),
        };
        emit(tx, context, Event::NumberQualityChanged(changed))?;
    }
    on_account_event(app, tx, &AccountEvent::Quality { number: row.id, quality })
}

pub(crate) fn emit(tx: &mut TenantTx, context: &Context, event: Event) -> Result<(), Failure> {
    let event = NewEvent { event, mode: Mode::Live, agent: None, contact: None };
    events::emit(tx, context, event).map(|_| ())
}

/// How far the end of a pause must move before an event announces it again.
const WORTH_SAYING: i64 = 30 * MINUTE;

/// The provider limits a number because of spam reports: agents do not reply on it for an hour. An event announces it once
/// a pause, and again when its end has moved far.
pub fn spam_limited(tx: &mut TenantTx, context: &Context, number: Id<ChannelNumber>) -> Result<(), Failure> {
    let Some(row) = channel_accounts::number_for_update(tx, number)? else { return Ok(()) };
    let now = context.now;
    let until = now.plus(SPAM_PAUSE).max(row.ai_paused_until.unwrap_or(now));
    let known = row.ai_pause_announced.filter(|announced| *announced > now);
    let news = known.is_none_or(|announced| until.0 - announced.0 >= WORTH_SAYING);
    if news {
        announce_pause(tx, context, &row, until)?;
    }
    let announced = if news { Some(until) } else { row.ai_pause_announced };
    // The end that was announced may have to be announced anew when it passes.
    tx.wake(topics::CHANNEL_NOTIFICATIONS);
    Ok(channel_accounts::pause_agents(tx, number, until, announced)?)
}

fn announce_pause(
    tx: &mut TenantTx,
    context: &Context,
    row: &NumberRow,
    until: Timestamp,
) -> Result<(), Failure> {
    let pause = NumberPause {
        phone_number_id: row.phone_number_id.clone(),
        business_number: row.number.to_string(),
        paused_until: until,
    };
    emit(tx, context, Event::NumberAiPaused(pause))
}

/// Announces pauses that last beyond their announced end. Returns when the next such end passes.
pub(crate) async fn announce_pauses(app: &App) -> Result<Option<Timestamp>, Failure> {
    let context = app.context();
    app.store
        .tx(move |tx| {
            for (tenant, id) in channel_accounts::unannounced_pauses(tx, context.now)? {
                let Some(row) = channel_accounts::number_for_update(&mut tx.of(tenant), id)? else {
                    continue;
                };
                let (Some(until), Some(announced)) = (row.ai_paused_until, row.ai_pause_announced) else {
                    continue;
                };
                if until > context.now && announced <= context.now {
                    announce_pause(&mut tx.of(tenant), &context, &row, until)?;
                    channel_accounts::pause_agents(&mut tx.of(tenant), id, until, Some(until))?;
                }
            }
            Ok(channel_accounts::next_unannounced_pause(tx, context.now)?)
        })
        .await
}

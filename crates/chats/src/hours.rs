//! Business hours of chat agents (docs/contract/chats.md#business-hours).

use api::chats::{AgentHours, BusinessHours as HoursView, OpenHours};
use app::operator_log::{self, Trace};
use app::{App, Failure, access, agents};
use domain::chat::{BusinessHours, WrongHours};
use domain::ids::{Agent, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::json;
use store::chats::{self, HoursRow};
use store::{TenantTx, Tx};

fn read(timezone: &str, spans: &[OpenHours]) -> Result<BusinessHours, WrongHours> {
    let day = |day: &i64| u8::try_from(*day).unwrap_or(u8::MAX);
    BusinessHours::read(
        timezone,
        spans.iter().map(|span| (span.days.iter().map(day).collect(), &*span.from, &*span.to)),
    )
}

fn spans(row: &HoursRow) -> Result<Vec<OpenHours>, Failure> {
    serde_json::from_value(row.hours.clone())
        .map_err(|why| Failure::internal(format!("stored business hours: {why}")))
}

/// Whether an agent accepts new chats now.
pub fn are_open(tx: &mut TenantTx, agent: Id<Agent>, now: Timestamp) -> Result<bool, Failure> {
    let Some(row) = chats::hours(tx, agent)? else { return Ok(true) };
    let hours = read(&row.timezone, &spans(&row)?)
        .map_err(|why| Failure::internal(format!("stored business hours: {why:?}")))?;
    Ok(hours.is_open(now))
}

fn view(tx: &mut TenantTx, agent: Id<Agent>) -> Result<AgentHours, Failure> {
    let business_hours = match chats::hours(tx, agent)? {
        Some(row) => Some(HoursView { hours: spans(&row)?, timezone: row.timezone }),
        None => None,
    };
    Ok(AgentHours { agent_id: agent, business_hours })
}

/// The hours of an agent.
///
/// # Errors
/// 404.
pub async fn get(app: &App, tenant: Tenant, agent: Id<Agent>) -> Result<AgentHours, Failure> {
    app.of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            agents::find(tx, agent)?;
            view(tx, agent)
        })
        .await
}

/// Sets the business hours of an agent. They survive changes of the agent.
///
/// # Errors
/// 404; 400 naming the field that is wrong.
pub async fn set(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    agent: Id<Agent>,
    body: HoursView,
) -> Result<AgentHours, Failure> {
    read(&body.timezone, &body.hours).map_err(|wrong| match wrong {
        WrongHours::Timezone => Failure::field("timezone", "must be an IANA name of a time zone"),
        WrongHours::Time(at, name) => {
            Failure::field(&format!("hours[{at}].{name}"), "must be a time of day, HH:MM")
        }
        WrongHours::Empty(at) => Failure::field(&format!("hours[{at}].to"), "must not be equal to from"),
    })?;
    let row = HoursRow { agent, timezone: body.timezone, hours: json!(body.hours) };
    change(app, trace, tenant, agent, move |tx| Ok(chats::set_hours(&mut tx.of(tenant), &row)?)).await
}

/// Removes the business hours: the agent accepts new chats at any time.
///
/// # Errors
/// 404.
pub async fn remove(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    agent: Id<Agent>,
) -> Result<AgentHours, Failure> {
    change(app, trace, tenant, agent, move |tx| Ok(chats::remove_hours(&mut tx.of(tenant), agent)?)).await
}

async fn change(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    agent: Id<Agent>,
    mut work: impl FnMut(&mut Tx<'_>) -> Result<(), Failure> + Send + 'static,
) -> Result<AgentHours, Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            agents::find_for_update(tx, agent)?;
            work(tx)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &agent.to_string())?;
            view(tx, agent)
        })
        .await
}

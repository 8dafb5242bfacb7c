//! Phone numbers of a workspace.

use api::error_codes::{AGENT_NOT_INBOUND, NUMBER_AGENT_NOT_CALL, NUMBER_AGENT_NOT_PUBLISHED};
use api::numbers::Number as NumberView;
use config::Telephony;
use domain::agent::{Channel, Status};
use domain::call::Direction;
use domain::compliance::{Series, read_own_number};
use domain::ids::{Agent, Id, Number};
use domain::tenant::Tenant;
use domain::topic::Topic;
use serde_json::json;
use store::numbers::{self, NumberRow};
use store::{DbError, Store};

use super::operator_log::{self, Trace};
use super::{App, Failure, access, actions, agents, changes};

/// A number as clients see it.
pub fn view(row: NumberRow) -> NumberView {
    NumberView {
        id: row.id,
        country: "IN",
        r#type: if row.number.as_bytes().get(3).is_some_and(|first| *first >= b'6') {
            "mobile"
        } else {
            "landline"
        },
        series: Series::of(&row.number),
        number: row.number,
        status: row.status,
        voice_enabled: true,
        sms_enabled: false,
        inbound_agent_id: row.inbound_agent.map(|agent| agent.to_string()),
        carrier: row.carrier,
    }
}

/// Every active number of the workspace.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<NumberView>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            Ok(numbers::list(tx)?.into_iter().map(view).collect())
        })
        .await
}

/// Whether the settings have a carrier of this name.
fn check_carrier(app: &App, carrier: Option<&str>) -> Result<(), Failure> {
    let Some(name) = carrier else { return Ok(()) };
    let known = app.config.telephony.carriers();
    if known.contains(&name) {
        return Ok(());
    }
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(Failure::field("carrier", format!("must be a carrier of telephony.sip.trunks; there are: {known}")))
}

/// Carriers that active numbers name and the settings do not have, each with how many numbers do: calls from these are
/// refused. Empty where no real carrier is dialled.
pub async fn unknown_carriers(store: &Store, telephony: &Telephony) -> Result<Vec<(String, i64)>, DbError> {
    if telephony.carriers().is_empty() {
        return Ok(Vec::new());
    }
    let mut named = store.read(numbers::carriers).await?;
    named.retain(|(carrier, _)| !telephony.carriers().contains(&carrier.as_str()));
    Ok(named)
}

/// Gives a workspace a number, whose calls go out on a carrier of the settings.
pub async fn create(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    number: String,
    carrier: Option<String>,
) -> Result<NumberView, Failure> {
    let context = app.context();
    check_carrier(app, carrier.as_deref())?;
    let Some(number) = read_own_number(&number) else {
        return Err(Failure::field(
            "number",
            "must be an Indian (+91) number: mobile, landline, or of the 140 or 160 series",
        ));
    };
    let id = context.ids.make();
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            if !numbers::insert(tx, id, &number, carrier.as_deref(), context.now)? {
                return Err(Failure::conflict(
                    "number belongs to a workspace already; release it there first",
                ));
            }
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            let carrier = carrier.clone();
            Ok(view(NumberRow {
                id,
                number: number.clone(),
                status: "active".into(),
                inbound_agent: None,
                carrier,
            }))
        })
        .await
}

/// Sets the carrier that calls from a number go out on; `None` for the first one of the settings. Calls that are placed
/// already stay with theirs.
pub async fn set_carrier(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    id: Id<Number>,
    carrier: Option<String>,
) -> Result<NumberView, Failure> {
    let context = app.context();
    check_carrier(app, carrier.as_deref())?;
    app.of(tenant)
        .tx(move |tx| {
            let row = numbers::set_carrier(tx, id, carrier.as_deref())?
                .ok_or_else(|| Failure::not_found("number"))?;
            changes::note(tx, context.now, Topic::Numbers, id)?;
            actions::changed(tx, &(), &json!({"carrier": carrier}));
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            Ok(view(row))
        })
        .await
}

/// Sets the agent that answers calls to a number; `None` stops answering
/// (docs/contract/numbers.md#answering-agent).
pub async fn set_inbound_agent(
    app: &App,
    tenant: Tenant,
    id: Id<Number>,
    agent: Option<String>,
) -> Result<NumberView, Failure> {
    let now = app.clock.now();
    app.store
        .tx(move |tx| {
            changes::note(&mut tx.of(tenant), now, Topic::Numbers, id)?;
            let row = numbers::get(&mut tx.of(tenant), id)?.ok_or_else(|| Failure::not_found("number"))?;
            let agent = match &agent {
                Some(text) => {
                    let agent = text.parse::<Id<Agent>>().map_err(|_| Failure::not_found("agent"))?;
                    let row = agents::find_for_update(&mut tx.of(tenant), agent)?;
                    check_inbound(&row)?;
                    Some(agent)
                }
                None => None,
            };
            let answering = |agent: Option<Id<Agent>>| json!({"inboundAgentId": agent});
            actions::changed(tx, &answering(row.inbound_agent), &answering(agent));
            numbers::set_inbound_agent(&mut tx.of(tenant), id, agent)?
                .map(view)
                .ok_or_else(|| Failure::not_found("number"))
        })
        .await
}

/// Whether an agent can answer calls to a number: published, a call agent, inbound, in this order
/// (docs/contract/numbers.md#answering-agent).
pub fn check_inbound(row: &store::agents::AgentRow) -> Result<(), Failure> {
    if row.status != Status::Active {
        return Err(Failure::plain(NUMBER_AGENT_NOT_PUBLISHED));
    }
    if row.channel != Channel::Call {
        return Err(Failure::plain(NUMBER_AGENT_NOT_CALL));
    }
    if row.direction != Direction::Inbound {
        return Err(Failure::plain(AGENT_NOT_INBOUND));
    }
    Ok(())
}

/// Campaigns that a refusal names.
const NAMED: i64 = 20;

/// Takes a number away from which no campaign calls.
pub async fn release(app: &App, trace: Trace, tenant: Tenant, id: Id<Number>) -> Result<NumberView, Failure> {
    let context = app.context();
    app.store
        .tx(move |tx| {
            let known = numbers::get_for_update(&mut tx.of(tenant), id)?
                .ok_or_else(|| Failure::not_found("number"))?;
            let campaigns = store::campaigns::calling_from(&mut tx.of(tenant), &known.number, NAMED)?;
            if let Some(first) = campaigns.first() {
                let ids: Vec<_> = campaigns.iter().map(|campaign| campaign.id).collect();
                let message = format!(
                    "the campaign {} calls from this number; choose another number for the campaign first",
                    first.id
                );
                return Err(Failure::conflict(message).with_meta(json!({"campaignIds": ids})));
            }
            let row = numbers::release(&mut tx.of(tenant), id, context.now)?
                .ok_or_else(|| Failure::not_found("number"))?;
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            Ok(view(row))
        })
        .await
}

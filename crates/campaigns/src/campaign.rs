//! Campaigns: their settings and status (docs/contract/campaigns.md#settings, #status).

use std::collections::HashMap;

use api::campaigns::{
    CallerId as CallerIdView, CallingList, Campaign as CampaignView, CampaignChange, CampaignPlace,
    NewCampaign, Settings as SettingsView, SettingsChange,
};
use api::error_codes as codes;
use app::agents::{check_outbound, find_for_update as find_agent, flow_readiness};
use app::calls::{OwnNumber, own_number, pack};
use app::{App, Context, Failure, access, actions, bell, topics};
use domain::actor::Actor;
use domain::agent::Status as AgentStatus;
use domain::campaign::settings::{Move, change_status, is_email};
use domain::campaign::{CallerId, DayTime, Settings, Status, Tally};
use domain::ids::{Agent, Campaign, Id};
use domain::tenant::Tenant;
use domain::time::{Timestamp, time_zone};
use serde_json::json;
use store::campaigns::list::{self as lists, ListState};
use store::campaigns::progress::{self, ProgressRow};
use store::campaigns::{self, CampaignRow};
use store::{TenantTx, Tx, numbers};

use super::preflight::lacking_ids;
use super::{find, find_for_update, finish, retries, run, save};

/// Most campaigns of a workspace (docs/contract/campaigns.md#limits).
pub const MAX_CAMPAIGNS: i64 = 5_000;

/// The counters of a list that its campaign shows.
pub(crate) fn totals(rows: &Tally) -> CallingList {
    CallingList { total: rows.total, valid: rows.total - rows.invalid, invalid: rows.invalid }
}

/// A campaign in the form of the API, without fields of other rooms.
pub fn view(row: CampaignRow, progress: Option<&ProgressRow>) -> CampaignView {
    let settings = row.settings;
    let caller_ids = settings
        .caller_ids
        .into_iter()
        .map(|own| CallerIdView { number: own.number, daily_cap: own.daily_cap })
        .collect();
    CampaignView {
        id: row.id,
        name: row.name,
        channel: row.channel,
        workflow_type: row.workflow_type,
        dlt_template_ref: row.dlt_template_ref,
        agent_id: row.agent,
        status: row.status,
        settings: SettingsView {
            from_number: settings.from_number,
            timezone: settings.timezone,
            start_at: settings.start_at,
            end_at: settings.end_at,
            daily_from: settings.daily_from.map(|at| at.to_string()),
            daily_to: settings.daily_to.map(|at| at.to_string()),
            retry_count: settings.retry_count,
            cooldown_minutes: settings.cooldown_minutes,
            email_notifications: settings.email_notifications,
            caller_ids,
            max_concurrent_calls: settings.max_concurrent_calls,
        },
        chatapp: None,
        livemode: None,
        calling_list: progress.filter(|known| known.list > 0).map(|known| totals(&known.rows)),
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

/// The same with its counters.
pub fn told(tx: &mut Tx<'_>, row: CampaignRow) -> Result<CampaignView, Failure> {
    let known = progress::get(&mut tx.of(row.workspace), row.id)?;
    Ok(view(row, known.as_ref()))
}

/// `GET /v1/campaigns`: all of them, newest first.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<CampaignView>, Failure> {
    app.store
        .read(move |tx| {
            let known: HashMap<Id<Campaign>, ProgressRow> =
                progress::list_all(&mut tx.of(tenant))?.into_iter().map(|row| (row.campaign, row)).collect();
            let rows = campaigns::list_all(&mut tx.of(tenant))?;
            Ok(rows
                .into_iter()
                .map(|row| (known.get(&row.id), row))
                .map(|(known, row)| view(row, known))
                .collect())
        })
        .await
}

/// `GET /v1/campaigns/{id}`.
pub async fn get(app: &App, tenant: Tenant, id: Id<Campaign>) -> Result<CampaignView, Failure> {
    app.of(tenant)
        .read(move |tx| {
            let row = find(tx, id)?;
            told(tx, row)
        })
        .await
}

/// The workspace of a campaign, for the operator.
pub async fn place(app: &App, id: Id<Campaign>) -> Result<CampaignPlace, Failure> {
    let row = app.store.read(move |tx| campaigns::find(tx, id)).await?;
    let row = row.ok_or_else(|| Failure::not_found("campaign"))?;
    Ok(CampaignPlace { id: row.id, workspace_id: row.workspace, name: row.name, status: row.status })
}

/// `POST /v1/campaigns`: a draft.
pub async fn create(app: &App, tenant: Tenant, body: NewCampaign) -> Result<CampaignView, Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            check_channel(&body)?;
            let row = draft(tx, &context, &body, Settings::default())?;
            campaigns::insert(tx, &row)?;
            actions::about(tx, row.id);
            let made = view(row, None);
            actions::changed(tx, &(), &made);
            Ok(made)
        })
        .await
}

/// A new campaign on any channel, validated and not stored. `settings` are the defaults before the body's.
///
/// # Errors
/// 409 `campaign_limit`, and the errors of the body.
pub fn draft(
    tx: &mut TenantTx,
    context: &Context,
    body: &NewCampaign,
    mut settings: Settings,
) -> Result<CampaignRow, Failure> {
    let tenant = tx.tenant();
    if campaigns::at_least(tx, MAX_CAMPAIGNS)? {
        return Err(Failure::plain(codes::CAMPAIGN_LIMIT));
    }
    let agent = match &body.agent_id {
        Some(agent) => Some(usable(tx, agent, &body.channel)?),
        None => None,
    };
    if let Some(change) = &body.settings {
        apply(tx, &mut settings, change)?;
    }
    Ok(CampaignRow {
        id: context.ids.make(),
        workspace: tenant,
        name: body.name.clone(),
        channel: body.channel.clone(),
        workflow_type: body.workflow_type.as_str().into(),
        dlt_template_ref: body.dlt_template_ref.clone(),
        agent,
        status: Status::Draft,
        settings,
        list: 0,
        newest_list: 0,
        streams: 0,
        created_at: context.now,
        updated_at: context.now,
        started_at: None,
        completed_at: None,
        trace: None,
        version: 0,
    })
}

/// The channel of a new campaign, and the settings that only another channel has. Campaigns on the messaging channel
/// are created by the room of that channel.
fn check_channel(body: &NewCampaign) -> Result<(), Failure> {
    match body.channel.as_str() {
        "voice" if body.chatapp.is_none() => Ok(()),
        "voice" => Err(unexpected()),
        _ => Err(Failure::plain(codes::CHANNEL_NOT_SUPPORTED).with_meta(json!({"field": "channel"}))),
    }
}

fn unexpected() -> Failure {
    Failure::plain(codes::CHATAPP_CONFIG_UNEXPECTED).with_meta(json!({"field": "chatapp"}))
}

/// An agent that can talk in a campaign on a channel, held until the transaction ends.
fn usable(tx: &mut TenantTx, text: &str, channel: &str) -> Result<Id<Agent>, Failure> {
    let none = || {
        Failure::new(
            codes::AGENT_NOT_PUBLISHED,
            "agentId must be a published agent; set its status to active first",
        )
    };
    let id = text.parse::<Id<Agent>>().map_err(|_| none())?;
    let row = match find_agent(tx, id) {
        Err(failure) if failure.error == codes::NOT_FOUND => return Err(none()),
        found => found?,
    };
    if channel == "voice" {
        check_outbound(&row)?;
    } else if row.status != AgentStatus::Active {
        return Err(none());
    }
    Ok(id)
}

/// `PUT /v1/campaigns/{id}` of a voice campaign.
pub async fn update(
    app: &App,
    tenant: Tenant,
    id: Id<Campaign>,
    body: CampaignChange,
) -> Result<CampaignView, Failure> {
    let env = app.call_env();
    let context = env.context.clone();
    app.of(tenant)
        .tx(move |tx| {
            let mut row = find_for_update(tx, id)?;
            if body.chatapp.is_some() {
                return Err(unexpected());
            }
            let retries = (row.settings.retry_count, row.settings.cooldown_minutes);
            change(tx, &context, &mut row, &body)?;
            save(tx, &row)?;
            if retries != (row.settings.retry_count, row.settings.cooldown_minutes) {
                retries::changed(tx, &env, &row)?;
            }
            if row.status == Status::Active {
                // Its hours, its ceiling or its numbers may have changed.
                look_again(tx, &context, &row)?;
            }
            told(tx, row)
        })
        .await
}

/// Applies a body to a locked row of any channel; the caller saves it.
///
/// # Errors
/// Errors of the body.
pub fn change(
    tx: &mut Tx<'_>,
    context: &Context,
    row: &mut CampaignRow,
    body: &CampaignChange,
) -> Result<(), Failure> {
    let before = view(row.clone(), None);
    if let Some(asked) = &body.agent_id
        && *asked != row.agent.map(|agent| agent.to_string())
    {
        let first = asked.as_ref().filter(|_| row.agent.is_none() && row.status == Status::Draft);
        let Some(agent) = first else {
            let message = "agentId cannot change once the campaign has an agent or is published; create another \
                           campaign";
            return Err(Failure::conflict(message).with_meta(json!({"field": "agentId"})));
        };
        row.agent = Some(usable(&mut tx.of(row.workspace), agent, &row.channel)?);
    }
    if let Some(change) = &body.settings {
        apply(&mut tx.of(row.workspace), &mut row.settings, change)?;
    }
    if let Some(name) = &body.name {
        row.name.clone_from(name);
    }
    if let Some(reference) = &body.dlt_template_ref {
        row.dlt_template_ref.clone_from(reference);
    }
    row.updated_at = context.now;
    actions::changed(tx, &before, &view(row.clone(), None));
    Ok(())
}

fn look_again(tx: &mut Tx<'_>, context: &Context, row: &CampaignRow) -> Result<(), Failure> {
    progress::look_at(&mut tx.of(row.workspace), row.id, context.now)?;
    tx.wake(topics::DIALLER);
    Ok(())
}

/// Writes the given settings, after checking each; those that are absent stay.
fn apply(tx: &mut TenantTx, settings: &mut Settings, change: &SettingsChange) -> Result<(), Failure> {
    if let Some(asked) = &change.from_number {
        settings.from_number = match asked {
            Some(number) => Some(owned(tx, number, "settings.fromNumber")?),
            None => None,
        };
    }
    if let Some(asked) = &change.timezone {
        let known = |name: &String| {
            time_zone(name).ok_or_else(|| {
                Failure::field("settings.timezone", "must be an IANA time zone such as Asia/Kolkata")
            })
        };
        settings.timezone = asked.as_ref().map(known).transpose()?;
    }
    settings.start_at = change.start_at.unwrap_or(settings.start_at);
    settings.end_at = change.end_at.unwrap_or(settings.end_at);
    if let Some(asked) = &change.daily_from {
        settings.daily_from = day_time(asked.as_deref(), "settings.dailyFrom", "00:00 to 23:59")?;
        if settings.daily_from == Some(DayTime::END) {
            return Err(Failure::field("settings.dailyFrom", "must be a time of day HH:MM, 00:00 to 23:59"));
        }
    }
    if let Some(asked) = &change.daily_to {
        settings.daily_to = day_time(asked.as_deref(), "settings.dailyTo", "00:01 to 24:00")?;
    }
    settings.retry_count = change.retry_count.unwrap_or(settings.retry_count);
    settings.cooldown_minutes = change.cooldown_minutes.unwrap_or(settings.cooldown_minutes);
    if let Some(addresses) = &change.email_notifications {
        settings.email_notifications = emails(addresses)?;
    }
    if let Some(asked) = &change.caller_ids {
        settings.caller_ids = caller_ids(tx, asked)?;
    }
    settings.max_concurrent_calls = change.max_concurrent_calls.unwrap_or(settings.max_concurrent_calls);
    settings.check().map_err(|(field, must)| Failure::field(&format!("settings.{field}"), must))
}

fn day_time(text: Option<&str>, field: &str, span: &str) -> Result<Option<DayTime>, Failure> {
    text.map(|text| {
        DayTime::parse(text)
            .ok_or_else(|| Failure::field(field, format!("must be a time of day HH:MM, {span}")))
    })
    .transpose()
}

/// Trimmed addresses, each once.
fn emails(given: &[String]) -> Result<Vec<String>, Failure> {
    let mut addresses: Vec<String> = Vec::with_capacity(given.len());
    for (place, text) in given.iter().enumerate() {
        let text = text.trim();
        if !is_email(text) {
            let field = format!("settings.emailNotifications[{place}]");
            return Err(Failure::field(&field, "must be an e-mail address"));
        }
        if !addresses.iter().any(|known| known.eq_ignore_ascii_case(text)) {
            addresses.push(text.to_owned());
        }
    }
    Ok(addresses)
}

fn caller_ids(tx: &mut TenantTx, given: &[CallerIdView]) -> Result<Vec<CallerId>, Failure> {
    let mut own: Vec<CallerId> = Vec::with_capacity(given.len());
    for (place, asked) in given.iter().enumerate() {
        let field = format!("settings.callerIds[{place}].number");
        let number = owned(tx, &asked.number, &field)?;
        if own.iter().any(|known| known.number == number) {
            return Err(Failure::field(&field, "must be unique in the list"));
        }
        own.push(CallerId { number, daily_cap: asked.daily_cap });
    }
    Ok(own)
}

/// An active number of the workspace as it is stored, held against its release until the transaction ends.
fn owned(tx: &mut TenantTx, text: &str, field: &str) -> Result<String, Failure> {
    let not_owned = || {
        Failure::new(
            codes::FROM_NUMBER_NOT_OWNED,
            format!("{field} must be an active number of the workspace"),
        )
        .with_meta(json!({"field": field}))
    };
    let OwnNumber::Owned(number) = own_number(tx, Some(text))? else { return Err(not_owned()) };
    if numbers::lock(tx, std::slice::from_ref(&number))?.is_empty() {
        return Err(not_owned());
    }
    Ok(number)
}

/// `POST /v1/campaigns/{id}/status`.
pub async fn set_status(
    app: &App,
    (tenant, by): (Tenant, Actor),
    id: Id<Campaign>,
    to: Status,
) -> Result<CampaignView, Failure> {
    let env = app.call_env();
    let context = env.context.clone();
    app.of(tenant)
        .tx(move |tx| {
            let mut row = find_for_update(tx, id)?;
            let moved = change_status(row.status, to).map_err(Failure::conflict)?;
            if moved == Move::Stays {
                return told(tx, row);
            }
            if moved == Move::Publish {
                can_talk(tx, &row)?;
                row.started_at.get_or_insert(context.now);
                row.trace = tx.trace();
            }
            status_changed(tx, row.status, to);
            row.status = to;
            row.updated_at = context.now;
            match moved {
                Move::Publish => {
                    bell::launched(tx, id, by)?;
                    look_again(tx, &context, &row)?;
                }
                Move::Complete => finish::on_request(tx, &env, &mut row)?,
                Move::Pause | Move::Unpublish | Move::Archive | Move::Stays => {
                    progress::rest(tx, id)?;
                }
            }
            if moved != Move::Publish {
                run::end_all(tx, id, context.now)?;
            }
            save(tx, &row)?;
            told(tx, row)
        })
        .await
}

/// Says in the log of actions where a campaign goes.
pub fn status_changed(tx: &mut Tx<'_>, from: Status, to: Status) {
    actions::changed(tx, &json!({"status": from.as_str()}), &json!({"status": to.as_str()}));
}

/// Whether the agent of a campaign is published, an outbound call agent, and its flow can run.
fn can_talk(tx: &mut TenantTx, row: &CampaignRow) -> Result<(), Failure> {
    let none = || {
        Failure::new(
            codes::AGENT_NOT_PUBLISHED,
            "the campaign has no agent; set agentId to a published one while it is a draft",
        )
    };
    let agent = find_agent(tx, row.agent.ok_or_else(none)?)?;
    check_outbound(&agent)?;
    flow_readiness(tx, &agent)?;
    let (workspace, pack) = (access::workspace(tx)?, pack(tx, &agent)?);
    match lacking_ids(row, &workspace, &agent, &pack).first() {
        Some(problem) => {
            let meta = json!({"field": problem.field(), "blockReason": problem.code()});
            Err(Failure::new(codes::DLT_REQUIRED, problem.message()).with_meta(meta))
        }
        None => Ok(()),
    }
}

/// `DELETE /v1/campaigns/{id}`: one that is not active. Its calls are kept.
pub async fn delete(app: &App, tenant: Tenant, id: Id<Campaign>) -> Result<(), Failure> {
    let now = app.clock.now();
    app.of(tenant)
        .tx(move |tx| {
            let row = find_for_update(tx, id)?;
            if row.status == Status::Active {
                return Err(Failure::conflict("the campaign is active; pause it before deleting it"));
            }
            lists::give_up(tx, id)?;
            store::campaigns::staged::discard_all(tx, id)?;
            retire(tx, &row, now)?;
            tx.wake(topics::LISTS);
            actions::changed(tx, &json!({"name": row.name}), &());
            Ok(campaigns::delete(tx, id, now)?)
        })
        .await
}

/// Schedules the deletion of the current list, in batches.
pub(crate) fn retire(tx: &mut Tx<'_>, row: &CampaignRow, now: Timestamp) -> Result<(), Failure> {
    if row.list == 0 {
        return Ok(());
    }
    let old = ListState {
        campaign: row.id,
        list: row.list,
        workspace: row.workspace,
        staged: false,
        length: 0,
        valid: 0,
        bytes: 0,
        flow: None,
        touched_at: now,
    };
    Ok(lists::add_list(tx, &old)?)
}

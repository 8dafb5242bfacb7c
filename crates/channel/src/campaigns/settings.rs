//! Campaigns on the channel over the API: create, update, publish, read
//! (docs/contract/campaigns.md#campaigns-on-the-messaging-channel).

use std::collections::HashMap;

use ::campaigns::campaign::{self as common, told};
use ::campaigns::sends_messages;
use ::campaigns::{find, find_for_update};
use api::campaigns::{
    Campaign as View, CampaignChange, CampaignPreflight, CampaignStatusChange, Chatapp, ChatappSettings,
    NewCampaign,
};
use api::error_codes as codes;
use api::scopes::{CHATAPP_READ, CHATAPP_WRITE};
use app::access::{self, Caller, feature_on};
use app::{App, Context, Failure, bell, topics};
use domain::campaign::settings::{Move, change_status};
use domain::campaign::{DayTime, Settings, Status};
use domain::channel::campaign::{DEFAULT_RATE, Mapped, Mapping, OptInPolicy, PauseReason, check_mapping};
use domain::channel::template::TemplateRef;
use domain::channel::{Category, Template};
use domain::ids::{Campaign, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::json;
use store::campaigns::CampaignRow;
use store::channel_campaigns::{self, BlockRow};
use store::{TenantTx, Tx, channel_accounts, workspaces};

use super::preflight::{self, Accepted};
use super::{block, block_for_update, people, sending, stats};
use crate::accounts::not_connected;
use crate::numbers::{Number, Which, sending_number};
use crate::templates;

/// The default sending hours.
const FROM: &str = "09:00";
const TO: &str = "21:00";

fn view(block: BlockRow) -> Chatapp {
    Chatapp {
        template_id: block.template,
        param_mapping: block.param_mapping,
        opt_in_policy: OptInPolicy::parse(&block.opt_in_policy).unwrap_or(OptInPolicy::Require),
        phone_number_id: block.phone_number_id,
        rate_per_minute: block.rate,
        paused_reason: block.paused_reason.as_deref().and_then(PauseReason::parse),
        launched_at: block.launched_at,
        finished_at: block.finished_at,
        stats: None,
        report: None,
    }
}

/// A campaign with its block, for those who may see it.
fn shown(caller: &Caller, mut campaign: View, block: BlockRow) -> View {
    campaign.chatapp = caller.has(CHATAPP_READ).then(|| view(block));
    campaign
}

/// Whether a campaign sends messages, and the scope that it needs then: `chatapp:write` for a change, `chatapp:read` for
/// its list.
///
/// # Errors
/// 404; 403 `api_scope_missing`.
pub async fn is_of_channel(
    app: &App,
    caller: &Caller,
    id: Id<Campaign>,
    writes: bool,
) -> Result<bool, Failure> {
    let tenant = caller.tenant();
    let row = app.of(tenant).read(move |tx| find(tx, id)).await?;
    if !sends_messages(&row) {
        return Ok(false);
    }
    caller.need(if writes { CHATAPP_WRITE } else { CHATAPP_READ })?;
    Ok(true)
}

/// `GET /v1/campaigns`.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<View>, Failure> {
    let tenant = caller.tenant();
    let mut all = common::list(app, tenant).await?;
    if caller.has(CHATAPP_READ) && all.iter().any(|campaign| campaign.channel == "chatapp") {
        let blocks = app.of(tenant).read(channel_campaigns::all).await?;
        let mut blocks: HashMap<_, _> = blocks.into_iter().map(|block| (block.campaign, block)).collect();
        for campaign in &mut all {
            campaign.chatapp = blocks.remove(&campaign.id).map(view);
        }
    }
    Ok(all)
}

/// `GET /v1/campaigns/{id}`, with its figures.
///
/// # Errors
/// 404.
pub async fn get(app: &App, caller: &Caller, id: Id<Campaign>) -> Result<View, Failure> {
    let (tenant, caller) = (caller.tenant(), caller.clone());
    app.of(tenant)
        .read_long(move |tx| {
            let row = find(tx, id)?;
            let sends = sends_messages(&row);
            let campaign = told(tx, row)?;
            if !sends || !caller.has(CHATAPP_READ) {
                return Ok(campaign);
            }
            let mut campaign = shown(&caller, campaign, block(tx, id)?);
            if let Some(chatapp) = &mut campaign.chatapp {
                chatapp.stats = Some(stats::of(tx, id)?.0);
            }
            Ok(campaign)
        })
        .await
}

/// `POST /v1/campaigns` on any channel. A test key validates only.
///
/// # Errors
/// 403 `feature_disabled`, `api_scope_missing`; 409 `chatapp_not_connected`; 422 `phone_number_required`; what is wrong
/// with the body.
pub async fn create(app: &App, caller: &Caller, body: NewCampaign) -> Result<View, Failure> {
    let tenant = caller.tenant();
    let test = caller.mode() == Mode::Test;
    if body.channel != "chatapp" {
        if test {
            return Err(read_only());
        }
        return common::create(app, tenant, body).await;
    }
    caller.need(CHATAPP_WRITE)?;
    let (context, caller) = (app.context(), caller.clone());
    app.store
        .tx(move |tx| {
            need_feature(&mut tx.of(tenant))?;
            let given = body
                .chatapp
                .as_ref()
                .ok_or_else(|| Failure::field("chatapp", "is required for the channel chatapp"))?;
            if channel_accounts::get(&mut tx.of(tenant))?.is_none() {
                return Err(not_connected());
            }
            let hours = body.settings.as_ref();
            let settings = Settings {
                daily_from: hours
                    .is_none_or(|hours| hours.daily_from.is_none())
                    .then(|| DayTime::parse(FROM))
                    .flatten(),
                daily_to: hours
                    .is_none_or(|hours| hours.daily_to.is_none())
                    .then(|| DayTime::parse(TO))
                    .flatten(),
                ..Settings::default()
            };
            let row = common::draft(&mut tx.of(tenant), &context, &body, settings)?;
            let mut block = BlockRow {
                campaign: row.id,
                workspace: tenant,
                template: template_of(&mut tx.of(tenant), given)?.id,
                param_mapping: json!({}),
                opt_in_policy: String::new(),
                phone_number_id: None,
                sends_from: None,
                rate: DEFAULT_RATE,
                paused_reason: None,
                category: None,
                quality_accepted: false,
                marketing_accepted: false,
                launched_at: None,
                finished_at: None,
                used: 0,
                next_at: None,
                counted_from: context.now,
                list_at: context.now,
            };
            apply(&mut tx.of(tenant), &mut block, given)?;
            line(&mut tx.of(tenant), &block)?;
            let mut campaign = shown(&caller, common::view(row.clone(), None), block.clone());
            if test {
                campaign.livemode = Some(false);
                return Ok(campaign);
            }
            store::campaigns::insert(tx, &row)?;
            channel_campaigns::insert(tx, &block)?;
            Ok(campaign)
        })
        .await
}

fn read_only() -> Failure {
    Failure::new(codes::TEST_MODE_READ_ONLY, "a test key cannot change this; use a live key")
}

fn need_feature(tx: &mut TenantTx) -> Result<(), Failure> {
    let workspace = access::workspace(tx)?;
    if feature_on(&workspace, "chatappCampaigns") && feature_on(&workspace, "chatappChannel") {
        return Ok(());
    }
    Err(Failure::new(
        codes::FEATURE_DISABLED,
        "campaigns on the messaging channel are off for this workspace; ask the operator to switch them on",
    ))
}

fn template_of(tx: &mut TenantTx, given: &ChatappSettings) -> Result<Template, Failure> {
    let text =
        given.template_id.as_deref().ok_or_else(|| Failure::field("chatapp.templateId", "is required"))?;
    let id = text.parse().map_err(|_| Failure::plain(codes::TEMPLATE_NOT_FOUND))?;
    templates::find(tx, &TemplateRef::Id(id))
}

/// Writes the given settings into a block, after checking each.
fn apply(tx: &mut TenantTx, block: &mut BlockRow, given: &ChatappSettings) -> Result<(), Failure> {
    if given.template_id.is_some() {
        let template = template_of(tx, given)?;
        // One that is gone, with the account that had it, may be replaced: otherwise the campaign could not go on.
        if block.launched_at.is_some()
            && template.id != block.template
            && store::channel_templates::get(tx, block.template)?.is_some()
        {
            return Err(
                Failure::plain(codes::CAMPAIGN_LAUNCHED).with_meta(json!({"field": "chatapp.templateId"}))
            );
        }
        block.template = template.id;
    }
    let template = templates::find(tx, &TemplateRef::Id(block.template))?;
    if let Some(mapping) = &given.param_mapping {
        let mapping: Mapping = mapping
            .iter()
            .map(|(key, param)| {
                (key.clone(), Mapped { source: param.source.as_str().to_owned(), value: param.value.clone() })
            })
            .collect();
        let wrong = |key: &str, must: &str| Failure::field(&format!("chatapp.paramMapping.{key}"), must);
        check_mapping(&mapping).map_err(|(key, must)| wrong(&key, must))?;
        people::check_fit(&template, &mapping).map_err(|(key, must)| wrong(&key, must))?;
        block.param_mapping =
            serde_json::to_value(&mapping).map_err(|why| Failure::internal(why.to_string()))?;
    } else if given.template_id.is_some() {
        // Another template: what was mapped for the one before must fit it. A draft may be without values yet.
        let mapping = people::mapping(block)?;
        if !mapping.is_empty() {
            people::check_fit(&template, &mapping).map_err(|(key, must)| {
                Failure::field("chatapp.paramMapping", format!("must fit the new template: {key} {must}"))
            })?;
        }
    }
    if let Some(number) = &given.phone_number_id {
        if let Some(number) = number
            && channel_accounts::number_at_provider(tx, number)?.is_none()
        {
            return Err(Failure::field(
                "chatapp.phoneNumberId",
                "must be a business number of the workspace, see GET /v1/chatapp/numbers",
            ));
        }
        block.phone_number_id.clone_from(number);
    }
    block.rate = given.rate_per_minute.unwrap_or(block.rate);
    let marketing = template.category == Category::Marketing;
    if let Some(policy) = given.opt_in_policy {
        let rule = workspaces::get(tx)?.is_none_or(|workspace| workspace.marketing_opt_in_rule);
        if policy == OptInPolicy::SkipCheck && marketing && rule {
            let must =
                "must be require for a marketing template: the workspace's marketing opt-in rule is on";
            return Err(Failure::field("chatapp.optInPolicy", must));
        }
        block.opt_in_policy = policy.as_str().to_owned();
    } else if block.opt_in_policy.is_empty() {
        let policy = if marketing { OptInPolicy::Require } else { OptInPolicy::SkipCheck };
        block.opt_in_policy = policy.as_str().to_owned();
    }
    Ok(())
}

/// The number that a campaign sends from.
///
/// # Errors
/// 409 `chatapp_not_connected`, 422 `phone_number_required`.
fn line(tx: &mut TenantTx, block: &BlockRow) -> Result<Number, Failure> {
    let number = match &block.phone_number_id {
        Some(number) => number.clone(),
        None => {
            let numbers = channel_accounts::numbers(tx)?;
            match (numbers.iter().find(|number| number.is_default), numbers.as_slice()) {
                (Some(number), _) | (None, [number]) => number.phone_number_id.clone(),
                (None, []) => return Err(not_connected()),
                (None, _) => return Err(Failure::plain(codes::PHONE_NUMBER_REQUIRED)),
            }
        }
    };
    sending_number(tx, Which::Provider(&number))
}

/// The same where a campaign that has none is not refused but blocked by its preflight.
fn line_or_none(tx: &mut TenantTx, block: &BlockRow) -> Result<Option<Number>, Failure> {
    match line(tx, block) {
        Ok(line) => Ok(Some(line)),
        Err(failure) if failure.error == codes::CHATAPP_NOT_CONNECTED => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// `PUT /v1/campaigns/{id}` of a campaign on the channel.
///
/// # Errors
/// 404; 409 `campaign_launched` for another template once it was published; what is wrong with the body.
pub async fn update(
    app: &App,
    caller: &Caller,
    id: Id<Campaign>,
    body: CampaignChange,
) -> Result<View, Failure> {
    let (context, tenant, caller) = (app.context(), caller.tenant(), caller.clone());
    app.of(tenant)
        .tx(move |tx| {
            let mut row = find_for_update(tx, id)?;
            let mut block = block_for_update(tx, id)?;
            common::change(tx, &context, &mut row, &body)?;
            if let Some(given) = &body.chatapp {
                apply(tx, &mut block, given)?;
            }
            ::campaigns::save(tx, &row)?;
            if row.status == Status::Active {
                // Its hours or its pace may be others now.
                block.next_at = Some(context.now);
                tx.wake(topics::CHANNEL_CAMPAIGNS);
            }
            channel_campaigns::save(tx, &block)?;
            let campaign = told(tx, row)?;
            Ok(shown(&caller, campaign, block))
        })
        .await
}

/// `POST /v1/campaigns/{id}/status` of a campaign on the channel. With a test key the checks and the preflight run and
/// nothing changes.
///
/// # Errors
/// 403 `test_mode_read_only` for everything but publishing with a test key; 409 `preflight_blocked` with `meta.report`,
/// or where the status may not go; 403 `feature_disabled`; 422 without a published agent where one is attached.
pub async fn set_status(
    app: &App,
    caller: &Caller,
    id: Id<Campaign>,
    body: CampaignStatusChange,
) -> Result<View, Failure> {
    let (context, tenant) = (app.context(), caller.tenant());
    let test = caller.mode() == Mode::Test;
    if test && body.status != Status::Active {
        return Err(read_only());
    }
    let accepted =
        Accepted { quality: body.acknowledge_quality, marketing: body.acknowledge_recategorisation };
    // The long look at the list is not taken while others wait for the store.
    let (looker, prices) = (context.clone(), app.config.channel_prices.clone());
    let report = app
        .of(tenant)
        .read_long(move |tx| {
            let row = find(tx, id)?;
            if body.status != Status::Active
                || change_status(row.status, body.status).map_err(Failure::conflict)? != Move::Publish
            {
                return Ok(None);
            }
            need_feature(tx)?;
            can_answer(tx, &row)?;
            let block = block(tx, id)?;
            let line = line_or_none(tx, &block)?;
            let found = preflight::look(tx, &looker, &row, &block, line.as_ref(), accepted, &prices)?;
            if found.passes {
                return Ok(Some(found));
            }
            Err(Failure::plain(codes::PREFLIGHT_BLOCKED).with_meta(json!({"report": found})))
        })
        .await?;
    let (mails, to, caller) = (app.mailer.is_some(), body.status, caller.clone());
    let mut shown = app
        .of(tenant)
        .tx(move |tx| {
            let mut row = find_for_update(tx, id)?;
            let moved = change_status(row.status, to).map_err(Failure::conflict)?;
            let mut block = block_for_update(tx, id)?;
            if test {
                row.status = to;
                let campaign = told(tx, row)?;
                let campaign = shown(&caller, campaign, block);
                return Ok::<_, Failure>(View { livemode: Some(false), ..campaign });
            }
            common::status_changed(tx, row.status, to);
            match moved {
                Move::Stays => {}
                Move::Publish => {
                    bell::launched(tx, id, caller.actor())?;
                    publish(tx, &context, &mut row, &mut block, accepted)?;
                    ::campaigns::save(tx, &row)?;
                    channel_campaigns::save(tx, &block)?;
                }
                Move::Complete => {
                    row.updated_at = context.now;
                    sending::end(mails, tx, &context, &mut row, block.clone(), None)?;
                    block.finished_at = Some(context.now);
                }
                Move::Pause | Move::Unpublish | Move::Archive => {
                    row.status = to;
                    row.updated_at = context.now;
                    block.next_at = None;
                    ::campaigns::save(tx, &row)?;
                    channel_campaigns::save(tx, &block)?;
                }
            }
            let campaign = told(tx, row)?;
            Ok(shown(&caller, campaign, block))
        })
        .await?;
    if let Some(chatapp) = &mut shown.chatapp {
        chatapp.report = report;
    }
    Ok(shown)
}

/// `POST /v1/campaigns/{id}/preflight` of a campaign on any channel.
///
/// # Errors
/// 404; 403 `api_scope_missing`; 422 `phone_number_required`.
pub async fn preflight(app: &App, caller: &Caller, id: Id<Campaign>) -> Result<CampaignPreflight, Failure> {
    let tenant = caller.tenant();
    if !is_of_channel(app, caller, id, false).await? {
        let found = ::campaigns::preflight::of_campaign(app, tenant, id).await?;
        return Ok(CampaignPreflight::Voice(Box::new(found)));
    }
    let (context, prices) = (app.context(), app.config.channel_prices.clone());
    app.of(tenant)
        .read_long(move |tx| {
            let (row, block) = (find(tx, id)?, block(tx, id)?);
            let line = line_or_none(tx, &block)?;
            let accepted = Accepted::default();
            let found = preflight::look(tx, &context, &row, &block, line.as_ref(), accepted, &prices)?;
            Ok(CampaignPreflight::Chatapp(Box::new(found)))
        })
        .await
}

fn can_answer(tx: &mut Tx<'_>, row: &CampaignRow) -> Result<(), Failure> {
    let Some(agent) = row.agent else { return Ok(()) };
    let known = store::agents::get(&mut tx.of(row.workspace), agent)?;
    if known.is_some_and(|agent| agent.status == domain::agent::Status::Active) {
        return Ok(());
    }
    Err(Failure::new(
        codes::AGENT_NOT_PUBLISHED,
        "agentId must be a published agent before the campaign can be published",
    ))
}

fn publish(
    tx: &mut Tx<'_>,
    context: &Context,
    row: &mut CampaignRow,
    block: &mut BlockRow,
    accepted: Accepted,
) -> Result<(), Failure> {
    let now: Timestamp = context.now;
    let template = templates::find(&mut tx.of(row.workspace), &TemplateRef::Id(block.template))?;
    let line = line(&mut tx.of(row.workspace), block)?;
    row.status = Status::Active;
    row.updated_at = now;
    row.started_at.get_or_insert(now);
    row.trace = tx.trace();
    block.launched_at.get_or_insert(now);
    block.sends_from = Some(line.phone_number_id.clone());
    block.quality_accepted = accepted.quality;
    block.marketing_accepted |= accepted.marketing && sending::became_marketing(block, &template);
    // What it was when it was published first: that it became marketing later is seen against it.
    block.category.get_or_insert_with(|| template.category.as_str().to_owned());
    block.paused_reason = None;
    block.counted_from = now;
    block.next_at = Some(now);
    tx.wake(topics::CHANNEL_CAMPAIGNS);
    Ok(())
}

/// `DELETE /v1/campaigns/{id}` of a campaign on the channel.
///
/// # Errors
/// 404; 409 while it is active.
pub async fn delete(app: &App, tenant: Tenant, id: Id<Campaign>) -> Result<(), Failure> {
    common::delete(app, tenant, id).await?;
    Ok(app.of(tenant).tx(move |tx| channel_campaigns::rest(tx, id)).await?)
}

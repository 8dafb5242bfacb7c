//! Attaching streams to campaigns (docs/contract/streams.md#attaching).

use api::data_streams::{AttachedHow, AttachedStream, FedCampaign, NewAttachment, StreamAttachment};
use api::error_codes::{CHATAPP_CAMPAIGN, MAPPING_INCOMPLETE, NOT_FOUND};
use app::{App, Context, Failure, agents, topics};
use campaigns::list::{self, NewRow};
use campaigns::sends_messages;
use domain::campaign::Status as CampaignStatus;
use domain::conversation::is_name;
use domain::ids::{Campaign, DataStream, Id, ListRow, StreamRecord};
use domain::stream::MAX_FIELD_NAME;
use domain::tenant::Tenant;
use domain::time::{DAY, Timestamp};
use serde_json::{Map, Value, json};
use store::campaigns::{CampaignRow, progress};
use store::streams::{self, AttachmentRow, Feed};
use store::{TenantTx, Tx};

use crate::{backfill, find, find_for_update};

fn campaign_for_update(tx: &mut TenantTx, id: Id<Campaign>) -> Result<CampaignRow, Failure> {
    store::campaigns::get_for_update(tx, id)?.ok_or_else(|| Failure::not_found("campaign"))
}

fn how(row: &AttachmentRow) -> AttachedHow {
    AttachedHow {
        variable_mapping: row.variable_mapping.clone(),
        backfill_days: row.backfill_days,
        transliterate: row.transliterate,
        attached_at: row.attached_at,
    }
}

/// The campaigns that a stream feeds.
pub(crate) fn of_stream(tx: &mut TenantTx, stream: Id<DataStream>) -> Result<Vec<FedCampaign>, Failure> {
    let fed = |feed: Feed| FedCampaign {
        campaign_id: feed.attachment.campaign,
        how: how(&feed.attachment),
        name: feed.name,
        status: feed.status,
    };
    Ok(streams::feeds(tx, stream)?.into_iter().map(fed).collect())
}

/// `GET /v1/campaigns/{id}/streams`: newest streams first.
///
/// # Errors
/// 404.
pub async fn of_campaign(
    app: &App,
    tenant: Tenant,
    campaign: Id<Campaign>,
) -> Result<Vec<AttachedStream>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            store::campaigns::get(tx, campaign)?.ok_or_else(|| Failure::not_found("campaign"))?;
            let attached = |source: streams::Source| AttachedStream {
                stream_id: source.attachment.stream,
                how: how(&source.attachment),
                name: source.name,
                kind: source.kind,
                status: source.status,
            };
            Ok(streams::sources(tx, campaign)?.into_iter().map(attached).collect())
        })
        .await
}

/// Refuses a mapping whose variables could not be set, or whose fields could not exist.
fn check_mapping(mapping: &Map<String, Value>) -> Result<(), Failure> {
    for (variable, field) in mapping {
        let place = format!("variableMapping.{variable}");
        if !is_name(variable) {
            return Err(Failure::field(
                &place,
                "must have a name of letters, digits and _, of at most 64 characters",
            ));
        }
        let fits = field.as_str().is_some_and(|field| {
            (1..=MAX_FIELD_NAME).contains(&field.chars().count()) && !field.contains('\0')
        });
        if !fits {
            return Err(Failure::field(
                &place,
                format!("must be the name of a field with 1 to {MAX_FIELD_NAME} characters"),
            ));
        }
    }
    Ok(())
}

/// Whether a stream can feed a campaign: it calls, and it is not over.
///
/// # Errors
/// 409 `chatapp_campaign`, 409 `conflict`.
fn check_fed(row: &CampaignRow, now: Timestamp) -> Result<(), Failure> {
    if sends_messages(row) {
        return Err(Failure::new(
            CHATAPP_CAMPAIGN,
            "a data stream cannot be attached to a campaign on the messaging channel",
        ));
    }
    match row.status {
        CampaignStatus::Draft | CampaignStatus::Active | CampaignStatus::Paused
            if row.settings.is_past(now) =>
        {
            Err(Failure::conflict(
                "the campaign is past its end date, so no stream can be attached; change \
                 settings.endAt first",
            ))
        }
        CampaignStatus::Draft | CampaignStatus::Active | CampaignStatus::Paused => Ok(()),
        CampaignStatus::Completed | CampaignStatus::Archived => Err(Failure::conflict(
            "the campaign is over, so no stream can be attached; create another campaign",
        )),
    }
}

/// `PUT /v1/campaigns/{id}/streams/{streamId}`. A repeat changes the settings.
///
/// # Errors
/// 400 names the field, 400 `missing_required_variables` with `meta.missing`, 404, 409 for a campaign that cannot be
/// fed.
pub async fn attach(
    app: &App,
    tenant: Tenant,
    (campaign, stream): (Id<Campaign>, Id<DataStream>),
    body: NewAttachment,
) -> Result<StreamAttachment, Failure> {
    check_mapping(&body.variable_mapping)?;
    let context = app.context();
    let since = (body.backfill_days > 0).then(|| context.now.plus(-body.backfill_days * DAY));
    let found = match since {
        None => None,
        Some(since) => {
            app.of(tenant).read(move |tx| find(tx, stream)).await?;
            backfill::range(app, tenant, stream, since).await?
        }
    };
    let (attached, begun) = app
        .store
        .tx(move |tx| {
            let source = find_for_update(&mut tx.of(tenant), stream)?;
            let fed = campaign_for_update(&mut tx.of(tenant), campaign)?;
            check_fed(&fed, context.now)?;
            let agent = match fed.agent {
                Some(agent) => store::agents::get(&mut tx.of(tenant), agent)?,
                None => None,
            };
            if let Some(agent) = &agent {
                covers(&agents::required_variables(&mut tx.of(tenant), agent)?, &body.variable_mapping)?;
            }
            let attachment = AttachmentRow {
                stream,
                campaign,
                workspace: tenant,
                variable_mapping: body.variable_mapping.clone(),
                backfill_days: body.backfill_days,
                transliterate: body.transliterate,
                attached_at: context.now,
            };
            if streams::attach(tx, &attachment)? {
                store::campaigns::count_stream(&mut tx.of(tenant), campaign, 1)?;
            }
            // Records stored since the query are earlier ones, too: later ones are put on the list at once. The clock
            // of another node may be ahead, and its records then have later ids than one that is made here.
            let earlier = match since {
                None => None,
                Some(since) => {
                    let first = found.map_or_else(|| Id::new(since.0, 0), |(first, _)| first);
                    let made = context.ids.make::<StreamRecord>();
                    let newest = streams::newest(&mut tx.of(tenant), stream)?;
                    Some((first, newest.map_or(made, |newest| newest.max(made))))
                }
            };
            let begun = streams::begin_backfill(tx, &attachment, earlier, context.now)?;
            if begun.is_some() {
                tx.wake(topics::STREAMS);
            }
            let feed = streams::feeds(&mut tx.of(tenant), stream)?
                .into_iter()
                .find(|feed| feed.attachment.campaign == campaign)
                .ok_or_else(|| Failure::internal(format!("{campaign} is not fed by {stream}")))?;
            let attached = AttachedStream {
                stream_id: stream,
                name: source.name,
                kind: source.kind,
                status: source.status,
                how: how(&feed.attachment),
            };
            Ok::<_, Failure>((attached, begun))
        })
        .await?;
    let backfilled = match begun {
        Some(begun) => backfill::work(app, begun).await?,
        None => 0,
    };
    Ok(StreamAttachment { campaign_id: campaign, stream: attached, backfilled })
}

fn covers(required: &[String], mapping: &Map<String, Value>) -> Result<(), Failure> {
    let missing: Vec<&String> = required.iter().filter(|name| !mapping.contains_key(*name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|name| name.as_str()).collect();
    let message =
        format!("variableMapping must have variables that the agent's flow requires: {}", names.join(", "));
    Err(Failure::new(MAPPING_INCOMPLETE, message).with_meta(json!({"missing": missing})))
}

/// Puts people on the list of a campaign. A deleted one accepts nobody.
pub(crate) fn put_on_list(
    tx: &mut Tx<'_>,
    context: &Context,
    attachment: &AttachmentRow,
    rows: Vec<NewRow>,
) -> Result<Vec<Option<Id<ListRow>>>, Failure> {
    let nobody = vec![None; rows.len()];
    match list::add(&mut tx.of(attachment.workspace), context, attachment.campaign, rows) {
        Ok(added) => Ok(added.rows),
        Err(failure) if failure.error == NOT_FOUND => Ok(nobody),
        Err(failure) => Err(failure),
    }
}

/// `DELETE /v1/campaigns/{id}/streams/{streamId}`: people that it put on the list stay there.
///
/// # Errors
/// 404.
pub async fn detach(
    app: &App,
    tenant: Tenant,
    campaign: Id<Campaign>,
    stream: Id<DataStream>,
) -> Result<(), Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            find_for_update(tx, stream)?;
            if detach_in(tx, &context, stream, campaign)? {
                return Ok(());
            }
            Err(Failure::not_found("attached data stream"))
        })
        .await
}

/// Detaches a stream that the caller has locked; returns whether it was attached. A campaign that no stream feeds any
/// more may be complete, so the dialler checks it.
pub(crate) fn detach_in(
    tx: &mut TenantTx,
    context: &Context,
    stream: Id<DataStream>,
    campaign: Id<Campaign>,
) -> Result<bool, Failure> {
    let Some(fed) = store::campaigns::get_for_update(tx, campaign)? else { return Ok(false) };
    if !streams::detach(tx, stream, campaign)? {
        return Ok(false);
    }
    store::campaigns::count_stream(tx, campaign, -1)?;
    if fed.status == CampaignStatus::Active {
        progress::look_at(tx, campaign, context.now)?;
        tx.wake(topics::DIALLER);
    }
    Ok(true)
}

//! Which campaigns a stream feeds (docs/contract/streams.md#attaching).

use api::data_streams::{AttachedHow, AttachedStream, FedCampaign, NewAttachment, StreamAttachment};
use api::error_codes::{MAPPING_INCOMPLETE, NOT_FOUND};
use app::{App, Context, Failure, agents, topics};
use campaigns::list::{self, NewRow};
use domain::campaign::Status as CampaignStatus;
use domain::conversation::is_name;
use domain::ids::{Campaign, DataStream, Id, ListRow, StreamRecord};
use domain::phone::Phone;
use domain::stream::{Arrival, MAX_FIELD_NAME, read};
use domain::tenant::Tenant;
use domain::time::DAY;
use serde_json::{Map, Value, json};
use store::Tx;
use store::campaigns::progress;
use store::streams::{self, AttachmentRow, Feed, RecordRow, StreamRow};

use crate::find_for_update;
use crate::people::{self, Person};

/// Earlier records that one attachment puts on a list at most: the newest of them.
const MAX_BACKFILL: i64 = 50_000;
/// Earlier records that are put on a list in one step.
const STEP: i64 = 500;

fn campaign_for_update(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Campaign>,
) -> Result<store::campaigns::CampaignRow, Failure> {
    store::campaigns::get_for_update(tx, tenant, id)?.ok_or_else(|| Failure::not_found("campaign"))
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
///
/// # Errors
/// Those of the store.
pub(crate) fn of_stream(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    stream: Id<DataStream>,
) -> Result<Vec<FedCampaign>, Failure> {
    let fed = |feed: Feed| FedCampaign {
        campaign_id: feed.attachment.campaign,
        how: how(&feed.attachment),
        name: feed.name,
        status: feed.status,
    };
    Ok(streams::feeds(tx, tenant, stream)?.into_iter().map(fed).collect())
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
    app.store
        .read(move |tx| {
            store::campaigns::get(tx, tenant, campaign)?.ok_or_else(|| Failure::not_found("campaign"))?;
            let attached = |source: streams::Source| AttachedStream {
                stream_id: source.attachment.stream,
                how: how(&source.attachment),
                name: source.name,
                kind: source.kind,
                status: source.status,
            };
            Ok(streams::sources(tx, tenant, campaign)?.into_iter().map(attached).collect())
        })
        .await
}

/// Refuses a mapping whose variables could not be set, or whose fields could not be there.
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
                format!("must be the name of a field, of 1 to {MAX_FIELD_NAME} characters"),
            ));
        }
    }
    Ok(())
}

/// `PUT /v1/campaigns/{id}/streams/{streamId}`. A repeat changes how it is attached.
///
/// # Errors
/// 400 names the field, 400 `missing_required_variables` with `meta.missing`, 404.
pub async fn attach(
    app: &App,
    tenant: Tenant,
    (campaign, stream): (Id<Campaign>, Id<DataStream>),
    body: NewAttachment,
) -> Result<StreamAttachment, Failure> {
    check_mapping(&body.variable_mapping)?;
    let context = app.context();
    app.store
        .tx_alone(move |tx| {
            let source = find_for_update(tx, tenant, stream)?;
            let fed = campaign_for_update(tx, tenant, campaign)?;
            let agent = match fed.agent {
                Some(agent) => store::agents::get(tx, tenant, agent)?,
                None => None,
            };
            if let Some(agent) = &agent {
                covers(&agents::required_variables(tx, tenant, agent)?, &body.variable_mapping)?;
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
                store::campaigns::count_stream(tx, tenant, campaign, 1)?;
            }
            let feed = streams::feeds(tx, tenant, stream)?
                .into_iter()
                .find(|feed| feed.attachment.campaign == campaign)
                .ok_or_else(|| Failure::internal(format!("{campaign} is not fed by {stream}")))?;
            let backfilled = backfill(tx, &context, &source, &feed, body.backfill_days)?;
            Ok(StreamAttachment {
                campaign_id: campaign,
                stream: AttachedStream {
                    stream_id: stream,
                    name: source.name,
                    kind: source.kind,
                    status: source.status,
                    how: how(&feed.attachment),
                },
                backfilled,
            })
        })
        .await
}

fn covers(required: &[String], mapping: &Map<String, Value>) -> Result<(), Failure> {
    let missing: Vec<&String> = required.iter().filter(|name| !mapping.contains_key(*name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|name| name.as_str()).collect();
    let message = format!("variableMapping lacks {}, which the agent needs", names.join(", "));
    Err(Failure::new(MAPPING_INCOMPLETE, message).with_meta(json!({"missing": missing})))
}

/// Puts records of the last days on the list; how many got on it.
fn backfill(
    tx: &mut Tx<'_>,
    context: &Context,
    stream: &StreamRow,
    feed: &Feed,
    days: i64,
) -> Result<i64, Failure> {
    if days == 0 {
        return Ok(0);
    }
    let (tenant, since) = (stream.workspace, context.now.plus(-days * DAY));
    let Some(first) = streams::first_of_newest(tx, tenant, stream.id, since, MAX_BACKFILL)? else {
        return Ok(0);
    };
    let (mut from, mut backfilled): ((Id<StreamRecord>, bool), i64) = ((first, true), 0);
    loop {
        let page = streams::callable(tx, tenant, stream.id, from, STEP)?;
        let rows: Vec<NewRow> = page.iter().filter_map(|record| row_of(stream, feed, record)).collect();
        let added = put_on_list(tx, context, &feed.attachment, rows)?;
        backfilled += added.iter().flatten().count() as i64;
        match page.last() {
            Some(last) if page.len() as i64 == STEP => from = (last.id, false),
            _ => return Ok(backfilled),
        }
    }
}

/// A stored record as a person on a list.
fn row_of(stream: &StreamRow, feed: &Feed, record: &RecordRow) -> Option<NewRow> {
    let fields = record.payload.clone()?;
    let phone = Phone::normalize(record.phone.as_deref()?).ok()?;
    let arrival = Arrival { fields, cut: false, own_id: None };
    let reading = read(&arrival, &stream.field_map, stream.config.country());
    let person = Person {
        phone,
        name: record.name.as_deref(),
        name_fields: &reading.name_fields,
        fields: &arrival.fields,
    };
    Some(people::row(&person, feed))
}

/// Puts people on the list of a campaign. One that was deleted at this moment takes nobody.
pub(crate) fn put_on_list(
    tx: &mut Tx<'_>,
    context: &Context,
    attachment: &AttachmentRow,
    rows: Vec<NewRow>,
) -> Result<Vec<Option<Id<ListRow>>>, Failure> {
    let nobody = vec![None; rows.len()];
    match list::add(tx, context, attachment.workspace, attachment.campaign, rows) {
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
    app.store
        .tx(move |tx| {
            find_for_update(tx, tenant, stream)?;
            if detach_in(tx, &context, tenant, stream, campaign)? {
                return Ok(());
            }
            Err(Failure::not_found("attached data stream"))
        })
        .await
}

/// Detaches a stream that the caller holds; whether it was attached. A campaign that no stream feeds any more may
/// be complete, so the dialler looks at it.
pub(crate) fn detach_in(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    stream: Id<DataStream>,
    campaign: Id<Campaign>,
) -> Result<bool, Failure> {
    let Some(fed) = store::campaigns::get_for_update(tx, tenant, campaign)? else { return Ok(false) };
    if !streams::detach(tx, tenant, stream, campaign)? {
        return Ok(false);
    }
    store::campaigns::count_stream(tx, tenant, campaign, -1)?;
    if fed.status == CampaignStatus::Active {
        progress::look_at(tx, tenant, campaign, context.now)?;
        tx.wake(topics::DIALLER);
    }
    Ok(true)
}

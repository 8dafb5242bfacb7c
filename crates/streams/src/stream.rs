//! Streams: creating, changing and deleting them, their tokens (docs/contract/streams.md#streams).

use api::data_streams::{
    CreatedDataStream, DataStream as StreamView, DataStreamChange, DataStreamDetail, DataStreamToken,
    MAX_STREAMS, NewDataStream, WantedStatus,
};
use api::error_codes::{PLAN_FEATURE_LOCKED, STREAM_LIMIT};
use app::{App, Context, Failure, access, actions, topics};
use domain::ids::{DataStream, Id, Integration};
use domain::stream::{Config, FieldMap, Kind, Status};
use domain::tenant::Tenant;
use serde_json::{Map, Value};
use store::streams::{self, StreamRow};
use store::{TenantTx, Tx, integrations, polls};

use crate::{attachments, find, find_for_update, missing};

/// Random characters of a token: 160 bits.
const TOKEN_LENGTH: usize = 32;
/// The plan feature that CRMs and shops need.
const CRM: &str = "crmIntegrations";

/// The URL for records with a stream's token.
fn ingest_url(app: &App, id: Id<DataStream>) -> String {
    format!("{}/ingest/streams/{id}", app.config.public_url.trim_end_matches('/'))
}

fn view(row: StreamRow, url: String) -> StreamView {
    StreamView {
        id: row.id,
        name: row.name,
        kind: row.kind,
        field_map: row.field_map.into(),
        config: row.config.fields().clone(),
        integration_id: row.integration,
        status: row.status,
        last_error: row.last_error,
        ingest_url: (row.kind == Kind::Webhook).then_some(url),
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

/// A new token and its keyed hash.
fn new_token(app: &App) -> (String, String) {
    let token = format!("dsk_{}", app.ids.random_text(TOKEN_LENGTH));
    let hash = app.keyring.hash(&token);
    (token, hash)
}

fn check_config(kind: Kind, given: &Map<String, Value>) -> Result<Config, Failure> {
    Config::check(kind, given).map_err(|why| Failure::field(&format!("config.{}", why.field), why.must))
}

/// Refuses a kind that the workspace's plan does not include.
fn check_plan(tx: &mut TenantTx, kind: Kind) -> Result<(), Failure> {
    if !kind.needs_crm() || access::feature_on(&access::workspace(tx)?, CRM) {
        return Ok(());
    }
    Err(Failure::new(
        PLAN_FEATURE_LOCKED,
        format!("the feature {CRM} is off for this workspace; ask the operator to switch it on"),
    ))
}

/// The account of a stream of this kind, locked against deletion.
fn check_integration(
    tx: &mut TenantTx,
    kind: Kind,
    given: Option<&str>,
) -> Result<Option<Id<Integration>>, Failure> {
    let wrong = |must: String| Failure::field("integrationId", must);
    match (kind.provider(), given) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(wrong(format!("must be left out for a stream of the kind {kind}"))),
        (Some(provider), None) => {
            Err(wrong(format!("is required: the connected {provider} account of the stream")))
        }
        (Some(provider), Some(text)) => {
            let id: Option<Id<Integration>> = text.parse().ok();
            let known = match id {
                Some(id) => integrations::provider_of(tx, id)?,
                None => None,
            };
            if known == Some(provider) {
                return Ok(id);
            }
            Err(wrong(format!("must be a connected {provider} account of this workspace")))
        }
    }
}

/// The source as one text: if it changes, a stream starts again.
fn source_of(row: &StreamRow) -> String {
    let named = ["spreadsheetId", "sheetName", "lifecycleStage", "object", "module"];
    let parts = named.iter().filter_map(|name| Some(format!("{name}={}", row.config.fields().get(*name)?)));
    parts.collect::<Vec<_>>().join("\n")
}

/// Updates the polling of a stream.
fn point(tx: &mut Tx<'_>, context: &Context, row: &StreamRow) -> Result<(), Failure> {
    let Some(integration) = row.integration else { return Ok(()) };
    let existing = row.config.fields().get("includeExisting") == Some(&Value::Bool(true));
    polls::point(&mut tx.of(row.workspace), row.id, (integration, &source_of(row)), existing, context.now)?;
    tx.wake(topics::STREAMS);
    Ok(())
}

fn detail(tx: &mut Tx<'_>, row: StreamRow, url: String) -> Result<DataStreamDetail, Failure> {
    let campaigns = attachments::of_stream(&mut tx.of(row.workspace), row.id)?;
    Ok(DataStreamDetail { stream: view(row, url), campaigns })
}

/// `GET /v1/data-streams`: all of them, newest first.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<StreamView>, Failure> {
    let rows = app.of(tenant).read(streams::list).await?;
    Ok(rows.into_iter().map(|row| (ingest_url(app, row.id), row)).map(|(url, row)| view(row, url)).collect())
}

/// `GET /v1/data-streams/{id}`.
///
/// # Errors
/// 404.
pub async fn get(app: &App, tenant: Tenant, id: Id<DataStream>) -> Result<DataStreamDetail, Failure> {
    let url = ingest_url(app, id);
    app.of(tenant)
        .read(move |tx| {
            let row = find(tx, id)?;
            detail(tx, row, url.clone())
        })
        .await
}

/// `POST /v1/data-streams`. The answer is the only place that ever shows the token.
///
/// # Errors
/// 400 names the field, 403 `plan_feature_locked`, 409 `stream_limit`.
pub async fn create(app: &App, tenant: Tenant, body: NewDataStream) -> Result<CreatedDataStream, Failure> {
    let context = app.context();
    let config = body.config.clone().unwrap_or_default();
    let token = (body.kind == Kind::Webhook).then(|| new_token(app));
    let id = context.ids.make();
    let url = ingest_url(app, id);
    app.of(tenant)
        .tx(move |tx| {
            check_plan(tx, body.kind)?;
            let integration = check_integration(tx, body.kind, body.integration_id.as_deref())?;
            let row = StreamRow {
                id,
                workspace: tenant,
                name: body.name.clone(),
                kind: body.kind,
                field_map: body.field_map.clone().unwrap_or_default().apply(FieldMap::default()),
                config: check_config(body.kind, &config)?,
                integration,
                status: Status::Active,
                last_error: None,
                created_at: context.now,
                updated_at: context.now,
                version: 0,
            };
            // Holding the workspace makes the count exact.
            access::workspace_for_update(tx)?;
            if streams::count(tx)? >= MAX_STREAMS {
                return Err(Failure::plain(STREAM_LIMIT));
            }
            streams::insert(tx, &row, token.as_ref().map(|(_, hash)| hash.as_str()))?;
            point(tx, &context, &row)?;
            let token = token.as_ref().map(|(token, _)| token.clone());
            actions::about(tx, row.id);
            let stream = view(row, url.clone());
            actions::changed(tx, &(), &stream);
            Ok(CreatedDataStream { stream, token })
        })
        .await
}

/// `PATCH /v1/data-streams/{id}` (docs/contract/streams.md#status).
///
/// # Errors
/// 400 names the field, 403 `plan_feature_locked`, 404.
pub async fn update(
    app: &App,
    tenant: Tenant,
    id: Id<DataStream>,
    change: DataStreamChange,
) -> Result<DataStreamDetail, Failure> {
    let context = app.context();
    let url = ingest_url(app, id);
    app.of(tenant)
        .tx(move |tx| {
            let mut row = find_for_update(tx, id)?;
            let (change, before) = (change.clone(), view(row.clone(), url.clone()));
            row.name = change.name.unwrap_or(row.name);
            if let Some(map) = change.field_map {
                row.field_map = map.apply(row.field_map);
            }
            if let Some(config) = &change.config {
                row.config = check_config(row.kind, &row.config.changed(config))?;
            }
            if let Some(given) = &change.integration_id {
                row.integration = check_integration(tx, row.kind, Some(given))?;
            }
            row.updated_at = context.now;
            match change.status {
                Some(WantedStatus::Active) if row.status != Status::Active => {
                    check_plan(tx, row.kind)?;
                    (row.status, row.last_error) = (Status::Active, None);
                    polls::look_again(tx, id, context.now)?;
                    tx.wake(topics::STREAMS);
                }
                Some(WantedStatus::Paused) => row.status = Status::Paused,
                Some(WantedStatus::Active) | None => {}
            }
            streams::save(tx, &row)?;
            point(tx, &context, &row)?;
            actions::changed(tx, &before, &view(row.clone(), url.clone()));
            detail(tx, row, url.clone())
        })
        .await
}

/// `DELETE /v1/data-streams/{id}`: it is detached from all campaigns, and its records are deleted. People on lists stay
/// there.
///
/// # Errors
/// 404.
pub async fn delete(app: &App, tenant: Tenant, id: Id<DataStream>) -> Result<(), Failure> {
    let context = app.context();
    app.store
        .tx(move |tx| {
            find_for_update(&mut tx.of(tenant), id)?;
            for feed in streams::feeds(&mut tx.of(tenant), id)? {
                attachments::detach_in(&mut tx.of(tenant), &context, id, feed.attachment.campaign)?;
            }
            polls::forget(&mut tx.of(tenant), id)?;
            streams::delete(&mut tx.of(tenant), id, context.now)?;
            Ok(())
        })
        .await
}

/// `POST /v1/data-streams/{id}/rotate-token`: from now on only the new token works.
///
/// # Errors
/// 404, and 409 for a stream of a kind without a token.
pub async fn rotate_token(app: &App, tenant: Tenant, id: Id<DataStream>) -> Result<DataStreamToken, Failure> {
    let (context, (token, hash)) = (app.context(), new_token(app));
    app.of(tenant)
        .tx(move |tx| {
            let row = find_for_update(tx, id)?;
            if row.kind != Kind::Webhook {
                return Err(Failure::conflict(format!(
                    "a stream of the kind {} has no token to replace",
                    row.kind
                )));
            }
            if !streams::set_token(tx, id, &hash, context.now)? {
                return Err(missing());
            }
            actions::changed_fields(tx, &["token"]);
            Ok(())
        })
        .await?;
    Ok(DataStreamToken { id, token, ingest_url: ingest_url(app, id) })
}

/// Stops a stream that cannot be polled, in the transaction of the caller, who has locked it: it imports nothing until
/// a client makes it active again. `why` is shown to clients.
pub fn stop(tx: &mut Tx<'_>, context: &Context, row: &StreamRow, why: &str) -> Result<(), Failure> {
    let row = StreamRow {
        status: Status::Error,
        last_error: Some(why.to_owned()),
        updated_at: context.now,
        ..row.clone()
    };
    Ok(streams::save(tx, &row)?)
}

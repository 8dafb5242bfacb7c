//! Webhook endpoints (docs/contract/webhooks.md#endpoints).

use ::webhooks::purpose;
use api::error_codes;
use api::events::webhooks::TestEvent;
use api::webhooks::{
    CreatedWebhookEndpoint, MAX_ENDPOINTS, NewWebhookEndpoint, WebhookEndpoint as Endpoint,
    WebhookEndpointChange, WebhookStatus,
};
use domain::ids::{Delivery, Event, Id, WebhookEndpoint};
use domain::tenant::{Mode, Tenant};
use serde_json::json;
use store::deliveries;
use store::webhooks::{self, EndpointRow};

use super::events::{self, Audience, emit_sample, known};
use super::{App, Failure, access, actions};

/// Random characters of a signing secret: 200 bits.
const SECRET_LENGTH: usize = 40;

fn view(row: EndpointRow) -> Endpoint {
    Endpoint {
        id: row.id,
        url: row.url,
        events: row.events,
        agent_ids: row.agent_ids,
        description: row.description,
        status: if row.active { WebhookStatus::Active } else { WebhookStatus::Disabled },
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

fn check_url(app: &App, url: &str) -> Result<(), Failure> {
    app.webhooks.client().check_url(url).map(drop).map_err(|why| {
        Failure::new(error_codes::INVALID_WEBHOOK_URL, why.to_string()).with_meta(json!({"field": "url"}))
    })
}

/// The same names, each once, in the order of their first mention.
fn once_each(names: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        if !kept.contains(&name) {
            kept.push(name);
        }
    }
    kept
}

fn new_secret(app: &App, id: Id<WebhookEndpoint>) -> Result<(String, String), Failure> {
    let secret = format!("whsec_{}", app.ids.random_text(SECRET_LENGTH));
    let sealed = app.keyring.seal(&purpose(id), &secret).map_err(Failure::internal)?;
    Ok((secret, sealed))
}

fn missing() -> Failure {
    Failure::not_found("webhook endpoint")
}

/// The endpoints of a workspace, newest first.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<Endpoint>, Failure> {
    let rows = app.of(tenant).read(webhooks::list).await?;
    Ok(rows.into_iter().map(view).collect())
}

pub async fn get(app: &App, tenant: Tenant, id: Id<WebhookEndpoint>) -> Result<Endpoint, Failure> {
    app.of(tenant).read(move |tx| webhooks::get(tx, id)).await?.map(view).ok_or_else(missing)
}

/// Makes an endpoint; the answer is the only place that ever shows its secret. An agent id that names no
/// agent is kept: no event is about it.
pub async fn create(
    app: &App,
    tenant: Tenant,
    body: NewWebhookEndpoint,
) -> Result<CreatedWebhookEndpoint, Failure> {
    check_url(app, &body.url)?;
    let context = app.context();
    let id = context.ids.make();
    let (secret, sealed) = new_secret(app, id)?;
    let row = EndpointRow {
        id,
        url: body.url,
        events: once_each(body.events),
        agent_ids: once_each(body.agent_ids),
        description: body.description,
        active: body.status == WebhookStatus::Active,
        secret: sealed,
        created_at: context.now,
        updated_at: context.now,
    };
    app.of(tenant)
        .tx(move |tx| {
            // Holding the workspace makes the count exact.
            access::workspace_for_update(tx)?;
            if webhooks::count(tx)? >= MAX_ENDPOINTS {
                return Err(Failure::new(
                    error_codes::ENDPOINT_LIMIT,
                    format!(
                        "the workspace has {MAX_ENDPOINTS} webhook endpoints, which is the limit; delete \
                         one first"
                    ),
                ));
            }
            webhooks::insert(tx, &row)?;
            context.webhooks.endpoints_change(tx)?;
            actions::about(tx, row.id);
            let endpoint = view(row.clone());
            actions::changed(tx, &(), &endpoint);
            Ok(CreatedWebhookEndpoint { endpoint, secret: secret.clone() })
        })
        .await
}

/// Updates the fields of the body. Disabling stops pending deliveries; otherwise they go to the new address.
pub async fn update(
    app: &App,
    tenant: Tenant,
    id: Id<WebhookEndpoint>,
    change: WebhookEndpointChange,
) -> Result<Endpoint, Failure> {
    if let Some(url) = &change.url {
        check_url(app, url)?;
    }
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            let mut row = webhooks::get_for_update(tx, id)?.ok_or_else(missing)?;
            let (change, before) = (change.clone(), view(row.clone()));
            let was_active = row.active;
            row.url = change.url.unwrap_or(row.url);
            row.events = change.events.map_or(row.events, once_each);
            row.agent_ids = change.agent_ids.map_or(row.agent_ids, once_each);
            row.description = change.description.unwrap_or(row.description);
            row.active = change.status.map_or(row.active, |status| status == WebhookStatus::Active);
            row.updated_at = context.now;
            webhooks::update(tx, &row)?;
            context.webhooks.endpoints_change(tx)?;
            if was_active && !row.active {
                context.webhooks.stop_deliveries(tx, id);
            }
            let changed = view(row);
            actions::changed(tx, &before, &changed);
            Ok(changed)
        })
        .await
}

/// Deletes an endpoint. Pending deliveries stop; its log is hidden from clients and deleted with age.
pub async fn delete(app: &App, tenant: Tenant, id: Id<WebhookEndpoint>) -> Result<(), Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            if !webhooks::delete(tx, id, context.now)? {
                return Err(missing());
            }
            context.webhooks.endpoints_change(tx)?;
            context.webhooks.stop_deliveries(tx, id);
            Ok(())
        })
        .await
}

/// A new secret, which signs every attempt that begins from now on.
pub async fn rotate_secret(app: &App, tenant: Tenant, id: Id<WebhookEndpoint>) -> Result<String, Failure> {
    let (secret, sealed) = new_secret(app, id)?;
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            if !webhooks::set_secret(tx, id, &sealed, context.now)? {
                return Err(missing());
            }
            context.webhooks.endpoints_change(tx)?;
            actions::changed_fields(tx, &["secret"]);
            Ok(())
        })
        .await?;
    Ok(secret)
}

/// Sends a sample to this endpoint, whatever it subscribes to.
pub async fn test(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    id: Id<WebhookEndpoint>,
    kind: &str,
) -> Result<(Id<Event>, Id<Delivery>), Failure> {
    let (context, kind) = (app.context(), known(kind)?);
    app.of(tenant)
        .tx(move |tx| {
            let row = webhooks::get_for_update(tx, id)?.ok_or_else(missing)?;
            if !row.active {
                return Err(Failure::conflict("the endpoint is disabled; set its status to active first"));
            }
            let sample = match (kind.sample)() {
                events::Event::WebhookTest(_) => events::Event::WebhookTest(TestEvent::of(Some(id))),
                sample => sample,
            };
            let (event, _) = emit_sample(tx, &context, mode, sample, &Audience::Only(id))?;
            Ok((event, deliveries::id_of(event, id)))
        })
        .await
}

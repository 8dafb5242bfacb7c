//! Accounts of external systems (docs/contract/integrations.md#accounts).

use api::integrations::{Integration as View, IntegrationChange, IntegrationPush, MOST, NewIntegration};
use app::operator_log::{self, Trace};
use app::{App, Failure, access, topics};
use domain::ids::{Id, Integration};
use domain::integration::{Provider, PushedCalls, Status};
use domain::tenant::Tenant;
use providers::connectors::Credentials;
use runtime::crypto::Keyring;
use serde_json::{Map, Value};
use store::integrations::{self, IntegrationRow};
use store::{polls, pushes};

/// The purpose that credentials are sealed with.
pub(crate) fn purpose(id: Id<Integration>) -> String {
    format!("integration:{id}")
}

fn view(row: IntegrationRow) -> View {
    View {
        id: row.id,
        provider: row.provider,
        status: row.status,
        last_error: row.last_error,
        push: row.push.map(|calls| IntegrationPush { calls }),
        created_at: row.created_at,
    }
}

fn sealed(
    keyring: &Keyring,
    id: Id<Integration>,
    provider: Provider,
    fields: &Map<String, Value>,
) -> Result<String, Failure> {
    let credentials = Credentials::read(provider, fields)
        .map_err(|why| Failure::field(&format!("credentials.{}", why.field), why.must))?;
    keyring.seal(&purpose(id), &credentials.to_json().to_string()).map_err(Failure::internal)
}

fn pushed(provider: Provider, push: Option<IntegrationPush>) -> Result<Option<PushedCalls>, Failure> {
    if push.is_some() && !provider.takes_calls() {
        return Err(Failure::field("push", "must be left out for this system, which has no contacts"));
    }
    Ok(push.map(|push| push.calls))
}

/// Connects an account.
///
/// # Errors
/// A credential that is missing or wrong; too many accounts.
pub async fn create(app: &App, trace: Trace, tenant: Tenant, body: NewIntegration) -> Result<View, Failure> {
    let context = app.context();
    let id = context.ids.make();
    let row = IntegrationRow {
        id,
        provider: body.provider,
        credentials: sealed(&app.keyring, id, body.provider, &body.credentials)?,
        token: String::new(),
        token_until: None,
        status: Status::Active,
        last_error: None,
        push: pushed(body.provider, body.push)?,
        renewing_until: None,
        created_at: context.now,
        updated_at: context.now,
        version: 0,
    };
    app.of(tenant)
        .tx(move |tx| {
            access::workspace_for_update(tx)?;
            if integrations::count(tx)? >= MOST {
                return Err(Failure::conflict(format!(
                    "the workspace has {MOST} integrations, which is the limit; delete one first"
                )));
            }
            integrations::insert(tx, &row)?;
            operator_log::append(
                tx,
                &context,
                &trace,
                Some(tenant),
                &format!("{} {}", row.id, row.provider),
            )?;
            Ok(view(row.clone()))
        })
        .await
}

/// The accounts of a workspace, newest first.
///
/// # Errors
/// There is no such workspace.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<View>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            Ok(integrations::list(tx)?.into_iter().map(view).collect())
        })
        .await
}

/// Replaces the credentials of an account, which repairs a broken one, or changes which calls are written back.
///
/// # Errors
/// There is no such account; a credential that is missing or wrong; nothing to change.
pub async fn update(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    id: Id<Integration>,
    body: IntegrationChange,
) -> Result<View, Failure> {
    if body.credentials.is_none() && body.push.is_none() {
        return Err(Failure::field("credentials", "is required, unless push is given"));
    }
    let context = app.context();
    let known = app.of(tenant).read(move |tx| integrations::get(tx, id)).await?;
    let provider = known.ok_or_else(|| Failure::not_found("integration"))?.provider;
    let credentials = match &body.credentials {
        Some(fields) => Some(sealed(&app.keyring, id, provider, fields)?),
        None => None,
    };
    let push = match body.push {
        Some(push) => Some(pushed(provider, push)?),
        None => None,
    };
    app.of(tenant)
        .tx(move |tx| {
            let mut row =
                integrations::get_for_update(tx, id)?.ok_or_else(|| Failure::not_found("integration"))?;
            row.push = push.unwrap_or(row.push);
            if let Some(credentials) = &credentials {
                row = IntegrationRow {
                    credentials: credentials.clone(),
                    token: String::new(),
                    token_until: None,
                    status: Status::Active,
                    last_error: None,
                    renewing_until: None,
                    version: row.version + 1,
                    ..row
                };
                polls::look_again_with(tx, id, context.now)?;
                tx.wake(topics::STREAMS);
            }
            row.updated_at = context.now;
            integrations::save(tx, &row)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            Ok(view(row))
        })
        .await
}

/// Disconnects an account. Pending write-backs to it are cancelled.
///
/// # Errors
/// There is no such account; a stream reads with it.
pub async fn delete(app: &App, trace: Trace, tenant: Tenant, id: Id<Integration>) -> Result<(), Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            integrations::get_for_update(tx, id)?.ok_or_else(|| Failure::not_found("integration"))?;
            if polls::uses(tx, id)? {
                return Err(Failure::conflict(
                    "a data stream reads with this integration; delete the stream first",
                ));
            }
            integrations::delete(tx, id)?;
            pushes::forget_integration(tx, id)?;
            app::changes::note(tx, context.now, domain::topic::Topic::Integrations, id)?;
            Ok(operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?)
        })
        .await
}

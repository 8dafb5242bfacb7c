//! Connecting an account (docs/contract/channel.md#connections).

use std::sync::Arc;

use api::channel_accounts::{ChannelConnection as View, NewChannelConnection};
use app::operator_log::{self, Trace};
use app::{App, Failure, access, topics};
use domain::channel::ProviderKind;
use domain::channel::provider::ConnectionStatus;
use domain::ids::{ChannelConnection, Id};
use domain::tenant::Tenant;
use domain::time::{DAY, Timestamp};
use store::channel_accounts::{self, ConnectionRow};

use crate::accounts::{Credentials, opened, purpose};
use crate::campaigns::outcomes::on_account_event;
use crate::events::AccountEvent;
use crate::providers::{failure, provider};
use crate::{numbers, templates};

fn view(app: &App, row: ConnectionRow) -> View {
    View {
        webhook_url: hook(app, row.id),
        id: row.id,
        provider: row.provider,
        status: row.status,
        last_error: row.last_error,
        business_account_id: row.business_account,
        app_id: row.app,
        messaging_tier: row.tier,
        restriction: row.restriction,
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

/// The webhook address that the provider sends notifications to.
fn hook(app: &App, id: Id<ChannelConnection>) -> String {
    format!("{}/chatapp/webhooks/{id}", app.config.public_url.trim_end_matches('/'))
}

fn credentials(body: &NewChannelConnection) -> Result<(String, Credentials), Failure> {
    if body.provider == ProviderKind::Sandbox {
        return Ok(("sandbox".to_owned(), Credentials::default()));
    }
    let need = |field: &str, value: &Option<String>| {
        let value = value.as_deref().map(str::trim).filter(|value| !value.is_empty());
        value.map(str::to_owned).ok_or_else(|| Failure::field(field, "is required for the provider cloud"))
    };
    let id = need("businessAccountId", &body.business_account_id)?;
    if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
        return Err(Failure::field("businessAccountId", "must be the provider's id of the account"));
    }
    let access_token = need("accessToken", &body.access_token)?;
    if !access_token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failure::field(
            "accessToken",
            "must have letters, digits and punctuation only, without spaces",
        ));
    }
    Ok((
        id,
        Credentials {
            access_token,
            app_secret: need("appSecret", &body.app_secret)?,
            verify_token: need("verifyToken", &body.verify_token)?,
        },
    ))
}

/// Connects an account, or replaces its credentials. They are validated first; the former ones stay in force when the
/// provider rejects the new ones.
///
/// # Errors
/// What is missing; 422 `provider_refused`; 503 when the provider does not answer.
pub async fn put(
    app: &Arc<App>,
    trace: Trace,
    tenant: Tenant,
    body: NewChannelConnection,
) -> Result<View, Failure> {
    let (business_account, credentials) = credentials(&body)?;
    let context = app.context();
    let known = app
        .of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            Ok::<_, Failure>(channel_accounts::get(tx)?)
        })
        .await?;
    let id = known.as_ref().map_or_else(|| context.ids.make(), |row| row.id);
    let sealed = serde_json::to_string(&credentials).map_err(|why| Failure::internal(why.to_string()))?;
    let same_account = known
        .as_ref()
        .is_some_and(|row| row.provider == body.provider && row.business_account == business_account);
    let row = ConnectionRow {
        id,
        workspace: tenant,
        provider: body.provider,
        business_account,
        app: body.app_id.clone(),
        credentials: app.keyring.seal(&purpose(id), &sealed).map_err(Failure::internal)?,
        status: ConnectionStatus::Connected,
        last_error: None,
        tier: known.as_ref().filter(|_| same_account).and_then(|row| row.tier.clone()),
        restriction: known.as_ref().filter(|_| same_account).and_then(|row| row.restriction.clone()),
        check_at: context.now.plus(DAY),
        inbox_until: context.now,
        created_at: known.as_ref().map_or(context.now, |row| row.created_at),
        updated_at: context.now,
        version: known.as_ref().map_or(0, |row| row.version + 1),
    };
    let account = opened(&row, credentials.clone());
    let carrier = provider(app, &account);
    carrier.check_credentials(&account).await.map_err(|fault| failure(&fault))?;
    // Stored before the subscription: the provider may verify the address while it is being subscribed.
    store_new(app, &row, known.as_ref()).await?;
    let callback = hook(app, id);
    if let Err(fault) = carrier.subscribe(&account, &callback, &credentials.verify_token).await {
        take_back(app, &row, known).await?;
        return Err(failure(&fault));
    }
    let app_ = app.clone();
    let stored = app
        .of(tenant)
        .tx(move |tx| {
            let current = channel_accounts::get_for_update(tx)?
                .filter(|current| current.version == row.version)
                .ok_or_else(|| {
                    Failure::conflict(
                        "the connection was changed by another request; read it again and repeat this one",
                    )
                })?;
            if !same_account {
                numbers::forget(tx)?;
                templates::forget(tx)?;
            }
            on_account_event(&app_, tx, &AccountEvent::Token { accepted: true })?;
            // Numbers and templates are looked at once the account is there.
            channel_accounts::check_at(tx, context.now)?;
            tx.wake(topics::CHANNEL_NOTIFICATIONS);
            tx.wake(topics::CHANNEL_SENDS);
            operator_log::append(
                tx,
                &context,
                &trace,
                Some(tenant),
                &format!("{} {}", current.id, current.provider),
            )?;
            Ok::<_, Failure>(current)
        })
        .await?;
    Ok(view(app, stored))
}

async fn store_new(app: &App, row: &ConnectionRow, known: Option<&ConnectionRow>) -> Result<(), Failure> {
    let (row, version) = (row.clone(), known.map(|known| known.version));
    app.of(row.workspace)
        .tx(move |tx| {
            access::workspace_for_update(tx)?;
            let current = channel_accounts::get_for_update(tx)?;
            if current.map(|current| current.version) != version {
                return Err(Failure::conflict(
                    "the connection was changed by another request; read it again and repeat this one",
                ));
            }
            match version {
                Some(_) => channel_accounts::save(tx, &row)?,
                None => channel_accounts::insert(tx, &row)?,
            }
            Ok(())
        })
        .await
}

/// Restores the former connection, unless another request has changed it since.
async fn take_back(app: &App, row: &ConnectionRow, known: Option<ConnectionRow>) -> Result<(), Failure> {
    let row = row.clone();
    app.of(row.workspace)
        .tx(move |tx| {
            let current = channel_accounts::get_for_update(tx)?;
            if current.is_none_or(|current| current.version != row.version) {
                return Ok::<_, Failure>(());
            }
            match &known {
                Some(known) => {
                    let former = ConnectionRow { version: row.version + 1, ..known.clone() };
                    channel_accounts::save(tx, &former)?;
                }
                None => channel_accounts::delete(tx, row.id)?,
            }
            Ok(())
        })
        .await
}

/// The connection of a workspace.
///
/// # Errors
/// There is no such workspace, or it has no connection.
pub async fn get(app: &App, tenant: Tenant) -> Result<View, Failure> {
    let row = app
        .of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            channel_accounts::get(tx)?.ok_or_else(|| Failure::not_found("connection"))
        })
        .await?;
    Ok(view(app, row))
}

/// Disconnects an account. Deletes its numbers, its templates, and its queued notifications.
///
/// # Errors
/// There is no such workspace, or it has no connection.
pub async fn delete(app: &Arc<App>, trace: Trace, tenant: Tenant) -> Result<(), Failure> {
    let (app_, context) = (app.clone(), app.context());
    app.of(tenant)
        .tx(move |tx| {
            let row =
                channel_accounts::get_for_update(tx)?.ok_or_else(|| Failure::not_found("connection"))?;
            on_account_event(&app_, tx, &AccountEvent::Disconnected)?;
            channel_accounts::delete(tx, row.id)?;
            Ok(operator_log::append(tx, &context, &trace, Some(tenant), &row.id.to_string())?)
        })
        .await
}

/// When the next daily check is due.
pub(crate) fn tomorrow(now: Timestamp) -> Timestamp {
    now.plus(DAY)
}

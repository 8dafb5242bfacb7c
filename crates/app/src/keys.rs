//! API keys, as the operator makes and revokes them. The full value leaves the service once.

use api::operator::{ApiKey as KeyView, NewApiKey};
use api::scopes;
use domain::ids::{ApiKey, Id};
use domain::tenant::{Mode, Tenant};
use store::keys::{self, KeyRow};

use super::operator_log::{self, Trace};
use super::{App, Failure, access, nudges, scheduled_calls};

/// Random characters of a key: 160 bits.
const SECRET_LENGTH: usize = 32;
/// Of those, how many are shown in the masked prefix.
const SHOWN: usize = 4;

fn view(row: KeyRow, key: Option<String>) -> KeyView {
    KeyView {
        id: row.id,
        name: row.name,
        mode: row.mode,
        scopes: row.scopes.split(' ').map(str::to_owned).collect(),
        prefix: row.prefix,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        created_at: row.created_at,
        key,
    }
}

/// The scopes of a body: `"all"` or a list of names.
fn read_scopes(body: &serde_json::Value) -> Result<String, Failure> {
    let names: Vec<&str> = match body {
        serde_json::Value::Array(names) => names.iter().filter_map(serde_json::Value::as_str).collect(),
        _ => scopes::ALL.iter().map(|scope| scope.0).collect(),
    };
    if let Some(unknown) = names.iter().find(|name| scopes::find(name).is_none()) {
        return Err(Failure::field("scopes", format!("has an unknown scope «{unknown}»")));
    }
    let chosen: Vec<&str> =
        scopes::ALL.iter().map(|scope| scope.0).filter(|name| names.contains(name)).collect();
    Ok(chosen.join(" "))
}

/// Makes a key; the answer is the only place that ever shows its value.
pub async fn create(app: &App, trace: Trace, tenant: Tenant, body: NewApiKey) -> Result<KeyView, Failure> {
    let context = app.context();
    let mode = Mode::parse(&body.mode).ok_or_else(|| Failure::field("mode", "must be one of live, test"))?;
    if body.expires_at.is_some_and(|expiry| expiry <= context.now) {
        return Err(Failure::field("expiresAt", "must lie in the future"));
    }
    let start = format!("{}_{}_", app.config.key_prefix, mode.as_str());
    let secret = context.ids.random_text(SECRET_LENGTH);
    let key = format!("{start}{secret}");
    let row = KeyRow {
        id: context.ids.make(),
        name: body.name,
        mode,
        prefix: format!("{start}{}…", &secret[..SHOWN]),
        scopes: read_scopes(&body.scopes)?,
        expires_at: body.expires_at,
        revoked_at: None,
        created_at: context.now,
    };
    let hash = app.keyring.hash(&key);
    let stored = row.clone();
    app.store
        .tx(move |tx| {
            access::workspace(tx, tenant)?;
            keys::insert(tx, tenant, &stored, &hash)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &stored.id.to_string())?;
            Ok::<_, Failure>(())
        })
        .await?;
    Ok(view(row, Some(key)))
}

/// The keys of a workspace.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<KeyView>, Failure> {
    app.store
        .read(move |tx| {
            access::workspace(tx, tenant)?;
            Ok(keys::list(tx, tenant)?.into_iter().map(|row| view(row, None)).collect())
        })
        .await
}

/// Revokes a key, at once on every node, and cancels what waits in its name; a repeat changes nothing more.
pub async fn revoke(app: &App, trace: Trace, tenant: Tenant, key: Id<ApiKey>) -> Result<KeyView, Failure> {
    let context = app.context();
    let access_changes = app.access_changes();
    let revoked = app
        .store
        .tx(move |tx| {
            access::workspace(tx, tenant)?;
            let row = keys::revoke(tx, tenant, key, context.now)?.ok_or_else(|| Failure::not_found("key"))?;
            access_changes(tx)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &key.to_string())?;
            nudges::revoke_key(tx, &context, tenant, key)?;
            Ok::<_, Failure>(view(row, None))
        })
        .await?;
    scheduled_calls::revoke_key(app, tenant, key).await?;
    Ok(revoked)
}

//! API keys, as the operator makes and revokes them. The full value leaves the service once.

use api::error_codes::{CONFLICT, ROLE_MISSING};
use api::operator::{ApiKey as KeyView, CancelledWork, GRACE_HOURS, NewApiKey, RotateKey};
use api::scopes;
use domain::ids::{ApiKey, Id};
use domain::nearest;
use domain::tenant::{Mode, Role, Tenant};
use domain::time::HOUR;
use store::DbError;
use store::keys::{self, KeyRow, NewValue};

use super::operator_log::{self, Trace};
use super::{App, Failure, access, actions, nudges, scheduled_calls};

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
        previous_valid_until: row.old_until,
        last_used_at: row.last_used_at,
        key,
        cancelled: None,
    }
}

/// The scopes of a body: `"all"` or a list of names.
fn read_scopes(body: &serde_json::Value) -> Result<String, Failure> {
    let names: Vec<&str> = match body {
        serde_json::Value::Array(names) => names.iter().filter_map(serde_json::Value::as_str).collect(),
        _ => scopes::ALL.iter().map(|scope| scope.0).collect(),
    };
    if let Some(unknown) = names.iter().find(|name| scopes::find(name).is_none()) {
        let meant = nearest::hint(unknown, scopes::ALL.iter().map(|scope| scope.0));
        return Err(Failure::field("scopes", format!("has a scope that does not exist: {unknown}{meant}")));
    }
    let chosen: Vec<&str> =
        scopes::ALL.iter().map(|scope| scope.0).filter(|name| names.contains(name)).collect();
    Ok(chosen.join(" "))
}

/// A new value of a key, and the part of it that is shown later.
fn new_value(app: &App, mode: Mode) -> (String, String) {
    let start = format!("{}_{}_", app.config.key_prefix, mode.as_str());
    let secret = app.ids.random_text(SECRET_LENGTH);
    let prefix = format!("{start}{}…", &secret[..SHOWN]);
    (format!("{start}{secret}"), prefix)
}

/// Refuses a member below an owner a key that erases people: who has its value may do what the key may.
fn may_have(role: Option<Role>, scopes: &str) -> Result<(), Failure> {
    let erases = scopes.split(' ').any(|scope| scope == scopes::CONTACTS_ERASE.0);
    if !erases || role.is_none_or(|role| role == Role::Owner) {
        return Ok(());
    }
    let message = format!("a key with {} takes the role owner", scopes::CONTACTS_ERASE.0);
    let meta = serde_json::json!({"role": Role::Owner.as_str()});
    Err(Failure::new(ROLE_MISSING, message).with_meta(meta))
}

/// Creates a key; the answer is the only place that ever shows its value. `role` is that of the member who asks.
///
/// # Errors
/// 400; 403 `role_missing` for a key that erases people.
pub async fn create(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    role: Option<Role>,
    body: NewApiKey,
) -> Result<KeyView, Failure> {
    let context = app.context();
    let mode = Mode::parse(&body.mode).ok_or_else(|| Failure::field("mode", "must be one of live, test"))?;
    if body.expires_at.is_some_and(|expiry| expiry <= context.now) {
        return Err(Failure::field("expiresAt", "must be in the future"));
    }
    let (key, prefix) = new_value(app, mode);
    let row = KeyRow {
        id: context.ids.make(),
        name: body.name,
        mode,
        prefix,
        scopes: read_scopes(&body.scopes)?,
        expires_at: body.expires_at,
        revoked_at: None,
        created_at: context.now,
        old_until: None,
        last_used_at: None,
    };
    may_have(role, &row.scopes)?;
    let hash = app.keyring.hash(&key);
    let stored = row.clone();
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            keys::insert(tx, &stored, &hash)?;
            actions::changed(tx, &(), &view(stored.clone(), None));
            operator_log::append(tx, &context, &trace, Some(tenant), &stored.id.to_string())?;
            Ok::<_, Failure>(())
        })
        .await?;
    Ok(view(row, Some(key)))
}

/// Keys in one transaction.
const USES: usize = 200;

/// Writes when keys were used on this node since the last time.
///
/// # Errors
/// Of the store; these uses are lost then.
pub async fn write_uses(app: &App) -> Result<(), DbError> {
    let used: Vec<_> = app.access.take_uses();
    for used in used.chunks(USES) {
        let used = used.to_vec();
        app.store
            .tx(move |tx| {
                used.iter().try_for_each(|((tenant, key), at)| keys::used(&mut tx.of(*tenant), *key, *at))
            })
            .await?;
    }
    Ok(())
}

/// The keys of a workspace.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<KeyView>, Failure> {
    write_uses(app).await?;
    app.of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            Ok(keys::list(tx)?.into_iter().map(|row| view(row, None)).collect())
        })
        .await
}

/// Rotates a key; the current value works for some hours more. Work that was requested with the key goes on. The answer
/// is the only place that ever shows the new value.
///
/// # Errors
/// 403 `role_missing` for a key that erases people; 404; 409 `conflict` for a key that is revoked or has expired.
pub async fn rotate(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    key: Id<ApiKey>,
    role: Option<Role>,
    body: RotateKey,
) -> Result<KeyView, Failure> {
    let context = app.context();
    let access_changes = app.access_changes();
    let found = app.of(tenant).read(keys::list).await?;
    let row = found.iter().find(|row| row.id == key).ok_or_else(|| Failure::not_found("key"))?;
    may_have(role, &row.scopes)?;
    let mode = row.mode;
    let (value, prefix) = new_value(app, mode);
    let grace = body.grace_hours.unwrap_or(GRACE_HOURS);
    let new = NewValue {
        hash: app.keyring.hash(&value),
        prefix,
        old_until: (grace > 0).then(|| context.now.plus(grace * HOUR)),
    };
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            let Some(row) = keys::rotate(tx, key, &new, context.now)? else {
                return Err(Failure::new(CONFLICT, "the key is revoked or has expired; create another one"));
            };
            access_changes(tx)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &key.to_string())?;
            Ok::<_, Failure>(view(row, Some(value.clone())))
        })
        .await
}

/// Revokes a key, at once on every node, and cancels its pending work; a repeat changes nothing more. The answer counts
/// that work.
pub async fn revoke(app: &App, trace: Trace, tenant: Tenant, key: Id<ApiKey>) -> Result<KeyView, Failure> {
    let context = app.context();
    let access_changes = app.access_changes();
    let (mut revoked, waiting) = app
        .of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            let row = keys::revoke(tx, key, context.now)?.ok_or_else(|| Failure::not_found("key"))?;
            access_changes(tx)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &key.to_string())?;
            let waiting = store::nudges::count_of_key(tx, key)?;
            nudges::revoke_key(tx, &context, key)?;
            Ok::<_, Failure>((view(row, None), waiting))
        })
        .await?;
    let calls = scheduled_calls::revoke_key(app, tenant, key).await?;
    revoked.cancelled = Some(CancelledWork { nudges: waiting, scheduled_calls: calls });
    Ok(revoked)
}

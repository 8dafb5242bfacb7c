//! Connecting an account (docs/contract/channel.md#connections).

use std::collections::HashMap;
use std::sync::Arc;

use api::channel_accounts::{ChannelConnection as View, NewChannelConnection};
use api::error_codes::CHATAPP_NOT_CONNECTED;
use app::gather::{Gather, Gathers};
use app::operator_log::{self, Trace};
use app::{App, Failure, access, topics};
use domain::channel::provider::ConnectionStatus;
use domain::channel::{Account, Effect, Fault, ProviderError, ProviderKind};
use domain::ids::{ChannelConnection, Id};
use domain::secret::Secret;
use domain::tenant::Tenant;
use domain::time::{DAY, Timestamp};
use runtime::crypto::Keyring;
use serde::{Deserialize, Serialize};
use store::channel_accounts::{self, ConnectionRow};
use store::{Tx, channel_inbox};

use crate::facts::{self, Fact};
use crate::providers::{failure, provider};

/// Callers that share one read at most, and such reads at once.
const ASKED: usize = 1_024;
const READS: usize = 2;

/// What an account is opened with.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Credentials {
    access_token: String,
    app_secret: String,
    verify_token: String,
}

impl Credentials {
    pub(crate) fn of(keyring: &Keyring, row: &ConnectionRow) -> Result<Self, Failure> {
        keyring
            .open_sealed(&purpose(row.id), &row.credentials)
            .and_then(|text| serde_json::from_str(&text).ok())
            .ok_or_else(|| Failure::internal("the credentials of a connection cannot be opened"))
    }

    /// The secret that signs notifications.
    pub(crate) fn app_secret(&self) -> &str {
        &self.app_secret
    }

    /// Whether this is the token of the verification.
    pub(crate) fn verifies(&self, token: &str) -> bool {
        !self.verify_token.is_empty() && runtime::crypto::same(self.verify_token.as_bytes(), token.as_bytes())
    }
}

/// What the encryption of credentials is bound to.
fn purpose(id: Id<ChannelConnection>) -> String {
    format!("channel_connection:{id}")
}

/// An account from its row.
pub(crate) fn account_of(keyring: &Keyring, row: &ConnectionRow) -> Result<Account, Failure> {
    Ok(opened(row, Credentials::of(keyring, row)?))
}

fn opened(row: &ConnectionRow, credentials: Credentials) -> Account {
    Account {
        connection: row.id,
        tenant: row.workspace,
        provider: row.provider,
        business_account: row.business_account.clone(),
        app: row.app.clone(),
        token: Secret::from(credentials.access_token),
        version: row.version,
    }
}

/// There is no connection.
pub(crate) fn not_connected() -> Failure {
    Failure::plain(CHATAPP_NOT_CONNECTED)
}

/// The account of a workspace, to send with.
///
/// # Errors
/// 409 `chatapp_not_connected`.
pub async fn account(app: &App, tenant: Tenant) -> Result<Account, Failure> {
    let row = app.store.read(move |tx| Ok::<_, Failure>(channel_accounts::get(tx, tenant)?)).await?;
    account_of(&app.keyring, &row.ok_or_else(not_connected)?)
}

/// Where those wait who want the account of a workspace.
type Asked = Gathers<(), Result<Account, Failure>>;

/// The same for one of many who ask: on a shared store those who wait at the same moment share a read that begins after
/// they have asked.
///
/// # Errors
/// Those of [`account`].
pub(crate) async fn account_of_many(app: &App, tenant: Tenant) -> Result<Account, Failure> {
    if !app.store.shared() {
        return account(app, tenant).await;
    }
    let read = |asked: Vec<()>| async move {
        let found = account(app, tenant).await;
        asked.iter().map(|()| found.clone()).collect()
    };
    match app.kept.of(|| Asked::new(ASKED, READS)).of(tenant).ask((), read).await {
        Some(found) => found,
        None => account(app, tenant).await,
    }
}

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

/// Where the provider sends notifications.
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
        return Err(Failure::field("accessToken", "must not have spaces or other signs"));
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

/// Connects an account, or replaces its credentials: they are tried first, and those in force stay when the provider
/// refuses the new ones.
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
        .store
        .read(move |tx| {
            access::workspace(tx, tenant)?;
            Ok::<_, Failure>(channel_accounts::get(tx, tenant)?)
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
        .store
        .tx(move |tx| {
            let current = channel_accounts::get_for_update(tx, tenant)?
                .filter(|current| current.version == row.version)
                .ok_or_else(|| Failure::conflict("the connection was changed by another request"))?;
            if !same_account {
                crate::numbers::forget(tx, tenant)?;
                crate::templates::forget(tx, tenant)?;
            }
            facts::tell(&app_, tx, tenant, &Fact::Token { accepted: true })?;
            // Numbers and templates are looked at once the account is there.
            channel_accounts::check_at(tx, tenant, context.now)?;
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
    app.store
        .tx(move |tx| {
            access::workspace_for_update(tx, row.workspace)?;
            let current = channel_accounts::get_for_update(tx, row.workspace)?;
            if current.map(|current| current.version) != version {
                return Err(Failure::conflict("the connection was changed by another request"));
            }
            match version {
                Some(_) => channel_accounts::save(tx, &row)?,
                None => channel_accounts::insert(tx, &row)?,
            }
            Ok(())
        })
        .await
}

/// Puts the former connection back, unless somebody else has changed it since.
async fn take_back(app: &App, row: &ConnectionRow, known: Option<ConnectionRow>) -> Result<(), Failure> {
    let row = row.clone();
    app.store
        .tx(move |tx| {
            let current = channel_accounts::get_for_update(tx, row.workspace)?;
            if current.is_none_or(|current| current.version != row.version) {
                return Ok::<_, Failure>(());
            }
            match &known {
                Some(known) => {
                    let former = ConnectionRow { version: row.version + 1, ..known.clone() };
                    channel_accounts::save(tx, &former)?;
                }
                None => channel_accounts::delete(tx, row.workspace, row.id)?,
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
        .store
        .read(move |tx| {
            access::workspace(tx, tenant)?;
            channel_accounts::get(tx, tenant)?.ok_or_else(|| Failure::not_found("connection"))
        })
        .await?;
    Ok(view(app, row))
}

/// Disconnects an account, with its numbers, its templates, and what it has told and was not worked yet.
///
/// # Errors
/// There is no such workspace, or it has no connection.
pub async fn delete(app: &Arc<App>, trace: Trace, tenant: Tenant) -> Result<(), Failure> {
    let (app_, context) = (app.clone(), app.context());
    app.store
        .tx(move |tx| {
            let row = channel_accounts::get_for_update(tx, tenant)?
                .ok_or_else(|| Failure::not_found("connection"))?;
            facts::tell(&app_, tx, tenant, &Fact::Disconnected)?;
            channel_accounts::delete(tx, tenant, row.id)?;
            Ok(operator_log::append(tx, &context, &trace, Some(tenant), &row.id.to_string())?)
        })
        .await
}

/// Remembers that the provider does not accept the token any more, unless it was replaced meanwhile. It is called
/// with every refusal; those that say nothing of the token change nothing.
pub async fn token_refused(app: &Arc<App>, account: &Account, error: &ProviderError) -> Result<(), Failure> {
    if error.effect() != Effect::TokenInvalid {
        return Ok(());
    }
    let (app_, account, detail, now) = (app.clone(), account.clone(), error.detail.clone(), app.clock.now());
    app.store
        .tx(move |tx| {
            let status = ConnectionStatus::TokenInvalid;
            let changed = channel_accounts::set_status(
                tx,
                account.tenant,
                account.version,
                status,
                Some(&detail),
                now,
            )?;
            if changed {
                facts::tell(&app_, tx, account.tenant, &Fact::Token { accepted: false })?;
            }
            Ok::<_, Failure>(())
        })
        .await
}

/// What a request to the provider brought; a refused token is remembered.
pub(crate) async fn brought<T>(
    app: &Arc<App>,
    account: &Account,
    answer: Result<T, Fault>,
) -> Result<T, Failure> {
    match answer {
        Ok(brought) => Ok(brought),
        Err(fault) => {
            if let Fault::Refused(error) = &fault {
                token_refused(app, account, error).await?;
            }
            Err(failure(&fault))
        }
    }
}

/// A connection and what its account is opened with.
pub(crate) struct Behind {
    pub(crate) row: ConnectionRow,
    pub(crate) credentials: Credentials,
}

/// Where those wait who want to know what is behind an address.
struct Knocking(Gather<Id<ChannelConnection>, Result<Option<Arc<Behind>>, Failure>>);

/// The connection behind an address of notifications. Providers send many at the same moment: on a shared store those
/// share a read that begins after they have come.
///
/// # Errors
/// 404 when there is none.
pub(crate) async fn behind(app: &App, id: &str) -> Result<Arc<Behind>, Failure> {
    let missing = || Failure::not_found("connection");
    let id: Id<ChannelConnection> = id.parse().map_err(|_| missing())?;
    let look = |ids: Vec<Id<ChannelConnection>>| async move {
        let found = look_behind(app, &ids).await;
        let of =
            |id| found.as_ref().map_or_else(|why| Some(Err(why.clone())), |found| found.get(id).cloned());
        ids.iter().map(|id| of(id).transpose()).collect()
    };
    let shared = if app.store.shared() {
        app.kept.of(|| Knocking(Gather::new(ASKED, READS))).0.ask(id, look).await
    } else {
        None
    };
    let found = match shared {
        Some(found) => found?,
        None => look_behind(app, &[id]).await?.remove(&id).transpose()?,
    };
    found.ok_or_else(missing)
}

/// What is behind each of these addresses. One that cannot be opened concerns no other.
async fn look_behind(
    app: &App,
    ids: &[Id<ChannelConnection>],
) -> Result<HashMap<Id<ChannelConnection>, Result<Arc<Behind>, Failure>>, Failure> {
    let mut wanted = ids.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let rows = app.store.read(move |tx| Ok::<_, Failure>(channel_accounts::by_ids(tx, &wanted)?)).await?;
    let open = |row: ConnectionRow| {
        let (id, credentials) = (row.id, Credentials::of(&app.keyring, &row));
        (id, credentials.map(|credentials| Arc::new(Behind { row, credentials })))
    };
    Ok(rows.into_iter().map(open).collect())
}

/// How many notifications of a connection wait.
pub(crate) fn waiting(tx: &mut Tx<'_>, row: &ConnectionRow) -> Result<i64, Failure> {
    Ok(channel_inbox::waiting(tx, row.workspace, row.id)?)
}

/// The next daily look.
pub(crate) fn tomorrow(now: Timestamp) -> Timestamp {
    now.plus(DAY)
}

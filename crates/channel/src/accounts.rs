//! The account of a connection, opened with its credentials: for calls to the provider, and for the signatures of its
//! notifications. Whether the provider still accepts the access token is stored here.

use std::collections::HashMap;
use std::sync::Arc;

use api::error_codes::CHATAPP_NOT_CONNECTED;
use app::batcher::{Batcher, Batchers};
use app::{App, Failure};
use domain::channel::provider::ConnectionStatus;
use domain::channel::{Account, Effect, Fault, ProviderError};
use domain::ids::{ChannelConnection, Id};
use domain::secret::Secret;
use domain::tenant::Tenant;
use runtime::crypto::Keyring;
use serde::{Deserialize, Serialize};
use store::channel_accounts::{self, ConnectionRow};

use crate::campaigns::outcomes::on_account_event;
use crate::events::AccountEvent;
use crate::providers::failure;

/// Most callers that share one read, and most such reads at once.
const READERS: usize = 1_024;

const READS: usize = 2;

/// The secrets of a connection, stored encrypted.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Credentials {
    pub(crate) access_token: String,
    pub(crate) app_secret: String,
    pub(crate) verify_token: String,
}

impl Credentials {
    /// Decrypts the credentials of a connection.
    pub(crate) fn of(keyring: &Keyring, row: &ConnectionRow) -> Result<Self, Failure> {
        keyring
            .open_sealed(&purpose(row.id), &row.credentials)
            .and_then(|text| serde_json::from_str(&text).ok())
            .ok_or_else(|| Failure::internal("the credentials of a connection cannot be opened"))
    }

    /// The secret with which the provider signs notifications.
    pub(crate) fn app_secret(&self) -> &str {
        &self.app_secret
    }

    /// Whether this is the verify token of the webhook.
    pub(crate) fn verifies(&self, token: &str) -> bool {
        !self.verify_token.is_empty() && runtime::crypto::same(self.verify_token.as_bytes(), token.as_bytes())
    }
}

/// The associated data of the encryption: credentials cannot be moved to another connection.
pub(crate) fn purpose(id: Id<ChannelConnection>) -> String {
    format!("channel_connection:{id}")
}

/// An account from its row.
pub(crate) fn account_of(keyring: &Keyring, row: &ConnectionRow) -> Result<Account, Failure> {
    Ok(opened(row, Credentials::of(keyring, row)?))
}

pub(crate) fn opened(row: &ConnectionRow, credentials: Credentials) -> Account {
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

/// The failure of a request that needs a connection where there is none.
pub(crate) fn not_connected() -> Failure {
    Failure::plain(CHATAPP_NOT_CONNECTED)
}

/// The account of a workspace, to send with.
///
/// # Errors
/// 409 `chatapp_not_connected`.
pub async fn account(app: &App, tenant: Tenant) -> Result<Account, Failure> {
    let row = app.store.read(move |tx| Ok::<_, Failure>(channel_accounts::get(&mut tx.of(tenant))?)).await?;
    account_of(&app.keyring, &row.ok_or_else(not_connected)?)
}

/// Batches concurrent reads of a workspace's account.
type AccountReads = Batchers<(), Result<Account, Failure>>;

/// [`account`] for many concurrent callers. On PostgreSQL they share a read that begins after they have asked.
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
    match app.state.of(|| AccountReads::new(READERS, READS)).of(tenant).ask((), read).await {
        Some(found) => found,
        None => account(app, tenant).await,
    }
}

/// Stores that the provider rejects the access token, unless the token was replaced meanwhile. Call it with every
/// provider error; errors that are not about the token change nothing.
pub async fn token_refused(app: &Arc<App>, account: &Account, error: &ProviderError) -> Result<(), Failure> {
    if error.effect() != Effect::TokenInvalid {
        return Ok(());
    }
    let (app_, account, detail, now) = (app.clone(), account.clone(), error.detail.clone(), app.clock.now());
    app.of(account.tenant)
        .tx(move |tx| {
            let status = ConnectionStatus::TokenInvalid;
            let changed = channel_accounts::set_status(tx, account.version, status, Some(&detail), now)?;
            if changed {
                on_account_event(&app_, tx, &AccountEvent::Token { accepted: false })?;
            }
            Ok::<_, Failure>(())
        })
        .await
}

/// The result of a request to the provider. Stores it when the access token was rejected.
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

/// A connection with its decrypted credentials.
pub(crate) struct OpenedConnection {
    pub(crate) row: ConnectionRow,
    pub(crate) credentials: Credentials,
}

/// Batches concurrent look-ups of connections by webhook address.
struct ConnectionReads(Batcher<Id<ChannelConnection>, Result<Option<Arc<OpenedConnection>>, Failure>>);

/// The connection of a webhook address. Providers send many notifications at once; on PostgreSQL concurrent look-ups
/// share a read that begins after they have asked.
///
/// # Errors
/// 404 when there is none.
pub(crate) async fn connection_of_hook(app: &App, id: &str) -> Result<Arc<OpenedConnection>, Failure> {
    let missing = || Failure::not_found("connection");
    let id: Id<ChannelConnection> = id.parse().map_err(|_| missing())?;
    let look = |ids: Vec<Id<ChannelConnection>>| async move {
        let found = read_connections(app, &ids).await;
        let of =
            |id| found.as_ref().map_or_else(|why| Some(Err(why.clone())), |found| found.get(id).cloned());
        ids.iter().map(|id| of(id).transpose()).collect()
    };
    let shared = if app.store.shared() {
        app.state.of(|| ConnectionReads(Batcher::new(READERS, READS))).0.ask(id, look).await
    } else {
        None
    };
    let found = match shared {
        Some(found) => found?,
        None => read_connections(app, &[id]).await?.remove(&id).transpose()?,
    };
    found.ok_or_else(missing)
}

/// Reads connections by id. Credentials that cannot be decrypted fail only their own connection.
async fn read_connections(
    app: &App,
    ids: &[Id<ChannelConnection>],
) -> Result<HashMap<Id<ChannelConnection>, Result<Arc<OpenedConnection>, Failure>>, Failure> {
    let mut wanted = ids.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let rows = app.store.read(move |tx| Ok::<_, Failure>(channel_accounts::by_ids(tx, &wanted)?)).await?;
    let open = |row: ConnectionRow| {
        let (id, credentials) = (row.id, Credentials::of(&app.keyring, &row));
        (id, credentials.map(|credentials| Arc::new(OpenedConnection { row, credentials })))
    };
    Ok(rows.into_iter().map(open).collect())
}

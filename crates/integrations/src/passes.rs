//! The access token of an account (docs/contract/integrations.md#access-tokens). It is stored sealed, so that all nodes
//! use the same one, and renewed once: a lock on the node and a lease in the row make the others wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use app::{App, Failure};
use domain::ids::{Id, Integration};
use domain::integration::{Provider, Status};
use domain::secret::Secret;
use domain::tenant::Tenant;
use domain::time::{MINUTE, SECOND, Timestamp};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use providers::connectors::{Credentials, Fault, Pass, Renewed};
use serde_json::{Value, json};
use store::integrations::{self, IntegrationRow};

use crate::ConnectedSystems;
use crate::accounts::purpose;

/// A token is renewed this long before it expires.
const EARLY: i64 = MINUTE;
/// Lease of a renewal.
const RENEWAL: i64 = 5 * MINUTE;
/// Poll interval while another node renews the token.
const PATIENCE: i64 = 2 * SECOND;

/// Renewals in progress on this node, each with those who wait for it.
#[derive(Default)]
pub(crate) struct Renewals(Mutex<HashMap<Id<Integration>, Arc<tokio::sync::Mutex<()>>>>);

impl Renewals {
    fn of(&self, id: Id<Integration>) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody holds or waits for.
        locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        locks.entry(id).or_default().clone()
    }
}

/// An account that can be used.
pub(crate) struct Opened {
    pub(crate) provider: Provider,
    pub(crate) pass: Pass,
    credentials: Credentials,
}

impl Opened {
    /// Whether another token can be fetched when this one is refused.
    pub(crate) fn renewable(&self) -> bool {
        self.credentials.renewable()
    }

    /// A message of the system, redacted of the account's secrets in any encoding.
    pub(crate) fn without_secrets(&self, said: &str) -> String {
        let mut secrets = self.credentials.secrets();
        secrets.push(&self.pass.token);
        without(said, &secrets)
    }
}

fn without(said: &str, secrets: &[&str]) -> String {
    let mut said = said.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        let encoded = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
        for spelling in [*secret, &encoded] {
            said = said.replace(spelling, "***");
        }
    }
    said
}

/// Why an account cannot be used now.
#[derive(Debug)]
pub(crate) enum Trouble {
    Gone,
    /// It needs other credentials; the redacted reason.
    Broken(String),
    /// Another node renews its token: retry after this many milliseconds.
    Busy(i64),
    /// The system gave no token; the redacted message.
    Fault(Fault),
    /// An internal failure.
    Failure(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// The purpose that an access token is sealed with.
fn token_purpose(id: Id<Integration>) -> String {
    format!("integration-token:{id}")
}

/// An account as read: its credentials, its token, and its refresh token.
struct Account {
    row: IntegrationRow,
    credentials: Credentials,
    pass: Option<Pass>,
    refresh_token: Secret,
}

impl Account {
    fn open(app: &App, row: IntegrationRow) -> Result<Self, Failure> {
        let broken = || Failure::internal(format!("{}: its credentials cannot be decrypted", row.id));
        let open = app.keyring.open_sealed(&purpose(row.id), &row.credentials).ok_or_else(broken)?;
        let fields: Value = serde_json::from_str(&open).map_err(|_| broken())?;
        let fields = fields.as_object().ok_or_else(broken)?;
        let credentials = Credentials::read(row.provider, fields).map_err(|_| broken())?;
        let mut refresh_token = fields.get("refreshToken").and_then(Value::as_str).unwrap_or_default().into();
        let mut pass = fields.get("accessToken").and_then(Value::as_str).map(|token| Pass {
            token: token.into(),
            base: None,
            shop: credentials.shop.clone(),
        });
        if !row.token.is_empty() {
            let open = app.keyring.open_sealed(&token_purpose(row.id), &row.token).ok_or_else(broken)?;
            let stored: Value = serde_json::from_str(&open).map_err(|_| broken())?;
            if let Some(newer) = stored["refreshToken"].as_str() {
                refresh_token = newer.into();
            }
            pass = Some(Pass {
                token: stored["accessToken"].as_str().unwrap_or_default().into(),
                base: stored["base"].as_str().map(str::to_owned),
                shop: credentials.shop.clone(),
            });
        }
        Ok(Self { row, credentials, pass, refresh_token })
    }

    /// The token, unless it is about to expire or the one that was refused.
    fn usable(&self, now: Timestamp, refused: Option<&Pass>) -> Option<Opened> {
        let fresh = self.row.token_until.is_none_or(|until| now.plus(EARLY) < until);
        let pass = self.pass.as_ref().filter(|pass| fresh && Some(*pass) != refused)?;
        let Self { row, credentials, .. } = self;
        Some(Opened { provider: row.provider, pass: pass.clone(), credentials: credentials.clone() })
    }

    /// What is stored of a new token.
    fn sealed(&self, app: &App, renewed: &Renewed) -> Result<String, Failure> {
        let refresh_token = renewed.refresh_token.as_ref().unwrap_or(&self.refresh_token);
        let stored = json!({
            "accessToken": &*renewed.pass.token,
            "base": renewed.pass.base,
            "refreshToken": &**refresh_token,
        });
        app.keyring.seal(&token_purpose(self.row.id), &stored.to_string()).map_err(Failure::internal)
    }
}

impl ConnectedSystems {
    /// Authorisation for requests of an account. `refused` is the token that the system no longer accepts, if there is
    /// one: another one is fetched.
    pub(crate) async fn open_account(
        &self,
        tenant: Tenant,
        id: Id<Integration>,
        refused: Option<&Pass>,
    ) -> Result<Opened, Trouble> {
        let account = self.account(tenant, id).await?;
        if let Some(opened) = account.usable(self.app.clock.now(), refused) {
            return Ok(opened);
        }
        // A later one finds the token that the first one fetched.
        let lock = self.renewals.of(id);
        let _turn = self.app.clock.outside(lock.lock()).await;
        let account = self.account(tenant, id).await?;
        if let Some(opened) = account.usable(self.app.clock.now(), refused) {
            return Ok(opened);
        }
        self.renew(tenant, account).await
    }

    async fn account(&self, tenant: Tenant, id: Id<Integration>) -> Result<Account, Trouble> {
        let row = self.app.of(tenant).read(move |tx| integrations::get(tx, id)).await;
        let row = row.map_err(Failure::from)?.ok_or(Trouble::Gone)?;
        if row.status == Status::Broken {
            return Err(Trouble::Broken(row.last_error.unwrap_or_default()));
        }
        Ok(Account::open(&self.app, row)?)
    }

    async fn renew(&self, tenant: Tenant, account: Account) -> Result<Opened, Trouble> {
        let (id, version, now) = (account.row.id, account.row.version, self.app.clock.now());
        let begun = self.app.of(tenant).tx(move |tx| {
            let Some(mut row) = integrations::get_for_update(tx, id)? else {
                return Ok::<_, Failure>(Some(PATIENCE));
            };
            if row.version != version || row.renewing_until.is_some_and(|until| now < until) {
                return Ok(Some(PATIENCE));
            }
            row.renewing_until = Some(now.plus(RENEWAL));
            integrations::save(tx, &row)?;
            Ok(None)
        });
        if let Some(wait) = begun.await? {
            return Err(Trouble::Busy(wait));
        }
        let asked = self.systems.renew(account.row.provider, &account.credentials, &account.refresh_token);
        let answer = self.app.clock.outside(asked).await.map_err(|fault| {
            let mut secrets = account.credentials.secrets();
            secrets.push(&account.refresh_token);
            with_words(&fault, &without(fault.said(), &secrets))
        });
        let sealed = match &answer {
            Ok(renewed) => Some(account.sealed(&self.app, renewed)?),
            Err(_) => None,
        };
        let until = answer.as_ref().ok().and_then(|renewed| renewed.lasts).map(|lasts| now.plus(lasts));
        let broken = match &answer {
            Err(Fault::Revoked(said)) => Some(said.clone()),
            Ok(_) | Err(_) => None,
        };
        let stored = self.app.of(tenant).tx(move |tx| {
            // With other credentials by now, what was got with the old ones is void.
            let Some(mut row) = integrations::get_for_update(tx, id)?.filter(|row| row.version == version)
            else {
                return Ok::<_, Failure>(false);
            };
            row.renewing_until = None;
            if let Some(sealed) = &sealed {
                (row.token, row.token_until) = (sealed.clone(), until);
                row.version += 1;
            }
            if let Some(said) = &broken {
                (row.status, row.last_error) = (Status::Broken, Some(said.clone()));
            }
            integrations::save(tx, &row)?;
            Ok(true)
        });
        if !stored.await? {
            return Err(Trouble::Busy(PATIENCE));
        }
        let Account { row, credentials, .. } = account;
        match answer {
            Ok(renewed) => Ok(Opened { provider: row.provider, pass: renewed.pass, credentials }),
            Err(Fault::Revoked(said)) => {
                tracing::warn!(integration = %id, provider = row.provider.as_str(), "an integration is broken: it needs other credentials");
                Err(Trouble::Broken(said))
            }
            Err(fault) => Err(Trouble::Fault(fault)),
        }
    }
}

/// The same fault for another type.
pub(crate) fn with_words(fault: &Fault, said: &str) -> Fault {
    let said = said.to_owned();
    match fault {
        Fault::Unauthorized(_) => Fault::Unauthorized(said),
        Fault::Revoked(_) => Fault::Revoked(said),
        Fault::Later { wait, .. } => Fault::Later { wait: *wait, said },
        Fault::Refused(_) => Fault::Refused(said),
        Fault::Unreached(_) => Fault::Unreached(said),
        Fault::Unclear(_) => Fault::Unclear(said),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_in_every_spelling() {
        let said = without("token 1//a+b expired (1%2F%2Fa%2Bb), «» is no secret", &["1//a+b", ""]);
        assert_eq!(said, "token *** expired (***), «» is no secret");
    }

    #[test]
    fn locks_that_nobody_holds_are_forgotten() {
        let (renewals, one) = (Renewals::default(), Id::from_bits(1));
        let held = renewals.of(one);
        let _other = renewals.of(Id::from_bits(2));
        assert!(Arc::ptr_eq(&held, &renewals.of(one)));
        drop(held);
        renewals.of(Id::from_bits(3));
        assert_eq!(renewals.0.lock().unwrap().len(), 2);
    }
}

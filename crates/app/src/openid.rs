//! Sign-in over the operator's identity provider (docs/contract/members.md#openid-connect). It makes no members: a person is
//! signed in who is known or invited with the address that the provider has verified. From then on its issuer and subject
//! name the person, whatever the address.

use std::sync::Arc;

use api::error_codes;
use api::people::{OpenIdMethod, SignInMethods};
use domain::person;
use domain::time::{MINUTE, SECOND, Timestamp};
use providers::openid::{Claims, IdentityProvider, Journey, OpenIdError};
use runtime::crypto::same;
use store::people::{self, PersonRow};
use store::{Tx, sign_in_links as identities};

use super::sessions::{self, Begun, Client};
use super::{App, Context, Failure, members};

/// How long a sign-in at the provider may take.
const LIFE: i64 = 10 * MINUTE;
/// The same for the cookie.
pub const COOKIE_SECONDS: i64 = LIFE / SECOND;
/// Random characters of a sign-in, from which its state, nonce and verifier derive.
const SEED: usize = 40;
/// Where the provider sends the browser back.
const CALLBACK: &str = "/console/openid/callback";

/// How people may sign in.
pub fn methods(app: &App) -> SignInMethods {
    let openid = app
        .config
        .openid
        .as_ref()
        .map(|openid| OpenIdMethod { name: openid.name.clone(), path: "/console/openid/start".to_owned() });
    SignInMethods { password: true, openid }
}

fn provider(app: &App) -> Result<Arc<IdentityProvider>, Failure> {
    let missing = || Failure::new(error_codes::NOT_FOUND, "no identity provider is configured");
    app.openid.clone().ok_or_else(missing)
}

fn refused(why: &str) -> Failure {
    Failure::new(error_codes::OPENID_REFUSED, why)
}

/// What a sign-in of this seed sends and must get back.
fn journey(app: &App, seed: &str) -> Journey {
    Journey {
        redirect_uri: format!("{}{CALLBACK}", app.config.public_url),
        state: app.keyring.hash(&format!("openid:state:{seed}")),
        nonce: app.keyring.hash(&format!("openid:nonce:{seed}")),
        verifier: app.keyring.hash(&format!("openid:verifier:{seed}")),
    }
}

fn failure(error: OpenIdError) -> Failure {
    match error {
        OpenIdError::Refused(why) => {
            tracing::warn!(cause = why, "a sign-in at the identity provider was refused");
            refused("the identity provider did not confirm the sign-in; try again")
        }
        OpenIdError::Unavailable(why) => {
            tracing::warn!(cause = why, "the identity provider could not be used");
            let message = "the identity provider does not answer as it should; try again later";
            Failure { retry_after: Some(10), ..Failure::new(error_codes::UNAVAILABLE, message) }
        }
    }
}

/// Begins a sign-in: where the browser goes, and the cookie that it keeps meanwhile.
///
/// # Errors
/// 404 without a provider; 503 when it does not answer.
pub async fn start(app: &App) -> Result<(String, String), Failure> {
    let provider = provider(app)?;
    let (seed, now) = (app.ids.random_text(SEED), app.clock.now());
    let signed = format!("{seed}.{}", now.plus(LIFE).0);
    let cookie = format!("{signed}.{}", app.keyring.sign(&format!("openid:{signed}")));
    let journey = journey(app, &seed);
    let url = provider.authorization_url(&journey, now).await.map_err(failure)?;
    Ok((url, cookie))
}

/// The seed of a cookie of ours that is not over.
fn seed_of<'c>(app: &App, cookie: &'c str, now: Timestamp) -> Option<&'c str> {
    let (signed, signature) = cookie.rsplit_once('.')?;
    let (seed, until) = signed.split_once('.')?;
    let valid = app.keyring.verify(&format!("openid:{signed}"), signature);
    (valid && until.parse().is_ok_and(|until: i64| now.0 < until)).then_some(seed)
}

/// Ends a sign-in: the browser came back with a code and its cookie.
///
/// # Errors
/// 403 `openid_refused` when this browser did not begin it, the provider does not confirm it, or nobody is known with its
/// verified address; 503.
pub async fn finish(
    app: &App,
    (code, state): (&str, &str),
    cookie: Option<String>,
    client: Client,
) -> Result<Begun, Failure> {
    let provider = provider(app)?;
    let now = app.clock.now();
    let cookie = cookie.unwrap_or_default();
    let other = || refused("the sign-in did not begin in this browser, or took too long; try again");
    let journey = journey(app, seed_of(app, &cookie, now).ok_or_else(other)?);
    if !same(journey.state.as_bytes(), state.as_bytes()) {
        return Err(other());
    }
    let claims = provider.redeem(code, &journey, now).await.map_err(failure)?;
    let (context, issuer) = (app.context(), provider.issuer().to_owned());
    let allowed = app.config.openid.as_ref().map_or(Vec::new(), |openid| openid.allowed_domains.clone());
    let access_changes = app.access_changes();
    let find = move |tx: &mut Tx<'_>| {
        if let Some(id) = identities::identity(tx, &issuer, &claims.subject)? {
            return people::get(tx, id)?.ok_or_else(unknown);
        }
        let person = first(tx, &context, &claims, &allowed)?;
        if identities::has_identity(tx, &issuer, person.id)? {
            return Err(refused("the account is linked to another user of the identity provider"));
        }
        if !identities::add_identity(tx, &issuer, &claims.subject, person.id, context.now)? {
            return Err(refused("the user of the identity provider was linked meanwhile; try again"));
        }
        access_changes(tx)?;
        Ok(person)
    };
    let person = app.store.tx(find).await?;
    sessions::begin(app, &person, client).await
}

fn unknown() -> Failure {
    refused("nobody is known or invited here with the address that the identity provider has verified")
}

/// The person with the verified address of a user whom the provider names for the first time.
fn first(
    tx: &mut Tx<'_>,
    context: &Context,
    claims: &Claims,
    allowed: &[String],
) -> Result<PersonRow, Failure> {
    let email = claims.verified_email.as_deref().and_then(person::email).ok_or_else(unknown)?;
    let domain = email.split_once('@').map_or("", |(_, domain)| domain);
    if !allowed.is_empty() && !allowed.iter().any(|known| known == domain) {
        return Err(refused("addresses of this domain do not sign in over the identity provider"));
    }
    if let Some((person, _)) = people::by_email(tx, &email)? {
        if person.verified_at.is_none() {
            // Somebody else may have made the account in this name.
            people::reset(tx, person.id, context.now)?;
            people::verify(tx, person.id, context.now)?;
        }
        return Ok(person);
    }
    if !store::invitations::is_invited(tx, &email, context.now)? {
        return Err(unknown());
    }
    let first = email.split('@').next().unwrap_or_default();
    let name = claims.name.as_deref().map(|name| person::plain(name, super::people::NAME_LENGTH));
    let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| first.to_owned());
    Ok(members::find_or_make(tx, context, &email, &name, true)?.0)
}

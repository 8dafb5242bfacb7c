//! Sign-in with a password (docs/contract/members.md#sign-in). An unknown account, one without a password and a wrong
//! password have the same answer, after the same work.

use std::net::IpAddr;
use std::sync::Arc;

use api::error_codes;
use domain::ids::{Id, Person};
use domain::person;
use store::people::{self, PersonRow};

use super::passwords::{self, Lane, Verdict};
use super::sessions::{self, Begun, Client};
use super::sign_in_attempts::{Attempts, Origin};
use super::{App, Failure, device_marks};

/// An attempt to sign in with a password.
pub struct Attempt {
    pub email: String,
    pub password: String,
    pub client: Client,
}

/// The attempts of this node.
pub fn attempts(app: &App) -> Arc<Attempts> {
    app.state.of(Attempts::default)
}

pub fn too_many(wait: i64) -> Failure {
    let message = "too many wrong passwords; try again after Retry-After seconds, or ask for a sign-in link";
    Failure { retry_after: Some(wait), ..Failure::new(error_codes::RATE_LIMITED, message) }
}

/// Signs a person in.
///
/// # Errors
/// 401 `sign_in_failed`; 429 after too many wrong passwords; 503 while too many passwords are checked.
pub async fn with_password(app: &App, attempt: Attempt) -> Result<Begun, Failure> {
    let client = attempt.client.clone();
    let person = check_attempt(app, attempt).await?;
    sessions::begin(app, &person, client).await
}

/// The person of an attempt, if the password is right.
///
/// # Errors
/// As [`with_password`].
pub async fn check_attempt(app: &App, attempt: Attempt) -> Result<PersonRow, Failure> {
    let wrong = || {
        let message = "the e-mail address or the password is wrong";
        Failure::new(error_codes::SIGN_IN_FAILED, message)
    };
    let Attempt { email, password, client } = attempt;
    let Some(email) = person::email(&email) else { return Err(wrong()) };
    let device = client.device.as_deref().and_then(|mark| device_marks::known(app, &email, mark));
    let lane = if device.is_some() { Lane::Known } else { Lane::Stranger };
    let origin = Origin::new(&app.keyring, &email, client.address, device);
    let attempts = attempts(app);
    attempts.enter(&origin, app.clock.now()).map_err(too_many)?;
    let checked = check(app, lane, email.clone(), &password).await;
    // What was not checked does not count.
    if !matches!(&checked, Ok(None)) {
        attempts.leave(&origin);
    }
    checked?.ok_or_else(wrong)
}

/// The person with this address and password.
async fn check(app: &App, lane: Lane, email: String, password: &str) -> Result<Option<PersonRow>, Failure> {
    let found = app.store.read(move |tx| people::by_email(tx, &email)).await?;
    let (person, stored) = found.map_or((None, None), |(person, hash)| (Some(person), hash));
    let verdict = passwords::verify(app, lane, password, stored.clone()).await?;
    let Some(person) = person.filter(|_| verdict.right) else { return Ok(None) };
    renew(app, person.id, stored, verdict).await?;
    Ok(Some(person))
}

/// Stores the hash that replaces one of a former form.
async fn renew(
    app: &App,
    person: Id<Person>,
    stored: Option<String>,
    verdict: Verdict,
) -> Result<(), Failure> {
    if let (Some(old), Some(new)) = (stored, verdict.renewed) {
        app.store.tx(move |tx| people::rehash(tx, person, &old, &new)).await?;
    }
    Ok(())
}

/// Refuses unless this is the person's present password; counts like an attempt to sign in.
///
/// # Errors
/// 403 `password_wrong`; 429; 503.
pub async fn confirm(app: &App, who: &PersonRow, password: &str, address: IpAddr) -> Result<(), Failure> {
    let named = format!("session:{}", who.id);
    let origin = Origin::new(&app.keyring, &who.email, address, Some(&named));
    let attempts = attempts(app);
    attempts.enter(&origin, app.clock.now()).map_err(too_many)?;
    let checked = check(app, Lane::Known, who.email.clone(), password).await;
    if !matches!(&checked, Ok(None)) {
        attempts.leave(&origin);
    }
    checked?.map(|_| ()).ok_or_else(|| {
        Failure::new(error_codes::PASSWORD_WRONG, "the present password is wrong; nothing was changed")
    })
}

//! Links that sign a person in once (docs/contract/members.md#links): for the first owner, and for lost passwords.

use api::error_codes;
use api::members::{NewSignInLink, SignInLink, UseSignInLink};
use domain::ids::{Id, Person};
use domain::tenant::{Role, Tenant};
use domain::time::{MINUTE, Timestamp};
use store::people::{self, PersonRow};
use store::sign_in_links as links;
use store::{DbError, Tx};

use super::operator_log::{self, Trace};
use super::passwords::{self, Lane};
use super::sessions::{self, Begun, Client};
use super::{App, Context, Failure, access, members};

/// How long a link works.
const LIFE: i64 = 15 * MINUTE;
/// Random characters of a token: 260 bits.
const TOKEN: usize = 52;
const BATCH: i64 = 500;

/// A workspace and the role that the person has there afterwards.
type Place = Option<(Tenant, Role)>;

fn place(body: &NewSignInLink) -> Result<Place, Failure> {
    match (&body.workspace_id, body.role) {
        (Some(id), Some(role)) => {
            let tenant = id.parse().map_err(|_| Failure::not_found("workspace"))?;
            Ok(Some((tenant, role)))
        }
        (Some(_), None) => Err(Failure::field("role", "is required with workspaceId")),
        (None, Some(_)) => Err(Failure::field("workspaceId", "is required with role")),
        (None, None) => Ok(None),
    }
}

/// Makes a link; the answer is the only place that shows it.
///
/// # Errors
/// 400; 404 for a workspace that does not exist; 409 beyond the ceilings of members.
pub async fn create(app: &App, trace: Trace, body: NewSignInLink) -> Result<SignInLink, Failure> {
    let (context, place) = (app.context(), place(&body)?);
    let email = members::email(&body.email)?;
    let first = email.split('@').next().unwrap_or_default();
    let name = super::people::name("name", body.name.as_deref().unwrap_or(first))?;
    let token = app.ids.random_text(TOKEN);
    let (hash, expires_at) = (app.keyring.hash(&token), context.now.plus(LIFE));
    let access_changes = app.access_changes();
    let create = move |tx: &mut Tx<'_>| {
        if let Some((tenant, _)) = place {
            access::workspace_for_update(&mut tx.of(tenant))?;
        }
        let person = vouched(tx, &context, &email, &name)?;
        if let Some(operator) = body.operator {
            people::set_operator(tx, person.id, operator)?;
        }
        if let Some((tenant, role)) = place {
            settle(tx, &context, tenant, &person, role)?;
        }
        links::insert(tx, context.ids.make(), person.id, &hash, context.now, expires_at)?;
        access_changes(tx)?;
        operator_log::append(tx, &context, &trace, place.map(|(tenant, _)| tenant), &person.id.to_string())?;
        Ok::<_, Failure>(person.id)
    };
    let person_id = app.store.tx(create).await?;
    // What follows the # is not sent to any server.
    let url = format!("{}/console/link#{token}", app.config.public_url);
    Ok(SignInLink { person_id, url, expires_at })
}

/// The person with an address that the operator vouches for. What somebody else may have made in the name of one whose
/// address was never proven ends.
fn vouched(tx: &mut Tx<'_>, context: &Context, email: &str, name: &str) -> Result<PersonRow, Failure> {
    let (person, _) = members::find_or_make(tx, context, email, name, true)?;
    if person.verified_at.is_none() {
        people::reset(tx, person.id, context.now)?;
        people::verify(tx, person.id, context.now)?;
    }
    Ok(person)
}

/// Makes the person a member with this role, or changes the role of the member.
fn settle(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    person: &PersonRow,
    role: Role,
) -> Result<(), Failure> {
    match store::members::of_person(&mut tx.of(tenant), person.id)? {
        Some(member) => {
            store::members::set_role(&mut tx.of(tenant), member.id, role)?;
            Ok(())
        }
        None => members::add(tx, context, tenant, person, role).map(|_| ()),
    }
}

/// Signs in with a link, and sets a password if one is given, which ends all other sessions.
///
/// # Errors
/// 403 `sign_in_link_invalid` for one that is used, over or unknown; 400 for the password; 503.
pub async fn redeem(app: &App, body: UseSignInLink, client: Client) -> Result<Begun, Failure> {
    let (now, hash) = (app.clock.now(), app.keyring.hash(&body.token));
    body.password.as_deref().map_or(Ok(()), |password| passwords::check("password", password))?;
    // An unknown link costs no hash and no write.
    let wanted = hash.clone();
    if !app.store.read(move |tx| links::exists(tx, &wanted, now)).await? {
        return Err(invalid());
    }
    let password = match body.password.as_deref() {
        Some(password) => Some(passwords::hash(app, Lane::Known, password).await?),
        None => None,
    };
    let access_changes = app.access_changes();
    let redeem = move |tx: &mut Tx<'_>| {
        let id = links::take(tx, &hash, now)?.ok_or_else(invalid)?;
        if let Some(hash) = &password {
            set_password(tx, id, hash, now)?;
            access_changes(tx)?;
        }
        people::get(tx, id)?.ok_or_else(invalid)
    };
    let person = app.store.tx(redeem).await?;
    sessions::begin(app, &person, client).await
}

fn set_password(tx: &mut Tx<'_>, id: Id<Person>, hash: &str, now: Timestamp) -> Result<(), DbError> {
    people::set_password(tx, id, hash)?;
    store::sessions::revoke_others(tx, id, None, now).map(|_| ())
}

fn invalid() -> Failure {
    Failure::plain(error_codes::SIGN_IN_LINK_INVALID)
}

/// Deletes links that are over.
pub async fn sweep(app: &App) -> Result<(), DbError> {
    let now = app.clock.now();
    while app.store.tx(move |tx| links::sweep(tx, now, BATCH)).await? == BATCH as u64 {}
    Ok(())
}

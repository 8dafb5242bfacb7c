//! People: what a signed-in person sees and changes of itself (docs/contract/members.md#me).

use std::net::IpAddr;
use std::sync::Arc;

use api::people::{Me, Membership, PasswordChange, ProfileChange};
use domain::person::plain;
use domain::topic::Topic;
use store::members;
use store::people::{self, PersonRow};
use store::{DbError, Tx};

use super::actions::{self, Origin};
use super::passwords::{self, Lane};
use super::sessions::SignedIn;
use super::{App, Failure, changes, sign_in};

/// Members adopted in one transaction.
const BATCH: i64 = 200;
/// Characters of a name.
pub const NAME_LENGTH: usize = 120;

/// A name as it is stored.
///
/// # Errors
/// 400 for one without a visible character.
pub fn name(field: &str, text: &str) -> Result<String, Failure> {
    Some(plain(text, NAME_LENGTH))
        .filter(|name| !name.is_empty())
        .ok_or_else(|| Failure::field(field, "must have a visible character"))
}

/// A person with its workspaces.
fn describe(tx: &mut Tx<'_>, person: PersonRow) -> Result<Me, DbError> {
    let memberships = members::memberships(tx, person.id)?
        .into_iter()
        .map(|(workspace_id, workspace_name, member_id, role)| Membership {
            workspace_id,
            workspace_name,
            member_id,
            role,
        })
        .collect();
    Ok(Me {
        id: person.id,
        email: person.email,
        name: person.name,
        language: person.language,
        operator: person.operator,
        memberships,
    })
}

/// A person who has just signed in.
pub async fn shown(app: &App, person: PersonRow) -> Result<Me, Failure> {
    Ok(app.store.read(move |tx| describe(tx, person.clone())).await?)
}

/// Answer of `GET /console/api/me`.
pub async fn me(app: &App, of: &SignedIn) -> Result<Me, Failure> {
    let id = of.person.id;
    let read = move |tx: &mut Tx<'_>| people::get(tx, id)?.map(|row| describe(tx, row)).transpose();
    app.store.read(read).await?.ok_or_else(|| Failure::not_found("person"))
}

/// Changes the name or the language; the name, in every workspace of the person, where that is recorded and told.
///
/// # Errors
/// 400 for a name that shows nothing.
pub async fn update(
    app: &Arc<App>,
    of: &SignedIn,
    change: ProfileChange,
    origin: Origin,
) -> Result<Me, Failure> {
    let (id, now) = (of.person.id, app.clock.now());
    let wanted = change.name.as_deref().map(|text| name("name", text)).transpose()?;
    let inner = app.clone();
    let update = move |tx: &mut Tx<'_>| {
        let mut row = people::get_for_update(tx, id)?.ok_or_else(|| Failure::not_found("person"))?;
        let renamed = wanted.as_ref().is_some_and(|name| *name != row.name);
        row.name = wanted.clone().unwrap_or(row.name);
        row.language = change.language.unwrap_or(row.language);
        people::set_profile(tx, id, &row.name, row.language)?;
        let me = describe(tx, row)?;
        if renamed {
            let members: Vec<_> =
                me.memberships.iter().map(|shown| (shown.workspace_id, shown.member_id)).collect();
            for (tenant, member) in &members {
                changes::note(&mut tx.of(*tenant), now, Topic::Members, *member)?;
            }
            actions::of_person(&inner, tx, &origin, ("updateMe", "name"), &members)?;
        }
        Ok::<_, Failure>(me)
    };
    app.store.tx(update).await
}

/// Changes the password, which takes the present one, and ends the other sessions of the person.
///
/// # Errors
/// 400 for one that is too short or too long; 403 `password_wrong`; 409 for a person without one; 429; 503.
pub async fn change_password(
    app: &App,
    of: &SignedIn,
    change: PasswordChange,
    address: IpAddr,
) -> Result<(), Failure> {
    passwords::check("newPassword", &change.new_password)?;
    let (id, current, now) = (of.person.id, of.session.id, app.clock.now());
    if app.store.read(move |tx| people::password_hash(tx, id)).await?.is_none() {
        return Err(Failure::conflict("there is no password yet; set one with a sign-in link"));
    }
    sign_in::confirm(app, &of.person, &change.password, address).await?;
    let hash = passwords::hash(app, Lane::Known, &change.new_password).await?;
    let access_changes = app.access_changes();
    let set = move |tx: &mut Tx<'_>| {
        people::set_password(tx, id, &hash)?;
        store::sessions::revoke_others(tx, id, Some(current), now)?;
        access_changes(tx)
    };
    Ok(app.store.tx(set).await?)
}

/// Gives members that a version before has made the people who they are.
pub async fn adopt(app: &App) -> Result<(), DbError> {
    loop {
        let ids = app.ids.clone();
        let adopted = app.store.tx(move |tx| people::adopt(tx, BATCH, || ids.make())).await?;
        if adopted == 0 {
            return Ok(());
        }
    }
}

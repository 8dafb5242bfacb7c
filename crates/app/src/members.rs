//! Members: people in a workspace, with a role there (docs/contract/members.md).

use api::error_codes;
use api::operator::{Member as MemberView, NewMember};
use domain::actor::Actor;
use domain::ids::{Id, Person, User};
use domain::person::{self, InterfaceLanguage};
use domain::tenant::{Role, Tenant};
use domain::topic::Topic;
use store::invitations;
use store::members::{self, MemberRow};
use store::people::{self, PersonRow};
use store::{TenantTx, Tx};

use super::operator_log::{self, Trace};
use super::passwords::{self, Lane};
use super::{App, Context, Failure, access, changes};

/// Members of a workspace, and workspaces of a person.
const MOST: usize = 1_000;

fn view(row: MemberRow) -> MemberView {
    MemberView {
        id: row.id,
        email: row.email,
        name: row.name,
        role: row.role.as_str().to_owned(),
        created_at: row.created_at,
    }
}

/// An e-mail address as it is stored.
///
/// # Errors
/// 400.
pub fn email(text: &str) -> Result<String, Failure> {
    person::email(text).ok_or_else(|| Failure::field("email", "must be an e-mail address"))
}

/// The person with an address, made if there is none; `verified` is whether the address is known to be the person's.
/// Returns whether it was made.
pub fn find_or_make(
    tx: &mut Tx<'_>,
    context: &Context,
    email: &str,
    name: &str,
    verified: bool,
) -> Result<(PersonRow, bool), Failure> {
    let row = PersonRow {
        id: context.ids.make(),
        email: email.to_owned(),
        name: name.to_owned(),
        language: InterfaceLanguage::English,
        operator: false,
        verified_at: verified.then_some(context.now),
        created_at: context.now,
    };
    if people::insert(tx, &row, None)? {
        return Ok((row, true));
    }
    let found = people::by_email(tx, email)?.ok_or_else(|| Failure::internal("a person is gone"))?;
    Ok((found.0, false))
}

/// Makes a person a member; a member that was removed gets its id back.
///
/// # Errors
/// 409 for who is a member already, and beyond the ceilings.
pub fn add(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    person: &PersonRow,
    role: Role,
) -> Result<MemberRow, Failure> {
    if members::list(&mut tx.of(tenant))?.len() >= MOST {
        return Err(Failure::conflict(format!("the workspace has {MOST} members, which is the limit")));
    }
    if members::count_memberships(tx, person.id)? >= MOST as i64 {
        return Err(Failure::conflict(format!(
            "the person is a member of {MOST} workspaces, which is the limit"
        )));
    }
    let row = MemberRow {
        id: context.ids.make(),
        email: person.email.clone(),
        name: person.name.clone(),
        role,
        created_at: context.now,
        person: Some(person.id),
    };
    let added = members::insert(&mut tx.of(tenant), &row)?
        .ok_or_else(|| Failure::conflict("email is already a member of the workspace"))?;
    changes::note(&mut tx.of(tenant), context.now, Topic::Members, added.id)?;
    Ok(added)
}

/// What to do with the password of a request that adds a member.
enum Given {
    None,
    /// The person has none yet, or is new.
    New(String),
    /// It is the person's already.
    Same(Id<Person>, String),
}

/// Adds a member by its address. A password is set for a person who has none; it never replaces one.
///
/// # Errors
/// 400; 404; 409 for a member, for a person whose address was never proven, and for a password that is not the one of the person with that address.
pub async fn create(app: &App, trace: Trace, tenant: Tenant, body: NewMember) -> Result<MemberView, Failure> {
    let context = app.context();
    let email = email(&body.email)?;
    let name = super::people::name("name", &body.name)?;
    let role = Role::parse(&body.role)
        .ok_or_else(|| Failure::field("role", "must be one of owner, admin, editor, viewer"))?;
    let given = given(app, &email, body.password.as_deref()).await?;
    let access_changes = app.access_changes();
    app.of(tenant)
        .tx(move |tx| {
            access::workspace_for_update(tx)?;
            let tx = tx.unbound();
            let (person, _) = find_or_make(tx, &context, &email, &name, true)?;
            if person.verified_at.is_none() {
                return Err(unproven());
            }
            let stored = people::password_hash(tx, person.id)?;
            match &given {
                Given::None => {}
                Given::New(hash) if stored.is_none() => people::set_password(tx, person.id, hash)?,
                Given::Same(id, hash) if *id == person.id && stored.as_deref() == Some(hash) => {}
                Given::New(_) | Given::Same(..) => return Err(other_password()),
            }
            // Its name here is the one that was given here, whatever other workspaces call the person.
            let person = PersonRow { name: name.clone(), ..person };
            let row = add(tx, &context, tenant, &person, role)?;
            access_changes(tx)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &row.id.to_string())?;
            Ok(view(row))
        })
        .await
}

/// An admin of another workspace may have the password of such a person.
fn unproven() -> Failure {
    let message = "it was never proven that this email is the person's; make a sign-in link for it first";
    Failure::conflict(message)
}

fn other_password() -> Failure {
    Failure::conflict("the person with this email has another password; leave password out")
}

/// Compares a password with that of the person with this address, away from any transaction.
async fn given(app: &App, email: &str, password: Option<&str>) -> Result<Given, Failure> {
    let Some(password) = password else { return Ok(Given::None) };
    passwords::check("password", password)?;
    let wanted = email.to_owned();
    let found = app.store.read(move |tx| people::by_email(tx, &wanted)).await?;
    match found {
        Some((person, Some(hash))) => {
            let verdict = passwords::verify(app, Lane::Known, password, Some(hash.clone())).await?;
            if verdict.right { Ok(Given::Same(person.id, hash)) } else { Err(other_password()) }
        }
        _ => Ok(Given::New(passwords::hash(app, Lane::Known, password).await?)),
    }
}

/// The people of a workspace.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<MemberView>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            Ok(members::list(tx)?.into_iter().map(view).collect())
        })
        .await
}

fn shown(row: MemberRow) -> api::members::Member {
    api::members::Member {
        id: row.id,
        email: row.email,
        name: row.name,
        role: row.role,
        created_at: row.created_at,
    }
}

/// The members of a workspace, for its members.
pub async fn list_for_members(app: &App, tenant: Tenant) -> Result<Vec<api::members::Member>, Failure> {
    let rows = app.of(tenant).read(members::list).await?;
    Ok(rows.into_iter().map(shown).collect())
}

/// Refuses an actor who may not give, change or take away this role: only an owner may those of owners. The actor's role is
/// read in this transaction, which has locked the workspace: it may have changed since the request came in.
///
/// # Errors
/// 403 `role_missing`.
pub fn may_give(tx: &mut TenantTx, actor: Actor, role: Role) -> Result<(), Failure> {
    let least = if role == Role::Owner { Role::Owner } else { Role::Admin };
    let allowed = match actor {
        Actor::Operator => true,
        Actor::Member(id) => members::get(tx, id)?.is_some_and(|member| member.role >= least),
        Actor::Key(_) => false,
    };
    if allowed {
        return Ok(());
    }
    let message = format!("this takes the role {least}; ask an owner of the workspace");
    let meta = serde_json::json!({"role": least.as_str()});
    Err(Failure::new(error_codes::ROLE_MISSING, message).with_meta(meta))
}

/// The member that is to be changed or removed, if the actor may do that.
fn changeable(
    tx: &mut TenantTx,
    actor: Actor,
    id: Id<User>,
    keeps_owner: bool,
) -> Result<MemberRow, Failure> {
    // All changes of members of a workspace wait for each other here.
    access::workspace_for_update(tx)?;
    let found = members::get(tx, id)?.ok_or_else(|| Failure::not_found("member"))?;
    may_give(tx, actor, found.role)?;
    let others = |row: &MemberRow| row.role == Role::Owner && row.id != id;
    if found.role == Role::Owner && !keeps_owner && !members::list(tx)?.iter().any(others) {
        let message = "the workspace would have no owner; make another member an owner first";
        return Err(Failure::conflict(message));
    }
    Ok(found)
}

/// Changes the role of a member. It takes effect with the next request, on every node.
///
/// # Errors
/// 403 `role_missing`; 404; 409 for the last owner.
pub async fn set_role(
    app: &App,
    tenant: Tenant,
    actor: Actor,
    id: Id<User>,
    role: Role,
) -> Result<api::members::Member, Failure> {
    let (now, access_changes) = (app.clock.now(), app.access_changes());
    app.of(tenant)
        .tx(move |tx| {
            let found = changeable(tx, actor, id, role == Role::Owner)?;
            may_give(tx, actor, role)?;
            members::set_role(tx, id, role)?;
            if role < Role::Admin {
                invitations::revoke_of(tx, Actor::Member(id))?;
            }
            changes::note(tx, now, Topic::Members, id)?;
            access_changes(tx)?;
            Ok(shown(MemberRow { role, ..found }))
        })
        .await
}

/// Removes a member, whose open invitations end.
///
/// # Errors
/// 403 `role_missing`; 404; 409 for the last owner.
pub async fn remove(app: &App, tenant: Tenant, actor: Actor, id: Id<User>) -> Result<(), Failure> {
    let (now, access_changes) = (app.clock.now(), app.access_changes());
    app.of(tenant)
        .tx(move |tx| {
            changeable(tx, actor, id, false)?;
            members::remove(tx, id, now)?;
            invitations::revoke_of(tx, Actor::Member(id))?;
            changes::note(tx, now, Topic::Members, id)?;
            Ok(access_changes(tx)?)
        })
        .await
}

//! Invitations into a workspace (docs/contract/members.md#invitations).
//!
//! The inviter sees a link, so that it works without a mail server; it proves nothing about the address. A mailed link has
//! another token, which does. Who has an account already must sign in to accept: else an admin could invite somebody into its
//! own workspace and set a password for them.

use api::error_codes;
use api::members::{AcceptInvitation, Invitation as InvitationView, NewInvitation};
use domain::ids::{Id, Invitation, Person};
use domain::tenant::Tenant;
use domain::time::DAY;
use domain::topic::Topic;
use providers::mail::Mail;
use store::invitations::{self, InvitationRow};
use store::people::{self, PersonRow};
use store::{DbError, TenantTx, Tx};

use super::access::{self, Caller};
use super::passwords::{self, Lane};
use super::sessions::{self, Begun, Client};
use super::{App, Failure, changes, members, sign_in};

/// How long an invitation is open.
const LIFE: i64 = 7 * DAY;
/// Open invitations of a workspace.
const MOST: usize = 200;
/// Random characters of a token: 260 bits.
const TOKEN: usize = 52;
const BATCH: i64 = 500;

fn view(row: InvitationRow) -> InvitationView {
    InvitationView {
        id: row.id,
        email: row.email,
        name: row.name,
        role: row.role,
        invited_by: row.invited_by,
        created_at: row.created_at,
        expires_at: row.expires_at,
        url: None,
        mailed: None,
    }
}

fn url(app: &App, token: &str) -> String {
    // What follows the # is not sent to any server.
    format!("{}/console/invitation#{token}", app.config.public_url)
}

/// Invites a person. The answer is the only place that shows the link.
///
/// # Errors
/// 400; 403 for an owner invited by somebody else; 409 for a member, and beyond the ceiling.
pub async fn create(app: &App, caller: &Caller, body: NewInvitation) -> Result<InvitationView, Failure> {
    let (tenant, context) = (caller.tenant(), app.context());
    let row = InvitationRow {
        id: context.ids.make(),
        workspace: tenant,
        email: members::email(&body.email)?,
        name: body.name.map_or(Ok(String::new()), |name| super::people::name("name", &name))?,
        role: body.role,
        invited_by: caller.actor(),
        created_at: context.now,
        expires_at: context.now.plus(LIFE),
    };
    let (token, mailed) = (app.ids.random_text(TOKEN), app.ids.random_text(TOKEN));
    let hash = app.keyring.hash(&token);
    let mail_hash = app.mailer.is_some().then(|| app.keyring.hash(&mailed));
    let (stored, actor) = (row.clone(), caller.actor());
    let workspace = app
        .of(tenant)
        .tx(move |tx| {
            let workspace = access::workspace_for_update(tx)?;
            members::may_give(tx, actor, stored.role)?;
            if store::members::list(tx)?.iter().any(|member| member.email == stored.email) {
                return Err(Failure::conflict("email is already a member of the workspace"));
            }
            let open = invitations::list(tx, stored.created_at)?;
            if open.iter().filter(|other| other.email != stored.email).count() >= MOST {
                let message = format!("the workspace has {MOST} open invitations; revoke some first");
                return Err(Failure::conflict(message));
            }
            invitations::insert(tx, &stored, &hash, mail_hash.as_deref())?;
            changes::note_all(tx, stored.created_at, Topic::Members)?;
            Ok(workspace.name)
        })
        .await?;
    let sent = mail(app, &row, &workspace, &url(app, &mailed)).await;
    Ok(InvitationView { url: Some(url(app, &token)), mailed: Some(sent), ..view(row) })
}

/// Mails the link; whether the server took it. Without a server, or if it refuses, the inviter passes its own link on.
async fn mail(app: &App, row: &InvitationRow, workspace: &str, url: &str) -> bool {
    let Some(mailer) = &app.mailer else { return false };
    let text = format!(
        "You are invited into the workspace {workspace} as {}.\n\n{url}\n\nThe link works once, until {}. If you do not know \
         what this is about, do nothing.\n",
        row.role, row.expires_at
    );
    let mail = Mail {
        id: row.id.to_string(),
        to: row.email.clone(),
        subject: format!("Invitation into {workspace}"),
        text,
    };
    let sent = mailer.send(&mail).await;
    if let Err(why) = &sent {
        tracing::warn!(about = %row.id, cause = ?why, "an invitation could not be mailed");
    }
    sent.is_ok()
}

/// Open invitations.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<InvitationView>, Failure> {
    let now = app.clock.now();
    let rows = app.of(tenant).read(move |tx| invitations::list(tx, now)).await?;
    Ok(rows.into_iter().map(view).collect())
}

/// Revokes an invitation.
///
/// # Errors
/// 404 for one that is not open.
pub async fn revoke(app: &App, tenant: Tenant, id: Id<Invitation>) -> Result<(), Failure> {
    let now = app.clock.now();
    let revoke = move |tx: &mut TenantTx| {
        let revoked = invitations::revoke(tx, id, now)?;
        if revoked {
            changes::note_all(tx, now, Topic::Members)?;
        }
        Ok::<_, DbError>(revoked)
    };
    let revoked = app.of(tenant).tx(revoke).await?;
    if revoked { Ok(()) } else { Err(Failure::not_found("invitation")) }
}

fn invalid() -> Failure {
    Failure::plain(error_codes::INVITATION_INVALID)
}

/// Who accepts an invitation.
enum Guest {
    /// A person who has signed in, or has given the password.
    Known(Id<Person>),
    /// A person who has no account yet: the name, and the hash of the password.
    New(String, String),
}

/// Accepts an invitation and begins a session. `signed_in` is the person of the browser's session.
///
/// # Errors
/// 403 `invitation_invalid` for a link that is used, revoked, over or somebody else's; 400 without name or password where they
/// are needed; 401 `sign_in_failed`; 409; 429; 503.
pub async fn accept(
    app: &App,
    body: AcceptInvitation,
    signed_in: Option<PersonRow>,
    client: Client,
) -> Result<Begun, Failure> {
    let (context, hash) = (app.context(), app.keyring.hash(&body.token));
    let (now, wanted) = (context.now, hash.clone());
    let look_up = move |tx: &mut Tx<'_>| {
        let Some((row, proven)) = invitations::find(tx, &wanted, now)? else { return Ok(None) };
        let known = people::by_email(tx, &row.email)?;
        Ok::<_, DbError>(Some((row, proven, known)))
    };
    let (row, proven, known) = app.store.read(look_up).await?.ok_or_else(invalid)?;
    let guest = match (signed_in, known) {
        (Some(person), _) if person.email == row.email => Guest::Known(person.id),
        (_, Some(_)) => {
            let password = body.password.ok_or_else(|| {
                Failure::field(
                    "password",
                    "is required: there is an account with this address; or sign in first",
                )
            })?;
            let attempt = sign_in::Attempt { email: row.email.clone(), password, client: client.clone() };
            Guest::Known(sign_in::check_attempt(app, attempt).await?.id)
        }
        (_, None) => {
            let name = body.name.as_deref().ok_or_else(|| Failure::field("name", "is required"))?;
            let password = body.password.as_deref();
            let password = password.ok_or_else(|| Failure::field("password", "is required"))?;
            passwords::check("password", password)?;
            let name = super::people::name("name", name)?;
            Guest::New(name, passwords::hash(app, Lane::Stranger, password).await?)
        }
    };
    let access_changes = app.access_changes();
    let accept = move |tx: &mut Tx<'_>| {
        // The workspace first, as where members change.
        access::workspace_for_update(&mut tx.of(row.workspace))?;
        if !invitations::take(tx, row.id)? {
            return Err(invalid());
        }
        let person = match &guest {
            Guest::Known(id) => {
                if proven {
                    people::verify(tx, *id, context.now)?;
                }
                people::get(tx, *id)?.ok_or_else(invalid)?
            }
            Guest::New(name, hash) => {
                let (person, made) = members::find_or_make(tx, &context, &row.email, name, proven)?;
                if !made {
                    return Err(Failure::conflict(
                        "there is an account with this address by now; sign in first",
                    ));
                }
                people::set_password(tx, person.id, hash)?;
                person
            }
        };
        members::add(tx, &context, row.workspace, &person, row.role)?;
        access_changes(tx)?;
        Ok(person)
    };
    let person = app.store.tx(accept).await?;
    sessions::begin(app, &person, client).await
}

/// Deletes invitations that are over.
pub async fn sweep(app: &App) -> Result<(), DbError> {
    let now = app.clock.now();
    while app.store.tx(move |tx| invitations::sweep(tx, now, BATCH)).await? == BATCH as u64 {}
    Ok(())
}

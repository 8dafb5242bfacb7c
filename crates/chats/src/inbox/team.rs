//! Who answers chats: availability, ceilings, and the settings of the inbox.

use api::inbox::{InboxCeiling, InboxMember, InboxSettings, InboxSettingsChange};
use app::limits::pages;
use app::{App, Failure, access, topics};
use domain::chat::inbox::{Assignment, DEFAULT_CEILING, present_since};
use domain::ids::{Id, User};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::inbox::{self, InboxMemberRow, SettingsRow};
use store::members::MemberRow;
use store::{TenantTx, Tx};

const DEFAULTS: SettingsRow =
    SettingsRow { assignment: Assignment::Manual, max_open: DEFAULT_CEILING, response_minutes: None };

/// The settings of a workspace.
pub(super) fn settings(tx: &mut TenantTx) -> Result<SettingsRow, Failure> {
    Ok(inbox::settings(tx)?.unwrap_or(DEFAULTS))
}

fn shown(row: SettingsRow) -> InboxSettings {
    InboxSettings {
        assignment: row.assignment,
        max_open_per_member: row.max_open,
        first_response_minutes: row.response_minutes,
    }
}

/// `GET /v1/inbox/assignment`.
///
/// # Errors
/// 404 without the workspace.
pub async fn assignment(app: &App, tenant: Tenant) -> Result<InboxSettings, Failure> {
    app.of(tenant)
        .read(|tx| {
            access::workspace(tx)?;
            settings(tx).map(shown)
        })
        .await
}

/// `PUT /v1/inbox/assignment`.
///
/// # Errors
/// 404 without the workspace.
pub async fn set_assignment(
    app: &App,
    tenant: Tenant,
    body: InboxSettingsChange,
) -> Result<InboxSettings, Failure> {
    let row = SettingsRow {
        assignment: body.assignment,
        max_open: body.max_open_per_member,
        response_minutes: body.first_response_minutes,
    };
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            inbox::save_settings(tx, &row)?;
            tx.wake(topics::INBOX);
            Ok(shown(row))
        })
        .await
}

/// A member as stored: id, name, open chats, and what the inbox keeps.
type Stored = (Id<User>, String, i64, Option<InboxMemberRow>);

fn member(stored: Stored, settings: &SettingsRow, now: Timestamp) -> InboxMember {
    let (user_id, name, open_chats, kept) = stored;
    let own = kept.and_then(|kept| kept.max_open);
    let available = kept.is_some_and(|kept| kept.available);
    InboxMember {
        user_id,
        name,
        available,
        present: available && kept.is_some_and(|kept| kept.seen_at >= present_since(now)),
        last_seen_at: kept.map(|kept| kept.seen_at).filter(|at| at.0 > 0),
        open_chats,
        max_open: own.unwrap_or(settings.max_open),
        own_max_open: own.is_some(),
        last_assigned_at: kept.map(|kept| kept.assigned_at).filter(|at| at.0 > 0),
    }
}

/// `GET /v1/inbox/team`: members who may reply, with the cursor of the next page.
///
/// # Errors
/// 404 without the workspace.
pub async fn list(
    app: &App,
    tenant: Tenant,
    after: Option<String>,
    limit: i64,
) -> Result<(Vec<InboxMember>, Option<String>), Failure> {
    let now = app.clock.now();
    let page = app.store.read(move |tx| {
        access::workspace(&mut tx.of(tenant))?;
        let settings = settings(&mut tx.of(tenant))?;
        let read = |tx: &mut Tx<'_>, limit: i64, after: Option<&str>| {
            let rows = inbox::team(&mut tx.of(tenant), after, limit)?;
            let next = pages::last(&rows, limit, |(id, ..)| id.to_string());
            let views =
                rows.into_iter().map(|(id, name, held, kept)| member((id, name, held, kept), &settings, now));
            Ok::<_, Failure>((views.collect(), next))
        };
        pages::views(tx, limit, after.clone(), read, |view: &InboxMember| view.user_id.to_string())
    });
    page.await
}

/// What the inbox keeps of a member, with a default for who was never seen.
fn kept(tx: &mut TenantTx, member: Id<User>) -> Result<InboxMemberRow, Failure> {
    Ok(inbox::inbox_member(tx, member)?.unwrap_or(InboxMemberRow {
        member,
        available: false,
        seen_at: Timestamp(0),
        max_open: None,
        assigned_at: Timestamp(0),
    }))
}

fn saved(
    tx: &mut TenantTx,
    who: MemberRow,
    row: InboxMemberRow,
    now: Timestamp,
) -> Result<InboxMember, Failure> {
    inbox::save_inbox_member(tx, &row)?;
    tx.wake(topics::INBOX);
    let held = inbox::held(tx, who.id)?;
    let settings = settings(tx)?;
    Ok(member((who.id, who.name, held, Some(row)), &settings, now))
}

/// `PUT /v1/inbox/availability`: the member takes chats, or no more. Counts as being seen.
///
/// # Errors
/// 403 for who may not reply.
pub async fn available(
    app: &App,
    tenant: Tenant,
    member: Id<User>,
    available: bool,
) -> Result<InboxMember, Failure> {
    let now = app.clock.now();
    app.of(tenant)
        .tx(move |tx| {
            let who = super::caller(tx, member)?;
            let row = kept(tx, member)?;
            let row = InboxMemberRow { available, seen_at: now.max(row.seen_at), ..row };
            saved(tx, who, row, now)
        })
        .await
}

/// `PUT /v1/inbox/team/{id}`: how many chats round robin gives a member.
///
/// # Errors
/// 404 for who is no member or may not reply.
pub async fn set_ceiling(
    app: &App,
    tenant: Tenant,
    member: Id<User>,
    body: InboxCeiling,
) -> Result<InboxMember, Failure> {
    let now = app.clock.now();
    app.of(tenant)
        .tx(move |tx| {
            let who = super::replier(tx, member)?.ok_or_else(|| Failure::not_found("member"))?;
            let row = InboxMemberRow { max_open: body.max_open, ..kept(tx, member)? };
            saved(tx, who, row, now)
        })
        .await
}

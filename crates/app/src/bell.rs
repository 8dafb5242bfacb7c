//! What concerns a member: assigned, mentioned, an import done (docs/contract/live.md#bell).

use api::bell::{Notification, NotificationSubject, NotificationsRead, ReadNotifications};
use domain::actor::Actor;
use domain::ids::{self, Campaign, Id, Kind, User};
use domain::tenant::{Mode, Tenant};
use domain::time::DAY;
use domain::topic::{NotificationKind, Topic};
use store::bell::{self, NotificationRow};
use store::{TenantTx, Tx};

use super::limits::pages;
use super::{App, Context, Failure, changes};

/// Notifications that are kept of a member, and for how long.
pub const MOST: i64 = 500;
pub const KEPT: i64 = 90 * DAY;
/// Rows that are dropped at once.
const SWEPT: i64 = 5_000;
/// Bytes of one in an answer, about.
const BYTES: usize = 400;

/// What a notification is about: the noun and the id.
pub struct Subject {
    noun: &'static str,
    id: String,
}

impl Subject {
    pub fn new<K: Kind>(noun: &'static str, id: Id<K>) -> Self {
        Self { noun, id: id.to_string() }
    }
}

/// Notifies a member of the workspace of the transaction.
pub fn notify(
    tx: &mut TenantTx,
    context: &Context,
    (member, mode): (Id<User>, Mode),
    kind: NotificationKind,
    subject: Subject,
) -> Result<(), Failure> {
    let row = NotificationRow {
        id: context.ids.make(),
        member,
        mode,
        kind: kind.to_string(),
        subject_type: subject.noun.to_owned(),
        subject: subject.id,
        created_at: context.now,
        read_at: None,
    };
    bell::insert(tx, &row)?;
    bell::keep_newest(tx, member, MOST)?;
    Ok(changes::note_in(tx, context.now, Some(mode), Topic::Bell, Some(&member.to_string()))?)
}

/// Notes who launches a campaign: its end concerns them.
pub fn launched(tx: &mut TenantTx, campaign: Id<Campaign>, by: Actor) -> Result<(), Failure> {
    Ok(bell::set_launcher(tx, campaign, by.member())?)
}

/// Notifies the member who launched a campaign, if one did.
pub fn tell_launcher(
    tx: &mut TenantTx,
    context: &Context,
    campaign: Id<Campaign>,
    kind: NotificationKind,
) -> Result<(), Failure> {
    let Some(member) = bell::launcher(tx, campaign)? else { return Ok(()) };
    notify(tx, context, (member, Mode::Live), kind, Subject::new("campaign", campaign))
}

fn view(row: NotificationRow) -> Notification {
    Notification {
        id: row.id,
        kind: row.kind,
        subject: NotificationSubject { r#type: row.subject_type, id: row.subject },
        created_at: row.created_at,
        read_at: row.read_at,
    }
}

/// `GET /v1/notifications`: the page, and the key of the next one.
pub async fn list(
    app: &App,
    tenant: Tenant,
    (member, mode): (Id<User>, Mode),
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<Notification>, Option<String>), Failure> {
    let page = app.store.read(move |tx| {
        let read = |tx: &mut Tx<'_>, limit: i64, before: Option<&str>| {
            let before = before.unwrap_or("ntf_~");
            let mut rows = bell::list(&mut tx.of(tenant), member, mode, before, limit + 1)?;
            let more = rows.len() as i64 > limit;
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            let next = rows.last().filter(|_| more).map(|row| row.id.to_string());
            Ok::<_, Failure>((rows, next))
        };
        pages::read(tx, limit, before.clone(), read, |_, row: NotificationRow| {
            Ok((row.id.to_string(), BYTES, view(row)))
        })
    });
    page.await
}

/// `POST /v1/notifications/read`.
///
/// # Errors
/// `invalid_request` unless exactly one of `upTo` and `ids` is given, with ids of notifications.
pub async fn read(
    app: &App,
    tenant: Tenant,
    (member, mode): (Id<User>, Mode),
    body: ReadNotifications,
) -> Result<NotificationsRead, Failure> {
    let id = |field: &str, text: &str| {
        text.parse::<Id<ids::Notification>>().map_err(|why| Failure::field(field, why))
    };
    let (last, these) = match (body.up_to, body.ids) {
        (Some(last), None) => (Some(id("upTo", &last)?), Vec::new()),
        (None, Some(these)) => {
            let these: Result<Vec<_>, _> = these.iter().map(|text| id("ids", text)).collect();
            (None, these?)
        }
        _ => return Err(Failure::field("upTo", "or ids must be given, and not both")),
    };
    let now = app.clock.now();
    app.of(tenant)
        .tx(move |tx| {
            let read = match last {
                Some(last) => bell::read_up_to(tx, member, mode, last, now)?,
                None => bell::read_these(tx, member, mode, &these, now)?,
            };
            if read > 0 {
                // The member's other tabs.
                changes::note_in(tx, now, Some(mode), Topic::Bell, Some(&member.to_string()))?;
            }
            Ok(NotificationsRead { read, unread: bell::unread(tx, member, mode)? })
        })
        .await
}

/// Drops what is too old.
pub async fn sweep(app: &App) -> Result<(), Failure> {
    let before = app.clock.now().plus(-KEPT);
    while app.store.tx(move |tx| bell::sweep(tx, before, SWEPT)).await? as i64 == SWEPT {}
    Ok(())
}

//! Notifications (docs/contract/channel.md#notifications): stored before they are acknowledged, and worked afterwards:
//! fairly between accounts, in their order for each person, each item once, for it is marked as worked in the
//! transaction of its work.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use api::contacts::Erased;
use api::error_codes::{LINK_INVALID, UNAUTHORIZED};
use app::erasure::ErasedPerson;
use app::{App, Context, Failure, topics};
use cloud_api::notifications::{Item, is_signed, parse, weight};
use domain::channel::{Notification, ProviderKind, Recipient};
use domain::ids::{ChannelConnection, Id};
use domain::tenant::Tenant;
use domain::time::{DAY, MINUTE, SECOND, Timestamp};
use runtime::crypto::Keyring;
use store::Tx;
use store::channel_accounts::{self, ConnectionRow};
use store::channel_inbox::{self, NotificationRow};

use crate::connections::{self, Behind};
use crate::inflow::Inflow;
pub use crate::inflow::MAX_WAITING;
use crate::{ahead, notifications};

/// How long a connection's items belong to the node that works them.
const LEASE: i64 = MINUTE;
/// Connections that are taken at once.
const CONNECTIONS: i64 = 16;
/// Items of a connection that are worked before others have their turn.
const BATCH: i64 = 512;
/// Items that share a transaction: a commit costs more than the work of an item.
const TOGETHER: usize = 64;
/// Transactions of a connection that run at once.
const AT_ONCE: usize = 8;
/// The same while many notifications come in.
const AT_ONCE_BESIDE: usize = 1;
/// So many notifications that are being stored are many.
const MANY: usize = 8;
/// Items of a notification that shares its commit with others.
const SMALL: usize = 64;
/// Items of a larger one that are stored in one transaction: what others wait for.
const PIECE: usize = 500;
/// Longest body, in bytes, that is read on the thread on which it came.
const SHORT: usize = 64 * 1024;
/// Tries of an item.
const TRIES: i64 = 6;
/// How long it is known what was received: the provider repeats itself for a week.
const KEPT: i64 = 8 * DAY;
/// Items that are forgotten at once.
const FORGOTTEN: i64 = 5_000;

/// Whether something came in about a message that is not known, since the store's log was last emptied, and when
/// that was.
#[derive(Default)]
struct ToldOfUnknown {
    told: AtomicBool,
    emptied: Mutex<Option<Timestamp>>,
}

/// Something came in about a message that is not known. It may have been to a person who was erased, and what the
/// provider says may name the person: the store's log has it for a while.
pub(crate) fn told_of_unknown(app: &App, tx: &mut Tx<'_>) {
    let known = app.kept.of(ToldOfUnknown::default);
    tx.after_commit(move || known.told.store(true, Ordering::Release));
}

/// Empties the store's log of what was told of unknown messages, once a minute at most.
async fn leave_no_trace(app: &App) {
    let (known, now) = (app.kept.of(ToldOfUnknown::default), app.clock.now());
    let rests = |at: &Option<Timestamp>| at.is_some_and(|at| now < at.plus(MINUTE) && now >= at);
    if !known.told.load(Ordering::Acquire)
        || rests(&known.emptied.lock().unwrap_or_else(PoisonError::into_inner))
    {
        return;
    }
    known.told.store(false, Ordering::Release);
    *known.emptied.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    if let Err(why) = app.store.leave_no_trace().await {
        known.told.store(true, Ordering::Release);
        tracing::warn!(%why, "what was told of unknown messages leaves the write-ahead log later");
    }
}

/// Notifications that are being stored on this node. While they are many, what has come is worked by few: the provider
/// waits for its answer, and repeats what it gets none for.
#[derive(Default)]
struct Arriving(AtomicUsize);

impl Arriving {
    fn at_once(&self) -> usize {
        if self.0.load(Ordering::Relaxed) < MANY { AT_ONCE } else { AT_ONCE_BESIDE }
    }
}

/// One of them, until it is stored.
struct Arrival(Arc<Arriving>);

impl Arrival {
    fn of(app: &App) -> Self {
        let arriving = app.kept.of(Arriving::default);
        arriving.0.fetch_add(1, Ordering::Relaxed);
        Self(arriving)
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Answers the verification of an address: the challenge, if the caller knows the token. Guesses are throttled like
/// invalid keys.
///
/// # Errors
/// 404 without such a connection, 403 with another token, 429 after too many guesses.
pub async fn verify(
    app: &App,
    id: &str,
    client: IpAddr,
    mode: Option<&str>,
    token: Option<&str>,
    challenge: Option<&str>,
) -> Result<String, Failure> {
    let mut unknown = false;
    let look_up = async {
        let behind = match connections::behind(app, id).await {
            Err(failure) if failure.error.status < 500 => {
                unknown = true;
                return Ok(None);
            }
            found => found?,
        };
        let knows =
            mode == Some("subscribe") && token.is_some_and(|token| behind.credentials.verifies(token));
        Ok(challenge.filter(|_| knows).map(str::to_owned))
    };
    let hash = app.keyring.hash(&format!("channel_hook:{id}:{}", token.unwrap_or_default()));
    let wrong = "the verification does not have the token of the connection";
    match app.admit_secret(&hash, client, look_up, wrong).await {
        Err(failure) if failure.error == UNAUTHORIZED && unknown => Err(Failure::not_found("connection")),
        Err(failure) if failure.error == UNAUTHORIZED => Err(Failure::new(LINK_INVALID, wrong)),
        answer => answer,
    }
}

/// Where notifications come in.
pub struct Entrance(Arc<Behind>);

impl Entrance {
    /// Whose account it is.
    pub fn tenant(&self) -> Tenant {
        self.0.row.workspace
    }
}

/// The connection behind an address, before its body is read.
///
/// # Errors
/// 404 without such a connection.
pub async fn entrance(app: &App, id: &str) -> Result<Entrance, Failure> {
    connections::behind(app, id).await.map(Entrance)
}

/// Takes a notification: how many items of it are about this account. They are stored when this returns. `weigh` takes
/// memory for what is read of it.
///
/// # Errors
/// 401 without the right signature; 400 for a body that is no notification; 429 when more comes than the rate of a
/// connection; 503 when too much waits.
pub async fn receive<B>(
    app: &App,
    entrance: Entrance,
    signature: &str,
    body: B,
    weigh: impl FnOnce(usize) -> Result<(), Failure>,
) -> Result<usize, Failure>
where
    B: AsRef<[u8]> + Send + 'static,
{
    let behind = entrance.0;
    let inflow = Inflow::of(app, behind.row.id);
    let bytes = body.as_ref().len();
    let items = if bytes <= SHORT {
        signed(&behind, signature, body.as_ref())?;
        inflow.admit_bytes(app.clock.now(), bytes)?;
        weigh(weight(bytes))?;
        read(app.clock.now(), &behind, body.as_ref())?
    } else {
        // Megabytes take tens of milliseconds, which others would wait for on this thread.
        let (now, turn) = (app.clock.now(), inflow.clone());
        let checked = behind.clone();
        let signature = signature.to_owned();
        let body = blocking(move || signed(&checked, &signature, body.as_ref()).map(|()| body)).await?;
        inflow.admit_bytes(now, bytes)?;
        weigh(weight(bytes))?;
        // One of a connection at a time.
        let _turn = turn.reading.lock().await;
        let behind = behind.clone();
        blocking(move || read(now, &behind, body.as_ref())).await?
    };
    let count = items.len();
    if count == 0 {
        return Ok(0);
    }
    inflow.admit_items(app.clock.now(), count, bytes)?;
    let _coming = inflow.room(app, &behind.row, count).await?;
    let context = app.context();
    let rows = |items: Vec<Item>| -> Result<Vec<NotificationRow>, Failure> {
        items.into_iter().map(|item| row(&context, &behind.row, item, context.now)).collect()
    };
    if count <= SMALL {
        store(app, rows(items)?).await?;
    } else {
        // Between two pieces others have their turn at the store, also what comes from this connection.
        let mut items = items.into_iter();
        loop {
            let piece: Vec<Item> = items.by_ref().take(PIECE).collect();
            if piece.is_empty() {
                break;
            }
            let _turn = inflow.storing.lock().await;
            store(app, rows(piece)?).await?;
        }
    }
    Ok(count)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    runtime::blocking::run(work).await.map_err(|why| Failure::internal(why.to_string()))?
}

/// Refuses a body without the signature of its connection.
fn signed(behind: &Behind, signature: &str, body: &[u8]) -> Result<(), Failure> {
    if behind.row.provider == ProviderKind::Cloud
        && is_signed(behind.credentials.app_secret(), signature, body)
    {
        return Ok(());
    }
    Err(Failure::new(UNAUTHORIZED, "the signature is not that of this body"))
}

/// The items of a notification that are about this account.
fn read(now: Timestamp, behind: &Behind, body: &[u8]) -> Result<Vec<Item>, Failure> {
    let mut items =
        parse(body, now).map_err(|why| Failure::field("body", why.trim_start_matches("the body ")))?;
    items.retain(|item| item.business_account == behind.row.business_account);
    Ok(items)
}

/// Stores items and wakes those who work them. Small notifications that wait together share a commit.
pub(crate) async fn store(app: &App, mut rows: Vec<NotificationRow>) -> Result<(), Failure> {
    let _arrival = Arrival::of(app);
    // Of the same item twice the first one counts: it has its place among the others of its person.
    let mut keys = BTreeSet::new();
    rows.retain(|row| keys.insert(row.key.clone()));
    let small = rows.len() <= SMALL;
    let add = move |tx: &mut Tx<'_>| {
        for row in &rows {
            channel_inbox::insert(tx, row)?;
        }
        tx.wake(topics::CHANNEL_NOTIFICATIONS);
        Ok::<_, Failure>(())
    };
    if small { app.store.tx_adding(add).await } else { app.store.tx(add).await }
}

/// An item as it is stored; it is worked at `at`.
pub(crate) fn row(
    context: &Context,
    connection: &ConnectionRow,
    item: Item,
    at: Timestamp,
) -> Result<NotificationRow, Failure> {
    let person = item.notification.person().and_then(|person| person.address());
    let lane = match person {
        Some(person) => lane(&context.keyring, connection.workspace, &person),
        None => format!("account:{}", connection.id),
    };
    let mut notification = item.notification;
    if let Notification::Status(status) = &mut notification {
        // It is found by the message. The person may be erased by now, and what is stored once leaves traces.
        status.to.phone = None;
    }
    Ok(NotificationRow {
        id: context.ids.make(),
        workspace: connection.workspace,
        connection: connection.id,
        key: context.keyring.hash(&format!("channel:{}", item.key)),
        lane,
        phone_number_id: item.phone_number_id,
        payload: Some(
            serde_json::to_string(&notification).map_err(|why| Failure::internal(why.to_string()))?,
        ),
        attempts: 0,
        next_at: at,
        received_at: context.now,
    })
}

/// The lane of a person: what is about the same person is worked in its order.
fn lane(keyring: &Keyring, tenant: Tenant, person: &Recipient) -> String {
    keyring.hash(&format!("channel_lane:{tenant}:{}", person.text()))
}

/// Connections with work, which now belong to this node for a while.
pub async fn take(app: &App) -> Result<Vec<(Id<ChannelConnection>, Tenant)>, Failure> {
    let now = app.clock.now();
    let take = |patient: bool| {
        app.store.tx(move |tx| {
            let taken = channel_inbox::take_connections(tx, now, now.plus(LEASE), CONNECTIONS, patient)?;
            Ok::<_, Failure>(taken)
        })
    };
    let taken = take(false).await?;
    // A connection that was passed over may be held by a request that changes it: nobody would work it for a second.
    if taken.is_empty() && app.store.shared() && first_due(app).await?.is_some_and(|due| due <= now) {
        return take(true).await;
    }
    Ok(taken)
}

async fn first_due(app: &App) -> Result<Option<Timestamp>, Failure> {
    app.store.read(|tx| Ok::<_, Failure>(channel_inbox::next_at(tx)?)).await
}

/// When to look again. What is due by now belongs to another node, or waits for what is before it.
pub async fn next(app: &App) -> Result<Option<Timestamp>, Failure> {
    let soon = app.clock.now().plus(SECOND);
    let next = first_due(app).await?;
    Ok(next.map(|next| if next < soon { soon } else { next }))
}

/// Works a batch of a connection, then gives it back, so that others have their turn.
pub async fn work(app: Arc<App>, id: Id<ChannelConnection>, tenant: Tenant) {
    let worked = batch(&app, id, tenant).await.unwrap_or_else(|failure| {
        failure.warn_about(id, "notifications of the messaging channel could not be worked");
        0
    });
    leave_no_trace(&app).await;
    // With nothing but what waits for its next try, or without a store, it rests for a moment.
    let now = app.clock.now();
    let until = if worked > 0 { now } else { now.plus(SECOND) };
    let back = app.store.tx(move |tx| Ok::<_, Failure>(channel_inbox::lease(tx, tenant, id, until)?)).await;
    if let Err(failure) = back {
        failure.warn_about(id, "a connection of the messaging channel waits for the end of its lease");
    }
}

/// Works what is due; how many items were worked.
async fn batch(app: &Arc<App>, id: Id<ChannelConnection>, tenant: Tenant) -> Result<usize, Failure> {
    let now = app.clock.now();
    let (connection, rows) = app
        .store
        .read(move |tx| {
            let connection = channel_accounts::by_id(tx, id)?;
            Ok::<_, Failure>((connection, channel_inbox::due(tx, tenant, id, now, BATCH)?))
        })
        .await?;
    let Some(connection) = connection else { return Ok(0) };
    let mut lanes: BTreeMap<String, Vec<NotificationRow>> = BTreeMap::new();
    for row in rows {
        lanes.entry(row.lane.clone()).or_default().push(row);
    }
    let mut groups: Vec<Vec<Vec<NotificationRow>>> = Vec::new();
    for rows in lanes.into_values() {
        match groups.last_mut() {
            Some(group) if group.iter().map(Vec::len).sum::<usize>() + rows.len() <= TOGETHER => {
                group.push(rows)
            }
            _ => groups.push(vec![rows]),
        }
    }
    let mut groups = groups.into_iter();
    let arriving = app.kept.of(Arriving::default);
    let mut working = tokio::task::JoinSet::new();
    let mut worked = 0;
    loop {
        while working.len() < arriving.at_once() {
            let Some(group) = groups.next() else { break };
            working.spawn(work_group(app.clone(), connection.clone(), group));
        }
        match working.join_next().await {
            None => return Ok(worked),
            Some(group) => worked += group.unwrap_or(0),
        }
    }
}

/// Works the items of several people; how many. If they cannot be worked together, each person's are by themselves.
async fn work_group(app: Arc<App>, connection: ConnectionRow, group: Vec<Vec<NotificationRow>>) -> usize {
    let all: Vec<NotificationRow> = group.iter().flatten().cloned().collect();
    let count = all.len();
    match work_together(&app, &connection, all).await {
        Ok(()) => return count,
        Err(failure) if failure.of_store => {
            failure.warn_about(connection.id, "notifications of the messaging channel wait for the store");
            return 0;
        }
        Err(_) => {}
    }
    let mut worked = 0;
    for rows in group {
        worked += work_lane(&app, &connection, rows).await;
    }
    worked
}

/// Works the items of a person; how many. One that fails lets those behind it wait.
async fn work_lane(app: &Arc<App>, connection: &ConnectionRow, rows: Vec<NotificationRow>) -> usize {
    let mut worked = 0;
    for row in rows {
        let id = row.id;
        let Err(failure) = work_together(app, connection, vec![row.clone()]).await else {
            worked += 1;
            continue;
        };
        if failure.of_store {
            failure.warn_about(id, "a notification of the messaging channel waits for the store");
            return worked;
        }
        let attempts = row.attempts + 1;
        let given_up = attempts >= TRIES;
        if given_up {
            failure.log_about(id, "a notification of the messaging channel is given up");
        } else {
            failure.warn_about(id, "a notification of the messaging channel is tried again");
        }
        let (tenant, at) = (connection.workspace, app.clock.now().plus(SECOND << (2 * attempts)));
        let stored = app
            .store
            .tx(move |tx| {
                if given_up {
                    channel_inbox::done(tx, tenant, id)?;
                } else {
                    channel_inbox::again(tx, tenant, &row, attempts, at)?;
                }
                Ok::<_, Failure>(())
            })
            .await;
        if !given_up || stored.is_err() {
            return worked;
        }
        worked += 1;
    }
    worked
}

/// Works items in one transaction, which also marks them as worked.
async fn work_together(
    app: &Arc<App>,
    connection: &ConnectionRow,
    rows: Vec<NotificationRow>,
) -> Result<(), Failure> {
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(payload) = &row.payload else { continue };
        match serde_json::from_str::<Notification>(payload) {
            Ok(notification) => items.push((row.id, row.phone_number_id, row.received_at, notification)),
            // It will not become readable, so it is done with, and holds nobody up. The words of the error may
            // repeat what the item says.
            Err(why) => tracing::error!(
                notification = %row.id,
                kind = ?why.classify(),
                column = why.column(),
                "a notification of the messaging channel cannot be read and is passed over"
            ),
        }
    }
    let (app_, connection) = (app.clone(), connection.clone());
    app.store
        .tx(move |tx| {
            let tenant = connection.workspace;
            let worked = channel_inbox::done_each(tx, tenant, &ids)?;
            let about = items.iter().filter(|(id, ..)| worked.contains(id));
            ahead::notifications(
                tx,
                &app_.context(),
                tenant,
                about.map(|(_, number, _, notification)| (number.as_deref(), notification)),
            )?;
            for (id, number, received_at, notification) in &items {
                if worked.contains(id) {
                    notifications::take(
                        &app_,
                        tx,
                        &connection,
                        number.as_deref(),
                        *received_at,
                        notification,
                    )?;
                }
            }
            Ok(())
        })
        .await
}

/// Forgets what came long ago; whether there may be more of it.
pub async fn forget(app: &App) -> Result<bool, Failure> {
    leave_no_trace(app).await;
    let before = app.clock.now().plus(-KEPT);
    let gone =
        app.store.tx(move |tx| Ok::<_, Failure>(channel_inbox::forget(tx, before, FORGOTTEN)?)).await?;
    Ok(i64::try_from(gone).unwrap_or(i64::MAX) >= FORGOTTEN)
}

/// Forgets what a person wrote and was not worked yet.
pub fn erase(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    person: &ErasedPerson,
    _: &mut Erased,
) -> Result<(), Failure> {
    let people: Vec<Recipient> = person.numbers.iter().map(|number| Recipient::Phone(*number)).collect();
    forget_people(tx, &context.keyring, tenant, &people)
}

/// The same by the addresses of a person on the channel.
pub fn forget_people(
    tx: &mut Tx<'_>,
    keyring: &Keyring,
    tenant: Tenant,
    people: &[Recipient],
) -> Result<(), Failure> {
    let lanes: Vec<String> = people.iter().map(|person| lane(keyring, tenant, person)).collect();
    channel_inbox::erase(tx, tenant, &lanes)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_in_goes_before_what_is_worked() {
        let arriving = Arriving::default();
        assert_eq!(arriving.at_once(), AT_ONCE);
        arriving.0.store(MANY, Ordering::Relaxed);
        assert_eq!(arriving.at_once(), AT_ONCE_BESIDE);
    }
}

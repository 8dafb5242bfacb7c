//! The webhook of an account, and the worker of its queue (docs/contract/channel.md#notifications). Notifications are
//! stored before they are acknowledged, then worked exactly once: fairly between accounts and in order for each person. An
//! item leaves the queue in the transaction of its work.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use api::contacts::Erased;
use api::error_codes::{LINK_INVALID, UNAUTHORIZED};
use app::erasure::ErasedPerson;
use app::{App, Context, Failure};
use cloud_api::notifications::{Item, is_signed, parse, weight};
use domain::channel::{Notification, ProviderKind, Recipient};
use domain::ids::{ChannelConnection, Id};
use domain::tenant::Tenant;
use domain::time::{DAY, MINUTE, SECOND, Timestamp};
use store::TenantTx;
use store::channel_accounts::{self, ConnectionRow};
use store::channel_inbox::{self, NotificationRow};

use crate::accounts::{self, OpenedConnection};
use crate::inflow::Inflow;
pub use crate::inflow::MAX_WAITING;
use crate::notification_queue::{Arriving, SMALL, forget_people, row, store, truncate_log};
use crate::{notifications, prefetch};

/// Lease of the node that works a connection's items.
const LEASE: i64 = MINUTE;
/// Connections leased in one go.
const CONNECTIONS: i64 = 16;
/// Most items of a connection that are worked before another connection.
const BATCH: i64 = 512;
/// Most items of one transaction: a commit costs more than the work of an item.
const ITEMS_A_TRANSACTION: usize = 64;
/// Items of a large notification that are stored in one transaction: how long others wait.
const PIECE: usize = 500;
/// Longest body, in bytes, that is parsed on the async thread; longer ones go to a blocking thread.
const SHORT: usize = 64 * 1024;
/// Attempts to work an item before it is dropped with an error in the log.
const TRIES: i64 = 6;
/// How long received items are remembered for deduplication: the provider retries for a week.
const KEPT: i64 = 8 * DAY;
/// Remembered items that are deleted in one go.
const FORGOTTEN: i64 = 5_000;

/// Answers the provider's verification of the webhook address: the challenge, if the verify token matches. Guesses are
/// throttled like invalid API keys.
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
        let behind = match accounts::connection_of_hook(app, id).await {
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
    let wrong = "hub.verify_token is not the token of the connection";
    match app.admit_secret(&hash, client, look_up, wrong).await {
        Err(failure) if failure.error == UNAUTHORIZED && unknown => Err(Failure::not_found("connection")),
        Err(failure) if failure.error == UNAUTHORIZED => Err(Failure::new(LINK_INVALID, wrong)),
        answer => answer,
    }
}

/// The connection whose webhook address was called.
pub struct HookConnection(Arc<OpenedConnection>);

impl HookConnection {
    /// The workspace of the connection.
    pub fn tenant(&self) -> Tenant {
        self.0.row.workspace
    }
}

/// Looks up the connection of a webhook address, before the body is read.
///
/// # Errors
/// 404 without such a connection.
pub async fn hook_connection(app: &App, id: &str) -> Result<HookConnection, Failure> {
    accounts::connection_of_hook(app, id).await.map(HookConnection)
}

/// Checks and stores a notification. Returns the number of its items that are about this account. `weigh` reserves memory
/// for what is parsed.
///
/// # Errors
/// 401 for a wrong signature; 400 for a body that is no notification; 429 above the rate of a connection; 503 when its
/// queue is full.
pub async fn receive<B>(
    app: &App,
    connection: HookConnection,
    signature: &str,
    body: B,
    weigh: impl FnOnce(usize) -> Result<(), Failure>,
) -> Result<usize, Failure>
where
    B: AsRef<[u8]> + Send + 'static,
{
    let behind = connection.0;
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

/// Refuses a body that the connection's secret has not signed.
fn signed(behind: &OpenedConnection, signature: &str, body: &[u8]) -> Result<(), Failure> {
    if behind.row.provider == ProviderKind::Cloud
        && is_signed(behind.credentials.app_secret(), signature, body)
    {
        return Ok(());
    }
    Err(Failure::new(
        UNAUTHORIZED,
        "X-Hub-Signature-256 is not the signature of this body with the app's secret",
    ))
}

/// The items of a notification that are about this account.
fn read(now: Timestamp, behind: &OpenedConnection, body: &[u8]) -> Result<Vec<Item>, Failure> {
    let mut items =
        parse(body, now).map_err(|why| Failure::field("body", why.trim_start_matches("the body ")))?;
    items.retain(|item| item.business_account == behind.row.business_account);
    Ok(items)
}

/// Leases connections with due items for this node.
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

/// When to look again. Items that are due already are leased to another node, or wait behind others of their lane.
pub async fn next(app: &App) -> Result<Option<Timestamp>, Failure> {
    let soon = app.clock.now().plus(SECOND);
    let next = first_due(app).await?;
    Ok(next.map(|next| if next < soon { soon } else { next }))
}

/// Works a batch of a connection, then returns its lease, so that other connections get their turn.
pub async fn work(app: Arc<App>, id: Id<ChannelConnection>, tenant: Tenant) {
    let worked = batch(&app, id, tenant).await.unwrap_or_else(|failure| {
        failure.warn_about(id, "notifications of the messaging channel could not be worked");
        0
    });
    truncate_log(&app).await;
    // With nothing but what waits for its next try, or without a store, it rests for a moment.
    let now = app.clock.now();
    let until = if worked > 0 { now } else { now.plus(SECOND) };
    let back =
        app.store.tx(move |tx| Ok::<_, Failure>(channel_inbox::lease(&mut tx.of(tenant), id, until)?)).await;
    if let Err(failure) = back {
        failure.warn_about(id, "a connection of the messaging channel waits for the end of its lease");
    }
}

/// Works due items. Returns their number.
async fn batch(app: &Arc<App>, id: Id<ChannelConnection>, tenant: Tenant) -> Result<usize, Failure> {
    let now = app.clock.now();
    let (connection, rows) = app
        .of(tenant)
        .read(move |tx| {
            let connection = channel_accounts::by_id(tx, id)?;
            Ok::<_, Failure>((connection, channel_inbox::due(tx, id, now, BATCH)?))
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
            Some(group) if group.iter().map(Vec::len).sum::<usize>() + rows.len() <= ITEMS_A_TRANSACTION => {
                group.push(rows)
            }
            _ => groups.push(vec![rows]),
        }
    }
    let mut groups = groups.into_iter();
    let arriving = app.state.of(Arriving::default);
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

/// Works items of several people in one transaction; if that fails, each person's by themselves. Returns their number.
async fn work_group(app: Arc<App>, connection: ConnectionRow, group: Vec<Vec<NotificationRow>>) -> usize {
    let all: Vec<NotificationRow> = group.iter().flatten().cloned().collect();
    let count = all.len();
    match work_batch(&app, &connection, all).await {
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

/// Works the items of one person, in order. One that fails delays those behind it. Returns their number.
async fn work_lane(app: &Arc<App>, connection: &ConnectionRow, rows: Vec<NotificationRow>) -> usize {
    let mut worked = 0;
    for row in rows {
        let id = row.id;
        let Err(failure) = work_batch(app, connection, vec![row.clone()]).await else {
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
            .of(tenant)
            .tx(move |tx| {
                if given_up {
                    channel_inbox::done(tx, id)?;
                } else {
                    channel_inbox::again(tx, &row, attempts, at)?;
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

/// Works items in one transaction, which also removes them from the queue.
async fn work_batch(
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
            let worked = channel_inbox::done_each(&mut tx.of(tenant), &ids)?;
            let about = items.iter().filter(|(id, ..)| worked.contains(id));
            prefetch::notifications(
                &mut tx.of(tenant),
                &app_.context(),
                about.map(|(_, number, _, notification)| (number.as_deref(), notification)),
            )?;
            for (id, number, received_at, notification) in &items {
                if worked.contains(id) {
                    notifications::handle(
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

/// Deletes remembered items after their time. Returns whether there may be more.
pub async fn forget(app: &App) -> Result<bool, Failure> {
    truncate_log(app).await;
    let before = app.clock.now().plus(-KEPT);
    let gone =
        app.store.tx(move |tx| Ok::<_, Failure>(channel_inbox::forget(tx, before, FORGOTTEN)?)).await?;
    Ok(i64::try_from(gone).unwrap_or(i64::MAX) >= FORGOTTEN)
}

/// Deletes a person's queued notifications.
pub fn erase(
    tx: &mut TenantTx,
    context: &Context,
    person: &ErasedPerson,
    _: &mut Erased,
) -> Result<(), Failure> {
    let people: Vec<Recipient> = person.numbers.iter().map(|number| Recipient::Phone(*number)).collect();
    forget_people(tx, &context.keyring, &people)
}

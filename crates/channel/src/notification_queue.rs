//! The queue of received notifications: how an item is written to it, and what keeps it from starving those that write.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use app::{App, Context, Failure, topics};
use cloud_api::notifications::Item;
use domain::channel::{Notification, Recipient};
use domain::tenant::Tenant;
use domain::time::{MINUTE, Timestamp};
use runtime::crypto::Keyring;
use store::channel_accounts::ConnectionRow;
use store::channel_inbox::{self, NotificationRow};
use store::{TenantTx, Tx};

/// Concurrent transactions of a connection.
pub(crate) const AT_ONCE: usize = 8;

/// Concurrent transactions of a connection while many notifications are being stored.
pub(crate) const AT_ONCE_BESIDE: usize = 1;

/// From this many notifications that are being stored on, fewer are worked at once.
pub(crate) const MANY: usize = 8;

/// Items of a notification that shares its commit with others.
pub(crate) const SMALL: usize = 64;

/// Whether a status of an unknown message was stored since the write-ahead log was last truncated, and when that was.
#[derive(Default)]
struct UnknownStatuses {
    told: AtomicBool,
    emptied: Mutex<Option<Timestamp>>,
}

/// Notes that a status of an unknown message was stored. The message may have been to an erased person, whom the
/// notification may name, and the write-ahead log of the store still holds it.
pub(crate) fn note_unknown_status(app: &App, tx: &mut Tx<'_>) {
    let known = app.state.of(UnknownStatuses::default);
    tx.after_commit(move || known.told.store(true, Ordering::Release));
}

/// Truncates the write-ahead log after statuses of unknown messages, at most once a minute.
pub(crate) async fn truncate_log(app: &App) {
    let (known, now) = (app.state.of(UnknownStatuses::default), app.clock.now());
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

/// Notifications that are being stored on this node. While there are many, few are worked at once: the provider waits for
/// its answer, and retries without one.
#[derive(Default)]
pub(crate) struct Arriving(pub(crate) AtomicUsize);

impl Arriving {
    pub(crate) fn at_once(&self) -> usize {
        if self.0.load(Ordering::Relaxed) < MANY { AT_ONCE } else { AT_ONCE_BESIDE }
    }
}

/// Counts one notification while it is being stored.
struct Arrival(Arc<Arriving>);

impl Arrival {
    fn of(app: &App) -> Self {
        let arriving = app.state.of(Arriving::default);
        arriving.0.fetch_add(1, Ordering::Relaxed);
        Self(arriving)
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Stores items and wakes the workers. Small concurrent notifications share a commit.
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

/// The row of an item that is due at `at`.
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

/// The lane of a person: items of one lane are worked in order.
fn lane(keyring: &Keyring, tenant: Tenant, person: &Recipient) -> String {
    keyring.hash(&format!("channel_lane:{tenant}:{}", person.text()))
}

/// Deletes queued notifications by the channel addresses of a person.
pub(crate) fn forget_people(
    tx: &mut TenantTx,
    keyring: &Keyring,
    people: &[Recipient],
) -> Result<(), Failure> {
    let tenant = tx.tenant();
    let lanes: Vec<String> = people.iter().map(|person| lane(keyring, tenant, person)).collect();
    channel_inbox::erase(tx, &lanes)?;
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

//! Limits of a connection's notifications: rate, and length of the queue (docs/contract/channel.md#limits).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use api::error_codes::{INBOX_FULL, RATE_LIMITED};
use app::{App, Failure};
use domain::channel::limits::Pace;
use domain::ids::{ChannelConnection, Id};
use domain::time::{SECOND, Timestamp};
use store::channel_accounts::ConnectionRow;
use store::channel_inbox;

/// Most queued items of a connection. Further ones are refused, and the provider retries them later.
pub const MAX_WAITING: i64 = 200_000;
/// Within this distance of the ceiling the queue is counted more often.
const NEAR: i64 = MAX_WAITING / 4;
/// Items of a connection that a node accepts: 10,000 a second, with a burst.
const RATE: Pace = Pace { gap: 100, burst: 60_000 };
/// Bytes of a notification that count as one item, whatever it holds.
const ITEM_BYTES: usize = 1_024;
/// Most connections whose limits a node remembers.
const REMEMBERED: usize = 10_000;
/// `Retry-After` when the queue is full, seconds.
const FULL: i64 = 30;

/// The limiters of this node, by connection.
#[derive(Default)]
struct Inflows(Mutex<HashMap<Id<ChannelConnection>, Arc<Inflow>>>);

/// The limiter of one connection on this node.
#[derive(Default)]
pub(crate) struct Inflow {
    /// Held while a large notification is read.
    pub(crate) reading: tokio::sync::Mutex<()>,
    /// Held while a piece of a large notification is stored.
    pub(crate) storing: tokio::sync::Mutex<()>,
    /// Held while the queue is counted.
    counting: tokio::sync::Mutex<()>,
    /// Up to when its rate is used up, as [`Pace`] has it.
    used: Mutex<i64>,
    fill: Mutex<Fill>,
}

/// How full the queue of a connection is, as this node knows it.
#[derive(Default)]
struct Fill {
    /// When it was counted, and how much it was.
    counted: Option<(Timestamp, i64)>,
    /// Items stored by this node since that count began.
    since: i64,
    /// All items that this node has stored.
    stored: i64,
    /// Items that are being stored.
    coming: i64,
}

impl Fill {
    fn waiting(&self) -> i64 {
        let counted = self.counted.map_or(0, |(_, counted)| counted);
        counted.saturating_add(self.since).saturating_add(self.coming)
    }
}

/// Items that are being stored. Once it is dropped they count as stored, until the next count.
pub(crate) struct Coming {
    inflow: Arc<Inflow>,
    items: i64,
}

impl Drop for Coming {
    fn drop(&mut self) {
        let mut fill = self.inflow.fill();
        fill.coming -= self.items;
        fill.since += self.items;
        fill.stored += self.items;
    }
}

fn as_items(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Inflow {
    /// The limiter of a connection.
    pub(crate) fn of(app: &App, connection: Id<ChannelConnection>) -> Arc<Self> {
        let inflows = app.state.of(Inflows::default);
        let mut known = inflows.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > REMEMBERED {
            known.retain(|_, inflow| Arc::strong_count(inflow) > 1);
        }
        known.entry(connection).or_default().clone()
    }

    fn fill(&self) -> std::sync::MutexGuard<'_, Fill> {
        self.fill.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the bytes of a notification against the rate.
    ///
    /// # Errors
    /// 429 with the seconds after which it may come.
    pub(crate) fn admit_bytes(&self, now: Timestamp, bytes: usize) -> Result<(), Failure> {
        self.admit(now, as_items(bytes.div_ceil(ITEM_BYTES).max(1)))
    }

    /// Counts the items of a notification, as far as its bytes do not count for them.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn admit_items(&self, now: Timestamp, items: usize, bytes: usize) -> Result<(), Failure> {
        match items.saturating_sub(bytes.div_ceil(ITEM_BYTES).max(1)) {
            0 => Ok(()),
            more => self.admit(now, as_items(more)),
        }
    }

    fn admit(&self, now: Timestamp, items: i64) -> Result<(), Failure> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        match RATE.take_many(*used, now, items) {
            Ok(next) => {
                *used = next;
                Ok(())
            }
            Err(again) => {
                let wait = (again.0 - now.0).max(1).unsigned_abs().div_ceil(SECOND.unsigned_abs());
                let why = "more than 10,000 items a second of notifications of this connection; send them again \
                           after Retry-After seconds";
                Err(Failure {
                    retry_after: Some(i64::try_from(wait).unwrap_or(FULL)),
                    ..Failure::new(RATE_LIMITED, why)
                })
            }
        }
    }

    /// Reserves room in the queue. It is counted once a second, and more often near the ceiling where other nodes add
    /// to it.
    ///
    /// # Errors
    /// 503 when the queue is full.
    pub(crate) async fn room(
        self: &Arc<Self>,
        app: &App,
        connection: &ConnectionRow,
        items: usize,
    ) -> Result<Coming, Failure> {
        let (items, shared) = (as_items(items), app.store.shared());
        if let Some(known) = self.known_room(app.clock.now(), items, shared) {
            return known;
        }
        // Who waited for a count may rest on it.
        let _counting = self.counting.lock().await;
        if let Some(known) = self.known_room(app.clock.now(), items, shared) {
            return known;
        }
        let (now, before) = (app.clock.now(), self.fill().stored);
        let row = connection.clone();
        let counted = app.of(row.workspace).read(move |tx| channel_inbox::waiting(tx, row.id)).await?;
        let mut fill = self.fill();
        fill.counted = Some((now, counted));
        // What was stored meanwhile may be among the counted or not.
        fill.since = fill.stored - before;
        self.take(&mut fill, items)
    }

    /// Reserves room by the last count; `None` when that is too old.
    fn known_room(
        self: &Arc<Self>,
        now: Timestamp,
        items: i64,
        shared: bool,
    ) -> Option<Result<Coming, Failure>> {
        let mut fill = self.fill();
        let (at, _) = fill.counted?;
        let near = shared && fill.waiting() > MAX_WAITING - NEAR;
        let good_for = if near { SECOND / 10 } else { SECOND };
        (at <= now && now.0 - at.0 < good_for).then(|| self.take(&mut fill, items))
    }

    fn take(self: &Arc<Self>, fill: &mut Fill, items: i64) -> Result<Coming, Failure> {
        if fill.waiting().saturating_add(items) > MAX_WAITING {
            return Err(Failure { retry_after: Some(FULL), ..Failure::plain(INBOX_FULL) });
        }
        fill.coming += items;
        Ok(Coming { inflow: self.clone(), items })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_its_rate_and_its_burst() {
        let (inflow, now) = (Inflow::default(), Timestamp(1_000_000));
        for _ in 0..6 {
            inflow.admit_bytes(now, 3 << 20).unwrap();
            inflow.admit_items(now, 10_000, 3 << 20).unwrap();
        }
        let refused = inflow.admit_items(now, 10_000, 1).unwrap_err();
        assert_eq!((refused.error, refused.retry_after), (RATE_LIMITED, Some(1)));
        inflow.admit_items(now.plus(SECOND), 10_000, 1).unwrap();
        inflow.admit_items(now.plus(SECOND), 10_000, 1).unwrap_err();
        inflow.admit_items(now.plus(10 * SECOND), 60_000, 1).unwrap();
        // What holds nothing counts by its bytes.
        assert!((0..30).any(|_| inflow.admit_bytes(now.plus(10 * SECOND), 3 << 20).is_err()));
    }
}

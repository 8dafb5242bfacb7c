//! Slots of a number and of a pair: when a message may go.

use app::{App, Failure};
use domain::channel::limits::Pace;
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use store::Tx;
use store::channel_messages::{self, ThreadRow};

use crate::numbers::Number;
use crate::slots::Slot;

/// How far ahead a message of a request may take a slot of its number.
pub(crate) const MOST_WAIT: i64 = SECOND;

/// The last moment of a slot that a message of a request may wait for. Nobody waits for a clock that stands still.
pub(crate) fn latest_slot(app: &App) -> Timestamp {
    let now = app.clock.now();
    if app.clock.is_manual() { now } else { now.plus(MOST_WAIT) }
}

/// Takes a slot of the number, unless there is one, and of the pair: the moment of it, or the moment at which to
/// come again.
pub(super) fn take_slot(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    number: &Number,
    mut thread: ThreadRow,
    now: Timestamp,
    latest: Timestamp,
    slot: Option<&Slot>,
) -> Result<Result<Timestamp, Timestamp>, Failure> {
    let (at, line) = match slot {
        Some(slot) => (slot.at.max(now), None),
        None => {
            let mut line = channel_messages::line_for_update(tx, tenant, &number.phone_number_id)?;
            match slot_of_number(number, line.used, now, latest) {
                Ok((at, used)) => {
                    line.used = used;
                    (at, Some(line))
                }
                Err(at) => return Ok(Err(at)),
            }
        }
    };
    match Pace::of_pair().take(thread.used, at) {
        Err(again) => Ok(Err(again)),
        Ok(pair) => {
            thread.used = pair;
            thread.last_at = now;
            channel_messages::save_thread(tx, tenant, &thread)?;
            if let Some(line) = line {
                channel_messages::save_line(tx, &line)?;
            }
            Ok(Ok(at))
        }
    }
}

/// The next slot of a number up to `latest`, with the pace afterwards; or the moment at which there is one.
pub(crate) fn slot_of_number(
    number: &Number,
    used: i64,
    now: Timestamp,
    latest: Timestamp,
) -> Result<(Timestamp, i64), Timestamp> {
    let pace = Pace::of_number(number.rate);
    match pace.take(used, now) {
        Ok(used) => Ok((now, used)),
        Err(at) if at <= latest => pace.take(used, at).map(|used| (at, used)),
        Err(at) => Err(at),
    }
}

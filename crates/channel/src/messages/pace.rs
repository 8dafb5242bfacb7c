//! Rate limits of a number and of a recipient: the slots at which messages may be sent.

use app::{App, Failure};
use domain::channel::limits::Pace;

use domain::time::{SECOND, Timestamp};
use store::TenantTx;
use store::channel_messages::{self, ThreadRow};

use crate::numbers::Number;
use crate::slots::Slot;

/// How far ahead a request may take a slot of its number, milliseconds.
pub(crate) const MOST_WAIT: i64 = SECOND;

/// The latest slot that a request may wait for; now under the manual clock.
pub(crate) fn latest_slot(app: &App) -> Timestamp {
    let now = app.clock.now();
    if app.clock.is_manual() { now } else { now.plus(MOST_WAIT) }
}

/// Takes a slot of the number, unless one is reserved, and of the recipient. Returns its moment; the error is when to
/// retry.
pub(super) fn take_slot(
    tx: &mut TenantTx,
    number: &Number,
    mut thread: ThreadRow,
    now: Timestamp,
    latest: Timestamp,
    slot: Option<&Slot>,
) -> Result<Result<Timestamp, Timestamp>, Failure> {
    let (at, line) = match slot {
        Some(slot) => (slot.at.max(now), None),
        None => {
            let mut line = channel_messages::send_queue_for_update(tx, &number.phone_number_id)?;
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
            channel_messages::save_thread(tx, &thread)?;
            if let Some(line) = line {
                channel_messages::save_send_queue(tx, &line)?;
            }
            Ok(Ok(at))
        }
    }
}

/// The next slot of a number up to `latest`, with the limiter's state after it; the error is when there is one.
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

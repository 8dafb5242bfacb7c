//! Messaging tier: to how many people an account may write outside of their 24-hour windows.

use app::contact_policy;
use app::{App, Context, Failure};
use domain::channel::Recipient;
use domain::channel::limits::{TIER_TIME, tier_people};

use store::TenantTx;
use store::channel_messages::{self, MessageRow};

use crate::numbers::Number;
use crate::people::address;

/// Counted people deleted in one go.
const FORGOTTEN: i64 = 5_000;

/// The tier of a number's account: most people outside of their windows in 24 hours.
pub(crate) fn people_of(number: &Number) -> Option<i64> {
    tier_people(number.tier.as_deref())
}

/// The key that people are counted under: the account, whatever number sends.
pub(crate) fn account_of(number: &Number) -> String {
    number.account.to_string()
}

/// Whether the tier has room for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// There is no limit.
    Unlimited,
    /// Yes; the count is locked until the transaction ends.
    Free {
        /// Whether the person is one more.
        is_new: bool,
    },
    /// No new person.
    Full,
}

/// Whether the tier has room for this person; the count is locked until the transaction ends.
pub(crate) fn room_for(
    tx: &mut TenantTx,
    context: &Context,
    number: &Number,
    to: &Recipient,
) -> Result<Room, Failure> {
    let Some(most) = people_of(number) else { return Ok(Room::Unlimited) };
    let reached = channel_messages::reached(tx, &account_of(number), context.now.plus(-TIER_TIME))?;
    let person = contact_policy::person_hash(&context.keyring, &to.text());
    let is_new = !channel_messages::is_reached(tx, &account_of(number), &person)?;
    Ok(if is_new && reached >= most { Room::Full } else { Room::Free { is_new } })
}

/// [`room_for`] without a lock.
pub(super) fn has_room_now(
    tx: &mut TenantTx,
    context: &Context,
    number: &Number,
    to: &Recipient,
) -> Result<bool, Failure> {
    let Some(most) = people_of(number) else { return Ok(true) };
    let after = context.now.plus(-TIER_TIME);
    let person = contact_policy::person_hash(&context.keyring, &to.text());
    Ok(channel_messages::count_reached(tx, &account_of(number), after)? < most
        || channel_messages::is_reached(tx, &account_of(number), &person)?)
}

/// Counts a person against the tier.
pub(crate) fn reach(
    tx: &mut TenantTx,
    context: &Context,
    number: &Number,
    row: &MessageRow,
    room: Room,
) -> Result<(), Failure> {
    let person = contact_policy::person_hash(&context.keyring, &address(row).unwrap_or_default());
    let account = account_of(number);
    match room {
        Room::Free { is_new } => channel_messages::reach(tx, &account, &person, is_new, context.now)?,
        Room::Unlimited | Room::Full => {
            channel_messages::reach_uncounted(tx, &account, &person, context.now)?
        }
    }
    Ok(())
}

/// Deletes counts of accounts without a limit after a day. Returns whether there may be more.
pub(crate) async fn forget_reached(app: &App) -> Result<bool, Failure> {
    let before = app.clock.now().plus(-TIER_TIME);
    let gone = app
        .store
        .tx(move |tx| Ok::<_, Failure>(channel_messages::forget_reached(tx, before, FORGOTTEN)?))
        .await?;
    Ok(i64::try_from(gone).unwrap_or(i64::MAX) >= FORGOTTEN)
}

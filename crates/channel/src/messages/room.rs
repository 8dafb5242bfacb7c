//! To how many people an account may write without being asked.

use app::contact_policy;
use app::{App, Context, Failure};
use domain::channel::Recipient;
use domain::channel::limits::{TIER_TIME, tier_people};
use domain::tenant::Tenant;
use store::Tx;
use store::channel_messages::{self, MessageRow};

use super::rows::address;
use crate::numbers::Number;

/// People who are forgotten at once.
const FORGOTTEN: i64 = 5_000;

/// Most people that the account of a number may write to in 24 hours without being asked.
pub(crate) fn people_of(number: &Number) -> Option<i64> {
    tier_people(number.tier.as_deref())
}

/// What people are counted against: the account, whatever number sends.
pub(crate) fn account_of(number: &Number) -> String {
    number.account.to_string()
}

/// Whether an account may write to a person without being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// To as many as it likes; nobody counts.
    Unlimited,
    /// To this person, too; the count is held until the transaction ends.
    Free {
        /// Whether the person is one more.
        is_new: bool,
    },
    /// To nobody new.
    Full,
}

/// Whether the account may write to one more person, with the count held until the transaction ends.
pub(crate) fn room_for(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    number: &Number,
    to: &Recipient,
) -> Result<Room, Failure> {
    let Some(most) = people_of(number) else { return Ok(Room::Unlimited) };
    let reached = channel_messages::reached(tx, tenant, &account_of(number), context.now.plus(-TIER_TIME))?;
    let person = contact_policy::person_hash(&context.keyring, &to.text());
    let is_new = !channel_messages::is_reached(tx, tenant, &account_of(number), &person)?;
    Ok(if is_new && reached >= most { Room::Full } else { Room::Free { is_new } })
}

/// The same for a look that changes nothing.
pub(super) fn has_room_now(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    number: &Number,
    to: &Recipient,
) -> Result<bool, Failure> {
    let Some(most) = people_of(number) else { return Ok(true) };
    let after = context.now.plus(-TIER_TIME);
    let person = contact_policy::person_hash(&context.keyring, &to.text());
    Ok(channel_messages::count_reached(tx, tenant, &account_of(number), after)? < most
        || channel_messages::is_reached(tx, tenant, &account_of(number), &person)?)
}

/// Notes that the account writes to a person without being asked, where it has room.
pub(crate) fn reach(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    number: &Number,
    row: &MessageRow,
    room: Room,
) -> Result<(), Failure> {
    let person = contact_policy::person_hash(&context.keyring, &address(row).unwrap_or_default());
    let account = account_of(number);
    match room {
        Room::Free { is_new } => channel_messages::reach(tx, tenant, &account, &person, is_new, context.now)?,
        Room::Unlimited | Room::Full => {
            channel_messages::reach_uncounted(tx, tenant, &account, &person, context.now)?
        }
    }
    Ok(())
}

/// Forgets whom accounts without a limit wrote to more than a day ago; whether there may be more.
pub(crate) async fn forget_reached(app: &App) -> Result<bool, Failure> {
    let before = app.clock.now().plus(-TIER_TIME);
    let gone = app
        .store
        .tx(move |tx| Ok::<_, Failure>(channel_messages::forget_reached(tx, before, FORGOTTEN)?))
        .await?;
    Ok(i64::try_from(gone).unwrap_or(i64::MAX) >= FORGOTTEN)
}

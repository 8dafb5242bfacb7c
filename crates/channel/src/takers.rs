//! What messages and statuses lead to: each is handed to its noun.

use app::{App, Failure};
use domain::channel::notification::{Echo, Preference, Received, StatusUpdate};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::Tx;

use crate::numbers::Number;

/// A customer's message. `inbound::message` takes it.
pub(crate) fn message(
    _: &App,
    _: &mut Tx<'_>,
    _: Tenant,
    _: &Number,
    _: Timestamp,
    _: &Received,
) -> Result<(), Failure> {
    Ok(())
}

/// A message that the business wrote elsewhere. `inbound::echo` takes it.
pub(crate) fn echo(_: &App, _: &mut Tx<'_>, _: Tenant, _: &Number, _: &Echo) -> Result<(), Failure> {
    Ok(())
}

/// News of a message. `statuses::status` takes it.
pub(crate) fn status(
    _: &App,
    _: &mut Tx<'_>,
    _: Tenant,
    _: &Number,
    _: &StatusUpdate,
) -> Result<(), Failure> {
    Ok(())
}

/// A customer's choice about marketing. `consent::preference` takes it.
pub(crate) fn preference(
    _: &App,
    _: &mut Tx<'_>,
    _: Tenant,
    _: &Number,
    _: &Preference,
) -> Result<(), Failure> {
    Ok(())
}

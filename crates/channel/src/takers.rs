//! What messages and statuses lead to: each is handed to its noun.

use app::{App, Failure};
use domain::channel::notification::{Echo, Preference, Received, StatusUpdate};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::Tx;

use crate::numbers::Number;
use crate::{inbound, statuses};

pub(crate) fn message(
    app: &App,
    tx: &mut Tx<'_>,
    tenant: Tenant,
    number: &Number,
    received_at: Timestamp,
    received: &Received,
) -> Result<(), Failure> {
    inbound::message(app, tx, tenant, number, received_at, received)
}

/// A message that the business wrote elsewhere.
pub(crate) fn echo(
    app: &App,
    tx: &mut Tx<'_>,
    tenant: Tenant,
    number: &Number,
    echo: &Echo,
) -> Result<(), Failure> {
    inbound::echo(app, tx, tenant, number, echo)
}

/// News of a message.
pub(crate) fn status(
    app: &App,
    tx: &mut Tx<'_>,
    tenant: Tenant,
    number: &Number,
    status: &StatusUpdate,
) -> Result<(), Failure> {
    statuses::status(app, tx, tenant, number, status)
}

/// A customer's choice about marketing.
pub(crate) fn preference(
    app: &App,
    tx: &mut Tx<'_>,
    tenant: Tenant,
    _: &Number,
    preference: &Preference,
) -> Result<(), Failure> {
    inbound::preference(app, tx, tenant, preference)
}

//! What a provider's error means beyond its message: for the person, for the number, and for how fast it may send.

use app::contact_policy;
use app::{App, Failure};
use domain::channel::errors::{Effect, ProviderError};
use domain::ids::{ChannelNumber, Id};

use store::channel_messages::MessageRow;
use store::{TenantTx, channel_consents, contacts};

use crate::numbers;

/// Applies a provider's error to the person and to the number.
pub(crate) fn struck(
    app: &App,
    tx: &mut TenantTx,
    number: Id<ChannelNumber>,
    row: &MessageRow,
    error: &ProviderError,
) -> Result<(), Failure> {
    person_struck(app, tx, row, error)?;
    number_struck(app, tx, number, error)
}

/// Stores what a provider's error means for the number: a spam limit pauses its agents.
pub(crate) fn number_struck(
    app: &App,
    tx: &mut TenantTx,
    number: Id<ChannelNumber>,
    error: &ProviderError,
) -> Result<(), Failure> {
    if error.effect() == Effect::SpamLimited {
        numbers::spam_limited(tx, &app.context(), number)?;
    }
    Ok(())
}

/// Stores what a provider's error means for the person: that they stopped marketing.
pub(crate) fn person_struck(
    app: &App,
    tx: &mut TenantTx,
    row: &MessageRow,
    error: &ProviderError,
) -> Result<(), Failure> {
    if error.effect() != Effect::MarketingStopped {
        return Ok(());
    }
    let now = app.clock.now();
    let contact = contacts::get(tx, row.contact)?;
    for person in contact_policy::hashes(&app.keyring, contact.as_ref(), None) {
        channel_consents::marketing(tx, &person, Some(now), now)?;
    }
    Ok(())
}

//! The daily check of an account (docs/contract/channel.md#upkeep): access token, quality and limits of its numbers, and
//! templates.

use std::sync::Arc;

use app::{App, Failure};
use domain::channel::ProviderKind;
use domain::channel::provider::{ConnectionStatus, NumberState};
use domain::time::{HOUR, Timestamp};
use store::channel_accounts::{self, ConnectionRow};

use crate::accounts::{account_of, brought};
use crate::campaigns::outcomes::on_account_event;
use crate::connections::tomorrow;
use crate::events::AccountEvent;
use crate::providers::provider;
use crate::{inbox, messages, numbers, templates};

/// Most accounts checked concurrently.
const AT_ONCE: i64 = 8;

/// Leases due accounts. A check that does not finish is retried in an hour.
pub async fn take(app: &App) -> Result<Vec<ConnectionRow>, Failure> {
    let now = app.clock.now();
    app.store
        .tx(move |tx| Ok::<_, Failure>(channel_accounts::take_checks(tx, now, now.plus(HOUR), AT_ONCE)?))
        .await
}

/// Announces pauses and deletes old rows. Returns when the next account is due.
pub async fn next(app: &App) -> Result<Option<Timestamp>, Failure> {
    let pause = numbers::announce_pauses(app).await?;
    while inbox::forget(app).await? && !app.clock.stopping() {}
    while messages::forget_reached(app).await? && !app.clock.stopping() {}
    let check = app.store.read(|tx| Ok::<_, Failure>(channel_accounts::next_check(tx)?)).await?;
    Ok([pause, check].into_iter().flatten().min())
}

/// Checks an account.
pub async fn look(app: Arc<App>, connection: ConnectionRow) {
    if let Err(failure) = looked(&app, &connection).await {
        failure.warn_about(connection.id, "an account of the messaging channel could not be looked at");
    }
}

async fn looked(app: &Arc<App>, connection: &ConnectionRow) -> Result<(), Failure> {
    let tenant = connection.workspace;
    if connection.provider == ProviderKind::Cloud {
        let account = account_of(&app.keyring, connection)?;
        let carrier = provider(app, &account);
        let answer = app.clock.outside(carrier.numbers(&account)).await;
        let states = match brought(app, &account, answer).await {
            Ok(states) => states,
            // The operator has to act; until then a look a day is enough.
            Err(failure) if failure.error.status < 500 => {
                failure.warn_about(
                    connection.id,
                    "the provider refuses a look at an account of the messaging channel",
                );
                return over(app, connection).await;
            }
            Err(failure) => return Err(failure),
        };
        take_over(app, connection, states).await?;
        templates::sync_all(app, &account, true).await?;
    }
    over(app, connection).await?;
    tracing::debug!(workspace = %tenant, "an account of the messaging channel was looked at");
    Ok(())
}

/// Stores the state of the numbers. The provider has accepted the token.
async fn take_over(
    app: &Arc<App>,
    connection: &ConnectionRow,
    states: Vec<NumberState>,
) -> Result<(), Failure> {
    let (app_, context, connection) = (app.clone(), app.context(), connection.clone());
    app.store
        .tx(move |tx| {
            let tenant = connection.workspace;
            let current = channel_accounts::get_for_update(&mut tx.of(tenant))?;
            if current.is_none_or(|current| current.version != connection.version) {
                return Ok(());
            }
            let accepted = ConnectionStatus::Connected;
            if channel_accounts::set_status(
                &mut tx.of(tenant),
                connection.version,
                accepted,
                None,
                context.now,
            )? {
                on_account_event(&app_, &mut tx.of(tenant), &AccountEvent::Token { accepted: true })?;
            }
            for row in channel_accounts::numbers(&mut tx.of(tenant))? {
                match states.iter().find(|state| state.phone_number_id == row.phone_number_id) {
                    Some(state) => numbers::observe(&app_, &mut tx.of(tenant), &context, row, state)?,
                    None => {
                        let gone = channel_accounts::NumberRow {
                            status: "DISCONNECTED".into(),
                            updated_at: context.now,
                            ..row
                        };
                        channel_accounts::save_number(&mut tx.of(tenant), &gone)?;
                        on_account_event(&app_, &mut tx.of(tenant), &AccountEvent::NumberGone(gone.id))?;
                    }
                }
            }
            if let Some(tier) = states.iter().find_map(|state| state.tier.as_deref()) {
                channel_accounts::set_tier(&mut tx.of(tenant), tier, context.now)?;
            }
            Ok::<_, Failure>(())
        })
        .await
}

/// The check is finished.
async fn over(app: &App, connection: &ConnectionRow) -> Result<(), Failure> {
    let (tenant, at) = (connection.workspace, tomorrow(app.clock.now()));
    app.store.tx(move |tx| Ok::<_, Failure>(channel_accounts::check_at(&mut tx.of(tenant), at)?)).await
}

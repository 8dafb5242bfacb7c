//! The daily look at an account (docs/contract/channel.md#upkeep): whether its token is accepted, how its numbers are
//! rated, what its limits are, what became of its templates.

use std::sync::Arc;

use app::{App, Failure};
use domain::channel::ProviderKind;
use domain::channel::provider::{ConnectionStatus, NumberState};
use domain::time::{HOUR, Timestamp};
use store::channel_accounts::{self, ConnectionRow};

use crate::connections::{account_of, brought, tomorrow};
use crate::facts::{self, Fact};
use crate::providers::provider;
use crate::{inbox, messages, numbers, templates};

/// Accounts that are looked at at once.
const AT_ONCE: i64 = 8;

/// Accounts whose time has come; each is looked at again in an hour unless its look comes to an end.
pub async fn take(app: &App) -> Result<Vec<ConnectionRow>, Failure> {
    let now = app.clock.now();
    app.store
        .tx(move |tx| Ok::<_, Failure>(channel_accounts::take_checks(tx, now, now.plus(HOUR), AT_ONCE)?))
        .await
}

/// When the next account is looked at, the next pause told, and old notifications forgotten.
pub async fn next(app: &App) -> Result<Option<Timestamp>, Failure> {
    let pause = numbers::announce_pauses(app).await?;
    while inbox::forget(app).await? && !app.clock.stopping() {}
    while messages::forget_reached(app).await? && !app.clock.stopping() {}
    let check = app.store.read(|tx| Ok::<_, Failure>(channel_accounts::next_check(tx)?)).await?;
    Ok([pause, check].into_iter().flatten().min())
}

/// Looks at an account.
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
        let answer = carrier.numbers(&account).await;
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
        templates::sync_all(app, &account).await?;
    }
    over(app, connection).await?;
    tracing::debug!(workspace = %tenant, "an account of the messaging channel was looked at");
    Ok(())
}

/// Takes over what the provider says of the numbers; it accepts the token.
async fn take_over(
    app: &Arc<App>,
    connection: &ConnectionRow,
    states: Vec<NumberState>,
) -> Result<(), Failure> {
    let (app_, context, connection) = (app.clone(), app.context(), connection.clone());
    app.store
        .tx(move |tx| {
            let tenant = connection.workspace;
            let current = channel_accounts::get_for_update(tx, tenant)?;
            if current.is_none_or(|current| current.version != connection.version) {
                return Ok(());
            }
            let accepted = ConnectionStatus::Connected;
            if channel_accounts::set_status(tx, tenant, connection.version, accepted, None, context.now)? {
                facts::tell(&app_, tx, tenant, &Fact::Token { accepted: true })?;
            }
            for row in channel_accounts::numbers(tx, tenant)? {
                match states.iter().find(|state| state.phone_number_id == row.phone_number_id) {
                    Some(state) => numbers::observe(&app_, tx, &context, tenant, row, state)?,
                    None => {
                        let gone = channel_accounts::NumberRow {
                            status: "DISCONNECTED".into(),
                            updated_at: context.now,
                            ..row
                        };
                        channel_accounts::save_number(tx, tenant, &gone)?;
                        facts::tell(&app_, tx, tenant, &Fact::NumberGone(gone.id))?;
                    }
                }
            }
            if let Some(tier) = states.iter().find_map(|state| state.tier.as_deref()) {
                channel_accounts::set_tier(tx, tenant, tier, context.now)?;
            }
            Ok::<_, Failure>(())
        })
        .await
}

/// The look came to an end.
async fn over(app: &App, connection: &ConnectionRow) -> Result<(), Failure> {
    let (tenant, at) = (connection.workspace, tomorrow(app.clock.now()));
    app.store.tx(move |tx| Ok::<_, Failure>(channel_accounts::check_at(tx, tenant, at)?)).await
}

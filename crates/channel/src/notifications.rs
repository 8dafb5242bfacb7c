//! Dispatches each notification to what handles it (docs/contract/channel.md#notifications).

use api::events::Event;
use api::events::channel::AccountRestriction;
use app::{App, Context, Failure};
use domain::channel::Notification;
use domain::channel::notification::AccountUpdate;
use domain::phone::E164;

use domain::time::Timestamp;
use store::channel_accounts::{self, ConnectionRow};
use store::{TenantTx, Tx};

use crate::campaigns::outcomes::on_account_event;
use crate::events::AccountEvent;
use crate::numbers::{self, Number, emit};
use crate::{inbound, statuses, templates};

/// Handles one notification, in the transaction that removes it from the queue. One about an unknown number changes
/// nothing.
///
/// # Errors
/// The item is retried.
pub(crate) fn handle(
    app: &App,
    tx: &mut Tx<'_>,
    connection: &ConnectionRow,
    phone_number_id: Option<&str>,
    received_at: Timestamp,
    notification: &Notification,
) -> Result<(), Failure> {
    let (tenant, context) = (connection.workspace, app.context());
    let number = match phone_number_id {
        Some(id) => channel_accounts::number_at_provider(&mut tx.of(tenant), id)?
            .filter(|row| row.connection == connection.id)
            .map(|row| numbers::number(connection, row)),
        None => None,
    };
    match notification {
        Notification::Message(_)
        | Notification::Echo(_)
        | Notification::Status(_)
        | Notification::Preference(_) => match &number {
            Some(number) => about_people(app, &mut tx.of(tenant), number, received_at, notification),
            None => Ok(()),
        },
        Notification::TemplateStatus(told) => templates::on_status(app, tx, &context, connection, told),
        Notification::TemplateQuality(told) => templates::on_quality(app, tx, &context, connection, told),
        Notification::TemplateCategory(told) => templates::on_category(app, tx, &context, connection, told),
        Notification::TemplateComponents(_) => templates::look_soon(&mut tx.of(tenant), &context),
        Notification::Number(told) => {
            let shown = E164::parse(&told.display_number).ok();
            let rows = channel_accounts::numbers(&mut tx.of(tenant))?;
            let Some(mut row) = rows.into_iter().find(|row| Some(row.number) == shown) else { return Ok(()) };
            row.tier = told.tier.clone().or(row.tier);
            row.high_rate |= told.event == "THROUGHPUT_UPGRADE";
            row.updated_at = context.now;
            channel_accounts::save_number(&mut tx.of(tenant), &row)?;
            if matches!(told.event.as_str(), "FLAGGED" | "UNFLAGGED") {
                // What it is now, the provider's list says.
                templates::look_soon(&mut tx.of(tenant), &context)?;
            }
            match &told.tier {
                Some(tier) => Ok(channel_accounts::set_tier(&mut tx.of(tenant), tier, context.now)?),
                None => Ok(()),
            }
        }
        Notification::Capability { tier } => {
            Ok(channel_accounts::set_tier(&mut tx.of(tenant), tier, context.now)?)
        }
        Notification::Account(told) => account(app, &mut tx.of(tenant), &context, told),
        Notification::Errors(errors) => {
            for error in errors {
                tracing::warn!(connection = %connection.id, code = error.code, title = error.title, "the messaging channel reports an error");
            }
            Ok(())
        }
    }
}

fn about_people(
    app: &App,
    tx: &mut TenantTx,
    number: &Number,
    received_at: Timestamp,
    notification: &Notification,
) -> Result<(), Failure> {
    match notification {
        Notification::Message(received) => inbound::message(app, tx, number, received_at, received),
        Notification::Echo(echo) => inbound::echo(app, tx, number, echo),
        Notification::Status(status) => statuses::status(app, tx, number, status),
        Notification::Preference(preference) => inbound::preference(app, tx, preference),
        _ => Ok(()),
    }
}

/// Stores and publishes restrictions of the account; a lifted one is cleared. When a number was added or removed, the
/// account is checked.
fn account(app: &App, tx: &mut TenantTx, context: &Context, told: &AccountUpdate) -> Result<(), Failure> {
    match told.event.as_str() {
        "ACCOUNT_RESTRICTION" | "ACCOUNT_VIOLATION" | "DISABLED_UPDATE" => {}
        "PHONE_NUMBER_ADDED" | "PHONE_NUMBER_REMOVED" => return templates::look_soon(tx, context),
        _ => return Ok(()),
    }
    let state = told.ban.as_ref().and_then(|ban| ban.get("waba_ban_state")).and_then(|state| state.as_str());
    let lifted = state == Some("REINSTATE");
    // A violation is a warning: it takes nothing away by itself.
    if told.event != "ACCOUNT_VIOLATION" {
        let restriction = (!lifted).then_some(told.event.as_str());
        channel_accounts::set_restriction(tx, restriction, context.now)?;
        on_account_event(app, tx, &AccountEvent::Restricted(!lifted))?;
    }
    if lifted {
        return Ok(());
    }
    let restriction = AccountRestriction {
        event: told.event.clone(),
        restriction_info: told.restriction.clone(),
        violation_info: told.violation.clone(),
        ban_info: told.ban.clone(),
    };
    emit(tx, context, Event::AccountRestricted(restriction))
}

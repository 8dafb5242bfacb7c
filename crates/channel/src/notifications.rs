//! What follows from each item that a provider tells (docs/contract/channel.md#notifications).

use app::{App, Context, Failure};
use domain::channel::Notification;
use domain::channel::notification::AccountUpdate;
use domain::phone::E164;
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::json;
use store::Tx;
use store::channel_accounts::{self, ConnectionRow};

use crate::facts::{self, Fact};
use crate::numbers::{self, Number, emit};
use crate::{takers, templates};

/// Takes one item, in the transaction that marks it as worked. What is about a number that is not bound here changes
/// nothing.
///
/// # Errors
/// Those of the store; the item is then tried again.
pub(crate) fn take(
    app: &App,
    tx: &mut Tx<'_>,
    connection: &ConnectionRow,
    phone_number_id: Option<&str>,
    received_at: Timestamp,
    notification: &Notification,
) -> Result<(), Failure> {
    let (tenant, context) = (connection.workspace, app.context());
    let number = match phone_number_id {
        Some(id) => channel_accounts::number_at_provider(tx, tenant, id)?
            .filter(|row| row.connection == connection.id)
            .map(|row| numbers::number(connection, row)),
        None => None,
    };
    match notification {
        Notification::Message(_)
        | Notification::Echo(_)
        | Notification::Status(_)
        | Notification::Preference(_) => match &number {
            Some(number) => about_people(app, tx, tenant, number, received_at, notification),
            None => Ok(()),
        },
        Notification::TemplateStatus(told) => templates::status_told(app, tx, &context, connection, told),
        Notification::TemplateQuality(told) => templates::quality_told(app, tx, &context, connection, told),
        Notification::TemplateCategory(told) => templates::category_told(app, tx, &context, connection, told),
        Notification::TemplateComponents(_) => templates::look_soon(tx, &context, tenant),
        Notification::Number(told) => {
            let shown = E164::parse(&told.display_number).ok();
            let rows = channel_accounts::numbers(tx, tenant)?;
            let Some(mut row) = rows.into_iter().find(|row| Some(row.number) == shown) else { return Ok(()) };
            row.tier = told.tier.clone().or(row.tier);
            row.high_rate |= told.event == "THROUGHPUT_UPGRADE";
            row.updated_at = context.now;
            channel_accounts::save_number(tx, tenant, &row)?;
            if matches!(told.event.as_str(), "FLAGGED" | "UNFLAGGED") {
                // What it is now, the provider's list says.
                templates::look_soon(tx, &context, tenant)?;
            }
            match &told.tier {
                Some(tier) => Ok(channel_accounts::set_tier(tx, tenant, tier, context.now)?),
                None => Ok(()),
            }
        }
        Notification::Capability { tier } => Ok(channel_accounts::set_tier(tx, tenant, tier, context.now)?),
        Notification::Account(told) => account(app, tx, &context, tenant, told),
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
    tx: &mut Tx<'_>,
    tenant: Tenant,
    number: &Number,
    received_at: Timestamp,
    notification: &Notification,
) -> Result<(), Failure> {
    match notification {
        Notification::Message(received) => takers::message(app, tx, tenant, number, received_at, received),
        Notification::Echo(echo) => takers::echo(app, tx, tenant, number, echo),
        Notification::Status(status) => takers::status(app, tx, tenant, number, status),
        Notification::Preference(preference) => takers::preference(app, tx, tenant, number, preference),
        _ => Ok(()),
    }
}

/// Restrictions of the account are told; one that is lifted is forgotten. When a number came or went, the account is
/// looked at.
fn account(
    app: &App,
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    told: &AccountUpdate,
) -> Result<(), Failure> {
    match told.event.as_str() {
        "ACCOUNT_RESTRICTION" | "ACCOUNT_VIOLATION" | "DISABLED_UPDATE" => {}
        "PHONE_NUMBER_ADDED" | "PHONE_NUMBER_REMOVED" => return templates::look_soon(tx, context, tenant),
        _ => return Ok(()),
    }
    let state = told.ban.as_ref().and_then(|ban| ban.get("waba_ban_state")).and_then(|state| state.as_str());
    let lifted = state == Some("REINSTATE");
    // A violation is a warning: it takes nothing away by itself.
    if told.event != "ACCOUNT_VIOLATION" {
        let restriction = (!lifted).then_some(told.event.as_str());
        channel_accounts::set_restriction(tx, tenant, restriction, context.now)?;
        facts::tell(app, tx, tenant, &Fact::Restricted(!lifted))?;
    }
    if lifted {
        return Ok(());
    }
    let data = json!({
        "event": told.event,
        "restrictionInfo": told.restriction,
        "violationInfo": told.violation,
        "banInfo": told.ban,
    });
    emit(tx, context, tenant, "chatapp.account_restricted", data)
}

//! Phones of staff that the operator has released from the platform registry, for transfers of one workspace.

use api::error_codes;
use api::transfer_numbers::{MOST, TransferNumber};
use domain::phone::Phone;
use domain::tenant::Tenant;
use store::transfer_numbers;

use super::operator_log::{self, Trace};
use super::{App, Failure, access};

/// Releases a number; one that is released already stays so.
pub async fn create(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    number: &str,
) -> Result<TransferNumber, Failure> {
    let context = app.context();
    let number = Phone::normalize(number)
        .map_err(|_| Failure::field("number", "must be a valid Indian (+91) subscriber number"))?
        .to_string();
    app.of(tenant)
        .tx(move |tx| {
            access::workspace_for_update(tx)?;
            let added = transfer_numbers::add(tx, &number, MOST, context.now)?;
            let created_at = added.ok_or_else(|| {
                Failure::conflict(format!(
                    "the workspace has {MOST} released numbers, which is the limit; revoke one first"
                ))
            })?;
            operator_log::append(tx, &context, &trace, Some(tenant), "1 number")?;
            Ok(TransferNumber { number: number.clone(), created_at })
        })
        .await
}

/// Every released number.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<TransferNumber>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            let rows = transfer_numbers::list(tx)?;
            Ok(rows.into_iter().map(|(number, created_at)| TransferNumber { number, created_at }).collect())
        })
        .await
}

/// The number is not released.
fn not_released() -> Failure {
    Failure::new(error_codes::NOT_FOUND, "number is not released for transfers; nothing was removed")
}

/// Revokes a release.
pub async fn delete(app: &App, trace: Trace, tenant: Tenant, number: &str) -> Result<(), Failure> {
    let context = app.context();
    let number = Phone::normalize(number).map_err(|_| not_released())?.to_string();
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            if !transfer_numbers::remove(tx, &number)? {
                return Err(not_released());
            }
            Ok(operator_log::append(tx, &context, &trace, Some(tenant), "1 number")?)
        })
        .await
}

//! Expiry of calls (docs/contract/calls.md#expiry): what a call says of a person goes after `calls.keep_days`; that it took
//! place, with its times, causes and price, stays.

use std::collections::BTreeMap;

use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use domain::time::DAY;
use store::{erasure, installation};

use super::{App, Failure, recordings};

/// The fact of the installation that names the last call that has expired.
const DONE: &str = "calls_expired_to";

/// Calls in one transaction.
const BATCH: i64 = 200;

/// Expires a batch of calls that are older than `calls.keep_days`. Returns whether there may be more.
///
/// # Errors
/// When the store fails; the batch is then still due.
pub async fn sweep(app: &App) -> Result<bool, Failure> {
    let days = app.config.call_days;
    if days == 0 {
        return Ok(false);
    }
    let (context, hooks) = (app.context(), app.hooks);
    // Ids are in the order of their moments.
    let before = Id::<Call>::new(context.now.plus(-days.saturating_mul(DAY)).0, 0);
    app.store
        .tx(move |tx| {
            // Nodes that share the store take turns.
            let done = installation::get_or_insert(tx, DONE, &Id::<Call>::from_bits(0).to_string())?;
            let done = installation::get_for_update(tx, DONE)?.unwrap_or(done);
            let done = done.parse().map_err(|_| Failure::internal(format!("{DONE} is no id: {done}")))?;
            let batch = erasure::over_before(tx, done, before, BATCH)?;
            let Some((_, last)) = batch.last().copied() else { return Ok(false) };
            let mut by_workspace: BTreeMap<Tenant, Vec<Id<Call>>> = BTreeMap::new();
            for (tenant, call) in &batch {
                by_workspace.entry(*tenant).or_default().push(*call);
            }
            for (tenant, calls) in by_workspace {
                let tx = &mut tx.of(tenant);
                let calls = erasure::filled(tx, &calls)?;
                if calls.is_empty() {
                    continue;
                }
                hooks.calls_expired(tx, &calls)?;
                recordings::erase(tx, &context, &calls)?;
                store::live_calls::erase(tx, &calls)?;
                erasure::empty_calls(tx, &calls, erasure::EXPIRED, context.now)?;
            }
            installation::set(tx, DONE, &last.to_string())?;
            Ok::<_, Failure>(batch.len() as i64 >= BATCH)
        })
        .await
}

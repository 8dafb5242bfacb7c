//! Write-backs of a call to connected systems (`connectorPushes`, docs/contract/calls.md#reading).

use domain::time::Timestamp;
use serde_json::{Value, json};
use store::calls::{self, CallRow};
use store::{Tx, after_calls};

use crate::Failure;
use crate::owed_steps::person_is_erased;

/// Records of a call; older ones are dropped.
const MOST: usize = 50;

/// Records a push of a call to `provider`, newest first. `status` is `success`, `failed` or `skipped`; `error` is for
/// people. The caller has locked the call. Nothing is recorded for a person who was erased.
pub fn record_push(
    tx: &mut Tx<'_>,
    call: &CallRow,
    provider: &str,
    status: &str,
    error: Option<&str>,
    at: Timestamp,
) -> Result<(), Failure> {
    if person_is_erased(tx, call)? {
        return Ok(());
    }
    let before = calls::content(&mut tx.of(call.workspace), call.id)?.connector_pushes;
    let mut pushes = vec![json!({"provider": provider, "status": status, "error": error, "createdAt": at})];
    pushes
        .extend(before.iter().flat_map(|list| list.as_array().into_iter().flatten().cloned()).take(MOST - 1));
    Ok(after_calls::save_pushes(&mut tx.of(call.workspace), call.id, &Value::Array(pushes))?)
}

//! Editing a row of a staged list. A number is valid in one row of a list, the first that has it: an edit moves the flag.

use std::collections::HashSet;

use api::campaigns::{StagedListEdit, StagedListRow as RowView};
use api::error_codes as codes;
use app::{App, Context, Failure};
use domain::campaign::list::check_variables;
use domain::campaign::staged::MAX_BYTES;
use domain::campaign::{InvalidReason, RowState};
use domain::ids::{Campaign, Id};
use domain::tenant::Tenant;
use serde_json::{Map, Value, json};
use store::TenantTx;
use store::campaigns::blocks::{self, Moves};
use store::campaigns::list::{EntryRow, FreshRow};
use store::campaigns::staged::{self as stages, EditedRow, StagedListRow};

use super::get_for_update;
use super::judge::{judge, view};
use crate::find_for_update;
use crate::list::{NewRow, fresh};
use crate::preflight::Frame;

/// `PATCH …/staged-lists/{list}/rows/{row}`.
///
/// # Errors
/// 404; 400 `invalid_variables`; 409 for a row of an erased contact.
pub async fn edit(
    app: &App,
    tenant: Tenant,
    id: Id<Campaign>,
    (list, position): (i64, i64),
    edit: StagedListEdit,
) -> Result<RowView, Failure> {
    let env = app.call_env();
    app.of(tenant)
        .tx(move |tx| {
            find_for_update(tx, id)?;
            let mut staged = get_for_update(tx, id, list)?;
            let row = row_at(tx, &staged, position)?;
            if row.invalid_reason == Some(InvalidReason::Erased) {
                return Err(Failure::conflict(
                    "the contact of this row was erased; the row cannot be edited",
                ));
            }
            let made = edited(&env.context, &row, &edit)?;
            staged.bytes += bytes_of(&made.variables)? - bytes_of(&json!(row.variables).to_string())?;
            if staged.bytes > MAX_BYTES {
                let message = format!("must not bring the list above {MAX_BYTES} bytes of variables");
                return Err(Failure::field("variables", message));
            }
            save(tx, &mut staged, &row, made)?;
            staged.touched_at = env.context.now;
            stages::save(tx, &staged)?;
            let frame = Frame::of(tx, &env, id)?;
            let row = row_at(tx, &staged, position)?;
            let judged = judge(tx, &env, &frame, std::slice::from_ref(&row))?.pop().unwrap_or_default();
            Ok(view(row, judged))
        })
        .await
}

fn row_at(tx: &mut TenantTx, staged: &StagedListRow, position: i64) -> Result<EntryRow, Failure> {
    stages::row_at(tx, staged.campaign, staged.list, position)?.ok_or_else(|| Failure::not_found("row"))
}

/// Bytes of variables as they count toward the limit of the list.
fn bytes_of(variables: &str) -> Result<i64, Failure> {
    let variables: Map<String, Value> =
        serde_json::from_str(variables).map_err(|why| Failure::internal(why.to_string()))?;
    let size = check_variables(&variables).map_err(|why| {
        Failure::new(codes::INVALID_VARIABLES, format!("variables {why}"))
            .with_meta(json!({"field": "variables"}))
    })?;
    Ok(size as i64)
}

/// The row with what the edit changes, checked like a row that comes.
fn edited(context: &Context, row: &EntryRow, edit: &StagedListEdit) -> Result<FreshRow, Failure> {
    let mut variables = row.variables.clone();
    for (name, value) in edit.variables.iter().flatten() {
        match value {
            Value::Null => _ = variables.shift_remove(name),
            value => _ = variables.insert(name.clone(), value.clone()),
        }
    }
    let row = NewRow {
        phone: edit.phone.clone().or_else(|| row.phone.clone()).unwrap_or_default(),
        name: edit.name.clone().unwrap_or_else(|| row.name.clone()),
        variables,
        stream: None,
    };
    fresh(context, row, false, &mut HashSet::new())
}

/// Saves an edited row, and moves the flag of a duplicate where its number changed.
fn save(
    tx: &mut TenantTx,
    staged: &mut StagedListRow,
    row: &EntryRow,
    mut made: FreshRow,
) -> Result<(), Failure> {
    let mut moves = Moves::default();
    // The other row that is valid with the new number, and the one that is the first with the old number now.
    let other = match made.phone_hash.as_deref().filter(|_| made.valid) {
        Some(hash) => {
            stages::valid_with(tx, staged.campaign, staged.list, hash)?.filter(|other| other.id != row.id)
        }
        None => None,
    };
    let next = match row.phone_hash.as_deref().filter(|_| row.valid) {
        Some(hash) if made.phone_hash.as_deref() != Some(hash) || !made.valid => {
            stages::first_duplicate(tx, staged.campaign, staged.list, hash)?
        }
        _ => None,
    };
    match other {
        Some(other) if other.position < row.position => made.repeats(),
        Some(other) => {
            stages::flag(tx, &other, true)?;
            moves.moved(other.position, other.standing.state, RowState::Invalid);
            staged.valid -= 1;
        }
        None => {}
    }
    moves.moved(row.position, row.standing.state, made.state);
    staged.valid += i64::from(made.valid) - i64::from(row.valid);
    let made = EditedRow {
        phone: made.phone,
        phone_hash: made.phone_hash,
        name: made.name,
        search: made.search,
        variables: made.variables,
        valid: made.valid,
        invalid_reason: made.invalid_reason,
    };
    stages::save_row(tx, row, &made)?;
    if let Some(next) = next {
        stages::flag(tx, &next, false)?;
        moves.moved(next.position, next.standing.state, RowState::Queued);
        staged.valid += 1;
    }
    Ok(blocks::count(tx, staged.campaign, staged.list, &moves)?)
}

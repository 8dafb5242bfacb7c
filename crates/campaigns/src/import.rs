//! Import of calling lists that are too large for one request: the operator uploads them in pieces, and they take
//! effect atomically (docs/contract/campaigns.md#imports). A staged list is never dialled.

use api::campaigns::{ListImport, ListImportPiece};
use app::operator_log::{self, Trace};
use app::{App, Failure, access, topics};
use domain::campaign::Tally;
use domain::campaign::list::MAX_LIST_BYTES;
use domain::ids::{Campaign, Id};
use domain::tenant::Tenant;
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;
use store::Tx;
use store::campaigns::list::{self as lists, FreshRow, ListState};
use store::campaigns::{self, CampaignRow};

use super::list::{
    Lacking, Needed, STALE, aside, check_needed, check_quiet, check_replaceable, needed, put_in_force,
    read_rows,
};
use super::{find, find_for_update};

/// Most rows of an imported list.
pub const MAX_IMPORT: i64 = 1_000_000;

fn view(state: &ListState) -> ListImport {
    ListImport {
        import_id: state.list,
        campaign_id: state.campaign,
        total: state.length,
        valid: state.valid,
        invalid: state.length - state.valid,
    }
}

fn staged(tx: &mut Tx<'_>, row: &CampaignRow, import: i64) -> Result<ListState, Failure> {
    lists::staged(&mut tx.of(row.workspace), row.id)?
        .filter(|state| state.list == import)
        .ok_or_else(|| Failure::not_found("import"))
}

/// Starts a list beside the current one. Only one can be staged.
pub async fn start(app: &App, trace: Trace, tenant: Tenant, id: Id<Campaign>) -> Result<ListImport, Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            let row = find_for_update(tx, id)?;
            check_replaceable(&row)?;
            if lists::staged(tx, id)?.is_some_and(|known| known.touched_at > context.now.plus(-STALE)) {
                return Err(Failure::conflict(
                    "another import into this campaign is in progress; finish or cancel it first",
                ));
            }
            lists::give_up(tx, id)?;
            let state = ListState {
                campaign: id,
                list: row.newest_list + 1,
                workspace: tenant,
                staged: true,
                length: 0,
                valid: 0,
                bytes: 0,
                flow: needed(tx, &row)?.flow,
                touched_at: context.now,
            };
            campaigns::set_list(tx, id, row.list, state.list, context.now)?;
            lists::add_list(tx, &state)?;
            tx.wake(topics::LISTS);
            operator_log::append(tx, &context, &trace, Some(tenant), &format!("{id} import {}", state.list))?;
            Ok(view(&state))
        })
        .await
}

/// Adds the next rows. A repeated piece is refused, so that a lost answer does no harm.
pub async fn add(
    app: &App,
    tenant: Tenant,
    id: Id<Campaign>,
    import: i64,
    piece: ListImportPiece,
) -> Result<ListImport, Failure> {
    let context = app.context();
    let after = piece.after;
    let needed = app
        .of(tenant)
        .read(move |tx| {
            let row = find(tx, id)?;
            let state = staged(tx, &row, import)?;
            check_place(&state, after)?;
            same_flow(tx, &row, &state)
        })
        .await?;
    let (reader, wanted) = (context.clone(), needed.clone());
    let (rows, bytes) = aside(move || {
        let (mut seen, mut lacking) = (HashSet::new(), Lacking::default());
        let read = read_rows(&reader, &wanted, piece.contacts, 0, &mut seen, &mut lacking)?;
        lacking.check()?;
        Ok(read)
    })
    .await?;
    let rows = Arc::new(rows);
    app.store
        .tx_long(move |tx| {
            let row = find_for_update(&mut tx.of(tenant), id)?;
            let mut state = staged(tx, &row, import)?;
            check_place(&state, after)?;
            check_needed(tx, &row, &needed)?;
            state.bytes += bytes;
            if state.length + rows.len() as i64 > MAX_IMPORT || state.bytes > MAX_LIST_BYTES {
                let message = format!(
                    "must not bring the list above {MAX_IMPORT} rows or {MAX_LIST_BYTES} bytes of variables"
                );
                return Err(Failure::field("contacts", message));
            }
            let hashes: Vec<&str> =
                rows.iter().filter(|row| row.valid).filter_map(|row| row.phone_hash.as_deref()).collect();
            let known: HashSet<String> =
                lists::listed(&mut tx.of(tenant), id, import, &hashes)?.into_iter().collect();
            let rows = if known.is_empty() { rows.clone() } else { Arc::new(without_repeats(&rows, &known)) };
            lists::insert_all(&mut tx.of(tenant), id, import, state.length + 1, &rows)?;
            state.length += rows.len() as i64;
            state.valid += rows.iter().filter(|row| row.valid).count() as i64;
            state.touched_at = context.now;
            lists::grow(tx, &state)?;
            Ok(view(&state))
        })
        .await
}

/// The rows, with those flagged whose numbers an earlier piece had.
pub(crate) fn without_repeats(rows: &[FreshRow], known: &HashSet<String>) -> Vec<FreshRow> {
    let flag = |row: &FreshRow| {
        let mut row = row.clone();
        if row.valid && row.phone_hash.as_ref().is_some_and(|hash| known.contains(hash)) {
            row.repeats();
        }
        row
    };
    rows.iter().map(flag).collect()
}

fn check_place(state: &ListState, after: i64) -> Result<(), Failure> {
    if state.length == after {
        return Ok(());
    }
    let message = format!(
        "after must be {}, the number of rows that the import has; send the rows after these",
        state.length
    );
    Err(Failure::conflict(message).with_meta(json!({"rows": state.length, "valid": state.valid})))
}

/// The variables that rows need, as long as the flow is the one against which earlier rows were checked.
fn same_flow(tx: &mut Tx<'_>, row: &CampaignRow, state: &ListState) -> Result<Needed, Failure> {
    let needed = needed(&mut tx.of(row.workspace), row)?;
    if needed.flow == state.flow {
        return Ok(needed);
    }
    Err(Failure::conflict("the agent's flow was published since the import began; begin another import"))
}

/// Makes a staged list the current one, atomically.
pub async fn finish(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    id: Id<Campaign>,
    import: i64,
) -> Result<ListImport, Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            let row = find_for_update(tx, id)?;
            let state = staged(tx, &row, import)?;
            check_replaceable(&row)?;
            check_quiet(tx, &row)?;
            same_flow(tx, &row, &state)?;
            if state.length == 0 {
                return Err(Failure::conflict("the import has no rows; send some before finishing it"));
            }
            let counts = Tally {
                total: state.length,
                queued: state.valid,
                invalid: state.length - state.valid,
                ..Tally::default()
            };
            lists::unstage(tx, id, import)?;
            put_in_force(tx, &row, import, row.newest_list, &counts, context.now)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &format!("{id} import {import}"))?;
            Ok(view(&state))
        })
        .await
}

/// Abandons a staged list; the current one stays.
pub async fn cancel(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    id: Id<Campaign>,
    import: i64,
) -> Result<(), Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            let row = find_for_update(tx, id)?;
            staged(tx, &row, import)?;
            lists::give_up(tx, id)?;
            tx.wake(topics::LISTS);
            Ok(operator_log::append(tx, &context, &trace, Some(tenant), &format!("{id} import {import}"))?)
        })
        .await
}

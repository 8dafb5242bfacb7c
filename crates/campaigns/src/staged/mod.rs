//! Staged lists: a list is uploaded in pieces, judged and edited before it takes effect
//! (docs/contract/campaigns.md#staged-lists). Its rows are a generation that is not current, so none of them is dialled.

mod edit;
mod findings_csv;
mod judge;
mod preflight;

use std::collections::HashSet;
use std::sync::Arc;

use api::campaigns::{CallingList, StagedList, StagedListPiece};
use app::access::Caller;
use app::{App, Failure, topics};
use domain::campaign::list::MAX_ROWS;
use domain::campaign::staged::{MAX_BYTES, MAX_OF_CAMPAIGN, MAX_OF_WORKSPACE};
use domain::campaign::{RowState, Status, Tally};
use domain::ids::{Campaign, Id};
use domain::tenant::Tenant;
use serde_json::json;
use store::TenantTx;
use store::campaigns::list as lists;
use store::campaigns::staged::{self as stages, StagedListRow};
use store::campaigns::{self, CampaignRow};

use super::campaign::totals;
use super::import::without_repeats;
use super::list::{
    Lacking, Needed, STALE, aside, check_needed, check_quiet, check_replaceable, needed, put_in_force,
    read_rows,
};
use super::{find, find_for_update, need_voice};

pub use edit::edit;
pub use findings_csv::FindingsCsv;
pub use preflight::{Query, preflight, rows};

/// Rows that are read at once; a row has up to 64 KB.
const TOGETHER: i64 = 250;

fn view(row: &StagedListRow) -> StagedList {
    StagedList {
        staged_list_id: row.list,
        campaign_id: row.campaign,
        total: row.length,
        valid: row.valid,
        invalid: row.length - row.valid,
        pieces: row.pieces,
        opened_by: row.opened_by,
        opened_at: row.opened_at,
        expires_at: row.touched_at.plus(STALE),
    }
}

fn not_found() -> Failure {
    Failure::not_found("staged list")
}

fn get(tx: &mut TenantTx, id: Id<Campaign>, list: i64) -> Result<StagedListRow, Failure> {
    stages::get(tx, id, list)?.ok_or_else(not_found)
}

fn get_for_update(tx: &mut TenantTx, id: Id<Campaign>, list: i64) -> Result<StagedListRow, Failure> {
    stages::get_for_update(tx, id, list)?.ok_or_else(not_found)
}

/// A campaign that may get another list at some time. One that dials may be paused before the list is applied.
fn check_open(row: &CampaignRow) -> Result<(), Failure> {
    need_voice(row)?;
    match row.status {
        Status::Draft | Status::Active | Status::Paused if row.streams == 0 => Ok(()),
        Status::Draft | Status::Active | Status::Paused | Status::Completed | Status::Archived => {
            check_replaceable(row)
        }
    }
}

/// `POST /v1/campaigns/{id}/staged-lists`.
///
/// # Errors
/// 404; 409 when the campaign is over, when a stream feeds it, and at the limits.
pub async fn open(app: &App, caller: &Caller, id: Id<Campaign>) -> Result<StagedList, Failure> {
    let (now, actor) = (app.clock.now(), caller.actor());
    app.of(caller.tenant())
        .tx(move |tx| {
            let row = find_for_update(tx, id)?;
            check_open(&row)?;
            if stages::of_campaign(tx, id)?.len() as i64 >= MAX_OF_CAMPAIGN {
                let message = format!("the campaign has {MAX_OF_CAMPAIGN} staged lists; delete one first");
                return Err(Failure::conflict(message));
            }
            if stages::count(tx)? >= MAX_OF_WORKSPACE {
                let message = format!("the workspace has {MAX_OF_WORKSPACE} staged lists; delete one first");
                return Err(Failure::conflict(message));
            }
            let staged = StagedListRow {
                campaign: id,
                list: row.newest_list + 1,
                length: 0,
                valid: 0,
                bytes: 0,
                pieces: 0,
                version: 0,
                opened_by: Some(actor),
                opened_at: Some(now),
                touched_at: now,
            };
            campaigns::set_list(tx, id, row.list, staged.list, row.updated_at)?;
            stages::open(tx, &staged)?;
            tx.wake(topics::LISTS);
            Ok(view(&staged))
        })
        .await
}

/// `GET /v1/campaigns/{id}/staged-lists`.
///
/// # Errors
/// 404.
pub async fn list(app: &App, tenant: Tenant, id: Id<Campaign>) -> Result<Vec<StagedList>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            find(tx, id)?;
            Ok(stages::of_campaign(tx, id)?.iter().map(view).collect())
        })
        .await
}

/// Whether this piece is the next one; one that came before is not, and changes nothing.
///
/// # Errors
/// 409 `conflict` for one that is further on.
fn is_next(row: &StagedListRow, piece: i64) -> Result<bool, Failure> {
    if piece <= row.pieces + 1 {
        return Ok(piece > row.pieces);
    }
    let message = format!("piece must be {}, the one after those that came", row.pieces + 1);
    Err(Failure::conflict(message).with_meta(json!({"pieces": row.pieces})))
}

/// `POST …/staged-lists/{list}/rows`.
///
/// # Errors
/// 404; 400 names the row; 409 for a piece that is not the next one.
pub async fn add(
    app: &App,
    tenant: Tenant,
    id: Id<Campaign>,
    list: i64,
    piece: StagedListPiece,
) -> Result<StagedList, Failure> {
    let (context, number) = (app.context(), piece.piece);
    let known = app
        .of(tenant)
        .read(move |tx| {
            find(tx, id)?;
            get(tx, id, list)
        })
        .await?;
    if !is_next(&known, number)? {
        return Ok(view(&known));
    }
    let (now, reader) = (context.now, context);
    let (rows, bytes) = aside(move || {
        let (mut seen, mut lacking) = (HashSet::new(), Lacking::default());
        read_rows(&reader, &Needed::default(), piece.contacts, 0, &mut seen, &mut lacking)
    })
    .await?;
    let rows = Arc::new(rows);
    app.of(tenant)
        .tx_long(move |tx| {
            find_for_update(tx, id)?;
            let mut staged = get_for_update(tx, id, list)?;
            if !is_next(&staged, number)? {
                return Ok(view(&staged));
            }
            staged.bytes += bytes;
            if staged.length + rows.len() as i64 > MAX_ROWS as i64 || staged.bytes > MAX_BYTES {
                let message = format!(
                    "must not bring the list above {MAX_ROWS} rows or {MAX_BYTES} bytes of variables"
                );
                return Err(Failure::field("contacts", message));
            }
            let hashes: Vec<&str> =
                rows.iter().filter(|row| row.valid).filter_map(|row| row.phone_hash.as_deref()).collect();
            let known: HashSet<String> = lists::listed(tx, id, list, &hashes)?.into_iter().collect();
            let rows = if known.is_empty() { rows.clone() } else { Arc::new(without_repeats(&rows, &known)) };
            lists::insert_all(tx, id, list, staged.length + 1, &rows)?;
            staged.length += rows.len() as i64;
            staged.valid += rows.iter().filter(|row| row.valid).count() as i64;
            (staged.pieces, staged.touched_at) = (number, now);
            stages::save(tx, &staged)?;
            Ok(view(&staged))
        })
        .await
}

/// Checks the rows of a staged list that can be dialled against the variables that the agent's flow requires now. The
/// version of the list, and what was required.
async fn check_rows(
    app: &App,
    tenant: Tenant,
    id: Id<Campaign>,
    list: i64,
) -> Result<(i64, Needed), Failure> {
    app.of(tenant)
        .read_long(move |tx| {
            let row = find(tx, id)?;
            let staged = get(tx, id, list)?;
            let needed = needed(tx, &row)?;
            let (mut lacking, mut position) = (Lacking::default(), 0);
            while !needed.names.is_empty() {
                let rows = lists::to_call(tx, id, list, RowState::Queued, position, TOGETHER)?;
                let Some(last) = rows.last() else { break };
                position = last.position;
                for row in &rows {
                    let place = usize::try_from(row.position - 1).unwrap_or(0);
                    lacking.note(place, &row.variables, &needed.names);
                }
            }
            lacking.check()?;
            Ok((staged.version, needed))
        })
        .await
}

/// `POST …/staged-lists/{list}/apply`: makes a staged list the current one, atomically.
///
/// # Errors
/// 404; 400 `missing_required_variables`; 409 as for replacing a list, for another number of rows than `expected`, and
/// when the list or the agent's flow changed meanwhile.
pub async fn apply(
    app: &App,
    tenant: Tenant,
    id: Id<Campaign>,
    list: i64,
    expected: i64,
) -> Result<CallingList, Failure> {
    let (version, needed) = check_rows(app, tenant, id, list).await?;
    let now = app.clock.now();
    app.of(tenant)
        .tx(move |tx| {
            let row = find_for_update(tx, id)?;
            // Locked: somebody may be erased meanwhile.
            let staged = get_for_update(tx, id, list)?;
            check_replaceable(&row)?;
            check_quiet(tx, &row)?;
            if staged.length != expected {
                let message = format!("the list has {} rows, not {expected}", staged.length);
                return Err(Failure::conflict(message).with_meta(json!({"rows": staged.length})));
            }
            if staged.version != version {
                return Err(Failure::conflict("the list was changed while it was applied; apply it again"));
            }
            check_needed(tx, &row, &needed)?;
            let counts = Tally {
                total: staged.length,
                queued: staged.valid,
                invalid: staged.length - staged.valid,
                ..Tally::default()
            };
            lists::unstage(tx, id, list)?;
            put_in_force(tx, &row, list, row.newest_list, &counts, now)?;
            Ok(totals(&counts))
        })
        .await
}

/// `DELETE …/staged-lists/{list}`.
///
/// # Errors
/// 404.
pub async fn delete(app: &App, tenant: Tenant, id: Id<Campaign>, list: i64) -> Result<(), Failure> {
    app.of(tenant)
        .tx(move |tx| {
            find_for_update(tx, id)?;
            if !stages::discard(tx, id, list)? {
                return Err(not_found());
            }
            tx.wake(topics::LISTS);
            Ok(())
        })
        .await
}

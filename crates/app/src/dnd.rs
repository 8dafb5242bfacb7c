//! The platform do-not-call registry, maintained by the operator. An import fills a generation beside the current one
//! and replaces it atomically; numbers that the operator added one by one stay.

use api::dnd::DndImported;
use api::error_codes;
use domain::phone::Phone;
use domain::time::HOUR;
use serde::Serialize;
use store::{DbError, dnd};

use super::operator_log::{self, Trace};
use super::{App, Failure};

/// Time without progress after which an import may be replaced by another.
const STALE: i64 = HOUR;
/// Old numbers deleted in one transaction.
const SWEEP: i64 = 50_000;

/// The result for the numbers of one request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Added {
    added: u64,
    already_listed: u64,
    invalid: Vec<String>,
}

/// Adds numbers; those that are not Indian subscriber numbers are returned.
pub async fn add(app: &App, trace: Trace, phones: Vec<String>) -> Result<Added, Failure> {
    let context = app.context();
    app.store
        .tx(move |tx| {
            let mut outcome = Added { added: 0, already_listed: 0, invalid: Vec::new() };
            for text in &phones {
                match Phone::normalize(text) {
                    Ok(phone) if dnd::add(tx, &phone.to_string())? => outcome.added += 1,
                    Ok(_) => outcome.already_listed += 1,
                    Err(_) => outcome.invalid.push(text.clone()),
                }
            }
            operator_log::append(tx, &context, &trace, None, &format!("{} numbers", outcome.added))?;
            Ok::<_, Failure>(outcome)
        })
        .await
}

/// The registry does not have the number.
fn not_listed() -> Failure {
    Failure::new(error_codes::NOT_FOUND, "phone is not on the registry; nothing was removed")
}

/// Removes a number.
pub async fn remove(app: &App, trace: Trace, phone: String) -> Result<(), Failure> {
    let context = app.context();
    let phone = Phone::normalize(&phone).map_err(|_| not_listed())?;
    app.store
        .tx(move |tx| {
            if !dnd::remove(tx, &phone.to_string())? {
                return Err(not_listed());
            }
            Ok(operator_log::append(tx, &context, &trace, None, "1 number")?)
        })
        .await
}

/// Starts an import; only one can be in progress.
pub async fn start_import(app: &App, trace: Trace) -> Result<i64, Failure> {
    let context = app.context();
    let import = app
        .store
        .tx(move |tx| {
            let import = dnd::start_import(tx, context.now, context.now.plus(-STALE))?;
            let import = import.ok_or_else(|| {
                Failure::conflict("another import is in progress; finish or cancel it first")
            })?;
            operator_log::append(tx, &context, &trace, None, &format!("import {import}"))?;
            Ok::<_, Failure>(import)
        })
        .await?;
    // Left by an unfinished import.
    sweep(app).await?;
    Ok(import)
}

/// Adds a batch to an import. A batch may be sent again.
pub async fn import_numbers(app: &App, import: i64, phones: &[String]) -> Result<DndImported, Failure> {
    let now = app.clock.now();
    let (mut valid, mut invalid) = (Vec::with_capacity(phones.len()), Vec::new());
    for (place, text) in phones.iter().enumerate() {
        match Phone::normalize(text) {
            Ok(phone) => valid.push(phone),
            Err(_) => invalid.push(place),
        }
    }
    let sent = valid.len() as u64;
    let added = app
        .store
        .tx_long(move |tx| dnd::import(tx, import, &valid, now))
        .await?
        .ok_or_else(|| Failure::not_found("import"))?;
    Ok(DndImported { added, repeated: sent - added, invalid })
}

/// Makes an import the current registry, then deletes the replaced one.
pub async fn finish_import(app: &App, trace: Trace, import: i64) -> Result<(), Failure> {
    end_import(app, trace, import, dnd::finish_import).await
}

/// Abandons an import.
pub async fn cancel_import(app: &App, trace: Trace, import: i64) -> Result<(), Failure> {
    end_import(app, trace, import, dnd::cancel_import).await
}

async fn end_import(
    app: &App,
    trace: Trace,
    import: i64,
    end: fn(&mut store::Tx<'_>, i64) -> Result<bool, DbError>,
) -> Result<(), Failure> {
    let context = app.context();
    app.store
        .tx(move |tx| {
            if !end(tx, import)? {
                return Err(Failure::not_found("import"));
            }
            Ok(operator_log::append(tx, &context, &trace, None, &format!("import {import}"))?)
        })
        .await?;
    sweep(app).await
}

/// Deletes numbers of imports that are neither current nor in progress.
async fn sweep(app: &App) -> Result<(), Failure> {
    while app.store.tx_alone(|tx| dnd::sweep(tx, SWEEP)).await? > 0 {}
    Ok(())
}

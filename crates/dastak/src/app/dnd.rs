//! The platform do-not-call registry, as the operator keeps it.

use domain::phone::Phone;
use serde::Serialize;
use store::dnd;

use super::operator_log::{self, Trace};
use super::{App, Failure};

/// What became of the numbers of one request.
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

/// Takes a number off.
pub async fn remove(app: &App, trace: Trace, phone: String) -> Result<(), Failure> {
    let context = app.context();
    let phone = Phone::normalize(&phone).map_err(|_| Failure::not_found("number"))?;
    app.store
        .tx(move |tx| {
            if !dnd::remove(tx, &phone.to_string())? {
                return Err(Failure::not_found("number"));
            }
            Ok(operator_log::append(tx, &context, &trace, None, "1 number")?)
        })
        .await
}

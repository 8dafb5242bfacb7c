//! Requests per workspace in fixed 60-second windows (docs/contract/README.md#limits). On an embedded store
//! the process counts in memory; on a shared one all nodes count in the store.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use api::error_codes;
use api::operations::RateClass;
use domain::tenant::Tenant;
use domain::time::{MINUTE, SECOND, Timestamp};

use crate::access::Caller;
use crate::{App, Failure};

/// Windows of this process.
#[derive(Default)]
pub struct Windows(Mutex<HashMap<(Tenant, &'static str), (i64, i64)>>);

/// State of the narrowest window that a request counted toward.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Requests that the window allows.
    pub limit: i64,
    /// Requests left in it.
    pub remaining: i64,
    /// When it ends, in Unix seconds.
    pub reset: i64,
}

impl Windows {
    fn count(&self, tenant: Tenant, class: &'static str, window: i64) -> i64 {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() > 100_000 {
            windows.retain(|_, (start, _)| *start == window);
        }
        let (start, used) = windows.entry((tenant, class)).or_insert((window, 0));
        if *start != window {
            (*start, *used) = (window, 0);
        }
        *used += 1;
        *used
    }

    fn give_back(&self, tenant: Tenant, class: &'static str, window: i64) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, used)) = windows.get_mut(&(tenant, class)).filter(|(start, _)| *start == window) {
            *used -= 1;
        }
    }
}

/// Name of a class in the store, and of its limit.
fn names(class: RateClass) -> (&'static str, &'static str) {
    match class {
        RateClass::Calls => ("calls", "callsPerMinute"),
        RateClass::Nudges => ("nudges", "nudgesPerMinute"),
        RateClass::CampaignWrites => ("campaign_writes", "campaignWritesPerMinute"),
    }
}

async fn count(app: &App, tenant: Tenant, class: &'static str, window: i64) -> Result<i64, Failure> {
    if !app.store.shared() {
        return Ok(app.rates.count(tenant, class, window));
    }
    Ok(app.store.tx(move |tx| store::rate_windows::count(tx, tenant, class, window)).await?)
}

/// Counts a request toward the workspace-wide limit and that of its class.
pub async fn admit(
    app: &App,
    caller: &Caller,
    class: Option<RateClass>,
    now: Timestamp,
) -> (Budget, Result<(), Failure>) {
    let window = now.0.div_euclid(MINUTE) * MINUTE;
    let mut budget = Budget { limit: 0, remaining: 0, reset: (window + MINUTE) / SECOND };
    for (name, limit) in [Some(("requests", "requestsPerMinute")), class.map(names)].into_iter().flatten() {
        budget.limit = caller.limit(limit);
        let used = match count(app, caller.tenant(), name, window).await {
            Ok(used) => used,
            Err(failure) => return (budget, Err(failure)),
        };
        budget.remaining = (budget.limit - used).max(0);
        if used > budget.limit {
            let wait = ((window + MINUTE - now.0 + SECOND - 1) / SECOND).max(1);
            let message = format!("more than {} requests a minute; wait {wait} s", budget.limit);
            return (
                budget,
                Err(Failure { retry_after: Some(wait), ..Failure::new(error_codes::RATE_LIMITED, message) }),
            );
        }
    }
    (budget, Ok(()))
}

/// A place among the calls that a workspace may place in this minute, taken for a call that no request asks
/// for now.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    tenant: Tenant,
    window: i64,
}

/// Takes a place in the limit that `POST /v1/calls` counts toward; `None` when the minute has none left.
pub async fn take_call(
    app: &App,
    tenant: Tenant,
    limit: i64,
    now: Timestamp,
) -> Result<Option<Place>, Failure> {
    let place = Place { tenant, window: now.0.div_euclid(MINUTE) * MINUTE };
    if count(app, tenant, names(RateClass::Calls).0, place.window).await? <= limit {
        return Ok(Some(place));
    }
    give_back(app, place).await?;
    Ok(None)
}

/// Gives a place back: no call was placed.
pub async fn give_back(app: &App, place: Place) -> Result<(), Failure> {
    let (Place { tenant, window }, class) = (place, names(RateClass::Calls).0);
    if app.store.shared() {
        app.store.tx(move |tx| store::rate_windows::give_back(tx, tenant, class, window)).await?;
    } else {
        app.rates.give_back(tenant, class, window);
    }
    Ok(())
}

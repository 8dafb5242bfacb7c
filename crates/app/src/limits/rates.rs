//! Requests per workspace in fixed 60-second windows (docs/contract/README.md#limits). On an embedded store
//! the process counts in memory; on a shared one all nodes count in the store.

use std::borrow::Cow;
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
pub struct Windows(Mutex<HashMap<(Tenant, Cow<'static, str>), (i64, i64)>>);

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
    fn count(&self, tenant: Tenant, class: impl Into<Cow<'static, str>>, window: i64) -> i64 {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() > 100_000 {
            windows.retain(|_, (start, _)| *start == window);
        }
        let (start, used) = windows.entry((tenant, class.into())).or_insert((window, 0));
        if *start != window {
            (*start, *used) = (window, 0);
        }
        *used += 1;
        *used
    }

    fn give_back(&self, tenant: Tenant, class: &'static str, window: i64) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, used)) =
            windows.get_mut(&(tenant, class.into())).filter(|(start, _)| *start == window)
        {
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
        RateClass::ChatMessages => ("chat_messages", "chatMessagesPerMinute"),
        RateClass::ChannelMessages => ("channel_messages", "channelMessagesPerMinute"),
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
            return (budget, Err(too_many(budget.limit, window, now)));
        }
    }
    (budget, Ok(()))
}

/// Counts a request of somebody without a key toward windows of a workspace, each with what it allows.
pub async fn take(
    app: &App,
    tenant: Tenant,
    classes: Vec<(String, i64)>,
    now: Timestamp,
) -> (Budget, Result<(), Failure>) {
    let window = now.0.div_euclid(MINUTE) * MINUTE;
    let mut budget = Budget { limit: 0, remaining: 0, reset: (window + MINUTE) / SECOND };
    let used = if app.store.shared() {
        let names: Vec<String> = classes.iter().map(|(name, _)| name.clone()).collect();
        let counted = app.store.tx(move |tx| {
            let count = |name: &String| store::rate_windows::count(tx, tenant, name, window);
            names.iter().map(count).collect::<Result<Vec<i64>, _>>()
        });
        match counted.await {
            Ok(used) => used,
            Err(why) => return (budget, Err(why.into())),
        }
    } else {
        classes.iter().map(|(name, _)| app.rates.count(tenant, name.clone(), window)).collect()
    };
    let mut admitted = Ok(());
    for ((_, limit), used) in classes.into_iter().zip(used) {
        let remaining = (limit - used).max(0);
        if budget.limit == 0 || remaining < budget.remaining {
            (budget.limit, budget.remaining) = (limit, remaining);
        }
        if used > limit && admitted.is_ok() {
            admitted = Err(too_many(limit, window, now));
        }
    }
    (budget, admitted)
}

fn too_many(limit: i64, window: i64, now: Timestamp) -> Failure {
    let wait = ((window + MINUTE - now.0 + SECOND - 1) / SECOND).max(1);
    let message = format!("more than {limit} requests a minute; wait {wait} s");
    Failure { retry_after: Some(wait), ..Failure::new(error_codes::RATE_LIMITED, message) }
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

//! Reading nudges.

use api::nudges::{Nudge as NudgeView, NudgeDetail, NudgeTimelineEntry};
use api::scopes::CALLS_READ;
use domain::ids::{Id, Nudge};
use domain::tenant::{Mode, Tenant};
use store::calls;
use store::nudges::{self, Filter};
use store::{DbError, Tx};

use super::{attempt, view};
use crate::access::Caller;
use crate::limits::pages;
use crate::{App, Failure, recordings};

/// `GET /v1/nudges`: the page, and the key of the next one.
pub async fn list(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    filter: Filter,
    limit: i64,
) -> Result<(Vec<NudgeView>, Option<String>), Failure> {
    let page = app.store.read(move |tx| {
        let read = |tx: &mut Tx<'_>, limit: i64, before: Option<&str>| {
            let filter = Filter { before: before.map(str::to_owned), ..filter.clone() };
            let rows = nudges::list(&mut tx.of(tenant), mode, &filter, limit)?;
            let next = pages::last(&rows, limit, |row| row.id.to_string());
            Ok::<_, DbError>((rows.iter().map(view).collect(), next))
        };
        pages::views(tx, limit, filter.before.clone(), read, |view: &NudgeView| view.id.to_string())
    });
    Ok(page.await?)
}

/// `GET /v1/nudges/{id}`. What was said in its calls needs `calls:read`.
pub async fn get(app: &App, caller: &Caller, id: Id<Nudge>) -> Result<NudgeDetail, Failure> {
    let (tenant, mode, reads_calls) = (caller.tenant(), caller.mode(), caller.has(CALLS_READ));
    let (mut detail, recording) = app
        .store
        .read(move |tx| {
            let row =
                nudges::get(&mut tx.of(tenant), mode, id)?.ok_or_else(|| Failure::not_found("nudge"))?;
            let mut recording = None;
            let mut attempts_list = Vec::new();
            for call in nudges::attempts(&mut tx.of(tenant), id)? {
                attempts_list.extend(attempt(&mut tx.of(tenant), mode, call)?);
                recording = calls::content(&mut tx.of(tenant), call)?.recording.or(recording);
            }
            if !reads_calls {
                for attempt in &mut attempts_list {
                    (attempt.summary, attempt.extracted) = (None, None);
                }
            }
            Ok::<_, Failure>((
                NudgeDetail { nudge: view(&row), attempts_list, recording_url: None },
                recording.filter(|_| reads_calls),
            ))
        })
        .await?;
    detail.recording_url = recording.map(|recording| recordings::link(app, recording));
    Ok(detail)
}

/// `GET /v1/nudges/{id}/timeline`.
pub async fn timeline(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    id: Id<Nudge>,
) -> Result<Vec<NudgeTimelineEntry>, Failure> {
    app.store
        .read(move |tx| {
            nudges::get(&mut tx.of(tenant), mode, id)?.ok_or_else(|| Failure::not_found("nudge"))?;
            let entries = nudges::timeline(&mut tx.of(tenant), id)?;
            let view = |entry: nudges::Entry| {
                Ok(NudgeTimelineEntry {
                    at: entry.at,
                    event: entry.event,
                    checks: serde_json::from_str(&entry.checks)
                        .map_err(|why| Failure::internal(why.to_string()))?,
                    decision: entry.decision,
                    status: entry.status,
                    reason: entry.reason,
                    until: entry.until,
                    call_id: entry.call,
                    times: entry.times,
                    last_at: entry.last_at,
                })
            };
            entries.into_iter().map(view).collect()
        })
        .await
}

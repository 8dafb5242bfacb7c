//! The summary of a campaign (docs/contract/campaigns.md#summary). Everything is read from counters, so its cost does
//! not depend on the length of the list.

use api::campaigns::{CampaignLifecycle, CampaignProgress, CampaignSummary};
use app::{App, Failure};
use domain::ids::{Campaign, Id};
use domain::tenant::Tenant;
use domain::time::SECOND;
use store::campaigns::progress::{self as counters, Calls};

use super::{board, find, need_voice, progress};

/// `GET /v1/campaigns/{id}/summary`.
pub async fn get(app: &App, tenant: Tenant, id: Id<Campaign>) -> Result<CampaignSummary, Failure> {
    app.of(tenant)
        .read(move |tx| {
            let row = find(tx, id)?;
            need_voice(&row)?;
            let known = progress(tx, id)?;
            let held = counters::held(tx, id, known.list)?;
            let (funnel, win_metric) = board::funnel(tx, id)?;
            let (rows, calls) = (known.rows, known.calls);
            Ok(CampaignSummary {
                progress: CampaignProgress {
                    total: rows.total,
                    reached: rows.reached,
                    in_progress: rows.in_progress,
                    unreached: rows.unreached,
                    held: rows.held,
                    queued: rows.queued,
                    invalid: rows.invalid,
                    retryable: rows.retryable,
                    blocked: rows.blocked,
                },
                held_by_reason: held.into_iter().map(|(reason, count)| (reason.to_string(), count)).collect(),
                connect_rate: connect_rate(&calls),
                avg_call_seconds: avg_call_seconds(&calls),
                spent_minor: calls.spent_minor,
                cost_per_outcome_minor: cost_per_outcome(calls.spent_minor, win_metric.count),
                funnel,
                win_metric,
                lifecycle: CampaignLifecycle {
                    created_at: row.created_at,
                    started_at: row.started_at,
                    last_call_at: known.last_call_at,
                    completed_at: row.completed_at,
                },
            })
        })
        .await
}

fn connect_rate(calls: &Calls) -> Option<f64> {
    (calls.dialled > 0).then(|| four_places(calls.answered as f64 / calls.dialled as f64))
}

fn avg_call_seconds(calls: &Calls) -> Option<f64> {
    (calls.answered > 0).then(|| four_places(calls.talk_ms as f64 / SECOND as f64 / calls.answered as f64))
}

/// As in the analytics.
fn four_places(figure: f64) -> f64 {
    (figure * 10_000.0).round() / 10_000.0
}

/// Rounded to whole minor units.
fn cost_per_outcome(spent: i64, won: i64) -> Option<i64> {
    (won > 0).then(|| (spent + won / 2) / won)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_calls_and_without_wins_there_is_no_rate() {
        let calls = |dialled, answered, talk_ms| Calls { dialled, answered, talk_ms, spent_minor: 0 };
        assert_eq!((connect_rate(&calls(0, 0, 0)), avg_call_seconds(&calls(3, 0, 0))), (None, None));
        assert_eq!(
            (connect_rate(&calls(4, 1, 0)), avg_call_seconds(&calls(4, 3, 30_500))),
            (Some(0.25), Some(10.1667))
        );
        assert_eq!(connect_rate(&calls(7, 4, 0)), Some(0.5714));
        assert_eq!((cost_per_outcome(500, 0), cost_per_outcome(500, 3)), (None, Some(167)));
    }
}

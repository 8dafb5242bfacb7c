//! Analytics over calls, aggregated from hours that are packed once and read often (`domain::analytics`).

use api::analytics::{AgentRow, CallAnalytics, DayFigures, LanguageCount, SentimentCount, Totals};
use domain::analytics::{AgentFigures, Figures, Query, Report, hour_of, pack, start_of};
use domain::tenant::{Mode, Tenant};
use domain::time::{MINUTE, Timestamp};
use store::analytics::{self, HourRow};
use store::{DbError, Tx, agents};

use super::{App, Failure};

/// Hours in one read: a week.
const STRETCH: i64 = 7 * 24;
/// Stale hours packed in one transaction.
const BATCH: i64 = 8;
/// An hour that has not changed for this long is packed in the background; reading packs it earlier, for
/// itself.
const QUIET: i64 = 5 * MINUTE;

/// `GET /v1/analytics/calls`. Only live calls are counted (docs/contract/sandbox.md#test-keys), and a test
/// key does not see them: its report is empty.
pub async fn calls(app: &App, tenant: Tenant, mode: Mode, query: Query) -> Result<CallAnalytics, Failure> {
    let now = app.clock.now();
    let (from, to) = (query.from, query.to);
    let first = from.map_or(i64::MIN, hour_of);
    let last = to.map_or(i64::MAX, |to| hour_of(to.plus(-1)));
    let hours = match mode {
        Mode::Live => app.of(tenant).read(move |tx| analytics::hours(tx, first, last)).await?,
        Mode::Test => Vec::new(),
    };
    let mut report = Report::new(query, now);
    let mut rest = &hours[..];
    while let Some(first) = rest.first().copied() {
        let stretch = rest.partition_point(|hour| *hour < first.saturating_add(STRETCH));
        let last = rest[stretch - 1];
        rest = &rest[stretch..];
        for (row, body) in read_stretch(app, tenant, first, last).await? {
            let body = match body {
                Some(body) => body,
                None => freshly_packed(app, row).await?,
            };
            report
                .add(row.hour, &body)
                .map_err(|_| Failure::internal(format!("hour {} of {tenant} is damaged", row.hour)))?;
        }
    }
    let figures = report.finish();
    let named = name_agents(app, tenant, &figures).await?;
    Ok(view(figures, &named))
}

async fn read_stretch(
    app: &App,
    tenant: Tenant,
    first: i64,
    last: i64,
) -> Result<Vec<(HourRow, Option<Vec<u8>>)>, Failure> {
    let read = move |tx: &mut Tx<'_>| {
        let mut rows = Vec::new();
        analytics::packed(&mut tx.of(tenant), first, last, |row, body| {
            rows.push((row, body));
            Ok(())
        })?;
        Ok::<_, DbError>(rows)
    };
    Ok(app.store.read_far(read).await?)
}

/// Packs a stale hour, for this report and the next ones. What is kept comes from the primary, never from a replica.
async fn freshly_packed(app: &App, row: HourRow) -> Result<Vec<u8>, Failure> {
    let facts = app.of(row.workspace).read_long(move |tx| analytics::facts(tx, row.hour)).await?;
    let body = pack(start_of(row.hour), &facts)
        .ok_or_else(|| Failure::internal("an hour has more words than it can hold"))?;
    let kept = body.clone();
    // The hour may have changed since; then the body serves this report only.
    app.store.tx(move |tx| analytics::keep(tx, row, &kept)).await?;
    Ok(body)
}

/// Packs stale hours without recent changes. Returns whether there may be more.
pub async fn pack_due(app: &App) -> Result<bool, Failure> {
    let quiet_since = app.clock.now().plus(-QUIET);
    let due = app.store.read(move |tx| analytics::to_build(tx, quiet_since, BATCH)).await?;
    let more = due.len() as i64 >= BATCH;
    for row in due {
        freshly_packed(app, row).await?;
    }
    Ok(more)
}

/// When the next stale hour is due to be packed.
pub async fn next_pack(app: &App) -> Result<Option<Timestamp>, Failure> {
    Ok(app.store.read(analytics::oldest_change).await?.map(|changed| changed.plus(QUIET)))
}

/// Names of the agents of a report, deleted ones included.
async fn name_agents(app: &App, tenant: Tenant, figures: &Figures) -> Result<Vec<Option<String>>, Failure> {
    let ids: Vec<_> =
        figures.agents.iter().map(|row| row.agent.as_ref().and_then(|id| id.parse().ok())).collect();
    let named = app.of(tenant).read(move |tx| {
        let name = |id: &Option<_>| id.map_or(Ok(None), |id| agents::name_of(tx, id));
        ids.iter().map(name).collect::<Result<Vec<_>, DbError>>()
    });
    Ok(named.await?)
}

/// A ratio or an average, to four places.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 10_000.0).round() / 10_000.0 }
}

fn by_count(counts: impl IntoIterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    counts
}

fn sentiments(counts: impl IntoIterator<Item = (String, u64)>) -> Vec<SentimentCount> {
    by_count(counts).into_iter().map(|(sentiment, count)| SentimentCount { sentiment, count }).collect()
}

fn view(figures: Figures, names: &[Option<String>]) -> CallAnalytics {
    let agent = |(row, name): (AgentFigures, &Option<String>)| AgentRow {
        connect_rate: ratio(row.answered, row.calls),
        avg_talk_seconds: ratio(row.talk_seconds, row.answered),
        name: name.clone(),
        agent_id: row.agent,
        calls: row.calls,
        inbound: row.inbound,
        outbound: row.outbound,
        sentiment: sentiments(row.sentiment),
    };
    CallAnalytics {
        totals: Totals {
            calls: figures.calls,
            answered: figures.answered,
            connect_rate: ratio(figures.answered, figures.calls),
            people_reached: figures.people_reached,
            contacts_targeted: figures.contacts_targeted,
            talk_seconds_total: figures.talk_seconds,
            avg_talk_seconds: ratio(figures.talk_seconds, figures.answered),
            talk_seconds_p50: figures.talk_p50,
            talk_seconds_p90: figures.talk_p90,
            peak_concurrency: figures.peak,
            blocked_calls: figures.blocked,
            declined_calls: figures.declined,
        },
        by_outcome: figures.by_outcome,
        by_end_cause: figures.by_cause,
        per_day: figures
            .per_day
            .into_iter()
            .map(|(day, calls, answered, talk_seconds)| DayFigures {
                day: Figures::date(day),
                calls,
                answered,
                talk_seconds,
            })
            .collect(),
        agents: figures.agents.into_iter().zip(names).map(agent).collect(),
        by_language: by_count(figures.by_language)
            .into_iter()
            .map(|(language, count)| LanguageCount { language, count })
            .collect(),
        sentiment: sentiments(figures.by_sentiment),
    }
}

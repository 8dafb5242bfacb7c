//! Analytics over calls, aggregated from hours that are packed once and read often (`domain::analytics`).

use api::analytics::{
    AgentReaction, AgentRow, CallAnalytics, CallCosts, DayFigures, HourFigures, LanguageCount, OutcomeCost,
    ProviderReaction, ReactionFigures, ReactionStage, Reactions, SentimentCount, Totals, UsualHour,
    UsualWeekday, WeekdayHourFigures,
};
use domain::analytics::{
    AgentFigures, Damaged, Figures, HourCounts, HourlyFigures, HourlyReport, Query, ReactionHistogram,
    ReactionStage as Stage, Report, hour_of, pack, pack_details, start_of,
};
use domain::tenant::{Mode, Tenant};
use domain::time::{MINUTE, Timestamp};
use store::analytics::{self, HourRow, PackedHour};
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
pub async fn calls(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    query: Query,
    by_hour: bool,
) -> Result<CallAnalytics, Failure> {
    let now = app.clock.now();
    let hours = match mode {
        Mode::Live => hours_of(app, tenant, query.from, query.to).await?,
        Mode::Test => Vec::new(),
    };
    let mut report = Report::new(query.clone(), now);
    let mut hourly = HourlyReport::new(query, now);
    each_hour(app, tenant, &hours, |hour, packed| {
        report.add(hour, &packed.body)?;
        hourly.add(hour, &packed.details)
    })
    .await?;
    if by_hour && mode == Mode::Live {
        let stretches: Vec<_> = hourly.usual_hours().collect();
        for (first, last) in stretches {
            let hours = app.of(tenant).read(move |tx| analytics::hours(tx, first, last)).await?;
            each_hour(app, tenant, &hours, |hour, packed| hourly.add_usual(hour, &packed.details)).await?;
        }
    }
    let (figures, hourly) = (report.finish(), hourly.finish());
    let named = name_agents(app, tenant, figures.agents.iter().map(|row| row.agent.as_ref())).await?;
    let reacting = name_agents(app, tenant, hourly.by_agent.iter().map(|(agent, _)| agent.as_ref())).await?;
    Ok(view(figures, &named, hourly, &reacting, by_hour))
}

/// The hours of India of a range in which live calls began.
pub(super) async fn hours_of(
    app: &App,
    tenant: Tenant,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Vec<i64>, Failure> {
    let first = from.map_or(i64::MIN, hour_of);
    let last = to.map_or(i64::MAX, |to| hour_of(to.plus(-1)));
    Ok(app.of(tenant).read(move |tx| analytics::hours(tx, first, last)).await?)
}

/// Calls `visit` with the packed calls of these hours, in their order. An hour that has changed is packed first.
pub(super) async fn each_hour(
    app: &App,
    tenant: Tenant,
    hours: &[i64],
    mut visit: impl FnMut(i64, &PackedHour) -> Result<(), Damaged>,
) -> Result<(), Failure> {
    let mut rest = hours;
    while let Some(first) = rest.first().copied() {
        let stretch = rest.partition_point(|hour| *hour < first.saturating_add(STRETCH));
        let last = rest[stretch - 1];
        rest = &rest[stretch..];
        for (row, packed) in read_stretch(app, tenant, first, last).await? {
            let packed = match packed {
                Some(packed) => packed,
                None => freshly_packed(app, row).await?,
            };
            visit(row.hour, &packed)
                .map_err(|_| Failure::internal(format!("hour {} of {tenant} is damaged", row.hour)))?;
        }
    }
    Ok(())
}

async fn read_stretch(
    app: &App,
    tenant: Tenant,
    first: i64,
    last: i64,
) -> Result<Vec<(HourRow, Option<PackedHour>)>, Failure> {
    let read = move |tx: &mut Tx<'_>| {
        let mut rows = Vec::new();
        analytics::packed(&mut tx.of(tenant), first, last, |row, packed| {
            rows.push((row, packed));
            Ok(())
        })?;
        Ok::<_, DbError>(rows)
    };
    Ok(app.store.read_far(read).await?)
}

/// Packs a stale hour, for this report and the next ones. What is kept comes from the primary, never from a replica.
async fn freshly_packed(app: &App, row: HourRow) -> Result<PackedHour, Failure> {
    let (facts, details) = app.of(row.workspace).read_long(move |tx| analytics::facts(tx, row.hour)).await?;
    let start = start_of(row.hour);
    let (Some(body), Some(details)) = (pack(start, &facts), pack_details(start, &details)) else {
        return Err(Failure::internal("an hour has more words than it can hold"));
    };
    let packed = PackedHour { body, details };
    let kept = packed.clone();
    // The hour may have changed since; then the calls serve this report only.
    app.store.tx(move |tx| analytics::keep(tx, row, &kept)).await?;
    Ok(packed)
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
async fn name_agents(
    app: &App,
    tenant: Tenant,
    agents: impl Iterator<Item = Option<&String>>,
) -> Result<Vec<Option<String>>, Failure> {
    let ids: Vec<_> = agents.map(|id| id.and_then(|id| id.parse().ok())).collect();
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

fn reaction(histogram: &ReactionHistogram) -> ReactionFigures {
    ReactionFigures {
        answers: histogram.count(),
        p50_ms: histogram.percentile(50),
        p95_ms: histogram.percentile(95),
    }
}

fn reactions(hourly: &HourlyFigures, names: &[Option<String>]) -> Reactions {
    let agent = |((agent, histogram), name): (&(Option<String>, ReactionHistogram), &Option<String>)| {
        AgentReaction { agent_id: agent.clone(), name: name.clone(), figures: reaction(histogram) }
    };
    let provider =
        |((stage, provider), histogram): (&(Stage, String), &ReactionHistogram)| ProviderReaction {
            stage: match stage {
                Stage::Recognition => ReactionStage::Recognition,
                Stage::Model => ReactionStage::Model,
                Stage::Synthesis => ReactionStage::Synthesis,
            },
            provider: provider.clone(),
            figures: reaction(histogram),
        };
    Reactions {
        all: reaction(&hourly.reactions),
        by_agent: hourly.by_agent.iter().zip(names).map(agent).collect(),
        by_provider: hourly.by_provider.iter().map(provider).collect(),
    }
}

fn costs(hourly: &HourlyFigures) -> CallCosts {
    let mut by_outcome: Vec<OutcomeCost> = hourly
        .outcomes
        .iter()
        .map(|(outcome, (calls, charged))| OutcomeCost {
            outcome: outcome.clone(),
            calls: *calls,
            charged_minor: *charged,
        })
        .collect();
    by_outcome.sort_by_key(|row| std::cmp::Reverse(row.calls));
    CallCosts { charged_minor: by_outcome.iter().map(|row| row.charged_minor).sum(), by_outcome }
}

/// The figures of an hour of the day.
fn hour_of_day(hour: i64, counts: &HourCounts) -> HourFigures {
    HourFigures { hour, calls: counts.calls, answered: counts.answered, charged_minor: counts.charged }
}

fn hours_of_day(hourly: &HourlyFigures) -> Vec<HourFigures> {
    let whole = |hour: i64| {
        let of_hour = hourly.hours.iter().filter(|((_, at), _)| *at == hour);
        let sum = of_hour.fold(HourCounts::default(), |sum, (_, counts)| HourCounts {
            calls: sum.calls + counts.calls,
            answered: sum.answered + counts.answered,
            charged: sum.charged + counts.charged,
        });
        hour_of_day(hour, &sum)
    };
    (0..24).map(whole).collect()
}

fn usual(hourly: &HourlyFigures) -> UsualWeekday {
    let usual = &hourly.usual;
    let hour = |(hour, (calls, answered)): (i64, &(f64, f64))| UsualHour {
        hour,
        calls: *calls,
        answered: *answered,
    };
    UsualWeekday {
        day: Figures::date(usual.day),
        weeks: usual.weeks,
        hours: (0..).zip(&usual.hours).map(hour).collect(),
    }
}

fn view(
    figures: Figures,
    names: &[Option<String>],
    hourly: HourlyFigures,
    reacting: &[Option<String>],
    by_hour: bool,
) -> CallAnalytics {
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
        reaction: reactions(&hourly, reacting),
        costs: costs(&hourly),
        hours: by_hour.then(|| hours_of_day(&hourly)),
        weekday_hours: by_hour.then(|| {
            let row = |((weekday, hour), counts): (&(i64, i64), &HourCounts)| WeekdayHourFigures {
                weekday: *weekday,
                figures: hour_of_day(*hour, counts),
            };
            hourly.hours.iter().map(row).collect()
        }),
        usual_weekday: by_hour.then(|| usual(&hourly)),
    }
}

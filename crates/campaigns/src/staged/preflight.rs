//! The verdict on a staged list, and pages of its rows.

use std::collections::BTreeMap;

use api::campaigns::{
    StagedFinding, StagedFindingRow, StagedList, StagedListPreflight, StagedListRow as RowView,
};
use app::calls::Env;
use app::limits::pages;
use app::{App, Failure};
use domain::campaign::forecast::{Habit, Work};
use domain::campaign::staged::{FindingCode, Harm};
use domain::ids::{Campaign, Id};
use domain::tenant::Tenant;
use store::TenantTx;
use store::campaigns::list::EntryRow;
use store::campaigns::staged as stages;

use super::judge::{Found, judge, value_of, view as row_view};
use super::{TOGETHER, get, view};
use crate::preflight::{Frame, Seen, finish};

/// Rows of each finding in the verdict.
const FIRST: usize = 5;
/// Columns of one code that are listed by themselves.
const COLUMNS: usize = 50;
/// Rows that one request for a page with a finding reads.
const SCANNED: i64 = 10_000;

/// The findings of a list, while they are counted.
#[derive(Default)]
struct Findings(BTreeMap<(usize, Option<String>), (i64, Vec<StagedFindingRow>)>);

impl Findings {
    fn note(&mut self, found: Found, row: &EntryRow) {
        let code = rank(found.code);
        let mut key = (code, found.column.clone());
        if !self.0.contains_key(&key) && self.columns(code) >= COLUMNS {
            key.1 = None;
        }
        let (count, rows) = self.0.entry(key).or_default();
        *count += 1;
        if rows.len() < FIRST {
            rows.push(StagedFindingRow {
                row: row.position,
                phone: row.phone.clone(),
                name: row.name.clone(),
                value: value_of(&found, row),
                read_as: found.read_as,
            });
        }
    }

    fn columns(&self, code: usize) -> usize {
        self.0.range((code, None)..(code + 1, None)).count()
    }

    /// A finding that concerns how many rows there are.
    fn of_all(&mut self, code: FindingCode, count: i64) {
        self.0.insert((rank(code), None), (count, Vec::new()));
    }

    fn into_view(self) -> Vec<StagedFinding> {
        let view = |((code, column), (count, rows))| {
            let code: FindingCode = *FindingCode::ALL.get::<usize>(code)?;
            Some(StagedFinding { harm: code.harm(), code, column, count, rows, until: None })
        };
        self.0.into_iter().filter_map(view).collect()
    }
}

/// The place of a code among all.
fn rank(code: FindingCode) -> usize {
    FindingCode::ALL.iter().position(|each| *each == code).unwrap_or(0)
}

/// The results for a whole list.
struct Whole {
    staged: StagedList,
    seen: Seen,
    findings: Findings,
    /// Attempts at each, and dials of a day from the campaign's own numbers.
    attempts: i64,
    daily: Option<i64>,
    counts: (i64, i64, i64),
}

fn judge_all(tx: &mut TenantTx, env: &Env, id: Id<Campaign>, list: i64) -> Result<Whole, Failure> {
    let mut frame = Frame::of(tx, env, id)?;
    let staged = get(tx, id, list)?;
    let (mut findings, mut position) = (Findings::default(), 0);
    loop {
        let rows = stages::rows_after(tx, id, list, position, TOGETHER)?;
        let Some(last) = rows.last() else { break };
        position = last.position;
        let judged = judge(tx, env, &frame, &rows)?;
        for (row, one) in rows.iter().zip(judged) {
            let report = &mut frame.report;
            report.examined += i64::from(row.valid);
            report.will_call += i64::from(one.calls);
            report.will_wait += i64::from(one.waits);
            report.will_warn += i64::from(one.calls && one.warns);
            report.will_not_call += i64::from(!one.calls);
            one.findings.into_iter().for_each(|found| findings.note(found, row));
        }
    }
    if staged.length == 0 {
        frame.report.problem("list_empty", "the staged list is empty; send rows first");
    }
    let settings = &frame.row.settings;
    let caps: Vec<i64> = settings.caller_ids.iter().map(|own| own.daily_cap).collect();
    Ok(Whole {
        attempts: i64::from(settings.retry_count) + 1,
        daily: (!caps.is_empty()).then(|| caps.into_iter().fold(0, i64::saturating_add)),
        counts: (frame.report.will_call, frame.report.will_wait, frame.report.will_not_call),
        staged: view(&staged),
        seen: frame.seen(staged.length),
        findings,
    })
}

/// `GET …/staged-lists/{list}/preflight`.
///
/// # Errors
/// 404.
pub async fn preflight(
    app: &App,
    tenant: Tenant,
    id: Id<Campaign>,
    list: i64,
) -> Result<StagedListPreflight, Failure> {
    let env = app.call_env();
    let whole = app.of(tenant).read_long(move |tx| judge_all(tx, &env, id, list)).await?;
    let Whole { staged, seen, mut findings, attempts, daily, counts: (will_call, will_wait, will_not_call) } =
        whole;
    let found = finish(app, tenant, seen).await?;
    if will_call > 0 && !found.schedule.inside_window {
        findings.of_all(FindingCode::CallingWindow, will_call);
    }
    if let Some(later) = daily.map(|daily| will_call.saturating_sub(daily)).filter(|later| *later > 0) {
        findings.of_all(FindingCode::CallerIdCap, later);
    }
    let mut findings = findings.into_view();
    for finding in findings.iter_mut().filter(|finding| finding.code == FindingCode::CallingWindow) {
        finding.until = found.schedule.starts_at;
    }
    let habit = Habit {
        connect_rate: found.cost.based_on.connect_rate,
        talk_seconds: found.cost.based_on.avg_talk_seconds,
    };
    let work = Work {
        people: will_call - will_wait,
        attempts,
        lines: found.schedule.lines,
        price: found.cost.cost_per_minute_minor,
        longest: 0,
    };
    Ok(StagedListPreflight {
        can_apply: staged.total > 0 && findings.iter().all(|finding| finding.harm != Harm::Stops),
        staged_list: staged,
        will_call,
        will_wait,
        will_not_call,
        findings,
        first_minute_dials: work.first_minute(habit),
        problems: found.problems,
        warnings: found.warnings,
        schedule: found.schedule,
        cost: found.cost,
    })
}

/// Which rows of a staged list are asked for.
#[derive(Debug, Clone)]
pub struct Query {
    pub finding: Option<FindingCode>,
    pub column: Option<String>,
    pub limit: i64,
    /// The number of the last row before them.
    pub after: i64,
}

/// `GET …/staged-lists/{list}/rows`: a page of rows as they are judged now, and the number after which the next one
/// begins.
///
/// # Errors
/// 404.
pub async fn rows(
    app: &App,
    tenant: Tenant,
    id: Id<Campaign>,
    list: i64,
    query: Query,
) -> Result<(Vec<RowView>, Option<String>), Failure> {
    let env = app.call_env();
    app.of(tenant).read_long(move |tx| page(tx, &env, id, list, &query)).await
}

fn page(
    tx: &mut TenantTx,
    env: &Env,
    id: Id<Campaign>,
    list: i64,
    query: &Query,
) -> Result<(Vec<RowView>, Option<String>), Failure> {
    let frame = Frame::of(tx, env, id)?;
    get(tx, id, list)?;
    let (mut shown, mut bytes, mut position) = (Vec::new(), 0, query.after);
    while position - query.after < SCANNED {
        let together = if query.finding.is_some() { TOGETHER } else { TOGETHER.min(query.limit) };
        let rows = stages::rows_after(tx, id, list, position, together)?;
        let ended = (rows.len() as i64) < together;
        let judged = judge(tx, env, &frame, &rows)?;
        for (row, one) in rows.into_iter().zip(judged) {
            let place = row.position;
            if query.finding.is_none_or(|code| one.has(code, query.column.as_deref())) {
                let view = row_view(row, one);
                bytes += pages::bytes_of(&view);
                if bytes > pages::PAGE_BYTES && !shown.is_empty() {
                    return Ok((shown, Some(position.to_string())));
                }
                shown.push(view);
            }
            position = place;
            if shown.len() as i64 >= query.limit {
                return Ok((shown, Some(position.to_string())));
            }
        }
        if ended {
            return Ok((shown, None));
        }
    }
    Ok((shown, Some(position.to_string())))
}

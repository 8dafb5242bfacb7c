//! Shares of passing, and how far the model agrees with people.

use std::collections::BTreeMap;

use api::error_codes as codes;
use api::evaluations::{CriterionAgreement, CriterionShares, EvaluationAgreement, EvaluationSummary};
use app::{App, Failure};
use domain::analytics::hour_of;
use domain::evaluation::{Graded, Pairs, agreement as agreement_of};
use domain::ids::{Agent, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use store::evaluations::{days, marks};
use store::{TenantTx, agents};

use crate::criteria;

/// The times of a report: from, to.
pub type Range = (Option<Timestamp>, Option<Timestamp>);

fn agent_id(text: &str) -> Result<Id<Agent>, Failure> {
    text.parse().map_err(|_| Failure::plain(codes::AGENT_NOT_FOUND))
}

/// The names of the agent's criteria by key.
fn names(tx: &mut TenantTx, agent: Id<Agent>) -> Result<BTreeMap<String, String>, Failure> {
    agents::get(tx, agent)?.ok_or_else(|| Failure::plain(codes::AGENT_NOT_FOUND))?;
    let current = criteria::current(tx, agent)?.map(|(_, criteria)| criteria).unwrap_or_default();
    Ok(current.into_iter().map(|criterion| (criterion.key, criterion.name)).collect())
}

/// The day in India of a time, counted from 1970.
fn day_of(at: Timestamp) -> i64 {
    hour_of(at).div_euclid(24)
}

fn share(part: i64, of: i64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

/// The verdicts of an agent's conversations that began on the days of a range. A test key sees none.
///
/// # Errors
/// 404 `agent_not_found`.
pub async fn summary(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    (agent, kind): (&str, Graded),
    (from, to): Range,
) -> Result<EvaluationSummary, Failure> {
    let agent = agent_id(agent)?;
    let first = from.map_or(i64::MIN, day_of);
    let last = to.map_or(i64::MAX, |to| day_of(to.plus(-1)));
    let (mut names, sums) = app
        .of(tenant)
        .read(move |tx| {
            let sums = match mode {
                Mode::Live => days::sums(tx, agent, kind, (first, last))?,
                Mode::Test => Vec::new(),
            };
            Ok::<_, Failure>((names(tx, agent)?, sums))
        })
        .await?;
    let shares = |sum: days::SumRow| CriterionShares {
        name: names.remove(&sum.criterion),
        pass_rate: share(sum.passed, sum.passed.saturating_add(sum.failed)),
        mean_score: share(sum.score_sum, sum.scored),
        passed: sum.passed,
        failed: sum.failed,
        not_applicable: sum.not_applicable,
        criterion_key: sum.criterion,
    };
    Ok(EvaluationSummary { agent_id: agent, kind, criteria: sums.into_iter().map(shares).collect() })
}

/// The agreement of the model with people's marks of an agent's conversations that began in a range. A test key sees none.
///
/// # Errors
/// 404 `agent_not_found`.
pub async fn agreement(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    agent: &str,
    (from, to): Range,
) -> Result<EvaluationAgreement, Failure> {
    let agent = agent_id(agent)?;
    let range = (from.unwrap_or(Timestamp(i64::MIN)), to.unwrap_or(Timestamp(i64::MAX)));
    let (mut names, counted) = app
        .of(tenant)
        .read(move |tx| {
            let counted = match mode {
                Mode::Live => marks::pairs(tx, agent, range)?,
                Mode::Test => Vec::new(),
            };
            Ok::<_, Failure>((names(tx, agent)?, counted))
        })
        .await?;
    let mut pairs: BTreeMap<String, Pairs> = BTreeMap::new();
    for (criterion, model, person, times) in counted {
        pairs.entry(criterion).or_default().add(model, person, u64::try_from(times).unwrap_or(0));
    }
    let agreed = |(criterion_key, pairs): (String, Pairs)| {
        let found = agreement_of(&pairs);
        CriterionAgreement {
            name: names.remove(&criterion_key),
            criterion_key,
            n: found.n,
            agreed: found.agreed,
            kappa: found.kappa,
        }
    };
    Ok(EvaluationAgreement { agent_id: agent, criteria: pairs.into_iter().map(agreed).collect() })
}

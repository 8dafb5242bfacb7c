//! Evaluations of chats: every one that ends is graded, some by hand and in sweeps, by a model that fails, thinks longer than a
//! lease lasts, and quotes what nobody said. They are planned apart from the rest, so that a seed stays as it is.

use dastak::app::idempotency::Once;
use dastak::app::{App, Failure};
use domain::actor::Actor;
use domain::evaluation::{Grade, Grades, Speaker, Verdict};
use domain::ids::{Agent, Id};
use domain::ports::{GradeOrder, ProviderFault};
use domain::tenant::Tenant;
use domain::time::{HOUR, MINUTE, SECOND, Timestamp};
use serde_json::json;

use crate::chats::ChatAct;
use crate::clients::{Act, checked};
use crate::random::Random;

/// Chats that are graded by hand, and sweeps.
pub fn plan(seed: u64, acts: &[(Timestamp, Act)]) -> Vec<(Timestamp, Act)> {
    let mut random = Random::named(seed, "evaluations");
    let mut more = Vec::new();
    for _ in 0..random.range(0, 4) {
        let (at, Act::Chat { customer, .. }) = random.pick(acts) else { continue };
        let (customer, pick) = (*customer, random.next());
        let at = at.plus(if random.percent(20) { 0 } else { random.range(1, 90) * MINUTE });
        more.push((at, Act::Chat { customer, act: ChatAct::Evaluate(pick) }));
        if random.percent(30) {
            more.push((at, Act::Chat { customer, act: ChatAct::Evaluate(pick) }));
        }
    }
    for _ in 0..random.range(0, 2) {
        let (at, Act::Chat { customer, .. }) = random.pick(acts) else { continue };
        let at = at.plus(random.range(0, 12 * 60) * MINUTE);
        more.push((at, Act::Chat { customer: *customer, act: ChatAct::Sweep }));
    }
    more
}

/// Has every finished chat of the agent graded.
pub async fn set_up(app: &App, tenant: Tenant, agent: Id<Agent>) -> Result<(), Failure> {
    let criteria = json!([
        {"key": "polite", "name": "Polite", "kind": "pass_fail", "prompt": "Was the agent polite?"},
        {"key": "clear", "name": "Clear", "kind": "score", "passThreshold": 50, "prompt": "How clear was it?"},
    ]);
    let body = checked("setAgentEvaluation", json!({"criteria": criteria, "enabled": true}));
    evaluation::set_settings(app, tenant, Actor::Operator, agent, body).await.map(drop)
}

/// Grades all chats of the agent again.
pub async fn sweep(app: &App, tenant: Tenant, agent: Id<Agent>) -> Result<(), Failure> {
    let body = json!({
        "agentId": agent, "kind": "chat", "from": "2000-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z",
    });
    let body = checked("startEvaluationSweep", body);
    evaluation::start_sweep(app, tenant, Actor::Operator, Once::unkeyed(), body).await.map(drop)
}

/// How long the model grades: sometimes longer than its lease.
pub fn thinks(random: &mut Random, faulty: bool) -> i64 {
    match random.range(0, 99) {
        _ if !faulty => 0,
        0..=69 => 0,
        70..=91 => random.range(1, 30 * SECOND),
        92..=97 => random.range(4 * MINUTE, 9 * MINUTE),
        _ => random.range(MINUTE, HOUR / 4),
    }
}

/// What the model finds.
pub fn grades(random: &mut Random, faulty: bool, order: &GradeOrder) -> Result<Grades, ProviderFault> {
    if faulty && random.percent(25) {
        return Err(*random.pick(&[ProviderFault::TimedOut, ProviderFault::Broken, ProviderFault::Refused]));
    }
    let said = order.transcript.iter().find(|line| line.speaker == Speaker::Customer);
    let mut grades = Vec::new();
    for criterion in &order.criteria {
        let quote = match random.percent(20) {
            true => "what nobody ever said".to_owned(),
            false => said.map(|line| line.text.clone()).unwrap_or_default(),
        };
        let verdict = *random.pick(&[Some(Verdict::Pass), Some(Verdict::Fail), Some(Verdict::Na), None]);
        grades.push(Grade {
            key: criterion.key.clone(),
            verdict,
            score: Some(random.range(-10, 110)),
            reasoning: "As it was.".into(),
            quotes: vec![quote],
        });
    }
    Ok(Grades { model: "examiner".into(), grades })
}

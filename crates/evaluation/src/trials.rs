//! Criteria that are tried on past conversations before they are switched on: charged, with no event, and not stored.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use api::error_codes as codes;
use api::evaluations::{EvaluationTrial, TriedEvaluation};
use app::evaluation_view::result;
use app::{App, Failure, access, wallet};
use domain::evaluation::{
    Cause, Criterion, CriterionResult, Graded, Grades, Line, MAX_TRIED, RunStatus, judge, ungraded,
};
use domain::ids::{Agent, Id};
use domain::ports::GradeOrder;
use domain::tenant::Tenant;
use store::agents;
use store::wallet::Floor;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::conversations::{self, Conversation};
use crate::work::{CHARGE, obstacle};
use crate::{criteria, queue};

/// Workspaces with a trial on this node.
#[derive(Default)]
struct Running(Mutex<HashSet<Tenant>>);

/// The trial of a workspace, until it is dropped.
struct Turn {
    running: Arc<Running>,
    tenant: Tenant,
}

impl Turn {
    fn take(app: &App, tenant: Tenant) -> Result<Self, Failure> {
        let running = app.state.of(Running::default);
        let first = running.0.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant);
        if !first {
            return Err(Failure::conflict("a trial of the workspace is running; wait for its answer"));
        }
        Ok(Self { running, tenant })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.tenant);
    }
}

/// A conversation of a trial.
type Tried = (Graded, String, Conversation);

/// The conversations of a request, each once.
fn named(body: &EvaluationTrial) -> Result<Vec<(Graded, String)>, Failure> {
    let chats = body.chat_ids.iter().map(|id| (Graded::Chat, id.clone()));
    let calls = body.call_ids.iter().map(|id| (Graded::Call, id.clone()));
    let named: Vec<(Graded, String)> = chats.chain(calls).collect();
    if named.is_empty() || named.len() > MAX_TRIED {
        return Err(Failure::field("chatIds", format!("must have, with callIds, 1 to {MAX_TRIED} ids")));
    }
    let unique: HashSet<&String> = named.iter().map(|(_, id)| id).collect();
    if unique.len() < named.len() {
        return Err(Failure::field("chatIds", "must name each conversation once"));
    }
    Ok(named)
}

/// Grades up to ten past conversations of an agent by these criteria, at the same time.
///
/// # Errors
/// 400, 402, 404, 409.
pub async fn attempt(
    app: &Arc<App>,
    tenant: Tenant,
    agent: Id<Agent>,
    body: EvaluationTrial,
) -> Result<Vec<TriedEvaluation>, Failure> {
    let named = named(&body)?;
    let criteria = criteria::given(body.criteria)?;
    let _turn = Turn::take(app, tenant)?;
    let found = app
        .store
        .read(move |tx| {
            let workspace = access::workspace(&mut tx.of(tenant))?;
            agents::get(&mut tx.of(tenant), agent)?.ok_or_else(|| Failure::not_found("agent"))?;
            let price = workspace.cost_per_evaluation.saturating_mul(named.len() as i64);
            if queue::available(&workspace) < price {
                return Err(Failure::new(
                    codes::INSUFFICIENT_BALANCE,
                    "the wallet does not cover the trial; ask the operator to top it up",
                ));
            }
            let mut found: Vec<Tried> = Vec::new();
            for (kind, id) in &named {
                let conversation = conversations::read(tx, tenant, *kind, id)?;
                if conversation.agent != agent {
                    let field = if *kind == Graded::Chat { "chatIds" } else { "callIds" };
                    return Err(Failure::field(field, "must be conversations of the agent"));
                }
                found.push((*kind, id.clone(), conversation));
            }
            Ok(found)
        })
        .await?;
    let answers = ask(app, tenant, &criteria, &found).await?;
    let mut graded = Vec::new();
    for ((kind, id, conversation), answer) in found.into_iter().zip(answers) {
        let ended = settle(app, tenant, &criteria, (&id, &conversation.lines), answer).await?;
        let of = |wanted: Graded| (kind == wanted).then(|| id.clone());
        graded.push(TriedEvaluation {
            kind,
            chat_id: of(Graded::Chat),
            call_id: of(Graded::Call),
            status: ended.status,
            cause: ended.cause,
            model: ended.model,
            charged_minor: ended.charged,
            results: ended.results.into_iter().map(result).collect(),
        });
    }
    Ok(graded)
}

/// What the model says of a conversation of a trial.
type Said = Result<Grades, Ended>;

/// Asks the model about all conversations at the same time, in a task that the clock counts: a request is none.
async fn ask(
    app: &Arc<App>,
    tenant: Tenant,
    criteria: &[Criterion],
    found: &[Tried],
) -> Result<Vec<Said>, Failure> {
    let mut said: Vec<Said> = found.iter().map(|_| Err(Ended::skipped(Cause::NothingToRead))).collect();
    let Some(model) = &app.ports.language_model else {
        return Ok(found.iter().map(|_| Err(Ended::failed(Cause::NoModel, criteria))).collect());
    };
    let mut asked = JoinSet::new();
    for (at, (_, _, conversation)) in found.iter().enumerate() {
        if conversation.lines.is_empty() {
            continue;
        }
        let order = GradeOrder {
            workspace: Some(tenant),
            transcript: conversation.lines.clone(),
            criteria: criteria.to_vec(),
            language: conversation.language.clone(),
        };
        let model = model.clone();
        asked.spawn(async move { (at, model.grade(order).await) });
    }
    let (answer, answered) = oneshot::channel();
    let clock = app.clock.clone();
    app.clock.spawn(async move {
        // Nobody waits any more when the client has gone.
        let _ = answer.send(clock.outside(asked.join_all()).await);
    });
    let answers = answered.await.map_err(|_| Failure::plain(codes::UNAVAILABLE))?;
    for (at, answer) in answers {
        said[at] = answer.map_err(|why| {
            tracing::warn!(provider = why.provider, fault = ?why.fault, "criteria could not be tried");
            Ended::failed(Cause::ModelFailed, criteria)
        });
    }
    Ok(said)
}

/// How a conversation of a trial ends.
struct Ended {
    status: RunStatus,
    cause: Option<Cause>,
    model: Option<String>,
    charged: i64,
    results: Vec<CriterionResult>,
}

impl Ended {
    fn skipped(cause: Cause) -> Self {
        Self { status: RunStatus::Skipped, cause: Some(cause), model: None, charged: 0, results: Vec::new() }
    }

    fn failed(cause: Cause, criteria: &[Criterion]) -> Self {
        let results = ungraded(criteria);
        Self { status: RunStatus::Failed, cause: Some(cause), model: None, charged: 0, results }
    }
}

/// Charges a graded conversation.
async fn settle(
    app: &App,
    tenant: Tenant,
    criteria: &[Criterion],
    (id, lines): (&str, &[Line]),
    said: Said,
) -> Result<Ended, Failure> {
    let grades = match said {
        Ok(grades) => grades,
        Err(ended) => return Ok(ended),
    };
    let (context, reference) = (app.context(), format!("{id}:try"));
    let charged = app
        .of(tenant)
        .tx(move |tx| {
            let workspace = access::workspace(tx)?;
            let price = workspace.cost_per_evaluation;
            if let Some(cause) = obstacle(&workspace, price) {
                return Ok(Err(cause));
            }
            if price > 0 && wallet::post(tx, &context, CHARGE, -price, &reference, Floor::Reserved)?.is_none()
            {
                return Ok(Err(Cause::InsufficientBalance));
            }
            Ok::<_, Failure>(Ok(price))
        })
        .await?;
    Ok(match charged {
        Ok(charged) => Ended {
            status: RunStatus::Graded,
            cause: None,
            results: judge(criteria, &grades.grades, lines),
            model: Some(grades.model),
            charged,
        },
        Err(cause) => Ended::skipped(cause),
    })
}

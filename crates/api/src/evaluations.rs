//! Evaluation of finished conversations against criteria (docs/contract/evaluation.md).

use domain::evaluation::{
    Cause, CriterionKind, Graded, MAX_CRITERIA, MAX_KEY, MAX_NAME, MAX_NOTE, MAX_PROMPT, MAX_SCORE,
    MAX_TRIED, RunStatus, SweepStatus, Trigger, Verdict,
};
use domain::ids::{self, Id};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error_codes as codes;
use crate::operation::Method::{GET, POST, PUT};
use crate::operation::{Access, Idempotency, Operation, operation};
use crate::schema::{
    Field, choice, cursor, data, integer, limit, list, may, need, page, request, text_of, time,
};
use crate::scopes::{AGENTS_READ, AGENTS_WRITE, CALLS_READ, CHAT_READ};

/// A criterion to be set: what is graded of a conversation.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewEvaluationCriterion {
    /// Key that identifies the criterion within the agent: 1 to 64 of `a-z`, `0-9` and `_`, beginning with a letter.
    #[schemars(length(min = 1, max = MAX_KEY))]
    pub key: String,
    /// The name of the criterion, for people.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub name: String,
    /// `pass_fail`: the model says whether it is met. `score`: the model gives a score from 0 to 100.
    pub kind: CriterionKind,
    /// The score from which a `score` is met, from 0 to 100; null for `pass_fail`.
    #[schemars(range(min = 0, max = MAX_SCORE), extend("x-nullable" = true))]
    pub pass_threshold: Option<i64>,
    /// What the model is to look at, in words.
    #[schemars(length(min = 1, max = MAX_PROMPT))]
    pub prompt: String,
}

/// What is graded of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationCriterion {
    /// Key that identifies the criterion within the agent: 1 to 64 of `a-z`, `0-9` and `_`, beginning with a letter.
    pub key: String,
    /// The name of the criterion, for people.
    pub name: String,
    /// `pass_fail`: the model says whether it is met. `score`: the model gives a score from 0 to 100.
    pub kind: CriterionKind,
    /// The score from which a `score` is met, from 0 to 100; null for `pass_fail`.
    pub pass_threshold: Option<i64>,
    /// What the model is to look at, in words.
    pub prompt: String,
}

/// The evaluation of an agent's conversations.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentEvaluation {
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// Whether finished conversations are graded by themselves.
    pub enabled: bool,
    /// Share of finished chats that are graded by themselves, from 0 to 1.
    pub sampling_rate: f64,
    /// Share of finished calls that are graded by themselves, from 0 to 1.
    pub call_sampling_rate: f64,
    /// Version of the criteria that is shown, from 1; 0 until criteria are set.
    pub version: i64,
    /// The criteria of this version, in their order.
    pub criteria: Vec<EvaluationCriterion>,
    /// When the settings last changed; null until they are set.
    pub updated_at: Option<Timestamp>,
    /// Who changed them, `key_…` or `usr_…`; null until they are set.
    pub updated_by: Option<String>,
    /// Price of one graded conversation, in minor units.
    pub cost_per_evaluation_minor: i64,
}

/// The settings of an agent's evaluation; they replace the ones before.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewAgentEvaluation {
    /// The criteria, in their order. Changed criteria are a new version.
    #[schemars(length(max = MAX_CRITERIA))]
    pub criteria: Vec<NewEvaluationCriterion>,
    /// Whether finished conversations are graded by themselves.
    pub enabled: bool,
    /// Share of finished chats that are graded by themselves, from 0 to 1.
    #[schemars(extend("default" = 1))]
    pub sampling_rate: f64,
    /// Share of finished calls that are graded by themselves, from 0 to 1.
    #[schemars(extend("default" = 0))]
    pub call_sampling_rate: f64,
}

/// Words of the transcript that a grade rests on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvaluationQuote {
    /// The words, as the model quoted them. They are in the transcript.
    pub text: String,
    /// The line of the transcript that has them, counted from 0 over the messages that were graded.
    pub line: usize,
}

/// The result of one criterion.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationResult {
    /// Key that identifies the criterion.
    pub criterion_key: String,
    /// The name of the criterion, for people.
    pub name: String,
    /// `pass_fail` or `score`: how the criterion is graded.
    pub kind: CriterionKind,
    /// The score from which it is met; null for `pass_fail`.
    pub pass_threshold: Option<i64>,
    /// `pass`, `fail`, or `na` if it does not apply or no grade could be had.
    pub verdict: Verdict,
    /// The score that it got, from 0 to 100; null for `pass_fail` and without one.
    pub score: Option<i64>,
    /// The model's reasons, at most 2,000 characters; empty once the person is erased.
    pub reasoning: String,
    /// Words of the transcript on which the grade rests; at most 10.
    pub quotes: Vec<EvaluationQuote>,
}

/// A person's own mark of a criterion.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationMark {
    /// Key that identifies the criterion.
    pub criterion_key: String,
    /// Id of the member who marked it, `usr_…`.
    pub user_id: Id<ids::User>,
    /// The verdict of the member: `pass`, `fail` or `na`.
    pub verdict: Verdict,
    /// A note of the member; null without one, and once the person is erased.
    pub note: Option<String>,
    /// When the mark last changed.
    pub updated_at: Timestamp,
}

/// The evaluation of one conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evaluation {
    /// Id of the evaluation, `evr_…`.
    pub id: Id<ids::EvaluationRun>,
    /// What was graded: `chat` or `call`.
    pub kind: Graded,
    /// Id of the chat; null for a call.
    pub chat_id: Option<String>,
    /// Id of the call; null for a chat.
    pub call_id: Option<String>,
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// `pending`, `graded`, `failed` (no model answered; every verdict is `na`) or `skipped` (without verdicts).
    pub status: RunStatus,
    /// Why it was skipped or failed; null otherwise.
    pub cause: Option<Cause>,
    /// Number of the evaluation among those of the conversation with verdicts, from 1; null without verdicts.
    pub run_no: Option<i64>,
    /// What started the evaluation: `auto`, `sweep` or `manual`.
    pub trigger: Trigger,
    /// Id of the sweep; null for another trigger.
    pub sweep_id: Option<Id<ids::EvaluationSweep>>,
    /// Version of the criteria that are used.
    pub criteria_version: i64,
    /// The model that graded the conversation; null until one did.
    pub model: Option<String>,
    /// When the evaluation was asked for.
    pub created_at: Timestamp,
    /// When the conversation was graded; null without verdicts.
    pub evaluated_at: Option<Timestamp>,
    /// Number of criteria that were met.
    pub passed: i64,
    /// Number of criteria that were not met.
    pub failed: i64,
    /// Number of criteria with the verdict `na`.
    pub not_applicable: i64,
    /// What was charged for it, in minor units.
    pub charged_minor: i64,
    /// The result of each criterion, in their order; empty without verdicts.
    pub results: Vec<EvaluationResult>,
    /// Marks that people made of it, by criterion.
    pub marks: Vec<EvaluationMark>,
}

/// A person's own verdict on one criterion.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewEvaluationMark {
    /// Key of a criterion of the evaluation.
    #[schemars(length(min = 1, max = MAX_KEY))]
    pub criterion_key: String,
    /// Your verdict: `pass`, `fail` or `na`.
    pub verdict: Verdict,
    /// A note for the team about the verdict; null or absent for none.
    #[schemars(length(min = 1, max = MAX_NOTE), extend("x-nullable" = true))]
    pub note: Option<String>,
}

/// Your marks of an evaluation; they replace the ones that you made before.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewEvaluationMarks {
    /// At most one mark for each criterion.
    #[schemars(length(max = MAX_CRITERIA))]
    pub marks: Vec<NewEvaluationMark>,
}

/// Criteria to be tried on past conversations.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationTrial {
    /// The criteria to try.
    #[schemars(length(min = 1, max = MAX_CRITERIA))]
    pub criteria: Vec<NewEvaluationCriterion>,
    /// Ids of finished chats of the agent.
    #[schemars(length(max = MAX_TRIED), inner(length(min = 1, max = 64)), extend("default" = []))]
    pub chat_ids: Vec<String>,
    /// Ids of finished calls of the agent. Chats and calls are together at most 10.
    #[schemars(length(max = MAX_TRIED), inner(length(min = 1, max = 64)), extend("default" = []))]
    pub call_ids: Vec<String>,
}

/// What criteria gave for a past conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TriedEvaluation {
    /// What was graded: `chat` or `call`.
    pub kind: Graded,
    /// Id of the chat; null for a call.
    pub chat_id: Option<String>,
    /// Id of the call; null for a chat.
    pub call_id: Option<String>,
    /// `graded`, `failed` or `skipped`.
    pub status: RunStatus,
    /// Why it was skipped or failed; null otherwise.
    pub cause: Option<Cause>,
    /// The model that graded it; null without one.
    pub model: Option<String>,
    /// What was charged for it, in minor units.
    pub charged_minor: i64,
    /// The result of each criterion; empty if it was skipped.
    pub results: Vec<EvaluationResult>,
}

/// Which past conversations of an agent are graded again.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewEvaluationSweep {
    /// Id of the agent, `agt_…`.
    #[schemars(length(min = 1, max = 64))]
    pub agent_id: String,
    /// Whether chats or calls are graded.
    pub kind: Graded,
    /// Only conversations that began at or after this time.
    pub from: Timestamp,
    /// Only conversations that began before this time.
    pub to: Timestamp,
    /// What narrows them further.
    #[schemars(extend("default" = {}))]
    pub filters: SweepFilters,
}

/// What narrows the conversations of a sweep.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SweepFilters {
    /// Only conversations with this outcome.
    #[schemars(length(min = 1, max = 64))]
    pub outcome: Option<String>,
    /// Only conversations without an evaluation.
    #[serde(default)]
    pub only_ungraded: bool,
}

/// What a sweep would grade and cost.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SweepPreview {
    /// Finished conversations that would be graded.
    pub conversations: i64,
    /// Version of the criteria that would be used.
    pub criteria_version: i64,
    /// Price of one graded conversation, in minor units.
    pub price_minor: i64,
    /// Price of all of them, in minor units.
    pub total_minor: i64,
    /// What is free in the wallet, in minor units.
    pub available_minor: i64,
    /// Why the sweep cannot begin, in words; null if it can.
    pub obstacle: Option<String>,
}

/// Past conversations that are graded again.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationSweep {
    /// Id of the sweep, `evs_…`.
    pub id: Id<ids::EvaluationSweep>,
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// Whether chats or calls are graded.
    pub kind: Graded,
    /// Only conversations that began at or after this time.
    pub from: Timestamp,
    /// Only conversations that began before this time.
    pub to: Timestamp,
    /// Only conversations with this outcome; null for all.
    pub outcome: Option<String>,
    /// Whether conversations with an evaluation are left out.
    pub only_ungraded: bool,
    /// Version of the criteria that is used.
    pub criteria_version: i64,
    /// `running`, `finished`, `cancelled`, or `stopped` with a cause.
    pub status: SweepStatus,
    /// Why it was stopped; null otherwise.
    pub cause: Option<Cause>,
    /// Conversations that were to be graded when it began.
    pub conversations: i64,
    /// Number of conversations that a model graded.
    pub graded: i64,
    /// Number of conversations that no model could grade.
    pub failed: i64,
    /// Conversations that were left out, such as those of erased people.
    pub skipped: i64,
    /// What was charged so far, in minor units.
    pub charged_minor: i64,
    /// Who began it, `key_…` or `usr_…`.
    pub created_by: String,
    /// When the sweep was started.
    pub created_at: Timestamp,
    /// When it was over; null while it is running.
    pub finished_at: Option<Timestamp>,
}

/// The shares of one criterion.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CriterionShares {
    /// Key that identifies the criterion.
    pub criterion_key: String,
    /// The name of the criterion in the current criteria; null if they lack it.
    pub name: Option<String>,
    /// Number of conversations that met the criterion.
    pub passed: i64,
    /// Number of conversations that did not meet the criterion.
    pub failed: i64,
    /// Number of conversations with the verdict `na`.
    pub not_applicable: i64,
    /// Share of passing: `passed / (passed + failed)`, from 0 to 1; null without any.
    pub pass_rate: Option<f64>,
    /// Mean score from 0 to 100; null without scores.
    pub mean_score: Option<f64>,
}

/// Verdicts of an agent's conversations; of each conversation the last evaluation counts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationSummary {
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// Whether chats or calls are counted.
    pub kind: Graded,
    /// The shares of each criterion, by key.
    pub criteria: Vec<CriterionShares>,
}

/// How far the model and people agree on one criterion.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CriterionAgreement {
    /// Key that identifies the criterion.
    pub criterion_key: String,
    /// The name of the criterion in the current criteria; null if they lack it.
    pub name: Option<String>,
    /// Number of marks that people made.
    pub n: u64,
    /// Marks with the verdict of the model.
    pub agreed: u64,
    /// Cohen's kappa of the three verdicts: 1 is full agreement, 0 what chance gives; null where it is not defined.
    pub kappa: Option<f64>,
}

/// How far the model and people agree on an agent's conversations.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationAgreement {
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// The agreement on each criterion with marks, by key.
    pub criteria: Vec<CriterionAgreement>,
}

fn version_query() -> Vec<Field> {
    vec![may(
        "version",
        integer(1, 1_000_000_000).doc("An earlier version of the criteria; the last 100 are kept."),
    )]
}

fn runs_query() -> Vec<Field> {
    vec![limit(100), cursor()]
}

fn sweeps_query() -> Vec<Field> {
    vec![limit(200), cursor()]
}

fn range() -> Vec<Field> {
    vec![
        need("agentId", text_of(1, 64).doc("Id of the agent, `agt_…`.")),
        may("from", time().doc("Only conversations that began at or after this time.")),
        may("to", time().doc("Only conversations that began before this time.")),
    ]
}

fn summary_query() -> Vec<Field> {
    let mut fields = range();
    fields.push(need("kind", choice(&["chat", "call"]).doc("Whether chats or calls are counted.")));
    fields
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/v1/agents/{id}/evaluation", "getAgentEvaluation", "Evaluation", "Criteria and sampling of an agent")
        .scope(AGENTS_READ)
        .query(version_query)
        .answers(&[(200, Some(data::<AgentEvaluation>))]),
    operation(PUT, "/v1/agents/{id}/evaluation", "setAgentEvaluation", "Evaluation", "Set criteria and sampling of an agent")
        .about(
            "Replaces all settings. Conversations that finish from now on are graded by these criteria; earlier \
             ones keep their verdicts.",
        )
        .scope(AGENTS_WRITE)
        .live_only()
        .body(request::<NewAgentEvaluation>)
        .answers(&[(200, Some(data::<AgentEvaluation>))])
        .errors(&[codes::PLAN_FEATURE_LOCKED]),
    operation(POST, "/v1/agents/{id}/evaluation/try", "tryEvaluation", "Evaluation", "Try criteria on past conversations")
        .about(
            "Waits for the model. Each graded conversation is charged; nothing is stored and no event is sent. One \
             trial of a workspace at a time. Also needs the scope `chat:read` for chats and `calls:read` for calls.",
        )
        .scope(AGENTS_WRITE)
        .live_only()
        .body(request::<EvaluationTrial>)
        .answers(&[(200, Some(list::<TriedEvaluation>))])
        .errors(&[codes::PLAN_FEATURE_LOCKED, codes::INSUFFICIENT_BALANCE, codes::CONFLICT]),
    operation(POST, "/v1/chats/{id}/evaluate", "evaluateChat", "Evaluation", "Grade a finished chat")
        .about(
            "Grades it by the current criteria of its agent, also where it was graded before, and charges it once it \
             is graded. A pending evaluation of the chat is answered instead of another one.",
        )
        .scopes(AGENTS_WRITE, CHAT_READ)
        .live_only()
        .answers(&[(202, Some(data::<Evaluation>))])
        .errors(&[codes::PLAN_FEATURE_LOCKED, codes::INSUFFICIENT_BALANCE, codes::CONFLICT]),
    operation(POST, "/v1/calls/{id}/evaluate", "evaluateCall", "Evaluation", "Grade a finished call")
        .about(
            "Grades it by the current criteria of its agent, also where it was graded before, and charges it once it \
             is graded. A pending evaluation of the call is answered instead of another one. Calls send no event.",
        )
        .scopes(AGENTS_WRITE, CALLS_READ)
        .live_only()
        .answers(&[(202, Some(data::<Evaluation>))])
        .errors(&[codes::PLAN_FEATURE_LOCKED, codes::INSUFFICIENT_BALANCE, codes::CONFLICT]),
    operation(GET, "/v1/chats/{id}/evaluations", "listChatEvaluations", "Evaluation", "Evaluations of a chat, newest first")
        .scopes(AGENTS_READ, CHAT_READ)
        .query(runs_query)
        .answers(&[(200, Some(page::<Evaluation>))]),
    operation(GET, "/v1/calls/{id}/evaluations", "listCallEvaluations", "Evaluation", "Evaluations of a call, newest first")
        .scopes(AGENTS_READ, CALLS_READ)
        .query(runs_query)
        .answers(&[(200, Some(page::<Evaluation>))]),
    operation(GET, "/v1/evaluations/runs/{id}", "getEvaluation", "Evaluation", "One evaluation with its results and marks")
        .about("Also needs the scope `chat:read` for a chat and `calls:read` for a call.")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(data::<Evaluation>))])
        .errors(&[codes::API_SCOPE_MISSING]),
    operation(PUT, "/v1/evaluations/runs/{id}/marks", "setEvaluationMarks", "Evaluation", "Mark an evaluated conversation yourself")
        .about("Replaces your own marks of the evaluation; those of others stay. At most 50 people mark one evaluation.")
        .access(Access::Member)
        .role(Role::Editor)
        .live_only()
        .body(request::<NewEvaluationMarks>)
        .answers(&[(200, Some(data::<Evaluation>))])
        .errors(&[codes::CONFLICT]),
    operation(POST, "/v1/evaluations/sweeps/preview", "previewEvaluationSweep", "Evaluation", "What a sweep would grade and cost")
        .scope(AGENTS_READ)
        .live_only()
        .body(request::<NewEvaluationSweep>)
        .answers(&[(200, Some(data::<SweepPreview>))])
        .errors(&[codes::AGENT_NOT_FOUND, codes::CONFLICT]),
    operation(POST, "/v1/evaluations/sweeps", "startEvaluationSweep", "Evaluation", "Grade past conversations again")
        .about(
            "Grades at most 10,000 conversations, one sweep of an agent at a time, and charges each that is graded. \
             402 if the wallet does not cover all of them now.",
        )
        .scope(AGENTS_WRITE)
        .role(Role::Admin)
        .live_only()
        .idempotent(Idempotency::Optional)
        .body(request::<NewEvaluationSweep>)
        .answers(&[(201, Some(data::<EvaluationSweep>))])
        .errors(&[codes::PLAN_FEATURE_LOCKED, codes::INSUFFICIENT_BALANCE, codes::CONFLICT, codes::AGENT_NOT_FOUND]),
    operation(GET, "/v1/evaluations/sweeps", "listEvaluationSweeps", "Evaluation", "Sweeps, newest first")
        .scope(AGENTS_READ)
        .query(sweeps_query)
        .answers(&[(200, Some(page::<EvaluationSweep>))]),
    operation(GET, "/v1/evaluations/sweeps/{id}", "getEvaluationSweep", "Evaluation", "One sweep with its progress")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(data::<EvaluationSweep>))]),
    operation(POST, "/v1/evaluations/sweeps/{id}/cancel", "cancelEvaluationSweep", "Evaluation", "Cancel a sweep")
        .about("What is graded stays. What a model still grades is neither stored nor charged. A sweep that is over stays as it is.")
        .scope(AGENTS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<EvaluationSweep>))]),
    operation(GET, "/v1/evaluations/summary", "getEvaluationSummary", "Evaluation", "Shares of passing by criterion")
        .about("Days are those of India: a range counts every day that it touches.")
        .scope(AGENTS_READ)
        .query(summary_query)
        .answers(&[(200, Some(data::<EvaluationSummary>))])
        .errors(&[codes::AGENT_NOT_FOUND]),
    operation(GET, "/v1/evaluations/agreement", "getEvaluationAgreement", "Evaluation", "Agreement of the model with people")
        .scope(AGENTS_READ)
        .query(range)
        .answers(&[(200, Some(data::<EvaluationAgreement>))])
        .errors(&[codes::AGENT_NOT_FOUND]),
];

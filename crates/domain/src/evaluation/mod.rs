//! Evaluation of finished conversations against criteria (docs/contract/evaluation.md). Pure: what criteria may say, which
//! conversations are sampled, which parts of a model's grades are accepted, and how far model and people agree.

mod agreement;
mod quotes;

pub use agreement::{Agreement, Pairs, agreement};
pub use quotes::{Quote, quotes_in};

use serde::{Deserialize, Serialize};

use crate::time::{HOUR, MINUTE, SECOND};

/// Most criteria of an agent.
pub const MAX_CRITERIA: usize = 20;
/// Longest key of a criterion, in characters.
pub const MAX_KEY: usize = 64;
/// Longest name of a criterion, in characters.
pub const MAX_NAME: usize = 120;
/// Longest prompt of a criterion, in characters.
pub const MAX_PROMPT: usize = 2_000;
/// The highest score; the lowest is 0.
pub const MAX_SCORE: i64 = 100;
/// Longest reasoning of a grade, in characters; the rest is cut off.
pub const MAX_REASONING: usize = 2_000;
/// Most quotes of a grade; the others are left out.
pub const MAX_QUOTES: usize = 10;
/// Longest quote, in characters.
pub const MAX_QUOTE: usize = 500;
/// Longest note of a person's mark, in characters.
pub const MAX_NOTE: usize = 500;
/// Most evaluations of one conversation.
pub const MAX_RUNS: i64 = 100;
/// Most conversations of a sweep.
pub const MAX_SWEEP: i64 = 10_000;
/// Most conversations that the preview of a sweep looks at.
pub const MAX_SWEEP_RANGE: i64 = 50_000;
/// Most conversations of a trial of criteria.
pub const MAX_TRIED: usize = 10;
/// Versions of an agent's criteria that are kept.
pub const MAX_VERSIONS: i64 = 100;
/// Tries of an evaluation before it is given up.
pub const MAX_ATTEMPTS: i64 = 5;
/// Lease of a worker on an evaluation: longer than a chain of providers takes.
pub const LEASE: i64 = 5 * MINUTE;

closed_sets::words! {
    /// How a criterion is graded.
    pub enum CriterionKind {
        /// Met or not.
        PassFail = "pass_fail",
        /// By a score from 0 to [`MAX_SCORE`]; met from its threshold on.
        Score = "score",
    }
}

closed_sets::words! {
    /// The result of a criterion.
    pub enum Verdict {
        Pass = "pass",
        Fail = "fail",
        /// It does not apply, or no grade could be had.
        Na = "na",
    }
}

closed_sets::words! {
    /// What started an evaluation.
    pub enum Trigger {
        /// The end of the conversation.
        Auto = "auto",
        /// A sweep over past conversations.
        Sweep = "sweep",
        /// A request for this conversation.
        Manual = "manual",
    }
}

closed_sets::words! {
    /// What is graded.
    pub enum Graded {
        Chat = "chat",
        Call = "call",
    }
}

closed_sets::words! {
    /// How far an evaluation has got.
    pub enum RunStatus {
        Pending = "pending",
        /// A model graded it.
        Graded = "graded",
        /// No model could; every verdict is `na`.
        Failed = "failed",
        /// It was not graded, and has no verdicts.
        Skipped = "skipped",
    }
}

closed_sets::words! {
    /// Why an evaluation was not graded, or failed.
    pub enum Cause {
        /// The wallet did not cover it.
        InsufficientBalance = "insufficient_balance",
        WorkspaceSuspended = "workspace_suspended",
        /// The feature `evaluation` is off.
        FeatureDisabled = "feature_disabled",
        /// There is no language model that grades.
        NoModel = "no_model",
        /// The model did not answer, or never as it was asked to.
        ModelFailed = "model_failed",
        /// The customer said nothing, or nothing is left of the conversation.
        NothingToRead = "nothing_to_read",
        /// The version of the criteria is not kept any more.
        CriteriaGone = "criteria_gone",
    }
}

closed_sets::words! {
    /// Where a sweep is.
    pub enum SweepStatus {
        Running = "running",
        Finished = "finished",
        Cancelled = "cancelled",
        /// It ended early, because the wallet did not cover it or evaluation is off.
        Stopped = "stopped",
    }
}

/// A criterion of an agent, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Criterion {
    pub key: String,
    /// For people.
    pub name: String,
    pub kind: CriterionKind,
    /// The score from which it is met; only of a score.
    pub pass_threshold: Option<i64>,
    /// What is graded, for the model.
    pub prompt: String,
}

/// What is wrong with a list of criteria: the field below the list, and what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongCriteria {
    /// Such as `[2].passThreshold`.
    pub field: String,
    pub must: &'static str,
}

fn is_key(key: &str) -> bool {
    let mut letters = key.chars();
    letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
        && key.len() <= MAX_KEY
}

/// Checks a list of criteria (docs/contract/evaluation.md#criteria).
///
/// # Errors
/// The first field that is wrong.
pub fn check(criteria: &[Criterion]) -> Result<(), WrongCriteria> {
    for (at, criterion) in criteria.iter().enumerate() {
        let wrong = |field: &str, must| Err(WrongCriteria { field: format!("[{at}].{field}"), must });
        if !is_key(&criterion.key) {
            return wrong("key", "must be 1 to 64 of a-z, 0-9 and _, beginning with a letter");
        }
        if criteria[..at].iter().any(|other| other.key == criterion.key) {
            return wrong("key", "must be used once in the list");
        }
        if criterion.name.trim().is_empty() {
            return wrong("name", "must not be blank");
        }
        if criterion.prompt.trim().is_empty() {
            return wrong("prompt", "must not be blank");
        }
        match (criterion.kind, criterion.pass_threshold) {
            (CriterionKind::Score, Some(threshold)) if (0..=MAX_SCORE).contains(&threshold) => {}
            (CriterionKind::Score, _) => {
                return wrong("passThreshold", "must be a whole number from 0 to 100 for a score");
            }
            (CriterionKind::PassFail, None) => {}
            (CriterionKind::PassFail, Some(_)) => {
                return wrong("passThreshold", "must be absent or null for pass_fail");
            }
        }
    }
    Ok(())
}

/// Whether a conversation is graded at this sampling rate (0 to 1). The same conversation is always drawn the same way,
/// and a conversation that is drawn at a rate is also drawn at every higher one. `bits` are those of its id.
pub fn sampled(bits: u128, rate: f64) -> bool {
    // The steps of splitmix64 spread the bits, of which the first are the time.
    let mut mixed = (bits as u64) ^ ((bits >> 64) as u64).rotate_left(32);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    // 53 bits are what a fraction holds exactly.
    let share = (mixed >> 11) as f64 / (1_u64 << 53) as f64;
    share < rate
}

/// When an evaluation that failed `attempts` times is tried again, in milliseconds from now; `None` when it is given up.
pub fn retry_in(attempts: i64) -> Option<i64> {
    let doublings = u32::try_from((attempts - 1).clamp(0, 16)).unwrap_or(16);
    (attempts < MAX_ATTEMPTS).then_some(((30 * SECOND) << doublings).min(HOUR))
}

/// Who said a line of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    Customer,
    Agent,
    /// A person of the workspace; not what is graded.
    Team,
}

/// A line of the transcript that is graded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    pub speaker: Speaker,
    pub text: String,
}

/// What a model said of a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grade {
    /// Key of the criterion.
    pub key: String,
    /// Its verdict; ignored for a score.
    pub verdict: Option<Verdict>,
    /// Its score; ignored for `pass_fail`.
    pub score: Option<i64>,
    pub reasoning: String,
    /// The words on which it rests.
    pub quotes: Vec<String>,
}

/// The grades of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grades {
    /// The model that graded.
    pub model: String,
    pub grades: Vec<Grade>,
}

/// The accepted result of a criterion, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CriterionResult {
    pub criterion_key: String,
    pub name: String,
    pub kind: CriterionKind,
    pub pass_threshold: Option<i64>,
    pub verdict: Verdict,
    pub score: Option<i64>,
    pub reasoning: String,
    /// Where the words on which it rests are in the transcript.
    #[serde(default)]
    pub quotes: Vec<Quote>,
}

/// The reasoning of a grade that could not be had, or was not accepted.
pub const NO_GRADE: &str = "The model gave no grade.";
/// The same where it quoted what nobody said.
pub const FALSE_QUOTE: &str =
    "The model quoted words that are not in the transcript, so its grade does not count.";
/// The same where no model answered.
pub const NO_ANSWER: &str = "No model graded the conversation.";

fn result(criterion: &Criterion, verdict: Verdict, reasoning: &str) -> CriterionResult {
    CriterionResult {
        criterion_key: criterion.key.clone(),
        name: criterion.name.clone(),
        kind: criterion.kind,
        pass_threshold: criterion.pass_threshold,
        verdict,
        score: None,
        reasoning: reasoning.to_owned(),
        quotes: Vec::new(),
    }
}

fn cut(text: &str, most: usize) -> String {
    text.trim().chars().filter(|letter| *letter != '\0').take(most).collect()
}

/// The results of a conversation: one for each criterion, in their order, whatever the model answered. A score's verdict
/// comes from its threshold. A grade that is missing, has no usable verdict or score, or quotes words that are not in the
/// transcript, is `na`.
pub fn judge(criteria: &[Criterion], grades: &[Grade], transcript: &[Line]) -> Vec<CriterionResult> {
    let said = quotes::Said::of(transcript);
    criteria.iter().map(|criterion| judge_one(criterion, grades, &said)).collect()
}

fn judge_one(criterion: &Criterion, grades: &[Grade], said: &quotes::Said) -> CriterionResult {
    let Some(grade) = grades.iter().find(|grade| grade.key == criterion.key) else {
        return result(criterion, Verdict::Na, NO_GRADE);
    };
    let reasoning = cut(&grade.reasoning, MAX_REASONING);
    let claimed: Vec<String> =
        grade.quotes.iter().take(MAX_QUOTES).map(|quote| cut(quote, MAX_QUOTE)).collect();
    let Some(found) = said.find_all(&claimed, &reasoning) else {
        return result(criterion, Verdict::Na, FALSE_QUOTE);
    };
    let (verdict, score) = match criterion.kind {
        CriterionKind::PassFail => (grade.verdict, None),
        CriterionKind::Score => {
            let score = grade.score.filter(|score| (0..=MAX_SCORE).contains(score));
            let verdict = match (score, criterion.pass_threshold) {
                (Some(score), Some(threshold)) if score >= threshold => Some(Verdict::Pass),
                (Some(_), Some(_)) => Some(Verdict::Fail),
                // The model says that it does not apply.
                _ => grade.verdict.filter(|verdict| *verdict == Verdict::Na),
            };
            (verdict, score)
        }
    };
    let Some(verdict) = verdict else { return result(criterion, Verdict::Na, NO_GRADE) };
    CriterionResult { score, quotes: found, ..result(criterion, verdict, &reasoning) }
}

/// The results of a conversation that no model graded.
pub fn ungraded(criteria: &[Criterion]) -> Vec<CriterionResult> {
    criteria.iter().map(|criterion| result(criterion, Verdict::Na, NO_ANSWER)).collect()
}

/// How many results have a verdict.
pub fn count(results: &[CriterionResult], verdict: Verdict) -> i64 {
    results.iter().filter(|result| result.verdict == verdict).count() as i64
}

#[cfg(test)]
mod tests;

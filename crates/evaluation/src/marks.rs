//! Reading evaluations, and people's own marks of the same conversations.

use std::collections::HashSet;

use api::evaluations::{Evaluation, NewEvaluationMark, NewEvaluationMarks};
use app::evaluation_view::{of_conversation, read_results, view};
use app::limits::pages;
use app::{App, Failure};
use domain::evaluation::Graded;
use domain::ids::{EvaluationRun, Id, User};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use store::evaluations::marks::{self, MarkRow};
use store::evaluations::{self};
use store::{TenantTx, Tx, calls, chats};

use crate::conversations;

/// Most people who mark one evaluation.
const MAX_PEOPLE: i64 = 50;

fn not_found() -> Failure {
    Failure::not_found("evaluation")
}

/// One evaluation. Test keys have none.
///
/// # Errors
/// 404.
pub async fn get(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    id: Id<EvaluationRun>,
) -> Result<Evaluation, Failure> {
    app.of(tenant)
        .read(move |tx| {
            let row = evaluations::get(tx, id)?.filter(|_| mode == Mode::Live).ok_or_else(not_found)?;
            view(tx, row)
        })
        .await
}

/// Whether the conversation exists in this mode.
fn exists(tx: &mut TenantTx, mode: Mode, kind: Graded, id: &str) -> Result<bool, Failure> {
    Ok(match kind {
        Graded::Chat => match id.parse() {
            Ok(id) => mode == Mode::Live && chats::get(tx, id)?.is_some_and(|row| row.test_link.is_none()),
            Err(_) => false,
        },
        Graded::Call => match id.parse() {
            Ok(id) => calls::get_taken(tx, mode, id)?.is_some(),
            Err(_) => false,
        },
    })
}

/// Evaluations of a conversation, newest first, with the cursor of the next page.
///
/// # Errors
/// 404.
pub async fn list(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    (kind, conversation): (Graded, String),
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<Evaluation>, Option<String>), Failure> {
    let page = app.store.read(move |tx| {
        if !exists(&mut tx.of(tenant), mode, kind, &conversation)? {
            return Err(Failure::not_found(kind.as_str()));
        }
        let read = |tx: &mut Tx<'_>, limit: i64, before: Option<&str>| {
            let found = of_conversation(&mut tx.of(tenant), &conversation, before, limit)?;
            let next = pages::last(&found, limit, |run| run.id.to_string());
            Ok::<_, Failure>((found, next))
        };
        pages::views(tx, limit, before.clone(), read, |run: &Evaluation| run.id.to_string())
    });
    page.await
}

/// Sets the marks of a member for an evaluation.
///
/// # Errors
/// 400, 404, 409.
pub async fn mark(
    app: &App,
    tenant: Tenant,
    member: Id<User>,
    id: Id<EvaluationRun>,
    body: NewEvaluationMarks,
) -> Result<Evaluation, Failure> {
    let now = app.clock.now();
    app.store.tx(move |tx| mark_in(tx, tenant, (member, now), id, &body.marks)).await
}

fn mark_in(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    (member, now): (Id<User>, Timestamp),
    id: Id<EvaluationRun>,
    given: &[NewEvaluationMark],
) -> Result<Evaluation, Failure> {
    let row = evaluations::get(&mut tx.of(tenant), id)?.ok_or_else(not_found)?;
    if conversations::hold(tx, tenant, row.kind, &row.conversation)?.is_none() {
        return Err(Failure::conflict("the conversation is deleted, or its person is erased"));
    }
    let tx = &mut tx.of(tenant);
    let row = evaluations::get_for_update(tx, id)?.ok_or_else(not_found)?;
    if row.run_no.is_none() {
        return Err(Failure::conflict("the evaluation has no verdicts, so there is nothing to mark"));
    }
    if marks::others_of_run(tx, id, member)? >= MAX_PEOPLE {
        return Err(Failure::conflict(format!(
            "{MAX_PEOPLE} people have marked the evaluation, which is the limit"
        )));
    }
    let results = read_results(&row)?;
    let mut seen = HashSet::new();
    for (at, mark) in given.iter().enumerate() {
        let field = format!("marks[{at}].criterionKey");
        let Some(result) = results.iter().find(|result| result.criterion_key == mark.criterion_key) else {
            return Err(Failure::field(&field, "must be the key of a criterion of the evaluation"));
        };
        if !seen.insert(&mark.criterion_key) {
            return Err(Failure::field(&field, "must be used once in the list"));
        }
        let mark = MarkRow {
            run: id,
            criterion: mark.criterion_key.clone(),
            member,
            conversation: row.conversation.clone(),
            agent: row.agent,
            kind: row.kind,
            began_at: row.began_at,
            verdict: result.verdict,
            mark: mark.verdict,
            note: mark.note.clone(),
            created_at: now,
            updated_at: now,
        };
        marks::set(tx, &mark)?;
    }
    let keys: Vec<String> = given.iter().map(|mark| mark.criterion_key.clone()).collect();
    marks::keep_only(tx, id, member, &keys)?;
    view(tx, row)
}

//! The operator log: who changed what, written in the transaction of the change.

use api::operator::OperatorLogEntry;
use domain::ids::{Event, Id};
use domain::tenant::Tenant;
use store::operator_log::{self, LogRow};
use store::{DbError, Tx};

use super::{App, Context, Failure, actions};
use runtime::ids::Ids;

/// The origin of an operator's write.
#[derive(Debug, Clone)]
pub struct Trace {
    pub operation: &'static str,
    pub request_id: String,
}

/// The id of a new line; it sorts by time.
pub fn new_id(ids: &Ids) -> String {
    ids.make::<Event>().to_string().replacen("evt_", "olog_", 1)
}

/// Adds a line about a change of the operator. `subject` holds ids and names only; it begins with the id of the object,
/// if it has one. A member who uses an operation of the operator is in the log of actions only.
pub fn append(
    tx: &mut Tx<'_>,
    context: &Context,
    trace: &Trace,
    workspace: Option<Tenant>,
    subject: &str,
) -> Result<(), DbError> {
    if !actions::of_operator(tx, workspace, subject) {
        return Ok(());
    }
    let row = LogRow {
        id: new_id(&context.ids),
        at: context.now,
        operation: trace.operation.into(),
        workspace: workspace.map(|workspace: Id<_>| workspace.to_string()),
        subject: subject.into(),
        request_id: trace.request_id.clone(),
    };
    operator_log::append(tx, &row)
}

/// The log, newest first.
pub async fn list(
    app: &App,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<OperatorLogEntry>, Option<String>), Failure> {
    let rows = app.store.read(move |tx| operator_log::list(tx, before.as_deref(), limit)).await?;
    let next = (rows.len() as i64 == limit).then(|| rows.last().map(|row| row.id.clone())).flatten();
    let view = |row: LogRow| OperatorLogEntry {
        id: row.id,
        at: row.at,
        operation: row.operation,
        workspace_id: row.workspace,
        subject: row.subject,
        request_id: row.request_id,
    };
    Ok((rows.into_iter().map(view).collect(), next))
}

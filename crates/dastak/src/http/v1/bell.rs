//! `/v1/notifications`.

use std::sync::Arc;

use domain::ids::{Id, User};
use domain::tenant::Mode;

use crate::app::access::Caller;
use crate::app::{App, Failure, bell};
use crate::http::handler::{Outcome, Reply, Request};

/// Whose they are.
fn owner(caller: &Caller) -> Result<(Id<User>, Mode), Failure> {
    let member = caller.member().ok_or_else(|| Failure::internal("a row of members was called by a key"))?;
    Ok((member, caller.mode()))
}

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (before, limit) = (request.cursor(&app)?, request.query_number("limit"));
    let (rows, next) = bell::list(&app, caller.tenant(), owner(&caller)?, before, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

pub async fn read(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body = request.body()?;
    Reply::data(200, &bell::read(&app, caller.tenant(), owner(&caller)?, body).await?)
}

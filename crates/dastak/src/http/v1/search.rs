//! `/v1/search`.

use std::sync::Arc;

use api::envelope::List;

use crate::app::access::Caller;
use crate::app::{App, search};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn search(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let text = request.query_text("q").unwrap_or_default();
    let may = |scope| caller.has(scope);
    let data = search::search(&app, caller.tenant(), caller.mode(), text, may).await?;
    Reply::json(200, &List { data })
}

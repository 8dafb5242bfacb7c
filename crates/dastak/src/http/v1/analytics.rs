//! `/v1/analytics`.

use std::sync::Arc;

use domain::analytics::Query;
use domain::time::Timestamp;

use crate::app::access::Caller;
use crate::app::{App, analytics};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn calls(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    caller.need_feature("analytics")?;
    let text = |name: &str| request.query_text(name).map(str::to_owned);
    let moment = |name: &str| request.query_text(name).and_then(Timestamp::parse);
    let query = Query {
        from: moment("from"),
        to: moment("to"),
        agent: text("agentId"),
        campaign: text("campaignId"),
    };
    let by_hour = request.query_text("groupBy").is_some();
    Reply::data(200, &analytics::calls(&app, caller.tenant(), caller.mode(), query, by_hour).await?)
}

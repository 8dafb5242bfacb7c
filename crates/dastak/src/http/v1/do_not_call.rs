//! `/v1/dnc`.

use std::sync::Arc;

use api::do_not_call::NewDoNotCallNumbers;
use api::envelope::Counted;

use crate::app::access::Caller;
use crate::app::{App, do_not_call};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (limit, offset) = (request.query_number("limit"), request.query_number("offset"));
    let Some(phone) = request.query_text("phone") else {
        let (data, total) = do_not_call::list(&app, caller.tenant(), limit, offset).await?;
        return Reply::json(200, &Counted { data, total });
    };
    let entry = do_not_call::check(&app, caller.tenant(), phone).await?;
    let total = i64::from(entry.is_some());
    let data: Vec<_> = entry.into_iter().filter(|_| offset == 0).collect();
    Reply::json(200, &Counted { data, total })
}

pub async fn add(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body: NewDoNotCallNumbers = request.body()?;
    Reply::data(200, &do_not_call::add(&app, caller.tenant(), body.phones, body.reason).await?)
}

//! `/v1/wallet`.

use std::sync::Arc;

use api::envelope::Counted;

use crate::app::access::Caller;
use crate::app::{App, wallet};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn get(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &wallet::get(&app, caller.tenant()).await?)
}

pub async fn transactions(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (data, total) = wallet::transactions(
        &app,
        caller.tenant(),
        request.query_number("limit"),
        request.query_number("offset"),
    )
    .await?;
    Reply::json(200, &Counted { data, total })
}

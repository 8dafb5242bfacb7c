//! `/v1/wallet`.

use std::sync::Arc;

use serde::Serialize;

use crate::app::access::Caller;
use crate::app::{App, wallet};
use crate::http::handler::{Outcome, Reply, Request};

/// `{data: […], total}`.
#[derive(Serialize)]
pub struct Ledger<T> {
    /// The page.
    pub data: Vec<T>,
    /// Lines in all.
    pub total: i64,
}

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
    Reply::json(200, &Ledger { data, total })
}

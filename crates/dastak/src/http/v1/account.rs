//! `GET /v1/me`.

use std::sync::Arc;

use crate::app::access::Caller;
use crate::app::{App, account};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn get(_: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &account::describe(&caller))
}

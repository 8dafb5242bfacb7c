//! `/v1/data-streams`, the streams of a campaign, and `/ingest/streams`.

use std::sync::Arc;

use api::data_streams::StreamRecordPage;
use api::envelope::Deleted;
use streams::{attachments, ingest, records as stream_records, stream};

use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::http::handler::{Outcome, Reply, Request};
use api::events::data_streams::REJECTED;

/// Refuses the service's own word of a rejected record: as a record it would be rejected, too, and that would be told
/// again, without end, where a webhook endpoint leads back to a stream.
fn refuse_own_rejection(app: &App, request: &Request) -> Result<(), Failure> {
    let event = request.headers.get(format!("x-{}-event", app.config.brand.to_lowercase()));
    if event.is_none_or(|event| event.as_bytes() != REJECTED.as_bytes()) {
        return Ok(());
    }
    Err(Failure::field("body", format!("is the event {REJECTED} of this service, which cannot be a record")))
}

pub async fn ingest(app: Arc<App>, request: Request) -> Outcome {
    refuse_own_rejection(&app, &request)?;
    let stream_auth = request.stream_auth.ok_or_else(|| Failure::internal("an ingest without a stream"))?;
    Reply::data(202, &ingest::send(&app, stream_auth, &request.raw).await?)
}

pub async fn list(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &stream::list(&app, caller.tenant()).await?)
}

pub async fn create(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    Reply::data(201, &stream::create(&app, caller.tenant(), request.body()?).await?)
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "data stream")?;
    Reply::data(200, &stream::get(&app, caller.tenant(), id).await?)
}

pub async fn update(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let id = request.id_in_path("id", "data stream")?;
    Reply::data(200, &stream::update(&app, caller.tenant(), id, request.body()?).await?)
}

pub async fn delete(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "data stream")?;
    stream::delete(&app, caller.tenant(), id).await?;
    Reply::data(200, &Deleted { id: id.to_string(), deleted: true })
}

pub async fn rotate_token(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "data stream")?;
    Reply::data(200, &stream::rotate_token(&app, caller.tenant(), id).await?)
}

pub async fn push(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "data stream")?;
    Reply::data(202, &ingest::push(&app, caller.tenant(), id, &request.raw).await?)
}

pub async fn records(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "data stream")?;
    let before = request.point(&app, "before")?;
    let (data, next) =
        stream_records::list(&app, caller.tenant(), id, before, request.query_number("limit")).await?;
    let next_before = next.map(|key| request.make_cursor(&app, &key));
    Reply::json(200, &StreamRecordPage { data, next_before })
}

pub async fn of_campaign(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "campaign")?;
    Reply::data(200, &attachments::of_campaign(&app, caller.tenant(), id).await?)
}

pub async fn attach(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let campaign = request.id_in_path("id", "campaign")?;
    let stream = request.id_in_path("streamId", "data stream")?;
    let body = request.body()?;
    Reply::data(200, &attachments::attach(&app, caller.tenant(), (campaign, stream), body).await?)
}

pub async fn detach(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let campaign = request.id_in_path("id", "campaign")?;
    let stream = request.id_in_path("streamId", "data stream")?;
    attachments::detach(&app, caller.tenant(), campaign, stream).await?;
    Reply::data(200, &Deleted { id: stream.to_string(), deleted: true })
}

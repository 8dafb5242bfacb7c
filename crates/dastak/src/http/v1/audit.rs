//! `/v1/audit`.

use std::sync::Arc;

use domain::decision_log::{Chain, Decision, Strand};

use crate::app::access::Caller;
use crate::app::audit::{self, Export, Format, Range, Wanted};
use crate::app::{App, Failure};
use crate::http::handler::{Outcome, Reply, Request};
use crate::http::stream;

fn range(request: &Request) -> Result<Range, Failure> {
    Range::read(request.query_text("from"), request.query_text("to"))
}

/// The chain that is asked for, in the world of the key.
fn strand(caller: &Caller, request: &Request) -> Strand {
    Strand {
        chain: request.query_text("chain").and_then(Chain::parse).unwrap_or(Chain::Audit),
        mode: caller.mode(),
    }
}

pub async fn verify(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &audit::verify(&app, caller.tenant(), caller.mode()).await?)
}

pub async fn stats(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &audit::stats(&app, caller.tenant(), caller.mode(), range(&request)?).await?)
}

pub async fn head(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &audit::head(&app, caller.tenant(), strand(&caller, &request)).await?)
}

pub async fn export(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let (format, content_type, extension) = match request.query_text("format") {
        Some("pdf") => (Format::Pdf, "application/pdf", "pdf"),
        _ => (Format::Csv, "text/csv; charset=utf-8", "csv"),
    };
    let day = app.clock.now().to_string()[..10].to_owned();
    let strand = strand(&caller, &request);
    let export = audit::export(app, caller.tenant(), strand, format, range(&request)?).await?;
    let disposition = format!("attachment; filename=\"decision-log-{}-{day}.{extension}\"", strand.as_str());
    let headers = vec![("content-disposition", disposition)];
    Ok(Reply::of(200, content_type, headers, stream::pieces(export, Export::next)))
}

/// The number after which the page begins.
fn before(app: &App, request: &Request) -> Result<Option<u64>, Failure> {
    Ok(request.cursor(app)?.and_then(|seq| seq.parse().ok()))
}

pub async fn records(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let text = |name: &str| request.query_text(name).map(str::to_owned);
    let range = match request.query_text("day") {
        None => range(&request)?,
        Some(_) if request.query_text("from").or(request.query_text("to")).is_some() => {
            return Err(Failure::field("day", "cannot be given together with from or to"));
        }
        day => Range::read(day, day)?,
    };
    let wanted = Wanted {
        range,
        number: text("number"),
        about: text("callId"),
        gate: text("gate"),
        verdict: request.query_text("verdict").and_then(Decision::parse),
        ..Wanted::default()
    };
    let (tenant, strand, before) = (caller.tenant(), strand(&caller, &request), before(&app, &request)?);
    let limit = request.query_number("limit");
    let (rows, next) = audit::records(&app, tenant, strand, wanted, before, limit).await?;
    Reply::page(&app, &request, &rows, next.map(|seq| seq.to_string()).as_deref())
}

pub async fn record(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    Reply::data(200, &audit::record(&app, caller.tenant(), caller.mode(), request.parameter("id")).await?)
}

pub async fn actions(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let text = |name: &str| request.query_text(name).map(str::to_owned);
    let wanted = Wanted {
        range: range(&request)?,
        about: text("objectId"),
        actor: text("actor"),
        operation: text("operation"),
        ..Wanted::default()
    };
    let (before, limit) = (before(&app, &request)?, request.query_number("limit"));
    let (rows, next) = audit::actions(&app, caller.tenant(), caller.mode(), wanted, before, limit).await?;
    Reply::page(&app, &request, &rows, next.map(|seq| seq.to_string()).as_deref())
}

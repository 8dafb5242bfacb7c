//! One delivery attempt: sign, send, evaluate the response.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use domain::delivery::{ANSWER_WITHIN, Outcome};
use domain::ids::{Delivery, Id, WebhookEndpoint};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::trace::TraceContext;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use providers::guarded_client::{Limits, Request, Response, SendError};
use ring::hmac;
use runtime::shares::Taken;
use runtime::traces::{Span, SpanKind};
use store::DbError;

use super::endpoints::Endpoint;
use super::engine::Engine;
use super::lanes::Assignment;
use super::outbox::complete;
use super::pending::{DISABLED, Ending, FinishedAttempt, PendingAttempt, locked};

/// Bytes of a response that are read; none are stored.
const ANSWER_BYTES: usize = 64 * 1024;
/// Bodies above this many bytes count against the bounds while they are sent.
const SMALL: usize = 16 * 1024;
/// Bytes of large bodies of one workspace; an attempt beyond it is retried a second later.
const SENDING_OF: usize = 8 * 1024 * 1024;
/// Outcomes that may be queued for the store before workers wait, too.
const UNRECORDED: usize = 8_192;

/// A worker of one lane: makes attempts until there is no work for it.
pub(super) async fn work(engine: Arc<Engine>, endpoint: Id<WebhookEndpoint>) {
    let mut worker = Worker { engine: &engine, endpoint, under_way: None, ended: false };
    let mut made = 0;
    while let Some(item) = worker.next(made) {
        engine.metrics.in_flight.inc();
        let finished = attempt(&engine, &item).await;
        engine.metrics.in_flight.dec();
        worker.finish(&item, finished);
        made += 1;
        engine.wait_for_records().await;
    }
}

/// The body of an attempt, and its share of the bounds while it is sent.
struct Sent {
    body: Bytes,
    _taken: Option<Taken<Tenant>>,
}

/// A running worker. Dropping it leaves the lane consistent, however the task ends.
struct Worker<'a> {
    engine: &'a Engine,
    endpoint: Id<WebhookEndpoint>,
    under_way: Option<(Id<Delivery>, i64)>,
    ended: bool,
}

impl Worker<'_> {
    fn next(&mut self, made: usize) -> Option<Box<PendingAttempt>> {
        let engine = self.engine;
        let turn = {
            let mut lanes = locked(&engine.lanes);
            let turn = lanes.next(self.endpoint, made, engine.clock.now(), engine.clock.stopping());
            engine.metrics.queued.set(lanes.queued() as i64);
            turn
        };
        match turn {
            Assignment::Begin(item) => {
                self.under_way = Some((item.key.id, item.round));
                Some(item)
            }
            Assignment::End { dispatch, feed } => {
                self.ended = true;
                if dispatch {
                    engine.dispatch.raise();
                }
                if feed {
                    engine.scan.raise();
                }
                engine.progress.notify_waiters();
                None
            }
        }
    }

    fn finish(&mut self, item: &PendingAttempt, done: Option<FinishedAttempt>) {
        self.under_way = None;
        let engine = self.engine;
        let well = match done.as_ref().map(|done| &done.what) {
            Some(Ending::Answered(status)) => Some(Outcome::of_status(*status) == Outcome::Accepted),
            Some(Ending::Broken(..)) => Some(false),
            Some(Ending::Put | Ending::Unwanted(_)) | None => None,
        };
        let (dispatch, feed) = {
            let mut lanes = locked(&engine.lanes);
            if done.is_none() {
                lanes.finish(item.key.id, item.round);
            }
            (well.is_some_and(|well| lanes.judge(self.endpoint, well)), lanes.runs_low(self.endpoint))
        };
        if let Some(done) = done {
            engine.count(item, &done, well);
            locked(&engine.done).push(done);
            engine.record.raise();
        }
        if dispatch {
            engine.dispatch.raise();
        }
        if feed {
            engine.scan.raise();
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let mut lanes = locked(&self.engine.lanes);
        if let Some((id, round)) = self.under_way {
            // It was aborted: the scan finds the delivery when its lease expires.
            lanes.finish(id, round);
        }
        if !self.ended {
            let _ = lanes.next(self.endpoint, 0, self.engine.clock.now(), true);
            drop(lanes);
            self.engine.progress.notify_waiters();
        }
    }
}

impl Engine {
    fn count(&self, item: &PendingAttempt, done: &FinishedAttempt, well: Option<bool>) {
        let outcome = match well {
            Some(true) => "accepted",
            Some(false) => "failed",
            None => "not_made",
        };
        self.metrics.attempts.get_or_create(&[("outcome", outcome)]).inc();
        if well == Some(true)
            && item.made == 0
            && item.round == 0
            && let Some(lag) = &self.metrics.lag
        {
            lag.observe((done.ended.0 - item.created_at.0).max(0) as f64 / 1e3);
        }
    }

    /// Waits while the store is far behind with outcomes (backpressure).
    async fn wait_for_records(&self) {
        loop {
            let progress = self.progress.notified();
            if locked(&self.done).len() < UNRECORDED || self.clock.stopping() {
                return;
            }
            progress.await;
        }
    }

    /// The request of an attempt. `None` when too many bytes are being sent already: it is postponed.
    async fn body_of(&self, item: &PendingAttempt) -> Result<Option<Sent>, DbError> {
        let bytes =
            item.body.len() + item.transcript.as_ref().map_or(0, |transcript| transcript.most_bytes());
        let mut taken = None;
        if bytes > SMALL {
            let mut sending = self.sending.nothing(item.key.tenant, SENDING_OF);
            if sending.grow(bytes.min(SENDING_OF)).is_err() {
                return Ok(None);
            }
            taken = Some(sending);
        }
        let body = match item.transcript.clone() {
            None => item.body.clone(),
            Some(transcript) => {
                let (tenant, envelope) = (item.key.tenant, item.body.clone());
                let completed = self.store.of(tenant).read(move |tx| {
                    let envelope = String::from_utf8(envelope.to_vec())
                        .map_err(|why| DbError::Internal(why.to_string()))?;
                    complete(tx, envelope, Some(&transcript))
                });
                completed.await?.into()
            }
        };
        Ok(Some(Sent { body, _taken: taken }))
    }

    /// Headers of an attempt at `now`.
    fn headers(
        &self,
        key: &hmac::Key,
        (item, body): (&PendingAttempt, &Bytes),
        now: Timestamp,
        span: Option<TraceContext>,
    ) -> Option<HeaderMap> {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers
            .insert(&self.names.signature, HeaderValue::try_from(sign(key, now.unix_seconds(), body)).ok()?);
        headers.insert(&self.names.event, HeaderValue::from_str(&item.kind).ok()?);
        headers.insert(&self.names.delivery, item.key.id.with_text(HeaderValue::from_str).ok()?);
        if let Some(span) = span {
            headers.insert("traceparent", HeaderValue::from_str(&span.to_string()).ok()?);
        }
        Some(headers)
    }
}

/// The value of the signature header (docs/contract/webhooks.md#signature):
/// `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`.
pub fn sign(key: &hmac::Key, seconds: i64, body: &[u8]) -> String {
    let mut context = hmac::Context::with_key(key);
    let t = seconds.to_string();
    context.update(t.as_bytes());
    context.update(b".");
    context.update(body);
    format!("t={t},v1={}", HEXLOWER.encode(context.sign().as_ref()))
}

/// Makes one attempt. `None` when the delivery wants none any more and there is nothing to record.
async fn attempt(engine: &Arc<Engine>, item: &PendingAttempt) -> Option<FinishedAttempt> {
    let at = engine.clock.now();
    let done = |what: Ending, took: Duration| {
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        FinishedAttempt {
            key: item.key,
            round: item.round,
            round_at: item.round_at,
            made: item.made,
            at,
            ended: engine.clock.now(),
            duration_ms,
            what,
        }
    };
    let endpoint = match engine.endpoint_of(item.key, item.round).await {
        Ok(Some(endpoint)) => endpoint,
        // Deleted, stopped, emptied or replayed meanwhile: that request has handled it, or the scan will.
        Ok(None) => return None,
        Err(_) => return Some(done(Ending::Put, Duration::ZERO)),
    };
    if !endpoint.active {
        return Some(done(Ending::Unwanted(DISABLED), Duration::ZERO));
    }
    let Ok(Some(sent)) = engine.body_of(item).await else { return Some(done(Ending::Put, Duration::ZERO)) };
    let mut span = engine.traces.begin(SpanKind::Client, "POST webhook", item.trace);
    span.set("http.request.method", "POST");
    span.set("dastak.event.type", item.kind.clone());
    span.set("http.request.resend_count", i64::from(item.made));
    if let Ok(target) = &endpoint.target {
        span.set("server.address", target.host());
        span.set("server.port", i64::from(target.port()));
    }
    let request = match request(engine, &endpoint, (item, &sent.body), engine.clock.now(), span.context()) {
        Ok(request) => request,
        Err(why) => {
            span.failed("not_sent");
            return Some(done(Ending::Broken(None, why), Duration::ZERO));
        }
    };
    let started = Instant::now();
    let limits =
        Limits { deadline: Duration::from_millis(ANSWER_WITHIN as u64), max_response_bytes: ANSWER_BYTES };
    let answer = engine.clock.outside(engine.transport.send(request, limits)).await;
    let took = started.elapsed();
    observe(&mut span, &answer);
    drop(span);
    Some(match answer {
        Ok(answer) => done(Ending::Answered(answer.status.as_u16()), took),
        Err(SendError::Overloaded) => done(Ending::Put, took),
        Err(why) => {
            if let SendError::AddressRefused(address) = &why {
                tracing::warn!(%address, endpoint = %item.key.endpoint, "a webhook host leads to an address that is not public");
            }
            done(Ending::Broken(why.status().map(|status| status.as_u16()), why.to_string()), took)
        }
    })
}

/// What the span records of a response: its status, else the kind of failure; never the receiver's text.
fn observe(span: &mut Span, answer: &Result<Response, SendError>) {
    let status = match answer {
        Ok(answer) => Some(answer.status),
        Err(why) => why.status(),
    };
    if let Some(status) = status {
        span.set("http.response.status_code", i64::from(status.as_u16()));
    }
    match answer {
        Ok(answer) if Outcome::of_status(answer.status.as_u16()) == Outcome::Accepted => {}
        Ok(answer) => span.failed(answer.status.as_u16().to_string()),
        Err(why) => span.failed(why.code()),
    }
}

fn request(
    engine: &Engine,
    endpoint: &Endpoint,
    (item, body): (&PendingAttempt, &Bytes),
    at: Timestamp,
    span: Option<TraceContext>,
) -> Result<Request, String> {
    let target = endpoint.target.clone()?;
    let key = endpoint.key.as_ref().ok_or("the signing secret cannot be decrypted; rotate it")?;
    let headers = engine.headers(key, (item, body), at, span).ok_or("the headers cannot be written")?;
    Ok(Request::post(target, headers, body.clone()))
}

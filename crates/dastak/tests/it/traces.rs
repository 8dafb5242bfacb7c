//! Traces as a collector gets them (docs/operating/traces.md).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dastak::config::{Config, Traces};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::app::TestApp;
use crate::cloud;
use crate::head::read_head;
use crate::receiver::{Behaviour, Receiver, header, listener};
use crate::world::World;

const PATIENCE: Duration = Duration::from_secs(30);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

/// A collector on a local port.
struct Collector {
    url: String,
    spans: watch::Sender<Vec<Span>>,
    bytes: Arc<Mutex<Vec<u8>>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Collector {
    /// One that takes spans, or one that accepts connections and never answers.
    async fn start(answers: bool) -> Self {
        let listener = listener().await;
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let spans = watch::Sender::new(Vec::new());
        let (bytes, heads) = (Arc::<Mutex<Vec<u8>>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (kept, all, asked) = (spans.clone(), bytes.clone(), heads.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (kept, all, asked) = (kept.clone(), all.clone(), asked.clone());
                tokio::spawn(async move {
                    while let Some((head, body)) = read(&mut stream).await {
                        asked.lock().unwrap().push(head);
                        if !answers {
                            std::future::pending::<()>().await;
                        }
                        all.lock().unwrap().extend_from_slice(&body);
                        let request = ExportTraceServiceRequest::decode(&body[..]).expect("OTLP");
                        let scopes = request.resource_spans.into_iter().flat_map(|all| all.scope_spans);
                        let new: Vec<Span> = scopes.flat_map(|scope| scope.spans).collect();
                        kept.send_modify(|kept| kept.extend(new));
                        let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
                        if stream.write_all(answer).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { url, spans, bytes, heads }
    }

    fn settings(&self, sample_ratio: f64) -> impl FnOnce(&mut Config) + use<> {
        let endpoint = self.url.clone();
        move |config| {
            config.traces = Some(Traces {
                endpoint,
                authorization: Some("Bearer of-the-collector".to_owned().into()),
                service_name: "dastak-test".into(),
                sample_ratio,
            });
        }
    }

    /// Waits until there are such spans.
    async fn until(&self, what: &str, condition: impl Fn(&[Span]) -> bool) -> Vec<Span> {
        let mut seen = self.spans.subscribe();
        match tokio::time::timeout(PATIENCE, seen.wait_for(|spans| condition(spans))).await {
            Ok(Ok(spans)) => spans.clone(),
            _ => panic!("{what} never came: {:?}", names(&self.spans.borrow())),
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let (head, mut body) = read_head(stream).await?;
    let length: usize = header(&head, "content-length").parse().ok()?;
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some((head, body))
}

fn names(spans: &[Span]) -> Vec<&str> {
    spans.iter().map(|span| span.name.as_str()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of<'s>(spans: &'s [Span], trace: &str) -> Vec<&'s Span> {
    spans.iter().filter(|span| hex(&span.trace_id) == trace).collect()
}

/// An attribute as text.
fn attribute(span: &Span, name: &str) -> Option<String> {
    let value = span.attributes.iter().find(|found| found.key == name)?.value.as_ref()?.value.as_ref()?;
    Some(match value {
        any_value::Value::StringValue(text) => text.clone(),
        any_value::Value::IntValue(number) => number.to_string(),
        any_value::Value::BoolValue(flag) => flag.to_string(),
        other => format!("{other:?}"),
    })
}

/// The names of the spans above one, nearest first, up to the one that the client has.
fn above(spans: &[&Span], span: &Span) -> Vec<String> {
    let (mut names, mut next) = (Vec::new(), span.parent_span_id.clone());
    while let Some(parent) = spans.iter().find(|span| span.span_id == next) {
        names.push(parent.name.clone());
        next = parent.parent_span_id.clone();
    }
    names.push(hex(&next));
    names
}

#[tokio::test]
async fn one_trace_leads_from_a_request_over_its_dial_to_an_attempt_minutes_later() {
    let collector = Collector::start(true).await;
    let world = World::monday_in(TestApp::start_with(collector.settings(0.0)).await).await;
    let receiver = Receiver::start(Behaviour::status(500)).await;
    let url = format!("{}/path-of-the-client?token=query-of-the-client", receiver.url);
    world.endpoint(json!({"url": url, "events": ["nudge.finished"]})).await;
    let body = world.order(
        "+919812340001",
        &json!({"externalRef": "reference-of-the-client", "variables": {"name": "Lakshmi"}}),
    );
    let sent = format!("00-{TRACE}-{SPAN}-01");
    let headers = [("idempotency-key", "key-of-the-client"), ("traceparent", sent.as_str())];
    let made = world.post_with(world.live(), "/v1/nudges", &headers, &body).await.expect(201);
    world.advance(60).await;
    let got = receiver.wait_for(1).await;
    let first = got[0].header("traceparent").to_owned();
    assert!(first.starts_with(&format!("00-{TRACE}-")) && first.ends_with("-01"), "{first}");

    // Another process goes on: all that it knows of the trace is in the store.
    let world = world.restart_with(|_| ()).await;
    let before = receiver.got().len();
    receiver.behave(Behaviour::status(200));
    world.set_clock("2027-03-01T12:30:00Z").await;
    let got = receiver.wait_for(before + 1).await;
    let last = got.last().map(|got| got.header("traceparent").to_owned()).unwrap_or_default();
    assert!(last.starts_with(&format!("00-{TRACE}-")) && last != first, "{last} after {first}");

    let attempts =
        |spans: &[Span]| of(spans, TRACE).iter().filter(|span| span.name == "POST webhook").count();
    let spans = collector.until("each attempt", |spans| attempts(spans) > before).await;
    let spans = of(&spans, TRACE);
    let find = |name: &str| spans.iter().find(|span| span.name == name).copied();
    let request = find("POST /v1/nudges").expect("the span of the request");
    assert_eq!(
        (hex(&request.parent_span_id).as_str(), request.kind),
        (SPAN, 2),
        "a server's, below the client's"
    );
    for (name, value) in
        [("http.request.method", "POST"), ("http.route", "/v1/nudges"), ("http.response.status_code", "201")]
    {
        assert_eq!(attribute(request, name).as_deref(), Some(value), "{name}");
    }
    let dial = find("dial").expect("the span of the dial");
    assert_eq!(above(&spans, dial), ["transaction", "POST /v1/nudges", SPAN]);
    assert_eq!(attribute(dial, "dastak.dial.result").as_deref(), Some("taken"));
    let made_by = spans.iter().find(|span| span.span_id == dial.parent_span_id).expect("a transaction");
    let engine = if world.app().store.shared() { "postgresql" } else { "sqlite" };
    assert_eq!(attribute(made_by, "db.system.name").as_deref(), Some(engine));
    assert_eq!(attribute(made_by, "dastak.transaction.runs").as_deref(), Some("1"));
    let mut tries: Vec<_> = spans.iter().filter(|span| span.name == "POST webhook").collect();
    tries.sort_by_key(|span| span.start_time_unix_nano);
    let made_before = before.to_string();
    for (span, count, status, told) in
        [(tries[0], "0", "500", &first), (tries[tries.len() - 1], made_before.as_str(), "200", &last)]
    {
        assert_eq!(attribute(span, "http.request.resend_count").as_deref(), Some(count));
        assert_eq!(attribute(span, "http.response.status_code").as_deref(), Some(status));
        assert_eq!(attribute(span, "server.address").as_deref(), Some("127.0.0.1"));
        assert!(told.contains(&hex(&span.span_id)), "the receiver was told {told}");
        assert_eq!(above(&spans, span).last().map(String::as_str), Some(SPAN));
    }
    // The clock of the service is in the year 2027.
    assert!(spans.iter().all(|span| span.end_time_unix_nano >= span.start_time_unix_nano));
    assert!(request.start_time_unix_nano > 1_700_000_000 * 1_000_000_000);

    let bytes = String::from_utf8_lossy(&collector.bytes.lock().unwrap()).into_owned();
    let id = made["data"]["id"].as_str().expect("an id");
    for secret in [
        "98123",
        "Lakshmi",
        "of-the-client",
        "/hook",
        id,
        world.workspace.id.as_str(),
        world.live(),
        "req_",
        "ctc_",
        "call_",
    ] {
        assert!(!bytes.contains(secret), "{secret} was exported");
    }
    let head = collector.heads.lock().unwrap()[0].clone();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
    assert_eq!(header(&head, "authorization"), "Bearer of-the-collector");
    assert_eq!(header(&head, "content-type"), "application/x-protobuf");
}

#[tokio::test]
async fn a_call_and_a_scheduled_call_take_their_trace_along() {
    let collector = Collector::start(true).await;
    let world = World::monday_in(TestApp::start_with(collector.settings(0.0)).await).await;
    let receiver = Receiver::ok().await;
    world.endpoint(json!({"url": receiver.url, "events": ["call.completed"]})).await;
    let mut expected = Vec::new();
    for (count, path) in ["/v1/calls", "/v1/scheduled-calls"].into_iter().enumerate() {
        let trace = format!("{:032x}", count + 1);
        let mut body = world.order(&format!("+91981234010{count}"), &json!({}));
        if path == "/v1/scheduled-calls" {
            body["scheduledAt"] = json!("2027-03-01T07:00:00Z");
        }
        let sent = format!("00-{trace}-{SPAN}-01");
        let headers = [("idempotency-key", path), ("traceparent", sent.as_str())];
        let answer = world.post_with(world.live(), path, &headers, &body).await;
        assert!(answer.status < 300, "{}", answer.text);
        world.advance(1_200).await;
        expected.push(trace);
        let got = receiver.wait_for(expected.len()).await;
        let told: Vec<&str> =
            got.iter().map(|got| got.header("traceparent").split('-').nth(1).unwrap_or_default()).collect();
        assert_eq!(told, expected, "{path}");
    }
    for trace in expected {
        collector.until("a dial", |spans| of(spans, &trace).iter().any(|span| span.name == "dial")).await;
    }
}

/// Dials of a campaign belong to the request that published it, also those of another process.
#[tokio::test]
async fn dials_of_a_campaign_belong_to_the_request_that_published_it() {
    let collector = Collector::start(true).await;
    let world = World::monday_in(TestApp::start_with(collector.settings(0.0)).await).await;
    let receiver = Receiver::ok().await;
    world.endpoint(json!({"url": receiver.url, "events": ["call.completed"]})).await;
    let id = world.draft(&json!({}), &["+919812340201", "+919812340202"]).await;
    let sent = format!("00-{TRACE}-{SPAN}-01");
    let (path, body) = (format!("/v1/campaigns/{id}/status"), json!({"status": "active"}));
    let headers = [("traceparent", sent.as_str())];
    world.post_with(world.live(), &path, &headers, &body).await.expect(200);
    world.advance(60).await;
    for got in receiver.wait_for(2).await {
        assert!(got.header("traceparent").starts_with(&format!("00-{TRACE}-")), "{got:?}");
    }
    let dials = |spans: &[Span]| of(spans, TRACE).iter().filter(|span| span.name == "dial").count();
    let spans = collector.until("both dials", |spans| dials(spans) == 2).await;
    let spans = of(&spans, TRACE);
    for dial in spans.iter().filter(|span| span.name == "dial") {
        assert_eq!(above(&spans, dial), ["transaction", "POST /v1/campaigns/{id}/status", SPAN]);
    }
}

/// A message that is sent has a span in the trace of the request, and so has what becomes of it.
#[tokio::test]
async fn a_message_takes_its_trace_to_the_provider() {
    let collector = Collector::start(true).await;
    let (world, _fake) = cloud::start_with(collector.settings(0.0)).await;
    let hook = world.connect_cloud().await;
    // The customer has written, so words may be sent.
    let now = world.app().clock.now().0 / 1_000;
    let contact = json!({"wa_id": "919812345678", "profile": {"name": "Asha"}});
    let hears =
        json!({"contacts": [contact], "messages": [cloud::text("wamid.in", "+919812345678", now, "Hi")]});
    cloud::notify(&world, &hook, &cloud::about_messages(hears)).await.expect(200);
    world.advance(0).await;
    let sent = format!("00-{TRACE}-{SPAN}-01");
    let headers = [("idempotency-key", "one"), ("traceparent", sent.as_str())];
    let body = json!({"to": "+919812345678", "text": "Hello"});
    let answer = world.post_with(world.live(), "/v1/chatapp/messages", &headers, &body).await;
    assert!(answer.status < 300, "{}", answer.text);
    world.advance(5).await;
    let sends = |spans: &[Span]| of(spans, TRACE).iter().any(|span| span.name == "send message");
    let spans = collector.until("the sending", sends).await;
    let spans = of(&spans, TRACE);
    let send = spans.iter().find(|span| span.name == "send message").expect("a span");
    assert_eq!(attribute(send, "dastak.send.result").as_deref(), Some("accepted"));
    assert_eq!(above(&spans, send), ["transaction", "POST /v1/chatapp/messages", SPAN]);
    let bytes = String::from_utf8_lossy(&collector.bytes.lock().unwrap()).into_owned();
    for secret in ["98123", "Hello", "camsg_", "Asha"] {
        assert!(!bytes.contains(secret), "{secret} was exported");
    }
}

#[tokio::test]
async fn what_is_no_traceparent_begins_a_trace_and_what_is_not_recorded_is_passed_on() {
    let collector = Collector::start(true).await;
    let world = World::monday_in(TestApp::start_with(collector.settings(1.0)).await).await;
    let receiver = Receiver::ok().await;
    world.endpoint(json!({"url": receiver.url, "events": ["nudge.finished"]})).await;
    let zero = "0".repeat(32);
    let mut sent = 0;
    for (number, wrong) in [
        ("+919812340011", format!("00-{zero}-{SPAN}-01")),
        ("+919812340012", format!("00-{}-{SPAN}-01", TRACE.to_uppercase())),
        ("+919812340013", format!("00-{TRACE}-{SPAN}")),
        // Valid, and the client records nothing: neither does the service.
        ("+919812340014", format!("00-{TRACE}-{SPAN}-00")),
    ] {
        let headers = [("idempotency-key", number), ("traceparent", wrong.as_str())];
        let body = world.order(number, &json!({}));
        world.post_with(world.live(), "/v1/nudges", &headers, &body).await.expect(201);
        world.advance(60).await;
        sent += 1;
        let told = receiver.wait_for(sent).await[sent - 1].header("traceparent").to_owned();
        if wrong.ends_with("-00") {
            assert!(told.starts_with(&format!("00-{TRACE}-")) && told.ends_with("-00"), "{told}");
        } else {
            assert!(!told.contains(TRACE) && !told.contains(&zero) && told.ends_with("-01"), "{told}");
        }
    }
    // Spans leave in order: once that of a later request is there, those of an earlier one would be.
    world.get("/v1/numbers").await;
    let spans = collector.until("a later request", |spans| names(spans).contains(&"GET /v1/numbers")).await;
    assert_eq!(of(&spans, TRACE).len(), 0);
    for untraced in ["/healthz", "/readyz", "/metrics"] {
        assert!(!names(&spans).iter().any(|name| name.ends_with(untraced)), "{untraced}");
    }
}

#[tokio::test]
async fn a_collector_that_never_answers_changes_nothing_and_one_that_is_not_set_sees_nothing() {
    let collector = Collector::start(false).await;
    let world = World::monday_in(TestApp::start_with(collector.settings(1.0)).await).await;
    let receiver = Receiver::ok().await;
    world.endpoint(json!({"url": receiver.url, "events": ["nudge.finished"]})).await;
    world.nudge("+919812340021", &json!({})).await;
    world.advance(60).await;
    let traced = receiver.wait_for(1).await[0].clone();
    assert!(traced.header("traceparent").ends_with("-01"));
    // It stops in time, too, and says what it dropped.
    let (metrics, traces) = (world.app().metrics.clone(), world.app().traces.clone());
    assert!(traces.on());
    let world = world.restart_with(|config| config.traces = None).await;
    let figures = metrics.render();
    let dropped = figures.lines().find_map(|line| line.strip_prefix("dastak_trace_spans_dropped_total "));
    assert!(dropped.is_some_and(|count| count != "0"), "{figures}");
    world.set_clock("2027-03-01T07:00:00Z").await;
    world.nudge("+919812340022", &json!({})).await;
    world.advance(60).await;
    assert_eq!(receiver.wait_for(2).await[1].header("traceparent"), "");
    assert!(!world.app().traces.on());
}

/// Nudges that are accepted in one transaction stay in the traces of their requests.
#[tokio::test]
async fn what_is_accepted_together_stays_in_traces_of_its_own() {
    let collector = Collector::start(true).await;
    let world = World::monday_in(TestApp::start_with(collector.settings(1.0)).await).await;
    let receiver = Receiver::ok().await;
    world.endpoint(json!({"url": receiver.url, "events": ["nudge.finished"]})).await;
    const COUNT: usize = 24;
    let asked = (0..COUNT).map(|number| {
        let world = &world;
        async move {
            let (trace, key) = (format!("{TRACE:.30}{number:02}"), format!("{number}"));
            let parent = format!("00-{trace}-{SPAN}-01");
            let headers = [("idempotency-key", key.as_str()), ("traceparent", parent.as_str())];
            let body = world.order(&format!("+9198123401{number:02}"), &json!({}));
            let made = world.post_with(world.live(), "/v1/nudges", &headers, &body).await.expect(201);
            (made["data"]["id"].clone(), trace)
        }
    });
    let made = futures_util::future::join_all(asked).await;
    world.advance(3_600).await;
    let told = receiver.wait_for(COUNT).await;
    for (id, trace) in made {
        let got = told.iter().find(|got| got.json()["data"]["id"] == id).expect("each is told of");
        let parent = got.header("traceparent");
        assert!(parent.starts_with(&format!("00-{trace}-")), "{parent} instead of {trace}");
    }
}

//! Vectors of texts from a service in the OpenAI format.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::ports::ProviderFault;
use providers::chain::{BreakerLimits, Role};
use providers::embeddings::Embeddings;
use providers::http::{Monotonic, Net};
use providers::settings::Embeddings as Section;
use serde_json::{Value, json};

use crate::server::{Log, Server, answer};

const LONG: Duration = Duration::from_secs(20);

fn section(url: &str) -> Section {
    Section {
        url: format!("{url}/v1"),
        model: "tiny".into(),
        api_key: "k3y".into(),
        batch: 8,
        timeout: Duration::from_secs(5),
        ..Section::default()
    }
}

fn client(section: &Section) -> Embeddings {
    let net = Net::new(Vec::new()).unwrap();
    Embeddings::new(section, &net, BreakerLimits::default(), &providers::http::monotonic()).unwrap()
}

fn faults(of: &Embeddings, role: Role) -> Vec<(ProviderFault, u64)> {
    of.figures().find(|figure| figure.role == role).unwrap().faults
}

fn vectors(entries: Value) -> String {
    answer(200, &json!({"object": "list", "data": entries, "model": "tiny"}).to_string())
}

#[tokio::test]
async fn vectors_come_in_the_order_of_the_texts() {
    let log = Log::new();
    let told = log.clone();
    let server = Server::http(move |request, mut to| {
        told.add(format!(
            "{} {} {} {}",
            request.method,
            request.path,
            request.header("authorization"),
            request.json()
        ));
        async move {
            let entries = json!([{"index": 1, "embedding": [0.0, 2.0]}, {"index": 0, "embedding": [1, 0.5]}]);
            to.raw(vectors(entries).as_bytes()).await;
        }
    })
    .await;
    let plain = client(&section(&server.url));
    assert_eq!(plain.passages(&["a", "b"]).await, Ok(Some(vec![vec![1.0, 0.5], vec![0.0, 2.0]])));
    let short = client(&Section { dimensions: Some(2), api_key: String::new(), ..section(&server.url) });
    assert!(short.passages(&["a", "b"]).await.is_ok());
    assert_eq!(
        log.lines(),
        [
            r#"POST /v1/embeddings Bearer k3y {"model":"tiny","input":["a","b"]}"#,
            r#"POST /v1/embeddings  {"model":"tiny","input":["a","b"],"dimensions":2}"#,
        ]
    );
    assert_eq!((plain.model(), short.model()), ("tiny".to_owned(), "tiny#2".to_owned()));
}

#[tokio::test]
async fn answers_that_are_no_vectors_of_the_texts_are_failures() {
    let one = json!([{"index": 0, "embedding": [1.0]}]);
    for (body, dimensions) in [
        (answer(200, "not JSON"), None),
        (answer(200, "{}"), None),
        (vectors(one.clone()), None),
        (vectors(json!([one[0], one[0]])), None),
        (vectors(json!([one[0], {"index": 7, "embedding": [1.0]}])), None),
        (vectors(json!([one[0], {"index": 1, "embedding": [1.0, 2.0]}])), None),
        (vectors(json!([one[0], {"index": 1, "embedding": []}])), None),
        (vectors(json!([one[0], {"index": 1, "embedding": [0.0]}])), None),
        (vectors(json!([one[0], {"index": 1, "embedding": [1e300]}])), None),
        (vectors(json!([one[0], {"index": 1, "embedding": [1.0]}])), Some(3)),
        (vectors(json!([{"embedding": vec![1.0; 5000]}, {"embedding": vec![1.0; 5000]}])), None),
        (vectors(json!([{"embedding": vec![1.0; 200_000]}, {"embedding": [1.0]}])), None),
        (answer(500, "{}"), None),
    ] {
        let server = Server::answering(body.clone()).await;
        let service = client(&Section { dimensions, ..section(&server.url) });
        let error = service.passages(&["a", "b"]).await.unwrap_err();
        assert_eq!(error.fault, ProviderFault::Broken, "{}", &body[..body.len().min(300)]);
    }
}

#[tokio::test]
async fn refusals_and_limits_are_told_apart() {
    for (status, fault) in [
        (400, ProviderFault::Refused),
        (401, ProviderFault::Forbidden),
        (429, ProviderFault::Limited),
        (503, ProviderFault::Unreachable),
    ] {
        let server =
            Server::answering(answer(status, r#"{"error": {"message": "said: a secret", "code": "x1"}}"#))
                .await;
        let service = client(&section(&server.url));
        let error = service.question("a", LONG).await.unwrap_err();
        assert_eq!(error.fault, fault);
        assert!(error.detail.contains("x1") && !error.detail.contains("secret"), "{}", error.detail);
        assert_eq!(faults(&service, Role::Questions), [(fault, 1)]);
    }
}

#[tokio::test]
async fn a_question_that_is_late_has_no_vector_and_counts_against_questions_only() {
    let server = Server::http(|_, mut to| async move { to.hung_up().await }).await;
    let service = client(&section(&server.url));
    let error = service.question("a", Duration::from_millis(30)).await.unwrap_err();
    assert_eq!(error.fault, ProviderFault::TimedOut);
    assert_eq!(faults(&service, Role::Questions), [(ProviderFault::TimedOut, 1)]);
    assert!(faults(&service, Role::Passages).is_empty());
}

#[tokio::test]
async fn a_service_that_keeps_failing_is_not_asked_for_a_while() {
    let server = Server::answering(answer(500, "{}")).await;
    let seconds = Arc::new(AtomicU64::new(0));
    let read = seconds.clone();
    let clock: Monotonic = Arc::new(move || Duration::from_secs(read.load(Ordering::SeqCst)));
    let limits =
        BreakerLimits { failures: 2, window: Duration::from_secs(60), pause: Duration::from_secs(30) };
    let net = Net::new(Vec::new()).unwrap();
    let service = Embeddings::new(&section(&server.url), &net, limits, &clock).unwrap();
    assert!(service.question("a", LONG).await.is_err());
    assert!(service.question("a", LONG).await.is_err());
    assert_eq!(service.question("a", LONG).await, Ok(None));
    assert_eq!(server.accepted(), 2);
    assert!(service.passages(&["a"]).await.is_err(), "passages have a breaker of their own");
    seconds.store(30, Ordering::SeqCst);
    assert!(service.question("a", LONG).await.is_err(), "the probe");
    assert_eq!(service.question("a", LONG).await, Ok(None));
    assert_eq!(server.accepted(), 4);
}

//! Erasing a person in every state of the work after a call: nothing is left of it.

use std::path::Path;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use domain::call::{EndCause, Fact, Report};
use domain::ports::ProviderFault;
use serde_json::{Value, json};

use crate::after_call::{Held, Reader, interested, talk};
use crate::erasure::traces;
use crate::shows::Shows;

/// Words that occur only in what was said.
const SAID: &[&str] = &["Call me tomorrow", "Wants a call", "Hello from Acme"];

async fn erase(held: &Held, call: &str) -> Value {
    let contact = held.detail(call).await["contactId"].as_str().unwrap().to_owned();
    let answer = held.erase(&contact).await;
    let erased = answer.expect(200)["data"]["erased"].clone();
    held.advance(0).await;
    erased
}

async fn nothing_is_left(held: &Held, call: &str) {
    assert_eq!(traces(&held.app, SAID).await, Vec::<String>::new());
    assert_eq!((held.shelf.keys(), held.file(call).exists()), (vec![], false), "no object and no file");
    let detail = held.detail(call).await;
    detail.shows(json!({"summary": null, "recordingUrl": null, "latency": []}));
    assert_eq!((&detail["transcript"], &detail["extracted"]), (&json!([]), &json!({})));
    assert_eq!(detail["fullTranscript"], json!({"status": null, "turns": null}));
    let owed = held.stored(|tx| tx.one::<i64>("select count(*) from after_calls", &[])).await;
    assert_eq!(owed, Some(0));
    assert!(Path::new(&held.app().config.data).exists());
}

#[tokio::test]
async fn everything_is_there_and_goes() {
    let held = Held::open(Some(Reader::of([Ok(interested())]))).await;
    let call = held.held(Held::report).await;
    let link = held.detail(&call).await["recordingUrl"]
        .as_str()
        .unwrap()
        .strip_prefix(&held.url)
        .unwrap()
        .to_owned();
    let before = traces(&held.app, SAID).await;
    for place in ["calls.transcript", "calls.turns", "calls.full_turns", "calls.summary"] {
        assert!(before.iter().any(|found| found.starts_with(place)), "{place} is searched: {before:?}");
    }
    let erased = erase(&held, &call).await;
    erased.shows(json!({"calls": 1, "transcripts": 1, "recordings": 1}));
    nothing_is_left(&held, &call).await;
    held.send("GET", &link, None, &[], Bytes::new()).await.not_found();
}

#[tokio::test]
async fn the_object_store_is_away_meanwhile() {
    let held = Held::open(None).await;
    let call = held.held(Held::report).await;
    *held.shelf.away.lock().unwrap() = true;
    assert_eq!(erase(&held, &call).await["recordings"], 1);
    held.advance(7 * 24 * 3_600).await;
    assert_eq!(held.shelf.keys().len(), 1, "it cannot go yet");
    *held.shelf.away.lock().unwrap() = false;
    held.advance(3_600).await;
    nothing_is_left(&held, &call).await;
}

#[tokio::test]
async fn the_recording_is_still_a_file() {
    let held = Held::open(None).await;
    held.shelf.faults.lock().unwrap().push_back(ProviderFault::Unreachable);
    let call = held.held(Held::report).await;
    assert!(held.file(&call).exists());
    assert_eq!(erase(&held, &call).await["recordings"], 1);
    held.advance(30).await;
    nothing_is_left(&held, &call).await;
    assert_eq!(held.count("recording.ready").await, 0);
}

#[tokio::test]
async fn the_recording_is_on_its_way() {
    let held = Held::open(None).await;
    *held.shelf.held.lock().unwrap() = true;
    let call = held.held(Held::report).await;
    assert_eq!(held.shelf.puts.load(Ordering::SeqCst), 1);
    assert_eq!(erase(&held, &call).await["recordings"], 1);
    held.shelf.bell.notify_one();
    held.advance(0).await;
    nothing_is_left(&held, &call).await;
    assert_eq!(held.count("recording.ready").await, 0);
}

#[tokio::test]
async fn the_model_is_reading() {
    let model = Reader::of([Ok(interested())]);
    let held = Held::open(Some(model.clone())).await;
    *model.held.lock().unwrap() = true;
    let call = held.held(|_, _| talk()).await;
    assert_eq!((model.asked(), erase(&held, &call).await["transcripts"].as_i64()), (1, Some(1)));
    model.bell.notify_one();
    held.advance(0).await;
    nothing_is_left(&held, &call).await;
    assert_eq!(held.count("outcome.captured").await, 0);
}

#[tokio::test]
async fn the_conversation_ends_after_the_erasure() {
    let model = Reader::of([Ok(interested())]);
    let held = Held::open(Some(model.clone())).await;
    let call = held.placed().await;
    held.answer(&call).await;
    assert_eq!(erase(&held, &call).await["calls"], 1);
    let report = Report { outcome: Some("paid".into()), ..held.report(&call) };
    held.end(&call, Fact::Ended(EndCause::CallerHangup), report).await;
    assert_eq!(held.detail(&call).await["state"], "ended");
    nothing_is_left(&held, &call).await;
    assert_eq!(
        (model.asked(), held.count("transcript.ready").await, held.count("recording.ready").await),
        (0, 0, 0)
    );
}

/// The erased person talks under the reference of somebody else, whose contact stays.
#[tokio::test]
async fn a_conversation_under_another_reference_leaves_nothing_when_it_ends_later() {
    let model = Reader::of([Ok(interested())]);
    let held = Held::open(Some(model.clone())).await;
    let (app, live) = (&held.app, held.live());
    let contact = async |reference: &str, phone: &str| {
        app.post(live, "/v1/contacts", &json!({"externalRef": reference, "phone": phone})).await.id(201)
    };
    let (person, other) = (contact("person", "+919812301234").await, contact("other", "+919812305555").await);
    let placed = held.place_with(live, "1234", json!({"externalRef": "other"})).await.expect(200);
    let call = placed["interactionId"].as_str().unwrap().to_owned();
    assert_eq!(held.detail(&call).await["contactId"], *other);
    held.answer(&call).await;
    app.send("POST", &format!("/v1/contacts/{person}/erase"), Some(live), &[], Bytes::new())
        .await
        .expect(200);
    let report = held.report(&call);
    held.end(&call, Fact::Ended(EndCause::ApiHangup), report).await;
    held.detail(&call).await.shows(json!({"state": "ended"}));
    held.detail(&call).await.shows(json!({"toNumber": "[erased]"}));
    nothing_is_left(&held, &call).await;
    assert_eq!(
        (model.asked(), held.count("transcript.ready").await, held.count("recording.ready").await),
        (0, 0, 0)
    );
    assert_eq!(
        app.get(live, &format!("/v1/contacts/{other}")).await.expect(200)["data"]["phone"],
        "+919812305555"
    );
}

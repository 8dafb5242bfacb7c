//! Erasing a person with a number of another country, who is also in records and rows that could not be called: what
//! is left in tables and files, at once and after the provider has told more (docs/operating/erasure.md).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use domain::ports::{Answer, ObjectStore, Pieces, ProviderError};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::app::TestApp;
use crate::erasure::{files_with, traces};
use crate::world::{Channel, World};
use crate::{cloud, knowledge_files, streams};

/// Strings that occur only in the person's data: a name, and the number in the ways in which it was written.
const SECRETS: &[&str] = &["Vwxqz", "501234987", "50 123 4987", "50-1234987"];
const MARK: &str = SECRETS[0];
const NUMBER: &str = "+971501234987";

async fn erase(app: &TestApp, key: &str, contact: &str) -> Value {
    let path = format!("/v1/contacts/{contact}/erase");
    app.send("POST", &path, Some(key), &[], Bytes::new()).await.data(200)
}

/// The person's contact, which the channel made.
async fn contact_of(desk: &Channel) -> String {
    let listed = desk.get("/v1/contacts").await;
    listed["data"][0]["id"].as_str().expect("a contact").to_owned()
}

#[tokio::test]
async fn nothing_of_a_person_from_abroad_is_left() {
    let desk = Channel::open().await;
    let (app, live) = (&desk.app, desk.live());
    // Nobody listens there: deliveries wait.
    let endpoint = json!({"url": "http://127.0.0.1:29099/hook", "events": ["stream.record_rejected", "message.received"]});
    app.post(live, "/v1/webhooks", &endpoint).await.expect(201);
    desk.hears(NUMBER, &format!("I am {MARK}")).await;
    let answer = json!({"to": NUMBER, "text": format!("Hello {MARK}")});
    let sent = desk.send(&answer).await.data(201);
    app.advance(2).await;
    let sent = desk.message(&sent["messageId"]).await;
    let provider_id = sent["providerMessageId"].as_str().expect("it was sent").to_owned();
    // The same person in records and rows that cannot be called, as the number came in.
    let stream = desk.webhook_stream().await;
    let records = json!([
        {"phone": "00971 50 123 4987", "name": MARK},
        {"phone": "050-1234987", "full_name": format!("{MARK} again")},
        {"phone": NUMBER, "note": MARK},
    ]);
    let taken = streams::send(app, &stream, &records).await.expect(202);
    assert_eq!(taken["data"]["invalid"], 3, "{taken}");
    let agent = desk.agent(&json!({"systemPrompt": "Say hello."})).await;
    let campaign =
        app.post(live, "/v1/campaigns", &json!({"name": "January", "agentId": agent})).await.expect(201);
    let list = format!("/v1/campaigns/{}/contacts", campaign["data"]["id"].as_str().unwrap());
    let rows = json!({"contacts": [
        {"phone": "+971 50-1234987", "name": MARK, "variables": {"who": MARK}},
        {"phone": "0971501234987.0", "name": MARK},
        {"phone": "+971 50 765 4321", "name": "Somebody else"},
    ]});
    app.post(live, &list, &rows).await.expect(200);
    let before = traces(app, SECRETS).await;
    for place in [
        "contacts.phone",
        "channel_messages.customer",
        "stream_records.phone",
        "stream_records.payload",
        "campaign_rows.phone",
        "campaign_rows.variables",
        "events.envelope",
    ] {
        assert!(before.iter().any(|found| found.starts_with(place)), "{place} is searched: {before:?}");
    }
    erase(app, live, &contact_of(&desk).await).await;
    let data = &app.app().config.data;
    for told in 0..2 {
        assert_eq!(traces(app, SECRETS).await, Vec::<String>::new());
        assert_eq!(files_with(data, SECRETS), Vec::<String>::new(), "told {told} times");
        if told == 0 {
            // The provider tells of the message only now, and names whom it was for.
            let mut status = cloud::status(&provider_id, "failed", desk.seconds(), NUMBER);
            let details = format!("{MARK} has no such number");
            status["errors"] = json!([{"code": 131_026, "title": "Message undeliverable", "error_data": {"details": details}}]);
            desk.told(json!({"statuses": [status]})).await;
            app.advance(1).await;
        }
    }
    let page = app.get(live, &list).await.expect(200);
    let left: Vec<&Value> =
        page["data"].as_array().unwrap().iter().filter(|row| !row["phone"].is_null()).collect();
    assert!(left.len() == 1 && left[0]["name"] == "Somebody else", "{page}");
}

/// News of a message never bring a person's number into the store's files, whether or not the person is erased.
#[tokio::test]
async fn news_of_a_message_are_stored_without_the_number() {
    let desk = Channel::open().await;
    let app = &desk.app;
    let news = cloud::status("wamid.OfNobody", "delivered", desk.seconds(), "+971509876543");
    desk.told(json!({"statuses": [news]})).await;
    app.advance(1).await;
    assert_eq!(traces(app, &["509876543"]).await, Vec::<String>::new());
    assert_eq!(files_with(&app.app().config.data, &["509876543"]), Vec::<String>::new());
}

/// An object store whose puts store at once and answer only when told.
#[derive(Default)]
struct Slow {
    objects: Mutex<HashMap<String, Vec<u8>>>,
    bell: Notify,
}

impl Slow {
    fn count(&self) -> usize {
        self.objects.lock().unwrap().len()
    }
}

impl ObjectStore for Slow {
    fn put<'a>(&'a self, key: &'a str, _: &'a str, body: Vec<u8>) -> Answer<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            self.objects.lock().unwrap().insert(key.to_owned(), body);
            self.bell.notified().await;
            Ok(())
        })
    }

    fn open<'a>(
        &'a self,
        _: &'a str,
        _: u64,
        _: u64,
    ) -> Answer<'a, Result<Option<Box<dyn Pieces>>, ProviderError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn delete<'a>(&'a self, key: &'a str) -> Answer<'a, Result<(), ProviderError>> {
        self.objects.lock().unwrap().remove(key);
        Box::pin(std::future::ready(Ok(())))
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(std::future::ready(Ok("here".into())))
    }
}

#[tokio::test]
async fn a_file_that_is_being_fetched_goes_with_the_person() {
    let fake = cloud::alone().await;
    let (slow, url) = (Arc::new(Slow::default()), fake.url.clone());
    let objects = slow.clone();
    let desk =
        Channel::over(fake, |config| config.cloud_api.base_url = url, |ports| ports.objects = objects).await;
    desk.fake.system.put_media("900", "image/jpeg", "the person's picture");
    let from = NUMBER.trim_start_matches('+');
    let message = json!({"from": from, "id": "wamid.picture", "timestamp": desk.seconds().to_string(), "type": "image",
        "image": {"id": "900", "mime_type": "image/jpeg"}});
    desk.told(json!({"contacts": [{"wa_id": from, "profile": {"name": "Asha"}}], "messages": [message]}))
        .await;
    for _ in 0..100 {
        if slow.count() == 1 {
            break;
        }
        desk.advance(0).await;
    }
    assert_eq!(slow.count(), 1, "the picture is being stored");
    erase(&desk.app, desk.live(), &contact_of(&desk).await).await;
    slow.bell.notify_one();
    for _ in 0..100 {
        if slow.count() == 0 {
            break;
        }
        desk.advance(0).await;
    }
    assert_eq!(slow.count(), 0, "it goes at once, and not in an hour");
}

#[tokio::test]
async fn the_operators_log_has_no_names_of_files() {
    let world = World::bare().await;
    let base = world.knowledge_base().await;
    let name = format!("{MARK}.txt");
    knowledge_files::add_file(&world, base.rsplit('/').next().unwrap(), &name, b"The shop opens at nine.")
        .await;
    let log = world.app.operator("GET", "/log", &Value::Null).await.expect(200);
    let of_base = |line: &&Value| line["subject"].as_str().is_some_and(|subject| subject.contains("kdoc_"));
    assert!(log["data"].as_array().unwrap().iter().any(|line| of_base(&line)), "the upload is in it: {log}");
    assert!(!log.to_string().contains(MARK), "{log}");
}

//! `Idempotency-Key` on the endpoints of the messaging channel (docs/contract/README.md#idempotency): sending and starting
//! take one, everything else passes it over.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::app::Answer;
use crate::channel_conversations::{ASHA, PATH};
use crate::channel_messages::PATH as MESSAGES;
use crate::cloud::{self, NUMBER, NUMBER_ID};
use crate::fakes::Reply;
use crate::world::Channel;

impl Channel {
    /// What each of the two endpoints takes, to a person.
    fn channel_bodies(&self, to: &str) -> [(&'static str, Value); 2] {
        let template = json!({"name": "due", "language": "en"});
        [
            (MESSAGES, json!({"to": to, "template": template})),
            (PATH, json!({"agentId": self.agent, "to": to, "template": template})),
        ]
    }

    async fn keyed_at(&self, api_key: &str, path: &str, key: &str, body: &Value) -> Answer {
        self.post_with(api_key, path, &[("idempotency-key", key)], body).await
    }

    /// What there is: messages at the provider, messages, conversations and contacts.
    async fn channel_counts(&self) -> [usize; 4] {
        let mut counts = [self.fake.system.sent().len(), 0, 0, 0];
        for (at, path) in [MESSAGES, PATH, "/v1/contacts"].into_iter().enumerate() {
            let listed = self.get(&format!("{path}?limit=100")).await;
            counts[at + 1] = listed["data"].as_array().unwrap().len();
        }
        counts
    }
}

fn replayed(answer: &Answer) -> bool {
    answer.header("idempotent-replayed") == Some("true")
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_and_changes_nothing() {
    let desk = Channel::answering("It is due.").await;
    for (path, body) in desk.channel_bodies(ASHA) {
        for api_key in [desk.live(), desk.test()] {
            for key in ["", " ", &"x".repeat(256)] {
                desk.keyed_at(api_key, path, key, &body).await.refused(400, "invalid_idempotency_key");
            }
        }
        assert_eq!(desk.channel_counts().await, [0; 4], "{path}");
    }
    let longest = "x".repeat(255);
    for ((path, body), to) in desk.channel_bodies(ASHA).into_iter().zip([ASHA, "+919812345679"]) {
        let mut body = body;
        body["to"] = json!(to);
        desk.keyed_at(desk.live(), path, &longest, &body).await.expect(201);
    }
}

#[tokio::test]
async fn a_key_acts_once_for_its_body_its_endpoint_and_its_mode() {
    let desk = Channel::answering("It is due.").await;
    let (live, test) = (desk.live(), desk.workspace.test.as_str());
    let others = desk.channel_bodies("+919812345670");
    for (at, (path, body)) in desk.channel_bodies(ASHA).into_iter().enumerate() {
        let before = desk.channel_counts().await;
        // What is refused frees the key.
        let mut wrong = body.clone();
        wrong["template"]["name"] = json!("nobodys");
        desk.keyed_at(live, path, "k", &wrong).await.refused(400, "template_not_found");
        assert_eq!(desk.channel_counts().await, before, "{path}");
        // The same key was used on the other endpoint: it is another one here.
        let first = desk.keyed_at(live, path, "k", &body).await;
        assert!(!replayed(&first), "{path}");
        let again = desk.keyed_at(live, path, "k", &body).await;
        assert!(replayed(&again), "{path}");
        assert_eq!((again.status, &again.text), (201, &first.text), "{path}");
        first.expect(201);
        let after = desk.channel_counts().await;
        assert_eq!((after[0], after[1]), (before[0] + 1, before[1] + 1), "{path}: it was sent once");
        desk.keyed_at(live, path, "k", &others[at].1).await.refused(422, "idempotency_key_reused");
        desk.keyed_at(live, path, "k", &wrong).await.refused(422, "idempotency_key_reused");
        assert_eq!(desk.channel_counts().await, after, "{path}");
        // A test key has keys of its own.
        let first = desk.keyed_at(test, path, "k", &others[at].1).await;
        assert!(!replayed(&first), "{path}");
        let again = desk.keyed_at(test, path, "k", &others[at].1).await;
        assert!(replayed(&again), "{path}");
        assert_eq!(first.expect(201)["data"]["livemode"], false, "{path}");
        desk.keyed_at(test, path, "k", &body).await.refused(422, "idempotency_key_reused");
        assert_eq!(desk.channel_counts().await, after, "{path}");
    }
    // A key is held for a day.
    desk.advance(24 * 3_600 + 1).await;
    let (path, body) = &others[0];
    assert!(!replayed(&desk.keyed_at(live, path, "k", body).await));
}

#[tokio::test]
async fn a_key_whose_request_still_runs_is_in_progress() {
    let desk = Channel::answering("It is due.").await;
    let live = desk.live();
    let others = desk.channel_bodies("+919812345670");
    for (at, (path, body)) in desk.channel_bodies(ASHA).into_iter().enumerate() {
        let before = desk.channel_counts().await;
        let gate = Arc::new(Semaphore::new(0));
        desk.fake.fail("/messages", 1, Reply::Held(gate.clone()));
        let arrived = desk.fake.count("/messages") + 1;
        let (first, ()) = tokio::join!(desk.keyed_at(live, path, "k", &body), async {
            desk.fake.wait_for("/messages", arrived).await;
            desk.keyed_at(live, path, "k", &body).await.refused(409, "idempotency_in_progress");
            desk.keyed_at(live, path, "k", &others[at].1).await.refused(422, "idempotency_key_reused");
            gate.add_permits(1);
        });
        let again = desk.keyed_at(live, path, "k", &body).await;
        assert!(replayed(&again) && !replayed(&first), "{path}");
        assert_eq!((again.status, &again.text), (201, &first.text), "{path}");
        let after = desk.channel_counts().await;
        assert_eq!((after[0], after[1]), (before[0] + 1, before[1] + 1), "{path}: it was sent once");
    }
}

/// What the provider refused, and what nobody knows, is answered again and never sent again.
#[tokio::test]
async fn a_refusal_by_the_provider_and_a_lost_answer_are_kept() {
    let desk = Channel::answering("It is due.").await;
    let live = desk.live();
    for (key, reply, status, code) in [
        ("refused", cloud::refusal(400, 131_026), 502, "delivery_failed"),
        ("lost", cloud::refusal(500, 131_000), 503, "provider_unavailable"),
    ] {
        let people = ["+919812345671", "+919812345672"];
        for (at, to) in people.into_iter().enumerate() {
            let (path, body) = desk.channel_bodies(to)[at].clone();
            desk.fake.fail("/messages", 1, reply.clone());
            let first = desk.keyed_at(live, path, key, &body).await;
            let before = desk.channel_counts().await;
            let again = desk.keyed_at(live, path, key, &body).await;
            assert!(replayed(&again), "{path} {key}");
            assert_eq!(again.text, first.text, "{path} {key}");
            first.refused(status, code);
            again.refused(status, code);
            let other = &desk.channel_bodies("+919812345670")[at].1;
            desk.keyed_at(live, path, key, other).await.refused(422, "idempotency_key_reused");
            assert_eq!(desk.channel_counts().await, before, "{path} {key}");
        }
    }
    assert_eq!(desk.fake.system.sent().len(), 0);
}

#[tokio::test]
async fn without_a_key_each_request_acts() {
    let desk = Channel::answering("It is due.").await;
    let (path, body) = desk.channel_bodies(ASHA)[0].clone();
    for times in 1..=2 {
        desk.post(path, &body).await.expect(201);
        assert_eq!(desk.fake.system.sent().len(), times);
    }
    let (path, mut body) = desk.channel_bodies(ASHA)[1].clone();
    desk.post(path, &body).await.expect(201);
    desk.post(path, &body).await.refused(409, "active_session_exists");
    body["onActiveSession"] = json!("send_in_session");
    for _ in 0..2 {
        // More of one moment would wait for the number's pace.
        desk.advance(1).await;
        desk.post(path, &body).await.expect(200);
    }
    assert_eq!(desk.fake.system.sent().len(), 5);
}

#[tokio::test]
async fn elsewhere_a_key_is_passed_over() {
    let desk = Channel::answering("It is due.").await;
    let (app, live) = (&desk.app, desk.live());
    let (path, body) = desk.channel_bodies(ASHA)[1].clone();
    let chat = app.post(live, path, &body).await.expect(201)["data"]["chatId"].as_str().unwrap().to_owned();
    let templates = app.get(live, "/v1/chatapp/templates").await.data(200);
    let template = |name: &str| {
        json!({"name": name, "language": "en", "category": "UTILITY",
            "components": [{"type": "BODY", "text": "It is on its way."}]})
    };
    let campaign = |name: &str| json!({"name": name, "channel": "chatapp", "chatapp": {"templateId": templates[0]["id"]}});
    let operator = |path: &str| format!("/operator/v1/workspaces/{}{path}", desk.workspace.id);
    let number = |name: &str| json!({"phoneNumberId": NUMBER_ID, "number": NUMBER, "displayName": name});
    let act = |what: &str| format!("{PATH}/{chat}/{what}");
    let note = |text: &str| json!({"note": text});
    let rows = [
        ("POST", "/v1/chatapp/templates".to_owned(), template("one"), template("two")),
        ("POST", "/v1/chatapp/templates/sync".to_owned(), Value::Null, Value::Null),
        ("POST", "/v1/campaigns".to_owned(), campaign("One"), campaign("Two")),
        ("PUT", operator("/chatapp/connection"), cloud::credentials(), cloud::credentials()),
        ("POST", operator("/chatapp/numbers"), number("One"), number("Two")),
        ("POST", act("takeover"), note("one"), note("two")),
        ("POST", act("handback"), note("one"), note("two")),
        ("POST", act("end"), Value::Null, Value::Null),
    ];
    for (method, path, first, second) in rows {
        let bearer = if path.starts_with("/operator") { app.operator_token.clone() } else { live.to_owned() };
        for (key, body) in [("k".to_owned(), &first), ("k".into(), &second), ("x".repeat(256), &second)] {
            let text = if body.is_null() { String::new() } else { body.to_string() };
            let headers = [("idempotency-key", key.as_str())];
            let answer = app.send(method, &path, Some(&bearer), &headers, text.into()).await;
            // The third is the second once more, so it may be refused, but not for its key.
            let code = answer.json["code"].as_str().unwrap_or_default();
            assert!(!code.contains("idempotency") && !replayed(&answer), "{method} {path}: {}", answer.text);
            assert!(key.len() > 1 || answer.status < 300, "{method} {path}: {}", answer.text);
        }
    }
    let named = |listed: &Value| {
        let names: Vec<Value> =
            listed["data"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
        names
    };
    let templates = named(&app.get(live, "/v1/chatapp/templates").await.expect(200));
    assert!(templates.contains(&json!("one")) && templates.contains(&json!("two")), "{templates:?}");
    let campaigns = named(&app.get(live, "/v1/campaigns").await.expect(200));
    assert!(campaigns.contains(&json!("One")) && campaigns.contains(&json!("Two")), "{campaigns:?}");
}

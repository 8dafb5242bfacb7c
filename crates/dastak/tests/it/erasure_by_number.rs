//! Erasure goes by the person and by the number, in every noun: one person under several references, at two
//! numbers, in both worlds.

use dastak::app::calls::{self, Caller};
use serde_json::{Value, json};

use crate::erasure::{files_with, traces};
use crate::shows::Shows;
use crate::world::{World, leads_to};

/// Strings that occur only in the person's data: words, and the two numbers.
const SECRETS: &[&str] = &["Qwyxz", "9876504321", "9876505432"];
const MARK: &str = SECRETS[0];
const PHONE: &str = SECRETS[1];
/// A number at which the person was called under the contact's reference, and which no contact has.
const SECOND: &str = SECRETS[2];
/// Somebody else, who was called at the person's number once.
const STRANGER: &str = "+919876506543";

/// The people of the test.
struct People {
    /// Has the number on record.
    person: String,
    /// The same person under another reference, without a number of its own.
    double: String,
    stranger: String,
    /// A call to the stranger at the stranger's own number.
    elsewhere: String,
}

struct Scene {
    world: World,
}

leads_to!(Scene, world: World);

impl Scene {
    async fn open() -> Self {
        let world = World::prompted("Speak with {{who}}.").await;
        // Nobody listens there: deliveries wait.
        world.endpoint(json!({"url": "http://127.0.0.1:29099/hook"})).await;
        Self { world }
    }

    async fn contact(&self, reference: &str, phone: &str, more: Value) -> String {
        let mut body = json!({"externalRef": reference, "phone": phone});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post("/v1/contacts", &body).await.id(201)
    }

    fn order(&self, reference: Option<&str>, to: &str) -> Value {
        let (who, note) = (json!({"who": format!("Who {MARK}")}), json!({"note": format!("note {MARK}")}));
        let mut body = json!({"agentId": self.agent, "toNumber": to, "variables": who, "metadata": note});
        if let Some(reference) = reference {
            body["externalRef"] = json!(reference);
        }
        body
    }

    /// Places a call; its contact and its id.
    async fn call(&self, key: &str, reference: &str, to: &str) -> (String, String) {
        let placed = self.app.post(key, "/v1/calls", &self.order(Some(reference), to)).await.expect(200);
        let id = placed["interactionId"].as_str().unwrap().to_owned();
        let call = self.app.get(key, &format!("/v1/calls/{id}")).await.expect(200);
        (call["data"]["contactId"].as_str().unwrap().to_owned(), id)
    }

    /// Asks for a nudge or a call in two hours; the answer is kept for its repeat.
    async fn later(&self, key: &str, path: &str, once: &str, reference: Option<&str>, to: &str) {
        let at = self.app().clock.now().plus(2 * domain::time::HOUR).to_string();
        let mut body = self.order(reference, to);
        body["scheduledAt"] = json!(at);
        self.post_with(key, path, &[("idempotency-key", once)], &body).await.expect(201);
    }

    /// One of each noun.
    async fn people(&self) -> People {
        let (app, live, test) = (&self.app, self.live(), self.test());
        // Somebody had the number before and was deleted; its event is still in the outbox.
        let before = self.contact("before", PHONE, json!({"optOut": true})).await;
        app.delete(live, &format!("/v1/contacts/{before}")).await.expect(200);
        self.operator("DELETE", &format!("/dnc/{PHONE}"), Value::Null).await.expect(200);
        let named = json!({"name": format!("Name {MARK}"), "email": format!("{MARK}@example.com")});
        let person = self.contact(&format!("ref-{MARK}"), PHONE, named).await;
        let stranger = self.contact("stranger", STRANGER, json!({"name": "Ravi"})).await;
        self.call(live, &format!("ref-{MARK}"), PHONE).await;
        app.advance(15).await;
        let double = self.call(live, &format!("double-{MARK}"), PHONE).await.0;
        app.advance(15).await;
        let (contact, handed) = self.call(live, "stranger", PHONE).await;
        assert_eq!(contact, stranger);
        let order = self.world.order(STRANGER, &json!({"variables": {"who": "Ravi"}}));
        let elsewhere = self.post("/v1/calls", &order).await.expect(200);
        let elsewhere = elsewhere["interactionId"].as_str().unwrap().to_owned();
        app.advance(15).await;
        // A fourth in a day is refused, and listed.
        app.post(live, "/v1/calls", &self.order(Some("stranger"), PHONE)).await.refused(422, "call_blocked");
        self.call(live, &format!("ref-{MARK}"), SECOND).await;
        for reference in ["one", "two"] {
            self.call(test, &format!("test-{reference}-{MARK}"), PHONE).await;
        }
        app.advance(15).await;
        // Live while the person is erased: in both worlds, under the reference of somebody else as well.
        self.call(test, "stranger", PHONE).await;
        self.call(live, &format!("ref-{MARK}"), SECOND).await;
        let own = self.own_number().await;
        let caller = Caller {
            to: own,
            from: format!("+91{PHONE}"),
            provider_call: "in-1".into(),
            carrier: "main".into(),
        };
        calls::answerable(app.app(), caller).await.unwrap();
        let elsewhere_id = elsewhere.parse().unwrap();
        calls::transferred(app.app(), self.tenant(), elsewhere_id, format!("+91{PHONE}")).await.unwrap();
        let double_reference = format!("double-{MARK}");
        for (key, world) in [(live, "live"), (test, "test")] {
            self.later(key, "/v1/nudges", &format!("{world}-1"), None, PHONE).await;
            self.later(key, "/v1/nudges", &format!("{world}-2"), None, SECOND).await;
            let path = "/v1/scheduled-calls";
            self.later(key, path, &format!("{world}-1"), Some("stranger"), PHONE).await;
            self.later(key, path, &format!("{world}-2"), None, SECOND).await;
            let reference = Some(double_reference.as_str());
            self.later(key, path, &format!("{world}-3"), reference, "+919876507654").await;
        }
        let asked = json!({"phones": [PHONE], "reason": format!("{MARK} asked")});
        self.post("/v1/dnc", &asked).await.expect(200);
        assert!(!handed.is_empty());
        People { person, double, stranger, elsewhere }
    }

    async fn erase(&self, id: &str) -> Value {
        self.world.erase(id).await.data(200)
    }

    /// Everything about the person is gone; everything about the stranger is left.
    async fn is_erased(&self, people: &People, answer: &Value) {
        let (app, live) = (&self.app, self.live());
        assert_eq!(answer["erased"]["nudgesCancelled"], 4, "{answer}");
        for _ in 0..2 {
            assert_eq!(traces(app, SECRETS).await, Vec::<String>::new());
            assert_eq!(files_with(&app.app().config.data, SECRETS), Vec::<String>::new());
            // Calls that were live and work that waited have written nothing since.
            app.advance(3 * 3600).await;
        }
        for gone in [&people.person, &people.double] {
            app.get(live, &format!("/v1/contacts/{gone}")).await.refused(410, "contact_erased");
        }
        let again = self.erase(&people.double).await;
        assert_eq!((&again["alreadyErased"], &again["erased"]), (&json!(true), &answer["erased"]));
        let stranger = app.get(live, &format!("/v1/contacts/{}", people.stranger)).await.data(200);
        assert_eq!((&stranger["name"], &stranger["phone"]), (&json!("Ravi"), &json!(STRANGER)));
        let call = app.get(live, &format!("/v1/calls/{}", people.elsewhere)).await.data(200);
        assert!(call["toNumber"] == STRANGER && call["transcript"] != json!([]), "{call}");
        let calls = app.get(live, "/v1/calls").await.list(200);
        assert!(
            calls.iter().all(|call| ["ended", "blocked"].contains(&call["state"].as_str().unwrap())),
            "{calls:?}"
        );
        // The person is still not called: the list holds the keyed hash alone.
        let listed = app.get(live, "/v1/dnc").await.expect(200);
        listed.shows(json!({"total": 1, "data[0].phone": null, "data[0].reason": "[erased]"}));
        assert_eq!(app.get(live, "/v1/audit/verify").await.expect(200)["data"]["verified"], true);
    }
}

#[tokio::test]
async fn erasing_the_contact_of_a_number_reaches_every_reference() {
    let scene = Scene::open().await;
    let people = scene.people().await;
    let before = traces(&scene.app, SECRETS).await;
    for place in [
        "contacts.name",
        "contacts.phone",
        "contacts.attributes",
        "do_not_call.phone",
        "do_not_call.reason",
        "events.envelope",
        "calls.to_number",
        "calls.from_number",
        "calls.variables",
        "calls.metadata",
        "nudges.to_number",
        "scheduled_calls.to_number",
        "idempotency_keys.body",
    ] {
        assert!(before.iter().any(|found| found.starts_with(place)), "{place} is searched: {before:?}");
    }
    let answer = scene.erase(&people.person).await;
    scene.is_erased(&people, &answer).await;
}

#[tokio::test]
async fn erasing_a_reference_reaches_the_contact_of_its_number() {
    let scene = Scene::open().await;
    let people = scene.people().await;
    let answer = scene.erase(&people.double).await;
    scene.is_erased(&people, &answer).await;
}

/// A reference under which many people are called identifies none of them: erasing one person leaves the
/// reference and the others alone.
#[tokio::test]
async fn a_reference_that_many_share_is_not_the_person() {
    let scene = Scene::open().await;
    let (app, live) = (&scene.app, scene.live());
    let person = scene.contact("person", PHONE, json!({})).await;
    let other = scene.contact("other", STRANGER, json!({})).await;
    let shared = scene.call(live, "switchboard", PHONE).await.0;
    let kept = scene.call(live, "switchboard", STRANGER).await.1;
    app.advance(15).await;
    let answer = scene.erase(&person).await;
    assert_eq!(answer["erased"]["calls"], 1, "{answer}");
    app.get(live, &format!("/v1/contacts/{shared}")).await.expect(200);
    app.get(live, &format!("/v1/contacts/{other}")).await.expect(200);
    let call = app.get(live, &format!("/v1/calls/{kept}")).await.data(200);
    assert!(call["toNumber"] == STRANGER && call["transcript"] != json!([]), "{call}");
    assert_eq!(traces(app, &[PHONE]).await, Vec::<String>::new());
    // The other way round: the calls under the reference go, the other people stay.
    assert_eq!(scene.erase(&shared).await["erased"]["calls"], 1);
    app.get(live, &format!("/v1/contacts/{other}")).await.expect(200);
}

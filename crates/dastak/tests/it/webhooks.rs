//! Webhook endpoints (docs/contract/webhooks.md).

use std::sync::Arc;

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::receiver::Receiver;
use crate::shows::Shows;
use crate::world::World;

impl World {
    /// Makes an endpoint; its answer.
    pub async fn endpoint(&self, body: Value) -> Value {
        self.post("/v1/webhooks", &body).await.data(201)
    }

    /// Emits a sample to the endpoints that subscribe; its event id.
    pub async fn trigger(&self, kind: &str) -> String {
        let answer = self.post("/v1/events/trigger", &json!({"type": kind})).await.expect(202);
        text(&answer["data"]["eventId"]).to_owned()
    }
}

pub fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

#[tokio::test]
async fn an_endpoint_lives_from_creation_to_deletion() {
    let world = World::bare().await;
    let made = world.endpoint(json!({"url": "https://example.com/hooks?x=1"})).await;
    let id = text(&made["id"]).to_owned();
    assert!(id.starts_with("whe_"));
    assert!(text(&made["secret"]).starts_with("whsec_") && text(&made["secret"]).len() >= 32);
    let mut shown = made.clone();
    shown.as_object_mut().unwrap().remove("secret");
    let (created, updated) = (made["createdAt"].clone(), made["updatedAt"].clone());
    let expected = json!({
        "id": id, "url": "https://example.com/hooks?x=1", "events": [], "agentIds": [], "description": null, "status": "active",
        "createdAt": created, "updatedAt": updated,
    });
    assert_eq!(shown, expected);
    let path = format!("/v1/webhooks/{id}");
    assert_eq!(world.app.get(world.test(), &path).await.expect(200)["data"], shown);
    assert_eq!(world.get("/v1/webhooks").await, json!({"data": [shown], "nextCursor": null}));

    world.advance(5).await;
    let change = json!({"events": ["call.started", "message.sent", "call.started"], "description": "mine", "status": "disabled"});
    let changed = world.patch(&path, &change).await.data(200);
    assert_eq!(changed["events"], json!(["call.started", "message.sent"]));
    changed
        .shows(json!({"description": "mine", "status": "disabled", "url": "https://example.com/hooks?x=1"}));
    assert!(changed["updatedAt"] != changed["createdAt"] && changed["secret"].is_null());
    let cleared = world.patch(&path, &json!({"description": null, "events": []})).await.data(200);
    assert_eq!((&cleared["description"], &cleared["events"]), (&Value::Null, &json!([])));

    let rotated = world.post(&format!("{path}/rotate-secret"), &Value::Null).await.data(200);
    assert_eq!(rotated["id"], *id);
    assert!(text(&rotated["secret"]).starts_with("whsec_") && rotated["secret"] != made["secret"]);

    world.post(&format!("{path}/test"), &json!({})).await.conflict();
    assert_eq!(world.delete(&path).await.expect(200)["data"], json!({"id": id, "deleted": true}));
    world.fetch(&path).await.not_found();
    world.delete(&path).await.not_found();
    world.fetch(&format!("{path}/deliveries")).await.not_found();
    assert_eq!(world.get("/v1/webhooks").await["data"], json!([]));
}

#[tokio::test]
async fn bad_input_names_the_field_and_changes_nothing() {
    let world = World::bare().await;
    for (body, field) in [
        (json!({}), "url"),
        (json!({"url": 5}), "url"),
        (json!({"url": "https://example.com", "events": ["call.begun"]}), "events[0]"),
        (json!({"url": "https://example.com", "events": ["call.started", 7]}), "events[1]"),
        (json!({"url": "https://example.com", "events": "call.started"}), "events"),
        (json!({"url": "https://example.com", "agentIds": ["x"]}), "agentIds[0]"),
        (json!({"url": "https://example.com", "status": "paused"}), "status"),
        (json!({"url": "https://example.com", "description": 1}), "description"),
    ] {
        let refused = world.post("/v1/webhooks", &body).await.invalid();
        assert_eq!(refused["meta"]["field"], field, "{body}");
    }
    assert_eq!(world.get("/v1/webhooks").await["data"], json!([]));
    let made = world.endpoint(json!({"url": "https://example.com"})).await;
    let path = format!("/v1/webhooks/{}", text(&made["id"]));
    world
        .patch(&path, &json!({"url": "nonsense", "description": "x"}))
        .await
        .refused(400, "invalid_webhook_url");
    let url = world.get(&path).await["data"]["url"].clone();
    let same = world.patch(&path, &json!({"url": null})).await.expect(200);
    assert_eq!(same["data"]["url"], url, "null is absent");
    assert_eq!(world.get(&path).await["data"]["description"], Value::Null);
    world.post(&format!("{path}/test"), &json!({"type": "call.begun"})).await.invalid();
    world.post("/v1/events/trigger", &json!({})).await.invalid();
    world.fetch("/v1/events?after=call_1").await.invalid();
}

#[tokio::test]
async fn only_public_https_addresses_are_accepted() {
    let world = World::bare_with(|config| config.allow_insecure_webhooks = false).await;
    for url in [
        "",
        "nonsense",
        "example.com/x",
        "http://example.com/x",
        "ftp://example.com",
        "https://localhost/x",
        "https://127.0.0.1/x",
        "https://127.1/x",
        "https://10.0.0.1",
        "https://192.168.1.5:8443/x",
        "https://172.16.0.1",
        "https://169.254.169.254/latest",
        "https://[::1]/",
        "https://[fd00::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://0x7f.1/",
        "https://2130706433/",
        "https://printer.local/",
        "https://user:pass@example.com/",
        "https://example.com:22/",
        "https://example.com:6379/",
        "https://100.64.0.1/",
        "https://0.0.0.0/",
    ] {
        world.post("/v1/webhooks", &json!({"url": url})).await.refused(400, "invalid_webhook_url");
    }
    for url in ["https://example.com", "https://hooks.example.co.in:8443/a/b?c=d"] {
        world.endpoint(json!({"url": url})).await;
    }
}

#[tokio::test]
async fn test_keys_read_only() {
    let world = World::bare().await;
    let made = world.endpoint(json!({"url": "https://example.com"})).await;
    let path = format!("/v1/webhooks/{}", text(&made["id"]));
    world.app.post(world.test(), "/v1/webhooks", &json!({"url": "https://example.com"})).await.read_only();
    world.app.patch(world.test(), &path, &json!({})).await.read_only();
    world.app.delete(world.test(), &path).await.read_only();
    world.app.post(world.test(), &format!("{path}/rotate-secret"), &Value::Null).await.read_only();
    world.app.post(world.test(), &format!("{path}/test"), &json!({})).await.read_only();
    world.app.get(world.test(), &path).await.expect(200);
    world.app.get(world.test(), &format!("{path}/deliveries")).await.expect(200);
}

#[tokio::test]
async fn another_workspace_sees_nothing() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let receiver = Receiver::ok().await;
    let made = world.endpoint(json!({"url": receiver.url})).await;
    let path = format!("/v1/webhooks/{}", text(&made["id"]));
    let sent = world.post(&format!("{path}/test"), &json!({})).await.data(202);
    receiver.wait_for(1).await;
    let delivery = format!("{path}/deliveries/{}", text(&sent["deliveryId"]));
    other.fetch(&path).await.not_found();
    other.patch(&path, &json!({"status": "disabled"})).await.not_found();
    other.delete(&path).await.not_found();
    other.post(&format!("{path}/rotate-secret"), &Value::Null).await.not_found();
    other.post(&format!("{path}/test"), &json!({})).await.not_found();
    other.fetch(&format!("{path}/deliveries")).await.not_found();
    other.fetch(&delivery).await.not_found();
    other.post(&format!("{delivery}/replay"), &Value::Null).await.not_found();
    other.trigger("call.started").await;
    world.advance(1).await;
    assert_eq!(receiver.got().len(), 1);
    assert_eq!(other.get("/v1/events?after=start").await["data"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_endpoints_and_not_one_more() {
    let world = Arc::new(World::bare().await);
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let (world, key) = (world.clone(), world.workspace.live.clone());
            tokio::spawn(async move {
                world
                    .app
                    .post(&key, "/v1/webhooks", &json!({"url": format!("https://example.com/{number}")}))
                    .await
            })
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        let answer = task.await.unwrap();
        if answer.status == 201 { made += 1 } else { drop(answer.refused(409, "endpoint_limit")) }
    }
    let all = world.list("/v1/webhooks").await;
    assert_eq!((made, all.len()), (20, 20));
    world.delete(&format!("/v1/webhooks/{}", text(&all[7]["id"]))).await.expect(200);
    world.endpoint(json!({"url": "https://example.com/again"})).await;
    world
        .post("/v1/webhooks", &json!({"url": "https://example.com/21"}))
        .await
        .refused(409, "endpoint_limit");
    world.neighbour().await.endpoint(json!({"url": "https://example.com/other"})).await;
}

#[tokio::test]
async fn secrets_are_sealed_at_rest() {
    let world = World::bare().await;
    let made = world.endpoint(json!({"url": "https://example.com"})).await;
    let (tenant, id) = (world.tenant(), text(&made["id"]).parse().unwrap());
    let row =
        world.app().store.of(tenant).read(move |tx| store::webhooks::get(tx, id)).await.unwrap().unwrap();
    assert!(!row.secret.contains("whsec_") && !row.secret.contains(&text(&made["secret"])[6..]));
}

#[tokio::test]
async fn subscriptions_decide_who_gets_what() {
    let world = World::bare().await;
    let (default, picked, disabled) = (Receiver::ok().await, Receiver::ok().await, Receiver::ok().await);
    world.endpoint(json!({"url": default.url})).await;
    world
        .endpoint(json!({"url": picked.url, "events": ["message.sent", "chat.evaluated", "call.failed"]}))
        .await;
    world.endpoint(json!({"url": disabled.url, "status": "disabled"})).await;
    for kind in api::events::names() {
        world.trigger(kind).await;
    }
    world.advance(1).await;
    let kinds = |receiver: &Receiver| {
        let mut kinds: Vec<String> =
            receiver.got().iter().map(|got| text(&got.json()["type"]).to_owned()).collect();
        kinds.sort();
        kinds
    };
    let mut expected: Vec<String> =
        api::events::ALL.iter().filter(|kind| !kind.pick_only).map(|kind| kind.name.to_owned()).collect();
    expected.sort();
    assert_eq!(kinds(&default), expected);
    assert_eq!(kinds(&picked), ["call.failed", "chat.evaluated", "message.sent"]);
    assert!(disabled.got().is_empty());
}

#[tokio::test]
async fn agents_filter_what_is_about_an_agent() {
    use api::events::calls::CallData;
    use api::events::wallet::LowWallet;
    use dastak::app::events::{Event, NewEvent, emit};
    use domain::tenant::Mode;

    let world = World::bare().await;
    let (mine, all) = (Receiver::ok().await, Receiver::ok().await);
    let (one, other) = ("agt_00000000000000000000000001", "agt_00000000000000000000000002");
    world.endpoint(json!({"url": mine.url, "agentIds": [one]})).await;
    world.endpoint(json!({"url": all.url})).await;
    let (inner, tenant) = (world.app().clone(), world.tenant());
    for agent in [Some(one), Some(other), None] {
        let context = inner.context();
        let event = match agent.map(|agent| agent.parse().expect("an id")) {
            Some(agent) => Event::CallStarted(CallData { agent_id: Some(agent), ..CallData::sample() }),
            None => Event::WalletLow(LowWallet::sample()),
        };
        let event = NewEvent { event, mode: Mode::Test, agent, contact: None };
        inner.store.of(tenant).tx(move |tx| emit(tx, &context, event.clone())).await.unwrap();
    }
    world.advance(1).await;
    let agents = |receiver: &Receiver| {
        let mut agents: Vec<Value> =
            receiver.got().iter().map(|got| got.json()["data"]["agentId"].clone()).collect();
        agents.sort_by_key(Value::to_string);
        agents
    };
    assert_eq!(agents(&mine), [json!(one), Value::Null]);
    assert_eq!(agents(&all), [json!(one), json!(other), Value::Null]);
}

#[tokio::test]
async fn a_delivery_is_the_signed_envelope() {
    let world = World::bare().await;
    let receiver = Receiver::ok().await;
    let made = world.endpoint(json!({"url": format!("{}?k=v", receiver.url)})).await;
    let path = format!("/v1/webhooks/{}", text(&made["id"]));
    let sent = world.send("POST", &format!("{path}/test"), Some(world.live()), &[], "null".into()).await;
    // An optional body may be absent, but null is no object.
    sent.invalid();
    let sent = world
        .send("POST", &format!("{path}/test"), Some(world.live()), &[], bytes::Bytes::new())
        .await
        .data(202);
    let got = receiver.wait_for(1).await.remove(0);
    assert!(got.head.starts_with("POST /hook?k=v HTTP/1.1"), "{}", got.head);
    for (name, value) in [
        ("content-type", "application/json"),
        ("user-agent", "service-webhooks/1"),
        ("x-service-event", "webhook.test"),
        ("x-service-delivery", text(&sent["deliveryId"])),
    ] {
        assert_eq!(got.header(name), value, "{name}");
    }
    assert!(text(&sent["deliveryId"]).starts_with("whd_"));
    assert!(got.signed_with(text(&made["secret"])));
    let now = world.now().await;
    let data = json!({"endpointId": made["id"], "message": "This is a test event."});
    assert_eq!(
        got.json(),
        json!({"id": sent["eventId"], "type": "webhook.test", "createdAt": now, "livemode": false, "data": data})
    );
    let shape = api::schema::answer::<api::webhooks::Event>();
    shape.check(&mut got.json()).unwrap();
    // Any type's sample, whatever the endpoint subscribes to.
    world.post(&format!("{path}/test"), &json!({"type": "message.read"})).await.expect(202);
    let got = receiver.wait_for(2).await.remove(1);
    assert_eq!((got.header("x-service-event"), &got.json()["livemode"]), ("message.read", &json!(false)));
}

#[tokio::test]
async fn the_brand_is_in_the_headers() {
    let world = World::bare_with(|config| config.brand = "Acme-Voice".into()).await;
    let receiver = Receiver::ok().await;
    world.endpoint(json!({"url": receiver.url})).await;
    world.trigger("call.started").await;
    let got = receiver.wait_for(1).await.remove(0);
    assert_eq!(
        (got.header("x-acme-voice-event"), got.header("user-agent")),
        ("call.started", "acme-voice-webhooks/1")
    );
    assert!(got.t("X-Acme-Voice") > 0);
}

#[tokio::test]
async fn a_new_secret_signs_everything_from_then_on() {
    let world = World::bare().await;
    let receiver = Receiver::start(crate::receiver::Behaviour::status(500)).await;
    let made = world.endpoint(json!({"url": receiver.url})).await;
    world.trigger("call.started").await;
    world.advance(1).await;
    let rotate = format!("/v1/webhooks/{}/rotate-secret", text(&made["id"]));
    let rotated = world.post(&rotate, &Value::Null).await.expect(200)["data"]["secret"].clone();
    world.advance(30).await;
    let got = receiver.wait_for(2).await;
    assert!(got[0].signed_with(text(&made["secret"])));
    // The retry of the older event.
    assert!(got[1].signed_with(text(&rotated)) && !got[1].signed_with(text(&made["secret"])));
    assert_eq!(got[0].body, got[1].body);
    assert!(got[1].t("X-Service") >= got[0].t("X-Service") + 30);
}

#[tokio::test]
async fn events_come_to_listeners() {
    let world = Arc::new(World::bare().await);
    let first = world.trigger("call.started").await;
    let page = world.get("/v1/events?after=start").await;
    page.shows(json!({"data[0].id": first, "cursor": first, "brand": "Service"}));
    let latest = world.get("/v1/events").await;
    assert_eq!((&latest["data"], &latest["cursor"]), (&json!([]), &json!(first)));
    // A waiting reader gets an event as soon as it is committed.
    let waiting = {
        let (world, key) = (world.clone(), world.workspace.live.clone());
        tokio::spawn(async move {
            world.app.get(&key, &format!("/v1/events?after={first}&wait=25")).await.expect(200)
        })
    };
    let second = world.trigger("call.failed").await;
    let heard = waiting.await.unwrap();
    assert_eq!((heard["data"].as_array().unwrap().len(), &heard["data"][0]["id"]), (1, &json!(second)));
    let fresh = world.neighbour().await;
    assert_eq!(fresh.get("/v1/events").await["cursor"], "start");
}

/// How often readers of the stream have looked.
fn looks(app: &TestApp) -> usize {
    let figures = app.app().metrics.render();
    let line = figures
        .lines()
        .find(|line| line.contains("event_stream_looks") && !line.starts_with('#'))
        .expect("the figure");
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// Starts `count` readers that wait after the last event; they have looked once when this returns.
async fn readers(world: &World, count: usize) -> Vec<tokio::task::JoinHandle<Value>> {
    let before = looks(world);
    let readers = (0..count)
        .map(|_| {
            let (app, key) = (world.app.clone(), world.live().to_owned());
            tokio::spawn(async move { app.get(&key, "/v1/events?wait=25").await.expect(200) })
        })
        .collect();
    while looks(world) < before + count {
        tokio::task::yield_now().await;
    }
    readers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_wakes_nobody_elses_readers() {
    let mine = World::bare().await;
    let other = mine.neighbour().await;
    let waiting = readers(&mine, 10).await;
    let before = looks(&mine);
    for _ in 0..20 {
        other.trigger("call.started").await;
        mine.app.post(mine.test(), "/v1/events/trigger", &json!({"type": "call.started"})).await.expect(202);
    }
    // A shared store is read from time to time in any case: other nodes commit, too.
    if !mine.app().store.shared() {
        assert_eq!(looks(&mine), before, "readers that wait were woken by commits of others");
    }
    let event = mine.trigger("call.failed").await;
    for reader in waiting {
        assert_eq!(reader.await.unwrap()["data"][0]["id"], *event);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_of_a_workspace_are_bounded() {
    let mine = World::bare().await;
    let other = mine.neighbour().await;
    let waiting = readers(&mine, 32).await;
    let refused = mine.fetch("/v1/events?wait=25").await;
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.refused(429, "rate_limited");
    for key in [mine.test(), other.live()] {
        mine.app.get(key, "/v1/events").await.expect(200);
    }
    mine.trigger("call.failed").await;
    for reader in waiting {
        assert_eq!(reader.await.unwrap()["data"].as_array().unwrap().len(), 1);
    }
    mine.get("/v1/events").await;
}

#[tokio::test]
async fn a_reader_passes_what_belongs_to_the_other_world() {
    let world = World::bare().await;
    let (context, tenant) = (world.app().context(), world.tenant());
    let first = world.trigger("call.started").await;
    // Longer than one interval.
    let work = move |tx: &mut store::Tx<'_>| {
        for _ in 0..2_500 {
            let id = context.ids.make();
            let (kind, mode, created_at) = ("call.started", domain::tenant::Mode::Test, context.now);
            let data = (api::events::find(kind).expect("a type").sample)();
            let envelope =
                json!({"id": id, "type": kind, "createdAt": created_at, "livemode": false, "data": data})
                    .to_string();
            let row = store::events::NewEventRow {
                id,
                kind,
                mode,
                agent: None,
                contact: None,
                envelope: &envelope,
                transcript: None,
                created_at,
            };
            store::events::insert(&mut tx.of(tenant), row)?;
        }
        Ok::<_, store::DbError>(())
    };
    world.app().store.tx_alone(work).await.unwrap();
    let last = world.trigger("call.failed").await;
    let ids = |page: &Value| {
        page["data"].as_array().unwrap().iter().map(|event| text(&event["id"]).to_owned()).collect::<Vec<_>>()
    };
    let page = world.get(&format!("/v1/events?after={first}")).await;
    assert_eq!(ids(&page), std::slice::from_ref(&last));
    assert_eq!(ids(&world.get("/v1/events?after=start").await), [first], "a page ends where its look does");
    let (mut seen, mut cursor) = (0, "start".to_owned());
    loop {
        let page =
            world.app.get(world.test(), &format!("/v1/events?after={cursor}&limit=100")).await.expect(200);
        let found = page["data"].as_array().unwrap().len();
        if found == 0 {
            break;
        }
        seen += found;
        cursor = text(&page["cursor"]).to_owned();
    }
    assert_eq!(seen, 2_500);
}

//! Webhook endpoints (docs/contract/webhooks.md).

use std::sync::Arc;

use serde_json::{Value, json};

use crate::app::{TestApp, Workspace};
use crate::receiver::Receiver;
use crate::world::World;

/// Makes an endpoint; its answer.
pub async fn endpoint(app: &TestApp, workspace: &Workspace, body: Value) -> Value {
    app.post(&workspace.live, "/v1/webhooks", &body).await.data(201)
}

pub fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

/// Emits a sample to the endpoints that subscribe; its event id.
pub async fn trigger(app: &TestApp, workspace: &Workspace, kind: &str) -> String {
    let answer = app.post(&workspace.live, "/v1/events/trigger", &json!({"type": kind})).await.expect(202);
    text(&answer["data"]["eventId"]).to_owned()
}

#[tokio::test]
async fn an_endpoint_lives_from_creation_to_deletion() {
    let world = World::bare().await;
    let made = endpoint(&world, &world.workspace, json!({"url": "https://example.com/hooks?x=1"})).await;
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
    assert_eq!(world.app.get(&world.workspace.test, &path).await.expect(200)["data"], shown);
    assert_eq!(world.get("/v1/webhooks").await, json!({"data": [shown], "nextCursor": null}));

    world.advance(5).await;
    let change = json!({"events": ["call.started", "message.sent", "call.started"], "description": "mine", "status": "disabled"});
    let changed = world.patch(&path, &change).await.data(200);
    assert_eq!(changed["events"], json!(["call.started", "message.sent"]));
    assert_eq!(
        (text(&changed["description"]), text(&changed["status"]), text(&changed["url"])),
        ("mine", "disabled", "https://example.com/hooks?x=1")
    );
    assert!(changed["updatedAt"] != changed["createdAt"] && changed["secret"].is_null());
    let cleared = world.patch(&path, &json!({"description": null, "events": []})).await.data(200);
    assert_eq!((&cleared["description"], &cleared["events"]), (&Value::Null, &json!([])));

    let rotated = world.post(&format!("{path}/rotate-secret"), &Value::Null).await.data(200);
    assert_eq!(rotated["id"], *id);
    assert!(text(&rotated["secret"]).starts_with("whsec_") && rotated["secret"] != made["secret"]);

    world.post(&format!("{path}/test"), &json!({})).await.refused(409, "conflict");
    assert_eq!(world.delete(&path).await.expect(200)["data"], json!({"id": id, "deleted": true}));
    world.app.get(world.live(), &path).await.refused(404, "not_found");
    world.delete(&path).await.refused(404, "not_found");
    world.app.get(world.live(), &format!("{path}/deliveries")).await.refused(404, "not_found");
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
        let refused = world.post("/v1/webhooks", &body).await.refused(400, "invalid_request");
        assert_eq!(refused["meta"]["field"], field, "{body}");
    }
    assert_eq!(world.get("/v1/webhooks").await["data"], json!([]));
    let made = endpoint(&world, &world.workspace, json!({"url": "https://example.com"})).await;
    let path = format!("/v1/webhooks/{}", text(&made["id"]));
    world
        .patch(&path, &json!({"url": "nonsense", "description": "x"}))
        .await
        .refused(400, "invalid_webhook_url");
    let url = world.get(&path).await["data"]["url"].clone();
    let same = world.patch(&path, &json!({"url": null})).await.expect(200);
    assert_eq!(same["data"]["url"], url, "null is absent");
    assert_eq!(world.get(&path).await["data"]["description"], Value::Null);
    world.post(&format!("{path}/test"), &json!({"type": "call.begun"})).await.refused(400, "invalid_request");
    world.post("/v1/events/trigger", &json!({})).await.refused(400, "invalid_request");
    world.app.get(world.live(), "/v1/events?after=call_1").await.refused(400, "invalid_request");
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
        endpoint(&world, &world.workspace, json!({"url": url})).await;
    }
}

#[tokio::test]
async fn test_keys_read_only() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let made = endpoint(&app, &workspace, json!({"url": "https://example.com"})).await;
    let path = format!("/v1/webhooks/{}", text(&made["id"]));
    app.post(&workspace.test, "/v1/webhooks", &json!({"url": "https://example.com"}))
        .await
        .refused(403, "test_mode_read_only");
    app.patch(&workspace.test, &path, &json!({})).await.refused(403, "test_mode_read_only");
    app.delete(&workspace.test, &path).await.refused(403, "test_mode_read_only");
    app.post(&workspace.test, &format!("{path}/rotate-secret"), &Value::Null)
        .await
        .refused(403, "test_mode_read_only");
    app.post(&workspace.test, &format!("{path}/test"), &json!({})).await.refused(403, "test_mode_read_only");
    app.get(&workspace.test, &path).await.expect(200);
    app.get(&workspace.test, &format!("{path}/deliveries")).await.expect(200);
}

#[tokio::test]
async fn another_workspace_sees_nothing() {
    let app = TestApp::start().await;
    let (owner, other) = (app.workspace().await, app.workspace().await);
    let receiver = Receiver::ok().await;
    let made = endpoint(&app, &owner, json!({"url": receiver.url})).await;
    let path = format!("/v1/webhooks/{}", text(&made["id"]));
    let sent = app.post(&owner.live, &format!("{path}/test"), &json!({})).await.data(202);
    receiver.wait_for(1).await;
    let delivery = format!("{path}/deliveries/{}", text(&sent["deliveryId"]));
    app.get(&other.live, &path).await.refused(404, "not_found");
    app.patch(&other.live, &path, &json!({"status": "disabled"})).await.refused(404, "not_found");
    app.delete(&other.live, &path).await.refused(404, "not_found");
    app.post(&other.live, &format!("{path}/rotate-secret"), &Value::Null).await.refused(404, "not_found");
    app.post(&other.live, &format!("{path}/test"), &json!({})).await.refused(404, "not_found");
    app.get(&other.live, &format!("{path}/deliveries")).await.refused(404, "not_found");
    app.get(&other.live, &delivery).await.refused(404, "not_found");
    app.post(&other.live, &format!("{delivery}/replay"), &Value::Null).await.refused(404, "not_found");
    trigger(&app, &other, "call.started").await;
    app.advance(1).await;
    assert_eq!(receiver.got().len(), 1);
    assert_eq!(
        app.get(&other.live, "/v1/events?after=start").await.expect(200)["data"].as_array().unwrap().len(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_endpoints_and_not_one_more() {
    let app = Arc::new(TestApp::start().await);
    let workspace = app.workspace().await;
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let (app, key) = (app.clone(), workspace.live.clone());
            tokio::spawn(async move {
                app.post(&key, "/v1/webhooks", &json!({"url": format!("https://example.com/{number}")})).await
            })
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        let answer = task.await.unwrap();
        if answer.status == 201 { made += 1 } else { drop(answer.refused(409, "endpoint_limit")) }
    }
    let all = app.get(&workspace.live, "/v1/webhooks").await.list(200);
    assert_eq!((made, all.len()), (20, 20));
    app.delete(&workspace.live, &format!("/v1/webhooks/{}", text(&all[7]["id"]))).await.expect(200);
    endpoint(&app, &workspace, json!({"url": "https://example.com/again"})).await;
    app.post(&workspace.live, "/v1/webhooks", &json!({"url": "https://example.com/21"}))
        .await
        .refused(409, "endpoint_limit");
    endpoint(&app, &app.workspace().await, json!({"url": "https://example.com/other"})).await;
}

#[tokio::test]
async fn secrets_are_sealed_at_rest() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let made = endpoint(&app, &workspace, json!({"url": "https://example.com"})).await;
    let (tenant, id) = (workspace.id.parse().unwrap(), text(&made["id"]).parse().unwrap());
    let row = app.app().store.of(tenant).read(move |tx| store::webhooks::get(tx, id)).await.unwrap().unwrap();
    assert!(!row.secret.contains("whsec_") && !row.secret.contains(&text(&made["secret"])[6..]));
}

#[tokio::test]
async fn subscriptions_decide_who_gets_what() {
    let world = World::bare().await;
    let (default, picked, disabled) = (Receiver::ok().await, Receiver::ok().await, Receiver::ok().await);
    endpoint(&world, &world.workspace, json!({"url": default.url})).await;
    endpoint(
        &world,
        &world.workspace,
        json!({"url": picked.url, "events": ["message.sent", "chat.evaluated", "call.failed"]}),
    )
    .await;
    endpoint(&world, &world.workspace, json!({"url": disabled.url, "status": "disabled"})).await;
    for kind in api::events::names() {
        trigger(&world, &world.workspace, kind).await;
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

    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let (mine, all) = (Receiver::ok().await, Receiver::ok().await);
    let (one, other) = ("agt_00000000000000000000000001", "agt_00000000000000000000000002");
    endpoint(&app, &workspace, json!({"url": mine.url, "agentIds": [one]})).await;
    endpoint(&app, &workspace, json!({"url": all.url})).await;
    let (inner, tenant) = (app.app().clone(), workspace.id.parse().unwrap());
    for agent in [Some(one), Some(other), None] {
        let context = inner.context();
        let event = match agent.map(|agent| agent.parse().expect("an id")) {
            Some(agent) => Event::CallStarted(CallData { agent_id: Some(agent), ..CallData::sample() }),
            None => Event::WalletLow(LowWallet::sample()),
        };
        let event = NewEvent { event, mode: Mode::Test, agent, contact: None };
        inner.store.of(tenant).tx(move |tx| emit(tx, &context, event.clone())).await.unwrap();
    }
    app.advance(1).await;
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
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let receiver = Receiver::ok().await;
    let made = endpoint(&app, &workspace, json!({"url": format!("{}?k=v", receiver.url)})).await;
    let path = format!("/v1/webhooks/{}", text(&made["id"]));
    let sent = app.post(&workspace.live, &format!("{path}/test"), &Value::Null).await;
    // An optional body may be absent, but null is no object.
    sent.refused(400, "invalid_request");
    let sent = app
        .send("POST", &format!("{path}/test"), Some(&workspace.live), &[], bytes::Bytes::new())
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
    let now = app.now().await;
    let data = json!({"endpointId": made["id"], "message": "This is a test event."});
    assert_eq!(
        got.json(),
        json!({"id": sent["eventId"], "type": "webhook.test", "createdAt": now, "livemode": false, "data": data})
    );
    let shape = api::schema::answer::<api::webhooks::Event>();
    shape.check(&mut got.json()).unwrap();
    // Any type's sample, whatever the endpoint subscribes to.
    app.post(&workspace.live, &format!("{path}/test"), &json!({"type": "message.read"})).await.expect(202);
    let got = receiver.wait_for(2).await.remove(1);
    assert_eq!((got.header("x-service-event"), &got.json()["livemode"]), ("message.read", &json!(false)));
}

#[tokio::test]
async fn the_brand_is_in_the_headers() {
    let world = World::bare_with(|config| config.brand = "Acme-Voice".into()).await;
    let receiver = Receiver::ok().await;
    endpoint(&world, &world.workspace, json!({"url": receiver.url})).await;
    trigger(&world, &world.workspace, "call.started").await;
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
    let made = endpoint(&world, &world.workspace, json!({"url": receiver.url})).await;
    trigger(&world, &world.workspace, "call.started").await;
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
    let app = Arc::new(TestApp::start().await);
    let workspace = app.workspace().await;
    let first = trigger(&app, &workspace, "call.started").await;
    let page = app.get(&workspace.live, "/v1/events?after=start").await.expect(200);
    assert_eq!(
        (&page["data"][0]["id"], &page["cursor"], &page["brand"]),
        (&json!(first), &json!(first), &json!("Service"))
    );
    let latest = app.get(&workspace.live, "/v1/events").await.expect(200);
    assert_eq!((&latest["data"], &latest["cursor"]), (&json!([]), &json!(first)));
    // A waiting reader gets an event as soon as it is committed.
    let waiting = {
        let (app, key) = (app.clone(), workspace.live.clone());
        tokio::spawn(
            async move { app.get(&key, &format!("/v1/events?after={first}&wait=25")).await.expect(200) },
        )
    };
    let second = trigger(&app, &workspace, "call.failed").await;
    let heard = waiting.await.unwrap();
    assert_eq!((heard["data"].as_array().unwrap().len(), &heard["data"][0]["id"]), (1, &json!(second)));
    let fresh = app.workspace().await;
    let empty = app.get(&fresh.live, "/v1/events").await.expect(200);
    assert_eq!(empty["cursor"], "start");
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
async fn readers(app: &Arc<TestApp>, key: &str, count: usize) -> Vec<tokio::task::JoinHandle<Value>> {
    let before = looks(app);
    let readers = (0..count)
        .map(|_| {
            let (app, key) = (app.clone(), key.to_owned());
            tokio::spawn(async move { app.get(&key, "/v1/events?wait=25").await.expect(200) })
        })
        .collect();
    while looks(app) < before + count {
        tokio::task::yield_now().await;
    }
    readers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_wakes_nobody_elses_readers() {
    let app = Arc::new(TestApp::start().await);
    let (mine, other) = (app.workspace().await, app.workspace().await);
    let waiting = readers(&app, &mine.live, 10).await;
    let before = looks(&app);
    for _ in 0..20 {
        trigger(&app, &other, "call.started").await;
        app.post(&mine.test, "/v1/events/trigger", &json!({"type": "call.started"})).await.expect(202);
    }
    // A shared store is read from time to time in any case: other nodes commit, too.
    if !app.app().store.shared() {
        assert_eq!(looks(&app), before, "readers that wait were woken by commits of others");
    }
    let event = trigger(&app, &mine, "call.failed").await;
    for reader in waiting {
        assert_eq!(reader.await.unwrap()["data"][0]["id"], *event);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_of_a_workspace_are_bounded() {
    let app = Arc::new(TestApp::start().await);
    let (mine, other) = (app.workspace().await, app.workspace().await);
    let waiting = readers(&app, &mine.live, 32).await;
    let refused = app.get(&mine.live, "/v1/events?wait=25").await;
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.refused(429, "rate_limited");
    for key in [&mine.test, &other.live] {
        app.get(key, "/v1/events").await.expect(200);
    }
    trigger(&app, &mine, "call.failed").await;
    for reader in waiting {
        assert_eq!(reader.await.unwrap()["data"].as_array().unwrap().len(), 1);
    }
    app.get(&mine.live, "/v1/events").await.expect(200);
}

#[tokio::test]
async fn a_reader_passes_what_belongs_to_the_other_world() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let (context, tenant) = (app.app().context(), workspace.id.parse().unwrap());
    let first = trigger(&app, &workspace, "call.started").await;
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
    app.app().store.tx_alone(work).await.unwrap();
    let last = trigger(&app, &workspace, "call.failed").await;
    let ids = |page: &Value| {
        page["data"].as_array().unwrap().iter().map(|event| text(&event["id"]).to_owned()).collect::<Vec<_>>()
    };
    let page = app.get(&workspace.live, &format!("/v1/events?after={first}")).await.expect(200);
    assert_eq!(ids(&page), std::slice::from_ref(&last));
    assert_eq!(
        ids(&app.get(&workspace.live, "/v1/events?after=start").await.expect(200)),
        [first],
        "a page ends where its look does"
    );
    let (mut seen, mut cursor) = (0, "start".to_owned());
    loop {
        let page =
            app.get(&workspace.test, &format!("/v1/events?after={cursor}&limit=100")).await.expect(200);
        let found = page["data"].as_array().unwrap().len();
        if found == 0 {
            break;
        }
        seen += found;
        cursor = text(&page["cursor"]).to_owned();
    }
    assert_eq!(seen, 2_500);
}

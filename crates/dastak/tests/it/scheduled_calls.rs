//! Calls at a set time: made, shown, placed, cancelled and erased (docs/contract/scheduled-calls.md#states), on the manual
//! clock.

use serde_json::{Value, json};

use crate::app::{Answer, TestApp};
use crate::shows::Shows;
use crate::world::World;

/// A Tuesday, 10:00 in India.
pub const MORNING: &str = "2027-01-05T04:30:00Z";
impl World {
    /// At [`MORNING`].
    pub async fn morning() -> Self {
        Self::since(TestApp::start().await, MORNING).await
    }

    pub async fn post_scheduled(&self, body: &Value) -> Answer {
        self.post("/v1/scheduled-calls", body).await
    }

    /// Schedules a call; its id.
    pub async fn schedule(&self, to: &str, at: &str) -> String {
        self.post_scheduled(&self.order(to, &json!({"scheduledAt": at}))).await.id(201)
    }

    pub async fn scheduled(&self, id: &str) -> Value {
        self.data(&format!("/v1/scheduled-calls/{id}")).await
    }
}

#[track_caller]
pub fn assert_scheduled(call: &Value, status: &str, reason: Value, attempts: i64, next: Value) {
    let shown = (&call["status"], &call["reason"], &call["attempts"], &call["nextAttemptAt"]);
    assert_eq!(shown, (&json!(status), &reason, &json!(attempts), &next), "{call}");
    assert_eq!(call["callId"].is_string(), status == "placed", "{call}");
}

pub const MINUTE: i64 = 60;

#[tokio::test]
async fn a_scheduled_call_is_shown_as_it_was_asked_for() {
    let world = World::morning().await;
    let own = world.get("/v1/numbers").await["data"][0]["number"].clone();
    let body = json!({
        "agentId": world.agent, "toNumber": "098123 45678", "fromNumber": own, "externalRef": "loan-7", "variables": {"name": "Ravi", "due": 4500},
        "metadata": {"order": "A-1"}, "scheduledAt": "2027-01-05T12:00:00+05:30",
    });
    let made = world.post_scheduled(&body).await.expect(201);
    assert!(made.get("warnings").is_none());
    let id = made["data"]["id"].as_str().unwrap();
    assert!(id.starts_with("scall_"));
    let expected = json!({
        "id": id, "agentId": world.agent, "status": "scheduled", "scheduledAt": "2027-01-05T06:30:00.000Z",
        "nextAttemptAt": "2027-01-05T06:30:00.000Z", "attempts": 0, "callId": null, "reason": null, "toNumber": "+919812345678", "fromNumber": own,
        "externalRef": "loan-7", "variables": {"name": "Ravi", "due": 4500}, "metadata": {"order": "A-1"}, "createdAt": made["data"]["createdAt"],
    });
    assert_eq!(made["data"], expected);
    assert_eq!(world.scheduled(id).await, expected);
    let plain = world.scheduled(&world.schedule("+919812345678", "2027-01-05T06:30:00Z").await).await;
    plain.shows(json!({"fromNumber": null, "externalRef": null, "variables": {}, "metadata": {}}));
    world.fetch("/v1/scheduled-calls/scall_nothing").await.not_found();
    let stranger = world.neighbour().await;
    stranger.fetch(&format!("/v1/scheduled-calls/{id}")).await.not_found();
    stranger.delete(&format!("/v1/scheduled-calls/{id}")).await.not_found();
}

#[tokio::test]
async fn the_time_is_from_now_to_30_days_ahead() {
    let world = World::morning().await;
    for (at, status, code) in [
        ("2027-01-05T04:29:00Z", 400, "scheduled_at_in_past"),
        ("2027-02-04T04:31:00Z", 400, "scheduled_at_too_far"),
        ("2027-01-05T06:30:00", 400, "invalid_request"),
        ("tomorrow", 400, "invalid_request"),
    ] {
        let refused = world
            .post_scheduled(&world.order("+919812345678", &json!({"scheduledAt": at})))
            .await
            .refused(status, code);
        assert_eq!(refused["meta"]["field"], "scheduledAt", "{refused}");
    }
    let mut body = world.order("+919812345678", &json!({"scheduledAt": ""}));
    body.as_object_mut().unwrap().remove("scheduledAt");
    world.post_scheduled(&body).await.invalid();
    for at in ["2027-01-05T04:30:00Z", "2027-02-04T04:29:00Z"] {
        world.post_scheduled(&world.order("+919812345678", &json!({"scheduledAt": at}))).await.expect(201);
    }
}

#[tokio::test]
async fn agent_variables_and_numbers_are_checked_at_creation_and_nothing_else_is() {
    let world = World::morning().await;
    let at = "2027-01-05T06:30:00Z";
    let draft = world.draft_agent(&json!({})).await["id"].as_str().unwrap().to_owned();
    let chat = world.agent(&json!({"channel": "chat", "systemPrompt": "Hi."})).await;
    let inbound = world.agent(&json!({"direction": "inbound", "systemPrompt": "Hi."})).await;
    let asks = world.agent(&json!({"systemPrompt": "Greet {{name}}."})).await;
    let with = |change: Value| {
        let mut body = world.order("+919812345678", &json!({"scheduledAt": at}));
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        body
    };
    for (change, status, code) in [
        (json!({"agentId": "agt_nothing"}), 404, "not_found"),
        (json!({"agentId": draft}), 422, "agent_not_published"),
        (json!({"agentId": chat}), 422, "agent_not_call"),
        (json!({"agentId": inbound}), 422, "agent_not_outbound"),
        (json!({"variables": {"a": [1]}}), 400, "invalid_variables"),
        (json!({"agentId": asks}), 422, "missing_required_variables"),
        (json!({"agentId": asks, "variables": {"name": " "}}), 422, "missing_required_variables"),
        (json!({"toNumber": "+14155550123"}), 400, "invalid_request"),
        (json!({"toNumber": "12"}), 400, "invalid_request"),
        (json!({"fromNumber": "+919999999999"}), 400, "from_number_not_owned"),
        (json!({"metadata": {"a": {}}}), 400, "invalid_request"),
    ] {
        world.post_scheduled(&with(change)).await.refused(status, code);
    }
    world.change(&json!({"kybVerified": false})).await;
    world.post_scheduled(&with(json!({}))).await.refused(403, "kyb_required");
    world.change(&json!({"kybVerified": true})).await;
    let listed = world.get("/v1/scheduled-calls").await;
    assert_eq!(listed["data"], json!([]));
    // Wallet, hours, registry and frequency are checked when it is due.
    world.pay(-1_000_000).await;
    world
        .post_scheduled(&with(json!({"toNumber": "+919812342222", "scheduledAt": "2027-01-05T20:00:00Z"})))
        .await
        .expect(201);
    let poor =
        world.app.operator("POST", "/workspaces", &json!({"name": "New", "kybVerified": true})).await.id(201);
    let poor = world.enter(&poor).await;
    let agent = poor.agent(&json!({"systemPrompt": "Hi."})).await;
    let body = json!({"agentId": agent, "toNumber": "+919812345678", "scheduledAt": at});
    poor.post("/v1/scheduled-calls", &body).await.refused(400, "no_phone_number");
}

#[tokio::test]
async fn long_values_are_stored_cut_and_reported() {
    let world = World::morning().await;
    let mut body = world.order("+919812345678", &json!({"scheduledAt": "2027-01-05T06:30:00Z"}));
    body["variables"] = json!({"note": "x".repeat(121)});
    let made = world.post_scheduled(&body).await.expect(201);
    assert_eq!(made["warnings"][0]["code"], "variable_truncated");
    assert_eq!(made["warnings"][0]["field"], "variables.note");
    assert_eq!(
        world.scheduled(made["data"]["id"].as_str().unwrap()).await["variables"]["note"],
        "x".repeat(120)
    );
}

#[tokio::test]
async fn due_with_all_checks_passed_it_is_placed_and_the_call_goes_its_way() {
    let world = World::morning().await;
    let mut body = world.order("+919812345678", &json!({"scheduledAt": "2027-01-05T06:30:00Z"}));
    body["metadata"] = json!({"order": "A-1"});
    let id = world.post_scheduled(&body).await.id(201);
    world.set_clock("2027-01-05T06:29:59Z").await;
    assert_scheduled(
        &world.scheduled(&id).await,
        "scheduled",
        Value::Null,
        0,
        json!("2027-01-05T06:30:00.000Z"),
    );
    world.advance(1).await;
    let placed = world.scheduled(&id).await;
    assert_scheduled(&placed, "placed", Value::Null, 1, Value::Null);
    world.advance(30).await;
    let call = world.data(&format!("/v1/calls/{}", placed["callId"].as_str().unwrap())).await;
    call.shows(
        json!({"status": "completed", "startedAt": "2027-01-05T06:30:00.000Z", "metadata": {"order": "A-1"}}),
    );
    let tenant = world.tenant();
    let events =
        world.app().store.of(tenant).read(move |tx| store::events::list_after(tx, "", 100)).await.unwrap();
    let started = events.iter().find(|event| event.kind == "call.started").expect("call.started");
    let envelope = crate::closed::event(started.envelope.as_deref().unwrap());
    envelope.shows(json!({"data.metadata": {"order": "A-1"}, "livemode": true}));
    // Nothing is tried again.
    world.advance(24 * 60 * MINUTE).await;
    assert_eq!(world.calls().await.len(), 1);
}

#[tokio::test]
async fn what_waits_can_be_cancelled_and_nothing_else() {
    let world = World::morning().await;
    let path = |id: &str| format!("/v1/scheduled-calls/{id}");
    let waiting = world.schedule("+919812345678", "2027-01-05T06:30:00Z").await;
    let cancelled = world.delete(&path(&waiting)).await.data(200);
    assert_scheduled(&cancelled, "cancelled", Value::Null, 0, Value::Null);
    let placed = world.schedule("+919812345678", MORNING).await;
    let failed = world.schedule("+919812349999", MORNING).await;
    world.set_clock("2027-01-05T07:00:00Z").await;
    for id in [&waiting, &placed, &failed] {
        world.delete(&path(id)).await.refused(409, "scheduled_call_not_cancellable");
    }
    assert_scheduled(&world.scheduled(&waiting).await, "cancelled", Value::Null, 0, Value::Null);
    assert_eq!(world.calls().await.len(), 2, "the cancelled one was not dialled");
}

#[tokio::test]
async fn the_list_is_newest_first_by_status_and_page() {
    let world = World::morning().await;
    let mut ids = Vec::new();
    for minute in 0..5 {
        ids.insert(0, world.schedule("+919812345678", &format!("2027-01-05T06:3{minute}:00Z")).await);
    }
    world.delete(&format!("/v1/scheduled-calls/{}", ids[1])).await.expect(200);
    let page = |query: &'static str| {
        let world = &world;
        async move {
            let listed = world.get(&format!("/v1/scheduled-calls{query}")).await;
            listed["data"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(page("").await, ids);
    assert_eq!(page("?limit=2&offset=1").await, ids[1..3]);
    assert_eq!(page("?status=cancelled").await, ids[1..2]);
    assert_eq!(page("?status=scheduled&limit=2&offset=1").await, ids[2..4]);
    assert_eq!(page("?status=placed").await, Vec::<String>::new());
    for query in ["?status=done", "?limit=0", "?limit=201", "?offset=-1"] {
        world.fetch(&format!("/v1/scheduled-calls{query}")).await.invalid();
    }
}

#[tokio::test]
async fn a_test_key_has_its_own_scheduled_calls_which_are_simulated_at_any_hour() {
    let world = World::morning().await;
    let (live, test) = (world.live(), world.test());
    world.operator("PATCH", "", json!({"kybVerified": false, "limits": {"concurrentCalls": 0}})).await;
    world.pay(-1_000_000).await;
    let body = world.order("+919812342222", &json!({"scheduledAt": "2027-01-05T22:00:00+05:30"}));
    let id = world.app.post(test, "/v1/scheduled-calls", &body).await.id(201);
    world.app.get(live, &format!("/v1/scheduled-calls/{id}")).await.not_found();
    world.app.delete(live, &format!("/v1/scheduled-calls/{id}")).await.not_found();
    assert_eq!(world.app.get(live, "/v1/scheduled-calls").await.expect(200)["data"], json!([]));
    world.set_clock("2027-01-05T22:00:11+05:30").await;
    let placed = world.app.get(test, &format!("/v1/scheduled-calls/{id}")).await.data(200);
    assert_scheduled(&placed, "placed", Value::Null, 1, Value::Null);
    let call =
        world.app.get(test, &format!("/v1/calls/{}", placed["callId"].as_str().unwrap())).await.data(200);
    assert_eq!((&call["outcome"], &call["endCause"]), (&json!("simulated"), &json!("agent_ended")));
}

#[tokio::test]
async fn the_timeline_says_why_it_waited_and_what_came_of_it() {
    let world = World::morning().await;
    let id = world.schedule("+919812345678", "2027-01-05T22:00:00+05:30").await;
    world.set_clock("2027-01-06T03:31:00Z").await;
    let timeline = world.data(&format!("/v1/scheduled-calls/{id}/timeline")).await;
    let shown: Vec<String> = timeline
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            format!(
                "{} {} {} {}",
                entry["at"].as_str().unwrap(),
                entry["event"].as_str().unwrap(),
                entry["decision"].as_str().unwrap(),
                entry["reason"]
            )
        })
        .collect();
    assert_eq!(
        shown[1..],
        [
            "2027-01-05T16:30:00.000Z due hold \"outside_calling_window\"",
            "2027-01-06T03:30:00.000Z due dial null",
            "2027-01-06T03:30:00.000Z placed ring null",
            "2027-01-06T03:30:02.000Z answered talk null",
            "2027-01-06T03:30:10.000Z ended finish \"agent_ended\"",
        ]
    );
    let moved = &timeline[1];
    assert_eq!(moved["until"], "2027-01-06T03:30:00.000Z");
    let window =
        moved["checks"].as_array().unwrap().iter().find(|check| check["check"] == "calling_window").unwrap();
    window.shows(json!({"ok": false, "open": false, "opens": "2027-01-06T03:30:00.000Z"}));
    assert!(!timeline.to_string().contains("9812345678"), "no personal data");
    let call = timeline[2]["callId"].as_str().unwrap();
    let calls = world.data(&format!("/v1/calls/{call}/timeline")).await;
    let events: Vec<&str> =
        calls.as_array().unwrap().iter().map(|entry| entry["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["placement", "answered", "ended"]);
    let checked: Vec<&str> =
        calls[0]["checks"].as_array().unwrap().iter().map(|check| check["check"].as_str().unwrap()).collect();
    assert_eq!(checked, ["dnd", "opt_out", "calling_window", "frequency_cap", "consent"]);
    world.app.get(world.test(), &format!("/v1/calls/{call}/timeline")).await.not_found();
}

#[tokio::test]
async fn a_repeated_request_schedules_one_call() {
    let world = World::morning().await;
    let body = world.order("+919812345678", &json!({"scheduledAt": "2027-01-05T06:30:00Z"}));
    let first = world
        .app
        .post_with(world.live(), "/v1/scheduled-calls", &[("idempotency-key", "a")], &body)
        .await
        .expect(201);
    let second =
        world.post_with(world.live(), "/v1/scheduled-calls", &[("idempotency-key", "a")], &body).await;
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(second.expect(201), first);
    assert_eq!(world.get("/v1/scheduled-calls").await["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_restart_keeps_what_is_scheduled() {
    let world = World::morning().await;
    let id = world.schedule("+919812345678", "2027-01-05T06:30:00Z").await;
    let world = world.restart().await;
    world.set_clock("2027-01-05T06:30:00Z").await;
    assert_scheduled(&world.scheduled(&id).await, "placed", Value::Null, 1, Value::Null);
}

#[tokio::test]
async fn an_erased_person_is_not_called_and_leaves_no_trace() {
    let world = World::morning().await;
    let body = json!({"externalRef": "loan-7", "phone": "+919812345678", "name": "Ravi"});
    let contact = world.post("/v1/contacts", &body).await.json["data"]["id"].as_str().unwrap().to_owned();
    let by_number = world.schedule("+919812345678", "2027-01-05T06:30:00Z").await;
    let mut body = world.order("+919812345679", &json!({"scheduledAt": "2027-01-05T06:30:00Z"}));
    body["externalRef"] = json!("loan-7");
    body["variables"] = json!({"name": "Ravi"});
    body["metadata"] = json!({"note": "Ravi"});
    let by_reference = world.post_scheduled(&body).await.id(201);
    let other = world.schedule("+919812345677", "2027-01-05T06:30:00Z").await;
    world.erase(&contact).await.expect(200);
    for id in [&by_number, &by_reference] {
        let erased = world.scheduled(id).await;
        assert_scheduled(&erased, "cancelled", json!("erased"), 0, Value::Null);
        erased.shows(json!({"toNumber": "[erased]", "externalRef": null, "variables": {}, "metadata": {}}));
    }
    world.set_clock("2027-01-05T07:00:00Z").await;
    assert_scheduled(&world.scheduled(&other).await, "placed", Value::Null, 1, Value::Null);
    assert_eq!(world.calls().await.len(), 1);
}

//! Calls at a set time: made, shown, placed, cancelled and erased (docs/contract/scheduled-calls.md#states), on the manual
//! clock.

use serde_json::{Value, json};

use crate::agents::{create, create_active};
use crate::app::{Answer, TestApp, Workspace};

/// A Tuesday, 10:00 in India.
pub const MORNING: &str = "2027-01-05T04:30:00Z";
pub const MINUTE: i64 = 60;

pub struct Stage {
    pub app: TestApp,
    pub workspace: Workspace,
    pub agent: String,
}

impl Stage {
    pub async fn new() -> Self {
        let app = TestApp::start().await;
        app.set_clock(MORNING).await;
        let workspace = app.workspace().await;
        let agent = create_active(&app, &workspace, &json!({"systemPrompt": "Say hello."})).await;
        Self { app, workspace, agent }
    }

    pub fn body(&self, to: &str, at: &str) -> Value {
        json!({"agentId": self.agent, "toNumber": to, "scheduledAt": at})
    }

    pub async fn post(&self, body: &Value) -> Answer {
        self.app.post(&self.workspace.live, "/v1/scheduled-calls", body).await
    }

    /// Schedules a call; its id.
    pub async fn schedule(&self, to: &str, at: &str) -> String {
        let made = self.post(&self.body(to, at)).await.expect(201);
        made["data"]["id"].as_str().unwrap().to_owned()
    }

    pub async fn get(&self, id: &str) -> Value {
        self.app.get(&self.workspace.live, &format!("/v1/scheduled-calls/{id}")).await.expect(200)["data"]
            .clone()
    }

    pub async fn operator(&self, method: &str, path: &str, body: Value) -> Value {
        self.app.operator(method, &format!("/workspaces/{}{path}", self.workspace.id), &body).await.json
    }

    pub async fn calls(&self) -> Vec<Value> {
        self.app.get(&self.workspace.live, "/v1/calls").await.expect(200)["data"].as_array().unwrap().clone()
    }

    #[track_caller]
    pub fn is(call: &Value, status: &str, reason: Value, attempts: i64, next: Value) {
        let shown = (&call["status"], &call["reason"], &call["attempts"], &call["nextAttemptAt"]);
        assert_eq!(shown, (&json!(status), &reason, &json!(attempts), &next), "{call}");
        assert_eq!(call["callId"].is_string(), status == "placed", "{call}");
    }
}

#[tokio::test]
async fn a_scheduled_call_is_shown_as_it_was_asked_for() {
    let stage = Stage::new().await;
    let own =
        stage.app.get(&stage.workspace.live, "/v1/numbers").await.expect(200)["data"][0]["number"].clone();
    let body = json!({
        "agentId": stage.agent, "toNumber": "098123 45678", "fromNumber": own, "externalRef": "loan-7", "variables": {"name": "Ravi", "due": 4500},
        "metadata": {"order": "A-1"}, "scheduledAt": "2027-01-05T12:00:00+05:30",
    });
    let made = stage.post(&body).await.expect(201);
    assert!(made.get("warnings").is_none());
    let id = made["data"]["id"].as_str().unwrap();
    assert!(id.starts_with("scall_"));
    let expected = json!({
        "id": id, "agentId": stage.agent, "status": "scheduled", "scheduledAt": "2027-01-05T06:30:00.000Z",
        "nextAttemptAt": "2027-01-05T06:30:00.000Z", "attempts": 0, "callId": null, "reason": null, "toNumber": "+919812345678", "fromNumber": own,
        "externalRef": "loan-7", "variables": {"name": "Ravi", "due": 4500}, "metadata": {"order": "A-1"}, "createdAt": made["data"]["createdAt"],
    });
    assert_eq!(made["data"], expected);
    assert_eq!(stage.get(id).await, expected);
    let plain = stage.get(&stage.schedule("+919812345678", "2027-01-05T06:30:00Z").await).await;
    assert_eq!(
        (&plain["fromNumber"], &plain["externalRef"], &plain["variables"], &plain["metadata"]),
        (&Value::Null, &Value::Null, &json!({}), &json!({}))
    );
    stage.app.get(&stage.workspace.live, "/v1/scheduled-calls/scall_nothing").await.refused(404, "not_found");
    let stranger = stage.app.workspace().await;
    stage.app.get(&stranger.live, &format!("/v1/scheduled-calls/{id}")).await.refused(404, "not_found");
    stage.app.delete(&stranger.live, &format!("/v1/scheduled-calls/{id}")).await.refused(404, "not_found");
}

#[tokio::test]
async fn the_time_is_from_now_to_30_days_ahead() {
    let stage = Stage::new().await;
    for (at, status, code) in [
        ("2027-01-05T04:29:00Z", 400, "scheduled_at_in_past"),
        ("2027-02-04T04:31:00Z", 400, "scheduled_at_too_far"),
        ("2027-01-05T06:30:00", 400, "invalid_request"),
        ("tomorrow", 400, "invalid_request"),
    ] {
        let refused = stage.post(&stage.body("+919812345678", at)).await.refused(status, code);
        assert_eq!(refused["meta"]["field"], "scheduledAt", "{refused}");
    }
    let mut body = stage.body("+919812345678", "");
    body.as_object_mut().unwrap().remove("scheduledAt");
    stage.post(&body).await.refused(400, "invalid_request");
    for at in ["2027-01-05T04:30:00Z", "2027-02-04T04:29:00Z"] {
        stage.post(&stage.body("+919812345678", at)).await.expect(201);
    }
}

#[tokio::test]
async fn agent_variables_and_numbers_are_checked_at_creation_and_nothing_else_is() {
    let stage = Stage::new().await;
    let (app, workspace) = (&stage.app, &stage.workspace);
    let at = "2027-01-05T06:30:00Z";
    let draft = create(app, workspace, &json!({})).await["id"].as_str().unwrap().to_owned();
    let chat = create_active(app, workspace, &json!({"channel": "chat", "systemPrompt": "Hi."})).await;
    let inbound =
        create_active(app, workspace, &json!({"direction": "inbound", "systemPrompt": "Hi."})).await;
    let asks = create_active(app, workspace, &json!({"systemPrompt": "Greet {{name}}."})).await;
    let with = |change: Value| {
        let mut body = stage.body("+919812345678", at);
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
        stage.post(&with(change)).await.refused(status, code);
    }
    stage.operator("PATCH", "", json!({"kybVerified": false})).await;
    stage.post(&with(json!({}))).await.refused(403, "kyb_required");
    stage.operator("PATCH", "", json!({"kybVerified": true})).await;
    let listed = app.get(&workspace.live, "/v1/scheduled-calls").await.expect(200);
    assert_eq!(listed["data"], json!([]));
    // Wallet, hours, registry and frequency are checked when it is due.
    stage
        .operator(
            "POST",
            "/wallet/entries",
            json!({"kind": "adjustment", "amountMinor": -1_000_000, "reference": "r"}),
        )
        .await;
    stage
        .post(&with(json!({"toNumber": "+919812342222", "scheduledAt": "2027-01-05T20:00:00Z"})))
        .await
        .expect(201);
    let poor = app
        .operator("POST", "/workspaces", &json!({"name": "New", "kybVerified": true}))
        .await
        .expect(201)["data"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let live = app.key(&poor, "live", json!("all")).await;
    let numberless = Workspace { id: poor, live: live.clone(), test: String::new() };
    let agent = create_active(app, &numberless, &json!({"systemPrompt": "Hi."})).await;
    let body = json!({"agentId": agent, "toNumber": "+919812345678", "scheduledAt": at});
    app.post(&live, "/v1/scheduled-calls", &body).await.refused(400, "no_phone_number");
}

#[tokio::test]
async fn long_values_are_stored_cut_and_reported() {
    let stage = Stage::new().await;
    let mut body = stage.body("+919812345678", "2027-01-05T06:30:00Z");
    body["variables"] = json!({"note": "x".repeat(121)});
    let made = stage.post(&body).await.expect(201);
    assert_eq!(made["warnings"][0]["code"], "variable_truncated");
    assert_eq!(made["warnings"][0]["field"], "variables.note");
    assert_eq!(stage.get(made["data"]["id"].as_str().unwrap()).await["variables"]["note"], "x".repeat(120));
}

#[tokio::test]
async fn due_with_all_checks_passed_it_is_placed_and_the_call_goes_its_way() {
    let stage = Stage::new().await;
    let mut body = stage.body("+919812345678", "2027-01-05T06:30:00Z");
    body["metadata"] = json!({"order": "A-1"});
    let id = stage.post(&body).await.expect(201)["data"]["id"].as_str().unwrap().to_owned();
    stage.app.set_clock("2027-01-05T06:29:59Z").await;
    Stage::is(&stage.get(&id).await, "scheduled", Value::Null, 0, json!("2027-01-05T06:30:00.000Z"));
    stage.app.advance(1).await;
    let placed = stage.get(&id).await;
    Stage::is(&placed, "placed", Value::Null, 1, Value::Null);
    stage.app.advance(30).await;
    let call = stage
        .app
        .get(&stage.workspace.live, &format!("/v1/calls/{}", placed["callId"].as_str().unwrap()))
        .await
        .expect(200)["data"]
        .clone();
    assert_eq!(
        (&call["status"], &call["startedAt"], &call["metadata"]),
        (&json!("completed"), &json!("2027-01-05T06:30:00.000Z"), &json!({"order": "A-1"}))
    );
    let tenant = stage.workspace.id.parse().unwrap();
    let events = stage
        .app
        .app()
        .store
        .of(tenant)
        .read(move |tx| store::events::list_after(tx, "", 100))
        .await
        .unwrap();
    let started = events.iter().find(|event| event.kind == "call.started").expect("call.started");
    let envelope = crate::closed::event(started.envelope.as_deref().unwrap());
    assert_eq!(
        (&envelope["data"]["metadata"], &envelope["livemode"]),
        (&json!({"order": "A-1"}), &json!(true))
    );
    // Nothing is tried again.
    stage.app.advance(24 * 60 * MINUTE).await;
    assert_eq!(stage.calls().await.len(), 1);
}

#[tokio::test]
async fn what_waits_can_be_cancelled_and_nothing_else() {
    let stage = Stage::new().await;
    let path = |id: &str| format!("/v1/scheduled-calls/{id}");
    let waiting = stage.schedule("+919812345678", "2027-01-05T06:30:00Z").await;
    let cancelled =
        stage.app.delete(&stage.workspace.live, &path(&waiting)).await.expect(200)["data"].clone();
    Stage::is(&cancelled, "cancelled", Value::Null, 0, Value::Null);
    let placed = stage.schedule("+919812345678", MORNING).await;
    let failed = stage.schedule("+919812349999", MORNING).await;
    stage.app.set_clock("2027-01-05T07:00:00Z").await;
    for id in [&waiting, &placed, &failed] {
        stage
            .app
            .delete(&stage.workspace.live, &path(id))
            .await
            .refused(409, "scheduled_call_not_cancellable");
    }
    Stage::is(&stage.get(&waiting).await, "cancelled", Value::Null, 0, Value::Null);
    assert_eq!(stage.calls().await.len(), 2, "the cancelled one was not dialled");
}

#[tokio::test]
async fn the_list_is_newest_first_by_status_and_page() {
    let stage = Stage::new().await;
    let mut ids = Vec::new();
    for minute in 0..5 {
        ids.insert(0, stage.schedule("+919812345678", &format!("2027-01-05T06:3{minute}:00Z")).await);
    }
    stage.app.delete(&stage.workspace.live, &format!("/v1/scheduled-calls/{}", ids[1])).await.expect(200);
    let page = |query: &'static str| {
        let stage = &stage;
        async move {
            let listed = stage
                .app
                .get(&stage.workspace.live, &format!("/v1/scheduled-calls{query}"))
                .await
                .expect(200);
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
        stage
            .app
            .get(&stage.workspace.live, &format!("/v1/scheduled-calls{query}"))
            .await
            .refused(400, "invalid_request");
    }
}

#[tokio::test]
async fn a_test_key_has_its_own_scheduled_calls_which_are_simulated_at_any_hour() {
    let stage = Stage::new().await;
    let (live, test) = (&stage.workspace.live, &stage.workspace.test);
    stage.operator("PATCH", "", json!({"kybVerified": false, "limits": {"concurrentCalls": 0}})).await;
    stage
        .operator(
            "POST",
            "/wallet/entries",
            json!({"kind": "adjustment", "amountMinor": -1_000_000, "reference": "r"}),
        )
        .await;
    let body = stage.body("+919812342222", "2027-01-05T22:00:00+05:30");
    let id = stage.app.post(test, "/v1/scheduled-calls", &body).await.expect(201)["data"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    stage.app.get(live, &format!("/v1/scheduled-calls/{id}")).await.refused(404, "not_found");
    stage.app.delete(live, &format!("/v1/scheduled-calls/{id}")).await.refused(404, "not_found");
    assert_eq!(stage.app.get(live, "/v1/scheduled-calls").await.expect(200)["data"], json!([]));
    stage.app.set_clock("2027-01-05T22:00:11+05:30").await;
    let placed = stage.app.get(test, &format!("/v1/scheduled-calls/{id}")).await.expect(200)["data"].clone();
    Stage::is(&placed, "placed", Value::Null, 1, Value::Null);
    let call = stage
        .app
        .get(test, &format!("/v1/calls/{}", placed["callId"].as_str().unwrap()))
        .await
        .expect(200)["data"]
        .clone();
    assert_eq!((&call["outcome"], &call["endCause"]), (&json!("simulated"), &json!("agent_ended")));
}

#[tokio::test]
async fn the_timeline_says_why_it_waited_and_what_came_of_it() {
    let stage = Stage::new().await;
    let id = stage.schedule("+919812345678", "2027-01-05T22:00:00+05:30").await;
    stage.app.set_clock("2027-01-06T03:31:00Z").await;
    let timeline =
        stage.app.get(&stage.workspace.live, &format!("/v1/scheduled-calls/{id}/timeline")).await.expect(200)
            ["data"]
            .clone();
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
    assert_eq!(
        (&window["ok"], &window["open"], &window["opens"]),
        (&json!(false), &json!(false), &json!("2027-01-06T03:30:00.000Z"))
    );
    assert!(!timeline.to_string().contains("9812345678"), "no personal data");
    let call = timeline[2]["callId"].as_str().unwrap();
    let calls = stage.app.get(&stage.workspace.live, &format!("/v1/calls/{call}/timeline")).await.expect(200)
        ["data"]
        .clone();
    let events: Vec<&str> =
        calls.as_array().unwrap().iter().map(|entry| entry["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["placement", "answered", "ended"]);
    let checked: Vec<&str> =
        calls[0]["checks"].as_array().unwrap().iter().map(|check| check["check"].as_str().unwrap()).collect();
    assert_eq!(checked, ["dnd", "opt_out", "calling_window", "frequency_cap", "consent"]);
    stage
        .app
        .get(&stage.workspace.test, &format!("/v1/calls/{call}/timeline"))
        .await
        .refused(404, "not_found");
}

#[tokio::test]
async fn a_repeated_request_schedules_one_call() {
    let stage = Stage::new().await;
    let body = stage.body("+919812345678", "2027-01-05T06:30:00Z");
    let first = stage
        .app
        .post_with(&stage.workspace.live, "/v1/scheduled-calls", &[("idempotency-key", "a")], &body)
        .await
        .expect(201);
    let second = stage
        .app
        .post_with(&stage.workspace.live, "/v1/scheduled-calls", &[("idempotency-key", "a")], &body)
        .await;
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(second.expect(201), first);
    assert_eq!(
        stage.app.get(&stage.workspace.live, "/v1/scheduled-calls").await.expect(200)["data"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_restart_keeps_what_is_scheduled() {
    let stage = Stage::new().await;
    let id = stage.schedule("+919812345678", "2027-01-05T06:30:00Z").await;
    let Stage { app, workspace, agent } = stage;
    let stage = Stage { app: app.restart().await, workspace, agent };
    stage.app.set_clock("2027-01-05T06:30:00Z").await;
    Stage::is(&stage.get(&id).await, "placed", Value::Null, 1, Value::Null);
}

#[tokio::test]
async fn an_erased_person_is_not_called_and_leaves_no_trace() {
    let stage = Stage::new().await;
    let body = json!({"externalRef": "loan-7", "phone": "+919812345678", "name": "Ravi"});
    let contact = stage.app.post(&stage.workspace.live, "/v1/contacts", &body).await.json["data"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let by_number = stage.schedule("+919812345678", "2027-01-05T06:30:00Z").await;
    let mut body = stage.body("+919812345679", "2027-01-05T06:30:00Z");
    body["externalRef"] = json!("loan-7");
    body["variables"] = json!({"name": "Ravi"});
    body["metadata"] = json!({"note": "Ravi"});
    let by_reference = stage.post(&body).await.expect(201)["data"]["id"].as_str().unwrap().to_owned();
    let other = stage.schedule("+919812345677", "2027-01-05T06:30:00Z").await;
    stage
        .app
        .post(&stage.workspace.live, &format!("/v1/contacts/{contact}/erase"), &json!({}))
        .await
        .expect(200);
    for id in [&by_number, &by_reference] {
        let erased = stage.get(id).await;
        Stage::is(&erased, "cancelled", json!("erased"), 0, Value::Null);
        assert_eq!(
            (&erased["toNumber"], &erased["externalRef"], &erased["variables"], &erased["metadata"]),
            (&json!("[erased]"), &Value::Null, &json!({}), &json!({}))
        );
    }
    stage.app.set_clock("2027-01-05T07:00:00Z").await;
    Stage::is(&stage.get(&other).await, "placed", Value::Null, 1, Value::Null);
    assert_eq!(stage.calls().await.len(), 1);
}

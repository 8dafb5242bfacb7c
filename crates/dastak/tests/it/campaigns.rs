//! Campaigns: settings, status, summary, preflight (docs/contract/campaigns.md).

use domain::campaign::{RunSource, RunStatus};
use domain::time::DAY;
use serde_json::{Value, json};
use store::campaigns::runs::{self, RunRow};

use crate::shows::Shows;
use crate::world::{World, names_field};

fn without(mut object: Value, names: &[&str]) -> Value {
    for name in names {
        object.as_object_mut().unwrap().remove(*name);
    }
    object
}

#[tokio::test]
async fn a_new_campaign_has_its_defaults() {
    let world = World::open().await;
    let made = world.post("/v1/campaigns", &json!({})).await.data(201);
    let id = made["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("cmp_"));
    let expected = json!({
        "id": id, "name": "", "channel": "voice", "workflowType": "collections", "dltTemplateRef": null, "agentId": null,
        "status": "draft", "callingList": null, "createdAt": made["createdAt"], "updatedAt": made["createdAt"],
        "settings": {
            "fromNumber": null, "timezone": null, "startAt": null, "endAt": null, "dailyFrom": null, "dailyTo": null,
            "retryCount": 0, "cooldownMinutes": 0, "emailNotifications": [], "callerIds": [], "maxConcurrentCalls": null,
        },
    });
    assert_eq!(made, expected);
    assert_eq!(world.get(&format!("/v1/campaigns/{id}")).await["data"], expected);
    assert_eq!(world.get("/v1/campaigns").await["data"], json!([expected]));
    let seen = world.app.get(world.test(), &format!("/v1/campaigns/{id}")).await.expect(200);
    assert_eq!(seen["data"], expected, "test keys read campaigns");
}

#[tokio::test]
async fn settings_come_back_and_change_one_by_one() {
    let world = World::open().await;
    let own = world.own_number().await;
    let settings = json!({
        "fromNumber": own.replace("+91", "0"), "timezone": "asia/kolkata", "startAt": "2026-12-01T00:00:00+05:30", "endAt": "2026-12-31T18:30:00Z",
        "dailyFrom": "10:00", "dailyTo": "18:30", "retryCount": 2, "cooldownMinutes": 90,
        "emailNotifications": [" asha@example.in ", "Asha@Example.in"], "callerIds": [{"number": own, "dailyCap": 200}], "maxConcurrentCalls": 5,
    });
    let body = json!({"name": "जनवरी", "workflowType": "onboarding", "dltTemplateRef": "1107", "settings": settings});
    let path = world.new_campaign(body).await;
    let made = world.data(&path).await;
    let expected = json!({
        "fromNumber": own, "timezone": "Asia/Kolkata", "startAt": "2026-11-30T18:30:00.000Z", "endAt": "2026-12-31T18:30:00.000Z",
        "dailyFrom": "10:00", "dailyTo": "18:30", "retryCount": 2, "cooldownMinutes": 90,
        "emailNotifications": ["asha@example.in"], "callerIds": [{"number": own, "dailyCap": 200}], "maxConcurrentCalls": 5,
    });
    assert_eq!(made["settings"], expected);
    made.shows(json!({"name": "जनवरी", "workflowType": "onboarding", "dltTemplateRef": "1107", "agentId": world.agent}));

    // What is absent stays; null clears.
    let one = world.put(&path, &json!({"settings": {"retryCount": 0}})).await.data(200);
    let mut changed = expected.clone();
    changed["retryCount"] = json!(0);
    assert_eq!(one["settings"], changed);
    let cleared = json!({
        "name": "", "dltTemplateRef": null,
        "settings": {"fromNumber": null, "timezone": null, "startAt": null, "endAt": null, "dailyFrom": null, "dailyTo": null, "emailNotifications": [], "callerIds": [], "maxConcurrentCalls": null},
    });
    let cleared = world.put(&path, &cleared).await.data(200);
    assert_eq!(
        cleared["settings"],
        json!({
            "fromNumber": null, "timezone": null, "startAt": null, "endAt": null, "dailyFrom": null, "dailyTo": null,
            "retryCount": 0, "cooldownMinutes": 90, "emailNotifications": [], "callerIds": [], "maxConcurrentCalls": null,
        })
    );
    assert_eq!((&cleared["name"], &cleared["dltTemplateRef"]), (&json!(""), &Value::Null));
    let nothing = world.put(&path, &json!({})).await.data(200);
    assert_eq!(without(nothing, &["updatedAt"]), without(cleared, &["updatedAt"]));
}

#[tokio::test]
async fn a_wrong_setting_is_named_and_changes_nothing() {
    let world = World::open().await;
    let own = world.own_number().await;
    let path = world
        .new_campaign(json!({"settings": {"dailyFrom": "10:00", "startAt": "2026-12-01T00:00:00Z"}}))
        .await;
    let before = world.get(&path).await;
    let many = |count: usize| (0..count).map(|n| json!(format!("a{n}@example.in"))).collect::<Vec<_>>();
    for (settings, field, code) in [
        (json!({"fromNumber": "9812345678"}), "settings.fromNumber", "from_number_not_owned"),
        (json!({"fromNumber": 5}), "settings.fromNumber", "invalid_request"),
        (json!({"timezone": "India"}), "settings.timezone", "invalid_request"),
        (json!({"startAt": "2026-12-01T00:00:00"}), "settings.startAt", "invalid_request"),
        (json!({"endAt": "2026-12-01T00:00:00Z"}), "settings.endAt", "invalid_request"),
        (json!({"dailyFrom": "9:00"}), "settings.dailyFrom", "invalid_request"),
        (json!({"dailyFrom": "24:00"}), "settings.dailyFrom", "invalid_request"),
        (json!({"dailyTo": "25:00"}), "settings.dailyTo", "invalid_request"),
        (json!({"dailyTo": "10:00"}), "settings.dailyTo", "invalid_request"),
        (json!({"retryCount": 11}), "settings.retryCount", "invalid_request"),
        (json!({"retryCount": -1}), "settings.retryCount", "invalid_request"),
        (json!({"cooldownMinutes": -1}), "settings.cooldownMinutes", "invalid_request"),
        (json!({"cooldownMinutes": 1.5}), "settings.cooldownMinutes", "invalid_request"),
        (
            json!({"emailNotifications": ["asha@example.in", "asha"]}),
            "settings.emailNotifications[1]",
            "invalid_request",
        ),
        (json!({"emailNotifications": many(21)}), "settings.emailNotifications", "invalid_request"),
        (
            json!({"callerIds": [{"number": "9812345678", "dailyCap": 1}]}),
            "settings.callerIds[0].number",
            "from_number_not_owned",
        ),
        (
            json!({"callerIds": [{"number": own, "dailyCap": 0}]}),
            "settings.callerIds[0].dailyCap",
            "invalid_request",
        ),
        (
            json!({"callerIds": [{"number": own, "dailyCap": 1}, {"number": own, "dailyCap": 2}]}),
            "settings.callerIds[1].number",
            "invalid_request",
        ),
        (
            json!({"callerIds": vec![json!({"number": own, "dailyCap": 1}); 21]}),
            "settings.callerIds",
            "invalid_request",
        ),
        (json!({"maxConcurrentCalls": 0}), "settings.maxConcurrentCalls", "invalid_request"),
    ] {
        let body = json!({"name": "Changed", "settings": settings});
        names_field(&world.put(&path, &body).await.refused(400, code), field);
    }
    for (body, field) in [
        (json!({"name": "a".repeat(121)}), "name"),
        (json!({"dltTemplateRef": "a".repeat(201)}), "dltTemplateRef"),
    ] {
        world.put(&path, &body).await.invalid_field(field);
    }
    assert_eq!(world.get(&path).await, before, "refusals change nothing");
    let new = json!({"workflowType": "sales"});
    world.post("/v1/campaigns", &new).await.invalid_field("workflowType");
    assert_eq!(world.get("/v1/campaigns").await["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_channel_is_voice_until_another_is_connected() {
    let world = World::open().await;
    let new = async |body: Value| world.post("/v1/campaigns", &body).await;
    new(json!({"channel": "sms"})).await.refused(400, "channel_not_supported");
    new(json!({"channel": "chatapp", "chatapp": {"templateId": "tpl_1"}}))
        .await
        .refused(409, "chatapp_not_connected");
    new(json!({"chatapp": {"templateId": "tpl_1"}})).await.refused(422, "chatapp_config_unexpected");
    new(json!({"channel": "voice", "chatapp": {}})).await.refused(422, "chatapp_config_unexpected");
    let path = world.new_campaign(json!({})).await;
    world.put(&path, &json!({"chatapp": {}})).await.refused(422, "chatapp_config_unexpected");
    world.change(&json!({"features": {"chatappCampaigns": false}})).await;
    new(json!({"channel": "chatapp", "chatapp": {}})).await.refused(403, "feature_disabled");
    assert_eq!(world.get("/v1/campaigns").await["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_campaign_takes_a_published_outbound_call_agent_and_keeps_it() {
    let world = World::open().await;
    let other = world.neighbour().await;
    let id = |agent: Value| agent["id"].as_str().unwrap().to_owned();
    let draft = id(world.draft_agent(&json!({})).await);
    let inbound = world.agent(&json!({"direction": "inbound"})).await;
    let chat = world.agent(&json!({"channel": "chat"})).await;
    let foreign = other.agent(&json!({})).await;
    for (agent, code) in [
        (draft.as_str(), "agent_not_published"),
        ("agt_01jzzzzzzzzzzzzzzzzzzzzzzz", "agent_not_published"),
        ("someone", "agent_not_published"),
        (foreign.as_str(), "agent_not_published"),
        (chat.as_str(), "agent_not_call"),
        (inbound.as_str(), "agent_not_outbound"),
    ] {
        world.post("/v1/campaigns", &json!({"agentId": agent})).await.refused(422, code);
    }
    let path = world.new_campaign(json!({})).await;
    world.put(&path, &json!({"agentId": world.agent, "name": "Same agent"})).await.expect(200);
    for agent in [json!(draft), json!(null), json!("someone")] {
        let refused = world.put(&path, &json!({"agentId": agent, "name": "Other agent"})).await;
        assert_eq!(refused.conflict()["meta"]["field"], "agentId");
    }
    assert_eq!(world.get(&path).await["data"]["name"], "Same agent");
    let without = world.new_campaign(json!({"agentId": null})).await;
    world.put(&without, &json!({"agentId": null})).await.expect(200);
    let draft = world.draft_agent(&json!({})).await;
    world.put(&without, &json!({"agentId": draft["id"]})).await.refused(422, "agent_not_published");
    let given = world.put(&without, &json!({"agentId": world.agent})).await.expect(200);
    assert_eq!(given["data"]["agentId"], json!(world.agent), "a draft without an agent takes one");
    world.put(&without, &json!({"agentId": null})).await.conflict();
}

#[tokio::test]
async fn every_move_of_the_status_is_allowed_or_refused() {
    let world = World::open().await;
    const ALL: [&str; 5] = ["draft", "active", "paused", "completed", "archived"];
    for (way, allowed) in [
        (&[][..], &["draft", "active", "archived"][..]),
        (&["active"], &["active", "paused", "completed"]),
        (&["active", "paused"], &["draft", "active", "paused", "completed", "archived"]),
        (&["active", "completed"], &["completed", "archived"]),
        (&["archived"], &["archived"]),
    ] {
        for to in ALL {
            // Rows that wait for a far start, so that no dial changes the status meanwhile.
            let later = json!({"settings": {"startAt": "2027-06-01T00:00:00Z"}});
            let path = world.new_campaign(later).await;
            let rows = json!({"contacts": [{"phone": "9812345678"}]});
            world.post(&format!("{path}/contacts"), &rows).await.expect(200);
            for step in way {
                world.set_status(&path, step).await.expect(200);
            }
            let before = world.get(&path).await["data"]["status"].clone();
            let answer = world.set_status(&path, to).await;
            if allowed.contains(&to) {
                assert_eq!(answer.expect(200)["data"]["status"], to, "{way:?} to {to}");
            } else {
                answer.conflict();
                assert_eq!(world.get(&path).await["data"]["status"], before, "{way:?} to {to}");
            }
            if world.get(&path).await["data"]["status"] == "active" {
                world.set_status(&path, "paused").await.expect(200);
            }
        }
    }
    let path = world.new_campaign(json!({"settings": {"dailyFrom": "22:00", "dailyTo": "06:00"}})).await;
    world.set_status(&path, "running").await.invalid_field("status");
}

#[tokio::test]
async fn the_moments_of_a_campaign_stand_in_its_summary() {
    let world = World::open().await;
    let path = world.new_campaign(json!({"settings": {"startAt": "2027-06-01T00:00:00Z"}})).await;
    let summary = async || world.data(&format!("{path}/summary")).await;
    let created = world.get(&path).await["data"]["createdAt"].clone();
    assert_eq!(
        summary().await,
        json!({
            "progress": {"total": 0, "reached": 0, "inProgress": 0, "unreached": 0, "held": 0, "queued": 0, "invalid": 0, "retryable": 0, "blocked": 0},
            "heldByReason": {}, "funnel": {"contacted": 0, "advancing": 0, "won": 0, "lost": 0}, "winMetric": {"label": "Paid", "count": 0},
            "connectRate": null, "avgCallSeconds": null, "spentMinor": 0, "costPerOutcomeMinor": null,
            "lifecycle": {"createdAt": created, "startedAt": null, "lastCallAt": null, "completedAt": null},
        })
    );
    let rows = json!({"contacts": [{"phone": "9812345678"}, {"phone": "98123 45678"}, {"phone": "x"}, {"phone": "9812345679"}]});
    world.post(&format!("{path}/contacts"), &rows).await.expect(200);
    world.advance(60).await;
    let started = world.now().await;
    world.set_status(&path, "active").await.expect(200);
    world.advance(60).await;
    world.set_status(&path, "paused").await.expect(200);
    world.set_status(&path, "active").await.expect(200);
    let completed = world.now().await;
    world.set_status(&path, "completed").await.expect(200);
    let done = summary().await;
    done["progress"].shows(json!({"total": 4, "queued": 2, "invalid": 2}));
    done.shows(json!({"lifecycle": {"createdAt": created, "startedAt": started, "lastCallAt": null, "completedAt": completed}}));
    let events = world.data("/v1/events?after=start").await;
    let finished: Vec<&Value> =
        events.as_array().unwrap().iter().filter(|event| event["type"] == "campaign.finished").collect();
    assert_eq!(finished.len(), 1);
    let id = path.rsplit('/').next().unwrap();
    assert_eq!(
        finished[0]["data"],
        json!({"campaignId": id, "name": "January", "agentId": world.agent, "reason": "requested", "finishedAt": completed})
    );
}

#[tokio::test]
async fn publishing_needs_an_agent_that_can_call() {
    let world = World::open().await;
    let nobody = world.new_campaign(json!({"agentId": null})).await;
    world.set_status(&nobody, "active").await.refused(422, "agent_not_published");
    let path = world.new_campaign(json!({})).await;
    let agent = format!("/v1/agents/{}/status", world.agent);
    world.post(&agent, &json!({"status": "draft"})).await.expect(200);
    world.set_status(&path, "active").await.refused(422, "agent_not_published");
    assert_eq!(world.get(&path).await["data"]["status"], "draft");
    world.post(&agent, &json!({"status": "active"})).await.expect(200);
    world.put(&path, &json!({"settings": {"startAt": "2027-06-01T00:00:00Z"}})).await.expect(200);
    world.set_status(&path, "active").await.expect(200);
}

#[tokio::test]
async fn an_active_campaign_is_paused_before_it_is_deleted() {
    let world = World::open().await;
    let path = world.new_campaign(json!({"settings": {"startAt": "2027-06-01T00:00:00Z"}})).await;
    world.set_list(&path, json!([{"phone": "9812345678"}])).await.expect(200);
    world.set_status(&path, "active").await.expect(200);
    world.delete(&path).await.conflict();
    world.set_status(&path, "paused").await.expect(200);
    let id = path.rsplit('/').next().unwrap();
    let gone = world.delete(&path).await.expect(200);
    assert_eq!(gone["data"], json!({"id": id, "deleted": true}));
    for path in ["", "/summary", "/contacts", "/runs"].map(|more| format!("{path}{more}")) {
        world.fetch(&path).await.not_found();
    }
    world.delete(&path).await.not_found();
    assert_eq!(world.get("/v1/campaigns").await["data"], json!([]));
}

#[tokio::test]
async fn what_a_campaign_uses_cannot_be_taken_away() {
    let world = World::open().await;
    let numbers = format!("/workspaces/{}/numbers", world.workspace.id);
    let second = world.app.operator("POST", &numbers, &json!({"number": "+918012345678"})).await.data(201);
    let own = world.get("/v1/numbers").await["data"][0].clone();
    let number = |row: &Value| row["number"].as_str().unwrap().to_owned();
    let settings =
        json!({"fromNumber": number(&own), "callerIds": [{"number": number(&second), "dailyCap": 5}]});
    let path = world.new_campaign(json!({"settings": settings})).await;
    let id = path.rsplit('/').next().unwrap();
    let release = async |row: &Value| {
        world
            .app
            .operator("DELETE", &format!("{numbers}/{}", row["id"].as_str().unwrap()), &Value::Null)
            .await
    };
    let drop_agent = async || world.delete(&format!("/v1/agents/{}", world.agent)).await;
    for row in [&own, &second] {
        assert_eq!(release(row).await.conflict()["meta"]["campaignIds"], json!([id]));
    }
    assert_eq!(drop_agent().await.refused(409, "agent_in_use")["meta"]["campaignIds"], json!([id]));
    assert_eq!(world.get("/v1/numbers").await["data"].as_array().unwrap().len(), 2);
    // Another workspace's campaign with the same text in it does not count.
    world.put(&path, &json!({"settings": {"callerIds": []}})).await.expect(200);
    release(&second).await.expect(200);
    world.set_status(&path, "archived").await.expect(200);
    release(&own).await.expect(200);
    drop_agent().await.expect(200);
    assert_eq!(world.get(&path).await["data"]["agentId"], json!(world.agent), "what was is still told");
}

#[tokio::test]
async fn test_keys_read_campaigns_and_change_none() {
    let world = World::open().await;
    let path = world.with_list(json!([{"phone": "9812345678"}])).await;
    let test = world.test();
    for more in ["", "/contacts", "/runs", "/summary"] {
        world.app.get(test, &format!("{path}{more}")).await.expect(200);
    }
    world.app.post(test, &format!("{path}/preflight"), &Value::Null).await.expect(200);
    world.app.post(test, "/v1/campaigns", &json!({})).await.read_only();
    world.app.put(test, &path, &json!({})).await.read_only();
    world.app.delete(test, &path).await.read_only();
    world.app.post(test, &format!("{path}/status"), &json!({"status": "active"})).await.read_only();
    let rows = json!({"contacts": [{"phone": "9812345679"}]});
    world.app.post(test, &format!("{path}/contacts"), &rows).await.read_only();
    assert_eq!(world.get(&format!("{path}/contacts")).await["data"][0]["phone"], "+919812345678");
}

#[tokio::test]
async fn campaign_writes_have_a_limit_of_their_own() {
    let world = World::open().await;
    let limits = json!({"limits": {"campaignWritesPerMinute": 2}});
    world.change(&limits).await;
    let path = world.new_campaign(json!({})).await;
    let rows = json!({"contacts": [{"phone": "9812345678"}]});
    for left in ["1", "0"] {
        let answer = world.post(&format!("{path}/contacts"), &rows).await;
        assert_eq!(
            (answer.header("x-ratelimit-limit"), answer.header("x-ratelimit-remaining")),
            (Some("2"), Some(left))
        );
        answer.expect(200);
    }
    let refused = world.post(&format!("{path}/contacts"), &rows).await;
    assert!(refused.header("retry-after").is_some());
    refused.refused(429, "rate_limited");
    world.put(&path, &json!({"name": "Others do not count"})).await.expect(200);
    world.advance(60).await;
    world.post(&format!("{path}/contacts"), &rows).await.expect(200);
}

#[tokio::test]
async fn a_campaign_without_runs_has_none() {
    let world = World::open().await;
    let path = world.new_campaign(json!({})).await;
    assert_eq!(world.get(&format!("{path}/runs")).await["data"], json!([]));
    world.fetch("/v1/campaign-runs/run_01k9v5x2m8e6fs4v0q3n7w1y34").await.not_found();
    world.fetch("/v1/campaigns/cmp_01k9v5x2m8e6fs4v0q3n7w1y34/runs").await.not_found();
}

#[tokio::test]
async fn a_preflight_says_who_would_be_called_when_and_at_what_price() {
    let world = World::prompted("Remind {{name}}.").await;
    world.app.operator("POST", "/dnd", &json!({"phones": ["9812345670"]})).await.expect(200);
    world.post("/v1/dnc", &json!({"phones": ["9812345671"], "reason": "asked"})).await.expect(200);
    let person = |phone: &str| json!({"phone": phone, "variables": {"name": "Asha"}});
    let rows: Vec<Value> =
        ["9812345670", "9812345671", "9812345672", "9812345673", "098123 45673", "+14155550100", "x"]
            .into_iter()
            .map(person)
            .collect();
    let path = world
        .new_campaign(json!({"settings": {"dailyFrom": "14:00", "dailyTo": "18:00", "retryCount": 1}}))
        .await;
    world.set_list(&path, json!(rows)).await.expect(200);
    let listed = world.data(&format!("{path}/contacts")).await;
    let row = |place: usize| listed[place]["id"].clone();
    let before = (world.get(&path).await, world.get("/v1/calls").await);
    let report = world.post(&format!("{path}/preflight"), &Value::Null).await.data(200);
    assert_eq!(
        report["byReason"],
        json!({
            "dnd": {"count": 1, "examples": [row(0)]}, "opt_out": {"count": 1, "examples": [row(1)]},
            "duplicate": {"count": 1, "examples": [row(4)]}, "not_indian": {"count": 1, "examples": [row(5)]},
            "invalid_phone": {"count": 1, "examples": [row(6)]},
        })
    );
    let figures = ["total", "examined", "willCall", "willWait", "willNotCall"]
        .map(|name| report[name].as_i64().unwrap());
    assert_eq!(figures, [7, 4, 2, 0, 5]);
    report.shows(json!({"ready": true, "problems": [], "warnings": []}));
    // Noon: the daily window opens at 14:00.
    let now = domain::time::Timestamp::parse(&world.now().await).unwrap();
    let opening = now.plus(2 * domain::time::HOUR).to_string();
    report["schedule"].shows(json!({"insideWindow": false, "startsAt": opening}));
    // Two people on a hundred lines: 35 % answer and talk a minute; another attempt reaches some of the others.
    assert_eq!(
        report["cost"],
        json!({
            "currency": "INR", "costPerMinuteMinor": 600, "availableMinor": 1_000_000, "expectedMinor": 693, "atMostMinor": report["cost"]["atMostMinor"],
            "basedOn": {"source": "assumption", "calls": 0, "connectRate": 0.35, "avgTalkSeconds": 60.0},
        })
    );
    assert!(report["schedule"]["finishesAt"].as_str().unwrap() > opening.as_str());
    assert_eq!((world.get(&path).await, world.get("/v1/calls").await), before, "nothing is stored");
    world.delete(&path).await.expect(200);
}

#[tokio::test]
async fn a_preflight_names_what_is_missing() {
    let world = World::open().await;
    let problems = async |path: &str| {
        let report = world.post(&format!("{path}/preflight"), &Value::Null).await.data(200);
        let codes: Vec<String> = report["problems"]
            .as_array()
            .unwrap()
            .iter()
            .map(|problem| problem["code"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(report["ready"], codes.is_empty());
        codes
    };
    let empty = world.new_campaign(json!({"agentId": null})).await;
    assert_eq!(problems(&empty).await, ["agent_missing", "list_empty"]);
    let rows = json!([{"phone": "9812345678"}]);
    let path = world.with_list(rows).await;
    assert_eq!(problems(&path).await, Vec::<String>::new());
    world.post("/v1/dnc", &json!({"phones": ["9812345678"], "reason": "asked"})).await.expect(200);
    assert_eq!(problems(&path).await, ["nobody_to_call"]);
    world.put(&path, &json!({"settings": {"endAt": "2020-01-01T00:00:00Z"}})).await.expect(200);
    assert_eq!(problems(&path).await, ["past_end_date", "nobody_to_call", "never_open"]);
    world.set_status(&path, "archived").await.expect(200);
    assert_eq!(problems(&path).await, ["completed", "nobody_to_call", "never_open"]);

    let other = world.with_list(json!([{"phone": "9812345679"}])).await;
    world.post(&format!("/v1/agents/{}/status", world.agent), &json!({"status": "draft"})).await.expect(200);
    world.change(&json!({"kybVerified": false})).await;
    let drain = json!({"kind": "adjustment", "amountMinor": -999_900, "reference": "drain"});
    world.operator("POST", "/wallet/entries", drain.clone()).await.expect(201);
    let number = world.get("/v1/numbers").await["data"][0]["id"].as_str().unwrap().to_owned();
    world.operator("DELETE", &format!("/numbers/{number}"), Value::Null).await.expect(200);
    assert_eq!(
        problems(&other).await,
        ["no_phone_number", "kyb_required", "insufficient_balance", "agent_not_published"]
    );
}

#[tokio::test]
async fn a_batch_of_nudges_has_the_same_report() {
    let world = World::open().await;
    world.post("/v1/dnc", &json!({"phones": ["9812345671"], "reason": "asked"})).await.expect(200);
    let numbers = json!(["9812345670", "9812345671", "+91 98123 45670", "x", "9812342222"]);
    let body = json!({"agentId": world.agent, "toNumbers": numbers});
    let report = world.post("/v1/nudges/preflight-batch", &body).await.data(200);
    assert_eq!(
        report["byReason"],
        json!({
            "opt_out": {"count": 1, "examples": ["1"]}, "duplicate": {"count": 1, "examples": ["2"]},
            "invalid_phone": {"count": 1, "examples": ["3"]}, "dnd": {"count": 1, "examples": ["4"]},
        })
    );
    let figures = ["total", "examined", "willCall", "willNotCall"].map(|name| report[name].as_i64().unwrap());
    assert_eq!(figures, [5, 3, 1, 4]);
    assert_eq!((&report["ready"], &report["schedule"]["insideWindow"]), (&json!(true), &json!(true)));
    let test = world.app.post(world.test(), "/v1/nudges/preflight-batch", &body).await.expect(200);
    // The do-not-call list is for nudges of both modes.
    test.shows(json!({"data.byReason.opt_out.count": 1}));
    for (body, field) in [
        (json!({"agentId": world.agent, "toNumbers": []}), "toNumbers"),
        (json!({"agentId": world.agent, "toNumbers": vec!["9812345670"; 1001]}), "toNumbers"),
        (json!({"toNumbers": ["9812345670"]}), "agentId"),
    ] {
        world.post("/v1/nudges/preflight-batch", &body).await.invalid_field(field);
    }
    world
        .post("/v1/nudges/preflight-batch", &json!({"agentId": "agt_1", "toNumbers": ["9812345670"]}))
        .await
        .not_found();
    assert_eq!(world.get("/v1/nudges").await["data"], json!([]), "nothing is stored");
}

#[tokio::test]
async fn runs_are_kept_for_400_days() {
    let world = World::open().await;
    let path = world.new_campaign(json!({})).await;
    let (app, now) = (world.app(), world.app().clock.now());
    let run = |days: i64, finished: bool| {
        let created_at = now.plus(-days * DAY);
        RunRow {
            id: domain::ids::Id::new(created_at.0, u128::from(finished)),
            workspace: world.tenant(),
            campaign: path.rsplit('/').next().unwrap().parse().unwrap(),
            status: if finished { RunStatus::Completed } else { RunStatus::Running },
            source: RunSource::Api,
            attempted: 0,
            placed: 0,
            rejected: 0,
            refused: 0,
            skipped_reason: None,
            error: None,
            created_at,
            finished_at: finished.then_some(created_at),
        }
    };
    let rows = [run(399, true), run(401, true), run(401, false)];
    let kept = [rows[0].id.to_string(), rows[2].id.to_string()];
    let insert = move |tx: &mut store::Tx<'_>| rows.iter().try_for_each(|row| runs::insert(tx, row));
    app.store.tx(insert).await.unwrap();
    campaigns::runs::sweep(app).await.unwrap();
    let left = world.data(&format!("{path}/runs")).await;
    let ids: Vec<&str> = left.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    assert_eq!(ids, kept, "the one that goes on stays, however old");
}

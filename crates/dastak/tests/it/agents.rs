//! Agents, tools, voices, compliance packs and locks (docs/contract/agents.md).

use serde_json::{Value, json};

use crate::shows::Shows;
use crate::world::World;

/// The path of an agent.
fn path(agent: &Value) -> String {
    format!("/v1/agents/{}", agent["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_new_agent_has_its_defaults() {
    let world = World::bare().await;
    let made = world.draft_agent(&json!({})).await;
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("agt_"));
    let expected = json!({
        "id": id, "name": "Asha", "voice": "", "language": "en", "status": "draft", "channel": "call", "direction": "outbound",
        "systemPrompt": "", "workflowTemplate": "prompt-driven", "vertical": "general", "policyRef": "generic-safe@1", "communication": "service",
        "allowedTransferNumbers": [], "extractionSchema": [], "knowledgeBaseId": null, "toolIds": [],
        "speakable": true, "pronunciations": [], "callReason": "", "redact": false, "languages": ["en"], "voices": {}, "models": {},
    });
    assert_eq!(made, expected);
    assert_eq!(
        world.app.get(world.test(), &path(&made)).await.expect(200)["data"],
        expected,
        "test keys read agents"
    );
    let flow = world.data(&format!("{}/flow", path(&made))).await;
    flow.shows(json!({"draftVersion": 1, "issues": [], "draft": flow["published"]}));
}

#[tokio::test]
async fn every_setting_comes_back_and_can_change() {
    let world = World::bare().await;
    let body = json!({
        "systemPrompt": "Greet {{name}}.", "voice": "offline-male", "language": "or", "workflowTemplate": "onboarding", "vertical": "lending",
        "policyRef": "lending@1", "allowedTransferNumbers": ["98123 45678", "+919812345678", "022-23456789"],
        "extractionSchema": [{"key": "income", "label": "Income", "type": "number", "extra": 1}], "knowledgeBaseId": null,
        "toolIds": ["end_call", "transfer_to_human", "end_call"], "channel": "call", "direction": "inbound", "callContext": {"console": true},
        "communication": "promotional",
        "speakable": false, "redact": true, "pronunciations": [{"written": " Dastak ", "spoken": "दस्तक", "extra": 1}, {"written": "₹5", "spoken": "a fiver"}],
        "callReason": " It is about {{order}}. ",
    });
    let made = world.draft_agent(&body).await;
    let mut expected = body.clone();
    expected.as_object_mut().unwrap().remove("callContext");
    expected["id"] = made["id"].clone();
    expected["name"] = json!("Asha");
    expected["status"] = json!("draft");
    expected["allowedTransferNumbers"] = json!(["+919812345678", "+912223456789"]);
    expected["extractionSchema"] = json!([{"key": "income", "label": "Income", "type": "number"}]);
    expected["toolIds"] = json!(["end_call", "transfer_to_human"]);
    expected["callReason"] = json!("It is about {{order}}.");
    expected["languages"] = json!(["or"]);
    expected["voices"] = json!({});
    expected["models"] = json!({});
    expected["pronunciations"] =
        json!([{"written": "Dastak", "spoken": "दस्तक"}, {"written": "₹5", "spoken": "a fiver"}]);
    assert_eq!(made, expected, "numbers are normalized; numbers and tools named twice are kept once");

    let nothing = world.put(&path(&made), &json!({})).await.expect(200);
    assert_eq!(nothing["data"], made, "what is absent stays");
    world.patch(&path(&made), &json!({"name": "x"})).await.refused(405, "method_not_allowed");
    let change = json!({
        "name": "Ravi", "systemPrompt": "", "voice": "", "language": "te", "workflowTemplate": "prompt-driven", "vertical": "general",
        "policyRef": "collections@1", "allowedTransferNumbers": [], "extractionSchema": [], "knowledgeBaseId": null, "toolIds": [],
        "channel": "call", "direction": "inbound", "status": "active", "id": "agt_other",
        "communication": "transactional",
        "speakable": true, "pronunciations": [{"written": "EMI", "spoken": "monthly payment"}], "callReason": "", "redact": false,
    });
    let changed = world.put(&path(&made), &change).await.data(200);
    let mut expected = change.clone();
    expected["id"] = made["id"].clone();
    expected["status"] = json!("draft");
    expected["languages"] = json!(["te"]);
    expected["voices"] = json!({});
    expected["models"] = json!({});
    assert_eq!(changed, expected, "status and id are not settings");
    assert_eq!(world.get(&path(&made)).await["data"], expected);
}

#[tokio::test]
async fn the_list_shows_every_agent_newest_first() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let first = world.draft_agent(&json!({"name": "one"})).await;
    let second = world
        .draft_agent(&json!({"name": "two", "channel": "chat", "language": "hi", "voice": "offline-female"}))
        .await;
    other.draft_agent(&json!({})).await;
    let listed = world.app.get(world.test(), "/v1/agents").await.expect(200);
    let expected = json!([
        {"id": second["id"], "name": "two", "voice": "offline-female", "language": "hi", "status": "draft", "channel": "chat", "direction": "inbound"},
        {"id": first["id"], "name": "one", "voice": "", "language": "en", "status": "draft", "channel": "call", "direction": "outbound"},
    ]);
    assert_eq!(listed, json!({"data": expected}));
    let flow = json!({"graph": {"nodes": []}, "baseVersion": 1});
    other.fetch(&path(&first)).await.not_found();
    other.put(&path(&first), &json!({"name": "x"})).await.not_found();
    other.delete(&path(&first)).await.not_found();
    other.post(&format!("{}/status", path(&first)), &json!({"status": "active"})).await.not_found();
    other.fetch(&format!("{}/flow", path(&first))).await.not_found();
    other.put(&format!("{}/flow", path(&first)), &flow).await.not_found();
    other.post(&format!("{}/flow/publish", path(&first)), &json!({})).await.not_found();
}

#[tokio::test]
async fn limits_hold_at_their_edges() {
    let world = World::bare().await;
    let text = |length: usize| "न".repeat(length);
    let items = |count: usize| {
        (0..count).map(|n| json!({"key": format!("k{n}"), "label": "", "type": "text"})).collect::<Vec<_>>()
    };
    let numbers = |count: usize| (0..count).map(|n| format!("98123450{n:02}")).collect::<Vec<_>>();
    let pronounced = |count: usize| {
        (0..count).map(|n| json!({"written": format!("w{n}"), "spoken": "s"})).collect::<Vec<_>>()
    };
    let kept = [
        ("name", json!(text(120))),
        ("systemPrompt", json!(text(16_000))),
        ("toolIds", json!(vec!["end_call"; 50])),
        ("allowedTransferNumbers", json!(numbers(50))),
        ("allowedTransferNumbers", json!(["+91 (0) 98123-456 78"])),
        ("extractionSchema", json!(items(50))),
        ("extractionSchema", json!([{"key": text(64), "label": text(200), "type": "boolean"}])),
        ("pronunciations", json!(pronounced(100))),
        ("callReason", json!(text(200))),
        ("pronunciations", json!([{"written": text(60), "spoken": text(200)}])),
    ];
    for (field, value) in kept {
        world.draft_agent(&json!({field: value})).await;
    }
    let item = |key: Value, label: Value, kind: &str| json!([{"key": key, "label": label, "type": kind}]);
    let refused = [
        ("name", json!(""), "name"),
        ("name", json!(text(121)), "name"),
        ("systemPrompt", json!(text(16_001)), "systemPrompt"),
        ("voice", json!("v".repeat(81)), "voice"),
        ("voice", json!("nobody"), "voice"),
        ("language", json!("fr"), "language"),
        ("workflowTemplate", json!("prompt"), "workflowTemplate"),
        ("vertical", json!("health"), "vertical"),
        ("policyRef", json!(""), "policyRef"),
        ("policyRef", json!("p".repeat(121)), "policyRef"),
        ("policyRef", json!("p".repeat(120)), "policyRef"),
        ("policyRef", json!("generic-safe@2"), "policyRef"),
        ("policyRef", json!("cpk_01jzzzzzzzzzzzzzzzzzzzzzzz"), "policyRef"),
        ("policyRef", json!("cpk_x"), "policyRef"),
        ("toolIds", json!(vec!["end_call"; 51]), "toolIds"),
        ("toolIds", json!(["end_call", ""]), "toolIds[1]"),
        ("toolIds", json!(["t".repeat(65)]), "toolIds[0]"),
        ("toolIds", json!(["end_call", "t".repeat(64)]), "toolIds[1]"),
        ("toolIds", json!(["tool_01jzzzzzzzzzzzzzzzzzzzzzzz"]), "toolIds[0]"),
        ("toolIds", json!("end_call"), "toolIds"),
        ("allowedTransferNumbers", json!(numbers(51)), "allowedTransferNumbers"),
        ("allowedTransferNumbers", json!(["+91 (0) 98123-4567 8 "]), "allowedTransferNumbers[0]"),
        ("allowedTransferNumbers", json!(["9812345678", "+12025550100"]), "allowedTransferNumbers[1]"),
        ("allowedTransferNumbers", json!(["12345"]), "allowedTransferNumbers[0]"),
        ("extractionSchema", json!(items(51)), "extractionSchema"),
        ("extractionSchema", item(json!("k"), json!("l"), "choice"), "extractionSchema[0].type"),
        ("extractionSchema", item(json!(""), json!("l"), "text"), "extractionSchema[0].key"),
        ("extractionSchema", json!([{"key": "k", "type": "text"}]), "extractionSchema[0].label"),
        ("extractionSchema", json!([items(1)[0], items(1)[0]]), "extractionSchema[1].key"),
        ("knowledgeBaseId", json!(""), "knowledgeBaseId"),
        ("speakable", json!("yes"), "speakable"),
        ("pronunciations", json!(pronounced(101)), "pronunciations"),
        ("callReason", json!(text(201)), "callReason"),
        ("callReason", json!("two\nlines"), "callReason"),
        ("pronunciations", json!([{"written": "", "spoken": "s"}]), "pronunciations[0].written"),
        ("pronunciations", json!([{"written": "w", "spoken": " "}]), "pronunciations[0].spoken"),
        ("pronunciations", json!([{"written": "w\n", "spoken": "a\nb"}]), "pronunciations[0].spoken"),
        ("pronunciations", json!([{"written": "w"}]), "pronunciations[0].spoken"),
        ("pronunciations", json!([{"written": text(61), "spoken": "s"}]), "pronunciations[0].written"),
        ("pronunciations", json!([{"written": "w", "spoken": text(201)}]), "pronunciations[0].spoken"),
        (
            "pronunciations",
            json!([{"written": "EMI", "spoken": "s"}, {"written": "emi ", "spoken": "t"}]),
            "pronunciations[1].written",
        ),
        ("channel", json!("voice"), "channel"),
        ("direction", json!("both"), "direction"),
    ];
    let agent = world.draft_agent(&json!({})).await;
    for (field, value, named) in refused {
        let mut body = json!({"name": "Asha"});
        body[field] = value.clone();
        world.post("/v1/agents", &body).await.invalid_field(named);
        let changed = world.put(&path(&agent), &json!({"name": "changed", field: value})).await;
        changed.invalid_field(named);
    }
    world.post("/v1/agents", &json!({})).await.invalid_field("name");
    assert_eq!(world.get(&path(&agent)).await["data"], agent, "a refused change changes nothing");
    assert_eq!(
        world.get("/v1/agents").await["data"].as_array().unwrap().len(),
        11,
        "a refused agent is not made"
    );

    let unknown = json!({"name": "x", "knowledgeBaseId": "kb_01jzzzzzzzzzzzzzzzzzzzzzzz"});
    world.post("/v1/agents", &unknown).await.refused(400, "knowledge_base_not_found");
    world.put(&path(&agent), &unknown).await.refused(400, "knowledge_base_not_found");
}

#[tokio::test]
async fn channel_and_direction_are_fixed() {
    let world = World::bare().await;
    let chat = world.draft_agent(&json!({"channel": "chat"})).await;
    assert_eq!((chat["channel"].as_str(), chat["direction"].as_str()), (Some("chat"), Some("inbound")));
    let explicit = world.draft_agent(&json!({"channel": "chat", "direction": "inbound"})).await;
    assert_eq!(explicit["direction"], "inbound");
    let outbound = json!({"name": "x", "channel": "chat", "direction": "outbound"});
    world.post("/v1/agents", &outbound).await.invalid_field("direction");
    world
        .put(&path(&chat), &json!({"channel": "chat", "direction": "inbound", "name": "same"}))
        .await
        .expect(200);
    for field in [json!({"channel": "call"}), json!({"direction": "outbound"})] {
        let name = field.as_object().unwrap().keys().next().unwrap().clone();
        world.put(&path(&chat), &field).await.invalid_field(&name);
    }
}

#[tokio::test]
async fn regulated_verticals_need_their_template_and_pack() {
    let world = World::bare().await;
    let pack = |families: Value| json!({"name": "Ours", "hours": [{"days": [0, 1], "from": "10:00", "to": "12:00"}], "families": families});
    let custom =
        world.operator("POST", "/compliance-packs", pack(json!(["debt_recovery"]))).await.expect(201)["data"]
            ["id"]
            .clone();
    for (vertical, template, policy, outcome) in [
        ("general", "collections", "lending@1", None),
        ("collections", "prompt-driven", "collections@1", None),
        ("debt_recovery", "collections", "collections@1", None),
        ("debt_recovery", "collections", custom.as_str().unwrap(), None),
        ("lending", "onboarding", "lending@1", None),
        ("financial_services", "onboarding", "financial-services@1", None),
        ("collections", "prompt-driven", "generic-safe@1", Some("compliance_pack_invalid")),
        ("collections", "prompt-driven", custom.as_str().unwrap(), Some("compliance_pack_invalid")),
        ("lending", "prompt-driven", "collections@1", Some("compliance_pack_invalid")),
        ("financial_services", "collections", "financial-services@1", Some("workflow_template_invalid")),
        ("debt_recovery", "onboarding", "collections@1", Some("workflow_template_invalid")),
    ] {
        let body =
            json!({"name": "x", "vertical": vertical, "workflowTemplate": template, "policyRef": policy});
        let made = world.post("/v1/agents", &body).await;
        let agent = world.draft_agent(&json!({})).await;
        let changed = world.put(&path(&agent), &body).await;
        match outcome {
            None => {
                let made = made.data(201);
                assert_eq!((&made["vertical"], &made["policyRef"]), (&json!(vertical), &json!(policy)));
                changed.expect(200);
                world
                    .post(&format!("{}/status", path(&made)), &json!({"status": "active"}))
                    .await
                    .expect(200);
            }
            Some(code) => {
                made.refused(422, code);
                changed.refused(422, code);
                assert_eq!(world.get(&path(&agent)).await["data"], agent);
            }
        }
    }
    // The settings are judged together, whichever of them a change names.
    let lender = world.draft_agent(&json!({"vertical": "lending", "policyRef": "lending@1"})).await;
    world
        .put(&path(&lender), &json!({"policyRef": "generic-safe@1"}))
        .await
        .refused(422, "compliance_pack_invalid");
    world
        .put(&path(&lender), &json!({"vertical": "collections"}))
        .await
        .refused(422, "compliance_pack_invalid");
    world.put(&path(&lender), &json!({"name": "still"})).await.expect(200);

    let chat = json!({"name": "x", "channel": "chat", "vertical": "lending", "policyRef": "lending@1"});
    let refused = world.post("/v1/agents", &chat).await.refused(400, "vertical_not_allowed");
    assert_eq!(refused["meta"]["field"], "vertical");
    let chat = world.draft_agent(&json!({"channel": "chat"})).await;
    world
        .put(&path(&chat), &json!({"vertical": "collections", "policyRef": "collections@1"}))
        .await
        .refused(400, "vertical_not_allowed");
    // A pack of another workspace is not there.
    let other = world.neighbour().await;
    let foreign = json!({"name": "x", "policyRef": custom});
    other.post("/v1/agents", &foreign).await.invalid_field("policyRef");
}

#[tokio::test]
async fn agents_are_published_and_unpublished() {
    let world = World::bare().await;
    let agent = world.draft_agent(&json!({})).await;
    let status = format!("{}/status", path(&agent));
    for body in [json!({}), json!({"status": "paused"}), json!({"status": null})] {
        world.post(&status, &body).await.invalid_field("status");
    }
    for word in ["active", "active", "draft", "draft", "active"] {
        let mut expected = agent.clone();
        expected["status"] = json!(word);
        assert_eq!(world.post(&status, &json!({"status": word})).await.expect(200)["data"], expected);
        assert_eq!(world.get(&path(&agent)).await["data"], expected);
    }
    world.app.post(world.test(), &status, &json!({"status": "draft"})).await.read_only();
}

#[tokio::test]
async fn a_deleted_agent_is_gone() {
    let world = World::bare().await;
    let agent = world.draft_agent(&json!({})).await;
    let answer = world.delete(&path(&agent)).await.expect(200);
    assert_eq!(answer, json!({"data": {"id": agent["id"], "deleted": true}}));
    world.delete(&path(&agent)).await.not_found();
    world.fetch(&path(&agent)).await.not_found();
    world.fetch(&format!("{}/flow", path(&agent))).await.not_found();
    assert_eq!(world.get("/v1/agents").await, json!({"data": []}));
}

#[tokio::test]
async fn a_locked_agent_refuses_every_write() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let agent = world.draft_agent(&json!({})).await;
    let (status, flow) = (format!("{}/status", path(&agent)), format!("{}/flow", path(&agent)));
    let publish = format!("{flow}/publish");
    let graph = world.get(&flow).await["data"]["draft"].clone();
    let path_of = |what: &str| format!("/agents/{}/{what}", agent["id"].as_str().unwrap());
    let lock = async |of: &World, what: &str| of.operator("POST", &path_of(what), Value::Null).await;
    lock(&other, "lock").await.not_found();
    for _ in 0..2 {
        let answer = lock(&world, "lock").await.expect(200);
        assert_eq!(answer["data"], json!({"id": agent["id"], "locked": true}));
        world.put(&path(&agent), &json!({"name": "x"})).await.refused(423, "agent_locked");
        world.put(&path(&agent), &json!({"channel": "chat"})).await.refused(423, "agent_locked");
        world.post(&status, &json!({"status": "active"})).await.refused(423, "agent_locked");
        world.put(&flow, &json!({"graph": graph, "baseVersion": 9})).await.refused(423, "agent_locked");
        world.post(&publish, &json!({})).await.refused(423, "agent_locked");
        world.delete(&path(&agent)).await.refused(423, "agent_locked");
    }
    assert_eq!(world.get(&path(&agent)).await["data"], agent);
    world.get(&flow).await;
    let answer = lock(&world, "unlock").await.expect(200);
    assert_eq!(answer["data"], json!({"id": agent["id"], "locked": false}));
    world.post(&status, &json!({"status": "active"})).await.expect(200);
    world.delete(&path(&agent)).await.expect(200);
    lock(&world, "lock").await.not_found();
}

#[tokio::test]
async fn voices_and_languages() {
    let world = World::bare().await;
    let data = world.app.get(world.test(), "/v1/voices").await.data(200);
    let voices = data["voices"].as_array().unwrap();
    assert_eq!(
        voices.iter().map(|voice| voice["gender"].as_str().unwrap()).collect::<Vec<_>>(),
        ["female", "male"]
    );
    assert!(voices.iter().any(|voice| voice["id"] == data["defaultVoice"]));
    let codes: Vec<&str> = data["languages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|language| language["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["en", "hi", "bn", "gu", "kn", "ml", "mr", "or", "pa", "ta", "te"]);
    for voice in voices {
        world.draft_agent(&json!({"voice": voice["id"]})).await;
    }
    for code in codes {
        world.draft_agent(&json!({"language": code})).await;
    }
}

#[tokio::test]
async fn webhook_tools() {
    let world = World::bare_with(|config| config.allow_insecure_webhooks = false).await;
    let other = world.neighbour().await;
    let tools = format!("/workspaces/{}/tools", world.workspace.id);
    let tool = |config: Value| json!({"type": "webhook", "name": "Balance", "description": "Looks up the balance.", "config": config});
    let made = world
        .app
        .operator(
            "POST",
            &tools,
            &tool(json!({"url": "https://crm.example.com/balance", "headers": {"X-Key": "hush"}})),
        )
        .await;
    assert!(
        !made.text.contains("hush") && !made.text.contains("crm.example.com"),
        "the configuration is never shown"
    );
    let made = made.data(201);
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!(
        made,
        json!({"id": id, "type": "webhook", "name": "Balance", "description": "Looks up the balance."})
    );
    let listed = world.app.get(world.test(), "/v1/tools").await.data(200);
    let kinds: Vec<&str> =
        listed.as_array().unwrap().iter().map(|tool| tool["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["transfer_to_human", "end_call", "chatapp_message", "press_keys", "webhook"]);
    assert_eq!(listed[4], made);
    assert_eq!(world.app.operator("GET", &tools, &Value::Null).await.expect(200)["data"], listed);
    assert_eq!(other.get("/v1/tools").await["data"].as_array().unwrap().len(), 4);

    for (body, field) in [
        (tool(json!({})), "config.url"),
        (tool(json!({"url": "http://crm.example.com/"})), "config.url"),
        (tool(json!({"url": "https://127.0.0.1/"})), "config.url"),
        (tool(json!({"url": "https://crm.example.com/", "method": "DELETE"})), "config.method"),
        (tool(json!({"url": "https://crm.example.com/", "timeoutSeconds": 21})), "config.timeoutSeconds"),
        (tool(json!({"url": "https://crm.example.com/", "headers": {"a b": "x"}})), "config.headers.a b"),
        (tool(json!({"url": "https://crm.example.com/", "headers": {"a": "x\ny"}})), "config.headers.a"),
        (tool(json!({"url": "https://crm.example.com/", "headers": {"Host": "x"}})), "config.headers.Host"),
        (json!({"type": "end_call", "name": "x", "config": {"url": "https://crm.example.com/"}}), "type"),
        (json!({"type": "webhook", "name": "", "config": {"url": "https://crm.example.com/"}}), "name"),
    ] {
        world.app.operator("POST", &tools, &body).await.invalid_field(field);
    }

    // Stored encrypted, and readable by who calls it.
    let (tenant, tool_id) = (world.tenant(), id.parse().unwrap());
    let config = dastak::app::tool_calls::webhook(world.app(), tenant, tool_id).await.unwrap().unwrap();
    assert_eq!(
        (config.url.as_str(), config.method.as_str(), config.timeout_seconds),
        ("https://crm.example.com/balance", "POST", 8)
    );
    let (_, sealed) =
        world.app().store.of(tenant).read(move |tx| store::tools::get(tx, tool_id)).await.unwrap().unwrap();
    assert!(!sealed.contains("hush"));

    let agent = world.draft_agent(&json!({"toolIds": [id]})).await;
    let foreign = other.post("/v1/agents", &json!({"name": "x", "toolIds": [id]})).await;
    foreign.invalid_field("toolIds[0]");
    let deleting = format!("{tools}/{id}");
    other.operator("DELETE", &format!("/tools/{id}"), Value::Null).await.not_found();
    let gone = world.app.operator("DELETE", &deleting, &Value::Null).await.expect(200);
    assert_eq!(gone["data"], json!({"id": id, "deleted": true}));
    world.app.operator("DELETE", &deleting, &Value::Null).await.not_found();
    // Its flow is not ready now, and the other settings can still change.
    let refused = world
        .post(&format!("{}/status", path(&agent)), &json!({"status": "active"}))
        .await
        .refused(422, "flow_not_ready");
    assert_eq!(refused["meta"]["issues"][0]["code"], "unknown_tool", "{refused}");
    world.put(&path(&agent), &json!({"name": "y"})).await.expect(200);
    world.put(&path(&agent), &json!({"toolIds": []})).await.expect(200);
    world.post(&format!("{}/status", path(&agent)), &json!({"status": "active"})).await.expect(200);
}

#[tokio::test]
async fn compliance_packs() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let body = json!({
        "name": "Ours", "hours": [{"days": [0, 1, 2, 3, 4], "from": "10:00", "to": "18:30"}, {"days": [5], "from": "10:00", "to": "24:00"}],
        "holidays": ["2026-12-25"], "caps": {"perDay": 2, "perWeek": 5}, "requireConsent": true, "families": ["lending"],
    });
    let made = world.operator("POST", "/compliance-packs", body.clone()).await.data(201);
    let id = made["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("cpk_"));
    for (name, value) in body.as_object().unwrap() {
        assert_eq!(made[name], *value);
    }
    world.operator("GET", "/compliance-packs", Value::Null).await.expect(200).shows(json!({"data": [made]}));
    let others = format!("/workspaces/{}/compliance-packs", other.workspace.id);
    assert_eq!(world.app.operator("GET", &others, &Value::Null).await.expect(200)["data"], json!([]));
    let least =
        json!({"name": "Least", "hours": [{"days": [6], "from": "10:00", "to": "11:00"}], "colour": "blue"});
    let least = world.operator("POST", "/compliance-packs", least.clone()).await.data(201);
    least.shows(json!({"holidays": [], "requireConsent": false, "families": []}));
    assert_eq!(least.get("colour"), None);
    for (change, field) in [
        (json!({"name": ""}), "name"),
        (json!({"hours": []}), "hours"),
        (json!({"hours": [{"days": [0], "from": "9:00", "to": "10:00"}]}), "hours[0].from"),
        (json!({"hours": [{"days": [0], "from": "10:00", "to": "09:00"}]}), "hours[0].to"),
        (json!({"hours": [{"days": [7], "from": "09:00", "to": "10:00"}]}), "hours[0].days[0]"),
        (json!({"holidays": ["25-12-2026"]}), "holidays[0]"),
        (json!({"caps": {"perDay": 0}}), "caps.perDay"),
        (json!({"requireConsent": "yes"}), "requireConsent"),
        (json!({"families": ["loans"]}), "families[0]"),
    ] {
        let mut wrong = body.clone();
        wrong.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        world.operator("POST", "/compliance-packs", wrong.clone()).await.invalid_field(field);
    }

    let (tenant, foreign, reference) = (world.tenant(), other.tenant(), id.clone());
    let read = world.app().store.read(move |tx| {
        let resolve = dastak::app::compliance_packs::resolve;
        Ok::<_, dastak::app::Failure>((
            resolve(&mut tx.of(tenant), &reference)?,
            resolve(&mut tx.of(foreign), &reference)?,
            resolve(&mut tx.of(tenant), "collections@1")?,
        ))
    });
    let (own, foreign, built_in) = read.await.unwrap();
    assert_eq!(
        (own.unwrap().caps.per_week, foreign, built_in.unwrap().caps.per_week),
        (Some(5), None, Some(12))
    );
}

//! Drafts and published flows (docs/contract/flows.md).

use std::sync::Arc;

use dastak::app::{Failure, agents};
use domain::ids::{Agent, Id};
use domain::tenant::Tenant;
use serde_json::{Value, json};

use crate::shows::Shows;
use crate::world::World;

async fn flow(world: &World, id: &str) -> Value {
    world.data(&format!("/v1/agents/{id}/flow")).await
}

/// An agent with this prompt; its id.
async fn agent(world: &World, prompt: &str) -> String {
    world.draft_agent(&json!({"systemPrompt": prompt})).await["id"].as_str().unwrap().to_owned()
}

/// A graph that can be published; `label` tells one from another, `x` is a field that a console adds.
fn graph(label: &str) -> Value {
    json!({
        "startNodeId": "a",
        "nodes": [{"id": "a", "type": "say", "text": format!("Hello {{{{city}}}} {label}"), "next": "b", "x": {"left": 10}}, {"id": "b", "type": "end"}],
        "variables": [{"name": "city", "required": true}],
    })
}

fn save(graph: &Value, base: i64) -> Value {
    json!({"graph": graph, "baseVersion": base})
}

#[tokio::test]
async fn the_one_step_flow_of_a_prompt() {
    let world = World::bare().await;
    let made = world
        .draft_agent(&json!({"systemPrompt": "Remind {{name}} of {{ amount }}.", "toolIds": ["end_call"]}))
        .await;
    let id = made["id"].as_str().unwrap();
    let first = flow(&world, id).await;
    let mut keys: Vec<&str> = first.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "draft",
            "draftVersion",
            "editing",
            "issues",
            "published",
            "publishedVersion",
            "updatedAt",
            "updatedBy",
            "updatedByName"
        ]
    );
    first.shows(json!({"draftVersion": 1, "issues": [], "draft": first["published"]}));
    let node = &first["draft"]["nodes"][0];
    node.shows(json!({"type": "converse", "prompt": made["systemPrompt"], "toolIds": ["end_call"]}));
    let names: Vec<&str> = first["draft"]["variables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|variable| variable["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["name", "amount"]);

    // A new prompt is a new flow, published at once; so are new tools. Other settings leave the flow alone.
    let path = format!("/v1/agents/{id}");
    world.put(&path, &json!({"systemPrompt": "Greet {{who}}."})).await.expect(200);
    let second = flow(&world, id).await;
    second.shows(json!({"draftVersion": 2, "published.nodes[0].prompt": "Greet {{who}}."}));
    second.shows(json!({"draft": second["published"], "published.variables[0].name": "who"}));
    world
        .put(&path, &json!({"systemPrompt": "Greet {{who}}.", "name": "New", "language": "hi"}))
        .await
        .expect(200);
    assert_eq!(flow(&world, id).await, second, "the same prompt is no change");
    world.put(&path, &json!({"toolIds": []})).await.expect(200);
    let third = flow(&world, id).await;
    assert_eq!((&third["draftVersion"], &third["published"]["nodes"][0]["toolIds"]), (&json!(3), &json!([])));
}

#[tokio::test]
async fn a_draft_is_saved_and_published() {
    let world = World::bare().await;
    let id = agent(&world, "Hello").await;
    let path = format!("/v1/agents/{id}/flow");
    let original = flow(&world, &id).await["published"].clone();
    let saved = world.put(&path, &save(&graph("one"), 1)).await.expect(200);
    assert_eq!(saved, json!({"data": {"draftVersion": 2, "issues": []}}));
    let now = flow(&world, &id).await;
    // Kept as it was sent, not live yet.
    now.shows(json!({"draft": graph("one"), "draftVersion": 2, "published": original, "issues": []}));
    let published = world.post(&format!("{path}/publish"), &Value::Null).await.expect(200);
    published["data"]
        .shows(json!({"draft": graph("one"), "draftVersion": 2, "published": graph("one"), "issues": []}));
    assert_eq!(flow(&world, &id).await, published["data"]);
    // Again, without a change; and a draft after it does not touch what runs.
    world.post(&format!("{path}/publish"), &json!({})).await.expect(200);
    world.put(&path, &save(&json!({"nodes": []}), 2)).await.expect(200);
    let now = flow(&world, &id).await;
    assert_eq!(now["published"], graph("one"));
    now.shows(json!({"draftVersion": 3, "issues[0].code": "no_start_node"}));
    for (method, sub) in [("PUT", ""), ("POST", "/publish")] {
        let answer = world
            .send(
                method,
                &format!("{path}{sub}"),
                Some(world.test()),
                &[],
                save(&graph("x"), 3).to_string().into(),
            )
            .await;
        answer.read_only();
    }
}

#[tokio::test]
async fn a_draft_over_another_version_overwrites_nothing() {
    let world = World::bare().await;
    let id = agent(&world, "Hello").await;
    let path = format!("/v1/agents/{id}/flow");
    let before = flow(&world, &id).await;
    for base in [0, 2, 9_007_199_254_740_991i64] {
        let refused = world.put(&path, &save(&graph("x"), base)).await.refused(409, "flow_conflict");
        assert_eq!(refused["meta"], json!({"draftVersion": 1}));
    }
    assert_eq!(flow(&world, &id).await, before);
    // The refused draft does not count as an edit.
    world.put(&format!("/v1/agents/{id}"), &json!({"systemPrompt": "Hi"})).await.expect(200);
    world.put(&path, &save(&graph("x"), 1)).await.refused(409, "flow_conflict");
    world.put(&path, &save(&graph("x"), 2)).await.expect(200);
}

#[tokio::test]
async fn of_concurrent_drafts_one_wins() {
    let world = Arc::new(World::bare().await);
    let id = agent(&world, "Hello").await;
    for base in 1..=5 {
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..8 {
            let (world, key, path) =
                (world.clone(), world.workspace.live.clone(), format!("/v1/agents/{id}/flow"));
            writers.spawn(async move {
                (writer, world.app.put(&key, &path, &save(&graph(&format!("{base}-{writer}")), base)).await)
            });
        }
        let mut winners = Vec::new();
        while let Some(done) = writers.join_next().await {
            let (writer, answer) = done.unwrap();
            match answer.status {
                200 => winners.push(writer),
                _ => assert_eq!(answer.refused(409, "flow_conflict")["meta"]["draftVersion"], base + 1),
            }
        }
        assert_eq!(winners.len(), 1);
        let now = flow(&world, &id).await;
        now.shows(json!({"draftVersion": base + 1}));
        assert_eq!(now["draft"], graph(&format!("{base}-{}", winners[0])));
    }
}

#[tokio::test]
async fn what_is_not_a_flow_graph_is_refused_with_its_field() {
    let world = World::bare().await;
    let id = agent(&world, "Hello").await;
    let path = format!("/v1/agents/{id}/flow");
    let before = flow(&world, &id).await;
    let end = |id: usize| json!({"id": id.to_string(), "type": "end"});
    let nodes = |count: usize| (0..count).map(end).collect::<Vec<_>>();
    let huge = "x".repeat(1024 * 1024);
    for (body, field) in [
        (json!({"baseVersion": 1}), "graph"),
        (json!({"graph": null, "baseVersion": 1}), "graph"),
        (json!({"graph": [], "baseVersion": 1}), "graph"),
        (json!({"graph": "x", "baseVersion": 1}), "graph"),
        (json!({"graph": graph("x")}), "baseVersion"),
        (json!({"graph": graph("x"), "baseVersion": "1"}), "baseVersion"),
        (json!({"graph": graph("x"), "baseVersion": -1}), "baseVersion"),
        (json!({"graph": graph("x"), "baseVersion": 1.5}), "baseVersion"),
        (save(&json!({}), 1), "graph.nodes"),
        (save(&json!({"nodes": {}}), 1), "graph.nodes"),
        (save(&json!({"nodes": [end(0), end(1), 2]}), 1), "graph.nodes[2]"),
        (save(&json!({"nodes": [end(0), {"id": "1", "type": "dance"}]}), 1), "graph.nodes[1].type"),
        (save(&json!({"nodes": [end(0), {"type": "end"}]}), 1), "graph.nodes[1].id"),
        (save(&json!({"nodes": [end(0), end(0)]}), 1), "graph.nodes[1].id"),
        (
            save(&json!({"nodes": [end(0), end(1), {"id": "2", "type": "collect", "attempts": 11}]}), 1),
            "graph.nodes[2].attempts",
        ),
        (save(&json!({"nodes": nodes(501)}), 1), "graph.nodes"),
        (save(&json!({"startNodeId": 5, "nodes": []}), 1), "graph.startNodeId"),
        (save(&json!({"nodes": [], "variables": [{"name": "a b"}]}), 1), "graph.variables[0].name"),
        (save(&json!({"nodes": [], "x": huge}), 1), "graph"),
    ] {
        let refused = world.put(&path, &body).await.invalid();
        assert_eq!(refused["meta"]["field"], field, "{refused}");
    }
    assert_eq!(flow(&world, &id).await, before);
    let answer = world.put(&path, &save(&json!({"nodes": nodes(500)}), 1)).await.expect(200);
    assert_eq!(answer["data"]["draftVersion"], 2);
}

#[tokio::test]
async fn errors_keep_a_draft_from_being_published_and_warnings_do_not() {
    let world = World::bare().await;
    let id = agent(&world, "Hello").await;
    let path = format!("/v1/agents/{id}/flow");
    let start = |nodes: Value| json!({"startNodeId": "a", "nodes": nodes});
    let end = json!({"id": "z", "type": "end"});
    let mut base = 1;
    for (graph, level, code, node) in [
        (json!({"nodes": [end]}), "error", "no_start_node", json!(null)),
        (
            start(json!([{"id": "a", "type": "say", "text": "x", "next": "q"}, end])),
            "error",
            "unknown_next",
            json!("a"),
        ),
        (
            start(json!([{"id": "a", "type": "say", "text": "", "next": "z"}, end])),
            "error",
            "missing_text",
            json!("a"),
        ),
        (
            start(json!([{"id": "a", "type": "say", "text": "{{who}}", "next": "z"}, end])),
            "error",
            "undeclared_variable",
            json!("a"),
        ),
        (
            start(json!([{"id": "a", "type": "tool", "toolId": "tool_x", "next": "z"}, end])),
            "error",
            "unknown_tool",
            json!("a"),
        ),
        (
            start(json!([{"id": "a", "type": "transfer", "transferNumbers": ["+12025550100"]}])),
            "error",
            "invalid_transfer_number",
            json!("a"),
        ),
        (
            start(json!([{"id": "a", "type": "transfer", "transferNumbers": ["9812345678"]}])),
            "error",
            "invalid_transfer_number",
            json!("a"),
        ),
        (
            start(json!([{"id": "a", "type": "document", "label": "PAN", "next": "z"}, end])),
            "error",
            "document_on_call",
            json!("a"),
        ),
        (start(json!([{"id": "a", "type": "end"}, end])), "warning", "unreachable_node", json!("z")),
        (
            start(json!([{"id": "a", "type": "converse", "prompt": "Talk."}])),
            "warning",
            "converse_without_exit",
            json!("a"),
        ),
    ] {
        let saved = world.put(&path, &save(&graph, base)).await.data(200);
        base += 1;
        let issues = saved["issues"].as_array().unwrap();
        let issue =
            issues.iter().find(|issue| issue["code"] == code).unwrap_or_else(|| panic!("{code}: {saved}"));
        issue.shows(json!({"level": level, "nodeId": node}));
        saved.shows(json!({"draftVersion": base}));
        assert!(!issue["message"].as_str().unwrap().is_empty());
        let before = flow(&world, &id).await;
        assert_eq!(before["issues"], saved["issues"]);
        let published = world.post(&format!("{path}/publish"), &Value::Null).await;
        if level == "error" {
            assert_eq!(published.refused(422, "flow_not_ready")["meta"]["issues"], saved["issues"]);
            assert_eq!(flow(&world, &id).await, before);
        } else {
            assert_eq!(published.expect(200)["data"]["published"], graph);
        }
    }
    let chat = world.draft_agent(&json!({"channel": "chat"})).await;
    let path = format!("/v1/agents/{}/flow", chat["id"].as_str().unwrap());
    let asks = start(json!([{"id": "a", "type": "document", "label": "PAN", "next": "z"}, end]));
    assert_eq!(world.put(&path, &save(&asks, 1)).await.expect(200)["data"]["issues"], json!([]));
}

#[tokio::test]
async fn an_edited_flow_keeps_the_prompt_from_changing() {
    let world = World::bare().await;
    let saved = agent(&world, "Hello").await;
    world.put(&format!("/v1/agents/{saved}/flow"), &save(&graph("x"), 1)).await.expect(200);
    let published = agent(&world, "Hello").await;
    world.post(&format!("/v1/agents/{published}/flow/publish"), &Value::Null).await.expect(200);
    for id in [saved, published] {
        let path = format!("/v1/agents/{id}");
        let before = flow(&world, &id).await;
        world
            .put(&path, &json!({"systemPrompt": "Bye", "name": "Changed"}))
            .await
            .refused(409, "agent_uses_flow");
        assert_eq!(world.get(&path).await["data"]["name"], "Asha", "nothing of a refused change is kept");
        let changed = world
            .put(&path, &json!({"systemPrompt": "Hello", "name": "Other", "toolIds": ["end_call"]}))
            .await
            .expect(200);
        changed["data"].shows(json!({"name": "Other", "toolIds": ["end_call"]}));
        assert_eq!(flow(&world, &id).await, before, "an edited flow is its author's");
    }
}

/// What a placement reads of the flow.
async fn outbound(world: &World, id: &str) -> Result<Vec<String>, Failure> {
    let (tenant, id): (Tenant, Id<Agent>) = (world.tenant(), id.parse().unwrap());
    world
        .app()
        .store
        .of(tenant)
        .read(move |tx| {
            let row = agents::find(tx, id)?;
            agents::check_outbound(&row)?;
            agents::flow_readiness(tx, &row)?;
            assert!(agents::published_flow(tx, &row)?.start_node_id.is_some());
            agents::required_variables(tx, &row)
        })
        .await
}

#[tokio::test]
async fn only_a_published_outbound_call_agent_with_a_ready_flow_places_calls() {
    let world = World::bare().await;
    let draft = agent(&world, "Hello").await;
    let draft_chat = world.draft_agent(&json!({"channel": "chat"})).await["id"].as_str().unwrap().to_owned();
    let chat = world.agent(&json!({"channel": "chat"})).await;
    let inbound = world.agent(&json!({"direction": "inbound"})).await;
    for (id, code) in [
        (&draft, "agent_not_published"),
        (&draft_chat, "agent_not_published"),
        (&chat, "agent_not_call"),
        (&inbound, "agent_not_outbound"),
    ] {
        let error = outbound(&world, id).await.unwrap_err().error;
        assert_eq!((error.status, error.code), (422, code));
    }
    let tools = format!("/workspaces/{}/tools", world.workspace.id);
    let tool = json!({"type": "webhook", "name": "x", "config": {"url": "https://crm.example.com/"}});
    let tool = world.app.operator("POST", &tools, &tool).await.id(201);
    let ready = world.agent(&json!({"systemPrompt": "Hi {{name}} of {{city}}", "toolIds": [tool]})).await;
    assert_eq!(outbound(&world, &ready).await.unwrap(), ["name", "city"]);
    world.app.operator("DELETE", &format!("{tools}/{tool}"), &Value::Null).await.expect(200);
    let failure = outbound(&world, &ready).await.unwrap_err();
    assert_eq!((failure.error.status, failure.error.code), (422, "flow_not_ready"));
    assert_eq!(failure.meta.unwrap()["issues"][0]["code"], "unknown_tool");
}

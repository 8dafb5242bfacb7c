//! Trying a flow in writing before anybody talks with it (docs/contract/flows.md#trying-a-flow).

use serde_json::{Value, json};

use crate::chats::{Chats, Turn, tool};
use crate::shows::Shows;
use crate::world::World;

/// A question, a tool, and a goodbye that names both answers.
fn graph() -> Value {
    json!({"startNodeId": "ask", "variables": [{"name": "city", "required": true}], "nodes": [
        {"id": "ask", "type": "collect", "text": "Hello from {{city}}. Which plan?", "next": "look", "onFail": "z",
         "field": {"key": "plan", "label": "Plan", "type": "choice", "choices": ["gold", "silver"]}},
        {"id": "look", "type": "tool", "toolId": "tool_01k9v5x2m8e6fs4v0q3n7w1y34", "arguments": {"plan": "{{plan}}"},
         "saveAs": "found", "next": "more", "onError": "z"},
        {"id": "more", "type": "collect", "text": "It costs {{found_price}}. Take it?", "next": "z",
         "field": {"key": "take", "label": "Take", "type": "boolean"}},
        {"id": "z", "type": "end", "text": "Goodbye.", "outcome": "done"}]})
}

async fn begin(world: &World, body: &Value) -> Value {
    world.post(&format!("/v1/agents/{}/flow/try", world.agent), body).await.data(201)
}

fn path(world: &World, run: &Value) -> String {
    format!("/v1/agents/{}/flow/try/{}", world.agent, run["id"].as_str().unwrap())
}

fn said(run: &Value) -> Vec<&str> {
    run["turn"]["said"].as_array().unwrap().iter().map(|said| said["text"].as_str().unwrap()).collect()
}

fn edges(run: &Value) -> Vec<String> {
    let text = |edge: &Value, key: &str| edge[key].as_str().unwrap_or("-").to_owned();
    let rows = run["turn"]["edges"].as_array().unwrap().iter();
    rows.map(|edge| format!("{} {} {}", text(edge, "from"), text(edge, "edge"), text(edge, "to"))).collect()
}

#[tokio::test]
async fn a_graph_is_tried_and_gone_back_in() {
    let world = World::open().await;
    let before = world.data(&format!("/v1/agents/{}/flow", world.agent)).await;
    let kinds = world.kinds().await;
    let run = begin(&world, &json!({"graph": graph()})).await;
    assert_eq!(said(&run), ["Hello from city. Which plan?"]);
    assert_eq!(edges(&run), ["- start ask"]);
    run.shows(
        json!({"stepId": "ask", "turns": 1, "turn.turn": 0, "ended": false, "sampleVariables": ["city"]}),
    );
    let at = path(&world, &run);
    // The tool is not called: it answers what the request says.
    let result = json!([{"toolId": "tool_01k9v5x2m8e6fs4v0q3n7w1y34", "value": {"price": "500"}}]);
    let body = json!({"text": " gold ", "toolResults": result});
    let answered = world.post(&format!("{at}/messages"), &body).await.data(200);
    assert_eq!(said(&answered), ["It costs 500. Take it?"]);
    assert_eq!(edges(&answered), ["ask next look", "look next more"]);
    answered.shows(json!({
        "stepId": "more", "extracted": {"plan": "gold"}, "turn.heard": "gold", "turn.toolCalls[0].sample": false,
        "turn.toolCalls[0].arguments": {"plan": "gold"}, "turn.toolCalls[0].result": {"price": "500"}
    }));
    // It survives a restart, and goes back to what was asked before.
    let world = world.restart().await;
    assert_eq!(world.data(&at).await["extracted"], json!({"plan": "gold"}));
    let back = world.post(&format!("{at}/back"), &json!({"toStep": "ask"})).await.data(200);
    back.shows(json!({"stepId": "ask", "turns": 1, "extracted": {}}));
    // Without a result the answer is a sample, and says so; a result that fails takes the other edge.
    let sample = world.post(&format!("{at}/messages"), &json!({"text": "silver"})).await.data(200);
    sample.shows(json!({"turn.toolCalls[0].sample": true, "stepId": "more"}));
    world.post(&format!("{at}/back"), &json!({"turn": 0})).await.expect(200);
    let fails = json!([{"toolId": "tool_01k9v5x2m8e6fs4v0q3n7w1y34", "error": "down"}]);
    let failed =
        world.post(&format!("{at}/messages"), &json!({"text": "gold", "toolResults": fails})).await.data(200);
    assert_eq!(
        (edges(&failed), said(&failed)),
        (vec!["ask next look".into(), "look onError z".into()], vec!["Goodbye."])
    );
    failed.shows(
        json!({"ended": true, "outcome": "done", "endCause": "agent_ended", "stepId": null, "stopped": null}),
    );
    world.post(&format!("{at}/messages"), &json!({"text": "more"})).await.refused(409, "session_ended");
    // Back from the end. Nothing was saved, dialled, charged or told.
    world.post(&format!("{at}/back"), &json!({"turn": 0})).await.data(200).shows(json!({"ended": false}));
    assert_eq!(world.data(&format!("/v1/agents/{}/flow", world.agent)).await, before);
    let visits = world.data(&format!("/v1/agents/{}/flow/visits", world.agent)).await;
    assert_eq!(
        (visits["edges"].clone(), world.calls().await.len(), world.wallet().await.1),
        (json!([]), 0, 0)
    );
    assert_eq!(world.kinds().await, kinds);
}

#[tokio::test]
async fn an_incomplete_draft_stops_with_a_sentence() {
    let world = World::open().await;
    let field = json!({"key": "k", "label": "K", "type": "text"});
    let draft = json!({"startNodeId": "a", "nodes": [
        {"id": "a", "type": "collect", "name": "Ask date", "text": "When?", "field": field}]});
    let flow = format!("/v1/agents/{}/flow", world.agent);
    let base = world.data(&flow).await["draftVersion"].clone();
    world.put(&flow, &json!({"graph": draft, "baseVersion": base})).await.expect(200);
    let run = begin(&world, &Value::Null).await;
    let answered =
        world.post(&format!("{}/messages", path(&world, &run)), &json!({"text": "soon"})).await.data(200);
    answered.shows(json!({
        "ended": true, "endCause": "error", "stopped.code": "missing_edge", "stopped.stepId": "a", "stopped.path": "next",
        "stopped.message": "After the step «Ask date» nothing follows: its field next is not set."
    }));
    for (graph, code, step) in [
        (json!({"nodes": []}), "no_start", Value::Null),
        (
            json!({"startNodeId": "s", "nodes": [{"id": "s", "type": "say", "text": "x", "next": "gone"}]}),
            "unknown_step",
            json!("s"),
        ),
        (
            json!({"startNodeId": "s", "nodes": [{"id": "s", "type": "say", "text": "x", "next": "s"}]}),
            "endless_loop",
            json!("s"),
        ),
    ] {
        begin(&world, &json!({"graph": graph}))
            .await
            .shows(json!({"stopped.code": code, "stopped.stepId": step}));
    }
    // A step that needs a model, without one.
    let talk = json!({"startNodeId": "t", "nodes": [{"id": "t", "type": "converse", "prompt": "Talk.", "exits": []}]});
    let path = format!("{flow}/try");
    let refused = world.post(&path, &json!({"graph": talk})).await.refused(422, "brain_unavailable");
    refused.shows(json!({"meta.nodeId": "t"}));
}

#[tokio::test]
async fn bad_requests_change_nothing() {
    let world = World::open().await;
    let flow = format!("/v1/agents/{}/flow/try", world.agent);
    world.post(&flow, &json!({"graph": {"nodes": 1}})).await.invalid_field("graph.nodes");
    let both = json!([{"toolId": "t", "value": {}, "error": "x"}]);
    world.post(&flow, &json!({"toolResults": both})).await.invalid_field("toolResults[0]");
    let run = begin(&world, &json!({"graph": graph()})).await;
    let at = path(&world, &run);
    let messages = format!("{at}/messages");
    world.post(&messages, &json!({"text": "  "})).await.invalid_field("text");
    world.post(&messages, &json!({})).await.invalid_field("text");
    world.post(&messages, &json!({"text": "a", "document": true})).await.invalid_field("text");
    world.post(&messages, &json!({"document": true})).await.invalid_field("document");
    world.post(&messages, &json!({"text": "a".repeat(4001)})).await.invalid_field("text");
    let back = format!("{at}/back");
    world.post(&back, &json!({"turn": 1})).await.invalid_field("turn");
    world.post(&back, &json!({"toStep": "more"})).await.invalid_field("toStep");
    world.post(&back, &json!({})).await.invalid_field("turn");
    assert_eq!(world.data(&at).await, run);
    // A neighbour, another agent, and a test key.
    let neighbour = world.neighbour().await;
    neighbour.fetch(&at).await.not_found();
    neighbour.post(&messages, &json!({"text": "gold"})).await.not_found();
    neighbour.delete(&at).await.not_found();
    let other = world.agent(&json!({})).await;
    world.fetch(&at.replace(&world.agent, &other)).await.not_found();
    world.app.post(world.test(), &messages, &json!({"text": "gold"})).await.read_only();
    assert_eq!(world.data(&at).await, run);
    world.delete(&at).await.expect(200);
    world.fetch(&at).await.not_found();
}

#[tokio::test]
async fn runs_have_ceilings() {
    let world = World::bare_with(|_| ()).await;
    let world = World { agent: world.agent(&json!({})).await, ..world };
    world.change(&json!({"limits": {"flowTriesPerMinute": 1000}})).await;
    // A flow that asks for ever.
    let field = json!({"key": "k", "label": "K", "type": "text"});
    let graph = json!({"startNodeId": "a", "nodes": [
        {"id": "a", "type": "collect", "text": "And?", "field": field, "next": "b"},
        {"id": "b", "type": "collect", "text": "And then?", "field": field, "next": "a"}]});
    let run = begin(&world, &json!({"graph": graph})).await;
    let messages = format!("{}/messages", path(&world, &run));
    for _ in 0..100 {
        world.post(&messages, &json!({"text": "x"})).await.expect(200);
    }
    world.post(&messages, &json!({"text": "x"})).await.refused(409, "session_ended");
    // By bytes: what does not fit is refused and changes nothing.
    let run = begin(&world, &json!({"graph": graph})).await;
    let messages = format!("{}/messages", path(&world, &run));
    let long = json!({"text": "x".repeat(4000)});
    let mut taken = 0;
    while world.post(&messages, &long).await.status == 200 {
        taken += 1;
    }
    assert!((5..16).contains(&taken), "{taken} messages of 4,000 characters");
    assert_eq!(world.data(&path(&world, &run)).await["turns"], taken + 1);
    // Twenty at a time; half an hour without a request ends one.
    for _ in 2..20 {
        begin(&world, &json!({"graph": graph})).await;
    }
    let flow = format!("/v1/agents/{}/flow/try", world.agent);
    world.post(&flow, &json!({"graph": graph})).await.conflict();
    world.advance(30 * 60).await;
    world.fetch(&path(&world, &run)).await.not_found();
    begin(&world, &json!({"graph": graph})).await;
    world.change(&json!({"limits": {"flowTriesPerMinute": 1}})).await;
    world.post(&flow, &json!({"graph": graph})).await.refused(429, "rate_limited");
}

/// The model of chats talks; secret answers are made up; a model that fails changes nothing.
#[tokio::test]
async fn the_model_and_secrets() {
    let world = Chats::open().await;
    let pin = json!({"key": "pin", "label": "PIN", "type": "number", "secret": true});
    let graph = json!({"startNodeId": "t", "nodes": [
        {"id": "t", "type": "converse", "prompt": "You sell plans.", "toolIds": ["transfer_to_human"], "exits": [{"when": "done", "next": "p"}]},
        {"id": "p", "type": "collect", "text": "Your PIN?", "field": pin, "next": "c"},
        {"id": "c", "type": "tool", "toolId": "tool_01k9v5x2m8e6fs4v0q3n7w1y34", "arguments": {"pin": "{{pin}}"}, "next": "z"},
        {"id": "z", "type": "end", "text": "Thank you."}]});
    let run = begin(&world, &json!({"graph": graph})).await;
    assert_eq!(said(&run), ["Hello, I am Asha."]);
    let messages = format!("{}/messages", path(&world, &run));
    world.model.will([Turn::Fail(domain::ports::ProviderFault::Unreachable)]);
    world.post(&messages, &json!({"text": "Hello"})).await.refused(502, "reply_failed");
    assert_eq!(world.data(&path(&world, &run)).await["turns"], 1);
    world
        .model
        .will([Turn::Say(vec![domain::ports::Said::Text("Fine.".into()), domain::ports::Said::Exit(0)])]);
    let asked = world.post(&messages, &json!({"text": "I want one"})).await.data(200);
    assert_eq!(
        (said(&asked), edges(&asked)),
        (vec!["Fine.", "Your PIN?"], vec!["t exits[0].next p".to_owned()])
    );
    let secret = world.post(&messages, &json!({"text": "8642"})).await.data(200);
    secret.shows(json!({"turn.heard": "1234", "extracted": {"pin": "[secret]"}, "ended": true}));
    let stored = "select log from flow_tries";
    let logs: Vec<String> = world.app().store.read(move |tx| tx.all(stored, &[])).await.unwrap();
    assert!(logs.iter().all(|log| !log.contains("8642")), "{logs:?}");
    // A tool that hands the conversation to a person.
    world.post(&format!("{}/back", path(&world, &run)), &json!({"turn": 0})).await.expect(200);
    world.model.will([tool("One moment.", "transfer_to_human", json!({}))]);
    let over = world.post(&messages, &json!({"text": "No"})).await.data(200);
    over.shows(json!({"ended": true, "endCause": "transfer_handoff", "turn.toolCalls[0].toolId": "transfer_to_human"}));
    world.data(&path(&world, &run)).await.shows(json!({"ended": true, "outcome": "transferred"}));
    assert_eq!(world.charges().await, []);
}

/// Two requests that change a run at the same moment: one of them is refused.
#[tokio::test]
async fn a_run_is_changed_by_one_at_a_time() {
    let world = Chats::open().await;
    let run = begin(&world, &Value::Null).await;
    let messages = format!("{}/messages", path(&world, &run));
    world.model.will([Turn::Wait("One."), Turn::Wait("Two.")]);
    let both = async {
        let (text, other) = (json!({"text": "a"}), json!({"text": "b"}));
        let (one, two) = tokio::join!(world.post(&messages, &text), world.post(&messages, &other));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        statuses
    };
    let release = async {
        world.model.asked_times(3).await;
        world.model.gate.add_permits(2);
    };
    let (statuses, ()) = tokio::join!(both, release);
    assert_eq!(statuses, [200, 409]);
    assert_eq!(world.data(&path(&world, &run)).await["turns"], 2);
}

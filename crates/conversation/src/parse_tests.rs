use super::*;
use serde_json::json;

fn whole() -> Value {
    json!({
        "startNodeId": "a",
        "nodes": [
            {"id": "a", "type": "say", "name": "Hello", "text": "Hello {{name}}", "next": "b"},
            {"id": "b", "type": "collect", "text": "Plan?", "field": {"key": "plan", "label": "Plan", "type": "choice", "choices": ["Gold", "Silver"]},
             "attempts": 2, "next": "c", "onFail": "i"},
            {"id": "c", "type": "converse", "prompt": "Talk.", "useKnowledge": true, "toolIds": ["tool_1"], "exits": [{"when": "done", "next": "d"}], "maxTurns": 7},
            {"id": "d", "type": "branch", "cases": [{"variable": "plan", "op": "in", "value": ["Gold"], "next": "e"}], "otherwise": "i"},
            {"id": "e", "type": "tool", "toolId": "tool_1", "arguments": {"plan": "{{plan}}"}, "saveAs": "answer", "next": "f", "onError": "i"},
            {"id": "f", "type": "message", "template": {"name": "hi", "language": "en"}, "next": "g"},
            {"id": "g", "type": "document", "label": "PAN", "fields": ["pan_number"], "attempts": 1, "next": "h", "onFail": "i"},
            {"id": "h", "type": "transfer", "transferNumbers": ["+919876543210"], "text": "One moment", "mode": "cold", "onFail": "i"},
            {"id": "i", "type": "end", "text": "Bye", "outcome": "interested"},
        ],
        "variables": [{"name": "name", "required": true, "description": "who"}, {"name": "city", "required": false, "default": "Pune"}],
    })
}

#[test]
fn every_node_type_survives_the_way_there_and_back() {
    let flow = Flow::parse(&whole()).expect("a flow");
    assert_eq!(flow.to_json(), whole());
    assert_eq!(Flow::parse(&flow.to_json()), Ok(flow.clone()));
    assert_eq!(flow.required_variables(), ["name"]);
}

#[test]
fn defaults() {
    let flow = Flow::parse(&json!({"nodes": [
        {"id": "a", "type": "collect", "extra": {"x": 1}}, {"id": "b", "type": "converse", "exits": null}, {"id": "c", "type": "transfer"},
        {"id": "d", "type": "branch", "cases": [{"variable": "{{ plan }}"}]}, {"id": "e", "type": "document", "fields": [{"key": "k"}]},
    ]}));
    let flow = flow.expect("an unfinished draft is a flow graph");
    assert_eq!(flow.start_node_id, None);
    let kinds: Vec<_> = flow.nodes.iter().map(|node| &node.kind).collect();
    assert!(
        matches!(kinds[0], NodeKind::Collect(collect) if collect.attempts == 3 && collect.field.kind == FieldKind::Text && collect.next.is_none())
    );
    assert!(
        matches!(kinds[1], NodeKind::Converse(converse) if converse.max_turns == 20 && converse.exits.is_empty() && !converse.use_knowledge)
    );
    assert!(matches!(kinds[2], NodeKind::Transfer(transfer) if transfer.mode == TransferMode::Warm));
    assert!(
        matches!(kinds[3], NodeKind::Branch(branch) if branch.cases[0].variable == "plan" && branch.cases[0].op == Op::Eq)
    );
    assert!(
        matches!(kinds[4], NodeKind::Document(document) if document.fields == ["k"] && document.attempts == 3)
    );
}

#[test]
fn a_variable_with_a_default_need_not_be_supplied() {
    let flow = Flow::parse(&json!({"nodes": [], "variables": [
        {"name": "a", "required": true}, {"name": "b", "required": true, "default": 1}, {"name": "c"}, {"name": "d", "required": true}]}));
    assert_eq!(flow.expect("a flow").required_variables(), ["a", "d"]);
}

#[test]
fn what_is_not_a_flow_graph_is_refused_with_its_field() {
    let node = |node: Value| json!({"nodes": [{"id": "first", "type": "end"}, node]});
    let long = "x".repeat(MAX_TEXT + 1);
    let many: Vec<_> = (0..=MAX_NODES).map(|index| json!({"id": index.to_string(), "type": "end"})).collect();
    for (graph, field) in [
        (json!("x"), "graph"),
        (json!([]), "graph"),
        (json!({}), "nodes"),
        (json!({"nodes": {}}), "nodes"),
        (json!({"nodes": many}), "nodes"),
        (json!({"nodes": [1]}), "nodes[0]"),
        (json!({"nodes": [], "startNodeId": 1}), "startNodeId"),
        (json!({"nodes": [], "variables": {}}), "variables"),
        (json!({"nodes": [], "variables": [{"name": "1a"}]}), "variables[0].name"),
        (json!({"nodes": [], "variables": [{}]}), "variables[0].name"),
        (json!({"nodes": [], "variables": [{"name": "a"}, {"name": "a"}]}), "variables[1].name"),
        (json!({"nodes": [], "variables": [{"name": "a", "required": "yes"}]}), "variables[0].required"),
        (json!({"nodes": [], "variables": [{"name": "a", "default": []}]}), "variables[0].default"),
        (node(json!({"type": "say"})), "nodes[1].id"),
        (node(json!({"id": 7, "type": "say"})), "nodes[1].id"),
        (node(json!({"id": "first", "type": "say"})), "nodes[1].id"),
        (node(json!({"id": "b"})), "nodes[1].type"),
        (node(json!({"id": "b", "type": "dance"})), "nodes[1].type"),
        (node(json!({"id": "b", "type": "say", "text": 1})), "nodes[1].text"),
        (node(json!({"id": "b", "type": "say", "text": long})), "nodes[1].text"),
        (node(json!({"id": "b", "type": "say", "next": ["first"]})), "nodes[1].next"),
        (node(json!({"id": "b", "type": "collect", "attempts": 0})), "nodes[1].attempts"),
        (node(json!({"id": "b", "type": "collect", "attempts": 1.5})), "nodes[1].attempts"),
        (node(json!({"id": "b", "type": "collect", "field": "plan"})), "nodes[1].field"),
        (node(json!({"id": "b", "type": "collect", "field": {"type": "colour"}})), "nodes[1].field.type"),
        (node(json!({"id": "b", "type": "collect", "field": {"choices": [1]}})), "nodes[1].field.choices[0]"),
        (node(json!({"id": "b", "type": "converse", "useKnowledge": 1})), "nodes[1].useKnowledge"),
        (node(json!({"id": "b", "type": "converse", "exits": [{"when": 1}]})), "nodes[1].exits[0].when"),
        (node(json!({"id": "b", "type": "converse", "exits": ["x"]})), "nodes[1].exits[0]"),
        (node(json!({"id": "b", "type": "converse", "maxTurns": 201})), "nodes[1].maxTurns"),
        (node(json!({"id": "b", "type": "branch", "cases": [{"op": "like"}]})), "nodes[1].cases[0].op"),
        (node(json!({"id": "b", "type": "tool", "arguments": []})), "nodes[1].arguments"),
        (node(json!({"id": "b", "type": "tool", "saveAs": "a b"})), "nodes[1].saveAs"),
        (node(json!({"id": "b", "type": "transfer", "mode": "hot"})), "nodes[1].mode"),
        (
            node(json!({"id": "b", "type": "transfer", "transferNumbers": [919876543210u64]})),
            "nodes[1].transferNumbers[0]",
        ),
        (node(json!({"id": "b", "type": "message", "template": 1})), "nodes[1].template"),
        (node(json!({"id": "b", "type": "document", "fields": [{}]})), "nodes[1].fields[0].key"),
    ] {
        assert_eq!(Flow::parse(&graph).expect_err("refused").field, field);
    }
}

#[test]
fn a_value_is_confirmed_only_where_it_can_be_read_back() {
    let graph = |kind: &str, confirm: Value| json!({"nodes": [{"id": "a", "type": "collect", "field": {"key": "k", "type": kind, "confirm": confirm}}]});
    for kind in ["date", "time", "amount", "phone", "email", "pincode"] {
        let flow = Flow::parse(&graph(kind, json!(true))).expect("a flow");
        assert_eq!(flow.to_json()["nodes"][0]["field"]["confirm"], json!(true));
        let flow = Flow::parse(&graph(kind, json!(false))).expect("a flow");
        assert_eq!(flow.to_json()["nodes"][0]["field"]["confirm"], Value::Null);
    }
    for kind in ["text", "boolean", "number", "choice"] {
        let error = Flow::parse(&graph(kind, json!(true))).expect_err("nothing to read back");
        assert_eq!(error.field, "nodes[0].field.confirm");
        assert!(Flow::parse(&graph(kind, json!(false))).is_ok());
    }
    assert_eq!(
        Flow::parse(&graph("date", json!("yes"))).expect_err("a text").field,
        "nodes[0].field.confirm"
    );
    let error = Flow::parse(&graph("day", json!(null))).expect_err("an unknown type");
    assert_eq!(error.field, "nodes[0].field.type");
    assert!(error.message.contains("amount") && error.message.contains("pincode"), "{}", error.message);
}

use super::*;
use crate::one_step::one_step;
use serde_json::{Value, json};

fn issues_on(graph: &Value, channel: Channel) -> Vec<Issue> {
    let tools = BTreeSet::from(["tool_1".to_owned()]);
    check(
        &Flow::parse(graph).expect("a flow"),
        &CheckFacts { channel, languages: &[], tool_ids: &tools, is_indian: is_plus_91 },
    )
}

/// Codes with their node, as `code@node`.
fn found(graph: &Value, channel: Channel) -> Vec<String> {
    issues_on(graph, channel)
        .into_iter()
        .map(|issue| format!("{}@{}", issue.code, issue.node_id.unwrap_or_default()))
        .collect()
}

fn flow(nodes: Value) -> Value {
    let start = nodes[0]["id"].clone();
    json!({"startNodeId": start, "nodes": nodes, "variables": [{"name": "name", "required": true}]})
}

#[test]
fn a_flow_without_issues() {
    let graph = flow(json!([
        {"id": "a", "type": "say", "text": "Hello {{name}}", "next": "b"},
        {"id": "b", "type": "collect", "text": "Which plan?", "field": {"key": "plan", "type": "choice", "choices": ["Gold"]}, "next": "c", "onFail": "z"},
        {"id": "c", "type": "tool", "toolId": "tool_1", "arguments": {"plan": "{{plan}}"}, "saveAs": "price", "next": "d", "onError": "z"},
        {"id": "d", "type": "say", "text": "{{plan}} costs {{price}}, in rupees {{price_amount}}", "next": "e"},
        {"id": "e", "type": "branch", "cases": [{"variable": "plan", "op": "eq", "value": "Gold", "next": "f"}], "otherwise": "z"},
        {"id": "f", "type": "converse", "prompt": "Explain {{plan}}.", "toolIds": ["tool_1"], "exits": [{"when": "done", "next": "g"}]},
        {"id": "g", "type": "message", "text": "Thanks {{name}}", "next": "h"},
        {"id": "h", "type": "transfer", "transferNumbers": ["+919876543210"], "onFail": "z"},
        {"id": "z", "type": "end"},
    ]));
    assert_eq!(found(&graph, Channel::Call), [""; 0]);
}

#[test]
fn each_issue_is_found() {
    let end = json!({"id": "z", "type": "end"});
    let one = |node: Value| flow(json!([node, end]));
    for (graph, expected) in [
        (json!({"nodes": []}), vec!["no_start_node@"]),
        (json!({"startNodeId": "q", "nodes": [end]}), vec!["no_start_node@"]),
        (
            one(json!({"id": "a", "type": "say", "text": "x", "next": "q"})),
            vec!["unreachable_end@", "unknown_next@a", "unreachable_node@z"],
        ),
        (
            one(json!({"id": "a", "type": "say", "text": "x"})),
            vec!["unreachable_end@", "missing_next@a", "unreachable_node@z"],
        ),
        (one(json!({"id": "a", "type": "say", "next": "z"})), vec!["missing_text@a"]),
        (one(json!({"id": "a", "type": "say", "text": " ", "next": "z"})), vec!["missing_text@a"]),
        (
            one(json!({"id": "a", "type": "say", "text": "{{x}} {{x}}", "next": "z"})),
            vec!["undeclared_variable@a"],
        ),
        (
            one(json!({"id": "a", "type": "say", "text": "{{first name}}", "next": "z"})),
            vec!["stray_braces@a"],
        ),
        (
            one(json!({"id": "a", "type": "collect", "field": {"key": "k"}, "next": "z"})),
            vec!["missing_text@a"],
        ),
        (one(json!({"id": "a", "type": "collect", "text": "x", "next": "z"})), vec!["missing_text@a"]),
        (
            one(json!({"id": "a", "type": "collect", "text": "{{k}}", "field": {"key": "k"}, "next": "z"})),
            vec!["undeclared_variable@a"],
        ),
        (
            one(
                json!({"id": "a", "type": "collect", "text": "x", "field": {"key": "k", "type": "choice"}, "next": "z"}),
            ),
            vec!["missing_choices@a"],
        ),
        (
            one(
                json!({"id": "a", "type": "collect", "text": "x", "field": {"key": "k"}, "next": "z", "onFail": "q"}),
            ),
            vec!["unknown_next@a"],
        ),
        (
            one(json!({"id": "a", "type": "converse", "exits": [{"next": "z"}]})),
            vec!["missing_text@a", "missing_text@a"],
        ),
        (
            one(json!({"id": "a", "type": "converse", "prompt": "x"})),
            vec!["converse_without_exit@a", "unreachable_node@z"],
        ),
        (
            one(
                json!({"id": "a", "type": "converse", "prompt": "{{x}}", "toolIds": ["tool_2"], "exits": [{"when": "x", "next": "z"}]}),
            ),
            vec!["unknown_tool@a", "undeclared_variable@a"],
        ),
        (
            one(
                json!({"id": "a", "type": "converse", "prompt": "x", "exits": [{"when": "x"}, {"when": "y", "next": "q"}]}),
            ),
            vec!["missing_next@a", "unknown_next@a", "unreachable_node@z"],
        ),
        (
            one(
                json!({"id": "a", "type": "branch", "cases": [{"variable": "name", "op": "gt", "next": "z"}], "otherwise": "z"}),
            ),
            vec!["missing_value@a"],
        ),
        (
            one(
                json!({"id": "a", "type": "branch", "cases": [{"op": "exists", "next": "z"}], "otherwise": "q"}),
            ),
            vec!["unknown_next@a", "missing_text@a"],
        ),
        (
            one(
                json!({"id": "a", "type": "branch", "cases": [{"variable": "x", "op": "exists", "next": "z"}]}),
            ),
            vec!["branch_without_otherwise@a", "unknown_branch_variable@a"],
        ),
        (one(json!({"id": "a", "type": "tool", "next": "z"})), vec!["unknown_tool@a"]),
        (
            one(json!({"id": "a", "type": "tool", "toolId": "tool_2", "next": "z", "onError": "q"})),
            vec!["unknown_next@a", "unknown_tool@a"],
        ),
        (
            one(
                json!({"id": "a", "type": "tool", "toolId": "tool_1", "arguments": {"a": ["{{x}}"]}, "next": "z"}),
            ),
            vec!["undeclared_variable@a"],
        ),
        (one(json!({"id": "a", "type": "transfer", "onFail": "z"})), vec!["missing_transfer_number@a"]),
        (
            one(
                json!({"id": "a", "type": "transfer", "transferNumbers": ["+14155550100", "9876543210"], "onFail": "z"}),
            ),
            vec!["invalid_transfer_number@a", "invalid_transfer_number@a"],
        ),
        (one(json!({"id": "a", "type": "message", "next": "z"})), vec!["missing_text@a"]),
        (
            one(json!({"id": "a", "type": "document", "label": "PAN", "next": "z"})),
            vec!["document_on_call@a"],
        ),
    ] {
        assert_eq!(found(&graph, Channel::Call), expected, "{graph}");
    }
}

#[test]
fn loops_that_ask_nothing_are_errors_and_loops_that_ask_are_not() {
    let say = |id: &str, next: &str| json!({"id": id, "type": "say", "text": "x", "next": next});
    let branch = |next: &str| json!({"id": "b", "type": "branch", "cases": [{"variable": "name", "value": "x", "next": next}], "otherwise": "z"});
    let end = json!({"id": "z", "type": "end"});
    assert_eq!(
        found(&flow(json!([say("a", "b"), branch("c"), say("c", "a"), end])), Channel::Call),
        ["endless_loop@a"]
    );
    assert_eq!(found(&flow(json!([say("a", "a")])), Channel::Call), ["unreachable_end@", "endless_loop@a"]);
    let retry = json!({"id": "t", "type": "tool", "toolId": "tool_1", "next": "z", "onError": "t"});
    assert_eq!(found(&flow(json!([retry, end])), Channel::Call), ["endless_loop@t"]);
    let ask =
        json!({"id": "c", "type": "collect", "text": "x", "field": {"key": "k"}, "next": "a", "onFail": "a"});
    assert_eq!(found(&flow(json!([say("a", "b"), branch("c"), ask, end])), Channel::Call), [""; 0]);
}

#[test]
fn a_capture_counts_only_for_what_can_come_after_it() {
    let graph = flow(json!([
        {"id": "a", "type": "say", "text": "{{plan}}", "next": "b"},
        {"id": "b", "type": "collect", "text": "x", "field": {"key": "plan"}, "next": "c"},
        {"id": "c", "type": "end", "text": "{{plan}}"},
    ]));
    assert_eq!(found(&graph, Channel::Call), ["undeclared_variable@a"]);
}

#[test]
fn a_chat_may_ask_for_documents_and_hand_over_without_a_number() {
    let graph = flow(json!([
        {"id": "a", "type": "document", "label": "PAN", "fields": ["pan"], "next": "b"},
        {"id": "b", "type": "say", "text": "{{pan}}", "next": "c"},
        {"id": "c", "type": "transfer"},
    ]));
    assert_eq!(found(&graph, Channel::Chat), [""; 0]);
}

#[test]
fn one_step_flows_have_no_issues() {
    let tools = BTreeSet::from(["tool_1".to_owned()]);
    let many: String = (0..1500).map(|index| format!("{{{{v{index}}}}} ")).collect();
    for prompt in ["", "  ", "Call {{name}} about {{ amount }}, {{name}}.", many.as_str(), "{{not a name}}"] {
        let flow = one_step(prompt, &["tool_1".to_owned()], true);
        assert_eq!(
            check(
                &flow,
                &CheckFacts {
                    channel: Channel::Call,
                    languages: &[],
                    tool_ids: &tools,
                    is_indian: is_plus_91
                }
            ),
            [],
            "{prompt}"
        );
        assert_eq!(Flow::parse(&flow.to_json()), Ok(flow));
    }
    assert_eq!(
        one_step("Call {{name}} about {{ amount }}, {{name}}.", &[], false).required_variables(),
        ["name", "amount"]
    );
}

#[test]
fn an_issue_on_the_wire() {
    let issues = issues_on(
        &json!({"startNodeId": "a", "nodes": [{"id": "a", "type": "end", "name": "Bye", "text": "{{x}}"}]}),
        Channel::Call,
    );
    let expected = json!([{"level": "error", "code": "undeclared_variable", "message": "Bye: {{x}} is not declared", "nodeId": "a"}]);
    assert_eq!(serde_json::to_value(issues).ok(), Some(expected));
}

#[test]
fn indian_numbers() {
    for (number, ok) in [
        ("+919876543210", true),
        ("+91987654321", false),
        ("919876543210", false),
        ("+9198765432１0", false),
        ("", false),
    ] {
        assert_eq!(is_plus_91(number), ok, "{number}");
    }
}

#[test]
fn the_largest_flow_is_judged_in_bounds() {
    let target = |index: usize, case: usize| (index + 1 + case).min(499).to_string();
    let node = |index: usize| {
        let text: String = (0..10).map(|name| format!("{{{{v{index}_{name}}}}}")).collect();
        let cases: Vec<Value> = (0..50)
            .map(|case| json!({"variable": "x", "value": text, "next": target(index, case)}))
            .collect();
        json!({"id": index.to_string(), "type": "branch", "cases": cases})
    };
    let nodes: Vec<Value> = (0..499).map(node).chain([json!({"id": "499", "type": "end"})]).collect();
    let issues = issues_on(&flow(Value::Array(nodes)), Channel::Call);
    assert_eq!(issues.len(), 2 * MAX_ISSUES);
    assert!(blocks_publishing(&issues));
}

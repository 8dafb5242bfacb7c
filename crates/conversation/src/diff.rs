//! What changed between two graphs: codes and parameters, in no language, so that every console says them in its own.

use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::graph::Flow;

/// Most changes that are listed.
pub const MAX_CHANGES: usize = 2000;
/// How deep a field is compared; below that it is one value.
const MAX_DEPTH: usize = 6;

/// What a change does to the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Another step is the first; `before` and `after` are their ids.
    StartChanged,
    /// A step is new; `after` is the step.
    StepAdded,
    /// A step is gone; `before` is the step.
    StepRemoved,
    /// A field of a step has another value.
    StepChanged,
    /// An edge is new, or leads to another step now; `after` is the id of that step.
    EdgeAdded,
    /// An edge is gone, or leads to another step now; `before` is the id of the step that it led to.
    EdgeRemoved,
    /// A variable is new; `after` is the variable.
    VariableAdded,
    /// A variable is gone; `before` is the variable.
    VariableRemoved,
    /// A field of a variable has another value.
    VariableChanged,
    /// A field of the graph that the service does not know has another value.
    GraphChanged,
}

/// A change from one graph to another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowChange {
    /// What kind of change it is.
    pub code: ChangeKind,
    /// Id of the step, or of the step that an edge leaves; null where it is about none.
    pub step_id: Option<String>,
    /// The name of that step for people, or its id where it has none; null where it is about none.
    pub step_name: Option<String>,
    /// The type of that step; null where it is about none.
    pub step_type: Option<String>,
    /// The name of the variable; null where it is about none.
    pub variable: Option<String>,
    /// The field, such as `text`, `field.choices[2]` or `exits[0].next`; null where the whole step or variable is meant.
    pub path: Option<String>,
    /// The value before; null if there was none.
    pub before: Value,
    /// The value after; null if there is none.
    pub after: Value,
}

/// What changed, in the order of the steps, and whether there is more than [`MAX_CHANGES`].
pub fn changes(before: (&Value, &Flow), after: (&Value, &Flow)) -> (Vec<FlowChange>, bool) {
    let mut found = Found { changes: Vec::new(), more: false };
    let (old, new) = (before.0, after.0);
    let start = |graph: &Value| graph.get("startNodeId").cloned().unwrap_or(Value::Null);
    if start(old) != start(new) {
        found.add(FlowChange {
            before: start(old),
            after: start(new),
            ..FlowChange::of(ChangeKind::StartChanged)
        });
    }
    steps(&mut found, before, after);
    variables(&mut found, old, new);
    let mut values = Vec::new();
    let known = |field: &str| ["startNodeId", "nodes", "variables"].contains(&field);
    compare(&mut values, &without(old, &known), &without(new, &known), "", 0);
    for (path, before, after) in values {
        found.add(FlowChange { path: Some(path), before, after, ..FlowChange::of(ChangeKind::GraphChanged) });
    }
    (found.changes, found.more)
}

struct Found {
    changes: Vec<FlowChange>,
    more: bool,
}

impl Found {
    fn add(&mut self, change: FlowChange) {
        if self.changes.len() < MAX_CHANGES {
            self.changes.push(change);
        } else {
            self.more = true;
        }
    }
}

impl FlowChange {
    fn of(code: ChangeKind) -> Self {
        Self {
            code,
            step_id: None,
            step_name: None,
            step_type: None,
            variable: None,
            path: None,
            before: Value::Null,
            after: Value::Null,
        }
    }

    fn of_step(code: ChangeKind, step: &Value) -> Self {
        let text = |key: &str| step.get(key).and_then(Value::as_str).map(str::to_owned);
        let name = text("name").filter(|name| !name.trim().is_empty());
        Self {
            step_name: name.or_else(|| text("id")),
            step_id: text("id"),
            step_type: text("type"),
            ..Self::of(code)
        }
    }
}

/// The entries of a list by a text field of theirs, in order.
fn listed<'v>(graph: &'v Value, list: &str, key: &str) -> Vec<(&'v str, &'v Value)> {
    let entries = graph.get(list).and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(|entry| Some((entry.get(key)?.as_str()?, entry))).collect()
}

fn steps(found: &mut Found, before: (&Value, &Flow), after: (&Value, &Flow)) {
    let (old, new) = (listed(before.0, "nodes", "id"), listed(after.0, "nodes", "id"));
    let was: HashMap<&str, &Value> = old.iter().copied().collect();
    let is: HashMap<&str, &Value> = new.iter().copied().collect();
    let (old_edges, new_edges) = (edges(before.1), edges(after.1));
    for (id, step) in old.iter().filter(|(id, _)| !is.contains_key(id)) {
        found.add(FlowChange {
            before: (*step).clone(),
            ..FlowChange::of_step(ChangeKind::StepRemoved, step)
        });
        edge_changes(found, step, old_edges.get(id), None);
    }
    for (id, step) in new {
        let Some(earlier) = was.get(id) else {
            found.add(FlowChange { after: step.clone(), ..FlowChange::of_step(ChangeKind::StepAdded, step) });
            edge_changes(found, step, None, new_edges.get(id));
            continue;
        };
        if *earlier == step {
            continue;
        }
        let (old_edges, new_edges) = (old_edges.get(id), new_edges.get(id));
        let mut values = Vec::new();
        compare(&mut values, earlier, step, "", 0);
        let is_edge = |path: &str| {
            [old_edges, new_edges].into_iter().flatten().flatten().any(|(field, _)| field == path)
        };
        for (path, before, after) in values.into_iter().filter(|(path, ..)| !is_edge(path)) {
            let change = FlowChange::of_step(ChangeKind::StepChanged, step);
            found.add(FlowChange { path: Some(path), before, after, ..change });
        }
        edge_changes(found, step, old_edges, new_edges);
    }
}

type Edges = Vec<(String, String)>;

/// The edges of each node that lead somewhere: field and node.
fn edges(flow: &Flow) -> HashMap<&str, Edges> {
    let of = |node: &super::graph::Node| -> Edges {
        let edges = node.edges();
        edges.into_iter().filter_map(|edge| Some((edge.field, edge.to?.to_owned()))).collect()
    };
    flow.nodes.iter().map(|node| (node.id.as_str(), of(node))).collect()
}

fn edge_changes(found: &mut Found, step: &Value, before: Option<&Edges>, after: Option<&Edges>) {
    let (before, after) = (before.map_or(&[][..], Vec::as_slice), after.map_or(&[][..], Vec::as_slice));
    for (field, to) in before.iter().filter(|edge| !after.contains(edge)) {
        let change = FlowChange::of_step(ChangeKind::EdgeRemoved, step);
        found.add(FlowChange { path: Some(field.clone()), before: Value::from(to.as_str()), ..change });
    }
    for (field, to) in after.iter().filter(|edge| !before.contains(edge)) {
        let change = FlowChange::of_step(ChangeKind::EdgeAdded, step);
        found.add(FlowChange { path: Some(field.clone()), after: Value::from(to.as_str()), ..change });
    }
}

fn variables(found: &mut Found, before: &Value, after: &Value) {
    let (old, new) = (listed(before, "variables", "name"), listed(after, "variables", "name"));
    let was: HashMap<&str, &Value> = old.iter().copied().collect();
    let is: BTreeSet<&str> = new.iter().map(|(name, _)| *name).collect();
    let of = |code, name: &str| FlowChange { variable: Some(name.to_owned()), ..FlowChange::of(code) };
    for (name, variable) in old.iter().filter(|(name, _)| !is.contains(name)) {
        found.add(FlowChange { before: (*variable).clone(), ..of(ChangeKind::VariableRemoved, name) });
    }
    for (name, variable) in new {
        let Some(earlier) = was.get(name) else {
            found.add(FlowChange { after: variable.clone(), ..of(ChangeKind::VariableAdded, name) });
            continue;
        };
        let mut values = Vec::new();
        compare(&mut values, earlier, variable, "", 0);
        for (path, before, after) in values {
            found.add(FlowChange {
                path: Some(path),
                before,
                after,
                ..of(ChangeKind::VariableChanged, name)
            });
        }
    }
}

fn without(graph: &Value, left_out: &dyn Fn(&str) -> bool) -> Value {
    let fields = graph.as_object().into_iter().flatten();
    let rest: Map<String, Value> = fields
        .filter(|(field, _)| !left_out(field))
        .map(|(field, value)| (field.clone(), value.clone()))
        .collect();
    Value::Object(rest)
}

/// The paths at which two values differ, with both; at most [`MAX_CHANGES`] and one.
fn compare(found: &mut Vec<(String, Value, Value)>, before: &Value, after: &Value, path: &str, depth: usize) {
    if before == after || found.len() > MAX_CHANGES {
        return;
    }
    match (before, after) {
        (Value::Object(old), Value::Object(new)) if depth < MAX_DEPTH => {
            let of = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            for (name, value) in old {
                compare(found, value, new.get(name).unwrap_or(&Value::Null), &of(name), depth + 1);
            }
            for (name, value) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
                compare(found, &Value::Null, value, &of(name), depth + 1);
            }
        }
        (Value::Array(old), Value::Array(new)) if depth < MAX_DEPTH => {
            for index in 0..old.len().max(new.len()) {
                let at = |list: &'_ [Value]| list.get(index).cloned().unwrap_or(Value::Null);
                match (old.get(index), new.get(index)) {
                    (Some(before), Some(after)) => {
                        compare(found, before, after, &format!("{path}[{index}]"), depth + 1);
                    }
                    _ => found.push((format!("{path}[{index}]"), at(old), at(new))),
                }
                if found.len() > MAX_CHANGES {
                    return;
                }
            }
        }
        _ => found.push((path.to_owned(), before.clone(), after.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn diff(
        before: &Value,
        after: &Value,
    ) -> Vec<(ChangeKind, Option<String>, Option<String>, Value, Value)> {
        let (old, new) = (Flow::parse(before).unwrap(), Flow::parse(after).unwrap());
        let (changes, more) = changes((before, &old), (after, &new));
        assert!(!more);
        changes
            .into_iter()
            .map(|change| {
                (change.code, change.step_id.or(change.variable), change.path, change.before, change.after)
            })
            .collect()
    }

    #[test]
    fn each_kind_of_change_is_named_with_its_place() {
        let before = json!({"startNodeId": "a", "nodes": [
            {"id": "a", "type": "say", "text": "Hello", "next": "b"},
            {"id": "b", "type": "collect", "text": "Which?", "field": {"key": "k", "label": "K", "type": "choice", "choices": ["x", "y"]}, "next": "c"},
            {"id": "c", "type": "end", "text": "Bye"}],
            "variables": [{"name": "old"}, {"name": "kept", "default": "1"}], "layout": {"zoom": 1}});
        let after = json!({"startNodeId": "b", "nodes": [
            {"id": "b", "type": "collect", "text": "Which one?", "field": {"key": "k", "label": "K", "type": "choice", "choices": ["x", "z", "w"]}, "next": "d"},
            {"id": "c", "type": "end", "text": "Bye"},
            {"id": "d", "type": "end", "text": "Soon"}],
            "variables": [{"name": "kept", "default": "2"}, {"name": "new"}], "layout": {"zoom": 2}});
        use ChangeKind::*;
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(diff(&before, &before), []);
        assert_eq!(
            diff(&before, &after),
            [
                (StartChanged, None, None, json!("a"), json!("b")),
                (StepRemoved, some("a"), None, before["nodes"][0].clone(), Value::Null),
                (EdgeRemoved, some("a"), some("next"), json!("b"), Value::Null),
                (StepChanged, some("b"), some("text"), json!("Which?"), json!("Which one?")),
                (StepChanged, some("b"), some("field.choices[1]"), json!("y"), json!("z")),
                (StepChanged, some("b"), some("field.choices[2]"), Value::Null, json!("w")),
                (EdgeRemoved, some("b"), some("next"), json!("c"), Value::Null),
                (EdgeAdded, some("b"), some("next"), Value::Null, json!("d")),
                (StepAdded, some("d"), None, Value::Null, after["nodes"][2].clone()),
                (VariableRemoved, some("old"), None, json!({"name": "old"}), Value::Null),
                (VariableChanged, some("kept"), some("default"), json!("1"), json!("2")),
                (VariableAdded, some("new"), None, Value::Null, json!({"name": "new"})),
                (GraphChanged, None, some("layout.zoom"), json!(1), json!(2)),
            ]
        );
    }

    #[test]
    fn a_flood_of_changes_is_cut() {
        let end = json!({"id": "e", "type": "end", "text": ""});
        let before = json!({"startNodeId": "e", "nodes": [end], "x": []});
        let after = json!({"startNodeId": "e", "nodes": [end], "x": (0..5000).collect::<Vec<_>>()});
        let flow = Flow::parse(&before).unwrap();
        let (changes, more) = changes((&before, &flow), (&after, &flow));
        assert_eq!((changes.len(), more), (MAX_CHANGES, true));
    }
}

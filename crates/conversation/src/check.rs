//! What keeps a draft from being published (`error`) and what its author should look at (`warning`):
//! docs/contract/flows.md#issues.
//!
//! | code | level | found when |
//! |---|---|---|
//! | `no_start_node` | error | `startNodeId` is missing or names no node |
//! | `unknown_next` | error | an edge (`next`, `onFail`, `onError`, `exits`, `cases`, `otherwise`) names no node |
//! | `missing_next` | error | a required edge of a node is not set |
//! | `unreachable_end` | error | nothing that can end the conversation (`end`, `converse`, `transfer`) is reachable from the start |
//! | `endless_loop` | error | a reachable cycle asks the customer nothing, so it would never end |
//! | `missing_text` | error | a text, prompt, label, field key, exit condition or case variable is blank |
//! | `missing_choices` | error | a `choice` field without choices |
//! | `missing_value` | error | a comparison has no value to compare with |
//! | `unknown_tool` | error | a tool that the workspace does not have, or none chosen |
//! | `invalid_transfer_number` | error | a transfer number that is not Indian (+91) |
//! | `missing_transfer_number` | error | a `transfer` of a call agent without a number |
//! | `undeclared_variable` | error | a `{{name}}` that is neither declared nor captured or saved on the way to the node |
//! | `document_on_call` | error | a `document` node of a call agent |
//! | `unused_secret` | error | a secret answer that no `tool` after it is given |
//! | `secret_shown` | error | a secret answer in another place than the arguments of a `tool` |
//! | `unreachable_node` | warning | a node that cannot be reached from the start |
//! | `converse_without_exit` | warning | a `converse` node without exits: the model ends the conversation itself |
//! | `branch_without_otherwise` | warning | a `branch` that ends the conversation when no case holds |
//! | `unknown_branch_variable` | warning | a case tests a name that nothing sets |
//! | `missing_translation` | warning | a text lacks one of the agent's languages |
//! | `unused_translation` | warning | a text in a language that the agent does not follow the customer into |
//! | `stray_braces` | warning | double braces around something that is not a name: they would be spoken literally |

use std::collections::{BTreeSet, HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::channel::Channel;

use super::graph::{Collect, FieldKind, Flow, Node, NodeKind, Op, Tool};
use super::template;

/// Most issues reported for each level.
const MAX_ISSUES: usize = 500;

/// Level of an issue: `error` blocks publishing, `warning` does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FlowIssueLevel")]
pub enum Level {
    /// It blocks publishing.
    Error,
    /// The flow can be published.
    Warning,
}

/// A problem of a flow's draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowIssue")]
pub struct Issue {
    /// `error` blocks publishing, `warning` does not.
    pub level: Level,
    /// Machine-readable code of the issue, such as `unknown_next`.
    pub code: &'static str,
    /// Description of the issue, for people.
    pub message: String,
    /// Id of the node that has the issue; null for the flow as a whole.
    pub node_id: Option<String>,
}

/// What a flow is checked against.
#[derive(Debug, Clone, Copy)]
pub struct CheckFacts<'a> {
    pub channel: Channel,
    /// The languages that the agent follows the customer into, its own first; empty if it has only its own.
    pub languages: &'a [String],
    pub tool_ids: &'a BTreeSet<String>,
    /// Whether a number is an Indian +91 number, such as [`is_plus_91`].
    pub is_indian: fn(&str) -> bool,
}

/// Whether the text is `+91` and ten digits.
pub fn is_plus_91(number: &str) -> bool {
    number
        .strip_prefix("+91")
        .is_some_and(|rest| rest.len() == 10 && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether any of the issues keeps the flow from being published.
pub fn blocks_publishing(issues: &[Issue]) -> bool {
    issues.iter().any(|issue| issue.level == Level::Error)
}

/// The issues of a flow, at most 500 of each level: first those of the whole flow, then node by node in drawn
/// order.
pub fn check(flow: &Flow, facts: &CheckFacts<'_>) -> Vec<Issue> {
    let graph = Graph::of(flow);
    let mut issues = Issues(Vec::new());
    whole(&graph, &mut issues);
    let mut names = Names::of(flow);
    for (index, node) in flow.nodes.iter().enumerate() {
        if graph.start.is_some() && !graph.reached[index] {
            issues.warning(node, "unreachable_node", "cannot be reached from the start".into());
        }
        edges(&graph, node, &mut issues);
        fields(node, facts, &mut issues);
        translations(node, facts, &mut issues);
        variables(&graph, index, &mut names, &mut issues);
        secrets(&graph, index, &mut names, &mut issues);
    }
    issues.0
}

struct Issues(Vec<Issue>);

impl Issues {
    fn add(&mut self, level: Level, node: Option<&Node>, code: &'static str, message: String) {
        if self.0.len() >= MAX_ISSUES
            && self.0.iter().filter(|issue| issue.level == level).count() >= MAX_ISSUES
        {
            return;
        }
        self.0.push(Issue { level, code, message, node_id: node.map(|node| node.id.clone()) });
    }

    fn error(&mut self, node: &Node, code: &'static str, what: String) {
        self.add(Level::Error, Some(node), code, format!("{}: {what}", title(node)));
    }

    fn warning(&mut self, node: &Node, code: &'static str, what: String) {
        self.add(Level::Warning, Some(node), code, format!("{}: {what}", title(node)));
    }
}

fn title(node: &Node) -> &str {
    node.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(&node.id)
}

/// The flow as a graph of node indices.
struct Graph<'a> {
    flow: &'a Flow,
    start: Option<usize>,
    index: HashMap<&'a str, usize>,
    /// Where each node leads.
    out: Vec<Vec<usize>>,
    /// Which nodes can be reached from the start.
    reached: Vec<bool>,
}

impl<'a> Graph<'a> {
    fn of(flow: &'a Flow) -> Self {
        let index: HashMap<&str, usize> =
            flow.nodes.iter().enumerate().map(|(index, node)| (node.id.as_str(), index)).collect();
        let leads =
            |node: &Node| node.edges().into_iter().filter_map(|edge| index.get(edge.to?).copied()).collect();
        let out: Vec<Vec<usize>> = flow.nodes.iter().map(leads).collect();
        let start = flow.start_node_id.as_deref().and_then(|id| index.get(id).copied());
        let reached = reach(&out, start.into_iter().collect());
        Self { flow, start, index, out, reached }
    }
}

/// Nodes that can be reached from the given ones, including these.
fn reach(out: &[Vec<usize>], from: Vec<usize>) -> Vec<bool> {
    let mut reached = vec![false; out.len()];
    let mut waiting = from;
    while let Some(node) = waiting.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            waiting.extend(out[node].iter().copied().filter(|&next| !reached[next]));
        }
    }
    reached
}

fn whole(graph: &Graph<'_>, issues: &mut Issues) {
    let Some(_) = graph.start else {
        let message = match &graph.flow.start_node_id {
            None => "the flow has no start node".to_owned(),
            Some(id) => format!("the start node {id} does not exist"),
        };
        return issues.add(Level::Error, None, "no_start_node", message);
    };
    let reached = || graph.flow.nodes.iter().enumerate().filter(|(index, _)| graph.reached[*index]);
    let ends =
        |node: &Node| matches!(node.kind, NodeKind::End(_) | NodeKind::Converse(_) | NodeKind::Transfer(_));
    if !reached().any(|(_, node)| ends(node)) {
        issues.add(Level::Error, None, "unreachable_end", "no end can be reached from the start".into());
    }
    let silent = Silent::of(graph);
    let mut told = vec![false; graph.flow.nodes.len()];
    for (index, node) in reached() {
        if !told[index]
            && let Some(cycle) = silent.cycle(index)
        {
            issues.error(
                node,
                "endless_loop",
                "leads back to itself without asking the customer anything".into(),
            );
            cycle.into_iter().for_each(|member| told[member] = true);
        }
    }
}

/// The part of the graph that waits for no input of the customer.
struct Silent {
    out: Vec<Vec<usize>>,
    back: Vec<Vec<usize>>,
}

impl Silent {
    fn of(graph: &Graph<'_>) -> Self {
        let asks = |index: usize| {
            matches!(
                graph.flow.nodes[index].kind,
                NodeKind::Collect(_) | NodeKind::Converse(_) | NodeKind::Document(_)
            )
        };
        let mut silent =
            Self { out: vec![Vec::new(); graph.out.len()], back: vec![Vec::new(); graph.out.len()] };
        for from in (0..graph.out.len()).filter(|&from| !asks(from)) {
            for &to in graph.out[from].iter().filter(|&&to| !asks(to)) {
                silent.out[from].push(to);
                silent.back[to].push(from);
            }
        }
        silent
    }

    /// The nodes that are on a cycle with this one, including itself; empty when it is on no cycle.
    fn cycle(&self, node: usize) -> Option<Vec<usize>> {
        let ahead = reach(&self.out, self.out[node].clone());
        let behind = reach(&self.back, vec![node]);
        ahead[node].then(|| (0..self.out.len()).filter(|&other| ahead[other] && behind[other]).collect())
    }
}

fn edges(graph: &Graph<'_>, node: &Node, issues: &mut Issues) {
    for edge in node.edges() {
        match edge.to {
            None if edge.needed => issues.error(node, "missing_next", format!("{} is not set", edge.field)),
            Some(to) if !graph.index.contains_key(to) => {
                issues.error(
                    node,
                    "unknown_next",
                    format!("{} leads to {to}, which does not exist", edge.field),
                );
            }
            None | Some(_) => {}
        }
    }
}

fn fields(node: &Node, facts: &CheckFacts<'_>, issues: &mut Issues) {
    let mut needed: Vec<(String, &str)> = Vec::new();
    match &node.kind {
        NodeKind::Say(say) => needed.push(("text".into(), &say.text)),
        NodeKind::Collect(collect) => {
            needed.push(("text".into(), &collect.text));
            needed.push(("field.key".into(), &collect.field.key));
            let choices = &collect.field.choices;
            if collect.field.kind == FieldKind::Choice
                && choices.iter().all(|choice| choice.trim().is_empty())
            {
                issues.error(node, "missing_choices", "field.choices is empty".into());
            }
        }
        NodeKind::Converse(converse) => {
            needed.push(("prompt".into(), &converse.prompt));
            needed.extend(
                converse
                    .exits
                    .iter()
                    .enumerate()
                    .map(|(index, exit)| (format!("exits[{index}].when"), exit.when.as_str())),
            );
            if converse.exits.is_empty() {
                issues.warning(
                    node,
                    "converse_without_exit",
                    "has no exit, the model ends the conversation itself".into(),
                );
            }
            converse.tool_ids.iter().for_each(|id| tool(node, id, facts, issues));
        }
        NodeKind::Branch(branch) => {
            for (index, case) in branch.cases.iter().enumerate() {
                needed.push((format!("cases[{index}].variable"), &case.variable));
                if case.value.is_none() && case.op != Op::Exists {
                    issues.error(node, "missing_value", format!("cases[{index}].value is not set"));
                }
            }
            if branch.otherwise.is_none() {
                issues.warning(
                    node,
                    "branch_without_otherwise",
                    "ends the conversation when no case holds".into(),
                );
            }
        }
        NodeKind::Tool(fields) => tool(node, &fields.tool_id, facts, issues),
        NodeKind::Transfer(transfer) => {
            if transfer.transfer_numbers.is_empty() && facts.channel == Channel::Call {
                issues.error(node, "missing_transfer_number", "transferNumbers is empty".into());
            }
            for number in transfer.transfer_numbers.iter().filter(|number| !(facts.is_indian)(number)) {
                issues.error(
                    node,
                    "invalid_transfer_number",
                    format!("{number} is not an Indian +91 number"),
                );
            }
        }
        NodeKind::Message(message) => {
            if message
                .template
                .as_ref()
                .is_none_or(|template| template.as_str().is_some_and(|name| name.trim().is_empty()))
            {
                needed.push(("template or text".into(), &message.text));
            }
        }
        NodeKind::Document(document) => {
            needed.push(("label".into(), &document.label));
            if facts.channel == Channel::Call {
                issues.error(node, "document_on_call", "a document can be asked for in a chat only".into());
            }
        }
        NodeKind::End(_) => {}
    }
    for (field, _) in needed.iter().filter(|(_, text)| text.trim().is_empty()) {
        issues.error(node, "missing_text", format!("{field} is empty"));
    }
}

/// Texts in further languages: none is blank, and an agent of several languages has one in each.
fn translations(node: &Node, facts: &CheckFacts<'_>, issues: &mut Issues) {
    for (language, _) in node.texts.iter().filter(|(_, text)| text.trim().is_empty()) {
        issues.error(node, "missing_text", format!("texts.{language} is empty"));
    }
    let own = facts.languages.first();
    for language in node.texts.keys() {
        let unused = Some(language) == own || !facts.languages.contains(language);
        if unused {
            let why = if Some(language) == own {
                "its own language is that of text"
            } else {
                "the agent does not list it"
            };
            issues.warning(node, "unused_translation", format!("texts.{language} is never said: {why}"));
        }
    }
    let speaks = node.kind.has_text() && spoken(node).iter().any(|text| !text.trim().is_empty());
    let absent = facts.languages.iter().skip(1).filter(|language| !node.texts.contains_key(*language));
    let absent: Vec<&str> = absent.map(String::as_str).collect();
    if speaks && !absent.is_empty() {
        let list = absent.join(", ");
        issues.warning(node, "missing_translation", format!("has no text in {list}: its own is said there"));
    }
}

fn tool(node: &Node, id: &str, facts: &CheckFacts<'_>, issues: &mut Issues) {
    if id.trim().is_empty() {
        issues.error(node, "unknown_tool", "no tool is chosen".into());
    } else if !facts.tool_ids.contains(id) {
        issues.error(node, "unknown_tool", format!("the tool {id} does not exist"));
    }
}

/// Which nodes give names their values.
struct Names<'a> {
    declared: HashSet<&'a str>,
    /// Nodes that set a name: captured fields, details of documents, saved answers.
    set_by: HashMap<&'a str, Vec<usize>>,
    /// Keys of secret answers.
    secret: HashSet<&'a str>,
    /// Nodes that save a tool's answer; an object also sets `<saveAs>_<key>` for each of its keys.
    saved_by: HashMap<&'a str, Vec<usize>>,
    /// Which nodes can come after a node, computed on first use.
    after: Vec<Option<Vec<bool>>>,
}

impl<'a> Names<'a> {
    fn of(flow: &'a Flow) -> Self {
        let mut names = Self {
            declared: flow.variables.iter().map(|variable| variable.name.as_str()).collect(),
            set_by: HashMap::new(),
            secret: HashSet::new(),
            saved_by: HashMap::new(),
            after: vec![None; flow.nodes.len()],
        };
        for (index, node) in flow.nodes.iter().enumerate() {
            match &node.kind {
                NodeKind::Collect(collect) => {
                    names.set_by.entry(&collect.field.key).or_default().push(index);
                    if collect.field.secret {
                        names.secret.insert(&collect.field.key);
                    }
                }
                NodeKind::Document(document) => {
                    document.fields.iter().for_each(|key| names.set_by.entry(key).or_default().push(index))
                }
                NodeKind::Tool(Tool { save_as: Some(name), .. }) => {
                    names.saved_by.entry(name).or_default().push(index)
                }
                NodeKind::Say(_) | NodeKind::Converse(_) | NodeKind::Branch(_) | NodeKind::Tool(_) => {}
                NodeKind::Transfer(_) | NodeKind::Message(_) | NodeKind::End(_) => {}
            }
        }
        names
    }

    fn setters(&self, name: &str) -> Vec<usize> {
        let prefixes = name.match_indices('_').map(|(at, _)| &name[..at]).chain([name]);
        let saved = prefixes.filter_map(|prefix| self.saved_by.get(prefix)).flatten();
        self.set_by.get(name).into_iter().flatten().chain(saved).copied().collect()
    }

    /// Whether one of the nodes can come before the node at `index`.
    fn any_before(&mut self, graph: &Graph<'_>, setters: &[usize], index: usize) -> bool {
        setters.iter().any(|&setter| {
            self.after[setter].get_or_insert_with(|| reach(&graph.out, graph.out[setter].clone()))[index]
        })
    }
}

fn variables(graph: &Graph<'_>, index: usize, names: &mut Names<'_>, issues: &mut Issues) {
    let node = &graph.flow.nodes[index];
    let mut told = HashSet::new();
    for name in spoken(node).into_iter().chain(hidden(node)).flat_map(template::names) {
        if names.declared.contains(name) || !told.insert(name) {
            continue;
        }
        let setters = names.setters(name);
        if setters.is_empty() {
            issues.error(node, "undeclared_variable", format!("{{{{{name}}}}} is not declared"));
        } else if !names.any_before(graph, &setters, index) {
            issues.error(
                node,
                "undeclared_variable",
                format!("{{{{{name}}}}} gets its value only after this step"),
            );
        }
    }
    if spoken(node).into_iter().any(template::has_stray_braces) {
        issues.warning(
            node,
            "stray_braces",
            "double braces around something that is not a variable's name would be said as they stand".into(),
        );
    }
    if let NodeKind::Branch(branch) = &node.kind {
        for name in branch
            .cases
            .iter()
            .map(|case| case.variable.as_str())
            .filter(|name| !name.is_empty() && told.insert(name))
        {
            if !names.declared.contains(name) && names.setters(name).is_empty() {
                issues.warning(node, "unknown_branch_variable", format!("nothing sets {name}"));
            }
        }
    }
}

/// Secret answers: each is for a tool, and for nothing else.
fn secrets(graph: &Graph<'_>, index: usize, names: &mut Names<'_>, issues: &mut Issues) {
    let node = &graph.flow.nodes[index];
    if let NodeKind::Collect(Collect { field, .. }) = &node.kind
        && field.secret
        && !field.key.is_empty()
    {
        let takes = |node: &Node| {
            let texts = if matches!(node.kind, NodeKind::Tool(_)) { hidden(node) } else { Vec::new() };
            texts.into_iter().flat_map(template::names).any(|name| name == field.key)
        };
        let mut tools = graph.flow.nodes.iter().enumerate().filter(|(_, node)| takes(node));
        if !tools.any(|(tool, _)| names.any_before(graph, &[index], tool)) {
            issues.error(node, "unused_secret", format!("no tool after it is given {{{{{}}}}}", field.key));
        }
    }
    if !matches!(node.kind, NodeKind::Tool(_)) {
        let tested = match &node.kind {
            NodeKind::Branch(branch) => branch.cases.iter().map(|case| case.variable.as_str()).collect(),
            _ => Vec::new(),
        };
        let texts = spoken(node).into_iter().chain(hidden(node)).flat_map(template::names);
        let shown: BTreeSet<&str> = texts.chain(tested).filter(|name| names.secret.contains(name)).collect();
        for name in shown {
            issues.error(
                node,
                "secret_shown",
                format!("{name} is secret: only the arguments of a tool may have it"),
            );
        }
    }
}

/// Texts that the customer hears or reads.
fn spoken(node: &Node) -> Vec<&str> {
    let mut texts: Vec<&str> = match &node.kind {
        NodeKind::Say(say) => vec![&say.text],
        NodeKind::Collect(collect) => vec![&collect.text],
        NodeKind::Transfer(transfer) => vec![&transfer.text],
        NodeKind::Message(message) => vec![&message.text],
        NodeKind::Document(document) => vec![&document.label],
        NodeKind::End(end) => vec![&end.text],
        NodeKind::Converse(_) | NodeKind::Branch(_) | NodeKind::Tool(_) => Vec::new(),
    };
    texts.extend(node.texts.values().map(String::as_str));
    texts
}

/// Texts with variables that the customer does not see.
fn hidden(node: &Node) -> Vec<&str> {
    let mut texts = Vec::new();
    match &node.kind {
        NodeKind::Converse(converse) => {
            texts.push(converse.prompt.as_str());
            texts.extend(converse.exits.iter().map(|exit| exit.when.as_str()));
        }
        NodeKind::Tool(tool) => {
            tool.arguments.values().for_each(|value| template::texts_in(value, &mut texts))
        }
        NodeKind::Message(message) => {
            message.template.iter().for_each(|value| template::texts_in(value, &mut texts))
        }
        NodeKind::Branch(branch) => branch
            .cases
            .iter()
            .filter_map(|case| case.value.as_ref())
            .for_each(|value| template::texts_in(value, &mut texts)),
        NodeKind::Say(_)
        | NodeKind::Collect(_)
        | NodeKind::Transfer(_)
        | NodeKind::Document(_)
        | NodeKind::End(_) => {}
    }
    texts
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;

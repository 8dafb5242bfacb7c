//! Columns: the default ones, and the rules and automations that an operator gives them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::codes::{ActionKind, ColumnType};
use crate::channel::campaign::{MAX_MAPPED, MAX_VALUE, Mapping, check_mapping};
use crate::conversation::{Op, compares};
use crate::ids::{Agent, BoardColumn, Campaign, ChannelTemplate, Id, Kind};

/// Columns of a board (docs/contract/boards.md#limits).
pub const MAX_COLUMNS: usize = 30;
/// Rules of a column.
pub const MAX_RULES: usize = 20;
/// Conditions of a rule.
pub const MAX_CONDITIONS: usize = 10;
/// Automations of a column.
pub const MAX_AUTOMATIONS: usize = 10;
/// Longest delay of a nudge: 30 days, in minutes.
pub const MAX_DELAY: i64 = 30 * 24 * 60;
/// A suggestion of the model below this confidence is left to a person.
pub const REVIEW_BELOW: f64 = 0.7;

/// A column that a new board has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultColumn {
    /// Its type, which is its key, too.
    pub kind: ColumnType,
    pub name: &'static str,
}

/// The columns of a new board, in order (docs/contract/boards.md#default-columns). `workflow` is the
/// `workflowType` of the campaign or the `workflowTemplate` of the agent.
pub fn defaults(workflow: &str) -> [DefaultColumn; 7] {
    let (open, advancing, won, lost) = match workflow {
        "collections" => ("Contacted", "Promised to pay", "Paid", "Refused"),
        "onboarding" => ("Contacted", "In progress", "Onboarded", "Not interested"),
        _ => ("Contacted", "In progress", "Won", "Lost"),
    };
    let column = |kind, name| DefaultColumn { kind, name };
    [
        column(ColumnType::New, "New"),
        column(ColumnType::Open, open),
        column(ColumnType::Advancing, advancing),
        column(ColumnType::Won, won),
        column(ColumnType::Lost, lost),
        column(ColumnType::Dnc, "Do not call"),
        column(ColumnType::NoContact, "No contact"),
    ]
}

/// A comparison of a value of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The variable (docs/contract/boards.md#rules).
    pub variable: String,
    /// How, as in a `branch` node.
    pub op: Op,
    pub value: Option<Value>,
}

/// A rule holds when all its conditions do.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub all: Vec<Condition>,
}

impl Rule {
    /// Whether the rule holds with these values.
    pub fn holds(&self, values: &Map<String, Value>) -> bool {
        self.all.iter().all(|one| compares(&one.variable, one.op, one.value.as_ref(), values))
    }
}

/// What a column does with a card that comes into it.
#[derive(Debug, Clone, PartialEq)]
pub enum Automation {
    /// Marks the person as opted out.
    OptOut,
    /// Puts the number on the do-not-call list.
    DoNotCall {
        /// The reason that the list shows.
        reason: Option<String>,
    },
    Nudge {
        agent: Id<Agent>,
        /// After how many minutes.
        delay_minutes: i64,
    },
    /// Puts the person on the list of another campaign.
    AddToCampaign { campaign: Id<Campaign> },
    /// Sends a template on the messaging channel.
    Message {
        template: Id<ChannelTemplate>,
        /// Where its values come from; a column is a variable of the contact.
        mapping: Mapping,
    },
    /// Writes the event `board.card_moved`.
    Event,
}

impl Automation {
    pub fn kind(&self) -> ActionKind {
        match self {
            Automation::OptOut => ActionKind::OptOut,
            Automation::DoNotCall { .. } => ActionKind::DoNotCall,
            Automation::Nudge { .. } => ActionKind::Nudge,
            Automation::AddToCampaign { .. } => ActionKind::AddToCampaign,
            Automation::Message { .. } => ActionKind::Message,
            Automation::Event => ActionKind::Event,
        }
    }
}

/// A column of a board.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub id: Id<BoardColumn>,
    /// Its key, which the model sees.
    pub key: String,
    pub kind: ColumnType,
    /// A card moves here when one of them holds.
    pub rules: Vec<Rule>,
}

/// What is wrong with a definition: a field, and how it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub field: String,
    /// What is wrong; reads on after the field's name.
    pub problem: String,
}

fn wrong<T>(field: impl Into<String>, problem: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong { field: field.into(), problem: problem.into() })
}

fn list<'a>(json: &'a Value, at: &str, least: usize, most: usize) -> Result<&'a [Value], Wrong> {
    match json {
        Value::Null if least == 0 => Ok(&[]),
        Value::Array(items) if (least..=most).contains(&items.len()) => Ok(items),
        _ => wrong(at, format!("must be a list of {least} to {most} items")),
    }
}

/// Whether a condition may name this variable.
fn is_variable(name: &str) -> bool {
    const KNOWN: [&str; 6] = ["outcome", "endCause", "sentiment", "answered", "talkSeconds", "direction"];
    KNOWN.contains(&name)
        || ["extracted.", "variables."]
            .iter()
            .any(|prefix| name.strip_prefix(prefix).is_some_and(|key| !key.is_empty()))
}

fn read_condition(json: &Value, at: &str) -> Result<Condition, Wrong> {
    let variable = json["variable"].as_str().unwrap_or_default();
    if !is_variable(variable) {
        return wrong(
            format!("{at}.variable"),
            "must be outcome, endCause, sentiment, answered, talkSeconds, direction, extracted.<key> or variables.<name>",
        );
    }
    let Some(op) = Op::parse(json["op"].as_str().unwrap_or("eq")) else {
        return wrong(format!("{at}.op"), "must be eq, ne, lt, gt, in or exists");
    };
    let value = json.get("value").filter(|value| !value.is_null()).cloned();
    if value.is_none() && op != Op::Exists {
        return wrong(format!("{at}.value"), "is required");
    }
    Ok(Condition { variable: variable.to_owned(), op, value })
}

/// Parses the rules of a column; `at` is their path in the request.
///
/// # Errors
/// The first wrong field.
pub fn read_rules(json: &Value, at: &str) -> Result<Vec<Rule>, Wrong> {
    let mut rules = Vec::new();
    for (index, rule) in list(json, at, 0, MAX_RULES)?.iter().enumerate() {
        let at = format!("{at}[{index}].all");
        let mut all = Vec::new();
        for (index, one) in list(&rule["all"], &at, 1, MAX_CONDITIONS)?.iter().enumerate() {
            all.push(read_condition(one, &format!("{at}[{index}]"))?);
        }
        rules.push(Rule { all });
    }
    Ok(rules)
}

fn read_id<K: Kind>(json: &Value, at: &str, name: &str) -> Result<Id<K>, Wrong> {
    let field = format!("{at}.{name}");
    match json[name].as_str().map(str::parse) {
        Some(Ok(id)) => Ok(id),
        Some(Err(_)) => wrong(field, format!("must be an id that starts with {}_", K::PREFIX)),
        None => wrong(field, "is required"),
    }
}

fn read_mapping(json: &Value, at: &str) -> Result<Mapping, Wrong> {
    let mapping: Mapping = match json {
        Value::Null => Mapping::new(),
        json => match serde_json::from_value(json.clone()) {
            Ok(mapping) => mapping,
            Err(_) => {
                return wrong(at, "must have a source and a value for each placeholder of the template");
            }
        },
    };
    let long = mapping.values().any(|mapped| mapped.value.chars().count() > MAX_VALUE);
    if mapping.len() > MAX_MAPPED || long {
        return wrong(at, format!("must have at most {MAX_MAPPED} values of at most {MAX_VALUE} characters"));
    }
    match check_mapping(&mapping) {
        Ok(()) => Ok(mapping),
        Err((key, must)) => wrong(format!("{at}.{key}"), must),
    }
}

fn read_automation(json: &Value, at: &str) -> Result<Automation, Wrong> {
    let Some(kind) = json["type"].as_str().and_then(ActionKind::parse) else {
        let words: Vec<&str> = ActionKind::ALL.iter().map(|kind| kind.as_str()).collect();
        return wrong(format!("{at}.type"), format!("must be one of {}", words.join(", ")));
    };
    Ok(match kind {
        ActionKind::OptOut => Automation::OptOut,
        ActionKind::DoNotCall => Automation::DoNotCall { reason: json["reason"].as_str().map(str::to_owned) },
        ActionKind::Nudge => {
            let delay_minutes = json["delayMinutes"].as_i64().unwrap_or(0);
            if !(0..=MAX_DELAY).contains(&delay_minutes) {
                return wrong(format!("{at}.delayMinutes"), format!("must be from 0 to {MAX_DELAY}"));
            }
            Automation::Nudge { agent: read_id(json, at, "agentId")?, delay_minutes }
        }
        ActionKind::AddToCampaign => Automation::AddToCampaign { campaign: read_id(json, at, "campaignId")? },
        ActionKind::Message => {
            let mapping = read_mapping(&json["paramMapping"], &format!("{at}.paramMapping"))?;
            Automation::Message { template: read_id(json, at, "templateId")?, mapping }
        }
        ActionKind::Event => Automation::Event,
    })
}

/// Parses the automations of a column; `at` is their path in the request.
///
/// # Errors
/// The first wrong field.
pub fn read_automations(json: &Value, at: &str) -> Result<Vec<Automation>, Wrong> {
    list(json, at, 0, MAX_AUTOMATIONS)?
        .iter()
        .enumerate()
        .map(|(index, one)| read_automation(one, &format!("{at}[{index}]")))
        .collect()
}

fn is_key(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= 40
        && key.starts_with(|first: char| first.is_ascii_lowercase())
        && key.chars().all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '_')
}

/// Checks the keys and types of all columns of a board, in order (docs/contract/boards.md#editing).
///
/// # Errors
/// The first wrong field.
pub fn check(columns: &[(&str, ColumnType)]) -> Result<(), Wrong> {
    if columns.is_empty() || columns.len() > MAX_COLUMNS {
        return wrong("columns", format!("must be a list of 1 to {MAX_COLUMNS} items"));
    }
    let mut seen = BTreeSet::new();
    for (index, (key, _)) in columns.iter().enumerate() {
        let field = format!("columns[{index}].key");
        if !is_key(key) {
            return wrong(field, "must begin with a letter and have at most 40 of a-z, 0-9 and _");
        }
        if !seen.insert(*key) {
            return wrong(field, format!("must be unique; {key} is used twice"));
        }
    }
    match columns.iter().filter(|(_, kind)| *kind == ColumnType::New).count() {
        1 => Ok(()),
        _ => wrong("columns", "must have exactly one column of type new: cards begin there"),
    }
}

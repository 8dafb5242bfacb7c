use serde_json::{Map, Value, json};

use super::*;
use crate::conversation::Op;
use crate::ids::{BoardColumn, Id};
use crate::ports::Chosen;

fn column(number: u128, kind: ColumnType, rules: Value) -> Column {
    Column {
        id: Id::new(1, number),
        key: kind.as_str().into(),
        kind,
        rules: read_rules(&rules, "rules").expect("rules"),
    }
}

fn board() -> Vec<Column> {
    ColumnType::ALL.iter().zip(0..).map(|(kind, number)| column(number, *kind, json!([]))).collect()
}

fn id_of(columns: &[Column], kind: ColumnType) -> Id<BoardColumn> {
    columns.iter().find(|column| column.kind == kind).expect("a column").id
}

struct Call {
    here: ColumnType,
    opted_out: bool,
    reached: bool,
    ever: bool,
    exhausted: bool,
    outcome: Option<&'static str>,
    values: Value,
    advice: Option<(&'static str, f64)>,
}

impl Default for Call {
    fn default() -> Self {
        Self {
            here: ColumnType::New,
            opted_out: false,
            reached: true,
            ever: false,
            exhausted: false,
            outcome: None,
            values: json!({}),
            advice: None,
        }
    }
}

fn sorted(columns: &[Column], call: &Call) -> Option<(ColumnType, bool)> {
    let values = call.values.as_object().cloned().unwrap_or_default();
    let advice = call.advice.map(|(key, confidence)| Chosen { key: key.into(), confidence });
    let heard = Heard {
        opted_out: call.opted_out,
        reached: call.reached,
        ever_reached: call.ever || call.reached,
        exhausted: call.exhausted,
        outcome: call.outcome,
        values: &values,
        advice: advice.as_ref(),
    };
    let kind = |id| columns.iter().find(|column| column.id == id).expect("a column").kind;
    match sort(columns, id_of(columns, call.here), &heard, REVIEW_BELOW) {
        Verdict::Stay => None,
        Verdict::Place { column, .. } => Some((kind(column), true)),
        Verdict::Undecided { column } | Verdict::Review { column, .. } => Some((kind(column), false)),
    }
}

#[test]
fn a_call_moves_its_card() {
    use ColumnType::{Advancing, Dnc, Lost, New, NoContact, Open, Won};
    let columns = board();
    let missed = || Call { reached: false, ..Call::default() };
    for (what, call, expected) in [
        ("a conversation without a result", Call::default(), Some((Open, false))),
        ("the same later", Call { here: Advancing, ..Call::default() }, None),
        ("nobody answered, once more", missed(), None),
        ("nobody answered for the last time", Call { exhausted: true, ..missed() }, Some((NoContact, true))),
        ("somebody answered before", Call { exhausted: true, ever: true, ..missed() }, None),
        ("from no contact", Call { here: NoContact, ..Call::default() }, Some((Open, false))),
        (
            "talked to once more, and nobody decided",
            Call { here: Open, ..Call::default() },
            Some((Open, false)),
        ),
        ("opted out", Call { opted_out: true, outcome: Some("paid"), ..Call::default() }, Some((Dnc, true))),
        ("opted out by its words", Call { outcome: Some("opted_out"), ..Call::default() }, Some((Dnc, true))),
        ("interested", Call { outcome: Some("interested"), ..Call::default() }, Some((Advancing, true))),
        ("paid", Call { outcome: Some("paid"), ..Call::default() }, Some((Won, true))),
        ("wrong number", Call { outcome: Some("wrong_number"), ..Call::default() }, Some((Lost, true))),
        ("other words", Call { outcome: Some("simulated"), ..Call::default() }, Some((Open, true))),
        (
            "sure",
            Call { advice: Some(("won", 0.9)), outcome: Some("interested"), ..Call::default() },
            Some((Won, true)),
        ),
        ("as sure as it must be", Call { advice: Some(("won", 0.7)), ..Call::default() }, Some((Won, true))),
        ("not sure", Call { advice: Some(("won", 0.69)), ..Call::default() }, Some((Won, false))),
        (
            "not sure, but the same words",
            Call { advice: Some(("won", 0.1)), outcome: Some("paid"), ..Call::default() },
            Some((Won, true)),
        ),
        (
            "not sure of where it is",
            Call { here: Won, advice: Some(("won", 0.1)), ..Call::default() },
            Some((Won, true)),
        ),
        (
            "a column that is not there",
            Call { advice: Some(("gone", 1.0)), ..Call::default() },
            Some((Open, false)),
        ),
        (
            "back to new is no advice",
            Call { here: Open, advice: Some(("new", 1.0)), ..Call::default() },
            Some((Open, false)),
        ),
        ("no number", Call { advice: Some(("won", f64::NAN)), ..Call::default() }, Some((Won, false))),
    ] {
        assert_eq!(sorted(&columns, &call), expected, "{what}");
    }
    assert_eq!(
        sorted(&columns, &Call { here: New, outcome: Some("x"), ..Call::default() }),
        Some((Open, true))
    );
}

#[test]
fn rules_come_from_left_to_right_and_before_the_model() {
    use ColumnType::{Advancing, Lost, New, Won};
    let rule = |variable: &str, op: &str, value: Value| json!([{"all": [{"variable": variable, "op": op, "value": value}]}]);
    let columns = vec![
        column(1, New, json!([])),
        column(2, Advancing, rule("extracted.amount", "gt", json!(100))),
        column(3, Won, rule("outcome", "in", json!(["paid", "interested"]))),
        column(4, Lost, rule("endCause", "eq", json!("busy"))),
    ];
    let call = |values: Value| Call { values, advice: Some(("new", 1.0)), ..Call::default() };
    assert_eq!(
        sorted(&columns, &call(json!({"extracted.amount": 500, "outcome": "paid"}))),
        Some((Advancing, true))
    );
    assert_eq!(
        sorted(&columns, &call(json!({"extracted.amount": 50, "outcome": "Paid "}))),
        Some((Won, true))
    );
    // Also of a call that reached nobody, and not over an opt-out.
    let busy = Call { reached: false, ..call(json!({"endCause": "busy"})) };
    assert_eq!(sorted(&columns, &busy), Some((Lost, true)));
    assert_eq!(sorted(&columns, &Call { opted_out: true, ..busy }), None, "there is no column for it");
    // No column of the type: the card stays, and nobody decided.
    assert_eq!(sorted(&columns, &call(json!({}))), Some((New, false)));
    let decided = Call { outcome: Some("x"), ..call(json!({})) };
    assert_eq!(sorted(&columns, &decided), None);
}

#[test]
fn all_conditions_of_a_rule_must_hold() {
    let rules = read_rules(
        &json!([{"all": [{"variable": "answered", "value": true}, {"variable": "variables.plan", "op": "exists"}]}]),
        "rules",
    )
    .expect("rules");
    let holds = |values: Value| rules[0].holds(values.as_object().unwrap_or(&Map::new()));
    assert_eq!(rules[0].all[0].op, Op::Eq);
    assert!(holds(json!({"answered": true, "variables.plan": "gold"})));
    assert!(!holds(json!({"answered": true})));
    assert!(!holds(json!({"answered": false, "variables.plan": "gold"})));
}

#[test]
fn a_wrong_definition_names_its_field() {
    let rules = |json: Value| read_rules(&json, "columns[0].rules").expect_err("wrong").field;
    let all = |one: Value| json!([{"all": [one]}]);
    for (json, field) in [
        (json!({}), "columns[0].rules"),
        (json!([{"all": []}]), "columns[0].rules[0].all"),
        (
            json!(vec![json!({"all": [{"variable": "outcome", "op": "exists"}]}); MAX_RULES + 1]),
            "columns[0].rules",
        ),
        (all(json!({"variable": "weather", "value": 1})), "columns[0].rules[0].all[0].variable"),
        (all(json!({"variable": "extracted.", "value": 1})), "columns[0].rules[0].all[0].variable"),
        (all(json!({"variable": "outcome", "op": "like", "value": 1})), "columns[0].rules[0].all[0].op"),
        (all(json!({"variable": "outcome", "op": "eq"})), "columns[0].rules[0].all[0].value"),
    ] {
        assert_eq!(rules(json), field);
    }
    let automations = |json: Value| read_automations(&json, "a").expect_err("wrong");
    let id = Id::<crate::ids::Agent>::new(1, 1).to_string();
    let template = Id::<crate::ids::ChannelTemplate>::new(1, 1).to_string();
    for (json, field) in [
        (json!([{"type": "dance"}]), "a[0].type"),
        (json!([{"type": "message"}]), "a[0].templateId"),
        (json!([{"type": "message", "templateId": id}]), "a[0].templateId"),
        (
            json!([{"type": "message", "templateId": template, "paramMapping": {"body.1": 7}}]),
            "a[0].paramMapping",
        ),
        (
            json!([{"type": "message", "templateId": template, "paramMapping": {"footer": {"source": "static", "value": "x"}}}]),
            "a[0].paramMapping.footer",
        ),
        (json!([{"type": "nudge"}]), "a[0].agentId"),
        (json!([{"type": "nudge", "agentId": "x"}]), "a[0].agentId"),
        (json!([{"type": "nudge", "agentId": id, "delayMinutes": MAX_DELAY + 1}]), "a[0].delayMinutes"),
        (json!([{"type": "event"}, {"type": "add_to_campaign"}]), "a[1].campaignId"),
        (json!(vec![json!({"type": "event"}); MAX_AUTOMATIONS + 1]), "a"),
    ] {
        assert_eq!(automations(json).field, field);
    }
}

#[test]
fn columns_are_checked_as_a_whole() {
    use ColumnType::{New, Open};
    let field = |columns: &[(&str, ColumnType)]| check(columns).expect_err("wrong").field;
    assert_eq!(check(&[("new", New), ("open", Open), ("second_open", Open)]), Ok(()));
    assert_eq!(field(&[]), "columns");
    assert_eq!(field(&[("a", Open)]), "columns");
    assert_eq!(field(&[("a", New), ("b", New)]), "columns");
    assert_eq!(field(&[("a", New), ("a", Open)]), "columns[1].key");
    assert_eq!(field(&[("a", New), ("B", Open)]), "columns[1].key");
    assert_eq!(field(&[("", New)]), "columns[0].key");
    let keys: Vec<String> = (0..=MAX_COLUMNS).map(|number| format!("c{number}")).collect();
    let many: Vec<(&str, ColumnType)> = keys.iter().map(|key| (key.as_str(), Open)).collect();
    assert_eq!(field(&many), "columns");
}

#[test]
fn default_columns_have_every_type_in_order() {
    for workflow in ["collections", "onboarding", "prompt-driven"] {
        let kinds: Vec<ColumnType> = defaults(workflow).iter().map(|column| column.kind).collect();
        assert_eq!(kinds, ColumnType::ALL);
    }
    assert_eq!(defaults("collections")[3].name, "Paid");
    assert_eq!(defaults("onboarding")[3].name, "Onboarded");
}

#[test]
fn an_action_is_tried_seven_times_and_never_far_down() {
    let waits: Vec<Option<i64>> = (1..=7).map(retry_in).collect();
    let minutes = |half: i64| Some(half * crate::time::MINUTE / 2);
    assert_eq!(waits, [minutes(1), minutes(2), minutes(4), minutes(8), minutes(16), minutes(32), None]);
    for kind in ActionKind::ALL {
        assert!(keeps_to_depth(*kind, 0));
        let calls = matches!(kind, ActionKind::Nudge | ActionKind::AddToCampaign | ActionKind::Message);
        assert_eq!(keeps_to_depth(*kind, 1), !calls, "{kind}");
    }
}

//! The comparisons of a `branch` node, over supplied, captured and saved values.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::graph::{Branch, Case, Op};
use super::template;

/// Where a branch leads with these values, and by which edge: that of the first case that holds, otherwise `otherwise`;
/// `None` when there is neither.
pub(super) fn decide<'f>(
    branch: &'f Branch,
    values: &Map<String, Value>,
) -> Option<(Cow<'static, str>, Option<&'f str>)> {
    match branch.cases.iter().enumerate().find(|(_, case)| holds(case, values)) {
        Some((index, case)) => Some((format!("cases[{index}].next").into(), case.next.as_deref())),
        None => branch.otherwise.as_deref().map(|otherwise| (Cow::Borrowed("otherwise"), Some(otherwise))),
    }
}

/// Whether the value of this name compares with another one, as in a `branch` node
/// (docs/contract/flows.md#nodes).
pub fn compares(variable: &str, op: Op, value: Option<&Value>, values: &Map<String, Value>) -> bool {
    holds(&Case { variable: variable.to_owned(), op, value: value.cloned(), next: None }, values)
}

/// A missing or blank value equals nothing and is neither less nor greater. `exists` with the value `false`
/// holds when the value is absent.
fn holds(case: &Case, values: &Map<String, Value>) -> bool {
    let lookup = |name: &str| values.get(name).cloned();
    let wanted = case.value.as_ref().map(|value| template::fill_value(value, &lookup)).unwrap_or(Value::Null);
    let actual = values.get(&case.variable).map(template::text_of).filter(|text| !text.trim().is_empty());
    let Some(actual) = actual else {
        return match case.op {
            Op::Ne => true,
            Op::Exists => wanted == Value::Bool(false),
            Op::Eq | Op::Lt | Op::Gt | Op::In => false,
        };
    };
    // Read only once, because a list may have thousands of entries and a tool's answer may be long.
    let actual = Read::of(&actual);
    let is = |wanted: &Value, ordering: Ordering| {
        actual.compare(&Read::of(&template::text_of(wanted))) == ordering
    };
    match case.op {
        Op::Eq => is(&wanted, Ordering::Equal),
        Op::Ne => !is(&wanted, Ordering::Equal),
        Op::Lt => is(&wanted, Ordering::Less),
        Op::Gt => is(&wanted, Ordering::Greater),
        Op::In => match &wanted {
            Value::Array(items) => items.iter().any(|item| is(item, Ordering::Equal)),
            other => template::text_of(other)
                .split(',')
                .any(|item| actual.compare(&Read::of(item)) == Ordering::Equal),
        },
        Op::Exists => wanted != Value::Bool(false),
    }
}

/// A text prepared for comparison.
struct Read {
    number: Option<f64>,
    /// In lower case, without surrounding spaces.
    text: String,
}

impl Read {
    fn of(text: &str) -> Self {
        let number = text.trim().replace(',', "").parse::<f64>().ok().filter(|number| number.is_finite());
        Self { number, text: text.trim().to_lowercase() }
    }

    /// Compares by value when both are numbers, otherwise as text.
    fn compare(&self, other: &Self) -> Ordering {
        if let (Some(left), Some(right)) = (self.number, other.number) {
            return left.partial_cmp(&right).unwrap_or(Ordering::Equal);
        }
        self.text.cmp(&other.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cases_hold_or_not() {
        let values = json!({"amount": "1,500", "plan": "Gold", "agreed": true, "blank": " ", "nine": 9, "pin": "0042", "list": null});
        let values = values.as_object().expect("an object");
        for (variable, op, value, expected) in [
            ("plan", Op::Eq, json!("gold "), true),
            ("plan", Op::Eq, json!("{{plan}}"), true),
            ("plan", Op::Eq, json!("silver"), false),
            ("plan", Op::Ne, json!("silver"), true),
            ("plan", Op::In, json!(["Silver", "Gold"]), true),
            ("plan", Op::In, json!("silver, gold"), true),
            ("plan", Op::In, json!([]), false),
            ("plan", Op::Gt, json!("apple"), true),
            ("agreed", Op::Eq, json!(true), true),
            ("agreed", Op::Eq, json!("true"), true),
            ("amount", Op::Eq, json!(1500), true),
            ("amount", Op::Gt, json!("900"), true),
            ("nine", Op::Lt, json!("10"), true),
            ("nine", Op::Lt, json!(9), false),
            ("pin", Op::Exists, Value::Null, true),
            ("pin", Op::Exists, json!(false), false),
            ("blank", Op::Exists, Value::Null, false),
            ("list", Op::Exists, Value::Null, false),
            ("absent", Op::Exists, json!(false), true),
            ("absent", Op::Eq, json!(""), false),
            ("absent", Op::Ne, json!("x"), true),
            ("absent", Op::Lt, json!(1), false),
            ("absent", Op::In, json!([""]), false),
        ] {
            let case = Case { variable: variable.into(), op, value: Some(value.clone()), next: None };
            assert_eq!(holds(&case, values), expected, "{variable} {op:?} {value}");
        }
    }

    #[test]
    fn the_first_case_that_holds_is_taken() {
        let case = |value: &str, next: &str| Case {
            variable: "plan".into(),
            op: Op::Eq,
            value: Some(json!(value)),
            next: Some(next.into()),
        };
        let branch = Branch {
            cases: vec![case("a", "1"), case("b", "2"), case("b", "3")],
            otherwise: Some("4".into()),
        };
        let values = |plan: &str| json!({"plan": plan}).as_object().cloned().unwrap_or_default();
        assert_eq!(decide(&branch, &values("b")), Some(("cases[1].next".into(), Some("2"))));
        assert_eq!(decide(&branch, &values("c")), Some(("otherwise".into(), Some("4"))));
        assert_eq!(decide(&Branch { otherwise: None, ..branch }, &values("c")), None);
    }
}

//! Key terms for recognisers: names, products and choices that are likely to be said.

use domain::conversation::{Flow, NodeKind, text_of};
use serde_json::{Map, Value};

/// Most terms of a call; a provider may take fewer.
pub const MAX_TERMS: usize = 100;
/// Longest term, in characters and words. A longer text is no name.
const MAX_LETTERS: usize = 50;
const MAX_WORDS: usize = 5;
/// Digits from which on a value is a number, and no name such as `iPhone 15`.
const MAX_DIGITS: usize = 4;

/// The terms of a call, each once: these names, the choices of the flow, and the short values of the contact and the
/// call. Numbers, addresses and secrets are none.
pub fn terms(names: &[String], flow: &Flow, variables: &Map<String, Value>) -> Vec<String> {
    let choices = flow.nodes.iter().flat_map(|node| match &node.kind {
        NodeKind::Collect(collect) => collect.field.choices.as_slice(),
        _ => &[],
    });
    let mut values: Vec<(&String, &Value)> = variables.iter().collect();
    // Names first, should there be too many.
    values.sort_by_key(|(key, _)| !key.to_lowercase().contains("name"));
    let values = values.into_iter().map(|(_, value)| value).chain(defaults(flow));
    let values = values.filter(|value| value.is_string()).map(text_of);
    let mut found: Vec<String> = Vec::new();
    for term in names.iter().chain(choices).cloned().chain(values) {
        let term = term.split_whitespace().collect::<Vec<_>>().join(" ");
        if is_term(&term) && !found.iter().any(|known| known.eq_ignore_ascii_case(&term)) {
            found.push(term);
        }
        if found.len() == MAX_TERMS {
            break;
        }
    }
    found
}

fn defaults(flow: &Flow) -> impl Iterator<Item = &Value> {
    flow.variables.iter().filter_map(|variable| variable.default.as_ref())
}

fn is_term(term: &str) -> bool {
    let digits = term.chars().filter(|sign| sign.is_numeric()).count();
    let letters = term.chars().filter(|sign| sign.is_alphabetic()).count();
    letters >= 2
        && digits < MAX_DIGITS
        && term.chars().count() <= MAX_LETTERS
        && term.split(' ').count() <= MAX_WORDS
        && !term.contains(['@', '/', '\\', '{', '}', '<', '>'])
        && !term.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_products_and_choices_are_terms_and_numbers_are_not() {
        let graph = json!({"startNodeId": "a", "nodes": [
            {"id": "a", "type": "collect", "text": "Which?", "field": {"key": "plan", "type": "choice", "choices": ["Gold Plus", "Silver", " "]}, "next": "z"},
            {"id": "z", "type": "end"}],
            "variables": [{"name": "bank", "default": "Asha Bank"}, {"name": "n", "default": 3}]});
        let flow = Flow::parse(&graph).expect("a flow");
        let variables = json!({
            "amount": "₹1,25,000", "pan": "ABCDE1234F", "phone": "+919876543210", "email": "a@b.in", "link": "https://x.in/y",
            "note": "a long text of more than five words", "product": "iPhone 15", "first_name": "Lakshmi  Iyer", "plan": "SILVER", "due": 5000, "x": "-"});
        let variables = variables.as_object().cloned().unwrap_or_default();
        let found = terms(&["Ravi Kumar".to_owned()], &flow, &variables);
        assert_eq!(found, ["Ravi Kumar", "Gold Plus", "Silver", "Lakshmi Iyer", "iPhone 15", "Asha Bank"]);
        let many: Map<String, Value> = (0..300).map(|at| (format!("k{at}"), json!(name(at)))).collect();
        assert_eq!(terms(&[], &flow, &many).len(), MAX_TERMS);
    }

    /// Different names of letters.
    fn name(at: u32) -> String {
        [at / 26, at % 26].into_iter().filter_map(|of| char::from_u32(0x61 + of)).collect()
    }
}

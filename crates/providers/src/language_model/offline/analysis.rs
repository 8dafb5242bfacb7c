//! Analysis of a conversation that is over.

use domain::conversation::{Role, Turn};
use domain::ports::{Analysis, AnalysisOrder};
use domain::speech::{Intent, intent, machine, opt_out, sentences, yes_or_no};
use serde_json::{Map, Value};

use super::prompt::Prompt;
use super::turn::is_question;
use super::{extraction, sentiment};

/// Longest quotation in a summary, in characters.
const QUOTED: usize = 160;

/// Summary, values, outcome and sentiment.
pub(super) fn read(order: &AnalysisOrder) -> Analysis {
    let said: Vec<&str> = order
        .transcript
        .iter()
        .filter(|turn| turn.role == Role::Customer)
        .map(|turn| turn.text.trim())
        .filter(|text| !text.is_empty())
        .collect();
    let extracted = extraction::values(&order.schema, &order.transcript, &order.extracted, &order.language);
    let outcome = outcome(&said, &order.language);
    Analysis {
        summary: summary(order, &said, &extracted, outcome.as_deref()),
        sentiment: Some(sentiment::of(said.iter().copied()).to_owned()),
        extracted,
        outcome,
        // It has no opinion of its own; the outcome shows the result.
        chosen: None,
    }
}

/// The disposition: a final one wherever it was said, otherwise the last one; `None` when nothing decides it.
fn outcome(said: &[&str], language: &str) -> Option<String> {
    if said.is_empty() {
        return None;
    }
    let found = if said.iter().any(|text| opt_out(text, language)) {
        "opted_out"
    } else if said.iter().all(|text| machine(text).is_some()) {
        "voicemail"
    } else if said.iter().any(|text| intent(text) == Some(Intent::WrongNumber)) {
        "wrong_number"
    } else {
        said.iter().rev().find_map(|text| intent(text).and_then(Intent::outcome))?
    };
    Some(found.to_owned())
}

fn summary(
    order: &AnalysisOrder,
    said: &[&str],
    extracted: &Map<String, Value>,
    outcome: Option<&str>,
) -> String {
    let mut parts = vec![about(order)];
    if said.is_empty() {
        parts.push("The customer did not say anything.".to_owned());
        return parts.join(" ");
    }
    if let Some(question) = said.iter().find(|text| is_question(text) && intent(text).is_none()) {
        parts.push(format!("The customer asked: “{}”", short(question)));
    } else if let Some(longest) = said
        .iter()
        .filter(|text| intent(text).is_none() && yes_or_no(text, &order.language).is_none())
        .max_by_key(|text| text.chars().count())
    {
        parts.push(format!("The customer said: “{}”", short(longest)));
    }
    parts.push(
        match outcome {
            Some("opted_out") => "The customer asked not to be called again.",
            Some("wrong_number") => "It was the wrong number.",
            Some("callback_requested") => "The customer asked to be called later.",
            Some("not_interested") => "The customer was not interested.",
            Some("interested") => "The customer was interested.",
            Some("transfer_requested") => "The customer wanted to speak to a person.",
            Some("voicemail") => "An answering machine took the call.",
            _ => "The conversation came to its end.",
        }
        .to_owned(),
    );
    if !extracted.is_empty() {
        let values: Vec<String> = extracted
            .iter()
            .take(5)
            .map(|(key, value)| format!("{key}: {}", value.as_str().map_or_else(|| value.to_string(), short)))
            .collect();
        parts.push(format!("Noted: {}.", values.join(", ")));
    }
    parts.join(" ")
}

/// The subject of the conversation, from the prompt, else from the agent's first words.
fn about(order: &AnalysisOrder) -> String {
    let prompt = Prompt::read(&order.prompt);
    let by = prompt
        .identity
        .map_or_else(|| "The agent".to_owned(), |identity| format!("The agent ({})", short(&identity)));
    if let Some(purpose) = prompt.purpose.as_deref().and_then(|purpose| purpose.strip_prefix("I am calling "))
    {
        let purpose = purpose
            .trim_end_matches('.')
            .replace("your ", "the customer's ")
            .replace(" you ", " the customer ");
        return format!("{by} called {}.", short(&purpose));
    }
    let first = order
        .transcript
        .iter()
        .find(|turn: &&Turn| turn.role == Role::Agent)
        .and_then(|turn| sentences(&turn.text).max_by_key(String::len));
    first.map_or_else(
        || format!("{by} spoke with the customer."),
        |first| format!("{by} said: “{}”", short(&first)),
    )
}

fn short(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= QUOTED {
        return text.to_owned();
    }
    let cut: String = text.chars().take(QUOTED).collect();
    format!("{}…", cut.rsplit_once(' ').map_or(cut.as_str(), |(kept, _)| kept))
}

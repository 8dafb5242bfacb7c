//! What differs from run to run is taken away, so that two runs can be compared.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Names ids in the order in which they appear, so that two runs can be compared.
#[derive(Clone, Default)]
pub(super) struct Names {
    pub(super) known: BTreeMap<String, String>,
    given: usize,
}

pub(super) fn is_id(word: &str) -> bool {
    word.rsplit_once('_')
        .is_some_and(|(prefix, rest)| prefix == "req" || (!prefix.is_empty() && rest.len() == 26))
}

/// The words of a text, and what stands between them.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|letter| is_word(letter) != is_word(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

impl Names {
    /// The text with names instead of ids, and without what differs from run to run.
    pub(super) fn plain(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        // Moments look like 2026-11-23T06:30:00.000Z.
        while let Some(at) = moment(rest) {
            self.append(&mut out, &rest[..at]);
            out.push_str("MOMENT");
            rest = &rest[at + MOMENT..];
        }
        self.append(&mut out, rest);
        out
    }

    fn append(&mut self, out: &mut String, text: &str) {
        for word in words(text) {
            if let Some(name) = self.known.get(word) {
                out.push_str(name);
            } else if is_id(word) {
                let given = &mut self.given;
                *given += 1;
                let name = format!("id{given}");
                out.push_str(&name);
                self.known.insert(word.to_owned(), name);
            } else if word.len() >= 20
                && word.bytes().any(|letter| letter.is_ascii_uppercase())
                && word.bytes().any(|letter| letter.is_ascii_lowercase())
            {
                out.push_str("SEAL");
            } else if word.len() >= 32 && word.bytes().all(|letter| letter.is_ascii_hexdigit()) {
                out.push_str("HASH");
            } else if word.len() >= 13 && word.bytes().all(|letter| letter.is_ascii_digit()) {
                out.push_str("NUMBER");
            } else {
                out.push_str(word);
            }
        }
    }
}

const MOMENT: usize = "2026-11-23T06:30:00.000Z".len();

fn moment(text: &str) -> Option<usize> {
    let is_moment = |at: usize| {
        text.as_bytes()
            .get(at..at + MOMENT)
            .is_some_and(|part| part[4] == b'-' && part[10] == b'T' && part[23] == b'Z' && part[19] == b'.')
    };
    text.match_indices("20").map(|(at, _)| at).find(|at| is_moment(*at))
}

/// A JSON value without what is random, signed or measured.
pub(super) fn without_secrets(value: &mut Value) {
    const SECRET: [&str; 10] = [
        "secret",
        "key",
        "prefix",
        "nextCursor",
        "recordingUrl",
        "hash",
        "signature",
        "publicKey",
        "integrityHash",
        "durationMs",
    ];
    match value {
        Value::Object(fields) => {
            let of_a_key = fields.get("field").is_some_and(|field| field == "prefix");
            for (name, value) in fields.iter_mut() {
                // A long value in a log of actions is shown as a keyed hash.
                let hashed = value.as_str().is_some_and(|text| text.contains(" bytes, hash "));
                let secret = SECRET.contains(&name.as_str()) || hashed || (of_a_key && name != "field");
                if secret && (value.is_string() || value.is_number()) {
                    *value = json!("SECRET");
                } else {
                    without_secrets(value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(without_secrets),
        _ => {}
    }
}

/// An export of the decision log without its signature.
pub(super) fn unsigned(text: &str) -> String {
    text.lines().map(|line| line.split(" public_key=").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

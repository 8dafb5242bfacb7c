use api::operation::{Access, Operation};
use api::operations;
use clap::ArgMatches;
use serde_json::{Value, json};

use super::arguments::{Prepared, value};
use super::command::{Takes, command, is_map, json_flag, kebab, kinds, kinds_of_items};
use super::{client_commands, of_client, of_operator};
use crate::cli::failed::{Failed, Kind};

fn find(id: &str) -> &'static Operation {
    operations::all().find(|operation| operation.id == id).unwrap_or_else(|| panic!("{id}"))
}

/// A word that an option of this shape takes.
fn sample(shape: &Value) -> String {
    if let Some(word) = shape["enum"][0].as_str() {
        return word.to_owned();
    }
    match kinds(shape).first() {
        Some(&"boolean") => "true".into(),
        Some(&"array") if kinds_of_items(shape).first() == Some(&"object") => "[]".into(),
        Some(&"object") if is_map(shape) => "a=b".into(),
        Some(&"object") | None => "{}".into(),
        Some(&"integer" | &"number") => shape["minimum"].as_i64().unwrap_or(1).to_string(),
        _ => "x".into(),
    }
}

/// The words of a command with every argument and every option.
fn words(operation: &'static Operation) -> Vec<String> {
    let takes = Takes::new(operation);
    let mut words: Vec<String> = takes.path().map(|name| format!("the-{name}")).collect();
    for field in takes.fields() {
        words.push(format!("--{}={}", kebab(&field.name), sample(&field.schema.to_json())));
    }
    if operation.upload {
        words.push("--file=x".into());
    } else if takes.body.is_some() && takes.body_fields().is_empty() {
        words.push("--body={}".into());
    }
    if operation.access == Access::StreamToken {
        words.push("--token=t".into());
    }
    words
}

fn parse(operation: &'static Operation, words: &[String]) -> Result<ArgMatches, clap::Error> {
    let command = match operation.command() {
        Some(name) => of_client(operation, name.verb),
        None => command(&Takes::new(operation), kebab(operation.id)).arg(json_flag()),
    };
    command.try_get_matches_from(std::iter::once("command").chain(words.iter().map(String::as_str)))
}

fn prepare(id: &str, words: &[&str]) -> Result<Prepared, Failed> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let matches = parse(find(id), &words).unwrap_or_else(|why| panic!("{id} {words:?}: {why}"));
    Prepared::new(&Takes::new(find(id)), &matches)
}

fn refused(id: &str, words: &[&str]) -> String {
    match prepare(id, words) {
        Ok(_) => panic!("{id} {words:?} is accepted"),
        Err(failed) => {
            assert_eq!(failed.kind, Kind::Usage, "{failed:?}");
            failed.message
        }
    }
}

fn body(id: &str, words: &[&str]) -> Value {
    let prepared = prepare(id, words).unwrap_or_else(|failed| panic!("{words:?}: {failed:?}"));
    serde_json::from_slice(&prepared.body).unwrap()
}

#[test]
fn every_operation_has_a_command_that_takes_all_its_fields() {
    let mut count = 0;
    for operation in of_operator().chain(operations::all().filter(|operation| operation.command().is_some()))
    {
        let words = words(operation);
        if let Err(why) = parse(operation, &words) {
            panic!("{} {words:?}: {why}", operation.id);
        }
        // Without its arguments none is accepted.
        if operation.path.contains('{') {
            assert!(parse(operation, &[]).is_err(), "{}", operation.id);
        }
        count += 1;
    }
    assert!(count > 230, "{count}");
}

#[test]
fn the_nouns_that_are_not_wanted_are_words_only() {
    let some = client_commands(Some("calls"));
    assert_eq!(some.len(), client_commands(None).len());
    for command in &some {
        assert_eq!(
            command.get_subcommands().count() > 0,
            command.get_name() == "calls",
            "{}",
            command.get_name()
        );
    }
}

#[test]
fn options_become_the_body() {
    let agent = "agt_01arz3ndektsv4rrffq69g5fav";
    assert_eq!(
        body(
            "placeCall",
            &[
                "--agent-id",
                agent,
                "--to-number",
                "+919812345678",
                "--variables",
                "name=Asha",
                "--variables",
                "due=a=b"
            ]
        ),
        json!({"agentId": agent, "toNumber": "+919812345678", "variables": {"name": "Asha", "due": "a=b"}})
    );
    // Options replace what the body says.
    let whole = json!({"agentId": agent, "toNumber": "1"}).to_string();
    assert_eq!(
        body("placeCall", &["--body", &whole, "--to-number", "+919812345678"])["toNumber"],
        "+919812345678"
    );
    assert_eq!(
        body("createKey", &["ws_1", "--name", "k", "--mode", "live", "--scopes", "calls:read, calls:write"])
            ["scopes"],
        json!(["calls:read", "calls:write"])
    );
    assert_eq!(
        body("createKey", &["ws_1", "--name", "k", "--mode", "live", "--scopes", "all"])["scopes"],
        "all"
    );
    assert_eq!(
        body("createWebhook", &["--url", "https://example.org", "--events", "call.completed,nudge.finished"])
            ["events"],
        json!(["call.completed", "nudge.finished"])
    );
}

#[test]
fn what_does_not_fit_is_named_before_anything_is_sent() {
    let agent = "agt_01arz3ndektsv4rrffq69g5fav";
    for (words, expected) in [
        (
            vec!["--body", r#"{"agentId": "agt_01arz3ndektsv4rrffq69g5fav", "toNumbr": "1"}"#],
            "--body: toNumbr is not a field of this request; did you mean toNumber?",
        ),
        (vec!["--agent-id", agent, "--to-number", "1"], "--to-number must be a string of 8 to 20 characters"),
        (
            vec!["--agent-id", agent, "--to-number", "+919812345678", "--variables", "{"],
            "--variables: not JSON: ",
        ),
        (
            vec!["--agent-id", agent, "--to-number", "+919812345678", "--variables", "name"],
            "--variables takes JSON, @FILE or NAME=VALUE",
        ),
        (vec!["--body", "[]"], "--body must be an object"),
        (vec!["--body", "@/nowhere/at/all"], "--body: /nowhere/at/all: "),
    ] {
        let said = refused("placeCall", &words);
        assert!(said.starts_with(expected), "{words:?}: {said}");
    }
}

#[test]
fn unknown_keys_inside_an_option_are_refused() {
    // The first object with fields of its own in any request, found in the table.
    let mut tried = 0;
    for operation in
        operations::all().filter(|operation| operation.command().is_some() && !operation.body_raw)
    {
        let takes = Takes::new(operation);
        for field in takes.body_fields() {
            let shape = field.schema.to_json();
            if kinds(&shape).first() != Some(&"object")
                || shape["properties"].as_object().is_none_or(serde_json::Map::is_empty)
            {
                continue;
            }
            let option = format!("--{}", kebab(&field.name));
            let mut words: Vec<String> = words(operation);
            words.retain(|word| !word.starts_with(&format!("{option}=")));
            words.push(format!("{option}={}", json!({"noSuchKey": 1})));
            let matches = parse(operation, &words).unwrap();
            let Err(failed) = Prepared::new(&takes, &matches) else {
                panic!("{} {option} takes a key that does not exist", operation.id)
            };
            // Another field may be the first that does not fit.
            tried += usize::from(failed.message.starts_with(&format!("{option}: noSuchKey is not a field")));
        }
    }
    assert!(tried > 0);
}

#[test]
fn texts_become_what_the_schema_wants() {
    for (shape, texts, expected) in [
        (json!({"type": "integer"}), vec!["5"], json!(5)),
        (json!({"type": "integer"}), vec!["five"], json!("five")),
        (json!({"type": "number"}), vec!["0.5"], json!(0.5)),
        (json!({"type": "boolean"}), vec!["true"], json!(true)),
        (json!({"type": "string"}), vec!["5"], json!("5")),
        (json!({"type": ["string", "null"]}), vec!["null"], json!(null)),
        (json!({"type": "string"}), vec!["null"], json!("null")),
        (json!({"type": "array", "items": {"type": "integer"}}), vec!["1,2", "3"], json!([1, 2, 3])),
        (
            json!({"type": "array", "items": {"type": "object"}}),
            vec!["{\"a\":1}", "[{\"a\":2}]"],
            json!([{"a": 1}, {"a": 2}]),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            vec!["a=1"],
            json!({"a": "1"}),
        ),
        (json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), vec!["7"], json!(7)),
        (
            json!({"anyOf": [{"type": "string", "enum": ["all"]}, {"type": "array", "items": {"type": "string"}}]}),
            vec!["a"],
            json!(["a"]),
        ),
        (json!({}), vec!["{\"a\": [1]}"], json!({"a": [1]})),
        (json!({}), vec!["plain"], json!("plain")),
    ] {
        assert_eq!(value("--x", &shape, &texts).unwrap(), expected, "{shape} {texts:?}");
    }
}

#[test]
fn a_repeated_wallet_entry_has_the_same_key() {
    let key = |id: &str, words: &[&str]| {
        prepare(id, words).unwrap_or_else(|why| panic!("{why:?}")).idempotency_key.unwrap()
    };
    let entry = |reference: &str| {
        key(
            "createWalletEntry",
            &["ws_1", "--kind", "topup", "--amount-minor", "500", "--reference", reference],
        )
    };
    assert_eq!(entry("invoice 7"), entry("invoice 7"));
    assert_ne!(entry("invoice 7"), entry("invoice 8"));
    let call = || {
        key("placeCall", &["--agent-id", "agt_01arz3ndektsv4rrffq69g5fav", "--to-number", "+919812345678"])
    };
    assert_ne!(call(), call());
    let own = key(
        "createWalletEntry",
        &["ws_1", "--kind", "topup", "--amount-minor", "-5", "--reference", "r", "--idempotency-key", "mine"],
    );
    assert_eq!(own, "mine");
}

#[test]
fn what_is_streamed_is_in_the_table() {
    for id in super::run::STREAMED {
        assert!(find(id).command().is_some(), "{id}");
    }
}

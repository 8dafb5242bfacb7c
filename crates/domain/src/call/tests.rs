use serde_json::{Map, Value, json};

use super::*;
use crate::phone::Phone;
use crate::time::{SECOND, Timestamp};

/// The final state of a call to this number, played on a network: `status endCause talk events…`.
fn played(network: Network, digits: &str) -> String {
    let to = Phone::normalize(&format!("+91981230{digits}")).unwrap();
    if let Some(error) = refusal(network, to) {
        return format!("{error:?}");
    }
    let mut call = Progress::placing();
    let mut notices = Vec::new();
    let ringing = ScriptedFact { after_ms: 0, fact: Fact::Ringing };
    for step_ in std::iter::once(&ringing).chain(script(network, to)) {
        if let Some((next, notice)) = step(&call, step_.fact, Timestamp(step_.after_ms)) {
            call = next;
            notices.extend(notice.map(|notice| {
                let name = match notice {
                    Notice::Started => "call.started",
                    Notice::Completed => "call.completed",
                    Notice::Failed => "call.failed",
                };
                format!("{name} {}", step_.after_ms / SECOND)
            }));
        }
    }
    assert!(!call.status.is_live(), "{digits}");
    let talk = call.talk_ms.map_or("-".to_owned(), |talk| (talk / SECOND).to_string());
    format!("{} {} {talk} | {}", call.status.as_str(), call.end_cause.unwrap_or_default(), notices.join(", "))
}

#[test]
fn every_row_of_the_tables() {
    let answered = "completed agent_ended 8 | call.started 2, call.completed 10";
    for (digits, test, sandbox) in [
        ("0000", "no_answer no_answer - | call.failed 15", "no_answer no_answer - | call.failed 15"),
        ("1111", "busy busy - | call.failed 3", "busy busy - | call.failed 3"),
        ("1010", answered, "completed agent_ended 18 | call.started 2, call.completed 20"),
        ("2020", answered, "completed agent_ended 18 | call.started 2, call.completed 20"),
        ("3030", answered, "completed no_answer 6 | call.started 2, call.completed 8"),
        ("4040", answered, answered),
        ("3333", answered, "completed voicemail 2 | call.started 2, call.completed 4"),
        ("4444", answered, "failed rejected - | call.failed 3"),
        ("5555", answered, "failed invalid_number - | call.failed 1"),
        ("6666", answered, "ProviderErrorBeforeRing"),
        ("7777", answered, answered),
        ("8888", answered, "failed not_connected 0 | call.started 2, call.completed 2"),
        ("9999", answered, "Uncertain"),
        ("1234", answered, answered),
    ] {
        assert_eq!(played(Network::Test, digits), test, "{digits}");
        assert_eq!(played(Network::Sandbox, digits), sandbox, "{digits}");
    }
}

#[test]
fn who_picked_up_stays_unless_it_was_taken_for_a_person() {
    use AnsweredBy::{Announcement, Person, Screener, Voicemail};
    let after = |facts: &[Fact]| facts.iter().fold(None, |known, fact| answered_by(known, *fact));
    for (facts, expected) in [
        (&[Fact::Ringing, Fact::Answered][..], None),
        (&[Fact::Answered, Fact::AgentConnected, Fact::Ended(EndCause::AgentEnded)], Some(Person)),
        (&[Fact::Answered, Fact::Voicemail], Some(Voicemail)),
        (&[Fact::AgentConnected, Fact::Voicemail], Some(Voicemail)),
        (&[Fact::PickedUpBy(Screener), Fact::AgentConnected], Some(Screener)),
        (&[Fact::AgentConnected, Fact::PickedUpBy(Screener)], Some(Screener)),
        (&[Fact::PickedUpBy(Screener), Fact::Voicemail], Some(Screener)),
        (&[Fact::PickedUpBy(Announcement), Fact::AgentConnected], Some(Announcement)),
        (&[Fact::PickedUpBy(Announcement), Fact::PickedUpBy(Screener)], Some(Screener)),
        (&[Fact::PickedUpBy(Announcement), Fact::Voicemail], Some(Voicemail)),
        (&[Fact::PickedUpBy(Announcement), Fact::Ended(EndCause::NoAnswer)], Some(Announcement)),
    ] {
        assert_eq!(after(facts), expected, "{facts:?}");
    }
}

const FACTS: [Fact; 17] = [
    Fact::PickedUpBy(AnsweredBy::Screener),
    Fact::Ringing,
    Fact::Answered,
    Fact::AgentConnected,
    Fact::AgentFailed,
    Fact::Voicemail,
    Fact::Busy,
    Fact::NoAnswer,
    Fact::Rejected,
    Fact::InvalidNumber,
    Fact::Sip(500),
    Fact::OptOutSaid,
    Fact::Ended(EndCause::AgentEnded),
    Fact::Ended(EndCause::ApiHangup),
    Fact::NotPlaced,
    Fact::Uncertain,
    Fact::Lost,
];

#[test]
fn an_opt_out_is_kept_whenever_it_is_heard_and_a_failed_agent_ends_a_call_whose_answer_was_lost() {
    let (ringing, _) = step(&Progress::placing(), Fact::Ringing, Timestamp(0)).unwrap();
    let (early, notice) = step(&ringing, Fact::OptOutSaid, Timestamp(1)).unwrap();
    assert_eq!((early.status, early.opted_out, notice), (Status::Ringing, true, None));
    let (over, _) = step(&ringing, Fact::NoAnswer, Timestamp(1)).unwrap();
    let (late, notice) = step(&over, Fact::OptOutSaid, Timestamp(2)).unwrap();
    assert_eq!(
        (late.status, late.ended_at, late.opted_out, notice),
        (Status::NoAnswer, over.ended_at, true, None)
    );
    assert_eq!(step(&late, Fact::OptOutSaid, Timestamp(3)), None);
    let (failed, notice) = step(&ringing, Fact::AgentFailed, Timestamp(1)).unwrap();
    assert_eq!(
        (failed.end_cause.as_deref(), failed.talk_ms, notice),
        (Some("not_connected"), None, Some(Notice::Failed))
    );
}

#[test]
fn a_hang_up_before_the_answer_cancels_and_after_it_completes() {
    let hang_up = Fact::Ended(EndCause::ApiHangup);
    let (ringing, _) = step(&Progress::placing(), Fact::Ringing, Timestamp(0)).unwrap();
    let (over, notice) = step(&ringing, hang_up, Timestamp(1)).unwrap();
    assert_eq!(
        (over.status, over.end_cause.as_deref(), notice),
        (Status::Cancelled, Some("api_hangup"), Some(Notice::Failed))
    );
    let (live, _) = step(&ringing, Fact::Answered, Timestamp(10)).unwrap();
    let (over, notice) = step(&live, hang_up, Timestamp(30)).unwrap();
    assert_eq!((over.status, over.talk_ms, notice), (Status::Completed, Some(20), Some(Notice::Completed)));
}

proptest::proptest! {
    /// In any order of facts there is at most one `call.started` and at most one end, and no end event
    /// without a `call.started`.
    #[test]
    fn facts_in_any_order(facts in proptest::collection::vec(0usize..16, 0..40)) {
        let mut call = Progress::placing();
        let mut notices = Vec::new();
        for (at, fact) in facts.into_iter().enumerate() {
            if let Some((next, notice)) = step(&call, FACTS[fact], Timestamp(at as i64)) {
                proptest::prop_assert!(call.status.is_live() || FACTS[fact] == Fact::OptOutSaid);
                call = next;
                notices.extend(notice);
            }
        }
        let count = |wanted| notices.iter().filter(|notice| **notice == wanted).count();
        let (started, completed, failed) = (count(Notice::Started), count(Notice::Completed), count(Notice::Failed));
        proptest::prop_assert!(started <= 1 && completed <= started && failed + completed <= 1 && (failed == 0 || started == 0));
        proptest::prop_assert_eq!(call.status.is_live(), call.ended_at.is_none());
        proptest::prop_assert_eq!(call.answered_at.is_some() && call.ended_at.is_some(), call.talk_ms.is_some());
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[test]
fn long_values_are_cut_and_told() {
    let (variables, warnings) =
        accept(object(json!({"name": "ा".repeat(121), "age": 4, "ok": true, "fits": "x".repeat(120)})))
            .unwrap();
    assert_eq!(variables["name"].as_str().unwrap().chars().count(), 120);
    assert_eq!(warnings.len(), 1);
    assert_eq!((warnings[0].code, warnings[0].field.as_str()), ("variable_truncated", "variables.name"));
}

#[test]
fn names_counts_and_totals_over_the_limits_are_accepted_for_now() {
    let many: Map<String, Value> =
        (0..51).map(|index| (format!("v{index}"), json!("x".repeat(400)))).collect();
    let (variables, warnings) = accept(many).unwrap();
    let codes: Vec<(&str, &str)> =
        warnings.iter().take(2).map(|warning| (warning.code, warning.field.as_str())).collect();
    assert_eq!(
        (variables.len(), codes),
        (51, vec![("variables_over_limit", "variables"), ("variables_over_limit", "variables")])
    );
    let (variables, warnings) = accept(object(json!({"1st": "a"}))).unwrap();
    assert_eq!(
        (variables["1st"].as_str(), warnings[0].code, warnings[0].field.as_str()),
        (Some("a"), "variables_over_limit", "variables.1st")
    );
}

#[test]
fn only_strings_numbers_and_booleans_are_values() {
    for wrong in [json!(null), json!([1]), json!({"a": 1})] {
        assert_eq!(accept(object(json!({"a": 1, "bad": wrong}))), Err(InvalidValue { key: "bad".into() }));
    }
}

#[test]
fn metadata_limits_name_the_field() {
    let keys = |count: usize| (0..count).map(|index| (format!("k{index}"), json!(1))).collect::<Map<_, _>>();
    assert_eq!(check_metadata(&keys(20)), Ok(()));
    assert_eq!(check_metadata(&keys(21)).unwrap_err().0, "metadata");
    assert_eq!(
        check_metadata(&object(json!({"a": "x".repeat(500), "b": null, "c": true, "d": 1.5}))),
        Ok(())
    );
    assert_eq!(check_metadata(&object(json!({"a": "x".repeat(501)}))).unwrap_err().0, "metadata.a");
    assert_eq!(check_metadata(&object(json!({"a": []}))).unwrap_err().0, "metadata.a");
    assert_eq!(check_metadata(&object(json!({"": 1}))).unwrap_err().0, "metadata.");
    let long = "k".repeat(41);
    assert_eq!(check_metadata(&object(json!({long.as_str(): 1}))).unwrap_err().0, format!("metadata.{long}"));
    let heavy: Map<String, Value> =
        (0..9).map(|index| (format!("k{index}"), json!("x".repeat(500)))).collect();
    assert_eq!(check_metadata(&heavy).unwrap_err().0, "metadata");
}

#[test]
fn a_question_of_the_sandbox_is_in_the_metadata() {
    assert_eq!(
        question(&json!({"sandboxQuestion": " When do you open? "})).as_deref(),
        Some("When do you open?")
    );
    let long = question(&json!({"sandboxQuestion": "x".repeat(300)})).map(|text| text.len());
    assert_eq!(long, Some(200));
    for none in [json!({}), json!(null), json!({"sandboxQuestion": "  "}), json!({"sandboxQuestion": 7})] {
        assert_eq!(question(&none), None, "{none}");
    }
}

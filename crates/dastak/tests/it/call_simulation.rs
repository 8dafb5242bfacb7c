//! How simulated calls play out, to the second: test mode and the sandbox phone network
//! (docs/contract/sandbox.md).

use serde_json::{Value, json};

use crate::shows::Shows;
use crate::world::World;

/// `state status endCause answered duration outcome` of a call.
fn line(call: &Value) -> String {
    let word = |name: &str| call[name].as_str().map_or_else(|| call[name].to_string(), str::to_owned);
    ["state", "status", "endCause", "answered", "durationSeconds", "outcome"].map(word).join(" ")
}

/// Plays a call second by second: every change of its line, with the second it was seen at.
async fn timeline(world: &World, key: &str, digits: &str) -> Vec<String> {
    let id = world.placed(key, digits).await;
    let (mut seen, mut last) = (Vec::new(), String::new());
    for second in 0..=21 {
        let now = line(&world.call(key, &id).await);
        if now != last {
            seen.push(format!("{second} {now}"));
            last = now;
        }
        world.advance(1).await;
    }
    seen
}

const RINGING: &str = "0 ringing ringing null false null null";
const LIVE: &str = "2 in_progress in_progress null true null null";

#[tokio::test]
async fn a_test_call_plays_to_the_second() {
    let world = World::open().await;
    let test = world.workspace.test.clone();
    for digits in ["1234", "2222", "3333", "6666", "9999"] {
        let expected = [RINGING, LIVE, "10 ended completed agent_ended true 8 simulated"];
        assert_eq!(timeline(&world, &test, digits).await, expected, "{digits}");
    }
    assert_eq!(
        timeline(&world, &test, "0000").await,
        [RINGING, "15 ended no_answer no_answer false null null"]
    );
    assert_eq!(timeline(&world, &test, "1111").await, [RINGING, "3 ended busy busy false null null"]);
    assert_eq!(world.wallet().await, (1_000_000, 0), "nothing is billed");
}

#[tokio::test]
async fn the_sandbox_knows_every_outcome() {
    let world = World::open().await;
    let live = world.workspace.live.clone();
    for (digits, rest) in [
        ("1234", vec![LIVE, "10 ended completed agent_ended true 8 simulated"]),
        ("0000", vec!["15 ended no_answer no_answer false null null"]),
        ("1111", vec!["3 ended busy busy false null null"]),
        ("3333", vec![LIVE, "4 ended completed voicemail true 2 null"]),
        ("1010", vec![LIVE, "20 ended completed agent_ended true 18 simulated"]),
        ("2020", vec![LIVE, "20 ended completed agent_ended true 18 simulated"]),
        ("3030", vec![LIVE, "8 ended completed no_answer true 6 null"]),
        ("4040", vec![LIVE, "10 ended completed agent_ended true 8 simulated"]),
        ("4444", vec!["3 ended failed rejected false null null"]),
        ("5555", vec!["1 ended failed invalid_number false null null"]),
        ("7777", vec![LIVE, "10 ended completed agent_ended true 8 opted_out"]),
        ("8888", vec!["2 ended failed not_connected true 0 null"]),
    ] {
        let expected: Vec<&str> = [RINGING].into_iter().chain(rest).collect();
        assert_eq!(timeline(&world, &live, digits).await, expected, "{digits}");
    }
    let charges = world.app.get(&live, "/v1/wallet/transactions").await.expect(200);
    let kinds: Vec<&str> =
        charges["data"].as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["call_charge"; 7].into_iter().chain(["signup_grant"]).collect::<Vec<_>>(),
        "talk is billed, nothing else"
    );
    assert_eq!(world.wallet().await, (1_000_000 - 7 * 600, 0));
}

#[tokio::test]
async fn a_call_says_who_picked_up() {
    let world = World::open().await;
    let (live, test) = (world.workspace.live.clone(), world.workspace.test.clone());
    let words = async |key: &str, digits: &str| {
        let id = world.placed(key, digits).await;
        let mut seen = vec![world.call(key, &id).await["answeredBy"].clone()];
        for _ in 0..21 {
            world.advance(1).await;
            let now = world.call(key, &id).await["answeredBy"].clone();
            if seen.last() != Some(&now) {
                seen.push(now);
            }
        }
        seen
    };
    for (key, digits, then) in [
        (&live, "1234", json!([null, "person"])),
        (&live, "3333", json!([null, "voicemail"])),
        (&live, "1010", json!([null, "screener"])),
        (&live, "2020", json!([null, "announcement"])),
        (&live, "3030", json!([null, "announcement"])),
        (&live, "1111", json!([null])),
        (&live, "8888", json!([null])),
        (&test, "1234", json!([null, "person"])),
    ] {
        assert_eq!(json!(words(key, digits).await), then, "{digits}");
    }
}

#[tokio::test]
async fn a_test_call_tells_its_story() {
    let world = World::open().await;
    let body = json!({"externalRef": "crm-7", "metadata": {"order": 5, "note": null}, "variables": {"name": "Ravi"}});
    let placed = world.place_with(world.test(), "1234", body).await.expect(200);
    let id = placed["interactionId"].as_str().unwrap();
    assert!(id.starts_with("call_") && placed["providerCallId"].as_str().unwrap().starts_with("prov_"));
    assert_eq!((&placed["placed"], placed.get("warnings")), (&json!(true), None));
    world.advance(2).await;
    let started = world.outbox().await;
    let call = world.call(world.test(), id).await;
    let expected = json!({
        "callId": id, "agentId": world.agent, "campaignId": null, "contactId": call["contactId"], "externalRef": "crm-7", "direction": "outbound",
        "toNumber": "+919812301234", "fromNumber": call["fromNumber"], "answeredAt": world.at(2), "answeredBy": null, "language": "en", "endedAt": null,
        "durationSeconds": null, "endCause": null, "outcome": null, "metadata": {"order": 5, "note": null},
    });
    started[0].shows(json!({"type": "call.started", "livemode": false, "data": expected}));
    world.advance(8).await;
    assert_eq!(
        world.kinds().await,
        ["call.started", "transcript.ready", "outcome.captured", "call.completed"]
    );
    for event in &world.outbox().await[1..] {
        let mut over = expected.clone();
        for (name, value) in [
            ("answeredBy", json!("person")),
            ("endedAt", json!(world.at(10))),
            ("durationSeconds", json!(8)),
            ("endCause", json!("agent_ended")),
            ("outcome", json!("simulated")),
        ] {
            over[name] = value;
        }
        assert_eq!(event["data"], over);
        assert_eq!(event["createdAt"], world.at(10));
    }
    let call = world.call(world.test(), id).await;
    let roles: Vec<&str> =
        call["transcript"].as_array().unwrap().iter().map(|turn| turn["role"].as_str().unwrap()).collect();
    assert!(roles.contains(&"agent") && roles.contains(&"customer"), "{call}");
    assert!(
        call["transcript"][0]["text"].as_str().unwrap().contains("Asha from Acme"),
        "the agent's own flow speaks: {call}"
    );
    let rest = json!({"summary": null, "extracted": {}, "recordingUrl": null, "fullTranscript": {"status": null, "turns": null}, "connectorPushes": []});
    for (name, value) in rest.as_object().unwrap() {
        assert_eq!(call.get(name), Some(value), "{name}");
    }
}

#[tokio::test]
async fn unanswered_calls_fail_with_their_cause() {
    let world = World::open().await;
    let mut expected = Vec::new();
    for (digits, cause) in
        [("0000", "no_answer"), ("1111", "busy"), ("4444", "rejected"), ("5555", "invalid_number")]
    {
        world.placed(world.live(), digits).await;
        world.advance(15).await;
        expected.push(("call.failed".to_owned(), cause.to_owned(), true));
    }
    let events = world.outbox().await;
    let seen: Vec<(String, String, bool)> = events
        .iter()
        .map(|event| {
            (
                event["type"].as_str().unwrap().into(),
                event["data"]["endCause"].as_str().unwrap().into(),
                event["livemode"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(seen, expected);
    assert!(
        events
            .iter()
            .all(|event| event["data"]["answeredAt"].is_null() && event["data"]["durationSeconds"].is_null())
    );
}

#[tokio::test]
async fn stop_calling_puts_the_number_on_the_list() {
    let world = World::open().await;
    let id = world.placed(world.live(), "7777").await;
    world.advance(10).await;
    assert_eq!(
        world.kinds().await,
        ["call.started", "contact.opted_out", "transcript.ready", "outcome.captured", "call.completed"]
    );
    let event = &world.outbox().await[1];
    let call = world.call(world.live(), &id).await;
    let expected = json!({"contactId": call["contactId"], "externalRef": null, "phone": "+919812307777", "source": "call", "callId": id});
    assert_eq!(event["data"], expected);
    let refused = world.place(world.live(), "7777").await.refused(422, "call_blocked");
    assert_eq!(refused["meta"]["blockReason"], "opt_out");
}

#[tokio::test]
async fn hanging_up_while_it_rings_and_while_it_is_live() {
    let world = World::open().await;
    for (key, mode) in [(world.workspace.test.clone(), "test"), (world.workspace.live.clone(), "live")] {
        for (after, expected) in
            [(1, "ended cancelled api_hangup false null null"), (5, "ended completed api_hangup true 3 null")]
        {
            let id = world.placed(&key, "1234").await;
            world.advance(after).await;
            let path = format!("/v1/calls/{id}/hangup");
            for _ in 0..3 {
                let answer = world.app.post(&key, &path, &Value::Null).await.expect(202);
                assert_eq!(answer, json!({"data": {"id": id, "state": "ending"}}));
            }
            world.advance(1).await;
            assert_eq!(line(&world.call(&key, &id).await), expected, "{mode}");
            world.app.post(&key, &path, &Value::Null).await.refused(409, "call_not_active");
            world.advance(20).await;
            assert_eq!(line(&world.call(&key, &id).await), expected, "nothing follows");
        }
    }
    let once = ["call.failed", "call.started", "call.completed"];
    assert_eq!(world.kinds().await, [once, once].concat());
    assert_eq!(world.wallet().await, (1_000_000 - 600, 0), "a hung-up live call is billed for its talk time");
}

#[tokio::test]
async fn whoever_has_seen_a_call_ended_hangs_up_in_vain() {
    let world = World::open().await;
    // One number may be called three times a day.
    let mut numbers = (1000..).map(|number: u32| number.to_string());
    let mut number = || numbers.next().expect("another one");
    for key in [world.workspace.test.clone(), world.workspace.live.clone()] {
        let hang_up =
            async |id: &str| world.app.post(&key, &format!("/v1/calls/{id}/hangup"), &Value::Null).await;
        for (after, expected) in
            [(1, "ended cancelled api_hangup false null null"), (5, "ended completed api_hangup true 3 null")]
        {
            // Read.
            let id = world.placed(&key, &number()).await;
            world.advance(after).await;
            hang_up(&id).await.expect(202);
            assert_eq!(line(&world.call(&key, &id).await), expected);
            hang_up(&id).await.refused(409, "call_not_active");
            // Told by its event: the clock has moved on by what the network takes.
            let id = world.placed(&key, &number()).await;
            world.advance(after).await;
            hang_up(&id).await.expect(202);
            world.advance(1).await;
            let told = world.outbox().await.into_iter().any(|event| {
                event["data"]["callId"] == json!(id) && event["data"]["endCause"] == "api_hangup"
            });
            assert!(told, "its event is there");
            hang_up(&id).await.refused(409, "call_not_active");
        }
        // Ended by itself.
        let id = world.placed(&key, &number()).await;
        world.advance(10).await;
        assert_eq!(world.call(&key, &id).await["endCause"], "agent_ended");
        hang_up(&id).await.refused(409, "call_not_active");
    }
}

#[tokio::test]
async fn calls_go_on_after_a_restart() {
    let world = World::open().await;
    let (test, live) = (world.placed(world.test(), "1234").await, world.placed(world.live(), "1234").await);
    world.advance(2).await;
    let world = world.restart_at(9).await;
    assert_eq!(line(&world.call(world.test(), &test).await), "in_progress in_progress null true null null");
    world.advance(1).await;
    for (key, id) in [(world.test(), &test), (world.live(), &live)] {
        assert_eq!(line(&world.call(key, id).await), "ended completed agent_ended true 8 simulated");
    }
    assert_eq!(world.wallet().await, (1_000_000 - 600, 0));
}

#[tokio::test]
async fn a_call_that_ended_while_the_service_was_down_ended_when_it_did() {
    let world = World::open().await;
    let id = world.placed(world.live(), "1234").await;
    let world = world.restart_at(3 * 3600).await;
    let call = world.call(world.live(), &id).await;
    assert_eq!((&call["durationSeconds"], &call["endedAt"]), (&json!(8), &json!(world.at(10))));
}

#[tokio::test]
async fn the_two_worlds_do_not_see_each_other() {
    let world = World::open().await;
    let (test, live) = (world.placed(world.test(), "1234").await, world.placed(world.live(), "1234").await);
    for (key, mine, other) in [(world.test(), &test, &live), (world.live(), &live, &test)] {
        world.app.get(key, &format!("/v1/calls/{mine}")).await.expect(200);
        world.app.get(key, &format!("/v1/calls/{other}")).await.not_found();
        world.app.post(key, &format!("/v1/calls/{other}/hangup"), &Value::Null).await.not_found();
        let listed = world.app.get(key, "/v1/calls").await.expect(200);
        let ids: Vec<&str> =
            listed["data"].as_array().unwrap().iter().map(|call| call["id"].as_str().unwrap()).collect();
        assert_eq!(ids, [mine.as_str()]);
    }
    let people = [
        world.call(world.test(), &test).await["contactId"].clone(),
        world.call(world.live(), &live).await["contactId"].clone(),
    ];
    assert_ne!(people[0], people[1], "a person that only a test call made is not a real one");
    let again = world.placed(world.test(), "1234").await;
    assert_eq!(
        world.call(world.test(), &again).await["contactId"],
        people[1],
        "a real contact is used as it is"
    );
}

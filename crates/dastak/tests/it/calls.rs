//! Placing and listing calls (docs/contract/calls.md#placing, #refusals).

use dastak::config::Config;
use domain::time::HOUR;
use serde_json::{Value, json};

use crate::app::{Answer, TestApp};
use crate::shows::Shows;
use crate::world::{World, noon_after};

/// What a workspace may lack.
async fn change(world: &World, body: Value) {
    world.change(&body).await;
}

/// Calls that the key sees.
async fn listed(app: &TestApp, key: &str, query: &str) -> Vec<Value> {
    app.get(key, &format!("/v1/calls{query}")).await.list(200)
}

fn with(agent: &str, more: Value) -> Value {
    let mut body = json!({"agentId": agent, "toNumber": "+919812301234"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[tokio::test]
async fn agent_errors_for_both_keys() {
    let world = World::open().await;
    let draft = world.draft_agent(&json!({})).await["id"].as_str().unwrap().to_owned();
    let chat = world.agent(&json!({"channel": "chat"})).await;
    let inbound = world.agent(&json!({"direction": "inbound"})).await;
    for key in [world.live(), world.test()] {
        for (agent, status, code) in [
            ("agt_00000000000000000000000000", 404, "not_found"),
            ("x", 404, "not_found"),
            (&draft, 422, "agent_not_published"),
            (&chat, 422, "agent_not_call"),
            (&inbound, 422, "agent_not_outbound"),
        ] {
            // Everything else is wrong, too: the agent comes first.
            let body = with(
                agent,
                json!({"toNumber": "12345678", "fromNumber": "+919999999999", "variables": {"a": []}}),
            );
            world.app.post(key, "/v1/calls", &body).await.refused(status, code);
        }
        assert!(listed(&world, key, "").await.is_empty());
    }
}

#[tokio::test]
async fn wrong_bodies_name_the_field() {
    let world = World::open().await;
    for (body, field) in [
        (json!({"toNumber": "+919812301234"}), "agentId"),
        (json!({"agentId": "", "toNumber": "+919812301234"}), "agentId"),
        (json!({"agentId": world.agent}), "toNumber"),
        (with(&world.agent, json!({"toNumber": "1234567"})), "toNumber"),
        (with(&world.agent, json!({"toNumber": "9".repeat(21)})), "toNumber"),
        (with(&world.agent, json!({"toNumber": "+14155550123"})), "toNumber"),
        (with(&world.agent, json!({"toNumber": "12345678"})), "toNumber"),
        (with(&world.agent, json!({"externalRef": ""})), "externalRef"),
        (with(&world.agent, json!({"externalRef": "x".repeat(121)})), "externalRef"),
        (with(&world.agent, json!({"variables": []})), "variables"),
        (with(&world.agent, json!({"metadata": "x"})), "metadata"),
        (with(&world.agent, json!({"metadata": {"k": "x".repeat(501)}})), "metadata.k"),
        (with(&world.agent, json!({"metadata": {"k": {}}})), "metadata.k"),
        (with(&world.agent, json!({"metadata": {"": 1}})), "metadata."),
    ] {
        for key in [world.live(), world.test()] {
            let refused = world.app.post(key, "/v1/calls", &body).await.invalid();
            assert_eq!(refused["meta"]["field"], field, "{body}");
        }
    }
    assert!(listed(&world.app, world.live(), "").await.is_empty());
}

#[tokio::test]
async fn local_formats_are_normalized() {
    let world = World::open().await;
    for text in ["98123 01234", "09812301234", "+91 98123-01234", "00919812301234"] {
        let placed = world
            .app
            .post(world.test(), "/v1/calls", &with(&world.agent, json!({"toNumber": text})))
            .await
            .expect(200);
        let call = world.call(world.test(), placed["interactionId"].as_str().unwrap()).await;
        assert_eq!(call["toNumber"], "+919812301234", "{text}");
    }
}

#[tokio::test]
async fn numbers_must_be_owned() {
    let world = World::open().await;
    let path = format!("/workspaces/{}/numbers", world.workspace.id);
    let second = format!(
        "+9180{}",
        &world
            .workspace
            .id
            .bytes()
            .fold(10_000_000u32, |sum, byte| (sum * 31 + u32::from(byte)) % 80_000_000 + 10_000_000)
    );
    let made = world.app.operator("POST", &path, &json!({"number": second})).await.expect(201);
    for key in [world.live(), world.test()] {
        world
            .place_with(key, "1234", json!({"fromNumber": "+918011112222"}))
            .await
            .refused(400, "from_number_not_owned");
        world
            .place_with(key, "1234", json!({"fromNumber": "nonsense"}))
            .await
            .refused(400, "from_number_not_owned");
        let placed = world
            .place_with(key, "1234", json!({"fromNumber": second.replace("+91", "0")}))
            .await
            .expect(200);
        assert_eq!(
            world.call(key, placed["interactionId"].as_str().unwrap()).await["fromNumber"],
            second.as_str()
        );
        let first = world.placed(key, "1235").await;
        assert_ne!(
            world.call(key, &first).await["fromNumber"],
            second.as_str(),
            "the first number is the default"
        );
    }
    world
        .app
        .operator("DELETE", &format!("{path}/{}", made["data"]["id"].as_str().unwrap()), &Value::Null)
        .await
        .expect(200);
    world
        .place_with(world.live(), "1234", json!({"fromNumber": second}))
        .await
        .refused(400, "from_number_not_owned");
}

/// A workspace that was just made, with an agent: without money, without a number, not verified.
async fn just_made(change: impl FnOnce(&mut Config)) -> World {
    let service = World::bare_with(change).await;
    let id = service.app.operator("POST", "/workspaces", &json!({"name": "Bare"})).await.id(201);
    let mut world = service.enter(&id).await;
    world.agent = world.agent(&json!({})).await;
    world
}

#[tokio::test]
async fn a_live_call_needs_verification_a_number_and_money_in_this_order() {
    let world = just_made(|_| ()).await;
    world.set_clock(&noon_after(&world.now().await).to_string()).await;
    let place = async |number: &str| -> Answer {
        world.post("/v1/calls", &with(&world.agent, json!({"toNumber": number}))).await
    };
    place("12345678").await.refused(403, "kyb_required");
    world.change(&json!({"kybVerified": true})).await;
    place("12345678").await.invalid();
    let refused = place("+919812302222").await.refused(400, "no_phone_number");
    assert_eq!(refused["error"], "buy a phone number before placing calls");
    world.number("+918044445555").await;
    place("+919812302222").await.refused(402, "insufficient_balance");
    assert!(listed(&world, world.live(), "").await.is_empty(), "refusals store nothing");
    world.pay(600).await;
    place("+919812302222").await.refused(422, "call_blocked");
    place("+919812301234").await.expect(200);
    place("+919812301235").await.refused(402, "insufficient_balance");
    world.advance(10).await;
    assert_eq!(world.wallet().await, (0, 0));
}

#[tokio::test]
async fn a_test_call_needs_none_of_that() {
    let world = just_made(|config| config.telephony.carrier = dastak::config::Carrier::None).await;
    // Night in India, a number on the registry, no money, no number, not verified, no carrier.
    world.set_clock(&noon_after(&world.now().await).plus(12 * HOUR).to_string()).await;
    world.app.operator("POST", "/dnd", &json!({"phones": ["+919812301234"]})).await.expect(200);
    for _ in 0..12 {
        world.app.post(world.test(), "/v1/calls", &with(&world.agent, json!({}))).await.expect(200);
    }
}

#[tokio::test]
async fn without_a_carrier_a_live_call_is_503() {
    let world = World::open_with(|config| config.telephony.carrier = dastak::config::Carrier::None).await;
    world.place(world.live(), "1234").await.refused(503, "voice_unavailable");
    assert!(listed(&world.app, world.live(), "").await.is_empty());
    assert_eq!(world.wallet().await, (1_000_000, 0));
}

#[tokio::test]
async fn a_cap_counts_a_dial_from_the_moment_at_which_the_carrier_was_asked() {
    let world = World::open().await;
    let live = world.live();
    let day = 24 * 3600;
    // On time; late, since the store answered late; and unknown, since a node died before it was written down.
    for (dialled_at, seconds) in [("started_at", 0), ("started_at + 5000", 5), ("cast(null as bigint)", 15)] {
        for _ in 0..3 {
            world.placed(live, "1111").await;
        }
        let sql = format!("update calls set dialled_at = {dialled_at} where started_at >= ?1");
        let now = world.app().clock.now();
        let stored = world.app().store.tx(move |tx| tx.exec(&sql, store::params![now]));
        assert_eq!(stored.await.unwrap(), 3);
        if seconds > 0 {
            world.advance(day + seconds - 1).await;
            let refused = world.place(live, "1111").await.refused(422, "call_blocked");
            assert_eq!(refused["meta"]["blockReason"], "frequency_cap", "{dialled_at}");
            world.advance(1).await;
        } else {
            world.advance(day).await;
        }
    }
    world.placed(live, "1111").await;
}

#[tokio::test]
async fn every_gate_blocks_and_leaves_a_listed_call() {
    let world = World::open().await;
    let live = world.live();
    let blocked = async |digits: &str, gate: &str| {
        let refused = world.place(live, digits).await.refused(422, "call_blocked");
        refused["meta"].shows(json!({"reason": gate, "blockReason": gate}));
        assert_eq!(refused["error"], format!("call blocked by compliance: {gate}"));
        let call = world.call(live, refused["meta"]["callId"].as_str().unwrap()).await;
        call.shows(json!({"state": "blocked", "status": "blocked", "answered": false}));
        world
            .app
            .post(live, &format!("/v1/calls/{}/hangup", call["id"].as_str().unwrap()), &Value::Null)
            .await
            .refused(409, "call_not_active");
    };
    blocked("2222", "dnd").await;
    world.app.operator("POST", "/dnd", &json!({"phones": ["+919812300101"]})).await.expect(200);
    blocked("0101", "dnd").await;
    world.app.post(live, "/v1/dnc", &json!({"phones": ["+919812300102"]})).await;
    blocked("0102", "opt_out").await;
    for _ in 0..3 {
        world.placed(live, "1111").await;
        world.advance(3).await;
    }
    blocked("1111", "frequency_cap").await;
    let pack = json!({"name": "Strict", "hours": [{"days": [0, 1, 2, 3, 4, 5, 6], "from": "00:00", "to": "24:00"}], "requireConsent": true});
    let pack = world.operator("POST", "/compliance-packs", pack).await.expect(201);
    let strict = world.agent(&json!({"policyRef": pack["data"]["id"]})).await;
    let refused =
        world.app.post(live, "/v1/calls", &with(&strict, json!({}))).await.refused(422, "call_blocked");
    assert_eq!(refused["meta"]["blockReason"], "consent");
    world.advance(9 * 3600).await;
    blocked("1234", "calling_window").await;
    assert_eq!(listed(&world.app, live, "?state=blocked").await.len(), 6);
    assert_eq!(world.wallet().await, (1_000_000, 0), "a refusal holds nothing");
    let failed =
        world.kinds().await.into_iter().filter(|kind| kind != "contact.opted_out").collect::<Vec<_>>();
    assert_eq!(failed, ["call.failed"; 3], "a refused placement sends no event");
    let log = world.app().store.read({
        let tenant = world.tenant();
        move |tx| {
            tx.all(
                "select decision, blocked_by from decision_log where workspace = ?1 and chain = 'audit' order by seq",
                store::params![tenant_text(tenant)],
            )
        }
    });
    let log: Result<Vec<(String, String)>, store::DbError> = log.await;
    let blocks: Vec<String> =
        log.unwrap().into_iter().filter(|(decision, _)| decision == "blocked").map(|(_, by)| by).collect();
    assert_eq!(blocks, ["dnd", "dnd", "opt_out", "frequency_cap", "consent", "calling_window"]);
}

fn tenant_text(tenant: domain::tenant::Tenant) -> String {
    tenant.to_string()
}

#[tokio::test]
async fn lines_of_the_workspace_and_of_the_platform() {
    let world = World::open_with(|config| config.telephony.concurrent_calls = 3).await;
    let other = world.neighbour().await;
    let other_agent = other.agent(&json!({})).await;
    change(&world, json!({"limits": {"concurrentCalls": 2}})).await;
    let live = world.live();
    world.placed(live, "1234").await;
    world.advance(1).await;
    world.placed(live, "1235").await;
    let full = world.place(live, "1236").await;
    assert!(
        full.header("retry-after")
            .is_some_and(|seconds| seconds.parse::<u32>().is_ok_and(|seconds| seconds > 0))
    );
    full.refused(429, "concurrency_limit");
    other.post("/v1/calls", &with(&other_agent, json!({}))).await.expect(200);
    other
        .post("/v1/calls", &with(&other_agent, json!({"toNumber": "+919812301235"})))
        .await
        .refused(429, "concurrency_limit");
    world.placed(world.test(), "1236").await;
    world.advance(9).await;
    world.placed(live, "1236").await;
    world.advance(60).await;
    for digits in ["0001", "0002"] {
        world.placed(live, digits).await;
    }
    world.place(live, "0003").await.refused(429, "concurrency_limit");
}

#[tokio::test]
async fn the_carrier_refuses_or_is_lost() {
    let world = World::open().await;
    let live = world.live();
    change(&world, json!({"limits": {"concurrentCalls": 1}})).await;
    world.place(live, "6666").await.refused(502, "call_not_placed");
    assert!(listed(&world.app, live, "").await.is_empty(), "nobody was rung");
    let body = with(&world.agent, json!({"toNumber": "+919812309999"}));
    let first = world.post_with(live, "/v1/calls", &[("idempotency-key", "lost")], &body).await;
    first.refused(502, "possibly_placed");
    let again = world.post_with(live, "/v1/calls", &[("idempotency-key", "lost")], &body).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    again.refused(502, "possibly_placed");
    let calls = listed(&world.app, live, "").await;
    let told: Vec<_> = calls
        .iter()
        .map(|call| {
            (
                call["state"].as_str().unwrap(),
                call["status"].as_str().unwrap(),
                call["endCause"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(told, [("ended", "failed", "possibly_placed")]);
    assert!(world.kinds().await.is_empty(), "the placement was refused synchronously");
    assert_eq!(world.wallet().await, (1_000_000, 0));
    world.placed(live, "1234").await;
}

#[tokio::test]
async fn variables_are_given_saved_and_required() {
    let world = World::open().await;
    let agent = world.agent(&json!({"systemPrompt": "Greet {{name}} about {{amount}}."})).await;
    for key in [world.live(), world.test()] {
        let place = async |more: Value| world.app.post(key, "/v1/calls", &with(&agent, more)).await;
        let refused = place(json!({"variables": {"amount": 5}, "toNumber": "12345678"}))
            .await
            .refused(422, "missing_required_variables");
        assert_eq!(refused["meta"]["missing"], json!(["name"]));
        for blank in ["", " \t"] {
            let refused = place(json!({"variables": {"name": blank, "amount": 5}})).await;
            let refused = refused.refused(422, "missing_required_variables");
            assert_eq!(refused["meta"]["missing"], json!(["name"]), "{blank:?}");
        }
        for wrong in [json!(null), json!([1]), json!({"x": 1})] {
            let refused = place(json!({"variables": {"name": "A", "amount": wrong}}))
                .await
                .refused(400, "invalid_variables");
            assert_eq!(refused["meta"]["key"], "amount");
        }
        assert_eq!(listed(&world, key, "").await.len(), 0, "refusals store nothing");
        place(json!({"externalRef": "r1", "variables": {"name": "Asha", "amount": 5}})).await.expect(200);
        place(json!({"externalRef": "r1"})).await.expect(200);
        place(json!({})).await.expect(200);
        // Three dials a day are allowed.
        world.advance(24 * 3600).await;
        place(json!({"externalRef": "r1", "variables": {"name": "Other"}})).await.expect(200);
        let calls = listed(&world, key, "").await;
        let contacts: std::collections::BTreeSet<&str> =
            calls.iter().map(|call| call["contactId"].as_str().unwrap()).collect();
        assert_eq!((calls.len(), contacts.len()), (4, 1));
    }
}

/// A contact's saved values are what its owner sees: the scalars among its attributes.
#[tokio::test]
async fn saved_values_are_the_attributes_of_the_contact() {
    let world = World::open().await;
    let live = world.live();
    let agent = world.agent(&json!({"systemPrompt": "Greet {{name}} about {{due}}."})).await;
    let attributes = async |number: &str| {
        let listed = world.app.get(live, "/v1/contacts").await.expect(200);
        let all = listed["data"].as_array().unwrap().clone();
        let found = all.into_iter().find(|contact| contact["phone"] == number);
        found.unwrap_or_else(|| panic!("a contact with {number}"))["attributes"].clone()
    };
    let order = |number: &str, more: Value| {
        let mut body = json!({"agentId": agent, "toNumber": number});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    // A contact that a call makes starts with the call's values, and a later call leaves nothing.
    let first = order("+919812340011", json!({"variables": {"name": "Asha", "due": 500}}));
    world.app.post(live, "/v1/calls", &first).await.expect(200);
    let later = order("+919812340011", json!({"variables": {"name": "Other", "mood": "good"}}));
    world.app.post(live, "/v1/calls", &later).await.expect(200);
    assert_eq!(attributes("+919812340011").await, json!({"name": "Asha", "due": 500}));
    // What waited leaves nothing.
    let values = json!({"variables": {"name": "Ravi", "due": "₹ 5"}});
    let once: &[(&str, &str)] = &[("idempotency-key", "once")];
    let nudge = order("+919812340012", values.clone());
    world.post_with(live, "/v1/nudges", once, &nudge).await.expect(201);
    let mut scheduled = order("+919812340013", values);
    scheduled["scheduledAt"] = json!(world.now().await);
    world.post_with(live, "/v1/scheduled-calls", once, &scheduled).await.expect(201);
    world.advance(2).await;
    for number in ["+919812340012", "+919812340013"] {
        assert_eq!(attributes(number).await, json!({}), "{number}");
    }
    // What the owner saves is used, as far as it is a value: a list is none.
    let body =
        json!({"externalRef": "seen", "phone": "9812340014", "attributes": {"name": "Meera", "due": ["x"]}});
    let made = world.app.post(live, "/v1/contacts", &body).await.expect(201);
    let order = order("+919812340014", json!({}));
    let refused = world.app.post(live, "/v1/calls", &order).await.refused(422, "missing_required_variables");
    assert_eq!(refused["meta"]["missing"], json!(["due"]));
    let path = format!("/v1/contacts/{}", made["data"]["id"].as_str().unwrap());
    world.app.put(live, &path, &json!({"attributes": {"name": "Meera", "due": "₹ 9"}})).await.expect(200);
    world.app.post(live, "/v1/calls", &order).await.expect(200);
}

#[tokio::test]
async fn what_is_over_a_limit_is_told_and_accepted() {
    let world = World::open().await;
    let many: serde_json::Map<String, Value> =
        (0..51).map(|index| (format!("v{index}"), json!("x"))).collect();
    for (variables, expected) in [
        (json!({"name": "x".repeat(121)}), json!([["variable_truncated", "variables.name"]])),
        (json!({"1st": "x"}), json!([["variables_over_limit", "variables.1st"]])),
        (
            json!({"n".repeat(65).as_str(): "x"}),
            json!([["variables_over_limit", format!("variables.{}", "n".repeat(65))]]),
        ),
        (Value::Object(many), json!([["variables_over_limit", "variables"]])),
    ] {
        let placed =
            world.place_with(world.test(), "1234", json!({"variables": variables})).await.expect(200);
        let told: Vec<Value> = placed["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|warning| json!([warning["code"], warning["field"]]))
            .collect();
        assert_eq!(json!(told), expected);
        assert!(placed["warnings"].as_array().unwrap().iter().all(|warning| warning["message"].is_string()));
    }
}

#[tokio::test]
async fn who_a_reference_and_a_number_name() {
    let world = World::open().await;
    let key = world.live();
    let contact = async |digits: &str, reference: Option<&str>| {
        let more = reference.map_or(json!({}), |reference| json!({"externalRef": reference}));
        let placed = world.place_with(key, digits, more).await.expect(200);
        world.call(key, placed["interactionId"].as_str().unwrap()).await["contactId"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let by_number = contact("0301", None).await;
    assert_eq!(
        contact("0301", Some("a")).await,
        by_number,
        "a new reference takes over the number's contact"
    );
    assert_eq!(contact("0302", Some("a")).await, by_number, "the reference says who it is");
    let other = contact("0301", Some("b")).await;
    assert_ne!(other, by_number, "one number = one contact: a second reference is somebody else");
    assert_eq!(contact("0303", Some("b")).await, other);
    assert_ne!(contact("0302", None).await, by_number, "the number of a call does not become the contact's");
    let stored = world.app.get(key, &format!("/v1/contacts/{by_number}")).await.expect(200);
    stored["data"].shows(json!({"externalRef": "a", "phone": "+919812300301"}));
}

#[tokio::test]
async fn placing_is_idempotent() {
    let world = World::open().await;
    for key in [world.live(), world.test()] {
        let place = async |name: &str, digits: &str| {
            let body = with(
                &world.agent,
                json!({"toNumber": format!("+91981230{digits}"), "variables": {"a": "x".repeat(121)}}),
            );
            world.post_with(key, "/v1/calls", &[("idempotency-key", name)], &body).await
        };
        let first = place("k", "1234").await;
        let again = place("k", "1234").await;
        assert_eq!((again.header("idempotent-replayed"), &again.text), (Some("true"), &first.text));
        place("k", "1235").await.refused(422, "idempotency_key_reused");
        place(&"k".repeat(256), "1234").await.refused(400, "invalid_idempotency_key");
        assert_eq!(listed(&world.app, key, "").await.len(), 1);
        first.expect(200);
    }
    for (digits, status, code) in [("2222", 422, "call_blocked"), ("6666", 502, "call_not_placed")] {
        let send = async |digits: &str| {
            let body = with(&world.agent, json!({"toNumber": format!("+91981230{digits}")}));
            world.post_with(world.live(), "/v1/calls", &[("idempotency-key", code)], &body).await
        };
        send(digits).await.refused(status, code);
        send("5678").await.expect(200);
    }
}

#[tokio::test]
async fn the_placing_limit_counts() {
    let world = World::open().await;
    change(&world, json!({"limits": {"callsPerMinute": 2}})).await;
    for _ in 0..2 {
        world.placed(world.test(), "1234").await;
    }
    let limited = world.place(world.live(), "1234").await;
    assert_eq!(
        (limited.header("x-ratelimit-limit"), limited.header("x-ratelimit-remaining")),
        (Some("2"), Some("0"))
    );
    limited.refused(429, "rate_limited");
}

#[tokio::test]
async fn lists_filter_and_page() {
    let world = World::open().await;
    let (app, test) = (&world.app, world.test());
    let second = world.agent(&json!({})).await;
    let mut ids = Vec::new();
    for (index, digits) in ["1234", "0000", "1111", "1234", "1111", "0000", "1235"].into_iter().enumerate() {
        let agent = if index % 2 == 0 { &world.agent } else { &second };
        let placed = app
            .post(test, "/v1/calls", &with(agent, json!({"toNumber": format!("+91981230{digits}")})))
            .await
            .expect(200);
        ids.push(placed["interactionId"].as_str().unwrap().to_owned());
        app.advance(1).await;
    }
    // Seconds since the calls began: 7, 6, 5, 4, 3, 2, 1.
    let found = async |query: &str| {
        let calls = listed(app, test, query).await;
        calls.iter().map(|call| ids.iter().position(|id| *id == call["id"]).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(found("").await, [6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(found("?state=in_progress").await, [3, 0]);
    assert_eq!(found("?state=ringing").await, [6, 5, 1]);
    assert_eq!(found("?state=ended").await, [4, 2]);
    assert_eq!(found("?state=blocked").await, Vec::<usize>::new());
    assert_eq!(found("?status=busy").await, [4, 2]);
    assert_eq!(found("?status=ringing").await, [6, 5, 1]);
    assert_eq!(found("?status=strange").await, Vec::<usize>::new());
    assert_eq!(found("?state=ended&status=ringing").await, Vec::<usize>::new());
    assert_eq!(found(&format!("?agentId={second}")).await, [5, 3, 1]);
    assert_eq!(found(&format!("?agentId={second}&state=ringing")).await, [5, 1]);
    assert_eq!(found(&format!("?agentId={}&status=busy", world.agent)).await, [4, 2]);
    assert_eq!(found("?agentId=agt_00000000000000000000000000").await, Vec::<usize>::new());
    assert_eq!(found("?agentId=other&campaignId=x").await, Vec::<usize>::new());
    assert_eq!(found("?campaignId=cmp_00000000000000000000000000").await, Vec::<usize>::new());
    assert_eq!(found("?direction=outbound").await, [6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(found("?direction=inbound").await, Vec::<usize>::new());
    let contact = world.call(test, &ids[0]).await["contactId"].as_str().unwrap().to_owned();
    assert_eq!(found(&format!("?contactId={contact}")).await, [3, 0]);
    assert_eq!(found(&format!("?contactId={contact}&state=ended")).await, Vec::<usize>::new());
    assert_eq!(found(&format!("?contactId={contact}&direction=outbound&agentId={second}")).await, [3]);
    assert_eq!(
        found(&format!("?from={}&to={}", world.at(2), world.at(5))).await,
        [4, 3, 2],
        "from is included, to is not"
    );
    assert_eq!(found(&format!("?state=ended&from={}", world.at(3))).await, [4]);
    for query in [
        "",
        "&direction=outbound",
        "&state=ringing",
        &format!("&agentId={}", world.agent),
        &format!("&contactId={contact}"),
    ] {
        let whole = found(&format!("?limit=200{query}")).await;
        let (mut pages, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = app.get(test, &format!("/v1/calls?limit=1{query}{cursor}")).await.expect(200);
            let rows = page["data"].as_array().unwrap();
            pages.extend(rows.iter().map(|call| ids.iter().position(|id| *id == call["id"]).unwrap()));
            let Some(next) = page["nextCursor"].as_str() else { break };
            assert_eq!(rows.len(), 1);
            cursor = format!("&cursor={next}");
        }
        assert_eq!(pages, whole, "{query}");
    }
    for wrong in [
        "cursor=x",
        "state=over",
        "direction=up",
        "from=yesterday",
        "to=2026-01-01T00:00:00",
        "limit=0",
        "limit=201",
    ] {
        let answer = app.get(test, &format!("/v1/calls?{wrong}")).await;
        assert_eq!(answer.status, 400, "{wrong}");
    }
    app.get(test, "/v1/calls/call_00000000000000000000000000").await.not_found();
}

#[tokio::test]
async fn an_erased_person_is_gone_from_calls() {
    let world = World::open().await;
    let live = world.live();
    let placed = world
        .place_with(
            live,
            "1234",
            json!({"externalRef": "r", "variables": {"name": "Asha"}, "metadata": {"note": "n"}}),
        )
        .await
        .expect(200);
    let id = placed["interactionId"].as_str().unwrap().to_owned();
    world.advance(10).await;
    let going =
        world.place_with(live, "1235", json!({"externalRef": "r"})).await.expect(200)["interactionId"]
            .as_str()
            .unwrap()
            .to_owned();
    world.advance(3).await;
    let contact = world.call(live, &id).await["contactId"].as_str().unwrap().to_owned();
    let erased =
        world.app.post(live, &format!("/v1/contacts/{contact}/erase"), &Value::Null).await.expect(200);
    erased["data"]["erased"].shows(json!({"calls": 2, "transcripts": 1}));
    world.advance(1).await;
    let call = world.call(live, &id).await;
    let rest =
        ["toNumber", "metadata", "transcript", "extracted", "durationSeconds"].map(|name| call[name].clone());
    assert_eq!(json!(rest), json!(["[erased]", {}, [], {}, 8]));
    let call = world.call(live, &going).await;
    call.shows(json!({"state": "ended", "endCause": "api_hangup", "toNumber": "[erased]"}));
}

/// A clock that was set forward, and then back, leaves no call in the future.
#[tokio::test]
async fn a_call_is_dated_by_a_clock_that_was_set_back() {
    let world = World::open().await;
    let clock = world.app().clock.clone();
    for (digit, by) in [(5, 0), (6, HOUR), (7, -HOUR)] {
        assert!(clock.step_to(clock.now().plus(by)));
        let (now, body) = (clock.now().to_string(), with(&world.agent, json!({})));
        let placed = world.app.post(world.test(), "/v1/calls", &body).await.expect(200);
        let path = format!("/v1/calls/{}", placed["interactionId"].as_str().unwrap());
        let shown = world.app.get(world.test(), &path).await.expect(200);
        assert_eq!(shown["data"]["startedAt"], now, "{by} ms later");
        let nudge = json!({"agentId": world.agent, "toNumber": format!("+91981230123{digit}")});
        let (key, path) = (format!("nudge{by}"), "/v1/nudges");
        let made =
            world.post_with(world.test(), path, &[("idempotency-key", &key)], &nudge).await.expect(201);
        assert_eq!(made["data"]["createdAt"], now, "{by} ms later");
    }
}

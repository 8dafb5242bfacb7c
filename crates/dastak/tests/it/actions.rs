//! The log of actions and the decision log in pages (docs/contract/audit.md).

use std::sync::Arc;

use domain::decision_log::{Chain, Strand};
use domain::tenant::{Mode, Role};
use serde_json::{Value, json};
use store::{DbError, params};

use crate::decision_log::{decide, export, verify_log};
use crate::world::World;

const ACTIONS: Strand = Strand { chain: Chain::Actions, mode: Mode::Live };

/// The actions that this query lists, newest first.
async fn actions(world: &World, query: &str) -> Vec<Value> {
    world.list(&format!("/v1/audit/actions?limit=100&{query}")).await
}

/// Operations and objects of actions, newest first.
fn shown(actions: &[Value]) -> Vec<String> {
    let word = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    actions.iter().map(|row| format!("{} {}", word(row, "operation"), word(row, "objectId"))).collect()
}

/// What the store holds of the chain, as text.
async fn stored(world: &World) -> String {
    let tenant = world.tenant();
    let rows = world.app().store.of(tenant).read(|tx| {
        let sql = "select interaction_id || ' ' || outcome || ' ' || actor || ' ' || gate_results from decision_log \
                   where workspace = ?1 and chain in ('actions', 'actions_test') order by chain, seq";
        tx.all::<String>(sql, &[])
    });
    rows.await.unwrap().join("\n")
}

/// The result of verifying the chain of actions.
async fn verified(world: &World) -> Value {
    world.data("/v1/audit/verify").await["chains"][3].clone()
}

#[tokio::test]
async fn a_change_is_recorded_with_who_from_where_and_what() {
    let world = World::open().await;
    let key = world.operator("GET", "/keys", Value::Null).await.data(200);
    let keys: Vec<&str> = key.as_array().unwrap().iter().map(|key| key["id"].as_str().unwrap()).collect();
    let path = format!("/v1/agents/{}", world.agent);
    let headers = [("user-agent", "crm/2"), ("x-request-id", "change-1234")];
    let body = json!({"name": "Kavya"}).to_string();
    world.app.send("PUT", &path, Some(world.live()), &headers, body.into()).await.expect(200);
    let listed = actions(&world, "operation=updateAgent").await;
    let [row] = &listed[..] else { panic!("{listed:?}") };
    assert!(keys.contains(&row["actor"].as_str().unwrap()), "{row}");
    assert_eq!(row["objectId"], world.agent);
    assert_eq!(row["objectType"], "agt");
    assert_eq!(row["address"], "127.0.0.1");
    assert_eq!(row["userAgent"], "crm/2");
    assert_eq!(row["requestId"], "change-1234");
    assert_eq!(row["changes"], json!([{"field": "name", "before": "Asha", "after": "Kavya"}]));
    // The same record is found by each filter, and by none that does not fit.
    let (actor, agent) = (row["actor"].as_str().unwrap(), &world.agent);
    for query in [
        format!("actor={actor}&objectId={agent}&operation=updateAgent"),
        format!("objectId={agent}"),
        format!("actor={actor}"),
    ] {
        assert_eq!(actions(&world, &query).await[0], *row, "{query}");
    }
    for query in ["actor=operator&operation=updateAgent", "objectId=agt_0", "to=2020-01-01", "operation=x"] {
        assert_eq!(actions(&world, query).await, [Value::Null; 0], "{query}");
    }
    assert_eq!(verified(&world).await["verified"], true);
}

/// In every workspace of the person, without the name, and nowhere else.
#[tokio::test]
async fn a_person_who_takes_another_name_is_recorded() {
    let world = World::bare().await;
    let (other, third) = (world.neighbour().await, world.neighbour().await);
    let editor = world.member(Role::Editor).await;
    other.add_member(&editor.email, "viewer").await;
    let there = other.sign_in(&editor.email).await;
    assert_ne!(there.id, editor.id);
    editor.patch("/console/api/me", &json!({"language": "hi"})).await.expect(200);
    editor.patch("/console/api/me", &json!({"name": "Kavya Rao"})).await.expect(200);
    // The same name once more is no change.
    editor.patch("/console/api/me", &json!({"name": "Kavya Rao"})).await.expect(200);
    for (place, id) in [(&world, &editor.id), (&other, &there.id)] {
        let listed = actions(place, "operation=updateMe").await;
        let [row] = &listed[..] else { panic!("{listed:?}") };
        assert_eq!((&row["actor"], &row["objectId"]), (&json!(id), &json!(id)));
        assert_eq!(row["changes"], json!([{"field": "name"}]));
        assert!(row["sessionId"].as_str().is_some_and(|session| session.starts_with("sess_")), "{row}");
        assert!(!stored(place).await.contains("Kavya"));
        assert_eq!(verified(place).await["verified"], true);
    }
    assert_eq!(actions(&third, "operation=updateMe").await, [Value::Null; 0]);
}

#[tokio::test]
async fn changes_are_recorded_and_traffic_of_keys_is_not() {
    let world = World::open().await;
    let before = actions(&world, "").await.len();
    world.place(world.live(), "0001").await.expect(200);
    world.post("/v1/agents", &json!({"name": ""})).await.invalid();
    world.get("/v1/agents").await;
    world.put("/v1/agents/agt_01k9v5x2m8e6fs4v0q3n7w1y34", &json!({"name": "x"})).await.not_found();
    assert_eq!(actions(&world, "").await.len(), before, "nothing was changed but by traffic");
    let agent = world.draft_agent(&json!({})).await["id"].as_str().unwrap().to_owned();
    let endpoint = world
        .post("/v1/webhooks", &json!({"url": "https://example.com/h", "events": ["call.completed"]}))
        .await;
    let endpoint = endpoint.json["data"]["id"].as_str().unwrap().to_owned();
    world.post("/v1/dnc", &json!({"phones": ["+919812345670"]})).await.expect(200);
    world.change(&json!({"name": "Another"})).await;
    world.delete(&format!("/v1/agents/{agent}")).await.expect(200);
    let listed = actions(&world, "").await;
    assert_eq!(
        shown(&listed)[..5],
        [
            format!("deleteAgent {agent}"),
            format!("updateWorkspace {}", world.workspace.id),
            "addDoNotCall ".to_owned(),
            format!("createWebhook {endpoint}"),
            format!("createAgent {agent}"),
        ]
    );
    assert_eq!(listed.len(), before + 5);
    assert_eq!(listed[1]["actor"], "operator");
    assert_eq!(listed[1]["changes"][0]["field"], "name");
    assert_eq!(listed[2]["changes"], json!([{"field": "numbers"}]));
    // The operator's own list goes on.
    let log = world.app.operator("GET", "/log?limit=1", &Value::Null).await.expect(200);
    assert_eq!(log["data"][0]["operation"], "updateWorkspace");
    // Test mode has a chain of its own. A sample event is a record by itself.
    world.app.post(world.test(), "/v1/events/trigger", &json!({"type": "wallet.low"})).await.expect(202);
    let at = world.app().clock.now().plus(domain::time::HOUR).to_string();
    let body = json!({"agentId": world.agent, "toNumber": "9812340100", "scheduledAt": at});
    let nudge =
        world.app.post_with(world.test(), "/v1/nudges", &[("idempotency-key", "n")], &body).await.data(201);
    let nudge = nudge["id"].as_str().unwrap();
    world.app.post(world.test(), &format!("/v1/nudges/{nudge}/cancel"), &json!({})).await.expect(200);
    let of_test = world.app.get(world.test(), "/v1/audit/actions").await.list(200);
    assert_eq!(shown(&of_test), [format!("cancelNudge {nudge}")]);
    assert_eq!(actions(&world, "").await.len(), before + 5);
}

#[tokio::test]
async fn secrets_are_in_no_record() {
    let world = World::open().await;
    let hook =
        json!({"url": "https://user:Sesame1@example.com/h?token=Sesame2", "events": ["call.completed"]});
    let made = world.post("/v1/webhooks", &hook).await;
    let secrets = match made.status {
        201 => {
            let endpoint = made.json["data"]["id"].as_str().unwrap().to_owned();
            let rotated =
                world.post(&format!("/v1/webhooks/{endpoint}/rotate-secret"), &Value::Null).await.data(200);
            vec![made.json["data"]["secret"].clone(), rotated["secret"].clone()]
        }
        _ => Vec::new(),
    };
    let plain = world
        .post(
            "/v1/webhooks",
            &json!({"url": "https://example.com/h?token=Sesame2", "events": ["call.completed"]}),
        )
        .await
        .data(201);
    let key = world
        .operator("POST", "/keys", json!({"name": "n", "mode": "live", "scopes": ["billing:read"]}))
        .await
        .data(201);
    let stream = world.post("/v1/data-streams", &json!({"name": "s", "kind": "webhook"})).await.data(201);
    let credentials = json!({"provider": "hubspot", "credentials": {"accessToken": "Sesame3"}});
    world.operator("POST", "/integrations", credentials).await.expect(201);
    let stored = stored(&world).await;
    assert!(stored.contains("createWebhook") && stored.contains("createKey"), "{stored}");
    for secret in secrets.iter().chain([&plain["secret"], &key["key"], &stream["token"]]) {
        let secret = secret.as_str().unwrap();
        assert!(secret.len() > 10 && !stored.contains(secret), "{stored}");
    }
    assert!(!stored.contains("Sesame"), "{stored}");
}

#[tokio::test]
async fn an_erased_person_is_in_no_record() {
    let world = World::open().await;
    let (phone, digits) = ("+919812345671", "9812345671");
    let change = json!({"externalRef": "erased-ref", "phone": phone, "name": "Meera Lost", "email": "meera@example.com",
        "attributes": {"note": "Meera Lost"}});
    let contact = world.post("/v1/contacts", &change).await.id(201);
    let path = format!("/v1/contacts/{contact}");
    let headers = [("user-agent", "9812345671"), ("x-request-id", "9812345671")];
    let body =
        json!({"externalRef": "erased-ref", "name": "Meera Lost-Found", "company": "Meera Ltd"}).to_string();
    world.app.send("PUT", &path, Some(world.live()), &headers, body.into()).await.expect(200);
    world.post("/v1/dnc", &json!({"phones": [phone], "reason": "Meera asked"})).await.expect(200);
    world.operator("DELETE", &format!("/dnc/{phone}"), Value::Null).await.expect(200);
    let batch = json!({"contacts": [change]});
    world.post("/v1/contacts/batch", &batch).await.expect(200);
    world.erase(&contact).await.expect(200);
    let text = format!("{}{}", stored(&world).await, export(&world, "?chain=actions").await);
    for operation in ["upsertContact", "updateContact", "addDoNotCall", "removeDoNotCall", "eraseContact"] {
        assert!(text.contains(operation), "{operation}: {text}");
    }
    for word in [digits, "Meera", "meera", "erased-ref"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    assert!(text.contains(&contact), "the person is named by id");
}

#[tokio::test]
async fn nothing_of_a_client_breaks_a_record() {
    let world = World::open().await;
    let path = format!("/v1/agents/{}", world.agent);
    let agent = format!("x\t\u{1b}[31m\",\"actor\":\"operator\" {}", "y".repeat(5_000));
    let name = "a\",\n\"actor\": \"operator\"";
    let prompt = "Say hello. ".repeat(1_000);
    let body = json!({"name": name, "systemPrompt": prompt}).to_string();
    let sent: Vec<u8> = agent.bytes().filter(|byte| *byte == b'\t' || (32..127).contains(byte)).collect();
    let agent = String::from_utf8(sent).unwrap();
    world
        .app
        .send("PUT", &path, Some(world.live()), &[("user-agent", &agent)], body.into())
        .await
        .expect(200);
    let row = actions(&world, "operation=updateAgent").await.remove(0);
    assert!(row["actor"].as_str().unwrap().starts_with("key_"), "{row}");
    assert_eq!(row["userAgent"].as_str().unwrap().chars().count(), 200);
    assert!(!row["userAgent"].as_str().unwrap().contains(char::is_control));
    assert_eq!(row["changes"][0]["after"], name);
    assert!(row["changes"].to_string().contains("bytes, hash"), "{row}");
    assert!(stored(&world).await.lines().all(|line| line.len() < 16 * 1024));
    // Five megabytes that are refused leave nothing; the file has one line a record.
    let before = actions(&world, "").await.len();
    let huge = json!({"name": "x".repeat(5 << 20)});
    assert!(world.put(&path, &huge).await.status >= 400);
    assert_eq!(actions(&world, "").await.len(), before);
    let (whole, shown) = verify_log(&export(&world, "?chain=actions").await, &[]);
    assert!(whole && shown["chain"] == "actions", "{shown}");
    assert_eq!(shown["records"], before);
}

#[tokio::test]
async fn a_changed_or_removed_record_is_found() {
    for (what, at, statement) in [
        (
            "changed",
            2,
            "update decision_log set gate_results = replace(gate_results, 'operator', 'nobody') where workspace = ?1 and chain = ?2 and seq = 2",
        ),
        (
            "another object",
            3,
            "update decision_log set interaction_id = 'agt_0' where workspace = ?1 and chain = ?2 and seq = 3",
        ),
        (
            "another operation",
            3,
            "update decision_log set outcome = 'getAgent' where workspace = ?1 and chain = ?2 and seq = 3",
        ),
        ("removed", 2, "delete from decision_log where workspace = ?1 and chain = ?2 and seq = 2"),
    ] {
        let world = World::open().await;
        assert_eq!(verified(&world).await["verified"], true);
        let tenant = world.tenant();
        let work = move |tx: &mut store::Tx<'_>| tx.exec(statement, params![tenant, ACTIONS.as_str()]);
        assert_eq!(world.app().store.tx::<_, DbError>(work).await.unwrap(), 1, "{what}");
        let found = verified(&world).await;
        assert_eq!(
            (found["verified"].as_bool(), found["brokenAt"].as_u64()),
            (Some(false), Some(at)),
            "{what}: {found}"
        );
    }
}

#[tokio::test]
async fn the_end_of_the_chain_cannot_be_cut() {
    let world = World::open().await;
    let tenant = world.tenant();
    let head = move |tx: &mut store::TenantTx<'_, '_>| store::decision_log::head(tx, ACTIONS);
    let older = world.app().store.of(tenant).read(head).await.unwrap().unwrap();
    world.draft_agent(&json!({})).await;
    world.draft_agent(&json!({})).await;
    // A thief puts back the head that he copied, with its seal.
    let work = move |tx: &mut store::Tx<'_>| {
        let seq = older.head.seq as i64;
        tx.exec(
            "delete from decision_log where workspace = ?1 and chain = ?2 and seq > ?3",
            params![tenant, ACTIONS.as_str(), seq],
        )?;
        tx.exec(
            "update decision_log_heads set seq = ?3, hash = ?4, at = ?5, seal = ?6 where workspace = ?1 and chain = ?2",
            params![tenant, ACTIONS.as_str(), seq, &older.head.hash, older.at, &older.seal],
        )
    };
    world.app().store.tx::<_, DbError>(work).await.unwrap();
    let found = verified(&world).await;
    assert_eq!(found["verified"], false, "{found}");
    world.fetch("/v1/audit/head?chain=actions").await.conflict();
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_one_moment_have_a_record_each() {
    let world = Arc::new(World::open().await);
    let before = actions(&world, "").await.len();
    let tasks: Vec<_> = (0..24)
        .map(|number| {
            let world = world.clone();
            tokio::spawn(async move {
                let phones = json!({"phones": [format!("+9198123457{number:02}")]});
                world.post("/v1/dnc", &phones).await.expect(200);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(actions(&world, "operation=addDoNotCall").await.len(), 24);
    assert_eq!(actions(&world, "").await.len(), before + 24);
    assert_eq!(verified(&world).await["verified"], true);
}

#[tokio::test]
async fn another_workspace_sees_nothing_of_it() {
    let world = World::open().await;
    let other = world.neighbour().await;
    world.draft_agent(&json!({"name": "OfTheFirst"})).await;
    for query in ["", &format!("objectId={}", world.agent), "operation=createAgent"] {
        let listed = actions(&other, query).await;
        assert!(!json!(listed).to_string().contains(&world.agent), "{query}");
        assert!(!json!(listed).to_string().contains("OfTheFirst"), "{query}");
    }
    let first = actions(&world, "").await.len();
    let cursor = world.get("/v1/audit/actions?limit=1").await["nextCursor"].as_str().unwrap().to_owned();
    let page = other.list(&format!("/v1/audit/actions?cursor={cursor}")).await;
    assert!(page.len() < first && !json!(page).to_string().contains(&world.agent));
}

#[tokio::test]
async fn pages_of_actions_are_the_whole_chain() {
    let world = World::open().await;
    for _ in 0..7 {
        world.draft_agent(&json!({})).await;
    }
    let whole = actions(&world, "").await;
    for filter in ["", "&operation=createAgent"] {
        let (mut pages, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = world.get(&format!("/v1/audit/actions?limit=3{filter}{cursor}")).await;
            pages.extend(page["data"].as_array().unwrap().clone());
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        let wanted: Vec<&Value> =
            whole.iter().filter(|row| filter.is_empty() || row["operation"] == "createAgent").collect();
        assert_eq!(pages.iter().collect::<Vec<_>>(), wanted, "{filter}");
    }
    let linked = whole.windows(2).all(|pair| pair[0]["prevHash"] == pair[1]["hash"]);
    assert!(linked, "each record names the hash of the one before it");
}

#[tokio::test]
async fn records_are_found_by_gate_verdict_call_and_day() {
    let world = World::bare().await;
    decide(&world, 0..12).await;
    let seqs = async |query: &str| {
        let listed = world.list(&format!("/v1/audit/records?limit=100&{query}")).await;
        listed.iter().map(|row| row["seq"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(seqs("").await, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(seqs("verdict=blocked").await, [12, 9, 6, 3]);
    assert_eq!(seqs("verdict=allowed").await, [11, 10, 8, 7, 5, 4, 2, 1]);
    assert_eq!(seqs("gate=dnd").await, [9, 3]);
    assert_eq!(seqs("gate=dnd&verdict=blocked").await, [9, 3]);
    assert_eq!(seqs("gate=dnd&verdict=allowed").await, [0_u64; 0]);
    assert_eq!(seqs("callId=call_00000000000000000000000004").await, [5]);
    assert_eq!(seqs("day=2026-12-01").await.len(), 12);
    assert_eq!(seqs("day=2026-12-02").await, [0_u64; 0]);
    assert_eq!(seqs("from=2026-12-01T04:03:00Z&to=2026-12-01T04:05:00Z").await, [5, 4]);
    assert_eq!(seqs("chain=consent").await, [0_u64; 0]);
    assert_eq!(seqs("number=%2B919812345678").await, [0_u64; 0]);
    for (query, field) in [
        ("day=2026-12-01&from=2026-12-01", "day"),
        ("number=98123456", "number"),
        ("verdict=no", "verdict"),
        ("chain=actions", "chain"),
    ] {
        world.fetch(&format!("/v1/audit/records?{query}")).await.invalid_field(field);
    }
    let record = world.data("/v1/audit/records/audit-3").await;
    assert_eq!((record["verdict"].as_str(), record["blockedBy"].as_str()), (Some("blocked"), Some("dnd")));
    assert_eq!(record["evidence"]["gates"][0]["gate"], "dnd");
    for id in
        ["audit-0", "audit-13", "audit--1", "audit", "other-1", "actions-1", "audit-99999999999999999999"]
    {
        world.fetch(&format!("/v1/audit/records/{id}")).await.not_found();
    }
}

#[tokio::test]
async fn records_of_a_person_are_found_by_the_whole_number() {
    let world = World::open().await;
    let call = world.place(world.live(), "0001").await.expect(200);
    let call = call["interactionId"].as_str().unwrap().to_owned();
    let number = world.call(world.live(), &call).await["toNumber"].as_str().unwrap().to_owned();
    world.place(world.live(), "0002").await.expect(200);
    let query = format!("/v1/audit/records?number={}", number.replace('+', "%2B"));
    let listed = world.list(&query).await;
    assert!(!listed.is_empty() && listed.iter().all(|row| row["interactionId"] == *call), "{listed:?}");
    assert!(world.neighbour().await.list(&query).await.is_empty());
}

#[tokio::test]
async fn settings_that_a_member_changes_are_recorded_with_their_fields() {
    let world = World::bare().await;
    let admin = world.member(Role::Admin).await;
    admin.patch("/v1/workspace", &json!({"name": "Other", "lowBalanceMinor": 700})).await.expect(200);
    let listed = actions(&world, "").await;
    assert_eq!(shown(&listed)[0], format!("updateOwnWorkspace {}", world.workspace.id));
    let fields: Vec<&str> = listed[0]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["name", "lowBalanceMinor"]);
    assert_eq!(
        (&listed[0]["changes"][1]["before"], &listed[0]["changes"][1]["after"]),
        (&Value::Null, &json!(700))
    );
}

//! `/v1/dnc`, opting out and lifting it (docs/contract/contacts.md#do-not-call-list).

use domain::tenant::Mode;
use proptest::prelude::prop;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::shows::Shows;
use crate::world::{self, World};

/// The payloads of `contact.opted_out` in a workspace.
pub async fn opt_outs(world: &World) -> Vec<Value> {
    world.outbox_of("contact.opted_out").await.iter().map(|event| event["data"].clone()).collect()
}

async fn contact(world: &World, reference: &str, phone: &str) -> String {
    world.post("/v1/contacts", &json!({"externalRef": reference, "phone": phone})).await.id(201)
}

async fn blocked(world: &World, id: &str) -> (bool, bool) {
    let detail = world.get(&format!("/v1/contacts/{id}")).await;
    (detail["data"]["optOut"].as_bool().unwrap(), detail["data"]["doNotCall"].as_bool().unwrap())
}

#[tokio::test]
async fn numbers_are_added_once_and_mark_their_contacts() {
    let world = World::bare().await;
    let id = contact(&world, "crm-1", "9812345678").await;
    let body = json!({"phones": ["9812345678", "+91 98123 45678", "12", "+12025550100", "080 4567 1234"], "reason": "asked by mail"});
    let added = world.post("/v1/dnc", &body).await.expect(200);
    assert_eq!(added["data"], json!({"added": 2, "alreadyListed": 1, "invalid": ["12", "+12025550100"]}));
    let again = world.post("/v1/dnc", &json!({"phones": ["9812345678"]})).await.expect(200);
    assert_eq!(again["data"], json!({"added": 0, "alreadyListed": 1, "invalid": []}));
    assert_eq!(blocked(&world, &id).await, (true, true));
    let events = opt_outs(&world).await;
    assert_eq!(
        events,
        [json!({"contactId": id, "externalRef": "crm-1", "phone": "+919812345678", "source": "api"})],
        "once"
    );
    let list = world.get("/v1/dnc").await;
    assert_eq!(list["total"], 2);
    list.shows(json!({"data[0]": {"phone": "+918045671234", "reason": "asked by mail", "createdAt": list["data"][0]["createdAt"]}}));
    assert_eq!(list["data"][1]["phone"], "+919812345678");
}

#[tokio::test]
async fn requests_of_the_same_moment_list_each_number_once() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let id = contact(&world, "crm-1", "9812345600").await;
    // Each number is in two requests, and one is in all.
    let add = |of: &World, number: u32| {
        let (app, live) = (world.app.clone(), of.live().to_owned());
        let phones = json!({"phones": ["9812345600", format!("98123457{:02}", number / 2)]});
        async move { app.post(&live, "/v1/dnc", &phones).await.data(200) }
    };
    let asked = (0..40).map(|number| add(&world, number)).chain((0..2).map(|number| add(&other, number)));
    let told = futures_util::future::join_all(asked).await;
    let sum =
        |told: &[Value], what: &str| told.iter().map(|one| one[what].as_u64().expect("a count")).sum::<u64>();
    assert_eq!((sum(&told[..40], "added"), sum(&told[..40], "alreadyListed")), (21, 59));
    assert_eq!((sum(&told[40..], "added"), sum(&told[40..], "alreadyListed")), (2, 2));
    assert_eq!(opt_outs(&world).await.len(), 1);
    assert_eq!(blocked(&world, &id).await, (true, true));
    for (of, total) in [(&world, 21), (&other, 2)] {
        let list = of.get("/v1/dnc?limit=100").await;
        assert_eq!((&list["total"], list["data"].as_array().map(Vec::len)), (&json!(total), Some(total)));
    }
}

#[tokio::test]
async fn wrong_numbers_are_refused() {
    let world = World::bare().await;
    for phones in [json!(["12", "x"]), json!([])] {
        world.post("/v1/dnc", &json!({"phones": phones})).await.refused(400, "no_valid_numbers");
    }
    world.post("/v1/dnc", &json!({"phones": vec!["9812345678"; 1001]})).await.invalid();
    world.post("/v1/dnc", &json!({"phones": [5]})).await.invalid();
    world.post("/v1/dnc", &json!({})).await.invalid();
    world.fetch("/v1/dnc?phone=12").await.invalid();
    assert_eq!(world.get("/v1/dnc").await, json!({"data": [], "total": 0}));
    world
        .post("/v1/dnc", &json!({"phones": (0..1000).map(|n| format!("98{n:08}")).collect::<Vec<_>>()}))
        .await
        .expect(200);
}

#[tokio::test]
async fn one_number_is_checked_and_pages_go_deep() {
    let world = World::bare().await;
    let phones: Vec<String> = (0..25).map(|n| format!("+9198123456{n:02}")).collect();
    world.post("/v1/dnc", &json!({"phones": phones})).await.expect(200);
    let one = world.get("/v1/dnc?phone=09812345607").await;
    assert_eq!((one["total"].as_i64(), one["data"][0]["phone"].as_str()), (Some(1), Some("+919812345607")));
    assert_eq!(
        world.app.get(world.test(), "/v1/dnc?phone=9812345699").await.expect(200),
        json!({"data": [], "total": 0})
    );
    // The operator takes some off, at the ends and in between.
    let gone = [24, 23, 11, 10, 0];
    for number in gone {
        world.operator("DELETE", &format!("/dnc/{}", phones[number]), Value::Null).await.expect(200);
        world.operator("DELETE", &format!("/dnc/{}", phones[number]), Value::Null).await.not_found();
    }
    let left: Vec<&str> =
        (0..25).rev().filter(|number| !gone.contains(number)).map(|number| phones[number].as_str()).collect();
    for (limit, offset) in [(20, 0), (3, 0), (3, 10), (7, 11), (5, 18), (5, 20), (5, 400)] {
        let page = world.get(&format!("/v1/dnc?limit={limit}&offset={offset}")).await;
        let shown: Vec<&str> =
            page["data"].as_array().unwrap().iter().map(|entry| entry["phone"].as_str().unwrap()).collect();
        let expected: Vec<&str> = left.iter().copied().skip(offset).take(limit).collect();
        assert_eq!((shown, page["total"].as_i64()), (expected, Some(20)), "limit {limit} offset {offset}");
    }
}

#[tokio::test]
async fn the_api_never_lifts_an_opt_out_and_the_operator_does() {
    let world = World::bare().await;
    let id = contact(&world, "a", "9812345678").await;
    let path = format!("/v1/contacts/{id}");
    world.put(&path, &json!({"optOut": false})).await.expect(200);
    assert_eq!(world.put(&path, &json!({"optOut": true})).await.expect(200)["data"]["optOut"], true);
    world.put(&path, &json!({"optOut": true})).await.expect(200);
    assert_eq!(opt_outs(&world).await.len(), 1);
    assert_eq!(world.get("/v1/dnc?phone=9812345678").await["total"], 1);
    world.put(&path, &json!({"optOut": false, "name": "x"})).await.refused(409, "opt_out_downgrade");
    world
        .post("/v1/contacts", &json!({"externalRef": "a", "phone": "9812345678", "optOut": false}))
        .await
        .refused(409, "opt_out_downgrade");
    assert_eq!(world.get(&path).await["data"]["name"], Value::Null);

    let lift = format!("/workspaces/{}/contacts/{id}/lift-opt-out", world.workspace.id);
    let lifted = world.app.operator("POST", &lift, &Value::Null).await.expect(200);
    lifted["data"].shows(json!({"id": id.as_str(), "optOut": false}));
    world.app.operator("POST", &lift, &Value::Null).await.expect(200);
    assert_eq!(blocked(&world, &id).await, (false, false));
    // A new opt-out is a new occurrence.
    world.put(&path, &json!({"optOut": true})).await.expect(200);
    assert_eq!(opt_outs(&world).await.len(), 2);
    world.operator("DELETE", "/dnc/09812345678", Value::Null).await.expect(200);
    assert_eq!(blocked(&world, &id).await, (false, false));
    let other = world.neighbour().await;
    other.operator("POST", &format!("/contacts/{id}/lift-opt-out"), Value::Null).await.not_found();
    let log = world.app.operator("GET", "/log", &Value::Null).await;
    assert!(!log.text.contains("98123"), "the operator log names no number");
}

#[tokio::test]
async fn what_a_callee_says_on_a_call_counts_in_its_own_world() {
    use dastak::app::do_not_call::{Source, opt_out};
    let world = World::bare().await;
    let id = contact(&world, "a", "9812345678").await;
    let (tenant, context) = (world.tenant(), world.app().context());
    let call = context.ids.make();
    for mode in [Mode::Test, Mode::Live, Mode::Live] {
        let context = context.clone();
        let phone = "9812345678".parse().unwrap();
        let added = world
            .app()
            .store
            .of(tenant)
            .tx(move |tx| opt_out(tx, &context, mode, phone, Source::Call(call), None))
            .await
            .unwrap();
        let listed = world.get("/v1/dnc").await["total"].as_i64();
        assert_eq!((mode, listed), (mode, Some(i64::from(mode == Mode::Live))), "{added}");
    }
    assert_eq!(blocked(&world, &id).await, (true, true));
    let events = opt_outs(&world).await;
    assert_eq!(
        events,
        [
            json!({"contactId": id, "externalRef": "a", "phone": "+919812345678", "source": "call", "callId": call})
        ]
    );
}

/// Once a person has opted out, nothing that a client does unblocks them.
#[tokio::test]
async fn nothing_that_a_client_can_do_unblocks() {
    let service = World::bare().await;
    service.set_clock(&world::noon_after(&service.now().await).to_string()).await;
    let mut runner = TestRunner::default();
    let steps = prop::collection::vec(0..7_u8, 1..12);
    for _ in 0..12 {
        let steps = steps.new_tree(&mut runner).unwrap().current();
        let world = service.neighbour().await;
        let agent = world.agent(&json!({"systemPrompt": "You are Asha."})).await;
        let mut id = contact(&world, "a", "9812345678").await;
        world.put(&format!("/v1/contacts/{id}"), &json!({"optOut": true})).await.expect(200);
        for step in &steps {
            let path = format!("/v1/contacts/{id}");
            let upsert = json!({"externalRef": "a", "phone": "9812345678", "name": "x"});
            let opted_in = json!({"externalRef": "a", "phone": "9812345678", "optOut": false});
            // Whether it is allowed or not.
            match step {
                0 => world.put(&path, &json!({"optOut": false})).await,
                1 => world.post("/v1/contacts", &opted_in).await,
                2 => world.post("/v1/dnc", &json!({"phones": ["9812345678"]})).await,
                3 => world.delete(&path).await,
                4 => world.erase(&id).await,
                5 => world.post("/v1/contacts/batch", &json!({"contacts": [upsert]})).await,
                _ => world.put(&path, &json!({"optOut": true, "attributes": {}})).await,
            };
            let now = world.post("/v1/contacts", &upsert).await;
            assert!([200, 201].contains(&now.status), "{steps:?}");
            id = now.json["data"]["id"].as_str().unwrap().to_owned();
            assert!(blocked(&world, &id).await.1, "{steps:?}");
            let call = world.post("/v1/calls", &json!({"agentId": agent, "toNumber": "9812345678"})).await;
            assert_eq!(
                (call.status, call.json["meta"]["blockReason"].as_str()),
                (422, Some("opt_out")),
                "{steps:?} {}",
                call.text
            );
        }
        let found = world.get("/v1/audit/verify").await;
        let stats = world.get("/v1/audit/stats").await;
        found.shows(json!({"data.verified": true}));
        stats.shows(json!({"data.byRule.opt_out": steps.len() as u64}));
    }
}

/// Runs `dastak admin import-dnd` against a service.
async fn import(
    app: &TestApp,
    csv: impl AsRef<[u8]>,
    more: &'static [&'static str],
) -> (bool, Value, String) {
    let name = format!("dastak-dnd-{}-{}.csv", std::process::id(), app.url.rsplit(':').next().unwrap());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, csv).unwrap();
    let (url, token, path) = (app.url.clone(), app.operator_token.clone(), file.clone());
    let run = tokio::task::spawn_blocking(move || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dastak"));
        command
            .args(["admin", "import-dnd"])
            .arg(&path)
            .args(more)
            .args(["--url", &url, "--token", &token, "--json"])
            .output()
            .unwrap()
    });
    let run = run.await.unwrap();
    std::fs::remove_file(&file).unwrap();
    (
        run.status.success(),
        serde_json::from_slice(&run.stdout).unwrap_or(Value::Null),
        String::from_utf8_lossy(&run.stderr).into_owned(),
    )
}

async fn is_listed(app: &TestApp, phone: &str) -> bool {
    let phone = phone.to_owned();
    app.stored(move |tx| store::dnd::contains(tx, &phone)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_replaces_the_registry_in_one_moment() {
    let app = TestApp::start().await;
    app.operator("POST", "/dnd", &json!({"phones": ["9800000001"]})).await.expect(200);
    let rows: String = (0..60_000).map(|n| format!("x{n};98{:08}\r\n", 10_000_000 + n)).collect();
    let file = format!("\u{FEFF}Name;Mobile\r\n{rows}bad;12\r\ntwice;9810000000\r\n");
    let (done, _, told) = import(&app, &file, &[]).await;
    assert!(!done && told.contains("60002") && !is_listed(&app, "+919810000000").await, "{told}");
    let (done, shown, told) = import(&app, &file, &["--skip-invalid"]).await;
    assert!(done, "{told}");
    assert_eq!(
        shown,
        json!({"lines": 60_003, "numbers": 60_000, "repeated": 1, "invalid": 1, "invalidLines": [60_002]})
    );
    assert!(told.contains("100 %"), "{told}");
    for (phone, listed) in
        [("+919810000000", true), ("+919810059999", true), ("+919810060000", false), ("+919800000001", true)]
    {
        assert_eq!(is_listed(&app, phone).await, listed, "{phone}");
    }
    // The next import replaces it, except for numbers that were added by hand.
    let (done, shown, told) = import(&app, "9820000000\n", &[]).await;
    assert!(done && shown["numbers"] == 1, "{told}");
    for (phone, listed) in [("+919810000000", false), ("+919820000000", true), ("+919800000001", true)] {
        assert_eq!(is_listed(&app, phone).await, listed, "{phone}");
    }
    let kept = app.stored(|tx| tx.one::<i64>("select cast(count(*) as bigint) from dnd_registry", &[])).await;
    assert_eq!(kept, Some(2), "what was replaced is dropped");
    let (done, _, told) = import(&app, "phone\nnobody\n", &[]).await;
    assert!(
        !done && told.contains("the registry is as it was") && is_listed(&app, "+919820000000").await,
        "{told}"
    );
}

#[tokio::test]
async fn one_import_at_a_time_and_a_stale_one_gives_way() {
    let app = TestApp::start().await;
    let started =
        app.operator("POST", "/dnd-imports", &Value::Null).await.expect(201)["data"]["importId"].clone();
    app.operator("POST", "/dnd-imports", &Value::Null).await.conflict();
    let numbers = format!("/dnd-imports/{started}/numbers");
    let piece = app
        .operator("POST", &numbers, &json!({"phones": ["9812345678", "x", "09812345678"]}))
        .await
        .expect(200);
    assert_eq!(piece["data"], json!({"added": 1, "repeated": 1, "invalid": [1]}));
    assert!(!is_listed(&app, "+919812345678").await, "nothing is in force before the end");
    app.advance(3601).await;
    let next =
        app.operator("POST", "/dnd-imports", &Value::Null).await.expect(201)["data"]["importId"].clone();
    assert_ne!(next, started);
    app.operator("POST", &numbers, &json!({"phones": ["9812345678"]})).await.not_found();
    app.operator("POST", &format!("/dnd-imports/{started}/finish"), &Value::Null).await.not_found();
    app.operator("DELETE", &format!("/dnd-imports/{next}"), &Value::Null).await.expect(200);
    app.operator("POST", &format!("/dnd-imports/{next}/finish"), &Value::Null).await.not_found();
    app.operator("POST", "/dnd-imports/one/finish", &Value::Null).await.not_found();
}

/// Whoever stands in the file is on the registry afterwards, however the file was written.
#[tokio::test(flavor = "multi_thread")]
async fn a_registry_is_taken_whole_however_it_was_exported() {
    let app = TestApp::start().await;
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for file in [
        b"phone\n9812340001.0\n9812340002.0\n".to_vec(),
        b"phone\n'9812340001\n=\"9812340002\"\n".to_vec(),
        b"name,phone\n\"Rao, Asha\",9812340001\n\"Iyer\nRavi\",9812340002\n".to_vec(),
        b"name;phone\nAsha, R;9812340001\nRavi;9812340002\n".to_vec(),
        b"sep=|\rName|Mobile No\rA|9812340001\rB|9812340002\r".to_vec(),
        "phone1\tname\r\n+91\u{FE0D}98123 40001\tA\r\n98123\u{200B}40002\tB\r\n".as_bytes().to_vec(),
        utf16("\u{FEFF}Phone\tName\r\n9812340001\tआशा\r\n9812340002\tरवि\r\n"),
        b"Name,Phone,Mobile\nA,9812340001,\nA,,9812340002\n".to_vec(),
        b"Asha,9812340001\nRavi,9812340002\n".to_vec(),
    ] {
        let (done, _, told) = import(&app, "9898989898", &[]).await;
        assert!(done && !is_listed(&app, "+919812340001").await, "{told}");
        let shown = String::from_utf8_lossy(&file).into_owned();
        let (done, result, told) = import(&app, file, &[]).await;
        assert!(done, "{shown}: {told}");
        assert_eq!((&result["numbers"], &result["invalid"]), (&json!(2), &json!(0)), "{shown}");
        for phone in ["+919812340001", "+919812340002"] {
            assert!(is_listed(&app, phone).await, "{shown}");
        }
    }
}

/// A line that cannot be read stops the import: nothing is replaced, and the line is named.
#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_cannot_be_read_replaces_nothing() {
    let app = TestApp::start().await;
    let (done, _, told) = import(&app, "9812340001\n9812340002\n", &[]).await;
    assert!(done, "{told}");
    for (file, named) in [
        ("phone\n9812340001.0\n9812340002.0\n981234000.0\n", ": 4. "),
        ("phone\n9812340003\n\n98123\n+1 202 555 0100\n", ": 4, 5. "),
        ("name,phone\nAsha,9812340003\nRao, Ravi,9812340004\n", ": 3. "),
        ("name,phone\n\"Asha,9812340003\nRavi,9812340004\n", "line 2 opens a quote that is never closed"),
        ("name,phone\n\"Asha,9812340003\nRavi\",9812340004\n", "line 2 opens a quote"),
        ("phone,name\r9812340003,Asha\r9812340004,\u{FFFD}", "line 3 is not UTF-8"),
    ] {
        // The last one in another encoding.
        let bytes: Vec<u8> = match file.strip_suffix('\u{FFFD}') {
            Some(start) => [start.as_bytes(), b"Ren\xE9\r"].concat(),
            None => file.as_bytes().to_vec(),
        };
        let (done, _, told) = import(&app, bytes, &[]).await;
        assert!(
            !done && told.contains(named) && told.contains("the registry is as it was"),
            "{file}: {told}"
        );
        for (phone, listed) in [("+919812340001", true), ("+919812340002", true), ("+919812340003", false)] {
            assert_eq!(is_listed(&app, phone).await, listed, "{file}");
        }
    }
    let file = "phone\n9812340003\n981234000.0\n";
    let (done, shown, told) = import(&app, file, &["--skip-invalid"]).await;
    assert!(
        done && is_listed(&app, "+919812340003").await && !is_listed(&app, "+919812340001").await,
        "{told}"
    );
    assert_eq!(shown, json!({"lines": 3, "numbers": 1, "repeated": 0, "invalid": 1, "invalidLines": [3]}));
    let (done, _, told) =
        import(&app, "Nr,Abonnent\n9812340005,9812340006\n", &["--phone", "abonnent"]).await;
    assert!(
        done && is_listed(&app, "+919812340006").await && !is_listed(&app, "+919812340005").await,
        "{told}"
    );
}

//! `/v1/contacts` (docs/contract/contacts.md).

use domain::tenant::Mode;
use proptest::prelude::{Strategy, prop, prop_oneof};
use proptest::strategy::{Just, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::shows::Shows;
use crate::world::World;

const NONE: &str = "con_00000000000000000000000000";

/// A contact of an upsert.
async fn made(world: &World, body: Value) -> Value {
    world.post("/v1/contacts", &body).await.data(201)
}

fn path(contact: &Value) -> String {
    format!("/v1/contacts/{}", contact["id"].as_str().unwrap())
}

#[tokio::test]
async fn an_upsert_creates_with_defaults_and_updates_what_it_names() {
    let world = World::bare().await;
    let first = made(&world, json!({"externalRef": "crm-1", "phone": "098123 45678"})).await;
    assert_eq!(
        first,
        json!({
            "id": first["id"], "externalRef": "crm-1", "phone": "+919812345678", "dnd": false, "optOut": false, "preferredLanguage": "en",
            "lastContactAt": null, "attributes": {}, "name": null, "email": null, "company": null, "chatappUserId": null, "chatappUsername": null,
            "timezone": "Asia/Kolkata",
        })
    );
    assert!(first["id"].as_str().unwrap().starts_with("con_"));
    let change = json!({
        "externalRef": "crm-1", "phone": "+919812345678", "preferredLanguage": "hi", "timezone": "asia/dubai", "attributes": {"city": "Pune", "n": [1, null]},
        "name": "A Person", "email": "a@example.com", "company": "Example",
    });
    let second = world.post("/v1/contacts", &change).await.data(200);
    second.shows(json!({"preferredLanguage": "hi", "timezone": "Asia/Dubai",
        "attributes": {"city": "Pune", "n": [1, null]}}));
    // What an update leaves out stays; null clears what may be null.
    let third = world
        .post("/v1/contacts", &json!({"externalRef": "crm-1", "phone": "9812345678", "email": null}))
        .await
        .expect(200);
    let mut expected = second.clone();
    expected["email"] = Value::Null;
    assert_eq!(third["data"], expected);
    let mut detail = expected.clone();
    detail["doNotCall"] = json!(false);
    detail["consent"] = Value::Null;
    detail["chatapp"] = json!({
        "messagesAllowed": true, "stoppedAt": null, "stopSource": null, "marketingStoppedAt": null, "optedInAt": null,
        "optInSource": null,
    });
    assert_eq!(world.get(&path(&first)).await["data"], detail);
    let put = world.put(&path(&first), &json!({"name": "Another", "phone": "09812345678"})).await.expect(200);
    put["data"].shows(json!({"name": "Another", "company": "Example"}));
}

#[tokio::test]
async fn wrong_fields_are_named_and_change_nothing() {
    let world = World::bare().await;
    let many: serde_json::Map<String, Value> = (0..101).map(|n| (format!("k{n}"), json!(1))).collect();
    for (change, field) in [
        (json!({"externalRef": ""}), "externalRef"),
        (json!({"externalRef": "x".repeat(121)}), "externalRef"),
        (json!({"externalRef": null}), "externalRef"),
        (json!({"phone": "12345678"}), "phone"),
        (json!({"phone": "+12025550100"}), "phone"),
        (json!({"phone": "9812345"}), "phone"),
        (json!({"phone": 9812345678_i64}), "phone"),
        (json!({"preferredLanguage": "ta"}), "preferredLanguage"),
        (json!({"timezone": "Mars/Base"}), "timezone"),
        (json!({"attributes": []}), "attributes"),
        (json!({"attributes": many}), "attributes"),
        (json!({"attributes": {"a": "x".repeat(16 * 1024)}}), "attributes"),
        (json!({"optOut": "yes"}), "optOut"),
        (json!({"email": "nobody"}), "email"),
        (json!({"consent": {"source": "dream", "capturedAt": "2020-01-01T00:00:00Z"}}), "consent.source"),
        (json!({"consent": {"source": "call", "capturedAt": "2999-01-01T00:00:00Z"}}), "consent.capturedAt"),
    ] {
        let mut body = json!({"externalRef": "r", "phone": "9812345678"});
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let refused = world.post("/v1/contacts", &body).await.invalid();
        assert_eq!(refused["meta"]["field"], field, "{body}");
    }
    world.post("/v1/contacts", &json!({"phone": "9812345678"})).await.invalid();
    world.post("/v1/contacts", &json!({"externalRef": "r"})).await.invalid();
    assert_eq!(world.get("/v1/contacts").await, json!({"data": [], "nextCursor": null}));
}

#[tokio::test]
async fn numbers_belong_to_one_contact_and_never_change() {
    let world = World::bare().await;
    let first = made(&world, json!({"externalRef": "a", "phone": "9812345678"})).await;
    let taken = world
        .post("/v1/contacts", &json!({"externalRef": "b", "phone": "+919812345678"}))
        .await
        .refused(409, "phone_taken");
    assert_eq!(taken["meta"]["existingId"], first["id"]);
    world
        .post("/v1/contacts", &json!({"externalRef": "a", "phone": "9812345679"}))
        .await
        .refused(400, "phone_immutable");
    world
        .put(&path(&first), &json!({"phone": "9812345679", "name": "x"}))
        .await
        .refused(400, "phone_immutable");
    assert_eq!(world.get(&path(&first)).await["data"]["name"], Value::Null);
    world.put(&format!("/v1/contacts/{NONE}"), &json!({})).await.not_found();
    // Another workspace has people of its own.
    let other = world.neighbour().await;
    made(&other, json!({"externalRef": "a", "phone": "9812345678"})).await;
    other.fetch(&path(&first)).await.not_found();
    other.put(&path(&first), &json!({"name": "x"})).await.not_found();
    other.delete(&path(&first)).await.not_found();
    other.post(&format!("{}/erase", path(&first)), &Value::Null).await.not_found();
}

/// A contact that a call made has no reference until the client gives it one.
#[tokio::test]
async fn a_contact_without_a_reference_gets_one() {
    let world = World::bare().await;
    let tenant = world.tenant();
    let by_a_call = async |phone: &'static str| {
        let mut row = world
            .app()
            .store
            .of(tenant)
            .read(move |tx| store::contacts::list(tx, store::contacts::Visible::Live, None, 1))
            .await
            .unwrap()
            .remove(0);
        row.id = world.app().ids.make();
        (row.external_ref, row.phone) = (None, Some(phone.to_owned()));
        let id = row.id;
        assert!(world.app().store.of(tenant).tx(move |tx| store::contacts::insert(tx, &row)).await.unwrap());
        format!("/v1/contacts/{id}")
    };
    let named = made(&world, json!({"externalRef": "a", "phone": "9812345678"})).await;
    let (one, two) = (by_a_call("+919812345671").await, by_a_call("+919812345672").await);
    let upserted = world
        .post("/v1/contacts", &json!({"externalRef": "b", "phone": "9812345671", "name": "Asha"}))
        .await
        .expect(200);
    assert!(one.ends_with(upserted["data"]["id"].as_str().unwrap()));
    assert_eq!((&upserted["data"]["externalRef"], &upserted["data"]["name"]), (&json!("b"), &json!("Asha")));
    let owner = world.put(&two, &json!({"externalRef": "a"})).await.conflict();
    assert_eq!(owner["meta"]["existingId"], named["id"]);
    let put = world.put(&two, &json!({"externalRef": "c"})).await.expect(200);
    assert_eq!(put["data"]["externalRef"], "c");
    world.put(&two, &json!({"externalRef": "c", "company": "Acme"})).await.expect(200);
    world.put(&two, &json!({"externalRef": "d", "company": "Other"})).await.invalid();
    let kept = world.get(&two).await;
    assert_eq!((&kept["data"]["externalRef"], &kept["data"]["company"]), (&json!("c"), &json!("Acme")));
    world
        .post("/v1/contacts", &json!({"externalRef": "e", "phone": "9812345672"}))
        .await
        .refused(409, "phone_taken");
}

/// An optional field that is null is absent; where null clears a value, it does.
#[tokio::test]
async fn null_is_absent_unless_it_clears() {
    let world = World::bare().await;
    let body = json!({"externalRef": "a", "phone": "9812345678", "name": "Asha", "timezone": null, "optOut": null,
        "preferredLanguage": null, "attributes": {"city": null}, "consent": {"source": "app", "capturedAt": "2026-01-01T00:00:00Z", "reference": null}});
    let contact = made(&world, body).await;
    contact.shows(
        json!({"name": "Asha", "timezone": "Asia/Kolkata", "optOut": false, "attributes": {"city": null}}),
    );
    let changed = world.put(&path(&contact), &json!({"name": null, "phone": null})).await.expect(200);
    assert_eq!((&changed["data"]["name"], &changed["data"]["phone"]), (&Value::Null, &contact["phone"]));
    world.post("/v1/contacts", &json!({"externalRef": null, "phone": "9812345679"})).await.invalid();
}

#[tokio::test]
async fn a_contact_is_deleted_until_it_was_called() {
    let world = World::bare().await;
    let contact = made(&world, json!({"externalRef": "a", "phone": "9812345678", "optOut": true})).await;
    assert_eq!(
        world.delete(&path(&contact)).await.expect(200)["data"],
        json!({"id": contact["id"], "deleted": true})
    );
    world.delete(&path(&contact)).await.not_found();
    world.fetch(&path(&contact)).await.not_found();
    // The number is still not to be called.
    let again = made(&world, json!({"externalRef": "a", "phone": "9812345678"})).await;
    let detail = world.get(&path(&again)).await;
    detail["data"].shows(json!({"optOut": false, "doNotCall": true}));
}

#[tokio::test]
async fn lists_page_newest_first_and_stay_stable() {
    let world = World::bare().await;
    for number in 0..7 {
        made(&world, json!({"externalRef": format!("r{number}"), "phone": format!("98123456{number:02}")}))
            .await;
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = world.get(&format!("/v1/contacts?limit=3{cursor}")).await;
        seen.extend(
            page["data"]
                .as_array()
                .unwrap()
                .iter()
                .map(|contact| contact["externalRef"].as_str().unwrap().to_owned()),
        );
        made(&world, json!({"externalRef": format!("later{}", seen.len()), "phone": format!("98123457{:02}", seen.len())})).await;
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["r6", "r5", "r4", "r3", "r2", "r1", "r0"]);
    world.fetch("/v1/contacts?cursor=nonsense").await.refused(400, "invalid_cursor");
}

#[tokio::test]
async fn a_page_of_both_worlds_is_in_one_order() {
    let world = World::bare().await;
    let made = made(&world, json!({"externalRef": "a", "phone": "9812345678"})).await;
    let (tenant, store, context) = (world.tenant(), world.app().store.clone(), world.app().context());
    let (first, start) =
        (made["id"].as_str().unwrap().to_owned(), made["id"].as_str().unwrap().parse().unwrap());
    // Live, test, test, live, test, test, live.
    let worlds = [Mode::Test, Mode::Test, Mode::Live, Mode::Test, Mode::Test, Mode::Live];
    let mut ids: Vec<(String, Mode)> = store
        .tx(move |tx| {
            let one = store::contacts::get(&mut tx.of(tenant), start)?.unwrap();
            let rows: Vec<_> = worlds
                .map(|mode| store::contacts::ContactRow {
                    id: context.ids.make(),
                    mode,
                    external_ref: None,
                    phone: None,
                    ..one.clone()
                })
                .into_iter()
                .collect();
            store::contacts::insert_all(tx, rows.iter().map(|row| (tenant, row)))?;
            Ok::<_, store::DbError>(rows.iter().map(|row| (row.id.to_string(), row.mode)).collect())
        })
        .await
        .unwrap();
    ids.insert(0, (first, Mode::Live));
    ids.reverse();
    for (key, wanted) in [(world.test(), &[Mode::Live, Mode::Test][..]), (world.live(), &[Mode::Live])] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = world.app.get(key, &format!("/v1/contacts?limit=2{cursor}")).await.expect(200);
            seen.extend(
                page["data"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|contact| contact["id"].as_str().unwrap().to_owned()),
            );
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        let wanted: Vec<&String> =
            ids.iter().filter(|(_, mode)| wanted.contains(mode)).map(|(id, _)| id).collect();
        assert_eq!(seen.iter().collect::<Vec<_>>(), wanted);
    }
}

#[tokio::test]
async fn test_keys_read_and_do_not_write() {
    let world = World::bare().await;
    let real = made(&world, json!({"externalRef": "a", "phone": "9812345678"})).await;
    // A person whom only a simulated call made.
    let (tenant, store, context) = (world.tenant(), world.app().store.clone(), world.app().context());
    let simulated: Value = store
        .of(tenant)
        .tx(move |tx| {
            let id = real["id"].as_str().unwrap().parse().unwrap();
            let mut row = store::contacts::get(tx, id)?.unwrap();
            (row.id, row.mode, row.external_ref) = (context.ids.make(), Mode::Test, None);
            assert!(store::contacts::insert(tx, &row)?);
            Ok::<_, store::DbError>(json!({"id": row.id}))
        })
        .await
        .unwrap();
    world.fetch(&path(&simulated)).await.not_found();
    world.app.get(world.test(), &path(&simulated)).await.expect(200);
    let count = async |key: &str| {
        world.app.get(key, "/v1/contacts").await.expect(200)["data"].as_array().unwrap().len()
    };
    assert_eq!((count(world.live()).await, count(world.test()).await), (1, 2));
    let upsert = json!({"externalRef": "b", "phone": "9812345679"});
    world.app.post(world.test(), "/v1/contacts", &upsert).await.read_only();
    world.app.post(world.test(), "/v1/contacts/batch", &json!({"contacts": [upsert]})).await.read_only();
    world.app.post(world.test(), "/v1/dnc", &json!({"phones": ["9812345678"]})).await.read_only();
    world.put(&path(&simulated), &json!({"name": "x"})).await.not_found();
}

#[tokio::test]
async fn the_registry_shows_on_the_contact() {
    let world = World::bare().await;
    world.app.operator("POST", "/dnd", &json!({"phones": ["9812345678"]})).await.expect(200);
    let contact = made(&world, json!({"externalRef": "a", "phone": "9812345678"})).await;
    assert_eq!((contact["dnd"].as_bool(), contact["optOut"].as_bool()), (Some(true), Some(false)));
    world.app.operator("DELETE", "/dnd/9812345678", &Value::Null).await.expect(200);
    let detail = world.get(&path(&contact)).await;
    detail["data"].shows(json!({"dnd": false, "doNotCall": false}));
}

#[tokio::test]
async fn consent_is_recorded_with_its_proof() {
    let world = World::bare().await;
    let consent =
        json!({"source": "web_form", "capturedAt": "2026-01-02T03:04:05+05:30", "reference": "form 7"});
    let contact = made(&world, json!({"externalRef": "a", "phone": "9812345678", "consent": consent})).await;
    let detail = world.get(&path(&contact)).await;
    let shown = &detail["data"]["consent"];
    shown.shows(json!({"source": "web_form", "capturedAt": "2026-01-01T21:34:05.000Z"}));
    assert_eq!(shown["reference"], "form 7");
    assert!(shown["id"].as_str().unwrap().starts_with("cns_"));
}

#[tokio::test]
async fn a_batch_answers_item_by_item() {
    let world = World::bare().await;
    let old = made(&world, json!({"externalRef": "old", "phone": "9812345600", "optOut": true})).await;
    let items = json!([
        {"externalRef": "new", "phone": "9812345601"},
        {"externalRef": "old", "phone": "9812345600", "name": "Named"},
        {"externalRef": "thief", "phone": "9812345600"},
        {"externalRef": "old", "phone": "9812345602"},
        {"externalRef": "old", "phone": "9812345600", "optOut": false},
        {"phone": "9812345603"},
        "no object",
        {"externalRef": "new", "phone": "9812345601", "company": "Twice"},
        {"externalRef": "bad", "phone": "5"},
    ]);
    let answer = world.post("/v1/contacts/batch", &json!({"contacts": items})).await.expect(200);
    let results = answer["data"]["results"].as_array().unwrap();
    let shown: Vec<_> = results
        .iter()
        .map(|item| (item["status"].as_i64().unwrap(), item["externalRef"].as_str(), item["code"].as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            (201, Some("new"), None),
            (200, Some("old"), None),
            (409, Some("thief"), Some("phone_taken")),
            (400, Some("old"), Some("phone_immutable")),
            (409, Some("old"), Some("opt_out_downgrade")),
            (400, None, Some("invalid_request")),
            (400, None, Some("invalid_request")),
            (200, Some("new"), None),
            (400, Some("bad"), Some("invalid_request")),
        ]
    );
    assert_eq!((answer["data"]["succeeded"].as_i64(), answer["data"]["failed"].as_i64()), (Some(3), Some(6)));
    assert_eq!(results[2]["existingId"], old["id"]);
    results[1].shows(json!({"data.name": "Named"}));
    results[7].shows(json!({"data.company": "Twice"}));
    assert!(results[5]["error"].as_str().unwrap().starts_with("externalRef"));
    assert!(
        results[0].get("error").is_none()
            && results[2].get("data").is_none()
            && results[3].get("existingId").is_none()
    );
    let many: Vec<Value> =
        (0..501).map(|n| json!({"externalRef": format!("m{n}"), "phone": format!("98{n:08}")})).collect();
    world.post("/v1/contacts/batch", &json!({"contacts": many})).await.invalid();
    let full = world.post("/v1/contacts/batch", &json!({"contacts": many[..500]})).await.expect(200);
    assert_eq!(full["data"]["succeeded"], 500);
}

/// Upserts of few references and numbers, so that they meet.
fn upserts() -> impl Strategy<Value = Vec<Value>> {
    let reference = prop_oneof![Just("a"), Just("b"), Just("c"), Just(""), Just("d")];
    let phone = prop_oneof![
        Just("9812345601"),
        Just("+91 98123 45602"),
        Just("09812345603"),
        Just("12"),
        Just("9812345604")
    ];
    let extra = prop_oneof![
        Just(json!({})),
        Just(json!({"optOut": true})),
        Just(json!({"optOut": false})),
        Just(json!({"name": "N"})),
        Just(json!({"attributes": {"k": 1}}))
    ];
    let item = (reference, phone, extra).prop_map(|(reference, phone, extra)| {
        let mut item = json!({"externalRef": reference, "phone": phone});
        item.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        item
    });
    prop::collection::vec(item, 1..30)
}

fn without_ids(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(name, _)| *name != "id" && *name != "existingId")
            .map(|(name, value)| (name.clone(), without_ids(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_ids).collect(),
        other => other.clone(),
    }
}

#[tokio::test]
async fn a_batch_equals_its_single_upserts() {
    let service = World::bare().await;
    let mut runner = TestRunner::default();
    for _ in 0..12 {
        let items = upserts().new_tree(&mut runner).unwrap().current();
        let (single, batch) = (service.neighbour().await, service.neighbour().await);
        let answer = batch.post("/v1/contacts/batch", &json!({"contacts": items})).await.expect(200);
        let mut stories = Vec::new();
        for (item, result) in items.iter().zip(answer["data"]["results"].as_array().unwrap()) {
            let answer = single.post("/v1/contacts", item).await;
            assert_eq!(result["status"].as_i64(), Some(i64::from(answer.status)), "{items:?}");
            assert_eq!(without_ids(&result["data"]), without_ids(&answer.json["data"]), "{items:?}");
            assert_eq!(
                (&result["code"], &result["error"]),
                (&answer.json["code"], &answer.json["error"]),
                "{items:?}"
            );
        }
        for world in [&single, &batch] {
            let contacts = world.get("/v1/contacts").await;
            let listed = world.get("/v1/dnc").await;
            let phones: Vec<_> =
                listed["data"].as_array().unwrap().iter().map(|entry| entry["phone"].clone()).collect();
            let sent = crate::do_not_call::opt_outs(world).await;
            stories.push(without_ids(&json!([contacts, phones, sent.len()])));
        }
        assert_eq!(stories[0], stories[1], "{items:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_reference_from_many_at_once_is_one_contact() {
    let world = std::sync::Arc::new(World::bare().await);
    let mut tasks = Vec::new();
    for number in 0..24 {
        let (world, key) = (world.clone(), world.workspace.live.clone());
        tasks.push(tokio::spawn(async move {
            // Three numbers fight for one reference, and one number for three references.
            let body = match number % 2 {
                0 => json!({"externalRef": "same", "phone": format!("981234560{}", number % 3)}),
                _ => json!({"externalRef": format!("ref{}", number % 3), "phone": "9812345610"}),
            };
            world.app.post(&key, "/v1/contacts", &body).await.status
        }));
    }
    let mut statuses = Vec::new();
    for task in tasks {
        statuses.push(task.await.unwrap());
    }
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 2, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 201, 400, 409].contains(status)), "{statuses:?}");
    assert_eq!(world.get("/v1/contacts").await["data"].as_array().unwrap().len(), 2);
}

//! Erasing a person: nothing of it is left anywhere (docs/contract/contacts.md#erasure).

use serde_json::{Value, json};
use store::DbError;

use crate::app::TestApp;
use crate::shows::Shows;
use crate::world::{self, World};

/// Strings that stand nowhere but in the person's data.
const MARK: &str = "Zyxwv";
const PHONE: &str = "9876501234";

/// A person with something unmistakable in every field that the service has.
async fn person(world: &World, opt_out: bool) -> String {
    let body = json!({
        "externalRef": format!("ref-{MARK}"), "phone": PHONE, "name": format!("Name {MARK}"), "email": format!("{MARK}@example.com"),
        "company": format!("Company {MARK}"), "attributes": {format!("key{MARK}"): format!("value {MARK}")}, "preferredLanguage": "hi",
        "consent": {"source": "paper", "capturedAt": "2026-01-02T03:04:05Z", "reference": format!("paper {MARK}")}, "optOut": opt_out,
    });
    let made = world.post("/v1/contacts", &body).await;
    assert!([200, 201].contains(&made.status), "{}", made.text);
    made.json["data"]["id"].as_str().unwrap().to_owned()
}

async fn erase(world: &World, id: &str) -> Value {
    world.erase(id).await.data(200)
}

/// Every text column of every table, as `table.column`.
async fn columns(app: &TestApp) -> Vec<(String, String)> {
    let work = |tx: &mut store::Tx<'_>| {
        if tx.shared() {
            let sql = "select cast(table_name as text), cast(column_name as text) from information_schema.columns \
                 where table_schema = 'public' and data_type in ('text', 'bytea') order by 1, 2";
            return tx.all(sql, &[]);
        }
        let tables: Vec<String> =
            tx.all("select name from sqlite_master where type = 'table' order by name", &[])?;
        let mut columns = Vec::new();
        for table in tables {
            let sql = format!("select name from pragma_table_info('{table}')");
            let names: Vec<String> = tx.all(&sql, &[])?;
            columns.extend(names.into_iter().map(|name| (table.clone(), name)));
        }
        Ok::<_, DbError>(columns)
    };
    app.stored(work).await
}

/// Where a string stands in the store.
pub async fn traces(app: &TestApp, secrets: &'static [&'static str]) -> Vec<String> {
    let columns = columns(app).await;
    assert!(columns.len() > 50, "the catalogue of the store was read");
    let work = move |tx: &mut store::Tx<'_>| {
        let mut found = Vec::new();
        for (table, column) in &columns {
            for secret in secrets {
                let sql = format!(
                    "select cast(count(*) as bigint) from {table} where cast({column} as text) like '%{secret}%'"
                );
                if tx.one::<i64>(&sql, &[])?.unwrap_or(0) > 0 {
                    found.push(format!("{table}.{column}: {secret}"));
                }
            }
        }
        Ok::<_, DbError>(found)
    };
    app.stored(work).await
}

/// Calls of both worlds to the person, told everything about them: one over, one live.
async fn call(world: &World) {
    let prompt = json!({"systemPrompt": "You are Asha. Speak with {{who}}."});
    let agent = world.agent(&prompt).await;
    world.set_clock(&world::noon_after(&world.now().await).to_string()).await;
    let body = json!({
        "agentId": agent, "toNumber": PHONE, "externalRef": format!("ref-{MARK}"), "variables": {"who": format!("Who {MARK}")},
        "metadata": {"note": format!("note {MARK}")},
    });
    for key in [world.live(), world.test()] {
        world.post_with(key, "/v1/calls", &[("idempotency-key", "first")], &body).await.expect(200);
    }
    world.advance(15).await;
    for key in [world.live(), world.test()] {
        world.app.post(key, "/v1/calls", &body).await.expect(200);
    }
    world.advance(5).await;
    // And what waits for a later hour, with an answer kept for its repeat.
    let later = world.app().clock.now().plus(2 * domain::time::HOUR).to_string();
    for key in [world.live(), world.test()] {
        for path in ["/v1/nudges", "/v1/scheduled-calls"] {
            let mut body = body.clone();
            body["scheduledAt"] = json!(later);
            world.post_with(key, path, &[("idempotency-key", "later")], &body).await.expect(201);
        }
    }
}

#[tokio::test]
async fn nothing_of_an_erased_person_is_left() {
    let world = World::bare().await;
    // Nobody listens there: deliveries wait.
    let endpoint = json!({"url": "http://127.0.0.1:29099/hook", "events": []});
    world.post("/v1/webhooks", &endpoint).await.expect(201);
    let id = person(&world, false).await;
    call(&world).await;
    assert_eq!(person(&world, true).await, id);
    let before = traces(&world, &[MARK, PHONE]).await;
    for place in [
        "contacts.name",
        "contacts.phone",
        "contacts.consent",
        "do_not_call.phone",
        "events.envelope",
        "calls.to_number",
        "calls.variables",
        "calls.metadata",
        "calls.external_ref",
        "nudges.",
        "scheduled_calls.",
        "idempotency_keys.body",
    ] {
        assert!(before.iter().any(|found| found.starts_with(place)), "{place} is searched: {before:?}");
    }
    let answer = erase(&world, &id).await;
    let erased = &answer["erased"];
    assert_eq!((erased["calls"].as_i64(), erased["transcripts"].as_i64()), (Some(4), Some(2)), "{answer}");
    assert_eq!(erased["nudgesCancelled"], 2, "{answer}");
    assert!(erased["deliveriesRedacted"].as_i64().unwrap() > 4, "{answer}");
    answer.shows(json!({"contactId": id, "erasedAt": world.now().await, "alreadyErased": false}));
    assert_eq!(erased.as_object().unwrap().len(), 6);
    assert_eq!(traces(&world, &[MARK, PHONE]).await, Vec::<String>::new());
    assert_eq!(files_with(&world.app().config.data, &[MARK, PHONE]), Vec::<String>::new());
    world.advance(3600).await;
    assert_eq!(
        traces(&world, &[MARK, PHONE]).await,
        Vec::<String>::new(),
        "what was live has written nothing since"
    );
    let calls = world.get(&format!("/v1/calls?contactId={id}")).await;
    assert!(
        calls["data"]
            .as_array()
            .unwrap()
            .iter()
            .all(|call| call["state"] == "ended" && call["toNumber"] == "[erased]"),
        "{calls}"
    );
    let wallet = world.operator("GET", "", Value::Null).await.expect(200);
    assert_eq!(wallet["data"]["reservedMinor"], 0, "the live call was settled");
    let found = world.get("/v1/audit/verify").await;
    assert_eq!(found["data"]["verified"], true);
}

/// Files of the data folder in which a string stands.
pub fn files_with(folder: &std::path::Path, secrets: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let holds =
                |secret: &&&str| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            found.extend(secrets.iter().filter(holds).map(|secret| format!("{}: {secret}", path.display())));
        }
    }
    found
}

#[tokio::test]
async fn an_erased_contact_is_gone_and_stays_silent() {
    let world = World::bare().await;
    let id = person(&world, true).await;
    let first = erase(&world, &id).await;
    world.advance(60).await;
    let mut again = first.clone();
    again["alreadyErased"] = json!(true);
    assert_eq!(erase(&world, &id).await, again, "a repeat answers what the first one did");
    let path = format!("/v1/contacts/{id}");
    world.fetch(&path).await.refused(410, "contact_erased");
    world.app.get(world.test(), &path).await.refused(410, "contact_erased");
    world.put(&path, &json!({"name": "x"})).await.refused(410, "contact_erased");
    world.delete(&path).await.refused(410, "contact_erased");
    world
        .operator("POST", &format!("/contacts/{id}/lift-opt-out"), Value::Null)
        .await
        .refused(410, "contact_erased");
    assert_eq!(world.get("/v1/contacts").await["data"], json!([]));
    // The entry of the list survives by its hash: the person is not called again.
    let listed = world.get("/v1/dnc").await;
    assert_eq!((listed["total"].as_i64(), &listed["data"][0]["phone"]), (Some(1), &Value::Null));
    assert_eq!(world.get(&format!("/v1/dnc?phone={PHONE}")).await["total"], 1);
    let body = json!({"externalRef": format!("ref-{MARK}"), "phone": PHONE});
    let anew = world.post("/v1/contacts", &body).await.expect(201);
    assert_ne!(anew["data"]["id"], id.as_str());
    let detail = world.get(&format!("/v1/contacts/{}", anew["data"]["id"].as_str().unwrap())).await;
    assert_eq!(detail["data"]["doNotCall"], true);
    world.post("/v1/contacts/con_00000000000000000000000000/erase", &json!({})).await.not_found();
    let key = world.key(&world.workspace.id, "live", json!(["contacts:write", "contacts:read"])).await;
    world.app.post(&key, &format!("{path}/erase"), &json!({})).await.refused(403, "api_scope_missing");
}

#[tokio::test]
async fn kept_answers_about_the_person_are_not_given_again() {
    use dastak::app::idempotency::Once;
    use domain::tenant::Mode;
    let world = World::bare().await;
    let id = person(&world, true).await;
    let once = || {
        Once::keyed(
            world.workspace.id.clone(),
            Mode::Live,
            "placeCall",
            "key".into(),
            "print".into(),
            "holder".into(),
        )
    };
    let (now, contact, turn) = (world.app().clock.now(), id.clone(), once());
    let keep = move |tx: &mut store::Tx<'_>| {
        turn.reserve(tx, now)?;
        turn.finish(tx, 201, &json!({"name": MARK}), Some(&contact))
    };
    world.store(keep).await;
    erase(&world, &id).await;
    let repeat = once().run(world.app(), 201, |_| panic!("the request must not run again")).await.unwrap();
    assert_eq!((repeat.status, repeat.replayed), (410, true));
    assert!(repeat.body.contains("contact_erased") && !repeat.body.contains(MARK));
}

/// What was asked for a number before anybody knew whose it is belongs to the person, too.
#[tokio::test]
async fn kept_answers_from_before_the_contact_are_not_given_again() {
    let world = World::bare().await;
    let agent = world.agent(&json!({"systemPrompt": "Say hello."})).await;
    let at = domain::time::Timestamp::parse(&world.now().await).unwrap().plus(3_600_000);
    let asked = json!({"agentId": agent, "toNumber": "+919812340001", "scheduledAt": at});
    let nudged = json!({"agentId": agent, "toNumber": "+919812340001", "scheduledAt": at});
    let requests = [("/v1/scheduled-calls", asked), ("/v1/nudges", nudged)];
    for (path, body) in &requests {
        world.post_with(world.live(), path, &[("idempotency-key", "before")], body).await.expect(201);
    }
    let made = world
        .post("/v1/contacts", &json!({"externalRef": "late", "phone": "+919812340001"}))
        .await
        .expect(201);
    erase(&world, made["data"]["id"].as_str().unwrap()).await;
    for (path, body) in &requests {
        let repeat = world.post_with(world.live(), path, &[("idempotency-key", "before")], body).await;
        assert_eq!(
            (repeat.status, repeat.json["code"].as_str()),
            (410, Some("contact_erased")),
            "{path}: {}",
            repeat.text
        );
        assert!(!repeat.text.contains("9812340001"));
    }
}

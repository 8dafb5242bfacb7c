//! Erasing a person: nothing of it is left anywhere (spec 2 «Contacts, do-not-call list, erasure»).

use bytes::Bytes;
use serde_json::{Value, json};
use store::DbError;

use crate::app::{TestApp, Workspace};

/// Strings that stand nowhere but in the person's data.
const MARK: &str = "Zyxwv";
const PHONE: &str = "9876501234";

/// A person with something unmistakable in every field that the service has.
async fn person(app: &TestApp, workspace: &Workspace) -> String {
    let body = json!({
        "externalRef": format!("ref-{MARK}"), "phone": PHONE, "name": format!("Name {MARK}"), "email": format!("{MARK}@example.com"),
        "company": format!("Company {MARK}"), "attributes": {format!("key{MARK}"): format!("value {MARK}")}, "preferredLanguage": "hi",
        "consent": {"source": "paper", "capturedAt": "2026-01-02T03:04:05Z", "reference": format!("paper {MARK}")}, "optOut": true,
    });
    let made = app.post(&workspace.live, "/v1/contacts", &body).await.expect(201);
    made["data"]["id"].as_str().unwrap().to_owned()
}

async fn erase(app: &TestApp, workspace: &Workspace, id: &str) -> Value {
    app.send("POST", &format!("/v1/contacts/{id}/erase"), Some(&workspace.live), &[], Bytes::new()).await.expect(200)["data"].clone()
}

/// Every text column of every table, as `table.column`.
async fn columns(app: &TestApp) -> Vec<(String, String)> {
    let work = |tx: &mut store::Tx<'_>| {
        if tx.shared() {
            let sql = "select cast(table_name as text), cast(column_name as text) from information_schema.columns \
                 where table_schema = 'public' and data_type in ('text', 'bytea') order by 1, 2";
            return tx.all(sql, &[], |row| Ok((row.text(0)?, row.text(1)?)));
        }
        let tables = tx.all("select name from sqlite_master where type = 'table' order by name", &[], |row| row.text(0))?;
        let mut columns = Vec::new();
        for table in tables {
            let sql = format!("select name from pragma_table_info('{table}')");
            columns.extend(tx.all(&sql, &[], |row| Ok((table.clone(), row.text(0)?)))?);
        }
        Ok::<_, DbError>(columns)
    };
    app.app().store.read(work).await.unwrap()
}

/// Where a string stands in the store.
pub async fn traces(app: &TestApp, secrets: &'static [&'static str]) -> Vec<String> {
    let columns = columns(app).await;
    assert!(columns.len() > 50, "the catalogue of the store was read");
    let work = move |tx: &mut store::Tx<'_>| {
        let mut found = Vec::new();
        for (table, column) in &columns {
            for secret in secrets {
                let sql = format!("select cast(count(*) as bigint) from {table} where cast({column} as text) like '%{secret}%'");
                if tx.one(&sql, &[], |row| row.int(0))?.unwrap_or(0) > 0 {
                    found.push(format!("{table}.{column}: {secret}"));
                }
            }
        }
        Ok::<_, DbError>(found)
    };
    app.app().store.read(work).await.unwrap()
}

#[tokio::test]
async fn nothing_of_an_erased_person_is_left() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    // Nobody listens there: the delivery waits.
    let endpoint = json!({"url": "http://127.0.0.1:29099/hook", "events": ["contact.opted_out"]});
    app.post(&workspace.live, "/v1/webhooks", &endpoint).await.expect(201);
    let id = person(&app, &workspace).await;
    let before = traces(&app, &[MARK, PHONE]).await;
    for place in ["contacts.name", "contacts.phone", "contacts.consent", "do_not_call.phone", "events.envelope"] {
        assert!(before.iter().any(|found| found.starts_with(place)), "{place} is searched: {before:?}");
    }
    let erased = erase(&app, &workspace, &id).await;
    assert_eq!(
        erased,
        json!({
            "contactId": id, "erasedAt": app.now().await,
            "erased": {"calls": 0, "transcripts": 0, "recordings": 0, "messages": 0, "nudgesCancelled": 0, "deliveriesRedacted": 1},
            "alreadyErased": false,
        })
    );
    assert_eq!(traces(&app, &[MARK, PHONE]).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_erased_contact_is_gone_and_stays_silent() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let id = person(&app, &workspace).await;
    let first = erase(&app, &workspace, &id).await;
    app.advance(60).await;
    let mut again = first.clone();
    again["alreadyErased"] = json!(true);
    assert_eq!(erase(&app, &workspace, &id).await, again, "a repeat answers what the first one did");
    let path = format!("/v1/contacts/{id}");
    app.get(&workspace.live, &path).await.refused(410, "contact_erased");
    app.get(&workspace.test, &path).await.refused(410, "contact_erased");
    app.put(&workspace.live, &path, &json!({"name": "x"})).await.refused(410, "contact_erased");
    app.delete(&workspace.live, &path).await.refused(410, "contact_erased");
    app.operator("POST", &format!("/workspaces/{}/contacts/{id}/lift-opt-out", workspace.id), &Value::Null).await.refused(410, "contact_erased");
    assert_eq!(app.get(&workspace.live, "/v1/contacts").await.expect(200)["data"], json!([]));
    // The entry of the list survives by its hash: the person is not called again.
    let listed = app.get(&workspace.live, "/v1/dnc").await.expect(200);
    assert_eq!((listed["total"].as_i64(), &listed["data"][0]["phone"]), (Some(1), &Value::Null));
    assert_eq!(app.get(&workspace.live, &format!("/v1/dnc?phone={PHONE}")).await.expect(200)["total"], 1);
    let body = json!({"externalRef": format!("ref-{MARK}"), "phone": PHONE});
    let anew = app.post(&workspace.live, "/v1/contacts", &body).await.expect(201);
    assert_ne!(anew["data"]["id"], id.as_str());
    let detail = app.get(&workspace.live, &format!("/v1/contacts/{}", anew["data"]["id"].as_str().unwrap())).await.expect(200);
    assert_eq!(detail["data"]["doNotCall"], true);
    app.post(&workspace.live, "/v1/contacts/con_00000000000000000000000000/erase", &json!({})).await.refused(404, "not_found");
    let key = app.key(&workspace.id, "live", json!(["contacts:write", "contacts:read"])).await;
    app.post(&key, &format!("{path}/erase"), &json!({})).await.refused(403, "api_scope_missing");
}

#[tokio::test]
async fn kept_answers_about_the_person_are_not_given_again() {
    use dastak::app::idempotency::Once;
    use domain::tenant::Mode;
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let id = person(&app, &workspace).await;
    let once = || Once::keyed(workspace.id.clone(), Mode::Live, "placeCall", "key".into(), "print".into(), "holder".into());
    let (now, contact, turn) = (app.app().clock.now(), id.clone(), once());
    let keep = move |tx: &mut store::Tx<'_>| {
        turn.reserve(tx, now)?;
        turn.finish(tx, 201, &json!({"name": MARK}), Some(&contact))
    };
    app.app().store.tx(keep).await.unwrap();
    erase(&app, &workspace, &id).await;
    let repeat = once().run(app.app(), 201, |_| panic!("the request must not run again")).await.unwrap();
    assert_eq!((repeat.status, repeat.replayed), (410, true));
    assert!(repeat.body.contains("contact_erased") && !repeat.body.contains(MARK));
}

//! Who gets in, walked over the whole table of operations.

use api::operations::{self, Access, Operation, TestKeys};
use bytes::Bytes;
use domain::tenant::Role;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::shows::Shows;
use crate::world::World;

/// The path with every parameter replaced by an id that exists nowhere.
fn path_of(operation: &Operation) -> String {
    operation
        .path
        .split('/')
        .map(|part| if part.starts_with('{') { "none_00000000000000000000000000" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

fn keyed() -> impl Iterator<Item = (&'static Operation, Vec<&'static str>)> {
    operations::all().filter_map(|operation| match operation.access {
        Access::AnyKey => Some((operation, vec![])),
        Access::Scope(scope) => Some((operation, vec![scope.0])),
        Access::Scopes(one, other) => Some((operation, vec![one.0, other.0])),
        Access::Public
        | Access::StreamToken
        | Access::Signed
        | Access::Operator
        | Access::Figures
        | Access::Member
        | Access::Person => None,
    })
}

#[tokio::test]
async fn no_route_escapes() {
    let world = World::bare().await;
    let suspended = world.neighbour().await;
    suspended.change(&json!({"suspended": true})).await;
    for (operation, scopes) in keyed() {
        let (method, path) = (operation.method.as_str(), path_of(operation));
        let send = |key: Option<String>| {
            let (world, path) = (&world, path.clone());
            async move { world.send(method, &path, key.as_deref(), &[], Bytes::new()).await }
        };
        send(None).await.refused(401, "unauthorized");
        send(Some(world.operator_token.clone())).await.refused(401, "unauthorized");
        world.set_clock(&later(&world).await).await;
        send(Some(suspended.workspace.live.clone())).await.refused(403, "workspace_suspended");
        for missing in &scopes {
            let others: Vec<&str> =
                api::scopes::ALL.iter().map(|scope| scope.0).filter(|scope| scope != missing).collect();
            let key = world.key(&world.workspace.id, "live", json!(others)).await;
            let refused = send(Some(key)).await.refused(403, "api_scope_missing");
            assert_eq!(refused["meta"]["scope"], **missing, "{}", operation.id);
        }
        if operation.test_keys == TestKeys::Refused {
            send(Some(world.workspace.test.clone())).await.read_only();
        }
    }
    for operation in
        operations::all().filter(|operation| matches!(operation.access, Access::Operator | Access::Figures))
    {
        let (method, path) = (operation.method.as_str(), path_of(operation));
        let stranger = world.send(method, &path, None, &[], Bytes::new()).await;
        if operation.access == Access::Figures {
            let told: Vec<&str> = stranger.text.lines().filter(|line| !line.starts_with('#')).collect();
            assert_eq!((stranger.status, told.as_slice()), (200, ["up 1"].as_slice()));
        } else {
            stranger.refused(401, "unauthorized");
        }
        world.send(method, &path, Some(world.live()), &[], Bytes::new()).await.refused(401, "unauthorized");
        world.set_clock(&later(&world).await).await;
    }
}

/// Moves on by two minutes, after which the throttle of invalid keys has forgotten us.
async fn later(app: &TestApp) -> String {
    domain::time::Timestamp::parse(&app.now().await).unwrap().plus(120_000).to_string()
}

#[tokio::test]
async fn revocation_and_expiry_take_effect_at_once() {
    let world = World::bare().await;
    world.get("/v1/me").await;
    let keys = world.operator("GET", "/keys", json!(null)).await.expect(200);
    let live = keys["data"].as_array().unwrap().iter().find(|key| key["mode"] == "live").unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/keys/{live}");
    let revoked = world.operator("DELETE", &path, json!(null)).await.expect(200);
    world.fetch("/v1/me").await.refused(401, "unauthorized");
    world.advance(60).await;
    assert_eq!(
        world.operator("DELETE", &path, json!(null)).await.expect(200),
        revoked,
        "a repeat keeps the first time"
    );

    let expiry = domain::time::Timestamp::parse(&world.now().await).unwrap().plus(60_000).to_string();
    let body = json!({"name": "short", "mode": "live", "scopes": ["billing:read"], "expiresAt": expiry});
    let made = world.operator("POST", "/keys", body).await.expect(201);
    let key = made["data"]["key"].as_str().unwrap();
    assert_eq!(world.app.get(key, "/v1/me").await.expect(200)["data"]["key"]["expiresAt"], expiry.as_str());
    world.advance(60).await;
    world.app.get(key, "/v1/me").await.refused(401, "unauthorized");
}

/// A workspace's live key: its id.
async fn live_key(world: &World) -> String {
    let keys = world.operator("GET", "/keys", json!(null)).await.expect(200);
    let all = keys["data"].as_array().unwrap();
    all.iter().find(|key| key["mode"] == "live").unwrap()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_rotated_key_goes_on_with_another_value() {
    let world = World::prompted("Say hello.").await;
    let at = world.at(2 * 3_600);
    for (path, number) in [("/v1/nudges", "9812340001"), ("/v1/scheduled-calls", "9812340002")] {
        let body = world.order(number, &json!({"scheduledAt": at}));
        world.post_with(world.live(), path, &[("idempotency-key", number)], &body).await.expect(201);
    }
    let path = format!("/keys/{}", live_key(&world).await);
    let rotate = async |hours: i64| {
        let answer = world.operator("POST", &format!("{path}/rotate"), json!({"graceHours": hours})).await;
        answer.data(200)
    };
    let until = world.app().clock.now().plus(3_600_000).to_string();
    let rotated = rotate(1).await;
    let new = rotated["key"].as_str().unwrap().to_owned();
    assert!(new != world.live() && new.starts_with("dastak_live_"), "{rotated}");
    assert_eq!(rotated["previousValidUntil"], until.as_str());
    let seen = |answer: serde_json::Value| answer["data"]["key"].clone();
    let (old, now) = (seen(world.get("/v1/me").await), seen(world.app.get(&new, "/v1/me").await.expect(200)));
    // The old value says when it ends.
    old.shows(json!({"id": now["id"], "expiresAt": until}));
    assert_eq!(now["expiresAt"], json!(null));
    world.advance(3600).await;
    world.fetch("/v1/me").await.refused(401, "unauthorized");
    // Nothing that it made is cancelled.
    let nudges = world.app.get(&new, "/v1/nudges").await.expect(200);
    assert_ne!(nudges["data"][0]["status"], "finished", "{nudges}");
    assert_eq!(
        world.app.get(&new, "/v1/scheduled-calls").await.expect(200)["data"][0]["status"],
        "scheduled"
    );
    // Without grace the old value stops at once, and so does one that was still in its grace.
    let third = rotate(24).await["key"].as_str().unwrap().to_owned();
    let fourth = rotate(0).await;
    assert_eq!(fourth["previousValidUntil"], json!(null));
    for gone in [&new, &third] {
        world.app.get(gone, "/v1/me").await.refused(401, "unauthorized");
    }
    let fourth = fourth["key"].as_str().unwrap();
    world.app.get(fourth, "/v1/me").await.expect(200);
    for wrong in [json!(-1), json!(721), json!("1")] {
        let body = json!({"graceHours": wrong});
        world.operator("POST", &format!("{path}/rotate"), body).await.invalid();
    }
    // A revocation says what it cancels.
    let revoked = world.operator("DELETE", &path, json!(null)).await.expect(200);
    assert_eq!(revoked["data"]["cancelled"], json!({"nudges": 1, "scheduledCalls": 1}));
    world.app.get(fourth, "/v1/me").await.refused(401, "unauthorized");
    world.operator("POST", &format!("{path}/rotate"), json!({})).await.conflict();
    let cancelled = world.outbox_of("scheduled_call.cancelled").await;
    assert_eq!(cancelled.len(), 1);
    cancelled[0]
        .shows(json!({"data.reason": "api_key_revoked", "data.toNumber": "+919812340002", "livemode": true}));
    let unknown = "/keys/key_00000000000000000000000000/rotate";
    world.operator("POST", unknown, json!({})).await.not_found();
}

#[tokio::test]
async fn repeated_invalid_keys_wait_a_minute() {
    let world = World::bare().await;
    let mut refused = 0;
    for _ in 0..40 {
        let answer = world.app.get("dastak_live_wrong", "/v1/me").await;
        if answer.status == 429 {
            refused += 1;
            let wait: i64 = answer.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=60).contains(&wait));
        }
    }
    assert_eq!(refused, 20);
    world.get("/v1/me").await;
    world.advance(61).await;
    world.app.get("dastak_live_wrong", "/v1/me").await.refused(401, "unauthorized");
}

#[tokio::test]
async fn the_account_shows_the_key_masked() {
    let world = World::bare().await;
    let key = world.key(&world.workspace.id, "test", json!(["billing:read", "agents:read"])).await;
    let me = world.app.get(&key, "/v1/me").await.expect(200);
    assert_eq!(me["data"]["key"]["scopes"], json!(["agents:read", "billing:read"]));
    let prefix = me["data"]["key"]["prefix"].as_str().unwrap();
    assert!(prefix.starts_with("dastak_test_") && !prefix.contains(&key[20..]), "{prefix}");
    me.shows(json!({"data.workspace": {"id": world.workspace.id, "name": "Acme", "kybVerified": true}}));
    // Neither the store's files nor a listing hold the key.
    let keys = world.operator("GET", "/keys", json!(null)).await;
    assert!(!keys.text.contains(&key));
}

/// A use of a key is written at most once a minute, and shown where the keys are listed.
#[tokio::test]
async fn keys_say_when_they_were_last_used() {
    let world = World::open().await;
    let used = async |mode: &str| {
        let keys = world.operator("GET", "/keys", Value::Null).await.data(200);
        let found = keys.as_array().unwrap().iter().find(|key| key["mode"] == mode).cloned();
        found.expect("a key")["lastUsedAt"].clone()
    };
    let first = world.now().await;
    world.get("/v1/me").await;
    assert_eq!((used("live").await, used("test").await), (json!(first), Value::Null));
    world.advance(30).await;
    world.get("/v1/me").await;
    assert_eq!(used("live").await, json!(first));
    world.advance(31).await;
    world.get("/v1/me").await;
    assert_eq!(used("live").await, json!(world.now().await));
    // Without a listing it is written within the hour.
    world.advance(600).await;
    let last = world.now().await;
    world.app.get(world.test(), "/v1/me").await.expect(200);
    world.advance(3_700).await;
    let stored = world
        .stored(|tx| {
            tx.one::<i64>(
                "select last_used_at from api_keys where mode = 'test' and last_used_at is not null",
                &[],
            )
        })
        .await;
    assert_eq!(stored, domain::time::Timestamp::parse(&last).map(|at| at.0));
}

/// What the admins of a workspace change of it themselves.
#[tokio::test]
async fn a_workspace_is_renamed_by_its_admins() {
    let world = World::open().await;
    let change = |name: Option<&str>, low: Option<Option<i64>>| api::account::OwnWorkspaceChange {
        name: name.map(str::to_owned),
        low_balance_minor: low,
    };
    let update = async |change| {
        app::workspaces::update_own(world.app(), world.tenant(), change).await.expect("a change")
    };
    let changed = update(change(Some("Asha & Co"), Some(Some(5_000)))).await;
    assert_eq!((changed.name.as_str(), changed.low_balance_minor), ("Asha & Co", Some(5_000)));
    // It is what keys see from the next request on.
    assert_eq!(world.get("/v1/me").await["data"]["workspace"]["name"], "Asha & Co");
    let changed = update(change(None, Some(None))).await;
    assert_eq!((changed.name.as_str(), changed.low_balance_minor), ("Asha & Co", None));
    // No key may: it is for members.
    world.fetch("/v1/workspace").await.refused(401, "unauthorized");
}

/// What only the operator could do: members from their role on, in their own workspace.
#[tokio::test]
async fn members_administer_what_the_operator_did() {
    let world = World::open().await;
    let [editor, admin, owner] =
        [world.member(Role::Editor).await, world.member(Role::Admin).await, world.member(Role::Owner).await];
    let keys = format!("/operator/v1/workspaces/{}/keys", world.workspace.id);
    let key = |scopes: Value| json!({"name": "Of the CRM", "mode": "live", "scopes": scopes});
    editor.get(&keys).await.refused(403, "role_missing");
    editor.post(&keys, &key(json!(["calls:read"]))).await.refused(403, "role_missing");
    admin.post(&keys, &key(json!(["calls:read"]))).await.expect(201);
    // A key that erases people is for those who may erase people.
    for scopes in [json!("all"), json!(["contacts:erase"])] {
        let refused = admin.post(&keys, &key(scopes)).await.refused(403, "role_missing");
        assert_eq!(refused["meta"]["role"], "owner");
    }
    let made = owner.post(&keys, &key(json!("all"))).await.data(201);
    let rotate = format!("{keys}/{}/rotate", made["id"].as_str().unwrap());
    admin.post(&rotate, &json!({})).await.refused(403, "role_missing");
    owner.post(&rotate, &json!({})).await.expect(200);
    let neighbour = world.neighbour().await;
    admin.get(&format!("/operator/v1/workspaces/{}/keys", neighbour.workspace.id)).await.not_found();
    // Its own settings.
    editor.patch("/v1/workspace", &json!({"name": "Other"})).await.refused(403, "role_missing");
    admin
        .patch("/v1/workspace", &json!({"name": "Other", "lowBalanceMinor": -1}))
        .await
        .invalid_field("lowBalanceMinor");
    let changed = admin
        .patch("/v1/workspace", &json!({"name": "Other", "suspended": true, "kybVerified": true}))
        .await
        .data(200);
    changed.shows(json!({"name": "Other", "suspended": false}));
    assert_eq!(editor.get("/v1/workspace").await.data(200), changed);
}

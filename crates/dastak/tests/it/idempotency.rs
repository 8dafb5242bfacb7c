//! `Idempotency-Key` (docs/contract/README.md#idempotency).

use serde_json::{Value, json};

use crate::app::{Answer, TestApp};
use crate::world::World;

/// The path of the workspace's wallet in the operator API.
fn entries_of(world: &World) -> String {
    format!("/operator/v1/workspaces/{}/wallet/entries", world.workspace.id)
}

async fn top_up(world: &World, key: &str, amount: i64) -> Answer {
    let body = json!({"kind": "topup", "amountMinor": amount, "reference": "pay_1"});
    let headers = [("idempotency-key", key)];
    world.post_with(&world.operator_token, &entries_of(world), &headers, &body).await
}

async fn entries(world: &World) -> i64 {
    world.operator("GET", "/wallet/entries", Value::Null).await.expect(200)["total"].as_i64().unwrap()
}

#[tokio::test]
async fn the_same_request_gets_the_first_answer() {
    let world = World::bare().await;
    let first = top_up(&world, "k1", 100).await;
    assert_eq!(first.header("idempotent-replayed"), None);
    let again = top_up(&world, "k1", 100).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!((again.status, &again.text), (first.status, &first.text));
    top_up(&world, "k1", 101).await.refused(422, "idempotency_key_reused");
    top_up(&world, "k2", 100).await.expect(201);
    assert_eq!(entries(&world).await, 3);
    world.advance(24 * 3600 + 1).await;
    top_up(&world, "k1", 101).await.expect(201);
}

/// What a body says is compared, not how it is written.
#[tokio::test]
async fn the_order_of_names_and_white_space_do_not_matter() {
    let world = World::bare().await;
    let path = entries_of(&world);
    let send = async |body: &'static str| {
        let (token, body) = (world.operator_token.clone(), bytes::Bytes::from_static(body.as_bytes()));
        world.send("POST", &path, Some(&token), &[("idempotency-key", "k")], body).await
    };
    let first = send(r#"{"kind":"topup","amountMinor":100,"reference":"pay_1"}"#).await;
    let again = send(r#"{ "reference": "pay_1",  "amountMinor": 100, "kind": "topup" }"#).await;
    assert_eq!((again.header("idempotent-replayed"), &again.text), (Some("true"), &first.text));
    send(r#"{"kind":"topup","amountMinor":100,"reference":"pay_2"}"#)
        .await
        .refused(422, "idempotency_key_reused");
}

#[tokio::test]
async fn a_refusal_frees_the_key() {
    let world = World::bare().await;
    let path = entries_of(&world);
    let body = json!({"kind": "adjustment", "amountMinor": -2_000_000, "reference": "r"});
    world.post_with(&world.operator_token, &path, &[("idempotency-key", "k")], &body).await.conflict();
    top_up(&world, "k", 5_000_000).await.expect(201);
}

#[tokio::test]
async fn wrong_keys_are_refused() {
    let world = World::bare().await;
    top_up(&world, &"x".repeat(256), 100).await.refused(400, "invalid_idempotency_key");
    top_up(&world, " ", 100).await.refused(400, "invalid_idempotency_key");
    top_up(&world, &"x".repeat(255), 100).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn identical_requests_at_the_same_instant_create_one_thing() {
    let world = std::sync::Arc::new(World::bare().await);
    let mut tasks = Vec::new();
    for number in 0..60 {
        let world = world.clone();
        tasks.push(tokio::spawn(async move { top_up(&world, &format!("key{}", number % 3), 100).await }));
    }
    let mut bodies = std::collections::BTreeSet::new();
    for task in tasks {
        let answer = task.await.unwrap();
        match answer.status {
            201 => drop(bodies.insert(answer.text)),
            _ => drop(answer.refused(409, "idempotency_in_progress")),
        }
    }
    assert_eq!((bodies.len(), entries(&world).await), (3, 4));
}

/// A request with an external effect holds its key under a lease: a crash frees the key, an unknown outcome
/// does not.
#[tokio::test]
async fn a_crashed_holder_frees_its_key_and_an_unknown_outcome_holds_it() {
    use dastak::app::Failure;
    use dastak::app::idempotency::{Claim, Once};
    let app = TestApp::start().await;
    let once = |key: &str, body: &str, holder: &str| {
        Once::keyed(
            "ws_x".into(),
            domain::tenant::Mode::Live,
            "placeCall",
            key.into(),
            body.into(),
            holder.into(),
        )
    };
    let reserve = |once: Once| {
        let (store, now) = (app.app().store.clone(), app.app().clock.now());
        async move {
            store
                .tx(move |tx| match once.reserve(tx, now) {
                    Ok(Claim::Mine) => Ok::<_, Failure>("mine".to_owned()),
                    Ok(Claim::Given(answer)) => Ok(format!("given {} {}", answer.status, answer.body)),
                    Err(failure) => Ok(failure.error.code.to_owned()),
                })
                .await
                .unwrap()
        }
    };
    assert_eq!(reserve(once("k", "a", "first")).await, "mine");
    assert_eq!(reserve(once("k", "a", "second")).await, "idempotency_in_progress");
    assert_eq!(reserve(once("k", "b", "second")).await, "idempotency_key_reused");
    app.advance(121).await;
    assert_eq!(reserve(once("k", "a", "second")).await, "mine", "the first holder is gone");

    let finish = |once: Once| {
        let store = app.app().store.clone();
        async move {
            store
                .tx(move |tx| once.finish(tx, 200, &json!({"placed": true}), None).map(|_| ()))
                .await
                .unwrap()
        }
    };
    finish(once("k", "a", "first")).await;
    assert_eq!(
        reserve(once("k", "a", "third")).await,
        "idempotency_in_progress",
        "who lost its lease cannot answer any more"
    );
    finish(once("k", "a", "second")).await;
    assert_eq!(reserve(once("k", "a", "third")).await, "given 200 {\"placed\":true}");

    assert_eq!(reserve(once("h", "a", "first")).await, "mine");
    let (store, held) = (app.app().store.clone(), once("h", "a", "first"));
    store.tx(move |tx| held.hold(tx)).await.unwrap();
    app.advance(3600).await;
    assert_eq!(
        reserve(once("h", "a", "second")).await,
        "idempotency_in_progress",
        "it may have had an effect"
    );
    assert_eq!(reserve(once("u", "a", "first")).await, "mine");
    let (store, held, until) =
        (app.app().store.clone(), once("u", "a", "first"), app.app().clock.now().plus(60_000));
    let answer = json!({"code": "unknown"});
    store.tx(move |tx| held.hold_until(tx, until, (503, &answer), "con_1")).await.unwrap();
    app.advance(59).await;
    assert_eq!(reserve(once("u", "a", "second")).await, "idempotency_in_progress");
    app.advance(1).await;
    assert_eq!(
        reserve(once("u", "a", "second")).await,
        "given 503 {\"code\":\"unknown\"}",
        "nobody answered it"
    );
    finish(once("u", "a", "first")).await;
    assert_eq!(reserve(once("u", "a", "second")).await, "given 200 {\"placed\":true}", "somebody did, late");
    let (store, freed) = (app.app().store.clone(), once("f", "a", "first"));
    assert_eq!(reserve(once("f", "a", "first")).await, "mine");
    store.tx(move |tx| freed.free(tx)).await.unwrap();
    assert_eq!(reserve(once("f", "b", "second")).await, "mine");
}

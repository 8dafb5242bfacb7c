//! The prepaid wallet (docs/contract/wallet.md).

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::world::World;

async fn entry(app: &TestApp, workspace: &str, kind: &str, amount: i64) -> crate::app::Answer {
    let body = json!({"kind": kind, "amountMinor": amount, "reference": "r"});
    app.operator("POST", &format!("/workspaces/{workspace}/wallet/entries"), &body).await
}

#[tokio::test]
async fn the_ledger_is_the_running_sum() {
    let world = World::bare().await;
    for amount in [500, -200, 1, -7] {
        entry(&world, &world.workspace.id, "adjustment", amount).await.expect(201);
    }
    let wallet = world.get("/v1/wallet").await;
    assert_eq!(
        wallet,
        json!({"data": {"balanceMinor": 1_000_294, "currency": "INR", "costPerMinuteMinor": 600}})
    );
    let page = world.app.get(world.test(), "/v1/wallet/transactions?limit=2&offset=1").await.expect(200);
    let shown: Vec<_> = page["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["amountMinor"].as_i64().unwrap(), row["balanceAfterMinor"].as_i64().unwrap()))
        .collect();
    assert_eq!((shown, page["total"].as_i64()), (vec![(1, 1_000_301), (-200, 1_000_300)], Some(5)));
}

#[tokio::test]
async fn wrong_entries_are_refused() {
    let world = World::bare().await;
    entry(&world, &world.workspace.id, "topup", -5).await.invalid();
    entry(&world, &world.workspace.id, "topup", 0).await.invalid();
    entry(&world, &world.workspace.id, "gift", 5).await.invalid();
    entry(&world, &world.workspace.id, "adjustment", -1_000_001).await.conflict();
    let wallet = world.get("/v1/wallet").await;
    assert_eq!(wallet["data"]["balanceMinor"], 1_000_000);
}

/// The types and payloads in the outbox of a workspace.
async fn outbox(world: &World) -> Vec<Value> {
    let tenant = world.tenant();
    let rows =
        world.app().store.of(tenant).read(move |tx| store::events::list_after(tx, "", 1000)).await.unwrap();
    rows.iter().map(|row| crate::closed::event(row.envelope.as_deref().unwrap())).collect()
}

#[tokio::test]
async fn a_low_wallet_is_told_once_per_level_until_topped_up() {
    let world = World::bare().await;
    let levels = || async {
        outbox(&world)
            .await
            .iter()
            .map(|event| event["data"]["level"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    // 30 minutes at 600 are 18,000.
    entry(&world, &world.workspace.id, "adjustment", -982_000).await.expect(201);
    assert!(levels().await.is_empty());
    entry(&world, &world.workspace.id, "adjustment", -1).await.expect(201);
    entry(&world, &world.workspace.id, "adjustment", -1).await.expect(201);
    assert_eq!(levels().await, ["low"]);
    entry(&world, &world.workspace.id, "adjustment", -17_500).await.expect(201);
    assert_eq!(levels().await, ["low", "exhausted"]);
    entry(&world, &world.workspace.id, "topup", 5_000).await.expect(201);
    entry(&world, &world.workspace.id, "adjustment", -1).await.expect(201);
    assert_eq!(levels().await, ["low", "exhausted", "low"]);
    let first = &outbox(&world).await[0];
    assert_eq!((first["type"].as_str(), first["livemode"].as_bool()), (Some("wallet.low"), Some(true)));
    assert!(first["id"].as_str().unwrap().starts_with("evt_"));
    assert_eq!(
        first["data"],
        json!({"level": "low", "balanceMinor": 17_999, "thresholdMinor": 18_000, "currency": "INR", "costPerMinuteMinor": 600, "estimatedMinutesLeft": 29})
    );
}

/// Random entries from many tasks: the balance is the sum of the accepted ones, every line carries its
/// running sum, and the balance never falls below the limit of refusals.
#[tokio::test(flavor = "multi_thread")]
async fn random_entries_from_many_tasks_add_up() {
    let app = std::sync::Arc::new(TestApp::start().await);
    let made =
        app.operator("POST", "/workspaces", &json!({"name": "Sum", "balanceMinor": 3_000})).await.expect(201);
    let workspace = made["data"]["id"].as_str().unwrap().to_owned();
    let mut runner = TestRunner::default();
    let amounts = proptest::collection::vec(-900i64..900, 240).new_tree(&mut runner).unwrap().current();
    let mut tasks = Vec::new();
    for chunk in amounts.chunks(20) {
        let (app, workspace, chunk) = (app.clone(), workspace.clone(), chunk.to_vec());
        tasks.push(tokio::spawn(async move {
            let mut accepted = 0;
            for amount in chunk.into_iter().filter(|amount| *amount != 0) {
                match entry(&app, &workspace, "adjustment", amount).await {
                    answer if answer.status == 201 => accepted += amount,
                    answer => drop(answer.conflict()),
                }
            }
            accepted
        }));
    }
    let mut sum = 3_000;
    for task in tasks {
        sum += task.await.unwrap();
    }
    let (mut lines, mut offset) = (Vec::new(), 0);
    loop {
        let page = app
            .operator(
                "GET",
                &format!("/workspaces/{workspace}/wallet/entries?limit=100&offset={offset}"),
                &Value::Null,
            )
            .await
            .expect(200);
        let rows = page["data"].as_array().unwrap();
        lines.extend(
            rows.iter().map(|row| {
                (row["amountMinor"].as_i64().unwrap(), row["balanceAfterMinor"].as_i64().unwrap())
            }),
        );
        offset += 100;
        if rows.len() < 100 {
            break;
        }
    }
    lines.reverse();
    let mut running = 0;
    for (amount, after) in &lines {
        running += amount;
        assert_eq!(running, *after, "amounts {amounts:?}");
        assert!(running >= 0, "amounts {amounts:?}");
    }
    assert_eq!(running, sum);
}

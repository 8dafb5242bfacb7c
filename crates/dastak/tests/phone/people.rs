//! People who are brought in over real lines: who may not be rung, how long the bridge lasts, and who pays.

use serde_json::{Value, json};

use super::baresip::Baresip;
use super::kit::{Kit, beside, folder, until};
use super::sounds::speech;

const STAFF: &str = "+918045670002";
const OTHER: &str = "+918045670003";

/// One telephone for the customer and the people; it says little, and stays for two minutes.
fn phones() -> Baresip {
    Baresip::start(
        &["+919812301234", STAFF, OTHER],
        &speech(&folder("speech"), "how can I help you", 9.0, 110.0),
        true,
    )
}

fn flow(numbers: &[&str]) -> Value {
    json!([
        {"id": "t", "type": "transfer", "text": "I will connect you.", "transferNumbers": numbers, "mode": "warm", "onFail": "sorry"},
        {"id": "sorry", "type": "end", "text": "Nobody is free.", "outcome": "nobody"},
    ])
}

/// What calls were charged: reference and amount.
async fn charges(kit: &Kit) -> Vec<(String, i64)> {
    let page = kit.api("GET", "/v1/wallet/transactions?limit=100", &Value::Null).await;
    let rows = page["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["amountMinor"].as_i64().unwrap() < 0 && row["reference"] != "test");
    let mut charges: Vec<(String, i64)> = rows
        .map(|row| (row["reference"].as_str().unwrap().to_owned(), -row["amountMinor"].as_i64().unwrap()))
        .collect();
    charges.sort();
    charges
}

/// A call whose customer talks with the person who was brought in.
async fn bridged(kit: &Kit) -> String {
    let agent = kit.agent("outbound", flow(&[STAFF])).await;
    let webhooks = kit.webhooks().await;
    let id = kit.place(&agent, "1234").await;
    until("the person is there", || {
        webhooks.got().iter().any(|got| got.json()["type"] == "call.transferred")
    })
    .await;
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_rung_who_must_not_be() {
    let _place = beside().await;
    let phones = phones();
    let kit = Kit::with_trunks(&[phones.port]).await;
    kit.operator("POST", "/dnd", &json!({"phones": [STAFF]})).await;
    kit.api("POST", "/v1/dnc", &json!({"phones": [OTHER]})).await;
    let agent = kit.agent("outbound", flow(&[STAFF, OTHER])).await;
    let webhooks = kit.webhooks().await;
    let id = kit.place(&agent, "1234").await;
    let call = kit.ended(&id).await;
    assert_eq!((&call["endCause"], &call["outcome"]), (&json!("agent_ended"), &json!("nobody")), "{call}");
    kit.is_clean().await;
    until("the end is told", || webhooks.got().iter().any(|got| got.json()["type"] == "call.completed"))
        .await;
    assert!(!webhooks.got().iter().any(|got| got.json()["type"] == "call.transferred"));
    until("the file is written", || !phones.heard().is_empty()).await;
    assert_eq!(phones.heard().len(), 1, "one phone rang");
    assert_eq!(charges(&kit).await, [(id.clone(), 600)]);
    let seen: Vec<Value> = kit.api("GET", &format!("/v1/calls/{id}/timeline"), &Value::Null).await["data"]
        .as_array()
        .unwrap()
        .clone();
    let refused: Vec<&Value> =
        seen.iter().filter(|entry| entry["event"] == "transfer").map(|entry| &entry["reason"]).collect();
    assert_eq!(refused, ["dnd", "opt_out"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bridged_call_lasts_no_longer_than_a_call_may() {
    let _place = beside().await;
    let phones = phones();
    let kit = Kit::at_trunk(phones.port, &[("telephony.max_duration", "20")]).await;
    let id = bridged(&kit).await;
    let call = kit.ended(&id).await;
    assert_eq!(call["endCause"], "max_duration", "{call}");
    let seconds = call["durationSeconds"].as_i64().unwrap();
    assert!((20..32).contains(&seconds), "{seconds}");
    kit.is_clean().await;
    assert_eq!(charges(&kit).await, [(id.clone(), 600), (format!("{id}:transfer"), 600)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_ends_a_bridged_call() {
    let _place = beside().await;
    let phones = phones();
    let kit = Kit::with_trunks(&[phones.port]).await;
    let id = bridged(&kit).await;
    let workspace = format!("/workspaces/{}", kit.workspace);
    kit.operator("PATCH", &workspace, &json!({"suspended": true})).await;
    kit.is_clean().await;
    kit.operator("PATCH", &workspace, &json!({"suspended": false})).await;
    let call = kit.ended(&id).await;
    assert_eq!(call["endCause"], "error", "{call}");
    assert_eq!(charges(&kit).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bridged_call_ends_with_the_wallet() {
    let _place = beside().await;
    let phones = phones();
    let kit = Kit::with_trunks(&[phones.port]).await;
    let workspace = format!("/workspaces/{}", kit.workspace);
    // A minute for the call, and one for the person.
    let take = json!({"kind": "adjustment", "amountMinor": 1200 - kit.balance().await, "reference": "test"});
    kit.operator("POST", &format!("{workspace}/wallet/entries"), &take).await;
    let id = bridged(&kit).await;
    let call = kit.ended(&id).await;
    assert_eq!(call["endCause"], "max_duration", "{call}");
    let seconds = call["durationSeconds"].as_i64().unwrap();
    assert!((50..=60).contains(&seconds), "it said goodbye within its last minute: {seconds}");
    kit.is_clean().await;
    assert_eq!(charges(&kit).await, [(id.clone(), 600), (format!("{id}:transfer"), 600)]);
    assert_eq!(kit.balance().await, 0);
    let seen = kit.api("GET", &format!("/v1/calls/{id}/timeline"), &Value::Null).await;
    assert!(
        seen["data"].as_array().unwrap().iter().any(|entry| entry["reason"] == "balance_exhausted"),
        "{seen}"
    );
}

//! Nudges and scheduled calls that end on a telephone.

use std::path::PathBuf;

use domain::time::{SECOND, Timestamp};
use serde_json::{Value, json};

use super::baresip::Baresip;
use super::kit::{Kit, beside, folder, question, text, until};
use super::receiver::Receiver;
use super::server::understood_as;
use super::sipp::{Sipp, answers};
use super::sounds::speech;

use crate::shows::Shows;

/// A callee, and what they answer.
fn callee() -> (Baresip, PathBuf) {
    (Baresip::silent(&["+919812301234"], true), speech(&folder("speech"), "call me later", 0.2, 120.0))
}

/// Events of some kinds, in the order in which they happened.
fn events(webhooks: &Receiver, prefixes: &[&str]) -> Vec<Value> {
    let mut events: Vec<Value> = webhooks.got().iter().map(super::receiver::Got::json).collect();
    events.retain(|event| {
        event["type"].as_str().is_some_and(|kind| prefixes.iter().any(|prefix| kind.starts_with(prefix)))
    });
    // Ids grow with time.
    events.sort_by_key(|event| event["id"].as_str().map(str::to_owned));
    events.dedup_by_key(|event| event["id"].clone());
    events
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["type"].as_str()).collect()
}

/// Waits until an event of each of these kinds has come; deliveries may overtake each other.
async fn until_told(webhooks: &Receiver, wanted: &[&str]) {
    until(&wanted.join(", "), || {
        let told = events(webhooks, &["nudge.", "call."]);
        wanted.iter().all(|kind| kinds(&told).contains(kind))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nudge_is_a_conversation_with_a_result() {
    let _place = beside().await;
    let (phone, answer) = callee();
    let (_server, ears) = understood_as("call me later").await;
    let ears: Vec<_> = ears.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let kit = Kit::at_noon(phone.port, &ears).await;
    let webhooks = kit.webhooks().await;
    let agent = kit.agent("outbound", question()).await;
    let body = json!({"agentId": agent, "toNumber": "+919812301234", "metadata": {"order": "7"}});
    let nudge = kit.api("POST", "/v1/nudges", &body).await["data"].clone();
    let path = format!("/v1/nudges/{}", text(&nudge["id"]));
    let told = until_told(&webhooks, &["nudge.dialing", "nudge.finished", "call.started", "call.completed"]);
    phone.answering(&answer, true, told).await;
    let nudge = kit.api("GET", &path, &Value::Null).await["data"].clone();
    nudge.shows(json!({"status": "finished", "result": "connected", "attempts": 1}));
    let told = events(&webhooks, &["nudge.", "call.started", "call.completed"]);
    let order = |kind: &str| {
        kinds(&told)
            .iter()
            .position(|one| *one == kind)
            .unwrap_or_else(|| panic!("no {kind}: {:?}", kinds(&told)))
    };
    assert!(
        order("nudge.dialing") < order("nudge.finished") && order("call.started") < order("call.completed"),
        "{:?}",
        kinds(&told)
    );
    assert_eq!(told.len(), 4, "each once: {:?}", kinds(&told));
    assert!(told.iter().all(|event| event["livemode"] == json!(true)));
    let finished = &told[order("nudge.finished")]["data"];
    finished.shows(json!({"outcome": "callback_requested", "endCause": "agent_ended"}));
    assert_eq!(finished["extracted"]["when"], "call me later", "{finished}");
    assert_eq!(finished["metadata"], json!({"order": "7"}));
    let call = kit.call(&text(&nudge["callId"])).await;
    assert_eq!(call["outcome"], "callback_requested", "{call}");
    kit.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nudge_that_finds_the_line_busy_waits_for_its_retry() {
    let _place = beside().await;
    let mut busy = Sipp::start(&answers(&[(180, "Ringing", 0), (486, "Busy Here", 100)]));
    let kit = Kit::at_noon(busy.port, &[]).await;
    let webhooks = kit.webhooks().await;
    let agent = kit.agent("outbound", question()).await;
    let body = json!({"agentId": agent, "toNumber": "+919812301234", "retry": {"maxRetries": 1, "delayMinutes": 10}});
    let nudge = kit.api("POST", "/v1/nudges", &body).await["data"].clone();
    until_told(&webhooks, &["nudge.attempt_ended", "call.failed"]).await;
    assert!(busy.succeeded().await, "{}", busy.messages());
    let nudge =
        kit.api("GET", &format!("/v1/nudges/{}", text(&nudge["id"])), &Value::Null).await["data"].clone();
    nudge.shows(json!({"status": "scheduled", "statusReason": "retry", "attempts": 1}));
    assert!(nudge["nextAttemptAt"].is_string(), "{nudge}");
    let told = events(&webhooks, &["nudge.", "call."]);
    let mut told = kinds(&told);
    told.sort_unstable();
    assert_eq!(told, ["call.failed", "nudge.attempt_ended"]);
    kit.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_call_is_placed_when_it_is_due() {
    let _place = beside().await;
    let (phone, answer) = callee();
    let (_server, ears) = understood_as("call me later").await;
    let ears: Vec<_> = ears.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let kit = Kit::at_trunk(phone.port, &ears).await;
    let webhooks = kit.webhooks().await;
    let agent = kit.agent("outbound", question()).await;
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_millis();
    let due = Timestamp(i64::try_from(now).expect("a moment")).plus(2 * SECOND);
    let body = json!({"agentId": agent, "toNumber": "+919812301234", "scheduledAt": due, "metadata": {"order": "8"}});
    let scheduled = text(&kit.api("POST", "/v1/scheduled-calls", &body).await["data"]["id"]);
    phone.answering(&answer, true, until_told(&webhooks, &["call.started", "call.completed"])).await;
    let scheduled =
        kit.api("GET", &format!("/v1/scheduled-calls/{scheduled}"), &Value::Null).await["data"].clone();
    assert_eq!((&scheduled["status"], &scheduled["attempts"]), (&json!("placed"), &json!(1)), "{scheduled}");
    let call = kit.call(&text(&scheduled["callId"])).await;
    call.shows(json!({"outcome": "callback_requested", "endCause": "agent_ended"}));
    assert!(call["startedAt"].as_str() >= scheduled["scheduledAt"].as_str(), "not before its time: {call}");
    let told = events(&webhooks, &["call.started", "call.completed"]);
    assert_eq!(kinds(&told), ["call.started", "call.completed"]);
    assert!(told.iter().all(|event| event["data"]["metadata"] == json!({"order": "8"})), "{told:?}");
    kit.is_clean().await;
}

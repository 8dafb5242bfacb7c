//! Calls over trunks.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::baresip::{Baresip, free_port};
use super::kit::{Kit, alone, beside, folder, question, text, until};
use super::server::understood_as;
use super::sipp::{Sipp, answers};
use super::sounds::{again_and_again, heard, level, samples, speech};

use crate::shows::Shows;

/// A callee, and what they answer.
fn callee(answers: bool) -> (Baresip, PathBuf) {
    (Baresip::silent(&["+919812301234"], answers), speech(&folder("speech"), "call me later", 0.2, 120.0))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_telephone_rings_and_the_agent_talks() {
    let _alone = alone().await;
    let (phone, answer) = callee(true);
    let kit = Kit::with_trunks(&[phone.port]).await;
    let webhooks = kit.webhooks().await;
    let agent = kit.agent("outbound", question()).await;
    let before = kit.balance().await;
    let id = kit.place(&agent, "1234").await;
    let call = phone.answering(&answer, true, kit.ended(&id)).await;
    call.shows(json!({"endCause": "agent_ended", "outcome": "callback_requested"}));
    assert_eq!(call["extracted"]["when"], "call me later", "{call}");
    let said: Vec<&str> = call["transcript"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|turn| turn["role"] == "customer")
        .filter_map(|turn| turn["text"].as_str())
        .collect();
    assert!(said.iter().any(|words| words.contains("call me later")), "{call}");
    assert_eq!(kit.balance().await, before - 600, "one started minute");
    let ledger = kit.api("GET", "/v1/wallet/transactions", &Value::Null).await;
    assert!(
        ledger["data"]
            .as_array()
            .unwrap()
            .iter()
            .any(|entry| entry["kind"] == "call_charge" && entry["reference"] == json!(id)),
        "{ledger}"
    );
    let call = kit.when(&id, "the recording is ready", |call| call["recordingUrl"].is_string()).await;
    let recording = kit.fetch(&text(&call["recordingUrl"])).await;
    assert!(
        heard(&samples(&recording, 0), &["call me later", "right now"]).await.contains("call me later"),
        "the customer is on the left"
    );
    assert!(level(&samples(&recording, 1)) > 50, "the agent is on the right");
    for kind in ["call.started", "transcript.ready", "outcome.captured", "call.completed", "recording.ready"]
    {
        until(kind, || {
            webhooks
                .got()
                .iter()
                .any(|got| got.json()["type"] == kind && got.json()["data"]["callId"] == json!(id))
        })
        .await;
    }
    until("the callee's file is written", || !phone.heard().is_empty()).await;
    let words = heard(
        &samples(&phone.heard()[0], 0),
        &["hello this is asha", "when may i call you", "thank you and goodbye"],
    )
    .await;
    assert!(
        ["asha", "call you", "goodbye"].iter().any(|said| words.contains(said)),
        "the callee heard «{words}»"
    );
    assert!(call["latency"].as_array().is_some_and(|turns| !turns.is_empty()), "{call}");
    kit.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_of_a_carrier_become_ends_of_calls() {
    let _place = beside().await;
    let rows: [(&[(u16, &str, u32)], &str, &str); 5] = [
        (&[(100, "Trying", 0), (180, "Ringing", 0), (486, "Busy Here", 300)], "busy", "busy"),
        (&[(180, "Ringing", 0), (603, "Decline", 300)], "failed", "rejected"),
        (&[(100, "Trying", 0), (404, "Not Found", 100)], "failed", "invalid_number"),
        (&[(180, "Ringing", 0), (480, "Temporarily Unavailable", 300)], "no_answer", "no_answer"),
        (&[(180, "Ringing", 0), (503, "Service Unavailable", 300)], "failed", "sip_503"),
    ];
    let row = async |(script, status, cause): (&[(u16, &str, u32)], &str, &str)| {
        let mut peer = Sipp::start(&answers(script));
        let kit = Kit::with_trunks(&[peer.port]).await;
        let agent = kit.agent("outbound", question()).await;
        let before = kit.balance().await;
        let id = kit.place(&agent, "1234").await;
        let call = kit.ended(&id).await;
        call.shows(json!({"status": status, "endCause": cause, "answered": false}));
        assert!(peer.succeeded().await, "{}", peer.messages());
        assert_eq!(kit.balance().await, before);
        kit.is_clean().await;
    };
    let [a, b, c, d, e] = rows;
    tokio::join!(row(a), row(b), row(c), row(d), row(e));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trunk_that_refuses_before_a_ring_is_followed_by_the_next() {
    let _place = beside().await;
    let mut refuses = Sipp::start(&answers(&[(100, "Trying", 0), (503, "Service Unavailable", 0)]));
    let mut takes = Sipp::start(&answers(&[(180, "Ringing", 0), (486, "Busy Here", 200)]));
    let kit = Kit::with_trunks(&[refuses.port, takes.port]).await;
    let agent = kit.agent("outbound", question()).await;
    let id = kit.place(&agent, "1234").await;
    assert_eq!(kit.ended(&id).await["endCause"], "busy");
    assert!(refuses.succeeded().await && takes.succeeded().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_no_trunk_takes_is_refused_and_one_that_nobody_answers_is_uncertain() {
    let _place = beside().await;
    let mut refuses = Sipp::start(&answers(&[(503, "Service Unavailable", 0)]));
    let kit = Kit::with_trunks(&[refuses.port]).await;
    let agent = kit.agent("outbound", question()).await;
    let (status, answer) = kit.try_place(&agent, "1234").await;
    assert_eq!((status, &answer["code"]), (502, &json!("call_not_placed")), "{answer}");
    assert!(refuses.succeeded().await);
    assert_eq!(kit.api("GET", "/v1/calls", &Value::Null).await["data"], json!([]), "nobody was called");
    // A peer that takes the INVITE and never says a word.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let kit = Kit::with_trunks(&[silent.local_addr().unwrap().port(), free_port()]).await;
    let agent = kit.agent("outbound", question()).await;
    let (status, answer) = kit.try_place(&agent, "1234").await;
    assert_eq!((status, &answer["code"]), (502, &json!("possibly_placed")), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hang_up_reaches_a_phone_that_rings_and_one_that_talks() {
    let _place = beside().await;
    let (phone, _) = callee(false);
    let kit = Kit::with_trunks(&[phone.port]).await;
    let agent = kit.agent("outbound", question()).await;
    let hang_up = async |id: &str| kit.api("POST", &format!("/v1/calls/{id}/hangup"), &Value::Null).await;
    let ringing = kit.place(&agent, "1234").await;
    hang_up(&ringing).await;
    let call = kit.ended(&ringing).await;
    assert_eq!((&call["status"], &call["endCause"]), (&json!("cancelled"), &json!("api_hangup")));
    kit.is_over(&ringing).await;
    kit.is_clean().await;
    let talking = kit.place(&agent, "1234").await;
    phone.command("accept", "");
    kit.when(&talking, "it is answered", |call| call["state"] == "in_progress").await;
    hang_up(&talking).await;
    let call = kit.ended(&talking).await;
    assert_eq!((&call["status"], &call["endCause"]), (&json!("completed"), &json!("api_hangup")));
    kit.is_over(&talking).await;
    kit.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_comes_in_is_answered_by_the_agent() {
    let _alone = alone().await;
    let (phone, answer) = callee(true);
    let kit = Kit::with_trunks(&[phone.port]).await;
    let agent = kit.agent("inbound", question()).await;
    let numbers = kit.api("GET", "/v1/numbers", &Value::Null).await;
    let number = text(&numbers["data"][0]["id"]);
    kit.api("PUT", &format!("/v1/numbers/{number}/inbound-agent"), &json!({"agentId": agent})).await;
    phone.command("dial", &format!("sip:{}@127.0.0.1:{}", kit.number, kit.sip_port()));
    let listed = async || kit.api("GET", "/v1/calls?direction=inbound", &Value::Null).await["data"].clone();
    let started = std::time::Instant::now();
    let id = loop {
        if let Some(id) = listed().await[0]["id"].as_str() {
            break id.to_owned();
        }
        assert!(started.elapsed() < super::kit::PATIENCE, "no call came in");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    let call = phone.answering(&answer, true, kit.ended(&id)).await;
    assert_eq!((&call["toNumber"], &call["answered"]), (&json!(kit.number), &json!(true)), "{call}");
    assert_eq!(call["extracted"]["when"], "call me later", "{call}");
    // To a number that nobody owns.
    phone.command("dial", &format!("sip:+918099999999@127.0.0.1:{}", kit.sip_port()));
    kit.is_clean().await;
    assert_eq!(listed().await.as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_brought_in_beside_the_call() {
    let _alone = alone().await;
    // Customer and person are two numbers of one telephone; both say the same, again and again.
    let says = again_and_again(&speech(&folder("speech"), "how can I help you", 3.0, 2.0), 20);
    let phones = Baresip::start(&["+919812301234", "+918045670002"], &says, true);
    let kit = Kit::with_trunks(&[phones.port]).await;
    let agent = kit
        .agent(
            "outbound",
            json!([
                {"id": "t", "type": "transfer", "text": "I will connect you.", "transferNumbers": ["+918045670002"], "mode": "warm", "onFail": "sorry"},
                {"id": "sorry", "type": "end", "text": "Nobody is free.", "outcome": "nobody"},
            ]),
        )
        .await;
    let webhooks = kit.webhooks().await;
    let id = kit.place(&agent, "1234").await;
    until("the person is there", || {
        webhooks.got().iter().any(|got| got.json()["type"] == "call.transferred")
    })
    .await;
    // In this much sound the words are whole at least once, wherever the join was.
    let joined = [phones.position(0), phones.position(1)];
    until("they have heard each other", || {
        (0..2).all(|call| phones.position(call) >= joined[call] + 14 * 8000)
    })
    .await;
    phones.command("hangup", "");
    let call = kit.ended(&id).await;
    assert_eq!(call["endCause"], "transfer_handoff", "{call}");
    kit.is_clean().await;
    until("the files are written", || phones.heard().len() == 2).await;
    // The customer's call is the first.
    for (who, file, joined) in [("customer", 0, joined[0]), ("person", 1, joined[1])] {
        let sound = samples(&phones.heard()[file], 0);
        let words = heard(&sound[joined..], &["how can I help you", "nobody is free"]).await;
        assert!(words.contains("help you"), "the {who} heard «{words}»");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_lets_calls_end_and_takes_no_new_ones() {
    let _place = beside().await;
    let (phone, answer) = callee(true);
    // The grace is real time, and what is tested is not how long it takes to understand somebody.
    let (_server, ears) = understood_as("call me later").await;
    let ears: Vec<_> = ears.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let kit = Kit::at_trunk(phone.port, &ears).await;
    let agent = kit.agent("outbound", question()).await;
    let id = kit.place(&agent, "1234").await;
    kit.when(&id, "it is answered", |call| call["state"] == "in_progress").await;
    let data = kit.folder.clone();
    assert!(phone.answering(&answer, true, kit.stop()).await, "the call ended within the grace");
    let store = rusqlite::Connection::open(data.join("dastak.db")).unwrap();
    let (status, cause): (String, String) = store
        .query_row("select status, end_cause from calls where id = ?1", [&id], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!((status.as_str(), cause.as_str()), ("completed", "agent_ended"));
}

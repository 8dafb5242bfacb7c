//! The sandbox's phones, over legs within the process.

use serde_json::json;

use super::kit::{Kit, alone, beside, question, text};
use super::server::understood_as;
use super::sounds::{heard, samples};

use crate::shows::Shows;

#[tokio::test(flavor = "multi_thread")]
async fn every_phone_of_the_sandbox_does_what_its_number_says() {
    let _alone = alone().await;
    let kit = Kit::start(&[("telephony.carrier", "sandbox")]).await;
    let agent = kit.agent("outbound", question()).await;
    let row = async |digits: &str, status: &str, cause: &str| {
        let id = kit.place(&agent, digits).await;
        let call = kit.ended(&id).await;
        assert_eq!((&call["status"], &call["endCause"]), (&json!(status), &json!(cause)), "{digits}: {call}");
        call
    };
    let (_, _, _, _, talked) = tokio::join!(
        row("0000", "no_answer", "no_answer"),
        row("1111", "busy", "busy"),
        row("4444", "failed", "rejected"),
        row("5555", "failed", "invalid_number"),
        row("1234", "completed", "agent_ended"),
    );
    kit.is_over(&text(&talked["id"])).await;
    row("8888", "failed", "not_connected").await;
    let (status, answer) = kit.try_place(&agent, "6666").await;
    assert_eq!((status, &answer["code"]), (502, &json!("call_not_placed")), "{answer}");
    let (status, answer) = kit.try_place(&agent, "9999").await;
    assert_eq!((status, &answer["code"]), (502, &json!("possibly_placed")), "{answer}");
    // The call was really held: it has a recording with the agent's voice.
    let id = text(&talked["id"]);
    let call = kit.when(&id, "the recording is ready", |call| call["recordingUrl"].is_string()).await;
    let recording = kit.fetch(&text(&call["recordingUrl"])).await;
    let words = heard(&samples(&recording, 1), &["hello this is asha", "when may i call you"]).await;
    assert!(words.contains("call you") || words.contains("asha"), "the agent said «{words}»");
    kit.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_no_more_calls_is_called_no_more_and_a_hang_up_ends_a_call() {
    let _place = beside().await;
    // The call lasts ten seconds of real time whatever the machine has to do, so what is understood must not
    // take processor time.
    let (_server, ears) = understood_as("Please do not call me again.").await;
    let mut settings = vec![("telephony.carrier", "sandbox")];
    settings.extend(ears.iter().map(|(name, value)| (*name, value.as_str())));
    let kit = Kit::start(&settings).await;
    let agent = kit.agent("outbound", question()).await;
    let opted_out = kit.place(&agent, "7777").await;
    let opted_out = kit.ended(&opted_out).await;
    opted_out.shows(json!({"endCause": "agent_ended", "outcome": "opted_out"}));
    let (status, answer) = kit.try_place(&agent, "7777").await;
    assert_eq!((status, &answer["meta"]["reason"]), (422, &json!("opt_out")), "{answer}");
    for state in ["ringing", "in_progress"] {
        let id = kit.place(&agent, "1234").await;
        kit.when(&id, "it is so far", |call| call["state"] == state).await;
        kit.api("POST", &format!("/v1/calls/{id}/hangup"), &json!(null)).await;
        assert_eq!(kit.ended(&id).await["endCause"], "api_hangup");
        kit.is_over(&id).await;
    }
    kit.is_clean().await;
}

/// With the ears that every installation has: whatever they make of the greeting, a tone follows it.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_of_the_sandbox_is_a_machine() {
    let _alone = alone().await;
    let kit = Kit::start(&[("telephony.carrier", "sandbox")]).await;
    let agent = kit.agent("outbound", question()).await;
    for _ in 0..3 {
        let id = kit.place(&agent, "3333").await;
        let call = kit.ended(&id).await;
        call.shows(json!({"status": "completed", "endCause": "voicemail", "outcome": null}));
        kit.is_over(&id).await;
    }
    kit.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_of_the_sandbox_asks_what_the_metadata_say() {
    let _place = beside().await;
    let asked = "Within how many days can shoes be returned?";
    // The voice of the person is real; what it said must not take processor time to understand.
    let (_server, ears) = understood_as(asked).await;
    let mut settings = vec![("telephony.carrier", "sandbox")];
    settings.extend(ears.iter().map(|(name, value)| (*name, value.as_str())));
    let kit = Kit::start(&settings).await;
    let base = kit.api("POST", "/v1/knowledge-bases", &json!({"name": "Shop"})).await["data"]["id"].clone();
    let path = format!("/v1/knowledge-bases/{}/documents", text(&base));
    let page = "# Returns\nShoes can be returned within 30 days of delivery, with the bill.";
    kit.api("POST", &path, &json!({"text": page})).await;
    let nodes = json!([
        {"id": "talk", "type": "converse", "prompt": "You are Ravi from Acme. Answer questions.", "useKnowledge": true, "exits": []},
    ]);
    let agent = kit.agent("outbound", nodes).await;
    kit.api("PUT", &format!("/v1/agents/{agent}"), &json!({"knowledgeBaseId": base})).await;
    let body = json!({"agentId": agent, "toNumber": "+919812301234", "metadata": {"sandboxQuestion": asked}});
    let (status, placed) = kit.send("POST", "/v1/calls", &kit.key, &body).await;
    assert_eq!(status, 200, "{placed}");
    let call = kit.ended(&text(&placed["interactionId"])).await;
    let turns = call["transcript"].as_array().expect("a transcript");
    let said = |role: &str, words: &str| {
        turns.iter().any(|turn| {
            turn["role"] == role && turn["text"].as_str().is_some_and(|text| text.contains(words))
        })
    };
    assert!(said("customer", "shoes be returned"), "{call}");
    assert!(said("agent", "within 30 days"), "{call}");
    kit.is_clean().await;
}

//! The sandbox's phones over SIP and RTP in one process.

use serde_json::json;

use super::kit::{Kit, alone, question, text};
use super::sounds::{heard, samples};

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
    // Understanding takes processor time; whoever is to be understood within the call's ten seconds has the machine alone.
    let opted_out = row("7777", "completed", "agent_ended").await;
    let (_, _, _, _, _, talked) = tokio::join!(
        row("0000", "no_answer", "no_answer"),
        row("1111", "busy", "busy"),
        row("3333", "completed", "voicemail"),
        row("4444", "failed", "rejected"),
        row("5555", "failed", "invalid_number"),
        row("1234", "completed", "agent_ended"),
    );
    row("8888", "failed", "not_connected").await;
    assert_eq!(opted_out["outcome"], "opted_out", "{opted_out}");
    let (status, answer) = kit.try_place(&agent, "7777").await;
    assert_eq!((status, &answer["meta"]["reason"]), (422, &json!("opt_out")), "{answer}");
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

//! What must not be kept of a call: keyed secrets, and what is redacted; in the transcript and in the recording.

use serde_json::{Value, json};
use voice::Recordings;

use super::fakes::lock;
use super::sounds::english;
use super::{Room, order, transcript};

/// A question whose answer goes to a tool.
fn asks(text: &str, field: Value) -> Value {
    json!([
        {"id": "a", "type": "collect", "text": text, "field": field, "next": "t"},
        {"id": "t", "type": "tool", "toolId": "tool_1", "arguments": {"code": "{{code}}"}, "next": "z"},
        {"id": "z", "type": "end", "text": "Thank you. Goodbye."}])
}

#[tokio::test(start_paused = true)]
async fn keys_that_are_secret_reach_the_tool_and_nothing_else() {
    let room = Room::default();
    *lock(&room.office.tool) = (10, Some(Ok(json!("done"))));
    let field = json!({"key": "code", "label": "PIN", "type": "number", "secret": true});
    let mut phone = room.call(order(asks("Please key your PIN.", field)));
    phone.until_agent_is_silent(400).await;
    phone.press("4321#");
    let held = phone.until_over(20_000).await;
    let tools = lock(&room.office.tools).clone();
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0].1["code"], "4321");
    assert_eq!(
        transcript(&held),
        ["agent: Please key your PIN.", "customer: [secret]", "agent: Thank you. Goodbye."]
    );
    assert_eq!(held.report.extracted["code"], "[secret]");
    assert!(!format!("{:?}", held.report).contains("4321"));
}

#[tokio::test(start_paused = true)]
async fn words_in_place_of_secret_keys_are_not_kept() {
    let room = Room::default();
    room.hears(&["four three two one"]);
    let field = json!({"key": "code", "label": "PIN", "type": "number", "secret": true});
    let mut phone = room.call(order(asks("Please key your PIN.", field)));
    phone.until_agent_is_silent(400).await;
    phone.say(&english("four three two one")).await;
    phone.until_agent_speaks(4000).await;
    let held = phone.hang_up().await;
    assert!(transcript(&held).contains(&"customer: [secret]".to_owned()), "{:?}", transcript(&held));
    assert!(lock(&room.office.tools).is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_otp_is_silence_in_the_recording_and_a_mark_in_the_transcript() {
    let folder =
        std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("otp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (path, unredacted) = (folder.join("call.wav"), folder.join("unredacted.wav"));
    let recorder =
        Recordings::start().expect("a writer").open_unredacted(&unredacted, &path).expect("a file");
    let room = Room::default();
    *lock(&room.office.tool) = (10, Some(Ok(json!("done"))));
    room.hears(&["four eight two nine"]);
    let field = json!({"key": "code", "label": "OTP", "type": "number"});
    let order = voice::Order { redact: true, ..order(asks("Please tell me the OTP.", field)) };
    let mut phone = room.record(order, Some(recorder));
    phone.until_agent_is_silent(400).await;
    let before = phone.customer.len();
    phone.say(&english("four eight two nine")).await;
    let spoken = before..phone.customer.len();
    phone.until_agent_speaks(6000).await;
    phone.until_agent_is_silent(200).await;
    assert!(!path.exists(), "nothing is there before it is redacted");
    let (agent, customer) = (phone.agent.clone(), phone.customer.clone());
    tokio::time::resume();
    let held = phone.hang_up().await;
    assert_eq!(
        transcript(&held),
        ["agent: Please tell me the OTP.", "customer: [otp]", "agent: Thank you. Goodbye."]
    );
    assert_eq!(lock(&room.office.tools)[0].1["code"], "4829", "the flow goes on with it");
    assert_eq!(held.report.extracted["code"], "[otp]");
    let file = held.report.recording.expect("a recording");
    assert!(file.path == path.to_string_lossy() && !unredacted.exists());
    let mut reader = hound::WavReader::open(&path).expect("a WAV file");
    let samples: Vec<i16> = reader.samples::<i16>().map(|sample| sample.expect("a sample")).collect();
    let left: Vec<i16> = samples.iter().step_by(2).copied().collect();
    let right: Vec<i16> = samples.iter().skip(1).step_by(2).copied().collect();
    assert!(customer[spoken.clone()].iter().any(|sample| *sample != 0));
    assert!(left[spoken.clone()].iter().all(|sample| *sample == 0), "the words are silence");
    let long_before = spoken.start.saturating_sub(8 * 900);
    assert!(left[..long_before] == customer[..long_before], "what comes before stays");
    assert!(right == agent[..right.len()], "the agent's side stays");
    std::fs::remove_dir_all(folder).expect("a folder");
}

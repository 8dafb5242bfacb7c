//! What customers say in voice notes (docs/contract/channel-conversations.md#voice-notes). The recogniser is a server that
//! speaks the OpenAI format over a socket; the notes are Opus in Ogg.

use std::f32::consts::TAU;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ogg::{PacketWriteEndInfo, PacketWriter};
use opus_rs::{Application, OpusEncoder};
use providers::settings::Speech;
use serde_json::{Value, json};

use crate::channel_conversations::Room;
use crate::chats::lines;
use crate::receiver::{Behaviour, Receiver};

/// A note of so many seconds, a kilobyte each.
fn note(seconds: u64) -> String {
    let mut head = b"OpusHead\x01\x01".to_vec();
    head.extend([0x38, 0x01, 0x80, 0x3e, 0, 0, 0, 0, 0]);
    let mut encoder = OpusEncoder::new(16_000, 1, Application::Voip).unwrap();
    encoder.bitrate_bps = 8_000;
    let mut writer = PacketWriter::new(Vec::new());
    writer.write_packet(head, 7, PacketWriteEndInfo::EndPage, 0).unwrap();
    writer.write_packet(b"OpusTags\0\0\0\0\0\0\0\0".to_vec(), 7, PacketWriteEndInfo::EndPage, 0).unwrap();
    let packets = seconds * 50;
    for packet in 0..packets {
        let at = |sample: u64| (packet * 320 + sample) as f32 / 16_000.0;
        let tone: Vec<f32> = (0..320).map(|sample| 0.5 * (TAU * 440.0 * at(sample)).sin()).collect();
        let mut bytes = [0; 400];
        let length = encoder.encode(&tone, 320, &mut bytes).unwrap();
        let end = if packet + 1 == packets {
            PacketWriteEndInfo::EndStream
        } else {
            PacketWriteEndInfo::NormalPacket
        };
        writer.write_packet(bytes[..length].to_vec(), 7, end, (packet + 1) * 960).unwrap();
    }
    STANDARD.encode(writer.into_inner())
}

fn voice(data: &str) -> Value {
    json!({"media": {"type": "audio", "mimeType": "audio/ogg; codecs=opus", "data": data, "voice": true}})
}

fn says(words: &str) -> Behaviour {
    let body = json!({"text": words}).to_string();
    Behaviour::Answer(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ))
}

async fn open(ear: &Receiver) -> Room {
    let url = ear.url.clone();
    Room::open_with(move |config| {
        config.providers.to_text = vec![Speech {
            name: "openai".into(),
            base_url: Some(url),
            resident: Some(true),
            timeout: Duration::from_secs(5),
            ..Speech::default()
        }];
    })
    .await
}

/// Waits, in real time, until the file of the customer's note is there; the message.
#[allow(clippy::disallowed_methods, reason = "the time of the process that decodes is real")]
async fn kept(room: &Room) -> Value {
    let mut pace = tokio::time::interval(Duration::from_millis(50));
    for _ in 0..600 {
        pace.tick().await;
        let listed = room.get("/v1/chatapp/messages?limit=10").await;
        let note =
            listed["data"].as_array().unwrap().iter().find(|message| message["media"]["available"] == true);
        if let Some(note) = note {
            return note.clone();
        }
    }
    panic!("the note was never kept");
}

/// Lets time pass until the transcript has so many lines, for two minutes at most; the lines and the seconds that passed.
async fn until(room: &Room, count: usize) -> (Vec<String>, i64) {
    for passed in 0..120 {
        let shown = room.only().await;
        let lines = lines(&shown["messages"]);
        if lines.len() >= count {
            return (lines, passed);
        }
        room.advance(1).await;
    }
    panic!("nobody replied: {}", room.only().await);
}

#[tokio::test]
async fn the_agent_hears_what_is_said_in_a_voice_note() {
    let ear = Receiver::start(says("I pay on Friday")).await;
    let room = open(&ear).await;
    room.customer(voice(&note(2))).await;
    assert_eq!(kept(&room).await["text"], "I pay on Friday");
    let (lines, _) = until(&room, 2).await;
    assert_eq!(lines[0], "user: [voice note] I pay on Friday");
    assert_eq!(lines[1], "agent: You said: [voice note] I pay on Friday");
    assert!(room.model.shown().contains(&"user: [voice note] I pay on Friday".to_owned()));
    let asked = ear.got();
    assert_eq!(asked.len(), 1, "two seconds are one turn");
    assert!(asked[0].head.starts_with("POST /hook/audio/transcriptions "), "{}", asked[0].head);
}

#[tokio::test]
async fn a_long_voice_note_is_heard_in_parts() {
    let ear = Receiver::start(says("blah")).await;
    let room = open(&ear).await;
    room.customer(voice(&note(30))).await;
    kept(&room).await;
    assert_eq!(until(&room, 2).await.0[0], "user: [voice note] blah blah");
}

#[tokio::test]
async fn a_reply_waits_a_minute_for_a_recogniser_that_is_silent() {
    let ear = Receiver::start(Behaviour::Hang).await;
    let room = open(&ear).await;
    room.customer(voice(&note(1))).await;
    room.writes("Hello?").await;
    let (lines, passed) = until(&room, 3).await;
    assert_eq!(lines[..2], ["user: [voice note]", "user: Hello?"]);
    assert!((3..=61).contains(&passed), "{passed}");
}

#[tokio::test]
async fn a_note_that_cannot_be_made_out_is_replied_to_at_once() {
    let ear = Receiver::start(says("never asked")).await;
    let room = open(&ear).await;
    room.customer(voice(&STANDARD.encode("no sound at all"))).await;
    kept(&room).await;
    let (lines, passed) = until(&room, 2).await;
    assert_eq!(lines[0], "user: [voice note]");
    assert!(passed < 30, "{passed}");
    assert!(ear.got().is_empty());
}

#[tokio::test]
async fn a_recogniser_that_fails_leaves_the_note_without_words() {
    let ear = Receiver::start(Behaviour::status(500)).await;
    let room = open(&ear).await;
    room.customer(voice(&note(1))).await;
    assert_eq!(kept(&room).await["text"], Value::Null);
    let (lines, passed) = until(&room, 2).await;
    assert_eq!(lines[..2], ["user: [voice note]", "agent: You said: [voice note]"]);
    assert!(passed < 30, "{passed}");
    assert!(!ear.got().is_empty(), "it was asked");
}

#[tokio::test]
async fn a_note_of_another_type_is_kept_and_not_made_out() {
    let ear = Receiver::start(says("never asked")).await;
    let room = open(&ear).await;
    let data = STANDARD.encode(b"ID3\x04\0\0\0\0\0\0\xff\xfb\x90\0");
    let media = json!({"type": "audio", "mimeType": "audio/mpeg", "data": data, "voice": true});
    room.customer(json!({"media": media})).await;
    let kept = kept(&room).await;
    assert_eq!((&kept["text"], &kept["media"]["mimeType"]), (&Value::Null, &json!("audio/mpeg")));
    assert_eq!(until(&room, 2).await.0[0], "user: [voice note]");
    assert!(ear.got().is_empty());
}

#[tokio::test]
async fn what_was_said_goes_with_the_person() {
    let ear = Receiver::start(says("My secret is seven")).await;
    let room = open(&ear).await;
    room.customer(voice(&note(1))).await;
    assert_eq!(kept(&room).await["text"], "My secret is seven");
    until(&room, 2).await;
    let listed = room.get("/v1/contacts").await;
    let contact = listed["data"][0]["id"].as_str().unwrap().to_owned();
    room.erase(&contact).await.expect(200);
    room.advance(60).await;
    for path in ["/v1/chatapp/messages?limit=10", "/v1/chatapp/conversations"] {
        let listed = room.get(path).await.to_string();
        assert!(!listed.contains("secret is seven"), "{path}: {listed}");
    }
}

//! A process is killed while it records a call over SIP: what the bucket has becomes the recording, on another
//! node or on the same one after its restart.

use serde_json::{Value, json};

use crate::bucket::{ACCESS_KEY, Bucket, REGION, SECRET};
use crate::exchange::Exchange;
use crate::node::{Folder, Node, fresh_database, on_postgres};
use crate::phone_calls::{Office, serve};

/// Bytes of a piece: about sixteen seconds of sound.
const PIECE: usize = 512 * 1024;

async fn pass(node: &Node, seconds: i64) {
    let body = json!({"advanceSeconds": seconds});
    let (status, _, answer) =
        node.client.send("POST", "/dev/clock", "", &[], &body).await.expect("the node answers");
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_survives_the_node_that_made_it() {
    let (folder, other) = (Folder::new(), Folder::new());
    let (exchange, bucket) = (Exchange::start().await, Bucket::start().await);
    exchange.stay_quiet();
    let database = if on_postgres() { Some(fresh_database().await) } else { None };
    let mut more = vec![
        ("DASTAK_STORAGE__KIND", "s3"),
        ("DASTAK_STORAGE__ENDPOINT", bucket.url.as_str()),
        ("DASTAK_STORAGE__REGION", REGION),
        ("DASTAK_STORAGE__BUCKET", "bucket"),
        ("DASTAK_STORAGE__ACCESS_KEY", ACCESS_KEY),
        ("DASTAK_STORAGE__SECRET_KEY", SECRET),
        ("DASTAK_TELEPHONY__SILENCE_PROMPT", "60"),
    ];
    more.extend(database.iter().map(|url| ("DASTAK_DATABASE_URL", url.as_str())));
    let node = serve(&folder.0, &exchange, &more);
    let office = Office::open(&node.client).await;
    let id = office.place("+919812300014").await;
    office.talks(&id).await;
    bucket.until("a piece arrives while they talk", |bucket| bucket.keys().len() == 1).await;
    let call = office.get(&format!("/v1/calls/{id}")).await;
    assert_eq!((&call["state"], &call["recordingUrl"]), (&json!("in_progress"), &Value::Null), "{call}");
    node.kill();

    // The other one cannot see the disk of the dead node. Its clock is moved, so that nobody waits for leases.
    let here = if on_postgres() { &other.0 } else { &folder.0 };
    more.extend([("DASTAK_CLOCK", "manual"), ("DASTAK_TELEPHONY__CARRIER", "none")]);
    let node = serve(here, &exchange, &more);
    let office = office.at(&node);
    for _ in 0..20 {
        pass(&node, 60).await;
    }
    let call = office.ended(&id).await;
    assert_eq!(call["endCause"], "error", "{call}");
    let ready = |call: &Value| !call["recordingUrl"].is_null();
    office.until(&format!("/v1/calls/{id}"), "the recording is there", ready).await;
    let is_recording = |key: &String| key.starts_with("recordings/");
    bucket.until("nothing else is left", |bucket| bucket.keys().iter().all(is_recording)).await;
    let keys = bucket.keys();
    assert_eq!(keys.len(), 1, "{keys:?}");
    let sound = bucket.object(&keys[0]).expect("an object").body;
    assert_eq!((&sound[..4], &sound[8..12]), (&b"RIFF"[..], &b"WAVE"[..]));
    let told = u32::from_le_bytes(sound[40..44].try_into().expect("four bytes")) as usize;
    assert_eq!(told, sound.len() - 44, "the beginning tells the true length");
    if on_postgres() {
        assert_eq!(sound.len() % PIECE, 0, "what the bucket had");
    } else {
        assert!(sound.len() > PIECE, "what the file has");
    }
}

//! Nodes on an engine that has no notifications.

use serde_json::{Value, json};

use crate::meddler::{Meddler, meddled};
use crate::node::{Folder, Node, fresh_database, needs_postgres};
use crate::nodes::MASTER_KEY;
use crate::receiver::Receiver;

#[tokio::test(flavor = "multi_thread")]
async fn nodes_that_poll_need_no_notifications_on_postgres() {
    needs_postgres();
    let deaf = meddled(&fresh_database().await, Meddler::Deaf).await;
    let environment = [
        ("DASTAK_DATABASE_URL", deaf.as_str()),
        ("DASTAK_DATABASE_WAKE", "poll"),
        ("DASTAK_MASTER_KEY", MASTER_KEY),
        ("DASTAK_WEBHOOKS__ALLOW_INSECURE", "true"),
    ];
    let folders = [Folder::new(), Folder::new()];
    let (one, other) = (Node::start(&folders[0].0, &environment), Node::start(&folders[1].0, &environment));
    let (_, key) = one.client.workspace().await;
    let receiver = Receiver::ok().await;
    let hook = json!({"url": receiver.url});
    let (status, _, made) =
        one.client.send("POST", "/v1/webhooks", &key, &[], &hook).await.expect("an answer");
    assert_eq!(status, 201, "{made}");
    // A reader at one node hears of what happens at the other, and so does the receiver.
    let listening = {
        let (client, key) = (one.client.clone(), key.clone());
        tokio::spawn(async move {
            let path = "/v1/events?after=start&wait=25";
            client.send("GET", path, &key, &[], &Value::Null).await.expect("an answer")
        })
    };
    let sample = json!({"type": "call.started"});
    let (status, _, sent) =
        other.client.send("POST", "/v1/events/trigger", &key, &[], &sample).await.expect("an answer");
    assert_eq!(status, 202, "{sent}");
    receiver.wait_for(1).await;
    let (status, _, heard) = listening.await.expect("a reader");
    assert_eq!((status, heard["data"][0]["type"].as_str()), (200, Some("call.started")), "{heard}");
}

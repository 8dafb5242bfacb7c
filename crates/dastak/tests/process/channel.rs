//! SIGKILL in the middle of a burst on the messaging channel (docs/contract/channel-messages.md).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::crash::next;
use crate::dialler::{clock, noon, post};
use crate::fakes::cloud::{self, NUMBER, NUMBER_ID};
use crate::fakes::{Fake, Reply};
use crate::node::{Answer, Client, Folder, Node, fresh_database, on_postgres};
use crate::nodes::MASTER_KEY;

/// People of the campaign, and single messages in each round; everybody has a number of their own.
const PEOPLE: u64 = 60;
const SINGLE: u64 = 30;
const ROUNDS: u64 = 4;

/// Connects the account of the fake and brings its template in; a key and the template.
async fn furnish(client: &Client, fake: &Fake<cloud::Cloud>) -> (String, Value) {
    let (workspace, key) = client.workspace().await;
    let path = format!("/workspaces/{workspace}/chatapp");
    let made = client.operator("PUT", &format!("{path}/connection"), &cloud::credentials()).await;
    assert_eq!(made.0, 200, "{}", made.2);
    let number = json!({"phoneNumberId": NUMBER_ID, "number": NUMBER});
    let bound = client.operator("POST", &format!("{path}/numbers"), &number).await;
    assert_eq!(bound.0, 201, "{}", bound.2);
    fake.system.put_template(
        json!({"id": "7701", "name": "due", "language": "en", "category": "UTILITY", "status": "APPROVED",
            "components": [{"type": "BODY", "text": "Hi {{1}}, it is due."}]}),
    );
    post(client, &key, "/v1/chatapp/templates/sync", "sync", &Value::Null).await;
    let (_, _, listed) =
        client.send("GET", "/v1/chatapp/templates", &key, &[], &Value::Null).await.expect("the node answers");
    (key, listed["data"][0]["id"].clone())
}

/// A campaign that runs; its path.
async fn campaign(client: &Client, key: &str, template: &Value) -> String {
    let body = json!({"name": "Dues", "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
        "chatapp": {"templateId": template, "ratePerMinute": 600,
            "paramMapping": {"body.1": {"source": "static", "value": "Asha"}}}});
    let made = post(client, key, "/v1/campaigns", "campaign", &body).await;
    let path = format!("/v1/campaigns/{}", made["id"].as_str().expect("an id"));
    let rows: Vec<Value> = (0..PEOPLE).map(|n| json!({"phone": format!("98123456{n:02}")})).collect();
    post(client, key, &format!("{path}/contacts"), "list", &json!({"contacts": rows})).await;
    post(client, key, &format!("{path}/status"), "go", &json!({"status": "active"})).await;
    path
}

/// Sends a single message, as its number says.
async fn single(client: &Client, key: &str, n: u64) -> Option<Answer> {
    let body = json!({"to": format!("+9198133{n:05}"),
        "template": {"name": "due", "language": "en", "params": {"body": ["Asha"]}}});
    let once = format!("single-{n}");
    client.send("POST", "/v1/chatapp/messages", key, &[("idempotency-key", &once)], &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_sender_sends_nobody_twice() {
    let mut seed = std::env::var("CRASH_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(u64::from(std::process::id()));
    println!("CRASH_SEED={seed}");
    let fake = cloud::alone().await;
    let folder = Folder::new();
    let url = if on_postgres() { Some(fresh_database().await) } else { None };
    let mut environment =
        vec![("DASTAK_CLOCK", "manual"), ("DASTAK_CHATAPP__CLOUD__BASE_URL", fake.url.as_str())];
    environment.extend(url.iter().map(|url| ("DASTAK_DATABASE_URL", url.as_str())));
    let mut node = Node::start(&folder.0, &environment);
    let now = Arc::new(Mutex::new(noon()));
    clock(&node.client, &json!({"set": *now.lock().unwrap()})).await.expect("a clock");
    let (key, template) = furnish(&node.client, &fake).await;
    let path = campaign(&node.client, &key, &template).await;

    let told: Arc<Mutex<BTreeMap<u64, (u16, Value)>>> = Arc::default();
    for round in 0..ROUNDS {
        let seen = fake.count("/messages");
        // Carried out, and the answer lost.
        fake.fail("/messages", 1, Reply::Lost);
        let mut tasks = Vec::new();
        for n in round * SINGLE..(round + 1) * SINGLE {
            let (client, key, told) = (node.client.clone(), key.clone(), told.clone());
            tasks.push(tokio::spawn(async move {
                if let Some((status, _, body)) = single(&client, &key, n).await {
                    told.lock().unwrap().insert(n, (status, body));
                }
            }));
        }
        let (client, at) = (node.client.clone(), now.clone());
        tasks.push(tokio::spawn(async move {
            while let Some(moved) = clock(&client, &json!({"advanceSeconds": 1})).await {
                *at.lock().unwrap() = moved;
            }
        }));
        let enough = 1 + next(&mut seed) % (SINGLE / 2);
        fake.wait_for("/messages", seen + usize::try_from(enough).unwrap()).await;
        node.kill();
        for task in tasks {
            task.await.unwrap();
        }
        node = Node::start(&folder.0, &environment);
        let at = now.lock().unwrap().clone();
        clock(&node.client, &json!({"set": at})).await.expect("a clock");
    }
    // Longer than any lease.
    for _ in 0..40 {
        clock(&node.client, &json!({"advanceSeconds": 10})).await.expect("a clock");
    }

    let told = told.lock().unwrap().clone();
    let mut messages = BTreeMap::new();
    for n in 0..ROUNDS * SINGLE {
        let (status, headers, body) = single(&node.client, &key, n).await.expect("an answer");
        assert!(matches!(status, 201 | 503), "single-{n} is stuck: {status} {body}");
        if let Some((first, answer)) = told.get(&n).filter(|(status, _)| *status == 201) {
            assert!(headers.contains_key("idempotent-replayed"), "single-{n} was acknowledged");
            assert_eq!((status, &body["data"]["messageId"]), (*first, &answer["data"]["messageId"]));
        }
        let id =
            [&body["data"]["messageId"], &body["meta"]["messageId"]].into_iter().find(|id| id.is_string());
        let id = id.unwrap_or_else(|| panic!("single-{n} names no message: {body}")).clone();
        messages.insert(format!("9198133{n:05}"), id.as_str().unwrap().to_owned());
    }
    for _ in 0..20 {
        clock(&node.client, &json!({"advanceSeconds": 10})).await.expect("a clock");
    }
    let mut reached: BTreeMap<String, usize> = BTreeMap::new();
    for body in fake.system.sent() {
        let to = body["to"].as_str().expect("a number").trim_start_matches('+').to_owned();
        *reached.entry(to).or_default() += 1;
    }
    assert_eq!(reached.iter().find(|(_, times)| **times > 1), None, "somebody got it twice");
    for (to, id) in &messages {
        let (_, _, message) = node
            .client
            .send("GET", &format!("/v1/chatapp/messages/{id}"), &key, &[], &Value::Null)
            .await
            .expect("an answer");
        match message["data"]["status"].as_str() {
            Some("sent") => assert!(reached.contains_key(to), "{to} is said to have it: {message}"),
            Some("delivery_unknown") => {}
            _ => panic!("{message}"),
        }
    }
    let (_, _, campaign) =
        node.client.send("GET", &path, &key, &[], &Value::Null).await.expect("the node answers");
    let (status, stats) = (&campaign["data"]["status"], &campaign["data"]["chatapp"]["stats"]);
    assert_eq!((status, &stats["pending"], &stats["failed"]), (&json!("completed"), &json!(0), &json!(0)));
    let of = |name: &str| stats[name].as_u64().expect("a count");
    assert_eq!(of("sent") + of("deliveryUnknown"), PEOPLE, "{stats}");
    let got = reached.keys().filter(|to| to.starts_with("9198123456")).count() as u64;
    assert!((of("sent")..=PEOPLE).contains(&got), "{got} people got it: {stats}");
}

/// Two nodes share the singles of a burst and a campaign.
#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_send_everybody_one_message_on_postgres() {
    crate::node::needs_postgres();
    let fake = cloud::alone().await;
    let (first, second) = (Folder::new(), Folder::new());
    let url = fresh_database().await;
    let environment = [
        ("DASTAK_INTEGRATIONS__ALLOW_INSECURE", "true"),
        ("DASTAK_CHATAPP__CLOUD__BASE_URL", fake.url.as_str()),
        ("DASTAK_DATABASE_URL", url.as_str()),
        ("DASTAK_MASTER_KEY", MASTER_KEY),
    ];
    let nodes = [Node::start(&first.0, &environment), Node::start(&second.0, &environment)];
    let (key, template) = furnish(&nodes[0].client, &fake).await;
    let path = campaign(&nodes[0].client, &key, &template).await;
    let mut tasks = Vec::new();
    for n in 0..2 * SINGLE {
        // Both nodes get each request at once: one of them sends, the other says that it runs or gives the first answer again.
        for node in &nodes {
            let (client, key) = (node.client.clone(), key.clone());
            tasks.push(tokio::spawn(async move { single(&client, &key, n).await.expect("an answer") }));
        }
    }
    for task in tasks {
        let (status, _, body) = task.await.unwrap();
        assert!(matches!(status, 201 | 409), "{status} {body}");
    }
    let completed = |answer: &Option<Answer>| {
        answer.as_ref().is_some_and(|(.., campaign)| campaign["data"]["status"] == "completed")
    };
    let (.., campaign) =
        nodes[1].client.until_as(&key, "GET", &path, completed).await.expect("the node answers");
    let stats = &campaign["data"]["chatapp"]["stats"];
    assert_eq!((&stats["sent"], &stats["deliveryUnknown"]), (&json!(PEOPLE), &json!(0)), "{stats}");
    let count = usize::try_from(PEOPLE + 2 * SINGLE).unwrap();
    fake.wait_for("/messages", count).await;
    let mut people: Vec<String> =
        fake.system.sent().iter().map(|body| body["to"].as_str().expect("a number").to_owned()).collect();
    assert_eq!(people.len(), count);
    people.sort();
    people.dedup();
    assert_eq!(people.len(), count, "somebody got it twice");
}

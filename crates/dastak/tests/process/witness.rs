//! A node that is killed remembers how far each chain of the decision log had come, and knows an older state
//! of its database.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::node::{Client, Folder, Node, fresh_database, on_postgres};
use crate::shows::Shows;

/// Makes a record of the chain `consent`.
async fn opt_out(client: &Client, key: &str, number: u32) {
    let body =
        json!({"externalRef": format!("r{number}"), "phone": format!("98123456{number:02}"), "optOut": true});
    let made = client.send("POST", "/v1/contacts", key, &[], &body).await.unwrap();
    assert_eq!(made.0, 201, "{}", made.2);
}

/// Runs statements as an attacker who has the database and nothing else.
async fn steal(folder: &Path, url: Option<&str>, sql: &str) {
    match url {
        None => rusqlite::Connection::open(folder.join("dastak.db")).unwrap().execute_batch(sql).unwrap(),
        Some(url) => {
            let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(sql).await.unwrap();
        }
    }
}

/// Waits until the file in the data folder has this mark.
async fn witnessed(folder: &Path, mark: &str) {
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    for _ in 0..3000 {
        if std::fs::read_to_string(folder.join("log-marks")).is_ok_and(|text| text.contains(mark)) {
            return;
        }
        pace.tick().await;
    }
    panic!("the mark was never kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_node_knows_an_older_state_of_its_log() {
    let folder = Folder::new();
    let url = if on_postgres() { Some(fresh_database().await) } else { None };
    let environment: Vec<(&str, &str)> =
        url.iter().map(|url| ("DASTAK_DATABASE_URL", url.as_str())).collect();
    let node = Node::start(&folder.0, &environment);
    let (workspace, key) = node.client.workspace().await;
    let (other, other_key) = node.client.workspace().await;
    for number in 0..3 {
        opt_out(&node.client, &key, number).await;
    }
    opt_out(&node.client, &other_key, 9).await;
    witnessed(&folder.0, &format!("{workspace} consent 0 3 ")).await;
    steal(&folder.0, url.as_deref(), "create table stolen_heads as select * from decision_log_heads").await;
    for number in 3..5 {
        opt_out(&node.client, &key, number).await;
    }
    witnessed(&folder.0, &format!("{workspace} consent 0 5 ")).await;
    witnessed(&folder.0, &format!("{other} consent 0 1 ")).await;
    node.kill();
    let theft = format!(
        "delete from decision_log where workspace = '{workspace}' and seq > (select h.seq from stolen_heads h \
         where h.workspace = decision_log.workspace and h.chain = decision_log.chain); delete from decision_log_heads where workspace = '{workspace}'; \
         insert into decision_log_heads select * from stolen_heads where workspace = '{workspace}'; \
         delete from decision_log where workspace = '{other}'; delete from decision_log_heads where workspace = '{other}'"
    );
    steal(&folder.0, url.as_deref(), &theft).await;
    let node = Node::start(&folder.0, &environment);
    for (key, at) in [(&key, 4), (&other_key, 1)] {
        let found = node.client.send("GET", "/v1/audit/verify", key, &[], &Value::Null).await.unwrap().2;
        found["data"].shows(json!({"verified": false, "chains[2].brokenAt": at}));
    }
    // A second node without that memory cannot tell; that is what the docs say of it.
    if url.is_some() {
        let stranger = Folder::new();
        std::fs::copy(folder.0.join("master.key"), stranger.0.join("master.key")).unwrap();
        let second = Node::start(&stranger.0, &environment);
        let found = second.client.send("GET", "/v1/audit/verify", &key, &[], &Value::Null).await.unwrap().2;
        assert_eq!(found["data"]["verified"], true, "{found}");
    }
}

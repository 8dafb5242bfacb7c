//! Trunks that answer and trunks that do not, as an operator sees them.

use std::process::Command;

use serde_json::{Value, json};

use crate::exchange::Exchange;
use crate::node::{BINARY, Folder, Node, needs_sqlite};

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_and_readiness_tell_which_trunks_answer_on_sqlite() {
    needs_sqlite();
    let (folder, exchange) = (Folder::new(), Exchange::start().await);
    // A port that reads everything and never answers.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let trunk = |name: &str, port: u16| {
        format!("{{name = \"{name}\", address = \"127.0.0.1:{port}\", options_interval = 1}}")
    };
    let (good, bad) =
        (trunk("good", exchange.port), trunk("bad", silent.local_addr().expect("an address").port()));
    let doctor = |trunks: &str| {
        let mut command = Command::new(BINARY);
        command.args(["doctor", "--json", "--data"]).arg(&folder.0);
        command.envs([
            ("DASTAK_TELEPHONY__CARRIER", "sip"),
            ("DASTAK_TELEPHONY__SIP__LISTEN", "127.0.0.1:0"),
            ("DASTAK_TELEPHONY__SIP__TRUNKS", trunks),
        ]);
        let asked = tokio::task::spawn_blocking(move || command.output().expect("the binary starts"));
        async move {
            let output = asked.await.expect("an answer");
            let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
            (output.status.success(), said)
        }
    };
    let verdict = |said: &Value, name: &str| {
        let component = said["components"]
            .as_array()
            .and_then(|all| all.iter().find(|component| component["component"] == name))
            .cloned();
        component.unwrap_or_else(|| panic!("no {name}: {said}"))
    };
    let both = format!("[{good}, {bad}]");
    let (alone, together) = (format!("[{good}]"), both.clone());
    let ((fine, one), (ill, two)) = tokio::join!(doctor(&alone), doctor(&together));
    assert_eq!(
        (fine, &one["ok"], &verdict(&one, "trunk good")["ok"]),
        (true, &json!(true), &json!(true)),
        "{one}"
    );
    assert_eq!(
        (ill, &two["ok"], &verdict(&two, "trunk good")["ok"]),
        (false, &json!(false), &json!(true)),
        "{two}"
    );
    let told = verdict(&two, "trunk bad");
    assert_eq!(told["ok"], json!(false));
    assert!(told["detail"].as_str().is_some_and(|why| !why.is_empty()), "{told}");

    let environment = [
        ("DASTAK_TELEPHONY__CARRIER", "sip"),
        ("DASTAK_TELEPHONY__SIP__LISTEN", "127.0.0.1:0"),
        ("DASTAK_TELEPHONY__SIP__TRUNKS", both.as_str()),
    ];
    let node = Node::start(&folder.0, &environment);
    let known = |answer: &Value| {
        answer["trunks"] == json!([{"name": "good", "healthy": true}, {"name": "bad", "healthy": false}])
    };
    let answer = node
        .client
        .until("GET", "/readyz", |answer| answer.as_ref().is_some_and(|(_, _, said)| known(said)))
        .await;
    // A trunk that is down does not make the node unready.
    assert_eq!(answer.map(|(status, ..)| status), Some(200));
}

//! Several carriers: a number's calls go out on its own, and calls that come in are attributed to theirs.

use serde_json::{Value, json};

use super::baresip::{Baresip, free_port};
use super::carrier::{Call, received, socket};
use super::kit::{Kit, beside, folder, question, text, until};
use super::sipp::{Sipp, answers};
use super::sounds::speech;

/// A trunk of a carrier at this port of this machine.
fn trunk(name: &str, carrier: &str, port: u16) -> String {
    format!(
        "{{name = \"{name}\", carrier = \"{carrier}\", address = \"127.0.0.1:{port}\", options_interval = 0}}"
    )
}

async fn with(trunks: &[String]) -> Kit {
    let trunks = format!("[{}]", trunks.join(", "));
    Kit::start(&[("telephony.carrier", "sip"), ("telephony.sip.trunks", &trunks)]).await
}

/// Assigns a second number on this carrier; its id.
async fn number(kit: &Kit, digits: &str, carrier: &Value) -> String {
    let path = format!("/workspaces/{}/numbers", kit.workspace);
    let body = json!({"number": digits, "carrier": carrier});
    let made = kit.operator("POST", &path, &body).await["data"].clone();
    assert_eq!(&made["carrier"], carrier, "{made}");
    text(&made["id"])
}

/// Places a call from a number: the status, and the answer.
async fn place(kit: &Kit, agent: &str, from: &str) -> (u16, Value) {
    let body = json!({"agentId": agent, "toNumber": "+919812301234", "fromNumber": from});
    kit.send("POST", "/v1/calls", &kit.key, &body).await
}

const OTHER: &str = "+918045670009";

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_two_numbers_go_out_on_the_carrier_of_each() {
    let _place = beside().await;
    let busy = || answers(&[(180, "Ringing", 0), (486, "Busy Here", 100)]);
    let (mut one, mut other) = (Sipp::start(&busy()), Sipp::start(&busy()));
    let kit = with(&[trunk("a", "one", one.port), trunk("b", "other", other.port)]).await;
    let agent = kit.agent("outbound", question()).await;
    number(&kit, OTHER, &json!("other")).await;
    let calls = [place(&kit, &agent, &kit.number).await, place(&kit, &agent, OTHER).await];
    for ((status, answer), carrier) in calls.iter().zip([Value::Null, json!("other")]) {
        assert_eq!(*status, 200, "{answer}");
        let call = kit.ended(&text(&answer["interactionId"])).await;
        assert_eq!((&call["endCause"], &call["carrier"]), (&json!("busy"), &carrier), "{call}");
    }
    assert!(one.succeeded().await && other.succeeded().await, "{} {}", one.messages(), other.messages());
    for (messages, shown, hidden) in
        [(one.messages(), &*kit.number, OTHER), (other.messages(), OTHER, &*kit.number)]
    {
        assert!(messages.contains(shown) && !messages.contains(hidden), "{messages}");
    }
    kit.is_clean().await;
}

/// No call of a number goes out on another carrier when its own is dead, and the other one goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_dead_carrier_takes_no_other_along() {
    let _place = beside().await;
    let mut alive = Sipp::start(&answers(&[(180, "Ringing", 0), (486, "Busy Here", 100)]));
    // Two trunks of the dead carrier: the second one is tried when the first one refuses.
    let dead = [free_port(), free_port()].map(|port| {
        format!("{{name = \"dead{port}\", carrier = \"dead\", address = \"127.0.0.1:{port}\", transport = \"tcp\", options_interval = 0}}")
    });
    let [first, second] = dead;
    let kit = with(&[first, second, trunk("alive", "alive", alive.port)]).await;
    let agent = kit.agent("outbound", question()).await;
    let id = number(&kit, OTHER, &json!("alive")).await;
    let (status, answer) = place(&kit, &agent, &kit.number).await;
    assert_eq!((status, &answer["code"]), (502, &json!("call_not_placed")), "{answer}");
    assert_eq!(alive.messages(), "", "the other carrier was not asked");
    let (status, answer) = place(&kit, &agent, OTHER).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(kit.ended(&text(&answer["interactionId"])).await["endCause"], "busy");
    assert!(alive.succeeded().await, "{}", alive.messages());

    // Of the first carrier again, which is dead.
    let path = format!("/workspaces/{}/numbers/{id}", kit.workspace);
    assert_eq!(kit.operator("PATCH", &path, &json!({"carrier": null})).await["data"]["carrier"], Value::Null);
    let (status, answer) = place(&kit, &agent, OTHER).await;
    assert_eq!((status, &answer["code"]), (502, &json!("call_not_placed")), "{answer}");
    kit.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_comes_in_says_its_carrier() {
    let _place = beside().await;
    let (one, other, sound) = (socket(1).await, socket(2).await, socket(9).await);
    let port = |socket: &tokio::net::UdpSocket| socket.local_addr().expect("an address");
    let at = |name: &str, socket: &tokio::net::UdpSocket| {
        format!(
            "{{name = \"{name}\", carrier = \"{name}\", address = \"{}\", options_interval = 0}}",
            port(socket)
        )
    };
    let kit = with(&[at("one", &one), at("other", &other)]).await;
    let agent = kit.agent("inbound", question()).await;
    let number = text(&kit.api("GET", "/v1/numbers", &Value::Null).await["data"][0]["id"]);
    kit.api("PUT", &format!("/v1/numbers/{number}/inbound-agent"), &json!({"agentId": agent})).await;
    for (name, from) in [("one", &one), ("other", &other)] {
        let phone = std::net::SocketAddr::from(([127, 0, 0, 1], kit.sip_port()));
        let mut call = Call::new(name, phone, port(from), port(&sound));
        call.to.clone_from(&kit.number);
        call.from = format!("<sip:+91981230000{}@carrier>", name.len());
        assert!(call.ask(from, "").await.starts_with("SIP/2.0 200"));
        call.acknowledge(from).await;
        let listed = kit.api("GET", "/v1/calls?direction=inbound", &Value::Null).await["data"].clone();
        let id = text(&listed[0]["id"]);
        assert_eq!(kit.call(&id).await["carrier"], name, "{listed}");
        let bye = call.next("BYE", "");
        from.send_to(bye.as_bytes(), call.user_agent).await.expect("sent");
        kit.ended(&id).await;
    }
    kit.is_clean().await;
}

/// The person who is brought in is rung over the carrier of the number that is shown.
#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_goes_out_on_the_carrier_of_the_number() {
    let _place = beside().await;
    let first = socket(1).await;
    let says = speech(&folder("speech"), "how can I help you", 9.0, 110.0);
    let phones = Baresip::start(&["+919812301234", "+918045670002"], &says, true);
    let port = first.local_addr().expect("an address").port();
    let kit = with(&[trunk("first", "first", port), trunk("second", "second", phones.port)]).await;
    let nodes = json!([
        {"id": "t", "type": "transfer", "text": "I will connect you.", "transferNumbers": ["+918045670002"], "mode": "warm", "onFail": "sorry"},
        {"id": "sorry", "type": "end", "text": "Nobody is free.", "outcome": "nobody"},
    ]);
    let agent = kit.agent("outbound", nodes).await;
    number(&kit, OTHER, &json!("second")).await;
    let webhooks = kit.webhooks().await;
    let (status, answer) = place(&kit, &agent, OTHER).await;
    assert_eq!(status, 200, "{answer}");
    let id = text(&answer["interactionId"]);
    until("the person is there", || {
        webhooks.got().iter().any(|got| got.json()["type"] == "call.transferred")
    })
    .await;
    kit.api("POST", &format!("/v1/calls/{id}/hangup"), &Value::Null).await;
    assert_eq!(kit.ended(&id).await["carrier"], "second");
    assert_eq!(received(&first), 0, "nobody was rung over another carrier");
    kit.is_clean().await;
}

//! Strangers around the telephone lines: forged calls, packets that are sprayed over the ports, connections
//! that take nothing.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tokio::net::UdpSocket;

use super::baresip::{Baresip, free_port};
use super::carrier::{Call, Sound, connection, message, received, socket, until_closed};
use super::kit::{Kit, alone, beside, folder, question, text, until};
use super::sounds::speech;

use crate::shows::Shows;

fn address(socket: &UdpSocket) -> SocketAddr {
    socket.local_addr().expect("an address")
}

/// A service whose number an agent answers, on the store that this run tests.
async fn answering(trunk: u16) -> Kit {
    let database = fresh_database().await;
    let more: Vec<_> = database.iter().map(|url| ("database_url", url.as_str())).collect();
    let kit = Kit::at_trunk(trunk, &more).await;
    let agent = kit.agent("inbound", question()).await;
    let number = text(&kit.api("GET", "/v1/numbers", &Value::Null).await["data"][0]["id"]);
    kit.api("PUT", &format!("/v1/numbers/{number}/inbound-agent"), &json!({"agentId": agent})).await;
    kit
}

/// A database of its own when this run tests PostgreSQL.
async fn fresh_database() -> Option<String> {
    if !std::env::var("TEST_ENGINE").is_ok_and(|engine| engine == "postgres") {
        return None;
    }
    let server = std::env::var("TEST_POSTGRES_URL")
        .expect("TEST_POSTGRES_URL names the PostgreSQL server of the tests; use `make test`");
    let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls)
        .await
        .expect("the PostgreSQL server of the tests answers");
    tokio::spawn(connection);
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    let name = format!("strangers_{}_{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed));
    client.batch_execute(&format!("create database {name}")).await.expect("a fresh database");
    let (base, _) = server.rsplit_once('/').expect("a URL");
    Some(format!("{base}/{name}"))
}

/// A call to the service's number, from the carrier's address or in its name.
fn call_to(kit: &Kit, name: &str, contact: SocketAddr, sound: SocketAddr) -> Call {
    let phone = SocketAddr::from(([127, 0, 0, 1], kit.sip_port()));
    let mut call = Call::new(name, phone, contact, sound);
    call.to.clone_from(&kit.number);
    call
}

async fn listed(kit: &Kit) -> Value {
    kit.api("GET", "/v1/calls?direction=inbound", &Value::Null).await["data"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_call_costs_nothing_and_brings_no_sound() {
    let _place = beside().await;
    let (carrier, sound, contact) = (socket(1).await, socket(9).await, socket(10).await);
    let kit = answering(address(&carrier).port()).await;
    let webhooks = kit.webhooks().await;
    let ledger = async || kit.api("GET", "/v1/wallet/transactions", &Value::Null).await["data"].clone();
    let (balance, entries) = (kit.balance().await, ledger().await);
    let mut forged = call_to(&kit, "forged", address(&contact), address(&sound));
    assert!(forged.ask(&carrier, "").await.starts_with("SIP/2.0 200"));
    let id = text(&listed(&kit).await[0]["id"]);
    let call = kit.ended(&id).await;
    call.shows(json!({"answered": false, "answeredAt": null, "transcript": []}));
    assert_eq!((kit.balance().await, ledger().await), (balance, entries));
    assert_eq!(
        (received(&sound), received(&contact)),
        (0, 0),
        "packets to the addresses that the call named"
    );
    assert!(kit.figure("dastak_rtp_packets_out_total").await < 0.5);
    kit.is_clean().await;
    // One that is acknowledged is answered, heard and paid for; its events come after whatever the forged one
    // made.
    let mut honest = call_to(&kit, "honest", address(&carrier), address(&carrier));
    assert!(honest.ask(&carrier, "").await.starts_with("SIP/2.0 200"));
    honest.acknowledge(&carrier).await;
    let other = text(&listed(&kit).await[0]["id"]);
    kit.when(&other, "it is answered", |call| call["state"] == "in_progress").await;
    // A packet of sound is no text.
    while !message(&carrier).await.starts_with('\u{fffd}') {}
    carrier.send_to(honest.next("BYE", "").as_bytes(), honest.user_agent).await.expect("sent");
    kit.ended(&other).await;
    let started = || -> Vec<String> {
        webhooks
            .got()
            .iter()
            .filter(|got| got.json()["type"] == "call.started")
            .map(|got| text(&got.json()["data"]["callId"]))
            .collect()
    };
    until("it is told", || started().contains(&other)).await;
    let all = started();
    assert_eq!(all, [other]);
    assert_eq!(kit.balance().await, balance - 600, "one started minute");
    kit.is_clean().await;
}

/// Whoever may choose a name may not choose whose contact the agent speaks of.
#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_a_caller_says_nothing_of_who_calls() {
    let _place = beside().await;
    let carrier = socket(1).await;
    let kit = answering(address(&carrier).port()).await;
    let victim = json!({"externalRef": "other", "phone": "+919812340002", "name": "Somebody else"});
    let victim = kit.api("POST", "/v1/contacts", &victim).await["data"]["id"].clone();
    let named = r#""x <sip:+919812340002@h>" <sip:+919812340001@h>"#;
    let asserted = format!("P-Asserted-Identity: {named}\r\n");
    let private = format!("{asserted}Privacy: id\r\n");
    let other = "<sip:+919812340002@h>";
    for (name, from, more, number) in [
        ("named", named, "", "+919812340001"),
        ("asserted", other, asserted.as_str(), "+919812340001"),
        ("private", other, private.as_str(), ""),
    ] {
        let before = kit.api("GET", "/v1/contacts", &Value::Null).await["data"].as_array().map(Vec::len);
        let mut call = call_to(&kit, name, address(&carrier), address(&carrier));
        from.clone_into(&mut call.from);
        assert!(call.ask(&carrier, more).await.starts_with("SIP/2.0 200"));
        call.acknowledge(&carrier).await;
        let shown = listed(&kit).await[0].clone();
        assert_eq!(shown["fromNumber"], number, "{shown}");
        assert_ne!(shown["contactId"], victim, "{shown}");
        if number.is_empty() {
            assert_eq!(shown["contactId"], Value::Null, "{shown}");
            let after = kit.api("GET", "/v1/contacts", &Value::Null).await["data"].as_array().map(Vec::len);
            assert_eq!(before, after, "no contact was made");
        }
        carrier.send_to(call.next("BYE", "").as_bytes(), call.user_agent).await.expect("sent");
        kit.ended(&text(&shown["id"])).await;
    }
    kit.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_sprays_ports_while_a_phone_rings_hears_nothing() {
    let _alone = alone().await;
    let phone =
        Baresip::start(&["+919812301234"], &speech(&folder("speech"), "call me later", 5.5, 12.0), false);
    let first = (free_port() & !1).min(60_000);
    let ports = format!("{first}-{}", first + 20);
    let kit = Kit::at_trunk(phone.port, &[("telephony.sip.rtp_ports", &ports)]).await;
    let agent = kit.agent("outbound", question()).await;
    let id = kit.place(&agent, "1234").await;
    let (stranger, mut sprayed) = (socket(9).await, Sound::new(9));
    let mut spray = async || {
        let packet = sprayed.packet();
        for port in (first..first + 20).step_by(2) {
            stranger.send_to(&packet, ("127.0.0.1", port)).await.expect("sent");
        }
    };
    for _ in 0..20 {
        spray().await;
    }
    kit.when(&id, "it rings", |call| call["state"] == "ringing").await;
    phone.command("accept", "");
    kit.when(&id, "it is answered", |call| call["state"] == "in_progress").await;
    while kit.figure("dastak_rtp_packets_foreign_total").await < 5.0 {
        spray().await;
    }
    let call = kit.ended(&id).await;
    call.shows(json!({"endCause": "agent_ended", "extracted.when": "call me later"}));
    assert!(kit.figure("dastak_rtp_packets_early_total").await >= 20.0);
    assert_eq!(received(&stranger), 0, "packets to whoever sprays");
    kit.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_goes_on_beside_strangers_on_the_port() {
    let _alone = alone().await;
    let phone =
        Baresip::start(&["+919812301234"], &speech(&folder("speech"), "call me later", 5.5, 12.0), true);
    let kit = Kit::with_trunks(&[phone.port]).await;
    let agent = kit.agent("outbound", question()).await;
    let ours = SocketAddr::from(([127, 0, 0, 1], kit.sip_port()));
    let stranger = socket(9).await;
    let strange = call_to(&kit, &"x".repeat(4000), address(&stranger), address(&stranger));
    let options = strange.request("OPTIONS", "TCP", "", "").repeat(50);
    let id = kit.place(&agent, "1234").await;
    for number in 1..=200 {
        let mut stream = connection(9, ours).await.expect("the listener is there");
        assert_eq!(until_closed(&mut stream, options.as_bytes()).await, b"", "a stranger was answered");
        stranger.send_to(strange.request("OPTIONS", "UDP", "", "").as_bytes(), ours).await.expect("sent");
        assert!(kit.figure("dastak_sip_refused_total").await >= f64::from(number));
    }
    assert!(
        kit.figure("dastak_sip_streams").await < 0.5 && kit.figure("dastak_sip_queued_bytes").await < 0.5
    );
    let call = kit.ended(&id).await;
    call.shows(json!({"endCause": "agent_ended", "extracted.when": "call me later"}));
    assert_eq!(received(&stranger), 0);
    kit.is_clean().await;
}

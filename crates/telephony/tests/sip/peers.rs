//! Two user agents of our own: sound, keys, encryption, transfer, and a carrier that loses a call.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use telephony::settings::{Encryption, Settings, Transport};
use telephony::sip::{Connection, DialFailed, EndedBy, Inbound, IncomingCall, Leg, LegEvent};
use tokio::sync::mpsc;

use super::support::{Kit, Recorder, event, free_port, kinds, order, rest, settings, tone, trunk, until};

/// Two user agents, each the trunk of the other.
async fn pair(transport: Transport, encryption: Encryption) -> (Kit, Kit) {
    let (near, far) = both(transport, encryption);
    (Kit::with(near).await, Kit::with(far).await)
}

fn both(transport: Transport, encryption: Encryption) -> (Settings, Settings) {
    let (mut near, mut far) = (settings(vec![]), settings(vec![]));
    let mut reached = [near.listen.port(), far.listen.port()];
    if transport == Transport::Tls {
        let (folder, chain, key) = certificate();
        for (side, port) in [&mut near, &mut far].into_iter().zip(&mut reached) {
            *port = free_port();
            side.tls = Some((SocketAddr::from(([127, 0, 0, 1], *port)), chain.clone(), key.clone()));
            side.tls_ca = Some(chain.clone());
        }
        drop(folder);
    }
    for (side, port) in [(&mut near, reached[1]), (&mut far, reached[0])] {
        let mut other = trunk(port);
        other.transport = transport;
        other.encryption = encryption;
        side.trunks = vec![other];
    }
    (near, far)
}

/// A self-signed certificate of the loopback.
pub fn certificate() -> (PathBuf, PathBuf, PathBuf) {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
    let folder = std::env::temp_dir().join(format!("telephony-tls-{}-{}", std::process::id(), free_port()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (chain, key) = (folder.join("chain.pem"), folder.join("key.pem"));
    std::fs::write(&chain, made.cert.pem()).expect("written");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("written");
    (folder, chain, key)
}

/// Calls from `near`, answers at `far`.
async fn connected(near: &Kit, far: &mut Kit) -> (Leg, Leg, Connection) {
    let (dialled, answered) = tokio::join!(near.user_agent.dial(order("pair")), async {
        let call = far.call().await;
        call.ring().await;
        call.answer(Box::new(Recorder::default())).await
    });
    let (mut calling, mut called) = (dialled.expect("taken"), answered.expect("answered"));
    assert!(matches!(event(&mut called).await, LegEvent::Answered(_)));
    let connection = loop {
        match event(&mut calling).await {
            LegEvent::Answered(connection) => break connection,
            LegEvent::Ringing => {}
            other => panic!("{other:?}"),
        }
    };
    (calling, called, connection)
}

/// Sound and keys both ways over this transport.
async fn conversation(transport: Transport, encryption: Encryption) {
    let (near, far) = pair(transport, encryption).await;
    let (ours, theirs) = (Recorder::default(), Recorder::default());
    let (dialled, answered) = tokio::join!(near.user_agent.dial(order("talk")), {
        let theirs = theirs.clone();
        async {
            let mut far = far;
            let leg = far.call().await.answer(Box::new(theirs)).await.expect("answered");
            (far, leg)
        }
    });
    let mut calling = dialled.expect("taken");
    let (far, mut called) = answered;
    assert!(matches!(event(&mut called).await, LegEvent::Answered(_)));
    let LegEvent::Answered(connection) = event(&mut calling).await else { panic!("not answered") };
    assert_eq!(connection.encrypted, encryption == Encryption::Required);
    let line = calling.control.connect(Box::new(ours.clone())).expect("sound");
    let their_line = called.control.line().expect("sound");
    line.play(&tone(2000));
    their_line.play(&tone(2000));
    until("both hear the other", || {
        let heard = (ours.loudness(400), theirs.loudness(400));
        (heard.0 > 3000.0 && heard.1 > 3000.0).then_some(()).ok_or(format!("{heard:?}"))
    })
    .await;
    assert!(line.send_digits("12#"));
    until("the keys arrive", || (theirs.digits() == "12#").then_some(()).ok_or(theirs.digits())).await;
    called.control.hang_up().await;
    let (_, end) = rest(&mut calling).await;
    assert_eq!(end.by, EndedBy::Them);
    until("the ear is told", || ours.0.lock().expect("heard").closed.then_some(()).ok_or(String::new()))
        .await;
    rest(&mut called).await;
    near.settled().await;
    far.settled().await;
    near.user_agent.stop().await;
    far.user_agent.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sound_and_keys() {
    tokio::join!(
        conversation(Transport::Udp, Encryption::WhenOffered),
        conversation(Transport::Tcp, Encryption::Required),
        conversation(Transport::Tls, Encryption::Required),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_nobody_vouches_for() {
    let (mut near, far) = both(Transport::Tls, Encryption::WhenOffered);
    near.tls_ca = None;
    let (near, far) = (Kit::with(near).await, Kit::with(far).await);
    match near.user_agent.dial(order("tls")).await {
        Err(DialFailed::ProviderErrorBeforeRing { reason, .. }) => {
            assert!(reason.contains("certificate"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
    near.finish().await;
    far.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hold_transfer_and_hang_up() {
    let (near, mut far) = pair(Transport::Udp, Encryption::WhenOffered).await;
    let (mut calling, mut called, _) = connected(&near, &mut far).await;
    calling.control.hold(true).await;
    assert_eq!(event(&mut called).await, LegEvent::Held(true));
    calling.control.hold(false).await;
    assert_eq!(event(&mut called).await, LegEvent::Held(false));
    // No stranger makes our user agent call anybody.
    calling.control.refer("+919811111111").await;
    assert_eq!(event(&mut calling).await, LegEvent::TransferDone(Err(603)));
    // Both hang up at once.
    tokio::join!(calling.control.hang_up(), called.control.hang_up());
    let ((_, one), (_, other)) = tokio::join!(rest(&mut calling), rest(&mut called));
    assert!(one.by == EndedBy::Us || other.by == EndedBy::Us);
    near.finish().await;
    far.finish().await;
}

/// Loses every call that comes in.
struct Loses;

impl Inbound for Loses {
    fn invite(&self, call: IncomingCall) {
        call.ignore();
    }
}

/// Run by `main`: it waits for half a minute.
pub async fn a_carrier_that_loses_the_call() {
    let (mut near, far) = both(Transport::Udp, Encryption::WhenOffered);
    near.response_timeout = Duration::from_millis(1200);
    let near = Kit::with(near).await;
    let (_sender, nothing) = mpsc::unbounded_channel();
    let far = Kit::answering(far, Arc::new(Loses), nothing).await;
    match near.user_agent.dial(order("lost")).await {
        Err(DialFailed::Uncertain { .. }) => {}
        other => panic!("{other:?}"),
    }
    near.settled().await;
    far.settled().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_leave_nothing_behind() {
    let (mut near, mut far) = both(Transport::Udp, Encryption::WhenOffered);
    let range = super::support::wide_ports();
    near.rtp_ports = (range.0, range.0 + 79);
    far.rtp_ports = (range.0 + 80, range.1);
    let (near, mut far) = (Kit::with(near).await, Kit::with(far).await);
    for round in 0..3 {
        let mut dials = tokio::task::JoinSet::new();
        for number in 0..20 {
            let user_agent = near.user_agent.clone();
            dials.spawn(async move { user_agent.dial(order(&format!("r{round}n{number}"))).await });
        }
        let mut called = Vec::new();
        for number in 0..20 {
            let call = far.call().await;
            if number % 4 == 0 {
                call.reject(486).await;
            } else {
                called.push(call.answer(Box::new(Recorder::default())).await.expect("answered"));
            }
        }
        let mut busy = 0;
        while let Some(dialled) = dials.join_next().await {
            let mut leg = dialled.expect("no panic").expect("taken");
            if matches!(event(&mut leg).await, LegEvent::Ended(_)) {
                busy += 1;
            } else {
                leg.control.hang_up().await;
                rest(&mut leg).await;
            }
        }
        assert_eq!(busy, 5);
        for mut leg in called {
            let (events, _) = rest(&mut leg).await;
            assert_eq!(kinds(&events), ["answered"]);
        }
    }
    near.finish().await;
    far.finish().await;
}

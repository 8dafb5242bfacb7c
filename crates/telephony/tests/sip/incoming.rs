//! Calls that come in.

use std::time::Duration;

use domain::call::{EndCause, Fact};
use telephony::sip::{AnswerFailed, EndedBy};

use super::sipp;
use super::support::{Kit, Recorder, event, free_port, kinds, rest, trunk};

async fn kit() -> (Kit, u16) {
    let port = free_port();
    (Kit::start(vec![trunk(port)]).await, port)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answered() {
    let (mut kit, from) = kit().await;
    let peer = sipp::caller_from(
        "call",
        from,
        kit.port(),
        &[("called", "08040000000"), ("extra", "P-Asserted-Identity: <sip:+919800000009@x>")],
        &[],
    )
    .await;
    let call = kit.call().await;
    assert_eq!(
        (call.from(), call.to(), call.trunk()),
        ("+919800000009", "08040000000", format!("t{from}").as_str())
    );
    assert!(!call.id().is_empty());
    call.ring().await;
    let mut leg = call.answer(Box::new(Recorder::default())).await.expect("answered");
    assert!(leg.control.line().is_some());
    let (events, end) = rest(&mut leg).await;
    assert_eq!(kinds(&events), ["answered"]);
    assert_eq!(
        (end.status, end.by, end.fact),
        (Some(200), EndedBy::Them, Fact::Ended(EndCause::CallerHangup))
    );
    let messages = peer.succeeds().await;
    assert!(messages.contains("SIP/2.0 180") && messages.contains("Server: test-phone/1"), "{messages}");
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answered_in_other_ways() {
    let timed = async {
        let (mut kit, from) = kit().await;
        let peer = sipp::caller_from(
            "call",
            from,
            kit.port(),
            &[("called", "1"), ("extra", "Session-Expires: 600")],
            &[],
        )
        .await;
        let mut leg = kit.call().await.answer(Box::new(Recorder::default())).await.expect("answered");
        rest(&mut leg).await;
        assert!(peer.succeeds().await.contains("Session-Expires: 600;refresher=uas"));
        kit.finish().await;
    };
    let late_offer = async {
        let (mut kit, from) = kit().await;
        let peer = sipp::caller_from("call_late_offer", from, kit.port(), &[("called", "1")], &[]).await;
        let mut leg = kit.call().await.answer(Box::new(Recorder::default())).await.expect("answered");
        assert!(leg.control.line().is_some());
        rest(&mut leg).await;
        peer.succeeds().await;
        kit.finish().await;
    };
    let reliable = async {
        let (mut kit, from) = kit().await;
        let peer = sipp::caller_from(
            "call",
            from,
            kit.port(),
            &[("called", "1"), ("extra", "Require: 100rel")],
            &[],
        )
        .await;
        let call = kit.call().await;
        call.ring().await;
        let mut leg = call.answer(Box::new(Recorder::default())).await.expect("answered");
        rest(&mut leg).await;
        assert!(!peer.succeeds().await.contains("SIP/2.0 180"));
        kit.finish().await;
    };
    let hung_up = async {
        let (mut kit, from) = kit().await;
        let peer = sipp::caller_from("call_hung_up", from, kit.port(), &[("called", "1")], &[]).await;
        let mut leg = kit.call().await.answer(Box::new(Recorder::default())).await.expect("answered");
        event(&mut leg).await;
        leg.control.hang_up().await;
        let (_, end) = rest(&mut leg).await;
        assert_eq!(end.by, EndedBy::Us);
        peer.succeeds().await;
        kit.finish().await;
    };
    tokio::join!(timed, late_offer, reliable, hung_up);
}

/// Run by `main`: it waits for half a minute.
pub async fn an_answer_that_is_never_acknowledged() {
    let (mut kit, from) = kit().await;
    let peer = sipp::caller_from("call_no_ack", from, kit.port(), &[("called", "1")], &[]).await;
    let answered = kit.call().await.answer(Box::new(Recorder::default())).await;
    assert_eq!(answered.expect_err("nobody is there"), AnswerFailed::NotAcknowledged);
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn given_up_by_the_caller() {
    let (mut kit, from) = kit().await;
    let peer = sipp::caller_from("call_cancelled", from, kit.port(), &[("called", "1")], &[]).await;
    let mut call = kit.call().await;
    call.ring().await;
    call.cancelled().await;
    assert!(call.answer(Box::new(Recorder::default())).await.is_err());
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused() {
    let rejected = |status: u16, wire: &'static str| async move {
        let (mut kit, from) = kit().await;
        let peer = sipp::caller_from(
            "call_refused",
            from,
            kit.port(),
            &[("called", "1"), ("status", wire), ("extra", "X-Nothing: 1")],
            &[],
        )
        .await;
        kit.call().await.reject(status).await;
        peer.succeeds().await;
        kit.finish().await;
    };
    let unasked = |wire: &'static str, extra: &'static str| async move {
        let (mut kit, from) = kit().await;
        let peer = sipp::caller_from(
            "call_refused",
            from,
            kit.port(),
            &[("called", "1"), ("status", wire), ("extra", extra)],
            &[],
        )
        .await;
        peer.succeeds().await;
        assert!(kit.incoming.try_recv().is_err());
        kit.finish().await;
    };
    let dropped = async {
        let (mut kit, from) = kit().await;
        let peer = sipp::caller_from(
            "call_refused",
            from,
            kit.port(),
            &[("called", "1"), ("status", "480"), ("extra", "X-Nothing: 1")],
            &[],
        )
        .await;
        drop(kit.call().await);
        peer.succeeds().await;
        kit.finish().await;
    };
    let full = async {
        let port = free_port();
        let mut one = trunk(port);
        one.channels = 0;
        let kit = Kit::start(vec![one]).await;
        let peer = sipp::caller_from(
            "call_refused",
            port,
            kit.port(),
            &[("called", "1"), ("status", "503"), ("extra", "X-Nothing: 1")],
            &[],
        )
        .await;
        peer.succeeds().await;
        kit.finish().await;
    };
    tokio::join!(
        rejected(486, "486"),
        rejected(200, "480"),
        rejected(603, "603"),
        unasked("420", "Require: gruu"),
        unasked("422", "Session-Expires: 30"),
        dropped,
        full
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_outside_of_calls() {
    let (kit, from) = kit().await;
    let peer = sipp::caller_from("outside", from, kit.port(), &[("called", "1")], &[]).await;
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_ends_every_call_and_frees_the_ports() {
    let (mut kit, from) = kit().await;
    let listening = kit.user_agent.local_address();
    let peer = sipp::caller_from("call_hung_up", from, kit.port(), &[("called", "1")], &[]).await;
    let mut leg = kit.call().await.answer(Box::new(Recorder::default())).await.expect("answered");
    event(&mut leg).await;
    kit.user_agent.stop().await;
    let (_, end) = rest(&mut leg).await;
    assert_eq!(end.by, EndedBy::Us);
    peer.succeeds().await;
    kit.settled().await;
    super::support::until("the ports are free", || {
        let udp = std::net::UdpSocket::bind(listening).map_err(|error| error.to_string())?;
        let tcp = std::net::TcpListener::bind(listening).map_err(|error| error.to_string())?;
        drop((udp, tcp));
        Ok(())
    })
    .await;
    assert!(
        tokio::time::timeout(Duration::from_secs(5), kit.user_agent.dial(super::support::order("late")))
            .await
            .expect("refused at once")
            .is_err()
    );
}

//! Calls that are given up, answered oddly, or answered twice.

use std::net::UdpSocket;
use std::time::Duration;

use domain::call::{EndCause, Fact};
use telephony::sip::{DialFailed, EndedBy, LegEvent};

use super::sipp;
use super::support::{Kit, answered, event, kinds, order, rest, settings, trunk};

const HUNG_UP: Fact = Fact::Ended(EndCause::ApiHangup);

/// We hang up while it rings.
async fn cancelled(scenario: &str, status: Option<u16>) {
    let peer = sipp::callee(scenario, &[]).await;
    let kit = Kit::start(vec![trunk(peer.port)]).await;
    let mut leg = kit.dial().await;
    assert_eq!(event(&mut leg).await, LegEvent::Ringing);
    leg.control.hang_up().await;
    let (events, end) = rest(&mut leg).await;
    assert_eq!(kinds(&events), [""; 0], "{scenario}");
    assert_eq!((end.status, end.by, end.fact), (status, EndedBy::Us, HUNG_UP), "{scenario}");
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hang_up_while_it_rings() {
    tokio::join!(
        cancelled("cancel", Some(487)),
        cancelled("cancel_race", Some(200)),
        cancelled("cancel_busy", Some(486))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_picks_up_in_time() {
    let peer = sipp::callee("cancel", &[]).await;
    let kit = Kit::start(vec![trunk(peer.port)]).await;
    let mut leg = kit
        .user_agent
        .dial(telephony::sip::Dial { ring_timeout: Some(Duration::from_millis(600)), ..order("ring") })
        .await
        .expect("it rings");
    let (events, end) = rest(&mut leg).await;
    assert_eq!(kinds(&events), ["ringing"]);
    assert_eq!((end.status, end.by, end.fact), (Some(487), EndedBy::Timeout, Fact::NoAnswer));
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_dial_or_the_leg_hangs_up() {
    let (first, second) = tokio::join!(sipp::callee("trying", &[]), sipp::callee("cancel", &[]));
    let kit = Kit::start(vec![trunk(first.port), trunk(second.port)]).await;
    let dialling = kit.user_agent.dial(order("dropped"));
    assert!(
        tokio::time::timeout(Duration::from_millis(1500), dialling).await.is_err(),
        "100 alone is not taken yet"
    );
    first.succeeds().await;
    let only_second = telephony::sip::Dial { trunk: Some(format!("t{}", second.port)), ..order("leg") };
    drop(kit.user_agent.dial(only_second).await.expect("it rings"));
    second.succeeds().await;
    kit.finish().await;
}

/// Nothing is said at first: another trunk is never tried, and what comes late is ended.
async fn uncertain(scenario: &str) {
    let peer = sipp::callee(scenario, &[]).await;
    let other = sipp::callee("answer", &[("code", "200")]).await;
    let mut settings = settings(vec![trunk(peer.port), trunk(other.port)]);
    settings.response_timeout = Duration::from_millis(900);
    let kit = Kit::with(settings).await;
    match kit.user_agent.dial(order("silent")).await {
        Err(DialFailed::Uncertain { reason }) => assert!(reason.contains("no answer"), "{reason}"),
        other => panic!("{scenario}: {other:?}"),
    }
    let messages = peer.succeeds().await;
    // Repeated at 0 and 500 ms, and not any more once the call was given up.
    assert_eq!(messages.matches("INVITE sip:09812345678@").count(), 2, "{messages}");
    assert!(!other.story().contains("INVITE"));
    kit.finish().await;
}

/// Run by `main`: it waits for half a minute.
pub async fn silence_is_uncertain() {
    tokio::join!(uncertain("silent"), uncertain("late_ring"), uncertain("late_answer"));
}

/// Answers that are not correct and still begin a conversation.
async fn talks(scenario: &'static str, keys: &[(&str, &str)], before: &[&str]) {
    let peer = sipp::callee(scenario, keys).await;
    let kit = Kit::start(vec![trunk(peer.port)]).await;
    let mut leg = kit.dial().await;
    let mut seen = Vec::new();
    while seen.last() != Some(&"answered") {
        seen.push(kinds(&[event(&mut leg).await])[0]);
    }
    assert_eq!(seen[..seen.len() - 1], *before, "{scenario}");
    assert!(leg.control.connect(Box::new(super::support::Recorder::default())).is_some(), "{scenario}");
    leg.control.hang_up().await;
    let (_, end) = rest(&mut leg).await;
    assert_eq!((end.by, end.fact), (EndedBy::Us, HUNG_UP), "{scenario}");
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_answers_that_will_do() {
    tokio::join!(
        talks("answer", &[("code", "200")], &["ringing"]),
        talks("answer", &[("code", "202")], &["ringing"]),
        talks("no_contact", &[], &[]),
        talks("early_answer", &[], &["early", "ringing"]),
        talks("routes", &[], &[]),
        talks("timer_422", &[], &[]),
        talks("prack", &[], &["early", "ringing"]),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_without_sound() {
    let without = |scenario: &'static str| async move {
        let peer = sipp::callee(scenario, &[]).await;
        let kit = Kit::start(vec![trunk(peer.port)]).await;
        let mut leg = kit.dial().await;
        let (events, end) = rest(&mut leg).await;
        assert_eq!(kinds(&events), ["ringing"], "{scenario}");
        assert_eq!((end.status, end.by, end.fact), (Some(200), EndedBy::Us, Fact::AgentFailed), "{scenario}");
        assert!(leg.control.connect(Box::new(super::support::Recorder::default())).is_none());
        peer.succeeds().await;
        kit.finish().await;
    };
    tokio::join!(without("no_sdp"), without("bad_sdp"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_phones_pick_up() {
    let peer = sipp::callee("fork", &[]).await;
    let kit = Kit::start(vec![trunk(peer.port)]).await;
    let mut leg = kit.dial().await;
    answered(&mut leg).await;
    // The second answer is dealt with while the call goes on.
    super::support::until("the second is hung up", || {
        let story = peer.story();
        let over = story.matches("\nACK sip:").count() >= 2 && story.contains("\nBYE sip:");
        over.then_some(()).ok_or(story)
    })
    .await;
    leg.control.hang_up().await;
    rest(&mut leg).await;
    peer.succeeds().await;
    kit.finish().await;
}

/// Answers an INVITE, repeats its 200 as if the ACK had been lost, says when the second ACK has come, and takes
/// the BYE. Returns the requests that came, by method.
fn answers_twice(socket: UdpSocket, acked: tokio::sync::oneshot::Sender<()>) -> Vec<String> {
    let mut acked = Some(acked);
    let mut seen: Vec<String> = Vec::new();
    let mut buffer = [0; 4096];
    let mut answer = String::new();
    let count = |seen: &[String], method: &str| seen.iter().filter(|one| *one == method).count();
    while count(&seen, "BYE") == 0 || count(&seen, "ACK") < 2 {
        let (length, from) = socket.recv_from(&mut buffer).expect("a request in time");
        let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
        let method = text.split(' ').next().unwrap_or_default().to_owned();
        let port = socket.local_addr().expect("bound").port();
        if method != "ACK" {
            let kept = text.lines().filter(|line| {
                ["Via:", "From:", "Call-ID:", "CSeq:"].iter().any(|name| line.starts_with(name))
            });
            let mut lines: Vec<String> =
                std::iter::once("SIP/2.0 200 OK").chain(kept).map(str::to_owned).collect();
            let to = text.lines().find(|line| line.starts_with("To:")).expect("a To");
            lines.push(if to.contains("tag=") { to.to_owned() } else { format!("{to};tag=twice") });
            lines.push(format!("Contact: <sip:127.0.0.1:{port}>"));
            let sdp = "v=0\r\nc=IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 0\r\n";
            answer = format!(
                "{}\r\nContent-Type: application/sdp\r\nContent-Length: {}\r\n\r\n{sdp}",
                lines.join("\r\n"),
                sdp.len()
            );
        }
        if method != "ACK" || !seen.contains(&method) {
            socket.send_to(answer.as_bytes(), from).expect("sent");
        }
        seen.push(method);
        if count(&seen, "ACK") == 2
            && let Some(acked) = acked.take()
        {
            acked.send(()).expect("the test waits for it");
        }
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_ack_is_sent_again() {
    let socket = UdpSocket::bind(("127.0.0.1", super::support::free_port())).expect("a port");
    socket.set_read_timeout(Some(super::support::PATIENCE)).expect("a time-out");
    let port = socket.local_addr().expect("bound").port();
    let (acked, again) = tokio::sync::oneshot::channel();
    let peer = tokio::task::spawn_blocking(move || answers_twice(socket, acked));
    let kit = Kit::start(vec![trunk(port)]).await;
    let mut leg = kit.dial().await;
    answered(&mut leg).await;
    // A leg that is over does not answer the repeated 200 any more.
    again.await.expect("the ACK was sent again");
    leg.control.hang_up().await;
    rest(&mut leg).await;
    let mut seen = peer.await.expect("the peer saw it through");
    seen.sort();
    assert_eq!(seen, ["ACK", "ACK", "BYE", "INVITE"]);
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_announcement_before_the_final_answer() {
    let announced = |status: &'static str, fact: Fact| async move {
        let peer = sipp::callee("early", &[("status", status)]).await;
        let kit = Kit::start(vec![trunk(peer.port)]).await;
        let mut leg = kit.dial().await;
        let (events, end) = rest(&mut leg).await;
        assert_eq!(kinds(&events), ["early", "ringing"]);
        assert_eq!((end.by, end.fact), (EndedBy::Them, fact));
        peer.succeeds().await;
        kit.finish().await;
    };
    tokio::join!(
        announced("480", Fact::NoAnswer),
        announced("486", Fact::Busy),
        announced("408", Fact::NoAnswer)
    );
}

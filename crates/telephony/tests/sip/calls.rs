//! What happens in a call that is answered.

use domain::call::{EndCause, Fact};
use telephony::settings::Transport;
use telephony::sip::{DialFailed, EndedBy, LegEvent};

use super::sipp;
use super::support::{Kit, answered, event, kinds, order, rest, trunk};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_other_side_hangs_up() {
    let left = |extra: &'static str, cause: Option<u16>, fact: Fact| async move {
        let peer = sipp::callee("leave", &[("extra", extra)]).await;
        let kit = Kit::start(vec![trunk(peer.port)]).await;
        let mut leg = kit.dial().await;
        let (events, end) = rest(&mut leg).await;
        assert_eq!(kinds(&events), ["ringing", "answered"]);
        assert_eq!((end.status, end.q850, end.by, end.fact), (Some(200), cause, EndedBy::Them, fact));
        peer.succeeds().await;
        kit.finish().await;
    };
    tokio::join!(
        left("X-Nothing: 1", None, Fact::Ended(EndCause::CallerHangup)),
        left("Reason: Q.850;cause=16;text=\"normal\"", Some(16), Fact::Ended(EndCause::CallerHangup)),
        left("Reason: Q.850;cause=41", Some(41), Fact::Ended(EndCause::Error)),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_tcp() {
    let peer = sipp::callee_tcp("answer", &[("code", "200")]).await;
    let mut over = trunk(peer.port);
    over.transport = Transport::Tcp;
    let kit = Kit::start(vec![over]).await;
    let mut leg = kit.dial().await;
    answered(&mut leg).await;
    leg.control.hang_up().await;
    rest(&mut leg).await;
    let messages = peer.succeeds().await;
    assert!(messages.contains("SIP/2.0/TCP") && messages.contains("transport=tcp"), "{messages}");
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn digests() {
    let challenged = |scenario: &'static str,
                      status: &'static str,
                      challenge: &'static str,
                      algorithm: &'static str| async move {
        let peer =
            sipp::callee(scenario, &[("status", status), ("challenge", challenge), ("algorithm", algorithm)])
                .await;
        let mut with = trunk(peer.port);
        with.username = Some("us".into());
        with.password = Some("secret".into());
        let kit = Kit::start(vec![with]).await;
        let mut leg = kit.dial().await;
        answered(&mut leg).await;
        leg.control.hang_up().await;
        rest(&mut leg).await;
        peer.succeeds().await;
        kit.finish().await;
    };
    tokio::join!(
        challenged("auth", "401", "WWW", "MD5"),
        challenged("auth", "407", "Proxy", "MD5"),
        challenged("auth", "407", "Proxy", "SHA-256"),
        challenged("auth_stale", "401", "WWW", "MD5"),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_password_is_the_providers_refusal() {
    let peer =
        sipp::callee("auth_wrong", &[("status", "407"), ("challenge", "Proxy"), ("algorithm", "MD5")]).await;
    let mut with = trunk(peer.port);
    with.username = Some("us".into());
    with.password = Some("wrong".into());
    let kit = Kit::start(vec![with]).await;
    match kit.user_agent.dial(order("wrong")).await {
        Err(DialFailed::ProviderErrorBeforeRing { status, .. }) => assert_eq!(status, Some(407)),
        other => panic!("{other:?}"),
    }
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hold_by_the_other_side() {
    let peer = sipp::callee("hold", &[]).await;
    let kit = Kit::start(vec![trunk(peer.port)]).await;
    let mut leg = kit.dial().await;
    answered(&mut leg).await;
    let (events, end) = rest(&mut leg).await;
    assert_eq!(kinds(&events), ["held", "resumed", "held", "resumed"]);
    assert_eq!(end.by, EndedBy::Them);
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hold_by_us_and_a_clash() {
    let peer = sipp::callee("our_hold", &[]).await;
    let kit = Kit::start(vec![trunk(peer.port)]).await;
    let mut leg = kit.dial().await;
    answered(&mut leg).await;
    leg.control.hold(true).await;
    super::support::until("they are on hold", || {
        let story = peer.story();
        story.contains("a=recvonly").then_some(()).ok_or(story)
    })
    .await;
    leg.control.hold(false).await;
    super::support::until("they are taken back", || {
        let story = peer.story();
        (story.matches("\nACK sip:").count() >= 4).then_some(()).ok_or(story)
    })
    .await;
    leg.control.hang_up().await;
    rest(&mut leg).await;
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_request() {
    let peer = sipp::callee("requests", &[]).await;
    let kit = Kit::start(vec![trunk(peer.port)]).await;
    let mut leg = kit.dial().await;
    answered(&mut leg).await;
    let (events, end) = rest(&mut leg).await;
    assert_eq!(events, [LegEvent::Digit('5'), LegEvent::Held(true), LegEvent::Held(false)]);
    assert_eq!((end.q850, end.fact), (Some(38), Fact::Ended(EndCause::Error)));
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers() {
    let asked = |scenario: &'static str,
                 status: &'static str,
                 expected: &'static [&'static str],
                 hang_up: bool| async move {
        let peer = sipp::callee(scenario, &[("status", status)]).await;
        let kit = Kit::start(vec![trunk(peer.port)]).await;
        let mut leg = kit.dial().await;
        answered(&mut leg).await;
        leg.control.refer("+919811111111").await;
        let mut seen = Vec::new();
        while !seen.last().is_some_and(|kind: &&str| kind.ends_with("transferred")) {
            let next = event(&mut leg).await;
            if let LegEvent::TransferDone(Err(code)) = next {
                assert_eq!(code.to_string(), status);
            }
            seen.push(kinds(&[next])[0]);
        }
        assert_eq!(seen, expected, "{scenario} {status}");
        if hang_up {
            leg.control.hang_up().await;
        }
        let (more, _) = rest(&mut leg).await;
        assert_eq!(more, [], "{scenario}");
        peer.succeeds().await;
        kit.finish().await;
    };
    tokio::join!(
        asked("refer", "200", &["progress", "progress", "transferred"], true),
        asked("refer", "486", &["progress", "progress", "not transferred"], true),
        asked("refer_refused", "603", &["not transferred"], true),
        asked("refer_bye", "200", &["transferred"], false),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_timers() {
    let timed = |scenario: &'static str, by: EndedBy| async move {
        let peer = sipp::callee(scenario, &[]).await;
        let kit = Kit::start(vec![trunk(peer.port)]).await;
        let mut leg = kit.dial().await;
        answered(&mut leg).await;
        let (_, end) = rest(&mut leg).await;
        assert_eq!(end.by, by, "{scenario}");
        peer.succeeds().await;
        kit.finish().await;
    };
    tokio::join!(
        timed("timer_update", EndedBy::Them),
        timed("timer_reinvite", EndedBy::Timeout),
        timed("timer_expires", EndedBy::Timeout)
    );
}

//! Every row of the table of final answers, over the wire.

use domain::call::Fact;
use telephony::sip::{DialFailed, EndedBy};

use super::sipp;
use super::support::{Kit, kinds, order, rest, trunk};

const NONE: &str = "X-Nothing: 1";

/// A final answer, before or after a ring, and the fact that it becomes.
async fn ends(scenario: &str, status: u16, extra: &str, expected: Fact, cause: Option<u16>) {
    let peer = sipp::callee(scenario, &[("status", &status.to_string()), ("extra", extra)]).await;
    let kit = Kit::start(vec![trunk(peer.port)]).await;
    let mut leg = kit
        .user_agent
        .dial(order("code"))
        .await
        .unwrap_or_else(|error| panic!("{status} {extra}: {error:?}"));
    let (events, end) = rest(&mut leg).await;
    let rang: &[&str] = if scenario == "ring_final" { &["ringing"] } else { &[] };
    assert_eq!(kinds(&events), rang, "{status}");
    assert_eq!(
        (end.status, end.q850, end.by, end.fact),
        (Some(status), cause, EndedBy::Them, expected),
        "{scenario} {status}"
    );
    peer.succeeds().await;
    kit.finish().await;
}

async fn refused(status: u16, extra: &str) {
    let peer = sipp::callee("final", &[("status", &status.to_string()), ("extra", extra)]).await;
    let kit = Kit::start(vec![trunk(peer.port)]).await;
    match kit.user_agent.dial(order("code")).await {
        Err(DialFailed::ProviderErrorBeforeRing { status: told, reason }) => {
            assert_eq!(told, Some(status));
            assert!(reason.contains(&status.to_string()), "{reason}");
        }
        other => panic!("{status}: {other:?}"),
    }
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_any_ring() {
    let rows: &[(u16, Fact)] = &[
        (486, Fact::Busy),
        (600, Fact::Busy),
        (480, Fact::NoAnswer),
        (603, Fact::Rejected),
        (607, Fact::Rejected),
        (608, Fact::Rejected),
        (404, Fact::InvalidNumber),
        (410, Fact::InvalidNumber),
        (484, Fact::InvalidNumber),
        (485, Fact::InvalidNumber),
        (604, Fact::InvalidNumber),
        (413, Fact::Sip(413)),
        (414, Fact::Sip(414)),
        (415, Fact::Sip(415)),
        (420, Fact::Sip(420)),
        (421, Fact::Sip(421)),
        (482, Fact::Sip(482)),
        (483, Fact::Sip(483)),
        (487, Fact::Sip(487)),
        (488, Fact::Sip(488)),
        (606, Fact::Sip(606)),
    ];
    let mut all = tokio::task::JoinSet::new();
    for &(status, fact) in rows {
        all.spawn(ends("final", status, NONE, fact, None));
    }
    while let Some(one) = all.join_next().await {
        one.expect("every row");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_ring() {
    let rows: &[(u16, Fact)] = &[
        (486, Fact::Busy),
        (480, Fact::NoAnswer),
        (408, Fact::NoAnswer),
        (487, Fact::NoAnswer),
        (603, Fact::Rejected),
        (404, Fact::InvalidNumber),
        (401, Fact::Sip(401)),
        (402, Fact::Sip(402)),
        (403, Fact::Sip(403)),
        (407, Fact::Sip(407)),
        (500, Fact::Sip(500)),
        (503, Fact::Sip(503)),
        (504, Fact::Sip(504)),
        (302, Fact::Sip(302)),
    ];
    let mut all = tokio::task::JoinSet::new();
    for &(status, fact) in rows {
        all.spawn(ends("ring_final", status, NONE, fact, None));
    }
    while let Some(one) = all.join_next().await {
        one.expect("every row");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_provider_refuses() {
    let mut all = tokio::task::JoinSet::new();
    for status in [401, 402, 403, 407, 408, 500, 502, 503, 504, 513, 302] {
        all.spawn(refused(status, NONE));
    }
    all.spawn(refused(503, "Reason: Q.850;cause=34"));
    while let Some(one) = all.join_next().await {
        one.expect("every row");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn causes_are_kept_and_used() {
    tokio::join!(
        ends("final", 486, "Reason: Q.850;cause=20;text=\"subscriber absent\"", Fact::Busy, Some(20)),
        ends("final", 500, "Reason: Q.850;cause=17", Fact::Busy, Some(17)),
        ends("final", 503, "Reason: SIP;cause=503, Q.850;cause=1", Fact::InvalidNumber, Some(1)),
        ends("ring_final", 480, "Reason: Q.850;cause=19", Fact::NoAnswer, Some(19)),
    );
}

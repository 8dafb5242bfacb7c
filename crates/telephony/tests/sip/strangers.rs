//! Attacks on the port that is open to the world: strangers, peers that take nothing, forged senders.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use md5::{Digest as _, Md5};
use telephony::settings::{InboundTransport, Transport};
use telephony::sip::{AnswerFailed, EndedBy, Leg, LegEvent};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UdpSocket;

use super::peers::certificate;
use super::raw::{Call, Sound, connection, here, message, moment, received, socket, sound_of, until_closed};
use super::sipp;
use super::support::{Kit, Recorder, answered, event, free_port, rest, settings, trunk, until};

/// A user agent that listens to TLS as well, and whose trunk is at this address of the loopback.
async fn kit_for(trunk_at: u8) -> (Kit, SocketAddr) {
    let mut elsewhere = trunk(free_port());
    elsewhere.address = elsewhere.address.replace("127.0.0.1", &here(trunk_at).to_string());
    let mut settings = settings(vec![elsewhere]);
    let (_, chain, key) = certificate();
    let tls = SocketAddr::new(here(1), free_port());
    settings.tls = Some((tls, chain, key));
    (Kit::with(settings).await, tls)
}

/// A call from the trunk's address, whose sound would go to this socket.
async fn call_from(from: &UdpSocket, kit: &Kit, name: &str, sound: SocketAddr) -> Call {
    let contact = from.local_addr().expect("bound");
    Call::new(name, kit.user_agent.local_address(), contact, sound)
}

/// A call that is being answered: that waits for the ACK.
struct Answering(tokio::task::JoinHandle<Result<Leg, AnswerFailed>>);

/// Rings and answers the next call.
async fn picks_up(kit: &mut Kit) -> Answering {
    let coming = kit.call().await;
    coming.ring().await;
    Answering(tokio::spawn(coming.answer(Box::new(Recorder::default()))))
}

fn address(socket: &UdpSocket) -> SocketAddr {
    socket.local_addr().expect("bound")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_get_no_answer_by_any_transport() {
    let (mut kit, tls) = kit_for(77).await;
    let user_agent = kit.user_agent.local_address();
    let stranger = socket(9).await;
    let call = call_from(&stranger, &kit, "strange", address(&stranger)).await;
    let requests = ["INVITE", "OPTIONS", "REGISTER", "CANCEL", "BYE", "ACK"]
        .map(|method| call.request(method, "UDP", "", ""));
    let others = ["SIP/2.0 200 OK\r\nVia: x\r\n\r\n", "nonsense", "\r\n\r\n", "\r\n"].map(str::to_owned);
    let tries: Vec<String> = requests.into_iter().chain(others).collect();
    for text in tries.iter().chain([&tries[0]]) {
        stranger.send_to(text.as_bytes(), user_agent).await.expect("sent");
    }
    // They are read one after the other, so only the last may still wait for an answer.
    until("all are judged", || {
        let figures = kit.user_agent.figures();
        (figures.refused == tries.len() as u64 + 1).then_some(()).ok_or(format!("{figures:?}"))
    })
    .await;
    assert_eq!(received(&stranger), 0, "a stranger was answered");
    for (number, to) in [user_agent, tls].into_iter().enumerate() {
        let mut stream = connection(9, to).await.expect("the listener is there");
        assert_eq!(until_closed(&mut stream, tries[1].as_bytes()).await, b"", "a stranger was answered");
        assert_eq!(kit.user_agent.figures().refused, tries.len() as u64 + 2 + number as u64);
    }
    assert_eq!((kit.user_agent.figures().streams, kit.user_agent.figures().transactions), (0, 0));
    assert!(kit.incoming.try_recv().is_err());
    kit.user_agent.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_takes_nothing_holds_nobody_up() {
    let peer = sipp::callee("answer", &[("code", "200")]).await;
    let kit = Kit::start(vec![trunk(peer.port)]).await;
    let user_agent = kit.user_agent.local_address();
    let (cuts, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (counted, ended) = (cuts.clone(), over.clone());
    let attack = tokio::spawn(async move {
        while !ended.load(Ordering::Relaxed) {
            // From the trunk's own address: a stranger's is not even accepted. Nothing of the answers, which
            // are as long as their Call-ID, is read.
            let mut stream = connection(1, user_agent).await.expect("connected");
            for number in 0.. {
                let call = Call::new(
                    &format!("{number}{}", "x".repeat(4000)),
                    user_agent,
                    address_of(&stream),
                    address_of(&stream),
                );
                if stream.write_all(call.request("OPTIONS", "TCP", "", "").as_bytes()).await.is_err() {
                    break;
                }
            }
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut most = 0;
    let mut cut_off = async |before: usize| {
        until("it is cut off", || {
            most = most.max(kit.user_agent.figures().queued);
            (cuts.load(Ordering::Relaxed) > before)
                .then_some(())
                .ok_or(format!("{:?}", kit.user_agent.figures()))
        })
        .await;
    };
    cut_off(0).await;
    let mut leg = kit.dial().await;
    answered(&mut leg).await;
    leg.control.hang_up().await;
    rest(&mut leg).await;
    peer.succeeds().await;
    over.store(true, Ordering::Relaxed);
    cut_off(cuts.load(Ordering::Relaxed).saturating_sub(1)).await;
    attack.await.expect("the attack is over");
    assert!(most <= 256 * 1024 + 16 * 1024, "{most} bytes waited");
    until("nothing is held", || {
        let figures = kit.user_agent.figures();
        (figures.streams == 0 && figures.queued == 0).then_some(()).ok_or(format!("{figures:?}"))
    })
    .await;
    kit.finish().await;
}

fn address_of(stream: &tokio::net::TcpStream) -> SocketAddr {
    stream.local_addr().expect("bound")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_bounded() {
    let peer = sipp::callee_tcp("answer", &[("code", "200")]).await;
    let mut tcp = trunk(peer.port);
    tcp.transport = Transport::Tcp;
    let kit = Kit::start(vec![tcp]).await;
    let user_agent = kit.user_agent.local_address();
    let mut held = Vec::new();
    for last in [1, 9] {
        for _ in 0..40 {
            held.push(connection(last, user_agent).await.expect("connected"));
        }
    }
    until("the rest is turned away", || {
        let figures = kit.user_agent.figures();
        let settled = figures.streams == 32 && figures.crowded == 8 && figures.refused == 40;
        settled.then_some(()).ok_or(format!("{figures:?}"))
    })
    .await;
    // What we open ourselves is not among them.
    let mut leg = kit.dial().await;
    answered(&mut leg).await;
    leg.control.hang_up().await;
    rest(&mut leg).await;
    peer.succeeds().await;
    drop(held);
    until("nothing is held", || {
        (kit.user_agent.figures().streams == 0).then_some(()).ok_or(format!("{:?}", kit.user_agent.figures()))
    })
    .await;
    assert_eq!(connection(1, user_agent).await.map(|_| ()), Some(()), "there is room again");
    kit.finish().await;
}

/// Run by `main`: the limits are of five and ten seconds.
pub async fn what_is_never_finished_is_given_up() {
    let (kit, tls) = kit_for(1).await;
    let user_agent = kit.user_agent.local_address();
    let call = Call::new("unfinished", user_agent, user_agent, user_agent);
    let whole = call.request("OPTIONS", "TCP", "", "");
    let endless = format!("OPTIONS sip:a SIP/2.0\r\nX: {}", "x".repeat(17_000));
    let starts: Vec<(SocketAddr, String)> = vec![
        (user_agent, whole.replace("Content-Length: 0", "Content-Length: 999999999")),
        (user_agent, whole.replace("Content-Length: 0", "Content-Length: 18446744073709551615")),
        (user_agent, whole.replace("Content-Length: 0", "Content-Length: 5")),
        (user_agent, endless),
        (user_agent, whole[..40].to_owned()),
        (user_agent, "nonsense\r\n\r\n".into()),
        (tls, String::new()),
        (tls, "\u{16}\u{3}\u{1}".into()),
    ];
    let count = starts.len() as u64;
    let tries = starts.into_iter().map(|(to, text)| async move {
        let mut stream = connection(1, to).await.expect("connected");
        assert_eq!(until_closed(&mut stream, text.as_bytes()).await, b"", "{text}");
    });
    let mut all = tokio::task::JoinSet::new();
    tries.for_each(|one| drop(all.spawn(one)));
    while let Some(one) = all.join_next().await {
        one.expect("closed without a word");
    }
    until("all are counted", || {
        let figures = kit.user_agent.figures();
        (figures.streams == 0 && figures.junk == count).then_some(()).ok_or(format!("{figures:?}"))
    })
    .await;
    kit.finish().await;
}

/// Run by `main`: the call is given up after 32 seconds.
pub async fn a_forged_call_brings_no_sound_and_ends() {
    let mut kit = Kit::start(vec![trunk(free_port())]).await;
    let (carrier, sound, contact) = (socket(1).await, socket(9).await, socket(10).await);
    let mut forged = Call::new("forged", kit.user_agent.local_address(), address(&contact), address(&sound));
    let coming = async {
        let call = kit.call().await;
        call.ring().await;
        assert_eq!(
            call.answer(Box::new(Recorder::default())).await.err(),
            Some(AnswerFailed::NotAcknowledged)
        );
    };
    let asking = async {
        assert!(forged.ask(&carrier, "").await.starts_with("SIP/2.0 200"));
        // Where the call came from is told that it is over.
        while !message(&carrier).await.starts_with("BYE ") {}
    };
    tokio::join!(coming, asking);
    until("the channel is free", || {
        (kit.user_agent.figures().channels == 0)
            .then_some(())
            .ok_or(format!("{:?}", kit.user_agent.figures()))
    })
    .await;
    assert_eq!(kit.engine.figures().packets_out, 0);
    assert_eq!(
        (received(&sound), received(&contact)),
        (0, 0),
        "packets to the addresses that the INVITE names"
    );
    kit.user_agent.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sound_begins_with_the_acknowledgement() {
    let mut kit = Kit::start(vec![trunk(free_port())]).await;
    let (carrier, sound) = (socket(1).await, socket(1).await);
    let mut call = call_from(&carrier, &kit, "honest", address(&sound)).await;
    let (asked, coming) = tokio::join!(call.ask(&carrier, ""), picks_up(&mut kit));
    assert!(asked.starts_with("SIP/2.0 200"), "{asked}");
    // A repetition of the answer comes after half a second of silence.
    assert!(call.answer(&carrier).await.starts_with("SIP/2.0 200"));
    assert!(!coming.0.is_finished());
    assert_eq!((received(&sound), kit.engine.figures().lines), (0, 0));
    call.acknowledge(&carrier).await;
    let mut leg = coming.0.await.expect("a task").expect("answered");
    assert!(matches!(event(&mut leg).await, LegEvent::Answered(_)));
    message(&sound).await;
    carrier.send_to(call.next("BYE", "").as_bytes(), call.user_agent).await.expect("sent");
    let (_, end) = rest(&mut leg).await;
    assert_eq!(end.by, EndedBy::Them);
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_nobody_acknowledges_leave_a_quarter_of_the_channels() {
    let mut small = trunk(free_port());
    small.channels = 4;
    let mut kit = Kit::start(vec![small]).await;
    let carrier = socket(1).await;
    let mut calls = Vec::new();
    let mut answering = Vec::new();
    for number in 0..3 {
        let mut call = call_from(&carrier, &kit, &format!("quarter{number}"), address(&carrier)).await;
        let (answer, coming) = tokio::join!(call.ask(&carrier, ""), picks_up(&mut kit));
        assert!(answer.starts_with("SIP/2.0 200"), "{answer}");
        calls.push(call);
        answering.push(coming);
    }
    let other = socket(1).await;
    let mut fourth = call_from(&other, &kit, "quarter3", address(&other)).await;
    assert!(fourth.ask(&other, "").await.starts_with("SIP/2.0 503"));
    assert!(kit.incoming.try_recv().is_err());
    calls[0].acknowledge(&carrier).await;
    let first = answering.remove(0).0.await.expect("a task").expect("answered");
    let (answer, ()) = tokio::join!(fourth.ask(&other, ""), async { drop(kit.call().await) });
    assert!(answer.starts_with("SIP/2.0 4"), "{answer}");
    drop(first);
    kit.user_agent.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forged_acknowledgement_of_a_refusal_frees_nothing() {
    let mut small = trunk(free_port());
    small.channels = 1;
    let mut kit = Kit::start(vec![small]).await;
    let carrier = socket(1).await;
    let mut forged = call_from(&carrier, &kit, "forged", address(&carrier)).await;
    forged.forges = true;
    let (answer, ()) = tokio::join!(forged.ask(&carrier, ""), async { kit.call().await.reject(486).await });
    assert!(answer.starts_with("SIP/2.0 486"), "{answer}");
    // The stack has taken the ACK for one.
    until("the transaction is over", || {
        let figures = kit.user_agent.figures();
        (figures.transactions == 0 && figures.legs == 1).then_some(()).ok_or(format!("{figures:?}"))
    })
    .await;
    let mut next = call_from(&carrier, &kit, "next", address(&carrier)).await;
    assert!(next.ask(&carrier, "").await.starts_with("SIP/2.0 503"));
    assert!(kit.incoming.try_recv().is_err());
    kit.user_agent.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_else_speaks_in_a_call() {
    let mut kit = Kit::start(vec![trunk(free_port())]).await;
    let (carrier, sound, stranger) = (socket(1).await, socket(1).await, socket(9).await);
    let mut call = call_from(&carrier, &kit, "spoken", address(&sound)).await;
    let (_, coming) = tokio::join!(call.ask(&carrier, ""), picks_up(&mut kit));
    call.acknowledge(&carrier).await;
    let mut leg = coming.0.await.expect("a task").expect("answered");
    assert!(matches!(event(&mut leg).await, LegEvent::Answered(_)));
    // The stranger knows every name of the call.
    let mut theirs = Call::new("spoken", call.user_agent, address(&stranger), address(&stranger));
    theirs.tag.clone_from(&call.tag);
    let sdp = theirs.sdp();
    let before = kit.user_agent.figures().refused;
    for text in [
        theirs.next("INVITE", &sdp),
        theirs.next("UPDATE", &sdp),
        theirs.next("REFER", ""),
        theirs.next("BYE", ""),
    ] {
        stranger.send_to(text.as_bytes(), call.user_agent).await.expect("sent");
    }
    until("they are dropped", || {
        (kit.user_agent.figures().refused == before + 4)
            .then_some(())
            .ok_or(format!("{:?}", kit.user_agent.figures()))
    })
    .await;
    // The call goes on where it was.
    message(&sound).await;
    assert_eq!(received(&stranger), 0);
    assert!(leg.events.try_recv().is_err());
    carrier.send_to(call.next("BYE", "").as_bytes(), call.user_agent).await.expect("sent");
    rest(&mut leg).await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trunk_can_be_held_to_connections() {
    let port = free_port();
    let mut tcp = trunk(port);
    tcp.inbound_transport = InboundTransport::Tcp;
    let mut kit = Kit::start(vec![tcp]).await;
    let carrier = socket(1).await;
    let call = call_from(&carrier, &kit, "datagram", address(&carrier)).await;
    for text in [call.invite("UDP", ""), call.request("OPTIONS", "UDP", "", "")] {
        carrier.send_to(text.as_bytes(), call.user_agent).await.expect("sent");
    }
    until("both are dropped", || {
        (kit.user_agent.figures().refused == 2).then_some(()).ok_or(format!("{:?}", kit.user_agent.figures()))
    })
    .await;
    assert_eq!(received(&carrier), 0);
    assert!(kit.incoming.try_recv().is_err());
    let peer = sipp::caller_from(
        "call",
        port,
        kit.port(),
        &[("called", "1"), ("extra", "X-Nothing: 1")],
        &["-t", "t1"],
    )
    .await;
    let mut leg = kit.call().await.answer(Box::new(Recorder::default())).await.expect("answered");
    rest(&mut leg).await;
    peer.succeeds().await;
    kit.finish().await;
}

/// What answers a challenge of ours by MD5.
fn proof(challenged: &str, password: &str) -> String {
    let line = challenged
        .lines()
        .find(|line| line.starts_with("WWW-Authenticate") && line.contains("MD5"))
        .expect("a challenge by MD5");
    let of = |name: &str| {
        line.split(&format!("{name}=\""))
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .expect("a parameter")
            .to_owned()
    };
    let hash = |text: String| {
        Md5::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let (realm, nonce, uri) = (of("realm"), of("nonce"), "sip:x");
    let (secret, what) = (hash(format!("carrier:{realm}:{password}")), hash(format!("INVITE:{uri}")));
    let response = hash(format!("{secret}:{nonce}:00000001:c:auth:{what}"));
    format!(
        "Authorization: Digest username=\"carrier\", realm=\"{realm}\", nonce=\"{nonce}\", uri=\"{uri}\", response=\"{response}\", algorithm=MD5, \
         qop=auth, nc=00000001, cnonce=\"c\"\r\n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trunk_can_be_asked_for_its_password() {
    let mut asked = trunk(free_port());
    (asked.username, asked.password, asked.inbound_auth) =
        (Some("carrier".into()), Some("secret".into()), true);
    let mut kit = Kit::start(vec![asked]).await;
    let carrier = socket(1).await;
    let mut call = call_from(&carrier, &kit, "proven", address(&carrier)).await;
    let challenged = call.ask(&carrier, "").await;
    assert!(challenged.starts_with("SIP/2.0 401") && challenged.contains("SHA-256"), "{challenged}");
    let wrong = call.ask(&carrier, &proof(&challenged, "guess")).await;
    assert!(wrong.starts_with("SIP/2.0 401") && !wrong.contains("stale"), "{wrong}");
    let right = proof(&challenged, "secret");
    let (answer, coming) = tokio::join!(call.ask(&carrier, &right), picks_up(&mut kit));
    assert!(answer.starts_with("SIP/2.0 200"), "{answer}");
    call.acknowledge(&carrier).await;
    let mut leg = coming.0.await.expect("a task").expect("answered");
    carrier.send_to(call.next("BYE", "").as_bytes(), call.user_agent).await.expect("sent");
    rest(&mut leg).await;
    // The same proof again, in the same call and in another one.
    for name in ["proven", "other"] {
        let again = call_from(&carrier, &kit, name, address(&carrier)).await;
        let text = again.request("INVITE", "UDP", &right, &again.sdp()).replace("z9hG4bK", "z9hG4bKagain");
        carrier.send_to(text.as_bytes(), again.user_agent).await.expect("sent");
        let refused = again.answer(&carrier).await;
        assert!(refused.starts_with("SIP/2.0 401") && refused.contains("stale=true"), "{refused}");
    }
    assert!(kit.incoming.try_recv().is_err());
    until("a challenge is not remembered", || {
        let figures = kit.user_agent.figures();
        (figures.transactions == 0 && figures.channels == 0).then_some(()).ok_or(format!("{figures:?}"))
    })
    .await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_peoples_phones_answer_the_challenge() {
    let port = free_port();
    let mut asked = trunk(port);
    (asked.username, asked.password, asked.inbound_auth) =
        (Some("carrier".into()), Some("secret".into()), true);
    let mut kit = Kit::start(vec![asked]).await;
    let peer = sipp::caller_from(
        "call_auth",
        port,
        kit.port(),
        &[("called", "1")],
        &["-au", "carrier", "-ap", "secret"],
    )
    .await;
    let mut leg = kit.call().await.answer(Box::new(Recorder::default())).await.expect("answered");
    rest(&mut leg).await;
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_sprays_ports_while_a_call_comes_in_hears_nothing() {
    let mut kit = Kit::start(vec![trunk(free_port())]).await;
    let (carrier, sound) = (socket(1).await, socket(1).await);
    // One at another address, one at another port of the caller's own.
    let (stranger, neighbour) = (socket(9).await, socket(1).await);
    let mut call = call_from(&carrier, &kit, "sprayed", address(&sound)).await;
    let (answer, coming) = tokio::join!(call.ask(&carrier, ""), picks_up(&mut kit));
    let port = sound_of(&answer);
    let (mut strange, mut near) = (Sound::new(5), Sound::new(6));
    for _ in 0..30 {
        stranger.send_to(&strange.packet(), port).await.expect("sent");
        neighbour.send_to(&near.packet(), port).await.expect("sent");
    }
    call.acknowledge(&carrier).await;
    let mut leg = coming.0.await.expect("a task").expect("answered");
    let line = leg.control.line().expect("sound");
    until("they are thrown away", || {
        (line.figures().early == 60).then_some(()).ok_or(format!("{:?}", line.figures()))
    })
    .await;
    // The stranger goes on, as fast as speech; the caller is silent.
    for _ in 0..20 {
        message(&sound).await;
        stranger.send_to(&strange.packet(), port).await.expect("sent");
    }
    until("they are counted", || {
        (line.figures().foreign == 20).then_some(()).ok_or(format!("{:?}", line.figures()))
    })
    .await;
    message(&sound).await;
    assert_eq!((received(&stranger), received(&neighbour)), (0, 0), "packets to whoever sprays");
    assert_eq!((line.figures().packets_in, line.figures().early), (0, 60));
    carrier.send_to(call.next("BYE", "").as_bytes(), call.user_agent).await.expect("sent");
    rest(&mut leg).await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sound_comes_from_where_the_trunk_signals_and_from_its_networks() {
    // Behind a NAT the SDP names an address that leads nowhere.
    let nowhere = SocketAddr::new(here(200), 9);
    for (networks, from) in [(vec![], 1), (vec!["127.0.0.16/28"], 20)] {
        let mut behind = trunk(free_port());
        behind.media_from = networks.iter().map(|text| text.parse().expect("a network")).collect();
        let mut kit = Kit::start(vec![behind]).await;
        let (carrier, sound) = (socket(1).await, socket(from).await);
        let mut call = call_from(&carrier, &kit, "behind", nowhere).await;
        let (answer, coming) = tokio::join!(call.ask(&carrier, ""), picks_up(&mut kit));
        call.acknowledge(&carrier).await;
        let mut leg = coming.0.await.expect("a task").expect("answered");
        let (port, mut speech) = (sound_of(&answer), Sound::new(5));
        let line = leg.control.line().expect("sound");
        let mut spoken_to = 0;
        while spoken_to == 0 {
            sound.send_to(&speech.packet(), port).await.expect("sent");
            moment().await;
            spoken_to = received(&sound);
        }
        assert!(line.figures().packets_in > 0);
        carrier.send_to(call.next("BYE", "").as_bytes(), call.user_agent).await.expect("sent");
        rest(&mut leg).await;
        kit.finish().await;
    }
}

//! Which trunk takes a call, and how a trunk is doing.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use telephony::settings::{NumberFormat, Settings, Transport};
use telephony::sip::{Dial, DialFailed, Leg, Share, Usage};

use super::sipp;
use super::support::{Kit, Recorder, answered, free_port, order, rest, settings, trunk, until};

/// A trunk that answers OPTIONS, while it is told to live, and nothing else.
struct Fake {
    port: u16,
    alive: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    /// Every other message.
    other: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
}

impl Fake {
    fn start(status: &'static str) -> Self {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).expect("a port");
        socket.set_read_timeout(Some(Duration::from_millis(100))).expect("a time-out");
        let fake = Self {
            port: socket.local_addr().expect("bound").port(),
            alive: Arc::new(AtomicBool::new(true)),
            asked: Arc::default(),
            other: Arc::default(),
            over: Arc::default(),
        };
        let (alive, asked, other, over) =
            (fake.alive.clone(), fake.asked.clone(), fake.other.clone(), fake.over.clone());
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while !over.load(Ordering::Relaxed) {
                let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
                let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
                if !text.starts_with("OPTIONS sip:127.0.0.1:") {
                    other.lock().expect("messages").push(text);
                    continue;
                }
                asked.fetch_add(1, Ordering::Relaxed);
                if alive.load(Ordering::Relaxed) {
                    let kept: Vec<&str> = text
                        .lines()
                        .filter(|line| {
                            ["Via:", "From:", "To:", "Call-ID:", "CSeq:"]
                                .iter()
                                .any(|name| line.starts_with(name))
                        })
                        .collect();
                    let answer =
                        format!("SIP/2.0 {status}\r\n{}\r\nContent-Length: 0\r\n\r\n", kept.join("\r\n"));
                    drop(socket.send_to(answer.as_bytes(), from));
                }
            }
        });
        fake
    }

    /// Messages other than OPTIONS in which this text stands.
    fn heard(&self, text: &str) -> usize {
        self.other.lock().expect("messages").iter().filter(|message| message.contains(text)).count()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

async fn healthy(kit: &Kit, expected: Option<bool>) {
    until("the health is seen", || {
        let health = kit.user_agent.trunks().remove(0);
        (health.healthy == expected).then_some(()).ok_or(format!("{health:?}"))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_answer_to_options_is_life() {
    // A refusal is an answer, too.
    let fake = Fake::start("404 Not Found");
    let mut probed = trunk(fake.port);
    probed.options_interval = Duration::from_millis(150);
    let kit = Kit::start(vec![probed]).await;
    healthy(&kit, Some(true)).await;
    fake.alive.store(false, Ordering::Relaxed);
    healthy(&kit, Some(false)).await;
    let health = kit.user_agent.trunks().remove(0);
    assert!(health.error.is_some_and(|error| error.contains("no answer")));
    match kit.user_agent.dial(order("down")).await {
        Err(DialFailed::ProviderErrorBeforeRing { status: None, reason }) => {
            assert!(reason.contains("down"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
    fake.alive.store(true, Ordering::Relaxed);
    healthy(&kit, Some(true)).await;
    kit.user_agent.stop().await;
    let asked = fake.asked.load(Ordering::Relaxed);
    assert!(asked >= 4, "{asked}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trunk_that_was_never_heard_is_unknown_then_down() {
    let fake = Fake::start("200 OK");
    fake.alive.store(false, Ordering::Relaxed);
    let mut probed = trunk(fake.port);
    probed.options_interval = Duration::from_millis(400);
    let kit = Kit::start(vec![probed]).await;
    assert_eq!(kit.user_agent.trunks()[0].healthy, None);
    healthy(&kit, Some(false)).await;
    kit.user_agent.stop().await;
}

fn refused(outcome: Result<Leg, DialFailed>, why: &str) {
    match outcome {
        Err(DialFailed::ProviderErrorBeforeRing { status: None, reason }) => {
            assert!(reason.contains(why), "{reason}")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trunk_that_never_answered_is_asked_before_it_is_dialled() {
    let (fake, takes) = (Fake::start("200 OK"), sipp::callee("answer", &[("code", "200")]).await);
    fake.alive.store(false, Ordering::Relaxed);
    let mut silent = trunk(fake.port);
    silent.options_interval = Duration::from_secs(60);
    let kit = Kit::start(vec![silent, trunk(takes.port)]).await;
    let only = |id: &str| Dial { trunk: Some(format!("t{}", fake.port)), ..order(id) };
    assert_eq!(kit.user_agent.trunks()[0].up, Some(false));
    assert_eq!(kit.user_agent.trunks()[1].up, None, "nothing is asked of it");
    // Calls that come together ask once, and none goes out.
    let before = fake.asked.load(Ordering::Relaxed);
    let (one, two, three) = tokio::join!(
        kit.user_agent.dial(only("one")),
        kit.user_agent.dial(only("two")),
        kit.user_agent.dial(only("three")),
    );
    for outcome in [one, two, three] {
        refused(outcome, "OPTIONS: no answer");
    }
    // The first of the user agent and that of the calls, each repeated as datagrams are.
    let asked = fake.asked.load(Ordering::Relaxed) - before;
    assert!(asked <= 10, "{asked} datagrams");
    // The next trunk takes the call.
    answers(&kit, "next", takes.port).await;
    takes.succeeds().await;
    healthy(&kit, Some(false)).await;
    refused(kit.user_agent.dial(only("four")).await, "down");
    assert_eq!(fake.heard(""), 0, "{:?}", fake.other.lock());
    kit.user_agent.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trunk_that_did_not_answer_an_invite_is_asked_before_the_next() {
    let fake = Fake::start("200 OK");
    let mut dying = trunk(fake.port);
    dying.options_interval = Duration::from_secs(60);
    let mut with = settings(vec![dying]);
    with.response_timeout = Duration::from_millis(500);
    let kit = Kit::with(with).await;
    healthy(&kit, Some(true)).await;
    assert_eq!(kit.user_agent.trunks()[0].up, Some(true));
    let uncertain = |outcome: Result<Leg, DialFailed>| match outcome {
        Err(DialFailed::Uncertain { .. }) => {}
        other => panic!("{other:?}"),
    };
    uncertain(kit.user_agent.dial(order("lost")).await);
    // It lives, so it is dialled again.
    uncertain(kit.user_agent.dial(order("again")).await);
    assert!(fake.heard("Call-ID: again@") > 0);
    fake.alive.store(false, Ordering::Relaxed);
    refused(kit.user_agent.dial(order("spared")).await, "OPTIONS: no answer");
    assert_eq!(fake.heard("Call-ID: spared@"), 0);
    kit.user_agent.stop().await;
}

/// Run by `main`: it waits for half a minute.
pub async fn a_registrar_that_says_nothing() {
    let fake = Fake::start("200 OK");
    let mut with = trunk(fake.port);
    with.username = Some("us".into());
    with.register = true;
    let kit = Kit::start(vec![with]).await;
    let health = kit.user_agent.trunks().remove(0);
    assert_eq!((health.healthy, health.registered), (Some(true), Some(false)), "{health:?}");
    until("it is known that nobody answers", || {
        let health = kit.user_agent.trunks().remove(0);
        let told = health.error.as_deref().is_some_and(|why| why.contains("REGISTER: no answer"));
        told.then_some(()).ok_or(format!("{health:?}"))
    })
    .await;
    assert!(fake.heard("REGISTER sip:") > 0);
    kit.user_agent.stop().await;
}

async fn answers(kit: &Kit, id: &str, port: u16) {
    let mut leg = kit.user_agent.dial(order(id)).await.expect("the next trunk takes it");
    assert_eq!(leg.control.trunk(), format!("t{port}"));
    answered(&mut leg).await;
    leg.control.hang_up().await;
    rest(&mut leg).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_trunk_after_a_refusal() {
    let refuses = sipp::callee("final", &[("status", "503"), ("extra", "Retry-After: 30")]).await;
    let takes = sipp::callee("answer", &[("code", "200")]).await;
    let again = sipp::callee("answer", &[("code", "200")]).await;
    let kit = Kit::start(vec![trunk(refuses.port), trunk(takes.port), trunk(again.port)]).await;
    answers(&kit, "moved", takes.port).await;
    let messages = refuses.succeeds().await;
    assert!(messages.contains("Call-ID: moved@127.0.0.1"), "{messages}");
    let messages = takes.succeeds().await;
    assert!(messages.contains("Call-ID: moved.2@127.0.0.1"), "{messages}");
    // The first asked to be left alone; it is not asked again.
    let third = Dial { trunk: Some(format!("t{}", again.port)), ..order("third") };
    let mut leg = kit.user_agent.dial(third).await.expect("named");
    answered(&mut leg).await;
    leg.control.hang_up().await;
    rest(&mut leg).await;
    again.succeeds().await;
    let first = Dial { trunk: Some(kit.user_agent.trunks()[0].name.clone()), ..order("first") };
    match kit.user_agent.dial(first).await {
        Err(DialFailed::ProviderErrorBeforeRing { reason, .. }) => {
            assert!(reason.contains("Retry-After"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_trunk_when_one_cannot_be_reached() {
    let takes = sipp::callee("answer", &[("code", "200")]).await;
    let mut closed = trunk(free_port());
    closed.transport = Transport::Tcp;
    let mut nameless = trunk(free_port());
    nameless.address = "no-such-host.invalid:5060".into();
    let mut full = trunk(free_port());
    full.channels = 0;
    let kit = Kit::start(vec![closed, nameless, full, trunk(takes.port)]).await;
    answers(&kit, "reached", takes.port).await;
    takes.succeeds().await;
    let errors: Vec<String> = kit.user_agent.trunks().into_iter().filter_map(|health| health.error).collect();
    assert_eq!(errors.len(), 3, "{errors:?}");
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn channels_are_counted_and_given_back() {
    let first = sipp::callee("answer", &[("code", "200")]).await;
    let mut one = trunk(first.port);
    one.channels = 1;
    let kit = Kit::start(vec![one]).await;
    let mut leg = kit.dial().await;
    answered(&mut leg).await;
    assert_eq!(kit.user_agent.trunks()[0].calls, 1);
    match kit.user_agent.dial(order("second")).await {
        Err(DialFailed::ProviderErrorBeforeRing { reason, .. }) => {
            assert!(reason.contains("channels"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
    leg.control.hang_up().await;
    rest(&mut leg).await;
    assert_eq!(kit.user_agent.trunks()[0].calls, 0);
    first.succeeds().await;
    kit.finish().await;
}

/// What [`UserAgent::share`](telephony::sip::UserAgent::share) gives, and how often a look was wanted.
async fn shared(with: telephony::settings::Trunk) -> (Kit, Share, Arc<AtomicUsize>) {
    let kit = Kit::with(Settings { shared: true, ..settings(vec![with]) }).await;
    let wanted = Arc::new(AtomicUsize::new(0));
    let raised = wanted.clone();
    let share = kit
        .user_agent
        .share(Box::new(move || {
            raised.fetch_add(1, Ordering::SeqCst);
        }))
        .remove(0);
    (kit, share, wanted)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shared_trunk_has_the_channels_that_it_was_granted() {
    let later = || tokio::time::Instant::now() + Duration::from_secs(3600);
    let full = |outcome: Result<Leg, DialFailed>| match outcome {
        Err(DialFailed::ProviderErrorBeforeRing { reason, .. }) => {
            assert!(reason.contains("channels"), "{reason}")
        }
        other => panic!("{other:?}"),
    };
    let first = sipp::callee("answer", &[("code", "200")]).await;
    let (kit, share, wanted) = shared(trunk(first.port)).await;
    assert_eq!(share.usage(), Usage { used: 0, granted: 0, waiting: 0 });
    // A call waits for a channel and takes the one that comes.
    let (dialling, granting) = (kit.user_agent.dial(order("first")), async {
        until("a channel is wanted", || {
            (wanted.load(Ordering::SeqCst) > 0 && share.usage().waiting == 1)
                .then_some(())
                .ok_or(String::new())
        })
        .await;
        share.grant(1, later());
    });
    let (leg, ()) = tokio::join!(dialling, granting);
    let mut leg = leg.expect("the trunk takes it");
    answered(&mut leg).await;
    full(kit.user_agent.dial(order("second")).await);
    // A channel that is in use is not given back, one that is free is, and none is used after the grant has lapsed.
    assert_eq!(share.hold(0), Usage { used: 1, granted: 1, waiting: 0 });
    share.grant(3, later());
    assert_eq!(share.hold(2).granted, 2);
    share.grant(3, tokio::time::Instant::now());
    full(kit.user_agent.dial(order("third")).await);
    assert_eq!(share.hold(3).granted, 1, "what lapsed is not this node's any more");
    leg.control.hang_up().await;
    rest(&mut leg).await;
    assert_eq!(share.usage().used, 0);
    first.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_comes_in_waits_for_a_channel_of_another_node() {
    let from = free_port();
    let (mut kit, share, wanted) = shared(trunk(from)).await;
    let peer =
        sipp::caller_from("call", from, kit.port(), &[("called", "1"), ("extra", "X-A: b")], &[]).await;
    until("a channel is wanted", || (wanted.load(Ordering::SeqCst) > 0).then_some(()).ok_or(String::new()))
        .await;
    share.grant(1, tokio::time::Instant::now() + Duration::from_secs(3600));
    let mut leg = kit.call().await.answer(Box::new(Recorder::default())).await.expect("answered");
    assert_eq!(share.usage().used, 1);
    rest(&mut leg).await;
    peer.succeeds().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registrations() {
    let registrar = sipp::callee("register", &[]).await;
    let mut with = trunk(registrar.port);
    with.username = Some("us".into());
    with.password = Some("secret".into());
    with.register = true;
    let kit = Kit::start(vec![with]).await;
    until("registered", || {
        let health = kit.user_agent.trunks().remove(0);
        (health.registered == Some(true)).then_some(()).ok_or(format!("{health:?}"))
    })
    .await;
    until("refreshed", || {
        let story = registrar.story();
        (story.matches("REGISTER sip:").count() >= 3
            && story.matches("Expires: 2\r\n").count() + story.matches("Expires: 2\n").count() >= 2)
            .then_some(())
            .ok_or(story)
    })
    .await;
    kit.user_agent.stop().await;
    registrar.succeeds().await;
    assert_eq!(kit.user_agent.trunks()[0].registered, Some(false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_proxies_and_caller_ids() {
    let plain = |format: NumberFormat, line: &'static str, identity: &'static str| async move {
        let peer = sipp::callee("answer", &[("code", "200")]).await;
        let mut via = trunk(peer.port);
        via.address = "sip.carrier.example".into();
        via.outbound_proxy = Some(format!("127.0.0.1:{}", peer.port));
        via.number_format = format;
        via.caller_id = Some("+918041111111".into());
        let kit = Kit::start(vec![via]).await;
        let mut leg = kit.dial().await;
        answered(&mut leg).await;
        leg.control.hang_up().await;
        rest(&mut leg).await;
        let messages = peer.succeeds().await;
        for told in [
            format!("INVITE sip:{line}@sip.carrier.example;user=phone SIP/2.0"),
            format!("To: <sip:{line}@sip.carrier.example;user=phone>"),
            format!("P-Asserted-Identity: <sip:{identity}@127.0.0.1;user=phone>"),
            "8041111111@127.0.0.1;user=phone>;tag=".to_owned(),
        ] {
            assert!(messages.contains(&told), "{told}: {messages}");
        }
        assert!(
            messages.contains(&format!("Route: <sip:127.0.0.1:{};lr>", peer_port(&messages))),
            "{messages}"
        );
        kit.finish().await;
    };
    tokio::join!(
        plain(NumberFormat::E164, "+919812345678", "+918040000000"),
        plain(NumberFormat::Plain, "919812345678", "918040000000"),
        plain(NumberFormat::National, "09812345678", "08040000000"),
    );
}

/// A number says that it is one unless the carrier wants that left out; a name never does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_that_do_not_say_what_they_are() {
    let called = |says: bool, caller: &'static str, lines: [&'static str; 2]| async move {
        let peer = sipp::callee("answer", &[("code", "200")]).await;
        let mut via = trunk(peer.port);
        via.outbound_proxy = Some(via.address);
        via.address = "sip.carrier.example".into();
        via.user_phone = says;
        via.caller_id = Some(caller.into());
        let kit = Kit::start(vec![via]).await;
        let mut leg = kit.dial().await;
        answered(&mut leg).await;
        leg.control.hang_up().await;
        rest(&mut leg).await;
        let messages = peer.succeeds().await;
        for told in lines {
            assert!(messages.contains(told), "{told}: {messages}");
        }
        assert_eq!(messages.contains("user=phone"), says);
        kit.finish().await;
    };
    let line = "INVITE sip:09812345678@sip.carrier.example";
    tokio::join!(
        called(false, "+918041111111", [line, "From: <sip:08041111111@127.0.0.1>;tag="]),
        called(
            true,
            "office",
            ["INVITE sip:09812345678@sip.carrier.example;user=phone", "From: <sip:office@127.0.0.1>;tag="]
        ),
    );
}

/// The port in the first Contact that SIPp wrote.
fn peer_port(messages: &str) -> &str {
    let at = messages.find("Contact: <sip:127.0.0.1:").expect("a contact") + "Contact: <sip:127.0.0.1:".len();
    messages[at..].split([';', '>']).next().expect("a port")
}

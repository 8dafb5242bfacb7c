//! The port of legs: every implementation passes the same tests. Each is a caller's gateway whose dials arrive at a
//! queue of incoming legs.

use std::sync::Arc;
use std::time::Duration;

use domain::call::{EndCause, Fact};
use domain::phone::Phone;
use domain::ports::{
    AnswerFailed, DialFailed, EndedBy, IncomingLeg, IncomingLegs, Leg, LegEvent, LegGateway, LegOrder,
};
use telephony::loopback::{self, Loopback};
use telephony::media::Engine;
use telephony::settings::{NumberFormat, Settings};
use telephony::sip::{ToPort, UserAgent};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::support::{PATIENCE, Recorder, settings, tone, trunk, until};

/// Incoming legs, as they arrive.
struct Queue(mpsc::UnboundedSender<Box<dyn IncomingLeg>>);

impl IncomingLegs for Queue {
    fn incoming(&self, call: Box<dyn IncomingLeg>) {
        drop(self.0.send(call));
    }
}

/// A caller's gateway, the calls that arrive at its callees, and what keeps these alive.
struct Network {
    gateway: Arc<dyn LegGateway>,
    incoming: mpsc::UnboundedReceiver<Box<dyn IncomingLeg>>,
    /// How the callees' side names the carrier.
    carrier: &'static str,
    _callees: Option<UserAgent>,
}

impl Network {
    fn loopback() -> Self {
        let (calls, incoming) = mpsc::unbounded_channel();
        let settings = loopback::Settings {
            carrier: "main".into(),
            ring_timeout: Duration::from_secs(30),
            response_timeout: Duration::from_secs(2),
        };
        let gateway = Arc::new(Loopback::new(settings, Arc::new(Queue(calls))));
        Self { gateway, incoming, carrier: "main", _callees: None }
    }

    async fn sip() -> Self {
        let (calls, incoming) = mpsc::unbounded_channel();
        let (unused, _) = mpsc::unbounded_channel();
        let (mut near, mut far) = (settings(vec![]), settings(vec![]));
        near.trunks = vec![trunk(far.listen.port())];
        near.trunks[0].number_format = NumberFormat::E164;
        near.response_timeout = Duration::from_secs(2);
        far.trunks = vec![trunk(near.listen.port())];
        far.trunks[0].carrier = "callers".into();
        let callees = agent(far, Queue(calls)).await;
        let gateway = Arc::new(agent(near, Queue(unused)).await);
        Self { gateway, incoming, carrier: "callers", _callees: Some(callees) }
    }

    async fn next(&mut self) -> Box<dyn IncomingLeg> {
        timeout(PATIENCE, self.incoming.recv()).await.expect("a call in time").expect("the network lives")
    }

    /// Dials, and answers at the other end.
    async fn connected(&mut self) -> (Leg, Leg, Recorder) {
        let gateway = self.gateway.clone();
        let (heard, carrier) = (Recorder::default(), self.carrier);
        let answering = async {
            let call = self.next().await;
            assert_eq!((call.to(), call.carrier()), ("+919812345678", carrier));
            assert_eq!(call.from(), "+918040000000");
            call.ring();
            call.answer(Box::new(heard.clone())).await
        };
        let (dialled, answered) = tokio::join!(gateway.dial(order("connected")), answering);
        let (mut near, mut far) = (dialled.expect("taken"), answered.expect("answered"));
        assert_eq!(event(&mut far).await, LegEvent::Answered);
        assert_eq!([event(&mut near).await, event(&mut near).await], [LegEvent::Ringing, LegEvent::Answered]);
        assert!(near.control.provider_call().starts_with("connected"));
        assert_eq!(gateway.carriers(), ["main"]);
        (near, far, heard)
    }
}

async fn agent(settings: Settings, queue: Queue) -> UserAgent {
    let media = telephony::media::Settings { ports: settings.rtp_ports, threads: settings.media_threads };
    let engine = Engine::start(media).expect("media threads");
    UserAgent::start(settings, engine, Arc::new(ToPort(Arc::new(queue)))).await.expect("a user agent")
}

fn order(id: &str) -> LegOrder {
    let to = Phone::normalize("+919812345678").expect("a number");
    LegOrder { id: id.into(), to, from: "+918040000000".into(), carrier: None, ring_timeout: None }
}

async fn event(leg: &mut Leg) -> LegEvent {
    timeout(PATIENCE, leg.events.next()).await.expect("an event in time").expect("the last event is the end")
}

/// The end, which is the last event.
async fn ended(leg: &mut Leg) -> (Option<u16>, EndedBy, Fact) {
    loop {
        if let LegEvent::Ended(end) = event(leg).await {
            assert_eq!(timeout(PATIENCE, leg.events.next()).await.expect("in time"), None);
            return (end.status, end.by, end.fact);
        }
    }
}

/// Audio, keys, hold, a referral, and a hang-up of either side.
async fn a_call(mut network: Network) {
    let (mut near, mut far, heard_there) = network.connected().await;
    let heard_here = Recorder::default();
    let media = near.control.connect(Box::new(heard_here.clone())).expect("media");
    assert!(near.control.connect(Box::new(Recorder::default())).is_none(), "only once");
    let there = far.control.media().expect("media");
    media.play(&tone(2000));
    there.play(&tone(2000));
    until("both hear the other", || {
        let loud = (heard_here.loudness(400), heard_there.loudness(400));
        (loud.0 > 3000.0 && loud.1 > 3000.0).then_some(()).ok_or(format!("{loud:?}"))
    })
    .await;
    media.clear();
    assert!(media.send_digits("1w2#"), "with a pause, which is no key");
    until("the keys arrive", || (heard_there.digits() == "12#").then_some(()).ok_or(heard_there.digits()))
        .await;

    near.control.refer("+918045670002").await;
    assert_eq!(event(&mut near).await, LegEvent::TransferDone(Err(603)), "the callee takes no referral");

    far.control.hang_up().await;
    let left = Fact::Ended(EndCause::CallerHangup);
    assert_eq!(ended(&mut near).await, (Some(200), EndedBy::Them, left));
    let hung_up = Fact::Ended(EndCause::ApiHangup);
    assert_eq!(ended(&mut far).await, (Some(200), EndedBy::Us, hung_up));
    until("the media ends", || media.is_closed().then_some(()).ok_or(String::new())).await;
    assert!(near.control.media().is_none(), "no media after the end");
    assert!(!media.send_digits("1"), "nothing is pressed after the end");

    // Dropped without a word.
    let (near, mut far, _) = network.connected().await;
    drop(near);
    assert_eq!(ended(&mut far).await, (Some(200), EndedBy::Them, left));
}

/// What a refusal means, before and after a ring.
async fn refusals(mut network: Network) {
    for (status, rings, fact) in [
        (486, true, Fact::Busy),
        (480, true, Fact::NoAnswer),
        (603, true, Fact::Rejected),
        (404, false, Fact::InvalidNumber),
        (503, true, Fact::Sip(503)),
    ] {
        let gateway = network.gateway.clone();
        let (dialled, ()) = tokio::join!(gateway.dial(order("refused")), async {
            let call = network.next().await;
            if rings {
                call.ring();
            }
            call.reject(status);
        });
        let mut leg = dialled.expect("taken");
        assert_eq!(ended(&mut leg).await, (Some(status), EndedBy::Them, fact), "{status}");
        assert!(leg.control.connect(Box::new(Recorder::default())).is_none());
    }
    let gateway = network.gateway.clone();
    let (dialled, ()) = tokio::join!(gateway.dial(order("down")), async { network.next().await.reject(503) });
    assert!(
        matches!(dialled, Err(DialFailed::ProviderErrorBeforeRing { status: Some(503), .. })),
        "nobody was called: {dialled:?}"
    );
    // Dropped without a decision.
    let (dialled, ()) = tokio::join!(gateway.dial(order("dropped")), async { drop(network.next().await) });
    assert_eq!(ended(&mut dialled.expect("taken")).await, (Some(480), EndedBy::Them, Fact::NoAnswer));
    let unknown = LegOrder { carrier: Some("nobody".into()), ..order("unknown") };
    assert!(matches!(
        gateway.dial(unknown).await,
        Err(DialFailed::ProviderErrorBeforeRing { status: None, .. })
    ));
    assert!(network.incoming.try_recv().is_err(), "nobody is dialled over another carrier");
}

/// Dials that are given up: by the caller, by time, and one that nobody responds to.
async fn given_up(mut network: Network) {
    let gateway = network.gateway.clone();
    let (dialled, mut call) = tokio::join!(gateway.dial(order("cancelled")), async {
        let call = network.next().await;
        call.ring();
        call
    });
    let mut leg = dialled.expect("taken");
    leg.control.hang_up().await;
    timeout(PATIENCE, call.cancelled()).await.expect("the callee notices");
    assert_eq!(ended(&mut leg).await, (Some(487), EndedBy::Us, Fact::Ended(EndCause::ApiHangup)));
    let late = call.answer(Box::new(Recorder::default())).await;
    assert!(matches!(late, Err(AnswerFailed::Gone)), "{late:?}");

    let short = LegOrder { ring_timeout: Some(Duration::from_secs(1)), ..order("unanswered") };
    let (dialled, mut call) = tokio::join!(gateway.dial(short), async {
        let call = network.next().await;
        call.ring();
        call
    });
    assert_eq!(ended(&mut dialled.expect("taken")).await, (Some(487), EndedBy::Timeout, Fact::NoAnswer));
    timeout(PATIENCE, call.cancelled()).await.expect("the callee notices");
    drop(call);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_sip() {
    a_call(Network::sip().await).await;
    refusals(Network::sip().await).await;
    given_up(Network::sip().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn within_the_process() {
    a_call(Network::loopback()).await;
    refusals(Network::loopback()).await;
    given_up(Network::loopback()).await;
}

/// A network that loses the call: whether somebody was called is not known. Over SIP see `peers`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_responds_to_is_uncertain() {
    let mut network = Network::loopback();
    let gateway = network.gateway.clone();
    let (dialled, ()) = tokio::join!(gateway.dial(order("lost")), async { network.next().await.ignore() });
    assert!(matches!(dialled, Err(DialFailed::Uncertain { .. })), "{dialled:?}");
    gateway.stop().await;
    assert!(matches!(gateway.dial(order("late")).await, Err(DialFailed::ProviderErrorBeforeRing { .. })));
}

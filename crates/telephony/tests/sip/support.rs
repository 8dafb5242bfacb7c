//! A user agent to test, and what listens to it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use telephony::media::{Ear, Engine, Tick};
use telephony::settings::{Codec, Encryption, InboundTransport, NumberFormat, Settings, Transport, Trunk};
use telephony::sip::{Dial, Inbound, IncomingCall, Leg, LegEnd, LegEvent, UserAgent};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// Nothing that is waited for takes longer on a healthy machine.
pub const PATIENCE: Duration = Duration::from_secs(40);

static NEXT: AtomicU16 = AtomicU16::new(0);

/// The next `count` ports of this process. Below the system's own range, so that nobody is given one by
/// chance.
fn next_ports(count: u16) -> u16 {
    let base = 10_000 + (std::process::id() % 10) as u16 * 2_200;
    base + NEXT.fetch_add(count, Ordering::Relaxed) % 2_180
}

/// A range of RTP ports that no other user agent of this process has.
pub fn ports() -> (u16, u16) {
    let first = next_ports(9).next_multiple_of(2);
    (first, first + 7)
}

/// A port on which nothing listens, by datagram or stream.
pub fn free_port() -> u16 {
    loop {
        let port = next_ports(1);
        if super::sockets::is_free(port) {
            return port;
        }
    }
}

/// A trunk at this port of the loopback.
pub fn trunk(port: u16) -> Trunk {
    Trunk {
        name: format!("t{port}"),
        carrier: telephony::settings::DEFAULT_CARRIER.into(),
        address: format!("127.0.0.1:{port}"),
        transport: Transport::Udp,
        outbound_proxy: None,
        username: None,
        password: None,
        register: false,
        codecs: vec![Codec::Pcmu, Codec::Pcma],
        number_format: NumberFormat::National,
        user_phone: true,
        caller_id: None,
        encryption: Encryption::WhenOffered,
        options_interval: Duration::ZERO,
        channels: 30,
        inbound_from: vec![],
        inbound_transport: InboundTransport::Any,
        inbound_auth: false,
        media_from: vec![],
    }
}

pub fn settings(trunks: Vec<Trunk>) -> Settings {
    Settings {
        listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), free_port()),
        tls: None,
        tls_ca: None,
        public_address: None,
        rtp_ports: ports(),
        ring_timeout: Duration::from_secs(30),
        response_timeout: Duration::from_secs(8),
        media_threads: 1,
        user_agent: "test-phone/1".into(),
        shared: false,
        trunks,
    }
}

/// Calls that came in.
struct Queue(mpsc::UnboundedSender<IncomingCall>);

impl Inbound for Queue {
    fn invite(&self, call: IncomingCall) {
        drop(self.0.send(call));
    }
}

/// A user agent with everything around it.
pub struct Kit {
    pub user_agent: UserAgent,
    pub engine: Engine,
    pub incoming: mpsc::UnboundedReceiver<IncomingCall>,
}

impl Kit {
    pub async fn start(trunks: Vec<Trunk>) -> Self {
        Self::with(settings(trunks)).await
    }

    pub async fn with(settings: Settings) -> Self {
        let (sender, incoming) = mpsc::unbounded_channel();
        Self::answering(settings, Arc::new(Queue(sender)), incoming).await
    }

    pub async fn answering(
        settings: Settings,
        inbound: Arc<dyn Inbound>,
        incoming: mpsc::UnboundedReceiver<IncomingCall>,
    ) -> Self {
        let media = telephony::media::Settings { ports: settings.rtp_ports, threads: settings.media_threads };
        let engine = Engine::start(media).expect("sound threads");
        let user_agent = UserAgent::start(settings, engine.clone(), inbound).await.expect("a user agent");
        Self { user_agent, engine, incoming }
    }

    pub fn port(&self) -> u16 {
        self.user_agent.local_address().port()
    }

    pub async fn dial(&self) -> Leg {
        self.user_agent.dial(order("call")).await.expect("a trunk takes the call")
    }

    pub async fn call(&mut self) -> IncomingCall {
        timeout(PATIENCE, self.incoming.recv()).await.expect("a call in time").expect("the user agent lives")
    }

    /// Nothing of any call is left: no task, dialog, transaction, channel, port or line.
    pub async fn settled(&self) {
        until("everything is given back", || {
            let left = self.user_agent.figures();
            let sound = self.engine.figures();
            let clean = left.legs == 0
                && left.dialogs == 0
                && left.transactions == 0
                && left.channels == 0
                && sound.lines == 0
                && sound.ports_in_use == 0;
            clean.then_some(()).ok_or_else(|| format!("{left:?} {sound:?}"))
        })
        .await;
    }

    /// [`Kit::settled`], and the user agent ends.
    pub async fn finish(self) {
        self.settled().await;
        self.user_agent.stop().await;
    }
}

/// A call to the number that the scenarios expect.
pub fn order(id: &str) -> Dial {
    let to = domain::phone::Phone::normalize("+919812345678").expect("a number");
    Dial { id: id.into(), to, from: "+918040000000".into(), carrier: None, trunk: None, ring_timeout: None }
}

/// Waits for a condition; what it said last is in the panic.
pub async fn until<T>(what: &str, mut check: impl FnMut() -> Result<T, String>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        match check() {
            Ok(value) => return value,
            Err(state) => assert!(Instant::now() < end, "not in time: {what}: {state}"),
        }
        tokio::time::sleep_until(Instant::now() + Duration::from_millis(20)).await;
    }
}

/// The next event.
pub async fn event(leg: &mut Leg) -> LegEvent {
    timeout(PATIENCE, leg.events.recv()).await.expect("an event in time").expect("the last event is the end")
}

/// All events until the end, the end apart.
pub async fn rest(leg: &mut Leg) -> (Vec<LegEvent>, LegEnd) {
    let mut events = Vec::new();
    loop {
        match event(leg).await {
            LegEvent::Ended(end) => {
                assert!(leg.events.try_recv().is_err(), "nothing comes after the end");
                return (events, end);
            }
            other => events.push(other),
        }
    }
}

/// Waits for the answer.
pub async fn answered(leg: &mut Leg) {
    loop {
        match event(leg).await {
            LegEvent::Answered(_) => return,
            LegEvent::Ringing | LegEvent::EarlyMedia(_) => {}
            other => panic!("not an answer: {other:?}"),
        }
    }
}

/// Kinds of events, for comparing.
pub fn kinds(events: &[LegEvent]) -> Vec<&'static str> {
    events
        .iter()
        .map(|event| match event {
            LegEvent::Ringing => "ringing",
            LegEvent::EarlyMedia(_) => "early",
            LegEvent::Answered(_) => "answered",
            LegEvent::Held(true) => "held",
            LegEvent::Held(false) => "resumed",
            LegEvent::Digit(_) => "digit",
            LegEvent::TransferProgress(_) => "progress",
            LegEvent::TransferDone(Ok(())) => "transferred",
            LegEvent::TransferDone(Err(_)) => "not transferred",
            LegEvent::Ended(_) => "ended",
        })
        .collect()
}

/// What an ear has heard.
#[derive(Debug, Default)]
pub struct Heard {
    pub samples: Vec<i16>,
    pub digits: String,
    pub closed: bool,
}

/// Keeps everything that it hears.
#[derive(Clone, Default)]
pub struct Recorder(pub Arc<Mutex<Heard>>);

impl Recorder {
    /// Root mean square of the last `ms` that were heard.
    pub fn loudness(&self, ms: usize) -> f64 {
        let heard = self.0.lock().expect("heard");
        let tail = &heard.samples[heard.samples.len().saturating_sub(ms * 8)..];
        let sum: f64 = tail.iter().map(|sample| f64::from(*sample).powi(2)).sum();
        (sum / tail.len().max(1) as f64).sqrt()
    }

    pub fn digits(&self) -> String {
        self.0.lock().expect("heard").digits.clone()
    }
}

impl Ear for Recorder {
    fn tick(&mut self, tick: Tick<'_>) {
        if let Some(frame) = tick.heard {
            self.0.lock().expect("heard").samples.extend_from_slice(frame);
        }
    }

    fn digit(&mut self, key: char) {
        self.0.lock().expect("heard").digits.push(key);
    }

    fn starved(&mut self, _: u32) {}

    fn closed(&mut self) {
        self.0.lock().expect("heard").closed = true;
    }
}

/// A tone of 8 kHz samples.
pub fn tone(ms: usize) -> Vec<i16> {
    (0..ms * 8)
        .map(|at| (f64::from(at as u32) * 440.0 * std::f64::consts::TAU / 8000.0).sin() * 9000.0)
        .map(|sample| sample as i16)
        .collect()
}

/// Ports for twice forty calls.
pub fn wide_ports() -> (u16, u16) {
    let first = next_ports(161).next_multiple_of(2);
    (first, first + 159)
}

//! The phones of the sandbox network: a SIP peer in this process that rings, answers, talks and listens as
//! the table of the sandbox says (docs/contract/sandbox.md#sandbox-phone-network, [`domain::call::script`]).
//! Calls to it take the whole way of a live call: INVITE, sound, voice detection, recognition.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use domain::call::{Fact, Network, ScriptedFact, refusal, script};
use domain::phone::Phone as Number;
use domain::ports::{DialError, SpeakOrder, Synthesiser};
use telephony::media::{Ear, Engine, Line, Tick};
use telephony::settings::Settings;
use telephony::sip::{Inbound, IncomingCall, Leg, LegEvent, UserAgent};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Talk after which a call with the sandbox is over, whatever is being said: answered at 2 s, ended at 10 s.
pub(super) const TALK: Duration = Duration::from_secs(8);
/// Talk after which the agent begins to take its leave.
pub(super) const GOODBYE_AFTER: Duration = Duration::from_millis(7000);
/// A phone that never answers is given up after this.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);
/// What people say when they pick up.
const HELLO: &str = "Hello.";
/// What they say when the agent has fallen silent, one after the other.
const REPLIES: [&str; 3] = ["Yes.", "Okay.", "Thank you."];
/// From the first word of a short sentence until it is understood.
const UNDERSTANDING: Duration = Duration::from_secs(2);
const OPT_OUT: &str = "Please do not call me again.";
const GREETING: &str = "Please leave a message after the tone.";
/// Tone of answering machines.
const BEEP: (f32, u32) = (1000.0, 500);
/// Level above which sound is speech, of 32767.
const LOUD: i64 = 500;
/// Ticks of silence after which the agent has finished.
const PAUSE_TICKS: u32 = 20;
/// Ticks of sound that are speech and no click.
const SPEECH_TICKS: u32 = 10;

/// The phones.
pub(super) struct Phones {
    user_agent: UserAgent,
}

impl Phones {
    /// Opens them on a port of their own.
    pub(super) async fn start(engine: Engine, voice: Arc<dyn Synthesiser>) -> Result<Self, String> {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let caller = telephony::settings::Trunk {
            name: "callers".into(),
            options_interval: Duration::ZERO,
            inbound_from: vec![loopback.into()],
            ..super::sandbox_trunk(SocketAddr::new(loopback, 5060))
        };
        let settings = Settings {
            listen: SocketAddr::new(loopback, 0),
            tls: None,
            tls_ca: None,
            public_address: None,
            // The engine has its own.
            rtp_ports: (1, 2),
            ring_timeout: Duration::from_secs(120),
            response_timeout: RESPONSE_TIMEOUT,
            media_threads: 1,
            user_agent: "sandbox".into(),
            trunks: vec![caller],
        };
        let user_agent = super::open_user_agent(settings, engine, Arc::new(Exchange { voice })).await?;
        Ok(Self { user_agent })
    }

    /// Where they are called.
    pub(super) fn address(&self) -> SocketAddr {
        self.user_agent.local_address()
    }

    /// Hangs everything up.
    pub(super) async fn stop(&self) {
        self.user_agent.stop().await;
    }
}

struct Exchange {
    voice: Arc<dyn Synthesiser>,
}

impl Inbound for Exchange {
    fn invite(&self, call: IncomingCall) {
        let voice = self.voice.clone();
        tokio::spawn(async move { play(call, voice).await });
    }
}

/// Plays one phone.
async fn play(mut call: IncomingCall, voice: Arc<dyn Synthesiser>) {
    let Ok(number) = Number::normalize(call.to()) else { return call.reject(404).await };
    match refusal(Network::Sandbox, number) {
        Some(DialError::ProviderErrorBeforeRing) => return call.reject(503).await,
        Some(DialError::Uncertain) => return call.ignore(),
        None => {}
    }
    let started = Instant::now();
    let at = |step: &ScriptedFact| started + Duration::from_millis(step.after_ms.unsigned_abs());
    let steps = script(Network::Sandbox, number);
    let Some(first) = steps.first() else { return call.reject(404).await };
    call.ring().await;
    tokio::select! {
        () = sleep_until(at(first)) => {}
        () = call.cancelled() => return,
    }
    match first.fact {
        Fact::Answered => {}
        Fact::Busy => return call.reject(486).await,
        Fact::NoAnswer => return call.reject(480).await,
        Fact::Rejected => return call.reject(603).await,
        _ => return call.reject(404).await,
    }
    let (noticed, pauses) = mpsc::channel(1);
    let Ok(leg) = call.answer(Box::new(Attention { spoken: 0, silent: 0, noticed })).await else { return };
    // The step is when the wish is known; saying and understanding it takes a while.
    let opts_out =
        steps.iter().find(|step| step.fact == Fact::OptOutSaid).map(|step| at(step) - UNDERSTANDING);
    let machine = steps.iter().any(|step| step.fact == Fact::Voicemail);
    talk(leg, voice, pauses, machine, opts_out).await;
}

/// What a phone's owner hears of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noticed {
    /// The caller has spoken and stopped.
    Pause,
}

/// Notices when the caller has finished.
struct Attention {
    spoken: u32,
    silent: u32,
    noticed: mpsc::Sender<Noticed>,
}

impl Ear for Attention {
    fn tick(&mut self, tick: Tick<'_>) {
        let level = tick.heard.map_or(0, |frame| {
            frame.iter().map(|sample| i64::from(*sample).abs()).sum::<i64>() / frame.len() as i64
        });
        if level > LOUD {
            (self.spoken, self.silent) = (self.spoken + 1, 0);
            return;
        }
        self.silent += 1;
        if self.silent == PAUSE_TICKS && self.spoken >= SPEECH_TICKS {
            self.spoken = 0;
            // An owner who has not caught up replies to the last pause only.
            let _ = self.noticed.try_send(Noticed::Pause);
        }
    }

    fn digit(&mut self, _: char) {}

    fn starved(&mut self, _: u32) {}
}

async fn talk(
    leg: Leg,
    voice: Arc<dyn Synthesiser>,
    mut pauses: mpsc::Receiver<Noticed>,
    machine: bool,
    opts_out: Option<Instant>,
) {
    let Leg { control, mut events } = leg;
    let Some(line) = control.line() else { return control.hang_up().await };
    if machine {
        say(&voice, &line, GREETING).await;
        line.play(&telephony::tones::tone(BEEP.0, BEEP.1));
    } else if opts_out.is_none() {
        say(&voice, &line, HELLO).await;
    }
    // A person who says only one thing makes no replies, which would talk over it.
    let mut replies = if machine || opts_out.is_some() { [].iter() } else { REPLIES.iter() };
    let mut opts_out = opts_out;
    loop {
        let opt_out_at = opts_out.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
        tokio::select! {
            event = events.recv() => if matches!(event, None | Some(LegEvent::Ended(_))) { return },
            () = sleep_until(opt_out_at), if opts_out.is_some() => {
                opts_out = None;
                say(&voice, &line, OPT_OUT).await;
            }
            Some(Noticed::Pause) = pauses.recv() => {
                if let Some(reply) = replies.next() {
                    say(&voice, &line, reply).await;
                }
            }
        }
    }
}

/// Says something; a voice that fails is silent.
async fn say(voice: &Arc<dyn Synthesiser>, line: &Line, text: &str) {
    let order = SpeakOrder { text: text.to_owned(), voice: String::new(), language: "en".into() };
    let spoken = async {
        let mut speaking = voice.speak(order).await?;
        // A sentence is said in one breath, however busy the machine is: a gap within it is not understood.
        let mut sentence = Vec::new();
        while let Some(samples) = speaking.next().await {
            sentence.extend(samples?);
        }
        line.play(&sentence);
        Ok::<_, domain::ports::ProviderError>(())
    };
    if let Err(why) = spoken.await {
        tracing::warn!(%why, "a phone of the sandbox has lost its voice");
    }
}

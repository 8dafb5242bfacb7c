//! A trunk at run time: resolved addresses, health (OPTIONS), registration (REGISTER), channels.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rsipstack::resolver::SipResolver;
use rsipstack::sip::{Header, Method};

use super::address::{Hop, number, resolve, safe_user, split_host, user_parameter};
use super::auth::Credentials;
use super::message::{header, made_up, new_tag, parameter, retry_after, value, values};
use super::net::{Ask, Net, REQUEST_LIMIT};
use super::share::{Channels, Registrar, Usage, Wanted};
use crate::media::Sources;
use crate::settings;

/// How long resolved addresses are used.
const NAMES_LAST: Duration = Duration::from_secs(60);
/// Unanswered requests in a row, OPTIONS or REGISTER, that make a trunk count as down.
const MISSES: u32 = 2;
/// Longest wait for the answer to an OPTIONS.
const OPTIONS_LIMIT: Duration = Duration::from_secs(4);
/// Lifetime of a registration that is asked for, seconds.
const REGISTER_FOR: u64 = 3600;

/// The health of a trunk, for `/readyz`, `doctor` and the metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrunkHealth {
    pub name: String,
    /// The carrier that it leads to.
    pub carrier: String,
    /// Whether it answers OPTIONS; none before the first answer or the second miss. `true` when none are sent,
    /// unless REGISTERs stay without an answer.
    pub healthy: Option<bool>,
    /// Whether the last OPTIONS or REGISTER were answered; `false` before the first answer, none when neither is sent
    /// from here.
    pub up: Option<bool>,
    /// Whether we are registered; none when the trunk wants no registration.
    pub registered: Option<bool>,
    /// Calls over it now, incoming and outgoing.
    pub calls: u32,
    /// How many calls this node may carry over it: `channels`, or what it was granted of them where several nodes
    /// share the trunk.
    pub channels: u32,
    /// The last thing that went wrong; it names no telephone number.
    pub error: Option<String>,
    /// How long `healthy` has had its value.
    pub unchanged: Duration,
}

#[derive(Debug)]
struct State {
    healthy: Option<bool>,
    since: Instant,
    missed: u32,
    /// When a request was last missed.
    missed_at: Option<Instant>,
    /// It has answered nothing yet, or not the last request: it is asked before it is dialled.
    doubted: bool,
    registered: bool,
    /// Why the last REGISTER failed.
    unregistered: Option<String>,
    error: Option<String>,
    hops: Vec<Hop>,
    resolved: Option<Instant>,
    /// A 503 with `Retry-After` closed the trunk until then.
    closed_until: Option<Instant>,
    /// The contact of our registration.
    contact: Option<String>,
}

#[derive(Debug)]
pub(super) struct Trunk {
    pub settings: settings::Trunk,
    pub login: Option<Credentials>,
    pub channels: Channels,
    /// Calls that came in and are not acknowledged.
    knocking: AtomicU32,
    pick: AtomicUsize,
    state: Mutex<State>,
    /// Held by the call that asks whether it answers; the others wait for what it learns.
    asking: tokio::sync::Mutex<()>,
}

/// A channel of a trunk, given back when dropped.
#[derive(Debug)]
pub(super) struct Slot(Arc<Trunk>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.channels.give_back();
    }
}

/// The place of an INVITE that came in and whose answer is not acknowledged yet. Its sender may be forged, and
/// then never sees the answer. Given back when dropped.
#[derive(Debug)]
pub(super) struct Knock(Arc<Trunk>);

impl Drop for Knock {
    fn drop(&mut self) {
        self.0.knocking.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Trunk {
    /// A trunk whose addresses are not known yet. One that is `shared` has no channel and no registration until it is
    /// given some; `wanted` is notified when it needs any.
    pub fn new(settings: settings::Trunk, shared: bool, wanted: Arc<OnceLock<Wanted>>) -> Arc<Self> {
        let login = settings
            .username
            .clone()
            .map(|user| Credentials { user, password: settings.password.clone().unwrap_or_default() });
        let healthy = settings.options_interval.is_zero().then_some(true);
        let state = State {
            healthy,
            since: Instant::now(),
            missed: 0,
            missed_at: None,
            doubted: healthy.is_none(),
            registered: false,
            unregistered: None,
            error: None,
            hops: Vec::new(),
            resolved: None,
            closed_until: None,
            contact: None,
        };
        Arc::new(Self {
            channels: Channels::new(settings.channels, shared, wanted),
            settings,
            login,
            knocking: AtomicU32::new(0),
            pick: AtomicUsize::new(0),
            state: Mutex::new(state),
            asking: tokio::sync::Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn health(&self) -> TrunkHealth {
        let Usage { used, granted, .. } = self.channels.usage();
        let state = self.state();
        TrunkHealth {
            name: self.settings.name.clone(),
            carrier: self.settings.carrier.clone(),
            healthy: state.healthy,
            up: (self.sends_options() || self.registers_here()).then_some(state.healthy == Some(true)),
            registered: self.settings.register.then_some(state.registered),
            calls: used,
            channels: granted,
            error: state.error.clone(),
            unchanged: state.since.elapsed(),
        }
    }

    fn sends_options(&self) -> bool {
        !self.settings.options_interval.is_zero()
    }

    fn registers_here(&self) -> bool {
        self.settings.register && matches!(*self.channels.registrar.borrow(), Registrar::Here { .. })
    }

    /// Why no call should be tried over it now.
    pub fn unusable(&self) -> Option<&'static str> {
        let state = self.state();
        if state.healthy == Some(false) {
            return Some("down");
        }
        state
            .closed_until
            .is_some_and(|until| Instant::now() < until)
            .then_some("asked to be left alone (Retry-After)")
    }

    /// Takes a channel for a call; none if all that this node has are in use.
    pub fn slot(self: &Arc<Self>) -> Option<Slot> {
        self.channels.take().then(|| Slot(self.clone()))
    }

    /// Takes a place for an INVITE that comes in; none if INVITEs whose answer is not acknowledged take three
    /// quarters of the channels. The rest is left to outgoing calls.
    pub fn knock(self: &Arc<Self>) -> Option<Knock> {
        let most = self.settings.channels - self.settings.channels / 4;
        let room = |knocking| (knocking < most).then_some(knocking + 1);
        self.knocking
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, room)
            .ok()
            .map(|_| Knock(self.clone()))
    }

    /// Calls over it now.
    pub fn calls(&self) -> u32 {
        self.channels.usage().used
    }

    /// The contact of our registration, from the first try on.
    pub fn contact(&self) -> Option<String> {
        self.state().contact.clone()
    }

    /// The trunk has answered something: it is alive.
    pub fn alive(&self) {
        let mut state = self.state();
        state.missed = 0;
        state.doubted = false;
        if state.healthy != Some(true) {
            tracing::info!(trunk = %self.settings.name, "trunk answers");
            state.healthy = Some(true);
            state.since = Instant::now();
        }
    }

    fn missed(&self, why: String) {
        self.pick.fetch_add(1, Ordering::Relaxed);
        let mut state = self.state();
        state.missed += 1;
        state.missed_at = Some(Instant::now());
        state.doubted = self.sends_options();
        state.resolved = None;
        if state.missed >= MISSES && state.healthy != Some(false) {
            tracing::warn!(trunk = %self.settings.name, error = %why, "trunk is down");
            state.healthy = Some(false);
            state.since = Instant::now();
        }
        state.error = Some(why);
    }

    /// An INVITE got no answer at all: the next call asks first whether there is anybody.
    pub fn doubt(&self, why: &str) {
        let mut state = self.state();
        state.doubted = self.sends_options();
        state.error = Some(why.into());
    }

    /// Asks a trunk that has answered nothing yet, or not the last request, whether it is there: a call to one that is
    /// not would be lost in the dark. Calls that come together ask once.
    ///
    /// # Errors
    /// A text for logs: no answer.
    pub async fn answers(&self, net: &Net) -> Result<(), String> {
        let begun = Instant::now();
        if !self.state().doubted {
            return Ok(());
        }
        let _asking = self.asking.lock().await;
        {
            let state = self.state();
            if !state.doubted {
                return Ok(());
            }
            if state.missed_at.is_some_and(|at| at >= begun) {
                return Err(state.error.clone().unwrap_or_default());
            }
        }
        let answered = self.options(net, self.options_limit()).await;
        match &answered {
            Ok(()) => self.alive(),
            Err(why) => self.missed(why.clone()),
        }
        answered
    }

    fn options_limit(&self) -> Duration {
        self.settings.options_interval.min(OPTIONS_LIMIT)
    }

    /// Remembers what went wrong.
    pub fn failed(&self, why: String) {
        self.state().error = Some(why);
    }

    /// Places no calls over it for this many seconds.
    pub fn close_for(&self, seconds: u64) {
        self.state().closed_until = Some(Instant::now() + Duration::from_secs(seconds));
    }

    /// Host of addresses in requests: the trunk's name, with its port where one is given.
    pub fn domain(&self) -> &str {
        self.settings.address.trim()
    }

    /// Host without the port, for `From` and `To` of a registration.
    pub fn realm(&self) -> String {
        match split_host(&self.settings.address) {
            Some((host, _)) if host.contains(':') => format!("[{host}]"),
            Some((host, _)) => host,
            None => self.settings.address.clone(),
        }
    }

    /// Whether packets from this address are the trunk's.
    pub fn owns(&self, ip: IpAddr) -> bool {
        self.settings.inbound_from.iter().any(|network| network.contains(ip))
            || self.state().hops.iter().any(|hop| hop.address.ip().to_canonical() == ip)
    }

    /// Whether requests go to exactly this address.
    pub fn is_at(&self, address: SocketAddr) -> bool {
        self.state().hops.iter().any(|hop| hop.address == address)
    }

    /// Addresses to try, the best first. Names are resolved again when they are old or the trunk has fallen
    /// silent.
    pub async fn hops(&self, resolver: &SipResolver) -> Result<Vec<Hop>, String> {
        let known = {
            let state = self.state();
            let fresh = state.resolved.is_some_and(|at| at.elapsed() < NAMES_LAST);
            fresh.then(|| state.hops.clone())
        };
        let hops = match known {
            Some(hops) => hops,
            None => {
                let via = self.settings.outbound_proxy.as_deref().unwrap_or(&self.settings.address);
                let hops = resolve(resolver, via, self.settings.transport).await?;
                let mut state = self.state();
                state.hops.clone_from(&hops);
                state.resolved = Some(Instant::now());
                hops
            }
        };
        let start = self.pick.load(Ordering::Relaxed) % hops.len().max(1);
        Ok(hops[start..].iter().chain(&hops[..start]).cloned().collect())
    }

    /// `Route` of the outbound proxy.
    pub fn route(&self) -> Option<String> {
        let proxy = self.settings.outbound_proxy.as_deref()?.trim();
        Some(format!("<sip:{proxy}{};lr>", self.settings.transport.parameter()))
    }

    /// User part for a number.
    pub fn user(&self, text: &str) -> String {
        safe_user(&number(self.settings.number_format, text))
    }

    /// A SIP address of this user at a host, which says that it is a number if the trunk wants that.
    pub fn uri(&self, user: &str, host: &str) -> String {
        let kind = if self.settings.user_phone { user_parameter(user) } else { "" };
        format!("sip:{user}@{host}{kind}")
    }

    /// Where its sound may come from beside the address that the SDP names: from where it signals, and from
    /// the networks of the settings.
    pub fn sources(&self, signals_from: IpAddr) -> Sources {
        Sources(self.settings.media_from.iter().copied().chain([signals_from.into()]).collect())
    }

    /// Learns its address at once if no name has to be resolved for it, so that nothing it sends is taken for a
    /// stranger's.
    pub async fn settle(&self, resolver: &SipResolver) {
        let via = self.settings.outbound_proxy.as_deref().unwrap_or(&self.settings.address);
        if split_host(via).is_some_and(|(host, _)| host.parse::<IpAddr>().is_ok()) {
            drop(self.hops(resolver).await);
        }
    }

    /// Keeps its addresses fresh if no OPTIONS does, for as long as the user agent lives: incoming calls are
    /// recognised by them.
    pub async fn keep_resolved(self: Arc<Self>, net: Arc<Net>) {
        loop {
            drop(self.hops(&net.resolver).await);
            tokio::time::sleep_until(tokio::time::Instant::now() + NAMES_LAST).await;
        }
    }

    /// Probes it with OPTIONS, for as long as the user agent lives.
    pub async fn probe(self: Arc<Self>, net: Arc<Net>) {
        let (every, limit) = (self.settings.options_interval, self.options_limit());
        let mut at = tokio::time::Instant::now();
        loop {
            match self.options(&net, limit).await {
                Ok(()) => self.alive(),
                Err(why) => self.missed(why),
            }
            at = (at + every).max(tokio::time::Instant::now());
            tokio::time::sleep_until(at).await;
        }
    }

    /// Sends one OPTIONS. Any final answer will do.
    async fn options(&self, net: &Net, limit: Duration) -> Result<(), String> {
        let hops = tokio::time::timeout(REQUEST_LIMIT, self.hops(&net.resolver))
            .await
            .map_err(|_| "name not resolved in time")??;
        let hop = hops.first().ok_or("no address")?;
        let connection = net.connection(hop).await?;
        let uri = format!("sip:{}", self.domain());
        let mut headers = self.identity(net, hop, "ping", &uri);
        headers.push(header("Accept", "application/sdp"));
        let request = net.build(&Ask { method: Method::Options, uri, headers, body: vec![] }, hop, 1, &[])?;
        let answer = net.exchange(request, hop, connection, limit).await;
        let answer = answer.map_err(|why| format!("OPTIONS: {why}"))?;
        if made_up(&answer) {
            Err(format!("OPTIONS: no answer ({})", answer.status_code.code()))
        } else {
            Ok(())
        }
    }

    /// `From`, `To`, `Call-ID`, `Contact` and `Route` of a request outside of calls.
    fn identity(&self, net: &Net, hop: &Hop, user: &str, to: &str) -> Vec<Header> {
        let shown = net.shown(hop);
        let mut headers = vec![
            header("From", format!("<sip:{user}@{shown}>;tag={}", new_tag())),
            header("To", format!("<{to}>")),
            header("Call-ID", format!("{}@{shown}", new_tag())),
            header("Contact", format!("<sip:{user}@{shown}{}>", hop.transport.parameter())),
        ];
        headers.extend(self.route().map(|route| header("Route", route)));
        headers
    }

    /// Keeps us registered while this node is the one that does so, for as long as the user agent lives; unregisters
    /// when another node takes over, and when `stop` fires.
    pub async fn keep_registered(
        self: Arc<Self>,
        net: Arc<Net>,
        stop: rsipstack::platform::CancellationToken,
    ) {
        let seq = AtomicU32::new(0);
        let (call, tag) = (new_tag(), new_tag());
        let mut registrar = self.channels.registrar.subscribe();
        let mut wanted = REGISTER_FOR;
        let mut pause = 1;
        let mut due = tokio::time::Instant::now();
        let mut replaced = None;
        while !stop.is_cancelled() {
            let now = tokio::time::Instant::now();
            let here = registrar.borrow_and_update().clone();
            let wait = match here {
                Registrar::Elsewhere => {
                    if self.state().registered {
                        self.unregister(&net, &seq, (&call, &tag)).await;
                    }
                    self.leaves_registering();
                    (pause, due, replaced) = (1, now, None);
                    None
                }
                Registrar::Here { until: Some(until), .. } if until <= now => None,
                Registrar::Here { .. } if now < due => Some(due),
                Registrar::Here { replaces, .. } => {
                    // The binding of a node that is gone would take calls to nowhere until it lapses.
                    if let Some(old) = replaces.filter(|old| replaced.as_ref() != Some(old)) {
                        let gone = Binding { contact: Some(&old), seconds: 0 };
                        if let Err(why) = self.register(&net, &seq, (&call, &tag), gone, REQUEST_LIMIT).await
                        {
                            tracing::warn!(trunk = %self.settings.name, error = %why, "the registration of another node is left behind");
                        }
                        replaced = Some(old);
                    }
                    let ours = Binding { contact: None, seconds: wanted };
                    let next = match self.register(&net, &seq, (&call, &tag), ours, REQUEST_LIMIT).await {
                        Ok(Registered::For(seconds)) => {
                            pause = 1;
                            self.set_registered(true, None);
                            Duration::from_millis(seconds.max(1) * 800)
                        }
                        Ok(Registered::TooBrief(least)) => {
                            wanted = least;
                            Duration::from_millis(100)
                        }
                        Ok(Registered::Refused(why, after)) => {
                            self.set_registered(false, Some(why));
                            pause = (pause * 2).min(60);
                            Duration::from_secs(after.unwrap_or(pause / 2))
                        }
                        Err(why) => {
                            self.missed(why.clone());
                            self.set_registered(false, Some(why));
                            pause = (pause * 2).min(60);
                            Duration::from_secs(pause / 2)
                        }
                    };
                    due = tokio::time::Instant::now() + next;
                    Some(due)
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                // The trunk itself holds the sender, so this never fails.
                _ = registrar.changed() => {}
                () = super::timers::until(wait) => {}
            }
        }
        if self.state().registered {
            self.unregister(&net, &seq, (&call, &tag)).await;
        }
    }

    async fn unregister(&self, net: &Net, seq: &AtomicU32, dialog: (&str, &str)) {
        let gone = Binding { contact: None, seconds: 0 };
        drop(self.register(net, seq, dialog, gone, Duration::from_secs(2)).await);
        self.set_registered(false, None);
    }

    /// Another node registers: where no OPTIONS are sent, nothing is known from here of how the trunk is doing.
    fn leaves_registering(&self) {
        let mut state = self.state();
        state.unregistered = None;
        if !self.sends_options() {
            (state.healthy, state.missed) = (Some(true), 0);
        }
    }

    fn set_registered(&self, registered: bool, why: Option<String>) {
        let mut state = self.state();
        if state.registered != registered {
            tracing::info!(trunk = %self.settings.name, registered, "trunk registration changed");
        }
        // Said once for each reason, however often it is tried.
        if let Some(why) = why.as_ref().filter(|why| state.unregistered.as_ref() != Some(why)) {
            tracing::warn!(trunk = %self.settings.name, error = %why, "not registered; trying again");
        }
        state.registered = registered;
        if why.is_some() {
            state.error.clone_from(&why);
        }
        state.unregistered = why;
    }

    async fn register(
        &self,
        net: &Net,
        seq: &AtomicU32,
        (call, tag): (&str, &str),
        Binding { contact: other, seconds }: Binding<'_>,
        limit: Duration,
    ) -> Result<Registered, String> {
        let hops = self.hops(&net.resolver).await?;
        let hop = hops.first().ok_or("no address")?;
        let user = self.settings.username.as_deref().map_or_else(|| "dastak".to_owned(), safe_user);
        let (realm, shown) = (self.realm(), net.shown(hop));
        let ours = format!("<sip:{user}@{shown}{}>", hop.transport.parameter());
        if other == Some(ours.as_str()) {
            // It is ours, from before a restart.
            return Ok(Registered::For(seconds));
        }
        let news = other.is_none() && self.state().contact.replace(ours.clone()).as_ref() != Some(&ours);
        if news {
            self.channels.want();
        }
        let contact = other.unwrap_or(&ours);
        let mut headers = vec![
            header("From", format!("<sip:{user}@{realm}>;tag={tag}")),
            header("To", format!("<sip:{user}@{realm}>")),
            header("Call-ID", format!("{call}@{shown}")),
            header("Contact", format!("{contact};expires={seconds}")),
            header("Expires", seconds.to_string()),
        ];
        headers.extend(self.route().map(|route| header("Route", route)));
        let ask =
            Ask { method: Method::Register, uri: format!("sip:{}", self.domain()), headers, body: vec![] };
        let answer = net.ask(&ask, hop, None, seq, self.login.as_ref(), limit).await;
        let answer = answer.map_err(|why| format!("REGISTER: {why}"))?;
        let code = answer.status_code.code();
        if !made_up(&answer) {
            self.alive();
        }
        match code {
            _ if made_up(&answer) => Err(format!("REGISTER: no answer ({code})")),
            200..=299 => {
                let ours = format!("{user}@{shown}");
                let granted = values(&answer, "Contact")
                    .iter()
                    .find(|one| one.contains(&ours))
                    .and_then(|one| parameter(one, "expires")?.parse().ok())
                    .or_else(|| value(&answer, "Expires")?.parse().ok());
                Ok(Registered::For(granted.unwrap_or(seconds).min(86_400)))
            }
            423 => match value(&answer, "Min-Expires").and_then(|text| text.parse().ok()) {
                Some(least) if least > seconds && seconds > 0 => Ok(Registered::TooBrief(least)),
                _ => Ok(Registered::Refused("REGISTER refused with 423".into(), None)),
            },
            _ => Ok(Registered::Refused(format!("REGISTER refused with {code}"), retry_after(&answer))),
        }
    }
}

/// A binding of a registration.
struct Binding<'a> {
    /// The contact; none for ours.
    contact: Option<&'a str>,
    /// For how long; 0 removes it.
    seconds: u64,
}

enum Registered {
    /// For this many seconds.
    For(u64),
    /// The trunk wants at least this many seconds.
    TooBrief(u64),
    /// With the reason, and when to try again.
    Refused(String, Option<u64>),
}

/// Extensions that a request demands and we do not support.
pub(super) fn unknown_demands(request: &rsipstack::sip::Request) -> Option<String> {
    let unknown: Vec<String> = values(request, "Require")
        .into_iter()
        .filter(|one| !one.eq_ignore_ascii_case("100rel") && !one.eq_ignore_ascii_case("timer"))
        .collect();
    (!unknown.is_empty()).then(|| unknown.join(", "))
}

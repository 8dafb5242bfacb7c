//! What this node has of trunks that others use, too: channels and registrations
//! (docs/contract/telephony.md#nodes).
//!
//! A node asks the store for channels before it uses them and uses fewer before it gives them back, so that all
//! nodes together never have more than a trunk has. A call that finds a channel free on its node asks nobody.

use std::time::Duration;

use telephony::sip::{Registrar, Share};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::app::trunk_shares::{self, GrantedShare, LEASE, RegistrarRequest, ShareRequest};
use crate::app::{App, Failure};

/// Time between two looks.
pub(super) const BEAT: Duration = Duration::from_secs(5);
/// The same while calls on other nodes wait for a channel and none is free here.
const SHORT: Duration = Duration::from_millis(250);
/// How much earlier than the store the node takes its grant for lapsed: clocks do not go alike.
const MARGIN: Duration = Duration::from_secs(1);
/// For how long the store must have answered before other processes are given up: they were not able to say
/// anything while it was away. Longer than several looks.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longest wait for the store to take everything back at the end.
const LAST_WORD: Duration = Duration::from_secs(2);
/// This part of a trunk's channels is taken beforehand, if nobody waits for it.
const SPARE: u32 = 8;

/// The shares of this process.
pub(super) struct Shares {
    /// Its name among the processes; that of the node is not enough, see the table `trunk_grants`.
    holder: String,
    inner: Mutex<Inner>,
}

struct Inner {
    shares: Vec<Share>,
    /// Channels that others would have back, by share.
    asked_back: Vec<i64>,
    /// Since when the store answers.
    answers_since: Option<Instant>,
    /// Everything was given back.
    over: bool,
}

impl Shares {
    pub(super) fn new(app: &App, shares: Vec<Share>) -> Self {
        let asked_back = vec![0; shares.len()];
        let inner = Inner { shares, asked_back, answers_since: None, over: false };
        Self { holder: format!("{}-{}", app.ports.node, app.ids.random_text(8)), inner: Mutex::new(inner) }
    }

    /// Looks once; how long to wait for the next look.
    pub(super) async fn look(&self, app: &App) -> Duration {
        let mut inner = self.inner.lock().await;
        if inner.over {
            return BEAT;
        }
        loop {
            match inner.settle(app, &self.holder).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(failure) => {
                    failure.log("the channels of trunks could not be shared");
                    inner.answers_since = None;
                    return BEAT;
                }
            }
        }
        if inner.asked_back.iter().any(|asked| *asked > 0) { SHORT } else { BEAT }
    }

    pub(super) async fn release(&self, app: &App) {
        let releasing = async {
            let mut inner = self.inner.lock().await;
            inner.over = true;
            for share in &inner.shares {
                share.hold(0);
            }
            trunk_shares::release(app, &self.holder).await
        };
        match tokio::time::timeout(LAST_WORD, releasing).await {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => failure.log("the channels of trunks are given back by their lease"),
            Err(_) => tracing::warn!("the channels of trunks are given back by their lease"),
        }
    }
}

impl Inner {
    /// Tells the store what is used and takes what it gives. Whether to go on at once, because there is something
    /// to give back.
    async fn settle(&mut self, app: &App, holder: &str) -> Result<bool, Failure> {
        let begun = Instant::now();
        let takes = app.node.in_service();
        let asks =
            self.shares.iter().zip(&self.asked_back).map(|(share, back)| ask(share, *back, takes)).collect();
        let patient = self.answers_since.is_some_and(|since| since + PATIENCE <= begun);
        let given = trunk_shares::settle(app, holder, asks, patient).await?;
        // A store that hung was not there for others either.
        self.answers_since = match self.answers_since {
            Some(since) if begun.elapsed() < BEAT => Some(since),
            _ => Some(Instant::now()),
        };
        let until = begun + Duration::from_millis(LEASE.unsigned_abs()) - MARGIN;
        let mut more = false;
        for ((share, back), given) in self.shares.iter().zip(&mut self.asked_back).zip(given) {
            take(share, &given, until);
            *back = given.asked_back;
            let usage = share.usage();
            more |= given.asked_back > 0 && usage.used < usage.granted;
        }
        Ok(more)
    }
}

fn ask(share: &Share, asked_back: i64, takes: bool) -> ShareRequest {
    let keeps = i64::from(share.usage().granted) - asked_back;
    let usage = share.hold(u32::try_from(keeps).unwrap_or(0));
    let registrar = share.registers().then(|| RegistrarRequest { takes, contact: share.contact() });
    ShareRequest {
        trunk: share.name().to_owned(),
        channels: share.channels().into(),
        held: usage.granted.into(),
        needed: (usage.used + usage.waiting).into(),
        // A node that takes no calls needs none.
        spare: if takes { (share.channels() / SPARE).into() } else { 0 },
        registrar,
    }
}

fn take(share: &Share, given: &GrantedShare, until: Instant) {
    share.grant(u32::try_from(given.channels).unwrap_or(0), until);
    if share.registers() {
        share.set_registrar(match &given.registrar {
            Some(replaces) => Registrar::Here { until: Some(until), replaces: replaces.clone() },
            None => Registrar::Elsewhere,
        });
    }
}

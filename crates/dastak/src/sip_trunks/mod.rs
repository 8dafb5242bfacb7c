//! SIP trunks of this node: the user agent behind the port of legs (`domain::ports::LegGateway`), and what is SIP's
//! own: health of the trunks, shared channels and registrations, metrics. `lines` knows the port only.
//!
//! | file | holds |
//! |---|---|
//! | `shares` | this node's channels and registration of trunks that other nodes use as well |
//! | `probe` | OPTIONS to every trunk, for `dastak doctor` |
//! | `metrics` | metrics of SIP, RTP and the trunks |

#![allow(
    clippy::disallowed_methods,
    reason = "trunks exist on a real clock only: the peers at their other end have one"
)]

mod metrics;
mod probe;
mod shares;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use domain::ports::{IncomingLegs, LegGateway};
use telephony::media::Engine;
use telephony::settings::Settings;
use telephony::sip::{Inbound, ToPort, TrunkHealth, UserAgent, Wanted};

use crate::app::App;
pub use metrics::encode as encode_metrics;
pub use probe::probe;

/// The SIP side of this node.
pub struct SipTrunks {
    user_agent: UserAgent,
    engine: Engine,
    shares: OnceLock<Arc<shares::Shares>>,
}

impl SipTrunks {
    /// Binds the SIP and RTP ports, registers, and starts to probe the trunks. INVITEs of trunks reach `incoming`.
    ///
    /// # Errors
    /// A text for the operator: the setting that cannot be applied, and why.
    pub async fn open(settings: Settings, incoming: Arc<dyn IncomingLegs>) -> Result<Arc<Self>, String> {
        let engine = engine(&settings)?;
        let user_agent = open_user_agent(settings, engine.clone(), Arc::new(ToPort(incoming))).await?;
        Ok(Arc::new(Self { user_agent, engine, shares: OnceLock::new() }))
    }

    /// The port through which calls are dialled.
    pub fn gateway(&self) -> Arc<dyn LegGateway> {
        Arc::new(self.user_agent.clone())
    }

    /// Health of the trunks, in the order of the settings.
    pub fn health(&self) -> Vec<api::system::TrunkHealth> {
        let health = |trunk: TrunkHealth| api::system::TrunkHealth {
            name: trunk.name,
            carrier: trunk.carrier,
            healthy: trunk.healthy,
            registered: trunk.registered,
            calls: trunk.calls,
            channels: trunk.channels,
        };
        self.user_agent.trunks().into_iter().map(health).collect()
    }

    /// The address that trunks reach this node at.
    pub fn address(&self) -> SocketAddr {
        self.user_agent.local_address()
    }

    /// Shares channels and registrations with other nodes from now on. Returns whether there is anything to share.
    /// `wanted` is called when a look is needed before the interval is over.
    pub fn share(&self, app: &App, wanted: Wanted) -> bool {
        let shares = self.user_agent.share(wanted);
        let some = !shares.is_empty();
        if some {
            drop(self.shares.set(Arc::new(shares::Shares::new(app, shares))));
        }
        some
    }

    /// Settles the shares with the store. Returns how long to wait for the next time.
    pub async fn look_at_shares(&self, app: &App) -> Duration {
        match self.shares.get() {
            Some(shares) => shares.look(app).await,
            None => shares::BEAT,
        }
    }

    /// Gives back what was shared, after the gateway was stopped.
    pub async fn release(&self, app: &App) {
        if let Some(shares) = self.shares.get() {
            shares.release(app).await;
        }
    }
}

/// Opens the user agent. With port 0 the system chooses a UDP port whose TCP port may be taken: then another is tried.
async fn open_user_agent(
    settings: Settings,
    engine: Engine,
    inbound: Arc<dyn Inbound>,
) -> Result<UserAgent, String> {
    const TRIES: usize = 10;
    let mut tries = if settings.listen.port() == 0 { TRIES } else { 1 };
    loop {
        tries -= 1;
        match UserAgent::start(settings.clone(), engine.clone(), inbound.clone()).await {
            Err(why) if tries > 0 => tracing::debug!(why, "SIP port not free; trying another"),
            outcome => return outcome,
        }
    }
}

fn engine(settings: &Settings) -> Result<Engine, String> {
    let started = Engine::start(telephony::media::Settings {
        ports: settings.rtp_ports,
        threads: settings.media_threads,
    });
    started.map_err(|why| format!("telephony.sip.rtp_ports: {why}"))
}

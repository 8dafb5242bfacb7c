//! The composition root of live calls: which gateways dial, as the settings say. No other file of `lines` names an
//! implementation of the port of legs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use domain::ports::LegGateway;
use telephony::loopback::{self, Loopback};
use tokio::sync::watch;
use voice::{Recordings, Speech};

use super::carriers::Carriers;
use super::inbound;
use super::live::Lines;
use super::sandbox::{self, Phones};
use crate::app::recordings;
use crate::config::{Carrier as Kind, Config};
use crate::sip_trunks::SipTrunks;
use crate::speech::Offline;

impl Lines {
    /// Opens what the settings name; `None` where live calls need no legs: carrier `none`, a manual clock, a sandbox
    /// without offline speech.
    ///
    /// # Errors
    /// The setting that cannot be applied, and why.
    pub async fn start(
        config: &Config,
        speech: Speech,
        offline: &Offline,
    ) -> Result<Option<Arc<Self>>, String> {
        recordings::drop_unredacted(config).map_err(|why| format!("data: recordings of before: {why}"))?;
        match config.telephony.carrier {
            Kind::None => Ok(None),
            Kind::Sandbox if config.manual_clock || config.telephony.sandbox_lines == 0 => Ok(None),
            Kind::Sandbox => {
                if let Err(why) = offline.check().await {
                    tracing::warn!(%why, "the sandbox plays calls by its table alone, without sound");
                    return Ok(None);
                }
                Self::of_sandbox(config, speech, offline).map(Some)
            }
            Kind::Sip => Self::of_trunks(config, speech).await.map(Some),
        }
    }

    async fn of_trunks(config: &Config, speech: Speech) -> Result<Arc<Self>, String> {
        let mut settings = config.telephony.sip.clone();
        settings.shared = config.database_url.is_some();
        let (doorbell, answering) = inbound::Doorbell::new();
        let trunks = SipTrunks::open(settings, Arc::new(doorbell)).await?;
        let gateway = trunks.gateway();
        let lines = Arc::new(Self { trunks: Some(trunks), ..Self::over(gateway, speech)? });
        answering.start(&lines);
        Ok(lines)
    }

    fn of_sandbox(config: &Config, speech: Speech, offline: &Offline) -> Result<Arc<Self>, String> {
        let phones = Phones::new(offline.from_text.clone());
        let settings = loopback::Settings {
            carrier: "sandbox".into(),
            ring_timeout: config.telephony.sip.ring_timeout,
            response_timeout: sandbox::RESPONSE_TIMEOUT,
        };
        let gateway = Arc::new(Loopback::new(settings, phones.exchange()));
        Ok(Arc::new(Self {
            phones: Some(phones),
            cap: config.telephony.sandbox_lines,
            ..Self::over(gateway, speech)?
        }))
    }

    /// Lines over one gateway, as many as its carriers have.
    fn over(gateway: Arc<dyn LegGateway>, speech: Speech) -> Result<Self, String> {
        Ok(Self {
            carriers: Carriers(vec![gateway]),
            trunks: None,
            phones: None,
            cap: usize::MAX,
            speech,
            recordings: Recordings::start().map_err(|why| why.to_string())?,
            held: Mutex::new(HashMap::new()),
            room: Mutex::default(),
            app: OnceLock::new(),
            dialling: Mutex::default(),
            ended: watch::channel(0).0,
        })
    }
}

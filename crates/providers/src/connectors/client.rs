//! The clients through which all systems are reached.

use std::fmt;
use std::sync::Arc;

use crate::GuardedClient;
use crate::guarded_client::{Policy, PoolLimits, SystemResolver, Transport};
use crate::settings::Integrations;

/// The way to the systems. Cheap to clone.
#[derive(Clone)]
pub struct Systems {
    pub(super) settings: Integrations,
    /// For requests that may be repeated.
    pub(super) reading: GuardedClient,
    /// For requests that must not: it keeps no connection, so nothing is sent twice on a new one.
    pub(super) writing: GuardedClient,
    /// Who stands in for the systems, in the simulation.
    pub(super) stand_in: Option<Arc<dyn Transport>>,
}

impl fmt::Debug for Systems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Systems").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Systems {
    /// The systems of these settings.
    ///
    /// # Errors
    /// What the settings have wrong.
    pub fn new(settings: &Integrations) -> Result<Self, String> {
        let resolver = Arc::new(SystemResolver::new());
        let client = |pool: PoolLimits| {
            let policy = Policy {
                allow_insecure: settings.allow_insecure,
                user_agent: "dastak".into(),
                pool,
                ..Policy::default()
            };
            GuardedClient::new(policy, resolver.clone()).map_err(|why| why.to_string())
        };
        Ok(Self {
            settings: settings.clone(),
            reading: client(PoolLimits::default())?,
            writing: client(PoolLimits { idle_total: 0, ..PoolLimits::default() })?,
            stand_in: None,
        })
    }

    /// The same with requests that go elsewhere, for the simulation.
    #[must_use]
    pub fn with_transport(self, stand_in: Arc<dyn Transport>) -> Self {
        Self { stand_in: Some(stand_in), ..self }
    }
}

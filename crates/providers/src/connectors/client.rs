//! The HTTP clients for all systems.

use std::fmt;
use std::sync::Arc;

use crate::GuardedClient;
use crate::guarded_client::{Policy, PoolLimits, SystemResolver, Transport};
use crate::settings::Integrations;

/// The clients for the systems. Cheap to clone.
#[derive(Clone)]
pub struct Systems {
    pub(super) settings: Integrations,
    /// For requests that may be retried.
    pub(super) reading: GuardedClient,
    /// For requests that must not be retried: it keeps no connection, so nothing is resent on a new one.
    pub(super) writing: GuardedClient,
    /// Replacement of the systems, in the simulation.
    pub(super) stand_in: Option<Arc<dyn Transport>>,
}

impl fmt::Debug for Systems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Systems").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Systems {
    /// Clients with these settings.
    ///
    /// # Errors
    /// The invalid settings.
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

    /// The same with another transport, for the simulation.
    #[must_use]
    pub fn with_transport(self, stand_in: Arc<dyn Transport>) -> Self {
        Self { stand_in: Some(stand_in), ..self }
    }
}

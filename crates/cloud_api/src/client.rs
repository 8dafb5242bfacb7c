//! The client of the Cloud API: its settings, and the guarded HTTP client that its requests go through.

use std::sync::Arc;

use providers::GuardedClient;
use providers::guarded_client::{Policy, PoolLimits, SystemResolver, Transport};
use providers::settings::CloudApi;

/// The provider behind the Cloud API. Cheap to share.
pub struct Cloud {
    pub(crate) settings: CloudApi,
    pub(crate) client: Result<GuardedClient, String>,
    /// Replaces the network in the simulation.
    pub(crate) stand_in: Option<Arc<dyn Transport>>,
}

impl Cloud {
    /// The provider of these settings.
    pub fn new(settings: &CloudApi) -> Self {
        let policy = Policy {
            allow_insecure: settings.allow_insecure,
            // Media is not given to clients without a name.
            user_agent: "dastak".into(),
            // Short: a connection that the API closes while a message goes out leaves it unknown what became of
            // the message.
            pool: PoolLimits { idle_timeout: std::time::Duration::from_secs(5), ..PoolLimits::default() },
            ..Policy::default()
        };
        let client =
            GuardedClient::new(policy, Arc::new(SystemResolver::new())).map_err(|why| why.to_string());
        Self { settings: settings.clone(), client, stand_in: None }
    }

    /// Sends requests through this transport instead of the network, for the simulation.
    #[must_use]
    pub fn with_transport(self, stand_in: Arc<dyn Transport>) -> Self {
        Self { stand_in: Some(stand_in), ..self }
    }
}

//! The event that tests an endpoint.

use domain::ids::{self, Id};
use schemars::JsonSchema;
use serde::Serialize;

/// A test that somebody requested.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestEvent {
    /// Id of the endpoint that is tested; null in an event for all endpoints that subscribe.
    pub endpoint_id: Option<Id<ids::WebhookEndpoint>>,
    /// A text that says that this is a test.
    pub message: String,
}

impl TestEvent {
    /// A test of this endpoint.
    pub fn of(endpoint_id: Option<Id<ids::WebhookEndpoint>>) -> Self {
        Self { endpoint_id, message: "This is a test event.".into() }
    }

    pub(super) fn sample() -> Self {
        Self::of(None)
    }
}

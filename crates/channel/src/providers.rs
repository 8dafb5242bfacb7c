//! The provider of an account: the Cloud API or the sandbox.

use std::sync::Arc;

use api::error_codes::{PROVIDER_REFUSED, PROVIDER_UNAVAILABLE};
use app::{App, Failure};
use cloud_api::Cloud;
use domain::channel::{Account, Fault, Provider, ProviderError, ProviderKind};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The providers of this node.
struct Providers {
    cloud: Arc<Cloud>,
    sandbox: Arc<Sandbox>,
}

fn kept(app: &Arc<App>, cloud: impl FnOnce() -> Cloud) -> Arc<Providers> {
    app.state.of(|| Providers { cloud: Arc::new(cloud()), sandbox: Arc::new(Sandbox::of(app)) })
}

/// Sets the client of the Cloud API, before anything is sent: the simulation has its own.
pub fn use_cloud(app: &Arc<App>, cloud: Cloud) {
    kept(app, || cloud);
}

/// The provider of an account.
pub fn provider(app: &Arc<App>, account: &Account) -> Arc<dyn Provider> {
    let providers = kept(app, || Cloud::new(&app.config.cloud_api));
    match account.provider {
        ProviderKind::Cloud => providers.cloud.clone(),
        ProviderKind::Sandbox => providers.sandbox.clone(),
    }
}

/// A provider's error in the form of the API.
pub fn shown(error: &ProviderError) -> Value {
    json!({"code": error.code, "title": error.title, "detail": error.detail})
}

/// The failure of a request whose request to the provider failed.
pub(crate) fn failure(fault: &Fault) -> Failure {
    match fault {
        Fault::Refused(error) => {
            Failure::new(PROVIDER_REFUSED, format!("the provider refused: {}", error.detail))
                .with_meta(json!({"error": shown(error)}))
        }
        Fault::Later(error) => {
            Failure::new(PROVIDER_UNAVAILABLE, format!("the provider cannot take this now: {}", error.detail))
                .with_meta(json!({"error": shown(error)}))
        }
        Fault::Unclear(said) => {
            Failure::new(PROVIDER_UNAVAILABLE, format!("the provider gave no clear answer: {said}"))
        }
    }
}

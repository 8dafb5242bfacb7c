//! Several providers of a kind behind one port: order of preference, circuit breaking, failover during a call, health
//! and metrics.
//!
//! | file | holds |
//! |---|---|
//! | `build` | from settings to a [`Set`] |
//! | `members` | `Chain`: the providers of a kind in order, which to use next, counters |
//! | `recognisers`, `synthesisers`, `models` | a chain as a provider of its kind: failover |
//! | `breaker` | when a provider is skipped |
//! | `figures` | metrics and checks as values |
//!
//! A provider whose breaker is open moves behind the others; it is used before its pause is over only if all others
//! have failed.

mod breaker;
mod build;
mod figures;
mod members;
mod models;
mod recognisers;
mod synthesisers;

use std::fmt;
use std::sync::Arc;

use domain::ports::{DetailReader, LanguageModel, Recogniser, Synthesiser};

pub(crate) use breaker::Breaker;
pub use breaker::BreakerLimits;
pub use build::{Offline, Settings, build};
pub use figures::{Check, Figure, Role};
pub use members::Chain;
pub(crate) use members::FAULTS;
pub use models::LanguageModels;
pub use recognisers::Recognisers;
pub use synthesisers::Synthesisers;

use crate::embeddings::Embeddings;
use crate::http::Net;

/// All speech and language providers of the service, and the embeddings service.
#[derive(Clone)]
pub struct Set {
    pub to_text: Arc<Recognisers>,
    pub from_text: Arc<Synthesisers>,
    pub model: Arc<LanguageModels>,
    /// Models that support vision, the preferred first.
    pub readers: Vec<Arc<dyn DetailReader>>,
    /// The embeddings service, where one is configured.
    pub embeddings: Option<Embeddings>,
    net: Net,
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Set")
            .field("to_text", &self.to_text.name())
            .field("from_text", &self.from_text.name())
            .field("model", &self.model.name())
            .field("embeddings", &self.embeddings)
            .finish()
    }
}

impl Set {
    /// Whether every role has a provider.
    ///
    /// # Errors
    /// The first role without one. With `residency`, it has no provider that keeps data in India, and placements answer
    /// 503 (docs/contract/calls.md#refusals).
    pub fn complete(&self) -> Result<(), Role> {
        for (role, count) in [
            (Role::ToText, self.to_text.len()),
            (Role::FromText, self.from_text.len()),
            (Role::Model, self.model.len()),
        ] {
            if count == 0 {
                return Err(role);
            }
        }
        Ok(())
    }

    /// Health check of every provider of speech and language, all at once (`dastak doctor`).
    pub async fn checks(&self) -> Vec<Check> {
        let (to_text, from_text, model) =
            tokio::join!(self.to_text.checks(), self.from_text.checks(), self.model.checks());
        [to_text, from_text, model].concat()
    }

    /// Counters of every provider in every role.
    pub fn figures(&self) -> Vec<Figure> {
        let vectors = self.embeddings.iter().flat_map(Embeddings::figures);
        let spoken = self.to_text.figures().chain(self.from_text.figures());
        spoken.chain(self.model.figures()).chain(vectors).collect()
    }

    /// Samples that recognisers did not get because their connections were too slow, since the start.
    pub fn dropped_samples(&self) -> u64 {
        self.net.dropped_samples()
    }
}

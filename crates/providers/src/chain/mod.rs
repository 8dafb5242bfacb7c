//! Several providers of a kind behind one port: order of preference, circuit breaking, fallback in mid-call,
//! health and figures.
//!
//! | file | holds |
//! |---|---|
//! | `build` | from settings to a [`Set`] |
//! | `recognisers`, `synthesisers`, `models` | the three ports over lists |
//! | `members` | the list: whom to ask next, what is counted |
//! | `breaker` | when a provider is passed over |
//! | `figures` | counters and checks as values |
//!
//! A provider whose breaker is open moves behind the others; it is asked before its pause is over only if all
//! others have failed.

mod breaker;
mod build;
mod figures;
mod members;
mod models;
mod recognisers;
mod synthesisers;

use std::fmt;
use std::sync::Arc;

use domain::ports::{LanguageModel, Recogniser, Synthesiser};
use futures_util::future::join_all;

pub use breaker::BreakerLimits;
pub use build::{Offline, Settings, build};
pub use figures::{Check, Figure, Role};
pub use models::LanguageModels;
pub use recognisers::Recognisers;
pub use synthesisers::Synthesisers;

use crate::http::Net;

/// All speech and language providers of the service.
#[derive(Clone)]
pub struct Set {
    /// Speech to text.
    pub to_text: Arc<Recognisers>,
    /// Text to speech.
    pub from_text: Arc<Synthesisers>,
    /// Language models.
    pub model: Arc<LanguageModels>,
    net: Net,
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Set")
            .field("to_text", &self.to_text.name())
            .field("from_text", &self.from_text.name())
            .field("model", &self.model.name())
            .finish()
    }
}

impl Set {
    /// Whether every role has a provider.
    ///
    /// # Errors
    /// The first role without one: with residency wanted, none of its providers keeps data in India, and
    /// placements answer 503 (docs/contract/calls.md#refusals).
    pub fn complete(&self) -> Result<(), Role> {
        for (role, count) in [
            (Role::ToText, self.to_text.members().len()),
            (Role::FromText, self.from_text.members().len()),
            (Role::Model, self.model.members().len()),
        ] {
            if count == 0 {
                return Err(role);
            }
        }
        Ok(())
    }

    /// Asks every provider whether it can be used, all at once (`dastak doctor`).
    pub async fn checks(&self) -> Vec<Check> {
        let to_text = self.to_text.members().iter().map(|one| async {
            Check { name: one.name().to_owned(), role: Role::ToText, outcome: one.check().await }
        });
        let from_text = self.from_text.members().iter().map(|one| async {
            Check { name: one.name().to_owned(), role: Role::FromText, outcome: one.check().await }
        });
        let model = self.model.members().iter().map(|one| async {
            Check { name: one.name().to_owned(), role: Role::Model, outcome: one.check().await }
        });
        let (to_text, from_text, model) =
            tokio::join!(join_all(to_text), join_all(from_text), join_all(model));
        to_text.into_iter().chain(from_text).chain(model).collect()
    }

    /// Counters of every provider in every role.
    pub fn figures(&self) -> Vec<Figure> {
        self.to_text
            .members()
            .figures()
            .chain(self.from_text.members().figures())
            .chain(self.model.members().figures())
            .collect()
    }

    /// Samples that recognisers did not get because their connections were too slow, since the start.
    pub fn dropped_samples(&self) -> u64 {
        self.net.dropped_samples()
    }
}

//! Providers of speech and language models: those that the settings name, and the offline set.

use std::sync::Arc;

use domain::ports::{LanguageModel, ProviderError, Recogniser, Synthesiser};
use providers::chain::{self, Set};
use providers::speech::offline;

use crate::config::Config;
use voice::Speech;

/// The offline set: local programs, and an answerer without a model.
#[derive(Clone)]
pub struct Offline {
    pub to_text: Arc<dyn Recogniser>,
    pub from_text: Arc<dyn Synthesiser>,
    pub model: Arc<dyn LanguageModel>,
}

impl Offline {
    /// The offline set of this machine. Whether its programs are installed is checked on use.
    pub fn new() -> Self {
        Self {
            to_text: Arc::new(offline::OfflineRecogniser::new(offline::Settings::default())),
            from_text: Arc::new(offline::OfflineSynthesiser::new(offline::Settings::default())),
            model: Arc::new(providers::language_model::offline::OfflineAnswerer),
        }
    }

    /// Whether its programs are installed.
    ///
    /// # Errors
    /// What is missing, and how to install it.
    pub async fn check(&self) -> Result<(), ProviderError> {
        self.from_text.check().await?;
        self.to_text.check().await.map(|_| ())
    }
}

impl Default for Offline {
    fn default() -> Self {
        Self::new()
    }
}

/// The providers that the settings name, behind one port per role.
///
/// # Errors
/// The setting that is wrong, and why.
pub fn providers(config: &Config, offline: &Offline) -> Result<Set, String> {
    let settings = chain::Settings {
        to_text: config.providers.to_text.clone(),
        from_text: config.providers.from_text.clone(),
        language_models: config.providers.models.clone(),
        embeddings: config.providers.embeddings.clone(),
        residency: config.providers.resident_only,
        ..chain::Settings::default()
    };
    let makers = chain::Offline {
        to_text: &|_| Ok(offline.to_text.clone()),
        from_text: &|_| Ok(offline.from_text.clone()),
        model: &|_| Ok(offline.model.clone()),
    };
    chain::build(&settings, makers)
}

/// The providers in the form that conversations use.
pub fn of(set: &Set) -> Speech {
    Speech { to_text: set.to_text.clone(), from_text: set.from_text.clone(), model: set.model.clone() }
}

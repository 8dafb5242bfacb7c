//! From settings to providers.

use std::sync::Arc;

use domain::ports::{DetailReader, LanguageModel, Recogniser, Synthesiser};

use super::Set;
use super::breaker::BreakerLimits;
use super::members::{Chain, Kind};
use crate::embeddings::Embeddings;
use crate::http::{Monotonic, Net, monotonic};
use crate::language_model::OpenAi;
use crate::{settings, speech};

/// Input of the chains.
#[derive(Clone)]
pub struct Settings {
    /// Sections of `speech.to_text`, the preferred first.
    pub to_text: Vec<settings::Speech>,
    /// Sections of `speech.from_text`.
    pub from_text: Vec<settings::Speech>,
    /// Sections of `language_model.providers`.
    pub language_models: Vec<settings::LanguageModel>,
    /// Section `knowledge.embeddings`, if there is one.
    pub embeddings: Option<settings::Embeddings>,
    /// Only providers that keep data in India.
    pub residency: bool,
    /// When breakers open.
    pub breaker: BreakerLimits,
    /// The clock of the breakers.
    pub clock: Monotonic,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            to_text: Vec::new(),
            from_text: Vec::new(),
            language_models: Vec::new(),
            embeddings: None,
            residency: false,
            breaker: BreakerLimits::default(),
            clock: monotonic(),
        }
    }
}

type Make<'a, S, T> = &'a dyn Fn(&S) -> Result<Arc<T>, String>;

/// Constructor of the providers named `offline`.
#[derive(Clone, Copy)]
pub struct Offline<'a> {
    pub to_text: Make<'a, settings::Speech, dyn Recogniser>,
    pub from_text: Make<'a, settings::Speech, dyn Synthesiser>,
    pub model: Make<'a, settings::LanguageModel, dyn LanguageModel>,
}

/// Builds the providers that the settings name. With `residency`, providers that are not resident are left
/// out; see [`Set::complete`].
///
/// # Errors
/// The setting that is wrong and why, for the person who wrote it; never a secret.
pub fn build(settings: &Settings, offline: Offline<'_>) -> Result<Set, String> {
    let net = Net::new(Vec::new())?;
    let to_text = |section: &settings::Speech| match section.name.as_str() {
        "offline" => (offline.to_text)(section),
        _ => speech::recogniser(section, &net),
    };
    let from_text = |section: &settings::Speech| match section.name.as_str() {
        "offline" => (offline.from_text)(section),
        _ => speech::synthesiser(section, &net),
    };
    let model = |section: &settings::LanguageModel| match section.name.as_str() {
        "offline" => (offline.model)(section),
        _ => OpenAi::new(section, &net).map(|model| Arc::new(model) as Arc<dyn LanguageModel>),
    };
    Ok(Set {
        to_text: Arc::new(chain(settings, "speech.to_text", &settings.to_text, to_text)?),
        from_text: Arc::new(chain(settings, "speech.from_text", &settings.from_text, from_text)?),
        model: Arc::new(chain(settings, "language_model", &settings.language_models, model)?),
        readers: readers(settings, &net)?,
        embeddings: embeddings(settings, &net)?,
        net,
    })
}

/// The models that support vision.
fn readers(settings: &Settings, net: &Net) -> Result<Vec<Arc<dyn DetailReader>>, String> {
    let mut readers: Vec<Arc<dyn DetailReader>> = Vec::new();
    for section in
        settings.language_models.iter().filter(|section| section.vision && section.name != "offline")
    {
        let reader = OpenAi::new(section, net).map_err(|reason| format!("language_model: {reason}"))?;
        if LanguageModel::resident(&reader) || !settings.residency {
            readers.push(Arc::new(reader));
        }
    }
    Ok(readers)
}

/// The embeddings service; `None` without a section, or where that provider may not be used.
fn embeddings(settings: &Settings, net: &Net) -> Result<Option<Embeddings>, String> {
    let Some(section) = &settings.embeddings else { return Ok(None) };
    let made = Embeddings::new(section, net, settings.breaker, &settings.clock)
        .map_err(|reason| format!("knowledge.embeddings: {reason}"))?;
    Ok(Some(made).filter(|made| made.resident() || !settings.residency))
}

/// The chain of these sections of a setting, without the providers that may not be used.
fn chain<S, T: ?Sized + Kind>(
    settings: &Settings,
    setting: &str,
    sections: &[S],
    make: impl Fn(&S) -> Result<Arc<T>, String>,
) -> Result<Chain<T>, String> {
    let mut providers = Vec::new();
    for section in sections {
        let provider = make(section).map_err(|reason| format!("{setting}: {reason}"))?;
        if provider.resident() || !settings.residency {
            providers.push(provider);
        }
    }
    Ok(Chain::new(providers, settings.breaker, &settings.clock))
}

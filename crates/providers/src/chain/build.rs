//! From settings to providers.

use std::sync::Arc;

use domain::ports::{LanguageModel, Recogniser, Synthesiser};

use super::breaker::BreakerLimits;
use super::{LanguageModels, Recognisers, Set, Synthesisers};
use crate::http::{Monotonic, Net, monotonic};
use crate::language_model::OpenAi;
use crate::{settings, speech};

/// What the chains are made of.
#[derive(Clone)]
pub struct Settings {
    /// Sections of `speech.to_text`, the preferred first.
    pub to_text: Vec<settings::Speech>,
    /// Sections of `speech.from_text`.
    pub from_text: Vec<settings::Speech>,
    /// Sections of `language_model.providers`.
    pub language_models: Vec<settings::LanguageModel>,
    /// Only providers that keep data in India.
    pub residency: bool,
    /// When providers are passed over.
    pub breaker: BreakerLimits,
    /// What breakers go by.
    pub clock: Monotonic,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            to_text: Vec::new(),
            from_text: Vec::new(),
            language_models: Vec::new(),
            residency: false,
            breaker: BreakerLimits::default(),
            clock: monotonic(),
        }
    }
}

type Make<'a, S, T> = &'a dyn Fn(&S) -> Result<Arc<T>, String>;

/// How the providers named `offline` are made.
#[derive(Clone, Copy)]
pub struct Offline<'a> {
    /// Speech to text.
    pub to_text: Make<'a, settings::Speech, dyn Recogniser>,
    /// Text to speech.
    pub from_text: Make<'a, settings::Speech, dyn Synthesiser>,
    /// The answerer.
    pub model: Make<'a, settings::LanguageModel, dyn LanguageModel>,
}

/// Makes the providers that the settings name. With `residency` those that are not resident are left out; see
/// [`Set::complete`].
///
/// # Errors
/// The setting that is wrong and why, for the person who wrote it; never a secret.
pub fn build(settings: &Settings, offline: Offline<'_>) -> Result<Set, String> {
    let net = Net::new(Vec::new())?;
    let may = |resident: bool| resident || !settings.residency;
    let mut to_text: Vec<Arc<dyn Recogniser>> = Vec::new();
    for section in &settings.to_text {
        let made = match section.name.as_str() {
            "offline" => (offline.to_text)(section),
            _ => speech::recogniser(section, &net),
        };
        let made = made.map_err(|reason| format!("speech.to_text: {reason}"))?;
        if may(made.resident()) {
            to_text.push(made);
        }
    }
    let mut from_text: Vec<Arc<dyn Synthesiser>> = Vec::new();
    for section in &settings.from_text {
        let made = match section.name.as_str() {
            "offline" => (offline.from_text)(section),
            _ => speech::synthesiser(section, &net),
        };
        let made = made.map_err(|reason| format!("speech.from_text: {reason}"))?;
        if may(made.resident()) {
            from_text.push(made);
        }
    }
    let mut models: Vec<Arc<dyn LanguageModel>> = Vec::new();
    for section in &settings.language_models {
        let made = match section.name.as_str() {
            "offline" => (offline.model)(section),
            _ => OpenAi::new(section, &net).map(|model| Arc::new(model) as Arc<dyn LanguageModel>),
        };
        let made = made.map_err(|reason| format!("language_model: {reason}"))?;
        if may(made.resident()) {
            models.push(made);
        }
    }
    Ok(Set {
        to_text: Arc::new(Recognisers::new(to_text, settings.breaker, &settings.clock)),
        from_text: Arc::new(Synthesisers::new(from_text, settings.breaker, &settings.clock)),
        model: Arc::new(LanguageModels::new(models, settings.breaker, &settings.clock)),
        net,
    })
}

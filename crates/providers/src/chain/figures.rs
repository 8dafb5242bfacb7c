//! Metrics and health checks of providers, as values.

use domain::ports::{ProviderError, ProviderFault};

/// What a provider is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    ToText,
    FromText,
    Model,
    Questions,
    Passages,
}

impl Role {
    /// The setting that lists the role's providers.
    pub fn setting(self) -> &'static str {
        match self {
            Role::ToText => "speech.to_text",
            Role::FromText => "speech.from_text",
            Role::Model => "language_model.providers",
            Role::Questions | Role::Passages => "knowledge.embeddings",
        }
    }

    /// The role as a label of metrics.
    pub fn label(self) -> &'static str {
        match self {
            Role::ToText => "to_text",
            Role::FromText => "from_text",
            Role::Model => "language_model",
            Role::Questions => "question_vectors",
            Role::Passages => "passage_vectors",
        }
    }
}

/// Counters of one provider in one role since the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    pub role: Role,
    /// The provider, as the settings name it.
    pub provider: String,
    /// Conversations, sentences or turns begun with it.
    pub asked: u64,
    /// How many of them gave a first answer.
    pub answered: u64,
    /// Failures by kind; kinds that never happened are left out.
    pub faults: Vec<(ProviderFault, u64)>,
    /// Whether its breaker is open.
    pub open: bool,
}

/// The health check of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The provider, as the settings name it.
    pub name: String,
    /// What it is used for.
    pub role: Role,
    /// A short description for a person, or why it cannot be used.
    pub outcome: Result<String, ProviderError>,
}

//! The outside world as traits: what the service needs of it, and how it can fail. Implementations wait; the
//! rules never do.
//!
//! | file | the outside |
//! |---|---|
//! | `carrier` | who places calls |
//! | `speech` | words out of sound, sound out of words |
//! | `language_model` | who talks in a `converse` node, and who reads a conversation afterwards |
//! | `object_store` | where recordings and files are kept |

mod carrier;
mod language_model;
mod object_store;
mod speech;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

pub use carrier::{Carrier, DialError, DialOrder, HangUpFailed, Scripted, Standing};
pub use language_model::{Analysis, AnalysisOrder, LanguageModel, Said, TalkOrder, Talking, ToolOffer};
pub use object_store::{ObjectStore, Pieces};
pub use speech::{
    Heard, Hints, ListenOrder, Listening, Recogniser, SAMPLE_RATE, SpeakOrder, Speaking, Synthesiser,
};

/// An answer that takes time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why a provider did not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderFault {
    /// No answer in time.
    TimedOut,
    /// No connection, or it broke.
    Unreachable,
    /// The credentials were refused, or the account may not do this.
    Forbidden,
    /// Too much at once, or the quota is used up.
    Limited,
    /// The request itself was refused; the same again fails again.
    Refused,
    /// An answer that is not what the protocol says, or an error of the provider's own.
    Broken,
    /// Not usable as it is set up: a program or a file is missing.
    NotInstalled,
}

/// A provider's failure, for the log and for whoever falls back to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderError {
    /// Which provider, as the settings name it.
    pub provider: String,
    /// What kind of failure.
    pub fault: ProviderFault,
    /// In words: never a secret, never what a person said.
    pub detail: String,
}

impl ProviderError {
    /// A failure of this provider.
    pub fn new(provider: &str, fault: ProviderFault, detail: impl Into<String>) -> Self {
        Self { provider: provider.to_owned(), fault, detail: detail.into() }
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {:?}: {}", self.provider, self.fault, self.detail)
    }
}

//! The outside world as traits: what the service needs from it, and how it can fail. Implementations may wait
//! for the network; the rules of this crate never do.
//!
//! | file | what it is for |
//! |---|---|
//! | `carrier` | placing calls |
//! | `leg` | the legs of calls: dialling, answering, events, audio |
//! | `speech` | speech to text, text to speech |
//! | `language_model` | talking in a `converse` node, analysing a conversation afterwards |
//! | `detail_reader` | reading details off documents that customers hand in |
//! | `documents` | reading files and web pages |
//! | `object_store` | storing recordings and files |

mod carrier;
mod detail_reader;
mod documents;
mod language_model;
mod leg;
mod object_store;
mod speech;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

pub use crate::call::DialError;
pub use carrier::{Carrier, DialOrder, DialStatus, HangUpFailed, Scripted};
pub use detail_reader::{DetailFile, DetailOrder, DetailReader};
pub use documents::{DocumentReader, Haste, Read, ReadLimit, ReadOrder, Unreadable};
pub use language_model::{
    Analysis, AnalysisOrder, Choice, Chosen, GradeOrder, LanguageModel, ModelReply, Said, TalkOrder, Talking,
    ToolOffer,
};
pub use leg::{
    AnswerFailed, DialFailed, Ear, EndedBy, FRAME, Frame, IncomingLeg, IncomingLegs, KEY_MS, KEY_PAUSE_MS,
    Leg, LegControl, LegEnd, LegEvent, LegEvents, LegGateway, LegMedia, LegOrder, Mouth, Tick,
};
pub use object_store::{Completed, ObjectParts, ObjectStore, Pieces, SMALLEST_PART};
pub use speech::{
    Heard, Hints, ListenOrder, Listening, Recogniser, SAMPLE_RATE, SpeakOrder, Speaking, Synthesiser,
};

pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why a request to a provider failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderFault {
    /// No answer in time.
    TimedOut,
    /// No connection, or it broke.
    Unreachable,
    /// The credentials were refused, or the account lacks the permission.
    Forbidden,
    /// The rate limit or the quota is exceeded.
    Limited,
    /// The request itself was refused; the same request will fail again.
    Refused,
    /// The answer breaks the protocol, or the provider has an internal error.
    Broken,
    /// A language model ended its turn without a word: that is what its instructions led it to.
    Silent,
    /// The setup is incomplete: a program or a file is missing.
    NotInstalled,
}

/// A provider's failure, for the log and for the fallback to another provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderError {
    /// The provider's name in the settings.
    pub provider: String,
    /// What kind of failure.
    pub fault: ProviderFault,
    /// Details for the log; never a secret or what a person said.
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

//! Settings of providers (`[speech]`, `[language_model]`, `[storage]`; docs/operating/speech.md). The addresses here
//! are the operator's own, so they may be private; addresses that users give go through [`crate::GuardedClient`].

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A section `[speech.<name>]`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Speech {
    /// `sarvam`, `deepgram`, `elevenlabs`, `cartesia`, `openai` or `offline`.
    pub name: String,
    /// `https://…` (or `http://…`) of the service; its public one when absent. WebSocket addresses are made
    /// of it.
    pub base_url: Option<String>,
    pub api_key: String,
    /// Recognition model; the provider's usual one when absent.
    pub stt_model: Option<String>,
    pub tts_model: Option<String>,
    /// Languages that it is asked to understand, by code; those that the provider publishes when empty.
    pub stt_languages: Vec<String>,
    /// Languages that it is asked to speak.
    pub tts_languages: Vec<String>,
    /// The provider's voice for the default voice and for voices that are not the provider's own.
    pub voice: Option<String>,
    /// Whether its data stays in India; by its address when absent (`offline`, loopback and private addresses and the
    /// Indian hosts of providers do).
    pub resident: Option<bool>,
    /// Longest wait for a connection, and for the next answer once one is due.
    pub timeout: Duration,
}

/// A section `[language_model.<name>]`: an OpenAI-compatible service, or `offline`.
#[derive(Clone, Default, PartialEq)]
pub struct LanguageModel {
    /// Any name; `offline` is the built-in answerer.
    pub name: String,
    /// Base with the version, such as `http://127.0.0.1:8000/v1`.
    pub base_url: String,
    /// Credentials; empty for none.
    pub api_key: String,
    pub model: String,
    /// Whether it supports vision: then it reads documents of customers.
    pub vision: bool,
    /// Sampling temperature, 0 to 2.
    pub temperature: f64,
    /// Most tokens of one turn.
    pub max_tokens: u32,
    /// As in [`Speech::resident`].
    pub resident: Option<bool>,
    /// Longest wait for the first token, and between two.
    pub timeout: Duration,
}

/// Section `[knowledge.embeddings]`: an OpenAI-compatible service for embeddings of texts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Embeddings {
    /// Base with the version, such as `http://127.0.0.1:8000/v1`.
    pub url: String,
    /// Credentials; empty for none.
    pub api_key: String,
    pub model: String,
    /// Dimensions of a vector, if they are sent to the service.
    pub dimensions: Option<usize>,
    /// Most passages in one request.
    pub batch: usize,
    /// As in [`Speech::resident`].
    pub resident: Option<bool>,
    /// Longest wait for the vectors of passages.
    pub timeout: Duration,
}

/// Section `[storage]`.
#[derive(Clone, PartialEq, Eq)]
pub enum Storage {
    Files(PathBuf),
    /// A bucket of an S3-compatible service.
    S3 {
        /// `https://host`, path-style.
        endpoint: String,
        /// Region of the signature.
        region: String,
        bucket: String,
        access_key: String,
        /// Secret.
        secret_key: String,
    },
}

/// Section `[integrations]`: addresses of external systems (docs/operating/README.md «Connected systems»).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integrations {
    /// Interval between two polls of a stream.
    pub poll: Duration,
    /// Longest wait for one response.
    pub timeout: Duration,
    /// Accept http:// and private addresses.
    pub allow_insecure: bool,
    pub hubspot: String,
    /// Salesforce's token endpoint; its answer says where the rest is.
    pub salesforce_login: String,
    /// Zoho's token endpoint.
    pub zoho_accounts: String,
    /// Zoho CRM; by the answer of the token endpoint when absent.
    pub zoho: Option<String>,
    /// The shop; `https://<shop>.myshopify.com` when absent.
    pub shopify: Option<String>,
    pub google_sheets: String,
    /// Google's token endpoint, with its path.
    pub google_token: String,
}

/// Section `[chatapp.cloud]`: the messaging channel's Cloud API (docs/channel.md).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloudApi {
    /// Its address, without a slash at the end.
    pub base_url: String,
    /// The version of its API: `v25.0`.
    pub version: String,
    /// Longest wait for one response.
    pub timeout: Duration,
    /// Accept http:// and private addresses.
    pub allow_insecure: bool,
}

// Written by hand: none of them shows a key.

impl fmt::Debug for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Speech")
            .field("name", &self.name)
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for LanguageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LanguageModel")
            .field("name", &self.name)
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Embeddings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embeddings")
            .field("url", &self.url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(folder) => f.debug_tuple("Files").field(folder).finish(),
            Self::S3 { endpoint, bucket, .. } => f
                .debug_struct("S3")
                .field("endpoint", endpoint)
                .field("bucket", bucket)
                .finish_non_exhaustive(),
        }
    }
}

//! The API documents as they are served, each made once.

use std::sync::OnceLock;

use api::openapi::{Document, document};
use bytes::Bytes;
use config::Config;
use runtime::crypto;

/// The public document and the operator's.
#[derive(Default)]
pub struct Documents {
    public: OnceLock<ApiDocument>,
    operator: OnceLock<ApiDocument>,
}

/// An OpenAPI document as it is served.
pub struct ApiDocument {
    /// JSON.
    pub body: Bytes,
    /// Its entity tag, in quotes.
    pub etag: String,
}

impl Documents {
    /// One of them, with the brand and the key prefix of the settings.
    pub fn get(&self, which: Document, config: &Config) -> &ApiDocument {
        let kept = match which {
            Document::Public => &self.public,
            Document::Operator => &self.operator,
        };
        kept.get_or_init(|| {
            let body = Bytes::from(document(which, &config.brand, &config.key_prefix).to_string());
            let etag = format!("\"{}\"", &crypto::sha256(&body)[..32]);
            ApiDocument { body, etag }
        })
    }
}

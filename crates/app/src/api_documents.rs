//! The API documents and the manual as they are served, each made once.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::sync::OnceLock;

use api::openapi::{Document, document};
use bytes::Bytes;
use config::Config;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use manual::Manual;
use runtime::crypto;

/// The public document and the operator's, and the manual.
#[derive(Default)]
pub struct Documents {
    public: OnceLock<ApiDocument>,
    operator: OnceLock<ApiDocument>,
    manual: OnceLock<PackedManual>,
}

/// An OpenAPI document as it is served.
pub struct ApiDocument {
    /// JSON.
    pub body: Bytes,
    /// Its entity tag, in quotes.
    pub etag: String,
}

/// The files of the manual, each compressed.
pub struct PackedManual {
    files: HashMap<String, PackedFile>,
    /// The page for a path that does not exist.
    pub missing: PackedFile,
}

/// A file of the manual.
pub struct PackedFile {
    /// Its content type.
    pub content_type: &'static str,
    /// Compressed by gzip.
    pub gzip: Bytes,
    /// Hash of what is in it, without quotes.
    pub hash: String,
    plain: OnceLock<Bytes>,
}

impl PackedManual {
    /// The file at this path.
    pub fn file(&self, path: &str) -> Option<&PackedFile> {
        self.files.get(path)
    }
}

impl PackedFile {
    fn new(content_type: &'static str, body: &str) -> std::io::Result<Self> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(body.as_bytes())?;
        let mut hash = crypto::sha256(body.as_bytes());
        hash.truncate(32);
        Ok(Self { content_type, gzip: packer.finish()?.into(), hash, plain: OnceLock::new() })
    }

    /// The file uncompressed. It is kept: all answers share it, so those that read slowly need no memory of their own.
    pub fn plain(&self) -> Bytes {
        let unpack = || {
            let mut bytes = Vec::new();
            // What was packed here can be unpacked.
            let _ = GzDecoder::new(self.gzip.as_ref()).read_to_end(&mut bytes);
            Bytes::from(bytes)
        };
        self.plain.get_or_init(unpack).clone()
    }
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

    /// The manual, with the brand and the key prefix of the settings. The first call computes for a moment.
    ///
    /// # Errors
    /// When a file cannot be compressed.
    pub fn manual(&self, config: &Config) -> std::io::Result<&PackedManual> {
        if let Some(made) = self.manual.get() {
            return Ok(made);
        }
        let made = Manual::new(&config.brand, &config.key_prefix);
        let files = made
            .files
            .iter()
            .map(|(path, file)| Ok((path.clone(), PackedFile::new(file.content_type, &file.body)?)))
            .collect::<std::io::Result<_>>()?;
        let missing = PackedFile::new("text/html; charset=utf-8", &made.missing)?;
        Ok(self.manual.get_or_init(|| PackedManual { files, missing }))
    }
}

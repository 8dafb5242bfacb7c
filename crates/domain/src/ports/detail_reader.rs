//! Extracting details from a document that a customer handed in.

use super::{Answer, ProviderError};
use crate::document::{FileType, Reading};

/// A document to be read.
#[derive(Clone)]
pub struct DetailOrder {
    /// What was asked for, such as `PAN card`.
    pub label: String,
    /// Keys of the details that are wanted.
    pub fields: Vec<String>,
    /// Its files, in order.
    pub files: Vec<DetailFile>,
}

/// A file of a document.
#[derive(Clone)]
pub enum DetailFile {
    Picture(FileType, std::sync::Arc<[u8]>),
    /// What a PDF says.
    Text(String),
}

/// A reader of details of documents.
pub trait DetailReader: Send + Sync {
    /// Its name in the settings.
    fn name(&self) -> &str;

    /// Whether its data stays in India.
    fn resident(&self) -> bool;

    /// Reads a document; none when it has no answer.
    fn read(&self, order: DetailOrder) -> Answer<'_, Result<Option<Reading>, ProviderError>>;
}

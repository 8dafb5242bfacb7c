//! Where recordings and files are kept.

use super::{Answer, ProviderError};

/// Objects by key. A key is a path such as `recordings/rec_….wav`: lower-case letters, digits, `_`, `-`, `.` and `/`.
pub trait ObjectStore: Send + Sync {
    /// Keeps an object; one of the same key is replaced. It is durable when this answers.
    fn put<'a>(&'a self, key: &'a str, content_type: &'a str, body: Vec<u8>) -> Answer<'a, Result<(), ProviderError>>;

    /// The object, if there is one.
    fn get<'a>(&'a self, key: &'a str) -> Answer<'a, Result<Option<Vec<u8>>, ProviderError>>;

    /// Removes it; one that is not there is no error.
    fn delete<'a>(&'a self, key: &'a str) -> Answer<'a, Result<(), ProviderError>>;

    /// Whether it can be used now, in a few words for a person.
    fn check(&self) -> Answer<'_, Result<String, ProviderError>>;
}

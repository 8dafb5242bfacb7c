//! Where recordings and files are kept.

use super::{Answer, ProviderError};

/// A part of an object on its way.
pub trait Pieces: Send {
    /// The next bytes, never many; none at the end. An object that is shorter than was thought ends early.
    fn next(&mut self) -> Answer<'_, Result<Option<Vec<u8>>, ProviderError>>;
}

/// Objects by key. A key is a path such as `recordings/rec_….wav`: lower-case letters, digits, `_`, `-`, `.`
/// and `/`.
pub trait ObjectStore: Send + Sync {
    /// Keeps an object; one of the same key is replaced. It is durable when this answers.
    fn put<'a>(
        &'a self,
        key: &'a str,
        content_type: &'a str,
        body: Vec<u8>,
    ) -> Answer<'a, Result<(), ProviderError>>;

    /// The object from its byte `first` on, up to `length` bytes of it, read as they are taken; if there is
    /// one.
    fn open<'a>(
        &'a self,
        key: &'a str,
        first: u64,
        length: u64,
    ) -> Answer<'a, Result<Option<Box<dyn Pieces>>, ProviderError>>;

    /// The whole object, if there is one.
    fn get<'a>(&'a self, key: &'a str) -> Answer<'a, Result<Option<Vec<u8>>, ProviderError>> {
        Box::pin(async move {
            let Some(mut pieces) = self.open(key, 0, u64::MAX).await? else { return Ok(None) };
            let mut whole = Vec::new();
            while let Some(piece) = pieces.next().await? {
                whole.extend_from_slice(&piece);
            }
            Ok(Some(whole))
        })
    }

    /// Removes it; one that is not there is no error.
    fn delete<'a>(&'a self, key: &'a str) -> Answer<'a, Result<(), ProviderError>>;

    /// Whether it can be used now, in a few words for a person.
    fn check(&self) -> Answer<'_, Result<String, ProviderError>>;
}

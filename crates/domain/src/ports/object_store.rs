//! Storing recordings and files.

use super::{Answer, ProviderError};

/// An object that is being read.
pub trait Pieces: Send {
    /// The next few bytes; `None` at the end. An object that is shorter than expected ends early.
    fn next(&mut self) -> Answer<'_, Result<Option<Vec<u8>>, ProviderError>>;
}

/// Objects by key. A key is a path such as `recordings/rec_….wav`: lower-case letters, digits, `_`, `-`, `.`
/// and `/`.
pub trait ObjectStore: Send + Sync {
    /// Stores an object, replacing one with the same key. It is durable when this returns.
    fn put<'a>(
        &'a self,
        key: &'a str,
        content_type: &'a str,
        body: Vec<u8>,
    ) -> Answer<'a, Result<(), ProviderError>>;

    /// Up to `length` bytes of the object from byte `first` on, read on demand; `None` when there is no such
    /// object.
    fn open<'a>(
        &'a self,
        key: &'a str,
        first: u64,
        length: u64,
    ) -> Answer<'a, Result<Option<Box<dyn Pieces>>, ProviderError>>;

    /// The whole object; `None` when there is none.
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

    /// Deletes an object; a missing one is not an error.
    fn delete<'a>(&'a self, key: &'a str) -> Answer<'a, Result<(), ProviderError>>;

    /// Whether it is usable now, as a short text for a person.
    fn check(&self) -> Answer<'_, Result<String, ProviderError>>;
}

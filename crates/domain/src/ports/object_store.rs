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

    /// Multipart uploads; `None` when this store writes each object at once.
    fn parts(&self) -> Option<&dyn ObjectParts> {
        None
    }
}

/// Smallest part of an object, bytes; only the last part may be smaller. It is the bound of S3.
pub const SMALLEST_PART: u64 = 5 << 20;

/// How [`ObjectParts::complete`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completed {
    /// The object is there.
    Done,
    /// There is no such upload. Either it was completed before, or it was aborted.
    Gone,
    /// The parts are not those that were named.
    Unlike,
}

/// Multipart uploads. Nothing of an upload can be read before it is complete.
pub trait ObjectParts: Send + Sync {
    /// Begins an upload of the object `key`; its id.
    fn begin<'a>(&'a self, key: &'a str, content_type: &'a str) -> Answer<'a, Result<String, ProviderError>>;

    /// Stores the part of this number (from 1), replacing one with the same number. The tag that names it;
    /// `None` when there is no such upload.
    fn add<'a>(
        &'a self,
        key: &'a str,
        upload: &'a str,
        number: u16,
        body: Vec<u8>,
    ) -> Answer<'a, Result<Option<String>, ProviderError>>;

    /// Makes the object of the parts with these tags, the first of which is part 1.
    fn complete<'a>(
        &'a self,
        key: &'a str,
        upload: &'a str,
        tags: &'a [String],
    ) -> Answer<'a, Result<Completed, ProviderError>>;

    /// Drops an upload with its parts; a missing one is not an error.
    fn abort<'a>(&'a self, key: &'a str, upload: &'a str) -> Answer<'a, Result<(), ProviderError>>;

    /// The uploads of `key` that were begun and neither completed nor aborted.
    fn begun<'a>(&'a self, key: &'a str) -> Answer<'a, Result<Vec<String>, ProviderError>>;

    /// Bytes of the object; `None` when there is none.
    fn size<'a>(&'a self, key: &'a str) -> Answer<'a, Result<Option<u64>, ProviderError>>;
}

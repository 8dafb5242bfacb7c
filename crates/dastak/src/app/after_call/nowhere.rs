//! The object store of a service that has none.

use domain::ports::{Answer, ObjectStore, ProviderError, ProviderFault};

/// Keeps nothing and says so: what is to be kept waits.
pub(super) struct Nowhere;

impl Nowhere {
    fn refuse<'a, T: Send + 'a>() -> Answer<'a, Result<T, ProviderError>> {
        Box::pin(std::future::ready(Err(ProviderError::new("storage", ProviderFault::NotInstalled, "no place for recordings is set up"))))
    }
}

impl ObjectStore for Nowhere {
    fn put<'a>(&'a self, _: &'a str, _: &'a str, _: Vec<u8>) -> Answer<'a, Result<(), ProviderError>> {
        Self::refuse()
    }

    fn get<'a>(&'a self, _: &'a str) -> Answer<'a, Result<Option<Vec<u8>>, ProviderError>> {
        Self::refuse()
    }

    fn delete<'a>(&'a self, _: &'a str) -> Answer<'a, Result<(), ProviderError>> {
        // Nothing was ever kept.
        Box::pin(std::future::ready(Ok(())))
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Self::refuse()
    }
}

//! The identity map of a transaction: rows that it has read or locked, kept by a key so that a later read costs no
//! round trip. A function that changes a row removes or replaces what is cached of it.

use std::any::Any;

use super::tx::Tx;

impl Tx<'_> {
    /// Caches a row under a key. Does nothing during a prefetch, whose reads return nothing.
    pub(crate) fn cache_row<T: Any>(&mut self, key: String, row: T) {
        if !self.prefetching {
            self.cached.insert(key, Box::new(row));
        }
    }

    /// Takes a row out of the cache.
    pub(crate) fn take_cached<T: Any>(&mut self, key: &str) -> Option<T> {
        self.cached.remove(key)?.downcast().ok().map(|row| *row)
    }

    /// A cached row.
    pub(crate) fn cached_ref<T: Any>(&self, key: &str) -> Option<&T> {
        self.cached.get(key)?.downcast_ref()
    }

    /// A copy of a cached row.
    pub(crate) fn cached<T: Any + Clone>(&self, key: &str) -> Option<T> {
        self.cached_ref(key).cloned()
    }

    /// Whether anything is cached; if not, no key has to be built.
    pub(crate) fn has_cached_rows(&self) -> bool {
        !self.cached.is_empty()
    }

    /// Removes a row from the cache, because it was changed.
    pub(crate) fn uncache(&mut self, key: &str) {
        self.cached.remove(key);
    }

    /// Removes all rows whose key begins with `prefix`.
    pub(crate) fn uncache_all(&mut self, prefix: &str) {
        if self.has_cached_rows() {
            self.cached.retain(|key, _| !key.starts_with(prefix));
        }
    }
}

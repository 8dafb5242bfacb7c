//! What a transaction has read for many pieces of work at once, until each of them asks for its part. A function that
//! changes a row makes the transaction forget what was read of it, or remember the row as it is then.

use std::any::Any;

use super::Tx;

impl Tx<'_> {
    /// Keeps a row that this transaction has read and locked until somebody asks for it by its id.
    pub(crate) fn hold<T: Any>(&mut self, id: String, row: T) {
        if !self.looks {
            self.held.insert(id, Box::new(row));
        }
    }

    /// A row that is held: the first who asks has it.
    pub(crate) fn take_held<T: Any>(&mut self, id: &str) -> Option<T> {
        self.held.remove(id)?.downcast().ok().map(|row| *row)
    }

    /// Something that is held, for as long as nobody takes it.
    pub(crate) fn held<T: Any>(&self, id: &str) -> Option<&T> {
        self.held.get(id)?.downcast_ref()
    }

    /// A row was changed: what was read of it before is void.
    pub(crate) fn forget_held(&mut self, id: &str) {
        self.held.remove(id);
    }

    /// Whether anything was read for many: without that nobody has to make a name to ask for.
    pub(crate) fn knows_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// What was read under a name, for everybody who asks.
    pub(crate) fn known<T: Any + Clone>(&self, name: &str) -> Option<T> {
        self.held.get(name)?.downcast_ref().cloned()
    }

    /// Forgets everything whose name begins like this.
    pub(crate) fn forget_all(&mut self, begin: &str) {
        if self.knows_any() {
            self.held.retain(|name, _| !name.starts_with(begin));
        }
    }
}

//! Text that is used but never shown.

use std::fmt;
use std::ops::Deref;

/// A secret. It dereferences to its text, and `Debug` prints `***`. It has no `Display`, so that it cannot
/// end up in a message by accident.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Deref for Secret {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

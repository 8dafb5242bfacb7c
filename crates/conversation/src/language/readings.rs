//! How sure a value was heard.

/// A value that somebody said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading<T> {
    /// Nothing else can be meant.
    Sure(T),
    /// Something else may be meant: it is captured only after a yes.
    Unsure(T),
}

impl<T> Reading<T> {
    /// The value, whether sure or not, as another one.
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Sure(value) => Reading::Sure(to(value)),
            Self::Unsure(value) => Reading::Unsure(to(value)),
        }
    }

    /// The value if it is sure.
    pub fn sure(self) -> Option<T> {
        match self {
            Self::Sure(value) => Some(value),
            Self::Unsure(_) => None,
        }
    }
}

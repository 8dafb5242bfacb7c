//! The phrases of a language as text.

/// The phrases of one language, one a line, in the notation of [`Patterns`](crate::speech::matching::Patterns).
pub(super) struct Written {
    /// Words for «to call», which the others name as `$C`.
    pub(super) calls: &'static str,
    /// See [`Table::strong`](super::Table::strong).
    pub(super) strong: &'static str,
    /// See [`Table::plain`](super::Table::plain).
    pub(super) plain: &'static str,
    /// See [`Table::never`](super::Table::never).
    pub(super) never: &'static str,
}

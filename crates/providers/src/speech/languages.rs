//! Which languages of agents a provider understands or speaks, according to the providers' public lists.

/// All languages of agents (docs/contract/agents.md#fields).
pub(crate) const ALL: &[&str] = &["en", "hi", "bn", "gu", "kn", "ml", "mr", "or", "pa", "ta", "te"];
/// What models of the Whisper family understand: no Odia.
pub(crate) const WHISPER: &[&str] = &["en", "hi", "bn", "gu", "kn", "ml", "mr", "pa", "ta", "te"];
/// English only.
pub(crate) const ENGLISH: &[&str] = &["en"];
pub(crate) const ENGLISH_HINDI: &[&str] = &["en", "hi"];
/// The fast multilingual voices of ElevenLabs.
pub(crate) const ENGLISH_HINDI_TAMIL: &[&str] = &["en", "hi", "ta"];

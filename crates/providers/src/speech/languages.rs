//! Which languages of agents a provider understands or speaks: the section's own list, or what the provider publishes.

/// All languages of agents (docs/contract/agents.md#fields).
pub(crate) const ALL: &[&str] = &["en", "hi", "bn", "gu", "kn", "ml", "mr", "or", "pa", "ta", "te"];
/// What models of the Whisper family understand: no Odia.
pub(crate) const WHISPER: &[&str] = &["en", "hi", "bn", "gu", "kn", "ml", "mr", "pa", "ta", "te"];
/// What Deepgram's third generation understands.
pub(crate) const NOVA_3: &[&str] = &["en", "hi", "bn", "gu", "kn", "mr", "pa", "ta", "te"];
/// English only.
pub(crate) const ENGLISH: &[&str] = &["en"];
pub(crate) const ENGLISH_HINDI: &[&str] = &["en", "hi"];
/// The fast multilingual voices of ElevenLabs.
pub(crate) const ENGLISH_HINDI_TAMIL: &[&str] = &["en", "hi", "ta"];

/// The languages that the settings name, or the provider's `usual` ones if they name none.
pub(crate) fn listed(named: &[String], usual: &[&str]) -> Vec<String> {
    if named.is_empty() { usual.iter().map(|code| (*code).to_owned()).collect() } else { named.to_vec() }
}

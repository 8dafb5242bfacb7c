//! Voices that agents can have (spec 2 «Agent», voices response).

use api::agents::{LANGUAGES, Language, Voice, Voices};

/// The voice of an agent that names none.
pub const DEFAULT: &str = "offline-female";

/// The voices of the offline speech, which every installation has. Each speaks every language.
const OFFLINE: [Voice; 2] =
    [Voice { id: DEFAULT, name: "Offline, female", gender: "female" }, Voice { id: "offline-male", name: "Offline, male", gender: "male" }];

/// Whether there is a voice of this id.
pub fn exists(id: &str) -> bool {
    OFFLINE.iter().any(|voice| voice.id == id)
}

/// All voices and languages.
pub fn list() -> Voices {
    let languages = LANGUAGES.iter().map(|(code, label)| Language { code, label }).collect();
    Voices { voices: OFFLINE.to_vec(), default_voice: DEFAULT, languages }
}

//! Voices that agents can have (docs/contract/agents.md#voices): those of the offline speech, which every
//! installation has, and those of the providers that the settings name.

use api::agents::{KnownModels, LANGUAGES, Language, Voice, Voices};
use domain::ports::Synthesiser;

use super::App;

/// The voices of the offline speech: id, name, gender. Each speaks every language.
const OFFLINE: [(&str, &str, &str); 2] =
    [("offline-female", "Offline, female", "female"), ("offline-male", "Offline, male", "male")];

/// Ids of all voices.
pub fn ids(app: &App) -> Vec<String> {
    all(app).into_iter().map(|voice| voice.id).collect()
}

/// All voices and languages. The default is the first voice of the preferred provider.
pub fn list(app: &App) -> Voices {
    let languages = LANGUAGES.iter().map(|(code, label)| Language { code, label }).collect();
    let voices = all(app);
    let preferred =
        app.config.providers.from_text.first().map_or("offline", |provider| provider.name.as_str());
    let default =
        voices.iter().find(|voice| voice.id.starts_with(&format!("{preferred}-"))).or(voices.last());
    let default_voice = default.map(|voice| voice.id.clone()).unwrap_or_default();
    Voices { default_voice, voices, languages, models: models(app) }
}

/// The providers that agents can prefer: those that may be used here.
pub fn models(app: &App) -> KnownModels {
    KnownModels {
        recognisers: app.speech.to_text.member_names(),
        synthesisers: app.speech.from_text.member_names(),
        language_models: app.speech.model.member_names(),
    }
}

fn all(app: &App) -> Vec<Voice> {
    let offline = OFFLINE.iter().map(|(id, name, gender)| Voice {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        gender: (*gender).to_owned(),
    });
    let others =
        app.speech.from_text.voices().into_iter().map(|(id, name, gender)| Voice { id, name, gender });
    offline.chain(others).collect()
}

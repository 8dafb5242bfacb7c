//! Settings of speech, language models and storage.

use std::time::Duration;

use domain::speech::LANGUAGES;
use providers::embeddings::MAX_DIMENSIONS;
use providers::settings::{Embeddings, LanguageModel, Speech, Storage};

use super::Values;

/// Names of speech providers.
pub const SPEECH_PROVIDERS: [&str; 6] = ["sarvam", "deepgram", "elevenlabs", "cartesia", "openai", "offline"];

/// Speech, language models and storage.
#[derive(Debug, Clone)]
pub struct Providers {
    /// Recognisers, the preferred first.
    pub to_text: Vec<Speech>,
    /// Voices, the preferred first.
    pub from_text: Vec<Speech>,
    /// Language models, the preferred first.
    pub models: Vec<LanguageModel>,
    /// The service for embeddings of passages.
    pub embeddings: Option<Embeddings>,
    /// Memory for vectors, bytes.
    pub vector_memory: usize,
    /// Whether only providers that keep data in India are used.
    pub resident_only: bool,
    /// Where recordings are stored.
    pub storage: Storage,
}

/// Reads the sections.
pub(super) fn read(values: &Values) -> Result<Providers, String> {
    if let Some(strange) =
        values.chosen("speech").into_iter().find(|name| !SPEECH_PROVIDERS.contains(&name.as_str()))
    {
        return Err(format!(
            "speech.{strange}: no such provider; allowed are {}",
            SPEECH_PROVIDERS.join(", ")
        ));
    }
    Ok(Providers {
        to_text: speech(values, "speech.to_text")?,
        from_text: speech(values, "speech.from_text")?,
        models: models(values)?,
        embeddings: embeddings(values)?,
        vector_memory: usize::try_from(values.number("knowledge.embeddings.memory_mb")?).unwrap_or(0) << 20,
        resident_only: values.flag("speech.india_resident_only")?,
        storage: storage(values)?,
    })
}

fn speech(values: &Values, list: &str) -> Result<Vec<Speech>, String> {
    let mut found = Vec::new();
    for name in values.list(list)? {
        if !SPEECH_PROVIDERS.contains(&name.as_str()) {
            return Err(format!("{list}: found «{name}»; allowed: {}", SPEECH_PROVIDERS.join(", ")));
        }
        let of = |key: &str| format!("speech.{name}.{key}");
        let (base_url, api_key) = (address(values, &of("base_url"))?, values.text(&of("api_key"))?);
        // A server of one's own needs no key.
        if api_key.is_empty() && base_url.is_none() && name != "offline" {
            return Err(format!("speech.{name}.api_key: missing; {list} names this provider"));
        }
        found.push(Speech {
            base_url,
            api_key,
            stt_model: values.some_text(&of("stt_model"))?,
            tts_model: values.some_text(&of("tts_model"))?,
            voice: values.some_text(&of("voice"))?,
            stt_languages: languages(values, &of("stt_languages"))?,
            tts_languages: languages(values, &of("tts_languages"))?,
            resident: resident(values, &of("resident"))?,
            timeout: Duration::from_millis(values.number(&of("timeout_ms"))?.unsigned_abs()),
            name,
        });
    }
    Ok(found)
}

/// A list of languages of agents, each once.
fn languages(values: &Values, name: &str) -> Result<Vec<String>, String> {
    let mut found: Vec<String> = Vec::new();
    for code in values.list(name)? {
        if !LANGUAGES.contains(&code.as_str()) {
            return Err(format!("{name}: found «{code}»; allowed: {}", LANGUAGES.join(", ")));
        }
        if !found.contains(&code) {
            found.push(code);
        }
    }
    Ok(found)
}

fn models(values: &Values) -> Result<Vec<LanguageModel>, String> {
    let mut found = Vec::new();
    for name in values.list("language_model.providers")? {
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
            || name.is_empty()
        {
            return Err(format!(
                "language_model.providers: found «{name}»; allowed: names of letters, digits, _ and -"
            ));
        }
        if name == "offline" {
            found.push(LanguageModel { name, ..LanguageModel::default() });
            continue;
        }
        let of = |key: &str| format!("language_model.{name}.{key}");
        let missing = |key: &str| {
            format!("language_model.{name}.{key}: missing; language_model.providers names this one")
        };
        let temperature = values.text(&of("temperature"))?;
        let temperature =
            temperature.parse::<f64>().ok().filter(|number| (0.0..=2.0).contains(number)).ok_or_else(
                || format!("language_model.{name}.temperature: found «{temperature}»; allowed: 0 to 2"),
            )?;
        found.push(LanguageModel {
            base_url: address(values, &of("base_url"))?.ok_or_else(|| missing("base_url"))?,
            api_key: values.text(&of("api_key"))?,
            model: values.some_text(&of("model"))?.ok_or_else(|| missing("model"))?,
            temperature,
            vision: values.flag(&of("vision"))?,
            max_tokens: u32::try_from(values.number(&of("max_tokens"))?).unwrap_or(300),
            resident: resident(values, &of("resident"))?,
            timeout: Duration::from_millis(values.number(&of("timeout_ms"))?.unsigned_abs()),
            name,
        });
    }
    Ok(found)
}

fn embeddings(values: &Values) -> Result<Option<Embeddings>, String> {
    let of = |key: &str| format!("knowledge.embeddings.{key}");
    let Some(url) = address(values, &of("url"))? else { return Ok(None) };
    let model = values.some_text(&of("model"))?;
    let dimensions = usize::try_from(values.number(&of("dimensions"))?).unwrap_or(MAX_DIMENSIONS);
    Ok(Some(Embeddings {
        url,
        api_key: values.text(&of("api_key"))?,
        model: model.ok_or_else(|| format!("{}: missing; {} is set", of("model"), of("url")))?,
        dimensions: Some(dimensions).filter(|count| *count > 0),
        batch: usize::try_from(values.number(&of("batch"))?).unwrap_or(1),
        resident: resident(values, &of("resident"))?,
        timeout: Duration::from_millis(values.number(&of("timeout_ms"))?.unsigned_abs()),
    }))
}

fn storage(values: &Values) -> Result<Storage, String> {
    if values.text("storage.kind")? == "files" {
        return Ok(Storage::Files(values.text("data")?.into()));
    }
    let required = |name: &str| {
        values.some_text(name)?.ok_or_else(|| format!("{name}: missing; storage.kind = s3 needs it"))
    };
    Ok(Storage::S3 {
        endpoint: address(values, "storage.endpoint")?
            .ok_or("storage.endpoint: missing; storage.kind = s3 needs it")?,
        region: required("storage.region")?,
        bucket: required("storage.bucket")?,
        access_key: required("storage.access_key")?,
        secret_key: required("storage.secret_key")?,
    })
}

fn address(values: &Values, name: &str) -> Result<Option<String>, String> {
    let Some(text) = values.some_text(name)? else { return Ok(None) };
    let known = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
        .is_some_and(|rest| !rest.is_empty());
    if !known || text.parse::<http::Uri>().is_err() {
        return Err(format!(
            "{name}: found «{text}»; allowed: an address that starts with https:// or http://"
        ));
    }
    Ok(Some(text.trim_end_matches('/').to_owned()))
}

fn resident(values: &Values, name: &str) -> Result<Option<bool>, String> {
    Ok(values.some_text(name)?.map(|word| word == "true"))
}

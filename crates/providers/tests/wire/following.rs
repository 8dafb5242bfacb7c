//! Several languages in one conversation, languages by settings, and key terms, as the providers take them.

use std::collections::HashMap;
use std::time::Duration;

use domain::ports::{Heard, ListenOrder, Listening, ProviderError};
use providers::settings::Speech;
use serde_json::{Value, json};

use crate::fakes::{Fake, KEY, feed, recogniser, turn};
use crate::server::{Conn, Log, Server, soon};

/// What a provider takes in the address of a conversation.
struct Rules {
    /// Parameters without which it refuses, beside those of languages.
    needs: &'static [&'static str],
    /// The parameter of a key term.
    term: &'static str,
    /// Terms and characters of one.
    count: usize,
    letters: usize,
    /// All together, in its unit.
    total: usize,
    cost: fn(&str) -> usize,
}

/// The parameters of an address, decoded, in order.
fn query(path: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| {
        let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
        while let Some((first, after)) = rest.split_first() {
            if *first == b'%' {
                let hex = std::str::from_utf8(&after[..2]).unwrap();
                bytes.push(u8::from_str_radix(hex, 16).unwrap());
                rest = &after[2..];
            } else {
                bytes.push(*first);
                rest = after;
            }
        }
        String::from_utf8(bytes).unwrap()
    };
    let (_, query) = path.split_once('?').unwrap();
    query
        .split('&')
        .map(|part| part.split_once('=').unwrap())
        .map(|(key, value)| (decoded(key), decoded(value)))
        .collect()
}

fn all<'a>(query: &'a [(String, String)], key: &str) -> Vec<&'a str> {
    query.iter().filter(|(name, _)| name == key).map(|(_, value)| value.as_str()).collect()
}

impl Rules {
    /// Refuses what the provider refuses; the terms.
    fn judge(&self, path: &str) -> Vec<String> {
        assert!(path.len() < 8000, "an address of {} bytes", path.len());
        let query = query(path);
        for key in self.needs {
            assert_eq!(all(&query, key).len(), 1, "{key} in {path}");
        }
        let given = all(&query, self.term);
        // Sarvam takes one list, the others a parameter for each.
        let terms: Vec<String> = match given.as_slice() {
            [list] if list.starts_with('[') => serde_json::from_str(list).unwrap(),
            terms => terms.iter().map(|term| (*term).to_owned()).collect(),
        };
        assert!(terms.len() <= self.count, "{} terms", terms.len());
        for term in &terms {
            assert!(!term.trim().is_empty() && term.chars().count() <= self.letters, "{term}");
            assert!(term.split_whitespace().count() <= 5, "{term}");
        }
        assert!(terms.iter().map(|term| (self.cost)(term)).sum::<usize>() <= self.total);
        terms
    }
}

fn letters(term: &str) -> usize {
    term.chars().count()
}

/// Tokens of a vocabulary that knows no Indian script: each byte there is one.
fn tokens(term: &str) -> usize {
    let word = |word: &str| if word.is_ascii() { word.len().div_ceil(3) } else { word.len() };
    term.split(' ').map(word).sum()
}

fn rules(name: &str) -> Rules {
    match name {
        "deepgram" => {
            let needs = &["model", "language"];
            Rules { needs, term: "keyterm", count: 100, letters: 500, total: 500, cost: tokens }
        }
        "flux" => {
            Rules { needs: &["model"], term: "keyterm", count: 100, letters: 500, total: 500, cost: tokens }
        }
        "elevenlabs" => {
            let needs = &["model_id"];
            Rules { needs, term: "keyterms", count: 50, letters: 20, total: 1000, cost: letters }
        }
        "cartesia" => {
            let needs = &["model", "language"];
            Rules { needs, term: "keyterm", count: 100, letters: 1200, total: 1200, cost: letters }
        }
        _ => {
            Rules { needs: &["model"], term: "keyterms", count: 50, letters: 64, total: 3200, cost: letters }
        }
    }
}

fn section(name: &str, model: Option<&str>, url: &str) -> Speech {
    Speech {
        name: name.into(),
        base_url: Some(url.into()),
        api_key: KEY.into(),
        stt_model: model.map(str::to_owned),
        timeout: Duration::from_secs(10),
        ..Speech::default()
    }
}

fn order(language: &str, others: &[&str], terms: &[&str]) -> ListenOrder {
    let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    ListenOrder { language: language.into(), others: owned(others), terms: owned(terms) }
}

async fn listen(section: &Speech, order: ListenOrder) -> Result<Box<dyn Listening>, ProviderError> {
    soon(recogniser(section).listen(order)).await
}

/// The credentials' header of a provider.
fn header(name: &str) -> (&'static str, &'static str) {
    match name {
        "sarvam" => Fake::Sarvam.credentials(),
        "deepgram" => Fake::Deepgram.credentials(),
        "elevenlabs" => Fake::ElevenLabs.credentials(),
        _ => Fake::Cartesia.credentials(),
    }
}

/// The address of a conversation, as a server sees it.
async fn address(name: &'static str, model: Option<&str>, order: ListenOrder) -> String {
    let log = Log::new();
    let told = log.clone();
    let (key, value) = header(name);
    let server = Server::ws(key, value, move |mut conn: Conn| {
        let log = told.clone();
        async move {
            log.add(conn.path.clone());
            while conn.next().await.is_some() {}
        }
    })
    .await;
    let listening = listen(&section(name, model, &server.url), order).await.unwrap();
    let path = log.seen(|_| true).await;
    drop(listening);
    path
}

#[tokio::test]
async fn names_and_choices_go_along_within_the_limits_of_each_provider() {
    let few = ["Gold Plus", "Lakshmi Iyer", "एचडीएफसी बैंक"];
    for (name, model, of) in [
        ("deepgram", None, "deepgram"),
        ("deepgram", Some("flux-general-multi"), "flux"),
        ("elevenlabs", None, "elevenlabs"),
        ("cartesia", Some("ink-whisper"), "cartesia"),
        ("sarvam", Some("saaras:v4"), "sarvam"),
        ("sarvam", Some("legacy:saaras:v4"), "sarvam"),
    ] {
        let path = address(name, model, order("hi", &[], &few)).await;
        assert_eq!(rules(of).judge(&path), few, "{name} {model:?}");
        for term in ["Product Number", "लक्ष्मी नारायणन", "நாராயணன்"]
        {
            let many: Vec<String> = (0..300).map(|at| format!("{term} {at}")).collect();
            let many: Vec<&str> = many.iter().map(String::as_str).collect();
            let found = rules(of).judge(&address(name, model, order("hi", &[], &many)).await);
            assert!(!found.is_empty() && found == many[..found.len()], "{name} {model:?}: {found:?}");
        }
    }
}

#[tokio::test]
async fn models_that_take_no_terms_get_none() {
    for (name, model) in
        [("deepgram", Some("nova-2")), ("sarvam", None), ("sarvam", Some("legacy:saaras:v3"))]
    {
        let path = address(name, model, order("hi", &[], &["Gold Plus"])).await;
        assert!(!path.contains("keyterm") && !path.contains("Gold"), "{path}");
    }
}

#[tokio::test]
async fn a_recogniser_of_several_languages_is_asked_for_them_where_it_can() {
    for (name, model, language, others, expected) in [
        ("deepgram", None, "hi", &["en"][..], [("language", "multi")].as_slice()),
        // Tamil is not among those that it tells apart.
        ("deepgram", None, "hi", &["en", "ta"], &[("language", "hi")]),
        ("deepgram", None, "ta", &[], &[("language", "ta")]),
        (
            "deepgram",
            Some("flux-general-multi"),
            "en",
            &["hi", "ta"],
            &[("language_hint", "en"), ("language_hint", "hi")],
        ),
        (
            "elevenlabs",
            None,
            "hi",
            &["ta"],
            &[("include_language_detection", "true"), ("include_timestamps", "true")],
        ),
        ("elevenlabs", None, "hi", &[], &[("language_code", "hi")]),
        ("sarvam", None, "hi", &["or"], &[("language_code", "auto")]),
        ("sarvam", None, "or", &[], &[("language_code", "or-IN")]),
        ("sarvam", Some("legacy:saaras:v3"), "hi", &["ta"], &[("language-code", "unknown")]),
        ("cartesia", Some("ink-whisper"), "hi", &["ta"], &[("language", "hi")]),
    ] {
        let path = address(name, model, order(language, others, &[])).await;
        let found: Vec<(String, String)> = query(&path)
            .into_iter()
            .filter(|(key, _)| key.contains("language") || key == "include_timestamps")
            .collect();
        let expected: Vec<(String, String)> =
            expected.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        assert_eq!(found, expected, "{name} {model:?} {language} {others:?}");
    }
}

/// The messages of a provider that end a turn with these words in this language.
fn said(name: &str, words: &str, language: &str) -> Vec<Value> {
    match name {
        "deepgram" => vec![
            json!({"type": "Results", "is_final": true, "from_finalize": true, "channel": {"alternatives": [{"transcript": words, "languages": [language]}]}}),
        ],
        // Both come for each commit.
        "elevenlabs" => vec![
            json!({"message_type": "committed_transcript", "text": words}),
            json!({"message_type": "committed_transcript_with_timestamps", "text": words, "language_code": language, "words": []}),
        ],
        _ => vec![json!({"event": "transcript.final", "text": words, "language": format!("{language}-IN")})],
    }
}

fn ends_turn(name: &str, message: &Value) -> bool {
    match name {
        "deepgram" => message["type"] == "Finalize",
        "elevenlabs" => message["commit"] == true,
        _ => message["event"] == "speech_end",
    }
}

#[tokio::test]
async fn the_language_of_a_turn_comes_before_its_words_and_the_session_goes_on() {
    for name in ["deepgram", "elevenlabs", "sarvam"] {
        let (key, value) = header(name);
        let server = Server::ws(key, value, move |mut conn| async move {
            let mut languages = ["hi", "en"].into_iter();
            while let Some(message) = conn.next().await {
                let Ok(text) = message.to_text() else { continue };
                let Ok(message) = serde_json::from_str::<Value>(text) else { continue };
                if ends_turn(name, &message) {
                    let language = languages.next().unwrap_or("hi");
                    for message in said(name, "mera naam", language) {
                        conn.send(message).await;
                    }
                }
            }
        })
        .await;
        let section = section(name, None, &server.url);
        let listening = listen(&section, order("en", &["hi"], &[])).await.unwrap();
        for language in ["hi", "en"] {
            feed(&*listening, 1600);
            listening.turn_ended();
            assert_eq!(soon(listening.next()).await, Ok(Heard::Language(language.into())), "{name}");
            assert_eq!(soon(listening.next()).await, Ok(Heard::Turn("mera naam".into())), "{name}");
            assert!(listening.follow(language), "{name}");
        }
        assert!(!listening.follow("ta"), "{name}: it was not asked for");
        assert_eq!(server.accepted(), 1, "{name}");
        // One that listens to one language only repeats which.
        let alone = listen(&section, order("hi", &[], &[])).await.unwrap();
        if name != "elevenlabs" {
            feed(&*alone, 1600);
            alone.turn_ended();
            assert_eq!(soon(alone.next()).await, Ok(Heard::Turn("mera naam".into())), "{name}");
        }
        assert!(!alone.follow("en") && alone.follow("hi"), "{name}");
    }
}

#[tokio::test]
async fn a_turn_of_two_languages_tells_none() {
    let (key, value) = header("deepgram");
    let server = Server::ws(key, value, |mut conn| async move {
        while let Some(message) = conn.next().await {
            if message.is_text() && message.to_text().unwrap().contains("Finalize") {
                for (words, language, last) in [("mera naam", "hi", false), ("is Ravi", "en", true)] {
                    conn.send(json!({"type": "Results", "is_final": true, "from_finalize": last, "channel": {"alternatives": [{"transcript": words, "languages": [language]}]}})).await;
                }
            }
        }
    })
    .await;
    let listening = listen(&section("deepgram", None, &server.url), order("en", &["hi"], &[])).await.unwrap();
    feed(&*listening, 1600);
    listening.turn_ended();
    assert_eq!(soon(listening.next()).await, Ok(Heard::Turn("mera naam is Ravi".into())));
}

#[tokio::test]
async fn a_transcription_of_several_languages_names_none_and_tells_which_it_was() {
    let log = Log::new();
    let told = log.clone();
    let server = Server::http(move |request, mut to| {
        let log = told.clone();
        async move {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            log.add(if body.contains("name=\"language\"") { "named" } else { "free" });
            let answer = br#"{"task":"transcribe","language":"tamil","text":"naan","segments":[]}"#;
            to.whole(200, "application/json", answer).await;
        }
    })
    .await;
    let section = section("openai", None, &server.url);
    let tone: Vec<i16> = (0..4000).map(|at| if at / 8 % 2 == 0 { 8000 } else { -8000 }).collect();
    let listening = listen(&section, order("hi", &["ta", "or"], &[])).await.unwrap();
    listening.feed(&tone);
    listening.turn_ended();
    assert_eq!(soon(listening.next()).await, Ok(Heard::Language("ta".into())));
    assert_eq!(soon(listening.next()).await, Ok(Heard::Turn("naan".into())));
    assert!(listening.follow("ta") && !listening.follow("or"), "Odia is not understood");
    let alone = listen(&section, order("hi", &[], &[])).await.unwrap();
    alone.feed(&tone);
    alone.turn_ended();
    assert_eq!(turn(&*alone).await.as_deref(), Ok("naan"));
    assert_eq!(log.lines(), ["free", "named"]);
}

#[test]
fn the_languages_of_a_provider_are_settings() {
    let published: HashMap<&str, (&[&str], &[&str])> = HashMap::from([
        ("deepgram", (&["en", "hi", "bn", "gu", "kn", "mr", "pa", "ta", "te"][..], &["ml", "or"][..])),
        ("cartesia", (&["en"], &["hi"])),
        ("openai", (&["en", "hi", "ml"], &["or"])),
        ("sarvam", (&["or", "ml"], &[])),
    ]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _guard = runtime.enter();
    for (name, (known, unknown)) in published {
        let usual = recogniser(&section(name, None, "http://127.0.0.1:9"));
        assert!(known.iter().all(|language| usual.speaks(language)), "{name}");
        assert!(!unknown.iter().any(|language| usual.speaks(language)), "{name}");
        let named = Speech {
            stt_languages: vec!["ml".into(), "hi".into()],
            tts_languages: vec!["or".into()],
            voice: Some("v".into()),
            ..section(name, None, "http://127.0.0.1:9")
        };
        let own = recogniser(&named);
        assert!(own.speaks("ml") && own.speaks("hi") && !own.speaks("en"), "{name}");
        let voice = providers::speech::synthesiser(&named, &crate::fakes::net()).unwrap();
        assert!(voice.speaks("or") && !voice.speaks("en"), "{name}");
    }
    let older = recogniser(&section("deepgram", Some("nova-2"), "http://127.0.0.1:9"));
    assert!(older.speaks("hi") && !older.speaks("ta"));
}

//! Parsers of messages of speech services. Only fuzz targets call these functions.

use std::time::Duration;

use domain::ports::{ListenOrder, ProviderError};

use super::listening::Report;
use super::pcm::Reader;
use super::speaking::{Dialect, Said};
use super::{cartesia, deepgram, elevenlabs, openai, sarvam};
use crate::http::{Net, Peer};
use crate::settings;
use crate::websocket::Frame;

/// Output of a recogniser or a voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    Words(String),
    /// Bytes of sound.
    Sound(Vec<u8>),
    /// Something about the turn.
    Sign,
}

/// The protocols of recognisers and voices, by section and model.
const SECTIONS: [(&str, Option<&str>); 6] = [
    ("sarvam", None),
    ("sarvam", Some("legacy:saarika")),
    ("deepgram", None),
    ("deepgram", Some("flux-general-en")),
    ("elevenlabs", None),
    ("cartesia", None),
];

/// How many ways [`hear`] and [`speak`] know.
pub const WAYS: usize = SECTIONS.len();

fn section(way: usize) -> settings::Speech {
    let (name, model) = SECTIONS[way % WAYS];
    settings::Speech {
        name: name.to_owned(),
        base_url: Some("http://127.0.0.1:9".to_owned()),
        api_key: "key".to_owned(),
        stt_model: model.map(str::to_owned),
        voice: Some("voice".to_owned()),
        timeout: Duration::from_secs(1),
        ..settings::Speech::default()
    }
}

fn frame(text: bool, bytes: &[u8]) -> Frame {
    if text {
        Frame::Text(String::from_utf8_lossy(bytes).into_owned())
    } else {
        Frame::Binary(bytes.to_vec().into())
    }
}

/// Messages of a recogniser, until one is an error.
///
/// # Errors
/// As the first message that is one says.
pub fn hear(net: &Net, way: usize, messages: &[(bool, &[u8])]) -> Result<Vec<Told>, ProviderError> {
    let section = section(way);
    let recogniser = match section.name.as_str() {
        "sarvam" => sarvam::recogniser(&section, net),
        "deepgram" => deepgram::recogniser(&section, net),
        "elevenlabs" => elevenlabs::recogniser(&section, net),
        _ => cartesia::recogniser(&section, net),
    };
    let Ok(recogniser) = recogniser else { return Ok(Vec::new()) };
    let order = ListenOrder { others: vec!["en".to_owned()], ..ListenOrder::of("hi") };
    let mut dialect = (recogniser.begin)(&order).dialect;
    let mut reports = Vec::new();
    for (text, bytes) in messages {
        dialect.hear(frame(*text, bytes), &mut reports)?;
    }
    Ok(reports
        .into_iter()
        .map(|report| match report {
            Report::Partial(words) | Report::Final(words) => Told::Words(words),
            Report::Due | Report::Flushed | Report::Language(_) => Told::Sign,
        })
        .collect())
}

/// Messages of a voice, until one is an error.
///
/// # Errors
/// As the first message that is one says.
pub fn speak(net: &Net, way: usize, messages: &[(bool, &[u8])]) -> Result<Vec<Told>, ProviderError> {
    fn all(dialect: &impl Dialect, messages: &[(bool, &[u8])]) -> Result<Vec<Told>, ProviderError> {
        let told = |said| match said {
            Said::Sound(bytes) => Told::Sound(bytes),
            Said::Done | Said::Cleared | Said::Other => Told::Sign,
        };
        messages.iter().map(|(text, bytes)| dialect.read(frame(*text, bytes), 1).map(told)).collect()
    }
    let section = section(way);
    let nothing = |_| Vec::new();
    match section.name.as_str() {
        "sarvam" => sarvam::synthesiser(&section, net)
            .map_or_else(|why| Ok(nothing(why)), |voice| all(&voice.pool.dialect, messages)),
        "deepgram" => deepgram::synthesiser(&section, net)
            .map_or_else(|why| Ok(nothing(why)), |voice| all(&voice.pool.dialect, messages)),
        "elevenlabs" => elevenlabs::synthesiser(&section, net)
            .map_or_else(|why| Ok(nothing(why)), |voice| all(&voice.pool.dialect, messages)),
        _ => cartesia::synthesiser(&section, net)
            .map_or_else(|why| Ok(nothing(why)), |voice| all(&voice.pool.dialect, messages)),
    }
}

/// The words in an answer of a transcription service.
///
/// # Errors
/// An answer that is none.
pub fn transcription(net: &Net, answer: &[u8]) -> Result<String, ProviderError> {
    let peer = Peer::new(net, "fuzz", "http://127.0.0.1:9/v1", Duration::from_secs(1), &[]);
    peer.map_or_else(|_| Ok(String::new()), |peer| openai::words_in(&peer, answer))
}

/// The samples in sound that arrives in these pieces, at the rate of the line.
pub fn sound(rate: u32, pieces: &[&[u8]]) -> Vec<i16> {
    let mut reader = Reader::new(rate);
    let mut samples: Vec<i16> = pieces.iter().flat_map(|piece| reader.push(piece)).collect();
    samples.extend(reader.finish());
    samples
}

/// A WAV file of these samples; none if they are too many for one.
pub fn wav(samples: &[i16], rate: u32) -> Option<Vec<u8>> {
    super::pcm::wav(samples, rate).ok()
}

/// The part of these samples in which somebody may be speaking.
pub fn spoken_part(samples: &[i16]) -> &[i16] {
    super::pcm::spoken_part(samples)
}

//! Made speech, and words heard in sound.

use std::path::{Path, PathBuf};
use std::process::Command;

use domain::ports::{Heard, Hints, ListenOrder};

fn run(program: &str, arguments: &[&str]) {
    let done = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|why| panic!("{program} is missing ({why}); run `make packages`"));
    assert!(done.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Speech as a telephone sends it: 8 kHz mono, after a silence and before another, in seconds.
pub fn speech(folder: &Path, text: &str, before: f64, after: f64) -> PathBuf {
    let name: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let (raw, wav) = (folder.join(format!("{name}-raw.wav")), folder.join(format!("{name}.wav")));
    run("flite", &["-voice", "slt", "-t", text, "-o", raw.to_str().unwrap()]);
    as_a_telephone(&raw, &wav, before, after);
    wav
}

/// Makes 8 kHz mono of a sound, after a silence and before another.
fn as_a_telephone(raw: &Path, wav: &Path, before: f64, after: f64) {
    let (before, after) = (before.to_string(), after.to_string());
    run(
        "sox",
        &[
            raw.to_str().unwrap(),
            "-r",
            "8000",
            "-c",
            "1",
            "-b",
            "16",
            wav.to_str().unwrap(),
            "gain",
            "-n",
            "-6",
            "pad",
            &before,
            &after,
        ],
    );
}

/// Speech in one of the eleven languages, as [`speech`] is in English.
pub fn speech_in(folder: &Path, language: &str, text: &str, before: f64, after: f64) -> PathBuf {
    let (raw, wav) = (folder.join(format!("{language}-raw.wav")), folder.join(format!("{language}.wav")));
    run("espeak-ng", &["-v", language, "-w", raw.to_str().unwrap(), text]);
    as_a_telephone(&raw, &wav, before, after);
    wav
}

/// The sound of a file, this often.
pub fn again_and_again(wav: &Path, times: usize) -> PathBuf {
    let repeated = wav.with_extension("again.wav");
    run("sox", &[wav.to_str().unwrap(), repeated.to_str().unwrap(), "repeat", &(times - 1).to_string()]);
    repeated
}

/// Silence of this many seconds, as a telephone sends it.
pub fn silence(folder: &Path, seconds: f64) -> PathBuf {
    let wav = folder.join("silence.wav");
    run(
        "sox",
        &[
            "-n",
            "-r",
            "8000",
            "-c",
            "1",
            "-b",
            "16",
            wav.to_str().unwrap(),
            "trim",
            "0",
            &seconds.to_string(),
        ],
    );
    wav
}

/// Samples of one channel of a WAV file at 8 kHz.
pub fn samples(wav: &[u8], channel: usize) -> Vec<i16> {
    let mut reader = hound::WavReader::new(std::io::Cursor::new(wav)).expect("a WAV file");
    let spec = reader.spec();
    assert_eq!((spec.sample_rate, spec.bits_per_sample), (8000, 16));
    let channels = usize::from(spec.channels);
    reader.samples::<i16>().map(|sample| sample.expect("a sample")).skip(channel).step_by(channels).collect()
}

/// Which of the phrases are heard in the sound, one after the other; empty when none.
pub async fn heard(samples: &[i16], phrases: &[&str]) -> String {
    let recogniser = dastak::speech::Offline::new().to_text;
    let listening = recogniser.listen(ListenOrder::of("en")).await.expect("offline speech is installed");
    let mut all = Vec::new();
    for utterance in utterances(samples) {
        listening.expect(Hints {
            expected: None,
            phrases: phrases.iter().map(|phrase| (*phrase).to_owned()).collect(),
        });
        listening.feed(&utterance);
        listening.turn_ended();
        loop {
            if let Heard::Turn(words) = listening.next().await.expect("a recogniser that works") {
                all.push(words);
                break;
            }
        }
    }
    all.join(" ").trim().to_lowercase()
}

/// Sound between silences of 300 ms, each with a little silence around it.
fn utterances(samples: &[i16]) -> Vec<Vec<i16>> {
    const TICK: usize = 160;
    let (mut found, mut current, mut silent) = (Vec::new(), Vec::new(), 0);
    for tick in samples.chunks(TICK) {
        silent = if level(tick) > 100 { 0 } else { silent + 1 };
        if silent < 15 {
            current.extend_from_slice(tick);
        } else if !current.is_empty() {
            found.push(std::mem::take(&mut current));
        }
    }
    found.push(current);
    // Less than a third of a second is no word.
    found.retain(|sound| sound.len() > 2700 + 15 * TICK);
    found
}

/// Loudness, as the mean of absolute samples.
pub fn level(samples: &[i16]) -> i64 {
    samples.iter().map(|sample| i64::from(*sample).abs()).sum::<i64>()
        / i64::try_from(samples.len().max(1)).unwrap()
}

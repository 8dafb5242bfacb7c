//! Synthesised sounds: speech of Debian's `flite` and `espeak-ng` as a telephone line carries it, kept in the target
//! folder; coughs, tones and noise.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Who speaks.
#[derive(Debug, Clone, Copy)]
pub enum Voice {
    /// English, `flite`.
    Slt,
    /// A voice of `espeak-ng`.
    Espeak(&'static str),
}

/// Speech at 8 kHz through µ-law, from its first sound to its last.
pub fn speech(voice: Voice, text: &str) -> Vec<i16> {
    let key = domain_key(voice, text);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("made-speech");
    std::fs::create_dir_all(&folder).expect("a folder for made speech");
    let made = folder.join(format!("{key}.wav"));
    if !made.exists() {
        // Two tests may make the same words at once.
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let own = format!("{key}-{}-{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed));
        let raw = folder.join(format!("{own}-raw.wav"));
        let mulaw = folder.join(format!("{own}.ul"));
        let whole = folder.join(format!("{own}-whole.wav"));
        match voice {
            Voice::Slt => run("flite", &["-voice", "slt", "-t", text, "-o", path(&raw)]),
            Voice::Espeak(voice) => run("espeak-ng", &["-v", voice, "-w", path(&raw), text]),
        }
        let trim = ["silence", "1", "0.01", "1%", "reverse", "silence", "1", "0.01", "1%", "reverse"];
        run(
            "sox",
            &[
                &[path(&raw), "-r", "8000", "-c", "1", "-t", "ul", path(&mulaw), "gain", "-n", "-6"][..],
                &trim,
            ]
            .concat(),
        );
        run(
            "sox",
            &[
                "-t",
                "ul",
                "-r",
                "8000",
                "-c",
                "1",
                path(&mulaw),
                "-b",
                "16",
                "-e",
                "signed-integer",
                path(&whole),
            ],
        );
        std::fs::rename(&whole, &made).expect("a name for made speech");
        for rest in [raw, mulaw] {
            let _ = std::fs::remove_file(rest);
        }
    }
    let mut reader = hound::WavReader::open(&made).expect("made speech");
    reader.samples::<i16>().map(|sample| sample.expect("a sample")).collect()
}

/// English speech.
pub fn english(text: &str) -> Vec<i16> {
    speech(Voice::Slt, text)
}

fn domain_key(voice: Voice, text: &str) -> String {
    // FNV-1a: only the name of a file.
    let hash = format!("{voice:?} {text}")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

fn path(path: &std::path::Path) -> &str {
    path.to_str().expect("a path of plain letters")
}

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{program} {arguments:?}: {status}"),
        Err(error) => panic!("{program} is needed (Debian package of the same name): {error}"),
    }
}

/// Noise from a seed, of this loudness.
pub fn noise(seed: u32, ms: usize, peak: f32) -> Vec<i16> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state as f32 / u32::MAX as f32 * 2.0 - 1.0) * peak
    };
    (0..ms * 8).map(|_| next() as i16).collect()
}

/// A cough: a burst of noise that falls off.
pub fn cough() -> Vec<i16> {
    let burst = noise(7, 220, 20_000.0);
    let mut low = 0.0f32;
    let shaped = burst.iter().enumerate().map(|(at, sample)| {
        low += (f32::from(*sample) - low) * 0.5;
        let fade = 1.0 - at as f32 / 1760.0;
        (low * fade * fade) as i16
    });
    shaped.collect()
}

/// A steady tone.
pub fn tone(hertz: f32, ms: usize, peak: f32) -> Vec<i16> {
    (0..ms * 8).map(|at| ((std::f32::consts::TAU * hertz * at as f32 / 8000.0).sin() * peak) as i16).collect()
}

/// Silence.
pub fn silence(ms: usize) -> Vec<i16> {
    vec![3; ms * 8]
}

/// One after the other.
pub fn then(parts: &[&[i16]]) -> Vec<i16> {
    parts.concat()
}

/// Both at once.
pub fn mixed(left: &[i16], right: &[i16]) -> Vec<i16> {
    let at = |sound: &[i16], at: usize| sound.get(at).copied().unwrap_or(0);
    (0..left.len().max(right.len())).map(|index| at(left, index).saturating_add(at(right, index))).collect()
}

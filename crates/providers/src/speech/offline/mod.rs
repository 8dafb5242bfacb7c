//! Speech without an account: programs of the operating system, run as processes. A process keeps their
//! licences and their crashes out of the service.
//!
//! | file | holds |
//! |---|---|
//! | `synthesiser` | text to speech by `espeak-ng`, all eleven languages |
//! | `sound` | what comes out of it as the line needs it: WAV header, 8 kHz, loudness, no silence in front |
//! | `cache` | LRU cache of sentences, so that fixed phrases sound at once |
//! | `recogniser` | speech to text by `pocketsphinx`, English, expected phrases only |
//! | `segment` | from a turn's sound to the pieces that hold speech, as the program wants them |
//! | `grammar` | what may be said, as a graph with a way out for everything else |
//! | `dictionary` | how the words of a grammar are pronounced |
//! | `program` | running them: limits, time-outs, what is missing |
//!
//! Debian packages: `espeak-ng`; `pocketsphinx` and `pocketsphinx-en-us`.

mod cache;
mod dictionary;
mod grammar;
mod program;
mod recogniser;
mod segment;
mod sound;
mod synthesiser;

use std::path::PathBuf;
use std::time::Duration;

pub use recogniser::OfflineRecogniser;
pub use synthesiser::OfflineSynthesiser;

/// The name of both in the settings.
pub const NAME: &str = "offline";

/// How the programs are found and used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The synthesis program.
    pub espeak: PathBuf,
    /// The recognition program.
    pub pocketsphinx: PathBuf,
    /// Folder of the English model: `en-us/` and `cmudict-en-us.dict` are in it.
    pub model: PathBuf,
    /// Concurrent synthesis processes, at least 1; more are queued.
    pub voices_at_once: usize,
    /// Concurrent recognition processes, at least 1; more are queued.
    pub segments_at_once: usize,
    /// Longest wait for a program's next output, and in the queue.
    pub timeout: Duration,
    /// Bytes of sound that the cache of sentences holds; 0 for none.
    pub cache_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            espeak: "espeak-ng".into(),
            pocketsphinx: "pocketsphinx_batch".into(),
            model: "/usr/share/pocketsphinx/model/en-us".into(),
            voices_at_once: cores * 2,
            segments_at_once: cores,
            timeout: Duration::from_secs(10),
            cache_bytes: 16 << 20,
        }
    }
}

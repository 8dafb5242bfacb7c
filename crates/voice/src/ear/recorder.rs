//! Call recording: a stereo WAV file, customer left, agent right.
//!
//! The sound thread passes on a second of sound at a time and never blocks: one writer thread of the node writes the
//! files. When the disk is too slow, the missed seconds become silence, so both sides stay in sync. When it is full,
//! the recording ends there and the call goes on. The sizes in the header are written every second, so that a crash
//! leaves a valid file.
//!
//! A recording of which parts must not be kept is written beside where it belongs, and moved there when these parts are
//! silence.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use domain::call::RecordedFile;
use domain::ports::{FRAME, Frame, SAMPLE_RATE};
use tokio::sync::oneshot;

/// Ticks handed over at once: a second.
const TICKS: usize = 50;
/// Samples of a second, both channels.
const SECOND: usize = TICKS * FRAME * 2;
/// Capacity of the writer's queue, seconds of all calls together.
const WAITING: usize = 2048;
/// The same for one call.
const WAITING_OF_ONE: usize = 10;

enum Job {
    Sound {
        file: Arc<Open>,
        missed: usize,
        samples: Vec<i16>,
    },
    Close {
        file: Arc<Open>,
        missed: usize,
        told: oneshot::Sender<Option<RecordedFile>>,
    },
    Silence {
        file: RecordedFile,
        to: PathBuf,
        parts: Vec<Silent>,
        told: oneshot::Sender<Option<RecordedFile>>,
    },
}

/// A part of a recording that becomes silence on one side. Times are of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silent {
    /// The customer's side; else the agent's.
    pub customer: bool,
    pub from_ms: u64,
    pub to_ms: u64,
}

/// What becomes silence before and after a part, milliseconds: speech is detected a little late, and a turn's end is
/// where its last sound was heard.
const MARGIN_MS: u64 = 600;

struct Open {
    path: PathBuf,
    waiting: AtomicUsize,
    writer: std::sync::Mutex<Option<hound::WavWriter<BufWriter<File>>>>,
}

/// The writer of a node's recordings; cloning it is cheap. Its thread ends with the last clone and recorder.
#[derive(Clone)]
pub struct Recordings {
    jobs: SyncSender<Job>,
}

impl Recordings {
    /// Starts the writer thread.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start() -> std::io::Result<Self> {
        let (jobs, work) = sync_channel(WAITING);
        std::thread::Builder::new().name("recordings".into()).spawn(move || write(&work))?;
        Ok(Self { jobs })
    }

    /// Begins a recording in a new file.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn open(&self, path: &Path) -> Result<(Recorder, Recording), String> {
        self.open_at(path, None)
    }

    /// Begins a recording in the file `unredacted`. When it is finished and what must not be kept is silence, it is
    /// moved to `path`; before that nothing is there.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn open_unredacted(&self, unredacted: &Path, path: &Path) -> Result<(Recorder, Recording), String> {
        self.open_at(unredacted, Some(path.to_owned()))
    }

    fn open_at(&self, path: &Path, to: Option<PathBuf>) -> Result<(Recorder, Recording), String> {
        let spec = hound::WavSpec {
            channels: 2,
            sample_rate: SAMPLE_RATE,
            bits_per_sample: 16,
            sample_format: hound::SampleFormat::Int,
        };
        let writer = hound::WavWriter::create(path, spec).map_err(|error| error.to_string())?;
        let file = Arc::new(Open {
            path: path.to_owned(),
            waiting: AtomicUsize::new(0),
            writer: std::sync::Mutex::new(Some(writer)),
        });
        let (told, closed) = oneshot::channel();
        let recorder = Recorder {
            file,
            jobs: self.jobs.clone(),
            samples: Vec::with_capacity(SECOND),
            missed: 0,
            told: Some(told),
        };
        Ok((recorder, Recording { closed, to, jobs: self.jobs.clone() }))
    }
}

/// The ear's end of a recording, which ends when this is dropped.
pub struct Recorder {
    file: Arc<Open>,
    jobs: SyncSender<Job>,
    samples: Vec<i16>,
    /// Samples of both channels that the writer could not take.
    missed: usize,
    told: Option<oneshot::Sender<Option<RecordedFile>>>,
}

impl Recorder {
    /// Takes 20 ms of both sides.
    pub(crate) fn tick(&mut self, heard: Option<&Frame>, said: Option<&Frame>) {
        const SILENCE: Frame = [0; FRAME];
        let (heard, said) = (heard.unwrap_or(&SILENCE), said.unwrap_or(&SILENCE));
        self.samples.extend(heard.iter().zip(said).flat_map(|(left, right)| [*left, *right]));
        if self.samples.len() >= SECOND {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let samples = std::mem::replace(&mut self.samples, Vec::with_capacity(SECOND));
        let length = samples.len();
        if self.file.waiting.load(Ordering::Acquire) >= WAITING_OF_ONE {
            self.missed += length;
            return;
        }
        self.file.waiting.fetch_add(1, Ordering::AcqRel);
        let job = Job::Sound { file: Arc::clone(&self.file), missed: self.missed, samples };
        if self.jobs.try_send(job).is_err() {
            self.file.waiting.fetch_sub(1, Ordering::AcqRel);
            self.missed += length;
        } else {
            self.missed = 0;
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if !self.samples.is_empty() {
            self.hand_over();
        }
        let Some(told) = self.told.take() else { return };
        let job = Job::Close { file: Arc::clone(&self.file), missed: self.missed, told };
        match self.jobs.try_send(job) {
            // The file is closed with its last clone; it is valid, but the conversation is not notified.
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }
}

/// The conversation's end of a recording.
pub struct Recording {
    closed: oneshot::Receiver<Option<RecordedFile>>,
    /// Where it belongs, if parts of it must not be kept.
    to: Option<PathBuf>,
    jobs: SyncSender<Job>,
}

impl Recording {
    /// Waits until the file is complete, and `parts` are silence in a recording that was opened for that. None if nothing
    /// could be written, or the writer is gone.
    pub async fn finished(self, parts: Vec<Silent>) -> Option<RecordedFile> {
        let file = self.closed.await.ok().flatten()?;
        let Some(to) = self.to else { return Some(file) };
        let (told, done) = oneshot::channel();
        self.jobs.try_send(Job::Silence { file, to, parts, told }).ok()?;
        done.await.ok().flatten()
    }
}

fn write(work: &Receiver<Job>) {
    while let Ok(job) = work.recv() {
        match job {
            Job::Sound { file, missed, samples } => {
                file.waiting.fetch_sub(1, Ordering::AcqRel);
                let Ok(mut writer) = file.writer.lock() else { continue };
                let failed = writer.as_mut().and_then(|open| append(open, missed, &samples).err());
                if let Some(error) = failed {
                    tracing::warn!(%error, "a recording ends early: its file cannot be written");
                    // The header is a second old and fits what was written before.
                    *writer = None;
                }
            }
            Job::Silence { file, to, parts, told } => {
                if told.send(silence(&file, &to, &parts)).is_err() {
                    tracing::debug!("nobody waits for a recording any more");
                }
            }
            Job::Close { file, missed, told } => {
                let writer = file.writer.lock().ok().and_then(|mut writer| writer.take());
                let closed = writer.and_then(|mut writer| {
                    append(&mut writer, missed, &[]).ok()?;
                    writer.finalize().ok()
                });
                let told_now = told.send(recorded(&file.path));
                if closed.is_none() || told_now.is_err() {
                    tracing::debug!("a recording is incomplete, or nobody waits for it any more");
                }
            }
        }
    }
}

/// Makes the parts silence and moves the file to where it belongs. If that fails there is no recording.
fn silence(file: &RecordedFile, to: &Path, parts: &[Silent]) -> Option<RecordedFile> {
    let done = silenced(Path::new(&file.path), parts).and_then(|()| std::fs::rename(&file.path, to));
    match done {
        Ok(()) => Some(RecordedFile { path: to.to_string_lossy().into_owned(), ..file.clone() }),
        Err(error) => {
            tracing::warn!(%error, "a recording is lost: parts of it must not be kept and could not be made silence");
            drop(std::fs::remove_file(&file.path));
            None
        }
    }
}

/// Bytes before the sound, and of a millisecond of both channels.
const HEAD: u64 = 44;
const MILLISECOND: u64 = SAMPLE_RATE as u64 / 1000 * 4;

fn silenced(path: &Path, parts: &[Silent]) -> std::io::Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let length = file.metadata()?.len();
    for part in parts {
        let from = HEAD + part.from_ms.saturating_sub(MARGIN_MS) * MILLISECOND;
        let to = (HEAD + (part.to_ms + MARGIN_MS) * MILLISECOND).min(length);
        let mut at = from;
        while at < to {
            let mut sound = vec![0; usize::try_from((to - at).min(64 * 1024)).unwrap_or(0)];
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(&mut sound)?;
            for samples in sound.chunks_mut(4) {
                let side = if part.customer { samples.get_mut(..2) } else { samples.get_mut(2..) };
                side.into_iter().flatten().for_each(|byte| *byte = 0);
            }
            file.seek(SeekFrom::Start(at))?;
            file.write_all(&sound)?;
            at += sound.len() as u64;
        }
    }
    file.sync_data()
}

fn append(
    writer: &mut hound::WavWriter<BufWriter<File>>,
    missed: usize,
    samples: &[i16],
) -> Result<(), hound::Error> {
    for sample in std::iter::repeat_n(&0, missed).chain(samples) {
        writer.write_sample(*sample)?;
    }
    writer.flush()
}

/// The header's data; `None` if there is no sound in it.
fn recorded(path: &Path) -> Option<RecordedFile> {
    let reader = hound::WavReader::open(path).ok()?;
    let duration_ms = i64::from(reader.duration()) * 1000 / i64::from(SAMPLE_RATE);
    (duration_ms > 0).then(|| RecordedFile { path: path.to_string_lossy().into_owned(), duration_ms })
}

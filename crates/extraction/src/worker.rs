//! Starting the process that reads a document, and judging how it ended.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use domain::ports::{Answer, DocumentReader, Read, ReadLimit, ReadOrder, Unreadable};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::inside::{self, MAX_MEMORY, MAX_TIME, Made};
use crate::{MAX_BYTES, MAX_CHARACTERS};

/// Documents that are read at once.
const AT_ONCE: usize = 2;
/// Documents that are read or wait for it.
const MAX_WAITING: usize = 16;
/// Longest time of a process, whatever it does.
const LIFE: Duration = Duration::from_secs(40);
/// Most bytes of an outcome: each character takes four at most, beside what JSON adds to a block.
const MAX_OUTCOME: usize = 6 * MAX_CHARACTERS + 64 * crate::MAX_BLOCKS;
/// What of the last words of a process is looked at.
const MAX_LAST_WORDS: usize = 4096;

/// Has documents read by processes of their own.
#[derive(Debug)]
pub struct Worker {
    program: PathBuf,
    arguments: Vec<OsString>,
    running: Semaphore,
    waiting: Semaphore,
}

impl Worker {
    /// With this program, which calls [`inside::run`] when it is given these arguments.
    pub fn new(program: &Path, arguments: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            arguments: arguments.iter().map(OsString::from).collect(),
            running: Semaphore::new(AT_ONCE),
            waiting: Semaphore::new(MAX_WAITING),
        }
    }

    async fn work(&self, header: Vec<u8>, bytes: Vec<u8>) -> Result<Made, Unreadable> {
        if bytes.len() > MAX_BYTES {
            return Err(Unreadable::Beyond(ReadLimit::Bytes, MAX_BYTES as u64));
        }
        let _place = self.waiting.try_acquire().map_err(|_| Unreadable::Busy)?;
        let _turn = self.running.acquire().await.map_err(|_| Unreadable::Busy)?;
        match timeout(LIFE, self.run(header, bytes)).await {
            Ok(outcome) => outcome,
            // What is dropped here kills the process.
            Err(_) => Err(Unreadable::Beyond(ReadLimit::Time, LIFE.as_secs())),
        }
    }

    async fn run(&self, header: Vec<u8>, bytes: Vec<u8>) -> Result<Made, Unreadable> {
        let failed = |why: std::io::Error| Unreadable::Failed(why.to_string());
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            // The allocator takes what it needs instead of a gigabyte at once, so that the limit counts.
            .env("MIMALLOC_ARENA_RESERVE", "0")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let (mut input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let give = async move {
            if let Some(input) = &mut input {
                // A process that ends early does not read everything; how it ended says why.
                let _ = input.write_all(&header).await;
                let _ = input.write_all(&bytes).await;
                let _ = input.shutdown().await;
            }
        };
        let ((), output, errors) =
            tokio::join!(give, gather(output, MAX_OUTCOME), gather(errors, MAX_LAST_WORDS));
        let status = child.wait().await.map_err(failed)?;
        match inside::outcome(&output) {
            Some(outcome) if status.success() => outcome,
            _ => Err(ended(status, &errors)),
        }
    }
}

impl DocumentReader for Worker {
    fn read(&self, order: ReadOrder) -> Answer<'_, Result<Read, Unreadable>> {
        Box::pin(async move {
            match self.work(inside::header(&order), order.bytes).await? {
                Made::Document(read) => Ok(read),
                Made::Sound(_) => Err(Unreadable::Failed("a sound came back for a document".into())),
            }
        })
    }

    fn sound(&self, bytes: Vec<u8>) -> Answer<'_, Result<Vec<i16>, Unreadable>> {
        Box::pin(async move {
            match self.work(inside::header_of_sound(), bytes).await? {
                Made::Sound(samples) => Ok(samples),
                Made::Document(_) => Err(Unreadable::Failed("a document came back for a sound".into())),
            }
        })
    }
}

/// What comes out of a process, up to `most` bytes. What follows is read and thrown away, so that the process
/// ends by itself.
async fn gather(from: Option<impl AsyncRead + Unpin>, most: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let Some(mut from) = from else { return all };
    let mut piece = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let room = most - all.len();
        all.extend_from_slice(&piece[..length.min(room)]);
    }
    all
}

/// Why a process ended without an outcome. Its last words may hold words of the document, so they are not
/// passed on.
fn ended(status: ExitStatus, last_words: &[u8]) -> Unreadable {
    let last_words = String::from_utf8_lossy(last_words);
    if last_words.contains("memory allocation of") {
        return Unreadable::Beyond(ReadLimit::Memory, MAX_MEMORY);
    }
    if last_words.contains("overflowed its stack") {
        return Unreadable::Beyond(ReadLimit::Nesting, 0);
    }
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        use rustix::process::Signal;
        // The kernel ends who uses up its time, first with one signal, then with the other.
        if signal == Signal::XCPU.as_raw() || signal == Signal::KILL.as_raw() {
            return Unreadable::Beyond(ReadLimit::Time, MAX_TIME.as_secs());
        }
        return Unreadable::Damaged("it is built so that reading it fails".into());
    }
    match status.code() {
        Some(101) => Unreadable::Damaged("it is built so that reading it fails".into()),
        code => {
            tracing::error!(code, "a process that reads documents could not begin");
            Unreadable::Failed(format!("it ended with {code:?}"))
        }
    }
}

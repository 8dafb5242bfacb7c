//! Starting the sandboxed process, and evaluating how it ended.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use domain::ports::{Answer, DocumentReader, Haste, Read, ReadLimit, ReadOrder, Unreadable};
use domain::tenant::Tenant;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::timeout;

use crate::inside::{self, MAX_MEMORY, MAX_TIME, Made};
use crate::turns::Turns;
use crate::{MAX_BYTES, MAX_CHARACTERS};

/// CPU time for content from a stranger's server.
const SHORT_TIME: Duration = Duration::from_secs(5);
/// How much longer a process may live than its CPU time, since telephone calls have priority.
const LIFE: u32 = 2;
/// Most bytes of an outcome: each character takes four at most, beside what JSON adds to a block.
const MAX_OUTCOME: usize = 6 * MAX_CHARACTERS + 64 * crate::MAX_BLOCKS;
/// How much of the standard error of a process is read.
const MAX_LAST_WORDS: usize = 4096;

/// Runs extractions in sandboxed processes.
#[derive(Debug)]
pub struct Worker {
    program: PathBuf,
    arguments: Vec<OsString>,
    turns: Arc<Turns>,
}

impl Worker {
    /// With this program, which calls [`inside::run`] when it is given these arguments.
    pub fn new(program: &Path, arguments: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            arguments: arguments.iter().map(OsString::from).collect(),
            turns: Arc::default(),
        }
    }

    async fn work(
        &self,
        tenant: Tenant,
        haste: Haste,
        header: Vec<u8>,
        bytes: Vec<u8>,
    ) -> Result<Made, Unreadable> {
        if bytes.len() > MAX_BYTES {
            return Err(Unreadable::Beyond(ReadLimit::Bytes, MAX_BYTES as u64));
        }
        let mut place = self.turns.take(tenant, bytes.len()).ok_or(Unreadable::Busy)?;
        place.turn().await;
        let time = match haste {
            Haste::Usual => MAX_TIME,
            Haste::Short => SHORT_TIME,
        };
        match timeout(time * LIFE, self.run(time, header, bytes)).await {
            Ok(outcome) => outcome,
            // What is dropped here kills the process.
            Err(_) => Err(Unreadable::Beyond(ReadLimit::Time, (time * LIFE).as_secs())),
        }
    }

    async fn run(&self, time: Duration, header: Vec<u8>, bytes: Vec<u8>) -> Result<Made, Unreadable> {
        let failed = |why: std::io::Error| Unreadable::Failed(why.to_string());
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .args(less_time(time))
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
            _ => Err(ended(status, &errors, time)),
        }
    }
}

impl DocumentReader for Worker {
    fn read(&self, tenant: Tenant, haste: Haste, order: ReadOrder) -> Answer<'_, Result<Read, Unreadable>> {
        Box::pin(async move {
            match self.work(tenant, haste, inside::header(&order), order.bytes).await? {
                Made::Document(read) => Ok(read),
                Made::Sound(_) => Err(Unreadable::Failed("a sound came back for a document".into())),
            }
        })
    }

    fn sound(&self, tenant: Tenant, bytes: Vec<u8>) -> Answer<'_, Result<Vec<i16>, Unreadable>> {
        Box::pin(async move {
            match self.work(tenant, Haste::Short, inside::header_of_sound(), bytes).await? {
                Made::Sound(samples) => Ok(samples),
                Made::Document(_) => Err(Unreadable::Failed("a document came back for a sound".into())),
            }
        })
    }
}

/// The arguments of a process with less time than usual.
fn less_time(time: Duration) -> Vec<OsString> {
    if time >= MAX_TIME {
        return Vec::new();
    }
    vec!["--seconds".into(), time.as_secs().to_string().into()]
}

/// The output of a process, up to `most` bytes. The rest is read and discarded, so that the process ends by itself.
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

/// Why a process ended without a result. Its standard error may contain text of the document, so it is not passed on.
fn ended(status: ExitStatus, last_words: &[u8], time: Duration) -> Unreadable {
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
        // The kernel ends a process that has used up its time, first with one signal, then with the other.
        if signal == Signal::XCPU.as_raw() || signal == Signal::KILL.as_raw() {
            return Unreadable::Beyond(ReadLimit::Time, time.as_secs());
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

//! SQLite: WAL, `synchronous=FULL`, one writer thread with group commit, a stack of read-only connections.

pub(super) mod pipelined_writer;
pub(super) mod statement;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::oneshot;

use self::pipelined_writer::{PipelinedWriter, Shared, WriterThread, lock};
use self::statement::classify;
use super::commit_effects::{CommitEffects, OnWake};
use super::error::DbError;
use super::metrics::StoreMetrics;
use super::tx::{Session, Tx};
use super::work::{Refusal, Work};

/// Closures that may share one commit.
const BATCH: usize = 256;
/// Closures that may wait for the writer; more are refused as unavailable rather than piling up.
const QUEUE: usize = 20_000;
/// Statements that stay prepared on one connection.
const PREPARED: usize = 400;

/// Wait for the process lock. It may outlive its holder for a moment: while the process ends, or in a child process that
/// it is about to start.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// Pages added to the write-ahead log before a checkpoint in the background, and pages at which the writer makes the
/// checkpoint itself (64 MiB).
const CHECKPOINT_PAGES: i32 = 8_000;
const MAX_LOG_PAGES: i32 = 16_000;
/// Time without growth after which the log is checkpointed, if it has so many pages.
const QUIET: Duration = Duration::from_millis(500);
const MIN_PAGES: i32 = 1_000;

/// Sends the result of a closure to its caller.
type Reply = Box<dyn FnOnce(Result<(), Refusal>) + Send>;
/// Completes one closure once the outcome of its commit is known.
type Answer = Box<dyn FnOnce(Result<(), DbError>, &OnWake) + Send>;
/// Runs one closure in a session. Returns whether to keep its writes, and how to complete it. Without a transaction, it
/// only answers with the error.
type Job = Box<dyn FnOnce(Result<Session<'_>, DbError>) -> (bool, Answer) + Send>;

struct QueuedWrite {
    job: Job,
    alone: bool,
}

pub(super) struct Sqlite {
    queue: SyncSender<QueuedWrite>,
    readers: Mutex<Vec<Connection>>,
    file: std::path::PathBuf,
    metrics: StoreMetrics,
    /// Holds the process lock for as long as the store is open.
    _lock: std::fs::File,
}

impl Sqlite {
    pub(super) fn open(file: &Path, on_wake: OnWake, metrics: StoreMetrics) -> Result<Self, DbError> {
        let lock_file = file.with_extension("lock");
        let lock = std::fs::File::create(&lock_file)
            .map_err(|why| DbError::Unavailable(format!("{}: {why}", lock_file.display())))?;
        let patience = Instant::now() + LOCK_TIMEOUT;
        while lock.try_lock().is_err() {
            if Instant::now() >= patience {
                let why = format!(
                    "{} is in use by another dastak process: stop it first, or choose another --data folder",
                    file.display()
                );
                return Err(DbError::Unavailable(why));
            }
            std::thread::sleep(LOCK_TIMEOUT / 50);
        }
        let mut writer = Connection::open(file).map_err(classify)?;
        prepare_connection(&writer)?;
        writer.pragma_update(None, "journal_mode", "WAL").map_err(classify)?;
        writer.pragma_update(None, "synchronous", "FULL").map_err(classify)?;
        writer.wal_hook(Some(checkpoints(file)?)).map_err(classify)?;
        let (queue, inbox) = sync_channel(QUEUE);
        let writer = Arc::new(Mutex::new(writer));
        let writer_thread =
            WriterThread::start(&writer).map_err(|why| DbError::Unavailable(why.to_string()))?;
        let gauge = metrics.clone();
        std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || write_loop(&writer, &writer_thread, &inbox, &on_wake, &gauge))
            .map_err(|why| DbError::Unavailable(why.to_string()))?;
        Ok(Self { queue, readers: Mutex::new(Vec::new()), file: file.to_owned(), metrics, _lock: lock })
    }

    pub(super) async fn tx(&self, work: Work, alone: bool) -> Result<(), Refusal> {
        let (send, answer) = oneshot::channel();
        self.enqueue(work, alone, move |outcome| drop(send.send(outcome)))?;
        answer.await.unwrap_or_else(|_| Err(DbError::Internal("the writer is gone".into()).into()))
    }

    /// Blocks the calling thread until the transaction is over.
    pub(super) fn tx_in_order(&self, work: Work, alone: bool) -> Result<(), Refusal> {
        let (send, answer) = sync_channel(1);
        self.enqueue(work, alone, move |outcome| drop(send.send(outcome)))?;
        answer.recv().unwrap_or_else(|_| Err(DbError::Internal("the writer is gone".into()).into()))
    }

    fn enqueue(
        &self,
        mut work: Work,
        alone: bool,
        send: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) -> Result<(), DbError> {
        let send: Reply = Box::new(send);
        let job: Job = Box::new(move |session| {
            let session = match session {
                Ok(session) => session,
                Err(why) => return finish(Ok(Err(why.into())), CommitEffects::default(), send),
            };
            let mut tx = Tx::new(session);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                work(&mut tx)?;
                tx.wait_for_deferred().map_err(Refusal::from)
            }));
            let effects = tx.effects();
            finish(outcome, effects, send)
        });
        self.metrics.queued.inc();
        self.queue.try_send(QueuedWrite { job, alone }).map_err(|_| {
            self.metrics.queued.dec();
            DbError::Unavailable("the writer's queue is full".into())
        })
    }

    pub(super) fn read(&self, mut work: Work) -> Result<(), Refusal> {
        let conn = self.reader()?;
        self.metrics.in_use.inc();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            conn.execute_batch("begin").map_err(classify)?;
            let mut tx = Tx::new(Session::Sqlite(&conn));
            let answer = work(&mut tx);
            conn.execute_batch("commit").map_err(classify)?;
            answer
        }));
        self.metrics.in_use.dec();
        match outcome {
            Ok(answer) => {
                if conn.is_autocommit() {
                    self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
                }
                answer
            }
            Err(_) => Err(DbError::Internal("a read panicked".into()).into()),
        }
    }

    /// Truncates the write-ahead log, which has a copy of the last changes.
    pub(super) fn empty_log(&self) -> Result<(), DbError> {
        let conn = Connection::open(&self.file).map_err(classify)?;
        conn.busy_timeout(Duration::from_secs(5)).map_err(classify)?;
        let busy = conn
            .query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0))
            .map_err(classify)?;
        if busy == 0 {
            Ok(())
        } else {
            Err(DbError::Unavailable("long reads hold the write-ahead log".into()))
        }
    }

    fn reader(&self) -> Result<Connection, DbError> {
        if let Some(conn) = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(conn);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(&self.file, flags).map_err(classify)?;
        prepare_connection(&conn)?;
        Ok(conn)
    }
}

/// The WAL hook, which runs after each commit with the number of pages in the log. A background thread makes passive
/// checkpoints while the writer goes on, and one when the log is idle, so that the log restarts from its beginning. A
/// passive checkpoint never reaches the end of a growing log, so the writer makes one itself when the log is long. A
/// failed checkpoint is retried later; the log is complete meanwhile.
fn checkpoints(
    file: &Path,
) -> Result<impl FnMut(&mut Wal, i32) -> rusqlite::Result<()> + Send + 'static, DbError> {
    let conn = Connection::open(file).map_err(classify)?;
    prepare_connection(&conn)?;
    conn.pragma_update(None, "synchronous", "FULL").map_err(classify)?;
    let (asked, inbox) = sync_channel::<()>(1);
    let length = Arc::new(AtomicI32::new(0));
    let seen = length.clone();
    let copy = move || {
        // Pages of the log at the last check, and at the last checkpoint.
        let (mut before, mut copied) = (0, 0);
        loop {
            let asked = match inbox.recv_timeout(QUIET) {
                Ok(()) => true,
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let now = seen.load(Ordering::Relaxed);
            let quiet = now == before && now != copied && now >= MIN_PAGES;
            before = now;
            if !asked && !quiet {
                continue;
            }
            match conn.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(())) {
                Ok(()) => copied = now,
                Err(why) => {
                    tracing::warn!(%why, "a checkpoint of the write-ahead log failed; it is retried")
                }
            }
        }
    };
    std::thread::Builder::new()
        .name("store-checkpoint".into())
        .spawn(copy)
        .map_err(|why| DbError::Unavailable(why.to_string()))?;
    let mut before = 0;
    Ok(move |log: &mut Wal, pages: i32| {
        length.store(pages, Ordering::Relaxed);
        // A restarted log is shorter.
        before = before.min(pages);
        if pages >= MAX_LOG_PAGES {
            let _ = log.checkpoint();
        } else if pages - before >= CHECKPOINT_PAGES {
            before = pages;
            // A checkpoint in progress is enough.
            let _ = asked.try_send(());
        }
        Ok(())
    })
}

fn prepare_connection(conn: &Connection) -> Result<(), DbError> {
    conn.busy_timeout(Duration::from_secs(10)).map_err(classify)?;
    conn.set_prepared_statement_cache_capacity(PREPARED);
    // Query planner stability: otherwise SQLite replans some statements for each value, which takes longer than running
    // them.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(classify)?;
    conn.pragma_update(None, "foreign_keys", true).map_err(classify)?;
    conn.pragma_update(None, "temp_store", "memory").map_err(classify)?;
    // Deleted and overwritten bytes are zeroed, so that an erasure is complete.
    conn.pragma_update(None, "secure_delete", true).map_err(classify)?;
    conn.pragma_update(None, "cache_size", -16_000).map_err(classify)?;
    conn.pragma_update(None, "mmap_size", 1_i64 << 30).map_err(classify)
}

fn finish(
    outcome: std::thread::Result<Result<(), Refusal>>,
    effects: CommitEffects,
    send: Reply,
) -> (bool, Answer) {
    match outcome {
        Ok(Ok(())) => {
            let answer: Answer = Box::new(move |committed, on_wake| {
                let answer = match committed {
                    Ok(()) => {
                        effects.run(on_wake);
                        Ok(())
                    }
                    Err(why) => Err(why.into()),
                };
                send(answer);
            });
            (true, answer)
        }
        Ok(Err(error)) => {
            // The closure may have read writes of others in this transaction, which a failed commit undoes.
            let answer: Answer =
                Box::new(move |committed, _| send(Err(committed.err().map_or(error, Refusal::from))));
            (false, answer)
        }
        Err(_) => (
            false,
            Box::new(move |_, _| send(Err(DbError::Internal("a transaction panicked".into()).into()))),
        ),
    }
}

fn write_loop(
    conn: &Shared,
    writer_thread: &WriterThread,
    inbox: &Receiver<QueuedWrite>,
    on_wake: &OnWake,
    metrics: &StoreMetrics,
) {
    let mut carried = None;
    while let Some(first) = carried.take().or_else(|| inbox.recv().ok()) {
        let mut answers = Vec::new();
        let mut outcome = lock(conn).execute_batch("begin immediate").map_err(classify);
        if first.alone {
            metrics.queued.dec();
            match &outcome {
                Ok(()) => outcome = run_alone(conn, writer_thread, first.job, &mut answers),
                Err(why) => answers.push((first.job)(Err(why.clone())).1),
            }
        } else {
            let conn = lock(conn);
            let mut next = Some(first);
            while let Some(write) = next.take() {
                metrics.queued.dec();
                match &outcome {
                    Ok(()) => outcome = run_in_savepoint(&conn, write.job, &mut answers),
                    Err(why) => answers.push((write.job)(Err(why.clone())).1),
                }
                if outcome.is_ok() && answers.len() < BATCH {
                    next = inbox.try_recv().ok();
                    // A closure that needs a transaction of its own gets the next one.
                    if next.as_ref().is_some_and(|write| write.alone) {
                        carried = next.take();
                    }
                }
            }
        }
        let conn = lock(conn);
        let started = Instant::now();
        if outcome.is_ok() {
            outcome = conn.execute_batch("commit").map_err(classify);
        }
        if outcome.is_err() && !conn.is_autocommit() {
            let _ = conn.execute_batch("rollback");
        }
        drop(conn);
        metrics.commit_seconds.observe(started.elapsed().as_secs_f64());
        metrics.batch_size.observe(answers.len() as f64);
        for answer in answers {
            answer(outcome.clone(), on_wake);
        }
    }
}

/// Runs a closure that has the transaction to itself. It needs no savepoint, for which SQLite would copy every page
/// before its change.
fn run_alone(
    conn: &Shared,
    writer_thread: &WriterThread,
    job: Job,
    answers: &mut Vec<Answer>,
) -> Result<(), DbError> {
    let (keep, answer) = job(Ok(Session::Pipelined(PipelinedWriter::new(conn, writer_thread))));
    answers.push(answer);
    let conn = lock(conn);
    if conn.is_autocommit() {
        return Err(DbError::Unavailable("the disk refused a write".into()));
    }
    if !keep {
        // The commit that follows needs a transaction.
        conn.execute_batch("rollback; begin immediate").map_err(classify)?;
    }
    Ok(())
}

fn run_in_savepoint(conn: &Connection, job: Job, answers: &mut Vec<Answer>) -> Result<(), DbError> {
    conn.prepare_cached("savepoint job").and_then(|mut statement| statement.execute([])).map_err(classify)?;
    let (keep, answer) = job(Ok(Session::Sqlite(conn)));
    answers.push(answer);
    if conn.is_autocommit() {
        // A full disk or an I/O error made SQLite roll back everything.
        return Err(DbError::Unavailable("the disk refused a write".into()));
    }
    if !keep {
        conn.prepare_cached("rollback to job")
            .and_then(|mut statement| statement.execute([]))
            .map_err(classify)?;
    }
    conn.prepare_cached("release job")
        .and_then(|mut statement| statement.execute([]))
        .map(|_| ())
        .map_err(classify)
}

#[cfg(test)]
mod tests {
    use super::super::value::Value;
    use super::*;

    /// Far more than a quiet log takes to be copied.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn a_log_that_nobody_writes_to_is_copied_into_the_database() {
        let file = std::env::temp_dir().join(format!("dastak-quiet-log-{}.db", std::process::id()));
        let store = Sqlite::open(&file, Arc::new(|_| ()), StoreMetrics::new()).unwrap();
        let write = |tx: &mut Tx<'_>| {
            tx.exec("create table texts (text text not null)", &[])?;
            let text = "x".repeat(1_000);
            // Too little for the copy that is asked for after so many pages.
            (0..2 * i64::from(MIN_PAGES) * 4)
                .try_for_each(|_| tx.later("insert into texts (text) values (?1)", &[Value::from(&text)]))?;
            Ok(())
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(store.tx(Box::new(write), true)).unwrap();
        let wanted = u64::try_from(MIN_PAGES).unwrap() * 4096;
        let started = Instant::now();
        while std::fs::metadata(&file).unwrap().len() < wanted {
            assert!(started.elapsed() < PATIENCE, "the log was not copied");
            std::thread::sleep(QUIET / 10);
        }
        drop(store);
        for end in ["db", "db-wal", "db-shm", "lock"] {
            let _ = std::fs::remove_file(file.with_extension(end));
        }
    }
}

//! SQLite: WAL, `synchronous=FULL`, one writer thread with group commit, a stack of read-only connections.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use tokio::sync::oneshot;

use super::behind::{Behind, Hand, Shared, lock};
use super::work::{Refusal, Work};
use super::{Aftermath, DbError, OnWake, Row, Session, StoreMetrics, Tx, Value};

/// Closures that may share one commit.
const BATCH: usize = 256;
/// Closures that may wait for the writer; more are refused as unavailable rather than piling up.
const QUEUE: usize = 20_000;
/// Statements that stay prepared on one connection.
const PREPARED: usize = 400;

/// Wait for the lock of the process. A lock may outlive its holder for a moment: while the process ends, or
/// in a child process that it is about to start.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// Pages that are added to the write-ahead log before they are copied into the database, and pages at which
/// the writer copies them itself (64 MiB).
const COPIED_AT_ONCE: i32 = 8_000;
const LONG_LOG: i32 = 16_000;
/// The log is quiet when it has not grown for so long; pages that are worth copying then.
const QUIET: Duration = Duration::from_millis(500);
const WORTH_IT: i32 = 1_000;

/// Hands the outcome of a closure to its caller.
type Reply = Box<dyn FnOnce(Result<(), Refusal>) + Send>;
/// What is left to do with one closure once the fate of its transaction is known.
type Answer = Box<dyn FnOnce(Result<(), DbError>, &OnWake) + Send>;
/// Runs one closure in a session, and returns whether to keep its writes, and how to answer. Without a
/// transaction to run in, it only answers with the error.
type Job = Box<dyn FnOnce(Result<Session<'_>, DbError>) -> (bool, Answer) + Send>;

struct Order {
    job: Job,
    alone: bool,
}

pub(super) struct Sqlite {
    orders: SyncSender<Order>,
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
        let patience = Instant::now() + LOCK_PATIENCE;
        while lock.try_lock().is_err() {
            if Instant::now() >= patience {
                let why = format!(
                    "{} is in use by another dastak process: stop it first, or choose another --data folder",
                    file.display()
                );
                return Err(DbError::Unavailable(why));
            }
            std::thread::sleep(LOCK_PATIENCE / 50);
        }
        let mut writer = Connection::open(file).map_err(classify)?;
        prepare_connection(&writer)?;
        writer.pragma_update(None, "journal_mode", "WAL").map_err(classify)?;
        writer.pragma_update(None, "synchronous", "FULL").map_err(classify)?;
        writer.wal_hook(Some(checkpoints(file)?)).map_err(classify)?;
        let (orders, inbox) = sync_channel(QUEUE);
        let writer = Arc::new(Mutex::new(writer));
        let hand = Hand::start(&writer).map_err(|why| DbError::Unavailable(why.to_string()))?;
        let gauge = metrics.clone();
        std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || write_loop(&writer, &hand, &inbox, &on_wake, &gauge))
            .map_err(|why| DbError::Unavailable(why.to_string()))?;
        Ok(Self { orders, readers: Mutex::new(Vec::new()), file: file.to_owned(), metrics, _lock: lock })
    }

    pub(super) async fn tx(&self, work: Work, alone: bool) -> Result<(), Refusal> {
        let (send, answer) = oneshot::channel();
        self.order(work, alone, move |outcome| drop(send.send(outcome)))?;
        answer.await.unwrap_or_else(|_| Err(DbError::Internal("the writer is gone".into()).into()))
    }

    /// Holds up the calling thread until the transaction is over.
    pub(super) fn tx_in_order(&self, work: Work, alone: bool) -> Result<(), Refusal> {
        let (send, answer) = sync_channel(1);
        self.order(work, alone, move |outcome| drop(send.send(outcome)))?;
        answer.recv().unwrap_or_else(|_| Err(DbError::Internal("the writer is gone".into()).into()))
    }

    fn order(
        &self,
        mut work: Work,
        alone: bool,
        send: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) -> Result<(), DbError> {
        let send: Reply = Box::new(send);
        let job: Job = Box::new(move |session| {
            let session = match session {
                Ok(session) => session,
                Err(why) => return finish(Ok(Err(why.into())), Aftermath::default(), send),
            };
            let mut tx = Tx::new(session);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                work(&mut tx)?;
                tx.settle().map_err(Refusal::from)
            }));
            let aftermath = tx.aftermath();
            finish(outcome, aftermath, send)
        });
        self.metrics.queued.inc();
        self.orders.try_send(Order { job, alone }).map_err(|_| {
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

    /// Empties the write-ahead log, which is a copy of the last changes.
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

/// The hook that runs after each commit, given how many pages the write-ahead log has. A thread of its own
/// copies them into the database from time to time while the writer goes on. It copies the rest when the
/// log is quiet, so that the log starts again from its beginning. It never reaches the end of a log that grows,
/// so the writer copies the rest when the log is long. A copy that fails is tried again later; nothing is lost,
/// because the log is complete.
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
        // Pages of the log at the last look, and when it was last copied.
        let (mut before, mut copied) = (0, 0);
        loop {
            let asked = match inbox.recv_timeout(QUIET) {
                Ok(()) => true,
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let now = seen.load(Ordering::Relaxed);
            let quiet = now == before && now != copied && now >= WORTH_IT;
            before = now;
            if !asked && !quiet {
                continue;
            }
            match conn.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(())) {
                Ok(()) => copied = now,
                Err(why) => {
                    tracing::warn!(%why, "the write-ahead log could not be copied into the database; it is tried again")
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
        // A log that started again is shorter than it was.
        before = before.min(pages);
        if pages >= LONG_LOG {
            let _ = log.checkpoint();
        } else if pages - before >= COPIED_AT_ONCE {
            before = pages;
            // If a copy is under way, that is enough.
            let _ = asked.try_send(());
        }
        Ok(())
    })
}

fn prepare_connection(conn: &Connection) -> Result<(), DbError> {
    conn.busy_timeout(Duration::from_secs(10)).map_err(classify)?;
    conn.set_prepared_statement_cache_capacity(PREPARED);
    // A statement is planned once for all values. Otherwise SQLite plans some statements again for each value,
    // which takes longer than running them.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(classify)?;
    conn.pragma_update(None, "foreign_keys", true).map_err(classify)?;
    conn.pragma_update(None, "temp_store", "memory").map_err(classify)?;
    // What is deleted or overwritten leaves no bytes in the file, so that an erasure is complete.
    conn.pragma_update(None, "secure_delete", true).map_err(classify)?;
    conn.pragma_update(None, "cache_size", -16_000).map_err(classify)?;
    conn.pragma_update(None, "mmap_size", 1_i64 << 30).map_err(classify)
}

fn finish(
    outcome: std::thread::Result<Result<(), Refusal>>,
    aftermath: Aftermath,
    send: Reply,
) -> (bool, Answer) {
    match outcome {
        Ok(Ok(())) => {
            let answer: Answer = Box::new(move |committed, on_wake| {
                let answer = match committed {
                    Ok(()) => {
                        aftermath.run(on_wake);
                        Ok(())
                    }
                    Err(why) => Err(why.into()),
                };
                send(answer);
            });
            (true, answer)
        }
        Ok(Err(error)) => {
            // The refusal may rest on writes of other closures, which are void when the commit fails.
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

fn write_loop(conn: &Shared, hand: &Hand, inbox: &Receiver<Order>, on_wake: &OnWake, metrics: &StoreMetrics) {
    let mut carried = None;
    while let Some(first) = carried.take().or_else(|| inbox.recv().ok()) {
        let mut answers = Vec::new();
        let mut fate = lock(conn).execute_batch("begin immediate").map_err(classify);
        if first.alone {
            metrics.queued.dec();
            match &fate {
                Ok(()) => fate = run_alone(conn, hand, first.job, &mut answers),
                Err(why) => answers.push((first.job)(Err(why.clone())).1),
            }
        } else {
            let conn = lock(conn);
            let mut next = Some(first);
            while let Some(order) = next.take() {
                metrics.queued.dec();
                match &fate {
                    Ok(()) => fate = run_in_savepoint(&conn, order.job, &mut answers),
                    Err(why) => answers.push((order.job)(Err(why.clone())).1),
                }
                if fate.is_ok() && answers.len() < BATCH {
                    next = inbox.try_recv().ok();
                    // A closure that needs a transaction to itself gets the next one.
                    if next.as_ref().is_some_and(|order| order.alone) {
                        carried = next.take();
                    }
                }
            }
        }
        let conn = lock(conn);
        let started = Instant::now();
        if fate.is_ok() {
            fate = conn.execute_batch("commit").map_err(classify);
        }
        if fate.is_err() && !conn.is_autocommit() {
            let _ = conn.execute_batch("rollback");
        }
        drop(conn);
        metrics.commit_seconds.observe(started.elapsed().as_secs_f64());
        metrics.batch_size.observe(answers.len() as f64);
        for answer in answers {
            answer(fate.clone(), on_wake);
        }
    }
}

/// Runs a closure that has the transaction to itself. It needs no savepoint, with which SQLite would copy every
/// page before changing it.
fn run_alone(conn: &Shared, hand: &Hand, job: Job, answers: &mut Vec<Answer>) -> Result<(), DbError> {
    let (keep, answer) = job(Ok(Session::Behind(Behind::new(conn, hand))));
    answers.push(answer);
    let conn = lock(conn);
    if conn.is_autocommit() {
        return Err(DbError::Unavailable("the disk refused a write".into()));
    }
    if !keep {
        // An empty transaction is opened, so that the end is the same for all.
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

pub(super) fn exec(
    conn: &Connection,
    sql: &str,
    params: impl IntoIterator<Item = impl ToSql>,
) -> Result<u64, DbError> {
    let mut statement = conn.prepare_cached(sql).map_err(classify)?;
    if statement.column_count() > 0 {
        let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(classify)?;
        let mut count = 0;
        while rows.next().map_err(classify)?.is_some() {
            count += 1;
        }
        return Ok(count);
    }
    statement.execute(rusqlite::params_from_iter(params)).map(|count| count as u64).map_err(classify)
}

pub(super) fn each(
    conn: &Connection,
    sql: &str,
    params: &[Value<'_>],
    visit: &mut dyn FnMut(Row<'_>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let mut statement = conn.prepare_cached(sql).map_err(classify)?;
    let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(classify)?;
    while let Some(row) = rows.next().map_err(classify)? {
        visit(Row::sqlite(row))?;
    }
    Ok(())
}

pub(super) fn classify(error: rusqlite::Error) -> DbError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) if text.contains("UNIQUE") => DbError::Unique(text),
        Some(
            ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::ReadOnly
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied,
        ) => DbError::Unavailable(text),
        _ => DbError::Internal(text),
    }
}

pub(super) fn backup(from: &Path, to: &Path) -> Result<(), DbError> {
    let conn = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(classify)?;
    conn.busy_timeout(Duration::from_secs(60)).map_err(classify)?;
    conn.execute("vacuum into ?1", [to.to_string_lossy()]).map(|_| ()).map_err(classify)
}

#[cfg(test)]
mod tests {
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
            (0..2 * i64::from(WORTH_IT) * 4)
                .try_for_each(|_| tx.later("insert into texts (text) values (?1)", &[Value::from(&text)]))?;
            Ok(())
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(store.tx(Box::new(write), true)).unwrap();
        let wanted = u64::try_from(WORTH_IT).unwrap() * 4096;
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

//! Pipelines the deferred statements of a very large transaction on SQLite: a second thread runs them in order while
//! the closure goes on. A read and the end of the transaction wait for all of them. The first error fails the
//! transaction.

use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::super::error::{DbError, Must, check};
use super::super::value::{NO_LISTS, Value};
use super::statement::exec;

/// Bytes of texts and values at which a batch is sent: small enough for the caches of a processor.
const BATCH_BYTES: usize = 32 * 1024;
/// Most batches in flight. With more, the closure waits for the oldest one.
const MAX_IN_FLIGHT: usize = 8;

/// A writing connection that two threads use in turn.
pub(in crate::db) type Shared = Arc<Mutex<Connection>>;

pub(in crate::db) fn lock(conn: &Shared) -> MutexGuard<'_, Connection> {
    conn.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value whose bytes are in the batch.
enum Slot {
    Null,
    Int(i64),
    Real(f64),
    Text(Range<usize>),
    Bytes(Range<usize>),
}

struct Statement {
    sql: Range<usize>,
    slots: Range<usize>,
    must: Option<Must>,
}

/// Statements with their values.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    statements: Vec<Statement>,
}

impl Batch {
    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    fn add(&mut self, sql: &str, params: &[Value<'_>], must: Option<Must>) {
        let (sql, first) = (self.keep(sql.as_bytes()), self.slots.len());
        for value in params {
            let slot = match value {
                Value::Null => Slot::Null,
                Value::Int(number) => Slot::Int(*number),
                Value::Real(number) => Slot::Real(*number),
                Value::Text(text) => Slot::Text(self.keep(text.as_bytes())),
                Value::Bytes(bytes) => Slot::Bytes(self.keep(bytes)),
                // `later` has refused it.
                Value::Many(_) => Slot::Null,
            };
            self.slots.push(slot);
        }
        self.statements.push(Statement { sql, slots: first..self.slots.len(), must });
    }

    fn is_full(&self) -> bool {
        self.bytes.len() + self.slots.len() * size_of::<Slot>() >= BATCH_BYTES
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.slots.clear();
        self.statements.clear();
    }

    fn value(&self, slot: &Slot) -> ValueRef<'_> {
        match slot {
            Slot::Null => ValueRef::Null,
            Slot::Int(number) => ValueRef::Integer(*number),
            Slot::Real(number) => ValueRef::Real(*number),
            Slot::Text(at) => ValueRef::Text(&self.bytes[at.clone()]),
            Slot::Bytes(at) => ValueRef::Blob(&self.bytes[at.clone()]),
        }
    }

    fn run(&mut self, conn: &Connection) -> Result<(), DbError> {
        let mut outcome = Ok(());
        for statement in &self.statements {
            // After SQLite has rolled back by itself, each statement would be a transaction of its own.
            if conn.is_autocommit() {
                outcome = Err(DbError::Unavailable("the disk refused a write".into()));
                break;
            }
            let sql = std::str::from_utf8(&self.bytes[statement.sql.clone()])
                .map_err(|why| DbError::Internal(why.to_string()))?;
            let values = self.slots[statement.slots.clone()]
                .iter()
                .map(|slot| ToSqlOutput::Borrowed(self.value(slot)));
            outcome = exec(conn, sql, values).and_then(|changed| check(changed, statement.must.as_ref()));
            if outcome.is_err() {
                break;
            }
        }
        self.clear();
        outcome
    }
}

/// The second thread, which lives as long as the store.
pub(in crate::db) struct WriterThread {
    batches: SyncSender<Batch>,
    /// Batches that were run, emptied for reuse, with the outcome.
    done: Receiver<(Batch, Result<(), DbError>)>,
}

impl WriterThread {
    pub(in crate::db) fn start(conn: &Shared) -> std::io::Result<Self> {
        let (batches, inbox) = sync_channel::<Batch>(MAX_IN_FLIGHT);
        let (finished, done) = sync_channel(MAX_IN_FLIGHT);
        let conn = conn.clone();
        std::thread::Builder::new().name("store-pipelined".into()).spawn(move || {
            while let Ok(mut batch) = inbox.recv() {
                let outcome = batch.run(&lock(&conn));
                if finished.send((batch, outcome)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { batches, done })
    }
}

/// The deferred statements of one transaction.
pub(in crate::db) struct PipelinedWriter<'a> {
    conn: &'a Shared,
    writer_thread: &'a WriterThread,
    batch: Batch,
    empty: Vec<Batch>,
    in_flight: usize,
    /// The first failure. No statement runs after it.
    failed: Option<DbError>,
}

impl<'a> PipelinedWriter<'a> {
    pub(in crate::db) fn new(conn: &'a Shared, writer_thread: &'a WriterThread) -> Self {
        Self { conn, writer_thread, batch: Batch::default(), empty: Vec::new(), in_flight: 0, failed: None }
    }

    /// Defers a statement.
    pub(in crate::db) fn later(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        must: Option<Must>,
    ) -> Result<(), DbError> {
        if params.iter().any(|value| matches!(value, Value::Many(_))) {
            self.failed.get_or_insert(DbError::Internal(NO_LISTS.into()));
            return self.outcome();
        }
        self.batch.add(sql, params, must);
        if self.batch.is_full() {
            if self.in_flight >= MAX_IN_FLIGHT {
                self.receive_done();
            }
            let empty = self.empty.pop().unwrap_or_default();
            self.send_batch(empty);
        }
        self.outcome()
    }

    /// The connection, once all deferred statements are done.
    pub(in crate::db) fn wait(&mut self) -> Result<MutexGuard<'a, Connection>, DbError> {
        if self.in_flight > 0 && !self.batch.statements.is_empty() {
            self.send_batch(Batch::default());
        }
        while self.in_flight > 0 {
            self.receive_done();
        }
        self.outcome()?;
        let conn = lock(self.conn);
        if let Err(why) = self.batch.run(&conn) {
            self.failed = Some(why);
        }
        self.outcome().map(|()| conn)
    }

    fn outcome(&self) -> Result<(), DbError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn send_batch(&mut self, empty: Batch) {
        let full = std::mem::replace(&mut self.batch, empty);
        if self.failed.is_some() {
            return;
        }
        match self.writer_thread.batches.send(full) {
            Ok(()) => self.in_flight += 1,
            Err(_) => self.failed = Some(gone()),
        }
    }

    fn receive_done(&mut self) {
        let Ok((batch, outcome)) = self.writer_thread.done.recv() else {
            (self.in_flight, self.failed) = (0, Some(gone()));
            return;
        };
        self.in_flight -= 1;
        self.empty.push(batch);
        if let Err(why) = outcome {
            self.failed.get_or_insert(why);
        }
    }
}

fn gone() -> DbError {
    DbError::Internal("the writer's second thread is gone".into())
}

impl Drop for PipelinedWriter<'_> {
    /// No batch of this transaction may be in flight when the next one begins.
    fn drop(&mut self) {
        while self.in_flight > 0 {
            self.receive_done();
        }
    }
}

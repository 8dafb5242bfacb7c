//! Deferred statements of a very large transaction on SQLite. A second thread runs them in order while the
//! closure goes on. A read and the end of the transaction wait until all of them are done. The first that
//! fails makes the transaction fail.

use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::value::NO_LISTS;
use super::{DbError, Must, Value, check, sqlite};

/// Bytes of texts and values at which a parcel is handed over: small enough for the caches of a processor.
const PARCEL: usize = 32 * 1024;
/// Parcels that may be under way. With more, the closure waits for the oldest one.
const UNDER_WAY: usize = 8;

/// A writing connection that two threads use in turn.
pub(super) type Shared = Arc<Mutex<Connection>>;

pub(super) fn lock(conn: &Shared) -> MutexGuard<'_, Connection> {
    conn.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value whose bytes are in the parcel.
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

/// Statements with all their texts.
#[derive(Default)]
struct Parcel {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    statements: Vec<Statement>,
}

impl Parcel {
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
                // Refused before it came here.
                Value::Many(_) => Slot::Null,
            };
            self.slots.push(slot);
        }
        self.statements.push(Statement { sql, slots: first..self.slots.len(), must });
    }

    fn is_full(&self) -> bool {
        self.bytes.len() + self.slots.len() * size_of::<Slot>() >= PARCEL
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

    fn carry_out(&mut self, conn: &Connection) -> Result<(), DbError> {
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
            outcome =
                sqlite::exec(conn, sql, values).and_then(|changed| check(changed, statement.must.as_ref()));
            if outcome.is_err() {
                break;
            }
        }
        self.clear();
        outcome
    }
}

/// The second thread. It lives as long as the store.
pub(super) struct Hand {
    parcels: SyncSender<Parcel>,
    /// Parcels that were carried out, empty again, with the outcome.
    done: Receiver<(Parcel, Result<(), DbError>)>,
}

impl Hand {
    pub(super) fn start(conn: &Shared) -> std::io::Result<Self> {
        let (parcels, inbox) = sync_channel::<Parcel>(UNDER_WAY);
        let (finished, done) = sync_channel(UNDER_WAY);
        let conn = conn.clone();
        std::thread::Builder::new().name("store-hand".into()).spawn(move || {
            while let Ok(mut parcel) = inbox.recv() {
                let outcome = parcel.carry_out(&lock(&conn));
                if finished.send((parcel, outcome)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { parcels, done })
    }
}

/// The deferred statements of one transaction.
pub(super) struct Behind<'a> {
    conn: &'a Shared,
    hand: &'a Hand,
    parcel: Parcel,
    empty: Vec<Parcel>,
    under_way: usize,
    /// The first failure. Nothing is carried out after it.
    failed: Option<DbError>,
}

impl<'a> Behind<'a> {
    pub(super) fn new(conn: &'a Shared, hand: &'a Hand) -> Self {
        Self { conn, hand, parcel: Parcel::default(), empty: Vec::new(), under_way: 0, failed: None }
    }

    /// Defers a statement.
    pub(super) fn later(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        must: Option<Must>,
    ) -> Result<(), DbError> {
        if params.iter().any(|value| matches!(value, Value::Many(_))) {
            self.failed.get_or_insert(DbError::Internal(NO_LISTS.into()));
            return self.fate();
        }
        self.parcel.add(sql, params, must);
        if self.parcel.is_full() {
            if self.under_way >= UNDER_WAY {
                self.take_back();
            }
            let empty = self.empty.pop().unwrap_or_default();
            self.hand_over(empty);
        }
        self.fate()
    }

    /// The connection, once all deferred statements are done.
    pub(super) fn settled(&mut self) -> Result<MutexGuard<'a, Connection>, DbError> {
        if self.under_way > 0 && !self.parcel.statements.is_empty() {
            self.hand_over(Parcel::default());
        }
        while self.under_way > 0 {
            self.take_back();
        }
        self.fate()?;
        let conn = lock(self.conn);
        if let Err(why) = self.parcel.carry_out(&conn) {
            self.failed = Some(why);
        }
        self.fate().map(|()| conn)
    }

    fn fate(&self) -> Result<(), DbError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn hand_over(&mut self, empty: Parcel) {
        let full = std::mem::replace(&mut self.parcel, empty);
        if self.failed.is_some() {
            return;
        }
        match self.hand.parcels.send(full) {
            Ok(()) => self.under_way += 1,
            Err(_) => self.failed = Some(gone()),
        }
    }

    fn take_back(&mut self) {
        let Ok((parcel, outcome)) = self.hand.done.recv() else {
            (self.under_way, self.failed) = (0, Some(gone()));
            return;
        };
        self.under_way -= 1;
        self.empty.push(parcel);
        if let Err(why) = outcome {
            self.failed.get_or_insert(why);
        }
    }
}

fn gone() -> DbError {
    DbError::Internal("the writer's second thread is gone".into())
}

impl Drop for Behind<'_> {
    /// Nothing of this transaction may be under way when the next one begins.
    fn drop(&mut self) {
        while self.under_way > 0 {
            self.take_back();
        }
    }
}

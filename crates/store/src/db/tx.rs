//! A transaction on either engine: reads, writes, counters, wake-ups.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use domain::tenant::Tenant;
use domain::trace::TraceContext;

use super::commit_effects::{CommitEffects, WakeSet};
use super::counters::{Counter, Fold};
use super::error::{DbError, Must, check};
use super::faults::{self, Faults};
use super::postgres::{AddBatch, PgTx};
use super::row::{FromRow, Row};
use super::sqlite::pipelined_writer::PipelinedWriter;
use super::sqlite::statement as sqlite;
use super::value::{Value, placeholders};

/// Most rows of one statement of [`Tx::insert_all`]. Code that inserts very many rows builds them in chunks of this
/// size, so that memory stays small.
pub const ROWS: usize = 32;

/// One transaction, on either engine.
pub struct Tx<'a> {
    session: Session<'a>,
    wakes: u32,
    pub(super) after: Vec<Box<dyn FnOnce() + Send>>,
    pub(super) uncertain: Vec<Box<dyn FnOnce() + Send>>,
    pub(super) faults: Option<Arc<dyn Faults>>,
    pub(super) again: bool,
    pub(super) trace: Option<TraceContext>,
    /// Cached rows by their keys (`row_cache`).
    pub(super) cached: HashMap<String, Box<dyn Any>>,
    /// The note of its companion (`companion`).
    pub(super) note: Option<Box<dyn Any>>,
    /// Whether reads are only collected for a prefetch and return nothing.
    pub(super) prefetching: bool,
}

pub(super) enum Session<'a> {
    Sqlite(&'a rusqlite::Connection),
    /// A transaction that has the SQLite writer to itself.
    Pipelined(PipelinedWriter<'a>),
    Postgres(&'a mut PgTx),
    /// A closure that shares a transaction on PostgreSQL with others: it only inserts rows.
    Batch(&'a mut AddBatch),
}

impl<'a> Tx<'a> {
    pub(super) fn new(session: Session<'a>) -> Self {
        Self {
            session,
            wakes: 0,
            after: Vec::new(),
            uncertain: Vec::new(),
            faults: None,
            again: false,
            trace: None,
            cached: HashMap::new(),
            note: None,
            prefetching: false,
        }
    }
}

impl Tx<'_> {
    pub(super) fn effects(self) -> CommitEffects {
        CommitEffects { wakes: self.wakes, after: self.after, uncertain: self.uncertain }
    }

    /// Runs a statement. Returns the number of rows that it changed.
    pub fn exec(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, DbError> {
        let sql = &*faults::statement(self.faults.as_deref(), sql);
        match &mut self.session {
            Session::Sqlite(conn) => sqlite::exec(conn, sql, params),
            Session::Pipelined(writer) => sqlite::exec(&*writer.wait()?, sql, params),
            Session::Postgres(tx) => tx.exec(sql, params),
            Session::Batch(batch) => Err(batch.refuse()),
        }
    }

    /// Runs a statement whose row count is not needed; it is pipelined. On PostgreSQL it is sent with the next read or
    /// the commit. On SQLite, in a transaction of [`tx_alone`](super::Store::tx_alone), another thread runs it while the
    /// closure goes on. A later statement or the commit may return its error.
    pub fn later(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        let sql = &*faults::statement(self.faults.as_deref(), sql);
        match &mut self.session {
            Session::Sqlite(conn) => sqlite::exec(conn, sql, params).map(|_| ()),
            Session::Pipelined(writer) => writer.later(sql, params, None),
            Session::Postgres(tx) => tx.later(sql, params),
            Session::Batch(batch) => Err(batch.refuse()),
        }
    }

    /// Inserts a row with a statement `insert into … values (…)`, pipelined as by [`Tx::later`]. On PostgreSQL the rows of
    /// one table become one statement, so rows of other tables may be inserted earlier. A closure that does nothing else
    /// may share its transaction there ([`tx_adding`](super::Store::tx_adding)).
    pub fn add(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        match &mut self.session {
            Session::Batch(batch) => batch.add(&faults::statement(self.faults.as_deref(), sql), params),
            Session::Postgres(tx) => tx.add(&faults::statement(self.faults.as_deref(), sql), params),
            Session::Sqlite(_) | Session::Pipelined(_) => self.later(sql, params),
        }
    }

    /// Like [`Tx::add`] with a statement `insert into … values (…) on conflict … do nothing`: the transaction fails with
    /// `otherwise` if the row exists.
    pub fn add_new(&mut self, sql: &str, params: &[Value<'_>], otherwise: DbError) -> Result<(), DbError> {
        match &mut self.session {
            Session::Postgres(tx) => {
                tx.add_new(&faults::statement(self.faults.as_deref(), sql), params, otherwise)
            }
            Session::Sqlite(_) | Session::Pipelined(_) | Session::Batch(_) => {
                self.must(sql, params, Must { rows: 1, otherwise })
            }
        }
    }

    /// Runs a statement, pipelined as by [`Tx::later`]; the transaction fails unless it changes the given number of rows.
    /// With [`DbError::Retry`] as its error PostgreSQL runs the closure again, which sees the concurrent change.
    pub fn must(&mut self, sql: &str, params: &[Value<'_>], must: Must) -> Result<(), DbError> {
        match &mut self.session {
            Session::Pipelined(writer) => {
                writer.later(&faults::statement(self.faults.as_deref(), sql), params, Some(must))
            }
            Session::Postgres(tx) => tx.must(&faults::statement(self.faults.as_deref(), sql), params, must),
            Session::Sqlite(_) => self.exec(sql, params).and_then(|changed| check(changed, Some(&must))),
            Session::Batch(batch) => Err(batch.refuse()),
        }
    }

    /// Updates one row, whose key (workspace and id) is in the first two parameters, with a statement `update … set …
    /// where …`; otherwise the transaction fails. Pipelined as by [`Tx::must`]; on PostgreSQL updates of the same text are
    /// batched into one statement.
    pub fn change(&mut self, sql: &str, params: &[Value<'_>], otherwise: DbError) -> Result<(), DbError> {
        match &mut self.session {
            Session::Postgres(tx) => {
                tx.change(&faults::statement(self.faults.as_deref(), sql), params, otherwise)
            }
            Session::Sqlite(_) | Session::Pipelined(_) | Session::Batch(_) => {
                self.must(sql, params, Must { rows: 1, otherwise })
            }
        }
    }

    /// Updates a contended counter row. On PostgreSQL the statement is sent with the commit, after all others and in the
    /// order of [`Counter`]: the row is locked only during the commit, and transactions cannot deadlock on counters. Later
    /// reads of the closure do not see the change there. On SQLite it is pipelined as by [`Tx::later`].
    pub fn count(
        &mut self,
        counter: Counter,
        sql: &str,
        params: &[Value<'_>],
        must: Option<Must>,
    ) -> Result<(), DbError> {
        self.tally(counter, sql, &[], params, must)
    }

    /// Like [`Tx::count`] for changes that can be merged: on PostgreSQL those of one counter with the same text become one
    /// statement. `folds` has the merge rule of each parameter; if it is empty, nothing is merged.
    pub fn tally(
        &mut self,
        counter: Counter,
        sql: &str,
        folds: &[Fold],
        params: &[Value<'_>],
        must: Option<Must>,
    ) -> Result<(), DbError> {
        match (&mut self.session, must) {
            (Session::Postgres(tx), must) => {
                tx.tally(counter, &faults::statement(self.faults.as_deref(), sql), folds, params, must)
            }
            (_, Some(must)) => self.must(sql, params, must),
            (_, None) => self.later(sql, params),
        }
    }

    /// Like [`Tx::count`], on PostgreSQL only, with a statement (`with … select 1 / (…)::int`) that divides by zero if its
    /// check fails; the transaction then fails with `otherwise`.
    pub fn count_checked(
        &mut self,
        counter: Counter,
        sql: &str,
        params: &[Value<'_>],
        otherwise: DbError,
    ) -> Result<(), DbError> {
        match &mut self.session {
            Session::Postgres(tx) => {
                tx.count_checked(counter, &faults::statement(self.faults.as_deref(), sql), params, otherwise)
            }
            Session::Batch(batch) => Err(batch.refuse()),
            Session::Sqlite(_) | Session::Pipelined(_) => {
                Err(DbError::Internal("counters are checked so on a shared store only".into()))
            }
        }
    }

    /// Waits for all pipelined statements.
    pub(super) fn wait_for_deferred(&mut self) -> Result<(), DbError> {
        match &mut self.session {
            Session::Pipelined(writer) => writer.wait().map(|_| ()),
            // Their commit waits.
            Session::Sqlite(_) | Session::Postgres(_) | Session::Batch(_) => Ok(()),
        }
    }

    /// Inserts rows of `WIDTH` values each, many with one statement, pipelined as by [`Tx::later`]; `into` is the statement
    /// up to its values. Rows in the order of the primary key are the cheapest.
    pub fn insert_all<'v, const WIDTH: usize>(
        &mut self,
        into: &str,
        rows: impl IntoIterator<Item = [Value<'v>; WIDTH]>,
    ) -> Result<(), DbError> {
        self.in_chunks(into, rows, "", |tx, sql, values, _| tx.later(sql, values))
    }

    /// Like [`Tx::insert_all`] for rows whose first column is the workspace.
    pub(super) fn insert_of<'v, const WIDTH: usize>(
        &mut self,
        tenant: Tenant,
        into: &str,
        rows: impl IntoIterator<Item = [Value<'v>; WIDTH]>,
    ) -> Result<(), DbError> {
        let rows = rows.into_iter().map(|row| std::iter::once(tenant.into()).chain(row));
        self.in_chunks_of(WIDTH + 1, into, rows, "", |tx, sql, values, _| tx.later(sql, values))
    }

    /// Like [`Tx::insert_all`]; the transaction fails with `otherwise` if a unique index rejects a row.
    pub fn insert_new<'v, const WIDTH: usize>(
        &mut self,
        into: &str,
        rows: impl IntoIterator<Item = [Value<'v>; WIDTH]>,
        otherwise: &DbError,
    ) -> Result<(), DbError> {
        self.in_chunks(into, rows, " on conflict do nothing", |tx, sql, values, rows| {
            tx.must(sql, values, Must { rows: rows as u64, otherwise: otherwise.clone() })
        })
    }

    /// Like [`Tx::insert_all`] with an `on conflict` clause. No two of the rows may conflict with each other.
    pub fn insert_or<'v, const WIDTH: usize>(
        &mut self,
        into: &str,
        rows: impl IntoIterator<Item = [Value<'v>; WIDTH]>,
        on_conflict: &str,
    ) -> Result<(), DbError> {
        self.in_chunks(into, rows, on_conflict, |tx, sql, values, _| tx.later(sql, values))
    }

    fn in_chunks<'v, const WIDTH: usize>(
        &mut self,
        into: &str,
        rows: impl IntoIterator<Item = [Value<'v>; WIDTH]>,
        after: &str,
        run: impl FnMut(&mut Self, &str, &[Value<'v>], usize) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        self.in_chunks_of(WIDTH, into, rows, after, run)
    }

    fn in_chunks_of<'v>(
        &mut self,
        width: usize,
        into: &str,
        rows: impl IntoIterator<Item: IntoIterator<Item = Value<'v>>>,
        after: &str,
        mut run: impl FnMut(&mut Self, &str, &[Value<'v>], usize) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        let mut rows = rows.into_iter();
        let mut values: Vec<Value<'v>> = Vec::with_capacity(rows.size_hint().0.min(ROWS) * width);
        loop {
            values.extend(rows.by_ref().take(ROWS).flatten());
            if values.is_empty() {
                return Ok(());
            }
            let mut rest = &values[..];
            while !rest.is_empty() {
                // A few sizes only, so that few statements are prepared.
                let count = [ROWS, ROWS / 4, ROWS / 16, 1]
                    .into_iter()
                    .find(|count| count * width <= rest.len())
                    .unwrap_or(1);
                let (now, later) = rest.split_at(count * width);
                run(self, &format!("{into} values {}{after}", placeholders(count, width)), now, count)?;
                rest = later;
            }
            values.clear();
        }
    }

    /// Returns all rows of a query.
    pub fn all<T: FromRow>(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<T>, DbError> {
        let mut found = Vec::new();
        self.each(sql, params, |row| {
            found.push(row);
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the first row of a query, if it has one.
    pub fn one<T: FromRow>(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Option<T>, DbError> {
        Ok(self.all(sql, params)?.into_iter().next())
    }

    /// Whether a query (`select 1 …`) has a row.
    pub fn exists(&mut self, sql: &str, params: &[Value<'_>]) -> Result<bool, DbError> {
        Ok(self.one::<i64>(sql, params)?.is_some())
    }

    /// Calls `visit` with every row. SQLite streams them; PostgreSQL fetches all of them first, so page by key there.
    pub fn each<T: FromRow>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        mut visit: impl FnMut(T) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        // Type-erased, so that the engines are compiled once and not for every type of row.
        let read: &mut dyn FnMut(Row<'_>) -> Result<(), DbError> = &mut |row| visit(row.whole()?);
        let sql = &*faults::statement(self.faults.as_deref(), sql);
        match &mut self.session {
            Session::Sqlite(conn) => sqlite::each(conn, sql, params, read),
            Session::Pipelined(writer) => sqlite::each(&*writer.wait()?, sql, params, read),
            Session::Postgres(tx) => tx.each(sql, params, read),
            Session::Batch(batch) => Err(batch.refuse()),
        }
    }

    /// Wakes these jobs (bits of a [`WakeSet`]) on every node after the commit.
    pub fn wake(&mut self, topics: WakeSet) {
        self.wakes |= topics.0;
    }

    /// Runs `effect` on this node after the commit, before the caller gets the result, even if the caller was cancelled.
    pub fn after_commit(&mut self, effect: impl FnOnce() + Send + 'static) {
        self.after.push(Box::new(effect));
    }

    /// Runs `effect` on this node if the commit is uncertain ([`DbError::Uncertain`]), before the caller gets the error.
    /// Effects of [`Tx::after_commit`] do not run then. It must be short, since it runs on a thread of the store. Not
    /// supported by [`tx_single`](super::Store::tx_single).
    pub fn if_uncertain(&mut self, effect: impl FnOnce() + Send + 'static) {
        self.uncertain.push(Box::new(effect));
    }

    /// Pipelines independent reads into one round trip (PostgreSQL only; on SQLite `look` does not run). The reads in
    /// `look` return nothing; they are sent with the next statement. When the closure then makes the same reads with the
    /// same parameters, before any write, their answers are there.
    pub fn pipeline_reads(&mut self, look: impl FnOnce(&mut Self)) {
        let Session::Postgres(tx) = &mut self.session else { return };
        tx.begin_pipelining();
        self.prefetching = true;
        look(self);
        self.prefetching = false;
        if let Session::Postgres(tx) = &mut self.session {
            tx.end_pipelining();
        }
    }

    /// Prefetches the reads of a batch of requests in one round trip (PostgreSQL only; on SQLite `look` does not run). The
    /// reads in `look` return nothing, and their errors are ignored; those with the same text become one statement. When the
    /// closure then makes the same reads with the same parameters, their answers are there, also after it has written: so
    /// `look` must read only what the batch changes in no other way. A locking read (rows are locked in the order of the
    /// parameters) and one without a row are answered once, others any number of times. A retried closure
    /// ([`again`](Tx::again)) prefetches nothing.
    pub fn prefetch(&mut self, look: impl FnOnce(&mut Self)) -> Result<(), DbError> {
        if self.again {
            return Ok(());
        }
        let Session::Postgres(tx) = &mut self.session else { return Ok(()) };
        if !tx.begin_prefetch() {
            return Ok(());
        }
        self.prefetching = true;
        look(self);
        self.prefetching = false;
        match &mut self.session {
            Session::Postgres(tx) => tx.end_prefetch(),
            Session::Sqlite(_) | Session::Pipelined(_) | Session::Batch(_) => Ok(()),
        }
    }

    /// Compares the generation of a subject (`generations`) at the commit; if it is another one, the closure runs
    /// [`again`](Tx::again). Does nothing on SQLite, whose only node is notified of each change.
    pub fn unchanged(&mut self, subject: &str, number: u64) -> Result<(), DbError> {
        match &mut self.session {
            Session::Postgres(tx) => tx.unchanged(subject, number),
            Session::Batch(batch) => batch.unchanged(subject, number),
            Session::Sqlite(_) | Session::Pipelined(_) => Ok(()),
        }
    }

    /// The trace context of the rows that this transaction writes, if it is traced.
    pub fn trace(&self) -> Option<TraceContext> {
        self.trace
    }

    /// Writes with the trace context of an earlier request, such as an event of a call ([`TraceContext::nearest`]).
    pub fn traced<T>(&mut self, of: Option<TraceContext>, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.trace;
        self.trace = TraceContext::nearest(before, of);
        let written = write(self);
        self.trace = before;
        written
    }

    /// Whether this is a retry after a conflict; cached values of the node must not be used then.
    pub fn again(&self) -> bool {
        self.again
    }

    /// Whether several nodes may share this store (PostgreSQL), so that cached values must be validated (`generations`).
    pub fn shared(&self) -> bool {
        matches!(self.session, Session::Postgres(_) | Session::Batch(_))
    }
}

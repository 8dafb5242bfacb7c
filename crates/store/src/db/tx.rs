//! What a transaction is asked: to read, to write, to count, to wake.

use domain::tenant::Tenant;
use domain::trace::TraceContext;

use super::{
    Aftermath, Counter, DbError, Fold, FromRow, Must, ROWS, Row, Session, Tx, Value, WakeSet, check, faults,
    places, sqlite,
};

impl Tx<'_> {
    pub(super) fn aftermath(self) -> Aftermath {
        Aftermath { wakes: self.wakes, after: self.after, uncertain: self.uncertain }
    }

    /// Runs a statement and says how many rows it changed.
    pub fn exec(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, DbError> {
        let sql = &*faults::statement(self.faults.as_deref(), sql);
        match &mut self.session {
            Session::Sqlite(conn) => sqlite::exec(conn, sql, params),
            Session::Behind(behind) => sqlite::exec(&*behind.settled()?, sql, params),
            Session::Postgres(tx) => tx.exec(sql, params),
            Session::Sheet(sheet) => Err(sheet.refuse()),
        }
    }

    /// Runs a statement whose row count is not needed. On PostgreSQL it travels with the next read or the
    /// commit. On SQLite, in a transaction that is [alone](Store::tx_alone), another thread runs it while the
    /// closure goes on, at the latest before the next read or the commit. Its error may be returned by a
    /// later statement or at the end.
    pub fn later(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        let sql = &*faults::statement(self.faults.as_deref(), sql);
        match &mut self.session {
            Session::Sqlite(conn) => sqlite::exec(conn, sql, params).map(|_| ()),
            Session::Behind(behind) => behind.later(sql, params, None),
            Session::Postgres(tx) => tx.later(sql, params),
            Session::Sheet(sheet) => Err(sheet.refuse()),
        }
    }

    /// Adds a row with a statement `insert into … values (…)`. It travels as by [`Tx::later`]; on PostgreSQL rows of
    /// other tables that are added, too, may come before it, and rows of one table become one statement. A closure that does nothing else may share its
    /// transaction there ([`Store::tx_adding`]).
    pub fn add(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sheet(sheet) => sheet.add(&faults::statement(self.faults.as_deref(), sql), params),
            Session::Postgres(tx) => tx.add(&faults::statement(self.faults.as_deref(), sql), params),
            Session::Sqlite(_) | Session::Behind(_) => self.later(sql, params),
        }
    }

    /// Adds a row that must be new, with a statement `insert into … values (…) on conflict … do nothing`; if there is one
    /// already, the transaction fails. It travels as by [`Tx::add`].
    pub fn add_new(&mut self, sql: &str, params: &[Value<'_>], otherwise: DbError) -> Result<(), DbError> {
        match &mut self.session {
            Session::Postgres(tx) => {
                tx.add_new(&faults::statement(self.faults.as_deref(), sql), params, otherwise)
            }
            Session::Sqlite(_) | Session::Behind(_) | Session::Sheet(_) => {
                self.must(sql, params, Must { rows: 1, otherwise })
            }
        }
    }

    /// Runs a statement that must change so many rows; if it does not, the transaction fails. If it fails with
    /// [`DbError::Retry`], PostgreSQL runs it again, and sees what another one has changed meanwhile. It is
    /// deferred as by [`Tx::later`].
    pub fn must(&mut self, sql: &str, params: &[Value<'_>], must: Must) -> Result<(), DbError> {
        match &mut self.session {
            Session::Behind(behind) => {
                behind.later(&faults::statement(self.faults.as_deref(), sql), params, Some(must))
            }
            Session::Postgres(tx) => tx.must(&faults::statement(self.faults.as_deref(), sql), params, must),
            Session::Sqlite(_) => self.exec(sql, params).and_then(|changed| check(changed, Some(&must))),
            Session::Sheet(sheet) => Err(sheet.refuse()),
        }
    }

    /// Changes one row, named by the first two parameters (workspace and id), with a statement `update … set … where …`;
    /// if it does not, the transaction fails. It is deferred as by [`Tx::must`]. On PostgreSQL changes with the same text
    /// that travel together become one statement for many rows.
    pub fn change(&mut self, sql: &str, params: &[Value<'_>], otherwise: DbError) -> Result<(), DbError> {
        match &mut self.session {
            Session::Postgres(tx) => {
                tx.change(&faults::statement(self.faults.as_deref(), sql), params, otherwise)
            }
            Session::Sqlite(_) | Session::Behind(_) | Session::Sheet(_) => {
                self.must(sql, params, Must { rows: 1, otherwise })
            }
        }
    }

    /// Changes a counter with a statement that `must` change one row, if it says so. On PostgreSQL it travels with the
    /// commit, after everything else and in the order of the counters, whatever the order of the calls. So a
    /// transaction holds such a row only while it commits, and none that holds one waits for another that waits for
    /// it. What the closure reads afterwards does not see the change there. Elsewhere it is deferred as by [`Tx::later`].
    pub fn count(
        &mut self,
        counter: Counter,
        sql: &str,
        params: &[Value<'_>],
        must: Option<Must>,
    ) -> Result<(), DbError> {
        self.tally(counter, sql, &[], params, must)
    }

    /// Like [`Tx::count`], for changes that can be folded into one: on PostgreSQL those with the same text and the same
    /// names travel as one statement, at the place of the first. `folds` says how, a fold for each parameter; when it is
    /// empty, each change is a statement of its own.
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

    /// On a shared store, changes a counter like [`Tx::count`] with a statement (`with … select 1 / (…)::int`) that divides by
    /// zero unless it did what it should; then the transaction fails with `otherwise`.
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
            Session::Sheet(sheet) => Err(sheet.refuse()),
            Session::Sqlite(_) | Session::Behind(_) => {
                Err(DbError::Internal("counters are checked so on a shared store only".into()))
            }
        }
    }

    /// Waits until all deferred statements are done.
    pub(super) fn settle(&mut self) -> Result<(), DbError> {
        match &mut self.session {
            Session::Behind(behind) => behind.settled().map(|_| ()),
            // Their commit does so.
            Session::Sqlite(_) | Session::Postgres(_) | Session::Sheet(_) => Ok(()),
        }
    }

    /// Inserts rows of `WIDTH` values each, as [`Tx::later`] does, many with one statement; `into` is the
    /// statement up to its values. Rows in the order of the primary key are the cheapest.
    pub fn insert_all<'v, const WIDTH: usize>(
        &mut self,
        into: &str,
        rows: impl IntoIterator<Item = [Value<'v>; WIDTH]>,
    ) -> Result<(), DbError> {
        self.in_chunks(into, rows, "", |tx, sql, values, _| tx.later(sql, values))
    }

    /// The same for rows of a workspace, which is their first column.
    pub(super) fn insert_of<'v, const WIDTH: usize>(
        &mut self,
        tenant: Tenant,
        into: &str,
        rows: impl IntoIterator<Item = [Value<'v>; WIDTH]>,
    ) -> Result<(), DbError> {
        let rows = rows.into_iter().map(|row| std::iter::once(tenant.into()).chain(row));
        self.in_chunks_of(WIDTH + 1, into, rows, "", |tx, sql, values, _| tx.later(sql, values))
    }

    /// Like [`Tx::insert_all`], but if a unique index refuses a row, the transaction fails with `otherwise`.
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

    /// Like [`Tx::insert_all`], with the clause that says what becomes of a row which a unique index refuses. No two
    /// of the rows may be refused for each other.
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
                // Only a few sizes, so that few different statements have to be kept prepared.
                let count = [ROWS, ROWS / 4, ROWS / 16, 1]
                    .into_iter()
                    .find(|count| count * width <= rest.len())
                    .unwrap_or(1);
                let (now, later) = rest.split_at(count * width);
                run(self, &format!("{into} values {}{after}", places(count, width)), now, count)?;
                rest = later;
            }
            values.clear();
        }
    }

    /// All rows of a query.
    pub fn all<T: FromRow>(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<T>, DbError> {
        let mut found = Vec::new();
        self.each(sql, params, |row| {
            found.push(row);
            Ok(())
        })?;
        Ok(found)
    }

    /// The first row of a query, or `None` without one.
    pub fn one<T: FromRow>(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Option<T>, DbError> {
        Ok(self.all(sql, params)?.into_iter().next())
    }

    /// Whether a query (`select 1 …`) has a row.
    pub fn exists(&mut self, sql: &str, params: &[Value<'_>]) -> Result<bool, DbError> {
        Ok(self.one::<i64>(sql, params)?.is_some())
    }

    /// Calls `visit` with every row without holding them all in memory on SQLite; on PostgreSQL page by key
    /// instead.
    pub fn each<T: FromRow>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        mut visit: impl FnMut(T) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        // Behind a pointer, so that the engines are compiled once and not once for each type of row.
        let read: &mut dyn FnMut(Row<'_>) -> Result<(), DbError> = &mut |row| visit(row.whole()?);
        let sql = &*faults::statement(self.faults.as_deref(), sql);
        match &mut self.session {
            Session::Sqlite(conn) => sqlite::each(conn, sql, params, read),
            Session::Behind(behind) => sqlite::each(&*behind.settled()?, sql, params, read),
            Session::Postgres(tx) => tx.each(sql, params, read),
            Session::Sheet(sheet) => Err(sheet.refuse()),
        }
    }

    /// Wakes these jobs (bits of a [`WakeSet`]) once the transaction is committed, on every node.
    pub fn wake(&mut self, topics: WakeSet) {
        self.wakes |= topics.0;
    }

    /// Runs `effect` on this node once the transaction is committed, before its caller is answered, even if
    /// that caller has gone.
    pub fn after_commit(&mut self, effect: impl FnOnce() + Send + 'static) {
        self.after.push(Box::new(effect));
    }

    /// Runs `effect` on this node if nobody can say whether the transaction was committed ([`DbError::Uncertain`]),
    /// before its caller is told so. What was to be done after the commit is not done then. It must be short: it runs
    /// on a thread of the store. A statement that is a transaction by itself ([`Store::tx_single`]) does not run it.
    pub fn if_uncertain(&mut self, effect: impl FnOnce() + Send + 'static) {
        self.uncertain.push(Box::new(effect));
    }

    /// Lets reads that do not depend on each other travel together. On PostgreSQL `look` runs as if every read found
    /// nothing, and what it reads travels behind the next statement. When the closure then reads the same, with the
    /// same parameters and before it writes anything, the answer is there. What `look` returns is of no account.
    /// On SQLite, where a read is a call, it does not run.
    pub fn ahead(&mut self, look: impl FnOnce(&mut Self)) {
        let Session::Postgres(tx) = &mut self.session else { return };
        tx.look_ahead(true);
        self.looks = true;
        look(self);
        self.looks = false;
        if let Session::Postgres(tx) = &mut self.session {
            tx.look_ahead(false);
        }
    }

    /// Lets reads that many pieces of work need be made before the first of them begins. On PostgreSQL `look` runs as if
    /// every read found nothing; then all that it read travels in one turn, and reads with the same text are one
    /// statement. When the closure reads the same with the same parameters, the answer is there, also after it has
    /// written: so `look` reads only what no other of these pieces of work changes by another way. A read that locks rows
    /// (in the order of the parameters) and one that found nothing are answered once, others as often as they are
    /// asked. Errors of the reads in `look` are ignored. A closure that runs [`again`](Tx::again) prefetches nothing, and on
    /// SQLite, where a read is a call, `look` does not run.
    pub fn prefetch(&mut self, look: impl FnOnce(&mut Self)) -> Result<(), DbError> {
        if self.again {
            return Ok(());
        }
        let Session::Postgres(tx) = &mut self.session else { return Ok(()) };
        if !tx.begin_prefetch() {
            return Ok(());
        }
        self.looks = true;
        look(self);
        self.looks = false;
        match &mut self.session {
            Session::Postgres(tx) => tx.end_prefetch(),
            Session::Sqlite(_) | Session::Behind(_) | Session::Sheet(_) => Ok(()),
        }
    }

    /// Makes sure that the number of a subject of `generations` is this one when the transaction is committed;
    /// otherwise it runs [`again`](Tx::again). On an embedded store, whose only node hears of each change, there is
    /// nothing to do.
    pub fn unchanged(&mut self, subject: &str, number: u64) -> Result<(), DbError> {
        match &mut self.session {
            Session::Postgres(tx) => tx.unchanged(subject, number),
            Session::Sheet(sheet) => sheet.unchanged(subject, number),
            Session::Sqlite(_) | Session::Behind(_) => Ok(()),
        }
    }

    /// What the rows that this transaction writes belong to, if it is followed in a trace.
    pub fn trace(&self) -> Option<TraceContext> {
        self.trace
    }

    /// Writes something that an earlier piece of work asked for, such as an event of a call: it belongs to the trace
    /// of that ([`TraceContext::nearest`]).
    pub fn traced<T>(&mut self, of: Option<TraceContext>, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.trace;
        self.trace = TraceContext::nearest(before, of);
        let written = write(self);
        self.trace = before;
        written
    }

    /// Whether the closure runs again after a conflict, so that nothing that was remembered may be used.
    pub fn again(&self) -> bool {
        self.again
    }

    /// Whether several nodes may share this store, so that what is remembered between transactions has to be
    /// compared (`generations`).
    pub fn shared(&self) -> bool {
        matches!(self.session, Session::Postgres(_) | Session::Sheet(_))
    }
}

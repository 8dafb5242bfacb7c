//! One transaction on one connection. Statements whose answers nobody waits for travel with the next that
//! somebody does, so that most transactions take one round trip for each read, and one for the commit.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row as PgRow, Statement};

use super::super::{Counter, DbError, Fold, Must, Row, Value, dialect};
use super::foresight::{Foresight, for_many_reads};
use super::group::{Sheet, for_many};
use super::server::Server;
use crate::generations::COMPARE;

/// A statement that a connection keeps prepared.
#[derive(Clone)]
struct Prepared {
    statement: Statement,
    /// Whether it stores nothing.
    reads: bool,
}

/// The statements that one connection keeps prepared.
#[derive(Default)]
pub(in crate::db) struct Known(HashMap<String, Prepared>);

impl Known {
    pub(in crate::db) fn clear(&mut self) {
        self.0.clear();
    }
}

/// How long an answer is waited for: at most so long, and only as long as the host at this place is there.
#[derive(Clone)]
pub(in crate::db) struct Patience {
    pub(in crate::db) most: Duration,
    pub(in crate::db) server: Server,
    pub(in crate::db) place: usize,
}

impl Patience {
    async fn wait<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        self.server.answer(self.place, self.most, answer).await
    }
}

/// What surrounds the statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::db) enum Frame {
    /// A transaction, which begins with this statement.
    Transaction(&'static str),
    /// Nothing: there is one statement, which is a transaction by itself. It only reads; when a second one comes,
    /// the closure runs again in a transaction.
    Single,
    /// The same for a statement that writes. A second one is an error.
    SingleWrite,
}

impl Frame {
    fn is_transaction(self) -> bool {
        matches!(self, Frame::Transaction(_))
    }
}

/// Values that name a row which is changed: its workspace and its id.
const NAME: usize = 2;
/// Rows of one statement at most.
const TOGETHER: usize = 256;

/// A write that travels with the next message.
struct Queued {
    statement: Statement,
    params: Vec<Value<'static>>,
    /// The error of the transaction when the statement divides by zero.
    otherwise: Option<DbError>,
    /// More rows that it is to change or add, with the text for one ([`PgTx::change`], [`PgTx::add`]).
    more: Option<More>,
}

/// Rows that are changed or added alike.
struct More {
    sql: String,
    rows: Vec<Vec<Value<'static>>>,
}

impl Queued {
    fn new(statement: Statement, params: &[Value<'_>], otherwise: Option<DbError>) -> Self {
        let params = params.iter().cloned().map(Value::into_owned).collect();
        Self { statement, params, otherwise, more: None }
    }

    /// Whether it adds rows to this table, of those that travel together.
    fn adds_to(&self, table: &str) -> bool {
        let into = self.more.as_ref().and_then(|more| more.sql.strip_prefix("insert into "));
        into.and_then(|rest| rest.split(' ').next()) == Some(table)
    }

    /// Whether it changes this row, named by its first two values, as one of its rows.
    fn names(&self, row: &[Value<'_>]) -> bool {
        let same = |known: &[Value<'_>]| known.iter().zip(row).take(NAME).all(|(one, other)| one == other);
        same(&self.params) || self.more.iter().flat_map(|more| &more.rows).any(|known| same(known))
    }
}

/// A change of a counter, which travels with the commit.
struct Counted {
    counter: Counter,
    sql: String,
    change: Queued,
}

/// A read that travels behind the next message.
struct Ahead {
    sql: String,
    statement: Statement,
    params: Vec<Value<'static>>,
}

impl Ahead {
    fn is(&self, sql: &str, params: &[Value<'_>]) -> bool {
        self.sql == sql && self.params.as_slice() == params
    }
}

/// Why messages failed: which of them was the first, and how.
enum Broken {
    At(usize, Error),
    /// No answer came in time.
    Late,
}

/// One transaction on one connection.
pub(in crate::db) struct PgTx {
    runtime: Arc<tokio::runtime::Runtime>,
    client: Arc<Client>,
    pub(in crate::db) known: Known,
    frame: Frame,
    patience: Patience,
    /// Whether the transaction has begun on the server.
    begun: bool,
    /// Whether something was sent that is to be stored.
    wrote: bool,
    queue: Vec<Queued>,
    /// Counters that travel with the commit.
    counters: Vec<Counted>,
    /// Numbers of subjects that must be these.
    expected: Vec<(String, u64)>,
    /// Whether reads are only noted, to travel behind the next message.
    looks_ahead: bool,
    ahead: Vec<Ahead>,
    /// What those that have travelled brought back. A write makes it void.
    seen: Vec<(Ahead, Vec<PgRow>)>,
    /// Reads that were made before anything else.
    foresight: Foresight,
    /// The first error; nothing runs after it.
    error: Option<DbError>,
    /// A second statement came where one was expected.
    pub(in crate::db) wants_more: bool,
    /// The server did not answer in time: nothing can be said over this connection any more.
    pub(in crate::db) late: bool,
}

/// The message that is waited for.
enum Last<'a> {
    Rows(Statement, &'a [Value<'a>]),
    Exec(Statement, &'a [Value<'a>]),
    Plain(&'static str),
}

const LATE: &str = "the server does not answer";

impl PgTx {
    pub(in crate::db) fn new(
        runtime: Arc<tokio::runtime::Runtime>,
        client: Arc<Client>,
        known: Known,
        frame: Frame,
        patience: Patience,
    ) -> Self {
        Self {
            runtime,
            client,
            known,
            frame,
            patience,
            begun: false,
            wrote: false,
            queue: Vec::new(),
            counters: Vec::new(),
            expected: Vec::new(),
            looks_ahead: false,
            ahead: Vec::new(),
            seen: Vec::new(),
            foresight: Foresight::default(),
            error: None,
            wants_more: false,
            late: false,
        }
    }

    /// The first error.
    pub(in crate::db) fn error(&self) -> Option<&DbError> {
        self.error.as_ref()
    }

    fn fail(&mut self, why: DbError) -> DbError {
        self.error.get_or_insert(why).clone()
    }

    /// Notes that a statement comes. One by itself has no company.
    fn one_more(&mut self) -> Result<(), DbError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        if self.frame.is_transaction() || !std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        self.wants_more = self.frame == Frame::Single;
        let why = "a second statement wants a transaction".to_owned();
        Err(self.fail(if self.wants_more { DbError::Retry(why) } else { DbError::Internal(why) }))
    }

    fn prepare(&mut self, sql: &str, must: Option<u64>) -> Result<Statement, DbError> {
        // A statement that must change so many rows divides by zero when it changes another number. The commit that is
        // sent behind it then undoes everything.
        let key = must.map(|rows| {
            format!("with done as ({sql} returning 1) select 1 / (count(*) = {rows})::int from done")
        });
        let key = key.as_deref().unwrap_or(sql);
        if let Some(known) = self.known.0.get(key) {
            self.wrote |= !known.reads;
            return Ok(known.statement.clone());
        }
        let text = dialect::for_postgres(key);
        let client = self.client.clone();
        let prepared = self.runtime.block_on(async {
            match self.patience.wait(client.prepare(&text)).await {
                Some(prepared) => prepared.map_err(|why| Broken::At(0, why)),
                None => Err(Broken::Late),
            }
        });
        match prepared {
            Ok(statement) => {
                let reads = only_reads(&text);
                self.wrote |= !reads;
                self.known.0.insert(key.to_owned(), Prepared { statement: statement.clone(), reads });
                Ok(statement)
            }
            Err(why) => {
                // Nothing has run.
                let why = match self.why(why, &[]) {
                    DbError::Uncertain(why) => DbError::Unavailable(why),
                    why => why,
                };
                Err(self.fail(why))
            }
        }
    }

    /// What went wrong, in the words of the store.
    fn why(&mut self, broken: Broken, queue: &[Queued]) -> DbError {
        // Whether what was sent may have been stored although nobody heard so.
        let mut lost = false;
        let why = match broken {
            Broken::Late => {
                (self.late, lost) = (true, true);
                DbError::Unavailable(LATE.into())
            }
            Broken::At(place, why) => {
                lost |= why.code().is_none_or(|code| code.code().starts_with("57"));
                let place = place.checked_sub(usize::from(self.frame.is_transaction()));
                let otherwise = place.and_then(|place| queue.get(place)?.otherwise.clone());
                match otherwise {
                    Some(otherwise) if why.code() == Some(&SqlState::DIVISION_BY_ZERO) => otherwise,
                    _ => classify(&why),
                }
            }
        };
        match why {
            DbError::Unavailable(why) if lost && self.frame == Frame::SingleWrite => DbError::Uncertain(why),
            why => why,
        }
    }

    /// Sends what is queued and then `last`; waits for every answer and returns the last one.
    fn flush(&mut self, last: Last<'_>) -> Result<(u64, Vec<PgRow>), DbError> {
        let queue = self.queued()?;
        let ahead = std::mem::take(&mut self.ahead);
        match self.send(&queue, last, &ahead) {
            Ok((changed, rows, seen)) => {
                self.seen.extend(ahead.into_iter().zip(seen));
                Ok((changed, rows))
            }
            Err((_, broken)) => {
                let why = self.why(broken, &queue);
                Err(self.fail(why))
            }
        }
    }

    /// The same, with what was looked ahead for behind it; the first failure comes with whether it concerns `last`.
    fn send(&mut self, queue: &[Queued], last: Last<'_>, ahead: &[Ahead]) -> Result<Answers, (bool, Broken)> {
        let client = self.client.clone();
        let mut changed = 0;
        let mut sent: Vec<Sent<'_>> = Vec::with_capacity(queue.len() + 2);
        let begin = self.frame;
        // The place of the opening statement is kept when it has been sent before.
        match begin {
            Frame::Transaction(begin) if !self.begun => {
                self.begun = true;
                sent.push(Box::pin(async { client.batch_execute(begin).await.map(|()| Vec::new()) }));
            }
            Frame::Transaction(_) => sent.push(Box::pin(std::future::ready(Ok(Vec::new())))),
            Frame::Single | Frame::SingleWrite => {}
        }
        for Queued { statement, params, .. } in queue {
            sent.push(Box::pin(async {
                client.execute_raw(statement, borrow(params)).await.map(|_| Vec::new())
            }));
        }
        let place = sent.len();
        let count = &mut changed;
        let client = &client;
        sent.push(match last {
            Last::Rows(statement, params) => {
                Box::pin(async move { client.query(&statement, &borrow(params).collect::<Vec<_>>()).await })
            }
            Last::Exec(statement, params) => Box::pin(async move {
                *count = client.execute_raw(&statement, borrow(params)).await?;
                Ok(Vec::new())
            }),
            Last::Plain(sql) => Box::pin(async move { client.batch_execute(sql).await.map(|()| Vec::new()) }),
        });
        for Ahead { statement, params, .. } in ahead {
            sent.push(Box::pin(
                async move { client.query(statement, &borrow(params).collect::<Vec<_>>()).await },
            ));
        }
        let answers = self.runtime.block_on(async {
            match self.patience.wait(in_order(sent)).await {
                Some(Ok(answers)) => Ok(answers),
                Some(Err((at, why))) => Err((at == place, Broken::At(at, why))),
                None => Err((true, Broken::Late)),
            }
        });
        let mut answers = answers?.into_iter().skip(place);
        let rows = answers.next().unwrap_or_default();
        Ok((changed, rows, answers.collect()))
    }

    /// Lets the reads that follow travel behind the next message, until it is told otherwise. Until then they find
    /// nothing; when they are asked for again, the answers are there.
    pub(in crate::db) fn look_ahead(&mut self, on: bool) {
        self.looks_ahead = on && self.frame.is_transaction();
    }

    /// Until it is told otherwise, reads are only noted, and find nothing. Returns whether that makes sense here.
    pub(in crate::db) fn foresee(&mut self) -> bool {
        self.foresight.on = self.frame.is_transaction();
        self.foresight.on
    }

    /// Makes the reads that were noted, those with the same text with one statement, and keeps what they find.
    pub(in crate::db) fn foreseen(&mut self) -> Result<(), DbError> {
        self.foresight.on = false;
        let wanted = self.foresight.wanted();
        if wanted.is_empty() {
            return Ok(());
        }
        self.one_more()?;
        let mut reads = Vec::with_capacity(wanted.len());
        for wanted in &wanted {
            let one = self.prepare(&wanted.sql, None)?;
            let sql = for_many_reads(&wanted.sql, one.params().iter().map(tokio_postgres::types::Type::name));
            reads.push(Ahead { statement: self.prepare(&sql, None)?, params: wanted.columns(), sql });
        }
        let queue = self.queued()?;
        let Some((first, others)) = reads.split_first() else { return Ok(()) };
        let (found, others) =
            match self.send(&queue, Last::Rows(first.statement.clone(), &first.params), others) {
                Ok((_, found, others)) => (found, others),
                Err((_, broken)) => {
                    let why = self.why(broken, &queue);
                    return Err(self.fail(why));
                }
            };
        for (wanted, found) in wanted.into_iter().zip(std::iter::once(found).chain(others)) {
            self.foresight.learn(wanted, found);
        }
        Ok(())
    }

    /// A write comes: what was seen may be different afterwards.
    fn one_write(&mut self) -> Result<(), DbError> {
        if self.looks_ahead || self.foresight.on {
            return Err(DbError::Retry("nothing is written while somebody only looks ahead".into()));
        }
        self.seen.clear();
        self.one_more()
    }

    pub(in crate::db) fn exec(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, DbError> {
        self.one_write()?;
        let statement = self.prepare(sql, None)?;
        self.flush(Last::Exec(statement, params)).map(|(changed, _)| changed)
    }

    pub(in crate::db) fn later(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        if !self.frame.is_transaction() {
            return self.exec(sql, params).map(|_| ());
        }
        self.one_write()?;
        let statement = self.prepare(sql, None)?;
        self.put_off(statement, params, None);
        Ok(())
    }

    /// Runs a statement that changes so many rows, or the transaction fails.
    pub(in crate::db) fn must(&mut self, sql: &str, params: &[Value<'_>], must: Must) -> Result<(), DbError> {
        self.one_write()?;
        let statement = self.prepare(sql, Some(must.rows))?;
        self.put_off(statement, params, Some(must.otherwise));
        if self.frame.is_transaction() { Ok(()) } else { self.settle() }
    }

    /// Changes one row, or the transaction fails. What changes others alike travels in the same statement.
    pub(in crate::db) fn change(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        otherwise: DbError,
    ) -> Result<(), DbError> {
        self.one_row(sql, params, otherwise, table_of_change(sql))
    }

    /// Adds a row that is not there, or the transaction fails. Others of the same table travel in the same statement.
    pub(in crate::db) fn add_new(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        otherwise: DbError,
    ) -> Result<(), DbError> {
        self.one_row(sql, params, otherwise, None)
    }

    /// Adds or changes one row, a row of `table` if it is changed; otherwise the transaction fails.
    fn one_row(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        otherwise: DbError,
        table: Option<&str>,
    ) -> Result<(), DbError> {
        if !self.frame.is_transaction() {
            return self.must(sql, params, Must { rows: 1, otherwise });
        }
        self.one_write()?;
        if self.join(sql, params, table) {
            return Ok(());
        }
        let statement = self.prepare(sql, Some(1))?;
        let more = Some(More { sql: sql.to_owned(), rows: Vec::new() });
        self.queue.push(Queued { more, ..Queued::new(statement, params, Some(otherwise)) });
        Ok(())
    }

    /// Adds a row. Others of the same table that are added travel in the same statement.
    pub(in crate::db) fn add(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        if !self.frame.is_transaction() {
            return self.exec(sql, params).map(|_| ());
        }
        self.one_write()?;
        if self.join(sql, params, None) {
            return Ok(());
        }
        let statement = self.prepare(sql, None)?;
        let more = Some(More { sql: sql.to_owned(), rows: Vec::new() });
        self.queue.push(Queued { more, ..Queued::new(statement, params, None) });
        Ok(())
    }

    /// Lets a row travel with others that are queued. Returns whether there were such. It comes earlier by that than other
    /// changes and rows that are added, but never earlier than anything else that is queued. A change of a row of `table`
    /// never comes before another change of the same row, nor before a row that is added to the table: it may be that row.
    fn join(&mut self, sql: &str, params: &[Value<'_>], table: Option<&str>) -> bool {
        for queued in self.queue.iter_mut().rev() {
            let same = table.is_some_and(|table| queued.adds_to(table) || queued.names(params));
            let Some(more) = queued.more.as_mut().filter(|_| !same) else { return false };
            if more.sql == sql && more.rows.len() + 1 < TOGETHER {
                more.rows.push(params.iter().cloned().map(Value::into_owned).collect());
                return true;
            }
        }
        false
    }

    /// Changes a counter right before the commit; changes that can be folded into an earlier one are.
    pub(in crate::db) fn tally(
        &mut self,
        counter: Counter,
        sql: &str,
        folds: &[Fold],
        params: &[Value<'_>],
        must: Option<Must>,
    ) -> Result<(), DbError> {
        if !self.frame.is_transaction() {
            return match must {
                Some(must) => self.must(sql, params, must),
                None => self.later(sql, params),
            };
        }
        self.one_write()?;
        let same = self
            .counters
            .iter_mut()
            .find(|known| !folds.is_empty() && known.counter == counter && known.sql == sql);
        if let Some(known) = same
            && Fold::fold_all(folds, &mut known.change.params, params)
        {
            return Ok(());
        }
        let statement = self.prepare(sql, must.as_ref().map(|must| must.rows))?;
        let change = Queued::new(statement, params, must.map(|must| must.otherwise));
        self.counters.push(Counted { counter, sql: sql.to_owned(), change });
        Ok(())
    }

    /// Changes a counter right before the commit with a statement that divides by zero unless it did what it should.
    pub(in crate::db) fn count_checked(
        &mut self,
        counter: Counter,
        sql: &str,
        params: &[Value<'_>],
        otherwise: DbError,
    ) -> Result<(), DbError> {
        self.one_write()?;
        let statement = self.prepare(sql, None)?;
        let change = Queued::new(statement, params, Some(otherwise));
        self.counters.push(Counted { counter, sql: sql.to_owned(), change });
        Ok(())
    }

    /// Adds the rows of closures that share this transaction, as one statement for each table.
    pub(in crate::db) fn add_all(&mut self, sheet: Sheet) -> Result<(), DbError> {
        self.one_more()?;
        self.expected = sheet.expected;
        for (sql, rows) in sheet.rows {
            let one = self.prepare(&sql, None)?;
            let many = if rows.len() > 1 {
                for_many(&sql, one.params().iter().map(tokio_postgres::types::Type::name))
            } else {
                None
            };
            let Some(many) = many else {
                let queued = |params| Queued { statement: one.clone(), params, otherwise: None, more: None };
                self.queue.extend(rows.into_iter().map(queued));
                continue;
            };
            let mut columns: Vec<Vec<Value<'static>>> = Vec::new();
            columns.resize_with(one.params().len(), || Vec::with_capacity(rows.len()));
            for row in rows {
                columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            }
            let statement = self.prepare(&many, None)?;
            let params = columns.into_iter().map(Value::Many).collect();
            self.queue.push(Queued { statement, params, otherwise: None, more: None });
        }
        Ok(())
    }

    /// Makes sure that a number is this one; otherwise the transaction runs again.
    pub(in crate::db) fn unchanged(&mut self, subject: &str, number: u64) -> Result<(), DbError> {
        self.one_write()?;
        if !self.expected.iter().any(|(known, expected)| known == subject && *expected == number) {
            self.expected.push((subject.to_owned(), number));
        }
        if self.frame.is_transaction() { Ok(()) } else { self.settle() }
    }

    fn nothing_queued(&self) -> bool {
        self.queue.is_empty() && self.counters.is_empty() && self.expected.is_empty()
    }

    /// What travels with the next message.
    fn queued(&mut self) -> Result<Vec<Queued>, DbError> {
        if !self.expected.is_empty() {
            let (subjects, numbers) = std::mem::take(&mut self.expected)
                .into_iter()
                .map(|(subject, number)| (Value::Text(subject.into()), Value::from(number)))
                .unzip();
            let statement = self.prepare(COMPARE, None)?;
            let otherwise = DbError::Retry("what was remembered has changed".into());
            let params = vec![Value::Many(subjects), Value::Many(numbers)];
            self.queue.push(Queued { statement, params, otherwise: Some(otherwise), more: None });
        }
        let mut queue = std::mem::take(&mut self.queue);
        let several = |queued: &&mut Queued| queued.more.as_ref().is_some_and(|more| !more.rows.is_empty());
        for queued in queue.iter_mut().filter(several) {
            self.gather(queued)?;
        }
        Ok(queue)
    }

    /// Makes one statement of the changes of many rows.
    fn gather(&mut self, queued: &mut Queued) -> Result<(), DbError> {
        let Some(More { sql, rows }) = queued.more.take() else { return Ok(()) };
        let types = queued.statement.params().iter().map(tokio_postgres::types::Type::name);
        let changes = table_of_change(&sql).is_some();
        let many = match (changes, queued.otherwise.is_some()) {
            (true, _) => many_changes(&sql, types),
            (false, false) => for_many(&sql, types),
            (false, true) => for_many(&sql, types).map(|many| all_of(&many)),
        };
        let many =
            many.ok_or_else(|| self.fail(DbError::Internal(format!("this is not for rows: {sql}"))))?;
        let mut all = vec![std::mem::take(&mut queued.params)];
        all.extend(rows);
        if changes {
            // Each row is there once, so any order gives the same result. This one is the same everywhere, so that two
            // transactions that change the same rows never wait for each other in a circle.
            all.sort_by(|one, other| name_of(one).cmp(&name_of(other)));
        }
        let mut columns: Vec<Vec<Value<'static>>> = Vec::new();
        columns.resize_with(all.first().map_or(0, Vec::len), || Vec::with_capacity(all.len()));
        for row in all {
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        queued.statement = self.prepare(&many, None)?;
        self.wrote = true;
        queued.params = columns.into_iter().map(Value::Many).collect();
        Ok(())
    }

    fn put_off(&mut self, statement: Statement, params: &[Value<'_>], otherwise: Option<DbError>) {
        self.queue.push(Queued::new(statement, params, otherwise));
    }

    /// Waits for everything that is queued.
    fn settle(&mut self) -> Result<(), DbError> {
        self.flush(Last::Plain("")).map(|_| ())
    }

    pub(in crate::db) fn each(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        visit: impl FnMut(Row<'_>) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        if !only_reads(sql) {
            self.one_write()?;
        } else if self.foresight.on {
            self.foresight.want(sql, params);
            return Ok(());
        } else if let (Some(rows), None) = (self.foresight.answer(sql, params), &self.error) {
            return rows.iter().map(Row::numbered).try_for_each(visit);
        } else if let (Some(place), None) =
            (self.seen.iter().position(|(ahead, _)| ahead.is(sql, params)), &self.error)
        {
            let (_, rows) = self.seen.swap_remove(place);
            return rows.iter().map(Row::postgres).try_for_each(visit);
        } else {
            self.one_more()?;
        }
        if self.looks_ahead {
            if !self.ahead.iter().any(|ahead| ahead.is(sql, params)) {
                let statement = self.prepare(sql, None)?;
                let params = params.iter().cloned().map(Value::into_owned).collect();
                self.ahead.push(Ahead { sql: sql.to_owned(), statement, params });
            }
            return Ok(());
        }
        let statement = self.prepare(sql, None)?;
        self.ahead.retain(|ahead| !ahead.is(sql, params));
        let (_, rows) = self.flush(Last::Rows(statement, params))?;
        rows.iter().map(Row::postgres).try_for_each(visit)
    }

    /// Ends the transaction and keeps what it wrote.
    pub(in crate::db) fn commit(&mut self) -> Result<(), DbError> {
        if let Some(error) = &self.error {
            let error = error.clone();
            self.rollback();
            return Err(error);
        }
        if !self.frame.is_transaction() || (!self.begun && self.nothing_queued()) {
            return Ok(());
        }
        if !self.wrote && self.nothing_queued() {
            // It has only read, under locks perhaps: nobody has to wait for the end.
            self.tell("commit");
            return Ok(());
        }
        self.counters.sort_by_key(|counted| counted.counter);
        self.queue.extend(self.counters.drain(..).map(|counted| counted.change));
        let queue = self.queued()?;
        let Err((at_commit, broken)) = self.send(&queue, Last::Plain("commit"), &[]) else { return Ok(()) };
        // An answer that never came may have been yes, and so may that of a server that stopped meanwhile. After
        // an error of another statement, COMMIT is ROLLBACK.
        let uncertain = match &broken {
            Broken::Late => true,
            Broken::At(_, why) => why.code().is_none_or(|code| at_commit && code.code().starts_with("57")),
        };
        self.begun = false;
        Err(match self.why(broken, &queue) {
            DbError::Unavailable(why) if uncertain => DbError::Uncertain(why),
            why => why,
        })
    }

    /// Undoes everything. Nobody waits for the answer.
    pub(in crate::db) fn rollback(&mut self) {
        self.queue.clear();
        self.counters.clear();
        self.expected.clear();
        self.ahead.clear();
        self.seen.clear();
        self.foresight.clear();
        if self.begun && self.frame.is_transaction() && !self.late && !self.client.is_closed() {
            self.tell("rollback");
        }
        self.begun = false;
    }

    /// Sends a statement whose answer nobody wants.
    fn tell(&mut self, words: &'static str) {
        self.begun = false;
        let client = self.client.clone();
        self.runtime.block_on(async move {
            let mut said = pin!(client.batch_execute(words));
            // The first poll hands the message over; the task of the connection writes it before this one goes on.
            poll_fn(|context| {
                let _ = said.as_mut().poll(context);
                Poll::Ready(())
            })
            .await;
            tokio::task::yield_now().await;
        });
    }
}

/// The table of a statement that changes rows.
fn table_of_change(sql: &str) -> Option<&str> {
    sql.strip_prefix("update ")?.split(' ').next()
}

/// The texts among the first values of a row, which name it.
fn name_of<'v>(row: &'v [Value<'static>]) -> [Option<&'v str>; NAME] {
    std::array::from_fn(|place| match row.get(place) {
        Some(Value::Text(text)) => Some(&**text),
        _ => None,
    })
}

/// The statement that changes many rows, made of the one that changes one and the types of its parameters. It divides by
/// zero when it changes fewer.
fn many_changes<'t>(sql: &str, types: impl Iterator<Item = &'t str>) -> Option<String> {
    let (set, which) = sql.split_once(" where ")?;
    let (lists, names): (Vec<String>, Vec<String>) = types
        .enumerate()
        .map(|(place, name)| (format!("?{}::{name}[]", place + 1), format!("p{}", place + 1)))
        .unzip();
    Some(all_of(&format!(
        "{} from unnest({}) as r ({}) where {}",
        set.replace('?', "r.p"),
        lists.join(", "),
        names.join(", "),
        which.replace('?', "r.p"),
    )))
}

/// A statement for many rows that divides by zero when it adds or changes fewer.
fn all_of(many: &str) -> String {
    format!("with done as ({many} returning 1) select 1 / (count(*) = cardinality(?1))::int from done")
}

/// Whether a statement stores nothing, by its first word.
fn only_reads(sql: &str) -> bool {
    sql.trim_start().starts_with("select")
}

fn borrow<'a>(params: &'a [Value<'a>]) -> impl ExactSizeIterator<Item = &'a (dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync))
}

/// A message on its way to the server, with the answer that it will get.
type Sent<'a> = Pin<Box<dyn Future<Output = Result<Vec<PgRow>, Error>> + 'a>>;

/// Rows that a statement has changed, its rows, and those of what was looked ahead for.
type Answers = (u64, Vec<PgRow>, Vec<Vec<PgRow>>);

/// Polls all messages once in their order, so that they leave in it, and then waits for one after the other,
/// as their answers come. A COMMIT after an error answers ROLLBACK without an error, so the first error of any
/// of them is the outcome.
async fn in_order(mut sent: Vec<Sent<'_>>) -> Result<Vec<Vec<PgRow>>, (usize, Error)> {
    let mut early: Vec<Option<Result<Vec<PgRow>, Error>>> = Vec::with_capacity(sent.len());
    poll_fn(|context| {
        for message in &mut sent {
            early.push(match message.as_mut().poll(context) {
                Poll::Ready(answer) => Some(answer),
                Poll::Pending => None,
            });
        }
        Poll::Ready(())
    })
    .await;
    let mut outcome = Ok(Vec::with_capacity(sent.len()));
    for (place, (message, early)) in sent.into_iter().zip(early).enumerate() {
        let answer = match early {
            Some(answer) => answer,
            None => message.await,
        };
        match (answer, &mut outcome) {
            (Ok(rows), Ok(all)) => all.push(rows),
            (Err(why), Ok(_)) => {
                let over = why.code().is_none();
                outcome = Err((place, why));
                if over {
                    break;
                }
            }
            (_, Err(_)) => {}
        }
    }
    outcome
}

/// What the store calls an error of the server, or of the way to it.
pub(in crate::db) fn classify(error: &Error) -> DbError {
    let text = match std::error::Error::source(error) {
        Some(source) if error.code().is_none() => format!("{error}: {source}"),
        _ => error.to_string(),
    };
    let Some(code) = error.code() else { return DbError::Unavailable(text) };
    let detail = error.as_db_error().map_or(text, |db| db.message().to_owned());
    let class = &code.code()[..2];
    if *code == SqlState::UNIQUE_VIOLATION {
        DbError::Unique(error.as_db_error().and_then(|db| db.constraint()).unwrap_or_default().to_owned())
    } else if class == "40" || *code == SqlState::LOCK_NOT_AVAILABLE {
        DbError::Retry(detail)
    } else if matches!(class, "08" | "53" | "57" | "58")
        || [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT].contains(code)
    {
        DbError::Unavailable(detail)
    } else {
        DbError::Internal(format!("{}: {detail}", code.code()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_one_row_becomes_one_of_many() {
        let one = "update t set (a, b) = (?4, ?5), version = version + 1 where workspace = ?1 and id = ?2 and version = ?3";
        assert_eq!(
            many_changes(one, ["text", "text", "int8", "text", "int8"].into_iter()).as_deref(),
            Some(
                "with done as (update t set (a, b) = (r.p4, r.p5), version = version + 1 \
                 from unnest(?1::text[], ?2::text[], ?3::int8[], ?4::text[], ?5::int8[]) as r (p1, p2, p3, p4, p5) \
                 where workspace = r.p1 and id = r.p2 and version = r.p3 returning 1) \
                 select 1 / (count(*) = cardinality(?1))::int from done"
            )
        );
        assert_eq!(many_changes("delete from t", ["text"].into_iter()), None);
    }
}

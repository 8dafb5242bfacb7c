//! One transaction on one connection. Statements whose answers nobody waits for travel with the next that
//! somebody does, so that most transactions take one round trip for each read, and one for the commit.
//!
//! | file | holds |
//! |---|---|
//! | here | the transaction: its reads, what it looks ahead for, its end |
//! | `queue` | writes that travel with the next message, and rows that change alike |
//! | `sending` | messages on their way, their answers, and what errors mean |

mod queue;
mod sending;

pub(in crate::db) use sending::classify;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::{Client, Row as PgRow, Statement};

use self::queue::{Counted, Queued};
use self::sending::{Ahead, Broken, Last};
use super::super::{DbError, Row, Value, dialect};
use super::prefetched::{Prefetched, for_many_reads};
use super::server::Server;

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
    prefetched: Prefetched,
    /// The first error; nothing runs after it.
    error: Option<DbError>,
    /// A second statement came where one was expected.
    pub(in crate::db) wants_more: bool,
    /// The server did not answer in time: nothing can be said over this connection any more.
    pub(in crate::db) late: bool,
}

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
            prefetched: Prefetched::default(),
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

    /// Lets the reads that follow travel behind the next message, until it is told otherwise. Until then they find
    /// nothing; when they are asked for again, the answers are there.
    pub(in crate::db) fn look_ahead(&mut self, on: bool) {
        self.looks_ahead = on && self.frame.is_transaction();
    }

    /// Until it is told otherwise, reads are only noted, and find nothing. Returns whether that makes sense here.
    pub(in crate::db) fn begin_prefetch(&mut self) -> bool {
        self.prefetched.on = self.frame.is_transaction();
        self.prefetched.on
    }

    /// Makes the reads that were noted, those with the same text with one statement, and keeps what they find.
    pub(in crate::db) fn end_prefetch(&mut self) -> Result<(), DbError> {
        self.prefetched.on = false;
        let wanted = self.prefetched.wanted();
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
            self.prefetched.learn(wanted, found);
        }
        Ok(())
    }

    /// A write comes: what was seen may be different afterwards.
    fn one_write(&mut self) -> Result<(), DbError> {
        if self.looks_ahead || self.prefetched.on {
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

    pub(in crate::db) fn each(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        visit: &mut dyn FnMut(Row<'_>) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        if !only_reads(sql) {
            self.one_write()?;
        } else if self.prefetched.on {
            self.prefetched.want(sql, params);
            return Ok(());
        } else if let (Some(rows), None) = (self.prefetched.answer(sql, params), &self.error) {
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
        self.put_off_counters();
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
        self.prefetched.clear();
        if self.begun && self.frame.is_transaction() && !self.late && !self.client.is_closed() {
            self.tell("rollback");
        }
        self.begun = false;
    }
}

/// Whether a statement stores nothing, by its first word.
fn only_reads(sql: &str) -> bool {
    sql.trim_start().starts_with("select")
}

//! One transaction on one connection. Statements whose results nobody awaits are sent with the next awaited one, so most
//! transactions take one round trip for each read and one for the commit.
//!
//! | file | holds |
//! |---|---|
//! | here | the transaction: its reads, pipelined reads, prefetch, its end |
//! | `queue` | queued writes, and rows that are batched into one statement |
//! | `sending` | messages in flight and their answers |

mod queue;
mod sending;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::{Client, Row as PgRow, Statement};

use self::queue::{Counted, Queued};
use self::sending::{Awaited, PipelinedRead, SendError};
use super::super::dialect;
use super::super::error::DbError;
use super::super::row::Row;
use super::super::value::Value;
use super::prefetched::{Prefetched, for_many_reads};
use super::server::Server;

/// A statement that a connection keeps prepared.
#[derive(Clone)]
struct Prepared {
    statement: Statement,
    /// Whether it stores nothing.
    reads: bool,
}

/// The prepared statements of one connection.
#[derive(Default)]
pub(in crate::db) struct PreparedStatements(HashMap<String, Prepared>);

impl PreparedStatements {
    pub(in crate::db) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The timeout of an answer: at most `most`, and only while the host is reachable.
#[derive(Clone)]
pub(in crate::db) struct AnswerTimeout {
    pub(in crate::db) most: Duration,
    pub(in crate::db) server: Server,
    pub(in crate::db) host: usize,
}

impl AnswerTimeout {
    async fn wait<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        self.server.answer(self.host, self.most, answer).await
    }
}

/// The transaction around the statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::db) enum Frame {
    /// A transaction, which begins with this statement.
    Transaction(&'static str),
    /// Autocommit of one statement, which only reads. At a second one the closure runs again in a transaction.
    Single,
    /// Autocommit of one statement that writes. A second one is an error.
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
    pub(in crate::db) prepared: PreparedStatements,
    frame: Frame,
    timeout: AnswerTimeout,
    /// Whether the transaction has begun on the server.
    begun: bool,
    /// Whether a write was sent.
    wrote: bool,
    queue: Vec<Queued>,
    /// Counters to update with the commit.
    counters: Vec<Counted>,
    /// Generations to compare at the commit.
    expected: Vec<(String, u64)>,
    /// Whether reads are only queued, to be sent with the next message.
    pipelining: bool,
    pipelined: Vec<PipelinedRead>,
    /// Answers to pipelined reads. A write invalidates them.
    answers: Vec<(PipelinedRead, Vec<PgRow>)>,
    prefetched: Prefetched,
    /// The first error; nothing runs after it.
    error: Option<DbError>,
    /// A second statement came in autocommit.
    pub(in crate::db) wants_more: bool,
    /// The server did not answer in time: the connection is unusable.
    pub(in crate::db) late: bool,
}

impl PgTx {
    pub(in crate::db) fn new(
        runtime: Arc<tokio::runtime::Runtime>,
        client: Arc<Client>,
        prepared: PreparedStatements,
        frame: Frame,
        timeout: AnswerTimeout,
    ) -> Self {
        Self {
            runtime,
            client,
            prepared,
            frame,
            timeout,
            begun: false,
            wrote: false,
            queue: Vec::new(),
            counters: Vec::new(),
            expected: Vec::new(),
            pipelining: false,
            pipelined: Vec::new(),
            answers: Vec::new(),
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

    /// Begins a statement; in autocommit only one is allowed.
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
        // A statement that checks its row count divides by zero at any other count. The commit that is pipelined behind it
        // then rolls back.
        let key = must.map(|rows| {
            format!("with done as ({sql} returning 1) select 1 / (count(*) = {rows})::int from done")
        });
        let key = key.as_deref().unwrap_or(sql);
        if let Some(known) = self.prepared.0.get(key) {
            self.wrote |= !known.reads;
            return Ok(known.statement.clone());
        }
        let text = dialect::for_postgres(key);
        let client = self.client.clone();
        let prepared = self.runtime.block_on(async {
            match self.timeout.wait(client.prepare(&text)).await {
                Some(prepared) => prepared.map_err(|why| SendError::At(0, why)),
                None => Err(SendError::Late),
            }
        });
        match prepared {
            Ok(statement) => {
                let reads = only_reads(&text);
                self.wrote |= !reads;
                if !key.contains(dialect::PLANNED_ANEW) {
                    self.prepared.0.insert(key.to_owned(), Prepared { statement: statement.clone(), reads });
                }
                Ok(statement)
            }
            Err(why) => {
                // The statement has not run, so the outcome is certain.
                let why = match self.why(why, &[]) {
                    DbError::Uncertain(why) => DbError::Unavailable(why),
                    why => why,
                };
                Err(self.fail(why))
            }
        }
    }

    /// From here on reads are queued and return nothing; see [`Tx::pipeline_reads`](crate::db::Tx::pipeline_reads).
    pub(in crate::db) fn begin_pipelining(&mut self) {
        self.pipelining = self.frame.is_transaction();
    }

    pub(in crate::db) fn end_pipelining(&mut self) {
        self.pipelining = false;
    }

    /// From here on reads are collected and return nothing. Returns `false` outside of a transaction.
    pub(in crate::db) fn begin_prefetch(&mut self) -> bool {
        self.prefetched.on = self.frame.is_transaction();
        self.prefetched.on
    }

    /// Sends the collected reads, those of one text as one statement, and keeps their answers.
    pub(in crate::db) fn end_prefetch(&mut self) -> Result<(), DbError> {
        self.prefetched.on = false;
        let collected = self.prefetched.take_collected();
        if collected.is_empty() {
            return Ok(());
        }
        self.one_more()?;
        let mut reads = Vec::with_capacity(collected.len());
        for collected in &collected {
            let one = self.prepare(&collected.sql, None)?;
            let sql =
                for_many_reads(&collected.sql, one.params().iter().map(tokio_postgres::types::Type::name));
            reads.push(PipelinedRead {
                statement: self.prepare(&sql, None)?,
                params: collected.columns(),
                sql,
            });
        }
        let queue = self.queued()?;
        let Some((first, others)) = reads.split_first() else { return Ok(()) };
        let (found, others) =
            match self.send(&queue, Awaited::Rows(first.statement.clone(), &first.params), others) {
                Ok((_, found, others)) => (found, others),
                Err((_, error)) => {
                    let why = self.why(error, &queue);
                    return Err(self.fail(why));
                }
            };
        for (collected, found) in collected.into_iter().zip(std::iter::once(found).chain(others)) {
            self.prefetched.store_answers(collected, found);
        }
        Ok(())
    }

    /// Begins a write, which invalidates the answers of pipelined reads.
    fn one_write(&mut self) -> Result<(), DbError> {
        if self.pipelining || self.prefetched.on {
            return Err(DbError::Retry("nothing is written while reads are collected".into()));
        }
        self.answers.clear();
        self.one_more()
    }

    pub(in crate::db) fn exec(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, DbError> {
        self.one_write()?;
        let statement = self.prepare(sql, None)?;
        self.flush(Awaited::Exec(statement, params)).map(|(changed, _)| changed)
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
            self.prefetched.collect_read(sql, params);
            return Ok(());
        } else if let (Some(rows), None) = (self.prefetched.answer(sql, params), &self.error) {
            return rows.iter().map(Row::numbered).try_for_each(visit);
        } else if let (Some(position), None) =
            (self.answers.iter().position(|(read, _)| read.is(sql, params)), &self.error)
        {
            let (_, rows) = self.answers.swap_remove(position);
            return rows.iter().map(Row::postgres).try_for_each(visit);
        } else {
            self.one_more()?;
        }
        if self.pipelining {
            if !self.pipelined.iter().any(|read| read.is(sql, params)) {
                let statement = self.prepare(sql, None)?;
                let params = params.iter().cloned().map(Value::into_owned).collect();
                self.pipelined.push(PipelinedRead { sql: sql.to_owned(), statement, params });
            }
            return Ok(());
        }
        let statement = self.prepare(sql, None)?;
        self.pipelined.retain(|read| !read.is(sql, params));
        let (_, rows) = self.flush(Awaited::Rows(statement, params))?;
        rows.iter().map(Row::postgres).try_for_each(visit)
    }

    /// Commits the transaction.
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
            // It has only read, perhaps with locks: the answer is not awaited.
            self.send_only("commit");
            return Ok(());
        }
        self.queue_counters();
        let queue = self.queued()?;
        let Err((at_commit, error)) = self.send(&queue, Awaited::Plain("commit"), &[]) else { return Ok(()) };
        // Without an answer, or if the server shut down, the commit may have succeeded. After an error of another
        // statement, COMMIT is ROLLBACK.
        let uncertain = match &error {
            SendError::Late => true,
            SendError::At(_, why) => why.code().is_none_or(|code| at_commit && code.code().starts_with("57")),
        };
        self.begun = false;
        Err(match self.why(error, &queue) {
            DbError::Unavailable(why) if uncertain => DbError::Uncertain(why),
            why => why,
        })
    }

    /// Rolls back without waiting for the answer.
    pub(in crate::db) fn rollback(&mut self) {
        self.queue.clear();
        self.counters.clear();
        self.expected.clear();
        self.pipelined.clear();
        self.answers.clear();
        self.prefetched.clear();
        if self.begun && self.frame.is_transaction() && !self.late && !self.client.is_closed() {
            self.send_only("rollback");
        }
        self.begun = false;
    }
}

/// Whether a statement stores nothing, by its first word.
fn only_reads(sql: &str) -> bool {
    sql.trim_start().starts_with("select")
}

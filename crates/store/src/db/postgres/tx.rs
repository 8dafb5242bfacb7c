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

use super::super::{DbError, Must, Row, Value, dialect};

/// A statement that a connection keeps prepared.
#[derive(Clone)]
struct Prepared {
    statement: Statement,
    /// Whether it stores nothing.
    reads: bool,
}

/// The statements that one connection keeps prepared.
#[derive(Default)]
pub(super) struct Known(HashMap<String, Prepared>);

impl Known {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// What surrounds the statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// A transaction, which begins with this statement.
    Transaction(&'static str),
    /// Nothing: there is one statement, which is a transaction by itself.
    Single,
}

/// A write that travels with the next message.
struct Queued {
    statement: Statement,
    params: Vec<Value<'static>>,
    /// The error of the transaction when the statement divides by zero.
    otherwise: Option<DbError>,
}

/// Why messages failed: which of them was the first, and how.
enum Broken {
    At(usize, Error),
    /// No answer came in time.
    Late,
}

/// One transaction on one connection.
pub(super) struct PgTx {
    runtime: Arc<tokio::runtime::Runtime>,
    client: Arc<Client>,
    pub(super) known: Known,
    frame: Frame,
    /// Longest wait for an answer.
    patience: Duration,
    /// Whether the transaction has begun on the server.
    begun: bool,
    /// Whether something was sent that is to be stored.
    wrote: bool,
    queue: Vec<Queued>,
    /// The first error; nothing runs after it.
    error: Option<DbError>,
    /// A second statement came where one was expected.
    pub(super) wants_more: bool,
    /// The server did not answer in time: nothing can be said over this connection any more.
    pub(super) late: bool,
}

/// The message that is waited for.
enum Last<'a> {
    Rows(Statement, &'a [Value<'a>]),
    Exec(Statement, &'a [Value<'a>]),
    Plain(&'static str),
}

const LATE: &str = "the server does not answer";

impl PgTx {
    pub(super) fn new(
        runtime: Arc<tokio::runtime::Runtime>,
        client: Arc<Client>,
        known: Known,
        frame: Frame,
        patience: Duration,
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
            error: None,
            wants_more: false,
            late: false,
        }
    }

    /// The first error.
    pub(super) fn error(&self) -> Option<&DbError> {
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
        if self.frame == Frame::Single && std::mem::replace(&mut self.begun, true) {
            self.wants_more = true;
            return Err(self.fail(DbError::Retry("a second statement wants a transaction".into())));
        }
        Ok(())
    }

    fn prepare(&mut self, sql: &str, must: Option<u64>) -> Result<Statement, DbError> {
        // Whoever must change so many rows divides by zero otherwise, so that the commit that travels behind
        // undoes everything.
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
            match tokio::time::timeout(self.patience, client.prepare(&text)).await {
                Ok(prepared) => prepared.map_err(|why| Broken::At(0, why)),
                Err(_) => Err(Broken::Late),
            }
        });
        match prepared {
            Ok(statement) => {
                let reads = text.trim_start().starts_with("select");
                self.wrote |= !reads;
                self.known.0.insert(key.to_owned(), Prepared { statement: statement.clone(), reads });
                Ok(statement)
            }
            Err(why) => {
                let why = self.why(why, &[]);
                Err(self.fail(why))
            }
        }
    }

    /// What went wrong, in the words of the store.
    fn why(&mut self, broken: Broken, queue: &[Queued]) -> DbError {
        match broken {
            Broken::Late => {
                self.late = true;
                DbError::Unavailable(LATE.into())
            }
            Broken::At(place, why) => {
                let place = place.checked_sub(usize::from(matches!(self.frame, Frame::Transaction(_))));
                let otherwise = place.and_then(|place| queue.get(place)?.otherwise.clone());
                match otherwise {
                    Some(otherwise) if why.code() == Some(&SqlState::DIVISION_BY_ZERO) => otherwise,
                    _ => classify(&why),
                }
            }
        }
    }

    /// Sends what is queued and then `last`; waits for every answer and returns the last one.
    fn flush(&mut self, last: Last<'_>) -> Result<(u64, Vec<PgRow>), DbError> {
        let queue = std::mem::take(&mut self.queue);
        match self.send(&queue, last) {
            Ok(answer) => Ok(answer),
            Err((_, broken)) => {
                let why = self.why(broken, &queue);
                Err(self.fail(why))
            }
        }
    }

    /// The same; the first failure comes with whether it concerns `last`.
    fn send(&mut self, queue: &[Queued], last: Last<'_>) -> Result<(u64, Vec<PgRow>), (bool, Broken)> {
        let client = self.client.clone();
        let mut changed = 0;
        let mut sent: Vec<Sent<'_>> = Vec::with_capacity(queue.len() + 2);
        let (begin, patience) = (self.frame, self.patience);
        // The place of the opening statement is kept when it has been sent before.
        match begin {
            Frame::Transaction(begin) if !self.begun => {
                self.begun = true;
                sent.push(Box::pin(async { client.batch_execute(begin).await.map(|()| Vec::new()) }));
            }
            Frame::Transaction(_) => sent.push(Box::pin(std::future::ready(Ok(Vec::new())))),
            Frame::Single => {}
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
        let answer = self.runtime.block_on(async {
            match tokio::time::timeout(patience, in_order(sent)).await {
                Ok(Ok(rows)) => Ok(rows),
                Ok(Err((at, why))) => Err((at == place, Broken::At(at, why))),
                Err(_) => Err((true, Broken::Late)),
            }
        });
        answer.map(|rows| (changed, rows))
    }

    pub(super) fn exec(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, DbError> {
        self.one_more()?;
        let statement = self.prepare(sql, None)?;
        self.flush(Last::Exec(statement, params)).map(|(changed, _)| changed)
    }

    pub(super) fn later(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        if self.frame == Frame::Single {
            return self.exec(sql, params).map(|_| ());
        }
        self.one_more()?;
        let statement = self.prepare(sql, None)?;
        self.put_off(statement, params, None);
        Ok(())
    }

    /// Runs a statement that changes so many rows, or the transaction fails.
    pub(super) fn must(&mut self, sql: &str, params: &[Value<'_>], must: Must) -> Result<(), DbError> {
        self.one_more()?;
        let statement = self.prepare(sql, Some(must.rows))?;
        self.put_off(statement, params, Some(must.otherwise));
        if self.frame == Frame::Single { self.settle() } else { Ok(()) }
    }

    fn put_off(&mut self, statement: Statement, params: &[Value<'_>], otherwise: Option<DbError>) {
        let params = params.iter().cloned().map(Value::into_owned).collect();
        self.queue.push(Queued { statement, params, otherwise });
    }

    /// Waits for everything that is queued.
    fn settle(&mut self) -> Result<(), DbError> {
        self.flush(Last::Plain("")).map(|_| ())
    }

    pub(super) fn each(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        visit: impl FnMut(Row<'_>) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        self.one_more()?;
        let statement = self.prepare(sql, None)?;
        let (_, rows) = self.flush(Last::Rows(statement, params))?;
        rows.iter().map(Row::postgres).try_for_each(visit)
    }

    /// Ends the transaction and keeps what it wrote.
    pub(super) fn commit(&mut self) -> Result<(), DbError> {
        if let Some(error) = &self.error {
            let error = error.clone();
            self.rollback();
            return Err(error);
        }
        if self.frame == Frame::Single || (!self.begun && self.queue.is_empty()) {
            return Ok(());
        }
        if !self.wrote && self.queue.is_empty() {
            // It has only read, under locks perhaps: nobody has to wait for the end.
            self.tell("commit");
            return Ok(());
        }
        let queue = std::mem::take(&mut self.queue);
        let Err((at_commit, broken)) = self.send(&queue, Last::Plain("commit")) else { return Ok(()) };
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
    pub(super) fn rollback(&mut self) {
        self.queue.clear();
        if self.begun && self.frame != Frame::Single && !self.late && !self.client.is_closed() {
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

fn borrow<'a>(params: &'a [Value<'a>]) -> impl ExactSizeIterator<Item = &'a (dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync))
}

/// A message on its way to the server, with the answer that it will get.
type Sent<'a> = Pin<Box<dyn Future<Output = Result<Vec<PgRow>, Error>> + 'a>>;

/// Polls all messages once in their order, so that they leave in it, and then waits for one after the other,
/// as their answers come. A COMMIT after an error answers ROLLBACK without an error, so the first error of any
/// of them is the outcome.
async fn in_order(mut sent: Vec<Sent<'_>>) -> Result<Vec<PgRow>, (usize, Error)> {
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
    let mut outcome = Ok(Vec::new());
    for (place, (message, early)) in sent.into_iter().zip(early).enumerate() {
        let answer = match early {
            Some(answer) => answer,
            None => message.await,
        };
        match answer {
            Ok(rows) if outcome.is_ok() => outcome = Ok(rows),
            Err(why) if outcome.is_ok() => {
                let over = why.code().is_none();
                outcome = Err((place, why));
                if over {
                    break;
                }
            }
            Ok(_) | Err(_) => {}
        }
    }
    outcome
}

/// What the store calls an error of the server, or of the way to it.
pub(super) fn classify(error: &Error) -> DbError {
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

//! Messages on their way to the server, their answers, and what errors mean.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row as PgRow, Statement};

use super::queue::Queued;
use super::{Frame, PgTx};
use crate::db::{DbError, Value};

/// A read that travels behind the next message.
pub(super) struct Ahead {
    pub(super) sql: String,
    pub(super) statement: Statement,
    pub(super) params: Vec<Value<'static>>,
}

impl Ahead {
    pub(super) fn is(&self, sql: &str, params: &[Value<'_>]) -> bool {
        self.sql == sql && self.params.as_slice() == params
    }
}

/// Why messages failed: which of them was the first, and how.
pub(super) enum Broken {
    At(usize, Error),
    /// No answer came in time.
    Late,
}

/// The message that is waited for.
pub(super) enum Last<'a> {
    Rows(Statement, &'a [Value<'a>]),
    Exec(Statement, &'a [Value<'a>]),
    Plain(&'static str),
}

const LATE: &str = "the server does not answer";

impl PgTx {
    /// What went wrong, in the words of the store.
    pub(super) fn why(&mut self, broken: Broken, queue: &[Queued]) -> DbError {
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
    pub(super) fn flush(&mut self, last: Last<'_>) -> Result<(u64, Vec<PgRow>), DbError> {
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
    pub(super) fn send(
        &mut self,
        queue: &[Queued],
        last: Last<'_>,
        ahead: &[Ahead],
    ) -> Result<Answers, (bool, Broken)> {
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

    /// Waits for everything that is queued.
    pub(super) fn settle(&mut self) -> Result<(), DbError> {
        self.flush(Last::Plain("")).map(|_| ())
    }

    /// Sends a statement whose answer nobody wants.
    pub(super) fn tell(&mut self, words: &'static str) {
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

/// Rows that a statement has changed, its rows, and those of what was looked ahead for.
pub(super) type Answers = (u64, Vec<PgRow>, Vec<Vec<PgRow>>);

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

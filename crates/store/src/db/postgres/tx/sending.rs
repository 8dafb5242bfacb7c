//! Messages in flight to the server, and their answers.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row as PgRow, Statement};

use super::queue::Queued;
use super::{Frame, PgTx};
use crate::db::error::DbError;
use crate::db::postgres::error::classify;
use crate::db::value::Value;

/// A read that is sent with the next message.
pub(super) struct PipelinedRead {
    pub(super) sql: String,
    pub(super) statement: Statement,
    pub(super) params: Vec<Value<'static>>,
}

impl PipelinedRead {
    pub(super) fn is(&self, sql: &str, params: &[Value<'_>]) -> bool {
        self.sql == sql && self.params.as_slice() == params
    }
}

/// Why messages failed.
pub(super) enum SendError {
    /// The first that failed, by its position.
    At(usize, Error),
    /// No answer came in time.
    Late,
}

/// The message whose answer is awaited.
pub(super) enum Awaited<'a> {
    Rows(Statement, &'a [Value<'a>]),
    Exec(Statement, &'a [Value<'a>]),
    Plain(&'static str),
}

const LATE: &str = "the server does not answer";

impl PgTx {
    /// Maps an error to one of the store.
    pub(super) fn why(&mut self, error: SendError, queue: &[Queued]) -> DbError {
        // Whether a write may have been stored although its answer was lost.
        let mut lost = false;
        let why = match error {
            SendError::Late => {
                (self.late, lost) = (true, true);
                DbError::Unavailable(LATE.into())
            }
            SendError::At(place, why) => {
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

    /// Sends the queue and then `last`; waits for all answers and returns that of `last`.
    pub(super) fn flush(&mut self, last: Awaited<'_>) -> Result<(u64, Vec<PgRow>), DbError> {
        let queue = self.queued()?;
        let reads = std::mem::take(&mut self.pipelined);
        match self.send(&queue, last, &reads) {
            Ok((changed, rows, seen)) => {
                self.answers.extend(reads.into_iter().zip(seen));
                Ok((changed, rows))
            }
            Err((_, error)) => {
                let why = self.why(error, &queue);
                Err(self.fail(why))
            }
        }
    }

    /// Like [`flush`](Self::flush), with pipelined reads behind `last`. An error comes with whether it is that of `last`.
    pub(super) fn send(
        &mut self,
        queue: &[Queued],
        last: Awaited<'_>,
        reads: &[PipelinedRead],
    ) -> Result<Answers, (bool, SendError)> {
        let client = self.client.clone();
        let mut changed = 0;
        let mut sent: Vec<Sent<'_>> = Vec::with_capacity(queue.len() + 2);
        let begin = self.frame;
        // The opening statement keeps its position when it has been sent before.
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
            Awaited::Rows(statement, params) => {
                Box::pin(async move { client.query(&statement, &borrow(params).collect::<Vec<_>>()).await })
            }
            Awaited::Exec(statement, params) => Box::pin(async move {
                *count = client.execute_raw(&statement, borrow(params)).await?;
                Ok(Vec::new())
            }),
            Awaited::Plain(sql) => {
                Box::pin(async move { client.batch_execute(sql).await.map(|()| Vec::new()) })
            }
        });
        for PipelinedRead { statement, params, .. } in reads {
            sent.push(Box::pin(
                async move { client.query(statement, &borrow(params).collect::<Vec<_>>()).await },
            ));
        }
        let answers = self.runtime.block_on(async {
            match self.timeout.wait(in_order(sent)).await {
                Some(Ok(answers)) => Ok(answers),
                Some(Err((at, why))) => Err((at == place, SendError::At(at, why))),
                None => Err((true, SendError::Late)),
            }
        });
        let mut answers = answers?.into_iter().skip(place);
        let rows = answers.next().unwrap_or_default();
        Ok((changed, rows, answers.collect()))
    }

    /// Sends the queue and waits for its answers.
    pub(super) fn wait_for_queue(&mut self) -> Result<(), DbError> {
        self.flush(Awaited::Plain("")).map(|_| ())
    }

    /// Sends a statement without waiting for its answer.
    pub(super) fn send_only(&mut self, words: &'static str) {
        self.begun = false;
        let client = self.client.clone();
        self.runtime.block_on(async move {
            let mut said = pin!(client.batch_execute(words));
            // The first poll queues the message; the connection's task writes it before this one goes on.
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

/// A message in flight, which resolves to its answer.
type Sent<'a> = Pin<Box<dyn Future<Output = Result<Vec<PgRow>, Error>> + 'a>>;

/// The row count of the awaited statement, its rows, and those of the pipelined reads.
pub(super) type Answers = (u64, Vec<PgRow>, Vec<Vec<PgRow>>);

/// Polls all messages once, so that they are sent in their order, and then awaits the answers one after the other. The
/// first error is the outcome, since a COMMIT after an error answers ROLLBACK without an error.
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

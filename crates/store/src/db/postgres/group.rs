//! Closures that only add rows share a transaction: they need no answers of the server, so they run one after the
//! other without a word to it, and what they add leaves as one statement for each table, with BEGIN and COMMIT
//! around them, in one turn. A closure that needs anything else gets a transaction of its own. If the shared one
//! fails, each of its closures runs again by itself, so that only the one that is to blame hears of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::SyncSender;

use tokio::sync::oneshot;

use super::super::work::{Refusal, Work};
use super::super::{Aftermath, DbError, OnWake, Session, StoreMetrics, Tx, Value};
use super::lobby::Lobby;
use super::{Job, PATIENCE, PgSession, WRITE};

/// Closures that may share a transaction.
const GROUP: usize = 256;

/// What a closure adds.
#[derive(Default)]
pub(in crate::db) struct Sheet {
    /// The rows of each statement, in the order of the statements' first rows.
    pub(super) rows: Vec<(String, Vec<Vec<Value<'static>>>)>,
    /// Numbers of subjects that must be these.
    pub(super) expected: Vec<(String, u64)>,
    /// The closure needs a transaction of its own.
    wants_more: bool,
}

impl Sheet {
    pub(in crate::db) fn add(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        if self.wants_more {
            return Err(self.refuse());
        }
        let row = params.iter().cloned().map(Value::into_owned).collect();
        match self.rows.iter_mut().find(|(known, _)| known == sql) {
            Some((_, rows)) => rows.push(row),
            None => self.rows.push((sql.to_owned(), vec![row])),
        }
        Ok(())
    }

    pub(in crate::db) fn unchanged(&mut self, subject: &str, number: u64) -> Result<(), DbError> {
        if self.wants_more {
            return Err(self.refuse());
        }
        self.expected.push((subject.to_owned(), number));
        Ok(())
    }

    /// Whatever else a closure wants is not to be had here.
    pub(in crate::db) fn refuse(&mut self) -> DbError {
        self.wants_more = true;
        DbError::Retry("this needs a transaction of its own".into())
    }

    fn take(&mut self, other: Self) {
        for (sql, rows) in other.rows {
            match self.rows.iter_mut().find(|(known, _)| *known == sql) {
                Some((_, all)) => all.extend(rows),
                None => self.rows.push((sql, rows)),
            }
        }
        for expected in other.expected {
            if !self.expected.contains(&expected) {
                self.expected.push(expected);
            }
        }
    }
}

/// The statement that adds many rows at once, made of the one that adds one and the types of its parameters.
pub(super) fn for_many<'t>(sql: &str, types: impl Iterator<Item = &'t str>) -> Option<String> {
    let (into, rest) = sql.split_once(" values (")?;
    let mut depth = 1;
    let end = rest.find(|letter| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    })?;
    let (row, after) = (&rest[..end], &rest[end + 1..]);
    let (lists, names): (Vec<String>, Vec<String>) = types
        .enumerate()
        .map(|(place, name)| (format!("?{}::{name}[]", place + 1), format!("p{}", place + 1)))
        .unzip();
    let order = order_of(into, row, after).map(|order| format!(" order by {order}")).unwrap_or_default();
    Some(format!(
        "{into} select {} from unnest({}) as r ({}){order}{after}",
        row.replace('?', "r.p"),
        lists.join(", "),
        names.join(", ")
    ))
}

/// The order of the key that decides what is a repetition (`on conflict (a, b) …`), where the values are parameters
/// and nothing else. Two transactions that add the same rows take them in one order, so neither waits for the other
/// in a circle.
fn order_of(into: &str, row: &str, after: &str) -> Option<String> {
    let list = |text: &str| Some(text.split_once('(')?.1.split_once(')')?.0.to_owned());
    let (columns, key) = (list(into)?, list(after.trim_start().strip_prefix("on conflict ")?)?);
    let columns: Vec<&str> = columns.split(',').map(str::trim).collect();
    let values: Vec<&str> = row.split(',').map(str::trim).collect();
    let plain = |value: &&str| {
        value
            .strip_prefix('?')
            .filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
            .map(|place| format!("r.p{place}"))
    };
    if columns.len() != values.len() {
        return None;
    }
    let place =
        |name: &str| values.get(columns.iter().position(|column| *column == name.trim())?).and_then(plain);
    let order: Option<Vec<String>> = key.split(',').map(place).collect();
    order.map(|order| order.join(", "))
}

/// What becomes of a closure that wants to share a transaction.
enum Gathered {
    /// What it adds was noted.
    Rows,
    /// It needs a transaction of its own.
    Alone,
    /// Its caller has been answered.
    Answered,
}

/// Whether a closure is to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It waits for the commit.
    Waits,
    /// It was refused, or panicked: its caller has been answered.
    Answered,
    /// It was refused, perhaps because of something that has changed.
    Doubtful,
}

/// A closure that wants to share a transaction, with its caller.
pub(super) struct Guest {
    work: Work,
    send: Option<oneshot::Sender<Result<(), Refusal>>>,
    done: Option<Aftermath>,
    on_wake: OnWake,
    metrics: StoreMetrics,
}

impl Guest {
    pub(super) fn new(
        work: Work,
        send: oneshot::Sender<Result<(), Refusal>>,
        on_wake: OnWake,
        metrics: StoreMetrics,
    ) -> Self {
        Self { work, send: Some(send), done: None, on_wake, metrics }
    }

    fn tell(&mut self, answer: Result<(), Refusal>) {
        if let Some(send) = self.send.take() {
            let _ = send.send(answer);
        }
    }

    fn run(&mut self, sheet: &mut Sheet) -> Outcome {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut tx = Tx::new(Session::Sheet(sheet));
            (self.work)(&mut tx)?;
            Ok(tx.aftermath())
        }));
        match outcome {
            Ok(Ok(done)) => {
                self.done = Some(done);
                Outcome::Waits
            }
            _ if sheet.wants_more => Outcome::Doubtful,
            Ok(Err(_)) if !sheet.expected.is_empty() => Outcome::Doubtful,
            Ok(Err(refused)) => {
                self.tell(Err(refused));
                Outcome::Answered
            }
            Err(_) => {
                self.tell(Err(DbError::Internal("a transaction panicked".into()).into()));
                Outcome::Answered
            }
        }
    }

    /// Tells its caller what became of the shared transaction.
    fn answer(mut self, committed: Result<(), DbError>) {
        let answer = match (committed, self.done.take()) {
            (Ok(()), Some(aftermath)) => {
                aftermath.run(&self.on_wake);
                Ok(())
            }
            (Ok(()), None) => Err(DbError::Internal("a shared transaction has no outcome".into()).into()),
            (Err(why), done) => {
                if let (DbError::Uncertain(_), Some(aftermath)) = (&why, done) {
                    aftermath.doubt();
                }
                Err(why.into())
            }
        };
        self.tell(answer);
    }

    /// Where it waits for a transaction of its own, and whether what was remembered proved wrong.
    fn alone(mut self, again: bool) -> Job {
        Box::new(move |session| {
            let outcome = session.write(&mut self.work, (WRITE, PATIENCE), again, &self.metrics);
            let answer = outcome.map(|aftermath| aftermath.run(&self.on_wake));
            self.tell(answer);
        })
    }
}

fn gather(guest: &mut Guest, all: &mut Sheet) -> Gathered {
    let mut sheet = Sheet::default();
    match guest.run(&mut sheet) {
        Outcome::Answered => Gathered::Answered,
        Outcome::Waits if !sheet.wants_more => {
            all.take(sheet);
            Gathered::Rows
        }
        Outcome::Waits | Outcome::Doubtful => Gathered::Alone,
    }
}

/// Serves closures that want to share transactions. `singly` is where those wait that get one of their own.
pub(super) fn serve(
    lobby: &Lobby<Guest>,
    mut session: PgSession,
    singly: &SyncSender<Job>,
    metrics: &StoreMetrics,
) {
    let send = |job: Job| {
        metrics.queued.inc();
        // The threads behind end after this one.
        let _ = singly.send(job);
    };
    while let Some((guests, turn)) = lobby.next(GROUP) {
        for _ in &guests {
            metrics.queued.dec();
        }
        let mut all = Sheet::default();
        metrics.in_use.inc();
        let mut waiting = Vec::with_capacity(guests.len());
        for mut guest in guests {
            match gather(&mut guest, &mut all) {
                Gathered::Rows => waiting.push(guest),
                Gathered::Alone => send(guest.alone(false)),
                Gathered::Answered => {}
            }
        }
        if !waiting.is_empty() {
            metrics.batch_size.observe(waiting.len() as f64);
            match session.write_sheet(all, metrics) {
                Ok(()) => waiting.into_iter().for_each(|guest| guest.answer(Ok(()))),
                Err((why, Blame::Server)) => {
                    waiting.into_iter().for_each(|guest| guest.answer(Err(why.clone())));
                }
                Err((_, Blame::Somebody)) => waiting.into_iter().for_each(|guest| send(guest.alone(true))),
            }
        }
        metrics.in_use.dec();
        drop(turn);
    }
}

/// Who is to blame that a shared transaction failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blame {
    /// The server, or the way to it: it is the same for all.
    Server,
    /// Perhaps one of the closures.
    Somebody,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_for_one_row_becomes_one_for_many() {
        let one = "insert into t (a, b, c, d) values (?1, 'x', coalesce(?2, 0), ?1) on conflict do nothing";
        assert_eq!(
            for_many(one, ["text", "int8"].into_iter()).as_deref(),
            Some(
                "insert into t (a, b, c, d) select r.p1, 'x', coalesce(r.p2, 0), r.p1 from unnest(?1::text[], ?2::int8[]) as r (p1, p2) on conflict do nothing"
            )
        );
        assert_eq!(for_many("update t set a = ?1", ["text"].into_iter()), None);
        // What may be a repetition is added in the order of its key.
        let once = "insert into t (a, b, c) values (?1, ?2, ?3) on conflict (c, a) do nothing";
        assert_eq!(
            for_many(once, ["text", "text", "int8"].into_iter()).as_deref(),
            Some(
                "insert into t (a, b, c) select r.p1, r.p2, r.p3 from unnest(?1::text[], ?2::text[], ?3::int8[]) as r (p1, p2, p3) order by r.p3, r.p1 on conflict (c, a) do nothing"
            )
        );
    }
}

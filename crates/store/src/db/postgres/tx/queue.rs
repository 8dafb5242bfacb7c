//! Queued writes, and rows that are batched into one statement.

use tokio_postgres::Statement;

use super::super::add_batch::{AddBatch, for_many};
use super::PgTx;
use crate::db::counters::{Counter, Fold};
use crate::db::error::{DbError, Must};
use crate::db::value::Value;

/// The leading values that are the key of an updated row: workspace and id.
const KEY_WIDTH: usize = 2;
/// Most rows of one statement.
const MAX_ROWS: usize = 256;

/// Compares generations: lists of subjects and of numbers. It divides by zero if one of them differs.
const COMPARE: &str = "select 1 / (count(*) = 0)::int from unnest(?1::text[], ?2::bigint[]) as seen (subject, n) \
     left join lateral (select n from generations g where g.subject = seen.subject offset 0) g on true \
     where coalesce(g.n, 0) <> seen.n";

/// A write that is sent with the next message.
pub(super) struct Queued {
    pub(super) statement: Statement,
    pub(super) params: Vec<Value<'static>>,
    /// The error of the transaction when the statement divides by zero.
    pub(super) otherwise: Option<DbError>,
    /// More rows to update or insert, with the text for one ([`PgTx::change`], [`PgTx::add`]).
    more: Option<BatchRows>,
}

/// Rows of one statement.
struct BatchRows {
    sql: String,
    rows: Vec<Vec<Value<'static>>>,
}

impl Queued {
    fn new(statement: Statement, params: &[Value<'_>], otherwise: Option<DbError>) -> Self {
        let params = params.iter().cloned().map(Value::into_owned).collect();
        Self { statement, params, otherwise, more: None }
    }

    /// Whether it is a batch of inserts into this table.
    fn adds_to(&self, table: &str) -> bool {
        let into = self.more.as_ref().and_then(|more| more.sql.strip_prefix("insert into "));
        into.and_then(|rest| rest.split(' ').next()) == Some(table)
    }

    /// Whether it updates the row of this key.
    fn updates(&self, row: &[Value<'_>]) -> bool {
        let same =
            |known: &[Value<'_>]| known.iter().zip(row).take(KEY_WIDTH).all(|(one, other)| one == other);
        same(&self.params) || self.more.iter().flat_map(|more| &more.rows).any(|known| same(known))
    }
}

/// A change of a counter, which is sent with the commit.
pub(super) struct Counted {
    counter: Counter,
    sql: String,
    change: Queued,
}

impl PgTx {
    pub(in crate::db) fn later(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        if !self.frame.is_transaction() {
            return self.exec(sql, params).map(|_| ());
        }
        self.one_write()?;
        let statement = self.prepare(sql, None)?;
        self.enqueue(statement, params, None);
        Ok(())
    }

    /// See [`Tx::must`](crate::db::Tx::must).
    pub(in crate::db) fn must(&mut self, sql: &str, params: &[Value<'_>], must: Must) -> Result<(), DbError> {
        self.one_write()?;
        let statement = self.prepare(sql, Some(must.rows))?;
        self.enqueue(statement, params, Some(must.otherwise));
        if self.frame.is_transaction() { Ok(()) } else { self.wait_for_queue() }
    }

    /// See [`Tx::change`](crate::db::Tx::change).
    pub(in crate::db) fn change(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        otherwise: DbError,
    ) -> Result<(), DbError> {
        self.one_row(sql, params, otherwise, table_of_change(sql))
    }

    /// See [`Tx::add_new`](crate::db::Tx::add_new).
    pub(in crate::db) fn add_new(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        otherwise: DbError,
    ) -> Result<(), DbError> {
        self.one_row(sql, params, otherwise, None)
    }

    /// Inserts one row, or updates one of `table`; otherwise the transaction fails.
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
        let more = Some(BatchRows { sql: sql.to_owned(), rows: Vec::new() });
        self.queue.push(Queued { more, ..Queued::new(statement, params, Some(otherwise)) });
        Ok(())
    }

    /// See [`Tx::add`](crate::db::Tx::add).
    pub(in crate::db) fn add(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        if !self.frame.is_transaction() {
            return self.exec(sql, params).map(|_| ());
        }
        self.one_write()?;
        if self.join(sql, params, None) {
            return Ok(());
        }
        let statement = self.prepare(sql, None)?;
        let more = Some(BatchRows { sql: sql.to_owned(), rows: Vec::new() });
        self.queue.push(Queued { more, ..Queued::new(statement, params, None) });
        Ok(())
    }

    /// Adds a row to a queued statement of the same text; returns `false` if there is none. The row thereby moves ahead of
    /// other batched updates and inserts, but not of any other queued statement. An update of `table` never moves ahead of
    /// another update of the same row, nor of an insert into the table, which may be that row.
    fn join(&mut self, sql: &str, params: &[Value<'_>], table: Option<&str>) -> bool {
        // The earliest possible statement. With the latest one, rows that are each updated twice would become statements of
        // two rows: the second update of one row with the first of the next.
        let mut found = None;
        for queued in self.queue.iter_mut().rev() {
            let same = table.is_some_and(|table| queued.adds_to(table) || queued.updates(params));
            let Some(more) = queued.more.as_mut().filter(|_| !same) else { break };
            if more.sql == sql && more.rows.len() + 1 < MAX_ROWS {
                found = Some(more);
            }
        }
        let Some(more) = found else { return false };
        more.rows.push(params.iter().cloned().map(Value::into_owned).collect());
        true
    }

    /// See [`Tx::tally`](crate::db::Tx::tally).
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

    /// See [`Tx::count_checked`](crate::db::Tx::count_checked).
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

    /// Queues the changes of counters in the order of [`Counter`]. Adjacent inserts of one text become one statement, which
    /// locks their rows in the same order.
    pub(super) fn queue_counters(&mut self) {
        self.counters.sort_by_key(|counted| counted.counter);
        let mut before = None;
        for Counted { counter, sql, mut change } in std::mem::take(&mut self.counters) {
            let adds = sql.starts_with("insert into ") && change.otherwise.is_none();
            let joins = adds && before.is_some_and(|before| before != counter);
            before = adds.then_some(counter);
            let last = self.queue.last_mut().filter(|_| joins).and_then(|last| last.more.as_mut());
            if let Some(more) = last.filter(|more| more.sql == sql && more.rows.len() + 1 < MAX_ROWS) {
                more.rows.push(change.params);
                continue;
            }
            change.more = adds.then(|| BatchRows { sql, rows: Vec::new() });
            self.queue.push(change);
        }
    }

    /// Inserts the rows of a batch, as one statement for each table.
    pub(in crate::db) fn add_all(&mut self, batch: AddBatch) -> Result<(), DbError> {
        self.one_more()?;
        self.expected = batch.expected;
        for (sql, rows) in batch.rows {
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

    /// See [`Tx::unchanged`](crate::db::Tx::unchanged).
    pub(in crate::db) fn unchanged(&mut self, subject: &str, number: u64) -> Result<(), DbError> {
        self.one_write()?;
        if !self.expected.iter().any(|(known, expected)| known == subject && *expected == number) {
            self.expected.push((subject.to_owned(), number));
        }
        if self.frame.is_transaction() { Ok(()) } else { self.wait_for_queue() }
    }

    pub(super) fn nothing_queued(&self) -> bool {
        self.queue.is_empty() && self.counters.is_empty() && self.expected.is_empty()
    }

    /// Takes the queue, to be sent.
    pub(super) fn queued(&mut self) -> Result<Vec<Queued>, DbError> {
        if !self.expected.is_empty() {
            let (subjects, numbers) = std::mem::take(&mut self.expected)
                .into_iter()
                .map(|(subject, number)| (Value::Text(subject.into()), Value::from(number)))
                .unzip();
            let statement = self.prepare(COMPARE, None)?;
            let otherwise = DbError::Retry("a cached generation is stale".into());
            let params = vec![Value::Many(subjects), Value::Many(numbers)];
            self.queue.push(Queued { statement, params, otherwise: Some(otherwise), more: None });
        }
        let mut queue = std::mem::take(&mut self.queue);
        let several = |queued: &&mut Queued| queued.more.as_ref().is_some_and(|more| !more.rows.is_empty());
        for queued in queue.iter_mut().filter(several) {
            self.build_batch(queued)?;
        }
        Ok(queue)
    }

    /// Builds one statement of the queued rows.
    fn build_batch(&mut self, queued: &mut Queued) -> Result<(), DbError> {
        let Some(BatchRows { sql, rows }) = queued.more.take() else { return Ok(()) };
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
            // Each row occurs once, so any order gives the same result. This one is the same everywhere, so that two
            // transactions that update the same rows do not deadlock.
            all.sort_by(|one, other| key_of(one).cmp(&key_of(other)));
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

    fn enqueue(&mut self, statement: Statement, params: &[Value<'_>], otherwise: Option<DbError>) {
        self.queue.push(Queued::new(statement, params, otherwise));
    }
}

/// The table of an update.
fn table_of_change(sql: &str) -> Option<&str> {
    sql.strip_prefix("update ")?.split(' ').next()
}

/// The key of a row: the texts among its first values.
fn key_of<'v>(row: &'v [Value<'static>]) -> [Option<&'v str>; KEY_WIDTH] {
    std::array::from_fn(|place| match row.get(place) {
        Some(Value::Text(text)) => Some(&**text),
        _ => None,
    })
}

/// Builds the update of many rows from that of one and the types of its parameters. It divides by zero if it updates
/// fewer.
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

/// A statement for many rows that divides by zero if it inserts or updates fewer.
fn all_of(many: &str) -> String {
    format!("with done as ({many} returning 1) select 1 / (count(*) = cardinality(?1))::int from done")
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

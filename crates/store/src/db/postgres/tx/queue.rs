//! Writes that travel with the next message, and rows that are changed or added alike.

use tokio_postgres::Statement;

use super::super::group::{Sheet, for_many};
use super::PgTx;
use crate::db::{Counter, DbError, Fold, Must, Value};
use crate::generations::COMPARE;

/// Values that name a row which is changed: its workspace and its id.
const NAME: usize = 2;
/// Rows of one statement at most.
const TOGETHER: usize = 256;

/// A write that travels with the next message.
pub(super) struct Queued {
    pub(super) statement: Statement,
    pub(super) params: Vec<Value<'static>>,
    /// The error of the transaction when the statement divides by zero.
    pub(super) otherwise: Option<DbError>,
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
        // The earliest one that it can travel with. With the latest one, rows that are each changed twice would make a stair
        // of statements with two rows: the second change of one row with the first of the next.
        let mut found = None;
        for queued in self.queue.iter_mut().rev() {
            let same = table.is_some_and(|table| queued.adds_to(table) || queued.names(params));
            let Some(more) = queued.more.as_mut().filter(|_| !same) else { break };
            if more.sql == sql && more.rows.len() + 1 < TOGETHER {
                found = Some(more);
            }
        }
        let Some(more) = found else { return false };
        more.rows.push(params.iter().cloned().map(Value::into_owned).collect());
        true
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

    /// Queues the changes of counters, in the order of the counters. Different ones that follow each other and are added to
    /// alike become one statement, which takes their rows in the same order.
    pub(super) fn put_off_counters(&mut self) {
        self.counters.sort_by_key(|counted| counted.counter);
        let mut before = None;
        for Counted { counter, sql, mut change } in std::mem::take(&mut self.counters) {
            let adds = sql.starts_with("insert into ") && change.otherwise.is_none();
            let joins = adds && before.is_some_and(|before| before != counter);
            before = adds.then_some(counter);
            let last = self.queue.last_mut().filter(|_| joins).and_then(|last| last.more.as_mut());
            if let Some(more) = last.filter(|more| more.sql == sql && more.rows.len() + 1 < TOGETHER) {
                more.rows.push(change.params);
                continue;
            }
            change.more = adds.then(|| More { sql, rows: Vec::new() });
            self.queue.push(change);
        }
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

    pub(super) fn nothing_queued(&self) -> bool {
        self.queue.is_empty() && self.counters.is_empty() && self.expected.is_empty()
    }

    /// What travels with the next message.
    pub(super) fn queued(&mut self) -> Result<Vec<Queued>, DbError> {
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

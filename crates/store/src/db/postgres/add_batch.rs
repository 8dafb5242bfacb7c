//! Rows that several closures insert in one shared transaction, as one statement for each table.

use super::super::error::DbError;
use super::super::value::Value;

/// The inserts of one closure, or of several.
#[derive(Default)]
pub(in crate::db) struct AddBatch {
    /// The rows of each statement, in the order of the statements' first rows.
    pub(super) rows: Vec<(String, Vec<Vec<Value<'static>>>)>,
    /// Generations to compare at the commit.
    pub(super) expected: Vec<(String, u64)>,
    /// The closure needs a transaction of its own.
    pub(super) wants_more: bool,
}

impl AddBatch {
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

    /// Refuses any other statement: the closure needs a transaction of its own.
    pub(in crate::db) fn refuse(&mut self) -> DbError {
        self.wants_more = true;
        DbError::Retry("this needs a transaction of its own".into())
    }

    pub(super) fn merge(&mut self, other: Self) {
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

/// Builds the insert of many rows from that of one and the types of its parameters.
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

/// The order by the conflict key (`on conflict (a, b) …`), if its values are plain parameters. Two transactions that insert
/// the same rows lock them in one order, so they do not deadlock.
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
        // Rows that may conflict are inserted in the order of their key.
        let once = "insert into t (a, b, c) values (?1, ?2, ?3) on conflict (c, a) do nothing";
        assert_eq!(
            for_many(once, ["text", "text", "int8"].into_iter()).as_deref(),
            Some(
                "insert into t (a, b, c) select r.p1, r.p2, r.p3 from unnest(?1::text[], ?2::text[], ?3::int8[]) as r (p1, p2, p3) order by r.p3, r.p1 on conflict (c, a) do nothing"
            )
        );
    }
}

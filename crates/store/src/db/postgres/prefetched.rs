//! Prefetched reads of a batch of requests: those with the same text become one statement, and all are sent in one round
//! trip ([`Tx::prefetch`](crate::db::Tx::prefetch)).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;

use tokio_postgres::Row as PgRow;

use super::super::value::Value;

/// The reads to send, and the answers.
#[derive(Default)]
pub(super) struct Prefetched {
    /// Whether reads are only collected.
    pub(super) on: bool,
    collected: Vec<CollectedRead>,
    answers: HashMap<String, HashMap<String, Answer>>,
}

/// Reads of one text.
pub(super) struct CollectedRead {
    pub(super) sql: String,
    /// Their parameters by key. Every transaction locks rows in this order.
    reads: BTreeMap<String, Vec<Value<'static>>>,
}

struct Answer {
    rows: Arc<Vec<PgRow>>,
    /// Whether it is used once.
    once: bool,
}

/// A key of the parameters; `None` for types that no read is keyed by.
fn key_of(params: &[Value<'_>]) -> Option<String> {
    let mut key = String::with_capacity(params.len() * 40);
    for value in params {
        match value {
            Value::Null => key.push('n'),
            Value::Int(number) => {
                // Writing to a text does not fail.
                let _ = write!(key, "i{number}");
            }
            // The length makes the key unambiguous.
            Value::Text(text) => {
                let _ = write!(key, "t{}:{text}", text.len());
            }
            Value::Real(_) | Value::Bytes(_) | Value::Many(_) => return None,
        }
    }
    (!params.is_empty()).then_some(key)
}

/// Whether a read locks its rows.
fn locks(sql: &str) -> bool {
    sql.contains("/*pg for ")
}

impl Prefetched {
    /// Collects a read.
    pub(super) fn collect_read(&mut self, sql: &str, params: &[Value<'_>]) {
        let Some(key) = key_of(params) else { return };
        let place = self.collected.iter().position(|collected| collected.sql == sql).unwrap_or_else(|| {
            self.collected.push(CollectedRead { sql: sql.to_owned(), reads: BTreeMap::new() });
            self.collected.len() - 1
        });
        let owned = || params.iter().cloned().map(Value::into_owned).collect();
        self.collected[place].reads.entry(key).or_insert_with(owned);
    }

    pub(super) fn take_collected(&mut self) -> Vec<CollectedRead> {
        std::mem::take(&mut self.collected)
    }

    /// Stores the answers to reads of one text. The last column of each row is the number of its read, from 1.
    pub(super) fn store_answers(&mut self, collected: CollectedRead, rows: Vec<PgRow>) {
        let once = locks(&collected.sql);
        let mut found: Vec<Vec<PgRow>> = Vec::new();
        found.resize_with(collected.reads.len(), Vec::new);
        for row in rows {
            let place: Option<i64> = row.len().checked_sub(1).and_then(|last| row.try_get(last).ok());
            let place = place.and_then(|place| usize::try_from(place - 1).ok());
            if let Some(rows) = place.and_then(|place| found.get_mut(place)) {
                rows.push(row);
            }
        }
        let answers = collected.reads.into_keys().zip(found).map(|(key, rows)| {
            // The reader of a missing row may insert it, so the next read goes to the server.
            let once = once || rows.is_empty();
            (key, Answer { rows: Arc::new(rows), once })
        });
        self.answers.entry(collected.sql).or_default().extend(answers);
    }

    /// The prefetched answer to a read.
    pub(super) fn answer(&mut self, sql: &str, params: &[Value<'_>]) -> Option<Arc<Vec<PgRow>>> {
        let answers = self.answers.get_mut(sql)?;
        let key = key_of(params)?;
        let answer = answers.get(&key)?;
        let rows = answer.rows.clone();
        if answer.once {
            answers.remove(&key);
        }
        Some(rows)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl CollectedRead {
    /// The parameters of the one statement: a list for each parameter.
    pub(super) fn columns(&self) -> Vec<Value<'static>> {
        let width = self.reads.values().next().map_or(0, Vec::len);
        let mut columns: Vec<Vec<Value<'static>>> = Vec::new();
        columns.resize_with(width, || Vec::with_capacity(self.reads.len()));
        for params in self.reads.values() {
            columns.iter_mut().zip(params).for_each(|(column, value)| column.push(value.clone()));
        }
        columns.into_iter().map(Value::Many).collect()
    }
}

/// Builds the statement of many reads from that of one and the types of its parameters.
pub(super) fn for_many_reads<'t>(sql: &str, types: impl Iterator<Item = &'t str>) -> String {
    let (lists, names): (Vec<String>, Vec<String>) = types
        .enumerate()
        .map(|(place, key)| (format!("?{}::{key}[]", place + 1), format!("p{}", place + 1)))
        .unzip();
    format!(
        "select found.*, asked.n from unnest({}) with ordinality as asked ({}, n) cross join lateral ({}) found",
        lists.join(", "),
        names.join(", "),
        sql.replace('?', "asked.p"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_one_text_become_one_statement() {
        assert_eq!(
            for_many_reads(
                "select a from t where workspace = ?1 and id = ?2 /*pg for update*/",
                ["text", "int8"].into_iter()
            ),
            "select found.*, asked.n from unnest(?1::text[], ?2::int8[]) with ordinality as asked (p1, p2, n) \
             cross join lateral (select a from t where workspace = asked.p1 and id = asked.p2 /*pg for update*/) found"
        );
    }

    #[test]
    fn equal_parameters_are_noted_once_and_in_order() {
        let mut prefetched = Prefetched::default();
        for id in ["b", "a", "b"] {
            prefetched.collect_read("select 1", &["w".into(), id.into()]);
        }
        prefetched.collect_read("select 1", &[1.5.into()]);
        prefetched.collect_read("select 1", &[]);
        let collected = prefetched.take_collected();
        assert_eq!(collected.len(), 1);
        let list = |values: [&'static str; 2]| Value::Many(values.map(Value::from).to_vec());
        assert_eq!(collected[0].columns(), [list(["w", "w"]), list(["a", "b"])]);
        assert_ne!(key_of(&["ab".into(), "c".into()]), key_of(&["a".into(), "bc".into()]));
    }
}

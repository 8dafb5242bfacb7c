//! Reads that many pieces of work need, made before the first of them begins: those with the same text become one
//! statement, and all of them travel in one turn ([`Tx::prefetch`](crate::db::Tx::prefetch)).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;

use tokio_postgres::Row as PgRow;

use super::super::Value;

/// What is to be read, and what was found.
#[derive(Default)]
pub(super) struct Prefetched {
    /// Whether reads are only noted.
    pub(super) on: bool,
    wanted: Vec<Wanted>,
    known: HashMap<String, HashMap<String, Answer>>,
}

/// Reads of one text.
pub(super) struct Wanted {
    pub(super) sql: String,
    /// Their parameters by their names: in this order rows are locked, by every transaction alike.
    reads: BTreeMap<String, Vec<Value<'static>>>,
}

struct Answer {
    rows: Arc<Vec<PgRow>>,
    /// Whether it is given once.
    once: bool,
}

/// One name for equal parameters; `None` for some that nothing is looked up by.
fn name_of(params: &[Value<'_>]) -> Option<String> {
    let mut name = String::with_capacity(params.len() * 40);
    for value in params {
        match value {
            Value::Null => name.push('n'),
            Value::Int(number) => {
                // Writing to a text does not fail.
                let _ = write!(name, "i{number}");
            }
            // The length says where it ends.
            Value::Text(text) => {
                let _ = write!(name, "t{}:{text}", text.len());
            }
            Value::Real(_) | Value::Bytes(_) | Value::Many(_) => return None,
        }
    }
    (!params.is_empty()).then_some(name)
}

/// Whether a read locks what it finds.
fn locks(sql: &str) -> bool {
    sql.contains("/*pg for ")
}

impl Prefetched {
    /// Notes a read.
    pub(super) fn want(&mut self, sql: &str, params: &[Value<'_>]) {
        let Some(name) = name_of(params) else { return };
        let place = self.wanted.iter().position(|wanted| wanted.sql == sql).unwrap_or_else(|| {
            self.wanted.push(Wanted { sql: sql.to_owned(), reads: BTreeMap::new() });
            self.wanted.len() - 1
        });
        let owned = || params.iter().cloned().map(Value::into_owned).collect();
        self.wanted[place].reads.entry(name).or_insert_with(owned);
    }

    pub(super) fn wanted(&mut self) -> Vec<Wanted> {
        std::mem::take(&mut self.wanted)
    }

    /// Keeps the answers to reads of one text. The last column of each row says to which it belongs, counted from 1.
    pub(super) fn learn(&mut self, wanted: Wanted, rows: Vec<PgRow>) {
        let once = locks(&wanted.sql);
        let mut found: Vec<Vec<PgRow>> = Vec::new();
        found.resize_with(wanted.reads.len(), Vec::new);
        for row in rows {
            let place: Option<i64> = row.len().checked_sub(1).and_then(|last| row.try_get(last).ok());
            let place = place.and_then(|place| usize::try_from(place - 1).ok());
            if let Some(rows) = place.and_then(|place| found.get_mut(place)) {
                rows.push(row);
            }
        }
        let answers = wanted.reads.into_keys().zip(found).map(|(name, rows)| {
            // The one that asks for something missing may make it, so the next one asks the server.
            let once = once || rows.is_empty();
            (name, Answer { rows: Arc::new(rows), once })
        });
        self.known.entry(wanted.sql).or_default().extend(answers);
    }

    /// The answer to a read, if it was prefetched.
    pub(super) fn answer(&mut self, sql: &str, params: &[Value<'_>]) -> Option<Arc<Vec<PgRow>>> {
        let known = self.known.get_mut(sql)?;
        let name = name_of(params)?;
        let answer = known.get(&name)?;
        let rows = answer.rows.clone();
        if answer.once {
            known.remove(&name);
        }
        Some(rows)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Wanted {
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

/// The statement that makes many reads, made of the one that makes one and the types of its parameters.
pub(super) fn for_many_reads<'t>(sql: &str, types: impl Iterator<Item = &'t str>) -> String {
    let (lists, names): (Vec<String>, Vec<String>) = types
        .enumerate()
        .map(|(place, name)| (format!("?{}::{name}[]", place + 1), format!("p{}", place + 1)))
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
            prefetched.want("select 1", &["w".into(), id.into()]);
        }
        prefetched.want("select 1", &[1.5.into()]);
        prefetched.want("select 1", &[]);
        let wanted = prefetched.wanted();
        assert_eq!(wanted.len(), 1);
        let list = |values: [&'static str; 2]| Value::Many(values.map(Value::from).to_vec());
        assert_eq!(wanted[0].columns(), [list(["w", "w"]), list(["a", "b"])]);
        assert_ne!(name_of(&["ab".into(), "c".into()]), name_of(&["a".into(), "bc".into()]));
    }
}

//! Parameters and rows, the same for both engines.

use std::borrow::Cow;
use std::error::Error;

use bytes::BytesMut;
use domain::ids::{Id, Kind};
use domain::time::Timestamp;
use postgres_types::{IsNull, ToSql, Type, to_sql_checked};

use super::DbError;

/// A parameter of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// SQL null.
    Null,
    /// Whole numbers, moments in milliseconds, and flags as 0 and 1.
    Int(i64),
    /// Fractions.
    Real(f64),
    /// Text and JSON.
    Text(Cow<'a, str>),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
}

impl Value<'_> {
    /// The same value, owning its text.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Int(number) => Value::Int(number),
            Value::Real(number) => Value::Real(number),
            Value::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Value::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.into_owned())),
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}
impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}
impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}
impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}
impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Value::Int(i64::from(flag))
    }
}
impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Real(number)
    }
}
impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Value::Bytes(Cow::Borrowed(bytes))
    }
}
impl<'a> From<&'a Vec<u8>> for Value<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Value::Bytes(Cow::Borrowed(bytes))
    }
}
impl From<Timestamp> for Value<'_> {
    fn from(moment: Timestamp) -> Self {
        Value::Int(moment.0)
    }
}
impl<K: Kind> From<Id<K>> for Value<'_> {
    fn from(id: Id<K>) -> Self {
        Value::Text(Cow::Owned(id.to_string()))
    }
}
impl From<&serde_json::Map<String, serde_json::Value>> for Value<'_> {
    fn from(object: &serde_json::Map<String, serde_json::Value>) -> Self {
        // Names and values of JSON always serialize.
        Value::Text(Cow::Owned(serde_json::to_string(object).unwrap_or_default()))
    }
}
impl From<&serde_json::Value> for Value<'_> {
    fn from(json: &serde_json::Value) -> Self {
        Value::Text(Cow::Owned(json.to_string()))
    }
}
impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// Adds a list of at least one value to the parameters, and gives its SQL: `(?3, ?4, …)`. The last value is
/// repeated up to the next power of two, so that there are few different statements to keep prepared.
pub fn any_of<'a>(params: &mut Vec<Value<'a>>, values: impl IntoIterator<Item = Value<'a>>) -> String {
    let first = params.len();
    params.extend(values);
    let count = (params.len() - first).next_power_of_two();
    if let Some(last) = params.last().cloned() {
        params.resize(first + count, last);
    }
    let places: Vec<String> = (first + 1..=params.len()).map(|place| format!("?{place}")).collect();
    format!("({})", places.join(", "))
}

/// Parameters from anything that is a [`Value`]: `params![tenant, now, &name]`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::Value::from($value)),*][..] };
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::{ToSqlOutput, ValueRef};
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Real(number) => ValueRef::Real(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(number) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql(ty, out),
            Value::Int(number) if *ty == Type::INT2 => i16::try_from(*number)?.to_sql(ty, out),
            Value::Int(number) if *ty == Type::FLOAT8 => (*number as f64).to_sql(ty, out),
            Value::Int(number) if *ty == Type::BOOL => (*number != 0).to_sql(ty, out),
            Value::Int(number) if *ty == Type::INT8 => number.to_sql(ty, out),
            Value::Int(number) => Err(format!("{number} given for a parameter of type {ty}").into()),
            Value::Real(number) => number.to_sql(ty, out),
            // PostgreSQL cannot store U+0000 in text; the edge refuses it in requests.
            Value::Text(text) => (&**text).to_sql(ty, out),
            Value::Bytes(bytes) => (&**bytes).to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// One row of an answer; columns count from 0.
pub enum Row<'a> {
    /// A row of SQLite.
    Sqlite(&'a rusqlite::Row<'a>),
    /// A row of PostgreSQL.
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    fn get<T>(&self, column: usize) -> Result<T, DbError>
    where
        T: rusqlite::types::FromSql + for<'b> postgres_types::FromSql<'b>,
    {
        match self {
            Row::Sqlite(row) => row.get(column).map_err(|why| DbError::Internal(why.to_string())),
            Row::Postgres(row) => row.try_get(column).map_err(|why| DbError::Internal(why.to_string())),
        }
    }

    /// A text column that is never null.
    pub fn text(&self, column: usize) -> Result<String, DbError> {
        self.get(column)
    }

    /// A text column.
    pub fn opt_text(&self, column: usize) -> Result<Option<String>, DbError> {
        self.get(column)
    }

    /// A whole number that is never null.
    pub fn int(&self, column: usize) -> Result<i64, DbError> {
        self.get(column)
    }

    /// A whole number.
    pub fn opt_int(&self, column: usize) -> Result<Option<i64>, DbError> {
        self.get(column)
    }

    /// A fraction.
    pub fn opt_real(&self, column: usize) -> Result<Option<f64>, DbError> {
        self.get(column)
    }

    /// A flag stored as 0 or 1.
    pub fn flag(&self, column: usize) -> Result<bool, DbError> {
        Ok(self.int(column)? != 0)
    }

    /// Bytes that are never null.
    pub fn bytes(&self, column: usize) -> Result<Vec<u8>, DbError> {
        self.get(column)
    }

    /// Bytes.
    pub fn opt_bytes(&self, column: usize) -> Result<Option<Vec<u8>>, DbError> {
        self.get(column)
    }

    /// A moment that is never null.
    pub fn time(&self, column: usize) -> Result<Timestamp, DbError> {
        Ok(Timestamp(self.int(column)?))
    }

    /// A moment.
    pub fn opt_time(&self, column: usize) -> Result<Option<Timestamp>, DbError> {
        Ok(self.opt_int(column)?.map(Timestamp))
    }

    /// An id that is never null.
    pub fn id<K: Kind>(&self, column: usize) -> Result<Id<K>, DbError> {
        let text = self.text(column)?;
        text.parse().map_err(|_| DbError::Internal(format!("column {column} holds no {} id", K::PREFIX)))
    }

    /// An id.
    pub fn opt_id<K: Kind>(&self, column: usize) -> Result<Option<Id<K>>, DbError> {
        match self.opt_text(column)? {
            None => Ok(None),
            Some(text) => text
                .parse()
                .map(Some)
                .map_err(|_| DbError::Internal(format!("column {column} holds no {} id", K::PREFIX))),
        }
    }

    /// A JSON column that is never null.
    pub fn json(&self, column: usize) -> Result<serde_json::Value, DbError> {
        serde_json::from_str(&self.text(column)?)
            .map_err(|why| DbError::Internal(format!("column {column} holds no JSON: {why}")))
    }

    /// A JSON column.
    pub fn opt_json(&self, column: usize) -> Result<Option<serde_json::Value>, DbError> {
        match self.opt_text(column)? {
            None => Ok(None),
            Some(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|why| DbError::Internal(format!("column {column} holds no JSON: {why}"))),
        }
    }
}

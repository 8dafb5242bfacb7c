//! Parameters and column values of both engines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use domain::actor::Actor;
use domain::agent::{Channel, Status as AgentStatus};
use domain::board::{ActionKind, ActionState, Attention, CardStatus, ColumnColor, ColumnType, MovedBy};
use domain::call::after::AfterCallStep;
use domain::call::{AnsweredBy, Direction, HangupRequest, Network, Status as CallStatus};
use domain::campaign::{
    HeldReason, InvalidReason, RowFailure, RowState, RunSource, RunStatus, Status as CampaignStatus,
};
use domain::channel::provider::ConnectionStatus;
use domain::channel::{
    Category, Direction as MessageDirection, MessageStatus, ProviderKind, Source as MessageSource,
    TemplateStatus,
};
use domain::chat::inbox::Assignment;
use domain::chat::{
    Channel as ChatChannel, EndCause as ChatEndCause, Origin as ChatOrigin, Reading, Role as ChatRole,
    State as ChatState, TurnKind,
};
use domain::compliance::{Communication, EntityClass, Gate};
use domain::decision_log::Strand;
use domain::document::{FileType, Status as DocumentStatus};
use domain::evaluation::{
    Cause, CriterionKind, Graded, RunStatus as EvaluationStatus, SweepStatus, Trigger, Verdict,
};
use domain::ids::{Id, Kind};
use domain::integration::{Provider, PushedCalls, Status as IntegrationStatus};
use domain::knowledge::SourceKind;
use domain::nudge::{Flight, OutsideWindow, ResultCode, RetryOn, Status as NudgeStatus, StatusReason};
use domain::person::InterfaceLanguage;
use domain::phone::E164;
use domain::scheduled_call::{Reason as ScheduledCallReason, Status as ScheduledCallStatus};
use domain::stream::{Kind as StreamKind, Reason as RecordReason, RecordStatus, Status as StreamStatus};
use domain::tenant::{Mode, Role};
use domain::time::Timestamp;
use domain::trace::TraceContext;
use postgres_types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use rusqlite::types::ValueRef;
use serde_json::{Map, Value as Json};

/// A parameter of a statement, or the value of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    Null,
    /// Integers, timestamps in milliseconds, and booleans as 0 and 1.
    Int(i64),
    Real(f64),
    /// Text and JSON.
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    /// An array of one type for `unnest`, on PostgreSQL only.
    Many(Vec<Value<'a>>),
}

/// The value of a column, borrowed from the result: created for each column of each row, so it is small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'a> {
    Null,
    /// Integers, timestamps in milliseconds, and booleans as 0 and 1.
    Int(i64),
    Real(f64),
    /// Text and JSON.
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    #[inline]
    pub(super) fn from_sqlite(value: ValueRef<'a>) -> Result<Self, String> {
        Ok(match value {
            ValueRef::Null => Field::Null,
            ValueRef::Integer(number) => Field::Int(number),
            ValueRef::Real(number) => Field::Real(number),
            ValueRef::Text(text) => Field::Text(std::str::from_utf8(text).map_err(|why| why.to_string())?),
            ValueRef::Blob(bytes) => Field::Bytes(bytes),
        })
    }

    #[cold]
    pub(crate) fn wrong<T>(self, wanted: &str) -> Result<T, String> {
        let found = match self {
            Field::Null => "null",
            Field::Int(_) => "a whole number",
            Field::Real(_) => "a fraction",
            Field::Text(_) => "text",
            Field::Bytes(_) => "bytes",
        };
        Err(format!("{wanted} expected, {found} found"))
    }
}

/// A type that is stored in one column.
pub trait Column: Sized {
    /// Its stored value.
    fn store(&self) -> Value<'_>;

    /// Reads a stored value.
    ///
    /// # Errors
    /// What is wrong with the value.
    fn load(field: Field<'_>) -> Result<Self, String>;
}

impl Value<'_> {
    /// This value, borrowing its text.
    pub(super) fn borrowed(&self) -> Value<'_> {
        match self {
            Value::Null => Value::Null,
            Value::Int(number) => Value::Int(*number),
            Value::Real(number) => Value::Real(*number),
            Value::Text(text) => Value::Text(Cow::Borrowed(text)),
            Value::Bytes(bytes) => Value::Bytes(Cow::Borrowed(bytes)),
            Value::Many(values) => Value::Many(values.iter().map(Value::borrowed).collect()),
        }
    }

    /// This value, owning its text.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Int(number) => Value::Int(number),
            Value::Real(number) => Value::Real(number),
            Value::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Value::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.into_owned())),
            Value::Many(values) => Value::Many(values.into_iter().map(Value::into_owned).collect()),
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
/// Integers that fit into [`i64`].
macro_rules! small {
    ($($number:ty),*) => {$(
        impl From<$number> for Value<'_> {
            fn from(number: $number) -> Self {
                Value::Int(number.into())
            }
        }
    )*};
}
small!(u8, u16, u32, i32);
impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        // No count is near the end of the range.
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
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
impl From<TraceContext> for Value<'_> {
    fn from(context: TraceContext) -> Self {
        Value::Text(Cow::Owned(context.to_string()))
    }
}
impl<K: Kind> From<Id<K>> for Value<'_> {
    fn from(id: Id<K>) -> Self {
        Value::Text(Cow::Owned(id.stored()))
    }
}
impl From<&Map<String, Json>> for Value<'_> {
    fn from(object: &Map<String, Json>) -> Self {
        // Names and values of JSON always serialize.
        Value::Text(Cow::Owned(serde_json::to_string(object).unwrap_or_default()))
    }
}
impl From<Json> for Value<'_> {
    fn from(json: Json) -> Self {
        Value::Text(Cow::Owned(json.to_string()))
    }
}
impl From<&Json> for Value<'_> {
    fn from(json: &Json) -> Self {
        Value::Text(Cow::Owned(json.to_string()))
    }
}
impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl From<RetryOn> for Value<'_> {
    fn from(on: RetryOn) -> Self {
        Value::Text(Cow::Owned(on.words().join(" ")))
    }
}

impl<T: Column> Column for Option<T> {
    fn store(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, Column::store)
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        match field {
            Field::Null => Ok(None),
            field => T::load(field).map(Some),
        }
    }
}

impl Column for String {
    fn store(&self) -> Value<'_> {
        self.into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        if let Field::Text(text) = field { Ok(text.to_owned()) } else { field.wrong("text") }
    }
}

impl Column for i64 {
    fn store(&self) -> Value<'_> {
        (*self).into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        if let Field::Int(number) = field { Ok(number) } else { field.wrong("a whole number") }
    }
}

/// Integers that are stored as [`i64`].
macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Column for $number {
            fn store(&self) -> Value<'_> {
                (*self).into()
            }

            #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
                i64::load(field)?.try_into().map_err(|_| "the number is out of range".to_owned())
            }
        }
    )*};
}

numbers!(u8, u32, u64);

impl Column for bool {
    fn store(&self) -> Value<'_> {
        (*self).into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        i64::load(field).map(|flag| flag != 0)
    }
}

impl Column for Vec<u8> {
    fn store(&self) -> Value<'_> {
        self.into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        if let Field::Bytes(bytes) = field { Ok(bytes.to_owned()) } else { field.wrong("bytes") }
    }
}

impl Column for Timestamp {
    fn store(&self) -> Value<'_> {
        (*self).into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        i64::load(field).map(Timestamp)
    }
}

impl<K: Kind> Column for Id<K> {
    fn store(&self) -> Value<'_> {
        (*self).into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        let Field::Text(text) = field else { return field.wrong("an id") };
        text.parse().map_err(|_| format!("no {} id", K::PREFIX))
    }
}

impl From<Actor> for Value<'_> {
    fn from(actor: Actor) -> Self {
        Value::Text(Cow::Owned(actor.to_string()))
    }
}

impl Column for Actor {
    fn store(&self) -> Value<'_> {
        (*self).into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        let Field::Text(text) = field else { return field.wrong("an actor") };
        text.parse().map_err(|_| "no id of a key or member".to_owned())
    }
}

impl Column for TraceContext {
    fn store(&self) -> Value<'_> {
        (*self).into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        let Field::Text(text) = field else { return field.wrong("the place of a span in a trace") };
        text.parse().map_err(|_| "no place of a span in a trace".to_owned())
    }
}

impl Column for Json {
    fn store(&self) -> Value<'_> {
        self.into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        let Field::Text(text) = field else { return field.wrong("JSON") };
        serde_json::from_str(text).map_err(|why| format!("no JSON: {why}"))
    }
}

impl Column for Map<String, Json> {
    fn store(&self) -> Value<'_> {
        self.into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        let Field::Text(text) = field else { return field.wrong("a JSON object") };
        serde_json::from_str(text).map_err(|why| format!("no JSON object: {why}"))
    }
}

impl From<E164> for Value<'_> {
    fn from(number: E164) -> Self {
        Value::Int(number.as_u64() as i64)
    }
}

impl Column for E164 {
    fn store(&self) -> Value<'_> {
        (*self).into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        let Field::Int(stored) = field else { return field.wrong("a number") };
        u64::try_from(stored).ok().and_then(Self::from_u64).ok_or_else(|| "no phone number".to_owned())
    }
}

impl Column for RetryOn {
    fn store(&self) -> Value<'_> {
        (*self).into()
    }

    #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
        let Field::Text(text) = field else { return field.wrong("words") };
        RetryOn::parse(text.split(' ')).map_err(|why| why.to_string())
    }
}

/// Enums that are stored as their words.
macro_rules! words {
    ($($set:ty),* $(,)?) => {$(
        impl From<$set> for Value<'_> {
            fn from(member: $set) -> Self {
                Value::Text(Cow::from(member.as_str()))
            }
        }

        impl Column for $set {
            fn store(&self) -> Value<'_> {
                (*self).into()
            }

            #[inline]
    fn load(field: Field<'_>) -> Result<Self, String> {
                let Field::Text(text) = field else { return field.wrong("a word") };
                <$set>::parse(text).ok_or_else(|| format!("unknown word {text}"))
            }
        }
    )*};
}

words! {
    Communication, DocumentStatus, EntityClass, FileType, Mode, Role, Assignment, Strand, CallStatus, Network, HangupRequest, AfterCallStep, NudgeStatus, ResultCode, StatusReason, Gate, Flight,
    OutsideWindow, ScheduledCallStatus, ScheduledCallReason, AgentStatus, Channel, Direction, CampaignStatus, RowState,
    InvalidReason, HeldReason, RowFailure, RunStatus, RunSource,
    ActionKind, ActionState, Attention, CardStatus, ColumnColor, ColumnType, MovedBy,
    Provider, IntegrationStatus, PushedCalls, StreamKind, StreamStatus, RecordStatus, RecordReason,
    ChatState, ChatChannel, ChatRole, ChatEndCause, ChatOrigin, TurnKind, Reading,
    SourceKind, AnsweredBy, InterfaceLanguage,
    Cause, CriterionKind, Graded, EvaluationStatus, SweepStatus, Trigger, Verdict,
    ProviderKind, ConnectionStatus, Category, TemplateStatus, MessageDirection, MessageSource, MessageStatus,
}

/// Appends a non-empty list to the parameters and returns its SQL: `(?3, ?4, …)`. The last value is repeated up to the
/// next power of two, so that few different statements are prepared.
pub fn any_of<'a>(params: &mut Vec<Value<'a>>, values: impl IntoIterator<Item = Value<'a>>) -> String {
    format!("({})", places(params, values, 1).join(", "))
}

/// Like [`any_of`], as rows for `values`: `(?3), (?4), …`.
pub fn column_of<'a>(params: &mut Vec<Value<'a>>, values: impl IntoIterator<Item = Value<'a>>) -> String {
    format!("({})", places(params, values, 1).join("), ("))
}

/// Appends the values and returns their placeholders; the number of the very first parameter is `base`.
pub(super) fn places<'a>(
    params: &mut Vec<Value<'a>>,
    values: impl IntoIterator<Item = Value<'a>>,
    base: usize,
) -> Vec<String> {
    let first = params.len();
    params.extend(values);
    let count = (params.len() - first).next_power_of_two();
    if let Some(last) = params.last().cloned() {
        params.resize(first + count, last);
    }
    (first + base..params.len() + base).map(|place| format!("?{place}")).collect()
}

/// The placeholders of rows: `(?1, ?2), (?3, ?4)`. The texts are few and long, so they are cached.
pub(crate) fn placeholders(rows: usize, width: usize) -> Arc<str> {
    static CACHED: Mutex<BTreeMap<(usize, usize), Arc<str>>> = Mutex::new(BTreeMap::new());
    let make = || {
        let row = |row: usize| {
            let places: Vec<String> =
                (row * width + 1..=(row + 1) * width).map(|place| format!("?{place}")).collect();
            format!("({})", places.join(", "))
        };
        (0..rows).map(row).collect::<Vec<_>>().join(", ").into()
    };
    CACHED.lock().unwrap_or_else(PoisonError::into_inner).entry((rows, width)).or_insert_with(make).clone()
}

/// Parameters of anything that converts into a [`Value`]: `params![tenant, now, &name]`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::Value::from($value)),*][..] };
}

/// The error of a list as parameter on SQLite.
pub(super) const NO_LISTS: &str = "lists are parameters on PostgreSQL only";

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::ToSqlOutput;
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Real(number) => ValueRef::Real(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
            Value::Many(_) => return Err(rusqlite::Error::ToSqlConversionFailure(NO_LISTS.into())),
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
            Value::Many(values) => values.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Field<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *ty {
            Type::INT8 => Field::Int(i64::from_sql(ty, raw)?),
            Type::INT4 => Field::Int(i32::from_sql(ty, raw)?.into()),
            Type::INT2 => Field::Int(i16::from_sql(ty, raw)?.into()),
            Type::FLOAT8 => Field::Real(f64::from_sql(ty, raw)?),
            Type::BYTEA => Field::Bytes(<&[u8]>::from_sql(ty, raw)?),
            _ => Field::Text(<&str>::from_sql(ty, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Field::Null)
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::INT8 | Type::INT4 | Type::INT2 | Type::FLOAT8 | Type::BYTEA)
            || <&str as FromSql>::accepts(ty)
    }
}

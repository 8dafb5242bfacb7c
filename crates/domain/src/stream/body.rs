//! Parsing the body of a push (docs/contract/streams.md#sending-records): one object, a list of objects, or
//! `{"records": […]}`. It is parsed incrementally, and dropped values are skipped, so that a body takes little more
//! memory than what is kept of it.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use super::fields::{Arrival, Collector, below};
use super::{MAX_LEVELS, MAX_RECORDS};

/// Why a body cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyError {
    /// It is not JSON; where and why.
    Malformed(String),
    /// What is wrong: the place, and what it must be.
    Misfit(String, String),
}

/// The records of a body, in order.
///
/// # Errors
/// The body is not JSON, contains other values than objects, or too many of them.
pub fn parse(body: &[u8]) -> Result<Vec<Arrival>, BodyError> {
    let misfit = RefCell::new(None);
    // RFC 8259, 8.1: a byte order mark may be ignored.
    let body = body.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(body);
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = reader_of(&mut reader, Top { misfit: &misfit }).and_then(|read| reader.end().map(|()| read));
    read.map_err(|why| match misfit.take() {
        Some((field, must)) => BodyError::Misfit(field, must),
        None => BodyError::Malformed(why.to_string()),
    })
}

fn reader_of<'de, R: serde_json::de::Read<'de>, V: Visitor<'de>>(
    reader: &mut serde_json::Deserializer<R>,
    visitor: V,
) -> Result<V::Value, serde_json::Error> {
    reader.deserialize_any(visitor)
}

type Misfit = RefCell<Option<(String, String)>>;

fn refuse<E: Error>(misfit: &Misfit, field: String, must: String) -> E {
    *misfit.borrow_mut() = Some((field, must));
    E::custom("does not fit")
}

/// Visits of everything but objects and lists, all handled by one expression.
macro_rules! plain_visits {
    (|$self:ident, $value:ident| $handled:expr) => {
        fn visit_unit<E: Error>($self) -> Result<Self::Value, E> {
            let $value = Value::Null;
            $handled
        }
        fn visit_bool<E: Error>($self, flag: bool) -> Result<Self::Value, E> {
            let $value = Value::Bool(flag);
            $handled
        }
        fn visit_i64<E: Error>($self, number: i64) -> Result<Self::Value, E> {
            let $value = Value::from(number);
            $handled
        }
        fn visit_u64<E: Error>($self, number: u64) -> Result<Self::Value, E> {
            let $value = Value::from(number);
            $handled
        }
        fn visit_f64<E: Error>($self, number: f64) -> Result<Self::Value, E> {
            let $value = Number::from_f64(number).map_or(Value::Null, Value::Number);
            $handled
        }
    };
}

/// The whole body.
struct Top<'a> {
    misfit: &'a Misfit,
}

impl Top<'_> {
    fn refuse<E: Error>(&self) -> E {
        let must = "must be an object, a list of objects, or {\"records\": […]}";
        refuse(self.misfit, "body".into(), must.into())
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = Vec<Arrival>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("records")
    }

    plain_visits!(|self, _value| Err(self.refuse()));

    fn visit_str<E: Error>(self, _: &str) -> Result<Vec<Arrival>, E> {
        Err(self.refuse())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Vec<Arrival>, A::Error> {
        list(items, self.misfit, "body")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Vec<Arrival>, A::Error> {
        let (mut record, mut records) = (Collector::default(), None);
        while let Some(name) = entries.next_key::<String>()? {
            let field = Field { out: &mut record, path: name, level: 1 };
            if field.path == "records" {
                records = entries.next_value_seed(Records { field, misfit: self.misfit })?;
            } else {
                entries.next_value_seed(field)?;
            }
        }
        Ok(records.unwrap_or_else(|| vec![record.finish()]))
    }
}

fn list<'de, A: SeqAccess<'de>>(
    mut items: A,
    misfit: &Misfit,
    place: &str,
) -> Result<Vec<Arrival>, A::Error> {
    let mut records = Vec::new();
    loop {
        if records.len() == MAX_RECORDS {
            return match items.next_element::<IgnoredAny>()? {
                Some(_) => Err(refuse(
                    misfit,
                    place.into(),
                    format!("must be a list of at most {MAX_RECORDS} records"),
                )),
                None => Ok(records),
            };
        }
        match items.next_element_seed(Record { misfit, place, index: records.len() })? {
            Some(record) => records.push(record),
            None => return Ok(records),
        }
    }
}

/// The content of a field `records`: a list of records, or an ordinary field.
struct Records<'a> {
    field: Field<'a>,
    misfit: &'a Misfit,
}

impl<'de> DeserializeSeed<'de> for Records<'_> {
    type Value = Option<Vec<Arrival>>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Records<'_> {
    type Value = Option<Vec<Arrival>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("records")
    }

    plain_visits!(|self, value| {
        self.field.put(value);
        Ok(None)
    });

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        self.field.visit_str(text).map(|()| None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        list(items, self.misfit, "records").map(Some)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        self.field.visit_map(entries).map(|()| None)
    }
}

/// One record of a list.
struct Record<'a> {
    misfit: &'a Misfit,
    place: &'a str,
    index: usize,
}

impl Record<'_> {
    fn refuse<E: Error>(&self) -> E {
        refuse(self.misfit, format!("{}[{}]", self.place, self.index), "must be an object".into())
    }
}

impl<'de> DeserializeSeed<'de> for Record<'_> {
    type Value = Arrival;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Arrival, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Record<'_> {
    type Value = Arrival;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    plain_visits!(|self, _value| Err(self.refuse()));

    fn visit_str<E: Error>(self, _: &str) -> Result<Arrival, E> {
        Err(self.refuse())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Arrival, A::Error> {
        Err(self.refuse())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Arrival, A::Error> {
        let mut record = Collector::default();
        while let Some(path) = entries.next_key::<String>()? {
            entries.next_value_seed(Field { out: &mut record, path, level: 1 })?;
        }
        Ok(record.finish())
    }
}

/// One field of an object at a level of the record.
struct Field<'a> {
    out: &'a mut Collector,
    path: String,
    level: usize,
}

impl Field<'_> {
    fn put(self, value: Value) {
        self.out.put(self.path, value);
    }

    /// Keeps the JSON text, if all of it fitted.
    fn put_text(self, text: Text) {
        if text.whole {
            self.out.put(self.path, Value::String(text.json));
        } else {
            self.out.leave_out();
        }
    }
}

impl<'de> DeserializeSeed<'de> for Field<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Field<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    plain_visits!(|self, value| {
        self.put(value);
        Ok(())
    });

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if self.out.takes(&self.path) && text.len() <= super::MAX_BYTES {
            self.put(Value::String(text.to_owned()));
        } else {
            self.out.leave_out();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<(), A::Error> {
        let mut text = Text::new(self.out.takes(&self.path));
        text.list(items)?;
        self.put_text(text);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        if self.level == MAX_LEVELS {
            let mut text = Text::new(self.out.takes(&self.path));
            text.object(entries)?;
            self.put_text(text);
            return Ok(());
        }
        let mut empty = true;
        while let Some(name) = entries.next_key::<String>()? {
            empty = false;
            let path = below(&self.path, &name);
            entries.next_value_seed(Field { out: self.out, path, level: self.level + 1 })?;
        }
        if empty {
            self.put(Value::String("{}".into()));
        }
        Ok(())
    }
}

/// JSON that is written as it is read, up to the bytes that a record may have.
struct Text {
    json: String,
    whole: bool,
}

impl Text {
    fn new(wanted: bool) -> Self {
        Self { json: String::new(), whole: wanted }
    }

    fn push(&mut self, piece: &str) {
        if self.whole && self.json.len() + piece.len() <= super::MAX_BYTES {
            self.json.push_str(piece);
        } else {
            self.whole = false;
            self.json = String::new();
        }
    }

    fn quote(&mut self, text: &str) {
        if !self.whole || text.len() > super::MAX_BYTES {
            self.whole = false;
            return;
        }
        self.push(&Value::from(text).to_string());
    }

    fn list<'de, A: SeqAccess<'de>>(&mut self, mut items: A) -> Result<(), A::Error> {
        self.push("[");
        let mut first = true;
        while items.next_element_seed(Item { text: self, first, name: None })?.is_some() {
            first = false;
        }
        self.push("]");
        Ok(())
    }

    fn object<'de, A: MapAccess<'de>>(&mut self, mut entries: A) -> Result<(), A::Error> {
        self.push("{");
        let mut first = true;
        while let Some(name) = entries.next_key::<String>()? {
            entries.next_value_seed(Item { text: self, first, name: Some(name) })?;
            first = false;
        }
        self.push("}");
        Ok(())
    }
}

/// A value inside of what is written.
struct Item<'a> {
    text: &'a mut Text,
    first: bool,
    name: Option<String>,
}

impl<'a> Item<'a> {
    /// Writes what comes before the value.
    fn begin(self) -> &'a mut Text {
        if !self.first {
            self.text.push(",");
        }
        if let Some(name) = &self.name {
            self.text.quote(name);
            self.text.push(":");
        }
        self.text
    }
}

impl<'de> DeserializeSeed<'de> for Item<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Item<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    plain_visits!(|self, value| {
        self.begin().push(&value.to_string());
        Ok(())
    });

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.begin().quote(text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<(), A::Error> {
        self.begin().list(items)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<(), A::Error> {
        self.begin().object(entries)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::super::flatten;
    use super::*;

    fn parsed(body: &Value) -> Vec<Value> {
        let records = parse(body.to_string().as_bytes()).unwrap();
        records.into_iter().map(|record| Value::Object(record.fields)).collect()
    }

    #[test]
    fn one_record_a_list_or_records() {
        let (one, two) = (json!({"phone": "1"}), json!({"phone": "2", "lead": {"city": "Pune"}}));
        let flat = json!({"phone": "2", "lead.city": "Pune"});
        assert_eq!(parsed(&one), std::slice::from_ref(&one));
        assert_eq!(parsed(&json!([one, two])), [one.clone(), flat.clone()]);
        assert_eq!(parsed(&json!({"source": "x", "records": [one, two]})), [one, flat]);
        assert_eq!(parsed(&json!([])), Vec::<Value>::new());
        assert_eq!(parsed(&json!({"records": []})), Vec::<Value>::new());
        assert_eq!(parsed(&json!({})), [json!({})]);
        assert_eq!(parse("\u{FEFF}{\"phone\": \"1\"}".as_bytes()), parse(br#"{"phone": "1"}"#));
        assert!(parse("{\u{FEFF}}".as_bytes()).is_err() && parse("\u{FEFF}".as_bytes()).is_err());
        // Any other thing of this name is a field.
        assert_eq!(
            parsed(&json!({"records": "many", "phone": "1"})),
            [json!({"records": "many", "phone": "1"})]
        );
        assert_eq!(parsed(&json!({"records": {"a": 1}})), [json!({"records.a": 1})]);
    }

    #[test]
    fn what_is_no_object_is_named() {
        for (body, field) in [
            ("5", "body"),
            ("\"x\"", "body"),
            ("null", "body"),
            ("true", "body"),
            ("1.5", "body"),
            ("[1]", "body[0]"),
            ("[{}, []]", "body[1]"),
            ("[{}, null]", "body[1]"),
            ("{\"records\": [{}, \"x\"]}", "records[1]"),
        ] {
            let refused = parse(body.as_bytes());
            assert!(
                matches!(&refused, Err(BodyError::Misfit(named, _)) if named == field),
                "{body}: {refused:?}"
            );
        }
        for body in ["", "{", "{\"a\": }", "[{}", "{} {}", "nul", "\u{0}"] {
            assert!(matches!(parse(body.as_bytes()), Err(BodyError::Malformed(_))), "{body}");
        }
        let deep = "[".repeat(100_000);
        assert!(matches!(parse(format!("{{\"a\": {deep}").as_bytes()), Err(BodyError::Malformed(_))));
    }

    #[test]
    fn five_hundred_records_and_no_more() {
        let many = |count: usize| Value::Array(vec![json!({"a": 1}); count]);
        assert_eq!(parsed(&many(500)).len(), 500);
        for (body, place) in [(many(501), "body"), (json!({"records": many(501)}), "records")] {
            let refused = parse(body.to_string().as_bytes());
            let must = "must be a list of at most 500 records";
            assert_eq!(refused, Err(BodyError::Misfit(place.into(), must.into())));
        }
    }

    #[test]
    fn what_is_not_kept_takes_no_memory() {
        let wide: Map<String, Value> =
            (0..100_000).map(|number| (format!("f{number}"), json!([[], {}]))).collect();
        let record = parse(Value::Object(wide).to_string().as_bytes()).unwrap().remove(0);
        assert_eq!((record.fields.len(), record.cut), (100, true));
        let long = json!({"a": vec!["x".repeat(1000); 100], "phone": "1"});
        let record = parse(long.to_string().as_bytes()).unwrap().remove(0);
        assert_eq!((Value::Object(record.fields), record.cut), (json!({"phone": "1"}), true));
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e6..1e6_f64).prop_map(Value::from),
            "[a-z\"\\\\é ]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(12, 60, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-d.]{1,2}", inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Incremental parsing gives the same record as parsing a JSON value.
        #[test]
        fn both_ways_of_reading_agree(fields in prop::collection::vec(("[a-f]{1,3}", tree()), 0..120)) {
            let record: Map<String, Value> = fields.into_iter().filter(|(name, _)| name != "records").collect();
            let read = parse(Value::Object(record.clone()).to_string().as_bytes()).unwrap();
            // Through text, as numbers may be written otherwise.
            let again: Map<String, Value> = serde_json::from_str(&Value::Object(record).to_string()).unwrap();
            prop_assert_eq!(&read, &[flatten(&again)]);
        }

        #[test]
        fn nothing_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&body);
        }
    }
}

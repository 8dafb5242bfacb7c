//! Streaming parser of notifications: items are built as they are read, and everything else is skipped without being
//! stored. A value of an unexpected type counts as absent.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{Change, MAX_VALUES, Reader, Told};

/// Parses a body. Returns whether it is an object.
pub(super) fn body(bytes: &[u8], reader: &mut Reader) -> serde_json::Result<bool> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let is_object = Lenient(Body(reader)).deserialize(&mut json)?;
    json.end()?;
    Ok(is_object)
}

/// A value within a text; `None` when it is no JSON.
pub(super) fn value(text: &str) -> Option<Value> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Bounded(&mut { MAX_VALUES }).deserialize(&mut json).ok()?;
    json.end().ok()?;
    Some(value)
}

/// What is made of a list or of an object; of anything else comes nothing.
trait Read<'de>: Sized {
    type Out: Default;

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Out, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::Out::default())
    }

    fn object<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Out, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::Out::default())
    }
}

struct Lenient<R>(R);

impl<'de, R: Read<'de>> DeserializeSeed<'de> for Lenient<R> {
    type Value = R::Out;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<R::Out, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, R: Read<'de>> Visitor<'de> for Lenient<R> {
    type Value = R::Out;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<R::Out, E> {
        Ok(R::Out::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<R::Out, E> {
        Ok(R::Out::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<R::Out, E> {
        Ok(R::Out::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<R::Out, E> {
        Ok(R::Out::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<R::Out, E> {
        Ok(R::Out::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<R::Out, E> {
        Ok(R::Out::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<R::Out, A::Error> {
        self.0.list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<R::Out, A::Error> {
        self.0.object(fields)
    }
}

struct Body<'r>(&'r mut Reader);

impl<'de> Read<'de> for Body<'_> {
    type Out = bool;

    fn object<A: MapAccess<'de>>(self, mut fields: A) -> Result<bool, A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "entry" => fields.next_value_seed(Lenient(Entries(self.0)))?,
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(true)
    }
}

struct Entries<'r>(&'r mut Reader);

impl<'de> Read<'de> for Entries<'_> {
    type Out = ();

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Lenient(Entry(self.0)))?.is_some() {}
        Ok(())
    }
}

struct Entry<'r>(&'r mut Reader);

impl<'de> Read<'de> for Entry<'_> {
    type Out = ();

    fn object<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let (mut account, mut time, mut changes) = (Value::Null, None, Vec::new());
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "id" => account = fields.next_value_seed(Bounded(&mut 1))?,
                "time" => time = Some(fields.next_value_seed(Bounded(&mut 1))?),
                "changes" => changes = fields.next_value_seed(Lenient(Changes(self.0)))?,
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        let account = super::text_of(&account).unwrap_or_default();
        self.0.entry(&account, time.as_ref(), changes);
        Ok(())
    }
}

struct Changes<'r>(&'r mut Reader);

impl<'de> Read<'de> for Changes<'_> {
    type Out = Vec<Change>;

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Change>, A::Error> {
        let mut changes = Vec::new();
        while let Some(change) = list.next_element_seed(Lenient(EntryChange(self.0)))? {
            if !self.0.count_change() {
                return Err(A::Error::custom("too many changes"));
            }
            changes.extend(change);
        }
        Ok(changes)
    }
}

struct EntryChange<'r>(&'r mut Reader);

impl<'de> Read<'de> for EntryChange<'_> {
    type Out = Option<Change>;

    fn object<A: MapAccess<'de>>(self, mut fields: A) -> Result<Option<Change>, A::Error> {
        let (mut field, mut told) = (Value::Null, None);
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "field" => field = fields.next_value_seed(Bounded(&mut 1))?,
                "value" => told = fields.next_value_seed(Lenient(ChangeValue(self.0)))?,
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        let field = super::text_of(&field);
        Ok(field.zip(told).map(|(field, told)| self.0.change(&field, told)))
    }
}

struct ChangeValue<'r>(&'r mut Reader);

impl<'de> Read<'de> for ChangeValue<'_> {
    type Out = Option<Told>;

    fn object<A: MapAccess<'de>>(self, mut fields: A) -> Result<Option<Told>, A::Error> {
        let (reader, mut left) = (self.0, MAX_VALUES);
        let mut told = Told::default();
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "contacts" => {
                    let (count, read) = (Reader::count_person as fn(&mut _) -> _, Reader::contact);
                    told.contacts =
                        fields.next_value_seed(Lenient(Each { reader: &mut *reader, count, read }))?;
                }
                "messages" => told.messages = fields.next_value_seed(items(reader, Reader::received))?,
                "statuses" => told.statuses = fields.next_value_seed(items(reader, Reader::status))?,
                "message_echoes" => told.echoes = fields.next_value_seed(items(reader, Reader::echo))?,
                "user_preferences" => {
                    told.preferences = fields.next_value_seed(items(reader, Reader::preference))?;
                }
                _ if left > 0 => {
                    told.rest.insert(name, fields.next_value_seed(Bounded(&mut left))?);
                }
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Some(told))
    }
}

fn items<T>(reader: &mut Reader, read: fn(&mut Reader, &Value) -> Option<T>) -> Lenient<Each<'_, T>> {
    Lenient(Each { reader, count: Reader::count_item, read })
}

/// A list of which each element is read by itself, so that no more than one is there as it came.
struct Each<'r, T> {
    reader: &'r mut Reader,
    count: fn(&mut Reader) -> bool,
    read: fn(&mut Reader, &Value) -> Option<T>,
}

impl<'de, T> Read<'de> for Each<'_, T> {
    type Out = Vec<T>;

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        loop {
            let next = list.next_element_seed(Bounded(&mut { MAX_VALUES }))?;
            let Some(element) = next else { return Ok(all) };
            if !(self.count)(self.reader) {
                return Err(A::Error::custom("too many items"));
            }
            all.extend((self.read)(self.reader, &element));
        }
    }
}

/// A value with at most so many values in it, itself among them. What is more is passed over.
struct Bounded<'b>(&'b mut usize);

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        if *self.0 == 0 {
            json.deserialize_ignored_any(IgnoredAny)?;
            return Ok(Value::Null);
        }
        *self.0 -= 1;
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while *self.0 > 0 {
            match list.next_element_seed(Bounded(self.0))? {
                Some(element) => all.push(element),
                None => return Ok(Value::Array(all)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while *self.0 > 0 {
            let Some(name) = fields.next_key::<String>()? else { return Ok(Value::Object(all)) };
            let value = fields.next_value_seed(Bounded(self.0))?;
            all.insert(name, value);
        }
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Object(all))
    }
}

//! Records that strangers send to a stream.

use domain::stream::body::{BodyError, parse};
use domain::stream::transliteration::{Script, transliterate};
use domain::stream::{FieldMap, MAX_BYTES, MAX_FIELDS, MAX_NAME, MAX_RECORDS, flatten, read};
use serde_json::Value;

/// A body of any bytes.
///
/// What is kept of a record is within its bounds. A single record whose names occur once is
/// the same when it is read as JSON first. Its
/// name can be written in every script, and its number is one that can be called.
pub fn body(data: &[u8]) {
    let any = serde_json::from_slice::<Value>(data).ok();
    let records = match parse(data) {
        Ok(records) => records,
        Err(BodyError::Malformed(why)) => return assert!(any.is_none(), "JSON that is not read: {why}"),
        Err(BodyError::Misfit(field, must)) => return assert!(!field.is_empty() && !must.is_empty()),
    };
    assert!(records.len() <= MAX_RECORDS);
    if let Some(Value::Object(record)) = any.filter(|any| !any["records"].is_array()) {
        let once_each = Value::Object(record.clone()).to_string();
        assert_eq!(parse(once_each.as_bytes()), Ok(vec![flatten(&record)]));
    }
    for record in &records {
        let size = |(name, value): (&String, &Value)| name.len() + value.as_str().map_or(8, str::len);
        assert!(
            record.fields.len() <= MAX_FIELDS && record.fields.iter().map(size).sum::<usize>() <= MAX_BYTES
        );
        let map = FieldMap { phone: record.fields.keys().next().cloned(), ..FieldMap::default() };
        for map in [FieldMap::default(), map] {
            let reading = read(record, &map, "IN");
            assert!(reading.phone.is_err() || reading.identity.is_some());
            let Some(name) = reading.name else { continue };
            assert!(!name.is_empty() && name.chars().count() <= MAX_NAME && !name.contains(char::is_control));
            for language in ["en", "hi", "bn", "gu", "kn", "ml", "or", "pa", "ta", "te"] {
                transliterate(&name, Script::of_language(language));
            }
        }
    }
}

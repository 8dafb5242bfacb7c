//! A record as a person on a calling list (docs/contract/streams.md#people).

use campaigns::list::NewRow;
use domain::phone::Phone;
use domain::stream::fields::text_of;
use domain::stream::transliteration::{Script, transliterate};
use serde_json::{Map, Value};
use store::streams::Feed;

/// The parts of a record that become a person.
pub(crate) struct Person<'a> {
    pub phone: Phone,
    pub name: Option<&'a str>,
    /// Fields of which the name was composed.
    pub name_fields: &'a [String],
    pub fields: &'a Map<String, Value>,
}

/// Names that exist even where a record has no field of this name.
const NAME: &str = "name";
const PHONE: &str = "phone";

/// The row of a person on the list of a campaign.
pub(crate) fn row(person: &Person<'_>, feed: &Feed) -> NewRow {
    let language = feed.language.as_deref().unwrap_or("en");
    let script = feed.attachment.transliterate.then(|| Script::of_language(language));
    let named = |name: &str| script.map_or_else(|| name.to_owned(), |script| transliterate(name, script));
    let mut variables = Map::new();
    for (variable, field) in &feed.attachment.variable_mapping {
        let Some(field) = field.as_str() else { continue };
        let own = text_of(person.fields, field);
        let value = match own {
            Some(text) if field == NAME || person.name_fields.iter().any(|part| part == field) => {
                named(&text)
            }
            Some(text) => text,
            None if field == NAME => match person.name {
                Some(name) => named(name),
                None => continue,
            },
            None if field == PHONE => person.phone.to_string(),
            None => continue,
        };
        variables.insert(variable.clone(), Value::String(value));
    }
    NewRow {
        phone: person.phone.to_string(),
        name: person.name.map(named),
        variables,
        stream: Some(feed.attachment.stream),
    }
}

//! Template values and opt-in of one person of a list.

use app::Failure;
use domain::channel::campaign::{self, Mapping, ParamSource, PersonFields};
use domain::channel::template::{self, Slot, fill};
use domain::channel::{Content, Template};
use serde_json::Value;
use store::campaigns::list::EntryRow;
use store::channel_campaigns::BlockRow;
use store::contacts::ContactRow;

/// Where the values of a campaign come from.
pub(super) fn mapping(block: &BlockRow) -> Result<Mapping, Failure> {
    serde_json::from_value(block.param_mapping.clone()).map_err(|why| Failure::internal(why.to_string()))
}

/// Validates a mapping against its template: every placeholder has a value, nothing else has one, and constant values are
/// acceptable to the channel.
///
/// # Errors
/// The key below `paramMapping` that is wrong, and what it must be.
pub(super) fn check_fit(template: &Template, mapping: &Mapping) -> Result<(), (String, &'static str)> {
    let places: Vec<(String, usize)> =
        template.slots().iter().filter_map(|slot| Some((campaign::key(slot)?, longest(slot)))).collect();
    for (key, mapped) in mapping {
        let Some((_, most)) = places.iter().find(|(place, _)| place == key) else {
            // The code of a one-time-code button is that of the body; to say so again does no harm.
            if is_code_button(template, key) {
                continue;
            }
            return Err((key.clone(), "is no place of the template"));
        };
        if ParamSource::parse(&mapped.source) != Some(ParamSource::Static) {
            continue;
        }
        let value = mapped.value.trim();
        if !template::is_on_one_line(value) {
            return Err((format!("{key}.value"), template::ONE_LINE));
        }
        if value.chars().count() > *most {
            return Err((format!("{key}.value"), "is longer than the channel takes"));
        }
    }
    match places.into_iter().find(|(place, _)| !mapping.contains_key(place)) {
        Some((place, _)) => Err((place, "is needed by the template")),
        None => Ok(()),
    }
}

/// Most characters of the value of a place.
fn longest(slot: &Slot) -> usize {
    match slot {
        Slot::HeaderText(_) => template::MAX_LINE,
        Slot::Body(_) => template::MAX_BODY,
        Slot::ButtonCode(_) => template::MAX_CODE,
        Slot::HeaderMedia(_) | Slot::ButtonUrl(_) | Slot::Raw(_) => template::MAX_URL,
    }
}

fn is_code_button(template: &Template, key: &str) -> bool {
    let index = key.strip_prefix("button.").and_then(|index| index.parse::<usize>().ok());
    let button = index.and_then(|index| template.buttons().get(index));
    button.is_some_and(|button| template.is_code_button(button))
}

/// The message to a person; `None` when a value is missing or does not fit.
pub(super) fn content(
    template: &Template,
    mapping: &Mapping,
    row: &EntryRow,
    contact: Option<&ContactRow>,
) -> Option<Content> {
    let known = PersonFields {
        variables: &row.variables,
        name: contact.and_then(|contact| contact.name.as_deref()).or(row.name.as_deref()),
        email: contact.and_then(|contact| contact.email.as_deref()),
        phone: row.phone.as_deref(),
        attributes: contact.map(|contact| &contact.attributes).filter(|known| **known != Value::Null),
    };
    let params = campaign::params(template, mapping, &known).ok()?;
    fill(template, &params).ok()
}

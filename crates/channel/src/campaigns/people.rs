//! One person of a list: what the template gets for them, and whether their opt-in is known.

use app::Failure;
use domain::channel::campaign::{self, Known, Mapping};
use domain::channel::template::fill;
use domain::channel::{Content, Template};
use serde_json::Value;
use store::campaigns::list::EntryRow;
use store::channel_campaigns::BlockRow;
use store::contacts::ContactRow;

/// Where the values of a campaign come from.
pub(super) fn mapping(block: &BlockRow) -> Result<Mapping, Failure> {
    serde_json::from_value(block.param_mapping.clone()).map_err(|why| Failure::internal(why.to_string()))
}

/// The message to a person; `None` when a value is missing or does not fit.
pub(super) fn content(
    template: &Template,
    mapping: &Mapping,
    row: &EntryRow,
    contact: Option<&ContactRow>,
) -> Option<Content> {
    let known = Known {
        variables: &row.variables,
        name: contact.and_then(|contact| contact.name.as_deref()).or(row.name.as_deref()),
        email: contact.and_then(|contact| contact.email.as_deref()),
        phone: row.phone.as_deref(),
        attributes: contact.map(|contact| &contact.attributes).filter(|known| **known != Value::Null),
    };
    let params = campaign::params(template, mapping, &known).ok()?;
    fill(template, &params).ok()
}

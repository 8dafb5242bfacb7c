//! Templates: placeholders, filling, and validation of new ones (docs/contract/channel.md#templates).
//!
//! | file | holds |
//! |---|---|
//! | here | a template, its limits, and its placeholders |
//! | `status` | the status of a template at the provider |
//! | `variables` | the variables of its texts |
//! | `params` | the values of a request, and their errors |
//! | `fill` | filling a template with its values |
//! | `new` | validation of a new template against the limits of the channel |

mod fill;
mod new;
mod params;
mod status;
#[cfg(test)]
mod tests;
mod variables;

pub use fill::{ONE_LINE, fill, is_on_one_line};
pub use new::{NewTemplate, as_created, check_components};
pub use params::{ButtonValue, HeaderValue, Issue, Params, Values};
pub use status::{TemplateStatus, status_after};
pub use variables::{is_named, variables};

use serde_json::Value;

use self::variables::replaced;
use super::content::{FilledTemplate, MediaKind};
use crate::ids::{ChannelTemplate, Id};

pub const MAX_NAME: usize = 512;
/// Longest text of a header and a footer.
pub const MAX_LINE: usize = 60;
/// Longest text of a body, before and after its values are filled in.
pub const MAX_BODY: usize = 1_024;
/// Longest body of a card.
pub const MAX_CARD_BODY: usize = 160;
/// Longest text of a button.
pub const MAX_BUTTON: usize = 25;
pub const MAX_BUTTONS: usize = 10;
/// Longest address of a button.
pub const MAX_URL: usize = 2_000;
/// Longest number of a button.
pub const MAX_PHONE: usize = 20;
/// Longest code of a button.
pub const MAX_CODE: usize = 20;
/// Longest payload of a button.
pub const MAX_PAYLOAD: usize = 128;
/// Most components of a template, and of a raw list of them.
pub const MAX_COMPONENTS: usize = 10;
/// Most values of a template.
pub const MAX_VALUES: usize = 100;
/// Most bytes of a template's components.
pub const MAX_BYTES: usize = 64 * 1024;

closed_sets::words! {
    /// What a template is for.
    pub enum Category {
        /// Offers and news; only for people who agreed to them.
        Marketing = "MARKETING",
        /// About something that the customer has or does.
        Utility = "UTILITY",
        Authentication = "AUTHENTICATION",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    pub id: Id<ChannelTemplate>,
    /// The provider's id of it.
    pub provider_id: String,
    pub name: String,
    pub language: String,
    pub category: Category,
    /// Whether it may be sent.
    pub status: TemplateStatus,
    /// Its components, in the channel's own form.
    pub components: Vec<Value>,
    /// Whether its values have names.
    pub named: bool,
}

/// How a request refers to a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateRef {
    Id(Id<ChannelTemplate>),
    /// By name and language.
    Name {
        name: String,
        language: String,
    },
}

/// A placeholder of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// The variable of a text header.
    HeaderText(String),
    /// The file of a header.
    HeaderMedia(MediaKind),
    /// A variable of the body: its name, or its number.
    Body(String),
    /// The end of a button's address.
    ButtonUrl(usize),
    /// The code of a button.
    ButtonCode(usize),
    /// Cards, a catalogue, a place: only raw components can say them.
    Raw(&'static str),
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn is(value: &Value, name: &str, word_: &str) -> bool {
    word(value, name).eq_ignore_ascii_case(word_)
}

impl Template {
    fn component(&self, kind: &str) -> Option<&Value> {
        self.components.iter().find(|component| is(component, "type", kind))
    }

    /// Its buttons, in the channel's own form.
    pub fn buttons(&self) -> &[Value] {
        self.component("BUTTONS")
            .and_then(|buttons| buttons.get("buttons"))
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// Whether a button takes the one-time code, which is that of the body. Handed in, it is an `OTP` button; the
    /// provider lists it as an address that ends in the code.
    pub fn is_code_button(&self, button: &Value) -> bool {
        let url = word(button, "url");
        let listed = is(button, "type", "URL") && !variables(url).is_empty();
        is(button, "type", "OTP")
            || listed && (self.category == Category::Authentication || url.ends_with("code=otp{{1}}"))
    }

    /// The text of its body, with its variables.
    pub fn body(&self) -> &str {
        self.component("BODY").map_or("", |body| word(body, "text"))
    }

    /// Variables of its body, in order; those with numbers by number.
    pub fn body_variables(&self) -> Vec<String> {
        // The words of an authentication template are the provider's own; its one value is the code.
        if self.category == Category::Authentication && self.body().is_empty() {
            return vec!["1".to_owned()];
        }
        let mut found = variables(self.body());
        if !self.named {
            found.sort_by_key(|name| name.parse::<u64>().unwrap_or(u64::MAX));
        }
        found
    }

    /// Whether it can be sent to somebody who is known by an id only: one-time codes cannot.
    pub fn takes_user_ids(&self) -> bool {
        self.category != Category::Authentication
    }

    /// Every placeholder, in order.
    pub fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        if let Some(header) = self.component("HEADER") {
            match word(header, "format").to_ascii_uppercase().as_str() {
                "TEXT" => slots.extend(variables(word(header, "text")).into_iter().map(Slot::HeaderText)),
                "IMAGE" => slots.push(Slot::HeaderMedia(MediaKind::Image)),
                "VIDEO" | "GIF" => slots.push(Slot::HeaderMedia(MediaKind::Video)),
                "DOCUMENT" => slots.push(Slot::HeaderMedia(MediaKind::Document)),
                "LOCATION" => slots.push(Slot::Raw("a place in its header")),
                _ => {}
            }
        }
        slots.extend(self.body_variables().into_iter().map(Slot::Body));
        for (at, button) in self.buttons().iter().enumerate() {
            if self.is_code_button(button) {
                continue;
            }
            match word(button, "type").to_ascii_uppercase().as_str() {
                "URL" if !variables(word(button, "url")).is_empty() => slots.push(Slot::ButtonUrl(at)),
                "COPY_CODE" => slots.push(Slot::ButtonCode(at)),
                "MPM" => slots.push(Slot::Raw("products")),
                _ => {}
            }
        }
        if self.component("CAROUSEL").is_some() {
            slots.push(Slot::Raw("cards"));
        }
        if let Some(offer) = self.component("LIMITED_TIME_OFFER")
            && offer.pointer("/limited_time_offer/has_expiration").and_then(Value::as_bool) == Some(true)
        {
            slots.push(Slot::Raw("the end of its offer"));
        }
        slots
    }

    /// The words of its body with these values, for the record.
    pub fn words(&self, filled: &FilledTemplate) -> String {
        let values: Vec<(Option<&str>, &str)> = filled
            .components
            .iter()
            .find(|component| is(component, "type", "body"))
            .and_then(|body| body.get("parameters"))
            .and_then(Value::as_array)
            .map(|parameters| {
                parameters
                    .iter()
                    .map(|parameter| {
                        let text = parameter.get("text").or_else(|| {
                            ["currency", "date_time"]
                                .iter()
                                .find_map(|kind| parameter.get(kind)?.get("fallback_value"))
                        });
                        let name = parameter.get("parameter_name").and_then(Value::as_str);
                        (name, text.and_then(Value::as_str).unwrap_or_default())
                    })
                    .collect()
            })
            .unwrap_or_default();
        let order = self.body_variables();
        replaced(self.body(), |name| {
            let named = values.iter().find(|(known, _)| *known == Some(name));
            let by_place = || values.get(order.iter().position(|known| known == name)?);
            named.or_else(by_place).map(|(_, value)| (*value).to_owned())
        })
    }
}

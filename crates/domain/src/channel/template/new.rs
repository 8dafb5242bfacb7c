//! Validates a new template against the limits of the channel (docs/contract/channel.md#template-limits).

use serde_json::{Map, Value, json};

use super::variables::{is_number, variables};
use super::{
    Category, MAX_BODY, MAX_BUTTON, MAX_BUTTONS, MAX_BYTES, MAX_CARD_BODY, MAX_COMPONENTS, MAX_LINE,
    MAX_NAME, MAX_PHONE, MAX_URL, MAX_VALUES, word,
};
use crate::channel::content::{Misfit, needed};

/// A template that is handed in.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTemplate {
    pub name: String,
    pub language: String,
    pub category: Category,
    /// Its components, in the channel's own form.
    pub components: Vec<Value>,
    /// Whether its values have names.
    pub named: bool,
}

impl NewTemplate {
    /// Validates it against the limits of the channel (docs/contract/channel.md#template-limits).
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn check(&self) -> Result<(), Misfit> {
        let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if self.name.is_empty() || self.name.len() > MAX_NAME || !self.name.bytes().all(good) {
            return Err(Misfit::new(
                "name",
                format!("must have 1 to {MAX_NAME} of the characters a-z, 0-9 and _"),
            ));
        }
        if !is_language(&self.language) {
            return Err(Misfit::new("language", "must be a language such as en or en_US"));
        }
        check_components(&self.components, self.category, self.named)
    }
}

/// Whether a text looks like a language of the channel: `en`, `en_US`, `fil`, `zh_HK`.
fn is_language(text: &str) -> bool {
    let (language, country) =
        text.split_once('_').map_or((text, None), |(language, country)| (language, Some(country)));
    (2..=3).contains(&language.len())
        && language.bytes().all(|byte| byte.is_ascii_lowercase())
        && country.is_none_or(|country| {
            (2..=4).contains(&country.len()) && country.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// Validates components against the limits of the channel.
///
/// # Errors
/// The first field that is wrong.
pub fn check_components(components: &[Value], category: Category, named: bool) -> Result<(), Misfit> {
    if components.is_empty() || components.len() > MAX_COMPONENTS {
        return Err(Misfit::new("components", format!("must have 1 to {MAX_COMPONENTS} items")));
    }
    if json!(components).to_string().len() > MAX_BYTES {
        return Err(Misfit::new("components", format!("must have at most {} KB", MAX_BYTES / 1024)));
    }
    let mut kinds: Vec<String> = Vec::new();
    for (at, component) in components.iter().enumerate() {
        let field = format!("components[{at}]");
        let kind = word(component, "type").to_ascii_uppercase();
        if kind.is_empty() {
            return Err(Misfit::new(format!("{field}.type"), "is required"));
        }
        if kinds.contains(&kind) {
            return Err(Misfit::new(format!("{field}.type"), "must be unique among the components"));
        }
        part(&field, &kind, component, category, named, MAX_BODY)?;
        kinds.push(kind);
    }
    if !kinds.iter().any(|kind| kind == "BODY") {
        return Err(Misfit::new("components", "must have a BODY"));
    }
    Ok(())
}

fn part(
    field: &str,
    kind: &str,
    component: &Value,
    category: Category,
    named: bool,
    most: usize,
) -> Result<(), Misfit> {
    match kind {
        "HEADER" => header(field, component),
        "BODY" if category == Category::Authentication => Ok(()),
        "BODY" => body(field, component, named, most),
        "FOOTER" if category == Category::Authentication => Ok(()),
        "FOOTER" => {
            let text = line(&format!("{field}.text"), component, "text", MAX_LINE)?;
            if !variables(text).is_empty() {
                return Err(Misfit::new(format!("{field}.text"), "must not have variables"));
            }
            Ok(())
        }
        "BUTTONS" => buttons(field, component),
        "CAROUSEL" => cards(field, component, category, named),
        // Types that are newer than this list are left to the provider.
        _ => Ok(()),
    }
}

fn line<'a>(field: &str, component: &'a Value, name: &str, most: usize) -> Result<&'a str, Misfit> {
    let text = word(component, name);
    needed(field, text, most)?;
    Ok(text)
}

fn header(field: &str, component: &Value) -> Result<(), Misfit> {
    let format = word(component, "format").to_ascii_uppercase();
    match format.as_str() {
        "TEXT" => {
            let text = line(&format!("{field}.text"), component, "text", MAX_LINE)?;
            if variables(text).len() > 1 {
                return Err(Misfit::new(format!("{field}.text"), "must have at most one variable"));
            }
            Ok(())
        }
        "IMAGE" | "VIDEO" | "DOCUMENT" | "GIF" | "LOCATION" | "PRODUCT" => Ok(()),
        _ => Err(Misfit::new(
            format!("{field}.format"),
            "must be TEXT, IMAGE, VIDEO, DOCUMENT, GIF or LOCATION",
        )),
    }
}

fn body(field: &str, component: &Value, named: bool, most: usize) -> Result<(), Misfit> {
    let field = format!("{field}.text");
    let text = line(&field, component, "text", most)?.trim();
    if text.starts_with("{{") || text.ends_with("}}") {
        return Err(Misfit::new(field, "must not begin or end with a variable"));
    }
    let names = variables(text);
    if names.len() > MAX_VALUES {
        return Err(Misfit::new(field, format!("must have at most {MAX_VALUES} variables")));
    }
    if named {
        let good = |name: &String| {
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
                && !is_number(name)
        };
        if !names.iter().all(good) {
            return Err(Misfit::new(field, "must have variables with names of a-z, 0-9 and _ only"));
        }
    } else if (1..=names.len()).any(|number| !names.contains(&number.to_string())) {
        return Err(Misfit::new(field, "must have variables that count from {{1}} without a gap"));
    }
    Ok(())
}

fn buttons(field: &str, component: &Value) -> Result<(), Misfit> {
    let field = format!("{field}.buttons");
    let buttons = component.get("buttons").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if buttons.is_empty() || buttons.len() > MAX_BUTTONS {
        return Err(Misfit::new(field, format!("must have 1 to {MAX_BUTTONS} items")));
    }
    let kinds: Vec<String> = buttons.iter().map(|button| word(button, "type").to_ascii_uppercase()).collect();
    for (kind, most) in [("URL", 2), ("PHONE_NUMBER", 1), ("COPY_CODE", 1)] {
        if kinds.iter().filter(|known| *known == kind).count() > most {
            return Err(Misfit::new(field, format!("must have at most {most} of the type {kind}")));
        }
    }
    let changes =
        kinds.windows(2).filter(|pair| (pair[0] == "QUICK_REPLY") != (pair[1] == "QUICK_REPLY")).count();
    if changes > 1 {
        return Err(Misfit::new(field, "must have those of the type QUICK_REPLY next to each other"));
    }
    for (at, (button, kind)) in buttons.iter().zip(&kinds).enumerate() {
        let field = |name: &str| format!("{field}[{at}].{name}");
        match kind.as_str() {
            "" => return Err(Misfit::new(field("type"), "is required")),
            "QUICK_REPLY" | "FLOW" => {
                line(&field("text"), button, "text", MAX_BUTTON)?;
            }
            "URL" => {
                line(&field("text"), button, "text", MAX_BUTTON)?;
                let url = line(&field("url"), button, "url", MAX_URL)?;
                if variables(url).len() > 1 || (url.contains("{{") && !url.ends_with("}}")) {
                    return Err(Misfit::new(field("url"), "may have one variable, at its end"));
                }
                if !is_address(url) {
                    return Err(Misfit::new(field("url"), "must be an http:// or https:// address"));
                }
            }
            "PHONE_NUMBER" => {
                line(&field("text"), button, "text", MAX_BUTTON)?;
                let number = line(&field("phone_number"), button, "phone_number", MAX_PHONE)?;
                if !is_number_to_dial(number) {
                    return Err(Misfit::new(field("phone_number"), "must be a phone number"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a text is an address of the web, with a host before its variable.
fn is_address(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")) else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.chars().all(|sign| sign.is_alphanumeric() || sign == '-')
    };
    name.contains('.')
        && name.split('.').all(part)
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
        && !url.chars().any(|sign| sign.is_whitespace() || sign.is_control())
}

/// Whether a text is a number that a phone can dial: digits, and the signs that part them.
fn is_number_to_dial(text: &str) -> bool {
    let rest = text.trim().strip_prefix('+').unwrap_or(text.trim());
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    (5..=15).contains(&digits) && rest.bytes().all(|byte| byte.is_ascii_digit() || b" -().".contains(&byte))
}

fn cards(field: &str, component: &Value, category: Category, named: bool) -> Result<(), Misfit> {
    let field = format!("{field}.cards");
    let cards = component.get("cards").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if !(2..=10).contains(&cards.len()) {
        return Err(Misfit::new(field, "must have 2 to 10 items"));
    }
    let layout = |card: &Value| -> Vec<String> {
        let parts = card.get("components").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        parts
            .iter()
            .flat_map(|part| {
                let buttons = part.get("buttons").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let own = format!("{} {}", word(part, "type"), word(part, "format")).to_ascii_uppercase();
                std::iter::once(own)
                    .chain(buttons.iter().map(|button| word(button, "type").to_ascii_uppercase()))
            })
            .collect()
    };
    let first = layout(&cards[0]);
    for (at, card) in cards.iter().enumerate() {
        if layout(card) != first {
            return Err(Misfit::new(
                format!("{field}[{at}]"),
                "must have the same components as the first card",
            ));
        }
        let parts = card.get("components").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (part_at, inner) in parts.iter().enumerate() {
            let field = format!("{field}[{at}].components[{part_at}]");
            let kind = word(inner, "type").to_ascii_uppercase();
            if kind == "CAROUSEL" {
                return Err(Misfit::new(field, "must not contain cards"));
            }
            let buttons = inner.get("buttons").and_then(Value::as_array).map_or(0, Vec::len);
            if buttons > 2 {
                return Err(Misfit::new(format!("{field}.buttons"), "must have at most 2 items"));
            }
            part(&field, &kind, inner, category, named, MAX_CARD_BODY)?;
        }
    }
    Ok(())
}

/// The body of a request that creates a template at the provider.
pub fn as_created(template: &NewTemplate) -> Value {
    let mut body = Map::new();
    body.insert("name".into(), json!(template.name));
    body.insert("language".into(), json!(template.language));
    body.insert("category".into(), json!(template.category.as_str()));
    if template.named {
        body.insert("parameter_format".into(), json!("NAMED"));
    }
    body.insert("components".into(), json!(template.components));
    Value::Object(body)
}

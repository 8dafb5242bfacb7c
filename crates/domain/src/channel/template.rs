//! Templates: what they need, how they are filled, and what a new one may look like
//! (docs/contract/channel.md#templates).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::content::{Content, FilledTemplate, MediaKind, Misfit, https};
use crate::ids::{ChannelTemplate, Id};

/// Longest name.
pub const MAX_NAME: usize = 512;
/// Longest text of a header and a footer.
pub const MAX_LINE: usize = 60;
/// Longest text of a body, before and after its values are filled in.
pub const MAX_BODY: usize = 1_024;
/// Longest body of a card.
pub const MAX_CARD_BODY: usize = 160;
/// Longest text of a button.
pub const MAX_BUTTON: usize = 25;
/// Most buttons.
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
        /// One-time codes.
        Authentication = "AUTHENTICATION",
    }
}

closed_sets::words! {
    /// Where a template is at the provider.
    pub enum TemplateStatus {
        /// It is being looked at.
        Pending = "PENDING",
        /// It may be sent.
        Approved = "APPROVED",
        /// It was refused.
        Rejected = "REJECTED",
        /// It rests because people report it.
        Paused = "PAUSED",
        /// It was switched off for good.
        Disabled = "DISABLED",
        /// Its refusal is being looked at again.
        InAppeal = "IN_APPEAL",
        /// It is about to be deleted.
        PendingDeletion = "PENDING_DELETION",
        /// It is gone.
        Deleted = "DELETED",
        /// There are too many templates.
        LimitExceeded = "LIMIT_EXCEEDED",
        /// It was put away.
        Archived = "ARCHIVED",
    }
}

/// What an event of the provider makes of a template's status; `None` when it says nothing of it.
pub fn status_after(event: &str) -> Option<TemplateStatus> {
    match event {
        "REINSTATED" | "UNARCHIVED" | "UNPAUSED" => Some(TemplateStatus::Approved),
        // A warning, and a lock against changes: the template may be sent as before.
        "FLAGGED" | "LOCKED" | "UNLOCKED" => None,
        other => TemplateStatus::parse(other),
    }
}

/// A template.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// Its id.
    pub id: Id<ChannelTemplate>,
    /// The provider's id of it.
    pub provider_id: String,
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: String,
    /// What it is for.
    pub category: Category,
    /// Whether it may be sent.
    pub status: TemplateStatus,
    /// Its components, in the channel's own form.
    pub components: Vec<Value>,
    /// Whether its values have names.
    pub named: bool,
}

/// How a request names a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateRef {
    /// By its id.
    Id(Id<ChannelTemplate>),
    /// By name and language.
    Name {
        /// The name.
        name: String,
        /// The language.
        language: String,
    },
}

/// Values of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Values {
    /// By number, from the first.
    Numbered(Vec<String>),
    /// By name.
    Named(std::collections::BTreeMap<String, String>),
}

/// What stands in a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderValue {
    /// `text`, `image`, `video` or `document`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The address of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The name of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// What a button gets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ButtonValue {
    /// Its place among the template's buttons, from 0.
    pub index: usize,
    /// The end of an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What a tap brings back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// The code to be copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The values of a template.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    /// Of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Values>,
    /// Of the header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<HeaderValue>,
    /// Of buttons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buttons: Vec<ButtonValue>,
    /// The components themselves, which are passed on as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<Vec<Value>>,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// Where: `params.body.name`.
    pub field: String,
    /// `missing`, `extra`, `too_long` or `invalid`.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// A place of a template that needs a value.
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

/// The variables of a text in their order, each once: `{{name}}`, `{{1}}`.
pub fn variables(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        rest = &rest[at + 2..];
        let Some(end) = rest.find("}}") else { break };
        let name = rest[..end].trim();
        if !name.is_empty() && !name.contains('{') && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
        rest = &rest[end + 2..];
    }
    found
}

/// A text with its variables replaced; one without a value stays as it is.
fn replaced(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let Some(end) = rest[at..].find("}}") else { break };
        out.push_str(&rest[..at]);
        let name = rest[at + 2..at + end].trim();
        match value(name) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&rest[at..at + end + 2]),
        }
        rest = &rest[at + end + 2..];
    }
    out.push_str(rest);
    out
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether these components have values with names: a format that says so, or a variable that is no number.
pub fn is_named(components: &[Value], format: Option<&str>) -> bool {
    format.is_some_and(|format| format.eq_ignore_ascii_case("named"))
        || components
            .iter()
            .filter_map(|component| component.get("text").and_then(Value::as_str))
            .any(|text| variables(text).iter().any(|name| !is_number(name)))
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

    fn buttons(&self) -> &[Value] {
        self.component("BUTTONS")
            .and_then(|buttons| buttons.get("buttons"))
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
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

    /// Every place that needs a value, in order.
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

/// Fills a template (docs/contract/channel.md#template-values).
///
/// # Errors
/// Everything that is missing, extra, too long or cannot be sent.
pub fn fill(template: &Template, params: &Params) -> Result<Content, Vec<Issue>> {
    let mut filling = Filling { template, components: Vec::new(), issues: Vec::new() };
    match &params.components {
        Some(raw) => filling.raw(raw, params),
        None => {
            filling.header(params.header.as_ref());
            filling.body(params.body.as_ref());
            filling.buttons(params);
            filling.beyond();
        }
    }
    if !filling.issues.is_empty() {
        return Err(filling.issues);
    }
    Ok(Content::Template(FilledTemplate {
        name: template.name.clone(),
        language: template.language.clone(),
        components: filling.components,
    }))
}

struct Filling<'a> {
    template: &'a Template,
    components: Vec<Value>,
    issues: Vec<Issue>,
}

impl Filling<'_> {
    fn issue(&mut self, field: impl Into<String>, code: &'static str, message: impl Into<String>) {
        self.issues.push(Issue { field: field.into(), code, message: message.into() });
    }

    fn raw(&mut self, raw: &[Value], params: &Params) {
        let other = [
            (params.body.is_some(), "params.body"),
            (params.header.is_some(), "params.header"),
            (!params.buttons.is_empty(), "params.buttons"),
        ];
        for (_, field) in other.into_iter().filter(|(given, _)| *given) {
            self.issue(field, "extra", "cannot be combined with params.components");
        }
        if raw.len() > MAX_COMPONENTS {
            self.issue("params.components", "too_long", format!("may have at most {MAX_COMPONENTS} items"));
        }
        for (at, component) in raw.iter().enumerate() {
            if word(component, "type").is_empty() {
                self.issue(format!("params.components[{at}].type"), "missing", "is required");
            }
        }
        if json!(raw).to_string().len() > MAX_BYTES {
            self.issue("params.components", "too_long", format!("may have at most {} KB", MAX_BYTES / 1024));
        }
        self.components = raw.to_vec();
    }

    /// Whether a value can be sent; says what is wrong with it.
    fn fits(&mut self, field: &str, value: &str, most: usize) -> bool {
        if value.trim().is_empty() {
            self.issue(field, "missing", "must not be empty");
        } else if value.chars().count() > most {
            self.issue(field, "too_long", format!("may have at most {most} characters"));
        } else if value.contains(['\n', '\r', '\t']) || value.contains("     ") {
            self.issue(field, "invalid", "must not have line breaks, tabs or more than four spaces in a row");
        } else {
            return true;
        }
        false
    }

    fn header(&mut self, given: Option<&HeaderValue>) {
        const FIELD: &str = "params.header";
        let Some(header) = self.template.component("HEADER") else {
            if given.is_some() {
                self.issue(FIELD, "extra", "the template has no header");
            }
            return;
        };
        let format = word(header, "format").to_ascii_lowercase();
        let kind = if format == "gif" { "video".to_owned() } else { format };
        let text = word(header, "text");
        match kind.as_str() {
            "text" => {
                let names = variables(text);
                match (names.first(), given) {
                    (None, None) => {}
                    (None, Some(_)) => self.issue(FIELD, "extra", "the header has no variable"),
                    (Some(_), None) => self.issue(FIELD, "missing", "the header has a variable"),
                    (Some(_), Some(given)) if given.kind != "text" => {
                        self.issue("params.header.type", "invalid", "must be text");
                    }
                    (Some(name), Some(given)) => {
                        let value = given.text.clone().unwrap_or_default();
                        let whole = replaced(text, |_| Some(value.clone()));
                        if self.fits("params.header.text", &value, MAX_LINE) {
                            if whole.chars().count() > MAX_LINE {
                                self.issue(
                                    "params.header.text",
                                    "too_long",
                                    format!("makes the header longer than {MAX_LINE} characters"),
                                );
                            }
                            let value = self.text(name, &value);
                            self.components.push(json!({"type": "header", "parameters": [value]}));
                        }
                    }
                }
            }
            "image" | "video" | "document" => {
                let Some(given) = given else {
                    return self.issue(
                        FIELD,
                        "missing",
                        format!("the header needs a file of the type {kind}"),
                    );
                };
                if given.kind != kind {
                    return self.issue("params.header.type", "invalid", format!("must be {kind}"));
                }
                let url = given.url.clone().unwrap_or_default();
                if url.is_empty() {
                    return self.issue("params.header.url", "missing", "is required");
                }
                if let Err(misfit) = https("params.header.url", &url) {
                    return self.issue(misfit.field, "invalid", misfit.must);
                }
                let mut file = json!({"link": url});
                if let (Some(name), "document") = (&given.filename, kind.as_str()) {
                    file["filename"] = json!(name);
                }
                let mut value = json!({"type": kind});
                value[kind.as_str()] = file;
                self.components.push(json!({"type": "header", "parameters": [value]}));
            }
            _ => {
                if given.is_some() {
                    self.issue(FIELD, "extra", "this header takes no value; a place needs params.components");
                }
            }
        }
    }

    fn text(&self, name: &str, value: &str) -> Value {
        if self.template.named {
            json!({"type": "text", "parameter_name": name, "text": value})
        } else {
            json!({"type": "text", "text": value})
        }
    }

    fn body(&mut self, given: Option<&Values>) {
        const FIELD: &str = "params.body";
        let names = self.template.body_variables();
        let values: Vec<(String, Option<String>)> = match given {
            None => {
                let field = |at: usize, name: &str| {
                    if self.template.named { format!("{FIELD}.{name}") } else { format!("{FIELD}[{at}]") }
                };
                names.iter().enumerate().map(|(at, name)| (field(at, name), None)).collect()
            }
            Some(Values::Named(map)) if self.template.named || map.is_empty() => {
                let unknown: Vec<&String> = map.keys().filter(|key| !names.contains(key)).collect();
                for key in unknown {
                    self.issue(format!("{FIELD}.{key}"), "extra", "the template has no such variable");
                }
                let field = |at: usize, name: &str| {
                    if self.template.named { format!("{FIELD}.{name}") } else { format!("{FIELD}[{at}]") }
                };
                names.iter().enumerate().map(|(at, name)| (field(at, name), map.get(name).cloned())).collect()
            }
            Some(Values::Numbered(list)) if !self.template.named || list.is_empty() => {
                for at in names.len()..list.len() {
                    self.issue(format!("{FIELD}[{at}]"), "extra", "the template has no such variable");
                }
                let field = |at: usize, name: &str| {
                    if self.template.named { format!("{FIELD}.{name}") } else { format!("{FIELD}[{at}]") }
                };
                names.iter().enumerate().map(|(at, name)| (field(at, name), list.get(at).cloned())).collect()
            }
            Some(Values::Named(_)) => {
                return self.issue(
                    FIELD,
                    "invalid",
                    "must be a list: the variables of this template have numbers",
                );
            }
            Some(Values::Numbered(_)) => {
                return self.issue(
                    FIELD,
                    "invalid",
                    "must be an object: the variables of this template have names",
                );
            }
        };
        let mut parameters = Vec::with_capacity(values.len());
        for ((field, value), name) in values.iter().zip(&names) {
            match value {
                None => self.issue(
                    field.clone(),
                    "missing",
                    format!("the template needs a value for {{{{{name}}}}}"),
                ),
                Some(value) => {
                    if self.fits(field, value, MAX_BODY) {
                        parameters.push(self.text(name, value));
                    }
                }
            }
        }
        if parameters.is_empty() || parameters.len() < names.len() {
            return;
        }
        let filled = FilledTemplate {
            name: String::new(),
            language: String::new(),
            components: vec![json!({"type": "body", "parameters": parameters})],
        };
        if self.template.words(&filled).chars().count() > MAX_BODY {
            self.issue(FIELD, "too_long", format!("makes the text longer than {MAX_BODY} characters"));
        }
        self.components.extend(filled.components);
    }

    fn buttons(&mut self, params: &Params) {
        let buttons = self.template.buttons().to_vec();
        for (at, given) in params.buttons.iter().enumerate() {
            let field = format!("params.buttons[{at}]");
            if given.index >= buttons.len() {
                self.issue(
                    format!("{field}.index"),
                    "extra",
                    format!("the template has {} buttons", buttons.len()),
                );
            } else if params.buttons[..at].iter().any(|other| other.index == given.index) {
                self.issue(format!("{field}.index"), "extra", "stands there twice");
            }
        }
        let code = match &params.body {
            Some(Values::Numbered(list)) => list.first().cloned(),
            Some(Values::Named(map)) => map.values().next().cloned(),
            None => None,
        };
        for (index, button) in buttons.iter().enumerate() {
            let place = params.buttons.iter().position(|given| given.index == index);
            let given = place.map(|at| &params.buttons[at]);
            let field =
                place.map_or_else(|| "params.buttons".to_owned(), |at| format!("params.buttons[{at}]"));
            self.button(index, button, given, &field, code.as_deref());
        }
    }

    fn button(
        &mut self,
        index: usize,
        button: &Value,
        given: Option<&ButtonValue>,
        field: &str,
        code: Option<&str>,
    ) {
        let part = |sub_type: &str, parameter: Value| json!({"type": "button", "sub_type": sub_type, "index": index, "parameters": [parameter]});
        let kind = word(button, "type").to_ascii_uppercase();
        match kind.as_str() {
            "URL" if !variables(word(button, "url")).is_empty() => {
                let Some(text) = given.and_then(|given| given.text.as_deref()) else {
                    return self.issue(
                        format!("{field}.text"),
                        "missing",
                        format!("button {index} needs the end of its address"),
                    );
                };
                if self.fits(&format!("{field}.text"), text, MAX_URL) {
                    self.components.push(part("url", json!({"type": "text", "text": text})));
                }
            }
            "COPY_CODE" => {
                let value = given.and_then(|given| given.code.as_deref().or(given.text.as_deref()));
                let Some(value) = value else {
                    return self.issue(
                        format!("{field}.code"),
                        "missing",
                        format!("button {index} needs its code"),
                    );
                };
                if self.fits(&format!("{field}.code"), value, MAX_CODE) {
                    self.components
                        .push(part("copy_code", json!({"type": "coupon_code", "coupon_code": value})));
                }
            }
            "OTP" => {
                // The code stands in the body and in the button.
                let value = given.and_then(|given| given.code.as_deref().or(given.text.as_deref())).or(code);
                if let Some(value) = value {
                    self.components.push(part("url", json!({"type": "text", "text": value})));
                }
            }
            "QUICK_REPLY" => {
                let Some(given) = given else { return };
                let Some(payload) = given.payload.as_deref().or(given.text.as_deref()) else {
                    return self.issue(format!("{field}.payload"), "missing", "is required");
                };
                if self.fits(&format!("{field}.payload"), payload, MAX_PAYLOAD) {
                    self.components.push(part("quick_reply", json!({"type": "payload", "payload": payload})));
                }
            }
            _ => {
                if given.is_some() {
                    self.issue(field, "extra", format!("button {index} takes no value"));
                }
            }
        }
    }

    /// What only raw components can say.
    fn beyond(&mut self) {
        for slot in self.template.slots() {
            if let Slot::Raw(what) = slot {
                self.issue(
                    "params.components",
                    "missing",
                    format!("the template has {what}: give its components"),
                );
            }
        }
    }
}

/// A template that is handed in.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTemplate {
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: String,
    /// What it is for.
    pub category: Category,
    /// Its components, in the channel's own form.
    pub components: Vec<Value>,
    /// Whether its values have names.
    pub named: bool,
}

impl NewTemplate {
    /// Holds it against the limits of the channel (docs/contract/channel.md#template-limits).
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

/// Holds components against the limits of the channel.
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
            return Err(Misfit::new(format!("{field}.type"), "must not stand there twice"));
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
        // What is newer than this list is the provider's to judge.
        _ => Ok(()),
    }
}

fn line<'a>(field: &str, component: &'a Value, name: &str, most: usize) -> Result<&'a str, Misfit> {
    let text = word(component, name);
    super::content::needed(field, text, most)?;
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
            }
            "PHONE_NUMBER" => {
                line(&field("text"), button, "text", MAX_BUTTON)?;
                line(&field("phone_number"), button, "phone_number", MAX_PHONE)?;
            }
            _ => {}
        }
    }
    Ok(())
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
                return Err(Misfit::new(field, "must not hold cards itself"));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn template(components: Value) -> Template {
        let Value::Array(components) = components else { panic!() };
        Template {
            id: Id::from_bits(1),
            provider_id: "594".into(),
            name: "due".into(),
            language: "en".into(),
            category: Category::Utility,
            status: TemplateStatus::Approved,
            named: is_named(&components, None),
            components,
        }
    }

    fn params(json: Value) -> Params {
        serde_json::from_value(json).unwrap()
    }

    fn body(text: &str) -> Value {
        json!([{"type": "BODY", "text": text}])
    }

    fn filled(components: Value, values: Value) -> Value {
        match fill(&template(components), &params(values)) {
            Ok(Content::Template(filled)) => json!(filled.components),
            other => panic!("{other:?}"),
        }
    }

    fn issues(components: Value, values: Value) -> Vec<(String, &'static str)> {
        let issues = fill(&template(components), &params(values)).unwrap_err();
        issues.into_iter().map(|issue| (issue.field, issue.code)).collect()
    }

    #[test]
    fn values_are_filled_in_by_number_and_by_name() {
        assert_eq!(filled(body("Hello"), json!({})), json!([]));
        assert_eq!(
            filled(body("Hi {{1}}, Rs {{2}} due, {{1}}."), json!({"body": ["Asha", "4,500"]})),
            json!([{"type": "body", "parameters": [{"type": "text", "text": "Asha"}, {"type": "text", "text": "4,500"}]}])
        );
        assert_eq!(
            filled(
                body("Hi {{name}}, Rs {{amount}} due."),
                json!({"body": {"amount": "4,500", "name": "Asha"}})
            ),
            json!([{"type": "body", "parameters": [
                {"type": "text", "parameter_name": "name", "text": "Asha"},
                {"type": "text", "parameter_name": "amount", "text": "4,500"},
            ]}])
        );
    }

    #[test]
    fn headers_and_buttons_are_filled_in() {
        let components = json!([
            {"type": "HEADER", "format": "TEXT", "text": "Due for {{1}}"},
            {"type": "BODY", "text": "Hello"},
            {"type": "BUTTONS", "buttons": [
                {"type": "QUICK_REPLY", "text": "Paid"},
                {"type": "URL", "text": "Pay", "url": "https://p.example/{{1}}"},
                {"type": "URL", "text": "Look", "url": "https://p.example/"},
                {"type": "COPY_CODE", "example": "X"},
                {"type": "PHONE_NUMBER", "text": "Call", "phone_number": "+918047111222"},
            ]},
        ]);
        let values = json!({"header": {"type": "text", "text": "May"}, "buttons": [
            {"index": 3, "code": "SAVE20"}, {"index": 1, "text": "inv/91"}, {"index": 0, "payload": "PAID"},
        ]});
        assert_eq!(
            filled(components, values),
            json!([
                {"type": "header", "parameters": [{"type": "text", "text": "May"}]},
                {"type": "button", "sub_type": "quick_reply", "index": 0, "parameters": [{"type": "payload", "payload": "PAID"}]},
                {"type": "button", "sub_type": "url", "index": 1, "parameters": [{"type": "text", "text": "inv/91"}]},
                {"type": "button", "sub_type": "copy_code", "index": 3, "parameters": [{"type": "coupon_code", "coupon_code": "SAVE20"}]},
            ])
        );
        for (format, kind) in [("IMAGE", "image"), ("VIDEO", "video"), ("DOCUMENT", "document")] {
            let components = json!([{"type": "HEADER", "format": format}, {"type": "BODY", "text": "Hello"}]);
            let mut file = json!({"type": kind});
            file[kind] = json!({"link": "https://a.example/f"});
            let given = json!({"header": {"type": kind, "url": "https://a.example/f"}});
            assert_eq!(filled(components, given), json!([{"type": "header", "parameters": [file]}]));
        }
    }

    #[test]
    fn a_code_stands_in_the_body_and_in_its_button() {
        let mut otp = template(json!([
            {"type": "BODY", "add_security_recommendation": true},
            {"type": "BUTTONS", "buttons": [{"type": "OTP", "otp_type": "COPY_CODE"}]},
        ]));
        otp.category = Category::Authentication;
        let Ok(Content::Template(filled)) = fill(&otp, &params(json!({"body": ["123456"]}))) else {
            panic!()
        };
        assert_eq!(
            json!(filled.components),
            json!([
                {"type": "body", "parameters": [{"type": "text", "text": "123456"}]},
                {"type": "button", "sub_type": "url", "index": 0, "parameters": [{"type": "text", "text": "123456"}]},
            ])
        );
        assert!(!otp.takes_user_ids());
    }

    #[test]
    fn what_does_not_fit_is_said_value_by_value() {
        let numbered = || body("Hi {{1}}, Rs {{2}} due.");
        let named = || body("Hi {{name}}, Rs {{amount}} due.");
        let header = |format: &str, text: &str| json!([{"type": "HEADER", "format": format, "text": text}, {"type": "BODY", "text": "Hello"}]);
        let buttons = |buttons: Value| json!([{"type": "BODY", "text": "Hello"}, {"type": "BUTTONS", "buttons": buttons}]);
        let url = || buttons(json!([{"type": "URL", "text": "Pay", "url": "https://p.example/{{1}}"}]));
        let code = || buttons(json!([{"type": "COPY_CODE"}]));
        let reply = || buttons(json!([{"type": "QUICK_REPLY", "text": "Paid"}]));
        for (components, values, expected) in [
            (numbered(), json!({}), vec![("params.body[0]", "missing"), ("params.body[1]", "missing")]),
            (numbered(), json!({"body": ["a"]}), vec![("params.body[1]", "missing")]),
            (numbered(), json!({"body": ["a", "b", "c"]}), vec![("params.body[2]", "extra")]),
            (numbered(), json!({"body": {"1": "a"}}), vec![("params.body", "invalid")]),
            (numbered(), json!({"body": ["a", " "]}), vec![("params.body[1]", "missing")]),
            (numbered(), json!({"body": ["a", "b\nc"]}), vec![("params.body[1]", "invalid")]),
            (numbered(), json!({"body": ["a", "b     c"]}), vec![("params.body[1]", "invalid")]),
            (numbered(), json!({"body": ["a", "x".repeat(1_025)]}), vec![("params.body[1]", "too_long")]),
            (numbered(), json!({"body": ["a", "x".repeat(1_020)]}), vec![("params.body", "too_long")]),
            (named(), json!({"body": {"name": "a"}}), vec![("params.body.amount", "missing")]),
            (
                named(),
                json!({"body": {"name": "a", "amount": "b", "other": "c"}}),
                vec![("params.body.other", "extra")],
            ),
            (named(), json!({"body": ["a", "b"]}), vec![("params.body", "invalid")]),
            (body("Hello"), json!({"body": ["a"]}), vec![("params.body[0]", "extra")]),
            (
                body("Hello"),
                json!({"header": {"type": "text", "text": "a"}}),
                vec![("params.header", "extra")],
            ),
            (
                header("TEXT", "Due"),
                json!({"header": {"type": "text", "text": "a"}}),
                vec![("params.header", "extra")],
            ),
            (header("TEXT", "Due {{1}}"), json!({}), vec![("params.header", "missing")]),
            (
                header("TEXT", "Due {{1}}"),
                json!({"header": {"type": "image", "url": "https://a.example"}}),
                vec![("params.header.type", "invalid")],
            ),
            (
                header("TEXT", "Due {{1}}"),
                json!({"header": {"type": "text", "text": "x".repeat(58)}}),
                vec![("params.header.text", "too_long")],
            ),
            (header("IMAGE", ""), json!({}), vec![("params.header", "missing")]),
            (
                header("IMAGE", ""),
                json!({"header": {"type": "video", "url": "https://a.example"}}),
                vec![("params.header.type", "invalid")],
            ),
            (
                header("IMAGE", ""),
                json!({"header": {"type": "image"}}),
                vec![("params.header.url", "missing")],
            ),
            (
                header("IMAGE", ""),
                json!({"header": {"type": "image", "url": "http://a.example"}}),
                vec![("params.header.url", "invalid")],
            ),
            (header("LOCATION", ""), json!({}), vec![("params.components", "missing")]),
            (url(), json!({}), vec![("params.buttons.text", "missing")]),
            (
                url(),
                json!({"buttons": [{"index": 0, "payload": "x"}]}),
                vec![("params.buttons[0].text", "missing")],
            ),
            (
                url(),
                json!({"buttons": [{"index": 0, "text": "x"}, {"index": 1, "text": "x"}]}),
                vec![("params.buttons[1].index", "extra")],
            ),
            (
                url(),
                json!({"buttons": [{"index": 0, "text": "x"}, {"index": 0, "text": "y"}]}),
                vec![("params.buttons[1].index", "extra")],
            ),
            (code(), json!({}), vec![("params.buttons.code", "missing")]),
            (
                code(),
                json!({"buttons": [{"index": 0, "code": "x".repeat(21)}]}),
                vec![("params.buttons[0].code", "too_long")],
            ),
            (
                reply(),
                json!({"buttons": [{"index": 0, "payload": "x".repeat(129)}]}),
                vec![("params.buttons[0].payload", "too_long")],
            ),
            (
                json!([{"type": "BODY", "text": "Hello"}, {"type": "CAROUSEL", "cards": []}]),
                json!({}),
                vec![("params.components", "missing")],
            ),
            (
                body("Hello"),
                json!({"components": [{"type": "body"}], "body": ["a"]}),
                vec![("params.body", "extra")],
            ),
            (body("Hello"), json!({"components": [{}]}), vec![("params.components[0].type", "missing")]),
        ] {
            let expected: Vec<(String, &str)> =
                expected.into_iter().map(|(field, code)| (field.to_owned(), code)).collect();
            assert_eq!(issues(components.clone(), values.clone()), expected, "{components} {values}");
        }
        assert_eq!(filled(reply(), json!({})), json!([]), "a payload may be left out");
        let raw = json!([{"type": "carousel", "cards": []}]);
        assert_eq!(filled(body("Hello"), json!({"components": raw})), raw);
    }

    #[test]
    fn places_that_need_values_are_listed() {
        let slots = template(json!([
            {"type": "HEADER", "format": "IMAGE"},
            {"type": "BODY", "text": "Hi {{2}} and {{1}}."},
            {"type": "BUTTONS", "buttons": [{"type": "URL", "url": "https://p/{{1}}"}, {"type": "COPY_CODE"}]},
            {"type": "LIMITED_TIME_OFFER", "limited_time_offer": {"text": "t", "has_expiration": true}},
        ]))
        .slots();
        assert_eq!(
            slots,
            [
                Slot::HeaderMedia(MediaKind::Image),
                Slot::Body("1".into()),
                Slot::Body("2".into()),
                Slot::ButtonUrl(0),
                Slot::ButtonCode(1),
                Slot::Raw("the end of its offer"),
            ]
        );
    }

    #[test]
    fn the_words_of_a_template_are_those_that_the_customer_reads() {
        let named = template(body("Hi {{name}}, Rs {{ amount }} due, {{name}}."));
        let Ok(Content::Template(filled)) =
            fill(&named, &params(json!({"body": {"name": "Asha", "amount": "5"}})))
        else {
            panic!()
        };
        assert_eq!(named.words(&filled), "Hi Asha, Rs 5 due, Asha.");
        let numbered = template(body("Rs {{2}} from {{1}}."));
        let Ok(Content::Template(filled)) = fill(&numbered, &params(json!({"body": ["Asha", "5"]}))) else {
            panic!()
        };
        assert_eq!(numbered.words(&filled), "Rs 5 from Asha.");
    }

    #[test]
    fn variables_are_found_once_each() {
        assert_eq!(variables("a {{x}} b {{ y }} c {{x}} {{}} {{"), ["x", "y"]);
        assert_eq!(variables("{{{x}}"), Vec::<String>::new());
    }

    #[test]
    fn events_make_states_or_leave_them() {
        for (event, status) in [
            ("APPROVED", Some(TemplateStatus::Approved)),
            ("REJECTED", Some(TemplateStatus::Rejected)),
            ("PENDING", Some(TemplateStatus::Pending)),
            ("PAUSED", Some(TemplateStatus::Paused)),
            ("DISABLED", Some(TemplateStatus::Disabled)),
            ("FLAGGED", None),
            ("REINSTATED", Some(TemplateStatus::Approved)),
            ("IN_APPEAL", Some(TemplateStatus::InAppeal)),
            ("PENDING_DELETION", Some(TemplateStatus::PendingDeletion)),
            ("DELETED", Some(TemplateStatus::Deleted)),
            ("LIMIT_EXCEEDED", Some(TemplateStatus::LimitExceeded)),
            ("LOCKED", None),
            ("UNLOCKED", None),
            ("ARCHIVED", Some(TemplateStatus::Archived)),
            ("UNARCHIVED", Some(TemplateStatus::Approved)),
            ("NEW_WORD", None),
        ] {
            assert_eq!(status_after(event), status, "{event}");
        }
    }
}

//! Filling templates (docs/contract/channel.md#template-values).

use serde_json::{Value, json};

use super::variables::{replaced, variables};
use super::{
    ButtonValue, HeaderValue, Issue, MAX_BODY, MAX_BYTES, MAX_CODE, MAX_COMPONENTS, MAX_LINE, MAX_PAYLOAD,
    MAX_URL, Params, Slot, Template, Values, word,
};
use crate::channel::content::{Content, FilledTemplate, https};

/// Fills a template (docs/contract/channel.md#template-values).
///
/// # Errors
/// All values that are missing, extra, too long or invalid.
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

/// Whether a character breaks a line, or is invisible.
fn is_break(sign: char) -> bool {
    sign.is_control() || matches!(sign, '\u{2028}' | '\u{2029}')
}

/// What a value must be ([`is_on_one_line`]).
pub const ONE_LINE: &str =
    "must not have line breaks, tabs, other control characters or more than four spaces in a row";

/// Whether the channel takes a value as far as its signs go (docs/contract/channel.md).
pub fn is_on_one_line(value: &str) -> bool {
    !value.contains(is_break) && !value.contains("     ")
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
        } else if !is_on_one_line(value) {
            self.issue(field, "invalid", ONE_LINE);
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
                    if name.contains(is_break) {
                        return self.issue(
                            "params.header.filename",
                            "invalid",
                            "must not have control characters",
                        );
                    }
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
        // The provider lists the button of a one-time code as an address that ends in the code.
        let kind = if self.template.is_code_button(button) { "OTP".to_owned() } else { kind };
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
                // The code is in the body and in the button.
                let given = given.and_then(|given| given.code.as_deref().or(given.text.as_deref()));
                // That of the body is looked at there.
                if given.is_some_and(|given| !self.fits(&format!("{field}.code"), given, MAX_BODY)) {
                    return;
                }
                if let Some(value) = given.or(code) {
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

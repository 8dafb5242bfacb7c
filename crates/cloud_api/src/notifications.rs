//! What comes in: the signature of a notification, and its items (docs/contract/channel.md#notifications). Unknown
//! fields and types are passed over; what is said twice has the same key.

use std::collections::HashMap;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use domain::channel::content::{Location, MediaKind, is_user_id};
use domain::channel::errors::{ProviderError, title};
use domain::channel::notification::{
    AccountUpdate, AdReferral, Echo, Notification, NumberUpdate, Person, Preference, Pricing, Receipt,
    Received, ReceivedContent, ReceivedMedia, StatusUpdate, TemplateCategoryUpdate, TemplateQualityUpdate,
    TemplateRef, TemplateStatusUpdate,
};
use domain::phone::E164;
use domain::time::Timestamp;
use ring::digest::{SHA256, digest};
use ring::hmac;
use serde_json::Value;

use crate::sending::is_id;
use crate::wire::as_code;

/// Longest text of a message that is kept, in characters; the channel's own limit is far below.
const MAX_TEXT: usize = 16_000;
/// Longest of all other texts.
const MAX_WORD: usize = 2_000;
/// Longest value that is kept as it came, bytes.
const MAX_RAW: usize = 64 * 1024;
/// Levels of such a value. What lies deeper is kept as its text: stores and readers of JSON have bounds of their own.
const MAX_DEPTH: usize = 32;
/// Most items of a notification.
const MAX_ITEMS: usize = 10_000;
/// Most people whom a notification describes, in all of its lists of contacts.
const MAX_PEOPLE: usize = 10_000;

/// One item of a notification.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The account that it is about.
    pub business_account: String,
    /// The provider's id of the number that it is about.
    pub phone_number_id: Option<String>,
    /// The same whenever the same is said. It may hold a person's number in a form of its own, so only a keyed
    /// hash of it is stored.
    pub key: String,
    /// What is said.
    pub notification: Notification,
}

/// Whether the header `X-Hub-Signature-256` belongs to this body; compared in constant time.
pub fn is_signed(secret: &str, header: &str, body: &[u8]) -> bool {
    let Some(hex) = header.trim().strip_prefix("sha256=") else { return false };
    let Ok(tag) = HEXLOWER_PERMISSIVE.decode(hex.as_bytes()) else { return false };
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    !secret.is_empty() && hmac::verify(&key, body, &tag).is_ok()
}

/// The signature of a body, as the header has it.
pub fn signature(secret: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    format!("sha256={}", HEXLOWER.encode(hmac::sign(&key, body).as_ref()))
}

/// The items of a notification. A moment that lies ahead of `now` counts as now.
///
/// # Errors
/// When it is not a JSON object, or has more than 10,000 items or contacts.
pub fn parse(body: &[u8], now: Timestamp) -> Result<Vec<Item>, String> {
    let body: Value = serde_json::from_slice(body).map_err(|why| format!("the body is not JSON: {why}"))?;
    if !body.is_object() {
        return Err("the body must be an object".to_owned());
    }
    let mut items = Items::default();
    for entry in list(&body, "entry") {
        let place = Place { account: word(entry, "id").unwrap_or_default(), time: entry.get("time"), now };
        for change in list(entry, "changes") {
            let (Some(field), Some(value)) =
                (change.get("field").and_then(Value::as_str), change.get("value"))
            else {
                continue;
            };
            place.change(field, value, &mut items)?;
        }
    }
    Ok(items.list)
}

/// What is read of a notification so far.
#[derive(Default)]
struct Items {
    list: Vec<Item>,
    /// How many people were described.
    people: usize,
}

impl Items {
    fn push(&mut self, item: Item) -> Result<(), String> {
        // Cutting it would acknowledge what is not stored.
        if self.list.len() >= MAX_ITEMS {
            return Err(format!("the body has more than {MAX_ITEMS} items"));
        }
        self.list.push(item);
        Ok(())
    }

    /// The people whom a change describes.
    fn people<'a>(&mut self, value: &'a Value) -> Result<People<'a>, String> {
        let contacts = list(value, "contacts");
        self.people += contacts.len();
        if self.people > MAX_PEOPLE {
            return Err(format!("the body has more than {MAX_PEOPLE} contacts"));
        }
        Ok(People::of(contacts))
    }
}

/// The people whom a change describes, by their numbers and ids: each is read once, however many items there are.
struct People<'a> {
    all: &'a [Value],
    by_phone: HashMap<E164, usize>,
    by_user: HashMap<&'a str, usize>,
}

impl<'a> People<'a> {
    fn of(contacts: &'a [Value]) -> Self {
        let (mut by_phone, mut by_user) = (HashMap::new(), HashMap::new());
        for (at, contact) in contacts.iter().enumerate() {
            if let Some(phone) = contact.get("wa_id").and_then(phone) {
                by_phone.entry(phone).or_insert(at);
            }
            let user = contact.get("user_id").and_then(Value::as_str);
            if let Some(user) = user.filter(|user| is_user_id(user)) {
                by_user.entry(user).or_insert(at);
            }
        }
        Self { all: contacts, by_phone, by_user }
    }

    /// What is said of a person: by the number or the id, whichever stands first.
    fn about(&self, person: &Person) -> Option<&'a Value> {
        let by_phone = person.phone.and_then(|phone| self.by_phone.get(&phone));
        let by_user = person.user_id.as_deref().and_then(|user| self.by_user.get(user));
        match by_phone.into_iter().chain(by_user).min() {
            Some(at) => self.all.get(*at),
            // A lone contact is the sender, also where the two differ in how the number is written.
            None if self.all.len() == 1 => self.all.first(),
            None => None,
        }
    }
}

struct Place<'a> {
    account: String,
    time: Option<&'a Value>,
    now: Timestamp,
}

impl Place<'_> {
    fn change(&self, field: &str, value: &Value, items: &mut Items) -> Result<(), String> {
        let number = value.pointer("/metadata/phone_number_id").and_then(digits);
        let item = |key: String, notification: Notification| Item {
            business_account: self.account.clone(),
            phone_number_id: number.clone(),
            key,
            notification,
        };
        match field {
            "messages" => {
                let people = items.people(value)?;
                for part in list(value, "messages") {
                    if let Some(received) = self.received(part, &people) {
                        let key = format!("message:{}", received.id);
                        items.push(item(key, Notification::Message(Box::new(received))))?;
                    }
                }
                for part in list(value, "statuses") {
                    if let Some(status) = self.status(part, &people) {
                        let key = format!("status:{}:{}", status.id, status.receipt);
                        items.push(item(key, Notification::Status(Box::new(status))))?;
                    }
                }
                let errors = errors(value);
                if !errors.is_empty() {
                    items.push(item(self.key("errors", value), Notification::Errors(errors)))?;
                }
            }
            "smb_message_echoes" => {
                for part in list(value, "message_echoes") {
                    if let Some(echo) = self.echo(part) {
                        items.push(item(format!("echo:{}", echo.id), Notification::Echo(Box::new(echo))))?;
                    }
                }
            }
            "user_preferences" => {
                for part in list(value, "user_preferences") {
                    if let Some(preference) = self.preference(part) {
                        let key = self.key("preference", part);
                        items.push(item(key, Notification::Preference(preference)))?;
                    }
                }
            }
            _ => {
                if let Some(notification) = management(field, value) {
                    items.push(item(self.key(field, value), notification))?;
                }
            }
        }
        Ok(())
    }

    /// A key of what has no id: its words and the moment of the entry.
    fn key(&self, field: &str, value: &Value) -> String {
        let time = self.time.map(Value::to_string).unwrap_or_default();
        let sum = digest(&SHA256, format!("{time}\n{value}").as_bytes());
        format!("{field}:{}", HEXLOWER.encode(sum.as_ref()))
    }

    /// A moment in seconds since 1970, as a number or as digits.
    fn moment(&self, value: Option<&Value>) -> Timestamp {
        let seconds = value.and_then(as_code).filter(|seconds| (0..=253_402_300_799).contains(seconds));
        let moment = seconds.map_or(self.now, |seconds| Timestamp(seconds.saturating_mul(1_000)));
        moment.min(self.now)
    }

    fn received(&self, item: &Value, people: &People<'_>) -> Option<Received> {
        let mut from = Person {
            phone: item.get("from").and_then(phone),
            user_id: item.get("from_user_id").and_then(user_id),
            parent_user_id: item.get("from_parent_user_id").and_then(user_id),
            ..Person::default()
        };
        complete(&mut from, people);
        from.address()?;
        Some(Received {
            id: id(item, "id")?,
            at: self.moment(item.get("timestamp")),
            reply_to: item.get("context").and_then(|context| id(context, "id")),
            forwarded: ["forwarded", "frequently_forwarded"]
                .iter()
                .any(|name| item.pointer(&format!("/context/{name}")).and_then(Value::as_bool) == Some(true)),
            referral: item.get("referral").filter(|referral| referral.is_object()).map(referral),
            what: content(item),
            from,
        })
    }

    fn echo(&self, item: &Value) -> Option<Echo> {
        let to = Person {
            phone: item.get("to").and_then(phone),
            user_id: item.get("to_user_id").and_then(user_id),
            ..Person::default()
        };
        to.address()?;
        Some(Echo { to, id: id(item, "id")?, at: self.moment(item.get("timestamp")), what: content(item) })
    }

    fn status(&self, item: &Value, people: &People<'_>) -> Option<StatusUpdate> {
        let mut to = Person {
            phone: item.get("recipient_id").and_then(phone),
            user_id: item.get("recipient_user_id").and_then(user_id),
            ..Person::default()
        };
        complete(&mut to, people);
        let pricing = item.get("pricing").filter(|pricing| pricing.is_object()).map(|pricing| Pricing {
            billable: pricing.get("billable").and_then(Value::as_bool).unwrap_or(false),
            model: word(pricing, "pricing_model"),
            kind: word(pricing, "type"),
            category: word(pricing, "category"),
        });
        Some(StatusUpdate {
            id: id(item, "id")?,
            receipt: Receipt::parse(item.get("status")?.as_str()?)?,
            at: self.moment(item.get("timestamp")),
            to,
            message: word(item, "biz_opaque_callback_data"),
            pricing,
            errors: errors(item),
        })
    }

    fn preference(&self, item: &Value) -> Option<Preference> {
        if item
            .get("category")
            .and_then(Value::as_str)
            .is_some_and(|category| category != "marketing_messages")
        {
            return None;
        }
        let person = Person {
            phone: item.get("wa_id").and_then(phone),
            user_id: item.get("user_id").and_then(user_id),
            ..Person::default()
        };
        person.address()?;
        let stopped = match item.get("value")?.as_str()? {
            "stop" => true,
            "resume" | "signup" => false,
            _ => return None,
        };
        Some(Preference { person, stopped, at: self.moment(item.get("timestamp")) })
    }
}

/// Adds what the list of contacts says of a person.
fn complete(person: &mut Person, people: &People<'_>) {
    let Some(contact) = people.about(person) else { return };
    person.phone = person.phone.or_else(|| contact.get("wa_id").and_then(phone));
    person.user_id = person.user_id.take().or_else(|| contact.get("user_id").and_then(user_id));
    person.parent_user_id =
        person.parent_user_id.take().or_else(|| contact.get("parent_user_id").and_then(user_id));
    let profile = |name: &str| contact.pointer(&format!("/profile/{name}")).and_then(text_of);
    person.name = profile("name").filter(|name| !name.trim().is_empty()).map(|name| clipped(&name, 120));
    person.username =
        profile("username").filter(|name| !name.trim().is_empty()).map(|name| clipped(&name, 120));
}

fn content(item: &Value) -> ReceivedContent {
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
    let unsupported = |what: &str| ReceivedContent::Unsupported { what: clipped(what, 60) };
    let inner = item.get(kind).unwrap_or(&Value::Null);
    let read = match kind {
        "text" => inner
            .get("body")
            .and_then(Value::as_str)
            .map(|body| ReceivedContent::Text { body: clipped(body, MAX_TEXT) }),
        "image" | "video" | "audio" | "document" | "sticker" => {
            MediaKind::parse(kind).and_then(|kind| media(kind, inner))
        }
        "location" => location(inner),
        "contacts" => Some(ReceivedContent::Contacts {
            cards: list(item, "contacts").iter().take(100).map(raw).collect(),
        }),
        "button" => Some(ReceivedContent::Button {
            payload: word(inner, "payload"),
            text: word(inner, "text").unwrap_or_default(),
        }),
        "interactive" => tap(inner),
        "reaction" => id(inner, "message_id").map(|message| ReceivedContent::Reaction {
            message,
            emoji: word(inner, "emoji").filter(|emoji| !emoji.is_empty()),
        }),
        "order" => Some(ReceivedContent::Order { order: raw(inner) }),
        "system" => Some(ReceivedContent::System {
            event: word(inner, "type"),
            body: word(inner, "body"),
            phone: inner.get("wa_id").or_else(|| inner.get("new_wa_id")).and_then(phone),
            user_id: inner.get("user_id").or_else(|| inner.get("new_user_id")).and_then(user_id),
        }),
        "edit" => id(inner, "original_message_id").map(|original| ReceivedContent::Edit {
            original,
            text: inner
                .pointer("/message/text/body")
                .or_else(|| inner.pointer("/message/caption"))
                .and_then(Value::as_str)
                .map(|text| clipped(text, MAX_TEXT)),
        }),
        "revoke" => id(inner, "original_message_id").map(|original| ReceivedContent::Revoke { original }),
        "unsupported" => Some(unsupported(&word(inner, "type").unwrap_or_else(|| "unsupported".into()))),
        _ => None,
    };
    read.unwrap_or_else(|| unsupported(if kind.is_empty() { "unknown" } else { kind }))
}

fn media(kind: MediaKind, inner: &Value) -> Option<ReceivedContent> {
    Some(ReceivedContent::Media(ReceivedMedia {
        kind,
        id: id(inner, "id")?,
        mime_type: word(inner, "mime_type")
            .map_or_else(|| "application/octet-stream".into(), |kind| clipped(&kind, 120)),
        sha256: word(inner, "sha256"),
        caption: inner.get("caption").and_then(Value::as_str).map(|caption| clipped(caption, MAX_TEXT)),
        filename: word(inner, "filename").map(|name| clipped(&name, 240)),
        voice: inner.get("voice").and_then(Value::as_bool).unwrap_or(false),
    }))
}

fn location(inner: &Value) -> Option<ReceivedContent> {
    let degrees = |name: &str, most: f64| {
        let value = inner.get(name)?;
        let number = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
        (-most..=most).contains(&number).then_some(number)
    };
    Some(ReceivedContent::Location {
        place: Location {
            latitude: degrees("latitude", 90.0)?,
            longitude: degrees("longitude", 180.0)?,
            name: word(inner, "name"),
            address: word(inner, "address"),
        },
        url: word(inner, "url"),
    })
}

fn tap(inner: &Value) -> Option<ReceivedContent> {
    let kind = inner.get("type").and_then(Value::as_str)?;
    let part = inner.get(kind)?;
    match kind {
        "button_reply" | "list_reply" => Some(ReceivedContent::Reply {
            id: word(part, "id")?,
            title: word(part, "title").unwrap_or_default(),
            description: word(part, "description"),
            list: kind == "list_reply",
        }),
        "nfm_reply" => {
            let response = match part.get("response_json") {
                Some(Value::String(text)) if text.len() <= MAX_RAW => {
                    serde_json::from_str(text).unwrap_or_else(|_| Value::String(clipped(text, MAX_WORD)))
                }
                Some(other) => raw(other),
                None => Value::Null,
            };
            Some(ReceivedContent::Form {
                name: word(part, "name"),
                body: word(part, "body"),
                response: raw(&response),
            })
        }
        _ => None,
    }
}

fn referral(value: &Value) -> AdReferral {
    AdReferral {
        source_id: word(value, "source_id"),
        source_type: word(value, "source_type"),
        source_url: word(value, "source_url"),
        headline: word(value, "headline"),
        body: word(value, "body"),
        media_type: word(value, "media_type"),
        image_url: word(value, "image_url"),
        video_url: word(value, "video_url"),
        thumbnail_url: word(value, "thumbnail_url"),
        ctwa_clid: word(value, "ctwa_clid"),
    }
}

fn errors(value: &Value) -> Vec<ProviderError> {
    let read = |error: &Value| {
        let code = error.get("code").and_then(as_code)?;
        let detail = error
            .pointer("/error_data/details")
            .or_else(|| error.get("message"))
            .or_else(|| error.get("title"));
        let detail = detail.and_then(Value::as_str).map(|detail| clipped(detail, 300)).unwrap_or_default();
        let known = title(code);
        let given = word(error, "title").filter(|_| known == "refused");
        Some(ProviderError { code, title: given.unwrap_or_else(|| known.to_owned()), detail })
    };
    list(value, "errors").iter().take(10).filter_map(read).collect()
}

/// What is about templates, numbers and the account.
fn management(field: &str, value: &Value) -> Option<Notification> {
    let template = || {
        Some(TemplateRef {
            id: digits(value.get("message_template_id")?)?,
            name: word(value, "message_template_name").unwrap_or_default(),
            language: word(value, "message_template_language").unwrap_or_default(),
        })
    };
    Some(match field {
        "message_template_status_update" => Notification::TemplateStatus(TemplateStatusUpdate {
            template: template()?,
            event: word(value, "event")?.to_ascii_uppercase(),
            reason: word(value, "reason").filter(|reason| reason != "NONE" && !reason.is_empty()),
            category: word(value, "message_template_category"),
        }),
        "message_template_quality_update" => Notification::TemplateQuality(TemplateQualityUpdate {
            template: template()?,
            quality: word(value, "new_quality_score")?.to_ascii_uppercase(),
        }),
        "template_category_update" => Notification::TemplateCategory(TemplateCategoryUpdate {
            template: template()?,
            category: word(value, "new_category")?.to_ascii_uppercase(),
            pending: word(value, "correct_category").map(|word| word.to_ascii_uppercase()),
            previous: word(value, "previous_category").map(|word| word.to_ascii_uppercase()),
        }),
        "message_template_components_update" => Notification::TemplateComponents(template()?),
        "phone_number_quality_update" => {
            let tier =
                value.get("max_daily_conversations_per_business").or_else(|| value.get("current_limit"));
            Notification::Number(NumberUpdate {
                display_number: word(value, "display_phone_number")?,
                event: word(value, "event")?.to_ascii_uppercase(),
                tier: tier.and_then(limit),
            })
        }
        "business_capability_update" => Notification::Capability {
            tier: value
                .get("max_daily_conversations_per_business")
                .or_else(|| value.get("max_daily_conversation_per_phone"))
                .and_then(limit)?,
        },
        "account_update" => Notification::Account(AccountUpdate {
            event: word(value, "event")?.to_ascii_uppercase(),
            restriction: value.get("restriction_info").map(raw),
            violation: value.get("violation_info").map(raw),
            ban: value.get("ban_info").map(raw),
        }),
        _ => return None,
    })
}

/// A limit: a word, or a number.
fn limit(value: &Value) -> Option<String> {
    match value {
        Value::String(word) => Some(clipped(word, 40)),
        other => as_code(other).map(|number| number.to_string()),
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A number of the international form. The channel writes its digits.
fn phone(value: &Value) -> Option<E164> {
    let text = value.as_str()?;
    if text.len() > 40 { None } else { E164::parse(text).ok() }
}

fn user_id(value: &Value) -> Option<String> {
    value.as_str().filter(|text| is_user_id(text)).map(str::to_owned)
}

/// An id of the provider: not empty, not long, nothing that is no sign.
fn id(value: &Value, name: &str) -> Option<String> {
    let text = value.get(name)?.as_str()?;
    is_id(text).then(|| text.to_owned())
}

/// An id that is a number or digits.
fn digits(value: &Value) -> Option<String> {
    match value {
        Value::String(text)
            if !text.is_empty() && text.len() <= 60 && !text.chars().any(char::is_control) =>
        {
            Some(text.clone())
        }
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(|text| clipped(text, MAX_WORD))
}

fn word(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(text_of)
}

/// A text without U+0000, which no store keeps, cut to a length.
fn clipped(text: &str, most: usize) -> String {
    text.chars().filter(|sign| *sign != '\0').take(most).collect()
}

/// A value that is kept as it came, unless it is very large: without U+0000, and with no more than [`MAX_DEPTH`]
/// levels.
fn raw(value: &Value) -> Value {
    fn clean(value: &Value, levels: usize) -> Value {
        match value {
            Value::String(text) => Value::String(clipped(text, MAX_TEXT)),
            Value::Array(_) | Value::Object(_) if levels == 0 => {
                Value::String(clipped(&value.to_string().replace("\\u0000", ""), MAX_WORD))
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| clean(item, levels - 1)).collect()),
            Value::Object(fields) => Value::Object(
                fields.iter().map(|(name, value)| (clipped(name, 200), clean(value, levels - 1))).collect(),
            ),
            other => other.clone(),
        }
    }
    if value.to_string().len() > MAX_RAW { Value::Null } else { clean(value, MAX_DEPTH) }
}

#[cfg(test)]
mod tests;

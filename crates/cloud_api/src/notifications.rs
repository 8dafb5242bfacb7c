//! Webhook notifications: signature and items (docs/contract/channel.md#notifications). Unknown fields and types are
//! ignored. Items that repeat have the same deduplication key.

use std::collections::HashMap;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use domain::channel::content::{Location, MediaKind, is_sender_id};
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
use serde_json::{Map, Value};

use crate::sending::is_id;
use crate::wire::as_code;

mod reading;

/// Longest stored text of a message, in characters. The channel's own limit is far below.
const MAX_TEXT: usize = 16_000;
/// Longest of all other texts.
const MAX_WORD: usize = 2_000;
/// Longest value that is stored as received, bytes.
const MAX_RAW: usize = 64 * 1024;
/// Levels of such a value. What lies deeper is kept as its text: stores and readers of JSON have bounds of their own.
const MAX_DEPTH: usize = 32;
/// Most items of a notification.
const MAX_ITEMS: usize = 10_000;
/// Most people whom a notification describes, in all of its lists of contacts.
const MAX_PEOPLE: usize = 10_000;
/// Values (texts, numbers, lists, objects) of one item that are read, and values that all items of a notification may keep
/// in the channel's own form. What is more is left out.
const MAX_VALUES: usize = 20_000;
const MAX_KEPT: usize = 50_000;

/// One item of a notification.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The account that it is about.
    pub business_account: String,
    /// The provider's id of the number that it is about.
    pub phone_number_id: Option<String>,
    /// The deduplication key. It may hold a person's number, so only a keyed hash of it is stored.
    pub key: String,
    pub notification: Notification,
}

/// Upper bound of the memory that the items of a body take beyond it, bytes.
pub fn weight(body: usize) -> usize {
    /// Bytes of the shortest item, and of an item in memory.
    const SHORTEST: usize = 28;
    const IN_MEMORY: usize = 800;
    (body / SHORTEST).min(MAX_ITEMS) * IN_MEMORY
}

/// Verifies the header `X-Hub-Signature-256` of a body, in constant time.
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

/// What is read of a notification so far, and what may still be kept of it.
struct Reader {
    now: Timestamp,
    items: Vec<Item>,
    changes: usize,
    /// Elements of lists that become items.
    seen: usize,
    people: usize,
    /// How many values of what is kept in the channel's own form there may still be.
    kept: usize,
    /// Why the notification is refused, where it is JSON.
    refused: Option<String>,
}

/// The items of a notification. A moment that lies ahead of `now` counts as now. It is read into what is kept of it: the
/// rest takes no memory.
///
/// # Errors
/// When it is not a JSON object, or has more than 10,000 items or contacts.
pub fn parse(body: &[u8], now: Timestamp) -> Result<Vec<Item>, String> {
    let mut reader =
        Reader { now, items: Vec::new(), changes: 0, seen: 0, people: 0, kept: MAX_KEPT, refused: None };
    match reading::body(body, &mut reader) {
        Ok(true) => Ok(reader.items),
        Ok(false) => Err("the body must be an object".to_owned()),
        Err(why) => Err(reader.refused.unwrap_or_else(|| format!("the body is not JSON: {why}"))),
    }
}

impl Reader {
    /// Whether there may be one more. Cutting a list would acknowledge what is not stored.
    fn count(counted: &mut usize, most: usize, what: &str, refused: &mut Option<String>) -> bool {
        *counted += 1;
        if *counted > most {
            *refused = Some(format!("the body has more than {most} {what}"));
        }
        refused.is_none()
    }

    fn count_change(&mut self) -> bool {
        Self::count(&mut self.changes, MAX_ITEMS, "items", &mut self.refused)
    }

    fn count_item(&mut self) -> bool {
        Self::count(&mut self.seen, MAX_ITEMS, "items", &mut self.refused)
    }

    fn count_person(&mut self) -> bool {
        Self::count(&mut self.people, MAX_PEOPLE, "contacts", &mut self.refused)
    }

    /// A moment in seconds since 1970, as a number or as digits.
    fn moment(&self, value: Option<&Value>) -> Timestamp {
        let seconds = value.and_then(as_code).filter(|seconds| (0..=253_402_300_799).contains(seconds));
        let moment = seconds.map_or(self.now, |seconds| Timestamp(seconds.saturating_mul(1_000)));
        moment.min(self.now)
    }

    fn contact(&mut self, item: &Value) -> Option<Person> {
        let profile = |name: &str| item.pointer(&format!("/profile/{name}")).and_then(text_of);
        let named =
            |name: &str| profile(name).filter(|text| !text.trim().is_empty()).map(|text| clipped(&text, 120));
        Some(Person {
            phone: item.get("wa_id").and_then(phone),
            user_id: item.get("user_id").and_then(user_id),
            parent_user_id: item.get("parent_user_id").and_then(user_id),
            username: named("username"),
            name: named("name"),
        })
    }

    fn received(&mut self, item: &Value) -> Option<Received> {
        let from = Person {
            phone: item.get("from").and_then(phone),
            user_id: item.get("from_user_id").and_then(user_id),
            parent_user_id: item.get("from_parent_user_id").and_then(user_id),
            ..Person::default()
        };
        Some(Received {
            id: id(item, "id")?,
            at: self.moment(item.get("timestamp")),
            reply_to: item.get("context").and_then(|context| id(context, "id")),
            forwarded: ["forwarded", "frequently_forwarded"]
                .iter()
                .any(|name| item.pointer(&format!("/context/{name}")).and_then(Value::as_bool) == Some(true)),
            referral: item.get("referral").filter(|referral| referral.is_object()).map(referral),
            what: content(item, &mut self.kept),
            from,
        })
    }

    fn echo(&mut self, item: &Value) -> Option<Echo> {
        let to = Person {
            phone: item.get("to").and_then(phone),
            user_id: item.get("to_user_id").and_then(user_id),
            ..Person::default()
        };
        to.address()?;
        let at = self.moment(item.get("timestamp"));
        Some(Echo { to, id: id(item, "id")?, at, what: content(item, &mut self.kept) })
    }

    fn status(&mut self, item: &Value) -> Option<StatusUpdate> {
        let to = Person {
            phone: item.get("recipient_id").and_then(phone),
            user_id: item.get("recipient_user_id").and_then(user_id),
            ..Person::default()
        };
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

    /// A choice, and its words: it has no id of its own.
    fn preference(&mut self, item: &Value) -> Option<(Preference, String)> {
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
        let at = self.moment(item.get("timestamp"));
        Some((Preference { person, stopped, at }, item.to_string()))
    }

    /// What a change says, once its field is known.
    fn change(&mut self, field: &str, told: Told) -> Change {
        let Told { contacts, messages, statuses, echoes, preferences, rest } = told;
        let rest = Value::Object(rest);
        let number = rest.pointer("/metadata/phone_number_id").and_then(digits);
        let mut items = Vec::new();
        match field {
            "messages" => {
                let people = People::of(&contacts);
                for mut received in messages {
                    people.complete(&mut received.from);
                    shared_number(&mut received);
                    if received.from.address().is_some() {
                        let key = Key::Id(format!("message:{}", received.id));
                        items.push((key, Notification::Message(Box::new(received))));
                    }
                }
                for mut status in statuses {
                    people.complete(&mut status.to);
                    let key = Key::Id(format!("status:{}:{}", status.id, status.receipt));
                    items.push((key, Notification::Status(Box::new(status))));
                }
                let errors = errors(&rest);
                if !errors.is_empty() {
                    items.push((Key::Words("errors".into(), rest.to_string()), Notification::Errors(errors)));
                }
            }
            "smb_message_echoes" => items.extend(
                echoes
                    .into_iter()
                    .map(|echo| (Key::Id(format!("echo:{}", echo.id)), Notification::Echo(Box::new(echo)))),
            ),
            "user_preferences" => items.extend(preferences.into_iter().map(|(preference, words)| {
                (Key::Words("preference".into(), words), Notification::Preference(preference))
            })),
            _ => {
                if let Some(notification) = management(field, &rest, &mut self.kept) {
                    items.push((Key::Words(field.to_owned(), rest.to_string()), notification));
                }
            }
        }
        Change { number, items }
    }

    /// Takes the items of an entry, once its account and its moment are known.
    fn entry(&mut self, account: &str, time: Option<&Value>, changes: Vec<Change>) {
        for Change { number, items } in changes {
            self.items.extend(items.into_iter().map(|(key, notification)| Item {
                business_account: account.to_owned(),
                phone_number_id: number.clone(),
                key: key.text(time),
                notification,
            }));
        }
    }
}

/// What identifies an item.
enum Key {
    Id(String),
    /// The field of something that has no id, and its words: with the moment of the entry they are its key.
    Words(String, String),
}

impl Key {
    fn text(self, time: Option<&Value>) -> String {
        match self {
            Self::Id(id) => id,
            Self::Words(field, words) => {
                let time = time.map(Value::to_string).unwrap_or_default();
                let sum = digest(&SHA256, format!("{time}\n{words}").as_bytes());
                format!("{field}:{}", HEXLOWER.encode(sum.as_ref()))
            }
        }
    }
}

/// One change of an entry.
#[derive(Default)]
struct Change {
    number: Option<String>,
    items: Vec<(Key, Notification)>,
}

/// What a change says. What stands in its lists is read before it is known which field it is about.
#[derive(Default)]
struct Told {
    contacts: Vec<Person>,
    messages: Vec<Received>,
    statuses: Vec<StatusUpdate>,
    echoes: Vec<Echo>,
    preferences: Vec<(Preference, String)>,
    rest: Map<String, Value>,
}

/// The people whom a change describes, by their numbers and ids: each is read once, however many items there are.
struct People<'a> {
    all: &'a [Person],
    by_phone: HashMap<E164, usize>,
    by_user: HashMap<&'a str, usize>,
}

impl<'a> People<'a> {
    fn of(all: &'a [Person]) -> Self {
        let (mut by_phone, mut by_user) = (HashMap::new(), HashMap::new());
        for (at, person) in all.iter().enumerate() {
            if let Some(phone) = person.phone {
                by_phone.entry(phone).or_insert(at);
            }
            if let Some(user) = person.user_id.as_deref() {
                by_user.entry(user).or_insert(at);
            }
        }
        Self { all, by_phone, by_user }
    }

    /// What is said of a person: by the number or the id, whichever stands first.
    fn about(&self, person: &Person) -> Option<&'a Person> {
        let by_phone = person.phone.and_then(|phone| self.by_phone.get(&phone));
        let by_user = person.user_id.as_deref().and_then(|user| self.by_user.get(user));
        match by_phone.into_iter().chain(by_user).min() {
            Some(at) => self.all.get(*at),
            // A lone contact is the sender, also where the two differ in how the number is written.
            None if self.all.len() == 1 => self.all.first(),
            None => None,
        }
    }

    /// Adds what the list of contacts says of a person.
    fn complete(&self, person: &mut Person) {
        let Some(known) = self.about(person) else { return };
        person.phone = person.phone.or(known.phone);
        person.user_id = person.user_id.take().or_else(|| known.user_id.clone());
        person.parent_user_id = person.parent_user_id.take().or_else(|| known.parent_user_id.clone());
        person.name.clone_from(&known.name);
        person.username.clone_from(&known.username);
    }
}

/// Gives somebody who hides the number the one that they share when they are asked for it: their own card, as the
/// channel says. A card of somebody else's has no such origin.
fn shared_number(received: &mut Received) {
    let ReceivedContent::Contacts { cards } = &received.what else { return };
    let [card] = cards.as_slice() else { return };
    if received.from.phone.is_some() || card.get("origin").and_then(Value::as_str) != Some("contact_request")
    {
        return;
    }
    let [number] = list(card, "phones") else { return };
    received.from.phone = number.get("wa_id").and_then(phone).or_else(|| number.get("phone").and_then(phone));
}

fn content(item: &Value, kept: &mut usize) -> ReceivedContent {
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
        "contacts" => Some(ReceivedContent::Contacts { cards: cards(item, kept) }),
        "button" => Some(ReceivedContent::Button {
            payload: word(inner, "payload"),
            text: word(inner, "text").unwrap_or_default(),
        }),
        "interactive" => tap(inner, kept),
        "reaction" => id(inner, "message_id").map(|message| ReceivedContent::Reaction {
            message,
            emoji: word(inner, "emoji").filter(|emoji| !emoji.is_empty()),
        }),
        "order" => Some(ReceivedContent::Order { order: raw(inner, kept) }),
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

/// The cards of a message. Whose they are may stand beside them.
fn cards(item: &Value, kept: &mut usize) -> Vec<Value> {
    let origin = item.get("origin").filter(|origin| origin.is_string());
    let card = |card: &Value| {
        let mut card = raw(card, kept);
        if let (Some(origin), Some(card)) = (origin, card.as_object_mut()) {
            card.entry("origin").or_insert_with(|| raw(origin, kept));
        }
        card
    };
    list(item, "contacts").iter().take(100).map(card).collect()
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

fn tap(inner: &Value, kept: &mut usize) -> Option<ReceivedContent> {
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
                    reading::value(text).unwrap_or_else(|| Value::String(clipped(text, MAX_WORD)))
                }
                Some(other) => raw(other, kept),
                None => Value::Null,
            };
            Some(ReceivedContent::Form {
                name: word(part, "name"),
                body: word(part, "body"),
                response: raw(&response, kept),
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
fn management(field: &str, value: &Value, kept: &mut usize) -> Option<Notification> {
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
            restriction: value.get("restriction_info").map(|info| raw(info, kept)),
            violation: value.get("violation_info").map(|info| raw(info, kept)),
            ban: value.get("ban_info").map(|info| raw(info, kept)),
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
    value.as_str().filter(|text| is_sender_id(text)).map(str::to_owned)
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
/// levels. `kept` is how many values may still be kept.
fn raw(value: &Value, kept: &mut usize) -> Value {
    fn clean(value: &Value, levels: usize, kept: &mut usize) -> Value {
        if *kept == 0 {
            return Value::Null;
        }
        *kept -= 1;
        match value {
            Value::String(text) => Value::String(clipped(text, MAX_TEXT)),
            Value::Array(_) | Value::Object(_) if levels == 0 => {
                Value::String(clipped(&value.to_string().replace("\\u0000", ""), MAX_WORD))
            }
            Value::Array(items) => {
                let few = items.iter().take(*kept);
                Value::Array(few.map(|item| clean(item, levels - 1, kept)).collect())
            }
            Value::Object(fields) => {
                let few = fields.iter().take(*kept);
                Value::Object(
                    few.map(|(name, value)| (clipped(name, 200), clean(value, levels - 1, kept))).collect(),
                )
            }
            other => other.clone(),
        }
    }
    if value.to_string().len() > MAX_RAW { Value::Null } else { clean(value, MAX_DEPTH, kept) }
}

#[cfg(test)]
mod tests;

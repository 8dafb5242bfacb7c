//! Rules of campaigns on the messaging channel: template values, send rate, pauses, outcomes of people
//! (docs/contract/campaigns.md#campaigns-on-the-messaging-channel).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::content::MediaKind;
use super::errors::{Effect, effect};
use super::message::LocalError;
use super::template::{ButtonValue, HeaderValue, Params, Slot, Template, Values};
use super::{Category, MessageStatus};
use crate::time::{MINUTE, Timestamp};

/// Default rate of a campaign, messages a minute.
pub const DEFAULT_RATE: i64 = 60;
/// Most messages a minute.
pub const MAX_RATE: i64 = 600;
/// Most values that a mapping names.
pub const MAX_MAPPED: usize = 100;
/// Longest mapping in a request, bytes of JSON.
pub const MAX_MAPPING_BYTES: usize = 256 * 1024;
/// Longest value or name of a mapping, characters.
pub const MAX_VALUE: usize = 2_000;
/// The variable of a list that records an opt-in.
pub const OPT_IN: &str = "chatapp_opt_in";
/// Outcomes that the failure rate considers, and how many there must be.
pub const RECENT: i64 = 100;
/// Fewest outcomes for a failure rate.
pub const FEWEST: i64 = 20;

closed_sets::words! {
    /// Why a campaign was paused by itself.
    pub enum PauseReason {
        /// The provider limits the number because people report its messages.
        SpamRateLimited = "spam_rate_limited",
        /// The template is not approved any more.
        TemplateUnavailable = "template_unavailable",
        /// The template became marketing.
        TemplateRecategorised = "template_recategorised",
        /// The quality of the number is `RED`.
        QualityRed = "quality_red",
        /// Half of the recent messages failed.
        HighFailureRate = "high_failure_rate",
        /// The provider restricted the account.
        AccountRestricted = "account_restricted",
        /// The access token is rejected.
        TokenInvalid = "token_invalid",
        /// The account or the number is not connected any more.
        NotConnected = "not_connected",
        /// The account cannot pay.
        PaymentIssue = "payment_issue",
        /// The token lacks a permission.
        PermissionDenied = "permission_denied",
        /// The number is not registered.
        NumberNotRegistered = "number_not_registered",
    }
}

closed_sets::words! {
    /// Which people of a list receive the message.
    pub enum OptInPolicy {
        /// Those with a recorded opt-in.
        Require = "require",
        /// Everybody who did not opt out.
        SkipCheck = "skip_check",
    }
}

closed_sets::words! {
    /// The source of a template value.
    pub enum ParamSource {
        /// A variable of the list.
        Column = "column",
        /// The contact: `name`, `email`, `phone`, or one of its attributes.
        Contact = "contact",
        /// The same text for everybody.
        Static = "static",
    }
}

closed_sets::words! {
    /// The result for a person of a list.
    pub enum Outcome {
        /// Their message is queued.
        Sending = "sending",
        Sent = "sent",
        Failed = "failed",
        /// The provider's limit of marketing messages to this person is reached.
        FrequencyCapped = "frequency_capped",
        /// They were skipped.
        Skipped = "skipped",
        /// It is unknown whether their message was sent.
        DeliveryUnknown = "delivery_unknown",
    }
}

/// A value of a template, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapped {
    /// `column`, `contact` or `static`.
    pub source: String,
    /// The variable, the field, or the text.
    pub value: String,
}

/// The sources of a template's values.
pub type Mapping = BTreeMap<String, Mapped>;

/// The fields of a person that a template can be filled with.
#[derive(Debug, Clone, Copy)]
pub struct PersonFields<'a> {
    pub variables: &'a Map<String, Value>,
    /// The name of the contact, else that of the list.
    pub name: Option<&'a str>,
    /// The contact's e-mail address.
    pub email: Option<&'a str>,
    pub phone: Option<&'a str>,
    pub attributes: Option<&'a Value>,
}

/// Whether a value of the list records an opt-in.
pub fn opts_in(variables: &Map<String, Value>) -> bool {
    let said = variables.get(OPT_IN).and_then(Value::as_str).unwrap_or_default();
    matches!(said.trim().to_ascii_lowercase().as_str(), "yes" | "true" | "1" | "y")
}

/// Validates a mapping: each key names a placeholder of a template, each source is known, and a fixed file is an https
/// address.
///
/// # Errors
/// The key below `paramMapping` that is wrong, and what it must be.
pub fn check_mapping(mapping: &Mapping) -> Result<(), (String, &'static str)> {
    for (key, mapped) in mapping {
        let place = match key.split_once('.') {
            None => matches!(key.as_str(), "header" | "header_media"),
            Some(("body", name)) => !name.is_empty(),
            Some(("button", index)) => index.parse::<u8>().is_ok_and(|index| index < 10),
            Some(_) => false,
        };
        if !place {
            return Err((
                key.clone(),
                "must be header, header_media, body.<number or name> or button.<index>",
            ));
        }
        let Some(source) = ParamSource::parse(&mapped.source) else {
            return Err((format!("{key}.source"), "must be column, contact or static"));
        };
        if mapped.value.trim().is_empty() {
            return Err((format!("{key}.value"), "must not be empty"));
        }
        if key == "header_media"
            && source == ParamSource::Static
            && !mapped.value.trim().starts_with("https://")
        {
            return Err((format!("{key}.value"), "must be an https address"));
        }
    }
    Ok(())
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The value of a placeholder for a person; `None` when it is missing.
fn value(mapping: &Mapping, key: &str, person: &PersonFields<'_>) -> Option<String> {
    let mapped = mapping.get(key)?;
    let name = mapped.value.trim();
    let found = match ParamSource::parse(&mapped.source)? {
        ParamSource::Static => Some(mapped.value.clone()),
        ParamSource::Column => person.variables.get(name).and_then(text_of),
        ParamSource::Contact => match name {
            "name" => person.name.map(str::to_owned),
            "email" => person.email.map(str::to_owned),
            "phone" => person.phone.map(str::to_owned),
            attribute => person.attributes.and_then(|known| known.get(attribute)).and_then(text_of),
        },
    };
    found.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The key of a placeholder; `None` for one that a mapping cannot fill.
pub fn key(slot: &Slot) -> Option<String> {
    Some(match slot {
        Slot::HeaderText(_) => "header".to_owned(),
        Slot::HeaderMedia(_) => "header_media".to_owned(),
        Slot::Body(name) => format!("body.{name}"),
        Slot::ButtonUrl(index) | Slot::ButtonCode(index) => format!("button.{index}"),
        Slot::Raw(_) => return None,
    })
}

/// The values of a template for a person.
///
/// # Errors
/// The keys of those that are missing.
pub fn params(
    template: &Template,
    mapping: &Mapping,
    person: &PersonFields<'_>,
) -> Result<Params, Vec<String>> {
    let (mut filled, mut missing) = (Params::default(), Vec::new());
    let (mut numbered, mut named) = (Vec::new(), BTreeMap::new());
    for slot in template.slots() {
        let Some(key) = key(&slot) else {
            missing.push("components".to_owned());
            continue;
        };
        let Some(text) = value(mapping, &key, person) else {
            missing.push(key);
            continue;
        };
        match slot {
            Slot::HeaderText(_) => {
                filled.header =
                    Some(HeaderValue { kind: "text".into(), text: Some(text), url: None, filename: None });
            }
            Slot::HeaderMedia(kind) => {
                if !text.starts_with("https://") {
                    missing.push(key);
                    continue;
                }
                let filename = (kind == MediaKind::Document).then(|| file_name(&text)).flatten();
                filled.header =
                    Some(HeaderValue { kind: kind.as_str().into(), text: None, url: Some(text), filename });
            }
            Slot::Body(name) if template.named => {
                named.insert(name, text);
            }
            Slot::Body(_) => numbered.push(text),
            Slot::ButtonUrl(index) => {
                filled.buttons.push(ButtonValue { index, text: Some(text), ..ButtonValue::default() });
            }
            Slot::ButtonCode(index) => {
                filled.buttons.push(ButtonValue { index, code: Some(text), ..ButtonValue::default() });
            }
            Slot::Raw(_) => {}
        }
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    filled.body = match (named.is_empty(), numbered.is_empty()) {
        (false, _) => Some(Values::Named(named)),
        (true, false) => Some(Values::Numbered(numbered)),
        (true, true) => None,
    };
    Ok(filled)
}

/// The name of a file at the end of its address.
fn file_name(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    (name.contains('.') && !name.is_empty() && path.matches('/').count() > 2).then(|| name.to_owned())
}

/// The rate limiter of a campaign: in no minute more messages than its rate. Its state is the time that is used up, in
/// microseconds, as in [`super::limits::Pace`].
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    gap: i64,
    burst: i64,
}

impl Rate {
    /// The pace of this many messages a minute. The burst is worth one and a half seconds.
    pub fn of(per_minute: i64) -> Self {
        let rate = per_minute.clamp(1, MAX_RATE);
        let burst = (rate / 40).max(1);
        // A minute holds a burst and what follows it at this gap.
        Self { gap: (MINUTE * 1_000).div_euclid(rate - burst + 1) + 1, burst }
    }

    /// How many messages may be sent now, up to `most`; the state afterwards; and when the next one may.
    pub fn take(self, used: i64, now: Timestamp, most: i64) -> (i64, i64, Timestamp) {
        let now = now.0.saturating_mul(1_000);
        let mut used = used.max(now - self.gap);
        let room = ((now + (self.burst - 1) * self.gap - used).div_euclid(self.gap)).clamp(0, most.max(0));
        used += room * self.gap;
        let next = used + self.gap - (self.burst - 1) * self.gap;
        (room, used, Timestamp((next.max(now) + 999).div_euclid(1_000)))
    }

    /// The delay, at least 1 ms, until several messages may be handed over at once: three quarters of the time of a
    /// burst. Who comes later by less than the last quarter loses nothing.
    pub fn several(self) -> i64 {
        (self.burst * 3 / 4 * self.gap / 1_000).max(1)
    }

    /// Returns unused slots.
    pub fn give_back(self, used: i64, count: i64) -> i64 {
        used - count * self.gap
    }
}

/// The effect of a message's outcome on its campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The state of the person; the status of the message.
    Is(Outcome, i64),
    /// Skipped for this reason.
    Skip(&'static str),
    /// The person stays queued, and the campaign is paused.
    Pause(PauseReason),
    Nothing,
}

/// Why a campaign pauses after a provider's error.
pub fn pauses(effect: Effect) -> Option<PauseReason> {
    Some(match effect {
        Effect::SpamLimited => PauseReason::SpamRateLimited,
        Effect::TemplateUnavailable => PauseReason::TemplateUnavailable,
        Effect::AccountRestricted => PauseReason::AccountRestricted,
        Effect::TokenInvalid => PauseReason::TokenInvalid,
        Effect::PaymentIssue => PauseReason::PaymentIssue,
        Effect::PermissionDenied => PauseReason::PermissionDenied,
        Effect::NumberNotRegistered => PauseReason::NumberNotRegistered,
        _ => return None,
    })
}

/// What the status of a message means for its person, with the code of a failure
/// (docs/contract/campaigns.md#outcomes).
pub fn verdict(status: MessageStatus, code: Option<i64>) -> Verdict {
    match status {
        MessageStatus::Sent => Verdict::Is(Outcome::Sent, 0),
        MessageStatus::Delivered => Verdict::Is(Outcome::Sent, 1),
        MessageStatus::Read => Verdict::Is(Outcome::Sent, 2),
        MessageStatus::DeliveryUnknown => Verdict::Is(Outcome::DeliveryUnknown, 0),
        MessageStatus::Failed => failed(code.unwrap_or(0)),
        MessageStatus::Queued | MessageStatus::Received | MessageStatus::Deleted => Verdict::Nothing,
    }
}

fn failed(code: i64) -> Verdict {
    if let Some(local) = LocalError::ALL.into_iter().find(|local| local.code() == code) {
        return match local {
            LocalError::ContactOptedOut => Verdict::Skip("opted_out"),
            LocalError::OptInRequired => Verdict::Skip("no_opt_in"),
            LocalError::TemplateUnavailable | LocalError::TemplateNotFound => {
                Verdict::Pause(PauseReason::TemplateUnavailable)
            }
            LocalError::TextTooLong | LocalError::WindowClosed | LocalError::InvalidMessage => {
                Verdict::Is(Outcome::Failed, 0)
            }
        };
    }
    match effect(code) {
        Effect::FrequencyCapped => Verdict::Is(Outcome::FrequencyCapped, 0),
        effect => pauses(effect).map_or(Verdict::Is(Outcome::Failed, 0), Verdict::Pause),
    }
}

/// Whether this many failures of this many recent messages pause a campaign.
pub fn fails_too_often(messages: i64, failures: i64) -> bool {
    messages >= FEWEST && failures * 2 >= messages
}

/// Whether an opt-in must be recorded for a person to receive it.
pub fn needs_opt_in(policy: OptInPolicy, category: Category, became_marketing: bool) -> bool {
    policy == OptInPolicy::Require || (became_marketing && category == Category::Marketing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND;
    use serde_json::json;

    fn template() -> Template {
        Template {
            id: crate::ids::Id::from_bits(1),
            provider_id: "1".into(),
            name: "due".into(),
            language: "en".into(),
            category: Category::Utility,
            status: super::super::TemplateStatus::Approved,
            components: vec![
                json!({"type": "HEADER", "format": "DOCUMENT"}),
                json!({"type": "BODY", "text": "Hi {{1}}, Rs {{2}} is due."}),
                json!({"type": "BUTTONS", "buttons": [{"type": "URL", "text": "Pay", "url": "https://p.example/{{1}}"}]}),
            ],
            named: false,
        }
    }

    fn mapping() -> Mapping {
        serde_json::from_value(json!({
            "header_media": {"source": "static", "value": "https://files.example/bills/may.pdf"},
            "body.1": {"source": "contact", "value": "name"},
            "body.2": {"source": "column", "value": "due"},
            "button.0": {"source": "contact", "value": "loan"},
        }))
        .unwrap()
    }

    #[test]
    fn values_come_from_the_list_the_contact_and_the_mapping() {
        let variables = json!({"due": " 4500 "}).as_object().unwrap().clone();
        let attributes = json!({"loan": 7});
        let person = PersonFields {
            variables: &variables,
            name: Some("Asha"),
            email: None,
            phone: None,
            attributes: Some(&attributes),
        };
        let params = params(&template(), &mapping(), &person).unwrap();
        assert_eq!(params.body, Some(Values::Numbered(vec!["Asha".into(), "4500".into()])));
        assert_eq!(params.buttons[0].text.as_deref(), Some("7"));
        let header = params.header.unwrap();
        assert_eq!((header.kind.as_str(), header.filename.as_deref()), ("document", Some("may.pdf")));
        let bare = PersonFields { name: None, attributes: None, ..person };
        assert_eq!(
            super::params(&template(), &mapping(), &bare),
            Err(vec!["body.1".into(), "button.0".into()])
        );
    }

    #[test]
    fn a_mapping_names_what_is_wrong_with_it() {
        for (key, source, value, wrong) in [
            ("footer", "static", "x", Some("footer")),
            ("body.", "static", "x", Some("body.")),
            ("button.x", "static", "x", Some("button.x")),
            ("body.1", "sheet", "x", Some("body.1.source")),
            ("body.1", "column", " ", Some("body.1.value")),
            ("header_media", "static", "http://files.example/a.png", Some("header_media.value")),
            ("header_media", "column", "bill", None),
            ("body.name", "contact", "name", None),
            ("header", "static", "Hi", None),
            ("button.9", "static", "x", None),
        ] {
            let mapping =
                Mapping::from([(key.into(), Mapped { source: source.into(), value: value.into() })]);
            assert_eq!(check_mapping(&mapping).err().map(|(key, _)| key).as_deref(), wrong, "{key}");
        }
    }

    #[test]
    fn no_minute_has_more_messages_than_the_rate_and_little_of_it_is_wasted() {
        for per_minute in [1, 2, 59, 60, 61, 119, 120, 300, 600] {
            let rate = Rate::of(per_minute);
            let start = Timestamp(1_700_000_000_000);
            let (mut used, mut now, mut sent) = (0, start, Vec::new());
            while now < start.plus(5 * MINUTE) {
                let (count, next, again) = rate.take(used, now, 64);
                used = next;
                sent.extend((0..count).map(|_| now));
                assert!(again > now || count == 64, "{per_minute}");
                now = again.max(now.plus(SECOND / 4));
            }
            for (first, at) in sent.iter().enumerate() {
                let within = sent[first..].iter().take_while(|other| other.0 < at.0 + MINUTE).count();
                assert!(within as i64 <= per_minute, "{per_minute}: {within}");
            }
            assert!(sent.len() as i64 * 100 >= per_minute * 5 * 93, "{per_minute}: {}", sent.len());
        }
    }

    #[test]
    fn outcomes() {
        use Outcome::*;
        for (status, code, verdict) in [
            (MessageStatus::Queued, None, Verdict::Nothing),
            (MessageStatus::Sent, None, Verdict::Is(Sent, 0)),
            (MessageStatus::Delivered, None, Verdict::Is(Sent, 1)),
            (MessageStatus::Read, None, Verdict::Is(Sent, 2)),
            (MessageStatus::DeliveryUnknown, None, Verdict::Is(DeliveryUnknown, 0)),
            (MessageStatus::Failed, Some(131_026), Verdict::Is(Failed, 0)),
            (MessageStatus::Failed, Some(131_049), Verdict::Is(FrequencyCapped, 0)),
            (MessageStatus::Failed, Some(-1001), Verdict::Skip("opted_out")),
            (MessageStatus::Failed, Some(-1006), Verdict::Skip("no_opt_in")),
            (MessageStatus::Failed, Some(-1007), Verdict::Pause(PauseReason::TemplateUnavailable)),
            (MessageStatus::Failed, Some(131_048), Verdict::Pause(PauseReason::SpamRateLimited)),
            (MessageStatus::Failed, Some(132_015), Verdict::Pause(PauseReason::TemplateUnavailable)),
            (MessageStatus::Failed, Some(131_031), Verdict::Pause(PauseReason::AccountRestricted)),
            (MessageStatus::Failed, Some(190), Verdict::Pause(PauseReason::TokenInvalid)),
            (MessageStatus::Failed, Some(131_042), Verdict::Pause(PauseReason::PaymentIssue)),
            (MessageStatus::Failed, Some(10), Verdict::Pause(PauseReason::PermissionDenied)),
            (MessageStatus::Failed, Some(133_010), Verdict::Pause(PauseReason::NumberNotRegistered)),
        ] {
            assert_eq!(super::verdict(status, code), verdict, "{status:?} {code:?}");
        }
    }

    #[test]
    fn half_of_the_recent_messages() {
        assert!(!fails_too_often(19, 19));
        assert!(fails_too_often(20, 10));
        assert!(!fails_too_often(100, 49));
        assert!(fails_too_often(100, 50));
    }

    #[test]
    fn opt_ins_of_lists() {
        for (said, yes) in
            [("yes", true), ("TRUE", true), ("1", true), (" y ", true), ("no", false), ("", false)]
        {
            assert_eq!(opts_in(json!({OPT_IN: said}).as_object().unwrap()), yes, "{said}");
        }
        assert!(!opts_in(&Map::new()));
    }
}

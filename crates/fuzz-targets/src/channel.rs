//! The messaging channel: notifications of its provider, templates with their values.

use cloud_api::notifications::{is_signed, parse, signature};
use domain::channel::template::{NewTemplate, Params, fill, is_named};
use domain::channel::{Category, Content, Notification, Template, TemplateStatus};
use domain::ids::Id;
use domain::time::Timestamp;
use serde_json::Value;

const NOW: Timestamp = Timestamp(1_800_000_000_000);

/// Whether no text and no name holds U+0000.
fn is_storable(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains('\0'),
        Value::Array(items) => items.iter().all(is_storable),
        Value::Object(fields) => {
            fields.iter().all(|(name, value)| !name.contains('\0') && is_storable(value))
        }
        _ => true,
    }
}

/// A notification. What is stored of it can be read again and holds no U+0000, no moment lies ahead, somebody can be
/// answered, and the same has the same key. Only its own signature belongs to it.
pub fn webhook(data: &[u8]) {
    let header = signature("secret", data);
    assert!(is_signed("secret", &header, data));
    assert!(!is_signed("other", &header, data));
    let text = String::from_utf8_lossy(data);
    assert!(!is_signed("secret", &text, b"another body"));
    let Ok(items) = parse(data, NOW) else { return };
    assert_eq!(parse(data, NOW).as_ref(), Ok(&items));
    for item in items {
        assert!(!item.key.is_empty());
        let stored = serde_json::to_string(&item.notification).expect("an item can be stored");
        assert!(is_storable(&serde_json::from_str(&stored).expect("JSON")), "{stored}");
        let again: Notification = serde_json::from_str(&stored).expect("a stored item can be read");
        // Fractions may differ in their last digit.
        assert!(again == item.notification || stored.contains(['.', 'e', 'E']), "{stored}");
        match &item.notification {
            Notification::Message(received) => {
                assert!(received.at <= NOW && received.from.address().is_some() && !received.id.is_empty());
            }
            Notification::Status(status) => assert!(status.at <= NOW && !status.id.is_empty()),
            Notification::Echo(echo) => assert!(echo.at <= NOW && echo.to.address().is_some()),
            Notification::Preference(preference) => assert!(preference.person.address().is_some()),
            _ => {}
        }
    }
}

/// A template and its values, as JSON `[components, params]`. What is filled in has no variable without a value, and
/// what is refused says why.
pub fn template(data: &[u8]) {
    let Ok(Value::Array(given)) = serde_json::from_slice::<Value>(data) else { return };
    let (Some(Value::Array(components)), Some(params)) = (given.first(), given.get(1)) else { return };
    let Ok(params) = serde_json::from_value::<Params>(params.clone()) else { return };
    for category in [Category::Utility, Category::Authentication] {
        let named = is_named(components, None);
        let new = NewTemplate {
            name: "fuzzed".into(),
            language: "en".into(),
            category,
            components: components.clone(),
            named,
        };
        let fits = new.check().is_ok();
        let template = Template {
            id: Id::from_bits(1),
            provider_id: "1".into(),
            name: new.name,
            language: new.language,
            category,
            status: TemplateStatus::Approved,
            components: new.components,
            named,
        };
        let slots = template.slots();
        match fill(&template, &params) {
            Ok(Content::Template(filled)) => {
                let words = template.words(&filled);
                if params.components.is_none() {
                    assert!(filled.components.iter().all(|part| part["type"].is_string()));
                    assert!(words.chars().count() <= 1_024 || !fits || category == Category::Authentication);
                }
            }
            Ok(other) => panic!("a template became {other:?}"),
            Err(issues) => {
                assert!(!issues.is_empty());
                assert!(issues.iter().all(|issue| issue.field.starts_with("params.")), "{issues:?}");
                assert!(!slots.is_empty() || params != Params::default(), "nothing was needed or given");
            }
        }
    }
}

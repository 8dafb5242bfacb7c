use serde_json::json;

use super::*;

const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn notified(field: &str, value: Value) -> Vec<Item> {
    let body = json!({"object": "whatsapp_business_account", "entry": [
        {"id": "102", "time": 1_795_000_000, "changes": [{"field": field, "value": value}], "new": 1},
    ]});
    parse(body.to_string().as_bytes(), NOW).unwrap()
}

fn one(field: &str, value: Value) -> Notification {
    let mut items = notified(field, value);
    assert_eq!(items.len(), 1, "{items:?}");
    items.remove(0).notification
}

fn with_number(mut value: Value) -> Value {
    value["messaging_product"] = json!("whatsapp");
    value["metadata"] = json!({"display_phone_number": "918047111222", "phone_number_id": "111"});
    value
}

fn message(fields: Value) -> Received {
    let mut item = json!({"from": "919812345678", "id": "wamid.A", "timestamp": "1795000123"});
    item.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap());
    let contacts = json!([{"profile": {"name": "Asha"}, "wa_id": "919812345678", "user_id": "IN.4711"}]);
    match one("messages", with_number(json!({"contacts": contacts, "messages": [item]}))) {
        Notification::Message(received) => *received,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_has_its_person_its_number_and_its_moment() {
    let items = notified(
        "messages",
        with_number(json!({
            "contacts": [{"profile": {"name": "Asha", "username": "asha.k"}, "wa_id": "919812345678", "user_id": "IN.4711", "parent_user_id": "IN.ENT.99"}],
            "messages": [{"from": "919812345678", "id": "wamid.A", "timestamp": "1795000123", "type": "text",
                "text": {"body": "Hi\u{0}"}, "context": {"from": "918047111222", "id": "wamid.B", "forwarded": true}}],
        })),
    );
    let item = &items[0];
    assert_eq!((item.business_account.as_str(), item.phone_number_id.as_deref()), ("102", Some("111")));
    let Notification::Message(received) = &item.notification else { panic!("{item:?}") };
    let phone = E164::parse("919812345678").ok();
    assert_eq!(
        received.from,
        Person {
            phone,
            user_id: Some("IN.4711".into()),
            parent_user_id: Some("IN.ENT.99".into()),
            username: Some("asha.k".into()),
            name: Some("Asha".into()),
        }
    );
    assert_eq!(received.at, Timestamp(1_795_000_123_000));
    assert_eq!((received.reply_to.as_deref(), received.forwarded), (Some("wamid.B"), true));
    assert_eq!(received.what, ReceivedContent::Text { body: "Hi".into() });
}

#[test]
fn every_type_of_message_is_read() {
    let media = |kind, mime: &str, caption: Option<&str>, filename: Option<&str>, voice| {
        ReceivedContent::Media(ReceivedMedia {
            kind,
            id: "5".into(),
            mime_type: mime.into(),
            sha256: Some("c3Vt".into()),
            caption: caption.map(Into::into),
            filename: filename.map(Into::into),
            voice,
        })
    };
    for (fields, expected) in [
        (json!({"type": "text", "text": {"body": "Hi"}}), ReceivedContent::Text { body: "Hi".into() }),
        (
            json!({"type": "image", "image": {"mime_type": "image/jpeg", "sha256": "c3Vt", "id": "5", "caption": "c", "url": "https://x"}}),
            media(MediaKind::Image, "image/jpeg", Some("c"), None, false),
        ),
        (
            json!({"type": "audio", "audio": {"mime_type": "audio/ogg; codecs=opus", "sha256": "c3Vt", "id": "5", "voice": true}}),
            media(MediaKind::Audio, "audio/ogg; codecs=opus", None, None, true),
        ),
        (
            json!({"type": "document", "document": {"mime_type": "application/pdf", "sha256": "c3Vt", "id": "5", "filename": "a.pdf"}}),
            media(MediaKind::Document, "application/pdf", None, Some("a.pdf"), false),
        ),
        (
            json!({"type": "sticker", "sticker": {"mime_type": "image/webp", "sha256": "c3Vt", "id": "5", "animated": true}}),
            media(MediaKind::Sticker, "image/webp", None, None, false),
        ),
        (
            json!({"type": "location", "location": {"latitude": 12.97, "longitude": 77.59, "name": "Shop"}}),
            ReceivedContent::Location {
                place: Location {
                    latitude: 12.97,
                    longitude: 77.59,
                    name: Some("Shop".into()),
                    address: None,
                },
                url: None,
            },
        ),
        (
            json!({"type": "contacts", "contacts": [{"name": {"formatted_name": "A"}}]}),
            ReceivedContent::Contacts { cards: vec![json!({"name": {"formatted_name": "A"}})] },
        ),
        (
            json!({"type": "button", "button": {"payload": "PAY", "text": "Pay"}}),
            ReceivedContent::Button { payload: Some("PAY".into()), text: "Pay".into() },
        ),
        (
            json!({"type": "interactive", "interactive": {"type": "button_reply", "button_reply": {"id": "1", "title": "Yes"}}}),
            ReceivedContent::Reply { id: "1".into(), title: "Yes".into(), description: None, list: false },
        ),
        (
            json!({"type": "interactive", "interactive": {"type": "list_reply", "list_reply": {"id": "1", "title": "One", "description": "d"}}}),
            ReceivedContent::Reply {
                id: "1".into(),
                title: "One".into(),
                description: Some("d".into()),
                list: true,
            },
        ),
        (
            json!({"type": "interactive", "interactive": {"type": "nfm_reply", "nfm_reply": {"name": "flow", "body": "Sent", "response_json": "{\"a\":1}"}}}),
            ReceivedContent::Form {
                name: Some("flow".into()),
                body: Some("Sent".into()),
                response: json!({"a": 1}),
            },
        ),
        (
            json!({"type": "interactive", "interactive": {"type": "call_permission_reply", "call_permission_reply": {}}}),
            ReceivedContent::Unsupported { what: "interactive".into() },
        ),
        (
            json!({"type": "reaction", "reaction": {"message_id": "wamid.B", "emoji": "\u{1f44d}"}}),
            ReceivedContent::Reaction { message: "wamid.B".into(), emoji: Some("\u{1f44d}".into()) },
        ),
        (
            json!({"type": "reaction", "reaction": {"message_id": "wamid.B", "emoji": ""}}),
            ReceivedContent::Reaction { message: "wamid.B".into(), emoji: None },
        ),
        (
            json!({"type": "order", "order": {"catalog_id": "1"}}),
            ReceivedContent::Order { order: json!({"catalog_id": "1"}) },
        ),
        (
            json!({"type": "system", "system": {"body": "changed", "type": "user_changed_number", "wa_id": "919812345679"}}),
            ReceivedContent::System {
                event: Some("user_changed_number".into()),
                body: Some("changed".into()),
                phone: E164::parse("919812345679").ok(),
                user_id: None,
            },
        ),
        (
            json!({"type": "edit", "edit": {"original_message_id": "wamid.B", "message": {"type": "text", "text": {"body": "new"}}}}),
            ReceivedContent::Edit { original: "wamid.B".into(), text: Some("new".into()) },
        ),
        (
            json!({"type": "revoke", "revoke": {"original_message_id": "wamid.B"}}),
            ReceivedContent::Revoke { original: "wamid.B".into() },
        ),
        (
            json!({"type": "unsupported", "errors": [{"code": 131_051}], "unsupported": {"type": "poll"}}),
            ReceivedContent::Unsupported { what: "poll".into() },
        ),
        (
            json!({"type": "hologram", "hologram": {}}),
            ReceivedContent::Unsupported { what: "hologram".into() },
        ),
        (json!({"type": "text", "text": 5}), ReceivedContent::Unsupported { what: "text".into() }),
        (json!({}), ReceivedContent::Unsupported { what: "unknown".into() }),
    ] {
        assert_eq!(message(fields.clone()).what, expected, "{fields}");
    }
}

#[test]
fn who_hides_the_number_is_known_by_id() {
    let value = with_number(json!({
        "contacts": [{"profile": {"name": "Asha", "username": "asha.k"}, "user_id": "IN.4711"}],
        "messages": [{"from_user_id": "IN.4711", "id": "wamid.A", "timestamp": "1795000123", "type": "text", "text": {"body": "Hi"}}],
    }));
    let Notification::Message(received) = one("messages", value) else { panic!() };
    assert_eq!((received.from.phone, received.from.user_id.as_deref()), (None, Some("IN.4711")));
    assert_eq!(received.from.username.as_deref(), Some("asha.k"));
    // Somebody without either cannot be answered: there is nothing to keep.
    let nobody = json!({"messages": [{"id": "wamid.A", "type": "text", "text": {"body": "Hi"}}]});
    assert_eq!(notified("messages", with_number(nobody)), []);
}

#[test]
fn an_advertisement_is_kept_with_its_fields() {
    let referral = message(json!({"type": "text", "text": {"body": "Hi"}, "referral": {
        "source_url": "https://x", "source_id": "1", "source_type": "ad", "headline": "h", "body": "b", "media_type": "image",
        "image_url": "https://i", "thumbnail_url": "https://t", "ctwa_clid": "c", "welcome_message": {"text": "w"},
    }}))
    .referral
    .unwrap();
    let shown = serde_json::to_value(&referral).unwrap();
    assert_eq!(
        shown,
        json!({"sourceId": "1", "sourceType": "ad", "sourceUrl": "https://x", "headline": "h", "body": "b", "mediaType": "image",
            "imageUrl": "https://i", "videoUrl": null, "thumbnailUrl": "https://t", "ctwaClid": "c"})
    );
}

#[test]
fn a_status_has_its_prices_and_errors() {
    let value = with_number(json!({"statuses": [{
        "id": "wamid.A", "status": "failed", "timestamp": "1795000123", "recipient_id": "919812345678",
        "recipient_user_id": "IN.4711", "biz_opaque_callback_data": "camsg_1",
        "conversation": {"id": "c", "origin": {"type": "utility"}},
        "pricing": {"billable": true, "pricing_model": "PMP", "type": "regular", "category": "utility"},
        "errors": [{"code": 131_049, "title": "t", "message": "m", "error_data": {"details": "d"}, "href": "h"}],
    }]}));
    let Notification::Status(status) = one("messages", value) else { panic!() };
    assert_eq!((status.receipt, status.message.as_deref()), (Receipt::Failed, Some("camsg_1")));
    assert_eq!(status.errors, [ProviderError::of(131_049, "d")]);
    assert_eq!(status.pricing.unwrap().category.as_deref(), Some("utility"));
    assert_eq!(status.to.user_id.as_deref(), Some("IN.4711"));
    for (word, receipt) in [
        ("sent", Some(Receipt::Sent)),
        ("delivered", Some(Receipt::Delivered)),
        ("read", Some(Receipt::Read)),
        ("played", Some(Receipt::Played)),
        ("deleted", Some(Receipt::Deleted)),
        ("warning", None),
    ] {
        let items =
            notified("messages", with_number(json!({"statuses": [{"id": "wamid.A", "status": word}]})));
        let read = items.first().map(|item| match &item.notification {
            Notification::Status(status) => status.receipt,
            other => panic!("{other:?}"),
        });
        assert_eq!(read, receipt, "{word}");
    }
}

#[test]
fn news_of_templates_numbers_and_the_account_are_read() {
    let template = || TemplateRef { id: "594".into(), name: "due".into(), language: "en".into() };
    let about = |more: Value| {
        let mut value = json!({"message_template_id": 594, "message_template_name": "due", "message_template_language": "en"});
        value.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        value
    };
    for (field, value, expected) in [
        (
            "message_template_status_update",
            about(json!({"event": "REJECTED", "reason": "SCAM", "message_template_category": "UTILITY"})),
            Notification::TemplateStatus(TemplateStatusUpdate {
                template: template(),
                event: "REJECTED".into(),
                reason: Some("SCAM".into()),
                category: Some("UTILITY".into()),
            }),
        ),
        (
            "message_template_status_update",
            about(json!({"event": "APPROVED", "reason": "NONE"})),
            Notification::TemplateStatus(TemplateStatusUpdate {
                template: template(),
                event: "APPROVED".into(),
                reason: None,
                category: None,
            }),
        ),
        (
            "message_template_quality_update",
            about(json!({"previous_quality_score": "GREEN", "new_quality_score": "YELLOW"})),
            Notification::TemplateQuality(TemplateQualityUpdate {
                template: template(),
                quality: "YELLOW".into(),
            }),
        ),
        (
            "template_category_update",
            about(
                json!({"correct_category": "MARKETING", "new_category": "UTILITY", "category_update_timestamp": 1}),
            ),
            Notification::TemplateCategory(TemplateCategoryUpdate {
                template: template(),
                category: "UTILITY".into(),
                pending: Some("MARKETING".into()),
                previous: None,
            }),
        ),
        (
            "template_category_update",
            about(json!({"previous_category": "UTILITY", "new_category": "MARKETING"})),
            Notification::TemplateCategory(TemplateCategoryUpdate {
                template: template(),
                category: "MARKETING".into(),
                pending: None,
                previous: Some("UTILITY".into()),
            }),
        ),
        (
            "message_template_components_update",
            about(json!({"message_template_element": "x"})),
            Notification::TemplateComponents(template()),
        ),
        (
            "phone_number_quality_update",
            json!({"display_phone_number": "918047111222", "event": "THROUGHPUT_UPGRADE", "max_daily_conversations_per_business": "TIER_10K"}),
            Notification::Number(NumberUpdate {
                display_number: "918047111222".into(),
                event: "THROUGHPUT_UPGRADE".into(),
                tier: Some("TIER_10K".into()),
            }),
        ),
        (
            "business_capability_update",
            json!({"max_daily_conversations_per_business": -1, "max_phone_numbers_per_waba": 25}),
            Notification::Capability { tier: "-1".into() },
        ),
        (
            "account_update",
            json!({"event": "ACCOUNT_RESTRICTION", "restriction_info": [{"restriction_type": "RESTRICTED_BIZ_INITIATED_MESSAGING", "expiration": 1}]}),
            Notification::Account(AccountUpdate {
                event: "ACCOUNT_RESTRICTION".into(),
                restriction: Some(
                    json!([{"restriction_type": "RESTRICTED_BIZ_INITIATED_MESSAGING", "expiration": 1}]),
                ),
                violation: None,
                ban: None,
            }),
        ),
        (
            "user_preferences",
            json!({"user_preferences": [{"wa_id": "919812345678", "category": "marketing_messages", "value": "stop", "timestamp": 1_795_000_123}]}),
            Notification::Preference(Preference {
                person: Person { phone: E164::parse("919812345678").ok(), ..Person::default() },
                stopped: true,
                at: Timestamp(1_795_000_123_000),
            }),
        ),
    ] {
        assert_eq!(one(field, value.clone()), expected, "{field} {value}");
    }
    assert_eq!(notified("security", json!({"event": "x"})), []);
}

#[test]
fn a_message_written_in_the_providers_app_is_an_echo() {
    let value = with_number(json!({"message_echoes": [
        {"from": "918047111222", "to": "919812345678", "id": "wamid.E", "timestamp": "1795000123", "type": "text", "text": {"body": "Hi"}},
    ]}));
    let Notification::Echo(echo) = one("smb_message_echoes", value) else { panic!() };
    assert_eq!(echo.what, ReceivedContent::Text { body: "Hi".into() });
}

#[test]
fn a_batch_is_read_item_by_item_and_the_same_has_the_same_key() {
    let item = |id: &str| json!({"from": "919812345678", "id": id, "timestamp": "1", "type": "text", "text": {"body": "Hi"}});
    let batch = with_number(json!({
        "messages": [item("a"), 5, item("b"), item("a")],
        "statuses": [{"id": "s", "status": "sent"}, {"id": "s", "status": "read"}, {"id": "s", "status": "sent"}],
        "errors": [{"code": 130_429, "title": "t"}],
    }));
    let keys: Vec<String> = notified("messages", batch).into_iter().map(|item| item.key).collect();
    assert_eq!(
        keys[..6],
        ["message:a", "message:b", "message:a", "status:s:sent", "status:s:read", "status:s:sent"]
    );
    assert!(keys[6].starts_with("errors:"), "{}", keys[6]);
    let quality = |time: i64| {
        let body = json!({"entry": [{"id": "1", "time": time, "changes": [{"field": "account_update", "value": {"event": "X"}}]}]});
        parse(body.to_string().as_bytes(), NOW).unwrap().remove(0).key
    };
    assert_eq!(quality(1), quality(1));
    assert_ne!(quality(1), quality(2));
}

#[test]
fn rubbish_is_refused_or_passed_over() {
    for body in ["", "[]", "5", "{\"entry\":", "nul"] {
        assert!(parse(body.as_bytes(), NOW).is_err(), "{body}");
    }
    for body in [
        json!({}),
        json!({"entry": 5}),
        json!({"entry": [5, {"changes": 5}, {"changes": [5, {"field": 5}, {"field": "messages"}]}]}),
        json!({"entry": [{"changes": [{"field": "messages", "value": {"messages": [{"id": ""}], "statuses": [{}]}}]}]}),
    ] {
        assert_eq!(parse(body.to_string().as_bytes(), NOW), Ok(vec![]), "{body}");
    }
    // More than is taken in is refused as a whole: what is acknowledged is stored.
    let many = |count: usize| {
        let statuses: Vec<Value> = (0..count)
            .map(|at| json!({"id": format!("w{at}"), "status": "sent", "timestamp": "1"}))
            .collect();
        let body = json!({"entry": [{"changes": [{"field": "messages", "value": {"statuses": statuses}}]}]});
        parse(body.to_string().as_bytes(), NOW).map(|items| items.len())
    };
    assert_eq!(many(10_000), Ok(10_000));
    assert!(many(10_001).unwrap_err().contains("10000"));
}

#[test]
fn moments_ahead_count_as_now() {
    let at = |timestamp: Value| {
        message(json!({"type": "text", "text": {"body": "Hi"}, "timestamp": timestamp})).at
    };
    assert_eq!(at(json!(1_795_000_123)), Timestamp(1_795_000_123_000));
    for ahead in [json!("99999999999"), json!(i64::MAX), json!("-1"), json!("soon"), Value::Null] {
        assert_eq!(at(ahead.clone()), NOW, "{ahead}");
    }
}

#[test]
fn only_the_right_signature_of_the_raw_body_is_taken() {
    let body = b"{\"a\":\"\\u0905\"}";
    let good = signature("secret", body);
    assert!(is_signed("secret", &good, body));
    assert!(is_signed("secret", &good.to_uppercase().replace("SHA256", "sha256"), body));
    for (secret, header, body) in [
        ("other", good.as_str(), &body[..]),
        ("secret", good.as_str(), &b"{}"[..]),
        ("secret", "", &body[..]),
        ("secret", "sha256=", &body[..]),
        ("secret", "sha256=zz", &body[..]),
        ("secret", &good[7..], &body[..]),
        ("", &signature("x", body), &body[..]),
    ] {
        assert!(!is_signed(secret, header, body), "{secret} {header}");
    }
}

#[test]
fn each_of_many_people_has_what_is_said_of_them() {
    let number = |at: usize| format!("9198{at:08}");
    let mut contacts = Vec::new();
    for at in 0..5_000 {
        contacts.push(json!({"wa_id": number(at), "profile": {"name": format!("Phone {at}")}}));
        contacts.push(json!({"user_id": format!("IN.{at}"), "profile": {"name": format!("Id {at}")}}));
    }
    let messages: Vec<Value> = (0..5_000)
        .flat_map(|at| {
            let body = json!({"body": "Hi"});
            [
                json!({"from": number(at), "id": format!("wamid.p{at}"), "type": "text", "text": body}),
                json!({"from_user_id": format!("IN.{at}"), "id": format!("wamid.u{at}"), "type": "text", "text": body}),
            ]
        })
        .collect();
    let items = notified("messages", with_number(json!({"contacts": contacts, "messages": messages})));
    assert_eq!(items.len(), 10_000);
    for (at, item) in items.iter().enumerate() {
        let Notification::Message(received) = &item.notification else { panic!("{item:?}") };
        let kind = if at % 2 == 0 { "Phone" } else { "Id" };
        assert_eq!(received.from.name, Some(format!("{kind} {}", at / 2)));
    }
    // Of two who could be meant the first one is.
    let contacts = json!([
        {"wa_id": "919812345679", "profile": {"name": "Other"}},
        {"user_id": "IN.4711", "profile": {"name": "Id"}},
        {"wa_id": "919812345678", "profile": {"name": "Phone"}},
    ]);
    let message = json!({"from": "919812345678", "from_user_id": "IN.4711", "id": "wamid.A", "type": "text", "text": {"body": "Hi"}});
    let value = with_number(json!({"contacts": contacts, "messages": [message]}));
    let Notification::Message(received) = one("messages", value) else { panic!() };
    assert_eq!(received.from.name.as_deref(), Some("Id"));
}

#[test]
fn more_people_or_items_than_a_notification_has_are_refused() {
    let refused = |values: Vec<Value>| {
        let changes: Vec<Value> = values
            .into_iter()
            .map(|value| json!({"field": "messages", "value": with_number(value)}))
            .collect();
        let body = json!({"entry": [{"id": "102", "changes": changes}]});
        parse(body.to_string().as_bytes(), NOW).err()
    };
    let contacts = |count: usize| json!({"contacts": vec![json!({"wa_id": "919812345678"}); count]});
    let status = json!({"id": "wamid.A", "status": "read", "recipient_id": "919812345678"});
    let statuses = |count: usize| json!({"statuses": vec![status.clone(); count]});
    assert_eq!(refused(vec![contacts(10_000), statuses(10_000)]), None);
    for values in [vec![contacts(10_001)], vec![contacts(5_000), contacts(5_001)]] {
        assert_eq!(refused(values).as_deref(), Some("the body has more than 10000 contacts"));
    }
    for values in [vec![statuses(10_001)], vec![statuses(5_000), statuses(5_001)]] {
        assert_eq!(refused(values).as_deref(), Some("the body has more than 10000 items"));
    }
}

/// As deep as it may be and one level more; what is beyond it is its text.
#[test]
fn what_is_kept_as_it_came_is_not_deep_and_can_be_read_back() {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let form = |levels: usize| {
        message(json!({"type": "interactive", "interactive": {"type": "nfm_reply",
            "nfm_reply": {"name": "flow", "response_json": nested(levels)}}}))
    };
    for levels in [1, 32, 33, 100, 126, 127, 128, 5_000] {
        let received = form(levels);
        let ReceivedContent::Form { response, .. } = &received.what else { panic!("{received:?}") };
        match levels {
            0..=32 => assert_eq!(response.to_string(), nested(levels)),
            33..=127 => {
                let text = nested(levels - 32).replace('"', "");
                assert_eq!(response.to_string(), format!("{}\"{text}\"{}", "[".repeat(32), "]".repeat(32)));
            }
            _ => assert!(response.is_string(), "{levels}"),
        }
        let stored = serde_json::to_string(&Notification::Message(Box::new(received))).unwrap();
        assert!(serde_json::from_str::<Notification>(&stored).is_ok(), "{levels}");
    }
    // Whatever else is kept as it came, too.
    let deep: Value = serde_json::from_str(&nested(100)).unwrap();
    let form = json!({"type": "nfm_reply", "nfm_reply": {"response_json": deep}});
    for told in [
        Notification::Message(Box::new(message(json!({"type": "order", "order": {"catalog_id": deep}})))),
        Notification::Message(Box::new(message(json!({"type": "contacts", "contacts": [{"name": deep}]})))),
        Notification::Message(Box::new(message(json!({"type": "interactive", "interactive": form})))),
        one("account_update", json!({"event": "DISABLED_UPDATE", "ban_info": {"waba_ban_state": deep}})),
    ] {
        let levels = levels(&serde_json::to_value(&told).unwrap());
        assert!((32..=40).contains(&levels), "{levels} of {told:?}");
    }
}

fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

#[test]
fn nothing_that_is_kept_has_a_zero_sign() {
    let z = "a\u{0}b";
    for fields in [
        json!({"type": "text", "text": {"body": z}}),
        json!({"type": "image", "image": {"id": "5", "mime_type": z, "sha256": z, "caption": z}}),
        json!({"type": "document", "document": {"id": "5", "filename": z}}),
        json!({"type": "location", "location": {"latitude": 1, "longitude": 1, "name": z, "address": z, "url": z}}),
        json!({"type": "contacts", "contacts": [{z: {z: [z]}}]}),
        json!({"type": "order", "order": {z: z}}),
        json!({"type": "order", "order": (0..40).fold(json!(z), |inner, _| json!([inner]))}),
        json!({"type": "button", "button": {"payload": z, "text": z}}),
        json!({"type": "interactive", "interactive": {"type": "list_reply", "list_reply": {"id": z, "title": z, "description": z}}}),
        json!({"type": "interactive", "interactive": {"type": "nfm_reply", "nfm_reply": {"name": z, "body": z, "response_json": "{\"a\\u0000b\": \"\\u0000\"}"}}}),
        json!({"type": "reaction", "reaction": {"message_id": "wamid.B", "emoji": z}}),
        json!({"type": "reaction", "reaction": {"message_id": z}}),
        json!({"type": "edit", "edit": {"original_message_id": "wamid.B", "message": {"text": {"body": z}}}}),
        json!({"type": "system", "system": {"type": z, "body": z}}),
        json!({"type": "unsupported", "unsupported": {"type": z}}),
        json!({"type": z}),
        json!({"type": "text", "text": {"body": "Hi"}, "context": {"id": z}, "referral": {"source_id": z, "body": z, "headline": z}}),
    ] {
        let stored = serde_json::to_string(&message(fields)).unwrap();
        assert!(!stored.contains("\\u0000"), "{stored}");
    }
    let contact = json!({"wa_id": "919812345678", "profile": {"name": z, "username": z}});
    let status = json!({"id": "wamid.A", "status": "failed", "recipient_id": "919812345678", "biz_opaque_callback_data": z,
        "pricing": {"category": z, "type": z, "pricing_model": z}, "errors": [{"code": 1, "title": z, "message": z}]});
    let told = one("messages", with_number(json!({"contacts": [contact], "statuses": [status]})));
    assert!(!serde_json::to_string(&told).unwrap().contains("\\u0000"), "{told:?}");
    for (field, value) in [
        ("account_update", json!({"event": z, "restriction_info": {z: z}})),
        ("business_capability_update", json!({"max_daily_conversations_per_business": z})),
        ("phone_number_quality_update", json!({"event": z, "display_phone_number": z, "current_limit": z})),
        (
            "message_template_status_update",
            json!({"event": z, "message_template_id": 1, "message_template_name": z, "reason": z}),
        ),
    ] {
        let told = one(field, value);
        assert!(!serde_json::to_string(&told).unwrap().contains("\\u0000"), "{told:?}");
    }
}

//! Templates are filled, and say what they need.

use serde_json::{Value, json};

use super::*;
use crate::channel::content::Content;

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
        filled(body("Hi {{name}}, Rs {{amount}} due."), json!({"body": {"amount": "4,500", "name": "Asha"}})),
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
    let Ok(Content::Template(filled)) = fill(&otp, &params(json!({"body": ["123456"]}))) else { panic!() };
    assert_eq!(
        json!(filled.components),
        json!([
            {"type": "body", "parameters": [{"type": "text", "text": "123456"}]},
            {"type": "button", "sub_type": "url", "index": 0, "parameters": [{"type": "text", "text": "123456"}]},
        ])
    );
    assert!(!otp.takes_user_ids());
    // The same template as the provider lists it.
    for (category, url) in [
        (Category::Authentication, "https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}"),
        (Category::Utility, "https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}"),
        (Category::Authentication, "https://codes.example/{{1}}"),
    ] {
        let mut listed = template(json!([
            {"type": "BODY", "text": "*{{1}}* is your verification code.", "add_security_recommendation": true},
            {"type": "BUTTONS", "buttons": [{"type": "URL", "text": "Copy code", "url": url}]},
        ]));
        listed.category = category;
        let given = fill(&listed, &params(json!({"body": ["123456"]})));
        let Ok(Content::Template(again)) = given else { panic!("{url}: {given:?}") };
        assert_eq!(again.components, filled.components, "{url}");
        assert_eq!(listed.slots(), [Slot::Body("1".into())]);
    }
}

#[test]
fn buttons_lead_to_addresses_and_numbers() {
    let check = |button: Value| {
        let components = json!([{"type": "BODY", "text": "Hello"}, {"type": "BUTTONS", "buttons": [button]}]);
        check_components(components.as_array().unwrap(), Category::Utility, false)
            .map_err(|misfit| misfit.field)
    };
    let url = |url: &str| check(json!({"type": "URL", "text": "Pay", "url": url}));
    for good in [
        "https://p.example/{{1}}",
        "http://p.example",
        "https://p.example:8443/a?b=c#d",
        "https://भारत.example/",
    ] {
        assert_eq!(url(good), Ok(()), "{good}");
    }
    for bad in [
        "nonsense",
        "https://",
        "https://{{1}}",
        "ftp://p.example",
        "https://p",
        "https://p .example/",
        "//p.example",
        "https://p..example",
    ] {
        assert_eq!(url(bad), Err("components[1].buttons[0].url".into()), "{bad}");
    }
    let phone = |number: &str| check(json!({"type": "PHONE_NUMBER", "text": "Call", "phone_number": number}));
    for good in ["+918047111222", "918047111222", "+91 80471 11222", "1800 123 4567"] {
        assert_eq!(phone(good), Ok(()), "{good}");
    }
    for bad in ["call us", "+", "12", "+91 80471 112x2"] {
        assert_eq!(phone(bad), Err("components[1].buttons[0].phone_number".into()), "{bad}");
    }
}

#[test]
fn what_does_not_fit_is_said_value_by_value() {
    let numbered = || body("Hi {{1}}, Rs {{2}} due.");
    let named = || body("Hi {{name}}, Rs {{amount}} due.");
    let header = |format: &str, text: &str| json!([{"type": "HEADER", "format": format, "text": text}, {"type": "BODY", "text": "Hello"}]);
    let buttons =
        |buttons: Value| json!([{"type": "BODY", "text": "Hello"}, {"type": "BUTTONS", "buttons": buttons}]);
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
        (
            header("DOCUMENT", ""),
            json!({"header": {"type": "document", "url": "https://a.example", "filename": "a\u{85}.pdf"}}),
            vec![("params.header.filename", "invalid")],
        ),
        (
            header("TEXT", "Due {{1}}"),
            json!({"header": {"type": "text", "text": "a\u{2028}b"}}),
            vec![("params.header.text", "invalid")],
        ),
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
        (body("Hello"), json!({"header": {"type": "text", "text": "a"}}), vec![("params.header", "extra")]),
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
        (header("IMAGE", ""), json!({"header": {"type": "image"}}), vec![("params.header.url", "missing")]),
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
fn no_value_breaks_a_line_or_has_a_sign_that_is_not_seen() {
    let button = |kind: &str| json!([{"type": "BODY", "text": "Hello"}, {"type": "BUTTONS", "buttons": [{"type": kind, "url": "https://p/{{1}}"}]}]);
    for sign in
        ['\n', '\r', '\t', '\u{0}', '\u{b}', '\u{c}', '\u{1b}', '\u{7f}', '\u{85}', '\u{2028}', '\u{2029}']
    {
        let value = format!("a{sign}b");
        for (components, values, field) in [
            (body("Hi {{1}}, hello."), json!({"body": [value]}), "params.body[0]"),
            (body("Hi {{name}}, hello."), json!({"body": {"name": value}}), "params.body.name"),
            (button("URL"), json!({"buttons": [{"index": 0, "text": value}]}), "params.buttons[0].text"),
            (
                button("QUICK_REPLY"),
                json!({"buttons": [{"index": 0, "payload": value}]}),
                "params.buttons[0].payload",
            ),
            (
                button("COPY_CODE"),
                json!({"buttons": [{"index": 0, "code": value}]}),
                "params.buttons[0].code",
            ),
            (button("OTP"), json!({"buttons": [{"index": 0, "code": value}]}), "params.buttons[0].code"),
        ] {
            assert_eq!(issues(components, values), [(field.to_owned(), "invalid")], "{sign:?}");
        }
    }
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

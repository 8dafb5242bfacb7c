//! Tests of the settings.

use super::*;

fn environment(pairs: &[(&str, &str)]) -> Values {
    let mut values = Values::default();
    values
        .add_environment(pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())))
        .unwrap();
    values
}

#[test]
fn flags_win_over_environment_over_file_over_default() {
    let folder = std::env::temp_dir().join(format!("dastak-config-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("dastak.toml");
    std::fs::write(
        &file,
        "brand = \"File\"\nkey_prefix = \"file\"\nlisten = \"f:1\"\n[telephony]\ncarrier = \"sandbox\"\n",
    )
    .unwrap();
    let mut values = Values::default();
    values.add_file(&file).unwrap();
    values
        .add_environment(
            [("DASTAK_BRAND".to_owned(), "Env".to_owned()), ("DASTAK_LISTEN".to_owned(), "e:1".to_owned())]
                .into_iter(),
        )
        .unwrap();
    values.add_text("listen", "flag:1".into(), "--listen").unwrap();
    let config = values.config(false).unwrap();
    assert_eq!(
        (config.listen.as_str(), config.brand.as_str(), config.key_prefix.as_str()),
        ("flag:1", "Env", "file")
    );
    assert_eq!((config.telephony.carrier, config.telephony.concurrent_calls), (Carrier::Sandbox, 500));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_wrong_setting_says_its_name_what_was_found_and_what_is_allowed() {
    for (name, text, expected) in [
        (
            "DASTAK_CLOCK",
            "fast",
            "clock: found \"fast\" in the environment variable DASTAK_CLOCK; allowed: real, manual",
        ),
        (
            "DASTAK_TELEPHONY__CONCURRENT_CALLS",
            "many",
            "telephony.concurrent_calls: found \"many\" in the environment variable DASTAK_TELEPHONY__CONCURRENT_CALLS; allowed: a whole number from 0 to 1000000",
        ),
        (
            "DASTAK_TRUSTED_PROXIES",
            "10.0.0.0/99",
            "trusted_proxies: found «10.0.0.0/99», allowed are addresses and networks such as 10.0.0.0/8",
        ),
        ("DASTAK_TLS_CERT", "a.pem", "tls_key: missing; tls_cert and tls_key go together"),
        (
            "DASTAK_PUBLIC_URL",
            "voice.example.com",
            "public_url: found «voice.example.com»; allowed: http:// or https:// with a host, such as https://voice.example.com",
        ),
        ("DASTAK_CALLS__KEEP_DAYS", "29", "calls.keep_days: found 29; allowed: 0, or 30 to 36500"),
        (
            "DASTAK_LOG_LEVEL",
            "loud",
            "log_level: found \"loud\" in the environment variable DASTAK_LOG_LEVEL; allowed: error, warn, info, debug",
        ),
        (
            "DASTAK_CONSOLE",
            "console/dist",
            "console: found a folder; only `dastak dev` takes the console from one",
        ),
    ] {
        assert_eq!(environment(&[(name, text)]).config(false).unwrap_err(), expected);
    }
    let strange = Values::default()
        .add_environment([("DASTAK_CLOK".to_owned(), "x".to_owned())].into_iter())
        .unwrap_err();
    assert_eq!(
        strange,
        "clok: no such setting (found in the environment variable DASTAK_CLOK); did you mean clock (DASTAK_CLOCK)?"
    );
}

#[test]
fn a_misspelt_setting_names_the_one_that_was_meant() {
    for (text, expected) in [
        (
            "databse_url = \"x\"",
            "databse_url: no such setting (found in dastak.toml); did you mean database_url?",
        ),
        (
            "[telephony]\ncarier = \"sip\"",
            "telephony.carier: no such setting (found in dastak.toml); did you mean telephony.carrier?",
        ),
        (
            "[language_model.openai]\nmodle = \"x\"",
            "language_model.openai.modle: no such setting (found in dastak.toml); did you mean language_model.openai.model?",
        ),
        (
            "colour = 1",
            "colour: no such setting (found in dastak.toml); `dastak serve --print-config` shows all",
        ),
    ] {
        assert_eq!(Values::default().add_toml(text, "dastak.toml").unwrap_err(), expected);
    }
}

#[test]
fn variables_of_clients_are_no_settings() {
    let names = crate::CLIENT_VARIABLES;
    let values = environment(&names.map(|name| (name, "http://127.0.0.1:8080")));
    values.config(false).unwrap();
    assert_eq!(values.print().unwrap(), Values::default().print().unwrap());
    for name in names {
        let setting = name["DASTAK_".len()..].to_lowercase();
        assert!(crate::SETTINGS.iter().all(|known| known.name != setting), "{name} is a setting, too");
    }
}

#[test]
fn the_public_address_has_a_scheme_and_a_host() {
    let read = |text: &str| {
        environment(&[("DASTAK_PUBLIC_URL", text)]).config(false).map(|config| config.public_url)
    };
    for (text, kept) in [
        ("", ""),
        ("https://voice.example.com/", "https://voice.example.com"),
        ("http://127.0.0.1:8080/dastak/", "http://127.0.0.1:8080/dastak"),
        ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
    ] {
        assert_eq!(read(text).as_deref(), Ok(kept));
    }
    for wrong in [
        "127.0.0.1:8080",
        "localhost:8080",
        "//voice.example.com",
        "/dastak",
        "ftp://voice.example.com",
        "https://",
        "https://user:word@voice.example.com",
        "https://voice.example.com/?a=1",
        "https://voice.example.com/#a",
        "https://voice example.com",
    ] {
        assert!(read(wrong).unwrap_err().starts_with("public_url: found «"), "{wrong}");
    }
}

#[test]
fn settings_that_differ_are_named() {
    let mut one = environment(&[("DASTAK_LOG_LEVEL", "info"), ("DASTAK_METRICS_TOKEN", "0123456789abcdef")]);
    let other = environment(&[("DASTAK_LOG_LEVEL", "debug"), ("DASTAK_SPEECH__SARVAM__API_KEY", "k")]);
    assert_eq!(one.differences(&other), ["log_level", "metrics_token", "speech.sarvam.api_key"]);
    // What a source sets to the default is the same as the default.
    one = environment(&[("DASTAK_LOG_LEVEL", "info")]);
    assert!(one.differences(&environment(&[])).is_empty());
}

#[test]
fn the_variable_of_the_settings_file_is_no_setting() {
    assert!(environment(&[("DASTAK_CONFIG", "/etc/dastak/dastak.toml")]).config(false).is_ok());
}

#[test]
fn printed_settings_mask_secrets() {
    let text = environment(&[("DASTAK_OPERATOR_TOKEN", "0123456789abcdef")]).print().unwrap();
    assert!(text.contains("operator_token = \"********\"") && !text.contains("0123456789abcdef"), "{text}");
}

#[test]
fn a_misspelt_password_of_a_trunk_is_not_shown_either() {
    let mut values = Values::default();
    values
        .add_toml(
            "[[telephony.sip.trunks]]\nname = \"main\"\npassword = \"hush\"\npasswort = \"hush\"\n",
            "a file",
        )
        .unwrap();
    let shown = values.print().unwrap();
    assert!(shown.contains("name = \"main\"") && !shown.contains("hush"), "{shown}");
}

#[test]
fn trunks_and_providers_are_read_in_order() {
    let folder = std::env::temp_dir().join(format!("dastak-trunks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("dastak.toml");
    let text = r#"
        [telephony]
        carrier = "sip"
        [telephony.sip]
        listen = "127.0.0.1:5062"
        rtp_ports = "21000-21999"
        [[telephony.sip.trunks]]
        name = "main"
        address = "sip.carrier.example:5060"
        transport = "tcp"
        username = "user"
        password = "hidden words"
        codecs = ["PCMA", "PCMU"]
        number_format = "national"
        user_phone = false
        [[telephony.sip.trunks]]
        name = "spare"
        address = "203.0.113.7"
        [[telephony.sip.trunks]]
        name = "mumbai"
        carrier = "second"
        address = "203.0.113.8"
        [speech]
        to_text = ["sarvam", "offline"]
        [speech.sarvam]
        api_key = "hidden key"
        [language_model]
        providers = ["mine", "offline"]
        [language_model.mine]
        base_url = "http://127.0.0.1:8000/v1"
        model = "m"
    "#;
    std::fs::write(&file, text).unwrap();
    let mut values = Values::default();
    values.add_file(&file).unwrap();
    let config = values.config(false).unwrap();
    let sip = &config.telephony.sip;
    let trunks: Vec<_> =
        sip.trunks.iter().map(|trunk| (trunk.name.as_str(), trunk.transport, trunk.codecs.len())).collect();
    assert_eq!(
        trunks,
        [
            ("main", ::telephony::settings::Transport::Tcp, 2),
            ("spare", ::telephony::settings::Transport::Udp, 2),
            ("mumbai", ::telephony::settings::Transport::Udp, 2)
        ]
    );
    // Trunks that name no carrier are ways to one.
    assert_eq!(sip.carriers(), ["main", "second"]);
    assert_eq!([sip.trunks[0].user_phone, sip.trunks[1].user_phone], [false, true]);
    assert_eq!((sip.rtp_ports, config.telephony.carrier), ((21000, 21999), Carrier::Sip));
    let names: Vec<_> = config.providers.to_text.iter().map(|provider| provider.name.as_str()).collect();
    assert_eq!(names, ["sarvam", "offline"]);
    assert_eq!(
        (config.providers.models[0].model.as_str(), config.providers.models[1].name.as_str()),
        ("m", "offline")
    );
    let printed = values.print().unwrap();
    assert!(printed.contains("sip.carrier.example") && !printed.contains("hidden"), "{printed}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn wrong_trunks_and_providers_are_named() {
    let refused = |pairs: &[(&str, &str)]| environment(pairs).config(false).unwrap_err();
    let sip = ("DASTAK_TELEPHONY__CARRIER", "sip");
    let trunks = "DASTAK_TELEPHONY__SIP__TRUNKS";
    for (trunk, expected) in [
        ("[]", "telephony.sip.trunks: found none; with telephony.carrier = sip at least one trunk is needed"),
        ("[{address = \"a\"}]", "telephony.sip.trunks[1].name: missing"),
        (
            "[{name = \"a\", address = \"a\", transport = \"pigeon\"}]",
            "telephony.sip.trunks[1].transport: found \"pigeon\"; allowed: udp, tcp, tls",
        ),
        (
            "[{name = \"a\", address = \"a\", codecs = [\"G729\"]}]",
            "telephony.sip.trunks[1].codecs: found \"G729\"; allowed: PCMU, PCMA",
        ),
        (
            "[{name = \"a\", address = \"a\", media_from = [\"10.0.0.0/40\"]}]",
            "telephony.sip.trunks[1].media_from: found «10.0.0.0/40»; allowed: addresses and networks such as 203.0.113.0/24",
        ),
        ("[{name = \"a\", address = \"a\", carrier = 7}]", "telephony.sip.trunks[1].carrier: allowed: text"),
        (
            "[{name = \"a\", address = \"a\", carrier = \"x\\ny\"}]",
            "telephony.sip.trunks[1].carrier: allowed: at most 64 bytes of text, without control characters",
        ),
        (
            "[{name = \"a\", address = \"a\", inbound_transport = \"udp\"}]",
            "telephony.sip.trunks[1].inbound_transport: found \"udp\"; allowed: any, tcp, tls",
        ),
        (
            "[{name = \"a\", address = \"a\", inbound_auth = true}]",
            "telephony.sip.trunks[1].inbound_auth: goes together with username and password",
        ),
        (
            "[{name = \"a\", address = \"a\", user_phone = \"no\"}]",
            "telephony.sip.trunks[1].user_phone: allowed: true, false",
        ),
        (
            "[{name = \"a\", address = \"a\", colour = 1}]",
            "telephony.sip.trunks[1].colour: no such setting; allowed are name, carrier, address, transport,",
        ),
        (
            "[{name = \"a\", address = \"a\"}, {name = \"a\", address = \"b\"}]",
            "telephony.sip.trunks[2].name: «a» is the name of another trunk",
        ),
    ] {
        let found = refused(&[sip, (trunks, trunk)]);
        assert!(found.starts_with(expected), "{found}");
    }
    let clock = refused(&[sip, (trunks, "[{name = \"a\", address = \"a\"}]"), ("DASTAK_CLOCK", "manual")]);
    assert!(clock.starts_with("clock: found manual"), "{clock}");
    let unknown = refused(&[("DASTAK_SPEECH__TO_TEXT", "parrot")]);
    assert!(unknown.starts_with("speech.to_text: found «parrot»; allowed: sarvam, deepgram"), "{unknown}");
    let language = refused(&[
        ("DASTAK_SPEECH__TO_TEXT", "deepgram"),
        ("DASTAK_SPEECH__DEEPGRAM__API_KEY", "k"),
        ("DASTAK_SPEECH__DEEPGRAM__STT_LANGUAGES", "hi,fr"),
    ]);
    assert!(language.starts_with("speech.deepgram.stt_languages: found «fr»; allowed: en, hi"), "{language}");
    let keyless = refused(&[("DASTAK_SPEECH__FROM_TEXT", "sarvam")]);
    assert!(keyless.starts_with("speech.sarvam.api_key: missing"), "{keyless}");
    let modelless = refused(&[("DASTAK_LANGUAGE_MODEL__PROVIDERS", "mine")]);
    assert!(modelless.starts_with("language_model.mine.base_url: missing"), "{modelless}");
    let ports = refused(&[("DASTAK_TELEPHONY__SIP__RTP_PORTS", "30000-20000")]);
    assert!(ports.starts_with("telephony.sip.rtp_ports: found «30000-20000»"), "{ports}");
}

/// Every setting that the table marks as secret, and those in sections of lists, with a recognisable value. A new
/// secret setting is included automatically; one that the table does not mark fails `print_config` first.
#[test]
fn no_settings_print_shows_a_secret() {
    const PLANTED: &str = "0123456789planted-secret-words";
    let mut values = Values::default();
    let mut set = |name: &str, text: &str| values.add_text(name, text.to_owned(), "the test").unwrap();
    let mut planted = 0;
    for setting in SETTINGS.iter().filter(|setting| setting.secret) {
        // Every possible provider is used, so that its section reaches the settings.
        let chosen: &[&str] = match setting.name.split('.').next() {
            Some("speech") => &SPEECH_PROVIDERS,
            _ => &["mine"],
        };
        for name in chosen {
            let text = match setting.name {
                "smtp.url" => &format!("smtps://user:{PLANTED}@mail.example:465"),
                _ => PLANTED,
            };
            set(&setting.name.replace('*', name), text);
            planted += 1;
        }
    }
    assert!(planted >= 10, "{planted}");
    for (name, text) in [
        ("telephony.carrier", "sip"),
        (
            "telephony.sip.trunks",
            &format!("[{{name = \"a\", address = \"a\", username = \"u\", password = \"{PLANTED}\"}}]"),
        ),
        ("speech.to_text", &SPEECH_PROVIDERS.join(",")),
        ("speech.from_text", &SPEECH_PROVIDERS.join(",")),
        ("language_model.providers", "mine"),
        ("language_model.mine.base_url", "http://127.0.0.1:1/v1"),
        ("language_model.mine.model", "m"),
        ("smtp.from", "calls@example.com"),
        ("storage.kind", "s3"),
        ("storage.endpoint", "https://s3.example"),
        ("storage.bucket", "b"),
    ] {
        set(name, text);
    }
    let config = values.config(false).unwrap();
    // Each secret has reached its place.
    assert_eq!(
        (config.database_url.as_deref(), config.master_key.as_deref()),
        (Some(PLANTED), Some(PLANTED))
    );
    assert_eq!((&*config.operator_token, config.providers.to_text[0].api_key.as_str()), (PLANTED, PLANTED));
    assert_eq!(config.telephony.sip.trunks[0].password.as_deref(), Some(PLANTED));
    for shown in
        [format!("{config:?}"), format!("{config:#?}"), format!("{values:?}"), values.print().unwrap()]
    {
        assert!(!shown.contains("planted"), "{shown}");
    }
}

#[test]
fn outside_systems_are_reached_over_tls_and_in_public_unless_more_is_allowed() {
    let config = environment(&[]).config(false).unwrap().integrations;
    assert_eq!(
        (config.poll.as_secs(), config.hubspot.as_str(), config.zoho, config.allow_insecure),
        (120, "https://api.hubapi.com", None, false)
    );
    let near = ("DASTAK_INTEGRATIONS__HUBSPOT__BASE_URL", "http://127.0.0.1:9000/hub/");
    let refused = environment(&[near]).config(false).unwrap_err();
    assert!(
        refused.starts_with("integrations.hubspot.base_url: found «http://127.0.0.1:9000/hub/»; "),
        "{refused}"
    );
    for allowed in [("DASTAK_INTEGRATIONS__ALLOW_INSECURE", "true"), ("DASTAK_CLOCK", "manual")] {
        let config = environment(&[near, allowed]).config(false).unwrap().integrations;
        assert_eq!((config.hubspot.as_str(), config.allow_insecure), ("http://127.0.0.1:9000/hub", true));
    }
    assert!(environment(&[near]).config(true).unwrap().integrations.allow_insecure);
    let query = ("DASTAK_INTEGRATIONS__SHOPIFY__BASE_URL", "https://shop.example/?a=1");
    let refused = environment(&[query]).config(false).unwrap_err();
    assert_eq!(
        refused,
        "integrations.shopify.base_url: found «https://shop.example/?a=1»; it must not have a query"
    );
    for (name, text) in [
        ("DASTAK_INTEGRATIONS__POLL_SECONDS", "0"),
        ("DASTAK_INTEGRATIONS__SALESFORCE__LOGIN_URL", ""),
        ("DASTAK_INTEGRATIONS__ZOHO__BASE_URL", "ftp://zoho"),
    ] {
        assert!(environment(&[(name, text)]).config(false).is_err(), "{name}");
    }
}

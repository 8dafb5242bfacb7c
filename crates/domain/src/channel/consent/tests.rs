use super::*;

#[test]
fn words_stop_and_start_in_eleven_languages() {
    for text in [
        "STOP",
        "stop.",
        " Stop!! ",
        "“stop”",
        "Stop 🛑",
        "UNSUBSCRIBE",
        "opt-out",
        "don't message me",
        "please stop",
        "Stop, please!",
        // Other forms of the letters, and what nobody sees.
        "ＳＴＯＰ",
        "𝐒𝐓𝐎𝐏",
        "ⓢⓣⓞⓟ",
        "S\u{200b}T\u{200d}O\u{2060}P",
        "\u{feff}STOP\u{feff}",
        "ST\u{ad}OP",
        "STOP\u{fe0f}",
        "\u{202e}STOP\u{202c}",
        "S\u{20e3}T\u{20e3}O\u{20e3}P\u{20e3}",
        "STOP\u{0}",
        "¡STOP!",
        "«stop»",
        "【ＳＴＯＰ】",
        "「STOP」",
        "⏹ STOP ⛔",
        "→ stop",
        "STOP؟",
        "stop\u{a0}",
        "बंद\u{200d} करो",
        "बंद करो",
        "band karo",
        "বন্ধ করুন",
        "நிறுத்து",
        "ఆపండి",
        "बंद करा",
        "બંધ કરો",
        "ನಿಲ್ಲಿಸಿ",
        "നിർത്തുക",
        "ਬੰਦ ਕਰੋ",
        "ବନ୍ଦ କରନ୍ତୁ",
        // Forms of these words, and what is beside them.
        "STOP STOP",
        "stop stop stop!!",
        "stop msg",
        "Stop msgs pls",
        "Stop sending me these messages now",
        "don't send me any more messages",
        "do not send messages",
        "S T O P",
        "S.T.O.P.",
        "Stoppp",
        "messages band karo",
        "msg bandh kar do",
        "mujhe message mat bhejo",
        "बंद कीजिए",
        "बंद कर दीजिये",
        "कृपया मैसेज बंद कीजिए",
        "मुझे संदेश मत भेजिए",
        "মেসেজ বন্ধ করুন",
        "મેસેજ બંધ કરો",
        "ਮੈਸੇਜ ਬੰਦ ਕਰੋ",
        "மெசேஜ் நிறுத்து",
        // Polite and plural forms.
        "நிறுத்துங்க",
        "niruthunga",
        "band kijiye",
        "ଷ୍ଟପ",
        "ଦୟାକରି ବନ୍ଦ କରନ୍ତୁ",
        "মেসেজ পাঠাবেন না",
        "મેસેજ મોકલવાનું બંધ કરો",
        "ಮೆಸೇಜ್ ಕಳಿಸಬೇಡಿ",
        "മെസ്സേജ് അയക്കരുത്",
        "संदेश पाठवणे बंद करा",
        "నాకు మెసేజ్ పంపకండి",
        "ਮੈਸੇਜ ਨਾ ਭੇਜੋ",
        "எனக்கு மெசேஜ் அனுப்பாதீங்க",
        "ದಯವಿಟ್ಟು ನಿಲ್ಲಿಸಿ",
    ] {
        assert_eq!(stop_word(text, false), Some(StopWord::StopMessages), "{text}");
    }
    for text in [
        "START",
        "start",
        "Unstop",
        "शुरू करें",
        "চালু করুন",
        "தொடங்கு",
        "ప్రారంభించండి",
        "सुरू करा",
        "ચાલુ કરો",
        "ಪ್ರಾರಂಭಿಸಿ",
        "ആരംഭിക്കുക",
        "ਸ਼ੁਰੂ ਕਰੋ",
        "ଆରମ୍ଭ କରନ୍ତୁ",
    ] {
        assert_eq!(stop_word(text, false), Some(StopWord::Start), "{text}");
    }
}

#[test]
fn who_asks_not_to_be_called_is_not_called() {
    for text in [
        "STOP ALL",
        "StopAll",
        "ＳＴＯＰ ＡＬＬ",
        "Stop all messages",
        "Please stop all messages!",
        "stop all messages and calls.",
        "No more calls or messages, please",
        "Never contact me again.",
        "Do not call me again",
        "Do not c\u{200b}all me again",
        "don't contact me",
        "मुझे दोबारा फोन मत करना",
    ] {
        assert_eq!(stop_word(text, false), Some(StopWord::StopAll), "{text}");
    }
}

#[test]
fn closed_is_an_answer_where_something_was_asked() {
    for text in ["बंद", "बन्द।", "বন্ধ", "બંધ", "ਬੰਦ", "ବନ୍ଦ", "बंद बंद"]
    {
        assert_eq!(stop_word(text, false), Some(StopWord::StopMessages), "{text}");
        assert_eq!(stop_word(text, true), None, "{text}");
    }
    for text in ["STOP", "बंद करो", "stop msg", "બંધ કરો"] {
        assert_eq!(stop_word(text, true), Some(StopWord::StopMessages), "{text}");
    }
}

#[test]
fn promotions_are_marketing_alone() {
    for text in [
        "Stop promotions",
        "stop all promotional messages",
        "please stop offers",
        "offers band karo",
        "unsubscribe marketing",
    ] {
        assert_eq!(stop_word(text, false), Some(StopWord::StopMarketing), "{text}");
    }
    for text in ["start promotions", "Resume offers please"] {
        assert_eq!(stop_word(text, false), Some(StopWord::StartMarketing), "{text}");
    }
}

#[test]
fn sentences_are_for_the_agent() {
    for text in [
        "",
        "?",
        "stop sending the old invoice, send the new one",
        "when does the bus stop",
        "start the engine please",
        "where is my order",
        "ok",
        "end of the month works for me",
        "please cancel order 42",
        "don't call me now, call at five",
        "please start",
        "please",
        "\u{200b}",
        "stop all messages about order 42",
        "dukaan band karo",
        "दुकान बंद है",
        "mat bhejo",
        "do not send the order",
        "the message",
        "offers",
        "send me offers",
        "stop the order",
        "stops",
        "band",
        "don't stop my order",
        "ಆರ್ಡರ್ ನಿಲ್ಲಿಸಬೇಡಿ",
        "ఆర్డర్ ఆపకండి",
        "ഓർഡർ നിർത്തരുത്",
        "ऑर्डर थांबवू नका",
        "একটু থামুন, দেখছি",
        "ऑर्डर बंद मत करो",
        "அனுப்பாதீங்க",
        "ਰੁਕੋ, ਮੈਂ ਦੇਖਦਾ ਹਾਂ",
    ] {
        assert_eq!(stop_word(text, false), None, "{text}");
    }
}

#[test]
fn what_nobody_sees_is_not_counted_and_a_long_text_is_no_word() {
    assert_eq!(stop_word(&format!("STOP{}", "\u{200b}".repeat(10_000)), false), Some(StopWord::StopMessages));
    assert_eq!(stop_word(&format!("STOP{}", "!".repeat(57)), false), None);
    assert_eq!(stop_word(&format!("do not call me again {}", "x".repeat(400)), false), None);
}

#[test]
fn an_id_stops_by_that_word_alone() {
    for id in ["STOP", "stop", " Stop ", "ＳＴＯＰ"] {
        assert_eq!(stop_word_of_button(id), Some(StopWord::StopMessages), "{id}");
    }
    for id in ["STOP ALL", "stop_all", "STOPALL", "stop-all"] {
        assert_eq!(stop_word_of_button(id), Some(StopWord::StopAll), "{id}");
    }
    for id in ["", "start", "quit", "stop_order_42", "bus stop", "do not call me again"] {
        assert_eq!(stop_word_of_button(id), None, "{id}");
    }
}

#[test]
fn no_message_is_in_two_rows() {
    for message in STOP_WORDS.stop.iter().chain(STOP_WORDS.stop_all.iter()) {
        assert_eq!(folded(&blunt(&plain(&seen(message, usize::MAX)))), message, "as it is looked up");
    }
    for message in STOP_WORDS.start.iter() {
        assert_eq!(folded(&plain(&seen(message, usize::MAX))), message, "as it is looked up");
        assert!(!STOP_WORDS.stop.has(message) && !STOP_WORDS.stop_all.has(message), "{message}");
    }
    assert!(STOP_WORDS.stop.iter().all(|message| !STOP_WORDS.stop_all.has(message)));
}

/// The messages among the sayings of `conversation`, in eleven languages.
#[test]
fn messages_of_the_sayings_stop_or_do_not() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../conversation/tests/data/sayings");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for language in crate::conversation::speech::LANGUAGES {
        let text = std::fs::read_to_string(format!("{folder}/{language}.txt")).unwrap();
        for line in text.lines().filter(|line| line.starts_with("stop | ")) {
            let [_, said, expected] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
            count += 1;
            let stops = stop_word(said, false).is_some_and(|word| {
                matches!(word, StopWord::StopMessages | StopWord::StopAll | StopWord::StopMarketing)
            });
            if stops != (expected == "yes") {
                wrong.push(format!("{language} {said}: {stops}"));
            }
        }
    }
    assert!(count > 100, "{count}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

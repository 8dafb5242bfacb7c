//! The offline speech against the real programs, which must be installed: sentences are spoken, sent through
//! a telephone's codec, and heard again.

use std::process::{Command, Stdio};
use std::time::Duration;

use domain::conversation::{Expected, FieldKind};
use domain::ports::{
    Heard, Hints, ListenOrder, Listening, ProviderFault, Recogniser, SAMPLE_RATE, SpeakOrder, Synthesiser,
};
use domain::speech::LANGUAGES;
use providers::speech::offline::{OfflineRecogniser, OfflineSynthesiser, Settings};

fn settings() -> Settings {
    // Test machines are shared: what counts here is the answer, not when it comes.
    Settings { timeout: Duration::from_secs(120), ..Settings::default() }
}

async fn speak(synthesiser: &OfflineSynthesiser, text: &str, voice: &str, language: &str) -> Vec<i16> {
    let order = SpeakOrder { text: text.into(), voice: voice.into(), language: language.into() };
    let mut speaking = synthesiser.speak(order).await.unwrap_or_else(|error| panic!("{error}"));
    let mut samples = Vec::new();
    while let Some(piece) = speaking.next().await {
        samples.extend(piece.unwrap_or_else(|error| panic!("{error}")));
    }
    samples
}

fn seconds(samples: &[i16]) -> f64 {
    samples.len() as f64 / f64::from(SAMPLE_RATE)
}

/// RMS of the loud half of the 20 ms frames.
fn loudness(samples: &[i16]) -> f64 {
    let mut frames: Vec<f64> = samples
        .chunks(160)
        .map(|frame| {
            (frame.iter().map(|sample| f64::from(*sample).powi(2)).sum::<f64>() / frame.len() as f64).sqrt()
        })
        .collect();
    frames.sort_by(f64::total_cmp);
    let loud = &frames[frames.len() / 2..];
    loud.iter().sum::<f64>() / loud.len() as f64
}

/// G.711 mu-law there and back.
fn over_the_telephone(samples: &[i16]) -> Vec<i16> {
    samples
        .iter()
        .map(|sample| {
            let size = (i32::from(*sample).abs() + 132).min(32_635 + 132);
            let exponent = (31 - size.leading_zeros() as i32 - 7).max(0);
            let step = 1 << (exponent + 3);
            let coded = size / step * step + step / 2 - 132;
            (if *sample < 0 { -coded } else { coded }).clamp(-32_768, 32_767) as i16
        })
        .collect()
}

/// A sentence by flite, another make of voice than our own, at 8 kHz.
fn flite(voice: &str, text: &str) -> Vec<i16> {
    let pipe = "flite -voice \"$1\" -t \"$2\" -o /dev/stdout | sox -t wav - -t raw -r 8000 -c 1 -b 16 -e signed - gain -n -6";
    let output = Command::new("sh")
        .args(["-c", pipe, "sh", voice, text])
        .stderr(Stdio::null())
        .output()
        .expect("a shell");
    assert!(
        output.status.success() && !output.stdout.is_empty(),
        "flite or sox is missing: apt-get install flite sox"
    );
    output.stdout.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect()
}

async fn hear(listening: &dyn Listening, sound: &[i16]) -> String {
    let quiet = vec![0; 4000];
    for part in [&quiet, &over_the_telephone(sound), &quiet] {
        for frame in part.chunks(160) {
            listening.feed(frame);
        }
    }
    listening.turn_ended();
    match listening.next().await {
        Ok(Heard::Turn(text)) => text,
        Ok(Heard::Partial(text) | Heard::Language(text)) => panic!("not a turn: {text}"),
        Err(error) => panic!("{error}"),
    }
}

async fn listen(recogniser: &OfflineRecogniser) -> Box<dyn Listening> {
    recogniser.listen(ListenOrder::of("en")).await.unwrap_or_else(|error| panic!("{error}"))
}

fn expecting(kind: FieldKind, choices: &[&str]) -> Hints {
    let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
    Hints { expected: Some(Expected { kind, choices, digits_begun: false }), phrases: Vec::new() }
}

#[tokio::test]
async fn every_language_is_spoken_at_one_loudness_without_a_pause_in_front() {
    let synthesiser = OfflineSynthesiser::new(settings());
    let texts = [
        "Hello, this is a reminder.",
        "नमस्ते, यह एक सूचना है।",
        "নমস্কার, এটি একটি বার্তা।",
        "નમસ્તે, આ એક સંદેશ છે.",
        "ನಮಸ್ಕಾರ, ಇದು ಒಂದು ಸಂದೇಶ.",
        "നമസ്കാരം, ഇതൊരു സന്ദേശമാണ്.",
        "नमस्कार, हा एक संदेश आहे.",
        "ନମସ୍କାର, ଏହା ଏକ ବାର୍ତ୍ତା।",
        "ਸਤ ਸ੍ਰੀ ਅਕਾਲ, ਇਹ ਇੱਕ ਸੁਨੇਹਾ ਹੈ।",
        "வணக்கம், இது ஒரு செய்தி.",
        "నమస్కారం, ఇది ఒక సందేశం.",
    ];
    for (language, text) in LANGUAGES.iter().zip(texts) {
        for voice in ["offline-female", "offline-male"] {
            let sound = speak(&synthesiser, text, voice, language).await;
            assert!((0.8..8.0).contains(&seconds(&sound)), "{language} {voice}: {} s", seconds(&sound));
            let level = loudness(&sound);
            assert!((1500.0..9000.0).contains(&level), "{language} {voice}: {level}");
            let first = sound.iter().position(|sample| sample.unsigned_abs() > 300).expect("sound");
            assert!(
                seconds(&sound[..first]) < 0.15,
                "{language} {voice}: silent for {} s",
                seconds(&sound[..first])
            );
        }
    }
}

#[tokio::test]
async fn voices_differ_and_a_sentence_said_again_is_the_same() {
    let synthesiser = OfflineSynthesiser::new(settings());
    let female = speak(&synthesiser, "Good morning.", "", "en").await;
    assert!(female == speak(&synthesiser, "Good morning.", "offline-female", "en").await, "kept");
    assert!(female != speak(&synthesiser, "Good morning.", "offline-male", "en").await, "another voice");
    assert!(speak(&synthesiser, " ?! ", "", "en").await.is_empty());
}

#[tokio::test]
async fn a_kept_sentence_needs_no_program() {
    let link = std::env::temp_dir().join(format!("offline-speech-test-{}", std::process::id()));
    std::os::unix::fs::symlink("/usr/bin/espeak-ng", &link).expect("a link");
    let synthesiser = OfflineSynthesiser::new(Settings { espeak: link.clone(), ..settings() });
    let before = speak(&synthesiser, "Kept.", "", "en").await;
    std::fs::remove_file(&link).expect("the link");
    assert!(before == speak(&synthesiser, "Kept.", "", "en").await);
    let other = synthesiser
        .speak(SpeakOrder { text: "Not kept.".into(), voice: String::new(), language: "en".into() })
        .await;
    assert_eq!(other.err().map(|error| error.fault), Some(ProviderFault::NotInstalled));
}

#[tokio::test]
async fn markup_and_commands_in_a_text_are_only_text() {
    let synthesiser = OfflineSynthesiser::new(settings());
    for text in ["[[h@'loU]] <break time=\"9s\"/> yes", "-v hi --help", "$(id)", "a\0b"] {
        let sound = speak(&synthesiser, text, "", "en").await;
        assert!((0.1..7.0).contains(&seconds(&sound)), "{text:?}: {} s", seconds(&sound));
    }
}

#[tokio::test]
async fn failures_say_what_is_wrong() {
    let missing = Settings {
        espeak: "/nowhere/espeak-ng".into(),
        pocketsphinx: "/nowhere/pocketsphinx_batch".into(),
        model: "/nowhere".into(),
        ..settings()
    };
    let synthesiser = OfflineSynthesiser::new(missing.clone());
    let order =
        |language: &str| SpeakOrder { text: "hello".into(), voice: String::new(), language: language.into() };
    let fault = |error: domain::ports::ProviderError| (error.fault, error.detail);
    let (kind, detail) = fault(synthesiser.speak(order("en")).await.err().expect("no program"));
    assert_eq!(kind, ProviderFault::NotInstalled);
    assert!(detail.contains("apt-get install espeak-ng"), "{detail}");
    assert_eq!(
        fault(synthesiser.speak(order("fr")).await.err().expect("no such language")).0,
        ProviderFault::Refused
    );
    assert_eq!(fault(synthesiser.check().await.expect_err("no program")).0, ProviderFault::NotInstalled);

    let recogniser = OfflineRecogniser::new(missing);
    assert_eq!(fault(recogniser.check().await.expect_err("no program")).0, ProviderFault::NotInstalled);
    let listening = listen(&recogniser).await;
    listening.turn_ended();
    let (kind, detail) = fault(listening.next().await.expect_err("no dictionary"));
    assert_eq!(kind, ProviderFault::NotInstalled);
    assert!(detail.contains("pocketsphinx-en-us"), "{detail}");
    let hindi = recogniser.listen(ListenOrder::of("hi")).await;
    assert_eq!(fault(hindi.err().expect("English only")).0, ProviderFault::Refused);

    let chatter = OfflineSynthesiser::new(Settings { espeak: "echo".into(), ..settings() });
    let mut speaking = chatter.speak(order("en")).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        speaking.next().await.expect("an answer").map_err(|error| error.fault),
        Err(ProviderFault::Broken)
    );
    let stuck = OfflineSynthesiser::new(Settings {
        espeak: "yes".into(),
        voices_at_once: 1,
        timeout: Duration::from_millis(50),
        ..settings()
    });
    let mut speaking = stuck.speak(order("en")).await.unwrap_or_else(|error| panic!("{error}"));
    assert!(speaking.next().await.expect("an answer").is_err());
}

#[tokio::test]
async fn the_programs_are_there() {
    for check in
        [OfflineSynthesiser::new(settings()).check().await, OfflineRecogniser::new(settings()).check().await]
    {
        assert!(check.as_ref().is_ok_and(|verdict| !verdict.is_empty()), "{check:?}");
    }
}

#[tokio::test]
async fn one_voice_at_a_time_serves_everybody_and_a_dropped_sentence_frees_its_place() {
    let synthesiser = OfflineSynthesiser::new(Settings { voices_at_once: 1, cache_bytes: 0, ..settings() });
    let order = |text: String| SpeakOrder { text, voice: String::new(), language: "en".into() };
    for at in 0..5 {
        let long = format!("{at} {}", "a long story ".repeat(200));
        let mut speaking = synthesiser.speak(order(long)).await.unwrap_or_else(|error| panic!("{error}"));
        assert!(speaking.next().await.is_some_and(|piece| piece.is_ok()));
        drop(speaking);
    }
    let (one, two) = tokio::join!(speak(&synthesiser, "one", "", "en"), speak(&synthesiser, "two", "", "en"));
    assert!(!one.is_empty() && !two.is_empty());
}

/// Short phrases that every call knows, by three voices of two makes, over the telephone.
#[tokio::test]
async fn what_people_say_is_heard() {
    let recogniser = OfflineRecogniser::new(settings());
    let listening = listen(&recogniser).await;
    let phrases = [
        "yes please",
        "no thank you",
        "call me later",
        "stop calling me",
        "wrong number",
        "i want to speak to a person",
        "not interested",
        "can you repeat that",
        "who is this",
        "i am busy right now",
    ];
    let (mut right, mut all, mut misheard) = (0, 0, Vec::new());
    for phrase in phrases {
        for voice in ["slt", "rms"] {
            let heard = hear(&*listening, &flite(voice, phrase)).await;
            all += 1;
            if heard == phrase { right += 1 } else { misheard.push((voice, phrase, heard)) }
        }
    }
    println!("heard right: {right} of {all}; not: {misheard:?}");
    assert!(right * 10 >= all * 7, "{misheard:?}");
    let stops = misheard
        .iter()
        .filter(|(_, phrase, heard)| *phrase != "stop calling me" && domain::speech::opt_out(heard, "en"));
    assert_eq!(stops.count(), 0, "nothing is taken for an opt-out that is none: {misheard:?}");
}

#[tokio::test]
async fn what_is_expected_is_heard() {
    let recogniser = OfflineRecogniser::new(settings());
    let listening = listen(&recogniser).await;
    let mut right = Vec::new();
    for (hints, spoken, expected) in [
        (
            expecting(FieldKind::Choice, &["2 BHK", "Villa", "Studio apartment"]),
            "studio apartment",
            "Studio apartment",
        ),
        (expecting(FieldKind::Choice, &["2 BHK", "Villa", "Studio apartment"]), "two b h k", "2 BHK"),
        (
            expecting(FieldKind::Choice, &["Home loan", "Car loan", "Gold loan"]),
            "i want home loan",
            "i want home loan",
        ),
        (expecting(FieldKind::Number, &[]), "five six zero zero zero one", "five six zero zero zero one"),
        (expecting(FieldKind::Number, &[]), "twenty five thousand", "twenty five thousand"),
        (expecting(FieldKind::Text, &[]), "call me tomorrow at five", "call me tomorrow at five"),
        (expecting(FieldKind::Boolean, &[]), "yes please", "yes please"),
    ] {
        listening.expect(hints);
        let heard = hear(&*listening, &flite("slt", spoken)).await;
        println!("{spoken}: {heard}");
        right.push((heard == expected, spoken, heard));
    }
    let count = right.iter().filter(|(right, ..)| *right).count();
    assert!(count >= 5, "{right:?}");
}

/// Noise, a melody, Hindi, and English about something else: the grammar has to refuse them.
#[tokio::test]
async fn what_is_not_expected_is_not_understood() {
    let recogniser = OfflineRecogniser::new(settings());
    let synthesiser = OfflineSynthesiser::new(settings());
    let listening = listen(&recogniser).await;
    let mut state = 1u32;
    let noise: Vec<i16> = (0..16_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 16) as i16) / 4
        })
        .collect();
    let melody: Vec<i16> = (0..16_000)
        .map(|at: i32| (6000.0 * (f64::from(at) * 0.2 * f64::from(1 + at / 4000)).sin()) as i16)
        .collect();
    let mut sounds = vec![("noise".to_owned(), noise), ("melody".to_owned(), melody)];
    for text in ["मुझे कल बाजार जाना है", "मौसम आज बहुत अच्छा है", "मेरी बेटी स्कूल गई है", "इसकी कीमत कितनी है"]
    {
        sounds.push((text.to_owned(), speak(&synthesiser, text, "offline-female", "hi").await));
    }
    for text in [
        "the weather in mumbai is very hot",
        "my brother works in a software company",
        "the train was late by two hours",
        "which documents do you need from me",
    ] {
        sounds.push((text.to_owned(), flite("slt", text)));
    }
    let mut understood = Vec::new();
    for (name, sound) in &sounds {
        let heard = hear(&*listening, sound).await;
        if !heard.is_empty() {
            understood.push((name, heard));
        }
    }
    println!("taken for something: {} of {}: {understood:?}", understood.len(), sounds.len());
    assert!(understood.len() <= 3, "{understood:?}");
    assert!(!understood.iter().any(|(_, heard)| domain::speech::opt_out(heard, "en")), "{understood:?}");
}

#[tokio::test]
async fn turns_are_answered_in_order_and_silence_is_no_words() {
    let recogniser = OfflineRecogniser::new(settings());
    let listening = listen(&recogniser).await;
    listening.turn_ended();
    listening.feed(&over_the_telephone(&flite("slt", "call me later")));
    listening.turn_ended();
    listening.feed(&[3; 8000]);
    listening.turn_ended();
    let mut heard = Vec::new();
    for _ in 0..3 {
        heard.push(listening.next().await);
    }
    assert_eq!(heard, ["", "call me later", ""].map(|text| Ok(Heard::Turn(text.to_owned()))));
}

#[tokio::test]
async fn two_things_said_with_a_pause_are_both_heard() {
    let recogniser = OfflineRecogniser::new(settings());
    let listening = listen(&recogniser).await;
    let sound = [flite("slt", "yes speaking"), vec![0; 8000], flite("slt", "call me later")].concat();
    assert_eq!(hear(&*listening, &sound).await, "yes speaking call me later");
}

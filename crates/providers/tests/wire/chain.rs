//! Several providers of a kind: fallback in mid-call, breakers, residency, figures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::ports::{LanguageModel, ProviderError, ProviderFault, Recogniser, SpeakOrder, Synthesiser};
use providers::chain::{BreakerLimits, Figure, Offline, Role, Set, Settings, build};
use providers::http::Monotonic;
use providers::settings::{LanguageModel as ModelSection, Speech};
use serde_json::json;

use crate::fakes::{Fake, feed, listen, turn};
use crate::model::{section as model_section, streaming, talk, text};
use crate::server::{Log, Server, answer, soon};
use crate::synthesisers::{self, hear, sound, speak};

fn no_speech<T: ?Sized>(_: &Speech) -> Result<Arc<T>, String> {
    Err("offline is not set up here".into())
}

fn no_model(_: &ModelSection) -> Result<Arc<dyn LanguageModel>, String> {
    Err("offline is not set up here".into())
}

fn set(settings: &Settings) -> Set {
    build(
        settings,
        Offline {
            to_text: &no_speech::<dyn Recogniser>,
            from_text: &no_speech::<dyn Synthesiser>,
            model: &no_model,
        },
    )
    .unwrap()
}

fn figure(set: &Set, role: Role, provider: &str) -> Figure {
    set.figures().into_iter().find(|figure| figure.role == role && figure.provider == provider).unwrap()
}

fn to_text(sections: Vec<Speech>) -> Settings {
    Settings { to_text: sections, ..Settings::default() }
}

#[tokio::test]
async fn a_recogniser_that_breaks_in_a_turn_is_replaced_and_no_sample_is_lost() {
    let all = [Fake::Sarvam, Fake::Deepgram, Fake::ElevenLabs];
    for (first, second) in all.into_iter().zip(all.into_iter().cycle().skip(1)) {
        let (log, other) = (Log::new(), Log::new());
        // It answers one turn and hangs up in the second.
        let breaking = first.start(1, log.clone()).await;
        let standing = second.start(usize::MAX, other.clone()).await;
        let set = set(&to_text(vec![first.section(&breaking.url), second.section(&standing.url)]));
        let listening = listen(&*set.to_text).await.unwrap();
        feed(&*listening, 1600);
        listening.turn_ended();
        assert_eq!(turn(&*listening).await.as_deref(), Ok("heard 1600"));
        assert_eq!(log.lines(), [format!("{}: 1600", first.name())]);
        feed(&*listening, 4000);
        log.seen(|line| line.contains("hung up after")).await;
        // Sound goes on while the next one is being found.
        feed(&*listening, 3333);
        listening.turn_ended();
        feed(&*listening, 500);
        listening.turn_ended();
        assert_eq!(
            turn(&*listening).await.as_deref(),
            Ok("heard 7333"),
            "{first:?} to {second:?}: all of the turn, and nothing of the one before"
        );
        assert_eq!(turn(&*listening).await.as_deref(), Ok("heard 500"));
        let (broken, good) =
            (figure(&set, Role::ToText, first.name()), figure(&set, Role::ToText, second.name()));
        assert_eq!(
            (broken.asked, broken.answered, broken.faults),
            (1, 1, vec![(ProviderFault::Unreachable, 1)])
        );
        assert_eq!((good.asked, good.answered, good.faults), (1, 1, vec![]));
        assert_eq!(set.dropped_samples(), 0);
    }
}

#[tokio::test]
async fn an_unanswered_end_of_a_turn_is_answered_by_the_next_recogniser() {
    let (header, value) = Fake::Cartesia.credentials();
    let server = Server::ws(header, value, |mut conn| async move {
        // It hears everything and hangs up when it should answer.
        while let Some(message) = conn.next().await {
            if message.is_text() {
                return;
            }
        }
    })
    .await;
    let standing = Fake::ElevenLabs.start(usize::MAX, Log::new()).await;
    let set =
        set(&to_text(vec![Fake::Cartesia.section(&server.url), Fake::ElevenLabs.section(&standing.url)]));
    let listening = listen(&*set.to_text).await.unwrap();
    feed(&*listening, 2000);
    listening.turn_ended();
    assert_eq!(turn(&*listening).await.as_deref(), Ok("heard 2000"));
}

#[tokio::test]
async fn what_is_kept_for_the_next_recogniser_is_half_a_minute() {
    let log = Log::new();
    let breaking = Fake::Sarvam.start(0, log.clone()).await;
    let standing = Fake::Deepgram.start(usize::MAX, Log::new()).await;
    let set = set(&to_text(vec![Fake::Sarvam.section(&breaking.url), Fake::Deepgram.section(&standing.url)]));
    let listening = listen(&*set.to_text).await.unwrap();
    // This test has one thread, so nothing else runs before all of it is noted.
    feed(&*listening, 60 * 8000);
    log.seen(|line| line.contains("hung up after")).await;
    listening.turn_ended();
    let heard: usize = turn(&*listening).await.unwrap().strip_prefix("heard ").unwrap().parse().unwrap();
    assert!((30 * 8000..=31 * 8000).contains(&heard), "{heard}");
}

#[tokio::test]
async fn a_recogniser_that_stands_alone_is_opened_again_but_not_for_ever() {
    let log = Log::new();
    let breaking = Fake::Deepgram.start(0, log.clone()).await;
    let set = set(&to_text(vec![Fake::Deepgram.section(&breaking.url)]));
    let listening = listen(&*set.to_text).await.unwrap();
    feed(&*listening, 1600);
    assert_eq!(turn(&*listening).await.unwrap_err().fault, ProviderFault::Unreachable);
    assert_eq!(breaking.accepted(), 3, "once, and twice again within the turn");
}

/// Two synthesisers at these addresses.
fn from_text(first: &str, second: &str) -> Set {
    let sections =
        vec![synthesisers::section(Fake::Cartesia, first), synthesisers::section(Fake::ElevenLabs, second)];
    set(&Settings { from_text: sections, ..Settings::default() })
}

#[tokio::test]
async fn a_voice_that_fails_before_its_first_sample_is_replaced() {
    let good = synthesisers::start(Fake::ElevenLabs, Log::new()).await;
    let hanging_up = synthesisers::start(Fake::Cartesia, Log::new()).await;
    let refusing = Server::answering(answer(500, "{}")).await;
    for (bad, words) in [("http://127.0.0.1:1", "Hello."), (refusing.url.as_str(), "Hello.")] {
        let set = from_text(bad, &good.url);
        assert_eq!(hear(&mut *speak(&*set.from_text, words).await.unwrap()).await, Ok(sound(words)), "{bad}");
    }
    // Connected, asked, and gone; the other server hangs up at the same sign, so this is the last failure.
    let set = from_text(&hanging_up.url, &good.url);
    let mut speaking = speak(&*set.from_text, "! hang up").await.unwrap();
    assert_eq!(hear(&mut *speaking).await.unwrap_err().provider, "elevenlabs");
    assert_eq!(figure(&set, Role::FromText, "cartesia").faults, [(ProviderFault::Unreachable, 1)]);
    // Without letters no provider is asked.
    assert_eq!(hear(&mut *speak(&*set.from_text, " … ").await.unwrap()).await, Ok(vec![]));
}

#[tokio::test]
async fn a_voice_that_breaks_off_is_followed_by_the_rest_from_the_next_sentence() {
    let log = Log::new();
    let good = synthesisers::start(Fake::ElevenLabs, log.clone()).await;
    let (header, value) = Fake::Cartesia.credentials();
    let breaking = Server::ws(header, value, |mut conn| async move {
        let Some(asked) = conn.json().await else { return };
        let chunk =
            json!({"type": "chunk", "data": "AQACAAMA", "done": false, "context_id": asked["context_id"]});
        conn.send(chunk).await;
    })
    .await;
    let set = from_text(&breaking.url, &good.url);
    let mut speaking = speak(&*set.from_text, "Your parcel is late. It comes on Monday.").await.unwrap();
    let heard = hear(&mut *speaking).await.unwrap();
    assert_eq!(heard, [vec![1, 2, 3], sound("It comes on Monday.")].concat());
    let mut speaking = speak(&*set.from_text, "Only this sentence.").await.unwrap();
    assert_eq!(hear(&mut *speaking).await, Ok(vec![1, 2, 3]), "there is no next sentence");
    assert!(!log.lines().iter().any(|line| line.contains("Only")), "{:?}", log.lines());
}

#[tokio::test]
async fn the_owner_of_a_voice_is_asked_first() {
    let (one, two) = (Log::new(), Log::new());
    let deepgram = synthesisers::start(Fake::Deepgram, one.clone()).await;
    let elevenlabs = synthesisers::start(Fake::ElevenLabs, two.clone()).await;
    let sections = vec![
        synthesisers::section(Fake::ElevenLabs, &elevenlabs.url),
        synthesisers::section(Fake::Deepgram, &deepgram.url),
    ];
    let set = set(&Settings { from_text: sections, ..Settings::default() });
    let order =
        |voice: &str| SpeakOrder { text: "Hello.".into(), voice: voice.into(), language: "en".into() };
    hear(&mut *soon(set.from_text.speak(order("deepgram-aura-2-thalia-en"))).await.unwrap()).await.unwrap();
    assert_eq!((one.lines().len(), two.lines().len()), (2, 0));
    hear(&mut *soon(set.from_text.speak(order("offline-female"))).await.unwrap()).await.unwrap();
    assert_eq!((one.lines().len(), two.lines().len()), (2, 2));
}

fn models(sections: Vec<ModelSection>) -> Settings {
    Settings { language_models: sections, ..Settings::default() }
}

fn named(name: &str, url: &str) -> ModelSection {
    ModelSection { name: name.into(), ..model_section(url) }
}

#[tokio::test]
async fn a_model_is_replaced_before_its_first_word_and_not_after() {
    let good = streaming(&text("From the second."), usize::MAX).await;
    let empty = streaming("data: [DONE]\n\n", usize::MAX).await;
    let refusing = Server::answering(answer(500, "{}")).await;
    let stalling = Server::http(|_, mut to| async move {
        to.begin("text/event-stream").await;
        to.hung_up().await;
    })
    .await;
    for bad in [&empty, &refusing, &stalling] {
        let mut first = named("first", &bad.url);
        first.timeout = Duration::from_millis(300);
        let set = set(&models(vec![first, named("second", &good.url)]));
        assert_eq!(talk(&*set.model).await, Ok(("From the second.".into(), vec![])), "{}", bad.url);
        assert_eq!(figure(&set, Role::Model, "first").answered, 0);
    }
    // After a word the turn ends with what was said.
    let breaking =
        streaming(&(text("From the first,") + "data: {\"error\":{\"code\":\"x\"}}\n\n"), usize::MAX).await;
    let set = set(&models(vec![named("first", &breaking.url), named("second", &good.url)]));
    assert_eq!(talk(&*set.model).await, Ok(("From the first,".into(), vec![])));
    let first = figure(&set, Role::Model, "first");
    assert_eq!((first.asked, first.answered, first.faults), (1, 1, vec![(ProviderFault::Broken, 1)]));
    assert_eq!(figure(&set, Role::Model, "second").asked, 0);
}

#[tokio::test]
async fn a_provider_that_keeps_failing_is_passed_over_until_a_probe_succeeds() {
    let log = Log::new();
    let told = log.clone();
    let healthy = Arc::new(AtomicU64::new(0));
    let health = healthy.clone();
    let first = Server::http(move |_, mut to| {
        let (log, well) = (told.clone(), health.load(Ordering::SeqCst) == 1);
        async move {
            log.add("asked");
            if !well {
                return to.whole(500, "application/json", b"{}").await;
            }
            to.begin("text/event-stream").await;
            to.raw(text("First.").as_bytes()).await;
        }
    })
    .await;
    let second = streaming(&text("Second."), usize::MAX).await;
    let seconds = Arc::new(AtomicU64::new(0));
    let read = seconds.clone();
    let clock: Monotonic = Arc::new(move || Duration::from_secs(read.load(Ordering::SeqCst)));
    let breaker =
        BreakerLimits { failures: 3, window: Duration::from_secs(60), pause: Duration::from_secs(30) };
    let set = set(&Settings {
        breaker,
        clock,
        ..models(vec![named("first", &first.url), named("second", &second.url)])
    });
    let says = async |expected: &str, asked: usize, open: bool| {
        assert_eq!(talk(&*set.model).await, Ok((expected.into(), vec![])));
        assert_eq!((log.lines().len(), figure(&set, Role::Model, "first").open), (asked, open));
    };
    says("Second.", 1, false).await;
    says("Second.", 2, false).await;
    says("Second.", 3, true).await;
    says("Second.", 3, true).await;
    seconds.store(30, Ordering::SeqCst);
    says("Second.", 4, true).await;
    says("Second.", 4, true).await;
    healthy.store(1, Ordering::SeqCst);
    seconds.store(60, Ordering::SeqCst);
    says("First.", 5, false).await;
    says("First.", 6, false).await;
    let figure = figure(&set, Role::Model, "first");
    assert_eq!((figure.asked, figure.answered, figure.faults), (6, 2, vec![(ProviderFault::Broken, 4)]));
}

/// What a prompt leads to says nothing of the provider: others may ask it.
#[tokio::test]
async fn turns_without_a_word_do_not_open_a_breaker() {
    let silent = streaming("data: [DONE]\n\n", usize::MAX).await;
    let breaker = BreakerLimits { failures: 1, ..BreakerLimits::default() };
    let set = set(&Settings { breaker, ..models(vec![named("only", &silent.url)]) });
    for asked in 1..=3 {
        assert_eq!(talk(&*set.model).await.map_err(|error| error.fault), Err(ProviderFault::Silent));
        let figure = figure(&set, Role::Model, "only");
        assert_eq!((figure.open, figure.faults), (false, vec![(ProviderFault::Silent, asked)]));
    }
}

#[tokio::test]
async fn a_provider_is_asked_in_its_pause_when_all_others_have_failed() {
    let log = Log::new();
    let told = log.clone();
    let only = Server::http(move |_, mut to| {
        let log = told.clone();
        async move {
            log.add("asked");
            to.whole(500, "application/json", b"{}").await;
        }
    })
    .await;
    let breaker = BreakerLimits { failures: 1, ..BreakerLimits::default() };
    let set = set(&Settings { breaker, ..models(vec![named("only", &only.url)]) });
    for asked in 1..=3 {
        assert!(talk(&*set.model).await.is_err());
        assert_eq!((log.lines().len(), figure(&set, Role::Model, "only").open), (asked, true));
    }
}

#[tokio::test]
async fn residency_leaves_out_what_is_not_resident() {
    let section = |name: &str| Speech {
        name: name.into(),
        api_key: "k".into(),
        voice: Some("v".into()),
        ..Speech::default()
    };
    let model = ModelSection {
        model: "m".into(),
        base_url: "https://llm.example.com/v1".into(),
        name: "far".into(),
        ..ModelSection::default()
    };
    let near =
        ModelSection { base_url: "http://10.0.0.7:8000/v1".into(), name: "near".into(), ..model.clone() };
    let mut settings = Settings {
        to_text: vec![section("deepgram"), section("sarvam")],
        from_text: vec![section("cartesia"), section("sarvam")],
        language_models: vec![model.clone(), near],
        residency: true,
        ..Settings::default()
    };
    let resident = set(&settings);
    assert_eq!(
        (resident.to_text.name(), resident.from_text.name(), resident.model.name()),
        ("sarvam", "sarvam", "near")
    );
    assert!(resident.to_text.resident() && resident.complete().is_ok());
    settings.language_models = vec![model];
    let short = set(&settings);
    assert_eq!(short.complete(), Err(Role::Model));
    assert_eq!(
        talk(&*short.model).await.unwrap_err(),
        ProviderError::new(
            "language_model.providers",
            ProviderFault::NotInstalled,
            "no language model is set up"
        )
    );
    settings.residency = false;
    let all = set(&settings);
    assert_eq!(
        (all.to_text.name(), all.model.name(), all.to_text.resident()),
        ("deepgram,sarvam", "far", false)
    );
}

#[tokio::test]
async fn every_provider_has_a_line_for_the_doctor() {
    let (header, value) = Fake::Deepgram.credentials();
    let well =
        Server::ws(header, value, |mut conn| async move { while conn.next().await.is_some() {} }).await;
    let refusing = Server::answering(answer(401, "{}")).await;
    let settings = Settings {
        to_text: vec![Fake::Deepgram.section(&well.url), Fake::Sarvam.section(&refusing.url)],
        from_text: vec![synthesisers::section(Fake::Cartesia, "http://127.0.0.1:1")],
        language_models: vec![named("main", &refusing.url)],
        ..Settings::default()
    };
    let checks = soon(set(&settings).checks()).await;
    let lines: Vec<(&str, Role, Option<ProviderFault>)> = checks
        .iter()
        .map(|check| (check.name.as_str(), check.role, check.outcome.as_ref().err().map(|error| error.fault)))
        .collect();
    assert_eq!(
        lines,
        [
            ("deepgram", Role::ToText, None),
            ("sarvam", Role::ToText, Some(ProviderFault::Forbidden)),
            ("cartesia", Role::FromText, Some(ProviderFault::Unreachable)),
            ("main", Role::Model, Some(ProviderFault::Forbidden)),
        ]
    );
    let wrong = Settings {
        from_text: vec![Speech { name: "nobody".into(), ..Speech::default() }],
        ..Settings::default()
    };
    let offline = Offline {
        to_text: &no_speech::<dyn Recogniser>,
        from_text: &no_speech::<dyn Synthesiser>,
        model: &no_model,
    };
    assert!(
        build(&wrong, offline).unwrap_err().starts_with("speech.from_text: there is no provider \"nobody\"")
    );
    let offline_wanted = Settings {
        to_text: vec![Speech { name: "offline".into(), ..Speech::default() }],
        ..Settings::default()
    };
    assert_eq!(build(&offline_wanted, offline).unwrap_err(), "speech.to_text: offline is not set up here");
}

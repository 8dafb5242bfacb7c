//! Recognisers over WebSockets.

use std::time::Duration;

use domain::ports::{Heard, ListenOrder, ProviderFault};
use futures_util::FutureExt;
use providers::settings::Speech;
use serde_json::json;

use crate::fakes::{ALL, Fake, KEY, feed, listen, net, recogniser, turn};
use crate::server::{Log, Server, answer, soon};

#[tokio::test]
async fn every_end_of_a_turn_is_answered_once_with_all_its_sound() {
    for fake in ALL {
        let log = Log::new();
        let server = fake.start(usize::MAX, log.clone()).await;
        let recogniser = recogniser(&fake.section(&server.url));
        let listening = listen(&*recogniser).await.unwrap();
        feed(&*listening, 1600);
        if fake != Fake::Legacy {
            assert_eq!(soon(listening.next()).await, Ok(Heard::Partial("hea".into())), "{fake:?}");
        }
        listening.turn_ended();
        assert_eq!(turn(&*listening).await.as_deref(), Ok("heard 1600"), "{fake:?}");
        // Not a whole number of messages, and two ends at once of which the second has no sound.
        feed(&*listening, 777);
        listening.turn_ended();
        listening.turn_ended();
        assert_eq!(turn(&*listening).await.as_deref(), Ok("heard 777"), "{fake:?}");
        assert_eq!(turn(&*listening).await.as_deref(), Ok(""), "{fake:?}");
        // What is said before the words of a turn have come belongs to the next one.
        feed(&*listening, 160);
        listening.turn_ended();
        feed(&*listening, 320);
        listening.turn_ended();
        assert_eq!(turn(&*listening).await.as_deref(), Ok("heard 160"), "{fake:?}");
        assert_eq!(turn(&*listening).await.as_deref(), Ok("heard 320"), "{fake:?}");
        assert!(listening.next().now_or_never().is_none(), "{fake:?}: nothing more");
        drop(listening);
        log.seen(|line| line.ends_with("bye") || line.ends_with("gone")).await;
        assert_eq!(server.accepted(), 1);
    }
}

#[tokio::test]
async fn asking_for_a_report_may_be_given_up_at_any_time() {
    let server = Fake::Deepgram.start(usize::MAX, Log::new()).await;
    let recogniser = recogniser(&Fake::Deepgram.section(&server.url));
    let listening = listen(&*recogniser).await.unwrap();
    let mut words = Vec::new();
    for _ in 0..5 {
        feed(&*listening, 160);
        listening.turn_ended();
    }
    while words.len() < 5 {
        // Polled once and dropped, again and again.
        match listening.next().now_or_never() {
            Some(Ok(Heard::Turn(turn))) => words.push(turn),
            Some(Ok(Heard::Partial(_) | Heard::Language(_))) | None => tokio::task::yield_now().await,
            Some(Err(error)) => panic!("{error}"),
        }
    }
    assert_eq!(words, ["heard 160"; 5]);
}

#[tokio::test]
async fn a_provider_that_refuses_is_told_by_its_status() {
    for fake in ALL {
        let mut section = fake.section("");
        section.api_key = "wrong-key".into();
        let server = fake.start(usize::MAX, Log::new()).await;
        section.base_url = Some(server.url.clone());
        let refused = listen(&*recogniser(&section)).await.err().unwrap();
        assert_eq!((refused.fault, refused.provider.as_str()), (ProviderFault::Forbidden, fake.name()));
        assert!(!refused.to_string().contains("wrong-key"));
        for (status, fault) in [
            (401, ProviderFault::Forbidden),
            (429, ProviderFault::Limited),
            (500, ProviderFault::Broken),
            (400, ProviderFault::Refused),
        ] {
            let server = Server::answering(answer(
                status,
                r#"{"error":{"message":"you said my secret","code":"some_code"}}"#,
            ))
            .await;
            section.base_url = Some(server.url.clone());
            let refused = listen(&*recogniser(&section)).await.err().unwrap();
            assert_eq!(refused.fault, fault, "{fake:?} {status}");
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
    }
}

#[tokio::test]
async fn error_messages_are_failures_and_their_words_are_not_repeated() {
    for fake in ALL {
        let (header, value) = fake.credentials();
        let server = Server::ws(header, value, move |mut conn| async move {
            conn.next().await;
            conn.send(fake.error()).await;
            while conn.next().await.is_some() {}
        })
        .await;
        let recogniser = recogniser(&fake.section(&server.url));
        let listening = listen(&*recogniser).await.unwrap();
        feed(&*listening, 800);
        let error = turn(&*listening).await.unwrap_err();
        assert_eq!(error.fault, ProviderFault::Limited, "{fake:?}: {error}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        assert_eq!(turn(&*listening).await.unwrap_err().fault, ProviderFault::Unreachable, "it stays ended");
    }
}

#[tokio::test]
async fn a_provider_that_falls_silent_is_given_up() {
    // The older Sarvam protocol has no partial words by which the test could tell that speech was noticed.
    for fake in ALL.into_iter().filter(|fake| *fake != Fake::Legacy) {
        let (header, value) = fake.credentials();
        let silent = Server::ws(header, value, move |mut conn| async move {
            conn.next().await;
            // Speech was noticed, so words are due.
            fake.hint(&mut conn).await;
            while conn.next().await.is_some() {}
        })
        .await;
        let mut section = fake.section(&silent.url);
        section.timeout = Duration::from_millis(300);
        let listening = listen(&*recogniser(&section)).await.unwrap();
        feed(&*listening, 800);
        assert_eq!(soon(listening.next()).await, Ok(Heard::Partial("hea".into())), "{fake:?}");
        listening.turn_ended();
        assert_eq!(turn(&*listening).await.unwrap_err().fault, ProviderFault::TimedOut, "{fake:?}");
    }
}

#[tokio::test]
async fn a_provider_that_hangs_up_in_the_midst_of_a_turn_is_given_up() {
    for fake in ALL {
        let server = fake.start(0, Log::new()).await;
        let listening = listen(&*recogniser(&fake.section(&server.url))).await.unwrap();
        feed(&*listening, 1600);
        listening.turn_ended();
        assert_eq!(turn(&*listening).await.unwrap_err().fault, ProviderFault::Unreachable, "{fake:?}");
    }
}

#[tokio::test]
async fn a_turn_without_words_is_answered_where_the_provider_says_nothing() {
    // Both answer a flush only when there was something to flush.
    for fake in [Fake::Deepgram, Fake::Legacy] {
        let (header, value) = fake.credentials();
        let server = Server::ws(header, value, move |mut conn| async move {
            while conn.next().await.is_some() {
                if fake == Fake::Deepgram {
                    conn.send(json!({"type": "Results", "is_final": false, "channel": {"alternatives": [{"transcript": ""}]}})).await;
                }
            }
        })
        .await;
        let listening = listen(&*recogniser(&fake.section(&server.url))).await.unwrap();
        feed(&*listening, 800);
        listening.turn_ended();
        assert_eq!(turn(&*listening).await.as_deref(), Ok(""), "{fake:?}");
    }
    let server = Server::ws("xi-api-key", KEY, |mut conn| async move {
        while let Some(message) = conn.json().await {
            if message["commit"] == true {
                conn.send(json!({"message_type": "insufficient_audio_activity", "error": "…"})).await;
            }
        }
    })
    .await;
    let listening = listen(&*recogniser(&Fake::ElevenLabs.section(&server.url))).await.unwrap();
    feed(&*listening, 800);
    listening.turn_ended();
    assert_eq!(turn(&*listening).await.as_deref(), Ok(""));
}

/// Flux judges the ends of turns itself.
#[tokio::test]
async fn flux_turns_are_fitted_to_ours() {
    let log = Log::new();
    let told = log.clone();
    let server = Server::ws("authorization", "Token hush-hush", move |mut conn| {
        let log = told.clone();
        async move {
            assert_eq!(conn.path, "/v2/listen?model=flux-general-multi&encoding=linear16&sample_rate=8000&language_hint=hi");
            let info = |event: &str, turn: i64, words: &str| json!({"type": "TurnInfo", "event": event, "turn_index": turn, "transcript": words});
            conn.send(json!({"type": "Connected", "request_id": "r"})).await;
            conn.next().await;
            conn.send(info("StartOfTurn", 0, "hello")).await;
            conn.send(info("Update", 0, "hello there")).await;
            conn.send(info("EndOfTurn", 0, "hello there")).await;
            log.add("first");
            conn.next().await;
            conn.send(info("StartOfTurn", 1, "call me")).await;
            log.add("second");
            conn.next().await;
            conn.send(info("EndOfTurn", 1, "call me later")).await;
            while conn.next().await.is_some() {}
        }
    })
    .await;
    let mut section = Fake::Deepgram.section(&server.url);
    section.stt_model = Some("flux-general-multi".into());
    let listening = listen(&*recogniser(&section)).await.unwrap();
    feed(&*listening, 640);
    assert_eq!(soon(listening.next()).await, Ok(Heard::Partial("hello".into())));
    assert_eq!(soon(listening.next()).await, Ok(Heard::Partial("hello there".into())));
    listening.turn_ended();
    assert_eq!(turn(&*listening).await.as_deref(), Ok("hello there"), "Flux ended it");
    feed(&*listening, 640);
    assert_eq!(soon(listening.next()).await, Ok(Heard::Partial("call me".into())));
    listening.turn_ended();
    assert_eq!(turn(&*listening).await.as_deref(), Ok("call me"), "we ended it: the newest words are taken");
    feed(&*listening, 640);
    listening.turn_ended();
    assert_eq!(turn(&*listening).await.as_deref(), Ok("later"), "only what is new of the turn that went on");
}

#[tokio::test]
async fn a_queue_that_nobody_empties_stays_small_and_counts_what_it_dropped() {
    // The server takes the connection and then reads nothing.
    let server = Server::ws("authorization", "Token hush-hush", |conn| async move {
        std::future::pending::<()>().await;
        drop(conn);
    })
    .await;
    let net = net();
    let mut section = Fake::Deepgram.section(&server.url);
    section.timeout = Duration::from_secs(20);
    let recogniser = providers::speech::recogniser(&section, &net).unwrap();
    let listening = listen(&*recogniser).await.unwrap();
    // This test's only thread never lets the carrier run in between.
    feed(&*listening, 60 * 8000);
    assert_eq!(net.dropped_samples(), 20 * 8000);
}

#[tokio::test]
async fn languages_residency_and_checks() {
    let of = |name: &str, url: Option<&str>| {
        let section = Speech {
            name: name.into(),
            base_url: url.map(str::to_owned),
            api_key: KEY.into(),
            ..Speech::default()
        };
        recogniser(&section)
    };
    assert!(of("sarvam", None).resident() && of("sarvam", None).speaks("or"));
    assert!(
        !of("deepgram", None).resident()
            && of("deepgram", None).speaks("hi")
            && of("deepgram", None).speaks("ta")
            && !of("deepgram", None).speaks("ml")
    );
    assert!(of("deepgram", Some("https://api.in.deepgram.com")).resident());
    assert!(!of("cartesia", None).speaks("hi") && of("elevenlabs", None).speaks("te"));
    let settled = Speech { name: "elevenlabs".into(), resident: Some(true), ..Speech::default() };
    assert!(recogniser(&settled).resident());
    let unknown =
        providers::speech::recogniser(&Speech { name: "nobody".into(), ..Speech::default() }, &net())
            .err()
            .unwrap();
    assert!(unknown.contains("nobody") && unknown.contains("deepgram"), "{unknown}");

    let (header, value) = Fake::Deepgram.credentials();
    let server =
        Server::ws(header, value, |mut conn| async move { while conn.next().await.is_some() {} }).await;
    assert!(
        soon(recogniser(&Fake::Deepgram.section(&server.url)).check())
            .await
            .unwrap()
            .starts_with("connected in")
    );
    let nobody = recogniser(&Fake::Deepgram.section("http://127.0.0.1:1"));
    assert_eq!(soon(nobody.check()).await.unwrap_err().fault, ProviderFault::Unreachable);
    let order = ListenOrder::of("hi");
    assert!(soon(nobody.listen(order)).await.is_err());
}

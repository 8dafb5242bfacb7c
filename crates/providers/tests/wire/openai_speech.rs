//! Transcription and speech of OpenAI-compatible servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::ports::{Heard, ProviderFault};
use futures_util::FutureExt;
use providers::settings::Speech;
use serde_json::json;

use crate::fakes::{KEY, listen, recogniser, turn};
use crate::server::{Log, Request, Server, answer, soon};
use crate::synthesisers::{hear, speak, synthesiser};

fn section(url: &str) -> Speech {
    Speech {
        name: "openai".into(),
        base_url: Some(format!("{url}/v1")),
        api_key: KEY.into(),
        timeout: Duration::from_secs(10),
        ..Speech::default()
    }
}

fn tone(samples: usize) -> Vec<i16> {
    (0..samples).map(|at| ((at as f64 * 0.5).sin() * 6000.0) as i16).collect()
}

/// The sound's length in milliseconds, from the file in the form.
fn posted_ms(request: &Request) -> usize {
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/audio/transcriptions"));
    assert_eq!(request.header("authorization"), "Bearer hush-hush");
    let boundary =
        request.header("content-type").strip_prefix("multipart/form-data; boundary=").unwrap().to_owned();
    let text = String::from_utf8_lossy(&request.body);
    assert!(text.ends_with(&format!("\r\n--{boundary}--\r\n")));
    for field in [
        "name=\"model\"\r\n\r\nwhisper-1\r\n",
        "name=\"language\"\r\n\r\nhi\r\n",
        "filename=\"turn.wav\"\r\ncontent-type: audio/wav\r\n\r\nRIFF",
    ] {
        assert!(text.contains(field), "{field}");
    }
    let at = request.body.windows(4).position(|four| four == b"RIFF").unwrap();
    let wav = &request.body[at..];
    assert_eq!(u32::from_le_bytes(wav[24..28].try_into().unwrap()), 16_000);
    u32::from_le_bytes(wav[40..44].try_into().unwrap()) as usize / 32
}

#[tokio::test]
async fn turns_are_posted_without_their_silence_and_answered_in_order() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let server = Server::http(move |request, mut to| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        async move {
            let ms = posted_ms(&request);
            let segments = json!([
                {"text": format!(" heard {ms}"), "no_speech_prob": 0.1, "avg_logprob": -0.2},
                {"text": " Thank you for watching!", "no_speech_prob": 0.9, "avg_logprob": -1.4},
            ]);
            assert!(String::from_utf8_lossy(&request.body).contains("verbose_json"));
            to.whole(
                200,
                "application/json",
                json!({"text": "…", "segments": segments}).to_string().as_bytes(),
            )
            .await;
            assert!(number < 2, "silence is not posted");
        }
    })
    .await;
    let listening = listen(&*recogniser(&section(&server.url))).await.unwrap();
    listening.feed(&vec![0; 80_000]);
    listening.feed(&tone(8000));
    listening.feed(&vec![0; 8000]);
    listening.turn_ended();
    listening.feed(&vec![2; 16_000]);
    listening.turn_ended();
    listening.feed(&tone(4000));
    listening.turn_ended();
    assert_eq!(turn(&*listening).await.as_deref(), Ok("heard 1600"), "a second, and 300 ms on both sides");
    assert_eq!(turn(&*listening).await.as_deref(), Ok(""));
    assert_eq!(turn(&*listening).await.as_deref(), Ok("heard 500"));
    assert!(listening.next().now_or_never().is_none());
}

#[tokio::test]
async fn a_server_without_verbose_answers_is_asked_for_plain_ones() {
    let log = Log::new();
    let told = log.clone();
    let server = Server::http(move |request, mut to| {
        let log = told.clone();
        async move {
            let verbose = String::from_utf8_lossy(&request.body).contains("verbose_json");
            log.add(if verbose { "verbose" } else { "plain" });
            if verbose {
                to.whole(
                    400,
                    "application/json",
                    br#"{"error":{"message":"response_format","code":"unsupported_value"}}"#,
                )
                .await;
            } else {
                to.whole(200, "application/json", br#"{"text":" haan "}"#).await;
            }
        }
    })
    .await;
    let listening = listen(&*recogniser(&section(&server.url))).await.unwrap();
    for _ in 0..2 {
        listening.feed(&tone(4000));
        listening.turn_ended();
        assert_eq!(soon(listening.next()).await, Ok(Heard::Turn("haan".into())));
    }
    assert_eq!(log.lines(), ["verbose", "plain", "plain"]);
}

#[tokio::test]
async fn a_transcription_that_fails_ends_the_listening() {
    for (status, fault) in
        [(401, ProviderFault::Forbidden), (429, ProviderFault::Limited), (500, ProviderFault::Broken)]
    {
        let server = Server::answering(answer(status, r#"{"error":{"message":"you said my secret"}}"#)).await;
        let listening = listen(&*recogniser(&section(&server.url))).await.unwrap();
        listening.feed(&tone(4000));
        listening.turn_ended();
        let error = turn(&*listening).await.unwrap_err();
        assert!(error.fault == fault && !error.to_string().contains("secret"), "{error}");
    }
    let server = Server::http(|_, mut to| async move { to.hung_up().await }).await;
    let mut section = section(&server.url);
    section.timeout = Duration::from_millis(200);
    let listening = listen(&*recogniser(&section)).await.unwrap();
    listening.feed(&tone(4000));
    listening.turn_ended();
    assert_eq!(turn(&*listening).await.unwrap_err().fault, ProviderFault::TimedOut);
}

#[tokio::test]
async fn speech_is_streamed_and_brought_to_the_lines_rate() {
    // A second of 500 Hz at 24 kHz, in chunks that cut samples.
    let samples: Vec<u8> = (0..24_000)
        .flat_map(|at| {
            (((f64::from(at) * 500.0 * std::f64::consts::TAU / 24_000.0).sin() * 8000.0) as i16).to_le_bytes()
        })
        .collect();
    let log = Log::new();
    let told = log.clone();
    let server = Server::http(move |request, mut to| {
        let (samples, log) = (samples.clone(), told.clone());
        async move {
            assert_eq!(request.path, "/v1/audio/speech");
            assert_eq!(
                request.json(),
                json!({"model": "tts-1", "input": "Hello.", "voice": "alloy", "response_format": "pcm"})
            );
            to.begin("audio/pcm").await;
            for piece in samples.chunks(1001) {
                to.raw(piece).await;
            }
            log.add("sent");
        }
    })
    .await;
    let synthesiser = synthesiser(&section(&server.url));
    let mut speaking = speak(&*synthesiser, "Hello.").await.unwrap();
    let heard = hear(&mut *speaking).await.unwrap();
    assert_eq!(heard.len(), 8000);
    let crossings = heard.windows(2).filter(|two| two[0] < 0 && two[1] >= 0).count();
    assert!(crossings.abs_diff(500) <= 2, "{crossings} waves of 500");
}

#[tokio::test]
async fn dropped_speech_hangs_up_and_a_stall_is_a_failure() {
    let log = Log::new();
    let told = log.clone();
    let server = Server::http(move |_, mut to| {
        let log = told.clone();
        async move {
            to.begin("audio/pcm").await;
            to.raw(&[1; 9600]).await;
            to.hung_up().await;
            log.add("hung up");
        }
    })
    .await;
    let mut section = section(&server.url);
    let mut speaking = speak(&*synthesiser(&section), "Hello.").await.unwrap();
    assert!(matches!(soon(speaking.next()).await, Some(Ok(_))));
    drop(speaking);
    log.seen(|line| line == "hung up").await;
    section.timeout = Duration::from_millis(200);
    let mut speaking = speak(&*synthesiser(&section), "Hello.").await.unwrap();
    assert_eq!(hear(&mut *speaking).await.unwrap_err().fault, ProviderFault::TimedOut);
    let refusing = Server::answering(answer(429, "{}")).await;
    section.base_url = Some(refusing.url.clone());
    assert_eq!(speak(&*synthesiser(&section), "Hello.").await.err().unwrap().fault, ProviderFault::Limited);
}

#[tokio::test]
async fn the_list_of_models_is_the_check() {
    let server = Server::http(|request, mut to| async move {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/v1/models"));
        assert_eq!(request.header("authorization"), "Bearer hush-hush");
        to.whole(200, "application/json", br#"{"data":[{"id":"a"},{"id":"b"}]}"#).await;
    })
    .await;
    assert_eq!(soon(recogniser(&section(&server.url)).check()).await.as_deref(), Ok("reached; 2 models"));
    let bare = Server::answering(answer(404, "{}")).await;
    assert!(soon(synthesiser(&section(&bare.url)).check()).await.is_ok());
    let refusing = Server::answering(answer(401, "{}")).await;
    assert_eq!(
        soon(synthesiser(&section(&refusing.url)).check()).await.unwrap_err().fault,
        ProviderFault::Forbidden
    );
}

//! Speech and language providers that answer at once, so that the time of a turn is the service's own. They
//! use the OpenAI-compatible protocol over HTTP, so the service reaches them like real ones.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::sound;

/// The recognised text of every turn: a complete answer, so that the shortest silence ends the turn.
const WORDS: &str = "Yes, please.";
/// What the agent says.
const REPLY: &str = "All right, I will write that down for you.";
/// Sample rate of the speech, in hertz.
const RATE: usize = 24_000;

/// The providers, in this process.
pub struct Loopback {
    /// `http://127.0.0.1:port/v1`
    pub base: String,
    asked: Arc<Mutex<Vec<Instant>>>,
}

#[derive(Clone)]
struct Shared {
    asked: Arc<Mutex<Vec<Instant>>>,
    spoken: Bytes,
}

impl Loopback {
    /// Starts them; speaking a sentence takes `sentence`.
    pub async fn start(sentence: Duration) -> Result<Self, String> {
        let asked = Arc::default();
        let samples = (sentence.as_secs_f64() * RATE as f64) as usize;
        let spoken: Vec<u8> = sound::voice(samples, RATE).into_iter().flat_map(i16::to_le_bytes).collect();
        let shared = Shared { asked: Arc::clone(&asked), spoken: spoken.into() };
        let router = axum::Router::new()
            .route("/v1/models", get(|| async { json_of(&json!({"data": []})) }))
            .route("/v1/audio/transcriptions", post(|_: Bytes| async { json_of(&json!({"text": WORDS})) }))
            .route("/v1/audio/speech", post(speech))
            .route("/v1/chat/completions", post(completions))
            .route("/hook", post(|_: Bytes| async { "" }))
            // A long turn is a large file.
            .layer(axum::extract::DefaultBodyLimit::max(16 << 20))
            .with_state(shared);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|why| why.to_string())?;
        let address = listener.local_addr().map_err(|why| why.to_string())?;
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { base: format!("http://{address}/v1"), asked })
    }

    /// When the model was asked, since the last call of this.
    pub fn asked(&self) -> Vec<Instant> {
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn json_of(value: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

async fn speech(State(shared): State<Shared>, _: Bytes) -> Response {
    ([(CONTENT_TYPE, "audio/pcm")], shared.spoken).into_response()
}

async fn completions(State(shared): State<Shared>, body: Bytes) -> Response {
    let now = Instant::now();
    let streamed = serde_json::from_slice::<Value>(&body).is_ok_and(|body| body["stream"] == true);
    if !streamed {
        let analysis = json!({"summary": "They agreed.", "outcome": "interested", "sentiment": "positive", "extracted": {}}).to_string();
        return json_of(
            &json!({"choices": [{"message": {"role": "assistant", "content": analysis}, "finish_reason": "stop"}]}),
        );
    }
    shared.asked.lock().unwrap_or_else(PoisonError::into_inner).push(now);
    let piece = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": REPLY}}]});
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    ([(CONTENT_TYPE, "text/event-stream")], format!("data: {piece}\n\ndata: {last}\n\ndata: [DONE]\n\n"))
        .into_response()
}

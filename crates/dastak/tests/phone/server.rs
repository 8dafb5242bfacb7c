//! A server of speech and language on a local port that answers as a test says.

use std::future::Future;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request; its body is null unless it is JSON.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    pub body: Value,
}

/// The content type and the body of an answer; with none the connection is closed without one.
pub type Answer = Option<(&'static str, Vec<u8>)>;

/// The server.
pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub async fn start<F: Future<Output = Answer> + Send + 'static>(
        answer: impl Fn(Asked) -> F + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let (asked, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer));
        let kept = asked.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, kept) = (answer.clone(), kept.clone());
                tokio::spawn(async move { serve(stream, &*answer, &kept).await });
            }
        });
        Self { url, asked }
    }

    pub fn asked(&self, path: &str) -> Vec<Asked> {
        self.asked.lock().unwrap().iter().filter(|asked| asked.path.ends_with(path)).cloned().collect()
    }
}

/// One request of a connection.
async fn serve<F: Future<Output = Answer>>(
    mut stream: TcpStream,
    answer: &impl Fn(Asked) -> F,
    kept: &Mutex<Vec<Asked>>,
) {
    let Some(asked) = read(&mut stream).await else { return };
    kept.lock().unwrap().push(asked.clone());
    let Some((kind, body)) = answer(asked).await else { return };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(&[head.as_bytes(), &body].concat()).await;
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        stream.read_buf(&mut bytes).await.ok().filter(|count| *count > 0)?;
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).to_ascii_lowercase();
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0);
    while bytes.len() < head_end + 4 + length {
        stream.read_buf(&mut bytes).await.ok().filter(|count| *count > 0)?;
    }
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    Some(Asked { path, body: serde_json::from_slice(&bytes[head_end + 4..]).unwrap_or(Value::Null) })
}

/// A streamed turn of a model: its words, then the functions it calls with their arguments.
pub fn turn(words: &str, calls: &[(&str, Value)]) -> Answer {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "choices": choice}))
    };
    let mut stream = String::new();
    for word in words.split_inclusive(' ') {
        stream.push_str(&chunk(json!({"content": word}), Value::Null));
    }
    for (index, (name, arguments)) in calls.iter().enumerate() {
        let call = json!({"index": index, "id": format!("call_{index}"), "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
        stream.push_str(&chunk(json!({"tool_calls": [call]}), Value::Null));
    }
    stream.push_str(&chunk(json!({}), json!(if calls.is_empty() { "stop" } else { "tool_calls" })));
    stream.push_str("data: [DONE]\n\n");
    Some(("text/event-stream", stream.into_bytes()))
}

/// A whole answer of a model.
pub fn whole(content: &Value) -> Answer {
    let message = json!({"role": "assistant", "content": content.to_string()});
    let body = json!({"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    Some(("application/json", body.to_string().into_bytes()))
}

/// What a speaker was heard to say.
pub fn words(said: &str) -> Answer {
    Some(("application/json", json!({"text": said}).to_string().into_bytes()))
}

/// A recogniser that understands every turn as these words: what is tested is when turns end, not what is in
/// them. The settings that use it.
pub async fn understood_as(said: &'static str) -> (Server, [(&'static str, String); 3]) {
    let server = Server::start(move |_| async move { words(said) }).await;
    let url = server.url.clone();
    (
        server,
        [
            ("speech.to_text", "openai, offline".to_owned()),
            ("speech.openai.base_url", url),
            ("speech.openai.resident", "true".to_owned()),
        ],
    )
}

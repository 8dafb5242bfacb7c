//! The adapter: requests, and which fields a server has refused.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use domain::document::Reading;
use domain::evaluation::Grades;
use domain::ports::{
    Analysis, AnalysisOrder, Answer, DetailOrder, DetailReader, GradeOrder, LanguageModel, ProviderError,
    TalkOrder, Talking,
};
use http::StatusCode;
use serde_json::{Value, json};

use super::request::{Names, functions, messages};
use super::turn::Turn;
use super::{analysis, document, grading};
use crate::http::{Body, Net, Peer, status_error};
use crate::settings;
use crate::speech::list_models;

/// Largest answer that is read, bytes.
const MOST_ANSWER: usize = 1 << 20;
/// Time for an analysis, which runs after the call, when no caller waits.
const ANALYSIS_TIMEOUT: Duration = Duration::from_secs(60);
/// Time for reading a document, for which a customer waits.
const READING_TIMEOUT: Duration = Duration::from_secs(30);

/// A service that speaks OpenAI-compatible chat completions: hosted, or vLLM, llama.cpp, SGLang, Ollama and
/// the like.
pub struct OpenAi(Arc<Inner>);

struct Inner {
    peer: Peer,
    model: String,
    temperature: f64,
    max_tokens: u32,
    resident: bool,
    learned: Learned,
}

/// Fields that the server has refused; they are not sent again.
#[derive(Default)]
struct Learned {
    /// It wants `max_completion_tokens` instead of `max_tokens`.
    completion_tokens: AtomicBool,
    /// It takes no `temperature`.
    no_temperature: AtomicBool,
    /// How JSON is requested: 0 by schema, 1 as any object, 2 by the prompt only.
    json: AtomicU8,
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("peer", &self.0.peer)
            .field("model", &self.0.model)
            .finish_non_exhaustive()
    }
}

impl OpenAi {
    /// The service of a section.
    ///
    /// # Errors
    /// The setting that is wrong and why; never a secret.
    pub fn new(section: &settings::LanguageModel, net: &Net) -> Result<Self, String> {
        if section.model.trim().is_empty() {
            return Err(format!("{}: model: must be the name of a model of the service", section.name));
        }
        let key = section.api_key.as_str();
        let credentials = (!key.is_empty()).then(|| ("authorization", format!("Bearer {key}")));
        let peer = Peer::new(net, &section.name, &section.base_url, section.timeout, credentials.as_slice())?;
        let resident = section.resident.unwrap_or_else(|| peer.base.is_resident());
        let (model, temperature, max_tokens) =
            (section.model.clone(), section.temperature, section.max_tokens);
        Ok(Self(Arc::new(Inner {
            peer,
            model,
            temperature,
            max_tokens,
            resident,
            learned: Learned::default(),
        })))
    }
}

impl LanguageModel for OpenAi {
    fn name(&self) -> &str {
        &self.0.peer.name
    }

    fn resident(&self) -> bool {
        self.0.resident
    }

    fn talk(&self, order: TalkOrder) -> Answer<'_, Result<Box<dyn Talking>, ProviderError>> {
        Box::pin(async move {
            let names = Names::of(&order);
            let mut body = json!({"messages": messages(&order, &names), "stream": true, "tools": functions(&order, &names)});
            if self.0.max_tokens > 0 {
                body["max_tokens"] = json!(self.0.max_tokens);
            }
            let answer = self.0.complete(&self.0.peer, body).await?;
            Ok(Box::new(Turn::new(self.0.peer.clone(), answer, names, order.spoken)) as Box<dyn Talking>)
        })
    }

    fn analyse(&self, order: AnalysisOrder) -> Answer<'_, Result<Analysis, ProviderError>> {
        Box::pin(async move {
            let mut peer = self.0.peer.clone();
            peer.timeout = peer.timeout.max(ANALYSIS_TIMEOUT);
            let mut body = json!({"messages": analysis::messages(&order), "stream": false});
            body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "analysis", "schema": analysis::schema(&order)}});
            let answer = self.0.complete(&peer, body).await?.whole(MOST_ANSWER).await?;
            let answer: Value =
                serde_json::from_slice(&answer).map_err(|_| peer.broken("an answer that is not JSON"))?;
            let text = answer["choices"][0]["message"]["content"].as_str().unwrap_or_default();
            analysis::read(text, &order)
                .ok_or_else(|| peer.broken("an analysis that is not the JSON that was asked for"))
        })
    }

    fn grade(&self, order: GradeOrder) -> Answer<'_, Result<Grades, ProviderError>> {
        Box::pin(async move {
            let mut peer = self.0.peer.clone();
            peer.timeout = peer.timeout.max(ANALYSIS_TIMEOUT);
            let mut body = json!({"messages": grading::messages(&order), "stream": false});
            body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "grades", "schema": grading::schema(&order.criteria)}});
            let answer = self.0.complete(&peer, body).await?.whole(MOST_ANSWER).await?;
            let answer: Value =
                serde_json::from_slice(&answer).map_err(|_| peer.broken("an answer that is not JSON"))?;
            let text = answer["choices"][0]["message"]["content"].as_str().unwrap_or_default();
            let grades = grading::read(text, &order.criteria)
                .ok_or_else(|| peer.broken("grades that are not the JSON that was asked for"))?;
            Ok(Grades { model: self.0.model.clone(), grades })
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(list_models(&self.0.peer))
    }
}

impl DetailReader for OpenAi {
    fn name(&self) -> &str {
        &self.0.peer.name
    }

    fn resident(&self) -> bool {
        self.0.resident
    }

    fn read(&self, order: DetailOrder) -> Answer<'_, Result<Option<Reading>, ProviderError>> {
        Box::pin(async move {
            let mut peer = self.0.peer.clone();
            peer.timeout = peer.timeout.max(READING_TIMEOUT);
            let messages = document::messages(&order);
            let mut body = json!({"messages": messages, "stream": false});
            body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "document", "schema": document::schema(&order)}});
            let answer = self.0.complete(&peer, body).await?.whole(MOST_ANSWER).await?;
            let answer: Value =
                serde_json::from_slice(&answer).map_err(|_| peer.broken("an answer that is not JSON"))?;
            let text = answer["choices"][0]["message"]["content"].as_str().unwrap_or_default();
            let reading = document::read(text, &order);
            reading.map(Some).ok_or_else(|| peer.broken("a report that is not the JSON that was asked for"))
        })
    }
}

impl Inner {
    /// Requests a completion, and retries without each optional field that the server refuses.
    async fn complete(&self, peer: &Peer, mut body: Value) -> Result<Body, ProviderError> {
        body["model"] = json!(self.model);
        body["temperature"] = json!(self.temperature);
        let path = peer.base.path_and_query("/chat/completions", &[]);
        loop {
            let sent = self.learned.applied(body.clone());
            let answer = peer.post_json(&path, &sent).await?;
            let status = answer.status();
            if status.is_success() {
                return Ok(answer);
            }
            let refusal = answer.whole(64 * 1024).await.unwrap_or_default();
            let curable = matches!(
                status,
                StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY | StatusCode::NOT_IMPLEMENTED
            );
            if !(curable && self.learned.learn(&sent, &String::from_utf8_lossy(&refusal))) {
                return Err(status_error(&peer.name, status, &refusal));
            }
        }
    }
}

impl Learned {
    /// The request in the form that this server accepts.
    fn applied(&self, mut body: Value) -> Value {
        let Value::Object(fields) = &mut body else { return body };
        if self.completion_tokens.load(Ordering::Relaxed)
            && let Some(most) = fields.shift_remove("max_tokens")
        {
            fields.insert("max_completion_tokens".to_owned(), most);
        }
        if self.no_temperature.load(Ordering::Relaxed) {
            fields.shift_remove("temperature");
        }
        if fields.contains_key("response_format") {
            match self.json.load(Ordering::Relaxed) {
                0 => {}
                1 => {
                    fields.insert("response_format".to_owned(), json!({"type": "json_object"}));
                }
                _ => {
                    fields.shift_remove("response_format");
                }
            }
        }
        body
    }

    /// Whether the refusal names a field that was sent and can be left out. It is true at most once per field, so the
    /// retries end.
    fn learn(&self, sent: &Value, refusal: &str) -> bool {
        if sent.get("max_tokens").is_some() && refusal.contains("max_tokens") {
            return !self.completion_tokens.swap(true, Ordering::Relaxed);
        }
        if sent.get("temperature").is_some() && refusal.contains("temperature") {
            return !self.no_temperature.swap(true, Ordering::Relaxed);
        }
        // Servers name this field in many ways, or not at all.
        if let Some(format) = sent.get("response_format") {
            let next = if format["type"] == "json_schema" { 1 } else { 2 };
            self.json.fetch_max(next, Ordering::Relaxed);
            return true;
        }
        false
    }
}

//! Embeddings of texts, from an OpenAI-compatible service: hosted, or vLLM, llama.cpp, Ollama,
//! text-embeddings-inference and the like (docs/providers.md).
//!
//! Queries and passages are requested separately: a query has a short deadline, because somebody waits for the answer,
//! and a breaker of its own, so that a service which is too slow for queries still gets the passages.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::ports::{ProviderError, ProviderFault};
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use crate::chain::{Breaker, BreakerLimits, Check, FAULTS, Figure, Role};
use crate::http::{Monotonic, Net, Peer};
use crate::settings;
use crate::speech::list_models;

/// Most bytes of an answer for one text: 4,096 numbers in their longest usual form.
const BYTES_A_TEXT: usize = 128 * 1024;
/// Most numbers of a vector.
pub const MAX_DIMENSIONS: usize = 4096;

/// The service. Clones share connections, breakers and counters.
#[derive(Clone)]
pub struct Embeddings(Arc<Inner>);

struct Inner {
    peer: Peer,
    model: String,
    dimensions: Option<usize>,
    batch: usize,
    resident: bool,
    questions: Counted,
    passages: Counted,
}

/// One kind of request: its breaker, and its counters.
struct Counted {
    role: Role,
    breaker: Breaker,
    asked: AtomicU64,
    answered: AtomicU64,
    faults: [AtomicU64; FAULTS.len()],
}

impl Counted {
    fn new(role: Role, limits: BreakerLimits, clock: &Monotonic) -> Self {
        Self {
            role,
            breaker: Breaker::new(limits, clock.clone()),
            asked: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            faults: Default::default(),
        }
    }

    fn ended(&self, outcome: Result<(), &ProviderError>) {
        match outcome {
            Ok(()) => {
                self.answered.fetch_add(1, Ordering::Relaxed);
                self.breaker.succeeded(None);
            }
            Err(error) => {
                if let Some(at) = FAULTS.iter().position(|fault| *fault == error.fault) {
                    self.faults[at].fetch_add(1, Ordering::Relaxed);
                }
                // A refused request is not the service's fault: other texts may be accepted.
                if error.fault != ProviderFault::Refused {
                    self.breaker.failed(None);
                }
            }
        }
    }

    fn figure(&self, provider: &str) -> Figure {
        let count =
            |(fault, counter): (&ProviderFault, &AtomicU64)| (*fault, counter.load(Ordering::Relaxed));
        Figure {
            role: self.role,
            provider: provider.to_owned(),
            asked: self.asked.load(Ordering::Relaxed),
            answered: self.answered.load(Ordering::Relaxed),
            faults: FAULTS.iter().zip(&self.faults).map(count).filter(|(_, count)| *count > 0).collect(),
            open: self.breaker.is_open(),
        }
    }
}

impl fmt::Debug for Embeddings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embeddings")
            .field("peer", &self.0.peer)
            .field("model", &self.0.model)
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Embeddings {
    /// The service of the section.
    ///
    /// # Errors
    /// The setting that is wrong and why; never a secret.
    pub fn new(
        section: &settings::Embeddings,
        net: &Net,
        limits: BreakerLimits,
        clock: &Monotonic,
    ) -> Result<Self, String> {
        let key = section.api_key.as_str();
        let credentials = (!key.is_empty()).then(|| ("authorization", format!("Bearer {key}")));
        let peer = Peer::new(net, "embeddings", &section.url, section.timeout, credentials.as_slice())?;
        let resident = section.resident.unwrap_or_else(|| peer.base.is_resident());
        Ok(Self(Arc::new(Inner {
            peer,
            model: section.model.clone(),
            dimensions: section.dimensions,
            batch: section.batch.max(1),
            resident,
            questions: Counted::new(Role::Questions, limits, clock),
            passages: Counted::new(Role::Passages, limits, clock),
        })))
    }

    /// The name stored with vectors of this service: those of another model, or of another length, are not comparable.
    pub fn model(&self) -> String {
        match self.0.dimensions {
            None => self.0.model.clone(),
            Some(dimensions) => format!("{}#{dimensions}", self.0.model),
        }
    }

    /// Most passages in one request.
    pub fn batch(&self) -> usize {
        self.0.batch
    }

    /// Whether its data stays in India.
    pub fn resident(&self) -> bool {
        self.0.resident
    }

    /// The vector of a query, within `deadline`; `None` while the breaker is open.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn question(&self, text: &str, deadline: Duration) -> Result<Option<Vec<f32>>, ProviderError> {
        let asking = async {
            let mut peer = self.0.peer.clone();
            peer.timeout = deadline;
            let late = || peer.timed_out("question");
            timeout(deadline, self.ask(&peer, &[text])).await.unwrap_or_else(|_| Err(late()))
        };
        let vectors = counted(&self.0.questions, asking).await?;
        Ok(vectors.and_then(|mut vectors| vectors.pop()))
    }

    /// The vectors of at most [`Embeddings::batch`] passages, in their order; `None` while the breaker is open.
    ///
    /// # Errors
    /// Why there are none. A refusal ([`ProviderFault::Refused`]) is about these texts.
    pub async fn passages(&self, texts: &[&str]) -> Result<Option<Vec<Vec<f32>>>, ProviderError> {
        counted(&self.0.passages, self.ask(&self.0.peer, texts)).await
    }

    async fn ask(&self, peer: &Peer, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let mut body = json!({"model": self.0.model, "input": texts});
        if let Some(dimensions) = self.0.dimensions {
            body["dimensions"] = json!(dimensions);
        }
        let path = peer.base.path_and_query("/embeddings", &[]);
        let answer = peer.post_json(&path, &body).await?.accepted().await?;
        let bytes = answer.whole(BYTES_A_TEXT * texts.len() + BYTES_A_TEXT).await?;
        let answer: Answer = serde_json::from_slice(&bytes)
            .map_err(|_| peer.broken("an answer that is not a list of vectors"))?;
        in_order(answer.data, texts.len(), self.0.dimensions).map_err(|why| peer.broken(why))
    }

    /// Whether it can be used, with a short description for a person.
    pub async fn check(&self) -> Check {
        let outcome = match list_models(&self.0.peer).await {
            Err(error) => Err(error),
            Ok(reached) => self.ask(&self.0.peer, &["namaste"]).await.map(|vectors| {
                format!("{reached}; vectors of {} numbers", vectors.first().map_or(0, Vec::len))
            }),
        };
        Check { name: self.0.model.clone(), role: Role::Questions, outcome }
    }

    /// Counters since the start.
    pub fn figures(&self) -> impl Iterator<Item = Figure> {
        [&self.0.questions, &self.0.passages].map(|counted| counted.figure(&self.0.peer.name)).into_iter()
    }
}

/// Runs it unless the breaker is open, and reports the outcome to the breaker.
async fn counted<T>(
    counted: &Counted,
    asking: impl Future<Output = Result<T, ProviderError>>,
) -> Result<Option<T>, ProviderError> {
    if !counted.breaker.admits(None) {
        return Ok(None);
    }
    counted.asked.fetch_add(1, Ordering::Relaxed);
    let answer = asking.await;
    counted.ended(answer.as_ref().map(|_| ()));
    answer.map(Some)
}

/// The vectors in the order of the texts. Entries without an index keep their order.
fn in_order(entries: Vec<Entry>, texts: usize, dimensions: Option<usize>) -> Result<Vec<Vec<f32>>, String> {
    if entries.len() != texts {
        return Err(format!("{} vectors for {texts} texts", entries.len()));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (at, entry) in entries.into_iter().enumerate() {
        let place = vectors.get_mut(entry.index.unwrap_or(at)).filter(|place| place.is_none());
        *place.ok_or("indexes that are not those of the texts")? = Some(entry.embedding);
    }
    let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
    let length = dimensions.unwrap_or_else(|| vectors.first().map_or(0, Vec::len));
    if length == 0 || length > MAX_DIMENSIONS {
        return Err(format!("vectors of {length} numbers; allowed are 1 to {MAX_DIMENSIONS}"));
    }
    for vector in &vectors {
        if vector.len() != length {
            return Err(format!("a vector of {} numbers instead of {length}", vector.len()));
        }
        if !vector.iter().all(|number| number.is_finite()) || vector.iter().all(|number| *number == 0.0) {
            return Err("a vector without a direction".to_owned());
        }
    }
    Ok(vectors)
}

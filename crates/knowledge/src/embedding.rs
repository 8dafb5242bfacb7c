//! Embeddings (docs/knowledge.md#vectors): a job makes those of passages in the background; a search requests that of
//! its query, with a short deadline. After any failure, words alone decide, and nobody waits.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use app::{App, Failure};
use domain::ids::{Id, KnowledgeBase};
use domain::ports::{ProviderError, ProviderFault};
use domain::tenant::Tenant;
use domain::time::{HOUR, MINUTE, SECOND, Timestamp};
use providers::embeddings::Embeddings;
use retrieval::vectors::{Code, Vectors};
use runtime::metrics::WithoutVectors;
use store::vectors::{self, WantingRow};
use store::{DbError, Store};

/// Longest wait for the vector of a query: somebody may be on the line.
const QUESTION: Duration = Duration::from_millis(150);
/// Longest query that is sent, characters.
const MAX_QUESTION: usize = 2_000;
/// Longest passage that is sent, characters; the rest is truncated.
const MAX_PASSAGE: usize = 8_000;
/// Nearest passages that are considered.
pub(crate) const NEAREST: usize = 50;
/// Lease of a node on a base whose vectors it makes.
const LEASE: i64 = 5 * MINUTE;
/// First backoff after a failure; it doubles up to [`LONGEST`].
const AGAIN: i64 = 10 * SECOND;
const LONGEST: i64 = HOUR;
/// Requests for one base before another one is served.
const REQUESTS: usize = 50;
/// Bases in one round.
const BASES: i64 = 20;
/// Vectors that one read takes.
const READ: i64 = 2_000;
/// How long the cached state counts as fresh.
const FRESH: i64 = SECOND;
/// Sets of more vectors than this are compared on a blocking thread.
const FEW: usize = 2_000;

/// The vectors cached by this node.
#[derive(Default)]
struct Memory {
    bases: Mutex<HashMap<Id<KnowledgeBase>, Kept>>,
    uses: AtomicU64,
}

/// The cache entry of one base.
#[derive(Default)]
struct Kept {
    /// Version up to which they are complete; `None` before they were read.
    version: Option<i64>,
    set: Arc<Vectors<i64>>,
    used: u64,
    looked_at: Option<Timestamp>,
    /// A read is in progress.
    reading: bool,
}

impl Memory {
    fn bases(&self) -> MutexGuard<'_, HashMap<Id<KnowledgeBase>, Kept>> {
        self.bases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The vectors of a base, and whether the caller should refresh them.
    fn get(&self, base: Id<KnowledgeBase>, now: Timestamp) -> (Arc<Vectors<i64>>, bool) {
        let mut bases = self.bases();
        let kept = bases.entry(base).or_default();
        kept.used = self.uses.fetch_add(1, Ordering::Relaxed);
        let old = kept.looked_at.is_none_or(|at| at.plus(FRESH) <= now);
        let look = old && !kept.reading;
        kept.reading |= look;
        (kept.set.clone(), look)
    }

    /// Caches what was read, and evicts the least recently used beyond the room.
    fn put(&self, base: Id<KnowledgeBase>, now: Timestamp, read: Option<(i64, Vectors<i64>)>, room: usize) {
        let mut bases = self.bases();
        let kept = bases.entry(base).or_default();
        (kept.reading, kept.looked_at) = (false, Some(now));
        if let Some((version, set)) = read {
            kept.version = Some(version);
            kept.set = Arc::new(set);
        }
        let mut all: usize = bases.values().map(|kept| kept.set.bytes()).sum();
        while all > room || bases.len() > MOST_BASES {
            let oldest = bases.iter().filter(|(_, kept)| !kept.reading).min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(id, _)| *id) else { return };
            all -= bases.remove(&oldest).map_or(0, |kept| kept.set.bytes());
        }
    }

    fn version(&self, base: Id<KnowledgeBase>) -> Option<i64> {
        self.bases().get(&base).and_then(|kept| kept.version)
    }
}

/// Cached entries, those without vectors among them.
const MOST_BASES: usize = 10_000;

/// The passages of a base whose vectors are nearest to that of the query, nearest first; `None` where words alone
/// decide.
pub(crate) async fn nearest(
    app: &App,
    tenant: Tenant,
    base: Id<KnowledgeBase>,
    question: &str,
) -> Option<Vec<u64>> {
    let service = app.speech.embeddings.as_ref()?;
    let alone = |why| {
        app.metrics.without_vectors(why);
        None
    };
    let memory: Arc<Memory> = app.state.of(Memory::default);
    let (set, look) = memory.get(base, app.clock.now());
    if look {
        let (store, model, clock) = (app.store.clone(), service.model(), app.clock.clone());
        let room = app.config.providers.vector_memory;
        let memory = memory.clone();
        // It outlives a cancelled search, so that the next one finds them.
        app.clock.spawn(async move {
            let known = memory.version(base);
            let read = read(&store, tenant, base, &model, known, room).await;
            if let Err(why) = &read {
                tracing::warn!(%base, %why, "the vectors of a knowledge base could not be read");
            }
            memory.put(base, clock.now(), read.unwrap_or(None), room);
        });
    }
    if set.is_empty() {
        return alone(WithoutVectors::NotThere);
    }
    let question: String = question.chars().take(MAX_QUESTION).collect();
    // Not in `Clock::outside`: most searches are not counted by the clock, and counted ones wait for a moment only.
    let vector = match service.question(&question, QUESTION).await {
        Ok(Some(vector)) => vector,
        Ok(None) => return alone(WithoutVectors::PassedOver),
        Err(why) => {
            tracing::debug!(fault = ?why.fault, "a question has no vector");
            return alone(if why.fault == ProviderFault::TimedOut {
                WithoutVectors::Late
            } else {
                WithoutVectors::Failed
            });
        }
    };
    let Some(code) = Code::of(&vector).filter(|code| code.dimensions() == set.dimensions()) else {
        return alone(WithoutVectors::Failed);
    };
    let compare =
        move || set.nearest(&code, NEAREST).into_iter().map(|(number, _)| number.unsigned_abs()).collect();
    if set_is_small(&memory, base) {
        return Some(compare());
    }
    match runtime::blocking::run(compare).await {
        Ok(found) => Some(found),
        Err(_) => alone(WithoutVectors::Failed),
    }
}

fn set_is_small(memory: &Memory, base: Id<KnowledgeBase>) -> bool {
    memory.bases().get(&base).is_some_and(|kept| kept.set.len() <= FEW)
}

/// The vectors of a base, if they are complete up to another version than the cached one. A base that is larger than
/// the cache has none.
async fn read(
    store: &Store,
    tenant: Tenant,
    base: Id<KnowledgeBase>,
    model: &str,
    known: Option<i64>,
    room: usize,
) -> Result<Option<(i64, Vectors<i64>)>, DbError> {
    let named = model.to_owned();
    let version = store.of(tenant).read(move |tx| vectors::complete_to(tx, base, &named)).await?;
    let Some(version) = version.filter(|version| Some(*version) != known) else { return Ok(None) };
    let (mut set, mut after) = (Vectors::default(), 0);
    loop {
        let named = model.to_owned();
        let rows =
            store.of(tenant).read_long(move |tx| vectors::of_base(tx, base, &named, after, READ)).await?;
        let Some((last, _)) = rows.last() else { return Ok(Some((version, set))) };
        after = *last;
        for (number, bytes) in rows {
            if let Some(code) = Code::from_bytes(&bytes) {
                set.add(number, &code);
            }
        }
        if set.bytes() > room {
            tracing::warn!(%base, "the vectors of a knowledge base do not fit into knowledge.embeddings.memory_mb; it is searched by words alone");
            return Ok(Some((version, Vectors::default())));
        }
    }
}

/// Makes vectors for bases that lack some, a bounded part. Returns when to run again; `None` when none are pending.
pub async fn embed(app: &App) -> Result<Option<Timestamp>, Failure> {
    let Some(service) = app.speech.embeddings.clone() else { return Ok(None) };
    let model = service.model();
    let named = model.clone();
    let wanting = app.store.read(move |tx| vectors::wanting(tx, &named, BASES)).await?;
    app.metrics.bases_without_vectors(wanting.len());
    let mut next: Option<Timestamp> = None;
    for row in wanting {
        let now = app.clock.now();
        let due = if row.next_at > now { row.next_at } else { work_at(app, &service, &model, row).await? };
        next = Some(next.map_or(due, |next| next.min(due)));
    }
    Ok(next)
}

/// Makes vectors for one base; returns when to continue.
async fn work_at(
    app: &App,
    service: &Embeddings,
    model: &str,
    row: WantingRow,
) -> Result<Timestamp, Failure> {
    let (tenant, base) = (row.workspace, row.base);
    let now = app.clock.now();
    let claimed = app.of(tenant).tx(move |tx| vectors::claim(tx, base, now, now.plus(LEASE))).await?;
    if !claimed {
        return Ok(now.plus(LEASE));
    }
    for _ in 0..REQUESTS {
        let (named, batch) = (model.to_owned(), service.batch() as i64);
        let missing = app.of(tenant).read(move |tx| vectors::missing(tx, base, &named, 0, batch)).await?;
        let now = app.clock.now();
        if missing.is_empty() {
            let (named, version) = (model.to_owned(), row.version);
            app.of(tenant).tx(move |tx| vectors::complete(tx, base, &named, version, now)).await?;
            // It may have grown meanwhile.
            return Ok(now);
        }
        let numbers: Vec<i64> = missing.iter().map(|(number, ..)| *number).collect();
        let texts: Vec<String> =
            missing.into_iter().map(|(_, heading, content)| text_of(heading, content)).collect();
        let made = match make(app, service, &texts).await {
            Ok(Some(made)) => made,
            // Skipped: the breaker admits a request after its pause.
            Ok(None) => return put_off(app, tenant, base, now.plus(30 * SECOND), false).await,
            Err(why) => {
                tracing::warn!(%base, fault = ?why.fault, detail = why.detail, "vectors of passages could not be made yet");
                let doublings = u32::try_from(row.failures.clamp(0, 10)).unwrap_or(0);
                let wait = AGAIN.saturating_mul(1 << doublings).min(LONGEST);
                return put_off(app, tenant, base, now.plus(wait), true).await;
            }
        };
        app.metrics.vectors_made(made.len());
        let named = model.to_owned();
        app.store
            .tx(move |tx| {
                for (number, vector) in numbers.iter().zip(&made) {
                    vectors::save(&mut tx.of(tenant), base, *number, &named, vector)?;
                }
                vectors::put_off(&mut tx.of(tenant), base, now.plus(LEASE), false)
            })
            .await?;
    }
    // Others are served first; this one continues after them.
    let now = app.clock.now();
    put_off(app, tenant, base, now, false).await
}

async fn put_off(
    app: &App,
    tenant: Tenant,
    base: Id<KnowledgeBase>,
    until: Timestamp,
    failed: bool,
) -> Result<Timestamp, Failure> {
    app.of(tenant).tx(move |tx| vectors::put_off(tx, base, until, failed)).await?;
    Ok(until)
}

/// The text that is sent of a passage: with its headings.
fn text_of(heading: Option<String>, content: String) -> String {
    let whole = match heading {
        Some(heading) => format!("{heading}\n{content}"),
        None => content,
    };
    match whole.char_indices().nth(MAX_PASSAGE) {
        Some((end, _)) => whole[..end].to_owned(),
        None => whole,
    }
}

/// The vectors of some texts as bytes. A text that the service refuses by itself has none, which is stored, too, so
/// that it is not requested again and again.
async fn make(
    app: &App,
    service: &Embeddings,
    texts: &[String],
) -> Result<Option<Vec<Vec<u8>>>, ProviderError> {
    let bytes = |vector: &Vec<f32>| Code::of(vector).map_or_else(Vec::new, |code| code.to_bytes());
    let ask = async |texts: &[String]| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        app.clock.outside(service.passages(&texts)).await
    };
    match ask(texts).await {
        Ok(made) => Ok(made.map(|made| made.iter().map(bytes).collect())),
        Err(why) if why.fault == ProviderFault::Refused && texts.len() > 1 => {
            let (mut made, mut refused) = (Vec::new(), 0);
            for text in texts {
                match ask(std::slice::from_ref(text)).await {
                    Ok(Some(vectors)) => made.extend(vectors.iter().map(bytes)),
                    Ok(None) => return Ok(None),
                    Err(why) if why.fault == ProviderFault::Refused => {
                        refused += 1;
                        made.push(Vec::new());
                    }
                    Err(why) => return Err(why),
                }
            }
            // A service that refuses everything does not refuse these texts.
            if refused == texts.len() { Err(why) } else { Ok(Some(made)) }
        }
        Err(why) => Err(why),
    }
}

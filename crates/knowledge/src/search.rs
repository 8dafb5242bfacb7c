//! Search: the passages for a question (docs/contract/knowledge-bases.md#search), the same for requests and for
//! conversations.

use std::collections::{HashMap, HashSet};

use api::knowledge_bases::KnowledgeHit;
use app::{App, Failure};
use domain::ids::{Agent, Id, KnowledgeBase};
use domain::knowledge::SourceKind;
use domain::tenant::Tenant;
use retrieval::Ranked;
use store::knowledge::{self, BaseRow, FoundRow};

use crate::bases::missing;
use crate::embedding::{NEAREST, nearest};
use crate::shelf;

/// Passages for a conversation.
pub const PASSAGES: usize = 5;

/// Retries on a base that changes all the time; the last one leaves out what is gone.
const LOOKS: usize = 5;

/// A hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub content: String,
    /// Its score, from 0 to 1 (docs/knowledge.md#scores).
    pub score: f64,
    /// Title, file name or address of its document.
    pub source: String,
    /// Where its document came from.
    pub kind: SourceKind,
    /// The headings above it.
    pub heading: Option<String>,
    /// The page that it begins on.
    pub page: Option<i64>,
}

impl From<Hit> for KnowledgeHit {
    fn from(hit: Hit) -> Self {
        Self {
            content: hit.content,
            score: hit.score,
            source: hit.source,
            r#type: hit.kind,
            heading: hit.heading,
            page: hit.page,
        }
    }
}

/// The best passages of a base for a question, best first. Everything that was stored before the search began is found.
///
/// # Errors
/// 404.
pub async fn search(
    app: &App,
    tenant: Tenant,
    base: Id<KnowledgeBase>,
    question: &str,
    limit: usize,
) -> Result<Vec<Hit>, Failure> {
    let mut hits = Vec::new();
    for _ in 0..LOOKS {
        let all_there;
        (hits, all_there) = search_once(app, tenant, base, question, limit).await?;
        if all_there {
            break;
        }
        // A document was replaced in between: a retry sees it as it is now.
    }
    Ok(hits)
}

/// The hits, and whether every passage that the index named is still there.
async fn search_once(
    app: &App,
    tenant: Tenant,
    base: Id<KnowledgeBase>,
    question: &str,
    limit: usize,
) -> Result<(Vec<Hit>, bool), Failure> {
    let row = app.of(tenant).read(move |tx| knowledge::get(tx, base)).await?.ok_or_else(missing)?;
    if row.passages == 0 {
        return Ok((Vec::new(), true));
    }
    let Found { ranked, by_words } = find(app, &row, question, limit).await?;
    let numbers: Vec<i64> = ranked.iter().filter_map(|one| i64::try_from(one.passage).ok()).collect();
    let rows = app.of(tenant).read(move |tx| knowledge::found(tx, base, &numbers)).await?;
    let mut by_number: HashMap<i64, FoundRow> = rows.into_iter().map(|row| (row.number, row)).collect();
    let mut gone = 0;
    let mut hits: Vec<Hit> = ranked
        .iter()
        .filter_map(|one| {
            let Some(row) = by_number.remove(&i64::try_from(one.passage).ok()?) else {
                // Cached vectors may be of passages that are gone; the index follows the store.
                gone += usize::from(by_words.contains(&one.passage));
                return None;
            };
            Some(Hit {
                content: row.content,
                // Four digits: more are noise, and JSON would show a dozen.
                score: (f64::from(one.score) * 10_000.0).round() / 10_000.0,
                source: row.source,
                kind: row.kind,
                heading: row.heading,
                page: row.page,
            })
        })
        .collect();
    hits.truncate(limit);
    Ok((hits, gone == 0))
}

/// The results of a search.
struct Found {
    ranked: Vec<Ranked>,
    /// Those that were found by their words.
    by_words: HashSet<u64>,
}

/// Hits, best first: by words, merged with those by vectors where there are any.
async fn find(app: &App, row: &BaseRow, question: &str, limit: usize) -> Result<Found, Failure> {
    // With vectors, the end of one ranking may be the beginning of the merged one.
    let deep = if app.speech.embeddings.is_some() { limit.max(NEAREST) } else { limit };
    let words = shelf::search(app, row, question, deep);
    let (words, near) = tokio::join!(words, nearest(app, row.workspace, row.id, question));
    let mut ranked = words?;
    match near {
        Some(near) => {
            let by_words: Vec<u64> = ranked.iter().map(|one| one.passage).collect();
            let fused = retrieval::fuse(&[by_words.clone(), near]);
            let one = |(passage, score): (u64, f64)| Ranked { passage, score: score as f32 };
            // More than requested, since some may be gone.
            let ranked = fused.into_iter().map(one).take(limit + NEAREST).collect();
            Ok(Found { ranked, by_words: by_words.into_iter().collect() })
        }
        None => {
            ranked.truncate(limit);
            let by_words = ranked.iter().map(|one| one.passage).collect();
            Ok(Found { ranked, by_words })
        }
    }
}

/// The knowledge base of an agent.
pub async fn base_of_agent(
    app: &App,
    tenant: Tenant,
    agent: Id<Agent>,
) -> Result<Option<Id<KnowledgeBase>>, Failure> {
    Ok(app.of(tenant).read(move |tx| knowledge::base_of_agent(tx, agent)).await?)
}

/// Hits as context of a language model: each with its headings, in a line of its own in square brackets.
pub fn spoken(hits: Vec<Hit>) -> Vec<String> {
    let text = |hit: Hit| match hit.heading {
        Some(heading) => format!("[{heading}]\n{}", hit.content),
        None => hit.content,
    };
    hits.into_iter().map(text).collect()
}

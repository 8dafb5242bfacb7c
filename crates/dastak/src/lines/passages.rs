//! Passages of the agent's knowledge base for what the customer says. The search begins while they still speak,
//! with what was understood so far; when the words have not changed by the end of their turn, its answer is
//! there already (docs/knowledge.md#on-a-call).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::ids::{Agent, Id};
use domain::tenant::Tenant;
use tokio::task::JoinHandle;

use crate::app::{App, Failure};

/// How long a turn waits for passages. Only an index that is made anew takes so long, and it goes on being made.
const LONGEST: Duration = Duration::from_millis(800);

/// The search of one call.
pub(super) struct Passages {
    app: Arc<App>,
    tenant: Tenant,
    agent: Id<Agent>,
    /// Whether the flow uses a knowledge base at all.
    used: bool,
    latest: Mutex<Option<Search>>,
}

struct Search {
    words: String,
    answer: JoinHandle<Vec<String>>,
}

/// What of a sentence decides what is found.
fn words(text: &str) -> String {
    let parts =
        text.split(|letter: char| letter.is_whitespace() || letter.is_ascii_punctuation() || letter == '।');
    parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

impl Passages {
    pub(super) fn new(app: &Arc<App>, tenant: Tenant, agent: Id<Agent>, used: bool) -> Self {
        Self { app: app.clone(), tenant, agent, used, latest: Mutex::default() }
    }

    fn latest(&self) -> MutexGuard<'_, Option<Search>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, question: &str) -> JoinHandle<Vec<String>> {
        let (app, tenant, agent, question) = (self.app.clone(), self.tenant, self.agent, question.to_owned());
        tokio::spawn(async move {
            search(&app, tenant, agent, &question).await.unwrap_or_else(|failure| {
                failure.log_about(agent, "the knowledge base of an agent could not be searched");
                Vec::new()
            })
        })
    }

    /// The customer has said this so far. A search that runs is left to run: it opens the index if nothing else.
    pub(super) fn said_so_far(&self, text: &str) {
        let words = words(text);
        if !self.used || words.is_empty() {
            return;
        }
        let mut latest = self.latest();
        if latest.as_ref().is_some_and(|known| known.words == words || !known.answer.is_finished()) {
            return;
        }
        *latest = Some(Search { words, answer: self.begin(text) });
    }

    /// The passages for a question.
    pub(super) async fn find(&self, question: String) -> Vec<String> {
        if !self.used {
            return Vec::new();
        }
        let wanted = words(&question);
        let known = self.latest().take().filter(|known| known.words == wanted);
        let answer = match known {
            Some(known) => known.answer,
            None => self.begin(&question),
        };
        match tokio::time::timeout(LONGEST, answer).await {
            Ok(Ok(passages)) => passages,
            Ok(Err(why)) => {
                tracing::error!(agent = %self.agent, %why, "a search of a knowledge base did not end");
                Vec::new()
            }
            Err(_) => {
                tracing::warn!(agent = %self.agent, "a turn went on without the knowledge base, whose index is being made");
                Vec::new()
            }
        }
    }
}

async fn search(app: &App, tenant: Tenant, agent: Id<Agent>, question: &str) -> Result<Vec<String>, Failure> {
    let Some(base) = knowledge::base_of_agent(app, tenant, agent).await? else { return Ok(Vec::new()) };
    match knowledge::search(app, tenant, base, question, knowledge::PASSAGES).await {
        Ok(hits) => Ok(knowledge::spoken(hits)),
        // Deleted in this moment.
        Err(failure) if failure.error.status == 404 => Ok(Vec::new()),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn how_a_sentence_ends_decides_nothing() {
        assert_eq!(words("Where is  my Parcel?"), words("where is my parcel"));
        assert_eq!(words("पार्सल कहाँ है।"), words("पार्सल कहाँ है"));
        assert_eq!(words(" ?"), "");
    }
}

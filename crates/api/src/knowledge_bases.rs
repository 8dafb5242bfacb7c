//! Knowledge bases: what agents answer from (docs/contract/knowledge-bases.md).

use domain::ids::{self, Id};
use domain::knowledge::SourceKind;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::envelope::{Deleted, Removed};
use crate::error_codes::{KNOWLEDGE_BASE_FULL, KNOWLEDGE_BASE_LIMIT, PLAN_FEATURE_LOCKED};
use crate::operation::Method::{DELETE, GET, POST};
use crate::operation::{Operation, operation};
use crate::schema::{Field, choice, data, integer, list, need, or, request, text_of};
use crate::scopes::{KNOWLEDGE_READ, KNOWLEDGE_WRITE};

/// Knowledge bases of one workspace (docs/contract/knowledge-bases.md#limits).
pub const MAX_BASES: i64 = 100;
/// Documents of one base.
pub const MAX_DOCUMENTS: i64 = 5_000;
/// Passages of one base.
pub const MAX_PASSAGES: i64 = 100_000;
/// Passages of all bases of a workspace.
pub const MAX_PASSAGES_OF_WORKSPACE: i64 = 500_000;
/// Passages of one document.
pub const MAX_DOCUMENT_PASSAGES: usize = 5_000;
/// Removed documents of a base that an index may lag behind; one that is further behind is made anew.
pub const KEPT_REMOVALS: i64 = 1_000;
/// Longest text, in characters.
pub const MAX_TEXT: usize = 100_000;
/// Longest title, file name or address, in characters.
pub const MAX_SOURCE: usize = 2_000;
/// Longest question, in characters.
pub const MAX_QUESTION: usize = 1_000;
/// Most hits of a search.
const MAX_HITS: i64 = 20;

/// A knowledge base.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeBase {
    /// Its id.
    pub id: Id<ids::KnowledgeBase>,
    /// Its name.
    pub name: String,
    /// How many documents it has.
    pub document_count: i64,
    /// How many passages its documents were cut into.
    pub chunk_count: i64,
    /// How many agents use it.
    pub agent_count: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its documents last changed.
    pub updated_at: Timestamp,
}

/// A knowledge base with its documents.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeBaseDetail {
    /// The base.
    #[serde(flatten)]
    pub base: KnowledgeBase,
    /// Its documents, in the order in which they were first added.
    pub documents: Vec<KnowledgeDocument>,
}

/// A document of a knowledge base.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeDocument {
    /// Its title, file name or address.
    pub source: String,
    /// Where it came from.
    pub r#type: SourceKind,
    /// How many passages it was cut into.
    pub chunk_count: i64,
    /// How many characters were read.
    pub chars: i64,
    /// When it was added or last replaced.
    pub updated_at: Timestamp,
}

/// A knowledge base to be made.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewKnowledgeBase {
    /// Its name.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
}

/// A text to be added.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewText {
    /// The text. Empty lines part paragraphs; lines that begin with `#` are headings, as in Markdown.
    #[schemars(length(min = 1, max = MAX_TEXT))]
    pub text: String,
    /// Names the document; a text with the same title is replaced. Without one, a name is made up and each call
    /// adds a document.
    #[schemars(length(min = 1, max = 200), extend("x-nullable" = true))]
    pub title: Option<String>,
}

/// A document that was added or replaced.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AddedDocument {
    /// How the document is named: its title, or what was made up.
    pub source: String,
    /// How many passages it was cut into.
    pub added: i64,
    /// Whether it replaced a document.
    pub replaced: bool,
    /// How many characters were read.
    pub chars: i64,
}

/// A passage that fits a question.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KnowledgeHit {
    /// Its words.
    pub content: String,
    /// How much of the question it answers to, from 0 to 1.
    pub score: f64,
    /// Title, file name or address of its document.
    pub source: String,
    /// Where its document came from.
    pub r#type: SourceKind,
    /// The headings that it stands under, from the highest.
    pub heading: Option<String>,
    /// The page of a file that it begins on.
    pub page: Option<i64>,
}

fn document_query() -> Vec<Field> {
    vec![
        need("source", text_of(1, MAX_SOURCE).doc("Title, file name or address of the document.")),
        need("type", choice(&["text", "file", "link"]).doc("Where it came from.")),
    ]
}

fn search_query() -> Vec<Field> {
    vec![
        need("q", text_of(1, MAX_QUESTION).doc("The question, as a customer would ask it.")),
        or("limit", integer(1, MAX_HITS).doc("Most passages."), json!(5)),
    ]
}

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Knowledge bases", summary)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(GET, "/v1/knowledge-bases", "listKnowledgeBases", "Knowledge bases, newest first")
        .scope(KNOWLEDGE_READ)
        .answers(&[(200, Some(list::<KnowledgeBase>))]),
    row(POST, "/v1/knowledge-bases", "createKnowledgeBase", "Make a knowledge base")
        .scope(KNOWLEDGE_WRITE)
        .live_only()
        .body(request::<NewKnowledgeBase>)
        .answers(&[(201, Some(data::<KnowledgeBase>))])
        .errors(&[PLAN_FEATURE_LOCKED, KNOWLEDGE_BASE_LIMIT]),
    row(GET, "/v1/knowledge-bases/{id}", "getKnowledgeBase", "One knowledge base with its documents")
        .scope(KNOWLEDGE_READ)
        .answers(&[(200, Some(data::<KnowledgeBaseDetail>))]),
    row(
        DELETE,
        "/v1/knowledge-bases/{id}",
        "deleteKnowledgeBase",
        "Delete a knowledge base; agents that used it have none any more",
    )
    .scope(KNOWLEDGE_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<Deleted>))]),
    row(
        POST,
        "/v1/knowledge-bases/{id}/documents",
        "addKnowledgeText",
        "Add a text, or replace the one with the same title; it is found at once",
    )
    .scope(KNOWLEDGE_WRITE)
    .live_only()
    .body(request::<NewText>)
    .answers(&[(200, Some(data::<AddedDocument>))])
    .errors(&[KNOWLEDGE_BASE_FULL]),
    row(
        DELETE,
        "/v1/knowledge-bases/{id}/documents",
        "removeKnowledgeDocument",
        "Remove a document, whatever it came from",
    )
    .scope(KNOWLEDGE_WRITE)
    .live_only()
    .query(document_query)
    .answers(&[(200, Some(data::<Removed>))]),
    row(
        GET,
        "/v1/knowledge-bases/{id}/search",
        "searchKnowledgeBase",
        "The passages that answer a question, ranked as in a conversation",
    )
    .scope(KNOWLEDGE_READ)
    .query(search_query)
    .answers(&[(200, Some(list::<KnowledgeHit>))]),
];

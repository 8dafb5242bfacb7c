//! Knowledge bases: what agents answer from (docs/contract/knowledge-bases.md).

use domain::ids::{self, Id};
use domain::knowledge::SourceKind;
use domain::tenant::Role;
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
/// Removed documents of a base that an index may lag behind; one that is further behind is rebuilt.
pub const KEPT_REMOVALS: i64 = 1_000;
/// Longest text, in characters.
pub const MAX_TEXT: usize = 100_000;
/// Longest title, file name or address, in characters.
pub const MAX_SOURCE: usize = 2_000;
/// Longest question, in characters.
pub const MAX_QUESTION: usize = 1_000;
/// Most hits of a search.
const MAX_HITS: i64 = 20;

/// A knowledge base, as a list shows it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeBase {
    /// Id of the knowledge base; an agent has it in `knowledgeBaseId`.
    pub id: Id<ids::KnowledgeBase>,
    /// The name of the knowledge base, for people.
    pub name: String,
    /// Number of documents in the base.
    pub document_count: i64,
    /// Number of passages that the documents are cut into.
    pub chunk_count: i64,
    /// Number of agents that use the base.
    pub agent_count: i64,
    /// When the base was created.
    pub created_at: Timestamp,
    /// When the documents of the base last changed.
    pub updated_at: Timestamp,
}

/// A knowledge base with its documents.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeBaseDetail {
    /// The fields that a list shows.
    #[serde(flatten)]
    pub base: KnowledgeBase,
    /// The documents, in the order in which they were first added.
    pub documents: Vec<KnowledgeDocument>,
}

/// A document of a knowledge base; `source` and `type` identify it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeDocument {
    /// Title, file name or address of the document.
    pub source: String,
    /// `text`, `file` or `link`: how the document was added.
    pub r#type: SourceKind,
    /// Number of passages that the document is cut into.
    pub chunk_count: i64,
    /// Number of characters that were read.
    pub chars: i64,
    /// When the document was added or last replaced.
    pub updated_at: Timestamp,
}

/// The request to create a knowledge base.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewKnowledgeBase {
    /// The name of the base, for people; need not be unique.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
}

/// A text that is added to a knowledge base.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewText {
    /// The text. Empty lines separate paragraphs; lines that begin with `#` are headings, as in Markdown.
    #[schemars(length(min = 1, max = MAX_TEXT))]
    pub text: String,
    /// Title of the document; it replaces the text with the same title. Null or absent: a title is generated,
    /// so each request adds a document.
    #[schemars(length(min = 1, max = 200), extend("x-nullable" = true))]
    pub title: Option<String>,
}

/// A document that was added or replaced.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AddedDocument {
    /// Title, file name or address of the document.
    pub source: String,
    /// Number of passages that the document is cut into.
    pub added: i64,
    /// True if it replaced a document with the same source.
    pub replaced: bool,
    /// Number of characters that were read.
    pub chars: i64,
}

/// A passage that matches a question.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KnowledgeHit {
    /// The text of the passage.
    pub content: String,
    /// How well the passage matches, from 0 to 1.
    pub score: f64,
    /// Title, file name or address of the passage's document.
    pub source: String,
    /// `text`, `file` or `link`: how the document was added.
    pub r#type: SourceKind,
    /// Headings above the passage, joined with ` › `; null without any.
    pub heading: Option<String>,
    /// Page of a file on which the passage begins, from 1; null for other documents.
    pub page: Option<i64>,
}

fn document_query() -> Vec<Field> {
    vec![
        need("source", text_of(1, MAX_SOURCE).doc("Title, file name or address of the document.")),
        need("type", choice(&["text", "file", "link"]).doc("How the document was added.")),
    ]
}

fn search_query() -> Vec<Field> {
    vec![
        need("q", text_of(1, MAX_QUESTION).doc("The question, as a customer would ask it.")),
        or("limit", integer(1, MAX_HITS).doc("Most passages in the answer."), json!(5)),
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
    row(GET, "/v1/knowledge-bases", "listKnowledgeBases", "All knowledge bases, newest first")
        .scope(KNOWLEDGE_READ)
        .answers(&[(200, Some(list::<KnowledgeBase>))]),
    row(POST, "/v1/knowledge-bases", "createKnowledgeBase", "Create a knowledge base")
        .about("409 `knowledge_base_limit` at 100 bases.")
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
        "Delete a knowledge base with its documents",
    )
    .role(Role::Admin)
    .about("Agents that used it stay published and have no knowledge base.")
    .scope(KNOWLEDGE_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<Deleted>))]),
    row(POST, "/v1/knowledge-bases/{id}/documents", "addKnowledgeText", "Add a text to a knowledge base")
        .about(
            "A text with an existing title replaces the earlier document. Every search that begins \
             afterwards finds it.",
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
        "Remove a document from a knowledge base",
    )
    .about("404 if there is no document with this source and type.")
    .scope(KNOWLEDGE_WRITE)
    .live_only()
    .query(document_query)
    .answers(&[(200, Some(data::<Removed>))]),
    row(
        GET,
        "/v1/knowledge-bases/{id}/search",
        "searchKnowledgeBase",
        "Passages that match a question, best first",
    )
    .about("The ranking is that of conversations.")
    .scope(KNOWLEDGE_READ)
    .query(search_query)
    .answers(&[(200, Some(list::<KnowledgeHit>))]),
];

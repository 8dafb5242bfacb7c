//! Documents that customers hand in during a chat (docs/contract/documents.md).

use domain::document::{FileType, MAX_REASON, MAX_REASONS, Status};
use domain::ids::{self, Id};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error_codes as codes;
use crate::operation::Method::{GET, POST};
use crate::operation::{Access, Operation, RateClass, operation};
use crate::schema::{Field, cursor, data, limit, may, page, request, text_of};
use crate::scopes::CHAT_WRITE;

/// What became of an upload to a chat.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadedDocument {
    /// Id of the document, `doc_…`; the same for all attempts of one step.
    pub document_id: Id<ids::Document>,
    /// `open` (another attempt is possible), `verified`, `unverified` or `failed`.
    pub status: Status,
    /// Why the document is not verified, for people; empty if it is.
    pub reasons: Vec<String>,
    /// Number of uploads of this step that were checked.
    pub attempts: i64,
    /// The agent's reply; null if the agent has nothing to say.
    pub reply: Option<String>,
    /// True if the session is over.
    pub ended: bool,
    /// True if a person handles the session or is requested to.
    pub handed_off: bool,
}

/// A file of a document.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentPart {
    /// Name of the part, as it was sent, or `part1`, `part2`, ….
    pub part: String,
    /// Content type of the file, detected from its content.
    pub content_type: FileType,
}

/// A document that a customer handed in; also the `data` of `document.received` and `document.updated`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReceivedDocument {
    /// Id of the document, `doc_…`.
    pub document_id: Id<ids::Document>,
    /// Id of the chat in which it was handed in, `chatsess_…`.
    pub interaction_id: Id<ids::Chat>,
    /// Id of the chat; the same as `interactionId`.
    pub chat_session_id: Id<ids::Chat>,
    /// Id of the agent that asked for it.
    pub agent_id: Id<ids::Agent>,
    /// Id of the flow's `document` node.
    pub node_id: String,
    /// What the agent asked for, such as an identity card.
    pub label: String,
    /// `open`, `verified`, `unverified`, `failed` (the last attempt was not accepted) or `rejected` (by a
    /// review).
    pub status: Status,
    /// Values read from the document, by name; of national id numbers only the last four digits.
    pub fields: Map<String, Value>,
    /// Why the document is not verified, for people; empty if it is.
    pub reasons: Vec<String>,
    /// Number of uploads that were checked.
    pub attempts: i64,
    /// Files of an accepted document; empty otherwise.
    pub parts: Vec<DocumentPart>,
    /// When a teammate reviewed it; null before that.
    pub reviewed_at: Option<Timestamp>,
    /// When the first upload was checked.
    pub created_at: Timestamp,
    /// When the document last changed.
    pub updated_at: Timestamp,
}

/// A teammate's review of a document.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct DocumentReview {
    /// The result of the review: `verified` or `rejected`.
    #[schemars(with = "Reviewed")]
    pub status: Status,
    /// Reasons of the result, for people.
    #[schemars(length(max = MAX_REASONS), inner(length(min = 1, max = MAX_REASON)), extend("default" = []))]
    pub reasons: Vec<String>,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("enum" = ["verified", "rejected"]))]
#[allow(dead_code, reason = "only its schema is used")]
struct Reviewed(String);

fn list_query() -> Vec<Field> {
    vec![may("chatId", text_of(1, 64).doc("Only documents of this chat.")), limit(200), cursor()]
}

fn file_query() -> Vec<Field> {
    vec![may("part", text_of(1, 40).doc("Name of the document's part; the first one by default."))]
}

/// The content types of files.
pub const FILE_TYPES: &str = "application/pdf, image/jpeg, image/png, image/webp";

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(
        POST,
        "/v1/chat/sessions/{id}/documents",
        "uploadDocument",
        "Chat",
        "Hand in the document that the agent asked for",
    )
    .traffic()
    .about(
        "1 to 4 files in fields named `file`: PDF, JPEG, PNG or WebP of up to 10 MB each, 15 MB in \
         all. A field `part` before a file names it. Waits for the agent's reply. 409 \
         `document_not_requested` if the agent does not wait for a document.",
    )
    .scope(CHAT_WRITE)
    .live_only()
    .rate(RateClass::ChatMessages)
    .upload()
    .answers(&[(200, Some(data::<UploadedDocument>))])
    .errors(&[
        codes::FEATURE_DISABLED,
        codes::DOCUMENT_NOT_REQUESTED,
        codes::REPLY_IN_PROGRESS,
        codes::SESSION_ENDED,
        codes::REPLY_FAILED,
    ]),
    operation(
        GET,
        "/operator/v1/workspaces/{ws}/documents",
        "listDocuments",
        "Operator",
        "Documents that customers handed in, newest first",
    )
    .role(Role::Editor)
    .access(Access::Operator)
    .query(list_query)
    .answers(&[(200, Some(page::<ReceivedDocument>))]),
    operation(
        GET,
        "/operator/v1/workspaces/{ws}/documents/{id}",
        "getDocument",
        "Operator",
        "One document that a customer handed in",
    )
    .role(Role::Editor)
    .access(Access::Operator)
    .answers(&[(200, Some(data::<ReceivedDocument>))]),
    operation(
        GET,
        "/operator/v1/workspaces/{ws}/documents/{id}/file",
        "getDocumentFile",
        "Operator",
        "A file of an accepted document",
    )
    .role(Role::Editor)
    .about("Reading it is recorded in the operator log.")
    .access(Access::Operator)
    .query(file_query)
    .answers(&[(200, None)])
    .content_type(FILE_TYPES),
    operation(
        POST,
        "/operator/v1/workspaces/{ws}/documents/{id}/review",
        "reviewDocument",
        "Operator",
        "Verify or reject a document",
    )
    .role(Role::Editor)
    .about("A repeat changes nothing. 409 `conflict` if no document was accepted.")
    .access(Access::Operator)
    .body(request::<DocumentReview>)
    .answers(&[(200, Some(data::<ReceivedDocument>))])
    .errors(&[codes::CONFLICT]),
];

//! Documents that customers hand in during a chat (docs/contract/documents.md).

use domain::document::{FileType, MAX_REASON, MAX_REASONS, Status};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error_codes as codes;
use crate::operation::Method::{GET, POST};
use crate::operation::{Access, Operation, RateClass, operation};
use crate::schema::{Field, cursor, data, limit, may, page, request, text_of};
use crate::scopes::CHAT_WRITE;

/// What became of an upload.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadedDocument {
    /// The document; the same for every attempt of a step.
    pub document_id: Id<ids::Document>,
    /// `open`: another attempt is possible.
    pub status: Status,
    /// Why it is not verified.
    pub reasons: Vec<String>,
    /// Uploads that were checked in this step.
    pub attempts: i64,
    /// What the agent says to it.
    pub reply: Option<String>,
    /// Whether the agent finished the conversation.
    pub ended: bool,
    /// Whether a teammate handles the conversation.
    pub handed_off: bool,
}

/// A file of a document.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentPart {
    /// Its name.
    pub part: String,
    /// What it is.
    pub content_type: FileType,
}

/// A document that a customer handed in; also the `data` of `document.received` and `document.updated`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReceivedDocument {
    /// Its id.
    pub document_id: Id<ids::Document>,
    /// The conversation in which it was handed in: the id of the chat.
    pub interaction_id: Id<ids::Chat>,
    /// The chat.
    pub chat_session_id: Id<ids::Chat>,
    /// The agent that asked for it.
    pub agent_id: Id<ids::Agent>,
    /// The step of the flow.
    pub node_id: String,
    /// What was asked for.
    pub label: String,
    /// Where it stands.
    pub status: Status,
    /// Details read off it; of national id numbers, the last four digits.
    pub fields: Map<String, Value>,
    /// Why it is not verified.
    pub reasons: Vec<String>,
    /// Uploads that were checked.
    pub attempts: i64,
    /// The files of an accepted document.
    pub parts: Vec<DocumentPart>,
    /// When a teammate looked at it.
    pub reviewed_at: Option<Timestamp>,
    /// When the first upload was checked.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What a teammate says of a document.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct DocumentReview {
    /// `verified` or `rejected`.
    #[schemars(with = "Reviewed")]
    pub status: Status,
    /// Why.
    #[schemars(length(max = MAX_REASONS), inner(length(min = 1, max = MAX_REASON)), extend("default" = []))]
    pub reasons: Vec<String>,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("enum" = ["verified", "rejected"]))]
#[allow(dead_code, reason = "only its schema is used")]
struct Reviewed(String);

fn list_query() -> Vec<Field> {
    vec![may("chatId", text_of(1, 64).doc("Documents of this chat only.")), limit(200), cursor()]
}

fn file_query() -> Vec<Field> {
    vec![may("part", text_of(1, 40).doc("Name of the part; the first one by default."))]
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
        "Hand in the document that the agent asked for: 1 to 4 files in the field `file`",
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
    .access(Access::Operator)
    .query(list_query)
    .answers(&[(200, Some(page::<ReceivedDocument>))]),
    operation(
        GET,
        "/operator/v1/workspaces/{ws}/documents/{id}",
        "getDocument",
        "Operator",
        "A document that a customer handed in",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(data::<ReceivedDocument>))]),
    operation(
        GET,
        "/operator/v1/workspaces/{ws}/documents/{id}/file",
        "getDocumentFile",
        "Operator",
        "A file of an accepted document",
    )
    .access(Access::Operator)
    .query(file_query)
    .answers(&[(200, None)])
    .content_type(FILE_TYPES),
    operation(
        POST,
        "/operator/v1/workspaces/{ws}/documents/{id}/review",
        "reviewDocument",
        "Operator",
        "Mark a document as verified, or reject it",
    )
    .access(Access::Operator)
    .body(request::<DocumentReview>)
    .answers(&[(200, Some(data::<ReceivedDocument>))])
    .errors(&[codes::CONFLICT]),
];

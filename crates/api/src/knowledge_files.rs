//! Files and links of knowledge bases (docs/contract/knowledge-files.md).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error_codes as codes;
use crate::knowledge_bases::AddedDocument;
use crate::operation::Method::POST;
use crate::operation::{Access, Operation, operation};
use crate::schema::{data, request};
use crate::scopes::KNOWLEDGE_WRITE;

/// A page to be added.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewKnowledgeLink {
    /// Its address. The page is fetched and read at once; the same address again reads it anew.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
}

/// What was added from a file or a page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AddedSource {
    /// The document; its source is the name of the file or the address of the page.
    #[serde(flatten)]
    pub document: AddedDocument,
    /// There when little of a page could be read: what may be the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// The rows of files and links.
pub const OPERATIONS: &[Operation] = &[
    operation(
        POST,
        "/v1/knowledge-bases/{id}/links",
        "addKnowledgeLink",
        "Knowledge bases",
        "Fetch a page and add it, or read it anew",
    )
    .scope(KNOWLEDGE_WRITE)
    .live_only()
    .body(request::<NewKnowledgeLink>)
    .answers(&[(200, Some(data::<AddedSource>))])
    .errors(&[
        codes::KNOWLEDGE_BASE_FULL,
        codes::PLAN_FEATURE_LOCKED,
        codes::LINK_NOT_FETCHED,
        codes::DOCUMENT_UNREADABLE,
        codes::DOCUMENT_UNSUPPORTED,
        codes::DOCUMENT_TOO_LARGE,
    ]),
    operation(
        POST,
        "/operator/v1/workspaces/{ws}/knowledge-bases/{id}/files",
        "addKnowledgeFile",
        "Operator",
        "Add a file (pdf, docx, txt, md, html, csv), or replace the one with its name",
    )
    .access(Access::Operator)
    .upload()
    .answers(&[(200, Some(data::<AddedSource>))])
    .errors(&[
        codes::KNOWLEDGE_BASE_FULL,
        codes::DOCUMENT_UNREADABLE,
        codes::DOCUMENT_UNSUPPORTED,
        codes::DOCUMENT_TOO_LARGE,
    ]),
];

//! Files and links of knowledge bases (docs/contract/knowledge-files.md).

use domain::tenant::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error_codes as codes;
use crate::knowledge_bases::AddedDocument;
use crate::operation::Method::POST;
use crate::operation::{Access, Operation, operation};
use crate::schema::{data, request};
use crate::scopes::KNOWLEDGE_WRITE;

/// A web page that is added to a knowledge base.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewKnowledgeLink {
    /// Public https:// address of the page, which is fetched at once; the same address again replaces the
    /// document.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
}

/// A document that was added from a file or a web page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AddedSource {
    /// The document; its source is the file name or the address.
    #[serde(flatten)]
    pub document: AddedDocument,
    /// Why little of a page could be read, for people; absent if there is no such doubt.
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
        "Add a web page to a knowledge base",
    )
    .about(
        "The page is fetched while the request waits, for 20 s at most. The same address again \
         replaces the document. A refusal changes nothing; 422 `link_not_fetched` has the reason in \
         `meta.reason`.",
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
        "Add a file to a knowledge base",
    )
    .role(Role::Editor)
    .about(
        "PDF, Word (`.docx`), Markdown, HTML, CSV or text of at most 20 MB. A file with the same \
         name replaces the document. A refusal changes nothing.",
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

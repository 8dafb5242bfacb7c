//! Files of a knowledge base (docs/contract/knowledge-files.md): the operator uploads one, a sandboxed process extracts
//! it, and the result replaces that of an earlier file with the same name.

use api::error_codes::{DOCUMENT_TOO_LARGE, DOCUMENT_UNREADABLE, DOCUMENT_UNSUPPORTED, UNAVAILABLE};
use app::operator_log::Trace;
use app::{App, Failure};
use domain::ids::{Id, KnowledgeBase};
use domain::knowledge::SourceKind;
use domain::ports::{Haste, Read, ReadOrder, Unreadable};
use domain::tenant::Tenant;
use serde_json::json;

use crate::bases;
use crate::documents::{self, Added};

/// Longest name of a file, in characters.
pub const MAX_NAME: usize = 200;

/// A file as it was uploaded.
pub struct Upload {
    /// Its name, as the sender gave it.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Adds a file, or replaces the one with its name.
///
/// # Errors
/// There is no such base, or the file cannot be read; nothing was changed.
pub async fn add(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    base: Id<KnowledgeBase>,
    upload: Upload,
) -> Result<Added, Failure> {
    let name = name_of(&upload.name)?;
    // Nothing is extracted for a base that does not exist.
    bases::check(app, tenant, base).await?;
    let order = ReadOrder { bytes: upload.bytes, name: name.clone(), content_type: None, charset: None };
    let Read { document, .. } =
        app.reader.read(tenant, Haste::Usual, order).await.map_err(|why| unread("the file", why))?;
    if document.blocks.is_empty() {
        let message = "the file has no text; scanned pages need text recognition before they are uploaded";
        return Err(Failure::new(DOCUMENT_UNREADABLE, message));
    }
    documents::add(app, Some(trace), tenant, base, name, SourceKind::File, document).await
}

/// The stored name of a file: without folders, and truncated.
fn name_of(given: &str) -> Result<String, Failure> {
    let name = given.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let length = name.chars().count();
    if length == 0 || length > MAX_NAME || name.chars().any(char::is_control) {
        return Err(Failure::field("file", format!("must have a name of 1 to {MAX_NAME} characters")));
    }
    Ok(name.to_owned())
}

/// The client's error for a document that was not read.
pub(crate) fn unread(what: &str, why: Unreadable) -> Failure {
    let message = format!("{what} cannot be read: {why}");
    match why {
        Unreadable::Unsupported(_) => Failure::new(DOCUMENT_UNSUPPORTED, message),
        Unreadable::Damaged(_) => Failure::new(DOCUMENT_UNREADABLE, message),
        Unreadable::Beyond(limit, most) => Failure::new(DOCUMENT_TOO_LARGE, message)
            .with_meta(json!({"limit": limit.as_str(), "most": most})),
        Unreadable::Busy => Failure {
            retry_after: Some(5),
            ..Failure::new(
                UNAVAILABLE,
                "too many documents are being read at once; nothing was changed, try again later",
            )
        },
        Unreadable::Failed(cause) => Failure::internal(format!("a document could not be read: {cause}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_folders() {
        for (given, name) in [
            ("fees.pdf", "fees.pdf"),
            ("C:\\papers\\fees.pdf", "fees.pdf"),
            ("../../etc/शुल्क.txt ", "शुल्क.txt"),
        ] {
            assert_eq!(name_of(given).unwrap(), name);
        }
        for given in ["", "papers/", " ", "a\nb", &"x".repeat(MAX_NAME + 1)] {
            assert_eq!(name_of(given).unwrap_err().error.code, "invalid_request", "{given:?}");
        }
    }

    #[test]
    fn each_reason_has_its_code() {
        use domain::ports::ReadLimit;
        let found = |why| {
            let failure = unread("the file", why);
            (failure.error.status, failure.error.code)
        };
        assert_eq!(found(Unreadable::Unsupported("an image".into())), (422, "document_unsupported"));
        assert_eq!(found(Unreadable::Damaged("it is half".into())), (422, "document_unreadable"));
        assert_eq!(found(Unreadable::Beyond(ReadLimit::Memory, 1)), (422, "document_too_large"));
        assert_eq!(found(Unreadable::Busy), (503, "unavailable"));
        let failed = unread("the file", Unreadable::Failed("no such program".into()));
        assert_eq!(failed.error.status, 500);
        assert!(!failed.message.contains("program"), "{}", failed.message);
    }
}

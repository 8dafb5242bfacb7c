//! Documents over the operator API: list, files, review by a teammate (docs/contract/documents.md#review).

use api::documents::{DocumentPart, DocumentReview, ReceivedDocument};
use api::error_codes as codes;
use api::events::Event;
use app::limits::pages;
use app::operator_log::{self, Trace};
use app::{App, Failure, access};
use domain::document::{FileType, masked, reviewed};
use domain::ids::{Chat, Document, Id};
use domain::ports::Pieces;
use domain::tenant::Tenant;
use store::documents::{self, DocumentRow};
use store::{TenantTx, Tx};

use crate::document_checks::{emit, view};

fn not_found() -> Failure {
    Failure::not_found("document")
}

fn parts(tx: &mut TenantTx, id: Id<Document>) -> Result<Vec<DocumentPart>, Failure> {
    let parts = documents::parts(tx, id)?.into_iter();
    Ok(parts.map(|part| DocumentPart { part: part.name, content_type: part.content_type }).collect())
}

fn shown(tx: &mut TenantTx, row: &DocumentRow) -> Result<ReceivedDocument, Failure> {
    let parts = parts(tx, row.id)?;
    Ok(view(row, parts))
}

/// Documents of a workspace or of one chat, newest first, with the cursor of the next page.
///
/// # Errors
/// 404 without the workspace.
pub async fn list(
    app: &App,
    tenant: Tenant,
    chat: Option<Id<Chat>>,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<ReceivedDocument>, Option<String>), Failure> {
    let page = app.store.read(move |tx| {
        access::workspace(&mut tx.of(tenant))?;
        let read = |tx: &mut Tx<'_>, limit: i64, before: Option<&str>| {
            let rows = documents::list(&mut tx.of(tenant), chat, before, limit)?;
            let next = pages::last(&rows, limit, |row| row.id.to_string());
            let shown = rows.iter().map(|row| shown(&mut tx.of(tenant), row)).collect::<Result<_, _>>()?;
            Ok::<_, Failure>((shown, next))
        };
        pages::views(tx, limit, before.clone(), read, |view: &ReceivedDocument| view.document_id.to_string())
    });
    page.await
}

/// One document.
///
/// # Errors
/// 404.
pub async fn get(app: &App, tenant: Tenant, id: Id<Document>) -> Result<ReceivedDocument, Failure> {
    app.of(tenant)
        .read(move |tx| {
            let row = documents::get(tx, id)?.ok_or_else(not_found)?;
            shown(tx, &row)
        })
        .await
}

/// A file that is streamed to a teammate.
pub struct OpenedFile {
    pub content_type: FileType,
    pub bytes: i64,
    pub name: String,
    pieces: Box<dyn Pieces>,
}

impl OpenedFile {
    /// The next bytes. None at the end, and when the object store fails half-way: the client then sees that bytes
    /// are missing.
    pub async fn next(mut self) -> Option<(Vec<u8>, Self)> {
        match self.pieces.next().await {
            Ok(piece) => Some((piece?, self)),
            Err(why) => {
                tracing::warn!(%why, "the file of a document broke off");
                None
            }
        }
    }
}

/// A file of a document: the part with this name, or the first. The access is recorded in the operator log.
///
/// # Errors
/// 404; 503 when the object store does not answer.
pub async fn file(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    id: Id<Document>,
    part: Option<String>,
) -> Result<OpenedFile, Failure> {
    let context = app.context();
    let found = app
        .of(tenant)
        .tx(move |tx| {
            documents::get(tx, id)?.ok_or_else(not_found)?;
            let parts = documents::parts(tx, id)?;
            let wanted = parts.into_iter().find(|one| part.as_ref().is_none_or(|name| *name == one.name));
            let wanted = wanted.ok_or_else(|| Failure::not_found("file"))?;
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            Ok::<_, Failure>(wanted)
        })
        .await?;
    let length = u64::try_from(found.bytes).unwrap_or(0);
    let opened = app.ports.objects.open(&found.object, 0, length).await.map_err(|why| Failure {
        cause: Some(why.to_string()),
        retry_after: Some(2),
        ..Failure::new(codes::UNAVAILABLE, "the file cannot be fetched now; try again")
    })?;
    Ok(OpenedFile {
        content_type: found.content_type,
        bytes: found.bytes,
        name: format!("{id}-{}.{}", found.seq, found.content_type.extension()),
        pieces: opened.ok_or_else(|| Failure::not_found("file"))?,
    })
}

/// Verifies or rejects a document. Idempotent.
///
/// # Errors
/// 404; 409 when nothing was accepted.
pub async fn review(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    id: Id<Document>,
    review: DocumentReview,
) -> Result<ReceivedDocument, Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            let mut row = documents::get_for_update(tx, id)?.ok_or_else(not_found)?;
            let status = reviewed(row.status, review.status).ok_or_else(|| {
                Failure::conflict("the document has no accepted file, so it cannot be reviewed")
            })?;
            let reasons = review.reasons.iter().map(|reason| masked(reason.trim())).collect();
            if row.reviewed_at.is_some() && (row.status, &row.reasons) == (status, &reasons) {
                return shown(tx, &row);
            }
            row.status = status;
            row.reasons = reasons;
            row.reviewed_at = Some(context.now);
            row.updated_at = context.now;
            if !documents::save(tx, &mut row)? {
                return Err(Failure::internal("a document that is held was changed"));
            }
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            let parts = parts(tx, id)?;
            let document = view(&row, parts);
            emit(tx, &context, &row, Event::DocumentUpdated(document.clone()))?;
            Ok(document)
        })
        .await
}

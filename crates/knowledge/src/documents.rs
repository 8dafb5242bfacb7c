//! Adding, replacing and removing documents (docs/contract/knowledge-bases.md#documents).

use api::error_codes::KNOWLEDGE_BASE_FULL;
use api::knowledge_bases::{
    KEPT_REMOVALS, MAX_DOCUMENT_PASSAGES, MAX_DOCUMENTS, MAX_PASSAGES, MAX_PASSAGES_OF_WORKSPACE, NewText,
};
use app::operator_log::{self, Trace};
use app::{App, Context, Failure, topics};
use domain::ids::{Id, KnowledgeBase};
use domain::knowledge::{ReadDocument, SourceKind};
use domain::tenant::Tenant;
use retrieval::Passage;
use serde_json::json;
use store::knowledge::{self, BaseRow, DocumentRow, PassageRow};
use store::{DbError, Tx};

use crate::bases::find_for_update;

/// Characters of the first words that a text without a title is shown by.
const SHOWN: usize = 40;

/// The result of adding a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// How it is named: its title, file name or address.
    pub source: String,
    /// How many passages it has.
    pub passages: i64,
    /// Whether it replaced a document of the same kind and source.
    pub replaced: bool,
    /// How many characters were read.
    pub chars: i64,
}

/// `POST /v1/knowledge-bases/{id}/documents`.
///
/// # Errors
/// 404; 400 names the field; 409 `knowledge_base_full`.
pub async fn add_text(
    app: &App,
    tenant: Tenant,
    base: Id<KnowledgeBase>,
    body: NewText,
) -> Result<Added, Failure> {
    let document = retrieval::read_text(&body.text);
    let source = match body.title.as_deref().map(str::trim) {
        Some("") => return Err(Failure::field("title", "must not be blank")),
        Some(title) => title.to_owned(),
        None => made_up(app, &body.text),
    };
    add_document(app, tenant, base, source, SourceKind::Text, document).await
}

/// The title of a text without one: its first words, and a unique suffix.
fn made_up(app: &App, text: &str) -> String {
    let words = text.trim_start_matches(|letter: char| letter == '#' || letter.is_whitespace());
    let first: String = words.lines().next().unwrap_or_default().chars().take(SHOWN).collect();
    format!("{} ({})", first.trim(), app.ids.random_text(8))
}

/// Adds an extracted document, in one transaction; one of the same kind and source is replaced.
///
/// # Errors
/// 404; 400 names `text`, `file` or `url` when there was no text, or too much; 409 `knowledge_base_full`.
pub async fn add_document(
    app: &App,
    tenant: Tenant,
    base: Id<KnowledgeBase>,
    source: String,
    kind: SourceKind,
    document: ReadDocument,
) -> Result<Added, Failure> {
    add(app, None, tenant, base, source, kind, document).await
}

/// The same; if the operator adds it, the operator log gets a line in the same transaction.
pub(crate) async fn add(
    app: &App,
    operator: Option<Trace>,
    tenant: Tenant,
    base: Id<KnowledgeBase>,
    source: String,
    kind: SourceKind,
    document: ReadDocument,
) -> Result<Added, Failure> {
    let field = match kind {
        SourceKind::Text => "text",
        SourceKind::File => "file",
        SourceKind::Link => "url",
    };
    let chars: usize = document.blocks.iter().map(|block| block.text.chars().count()).sum();
    let chars = i64::try_from(chars).unwrap_or(i64::MAX);
    // Half a megabyte takes some milliseconds.
    let cut = runtime::blocking::run(move || retrieval::cut(&document)).await;
    let passages = cut.map_err(|why| Failure::internal(format!("a document could not be cut: {why}")))?;
    if passages.is_empty() {
        return Err(Failure::field(field, "has no text"));
    }
    if passages.len() > MAX_DOCUMENT_PASSAGES {
        return Err(Failure::field(
            field,
            format!(
                "has {} passages, more than the limit of {MAX_DOCUMENT_PASSAGES}; split the document",
                passages.len()
            ),
        ));
    }
    let context = app.context();
    let id = context.ids.make();
    app.of(tenant)
        .tx_long(move |tx| {
            let mut row = find_for_update(tx, base)?;
            let before = knowledge::document(tx, base, kind, &source)?;
            let count = i64::try_from(passages.len()).unwrap_or(i64::MAX);
            change_version(tx, &context, &mut row)?;
            row.updated_at = context.now;
            row.documents += i64::from(before.is_none());
            row.passages += count - before.as_ref().map_or(0, |before| before.passages);
            check_room(&row)?;
            // Bases that grow at the same moment do not see each other: each may add one document beyond the ceiling.
            let others = knowledge::passages_of_others(tx, base)?;
            check_room_of_workspace(others + row.passages)?;
            let replaced = before.is_some();
            let document = match before {
                Some(before) => {
                    knowledge::remove_passages(tx, &before)?;
                    let row = DocumentRow {
                        chars,
                        passages: count,
                        version: row.version,
                        updated_at: context.now,
                        ..before
                    };
                    knowledge::save_document(tx, &row)?;
                    row
                }
                None => {
                    row.last_number += 1;
                    let row = DocumentRow {
                        id,
                        workspace: tenant,
                        base,
                        number: row.last_number,
                        kind,
                        source: source.clone(),
                        chars,
                        passages: count,
                        version: row.version,
                        created_at: context.now,
                        updated_at: context.now,
                    };
                    knowledge::insert_document(tx, &row)?;
                    row
                }
            };
            let rows = numbered(&mut row, &document, &passages);
            knowledge::insert_passages(tx, &rows)?;
            knowledge::save(tx, &row)?;
            tx.wake(topics::KNOWLEDGE);
            if let Some(trace) = &operator {
                // Not by its name: the log is append-only, and the name of a file may be a person's.
                let subject = format!("{base} {}", document.id);
                operator_log::append(tx, &context, trace, Some(tenant), &subject)?;
            }
            Ok(Added { source: source.clone(), passages: count, replaced, chars })
        })
        .await
}

/// Raises the version of a base that the caller has locked. Versions grow by random steps, so a restored older store
/// never gives a version that an index has from the lost state.
fn change_version(tx: &mut Tx<'_>, context: &Context, row: &mut BaseRow) -> Result<(), DbError> {
    // The one before may be of an earlier program, which listed none.
    knowledge::insert_version(&mut tx.of(row.workspace), row.id, row.version)?;
    row.version += 1 + i64::from(context.ids.random_number() / 2);
    knowledge::insert_version(&mut tx.of(row.workspace), row.id, row.version)?;
    // An index that is further behind is made anew, so that the lists do not grow for ever.
    if knowledge::version_before(&mut tx.of(row.workspace), row.id, 2 * KEPT_REMOVALS)?.is_some()
        && let Some(forgotten) = knowledge::version_before(&mut tx.of(row.workspace), row.id, KEPT_REMOVALS)?
    {
        knowledge::forget_versions(&mut tx.of(row.workspace), row.id, forgotten)?;
        row.removals_from = forgotten;
    }
    Ok(())
}

/// Refuses a change beyond the limits of the base.
fn check_room(row: &BaseRow) -> Result<(), Failure> {
    for (what, has, most) in
        [("documents", row.documents, MAX_DOCUMENTS), ("passages", row.passages, MAX_PASSAGES)]
    {
        if has > most {
            let message = format!(
                "the knowledge base would have {has} {what}, more than its limit of {most}; remove \
                 documents first"
            );
            return Err(Failure::new(KNOWLEDGE_BASE_FULL, message).with_meta(json!({"limit": most})));
        }
    }
    Ok(())
}

/// Refuses a change beyond the limits of all bases of a workspace.
fn check_room_of_workspace(has: i64) -> Result<(), Failure> {
    const MOST: i64 = MAX_PASSAGES_OF_WORKSPACE;
    if has <= MOST {
        return Ok(());
    }
    let message = format!(
        "the knowledge bases of the workspace would have {has} passages, more than their limit of \
         {MOST}; remove documents first"
    );
    Err(Failure::new(KNOWLEDGE_BASE_FULL, message).with_meta(json!({"limit": MOST})))
}

/// The passages as rows, with the next numbers of the base.
fn numbered(base: &mut BaseRow, document: &DocumentRow, passages: &[Passage]) -> Vec<PassageRow> {
    let row = |passage: &Passage| {
        base.last_number += 1;
        PassageRow {
            base: base.id,
            number: base.last_number,
            workspace: base.workspace,
            document: document.number,
            heading: passage.heading.clone(),
            page: passage.page.map(i64::from),
            content: passage.content.clone(),
        }
    };
    passages.iter().map(row).collect()
}

/// `DELETE /v1/knowledge-bases/{id}/documents`.
///
/// # Errors
/// 404.
pub async fn remove_document(
    app: &App,
    tenant: Tenant,
    base: Id<KnowledgeBase>,
    source: String,
    kind: SourceKind,
) -> Result<(), Failure> {
    let context = app.context();
    app.of(tenant)
        .tx_long(move |tx| {
            let mut row = find_for_update(tx, base)?;
            let document = knowledge::document(tx, base, kind, &source)?
                .ok_or_else(|| Failure::not_found("document"))?;
            change_version(tx, &context, &mut row)?;
            row.updated_at = context.now;
            row.documents -= 1;
            row.passages -= document.passages;
            knowledge::remove_document(tx, &document, row.version)?;
            knowledge::save(tx, &row)?;
            tx.wake(topics::KNOWLEDGE);
            Ok(())
        })
        .await
}

//! Making, reading and deleting bases (docs/contract/knowledge-bases.md#bases).

use api::error_codes::KNOWLEDGE_BASE_LIMIT;
use api::knowledge_bases::{
    KnowledgeBase as BaseView, KnowledgeBaseDetail, KnowledgeDocument, MAX_BASES, NewKnowledgeBase,
};
use app::{App, Failure, access, actions, topics};
use domain::ids::{Id, KnowledgeBase};
use domain::tenant::Tenant;
use store::TenantTx;
use store::knowledge::{self, BaseRow, DocumentRow};

use crate::shelf;

pub(crate) fn missing() -> Failure {
    Failure::not_found("knowledge base")
}

/// Whether there is a base with this id.
///
/// # Errors
/// 404.
pub(crate) async fn check(app: &App, tenant: Tenant, id: Id<KnowledgeBase>) -> Result<(), Failure> {
    app.of(tenant).read(move |tx| knowledge::get(tx, id)?.map(drop).ok_or_else(missing)).await
}

/// The base of this id, held against other writers until the transaction ends.
pub(crate) fn find_for_update(tx: &mut TenantTx, id: Id<KnowledgeBase>) -> Result<BaseRow, Failure> {
    knowledge::get_for_update(tx, id)?.ok_or_else(missing)
}

fn view(row: &BaseRow, agents: i64) -> BaseView {
    BaseView {
        id: row.id,
        name: row.name.clone(),
        document_count: row.documents,
        chunk_count: row.passages,
        agent_count: agents,
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

fn document_view(row: DocumentRow) -> KnowledgeDocument {
    KnowledgeDocument {
        source: row.source,
        r#type: row.kind,
        chunk_count: row.passages,
        chars: row.chars,
        updated_at: row.updated_at,
    }
}

/// `GET /v1/knowledge-bases`: all of them, newest first.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<BaseView>, Failure> {
    app.store
        .read(move |tx| {
            let agents = knowledge::agents_by_base(&mut tx.of(tenant))?;
            let of = |id| agents.iter().find(|(base, _)| *base == id).map_or(0, |(_, count)| *count);
            Ok(knowledge::list(&mut tx.of(tenant))?.iter().map(|row| view(row, of(row.id))).collect())
        })
        .await
}

/// `GET /v1/knowledge-bases/{id}`.
///
/// # Errors
/// 404.
pub async fn get(app: &App, tenant: Tenant, id: Id<KnowledgeBase>) -> Result<KnowledgeBaseDetail, Failure> {
    app.of(tenant)
        .read(move |tx| {
            let row = knowledge::get(tx, id)?.ok_or_else(missing)?;
            let base = view(&row, knowledge::agents_of(tx, id)?);
            let documents = knowledge::documents(tx, id)?.into_iter().map(document_view).collect();
            Ok(KnowledgeBaseDetail { base, documents })
        })
        .await
}

/// `POST /v1/knowledge-bases`.
///
/// # Errors
/// 409 `knowledge_base_limit`.
pub async fn create(app: &App, tenant: Tenant, body: NewKnowledgeBase) -> Result<BaseView, Failure> {
    let context = app.context();
    let row = BaseRow {
        id: context.ids.make(),
        workspace: tenant,
        name: body.name,
        version: 0,
        documents: 0,
        passages: 0,
        last_number: 0,
        removals_from: 0,
        created_at: context.now,
        updated_at: context.now,
    };
    app.of(tenant)
        .tx(move |tx| {
            // Holding the workspace makes the count exact.
            access::workspace_for_update(tx)?;
            if knowledge::count(tx)? >= MAX_BASES {
                return Err(Failure::plain(KNOWLEDGE_BASE_LIMIT));
            }
            knowledge::insert(tx, &row)?;
            actions::about(tx, row.id);
            actions::changed(tx, &(), &serde_json::json!({"name": row.name}));
            Ok(view(&row, 0))
        })
        .await
}

/// `DELETE /v1/knowledge-bases/{id}`: it is gone at once, for agents too; its documents are deleted afterwards, in
/// batches.
///
/// # Errors
/// 404.
pub async fn delete(app: &App, tenant: Tenant, id: Id<KnowledgeBase>) -> Result<(), Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            find_for_update(tx, id)?;
            knowledge::delete(tx, id, context.now)?;
            tx.wake(topics::KNOWLEDGE);
            Ok::<_, Failure>(())
        })
        .await?;
    shelf::of(app).forget(id);
    Ok(())
}

//! Knowledge bases, their documents and passages (docs/contract/knowledge-bases.md).

use const_format::formatcp;
use domain::ids::{Agent, Id, KnowledgeBase, KnowledgeDocument};
use domain::knowledge::SourceKind;
use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::topic::Topic;

use crate::changes;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx, Value, any_of};
use crate::params;

row! {
    /// A knowledge base as stored.
    #[derive(Debug, Clone)]
    pub struct BaseRow in "knowledge_bases" {
        id: Id<KnowledgeBase>,
        workspace: Tenant,
        name: String,
        /// Grows by a random step with every change of its documents.
        version: i64,
        /// How many documents it has.
        documents: i64,
        /// How many passages they have.
        passages: i64,
        /// The last number that a document or a passage got.
        last_number: i64,
        /// Removals up to this version are not listed any more.
        removals_from: i64,
        created_at: Timestamp,
        /// When its documents last changed.
        updated_at: Timestamp,
    }
}

const COLUMNS: &str = BaseRow::COLUMNS;

pub fn insert(tx: &mut Tx<'_>, row: &BaseRow) -> Result<(), DbError> {
    changes::note(
        &mut tx.of(row.workspace),
        row.created_at,
        None,
        Topic::Knowledge,
        Some(&row.id.to_string()),
    )?;
    tx.later(BaseRow::INSERT, &row.values())
}

pub fn get(tx: &mut TenantTx, id: Id<KnowledgeBase>) -> Result<Option<BaseRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from knowledge_bases where workspace = ?1 and id = ?2 and deleted_at is null"
        ),
        params![id],
    )
}

/// One base, locked until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<KnowledgeBase>) -> Result<Option<BaseRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from knowledge_bases where workspace = ?1 and id = ?2 and deleted_at is null /*pg for update*/"
        ),
        params![id],
    )
}

/// Whether a base exists; a shared lock blocks its deletion until the transaction ends.
pub fn keep(tx: &mut TenantTx, id: Id<KnowledgeBase>) -> Result<bool, DbError> {
    tx.exists(
        "select cast(1 as bigint) from knowledge_bases where workspace = ?1 and id = ?2 and deleted_at is null /*pg for key share*/",
        params![id],
    )
}

/// The bases of a workspace, newest first.
pub fn list(tx: &mut TenantTx) -> Result<Vec<BaseRow>, DbError> {
    tx.all(
        formatcp!(
            "select {COLUMNS} from knowledge_bases where workspace = ?1 and deleted_at is null order by id desc"
        ),
        &[],
    )
}

/// How many bases a workspace has.
pub fn count(tx: &mut TenantTx) -> Result<i64, DbError> {
    let sql = "select count(*) from knowledge_bases where workspace = ?1 and deleted_at is null";
    Ok(tx.one(sql, &[])?.unwrap_or(0))
}

/// How many passages the other bases of a workspace have.
pub fn passages_of_others(tx: &mut TenantTx, base: Id<KnowledgeBase>) -> Result<i64, DbError> {
    let sql = "select cast(coalesce(sum(passages), 0) as bigint) from knowledge_bases \
         where workspace = ?1 and id <> ?2 and deleted_at is null";
    Ok(tx.one(sql, params![base])?.unwrap_or(0))
}

/// How many agents use each base of a workspace; a base that none uses is not listed.
pub fn agents_by_base(tx: &mut TenantTx) -> Result<Vec<(Id<KnowledgeBase>, i64)>, DbError> {
    tx.all(
        "select knowledge_base, count(*) from agents \
         where workspace = ?1 and knowledge_base is not null and deleted_at is null group by knowledge_base",
        &[],
    )
}

/// How many agents use a base.
pub fn agents_of(tx: &mut TenantTx, id: Id<KnowledgeBase>) -> Result<i64, DbError> {
    let sql =
        "select count(*) from agents where workspace = ?1 and knowledge_base = ?2 and deleted_at is null";
    Ok(tx.one(sql, params![id])?.unwrap_or(0))
}

/// The base that an agent answers from.
pub fn base_of_agent(tx: &mut TenantTx, agent: Id<Agent>) -> Result<Option<Id<KnowledgeBase>>, DbError> {
    tx.one(
        "select knowledge_base from agents \
         where workspace = ?1 and id = ?2 and knowledge_base is not null and deleted_at is null",
        params![agent],
    )
}

/// Saves a base that the caller has locked.
pub fn save(tx: &mut Tx<'_>, row: &BaseRow) -> Result<(), DbError> {
    changes::note(
        &mut tx.of(row.workspace),
        row.updated_at,
        None,
        Topic::Knowledge,
        Some(&row.id.to_string()),
    )?;
    let (sql, values) = update!(
        "knowledge_bases" set {
            version: row.version,
            documents: row.documents,
            passages: row.passages,
            last_number: row.last_number,
            removals_from: row.removals_from,
            updated_at: row.updated_at,
        }
        where "workspace = ?1 and id = ?2 and deleted_at is null", row.workspace, row.id
    );
    tx.later(sql, &values)
}

/// Deletes a base that the caller has locked and no agent uses. Its documents are removed later.
pub fn delete(tx: &mut TenantTx, id: Id<KnowledgeBase>, now: Timestamp) -> Result<(), DbError> {
    changes::note(tx, now, None, Topic::Knowledge, Some(&id.to_string()))?;
    tx.later(
        "update agents set knowledge_base = null, updated_at = ?3 \
         where workspace = ?1 and knowledge_base = ?2 and deleted_at is null",
        params![id, now],
    )?;
    tx.later(
        "update knowledge_bases set deleted_at = ?3 where workspace = ?1 and id = ?2 and deleted_at is null",
        params![id, now],
    )
}

row! {
    #[derive(Debug, Clone)]
    pub struct DocumentRow in "knowledge_documents" {
        id: Id<KnowledgeDocument>,
        workspace: Tenant,
        base: Id<KnowledgeBase>,
        /// Its number in the base.
        number: i64,
        /// Whether it is a text, a file or a page.
        kind: SourceKind,
        /// Its title, file name or address.
        source: String,
        /// How many characters were read.
        chars: i64,
        /// How many passages it has.
        passages: i64,
        /// The version of the base that has it as it is.
        version: i64,
        /// When it was added.
        created_at: Timestamp,
        /// When it was last replaced.
        updated_at: Timestamp,
    }
}

const DOCUMENT: &str = DocumentRow::COLUMNS;

/// The documents of a base, in the order in which they were added.
pub fn documents(tx: &mut TenantTx, base: Id<KnowledgeBase>) -> Result<Vec<DocumentRow>, DbError> {
    tx.all(
        formatcp!(
            "select {DOCUMENT} from knowledge_documents where workspace = ?1 and base = ?2 order by id"
        ),
        params![base],
    )
}

/// The document of a base by its source.
pub fn document(
    tx: &mut TenantTx,
    base: Id<KnowledgeBase>,
    kind: SourceKind,
    source: &str,
) -> Result<Option<DocumentRow>, DbError> {
    tx.one(
        formatcp!(
            "select {DOCUMENT} from knowledge_documents where workspace = ?1 and base = ?2 and kind = ?3 and source = ?4"
        ),
        params![base, kind, source],
    )
}

/// Adds a document to a base that the caller has locked.
pub fn insert_document(tx: &mut Tx<'_>, row: &DocumentRow) -> Result<(), DbError> {
    tx.later(DocumentRow::INSERT, &row.values())
}

/// Saves a document of a base that the caller has locked.
pub fn save_document(tx: &mut Tx<'_>, row: &DocumentRow) -> Result<(), DbError> {
    let (sql, values) = update!(
        "knowledge_documents" set {
            chars: row.chars,
            passages: row.passages,
            version: row.version,
            updated_at: row.updated_at,
        }
        where "workspace = ?1 and id = ?2", row.workspace, row.id
    );
    tx.later(sql, &values)
}

/// Deletes a document with its passages from a base that the caller has locked.
pub fn remove_document(tx: &mut Tx<'_>, row: &DocumentRow, version: i64) -> Result<(), DbError> {
    remove_passages(tx, row)?;
    tx.later(
        "delete from knowledge_documents where workspace = ?1 and id = ?2",
        params![row.workspace, row.id],
    )?;
    tx.later(
        "insert into knowledge_removals (base, workspace, number, version) values (?1, ?2, ?3, ?4)",
        params![row.base, row.workspace, row.number, version],
    )
}

/// Removes the passages of a document.
pub fn remove_passages(tx: &mut Tx<'_>, row: &DocumentRow) -> Result<(), DbError> {
    tx.later(
        "delete from passage_vectors where workspace = ?1 and base = ?2 and number in \
         (select number from knowledge_passages where workspace = ?1 and base = ?2 and document = ?3)",
        params![row.workspace, row.base, row.number],
    )?;
    tx.later(
        "delete from knowledge_passages where workspace = ?1 and base = ?2 and document = ?3",
        params![row.workspace, row.base, row.number],
    )
}

/// Takes versions up to this one, and removals up to it, from their lists.
pub fn forget_versions(tx: &mut TenantTx, base: Id<KnowledgeBase>, version: i64) -> Result<(), DbError> {
    for sql in [
        "delete from knowledge_versions where workspace = ?1 and base = ?2 and version <= ?3",
        "delete from knowledge_removals where workspace = ?1 and base = ?2 and version <= ?3",
    ] {
        tx.later(sql, params![base, version])?;
    }
    Ok(())
}

/// Records a version of a base that the caller has locked; idempotent.
pub fn insert_version(tx: &mut TenantTx, base: Id<KnowledgeBase>, version: i64) -> Result<(), DbError> {
    tx.later(
        "insert into knowledge_versions (workspace, base, version) values (?1, ?2, ?3) on conflict (base, version) do nothing",
        params![base, version],
    )
}

/// Whether a base had this version, as far as its versions are listed.
pub fn had_version(tx: &mut TenantTx, base: Id<KnowledgeBase>, version: i64) -> Result<bool, DbError> {
    tx.exists(
        "select cast(1 as bigint) from knowledge_versions where workspace = ?1 and base = ?2 and version = ?3",
        params![base, version],
    )
}

/// The version that a base had so many changes ago, as far as its versions are listed.
pub fn version_before(
    tx: &mut TenantTx,
    base: Id<KnowledgeBase>,
    changes: i64,
) -> Result<Option<i64>, DbError> {
    tx.one(
        "select version from knowledge_versions where workspace = ?1 and base = ?2 order by version desc limit 1 offset ?3",
        params![base, changes],
    )
}

row! {
    #[derive(Debug, Clone)]
    pub struct PassageRow in "knowledge_passages" {
        base: Id<KnowledgeBase>,
        /// Its number in the base.
        number: i64,
        workspace: Tenant,
        document: i64,
        /// The path of headings above it; `None` without one.
        heading: Option<String>,
        /// The page that it begins on.
        page: Option<i64>,
        content: String,
    }
}

/// Adds passages of a document.
pub fn insert_passages(tx: &mut TenantTx, rows: &[PassageRow]) -> Result<(), DbError> {
    let tenant = tx.tenant();
    debug_assert!(rows.iter().all(|row| row.workspace == tenant), "passages of another workspace");
    tx.unbound().insert_all(PassageRow::INTO, rows.iter().map(PassageRow::values))
}

/// Documents of a base that are newer than a version, oldest version first: the number of each, and how many
/// passages it has.
pub fn changed_documents(
    tx: &mut TenantTx,
    base: Id<KnowledgeBase>,
    after: i64,
) -> Result<Vec<(i64, i64)>, DbError> {
    tx.all(
        "select number, passages from knowledge_documents where workspace = ?1 and base = ?2 and version > ?3 order by version",
        params![base, after],
    )
}

/// Numbers of the documents that were removed from a base after a version.
pub fn removals(tx: &mut TenantTx, base: Id<KnowledgeBase>, after: i64) -> Result<Vec<i64>, DbError> {
    tx.all(
        "select number from knowledge_removals where workspace = ?1 and base = ?2 and version > ?3",
        params![base, after],
    )
}

/// The passages of some documents, by their numbers.
pub fn passages_of(
    tx: &mut TenantTx,
    base: Id<KnowledgeBase>,
    documents: &[i64],
) -> Result<Vec<PassageRow>, DbError> {
    if documents.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = vec![Value::from(base)];
    let list = tx.any_of(&mut values, documents.iter().map(|number| (*number).into()));
    let sql = format!(
        "select {} from knowledge_passages where workspace = ?1 and base = ?2 and document in {list}",
        PassageRow::COLUMNS
    );
    tx.all(&sql, &values)
}

row! {
    /// A passage with where it is from.
    #[derive(Debug, Clone)]
    pub struct FoundRow {
        /// Its number in the base.
        number: i64 as "p.number",
        /// The path of headings above it; `None` without one.
        heading: Option<String> as "p.heading",
        /// The page that it begins on.
        page: Option<i64> as "p.page",
        content: String as "p.content",
        /// The source of its document.
        kind: SourceKind as "d.kind",
        /// Title, file name or address of its document.
        source: String as "d.source",
    }
}

/// Some passages of a base, by their numbers.
pub fn found(tx: &mut TenantTx, base: Id<KnowledgeBase>, numbers: &[i64]) -> Result<Vec<FoundRow>, DbError> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = vec![Value::from(base)];
    let list = tx.any_of(&mut values, numbers.iter().map(|number| (*number).into()));
    // The base of a passage that is found may have been deleted since.
    let sql = format!(
        "select {} from knowledge_passages p join knowledge_bases b on b.id = p.base and b.deleted_at is null \
         join knowledge_documents d on d.base = p.base and d.number = p.document \
         where p.workspace = ?1 and b.workspace = ?1 and d.workspace = ?1 and p.base = ?2 and p.number in {list}",
        FoundRow::COLUMNS
    );
    tx.all(&sql, &values)
}

/// Across workspaces: how many bases there are, and how many passages they have.
pub fn totals(tx: &mut Tx<'_>) -> Result<(i64, i64), DbError> {
    let sql = "select count(*), cast(coalesce(sum(passages), 0) as bigint) from knowledge_bases where deleted_at is null";
    Ok(tx.one(sql, &[])?.unwrap_or((0, 0)))
}

/// Across workspaces: a base that is deleted and still has rows.
pub fn deleted(tx: &mut Tx<'_>) -> Result<Option<Id<KnowledgeBase>>, DbError> {
    tx.one("select id from knowledge_bases where deleted_at is not null order by deleted_at, id limit 1", &[])
}

/// Across workspaces: deletes up to `limit` passages of a deleted base, and the rest of it after the last one. Returns
/// whether the base is gone.
pub fn sweep(tx: &mut Tx<'_>, base: Id<KnowledgeBase>, limit: i64) -> Result<bool, DbError> {
    let gone = "exists (select 1 from knowledge_bases where id = ?1 and deleted_at is not null)";
    // The same passages: nothing is added to a base that is deleted.
    tx.later(
        &format!(
            "delete from passage_vectors where base = ?1 and number in \
             (select number from knowledge_passages where base = ?1 order by number limit ?2) and {gone}"
        ),
        params![base, limit],
    )?;
    let sql = format!(
        "delete from knowledge_passages where base = ?1 and number in \
         (select number from knowledge_passages where base = ?1 order by number limit ?2) and {gone}"
    );
    if tx.exec(&sql, params![base, limit])? >= u64::try_from(limit).unwrap_or(0) {
        return Ok(false);
    }
    for table in
        ["knowledge_documents", "knowledge_removals", "knowledge_versions", "passage_vectors", "base_vectors"]
    {
        tx.later(&format!("delete from {table} where base = ?1 and {gone}"), params![base])?;
    }
    tx.later("delete from knowledge_bases where id = ?1 and deleted_at is not null", params![base])?;
    Ok(true)
}

/// Across workspaces: those of these bases that there are, each with its workspace and version.
pub fn versions(
    tx: &mut Tx<'_>,
    bases: &[Id<KnowledgeBase>],
) -> Result<Vec<(Id<KnowledgeBase>, Tenant, i64)>, DbError> {
    if bases.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = Vec::new();
    let list = any_of(&mut values, bases.iter().map(|base| (*base).into()));
    let sql = format!(
        "select id, workspace, version from knowledge_bases where deleted_at is null and id in {list}"
    );
    tx.all(&sql, &values)
}

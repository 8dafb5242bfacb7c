//! Vectors of the passages of knowledge bases, and how far each base has them.

use domain::ids::{Id, KnowledgeBase};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// A base that lacks vectors.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct WantingRow {
        base: Id<KnowledgeBase> as "b.id",
        workspace: Tenant as "b.workspace",
        version: i64 as "b.version",
        /// When it is due.
        next_at: Timestamp as "coalesce(v.next_at, 0)",
        /// Tries that failed in a row.
        failures: i64 as "coalesce(v.failures, 0)",
    }
}

/// Across workspaces: up to `limit` bases that have passages without a vector of this model, those that may be worked
/// at first, first.
pub fn wanting(tx: &mut Tx<'_>, model: &str, limit: i64) -> Result<Vec<WantingRow>, DbError> {
    let sql = format!(
        "select {} from knowledge_bases b left join base_vectors v on v.base = b.id \
         where b.deleted_at is null and b.passages > 0 and (v.base is null or v.model <> ?1 or v.version < b.version) \
         order by coalesce(v.next_at, 0), b.id limit ?2",
        WantingRow::COLUMNS
    );
    tx.all(&sql, params![model, limit])
}

/// Leases a base until a timestamp; `false` if another node has it.
pub fn claim(
    tx: &mut TenantTx,
    base: Id<KnowledgeBase>,
    now: Timestamp,
    until: Timestamp,
) -> Result<bool, DbError> {
    let sql = "insert into base_vectors (base, workspace, model, version, failures, next_at) values (?2, ?1, '', 0, 0, ?4) \
               on conflict (base) do update set next_at = excluded.next_at where base_vectors.next_at <= ?3";
    Ok(tx.exec(sql, params![base, now, until])? > 0)
}

/// Passages of a base without a vector of this model, after a number, oldest first: number, headings, and text of each.
pub fn missing(
    tx: &mut TenantTx,
    base: Id<KnowledgeBase>,
    model: &str,
    after: i64,
    limit: i64,
) -> Result<Vec<(i64, Option<String>, String)>, DbError> {
    tx.all(
        "select p.number, p.heading, p.content from knowledge_passages p \
         left join passage_vectors v on v.base = p.base and v.number = p.number and v.model = ?3 \
         where p.workspace = ?1 and p.base = ?2 and p.number > ?4 and v.number is null order by p.number limit ?5",
        params![base, model, after, limit],
    )
}

/// Stores the vector of a passage, unless the passage is deleted.
pub fn save(
    tx: &mut TenantTx,
    base: Id<KnowledgeBase>,
    number: i64,
    model: &str,
    vector: &[u8],
) -> Result<(), DbError> {
    let sql = "insert into passage_vectors (base, number, workspace, model, vector) \
               select p.base, p.number, p.workspace, ?4/*pg ::text*/, ?5/*pg ::bytea*/ from knowledge_passages p \
               where p.workspace = ?1 and p.base = ?2 and p.number = ?3 \
               on conflict (base, number) do update set model = excluded.model, vector = excluded.vector";
    tx.exec(sql, params![base, number, model, vector]).map(|_| ())
}

/// Lets go of a base: its passages have vectors of this model up to a version.
pub fn complete(
    tx: &mut TenantTx,
    base: Id<KnowledgeBase>,
    model: &str,
    version: i64,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.later(
        "update base_vectors set model = ?3, version = ?4, failures = 0, next_at = ?5 where workspace = ?1 and base = ?2",
        params![base, model, version, now],
    )
}

/// Ends the lease of a base, which is due at a timestamp; `failed` counts a failed attempt.
pub fn put_off(
    tx: &mut TenantTx,
    base: Id<KnowledgeBase>,
    until: Timestamp,
    failed: bool,
) -> Result<(), DbError> {
    tx.later(
        "update base_vectors set next_at = ?3, failures = case when cast(?4 as bigint) = 1 then failures + 1 else 0 end \
         where workspace = ?1 and base = ?2",
        params![base, until, i64::from(failed)],
    )
}

/// Up to which version of a base every passage has a vector of this model.
pub fn complete_to(tx: &mut TenantTx, base: Id<KnowledgeBase>, model: &str) -> Result<Option<i64>, DbError> {
    tx.one(
        "select v.version from base_vectors v join knowledge_bases b on b.id = v.base and b.deleted_at is null \
         where v.workspace = ?1 and v.base = ?2 and v.model = ?3",
        params![base, model],
    )
}

/// The vectors of the passages that a base has, after a number, in order.
pub fn of_base(
    tx: &mut TenantTx,
    base: Id<KnowledgeBase>,
    model: &str,
    after: i64,
    limit: i64,
) -> Result<Vec<(i64, Vec<u8>)>, DbError> {
    tx.all(
        "select v.number, v.vector from passage_vectors v join knowledge_passages p on p.base = v.base and p.number = v.number \
         where v.workspace = ?1 and v.base = ?2 and v.model = ?3 and v.number > ?4 order by v.number limit ?5",
        params![base, model, after, limit],
    )
}

//! Accounts of outside systems. Their credentials and access tokens are sealed.

use const_format::formatcp;
use domain::ids::{Id, Integration};
use domain::integration::{Provider, PushedCalls, Status};
use domain::time::Timestamp;
use domain::topic::Topic;

use crate::changes;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct IntegrationRow in "integrations" {
        id: Id<Integration>,
        provider: Provider,
        credentials: String,
        /// Sealed access token; empty before the first one.
        token: String,
        /// When the token has to be renewed.
        token_until: Option<Timestamp>,
        /// Whether it can be used.
        status: Status,
        /// Why it is broken.
        last_error: Option<String>,
        /// Which calls are written back.
        push: Option<PushedCalls>,
        /// The end of the lease for refreshing the token.
        renewing_until: Option<Timestamp>,
        created_at: Timestamp,
        /// When its credentials last changed.
        updated_at: Timestamp,
        /// Grows with every change of credentials and token.
        version: i64,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = IntegrationRow::COLUMNS;

pub fn insert(tx: &mut TenantTx, row: &IntegrationRow) -> Result<(), DbError> {
    changes::note(tx, row.created_at, None, Topic::Integrations, Some(&row.id.to_string()))?;
    tx.later(IntegrationRow::INSERT, &row.values())
}

/// The integrations of a workspace, newest first.
pub fn list(tx: &mut TenantTx) -> Result<Vec<IntegrationRow>, DbError> {
    let sql = formatcp!("select {COLUMNS} from integrations where workspace = ?1 order by id desc");
    tx.all(sql, &[])
}

/// How many integrations a workspace has.
pub fn count(tx: &mut TenantTx) -> Result<i64, DbError> {
    let sql = "select count(*) from integrations where workspace = ?1";
    Ok(tx.one(sql, &[])?.unwrap_or(0))
}

pub fn get(tx: &mut TenantTx, id: Id<Integration>) -> Result<Option<IntegrationRow>, DbError> {
    let sql = formatcp!("select {COLUMNS} from integrations where workspace = ?1 and id = ?2");
    tx.one(sql, params![id])
}

/// One integration, locked against other writers until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<Integration>) -> Result<Option<IntegrationRow>, DbError> {
    let sql =
        formatcp!("select {COLUMNS} from integrations where workspace = ?1 and id = ?2 /*pg for update*/");
    tx.one(sql, params![id])
}

/// The system of an integration, which then cannot be deleted until the transaction ends: what names it has
/// to be stored in the same transaction.
pub fn provider_of(tx: &mut TenantTx, id: Id<Integration>) -> Result<Option<Provider>, DbError> {
    let sql = "select provider from integrations where workspace = ?1 and id = ?2 /*pg for share*/";
    tx.one(sql, params![id])
}

/// Saves an integration that the caller has locked.
pub fn save(tx: &mut TenantTx, row: &IntegrationRow) -> Result<(), DbError> {
    changes::note(tx, row.updated_at, None, Topic::Integrations, Some(&row.id.to_string()))?;
    let (sql, values) = update!(
        "integrations" of tenant set {
            credentials: &row.credentials,
            token: &row.token,
            token_until: row.token_until,
            status: row.status,
            last_error: row.last_error.as_deref(),
            push: row.push,
            renewing_until: row.renewing_until,
            updated_at: row.updated_at,
            version: row.version,
        }
        where "id = ?2", row.id
    );
    tx.later(sql, &values)
}

/// Deletes an integration; `false` when there is none.
pub fn delete(tx: &mut TenantTx, id: Id<Integration>) -> Result<bool, DbError> {
    Ok(tx.exec("delete from integrations where workspace = ?1 and id = ?2", params![id])? > 0)
}

//! Webhook endpoints.

use const_format::formatcp;
use domain::ids::{Id, WebhookEndpoint};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::topic::Topic;
use serde_json::Value as Json;

use crate::changes;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// A webhook endpoint as stored.
    #[derive(Debug, Clone)]
    pub struct EndpointRow in "webhook_endpoints" {
        id: Id<WebhookEndpoint>,
        /// Where deliveries go.
        url: String,
        /// Event types that were picked; empty for the default set.
        events: Vec<String> = |events| { events: Json = Json::from(events.clone()) } => names(&events),
        /// Agents that events about an agent must be about; empty for all.
        agent_ids: Vec<String> = |agents| { agent_ids: Json = Json::from(agents.clone()) } => names(&agent_ids),
        /// The owner's note.
        description: Option<String>,
        /// Whether it receives anything.
        active: bool = |active| { status: String = status(*active) } => status == ACTIVE,
        /// Sealed signing secret.
        secret: String,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = EndpointRow::COLUMNS;

const ACTIVE: &str = "active";

fn status(active: bool) -> &'static str {
    if active { ACTIVE } else { "disabled" }
}

fn names(json: &Json) -> Vec<String> {
    json.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

pub fn insert(tx: &mut TenantTx, row: &EndpointRow) -> Result<(), DbError> {
    changes::note(tx, row.created_at, None, Topic::Webhooks, Some(&row.id.to_string()))?;
    tx.later(EndpointRow::INSERT, &row.values())
}

/// Writes everything that can change but the secret.
pub fn update(tx: &mut TenantTx, row: &EndpointRow) -> Result<(), DbError> {
    changes::note(tx, row.updated_at, None, Topic::Webhooks, Some(&row.id.to_string()))?;
    let (sql, values) = update!(
        "webhook_endpoints" of tenant set {
            url: &row.url,
            events: Json::from(row.events.clone()),
            agent_ids: Json::from(row.agent_ids.clone()),
            description: row.description.as_deref(),
            status: status(row.active),
            updated_at: row.updated_at,
        }
        where "id = ?2 and status <> 'deleted'", row.id
    );
    tx.later(sql, &values)
}

/// Replaces the signing secret; whether the endpoint exists.
pub fn set_secret(
    tx: &mut TenantTx,
    id: Id<WebhookEndpoint>,
    sealed: &str,
    now: Timestamp,
) -> Result<bool, DbError> {
    changes::note(tx, now, None, Topic::Webhooks, Some(&id.to_string()))?;
    let sql = "update webhook_endpoints set secret = ?3, updated_at = ?4 where workspace = ?1 and id = ?2 and status <> 'deleted'";
    Ok(tx.exec(sql, params![id, sealed, now])? > 0)
}

/// Marks an endpoint as deleted and forgets where it was; whether it existed. Its log is dropped with age.
pub fn delete(tx: &mut TenantTx, id: Id<WebhookEndpoint>, now: Timestamp) -> Result<bool, DbError> {
    changes::note(tx, now, None, Topic::Webhooks, Some(&id.to_string()))?;
    let sql = "update webhook_endpoints set status = 'deleted', url = '', description = null, secret = '', updated_at = ?3 \
         where workspace = ?1 and id = ?2 and status <> 'deleted'";
    Ok(tx.exec(sql, params![id, now])? > 0)
}

pub fn get(tx: &mut TenantTx, id: Id<WebhookEndpoint>) -> Result<Option<EndpointRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from webhook_endpoints where workspace = ?1 and id = ?2 and status <> 'deleted'"
    );
    tx.one(sql, params![id])
}

/// One endpoint, locked against other writers until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<WebhookEndpoint>) -> Result<Option<EndpointRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from webhook_endpoints where workspace = ?1 and id = ?2 and status <> 'deleted' /*pg for update*/"
    );
    tx.one(sql, params![id])
}

/// The endpoints of a workspace, newest first; there are at most 20.
pub fn list(tx: &mut TenantTx) -> Result<Vec<EndpointRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from webhook_endpoints where workspace = ?1 and status <> 'deleted' order by id desc"
    );
    tx.all(sql, &[])
}

/// How many endpoints a workspace has.
pub fn count(tx: &mut TenantTx) -> Result<i64, DbError> {
    let sql = "select count(*) from webhook_endpoints where workspace = ?1 and status <> 'deleted'";
    Ok(tx.one(sql, &[])?.unwrap_or(0))
}

/// Across workspaces: all endpoints after `after`, deleted ones included, and whether they are deleted.
pub fn page_of_all(
    tx: &mut Tx<'_>,
    after: &str,
    limit: i64,
) -> Result<Vec<(Tenant, Id<WebhookEndpoint>, bool)>, DbError> {
    let sql = "select workspace, id, status from webhook_endpoints where id > ?1 order by id limit ?2";
    let found: Vec<(_, _, String)> = tx.all(sql, params![after, limit])?;
    Ok(found.into_iter().map(|(tenant, id, status)| (tenant, id, status == "deleted")).collect())
}

/// Forgets a deleted endpoint that has no log any more.
pub fn forget(tx: &mut TenantTx, id: Id<WebhookEndpoint>) -> Result<(), DbError> {
    let sql = "delete from webhook_endpoints where workspace = ?1 and id = ?2 and status = 'deleted' \
         and not exists (select 1 from deliveries where workspace = ?1 and endpoint = ?2)";
    tx.exec(sql, params![id]).map(|_| ())
}

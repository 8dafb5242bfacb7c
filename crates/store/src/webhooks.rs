//! Webhook endpoints.

use domain::ids::{Id, WebhookEndpoint};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::{DbError, Row, Tx};
use crate::params;

/// A webhook endpoint as stored.
#[derive(Debug, Clone)]
pub struct EndpointRow {
    /// Its id.
    pub id: Id<WebhookEndpoint>,
    /// Where deliveries go.
    pub url: String,
    /// Event types that were picked; empty for the default set.
    pub events: Vec<String>,
    /// Agents that events about an agent must be about; empty for all.
    pub agent_ids: Vec<String>,
    /// The owner's note.
    pub description: Option<String>,
    /// Whether it receives anything.
    pub active: bool,
    /// Sealed signing secret.
    pub secret: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

const COLUMNS: &str = "id, url, events, agent_ids, description, status, secret, created_at, updated_at";
/// Columns of [`read`].
pub(crate) const WIDTH: usize = 9;
/// [`COLUMNS`] of the table under the name `w`.
pub(crate) const OF_W: &str =
    "w.id, w.url, w.events, w.agent_ids, w.description, w.status, w.secret, w.created_at, w.updated_at";

fn names(json: Json) -> Vec<String> {
    json.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

pub(crate) fn read(row: &Row<'_>) -> Result<EndpointRow, DbError> {
    Ok(EndpointRow {
        id: row.id(0)?,
        url: row.text(1)?,
        events: names(row.json(2)?),
        agent_ids: names(row.json(3)?),
        description: row.opt_text(4)?,
        active: row.text(5)? == "active",
        secret: row.text(6)?,
        created_at: row.time(7)?,
        updated_at: row.time(8)?,
    })
}

fn status(row: &EndpointRow) -> &'static str {
    if row.active { "active" } else { "disabled" }
}

/// Adds an endpoint.
pub fn insert(tx: &mut Tx<'_>, tenant: Tenant, row: &EndpointRow) -> Result<(), DbError> {
    tx.later(
        "insert into webhook_endpoints (id, workspace, url, events, agent_ids, description, status, secret, created_at, updated_at) \
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            row.id,
            tenant,
            &row.url,
            &Json::from(row.events.clone()),
            &Json::from(row.agent_ids.clone()),
            row.description.as_deref(),
            status(row),
            &row.secret,
            row.created_at,
            row.updated_at
        ],
    )
}

/// Writes everything that can change but the secret.
pub fn update(tx: &mut Tx<'_>, tenant: Tenant, row: &EndpointRow) -> Result<(), DbError> {
    tx.later(
        "update webhook_endpoints set url = ?3, events = ?4, agent_ids = ?5, description = ?6, status = ?7, updated_at = ?8 \
         where workspace = ?1 and id = ?2 and status <> 'deleted'",
        params![
            tenant,
            row.id,
            &row.url,
            &Json::from(row.events.clone()),
            &Json::from(row.agent_ids.clone()),
            row.description.as_deref(),
            status(row),
            row.updated_at
        ],
    )
}

/// Replaces the signing secret; whether the endpoint exists.
pub fn set_secret(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<WebhookEndpoint>,
    sealed: &str,
    now: Timestamp,
) -> Result<bool, DbError> {
    let sql = "update webhook_endpoints set secret = ?3, updated_at = ?4 where workspace = ?1 and id = ?2 and status <> 'deleted'";
    Ok(tx.exec(sql, params![tenant, id, sealed, now])? > 0)
}

/// Marks an endpoint as deleted and forgets where it was; whether it existed. Its log is dropped with age.
pub fn delete(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<WebhookEndpoint>,
    now: Timestamp,
) -> Result<bool, DbError> {
    let sql = "update webhook_endpoints set status = 'deleted', url = '', description = null, secret = '', updated_at = ?3 \
         where workspace = ?1 and id = ?2 and status <> 'deleted'";
    Ok(tx.exec(sql, params![tenant, id, now])? > 0)
}

/// One endpoint.
pub fn get(tx: &mut Tx<'_>, tenant: Tenant, id: Id<WebhookEndpoint>) -> Result<Option<EndpointRow>, DbError> {
    let sql = format!(
        "select {COLUMNS} from webhook_endpoints where workspace = ?1 and id = ?2 and status <> 'deleted'"
    );
    tx.one(&sql, params![tenant, id], read)
}

/// One endpoint, held against other writers until the transaction ends.
pub fn get_for_update(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<WebhookEndpoint>,
) -> Result<Option<EndpointRow>, DbError> {
    let sql = format!(
        "select {COLUMNS} from webhook_endpoints where workspace = ?1 and id = ?2 and status <> 'deleted' /*pg for update*/"
    );
    tx.one(&sql, params![tenant, id], read)
}

/// The endpoints of a workspace, newest first; there are at most 20.
pub fn list(tx: &mut Tx<'_>, tenant: Tenant) -> Result<Vec<EndpointRow>, DbError> {
    let sql = format!(
        "select {COLUMNS} from webhook_endpoints where workspace = ?1 and status <> 'deleted' order by id desc"
    );
    tx.all(&sql, params![tenant], read)
}

/// How many endpoints a workspace has.
pub fn count(tx: &mut Tx<'_>, tenant: Tenant) -> Result<i64, DbError> {
    let sql = "select count(*) from webhook_endpoints where workspace = ?1 and status <> 'deleted'";
    Ok(tx.one(sql, params![tenant], |row| row.int(0))?.unwrap_or(0))
}

/// Ids of all endpoints of every workspace after `after`, deleted ones included, with whether they are
/// deleted.
pub fn page_of_all(
    tx: &mut Tx<'_>,
    after: &str,
    limit: i64,
) -> Result<Vec<(Id<WebhookEndpoint>, bool)>, DbError> {
    let sql = "select id, status from webhook_endpoints where id > ?1 order by id limit ?2";
    tx.all(sql, params![after, limit], |row| Ok((row.id(0)?, row.text(1)? == "deleted")))
}

/// Forgets a deleted endpoint that has no log any more.
pub fn forget(tx: &mut Tx<'_>, id: Id<WebhookEndpoint>) -> Result<(), DbError> {
    let sql = "delete from webhook_endpoints where id = ?1 and status = 'deleted' and not exists (select 1 from deliveries where endpoint = ?1)";
    tx.exec(sql, params![id]).map(|_| ())
}

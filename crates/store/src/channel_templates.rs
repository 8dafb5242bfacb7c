//! Templates of the messaging channel, as the provider last described them.

use const_format::formatcp;
use domain::channel::{Category, TemplateStatus};
use domain::ids::{ChannelConnection, ChannelTemplate, Id};
use domain::time::Timestamp;
use domain::topic::Topic;
use serde_json::Value as Json;

use crate::changes;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct TemplateRow in "channel_templates" {
        id: Id<ChannelTemplate>,
        connection: Id<ChannelConnection>,
        /// The provider's id of it.
        provider_id: String,
        name: String,
        language: String,
        category: Category,
        /// The category that it is about to get.
        pending_category: Option<Category>,
        /// The category that it had.
        previous_category: Option<Category>,
        /// Whether it may be sent.
        status: TemplateStatus,
        /// Its components, a list in the channel's own form.
        components: Json,
        /// Whether its values have names.
        named: bool,
        /// The provider's word for its quality.
        quality: Option<String>,
        /// Why it was rejected.
        rejected_reason: Option<String>,
        /// When it was first synchronized.
        created_at: Timestamp,
        updated_at: Timestamp,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = TemplateRow::COLUMNS;

pub fn insert(tx: &mut TenantTx, row: &TemplateRow) -> Result<(), DbError> {
    changes::note(tx, row.created_at, None, Topic::Templates, Some(&row.id.to_string()))?;
    tx.uncache_all(CACHED);
    tx.later(TemplateRow::INSERT, &row.values())
}

/// A page of the templates of a workspace, newest first.
pub fn page(
    tx: &mut TenantTx,
    after: Option<&str>,
    name: Option<&str>,
    status: Option<TemplateStatus>,
    most: i64,
) -> Result<Vec<TemplateRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from channel_templates where workspace = ?1
            and (cast(?2 as text) is null or id < ?2) and (cast(?3 as text) is null or name = ?3)
            and (cast(?4 as text) is null or status = ?4)
        order by id desc limit ?5"
    );
    tx.all(sql, params![after, name, status, most])
}

/// All templates of a workspace; there is a ceiling on how many it has.
pub fn all(tx: &mut TenantTx) -> Result<Vec<TemplateRow>, DbError> {
    let sql = formatcp!("select {COLUMNS} from channel_templates where workspace = ?1 order by id");
    tx.all(sql, &[])
}

/// How many templates a workspace has.
pub fn count(tx: &mut TenantTx) -> Result<i64, DbError> {
    let sql = "select count(*) from channel_templates where workspace = ?1";
    Ok(tx.one(sql, &[])?.unwrap_or(0))
}

/// Key prefix of cached templates.
const CACHED: &str = "template ";

/// Reads and caches a template by its id, or by its name and language.
pub fn prefetch(
    tx: &mut TenantTx,
    id: Option<Id<ChannelTemplate>>,
    named: Option<(&str, &str)>,
) -> Result<(), DbError> {
    let tenant = tx.tenant();
    if let Some(id) = id {
        let row = get(tx, id)?;
        tx.cache_row(format!("{CACHED}{tenant} {id}"), row);
    }
    if let Some((name, language)) = named {
        let row = by_name(tx, name, language)?;
        tx.cache_row(format!("{CACHED}{tenant} {language} {name}"), row);
    }
    Ok(())
}

/// A template by its id.
pub fn get(tx: &mut TenantTx, id: Id<ChannelTemplate>) -> Result<Option<TemplateRow>, DbError> {
    let tenant = tx.tenant();
    if tx.has_cached_rows()
        && let Some(known) = tx.cached(&format!("{CACHED}{tenant} {id}"))
    {
        return Ok(known);
    }
    let sql = formatcp!("select {COLUMNS} from channel_templates where workspace = ?1 and id = ?2");
    tx.one(sql, params![id])
}

/// Like [`get`], locked until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<ChannelTemplate>) -> Result<Option<TemplateRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from channel_templates where workspace = ?1 and id = ?2 /*pg for update*/"
    );
    tx.one(sql, params![id])
}

/// A template by its name and language.
pub fn by_name(tx: &mut TenantTx, name: &str, language: &str) -> Result<Option<TemplateRow>, DbError> {
    let tenant = tx.tenant();
    if tx.has_cached_rows()
        && let Some(known) = tx.cached(&format!("{CACHED}{tenant} {language} {name}"))
    {
        return Ok(known);
    }
    let sql = formatcp!(
        "select {COLUMNS} from channel_templates where workspace = ?1 and name = ?2 and language = ?3"
    );
    tx.one(sql, params![name, language])
}

/// A template by the provider's id, locked until the transaction ends.
pub fn at_provider_for_update(tx: &mut TenantTx, provider_id: &str) -> Result<Option<TemplateRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from channel_templates where workspace = ?1 and provider_id = ?2 /*pg for update*/"
    );
    tx.one(sql, params![provider_id])
}

/// Writes what changes of a template.
pub fn save(tx: &mut TenantTx, row: &TemplateRow) -> Result<(), DbError> {
    changes::note(tx, row.updated_at, None, Topic::Templates, Some(&row.id.to_string()))?;
    tx.uncache_all(CACHED);
    let (sql, values) = update!(
        "channel_templates" of tenant set {
            provider_id: &row.provider_id,
            category: row.category,
            pending_category: row.pending_category,
            previous_category: row.previous_category,
            status: row.status,
            components: &row.components,
            named: row.named,
            quality: row.quality.as_deref(),
            rejected_reason: row.rejected_reason.as_deref(),
            updated_at: row.updated_at,
        }
        where "id = ?2", row.id
    );
    tx.later(sql, &values)
}

/// Removes a template; `false` when there is none.
pub fn delete(tx: &mut TenantTx, id: Id<ChannelTemplate>) -> Result<bool, DbError> {
    tx.uncache_all(CACHED);
    Ok(tx.exec("delete from channel_templates where workspace = ?1 and id = ?2", params![id])? > 0)
}

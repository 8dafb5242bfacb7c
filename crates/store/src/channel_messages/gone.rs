//! Messages that are emptied or removed.

use domain::ids::{ChannelMessage, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use super::CACHED_MESSAGE;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

/// Erases a message: content, recipient, media, and the provider's ids, which contain numbers.
pub fn erase(tx: &mut TenantTx, id: Id<ChannelMessage>, now: Timestamp) -> Result<(), DbError> {
    tx.uncache_all(CACHED_MESSAGE);
    let sql = "update channel_messages set words = null, content = null, media = null, media_object = null, media_bytes = null,
            media_at = null, customer = null, customer_user_id = null, customer_username = null, reply_to = null,
            provider_id = null,
            error_detail = case when error_code is null then null else '' end,
            status = 'deleted', next_at = null, lease_until = null, updated_at = ?3
        where workspace = ?1 and id = ?2";
    tx.later(sql, params![id, now])
}

/// Across workspaces: finished messages that are older than a timestamp.
pub fn made_before(
    tx: &mut Tx<'_>,
    before: Timestamp,
    most: i64,
) -> Result<Vec<(Tenant, Id<ChannelMessage>, Option<String>)>, DbError> {
    let sql = "select workspace, id, media_object from channel_messages
        where created_at < ?1 and next_at is null and lease_until is null order by created_at limit ?2";
    tx.all(sql, params![before, most])
}

pub fn remove(tx: &mut TenantTx, id: Id<ChannelMessage>) -> Result<(), DbError> {
    tx.uncache_all(CACHED_MESSAGE);
    tx.later("delete from channel_messages where workspace = ?1 and id = ?2", params![id])
}

//! Messages that are emptied or removed.

use domain::ids::{ChannelMessage, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use super::KNOWN_MESSAGE;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

/// Empties a message: what it says, whom it went to, and its media; the provider's ids hold numbers, too.
pub fn erase(tx: &mut TenantTx, id: Id<ChannelMessage>, now: Timestamp) -> Result<(), DbError> {
    tx.forget_all(KNOWN_MESSAGE);
    let sql = "update channel_messages set words = null, content = null, media = null, media_object = null, media_bytes = null,
            media_at = null, customer = null, customer_user_id = null, customer_username = null, reply_to = null,
            provider_id = null,
            error_detail = case when error_code is null then null else '' end,
            status = 'deleted', next_at = null, lease_until = null, updated_at = ?3
        where workspace = ?1 and id = ?2";
    tx.later(sql, params![id, now])
}

/// Across workspaces: messages that are over and older than a moment.
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
    tx.forget_all(KNOWN_MESSAGE);
    tx.later("delete from channel_messages where workspace = ?1 and id = ?2", params![id])
}

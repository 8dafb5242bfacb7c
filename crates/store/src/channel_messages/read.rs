//! Lists of messages.

use const_format::formatcp;
use domain::channel::{Direction, MessageStatus};
use domain::ids::{ChannelMessage, Chat, Contact, Id};

use super::{MESSAGE, MessageRow};
use crate::db::{DbError, TenantTx, Value};
use crate::params;

/// What a list of messages is narrowed down to.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub contact: Option<Id<Contact>>,
    pub chat: Option<Id<Chat>>,
    /// Sent with a template of this name.
    pub template_name: Option<String>,
    /// Going this way.
    pub direction: Option<Direction>,
    pub status: Option<MessageStatus>,
    /// Of this number, by the provider's id.
    pub phone_number_id: Option<String>,
}

/// A page of messages, newest first, older than `before`.
pub fn page(
    tx: &mut TenantTx,
    filter: &Filter,
    before: Option<&str>,
    most: i64,
) -> Result<Vec<MessageRow>, DbError> {
    let mut sql = format!("select {MESSAGE} from channel_messages where workspace = ?1 and id < ?2");
    let mut params: Vec<Value<'_>> = vec![before.unwrap_or("~").into()];
    let mut narrow = |column: &str, value: Option<Value<'static>>| {
        if let Some(value) = value {
            params.push(value);
            sql.push_str(&format!(" and {column} = ?{}", params.len() + 1));
        }
    };
    narrow("contact", filter.contact.map(|id| id.into()));
    narrow("chat", filter.chat.map(|id| id.into()));
    narrow("template_name", filter.template_name.clone().map(Value::from));
    narrow("direction", filter.direction.map(|word| word.as_str().into()));
    narrow("status", filter.status.map(|word| word.as_str().into()));
    narrow("phone_number_id", filter.phone_number_id.clone().map(Value::from));
    params.push(most.into());
    sql.push_str(&format!(" order by id desc limit ?{}", params.len() + 1));
    tx.all(&sql, &params)
}

/// The messages of a chat, oldest first, after `after`.
pub fn of_chat(
    tx: &mut TenantTx,
    chat: Id<Chat>,
    after: Option<Id<ChannelMessage>>,
    most: i64,
) -> Result<Vec<MessageRow>, DbError> {
    let sql = formatcp!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and chat = ?2 and id > ?3 order by id limit ?4"
    );
    let after = after.map_or_else(String::new, |id| id.to_string());
    tx.all(sql, params![chat, after, most])
}

/// Messages of some people, oldest first, after `after`, locked until the transaction ends.
pub fn of_contacts(
    tx: &mut TenantTx,
    contacts: &[Id<Contact>],
    after: &str,
    most: i64,
) -> Result<Vec<MessageRow>, DbError> {
    let mut params = vec![after.into(), most.into()];
    let list = tx.any_of(&mut params, contacts.iter().map(|id| (*id).into()));
    let sql = format!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and id > ?2 and contact in {list} order by id limit ?3 /*pg for update*/"
    );
    tx.all(&sql, &params)
}

//! The table of operations: each noun declares its rows beside its types, and they are gathered here.

pub use crate::operation::{Access, Idempotency, Method, Operation, RateClass, TestKeys};

/// Every operation, noun by noun.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    [
        crate::account::OPERATIONS,
        crate::agents::OPERATIONS,
        crate::tools::OPERATIONS,
        crate::calls::OPERATIONS,
        crate::recordings::OPERATIONS,
        crate::scheduled_calls::OPERATIONS,
        crate::nudges::OPERATIONS,
        crate::campaigns::OPERATIONS,
        crate::boards::OPERATIONS,
        crate::knowledge_files::OPERATIONS,
        crate::analytics::OPERATIONS,
        crate::contacts::OPERATIONS,
        crate::chats::OPERATIONS,
        crate::channel_accounts::OPERATIONS,
        crate::channel_conversations::OPERATIONS,
        crate::channel_messages::OPERATIONS,
        crate::channel_templates::OPERATIONS,
        crate::documents::OPERATIONS,
        crate::data_streams::OPERATIONS,
        crate::knowledge_bases::OPERATIONS,
        crate::do_not_call::OPERATIONS,
        crate::audit::OPERATIONS,
        crate::numbers::OPERATIONS,
        crate::wallet::OPERATIONS,
        crate::webhooks::OPERATIONS,
        crate::system::OPERATIONS,
        crate::operator::OPERATIONS,
        crate::node::OPERATIONS,
        crate::dnd::OPERATIONS,
        crate::transfer_numbers::OPERATIONS,
        crate::operator_agents::OPERATIONS,
        crate::integrations::OPERATIONS,
        crate::dev::OPERATIONS,
    ]
    .into_iter()
    .flatten()
}

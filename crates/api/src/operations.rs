//! The table of operations: each noun declares its rows beside its types, and they are gathered here.

pub use crate::operation::{Access, Idempotency, Method, Operation, RateClass, TestKeys};

/// Every operation, noun by noun.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    [
        crate::account::OPERATIONS,
        crate::agents::OPERATIONS,
        crate::flow_versions::OPERATIONS,
        crate::flow_tries::OPERATIONS,
        crate::test_links::OPERATIONS,
        crate::tools::OPERATIONS,
        crate::calls::OPERATIONS,
        crate::live_calls::OPERATIONS,
        crate::search::OPERATIONS,
        crate::recordings::OPERATIONS,
        crate::scheduled_calls::OPERATIONS,
        crate::nudges::OPERATIONS,
        crate::campaigns::OPERATIONS,
        crate::campaigns::STAGED_LISTS,
        crate::boards::OPERATIONS,
        crate::knowledge_files::OPERATIONS,
        crate::analytics::OPERATIONS,
        crate::contacts::OPERATIONS,
        crate::chats::OPERATIONS,
        crate::inbox::OPERATIONS,
        crate::channel_accounts::OPERATIONS,
        crate::channel_conversations::OPERATIONS,
        crate::channel_messages::OPERATIONS,
        crate::channel_templates::OPERATIONS,
        crate::documents::OPERATIONS,
        crate::evaluations::OPERATIONS,
        crate::data_streams::OPERATIONS,
        crate::knowledge_bases::OPERATIONS,
        crate::do_not_call::OPERATIONS,
        crate::audit::OPERATIONS,
        crate::masked_numbers::OPERATIONS,
        crate::numbers::OPERATIONS,
        crate::wallet::OPERATIONS,
        crate::webhooks::OPERATIONS,
        crate::mcp::OPERATIONS,
        crate::changes::OPERATIONS,
        crate::attention::OPERATIONS,
        crate::bell::OPERATIONS,
        crate::system::OPERATIONS,
        crate::operator::OPERATIONS,
        crate::node::OPERATIONS,
        crate::dnd::OPERATIONS,
        crate::transfer_numbers::OPERATIONS,
        crate::operator_agents::OPERATIONS,
        crate::integrations::OPERATIONS,
        crate::dev::OPERATIONS,
        crate::people::OPERATIONS,
        crate::members::OPERATIONS,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use domain::tenant::Role;

    use super::*;

    /// The section on roles of the operator's page names every operation that members may call, and no other.
    #[test]
    fn the_roles_of_operator_operations_are_documented() {
        let page = include_str!("../../../docs/contract/operator.md");
        let section = page.split("\n## Roles\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
        let mut documented = BTreeMap::new();
        for line in section.lines() {
            let mut cells = line.trim_matches('|').split('|').map(str::trim);
            let Some(role) = cells.next().and_then(|cell| Role::parse(cell.trim_matches('`'))) else {
                continue;
            };
            let names = cells.next().unwrap_or_default().split(", ");
            documented.extend(names.map(|name| (name.trim_matches('`').to_owned(), role)));
        }
        let declared: BTreeMap<String, Role> = all()
            .filter(|operation| operation.access == Access::Operator)
            .filter_map(|operation| Some((operation.id.to_owned(), operation.role?)))
            .collect();
        assert!(declared.len() > 30, "{declared:?}");
        assert_eq!(documented, declared);
    }

    /// A member calls operations of the operator within their own workspace only.
    #[test]
    fn operator_operations_with_a_role_name_the_workspace() {
        for operation in all().filter(|operation| operation.access == Access::Operator) {
            let of_workspace = operation.path.starts_with("/operator/v1/workspaces/{ws}/");
            assert!(operation.role.is_none() || of_workspace, "{}", operation.id);
        }
    }
}

//! The account of a key (docs/contract/keys.md#account).

use api::account::{Account, Key, WorkspaceSummary};

use super::access::Caller;

/// Answer of `GET /v1/me`.
pub fn describe(caller: &Caller) -> Account {
    let (key, workspace) = (&caller.0.key, &caller.0.workspace);
    Account {
        key: Key {
            id: key.id,
            name: key.name.clone(),
            scopes: key.scopes.split(' ').map(str::to_owned).collect(),
            prefix: key.prefix.clone(),
            expires_at: key.expires_at,
        },
        workspace: WorkspaceSummary {
            id: workspace.id,
            name: workspace.name.clone(),
            kyb_verified: workspace.kyb_verified,
        },
    }
}

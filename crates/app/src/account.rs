//! The account of a key (docs/contract/keys.md#account).

use api::account::{Account, Key, WorkspaceSummary};

use super::Failure;
use super::access::{Caller, Holder};

/// Answer of `GET /v1/me`.
///
/// # Errors
/// 500 for a member: the row of the operation takes keys only.
pub fn describe(caller: &Caller) -> Result<Account, Failure> {
    let workspace = &caller.0.workspace;
    let Holder::Key(key) = &caller.0.holder else {
        return Err(Failure::internal("the account of a key was requested without a key"));
    };
    Ok(Account {
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
    })
}

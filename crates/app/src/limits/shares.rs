//! What those who are connected have in work, in shares.

use std::net::IpAddr;

use domain::ids::{Id, Recording};
use domain::tenant::Tenant;
pub use runtime::shares::{Share, Shares};

/// Who sends a body or takes an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// A client without a key.
    Stranger,
    Operator,
    /// A key of this workspace.
    Workspace(Tenant),
    /// Somebody at the address to which a provider sends notifications for this workspace. Who it is shows once the body is
    /// read.
    Hook(Tenant),
    /// Somebody with the token of a stream of this workspace, which may stand in a page of the web.
    Stream(Tenant),
}

/// What those who are connected have in work.
#[derive(Default)]
pub struct InWork {
    pub connections: Shares<()>,
    /// Connections by network.
    pub addresses: Shares<IpAddr>,
    /// Bytes of bodies.
    pub bodies: Shares<()>,
    /// Bytes of bodies by client.
    pub clients: Shares<Client>,
    /// Bytes of bodies by network, of senders who have no key.
    pub networks: Shares<IpAddr>,
    /// Bytes of answers that are built or not taken yet.
    pub answers: Shares<()>,
    /// The same by client.
    pub answers_of: Shares<Client>,
    /// Pages that are being fetched and read, by workspace.
    pub pages: Shares<Tenant>,
    /// Recordings that are being sent, by link.
    pub links: Shares<Id<Recording>>,
    /// Recordings that are being sent, by workspace.
    pub recordings: Shares<Tenant>,
    /// Replies in chats that are being written.
    pub replies: Shares<()>,
    /// The same by workspace.
    pub replies_of: Shares<Tenant>,
}

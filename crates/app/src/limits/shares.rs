//! Resources in use by clients, in shares.

use std::net::IpAddr;

use config::Limits;
use domain::ids::{Id, Person, Recording};
use domain::tenant::Tenant;
use runtime::metrics::Metrics;
use runtime::shares::Bounds;
pub use runtime::shares::{Bounded, Full, Share, Shares, Taken};
use runtime::turns::Turns;

use crate::outgoing::Outgoing;
use crate::recordings;

/// Bytes of bodies, and of answers, that are guaranteed to each client.
const KEPT: usize = 1024 * 1024;
/// Concurrent reads of answers, of each client and of all.
const READ_AT_ONCE: (usize, usize) = (4, 16);

/// The owner of a body or an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// A client without a key.
    Stranger,
    Operator,
    /// A key of this workspace.
    Workspace(Tenant),
    /// Members of this workspace with sessions: apart, so that its integrations do not hold them up.
    Members(Tenant),
    /// A signed-in person outside of workspaces.
    Person(Id<Person>),
    /// A sender at the address for a provider's notifications of this workspace. It is authenticated once the body is
    /// read.
    Hook(Tenant),
    /// A sender with the token of a stream of this workspace, which may be public.
    Stream(Tenant),
}

impl Client {
    /// Its workspace, if it belongs to one.
    pub fn workspace(self) -> Option<Tenant> {
        match self {
            Self::Workspace(tenant) | Self::Members(tenant) | Self::Hook(tenant) | Self::Stream(tenant) => {
                Some(tenant)
            }
            Self::Stranger | Self::Operator | Self::Person(_) => None,
        }
    }
}

/// Resources in use by clients.
pub struct InWork {
    pub connections: Shares<()>,
    /// Connections by network.
    pub addresses: Shares<IpAddr>,
    /// Bytes of bodies.
    pub bodies: Bounded<Client>,
    /// Bytes of bodies by network, of senders who have no key.
    pub networks: Shares<IpAddr>,
    /// Bytes of answers that are built or unread.
    pub answers: Bounded<Client>,
    /// Read permits.
    pub reading: Turns<Client>,
    /// Pages that are being fetched and extracted, by workspace.
    pub pages: Shares<Tenant>,
    /// Recordings that are being sent.
    pub recordings: Outgoing<Recording>,
    /// Replies in chats that are being written.
    pub replies: Shares<()>,
    /// The same by workspace.
    pub replies_of: Shares<Tenant>,
}

impl InWork {
    /// Nothing is in work.
    pub fn new(limits: &Limits, metrics: &Metrics) -> Self {
        let of_all = |all| Bounds { all, kept: KEPT };
        Self {
            connections: Shares::default(),
            addresses: Shares::default(),
            bodies: Bounded::new(of_all(limits.bodies), metrics.bodies.clone()),
            networks: Shares::default(),
            answers: Bounded::new(of_all(limits.answers), metrics.answers.clone()),
            reading: Turns::new(READ_AT_ONCE.0, READ_AT_ONCE.1),
            pages: Shares::default(),
            recordings: Outgoing::new(recordings::NAME),
            replies: Shares::default(),
            replies_of: Shares::default(),
        }
    }
}

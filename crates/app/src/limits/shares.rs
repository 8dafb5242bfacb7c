//! What those who are connected have in work, in shares.

use std::net::IpAddr;

use config::Limits;
use domain::ids::Recording;
use domain::tenant::Tenant;
use runtime::metrics::Metrics;
use runtime::shares::Bounds;
pub use runtime::shares::{Bounded, Full, Share, Shares, Taken};
use runtime::turns::Turns;

use crate::outgoing::Outgoing;
use crate::recordings;

/// Bytes of bodies, and of answers, that each client may have although others have taken what there is for all.
const KEPT: usize = 1024 * 1024;
/// Answers that are read and made at once, of each client and of all.
const READ_AT_ONCE: (usize, usize) = (4, 16);

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
pub struct InWork {
    pub connections: Shares<()>,
    /// Connections by network.
    pub addresses: Shares<IpAddr>,
    /// Bytes of bodies.
    pub bodies: Bounded<Client>,
    /// Bytes of bodies by network, of senders who have no key.
    pub networks: Shares<IpAddr>,
    /// Bytes of answers that are built or not taken yet.
    pub answers: Bounded<Client>,
    /// Turns to read and make an answer.
    pub reading: Turns<Client>,
    /// Pages that are being fetched and read, by workspace.
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

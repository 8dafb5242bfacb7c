//! The interface to the telephone lines of this node. Use cases place calls through [`domain::ports::Carrier`]; this is
//! the rest.

use std::net::SocketAddr;

use api::system::TrunkHealth;

/// The telephone lines of this node.
pub trait Lines: Send + Sync {
    fn trunks(&self) -> Vec<TrunkHealth>;

    /// This node's live calls, and dials in flight.
    fn held(&self) -> usize;

    /// Refuses new calls while drained; live calls go on.
    fn drain(&self, draining: bool);

    /// The SIP address that trunks reach this node at; `None` without trunks.
    fn address(&self) -> Option<SocketAddr>;
}

//! The interface to the telephone lines of this node. Use cases place calls through [`domain::ports::Carrier`]; this is
//! the rest.

use std::net::SocketAddr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrunkHealth {
    /// Its name in the settings.
    pub name: String,
    /// The carrier that it leads to.
    pub carrier: String,
    /// Whether it answers; none before that is known.
    pub healthy: Option<bool>,
    /// Whether this node is registered there; `None` if no node should be.
    pub registered: Option<bool>,
    /// Calls of this node over it.
    pub calls: u32,
    /// How many there may be now, of the channels that all nodes share.
    pub channels: u32,
}

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

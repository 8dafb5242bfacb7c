//! What the use cases know of the telephone lines of this node. They place calls through
//! [`domain::ports::Carrier`]; this is what is asked of the lines besides.

use std::net::SocketAddr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrunkHealth {
    /// Its name in the settings.
    pub name: String,
    /// The carrier that it leads to.
    pub carrier: String,
    /// Whether it answers; none before that is known.
    pub healthy: Option<bool>,
    /// Whether this node is registered there; none if no node is to be.
    pub registered: Option<bool>,
    /// Calls of this node over it.
    pub calls: u32,
    /// How many there may be now, of the channels that all nodes share.
    pub channels: u32,
}

/// The telephone lines of this node.
pub trait Lines: Send + Sync {
    fn trunks(&self) -> Vec<TrunkHealth>;

    /// Calls that this node holds, and dials that are on their way.
    fn held(&self) -> usize;

    /// Sends new calls elsewhere until told otherwise; those that are on go on.
    fn drain(&self, draining: bool);

    /// The SIP address that trunks reach this node at; `None` without trunks.
    fn address(&self) -> Option<SocketAddr>;
}

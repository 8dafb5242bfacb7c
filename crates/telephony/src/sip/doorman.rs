//! The source filter over the configured trunks and the live dialogs.

use std::net::IpAddr;
use std::sync::Arc;

use super::door::{Dialogs, Door};
use super::trunk::Trunk;
use crate::settings::Transport;

/// Knows trunks by their addresses.
pub(super) struct Doorman {
    pub trunks: Vec<Arc<Trunk>>,
    pub dialogs: Arc<Dialogs>,
}

impl Door for Doorman {
    fn knows(&self, ip: IpAddr) -> bool {
        self.trunks.iter().any(|trunk| trunk.owns(ip))
    }

    fn hears(&self, ip: IpAddr) -> bool {
        self.knows(ip) || self.dialogs.named(ip)
    }

    fn admits(&self, ip: IpAddr, transport: Transport) -> bool {
        self.trunks.iter().any(|trunk| trunk.settings.inbound_transport.takes(transport) && trunk.owns(ip))
    }

    fn speaks(&self, call_id: &str, tag: &str, ip: IpAddr) -> bool {
        // Only the two sides know the tag. A carrier may end a call from another machine than the one that
        // began it.
        self.dialogs.allows(call_id, tag, ip).is_some_and(|named| named || self.knows(ip))
    }
}

//! Messages that the columns of boards send (docs/contract/boards.md#automations). The room of the messaging channel is
//! above the one of boards, so it is asked through this.

use domain::channel::campaign::Mapping;
use domain::ids::{ChannelTemplate, Id};
use domain::tenant::Tenant;
use store::Tx;
use store::contacts::ContactRow;

use crate::{App, Failure};

/// A template for a person whose card came into a column.
#[derive(Debug)]
pub struct BoardMessage<'a> {
    pub tenant: Tenant,
    pub contact: &'a ContactRow,
    /// Their name, as far as the card or the contact knows it.
    pub name: Option<String>,
    pub template: Id<ChannelTemplate>,
    /// Where its values come from.
    pub mapping: Mapping,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It goes out once the transaction is stored.
    Queued,
    /// It is not sent: why, a code.
    Refused(&'static str),
}

/// Queues a message in the transaction that ends the action.
pub type BoardMessageHook = fn(&App, &mut Tx<'_>, &BoardMessage<'_>) -> Result<Sent, Failure>;

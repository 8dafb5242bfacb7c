//! Messages that the columns of boards send (docs/contract/boards.md#automations). The room of the messaging channel is
//! above the one of boards, so it is called through `Hooks::send_board_message`.

use domain::channel::campaign::Mapping;
use domain::ids::{ChannelTemplate, Id};
use domain::tenant::Tenant;
use store::contacts::ContactRow;

/// A template for a person whose card came into a column.
#[derive(Debug)]
pub struct BoardMessage<'a> {
    pub tenant: Tenant,
    pub contact: &'a ContactRow,
    /// Their name, if the card or the contact has one.
    pub name: Option<String>,
    pub template: Id<ChannelTemplate>,
    /// The source of its values.
    pub mapping: Mapping,
}

/// The result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It is queued with the commit.
    Queued,
    /// It is not sent, for this reason: a code.
    Refused(&'static str),
}

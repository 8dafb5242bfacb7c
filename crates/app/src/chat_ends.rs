//! What goes on from conversations on the messaging channel that are over and read (docs/contract/boards.md#sorting).

use store::TenantTx;
use store::chats::ChatRow;

use crate::{Context, Failure};

/// Called in the transaction that ends a conversation, or that writes down what was read out of it where that comes
/// later.
pub type ChatEndHook = fn(&mut TenantTx, &Context, &ChatRow) -> Result<(), Failure>;

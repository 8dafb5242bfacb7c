//! A message is accepted: its checks, its row, its place in the send queue
//! (docs/contract/channel-messages.md#acceptance).
//!
//! | file | holds |
//! |---|---|
//! | `refusal` | why a message is refused |
//! | `new` | a message to be sent, and the result of its acceptance |
//! | `decisions` | rows of the decision log, and consent that comes with a message |
//! | `rows` | the stored row of a new message |
//! | `room` | messaging tier: how many people an account may write to outside of their 24-hour windows |
//! | `pace` | send slots of a number and of a recipient |
//! | `waiting` | the ceiling of queued messages of a workspace |
//! | `checks` | every check, at acceptance and again before sending |
//! | `dispatch` | observers and webhook events of a stored message |
//! | `accept` | puts these together |

mod accept;
mod checks;
mod decisions;
mod dispatch;
mod new;
mod pace;
mod refusal;
mod room;
mod rows;
mod waiting;

pub use accept::put;
pub(crate) use accept::put_into;
pub use checks::check;
pub(crate) use checks::{SendDecision, recheck};
pub use decisions::record_opt_in;
pub(crate) use decisions::{Decisions, entry};
pub(crate) use dispatch::{Incoming, moved, observe, stored};
pub(crate) use new::LEASE;
pub use new::{Claim, New, OptIn, Placed};
pub(crate) use pace::{MOST_WAIT, latest_slot, slot_of_number};
pub use refusal::Refusal;
pub(crate) use room::{account_of, forget_reached, people_of, reach};
pub use rows::simulated;
pub use waiting::MAX_WAITING;

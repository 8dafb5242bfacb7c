//! Messages to the task of a leg.

use rsipstack::sip::{Request, Response};
use rsipstack::transaction::Transaction;

/// What reaches the task of a leg from the network.
pub(super) enum Mail {
    /// An answer to the INVITE of this attempt.
    Answer(u32, Box<Response>),
    /// The transaction of this attempt is over.
    Gone(u32),
    /// A request inside of the dialog.
    Request(Box<Transaction>),
    /// The final answer to a request of ours.
    Reply(Sent, Result<Box<Response>, String>),
    /// The ACK of a 2xx of ours.
    Acked(Box<Request>),
    /// The INVITE that came in was cancelled.
    Cancelled,
    /// The user agent stops.
    Stop,
}

/// Which request of ours an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    Bye,
    Refer,
    /// Says whether our side holds.
    Reinvite(bool),
    Refresh,
    /// Its answer changes nothing.
    Other,
}

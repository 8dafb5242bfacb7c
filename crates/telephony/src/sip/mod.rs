//! Signalling: a SIP user agent (RFC 3261) with trunks, outgoing and incoming calls, hold (re-INVITE), transfer (REFER)
//! and session timers (RFC 4028).
//!
//! Messages, transactions and transports are those of `rsipstack`. Dialogs are our own: the race between giving
//! a call up and its answer, the odd answers of carriers (a 202, no Contact, no SDP) and the promise never to
//! call twice need every message in one place, in order. So each leg is one task (`actor`) with a mailbox;
//! nothing else touches its dialog.
//!
//! | file | holds |
//! |---|---|
//! | `user_agent`, `core` | sockets, who gets which message, and what all tasks share |
//! | `door`, `doorman` | who may come in |
//! | `net`, `stream` | the gate for datagrams, connections, requests with their answers |
//! | `nonces` | digest challenges for incoming calls |
//! | `trunk` | OPTIONS, REGISTER, channels, addresses |
//! | `share` | how many channels this node has of a trunk, and whether it registers there |
//! | `outbound`, `calling`, `inbound`, `incoming` | a call until its answer |
//! | `actor`, `requests` | a call from its answer to its end; its parts are `signalling` (the dialog and the way of its messages), `offers` (hold, re-INVITE), `transfer`, `goodbye` (ACK and BYE) and the session timer |
//! | `port` | the port of legs in `domain::ports`, over the above |
//! | `leg`, `mail` | a leg as its owner sees it; what reaches its task |
//! | `sound` | offer and answer, the line |
//! | `outcome` | what a final answer means |
//! | `auth`, `address`, `dialog`, `message`, `name_addr`, `timers`, `tls` | the rules that these rest on |
//!
//! The stack logs whole messages at `info`, telephone numbers included: keep its target `rsipstack` at `warn`.

mod actor;
mod address;
mod auth;
mod calling;
mod core;
mod dialog;
mod door;
mod doorman;
pub(crate) mod fuzzing;
mod goodbye;
mod inbound;
mod incoming;
mod leg;
mod mail;
mod message;
mod name_addr;
mod net;
mod nonces;
mod offers;
mod outbound;
pub mod outcome;
mod port;
mod requests;
mod share;
mod signalling;
mod sound;
mod stream;
mod timers;
mod tls;
mod transfer;
mod trunk;
pub(crate) mod unplugged;
mod user_agent;

pub use domain::ports::{AnswerFailed, DialFailed, EndedBy, LegEnd};
pub use incoming::{Inbound, IncomingCall};
pub use leg::{Leg, LegControl, LegEvent};
pub use outbound::Dial;
pub use port::ToPort;
pub use share::{Registrar, Share, Usage, Wanted};
pub use sound::Connection;
pub use trunk::TrunkHealth;
pub use user_agent::{Figures, UserAgent};

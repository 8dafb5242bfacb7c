//! Calls in live and test mode (docs/contract/calls.md): how one is placed, what every fact about it changes,
//! how it is read and ended.
//!
//! The life of a placement, the same for the API, scheduled calls, nudges and campaigns:
//! 1. [`prepare`] gathers everything that can stand in the way; [`Prepared::refused`] is the first of it in
//!    the order of docs/contract/calls.md#refusals.
//! 2. [`place_intent`] writes the call down as `queued` (its placing mark), holds a minute of the wallet and
//!    takes a line; [`block`] writes down a refused one. Both in the transaction of step 1, which ends with
//!    [`Known::finish`]. Commit.
//! 3. [`start_dial`] asks the carrier and stores its answer. A crash before that answer leaves the mark:
//!    [`work_due`] finds it when its lease is over and asks the carrier what became of the dial. Nothing is
//!    dialled twice. A node that does not hear whether its intent was stored does not dial, and takes back
//!    what it finds of it ([`settle_undialled`]).
//! 4. While a call lasts, the hold grows by a minute before each minute begins ([`grow_due`]). A person
//!    who is brought in beside a call is a leg of its own ([`begin_leg`]): a dial with its gates, its record,
//!    its line and its money.
//! 5. Everything else is a [`domain::call::Fact`], and [`apply`] is the one place where a fact changes a
//!    call. Networks that are tables (test mode, the sandbox) report their facts through [`work_due`]: the
//!    calls table says what is due, so a restart changes nothing.

mod agent;
mod apply;
mod burst;
mod call_cache;
mod contact;
mod counts;
mod due;
mod gates;
mod heard;
mod holds;
mod hung_up;
mod inbound;
mod intents;
mod legs;
pub mod live;
mod outcome_batches;
mod place;
mod prefetch;
mod prepare;
mod read;
mod refusal;
mod report;
mod settle_undialled;
mod talk;
mod turns;

pub use crate::call_env::{Carriers, Env, emit};
pub use agent::pack;
pub(crate) use agent::{flow_refusal, refusal as agent_refusal};
pub use apply::{apply, apply_with};
pub use burst::{Begun, Burst};
pub use call_cache::CallCache;
pub(crate) use contact::find_known as find_contact;
pub use counts::{Sought, counts, no_counts};
pub use due::{next_due, work_due};
pub use gates::{Dial, Judged, Met, Number, judge_gates, kind_of, meet_all};
pub use heard::report;
pub use holds::{grow_due, next_growth};
pub use hung_up::HungUp;
pub use inbound::{Caller, Welcome, answerable};
pub(crate) use legs::end_all;
pub use legs::{Leg, LegFact, LegKind, LegRefused, begin_leg, report_leg};
pub use place::{block, place, place_intent, start_dial};
pub(crate) use prepare::own_number_of;
pub use prepare::{Order, OwnNumber, Prepared, Source, check_metadata, own_number, own_number_for, prepare};
pub use read::{get, hang_up, list, view};
pub use refusal::Refused;
pub use report::{hangup_requests, keep_holding, transferred};
pub use settle_undialled::settle_undialled;
pub use talk::{Talk, setting, talk};
pub use turns::turns;

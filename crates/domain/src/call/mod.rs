//! A call: its states and the effect of every fact (docs/contract/calls.md#states).
//!
//! A carrier reports [`Fact`]s; [`step`] returns the call afterwards and its events. The caller stores both in one
//! transaction. Facts may come late or more than once; a fact that does not fit changes nothing.

pub mod after;
mod hangup_request;
pub mod peaks;
mod report;
mod script;
mod states;
pub mod variables;

pub use hangup_request::HangupRequest;
pub use report::{
    CallProviders, CaptureMark, MAX_MARKS, RecordedFile, Report, TimedTurn, ToolMark, TurnDetails,
    TurnLatency,
};
pub use script::{Callee, Network, ScriptedFact, callee, question, refusal, script};
pub use states::{
    AnsweredBy, DialError, Direction, EndCause, Fact, NO_PERSON, Notice, Progress, Stage, Status,
    answered_by, step,
};
pub use variables::{InvalidValue, MAX_COUNT, MAX_TOTAL, MAX_VALUE, Warning, accept, check_metadata};

#[cfg(test)]
mod tests;

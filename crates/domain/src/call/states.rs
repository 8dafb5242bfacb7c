//! States of a call and the effect of facts.

use crate::time::Timestamp;
use closed_sets::words;

pub use crate::nudge::EndCause;

words! {
    /// The raw stored status (docs/contract/calls.md#states).
    pub enum Status {
        /// Stored; the carrier is being asked.
        Queued = "queued",
        /// The carrier took it; the phone rings.
        Ringing = "ringing",
        /// The callee picked up.
        InProgress = "in_progress",
        /// It was answered and is over.
        Completed = "completed",
        /// Nobody picked up.
        NoAnswer = "no_answer",
        /// The line was busy.
        Busy = "busy",
        /// Ended by a hang-up request before anybody picked up.
        Cancelled = "cancelled",
        /// It never connected for another reason, or its agent could not be started.
        Failed = "failed",
        /// A gate refused it; it was never dialled.
        Blocked = "blocked",
    }
}

words! {
    /// What clients see as `state` (docs/contract/calls.md#states).
    pub enum Stage {
        /// Being placed, or the phone rings.
        Ringing = "ringing",
        /// Answered and live.
        InProgress = "in_progress",
        Ended = "ended",
        /// Refused by a gate.
        Blocked = "blocked",
    }
}

words! {
    pub enum Direction {
        Outbound = "outbound",
        Inbound = "inbound",
    }
}

words! {
    /// Who picked up a call (docs/contract/calls.md#who-answered).
    pub enum AnsweredBy {
        Person = "person",
        Voicemail = "voicemail",
        Screener = "screener",
        Announcement = "announcement",
    }
}

impl Status {
    /// What clients see as `state`.
    pub fn stage(self) -> Stage {
        match self {
            Status::Queued | Status::Ringing => Stage::Ringing,
            Status::InProgress => Stage::InProgress,
            Status::Completed | Status::NoAnswer | Status::Busy | Status::Cancelled | Status::Failed => {
                Stage::Ended
            }
            Status::Blocked => Stage::Blocked,
        }
    }

    /// Whether it occupies a line.
    pub fn is_live(self) -> bool {
        matches!(self.stage(), Stage::Ringing | Stage::InProgress)
    }
}

impl Stage {
    /// The raw statuses that it covers.
    pub fn statuses(self) -> impl Iterator<Item = Status> {
        Status::ALL.iter().copied().filter(move |status| status.stage() == self)
    }
}

/// Why a dial failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialError {
    /// The carrier refused before the phone rang: nobody was called.
    ProviderErrorBeforeRing,
    /// It is unknown whether a dial went out.
    Uncertain,
}

/// A fact that a carrier or the conversation reports of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The carrier took the call.
    Ringing,
    /// The callee, or a machine, picked up.
    Answered,
    /// The agent is on the line.
    AgentConnected,
    /// Somebody picked up, but the agent could not be connected; the call is over.
    AgentFailed,
    /// A machine answered; the call is over.
    Voicemail,
    /// It is known who picked up. The call goes on.
    PickedUpBy(AnsweredBy),
    /// The line was busy.
    Busy,
    /// Nobody picked up.
    NoAnswer,
    /// The callee rejected the call (SIP 603).
    Rejected,
    /// The number does not exist (SIP 404, 484, 604).
    InvalidNumber,
    /// The carrier ended the dial with this final SIP status, after it began.
    Sip(u16),
    /// The callee asked not to be called again. The call goes on to its end.
    OptOutSaid,
    /// The call is over.
    Ended(EndCause),
    /// The carrier refused before the phone rang: nobody was called.
    NotPlaced,
    /// It is unknown whether a dial went out.
    Uncertain,
    /// There will be no further report of the call.
    Lost,
}

/// A webhook event of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Notice {
    /// `call.started`
    Started,
    /// `call.completed`
    Completed,
    /// `call.failed`
    Failed,
}

/// End causes of calls in which no person was met, although somebody picked up.
pub const NO_PERSON: [&str; 3] = ["voicemail", "no_answer", "busy"];

/// Who picked up a call, after a fact. A machine that is recognised late replaces the person, or the announcement, that
/// it was taken for; nothing else changes once it is known.
pub fn answered_by(known: Option<AnsweredBy>, fact: Fact) -> Option<AnsweredBy> {
    let told = match fact {
        Fact::AgentConnected => AnsweredBy::Person,
        Fact::Voicemail => AnsweredBy::Voicemail,
        Fact::PickedUpBy(who) => who,
        _ => return known,
    };
    match (known, told) {
        (None | Some(AnsweredBy::Person), _)
        | (Some(AnsweredBy::Announcement), AnsweredBy::Voicemail | AnsweredBy::Screener) => Some(told),
        (Some(AnsweredBy::Voicemail | AnsweredBy::Screener | AnsweredBy::Announcement), _) => known,
    }
}

/// How far a call has got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub status: Status,
    /// When somebody picked up.
    pub answered_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    /// Why it ended: a word of [`EndCause`], `voicemail`, `rejected`, `invalid_number`, `sip_<status>`,
    /// `not_connected`, `provider_error` or `possibly_placed`.
    pub end_cause: Option<String>,
    /// Time from answer to end in milliseconds; 0 when the agent never got on the line. Set at the end of an
    /// answered call.
    pub talk_ms: Option<i64>,
    /// The callee asked not to be called again.
    pub opted_out: bool,
}

impl Progress {
    /// A call that is stored and not yet dialled.
    pub fn placing() -> Self {
        Self {
            status: Status::Queued,
            answered_at: None,
            ended_at: None,
            end_cause: None,
            talk_ms: None,
            opted_out: false,
        }
    }

    /// Whether it was picked up, but not by a person: a voicemail took it, or a screening assistant or an announcement
    /// after which nobody came.
    pub fn met_no_person(&self) -> bool {
        self.end_cause.as_deref().is_some_and(|cause| NO_PERSON.contains(&cause))
    }

    fn over(&self, status: Status, cause: impl Into<String>, at: Timestamp) -> Self {
        // Even if facts were observed out of order, a call does not end before its answer.
        let at = self.answered_at.map_or(at, |answered| at.max(answered));
        let talk_ms = self.answered_at.map(|answered| at.0 - answered.0);
        Self { status, ended_at: Some(at), end_cause: Some(cause.into()), talk_ms, ..self.clone() }
    }
}

/// The call after a fact, and its event; `None` when the fact changes nothing (late, repeated, out of order).
pub fn step(call: &Progress, fact: Fact, at: Timestamp) -> Option<(Progress, Option<Notice>)> {
    match call.status.stage() {
        Stage::Blocked => None,
        // An opt-out counts even when it is reported late.
        Stage::Ended if fact == Fact::OptOutSaid => opted_out(call),
        Stage::Ended => None,
        Stage::Ringing => before_answer(call, fact, at),
        Stage::InProgress => after_answer(call, fact, at),
    }
}

fn opted_out(call: &Progress) -> Option<(Progress, Option<Notice>)> {
    (!call.opted_out).then(|| (Progress { opted_out: true, ..call.clone() }, None))
}

fn before_answer(call: &Progress, fact: Fact, at: Timestamp) -> Option<(Progress, Option<Notice>)> {
    let failed = |status, cause: String| Some((call.over(status, cause, at), Some(Notice::Failed)));
    match fact {
        Fact::Ringing if call.status == Status::Queued => {
            Some((Progress { status: Status::Ringing, ..call.clone() }, None))
        }
        Fact::Ringing | Fact::AgentConnected | Fact::PickedUpBy(_) => None,
        Fact::OptOutSaid => opted_out(call),
        // The report of the answer was lost; the call is over anyway.
        Fact::AgentFailed => failed(Status::Failed, "not_connected".into()),
        Fact::Answered => Some((
            Progress { status: Status::InProgress, answered_at: Some(at), ..call.clone() },
            Some(Notice::Started),
        )),
        Fact::Busy | Fact::Ended(EndCause::Busy) => failed(Status::Busy, "busy".into()),
        Fact::NoAnswer | Fact::Ended(EndCause::NoAnswer) => failed(Status::NoAnswer, "no_answer".into()),
        Fact::Voicemail => failed(Status::NoAnswer, "voicemail".into()),
        Fact::Rejected => failed(Status::Failed, "rejected".into()),
        Fact::InvalidNumber => failed(Status::Failed, "invalid_number".into()),
        Fact::Sip(status) => failed(Status::Failed, format!("sip_{status}")),
        Fact::Ended(EndCause::ApiHangup) => failed(Status::Cancelled, EndCause::ApiHangup.as_str().into()),
        Fact::Ended(cause) => failed(Status::Failed, cause.as_str().into()),
        // A failed placement is reported to the code that placed the call, not as an event
        // (docs/contract/calls.md#refusals).
        Fact::NotPlaced if call.status == Status::Queued => {
            Some((call.over(Status::Failed, "provider_error", at), None))
        }
        Fact::NotPlaced => failed(Status::Failed, "provider_error".into()),
        Fact::Uncertain => Some((call.over(Status::Failed, "possibly_placed", at), None)),
        Fact::Lost => failed(Status::Failed, EndCause::Error.as_str().into()),
    }
}

fn after_answer(call: &Progress, fact: Fact, at: Timestamp) -> Option<(Progress, Option<Notice>)> {
    let completed = |cause: String| Some((call.over(Status::Completed, cause, at), Some(Notice::Completed)));
    match fact {
        Fact::Ringing | Fact::Answered | Fact::NotPlaced | Fact::Uncertain => None,
        Fact::AgentConnected | Fact::PickedUpBy(_) => Some((call.clone(), None)),
        Fact::OptOutSaid => opted_out(call),
        // The agent was never on the line, so nothing is billed.
        Fact::AgentFailed => {
            let over = call.over(Status::Failed, "not_connected", at);
            Some((Progress { talk_ms: Some(0), ..over }, Some(Notice::Completed)))
        }
        Fact::Voicemail => completed("voicemail".into()),
        Fact::Busy | Fact::NoAnswer | Fact::Rejected | Fact::InvalidNumber => {
            completed(EndCause::CallerHangup.as_str().into())
        }
        Fact::Sip(status) => completed(format!("sip_{status}")),
        Fact::Ended(cause) => completed(cause.as_str().into()),
        Fact::Lost => completed(EndCause::Error.as_str().into()),
    }
}

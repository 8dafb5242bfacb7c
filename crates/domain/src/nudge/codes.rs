//! The words of a nudge: status, result, reasons (docs/contract/nudges.md#states, #reasons).

use std::borrow::Cow;
use std::fmt;

use closed_sets::words;

words! {
    /// Where a nudge is now.
    pub enum Status {
        /// Due. Also while the phone rings, because carriers do not report when it starts to ring.
        Queued = "queued",
        /// Held until `nextAttemptAt`.
        Scheduled = "scheduled",
        /// The callee picked up; the agent is being connected.
        Dialing = "dialing",
        /// The call is live.
        InProgress = "in_progress",
        /// Over; the result is set.
        Finished = "finished",
    }
}

words! {
    /// How a nudge ended.
    pub enum ResultCode {
        Connected = "connected",
        /// A machine answered.
        Voicemail = "voicemail",
        /// The callee asked not to be called again.
        OptedOut = "opted_out",
        NoAnswer = "no_answer",
        /// The line was busy.
        Busy = "busy",
        /// The call could not be made.
        Failed = "failed",
        /// A compliance gate refused.
        Blocked = "blocked",
        /// It expired before the first dial.
        Expired = "expired",
        /// Cancelled, its key revoked, or the person erased.
        Cancelled = "cancelled",
    }
}

words! {
    /// Why a call ended.
    pub enum EndCause {
        /// The agent said goodbye.
        AgentEnded = "agent_ended",
        /// The callee hung up.
        CallerHangup = "caller_hangup",
        SilenceTimeout = "silence_timeout",
        /// The call reached its maximum length.
        MaxDuration = "max_duration",
        /// Handed to a person.
        TransferHandoff = "transfer_handoff",
        /// Ended through the API.
        ApiHangup = "api_hangup",
        Error = "error",
        NoAnswer = "no_answer",
        /// The line was busy.
        Busy = "busy",
    }
}

words! {
    /// What to do when the window is closed, as chosen by the client.
    pub enum OutsideWindow {
        /// Wait for the next opening.
        Queue = "queue",
        /// Do not call then.
        Reject = "reject",
    }
}

words! {
    /// A check at dial time that only the client can fix, so that holding would not help.
    pub enum Refusal {
        /// The agent was deleted.
        AgentNotFound = "agent_not_found",
        /// The agent is a draft.
        AgentNotPublished = "agent_not_published",
        /// The agent is a chat agent.
        AgentNotCall = "agent_not_call",
        /// The agent is for inbound calls.
        AgentNotOutbound = "agent_not_outbound",
        /// The flow needs variables that are missing.
        MissingRequiredVariables = "missing_required_variables",
        /// Something that the flow uses is disconnected.
        FlowNotReady = "flow_not_ready",
        WorkspaceSuspended = "workspace_suspended",
        /// The workspace is not verified.
        KybRequired = "kyb_required",
        /// The workspace owns no number.
        NoCallerId = "no_caller_id",
        /// The placement was refused for another reason.
        PlacementRefused = "placement_refused",
    }
}

/// `statusReason`: why a nudge is held, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatusReason {
    /// Held: the window is closed. Finished: the closed window prevented a retry.
    OutsideCallingWindow,
    /// Held or retry given up: the wallet cannot cover the call.
    InsufficientBalance,
    /// Held or retry given up: no line was free.
    ConcurrencyFull,
    /// Held: the number is in a live call of the workspace. Clients see [`StatusReason::ConcurrencyFull`]; it is
    /// another reason here because no line is kept for it.
    NumberOnCall,
    /// Held or retry given up: the provider refused before the phone rang.
    ProviderError,
    /// Held between an unanswered dial and the next.
    Retry,
    /// Held after a dial whose agent failed to start, or finished after such a dial.
    NotConnected,
    /// A call took place and ended with this cause.
    Ended(EndCause),
    /// The number does not exist (SIP 404, 484, 604).
    InvalidNumber,
    /// The callee rejected the call (SIP 603); never redialled.
    Rejected,
    /// The carrier ended the dial with this SIP status.
    Sip(u16),
    /// The phone may have rung; never redialled.
    PossiblyPlaced,
    /// `fromNumber` is no longer an active number of the workspace.
    FromNumberUnavailable,
    /// No India-resident voice providers are configured.
    IndiaResidencyUnavailable,
    /// Refused at dial time.
    Refused(Refusal),
    /// The call's record is gone.
    CallRecordMissing,
    /// There was no further report of the call.
    Unsettled,
    Expired,
    /// Cancelled through the API.
    Cancelled,
    Erased,
    /// The key that made it was revoked.
    ApiKeyRevoked,
    /// None of these.
    Unknown,
}

impl StatusReason {
    /// The reason that clients see.
    pub fn told(self) -> Self {
        match self {
            StatusReason::NumberOnCall => StatusReason::ConcurrencyFull,
            told => told,
        }
    }

    /// The word in the store, which is that of the API except for reasons that clients do not see
    /// ([`StatusReason::told`]); `sip_<status>` is the only one that is built.
    pub fn as_str(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            StatusReason::OutsideCallingWindow => "outside_calling_window",
            StatusReason::InsufficientBalance => "insufficient_balance",
            StatusReason::ConcurrencyFull => "concurrency_full",
            StatusReason::NumberOnCall => "number_on_call",
            StatusReason::ProviderError => "provider_error",
            StatusReason::Retry => "retry",
            StatusReason::NotConnected => "not_connected",
            StatusReason::Ended(cause) => cause.as_str(),
            StatusReason::InvalidNumber => "invalid_number",
            StatusReason::Rejected => "rejected",
            StatusReason::Sip(status) => return Cow::Owned(format!("sip_{status}")),
            StatusReason::PossiblyPlaced => "possibly_placed",
            StatusReason::FromNumberUnavailable => "from_number_unavailable",
            StatusReason::IndiaResidencyUnavailable => "india_residency_unavailable",
            StatusReason::Refused(refusal) => refusal.as_str(),
            StatusReason::CallRecordMissing => "call_record_missing",
            StatusReason::Unsettled => "unsettled",
            StatusReason::Expired => "expired",
            StatusReason::Cancelled => "cancelled",
            StatusReason::Erased => "erased",
            StatusReason::ApiKeyRevoked => "api_key_revoked",
            StatusReason::Unknown => "unknown",
        })
    }

    const PLAIN: [StatusReason; 19] = [
        StatusReason::OutsideCallingWindow,
        StatusReason::InsufficientBalance,
        StatusReason::ConcurrencyFull,
        StatusReason::NumberOnCall,
        StatusReason::ProviderError,
        StatusReason::Retry,
        StatusReason::NotConnected,
        StatusReason::InvalidNumber,
        StatusReason::Rejected,
        StatusReason::PossiblyPlaced,
        StatusReason::FromNumberUnavailable,
        StatusReason::IndiaResidencyUnavailable,
        StatusReason::CallRecordMissing,
        StatusReason::Unsettled,
        StatusReason::Expired,
        StatusReason::Cancelled,
        StatusReason::Erased,
        StatusReason::ApiKeyRevoked,
        StatusReason::Unknown,
    ];

    pub fn parse(text: &str) -> Option<Self> {
        if let Some(status) = text.strip_prefix("sip_") {
            return status.parse().ok().map(StatusReason::Sip);
        }
        let plain = Self::PLAIN.into_iter().find(|reason| reason.as_str() == text);
        plain
            .or_else(|| EndCause::parse(text).map(StatusReason::Ended))
            .or_else(|| Refusal::parse(text).map(StatusReason::Refused))
    }

    /// Whether the hold waits for something that may become available early (money, a line, the provider), so
    /// that an earlier check makes sense.
    pub fn waits_for_resources(self) -> bool {
        match self {
            StatusReason::InsufficientBalance
            | StatusReason::ConcurrencyFull
            | StatusReason::NumberOnCall
            | StatusReason::ProviderError => true,
            StatusReason::OutsideCallingWindow
            | StatusReason::Retry
            | StatusReason::NotConnected
            | StatusReason::Ended(_)
            | StatusReason::InvalidNumber
            | StatusReason::Rejected
            | StatusReason::Sip(_)
            | StatusReason::PossiblyPlaced
            | StatusReason::FromNumberUnavailable
            | StatusReason::IndiaResidencyUnavailable
            | StatusReason::Refused(_)
            | StatusReason::CallRecordMissing
            | StatusReason::Unsettled
            | StatusReason::Expired
            | StatusReason::Cancelled
            | StatusReason::Erased
            | StatusReason::ApiKeyRevoked
            | StatusReason::Unknown => false,
        }
    }
}

impl fmt::Display for StatusReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_spec_is_read_and_written() {
        let held = [
            "outside_calling_window",
            "insufficient_balance",
            "concurrency_full",
            "number_on_call",
            "provider_error",
            "retry",
            "not_connected",
        ];
        let finished = [
            "agent_ended",
            "caller_hangup",
            "silence_timeout",
            "max_duration",
            "transfer_handoff",
            "api_hangup",
            "error",
            "no_answer",
            "busy",
            "invalid_number",
            "rejected",
            "sip_500",
            "not_connected",
            "possibly_placed",
            "from_number_unavailable",
            "india_residency_unavailable",
            "agent_not_found",
            "agent_not_published",
            "agent_not_call",
            "agent_not_outbound",
            "missing_required_variables",
            "flow_not_ready",
            "workspace_suspended",
            "kyb_required",
            "no_caller_id",
            "placement_refused",
            "call_record_missing",
            "unsettled",
            "expired",
            "cancelled",
            "erased",
            "api_key_revoked",
            "unknown",
        ];
        for word in held.into_iter().chain(finished) {
            assert_eq!(StatusReason::parse(word).map(StatusReason::as_str).as_deref(), Some(word));
        }
        for wrong in ["", "sip_", "sip_x", "Retry"] {
            assert_eq!(StatusReason::parse(wrong), None);
        }
    }

    #[test]
    fn results_and_statuses_are_those_of_the_spec() {
        let results: Vec<&str> = ResultCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(
            results,
            [
                "connected",
                "voicemail",
                "opted_out",
                "no_answer",
                "busy",
                "failed",
                "blocked",
                "expired",
                "cancelled"
            ]
        );
        let statuses: Vec<&str> = Status::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(statuses, ["queued", "scheduled", "dialing", "in_progress", "finished"]);
        assert!(
            results.iter().all(|word| ResultCode::parse(word).is_some())
                && statuses.iter().all(|word| Status::parse(word).is_some())
        );
    }
}

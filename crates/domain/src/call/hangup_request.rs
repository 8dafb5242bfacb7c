//! Hang-ups requested by a third party: the API, a suspension, an empty wallet.

use super::EndCause;

closed_sets::words! {
    /// A hang-up request. It is stored with the call, and the node that holds the line carries it out.
    #[derive(PartialOrd, Ord)]
    pub enum HangupRequest {
        /// An API request.
        HangUp = "api_hangup",
        Suspended = "workspace_suspended",
        /// The wallet does not cover the next minute of one of its legs.
        BalanceExhausted = "balance_exhausted",
    }
}

impl HangupRequest {
    /// The call's end cause.
    pub fn cause(self) -> EndCause {
        match self {
            HangupRequest::HangUp => EndCause::ApiHangup,
            HangupRequest::Suspended => EndCause::Error,
            HangupRequest::BalanceExhausted => EndCause::MaxDuration,
        }
    }

    /// Whether the agent says goodbye first.
    pub fn takes_leave(self) -> bool {
        self == HangupRequest::BalanceExhausted
    }

    /// Whether it replaces the earlier request `known`: once the call is to be dropped, there is no goodbye to wait
    /// for.
    pub fn replaces(self, known: HangupRequest) -> bool {
        known.takes_leave() && !self.takes_leave()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_and_go() {
        for &wish in HangupRequest::ALL {
            assert_eq!(HangupRequest::parse(wish.as_str()), Some(wish));
        }
        assert!(
            HangupRequest::HangUp.replaces(HangupRequest::BalanceExhausted)
                && !HangupRequest::BalanceExhausted.replaces(HangupRequest::HangUp)
        );
        assert!(!HangupRequest::Suspended.replaces(HangupRequest::HangUp));
    }
}

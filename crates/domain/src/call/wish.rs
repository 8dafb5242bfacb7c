//! Hang-ups requested by a third party: the API, a suspension, an empty wallet.

use super::EndCause;

closed_sets::words! {
    /// A hang-up request. It is stored with the call, and the node that holds the line carries it out.
    #[derive(PartialOrd, Ord)]
    pub enum Wish {
        /// An API request.
        HangUp = "api_hangup",
        Suspended = "workspace_suspended",
        /// The wallet does not cover the next minute of one of its legs.
        BalanceExhausted = "balance_exhausted",
    }
}

impl Wish {
    /// The call's end cause.
    pub fn cause(self) -> EndCause {
        match self {
            Wish::HangUp => EndCause::ApiHangup,
            Wish::Suspended => EndCause::Error,
            Wish::BalanceExhausted => EndCause::MaxDuration,
        }
    }

    /// Whether the agent says goodbye first.
    pub fn takes_leave(self) -> bool {
        self == Wish::BalanceExhausted
    }

    /// Whether it replaces the earlier request `known`: once the call is to be dropped, there is no goodbye to wait
    /// for.
    pub fn replaces(self, known: Wish) -> bool {
        known.takes_leave() && !self.takes_leave()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_and_go() {
        for &wish in Wish::ALL {
            assert_eq!(Wish::parse(wish.as_str()), Some(wish));
        }
        assert!(
            Wish::HangUp.replaces(Wish::BalanceExhausted) && !Wish::BalanceExhausted.replaces(Wish::HangUp)
        );
        assert!(!Wish::Suspended.replaces(Wish::HangUp));
    }
}

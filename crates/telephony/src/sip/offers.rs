//! Offer/answer within a dialog: hold by re-INVITE, glare (491).

use std::time::Duration;

use tokio::time::Instant;

/// How long after a clash of two re-INVITEs ours is tried again (RFC 3261 section 14.1: 2.1 to 4 s for the
/// side that began the call).
const CLASH_PAUSE: Duration = Duration::from_millis(2_500);

/// Our side of what is offered after the call was answered.
#[derive(Debug, Default)]
pub(super) struct Offers {
    holding: bool,
    /// A re-INVITE of ours is on its way.
    inviting: bool,
    again_at: Option<Instant>,
    /// A 2xx of ours carried an offer: its ACK carries the answer.
    in_answer: bool,
}

impl Offers {
    /// Our side holds, or no longer. True if a re-INVITE says so now; otherwise it follows the one under way.
    pub fn hold(&mut self, hold: bool, now: Instant) -> bool {
        self.holding = hold;
        if self.inviting {
            self.again_at = Some(now + CLASH_PAUSE);
        }
        !self.inviting
    }

    /// Whether our side holds.
    pub fn holding(&self) -> bool {
        self.holding
    }

    /// A re-INVITE of ours goes out.
    pub fn invite(&mut self) {
        self.inviting = true;
        self.again_at = None;
    }

    /// Whether a re-INVITE of ours is on its way.
    pub fn inviting(&self) -> bool {
        self.inviting
    }

    /// Our re-INVITE was answered.
    pub fn answered(&mut self) {
        self.inviting = false;
    }

    /// Our re-INVITE crossed one of the other side: it is tried again.
    pub fn clashed(&mut self, now: Instant) {
        self.again_at = Some(now + CLASH_PAUSE);
    }

    /// Whether a re-INVITE is to be tried again now.
    pub fn again(&mut self, now: Instant) -> bool {
        self.again_at.take_if(|at| *at <= now).is_some() && !self.inviting
    }

    /// Our 2xx carries an offer.
    pub fn offer_in_answer(&mut self) {
        self.in_answer = true;
    }

    /// Whether the ACK carries the answer to an offer of ours.
    pub fn take_offer_in_answer(&mut self) -> bool {
        std::mem::take(&mut self.in_answer)
    }

    /// When to look again.
    pub fn due(&self) -> Option<Instant> {
        self.again_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reinvite_that_clashed_is_tried_again_when_none_is_under_way() {
        let now = Instant::now();
        let mut offers = Offers::default();
        assert!(offers.hold(true, now) && offers.holding());
        offers.invite();
        assert!(!offers.hold(false, now), "one is under way");
        let later = now + CLASH_PAUSE;
        assert!(!offers.again(now) && !offers.again(later), "it still is");
        offers.answered();
        offers.clashed(now);
        assert_eq!(offers.due(), Some(later));
        assert!(offers.again(later) && !offers.again(later) && offers.due().is_none());
    }
}

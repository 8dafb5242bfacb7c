//! Ending a leg: the BYE, the ACK that it waits for, and its response.

use tokio::time::Instant;

use super::net::REQUEST_LIMIT;

/// The end of a leg, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Goodbye {
    /// Whether this side sent the INVITE.
    caller: bool,
    /// The owner of the leg knows that it is over.
    told: bool,
    /// Until when the ACK of our 2xx must come.
    ack_by: Option<Instant>,
    /// A BYE that waits for the ACK.
    owed: bool,
    /// Until when the answer to our BYE is waited for.
    leave_by: Option<Instant>,
}

impl Goodbye {
    /// This side sent the INVITE.
    pub fn as_caller(&mut self) {
        self.caller = true;
    }

    /// Our 2xx is on its way: its ACK must come.
    pub fn await_ack(&mut self, now: Instant) {
        self.ack_by = Some(now + REQUEST_LIMIT);
    }

    /// The ACK has come, or has not come in time. True if a BYE waited for it, which is sent now.
    pub fn ack_is_settled(&mut self) -> bool {
        self.ack_by = None;
        std::mem::take(&mut self.owed)
    }

    /// When the ACK must have come.
    pub fn ack_by(&self) -> Option<Instant> {
        self.ack_by
    }

    /// Ends an answered call. True if the BYE is sent now: the called side may not end a call before its
    /// answer is acknowledged (RFC 3261 section 15).
    pub fn begin(&mut self, now: Instant) -> bool {
        if self.begun() || self.told {
            return false;
        }
        self.leave_by = Some(now + 2 * REQUEST_LIMIT);
        self.owed = !self.caller && self.ack_by.is_some();
        !self.owed
    }

    /// Whether the answer to our BYE is waited for.
    pub fn begun(&self) -> bool {
        self.leave_by.is_some()
    }

    /// Notifies the owner that the leg has ended; false if it was notified before.
    pub fn tell(&mut self) -> bool {
        !std::mem::replace(&mut self.told, true)
    }

    /// Whether the leg is over for its owner.
    pub fn told(&self) -> bool {
        self.told
    }

    /// Whether nothing is left to wait for: the owner knows, and no BYE of ours is under way.
    pub fn complete(&self) -> bool {
        self.told && !self.begun()
    }

    /// Whether the answer to our BYE was waited for long enough.
    pub fn given_up(&self, now: Instant) -> bool {
        self.leave_by.is_some_and(|by| by <= now)
    }

    /// When to look again.
    pub fn due(&self) -> Option<Instant> {
        self.ack_by.into_iter().chain(self.leave_by).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bye_of_the_called_side_waits_for_the_ack() {
        let now = Instant::now();
        let mut called = Goodbye::default();
        called.await_ack(now);
        assert!(!called.begin(now) && called.begun());
        assert!(called.ack_is_settled(), "it is sent now");
        assert!(!called.ack_is_settled() && called.ack_by().is_none());

        let mut caller = Goodbye::default();
        caller.as_caller();
        caller.await_ack(now);
        assert!(caller.begin(now) && !caller.begin(now), "it is sent once");
    }

    #[test]
    fn a_leg_is_complete_when_no_bye_of_ours_is_under_way() {
        let now = Instant::now();
        let (mut theirs, mut ours) = (Goodbye::default(), Goodbye::default());
        assert!(theirs.tell() && !theirs.tell() && theirs.complete());
        assert!(!theirs.begin(now), "there is nothing left to end");
        assert!(ours.begin(now) && ours.tell() && !ours.complete());
        assert!(!ours.given_up(now) && ours.due().is_some_and(|by| ours.given_up(by)));
    }
}

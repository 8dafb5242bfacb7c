//! Waiting for a person behind a machine that picked up: an assistant that screens calls, or an announcement of an
//! operator. Times are milliseconds of media.

use domain::call::{AnsweredBy, EndCause, Fact};
use domain::speech::Machine;

/// Silence of an assistant after which the caller is announced to it.
const TELL_AFTER_MS: u64 = 700;
/// Latest time of the announcement after the assistant was recognised, although it still talks.
const TELL_WITHIN_MS: u64 = 8000;
/// Silence after an announcement that asks nobody to wait, after which nobody will come. A voicemail may follow it.
const NOBODY_AFTER_MS: u64 = 4000;
/// The same when it never falls silent.
const NOBODY_WITHIN_MS: u64 = 12_000;

/// What picked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    Screener,
    Announcement { holds: bool, busy: bool },
}

impl Met {
    /// The machine, unless it takes a message.
    pub fn of(machine: Machine) -> Option<Self> {
        match machine {
            Machine::Voicemail => None,
            Machine::Screener => Some(Self::Screener),
            Machine::Announcement { holds, busy } => Some(Self::Announcement { holds, busy }),
        }
    }

    /// Who picked up, as a fact of the call.
    pub fn fact(self) -> Fact {
        Fact::PickedUpBy(match self {
            Self::Screener => AnsweredBy::Screener,
            Self::Announcement { .. } => AnsweredBy::Announcement,
        })
    }
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Wait,
    /// Who calls and why is to be announced to the assistant.
    Tell,
    /// Nobody came.
    Over,
}

/// The wait, as far as it goes.
#[derive(Debug)]
pub(crate) struct PersonWait {
    met: Met,
    since: u64,
    /// When it is over at the latest.
    until: u64,
    quiet_since: u64,
    /// The caller was announced to the assistant.
    told: bool,
}

impl PersonWait {
    /// Waits from now on, for `most_ms` at most.
    pub fn new(met: Met, now: u64, most_ms: u64) -> Self {
        Self { met, since: now, until: now + most_ms, quiet_since: now, told: false }
    }

    /// More was recognised of what picked up. True if it is an assistant that an announcement was taken for.
    pub fn met(&mut self, met: Met) -> bool {
        let (before, now) = (self.met, met);
        self.met = match (before, now) {
            (Met::Screener, _) => Met::Screener,
            (Met::Announcement { holds, busy }, Met::Announcement { holds: more, busy: too }) => {
                Met::Announcement { holds: holds || more, busy: busy || too }
            }
            (Met::Announcement { .. }, Met::Screener) => Met::Screener,
        };
        before != Met::Screener && self.met == Met::Screener
    }

    /// Somebody speaks.
    pub fn speaks(&mut self, now: u64) {
        self.quiet_since = now;
    }

    /// The assistant gives the sign to speak.
    pub fn beeped(&mut self, now: u64) {
        self.quiet_since = self.quiet_since.min(now.saturating_sub(TELL_AFTER_MS));
    }

    /// Whether a beep belongs to what picked up, and is no voicemail's.
    pub fn expects_beeps(&self) -> bool {
        self.met == Met::Screener
    }

    /// Whether a person may have come, and whether they must greet to be known. An assistant has first to be told who
    /// calls.
    pub fn may_be_person(&self) -> Option<bool> {
        match self.met {
            Met::Screener => self.told.then_some(false),
            Met::Announcement { .. } => Some(true),
        }
    }

    /// How the call ends when nobody comes.
    pub fn end_cause(&self) -> EndCause {
        match self.met {
            Met::Announcement { busy: true, .. } => EndCause::Busy,
            Met::Screener | Met::Announcement { busy: false, .. } => EndCause::NoAnswer,
        }
    }

    /// What is due. The announcement is made once.
    pub fn next(&mut self, now: u64) -> Next {
        if now >= self.over_at() {
            return Next::Over;
        }
        if self.tell_at().is_some_and(|at| now >= at) {
            self.told = true;
            return Next::Tell;
        }
        Next::Wait
    }

    fn tell_at(&self) -> Option<u64> {
        let untold = self.met == Met::Screener && !self.told;
        untold.then(|| (self.quiet_since + TELL_AFTER_MS).min(self.since + TELL_WITHIN_MS))
    }

    fn over_at(&self) -> u64 {
        match self.met {
            Met::Announcement { holds: false, .. } => {
                self.until.min(self.quiet_since + NOBODY_AFTER_MS).min(self.since + NOBODY_WITHIN_MS)
            }
            Met::Screener | Met::Announcement { holds: true, .. } => self.until,
        }
    }

    /// When the introduction is due, and when the wait ends, in milliseconds of the line.
    pub fn due(&self) -> [Option<u64>; 3] {
        [self.tell_at(), Some(self.over_at()), None]
    }

    /// Moves every deadline by the length of a hold.
    pub fn shift(&mut self, by: u64) {
        self.since += by;
        self.until += by;
        self.quiet_since += by;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWAY: Met = Met::Announcement { holds: false, busy: false };
    const BUSY: Met = Met::Announcement { holds: true, busy: true };

    #[test]
    fn an_assistant_is_told_once_when_it_has_finished() {
        let mut wait = PersonWait::new(Met::Screener, 1000, 30_000);
        wait.speaks(4000);
        assert_eq!((wait.next(4699), wait.next(4700)), (Next::Wait, Next::Tell));
        wait.speaks(6000);
        assert_eq!(
            (wait.next(9000), wait.next(30_999), wait.next(31_000)),
            (Next::Wait, Next::Wait, Next::Over)
        );
        assert_eq!(wait.end_cause(), EndCause::NoAnswer);

        let mut talks_on = PersonWait::new(Met::Screener, 1000, 30_000);
        talks_on.speaks(8999);
        assert_eq!((talks_on.next(8999), talks_on.next(9000)), (Next::Wait, Next::Tell));

        let mut beeps = PersonWait::new(Met::Screener, 1000, 30_000);
        beeps.speaks(3000);
        beeps.beeped(3000);
        assert_eq!(beeps.next(3000), Next::Tell);
    }

    #[test]
    fn an_announcement_is_waited_out_if_it_asks_for_that() {
        let mut away = PersonWait::new(AWAY, 1000, 30_000);
        away.speaks(3000);
        assert_eq!((away.next(6999), away.next(7000)), (Next::Wait, Next::Over));
        assert_eq!(away.end_cause(), EndCause::NoAnswer);
        away.speaks(12_900);
        assert_eq!((away.next(12_999), away.next(13_000)), (Next::Wait, Next::Over), "it plays music");

        assert!(!away.met(BUSY));
        assert_eq!((away.next(30_999), away.end_cause()), (Next::Wait, EndCause::Busy));
        away.shift(1000);
        assert_eq!(away.due(), [None, Some(32_000), None]);
    }

    #[test]
    fn an_announcement_may_turn_out_to_be_an_assistant() {
        let mut wait = PersonWait::new(AWAY, 0, 30_000);
        assert!(wait.met(Met::Screener) && !wait.met(Met::Screener) && !wait.met(BUSY));
        assert_eq!(wait.next(700), Next::Tell);
    }
}

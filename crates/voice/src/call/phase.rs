//! Phases of a call: greeting, waiting for a person or for a machine's beep, conversation, end. Times are milliseconds of media.

use domain::call::Fact;

use super::machine::Greeting;
use super::person_wait::PersonWait;

/// Longest wait for a machine's beep, milliseconds.
const BEEP_WITHIN_MS: u64 = 45_000;
/// Silence after a machine's greeting that is taken for its beep.
const BEEP_SILENCE_MS: u64 = 2500;
/// From the recognition of a beep to the first word after it.
const BEEP_REST_MS: u64 = 700;
/// Longest wait for the sound of last words. As long as they sound they are heard to their end.
const SILENT_ENDING_MS: u64 = 30_000;
/// From the last sample to the hang-up: packets in flight still arrive.
const TAIL_MS: u64 = 240;
/// Longest wait for the customer's words when everything was said.
const LAST_WORDS_MS: u64 = 1500;

/// The phase of a call.
pub(crate) enum Phase {
    /// Who answered is not known yet.
    Greeting(Greeting),
    /// The agent and the customer talk.
    Talking,
    /// A screening assistant or an announcement answered: a person is waited for.
    Waiting(PersonWait),
    /// A machine answered: its beep is waited for.
    Machine(BeepWait),
    /// The last words are being said.
    Ending(Ending),
}

impl Phase {
    /// The greeting, while it is not known who answered.
    pub fn greeting(&mut self) -> Option<&mut Greeting> {
        if let Self::Greeting(greeting) = self { Some(greeting) } else { None }
    }

    /// The wait for a person behind a machine.
    pub fn person_wait(&mut self) -> Option<&mut PersonWait> {
        if let Self::Waiting(wait) = self { Some(wait) } else { None }
    }

    /// The wait for a machine's beep.
    pub fn beep_wait(&mut self) -> Option<&mut BeepWait> {
        if let Self::Machine(wait) = self { Some(wait) } else { None }
    }

    /// The end, once it has begun.
    pub fn ending(&mut self) -> Option<&mut Ending> {
        if let Self::Ending(ending) = self { Some(ending) } else { None }
    }

    /// Deadlines of a call that was answered at `answered_at`.
    pub fn due(&self, answered_at: u64) -> [Option<u64>; 3] {
        match self {
            Self::Greeting(greeting) => [Some(answered_at + greeting.due()), None, None],
            Self::Waiting(wait) => wait.due(),
            Self::Talking => [None; 3],
            Self::Machine(wait) => wait.due(),
            Self::Ending(ending) => ending.due(),
        }
    }

    /// Moves every deadline by the length of a hold.
    pub fn shift(&mut self, by: u64) {
        match self {
            Self::Greeting(_) | Self::Talking => {}
            Self::Waiting(wait) => wait.shift(by),
            Self::Machine(wait) => wait.shift(by),
            Self::Ending(ending) => ending.shift(by),
        }
    }
}

/// Waiting for a machine's beep.
pub(crate) struct BeepWait {
    since: u64,
    speak_at: Option<u64>,
    quiet_since: u64,
}

impl BeepWait {
    /// Waits from now on.
    pub fn new(now: u64) -> Self {
        Self { since: now, speak_at: None, quiet_since: now }
    }

    /// The machine has beeped.
    pub fn beeped(&mut self, now: u64) {
        self.speak_at.get_or_insert(now + BEEP_REST_MS);
    }

    /// The machine speaks: it has not beeped yet.
    pub fn speaks(&mut self, now: u64) {
        self.quiet_since = now;
    }

    /// Whether the message is to be left now.
    pub fn over(&self, now: u64) -> bool {
        let quiet = self.speak_at.is_none() && now >= self.quiet_since + BEEP_SILENCE_MS;
        self.speak_at.is_some_and(|at| now >= at) || quiet || now >= self.since + BEEP_WITHIN_MS
    }

    fn due(&self) -> [Option<u64>; 3] {
        let speak_at = self.speak_at.unwrap_or(self.since + BEEP_WITHIN_MS);
        [Some(speak_at), Some(self.quiet_since + BEEP_SILENCE_MS), None]
    }

    fn shift(&mut self, by: u64) {
        self.since += by;
        self.quiet_since += by;
        self.speak_at = self.speak_at.map(|at| at + by);
    }
}

/// How a call will have ended when what is being said has been said.
pub(crate) struct Ending {
    fact: Fact,
    outcome: Option<String>,
    /// The outcome already holds, no matter who hangs up first.
    reached: bool,
    /// Not later than this, unless more sounds until then.
    by: u64,
    /// Not later than this.
    latest: u64,
    /// When everything was said.
    said_at: Option<u64>,
}

impl Ending {
    /// The call ends with this fact and disposition. `reached`: this holds no matter who hangs up first; otherwise only
    /// once the last words have sounded. Sound goes on until `longest_at` at most.
    pub fn begin(fact: Fact, outcome: Option<String>, reached: bool, now: u64, longest_at: u64) -> Self {
        let by = now + SILENT_ENDING_MS;
        Self { fact, outcome, reached, by, latest: by.max(longest_at), said_at: None }
    }

    /// The fact that the call ends with.
    pub fn fact(&self) -> Fact {
        self.fact
    }

    /// Takes the disposition that comes with the end.
    pub fn take_outcome(&mut self) -> Option<String> {
        self.outcome.take()
    }

    /// Whether the call has ended like this although its line is still open.
    pub fn stands(&self) -> bool {
        self.reached || self.said_at.is_some()
    }

    /// Checks the last words; true when the call is over. `left_ms` is the sound that is left, `idle`: nothing more
    /// will sound, `words_owed`: the customer's words are still awaited.
    pub fn look(&mut self, left_ms: u64, idle: bool, words_owed: bool, now: u64) -> bool {
        if left_ms > 0 {
            self.by = (now + SILENT_ENDING_MS).min(self.latest);
        }
        if idle {
            self.said_at.get_or_insert(now);
        }
        // What ends before a word was ever said has nothing to let arrive.
        let wait = if words_owed { LAST_WORDS_MS } else { TAIL_MS };
        now >= self.by || self.said_at.is_some_and(|at| now >= at + wait)
    }

    fn due(&self) -> [Option<u64>; 3] {
        [Some(self.by), self.said_at.map(|at| at + TAIL_MS), self.said_at.map(|at| at + LAST_WORDS_MS)]
    }

    fn shift(&mut self, by: u64) {
        self.by += by;
        self.latest += by;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_ends_when_its_last_words_have_sounded() {
        let mut ending = Ending::begin(Fact::Voicemail, None, false, 1000, 600_000);
        assert!(!ending.stands() && !ending.look(4000, false, false, 1000));
        assert!(!ending.look(0, true, false, 5000) && ending.stands());
        assert!(!ending.look(0, true, false, 5239) && ending.look(0, true, false, 5240));
        assert!(!ending.look(0, true, true, 6499) && ending.look(0, true, true, 6500), "the customer speaks");
    }

    #[test]
    fn last_words_that_never_sound_are_given_up() {
        let mut ending = Ending::begin(Fact::Voicemail, None, false, 1000, 600_000);
        assert!(!ending.look(0, false, false, 30_999) && ending.look(0, false, false, 31_000));
        ending.shift(5000);
        assert!(!ending.look(0, false, false, 35_999) && ending.look(0, false, false, 36_000));
    }

    #[test]
    fn a_message_is_left_after_the_beep_or_in_silence() {
        let mut wait = BeepWait::new(1000);
        wait.speaks(3000);
        assert!(!wait.over(5499) && wait.over(5500));
        wait.beeped(4000);
        assert!(!wait.over(4699) && wait.over(4700));
        let mut phase = Phase::Machine(wait);
        phase.shift(1000);
        assert_eq!(phase.due(0), [Some(5700), Some(6500), None]);
    }
}

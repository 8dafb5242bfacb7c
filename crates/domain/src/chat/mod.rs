//! Chats: states, ownership, and deadlines (docs/contract/chats.md).

pub mod background;
mod hours;
pub mod inbox;
mod ownership;

pub use hours::{BusinessHours, MAX_SPANS, OpenSpan, WrongHours};
pub use ownership::{Ownership, Transition};

use crate::time::{HOUR, MINUTE, SECOND, Timestamp};

/// Longest message of a customer or a teammate, in characters.
pub const MAX_TEXT: usize = 4_000;
/// Longest reply of the agent, in characters; the rest is truncated.
pub const MAX_REPLY: usize = 16_000;
/// Most messages of a chat.
pub const MAX_MESSAGES: i64 = 500;
/// Most characters of all messages of a chat.
pub const MAX_CHARACTERS: i64 = 200_000;
/// Tries of a reply before it counts as failed.
pub const MAX_ATTEMPTS: i64 = 3;
/// Failed replies in a row before the chat is handed to a person.
pub const MAX_FAILURES: i64 = 3;
/// Failed replies of a chat, in a row or not, after which each further one hands it to a person.
pub const MAX_FAILED_REPLIES: i64 = 10;
/// Lease of a writer on a reply.
pub const LEASE: i64 = 90 * SECOND;
/// Time-out of the writer of a reply, well before its lease expires.
pub const PATIENCE: i64 = 60 * SECOND;

closed_sets::words! {
    /// The state of a chat (docs/contract/chats.md#states).
    pub enum State {
        Ai = "ai",
        /// It waits for a person.
        AwaitingHuman = "awaiting_human",
        /// A teammate has it.
        Human = "human",
        Ended = "ended",
    }
}

closed_sets::words! {
    /// The channel of a chat.
    pub enum Channel {
        /// Requests of a server.
        Api = "api",
        /// A window on a website.
        Web = "web",
        /// The chat-app channel.
        Chatapp = "chatapp",
    }
}

closed_sets::words! {
    /// Who wrote a message.
    pub enum Role {
        User = "user",
        Agent = "agent",
        Human = "human",
    }
}

closed_sets::words! {
    /// Why a chat ended (docs/contract/chats.md#end-causes).
    pub enum EndCause {
        /// It was ended through the API.
        Completed = "completed",
        /// Nothing was written for too long.
        IdleTimeout = "idle_timeout",
        /// It lasted too long, or has as many messages as it may.
        MaxDuration = "max_duration",
        /// The agent finished it.
        AgentEnded = "agent_ended",
        /// A teammate finished it.
        HumanEnded = "human_ended",
        /// The customer asked not to be written to again.
        OptedOut = "opted_out",
        /// The customer never answered.
        NoReply = "no_reply",
        Erased = "erased",
        /// The workspace was suspended.
        Abandoned = "abandoned",
        /// Its first message could not be sent.
        TemplateFailed = "template_failed",
        /// The agent's flow broke.
        AiUnavailable = "ai_unavailable",
    }
}

closed_sets::words! {
    /// How a chat on the messaging channel began (docs/contract/channel-conversations.md#origins).
    pub enum Origin {
        /// The customer wrote first.
        Inbound = "inbound",
        /// A template that was sent over the API.
        TemplateStart = "template_start",
        /// The customer answered a message that was sent during a call.
        CallFollowup = "call_followup",
        /// The customer answered a campaign.
        Campaign = "campaign",
        /// The customer wrote, and the agent could not take the chat.
        AiUnavailable = "ai_unavailable",
    }
}

closed_sets::words! {
    /// What the agent replies to.
    pub enum TurnKind {
        /// The opening of the chat: the agent writes first.
        Opening = "opening",
        /// A message of the customer.
        Message = "message",
        /// A document of the customer was checked.
        Document = "document",
        /// A teammate has handed the chat back.
        Handback = "handback",
    }
}

closed_sets::words! {
    /// The status of the analysis of an ended chat.
    pub enum Reading {
        Pending = "pending",
        Done = "done",
        /// It failed for good.
        Failed = "failed",
    }
}

impl State {
    /// Whether a person has it, or will have it.
    pub fn with_person(self) -> bool {
        matches!(self, Self::AwaitingHuman | Self::Human)
    }
}

/// A transition of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// The agent requests a person, or cannot continue.
    HandOff,
    /// A teammate takes it.
    TakeOver,
    /// A teammate gives it back to the agent.
    HandBack,
    End,
}

/// Why a transition is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stuck {
    Over,
    WithAgent,
}

/// The state after a transition (docs/contract/chats.md#states).
///
/// # Errors
/// Why it is not allowed.
pub fn step(state: State, by: Move) -> Result<State, Stuck> {
    match (state, by) {
        (State::Ended, _) => Err(Stuck::Over),
        (_, Move::End) => Ok(State::Ended),
        (State::Ai, Move::HandOff) => Ok(State::AwaitingHuman),
        (State::AwaitingHuman | State::Human, Move::HandOff) => Ok(state),
        (State::Ai | State::AwaitingHuman | State::Human, Move::TakeOver) => Ok(State::Human),
        (State::AwaitingHuman | State::Human, Move::HandBack) => Ok(State::Ai),
        (State::Ai, Move::HandBack) => Err(Stuck::WithAgent),
    }
}

/// How long chats last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest silence, milliseconds.
    pub idle: i64,
    /// Longest life, milliseconds.
    pub longest: i64,
}

impl Limits {
    /// Those of the messaging channel, where people answer when they have time.
    pub const CHANNEL: Self = Self { idle: 24 * HOUR, longest: 7 * 24 * HOUR };
}

impl Default for Limits {
    fn default() -> Self {
        Self { idle: 30 * MINUTE, longest: 24 * HOUR }
    }
}

/// The fields of a chat that determine its next check.
#[derive(Debug, Clone, Copy)]
pub struct DueState {
    pub state: State,
    pub opened: Timestamp,
    /// When the last message was written.
    pub last: Timestamp,
    /// The end of the lease of a reply that is being written.
    pub reply_until: Option<Timestamp>,
    /// When the debounced reply begins.
    pub reply_at: Option<Timestamp>,
    /// Whether an end was requested.
    pub wished: bool,
    /// Whether round robin gave it to a teammate who has not written yet.
    pub unattended: bool,
}

/// Debounce: how long the agent waits for more messages of a customer.
pub const QUIET: i64 = 3 * SECOND;
/// Longest debounce after the first message.
pub const LONGEST_BURST: i64 = 15 * SECOND;

/// When the agent replies to a message of a burst whose first message came at `first`
/// (docs/contract/channel-conversations.md#bursts).
pub fn reply_after(first: Timestamp, now: Timestamp) -> Timestamp {
    now.plus(QUIET).min(first.plus(LONGEST_BURST)).max(now)
}

/// The next check of a chat; `None` once it is over.
pub fn look_at(standing: &DueState, limits: Limits) -> Option<Timestamp> {
    if standing.state == State::Ended {
        return None;
    }
    if standing.wished {
        return Some(standing.opened);
    }
    let longest = standing.opened.plus(limits.longest);
    let replies = standing.reply_at.filter(|_| standing.state == State::Ai);
    let next = standing
        .reply_until
        .or_else(|| [replies, idle_at(standing, limits)].into_iter().flatten().min())
        .unwrap_or(longest);
    Some(next.min(longest))
}

/// When a chat has been idle for too long. One that waits for a person, or for the first words of the teammate to whom it
/// was given, does not end by that.
fn idle_at(standing: &DueState, limits: Limits) -> Option<Timestamp> {
    match standing.state {
        State::Human if standing.unattended => None,
        State::Ai | State::Human => Some(standing.last.plus(limits.idle)),
        State::AwaitingHuman | State::Ended => None,
    }
}

/// Why an expired chat ends now, if it does. A reply in progress is waited for.
pub fn times_out(standing: &DueState, limits: Limits, now: Timestamp) -> Option<EndCause> {
    if standing.state == State::Ended {
        return None;
    }
    if standing.opened.plus(limits.longest) <= now {
        return Some(EndCause::MaxDuration);
    }
    if standing.reply_until.is_some() {
        return None;
    }
    idle_at(standing, limits).filter(|idle| *idle <= now).map(|_| EndCause::IdleTimeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row of the table of states.
    #[test]
    fn states() {
        use Move::*;
        use State::*;
        for (from, by, to) in [
            (Ai, HandOff, Ok(AwaitingHuman)),
            (Ai, TakeOver, Ok(Human)),
            (Ai, HandBack, Err(Stuck::WithAgent)),
            (Ai, End, Ok(Ended)),
            (AwaitingHuman, HandOff, Ok(AwaitingHuman)),
            (AwaitingHuman, TakeOver, Ok(Human)),
            (AwaitingHuman, HandBack, Ok(Ai)),
            (AwaitingHuman, End, Ok(Ended)),
            (Human, HandOff, Ok(Human)),
            (Human, TakeOver, Ok(Human)),
            (Human, HandBack, Ok(Ai)),
            (Human, End, Ok(Ended)),
            (Ended, HandOff, Err(Stuck::Over)),
            (Ended, TakeOver, Err(Stuck::Over)),
            (Ended, HandBack, Err(Stuck::Over)),
            (Ended, End, Err(Stuck::Over)),
        ] {
            assert_eq!(step(from, by), to, "{from} {by:?}");
        }
    }

    #[test]
    fn a_burst_waits_for_quiet_but_not_for_ever() {
        let first = Timestamp(0);
        for (now, expected) in [(0, 3), (2, 5), (11, 14), (13, 15), (20, 20)] {
            let at = reply_after(first, Timestamp(now * SECOND));
            assert_eq!(at, Timestamp(expected * SECOND), "a message after {now} s");
        }
    }

    #[test]
    fn what_ends_by_itself_and_when() {
        let limits = Limits { idle: 30 * MINUTE, longest: 24 * HOUR };
        let at = |state| DueState {
            state,
            opened: Timestamp(0),
            last: Timestamp(HOUR),
            reply_until: None,
            reply_at: None,
            wished: false,
            unattended: false,
        };
        let idle = Timestamp(HOUR + 30 * MINUTE);
        for state in [State::Ai, State::Human] {
            assert_eq!(look_at(&at(state), limits), Some(idle));
            assert_eq!(times_out(&at(state), limits, idle.plus(-1)), None);
            assert_eq!(times_out(&at(state), limits, idle), Some(EndCause::IdleTimeout));
        }
        let waiting = at(State::AwaitingHuman);
        assert_eq!(look_at(&waiting, limits), Some(Timestamp(24 * HOUR)));
        assert_eq!(times_out(&waiting, limits, Timestamp(23 * HOUR)), None);
        assert_eq!(times_out(&waiting, limits, Timestamp(24 * HOUR)), Some(EndCause::MaxDuration));
        let given = DueState { unattended: true, ..at(State::Human) };
        assert_eq!(look_at(&given, limits), Some(Timestamp(24 * HOUR)));
        assert_eq!(times_out(&given, limits, Timestamp(23 * HOUR)), None);
        assert_eq!(times_out(&given, limits, Timestamp(24 * HOUR)), Some(EndCause::MaxDuration));
        let replying = DueState { reply_until: Some(Timestamp(HOUR + LEASE)), ..at(State::Ai) };
        assert_eq!(look_at(&replying, limits), replying.reply_until);
        assert_eq!(times_out(&replying, limits, idle), None);
        assert_eq!(times_out(&replying, limits, Timestamp(24 * HOUR)), Some(EndCause::MaxDuration));
        assert_eq!(look_at(&DueState { wished: true, ..at(State::Human) }, limits), Some(Timestamp(0)));
        let soon = DueState { reply_at: Some(Timestamp(HOUR + QUIET)), ..at(State::Ai) };
        assert_eq!(look_at(&soon, limits), soon.reply_at);
        assert_eq!(
            look_at(&DueState { state: State::Human, ..soon }, limits),
            Some(idle),
            "a person replies"
        );
        assert_eq!(look_at(&at(State::Ended), limits), None);
        assert_eq!(times_out(&at(State::Ended), limits, Timestamp(i64::MAX)), None);
    }
}

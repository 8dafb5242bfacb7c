//! Who has a chat: its agent, nobody yet, or a person (docs/contract/chats.md#states).

use super::{Move, State, Stuck, step};
use crate::ids::{Id, User};
use crate::time::Timestamp;

/// Who has a chat, and everything that a change of that changes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ownership {
    pub state: State,
    /// The teammate who has it.
    pub teammate: Option<Id<User>>,
    /// The newest message when a person took it over.
    pub taken_from: Option<i64>,
    /// The newest message when a person gave it back to the agent; 0 when nobody has.
    pub given_back: i64,
    /// Replies that failed, in a row.
    pub failures: i64,
    /// When the agent begins its reply to what has come in on the messaging channel.
    pub reply_at: Option<Timestamp>,
    /// When the first message came that the agent has not replied to there.
    pub unanswered_at: Option<Timestamp>,
    /// Why it was handed to a person.
    pub handoff_reason: Option<String>,
    pub handoff_at: Option<Timestamp>,
}

/// A change of who has a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    /// The agent asks for a person, or cannot go on; a code says why, none that the agent asked.
    HandOff(Option<String>),
    /// A teammate takes it, or a helpdesk, which is no teammate.
    TakeOver(Option<Id<User>>),
    /// Who has it gives it back to the agent.
    HandBack,
    End,
}

impl Transition {
    fn by(&self) -> Move {
        match self {
            Self::HandOff(_) => Move::HandOff,
            Self::TakeOver(_) => Move::TakeOver,
            Self::HandBack => Move::HandBack,
            Self::End => Move::End,
        }
    }
}

impl Ownership {
    /// Who has the chat after a transition. `messages` is the number of its newest message. A burst that was waiting for
    /// the agent's reply is over with every transition: the agent counts the next one from its own first message.
    ///
    /// # Errors
    /// Why it does not move.
    pub fn after(self, by: Transition, messages: i64, now: Timestamp) -> Result<Self, Stuck> {
        let state = step(self.state, by.by())?;
        let moved = Self { state, reply_at: None, unanswered_at: None, ..self };
        Ok(match by {
            Transition::HandOff(reason) => Self { handoff_reason: reason, handoff_at: Some(now), ..moved },
            Transition::TakeOver(teammate) => Self {
                teammate,
                // Who is given a chat that a person has goes on from where that one took it.
                taken_from: moved.taken_from.filter(|_| self.state == State::Human).or(Some(messages)),
                ..moved
            },
            Transition::HandBack => Self {
                teammate: None,
                taken_from: None,
                given_back: messages,
                failures: 0,
                handoff_reason: None,
                handoff_at: None,
                ..moved
            },
            Transition::End => moved,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_agent() -> Ownership {
        Ownership {
            state: State::Ai,
            teammate: None,
            taken_from: None,
            given_back: 0,
            failures: 2,
            reply_at: Some(Timestamp(5)),
            unanswered_at: Some(Timestamp(1)),
            handoff_reason: None,
            handoff_at: None,
        }
    }

    #[test]
    fn whoever_takes_it_ends_the_burst_that_waited() {
        let user: Id<User> = Id::new(1, 1);
        for by in [
            Transition::HandOff(Some("ai_error".into())),
            Transition::TakeOver(Some(user)),
            Transition::TakeOver(None),
            Transition::End,
        ] {
            let after = with_agent().after(by.clone(), 7, Timestamp(9)).unwrap();
            assert_eq!((after.reply_at, after.unanswered_at), (None, None), "{by:?}");
        }
    }

    #[test]
    fn what_comes_back_is_as_new() {
        let taken = with_agent().after(Transition::TakeOver(None), 7, Timestamp(9)).unwrap();
        assert_eq!((taken.state, taken.taken_from, taken.failures), (State::Human, Some(7), 2));
        // The next person goes on from where the first took it.
        let taken = taken.after(Transition::TakeOver(None), 8, Timestamp(9)).unwrap();
        assert_eq!(taken.taken_from, Some(7));
        let back = taken.after(Transition::HandBack, 9, Timestamp(10)).unwrap();
        let expected = Ownership {
            state: State::Ai,
            given_back: 9,
            failures: 0,
            reply_at: None,
            unanswered_at: None,
            ..with_agent()
        };
        assert_eq!(back, expected);
        assert_eq!(back.after(Transition::HandBack, 9, Timestamp(10)), Err(Stuck::WithAgent));
    }

    #[test]
    fn a_hand_off_says_why_and_when() {
        let off = with_agent().after(Transition::HandOff(Some("ai_error".into())), 7, Timestamp(9)).unwrap();
        assert_eq!(
            (off.state, off.handoff_reason.as_deref(), off.handoff_at),
            (State::AwaitingHuman, Some("ai_error"), Some(Timestamp(9)))
        );
    }
}

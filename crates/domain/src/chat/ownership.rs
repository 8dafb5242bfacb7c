//! Ownership of a chat: its agent, the queue for a person, or a person. Every takeover, hand-off and handback, by agent,
//! inbox or helpdesk, is a transition of this state machine (docs/contract/chats.md#states).

use super::{Move, State, Stuck, step};
use crate::ids::{Id, User};
use crate::time::Timestamp;

/// The owner of a chat, and all fields that change with the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ownership {
    pub state: State,
    /// The teammate who has it.
    pub teammate: Option<Id<User>>,
    /// The newest message when a person took it over.
    pub taken_from: Option<i64>,
    /// When the person who has it got it.
    pub taken_at: Option<Timestamp>,
    /// Whether round robin gave it to its teammate, who has not written yet.
    pub unattended: bool,
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

/// A change of a chat's owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    /// The agent asks for a person (`None`), or cannot continue (a code says why).
    HandOff(Option<String>),
    /// A teammate takes it over, or a helpdesk (`None`).
    TakeOver(Option<Id<User>>),
    /// Round robin gives it to a teammate.
    Assign(Id<User>),
    /// It is handed back to the agent.
    HandBack,
    End,
}

impl Transition {
    fn by(&self) -> Move {
        match self {
            Self::HandOff(_) => Move::HandOff,
            Self::TakeOver(_) | Self::Assign(_) => Move::TakeOver,
            Self::HandBack => Move::HandBack,
            Self::End => Move::End,
        }
    }
}

impl Ownership {
    /// The ownership after a transition. `messages` is the number of the chat's newest message. Every transition cancels a
    /// debounced reply.
    ///
    /// # Errors
    /// Why it does not move.
    pub fn after(self, by: Transition, messages: i64, now: Timestamp) -> Result<Self, Stuck> {
        let state = step(self.state, by.by())?;
        let moved = Self { state, reply_at: None, unanswered_at: None, ..self };
        let unattended = matches!(by, Transition::Assign(_));
        let teammate = match by {
            Transition::TakeOver(teammate) => teammate,
            Transition::Assign(teammate) => Some(teammate),
            Transition::HandOff(_) | Transition::HandBack | Transition::End => None,
        };
        Ok(match by {
            Transition::HandOff(reason) => Self { handoff_reason: reason, handoff_at: Some(now), ..moved },
            Transition::TakeOver(_) | Transition::Assign(_) => Self {
                teammate,
                taken_at: Some(now),
                unattended,
                // Who is given a chat that a person has goes on from where that one took it.
                taken_from: moved.taken_from.filter(|_| self.state == State::Human).or(Some(messages)),
                ..moved
            },
            Transition::HandBack => Self {
                teammate: None,
                taken_from: None,
                taken_at: None,
                unattended: false,
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

    /// What a transition leaves as it was; the columns of the table below say the rest.
    fn left(state: State) -> Ownership {
        let taken = state == State::Human;
        Ownership {
            state,
            teammate: taken.then(|| Id::new(1, 1)),
            taken_from: taken.then_some(3),
            taken_at: taken.then_some(Timestamp(2)),
            unattended: taken,
            given_back: 2,
            failures: 2,
            reply_at: Some(Timestamp(5)),
            unanswered_at: Some(Timestamp(1)),
            handoff_reason: state.with_person().then(|| "asked".to_owned()),
            handoff_at: state.with_person().then_some(Timestamp(4)),
        }
    }

    #[test]
    fn every_transition_from_every_state() {
        use State::{Ai, AwaitingHuman, Ended, Human};
        let (holder, other): (Id<User>, Id<User>) = (Id::new(1, 1), Id::new(1, 2));
        let off = || Transition::HandOff(Some("ai_error".into()));
        let user = || Transition::TakeOver(Some(other));
        let desk = || Transition::TakeOver(None);
        let given = || Transition::Assign(other);
        let back = || Transition::HandBack;
        // From, by: state, teammate, taken from, given back, failures, why and when it was handed off.
        let old = Some(("asked", 4));
        let new = Some(("ai_error", 9));
        for (from, by, expected) in [
            (Ai, off(), Ok((AwaitingHuman, None, None, 2, 2, new))),
            (Ai, user(), Ok((Human, Some(other), Some(7), 2, 2, None))),
            (Ai, desk(), Ok((Human, None, Some(7), 2, 2, None))),
            (Ai, back(), Err(Stuck::WithAgent)),
            (Ai, Transition::End, Ok((Ended, None, None, 2, 2, None))),
            (AwaitingHuman, off(), Ok((AwaitingHuman, None, None, 2, 2, new))),
            (AwaitingHuman, user(), Ok((Human, Some(other), Some(7), 2, 2, old))),
            (AwaitingHuman, desk(), Ok((Human, None, Some(7), 2, 2, old))),
            (AwaitingHuman, given(), Ok((Human, Some(other), Some(7), 2, 2, old))),
            (AwaitingHuman, back(), Ok((Ai, None, None, 7, 0, None))),
            (AwaitingHuman, Transition::End, Ok((Ended, None, None, 2, 2, old))),
            (Human, off(), Ok((Human, Some(holder), Some(3), 2, 2, new))),
            // The next person goes on from where the first took it.
            (Human, user(), Ok((Human, Some(other), Some(3), 2, 2, old))),
            (Human, desk(), Ok((Human, None, Some(3), 2, 2, old))),
            (Human, back(), Ok((Ai, None, None, 7, 0, None))),
            (Human, Transition::End, Ok((Ended, Some(holder), Some(3), 2, 2, old))),
            (Ended, off(), Err(Stuck::Over)),
            (Ended, user(), Err(Stuck::Over)),
            (Ended, desk(), Err(Stuck::Over)),
            (Ended, back(), Err(Stuck::Over)),
            (Ended, Transition::End, Err(Stuck::Over)),
        ] {
            let expected = expected.map(|(state, teammate, taken_from, given_back, failures, handoff)| {
                // Who got it now has it since now; nobody has waited for the words of who took it.
                let moved = matches!(by, Transition::TakeOver(_) | Transition::Assign(_));
                let kept = from == Human && by != Transition::HandBack;
                Ownership {
                    taken_at: if moved { Some(Timestamp(9)) } else { kept.then_some(Timestamp(2)) },
                    unattended: if moved { matches!(by, Transition::Assign(_)) } else { kept },
                    state,
                    teammate,
                    taken_from,
                    given_back,
                    failures,
                    // A burst that waited is over, whatever happens.
                    reply_at: None,
                    unanswered_at: None,
                    handoff_reason: handoff.map(|(reason, _)| reason.to_owned()),
                    handoff_at: handoff.map(|(_, at)| Timestamp(at)),
                }
            });
            assert_eq!(left(from).after(by.clone(), 7, Timestamp(9)), expected, "{from} {by:?}");
        }
    }
}

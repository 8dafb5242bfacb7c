//! The inbox of a team: its views, who is present, and to whom round robin gives a chat (docs/contract/inbox.md).

use crate::ids::{Id, User};
use crate::time::{MINUTE, SECOND, Timestamp};

/// A member who was seen at most so long ago is present.
pub const PRESENT_FOR: i64 = 2 * MINUTE;
/// The last time that a member was seen is stored at most this often.
pub const SEEN_EVERY: i64 = 30 * SECOND;
/// Open chats of a member from which on round robin gives no more, unless the workspace or the member has another number.
pub const DEFAULT_CEILING: i64 = 5;
/// Highest ceiling.
pub const MAX_CEILING: i64 = 100;
/// Longest time for the first response, in minutes: a week.
pub const MAX_RESPONSE_MINUTES: i64 = 7 * 24 * 60;
/// Up to this number the chats of a view are counted.
pub const MAX_COUNT: i64 = 10_000;
/// Characters of the last message that a list shows.
pub const PREVIEW: usize = 120;
/// Longest private note, in characters.
pub const MAX_NOTE: usize = 4_000;
/// Most private notes of a chat.
pub const MAX_NOTES: i64 = 500;
/// Most members that one note mentions.
pub const MAX_MENTIONS: usize = 20;
/// Most saved answers of a workspace.
pub const MAX_SAVED_ANSWERS: i64 = 500;
/// Longest shortcut of a saved answer, in characters.
pub const MAX_SHORTCUT: usize = 40;

closed_sets::words! {
    /// A view of the inbox.
    pub enum View {
        /// Chats that wait for a person, longest waiting first.
        Waiting = "waiting",
        /// Open chats of the member who asks.
        Mine = "mine",
        /// Every chat that is not over.
        Open = "open",
        Ended = "ended",
    }
}

closed_sets::words! {
    /// How chats that wait for a person find one.
    pub enum Assignment {
        /// A member takes them.
        Manual = "manual",
        /// They are given to members who are present.
        RoundRobin = "round_robin",
    }
}

/// Since when a member must have been seen to be present.
pub fn present_since(now: Timestamp) -> Timestamp {
    now.plus(-PRESENT_FOR)
}

/// Until when a person must have answered a chat that was handed to people, if it was not answered since.
pub fn response_due(
    handed_off: Option<Timestamp>,
    answered: Option<Timestamp>,
    minutes: Option<i64>,
) -> Option<Timestamp> {
    let (handed_off, minutes) = (handed_off?, minutes?);
    answered.is_none_or(|at| at < handed_off).then(|| handed_off.plus(minutes * MINUTE))
}

/// The ids of members that a note mentions, `@usr_…`, each once, in their order; the inner error is a mention that is no
/// id.
pub fn mentions(text: &str) -> Result<Vec<Id<User>>, String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("@usr_") {
        let rest = &text[at + 1..];
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let word = &rest[..end.unwrap_or(rest.len())];
        let id = word.parse().map_err(|_| word.chars().take(40).collect::<String>())?;
        if !found.contains(&id) {
            found.push(id);
        }
    }
    Ok(found)
}

/// A member who is present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    pub member: Id<User>,
    /// Open chats of the member.
    pub held: i64,
    /// The member's own ceiling.
    pub ceiling: Option<i64>,
    /// When round robin last gave the member a chat.
    pub assigned_at: Timestamp,
}

/// The order in which members are tried for a chat: those under their ceiling, least recently assigned first.
pub fn order(mut candidates: Vec<Candidate>, ceiling: i64) -> Vec<Candidate> {
    candidates.retain(|candidate| candidate.held < candidate.ceiling.unwrap_or(ceiling));
    candidates.sort_by_key(|candidate| (candidate.assigned_at, candidate.member));
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_assigned_member_under_the_ceiling_is_first() {
        let member = |number| Id::<User>::new(1, number);
        let row = |number, held, ceiling, at| Candidate {
            member: member(number),
            held,
            ceiling,
            assigned_at: Timestamp(at),
        };
        let all = vec![
            row(4, 0, None, 7),
            row(3, 5, None, 0),
            row(2, 1, Some(1), 0),
            row(1, 5, Some(6), 3),
            row(0, 4, None, 7),
            row(5, 0, Some(0), 0),
        ];
        let order: Vec<_> = order(all, 5).into_iter().map(|candidate| candidate.member).collect();
        assert_eq!(order, [member(1), member(0), member(4)]);
    }

    #[test]
    fn the_first_response_is_due_until_it_is_given() {
        let at = |minute: i64| Timestamp(minute * MINUTE);
        assert_eq!(response_due(Some(at(10)), None, Some(5)), Some(at(15)));
        assert_eq!(response_due(Some(at(10)), Some(at(9)), Some(5)), Some(at(15)), "of an earlier hand-off");
        assert_eq!(response_due(Some(at(10)), Some(at(10)), Some(5)), None);
        assert_eq!(response_due(Some(at(10)), None, None), None);
        assert_eq!(response_due(None, None, Some(5)), None);
    }

    #[test]
    fn mentions_of_a_note() {
        let (one, two) = (Id::<User>::new(1, 1), Id::<User>::new(1, 2));
        let text = format!("@{one}, see mail@usr.example and ask @{two} or @{one}.");
        assert_eq!(mentions(&text), Ok(vec![one, two]));
        assert_eq!(mentions("nobody"), Ok(vec![]));
        assert_eq!(mentions("@usr_ravi please"), Err("usr_ravi".to_owned()));
        assert_eq!(mentions("@usr_\u{1F600}"), Err("usr_".to_owned()));
    }
}

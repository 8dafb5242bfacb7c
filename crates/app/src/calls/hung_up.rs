//! Calls that a request has just ended at once. Repeating the request is no conflict
//! (docs/contract/calls.md#hanging-up), until a client has been shown that the call has ended.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::{Call, Id};
use domain::time::{SECOND, Timestamp};

/// How long a repeat is answered like the first request, milliseconds.
const REPEATED: i64 = SECOND;
/// Most calls that are remembered; the oldest are dropped first. Then a repeat gets the error that the call has ended.
const MOST: usize = 4_096;

/// Remembers such calls on this node.
#[derive(Debug, Default)]
pub struct HungUp(Mutex<HashMap<Id<Call>, Timestamp>>);

impl HungUp {
    fn calls(&self) -> MutexGuard<'_, HashMap<Id<Call>, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has ended this call.
    pub(super) fn note(&self, id: Id<Call>, now: Timestamp) {
        let mut calls = self.calls();
        if calls.len() >= MOST {
            calls.retain(|_, at| now.0 - at.0 < REPEATED);
        }
        if calls.len() < MOST {
            calls.insert(id, now);
        }
    }

    /// Whether a request has just ended the call and no client has been shown its end.
    pub(super) fn repeats(&self, id: Id<Call>, now: Timestamp) -> bool {
        self.calls().get(&id).is_some_and(|at| now.0 - at.0 < REPEATED)
    }

    /// Records that a client is shown this call in its current state.
    pub(super) fn shown(&self, id: Id<Call>) {
        self.calls().remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_is_known_for_a_second_and_until_the_end_is_shown() {
        let (hung_up, first, second) = (HungUp::default(), Id::new(1, 1), Id::new(1, 2));
        hung_up.note(first, Timestamp(0));
        hung_up.note(second, Timestamp(0));
        assert!(
            hung_up.repeats(first, Timestamp(REPEATED - 1)) && !hung_up.repeats(first, Timestamp(REPEATED))
        );
        hung_up.shown(second);
        assert!(!hung_up.repeats(second, Timestamp(0)) && hung_up.repeats(first, Timestamp(0)));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let hung_up = HungUp::default();
        for number in 0..2 * MOST as u128 {
            hung_up.note(Id::new(1, number), Timestamp(0));
        }
        assert_eq!(hung_up.calls().len(), MOST);
        hung_up.note(Id::new(2, 0), Timestamp(REPEATED));
        assert_eq!(hung_up.calls().len(), 1);
    }
}

//! When members were last seen (docs/contract/inbox.md#presence).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use domain::chat::inbox::{SEEN_EVERY, present_since};
use domain::ids::{Id, User};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::DbError;
use store::inbox;

use super::{App, topics};

/// Members whom a node remembers as seen.
const REMEMBERED: usize = 10_000;

/// When this node last stored that members were seen.
#[derive(Default)]
struct Seen(Mutex<HashMap<Id<User>, Timestamp>>);

impl Seen {
    /// Whether it is to be stored now; the next time is [`SEEN_EVERY`] later.
    fn is_due(&self, member: Id<User>, now: Timestamp) -> bool {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The clock may have been set back.
        if seen.get(&member).is_some_and(|at| *at <= now && now < at.plus(SEEN_EVERY)) {
            return false;
        }
        if seen.len() >= REMEMBERED {
            seen.retain(|_, at| *at <= now && now < at.plus(SEEN_EVERY));
        }
        if seen.len() < REMEMBERED {
            seen.insert(member, now);
        }
        true
    }

    fn forget(&self, member: Id<User>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&member);
    }
}

/// A member of a workspace was seen: a request of a session, or a stream that is open. Stored at most every 30 seconds by
/// each node. Chats that wait are assigned to an available member who comes back.
///
/// # Errors
/// Those of the store; the next request stores it.
pub async fn touch(app: &App, tenant: Tenant, member: Id<User>) -> Result<(), DbError> {
    let now = app.clock.now();
    let seen = app.state.of(Seen::default);
    if !seen.is_due(member, now) {
        return Ok(());
    }
    let stored = app.of(tenant).tx(move |tx| {
        let before = inbox::see(tx, member, now)?;
        if before.is_some_and(|before| before.available && before.seen_at < present_since(now)) {
            tx.wake(topics::INBOX);
        }
        Ok(())
    });
    stored.await.inspect_err(|_| seen.forget(member))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_stored_at_most_every_half_minute() {
        let (seen, member) = (Seen::default(), Id::new(1, 1));
        let at = |seconds: i64| Timestamp(seconds * 1_000);
        let due: Vec<bool> = [0, 29, 30, 31, 10].map(|now| seen.is_due(member, at(now))).into();
        assert_eq!(due, [true, false, true, false, true], "set back, it is stored again");
        seen.forget(member);
        assert!(seen.is_due(member, at(11)), "what the store refused is tried again");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let seen = Seen::default();
        for number in 0..REMEMBERED as u128 + 5 {
            assert!(seen.is_due(Id::new(1, number), Timestamp(0)));
        }
        assert_eq!(seen.0.lock().unwrap().len(), REMEMBERED);
        assert!(seen.is_due(Id::new(1, 1 << 40), Timestamp(SEEN_EVERY)));
        assert_eq!(seen.0.lock().unwrap().len(), 1, "those that are over make room");
    }
}

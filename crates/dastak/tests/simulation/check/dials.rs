//! Dials are single and lawful, and none comes after a promise that it does not.

use std::collections::HashMap;

use domain::compliance::Pack;
use domain::tenant::Tenant;
use domain::time::{DAY, MINUTE, Timestamp};
use domain::window::NudgeWindow;

use super::{CallSeen, Court, LEASE, Past};
use crate::carrier::{Dial, World};
use crate::clients::{Kept, Promise};

/// What is asked of a slow store may be written down so much later than it says, milliseconds.
pub(super) const SLOWEST: i64 = 2 * MINUTE;

impl Court<'_> {
    /// No attempt is dialled twice, and nothing is dialled that the store does not know of.
    pub(super) fn dials_are_single(&mut self) {
        let mut broken = Vec::new();
        let (mut of_call, mut of_nudge, mut of_scheduled) =
            (HashMap::new(), HashMap::<&str, i64>::new(), HashMap::<&str, i64>::new());
        for dial in self.dials {
            *of_call.entry(dial.call).or_insert(0) += 1;
            let Some(call) = self.calls.get(&dial.call.to_string()) else {
                broken.push(format!("{} was dialled and is not in the store", dial.call));
                continue;
            };
            if let Some(nudge) = &call.nudge {
                *of_nudge.entry(nudge).or_default() += 1;
            }
            if let Some(scheduled) = &call.scheduled {
                *of_scheduled.entry(scheduled).or_default() += 1;
            }
        }
        broken.extend(
            of_call
                .iter()
                .filter(|(_, dials)| **dials > 1)
                .map(|(call, dials)| format!("{call} was dialled {dials} times")),
        );
        broken.extend(
            of_scheduled
                .iter()
                .filter(|(_, dials)| **dials > 1)
                .map(|(id, dials)| format!("{id} was dialled {dials} times")),
        );
        for (id, dials) in &of_nudge {
            let nudge = &self.nudges[*id];
            if *dials > nudge.attempts || nudge.attempts > nudge.max_retries + 1 {
                broken.push(format!(
                    "{id}: {dials} dials, {} attempts, {} retries allowed",
                    nudge.attempts, nudge.max_retries
                ));
            }
        }
        let mut calls_of: HashMap<(&str, i64), i64> = HashMap::new();
        for dial in self.dials {
            if let Some(nudge) = self.calls.get(&dial.call.to_string()).and_then(|call| call.nudge.as_deref())
            {
                *calls_of.entry((nudge, dial.passed.0)).or_default() += 1;
            }
        }
        broken.extend(
            calls_of
                .iter()
                .filter(|(_, dials)| **dials > 1)
                .map(|((nudge, at), _)| format!("{nudge} was dialled twice at {}", Timestamp(*at))),
        );
        self.broken.extend(broken);
    }

    /// Nobody ends a call whose node lives and could say so, however long the store was away from all.
    pub(super) fn held_calls_go_on(&mut self, world: &World, past: &Past) {
        if past.stepped {
            return;
        }
        let ended: Vec<_> = world.leases().ended.iter().copied().collect();
        for call in ended {
            let lost = self
                .calls
                .get(&call.to_string())
                .is_some_and(|call| call.end_cause.as_deref() == Some("error") && call.hang_up_at.is_none());
            if lost {
                self.say(format!("{call} was given up although its node held it"));
            }
        }
    }

    /// Nothing is made with a key, on any node, that was asked for after the answer to its revocation.
    pub(super) fn revoked_keys_make_nothing(&mut self) {
        let mut broken = Vec::new();
        for (nudge, key, asked) in &self.log.asked {
            let made = self.nudges.get(&nudge.to_string()).map(|nudge| nudge.created_at);
            let revoked = self.log.promises.iter().find(|kept| {
                kept.promise == Promise::Revoked(*key)
                    && kept.passed < *asked
                    && made.is_some_and(|made| made > kept.at)
                    && !self.went_back
            });
            if let Some(kept) = revoked {
                broken.push(format!("{nudge} was made at {asked} with {key}, revoked at {}", kept.passed));
            }
        }
        self.broken.extend(broken);
    }

    /// A drained node dials nothing that was decided on after it was drained.
    pub(super) fn drained_nodes_rest(&mut self, past: &Past) {
        if past.stepped {
            return;
        }
        let mut broken = Vec::new();
        for dial in self.dials {
            let Some(call) = self.calls.get(&dial.call.to_string()) else { continue };
            let rests = past.drained.iter().find(|(node, from, to)| {
                *node == dial.node && *from < call.started_at && to.is_none_or(|to| dial.at < to)
            });
            if let Some((node, from, _)) = rests {
                broken.push(format!("{} was dialled by node {node}, drained at {from}", dial.call));
            }
        }
        self.broken.extend(broken);
    }

    /// No dial outside its hours or above the caps.
    pub(super) fn dials_are_lawful(&mut self) {
        let pack = Pack::built_in("generic-safe@1").expect("a pack");
        let window = NudgeWindow::new(&pack.hours);
        let mut broken = Vec::new();
        let mut by_number: HashMap<(Tenant, String), Vec<(Timestamp, String)>> = HashMap::new();
        for dial in self.dials {
            let Some(call) = self.calls.get(&dial.call.to_string()) else { continue };
            let open =
                if call.nudge.is_some() { window.is_open(dial.at) } else { pack.hours.is_open(dial.at) };
            if !open {
                broken.push(format!("{} was dialled outside its hours at {}", dial.call, dial.at));
            }
            if !call.live {
                broken.push(format!("{} is a test call and was dialled", dial.call));
            }
            by_number
                .entry((call.workspace, dial.to.to_string()))
                .or_default()
                .push((dial.at, dial.call.to_string()));
        }
        for ((tenant, number), mut dials) in by_number {
            let phone = domain::phone::Phone::normalize(&number).expect("a number");
            // Who was erased is forgotten, the dials before it included.
            if self.log.erasing.contains_key(&(tenant, phone)) {
                continue;
            }
            dials.sort();
            if dials.windows(4).any(|four| four[3].0.0 - four[0].0.0 < DAY)
                || dials.windows(11).any(|many| many[10].0.0 - many[0].0.0 < 7 * DAY)
            {
                broken
                    .push(format!("{number} was dialled more often than allowed: {}", self.dialled(&dials)));
            }
        }
        self.broken.extend(broken);
    }

    /// Dials as the store knows them.
    fn dialled(&self, dials: &[(Timestamp, String)]) -> String {
        let told = dials.iter().map(|(at, id)| match self.calls.get(id) {
            Some(call) => {
                format!("{id} at {at} (begun {}, {}, to {})", call.started_at, call.status, call.to_number)
            }
            None => format!("{id} at {at}"),
        });
        told.collect::<Vec<_>>().join(", ")
    }

    /// Nothing is dialled after a promise that it is not. A dial whose placement began before the promise may
    /// follow it.
    pub(super) fn promises_are_kept(&mut self) {
        let mut broken = Vec::new();
        for dial in self.dials {
            let Some(call) = self.calls.get(&dial.call.to_string()) else { continue };
            let of_scheduled = call.scheduled.as_ref().and_then(|id| self.scheduled.get(id).copied());
            let listed = call.campaign.as_ref().and_then(|id| self.listed.get(id).copied());
            let made = call.nudge.as_ref().map(|id| self.nudges[id].created_at).or(of_scheduled).or(listed);
            let (placed, when) = self.placed(dial, call);
            for given in self.log.promises.iter().filter(|given| when(given) < placed) {
                let (at, promise) = (when(given), &given.promise);
                let kept = match promise {
                    Promise::NudgeCancelled(id) => call.nudge.as_deref() != Some(&id.to_string()),
                    Promise::ScheduledCancelled(id) => call.scheduled.as_deref() != Some(&id.to_string()),
                    Promise::Revoked(key) => {
                        call.nudge.as_ref().is_none_or(|id| self.nudges[id].key != key.to_string())
                    }
                    Promise::OptedOut(tenant, phone) => *tenant != call.workspace || *phone != dial.to,
                    Promise::Registered(phone) => *phone != dial.to,
                    // What was made after the erasure is another matter, and so is what was on its way when it began: a slow
                    // store may have written that down afterwards.
                    Promise::Erased(tenant, phone) => {
                        *tenant != call.workspace
                            || *phone != dial.to
                            || made.is_none_or(|made| made.plus(SLOWEST) >= given.asked.0)
                                && !self.was_there_before(call, (*tenant, *phone))
                            || self.went_back
                    }
                    Promise::Suspended(tenant, true) => {
                        *tenant != call.workspace
                            || self.undone(given, placed, when, &Promise::Suspended(*tenant, false))
                    }
                    Promise::Published(tenant, false) => {
                        *tenant != call.workspace
                            || self.undone(given, placed, when, &Promise::Published(*tenant, true))
                    }
                    Promise::Paused(id, true) => {
                        call.campaign.as_deref() != Some(&id.to_string())
                            || self.undone(given, placed, when, &Promise::Paused(*id, false))
                    }
                    Promise::Completed(id) => call.campaign.as_deref() != Some(&id.to_string()),
                    Promise::Suspended(_, false)
                    | Promise::Published(_, true)
                    | Promise::Paused(_, false)
                    | Promise::StreamPaused(..) => true,
                };
                if !kept {
                    broken.push(format!("{} was dialled at {} after {at} {promise:?}", dial.call, dial.at));
                }
            }
        }
        self.broken.extend(broken);
    }

    /// Whether the nudge of a call was answered before anybody asked to erase its person.
    fn was_there_before(&self, call: &CallSeen, person: (Tenant, domain::phone::Phone)) -> bool {
        let answered = call.nudge.as_ref().and_then(|id| self.log.answered.get(id));
        answered.zip(self.log.erasing.get(&person)).is_some_and(|(answered, asked)| answered < asked)
    }

    /// When a dial was decided, and by what moments to compare it with promises: the clock's while it never
    /// went back, else the time that passed; a dial goes out within its lease.
    pub(super) fn placed(&self, dial: &Dial, call: &CallSeen) -> (Timestamp, fn(&Kept) -> Timestamp) {
        if self.went_back {
            (dial.passed.plus(-LEASE), |kept| kept.passed)
        } else {
            (call.started_at, |kept| kept.at)
        }
    }

    pub(super) fn undone(
        &self,
        given: &Kept,
        to: Timestamp,
        when: fn(&Kept) -> Timestamp,
        wanted: &Promise,
    ) -> bool {
        let from = if self.went_back { given.asked.1 } else { given.asked.0 };
        self.log
            .promises
            .iter()
            .any(|kept| kept.promise == *wanted && when(kept) >= from && when(kept) <= to.plus(LEASE))
    }
}

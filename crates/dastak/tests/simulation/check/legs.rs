//! What must hold of second legs, and of calls that somebody wants ended.

use std::collections::HashSet;

use domain::compliance::Pack;
use domain::time::{SECOND, Timestamp};

use super::{Court, LEASE, Past};
use crate::clients::{Kept, Promise};

impl Court<'_> {
    /// Every leg that was rung is in the store, was rung once and not refused, within its lease, and is over;
    /// nobody was rung whom the registry, a wish or a suspension protected by then, nor outside the hours
    /// unless they are staff.
    pub(super) fn legs_are_dials(&mut self) {
        let pack = Pack::built_in("generic-safe@1").expect("a pack");
        let staff = crate::clients::staff();
        let mut broken = Vec::new();
        let mut rung = HashSet::new();
        for dial in self.leg_dials {
            let name = format!("leg {} of {}", dial.leg, dial.call);
            if !rung.insert((dial.call, dial.leg)) {
                broken.push(format!("{name} was rung twice"));
            }
            let Some(leg) = self.legs.get(&(dial.call.to_string(), dial.leg)) else {
                broken.push(format!("{name} was rung and is not in the store"));
                continue;
            };
            if leg.blocked {
                broken.push(format!("{name} was refused and rung"));
            }
            if !staff.contains(&dial.to) && !pack.hours.is_open(leg.started_at) {
                broken.push(format!("{name} was rung outside the hours at {}", dial.at));
            }
            let (decided, when): (Timestamp, fn(&Kept) -> Timestamp) = if self.went_back {
                (dial.passed.plus(-LEASE), |kept| kept.passed)
            } else {
                (leg.started_at, |kept| kept.at)
            };
            for given in self.log.promises.iter().filter(|given| when(given) < decided) {
                let kept = match &given.promise {
                    Promise::OptedOut(tenant, phone) => *tenant != leg.workspace || *phone != dial.to,
                    Promise::Registered(phone) => *phone != dial.to,
                    Promise::Suspended(tenant, true) => {
                        *tenant != leg.workspace
                            || self.undone(given, decided, when, &Promise::Suspended(*tenant, false))
                    }
                    _ => true,
                };
                if !kept {
                    broken.push(format!(
                        "{name} was rung at {} after {} {:?}",
                        dial.at,
                        when(given),
                        given.promise
                    ));
                }
            }
        }
        for ((call, number), leg) in &self.legs {
            if leg.ended_at.is_none() || leg.line.is_some() {
                broken.push(format!("leg {number} of {call} is not over"));
            }
        }
        self.broken.extend(broken);
    }

    /// A call that somebody wants ended is over soon, unless the service was down meanwhile.
    pub(super) fn wishes_are_carried_out(&mut self, past: &Past) {
        const SOON: i64 = 10 * 60 * SECOND;
        let mut broken = Vec::new();
        for (id, call) in &self.calls {
            let (Some(asked), Some(ended)) = (call.hang_up_at, call.ended_at) else { continue };
            let was_down = past.down.iter().any(|(from, to)| *from <= ended && asked <= *to);
            if ended.0 - asked.0 > SOON && !was_down && !past.stepped {
                broken
                    .push(format!("{id} was to end at {asked} ({:?}) and went on until {ended}", call.wish));
            }
        }
        self.broken.extend(broken);
    }
}

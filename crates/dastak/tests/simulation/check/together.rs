//! A phone is rung by one call of a workspace at a time.

use std::collections::HashMap;

use domain::phone::Phone;
use domain::tenant::Tenant;
use domain::time::Timestamp;

use super::{Court, Past};

/// A phone that rang.
struct Ring {
    call: String,
    /// When it was decided, when it went out, and when the call was over.
    decided: Timestamp,
    at: Timestamp,
    until: Timestamp,
    /// Whether it waits for others: what a client or the conversation of a call asks for at once does not.
    waits: bool,
}

impl Court<'_> {
    /// Campaigns, nudges and scheduled calls ring nobody who is in a live call of their workspace. By a clock that was set
    /// back nobody can say what came first, and who was erased is not known again.
    pub(super) fn phones_ring_once(&mut self, past: &Past) {
        if past.went_back {
            return;
        }
        let mut of_phone: HashMap<(Tenant, Phone), Vec<Ring>> = HashMap::new();
        for dial in self.dials {
            let Some(call) = self.calls.get(&dial.call.to_string()).filter(|call| call.live) else {
                continue;
            };
            let waits = call.nudge.is_some() || call.scheduled.is_some() || call.campaign.is_some();
            let ring = Ring {
                call: dial.call.to_string(),
                decided: call.started_at,
                at: dial.at,
                until: call.ended_at.unwrap_or(past.end),
                waits,
            };
            of_phone.entry((call.workspace, dial.to)).or_default().push(ring);
        }
        for dial in self.leg_dials {
            let Some(leg) = self.legs.get(&(dial.call.to_string(), dial.leg)) else { continue };
            let ring = Ring {
                call: format!("leg {} of {}", dial.leg, dial.call),
                decided: leg.started_at,
                at: dial.at,
                until: leg.ended_at.unwrap_or(past.end),
                waits: false,
            };
            of_phone.entry((leg.workspace, dial.to)).or_default().push(ring);
        }
        let mut broken = Vec::new();
        for ((tenant, phone), rings) in of_phone {
            if self.log.erasing.contains_key(&(tenant, phone)) {
                continue;
            }
            for ring in rings.iter().filter(|ring| ring.waits) {
                // One that does not wait may be decided at any moment: it counts once it rings.
                let earlier = rings.iter().find(|other| {
                    other.call != ring.call
                        && other.until > ring.at
                        && other.at <= if other.waits { ring.at } else { ring.decided }
                        && (other.at, &other.call) < (ring.at, &ring.call)
                });
                if let Some(other) = earlier {
                    broken.push(format!(
                        "{} rang {phone} at {}, decided at {}, while {} from {} to {} had it",
                        ring.call, ring.at, ring.decided, other.call, other.at, other.until
                    ));
                }
            }
        }
        self.broken.extend(broken);
    }
}

//! What was talked is charged once, and nothing is held afterwards.

use std::collections::HashMap;

use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::wallet::call_charge;

use super::dials::SLOWEST;
use super::{Court, moment};

impl Court<'_> {
    /// The ledger is its running sum, what was talked is charged once, nothing is held and no line is taken
    /// any more.
    pub(super) fn money_adds_up(&mut self, tenant: Tenant, was_short: bool) {
        let (balance, reserved, taken): (i64, i64, i64) = self
            .rows(&format!("select balance, reserved, lines from workspaces where id = '{tenant}'"), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })[0];
        let lines: Vec<(i64, i64, String, String, Timestamp)> = self
            .rows(&format!("select amount, balance_after, kind, reference, created_at from wallet_entries where workspace = '{tenant}' order by seq"), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, moment(row, 4)?))
            });
        let mut sum = 0;
        let mut charges: HashMap<&str, i64> = HashMap::new();
        // What was left after a charge, unless others held it.
        let mut left: HashMap<&str, i64> = HashMap::new();
        let mut broken = Vec::new();
        for (amount, after, kind, reference, at) in &lines {
            sum += amount;
            if sum != *after {
                broken.push(format!("a line of the ledger says {after}, the sum is {sum}"));
            }
            if kind == "call_charge" {
                left.insert(reference, after - self.held_at(tenant, reference, *at));
            }
            if kind == "call_charge" && charges.insert(reference, -amount).is_some() {
                broken.push(format!("{reference} was charged twice"));
            }
        }
        // A conversation on the messaging channel that waits for a person is not over yet.
        let waiting = self.count(&format!(
            "select coalesce(sum(price), 0) from chats where workspace = '{tenant}' and channel = 'chatapp' and state <> 'ended'"
        ));
        if balance != sum || reserved != waiting {
            broken.push(format!("the wallet says {balance} with {reserved} held, the ledger {sum}"));
        }
        if taken != 0 {
            broken.push(format!("{taken} lines are taken"));
        }
        for (id, call) in self.calls.iter().filter(|(_, call)| call.workspace == tenant && call.live) {
            let charged = charges.remove(id.as_str()).unwrap_or(0);
            // What nobody could cover, and what a call owes whose end nobody saw, is not charged beyond what
            // was held.
            // An observer beside the service may miss a wallet that was short for a moment; the ledger tells.
            let empty = left.get(id.as_str()).is_none_or(|left| *left < call.price);
            let may_lack = was_short || empty || call.end_cause.as_deref() == Some("error");
            broken.extend(wrong_charge(
                id,
                call.talk_ms.unwrap_or(0),
                call.price,
                call.minutes,
                charged,
                may_lack,
            ));
        }
        let own = self.legs.iter().filter(|(_, leg)| leg.workspace == tenant && !leg.blocked);
        for ((call, number), leg) in own {
            let (Some(answered), Some(ended)) = (leg.answered_at, leg.ended_at) else { continue };
            let reference = leg
                .answer
                .filter(|answer| *answer > 1)
                .map_or_else(|| format!("{call}:transfer"), |answer| format!("{call}:transfer:{answer}"));
            let charged = charges.remove(reference.as_str()).unwrap_or(0);
            let lost = self.calls.get(call).is_none_or(|call| call.end_cause.as_deref() == Some("error"));
            let empty = left.get(reference.as_str()).is_none_or(|left| *left < leg.price);
            let name = format!("leg {number} of {call}");
            broken.extend(wrong_charge(
                &name,
                ended.0 - answered.0,
                leg.price,
                leg.minutes,
                charged,
                was_short || empty || lost,
            ));
        }
        broken.extend(charges.iter().map(|(reference, amount)| {
            format!("{amount} were charged for {reference}, which nobody talked")
        }));
        self.broken.extend(broken);
    }

    /// The most that the other calls, their legs and the chats of a workspace can have held when this one was charged. What
    /// is over holds its money until it is paid, which a slow store does later. So does a dial that never went out, of which
    /// no row is left, until the carrier has said so.
    fn held_at(&self, tenant: Tenant, reference: &str, at: Timestamp) -> i64 {
        let on_line = |started: Timestamp, ended: Option<Timestamp>| {
            started <= at && ended.is_none_or(|ended| ended.plus(SLOWEST) >= at)
        };
        let calls = self.calls.iter().filter(|(id, call)| {
            call.workspace == tenant && id.as_str() != reference && on_line(call.started_at, call.ended_at)
        });
        let legs =
            self.legs.values().filter(|leg| leg.workspace == tenant && on_line(leg.started_at, leg.ended_at));
        let chats: Vec<(i64, Timestamp, Option<Timestamp>)> = self.rows(
            &format!(
                "select price, created_at, ended_at from chats where workspace = '{tenant}' and price > 0"
            ),
            |row| Ok((row.get(0)?, moment(row, 1)?, row.get::<_, Option<i64>>(2)?.map(Timestamp))),
        );
        let chats = chats.iter().filter(|(_, opened, ended)| on_line(*opened, *ended));
        let undialled = self.questions.iter().filter(|(call, (workspace, asked))| {
            *workspace == tenant
                && call.unix_ms() <= at.0
                && asked.plus(SLOWEST) >= at
                && !self.calls.contains_key(&call.to_string())
        });
        let minute = self.count(&format!("select cost_per_minute from workspaces where id = '{tenant}'"));
        chats.map(|(price, ..)| price).sum::<i64>()
            + minute * undialled.count() as i64
            + calls.map(|(_, call)| call.price * call.minutes).sum::<i64>()
            + legs.map(|leg| leg.price * leg.minutes).sum::<i64>()
    }
}

/// Whether something was charged that is not every started minute, once; it `may_lack` what was not held.
fn wrong_charge(
    name: &str,
    talk_ms: i64,
    price: i64,
    minutes: i64,
    charged: i64,
    may_lack: bool,
) -> Option<String> {
    let owed = call_charge(talk_ms, price);
    let least = if may_lack { owed.min(price * minutes) } else { owed };
    (charged < least || charged > owed)
        .then(|| format!("{name} owes {owed} with {minutes} minutes held and was charged {charged}"))
}

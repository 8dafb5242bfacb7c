//! The circuit breaker of the live carrier (docs/contract/nudges.md#when-it-is-due).
//!
//! Where several nodes share the store, they count together: each refusal is written down and told to the others, and
//! after the pause one of them asks the carrier again. A call that the carrier takes writes something only after a
//! refusal.

use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::time::{MINUTE, Timestamp};
use store::carrier_refusals::{self, RefusalsRow};

use crate::{App, Failure, topics};

/// Refusals of a carrier in a row that open the breaker.
const FAILURES: u32 = 5;
/// Pause, milliseconds.
const PAUSE: i64 = MINUTE;
/// How long a node that may ask again has for it, milliseconds; then another one may.
const PROBE: i64 = MINUTE;
/// The carrier of live calls, as it stands in the store.
const CARRIER: &str = "live";

/// What a carrier may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// Any number of dials.
    All,
    /// One dial, as a test.
    Probe,
    /// No dial.
    Nothing,
}

/// Leaves a carrier alone that refuses call after call: nudges are held `provider_error`, nobody is dialled,
/// no attempt is counted.
#[derive(Debug, Default)]
pub struct Breaker(Mutex<Refusals>);

#[derive(Debug, Default)]
struct Refusals {
    in_a_row: u32,
    paused_until: Option<Timestamp>,
    /// Whether another node may make the test dial: then this one makes it only if it has claimed it.
    shared: bool,
    probes: bool,
}

impl Breaker {
    fn refusals(&self) -> MutexGuard<'_, Refusals> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the live carrier said to a dial: took it, or refused it before any ring. Whether it had refused before.
    fn heard(&self, took: bool, now: Timestamp) -> bool {
        let mut refusals = self.refusals();
        let before = refusals.in_a_row > 0;
        if took {
            *refusals = Refusals { shared: refusals.shared, ..Refusals::default() };
            return before;
        }
        refusals.in_a_row = refusals.in_a_row.saturating_add(1);
        refusals.probes = false;
        if refusals.in_a_row >= FAILURES {
            refusals.paused_until = Some(now.plus(PAUSE));
        }
        before
    }

    /// What all nodes together have heard.
    fn learn(&self, node: &str, row: Option<&RefusalsRow>) {
        let learnt = row.map(|row| Refusals {
            in_a_row: u32::try_from(row.in_a_row).unwrap_or(u32::MAX),
            paused_until: row.paused_until,
            shared: true,
            probes: row.prober.as_deref() == Some(node),
        });
        *self.refusals() = learnt.unwrap_or(Refusals { shared: true, ..Refusals::default() });
    }

    /// What the live carrier may be asked now.
    pub fn allowance(&self, now: Timestamp) -> Allowance {
        let refusals = self.refusals();
        match refusals.paused_until {
            None => Allowance::All,
            Some(until) if until <= now && (!refusals.shared || refusals.probes) => Allowance::Probe,
            Some(_) => Allowance::Nothing,
        }
    }
}

/// Whether other nodes dial, too; a manual clock belongs to one.
fn shared(app: &App) -> bool {
    app.store.shared() && !app.clock.is_manual()
}

/// Notes what the live carrier said to a dial: it took the call, or refused it before any ring.
///
/// # Errors
/// Those of the store; what this node has heard holds on it all the same.
pub async fn carrier_said(app: &App, took: bool) -> Result<(), Failure> {
    let now = app.clock.now();
    let refused_before = app.breaker.heard(took, now);
    if !shared(app) || (took && !refused_before) {
        return Ok(());
    }
    let row = app
        .store
        .tx(move |tx| {
            if took {
                if carrier_refusals::took(tx, CARRIER)? {
                    tx.wake(topics::CARRIER);
                    tx.wake(topics::DIALLER);
                }
                return Ok::<_, Failure>(None);
            }
            tx.wake(topics::CARRIER);
            Ok(carrier_refusals::refused(tx, CARRIER, FAILURES.into(), now.plus(PAUSE))?)
        })
        .await?;
    app.breaker.learn(&app.ports.node, row.as_ref());
    Ok(())
}

/// Looks at what other nodes have heard of the live carrier, and claims the dial after a pause. Returns when to look
/// again.
pub async fn look_at_refusals(app: &App) -> Result<Option<Timestamp>, Failure> {
    if !shared(app) {
        return Ok(None);
    }
    let now = app.clock.now();
    let mut row = app.store.read(|tx| carrier_refusals::get(tx, CARRIER)).await?;
    let unclaimed = |row: &RefusalsRow| {
        row.paused_until.is_some_and(|until| until <= now) && row.probe_until.is_none_or(|until| until <= now)
    };
    if row.as_ref().is_some_and(unclaimed) && app.node.in_service() {
        let node = app.ports.node.clone();
        row = app
            .store
            .tx(move |tx| {
                if carrier_refusals::probe(tx, CARRIER, &node, now, now.plus(PROBE))? {
                    tx.wake(topics::DIALLER);
                }
                carrier_refusals::get(tx, CARRIER)
            })
            .await?;
    }
    app.breaker.learn(&app.ports.node, row.as_ref());
    let due = row.and_then(|row| match row.paused_until {
        Some(until) if until > now => Some(until),
        Some(_) => row.probe_until,
        None => None,
    });
    Ok(due)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(in_a_row: i64, paused_until: Option<i64>, prober: Option<&str>) -> RefusalsRow {
        RefusalsRow {
            carrier: CARRIER.into(),
            in_a_row,
            paused_until: paused_until.map(Timestamp),
            prober: prober.map(str::to_owned),
            probe_until: None,
        }
    }

    #[test]
    fn a_node_alone_asks_again_after_the_pause() {
        let breaker = Breaker::default();
        for _ in 0..4 {
            breaker.heard(false, Timestamp(0));
            assert_eq!(breaker.allowance(Timestamp(0)), Allowance::All);
        }
        breaker.heard(false, Timestamp(0));
        assert_eq!(breaker.allowance(Timestamp(PAUSE - 1)), Allowance::Nothing);
        assert_eq!(breaker.allowance(Timestamp(PAUSE)), Allowance::Probe);
        assert!(breaker.heard(true, Timestamp(PAUSE)), "there is something to reset");
        assert_eq!(breaker.allowance(Timestamp(PAUSE)), Allowance::All);
        assert!(!breaker.heard(true, Timestamp(PAUSE)), "nothing to reset");
    }

    #[test]
    fn of_several_nodes_the_one_that_claimed_it_asks_again() {
        let (one, other) = (Breaker::default(), Breaker::default());
        for breaker in [(&one, "one"), (&other, "other")] {
            breaker.0.learn(breaker.1, Some(&row(5, Some(PAUSE), None)));
            assert_eq!(breaker.0.allowance(Timestamp(0)), Allowance::Nothing);
            assert_eq!(breaker.0.allowance(Timestamp(PAUSE)), Allowance::Nothing, "nobody has claimed it");
            breaker.0.learn(breaker.1, Some(&row(5, Some(PAUSE), Some("one"))));
        }
        assert_eq!(one.allowance(Timestamp(PAUSE)), Allowance::Probe);
        assert_eq!(other.allowance(Timestamp(PAUSE)), Allowance::Nothing);
        other.learn("other", Some(&row(0, None, None)));
        assert_eq!(other.allowance(Timestamp(PAUSE)), Allowance::All);
    }
}

//! The circuit breaker of the live carrier (docs/contract/nudges.md#when-it-is-due).
//!
//! Where several nodes share the store, they count together: each refusal is stored and published to the others, and
//! after the pause one of them asks the carrier again. A call that the carrier takes writes something only after a
//! refusal.

use std::collections::HashMap;
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
/// The first carrier of the settings, as it stands in the store: that of numbers that name none.
const FIRST: &str = "live";

/// A carrier as it stands in the store. A number may name the first one or none: both are the same.
fn stored(first: Option<&str>, carrier: Option<&str>) -> String {
    carrier
        .filter(|name| Some(*name) != first)
        .map_or_else(|| FIRST.to_owned(), |name| format!("carrier:{name}"))
}

/// The first carrier of the settings.
fn first(app: &App) -> Option<&str> {
    app.config.telephony.carriers().first().copied()
}

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

/// What each carrier may be asked in one round.
#[derive(Debug, Clone, Default)]
pub struct Allowances {
    first: Option<String>,
    limited: HashMap<String, Allowance>,
}

impl Allowances {
    /// Whether a dial may go out on a carrier, `None` for the first one. A probe is one dial.
    pub fn take(&mut self, carrier: Option<&str>) -> bool {
        match self.limited.get_mut(&stored(self.first.as_deref(), carrier)) {
            None | Some(Allowance::All) => true,
            Some(limited @ Allowance::Probe) => {
                *limited = Allowance::Nothing;
                true
            }
            Some(Allowance::Nothing) => false,
        }
    }
}

/// Leaves a carrier alone that refuses call after call: nudges are held `provider_error`, nobody is dialled,
/// no attempt is counted. Each carrier by itself.
#[derive(Debug, Default)]
pub struct Breaker(Mutex<HashMap<String, Refusals>>);

#[derive(Debug, Default, Clone)]
struct Refusals {
    in_a_row: u32,
    paused_until: Option<Timestamp>,
    /// Whether another node may make the test dial: then this one makes it only if it has claimed it.
    shared: bool,
    probes: bool,
}

impl Refusals {
    fn allowance(&self, now: Timestamp) -> Allowance {
        match self.paused_until {
            None => Allowance::All,
            Some(until) if until <= now && (!self.shared || self.probes) => Allowance::Probe,
            Some(_) => Allowance::Nothing,
        }
    }
}

impl Breaker {
    fn refusals(&self) -> MutexGuard<'_, HashMap<String, Refusals>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a live carrier said to a dial: took it, or refused it before any ring. Whether it had refused before.
    fn heard(&self, carrier: &str, took: bool, now: Timestamp) -> bool {
        let mut all = self.refusals();
        if took && !all.contains_key(carrier) {
            return false;
        }
        let refusals = all.entry(carrier.to_owned()).or_default();
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

    /// What all nodes together have heard of a carrier.
    fn learn(&self, node: &str, carrier: &str, row: Option<&RefusalsRow>) {
        let learnt = row.map(|row| Refusals {
            in_a_row: u32::try_from(row.in_a_row).unwrap_or(u32::MAX),
            paused_until: row.paused_until,
            shared: true,
            probes: row.prober.as_deref() == Some(node),
        });
        let learnt = learnt.unwrap_or(Refusals { shared: true, ..Refusals::default() });
        self.refusals().insert(carrier.to_owned(), learnt);
    }

    /// What the first carrier may be asked now.
    pub fn allowance(&self, now: Timestamp) -> Allowance {
        self.refusals().get(FIRST).map_or(Allowance::All, |refusals| refusals.allowance(now))
    }

    /// What each carrier may be asked now.
    pub fn allowances(&self, app: &App) -> Allowances {
        let now = app.clock.now();
        let limited =
            self.refusals().iter().map(|(carrier, of)| (carrier.clone(), of.allowance(now))).collect();
        Allowances { first: first(app).map(str::to_owned), limited }
    }
}

/// Whether other nodes dial, too; a manual clock belongs to one.
fn shared(app: &App) -> bool {
    app.store.shared() && !app.clock.is_manual()
}

/// Notes what a live carrier, `None` for the first one, said to a dial: it took the call, or refused it before any ring.
///
/// # Errors
/// Those of the store; what this node has heard holds on it all the same.
pub async fn carrier_said(app: &App, carrier: Option<&str>, took: bool) -> Result<(), Failure> {
    let now = app.clock.now();
    let carrier = stored(first(app), carrier);
    let refused_before = app.breaker.heard(&carrier, took, now);
    if !shared(app) || (took && !refused_before) {
        return Ok(());
    }
    let name = carrier.clone();
    let row = app
        .store
        .tx(move |tx| {
            if took {
                if carrier_refusals::took(tx, &name)? {
                    tx.wake(topics::CARRIER);
                    tx.wake(topics::DIALLER);
                }
                return Ok::<_, Failure>(None);
            }
            tx.wake(topics::CARRIER);
            Ok(carrier_refusals::refused(tx, &name, FAILURES.into(), now.plus(PAUSE))?)
        })
        .await?;
    app.breaker.learn(&app.ports.node, &carrier, row.as_ref());
    Ok(())
}

/// Looks at what other nodes have heard of the live carriers, and claims the dial after a pause. Returns when to look
/// again.
pub async fn look_at_refusals(app: &App) -> Result<Option<Timestamp>, Failure> {
    if !shared(app) {
        return Ok(None);
    }
    let now = app.clock.now();
    let unclaimed = |row: &RefusalsRow| {
        row.paused_until.is_some_and(|until| until <= now) && row.probe_until.is_none_or(|until| until <= now)
    };
    let mut due: Option<Timestamp> = None;
    let names = app.config.telephony.carriers();
    let mut rows = app.store.read(carrier_refusals::all).await?;
    // A carrier that the settings do not have any more is not asked again.
    rows.retain(|row| {
        row.carrier == FIRST || names.iter().any(|name| stored(first(app), Some(name)) == row.carrier)
    });
    for mut row in rows {
        if unclaimed(&row) && app.node.in_service() {
            let (node, carrier) = (app.ports.node.clone(), row.carrier.clone());
            let claimed = app
                .store
                .tx(move |tx| {
                    if carrier_refusals::probe(tx, &carrier, &node, now, now.plus(PROBE))? {
                        tx.wake(topics::DIALLER);
                    }
                    carrier_refusals::get(tx, &carrier)
                })
                .await?;
            row = claimed.unwrap_or(row);
        }
        app.breaker.learn(&app.ports.node, &row.carrier, Some(&row));
        let next = match row.paused_until {
            Some(until) if until > now => Some(until),
            Some(_) => row.probe_until,
            None => None,
        };
        due = due.into_iter().chain(next).min();
    }
    Ok(due)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(in_a_row: i64, paused_until: Option<i64>, prober: Option<&str>) -> RefusalsRow {
        RefusalsRow {
            carrier: FIRST.into(),
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
            breaker.heard(FIRST, false, Timestamp(0));
            assert_eq!(breaker.allowance(Timestamp(0)), Allowance::All);
        }
        breaker.heard(FIRST, false, Timestamp(0));
        assert_eq!(breaker.allowance(Timestamp(PAUSE - 1)), Allowance::Nothing);
        assert_eq!(breaker.allowance(Timestamp(PAUSE)), Allowance::Probe);
        assert!(breaker.heard(FIRST, true, Timestamp(PAUSE)), "there is something to reset");
        assert_eq!(breaker.allowance(Timestamp(PAUSE)), Allowance::All);
        assert!(!breaker.heard(FIRST, true, Timestamp(PAUSE)), "nothing to reset");
    }

    #[test]
    fn of_several_nodes_the_one_that_claimed_it_asks_again() {
        let (one, other) = (Breaker::default(), Breaker::default());
        for breaker in [(&one, "one"), (&other, "other")] {
            breaker.0.learn(breaker.1, FIRST, Some(&row(5, Some(PAUSE), None)));
            assert_eq!(breaker.0.allowance(Timestamp(0)), Allowance::Nothing);
            assert_eq!(breaker.0.allowance(Timestamp(PAUSE)), Allowance::Nothing, "nobody has claimed it");
            breaker.0.learn(breaker.1, FIRST, Some(&row(5, Some(PAUSE), Some("one"))));
        }
        assert_eq!(one.allowance(Timestamp(PAUSE)), Allowance::Probe);
        assert_eq!(other.allowance(Timestamp(PAUSE)), Allowance::Nothing);
        other.learn("other", FIRST, Some(&row(0, None, None)));
        assert_eq!(other.allowance(Timestamp(PAUSE)), Allowance::All);
    }

    #[test]
    fn a_carrier_that_refuses_stops_no_other() {
        let breaker = Breaker::default();
        for _ in 0..FAILURES {
            breaker.heard("carrier:ill", false, Timestamp(0));
        }
        assert_eq!(breaker.allowance(Timestamp(0)), Allowance::All);
        let limited = |now: i64| {
            let of = breaker.refusals();
            of.iter().map(|(name, of)| (name.clone(), of.allowance(Timestamp(now)))).collect()
        };
        let mut round = Allowances { first: Some("main".into()), limited: limited(0) };
        let mut takes = |carrier: Option<&str>| round.take(carrier);
        assert_eq!([takes(None), takes(Some("main")), takes(Some("ill"))], [true, true, false]);
        let mut round = Allowances { first: Some("main".into()), limited: limited(PAUSE) };
        assert_eq!(
            [round.take(Some("ill")), round.take(Some("ill"))],
            [true, false],
            "one dial asks it again"
        );
        let mut round = Allowances { first: Some("ill".into()), limited: limited(0) };
        assert!(round.take(Some("ill")), "the first carrier is the same with and without its name");
    }
}

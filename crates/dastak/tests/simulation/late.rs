//! What the simulation found, each as a story of its own: dials that were decided in time and committed late.

use domain::phone::Phone;
use domain::time::{MINUTE, SECOND, Timestamp};
use serde_json::{Value, json};

use crate::carrier::World;
use crate::clients::{self, Act, Log, Outcome, Shared};
use crate::life::{self, Life};
use crate::random::Random;
use crate::stage::{Engine, Stage};

/// A Monday, 10:00 in India.
const TEN: Timestamp = Timestamp(1_798_432_200_000);

/// A nudge is due at `due`; `late` milliseconds pass while its placement is committed. The dials that went
/// out within two minutes, and the nudge.
fn committed_late(name: u64, due: Timestamp, late: i64) -> (usize, String, Value) {
    let stage = Stage::new(name, Engine::Sqlite);
    let world = World::new(name, 1);
    let life = Life::begin(&stage, &world, name, (0, 1), due.plus(-30 * MINUTE));
    let customer =
        life.wait(clients::set_up(&life.app, 0, 0, &mut Random::named(name, "late"))).expect("a workspace");
    let key = customer.keys[0].0.clone();
    let to = Phone::normalize("+919812340013").expect("a number");
    let body = json!({"outsideWindow": "queue", "scheduledAt": due, "retry": {"maxRetries": 0, "on": ["busy"], "delayMinutes": 30}});
    let act = Act::Nudge { customer: 0, key: 0, test: false, to, body, name: "late".into() };
    let log = Shared::new(std::sync::Mutex::new(Log::default()));
    let made = life.wait(clients::perform(
        life.app.clone(),
        world.clone(),
        std::sync::Arc::new(vec![customer]),
        log.clone(),
        act,
    ));
    assert_eq!(made, Outcome::Done);
    let nudge = log.lock().unwrap().nudges[0].1;
    let pass = |to: Timestamp| {
        while life.clock.now() < to {
            life.pass(to);
        }
    };
    pass(due.plus(-SECOND));
    world.be_late("nudges/due.rs", late);
    pass(due.plus(2 * MINUTE));
    let caller = life.wait(life.app.authenticate(&key)).expect("the store").expect("a key");
    let answer = life.wait(dastak::app::nudges::get(&life.app, &caller, nudge)).expect("a nudge");
    let seen = serde_json::to_value(answer).expect("JSON");
    let dials = world.dials().len();
    life::end(life);
    stage.strike();
    (dials, seen["status"].as_str().unwrap_or_default().to_owned(), seen["statusReason"].clone())
}

/// Seeds 4, 18 and 30 of their time: somebody may have asked the carrier about it already, and the nudge be
/// dialled again.
#[test]
fn a_dial_is_not_made_when_its_lease_is_nearly_over() {
    assert_eq!(committed_late(9_000_001, TEN, 16 * SECOND), (0, "scheduled".into(), json!("provider_error")));
    let (dials, ..) = committed_late(9_000_002, TEN, SECOND);
    assert_eq!(dials, 1, "a second late is no reason");
}

/// Seeds 9 and 26 of their time: 20:54:58 when it was decided, 20:55:01 when it would ring.
#[test]
fn a_dial_is_not_made_after_the_cutoff() {
    let cutoff = TEN.plus((10 * 60 + 55) * MINUTE);
    assert_eq!(
        committed_late(9_000_003, cutoff.plus(-2 * SECOND), 3 * SECOND),
        (0, "scheduled".into(), json!("provider_error"))
    );
    let (dials, ..) = committed_late(9_000_008, cutoff.plus(-4 * SECOND), SECOND);
    assert_eq!(dials, 1, "three seconds before it");
}

//! Placing calls when something breaks between the two transactions of a placement: nobody is dialled twice,
//! nothing acknowledged is lost.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use domain::call::Network;
use domain::ids::{Call, Id};
use domain::ports::{Answer, Carrier, DialError, DialOrder, DialStatus, HangUpFailed, Scripted};
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::db::{CallSite, Fate, Faults, Pause};
use tokio::io::AsyncWriteExt;

use crate::app::TestApp;
use crate::shows::Shows;
use crate::world::World;

/// A carrier that never answers a dial; it remembers the dials and reports their outcome later.
struct Mute {
    dials: AtomicUsize,
    standing: DialStatus,
    /// Whether hang-ups fail.
    stubborn: bool,
    /// Ends the request that waits for a dial, as a crash would.
    crash: tokio::sync::Notify,
}

impl Mute {
    fn of(standing: DialStatus, stubborn: bool) -> Self {
        Self { dials: AtomicUsize::new(0), standing, stubborn, crash: tokio::sync::Notify::new() }
    }

    fn new(standing: DialStatus) -> Arc<Self> {
        Arc::new(Self::of(standing, false))
    }
}

impl Carrier for Mute {
    fn simulated(&self) -> bool {
        true
    }

    fn network(&self, _: domain::phone::Phone) -> Option<Network> {
        Some(Network::Sandbox)
    }

    fn dial(&self, _: DialOrder) -> Answer<'_, Result<String, DialError>> {
        self.dials.fetch_add(1, Ordering::SeqCst);
        if self.stubborn {
            return Box::pin(std::future::ready(Ok("prov_stubborn".into())));
        }
        Box::pin(async {
            self.crash.notified().await;
            panic!("the process dies here, as this test wants it to");
        })
    }

    fn ask(&self, _: DialOrder) -> Answer<'_, DialStatus> {
        Box::pin(std::future::ready(self.standing.clone()))
    }

    fn hang_up(&self, _: &str) -> Answer<'_, Result<(), HangUpFailed>> {
        Box::pin(std::future::ready(if self.stubborn { Err(HangUpFailed) } else { Ok(()) }))
    }
}

/// The answer to the first commit of every transaction in this file is lost.
pub struct AnswersLost {
    file: &'static str,
    lost: Mutex<BTreeSet<u32>>,
}

impl AnswersLost {
    pub fn of(file: &'static str) -> Arc<Self> {
        Arc::new(Self { file, lost: Mutex::default() })
    }

    /// In how many places one was lost.
    pub fn count(&self) -> usize {
        self.lost.lock().unwrap().len()
    }
}

impl Faults for AnswersLost {
    fn before(&self, place: CallSite) -> Pause<'_, Fate> {
        let lost = place.file().ends_with(self.file) && self.lost.lock().unwrap().insert(place.line());
        Box::pin(std::future::ready(if lost { Fate::Unheard } else { Fate::Untouched }))
    }
}

/// Sends a placement with an idempotency key and hangs up before the answer; the call.
async fn send_and_leave(world: &World, key: &str, digits: &str) -> Id<Call> {
    let stored = async || {
        let due = |tx: &mut store::Tx<'_>| store::calls::due_ids(tx, Timestamp(i64::MAX), 100);
        world.stored(due).await
    };
    let before = stored().await;
    let body = placement(world, digits).to_string();
    let address = world.url.strip_prefix("http://").unwrap();
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /v1/calls HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nidempotency-key: once\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    // Only a stored call shows that the request has passed its commit. One that no carrier has is listed nowhere.
    let (_, id) = loop {
        match stored().await.into_iter().find(|call| !before.contains(call)) {
            Some(found) => break found,
            None => tokio::task::yield_now().await,
        }
    };
    drop(socket);
    id
}

/// Waits until the carrier was asked for `count` dials; then the clock may move.
async fn heard(carrier: &Mute, dials: usize) {
    while carrier.dials.load(Ordering::SeqCst) < dials {
        tokio::task::yield_now().await;
    }
}

fn placement(world: &World, digits: &str) -> Value {
    json!({"agentId": world.agent, "toNumber": format!("+91981230{digits}")})
}

async fn repeat(world: &World, key: &str, digits: &str) -> crate::app::Answer {
    world.post_with(key, "/v1/calls", &[("idempotency-key", "once")], &placement(world, digits)).await
}

#[tokio::test]
async fn a_client_that_leaves_before_the_answer_finds_it_later() {
    let world = World::open().await;
    for key in [world.workspace.live.clone(), world.workspace.test.clone()] {
        send_and_leave(&world, &key, "1234").await;
        // The request runs to its end without its client.
        let again = loop {
            let again = repeat(&world, &key, "1234").await;
            if again.status == 200 {
                break again;
            }
            again.refused(409, "idempotency_in_progress");
        };
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        let calls = world.app.get(&key, "/v1/calls").await.expect(200);
        assert_eq!(calls["data"].as_array().unwrap().len(), 1);
        calls.shows(json!({"data[0].id": again.json["interactionId"]}));
    }
}

#[tokio::test]
async fn a_dial_whose_answer_is_lost_is_asked_for_and_goes_on() {
    let carrier = Mute::new(DialStatus::Taken("prov_found".into()));
    let world = World::of(TestApp::start_over(carrier.clone()).await).await;
    let key = world.workspace.live.clone();
    send_and_leave(&world, &key, "1234").await;
    heard(&carrier, 1).await;
    repeat(&world, &key, "1234").await.refused(409, "idempotency_in_progress");
    world.advance(29).await;
    repeat(&world, &key, "1234").await.refused(409, "idempotency_in_progress");
    world.advance(1).await;
    let answer = repeat(&world, &key, "1234").await;
    assert_eq!(answer.header("idempotent-replayed"), Some("true"));
    let placed = answer.expect(200);
    assert_eq!(placed["providerCallId"], "prov_found");
    let call = world.call(&key, placed["interactionId"].as_str().unwrap()).await;
    assert_eq!((&call["state"], &call["durationSeconds"]), (&json!("ended"), &json!(8)));
    assert_eq!((carrier.dials.load(Ordering::SeqCst), world.wallet().await), (1, (1_000_000 - 600, 0)));
}

#[tokio::test]
async fn a_dial_that_the_carrier_cannot_tell_of_is_never_repeated() {
    let carrier = Mute::new(DialStatus::Unknown);
    let world = World::of(TestApp::start_over(carrier.clone()).await).await;
    let key = world.workspace.live.clone();
    send_and_leave(&world, &key, "1234").await;
    heard(&carrier, 1).await;
    world.advance(30).await;
    repeat(&world, &key, "1234").await.refused(502, "possibly_placed");
    let calls = world.app.get(&key, "/v1/calls").await.expect(200);
    calls["data"][0].shows(json!({"status": "failed", "endCause": "possibly_placed"}));
    assert_eq!((carrier.dials.load(Ordering::SeqCst), world.wallet().await), (1, (1_000_000, 0)));
}

#[tokio::test]
async fn a_dial_that_the_carrier_never_heard_of_leaves_nothing() {
    let carrier = Mute::new(DialStatus::Unheard);
    let world = World::of(TestApp::start_over(carrier.clone()).await).await;
    let key = world.workspace.live.clone();
    send_and_leave(&world, &key, "1234").await;
    heard(&carrier, 1).await;
    world.advance(30).await;
    assert_eq!(world.app.get(&key, "/v1/calls").await.expect(200)["data"], json!([]));
    assert_eq!(world.wallet().await, (1_000_000, 0));
    // The key is free: this one is a new request, and dials.
    send_and_leave(&world, &key, "1234").await;
    heard(&carrier, 2).await;
    assert_eq!(carrier.dials.load(Ordering::SeqCst), 2);
}

/// The intent is stored, but its node does not hear that: it did not dial, and takes it back.
#[tokio::test]
async fn a_call_that_may_be_stored_is_taken_back_and_dialled_when_it_is_asked_for_again() {
    let carrier = Arc::new(Mute::of(DialStatus::Unknown, true));
    let world = World::of(TestApp::start_over(carrier.clone()).await).await;
    let lost = AnswersLost::of("calls/intents.rs");
    world.app().store.fail_as(lost.clone());
    let key = world.workspace.live.clone();
    repeat(&world, &key, "1234").await.refused(503, "unavailable");
    assert_eq!((lost.count(), carrier.dials.load(Ordering::SeqCst)), (1, 0));
    world.advance(3).await;
    assert_eq!(world.app.get(&key, "/v1/calls").await.expect(200)["data"], json!([]));
    assert_eq!(world.wallet().await, (1_000_000, 0));
    let placed = repeat(&world, &key, "1234").await.expect(200);
    world.advance(60).await;
    let calls = world.app.get(&key, "/v1/calls").await.data(200);
    assert_eq!((calls.as_array().unwrap().len(), &calls[0]["id"]), (1, &placed["interactionId"]));
    assert_eq!((&calls[0]["state"], &calls[0]["endCause"]), (&json!("ended"), &json!("agent_ended")));
    assert_eq!(carrier.dials.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_crash_between_the_two_transactions() {
    // The first process commits the intent and never hears from its carrier; the next one has the sandbox.
    let carrier = Mute::new(DialStatus::Unknown);
    let world = World::of(TestApp::start_over(carrier.clone()).await).await;
    let key = world.workspace.live.clone();
    send_and_leave(&world, &key, "1234").await;
    heard(&carrier, 1).await;
    carrier.crash.notify_one();
    let world = world.restart_at(3).await;
    repeat(&world, &key, "1234").await.refused(409, "idempotency_in_progress");
    world.advance(40).await;
    let placed = repeat(&world, &key, "1234").await.expect(200);
    let call = world.call(&key, placed["interactionId"].as_str().unwrap()).await;
    assert_eq!((&call["state"], &call["durationSeconds"]), (&json!("ended"), &json!(8)));
}

#[tokio::test]
async fn a_hang_up_that_the_carrier_does_not_carry_out() {
    let world = World::of(TestApp::start_over(Arc::new(Mute::of(DialStatus::Unknown, true))).await).await;
    let id = world.placed(world.live(), "1234").await;
    world.advance(3).await;
    world.post(&format!("/v1/calls/{id}/hangup"), &Value::Null).await.refused(502, "hangup_failed");
    assert_eq!(world.call(world.live(), &id).await["state"], "in_progress");
    world.advance(7).await;
    // It is still live and goes on.
    world.call(world.live(), &id).await.shows(json!({"endCause": "agent_ended"}));
}

/// What no carrier has taken may be refused, and was never there then.
#[tokio::test]
async fn a_call_is_there_from_the_moment_at_which_a_carrier_took_it() {
    for standing in [DialStatus::Taken("prov_late".into()), DialStatus::Unheard, DialStatus::Unknown] {
        let world = World::of(TestApp::start_over(Mute::new(standing.clone())).await).await;
        let key = world.workspace.live.clone();
        let id = send_and_leave(&world, &key, "1234").await;
        let path = format!("/v1/calls/{id}");
        let hang_up = async || world.app.post(&key, &format!("{path}/hangup"), &Value::Null).await;
        let listed = async |query: &str| {
            let listed = world.app.get(&key, &format!("/v1/calls?{query}")).await.expect(200);
            listed["data"].as_array().unwrap().len()
        };
        let contacts = world.app.get(&key, "/v1/contacts").await.expect(200);
        let person = format!("contactId={}", contacts["data"][0]["id"].as_str().unwrap());
        let queries = ["", "state=ringing", "status=queued", "direction=outbound", &person];
        for query in queries {
            assert_eq!(listed(query).await, 0, "{query}");
        }
        for shown in [path.clone(), format!("{path}/timeline")] {
            world.app.get(&key, &shown).await.not_found();
        }
        hang_up().await.not_found();
        world.advance(30).await;
        match standing {
            DialStatus::Unheard => {
                world.app.get(&key, &path).await.not_found();
                assert_eq!(listed("").await, 0);
            }
            DialStatus::Unknown => {
                world.call(&key, &id.to_string()).await.shows(json!({"endCause": "possibly_placed"}));
                assert_eq!(listed("").await, 1);
                hang_up().await.refused(409, "call_not_active");
            }
            _ => {
                world.call(&key, &id.to_string()).await.shows(json!({"state": "ended"}));
                assert_eq!(listed(&person).await, 1);
            }
        }
        // What was decided is in the log whatever became of it.
        let log = world.app.get(&key, "/v1/audit/export").await;
        assert!(log.status == 200 && log.text.contains(&format!(",{id},allowed,")), "{}", log.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_placements_at_once_never_pass_the_caps() {
    let world = Arc::new(World::open_with(|config| config.telephony.concurrent_calls = 7).await);
    let mut tasks = Vec::new();
    for number in 0..30 {
        let world = world.clone();
        tasks.push(tokio::spawn(async move { world.place(world.live(), &format!("1{number:03}")).await }));
    }
    let mut placed = 0;
    for task in tasks {
        match task.await.unwrap() {
            answer if answer.status == 200 => placed += 1,
            answer => drop(answer.refused(429, "concurrency_limit")),
        }
    }
    assert_eq!((placed, world.wallet().await.1), (7, 7 * 600));
    world.advance(10).await;
    assert_eq!(world.wallet().await, (1_000_000 - 7 * 600, 0));
    world.placed(world.live(), "1900").await;
}

/// The scripted carrier gives one call one id, however often it is asked.
#[tokio::test]
async fn asking_the_sandbox_again_finds_the_same_call() {
    let order = DialOrder {
        workspace: domain::ids::Id::new(1, 1),
        call: domain::ids::Id::new(1, 2),
        to: "+919812301234".parse().unwrap(),
        from: String::new(),
        carrier: None,
        network: None,
    };
    let carrier = Scripted(Network::Sandbox);
    let taken = carrier.dial(order.clone()).await.unwrap();
    assert_eq!(carrier.ask(order).await, DialStatus::Taken(taken));
}

#[tokio::test]
async fn a_call_is_played_to_its_end_after_the_clock_was_set_back() {
    use dastak::app::calls::{CallCache, Order, place_intent, prepare, start_dial};
    let world = World::open().await;
    let app = world.app().clone();
    // Ids never go back: after a clock that was an hour ahead they begin there.
    let ahead = dastak::runtime::clock::Clock::manual_at(world.noon.plus(3_600_000));
    let ids = Arc::new(dastak::runtime::ids::Ids::new(ahead));
    let body = json!({"agentId": world.agent, "toNumber": "+919812340001"});
    let order = Order::of(serde_json::from_value(body).unwrap());
    let (tenant, mut env) = (world.tenant(), app.call_env());
    env.context.ids = ids;
    let call = app
        .of(tenant)
        .tx(move |tx| {
            let mut known = CallCache::default();
            let mode = domain::tenant::Mode::Test;
            let prepared = prepare(tx, &env, &mut known, mode, order.clone())?;
            let call = place_intent(tx, &env, &mut known, &prepared)?;
            known.finish(tx, &env.context)?;
            Ok::<_, dastak::app::Failure>(call)
        })
        .await
        .unwrap();
    let id = call.id.to_string();
    let dialler = app.clone();
    app.clock.spawn(async move {
        start_dial(&dialler, call).await.unwrap().unwrap();
    });
    world.advance(20).await;
    let shown = world.call(world.test(), &id).await;
    assert_eq!((&shown["state"], &shown["endCause"]), (&json!("ended"), &json!("agent_ended")), "{shown}");
}

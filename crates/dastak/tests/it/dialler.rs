//! The dialler: turns between workspaces, bursts, slow and failing carriers, lost answers, restarts
//! (`docs/dialler.md`).

use std::sync::{Arc, Mutex};

use domain::ports::{Answer as Coming, Carrier, DialError, DialOrder, DialStatus, HangUpFailed};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::app::TestApp;
use crate::call_faults::AnswersLost;
use crate::shows::Shows;
use crate::world::{World, assert_nudge, id};

/// What the carrier does with a dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Takes,
    Refuses,
    /// Answers only when the test changes what it does.
    Hangs,
}

/// A carrier that does as it is told and remembers what it was asked.
struct Desk {
    orders: Mutex<Vec<DialOrder>>,
    asked: Mutex<Vec<DialOrder>>,
    standing: Mutex<DialStatus>,
    mood: watch::Sender<Mood>,
}

impl Desk {
    fn new(mood: Mood) -> Arc<Self> {
        Arc::new(Self {
            orders: Mutex::default(),
            asked: Mutex::default(),
            standing: Mutex::new(DialStatus::Unknown),
            mood: watch::Sender::new(mood),
        })
    }

    fn dialled(&self) -> Vec<String> {
        self.orders.lock().unwrap().iter().map(|order| order.to.to_string()).collect()
    }
}

impl Carrier for Desk {
    fn dial(&self, order: DialOrder) -> Coming<'_, Result<String, DialError>> {
        self.orders.lock().unwrap().push(order.clone());
        let mut mood = self.mood.subscribe();
        Box::pin(async move {
            let settled = mood.wait_for(|mood| *mood != Mood::Hangs).await.map(|mood| *mood);
            match settled {
                Ok(Mood::Takes) => Ok(format!("prov_{}", order.call)),
                Ok(Mood::Refuses) => Err(DialError::ProviderErrorBeforeRing),
                Ok(Mood::Hangs) | Err(_) => Err(DialError::Uncertain),
            }
        })
    }

    fn ask(&self, order: DialOrder) -> Coming<'_, DialStatus> {
        self.asked.lock().unwrap().push(order);
        let standing = self.standing.lock().unwrap().clone();
        Box::pin(std::future::ready(standing))
    }

    fn hang_up(&self, _: &str) -> Coming<'_, Result<(), HangUpFailed>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

async fn over(desk: &Arc<Desk>) -> World {
    World::monday_in(TestApp::start_over(desk.clone()).await).await
}

fn numbers(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("+9198126{:05}", number + 20))
}

/// A number of another workspace with its one nudge.
async fn lone(world: &World, due: &str) -> (World, Value) {
    let other = world.neighbour().await;
    let agent = other.agent(&json!({})).await;
    let body = json!({"agentId": agent, "toNumber": "+919812799998", "scheduledAt": due});
    let made =
        world.post_with(other.live(), "/v1/nudges", &[("idempotency-key", "k")], &body).await.data(201);
    (other, made)
}

#[tokio::test]
async fn a_workspace_with_many_due_does_not_delay_one_with_one() {
    let desk = Desk::new(Mood::Takes);
    let world = over(&desk).await;
    let due = "2027-03-01T07:00:00Z";
    for number in numbers(150) {
        world.nudge(&number, &json!({"scheduledAt": due})).await;
    }
    let (_, nudge) = lone(&world, due).await;
    world.set_clock(due).await;
    let dialled = desk.dialled();
    let place = dialled.iter().position(|to| to == nudge["toNumber"].as_str().unwrap()).unwrap();
    // A hundred lines of the first workspace, one of the second, which was dialled in the first round.
    assert_eq!(dialled.len(), 101);
    assert!(place < 32, "dialled as number {place}");
}

#[tokio::test]
async fn a_burst_takes_the_lines_there_are_and_the_oldest_follow_as_they_free() {
    let world = World::monday().await;
    world.change(&json!({"limits": {"concurrentCalls": 5}})).await;
    let mut made = Vec::new();
    for number in numbers(40) {
        made.push(world.nudge(&number, &json!({"scheduledAt": "2027-03-01T07:00:00Z"})).await);
    }
    world.set_clock("2027-03-01T07:00:00Z").await;
    let mut finished = 0;
    for wave in 1..=8 {
        let mut lines = 0;
        for nudge in &made {
            let shown = world.show_nudge(nudge).await;
            lines += usize::from(shown["status"] == "queued");
        }
        assert_eq!(lines, 5, "wave {wave}");
        world.advance(10).await;
        let mut done = 0;
        for nudge in &made {
            done += usize::from(world.show_nudge(nudge).await["result"] == "connected");
        }
        finished += 5;
        assert_eq!(done, finished, "wave {wave}");
    }
    for nudge in &made[..5] {
        assert_eq!(world.nudge_kinds(nudge).await, ["nudge.scheduled", "nudge.dialing", "nudge.finished"]);
    }
    for nudge in &made[5..] {
        assert_eq!(world.show_nudge(nudge).await["attempts"], 1);
    }
}

#[tokio::test]
async fn the_platforms_lines_are_a_limit_of_all() {
    let world =
        World::monday_in(TestApp::start_with(|config| config.telephony.concurrent_calls = 3).await).await;
    let (other, nudge) = lone(&world, "2027-03-01T06:31:00Z").await;
    let mut made = Vec::new();
    for number in numbers(3) {
        made.push(world.nudge(&number, &json!({})).await);
    }
    world.set_clock("2027-03-01T06:30:55Z").await;
    for number in numbers(6).skip(3) {
        made.push(world.nudge(&number, &json!({})).await);
    }
    world.advance(5).await;
    assert_nudge(&other.show_nudge(&nudge).await, "scheduled", None, Some("concurrency_full"));
    world.advance(20).await;
    assert_nudge(&other.show_nudge(&nudge).await, "finished", Some("connected"), Some("agent_ended"));
}

#[tokio::test]
async fn a_slow_dial_holds_up_nobody_else() {
    let desk = Desk::new(Mood::Hangs);
    let world = over(&desk).await;
    let first = world.nudge("9812600001", &json!({})).await;
    world.advance(0).await;
    let second = world.nudge("9812600002", &json!({})).await;
    world.advance(1).await;
    assert_eq!(desk.dialled(), ["+919812600001", "+919812600002"]);
    desk.mood.send_replace(Mood::Takes);
    world.advance(1).await;
    for nudge in [first, second] {
        let shown = world.show_nudge(&nudge).await;
        assert_eq!((shown["status"].clone(), shown["attempts"].clone()), (json!("queued"), json!(1)));
    }
}

#[tokio::test]
async fn an_answer_that_is_lost_is_asked_for_and_never_dialled_again() {
    for (standing, status, result, reason, attempts, dials) in [
        (DialStatus::Taken("prov_1".into()), "queued", None, None, 1, 1),
        (DialStatus::Unknown, "finished", Some("failed"), Some("possibly_placed"), 1, 1),
        // The carrier never heard of it, so no phone rang, and the dial is made again.
        (DialStatus::Unheard, "scheduled", None, Some("provider_error"), 0, 1),
    ] {
        let desk = Desk::new(Mood::Hangs);
        *desk.standing.lock().unwrap() = standing.clone();
        let world = over(&desk).await;
        let nudge = world.nudge("9812600001", &json!({"retry": {"maxRetries": 2}})).await;
        world.advance(29).await;
        assert_nudge(&world.show_nudge(&nudge).await, "queued", None, None);
        assert!(desk.asked.lock().unwrap().is_empty());
        world.advance(2).await;
        let shown = world.show_nudge(&nudge).await;
        assert_nudge(&shown, status, result, reason);
        assert_eq!(
            (shown["attempts"].clone(), desk.dialled().len()),
            (json!(attempts), dials),
            "{standing:?}"
        );
        world.advance(16 * 60).await;
        let again = usize::from(standing == DialStatus::Unheard);
        assert_eq!(desk.dialled().len(), 1 + again, "{standing:?}");
        // The late answer of the first dial changes nothing.
        desk.mood.send_replace(Mood::Takes);
        world.advance(1).await;
        if standing != DialStatus::Unheard {
            assert_nudge(&world.show_nudge(&nudge).await, status, result, reason);
        }
    }
}

#[tokio::test]
async fn a_nudge_whose_call_may_be_stored_is_dialled_later_and_once() {
    let desk = Desk::new(Mood::Takes);
    let world = over(&desk).await;
    let lost = AnswersLost::of("nudges/due.rs");
    world.app().store.fail_as(lost.clone());
    let nudge = world.nudge("9812600001", &json!({})).await;
    world.advance(3).await;
    assert!(lost.count() > 0);
    assert_nudge(&world.show_nudge(&nudge).await, "scheduled", None, Some("provider_error"));
    assert!(desk.dialled().is_empty(), "nobody was dialled");
    world.advance(16 * 60).await;
    let shown = world.show_nudge(&nudge).await;
    assert_nudge(&shown, "queued", None, None);
    assert_eq!((desk.dialled().len(), &shown["attempts"]), (1, &json!(1)));
    assert!(desk.asked.lock().unwrap().is_empty(), "the carrier knows nothing of what was not dialled");
}

#[tokio::test]
async fn a_failing_carrier_is_left_alone_and_nobody_loses_an_attempt() {
    let desk = Desk::new(Mood::Refuses);
    let world = over(&desk).await;
    let mut made = Vec::new();
    for (second, number) in numbers(12).enumerate() {
        made.push(
            world.nudge(&number, &json!({"scheduledAt": format!("2027-03-01T07:00:{second:02}Z")})).await,
        );
    }
    world.set_clock("2027-03-01T07:00:30Z").await;
    // After five refusals in a row the carrier is not asked any more.
    assert_eq!(desk.dialled().len(), 5);
    for nudge in &made {
        let shown = world.show_nudge(nudge).await;
        assert_nudge(&shown, "scheduled", None, Some("provider_error"));
        assert_eq!(
            (shown["attempts"].clone(), world.nudge_kinds(nudge).await),
            (json!(0), vec!["nudge.scheduled".to_owned(), "nudge.scheduled".to_owned()])
        );
    }
    let last = world.nudge_timeline(&made[11]).await.pop().unwrap();
    assert!(
        last["checks"]
            .as_array()
            .unwrap()
            .iter()
            .any(|check| check["check"] == "carrier" && check["ok"] == false)
    );
    // It works again: one dial is tried, then the others follow.
    desk.mood.send_replace(Mood::Takes);
    world.set_clock("2027-03-01T07:15:30Z").await;
    let dialled = desk.dialled();
    assert_eq!(dialled.len(), 5 + 12);
    for nudge in &made {
        assert_eq!(world.show_nudge(nudge).await["attempts"], 1);
    }
}

#[tokio::test]
async fn a_restart_in_the_middle_changes_nothing() {
    let world = World::monday().await;
    let retried = world.nudge("9812340000", &json!({"retry": {"maxRetries": 1, "delayMinutes": 30}})).await;
    world.advance(20).await;
    let later = world.nudge("9812340002", &json!({"scheduledAt": "2027-03-01T07:10:00Z"})).await;
    let ringing = world.nudge("9812340010", &json!({})).await;
    world.advance(1).await;
    let fresh = world.nudge("9812340003", &json!({})).await;
    let world = world.restart().await;
    // The manual clock starts at the present moment; the simulated phones go on ringing.
    world.set_clock("2027-03-01T06:30:24Z").await;
    assert_nudge(&world.show_nudge(&ringing).await, "in_progress", None, None);
    world.advance(10).await;
    for nudge in [&ringing, &fresh] {
        assert_nudge(&world.show_nudge(nudge).await, "finished", Some("connected"), Some("agent_ended"));
    }
    assert_nudge(&world.show_nudge(&later).await, "scheduled", None, None);
    world.set_clock("2027-03-01T07:11:00Z").await;
    assert_nudge(&world.show_nudge(&retried).await, "finished", Some("no_answer"), Some("no_answer"));
    assert_eq!(world.show_nudge(&retried).await["attempts"], 2);
    assert_nudge(&world.show_nudge(&later).await, "finished", Some("connected"), Some("agent_ended"));
    let calls = world.get("/v1/calls").await;
    assert_eq!(calls["data"].as_array().unwrap().len(), 5, "nothing was dialled twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_and_the_dial_race_and_one_wins() {
    let world = Arc::new(World::monday().await);
    world.change(&json!({"limits": {"concurrentCalls": 1000}})).await;
    let mut tasks = Vec::new();
    for number in numbers(30) {
        let world = world.clone();
        tasks.push(tokio::spawn(async move {
            let made = world.nudge(&number, &json!({})).await;
            let answer = world.post(&format!("/v1/nudges/{}/cancel", id(&made)), &json!({})).await;
            (made, answer.status)
        }));
    }
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    world.advance(30).await;
    for (nudge, status) in outcomes {
        let shown = world.show_nudge(&nudge).await;
        match status {
            200 => assert_eq!(
                (shown["result"].clone(), shown["attempts"].clone()),
                (json!("cancelled"), json!(0))
            ),
            _ => assert_eq!(
                (status, shown["result"].clone(), shown["attempts"].clone()),
                (409, json!("connected"), json!(1))
            ),
        }
        assert_eq!(
            world.nudge_kinds(&nudge).await.iter().filter(|kind| *kind == "nudge.finished").count(),
            1
        );
    }
}

#[tokio::test]
async fn many_nudges_of_a_revoked_key_are_cancelled_in_steps() {
    let world = World::monday().await;
    let key = world.key(&world.workspace.id, "live", json!("all")).await;
    for number in numbers(450) {
        let body = world.order(&number, &json!({"scheduledAt": "2027-03-01T09:00:00Z"}));
        world.send_nudge(&key, &number, &body).await.expect(201);
    }
    let keys = world.operator("GET", "/keys", Value::Null).await.expect(200);
    let path = format!("/keys/{}", keys["data"][0]["id"].as_str().unwrap());
    world.operator("DELETE", &path, Value::Null).await.expect(200);
    world.advance(1).await;
    let left = world.get("/v1/nudges?status=scheduled").await;
    assert_eq!(left["data"], json!([]));
}

#[tokio::test]
async fn a_contact_is_erased_with_its_nudges() {
    let world = World::monday().await;
    let later = json!({"scheduledAt": "2027-03-01T08:00:00Z", "variables": {"name": "Asha Rao"}, "externalRef": "Asha-ref"});
    // Made before there is a contact.
    let nudge = world.nudge("9812600001", &later).await;
    let contact = world
        .post("/v1/contacts", &json!({"externalRef": "c1", "phone": "9812600001", "name": "Asha"}))
        .await
        .data(201);
    let erased = world.erase(contact["id"].as_str().unwrap()).await.data(200);
    assert_eq!(erased["erased"]["nudgesCancelled"], 1);
    assert_nudge(&world.show_nudge(&nudge).await, "finished", Some("cancelled"), Some("erased"));
    let tenant = world.tenant();
    let rows =
        world.app().store.of(tenant).read(move |tx| store::events::list_after(tx, "", 1000)).await.unwrap();
    assert!(
        rows.iter()
            .filter_map(|row| row.envelope.as_ref())
            .all(|text| !text.contains("9812600001") && !text.contains("Asha")),
        "{rows:?}"
    );
    // A repeated request does not run again and emits no event.
    let body = world.order("9812600001", &later);
    let once = format!("9812600001{later}{}", world.now().await);
    let again = world.send_nudge(world.live(), &once, &body).await;
    assert!(again.status == 410 && !again.text.contains("Asha"), "{again:?}");
}

#[tokio::test]
async fn of_many_due_at_once_each_gets_what_its_own_number_says() {
    let world = World::monday().await;
    let (app, live) = (&world.app, world.live());
    // A fourth dial of one day is over the cap of the pack.
    for _ in 0..3 {
        world.nudge("9812340009", &json!({})).await;
        app.advance(20).await;
    }
    app.post(
        live,
        "/v1/contacts",
        &json!({"externalRef": "opted-out", "phone": "9812350043", "optOut": true}),
    )
    .await
    .expect(201);
    let known = app
        .post(live, "/v1/contacts", &json!({"externalRef": "crm-17", "phone": "9812350017"}))
        .await
        .expect(201);
    let at = json!({"scheduledAt": "2027-03-01T07:00:00Z"});
    // More rows than one statement writes, refused ones among them.
    let mut numbers: Vec<String> = (1..=70).map(|number| format!("98123500{number:02}")).collect();
    numbers.insert(20, "9812340009".to_owned());
    let mut nudges = Vec::new();
    for number in &numbers {
        nudges.push((number, world.nudge(number, &at).await));
    }
    app.operator("POST", "/dnd", &json!({"phones": ["9812350041"]})).await.expect(200);
    app.post(live, "/v1/dnc", &json!({"phones": ["9812350042"]})).await.expect(200);
    app.advance(1_740).await;
    let mut dialled = std::collections::BTreeMap::new();
    for call in
        app.get(live, "/v1/calls?limit=200&state=ringing").await.expect(200)["data"].as_array().unwrap()
    {
        let (number, contact) =
            (call["toNumber"].as_str().unwrap().to_owned(), call["contactId"].as_str().unwrap().to_owned());
        assert!(dialled.insert(number, contact).is_none(), "{call} was dialled twice");
    }
    assert_eq!(dialled.len(), 67);
    for (number, nudge) in nudges {
        let nudge = world.show_nudge(&nudge).await;
        let refused = match number.as_str() {
            "9812350041" => Some("dnd"),
            "9812350042" | "9812350043" => Some("opt_out"),
            "9812340009" => Some("frequency_cap"),
            _ => None,
        };
        match refused {
            Some(gate) => assert_eq!(
                (&nudge["result"], &nudge["blockReason"]),
                (&json!("blocked"), &json!(gate)),
                "{nudge}"
            ),
            None => {
                assert_eq!((&nudge["status"], &nudge["attempts"]), (&json!("queued"), &json!(1)), "{nudge}");
                let contact = app
                    .get(live, &format!("/v1/contacts/{}", dialled[&format!("+91{number}")]))
                    .await
                    .expect(200);
                assert_eq!(contact["data"]["phone"], format!("+91{number}"));
            }
        }
    }
    assert_eq!(dialled["+919812350017"], known["data"]["id"], "a person who is known is not made again");
    let workspace =
        app.operator("GET", &format!("/workspaces/{}", world.workspace.id), &Value::Null).await.expect(200);
    assert_eq!(workspace["data"]["reservedMinor"], 67 * 600, "each call holds its price");
    assert_eq!(app.get(live, "/v1/audit/verify").await.expect(200)["data"]["verified"], true);
    app.advance(60).await;
    let workspace =
        app.operator("GET", &format!("/workspaces/{}", world.workspace.id), &Value::Null).await.expect(200);
    assert_eq!(workspace["data"]["reservedMinor"], 0);
}

/// Over a database that may forget, a real carrier is not asked, and what is due waits (docs/contract/operator.md#health).
#[tokio::test]
async fn nobody_is_dialled_while_the_database_may_forget_on_postgres() {
    crate::app::needs_postgres();
    let desk = Desk::new(Mood::Takes);
    let forgetful = |config: &mut dastak::config::Config| {
        config.telephony.may_dial_twice = false;
        let url = config.database_url.take().expect("a database");
        config.database_url = Some(format!("{}?options=-csynchronous_commit%3Doff", &*url).into());
    };
    let world = World::monday_in(TestApp::start_ports(desk.clone(), forgetful, |_| ()).await).await;
    let nudge = world.nudge("+919812345610", &json!({})).await;
    world.set_clock("2027-03-01T06:45:00Z").await;
    let held = world.show_nudge(&nudge).await;
    held.shows(json!({"status": "scheduled", "statusReason": "provider_error", "attempts": 0}));
    let body = json!({"agentId": world.agent, "toNumber": "+919812345611"});
    let refused = world.post("/v1/calls", &body).await;
    assert!(refused.header("retry-after").is_some());
    refused.refused(503, "voice_unavailable");
    assert!(desk.dialled().is_empty());
    // Test calls reach nobody.
    world.app.post(world.test(), "/v1/calls", &body).await.expect(200);
    let token = world.operator_token.clone();
    let ready = world.app.get(&token, "/readyz").await.expect(200);
    assert!(ready["warnings"][0].as_str().unwrap().contains("synchronous_commit is off"), "{ready}");
    assert!(world.app.get("", "/readyz").await.expect(200).get("warnings").is_none(), "not for everybody");
}

/// A clock that differs from the database's is told (docs/contract/operator.md#health).
#[tokio::test]
async fn a_clock_that_is_wrong_is_told_on_postgres() {
    use dastak::app::node;
    use dastak::runtime::clock::Clock;
    crate::app::needs_postgres();
    let folder = std::env::temp_dir().join("dastak-tests").join(format!("skew{}", std::process::id()));
    for (ahead, side) in [(20_000, Some("ahead of")), (-20_000, Some("behind")), (0, None)] {
        let mut config = crate::app::settings(&folder).await;
        config.manual_clock = false;
        config.telephony.carrier = dastak::config::Carrier::None;
        let clock = Clock::running_from(Clock::real().now().plus(ahead));
        let service = dastak::service::Service::start_at(config, clock).await.expect("the service starts");
        // A look that takes long says nothing.
        while service.app.node.skew().is_none() {
            node::look(&service.app).await.expect("the database answers");
        }
        let skew = service.app.node.skew().expect("it was seen");
        assert!((skew.ahead - ahead).abs() <= 1_000 + skew.unsure, "{ahead}: {skew:?}");
        let told: Vec<String> =
            node::warnings(&service.app).into_iter().filter(|one| one.contains("clock")).collect();
        assert_eq!(told.len(), usize::from(side.is_some()), "{told:?}");
        assert!(side.is_none_or(|side| told[0].contains(side)), "{told:?}");
        let figures = service.app.metrics.render();
        let figure = figures.lines().find_map(|line| line.strip_prefix("dastak_clock_skew_seconds "));
        let figure: f64 = figure.expect("a figure").parse().expect("a number");
        assert!((figure * 1000.0 - skew.ahead as f64).abs() <= 1_000.0, "{figure}");
        assert!(service.stop().await);
    }
    let _ = std::fs::remove_dir_all(&folder);
}

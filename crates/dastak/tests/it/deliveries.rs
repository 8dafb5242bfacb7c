//! Delivery rules (docs/contract/webhooks.md#deliveries), row by row, over real sockets.

use serde_json::{Value, json};

use crate::receiver::{Behaviour, Receiver};
use crate::shows::Shows;
use crate::webhooks::text;
use crate::world::World;

const HOUR: i64 = 3_600;

/// The log of an endpoint, newest first.
async fn log(world: &World, endpoint: &Value) -> Vec<Value> {
    let path = format!("/v1/webhooks/{}/deliveries?limit=100", text(&endpoint["id"]));
    world.list(&path).await
}

fn path_of(endpoint: &Value, delivery: &Value) -> String {
    format!("/v1/webhooks/{}/deliveries/{}", text(&endpoint["id"]), text(&delivery["id"]))
}

/// Seconds from `since` to a moment.
fn seconds(since: &Value, moment: &Value) -> i64 {
    let read = |value: &Value| domain::time::Timestamp::parse(text(value)).expect("a moment").0;
    (read(moment) - read(since)) / 1000
}

fn statuses(delivery: &Value) -> Vec<Value> {
    delivery["attempts"].as_array().unwrap().iter().map(|attempt| attempt["status"].clone()).collect()
}

#[tokio::test]
async fn a_day_of_retries_and_then_a_replay() {
    let world = World::bare().await;
    let receiver = Receiver::start(Behaviour::status(500)).await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    let event = world.trigger("call.completed").await;
    world.advance(0).await;
    let entry = log(&world, &hook).await.remove(0);
    entry.shows(json!({"eventId": event, "event": "call.completed", "status": "pending"}));
    assert_eq!(seconds(&entry["createdAt"], &entry["nextAttemptAt"]), 30);
    entry.shows(json!({"deliveredAt": null}));
    let attempt = &entry["attempts"][0];
    attempt.shows(json!({"at": entry["createdAt"], "status": 500, "error": "the endpoint answered 500"}));
    assert!(attempt["durationMs"].is_u64());
    // 29 seconds later there is still one attempt.
    world.advance(29).await;
    assert_eq!(receiver.got().len(), 1);
    world.advance(24 * HOUR + 60).await;
    let failed = world.data(&path_of(&hook, &entry)).await;
    let at: Vec<i64> = failed["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| seconds(&entry["createdAt"], &attempt["at"]))
        .collect();
    let minutes = |minutes: i64| minutes * 60 + 30;
    assert_eq!(
        at,
        [
            0,
            30,
            minutes(2),
            minutes(12),
            minutes(42),
            minutes(102),
            minutes(222),
            minutes(462),
            minutes(942),
            minutes(1422)
        ]
    );
    failed.shows(json!({"status": "failed", "nextAttemptAt": null, "deliveredAt": null}));
    let got = receiver.got();
    assert_eq!(got.len(), 10);
    for (number, request) in got.iter().enumerate() {
        request.json().shows(json!({"id": event}));
        assert_eq!(request.header("x-service-delivery"), text(&entry["id"]));
        assert!(request.signed_with(text(&hook["secret"])));
        assert_eq!(request.t("X-Service") - got[0].t("X-Service"), at[number], "each attempt has a fresh t");
    }

    receiver.behave(Behaviour::status(204));
    let replayed = world.post(&format!("{}/replay", path_of(&hook, &entry)), &Value::Null).await.data(202);
    assert_eq!((text(&replayed["status"]), replayed["id"] == entry["id"]), ("pending", true));
    let got = receiver.wait_for(11).await;
    assert_eq!(got[10].json()["id"], *event);
    world.advance(0).await;
    let done = world.data(&path_of(&hook, &entry)).await;
    done.shows(json!({"status": "succeeded", "nextAttemptAt": null}));
    assert_eq!(statuses(&done).len(), 11);
    assert_eq!((&done["deliveredAt"], &statuses(&done)[10]), (&json!(world.now().await), &json!(204)));
    assert_eq!(done["payload"], got[10].json());
}

#[tokio::test]
async fn a_replay_that_fails_is_retried_for_another_day() {
    let world = World::bare().await;
    let receiver = Receiver::ok().await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    world.trigger("call.completed").await;
    receiver.wait_for(1).await;
    world.advance(3 * 24 * HOUR).await;
    receiver.behave(Behaviour::status(503));
    let entry = log(&world, &hook).await.remove(0);
    assert_eq!(text(&entry["status"]), "succeeded");
    world.post(&format!("{}/replay", path_of(&hook, &entry)), &Value::Null).await.expect(202);
    world.advance(31).await;
    assert_eq!(receiver.got().len(), 3);
    receiver.behave(Behaviour::status(200));
    world.advance(120).await;
    let entry = log(&world, &hook).await.remove(0);
    entry.shows(json!({"status": "succeeded"}));
    assert_eq!(statuses(&entry), vec![json!(200), json!(503), json!(503), json!(200)]);
}

#[tokio::test]
async fn only_2xx_counts() {
    let world = World::bare().await;
    let elsewhere = Receiver::ok().await;
    let receiver = Receiver::ok().await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    for (status, expected) in [
        (200, "succeeded"),
        (201, "succeeded"),
        (299, "succeeded"),
        (301, "pending"),
        (302, "pending"),
        (307, "pending"),
        (400, "pending"),
        (410, "pending"),
        (503, "pending"),
    ] {
        let behaviour = if (300..400).contains(&status) {
            Behaviour::Answer(format!(
                "HTTP/1.1 {status} Moved\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
                elsewhere.url
            ))
        } else {
            Behaviour::status(status)
        };
        receiver.behave(behaviour);
        world.trigger("call.completed").await;
        world.advance(1).await;
        let entry = log(&world, &hook).await.remove(0);
        assert_eq!((text(&entry["status"]), statuses(&entry)), (expected, vec![json!(status)]));
        assert_eq!(entry["attempts"][0]["error"].is_null(), expected == "succeeded");
    }
    assert!(elsewhere.got().is_empty(), "redirects are not followed");
}

#[tokio::test(flavor = "multi_thread")]
async fn receivers_that_misbehave() {
    let world = World::bare().await;
    let mut hooks = Vec::new();
    for (name, behaviour) in [
        ("hang", Behaviour::Hang),
        ("close", Behaviour::Close),
        ("endless", Behaviour::Endless),
        ("drip", Behaviour::Drip),
        ("cut short", Behaviour::CutShort),
        ("no http", Behaviour::Answer("hello\r\n\r\n".into())),
    ] {
        let receiver = Receiver::start(behaviour).await;
        hooks.push((name, world.endpoint(json!({"url": receiver.url})).await, receiver));
    }
    let refused = world.endpoint(json!({"url": nobody()})).await;
    let event = world.trigger("call.completed").await;
    for (name, hook, _) in &hooks {
        let path = format!("/v1/webhooks/{}/deliveries", text(&hook["id"]));
        let page = world
            .app
            .until(world.live(), &path, |page| {
                !page["data"][0]["attempts"].as_array().is_none_or(Vec::is_empty)
            })
            .await;
        let entry = &page["data"][0];
        let error = entry["attempts"][0]["error"].as_str().unwrap_or("none").to_owned();
        let expected = match *name {
            "hang" => ("pending", json!(null), "the time was up while waiting for the answer"),
            "close" => ("pending", json!(null), "the connection was closed while waiting for the answer"),
            // The status came in time; the rest of the answer does not count.
            "endless" => ("succeeded", json!(200), "none"),
            "drip" => ("pending", json!(200), "the time was up while reading the body of a 200 answer"),
            "cut short" => {
                ("pending", json!(200), "the connection was closed while reading the body of a 200 answer")
            }
            _ => ("pending", json!(null), "the answer is not valid HTTP"),
        };
        assert_eq!(
            (text(&entry["status"]), &entry["attempts"][0]["status"], error.as_str()),
            (expected.0, &expected.1, expected.2),
            "{name}"
        );
    }
    let page = world.get(&format!("/v1/webhooks/{}/deliveries", text(&refused["id"]))).await;
    assert_eq!(text(&page["data"][0]["attempts"][0]["error"]), "the connection failed: connection refused");
    // Every receiver that failed gets the same event again.
    for (_, _, receiver) in &hooks {
        receiver.behave(Behaviour::status(200));
    }
    world.advance(60).await;
    for (name, _, receiver) in &hooks {
        let got = receiver.wait_for(if *name == "endless" { 1 } else { 2 }).await;
        assert!(got.iter().all(|request| request.json()["id"] == *event), "{name}");
    }
}

/// An address where nobody listens.
fn nobody() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    format!("http://{}", listener.local_addr().expect("an address"))
}

#[tokio::test]
async fn private_addresses_get_nothing_once_insecure_is_off() {
    let world = World::bare().await;
    let receiver = Receiver::start(Behaviour::status(500)).await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    world.trigger("call.completed").await;
    receiver.wait_for(1).await;
    world.advance(0).await;
    let world = world.restart_with(|config| config.allow_insecure_webhooks = false).await;
    world.advance(60).await;
    let entry = log(&world, &hook).await.remove(0);
    assert_eq!(text(&entry["attempts"][1]["error"]), "the URL must start with https://");
    assert_eq!(receiver.got().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_receivers_delay_nobody() {
    let world = World::bare().await;
    let mut dead = Vec::new();
    for _ in 0..10 {
        let receiver = Receiver::start(Behaviour::Hang).await;
        world.endpoint(json!({"url": receiver.url})).await;
        dead.push(receiver);
    }
    let healthy = Receiver::ok().await;
    world.endpoint(json!({"url": healthy.url})).await;
    let mut events = Vec::new();
    for _ in 0..100 {
        events.push(world.trigger("call.completed").await);
    }
    // All arrive while the dead ones still hold on to their first requests.
    let got = healthy.wait_for(100).await;
    let mut arrived: Vec<String> = got.iter().map(|got| text(&got.json()["id"]).to_owned()).collect();
    arrived.sort();
    events.sort();
    assert_eq!(arrived, events);
    for receiver in &dead {
        receiver.wait_for(1).await;
        assert!(receiver.got().len() <= 8, "{}", receiver.got().len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_is_delivered_when_its_receiver_recovers() {
    let world = World::bare().await;
    let receiver = Receiver::start(Behaviour::status(500)).await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    let mut events = std::collections::BTreeSet::new();
    for _ in 0..300 {
        events.insert(world.trigger("call.completed").await);
    }
    world.advance(0).await;
    let before = receiver.got().len();
    receiver.behave(Behaviour::status(200));
    world.advance(60).await;
    let arrived: std::collections::BTreeSet<String> =
        receiver.got()[before..].iter().map(|got| text(&got.json()["id"]).to_owned()).collect();
    assert_eq!(arrived, events);
    let page = world.get(&format!("/v1/webhooks/{}/deliveries?status=pending", text(&hook["id"]))).await;
    assert_eq!(page["data"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ordered_stop_loses_nothing() {
    let world = World::bare().await;
    let receiver = Receiver::start(Behaviour::status(500)).await;
    world.endpoint(json!({"url": receiver.url})).await;
    let mut events = std::collections::BTreeSet::new();
    for _ in 0..50 {
        events.insert(world.trigger("call.completed").await);
    }
    let world = world.restart().await;
    receiver.behave(Behaviour::status(200));
    let before = receiver.got().len();
    world.advance(120).await;
    let arrived: std::collections::BTreeSet<String> =
        receiver.got()[before..].iter().map(|got| text(&got.json()["id"]).to_owned()).collect();
    assert_eq!(arrived, events);
}

#[test]
fn a_crash_in_the_middle_loses_nothing() {
    let (crashing, after) =
        (tokio::runtime::Runtime::new().unwrap(), tokio::runtime::Runtime::new().unwrap());
    let receiver = after.block_on(Receiver::start(Behaviour::Hang));
    let url = receiver.url.clone();
    let (world, hook, events) = crashing.block_on(async move {
        let world = World::bare().await;
        let hook = world.endpoint(json!({"url": url})).await;
        let mut events = std::collections::BTreeSet::new();
        for _ in 0..50 {
            events.insert(world.trigger("call.completed").await);
        }
        (world, hook, events)
    });
    // Some attempts are under way, the others wait in memory.
    after.block_on(receiver.wait_for(1));
    let left = world.crash(crashing);
    receiver.behave(Behaviour::status(200));
    let before = receiver.got().len();
    after.block_on(async move {
        let world = left.start().await;
        // Leases of a dead node end; on the embedded store nobody else can hold any.
        world.advance(61).await;
        let arrived: std::collections::BTreeSet<String> =
            receiver.got()[before..].iter().map(|got| text(&got.json()["id"]).to_owned()).collect();
        assert_eq!(arrived, events);
        let entries = log(&world, &hook).await;
        assert!(entries.len() == 50 && entries.iter().all(|entry| entry["status"] == "succeeded"));
    });
}

#[tokio::test]
async fn a_disabled_endpoint_receives_nothing_and_its_pending_deliveries_stop() {
    let world = World::bare().await;
    let receiver = Receiver::start(Behaviour::status(500)).await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    let path = format!("/v1/webhooks/{}", text(&hook["id"]));
    world.trigger("call.completed").await;
    world.advance(1).await;
    world.patch(&path, &json!({"status": "disabled"})).await.expect(200);
    world.trigger("call.completed").await;
    world.advance(2 * 24 * HOUR).await;
    assert_eq!(receiver.got().len(), 1);
    let entries = log(&world, &hook).await;
    assert_eq!(entries.len(), 1);
    entries[0].shows(json!({"status": "failed", "nextAttemptAt": null}));
    assert_eq!(text(&entries[0]["attempts"][1]["error"]), "not attempted: the endpoint is disabled");
    world.post(&format!("{}/replay", path_of(&hook, &entries[0])), &Value::Null).await.conflict();
    // Active again, it receives what happens from then on, and what is replayed.
    world.patch(&path, &json!({"status": "active"})).await.expect(200);
    receiver.behave(Behaviour::status(200));
    world.post(&format!("{}/replay", path_of(&hook, &entries[0])), &Value::Null).await.expect(202);
    receiver.wait_for(2).await;
    world.trigger("call.completed").await;
    receiver.wait_for(3).await;
}

#[tokio::test]
async fn a_deleted_endpoint_receives_nothing() {
    let world = World::bare().await;
    let receiver = Receiver::start(Behaviour::status(500)).await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    world.trigger("call.completed").await;
    world.advance(1).await;
    world.delete(&format!("/v1/webhooks/{}", text(&hook["id"]))).await.expect(200);
    world.trigger("call.completed").await;
    world.advance(2 * 24 * HOUR).await;
    assert_eq!(receiver.got().len(), 1);
    let due = world.stored(store::deliveries::next_due).await;
    assert_eq!(due, None, "nothing is left to be done");
}

#[tokio::test]
async fn after_an_erasure_payloads_are_empty_and_cannot_be_replayed() {
    use api::events::calls::CallData;
    use dastak::app::deliveries::redact;
    use dastak::app::events::{Event, NewEvent, emit};
    use domain::tenant::Mode;

    const ERASED: &str = "con_00000000000000000000000001";
    const OTHER: &str = "con_00000000000000000000000002";
    let world = World::bare().await;
    let (well, ill) = (Receiver::ok().await, Receiver::start(Behaviour::status(500)).await);
    let delivered = world.endpoint(json!({"url": well.url})).await;
    let pending = world.endpoint(json!({"url": ill.url})).await;
    let (inner, tenant) = (world.app().clone(), world.tenant());
    for contact in [ERASED, OTHER] {
        let context = inner.context();
        let contact_id = Some(contact.parse().expect("an id"));
        let event = Event::CallCompleted(CallData { contact_id, ..CallData::completed() });
        let event = NewEvent { event, mode: Mode::Live, agent: None, contact: Some(contact) };
        inner.store.of(tenant).tx(move |tx| emit(tx, &context, event.clone())).await.unwrap();
        world.advance(1).await;
    }
    let erase = async || {
        let context = inner.context();
        let work = move |tx: &mut store::Tx<'_>| {
            let events = store::erasure::events_of_subject(&mut tx.of(tenant), ERASED, "", 10)?;
            redact(&mut tx.of(tenant), &context, &events)
        };
        inner.store.tx(work).await.unwrap()
    };
    assert_eq!(erase().await, 2);
    let entries = log(&world, &delivered).await;
    entries[1].shows(json!({"payload": null}));
    entries[0].shows(json!({"payload.data.contactId": OTHER}));
    assert_eq!(entries[0]["payload"]["livemode"], true);
    world
        .post(&format!("{}/replay", path_of(&delivered, &entries[1])), &Value::Null)
        .await
        .refused(409, "delivery_redacted");
    world.post(&format!("{}/replay", path_of(&delivered, &entries[0])), &Value::Null).await.expect(202);
    // Pending deliveries are given up; those about the other person go on.
    let before = ill.got().len();
    world.advance(24 * HOUR).await;
    assert!(ill.got()[before..].iter().all(|got| got.json()["data"]["contactId"] == OTHER));
    let entry = log(&world, &pending).await.remove(1);
    assert_eq!((text(&entry["status"]), &entry["payload"]), ("failed", &Value::Null));
    assert_eq!(
        text(&entry["attempts"].as_array().unwrap().last().unwrap()["error"]),
        "not attempted: the payload was emptied because the person was erased"
    );
    world
        .post(&format!("{}/replay", path_of(&pending, &entry)), &Value::Null)
        .await
        .refused(409, "delivery_redacted");
    assert_eq!(erase().await, 0, "a repeat changes nothing");
}

#[tokio::test]
async fn the_log_pages_and_filters() {
    let world = World::bare().await;
    let receiver = Receiver::ok().await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    let path = format!("/v1/webhooks/{}/deliveries", text(&hook["id"]));
    let mut events = Vec::new();
    for number in 0..12 {
        let ill = number % 3 == 0;
        receiver.behave(Behaviour::status(if ill { 500 } else { 200 }));
        events.push(world.trigger(if number % 2 == 0 { "call.started" } else { "call.failed" }).await);
        receiver.wait_for(number + 1).await;
        world.advance(0).await;
    }
    let pages = async |filter: &str| {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = world.get(&format!("{path}?limit=3{filter}{cursor}")).await;
            let rows = page["data"].as_array().unwrap();
            assert!(rows.len() <= 3);
            found.extend(rows.iter().map(|row| text(&row["eventId"]).to_owned()));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return found,
            }
        }
    };
    let expected = |keep: &dyn Fn(usize) -> bool| {
        events
            .iter()
            .enumerate()
            .filter(|(number, _)| keep(*number))
            .map(|(_, event)| event.clone())
            .rev()
            .collect::<Vec<_>>()
    };
    assert_eq!(pages("").await, expected(&|_| true));
    assert_eq!(pages("&status=pending").await, expected(&|number| number % 3 == 0));
    assert_eq!(
        pages("&status=succeeded&event=call.failed").await,
        expected(&|number| number % 3 != 0 && number % 2 == 1)
    );
    assert_eq!(pages("&status=failed").await, Vec::<String>::new());
    world.advance(2 * 24 * HOUR).await;
    // The receiver is well again since the last event.
    assert_eq!(pages("&status=succeeded").await, expected(&|_| true));
    world.fetch(&format!("{path}?cursor=rubbish")).await.refused(400, "invalid_cursor");
    world.fetch(&format!("{path}?status=lost")).await.invalid();
    world.fetch(&format!("{path}?event=call.begun")).await.invalid();
    world.fetch(&format!("{path}/whd_00000000000000000000000000")).await.not_found();
    world.post(&format!("{path}/whd_00000000000000000000000000/replay"), &Value::Null).await.not_found();
}

/// On PostgreSQL the outbox and the log are kept in weeks: half a year goes by, and the tables stay small.
#[tokio::test]
async fn weeks_come_and_go_on_postgres() {
    use store::partitions::{AHEAD, PartitionedTable, warnings, week_of};
    crate::app::needs_postgres();
    let world = World::bare().await;
    let receiver = Receiver::ok().await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    let mut made = Vec::new();
    for week in 0..26 {
        made.push(world.trigger("call.started").await);
        receiver.wait_for(week + 1).await;
        world.advance(7 * 24 * HOUR).await;
    }
    let now = world.app().clock.now();
    for table in PartitionedTable::ALL {
        let parts = world.stored(move |tx| store::partitions::list(tx, table)).await;
        // Those of the last 30 days, the present one, those to come, and the rest, which is empty.
        let oldest = week_of(now.plus(-30 * 24 * 3_600_000));
        assert_eq!(parts[0].span.as_ref().unwrap().start, oldest, "{parts:?}");
        let weeks = (week_of(now).0 - oldest.0) / store::partitions::WEEK + 1 + AHEAD;
        assert_eq!(parts.len() as i64, weeks + 1, "{parts:?}");
        let singly = world.stored(move |tx| store::partitions::swept_by_row(tx, table)).await;
        assert!(singly.is_empty(), "{singly:?}");
    }
    assert!(world.stored(move |tx| warnings(tx, now)).await.is_empty());
    // What is younger than 30 days is shown, newest first and across weeks; the rest is not, although its week is there.
    let entries = log(&world, &hook).await;
    let seen: Vec<&str> = entries.iter().map(|entry| text(&entry["eventId"])).collect();
    assert_eq!(seen, made.iter().rev().take(4).collect::<Vec<_>>());
    let events = world.get("/v1/events?after=start").await;
    assert_eq!(events["data"].as_array().unwrap().len(), 4);
    let kept = world.stored(|tx| tx.one::<i64>("select count(*) from events", &[])).await;
    // It depends on the day of the week whether a fifth one is there.
    let oldest = week_of(now.plus(-30 * 24 * 3_600_000));
    let there =
        (1..=26_i64).filter(|weeks| week_of(now.plus(-weeks * store::partitions::WEEK)) >= oldest).count();
    assert!(kept.is_some_and(|rows| rows >= there as i64), "{kept:?}, {there}");
}

#[tokio::test]
async fn events_and_their_log_are_kept_for_thirty_days() {
    let world = World::bare().await;
    let receiver = Receiver::ok().await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    let deleted = world.endpoint(json!({"url": receiver.url})).await;
    world.trigger("call.started").await;
    receiver.wait_for(2).await;
    world.delete(&format!("/v1/webhooks/{}", text(&deleted["id"]))).await.expect(200);
    world.advance(15 * 24 * HOUR).await;
    let kept = world.trigger("call.failed").await;
    receiver.wait_for(3).await;
    assert_eq!(log(&world, &hook).await.len(), 2);
    world.advance(16 * 24 * HOUR).await;
    let entries = log(&world, &hook).await;
    assert_eq!((entries.len(), &entries[0]["eventId"]), (1, &json!(kept)));
    let events = world.get("/v1/events?after=start").await;
    assert_eq!((events["data"].as_array().unwrap().len(), &events["cursor"]), (1, &json!(kept)));
    let left = world.stored(|tx| store::webhooks::page_of_all(tx, "", 10)).await;
    assert_eq!(left.len(), 1, "the deleted endpoint is forgotten");
}

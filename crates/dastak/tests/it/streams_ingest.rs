//! Sending records to a stream, and reading them back (docs/contract/streams.md#sending-records).

use bytes::Bytes;
use serde_json::{Value, json};

use crate::receiver::Receiver;
use crate::shows::Shows;
use crate::streams::{path, send};
use crate::world::World;

async fn records(world: &World, stream: &Value) -> Vec<Value> {
    world.list(&format!("{}/records?limit=200", path(stream))).await
}

fn statuses(answer: &Value) -> Vec<&str> {
    answer["data"]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["status"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn the_answer_says_what_became_of_each_record() {
    let world = World::bare().await;
    let made = world.webhook_stream().await;
    let body = json!([
        {"name": "Asha", "phone": "98123 45678", "city": "Pune"},
        {"name": "No number"},
        {"phone": "12345"},
        {"phone": "+1 202 555 0100"},
        {"full_name": "The same", "mobile": "+91-9812345678"},
        {"phone": "9812345679"},
    ]);
    let answer = send(&world, &made, &body).await.expect(202);
    let results = answer["data"]["results"].as_array().unwrap();
    let ids: Vec<&str> = results.iter().map(|result| result["recordId"].as_str().unwrap()).collect();
    assert!(ids.iter().all(|id| id.starts_with("dsr_")));
    assert_eq!(
        answer["data"],
        json!({"received": 6, "accepted": 2, "invalid": 3, "duplicate": 1, "queued": 0, "results": [
            {"index": 0, "status": "accepted", "recordId": ids[0]},
            {"index": 1, "status": "invalid", "recordId": ids[1], "reason": "no_phone"},
            {"index": 2, "status": "invalid", "recordId": ids[2], "reason": "invalid_phone"},
            {"index": 3, "status": "invalid", "recordId": ids[3], "reason": "not_indian"},
            {"index": 4, "status": "duplicate", "recordId": ids[0]},
            {"index": 5, "status": "accepted", "recordId": ids[5]},
        ]})
    );
    let kept = records(&world, &made).await;
    assert_eq!(
        kept.iter().map(|record| record["id"].as_str().unwrap()).collect::<Vec<_>>(),
        [ids[5], ids[3], ids[2], ids[1], ids[0]]
    );
    assert_eq!(
        kept[4],
        json!({"id": ids[0], "status": "accepted", "reason": null, "externalId": null, "phone": "+919812345678", "name": "Asha",
            "payload": {"name": "Asha", "phone": "98123 45678", "city": "Pune"}, "campaigns": [], "receivedAt": kept[4]["receivedAt"]})
    );
    kept[2].shows(json!({"phone": "12345", "reason": "invalid_phone"}));
    kept[3].shows(json!({"phone": null}));
}

#[tokio::test]
async fn one_object_a_list_or_records_with_a_key_or_a_token() {
    let world = World::bare().await;
    let (made, own) =
        (world.webhook_stream().await, world.stream(&json!({"name": "x", "kind": "api"})).await);
    for (at, body) in [
        json!({"phone": "9812345671"}),
        json!([{"phone": "9812345672"}]),
        json!({"records": [{"phone": "9812345673"}], "x": 1}),
        json!([]),
        json!({"records": []}),
    ]
    .iter()
    .enumerate()
    {
        let expected = usize::from(at < 3);
        for (name, answer) in [
            ("with its token", send(&world, &made, body).await),
            ("with a key", world.post(&format!("{}/records", path(&own)), body).await),
        ] {
            let answer = answer.expect(202);
            assert_eq!(
                (&answer["data"]["received"], &answer["data"]["accepted"]),
                (&json!(expected), &json!(expected)),
                "{body} {name}"
            );
        }
    }
    // A webhook stream takes pushes with a key, too, and its token in the query.
    world.post(&format!("{}/records", path(&made)), &json!({"phone": "9812345674"})).await.expect(202);
    let (id, token) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let body = Bytes::from(json!({"phone": "9812345675"}).to_string());
    let answer = world
        .app
        .send("POST", &format!("/ingest/streams/{id}?token={token}"), None, &[], body.clone())
        .await
        .expect(202);
    assert_eq!(statuses(&answer), ["accepted"]);
    // A stream without a token cannot be sent to with one, and a key is none.
    for token in [Some(token), Some(world.workspace.live.as_str()), None] {
        let path = format!("/ingest/streams/{}", own["id"].as_str().unwrap());
        world.send("POST", &path, token, &[], body.clone()).await.refused(401, "unauthorized");
    }
}

#[tokio::test]
async fn bodies_that_are_no_records_change_nothing() {
    let world = World::bare().await;
    let made = world.webhook_stream().await;
    let to = format!("/ingest/streams/{}", made["id"].as_str().unwrap());
    let many = Value::Array((0..501).map(|number| json!({"phone": format!("98{number:08}")})).collect());
    for (body, code) in [
        ("5".to_owned(), "invalid_request"),
        ("null".to_owned(), "invalid_request"),
        ("[{\"phone\": \"9812345678\"}, 5]".to_owned(), "invalid_request"),
        ("{\"records\": [[]]}".to_owned(), "invalid_request"),
        (many.to_string(), "invalid_request"),
        ("{\"phone\": ".to_owned(), "malformed_json"),
        ("phone=9812345678".to_owned(), "malformed_json"),
        (String::new(), "malformed_json"),
    ] {
        world.send("POST", &to, made["token"].as_str(), &[], body.clone().into()).await.refused(400, code);
        world
            .send("POST", &format!("{}/records", path(&made)), Some(world.live()), &[], body.into())
            .await
            .refused(400, code);
    }
    let large = Bytes::from(vec![b' '; 5 * 1024 * 1024 + 1]);
    world.send("POST", &to, made["token"].as_str(), &[], large).await.refused(413, "payload_too_large");
    assert_eq!(records(&world, &made).await, Vec::<Value>::new());
    let full = Value::Array((0..500).map(|number| json!({"phone": format!("98{number:08}")})).collect());
    assert_eq!(send(&world, &made, &full).await.expect(202)["data"]["accepted"], 500);
}

#[tokio::test]
async fn paused_suspended_and_unknown() {
    let world = World::bare().await;
    let made = world.webhook_stream().await;
    let body = json!({"phone": "9812345678"});
    world.patch(&path(&made), &json!({"status": "paused"})).await.expect(200);
    send(&world, &made, &body).await.refused(409, "stream_paused");
    world.post(&format!("{}/records", path(&made)), &body).await.refused(409, "stream_paused");
    world.patch(&path(&made), &json!({"status": "active"})).await.expect(200);
    let suspended = |on: bool| json!({"suspended": on});
    world.change(&suspended(true)).await;
    send(&world, &made, &body).await.refused(403, "workspace_suspended");
    world.change(&suspended(false)).await;
    let unknown = json!({"id": "dst_00000000000000000000000000", "token": made["token"]});
    send(&world, &unknown, &body).await.refused(401, "unauthorized");
    let nothing = json!({"id": "nothing", "token": made["token"]});
    send(&world, &nothing, &body).await.refused(401, "unauthorized");
    send(&world, &made, &body).await.expect(202);
}

/// Somebody who tries tokens waits, and who has the right one goes on.
#[tokio::test]
async fn tokens_cannot_be_tried_out() {
    let world = World::bare().await;
    let made = world.webhook_stream().await;
    send(&world, &made, &json!({"phone": "9812345678"})).await.expect(202);
    let wrong = json!({"id": made["id"], "token": "dsk_wrong"});
    let mut refused = 0;
    for _ in 0..40 {
        let answer = send(&world, &wrong, &json!({})).await;
        if answer.status == 429 {
            assert!((1..=60).contains(&answer.header("retry-after").unwrap().parse::<i64>().unwrap()));
            refused += 1;
        } else {
            answer.refused(401, "unauthorized");
        }
    }
    assert_eq!(refused, 20);
    send(&world, &made, &json!({"phone": "9812345679"})).await.expect(202);
}

#[tokio::test]
async fn a_stream_takes_six_hundred_requests_a_minute() {
    let world = World::bare().await;
    // Early in a minute, so that all of it fits.
    world.sleep_until("2030-01-07T06:30:00Z").await;
    let (made, other) = (world.webhook_stream().await, world.webhook_stream().await);
    for number in 0..600 {
        let answer = send(&world, &made, &json!([])).await;
        assert_eq!(answer.header("x-ratelimit-remaining"), Some(&*(599 - number).to_string()));
        answer.expect(202);
    }
    let answer = send(&world, &made, &json!([])).await;
    assert_eq!((answer.header("x-ratelimit-limit"), answer.header("retry-after")), (Some("600"), Some("60")));
    answer.refused(429, "rate_limited");
    world.post(&format!("{}/records", path(&made)), &json!([])).await.refused(429, "rate_limited");
    send(&world, &other, &json!([])).await.expect(202);
    world.advance(60).await;
    send(&world, &made, &json!([])).await.expect(202);
}

#[tokio::test]
async fn the_streams_of_a_workspace_take_three_thousand_requests_a_minute() {
    let world = World::bare().await;
    world.sleep_until("2030-01-07T06:30:00Z").await;
    let tenant = world.tenant();
    let streams = [world.webhook_stream().await, world.webhook_stream().await];
    // As if others had sent what is missing of it.
    let now = world.app().clock.now();
    for _ in 0..2_999 {
        let classes = vec![("streams".to_owned(), 3_000)];
        dastak::app::limits::rates::take(world.app(), tenant, classes, now).await.1.unwrap();
    }
    send(&world, &streams[0], &json!([])).await.expect(202);
    let refused = send(&world, &streams[1], &json!([])).await;
    assert_eq!(refused.header("x-ratelimit-limit"), Some("3000"));
    refused.refused(429, "rate_limited");
    world.advance(60).await;
    send(&world, &streams[1], &json!([])).await.expect(202);
}

#[tokio::test]
async fn a_record_that_comes_again_changes_nothing() {
    let world = World::bare().await;
    let made = world
        .stream(&json!({"name": "Orders", "kind": "webhook", "fieldMap": {"externalId": "order.id"}}))
        .await;
    let first = send(&world, &made, &json!({"order": {"id": 1}, "phone": "9812345678", "name": "Asha"}))
        .await
        .expect(202);
    let record = first["data"]["results"][0]["recordId"].clone();
    for again in [
        json!({"order": {"id": 1}, "phone": "9812345678", "name": "Asha"}),
        // The id tells, not the number.
        json!({"order": {"id": "1"}, "phone": "9812345679", "name": "Other"}),
        json!({"order": {"id": 1}}),
    ] {
        let answer = send(&world, &made, &again).await.expect(202);
        assert_eq!(
            (statuses(&answer), &answer["data"]["results"][0]["recordId"]),
            (vec!["duplicate"], &record),
            "{again}"
        );
    }
    // Another order of the same person is another record; without an order it is the number that tells.
    for (body, status) in [
        (json!({"order": {"id": 2}, "phone": "9812345678"}), "accepted"),
        (json!({"phone": "9812345678"}), "accepted"),
        (json!({"phone": "098123 45678"}), "duplicate"),
        (json!([{"order": {"id": 3}}, {"order": {"id": 3}}]), "invalid"),
    ] {
        assert_eq!(statuses(&send(&world, &made, &body).await.expect(202))[0], status, "{body}");
    }
    let kept = records(&world, &made).await;
    assert_eq!(
        kept.iter().map(|record| record["externalId"].as_str().unwrap_or("-")).collect::<Vec<_>>(),
        ["3", "-", "2", "1"]
    );
    assert_eq!(kept[3]["name"], "Asha");
    // Another stream has records of its own.
    let other = world.webhook_stream().await;
    assert_eq!(
        statuses(&send(&world, &other, &json!({"phone": "9812345678"})).await.expect(202)),
        ["accepted"]
    );
}

/// A record that could not be called is the same record when it comes again, and is taken once it can.
#[tokio::test]
async fn an_invalid_record_can_be_mended() {
    let world = World::bare().await;
    let made =
        world.stream(&json!({"name": "Orders", "kind": "webhook", "fieldMap": {"externalId": "id"}})).await;
    let bad = json!({"id": "a", "phone": "12"});
    assert_eq!(statuses(&send(&world, &made, &bad).await.expect(202)), ["invalid"]);
    assert_eq!(statuses(&send(&world, &made, &bad).await.expect(202)), ["duplicate"]);
    let good = json!({"id": "a", "phone": "9812345678"});
    let mended = send(&world, &made, &good).await.expect(202);
    assert_eq!(statuses(&mended), ["accepted"]);
    assert_eq!(statuses(&send(&world, &made, &bad).await.expect(202)), ["duplicate"]);
    let kept = records(&world, &made).await;
    assert_eq!(kept.len(), 1);
    kept[0].shows(json!({"id": mended["data"]["results"][0]["recordId"], "phone": "+919812345678"}));
    // In one request, too.
    let both = send(&world, &made, &json!([{"id": "b"}, {"id": "b", "phone": "9812345679"}, {"id": "b"}]))
        .await
        .expect(202);
    assert_eq!(statuses(&both), ["invalid", "accepted", "duplicate"]);
    assert_eq!(records(&world, &made).await.len(), 2);
}

#[tokio::test]
async fn fields_are_flat_and_bounded() {
    let world = World::bare().await;
    let made = world.stream(&json!({"name": "x", "kind": "webhook", "fieldMap": {"phone": "lead.tel", "name": "lead.called"}}),
    )
    .await;
    let mut wide = json!({"lead": {"tel": "9812345671", "called": "Asha"}});
    for number in 0..150 {
        wide[format!("f{number:03}")] = json!(number);
    }
    let mut late = json!({});
    for number in 0..150 {
        late[format!("f{number:03}")] = json!(number);
    }
    late["lead"] = json!({"tel": "9812345672"});
    let deep = json!({"lead": {"tel": "9812345673"}, "a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": [1, {"j": null}]}, "k": 1}}}}}}}, "tags": ["x", "y"]});
    let answer = send(
        &world,
        &made,
        &json!([wide, late, deep, {"lead.tel": "9812345674", "note": "x".repeat(70_000)}]),
    )
    .await
    .expect(202);
    assert_eq!(statuses(&answer), ["accepted", "invalid", "accepted", "accepted"]);
    assert_eq!(answer["data"]["results"][1]["reason"], "too_many_fields");
    let kept = records(&world, &made).await;
    let payload = |at: usize| kept[3 - at]["payload"].as_object().unwrap().clone();
    assert_eq!(
        (
            payload(0).len(),
            &payload(0)["lead.called"],
            payload(0).contains_key("f097"),
            payload(0).contains_key("f098")
        ),
        (100, &json!("Asha"), true, false)
    );
    assert_eq!((payload(1).len(), kept[2]["status"].as_str()), (100, Some("invalid")));
    assert_eq!(
        Value::Object(payload(2)),
        json!({"lead.tel": "9812345673", "a.b.c.d.e.f.g.h": "{\"i\":[1,{\"j\":null}]}", "a.b.c.d.e.f.g.k": 1, "tags": "[\"x\",\"y\"]"})
    );
    assert_eq!(Value::Object(payload(3)), json!({"lead.tel": "9812345674"}), "what is too long is left out");
}

#[tokio::test]
async fn records_page_to_their_end() {
    let world = World::bare().await;
    let (made, other) = (world.webhook_stream().await, world.webhook_stream().await);
    let body = Value::Array((0..60).map(|number| json!({"phone": format!("98{number:08}")})).collect());
    send(&world, &made, &body).await.expect(202);
    send(&world, &other, &body).await.expect(202);
    let (mut seen, mut before, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = world.get(&format!("{}/records?limit=25{before}", path(&made))).await;
        seen.extend(
            page["data"].as_array().unwrap().iter().map(|record| record["id"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        // What arrives meanwhile shows on the first page only.
        send(&world, &made, &json!({"phone": format!("97{pages:08}")})).await.expect(202);
        match page["nextBefore"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    let mut sorted = seen.clone();
    sorted.sort_by(|one, another| another.cmp(one));
    sorted.dedup();
    assert_eq!((seen.len(), pages, &seen), (60, 3, &sorted));
    let default = world.get(&format!("{}/records", path(&made))).await;
    assert_eq!(default["data"].as_array().unwrap().len(), 50);
    let foreign = world.get(&format!("{}/records?limit=1", path(&other))).await["nextBefore"]
        .as_str()
        .unwrap()
        .to_owned();
    for wrong in ["x", &foreign, seen[0].as_str()] {
        world.fetch(&format!("{}/records?before={wrong}", path(&made))).await.refused(400, "invalid_cursor");
    }
    for wrong in ["limit=0", "limit=201", "limit=x"] {
        world.fetch(&format!("{}/records?{wrong}", path(&made))).await.invalid();
    }
}

#[tokio::test]
async fn what_cannot_be_called_is_told_once() {
    let world = World::bare().await;
    let receiver = Receiver::ok().await;
    world.post("/v1/webhooks", &json!({"url": receiver.url})).await.expect(201);
    let made = world.webhook_stream().await;
    let body = json!([{"name": "Asha", "lead": {"city": "Pune"}}, {"phone": "+12025550100"}, {"phone": "9812345678"}]);
    let answer = send(&world, &made, &body).await.expect(202);
    send(&world, &made, &json!({"phone": "+12025550100"})).await.expect(202);
    let events = world.list("/v1/events?after=start").await;
    let kept = records(&world, &made).await;
    let told: Vec<Value> = events
        .iter()
        .filter(|event| event["type"] == "stream.record_rejected")
        .map(|event| event["data"].clone())
        .collect();
    assert_eq!(
        told,
        [
            json!({"streamId": made["id"], "streamName": "Website leads", "recordId": answer["data"]["results"][0]["recordId"], "reason": "no_phone",
                "payload": {"name": "Asha", "lead.city": "Pune"}, "receivedAt": kept[2]["receivedAt"]}),
            json!({"streamId": made["id"], "streamName": "Website leads", "recordId": answer["data"]["results"][1]["recordId"], "reason": "not_indian",
                "payload": {"phone": "+12025550100"}, "receivedAt": kept[1]["receivedAt"]}),
        ]
    );
    assert!(events.iter().all(|event| event["livemode"] == true));
    world.advance(0).await;
    assert_eq!(receiver.got().len(), 2);
}

/// A webhook endpoint that leads back to the stream: what was rejected is told there once, and is no record again.
#[tokio::test]
async fn a_rejection_that_comes_back_does_not_go_round() {
    let world = World::bare().await;
    let made = world.webhook_stream().await;
    let (id, token) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let url = format!("{}/ingest/streams/{id}?token={token}", world.url);
    let endpoint = world.post("/v1/webhooks", &json!({"url": url})).await.expect(201);
    send(&world, &made, &json!({"name": "Asha"})).await.expect(202);
    world.advance(0).await;
    let deliveries = format!("/v1/webhooks/{}/deliveries", endpoint["data"]["id"].as_str().unwrap());
    let seen = world
        .until(world.live(), &deliveries, |page| !page["data"][0]["attempts"][0]["status"].is_null())
        .await;
    assert_eq!((&seen["data"][0]["attempts"][0]["status"], &seen["data"][1]), (&json!(400), &Value::Null));
    world.advance(60).await;
    assert_eq!(records(&world, &made).await.len(), 1);
    // Any other sender may have a field of that name.
    let names = [("x-service-event", "call.completed"), ("x-other-event", "stream.record_rejected")];
    for (number, header) in names.into_iter().enumerate() {
        let body = json!({"type": "stream.record_rejected", "phone": format!("981234560{number}")});
        let to = format!("/ingest/streams/{id}");
        let answer = world.post_with(token, &to, &[header], &body).await.expect(202);
        assert_eq!(answer["data"]["accepted"], 1);
    }
}

/// In one request, too, each is what it would be by itself.
#[tokio::test]
async fn of_records_of_one_identity_only_the_first_can_be_rejected() {
    let world = World::bare().await;
    let body = json!({"name": "Leads", "kind": "webhook", "fieldMap": {"externalId": "id"}});
    let made = world.stream(&body).await;
    let body = json!([
        {"id": 1, "phone": "x"}, {"id": 1, "phone": "y"}, {"id": 1, "phone": "9812345678"}, {"id": 1, "phone": "z"},
        {"id": 2, "phone": "9812345679"}, {"id": 2, "phone": "x"},
    ]);
    let answer = send(&world, &made, &body).await.expect(202);
    let results = answer["data"]["results"].as_array().unwrap().clone();
    let statuses: Vec<&Value> = results.iter().map(|result| &result["status"]).collect();
    assert_eq!(statuses, ["invalid", "duplicate", "accepted", "duplicate", "accepted", "duplicate"]);
    let events = world.get("/v1/events?after=start").await;
    let told = events["data"].as_array().unwrap().iter();
    assert_eq!(told.filter(|event| event["type"] == "stream.record_rejected").count(), 1);
}

#[tokio::test]
async fn local_numbers_of_another_country_are_not_called() {
    let world = World::bare().await;
    let made = world.stream(&json!({"name": "US", "kind": "webhook", "config": {"countryCode": "US"}})).await;
    let answer = send(&world, &made, &json!([{"phone": "2025550100"}, {"phone": "9812345678"}, {"phone": "+919812345678"}, {"phone": "x"}])).await.expect(202);
    let told: Vec<&Value> =
        answer["data"]["results"].as_array().unwrap().iter().map(|result| &result["reason"]).collect();
    assert_eq!(told, [&json!("not_indian"), &json!("not_indian"), &Value::Null, &json!("invalid_phone")]);
}

/// A change of the stream's settings holds for what comes after it.
#[tokio::test]
async fn settings_hold_for_what_comes_after() {
    let world = World::bare().await;
    let made = world.webhook_stream().await;
    let body =
        |number: i64| json!({"tel": format!("98123456{number}"), "phone": format!("97123456{number}")});
    send(&world, &made, &body(10)).await.expect(202);
    world.patch(&path(&made), &json!({"fieldMap": {"phone": "tel"}})).await.expect(200);
    send(&world, &made, &body(11)).await.expect(202);
    world.patch(&path(&made), &json!({"fieldMap": {"phone": null}})).await.expect(200);
    send(&world, &made, &body(12)).await.expect(202);
    let phones: Vec<String> = records(&world, &made)
        .await
        .iter()
        .map(|record| record["phone"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(phones, ["+919712345612", "+919812345611", "+919712345610"]);
}

/// Many senders of the same records at once: each is stored once.
#[tokio::test]
async fn the_same_records_at_the_same_moment_are_stored_once() {
    let world = std::sync::Arc::new(World::bare().await);
    let made = world.webhook_stream().await;
    let body = Value::Array((0..100).map(|number| json!({"phone": format!("98{number:08}")})).collect());
    let mut senders = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (world, made, body) = (world.clone(), made.clone(), body.clone());
        senders.spawn(async move { send(&world, &made, &body).await.data(202) });
    }
    let (mut accepted, mut duplicate) = (0, 0);
    while let Some(answer) = senders.join_next().await {
        let answer = answer.unwrap();
        accepted += answer["accepted"].as_i64().unwrap();
        duplicate += answer["duplicate"].as_i64().unwrap();
    }
    assert_eq!((accepted, duplicate, records(&world, &made).await.len()), (100, 700, 100));
}

#[tokio::test]
async fn numbers_as_programs_write_them() {
    let world = World::bare().await;
    let made = world.webhook_stream().await;
    let to = format!("/ingest/streams/{}", made["id"].as_str().unwrap());
    let marked = Bytes::from("\u{FEFF}{\"phone\": \"9812340001\"}");
    let answer = world.send("POST", &to, made["token"].as_str(), &[], marked).await.expect(202);
    assert_eq!(answer["data"]["accepted"], 1);
    let records = json!([
        {"phone": "981234567.0"},
        {"phone": 981_234_567.0},
        {"phone": "9812340002.0"},
        {"phone": 9_812_340_003.0},
        {"lead": {"phone": "+91\u{FE0D}98123 40004"}},
        {"Mobile No": "9812340005"},
        {"phone1": "9812340006", "phone2": "9812340007"},
        {"owner": {"phone": "9812340008"}},
    ]);
    let answer = send(&world, &made, &records).await.expect(202);
    let reason = |at: usize| answer["data"]["results"][at]["reason"].clone();
    assert_eq!((reason(0), reason(7)), (json!("invalid_phone"), json!("no_phone")));
    // Of the two that are written as one number the first is told of.
    assert_eq!(
        statuses(&answer),
        ["invalid", "invalid", "accepted", "accepted", "accepted", "accepted", "accepted", "invalid"]
    );
    let phones: Vec<Value> = records_phones(&world, &made).await;
    for phone in ["+919812340002", "+919812340003", "+919812340004", "+919812340005", "+919812340006"] {
        assert!(phones.contains(&json!(phone)), "{phone}: {phones:?}");
    }
}

async fn records_phones(world: &World, stream: &Value) -> Vec<Value> {
    records(world, stream).await.into_iter().map(|record| record["phone"].clone()).collect()
}

/// A token may stand in a page of the web: a stream stores so much on a day, and the streams of a workspace so much in all.
#[tokio::test]
async fn a_stream_stores_so_much_a_day_and_a_workspace_so_much_in_all() {
    let world = World::bare_with(|config| {
        config.limits.stream_bytes_per_day = 1 << 20;
        config.limits.stream_bytes_per_workspace = 2 << 20;
    })
    .await;
    let neighbour = world.neighbour().await;
    world.sleep_until("2030-01-07T23:00:00Z").await;
    let (one, two) = (world.webhook_stream().await, world.webhook_stream().await);
    let batch = |from: usize| {
        let record = |number| json!({"phone": format!("98{:08}", from + number), "note": "n".repeat(40_000)});
        (0..10).map(record).collect::<Value>()
    };
    send(&world, &one, &batch(0)).await.expect(202);
    // What is known already is stored no second time, and counts once.
    send(&world, &one, &batch(0)).await.expect(202);
    send(&world, &one, &batch(100)).await.expect(202);
    let full = send(&world, &one, &batch(200)).await;
    assert_eq!(full.header("retry-after"), Some("3600"));
    assert!(
        full.refused(429, "rate_limited")["error"].as_str().unwrap().contains("1 MB of records today (UTC)")
    );
    assert_eq!(records(&world, &one).await.len(), 20);
    // Another stream of the workspace has a day of its own, and the workspace has its bound over days.
    send(&world, &two, &batch(0)).await.expect(202);
    world.advance(3_600).await;
    send(&world, &one, &batch(300)).await.expect(202);
    world.advance(60).await;
    send(&world, &two, &batch(400)).await.expect(202);
    world.advance(60).await;
    let full = send(&world, &two, &batch(500)).await.refused(429, "rate_limited");
    assert!(full["error"].as_str().unwrap().contains("2 MB"), "{full}");
    let theirs = neighbour.webhook_stream().await;
    send(&world, &theirs, &batch(0)).await.expect(202);
}

//! Making, reading and cancelling nudges (docs/contract/nudges.md).

use serde_json::{Value, json};

use crate::holder::Holder;
use crate::shows::Shows;
use crate::world::{World, assert_nudge, id};

#[tokio::test]
async fn a_nudge_due_now_is_queued_and_shown_whole() {
    let world = World::monday().await;
    let more = json!({"externalRef": "order-7", "variables": {"name": "Asha", "due": 1200, "vip": true}, "metadata": {"a": 1, "b": null}});
    let made = world.nudge("98123 40001", &more).await;
    let from = world.get("/v1/numbers").await["data"][0]["number"].clone();
    let expected = json!({
        "id": made["id"], "agentId": world.agent, "status": "queued", "result": null, "statusReason": null, "blockReason": null,
        "toNumber": "+919812340001", "fromNumber": from, "externalRef": "order-7", "variables": {"name": "Asha", "due": "1200", "vip": "true"},
        "metadata": {"a": 1, "b": null}, "outsideWindow": "queue", "scheduledAt": null, "nextAttemptAt": "2027-03-01T06:30:00.000Z",
        "expiresAt": "2027-03-02T06:30:00.000Z", "retry": {"maxRetries": 0, "on": ["no_answer", "busy"], "delayMinutes": 30}, "attempts": 0,
        "callId": null, "livemode": true, "createdAt": "2027-03-01T06:30:00.000Z", "finishedAt": null,
    });
    assert_eq!(made, expected);
    assert!(id(&made).starts_with("ndg_"));
    world.app.get(world.test(), &format!("/v1/nudges/{}", id(&made))).await.not_found();
    world.fetch("/v1/nudges/ndg_1").await.not_found();
}

#[tokio::test]
async fn wrong_bodies_are_refused_and_name_the_field() {
    let world = World::monday().await;
    for (more, field) in [
        (json!({"toNumber": "12345"}), "toNumber"),
        (json!({"toNumber": "+14155550100"}), "toNumber"),
        (json!({"toNumber": 5}), "toNumber"),
        (json!({"agentId": ""}), "agentId"),
        (json!({"externalRef": ""}), "externalRef"),
        (json!({"externalRef": "x".repeat(121)}), "externalRef"),
        (json!({"scheduledAt": "2027-03-01T12:00:00"}), "scheduledAt"),
        (json!({"expiresAt": "soon"}), "expiresAt"),
        (json!({"outsideWindow": "wait"}), "outsideWindow"),
        (json!({"retry": {"maxRetries": 3}}), "retry.maxRetries"),
        (json!({"retry": {"on": []}}), "retry.on"),
        (json!({"retry": {"on": ["failed"]}}), "retry.on[0]"),
        (json!({"retry": {"delayMinutes": 9}}), "retry.delayMinutes"),
        (json!({"metadata": {"a": {}}}), "metadata.a"),
        (json!({"metadata": {"a": "x".repeat(501)}}), "metadata.a"),
        (json!({"variables": []}), "variables"),
    ] {
        let refused = world.ask_nudge("9812340001", &more).await.invalid();
        assert_eq!(refused["meta"]["field"], field, "{more}");
    }
    for (more, fields) in [
        (json!({"colour": 1, "size": 2}), json!(["colour", "size"])),
        (json!({"retry": {"times": 1}}), json!(["retry.times"])),
    ] {
        assert_eq!(
            world.ask_nudge("9812340001", &more).await.refused(400, "unknown_field")["meta"]["fields"],
            fields
        );
    }
    for (variables, key) in
        [(json!({"a": "x".repeat(121)}), "a"), (json!({"a b": "x"}), "a b"), (json!({"a": null}), "a")]
    {
        assert_eq!(
            world
                .ask_nudge("9812340001", &json!({"variables": variables}))
                .await
                .refused(400, "invalid_variables")["meta"]["key"],
            key
        );
    }
    world
        .ask_nudge("9812340001", &json!({"fromNumber": "+918022222222"}))
        .await
        .refused(400, "from_number_not_owned");
    assert_eq!(world.get("/v1/nudges").await["data"], json!([]), "nothing was stored");
}

#[tokio::test]
async fn only_a_published_outbound_call_agent_with_its_variables_can_call() {
    let world = World::monday().await;
    let agent = |body: Value| {
        let world = &world;
        async move { world.agent(&body).await }
    };
    let draft = world.draft_agent(&json!({})).await["id"].as_str().unwrap().to_owned();
    let chat = agent(json!({"channel": "chat"})).await;
    let inbound = agent(json!({"direction": "inbound"})).await;
    let other = world.neighbour().await;
    let foreign = other.agent(&json!({})).await;
    for (agent, status, code) in [
        (draft.as_str(), 422, "agent_not_published"),
        (&chat, 422, "agent_not_call"),
        (&inbound, 422, "agent_not_outbound"),
        (&foreign, 404, "not_found"),
        ("nobody", 404, "not_found"),
    ] {
        world.ask_nudge("9812340001", &json!({"agentId": agent})).await.refused(status, code);
        world
            .post("/v1/nudges/preflight", &json!({"agentId": agent, "toNumber": "9812340001"}))
            .await
            .refused(status, code);
    }
    let needy = agent(json!({"systemPrompt": "Ask {{name}} about {{due}}."})).await;
    let refused = world
        .ask_nudge("9812340001", &json!({"agentId": needy, "variables": {"name": "Asha"}}))
        .await
        .refused(422, "missing_required_variables");
    assert_eq!(refused["meta"]["missing"], json!(["due"]));
    let blank = json!({"agentId": needy, "variables": {"name": "  ", "due": ""}});
    let refused = world.ask_nudge("9812340001", &blank).await.refused(422, "missing_required_variables");
    assert_eq!(refused["meta"]["missing"], json!(["name", "due"]), "what is blank is missing");
    world.nudge("9812340001", &json!({"agentId": needy, "variables": {"name": "Asha", "due": "5"}})).await;
}

#[tokio::test]
async fn times_must_fit() {
    let world = World::monday().await;
    for more in [
        json!({"scheduledAt": "2027-03-01T06:00:00Z"}),
        json!({"expiresAt": "2027-03-01T06:30:00Z"}),
        json!({"expiresAt": "2027-03-04T06:30:01Z"}),
        json!({"scheduledAt": "2027-03-01T08:00:00Z", "expiresAt": "2027-03-01T08:00:00Z"}),
        json!({"scheduledAt": "2027-03-02T07:00:00Z"}),
    ] {
        world.ask_nudge("9812340001", &more).await.refused(422, "invalid_schedule");
    }
    let made = world
        .nudge(
            "9812340001",
            &json!({"scheduledAt": "2027-03-02T12:30:00+05:30", "expiresAt": "2027-03-03T00:00:00Z"}),
        )
        .await;
    assert_nudge(&made, "scheduled", None, None);
    made.shows(
        json!({"scheduledAt": "2027-03-02T07:00:00.000Z", "nextAttemptAt": "2027-03-02T07:00:00.000Z"}),
    );
    assert_eq!(world.nudge_kinds(&made).await, ["nudge.scheduled"]);
}

#[tokio::test]
async fn outside_the_window_it_waits_is_refused_or_has_expired() {
    let world = World::monday().await;
    // 21:10 in India.
    world.set_clock("2027-03-01T15:40:00Z").await;
    let refused = world
        .ask_nudge("9812340001", &json!({"outsideWindow": "reject"}))
        .await
        .refused(422, "outside_calling_window");
    assert_eq!(refused["meta"]["nextWindowAt"], "2027-03-02T03:30:00.000Z");
    let held = world.nudge("9812340001", &json!({})).await;
    assert_nudge(&held, "scheduled", None, Some("outside_calling_window"));
    let next = held["nextAttemptAt"].as_str().unwrap();
    assert!(("2027-03-02T03:30:00.000Z".."2027-03-02T03:45:00.000Z").contains(&next), "{next}");
    let expired = world.nudge("9812340002", &json!({"expiresAt": "2027-03-02T03:00:00Z"})).await;
    assert_nudge(&expired, "finished", Some("expired"), Some("expired"));
    assert_eq!(
        (world.nudge_kinds(&held).await, world.nudge_kinds(&expired).await),
        (vec!["nudge.scheduled".to_owned()], vec!["nudge.finished".to_owned()])
    );
    // The nudge is over, so its number is free.
    world.nudge("9812340002", &json!({})).await;
}

#[tokio::test]
async fn the_idempotency_key_is_required_and_gives_the_first_answer_again() {
    let world = World::monday().await;
    let body = world.order("9812340001", &json!({"scheduledAt": "2027-03-01T08:00:00Z"}));
    world.post("/v1/nudges", &body).await.refused(400, "invalid_idempotency_key");
    world.send_nudge(world.live(), &"k".repeat(256), &body).await.refused(400, "invalid_idempotency_key");
    world.send_nudge(world.live(), "k", &world.order("1", &json!({}))).await.invalid();
    let first = world.send_nudge(world.live(), "k", &body).await;
    let again = world.send_nudge(world.live(), "k", &body).await;
    assert_eq!(
        (first.header("idempotent-replayed"), again.header("idempotent-replayed")),
        (None, Some("true"))
    );
    assert_eq!((first.status, again.status, &again.text), (201, 201, &first.text));
    world
        .send_nudge(world.live(), "k", &world.order("9812340002", &json!({})))
        .await
        .refused(422, "idempotency_key_reused");
    let test = world.send_nudge(world.test(), "k", &body).await.expect(201);
    assert!(test["data"]["id"] != first.json["data"]["id"], "another world is another request");
    world.send_nudge(world.live(), "other", &body).await.refused(409, "nudge_in_flight");
    world.post(&format!("/v1/nudges/{}/cancel", id(&first.json["data"])), &json!({})).await.expect(200);
    world.send_nudge(world.live(), "other", &body).await.expect(201);
}

#[tokio::test]
async fn one_live_nudge_per_number_and_mode() {
    let world = World::monday().await;
    let later = json!({"scheduledAt": "2027-03-01T08:00:00Z"});
    let first = world.nudge("9812340001", &later).await;
    let refused = world.ask_nudge("+91 98123 40001", &json!({})).await.refused(409, "nudge_in_flight");
    assert_eq!(refused["meta"]["nudgeId"], first["id"]);
    let test = world.send_nudge(world.test(), "t", &world.order("9812340001", &later)).await.data(201);
    assert_eq!(test["livemode"], false);
    world
        .send_nudge(world.test(), "t2", &world.order("9812340001", &json!({})))
        .await
        .refused(409, "nudge_in_flight");
    let other = world.neighbour().await;
    let agent = other.agent(&json!({})).await;
    world
        .send_nudge(other.live(), "o", &json!({"agentId": agent, "toNumber": "9812340001"}))
        .await
        .expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_at_once_to_one_number_one_is_made() {
    let world = std::sync::Arc::new(World::monday().await);
    let mut tasks = Vec::new();
    for number in 0..24 {
        let world = world.clone();
        let body = world.order("9812340001", &json!({"scheduledAt": "2027-03-01T08:00:00Z"}));
        tasks.push(tokio::spawn(async move {
            world.send_nudge(world.live(), &format!("k{number}"), &body).await
        }));
    }
    let (mut made, mut refused) = (Vec::new(), Vec::new());
    for task in tasks {
        let answer = task.await.unwrap();
        match answer.status {
            201 => made.push(answer.json["data"]["id"].clone()),
            _ => refused.push(answer.refused(409, "nudge_in_flight")["meta"]["nudgeId"].clone()),
        }
    }
    assert_eq!((made.len(), refused.len()), (1, 23));
    assert!(refused.iter().all(|id| *id == made[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pending_limit_is_exact_under_concurrency() {
    let world = World::monday().await;
    world.change(&json!({"limits": {"pendingNudges": 5}})).await;
    let world = std::sync::Arc::new(world);
    let mut tasks = Vec::new();
    for number in 0..20 {
        let world = world.clone();
        let body =
            world.order(&format!("98123500{number:02}"), &json!({"scheduledAt": "2027-03-01T08:00:00Z"}));
        tasks.push(tokio::spawn(async move {
            world.send_nudge(world.live(), &format!("k{number}"), &body).await
        }));
    }
    let mut made = Vec::new();
    for task in tasks {
        let answer = task.await.unwrap();
        if answer.status == 201 {
            made.push(answer.json["data"].clone());
        } else {
            assert!(answer.header("retry-after").is_some());
            answer.refused(429, "pending_limit");
        }
    }
    assert_eq!(made.len(), 5);
    // The other world has its own, and each that ends makes room.
    world
        .send_nudge(
            world.test(),
            "t",
            &world.order("9812350099", &json!({"scheduledAt": "2027-03-01T08:00:00Z"})),
        )
        .await
        .expect(201);
    world.post(&format!("/v1/nudges/{}/cancel", id(&made[0])), &json!({})).await.expect(200);
    world.nudge("9812350098", &json!({"scheduledAt": "2027-03-01T08:00:00Z"})).await;
    world
        .ask_nudge("9812350097", &json!({"scheduledAt": "2027-03-01T08:00:00Z"}))
        .await
        .refused(429, "pending_limit");
}

#[tokio::test]
async fn cancelling_one_and_many() {
    let world = World::monday().await;
    let later = json!({"scheduledAt": "2027-03-01T08:00:00Z"});
    let one = world.nudge("9812340001", &later).await;
    let path = format!("/v1/nudges/{}/cancel", id(&one));
    let cancelled = world.post(&path, &json!({})).await.data(200);
    assert_nudge(&cancelled, "finished", Some("cancelled"), Some("cancelled"));
    cancelled.shows(json!({"nextAttemptAt": null, "finishedAt": "2027-03-01T06:30:00.000Z"}));
    world.post(&path, &json!({})).await.refused(409, "nudge_not_cancellable");
    world.app.post(world.test(), &path, &json!({})).await.not_found();
    assert_eq!(world.nudge_kinds(&one).await, ["nudge.scheduled", "nudge.finished"]);

    let mut live = Vec::new();
    for number in 0..4 {
        live.push(world.nudge(&format!("981234010{number}"), &later).await["id"].clone());
    }
    let test = world
        .send_nudge(world.test(), "t", &world.order("9812340100", &later))
        .await
        .expect(201)["data"]["id"]
        .clone();
    for wrong in [
        json!({}),
        json!({"ids": [], "all": true}),
        json!({"all": false}),
        json!({"ids": vec!["x"; 1001]}),
        json!({"ids": "x"}),
    ] {
        world.post("/v1/nudges/cancel", &wrong).await.invalid();
    }
    let ids = json!({"ids": [live[0], live[0], live[1], one["id"], test, "ndg_0", "ndg_01jzzzzzzzzzzzzzzzzzzzzzzz"]});
    let done = world.post("/v1/nudges/cancel", &ids).await.data(200);
    assert_eq!(done, json!({"cancelled": 2, "ids": [live[0], live[1]]}));
    let done = world.post("/v1/nudges/cancel", &json!({"all": true})).await.data(200);
    assert_eq!(done, json!({"cancelled": 2, "ids": [live[2], live[3]]}));
    let done = world.app.post(world.test(), "/v1/nudges/cancel", &json!({"all": true})).await.data(200);
    assert_eq!(done["ids"], json!([test]));
    for cancelled in live {
        assert_eq!(world.nudge_kinds(&json!({"id": cancelled})).await, ["nudge.scheduled", "nudge.finished"]);
    }
}

#[tokio::test]
async fn cancelling_all_goes_past_those_that_are_dialled_meanwhile_on_postgres() {
    crate::app::needs_postgres();
    let world = World::monday().await;
    let later = json!({"scheduledAt": "2027-03-01T08:00:00Z"});
    let numbers: Vec<String> = (0..205).map(|number| format!("9812340{number:03}")).collect();
    futures_util::future::join_all(numbers.iter().map(|number| world.nudge(number, &later))).await;
    // A burst is dialled: as many as one transaction cancels, the oldest.
    let dial = |tx: &mut store::Tx<'_>| {
        let dialled = "update nudges set status = 'dialing', flight = 'placing' \
                       where id in (select id from nudges order by id limit 200)";
        tx.exec(dialled, &[]).map(|changed| assert_eq!(changed, 200))
    };
    let burst = Holder::of(&world.app, dial, |_| Ok(())).await;
    let all = json!({"all": true});
    let cancelled = world.post("/v1/nudges/cancel", &all);
    let release = async {
        world.until_one_waits_for_a_lock().await;
        burst.end().await;
    };
    let (cancelled, ()) = tokio::join!(cancelled, release);
    assert_eq!(cancelled.expect(200)["data"]["cancelled"], 5);
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let world = World::monday().await;
    let other = world.agent(&json!({})).await;
    let mut all = Vec::new();
    for number in 0..5 {
        let agent = if number < 2 { &other } else { &world.agent };
        let more = json!({"agentId": agent, "externalRef": format!("r{}", number % 2), "scheduledAt": "2027-03-01T09:00:00Z"});
        all.insert(0, world.nudge(&format!("981234000{number}"), &more).await["id"].clone());
        world.advance(60).await;
    }
    world
        .send_nudge(
            world.test(),
            "t",
            &world.order("9812340001", &json!({"scheduledAt": "2027-03-01T09:00:00Z"})),
        )
        .await
        .expect(201);
    world.post(&format!("/v1/nudges/{}/cancel", all[0].as_str().unwrap()), &json!({})).await.expect(200);
    let list = |query: String| {
        let world = &world;
        async move {
            let page = world.get(&format!("/v1/nudges?{query}")).await;
            page["data"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect::<Vec<_>>()
        }
    };
    assert_eq!(list(String::new()).await, all);
    assert_eq!(list("status=finished".into()).await, all[..1]);
    assert_eq!(list("status=scheduled&limit=200".into()).await, all[1..]);
    assert_eq!(list("result=cancelled".into()).await, all[..1]);
    assert_eq!(list(format!("agentId={other}")).await, all[3..]);
    assert_eq!(list("agentId=nobody".into()).await, Vec::<Value>::new());
    assert_eq!(list("externalRef=r1".into()).await, [all[1].clone(), all[3].clone()]);
    assert_eq!(list("toNumber=%2B919812340002".into()).await, all[2..3]);
    assert_eq!(
        list("createdAfter=2027-03-01T06:32:00Z&createdBefore=2027-03-01T06:34:00Z".into()).await,
        all[1..3]
    );
    for wrong in ["status=open", "result=none", "createdAfter=today", "limit=0", "limit=201"] {
        world.fetch(&format!("/v1/nudges?{wrong}")).await.invalid();
    }
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let path = format!(
            "/v1/nudges?limit=2{}",
            cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default()
        );
        let page = world.get(&path).await;
        seen.extend(page["data"].as_array().unwrap().iter().map(|row| row["id"].clone()));
        world
            .nudge(&format!("98123411{:02}", seen.len()), &json!({"scheduledAt": "2027-03-01T09:00:00Z"}))
            .await;
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(seen, all);
    world.fetch("/v1/nudges?cursor=abc").await.refused(400, "invalid_cursor");
}

#[tokio::test]
async fn a_preflight_says_what_a_dial_would_meet() {
    let world = World::monday().await;
    let ask = |to: &'static str| {
        let world = &world;
        let body = json!({"agentId": world.agent, "toNumber": to});
        async move { world.post("/v1/nudges/preflight", &body).await.data(200) }
    };
    let free = json!({"toNumber": "+919812340001", "blocked": false, "blockReason": null, "blockMessage": null, "warnings": [], "insideWindow": true, "nextWindowAt": "2027-03-02T03:30:00.000Z"});
    assert_eq!(ask("09812340001").await, free);
    assert_eq!(ask("9812342222").await["blockReason"], "dnd");
    world.app.operator("POST", "/dnd", &json!({"phones": ["9812340005"]})).await.expect(200);
    ask("9812340005").await.shows(json!({"blocked": true}));
    ask("9812340005").await.shows(json!({"blockReason": "dnd"}));
    world.set_clock("2027-03-01T15:25:00Z").await;
    let late = ask("9812340001").await;
    late.shows(json!({"blocked": false, "insideWindow": false, "nextWindowAt": "2027-03-02T03:30:00.000Z"}));
    let body = json!({"agentId": world.agent, "toNumber": "12"});
    world.post("/v1/nudges/preflight", &body).await.invalid();
    assert_eq!(world.get("/v1/nudges").await["data"], json!([]));
}

//! Connections, numbers and notifications of the messaging channel (docs/contract/channel.md), against a Cloud API
//! that misbehaves, and in the sandbox.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::cloud::{self, ACCOUNT, NUMBER, NUMBER_ID, SECRET, TOKEN, VERIFY, change, notify};
use crate::fakes::Reply;
use crate::holder::Holder;
use crate::shows::Shows;
use crate::world::World;

async fn connection(world: &World) -> Value {
    world.operator("GET", "/chatapp/connection", Value::Null).await.data(200)
}

async fn numbers(world: &World) -> Value {
    world.data("/v1/chatapp/numbers").await
}

/// Items that are stored of a workspace, and how many of them wait.
async fn stored(app: &TestApp) -> (i64, i64) {
    let counts = app.app().store.read(|tx| {
        let all: i64 = tx.one("select count(*) from channel_notifications", &[])?.unwrap_or(0);
        let sql = "select count(*) from channel_notifications where payload is not null";
        Ok::<_, store::DbError>((all, tx.one(sql, &[])?.unwrap_or(0)))
    });
    counts.await.expect("counts")
}

#[tokio::test]
async fn an_account_is_tried_subscribed_and_never_shown() {
    let (world, fake) = cloud::start().await;
    world.operator("GET", "/chatapp/connection", Value::Null).await.not_found();
    let answer = world.put_connection(&cloud::credentials()).await;
    assert!(!answer.text.contains("hush"), "{}", answer.text);
    let made = answer.data(200);
    made.shows(json!({"provider": "cloud", "status": "connected", "businessAccountId": ACCOUNT}));
    assert!(made["webhookUrl"].as_str().unwrap().starts_with(&world.url));
    assert_eq!(fake.got("/subscribed_apps").len(), 1);
    assert_eq!(connection(&world).await["webhookUrl"], made["webhookUrl"]);
    // Another PUT keeps the address.
    let again = world.put_connection(&cloud::credentials()).await.data(200);
    assert_eq!((&again["webhookUrl"], &again["id"]), (&made["webhookUrl"], &made["id"]));
    // Neither the store nor the operator log has the secrets.
    let tenant = world.tenant();
    let row = world.app().store.of(tenant).read(store::channel_accounts::get).await.unwrap().unwrap();
    assert!(!format!("{row:?}").contains("hush"));
    let log = world.app.operator("GET", "/log?limit=100", &Value::Null).await.expect(200).to_string();
    assert!(log.contains("putChannelConnection") && !log.contains("hush"), "{log}");
    world.operator("DELETE", "/chatapp/connection", Value::Null).await.expect(200);
    world.operator("DELETE", "/chatapp/connection", Value::Null).await.not_found();
    assert_eq!(numbers(&world).await, json!([]));
}

#[tokio::test]
async fn what_is_refused_keeps_the_credentials_in_force() {
    let (world, fake) = cloud::start().await;
    for (field, value) in [
        ("businessAccountId", Value::Null),
        ("accessToken", Value::Null),
        ("appSecret", Value::Null),
        ("verifyToken", Value::Null),
        ("businessAccountId", json!("../x")),
        ("accessToken", json!("a b")),
    ] {
        let mut body = cloud::credentials();
        body[field] = value.clone();
        if value.is_null() {
            body.as_object_mut().unwrap().remove(field);
        }
        let answer = world.put_connection(&body).await;
        assert_eq!(answer.json["meta"]["field"], field, "{}", answer.text);
        answer.invalid();
    }
    assert_eq!(fake.count(""), 0, "nothing was asked");
    let mut wrong = cloud::credentials();
    wrong["accessToken"] = json!("EAAother-hush");
    // The first one is refused: there is no connection afterwards.
    let answer = world.put_connection(&wrong).await;
    assert!(!answer.text.contains("hush"), "{}", answer.text);
    assert_eq!(answer.json["meta"]["error"]["code"], 190);
    answer.refused(422, "provider_refused");
    let path = format!("/workspaces/{}/chatapp/connection", world.workspace.id);
    world.app.operator("GET", &path, &Value::Null).await.not_found();
    let hook = world.connect_cloud().await;
    let before = connection(&world).await;
    for (refused, reply, status, code) in [
        (true, None, 422, "provider_refused"),
        (false, Some(("subscribed_apps", cloud::refusal(403, 200))), 422, "provider_refused"),
        (false, Some(("subscribed_apps", Reply::Bare(500))), 503, "provider_unavailable"),
        (false, Some((ACCOUNT, Reply::Bare(502))), 503, "provider_unavailable"),
        (false, Some((ACCOUNT, Reply::Lost)), 503, "provider_unavailable"),
        (
            false,
            Some((ACCOUNT, Reply::Text(200, "text/html".into(), "<html>".into()))),
            503,
            "provider_unavailable",
        ),
        (false, Some((ACCOUNT, cloud::refusal(400, 80_007))), 503, "provider_unavailable"),
    ] {
        if let Some((path, reply)) = reply {
            fake.fail_always(path, reply);
        }
        let mut body = if refused { wrong.clone() } else { cloud::credentials() };
        body["appSecret"] = json!("another-hush");
        world.put_connection(&body).await.refused(status, code);
        fake.mend();
        let after = connection(&world).await;
        assert_eq!((&after["status"], &after["webhookUrl"]), (&before["status"], &before["webhookUrl"]));
        // The secret in force is the former one.
        notify(&world, &hook, &change("account_update", json!({"event": "PARTNER_ADDED"}))).await.expect(200);
    }
    assert_eq!(numbers(&world).await[0]["phoneNumberId"], NUMBER_ID);
}

#[tokio::test]
async fn a_number_is_one_of_the_account_and_has_one_agent() {
    let (world, _fake) = cloud::start().await;
    let neighbour = world.neighbour().await;
    let body = json!({"phoneNumberId": NUMBER_ID});
    world.add_channel_number(&body).await.refused(409, "chatapp_not_connected");
    world.put_connection(&cloud::credentials()).await.expect(200);
    for (body, field) in [
        (json!({}), "phoneNumberId"),
        (json!({"phoneNumberId": "1"}), "phoneNumberId"),
        (json!({"number": "+919999999999"}), "number"),
        (json!({"number": "12"}), "number"),
        (json!({"phoneNumberId": NUMBER_ID, "number": "+919999999999"}), "number"),
        (json!({"phoneNumberId": NUMBER_ID, "agentId": "agt_01k9v5x2m8e6fs4v0q3n7w1y39"}), "agentId"),
        (json!({"phoneNumberId": NUMBER_ID, "agentId": "x"}), "agentId"),
    ] {
        let answer = world.add_channel_number(&body).await;
        assert_eq!(answer.json["meta"]["field"], field, "{body}: {}", answer.text);
        answer.invalid();
    }
    assert_eq!(numbers(&world).await, json!([]));
    // By the number alone it is found, too.
    let bound = world.add_channel_number(&json!({"number": NUMBER, "displayName": "Shop"})).await;
    let bound = bound.data(201);
    assert_eq!(
        numbers(&world).await,
        json!([{"phoneNumberId": NUMBER_ID, "number": NUMBER, "displayName": "Shop", "quality": "GREEN",
            "messagingTier": "TIER_2K", "status": "CONNECTED", "isDefault": true, "agentId": null}])
    );
    // A chat agent of the workspace answers on one number; while it does, it cannot be deleted.
    let body = json!({"name": "Chat", "channel": "chat", "language": "en"});
    let agent = world.post("/v1/agents", &body).await.expect(201)["data"]["id"].clone();
    let with = |agent: Value| json!({"phoneNumberId": NUMBER_ID, "agentId": agent});
    let answer = neighbour.add_channel_number(&with(agent.clone())).await;
    answer.refused(409, "chatapp_not_connected");
    world.add_channel_number(&with(agent.clone())).await.expect(201);
    let renamed = json!({"phoneNumberId": NUMBER_ID, "displayName": "Shop"});
    let kept = world.add_channel_number(&renamed).await.data(201);
    assert_eq!((&kept["agentId"], &kept["id"], &kept["isDefault"]), (&agent, &bound["id"], &json!(true)));
    let path = format!("/v1/agents/{}", agent.as_str().unwrap());
    world.delete(&path).await.refused(409, "agent_in_use");
    world.add_channel_number(&with(Value::Null)).await.expect(201);
    world.delete(&path).await.expect(200);
    let path = |workspace: &str, id: &str| format!("/workspaces/{workspace}/chatapp/numbers/{id}");
    let id = bound["id"].as_str().unwrap();
    world.app.operator("DELETE", &path(&neighbour.workspace.id, id), &Value::Null).await.not_found();
    assert_eq!(numbers(&neighbour).await, json!([]));
    world.app.operator("DELETE", &path(&world.workspace.id, NUMBER_ID), &Value::Null).await.expect(200);
    world.app.operator("DELETE", &path(&world.workspace.id, id), &Value::Null).await.not_found();
}

/// The account's token is proof enough for any workspace; its number answers in one of them.
#[tokio::test]
async fn a_number_is_bound_in_one_workspace_at_a_time() {
    let (world, _fake) = cloud::start().await;
    let body = json!({"phoneNumberId": NUMBER_ID, "number": NUMBER});
    // In the sandbox anybody may take any id, which keeps nobody from a real number.
    world.put_connection(&json!({"provider": "sandbox"})).await.expect(200);
    world.add_channel_number(&body).await.expect(201);
    let mut workspaces = Vec::new();
    for _ in 0..6 {
        let workspace = world.neighbour().await;
        workspace.put_connection(&cloud::credentials()).await.expect(200);
        workspaces.push(workspace);
    }
    for _ in 0..3 {
        let all = workspaces.iter().map(|workspace| workspace.add_channel_number(&body));
        let answers = futures_util::future::join_all(all).await;
        let bound: Vec<usize> = (0..answers.len()).filter(|at| answers[*at].status == 201).collect();
        let [holder] = bound[..] else { panic!("{bound:?} have the number") };
        for (at, answer) in answers.into_iter().enumerate().filter(|(at, _)| *at != holder) {
            assert!(!answer.text.contains(&workspaces[holder].workspace.id), "{}", answer.text);
            answer.conflict();
            assert_eq!(numbers(&workspaces[at]).await, json!([]));
        }
        // Its holder changes what it does, as ever.
        let renamed = json!({"phoneNumberId": NUMBER_ID, "displayName": "Shop"});
        workspaces[holder].add_channel_number(&renamed).await.expect(201);
        let now = domain::time::Timestamp::parse(&world.now().await).unwrap().0 / 1000;
        // What a customer writes comes to the holder only, whosever address it is sent to.
        let value = json!({"messaging_product": "whatsapp",
            "metadata": {"display_phone_number": "918047111222", "phone_number_id": NUMBER_ID},
            "contacts": [{"wa_id": "919812345678", "profile": {"name": "Asha"}}],
            "messages": [{"from": "919812345678", "id": format!("wamid.{}", workspaces[holder].workspace.id),
                "timestamp": now.to_string(), "type": "text", "text": {"body": "Hello"}}]});
        for workspace in &workspaces {
            let hook = cloud::hook(&connection(workspace).await);
            notify(&world, &hook, &change("messages", value.clone())).await.expect(200);
        }
        world.advance(0).await;
        for (at, workspace) in workspaces.iter().enumerate() {
            let listed = workspace.get("/v1/chatapp/messages").await;
            let texts = listed["data"].as_array().unwrap().iter().filter(|one| one["text"] == "Hello");
            assert_eq!(texts.count(), usize::from(at == holder), "{listed}");
        }
        let path = format!("/chatapp/numbers/{NUMBER_ID}");
        workspaces[holder].operator("DELETE", &path, Value::Null).await.expect(200);
        workspaces.remove(holder);
    }
}

#[tokio::test]
async fn the_sandbox_needs_nothing_but_a_number() {
    let world = World::bare().await;
    let id = world.connect_sandbox().await;
    let second = json!({"number": "+918047111223", "phoneNumberId": "2", "isDefault": true});
    world.add_channel_number(&second).await.expect(201);
    let listed = numbers(&world).await;
    let defaults: Vec<_> =
        listed.as_array().unwrap().iter().map(|number| number["isDefault"].clone()).collect();
    assert_eq!(defaults, [false, true]);
    assert_eq!(listed[0]["phoneNumberId"], id.as_str());
    for (body, status, code) in [
        (json!({"phoneNumberId": "none", "from": "919812345678", "text": "Hi"}), 404, "not_found"),
        (json!({"phoneNumberId": id, "from": "x", "text": "Hi"}), 400, "invalid_request"),
        (json!({"phoneNumberId": id, "from": "919812345678"}), 400, "invalid_request"),
        (
            json!({"phoneNumberId": id, "from": "919812345678", "text": "a", "revoke": "b"}),
            400,
            "invalid_request",
        ),
    ] {
        world
            .send("POST", "/dev/chatapp/inbound", None, &[], body.to_string().into())
            .await
            .refused(status, code);
    }
    let body = json!({"phoneNumberId": id, "from": "919812345678", "text": "Hi"});
    world.send("POST", "/dev/chatapp/inbound", None, &[], body.to_string().into()).await.expect(200);
    world.advance(0).await;
    assert_eq!(stored(&world).await, (1, 0));
    // Nobody signs for the sandbox.
    let hook = cloud::hook(&connection(&world).await);
    notify(&world, &hook, &change("account_update", json!({"event": "X"})))
        .await
        .refused(401, "unauthorized");
}

#[tokio::test]
async fn an_address_is_verified_by_its_token() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    let ask = async |mode: &str, token: &str| {
        let path = format!("{hook}?hub.mode={mode}&hub.challenge=1158201444&hub.verify_token={token}");
        world.send("GET", &path, None, &[], bytes::Bytes::new()).await
    };
    let answer = ask("subscribe", VERIFY).await;
    assert_eq!((answer.status, answer.text.as_str()), (200, "1158201444"));
    assert!(answer.header("content-type").unwrap().starts_with("text/plain"));
    ask("subscribe", "other").await.refused(403, "link_invalid");
    ask("unsubscribe", VERIFY).await.refused(403, "link_invalid");
    let other = "/chatapp/webhooks/cacon_01k9v5x2m8e6fs4v0q3n7w1y39?hub.mode=subscribe";
    world.send("GET", other, None, &[], bytes::Bytes::new()).await.not_found();
}

#[tokio::test]
async fn strangers_change_nothing() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    let body = change("account_update", json!({"event": "ACCOUNT_RESTRICTION"})).to_string();
    let signed = cloud_api::notifications::signature(SECRET, body.as_bytes());
    let other = cloud_api::notifications::signature("other", body.as_bytes());
    for headers in
        [vec![], vec![("x-hub-signature-256", "sha256=00")], vec![("x-hub-signature-256", other.as_str())]]
    {
        world.send("POST", &hook, None, &headers, body.clone().into()).await.refused(401, "unauthorized");
    }
    let headers = [("x-hub-signature-256", signed.as_str())];
    let changed = body.replace("ACCOUNT_RESTRICTION", "ACCOUNT_VIOLATION");
    world.send("POST", &hook, None, &headers, changed.into()).await.refused(401, "unauthorized");
    let nobody = "/chatapp/webhooks/cacon_01k9v5x2m8e6fs4v0q3n7w1y39";
    world.send("POST", nobody, None, &headers, body.clone().into()).await.not_found();
    let large = vec![b' '; (3 << 20) + 1];
    world.send("POST", &hook, None, &headers, large.into()).await.refused(413, "payload_too_large");
    let rubbish = "[1]";
    let signed = cloud_api::notifications::signature(SECRET, rubbish.as_bytes());
    world.send("POST", &hook, None, &[("x-hub-signature-256", &signed)], rubbish.into()).await.invalid();
    assert_eq!(stored(&world).await, (0, 0));
    assert_eq!(connection(&world).await["restriction"], Value::Null);
    // An address that looks for connections again and again has to wait; the one that signs is heard all the same.
    let mut last = 404;
    for _ in 0..30 {
        last = world.send("POST", nobody, None, &[], "{}".into()).await.status;
    }
    assert_eq!(last, 429);
    notify(&world, &hook, &change("account_update", json!({"event": "PARTNER_ADDED"}))).await.expect(200);
}

/// Connections that are looked up together do not get each other's notifications.
#[tokio::test]
async fn who_knocks_at_the_same_moment_is_heard_at_its_own_door() {
    let (world, _fake) = cloud::start().await;
    let theirs = world.neighbour().await;
    let hook = world.connect_cloud().await;
    let mut other = cloud::credentials();
    other["appSecret"] = json!("other");
    let connected = theirs.put_connection(&other).await.data(200);
    let other = cloud::hook(&connected);
    let nobody = "/chatapp/webhooks/cacon_01k9v5x2m8e6fs4v0q3n7w1y39";
    let body = change("account_update", json!({"event": "ACCOUNT_RESTRICTION"})).to_string();
    let doors =
        [(&*other, "other", 200), (&*hook, "other", 401), (&*other, SECRET, 401), (nobody, "other", 404)];
    let knocks = doors.iter().cycle().take(20).map(|(hook, secret, status)| {
        let signed = cloud_api::notifications::signature(secret, body.as_bytes());
        let (world, body) = (&world, body.clone());
        async move {
            let answer =
                world.send("POST", hook, None, &[("x-hub-signature-256", &signed)], body.into()).await;
            assert_eq!(answer.status, *status, "{hook} {secret}: {}", answer.text);
        }
    });
    futures_util::future::join_all(knocks).await;
    world.advance(0).await;
    assert_eq!(connection(&world).await["restriction"], Value::Null);
    assert_eq!(connection(&theirs).await["restriction"], "ACCOUNT_RESTRICTION");
}

#[tokio::test]
async fn what_is_said_twice_is_stored_once_and_other_accounts_change_nothing() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    let at = 1_795_000_000;
    let receipts = cloud::about_messages(json!({"statuses": [
        cloud::status("wamid.C", "read", at, "+919812345678"),
        cloud::status("wamid.C", "sent", at, "+919812345678"),
    ]}));
    let batch = cloud::about_messages(json!({"messages": [
        cloud::text("wamid.A", "+919812345678", at, "one"),
        cloud::text("wamid.B", "+919812345678", at, "two"),
        cloud::text("wamid.A", "+919812345678", at, "one"),
    ]}));
    for _ in 0..3 {
        assert_eq!(notify(&world, &hook, &batch).await.expect(200)["data"]["received"], 3);
    }
    assert_eq!(stored(&world).await.0, 2);
    for _ in 0..2 {
        assert_eq!(notify(&world, &hook, &receipts).await.expect(200)["data"]["received"], 2);
    }
    world.advance(0).await;
    assert_eq!(stored(&world).await, (4, 0));
    // Many at once are no different.
    let crowd = cloud::about_messages(json!({"messages": [
        cloud::text("wamid.D", "+919812345678", at, "four"),
        cloud::text("wamid.E", "+919812345679", at, "five"),
    ]}));
    let told = futures_util::future::join_all((0..40).map(|_| notify(&world, &hook, &crowd))).await;
    for answer in told {
        assert_eq!(answer.expect(200)["data"]["received"], 2);
    }
    world.advance(0).await;
    assert_eq!(stored(&world).await, (6, 0));
    let mut foreign = batch.clone();
    foreign["entry"][0]["id"] = json!("1");
    assert_eq!(notify(&world, &hook, &foreign).await.expect(200)["data"]["received"], 0);
    assert_eq!(stored(&world).await.0, 6);
    // What was received is known for longer than the provider repeats itself, then it is forgotten.
    world.advance(9 * 86_400).await;
    assert_eq!(stored(&world).await, (0, 0));
}

#[tokio::test]
async fn what_came_for_a_connection_that_a_request_holds_is_worked_at_once_on_postgres() {
    crate::app::needs_postgres();
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    world.advance(0).await;
    let take = |tx: &mut store::Tx<'_>| {
        let all: Vec<String> = tx.all("select id from channel_connections /*pg for update*/", &[])?;
        assert_eq!(all.len(), 1);
        Ok(())
    };
    let holder = Holder::of(&world, take, |_| Ok(())).await;
    let message = cloud::text("wamid.H", "+919812345678", 1_795_000_000, "Hi");
    notify(&world, &hook, &cloud::about_messages(json!({"messages": [message]}))).await.expect(200);
    assert_eq!(stored(&world).await, (1, 1));
    // The look at the inbox waits for the one who holds the connection.
    world.until_one_waits_for_a_lock().await;
    holder.end().await;
    world.advance(0).await;
    assert_eq!(stored(&world).await, (1, 0));
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "the time that the work takes is real")]
async fn a_burst_of_ten_thousand_is_taken_in_and_worked() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    for batch in 0..10 {
        let messages: Vec<Value> = (0..1_000)
            .map(|at| {
                let from = format!("+9198{:08}", (batch * 1_000 + at) % 700);
                cloud::text(&format!("wamid.{batch}.{at}"), &from, 1_795_000_000, "Hi")
            })
            .collect();
        let body = cloud::about_messages(json!({"messages": messages}));
        assert_eq!(notify(&world, &hook, &body).await.expect(200)["data"]["received"], 1_000);
    }
    assert_eq!(stored(&world).await.0, 10_000);
    // They are worked without the clock, which waits for a minute of work at most.
    let mut pace = tokio::time::interval(std::time::Duration::from_millis(100));
    for _ in 0..6_000 {
        pace.tick().await;
        if stored(&world).await.1 == 0 {
            break;
        }
    }
    assert_eq!(stored(&world).await, (10_000, 0));
}

#[tokio::test]
async fn a_full_inbox_takes_nothing_and_loses_nothing() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    // As many as may wait, for another day.
    let most = channel::inbox::MAX_WAITING;
    let fill = format!(
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < {most})
        insert into channel_notifications
            (id, workspace, connection, key, lane, payload, attempts, next_at, received_at)
        select 'full' || i, c.workspace, c.id, 'full' || i, 'full', '{{}}', 0, ?1, ?1 from n, channel_connections c"
    );
    let later = world.app().clock.now().plus(domain::time::DAY);
    let filled = world.app().store.tx(move |tx| tx.exec(&fill, store::params![later])).await;
    assert_eq!(filled.expect("a full inbox"), most as u64);
    world.advance(2).await;
    let message = |id: &str| cloud::text(id, "+919812345678", 1_795_000_000, "Hi");
    let body = cloud::about_messages(json!({"messages": [message("wamid.a"), message("wamid.b")]}));
    for _ in 0..2 {
        let refused = notify(&world, &hook, &body).await;
        assert_eq!(refused.header("retry-after"), Some("30"), "{}", refused.text);
        refused.refused(503, "inbox_full");
    }
    assert_eq!(stored(&world).await, (most, most), "nothing of it is stored");
    // What is worked makes room, and the provider sends it again.
    let worked = "update channel_notifications set payload = null where lane = 'full' and id < 'full2'";
    world.store(move |tx| tx.exec(worked, &[])).await;
    world.advance(2).await;
    notify(&world, &hook, &body).await.expect(200);
    world.advance(2).await;
    let listed = world.get("/v1/chatapp/messages").await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 2, "{listed}");
}

/// Puts an item into the inbox as it is, in the lane of what is about the account.
pub async fn put_item(world: &World, number: Option<&str>, payload: String) {
    let connection = connection(world).await["id"].as_str().unwrap().to_owned();
    let ids = &world.app().ids;
    let row = store::channel_inbox::NotificationRow {
        id: ids.make(),
        workspace: world.tenant(),
        connection: connection.parse().unwrap(),
        key: ids.random_text(20),
        lane: format!("account:{connection}"),
        phone_number_id: number.map(str::to_owned),
        payload: Some(payload),
        attempts: 0,
        next_at: world.app().clock.now(),
        received_at: world.app().clock.now(),
    };
    let put = world.app().store.tx(move |tx| {
        store::channel_inbox::insert(tx, &row)?;
        Ok::<_, store::DbError>(())
    });
    put.await.expect("stored");
}

#[tokio::test]
async fn what_cannot_be_read_is_passed_over_and_holds_nobody_up() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    world.advance(1).await;
    let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let message = json!({"from": {"phone": "+919812345678"}, "id": "wamid.A", "at": "2026-01-01T00:00:00Z",
        "what": {"type": "order", "order": "deep"}});
    let message = json!({"kind": "message", "item": message}).to_string();
    for payload in [message.replace("\"deep\"", &deep), "{".to_owned(), json!({"kind": "none"}).to_string()] {
        put_item(&world, Some(NUMBER_ID), payload).await;
    }
    // It comes behind them, in the same lane.
    let body = change("account_update", json!({"event": "ACCOUNT_RESTRICTION"}));
    notify(&world, &hook, &body).await.expect(200);
    world.advance(0).await;
    assert_eq!(connection(&world).await["restriction"], "ACCOUNT_RESTRICTION");
    assert_eq!(stored(&world).await, (4, 0));
}

#[tokio::test]
async fn a_large_notification_is_judged_like_a_small_one() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    let with = |contacts: usize| {
        let contact = json!({"wa_id": "919812345678", "profile": {"name": "Asha"}});
        cloud::about_messages(json!({"contacts": vec![contact; contacts],
            "messages": [cloud::text("wamid.A", "+919812345678", 1_795_000_000, "Hi")]}))
    };
    assert!(with(10_000).to_string().len() > 64 * 1024);
    let forged = [("x-hub-signature-256", "sha256=00")];
    world
        .send("POST", &hook, None, &forged, with(10_000).to_string().into())
        .await
        .refused(401, "unauthorized");
    let refused = notify(&world, &hook, &with(10_001)).await;
    assert_eq!(refused.json["meta"]["field"], "body", "{}", refused.text);
    refused.invalid();
    assert_eq!(stored(&world).await.0, 0);
    assert_eq!(notify(&world, &hook, &with(10_000)).await.expect(200)["data"]["received"], 1);
    world.advance(0).await;
    let listed = world.get("/v1/contacts").await;
    assert_eq!(listed["data"][0]["name"], "Asha", "{listed}");
}

#[tokio::test]
async fn a_restriction_is_told_as_the_provider_says_it() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    let restricted =
        json!([{"restriction_type": "RESTRICTED_BIZ_INITIATED_MESSAGING", "expiration": 1_795_500_000}]);
    for (value, restriction) in [
        (json!({"event": "PARTNER_ADDED"}), Value::Null),
        (json!({"event": "ACCOUNT_VIOLATION", "violation_info": {"violation_type": "SCAM"}}), Value::Null),
        (
            json!({"event": "ACCOUNT_RESTRICTION", "restriction_info": restricted}),
            json!("ACCOUNT_RESTRICTION"),
        ),
        (
            json!({"event": "DISABLED_UPDATE", "ban_info": {"waba_ban_state": "DISABLE", "waba_ban_date": "April 17, 2026"}}),
            json!("DISABLED_UPDATE"),
        ),
        (json!({"event": "DISABLED_UPDATE", "ban_info": {"waba_ban_state": "REINSTATE"}}), Value::Null),
    ] {
        let body = change("account_update", value);
        notify(&world, &hook, &body).await.expect(200);
        notify(&world, &hook, &body).await.expect(200);
        world.advance(0).await;
        assert_eq!(connection(&world).await["restriction"], restriction, "{body}");
    }
    let told = world.payloads("chatapp.account_restricted").await;
    let words: Vec<_> = told.iter().map(|told| told["event"].as_str().unwrap()).collect();
    assert_eq!(
        words,
        ["ACCOUNT_VIOLATION", "ACCOUNT_RESTRICTION", "DISABLED_UPDATE"],
        "the end is no restriction"
    );
    assert_eq!(told[0]["violationInfo"], json!({"violation_type": "SCAM"}));
    assert_eq!(told[1]["restrictionInfo"], restricted);
    assert_eq!(told[1]["banInfo"], Value::Null);
}

#[tokio::test]
async fn quality_is_looked_at_once_a_day_and_told_when_it_changed() {
    let (world, fake) = cloud::start().await;
    world.connect_cloud().await;
    world.advance(1).await;
    for (quality, expected) in [("GREEN", 0), ("YELLOW", 1), ("YELLOW", 1), ("UNKNOWN", 1), ("RED", 2)] {
        fake.system.rate(quality);
        let before = fake.count("/phone_numbers");
        world.advance(86_400).await;
        fake.wait_for("/phone_numbers", before + 1).await;
        let mut told = Vec::new();
        for _ in 0..200 {
            told = world.payloads("chatapp.number_quality_changed").await;
            if told.len() >= expected {
                break;
            }
        }
        assert_eq!(told.len(), expected, "{quality}");
    }
    let told = world.payloads("chatapp.number_quality_changed").await;
    assert_eq!(
        told,
        [("GREEN", "YELLOW"), ("YELLOW", "RED")].map(|(before, now)| json!({"phoneNumberId": NUMBER_ID,
            "businessNumber": NUMBER, "previousQuality": before, "quality": now}))
    );
}

#[tokio::test]
async fn a_token_that_is_refused_is_shown_and_mended() {
    let (world, fake) = cloud::start().await;
    world.connect_cloud().await;
    world.advance(1).await;
    fake.system.expire(true);
    world.post("/v1/chatapp/templates/sync", &Value::Null).await.refused(422, "provider_refused");
    let shown = connection(&world).await;
    assert_eq!(shown["status"], "token_invalid");
    assert!(!shown["lastError"].to_string().contains(TOKEN), "{shown}");
    world.put_connection(&cloud::credentials()).await.refused(422, "provider_refused");
    fake.system.expire(false);
    world.put_connection(&cloud::credentials()).await.expect(200);
    let shown = connection(&world).await;
    assert_eq!((&shown["status"], &shown["lastError"]), (&json!("connected"), &Value::Null));
}

#[tokio::test]
async fn a_limit_by_notification_is_shown() {
    let (world, _fake) = cloud::start().await;
    let hook = world.connect_cloud().await;
    world.advance(1).await;
    for (body, tier) in [
        (
            change("business_capability_update", json!({"max_daily_conversations_per_business": "TIER_10K"})),
            "TIER_10K",
        ),
        (change("business_capability_update", json!({"max_daily_conversations_per_business": -1})), "-1"),
        (
            change(
                "phone_number_quality_update",
                json!({"display_phone_number": "918047111222", "event": "THROUGHPUT_UPGRADE",
                    "max_daily_conversations_per_business": "TIER_UNLIMITED"}),
            ),
            "TIER_UNLIMITED",
        ),
    ] {
        notify(&world, &hook, &body).await.expect(200);
        world.advance(0).await;
        assert_eq!(numbers(&world).await[0]["messagingTier"], tier);
    }
}

#[tokio::test]
async fn a_pause_of_agents_is_told_once_and_again_when_its_end_moves_far() {
    let (world, _fake) = cloud::start().await;
    world.connect_cloud().await;
    let tenant = world.tenant();
    let rows = world.app().store.of(tenant).read(store::channel_accounts::numbers).await.unwrap();
    let id = rows[0].id;
    let limited = async || {
        let context = world.app().context();
        let limit =
            world.app().store.of(tenant).tx(move |tx| channel::numbers::spam_limited(tx, &context, id));
        limit.await.expect("a pause");
    };
    let told = async || world.payloads("chatapp.number_ai_paused").await.len();
    limited().await;
    assert_eq!(told().await, 1);
    // Twenty-nine minutes later the end moves by as much: no news. A minute more, and it is.
    world.advance(29 * 60).await;
    limited().await;
    assert_eq!(told().await, 1);
    // The end that was announced passes while the pause goes on.
    world.advance(31 * 60).await;
    assert_eq!(told().await, 2);
    world.advance(29 * 60).await;
    assert_eq!(told().await, 2, "the pause is over at the end that was announced");
    limited().await;
    assert_eq!(told().await, 3);
    world.advance(30 * 60).await;
    limited().await;
    assert_eq!(told().await, 4);
    let last = world.payloads("chatapp.number_ai_paused").await.pop().unwrap();
    let until = domain::time::Timestamp::parse(&world.now().await).unwrap().plus(domain::time::HOUR);
    assert_eq!(
        last,
        json!({"phoneNumberId": NUMBER_ID, "businessNumber": NUMBER, "pausedUntil": until.to_string()})
    );
}

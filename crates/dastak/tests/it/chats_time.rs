//! What time, the operator and erasures do to chat sessions (docs/contract/chats.md): idle and longest time, business
//! hours, suspension, analysis, retention.

use domain::ports::ProviderFault;
use serde_json::{Value, json};

use crate::chats::Chats;
use crate::shows::Shows;

#[tokio::test]
async fn silence_ends_a_session() {
    let kit = Chats::open().await;
    let (silent, talks) = (kit.session().await, kit.session().await);
    kit.advance(20 * 60).await;
    kit.says(&talks, "Still here").await;
    kit.advance(10 * 60 - 1).await;
    assert_eq!(kit.chat(&silent).await["state"], "ai");
    kit.advance(1).await;
    kit.chat(&silent).await.shows(json!({"state": "ended"}));
    kit.chat(&talks).await.shows(json!({"state": "ai"}));
    kit.advance(20 * 60).await;
    assert_eq!(kit.chat(&talks).await["state"], "ended");
    let causes: Vec<Value> =
        kit.events("chat.completed").await.iter().map(|event| event["data"]["endCause"].clone()).collect();
    assert_eq!(causes, ["idle_timeout", "idle_timeout"]);
    assert_eq!((kit.wallet().await, kit.charges().await), ((999_500, 0), vec![(-500, talks)]));
}

#[tokio::test]
async fn a_day_counts_from_the_day_of_its_message() {
    let kit = Chats::open().await;
    let field = json!({"key": "day", "label": "Day", "type": "date"});
    kit.publish(json!([
        {"id": "a", "type": "collect", "text": "Which day?", "field": field, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye."},
    ]))
    .await;
    let id = kit.session().await;
    // India is 5 hours 30 minutes ahead.
    let now = domain::time::Timestamp::parse(&kit.now().await).expect("a time");
    let tomorrow = now.plus(330 * 60_000 + 24 * domain::time::HOUR).to_string()[..10].to_owned();
    assert_eq!(kit.says(&id, "tomorrow").await["ended"], json!(true));
    let detail = kit.operator("GET", &format!("/chats/{id}"), Value::Null).await.expect(200)["data"].clone();
    assert_eq!(detail["extracted"], json!({"day": tomorrow}));
}

#[tokio::test]
async fn no_session_lasts_for_ever() {
    let kit = Chats::open_with(|config| {
        config.chats.limits.longest = 2 * domain::time::HOUR;
    })
    .await;
    let id = kit.session().await;
    for _ in 0..5 {
        kit.advance(20 * 60).await;
        kit.says(&id, "Still here").await;
    }
    kit.advance(20 * 60).await;
    assert_eq!(kit.events("chat.completed").await[0]["data"]["endCause"], "max_duration");
}

#[tokio::test]
async fn no_session_grows_for_ever() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    let set = async |column: &'static str, value: i64| {
        let sql = format!("update chats set {column} = ?1");
        kit.store(move |tx| tx.exec(&sql, store::params![value])).await;
    };
    set("characters", domain::chat::MAX_CHARACTERS - 3).await;
    kit.write(&id, "four").await.refused(409, "session_ended");
    assert_eq!(kit.events("chat.completed").await[0]["data"]["endCause"], "max_duration");
    assert_eq!(kit.chat(&id).await["state"], "ended");
    assert_eq!(kit.wallet().await, (1_000_000, 0));
}

#[tokio::test]
async fn a_suspension_ends_chats() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    kit.says(&id, "Hello").await;
    kit.change(&json!({"suspended": true})).await;
    kit.advance(0).await;
    kit.write(&id, "Hello?").await.refused(403, "workspace_suspended");
    let chat = kit.operator("GET", &format!("/chats/{id}"), Value::Null).await.data(200);
    assert_eq!((&chat["state"], &chat["endCause"]), (&json!("ended"), &json!("abandoned")));
    assert_eq!(kit.wallet().await, (999_500, 0));
}

#[tokio::test]
async fn business_hours_close_the_door() {
    let kit = Chats::open().await;
    // A Monday, 10:00 in India.
    kit.sleep_until("2031-01-06T04:30:00.000Z").await;
    let path = format!("/agents/{}/business-hours", kit.agent);
    let body = json!({"timezone": "Asia/Kolkata", "hours": [{"days": [0, 1, 2, 3, 4], "from": "09:00", "to": "18:00"}]});
    let set = kit.operator("PUT", &path, body.clone()).await.data(200);
    assert_eq!(set, json!({"agentId": kit.agent, "businessHours": body}));
    let id = kit.session().await;
    kit.advance(8 * 3600 - 60).await;
    kit.session().await;
    kit.advance(60).await;
    kit.opening(&kit.agent).await.refused(403, "agent_offline");
    kit.put(&format!("/v1/agents/{}", kit.agent), &json!({"name": "Mira"})).await.expect(200);
    assert_eq!(kit.operator("GET", &path, Value::Null).await.expect(200)["data"], set, "a change keeps them");
    for (field, wrong) in [
        ("timezone", json!({"timezone": "Mars", "hours": []})),
        (
            "hours[0].from",
            json!({"timezone": "Asia/Kolkata", "hours": [{"days": [0], "from": "9", "to": "10:00"}]}),
        ),
        (
            "hours[0].to",
            json!({"timezone": "Asia/Kolkata", "hours": [{"days": [0], "from": "10:00", "to": "10:00"}]}),
        ),
        (
            "hours[0].days[0]",
            json!({"timezone": "Asia/Kolkata", "hours": [{"days": [7], "from": "09:00", "to": "10:00"}]}),
        ),
    ] {
        let refused = kit.operator("PUT", &path, wrong).await.invalid();
        assert_eq!(refused["meta"]["field"], field);
    }
    kit.operator("DELETE", &path, Value::Null).await.expect(200);
    kit.opening(&kit.agent).await.expect(201);
    assert_eq!(kit.chat(&id).await["state"], "ended", "it was silent meanwhile");
}

#[tokio::test]
async fn an_opening_stands_in_the_decision_log() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    let export = kit.fetch("/v1/audit/export").await;
    let row = export.text.lines().find(|line| line.contains(&id)).expect("a row").to_owned();
    assert!(
        row.contains("allowed") && row.trim_end().ends_with(&format!("false,chat,{}", kit.agent)),
        "{row}"
    );
    let verified = kit.get("/v1/audit/verify").await;
    assert_eq!(verified["data"]["verified"], true);
}

#[tokio::test]
async fn a_chat_that_is_over_is_analysed() {
    let kit = Chats::open().await;
    let (talked, silent) = (kit.session().await, kit.session().await);
    kit.says(&talked, "Call me tomorrow").await;
    kit.model.analyses.lock().unwrap().push_back(Err(ProviderFault::TimedOut));
    kit.model.analyses.lock().unwrap().push_back(Ok(crate::after_call::interested()));
    kit.end(&talked).await;
    kit.end(&silent).await;
    kit.advance(29).await;
    assert_eq!((kit.model.read_times(), kit.events("chat.analyzed").await.len()), (1, 0));
    kit.advance(1).await;
    let events = kit.events("chat.analyzed").await;
    assert_eq!((kit.model.read_times(), events.len()), (2, 1));
    let expected = json!({"summary": "Wants a call tomorrow.", "extracted": {}, "sentiment": "positive", "outcome": "callback_requested"});
    assert_eq!((&events[0]["data"]["chatId"], &events[0]["data"]["analysis"]), (&json!(talked), &expected));
    kit.advance(4 * 3600).await;
    assert_eq!(kit.events("chat.analyzed").await.len(), 1);
}

#[tokio::test]
async fn old_chats_are_deleted() {
    let kit = Chats::open_with(|config| config.chats.keep_days = 1).await;
    let old = kit.session().await;
    kit.says(&old, "Hello").await;
    kit.end(&old).await;
    kit.advance(40 * 3600).await;
    let young = kit.session().await;
    kit.advance(10 * 3600).await;
    kit.fetch(&format!("/v1/chat/sessions/{old}")).await.not_found();
    assert_eq!(kit.chat(&young).await["state"], "ended");
    let left = |tx: &mut store::Tx<'_>| tx.one::<i64>("select count(*) from chat_messages", &[]);
    assert_eq!(kit.stored(left).await, Some(1), "the words of the other one");
}

#[tokio::test]
async fn an_erasure_reaches_chats() {
    let kit = Chats::open().await;
    let body = json!({"externalRef": "customer-1", "phone": "+919812301239", "name": "Meera"});
    let contact = kit.post("/v1/contacts", &body).await.id(201);
    let (live, over) = (kit.session().await, kit.session().await);
    for id in [&live, &over] {
        kit.says(id, "My name is Meera").await;
    }
    let id: domain::ids::Id<domain::ids::Contact> = contact.parse().unwrap();
    let sql = "update chats set contact = ?1, external_ref = 'customer-1', metadata = '{\"name\":\"Meera\"}'";
    kit.store(move |tx| tx.exec(sql, store::params![id])).await;
    kit.end(&over).await;
    let erased = kit.erase(&contact).await.expect(200);
    assert_eq!(erased["data"]["erased"]["messages"], 6);
    for id in [&live, &over] {
        let shown = kit.chat(id).await;
        assert_eq!((&shown["state"], &shown["messages"]), (&json!("ended"), &json!([])));
    }
    let words = |tx: &mut store::Tx<'_>| {
        tx.all::<String>(
            "select id from events where envelope like '%Meera%' and type like 'chat.completed'",
            &[],
        )
    };
    assert_eq!(kit.stored(words).await.len(), 0);
    kit.advance(3600).await;
    assert_eq!(kit.wallet().await, (999_000, 0), "the money is settled all the same");
}

/// A chat in which nobody writes is free, so that many of them cost no request to the model each.
#[tokio::test]
async fn sessions_in_which_nobody_writes_are_greeted_without_the_model() {
    let kit = Chats::open().await;
    kit.change(&json!({"limits": {"chatSessionsPerMinute": 1_000}})).await;
    let mut last = String::new();
    for _ in 0..100 {
        last = kit.session().await;
    }
    assert_eq!(kit.model.asked(), 31);
    assert!(!kit.transcript(&last).await.is_empty(), "it was greeted");
    assert!(kit.charges().await.is_empty());
    // Somebody who writes in one is answered by the model, and chats that are paid for count against the others.
    kit.says(&last, "Hello").await;
    let asked = kit.model.asked();
    kit.session().await;
    assert_eq!((asked, kit.model.asked()), (32, 32));
    kit.advance(3_601).await;
    kit.session().await;
    assert_eq!(kit.model.asked(), 33);
}

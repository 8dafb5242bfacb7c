//! How fast and to how many people messages go out on the messaging channel (docs/contract/channel.md#limits).

use serde_json::json;

use crate::channel_messages::{ASHA, PATH, template};
use crate::cloud::{self, notify};
use crate::world::{Channel, World};

#[tokio::test]
async fn one_person_gets_a_burst_and_then_one_message_in_six_seconds() {
    let desk = Channel::open().await;
    desk.hears(ASHA, "Hi").await;
    for at in 0..45 {
        desk.advance(1).await;
        assert_eq!(desk.text("x").await.expect(201)["data"]["status"], "sent", "{at}");
    }
    let mut queued = 0;
    for _ in 0..20 {
        queued += usize::from(desk.text("x").await.expect(201)["data"]["status"] == "queued");
    }
    assert!(queued > 0);
    desk.advance(200).await;
    assert_eq!(desk.fake.system.sent().len(), 65);
    assert_eq!(desk.messages("status=queued").await.len(), 0);
}

#[tokio::test]
async fn the_messaging_limit_counts_people() {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
    let told =
        cloud::change("business_capability_update", json!({"max_daily_conversations_per_business": 2}));
    notify(&desk.app, &desk.hook, &told).await.expect(200);
    desk.advance(0).await;
    let to = |number: &str| {
        let mut body = template("due");
        body["to"] = json!(number);
        body
    };
    desk.send(&to("+919812345601")).await.expect(201);
    desk.send(&to("+919812345602")).await.expect(201);
    desk.send(&to("+919812345601")).await.expect(201);
    desk.advance(3_600).await;
    let refused = desk.send(&to("+919812345603")).await;
    // When the first of them makes room.
    assert_eq!(refused.header("retry-after"), Some("82800"), "{}", refused.text);
    refused.refused(429, "tier_limit_reached");
    // Who wrote first does not count.
    desk.hears("+919812345604", "Hi").await;
    desk.send(&to("+919812345604")).await.expect(201);
    desk.advance(23 * 3_600 + 1).await;
    desk.send(&to("+919812345603")).await.expect(201);
}

#[tokio::test]
async fn people_who_were_reached_without_a_limit_count_once_there_is_one() {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
    let limit = async |most: i64| {
        let value = json!({"max_daily_conversations_per_business": most});
        let mut told = cloud::change("business_capability_update", value);
        // The same at another time is no repetition.
        told["entry"][0]["time"] = json!(desk.seconds());
        notify(&desk.app, &desk.hook, &told).await.expect(200);
        desk.advance(1).await;
    };
    let to = |number: i64| {
        let mut body = template("due");
        body["to"] = json!(format!("+91981234560{number}"));
        body
    };
    limit(-1).await;
    desk.send(&to(1)).await.expect(201);
    desk.send(&to(2)).await.expect(201);
    limit(2).await;
    desk.send(&to(3)).await.refused(429, "tier_limit_reached");
    let test = desk.app.post(desk.test(), PATH, &to(3)).await;
    test.refused(429, "tier_limit_reached");
    desk.send(&to(2)).await.expect(201);
    // The same when the limit falls away and comes back.
    limit(-1).await;
    desk.send(&to(3)).await.expect(201);
    limit(4).await;
    desk.send(&to(4)).await.expect(201);
    desk.send(&to(5)).await.refused(429, "tier_limit_reached");
    // The daily look forgets whom an account without a limit reached more than a day ago.
    limit(-1).await;
    desk.send(&to(5)).await.expect(201);
    desk.advance(49 * 3_600).await;
    let left = desk.app().store.read(|tx| tx.one::<i64>("select count(*) from channel_reached", &[]));
    assert_eq!(left.await.unwrap(), Some(0));
    limit(1).await;
    desk.send(&to(6)).await.expect(201);
    desk.send(&to(7)).await.refused(429, "tier_limit_reached");
}

#[tokio::test]
async fn a_number_gives_each_slot_once_however_many_ask() {
    let world = World::bare().await;
    world.connect_sandbox().await;
    let body = json!({"name": "due", "language": "en", "category": "UTILITY",
        "components": [{"type": "BODY", "text": "Hi, it is due."}]});
    world.post("/v1/chatapp/templates", &body).await.expect(201);
    world.advance(3).await;
    let send = async |person: usize| {
        let body =
            json!({"to": format!("+9198{person:05}777"), "template": {"name": "due", "language": "en"}});
        let sent = world.post(PATH, &body).await.expect(201);
        sent["data"]["status"].as_str().unwrap().to_owned()
    };
    // The number is busy, so that a node reserves slots of it.
    for person in 0..30 {
        assert_eq!(send(person).await, "sent");
    }
    for round in 1..4 {
        world.advance(1).await;
        // A number of the high class may send 33 at once; later ones wait.
        let asked = (0..70).map(|at| send(round * 100 + at));
        let told = futures_util::future::join_all(asked).await;
        let sent = told.iter().filter(|status| *status == "sent").count();
        assert_eq!((sent, told.len()), (33, 70), "round {round}");
    }
    world.advance(10).await;
    let waits = world.get(&format!("{PATH}?status=queued")).await;
    assert_eq!(waits["data"], json!([]));
}

//! What asks for a member (docs/contract/live.md): the bell, and what needs attention at this moment.

use dastak::app::bell::{self, Subject};
use domain::ids::{Chat, Id, User};
use domain::tenant::{Mode, Role as MemberRole};
use domain::topic::NotificationKind;
use serde_json::{Value, json};

use crate::shows::Shows;
use crate::world::{Member, World};

#[tokio::test]
async fn the_bell_is_a_members_own() {
    let world = World::open().await;
    let (one, other) = (world.member(MemberRole::Admin).await, world.member(MemberRole::Viewer).await);
    let (tenant, member) = (world.tenant(), one.id.parse::<Id<User>>().unwrap());
    let ring = async |times: u128| {
        let context = world.app().context();
        world
            .app()
            .of(tenant)
            .tx(move |tx| {
                for number in 0..times {
                    let chat = Subject::new("chat", Id::<Chat>::new(context.now.0, number));
                    bell::notify(tx, &context, (member, Mode::Live), NotificationKind::Mentioned, chat)?;
                }
                Ok::<_, dastak::app::Failure>(())
            })
            .await
            .expect("a commit");
    };
    ring(3).await;
    let listed = one.get("/v1/notifications").await.list(200);
    assert_eq!(listed.len(), 3);
    listed[0].shows(json!({"kind": "mentioned", "subject.type": "chat", "readAt": null}));
    assert_eq!(other.get("/v1/notifications").await.list(200), [] as [Value; 0]);
    assert_eq!(one.in_test_mode().get("/v1/notifications").await.list(200), [] as [Value; 0]);
    let body = json!({"upTo": listed[1]["id"]});
    assert_eq!(other.post("/v1/notifications/read", &body).await.data(200), json!({"read": 0, "unread": 0}));
    assert_eq!(one.post("/v1/notifications/read", &body).await.data(200), json!({"read": 2, "unread": 1}));
    assert_eq!(one.post("/v1/notifications/read", &body).await.data(200), json!({"read": 0, "unread": 1}));
    let body = json!({"ids": [listed[0]["id"]]});
    assert_eq!(one.post("/v1/notifications/read", &body).await.data(200), json!({"read": 1, "unread": 0}));
    for wrong in
        [json!({}), json!({"upTo": listed[0]["id"], "ids": [listed[0]["id"]]}), json!({"upTo": "evt_1"})]
    {
        one.post("/v1/notifications/read", &wrong).await.invalid_field("upTo");
    }
    ring(505).await;
    let page = one.get("/v1/notifications?limit=100").await.expect(200);
    assert_eq!(page["data"].as_array().map(Vec::len), Some(100));
    let kept = world.stored(|tx| tx.one::<i64>("select count(*) from notifications", &[])).await;
    assert_eq!(kept, Some(500));
    let cursor = page["nextCursor"].as_str().expect("a cursor");
    assert_eq!(one.get(&format!("/v1/notifications?limit=100&cursor={cursor}")).await.list(200).len(), 100);
    // The end of a campaign that the member launched.
    let campaign =
        world.post("/v1/campaigns", &json!({"name": "Offer", "agentId": world.agent})).await.id(201);
    for status in ["active", "completed"] {
        one.post(&format!("/v1/campaigns/{campaign}/status"), &json!({"status": status})).await.expect(200);
    }
    let newest = &one.get("/v1/notifications?limit=1").await.list(200)[0];
    newest.shows(json!({"kind": "campaign_finished", "subject": {"type": "campaign", "id": campaign}}));
    world.advance(91 * 24 * 3600).await;
    bell::sweep(world.app()).await.expect("a commit");
    assert_eq!(one.another_session().await.get("/v1/notifications").await.list(200), [] as [Value; 0]);
}

#[tokio::test]
async fn attention_is_what_is_so_now() {
    let world = World::open().await;
    let (viewer, neighbour) = (world.member(MemberRole::Viewer).await, world.neighbour().await);
    let kinds = async |member: &Member| -> Vec<String> {
        let listed = member.get("/v1/attention").await.list(200);
        listed.iter().map(|item| item["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&viewer).await, [] as [String; 0]);
    let stream = json!({"name": "Leads", "kind": "api", "fieldMap": {"phone": "phone"}});
    let stream = world.post("/v1/data-streams", &stream).await.id(201);
    let account = json!({"provider": "hubspot", "credentials": {"accessToken": "x"}});
    let account = world.operator("POST", "/integrations", account).await.id(201);
    let endpoint = world.post("/v1/webhooks", &json!({"url": "http://127.0.0.1:29099/hook"})).await.id(201);
    let (of_stream, of_account) = (stream.clone(), account.clone());
    world
        .store(move |tx| {
            tx.exec("update data_streams set status = 'error' where id = ?1", &[of_stream.as_str().into()])?;
            tx.exec("update integrations set status = 'broken' where id = ?1", &[of_account.as_str().into()])
        })
        .await;
    world.post("/v1/events/trigger", &json!({"type": "call.started"})).await.expect(202);
    // The attempts go over a real socket, which the clock does not wait for.
    for _ in 0..200 {
        if kinds(&viewer).await.contains(&"webhook_failing".to_owned()) {
            break;
        }
        world.advance(20).await;
    }
    let balance = world.wallet().await.0;
    world.pay(-balance).await;
    let listed = viewer.get("/v1/attention").await.list(200);
    let short: Vec<Value> =
        listed.iter().map(|item| json!([item["kind"], item["subject"]["id"], item["action"]])).collect();
    assert_eq!(
        short,
        [
            json!(["wallet_exhausted", null, "top_up"]),
            json!(["integration_broken", account, "reconnect"]),
            json!(["webhook_failing", endpoint, "look_at_deliveries"]),
            json!(["stream_stopped", stream, "activate"]),
        ]
    );
    // An endpoint counts its failed attempts, and each advance may have brought one more.
    for item in &listed {
        let (count, of_endpoint) = (item["count"].as_i64(), item["kind"] == "webhook_failing");
        assert!(count == Some(1) || of_endpoint && count > Some(0), "{item}");
    }
    assert_eq!(kinds(&neighbour.member(MemberRole::Viewer).await).await, [] as [String; 0]);
    // The failed sample was of the live mode, and a test page shows no money.
    assert_eq!(kinds(&viewer.in_test_mode()).await, ["integration_broken", "stream_stopped"]);
    world.pay(1_000_000).await;
    world.patch(&format!("/v1/data-streams/{stream}"), &json!({"status": "active"})).await.expect(200);
    world.delete(&format!("/v1/webhooks/{endpoint}")).await.expect(200);
    assert_eq!(kinds(&viewer).await, ["integration_broken"]);
}

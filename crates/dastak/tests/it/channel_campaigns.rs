//! Campaigns on the messaging channel (docs/contract/campaigns.md#campaigns-on-the-messaging-channel), in the sandbox.

use serde_json::{Value, json};

use crate::app::{TestApp, needs_postgres};
use crate::holder::Holder;
use crate::shows::Shows;
use crate::world::{World, leads_to};

struct Desk {
    world: World,
    template: String,
}

leads_to!(Desk, world: World);

impl Desk {
    async fn start(category: &str) -> Self {
        let world = World::with_agent(TestApp::start().await, &json!({})).await;
        world.connect_sandbox().await;
        let components = json!([{"type": "BODY", "text": "Hi {{name}}, Rs {{amount}} is due.",
            "example": {"body_text_named_params": [{"param_name": "name", "example": "Asha"}, {"param_name": "amount", "example": "4500"}]}}]);
        let template = world.template("due_note", category, components).await;
        Self { world, template }
    }

    fn body(&self) -> Value {
        json!({"name": "Dues", "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
        "chatapp": {"templateId": self.template, "ratePerMinute": 600, "paramMapping": {
            "body.name": {"source": "contact", "value": "name"},
            "body.amount": {"source": "column", "value": "due"},
        }}})
    }

    async fn create(&self, body: &Value) -> String {
        self.post("/v1/campaigns", body).await.id(201)
    }
}

fn row(phone: &str, name: &str) -> Value {
    json!({"phone": phone, "name": name, "variables": {"due": "4500"}})
}

#[tokio::test]
async fn a_new_campaign_shows_its_block_and_what_is_wrong_names_its_field() {
    let desk = Desk::start("UTILITY").await;
    let (app, live) = (&desk.app, desk.workspace.live.as_str());
    let made = app.post(live, "/v1/campaigns", &desk.body()).await.data(201);
    made.shows(json!({"channel": "chatapp", "status": "draft", "callingList": null}));
    assert_eq!(made["chatapp"]["optInPolicy"], "skip_check");
    made["chatapp"].shows(json!({"ratePerMinute": 600, "launchedAt": null}));
    let mut bare = desk.body();
    bare.as_object_mut().unwrap().remove("settings");
    let bare = app.post(live, "/v1/campaigns", &bare).await.data(201);
    bare["settings"].shows(json!({"dailyFrom": "09:00", "dailyTo": "21:00"}));
    for (field, value, named) in [
        ("templateId", Value::Null, "chatapp.templateId"),
        ("ratePerMinute", json!(601), "chatapp.ratePerMinute"),
        ("optInPolicy", json!("maybe"), "chatapp.optInPolicy"),
        ("phoneNumberId", json!("nobody"), "chatapp.phoneNumberId"),
        (
            "paramMapping",
            json!({"footer": {"source": "static", "value": "x"}}),
            "chatapp.paramMapping.footer",
        ),
    ] {
        let mut body = desk.body();
        match value {
            Value::Null => drop(body["chatapp"].as_object_mut().unwrap().remove(field)),
            value => body["chatapp"][field] = value,
        }
        let refused = app.post(live, "/v1/campaigns", &body).await.invalid();
        assert_eq!(refused["meta"]["field"], named, "{refused}");
    }
    let path = format!("/v1/campaigns/{}", made["id"].as_str().unwrap());
    app.post(live, &format!("{path}/run"), &Value::Null).await.refused(409, "chatapp_campaign");
    app.get(live, &format!("{path}/summary")).await.refused(409, "chatapp_campaign");
    app.put(live, &path, &json!({"chatapp": {"ratePerMinute": 30}})).await.expect(200);
    assert_eq!(desk.show_campaign(made["id"].as_str().unwrap()).await["chatapp"]["ratePerMinute"], 30);
}

#[tokio::test]
async fn scopes_of_the_channel_are_needed_and_hide_the_block() {
    let desk = Desk::start("UTILITY").await;
    let app = &desk.app;
    let id = desk.create(&desk.body()).await;
    let key = app.key(&desk.workspace.id, "live", json!(["campaigns:read", "campaigns:write"])).await;
    let path = format!("/v1/campaigns/{id}");
    assert!(app.get(&key, &path).await.expect(200)["data"].get("chatapp").is_none());
    for refused in [
        app.post(&key, "/v1/campaigns", &desk.body()).await,
        app.put(&key, &path, &json!({"name": "Other"})).await,
        app.delete(&key, &path).await,
        app.post(&key, &format!("{path}/contacts"), &json!({"contacts": [row("9812345678", "Asha")]})).await,
        app.post(&key, &format!("{path}/status"), &json!({"status": "active"})).await,
    ] {
        assert_eq!(refused.refused(403, "api_scope_missing")["meta"]["scope"], "chatapp:write");
    }
    let refused = app.get(&key, &format!("{path}/contacts")).await.refused(403, "api_scope_missing");
    assert_eq!(refused["meta"]["scope"], "chatapp:read");
    let features = json!({"features": {"chatappCampaigns": false}});
    app.operator("PATCH", &format!("/workspaces/{}", desk.workspace.id), &features).await.expect(200);
    app.post(desk.live(), "/v1/campaigns", &desk.body()).await.refused(403, "feature_disabled");
}

#[tokio::test]
async fn a_test_key_checks_everything_and_stores_nothing() {
    let desk = Desk::start("UTILITY").await;
    let (app, test) = (&desk.app, desk.workspace.test.as_str());
    let made = app.post(test, "/v1/campaigns", &desk.body()).await.data(201);
    assert_eq!(made["livemode"], false);
    assert_eq!(app.get(test, "/v1/campaigns").await.expect(200)["data"], json!([]));
    app.post(test, "/v1/campaigns", &json!({"name": "Calls"})).await.read_only();
    let id = desk.create(&desk.body()).await;
    let path = format!("/v1/campaigns/{id}");
    app.post(test, &format!("{path}/status"), &json!({"status": "active"}))
        .await
        .refused(409, "preflight_blocked");
    desk.set_list(&id, json!([row("9812345678", "Asha")])).await.expect(200);
    let told = app.post(test, &format!("{path}/status"), &json!({"status": "active"})).await.data(200);
    assert_eq!((&told["livemode"], &told["status"]), (&json!(false), &json!("active")));
    assert_eq!(desk.show_campaign(&id).await["status"], "draft");
    app.delete(test, &path).await.read_only();
}

#[tokio::test]
async fn everybody_gets_the_message_once_and_the_campaign_ends() {
    let desk = Desk::start("UTILITY").await;
    let id = desk.create(&desk.body()).await;
    desk.post_status(&id, json!({"status": "active"})).await.refused(409, "preflight_blocked");
    let listed = desk.set_list(&id,
            json!([
                row("9812345670", "Asha"), row("+14155550100", "Ravi"), row("9812345670", "Asha again"),
                {"phone": "nobody", "name": "X", "variables": {"due": "1"}}, {"phone": "9812345671", "name": "Lacks"},
            ]),
        )
        .await.data(200);
    assert_eq!(listed, json!({"total": 5, "valid": 3, "invalid": 2}));
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    desk.set_list(&id, json!([row("9812345672", "M")])).await.refused(409, "campaign_launched");
    desk.advance(30).await;
    let campaign = desk.show_campaign(&id).await;
    let stats = &campaign["chatapp"]["stats"];
    assert_eq!(
        (&stats["total"], &stats["sent"], &stats["pending"]),
        (&json!(5), &json!(2), &json!(0)),
        "{campaign}"
    );
    assert_eq!(stats["skippedByReason"], json!({"duplicate": 1, "invalid_phone": 1, "missing_params": 1}));
    assert_eq!(campaign["status"], "completed");
    let finished = desk.payloads("campaign.finished").await;
    assert_eq!(finished.len(), 1);
    finished[0].shows(json!({"channel": "chatapp", "reason": "list_complete"}));
    assert_eq!(finished[0]["stats"]["sent"], 2);
    let messages = desk.get("/v1/chatapp/messages").await;
    assert_eq!(messages["data"].as_array().unwrap().len(), 2);
}

/// A sender holds the line of its number for a moment. A campaign stores its messages without waiting for that. They are sent
/// when the sender has finished, although it did not see them.
#[tokio::test(flavor = "multi_thread")]
async fn a_campaign_hands_over_while_somebody_holds_its_number_on_postgres() {
    needs_postgres();
    let desk = Desk::start("UTILITY").await;
    let numbers = desk.get("/v1/chatapp/numbers").await;
    let number = numbers["data"][0]["phoneNumberId"].as_str().unwrap().to_owned();
    let id = desk.create(&desk.body()).await;
    desk.set_list(&id, json!([row("9812345670", "Asha"), row("9812345671", "Ravi")])).await.expect(200);
    let (store, tenant) = (desk.app().store.clone(), desk.tenant());
    // Who looks for a line while it is made waits for that.
    let line = number.clone();
    let made =
        store.of(tenant).tx(move |tx| store::channel_messages::send_queue_for_update(tx, &line).map(drop));
    made.await.unwrap();
    let line = number.clone();
    let take = move |tx: &mut store::Tx<'_>| {
        store::channel_messages::send_queue_for_update(&mut tx.of(tenant), &line).map(drop)
    };
    // What the holder has seen is that nothing waits.
    let last = move |tx: &mut store::Tx<'_>| {
        let line = store::channel_messages::send_queue_for_update(&mut tx.of(tenant), &number)?;
        store::channel_messages::save_send_queue(
            tx,
            &store::channel_messages::SendQueueRow { next_at: None, ..line },
        )
    };
    let holder = Holder::of(&desk.app, take, last).await;
    let standing = async || {
        let listed = desk.get("/v1/chatapp/messages").await;
        let rows = listed["data"].as_array().unwrap().iter();
        rows.map(|message| message["status"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    desk.advance(1).await;
    assert_eq!(standing().await, ["queued", "queued"]);
    holder.end().await;
    desk.advance(1).await;
    assert!(standing().await.iter().all(|status| status != "queued"), "{:?}", standing().await);
}

#[tokio::test]
async fn marketing_goes_to_recorded_opt_ins_alone() {
    let desk = Desk::start("MARKETING").await;
    let mut body = desk.body();
    body["chatapp"]["optInPolicy"] = json!("skip_check");
    let refused = desk.post("/v1/campaigns", &body).await.invalid();
    assert_eq!(refused["meta"]["field"], "chatapp.optInPolicy");
    let id = desk.create(&desk.body()).await;
    assert_eq!(desk.show_campaign(&id).await["chatapp"]["optInPolicy"], "require");
    desk.set_list(&id, json!([row("9812345670", "Asha")])).await.expect(200);
    let blocked = desk.post_status(&id, json!({"status": "active"})).await.refused(409, "preflight_blocked");
    assert_eq!(blocked["meta"]["report"]["byReason"], json!({"no_opt_in": 1}));
    let yes =
        json!({"phone": "9812345671", "name": "Ravi", "variables": {"due": "1", "chatapp_opt_in": "Yes"}});
    desk.set_list(&id, json!([row("9812345670", "Asha"), yes])).await.expect(200);
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    desk.advance(30).await;
    let stats = desk.show_campaign(&id).await["chatapp"]["stats"].clone();
    assert_eq!((&stats["sent"], &stats["skippedByReason"]), (&json!(1), &json!({"no_opt_in": 1})));
}

impl Desk {
    /// A campaign that has been published to these numbers.
    async fn published(&self, numbers: &[&str]) -> String {
        let id = self.create(&self.body()).await;
        let rows: Vec<Value> = numbers.iter().map(|number| row(number, "Asha")).collect();
        self.set_list(&id, json!(rows)).await.expect(200);
        self.post_status(&id, json!({"status": "active"})).await.expect(200);
        id
    }

    /// Stats of a campaign that has had the time to send and to hear of it.
    async fn stats(&self, id: &str) -> Value {
        self.show_campaign(id).await["chatapp"]["stats"].clone()
    }

    async fn customer(&self, from: &str, text: &str) {
        let numbers = self.get("/v1/chatapp/numbers").await;
        let body = json!({"phoneNumberId": numbers["data"][0]["phoneNumberId"], "from": from, "text": text});
        self.send("POST", "/dev/chatapp/inbound", None, &[], body.to_string().into()).await.expect(200);
        self.advance(1).await;
    }

    /// Messages that a campaign has sent.
    async fn sent(&self) -> Vec<Value> {
        let listed = self.get("/v1/chatapp/messages?limit=100").await;
        let all = listed["data"].as_array().unwrap().iter();
        all.filter(|message| message["source"] == "campaign").cloned().collect()
    }
}

#[tokio::test]
async fn replies_are_the_last_step_and_a_stop_is_counted_apart() {
    let desk = Desk::start("UTILITY").await;
    let id = desk.published(&["+919812345670", "+919812345671", "+919812342222"]).await;
    desk.advance(10).await;
    let stats = desk.stats(&id).await;
    stats.shows(json!({"sent": 3, "delivered": 3, "read": 2, "replied": 0}));
    desk.customer("+919812345670", "When is it due?").await;
    desk.customer("+919812345671", "STOP").await;
    // Somebody else, and the same person once more, change nothing.
    desk.customer("+919812345699", "Hello").await;
    desk.customer("+919812345670", "Tell me").await;
    let stats = desk.stats(&id).await;
    stats.shows(json!({"sent": 3, "replied": 2, "optedOutAfter": 1}));
}

#[tokio::test]
async fn who_may_not_be_written_to_any_more_is_passed_over_at_the_moment_of_sending() {
    let desk = Desk::start("UTILITY").await;
    desk.customer("+919812345670", "STOP").await;
    let id = desk.published(&["+919812345670", "+919812345671"]).await;
    desk.advance(10).await;
    let stats = desk.stats(&id).await;
    assert_eq!((&stats["sent"], &stats["skipped"]), (&json!(1), &json!(1)), "{stats}");
    assert_eq!(stats["skippedByReason"], json!({"opted_out": 1}));
    // What was refused to a contact is kept as a message that failed.
    let told: Vec<Value> =
        desk.sent().await.iter().map(|message| json!([message["to"], message["error"]["code"]])).collect();
    assert_eq!(told.len(), 2);
    assert!(told.contains(&json!(["+919812345670", -1001])), "{told:?}");
    assert!(told.contains(&json!(["+919812345671", null])), "{told:?}");
}

#[tokio::test]
async fn a_cap_is_no_failure_and_an_unknown_outcome_is_never_sent_again() {
    let desk = Desk::start("UTILITY").await;
    let id = desk.published(&["+919812340049", "+919812340026", "+919812340000", "+919812340062"]).await;
    desk.advance(300).await;
    let campaign = desk.show_campaign(&id).await;
    assert_eq!(campaign["status"], "completed");
    let stats = &campaign["chatapp"]["stats"];
    stats.shows(json!({"frequencyCapped": 1, "failed": 2, "deliveryUnknown": 1, "sent": 0, "pending": 0}));
    assert_eq!(stats["failedByCode"], json!({"131026": 1, "131062": 1}));
    desk.advance(600).await;
    assert_eq!(desk.sent().await.len(), 4);
}

#[tokio::test]
async fn what_the_template_the_number_or_the_account_cannot_do_pauses_a_campaign() {
    for (ends, reason) in [
        ("0015", "template_unavailable"),
        ("0031", "account_restricted"),
        ("0042", "payment_issue"),
        ("0048", "spam_rate_limited"),
        ("3010", "number_not_registered"),
    ] {
        let desk = Desk::start("UTILITY").await;
        let refused = format!("+91981234{ends}");
        let id = desk.published(&[&refused]).await;
        desk.advance(10).await;
        let campaign = desk.show_campaign(&id).await;
        campaign.shows(json!({"status": "paused", "chatapp.pausedReason": reason}));
        // It was certainly not sent, so the person waits.
        let stats = &campaign["chatapp"]["stats"];
        assert_eq!((&stats["pending"], &stats["failed"]), (&json!(1), &json!(0)), "{ends}: {stats}");
        assert!(desk.payloads("campaign.finished").await.is_empty());
    }
}

#[tokio::test]
async fn a_campaign_that_was_paused_goes_on_where_it_stopped() {
    let desk = Desk::start("UTILITY").await;
    let mut body = desk.body();
    body["chatapp"]["ratePerMinute"] = json!(6);
    let id = desk.create(&body).await;
    let rows: Vec<Value> = (0..6).map(|n| row(&format!("981234567{n}"), "Asha")).collect();
    desk.set_list(&id, json!(rows)).await.expect(200);
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    desk.advance(15).await;
    let before = desk.sent().await.len();
    assert!((1..6).contains(&before), "{before} of 6 at one in ten seconds");
    desk.post_status(&id, json!({"status": "paused"})).await.expect(200);
    desk.advance(600).await;
    assert_eq!(desk.sent().await.len(), before, "nothing is sent while it is paused");
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    // The machine goes down in the middle, and the campaign goes on once.
    desk.advance(12).await;
    let now = desk.app().clock.now().to_string();
    let desk = Desk { world: desk.world.restart().await, ..desk };
    desk.set_clock(&now).await;
    desk.advance(120).await;
    let sent = desk.sent().await;
    let mut people: Vec<&str> = sent.iter().map(|message| message["to"].as_str().unwrap()).collect();
    people.sort_unstable();
    people.dedup();
    assert_eq!((sent.len(), people.len()), (6, 6));
    assert_eq!(desk.show_campaign(&id).await["status"], "completed");
}

#[tokio::test]
async fn people_of_other_countries_are_erased_from_lists() {
    let desk = Desk::start("UTILITY").await;
    let id = desk.published(&["+14155550100"]).await;
    desk.advance(10).await;
    let message = desk.sent().await.remove(0);
    let contact = message["contactId"].as_str().unwrap().to_owned();
    desk.erase(&contact).await.expect(200);
    desk.advance(5).await;
    let listed = desk.get(&format!("/v1/campaigns/{id}/contacts")).await;
    let shown = listed.to_string();
    assert!(!shown.contains("4155550100") && !shown.contains("Asha"), "{shown}");
}

//! What stops campaigns on the messaging channel and how they go on, what their preflight says, and what becomes of
//! replies (docs/contract/campaigns.md#campaigns-on-the-messaging-channel), against a Cloud API.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::cloud::{self, NUMBER, about_messages, change, template_event};
use crate::fakes::Reply;
use crate::shows::Shows;
use crate::world::{Channel, World, leads_to};

/// The provider's id of the template.
const TEMPLATE: &str = "594400001";

struct Desk {
    channel: Channel,
    template: String,
}

leads_to!(Desk, channel: Channel);

fn template(category: &str, components: Value) -> Value {
    json!({"id": TEMPLATE, "name": "due", "language": "en", "category": category, "status": "APPROVED",
        "components": components})
}

fn body_of(category: &str) -> Value {
    template(category, json!([{"type": "BODY", "text": "Hi {{1}}, it is due."}]))
}

/// The provider tells that the template became marketing.
fn recategorised() -> Value {
    let value = json!({"message_template_id": TEMPLATE.parse::<i64>().unwrap(), "message_template_name": "due",
        "message_template_language": "en", "previous_category": "UTILITY", "new_category": "MARKETING"});
    change("template_category_update", value)
}

impl Desk {
    async fn open(template: Value) -> Self {
        let channel = Channel::open().await;
        channel.fake.system.put_template(template);
        let template = channel.sync_templates().await;
        Self { channel, template }
    }

    /// One message in a minute, so that a second person waits while something happens.
    async fn create(&self, mapping: Value) -> String {
        let body = json!({"name": "Dues", "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
            "chatapp": {"templateId": self.template, "ratePerMinute": 1, "paramMapping": mapping}});
        self.post("/v1/campaigns", &body).await.id(201)
    }

    /// A campaign to three people, of whom the first has got the message; the second has a recorded opt-in.
    async fn launched(&self) -> String {
        let id = self.create(json!({"body.1": {"source": "contact", "value": "name"}})).await;
        let row = |n: u8, said: &str| {
            let variables = json!({"chatapp_opt_in": said});
            json!({"phone": format!("981234567{n}"), "name": "Asha", "variables": variables})
        };
        self.set_list(&id, json!([row(0, "no"), row(1, "y"), row(2, "no")])).await.expect(200);
        self.post_status(&id, json!({"status": "active"})).await.expect(200);
        self.advance(2).await;
        assert_eq!(self.fake.system.sent().len(), 1, "one message in a minute");
        id
    }

    /// A campaign to one person that is not published yet.
    async fn with_one_person() -> (Self, String) {
        let desk = Self::open(body_of("UTILITY")).await;
        let id = desk.create(json!({"body.1": {"source": "contact", "value": "name"}})).await;
        desk.set_list(&id, json!([{"phone": "9812345670", "name": "Asha"}])).await.expect(200);
        (desk, id)
    }

    async fn erase_the_only_contact(&self) {
        let listed = self.get("/v1/contacts").await;
        self.erase(listed["data"][0]["id"].as_str().unwrap()).await.expect(200);
    }

    /// The provider tells that something happened to the number, which stands like this from now on.
    async fn stands(&self, word: &str) {
        self.fake.system.stand(Some(word));
        let number = NUMBER.trim_start_matches('+');
        // What is said twice counts once.
        let event = if word == "CONNECTED" { "UNFLAGGED" } else { "FLAGGED" };
        let news = json!({"event": event, "display_phone_number": number});
        self.notified(&change("phone_number_quality_update", news)).await;
        self.until(self.live(), "/v1/chatapp/numbers", |shown| shown["data"][0]["status"] == word).await;
    }

    /// A campaign that stopped for this reason; nothing goes out while it stands.
    async fn stopped(&self, id: &str, reason: &str) {
        let campaign = self.show_campaign(id).await;
        campaign.shows(json!({"status": "paused", "chatapp.pausedReason": reason}));
        self.advance(600).await;
        assert_eq!(self.fake.system.sent().len(), 1, "{reason}");
    }

    /// It goes on, and everybody who is left gets the message.
    async fn goes_on(&self, id: &str, body: Value, sent: usize) -> Value {
        let shown = self.post_status(id, body).await.data(200);
        assert_eq!((&shown["status"], &shown["chatapp"]["pausedReason"]), (&json!("active"), &Value::Null));
        for _ in 0..5 {
            self.advance(61).await;
        }
        assert_eq!(self.fake.system.sent().len(), sent);
        let campaign = self.show_campaign(id).await;
        assert_eq!(campaign["status"], "completed", "{campaign}");
        campaign
    }
}

#[tokio::test]
async fn a_template_that_is_not_there_any_more_stops_a_campaign_until_it_is_back() {
    let desk = Desk::open(body_of("UTILITY")).await;
    let id = desk.launched().await;
    desk.notified(&template_event(TEMPLATE, "due", "PAUSED")).await;
    desk.stopped(&id, "template_unavailable").await;
    let refused = desk.post_status(&id, json!({"status": "active"})).await.refused(409, "preflight_blocked");
    assert_eq!(refused["meta"]["report"]["blockers"][0]["code"], "template_not_approved", "{refused}");
    assert_eq!(refused["meta"]["report"]["willReceive"], 2);
    desk.notified(&template_event(TEMPLATE, "due", "UNPAUSED")).await;
    assert_eq!(desk.show_campaign(&id).await["status"], "paused", "it does not go on by itself");
    desk.goes_on(&id, json!({"status": "active"}), 3).await;
}

#[tokio::test]
async fn a_template_that_became_marketing_goes_to_recorded_opt_ins_once_that_is_accepted() {
    let desk = Desk::open(body_of("UTILITY")).await;
    let id = desk.launched().await;
    desk.notified(&recategorised()).await;
    desk.stopped(&id, "template_recategorised").await;
    for body in [json!({"status": "active"}), json!({"status": "active", "acknowledgeQuality": true})] {
        let refused = desk.post_status(&id, body).await.refused(409, "preflight_blocked");
        let codes = &refused["meta"]["report"]["blockers"];
        assert_eq!(codes[0]["code"], "template_recategorised", "{refused}");
    }
    let body = json!({"status": "active", "acknowledgeRecategorisation": true});
    let campaign = desk.goes_on(&id, body, 2).await;
    let stats = &campaign["chatapp"]["stats"];
    assert_eq!((&stats["sent"], &stats["skippedByReason"]), (&json!(2), &json!({"no_opt_in": 1})));
}

#[tokio::test]
async fn a_red_number_stops_a_campaign_until_that_is_accepted() {
    let desk = Desk::open(body_of("UTILITY")).await;
    let id = desk.launched().await;
    desk.post_status(&id, json!({"status": "paused"})).await.expect(200);
    desk.fake.system.rate("RED");
    // Connecting anew looks at the numbers.
    desk.put_connection(&cloud::credentials()).await.expect(200);
    desk.advance(86_400).await;
    desk.until(desk.live(), "/v1/chatapp/numbers", |shown| shown["data"][0]["quality"] == "RED").await;
    let refused = desk.post_status(&id, json!({"status": "active"})).await.refused(409, "preflight_blocked");
    assert_eq!(refused["meta"]["report"]["blockers"][0]["code"], "quality_red", "{refused}");
    desk.goes_on(&id, json!({"status": "active", "acknowledgeQuality": true}), 3).await;
}

#[tokio::test]
async fn a_quality_that_falls_stops_a_campaign() {
    let desk = Desk::open(body_of("UTILITY")).await;
    let body = json!({"name": "Dues", "channel": "chatapp", "settings": {"startAt": "2099-01-01T00:00:00Z"},
        "chatapp": {"templateId": desk.template, "paramMapping": {"body.1": {"source": "static", "value": "Asha"}}}});
    let id = desk.post("/v1/campaigns", &body).await.id(201);
    desk.set_list(&id, json!([{"phone": "9812345670", "variables": {}}])).await.expect(200);
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    desk.fake.system.rate("RED");
    desk.advance(86_400).await;
    let path = format!("/v1/campaigns/{id}");
    let shown = desk.until(desk.live(), &path, |shown| shown["data"]["status"] == "paused").await;
    assert_eq!(shown["data"]["chatapp"]["pausedReason"], "quality_red");
}

#[tokio::test]
async fn a_number_that_cannot_send_any_more_stops_a_campaign() {
    for gone in [Some("BANNED"), Some("DISCONNECTED"), None] {
        let desk = Desk::open(body_of("UTILITY")).await;
        let id = desk.launched().await;
        desk.fake.system.stand(gone);
        // The provider tells that something happened to a number; its list says what.
        desk.notified(&change(
            "account_update",
            json!({"event": "PHONE_NUMBER_REMOVED", "phone_number": "918047111222"}),
        ))
        .await;
        let word = gone.unwrap_or("DISCONNECTED");
        desk.until(desk.live(), "/v1/chatapp/numbers", |shown| shown["data"][0]["status"] == word).await;
        desk.stopped(&id, "not_connected").await;
        let refused =
            desk.post_status(&id, json!({"status": "active"})).await.refused(409, "preflight_blocked");
        assert_eq!(refused["meta"]["report"]["blockers"][0]["code"], "not_connected", "{refused}");
        desk.fake.system.stand(Some("CONNECTED"));
        desk.notified(&change(
            "phone_number_quality_update",
            json!({"event": "UNFLAGGED", "display_phone_number": "918047111222"}),
        ))
        .await;
        desk.app
            .until(desk.live(), "/v1/chatapp/numbers", |shown| shown["data"][0]["status"] == "CONNECTED")
            .await;
        desk.goes_on(&id, json!({"status": "active"}), 3).await;
    }
}

#[tokio::test]
async fn what_happens_to_the_account_stops_a_campaign() {
    let desk = Desk::open(body_of("UTILITY")).await;
    let id = desk.launched().await;
    let disabled = |word: &str| {
        change("account_update", json!({"event": "DISABLED_UPDATE", "ban_info": {"waba_ban_state": word}}))
    };
    desk.notified(&disabled("DISABLE")).await;
    desk.stopped(&id, "account_restricted").await;
    let refused = desk.post_status(&id, json!({"status": "active"})).await.refused(409, "preflight_blocked");
    assert_eq!(refused["meta"]["report"]["blockers"][0]["code"], "account_restricted", "{refused}");
    desk.notified(&disabled("REINSTATE")).await;
    desk.goes_on(&id, json!({"status": "active"}), 3).await;
}

#[tokio::test]
async fn an_account_that_is_taken_away_stops_a_campaign() {
    let desk = Desk::open(body_of("UTILITY")).await;
    let id = desk.launched().await;
    desk.operator("DELETE", "/chatapp/connection", Value::Null).await.expect(200);
    desk.stopped(&id, "not_connected").await;
    let refused = desk.post_status(&id, json!({"status": "active"})).await.refused(409, "preflight_blocked");
    let blockers = refused["meta"]["report"]["blockers"].as_array().unwrap();
    assert!(blockers.iter().any(|blocker| blocker["code"] == "not_connected"), "{refused}");
    desk.connect_cloud().await;
    // The templates went with the account.
    desk.post("/v1/chatapp/templates/sync", &Value::Null).await.expect(200);
    let listed = desk.get("/v1/chatapp/templates").await;
    let body = json!({"chatapp": {"templateId": listed["data"][0]["id"]}});
    desk.put(&format!("/v1/campaigns/{id}"), &body).await.expect(200);
    desk.goes_on(&id, json!({"status": "active"}), 3).await;
}

#[tokio::test]
async fn a_refusal_for_the_account_or_the_number_stops_a_campaign_and_gives_the_person_back() {
    for (status, code, reason) in [
        (401, 190, "token_invalid"),
        (403, 10, "permission_denied"),
        (400, 131_042, "payment_issue"),
        (400, 133_010, "number_not_registered"),
        (400, 131_048, "spam_rate_limited"),
        (403, 131_031, "account_restricted"),
    ] {
        let desk = Desk::open(body_of("UTILITY")).await;
        let id = desk.create(json!({"body.1": {"source": "contact", "value": "name"}})).await;
        desk.set_list(&id, json!([{"phone": "9812345670", "name": "Asha", "variables": {}}]))
            .await
            .expect(200);
        desk.fake.fail_always("/messages", cloud::refusal(status, code));
        desk.post_status(&id, json!({"status": "active"})).await.expect(200);
        desk.advance(5).await;
        let campaign = desk.show_campaign(&id).await;
        campaign
            .shows(json!({"status": "paused", "chatapp.pausedReason": reason, "chatapp.stats.pending": 1}));
        desk.fake.mend();
        desk.put_connection(&cloud::credentials()).await.expect(200);
        desk.goes_on(&id, json!({"status": "active"}), 1).await;
    }
}

#[tokio::test]
async fn half_of_the_recent_messages_failing_stops_a_campaign() {
    let desk = Desk::open(body_of("UTILITY")).await;
    let body = json!({"name": "Dues", "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
        "chatapp": {"templateId": desk.template, "ratePerMinute": 60,
            "paramMapping": {"body.1": {"source": "static", "value": "Asha"}}}});
    let id = desk.post("/v1/campaigns", &body).await.id(201);
    let rows: Vec<Value> =
        (0..60).map(|n| json!({"phone": format!("98123456{n:02}"), "variables": {}})).collect();
    desk.set_list(&id, json!(rows)).await.expect(200);
    desk.fake.fail_always("/messages", cloud::refusal(400, 131_026));
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    for _ in 0..40 {
        desk.advance(1).await;
    }
    let campaign = desk.show_campaign(&id).await;
    let block = &campaign["chatapp"];
    assert_eq!(
        (&campaign["status"], &block["pausedReason"], &block["stats"]["failed"]),
        (&json!("paused"), &json!("high_failure_rate"), &json!(20)),
        "{campaign}"
    );
    assert_eq!(block["stats"]["failedByCode"], json!({"131026": 20}));
    // What failed before it goes on does not count again.
    desk.fake.mend();
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    for _ in 0..60 {
        desk.advance(1).await;
    }
    let stats = desk.show_campaign(&id).await["chatapp"]["stats"].clone();
    stats.shows(json!({"sent": 40, "failed": 20, "pending": 0}));
}

#[tokio::test]
async fn who_opts_out_while_the_message_waits_is_skipped_for_the_reason_that_a_preflight_names() {
    let (desk, id) = Desk::with_one_person().await;
    desk.fake.fail("/messages", 1, cloud::refusal(400, 80_007));
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    desk.advance(2).await;
    assert_eq!(desk.fake.system.sent().len(), 0);
    desk.show_campaign(&id).await.shows(json!({"status": "active"}));
    desk.post("/v1/dnc", &json!({"phones": ["+919812345670"]})).await.expect(200);
    desk.advance(120).await;
    desk.advance(10).await;
    let campaign = desk.show_campaign(&id).await;
    assert_eq!(campaign["chatapp"]["stats"]["skippedByReason"], json!({"do_not_call": 1}), "{campaign}");
    assert_eq!((desk.fake.system.sent().len(), &campaign["status"]), (0, &json!("completed")));
}

#[tokio::test]
async fn who_is_erased_before_the_message_is_sent_is_skipped_and_the_campaign_ends() {
    let (desk, id) = Desk::with_one_person().await;
    // It waits for a minute.
    desk.fake.fail("/messages", 1, cloud::refusal(400, 80_007));
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    desk.advance(2).await;
    desk.erase_the_only_contact().await;
    desk.advance(120).await;
    let campaign = desk.show_campaign(&id).await;
    campaign.shows(json!({"status": "completed", "chatapp.stats.skippedByReason": {"erased": 1}}));
    assert_eq!(desk.fake.system.sent().len(), 0);
}

#[tokio::test]
async fn whether_who_is_erased_while_the_provider_is_asked_got_the_message_is_unknown() {
    let (desk, id) = Desk::with_one_person().await;
    let permits = Arc::new(Semaphore::new(0));
    desk.fake.fail("/messages", 1, Reply::Held(permits.clone()));
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    tokio::join!(desk.advance(2), async {
        desk.fake.wait_for("/messages", 1).await;
        desk.erase_the_only_contact().await;
        permits.add_permits(1);
    });
    desk.advance(120).await;
    let campaign = desk.show_campaign(&id).await;
    let stats = &campaign["chatapp"]["stats"];
    assert_eq!(
        (&campaign["status"], &stats["deliveryUnknown"], &stats["pending"]),
        (&json!("completed"), &json!(1), &json!(0)),
        "{campaign}"
    );
    assert_eq!(desk.fake.system.sent().len(), 1, "the provider had been asked before");
}

#[tokio::test]
async fn a_message_that_waits_is_taken_back_when_the_campaign_may_not_send_it_and_goes_out_once() {
    for case in ["paused", "rejected", "deleted", "marketing", "banned", "released"] {
        let desk = Desk::open(body_of("UTILITY")).await;
        let id = desk.create(json!({"body.1": {"source": "contact", "value": "name"}})).await;
        // The opt-in comes along, so nothing but the campaign stops a marketing message.
        let variables = json!({"chatapp_opt_in": "y"});
        desk.set_list(&id, json!([{"phone": "9812345670", "name": "Asha", "variables": variables}]))
            .await
            .expect(200);
        // It is handed over, and then waits for a minute.
        desk.fake.fail("/messages", 1, cloud::refusal(400, 80_007));
        desk.post_status(&id, json!({"status": "active"})).await.expect(200);
        desk.advance(2).await;
        let waiting = desk.get("/v1/chatapp/messages").await;
        assert_eq!(waiting["data"][0]["status"], "queued", "{case}");
        let mut again = json!({"status": "active"});
        let reason = match case {
            "paused" | "rejected" => {
                desk.notified(&template_event(TEMPLATE, "due", &case.to_uppercase())).await;
                "template_unavailable"
            }
            "deleted" => {
                desk.fake.system.remove_template("due");
                desk.post("/v1/chatapp/templates/sync", &Value::Null).await.expect(200);
                "template_unavailable"
            }
            "marketing" => {
                desk.notified(&recategorised()).await;
                again["acknowledgeRecategorisation"] = json!(true);
                "template_recategorised"
            }
            "banned" => {
                desk.stands("BANNED").await;
                "not_connected"
            }
            _ => {
                let path = format!("/chatapp/numbers/{}", cloud::NUMBER_ID);
                desk.operator("DELETE", &path, Value::Null).await.expect(200);
                "not_connected"
            }
        };
        desk.advance(600).await;
        let campaign = desk.show_campaign(&id).await;
        let block = &campaign["chatapp"];
        assert_eq!(
            (&campaign["status"], &block["pausedReason"], &block["stats"]["pending"]),
            (&json!("paused"), &json!(reason), &json!(1)),
            "{case}: {campaign}"
        );
        assert_eq!(desk.fake.system.sent().len(), 0, "{case}");
        // As if it had never been.
        let listed = desk.get("/v1/chatapp/messages").await;
        assert_eq!(listed["data"], json!([]), "{case}");
        assert!(desk.payloads("message.failed").await.is_empty(), "{case}");
        match case {
            "paused" | "rejected" => desk.notified(&template_event(TEMPLATE, "due", "APPROVED")).await,
            "deleted" => {
                desk.fake.system.put_template(body_of("UTILITY"));
                desk.post("/v1/chatapp/templates/sync", &Value::Null).await.expect(200);
                let listed = desk.get("/v1/chatapp/templates").await;
                let body = json!({"chatapp": {"templateId": listed["data"][0]["id"]}});
                desk.put(&format!("/v1/campaigns/{id}"), &body).await.expect(200);
            }
            "marketing" => {}
            "banned" => desk.stands("CONNECTED").await,
            _ => {
                let number = json!({"phoneNumberId": cloud::NUMBER_ID, "number": NUMBER});
                desk.add_channel_number(&number).await.expect(201);
            }
        }
        let campaign = desk.goes_on(&id, again, 1).await;
        let stats = &campaign["chatapp"]["stats"];
        assert_eq!((&stats["sent"], &stats["failed"], &stats["total"]), (&json!(1), &json!(0), &json!(1)));
        let listed = desk.get("/v1/chatapp/messages").await;
        assert_eq!(listed["data"].as_array().unwrap().len(), 1, "{case}");
    }
}

#[tokio::test]
async fn values_come_from_the_list_the_contact_and_the_mapping() {
    let components = json!([
        {"type": "HEADER", "format": "DOCUMENT", "example": {"header_handle": ["x"]}},
        {"type": "BODY", "text": "{{1}} {{2}} {{3}} {{4}}"},
        {"type": "BUTTONS", "buttons": [{"type": "URL", "text": "Pay", "url": "https://p.example/{{1}}"}]},
    ]);
    let desk = Desk::open(template("UTILITY", components)).await;
    let contact = json!({"externalRef": "c1", "phone": "+919812345670", "name": "Asha", "email": "asha@mail.example",
        "attributes": {"loan": "L-7"}});
    desk.post("/v1/contacts", &contact).await.expect(201);
    let mapping = json!({
        "header_media": {"source": "static", "value": "https://files.example/bill.pdf"},
        "body.1": {"source": "contact", "value": "name"}, "body.2": {"source": "contact", "value": "email"},
        "body.3": {"source": "contact", "value": "phone"}, "body.4": {"source": "column", "value": "due"},
        "button.0": {"source": "contact", "value": "loan"},
    });
    let id = desk.create(mapping).await;
    let row = |phone: &str| json!({"phone": phone, "name": "On the list", "variables": {"due": "4500"}});
    // The second has neither an address nor a loan.
    desk.set_list(&id, json!([row("9812345670"), row("9812345671")])).await.expect(200);
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    desk.advance(3).await;
    desk.advance(61).await;
    let sent = desk.fake.system.sent();
    assert_eq!(sent.len(), 1);
    let parts = &sent[0]["template"]["components"];
    let texts = |part: &Value| -> Vec<String> {
        let parameters = part["parameters"].as_array().unwrap().iter();
        parameters.map(|value| value["text"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(parts[0]["parameters"][0]["document"]["link"], "https://files.example/bill.pdf", "{parts}");
    assert_eq!(texts(&parts[1]), ["Asha", "asha@mail.example", "+919812345670", "4500"]);
    assert_eq!(texts(&parts[2]), ["L-7"]);
    let stats = desk.show_campaign(&id).await["chatapp"]["stats"].clone();
    assert_eq!(stats["skippedByReason"], json!({"missing_params": 1}));
}

#[tokio::test]
async fn a_preflight_says_who_gets_it_how_long_it_takes_and_what_it_costs() {
    let desk = Desk::open(body_of("UTILITY")).await;
    let id = desk.create(json!({"body.1": {"source": "column", "value": "name"}})).await;
    let row = |phone: &str, variables: Value| json!({"phone": phone, "variables": variables});
    let named = || json!({"name": "Asha"});
    desk.post("/v1/dnc", &json!({"phones": ["+919812345673"]})).await.expect(200);
    desk.set_list(
        &id,
        json!([
            row("9812345670", named()),
            row("98123 45670", named()),
            row("9812345671", json!({})),
            row("nobody at all", named()),
            row("9812345673", named()),
            row("+14155550100", named()),
        ]),
    )
    .await
    .expect(200);
    desk.notified(&template_event(TEMPLATE, "due", "PAUSED")).await;
    let refused = desk.post_status(&id, json!({"status": "active"})).await.refused(409, "preflight_blocked");
    let report = &refused["meta"]["report"];
    report.shows(json!({"passes": false, "total": 6, "willReceive": 2, "willNotReceive": 4}));
    report.shows(
        json!({"byReason": {"duplicate": 1, "invalid_phone": 1, "missing_params": 1, "do_not_call": 1}}),
    );
    report
        .shows(json!({"messagingTier": "TIER_2K", "tierLimit": 2_000, "daysNeeded": 1, "sendingMinutes": 2}));
    report.shows(json!({"estimatedCharges": {"currency": "INR", "category": "UTILITY", "perMessage": "0.1150", "total": "0.2300"}}));
    // Somebody else's number is not one of the workspace.
    let body = json!({"chatapp": {"phoneNumberId": "999"}});
    let refused = desk.put(&format!("/v1/campaigns/{id}"), &body).await;
    refused.invalid_field("chatapp.phoneNumberId");
}

#[tokio::test]
async fn it_sends_within_its_hours_alone_and_ends_with_its_last_day() {
    let desk = Desk::open(body_of("UTILITY")).await;
    desk.set_clock("2027-01-04T14:00:00Z").await;
    // 19:30 in India: half an hour before it closes.
    let body = json!({"name": "Dues", "channel": "chatapp",
        "settings": {"timezone": "Asia/Kolkata", "dailyFrom": "10:00", "dailyTo": "20:00", "endAt": "2027-01-05T06:00:00Z"},
        "chatapp": {"templateId": desk.template, "ratePerMinute": 1,
            "paramMapping": {"body.1": {"source": "static", "value": "Asha"}}}});
    let id = desk.post("/v1/campaigns", &body).await.id(201);
    let rows: Vec<Value> =
        (0..300).map(|n| json!({"phone": format!("981234{n:04}"), "variables": {}})).collect();
    desk.set_list(&id, json!(rows)).await.expect(200);
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    let minutes = async |count: usize| {
        for _ in 0..count {
            desk.advance(60).await;
        }
        desk.fake.system.sent().len()
    };
    let evening = minutes(40).await;
    assert!((25..=31).contains(&evening), "{evening}");
    desk.set_clock("2027-01-05T04:00:00Z").await;
    assert_eq!(minutes(20).await, evening, "it is closed until 10:00 in India");
    let morning = minutes(30).await;
    assert!(morning > evening + 10, "{morning}");
    desk.set_clock("2027-01-05T06:00:01Z").await;
    desk.advance(1).await;
    let campaign = desk.show_campaign(&id).await;
    assert_eq!(campaign["status"], "completed", "{campaign}");
    let first = desk.get("/v1/events?after=start&limit=100").await;
    let cursor = first["cursor"].as_str().unwrap();
    let next = desk.get(&format!("/v1/events?after={cursor}&limit=100")).await;
    let both = first["data"].as_array().unwrap().iter().chain(next["data"].as_array().unwrap());
    let finished: Vec<&Value> =
        both.filter(|event| event["type"] == "campaign.finished").map(|event| &event["data"]).collect();
    assert_eq!((finished.len(), &finished[0]["reason"]), (1, &json!("end_date")));
    assert!(finished[0]["stats"]["pending"].as_i64().unwrap() > 100, "{}", finished[0]);
}

#[tokio::test]
async fn the_messaging_limit_spreads_a_campaign_over_days() {
    let desk = Desk::open(body_of("UTILITY")).await;
    let body = change("business_capability_update", json!({"max_daily_conversations_per_business": 3}));
    desk.notified(&body).await;
    let body = json!({"name": "Dues", "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
        "chatapp": {"templateId": desk.template, "ratePerMinute": 600,
            "paramMapping": {"body.1": {"source": "static", "value": "Asha"}}}});
    let id = desk.post("/v1/campaigns", &body).await.id(201);
    let rows: Vec<Value> =
        (0..5).map(|n| json!({"phone": format!("981234567{n}"), "variables": {}})).collect();
    desk.set_list(&id, json!(rows)).await.expect(200);
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    desk.advance(30).await;
    desk.advance(3_600).await;
    assert_eq!(desk.fake.system.sent().len(), 3);
    let campaign = desk.show_campaign(&id).await;
    campaign.shows(json!({"status": "active", "chatapp.stats.pending": 2}));
    desk.advance(86_400).await;
    desk.advance(5).await;
    assert_eq!(desk.fake.system.sent().len(), 5);
    assert_eq!(desk.show_campaign(&id).await["status"], "completed");
}

#[tokio::test]
async fn a_late_status_moves_the_funnel_for_a_week_and_never_back() {
    let desk = Desk::open(body_of("UTILITY")).await;
    let id = desk.create(json!({"body.1": {"source": "static", "value": "Asha"}})).await;
    desk.set_list(&id, json!([{"phone": "9812345670", "variables": {}}])).await.expect(200);
    desk.post_status(&id, json!({"status": "active"})).await.expect(200);
    desk.advance(5).await;
    assert_eq!(desk.show_campaign(&id).await["status"], "completed");
    assert_eq!(desk.fake.system.sent()[0]["template"]["name"], "due");
    let steps = async |word: &str| {
        let now = desk.app().clock.now().0 / 1_000;
        let status = cloud::status("wamid.000001", word, now, "+919812345670");
        desk.notified(&about_messages(json!({"statuses": [status]}))).await;
        let stats = desk.show_campaign(&id).await["chatapp"]["stats"].clone();
        (stats["sent"].clone(), stats["delivered"].clone(), stats["read"].clone())
    };
    assert_eq!(steps("read").await, (json!(1), json!(1), json!(1)));
    assert_eq!(steps("delivered").await, (json!(1), json!(1), json!(1)));
    let finished = desk.payloads("campaign.finished").await;
    assert_eq!((finished.len(), &finished[0]["stats"]["sent"]), (1, &json!(1)));
}

/// The process dies again and again while the provider is asked, and between its answer and the store.
#[test]
fn a_crash_sends_to_nobody_twice() {
    const PEOPLE: usize = 150;
    let outside = tokio::runtime::Runtime::new().unwrap();
    let fake = outside.block_on(cloud::alone());
    let mut runtime = tokio::runtime::Runtime::new().unwrap();
    let (mut world, path) = runtime.block_on(async {
        let url = fake.url.clone();
        let world = World::bare_with(|config| config.cloud_api.base_url = url).await;
        world.connect_cloud().await;
        fake.system.put_template(body_of("UTILITY"));
        world.post("/v1/chatapp/templates/sync", &Value::Null).await.expect(200);
        let listed = world.get("/v1/chatapp/templates").await;
        let body = json!({"name": "Dues", "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
            "chatapp": {"templateId": listed["data"][0]["id"], "ratePerMinute": 600,
                "paramMapping": {"body.1": {"source": "static", "value": "Asha"}}}});
        let made = world.post("/v1/campaigns", &body).await.expect(201);
        let path = format!("/v1/campaigns/{}", made["data"]["id"].as_str().unwrap());
        let rows: Vec<Value> =
            (0..PEOPLE).map(|n| json!({"phone": format!("981234{n:04}"), "variables": {}})).collect();
        world.set_list(&path, json!(rows)).await.expect(200);
        world.set_status(&path, "active").await.expect(200);
        (world, path)
    });
    for crash in 0..6 {
        let seen = fake.count("/messages");
        runtime.block_on(async {
            let work = async {
                loop {
                    world.advance(1).await;
                }
            };
            tokio::select! {
                () = fake.wait_for("/messages", seen + 1 + crash) => {}
                () = work => {}
            }
        });
        let now = world.app().clock.now();
        let remains = world.crash(runtime);
        runtime = tokio::runtime::Runtime::new().unwrap();
        world = runtime.block_on(async {
            let world = remains.start().await;
            if world.app().clock.now() < now {
                world.set_clock(&now.to_string()).await;
            }
            world
        });
    }
    runtime.block_on(async {
        for _ in 0..60 {
            world.advance(10).await;
        }
        let campaign = world.data(&path).await;
        assert_eq!(campaign["status"], "completed", "{campaign}");
        let sent = fake.system.sent();
        let mut people: Vec<&str> = sent.iter().map(|body| body["to"].as_str().unwrap()).collect();
        people.sort_unstable();
        people.dedup();
        assert_eq!(people.len(), sent.len(), "somebody got it twice");
        let stats = &campaign["chatapp"]["stats"];
        let of = |name: &str| usize::try_from(stats[name].as_i64().unwrap()).unwrap();
        // Whose answer was lost in a crash is unknown, and everybody else has got it.
        assert_eq!(
            (of("sent") + of("deliveryUnknown"), of("pending"), of("failed")),
            (PEOPLE, 0, 0),
            "{stats}"
        );
        assert!(of("sent") <= people.len() && people.len() <= PEOPLE, "{stats}");
        // There are more events than a page has.
        let finished = world
            .app()
            .store
            .read(|tx| tx.one::<i64>("select count(*) from events where type = 'campaign.finished'", &[]));
        assert_eq!(finished.await.unwrap(), Some(1));
    });
}

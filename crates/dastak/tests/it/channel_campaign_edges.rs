//! The edges of campaigns on the messaging channel: what a block may hold, who may do what to it, and how it comes to its
//! end (docs/contract/campaigns.md#campaigns-on-the-messaging-channel).

use serde_json::{Value, json};

use crate::app::{Answer, TestApp};
use crate::cloud::NUMBER;
use crate::shows::Shows;
use crate::world::{World, leads_to, names};

struct Desk {
    world: World,
    number: String,
}

leads_to!(Desk, world: World);

impl Desk {
    async fn open() -> Self {
        let world = World::with_agent(TestApp::start().await, &json!({})).await;
        let number = world.connect_sandbox().await;
        Self { world, number }
    }

    /// An approved template; its id.
    async fn due(&self, category: &str) -> String {
        let name = format!("due_{}", category.to_lowercase());
        self.template(&name, category, json!([{"type": "BODY", "text": "It is due."}])).await
    }

    async fn post_block(&self, block: Value) -> Answer {
        let hours = json!({"dailyFrom": null, "dailyTo": null});
        let body = json!({"name": "Dues", "channel": "chatapp", "settings": hours, "chatapp": block});
        self.post("/v1/campaigns", &body).await
    }

    async fn create(&self, block: Value) -> String {
        format!("/v1/campaigns/{}", self.post_block(block).await.id(201))
    }
}

#[tokio::test]
async fn a_paused_campaign_with_nobody_left_to_message_is_resumed_and_ends() {
    let desk = Desk::open().await;
    let template = desk.due("UTILITY").await;
    let path = desk.create(json!({"templateId": template, "ratePerMinute": 600})).await;
    desk.set_list(&path, names(&["9812345670"])).await.expect(200);
    desk.set_status(&path, "active").await.expect(200);
    // Handed over and sent, but its end has not come.
    desk.advance(1).await;
    let shown = desk.data(&path).await;
    shown.shows(json!({"status": "active", "chatapp.stats.sent": 1}));
    desk.set_status(&path, "paused").await.expect(200);
    desk.advance(600).await;
    assert_eq!(desk.data(&path).await["status"], "paused");
    desk.set_status(&path, "active").await.expect(200);
    desk.advance(5).await;
    assert_eq!(desk.data(&path).await["status"], "completed");
    let finished = desk.payloads("campaign.finished").await;
    assert_eq!((finished.len(), &finished[0]["reason"]), (1, &json!("list_complete")));
    // One that has not begun still needs somebody.
    let fresh = desk.create(json!({"templateId": template})).await;
    desk.set_list(&fresh, names(&["nobody at all"])).await.expect(200);
    let refused = desk.set_status(&fresh, "active").await.refused(409, "preflight_blocked");
    assert_eq!(refused["meta"]["report"]["blockers"][0]["code"], "nobody_to_message");
}

#[tokio::test]
async fn a_test_key_publishes_for_show_and_sets_no_other_status() {
    let desk = Desk::open().await;
    let path = desk.create(json!({"templateId": desk.due("UTILITY").await, "ratePerMinute": 1})).await;
    desk.set_list(&path, names(&["9812345670", "9812345671"])).await.expect(200);
    let test = desk.workspace.test.as_str();
    let status = format!("{path}/status");
    desk.app.post(test, &status, &json!({"status": "active"})).await.expect(200);
    desk.set_status(&path, "active").await.expect(200);
    for word in ["paused", "draft", "completed", "archived"] {
        desk.app.post(test, &status, &json!({"status": word})).await.read_only();
    }
    assert_eq!(desk.data(&path).await["status"], "active");
    desk.app.put(test, &path, &json!({"name": "x"})).await.read_only();
}

#[tokio::test]
async fn a_mapping_that_does_not_fit_its_template_is_refused_at_once() {
    let desk = Desk::open().await;
    let example = json!({"body_text": [["Asha", "4500"]]});
    let template = desk
        .template(
            "due",
            "UTILITY",
            json!([
                {"type": "BODY", "text": "Hi {{1}}, Rs {{2}} is due.", "example": example},
                {"type": "BUTTONS", "buttons": [{"type": "URL", "text": "Pay", "url": "https://p.example/{{1}}",
                    "example": ["https://p.example/1"]}]},
            ]),
        )
        .await;
    let column = |name: &str| json!({"source": "column", "value": name});
    let fixed = |text: &str| json!({"source": "static", "value": text});
    let good = json!({"body.1": column("a"), "body.2": column("b"), "button.0": column("c")});
    let with = |key: &str, value: Value| {
        let mut mapping = good.clone();
        mapping[key] = value;
        mapping
    };
    let without = |key: &str| {
        let mut mapping = good.clone();
        mapping.as_object_mut().unwrap().remove(key);
        mapping
    };
    let path = desk.create(json!({"templateId": template, "paramMapping": good})).await;
    for (mapping, field) in [
        (json!({}), "body.1"),
        (without("body.2"), "body.2"),
        (without("button.0"), "button.0"),
        (with("body.9", column("x")), "body.9"),
        (with("body.name", column("x")), "body.name"),
        (with("header", fixed("x")), "header"),
        (with("header_media", fixed("https://files.example/x.pdf")), "header_media"),
        (with("button.1", column("x")), "button.1"),
        (with("body.1", fixed("two\nlines")), "body.1.value"),
        (with("body.1", fixed("a\ttab")), "body.1.value"),
        (with("body.1", fixed("five     spaces")), "body.1.value"),
        (with("body.1", fixed(&"x".repeat(1_025))), "body.1.value"),
    ] {
        let field = format!("chatapp.paramMapping.{field}");
        let refused = desk.post_block(json!({"templateId": template, "paramMapping": mapping})).await;
        refused.invalid_field(&field);
        let change = json!({"chatapp": {"paramMapping": mapping}});
        let refused = desk.put(&path, &change).await;
        refused.invalid_field(&field);
    }
    assert_eq!(desk.data(&path).await["chatapp"]["paramMapping"], good, "nothing was changed");
    // Another template, which the mapping of the one before does not fit.
    let other = desk.due("UTILITY").await;
    let refused = desk.put(&path, &json!({"chatapp": {"templateId": other}})).await;
    refused.invalid_field("chatapp.paramMapping");
    let both = json!({"chatapp": {"templateId": other, "paramMapping": {}}});
    desk.put(&path, &both).await.expect(200);
    // A draft may be without values until it is published.
    let bare = desk.create(json!({"templateId": template})).await;
    desk.set_list(&bare, names(&["9812345670"])).await.expect(200);
    let refused = desk.set_status(&bare, "active").await.refused(409, "preflight_blocked");
    assert_eq!(refused["meta"]["report"]["byReason"], json!({"missing_params": 1}));
}

#[tokio::test]
async fn several_numbers_of_which_none_is_the_default_want_one_to_be_named() {
    let desk = Desk::open().await;
    let template = desk.due("UTILITY").await;
    let bind = async |body: Value| desk.add_channel_number(&body).await.expect(201);
    bind(json!({"number": "+918047111223", "displayName": "Second"})).await;
    // The default one sends.
    desk.create(json!({"templateId": template})).await;
    let first =
        json!({"number": NUMBER, "phoneNumberId": desk.number, "displayName": "Acme", "isDefault": false});
    bind(first).await;
    desk.post_block(json!({"templateId": template})).await.refused(422, "phone_number_required");
    let test = json!({"channel": "chatapp", "chatapp": {"templateId": template}});
    desk.app.post(desk.test(), "/v1/campaigns", &test).await.refused(422, "phone_number_required");
    let path = desk.create(json!({"templateId": template, "phoneNumberId": desk.number})).await;
    assert_eq!(desk.data(&path).await["chatapp"]["phoneNumberId"], desk.number.as_str());
}

#[tokio::test]
async fn marketing_goes_to_everybody_where_the_workspace_has_no_rule_of_opt_ins() {
    let desk = Desk::open().await;
    let template = desk.due("MARKETING").await;
    let block = json!({"templateId": template, "optInPolicy": "skip_check", "ratePerMinute": 600});
    let refused = desk.post_block(block.clone()).await.invalid();
    assert_eq!(refused["meta"]["field"], "chatapp.optInPolicy");
    let rule = json!({"marketingOptInRule": false});
    desk.change(&rule).await;
    let path = desk.create(block).await;
    desk.set_list(&path, names(&["9812345670", "9812345671"])).await.expect(200);
    desk.set_status(&path, "active").await.expect(200);
    desk.advance(10).await;
    let stats = desk.data(&path).await["chatapp"]["stats"].clone();
    assert_eq!((&stats["sent"], &stats["skipped"]), (&json!(2), &json!(0)), "{stats}");
}

#[tokio::test]
async fn a_template_must_be_there_and_stays_once_the_campaign_was_published() {
    let desk = Desk::open().await;
    for unknown in ["tpl_01k9v5x2m8e6fs4v0q3n7w1y34", "catpl_01k9v5x2m8e6fs4v0q3n7w1y34", "x"] {
        desk.post_block(json!({"templateId": unknown})).await.refused(400, "template_not_found");
    }
    let (template, other) = (desk.due("UTILITY").await, desk.due("MARKETING").await);
    let path = desk.create(json!({"templateId": template, "ratePerMinute": 1})).await;
    let change = async |id: &str| desk.put(&path, &json!({"chatapp": {"templateId": id}})).await;
    change("tpl_01k9v5x2m8e6fs4v0q3n7w1y34").await.refused(400, "template_not_found");
    change(&other).await.expect(200);
    change(&template).await.expect(200);
    desk.set_list(&path, names(&["9812345670", "9812345671"])).await.expect(200);
    desk.set_status(&path, "active").await.expect(200);
    for _ in 0..2 {
        let refused = change(&other).await.refused(409, "campaign_launched");
        assert_eq!(refused["meta"]["field"], "chatapp.templateId");
        // The same one again is no change; the rest may change.
        change(&template).await.expect(200);
        // Also while it is paused.
        desk.set_status(&path, "paused").await.expect(200);
    }
}

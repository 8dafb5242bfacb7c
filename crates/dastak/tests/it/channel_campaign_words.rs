//! What a campaign says to somebody who has a conversation stands in its transcript once, whatever happens to the
//! campaign meanwhile (docs/contract/channel-conversations.md#replies).

use serde_json::{Value, json};

use crate::channel_accounts::events;
use crate::channel_conversations::{ASHA, PATH};
use crate::chats::{Kit, lines};
use crate::cloud::{self, Cloud, NUMBER, NUMBER_ID, about_messages, notify, template_event};
use crate::fakes::Fake;

/// The provider's id of the template.
const TEMPLATE: &str = "594400001";
/// What the campaign says to Asha.
const WORDS: &str = "Hi Asha, it is due.";

/// A chat agent on a number of a Cloud API, and a campaign that is not active yet.
struct Desk {
    kit: Kit,
    fake: Fake<Cloud>,
    hook: String,
    campaign: String,
}

impl Desk {
    async fn open() -> Self {
        let fake = cloud::alone().await;
        let url = fake.url.clone();
        let kit = Kit::open_with(|config| config.cloud_api.base_url = url).await;
        let hook = cloud::connect(&kit.app, &kit.workspace.id).await;
        let answers = json!({"phoneNumberId": NUMBER_ID, "number": NUMBER, "agentId": kit.agent});
        cloud::bind(&kit.app, &kit.workspace.id, &answers).await.expect(201);
        fake.system
            .put_template(json!({"id": TEMPLATE, "name": "due", "language": "en", "category": "UTILITY",
            "status": "APPROVED", "components": [{"type": "BODY", "text": "Hi {{1}}, it is due."}]}));
        let (app, live) = (&kit.app, kit.live());
        app.post(live, "/v1/chatapp/templates/sync", &Value::Null).await.expect(200);
        let templates = app.get(live, "/v1/chatapp/templates").await.expect(200);
        let body = json!({"name": "Dues", "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
            "chatapp": {"templateId": templates["data"][0]["id"], "ratePerMinute": 1,
                "paramMapping": {"body.1": {"source": "contact", "value": "name"}}}});
        let made = app.post(live, "/v1/campaigns", &body).await.expect(201);
        let campaign = format!("/v1/campaigns/{}", made["data"]["id"].as_str().unwrap());
        let rows = json!({"contacts": [{"phone": ASHA, "name": "Asha", "variables": {}}]});
        app.post(live, &format!("{campaign}/contacts"), &rows).await.expect(200);
        Self { kit, fake, hook, campaign }
    }

    /// Asha writes, and the agent replies.
    async fn writes(&self, id: &str, words: &str) {
        let now = self.kit.app.app().clock.now().0 / 1_000;
        let message = cloud::text(id, ASHA, now, words);
        let contact = json!({"wa_id": ASHA.trim_start_matches('+'), "profile": {"name": "Asha"}});
        let body = about_messages(json!({"messages": [message], "contacts": [contact]}));
        notify(&self.kit.app, &self.hook, &body).await.expect(200);
        self.kit.app.advance(0).await;
        self.kit.app.advance(5).await;
    }

    async fn launch(&self) {
        let path = format!("{}/status", self.campaign);
        self.kit.app.post(self.kit.live(), &path, &json!({"status": "active"})).await.expect(200);
        self.kit.app.advance(2).await;
    }

    async fn told(&self, word: &str) {
        notify(&self.kit.app, &self.hook, &template_event(TEMPLATE, "due", word)).await.expect(200);
        self.kit.app.advance(0).await;
    }

    async fn paused(&self) {
        let shown = self.kit.app.get(self.kit.live(), &self.campaign).await.expect(200)["data"].clone();
        let standing = (&shown["status"], &shown["chatapp"]["pausedReason"]);
        assert_eq!(standing, (&json!("paused"), &json!("template_unavailable")), "{shown}");
    }

    async fn only(&self) -> Value {
        let app = &self.kit.app;
        let listed = app.get(self.kit.live(), PATH).await.expect(200)["data"].clone();
        assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
        let path = format!("{PATH}/{}?include=messages", listed[0]["id"].as_str().unwrap());
        app.get(self.kit.live(), &path).await.expect(200)["data"].clone()
    }

    async fn transcript(&self) -> Vec<String> {
        lines(&self.only().await["messages"])
    }
}

#[tokio::test]
async fn what_a_campaign_says_stands_in_a_transcript_once_it_is_sent() {
    for case in ["while it waits", "when it is sent"] {
        let desk = Desk::open().await;
        desk.writes("wamid.in1", "Hello").await;
        let before = ["user: Hello", "agent: You said: Hello"];
        assert_eq!(desk.transcript().await, before);
        // The provider has paused the template, or wants the message later, and pauses it meanwhile.
        let code = if case == "while it waits" { 80_007 } else { 132_015 };
        desk.fake.fail("/messages", 1, cloud::refusal(400, code));
        desk.launch().await;
        assert_eq!(desk.transcript().await, before, "{case}: nobody has got it yet");
        if case == "while it waits" {
            desk.told("PAUSED").await;
        }
        desk.kit.app.advance(600).await;
        desk.paused().await;
        desk.writes("wamid.in2", "Anything new?").await;
        let between = [&before[..], &["user: Anything new?", "agent: You said: Anything new?"]].concat();
        assert_eq!(desk.transcript().await, between, "{case}");
        assert_eq!(
            desk.kit.model.shown(),
            ["user: Hello", "agent: You said: Hello", "user: Anything new?"],
            "{case}: the model is not shown what was taken back"
        );
        desk.told("APPROVED").await;
        desk.launch().await;
        let human = format!("human: {WORDS}");
        let after = [&between[..], &[human.as_str()]].concat();
        assert_eq!(desk.transcript().await, after, "{case}");
        desk.writes("wamid.in3", "How much?").await;
        let last = [&after[..], &["user: How much?", "agent: You said: How much?"]].concat();
        assert_eq!(desk.transcript().await, last, "{case}");
        let shown = desk.kit.model.shown();
        let times = shown.iter().filter(|line| line.contains(WORDS)).count();
        assert_eq!(times, 1, "{case}: {shown:?}");
        // The message names its conversation, and so does the event.
        let chat = desk.only().await["id"].clone();
        let listed = desk.kit.app.get(desk.kit.live(), "/v1/chatapp/messages?limit=100").await.expect(200);
        let sent = |message: &&Value| message["source"] == "campaign" && message["status"] == "sent";
        let sent: Vec<&Value> = listed["data"].as_array().unwrap().iter().filter(sent).collect();
        assert_eq!((sent.len(), &sent[0]["chatId"]), (1, &chat), "{case}");
        let told = events(&desk.kit.app, desk.kit.live(), "message.sent").await;
        let told: Vec<&Value> = told.iter().filter(|data| data["source"] == "campaign").collect();
        assert_eq!((told.len(), &told[0]["chatId"]), (1, &chat), "{case}");
    }
}

#[tokio::test]
async fn what_the_provider_may_have_got_stands_in_the_transcript() {
    let desk = Desk::open().await;
    desk.writes("wamid.in1", "Hello").await;
    // Nobody knows whether it arrived, and it is never sent again.
    desk.fake.fail("/messages", 1, cloud::refusal(500, 131_000));
    desk.launch().await;
    let human = format!("human: {WORDS}");
    assert_eq!(desk.transcript().await, ["user: Hello", "agent: You said: Hello", human.as_str()]);
}

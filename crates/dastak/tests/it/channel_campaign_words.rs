//! What a campaign says to somebody who has a conversation stands in its transcript once, whatever happens to the
//! campaign meanwhile (docs/contract/channel-conversations.md#replies).

use serde_json::{Value, json};

use crate::channel_conversations::{ASHA, PATH};
use crate::chats::lines;
use crate::cloud::{self, about_messages, notify, template_event};
use crate::world::{Channel, leads_to};

/// The provider's id of the template.
const TEMPLATE: &str = "594400001";
/// What the campaign says to Asha.
const WORDS: &str = "Hi Asha, it is due.";

/// A chat agent on a number of a Cloud API, and a campaign that is not active yet.
struct Desk {
    channel: Channel,
    campaign: String,
}

leads_to!(Desk, channel: Channel);

impl Desk {
    async fn open() -> Self {
        let channel = Channel::answering("Hi {{1}}, it is due.").await;
        let template = channel.sync_templates().await;
        let body = json!({"channel": "chatapp", "agentId": null, "settings": {"dailyFrom": null, "dailyTo": null},
            "chatapp": {"templateId": template, "ratePerMinute": 1,
                "paramMapping": {"body.1": {"source": "contact", "value": "name"}}}});
        let campaign = channel.new_campaign(body).await;
        let desk = Self { channel, campaign };
        desk.lists(&[(ASHA, "Asha")]).await;
        desk
    }

    /// These people are on the campaign's list, and no others.
    async fn lists(&self, people: &[(&str, &str)]) {
        let row = |(phone, name): &(&str, &str)| json!({"phone": phone, "name": name, "variables": {}});
        let rows = json!({"contacts": people.iter().map(row).collect::<Vec<_>>()});
        let path = format!("{}/contacts", self.campaign);
        self.post(&path, &rows).await.expect(200);
    }

    /// Asha writes, and the agent replies.
    async fn writes(&self, id: &str, words: &str) {
        let now = self.app().clock.now().0 / 1_000;
        let message = cloud::text(id, ASHA, now, words);
        let contact = json!({"wa_id": ASHA.trim_start_matches('+'), "profile": {"name": "Asha"}});
        let body = about_messages(json!({"messages": [message], "contacts": [contact]}));
        notify(&self.app, &self.hook, &body).await.expect(200);
        self.advance(0).await;
        self.advance(5).await;
    }

    async fn launch(&self) {
        let path = format!("{}/status", self.campaign);
        self.post(&path, &json!({"status": "active"})).await.expect(200);
        self.advance(2).await;
    }

    async fn template_is(&self, word: &str) {
        notify(&self.app, &self.hook, &template_event(TEMPLATE, "due", word)).await.expect(200);
        self.advance(0).await;
    }

    async fn paused(&self, reason: &str) {
        let shown = self.data(&self.campaign).await;
        let standing = (&shown["status"], &shown["chatapp"]["pausedReason"]);
        assert_eq!(standing, (&json!("paused"), &json!(reason)), "{shown}");
    }

    /// The provider tells that it has not delivered the newest message of a source after all.
    async fn not_delivered(&self, source: &str, code: i64) {
        let (app, live) = (&self.app, self.live());
        let listed = app.get(live, "/v1/chatapp/messages?limit=100").await.data(200);
        let newest = listed.as_array().unwrap().iter().find(|message| message["source"] == source);
        let id = newest.expect("a message")["providerMessageId"].as_str().unwrap().to_owned();
        let mut news = cloud::status(&id, "failed", app.app().clock.now().0 / 1_000, ASHA);
        news["errors"] = json!([{"code": code, "title": "told later"}]);
        notify(app, &self.hook, &about_messages(json!({"statuses": [news]}))).await.expect(200);
        app.advance(0).await;
    }

    /// How often the model was shown what the campaign says when it was asked last.
    fn times_shown(&self) -> usize {
        self.model.shown().iter().filter(|line| line.contains(WORDS)).count()
    }

    async fn only(&self) -> Value {
        let app = &self.app;
        let listed = app.get(self.live(), PATH).await.data(200);
        assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
        let path = format!("{PATH}/{}?include=messages", listed[0]["id"].as_str().unwrap());
        app.get(self.live(), &path).await.data(200)
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
            desk.template_is("PAUSED").await;
        }
        desk.advance(600).await;
        desk.paused("template_unavailable").await;
        desk.writes("wamid.in2", "Anything new?").await;
        let between = [&before[..], &["user: Anything new?", "agent: You said: Anything new?"]].concat();
        assert_eq!(desk.transcript().await, between, "{case}");
        assert_eq!(
            desk.model.shown(),
            ["user: Hello", "agent: You said: Hello", "user: Anything new?"],
            "{case}: the model is not shown what was taken back"
        );
        desk.template_is("APPROVED").await;
        desk.launch().await;
        let human = format!("human: {WORDS}");
        let after = [&between[..], &[human.as_str()]].concat();
        assert_eq!(desk.transcript().await, after, "{case}");
        desk.writes("wamid.in3", "How much?").await;
        let last = [&after[..], &["user: How much?", "agent: You said: How much?"]].concat();
        assert_eq!(desk.transcript().await, last, "{case}");
        let shown = desk.model.shown();
        let times = shown.iter().filter(|line| line.contains(WORDS)).count();
        assert_eq!(times, 1, "{case}: {shown:?}");
        // The message names its conversation, and so does the event.
        let chat = desk.only().await["id"].clone();
        let listed = desk.get("/v1/chatapp/messages?limit=100").await;
        let sent = |message: &&Value| message["source"] == "campaign" && message["status"] == "sent";
        let sent: Vec<&Value> = listed["data"].as_array().unwrap().iter().filter(sent).collect();
        assert_eq!((sent.len(), &sent[0]["chatId"]), (1, &chat), "{case}");
        let told = desk.payloads("message.sent").await;
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

/// The lines of a transcript, those marked that were not delivered.
fn marked(messages: &Value) -> Vec<String> {
    let mark = |(message, line): (&Value, String)| match message.get("failed") {
        Some(failed) => format!("{line} (failed: {failed})"),
        None => line,
    };
    messages.as_array().unwrap().iter().zip(lines(messages)).map(mark).collect()
}

#[tokio::test]
async fn what_the_provider_had_taken_and_did_not_deliver_is_marked_and_read_by_no_model() {
    for (code, reason, read) in [
        (132_015, "template_unavailable", false),
        (132_015, "template_unavailable", true),
        (133_010, "number_not_registered", true),
    ] {
        let case = format!("{code}, read before: {read}");
        let desk = Desk::open().await;
        // One message in a minute: the campaign is not over after the first.
        desk.lists(&[(ASHA, "Asha"), ("+919812345670", "Ravi")]).await;
        desk.writes("wamid.in1", "Hello").await;
        desk.launch().await;
        let mut expected = vec!["user: Hello".to_owned(), "agent: You said: Hello".into()];
        expected.push(format!("human: {WORDS}"));
        if read {
            desk.writes("wamid.in2", "What is it?").await;
            assert_eq!(desk.times_shown(), 1, "{case}");
            expected.extend(["user: What is it?".into(), "agent: You said: What is it?".into()]);
        }
        desk.not_delivered("campaign", code).await;
        desk.paused(reason).await;
        expected[2] = format!("human: {WORDS} (failed: true)");
        assert_eq!(marked(&desk.only().await["messages"]), expected, "{case}");
        desk.writes("wamid.in3", "Anything new?").await;
        assert_eq!(desk.times_shown(), 0, "{case}: {:?}", desk.model.shown());
        expected.extend(["user: Anything new?".into(), "agent: You said: Anything new?".into()]);
        // The second message after the resume is the only one that she got.
        desk.launch().await;
        desk.advance(120).await;
        expected.push(format!("human: {WORDS}"));
        assert_eq!(marked(&desk.only().await["messages"]), expected, "{case}");
        for (id, words) in [("wamid.in4", "How much?"), ("wamid.in5", "When?")] {
            desk.writes(id, words).await;
            assert_eq!(desk.times_shown(), 1, "{case}: {:?}", desk.model.shown());
            expected.extend([format!("user: {words}"), format!("agent: You said: {words}")]);
        }
        let shown = desk.only().await;
        assert_eq!(
            (marked(&shown["messages"]), &shown["messageCount"]),
            (expected.clone(), &json!(expected.len())),
            "{case}"
        );
        let path = format!("/chats/{}", shown["id"].as_str().unwrap());
        let inbox = desk.operator("GET", &path, Value::Null).await.expect(200);
        assert_eq!(marked(&inbox["data"]["messages"]), expected, "{case}");
        // The analysis at the end of the conversation leaves it out, too.
        let path = format!("{PATH}/{}/end", shown["id"].as_str().unwrap());
        desk.post(&path, &Value::Null).await.expect(200);
        desk.advance(5).await;
        let told = desk.payloads("chat.completed").await;
        assert_eq!((told.len(), marked(&told[0]["transcript"])), (1, expected), "{case}");
        let orders = desk.model.read.lock().unwrap();
        let times = orders[0].transcript.iter().filter(|turn| turn.text.contains(WORDS)).count();
        assert_eq!((orders.len(), times), (1, 1), "{case}");
    }
}

#[tokio::test]
async fn a_message_over_the_api_that_was_not_delivered_is_marked_and_read_by_no_model() {
    let desk = Desk::open().await;
    desk.writes("wamid.in1", "Hello").await;
    let body = json!({"to": ASHA, "text": WORDS});
    desk.post("/v1/chatapp/messages", &body).await.expect(201);
    desk.not_delivered("api", 131_026).await;
    let failed = format!("human: {WORDS} (failed: true)");
    let expected = ["user: Hello", "agent: You said: Hello", failed.as_str()];
    assert_eq!(marked(&desk.only().await["messages"]), expected);
    desk.writes("wamid.in2", "Anything new?").await;
    assert_eq!(desk.model.shown(), ["user: Hello", "agent: You said: Hello", "user: Anything new?"]);
}

/// Once a campaign is over nobody resumes it, so nobody is pending because of what is told later.
#[tokio::test]
async fn what_would_pause_a_campaign_is_a_failure_once_it_is_over() {
    let desk = Desk::open().await;
    desk.launch().await;
    let shown = desk.data(&desk.campaign).await;
    assert_eq!((&shown["status"], &shown["chatapp"]["stats"]["sent"]), (&json!("completed"), &json!(1)));
    let told = desk.payloads("campaign.finished").await;
    let stats = json!({"total": 1, "sent": 1, "delivered": 0, "read": 0, "replied": 0, "failed": 0,
        "frequencyCapped": 0, "skipped": 0, "deliveryUnknown": 0, "pending": 0, "sending": 0, "skippedByReason": {},
        "failedByCode": {}, "converted": 0, "optedOutAfter": 0});
    assert_eq!(
        json!([told.len(), told[0]["channel"], told[0]["reason"], told[0]["stats"]]),
        json!([1, "chatapp", "list_complete", stats])
    );
    desk.not_delivered("campaign", 132_015).await;
    let shown = desk.data(&desk.campaign).await;
    let stats = &shown["chatapp"]["stats"];
    assert_eq!(
        (&shown["status"], &stats["pending"], &stats["failed"], &stats["failedByCode"]),
        (&json!("completed"), &json!(0), &json!(1), &json!({"132015": 1})),
        "{shown}"
    );
}

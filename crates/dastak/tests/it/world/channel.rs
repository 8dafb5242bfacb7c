//! The messaging channel at a Cloud API.

use std::cell::Cell;

use dastak::app::after_call::Ports;
use dastak::config::Config;
use serde_json::{Value, json};

use super::leads_to;
use crate::app::Answer;
use crate::channel_messages::{ASHA, PATH};
use crate::chats::Chats;
use crate::cloud::{self, Cloud, NUMBER, NUMBER_ID, about_messages, notify};
use crate::fakes::Fake;

/// A world with a number at a fake Cloud API.
pub struct Channel {
    pub chats: Chats,
    pub fake: Fake<Cloud>,
    /// The path of its notifications.
    pub hook: String,
    inbound: Cell<u64>,
}

leads_to!(Channel, chats: Chats);

impl Channel {
    pub async fn open() -> Self {
        Self::open_with(|_| ()).await
    }

    pub async fn open_with(change: impl FnOnce(&mut Config)) -> Self {
        Self::over(cloud::alone().await, change, |_| ()).await
    }

    /// At this Cloud API, with these ports.
    pub async fn over(
        fake: Fake<Cloud>,
        change: impl FnOnce(&mut Config),
        ports: impl FnOnce(&mut Ports),
    ) -> Self {
        let url = fake.url.clone();
        let change = |config: &mut Config| {
            config.cloud_api.base_url = url;
            change(config);
        };
        let chats = Chats::open_ports(change, ports).await;
        let hook = chats.connect_cloud().await;
        Self { chats, fake, hook, inbound: Cell::new(0) }
    }

    /// The chat agent answers on the number, and there is a template of this text.
    pub async fn answering(text: &str) -> Self {
        let channel = Self::open().await;
        let answers = json!({"phoneNumberId": NUMBER_ID, "number": NUMBER, "agentId": channel.agent});
        channel.add_channel_number(&answers).await.expect(201);
        channel.fake.system.put_template(json!({"id": "594400001", "name": "due", "language": "en",
            "category": "UTILITY", "status": "APPROVED", "components": [{"type": "BODY", "text": text}]}));
        channel.sync_templates().await;
        channel
    }

    /// Fetches the templates; the id of the first one.
    pub async fn sync_templates(&self) -> String {
        self.post("/v1/chatapp/templates/sync", &Value::Null).await.expect(200);
        self.data("/v1/chatapp/templates").await[0]["id"].as_str().unwrap().to_owned()
    }

    /// An approved template.
    pub async fn cloud_template(&self, name: &str, category: &str) {
        self.fake.system.put_template(json!({"id": format!("77{}", name.len()), "name": name, "language": "en",
            "category": category, "status": "APPROVED", "components": [{"type": "BODY", "text": "Hi {{1}}, it is due."}]}));
        self.sync_templates().await;
    }

    pub async fn send(&self, body: &Value) -> Answer {
        self.post(PATH, body).await
    }

    pub async fn keyed(&self, key: &str, body: &Value) -> Answer {
        self.app.post_with(self.live(), PATH, &[("idempotency-key", key)], body).await
    }

    pub async fn text(&self, words: &str) -> Answer {
        self.send(&json!({"to": ASHA, "text": words})).await
    }

    /// The present moment as the Cloud API writes it.
    pub fn seconds(&self) -> i64 {
        self.app().clock.now().0 / 1_000
    }

    /// A notification arrives.
    pub async fn notified(&self, body: &Value) {
        notify(self, &self.hook, body).await.expect(200);
        self.advance(0).await;
    }

    /// One about messages.
    pub async fn told(&self, value: Value) {
        self.notified(&about_messages(value)).await;
    }

    /// A customer writes.
    pub async fn hears(&self, from: &str, words: &str) {
        let id = format!("wamid.in{}", self.inbound.get());
        self.inbound.set(self.inbound.get() + 1);
        let contact = json!({"wa_id": from.trim_start_matches('+'), "profile": {"name": "Asha"}});
        let message = cloud::text(&id, from, self.seconds(), words);
        self.told(json!({"contacts": [contact], "messages": [message]})).await;
    }

    /// The status of a message arrives.
    pub async fn reports(&self, id: &str, word: &str) {
        let mut status = cloud::status(id, word, self.seconds(), ASHA);
        if word == "failed" {
            status["errors"] = json!([{"code": 131_026, "title": "Message undeliverable", "error_data": {"details": "not there"}}]);
        }
        self.told(json!({"statuses": [status]})).await;
    }

    pub async fn messages(&self, query: &str) -> Vec<Value> {
        self.list(&format!("{PATH}?{query}")).await
    }

    pub async fn message(&self, id: &Value) -> Value {
        self.data(&format!("{PATH}/{}", id.as_str().expect("an id"))).await
    }
}

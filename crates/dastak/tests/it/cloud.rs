//! A service with the Cloud API of the messaging channel, and what that would tell it.

use dastak::config::Config;
use serde_json::{Value, json};

use crate::app::{Answer, TestApp};
use crate::fakes::Fake;
pub use crate::fakes::cloud::*;
use crate::world::World;

/// A world without an agent whose Cloud API is a fake one.
pub async fn start() -> (World, Fake<Cloud>) {
    start_with(|_| ()).await
}

/// The same with other settings.
pub async fn start_with(change: impl FnOnce(&mut Config)) -> (World, Fake<Cloud>) {
    let fake = alone().await;
    let url = fake.url.clone();
    let world = World::bare_with(|config| {
        config.cloud_api.base_url = url;
        change(config);
    });
    (world.await, fake)
}

impl World {
    pub async fn put_connection(&self, body: &Value) -> Answer {
        self.operator("PUT", "/chatapp/connection", body.clone()).await
    }

    pub async fn add_channel_number(&self, body: &Value) -> Answer {
        self.operator("POST", "/chatapp/numbers", body.clone()).await
    }

    /// Connects the account of the fake with its number; the path of its notifications.
    pub async fn connect_cloud(&self) -> String {
        let connection = self.put_connection(&credentials()).await.data(200);
        let number = json!({"phoneNumberId": NUMBER_ID, "number": NUMBER});
        self.add_channel_number(&number).await.expect(201);
        hook(&connection)
    }

    /// Connects the sandbox with a number; the provider's id of that.
    pub async fn connect_sandbox(&self) -> String {
        self.put_connection(&json!({"provider": "sandbox"})).await.expect(200);
        let number = json!({"number": NUMBER, "displayName": "Acme"});
        let number = self.add_channel_number(&number).await.data(201);
        number["phoneNumberId"].as_str().expect("an id").to_owned()
    }
}

/// The path of a connection's notifications.
pub fn hook(connection: &Value) -> String {
    let url = connection["webhookUrl"].as_str().expect("a URL");
    let at = url.find("/chatapp/webhooks/").expect("its path");
    url[at..].to_owned()
}

/// Sends a signed notification.
pub async fn notify(app: &TestApp, hook: &str, body: &Value) -> Answer {
    let text = body.to_string();
    let signature = cloud_api::notifications::signature(SECRET, text.as_bytes());
    app.send("POST", hook, None, &[("x-hub-signature-256", &signature)], text.into()).await
}

/// A notification with one change.
pub fn change(field: &str, value: Value) -> Value {
    json!({"object": "whatsapp_business_account", "entry": [
        {"id": ACCOUNT, "time": 1_795_000_000, "changes": [{"field": field, "value": value}]},
    ]})
}

/// A change about messages.
pub fn about_messages(mut value: Value) -> Value {
    value["messaging_product"] = json!("whatsapp");
    value["metadata"] = json!({"display_phone_number": "918047111222", "phone_number_id": NUMBER_ID});
    change("messages", value)
}

/// A customer's words.
pub fn text(id: &str, from: &str, at: i64, body: &str) -> Value {
    json!({"from": from.trim_start_matches('+'), "id": id, "timestamp": at.to_string(), "type": "text", "text": {"body": body}})
}

/// News of a message.
pub fn status(id: &str, word: &str, at: i64, to: &str) -> Value {
    json!({"id": id, "status": word, "timestamp": at.to_string(), "recipient_id": to.trim_start_matches('+')})
}

/// News of a template.
pub fn template_event(id: &str, name: &str, event: &str) -> Value {
    change(
        "message_template_status_update",
        json!({"event": event, "message_template_id": id.parse::<i64>().unwrap_or(0), "message_template_name": name,
            "message_template_language": "en", "reason": "NONE"}),
    )
}

//! Nudges of a world.

use serde_json::Value;

use super::World;
use crate::app::Answer;

pub fn id(nudge: &Value) -> &str {
    nudge["id"].as_str().unwrap()
}

/// Status, result and reason of a nudge.
#[track_caller]
pub fn assert_nudge(nudge: &Value, status: &str, result: Option<&str>, reason: Option<&str>) {
    let seen = (nudge["status"].as_str(), nudge["result"].as_str(), nudge["statusReason"].as_str());
    assert_eq!(seen, (Some(status), result, reason), "{nudge}");
}

impl World {
    /// Asks for a nudge with an idempotency key.
    pub async fn send_nudge(&self, key: &str, once: &str, body: &Value) -> Answer {
        self.app.post_with(key, "/v1/nudges", &[("idempotency-key", once)], body).await
    }

    /// Asks for a live nudge.
    pub async fn ask_nudge(&self, to: &str, more: &Value) -> Answer {
        let once: String = format!("{to}{more}{}", self.now().await).chars().take(255).collect();
        self.send_nudge(self.live(), &once, &self.order(to, more)).await
    }

    /// Makes a live nudge; what the answer shows.
    pub async fn nudge(&self, to: &str, more: &Value) -> Value {
        self.ask_nudge(to, more).await.data(201)
    }

    /// Makes a nudge, lets `seconds` pass, and shows it.
    pub async fn play_nudge(&self, to: &str, more: &Value, seconds: i64) -> Value {
        let made = self.nudge(to, more).await;
        self.advance(seconds).await;
        self.show_nudge(&made).await
    }

    pub async fn show_nudge(&self, nudge: &Value) -> Value {
        self.data(&format!("/v1/nudges/{}", id(nudge))).await
    }

    /// The events about a nudge: type and payload, in order.
    pub async fn nudge_events(&self, nudge: &Value) -> Vec<(String, Value)> {
        let kind = |event: &Value| event["type"].as_str().unwrap().to_owned();
        let events = self.outbox().await.into_iter();
        events
            .filter(|event| kind(event).starts_with("nudge.") && event["data"]["id"] == nudge["id"])
            .map(|event| (kind(&event), event["data"].clone()))
            .collect()
    }

    pub async fn nudge_kinds(&self, nudge: &Value) -> Vec<String> {
        self.nudge_events(nudge).await.into_iter().map(|(kind, _)| kind).collect()
    }

    pub async fn nudge_timeline(&self, nudge: &Value) -> Vec<Value> {
        self.list(&format!("/v1/nudges/{}/timeline", id(nudge))).await
    }
}

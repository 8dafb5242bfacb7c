//! Campaigns of a world. A campaign is named by its id or by its path.

use serde_json::{Value, json};

use super::{World, with};
use crate::app::Answer;

fn path(campaign: &str) -> String {
    if campaign.starts_with('/') { campaign.to_owned() } else { format!("/v1/campaigns/{campaign}") }
}

/// State, status of the last call, attempts and reason of a row.
pub fn shown_row(row: &Value) -> String {
    let text = |name: &str| row[name].as_str().unwrap_or("-").to_owned();
    format!("{} {} {} {}", text("state"), text("dialStatus"), row["attempts"], text("heldReason"))
}

/// Numbers that nothing is known of.
pub fn phones(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("+9198126{:05}", number + 20)).collect()
}

pub fn refs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// Rows of a list: these numbers, all of one name.
pub fn names(phones: &[&str]) -> Value {
    phones.iter().map(|phone| json!({"phone": phone, "name": "Asha"})).collect()
}

impl World {
    /// Makes a campaign of the agent; its path.
    pub async fn new_campaign(&self, more: Value) -> String {
        let body = with(json!({"name": "January", "agentId": self.agent}), &more);
        path(&self.post("/v1/campaigns", &body).await.id(201))
    }

    /// A draft with these rows; its path.
    pub async fn with_list(&self, rows: Value) -> String {
        let path = self.new_campaign(json!({})).await;
        self.set_list(&path, rows).await.expect(200);
        path
    }

    /// A draft with these settings and numbers; its id.
    pub async fn draft(&self, settings: &Value, phones: &[&str]) -> String {
        let body = json!({"name": "Renewals", "agentId": self.agent, "settings": settings});
        let id = self.post("/v1/campaigns", &body).await.id(201);
        if !phones.is_empty() {
            self.set_list(&id, names(phones)).await.expect(200);
        }
        id
    }

    /// A published campaign with these settings and numbers; its id.
    pub async fn campaign(&self, settings: &Value, phones: &[&str]) -> String {
        let id = self.draft(settings, phones).await;
        self.set(&id, "active").await.expect(200);
        id
    }

    pub async fn show_campaign(&self, campaign: &str) -> Value {
        self.data(&path(campaign)).await
    }

    /// Replaces the calling list.
    pub async fn set_list(&self, campaign: &str, rows: Value) -> Answer {
        self.post(&format!("{}/contacts", path(campaign)), &json!({"contacts": rows})).await
    }

    pub async fn set_status(&self, campaign: &str, status: &str) -> Answer {
        self.post(&format!("{}/status", path(campaign)), &json!({"status": status})).await
    }

    /// The same with more than a status.
    pub async fn post_status(&self, campaign: &str, body: Value) -> Answer {
        self.post(&format!("{}/status", path(campaign)), &body).await
    }

    /// The same as [`World::set_status`], and what follows from it has happened.
    pub async fn set(&self, campaign: &str, status: &str) -> Answer {
        let answer = self.set_status(campaign, status).await;
        self.advance(0).await;
        answer
    }

    pub async fn status(&self, campaign: &str) -> String {
        self.show_campaign(campaign).await["status"].as_str().unwrap().to_owned()
    }

    pub async fn rows(&self, campaign: &str) -> Vec<Value> {
        self.list(&format!("{}/contacts?limit=200", path(campaign))).await
    }

    pub async fn row(&self, campaign: &str) -> Value {
        self.rows(campaign).await.remove(0)
    }

    /// The summary, whose states add up.
    pub async fn summary(&self, campaign: &str) -> Value {
        let summary = self.data(&format!("{}/summary", path(campaign))).await;
        let progress = &summary["progress"];
        let count = |name: &str| progress[name].as_i64().unwrap();
        let states = ["reached", "inProgress", "unreached", "held", "queued", "invalid"];
        assert_eq!(states.map(count).iter().sum::<i64>(), count("total"), "{progress}");
        summary
    }

    /// Runs, the first one first.
    pub async fn runs(&self, campaign: &str) -> Vec<Value> {
        let mut runs = self.list(&format!("{}/runs", path(campaign))).await;
        runs.reverse();
        runs
    }

    /// Source, status, reason and counts of the runs, the first one first.
    pub async fn shown_runs(&self, campaign: &str) -> Vec<String> {
        let shown = |run: &Value| {
            let text = |name: &str| run[name].as_str().unwrap_or("-").to_owned();
            let counts = ["attempted", "placed", "rejected"].map(|name| run[name].to_string()).join("/");
            format!("{} {} {} {counts}", text("source"), text("status"), text("skippedReason"))
        };
        self.runs(campaign).await.iter().map(shown).collect()
    }

    pub async fn run(&self, campaign: &str) -> Answer {
        self.post(&format!("{}/run", path(campaign)), &Value::Null).await
    }

    pub async fn campaign_calls(&self, id: &str) -> Vec<Value> {
        self.list(&format!("/v1/calls?limit=200&campaignId={id}")).await
    }

    pub async fn board(&self, campaign: &str) -> Value {
        self.data(&format!("{}/board", path(campaign))).await
    }

    /// Cards of the board, newest arrivals first.
    pub async fn cards(&self, campaign: &str) -> Vec<Value> {
        self.list(&format!("{}/board/cards?limit=200", path(campaign))).await
    }

    /// `key:count` of the columns that have cards.
    pub async fn column_counts(&self, campaign: &str) -> Vec<String> {
        let board = self.board(campaign).await;
        let columns = board["columns"].as_array().unwrap().iter().filter(|column| column["count"] != 0);
        columns.map(|column| format!("{}:{}", column["key"].as_str().unwrap(), column["count"])).collect()
    }

    /// What became of the automations of a card: `type status error`, newest move first.
    pub async fn card_actions(&self, board: &str, card: &Value) -> Vec<String> {
        let path = format!("/boards/{board}/cards/{}", card["id"].as_str().unwrap());
        let detail = self.operator("GET", &path, Value::Null).await.data(200);
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let line = |action: &Value| ["type", "status", "error"].map(|name| word(&action[name])).join(" ");
        detail["automations"].as_array().unwrap().iter().map(line).collect()
    }
}

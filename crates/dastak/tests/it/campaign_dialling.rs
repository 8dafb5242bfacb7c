//! Dialling the lists of campaigns (docs/contract/campaigns.md#rows): what becomes of each row, when a campaign
//! dials, and its runs.

use serde_json::{Value, json};

use crate::agents::create_active;
use crate::app::{Answer, TestApp, Workspace};
use crate::streams::{send, webhook};

/// Noon in India on a Monday.
pub const NOON: &str = "2027-03-01T06:30:00Z";

/// A workspace with an agent, at noon.
pub struct Kit {
    pub app: TestApp,
    pub workspace: Workspace,
    pub agent: String,
}

impl Kit {
    pub async fn start() -> Self {
        Self::over(TestApp::start().await).await
    }

    pub async fn over(app: TestApp) -> Self {
        app.set_clock(NOON).await;
        let workspace = app.workspace().await;
        let agent = create_active(&app, &workspace, &json!({})).await;
        Self { app, workspace, agent }
    }

    /// A draft with this list.
    pub async fn draft(&self, settings: &Value, phones: &[&str]) -> String {
        draft(&self.app, &self.workspace, &self.agent, settings, phones).await
    }

    /// A published campaign with this list.
    pub async fn campaign(&self, settings: &Value, phones: &[&str]) -> String {
        let id = self.draft(settings, phones).await;
        self.set(&id, "active").await.expect(200);
        id
    }

    pub async fn set(&self, id: &str, status: &str) -> Answer {
        let path = format!("/v1/campaigns/{id}/status");
        let answer = self.app.post(&self.workspace.live, &path, &json!({"status": status})).await;
        // What follows from it has happened.
        self.app.advance(0).await;
        answer
    }

    pub async fn get(&self, path: &str) -> Value {
        self.app.get(&self.workspace.live, path).await.expect(200)
    }

    pub async fn status(&self, id: &str) -> String {
        self.get(&format!("/v1/campaigns/{id}")).await["data"]["status"].as_str().unwrap().to_owned()
    }

    pub async fn rows(&self, id: &str) -> Vec<Value> {
        self.get(&format!("/v1/campaigns/{id}/contacts?limit=200")).await["data"].as_array().unwrap().clone()
    }

    pub async fn row(&self, id: &str) -> Value {
        self.rows(id).await.remove(0)
    }

    pub async fn summary(&self, id: &str) -> Value {
        let summary = self.get(&format!("/v1/campaigns/{id}/summary")).await["data"].clone();
        let progress = &summary["progress"];
        let count = |name: &str| progress[name].as_i64().unwrap();
        let states = ["reached", "inProgress", "unreached", "held", "queued", "invalid"];
        assert_eq!(states.map(count).iter().sum::<i64>(), count("total"), "{progress}");
        summary
    }

    /// Runs, the first one first.
    pub async fn runs(&self, id: &str) -> Vec<Value> {
        let mut runs =
            self.get(&format!("/v1/campaigns/{id}/runs")).await["data"].as_array().unwrap().clone();
        runs.reverse();
        runs
    }

    /// Status, source and reason of the runs, the first one first.
    pub async fn told(&self, id: &str) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        self.runs(id)
            .await
            .iter()
            .map(|run| {
                format!(
                    "{} {} {} {}/{}/{}",
                    text(&run["source"]),
                    text(&run["status"]),
                    text(&run["skippedReason"]),
                    run["attempted"],
                    run["placed"],
                    run["rejected"]
                )
            })
            .collect()
    }

    pub async fn run(&self, id: &str) -> Answer {
        let path = format!("/v1/campaigns/{id}/run");
        self.app.post(&self.workspace.live, &path, &Value::Null).await
    }

    pub async fn calls(&self, id: &str) -> Vec<Value> {
        self.get(&format!("/v1/calls?limit=200&campaignId={id}")).await["data"].as_array().unwrap().clone()
    }

    /// Changes the workspace.
    pub async fn change(&self, change: &Value) {
        self.app.operator("PATCH", &format!("/workspaces/{}", self.workspace.id), change).await.expect(200);
    }

    /// Moves money.
    pub async fn pay(&self, amount: i64) {
        let path = format!("/workspaces/{}/wallet/entries", self.workspace.id);
        let kind = if amount > 0 { "topup" } else { "adjustment" };
        let body = json!({"kind": kind, "amountMinor": amount, "reference": "test"});
        self.app.operator("POST", &path, &body).await.expect(201);
    }

    /// Adds an own number.
    pub async fn number(&self, number: &str) {
        let path = format!("/workspaces/{}/numbers", self.workspace.id);
        self.app.operator("POST", &path, &json!({"number": number})).await.expect(201);
    }

    /// Events of a kind, in order.
    pub async fn events(&self, kind: &str) -> Vec<Value> {
        let tenant = self.workspace.id.parse().unwrap();
        let rows = self
            .app
            .app()
            .store
            .of(tenant)
            .read(move |tx| store::events::list_after(tx, "", 100_000))
            .await
            .unwrap();
        rows.iter()
            .filter_map(|row| row.envelope.as_deref())
            .map(crate::closed::event)
            .filter(|event| event["type"] == kind)
            .collect()
    }
}

/// A draft of a workspace with this list.
pub async fn draft(
    app: &TestApp,
    workspace: &Workspace,
    agent: &str,
    settings: &Value,
    phones: &[&str],
) -> String {
    let body = json!({"name": "Renewals", "agentId": agent, "settings": settings});
    let made = app.post(&workspace.live, "/v1/campaigns", &body).await.expect(201);
    let id = made["data"]["id"].as_str().unwrap().to_owned();
    if !phones.is_empty() {
        let rows: Vec<Value> = phones.iter().map(|phone| json!({"phone": phone, "name": "Asha"})).collect();
        let path = format!("/v1/campaigns/{id}/contacts");
        app.post(&workspace.live, &path, &json!({"contacts": rows})).await.expect(200);
    }
    id
}

/// State, status of the last call, attempts and reason of a row.
pub fn shown(row: &Value) -> String {
    let text = |name: &str| row[name].as_str().unwrap_or("-").to_owned();
    format!("{} {} {} {}", text("state"), text("dialStatus"), row["attempts"], text("heldReason"))
}

pub fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("+9198126{:05}", number + 20)).collect()
}

pub fn refs(numbers: &[String]) -> Vec<&str> {
    numbers.iter().map(String::as_str).collect()
}

#[tokio::test]
async fn a_campaign_calls_everybody_on_its_list_and_completes() {
    let kit = Kit::start().await;
    let id = kit.campaign(&json!({}), &["9812340001", "9812340002", "98123", "+91 98123 40001"]).await;
    let rows = kit.rows(&id).await;
    let states: Vec<String> = rows.iter().map(shown).collect();
    assert_eq!(
        states,
        ["in_progress ringing 1 -", "in_progress ringing 1 -", "invalid - 0 -", "invalid - 0 -"]
    );
    assert_eq!(kit.told(&id).await, ["schedule running - 2/2/0"]);
    kit.app.advance(10).await;
    let rows = kit.rows(&id).await;
    assert_eq!(shown(&rows[0]), "reached completed 1 -");
    assert_eq!(rows[0]["lastAttemptAt"], "2027-03-01T06:30:00.000Z");
    assert_eq!(kit.told(&id).await, ["schedule completed - 2/2/0"]);
    let summary = kit.summary(&id).await;
    let progress = &summary["progress"];
    assert_eq!(
        (&progress["total"], &progress["reached"], &progress["invalid"]),
        (&json!(4), &json!(2), &json!(2))
    );
    assert_eq!((&summary["connectRate"], &summary["avgCallSeconds"]), (&json!(1.0), &json!(8.0)));
    let price = kit.get("/v1/wallet").await["data"]["costPerMinuteMinor"].as_i64().unwrap();
    assert_eq!(summary["spentMinor"], 2 * price);
    assert_eq!(summary["lifecycle"]["startedAt"], "2027-03-01T06:30:00.000Z");
    assert_eq!(summary["lifecycle"]["lastCallAt"], "2027-03-01T06:30:00.000Z");
    assert_eq!(summary["lifecycle"]["completedAt"], "2027-03-01T06:30:10.000Z");
    assert_eq!(kit.status(&id).await, "completed");
    let finished = kit.events("campaign.finished").await;
    assert_eq!(finished.len(), 1);
    assert_eq!(
        finished[0]["data"],
        json!({"campaignId": id, "name": "Renewals", "agentId": kit.agent, "reason": "list_complete", "finishedAt": "2027-03-01T06:30:10.000Z"})
    );
    let calls = kit.calls(&id).await;
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call["campaignId"] == *id && call["agentId"] == *kit.agent));
    let contact = kit.get(&format!("/v1/contacts/{}", rows[0]["contactId"].as_str().unwrap())).await;
    assert_eq!(
        (&contact["data"]["name"], &contact["data"]["phone"]),
        (&json!("Asha"), &json!("+919812340001"))
    );
    kit.app.advance(3 * 86_400).await;
    assert_eq!((kit.calls(&id).await.len(), kit.events("campaign.finished").await.len()), (2, 1));
}

/// What becomes of a number of the sandbox with one retry after half an hour: after a minute, and in the end.
#[tokio::test]
async fn what_becomes_of_a_row() {
    for (phone, first, last, dials) in [
        ("9812340001", "reached completed 1 -", "reached completed 1 -", 1),
        ("9812340000", "unreached no_answer 1 -", "unreached no_answer 2 -", 2),
        ("9812341111", "unreached busy 1 -", "unreached busy 2 -", 2),
        ("9812342222", "unreached blocked 0 -", "unreached blocked 0 -", 0),
        ("9812343333", "unreached completed 1 -", "unreached completed 2 -", 2),
        ("9812344444", "unreached failed 1 -", "unreached failed 1 -", 1),
        ("9812345555", "unreached failed 1 -", "unreached failed 1 -", 1),
        ("9812347777", "reached completed 1 -", "reached completed 1 -", 1),
        ("9812348888", "unreached failed 1 -", "unreached failed 2 -", 2),
        ("9812349999", "unreached failed 1 -", "unreached failed 1 -", 1),
    ] {
        let kit = Kit::start().await;
        let id = kit.campaign(&json!({"retryCount": 1, "cooldownMinutes": 30}), &[phone]).await;
        kit.app.advance(60).await;
        assert_eq!(shown(&kit.row(&id).await), first, "{phone}");
        let again = dials == 2;
        let progress = kit.summary(&id).await["progress"].clone();
        assert_eq!(progress["retryable"], i64::from(again), "{phone}");
        assert_eq!(progress["blocked"], i64::from(dials == 0), "{phone}");
        assert_eq!(kit.status(&id).await, if again { "active" } else { "completed" }, "{phone}");
        kit.app.advance(29 * 60 - 60).await;
        assert_eq!(shown(&kit.row(&id).await), first, "{phone}: not before the cooldown is over");
        kit.app.advance(120 + 60).await;
        assert_eq!(shown(&kit.row(&id).await), last, "{phone}");
        assert_eq!(kit.status(&id).await, "completed", "{phone}");
        assert_eq!(kit.summary(&id).await["progress"]["retryable"], 0, "{phone}");
        assert_eq!(kit.events("campaign.finished").await.len(), 1, "{phone}");
        let placed = kit.calls(&id).await.iter().filter(|call| call["state"] != "blocked").count();
        assert_eq!(placed, dials, "{phone}");
    }
}

#[tokio::test]
async fn a_refusal_before_any_ring_holds_the_row_and_is_no_attempt() {
    let kit = Kit::start().await;
    let id = kit.campaign(&json!({}), &["9812346666"]).await;
    assert_eq!(shown(&kit.row(&id).await), "held - 0 provider_error");
    assert_eq!(kit.told(&id).await, ["schedule skipped provider_error 1/0/1"]);
    let summary = kit.summary(&id).await;
    assert_eq!(
        (&summary["heldByReason"], &summary["connectRate"]),
        (&json!({"provider_error": 1}), &Value::Null)
    );
    kit.app.advance(15 * 60).await;
    assert_eq!(shown(&kit.row(&id).await), "held - 0 provider_error");
    assert_eq!(kit.told(&id).await.len(), 1, "asked again after 15 minutes, and recorded once");
    assert_eq!(kit.status(&id).await, "active");
    // After as many tries as a scheduled call has.
    kit.app.advance(15 * 60).await;
    let row = kit.row(&id).await;
    assert_eq!(
        (shown(&row).as_str(), &row["failureReason"]),
        ("unreached failed 0 -", &json!("provider_error"))
    );
    assert_eq!(kit.status(&id).await, "completed");
    kit.app.advance(3 * 86_400).await;
    assert_eq!(kit.told(&id).await, ["schedule skipped provider_error 1/0/1"]);
}

#[tokio::test]
async fn a_session_in_which_somebody_is_dialled_is_no_refused_one() {
    let kit = Kit::start().await;
    let id = kit.campaign(&json!({}), &["9812346666", "9812340001"]).await;
    kit.app.advance(60).await;
    assert_eq!(kit.told(&id).await, ["schedule completed - 2/1/1"]);
    kit.app.advance(15 * 60).await;
    let told = ["schedule completed - 2/1/1", "schedule skipped provider_error 1/0/1"];
    assert_eq!(kit.told(&id).await, told, "it changed");
}

#[tokio::test]
async fn a_gate_that_refuses_is_a_blocked_call_of_the_campaign() {
    let kit = Kit::start().await;
    kit.app
        .post(&kit.workspace.live, "/v1/dnc", &json!({"phones": ["9812340007"], "reason": "asked"}))
        .await
        .expect(200);
    let id = kit.campaign(&json!({}), &["9812342222", "9812340007"]).await;
    let rows = kit.rows(&id).await;
    assert!(rows.iter().all(|row| shown(row) == "unreached blocked 0 -"), "{rows:?}");
    assert_eq!(rows[1]["doNotCall"], true);
    let calls = kit.calls(&id).await;
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call["state"] == "blocked"), "{calls:?}");
    assert_eq!(kit.told(&id).await, ["schedule completed - 2/0/2"]);
    let summary = kit.summary(&id).await;
    assert_eq!((&summary["progress"]["blocked"], &summary["spentMinor"]), (&json!(2), &json!(0)));
    let figures = kit.get(&format!("/v1/analytics/calls?campaignId={id}")).await;
    assert_eq!(figures["data"]["totals"]["blockedCalls"], 2);
    assert_eq!(figures["data"]["totals"]["calls"], 0);
    let failed = kit.events("call.failed").await;
    assert_eq!(failed.len(), 2);
    assert!(failed.iter().all(|event| event["data"]["campaignId"] == *id));
    let mut reasons: Vec<&str> =
        failed.iter().map(|event| event["data"]["blockReason"].as_str().unwrap()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["dnd", "opt_out"]);
    assert_eq!(kit.status(&id).await, "completed");
}

#[tokio::test]
async fn outside_the_hours_of_the_pack_rows_wait_for_the_opening_and_no_call_is_listed() {
    let kit = Kit::start().await;
    kit.app.set_clock("2027-03-01T16:00:00Z").await;
    let id = kit.campaign(&json!({}), &["9812340001", "9812340002", "9812340003"]).await;
    let rows = kit.rows(&id).await;
    assert!(rows.iter().all(|row| shown(row) == "held - 0 calling_window"), "{rows:?}");
    assert_eq!(kit.summary(&id).await["heldByReason"], json!({"calling_window": 3}));
    assert_eq!(kit.told(&id).await, ["schedule skipped outside_schedule 0/0/0"]);
    kit.app.set_clock("2027-03-02T03:29:59Z").await;
    assert_eq!(kit.calls(&id).await.len(), 0);
    kit.app.set_clock("2027-03-02T03:30:00Z").await;
    let rows = kit.rows(&id).await;
    assert!(rows.iter().all(|row| shown(row) == "in_progress ringing 1 -"), "{rows:?}");
    assert_eq!(kit.summary(&id).await["heldByReason"], json!({}));
    kit.app.advance(60).await;
    assert_eq!(
        kit.told(&id).await,
        ["schedule skipped outside_schedule 0/0/0", "schedule completed - 3/3/0"]
    );
    assert_eq!(kit.status(&id).await, "completed");
}

#[tokio::test]
async fn the_cutoff_of_nudges_is_not_the_campaigns() {
    let kit = Kit::start().await;
    // 20:57 in India.
    kit.app.set_clock("2027-03-01T15:27:00Z").await;
    let id = kit.campaign(&json!({}), &["9812340001"]).await;
    assert_eq!(shown(&kit.row(&id).await), "in_progress ringing 1 -");
}

#[tokio::test]
async fn dates_and_daily_window_are_those_of_the_campaigns_zone() {
    let kit = Kit::start().await;
    // Dubai is an hour and a half behind India: 14:00 there is 15:30 in India.
    let settings = json!({
        "timezone": "Asia/Dubai", "startAt": "2027-03-02T00:00:00+04:00", "endAt": "2027-03-04T00:00:00+04:00",
        "dailyFrom": "14:00", "dailyTo": "15:00", "retryCount": 10, "cooldownMinutes": 1440,
    });
    let id = kit.campaign(&settings, &["9812340000"]).await;
    assert_eq!(shown(&kit.row(&id).await), "queued - 0 -", "the schedule holds no row");
    kit.app.set_clock("2027-03-02T13:59:59+04:00").await;
    assert_eq!(kit.told(&id).await, ["schedule skipped outside_schedule 0/0/0"], "recorded once");
    assert_eq!(kit.calls(&id).await.len(), 0);
    kit.app.set_clock("2027-03-02T14:00:00+04:00").await;
    assert_eq!(shown(&kit.row(&id).await), "in_progress ringing 1 -");
    kit.app.set_clock("2027-03-03T12:00:00+04:00").await;
    assert_eq!(shown(&kit.row(&id).await), "unreached no_answer 1 -");
    kit.app.set_clock("2027-03-03T14:30:00+04:00").await;
    assert_eq!(shown(&kit.row(&id).await), "unreached no_answer 2 -");
    kit.app.set_clock("2027-03-03T23:59:59+04:00").await;
    assert_eq!(kit.status(&id).await, "active");
    kit.app.set_clock("2027-03-04T00:00:00+04:00").await;
    assert_eq!(kit.status(&id).await, "completed");
    let finished = kit.events("campaign.finished").await;
    assert_eq!((finished.len(), &finished[0]["data"]["reason"]), (1, &json!("end_date")));
    assert_eq!(finished[0]["data"]["finishedAt"], "2027-03-03T20:00:00.000Z");
    kit.app.advance(3 * 86_400).await;
    assert_eq!(kit.calls(&id).await.len(), 2);
}

#[tokio::test]
async fn a_number_at_its_cap_is_held_until_the_cap_lets_it() {
    let kit = Kit::start().await;
    for hour in [7, 8, 9] {
        kit.app.set_clock(&format!("2027-03-01T{hour:02}:00:00Z")).await;
        let body = json!({"agentId": kit.agent, "toNumber": "9812340000"});
        kit.app.post(&kit.workspace.live, "/v1/calls", &body).await.expect(200);
    }
    kit.app.set_clock("2027-03-01T10:00:00Z").await;
    let id = kit.campaign(&json!({}), &["9812340000"]).await;
    assert_eq!(shown(&kit.row(&id).await), "held blocked 0 frequency");
    assert_eq!(kit.summary(&id).await["heldByReason"], json!({"frequency": 1}));
    kit.app.set_clock("2027-03-02T06:59:59Z").await;
    let blocked = kit.calls(&id).await;
    assert_eq!(blocked.len(), 1, "one blocked call for one hold");
    assert_eq!(blocked[0]["state"], "blocked");
    assert_eq!(kit.events("call.failed").await.pop().unwrap()["data"]["blockReason"], "frequency_cap");
    kit.app.set_clock("2027-03-02T07:00:00Z").await;
    assert_eq!(shown(&kit.row(&id).await), "in_progress ringing 1 -");
    assert_eq!(kit.summary(&id).await["heldByReason"], json!({}));
}

#[tokio::test]
async fn without_money_it_waits_and_says_so_once() {
    let kit = Kit::start().await;
    let price = kit.get("/v1/wallet").await["data"]["costPerMinuteMinor"].as_i64().unwrap();
    kit.pay(2 * price - 1_000_000).await;
    let id = kit.campaign(&json!({}), &["9812340001", "9812340002", "9812340003"]).await;
    let states: Vec<String> = kit.rows(&id).await.iter().map(shown).collect();
    assert_eq!(states, ["in_progress ringing 1 -", "in_progress ringing 1 -", "queued - 0 -"]);
    kit.app.advance(3600).await;
    assert_eq!(
        kit.told(&id).await,
        ["schedule completed - 2/2/0", "schedule skipped insufficient_balance 0/0/0"],
        "only a change of the reason is recorded"
    );
    kit.pay(price).await;
    // It is looked at now, and not a quarter of an hour after its last look.
    kit.app.advance(20).await;
    assert_eq!(kit.told(&id).await[2..], ["schedule completed - 1/1/0"]);
    assert_eq!(kit.status(&id).await, "completed");
    assert_eq!(kit.summary(&id).await["spentMinor"], 3 * price);
}

#[tokio::test]
async fn an_unverified_or_suspended_workspace_does_not_dial() {
    let kit = Kit::start().await;
    kit.change(&json!({"kybVerified": false})).await;
    let id = kit.campaign(&json!({}), &["9812340001"]).await;
    assert_eq!(kit.told(&id).await, ["schedule skipped kyb_unverified 0/0/0"]);
    kit.change(&json!({"kybVerified": true, "suspended": true})).await;
    kit.app.advance(20 * 60).await;
    kit.run(&id).await.refused(403, "workspace_suspended");
    kit.change(&json!({"suspended": false})).await;
    kit.app.advance(20).await;
    assert_eq!(
        kit.told(&id).await,
        [
            "schedule skipped kyb_unverified 0/0/0",
            "schedule skipped workspace_suspended 0/0/0",
            "schedule completed - 1/1/0"
        ]
    );
}

#[tokio::test]
async fn an_agent_that_is_taken_back_stops_it() {
    let kit = Kit::start().await;
    let id = kit.draft(&json!({}), &["9812340001"]).await;
    kit.app.set_clock("2027-03-01T16:00:00Z").await;
    kit.set(&id, "active").await.expect(200);
    let path = format!("/v1/agents/{}/status", kit.agent);
    kit.app.post(&kit.workspace.live, &path, &json!({"status": "draft"})).await.expect(200);
    kit.app.set_clock("2027-03-02T04:00:00Z").await;
    let run = kit.runs(&id).await.pop().unwrap();
    assert_eq!((&run["skippedReason"], &run["error"]), (&json!("run_error"), &json!("agent_not_published")));
    assert_eq!(shown(&kit.row(&id).await), "held - 0 calling_window");
    kit.app.post(&kit.workspace.live, &path, &json!({"status": "active"})).await.expect(200);
    kit.app.advance(15 * 60).await;
    assert_eq!(kit.rows(&id).await[0]["attempts"], 1);
}

#[tokio::test]
async fn a_row_without_what_the_agent_needs_is_given_up_and_its_run_says_why() {
    let kit = Kit::start().await;
    let id = kit.draft(&json!({}), &["9812340001"]).await;
    let path = format!("/v1/agents/{}", kit.agent);
    let change = json!({"systemPrompt": "Ask {{name}} about {{due}}."});
    kit.app.put(&kit.workspace.live, &path, &change).await.expect(200);
    kit.set(&id, "active").await.expect(200);
    let row = kit.row(&id).await;
    assert_eq!(
        (shown(&row).as_str(), &row["failureReason"]),
        ("unreached failed 0 -", &json!("missing_required_variables"))
    );
    let run = kit.runs(&id).await.pop().unwrap();
    assert_eq!(
        (&run["status"], &run["rejected"], &run["error"]),
        (&json!("completed"), &json!(1), &json!("missing_required_variables: name, due"))
    );
    assert_eq!(kit.status(&id).await, "completed");
}

#[tokio::test]
async fn values_of_a_row_reach_its_conversation() {
    let kit = Kit::start().await;
    let agent = create_active(&kit.app, &kit.workspace, &json!({"systemPrompt": "Say {{due}}."})).await;
    let id = draft(&kit.app, &kit.workspace, &agent, &json!({}), &[]).await;
    let rows = json!({"contacts": [{"phone": "9812340001", "variables": {"due": "₹ 500"}}]});
    kit.app.post(&kit.workspace.live, &format!("/v1/campaigns/{id}/contacts"), &rows).await.expect(200);
    kit.set(&id, "active").await.expect(200);
    let call = kit.calls(&id).await.remove(0);
    let stored = kit.app.app().store.read({
        let (tenant, call) =
            (kit.workspace.id.parse().unwrap(), call["id"].as_str().unwrap().parse().unwrap());
        move |tx| store::calls::find(&mut tx.of(tenant), call)
    });
    assert_eq!(stored.await.unwrap().unwrap().variables["due"], "₹ 500");
}

#[tokio::test]
async fn a_run_begins_at_once_or_says_why_not() {
    let kit = Kit::start().await;
    let id = kit.draft(&json!({}), &["9812340001"]).await;
    kit.run(&id).await.refused(409, "conflict");
    kit.run("cmp_00000000000000000000000000").await.refused(404, "not_found");
    let neighbour = kit.app.workspace().await;
    let path = format!("/v1/campaigns/{id}/run");
    kit.app.post(&neighbour.live, &path, &Value::Null).await.refused(404, "not_found");
    kit.app.post(&kit.workspace.test, &path, &Value::Null).await.refused(403, "test_mode_read_only");
    kit.app.set_clock("2027-03-01T16:00:00Z").await;
    kit.set(&id, "active").await.expect(200);
    let started = kit.run(&id).await.expect(202)["data"].clone();
    assert_eq!(started["status"], "queued");
    let run = format!("/v1/campaign-runs/{}", started["runId"].as_str().unwrap());
    kit.app.advance(0).await;
    let shown_run = kit.get(&run).await["data"].clone();
    // The row was held before: there is nothing to be dialled.
    assert_eq!((&shown_run["source"], &shown_run["attempted"]), (&json!("api"), &json!(0)));
    assert_ne!(shown_run["finishedAt"], Value::Null);
    kit.app.set_clock("2027-03-02T03:00:00Z").await;
    let settings = json!({"settings": {"dailyFrom": "12:00"}});
    kit.app.put(&kit.workspace.live, &format!("/v1/campaigns/{id}"), &settings).await.expect(200);
    kit.app.set_clock("2027-03-02T04:00:00Z").await;
    let started = kit.run(&id).await.expect(202)["data"].clone();
    kit.app.advance(0).await;
    let skipped = kit.get(&format!("/v1/campaign-runs/{}", started["runId"].as_str().unwrap())).await;
    assert_eq!(
        (&skipped["data"]["status"], &skipped["data"]["skippedReason"]),
        (&json!("skipped"), &json!("outside_schedule"))
    );
}

#[tokio::test]
async fn a_run_that_is_asked_for_in_a_session_is_that_session() {
    let kit = Kit::start().await;
    kit.change(&json!({"limits": {"concurrentCalls": 1}})).await;
    let id = kit.campaign(&json!({}), &["9812340001", "9812340002", "9812340003"]).await;
    // The one line is taken.
    let busy = kit.run(&id).await.expect(202)["data"]["runId"].clone();
    kit.app.advance(0).await;
    assert_eq!(kit.told(&id).await, ["schedule running - 1/1/0"]);
    assert_eq!(kit.runs(&id).await[0]["id"], busy);
    kit.app.advance(35).await;
    assert_eq!(kit.told(&id).await, ["schedule completed - 3/3/0"]);
    assert_eq!(kit.status(&id).await, "completed");
}

#[tokio::test]
async fn pausing_ends_the_session_and_resuming_begins_another() {
    let kit = Kit::start().await;
    kit.change(&json!({"limits": {"concurrentCalls": 2}})).await;
    let numbers = numbers(6);
    let id = kit.campaign(&json!({}), &refs(&numbers)).await;
    let path = format!("/v1/campaigns/{id}/status");
    kit.app.post(&kit.workspace.live, &path, &json!({"status": "paused"})).await.expect(200);
    assert_eq!(kit.told(&id).await, ["schedule completed - 2/2/0"], "with the answer");
    kit.app.advance(600).await;
    let progress = kit.summary(&id).await["progress"].clone();
    assert_eq!((&progress["reached"], &progress["queued"]), (&json!(2), &json!(4)), "calls under way go on");
    kit.run(&id).await.refused(409, "conflict");
    kit.set(&id, "active").await.expect(200);
    kit.app.advance(60).await;
    assert_eq!(kit.told(&id).await, ["schedule completed - 2/2/0", "schedule completed - 4/4/0"]);
    assert_eq!(kit.status(&id).await, "completed");
}

#[tokio::test]
async fn own_numbers_rotate_within_their_caps_and_a_person_keeps_its_number() {
    let kit = Kit::start().await;
    kit.number("+918044440001").await;
    kit.number("+918044440002").await;
    let pool =
        json!([{"number": "+918044440001", "dailyCap": 2}, {"number": "+918044440002", "dailyCap": 3}]);
    let settings =
        json!({"callerIds": pool, "retryCount": 1, "cooldownMinutes": 60, "timezone": "Asia/Kolkata"});
    let people: Vec<String> = (0..6).map(|person| format!("98123{person}0000")).collect();
    let id = kit.campaign(&settings, &refs(&people)).await;
    let from =
        |calls: &[Value], number: &str| calls.iter().filter(|call| call["fromNumber"] == number).count();
    let calls = kit.calls(&id).await;
    assert_eq!((from(&calls, "+918044440001"), from(&calls, "+918044440002")), (2, 3));
    assert_eq!(shown(&kit.rows(&id).await[5]), "held - 0 caller_id_cap");
    assert_eq!(kit.summary(&id).await["heldByReason"], json!({"caller_id_cap": 1}));
    kit.app.advance(2 * 3600).await;
    assert_eq!(kit.calls(&id).await.len(), 5, "no retry either: its numbers have reached their caps");
    assert_eq!(kit.summary(&id).await["heldByReason"], json!({"caller_id_cap": 6}));
    kit.app.set_clock("2027-03-02T03:30:00Z").await;
    kit.app.advance(600).await;
    let calls = kit.calls(&id).await;
    assert_eq!(calls.len(), 10);
    kit.app.set_clock("2027-03-03T03:30:00Z").await;
    kit.app.advance(2 * 3600).await;
    let calls = kit.calls(&id).await;
    assert_eq!(calls.len(), 12);
    for person in &people {
        let to = format!("+91{person}");
        let shown: Vec<&Value> =
            calls.iter().filter(|call| call["toNumber"] == *to).map(|call| &call["fromNumber"]).collect();
        assert_eq!(shown.len(), 2);
        assert_eq!(shown[0], shown[1], "{person} sees one number");
    }
    assert_eq!(kit.status(&id).await, "completed");
}

#[tokio::test]
async fn the_own_number_is_the_one_of_the_settings() {
    let kit = Kit::start().await;
    kit.number("+918044440001").await;
    let id = kit.campaign(&json!({"fromNumber": "+918044440001"}), &["9812340001"]).await;
    assert_eq!(kit.calls(&id).await[0]["fromNumber"], "+918044440001");
    let first = kit.get("/v1/numbers").await["data"][0]["number"].clone();
    let id = kit.campaign(&json!({}), &["9812340002"]).await;
    assert_eq!(kit.calls(&id).await[0]["fromNumber"], first);
}

#[tokio::test]
async fn who_is_erased_is_never_called_again() {
    let kit = Kit::start().await;
    let id = kit.campaign(&json!({"retryCount": 2}), &["9812340000"]).await;
    let contact = kit.row(&id).await["contactId"].as_str().unwrap().to_owned();
    kit.app
        .post(&kit.workspace.live, &format!("/v1/contacts/{contact}/erase"), &Value::Null)
        .await
        .expect(200);
    kit.app.advance(3600).await;
    let row = kit.row(&id).await;
    assert_eq!((&row["phone"], &row["name"], &row["valid"]), (&Value::Null, &Value::Null, &json!(false)));
    assert_eq!(row["state"], "unreached");
    assert_eq!(kit.calls(&id).await.len(), 1);
    kit.summary(&id).await;
    assert_eq!(kit.status(&id).await, "completed");
}

#[tokio::test]
async fn a_deleted_campaign_hears_of_its_calls_without_harm() {
    let kit = Kit::start().await;
    let id = kit.campaign(&json!({"retryCount": 2}), &["9812340000", "9812340001"]).await;
    kit.set(&id, "paused").await.expect(200);
    kit.app.delete(&kit.workspace.live, &format!("/v1/campaigns/{id}")).await.expect(200);
    kit.app.advance(3600).await;
    assert_eq!(kit.calls(&id).await.len(), 2, "of a deleted campaign nobody is called again");
}

#[tokio::test]
async fn a_row_whose_call_vanished_is_settled_by_a_look() {
    let kit = Kit::start().await;
    let id = kit.draft(&json!({}), &["9812340001", "9812340002"]).await;
    kit.set(&id, "active").await.expect(200);
    let campaign: String = id.clone();
    kit.app
        .app()
        .store
        .tx(move |tx| {
            tx.exec("delete from calls where campaign = ?1", &[campaign.clone().into()])?;
            Ok::<_, store::DbError>(())
        })
        .await
        .unwrap();
    kit.app.advance(14 * 60).await;
    assert_eq!(kit.row(&id).await["state"], "in_progress");
    kit.app.advance(2 * 60).await;
    let rows = kit.rows(&id).await;
    assert!(rows.iter().all(|row| shown(row) == "unreached failed 1 -"), "{rows:?}");
    assert_eq!(kit.status(&id).await, "completed");
}

/// An exhausted list is no end while a stream feeds the campaign. Its end date is, its owner's word, and the end of the
/// feeding.
#[tokio::test]
async fn a_campaign_that_a_stream_feeds_goes_on_when_everybody_was_called() {
    for (end, reason) in [("date", "end_date"), ("owner", "requested"), ("detached", "list_complete")] {
        let kit = Kit::start().await;
        let stream = webhook(&kit.app, &kit.workspace).await;
        let id = kit.draft(&json!({"endAt": "2027-03-03T18:00:00+05:30"}), &["9812340001"]).await;
        let feed = format!("/v1/campaigns/{id}/streams/{}", stream["id"].as_str().unwrap());
        kit.app.put(&kit.workspace.live, &feed, &json!({})).await.expect(200);
        kit.set(&id, "active").await.expect(200);
        kit.app.advance(60).await;
        assert_eq!(kit.summary(&id).await["progress"]["reached"], 1);
        kit.app.set_clock("2027-03-02T12:00:00+05:30").await;
        assert_eq!(
            (kit.status(&id).await.as_str(), kit.events("campaign.finished").await.len()),
            ("active", 0)
        );
        send(&kit.app, &stream, &json!({"phone": "9812340002"})).await.expect(202);
        kit.app.advance(60).await;
        assert_eq!(kit.summary(&id).await["progress"]["reached"], 2);
        assert_eq!(kit.status(&id).await, "active");
        match end {
            "date" => kit.app.set_clock("2027-03-03T18:00:00+05:30").await,
            "owner" => drop(kit.set(&id, "completed").await.expect(200)),
            _ => drop(kit.app.delete(&kit.workspace.live, &feed).await.expect(200)),
        }
        kit.app.advance(0).await;
        assert_eq!(kit.status(&id).await, "completed", "{end}");
        let finished = kit.events("campaign.finished").await;
        assert_eq!((finished.len(), &finished[0]["data"]["reason"]), (1, &json!(reason)));
        let late = send(&kit.app, &stream, &json!({"phone": "9812340003"})).await.expect(202)["data"].clone();
        assert_eq!((&late["accepted"], &late["queued"]), (&json!(1), &json!(0)), "{end}");
        kit.app.advance(60).await;
        assert_eq!(kit.calls(&id).await.len(), 2, "{end}");
    }
}

#[tokio::test]
async fn events_of_its_calls_name_the_campaign() {
    let kit = Kit::start().await;
    let id = kit.campaign(&json!({}), &["9812340001", "9812340000"]).await;
    kit.app.advance(60).await;
    for (kind, to, cause) in [
        ("call.started", "+919812340001", Value::Null),
        ("transcript.ready", "+919812340001", json!("agent_ended")),
        ("outcome.captured", "+919812340001", json!("agent_ended")),
        ("call.completed", "+919812340001", json!("agent_ended")),
        ("call.failed", "+919812340000", json!("no_answer")),
    ] {
        let told = kit.events(kind).await;
        let [event] = &told[..] else { panic!("one {kind}: {told:?}") };
        let data = &event["data"];
        assert_eq!(
            (&data["campaignId"], &data["agentId"], &data["toNumber"], &data["endCause"]),
            (&json!(id), &json!(kit.agent), &json!(to), &cause),
            "{kind}"
        );
        assert_eq!(
            (&data["direction"], &data["metadata"], &data["externalRef"], &event["livemode"]),
            (&json!("outbound"), &json!({}), &Value::Null, &json!(true)),
            "{kind}"
        );
    }
}

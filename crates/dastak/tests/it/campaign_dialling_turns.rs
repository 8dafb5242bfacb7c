//! Turns of campaigns (`docs/dialler.md#campaigns`): between workspaces, between the campaigns of one, and behind
//! nudges and scheduled calls; failing carriers and lost answers.

use std::sync::{Arc, Mutex};

use domain::ports::{Answer as Coming, Carrier, DialError, DialOrder, DialStatus, HangUpFailed};
use domain::time::{DAY, Timestamp};
use serde_json::{Value, json};
use store::DbError;
use store::db::{CallSite, Fate, Faults, Pause};
use tokio::sync::watch;

use crate::app::TestApp;
use crate::world::{World, phones, refs, shown_row};

/// What the carrier does with a dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Takes,
    Refuses,
}

/// A carrier that does as it is told and remembers whom it was asked to call. Nothing is heard of its calls.
struct Desk {
    orders: Mutex<Vec<DialOrder>>,
    mood: watch::Sender<Mood>,
}

impl Desk {
    fn new(mood: Mood) -> Arc<Self> {
        Arc::new(Self { orders: Mutex::default(), mood: watch::Sender::new(mood) })
    }

    fn dialled(&self) -> Vec<String> {
        self.orders.lock().unwrap().iter().map(|order| order.to.to_string()).collect()
    }

    fn set(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }
}

impl Carrier for Desk {
    fn dial(&self, order: DialOrder) -> Coming<'_, Result<String, DialError>> {
        self.orders.lock().unwrap().push(order.clone());
        let mood = *self.mood.borrow();
        Box::pin(std::future::ready(match mood {
            Mood::Takes => Ok(format!("prov_{}", order.call)),
            Mood::Refuses => Err(DialError::ProviderErrorBeforeRing),
        }))
    }

    fn ask(&self, _: DialOrder) -> Coming<'_, DialStatus> {
        Box::pin(std::future::ready(DialStatus::Unknown))
    }

    fn hang_up(&self, _: &str) -> Coming<'_, Result<(), HangUpFailed>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

async fn nudge(world: &World, to: &str, due: &str) -> Value {
    let body = json!({"agentId": world.agent, "toNumber": to, "scheduledAt": due});
    let headers = [("idempotency-key", to)];
    world.post_with(world.live(), "/v1/nudges", &headers, &body).await.data(201)
}

#[tokio::test]
async fn a_nudge_gets_the_next_line_however_long_the_list_is() {
    let world = World::monday().await;
    world.change(&json!({"limits": {"concurrentCalls": 2}})).await;
    // Every ten seconds two calls end and two follow; it comes due between.
    let due = "2027-03-01T06:35:05Z";
    let made = nudge(&world, "+919812799998", due).await;
    let people = phones(3_000);
    let id = world.draft(&json!({}), &refs(&people)).await;
    world.set(&id, "active").await.expect(200);
    world.set_clock(due).await;
    let path = format!("/v1/nudges/{}", made["id"].as_str().unwrap());
    assert_eq!(world.get(&path).await["data"]["statusReason"], "concurrency_full");
    world.advance(5).await;
    let called = world.data(&path).await;
    assert_eq!(called["attempts"], 1, "{called}");
    let lines = world.campaign_calls(&id).await.iter().filter(|call| call["state"] != "ended").count();
    assert_eq!(lines, 1, "the other line is the campaign's");
    world.advance(10).await;
    assert_eq!(world.get(&path).await["data"]["result"], "connected");
}

/// Transactions that look at due nudges fail.
struct NudgesFail;

impl Faults for NudgesFail {
    fn before(&self, place: CallSite) -> Pause<'_, Fate> {
        let theirs = place.file().ends_with("nudges/due.rs");
        let fate = Fate::Refused(DbError::Internal("as the test wants it".into()));
        Box::pin(std::future::ready(if theirs { fate } else { Fate::Untouched }))
    }
}

#[tokio::test]
async fn nudges_that_cannot_be_looked_at_do_not_take_the_turn_of_campaigns() {
    let world = World::monday().await;
    let due = "2027-03-01T06:35:05Z";
    let mut other = world.neighbour().await;
    other.agent = other.agent(&json!({})).await;
    let body = json!({"agentId": other.agent, "toNumber": "+919812799998", "scheduledAt": due});
    let headers = [("idempotency-key", "one")];
    let made = world.post_with(other.live(), "/v1/nudges", &headers, &body).await.expect(201);
    world.app().store.fail_as(Arc::new(NudgesFail));
    let people = phones(3);
    let id = world.draft(&json!({"startAt": due}), &refs(&people)).await;
    world.set(&id, "active").await.expect(200);
    world.set_clock(due).await;
    assert_eq!(world.campaign_calls(&id).await.len(), 3);
    let path = format!("/v1/nudges/{}", made["data"]["id"].as_str().unwrap());
    assert_eq!(other.get(&path).await["data"]["attempts"], 0);
}

#[tokio::test]
async fn a_call_at_a_set_time_that_waits_for_a_line_gets_the_next_one() {
    let world = World::monday().await;
    world.change(&json!({"limits": {"concurrentCalls": 1}})).await;
    let people = phones(100);
    let body =
        json!({"agentId": world.agent, "toNumber": "+919812799998", "scheduledAt": "2027-03-01T06:35:03Z"});
    let made = world.post("/v1/scheduled-calls", &body).await.expect(201);
    let id = world.campaign(&json!({}), &refs(&people)).await;
    world.set_clock("2027-03-01T06:35:03Z").await;
    let path = format!("/v1/scheduled-calls/{}", made["data"]["id"].as_str().unwrap());
    assert_eq!(world.get(&path).await["data"]["reason"], "concurrency_full");
    world.set_clock("2027-03-01T06:50:02Z").await;
    let live = world.campaign_calls(&id).await.iter().filter(|call| call["state"] != "ended").count();
    assert_eq!(live, 0, "the line is kept for it");
    world.set_clock("2027-03-01T06:50:03Z").await;
    assert_eq!(world.get(&path).await["data"]["status"], "placed");
    world.advance(10).await;
    let live = world.campaign_calls(&id).await.iter().filter(|call| call["state"] != "ended").count();
    assert_eq!(live, 1, "the campaign goes on");
}

#[tokio::test]
async fn the_campaigns_of_a_workspace_share_its_lines() {
    let desk = Desk::new(Mood::Takes);
    let world = World::monday_in(TestApp::start_over(desk.clone()).await).await;
    world.change(&json!({"limits": {"concurrentCalls": 10}})).await;
    let people = phones(400);
    let long = world.draft(&json!({}), &refs(&people[..300])).await;
    let short = world.draft(&json!({}), &refs(&people[300..])).await;
    for id in [&long, &short] {
        let path = format!("/v1/campaigns/{id}/status");
        world.set_clock("2027-03-01T16:00:00Z").await;
        world.post(&path, &json!({"status": "active"})).await.expect(200);
    }
    world.set_clock("2027-03-02T04:00:00Z").await;
    let calls = (world.campaign_calls(&long).await.len(), world.campaign_calls(&short).await.len());
    assert_eq!(calls, (5, 5));
}

#[tokio::test]
async fn workspaces_share_the_lines_of_the_platform() {
    let world =
        World::monday_in(TestApp::start_with(|config| config.telephony.concurrent_calls = 3).await).await;
    let people = phones(90);
    let mut other = world.neighbour().await;
    other.agent = other.agent(&json!({})).await;
    // Many campaigns give a workspace no larger share.
    let mut own = Vec::new();
    for many in people[..60].chunks(20) {
        own.push(world.campaign(&json!({}), &refs(many)).await);
    }
    let theirs = other.draft(&json!({}), &refs(&people[60..])).await;
    let path = format!("/v1/campaigns/{theirs}/status");
    other.post(&path, &json!({"status": "active"})).await.expect(200);
    world.advance(100).await;
    let mut mine = 0;
    for id in &own {
        mine += world.campaign_calls(id).await.len();
    }
    let calls = other.get("/v1/calls?limit=200").await;
    let theirs = calls["data"].as_array().unwrap().len();
    assert!(mine + theirs >= 27, "{mine} and {theirs} on three lines in 100 seconds");
    assert!(mine.abs_diff(theirs) <= 6, "{mine} and {theirs}");
}

#[tokio::test]
async fn a_campaign_keeps_to_its_own_ceiling_of_calls_at_once() {
    let world = World::monday().await;
    let people = phones(7);
    let id = world.campaign(&json!({"maxConcurrentCalls": 3}), &refs(&people)).await;
    let live =
        async || world.campaign_calls(&id).await.iter().filter(|call| call["state"] != "ended").count();
    assert_eq!(live().await, 3);
    world.advance(10).await;
    assert_eq!((live().await, world.campaign_calls(&id).await.len()), (3, 6));
    world.advance(20).await;
    assert_eq!(world.status(&id).await, "completed");
    assert_eq!(world.shown_runs(&id).await, ["schedule completed - 7/7/0"]);
}

#[tokio::test]
async fn a_campaign_that_must_wait_does_not_delay_others() {
    let world = World::monday().await;
    world.change(&json!({"limits": {"concurrentCalls": 0}})).await;
    let people = phones(40);
    for _ in 0..2 {
        world.campaign(&json!({}), &refs(&people)).await;
    }
    let mut other = world.neighbour().await;
    other.agent = other.agent(&json!({})).await;
    let id = other.draft(&json!({}), &refs(&people[..3])).await;
    let path = format!("/v1/campaigns/{id}");
    other.set_status(&path, "active").await.expect(200);
    world.advance(20).await;
    assert_eq!(other.get(&path).await["data"]["status"], "completed");
}

#[tokio::test]
async fn a_carrier_that_refuses_everything_is_left_alone() {
    let desk = Desk::new(Mood::Refuses);
    let world = World::monday_in(TestApp::start_over(desk.clone()).await).await;
    world.change(&json!({"limits": {"concurrentCalls": 1}})).await;
    let people = phones(40);
    let id = world.campaign(&json!({}), &refs(&people)).await;
    let asked = desk.dialled().len();
    assert!((5..=10).contains(&asked), "{asked} refused in a row are enough");
    let progress = world.summary(&id).await["progress"].clone();
    assert_eq!(progress["held"], asked, "{progress}");
    assert_eq!(progress["queued"], 40 - asked);
    world.advance(59).await;
    assert_eq!(desk.dialled().len(), asked);
    desk.set(Mood::Takes);
    world.advance(61).await;
    assert_eq!(desk.dialled().len(), asked + 1, "one line");
    assert_eq!(world.rows(&id).await.iter().filter(|row| row["attempts"] == 1).count(), 1);
}

#[tokio::test]
async fn a_lost_answer_is_never_dialled_again() {
    let world = World::monday().await;
    let id = world.campaign(&json!({"retryCount": 5}), &["9812349999", "9812340001"]).await;
    world.advance(3 * 86_400).await;
    let rows = world.rows(&id).await;
    assert_eq!(shown_row(&rows[0]), "unreached failed 1 -");
    assert_eq!(world.campaign_calls(&id).await.len(), 2);
    assert_eq!(world.status(&id).await, "completed");
}

#[tokio::test]
async fn a_restart_in_the_middle_loses_nobody_and_calls_nobody_twice() {
    // A clock that starts again shows the present moment: noon of tomorrow is not far from it.
    let app = TestApp::start().await;
    let tomorrow = Timestamp::parse(&app.now().await).unwrap().plus(DAY).to_string();
    app.set_clock(&format!("{}T06:30:00Z", &tomorrow[..10])).await;
    let mut world = World::with_agent(app, &json!({})).await;
    world.change(&json!({"limits": {"concurrentCalls": 4}})).await;
    let people = phones(30);
    let id = world.campaign(&json!({}), &refs(&people)).await;
    for _ in 0..3 {
        world.advance(3).await;
        let now = world.now().await;
        world = world.restart().await;
        world.set_clock(&now).await;
    }
    world.advance(120).await;
    assert_eq!(world.status(&id).await, "completed");
    let mut called: Vec<String> = world
        .campaign_calls(&id)
        .await
        .iter()
        .map(|call| call["toNumber"].as_str().unwrap().to_owned())
        .collect();
    called.sort();
    assert_eq!(called, people, "everybody once");
}

/// Three days of a campaign: ten hours a day, two attempts more for who does not answer.
#[tokio::test]
async fn three_days_pass_in_a_moment() {
    let world = World::monday().await;
    world.change(&json!({"limits": {"concurrentCalls": 10}})).await;
    // Every tenth does not answer, every tenth is busy.
    let people: Vec<String> = (0..200)
        .map(|person| match person % 10 {
            0 => format!("+9198{person:04}0000"),
            1 => format!("+9198{person:04}1111"),
            _ => format!("+9198{person:04}5432"),
        })
        .collect();
    let settings = json!({
        "startAt": "2027-03-02T00:00:00+05:30", "dailyFrom": "10:00", "dailyTo": "18:00", "timezone": "Asia/Kolkata",
        "retryCount": 2, "cooldownMinutes": 24 * 60,
    });
    let id = world.campaign(&settings, &refs(&people)).await;
    let at_evening = async |day: u8| {
        world.set_clock(&format!("2027-03-{day:02}T20:00:00+05:30")).await;
        let progress = world.summary(&id).await["progress"].clone();
        ["reached", "unreached", "retryable", "queued"].map(|name| progress[name].as_i64().unwrap())
    };
    assert_eq!(at_evening(1).await, [0, 0, 0, 200]);
    assert_eq!(at_evening(2).await, [160, 40, 40, 0]);
    assert_eq!(at_evening(3).await, [160, 40, 40, 0]);
    assert_eq!(at_evening(4).await, [160, 40, 0, 0]);
    assert_eq!(world.status(&id).await, "completed");
    assert_eq!(world.summary(&id).await["connectRate"], 0.5714, "160 of 280");
    let sessions = world.shown_runs(&id).await;
    let dialled: Vec<&String> = sessions.iter().filter(|run| run.contains("completed")).collect();
    assert_eq!(
        dialled.first().map(|run| run.as_str()),
        Some("schedule completed - 200/200/0"),
        "{sessions:?}"
    );
}

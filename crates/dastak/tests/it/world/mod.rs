//! Where most tests begin: a service on the manual clock with a workspace and a published agent. `World` makes and shows
//! what a client can make and see, in the words of the API; what it does not name goes through [`World::get`],
//! [`World::post`] and [`World::operator`]. Types with something to play beside it (a carrier, a model, a Cloud API)
//! dereference to it.

mod campaigns;
mod channel;
mod nudges;

use std::ops::Deref;

use dastak::config::Config;
use domain::tenant::Tenant;
use domain::time::{DAY, HOUR, SECOND, Timestamp};
use serde_json::{Value, json};

use crate::app::{Answer, TestApp, Workspace};

pub use campaigns::{draft, names, phones, refs, shown_row};
pub use channel::Channel;
pub use nudges::{assert_nudge, id};

/// Noon in India on a Monday.
pub const NOON: &str = "2027-03-01T06:30:00Z";

/// Noon in India on the day after a moment: every built-in pack is open, and what a test plays stays inside
/// the calling hours.
pub fn noon_after(now: &str) -> Timestamp {
    Timestamp((Timestamp::parse(now).unwrap().0.div_euclid(DAY) + 1) * DAY + 13 * HOUR / 2)
}

/// An object with the fields of another one, too.
pub fn with(mut object: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().into_iter().flatten() {
        object[name] = value.clone();
    }
    object
}

/// The field that a refusal names, which its message begins with.
#[track_caller]
pub fn names_field(answer: &Value, field: &str) {
    assert_eq!(answer["meta"]["field"], field, "{answer}");
    assert!(answer["error"].as_str().unwrap().starts_with(field), "{answer}");
}

/// Events of a workspace in the outbox, oldest first.
pub async fn outbox(app: &TestApp, workspace: &str) -> Vec<Value> {
    let tenant = workspace.parse().unwrap();
    let read = move |tx: &mut store::Tx<'_>| store::events::list_after(&mut tx.of(tenant), "", 100_000);
    let rows = app.app().store.read(read).await.unwrap();
    rows.iter().filter_map(|row| row.envelope.as_deref()).map(crate::closed::event).collect()
}

/// What the events of a type say to a key, oldest first.
pub async fn payloads(app: &TestApp, key: &str, kind: &str) -> Vec<Value> {
    app.advance(0).await;
    let listed = app.get(key, "/v1/events?after=start&limit=100").await.list(200);
    listed.iter().filter(|event| event["type"] == kind).map(|event| event["data"].clone()).collect()
}

/// Creates an agent; the answer's `data`.
pub async fn draft_agent(app: &TestApp, workspace: &Workspace, body: &Value) -> Value {
    let body = with(json!({"name": "Asha"}), body);
    app.post(&workspace.live, "/v1/agents", &body).await.data(201)
}

/// Creates an agent and publishes it; its id.
pub async fn agent(app: &TestApp, workspace: &Workspace, body: &Value) -> String {
    let id = draft_agent(app, workspace, body).await["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/agents/{id}/status");
    app.post(&workspace.live, &path, &json!({"status": "active"})).await.expect(200);
    id
}

/// Publishes a flow of these nodes, of which the first one comes first.
pub async fn publish_flow(app: &TestApp, workspace: &Workspace, agent: &str, nodes: Value) {
    let path = format!("/v1/agents/{agent}/flow");
    let version = app.get(&workspace.live, &path).await.data(200)["draftVersion"].clone();
    let graph = json!({"startNodeId": nodes[0]["id"], "nodes": nodes, "variables": []});
    let body = json!({"graph": graph, "baseVersion": version});
    app.put(&workspace.live, &path, &body).await.expect(200);
    app.post(&workspace.live, &format!("{path}/publish"), &Value::Null).await.expect(200);
}

/// Makes an agent the one that answers the workspace's number; that number.
pub async fn answers_number(app: &TestApp, workspace: &Workspace, agent: &str) -> String {
    let number = app.get(&workspace.live, "/v1/numbers").await.data(200)[0].clone();
    let path = format!("/v1/numbers/{}/inbound-agent", number["id"].as_str().unwrap());
    app.put(&workspace.live, &path, &json!({"agentId": agent})).await.expect(200);
    number["number"].as_str().unwrap().to_owned()
}

/// A service with a workspace and a published agent.
pub struct World {
    pub app: TestApp,
    pub workspace: Workspace,
    /// Empty in a world without one.
    pub agent: String,
    /// The moment it began.
    pub noon: Timestamp,
}

impl Deref for World {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}

/// Makes a type that holds a world (or one that leads to it) stand for it.
macro_rules! leads_to {
    ($type:ty, $field:ident: $target:ty) => {
        impl std::ops::Deref for $type {
            type Target = $target;

            fn deref(&self) -> &$target {
                &self.$field
            }
        }

        impl std::ops::DerefMut for $type {
            fn deref_mut(&mut self) -> &mut $target {
                &mut self.$field
            }
        }
    };
}
pub(crate) use leads_to;

impl World {
    /// At noon, with the sandbox for telephone lines.
    pub async fn open() -> Self {
        Self::open_with(|_| ()).await
    }

    pub async fn open_with(change: impl FnOnce(&mut Config)) -> Self {
        Self::of(TestApp::start_with(change).await).await
    }

    /// Without an agent; its clock stands at the present moment.
    pub async fn bare() -> Self {
        Self::bare_with(|_| ()).await
    }

    pub async fn bare_with(change: impl FnOnce(&mut Config)) -> Self {
        let app = TestApp::start_with(change).await;
        let workspace = app.workspace().await;
        Self { noon: app.app().clock.now(), app, workspace, agent: String::new() }
    }

    /// In this service, at noon of the next day.
    pub async fn of(app: TestApp) -> Self {
        let noon = noon_after(&app.now().await);
        Self::begin(app, noon).await
    }

    /// At [`NOON`].
    pub async fn monday() -> Self {
        Self::monday_in(TestApp::start().await).await
    }

    pub async fn monday_in(app: TestApp) -> Self {
        Self::since(app, NOON).await
    }

    /// In this service, whose clock is set to a moment.
    pub async fn since(app: TestApp, moment: &str) -> Self {
        Self::begin(app, Timestamp::parse(moment).unwrap()).await
    }

    async fn begin(app: TestApp, noon: Timestamp) -> Self {
        app.set_clock(&noon.to_string()).await;
        Self::with_agent(app, &json!({"systemPrompt": "You are Asha from Acme."})).await
    }

    /// At noon, with an agent of this prompt.
    pub async fn prompted(prompt: &str) -> Self {
        let app = TestApp::start().await;
        app.set_clock(&noon_after(&app.now().await).to_string()).await;
        Self::with_agent(app, &json!({"systemPrompt": prompt})).await
    }

    /// In this service, with this agent; its clock stands where it stood.
    pub async fn with_agent(app: TestApp, body: &Value) -> Self {
        let noon = app.app().clock.now();
        let workspace = app.workspace().await;
        let agent = agent(&app, &workspace, body).await;
        Self { app, workspace, agent, noon }
    }

    /// Stops the service in order and starts it again on the same store, with the same carriers.
    pub async fn restart(self) -> Self {
        Self { app: self.app.restart().await, ..self }
    }

    /// The same with the carriers of its settings; the clock then stands at this many seconds after it began.
    pub async fn restart_at(self, seconds: i64) -> Self {
        let world = Self { app: self.app.restart_with(|_| ()).await, ..self };
        world.set_clock(&world.at(seconds)).await;
        world
    }

    /// The moment this many seconds after it began.
    pub fn at(&self, seconds: i64) -> String {
        self.noon.plus(seconds * SECOND).to_string()
    }

    pub fn live(&self) -> &str {
        &self.workspace.live
    }

    pub fn tenant(&self) -> Tenant {
        self.workspace.id.parse().unwrap()
    }

    /// What the live key is shown.
    pub async fn get(&self, path: &str) -> Value {
        self.app.get(self.live(), path).await.expect(200)
    }

    /// The `data` of that.
    pub async fn data(&self, path: &str) -> Value {
        self.app.get(self.live(), path).await.data(200)
    }

    /// The rows of that.
    pub async fn list(&self, path: &str) -> Vec<Value> {
        self.app.get(self.live(), path).await.list(200)
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.app.post(self.live(), path, body).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.app.put(self.live(), path, body).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.app.patch(self.live(), path, body).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.app.delete(self.live(), path).await
    }

    /// Asks the operator API for something of this workspace.
    pub async fn operator(&self, method: &str, path: &str, body: Value) -> Answer {
        self.app.operator(method, &format!("/workspaces/{}{path}", self.workspace.id), &body).await
    }

    /// Changes the workspace.
    pub async fn change(&self, change: &Value) {
        self.operator("PATCH", "", change.clone()).await.expect(200);
    }

    /// Makes an agent and publishes it; its id.
    pub async fn agent(&self, body: &Value) -> String {
        agent(&self.app, &self.workspace, body).await
    }

    /// Publishes a flow of these nodes for the agent.
    pub async fn publish(&self, nodes: Value) {
        publish_flow(&self.app, &self.workspace, &self.agent, nodes).await;
    }

    /// The number that the workspace owns.
    pub async fn own_number(&self) -> String {
        self.data("/v1/numbers").await[0]["number"].as_str().unwrap().to_owned()
    }

    /// Adds an own number.
    pub async fn number(&self, number: &str) {
        self.operator("POST", "/numbers", json!({"number": number})).await.expect(201);
    }

    /// Adds a member; its id.
    pub async fn member(&self, email: &str, role: &str) -> String {
        let body = json!({"email": email, "name": "Ravi", "role": role});
        self.operator("POST", "/members", body).await.id(201)
    }

    /// An approved template of the messaging channel, in the sandbox; its id.
    pub async fn template(&self, name: &str, category: &str, components: Value) -> String {
        let body = json!({"name": name, "language": "en", "category": category, "components": components});
        let id = self.post("/v1/chatapp/templates", &body).await.id(201);
        self.advance(3).await;
        id
    }

    /// Moves money.
    pub async fn pay(&self, amount: i64) {
        let kind = if amount > 0 { "topup" } else { "adjustment" };
        let body = json!({"kind": kind, "amountMinor": amount, "reference": "test"});
        self.operator("POST", "/wallet/entries", body).await.expect(201);
    }

    /// Balance and what is held of it.
    pub async fn wallet(&self) -> (i64, i64) {
        let shown = self.operator("GET", "", Value::Null).await.data(200);
        (shown["balanceMinor"].as_i64().unwrap(), shown["reservedMinor"].as_i64().unwrap())
    }

    /// The outbox of the workspace, oldest first.
    pub async fn outbox(&self) -> Vec<Value> {
        outbox(&self.app, &self.workspace.id).await
    }

    /// The events of a type in the outbox.
    pub async fn outbox_of(&self, kind: &str) -> Vec<Value> {
        self.outbox().await.into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// The types in the outbox.
    pub async fn kinds(&self) -> Vec<String> {
        self.outbox().await.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    /// Events of a type that the API lists, oldest first.
    pub async fn events(&self, kind: &str) -> Vec<Value> {
        let listed = self.list("/v1/events?after=start&limit=100").await;
        listed.into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// What the events of a type say.
    pub async fn payloads(&self, kind: &str) -> Vec<Value> {
        payloads(&self.app, self.live(), kind).await
    }

    /// The order of a call, a scheduled one or a nudge, with more fields.
    pub fn order(&self, to: &str, more: &Value) -> Value {
        with(json!({"agentId": self.agent, "toNumber": to}), more)
    }

    /// Places a call to a number of the sandbox with these last digits.
    pub async fn place(&self, key: &str, digits: &str) -> Answer {
        self.place_with(key, digits, json!({})).await
    }

    pub async fn place_with(&self, key: &str, digits: &str, more: Value) -> Answer {
        self.app.post(key, "/v1/calls", &self.order(&format!("+91981230{digits}"), &more)).await
    }

    /// The id of a call that was placed.
    pub async fn placed(&self, key: &str, digits: &str) -> String {
        self.place(key, digits).await.expect(200)["interactionId"].as_str().unwrap().to_owned()
    }

    pub async fn call(&self, key: &str, id: &str) -> Value {
        self.app.get(key, &format!("/v1/calls/{id}")).await.data(200)
    }

    pub async fn calls(&self) -> Vec<Value> {
        self.list("/v1/calls?limit=200").await
    }
}

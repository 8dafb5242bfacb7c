//! Where most tests begin: a service on the manual clock with a workspace and a published agent. `World` makes and shows
//! what a client can make and see, in the words of the API; what it does not name goes through [`World::get`],
//! [`World::post`] and [`World::operator`]. Types with something to play beside it (a carrier, a model, a Cloud API)
//! dereference to it.

mod campaigns;
mod channel;
mod member;
mod nudges;

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use dastak::app::after_call::Ports;
use dastak::config::Config;
use domain::ports::Carrier;
use domain::tenant::Tenant;
use domain::time::{DAY, HOUR, SECOND, Timestamp};
use serde_json::{Value, json};

use crate::app::{Answer, TestApp, Workspace};

pub use campaigns::{names, phones, refs, shown_row};
pub use channel::Channel;
pub use member::{Member, SAME_ORIGIN};
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
    let rows = app.stored(read).await;
    rows.iter().filter_map(|row| row.envelope.as_deref()).map(crate::closed::event).collect()
}

/// A service with a workspace and a published agent.
pub struct World {
    pub app: Arc<TestApp>,
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

/// What is left of a world whose service has ended.
#[derive(Clone)]
pub struct Stopped {
    pub config: Config,
    pub folder: PathBuf,
    pub workspace: Workspace,
    agent: String,
    noon: Timestamp,
}

impl Stopped {
    fn in_service(self, app: TestApp) -> World {
        World { app: Arc::new(app), workspace: self.workspace, agent: self.agent, noon: self.noon }
    }

    /// Starts the service again on its store.
    pub async fn start(self) -> World {
        let app = TestApp::start_again((self.config.clone(), self.folder.clone())).await;
        self.in_service(app)
    }

    /// The same with a carrier for live calls and these ports.
    pub async fn start_ports(self, live: Arc<dyn Carrier>, ports: impl FnOnce(&mut Ports)) -> World {
        let app = TestApp::start_again_ports((self.config.clone(), self.folder.clone()), live, ports).await;
        self.in_service(app)
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
        Self::in_service(Arc::new(TestApp::start_with(change).await)).await
    }

    async fn in_service(app: Arc<TestApp>) -> Self {
        let workspace = app.workspace().await;
        Self { noon: app.app().clock.now(), app, workspace, agent: String::new() }
    }

    /// Another workspace of the same service, without an agent. It must be gone before a restart.
    pub async fn neighbour(&self) -> Self {
        Self::in_service(self.app.clone()).await
    }

    /// The same, which was made already.
    pub async fn enter(&self, id: &str) -> Self {
        let (live, test) =
            (self.key(id, "live", json!("all")).await, self.key(id, "test", json!("all")).await);
        let workspace = Workspace { id: id.to_owned(), live, test };
        Self { app: self.app.clone(), workspace, agent: String::new(), noon: self.app().clock.now() }
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
        let mut world = Self::in_service(Arc::new(app)).await;
        world.agent = world.agent(body).await;
        world
    }

    /// Leaves the service, of which there must be no other world.
    fn leave(self) -> (TestApp, Stopped) {
        let Self { app, workspace, agent, noon } = self;
        let app = Arc::try_unwrap(app).unwrap_or_else(|_| panic!("another world of this service is left"));
        let (config, folder) = (app.app().config.clone(), PathBuf::new());
        (app, Stopped { config, folder, workspace, agent, noon })
    }

    /// Stops the service in order and starts it again on the same store, with the same carriers.
    pub async fn restart(self) -> Self {
        let (app, left) = self.leave();
        left.in_service(app.restart().await)
    }

    /// The same with other settings, which also choose the carriers anew.
    pub async fn restart_with(self, change: impl FnOnce(&mut Config)) -> Self {
        let (app, left) = self.leave();
        left.in_service(app.restart_with(change).await)
    }

    /// The same with the carriers of its settings; the clock then stands at this many seconds after it began.
    pub async fn restart_at(self, seconds: i64) -> Self {
        let world = self.restart_with(|_| ()).await;
        world.set_clock(&world.at(seconds)).await;
        world
    }

    /// Stops the service in order and leaves its store.
    pub async fn stop(self) -> Stopped {
        let (app, left) = self.leave();
        let (config, folder) = app.stop().await;
        Stopped { config, folder, ..left }
    }

    /// Ends the service as a crash does ([`TestApp::crash`]).
    pub fn crash(self, runtime: tokio::runtime::Runtime) -> Stopped {
        let (app, left) = self.leave();
        let (config, folder) = app.crash(runtime);
        Stopped { config, folder, ..left }
    }

    /// The moment this many seconds after it began.
    pub fn at(&self, seconds: i64) -> String {
        self.noon.plus(seconds * SECOND).to_string()
    }

    pub fn live(&self) -> &str {
        &self.workspace.live
    }

    pub fn test(&self) -> &str {
        &self.workspace.test
    }

    pub fn tenant(&self) -> Tenant {
        self.workspace.id.parse().unwrap()
    }

    /// What the live key is shown.
    pub async fn get(&self, path: &str) -> Value {
        self.app.get(self.live(), path).await.expect(200)
    }

    /// The same, whatever the answer is.
    pub async fn fetch(&self, path: &str) -> Answer {
        self.app.get(self.live(), path).await
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

    /// Creates an agent; the answer's `data`.
    pub async fn draft_agent(&self, body: &Value) -> Value {
        self.post("/v1/agents", &with(json!({"name": "Asha"}), body)).await.data(201)
    }

    /// Creates an agent and publishes it; its id.
    pub async fn agent(&self, body: &Value) -> String {
        let id = self.draft_agent(body).await["id"].as_str().unwrap().to_owned();
        self.set_agent(&id, "active").await.expect(200);
        id
    }

    pub async fn set_agent(&self, id: &str, status: &str) -> Answer {
        self.post(&format!("/v1/agents/{id}/status"), &json!({"status": status})).await
    }

    /// Publishes a flow of these nodes for the agent, of which the first one comes first.
    pub async fn publish(&self, nodes: Value) {
        self.publish_for(&self.agent, nodes).await;
    }

    /// The same for another agent.
    pub async fn publish_for(&self, agent: &str, nodes: Value) {
        let path = format!("/v1/agents/{agent}/flow");
        let version = self.data(&path).await["draftVersion"].clone();
        let graph = json!({"startNodeId": nodes[0]["id"], "nodes": nodes, "variables": []});
        self.put(&path, &json!({"graph": graph, "baseVersion": version})).await.expect(200);
        self.post(&format!("{path}/publish"), &Value::Null).await.expect(200);
    }

    /// Makes an agent the one that answers the workspace's number; that number.
    pub async fn answers_number(&self, agent: &str) -> String {
        let number = self.data("/v1/numbers").await[0].clone();
        let path = format!("/v1/numbers/{}/inbound-agent", number["id"].as_str().unwrap());
        self.put(&path, &json!({"agentId": agent})).await.expect(200);
        number["number"].as_str().unwrap().to_owned()
    }

    /// Erases a person.
    pub async fn erase(&self, contact: &str) -> Answer {
        let path = format!("/v1/contacts/{contact}/erase");
        self.send("POST", &path, Some(self.live()), &[], bytes::Bytes::new()).await
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
    pub async fn add_member(&self, email: &str, role: &str) -> String {
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
        self.advance(0).await;
        self.events(kind).await.iter().map(|event| event["data"].clone()).collect()
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

//! Streams of members (docs/contract/live.md): what is told, what is resumed, who sees what, and how many there may be.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use api::live_calls::CallFlag;
use dastak::app::App;
use dastak::app::calls::live::{self, LiveCalls, Said};
use dastak::app::member_streams::{self, Beginning, Hub, Limits, MemberStream, Message, Requested};
use dastak::app::node;
use domain::conversation::Role;
use domain::ids::{Call, Id, User};
use domain::tenant::{Mode, Role as MemberRole, Tenant};
use domain::time::{MINUTE, SECOND};
use domain::topic::Topic;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::app::{TestApp, needs_postgres};
use crate::world::{Member, World, noon_after};

/// Longest wait for something that must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// A tab of a member, without the HTTP around it.
struct Tab {
    stream: MemberStream,
    /// The newest id.
    last: Option<String>,
    /// Objects that were told as changed; `*` for a list as a whole.
    told: BTreeSet<(Topic, String)>,
    deltas: Vec<Value>,
    resets: usize,
    resumed: Option<bool>,
}

/// Who opens a tab, and what it asks for.
struct Opening<'o> {
    tenant: Tenant,
    mode: Mode,
    member: Id<User>,
    topics: Option<&'o str>,
    last: Option<String>,
    limits: Limits,
    allowed: Arc<AtomicBool>,
}

impl Opening<'_> {
    fn of(world: &World) -> Self {
        Self {
            tenant: world.tenant(),
            mode: Mode::Live,
            member: member(1),
            topics: None,
            last: None,
            limits: Limits::default(),
            allowed: Arc::new(AtomicBool::new(true)),
        }
    }

    async fn try_open(self, app: &Arc<App>) -> Result<Tab, dastak::app::Failure> {
        let beginning = Beginning {
            tenant: self.tenant,
            mode: self.mode,
            member: self.member,
            session: self.member.to_string(),
            requested: Requested::read(self.topics)?,
            last: self.last,
            still_allowed: {
                let allowed = self.allowed;
                Box::new(move || {
                    let allowed = allowed.load(Ordering::Acquire);
                    Box::pin(async move { Ok(allowed) })
                })
            },
        };
        let stream = member_streams::open(app, self.limits, beginning).await?;
        let (told, deltas) = (BTreeSet::new(), Vec::new());
        Ok(Tab { stream, last: None, told, deltas, resets: 0, resumed: None })
    }

    async fn open(self, app: &Arc<App>) -> Tab {
        let mut tab = self.try_open(app).await.expect("a stream");
        tab.until("it is ready", |tab| tab.resumed.is_some() || tab.resets > 0).await;
        tab
    }
}

fn member(number: u128) -> Id<User> {
    Id::new(1_763_700_000_000, number)
}

impl Tab {
    /// Takes one message; `false` when the stream is over.
    async fn take(&mut self) -> bool {
        let next = tokio::time::timeout(PATIENCE, self.stream.next()).await.expect("a message in time");
        let Some((message, id)) = next else { return false };
        self.last = id.or(self.last.take());
        match message {
            Message::Ready { resumed } => self.resumed = Some(resumed),
            Message::Invalidate { topic, object, .. } => {
                self.told.insert((topic, object.unwrap_or_else(|| "*".into())));
            }
            Message::Delta(delta) => self.deltas.push(delta),
            Message::Reset => self.resets += 1,
            Message::Heartbeat => {}
        }
        true
    }

    async fn until(&mut self, what: &str, condition: impl Fn(&Self) -> bool) {
        let began = std::time::Instant::now();
        while !condition(self) {
            assert!(began.elapsed() < PATIENCE, "never: {what}; told {:?}", self.told);
            assert!(self.take().await, "the stream is over before {what}");
        }
    }

    async fn is_told(&mut self, topic: Topic, object: &str) {
        let wanted = (topic, object.to_owned());
        self.until(&format!("{topic} {object} is told"), |tab| tab.told.contains(&wanted)).await;
    }

    /// Whether it has an id to go on from that counts for everything that it was told.
    async fn position(&mut self) -> String {
        self.until("it has a position", |tab| tab.last.is_some()).await;
        self.last.clone().expect("a position")
    }
}

/// Changes something of each kind, and calls somebody; what must be told.
async fn change_things(world: &World, tag: &str) -> Vec<(Topic, String)> {
    let mut changed = change_settings(world, tag).await;
    let campaign = json!({"name": tag, "agentId": world.agent});
    changed.push((Topic::Campaigns, world.post("/v1/campaigns", &campaign).await.id(201)));
    let call = world.placed(world.live(), "0001").await;
    world.advance(60).await;
    changed.extend([(Topic::Calls, call.clone()), (Topic::Live, call)]);
    changed
}

/// A contact with a number of its own.
fn new_contact(reference: &str) -> Value {
    static NUMBERS: AtomicU32 = AtomicU32::new(0);
    let number = 50_000 + NUMBERS.fetch_add(1, Ordering::Relaxed);
    json!({"externalRef": reference, "phone": format!("+9198123{number}"), "name": "Asha"})
}

/// Changes something of each kind that needs no agent.
async fn change_settings(world: &World, tag: &str) -> Vec<(Topic, String)> {
    let agent = world.draft_agent(&json!({"name": format!("Agent {tag}")})).await["id"].clone();
    let hook = json!({"url": format!("https://example.com/{tag}")});
    let endpoint = world.post("/v1/webhooks", &hook).await.id(201);
    let contact = new_contact(tag);
    let contact = world.post("/v1/contacts", &contact).await.expect(201)["data"]["id"].clone();
    let base = world.post("/v1/knowledge-bases", &json!({"name": tag})).await.id(201);
    let stream = json!({"name": tag, "kind": "api", "fieldMap": {"phone": "phone"}});
    let stream = world.post("/v1/data-streams", &stream).await.id(201);
    world.change(&json!({"name": format!("Acme {tag}")})).await;
    let text = |value: &Value| value.as_str().expect("an id").to_owned();
    vec![
        (Topic::Agents, text(&agent)),
        (Topic::Webhooks, endpoint),
        (Topic::Contacts, text(&contact)),
        (Topic::Knowledge, base),
        (Topic::Streams, stream),
        (Topic::Settings, world.workspace.id.clone()),
    ]
}

#[tokio::test]
async fn every_change_is_told_and_a_stream_goes_on_after_a_restart() {
    let world = World::open().await;
    let mut tab = Opening::of(&world).open(world.app()).await;
    assert_eq!(tab.resumed, Some(false));
    for (topic, object) in change_things(&world, "first").await {
        tab.is_told(topic, &object).await;
    }
    let last = tab.position().await;
    // Nobody listens to these.
    drop(tab);
    let missed = change_things(&world, "second").await;
    // The clock of a service that starts shows the hour of the test, in which nobody may be called at night.
    let now = world.now().await;
    let world = world.restart().await;
    world.set_clock(&now).await;
    let mut tab = Opening { last: Some(last), ..Opening::of(&world) }.open(world.app()).await;
    assert_eq!((tab.resumed, tab.resets), (Some(true), 0));
    for (topic, object) in missed {
        tab.is_told(topic, &object).await;
    }
    assert_eq!(tab.resets, 0);
    // The clock of the service began anew, at any hour of the day; one may be called at noon.
    world.set_clock(&noon_after(&world.now().await).to_string()).await;
    for (topic, object) in change_things(&world, "third").await {
        tab.is_told(topic, &object).await;
    }
}

#[tokio::test]
async fn others_and_the_other_mode_are_told_nothing_of_it() {
    let world = World::open().await;
    let neighbour = world.neighbour().await;
    let app = world.app();
    let mut own = Opening::of(&world).open(app).await;
    let mut test = Opening { mode: Mode::Test, ..Opening::of(&world) }.open(app).await;
    let mut other = Opening::of(&neighbour).open(app).await;
    let live = change_things(&world, "live").await;
    let tested = world.placed(world.test(), "0002").await;
    world.advance(60).await;
    let theirs = change_settings(&neighbour, "theirs").await;
    for (topic, object) in &live {
        own.is_told(*topic, object).await;
    }
    test.is_told(Topic::Calls, &tested).await;
    for (topic, object) in &theirs {
        other.is_told(*topic, object).await;
    }
    // The newest changes were told, so everything before them was.
    let of = |tab: &Tab| -> BTreeSet<String> { tab.told.iter().map(|(_, object)| object.clone()).collect() };
    let calls = |all: &[(Topic, String)]| {
        all.iter().filter(|(topic, _)| *topic == Topic::Calls).map(|(_, id)| id.clone()).collect::<Vec<_>>()
    };
    assert!(!of(&own).contains(&tested), "a live tab sees no call of test mode");
    assert!(calls(&live).iter().all(|call| !of(&test).contains(call)), "nor the other way round");
    for (_, object) in live.iter().chain(&[(Topic::Calls, tested)]) {
        assert!(!of(&other).contains(object), "a neighbour is told of {object}");
    }
    for (_, object) in &theirs {
        assert!(!of(&own).contains(object) && !of(&test).contains(object), "a neighbour's {object} is told");
    }
}

#[tokio::test]
async fn a_tab_is_told_only_what_it_asked_for() {
    let world = World::open().await;
    let mut all = Opening::of(&world).open(world.app()).await;
    let mut campaigns = Opening { topics: Some("campaigns"), ..Opening::of(&world) }.open(world.app()).await;
    for (topic, object) in change_things(&world, "a").await {
        all.is_told(topic, &object).await;
        if topic == Topic::Campaigns {
            campaigns.is_told(topic, &object).await;
        }
    }
    assert!(campaigns.told.iter().all(|(topic, _)| *topic == Topic::Campaigns), "{:?}", campaigns.told);
}

/// A tab that goes on from this id.
async fn again(of: &World, last: &str, mode: Mode) -> Tab {
    Opening { last: Some(last.to_owned()), mode, ..Opening::of(of) }.open(of.app()).await
}

#[tokio::test]
async fn a_position_that_is_not_ours_begins_anew() {
    let world = World::open().await;
    let neighbour = world.neighbour().await;
    let mut tab = Opening::of(&world).open(world.app()).await;
    let last = tab.position().await;
    let resumed = again(&world, &last, Mode::Live).await;
    assert_eq!((resumed.resumed, resumed.resets), (Some(true), 0));
    let mut forged = last.clone();
    forged.replace_range(1..2, if &last[1..2] == "1" { "2" } else { "1" });
    for wrong in ["", "x", "r1.2.3", forged.as_str()] {
        assert_eq!(again(&world, wrong, Mode::Live).await.resets, 1, "{wrong}");
    }
    assert_eq!(again(&neighbour, &last, Mode::Live).await.resets, 1, "another workspace");
    assert_eq!(again(&world, &last, Mode::Test).await.resets, 1, "another mode");
    world.advance(59 * MINUTE / SECOND).await;
    assert_eq!(again(&world, &last, Mode::Live).await.resets, 0);
    world.advance(2 * MINUTE / SECOND).await;
    assert_eq!(again(&world, &last, Mode::Live).await.resets, 1, "it is too old");
}

#[tokio::test]
async fn streams_are_counted_for_a_session_a_member_a_workspace_and_a_node() {
    let world = World::open().await;
    let neighbour = world.neighbour().await;
    let wide = Limits { session: 9, member: 9, workspace: 9, node: 9 };
    let mut open = Vec::new();
    for number in 1..=2 {
        open.push(Opening { member: member(number), ..Opening::of(&world) }.open(world.app()).await);
    }
    for (limits, whose) in [
        (Limits { session: 1, ..wide }, "this session has 1 "),
        (Limits { member: 1, ..wide }, "this member has 1 "),
        (Limits { workspace: 2, ..wide }, "the workspace has 2 "),
        (Limits { node: 2, ..wide }, "the node has 2 "),
    ] {
        let refused = Opening { limits, ..Opening::of(&world) }.try_open(world.app()).await;
        let refused = refused.err().expect("a refusal");
        assert_eq!((refused.error.status, refused.retry_after), (429, Some(5)));
        assert!(refused.message.starts_with(whose), "{}", refused.message);
    }
    // A refusal takes no place, and the places of another workspace are its own.
    let limits = Limits { session: 2, member: 2, workspace: 3, node: 4 };
    drop(Opening { limits, ..Opening::of(&world) }.open(world.app()).await);
    let limits = Limits { workspace: 1, ..wide };
    drop(Opening { member: member(3), limits, ..Opening::of(&neighbour) }.open(world.app()).await);
    drop(open);
    let limits = Limits { session: 1, member: 1, workspace: 1, node: 1 };
    Opening { limits, ..Opening::of(&world) }.open(world.app()).await;
}

#[tokio::test]
async fn a_stream_ends_with_the_right_to_see_it_and_with_the_node() {
    let world = World::open().await;
    let allowed = Arc::new(AtomicBool::new(true));
    let mut removed = Opening { allowed: allowed.clone(), ..Opening::of(&world) }.open(world.app()).await;
    let mut stays = Opening { member: member(2), ..Opening::of(&world) }.open(world.app()).await;
    allowed.store(false, Ordering::Release);
    Hub::of(world.app()).access_changed();
    while removed.take().await {}
    assert_eq!(Hub::of(world.app()).streams(), 2, "it is there until it is dropped");
    drop(removed);
    let changed = change_things(&world, "still").await;
    for (topic, object) in changed {
        stays.is_told(topic, &object).await;
    }
    node::stop(world.app());
    while stays.take().await {}
    drop(stays);
    assert_eq!(Hub::of(world.app()).streams(), 0);
}

#[tokio::test]
async fn who_reads_too_slowly_begins_anew_and_misses_nothing_after() {
    let world = World::open().await;
    let mut fast = Opening::of(&world).open(world.app()).await;
    let mut slow = Opening { member: member(2), ..Opening::of(&world) }.open(world.app()).await;
    // Each is a batch of its own: the next change follows when the one before was told.
    for number in 0..18 {
        let tool = json!({"type": "webhook", "name": format!("tool_{number}"), "config": {"url": "https://example.com/tool"}});
        let tool = world.operator("POST", "/tools", tool).await.id(201);
        fast.is_told(Topic::Tools, &tool).await;
    }
    slow.until("it begins anew", |tab| tab.resets > 0).await;
    assert!(slow.told.len() <= 16 && fast.resets == 0, "{:?}", slow.told);
    let last = slow.position().await;
    let changed = change_things(&world, "after").await;
    for (topic, object) in &changed {
        slow.is_told(*topic, object).await;
    }
    drop(slow);
    let mut again =
        Opening { member: member(2), last: Some(last), ..Opening::of(&world) }.open(world.app()).await;
    for (topic, object) in &changed {
        again.is_told(*topic, object).await;
    }
}

/// Ids do not come in the order of commits: a transaction that began first may commit last.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_committed_late_is_told_and_resumed_on_postgres() {
    needs_postgres();
    let world = World::open().await;
    let mut tab = Opening::of(&world).open(world.app()).await;
    let (tenant, now) = (world.tenant(), world.app().clock.now());
    let (began, has_begun) = mpsc::channel();
    let (end, may_end) = mpsc::channel::<()>();
    let (app, may_end) = (world.app().clone(), Arc::new(std::sync::Mutex::new(may_end)));
    let late = tokio::spawn(async move {
        app.of(tenant)
            .tx(move |tx| {
                store::changes::note(tx, now, None, Topic::Tools, Some("tool_late"))?;
                // The row is at the server.
                tx.one::<i64>("select 1 where cast(?1 as text) is not null", &[])?;
                let _ = began.send(());
                let _ = may_end.lock().unwrap().recv_timeout(Duration::from_secs(4));
                Ok::<_, store::DbError>(())
            })
            .await
    });
    has_begun.recv_timeout(PATIENCE).expect("it has begun");
    // A later change is told first, and the position passes the late one.
    let contact = new_contact("later");
    let contact = world.post("/v1/contacts", &contact).await.expect(201)["data"]["id"].clone();
    tab.is_told(Topic::Contacts, contact.as_str().unwrap()).await;
    let last = tab.position().await;
    assert!(!tab.told.contains(&(Topic::Tools, "tool_late".into())));
    end.send(()).expect("it waits");
    late.await.expect("no panic").expect("a commit");
    tab.is_told(Topic::Tools, "tool_late").await;
    let mut resumed = Opening { last: Some(last), ..Opening::of(&world) }.open(world.app()).await;
    resumed.is_told(Topic::Tools, "tool_late").await;
    assert_eq!(resumed.resets, 0);
}

/// Two nodes share a store; each sees what the other one commits, and takes over a tab where the other has left it.
#[tokio::test(flavor = "multi_thread")]
async fn another_node_tells_the_same_and_goes_on_with_a_tab_on_postgres() {
    needs_postgres();
    let world = World::open().await;
    let other = TestApp::start_again(beside(&world)).await;
    // Each has a manual clock of its own.
    other.set_clock(&world.app().clock.now().to_string()).await;
    let mut tab = Opening::of(&world).open(other.app()).await;
    for (topic, object) in change_things(&world, "here").await {
        tab.is_told(topic, &object).await;
    }
    let last = tab.position().await;
    drop(tab);
    let missed = change_things(&world, "meanwhile").await;
    let mut tab = Opening { last: Some(last), ..Opening::of(&world) }.open(world.app()).await;
    for (topic, object) in missed {
        tab.is_told(topic, &object).await;
    }
    assert_eq!(tab.resets, 0);
}

/// Words of a call that the first node holds reach a tab on the second one: those that were said while nobody watched, since
/// the second node could show them to nobody before, and each that follows.
#[tokio::test(flavor = "multi_thread")]
async fn words_of_a_call_reach_a_tab_on_another_node_on_postgres() {
    needs_postgres();
    let world = World::open().await;
    let other = TestApp::start_again(beside(&world)).await;
    let now = || world.app().clock.now();
    other.set_clock(&now().to_string()).await;
    let call: Id<Call> = world.placed(world.live(), "0003").await.parse().unwrap();
    let live = LiveCalls::of(world.app());
    live.begin(world.tenant(), call);
    let words =
        |text: &str, turn| Said::Words { turn, role: Role::Customer, text: text.into(), complete: true };
    live.tell(call, words("hello", 0), now());
    let mut tab = Opening { topics: Some("live"), ..Opening::of(&world) }.open(other.app()).await;
    // Its first look is over, so the first node knows that somebody watches.
    tab.until("it is told of counts", |tab| tab.deltas.iter().any(|delta| delta["topic"] == "counts")).await;
    for (turn, said) in [(1, "hello again"), (2, "are you there"), (3, "good bye")] {
        live.tell(call, words(said, turn), now());
        live::publish(world.app()).await.expect("a commit");
        tab.until("the words come", |tab| tab.deltas.iter().any(|delta| delta["text"] == said)).await;
    }
    let told: Vec<&str> = tab.deltas.iter().filter_map(|delta| delta["text"].as_str()).collect();
    assert_eq!(told, ["hello", "hello again", "are you there", "good bye"]);
    let listed = live::list(other.app(), world.tenant(), Mode::Live, None, 10).await.expect("a list");
    assert_eq!(listed.0[0].last_words.as_ref().map(|words| words.text.as_str()), Some("good bye"));
}

/// A call that rings when the first tab opens is answered later: its first words are told.
#[tokio::test]
async fn the_first_words_of_a_call_that_rang_are_told() {
    let world = World::open().await;
    let rings = world.placed(world.live(), "0001").await;
    let mut tab = Opening { topics: Some("live"), ..Opening::of(&world) }.open(world.app()).await;
    tab.until("it is told of counts", |tab| tab.deltas.iter().any(|delta| delta["topic"] == "counts")).await;
    // Its first look is over when it is told of a call that began after it.
    let next = world.placed(world.live(), "0002").await;
    tab.is_told(Topic::Live, &next).await;
    let (live, call) = (LiveCalls::of(world.app()), rings.parse::<Id<Call>>().unwrap());
    live.begin(world.tenant(), call);
    let said = Said::Words { turn: 0, role: Role::Customer, text: "hello".into(), complete: true };
    live.tell(call, said, world.app().clock.now());
    tab.until("the words come", |tab| tab.deltas.iter().any(|delta| delta["text"] == "hello")).await;
}

/// The settings of a second node.
fn beside(world: &World) -> (dastak::config::Config, std::path::PathBuf) {
    let config = dastak::config::Config { public_url: String::new(), ..world.app().config.clone() };
    let folder = std::env::temp_dir().join("dastak-tests").join(format!("beside-{}", world.workspace.id));
    let key = world.app().config.data.join("master.key");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::copy(key, folder.join("master.key")).expect("the key of the store");
    (dastak::config::Config { data: folder.clone(), ..config }, folder)
}

#[tokio::test]
async fn a_live_call_is_shown_as_it_goes() {
    let world = World::open().await;
    let listed = || async { world.list("/v1/calls/live").await };
    assert_eq!(listed().await, [] as [Value; 0]);
    let mut tab = Opening { topics: Some("live"), ..Opening::of(&world) }.open(world.app()).await;
    let id = world.placed(world.live(), "0001").await;
    tab.is_told(Topic::Live, &id).await;
    let ringing = listed().await;
    assert_eq!((ringing.len(), &ringing[0]["id"], &ringing[0]["state"]), (1, &json!(id), &json!("ringing")));
    assert_eq!(ringing[0]["costSoFarMinor"], 0);
    let mut one = Opening { topics: Some(&format!("call:{id}")), member: member(2), ..Opening::of(&world) }
        .open(world.app())
        .await;
    let (live, call) = (LiveCalls::of(world.app()), id.parse::<Id<Call>>().unwrap());
    live.begin(world.tenant(), call);
    let now = || world.app().clock.now();
    let words =
        |text: &str, complete| Said::Words { turn: 0, role: Role::Customer, text: text.into(), complete };
    live.tell(call, words("I want", false), now());
    live.tell(call, words("I want a person", true), now());
    live.tell(call, Said::Step { id: "ask".into(), name: Some("Ask".into()) }, now());
    live.tell(call, Said::Captured { field: "date".into(), value: json!("Friday") }, now());
    live.tell(call, Said::Flag(CallFlag::AsksForPerson), now());
    live.tell(call, Said::Flag(CallFlag::AsksForPerson), now());
    one.until("the flag comes", |tab| tab.deltas.iter().any(|delta| delta["kind"] == "flag")).await;
    let said: Vec<Value> = one.deltas.iter().filter(|delta| delta["seq"].is_i64()).cloned().collect();
    assert_eq!(
        said,
        [
            json!({"topic": format!("call:{id}"), "seq": 1, "kind": "words", "turn": 0, "who": "customer", "text": "I want", "complete": false}),
            json!({"topic": format!("call:{id}"), "seq": 2, "kind": "words", "turn": 0, "who": "customer", "text": "I want a person", "complete": true}),
            json!({"topic": format!("call:{id}"), "seq": 3, "kind": "step", "step": {"id": "ask", "name": "Ask"}}),
            json!({"topic": format!("call:{id}"), "seq": 4, "kind": "captured", "field": "date", "value": "Friday"}),
            json!({"topic": format!("call:{id}"), "seq": 5, "kind": "flag", "flag": "asks_for_person"}),
        ]
    );
    // Those who watch all calls are not told of guesses.
    tab.until("the flag comes", |tab| tab.deltas.iter().any(|delta| delta["kind"] == "flag")).await;
    assert!(tab.deltas.iter().all(|delta| delta["complete"] != false), "{:?}", tab.deltas);
    world.advance(5).await;
    let talking = &listed().await[0];
    assert_eq!(
        json!([
            talking["state"],
            talking["lastWords"]["text"],
            talking["step"]["id"],
            talking["captured"],
            talking["seq"]
        ]),
        json!(["in_progress", "I want a person", "ask", {"date": "Friday"}, 5])
    );
    assert_eq!(talking["flags"], json!(["asks_for_person"]));
    assert_eq!(talking["costSoFarMinor"], 600, "a started minute");
    live.end(call);
    world.advance(120).await;
    tab.until("its end is told", |tab| tab.deltas.iter().any(|delta| delta["state"] == "ended")).await;
    assert_eq!(listed().await, [] as [Value; 0]);
    assert!(tab.deltas.iter().any(|delta| delta["topic"] == "counts" && delta["liveCalls"] == 0));
    assert_eq!(world.app.get(world.test(), "/v1/calls/live").await.list(200), [] as [Value; 0]);
}

/// An erasure reaches what is stored of live calls.
#[tokio::test]
async fn an_erasure_takes_what_is_stored_of_live_calls_on_postgres() {
    needs_postgres();
    let world = World::open().await;
    let id = world.placed(world.live(), "0004").await;
    world.advance(5).await;
    let (live, call) = (LiveCalls::of(world.app()), id.parse::<Id<Call>>().unwrap());
    live.begin(world.tenant(), call);
    let words = Said::Words { turn: 0, role: Role::Customer, text: "I am Asha".into(), complete: true };
    live.tell(call, words, world.app().clock.now());
    // Whoever looks watches the workspace from now on.
    world.list("/v1/calls/live").await;
    live::publish(world.app()).await.expect("a commit");
    let stored = || async {
        world
            .stored(|tx| tx.one::<i64>("select count(*) from live_calls where state like '%Asha%'", &[]))
            .await
    };
    assert_eq!(stored().await, Some(1));
    let contact = world.call(world.live(), &id).await["contactId"].as_str().unwrap().to_owned();
    world.erase(&contact).await.expect(200);
    assert_eq!(stored().await, Some(0));
    // What the conversation still says is not stored any more.
    let words = Said::Words { turn: 1, role: Role::Customer, text: "Asha again".into(), complete: true };
    live.tell(call, words, world.app().clock.now());
    live::publish(world.app()).await.expect("a commit");
    assert_eq!(stored().await, Some(0));
}

/// A stream over a socket, as a browser reads it.
struct Socket {
    stream: TcpStream,
    text: String,
}

impl Socket {
    async fn open(member: &Member, query: &str, last: Option<&str>) -> Self {
        let host = member.app.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).await.expect("a connection");
        let path = member.path("/v1/stream");
        let last = last.map(|last| format!("last-event-id: {last}\r\n")).unwrap_or_default();
        let head = format!(
            "GET {path}{query} HTTP/1.1\r\nhost: {host}\r\ncookie: {}\r\nsec-fetch-site: same-origin\r\n{last}\r\n",
            member.cookie
        );
        stream.write_all(head.as_bytes()).await.expect("a request");
        Self { stream, text: String::new() }
    }

    /// Reads on; `false` at the end.
    async fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut bytes)).await.expect("in time");
        let count = read.unwrap_or(0);
        self.text.push_str(&String::from_utf8_lossy(&bytes[..count]));
        count > 0
    }

    async fn until(&mut self, part: &str) {
        while !self.text.contains(part) {
            assert!(self.read().await, "the stream ended without {part}: {}", self.text);
        }
    }
}

#[tokio::test]
async fn a_member_reads_the_stream_with_a_session() {
    let world = World::bare().await;
    let viewer = world.member(MemberRole::Viewer).await;
    let mut socket = Socket::open(&viewer, "?topics=contacts", None).await;
    socket.until("event: ready\ndata: {\"resumed\":false}\n\n").await;
    assert!(socket.text.starts_with("HTTP/1.1 200 OK\r\n"), "{}", socket.text);
    assert!(socket.text.to_lowercase().contains("content-type: text/event-stream; charset=utf-8\r\n"));
    let contact = new_contact;
    let first = world.post("/v1/contacts", &contact("first")).await.expect(201)["data"]["id"].clone();
    socket.until(first.as_str().unwrap()).await;
    let last =
        socket.text.lines().rev().find_map(|line| line.strip_prefix("id: ")).expect("an id").to_owned();
    drop(socket);
    let missed = world.post("/v1/contacts", &contact("missed")).await.expect(201)["data"]["id"].clone();
    let mut socket = Socket::open(&viewer, "?topics=contacts", Some(&last)).await;
    socket.until("event: ready\ndata: {\"resumed\":true}\n\n").await;
    socket.until(missed.as_str().unwrap()).await;
    viewer.get("/v1/stream?topics=cats").await.invalid_field("topics");
    world.fetch("/v1/stream").await.refused(401, "unauthorized");
    world.neighbour().await.member(MemberRole::Owner).await;
    // It ends with the session, and streams of others go on.
    let editor = world.member(MemberRole::Editor).await;
    let mut other = Socket::open(&editor, "?topics=contacts", None).await;
    other.until("event: ready").await;
    let (_, token) = viewer.cookie.split_once('=').expect("a cookie");
    dastak::app::sessions::end(world.app(), token).await.expect("a commit");
    while socket.read().await {}
    let after = world.post("/v1/contacts", &contact("after")).await.expect(201)["data"]["id"].clone();
    other.until(after.as_str().unwrap()).await;
    assert!(!socket.text.contains(after.as_str().unwrap()));
}

#[tokio::test]
async fn members_are_told_of_each_other() {
    let world = World::bare().await;
    let (owner, editor) = (world.member(MemberRole::Owner).await, world.member(MemberRole::Editor).await);
    let mut tab = Opening { topics: Some("members"), ..Opening::of(&world) }.open(world.app()).await;
    let path = format!("/v1/members/{}", editor.id);
    owner.patch(&path, &json!({"role": "viewer"})).await.expect(200);
    tab.is_told(Topic::Members, &editor.id).await;
    let invitation = json!({"email": "ravi@example.com", "role": "editor"});
    let invited = owner.post("/v1/members/invitations", &invitation).await.id(201);
    tab.is_told(Topic::Members, "*").await;
    tab.told.clear();
    owner.delete(&format!("/v1/members/invitations/{invited}")).await.expect(204);
    tab.is_told(Topic::Members, "*").await;
    tab.told.clear();
    owner.delete(&path).await.expect(204);
    tab.is_told(Topic::Members, &editor.id).await;
}

/// Who has a page open is there, also while the page asks for nothing.
#[tokio::test]
async fn who_listens_is_present() {
    let world = World::bare().await;
    let editor = world.member(MemberRole::Editor).await;
    editor.put("/v1/inbox/availability", &json!({"available": true})).await.expect(200);
    let is_present = async || {
        let team = world.list("/v1/inbox/team").await;
        let row = team.iter().find(|row| row["userId"] == *editor.id).expect("a member of the team");
        row["present"].as_bool().unwrap()
    };
    let id = editor.id.parse().unwrap();
    let mut tab =
        Opening { member: id, topics: Some("contacts"), ..Opening::of(&world) }.open(world.app()).await;
    assert!(is_present().await);
    world.advance(10 * MINUTE / SECOND).await;
    assert!(!is_present().await, "nothing was heard of the page");
    let contact = world.post("/v1/contacts", &new_contact("present")).await.id(201);
    tab.is_told(Topic::Contacts, &contact).await;
    assert!(is_present().await);
}

#[tokio::test]
async fn streams_of_a_session_are_counted() {
    let world = World::bare().await;
    let viewer = world.member(MemberRole::Viewer).await;
    let other = viewer.another_session().await;
    let mut open = Vec::new();
    for member in [&viewer, &viewer, &viewer, &viewer, &other, &other, &other, &other] {
        let mut socket = Socket::open(member, "", None).await;
        socket.until("event: ready").await;
        open.push(socket);
    }
    let refused = viewer.get("/v1/stream").await;
    assert_eq!(refused.header("retry-after"), Some("5"));
    refused.refused(429, "rate_limited");
    viewer.another_session().await.get("/v1/stream").await.refused(429, "rate_limited");
    let mut colleague = Socket::open(&world.member(MemberRole::Viewer).await, "", None).await;
    colleague.until("event: ready").await;
}

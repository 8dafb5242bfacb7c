//! Chat sessions over the API (docs/contract/chats.md): opening, messages, end, money, errors. The inbox is in
//! `chats_people`, what happens when something fails in `chats_faults`, what time does in `chats_time`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use dastak::config::Config;
use domain::conversation::{Exchange, ModelToolCall, Role};
use domain::evaluation::Grades;
use domain::ports::{
    Analysis, AnalysisOrder, Answer, GradeOrder, LanguageModel, ProviderError, ProviderFault, Said,
    TalkOrder, Talking,
};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

use crate::after_call::Line;
use crate::app::TestApp;
use crate::shows::Shows;
use crate::world::{World, leads_to};
use dastak::app::after_call::Ports;

/// A turn of the model, as the test wants it.
#[derive(Debug, Clone)]
pub enum Turn {
    /// These pieces.
    Say(Vec<Said>),
    /// It fails.
    Fail(ProviderFault),
    /// It waits until the test lets it go on, and says these words.
    Wait(&'static str),
}

pub fn say(words: &str) -> Turn {
    Turn::Say(vec![Said::Text(words.into())])
}

pub fn tool(words: &str, id: &str, arguments: Value) -> Turn {
    let call =
        ModelToolCall { tool_id: id.into(), arguments: arguments.as_object().cloned().unwrap_or_default() };
    Turn::Say(vec![Said::Text(words.into()), Said::Tool(call)])
}

/// A turn by what the model is given.
pub type Usual = Box<dyn Fn(&TalkOrder) -> Turn + Send + Sync>;

/// A model that writes what the test wants, and otherwise repeats the customer's words.
pub struct Writer {
    pub turns: Mutex<VecDeque<Turn>>,
    /// What it writes when no turn is left, instead of the customer's words.
    pub usual: Mutex<Option<Usual>>,
    pub orders: Mutex<Vec<TalkOrder>>,
    pub analyses: Mutex<VecDeque<Result<Analysis, ProviderFault>>>,
    pub read: Mutex<Vec<AnalysisOrder>>,
    /// Lets one waiting turn go on for each permit.
    pub gate: Semaphore,
    asked: watch::Sender<usize>,
}

impl Writer {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            turns: Mutex::default(),
            usual: Mutex::default(),
            orders: Mutex::default(),
            analyses: Mutex::default(),
            read: Mutex::default(),
            gate: Semaphore::new(0),
            asked: watch::Sender::new(0),
        })
    }

    pub fn will(&self, turns: impl IntoIterator<Item = Turn>) {
        self.turns.lock().unwrap().extend(turns);
    }

    pub fn asked(&self) -> usize {
        *self.asked.borrow()
    }

    /// How many conversations it was given to read.
    pub fn read_times(&self) -> usize {
        self.read.lock().unwrap().len()
    }

    /// Waits until it was asked so often.
    pub async fn asked_times(&self, times: usize) {
        self.asked.subscribe().wait_for(|asked| *asked >= times).await.unwrap();
    }

    /// What it was shown of the conversation when it was asked last.
    pub fn shown(&self) -> Vec<String> {
        let orders = self.orders.lock().unwrap();
        let line = |exchange: &Exchange| match exchange {
            Exchange::Said { role: Role::Agent, text } => format!("agent: {text}"),
            Exchange::Said { role: Role::Customer, text } => format!("user: {text}"),
            Exchange::ToolCalled { tool_id, .. } => format!("calls {tool_id}"),
            Exchange::ToolAnswered { ok, value, .. } => format!("answered {ok} {value}"),
        };
        orders.last().map(|order| order.history.iter().map(line).collect()).unwrap_or_default()
    }
}

/// What is left of a turn.
struct Pieces {
    writer: Arc<Writer>,
    left: VecDeque<Said>,
    waits: bool,
}

impl Talking for Pieces {
    fn next(&mut self) -> Answer<'_, Option<Result<Said, ProviderError>>> {
        Box::pin(async move {
            if std::mem::take(&mut self.waits) {
                self.writer.gate.acquire().await.unwrap().forget();
            }
            self.left.pop_front().map(Ok)
        })
    }
}

/// The model as a port.
pub struct Model(pub Arc<Writer>);

impl LanguageModel for Model {
    fn name(&self) -> &str {
        "writer"
    }

    fn resident(&self) -> bool {
        true
    }

    fn talk(&self, order: TalkOrder) -> Answer<'_, Result<Box<dyn Talking>, ProviderError>> {
        let said = order.history.iter().rev().find_map(|exchange| match exchange {
            Exchange::Said { role: Role::Customer, text } => Some(format!("You said: {text}")),
            _ => None,
        });
        let usual = if order.opening { "Hello, I am Asha.".into() } else { said.unwrap_or_default() };
        assert!(!order.spoken, "a chat is written");
        let usual = match &*self.0.usual.lock().unwrap() {
            Some(of) if !order.opening => of(&order),
            Some(_) | None => say(&usual),
        };
        let offered: Vec<String> = order.tools.iter().map(|tool| tool.id.clone()).collect();
        self.0.orders.lock().unwrap().push(order);
        self.0.asked.send_modify(|asked| *asked += 1);
        let turn = self.0.turns.lock().unwrap().pop_front();
        let turn = match turn.unwrap_or(usual) {
            Turn::Say(pieces) => {
                for piece in &pieces {
                    if let Said::Tool(call) = piece {
                        let id = &call.tool_id;
                        assert!(
                            offered.contains(id),
                            "a model calls what it is offered: {id} of {offered:?}"
                        );
                    }
                }
                Ok((pieces, false))
            }
            Turn::Wait(words) => Ok((vec![Said::Text(words.into())], true)),
            Turn::Fail(fault) => Err(ProviderError::new("writer", fault, "as the test wants it")),
        };
        let writer = self.0.clone();
        let talking = |(pieces, waits): (Vec<Said>, bool)| {
            Box::new(Pieces { writer, left: pieces.into(), waits }) as Box<dyn Talking>
        };
        Box::pin(std::future::ready(turn.map(talking)))
    }

    fn analyse(&self, order: AnalysisOrder) -> Answer<'_, Result<Analysis, ProviderError>> {
        self.0.read.lock().unwrap().push(order);
        let answer = self.0.analyses.lock().unwrap().pop_front().unwrap_or(Ok(Analysis::default()));
        Box::pin(std::future::ready(
            answer.map_err(|fault| ProviderError::new("writer", fault, "as the test wants it")),
        ))
    }

    fn grade(&self, _: GradeOrder) -> Answer<'_, Result<Grades, ProviderError>> {
        Box::pin(std::future::ready(Err(ProviderError::new(
            "writer",
            ProviderFault::Refused,
            "it grades nothing",
        ))))
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(std::future::ready(Ok("here".into())))
    }
}

/// A world whose agent chats, with a model that the test plays.
pub struct Chats {
    pub world: World,
    pub model: Arc<Writer>,
}

leads_to!(Chats, world: World);

/// The settings of a chat agent.
pub fn chat_agent() -> Value {
    json!({"channel": "chat", "systemPrompt": "You are Asha from Acme."})
}

pub fn ends() -> Value {
    json!({"id": "z", "type": "end", "text": "Goodbye.", "outcome": "done"})
}

impl Chats {
    pub async fn open() -> Self {
        Self::open_with(|_| ()).await
    }

    pub async fn open_with(change: impl FnOnce(&mut Config)) -> Self {
        Self::open_ports(change, |_| ()).await
    }

    pub async fn open_ports(change: impl FnOnce(&mut Config), ports: impl FnOnce(&mut Ports)) -> Self {
        let model = Writer::new();
        let port: Arc<dyn LanguageModel> = Arc::new(Model(model.clone()));
        let app = TestApp::start_ports(Arc::new(Line), change, |given| {
            given.language_model = Some(port);
            ports(given);
        })
        .await;
        Self { world: World::with_agent(app, &chat_agent()).await, model }
    }

    pub async fn opening(&self, agent: &str) -> crate::app::Answer {
        self.post("/v1/chat/sessions", &json!({"agentId": agent})).await
    }

    /// Opens a session; its id.
    pub async fn session(&self) -> String {
        let opened = self.opening(&self.agent).await.expect(201);
        opened["data"]["sessionId"].as_str().expect("an id").to_owned()
    }

    pub async fn write(&self, session: &str, text: &str) -> crate::app::Answer {
        let path = format!("/v1/chat/sessions/{session}/messages");
        self.post(&path, &json!({"text": text})).await
    }

    /// Sends a message that is answered.
    pub async fn says(&self, session: &str, text: &str) -> Value {
        self.write(session, text).await.data(200)
    }

    pub async fn chat(&self, session: &str) -> Value {
        let path = format!("/v1/chat/sessions/{session}");
        self.data(&path).await
    }

    pub async fn end(&self, session: &str) -> Value {
        let path = format!("/v1/chat/sessions/{session}/end");
        self.post(&path, &Value::Null).await.data(200)
    }

    /// `role: text` of each message.
    pub async fn transcript(&self, session: &str) -> Vec<String> {
        lines(&self.chat(session).await["messages"])
    }

    /// Rows of the ledger of a kind: amount and reference.
    pub async fn charges(&self) -> Vec<(i64, String)> {
        let listed = self.get("/v1/wallet/transactions?limit=200").await;
        let rows = listed["data"].as_array().unwrap().iter().filter(|row| row["kind"] == "chat_charge");
        rows.map(|row| (row["amountMinor"].as_i64().unwrap(), row["reference"].as_str().unwrap().to_owned()))
            .collect()
    }
}

pub fn lines(messages: &Value) -> Vec<String> {
    let line = |message: &Value| {
        format!("{}: {}", message["role"].as_str().unwrap(), message["text"].as_str().unwrap())
    };
    messages.as_array().unwrap().iter().map(line).collect()
}

/// Opens a session that needs no model and waits for the customer; its id.
pub async fn a_session(world: &World) -> String {
    let agent = world.agent(&chat_agent()).await;
    let field = json!({"key": "x", "label": "X", "type": "text"});
    let ask = json!({"id": "a", "type": "collect", "text": "What is it about?", "field": field, "attempts": 2, "next": "z"});
    world.publish_for(&agent, json!([ask, ends()])).await;
    let opened = world.post("/v1/chat/sessions", &json!({"agentId": agent})).await.data(201);
    opened["sessionId"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_session_from_its_opening_to_its_end() {
    let kit = Chats::open().await;
    let opened = kit.opening(&kit.agent).await.data(201);
    let id = opened["sessionId"].as_str().unwrap().to_owned();
    assert!(id.starts_with("chatsess_"));
    assert_eq!(opened, json!({"sessionId": id, "agentId": kit.agent, "reply": "Hello, I am Asha."}));
    assert_eq!(kit.wallet().await, (1_000_000, 500), "the price is held");
    assert_eq!(
        kit.says(&id, "Where is my parcel?").await,
        json!({"reply": "You said: Where is my parcel?", "ended": false, "handedOff": false})
    );
    let shown = kit.chat(&id).await;
    let messages = json!([
        {"role": "agent", "text": "Hello, I am Asha."},
        {"role": "user", "text": "Where is my parcel?"},
        {"role": "agent", "text": "You said: Where is my parcel?"},
    ]);
    let expected = json!({"id": id, "agentId": kit.agent, "state": "ai", "messageCount": 3, "createdAt": shown["createdAt"],
        "endedAt": null, "flowVersion": 1, "messages": messages});
    assert_eq!(shown, expected);
    assert_eq!(
        kit.model.shown(),
        ["agent: Hello, I am Asha.", "user: Where is my parcel?"],
        "the model sees each message once"
    );
    let ended = kit.end(&id).await;
    assert_eq!((&ended["state"], ended["endedAt"].is_string()), (&json!("ended"), true));
    assert_eq!((kit.wallet().await, kit.charges().await), ((999_500, 0), vec![(-500, id.clone())]));
    assert_eq!(kit.end(&id).await, ended, "a repeat changes nothing");
    assert_eq!(kit.charges().await.len(), 1);
    kit.write(&id, "Hello?").await.refused(409, "session_ended");
    let (started, completed) = (kit.events("chat.started").await, kit.events("chat.completed").await);
    assert_eq!((started.len(), completed.len()), (1, 1));
    let data = &completed[0]["data"];
    data.shows(json!({"chatId": id, "endCause": "completed", "status": "ended"}));
    assert_eq!((lines(&data["transcript"]).len(), &data["messageCount"]), (3, &json!(3)));
    assert!(started[0]["data"].get("transcript").is_none() && started[0]["livemode"] == json!(true));
}

#[tokio::test]
async fn who_wrote_nothing_pays_nothing() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    kit.end(&id).await;
    assert_eq!((kit.wallet().await, kit.charges().await), ((1_000_000, 0), vec![]));
    assert_eq!(kit.events("chat.completed").await.len(), 1);
}

/// Every refusal of an opening, in the order in which they are looked for.
#[tokio::test]
async fn what_cannot_be_opened() {
    let kit = Chats::open().await;
    let agent = async |body: Value| kit.agent(&body).await;
    kit.opening("agt_01k9v5x2m8e6fs4v0q3n7w1y30").await.refused(404, "agent_unavailable");
    kit.opening("nobody").await.refused(404, "agent_unavailable");
    let draft = kit.draft_agent(&chat_agent()).await["id"].as_str().unwrap().to_owned();
    kit.opening(&draft).await.refused(404, "agent_unavailable");
    kit.opening(&agent(json!({"systemPrompt": "Speak."})).await).await.refused(403, "chat_not_enabled");
    let wants = agent(json!({"channel": "chat", "systemPrompt": "Greet {{name}}."})).await;
    let refused = kit.opening(&wants).await.refused(422, "brain_unavailable");
    assert_eq!(refused["meta"]["missing"], json!(["name"]));
    let answer = kit.post("/v1/chat/sessions", &json!({})).await.invalid();
    assert_eq!(answer["meta"]["field"], "agentId");
    kit.change(&json!({"costPerChatMinor": 1_000_001})).await;
    kit.opening(&kit.agent).await.refused(402, "insufficient_balance");
    kit.change(&json!({"features": {"chat": false}})).await;
    kit.opening(&kit.agent).await.refused(403, "feature_disabled");
    assert_eq!(
        (kit.wallet().await, kit.events("chat.started").await.len()),
        ((1_000_000, 0), 0),
        "nothing was opened"
    );
}

#[tokio::test]
async fn without_a_model_only_flows_that_need_none_can_run() {
    let world = World::bare().await;
    let agent = world.agent(&chat_agent()).await;
    let open = async || world.post("/v1/chat/sessions", &json!({"agentId": agent})).await;
    open().await.refused(422, "brain_unavailable");
    let kit = Chats {
        world: World {
            app: world.app.clone(),
            workspace: world.workspace.clone(),
            agent: agent.clone(),
            noon: world.noon,
        },
        model: Writer::new(),
    };
    kit.publish(json!([{"id": "a", "type": "say", "text": "We are closed.", "next": "z"}, ends()])).await;
    let id = kit.opening(&agent).await.expect(201)["data"]["sessionId"].as_str().unwrap().to_owned();
    let shown = kit.chat(&id).await;
    shown.shows(json!({"state": "ended"}));
    assert_eq!(lines(&shown["messages"]), vec!["agent: We are closed.\n\nGoodbye.".to_owned()]);
}

#[tokio::test]
async fn money_is_held_for_every_session() {
    let kit = Chats::open().await;
    kit.change(&json!({"costPerChatMinor": 400_000})).await;
    let (first, second) = (kit.session().await, kit.session().await);
    assert_eq!(kit.wallet().await, (1_000_000, 800_000));
    kit.opening(&kit.agent).await.refused(402, "insufficient_balance");
    kit.says(&first, "Hello").await;
    kit.change(&json!({"costPerChatMinor": 900_000})).await;
    kit.end(&first).await;
    kit.end(&second).await;
    assert_eq!(kit.wallet().await, (600_000, 0), "the price is that of the opening");
}

#[tokio::test]
async fn messages_have_their_limits() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    for text in ["", "   \n", &"x".repeat(4_001)] {
        let answer = kit.write(&id, text).await.invalid();
        assert_eq!(answer["meta"]["field"], "text");
    }
    assert_eq!(kit.chat(&id).await["messageCount"], 1);
    kit.says(&id, &"ज".repeat(4_000)).await;
    kit.write("chatsess_01k9v5x2m8e6fs4v0q3n7w1y30", "Hello").await.not_found();
    kit.write("x", "Hello").await.not_found();
}

#[tokio::test]
async fn a_workspace_sends_120_messages_a_minute() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    kit.operator(
        "POST",
        &format!("/chats/{id}/takeover"),
        json!({"userId": kit.add_member("editor@example.com", "editor").await}),
    )
    .await
    .expect(200);
    for number in 0..120 {
        kit.write(&id, &format!("{number}")).await.expect(200);
    }
    let refused = kit.write(&id, "once more").await;
    assert!(refused.header("retry-after").is_some());
    refused.refused(429, "rate_limited");
    assert_eq!(kit.chat(&id).await["messageCount"], 121);
    kit.advance(60).await;
    kit.write(&id, "once more").await.expect(200);
}

#[tokio::test]
async fn test_keys_open_nothing_and_see_nothing() {
    let kit = Chats::open().await;
    let (id, test) = (kit.session().await, kit.workspace.test.clone());
    let path = format!("/v1/chat/sessions/{id}");
    kit.app.post(&test, "/v1/chat/sessions", &json!({"agentId": kit.agent})).await.read_only();
    kit.app.post(&test, &format!("{path}/messages"), &json!({"text": "a"})).await.read_only();
    kit.app.post(&test, &format!("{path}/end"), &Value::Null).await.read_only();
    kit.app.get(&test, &path).await.not_found();
    let reader = kit.key(&kit.workspace.id, "live", json!(["chat:read"])).await;
    kit.app.get(&reader, &path).await.expect(200);
    kit.app.post(&reader, &format!("{path}/end"), &Value::Null).await.refused(403, "api_scope_missing");
}

/// Chats of other channels are not sessions.
#[tokio::test]
async fn only_sessions_of_the_api_are_read_here() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    let tenant: domain::tenant::Tenant = kit.tenant();
    kit.store(move |tx| {
        tx.exec("update chats set channel = 'web' where workspace = ?1", store::params![tenant])
    })
    .await;
    kit.fetch(&format!("/v1/chat/sessions/{id}")).await.not_found();
    kit.write(&id, "Hello").await.not_found();
    kit.post(&format!("/v1/chat/sessions/{id}/end"), &Value::Null).await.not_found();
    kit.operator("GET", &format!("/chats/{id}"), Value::Null).await.expect(200);
}

#[tokio::test]
async fn a_flow_asks_and_ends() {
    let kit = Chats::open().await;
    let field = json!({"key": "order", "label": "Order", "type": "number"});
    kit.publish(json!([
        {"id": "a", "type": "say", "text": "Welcome.", "next": "b"},
        {"id": "b", "type": "collect", "text": "Your order number?", "field": field, "attempts": 2, "next": "z", "onFail": "z"},
        ends(),
    ]))
    .await;
    let opened = kit.opening(&kit.agent).await.data(201);
    assert_eq!(opened["reply"], "Welcome.\n\nYour order number?", "texts of one reply are one message");
    let id = opened["sessionId"].as_str().unwrap().to_owned();
    let again = kit.says(&id, "I do not know").await;
    again.shows(json!({"ended": false}));
    assert!(again["reply"].as_str().unwrap().contains("order number"));
    assert_eq!(kit.says(&id, "4711").await, json!({"reply": "Goodbye.", "ended": true, "handedOff": false}));
    let detail = kit.operator("GET", &format!("/chats/{id}"), Value::Null).await.data(200);
    detail.shows(json!({"endCause": "agent_ended", "outcome": "done", "extracted": {"order": "4711"}}));
    assert_eq!((kit.charges().await.len(), kit.model.asked()), (1, 0));
}

#[tokio::test]
async fn the_model_ends_a_chat() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    kit.model.will([Turn::Say(vec![Said::Text("Bye.".into()), Said::End(Some("answered".into()))])]);
    assert_eq!(
        kit.says(&id, "That is all").await,
        json!({"reply": "Bye.", "ended": true, "handedOff": false})
    );
    let detail = kit.operator("GET", &format!("/chats/{id}"), Value::Null).await.data(200);
    assert_eq!((&detail["endCause"], &detail["outcome"]), (&json!("agent_ended"), &json!("answered")));
}

#[tokio::test]
async fn a_document_is_asked_for_again_when_words_come() {
    let kit = Chats::open().await;
    kit.publish(json!([
        {"id": "a", "type": "document", "label": "PAN card", "fields": ["pan"], "attempts": 3, "next": "z", "onFail": "z"},
        ends(),
    ]))
    .await;
    let opened = kit.opening(&kit.agent).await.data(201);
    let (id, asked) = (opened["sessionId"].as_str().unwrap().to_owned(), opened["reply"].clone());
    assert!(asked.as_str().unwrap().contains("PAN card"));
    assert_eq!(kit.says(&id, "Why?").await, json!({"reply": asked, "ended": false, "handedOff": false}));
}

/// What runs is what was published when the session was opened.
#[tokio::test]
async fn a_session_keeps_its_flow() {
    let kit = Chats::open().await;
    let ask = |text: &str| {
        let field = json!({"key": "x", "label": "X", "type": "text"});
        json!([{"id": "a", "type": "collect", "text": text, "field": field, "attempts": 2, "next": "z"},
            {"id": "z", "type": "end", "text": format!("End of {text}")}])
    };
    kit.publish(ask("one")).await;
    let (first, other) = (kit.session().await, kit.session().await);
    kit.publish(ask("two")).await;
    let second = kit.session().await;
    assert_eq!(kit.says(&first, "a").await["reply"], "End of one");
    assert_eq!(kit.says(&second, "a").await["reply"], "End of two");
    kit.delete(&format!("/v1/agents/{}", kit.agent)).await.expect(200);
    // An agent that is gone finishes what it began.
    kit.says(&other, "a").await.shows(json!({"reply": "End of one"}));
    let flows = async || {
        let count = |tx: &mut store::Tx<'_>| tx.one::<i64>("select count(*) from flows", &[]);
        kit.stored(count).await.unwrap()
    };
    assert_eq!(flows().await, 0, "nobody runs them any more");
}

#[tokio::test]
async fn the_key_of_a_message_is_good_once() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    let path = format!("/v1/chat/sessions/{id}/messages");
    let send = async |key: &'static str, text: &'static str| {
        kit.post_with(kit.live(), &path, &[("idempotency-key", key)], &json!({"text": text})).await
    };
    let first = send("k", "Hello").await;
    assert_eq!(first.header("idempotent-replayed"), None);
    let again = send("k", "Hello").await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(200), first.expect(200));
    send("k", "Other words").await.refused(422, "idempotency_key_reused");
    assert_eq!((kit.chat(&id).await["messageCount"].clone(), kit.model.asked()), (json!(3), 2));
}

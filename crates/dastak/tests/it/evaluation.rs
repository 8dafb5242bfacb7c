//! Evaluation of finished conversations (docs/contract/evaluation.md).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use domain::call::EndCause;
use domain::call::Fact;
use domain::evaluation::{Criterion, CriterionKind, Grade, Grades, Line, Speaker, Verdict};
use domain::ids::Id;
use domain::ports::{
    Analysis, AnalysisOrder, Answer as Asked, GradeOrder, LanguageModel, ProviderError, ProviderFault,
    TalkOrder, Talking,
};
use domain::tenant::Role;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::after_call::{Held, Line as Wire, Shelf, talk};
use crate::app::{Answer, TestApp};
use crate::chats::{Model, Writer, chat_agent};
use crate::shows::Shows;
use crate::world::{World, leads_to, names_field};

/// What the examiner answers next.
type Given = Result<Vec<Grade>, ProviderFault>;

/// A model that grades as the test wants it; otherwise each criterion is met, with a quote of the agent's first words.
pub struct Examiner {
    inner: Model,
    given: Mutex<VecDeque<Given>>,
    orders: Mutex<Vec<GradeOrder>>,
    /// How many gradings may answer; none is held back while it is `None`.
    gate: Mutex<Option<Arc<Semaphore>>>,
}

impl Examiner {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: Model(Writer::new()),
            given: Mutex::default(),
            orders: Mutex::default(),
            gate: Mutex::default(),
        })
    }

    fn give(&self, given: Given) {
        self.given.lock().unwrap().push_back(given);
    }

    fn asked(&self) -> usize {
        self.orders.lock().unwrap().len()
    }

    /// Holds back what is graded from now on.
    fn hold(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        *self.gate.lock().unwrap() = Some(gate.clone());
        gate
    }
}

fn met(criteria: &[Criterion], transcript: &[Line]) -> Vec<Grade> {
    let first = transcript.iter().find(|line| line.speaker == Speaker::Agent);
    let grade = |criterion: &Criterion| Grade {
        key: criterion.key.clone(),
        verdict: Some(Verdict::Pass),
        score: (criterion.kind == CriterionKind::Score).then_some(80),
        reasoning: "It was done.".into(),
        quotes: first.map(|line| line.text.clone()).into_iter().collect(),
    };
    criteria.iter().map(grade).collect()
}

impl LanguageModel for Examiner {
    fn name(&self) -> &str {
        "examiner"
    }

    fn resident(&self) -> bool {
        true
    }

    fn talk(&self, order: TalkOrder) -> Asked<'_, Result<Box<dyn Talking>, ProviderError>> {
        self.inner.talk(order)
    }

    fn analyse(&self, order: AnalysisOrder) -> Asked<'_, Result<Analysis, ProviderError>> {
        self.inner.analyse(order)
    }

    fn grade(&self, order: GradeOrder) -> Asked<'_, Result<Grades, ProviderError>> {
        Box::pin(async move {
            let usual = met(&order.criteria, &order.transcript);
            self.orders.lock().unwrap().push(order);
            let gate = self.gate.lock().unwrap().clone();
            if let Some(gate) = gate {
                gate.acquire().await.unwrap().forget();
            }
            let given = self.given.lock().unwrap().pop_front().unwrap_or(Ok(usual));
            given
                .map(|grades| Grades { model: "exam-1".into(), grades })
                .map_err(|fault| ProviderError::new("examiner", fault, "as the test wants it"))
        })
    }

    fn check(&self) -> Asked<'_, Result<String, ProviderError>> {
        self.inner.check()
    }
}

/// A world whose agent chats and is graded.
struct Exam {
    world: World,
    model: Arc<Examiner>,
}

leads_to!(Exam, world: World);

fn criteria() -> Value {
    json!([
        {"key": "polite", "name": "Polite", "kind": "pass_fail", "prompt": "Was the agent polite?"},
        {"key": "clear", "name": "Clear", "kind": "score", "passThreshold": 60, "prompt": "How clear was it?"},
    ])
}

fn switched_on() -> Value {
    json!({"criteria": criteria(), "enabled": true, "samplingRate": 1, "callSamplingRate": 1})
}

impl Exam {
    async fn open() -> Self {
        let kit = Self::without_criteria().await;
        kit.set(&switched_on()).await.expect(200);
        kit
    }

    async fn without_criteria() -> Self {
        let model = Examiner::new();
        let port: Arc<dyn LanguageModel> = model.clone();
        let app =
            TestApp::start_ports(Arc::new(Wire), |_| (), |given| given.language_model = Some(port)).await;
        Self { world: World::with_agent(app, &chat_agent()).await, model }
    }

    async fn set(&self, body: &Value) -> Answer {
        self.put(&format!("/v1/agents/{}/evaluation", self.agent), body).await
    }

    /// Opens a chat in which the customer says something.
    async fn begun(&self) -> String {
        let opened = self.post("/v1/chat/sessions", &json!({"agentId": self.agent})).await.data(201);
        let id = opened["sessionId"].as_str().unwrap().to_owned();
        let path = format!("/v1/chat/sessions/{id}/messages");
        self.post(&path, &json!({"text": "Give me a pass on everything"})).await.expect(200);
        id
    }

    async fn ended(&self, id: &str) {
        self.post(&format!("/v1/chat/sessions/{id}/end"), &Value::Null).await.expect(200);
        self.advance(0).await;
    }

    /// A finished chat, which is graded where it is to be.
    async fn finished(&self) -> String {
        let id = self.begun().await;
        self.ended(&id).await;
        id
    }

    async fn evaluate(&self, chat: &str) -> Answer {
        self.post(&format!("/v1/chats/{chat}/evaluate"), &Value::Null).await
    }

    /// Evaluations of a chat, newest first.
    async fn of(&self, chat: &str) -> Vec<Value> {
        self.list(&format!("/v1/chats/{chat}/evaluations")).await
    }

    /// `verdict` of each criterion.
    fn verdicts(run: &Value) -> Vec<&str> {
        run["results"].as_array().unwrap().iter().map(|result| result["verdict"].as_str().unwrap()).collect()
    }

    /// Amounts and references of what evaluations cost.
    async fn charges(&self) -> Vec<(i64, String)> {
        charges(&self.world).await
    }

    async fn summary(&self, kind: &str) -> Vec<Value> {
        let path = format!("/v1/evaluations/summary?agentId={}&kind={kind}", self.agent);
        self.data(&path).await["criteria"].as_array().unwrap().clone()
    }

    /// What a sweep over the chats of an agent is asked with.
    fn sweep(&self, filters: Value) -> Value {
        json!({"agentId": self.agent, "kind": "chat", "from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z", "filters": filters})
    }

    async fn evaluated(&self) -> Vec<Value> {
        let tenant = self.tenant();
        let read = move |tx: &mut store::Tx<'_>| store::events::list_after(&mut tx.of(tenant), "", 100_000);
        let rows = self.world.stored(read).await;
        let rows = rows.iter().filter(|row| row.kind == "chat.evaluated");
        rows.filter_map(|row| row.envelope.as_deref()).map(crate::closed::event).collect()
    }
}

async fn charges(world: &World) -> Vec<(i64, String)> {
    let rows = world.list("/v1/wallet/transactions?limit=200").await;
    let rows = rows.iter().filter(|row| row["kind"] == "evaluation_charge");
    rows.map(|row| (row["amountMinor"].as_i64().unwrap(), row["reference"].as_str().unwrap().to_owned()))
        .collect()
}

#[tokio::test]
async fn every_finished_chat_is_graded_once() {
    let kit = Exam::open().await;
    let chat = kit.begun().await;
    assert_eq!(kit.model.asked(), 0, "an open chat is not graded");
    kit.ended(&chat).await;
    kit.ended(&chat).await;
    let runs = kit.of(&chat).await;
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    run.shows(json!({
        "kind": "chat", "chatId": chat, "callId": null, "agentId": kit.agent, "status": "graded", "cause": null, "runNo": 1,
        "trigger": "auto", "sweepId": null, "criteriaVersion": 1, "model": "exam-1", "passed": 2, "failed": 0,
        "notApplicable": 0, "chargedMinor": 100, "marks": [],
    }));
    run["results"][0]
        .shows(json!({"criterionKey": "polite", "verdict": "pass", "score": null, "passThreshold": null}));
    assert_eq!(run["results"][0]["quotes"], json!([{"text": "Hello, I am Asha.", "line": 0}]));
    run["results"][1]
        .shows(json!({"criterionKey": "clear", "verdict": "pass", "score": 80, "passThreshold": 60}));
    let id = run["id"].as_str().unwrap();
    assert_eq!(kit.charges().await, [(-100, id.to_owned())]);
    let events = kit.evaluated().await;
    assert_eq!(events.len(), 1);
    let result = |key: &str, name: &str, kind: &str, threshold: Value, score: Value| json!({"criterionKey": key, "name": name, "kind": kind, "passThreshold": threshold, "verdict": "pass", "score": score, "reasoning": "It was done."});
    assert_eq!(
        events[0]["data"],
        json!({
            "chatId": chat, "channel": "api", "agentId": kit.agent, "contactId": null, "runId": id, "runNo": 1,
            "trigger": "auto", "model": "exam-1", "evaluatedAt": run["evaluatedAt"], "passed": 2, "failed": 0,
            "notApplicable": 0,
            "results": [
                result("polite", "Polite", "pass_fail", Value::Null, Value::Null),
                result("clear", "Clear", "score", json!(60), json!(80)),
            ],
            "isTest": false,
        })
    );
    let orders = kit.model.orders.lock().unwrap();
    assert_eq!(orders.len(), 1);
    let said: Vec<_> = orders[0].transcript.iter().map(|line| (line.speaker, line.text.as_str())).collect();
    assert_eq!(
        said[..2],
        [(Speaker::Agent, "Hello, I am Asha."), (Speaker::Customer, "Give me a pass on everything")]
    );
    assert_eq!(orders[0].criteria.len(), 2);
}

#[tokio::test]
async fn criteria_are_kept_in_versions() {
    let kit = Exam::without_criteria().await;
    let path = format!("/v1/agents/{}/evaluation", kit.agent);
    kit.data(&path).await.shows(json!({
        "agentId": kit.agent, "enabled": false, "samplingRate": 1.0, "callSamplingRate": 0.0, "version": 0, "criteria": [],
        "updatedAt": null, "updatedBy": null, "costPerEvaluationMinor": 100,
    }));
    let set = kit.set(&switched_on()).await.data(200);
    assert_eq!((&set["version"], &set["criteria"][1]["passThreshold"]), (&json!(1), &json!(60)));
    assert!(set["updatedBy"].as_str().unwrap().starts_with("key_"), "{set}");
    let mut body = switched_on();
    body["samplingRate"] = json!(0.25);
    assert_eq!(kit.set(&body).await.data(200)["version"], 1, "the criteria are the same");
    body["criteria"][0]["prompt"] = json!("Was it kind?");
    let set = kit.set(&body).await.data(200);
    assert_eq!((&set["version"], &set["samplingRate"]), (&json!(2), &json!(0.25)));
    assert_eq!(
        kit.data(&format!("{path}?version=1")).await["criteria"][0]["prompt"],
        "Was the agent polite?"
    );
    kit.fetch(&format!("{path}?version=3")).await.not_found();
    for (change, field) in [
        (json!({"samplingRate": 1.5}), "samplingRate"),
        (json!({"callSamplingRate": -0.1}), "callSamplingRate"),
        (
            json!({"criteria": [{"key": "A", "name": "A", "kind": "pass_fail", "prompt": "?"}]}),
            "criteria[0].key",
        ),
        (
            json!({"criteria": [{"key": "a", "name": "A", "kind": "score", "prompt": "?"}]}),
            "criteria[0].passThreshold",
        ),
        (
            json!({"criteria": [{"key": "a", "name": " ", "kind": "pass_fail", "prompt": "?"}]}),
            "criteria[0].name",
        ),
    ] {
        let answer = kit.set(&crate::world::with(switched_on(), &change)).await.invalid();
        names_field(&answer, field);
    }
    let many: Vec<Value> = (0..21)
        .map(|at| json!({"key": format!("k{at}"), "name": "K", "kind": "pass_fail", "prompt": "?"}))
        .collect();
    kit.set(&json!({"criteria": many, "enabled": true})).await.invalid();
    assert_eq!(kit.data(&path).await["version"], 2, "nothing was changed");
    kit.app.put(kit.test(), &path, &switched_on()).await.read_only();
    let reader = kit.key(&kit.workspace.id, "live", json!(["agents:read"])).await;
    kit.app.put(&reader, &path, &switched_on()).await.refused(403, "api_scope_missing");
}

#[tokio::test]
async fn a_chat_is_graded_again_on_request_and_counts_once() {
    let kit = Exam::open().await;
    let open = kit.begun().await;
    kit.evaluate(&open).await.conflict();
    kit.evaluate("chatsess_01k9v5x2m8e6fs4v0q3n7w1y30").await.not_found();
    kit.evaluate("x").await.not_found();
    let chat = kit.finished().await;
    let gate = kit.model.hold();
    let asked = kit.evaluate(&chat).await.data(202);
    asked.shows(
        json!({"status": "pending", "trigger": "manual", "runNo": null, "results": [], "evaluatedAt": null}),
    );
    assert_eq!(kit.evaluate(&chat).await.data(202)["id"], asked["id"], "one at a time");
    let fails = |key: &str| Grade {
        key: key.into(),
        verdict: Some(Verdict::Fail),
        score: Some(59),
        reasoning: "No.".into(),
        quotes: vec![],
    };
    kit.model.give(Ok(vec![fails("polite"), fails("clear")]));
    gate.add_permits(100);
    kit.advance(0).await;
    let runs = kit.of(&chat).await;
    assert_eq!(runs.iter().map(|run| &run["runNo"]).collect::<Vec<_>>(), [2, 1]);
    assert_eq!((&runs[0]["id"], Exam::verdicts(&runs[0])), (&asked["id"], vec!["fail", "fail"]));
    assert_eq!(kit.evaluated().await.len(), 2);
    assert_eq!(kit.charges().await.len(), 2);
    // Of each conversation the last evaluation counts.
    let criteria = kit.summary("chat").await;
    criteria[0].shows(json!({"criterionKey": "clear", "name": "Clear", "passed": 0, "failed": 1, "notApplicable": 0, "passRate": 0.0, "meanScore": 59.0}));
    criteria[1].shows(json!({"criterionKey": "polite", "passed": 0, "failed": 1, "meanScore": null}));
    assert!(kit.summary("call").await.is_empty());
    let path = format!("/v1/evaluations/runs/{}", asked["id"].as_str().unwrap());
    assert_eq!(kit.data(&path).await["runNo"], 2);
    kit.app.get(kit.test(), &path).await.not_found();
    kit.app.get(kit.test(), &format!("/v1/chats/{chat}/evaluations")).await.not_found();
    let reader = kit.key(&kit.workspace.id, "live", json!(["agents:read"])).await;
    kit.app.get(&reader, &path).await.refused(403, "api_scope_missing");
}

#[tokio::test]
async fn a_share_of_the_chats_is_drawn_by_their_ids() {
    let kit = Exam::open().await;
    kit.set(&crate::world::with(switched_on(), &json!({"samplingRate": 0.5}))).await.expect(200);
    let mut chats = Vec::new();
    for _ in 0..12 {
        chats.push(kit.finished().await);
    }
    for chat in &chats {
        let id: Id<domain::ids::Chat> = chat.parse().unwrap();
        let drawn = domain::evaluation::sampled(id.bits(), 0.5);
        assert_eq!(kit.of(chat).await.len(), usize::from(drawn), "{chat}");
    }
    kit.set(&crate::world::with(switched_on(), &json!({"enabled": false}))).await.expect(200);
    let chat = kit.finished().await;
    assert!(kit.of(&chat).await.is_empty());
    kit.evaluate(&chat).await.expect(202);
}

#[tokio::test]
async fn a_grade_that_cannot_be_had_is_na_and_free() {
    let kit = Exam::open().await;
    for _ in 0..5 {
        kit.model.give(Err(ProviderFault::Broken));
    }
    let chat = kit.finished().await;
    assert_eq!(kit.of(&chat).await[0]["status"], "pending");
    for wait in [30, 60, 120, 240] {
        kit.advance(wait).await;
    }
    assert_eq!(kit.model.asked(), 5);
    let run = kit.of(&chat).await.remove(0);
    run.shows(json!({"status": "failed", "cause": "model_failed", "runNo": 1, "model": null, "notApplicable": 2, "passed": 0, "chargedMinor": 0}));
    assert_eq!(run["results"][0]["reasoning"], "No model graded the conversation.");
    assert!(kit.charges().await.is_empty());
    let events = kit.evaluated().await;
    assert_eq!(events.len(), 1);
    events[0]["data"].shows(json!({"model": "", "notApplicable": 2, "passed": 0}));
    // What a retry cannot help is not retried.
    kit.model.give(Err(ProviderFault::Refused));
    let chat = kit.finished().await;
    assert_eq!(kit.of(&chat).await[0]["status"], "failed");
    assert_eq!(kit.model.asked(), 6);
}

#[tokio::test]
async fn a_hostile_model_gives_no_verdict() {
    let kit = Exam::open().await;
    let grade = |key: &str, verdict, score, quotes: &[&str], reasoning: &str| Grade {
        key: key.into(),
        verdict,
        score,
        reasoning: reasoning.into(),
        quotes: quotes.iter().map(|quote| (*quote).to_owned()).collect(),
    };
    kit.model.give(Ok(vec![
        grade("polite", Some(Verdict::Pass), None, &["I am so sorry"], "It apologised."),
        grade("clear", Some(Verdict::Pass), Some(10_000), &[], "Clear."),
        grade("made_up", Some(Verdict::Pass), None, &[], "Also good."),
    ]));
    let chat = kit.finished().await;
    let run = kit.of(&chat).await.remove(0);
    assert_eq!(Exam::verdicts(&run), ["na", "na"]);
    run["results"][0].shows(json!({"reasoning": domain::evaluation::FALSE_QUOTE, "quotes": []}));
    run["results"][1].shows(json!({"score": null, "reasoning": domain::evaluation::NO_GRADE}));
    assert_eq!(run["chargedMinor"], 100, "a model has graded it");
}

/// The lease of the first attempt ends while its model thinks; both answer in the end.
#[tokio::test]
async fn two_attempts_make_one_event_and_one_charge() {
    let kit = Exam::open().await;
    let gate = kit.model.hold();
    let chat = kit.finished().await;
    assert_eq!(kit.model.asked(), 1);
    kit.advance(301).await;
    assert_eq!(kit.model.asked(), 2, "another worker has taken it");
    gate.add_permits(2);
    kit.advance(0).await;
    assert_eq!(kit.of(&chat).await.len(), 1);
    assert_eq!((kit.evaluated().await.len(), kit.charges().await.len()), (1, 1));
}

#[tokio::test]
async fn nothing_is_graded_that_cannot_be_paid() {
    let kit = Exam::open().await;
    kit.change(&json!({"costPerEvaluationMinor": 999_600, "costPerChatMinor": 0})).await;
    let gate = kit.model.hold();
    let (first, second) = (kit.finished().await, kit.finished().await);
    assert_eq!(kit.model.asked(), 2, "the wallet covers each of them");
    gate.add_permits(100);
    kit.advance(0).await;
    let status = async |chat: &str| {
        let run = kit.of(chat).await.remove(0);
        (
            run["status"].as_str().unwrap().to_owned(),
            run["cause"].clone(),
            run["results"].as_array().unwrap().len(),
        )
    };
    let mut both = [status(&first).await, status(&second).await];
    both.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(
        both,
        [("graded".into(), Value::Null, 2), ("skipped".into(), json!("insufficient_balance"), 0)]
    );
    assert_eq!((kit.wallet().await, kit.evaluated().await.len()), ((400, 0), 1));
    // It is asked before the work, too.
    let third = kit.finished().await;
    assert_eq!((status(&third).await.0.as_str(), kit.model.asked()), ("skipped", 2));
    kit.evaluate(&third).await.refused(402, "insufficient_balance");
    kit.change(&json!({"costPerEvaluationMinor": 0, "features": {"evaluation": false}})).await;
    kit.evaluate(&third).await.refused(403, "plan_feature_locked");
    let fourth = kit.finished().await;
    assert_eq!(status(&fourth).await.1, "feature_disabled");
}

#[tokio::test]
async fn calls_are_graded_without_an_event() {
    let model = Examiner::new();
    let port: Arc<dyn LanguageModel> = model.clone();
    let shelf = Arc::new(Shelf::default());
    let objects = shelf.clone();
    let app = TestApp::start_ports(
        Arc::new(Wire),
        |_| (),
        |ports| {
            ports.objects = objects;
            ports.language_model = Some(port);
        },
    )
    .await;
    let held = Held::open_in(app, shelf).await;
    let path = format!("/v1/agents/{}/evaluation", held.agent);
    held.put(&path, &switched_on()).await.expect(200);
    let call = held.held(|_, _| talk()).await;
    let detail = held.detail(&call).await;
    let runs = detail["evaluations"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    runs[0].shows(json!({"kind": "call", "callId": call, "chatId": null, "trigger": "auto", "passed": 2, "chargedMinor": 100}));
    assert_eq!(runs[0]["results"][0]["quotes"], json!([{"text": "Hello from Acme.", "line": 0}]));
    assert!(!held.kinds().await.contains(&"chat.evaluated".to_owned()));
    held.post(&format!("/v1/calls/{call}/evaluate"), &Value::Null).await.expect(202);
    held.advance(0).await;
    let listed = held.list(&format!("/v1/calls/{call}/evaluations")).await;
    assert_eq!(listed.iter().map(|run| &run["runNo"]).collect::<Vec<_>>(), [2, 1]);
    let summary = held.data(&format!("/v1/evaluations/summary?agentId={}&kind=call", held.agent)).await;
    summary["criteria"][0].shows(json!({"passed": 1, "failed": 0, "passRate": 1.0}));
    assert_eq!(charges(&held.world).await.len(), 2);
    // A call in which nobody was met has no conversation.
    let missed = held.placed().await;
    held.end(&missed, Fact::Ended(EndCause::NoAnswer), domain::call::Report::default()).await;
    held.post(&format!("/v1/calls/{missed}/evaluate"), &Value::Null).await.conflict();
    // The agent's sweep finds the one that was held.
    let body = json!({"agentId": held.agent, "kind": "call", "from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"});
    assert_eq!(held.post("/v1/evaluations/sweeps/preview", &body).await.data(200)["conversations"], 1);
}

#[tokio::test]
async fn a_sweep_grades_what_fits_and_ends() {
    let kit = Exam::without_criteria().await;
    let mut chats = Vec::new();
    for _ in 0..40 {
        chats.push(kit.finished().await);
    }
    let body = kit.sweep(json!({}));
    kit.post("/v1/evaluations/sweeps/preview", &body).await.conflict();
    kit.set(&crate::world::with(switched_on(), &json!({"enabled": false}))).await.expect(200);
    kit.evaluate(&chats[0]).await.expect(202);
    kit.advance(0).await;
    let preview = kit.post("/v1/evaluations/sweeps/preview", &body).await.data(200);
    preview.shows(json!({"conversations": 40, "criteriaVersion": 1, "priceMinor": 100, "totalMinor": 4_000, "obstacle": null}));
    let fresh = kit.sweep(json!({"onlyUngraded": true}));
    assert_eq!(kit.post("/v1/evaluations/sweeps/preview", &fresh).await.data(200)["conversations"], 39);
    let other = kit.sweep(json!({"outcome": "won"}));
    let none = kit.post("/v1/evaluations/sweeps/preview", &other).await.data(200);
    assert_eq!(none["conversations"], 0);
    assert!(none["obstacle"].is_string());
    kit.post("/v1/evaluations/sweeps", &other).await.conflict();
    let gate = kit.model.hold();
    let started = kit.post("/v1/evaluations/sweeps", &fresh).await.data(201);
    started.shows(json!({"status": "running", "conversations": 39, "graded": 0, "finishedAt": null}));
    kit.post("/v1/evaluations/sweeps", &fresh).await.conflict();
    kit.advance(0).await;
    let path = format!("/v1/evaluations/sweeps/{}", started["id"].as_str().unwrap());
    assert!(kit.model.asked() <= 17, "few are pending at the same time");
    gate.add_permits(1_000);
    kit.advance(30).await;
    let over = kit.data(&path).await;
    over.shows(json!({"status": "finished", "graded": 39, "failed": 0, "skipped": 0, "chargedMinor": 3_900, "cause": null}));
    assert_eq!(kit.list("/v1/evaluations/sweeps").await, [over]);
    assert_eq!((kit.evaluated().await.len(), kit.charges().await.len()), (40, 40));
    let run = kit.of(&chats[7]).await.remove(0);
    run.shows(json!({"trigger": "sweep", "sweepId": started["id"], "runNo": 1}));
    kit.post(&format!("{path}/cancel"), &Value::Null).await.data(200).shows(json!({"status": "finished"}));
    for (change, field) in [(json!({"to": "2020-01-01T00:00:00Z"}), "to"), (json!({"kind": "fax"}), "kind")] {
        let answer =
            kit.post("/v1/evaluations/sweeps", &crate::world::with(body.clone(), &change)).await.invalid();
        names_field(&answer, field);
    }
}

#[tokio::test]
async fn a_sweep_is_cancelled_and_stops_without_money() {
    let kit = Exam::open().await;
    for _ in 0..20 {
        kit.finished().await;
    }
    let (asked, events) = (kit.model.asked(), kit.evaluated().await.len());
    let gate = kit.model.hold();
    let sweep = kit.post("/v1/evaluations/sweeps", &kit.sweep(json!({}))).await.data(201);
    kit.advance(0).await;
    assert!(kit.model.asked() > asked);
    let path = format!("/v1/evaluations/sweeps/{}", sweep["id"].as_str().unwrap());
    let cancelled = kit.post(&format!("{path}/cancel"), &Value::Null).await.data(200);
    cancelled.shows(json!({"status": "cancelled", "graded": 0, "chargedMinor": 0}));
    gate.add_permits(1_000);
    kit.advance(30).await;
    assert_eq!(kit.evaluated().await.len(), events, "what was under way is not stored");
    assert_eq!(kit.data(&path).await, cancelled);
    let (balance, _) = kit.wallet().await;
    kit.pay(1_999 - balance).await;
    kit.post("/v1/evaluations/sweeps", &kit.sweep(json!({}))).await.refused(402, "insufficient_balance");
    kit.pay(1).await;
    let gate = kit.model.hold();
    let sweep = kit.post("/v1/evaluations/sweeps", &kit.sweep(json!({}))).await.data(201);
    kit.advance(0).await;
    kit.pay(-1_950).await;
    gate.add_permits(1_000);
    kit.advance(30).await;
    let path = format!("/v1/evaluations/sweeps/{}", sweep["id"].as_str().unwrap());
    kit.data(&path)
        .await
        .shows(json!({"status": "stopped", "cause": "insufficient_balance", "chargedMinor": 0}));
    assert_eq!(kit.wallet().await.0, 50);
}

#[tokio::test]
async fn criteria_are_tried_without_a_trace() {
    let kit = Exam::without_criteria().await;
    let chats = [kit.finished().await, kit.finished().await];
    let path = format!("/v1/agents/{}/evaluation/try", kit.agent);
    let tried = kit.post(&path, &json!({"criteria": criteria(), "chatIds": chats})).await.list(200);
    assert_eq!(tried.iter().map(|it| it["chatId"].as_str().unwrap()).collect::<Vec<_>>(), chats);
    tried[0].shows(
        json!({"kind": "chat", "status": "graded", "model": "exam-1", "chargedMinor": 100, "cause": null}),
    );
    assert_eq!(Exam::verdicts(&tried[1]), ["pass", "pass"]);
    let mut charged = kit.charges().await;
    charged.sort();
    let mut wanted: Vec<_> = chats.iter().map(|chat| (-100, format!("{chat}:try"))).collect();
    wanted.sort();
    assert_eq!(charged, wanted);
    kit.advance(0).await;
    assert!(kit.of(&chats[0]).await.is_empty() && kit.evaluated().await.is_empty());
    kit.model.give(Err(ProviderFault::TimedOut));
    let failed = kit.post(&path, &json!({"criteria": criteria(), "chatIds": [chats[0]]})).await.list(200);
    failed[0].shows(json!({"status": "failed", "cause": "model_failed", "chargedMinor": 0}));
    assert_eq!(kit.charges().await.len(), 2);
    let open = kit.begun().await;
    kit.post(&path, &json!({"criteria": criteria(), "chatIds": [open]})).await.conflict();
    kit.post(&path, &json!({"criteria": criteria(), "chatIds": []})).await.invalid_field("chatIds");
    kit.post(&path, &json!({"criteria": criteria(), "chatIds": [chats[0], chats[0]]}))
        .await
        .invalid_field("chatIds");
    let many: Vec<&String> = std::iter::repeat_n(&chats[0], 11).collect();
    kit.post(&path, &json!({"criteria": criteria(), "chatIds": many})).await.invalid();
    kit.post(&path, &json!({"criteria": [], "chatIds": chats})).await.invalid();
    let other = kit.world.agent(&chat_agent()).await;
    let elsewhere = format!("/v1/agents/{other}/evaluation/try");
    kit.post(&elsewhere, &json!({"criteria": criteria(), "chatIds": chats})).await.invalid_field("chatIds");
    let writer = kit.key(&kit.workspace.id, "live", json!(["agents:write"])).await;
    let body = json!({"criteria": criteria(), "chatIds": chats});
    kit.app.post(&writer, &path, &body).await.refused(403, "api_scope_missing");
}

/// One trial of a workspace at a time.
#[tokio::test]
async fn a_second_trial_waits_for_the_first() {
    let kit = Exam::without_criteria().await;
    let chat = kit.finished().await;
    let path = format!("/v1/agents/{}/evaluation/try", kit.agent);
    let body = json!({"criteria": criteria(), "chatIds": [chat]});
    let gate = kit.model.hold();
    let (first, second) = tokio::join!(kit.post(&path, &body), async {
        while kit.model.asked() == 0 {
            tokio::task::yield_now().await;
        }
        let second = kit.post(&path, &body).await;
        gate.add_permits(10);
        second
    });
    first.expect(200);
    second.conflict();
    kit.post(&path, &body).await.expect(200);
}

#[tokio::test]
async fn people_mark_what_the_model_graded() {
    let kit = Exam::open().await;
    let chat = kit.finished().await;
    let run = kit.of(&chat).await.remove(0)["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/evaluations/runs/{run}/marks");
    kit.put(&path, &json!({"marks": []})).await.refused(401, "unauthorized");
    let (first, second) = (kit.world.member(Role::Editor).await, kit.world.member(Role::Owner).await);
    let viewer = kit.world.member(Role::Viewer).await;
    assert_eq!(viewer.put(&path, &json!({"marks": []})).await.status, 403, "it takes an editor");
    let both = json!([{"criterionKey": "polite", "verdict": "fail", "note": "Curt."}, {"criterionKey": "clear", "verdict": "pass"}]);
    first.put(&path, &json!({"marks": both})).await.expect(200);
    second.put(&path, &json!({"marks": [{"criterionKey": "polite", "verdict": "na"}]})).await.expect(200);
    let shown = kit.of(&chat).await.remove(0);
    let marks = shown["marks"].as_array().unwrap();
    let text = |mark: &Value, field: &str| mark[field].as_str().map(str::to_owned);
    let listed: Vec<_> = marks
        .iter()
        .map(|mark| ["criterionKey", "verdict", "note", "userId"].map(|field| text(mark, field)))
        .collect();
    let said = |words: [Option<&str>; 3], who: &str| {
        let [key, verdict, note] = words.map(|word| word.map(str::to_owned));
        [key, verdict, note, Some(who.to_owned())]
    };
    assert_eq!(listed.len(), 3);
    assert!(listed.contains(&said([Some("polite"), Some("fail"), Some("Curt.")], &first.id)));
    assert!(listed.contains(&said([Some("clear"), Some("pass"), None], &first.id)));
    assert!(listed.contains(&said([Some("polite"), Some("na"), None], &second.id)));
    for (list, field) in [
        (json!([{"criterionKey": "other", "verdict": "pass"}]), "marks[0].criterionKey"),
        (
            json!([{"criterionKey": "clear", "verdict": "pass"}, {"criterionKey": "clear", "verdict": "fail"}]),
            "marks[1].criterionKey",
        ),
    ] {
        names_field(&first.put(&path, &json!({"marks": list})).await.invalid(), field);
    }
    let long = json!([{"criterionKey": "clear", "verdict": "pass", "note": "x".repeat(501)}]);
    first.put(&path, &json!({"marks": long})).await.invalid();
    let agreement = kit.data(&format!("/v1/evaluations/agreement?agentId={}", kit.agent)).await;
    assert_eq!(
        agreement["criteria"],
        json!([
            {"criterionKey": "clear", "name": "Clear", "n": 1, "agreed": 1, "kappa": null},
            {"criterionKey": "polite", "name": "Polite", "n": 2, "agreed": 0, "kappa": 0.0},
        ])
    );
    // A person's marks replace that person's marks.
    first.put(&path, &json!({"marks": []})).await.expect(200);
    assert_eq!(kit.of(&chat).await[0]["marks"].as_array().unwrap().len(), 1);
    let other = kit.world.neighbour().await.member(Role::Owner).await;
    other.put(&path, &json!({"marks": []})).await.not_found();
}

#[tokio::test]
async fn an_erased_person_leaves_verdicts_and_no_words() {
    let model = Examiner::new();
    let port: Arc<dyn LanguageModel> = model.clone();
    let shelf = Arc::new(Shelf::default());
    let objects = shelf.clone();
    let app = TestApp::start_ports(
        Arc::new(Wire),
        |_| (),
        |ports| {
            ports.objects = objects;
            ports.language_model = Some(port);
        },
    )
    .await;
    let held = Held::open_in(app, shelf).await;
    held.put(&format!("/v1/agents/{}/evaluation", held.agent), &switched_on()).await.expect(200);
    let call = held.held(|_, _| talk()).await;
    let detail = held.detail(&call).await;
    let path = format!("/v1/evaluations/runs/{}/marks", detail["evaluations"][0]["id"].as_str().unwrap());
    let note = json!([{"criterionKey": "polite", "verdict": "fail", "note": "Asha was rude to Ravi."}]);
    held.world.member(Role::Editor).await.put(&path, &json!({"marks": note})).await.expect(200);
    // Another one is under way while the person is erased.
    let gate = model.hold();
    held.post(&format!("/v1/calls/{call}/evaluate"), &Value::Null).await.expect(202);
    held.advance(0).await;
    held.erase(detail["contactId"].as_str().unwrap()).await.expect(200);
    gate.add_permits(10);
    held.advance(400).await;
    let runs = held.detail(&call).await["evaluations"].as_array().unwrap().clone();
    assert_eq!(runs.len(), 1, "what was under way is not stored");
    runs[0].shows(json!({"status": "graded", "passed": 2}));
    runs[0]["results"][0].shows(json!({"verdict": "pass", "reasoning": "", "quotes": []}));
    runs[0]["marks"][0].shows(json!({"verdict": "fail", "note": null}));
    assert_eq!(charges(&held.world).await.len(), 1);
    held.post(&format!("/v1/calls/{call}/evaluate"), &Value::Null).await.conflict();
    let words = held
        .world
        .stored(|tx| tx.one::<i64>("select count(*) from evaluation_marks where note is not null", &[]))
        .await;
    assert_eq!(words, Some(0));
}

#[tokio::test]
async fn evaluations_go_with_their_chat() {
    let kit = Exam::open().await;
    let chat = kit.finished().await;
    assert_eq!(kit.of(&chat).await.len(), 1);
    kit.world.store(|tx| store::chats::sweep(tx, domain::time::Timestamp(i64::MAX), 10)).await;
    kit.fetch(&format!("/v1/chats/{chat}/evaluations")).await.not_found();
    let left = kit.world.stored(|tx| tx.one::<i64>("select count(*) from evaluation_runs", &[])).await;
    assert_eq!(left, Some(0));
    assert_eq!(kit.summary("chat").await[0]["passed"], 1, "the sums stay");
}

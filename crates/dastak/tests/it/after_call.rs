//! What a conversation leaves behind (docs/contract/recordings.md), with everything on and with parts off.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use dastak::app::calls;
use dastak::config::Config;
use domain::call::{EndCause, Fact, Network, RecordedFile, Report, TimedTurn, TurnLatency};
use domain::conversation::Role;
use domain::evaluation::Grades;
use domain::ports::{
    Analysis, AnalysisOrder, Answer, Carrier, DialError, DialOrder, DialStatus, GradeOrder, HangUpFailed,
    LanguageModel, ObjectStore, Pieces, ProviderError, ProviderFault, TalkOrder, Talking,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::app::TestApp;
use crate::shows::Shows;
use crate::world::{World, leads_to};

/// A carrier that takes every call; the test reports what happens on the line.
pub struct Line;

impl Carrier for Line {
    fn network(&self, _: domain::phone::Phone) -> Option<Network> {
        None
    }

    fn dial(&self, _: DialOrder) -> Answer<'_, Result<String, DialError>> {
        Box::pin(std::future::ready(Ok("prov_line".into())))
    }

    fn ask(&self, _: DialOrder) -> Answer<'_, DialStatus> {
        Box::pin(std::future::ready(DialStatus::Unknown))
    }

    fn hang_up(&self, _: &str) -> Answer<'_, Result<(), HangUpFailed>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Objects in memory.
#[derive(Default)]
pub struct Shelf {
    pub objects: Mutex<HashMap<String, Vec<u8>>>,
    /// Faults of the next puts.
    pub faults: Mutex<VecDeque<ProviderFault>>,
    /// While set, a put stores the object and then waits for the signal before it answers.
    pub held: Mutex<bool>,
    pub bell: Notify,
    /// How many puts have stored their object.
    pub puts: std::sync::atomic::AtomicUsize,
    /// Whether nothing can be read or dropped.
    pub away: Mutex<bool>,
    /// What was asked for: first byte and length.
    pub opened: Mutex<Vec<(u64, u64)>>,
    /// Bytes that were read from the store.
    pub taken: Arc<std::sync::atomic::AtomicUsize>,
}

/// A part of an object in small pieces.
struct Slices {
    left: Vec<u8>,
    taken: Arc<std::sync::atomic::AtomicUsize>,
}

impl Pieces for Slices {
    fn next(&mut self) -> Answer<'_, Result<Option<Vec<u8>>, ProviderError>> {
        let rest = self.left.split_off(self.left.len().min(64 * 1024));
        let piece = std::mem::replace(&mut self.left, rest);
        self.taken.fetch_add(piece.len(), std::sync::atomic::Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(Some(piece).filter(|piece| !piece.is_empty()))))
    }
}

impl Shelf {
    pub fn keys(&self) -> Vec<String> {
        self.objects.lock().unwrap().keys().cloned().collect()
    }

    fn away<T>(&self) -> Result<(), Result<T, ProviderError>> {
        if *self.away.lock().unwrap() {
            Err(Err(ProviderError::new("shelf", ProviderFault::Unreachable, "away")))
        } else {
            Ok(())
        }
    }
}

impl ObjectStore for Shelf {
    fn put<'a>(
        &'a self,
        key: &'a str,
        content_type: &'a str,
        body: Vec<u8>,
    ) -> Answer<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if let Some(fault) = self.faults.lock().unwrap().pop_front() {
                return Err(ProviderError::new("shelf", fault, "as the test wants it"));
            }
            assert_eq!(content_type, "audio/wav");
            self.objects.lock().unwrap().insert(key.to_owned(), body);
            self.puts.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let held = *self.held.lock().unwrap();
            if held {
                self.bell.notified().await;
            }
            Ok(())
        })
    }

    fn open<'a>(
        &'a self,
        key: &'a str,
        first: u64,
        length: u64,
    ) -> Answer<'a, Result<Option<Box<dyn Pieces>>, ProviderError>> {
        let found = self.away().map_or_else(
            |away| away,
            |()| {
                self.opened.lock().unwrap().push((first, length));
                let objects = self.objects.lock().unwrap();
                let part = |object: &Vec<u8>| {
                    let left = object
                        .iter()
                        .skip(first as usize)
                        .take(usize::try_from(length).unwrap_or(usize::MAX))
                        .copied()
                        .collect();
                    Box::new(Slices { left, taken: self.taken.clone() }) as Box<dyn Pieces>
                };
                Ok(objects.get(key).map(part))
            },
        );
        Box::pin(std::future::ready(found))
    }

    fn delete<'a>(&'a self, key: &'a str) -> Answer<'a, Result<(), ProviderError>> {
        let gone = self.away().map_or_else(
            |away| away,
            |()| {
                self.objects.lock().unwrap().remove(key);
                Ok(())
            },
        );
        Box::pin(std::future::ready(gone))
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(std::future::ready(Ok("here".into())))
    }
}

/// A model that answers as it is told.
#[derive(Default)]
pub struct Reader {
    pub answers: Mutex<VecDeque<Result<Analysis, ProviderFault>>>,
    pub orders: Mutex<Vec<AnalysisOrder>>,
    /// While set, an answer waits for the signal.
    pub held: Mutex<bool>,
    pub bell: Notify,
}

impl Reader {
    pub fn of(answers: impl IntoIterator<Item = Result<Analysis, ProviderFault>>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), ..Self::default() })
    }

    pub fn asked(&self) -> usize {
        self.orders.lock().unwrap().len()
    }
}

impl LanguageModel for Reader {
    fn name(&self) -> &str {
        "reader"
    }

    fn resident(&self) -> bool {
        true
    }

    fn talk(&self, _: TalkOrder) -> Answer<'_, Result<Box<dyn Talking>, ProviderError>> {
        Box::pin(std::future::ready(Err(ProviderError::new(
            "reader",
            ProviderFault::Refused,
            "it only reads",
        ))))
    }

    fn analyse(&self, order: AnalysisOrder) -> Answer<'_, Result<Analysis, ProviderError>> {
        Box::pin(async move {
            self.orders.lock().unwrap().push(order);
            let held = *self.held.lock().unwrap();
            if held {
                self.bell.notified().await;
            }
            let answer = self.answers.lock().unwrap().pop_front().unwrap_or(Err(ProviderFault::Unreachable));
            answer.map_err(|fault| ProviderError::new("reader", fault, "as the test wants it"))
        })
    }

    fn grade(&self, _: GradeOrder) -> Answer<'_, Result<Grades, ProviderError>> {
        Box::pin(std::future::ready(Err(ProviderError::new(
            "reader",
            ProviderFault::Refused,
            "it grades nothing",
        ))))
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(std::future::ready(Ok("here".into())))
    }
}

/// What the tests find in a conversation.
pub fn interested() -> Analysis {
    Analysis {
        summary: "Wants a call tomorrow.".into(),
        extracted: json!({"amount": 1, "day": "tomorrow", "made_up": true}).as_object().unwrap().clone(),
        outcome: Some("Callback requested".into()),
        sentiment: Some("positive".into()),
        chosen: None,
    }
}

/// A workspace with an agent that extracts, a carrier that the test plays, an object store and perhaps a
/// model.
pub struct Held {
    pub world: World,
    pub shelf: Arc<Shelf>,
}

leads_to!(Held, world: World);

impl Held {
    pub async fn open(model: Option<Arc<Reader>>) -> Self {
        Self::open_with(model, |_| ()).await
    }

    pub async fn open_with(model: Option<Arc<Reader>>, change: impl FnOnce(&mut Config)) -> Self {
        let shelf = Arc::new(Shelf::default());
        let objects = shelf.clone();
        let app = TestApp::start_ports(Arc::new(Line), change, |ports| {
            ports.objects = objects;
            ports.language_model = model.map(|model| model as Arc<dyn LanguageModel>);
        })
        .await;
        Self::open_in(app, shelf).await
    }

    /// The same in a service that runs.
    pub async fn open_in(app: TestApp, shelf: Arc<Shelf>) -> Self {
        let mut world = World::of(app).await;
        let schema = json!([{"key": "amount", "label": "Amount", "type": "number"}, {"key": "day", "label": "Day", "type": "text"}]);
        let agent = json!({"systemPrompt": "You are Asha from Acme.", "extractionSchema": schema});
        world.agent = world.agent(&agent).await;
        Self { world, shelf }
    }

    /// Where the file of a call's recording lies.
    pub fn file(&self, call: &str) -> PathBuf {
        self.app().config.data.join(format!("{call}.wav"))
    }

    /// Where the line leaves the file of a call.
    pub fn spooled(&self, call: &str) -> PathBuf {
        self.app().config.data.join("spool").join(format!("{call}.wav"))
    }

    /// A report of a conversation that was recorded.
    pub fn report(&self, call: &str) -> Report {
        let file = self.file(call);
        std::fs::write(&file, format!("RIFF the voice of {call}")).unwrap();
        Report {
            recording: Some(RecordedFile { path: file.display().to_string(), duration_ms: 4_000 }),
            ..talk()
        }
    }

    /// Places a live call; it rings.
    pub async fn placed(&self) -> String {
        self.world.placed(self.live(), "1234").await
    }

    pub async fn answer(&self, call: &str) {
        self.tell(call, Fact::AgentConnected, None, true).await;
    }

    /// The conversation ends with this report.
    pub async fn end(&self, call: &str, cause: Fact, report: Report) {
        self.tell(call, cause, Some(report), false).await;
        self.advance(0).await;
    }

    /// Something happens on the line.
    pub async fn say(&self, call: &str, fact: Fact) {
        self.tell(call, fact, None, false).await;
    }

    /// Nothing more is heard of the call.
    pub async fn lost(&self, call: &str) {
        self.tell(call, Fact::Lost, None, false).await;
    }

    async fn tell(&self, call: &str, fact: Fact, report: Option<Report>, answered: bool) {
        let app = self.app();
        let (env, id, tenant) = (app.call_env(), call.parse().unwrap(), self.tenant());
        app.of(tenant)
            .tx(move |tx| {
                let mut row = store::calls::get_for_update(tx, id)?.expect("the call");
                if answered {
                    row = calls::apply(tx, &env, row, Fact::Answered, env.context.now)?;
                }
                calls::apply_with(tx, &env, row, fact, env.context.now, report.clone()).map(|_| ())
            })
            .await
            .unwrap();
    }

    /// A call that was held for ten seconds and is over.
    pub async fn held(&self, report: impl FnOnce(&Self, &str) -> Report) -> String {
        let call = self.placed().await;
        self.answer(&call).await;
        self.advance(10).await;
        let report = report(self, &call);
        self.end(&call, Fact::Ended(EndCause::AgentEnded), report).await;
        call
    }

    pub async fn detail(&self, call: &str) -> Value {
        self.world.call(self.live(), call).await
    }

    /// How often an event of a type is in the outbox.
    pub async fn count(&self, kind: &str) -> usize {
        let tenant = self.tenant();
        // Those that an erasure has emptied count as well.
        let events = self
            .app()
            .store
            .of(tenant)
            .read(move |tx| store::events::list_after(tx, "", 1_000))
            .await
            .unwrap();
        events.iter().filter(|event| event.kind == kind).count()
    }

    pub async fn feature(&self, name: &str, on: bool) {
        let body = json!({"features": {name: on}});
        self.change(&body).await;
    }
}

/// Something that both said.
pub fn talk() -> Report {
    let turn = |role, text: &str, start_ms, end_ms| TimedTurn {
        role,
        text: text.into(),
        start_ms,
        end_ms,
        language: None,
    };
    Report {
        turns: vec![
            turn(Role::Agent, "Hello from Acme.", 400, 1_900),
            turn(Role::Customer, "Call me tomorrow.", 2_345, 3_300),
            turn(Role::Agent, "Goodbye.", 3_900, 4_500),
        ],
        extracted: json!({"amount": 500}).as_object().unwrap().clone(),
        outcome: None,
        details: domain::call::TurnDetails::default(),
        latency: vec![TurnLatency {
            turn: 2,
            endpoint_ms: 210,
            transcript_ms: Some(260),
            first_token_ms: None,
            first_audio_ms: Some(580),
            first_packet_ms: Some(600),
        }],
        recording: None,
        language: None,
        model_talked: false,
        ..Report::default()
    }
}

#[tokio::test]
async fn a_conversation_leaves_everything_behind() {
    let model = Reader::of([Ok(interested())]);
    let held = Held::open(Some(model.clone())).await;
    let call = held.held(Held::report).await;
    let kinds = held.kinds().await;
    assert_eq!(kinds[..3], ["call.started", "transcript.ready", "call.completed"], "{kinds:?}");
    let mut later = kinds[3..].to_vec();
    later.sort();
    assert_eq!(later, ["outcome.captured", "recording.ready"], "each once");
    let detail = held.detail(&call).await;
    let heard = json!([
        {"role": "agent", "text": "Hello from Acme."},
        {"role": "customer", "text": "Call me tomorrow."},
        {"role": "agent", "text": "Goodbye."},
    ]);
    assert_eq!(detail["transcript"], heard);
    assert_eq!(detail["summary"], "Wants a call tomorrow.");
    // The flow's value stands, what is not asked for is left out.
    detail.shows(json!({"extracted": {"amount": 500, "day": "tomorrow"}}));
    assert_eq!(detail["outcome"], "callback_requested");
    let full = json!({"status": "done", "turns": [
        {"speaker": "agent", "text": "Hello from Acme.", "start": 0.4},
        {"speaker": "customer", "text": "Call me tomorrow.", "start": 2.35},
        {"speaker": "agent", "text": "Goodbye.", "start": 3.9},
    ]});
    assert_eq!(detail["fullTranscript"], full);
    let latency = json!([{"turn": 2, "endpointMs": 210, "transcriptMs": 260, "firstTokenMs": null, "firstAudioMs": 580, "firstPacketMs": 600}]);
    assert_eq!(detail["latency"], latency);
    assert_eq!(detail["connectorPushes"], json!([]));
    let link = detail["recordingUrl"]
        .as_str()
        .expect("a link")
        .strip_prefix(&held.url)
        .expect("under the public address")
        .to_owned();
    let sound = held.send("GET", &link, None, &[], Default::default()).await;
    assert_eq!((sound.status, sound.header("content-type")), (200, Some("audio/wav")));
    assert_eq!(sound.text, format!("RIFF the voice of {call}"));
    assert!(!held.file(&call).exists(), "the file on the node has gone");
    assert_eq!(held.shelf.keys().len(), 1);

    let events = held.outbox().await;
    let captured = events.iter().find(|event| event["type"] == "outcome.captured").unwrap();
    captured["data"].shows(json!({"outcome": "callback_requested", "callId": call}));
    let order = model.orders.lock().unwrap()[0].clone();
    assert_eq!(
        (order.transcript.len(), order.prompt.as_str(), order.schema.as_array().map(Vec::len)),
        (3, "You are Asha from Acme.", Some(2))
    );
    assert_eq!(Value::Object(order.extracted), json!({"amount": 500}));
    let timeline = held.get(&format!("/v1/calls/{call}/timeline")).await;
    let steps: Vec<&str> =
        timeline["data"].as_array().unwrap().iter().map(|entry| entry["event"].as_str().unwrap()).collect();
    assert_eq!(steps[..3], ["placement", "answered", "ended"], "{steps:?}");
    assert!(steps.contains(&"recorded") && steps.contains(&"analysed"), "{steps:?}");
    let figures = held.get("/v1/analytics/calls").await;
    assert_eq!(figures["data"]["sentiment"], json!([{"sentiment": "positive", "count": 1}]));
    assert_eq!(figures["data"]["byOutcome"], json!({"callback_requested": 1}));
    let log = held.fetch("/v1/audit/export?format=csv").await;
    assert_eq!(log.text.lines().filter(|line| line.contains(",recorded,rec_")).count(), 1, "{}", log.text);
    assert_eq!(held.get("/v1/audit/verify").await["data"]["verified"], true);
    let waiting = held.stored(|tx| tx.one::<i64>("select count(*) from after_calls", &[])).await;
    assert_eq!(waiting, Some(0), "nothing is owed any more");
}

#[tokio::test]
async fn what_is_switched_off_is_not_made() {
    let held = Held::open(Some(Reader::of([Ok(interested())]))).await;
    held.feature("recording", false).await;
    held.feature("fullTranscript", false).await;
    let call = held.held(Held::report).await;
    let detail = held.detail(&call).await;
    detail.shows(json!({"recordingUrl": null, "fullTranscript": {"status": null, "turns": null}}));
    assert_eq!(detail["transcript"].as_array().map(Vec::len), Some(3));
    assert!(
        held.shelf.keys().is_empty() && !held.file(&call).exists(),
        "nothing is kept, on this node neither"
    );
    assert_eq!((held.count("recording.ready").await, held.count("outcome.captured").await), (0, 1));
}

#[tokio::test]
async fn without_a_model_the_flow_has_the_word() {
    let held = Held::open(None).await;
    let call = held.held(|_, _| Report { outcome: Some("paid".into()), ..talk() }).await;
    let detail = held.detail(&call).await;
    detail.shows(json!({"outcome": "paid", "summary": null, "extracted": {"amount": 500}}));
    assert_eq!(held.count("outcome.captured").await, 1);
    held.held(|_, _| talk()).await;
    assert_eq!(
        (held.count("transcript.ready").await, held.count("outcome.captured").await),
        (2, 1),
        "no outcome, no event"
    );
}

#[tokio::test]
async fn the_flow_and_the_person_overrule_the_model() {
    let held = Held::open(Some(Reader::of([Ok(interested()), Ok(interested())]))).await;
    let call = held.held(|_, _| Report { outcome: Some("paid".into()), ..talk() }).await;
    let detail = held.detail(&call).await;
    assert_eq!((&detail["outcome"], &detail["summary"]), (&json!("paid"), &json!("Wants a call tomorrow.")));
    let call = held.placed().await;
    held.answer(&call).await;
    held.tell(&call, Fact::OptOutSaid, None, false).await;
    held.end(&call, Fact::Ended(EndCause::AgentEnded), Report { outcome: Some("paid".into()), ..talk() })
        .await;
    assert_eq!(held.detail(&call).await["outcome"], "opted_out");
}

#[tokio::test]
async fn machines_and_silence_are_not_analysed() {
    let model = Reader::of([]);
    let held = Held::open(Some(model.clone())).await;
    let call = held.placed().await;
    held.answer(&call).await;
    let message = Report { outcome: Some("left_message".into()), ..held.report(&call) };
    held.end(&call, Fact::Voicemail, message).await;
    let detail = held.detail(&call).await;
    assert_eq!((&detail["outcome"], &detail["summary"]), (&Value::Null, &Value::Null));
    assert!(detail["recordingUrl"].is_string(), "what was said to the machine is kept");
    assert_eq!(held.count("outcome.captured").await, 0);
    // Nobody spoke, so the outcome of the flow is final at once.
    let mut silent = talk();
    silent.turns.retain(|turn| turn.role == Role::Agent);
    silent.outcome = Some("no_reply".into());
    let call = held.held(|_, _| silent).await;
    held.detail(&call).await.shows(json!({"outcome": "no_reply"}));
    assert_eq!(held.count("outcome.captured").await, 1);
    // The call was never answered.
    let call = held.placed().await;
    let report = Report { outcome: Some("paid".into()), ..held.report(&call) };
    held.end(&call, Fact::NoAnswer, report).await;
    let detail = held.detail(&call).await;
    detail.shows(json!({"outcome": null, "transcript": [], "recordingUrl": null}));
    assert!(!held.file(&call).exists());
    assert_eq!(
        (model.asked(), held.count("transcript.ready").await, held.count("outcome.captured").await),
        (0, 2, 1)
    );
}

#[tokio::test]
async fn a_nudge_shows_what_its_calls_left() {
    let held = Held::open(Some(Reader::of([Ok(interested())]))).await;
    let made = held.nudge("+919812301234", &json!({})).await;
    let path = format!("/v1/nudges/{}", made["id"].as_str().unwrap());
    let ringing = held.until(held.live(), &path, |answer| answer["data"]["attempts"] == 1).await;
    held.advance(0).await;
    let call = ringing["data"]["attemptsList"][0]["callId"].as_str().unwrap().to_owned();
    held.answer(&call).await;
    held.advance(5).await;
    let report = held.report(&call);
    held.end(&call, Fact::Ended(EndCause::CallerHangup), report).await;
    let nudge = held.data(&path).await;
    let attempt = &nudge["attemptsList"][0];
    assert_eq!((&nudge["result"], &attempt["outcome"]), (&json!("connected"), &json!("callback_requested")));
    attempt
        .shows(json!({"summary": "Wants a call tomorrow.", "extracted": {"amount": 500, "day": "tomorrow"}}));
    assert!(nudge["recordingUrl"].as_str().is_some_and(|link| link.contains("/v1/recordings/rec_")));
    let key = held.key(&held.workspace.id, "live", json!(["nudges:read"])).await;
    let nudge = held.app.get(&key, &path).await.data(200);
    let attempt = &nudge["attemptsList"][0];
    nudge.shows(json!({"recordingUrl": null}));
    attempt.shows(json!({"summary": null, "extracted": null}));
}

#[tokio::test]
async fn pushes_to_connected_systems_are_listed_newest_first() {
    let held = Held::open(None).await;
    let call = held.held(|_, _| talk()).await;
    let (id, tenant) = (call.parse().unwrap(), held.tenant());
    let now = held.app().clock.now();
    for (provider, status, error) in
        [("hubspot", "failed", Some("no such property")), ("hubspot", "success", None)]
    {
        let push = move |tx: &mut store::Tx<'_>| {
            let row = store::calls::get_for_update(&mut tx.of(tenant), id)?.expect("the call");
            dastak::app::after_call::record_push(tx, &row, provider, status, error, now)
        };
        held.store(push).await;
    }
    let pushes = json!([
        {"provider": "hubspot", "status": "success", "error": null, "createdAt": now},
        {"provider": "hubspot", "status": "failed", "error": "no such property", "createdAt": now},
    ]);
    assert_eq!(held.detail(&call).await["connectorPushes"], pushes);
}

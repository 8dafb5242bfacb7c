//! Calls on real lines, as the node that holds them reports them: leases, hang-ups, transfers, calls that
//! come in.

use std::sync::Arc;
use std::sync::Mutex;

use dastak::app::calls::{self, Caller, Welcome};
use domain::call::{EndCause, Fact, HangupRequest, Report, TimedTurn};
use domain::conversation::Role;
use domain::ids::{Call, Id};
use domain::ports::{Answer, Carrier, DialError, DialOrder, DialStatus, HangUpFailed};
use domain::time::SECOND;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::shows::Shows;
use crate::world::{World, leads_to};

const LEASE: i64 = 45 * SECOND;

/// A carrier that takes every call and leaves the rest to the test.
#[derive(Default)]
pub struct Trunk {
    settled: Mutex<Vec<(Id<Call>, bool)>>,
    /// What it was told of calls that are to end, each once.
    pub wishes: Mutex<Vec<(Id<Call>, HangupRequest)>>,
}

impl Carrier for Trunk {
    fn lease(&self) -> Option<i64> {
        Some(LEASE)
    }

    fn dial(&self, order: DialOrder) -> Answer<'_, Result<String, DialError>> {
        assert_eq!(order.network, None, "no table plays this call");
        Box::pin(std::future::ready(Ok(format!("sip-{}", order.call))))
    }

    fn ask(&self, _: DialOrder) -> Answer<'_, DialStatus> {
        Box::pin(std::future::ready(DialStatus::Unknown))
    }

    fn settled(&self, call: Id<Call>, kept: bool) {
        self.settled.lock().unwrap().push((call, kept));
    }

    fn hang_up(&self, _: &str) -> Answer<'_, Result<(), HangUpFailed>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn carry_out(&self, call: Id<Call>, wish: HangupRequest) {
        let mut wishes = self.wishes.lock().unwrap();
        if !wishes.contains(&(call, wish)) {
            wishes.push((call, wish));
        }
    }
}

/// A world with lines that the test plays.
pub struct Kit {
    pub world: World,
    pub trunk: Arc<Trunk>,
}

leads_to!(Kit, world: World);

impl Kit {
    pub async fn open() -> Self {
        let trunk = Arc::new(Trunk::default());
        Self { world: World::of(TestApp::start_over(trunk.clone()).await).await, trunk }
    }

    pub async fn placed(&self) -> Id<Call> {
        self.world.placed(self.live(), "1234").await.parse().unwrap()
    }

    pub async fn tell(&self, id: Id<Call>, fact: Fact) {
        self.tell_with(id, fact, None).await;
    }

    pub async fn tell_with(&self, id: Id<Call>, fact: Fact, left: Option<Report>) {
        let app = self.app();
        calls::report(app, self.tenant(), id, fact, app.clock.now(), left).await.unwrap();
    }

    pub async fn call(&self, id: Id<Call>) -> Value {
        self.world.call(self.live(), &id.to_string()).await
    }

    /// Lets `seconds` pass while the node keeps renewing the leases of these calls.
    pub async fn hold(&self, calls: &[Id<Call>], seconds: i64) {
        let app = self.app();
        let tenant = self.tenant();
        let mut left = seconds;
        loop {
            let held = calls.iter().map(|id| (tenant, *id)).collect();
            calls::keep_holding(app, held, app.clock.now().plus(LEASE)).await.unwrap();
            if left == 0 {
                return;
            }
            let step = left.min(10);
            self.advance(step).await;
            left -= step;
        }
    }

    async fn comes_in(&self, to: &str, from: &str) -> Welcome {
        let caller =
            Caller { to: to.into(), from: from.into(), provider_call: "in-1".into(), carrier: "main".into() };
        calls::answerable(self.app(), caller).await.unwrap()
    }

    async fn inbound_agent(&self, body: &Value) -> String {
        let agent = self.agent(body).await;
        self.answers_number(&agent).await
    }
}

fn report() -> Report {
    let turn = |role, text: &str, start_ms| TimedTurn {
        role,
        text: text.into(),
        start_ms,
        end_ms: start_ms + 900,
        language: None,
    };
    Report {
        turns: vec![
            turn(Role::Agent, "Hello, this is Asha.", 200),
            turn(Role::Customer, "Call me later.", 2100),
        ],
        extracted: json!({"when": "later"}).as_object().unwrap().clone(),
        outcome: Some("callback_requested".into()),
        ..Report::default()
    }
}

#[tokio::test]
async fn a_conversation_that_was_held_is_stored_billed_and_told() {
    let kit = Kit::open().await;
    let before = kit.wallet().await.0;
    let id = kit.placed().await;
    assert_eq!(*kit.trunk.settled.lock().unwrap(), [(id, true)]);
    kit.tell(id, Fact::Answered).await;
    kit.advance(61).await;
    // The node that holds the call keeps renewing its lease.
    assert_eq!(kit.call(id).await["state"], "ended", "nobody said that the call is held");
    let id = kit.placed().await;
    kit.tell(id, Fact::Answered).await;
    for _ in 0..5 {
        kit.advance(13).await;
        let app = kit.app();
        let looked =
            calls::keep_holding(app, vec![(kit.tenant(), id)], app.clock.now().plus(LEASE)).await.unwrap();
        assert_eq!((looked.hangup_requests, looked.over), (vec![], vec![]));
    }
    kit.tell_with(id, Fact::Ended(EndCause::CallerHangup), Some(report())).await;
    let call = kit.call(id).await;
    call.shows(json!({"state": "ended", "endCause": "caller_hangup", "durationSeconds": 65}));
    call.shows(json!({"transcript": [{"role": "agent", "text": "Hello, this is Asha."}, {"role": "customer", "text": "Call me later."}]}));
    call.shows(json!({"extracted": {"when": "later"}, "outcome": "callback_requested"}));
    // Two started minutes, and one that was lost after 45 seconds.
    assert_eq!(kit.wallet().await, (before - 3 * 600, 0));
    let kinds = kit.kinds().await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "call.completed").count(), 2);
    assert!(kinds.contains(&"transcript.ready".to_owned()), "{kinds:?}");
}

#[tokio::test]
async fn a_call_whose_node_died_is_lost_after_its_lease() {
    let kit = Kit::open().await;
    let (ringing, talking) = (kit.placed().await, kit.placed().await);
    kit.tell(talking, Fact::Answered).await;
    kit.advance(44).await;
    kit.call(ringing).await.shows(json!({"state": "ringing"}));
    kit.call(talking).await.shows(json!({"state": "in_progress"}));
    kit.advance(2).await;
    let (ringing, talking) = (kit.call(ringing).await, kit.call(talking).await);
    assert_eq!((&ringing["status"], &ringing["endCause"]), (&json!("failed"), &json!("error")));
    assert_eq!((&talking["status"], &talking["endCause"]), (&json!("completed"), &json!("error")));
    assert_eq!(kit.wallet().await.1, 0, "no money is held");
    let lines = kit.stored(|tx| store::calls::lines(&mut tx.of(Id::new(1, 1)))).await;
    assert_eq!(lines.1, 0, "no line is taken");
}

#[tokio::test]
async fn a_hang_up_is_found_by_the_node_that_holds_the_call() {
    let kit = Kit::open().await;
    let id = kit.placed().await;
    kit.tell(id, Fact::Answered).await;
    let live = kit.live();
    for _ in 0..2 {
        let answer = kit.app.post(live, &format!("/v1/calls/{id}/hangup"), &Value::Null).await.expect(202);
        assert_eq!(answer["data"]["state"], "ending");
    }
    assert_eq!(kit.call(id).await["state"], "in_progress", "the line is not dropped yet");
    assert_eq!(calls::hangup_requests(kit.app()).await.unwrap(), [(id, HangupRequest::HangUp)]);
    kit.tell(id, Fact::Ended(EndCause::ApiHangup)).await;
    assert_eq!(kit.call(id).await["endCause"], "api_hangup");
    assert_eq!(calls::hangup_requests(kit.app()).await.unwrap(), []);
    // The node that should have done it may have died.
    let id = kit.placed().await;
    kit.app.post(live, &format!("/v1/calls/{id}/hangup"), &Value::Null).await.expect(202);
    kit.advance(46).await;
    let call = kit.call(id).await;
    assert_eq!((&call["status"], &call["endCause"]), (&json!("cancelled"), &json!("api_hangup")));
}

#[tokio::test]
async fn an_erasure_in_mid_call_is_seen_by_the_node_that_holds_it() {
    let kit = Kit::open().await;
    let id = kit.placed().await;
    kit.tell(id, Fact::Answered).await;
    let live = kit.live();
    let contact = kit.call(id).await["contactId"].as_str().unwrap().to_owned();
    kit.app.post(live, &format!("/v1/contacts/{contact}/erase"), &json!({})).await.expect(200);
    kit.advance(0).await;
    assert_eq!(kit.call(id).await["state"], "ended");
    let app = kit.app();
    let looked =
        calls::keep_holding(app, vec![(kit.tenant(), id)], app.clock.now().plus(LEASE)).await.unwrap();
    assert_eq!(looked.over, [id]);
    kit.tell_with(id, Fact::Ended(EndCause::CallerHangup), Some(report())).await;
    assert_eq!(kit.call(id).await["transcript"], json!([]), "what an erased person said is not kept");
}

#[tokio::test]
async fn of_many_calls_that_a_node_says_it_holds_it_hears_which_are_over() {
    let kit = Kit::open().await;
    let (app, tenant) = (kit.app(), kit.tenant());
    let held = kit.placed().await;
    kit.tell(held, Fact::Answered).await;
    kit.advance(20).await;
    // More than one statement renews, and the one that is held is among the last.
    let unknown: Vec<Id<Call>> = (0..40).map(|number| Id::new(1, number)).collect();
    let said = unknown.iter().chain([&held]).map(|id| (tenant, *id)).collect();
    let looked = calls::keep_holding(app, said, app.clock.now().plus(LEASE)).await.unwrap();
    assert_eq!((looked.hangup_requests, looked.over), (vec![], unknown));
    kit.advance(44).await;
    assert_eq!(kit.call(held).await["status"], "in_progress", "its lease was renewed");
}

#[tokio::test]
async fn a_person_who_takes_over_is_told() {
    let kit = Kit::open().await;
    let id = kit.placed().await;
    kit.tell(id, Fact::Answered).await;
    calls::transferred(kit.app(), kit.tenant(), id, "+918012345678".into()).await.unwrap();
    let event =
        kit.outbox().await.into_iter().find(|event| event["type"] == "call.transferred").expect("an event");
    event["data"].shows(json!({"callId": id, "transferredTo": "+918012345678"}));
    assert_eq!(event["data"]["transferredAt"], json!(kit.now().await));
}

#[tokio::test]
async fn a_call_that_comes_in_is_answered_by_the_numbers_agent() {
    let kit = Kit::open().await;
    let number = kit.inbound_agent(&json!({"systemPrompt": "You are Asha.", "direction": "inbound"})).await;
    let Welcome::Answer(row) = kit.comes_in(&number, "+919812300077").await else { panic!("declined") };
    let call = kit.call(row.id).await;
    call.shows(json!({"direction": "inbound", "state": "ringing", "fromNumber": "+919812300077", "toNumber": number}));
    assert!(call["contactId"].is_string(), "{call}");
    assert_eq!(kit.wallet().await.1, 600, "a minute is held");
    kit.tell(row.id, Fact::Answered).await;
    kit.tell_with(row.id, Fact::Ended(EndCause::AgentEnded), Some(report())).await;
    assert_eq!(kit.call(row.id).await["endCause"], "agent_ended");
    let kinds = kit.kinds().await;
    assert!(
        kinds.contains(&"call.started".to_owned()) && kinds.contains(&"call.completed".to_owned()),
        "{kinds:?}"
    );
    let withheld = kit.comes_in(&number, "anonymous").await;
    let Welcome::Answer(row) = withheld else { panic!("declined") };
    assert_eq!((row.contact, row.from_number.as_str()), (None, "anonymous"));
}

#[tokio::test]
async fn calls_that_nobody_may_answer_are_declined_and_counted() {
    let kit = Kit::open().await;
    let (app, live) = (&kit.app, kit.workspace.live.clone());
    let declined = async |to: &str| match kit.comes_in(to, "+919812300077").await {
        Welcome::Decline(status, _) => status,
        Welcome::Answer(_) => panic!("answered"),
    };
    let own =
        app.get(&live, "/v1/numbers").await.expect(200)["data"][0]["number"].as_str().unwrap().to_owned();
    assert_eq!(declined("+918099999999").await, 404, "nobody's number");
    assert_eq!(declined(&own).await, 480, "no agent answers it");
    let number = kit.inbound_agent(&json!({"systemPrompt": "You are Asha.", "direction": "inbound"})).await;
    let path = format!("/workspaces/{}", kit.workspace.id);
    app.operator("PATCH", &path, &json!({"suspended": true})).await.expect(200);
    assert_eq!(declined(&number).await, 403, "a suspended workspace");
    app.operator("PATCH", &path, &json!({"suspended": false, "limits": {"concurrentCalls": 0}}))
        .await
        .expect(200);
    assert_eq!(declined(&number).await, 486, "no line");
    let balance = kit.wallet().await.0;
    app.operator("PATCH", &path, &json!({"limits": {"concurrentCalls": 10}})).await.expect(200);
    let entry = json!({"kind": "adjustment", "amountMinor": -balance, "reference": "empty"});
    app.operator("POST", &format!("{path}/wallet/entries"), &entry).await.expect(201);
    assert_eq!(declined(&number).await, 480, "an empty wallet");
    let figures = app.get(&live, "/v1/analytics/calls").await.expect(200);
    figures["data"]["totals"].shows(json!({"declinedCalls": 4, "calls": 0}));
    let listed = app.get(&live, "/v1/calls?direction=inbound&state=blocked").await.expect(200);
    assert_eq!(listed["data"].as_array().unwrap().len(), 4);
}

//! Second legs: who may be brought into a call, what is recorded, and what it costs (docs/contract/calls.md).

use dastak::app::calls::{self, Leg, LegFact, LegKind, LegRefused};
use domain::call::{EndCause, Fact};
use domain::compliance::Gate;
use domain::ids::{Call, Id};
use domain::phone::Phone;
use serde_json::{Value, json};

use crate::lines::Kit;

/// On the agent's list of transfer numbers.
const STAFF: &str = "+918045670002";
/// On no list.
const OTHER: &str = "+919812399001";

impl Kit {
    /// Brings a person in, as the node that holds the call does.
    pub async fn bring(&self, call: Id<Call>, to: &str) -> Result<Leg, LegRefused> {
        self.bring_by(call, to, LegKind::Beside).await
    }

    async fn bring_by(&self, call: Id<Call>, to: &str, kind: LegKind) -> Result<Leg, LegRefused> {
        let tenant = self.tenant();
        calls::begin_leg(self.app(), tenant, call, Phone::normalize(to).unwrap(), kind).await.unwrap()
    }

    pub async fn tell_leg(&self, call: Id<Call>, leg: Leg, fact: LegFact) {
        let app = self.app();
        calls::report_leg(app, self.tenant(), call, leg.number, fact, app.clock.now()).await.unwrap();
    }

    /// Balance, what is held, lines of the platform.
    pub async fn money(&self) -> (i64, i64, i64) {
        let (balance, held) = self.wallet().await;
        let tenant = self.tenant();
        (balance, held, self.app().store.of(tenant).read(store::calls::lines).await.unwrap().1)
    }

    /// Leaves this much in the wallet.
    pub async fn leave(&self, balance: i64) {
        let (now, _) = self.wallet().await;
        let entry = json!({"kind": "adjustment", "amountMinor": balance - now, "reference": "test"});
        self.operator("POST", "/wallet/entries", entry).await.expect(201);
    }

    /// What calls were charged: reference and amount, oldest first.
    pub async fn charges(&self) -> Vec<(String, i64)> {
        let page = self.list("/v1/wallet/transactions?limit=100").await;
        let rows =
            page.iter().rev().filter(|row| row["type"] == "call_charge" || row["kind"] == "call_charge");
        rows.map(|row| (row["reference"].as_str().unwrap().to_owned(), -row["amountMinor"].as_i64().unwrap()))
            .collect()
    }

    /// `decision blocked_by` of every record of a call in the decision log, and whether the log verifies.
    async fn log(&self, call: Id<Call>) -> Vec<String> {
        let live = self.live();
        let verified = self.app.get(live, "/v1/audit/verify").await.expect(200);
        assert_eq!(verified["data"]["verified"], true, "{verified}");
        let export = self.app.get(live, "/v1/audit/export").await.text;
        let rows = export.lines().filter(|line| line.contains(&call.to_string()));
        rows.map(|line| line.split(',').skip(3).take(2).collect::<Vec<_>>().join(" ").trim().to_owned())
            .collect()
    }

    /// A call of an agent that may transfer to [`STAFF`], and is answered.
    pub async fn talking(&self) -> Id<Call> {
        let id = self.placed().await;
        self.tell(id, Fact::Answered).await;
        id
    }

    pub async fn with_staff() -> Self {
        let mut kit = Self::open().await;
        let body = json!({"systemPrompt": "You are Asha.", "allowedTransferNumbers": [STAFF, OTHER.replace("9001", "9009")]});
        kit.agent = kit.agent(&body).await;
        kit
    }
}

#[tokio::test]
async fn a_second_leg_passes_the_gates_and_stands_in_the_log() {
    let kit = Kit::with_staff().await;
    let (app, live) = (&kit.app, kit.workspace.live.clone());
    let call = kit.talking().await;
    // On the registry, on the workspace's list, a contact who opted out: staff or not.
    app.operator("POST", "/dnd", &json!({"phones": [STAFF, OTHER]})).await.expect(200);
    assert_eq!(kit.bring(call, STAFF).await, Err(LegRefused::Blocked(Gate::Dnd)));
    assert_eq!(kit.bring(call, OTHER).await, Err(LegRefused::Blocked(Gate::Dnd)));
    assert_eq!(
        kit.bring_by(call, OTHER, LegKind::Referral).await,
        Err(LegRefused::Blocked(Gate::Dnd)),
        "a REFER is asked about, too"
    );
    // The operator releases a phone of staff: for this workspace, from the registry only.
    kit.operator("POST", "/transfer-numbers", json!({"number": "0804567000"})).await.invalid();
    let released =
        kit.operator("POST", "/transfer-numbers", json!({"number": "080 4567 0002"})).await.expect(201);
    assert_eq!(released["data"]["number"], STAFF);
    assert_eq!(
        kit.operator("POST", "/transfer-numbers", json!({"number": STAFF})).await.expect(201),
        released,
        "released once"
    );
    assert_eq!(
        kit.operator("GET", "/transfer-numbers", Value::Null).await.expect(200)["data"],
        json!([released["data"]])
    );
    let leg = kit.bring(call, STAFF).await.unwrap();
    kit.tell_leg(call, leg, LegFact::Ended("no_answer")).await;
    app.post(&live, "/v1/dnc", &json!({"phones": [STAFF]})).await;
    assert_eq!(kit.bring(call, STAFF).await, Err(LegRefused::Blocked(Gate::OptOut)));
    kit.operator("DELETE", &format!("/transfer-numbers/{STAFF}"), Value::Null).await.expect(200);
    kit.operator("DELETE", &format!("/transfer-numbers/{STAFF}"), Value::Null).await.not_found();
    assert_eq!(kit.bring(call, STAFF).await, Err(LegRefused::Blocked(Gate::Dnd)));
    let opted_out = "+919812399002";
    app.post(&live, "/v1/contacts", &json!({"externalRef": "o", "phone": opted_out, "optOut": true})).await;
    assert_eq!(kit.bring(call, opted_out).await, Err(LegRefused::Blocked(Gate::OptOut)));
    assert_eq!(
        kit.log(call).await,
        [
            "allowed",
            "blocked dnd",
            "blocked dnd",
            "blocked dnd",
            "allowed",
            "blocked opt_out",
            "blocked dnd",
            "blocked opt_out"
        ],
    );
    let operations = app.operator("GET", "/log?limit=50", &Value::Null).await.expect(200);
    let told: Vec<&str> =
        operations["data"].as_array().unwrap().iter().filter_map(|row| row["operation"].as_str()).collect();
    assert_eq!(told.iter().filter(|name| name.ends_with("TransferNumber")).count(), 3, "{told:?}");
    let timeline = app.get(&live, &format!("/v1/calls/{call}/timeline")).await.expect(200);
    let seen: Vec<String> = timeline["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| format!("{} {}", entry["event"], entry["reason"]))
        .collect();
    assert!(
        seen.contains(&r#""transfer" "dnd""#.to_owned())
            && seen.contains(&r#""transfer_ended" "no_answer""#.to_owned()),
        "{seen:?}"
    );
    assert_eq!(kit.money().await.1, 600, "a leg that was refused holds nothing");
}

#[tokio::test]
async fn hours_and_caps_protect_whoever_is_not_on_the_agents_list() {
    let kit = Kit::with_staff().await;
    let live = kit.workspace.live.clone();
    let call = kit.talking().await;
    for _ in 0..3 {
        let leg = kit.bring(call, OTHER).await.unwrap();
        kit.tell_leg(call, leg, LegFact::Ended("no_answer")).await;
    }
    assert_eq!(kit.bring(call, OTHER).await, Err(LegRefused::Blocked(Gate::FrequencyCap)));
    // They are dials like any other.
    let refused = kit.app.post(&live, "/v1/calls", &json!({"agentId": kit.agent, "toNumber": OTHER})).await;
    assert_eq!(refused.refused(422, "call_blocked")["meta"]["blockReason"], "frequency_cap");
    for _ in 0..5 {
        let leg = kit.bring(call, STAFF).await.unwrap();
        kit.tell_leg(call, leg, LegFact::Ended("no_answer")).await;
    }
    // A leg that the carrier never took does not count as a dial.
    let unheard = "+919812399003";
    for _ in 0..4 {
        let leg = kit.bring(call, unheard).await.unwrap();
        kit.tell_leg(call, leg, LegFact::NotDialled).await;
    }
    kit.tell(call, Fact::Ended(EndCause::CallerHangup)).await;
    // One minute to nine in the evening, and three minutes later.
    kit.set_clock(&kit.at(9 * 3600 - 60)).await;
    let call = kit.talking().await;
    kit.hold(&[call], 180).await;
    assert_eq!(kit.bring(call, "+919812399004").await, Err(LegRefused::Blocked(Gate::CallingWindow)));
    assert!(kit.bring(call, STAFF).await.is_ok(), "staff may be rung in the evening");
}

#[tokio::test]
async fn a_second_leg_takes_a_line_and_pays_by_its_own_minutes() {
    let kit = Kit::with_staff().await;
    let balance = kit.wallet().await.0;
    kit.change(&json!({"limits": {"concurrentCalls": 2}})).await;
    let call = kit.talking().await;
    assert_eq!(kit.money().await, (balance, 600, 1));
    kit.hold(&[call], 30).await;
    let first = kit.bring(call, STAFF).await.unwrap();
    assert_eq!(kit.money().await, (balance, 1200, 2));
    assert_eq!(kit.bring(call, STAFF).await, Err(LegRefused::NoLine));
    kit.place(kit.live(), "1235").await.refused(429, "concurrency_limit");
    kit.hold(&[call], 10).await;
    kit.tell_leg(call, first, LegFact::Answered).await;
    kit.tell_leg(call, first, LegFact::Answered).await;
    // Its first minute begins 40 seconds after the call's.
    kit.hold(&[call], 15).await;
    assert_eq!(kit.money().await, (balance, 1800, 2), "the call's second minute is held");
    kit.hold(&[call], 40).await;
    assert_eq!(kit.money().await, (balance, 2400, 2), "and the leg's");
    kit.hold(&[call], 10).await;
    kit.tell_leg(call, first, LegFact::Ended("hangup")).await;
    kit.tell_leg(call, first, LegFact::Ended("hangup")).await;
    assert_eq!(kit.money().await, (balance - 1200, 1200, 1), "65 seconds are two started minutes");
    // A dial that nobody answers costs nothing; a second one that is answered has a name of its own.
    let unanswered = kit.bring(call, STAFF).await.unwrap();
    kit.tell_leg(call, unanswered, LegFact::Ended("no_answer")).await;
    let second = kit.bring(call, STAFF).await.unwrap();
    kit.tell_leg(call, second, LegFact::Answered).await;
    kit.hold(&[call], 1).await;
    kit.tell(call, Fact::Ended(EndCause::TransferHandoff)).await;
    assert_eq!(kit.money().await, (balance - 1200 - 600 - 1200, 0, 0), "a leg ends with its call");
    let transfer = format!("{call}:transfer");
    assert_eq!(
        kit.charges().await,
        [(transfer.clone(), 1200), (format!("{transfer}:2"), 600), (call.to_string(), 1200)]
    );
    kit.tell_leg(call, second, LegFact::Ended("hangup")).await;
    assert_eq!(kit.bring(call, STAFF).await, Err(LegRefused::CallOver));
    assert_eq!(kit.charges().await.len(), 3);
}

#[tokio::test]
async fn a_node_that_dies_leaves_no_leg_behind() {
    let kit = Kit::with_staff().await;
    let balance = kit.wallet().await.0;
    let calls = [kit.talking().await, kit.talking().await, kit.talking().await];
    // One leg rings, one talks, one was decided on and never dialled.
    let legs = [
        kit.bring(calls[0], STAFF).await.unwrap(),
        kit.bring(calls[1], STAFF).await.unwrap(),
        kit.bring(calls[2], STAFF).await.unwrap(),
    ];
    kit.tell_leg(calls[1], legs[1], LegFact::Answered).await;
    assert_eq!(kit.money().await, (balance, 3600, 6));
    kit.hold(&calls, 20).await;
    kit.advance(60).await;
    for call in calls {
        assert_eq!(kit.call(call).await["endCause"], "error");
    }
    let (left, held, lines) = kit.money().await;
    assert_eq!((held, lines), (0, 0));
    // The lease ran out 65 seconds after the answers: two minutes were held of each answered leg, and no more
    // is charged.
    let charges = kit.charges().await;
    assert_eq!((balance - left, charges.len()), (4 * 1200, 4), "{charges:?}");
}

#[tokio::test]
async fn one_call_has_twenty_legs_and_a_suspended_workspace_none() {
    let kit = Kit::with_staff().await;
    let call = kit.talking().await;
    for _ in 0..20 {
        let leg = kit.bring(call, STAFF).await.unwrap();
        kit.tell_leg(call, leg, LegFact::Ended("no_answer")).await;
    }
    assert_eq!(kit.bring(call, STAFF).await, Err(LegRefused::TooMany));
    assert_eq!(kit.log(call).await.len(), 21);
    kit.tell(call, Fact::Ended(EndCause::CallerHangup)).await;
    let call = kit.talking().await;
    kit.change(&json!({"suspended": true})).await;
    assert_eq!(kit.bring(call, STAFF).await, Err(LegRefused::CallOver));
}

#[tokio::test]
async fn a_leg_needs_a_minute_of_its_own() {
    let kit = Kit::with_staff().await;
    kit.leave(1199).await;
    let call = kit.talking().await;
    assert_eq!(kit.bring(call, STAFF).await, Err(LegRefused::NoMoney));
    assert_eq!(kit.log(call).await, ["allowed"], "nothing was decided on");
    assert_eq!(kit.money().await, (1199, 600, 1));
}

#[tokio::test]
async fn a_workspace_releases_so_many_numbers() {
    let kit = Kit::open().await;
    let tenant = kit.tenant();
    let now = kit.noon;
    let fill = move |tx: &mut store::Tx<'_>| {
        for number in 0..api::transfer_numbers::MOST {
            store::transfer_numbers::add(
                &mut tx.of(tenant),
                &format!("+9198{number:08}"),
                api::transfer_numbers::MOST,
                now,
            )?;
        }
        Ok::<_, store::DbError>(())
    };
    kit.store(fill).await;
    kit.operator("POST", "/transfer-numbers", json!({"number": STAFF})).await.conflict();
    let unknown = "/operator/v1/workspaces/ws_01h2xcejqtf2nbrexx3vqjhp41/transfer-numbers";
    let token = kit.operator_token.clone();
    kit.app.get(&token, unknown).await.not_found();
}

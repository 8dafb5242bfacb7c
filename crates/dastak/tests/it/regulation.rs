//! The law as rules of packs (docs/contract/compliance.md): number series with their dates on every path that dials,
//! registered ids, and the disclosure of the first seconds.

use domain::call::{EndCause, Fact, Report, TimedTurn};
use domain::conversation::Role;
use serde_json::{Value, json};

use crate::after_call::{Held, talk};
use crate::decision_log::export;
use crate::world::{World, phones, refs};

/// The day from which the rule of the tests refuses begins at this moment in UTC.
const MIDNIGHT: &str = "2027-03-01T18:30:00Z";
const PROMOTION: &str = "+911401234567";
const MUST: &str = "the call must show a 140-series number since 2027-03-02";
const SHOULD: &str = "the call should show a 140-series number from 2027-03-02 on";

impl World {
    /// Makes a pack that is open day and night; its reference.
    async fn pack(&self, more: Value) -> String {
        let hours = json!([{"days": [0, 1, 2, 3, 4, 5, 6], "from": "00:00", "to": "24:00"}]);
        let caps = json!({"perDay": 1000, "perWeek": 1000});
        let body = crate::world::with(json!({"name": "Law", "hours": hours, "caps": caps}), &more);
        self.operator("POST", "/compliance-packs", body).await.id(201)
    }

    /// Its agent promotes, by a pack that wants numbers of the 140 series from 2 March on.
    async fn promoting(more: Value) -> Self {
        let mut world = Self::monday().await;
        let rule = json!({"series": "140", "communications": ["promotional"], "since": "2027-03-02", "refuses": true, "source": "a circular"});
        let pack = world.pack(crate::world::with(json!({"numberSeries": [rule]}), &more)).await;
        let agent =
            json!({"systemPrompt": "You are Asha.", "policyRef": pack, "communication": "promotional"});
        world.agent = world.agent(&agent).await;
        world
    }

    /// The records of number series in the decision log: decision, and what the gate says.
    async fn series_log(&self) -> Vec<(String, String)> {
        let text = export(self, "").await;
        let rows = text.lines().filter_map(|line| {
            let gate = line.split(r#"{""gate"":""number_series"","#).nth(1)?.split('}').next()?;
            Some((line.split(',').nth(3)?.to_owned(), gate.replace(r#""""#, "'")))
        });
        rows.collect()
    }
}

#[tokio::test]
async fn a_promotional_call_from_an_ordinary_number_is_warned_of_and_then_refused() {
    let world = World::promoting(json!({})).await;
    let evidence = |verdict: &str, shown: &str| {
        format!("'verdict':'{verdict}','wanted':'140','shown':{shown},'since':'2027-03-02'")
    };
    // The second before midnight in India, where it is still the day before.
    world.set_clock("2027-03-01T18:29:59Z").await;
    world.placed(world.live(), "0001").await;
    assert_eq!(world.series_log().await, [("allowed".into(), evidence("warn", "null"))]);

    world.set_clock(MIDNIGHT).await;
    let refused = world.place(world.live(), "0002").await.refused(422, "call_blocked");
    assert_eq!(refused["error"], format!("call blocked by compliance: number_series: {MUST}"));
    let call = refused["meta"]["callId"].as_str().unwrap();
    assert_eq!(
        refused["meta"],
        json!({"reason": "number_series", "blockReason": "number_series", "series": "140", "since": "2027-03-02", "callId": call})
    );
    assert_eq!(world.call(world.live(), call).await["state"], "blocked");
    assert_eq!(world.series_log().await[1], ("blocked".into(), evidence("refuse", "null")));
    assert_eq!(world.data("/v1/audit/stats").await["byRule"], json!({"number_series": 1}));

    // A number of the series is shown and cannot be called; a number for service calls is no way out.
    world.number("140 123 4567").await;
    world.number("1600 123 456").await;
    let numbers = world.data("/v1/numbers").await;
    let series: Vec<&Value> = numbers.as_array().unwrap().iter().map(|number| &number["series"]).collect();
    assert_eq!(series, [&Value::Null, &json!("140"), &json!("1600")]);
    let from = |number: &str| json!({"fromNumber": number});
    let wrong = world.place_with(world.live(), "0003", from("+911600123456")).await;
    wrong.refused(422, "call_blocked");
    assert_eq!(world.series_log().await[2], ("blocked".into(), evidence("refuse", "'1600'")));
    let placed = world.place_with(world.live(), "0004", from("140-123-4567")).await.expect(200);
    let placed = world.call(world.live(), placed["interactionId"].as_str().unwrap()).await;
    assert_eq!(placed["fromNumber"], PROMOTION);
    assert_eq!(world.series_log().await[3], ("allowed".into(), evidence("pass", "'140'")));
    let called = json!({"agentId": world.agent, "toNumber": PROMOTION, "fromNumber": PROMOTION});
    let refused = world.post("/v1/calls", &called).await.refused(400, "invalid_request");
    assert_eq!(refused["meta"]["field"], "toNumber");

    // Calls of test keys are simulated, and other agents' calls are no promotion.
    world
        .app
        .post(&world.workspace.test, "/v1/calls", &world.order("9812300005", &json!({})))
        .await
        .expect(200);
    let open = world.pack(json!({})).await;
    let service = world.agent(&json!({"systemPrompt": "You are Asha.", "policyRef": open})).await;
    world.place_with(world.live(), "0006", json!({"agentId": service})).await.expect(200);
    assert_eq!(world.series_log().await.len(), 4);
}

#[tokio::test]
async fn every_path_that_dials_goes_through_the_gate() {
    let world = World::promoting(json!({})).await;
    let warned = world.play_nudge("9812340001", &json!({}), 30).await;
    assert_eq!((&warned["status"], &warned["result"]), (&json!("finished"), &json!("connected")), "{warned}");
    let line = |lines: Vec<Value>| {
        let checks: Vec<Value> =
            lines.iter().flat_map(|line| line["checks"].as_array().unwrap().clone()).collect();
        let of_gate = checks.into_iter().find(|check| check["check"] == "number_series").unwrap();
        (of_gate["ok"].clone(), of_gate["verdict"].clone(), of_gate["wanted"].clone())
    };
    assert_eq!(line(world.nudge_timeline(&warned).await), (json!(true), json!("warn"), json!("140")));
    let scheduled = world.schedule("9812340003", "2027-03-02T04:00:00Z").await;
    let waiting = world.nudge("9812340002", &json!({"scheduledAt": "2027-03-02T04:00:00Z"})).await;
    let campaign = world.campaign(&json!({"startAt": "2027-03-02T04:00:00Z"}), &["9812340004"]).await;

    world.set_clock("2027-03-02T04:00:00Z").await;
    world.advance(60).await;
    let refused = world.show_nudge(&waiting).await;
    assert_eq!(
        (&refused["status"], &refused["result"], &refused["blockReason"]),
        (&json!("finished"), &json!("blocked"), &json!("number_series"))
    );
    assert_eq!(line(world.nudge_timeline(&refused).await), (json!(false), json!("refuse"), json!("140")));
    let failed = world.scheduled(&scheduled).await;
    assert_eq!((&failed["status"], &failed["reason"]), (&json!("failed"), &json!("number_series")));
    // The list is not used up: its campaign stops, and goes on with a number of the series.
    assert_eq!(world.row(&campaign).await["state"], "queued");
    assert_eq!(world.campaign_calls(&campaign).await, Vec::<Value>::new());
    let asked = world.run(&campaign).await.expect(202);
    world.advance(0).await;
    let runs = world.runs(&campaign).await;
    let run = runs.iter().find(|run| run["id"] == asked["data"]["runId"] || run["source"] == "api").unwrap();
    assert_eq!(
        (&run["skippedReason"], &run["error"]),
        (&json!("run_error"), &json!(format!("number_series: {MUST}"))),
        "{runs:?}"
    );
    world.number(PROMOTION).await;
    // It is looked at again within a quarter of an hour. What names no number shows the one that may be shown.
    world.advance(15 * 60).await;
    world.advance(60).await;
    assert_eq!(world.row(&campaign).await["state"], "reached");
    assert_eq!(world.campaign_calls(&campaign).await[0]["fromNumber"], PROMOTION);
    let nudge = world.play_nudge("9812340005", &json!({}), 30).await;
    assert_eq!((&nudge["result"], &nudge["fromNumber"]), (&json!("connected"), &json!(PROMOTION)));
}

#[tokio::test]
async fn a_preflight_says_what_would_be_warned_of_and_what_refused() {
    let world = World::promoting(json!({})).await;
    let campaign = world.draft(&json!({}), &["9812340001", "9812342222"]).await;
    let ask = async |from: Option<&str>| {
        let nudge = json!({"agentId": world.agent, "toNumber": "9812340001", "fromNumber": from});
        let one = world.post("/v1/nudges/preflight", &nudge).await.data(200);
        let batch = json!({"agentId": world.agent, "toNumbers": ["9812340001"], "fromNumber": from});
        let batch = world.post("/v1/nudges/preflight-batch", &batch).await.data(200);
        let list = world.post(&format!("/v1/campaigns/{campaign}/preflight"), &Value::Null).await.data(200);
        (one, batch, list)
    };
    let said = |text: &str| json!([{"code": "number_series", "message": text}]);

    let (one, batch, list) = ask(None).await;
    assert_eq!((&one["blocked"], &one["blockMessage"]), (&json!(false), &Value::Null));
    assert_eq!(one["warnings"], json!([{"gate": "number_series", "message": SHOULD}]));
    for report in [&batch, &list] {
        assert_eq!((&report["ready"], &report["problems"]), (&json!(true), &json!([])), "{report}");
        assert_eq!((&report["warnings"], &report["willCall"]), (&said(SHOULD), &json!(1)), "{report}");
        assert_eq!(report["willWarn"], 1, "who is not called is not warned of: {report}");
    }

    world.set_clock(MIDNIGHT).await;
    let (one, batch, list) = ask(None).await;
    assert_eq!((&one["blocked"], &one["blockReason"]), (&json!(true), &json!("number_series")));
    assert_eq!((&one["blockMessage"], &one["warnings"]), (&json!(MUST), &json!([])));
    for report in [&batch, &list] {
        assert_eq!((&report["ready"], &report["warnings"]), (&json!(false), &json!([])), "{report}");
        assert_eq!(report["problems"][0], said(MUST)[0], "{report}");
        assert_eq!((&report["willCall"], &report["willWarn"]), (&json!(0), &json!(0)), "{report}");
        assert_eq!(report["byReason"]["number_series"]["count"], 1, "{report}");
    }
    world.number(PROMOTION).await;
    for from in [Some("140 123 4567"), None] {
        let (one, batch, list) = ask(from).await;
        assert_eq!((&one["blocked"], &one["warnings"]), (&json!(false), &json!([])));
        for report in [&batch, &list] {
            assert_eq!((&report["ready"], &report["willCall"]), (&json!(true), &json!(1)), "{report}");
        }
    }
    let own = world.own_number().await;
    assert_eq!(ask(Some(&own)).await.0["blocked"], true, "what names a number shows it");
    let body = json!({"agentId": world.agent, "toNumber": "9812340001", "fromNumber": "+911401234568"});
    world.post("/v1/nudges/preflight", &body).await.refused(400, "from_number_not_owned");

    // Of a pool, the number to which the pack objects most.
    let pool = |numbers: &[&str]| -> Value {
        numbers.iter().map(|number| json!({"number": number, "dailyCap": 10})).collect()
    };
    for (numbers, ready) in [(vec![PROMOTION, own.as_str()], false), (vec![PROMOTION], true)] {
        let body = json!({"settings": {"callerIds": pool(&numbers)}});
        world.put(&format!("/v1/campaigns/{campaign}"), &body).await.expect(200);
        assert_eq!(ask(None).await.2["ready"], ready, "{numbers:?}");
    }
}

#[tokio::test]
async fn calls_of_regulated_entities_show_a_1600_number_by_the_class_that_the_operator_sets() {
    let mut world = World::monday().await;
    assert_eq!(world.operator("GET", "", Value::Null).await.data(200)["regulatedAs"], "undeclared");
    let refused = world.operator("PATCH", "", json!({"regulatedAs": "nbfcs"})).await;
    assert_eq!(refused.refused(400, "invalid_request")["meta"]["field"], "regulatedAs");
    world.number("1600123456").await;
    let own = world.own_number().await;
    let agent =
        |pack: &str| json!({"systemPrompt": "You are Asha.", "vertical": "lending", "policyRef": pack});
    let packs = [world.agent(&agent("lending@1")).await, world.agent(&agent("lending@2026")).await];
    let mut digits = 0;
    for (class, first, second) in [
        ("undeclared", None, Some("the call should show a 1600-series number")),
        ("unregulated", None, None),
        (
            "bank",
            Some("the call should show a 1600-series number since 2026-01-01"),
            Some("the call must show a 1600-series number since 2026-01-01"),
        ),
        (
            "stock_broker",
            Some("the call should show a 1600-series number since 2026-03-15"),
            Some("the call must show a 1600-series number since 2026-03-15"),
        ),
    ] {
        world.change(&json!({"regulatedAs": class})).await;
        for (agent, said) in packs.clone().into_iter().zip([first, second]) {
            world.agent = agent;
            digits += 1;
            let to = format!("981234{digits:02}01");
            let body = json!({"agentId": world.agent, "toNumber": to, "fromNumber": own});
            let forecast = world.post("/v1/nudges/preflight", &body).await.data(200);
            let must = said.filter(|said| said.contains("must"));
            assert_eq!(forecast["blockMessage"].as_str(), must, "{class} {forecast}");
            let should = said.filter(|said| said.contains("should"));
            assert_eq!(forecast["warnings"][0]["message"].as_str(), should, "{class} {forecast}");
            let placed = world.post("/v1/calls", &body).await;
            match must {
                Some(must) => {
                    let refused = placed.refused(422, "call_blocked");
                    assert!(refused["error"].as_str().unwrap().ends_with(must), "{refused}");
                    let body = crate::world::with(body, &json!({"fromNumber": null}));
                    let placed = world.post("/v1/calls", &body).await.expect(200);
                    let call = world.call(world.live(), placed["interactionId"].as_str().unwrap()).await;
                    assert_eq!(call["fromNumber"], "+911600123456");
                }
                None => drop(placed.expect(200)),
            }
        }
    }
}

#[tokio::test]
async fn a_promotional_campaign_is_published_with_its_registered_ids() {
    let world = World::promoting(json!({"dlt": {"minDigits": 19, "maxDigits": 19}})).await;
    let numbers = phones(1);
    let id = world.draft(&json!({}), &refs(&numbers)).await;
    let (good, path) = ("1107160000000012345", format!("/v1/campaigns/{id}"));
    let problems = async || {
        let report = world.post(&format!("{path}/preflight"), &Value::Null).await.data(200);
        let codes = report["problems"].as_array().unwrap().iter();
        codes.map(|problem| problem["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(problems().await, ["dlt_entity_required", "dlt_template_required"]);
    let refused = world.set(&id, "active").await.refused(422, "dlt_required");
    assert_eq!(refused["meta"], json!({"field": "dltEntityId", "blockReason": "dlt_entity_required"}));
    let entity = world.operator("PATCH", "", json!({"dltEntityId": "11 07"})).await;
    assert_eq!(entity.refused(400, "invalid_request")["meta"]["field"], "dltEntityId");
    world.change(&json!({"dltEntityId": format!(" {good} ")})).await;
    assert_eq!(world.operator("GET", "", Value::Null).await.data(200)["dltEntityId"], good);

    // A reference of the client's own is kept, and is no registered id.
    world.put(&path, &json!({"dltTemplateRef": "1107 of March"})).await.expect(200);
    let refused = world.set(&id, "active").await.refused(422, "dlt_required");
    assert_eq!(refused["meta"]["field"], "dltTemplateRef");
    assert!(refused["error"].as_str().unwrap().contains("19 to 19 digits"), "{refused}");
    assert_eq!(problems().await, ["dlt_template_required"]);
    assert_eq!(world.status(&id).await, "draft");
    world.put(&path, &json!({"dltTemplateRef": good})).await.expect(200);
    assert_eq!(problems().await, Vec::<String>::new());
    world.set(&id, "active").await.expect(200);
    world.change(&json!({"dltEntityId": null})).await;
    assert_eq!(world.operator("GET", "", Value::Null).await.data(200)["dltEntityId"], Value::Null);
}

#[tokio::test]
async fn a_disclosure_is_verified_on_the_transcript_and_proved_in_the_log() {
    let mut held = Held::open(None).await;
    let disclosure =
        |text: &str| json!({"disclosure": {"withinSeconds": 5, "texts": [{"language": "en", "text": text}]}});
    let kept = held.pack(disclosure("hello … acme")).await;
    let missed = held.pack(disclosure("this call is recorded")).await;
    let agent = |pack: &str| json!({"systemPrompt": "You are Asha from Acme.", "policyRef": pack});
    let open = held.pack(json!({})).await;
    let agents = [held.agent(&agent(&kept)).await, held.agent(&agent(&missed)).await];
    let silent = held.agent(&agent(&open)).await;
    let mut calls = Vec::new();
    for (agent, pack, result, language) in
        [(&agents[0], &kept, "kept", json!("en")), (&agents[1], &missed, "missed", Value::Null)]
    {
        held.world.agent.clone_from(agent);
        let call = held.held(|_, _| talk()).await;
        assert_eq!(
            held.detail(&call).await["disclosure"],
            json!({"result": result, "language": language, "withinSeconds": 5, "pack": pack})
        );
        calls.push((call, result));
    }
    // Who was never spoken to was told nothing; who hangs up at once was owed nothing yet, and nor was a machine.
    let mute = held.held(|_, _| Report::default()).await;
    assert_eq!(held.detail(&mute).await["disclosure"]["result"], "missed");
    calls.push((mute, "missed"));
    let short = held.placed().await;
    held.answer(&short).await;
    held.advance(2).await;
    let turn =
        TimedTurn { role: Role::Agent, text: "Hello".into(), start_ms: 0, end_ms: 900, language: None };
    let report = Report { turns: vec![turn], ..Report::default() };
    held.end(&short, Fact::Ended(EndCause::CallerHangup), report).await;
    let machine = held.placed().await;
    held.answer(&machine).await;
    held.advance(20).await;
    held.end(&machine, Fact::Voicemail, talk()).await;
    held.world.agent = silent;
    let other = held.held(|_, _| talk()).await;
    for call in [&short, &machine, &other] {
        assert_eq!(held.detail(call).await["disclosure"], Value::Null);
    }

    held.advance(60).await;
    let text = export(&held, "").await;
    let proofs: Vec<(String, String)> = text
        .lines()
        .filter(|line| line.contains(",disclosure_"))
        .map(|line| {
            let outcome = line.split(",disclosure_").nth(1).unwrap().split(',').next().unwrap();
            (line.split(',').nth(2).unwrap().to_owned(), outcome.to_owned())
        })
        .collect();
    let expected: Vec<_> = calls.iter().map(|(call, result)| (call.clone(), (*result).to_owned())).collect();
    assert_eq!(proofs, expected);
    assert_eq!(held.data("/v1/audit/verify").await["verified"], true);
    assert_eq!(held.data("/v1/audit/stats").await["disclosures"], json!({"kept": 1, "missed": 2}));
    let test = held.app.get(&held.workspace.test, "/v1/audit/stats").await.data(200);
    assert_eq!(test["disclosures"], json!({"kept": 0, "missed": 0}));
}

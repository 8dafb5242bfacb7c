//! Lists of calls with names, charges, filters and counts (docs/contract/calls.md#lists), search (docs/contract/search.md),
//! the turns and the peaks of a call (docs/contract/calls.md#turns), reports by hour (docs/contract/analytics.md#by-hour) and
//! deliveries of a call (docs/contract/webhooks.md#log).

use std::collections::BTreeMap;

use domain::analytics::{
    CallCounts, CallDetails, CallFilter, HourlyReport, Query, hour_of, pack_details, start_of,
};
use domain::call::{
    CallProviders, CaptureMark, EndCause, Fact, RecordedFile, Report, ToolMark, TurnDetails, TurnLatency,
};
use domain::call::{Direction, Progress, Status};
use domain::ids::{Campaign, Contact, Id};
use domain::tenant::Mode;
use domain::time::{DAY, HOUR, SECOND, Timestamp};
use serde_json::{Value, json};
use store::calls::{CallRow, Upkeep};

use crate::after_call::{Held, talk};
use crate::receiver::{Behaviour, Receiver};
use crate::shows::Shows;
use crate::world::World;

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["id"].as_str().unwrap()).collect()
}

/// A call that is over, `at` milliseconds after noon.
fn stored(world: &World, mode: Mode, at: i64, more: impl FnOnce(&mut CallRow)) -> CallRow {
    let id = Id::new(world.noon.0 + at, at.unsigned_abs().into());
    let mut row = CallRow {
        id,
        workspace: world.tenant(),
        mode,
        agent: Some(world.agent.parse().unwrap()),
        contact: None,
        campaign: None,
        nudge: None,
        scheduled_call: None,
        direction: Direction::Outbound,
        progress: Progress {
            status: Status::Completed,
            answered_at: Some(Timestamp(id.unix_ms() + SECOND)),
            ended_at: Some(Timestamp(id.unix_ms() + 2 * SECOND)),
            talk_ms: Some(SECOND),
            end_cause: Some("agent_ended".into()),
            ..Progress::placing()
        },
        outcome: None,
        to_number: "+919812301234".into(),
        from_number: "+918012345678".into(),
        external_ref: None,
        variables: serde_json::Map::new(),
        metadata: json!({}),
        provider_call: None,
        carrier: None,
        started_at: Timestamp(id.unix_ms()),
        dialled_at: None,
        block_reason: None,
        hang_up_at: None,
        language: None,
        sentiment: None,
        price: 0,
        concurrent: 1,
        line: false,
        network: None,
        script_step: 0,
        next_step_at: None,
        once: None,
        upkeep: Upkeep::default(),
        version: 0,
        trace: None,
        answered_by: None,
        flow_version: None,
    };
    more(&mut row);
    row
}

async fn store_calls(world: &World, rows: Vec<CallRow>) {
    let insert = world.app().store.tx(move |tx| {
        store::calls::insert(tx, &rows)?;
        rows.iter().try_for_each(|row| store::calls::touch_hour(tx, row))
    });
    insert.await.unwrap();
}

async fn contact(world: &World, reference: &str, phone: &str, name: &str) -> String {
    let body = json!({"externalRef": reference, "phone": phone, "name": name});
    let answer = world.post("/v1/contacts", &body).await;
    answer.json["data"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_list_shows_names_and_charges() {
    let world = World::open().await;
    contact(&world, "crm-7", "+919812301234", "Ramesh Kumar").await;
    let call = world.placed(world.live(), "1234").await;
    let listed = |rows: Vec<Value>| rows.into_iter().find(|row| row["id"] == *call).unwrap();
    let ringing = listed(world.list("/v1/calls").await);
    ringing.shows(json!({"contactName": "Ramesh Kumar", "agentName": "Asha", "chargedMinor": null}));
    world.advance(30).await;
    let ledger = world.list("/v1/wallet/transactions").await;
    let charge =
        ledger.iter().find(|entry| entry["reference"] == *call).unwrap()["amountMinor"].as_i64().unwrap();
    assert!(charge < 0);
    for shown in [listed(world.list("/v1/calls").await), world.data(&format!("/v1/calls/{call}")).await] {
        shown.shows(json!({"contactName": "Ramesh Kumar", "agentName": "Asha", "chargedMinor": -charge}));
    }
    // A test call costs nothing; a person who is erased has no name.
    let test = world.placed(world.test(), "1234").await;
    world.advance(30).await;
    let shown = world.app.get(world.test(), "/v1/calls").await.list(200);
    let shown = shown.iter().find(|row| row["id"] == *test).unwrap();
    shown.shows(json!({"contactName": "Ramesh Kumar", "chargedMinor": 0}));
    let person = ringing["contactId"].as_str().unwrap();
    world.erase(person).await.expect(200);
    listed(world.list("/v1/calls").await).shows(json!({"contactName": null, "chargedMinor": -charge}));
}

/// Calls of every kind, some of people.
async fn many_calls(world: &World) -> (Vec<String>, String) {
    let ramesh = contact(world, "crm-1", "+919812301111", "Ramesh Kumar").await;
    let kavya = contact(world, "crm-2", "+919812302222", "Kavya Ramanathan").await;
    let hindi = contact(world, "shop-3", "+919812303333", "रमेश वर्मा").await;
    let campaign: Id<Campaign> = Id::new(1, 1);
    let mut rows = Vec::new();
    for n in 0..48_i64 {
        let people = [&ramesh, &kavya, &hindi];
        for mode in [Mode::Live, Mode::Test] {
            let at = n * HOUR + i64::from(mode == Mode::Test) * SECOND;
            rows.push(stored(world, mode, at, |row| {
                row.contact = (n % 4 < 3).then(|| people[n as usize % 4].parse().unwrap());
                row.campaign = (n % 5 == 0).then_some(campaign);
                row.outcome = [Some("won"), Some("lost"), None][n as usize % 3].map(str::to_owned);
                if n % 7 == 0 {
                    row.direction = Direction::Inbound;
                    (row.from_number, row.to_number) = ("+919812309999".into(), "+918012345678".into());
                }
                let (status, cause) = match n % 6 {
                    0 => (Status::Busy, Some("busy")),
                    1 => (Status::Blocked, None),
                    2 if mode == Mode::Live => (Status::InProgress, None),
                    _ => (Status::Completed, Some("agent_ended")),
                };
                row.progress.status = status;
                row.progress.end_cause = cause.map(str::to_owned);
                if status == Status::InProgress {
                    (row.progress.ended_at, row.progress.talk_ms) = (None, None);
                }
                if n % 11 == 0 {
                    row.agent = None;
                }
            }));
        }
    }
    store_calls(world, rows).await;
    (vec![ramesh, kavya, hindi], campaign.to_string())
}

#[tokio::test]
async fn counts_are_those_of_the_list() {
    let world = World::open().await;
    let (people, campaign) = many_calls(&world).await;
    world.advance(3 * 24 * 3600).await;
    let day = |n: i64| encoded(&Timestamp(world.noon.0 + n * 12 * HOUR + 1).to_string());
    let filters = [
        String::new(),
        "state=ended".into(),
        "state=blocked".into(),
        "status=busy".into(),
        "direction=inbound".into(),
        "outcome=won".into(),
        "endCause=busy".into(),
        "outcome=lost&endCause=agent_ended".into(),
        "outcome=won&state=ended&direction=outbound".into(),
        format!("agentId={}&outcome=won", world.agent),
        format!("campaignId={campaign}"),
        format!("campaignId={campaign}&endCause=agent_ended"),
        format!("contactId={}", people[0]),
        format!("contactId={}&outcome=won", people[1]),
        format!("from={}&to={}", day(1), day(3)),
        format!("from={}&outcome=lost", day(2)),
        "q=ram".into(),
        format!("q={}", encoded("kum RAM")),
        format!("q={}", encoded("रमेश")),
        "q=crm-".into(),
        "q=ram&outcome=won&state=ended".into(),
        "q=nobody".into(),
        format!("q={}", encoded("098123 01111")),
        format!("number={}", encoded("+91 98123 09999")),
        format!("number={}&q=kavya", encoded("9812302222")),
        format!("number={}&q=ramesh", encoded("9812302222")),
        format!("contactId={}&q=ram", people[1]),
        "outcome=never".into(),
        "status=nonsense".into(),
        "agentId=agt_x".into(),
    ];
    for key in [world.live(), world.test()] {
        for filter in &filters {
            let list = world.app.get(key, &format!("/v1/calls?limit=200&{filter}")).await.list(200);
            let counts = world.app.get(key, &format!("/v1/calls/counts?{filter}")).await.data(200);
            assert_eq!(counts["total"], list.len(), "{filter}: {counts}");
            for (property, of) in [
                ("state", "state"),
                ("direction", "direction"),
                ("outcome", "outcome"),
                ("endCause", "endCause"),
                ("agent", "agentId"),
                ("campaign", "campaignId"),
            ] {
                let mut expected: BTreeMap<&str, i64> = BTreeMap::new();
                for value in list.iter().filter_map(|row| row[of].as_str()) {
                    *expected.entry(value).or_default() += 1;
                }
                let facets = counts[property].as_array().unwrap();
                let found: BTreeMap<&str, i64> = facets
                    .iter()
                    .map(|facet| (facet["value"].as_str().unwrap(), facet["count"].as_i64().unwrap()))
                    .collect();
                assert_eq!(found, expected, "{filter}: {property}");
            }
            let days: i64 =
                counts["days"].as_array().unwrap().iter().map(|day| day["count"].as_i64().unwrap()).sum();
            assert_eq!(counts["total"], days, "{filter}");
            // The same in pages.
            let (mut paged, mut cursor) = (Vec::new(), String::new());
            loop {
                let page =
                    world.app.get(key, &format!("/v1/calls?limit=7&{filter}{cursor}")).await.expect(200);
                paged.extend(page["data"].as_array().unwrap().clone());
                let Some(next) = page["nextCursor"].as_str() else { break };
                cursor = format!("&cursor={}", encoded(next));
            }
            assert_eq!(ids(&paged), ids(&list), "{filter}");
        }
    }
    let all = world.data("/v1/calls/counts").await;
    let agents = all["agent"].as_array().unwrap();
    assert_eq!(agents.iter().map(|row| row["name"].as_str()).collect::<Vec<_>>(), [Some("Asha")]);
    assert!(all["total"].as_i64().unwrap() > 40);
    for path in ["/v1/calls?number=12345678", "/v1/calls/counts?number=12345678"] {
        let refused = world.fetch(path).await.invalid();
        assert_eq!(refused["meta"]["field"], "number");
    }
    // What changes is counted at once.
    let before = all["total"].as_i64().unwrap();
    world.placed(world.live(), "1298").await;
    assert_eq!(world.data("/v1/calls/counts").await["total"], before + 1);
}

#[tokio::test]
async fn search_finds_what_the_key_may_read() {
    let world = World::open().await;
    let ramesh = contact(&world, "crm-71", "+919812301234", "Ramesh Kumar").await;
    let hindi = contact(&world, "crm-72", "+919812301235", "रमेश वर्मा").await;
    let call = world.placed(world.live(), "1234").await;
    let campaign =
        world.post("/v1/campaigns", &json!({"name": "Ramadan offers", "agentId": world.agent})).await.id(201);
    let base = world.post("/v1/knowledge-bases", &json!({"name": "Ramps and lifts"})).await.id(201);
    let search = async |key: &str, text: &str| {
        let found = world.app.get(key, &format!("/v1/search?q={}", encoded(text))).await.list(200);
        found.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let live = world.live();
    for (text, expected) in [
        ("ram", vec![&campaign, &base, &ramesh]),
        ("  KUMAR ram", vec![&ramesh]),
        ("रमेश", vec![&hindi]),
        ("crm-7", vec![&ramesh, &hindi]),
        ("crm-72", vec![&hindi]),
        ("098123-01234", vec![&ramesh]),
        ("९८१२३०१२३५", vec![&hindi]),
        ("+91 98123 99999", vec![]),
        (ramesh.as_str(), vec![&ramesh]),
        (call.as_str(), vec![&call]),
        (world.agent.as_str(), vec![&world.agent]),
        (campaign.as_str(), vec![&campaign]),
        (base.as_str(), vec![&base]),
        ("mesh", vec![]),
        ("asha", vec![&world.agent]),
        ("call_00000000000000000000000000", vec![]),
        ("%_'", vec![]),
    ] {
        assert_eq!(search(live, text).await.iter().collect::<Vec<_>>(), expected, "{text}");
    }
    let found = world.list(&format!("/v1/search?q={call}")).await;
    found[0].shows(json!({"type": "call", "title": "Ramesh Kumar"}));
    // Another mode's calls and another workspace's anything are not found, nor what a key may not read.
    let test = world.test();
    assert_eq!((search(test, &call).await.len(), search(test, "kumar").await), (0, vec![ramesh.clone()]));
    let made = world.placed(test, "1298").await;
    let person = world.call(test, &made).await["contactId"].as_str().unwrap().to_owned();
    assert_eq!((search(live, &person).await.len(), search(test, &person).await.len()), (0, 1));
    let other = world.neighbour().await;
    for text in
        ["ram", ramesh.as_str(), call.as_str(), "+919812301234", "crm-71", campaign.as_str(), base.as_str()]
    {
        let found = other.list(&format!("/v1/search?q={}", encoded(text))).await;
        assert_eq!(found, Vec::<Value>::new(), "{text}");
    }
    let scopes = json!(["calls:read", "contacts:read"]);
    let narrow = world.app.key(&world.workspace.id, "live", scopes).await;
    assert_eq!(search(&narrow, "ram").await, std::slice::from_ref(&ramesh));
    assert!(search(&narrow, &campaign).await.is_empty());
    let less = world.app.key(&world.workspace.id, "live", json!(["calls:read"])).await;
    world.app.get(&less, "/v1/search?q=ram").await.refused(403, "api_scope_missing");
    world.fetch("/v1/search").await.invalid();
    // A changed name is found by its new words only; an erased person by none.
    world.put(&format!("/v1/contacts/{ramesh}"), &json!({"name": "Suresh"})).await.expect(200);
    assert_eq!((search(live, "kumar").await.len(), search(live, "sur").await), (0, vec![ramesh.clone()]));
    world.erase(&ramesh).await.expect(200);
    for text in ["sur", "crm-71", "+919812301234", ramesh.as_str()] {
        assert!(search(live, text).await.is_empty(), "{text}");
    }
    let left = world.stored(|tx| tx.all::<String>("select word from contact_words order by word", &[])).await;
    assert!(!left.iter().any(|word| word.starts_with("sur") || word == "kumar"), "{left:?}");
}

#[tokio::test]
async fn at_most_twenty_results() {
    let world = World::open().await;
    for n in 0..25 {
        contact(&world, &format!("r{n:02}"), &format!("+9198123{n:05}"), &format!("Meena {n}")).await;
    }
    assert_eq!(world.list("/v1/search?q=meena").await.len(), 20);
    assert_eq!(world.list("/v1/search?q=meena%2024").await.len(), 1);
}

#[tokio::test]
async fn names_of_an_earlier_version_become_searchable() {
    let world = World::open().await;
    let ramesh = contact(&world, "crm-1", "+919812301234", "Ramesh Kumar").await;
    let older = world.app().store.tx(|tx| {
        tx.exec("delete from contact_words", &[])?;
        tx.exec("update contacts set words = null", &[])
    });
    older.await.unwrap();
    assert!(world.list("/v1/search?q=kumar").await.is_empty());
    let world = world.restart().await;
    world.advance(1).await;
    assert_eq!(ids(&world.list("/v1/search?q=kumar").await), [ramesh]);
}

/// Stores what was measured in the conversation of a call.
async fn measured(world: &World, row: &CallRow, reactions: &[i64], provider: &str) {
    let latency: Vec<TurnLatency> = reactions
        .iter()
        .map(|ms| TurnLatency { first_packet_ms: Some(*ms), ..TurnLatency::default() })
        .collect();
    let details = TurnDetails {
        providers: CallProviders {
            recognition: Some(provider.into()),
            model: None,
            synthesis: Some("tts".into()),
        },
        ..TurnDetails::default()
    };
    let (id, latency, details) = (row.id, json!(latency), json!(details));
    let write = world.app().store.of(world.tenant()).tx(move |tx| {
        let sql = "update calls set latency = ?3, turn_details = ?4 where workspace = ?1 and id = ?2";
        tx.exec(sql, store::params![id, &latency, &details])
    });
    assert_eq!(write.await.unwrap(), 1);
}

#[tokio::test]
async fn reports_by_hour_with_reactions_and_costs() {
    let world = World::open().await;
    // It is noon in India.
    let at = |days: i64, hours: i64| days * DAY + hours * HOUR;
    let mut rows = Vec::new();
    for (days, hours, calls) in [
        (-7, 0, 4),
        (-14, 0, 2),
        (-21, 0, 9),
        (-28, 0, 1),
        (-28, 1, 3),
        (-35, 0, 90),
        (-1, 0, 50),
        (0, 0, 6),
        (0, 1, 1),
    ] {
        for n in 0..calls {
            rows.push(stored(&world, Mode::Live, at(days, hours) + n, |row| {
                row.outcome = (n % 2 == 0).then(|| "won".to_owned());
                if n % 3 == 1 {
                    (row.progress.status, row.progress.answered_at) = (Status::Busy, None);
                }
            }));
        }
    }
    let (first, second) = (rows[0].clone(), rows[1].clone());
    store_calls(&world, rows).await;
    measured(&world, &first, &[200, 400, 600, 800], "near").await;
    measured(&world, &second, &[2_000], "far").await;
    let whole = world.data("/v1/analytics/calls?groupBy=hour").await;
    let hours = whole["hours"].as_array().unwrap();
    assert_eq!((hours.len(), &hours[12]["calls"], &hours[13]["calls"]), (24, &json!(162), &json!(4)));
    let of_week: i64 =
        whole["weekdayHours"].as_array().unwrap().iter().map(|row| row["calls"].as_i64().unwrap()).sum();
    assert_eq!(whole["totals"]["calls"], of_week);
    // The medians of 4, 2, 9, 1 and of 0, 0, 0, 3: the fifth week before is too long ago, and yesterday another weekday.
    let usual = &whole["usualWeekday"];
    assert_eq!(usual["weeks"], 4);
    assert_eq!((&usual["hours"][12]["calls"], &usual["hours"][13]["calls"]), (&json!(3.0), &json!(0.0)));
    let near = |found: &Value, exact: f64| (found.as_f64().unwrap() / exact - 1.0).abs() < 0.02;
    let reaction = &whole["reaction"];
    assert_eq!(reaction["answers"], 5);
    assert!(near(&reaction["p50Ms"], 600.0) && near(&reaction["p95Ms"], 2_000.0), "{reaction}");
    reaction["byAgent"][0].shows(json!({"agentId": world.agent, "name": "Asha", "answers": 5}));
    let providers: Vec<_> = reaction["byProvider"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["stage"], row["provider"], row["answers"]]))
        .collect();
    let expected = json!([["recognition", "far", 1], ["recognition", "near", 4], ["synthesis", "tts", 5]]);
    assert_eq!(json!(providers), expected);
    // A range without the weeks before still knows what is usual.
    let today = format!("/v1/analytics/calls?groupBy=hour&from={}", encoded(&world.at(0)));
    let today = world.data(&today).await;
    assert_eq!((&today["totals"]["calls"], &today["usualWeekday"]), (&json!(7), usual));
    assert_eq!(today["hours"][12]["answered"], 4);
    let plain = world.data("/v1/analytics/calls").await;
    assert!(plain.get("hours").is_none() && plain.get("usualWeekday").is_none());
    let nobody = world.data("/v1/analytics/calls?groupBy=hour&agentId=agt_x").await;
    nobody["usualWeekday"].shows(json!({"weeks": 0, "hours": []}));
    world.fetch("/v1/analytics/calls?groupBy=minute").await.invalid();
}

#[tokio::test]
async fn costs_of_calls_by_outcome() {
    let world = World::open().await;
    let call = world.placed(world.live(), "1234").await;
    world.place(world.live(), "1111").await;
    world.advance(60).await;
    let charged = world.data(&format!("/v1/calls/{call}")).await["chargedMinor"].as_i64().unwrap();
    assert!(charged > 0);
    let report = world.data("/v1/analytics/calls?groupBy=hour").await;
    let costs = &report["costs"];
    assert_eq!(costs["chargedMinor"], charged);
    let won =
        costs["byOutcome"].as_array().unwrap().iter().find(|row| row["outcome"] == "simulated").unwrap();
    won.shows(json!({"calls": 1, "chargedMinor": charged}));
    let sum: i64 =
        report["hours"].as_array().unwrap().iter().map(|row| row["chargedMinor"].as_i64().unwrap()).sum();
    assert_eq!(sum, charged);
}

#[tokio::test]
async fn turns_have_times_tools_and_captures() {
    let held = Held::open(None).await;
    let details = TurnDetails {
        providers: CallProviders {
            recognition: Some("stt".into()),
            model: None,
            synthesis: Some("tts".into()),
        },
        cut_off: vec![0],
        tools: vec![ToolMark { at_ms: 3_350, tool: "tool_x".into(), took_ms: Some(120), ok: Some(true) }],
        captures: vec![CaptureMark { at_ms: 3_310, field: "amount".into() }],
    };
    let call = held.held(|_, _| Report { details, ..talk() }).await;
    let path = format!("/v1/calls/{call}/turns");
    let shown = held.data(&path).await;
    shown.shows(
        json!({"callId": call, "providers": {"recognition": "stt", "model": null, "synthesis": "tts"}}),
    );
    let turns = shown["turns"].as_array().unwrap();
    turns[0].shows(
        json!({"role": "agent", "start": 0.4, "end": 1.9, "heardUntil": 1.9, "reaction": null, "tools": []}),
    );
    turns[1].shows(json!({"role": "customer", "heardUntil": null, "captures": ["amount"]}));
    assert_eq!(turns[1]["tools"], json!([{"tool": "tool_x", "at": 3.35, "tookMs": 120, "ok": true}]));
    let reaction = &turns[2]["reaction"];
    let parts = ["recognition", "endpointing", "model", "synthesis", "playout"];
    let sum: i64 = parts.iter().map(|part| reaction[part].as_i64().unwrap()).sum();
    assert_eq!(reaction["total"], sum);
    held.fetch("/v1/calls/call_00000000000000000000000000/turns").await.not_found();
    held.world.neighbour().await.fetch(&path).await.not_found();
    held.world.app.get(held.world.test(), &path).await.not_found();
    let person = held.data(&format!("/v1/calls/{call}")).await["contactId"].as_str().unwrap().to_owned();
    held.erase(&person).await.expect(200);
    let erased = held.data(&path).await;
    assert_eq!((&erased["turns"], &erased["providers"]["synthesis"]), (&json!([]), &Value::Null));
}

/// A recording of so many milliseconds: the customer is loud at first, the agent at the end.
fn sound(ms: usize) -> Vec<u8> {
    let mut file = vec![0; 44];
    for n in 0..8 * ms {
        let (left, right) = if n < 800 {
            (i16::MAX, 0)
        } else if n >= 8 * (ms - 100) {
            (0, 6_400)
        } else {
            (0, 0_i16)
        };
        file.extend_from_slice(&left.to_le_bytes());
        file.extend_from_slice(&right.to_le_bytes());
    }
    file
}

#[tokio::test]
async fn peaks_come_with_the_recording_and_go_with_it() {
    let held = Held::open(None).await;
    let recorded = |call: &str| {
        let file = held.file(call);
        std::fs::write(&file, sound(500)).unwrap();
        Report {
            recording: Some(RecordedFile { path: file.display().to_string(), duration_ms: 500 }),
            ..talk()
        }
    };
    let call = held.placed().await;
    held.answer(&call).await;
    let path = format!("/v1/calls/{call}/peaks");
    assert_eq!(held.data(&path).await, json!({"callId": call, "peaks": null}));
    held.end(&call, Fact::Ended(EndCause::AgentEnded), recorded(&call)).await;
    held.advance(5).await;
    let expected = json!({"stepMs": 100, "customer": [255, 0, 0, 0, 0], "agent": [0, 0, 0, 0, 50]});
    assert_eq!(held.data(&path).await["peaks"], expected);
    assert!(held.shelf.opened.lock().unwrap().is_empty(), "the file was measured, and the object not read");
    // Those of an earlier version are measured once, from the object.
    let gone = async || held.app().store.tx(|tx| tx.exec("delete from recording_peaks", &[])).await.unwrap();
    assert_eq!(gone().await, 1);
    for _ in 0..2 {
        assert_eq!(held.data(&path).await["peaks"], expected);
    }
    assert_eq!(held.shelf.opened.lock().unwrap().len(), 1);
    held.world.neighbour().await.fetch(&path).await.not_found();
    let person = held.data(&format!("/v1/calls/{call}")).await["contactId"].as_str().unwrap().to_owned();
    held.erase(&person).await.expect(200);
    assert_eq!(held.data(&path).await["peaks"], Value::Null);
    assert_eq!(gone().await, 0, "they are erased with the recording");
}

#[tokio::test]
async fn deliveries_of_a_call_and_of_an_event() {
    let world = World::open().await;
    let receiver = Receiver::ok().await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    let one = world.placed(world.live(), "1234").await;
    world.advance(30).await;
    let two = world.placed(world.live(), "1235").await;
    world.advance(30).await;
    let log = format!("/v1/webhooks/{}/deliveries", hook["id"].as_str().unwrap());
    let all = world.list(&format!("{log}?limit=100")).await;
    for call in [&one, &two] {
        let expected: Vec<&Value> =
            all.iter().filter(|row| row["payload"].to_string().contains(call.as_str())).collect();
        assert!(expected.len() > 1 && expected.len() < all.len());
        let found = world.list(&format!("{log}?limit=100&callId={call}")).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), expected);
        let kind = expected[0]["event"].as_str().unwrap();
        let found = world.list(&format!("{log}?callId={call}&event={kind}")).await;
        assert_eq!(ids(&found), [expected[0]["id"].as_str().unwrap()]);
        let page = world.get(&format!("{log}?callId={call}&limit=1")).await;
        let next = encoded(page["nextCursor"].as_str().unwrap());
        let page = world.get(&format!("{log}?callId={call}&limit=1&cursor={next}")).await;
        assert_eq!(page["data"][0]["id"], expected[1]["id"]);
        assert!(world.list(&format!("{log}?callId={call}&status=failed")).await.is_empty());
    }
    let event = all[0]["eventId"].as_str().unwrap();
    assert_eq!(ids(&world.list(&format!("{log}?eventId={event}")).await), [all[0]["id"].as_str().unwrap()]);
    for none in
        ["callId=call_00000000000000000000000000", "callId=x", "eventId=evt_00000000000000000000000000"]
    {
        assert!(world.list(&format!("{log}?{none}")).await.is_empty());
    }
    world.fetch(&format!("{log}?callId={one}&eventId={event}")).await.invalid();
    let test = world.app.get(world.test(), &format!("{log}?callId={one}")).await.list(200);
    assert!(test.is_empty(), "a test key sees nothing of a live call");
}

#[tokio::test]
async fn all_that_failed_is_replayed_once() {
    let world = World::bare().await;
    let receiver = Receiver::start(Behaviour::status(500)).await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    let path = format!("/v1/webhooks/{}/deliveries", hook["id"].as_str().unwrap());
    for _ in 0..3 {
        world.trigger("call.completed").await;
        world.advance(3_600).await;
    }
    let since = world.now().await;
    world.trigger("call.completed").await;
    world.advance(26 * 3_600).await;
    let failed = world.list(&format!("{path}?status=failed")).await;
    assert_eq!(failed.len(), 4);
    let replay = async |body: Value| world.post(&format!("{path}/replay"), &body).await;
    for (body, field) in [
        (json!({}), "since"),
        (json!({"since": "monday"}), "since"),
        (json!({"since": since, "until": since}), "until"),
    ] {
        let refused = replay(body).await.invalid();
        assert_eq!(refused["meta"]["field"], field);
    }
    let sent = receiver.got().len();
    // The newest one only, then all; those that are pending or delivered are left out.
    receiver.behave(Behaviour::status(204));
    let first = replay(json!({"since": since})).await.data(202);
    assert_eq!(first, json!({"replayed": 1, "redacted": 0, "nextSince": null}));
    receiver.wait_for(sent + 1).await;
    world.advance(0).await;
    let begin = json!({"since": "2020-01-01T00:00:00Z", "until": since});
    assert_eq!(replay(begin.clone()).await.data(202)["replayed"], 3);
    receiver.wait_for(sent + 4).await;
    world.advance(0).await;
    assert_eq!(replay(begin).await.data(202)["replayed"], 0);
    assert_eq!(receiver.got().len(), sent + 4, "nothing is sent twice");
    let ids_of = |rows: &[Value]| rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
    let delivered = world.list(&format!("{path}?status=succeeded")).await;
    assert_eq!(ids_of(&delivered), ids_of(&failed));
    let other = world.neighbour().await;
    other.post(&format!("{path}/replay"), &json!({"since": since})).await.not_found();
    world.app.post(world.test(), &format!("{path}/replay"), &json!({"since": since})).await.read_only();
}

#[tokio::test]
async fn one_replay_of_an_endpoint_at_a_time() {
    let world = World::bare().await;
    let receiver = Receiver::start(Behaviour::status(500)).await;
    let hook = world.endpoint(json!({"url": receiver.url})).await;
    let endpoint = format!("/v1/webhooks/{}", hook["id"].as_str().unwrap());
    world.trigger("call.completed").await;
    world.advance(26 * 3_600).await;
    // A replay whose deliveries still wait for their attempt: no node looks after the endpoint.
    let id = hook["id"].as_str().unwrap().parse().unwrap();
    let now = world.app().clock.now();
    let begun = world
        .app()
        .store
        .of(world.tenant())
        .tx(move |tx| store::deliveries::replay_failed(tx, id, Mode::Live, ("", "whd_~"), now));
    assert_eq!(begun.await.unwrap().replayed, 1);
    let body = json!({"since": "2020-01-01T00:00:00Z"});
    let refused = world.post(&format!("{endpoint}/deliveries/replay"), &body).await.conflict();
    assert_eq!(refused["meta"]["waiting"], 1);
    world.patch(&endpoint, &json!({"status": "disabled"})).await.expect(200);
    world.post(&format!("{endpoint}/deliveries/replay"), &body).await.conflict();
}

/// A text is searched in a range of time with few calls only, and the answer names the field.
#[tokio::test]
async fn a_text_needs_a_narrow_range() {
    let world = World::open().await;
    let person: Id<Contact> = contact(&world, "crm-1", "+919812301234", "Ramesh").await.parse().unwrap();
    let of = |at: i64| stored(&world, Mode::Test, at, |row| row.contact = Some(person));
    let (first, rows) = (of(0), (0..19).map(of).collect());
    store_calls(&world, rows).await;
    // Calls of long ago, without anybody.
    let older = world.app().store.tx_alone(move |tx| {
        tx.exec(
            "insert into calls (id, workspace, mode, direction, status, phase, to_number, from_number, variables, metadata, \
             started_at, opted_out, price, concurrent, script_step, version) \
             with recursive n (i) as (select 1000001 union all select i + 1 from n where i < 1200001) \
             select 'call_0000000000000000000' || cast(n.i as text), c.workspace, c.mode, c.direction, c.status, c.phase, c.to_number, \
             c.from_number, '{}', '{}', 0, 0, 0, 1, 0, 0 from n, calls c where c.id = ?1",
            store::params![first.id],
        )
    });
    assert_eq!(older.await.unwrap(), 200_001);
    let test = world.test();
    for path in ["/v1/calls?q=ram", "/v1/calls/counts?q=ram", "/v1/calls/counts"] {
        let refused = world.app.get(test, path).await.invalid();
        assert_eq!(refused["meta"]["field"], "from", "{path}");
    }
    let from = encoded(&world.at(0));
    let counted = world.app.get(test, &format!("/v1/calls/counts?q=ram&from={from}")).await.data(200);
    assert_eq!(counted["total"], 19);
    let listed = world.app.get(test, &format!("/v1/calls?q=ram&from={from}")).await.list(200);
    assert_eq!(listed.len(), 19);
    let number = world.app.get(test, "/v1/calls?number=9812301234").await.list(200);
    assert_eq!(number.len(), 19, "a number is found in any range");
}

/// Every beginning of a packed hour is refused, or has the calls that are whole in it; none of them panics.
#[test]
fn damaged_details_are_refused() {
    let details = |n: i64| CallDetails {
        start: Timestamp(n),
        status: Status::Completed,
        direction: Direction::Inbound,
        counted: true,
        answered: true,
        agent: Some(format!("agt_{n}")),
        campaign: None,
        outcome: Some("won".into()),
        cause: None,
        providers: [Some("stt".into()), None, None],
        charged: 600,
        reactions: vec![300; n as usize],
    };
    let start = start_of(hour_of(Timestamp(0)));
    let good = pack_details(start, &[details(0), details(3), details(300)]).unwrap();
    let count = |bytes: &[u8]| {
        let (mut counts, mut report) =
            (CallCounts::default(), HourlyReport::new(Query::default(), Timestamp(0)));
        let hour = hour_of(Timestamp(0));
        let added = counts.add(&CallFilter::default(), hour, bytes);
        assert_eq!(added.is_ok(), report.add(hour, bytes).is_ok());
        added.map(|()| (counts.total, report.finish().reactions.count()))
    };
    // A call has at most 255 answers.
    assert_eq!(count(&good), Ok((3, 258)));
    let whole = (0..good.len()).filter(|length| count(&good[..*length]).is_ok()).count();
    assert_eq!(whole, 3, "after the words, and after each call but the last");
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] = 0xff;
        assert!(count(&bytes).map_or(0, |(calls, _)| calls) <= good.len() as u64);
    }
}

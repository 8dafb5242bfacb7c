//! Staged lists: sent in pieces, judged, edited, put in force (docs/contract/campaigns.md#staged-lists).

use domain::time::{HOUR, MINUTE, Timestamp};
use serde_json::{Value, json};

use crate::app::Answer;
use crate::shows::Shows;
use crate::world::{World, leads_to};

/// A number that can be dialled.
fn number(n: usize) -> String {
    format!("98{:08}", 10_000_000 + n)
}

fn person(n: usize) -> Value {
    json!({"phone": number(n), "variables": {"amount": "1200"}})
}

/// A campaign whose flow requires `amount`, with a staged list.
struct Stage {
    world: World,
    /// Path of the campaign and of the staged list.
    campaign: String,
    path: String,
}

leads_to!(Stage, world: World);

impl Stage {
    async fn open() -> Self {
        Self::open_in(World::prompted("Remind {{amount}}.").await).await
    }

    async fn open_in(world: World) -> Self {
        let campaign = world.new_campaign(json!({})).await;
        let opened = world.post(&format!("{campaign}/staged-lists"), &Value::Null).await.data(201);
        let path = format!("{campaign}/staged-lists/{}", opened["stagedListId"]);
        Self { world, campaign, path }
    }

    async fn piece(&self, piece: i64, rows: Value) -> Answer {
        self.post(&format!("{}/rows", self.path), &json!({"piece": piece, "contacts": rows})).await
    }

    async fn verdict(&self) -> Value {
        self.data(&format!("{}/preflight", self.path)).await
    }

    /// Findings as `harm code column: count`.
    async fn findings(&self) -> Vec<String> {
        let verdict = self.verdict().await;
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let findings = verdict["findings"].as_array().unwrap().iter();
        let each = |one: &Value| {
            format!(
                "{} {} {}: {}",
                text(&one["harm"]),
                text(&one["code"]),
                text(&one["column"]),
                one["count"]
            )
        };
        findings.map(each).collect()
    }

    /// Rows as `row valid reason`.
    async fn flags(&self) -> Vec<String> {
        let rows = self.list(&format!("{}/rows", self.path)).await;
        let flag = |row: &Value| {
            format!("{} {} {}", row["row"], row["valid"], row["invalidReason"].as_str().unwrap_or("-"))
        };
        rows.iter().map(flag).collect()
    }

    async fn edit(&self, row: usize, body: Value) -> Answer {
        self.patch(&format!("{}/rows/{row}", self.path), &body).await
    }

    async fn apply(&self, rows: i64) -> Answer {
        self.post(&format!("{}/apply", self.path), &json!({"expectedRows": rows})).await
    }

    /// Rows of all lists in the store.
    async fn stored_rows(&self) -> i64 {
        self.stored(|tx| tx.one::<i64>("select count(*) from campaign_rows", &[])).await.unwrap()
    }
}

#[tokio::test]
async fn a_list_comes_in_pieces_and_a_repeated_piece_changes_nothing() {
    let stage = Stage::open().await;
    let first = json!([person(1), person(2), {"phone": "x"}]);
    let made = stage.piece(1, first.clone()).await.data(200);
    made.shows(json!({"total": 3, "valid": 2, "invalid": 1, "pieces": 1}));
    let key = stage.get("/v1/me").await["data"]["key"]["id"].clone();
    assert_eq!((&made["openedBy"], &made["openedAt"]), (&key, &json!(stage.now().await)));
    let expiry = Timestamp::parse(&stage.now().await).unwrap().plus(HOUR).to_string();
    assert_eq!(made["expiresAt"], expiry);
    assert_eq!(
        stage.piece(1, json!([person(9)])).await.data(200),
        made,
        "a repeat is answered and changes nothing"
    );
    let ahead = stage.piece(3, json!([person(3)])).await.conflict();
    assert_eq!(ahead["meta"]["pieces"], 1);
    // Both numbers of the second piece are known: one from the first piece, one from itself.
    let second = json!([person(2), person(3), person(3)]);
    stage.piece(2, second).await.data(200).shows(json!({"total": 6, "valid": 3, "invalid": 3, "pieces": 2}));
    let expected = [
        "1 true -",
        "2 true -",
        "3 false invalid_phone",
        "4 false duplicate",
        "5 true -",
        "6 false duplicate",
    ];
    assert_eq!(stage.flags().await, expected);
    assert_eq!(stage.list(&format!("{}/staged-lists", stage.campaign)).await.len(), 1);
    // Nothing of it is on the list of the campaign.
    let listed = stage.get(&format!("{}/contacts", stage.campaign)).await;
    assert_eq!((&listed["total"], &listed["counts"]["all"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn the_same_piece_twice_at_once_comes_once() {
    let stage = Stage::open().await;
    let rows = json!([person(1), person(2)]);
    let answers = tokio::join!(
        stage.piece(1, rows.clone()),
        stage.piece(1, rows.clone()),
        stage.piece(1, rows.clone()),
        stage.piece(1, rows.clone())
    );
    for answer in [answers.0, answers.1, answers.2, answers.3] {
        answer.data(200).shows(json!({"total": 2, "valid": 2, "pieces": 1}));
    }
    assert_eq!(stage.stored_rows().await, 2);
}

#[tokio::test]
async fn a_wrong_piece_names_the_row_and_changes_nothing() {
    let stage = Stage::open().await;
    for (row, field, code) in [
        (json!({"phone": number(3), "name": "a".repeat(1 << 20)}), "contacts[1].name", "invalid_request"),
        (json!({"phone": "9".repeat(1 << 20)}), "contacts[1].phone", "invalid_request"),
        (
            json!({"phone": number(3), "variables": {"due": "x".repeat(1 << 20)}}),
            "contacts[1].variables",
            "invalid_variables",
        ),
        (
            json!({"phone": number(3), "variables": {"due": 5}}),
            "contacts[1].variables.due",
            "invalid_variables",
        ),
        (json!({}), "contacts[1].phone", "invalid_request"),
    ] {
        let refused = stage.piece(1, json!([person(1), row])).await.refused(400, code);
        assert!(refused["error"].as_str().unwrap().starts_with(field), "{field}: {refused}");
    }
    for piece in [json!(0), json!(-1), json!(50_001), json!("1"), Value::Null] {
        let body = json!({"piece": piece, "contacts": [person(1)]});
        stage.post(&format!("{}/rows", stage.path), &body).await.invalid();
    }
    stage.piece(1, json!([])).await.invalid();
    for path in [format!("{}/staged-lists/99", stage.campaign), format!("{}/staged-lists/x", stage.campaign)]
    {
        stage.post(&format!("{path}/rows"), &json!({"piece": 1, "contacts": [person(1)]})).await.not_found();
        stage.fetch(&format!("{path}/preflight")).await.not_found();
        stage.fetch(&format!("{path}/rows")).await.not_found();
        stage.fetch(&format!("{path}/findings")).await.not_found();
        stage.patch(&format!("{path}/rows/1"), &json!({})).await.not_found();
        stage.post(&format!("{path}/apply"), &json!({"expectedRows": 1})).await.not_found();
        stage.delete(&path).await.not_found();
    }
    for row in ["0", "1", "-1", "x"] {
        stage.patch(&format!("{}/rows/{row}", stage.path), &json!({"name": "A"})).await.not_found();
    }
    assert_eq!(stage.stored_rows().await, 0);
    stage.verdict().await.shows(json!({"canApply": false, "stagedList.total": 0, "findings": []}));
}

#[tokio::test]
async fn a_verdict_has_findings_by_harm_and_stores_nothing() {
    let world = World::prompted("Remind {{amount}}.").await;
    world.app.operator("POST", "/dnd", &json!({"phones": [number(1)]})).await.expect(200);
    world.post("/v1/dnc", &json!({"phones": [number(2)]})).await.expect(200);
    let stage = Stage::open_in(world).await;
    let dated = |n: usize, due: &str| json!({"phone": number(n), "name": "Asha", "variables": {"amount": "1200", "due": due}});
    stage
        .piece(
            1,
            json!([
                person(1), person(2), dated(3, "05/11/2026"), dated(4, "11/25/2026"), dated(5, "9.8E+09"),
                {"phone": number(6), "variables": {"amount": " "}}, {"phone": number(7)},
                {"phone": "x", "variables": {"due": "05/11/2026"}}, person(3), {"phone": "+1 415 555 0100"},
            ]),
        )
        .await
        .expect(200);
    let expected = [
        "stops missing_required_variables variables.amount: 2",
        "never_dialled invalid_phone phone: 1",
        "never_dialled not_indian phone: 1",
        "never_dialled duplicate phone: 1",
        "never_dialled dnd phone: 1",
        "never_dialled opt_out phone: 1",
        "read_as date_day_first variables.due: 2",
        "read_as date_month_first variables.due: 1",
        "read_as number_with_exponent variables.due: 1",
    ];
    assert_eq!(stage.findings().await, expected);
    let verdict = stage.verdict().await;
    verdict.shows(json!({
        "canApply": false, "willCall": 3, "willWait": 0, "willNotCall": 7, "firstMinuteDials": 3, "problems": [],
        "stagedList.total": 10, "stagedList.valid": 7, "schedule.insideWindow": true, "cost.costPerMinuteMinor": 600,
    }));
    assert!(verdict["cost"]["expectedMinor"].as_i64().unwrap() > 0, "{verdict}");
    let missing = &verdict["findings"][0]["rows"];
    assert_eq!(
        missing[0],
        json!({"row": 6, "phone": format!("+91{}", number(6)), "name": null, "value": " ", "readAs": null})
    );
    assert_eq!(missing[1]["value"], Value::Null);
    let day_first = &verdict["findings"][6]["rows"][0];
    assert_eq!(
        *day_first,
        json!({"row": 3, "phone": format!("+91{}", number(3)), "name": "Asha", "value": "05/11/2026", "readAs": "2026-11-05"})
    );
    // Pages by finding, and by column.
    let found = async |query: &str| {
        let rows = stage.list(&format!("{}/rows?{query}", stage.path)).await;
        rows.iter().map(|row| row["row"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(found("finding=missing_required_variables").await, [6, 7]);
    assert_eq!(found("finding=date_day_first&column=variables.due").await, [3, 8]);
    assert_eq!(found("finding=date_day_first&column=variables.amount").await, [0_i64; 0]);
    stage.fetch(&format!("{}/rows?finding=none", stage.path)).await.invalid();
    let mut after = format!("{}/rows?limit=4", stage.path);
    let mut seen = Vec::new();
    loop {
        let page = stage.get(&after).await;
        seen.extend(page["data"].as_array().unwrap().iter().map(|row| row["row"].as_i64().unwrap()));
        let Some(next) = page["nextCursor"].as_str() else { break };
        after = format!("{}/rows?limit=4&cursor={next}", stage.path);
    }
    assert_eq!(seen, (1..=10).collect::<Vec<i64>>());
    // What was judged is judged again: the person asks not to be called now.
    stage.post("/v1/dnc", &json!({"phones": [number(4)]})).await.expect(200);
    assert_eq!(stage.verdict().await["willCall"], 2);
    stage.apply(10).await.refused(400, "missing_required_variables");
}

#[tokio::test]
async fn a_verdict_says_who_waits() {
    let world = World::prompted("Say hello.").await;
    let own = world.own_number().await;
    let settings =
        json!({"dailyFrom": "14:00", "dailyTo": "18:00", "callerIds": [{"number": own, "dailyCap": 2}]});
    let campaign = world.new_campaign(json!({"settings": settings})).await;
    let opened = world.post(&format!("{campaign}/staged-lists"), &Value::Null).await.data(201);
    let path = format!("{campaign}/staged-lists/{}", opened["stagedListId"]);
    let stage = Stage { world, campaign, path };
    stage.piece(1, json!([person(1), person(2), person(3), person(4), person(5)])).await.expect(200);
    assert_eq!(
        stage.findings().await,
        ["waits calling_window -: 5", "waits caller_id_cap -: 3"],
        "noon; the daily window opens at 14:00, and the number dials two a day"
    );
    let verdict = stage.verdict().await;
    let opening = Timestamp::parse(&stage.now().await).unwrap().plus(2 * HOUR).to_string();
    assert_eq!((&verdict["findings"][0]["until"], &verdict["canApply"]), (&json!(opening), &json!(true)));
}

#[tokio::test]
async fn an_edited_row_is_checked_anew_and_its_number_is_valid_once() {
    let stage = Stage::open().await;
    let rows = json!([person(1), person(1), person(2), {"phone": number(3)}, {"phone": "x", "variables": {"amount": "1"}}]);
    stage.piece(1, rows).await.expect(200);
    let expected = ["1 true -", "2 false duplicate", "3 true -", "4 true -", "5 false invalid_phone"];
    assert_eq!(stage.flags().await, expected);
    // The first row leaves its number to the second one.
    let edited = stage.edit(1, json!({"phone": "0 98765 43210", "name": " Asha "})).await.data(200);
    edited.shows(json!({"row": 1, "phone": "+919876543210", "name": "Asha", "valid": true, "variables.amount": "1200"}));
    let expected = ["1 true -", "2 true -", "3 true -", "4 true -", "5 false invalid_phone"];
    assert_eq!(stage.flags().await, expected);
    // An earlier row takes the number of a later one.
    stage.edit(1, json!({"phone": number(2)})).await.expect(200);
    let expected = ["1 true -", "2 true -", "3 false duplicate", "4 true -", "5 false invalid_phone"];
    assert_eq!(stage.flags().await, expected);
    // A later row takes the number of an earlier one.
    stage
        .edit(5, json!({"phone": number(1), "name": null}))
        .await
        .data(200)
        .shows(json!({"invalidReason": "duplicate"}));
    // The first of them becomes invalid: the last one has the number alone.
    stage.edit(2, json!({"phone": "none"})).await.data(200).shows(json!({"invalidReason": "invalid_phone"}));
    let expected = ["1 true -", "2 false invalid_phone", "3 false duplicate", "4 true -", "5 true -"];
    assert_eq!(stage.flags().await, expected);
    let verdict = stage.verdict().await;
    verdict.shows(
        json!({"stagedList.total": 5, "stagedList.valid": 3, "stagedList.invalid": 2, "canApply": false}),
    );
    // Values are set and removed one by one.
    let edited = stage.edit(4, json!({"variables": {"amount": "7", "note": "x"}})).await.data(200);
    assert_eq!(
        (&edited["variables"], &edited["findings"]),
        (&json!({"amount": "7", "note": "x"}), &json!([]))
    );
    let edited = stage.edit(4, json!({"variables": {"note": null}})).await.data(200);
    assert_eq!(edited["variables"], json!({"amount": "7"}));
    for (body, code) in [
        (json!({"variables": {"amount": "x".repeat(65_536)}}), "invalid_variables"),
        (json!({"variables": {"amount": 5}}), "invalid_variables"),
        (json!({"name": "a".repeat(201)}), "invalid_request"),
    ] {
        stage.edit(4, body).await.refused(400, code);
    }
    assert_eq!(stage.list(&format!("{}/rows", stage.path)).await[3]["variables"], json!({"amount": "7"}));
    let applied = stage.apply(5).await.data(200);
    assert_eq!(applied, json!({"total": 5, "valid": 3, "invalid": 2}));
    let page = stage.get(&format!("{}/contacts", stage.campaign)).await;
    page["counts"].shows(json!({"all": 5, "queued": 3, "invalid": 2}));
    assert_eq!(
        stage.get(&format!("{}/contacts?state=queued", stage.campaign)).await["data"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(
        stage.get(&format!("{}/contacts?state=invalid", stage.campaign)).await["data"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn a_list_takes_effect_once_and_whole() {
    let stage = Stage::open().await;
    // Nothing is dialled while it is active.
    let later = json!({"settings": {"startAt": "2027-06-01T00:00:00Z"}});
    stage.put(&stage.campaign, &later).await.expect(200);
    stage.set_list(&stage.campaign, json!([person(8)])).await.expect(200);
    stage.piece(1, json!([person(1), {"phone": number(2)}, {"phone": "x"}])).await.expect(200);
    let refused = stage.apply(3).await.refused(400, "missing_required_variables");
    refused["meta"].shows(json!({"missing": ["amount"], "row": 1}));
    stage.edit(2, json!({"variables": {"amount": "5"}})).await.expect(200);
    let refused = stage.apply(2).await.conflict();
    assert_eq!(refused["meta"]["rows"], 3);
    stage.apply(0).await.invalid();
    stage.set_status(&stage.campaign, "active").await.expect(200);
    stage.apply(3).await.conflict();
    stage.set_status(&stage.campaign, "paused").await.expect(200);
    assert_eq!(
        stage.get(&format!("{}/contacts", stage.campaign)).await["total"],
        1,
        "the list is the one before"
    );
    let (one, other) = tokio::join!(stage.apply(3), stage.apply(3));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404], "{} {}", one.text, other.text);
    let page = stage.get(&format!("{}/contacts", stage.campaign)).await;
    page["counts"].shows(json!({"all": 3, "queued": 2, "invalid": 1}));
    stage.fetch(&format!("{}/rows", stage.path)).await.not_found();
    stage.advance(0).await;
    assert_eq!(stage.stored_rows().await, 3, "the old list is deleted");
}

#[tokio::test]
async fn rows_that_are_being_called_keep_their_list() {
    let stage = Stage::open().await;
    stage.set_list(&stage.campaign, json!([person(8)])).await.expect(200);
    stage.piece(1, json!([person(1)])).await.expect(200);
    stage.set_status(&stage.campaign, "active").await.expect(200);
    stage.advance(1).await;
    stage.set_status(&stage.campaign, "paused").await.expect(200);
    let counts = stage.get(&format!("{}/contacts", stage.campaign)).await["counts"].clone();
    assert_eq!(counts["inProgress"].as_i64().or(counts["in_progress"].as_i64()), Some(1), "{counts}");
    stage.apply(1).await.conflict();
    stage.advance(HOUR / 1_000 / 2).await;
    stage.apply(1).await.expect(200);
}

/// Nothing of a staged list is dialled, and it is deleted an hour after its last piece.
#[tokio::test]
async fn nothing_staged_is_dialled_and_it_expires() {
    let stage = Stage::open().await;
    stage.set_list(&stage.campaign, json!([person(8)])).await.expect(200);
    stage.piece(1, json!([person(1), person(2)])).await.expect(200);
    stage.set_status(&stage.campaign, "active").await.expect(200);
    stage.advance(50 * MINUTE / 1_000).await;
    let calls = stage.list("/v1/calls").await;
    let listed = format!("+91{}", number(8));
    assert!(!calls.is_empty() && calls.iter().all(|call| call["toNumber"] == listed), "{calls:?}");
    stage.edit(1, json!({"name": "Asha"})).await.expect(200);
    stage.advance(59 * MINUTE / 1_000).await;
    stage.verdict().await.shows(json!({"stagedList.total": 2}));
    stage.advance(2 * MINUTE / 1_000).await;
    stage.fetch(&format!("{}/preflight", stage.path)).await.not_found();
    stage.apply(2).await.not_found();
    stage.advance(0).await;
    assert_eq!(stage.stored_rows().await, 1);
}

#[tokio::test]
async fn staged_lists_have_ceilings() {
    let stage = Stage::open().await;
    let open = async |campaign: &str| stage.post(&format!("{campaign}/staged-lists"), &Value::Null).await;
    for _ in 0..2 {
        open(&stage.campaign).await.expect(201);
    }
    open(&stage.campaign).await.conflict();
    for _ in 0..2 {
        let campaign = stage.new_campaign(json!({})).await;
        for _ in 0..3 {
            open(&campaign).await.expect(201);
        }
    }
    let campaign = stage.new_campaign(json!({})).await;
    open(&campaign).await.expect(201);
    open(&campaign).await.conflict();
    stage.delete(&stage.path).await.expect(200);
    open(&campaign).await.expect(201);
    // A deleted campaign gives its lists back at once.
    stage.delete(&stage.campaign).await.expect(200);
    open(&campaign).await.expect(201);
    let over = stage.new_campaign(json!({})).await;
    stage.set_status(&over, "archived").await.expect(200);
    open(&over).await.conflict();
}

/// As many rows as a list may have, and the verdict on all of them.
#[tokio::test]
async fn a_staged_list_has_as_many_rows_as_a_list() {
    let stage = Stage::open().await;
    // Numbers that end in 2222 are on the registry of the sandbox.
    let dialled = |n: usize| person(if n % 10_000 == 2_222 { n + 500_001 } else { n });
    let piece = |first: usize| json!((first..first + 10_000).map(dialled).collect::<Vec<_>>());
    for piece_number in 0..5 {
        stage.piece(piece_number + 1, piece(piece_number as usize * 10_000)).await.expect(200);
    }
    stage.piece(6, json!([person(50_000)])).await.invalid_field("contacts");
    let verdict = stage.verdict().await;
    verdict.shows(
        json!({"stagedList.total": 50_000, "stagedList.pieces": 5, "willCall": 50_000, "findings": []}),
    );
    stage.apply(50_000).await.data(200).shows(json!({"total": 50_000, "valid": 50_000}));
}

#[tokio::test]
async fn an_erasure_reaches_staged_rows() {
    let stage = Stage::open().await;
    stage.piece(1, json!([person(1), person(2), person(1)])).await.expect(200);
    let asha = json!({"phone": number(1), "externalRef": "asha"});
    let contact = stage.post("/v1/contacts", &asha).await.id(201);
    stage.erase(&contact).await.expect(200);
    let rows = stage.list(&format!("{}/rows", stage.path)).await;
    for row in [&rows[0], &rows[2]] {
        row.shows(json!({"phone": null, "name": null, "variables": {}, "invalidReason": "erased"}));
    }
    stage.edit(1, json!({"phone": number(5)})).await.conflict();
    stage.verdict().await.shows(json!({"willCall": 1, "stagedList.valid": 1, "stagedList.invalid": 2}));
    let applied = stage.apply(3).await.data(200);
    assert_eq!(applied, json!({"total": 3, "valid": 1, "invalid": 2}));
    let counts = stage.get(&format!("{}/contacts", stage.campaign)).await["counts"].clone();
    counts.shows(json!({"all": 3, "queued": 1, "invalid": 2}));
}

#[tokio::test]
async fn findings_are_a_file_without_formulas() {
    let stage = Stage::open().await;
    let rows = json!([{"phone": "=1+1", "variables": {"amount": "1", "=cmd": "05/11/2026"}}, {"phone": number(2)}, person(3)]);
    stage.piece(1, rows).await.expect(200);
    let file = stage.fetch(&format!("{}/findings", stage.path)).await;
    assert_eq!(file.status, 200);
    let expected = "row,harm,finding,column,value,read_as\r\n\
        1,never_dialled,invalid_phone,\"phone\",\"'=1+1\",\"\"\r\n\
        1,read_as,date_day_first,\"variables.=cmd\",\"05/11/2026\",\"2026-11-05\"\r\n\
        2,stops,missing_required_variables,\"variables.amount\",\"\",\"\"\r\n";
    assert_eq!(file.text, expected);
}

/// The flow is published anew while a list is staged: it is checked against what is required when it takes effect.
#[tokio::test]
async fn a_list_is_checked_against_the_flow_of_the_moment() {
    let stage = Stage::open().await;
    stage.piece(1, json!([person(1)])).await.expect(200);
    stage.verdict().await.shows(json!({"canApply": true}));
    let prompt = json!({"systemPrompt": "Remind {{amount}} by {{day}}."});
    stage.put(&format!("/v1/agents/{}", stage.agent), &prompt).await.expect(200);
    let verdict = stage.verdict().await;
    verdict.shows(json!({"canApply": false, "findings[0].column": "variables.day"}));
    stage.apply(1).await.refused(400, "missing_required_variables");
}

#[tokio::test]
async fn rows_say_when_they_are_dialled_next_and_their_last_call() {
    let world = World::open().await;
    let campaign = world.new_campaign(json!({"settings": {"retryCount": 1, "cooldownMinutes": 60}})).await;
    world.set_list(&campaign, json!([{"phone": "9812340000"}])).await.expect(200);
    let row = async || world.list(&format!("{campaign}/contacts")).await[0].clone();
    row().await.shows(json!({"nextAttemptAt": null, "lastCallId": null}));
    world.set_status(&campaign, "active").await.expect(200);
    world.advance(120).await;
    let tried = row().await;
    tried.shows(json!({"state": "unreached", "attempts": 1}));
    let call = world.call(world.live(), tried["lastCallId"].as_str().unwrap()).await;
    let ended = Timestamp::parse(call["endedAt"].as_str().unwrap()).unwrap();
    assert_eq!(tried["nextAttemptAt"], ended.plus(60 * MINUTE).to_string());
    world.advance(2 * HOUR / 1_000).await;
    row().await.shows(json!({"attempts": 2, "nextAttemptAt": null}));
}

//! Calling lists: replaced, read, imported, erased (docs/contract/campaigns.md#calling-list).

use domain::campaign::Tally;
use domain::campaign::list::MAX_SEARCHED;
use serde_json::{Value, json};
use store::campaigns::progress::{self, Delta};

use crate::app::TestApp;
use crate::shows::Shows;
use crate::world::World;

/// A number that can be dialled, and none of whose last digits mean anything.
fn number(n: usize) -> String {
    format!("98{:08}", 10_000_000 + n)
}

/// A text as it stands in a query.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn counts(world: &World, path: &str) -> Value {
    world.get(&format!("{path}/contacts?limit=1")).await["counts"].clone()
}

fn phones(page: &Value) -> Vec<String> {
    page["data"].as_array().unwrap().iter().map(|row| row["phone"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn rows_are_normalized_flagged_and_kept_in_order() {
    let world = World::open().await;
    let path = world.new_campaign(json!({})).await;
    let rows = json!([
        {"phone": "98123 45678", "name": " आशा राव ", "variables": {"due": "₹ 1,200", "empty": ""}},
        {"phone": "+91-9812345678", "name": "The same number"},
        {"phone": "०९८१२३४५६७८"},
        {"phone": "+1 415 555 0100", "name": null, "variables": null},
        {"phone": "12345"},
        {"phone": "not a number at all, but kept as it came"},
        {"phone": ""},
        {"phone": "022-23456789", "name": ""},
    ]);
    let made = world.set_list(&path, json!(rows)).await.expect(200);
    assert_eq!(made, json!({"data": {"total": 8, "valid": 2, "invalid": 6}}));
    assert_eq!(world.get(&path).await["data"]["callingList"], json!({"total": 8, "valid": 2, "invalid": 6}));
    let page = world.get(&format!("{path}/contacts")).await;
    let first = &page["data"][0];
    assert!(first["id"].as_str().unwrap().starts_with("row_"));
    assert_eq!(
        *first,
        json!({
            "id": first["id"], "contactId": null, "phone": "+919812345678", "name": "आशा राव", "variables": {"due": "₹ 1,200", "empty": ""},
            "state": "queued", "dialStatus": null, "attempts": 0, "lastAttemptAt": null, "heldReason": null, "failureReason": null, "valid": true,
            "invalidReason": null, "doNotCall": false, "boardColumn": null, "nextAttemptAt": null,
            "lastCallId": null,
        })
    );
    let flags: Vec<_> = page["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["phone"].as_str().unwrap(),
                row["valid"].as_bool().unwrap(),
                row["invalidReason"].as_str(),
                row["state"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        flags,
        [
            ("+919812345678", true, None, "queued"),
            ("+919812345678", false, Some("duplicate"), "invalid"),
            ("+919812345678", false, Some("duplicate"), "invalid"),
            ("+1 415 555 0100", false, Some("not_indian"), "invalid"),
            ("12345", false, Some("invalid_phone"), "invalid"),
            ("not a number at all, but kept as it came", false, Some("invalid_phone"), "invalid"),
            ("", false, Some("invalid_phone"), "invalid"),
            ("+912223456789", true, None, "queued"),
        ]
    );
    assert_eq!(page["data"][7]["name"], Value::Null);
    assert_eq!((&page["total"], &page["nextOffset"]), (&json!(8), &Value::Null));
}

#[tokio::test]
async fn a_list_replaces_the_one_before_whole() {
    let world = World::open().await;
    let path = world.with_list(json!([{"phone": number(1)}, {"phone": number(2)}, {"phone": "x"}])).await;
    let first = world.get(&format!("{path}/contacts")).await["data"][0]["id"].clone();
    let rows = json!({"contacts": [{"phone": number(2)}, {"phone": number(3)}]});
    let made = world.post(&format!("{path}/contacts"), &rows).await.expect(200);
    assert_eq!(made["data"], json!({"total": 2, "valid": 2, "invalid": 0}));
    let page = world.get(&format!("{path}/contacts")).await;
    assert_eq!(phones(&page), [format!("+91{}", number(2)), format!("+91{}", number(3))]);
    assert_ne!(page["data"][0]["id"], first);
    let progress = world.get(&format!("{path}/summary")).await["data"]["progress"].clone();
    assert_eq!((&progress["total"], &progress["queued"]), (&json!(2), &json!(2)));
    // The rows of the old list are removed behind the request.
    let stored =
        async || world.stored(|tx| tx.one::<i64>("select count(*) from campaign_rows", &[])).await.unwrap();
    world.advance(0).await;
    assert_eq!(stored().await, 2);
    world.delete(&path).await.expect(200);
    world.advance(0).await;
    assert_eq!(stored().await, 0);
}

#[tokio::test]
async fn a_wrong_row_is_named_and_nothing_is_stored() {
    let world = World::open().await;
    let path = world.with_list(json!([{"phone": number(1)}])).await;
    let good = json!({"phone": number(2)});
    let many: serde_json::Map<String, Value> = (0..501).map(|n| (format!("v{n}"), json!("x"))).collect();
    for (row, field, code) in [
        (json!({}), "contacts[1].phone", "invalid_request"),
        (json!({"phone": null}), "contacts[1].phone", "invalid_request"),
        (json!({"phone": 9_812_345_678_i64}), "contacts[1].phone", "invalid_request"),
        (json!({"phone": "9".repeat(101)}), "contacts[1].phone", "invalid_request"),
        (json!({"phone": number(3), "name": 5}), "contacts[1].name", "invalid_request"),
        (json!({"phone": number(3), "name": "a".repeat(201)}), "contacts[1].name", "invalid_request"),
        (json!({"phone": number(3), "variables": []}), "contacts[1].variables", "invalid_request"),
        (
            json!({"phone": number(3), "variables": {"due": 5}}),
            "contacts[1].variables.due",
            "invalid_variables",
        ),
        (
            json!({"phone": number(3), "variables": {"due": null}}),
            "contacts[1].variables.due",
            "invalid_variables",
        ),
        (
            json!({"phone": number(3), "variables": {"due": "a\u{0}b"}}),
            "contacts[1].variables.due",
            "invalid_variables",
        ),
        (
            json!({"phone": number(3), "name": "a\u{0}b"}),
            "contacts[1].name must not contain the character U+0000",
            "invalid_request",
        ),
        (json!({"phone": number(3), "variables": many}), "contacts[1].variables", "invalid_variables"),
        (json!("9812345678"), "contacts[1]", "invalid_request"),
    ] {
        let refused = world.set_list(&path, json!([good, row])).await.refused(400, code);
        assert!(refused["error"].as_str().unwrap().starts_with(field), "{field}: {refused}");
    }
    let large = json!({"contacts": [{"phone": number(3), "variables": {"due": "x".repeat(65_536)}}]});
    world.post(&format!("{path}/contacts"), &large).await.refused(400, "invalid_variables");
    for wrong in [
        json!({}),
        json!({"contacts": []}),
        json!({"contacts": {}}),
        json!({"contacts": vec![json!({"phone": ""}); 50_001]}),
    ] {
        world.post(&format!("{path}/contacts"), &wrong).await.invalid();
    }
    assert_eq!(phones(&world.get(&format!("{path}/contacts")).await), [format!("+91{}", number(1))]);
    let unknown = "/v1/campaigns/cmp_01k9v5x2m8e6fs4v0q3n7w1y34/contacts";
    world.post(unknown, &json!({"contacts": [good]})).await.not_found();
}

#[tokio::test]
async fn rows_have_what_the_flow_requires() {
    let world = World::prompted("Remind {{name}} of {{amount}}.").await;
    let path = world.new_campaign(json!({})).await;
    let list = async |rows: Value| world.set_list(&path, json!(rows)).await;
    let whole = json!({"name": "Asha", "amount": "1200"});
    let refused = list(json!([{"phone": number(1), "variables": whole}, {"phone": number(2), "variables": {"name": "Ravi"}}, {"phone": number(3)}]))
        .await
        .refused(400, "missing_required_variables");
    refused["meta"].shows(json!({"missing": ["amount", "name"], "row": 1}));
    let blank = json!([{"phone": number(1), "variables": {"name": " ", "amount": "1200"}}]);
    let refused = list(blank).await.refused(400, "missing_required_variables");
    assert_eq!(refused["meta"]["missing"], json!(["name"]), "what is blank is missing");
    assert_eq!(world.get(&path).await["data"]["callingList"], Value::Null);
    // Rows that are never dialled need nothing.
    let made =
        list(json!([{"phone": number(1), "variables": whole}, {"phone": "x"}, {"phone": number(1)}])).await;
    assert_eq!(made.expect(200)["data"], json!({"total": 3, "valid": 1, "invalid": 2}));
    let anybody = world.new_campaign(json!({"agentId": null})).await;
    world.set_list(&anybody, json!([{"phone": number(1)}])).await.expect(200);
}

#[tokio::test]
async fn the_list_stands_while_the_campaign_dials_and_when_it_is_over() {
    let world = World::open().await;
    let path = world.new_campaign(json!({"settings": {"startAt": "2027-06-01T00:00:00Z"}})).await;
    let list = async |n: usize| world.set_list(&path, json!([{"phone": number(n)}])).await;
    list(1).await.expect(200);
    world.set_status(&path, "active").await.expect(200);
    list(2).await.conflict();
    world.set_status(&path, "paused").await.expect(200);
    list(3).await.expect(200);
    world.set_status(&path, "completed").await.expect(200);
    list(4).await.conflict();
    world.set_status(&path, "archived").await.expect(200);
    list(5).await.conflict();
    assert_eq!(phones(&world.get(&format!("{path}/contacts")).await), [format!("+91{}", number(3))]);
}

/// The counters say that the list is longer than it is: as many rows would take a minute to import.
#[tokio::test]
async fn a_very_long_list_is_searched_for_whole_numbers_only() {
    let world = World::open().await;
    let path = world.with_list(json!([{"phone": number(1), "name": "Asha"}])).await;
    let tenant = world.tenant();
    let campaign = path.trim_start_matches("/v1/campaigns/").parse().unwrap();
    let longer = async |by: i64| {
        let store = &world.app().store;
        let list = store.of(tenant).read(move |tx| progress::get(tx, campaign)).await.unwrap().unwrap().list;
        let rows = Tally { total: by, ..Tally::default() };
        let delta = Delta { list, rows, ..Delta::default() };
        store.of(tenant).tx(move |tx| progress::add(tx, campaign, &delta)).await.unwrap();
    };
    longer(MAX_SEARCHED - 1).await;
    assert_eq!(world.get(&format!("{path}/contacts?q=asha")).await["total"], 1);
    longer(1).await;
    for q in ["asha", "98100"] {
        let refused = world.fetch(&format!("{path}/contacts?q={q}")).await;
        refused.invalid_field("q");
    }
    assert_eq!(world.get(&format!("{path}/contacts?q={}", number(1))).await["total"], 1);
}

/// Blocks have 4,096 rows: these are two and a half, and every third row is never dialled.
#[tokio::test]
async fn a_page_deep_in_a_state_begins_where_it_should() {
    const ROWS: usize = 10_000;
    let world = World::open().await;
    let phone = |n: usize| if n % 3 == 1 { format!("no number {n}") } else { number(n) };
    let rows: Vec<Value> = (0..ROWS).map(|n| json!({"phone": phone(n)})).collect();
    let path = world.with_list(json!(rows)).await;
    for (state, ours) in [("queued", false), ("invalid", true)] {
        let all: Vec<String> = (0..ROWS)
            .filter(|n| (n % 3 == 1) == ours)
            .map(|n| if ours { phone(n) } else { format!("+91{}", phone(n)) })
            .collect();
        for offset in [0, 1, 1_364, 1_366, 2_730, 2_731, 3_000, all.len() - 5, all.len() - 1, all.len()] {
            let page = world.get(&format!("{path}/contacts?state={state}&limit=7&offset={offset}")).await;
            let wanted: Vec<String> = all.iter().skip(offset).take(7).cloned().collect();
            assert_eq!((phones(&page), &page["total"]), (wanted, &json!(all.len())), "{state} from {offset}");
            let next = if offset + 7 < all.len() { json!(offset + 7) } else { Value::Null };
            assert_eq!(page["nextOffset"], next);
        }
    }
}

#[tokio::test]
async fn a_list_is_read_by_state_text_and_page() {
    let world = World::open().await;
    let mut rows: Vec<Value> =
        (0..120).map(|n| json!({"phone": number(n), "name": format!("Person {n}")})).collect();
    rows[7]["name"] = json!("Asha RAO");
    rows[8]["name"] = json!("आशा राव");
    rows[9]["name"] = json!("100% _sure_ \\ Rao");
    rows.push(json!({"phone": number(0)}));
    rows.push(json!({"phone": "nonsense"}));
    let path = world.with_list(json!(rows)).await;
    world.post("/v1/dnc", &json!({"phones": [number(3), number(5)], "reason": "asked"})).await.expect(200);
    let read = async |query: &str| world.get(&format!("{path}/contacts{query}")).await;

    let all = read("").await;
    let expected = json!({"all": 122, "reached": 0, "in_progress": 0, "unreached": 0, "held": 0, "queued": 120, "invalid": 2, "dnc": 2});
    assert_eq!((&all["counts"], &all["total"], &all["nextOffset"]), (&expected, &json!(122), &json!(50)));
    // Pages meet without gaps, in the order of the list.
    let (mut seen, mut offset) = (Vec::new(), json!(0));
    while let Some(at) = offset.as_i64() {
        let page = read(&format!("?limit=47&offset={at}")).await;
        seen.extend(phones(&page));
        offset = page["nextOffset"].clone();
    }
    assert_eq!(
        (seen.len(), seen[119].as_str(), seen[121].as_str()),
        (122, format!("+91{}", number(119)).as_str(), "nonsense")
    );
    let far = read("?offset=5000").await;
    assert_eq!((&far["data"], &far["total"], &far["nextOffset"]), (&json!([]), &json!(122), &Value::Null));

    for (state, total) in [
        ("all", 122),
        ("queued", 120),
        ("invalid", 2),
        ("dnc", 2),
        ("reached", 0),
        ("in_progress", 0),
        ("unreached", 0),
        ("held", 0),
    ] {
        let page = read(&format!("?state={state}&limit=200")).await;
        assert_eq!(
            (&page["total"], page["data"].as_array().unwrap().len(), &page["counts"]),
            (&json!(total), total, &expected),
            "{state}"
        );
    }
    let page = read("?state=queued&limit=20&offset=110").await;
    assert_eq!(phones(&page)[9].clone(), format!("+91{}", number(119)));
    page.shows(json!({"nextOffset": null}));
    let listed = read("?state=dnc").await;
    assert_eq!(phones(&listed), [format!("+91{}", number(3)), format!("+91{}", number(5))]);
    assert!(listed["data"].as_array().unwrap().iter().all(|row| row["doNotCall"] == true));

    for (q, total) in [
        ("rao", 2),
        ("ASHA", 1),
        ("आशा", 1),
        ("100%", 1),
        ("_sure_", 1),
        ("\\", 1),
        ("%", 1),
        ("98100 00007", 1),
        ("0981000001", 10),
        ("nonsense", 1),
        ("nobody", 0),
    ] {
        let page = read(&format!("?q={}", encoded(q))).await;
        assert_eq!((&page["total"], &page["counts"]["all"]), (&json!(total), &json!(total)), "{q}: {page}");
    }
    for (state, total) in [("all", 1), ("queued", 1), ("dnc", 1), ("invalid", 0)] {
        let page = read(&format!("?q={}&state={state}", number(3))).await;
        assert_eq!((&page["total"], &page["counts"]["dnc"]), (&json!(total), &json!(1)), "{state}: {page}");
    }
    let both = read("?q=person&state=dnc").await;
    both.shows(json!({"total": 2, "counts.dnc": 2, "counts.queued": 117}));
    let paged = read("?q=person&limit=100&state=queued").await;
    assert_eq!((&paged["total"], &paged["nextOffset"]), (&json!(117), &json!(100)));

    for (query, field) in
        [("?state=done", "state"), ("?limit=0", "limit"), ("?limit=201", "limit"), ("?offset=-1", "offset")]
    {
        let refused = world.fetch(&format!("{path}/contacts{query}")).await.invalid();
        assert_eq!(refused["meta"]["field"], field);
    }
}

#[tokio::test]
async fn who_must_not_be_called_is_looked_up_when_it_is_read() {
    let world = World::open().await;
    let path = world.with_list(json!([{"phone": number(1)}, {"phone": number(2)}])).await;
    let flags = async || {
        let page = world.get(&format!("{path}/contacts")).await;
        page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["doNotCall"].as_bool().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(flags().await, [false, false]);
    let contact = json!({"externalRef": "c1", "phone": number(2), "optOut": true});
    world.post("/v1/contacts", &contact).await.expect(201);
    assert_eq!(flags().await, [false, true]);
    world.post("/v1/dnc", &json!({"phones": [number(1)], "reason": "asked"})).await.expect(200);
    assert_eq!(flags().await, [true, true]);
    let dnc = format!("/dnc/{}", number(1));
    world.operator("DELETE", &dnc, Value::Null).await.expect(200);
    assert_eq!(flags().await, [false, true]);
    assert_eq!(counts(&world, &path).await["dnc"], 1);
}

#[tokio::test]
async fn erasure_reaches_every_list_and_the_counts_stay_right() {
    let world = World::open().await;
    let person = number(42);
    let rows = json!([{"phone": number(1)}, {"phone": person, "name": "Asha Rao", "variables": {"due": "Secret 1"}}, {"phone": person, "name": "Asha again"}]);
    let (one, two) = (world.with_list(rows.clone()).await, world.with_list(rows.clone()).await);
    // An old list that is not removed yet, and a staged one.
    world.set_list(&two, json!(rows)).await.expect(200);
    let import = Import::start(&world, &two).await;
    import.add(0, rows).await.expect(200);
    let made = world.post("/v1/contacts", &json!({"externalRef": "c1", "phone": person})).await.expect(201);
    let contact = made["data"]["id"].as_str().unwrap();
    world.erase(contact).await.expect(200);
    for path in [&one, &two] {
        let page = world.get(&format!("{path}/contacts")).await;
        let row = &page["data"][1];
        row.shows(
            json!({"phone": null, "name": null, "variables": {}, "valid": false, "invalidReason": "erased",
            "state": "invalid"}),
        );
        let all = json!({"all": 3, "reached": 0, "in_progress": 0, "unreached": 0, "held": 0, "queued": 1, "invalid": 2, "dnc": 0});
        assert_eq!(page["counts"], all);
        world.get(path).await.shows(json!({"data.callingList": {"total": 3, "valid": 1, "invalid": 2}}));
        assert_eq!(world.get(&format!("{path}/contacts?q={person}")).await["total"], 0);
        assert_eq!(world.get(&format!("{path}/contacts?q=asha")).await["total"], 0);
    }
    let finished = import.finish().await.expect(200);
    assert_eq!((&finished["data"]["total"], &finished["data"]["valid"]), (&json!(3), &json!(1)));
    let left = world.stored(|tx| {
            tx.one::<i64>(
                "select count(*) from campaign_rows where variables like '%Secret%' or name like 'Asha%' or search like '%asha%' or phone like '%10000042'",
                &[],
            )
        }).await;
    assert_eq!(left, Some(0), "in no list, old or staged, is anything left");
}

/// An import over the operator API.
struct Import<'a> {
    world: &'a World,
    path: String,
}

impl<'a> Import<'a> {
    fn imports(world: &World, campaign: &str) -> String {
        format!("/workspaces/{}{}/list-imports", world.workspace.id, campaign.strip_prefix("/v1").unwrap())
    }

    async fn start(world: &'a World, campaign: &str) -> Self {
        let imports = Self::imports(world, campaign);
        let made = world.app.operator("POST", &imports, &Value::Null).await.expect(201);
        assert_eq!((&made["data"]["total"], &made["data"]["valid"]), (&json!(0), &json!(0)));
        Self { world, path: format!("{imports}/{}", made["data"]["importId"]) }
    }

    async fn add(&self, after: i64, rows: Value) -> crate::app::Answer {
        self.world
            .app
            .operator("POST", &format!("{}/rows", self.path), &json!({"after": after, "contacts": rows}))
            .await
    }

    async fn finish(&self) -> crate::app::Answer {
        self.world.app.operator("POST", &format!("{}/finish", self.path), &Value::Null).await
    }
}

#[tokio::test]
async fn an_import_grows_beside_the_list_and_takes_effect_in_one_moment() {
    let world = World::open().await;
    let path = world.with_list(json!([{"phone": number(1)}])).await;
    let import = Import::start(&world, &path).await;
    world.app.operator("POST", &Import::imports(&world, &path), &Value::Null).await.conflict();
    import.finish().await.conflict();
    let added = import.add(0, json!([{"phone": number(2)}, {"phone": number(3)}])).await.expect(200);
    added["data"].shows(json!({"total": 2, "valid": 2, "invalid": 0}));
    // The same piece again, after a lost answer.
    let refused = import.add(0, json!([{"phone": number(2)}, {"phone": number(3)}])).await.conflict();
    assert_eq!(refused["meta"]["rows"], 2);
    let added =
        import.add(2, json!([{"phone": number(3)}, {"phone": number(4)}, {"phone": "x"}])).await.expect(200);
    added["data"].shows(json!({"total": 5, "valid": 3, "invalid": 2}));
    assert_eq!(
        phones(&world.get(&format!("{path}/contacts")).await),
        [format!("+91{}", number(1))],
        "not in force yet"
    );
    assert_eq!(counts(&world, &path).await["all"], 1);
    import.finish().await.expect(200);
    let page = world.get(&format!("{path}/contacts")).await;
    assert_eq!(phones(&page).len(), 5);
    page.shows(json!({"data[2].invalidReason": "duplicate", "counts.queued": 3}));
    import.finish().await.not_found();
    import.add(5, json!([{"phone": number(5)}])).await.not_found();
    let log = world.app.operator("GET", "/log?limit=10", &Value::Null).await;
    if log.status == 200 {
        assert!(log.text.contains("finishListImport"), "{}", log.text);
    }
}

#[tokio::test]
async fn an_import_can_be_given_up_and_is_given_up_when_it_rests() {
    let world = World::open().await;
    let path = world.with_list(json!([{"phone": number(1)}])).await;
    let import = Import::start(&world, &path).await;
    import.add(0, json!([{"phone": number(2)}])).await.expect(200);
    world.app.operator("DELETE", &import.path, &Value::Null).await.expect(200);
    import.finish().await.not_found();
    let second = Import::start(&world, &path).await;
    second.add(0, json!([{"phone": number(3)}])).await.expect(200);
    world.advance(3 * 3600).await;
    second.finish().await.not_found();
    let stored = world.stored(|tx| tx.one::<i64>("select count(*) from campaign_rows", &[])).await;
    assert_eq!((stored, &counts(&world, &path).await["all"]), (Some(1), &json!(1)));
}

#[tokio::test]
async fn an_import_keeps_the_rules_of_a_list() {
    let world = World::prompted("Remind {{name}}.").await;
    let path = world.new_campaign(json!({"settings": {"startAt": "2027-06-01T00:00:00Z"}})).await;
    let import = Import::start(&world, &path).await;
    let refused =
        import.add(0, json!([{"phone": number(1)}])).await.refused(400, "missing_required_variables");
    assert_eq!(refused["meta"]["missing"], json!(["name"]));
    import.add(0, json!([{"phone": number(1), "variables": {"name": "Asha"}}])).await.expect(200);
    // A flow that is published meanwhile may require more.
    world
        .put(
            &format!("/v1/agents/{}", world.agent),
            &json!({"systemPrompt": "Remind {{name}} of {{amount}}."}),
        )
        .await
        .expect(200);
    import.add(1, json!([{"phone": number(2), "variables": {"name": "Ravi"}}])).await.conflict();
    import.finish().await.conflict();
    world.app.operator("DELETE", &import.path, &Value::Null).await.expect(200);
    let second = Import::start(&world, &path).await;
    second
        .add(0, json!([{"phone": number(1), "variables": {"name": "Asha", "amount": "5"}}]))
        .await
        .expect(200);
    world.set_status(&path, "active").await.expect(200);
    second.finish().await.conflict();
    world.set_status(&path, "paused").await.expect(200);
    second.finish().await.expect(200);
    world
        .operator("POST", "/campaigns/cmp_01k9v5x2m8e6fs4v0q3n7w1y34/list-imports", Value::Null)
        .await
        .not_found();
}

#[tokio::test]
async fn a_list_of_fifty_thousand_is_taken_in_one_request() {
    let world = World::open().await;
    let path = world.new_campaign(json!({})).await;
    let variables = |n: usize| {
        (0..10)
            .map(|v| (format!("v{v}"), json!(format!("value {v} of {n}"))))
            .collect::<serde_json::Map<_, _>>()
    };
    let rows: Vec<Value> = (0..50_000)
        .map(|n| json!({"phone": number(n), "name": format!("Person {n}"), "variables": variables(n)}))
        .collect();
    let body = json!({"contacts": rows});
    assert!(body.to_string().len() > 12 << 20, "more than other bodies may have");
    let made = world.post(&format!("{path}/contacts"), &body).await.expect(200);
    let taken = &world.app().shares.bodies;
    assert_eq!(taken.taken(), 0);
    assert_eq!(made["data"], json!({"total": 50_000, "valid": 50_000, "invalid": 0}));
    let page = world.get(&format!("{path}/contacts?limit=1&offset=49999")).await;
    assert_eq!((&page["data"][0]["name"], &page["nextOffset"]), (&json!("Person 49999"), &Value::Null));
}

#[tokio::test]
async fn two_lists_at_the_same_moment_leave_one_of_them_whole() {
    let world = World::open().await;
    let path = world.new_campaign(json!({})).await;
    let list = async |from: usize| {
        let rows: Vec<Value> = (from..from + 500).map(|n| json!({"phone": number(n)})).collect();
        world.set_list(&path, json!(rows)).await.expect(200);
    };
    tokio::join!(list(0), list(1_000), list(2_000));
    let page = world.get(&format!("{path}/contacts?limit=200")).await;
    assert_eq!((&page["counts"]["all"], &page["total"]), (&json!(500), &json!(500)));
    let start = phones(&page)[0].clone();
    let expected: Vec<String> =
        (0..200).map(|n| format!("+91{}", start[3..].parse::<u64>().unwrap() + n)).collect();
    assert_eq!(phones(&page), expected, "rows of one list alone");
}

/// How many lists are not in force, and how many rows there are in all.
async fn stored(world: &World) -> (i64, i64) {
    let read = |tx: &mut store::Tx<'_>| {
        let lists = tx.one("select cast(count(*) as bigint) from campaign_lists", &[])?.unwrap_or(0);
        let rows = tx.one("select cast(count(*) as bigint) from campaign_rows", &[])?.unwrap_or(0);
        Ok::<(i64, i64), store::DbError>((lists, rows))
    };
    world.stored(read).await
}

/// Waits until what is stored is as it should be.
async fn until(world: &World, holds: impl Fn((i64, i64)) -> bool) {
    let wait = async {
        while !holds(stored(world).await) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), wait).await.expect("within a minute");
}

/// Waits until nothing but the list in force is left.
async fn until_swept(world: &World, rows: i64) {
    until(world, |found| found == (0, rows)).await;
}

#[tokio::test]
async fn a_list_that_is_wrong_far_behind_changes_nothing() {
    let world = World::prompted("Remind {{amount}}.").await;
    let path = world.with_list(json!([{"phone": number(1), "variables": {"amount": "5"}}])).await;
    let list = |wrong: Value| {
        let mut rows: Vec<Value> =
            (0..5_000).map(|n| json!({"phone": number(n), "variables": {"amount": "7"}})).collect();
        rows[4_321] = wrong;
        json!({"contacts": rows})
    };
    for (wrong, code, named) in [
        (json!({"phone": 5}), "invalid_request", "contacts[4321].phone"),
        (
            json!({"phone": "1", "variables": {"amount": 5}}),
            "invalid_variables",
            "contacts[4321].variables.amount",
        ),
        (json!({"phone": "9812300000"}), "missing_required_variables", "contacts[4321]"),
        (
            json!({"phone": "9812300000", "variables": {"amount": " "}}),
            "missing_required_variables",
            "contacts[4321]",
        ),
    ] {
        let refused = world.post(&format!("{path}/contacts"), &list(wrong)).await.refused(400, code);
        assert!(refused["error"].as_str().unwrap().starts_with(named), "{refused}");
        assert_eq!(phones(&world.get(&format!("{path}/contacts")).await), [format!("+91{}", number(1))]);
        until_swept(&world, 1).await;
    }
}

/// A client that goes away in the middle of its list leaves the one before, and nothing else.
#[tokio::test]
async fn a_list_that_ends_early_changes_nothing() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let world = World::open().await;
    let path = world.with_list(json!([{"phone": number(1)}])).await;
    let rows: Vec<String> = (0..6_000).map(|n| format!("{{\"phone\":\"{}\"}}", number(n))).collect();
    let body = format!("{{\"contacts\":[{}", rows.join(","));
    let address = world.url.strip_prefix("http://").unwrap().to_owned();
    let send = async |length: usize, body: &str| {
        let mut socket = tokio::net::TcpStream::connect(&address).await.unwrap();
        let head = format!(
            "POST {path}/contacts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: {length}\r\n\r\n",
            world.workspace.live
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(body.as_bytes()).await.unwrap();
        socket
    };
    let socket = send(body.len() + 100, &body).await;
    // Rows of it are there, beside the list in force.
    until(&world, |(_, rows)| rows >= 4_001).await;
    drop(socket);
    until_swept(&world, 1).await;
    assert_eq!(phones(&world.get(&format!("{path}/contacts")).await), [format!("+91{}", number(1))]);
    // More than a list may have is refused by its head.
    let mut socket = send(65 << 20, "").await;
    let mut answer = vec![0; 12];
    socket.read_exact(&mut answer).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&answer), "HTTP/1.1 413");
    assert_eq!(stored(&world).await, (0, 1));
}

/// A list whose request ended with its node is removed.
#[tokio::test]
async fn a_list_that_nobody_fills_any_more_is_removed() {
    let world = World::open().await;
    let path = world.with_list(json!([{"phone": number(1)}])).await;
    let id = path.rsplit('/').next().unwrap().parse().unwrap();
    let tenant = world.tenant();
    let mut filling = campaigns::filling::Filling::begin(world.app(), tenant, id).await.unwrap();
    let rows = api::campaigns::NewCallingListRow { phone: number(2), name: None, variables: None };
    filling.add(world.app(), vec![rows.clone()]).await.unwrap();
    assert_eq!(stored(&world).await, (1, 2));
    world.advance(3_602).await;
    until_swept(&world, 1).await;
    let late = filling.add(world.app(), vec![rows]).await.unwrap_err();
    assert_eq!(late.error.code, "conflict");
    assert!(filling.finish(world.app()).await.is_err());
    assert_eq!(phones(&world.get(&format!("{path}/contacts")).await), [format!("+91{}", number(1))]);
}

/// The door through which streams and boards put people on a list.
mod door {
    use campaigns::list::{NewRow, add};
    use domain::ids::Id;

    use super::*;

    async fn put(app: &TestApp, workspace: &str, campaign: &str, phones: &[&str]) -> Vec<bool> {
        let context = app.app().context();
        let (tenant, campaign): (_, Id<_>) =
            (workspace.parse().unwrap(), campaign.rsplit('/').next().unwrap().parse().unwrap());
        let rows: Vec<NewRow> = phones
            .iter()
            .map(|phone| NewRow {
                phone: (*phone).to_owned(),
                name: Some("Asha".into()),
                variables: Default::default(),
                stream: None,
            })
            .collect();
        let added =
            app.app().store.of(tenant).tx(move |tx| add(tx, &context, campaign, rows.clone())).await.unwrap();
        added.rows.iter().map(Option::is_some).collect()
    }

    #[tokio::test]
    async fn people_are_added_once_behind_those_who_are_there() {
        let world = World::open().await;
        let path = world.new_campaign(json!({})).await;
        let (one, two, three) = (number(1), number(2), number(3));
        let put = async |phones: &[&str]| put(&world.app, &world.workspace.id, &path, phones).await;
        assert_eq!(put(&[&one, "x", &one]).await, [true, false, false], "the first list of a campaign");
        world.get(&path).await.shows(json!({"data.callingList": {"total": 1, "valid": 1, "invalid": 0}}));
        world.set_list(&path, json!([{"phone": one}, {"phone": "x"}])).await.expect(200);
        assert_eq!(put(&[&two, &one, &three]).await, [true, false, true]);
        let page = world.get(&format!("{path}/contacts")).await;
        assert_eq!(
            phones(&page),
            [format!("+91{one}"), "x".into(), format!("+91{two}"), format!("+91{three}")]
        );
        assert_eq!((&page["counts"]["queued"], &page["counts"]["invalid"]), (&json!(3), &json!(1)));
        assert_eq!(
            phones(&world.get(&format!("{path}/contacts?limit=1&offset=3")).await),
            [format!("+91{three}")]
        );
        world.set_status(&path, "archived").await.expect(200);
        assert_eq!(put(&[&number(4)]).await, [false]);
        world.delete(&path).await.expect(200);
        assert_eq!(put(&[&number(4)]).await, [false]);
        let ended = world.new_campaign(json!({"settings": {"endAt": "2020-01-01T00:00:00Z"}})).await;
        assert_eq!(super::door::put(&world.app, &world.workspace.id, &ended, &[&number(4)]).await, [false]);
    }

    #[tokio::test]
    async fn a_neighbour_adds_nothing() {
        let world = World::open().await;
        let path = world.new_campaign(json!({})).await;
        let other = world.neighbour().await;
        assert_eq!(put(&world.app, &other.workspace.id, &path, &[&number(1)]).await, [false]);
        assert_eq!(world.get(&path).await["data"]["callingList"], Value::Null);
    }
}
